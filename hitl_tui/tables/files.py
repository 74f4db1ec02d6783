"""Which files of a folder are tables: bounded, in order of their paths, never out of the folder.

A text whose lines are parted by tabs or bars is one, too. Texts of one folder that fill in one form are a table
together, called after the folder: `invoices/*.txt`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from hitl_tui.tables import forms

SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".xlsx": "excel", ".xls": "excel", ".xlsm": "excel", ".ods": "excel",
    ".parquet": "parquet", ".parq": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_TEXTS = frozenset((".txt", ".dat"))
_SEPARATORS = (b"\t", b"|")
_FEWEST_LINES, _LINES, _HEAD = 5, 20, 8192
"""Lines by which a text is known to be a table, all with as many separators, and bytes that are looked at."""
_RECORDS, _LISTS = re.compile(rb"\s*(?:\[\s*)?\{\s*\""), re.compile(rb"\"\s*:\s*\[\s*\{\s*\"")
"""How JSON begins that is a list of records, or a record a line; and what an object has that holds such lists."""
_LOOKED_AT, MAX_OBJECT = 65_536, 16_000_000
"""Bytes of JSON in which a list begins, and of an object that is read as a whole."""
MAX_FILES = 400
MAX_SEEN = 50_000
MAX_BYTES = 2_000_000_000
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "reports"})


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of the workspace that holds tables.

    Args:
        path: relative to the workspace, forward slashes.
        absolute: where to open it; of forms a pattern.
        kind: `csv`, `excel`, `parquet`, `json` (a list of records), `lists` (a JSON object with such lists), or
            `forms`: texts that are a row each.
        size, mtime_ns: its state.
    """

    path: str
    absolute: Path
    kind: str
    size: int
    mtime_ns: int

    @property
    def stem(self) -> str:
        """What people call it: its name without the ending, of forms the name of their folder."""
        path = PurePosixPath(self.path)
        return path.parent.name if self.kind == "forms" else path.stem

    def forms(self) -> list[Path]:
        """The texts that are its rows."""
        return sorted(p for p in self.absolute.parent.glob(self.absolute.name) if _is_form(p))


def table_files(workspace: Path) -> tuple[TableFile, ...]:
    """Return the table files below a folder; hidden ones, links out of it and reports are left out."""
    found: list[TableFile] = []
    seen = 0
    for folder, names, files in os.walk(workspace):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            seen += 1
            suffix = PurePosixPath(name).suffix.lower()
            kind = SUFFIXES.get(suffix, "text" if suffix in _TEXTS else "")
            file = _file(workspace, Path(folder, name), kind) if kind and not name.startswith((".", "~$")) else None
            if file is not None:
                found.append(file)
        found += _forms(workspace, Path(folder), files)
        if seen > MAX_SEEN or len(found) >= MAX_FILES:
            break
    return tuple(found[:MAX_FILES])


def _forms(workspace: Path, folder: Path, files: list[str]) -> Iterator[TableFile]:
    """Yield the texts of a folder that fill in one form, those of one ending together."""
    for suffix in sorted(forms.SUFFIXES & {PurePosixPath(name).suffix for name in files}):
        pattern = folder / f"*{suffix}"
        texts = [folder / name for name in sorted(files) if name.endswith(suffix) and _is_form(folder / name)]
        if not forms.are_forms(texts):
            continue
        with suppress(OSError, ValueError):  # one of them went meanwhile, or the folder's name is no text
            states = [path.stat() for path in texts]
            size, newest = sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)
            yield TableFile(_relative(workspace, pattern), pattern, "forms", size, newest)


def _relative(workspace: Path, path: Path) -> str:
    """Return a path as it is shown and kept. Raises ValueError for one that is no text."""
    relative = unicodedata.normalize("NFC", path.relative_to(workspace).as_posix())
    relative.encode()
    return relative


def _is_form(path: Path) -> bool:
    try:
        return not path.name.startswith(".") and not path.is_symlink() and 0 < path.stat().st_size <= forms.MAX_BYTES
    except OSError:
        return False


def _file(workspace: Path, path: Path, kind: str) -> TableFile | None:
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(workspace.resolve()):
            return None
        state = path.stat()
        relative = _relative(workspace, path)
    except (OSError, ValueError):
        return None
    if not 0 < state.st_size <= MAX_BYTES or not path.is_file():
        return None
    kind = _kind_of_json(path, state.st_size) if kind == "json" else kind
    kind = _kind_of_text(path, state.st_mtime_ns) if kind == "text" else kind
    return TableFile(relative, path, kind, state.st_size, state.st_mtime_ns) if kind else None


def _kind_of_json(path: Path, size: int) -> str:
    """Return the kind of a JSON file; empty where it has no records, as most settings."""
    with suppress(OSError), path.open("rb") as opened:
        head = opened.read(_LOOKED_AT)
        begins = _RECORDS.match(head)
        if begins and (b"[" in begins[0] or path.suffix.lower() != ".json"):
            return "json"
        return "lists" if begins and size <= MAX_OBJECT and _LISTS.search(head) else ""
    return ""


def is_comment(path: Path, line: bytes) -> bool:
    """Whether a line before a header is a comment: in a text one with a % as well, unless it has columns of its own."""
    bare = line.lstrip()
    marked = bare.startswith(b"%") and not any(one in line for one in _SEPARATORS)
    return bare.startswith(b"#") or (marked and path.suffix.lower() in _TEXTS)


@lru_cache(4096)
def _kind_of_text(path: Path, mtime_ns: int) -> str:
    """Return the kind of a text whose lines, after those of comment, have the same separators; empty for any other.

    It is told once for each state of the file.
    """
    with suppress(OSError), path.open("rb") as opened:
        whole = [line for line in opened.read(_HEAD).splitlines()[:-1] if line.strip()]
        lines = [line for line in whole if not is_comment(path, line)][:_LINES]
        counted = [{line.count(one) for line in lines} for one in _SEPARATORS]
        parted = any(len(counts) == 1 and counts != {0} for counts in counted)
        return "csv" if parted and len(lines) >= _FEWEST_LINES else ""
    return ""
