"""Files that a program listed: how many there are and how large they are."""

from __future__ import annotations

import re
import stat
from pathlib import Path

_MOST = 20_000
"""Lines up to which files are looked up."""
_COLUMNS = 9
"""Words before a path in a line, at most: `ls -l` has eight."""
_TOTAL = re.compile(r"total \d[\d.,]*[A-Za-z]*")
_WORD = re.compile(r"\S+\s+")


def listed_files(text: str, workspace: Path) -> tuple[int, int] | None:
    """Return how many files a listing names and their bytes together; None where a line names anything else.

    A path may stand behind columns, as in the output of `ls` and `du`; it is relative to the workspace, and no file
    outside of it is looked at.

    Args:
        text: what a program printed, whole.
        workspace: absolute path of the folder that it ran in.
    """
    lines = [line for line in text.splitlines() if line.strip() and not _TOTAL.fullmatch(line.strip())]
    if not lines or len(lines) > _MOST:
        return None
    root, sizes = workspace.resolve(), dict[str, int]()
    for line in lines:
        found = _file_in(line, root)
        if found is None:
            return None
        sizes.setdefault(*found)
    return len(sizes), sum(sizes.values())


def _file_in(line: str, root: Path) -> tuple[str, int] | None:
    """Return the file that a line ends with, and its size in bytes."""
    begin = len(line) - len(line.lstrip())
    for _ in range(_COLUMNS + 1):
        path = root / line[begin:]
        try:
            folder = path.parent.resolve()
            seen = path.lstat() if folder.is_relative_to(root) else None
        except (OSError, ValueError, RuntimeError):
            seen = None
        if seen is not None:
            regular = stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode)
            return (str(folder / path.name), seen.st_size) if regular else None
        word = _WORD.match(line, begin)
        if word is None:
            return None
        begin = word.end()
    return None
