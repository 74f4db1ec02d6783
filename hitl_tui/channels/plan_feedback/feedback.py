"""Feedback objects: what a reviewer puts beside a runtime to answer one of its requests, and how it is read.

`{"approved": bool, "feedback": str, "timestamp": ISO 8601}`, and where it helps `digest` (of what was reviewed),
`reviewer` (a claimed name) and `request_id`. Anybody may have written it, so it is read strictly: what isn't exactly
that is a problem and decides nothing. Keys that nobody knows are left alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import check_storable, strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

LARGEST = 64 * 1024
"""Bytes of a feedback object."""
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,159}")
_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Feedback:
    """A reviewer's answer.

    Args:
        approved: whether the plan goes ahead as it is.
        feedback: what to change; a note where it is approved.
        timestamp: when, by the reviewer's clock, with its zone. It decides nothing: clocks differ.
        digest: that of what was reviewed, or the beginning of it; empty where the object names none.
        reviewer: their name as they claim it; empty where the object names none.
    """

    approved: bool
    feedback: str
    timestamp: datetime
    digest: str = ""
    reviewer: str = ""

    def to_bytes(self, request_id: str = "") -> bytes:
        """Return the object, as it is uploaded for a request."""
        document: dict[str, Json] = {
            "approved": self.approved,
            "feedback": self.feedback,
            "timestamp": self.timestamp.isoformat(),
        }
        named = {"digest": self.digest, "reviewer": self.reviewer, "request_id": request_id}
        document |= {key: value for key, value in named.items() if value}
        return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an object decides nothing.

    Args:
        kind: `malformed`, `oversized`, `foreign`, `late` or `refused`.
        reason: one sentence.
    """

    kind: str
    reason: Message


def read(data: bytes, request_id: str = "") -> Feedback | Problem:
    """Return what a feedback object says, or why it can't be used.

    Args:
        data: its bytes.
        request_id: the request that its name stands for; an object that names another is foreign.
    """
    if len(data) > LARGEST:
        return oversized(len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _malformed(Message("It isn't UTF-8 text."))
    try:
        document = strict_json(text)
        check_storable(document)
    except BadInput as error:
        return _malformed(Message("{}", error))
    except ValueError as error:
        return _malformed(Message("It isn't JSON: {}.", one_line(str(error), 100)))
    if not isinstance(document, dict):
        return _malformed(Message("It isn't a JSON object."))
    named = document.get("request_id", request_id)
    if request_id and named != request_id:
        return Problem("foreign", Message("It answers another request: {}.", one_line(str(named), 100)))
    return _feedback(document)


def oversized(size: int) -> Problem:
    """Return the problem of an object of a size in bytes that is larger than `LARGEST`."""
    return Problem("oversized", Message("It has {} bytes; at most {} are read.", size, LARGEST))


def proper_id(request_id: str) -> bool:
    """Return whether a text can be the id of a request, and so part of a file's or an object's name."""
    return _ID.fullmatch(request_id) is not None


def _feedback(document: dict[str, Json]) -> Feedback | Problem:
    for key in ("approved", "feedback", "timestamp"):
        if key not in document:
            return _malformed(Message('It lacks "{}".', key))
    approved, feedback, stamp = document["approved"], document["feedback"], document["timestamp"]
    digest, reviewer = document.get("digest", ""), document.get("reviewer", "")
    if not isinstance(approved, bool):
        return _malformed(Message('"approved" has to be true or false, not {}.', one_line(json.dumps(approved), 40)))
    if not isinstance(feedback, str):
        return _malformed(Message('"{}" has to be text.', "feedback"))
    if not approved and not feedback.strip():
        return _malformed(Message('"approved" is false, and "feedback" doesn\'t say what to change.'))
    try:
        timestamp = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        timestamp = None
    if timestamp is None:
        return _malformed(Message('"timestamp" has to be a time such as 2026-11-27T09:30:00Z.'))
    if not isinstance(digest, str) or (digest and not _DIGEST.fullmatch(digest)):
        return _malformed(Message('"digest" has to be 8 to 64 hexadecimal digits.'))
    if not isinstance(reviewer, str):
        return _malformed(Message('"{}" has to be text.', "reviewer"))
    if timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=UTC)
    return Feedback(approved, feedback, timestamp, digest, one_line(reviewer, _LONGEST_NAME))


def _malformed(reason: Message) -> Problem:
    return Problem("malformed", reason)
