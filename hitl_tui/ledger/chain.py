"""How entries are sealed: canonical JSON, hashed together with the hash of the entry before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import canonical
from hitl_tui.ledger.records import Entry, Head

GENESIS = "0" * 64
"""What the first entry of a stream has instead of the hash of the one before."""

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
"""In UTF-8 nothing else looks like this."""

DEEPEST = 200
"""Levels of nesting that data may have: whatever was written can also be read and checked anywhere."""


def seal(head: Head, kind: str, data: Mapping[str, Any], at: str) -> tuple[Entry, bytes]:
    """Return the entry that comes after `head`, and the canonical JSON of its data.

    The entry's data is what a reader will get: keys are text, tuples are lists.

    Raises:
        BadInput: the data isn't JSON, or is nested too deeply.
    """
    value, raw = plain(data)
    n = head.n + 1
    sealed = _hash(head.stream, n, at, kind, raw, head.hash)
    return Entry(head.stream, n, at, kind, value, head.hash, sealed), raw


def entry_hash(entry: Entry) -> str:
    """Return the hash that an entry must carry: SHA-256 of the canonical JSON of everything else in it."""
    return _hash(entry.stream, entry.n, entry.at, entry.kind, canonical(entry.data), entry.prev)


def stored_hash(stream: str, n: int, at: str, kind: str, data: bytes, prev: str) -> str:
    """Return the hash of an entry whose data is given as it is stored."""
    return _hash(stream, n, at, kind, data, prev)


def plain(value: Any) -> tuple[Any, bytes]:
    """Return a JSON value as it will be read again, and its canonical encoding.

    Raises:
        BadInput: it isn't JSON, or is nested more than `DEEPEST` levels.
    """
    raw = canonical(value)
    # The count of brackets is at least the depth, and much cheaper to find.
    if raw.count(b"[") + raw.count(b"{") > DEEPEST:
        _refuse_depth(value)
    value = json.loads(raw)
    if _SURROGATE.search(raw) is None:
        return value, raw
    # Two halves of a surrogate pair read back from JSON text as one character: store them so from the start.
    value = json.loads(json.dumps(value))
    return value, canonical(value)


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for item in level
            if isinstance(item, dict | list | tuple)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    if any(isinstance(item, dict | list | tuple) for item in level):
        raise BadInput(f"This value is nested more than {DEEPEST} levels deep, too deep for the record.")


def _hash(stream: str, n: int, at: str, kind: str, data: bytes, prev: str) -> str:
    # Written out, so that large data is encoded once; keys stand in the order of canonical JSON.
    parts = (
        b'{"at":' + canonical(at),
        b',"data":' + data,
        b',"kind":' + canonical(kind),
        b',"n":' + canonical(n),
        b',"prev":' + canonical(prev),
        b',"stream":' + canonical(stream) + b"}",
    )
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()
