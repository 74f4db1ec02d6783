"""How an extra of this program is installed beside it: by a command that fits how it was installed itself.

The name `hitl-tui` is nothing to look up in an index of packages: whoever registered it there could be somebody else.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.core.messages import Message

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PACKAGE = "hitl-tui"
_OF_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def install_command(extra: str, prefix: Path | None = None, found: Distribution | None = None) -> str:
    """Return the command that installs an extra, as it is typed in a shell.

    Args:
        extra: its name, one of pyproject.toml's.
        prefix: the environment that the program runs in; this one unless given.
        found: what is installed there.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    prefix = prefix or Path(sys.prefix)
    try:
        found = found or distribution(PACKAGE)
        origin = json.loads(found.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError, OSError):
        return f"uv run --extra {extra} {PACKAGE}"
    url, editable = str(origin.get("url", "")), bool(origin.get("dir_info", {}).get("editable"))
    folder = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    if editable and prefix.parent == Path(folder):
        return f"uv sync --inexact --extra {extra} --project {shlex.quote(folder)}"
    if not url:  # from an index that isn't known
        return " ".join([_installer(prefix), *map(shlex.quote, _requirements(found, extra))])
    tool = (prefix / "uv-receipt.toml").exists()
    extras = ",".join(sorted({extra, *_installed_extras(found)})) if tool else extra  # a tool is made anew with these
    git = origin.get("vcs_info")
    at = f"{git['vcs']}+{url}@{git['commit_id']}" if git else url
    what = shlex.quote(f"{folder}[{extras}]" if folder else f"{PACKAGE}[{extras}] @ {at}")
    return " ".join(["uv tool install" if tool else _installer(prefix), *(["--editable"] if editable else []), what])


def install_help(extra: str) -> Message:
    """Return what is said below an error where an extra isn't installed."""
    return Message("Install it with: {}", install_command(extra))


def _installer(prefix: Path) -> str:
    """Return what installs into an environment: one that uv made has no pip."""
    try:
        by_uv = re.search(r"^uv\s*=", (prefix / "pyvenv.cfg").read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        by_uv = None
    if by_uv:
        return f"uv pip install --python {shlex.quote(str(prefix))}"
    return f"{shlex.quote(str(prefix / 'bin' / 'python'))} -m pip install"


def _requirements(found: Distribution, extra: str) -> list[str]:
    """Return what an extra takes, as `mcp<2,>=1.20`."""
    parts = (one.partition(";") for one in found.requires or ())
    return [name.strip() for name, _, marker in parts if extra in _OF_EXTRA.findall(marker)]


def _installed_extras(found: Distribution) -> list[str]:
    """Return the extras of which everything is installed."""
    return [
        extra
        for extra in found.metadata.get_all("Provides-Extra") or ()
        if all(_is_installed(one) for one in _requirements(found, extra))
    ]


def _is_installed(requirement: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    name = _NAME.match(requirement)
    try:
        return name is not None and distribution(name[0]).version != ""
    except PackageNotFoundError:
        return False
