"""TOML files that people write for the console, read so that none of them can keep it from starting (C2, C7)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hitl_tui.language import _

LARGEST = 50_000
"""Bytes; more than every binding or colour there is would take."""

_PLACE = re.compile(r".* \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Cannot mutate immutable namespace")


def read_table(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it can't be taken; why, in words that go into a sentence.
    """
    import tomllib

    try:
        if not path.is_file():
            path.stat()
            raise ValueError(_("it is no file"))
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
        raise ValueError(_("it is no text in UTF-8")) from error
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
        return _("a number in it is too long")
    line = place["line"] or text.rstrip().count("\n") + 1
    if said.startswith(_TWICE):
        return _("line {line} gives again what was given before; each name may be given once").format(line=line)
    if place["line"] is None:
        return _('it ends in line {line} before a value is complete; a line is expected to read name = "value"').format(
            line=line
        )
    return _('line {line} can\'t be read; it is expected to read name = "value" or [table]').format(line=line)
