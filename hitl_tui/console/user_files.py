"""What the console remembers between starts, and the TOML files that people write for it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.json_types import Json
from hitl_tui.core.safe_text import mask
from hitl_tui.language import _

log = logging.getLogger(__name__)

_LINES_KEPT = 500
_LONGEST_KEPT = 10_000
"""Characters of a line that is kept; a longer one is there until the console ends."""
_BYTES_KEPT = 500_000
_BYTES_READ = 4_000_000
"""Of a file that something else made longer; every character takes at most 12 bytes there."""


class Remembered(NamedTuple):
    """Contents of `console.json`.

    Args:
        session: id of the session that was open last; empty for none.
        finished: it was finished when it was last seen.
        theme: name of the chosen theme.
        notices: how a person is called (`notifications.NotificationMeans`); empty for what is usual.
        workspace: where that session works.
        folder: where the console was started that showed it; empty where an older version wrote this.
    """

    session: str = ""
    finished: bool = False
    theme: str = ""
    notices: str = ""
    workspace: str = ""
    folder: str = ""


def recall(data: Path) -> Remembered:
    """Return what was remembered; defaults when nothing can be read."""
    try:
        found = json.loads((data / "console.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Remembered()
    if not isinstance(found, dict):
        return Remembered()
    usual = Remembered()._asdict()
    known = {name: found[name] for name, value in usual.items() if isinstance(found.get(name), type(value))}
    return Remembered(**known)


def remember(data: Path, what: Remembered) -> None:
    """Write `console.json` atomically."""
    _write(data / "console.json", json.dumps(what._asdict(), ensure_ascii=False) + "\n")


def recall_lines(data: Path) -> list[str]:
    """Return the lines typed at the prompt, oldest first."""
    path = data / "prompt-history.jsonl"
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _BYTES_READ))
            text = file.read(_BYTES_READ).decode("utf-8", "replace")
    except OSError:
        return []
    lines = []
    for row in text.splitlines()[-_LINES_KEPT:]:
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(row)
            if isinstance(found, str) and len(found) <= _LONGEST_KEPT:
                lines.append(found)
    return lines


def remember_lines(data: Path, lines: list[str]) -> None:
    """Keep the last lines, atomically, as many as there is room for; those that are too long are left out."""
    kept: list[str] = []
    room = _BYTES_KEPT
    for line in reversed(lines[-_LINES_KEPT:]):
        if len(line) <= _LONGEST_KEPT:
            row = json.dumps(line, ensure_ascii=True) + "\n"
            room -= len(row)
            if room < 0:
                break
            kept.append(row)
    _write(data / "prompt-history.jsonl", "".join(reversed(kept)))


class UserMemory:
    """What is remembered, while the console goes on.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self.known = recall(data)
        self.lines = recall_lines(data)
        """Typed at the prompt, oldest first; whoever takes a line adds it."""
        self._secrets: dict[str, str] = {}

    def hide(self, secrets: Mapping[str, str]) -> None:
        """Write the names of secrets in place of their values from now on."""
        self._secrets |= secrets

    def keep(self, fresh: Remembered) -> None:
        """Remember something else from now on; it is written at once."""
        if fresh != self.known:
            self.known = fresh
            remember(self._data, fresh)

    def keep_lines(self) -> None:
        """Write the lines typed so far."""
        remember_lines(self._data, [mask(line, self._secrets) for line in self.lines[-_LINES_KEPT:]])


def _write(path: Path, text: str) -> None:
    try:
        make_private(path.parent)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        log.warning("%s can't be written: %s", path, error)


LARGEST = 50_000
"""Bytes; more than every binding or colour there is would take."""

_PLACE = re.compile(r".* \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Cannot mutate immutable namespace")


def read_table(path: Path) -> dict[str, Json]:
    """Return what a TOML file holds.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it can't be taken; why, in words that go into a sentence.
    """
    import tomllib

    try:
        if not path.is_file():
            path.stat()
            raise ValueError(_("it isn't a file"))
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(_("it can't be read ({why})").format(why=error.strerror)) from error
    if len(content) > LARGEST:
        raise ValueError(_("it is larger than {size} bytes").format(size=f"{LARGEST:,}"))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(_("it isn't UTF-8 text")) from error
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(_("it is nested too deeply")) from error
    except ValueError as error:
        raise ValueError(_plainly(text, str(error))) from error


def _plainly(text: str, said: str) -> str:
    """Return in plain words what the standard library's parser says: the line, and what is expected there."""
    place = _PLACE.fullmatch(said)
    if place is None:
        return _("it has a number that is too long")
    line = place["line"] or text.rstrip().count("\n") + 1
    if said.startswith(_TWICE):
        return _("line {line} repeats a name; each may be given once").format(line=line)
    if place["line"] is None:
        return _('it ends in line {line} before a value is complete; a line is expected to read name = "value"').format(
            line=line
        )
    return _('line {line} can\'t be read; it is expected to read name = "value" or [table]').format(line=line)
