"""TOML files that people write for the console, read so that none of them can keep it from starting (C2, C7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitl_tui.language import _

LARGEST = 50_000
"""Bytes; more than every binding or colour there is would take."""


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
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(_("it is no text in UTF-8")) from error
    except RecursionError as error:
        raise ValueError(_("it is nested too deeply")) from error
