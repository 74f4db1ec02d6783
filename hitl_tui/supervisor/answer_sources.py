"""The places that an answer rests on, and the files it left: by number, and where they are on this machine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.extraction.file_text import LINE_END, decode
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.teams.contract import place_label

_LOOKED_AT = 8192
_QUOTE = 120
_NAMED = re.compile(r"[\w./-]{1,200}\.\w{1,10}\b")
_MOST_NAMED = 40
_MOST_READ = 8_000_000
"""Bytes of a file that is shown in the console itself."""
_LINES_AROUND = 5_000


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """One place that an answer cites, or one file that was written.

    Args:
        path: relative to the workspace.
        line: counted from 1; 0 for a written file as a whole.
        page: of a PDF, counted from 1; 0 for other files.
        quote: the words that were cited.
    """

    path: str
    line: int = 0
    page: int = 0
    quote: str = ""

    @property
    def label(self) -> str:
        """`lease.md:12`"""
        return place_label(self.path, self.line, self.page) if self.line else self.path

    def to_dict(self) -> JsonObject:
        """Return it as one JSON object."""
        return {"path": self.path, "line": self.line, "page": self.page, "quote": self.quote}


def sources_of(snapshot: Snapshot) -> tuple[AnswerSource, ...]:
    """Return what the answer of a session cites, best first, then the files that its steps wrote or its text names."""
    response = snapshot.response or {}
    cited = [
        AnswerSource(c["path"], c["line"], c.get("page", 0), clip(" ".join(c.get("quote", "").split()), _QUOTE))
        for c in response.get("citations", ())
    ]
    written = list(response.get("files", ()))
    known = {*written, *(one.path for one in cited)}
    named = dict.fromkeys(_NAMED.findall(response.get("text", "")))
    there = [path for path in list(named)[:_MOST_NAMED] if path not in known and _is_there(path, snapshot.workspace)]
    return (*cited, *(AnswerSource(path) for path in [*written, *there]))


def _is_there(path: str, workspace: str) -> bool:
    """Whether a text names a file of the folder."""
    try:
        found = Path(os.path.realpath(Path(workspace) / path, strict=True))
    except (OSError, ValueError):
        return False
    return not Path(path).is_absolute() and found.is_file() and found.is_relative_to(os.path.realpath(workspace))


def file_of(source: AnswerSource, workspace: Path) -> Path:
    """Return the text file of a source.

    Raises:
        BadInput: it is gone, it lies outside of the workspace by now, or it isn't text.
    """
    try:
        found = Path(os.path.realpath(workspace / source.path, strict=True))
        if not found.is_relative_to(os.path.realpath(workspace)):
            raise BadInput(Message("{} leads out of the folder now.", source.path))
        with found.open("rb") as file:
            begins = file.read(_LOOKED_AT)
    except (OSError, ValueError) as error:
        raise BadInput(Message("{} can't be read now ({}).", source.path, type(error).__name__)) from error
    if b"\0" in begins or source.page:
        raise BadInput(Message("{} isn't a text file; it is {}.", source.label, found))
    return found


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file.

    Args:
        first: the number of the first one, counted from 1.
        lines: they themselves.
        more: the file has others.
    """

    first: int
    lines: tuple[str, ...]
    more: bool


def lines_around(file: Path, line: int) -> Excerpt:
    """Return the lines of a text file around one: all of them, of a long file some thousands.

    Raises:
        BadInput: it can't be read.
    """
    try:
        with file.open("rb") as opened:
            data, more = opened.read(_MOST_READ), bool(opened.read(1))
    except (OSError, ValueError) as error:
        raise BadInput(Message("{} can't be read now ({}).", file.name, type(error).__name__)) from error
    text, _encoding = decode(data[: data.rfind(b"\n") + 1] if more else data)
    lines = LINE_END.split(text.removesuffix("\n"))
    begin = max(0, line - 1 - _LINES_AROUND)
    shown = lines[begin : begin + 2 * _LINES_AROUND]
    return Excerpt(begin + 1, tuple(shown), more or len(shown) < len(lines))
