"""What a person gives for a session, and whether it can be used: its question, its title, its folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.safe_text import mask, safe_again
from hitl_tui.core.short_titles import WIDTH, short_title

LONGEST_QUERY = 10_000
"""Characters a query may have: every checkpoint keeps it."""


LONGEST_TITLE = 200
"""Characters a title may have."""

_LEAST = 24
"""Cells that the words of an input get, however long a graph's name is."""
_FORK = re.compile(r" \(fork of [A-Za-z0-9._-]+\)$")


def check_query(query: str) -> str:
    """Return a query without white space around it.

    Raises:
        BadInput: it is empty, too long or no text.
    """
    text = query.strip()
    if not text:
        raise BadInput(Message("The question is empty; write what you want to know or have done."))
    if len(text) > LONGEST_QUERY:
        raise BadInput(
            Message("The question has {} characters; the limit is {}.", f"{len(text):,}", f"{LONGEST_QUERY:,}")
        )
    strange = sum(1 for c in text if c == "\0" or "\ud800" <= c <= "\udfff" or (c < " " and c not in "\n\r\t"))
    if strange:
        raise BadInput(Message("The question holds binary data; write it as plain text."))
    return text


def check_title(title: str, secrets: Mapping[str, str]) -> str:
    """Return a title as it is kept: one line that hides nothing, without secrets.

    Raises:
        BadInput: it is empty or too long.
    """
    text = safe_again(mask(" ".join(title.split()), secrets), multiline=False)
    if not text:
        raise BadInput(Message("The title is empty; write a title."))
    if len(text) > LONGEST_TITLE:
        raise BadInput(Message("The title has {} characters; the limit is {}.", f"{len(text):,}", LONGEST_TITLE))
    return text


def graph_title(name: str, text: str) -> str:
    """Return what a session with an attached graph is called: the graph's name and a few words of its input.

    `{"query": "flat 3"}` for the graph review is `review: flat 3`.

    Args:
        name: the graph.
        text: its input as it was given.
    """
    try:
        said = _in_words(json.loads(text))
    except (ValueError, RecursionError):
        said = text.strip().split("\n")[0]
    return f"{name}: {short_title(said, max(_LEAST, WIDTH - len(name) - 2))}" if said else name


def _in_words(value: Json) -> str:
    if isinstance(value, Mapping):
        if len(value) == 1 or "content" in value:
            return _in_words(value.get("content", next(iter(value.values()))))
        return ", ".join(f"{key} {_in_words(item)}".strip() for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value)


def fork_title(title: str, session_id: str) -> str:
    """Return what a fork is called that nobody gave a title: the other's, and that it is a fork of it."""
    ending = Message(" (fork of {})", session_id)
    return clip(_FORK.sub("", title), LONGEST_TITLE - len(ending)) + ending


def check_workspace(path: Path) -> Path:
    """Return the absolute path of a folder that a session can work in.

    Raises:
        BadInput: it is missing, no folder or can't be read.
    """
    real = given_path(str(path)).resolve()
    if not real.exists():
        raise BadInput(Message("The workspace {} doesn't exist.", path))
    if not real.is_dir():
        raise BadInput(Message("The workspace {} isn't a folder.", path))
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadInput(Message("The workspace {} can't be read.", path))
    return real
