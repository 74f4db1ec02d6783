"""The command that installs an extra fits how the program was installed, and names nothing to look up in an index."""

from __future__ import annotations

import json
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from hitl_tui.config.extras import install_command

METADATA = """\
Metadata-Version: 2.4
Name: hitl-tui
Version: 0.1.0
Provides-Extra: mcp
Provides-Extra: office
Provides-Extra: tests
Requires-Dist: textual<7,>=6
Requires-Dist: no-such-mcp<2,>=1.20; extra == 'mcp'
Requires-Dist: no-such-docx>=1; (python_version < "4") and extra == "office"
Requires-Dist: pytest>=8; extra == 'tests'
"""
FOLDER, WHEEL = "file:///srv/my%20code", "file:///srv/hitl_tui-0.1.0-py3-none-any.whl"
GIT = {"url": "https://git.example/t.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}


class Installed:
    """An environment, and what its metadata says of where the program came from."""

    def __init__(self, root: Path) -> None:
        self.prefix, self.info = root / "env", root / "hitl_tui-0.1.0.dist-info"
        self.prefix.mkdir()
        self.info.mkdir()
        (self.info / "METADATA").write_text(METADATA, encoding="utf-8")
        self.by("home = /usr/bin\n")

    def by(self, made: str) -> None:
        (self.prefix / "pyvenv.cfg").write_text(made, encoding="utf-8")

    def command(self, origin: object = None) -> str:
        if origin is not None:
            (self.info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
        return install_command("mcp", self.prefix, PathDistribution(self.info))


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


@pytest.mark.parametrize(
    ("origin", "what"),
    [
        ({"url": WHEEL, "archive_info": {}}, "'/srv/hitl_tui-0.1.0-py3-none-any.whl[mcp]'"),
        ({"url": FOLDER, "dir_info": {}}, "'/srv/my code[mcp]'"),
        ({"url": FOLDER, "dir_info": {"editable": True}}, "--editable '/srv/my code[mcp]'"),
        (GIT, "'hitl-tui[mcp] @ git+https://git.example/t.git@c0ffee'"),
        ({"url": "https://x.example/a.whl", "archive_info": {}}, "'hitl-tui[mcp] @ https://x.example/a.whl'"),
        (None, "'no-such-mcp<2,>=1.20'"),
    ],
)
def test_it_comes_from_where_the_program_came_from(installed: Installed, origin: object, what: str) -> None:
    assert installed.command(origin) == f"{installed.prefix}/bin/python -m pip install {what}"
    installed.by("uv = 0.9.0\n")
    assert installed.command() == f"uv pip install --python {installed.prefix} {what}"


def test_a_checkout_gets_it_from_uv(installed: Installed) -> None:
    origin = {"url": installed.prefix.parent.as_uri(), "dir_info": {"editable": True}}
    command = installed.command(origin)
    assert command == f"uv sync --inexact --extra mcp --project {installed.prefix.parent}"


def test_a_tool_keeps_the_extras_that_it_has(installed: Installed) -> None:
    (installed.prefix / "uv-receipt.toml").touch()
    installed.by("uv = 0.9.0\n")
    assert installed.command() == f"uv pip install --python {installed.prefix} 'no-such-mcp<2,>=1.20'"
    assert installed.command({"url": FOLDER, "dir_info": {}}) == "uv tool install '/srv/my code[mcp,tests]'"


def test_this_installation_has_a_command() -> None:
    assert "mcp" in install_command("mcp")
