"""What documents beside a table say that it is of: one of its own, or the lines of a README that name it."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from hitl_tui.tables.files import TableFile

_ENDINGS = (".md", ".txt", ".rst")
_OF_ITS_OWN = ("", "_description", "-description", "_readme", "_info", "_dictionary", "_codebook")
"""What stands behind the name of a table in that of a document about it."""
_READMES = ("README", "CODEBOOK", "DESCRIPTION")
_READ = 20_000
"""Characters of a document that are read."""
_TOLD = 400
"""Characters of a description that are compared."""
_MARKS = re.compile(r"^[#*\s|>-]+|[`*_|]|^(?:description|variables|설명)\W*$", re.I | re.M)


def description(file: TableFile) -> str:
    """Return how what a table is of is described beside it; empty where it isn't."""
    folder, stem = file.absolute.parent, PurePosixPath(file.path).stem
    for ending in _ENDINGS:
        for behind in _OF_ITS_OWN:
            if text := _text(folder / f"{stem}{behind}{ending}"):
                return _plain(text)
    name = PurePosixPath(file.path).name
    for ending in _ENDINGS:
        for readme in _READMES:
            lines = [line for line in _text(folder / f"{readme}{ending}").splitlines() if name in line]
            if lines:
                return _plain("\n".join(lines).replace(name, ""))
    return ""


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).split())[:_TOLD]


def _text(path: Path) -> str:
    with suppress(OSError, ValueError):
        if path.is_file() and not path.is_symlink():
            return _read(path, path.stat().st_mtime_ns)
    return ""


@lru_cache(400)
def _read(path: Path, mtime_ns: int) -> str:
    with path.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(_READ)
