"""Canonical JSON and the digests that bind an approval to what runs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hitl_tui.core.errors import BadInput


def canonical(value: Any) -> bytes:
    """Return the one UTF-8 JSON encoding of a JSON value.

    Keys are sorted, there is no white space, text is not escaped beyond what JSON needs. Two values are equal
    exactly when their encodings are. Lone surrogates are encoded like other code points, so any text has a digest.

    Raises:
        BadInput: the value holds something that JSON has no form for (NaN, bytes, objects, keys that aren't text).
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"This value can't be written as JSON: {error}.") from error
    _refuse_other_keys(value)
    return text.encode("utf-8", errors="surrogatepass")


def _refuse_other_keys(value: Any) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise BadInput(f"This value can't be written as JSON: the key {key!r} isn't text.")
            pending.extend(item.values())
        elif isinstance(item, (list, tuple)):
            pending.extend(item)


def digest(value: Any) -> str:
    """Return the SHA-256 of `canonical(value)` as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_id(*parts: Any, length: int = 16) -> str:
    """Return a stable id for a tuple of JSON values: the first `length` digits of their digest."""
    return digest(list(parts))[:length]
