"""Files that a program listed: how many there are and how large they are."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Sequence
from pathlib import Path

_MOST = 20_000
"""Lines up to which files are looked up."""
_COLUMNS = 10
"""Words before a path in a line, at most: `ls -l` has eight, `find -ls` ten."""
_TOTAL = re.compile(r"total \d[\d.,]*[A-Za-z]*")
_WORD = re.compile(r"\S+\s+")
_MODE = re.compile(r"[-l](?:[r-][w-][xsStT-]){3}[.+@]?")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)([KMGTP]?)(i?B)?")
_UNITS = " KMGTP"
_IN_BLOCKS = frozenset({"ls", "du"})
"""Programs that print how many blocks a file takes."""
_BETWEEN = re.compile(r"[\s;|&()]+")


def listed_files(text: str, workspace: Path, argv: Sequence[str] = ()) -> tuple[int, int] | None:
    """Return how many files a listing names and their bytes together; None where a line says anything else.

    A path may stand behind columns, as in the output of `ls` and `du`, one of which is the file's mode or its size:
    `300 app.log` as `wc` prints it is a count. The path is relative to the workspace, and no file outside of it is
    looked at.

    Args:
        text: what a program printed, whole.
        workspace: absolute path of the folder that it ran in.
        argv: what printed it.
    """
    lines = [line for line in text.splitlines() if line.strip() and not _TOTAL.fullmatch(line.strip())]
    if not lines or len(lines) > _MOST:
        return None
    root, sizes = workspace.resolve(), dict[str, int]()
    blocks = any(posixpath.basename(word) in _IN_BLOCKS for part in argv for word in _BETWEEN.split(part))
    for line in lines:
        found = _file_in(line, root, blocks=blocks)
        if found is None:
            return None
        sizes.setdefault(*found)
    return len(sizes), sum(sizes.values())


def _file_in(line: str, root: Path, *, blocks: bool) -> tuple[str, int] | None:
    """Return the file that a line ends with, and its size in bytes; None where the words before it aren't about it."""
    first = begin = len(line) - len(line.lstrip())
    for _ in range(_COLUMNS + 1):
        path = root / line[begin:]
        try:
            folder = path.parent.resolve()
            seen = path.lstat() if folder.is_relative_to(root) else None
        except (OSError, ValueError, RuntimeError):
            seen = None
        if seen is not None:
            columns = line[first:begin].split()
            listed = not columns or any(_is_about(column, seen, blocks=blocks) for column in columns)
            regular = stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode)
            return (str(folder / path.name), seen.st_size) if listed and regular else None
        word = _WORD.match(line, begin)
        if word is None:
            return None
        begin = word.end()
    return None


def _is_about(column: str, seen: os.stat_result, *, blocks: bool) -> bool:
    """Return whether a word before a file's path is its mode, its size, or how much of the disk it takes."""
    if _MODE.fullmatch(column):
        return True
    match = _SIZE.fullmatch(column)
    if match is None:
        return False
    taken = getattr(seen, "st_blocks", 0) * 512
    number, unit = float(match[1]), match[2]
    if not unit:
        return number == seen.st_size or (blocks and number in (taken // 512, -(-taken // 1024)))
    step = (1000 if match[3] == "B" else 1024) ** _UNITS.index(unit)
    apart = step / 10 if "." in match[1] else step
    return any(abs(number * step - size) <= apart for size in (seen.st_size, taken))
