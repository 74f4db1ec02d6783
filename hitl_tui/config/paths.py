"""Where the data folder is, and checking of paths that people give, before anything is looked for there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.safe_text import safe_text

_LONGEST, _LONGEST_NAME = 4000, 255
"""Bytes that a path, and a name in it, may have."""


def given_path(text: str) -> Path:
    """Return the path that a text names; `~` is the home folder.

    Raises:
        BadInput: no file can be called that.
    """
    shown = clip(safe_text(text, multiline=False))
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(Message("\"{}\" can't be a path: it isn't valid UTF-8.", shown)) from error
    if "\0" in text:
        raise BadInput(Message('"{}" can\'t be a path: it holds a null character.', shown))
    if len(raw) > _LONGEST or any(len(name) > _LONGEST_NAME for name in raw.split(b"/")):
        raise BadInput(Message('"{}" can\'t be a path: it is too long.', shown))
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # ~somebody without a home
        raise BadInput(Message('"{}" can\'t be found: {}', shown, error)) from error


def default_data_folder(environ: Mapping[str, str]) -> str:
    """Return the data folder where nobody names one: `HITL_DATA_DIR`, or the platform's place for it."""
    if chosen := environ.get("HITL_DATA_DIR", "").strip():
        return chosen
    from platformdirs import user_data_dir

    return user_data_dir("hitl-tui", appauthor=False)
