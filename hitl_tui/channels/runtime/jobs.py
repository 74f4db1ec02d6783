"""Jobs, as people and programs write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import check_storable, strict_json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, nearest
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import one_line

LARGEST = 1_000_000
"""Bytes that a job may have."""
_KEYS = ("id", "query", "workspace", "mode")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,55}")
_LONGEST_ID = 300


@dataclass(frozen=True, slots=True)
class Job:
    """What somebody wants done.

    Args:
        id: its name, and what it is known by if it is given again: it is carried out once.
        query: what is asked.
        workspace: the folder that it works in, absolute.
        mode: when people are asked; empty for what the runtime says.
        session: the job whose session it goes on in, once that has ended; empty for a session of its own.
    """

    id: str
    query: str
    workspace: str
    mode: str = ""
    session: str = ""

    @property
    def key(self) -> str:
        """What it is called on disk: another job never has the same."""
        return _key(self.id)

    @property
    def session_id(self) -> str:
        """The session that carries it out: its own, or that of the job that it goes on from."""
        return _key(self.session or self.id)


def _key(job_id: str) -> str:
    return f"job-{job_id}" if _PLAIN.fullmatch(job_id) else f"job.{sha256(job_id.encode()).hexdigest()[:32]}"


def read_job(data: bytes, root: Path, name: str = "") -> Job:
    """Return the job that a JSON document describes.

    Args:
        data: the document.
        root: the runtime's folder; a job works in it, or in a folder below it.
        name: its id where the document has none; empty for a fresh one.

    Raises:
        BadInput: it describes none.
    """
    if len(data) > LARGEST:
        raise BadInput(Message("A job is too large: at most {} bytes.", f"{LARGEST:,}"))
    try:
        found = strict_json(data.decode("utf-8-sig"))
    except ValueError as error:
        raise BadInput(Message("A job isn't valid JSON: {}.", one_line(str(error), 200))) from error
    if not isinstance(found, Mapping):
        raise BadInput(Message('A job is a JSON object such as {"query": "…"}.'))
    return job_of(found, root, name)


def job_of(found: Mapping[str, Any], root: Path, name: str = "") -> Job:
    """Return the job that a JSON object describes. See `read_job`."""
    for key in found:
        if key not in _KEYS:
            shown = one_line(clip(key), 60)
            if near := nearest(key, _KEYS):
                raise BadInput(Message('Unknown key "{}" in a job; did you mean "{}"?', shown, near))
            raise BadInput(Message('Unknown key "{}" in a job; it has {}.', shown, ", ".join(_KEYS)))
    check_storable(found)
    for key, value in found.items():
        if not isinstance(value, str):
            raise BadInput(Message('"{}" of a job must be a text.', key))
    if not found.get("query", "").strip():
        raise BadInput(Message('A job needs a "query".'))
    mode = found.get("mode", "")
    if mode and mode not in set(Mode):
        raise BadInput(Message('"mode" of a job can\'t be "{}"; use one of {}.', one_line(mode, 40), ", ".join(Mode)))
    return Job(checked_id(found.get("id") or name or token_hex(8)), found["query"], _within(found, root), mode)


def checked_id(text: str) -> str:
    """Return a text that can be a job's id.

    Raises:
        BadInput: it can't.
    """
    if len(text) > _LONGEST_ID or not text.isprintable() or not text.strip():
        raise BadInput(
            Message("The id of a job has 1 to {} printable characters, not {}.", _LONGEST_ID, repr(clip(text)))
        )
    return text


def _within(found: Mapping[str, Any], root: Path) -> str:
    given = found.get("workspace", "")
    outside = BadInput(Message("A job works in {} or below it, not in {}.", root, one_line(clip(given), 200)))
    try:
        folder = (root / given_path(given)).resolve()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise outside from error
    if not folder.is_relative_to(root.resolve()):
        raise outside
    return str(folder)
