"""Reading the documents that an analysis rests on; the only module here that touches files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hitl_tui.teams.analysis.limits import find_limits, find_scope_notes
from hitl_tui.teams.analysis.model import Passage
from hitl_tui.teams.analysis.tablemodel import Table, parse_table

MAX_BYTES = 5 * 1024 * 1024
MAX_FILES = 12
MAX_LINE = 600
_TEXT = (".md", ".txt", ".rst")


class Unreadable(Exception):
    """A file can't be used; the message says why in one sentence."""


def read_text(workspace: Path, path: str) -> str:
    """Return the text of a file inside the workspace (UTF-8, else CP949).

    Raises:
        Unreadable: it lies outside, is missing, no file, beyond 5 MB, or no text.
    """
    try:
        root = workspace.resolve()
        target = (root / path).resolve()
        if not target.is_relative_to(root):
            raise Unreadable(f"{path} is outside the workspace.")
        if not target.is_file():
            raise Unreadable(f"{path} is not a file in the workspace.")
        if target.stat().st_size > MAX_BYTES:
            raise Unreadable(f"{path} is larger than 5 MB.")
        content = target.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(f"{path} can't be read: {error}.") from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"{path} is larger than 5 MB.")
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Unreadable(f"{path} is neither UTF-8 nor CP949 text.")


def read_tables(workspace: Path, paths: Iterable[str]) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the CSV tables among the paths, each once, and why others couldn't be used."""
    tables, notes = [], []
    wanted = [path for path in dict.fromkeys(paths) if path.lower().endswith(".csv")]
    for path in wanted[:MAX_FILES]:
        try:
            tables.append(parse_table(read_text(workspace, path), path))
        except (Unreadable, ValueError) as error:
            notes.append(str(error))
    return tuple(tables), tuple(notes)


def limit_lines(workspace: Path, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the lines of the passages' own files that state limits and that no passage holds already.

    A passage is a cut: the sentence that limits a figure often stands a few lines further.
    """
    held = list(passages)
    covered = {(p.path, line) for p in held for line in range(p.line, min(p.end_line, p.line + 500) + 1)}
    found: list[Passage] = []
    for path in list(dict.fromkeys(p.path for p in held if p.path.lower().endswith(_TEXT)))[:MAX_FILES]:
        try:
            text = read_text(workspace, path)
        except Unreadable:
            continue
        heading = ""
        for number, line in enumerate(text.splitlines(), start=1):
            if line.startswith("#"):
                heading = line.lstrip("# ")
                continue
            passage = Passage(path, number, number, line[:MAX_LINE], heading=heading)
            if (path, number) not in covered and (find_limits([passage]) or find_scope_notes([passage])):
                found.append(passage)
    return tuple(found[:60])
