"""What a person gives for a session, and whether it can be used: its question, its title, its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import mask, safe_text

LONGEST_QUERY = 10_000
"""Characters a query may have: every checkpoint keeps it."""


LONGEST_TITLE = 200
"""Characters a title may have."""


def check_query(query: str) -> str:
    """Return a query without white space around it.

    Raises:
        BadInput: it is empty, too long or no text.
    """
    text = query.strip()
    if not text:
        raise BadInput("The question is empty; write what you want to know or have done.")
    if len(text) > LONGEST_QUERY:
        raise BadInput(f"The question has {len(text):,} characters; at most {LONGEST_QUERY:,} can be used.")
    strange = sum(1 for c in text if c == "\0" or "\ud800" <= c <= "\udfff" or (c < " " and c not in "\n\r\t"))
    if strange:
        raise BadInput("The question holds binary data; write it as plain text.")
    return text


def check_title(title: str, secrets: Mapping[str, str]) -> str:
    """Return a title as it is kept: one line that hides nothing, without secrets.

    Raises:
        BadInput: it is empty or too long.
    """
    text = safe_text(mask(" ".join(title.split()), secrets), multiline=False)
    if not text:
        raise BadInput("The title is empty; write what the session is to be called.")
    if len(text) > LONGEST_TITLE:
        raise BadInput(f"The title has {len(text):,} characters; at most {LONGEST_TITLE} can be used.")
    return text


def check_workspace(path: Path) -> Path:
    """Return the absolute path of a folder that a session can work in.

    Raises:
        BadInput: it is missing, no folder or can't be read.
    """
    real = path.expanduser().resolve()
    if not real.exists():
        raise BadInput(f"The workspace {path} doesn't exist.")
    if not real.is_dir():
        raise BadInput(f"The workspace {path} isn't a folder.")
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadInput(f"The workspace {path} can't be read.")
    return real
