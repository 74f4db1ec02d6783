"""`[review]`: the runtimes elsewhere whose requests stand in the inbox here."""

from __future__ import annotations

import re

from hitl_tui.core.messages import Message

REVIEW_RUNTIME = "HITL_REVIEW_RUNTIME"
"""The variable that says where they are, with commas between them."""
_SCHEMES = ("http", "https", "s3")


def runtime_problem(value: str) -> str:
    """Return why a text can't say where a runtime is, as the rest of a sentence about it; empty where it can."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", value)
    if not value.strip() or not value.isprintable() or (scheme and scheme[1] not in _SCHEMES):
        return Message("must be http://HOST:PORT, s3://BUCKET[/PREFIX] or a folder")
    return ""


def is_folder(place: str) -> bool:
    """Return whether a place that can be a runtime's is a folder."""
    return "://" not in place
