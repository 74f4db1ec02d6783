"""Recognising folders that the program made itself: its packaged examples and unmodified copies of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from hitl_tui.config.starters import examples_folder, starter_of
from hitl_tui.config.workspace_files import real_path
from hitl_tui.core.errors import StorageError
from hitl_tui.policy.shipped_files import SHIPPED

_CODE = frozenset({".py", ".pyc", ".pyo", ".so", ".sh", ".pth"})
"""Endings of files that are run or imported."""
_OBEYED = frozenset({"hitl.toml", "langgraph.json", ".env"})
"""Names of files that say what is."""


def own_code(folder: Path, data: Path) -> Mapping[str, str] | None:
    """Return the SHA-256 of every file of an example's folder that is the program's own and that nobody changed.

    That is a copy that `new_copy` makes and the packaged folder itself, nowhere else. What was added to it may be
    anything but code: a file beside packaged scripts, one that is named as a script is, or one that can be executed
    makes the folder somebody else's.

    Args:
        folder: real path of a folder.
        data: the data folder.

    Returns:
        Digests by path in the folder; None for any other folder, and for one that was changed.
    """
    found = SHIPPED.get(starter_of(folder))
    if found is None:
        return None
    try:
        if folder.parent not in (real_path(data / "starters"), real_path(examples_folder())):
            return None
        scripts = {str(Path(name).parent) for name in found if Path(name).suffix in _CODE}
        for path in _files(folder):
            name = path.relative_to(folder).as_posix()
            if name in found:
                if path.is_symlink() or _digest(path) != found[name]:
                    return None
            elif str(Path(name).parent) in scripts or _is_code(path):
                return None
        return found if all((folder / name).is_file() for name in found) else None
    except (OSError, StorageError):
        return None


def _is_code(path: Path) -> bool:
    return path.suffix in _CODE or path.name in _OBEYED or os.access(path, os.X_OK)


def _files(folder: Path) -> list[Path]:
    """Return everything in a folder that is no folder itself; links count as what they are."""
    return [p for p in sorted(folder.rglob("*")) if p.is_symlink() or not p.is_dir()]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
