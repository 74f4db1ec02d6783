"""JSON: what checkpoints can hold of it, its canonical form, the digests that bind an approval, and a strict reader.

Checkpoints hold JSON with 64-bit integers, texts that are Unicode, and a bounded depth. JSON itself allows more, and
one value beyond this would end a session for good: its event would come again at every opening.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_DEEPEST = 200


def check_storable(value: object) -> None:
    """Check that a checkpoint can hold a JSON value.

    Raises:
        BadInput: an integer is too large, a text isn't Unicode, or it is nested too deeply.
    """
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if depth > _DEEPEST:
            raise BadInput(Message("This value is nested deeper than {} levels.", _DEEPEST))
        if isinstance(item, str):
            if not _is_unicode(item):
                raise BadInput(Message("This value holds half of a surrogate pair, which is no text."))
        elif isinstance(item, int):
            if not _SMALLEST <= item <= _LARGEST:
                raise BadInput(Message("This value holds a whole number beyond 64 bits; write it as a text."))
        elif isinstance(item, Mapping):
            pending += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple):
            pending += [(part, depth + 1) for part in item]


def storable(value: Json, _depth: int = 0) -> Json:
    """Return a JSON value as a checkpoint can hold it: what it can't is replaced by a text that says it.

    For what teams report: it has to arrive, whatever it is.
    """
    if isinstance(value, str):
        return value if _is_unicode(value) else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, bool) or not isinstance(value, int | Mapping | list | tuple):
        return value
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else hex(value)
    if _depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {cast(str, storable(k)): storable(v, _depth + 1) for k, v in value.items()}
    return [storable(v, _depth + 1) for v in value]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def canonical(value: object) -> bytes:
    """Return the one UTF-8 JSON encoding of a JSON value.

    Keys are sorted, there is no white space, text is not escaped beyond what JSON needs. Two values are equal
    exactly when their encodings are. Lone surrogates are encoded like other code points, so any text has a digest.

    Raises:
        BadInput: the value holds something that JSON has no form for (NaN, bytes, objects, keys that aren't text).
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(Message("This value can't be written as JSON: {}.", error)) from error
    _refuse_other_keys(value)
    return text.encode("utf-8", errors="surrogatepass")


def _refuse_other_keys(value: object) -> None:
    pending = [value] if isinstance(value, dict | list | tuple) else []
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise BadInput(Message("This value can't be written as JSON: the key {} isn't text.", repr(key)))
            pending.extend(part for part in item.values() if isinstance(part, dict | list | tuple))
        else:
            pending.extend(part for part in item if isinstance(part, dict | list | tuple))


def key_order(value: Json) -> list[list[str]]:
    """Return the keys of every object in a JSON value in the order they have, outermost and first ones first.

    Canonical JSON sorts keys, and a person reads them as they came: `in_order` puts them back.
    """
    found: list[list[str]] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            found.append(list(item))
            pending += reversed(list(item.values()))
        elif isinstance(item, list | tuple):
            pending += reversed(item)
    return found


def in_order(value: Json, order: Sequence[Sequence[str]]) -> Json:
    """Return a JSON value with the keys of its objects in the order that `key_order` gave for an equal one.

    Where they aren't those of the order any more, the value stays as it is.
    """
    left = iter(order)

    def ordered(item: Json) -> Json:
        if isinstance(item, Mapping):
            keys = next(left)
            if len(keys) != len(item):
                raise KeyError
            return {key: ordered(item[key]) for key in keys}
        return [ordered(part) for part in item] if isinstance(item, list | tuple) else item

    try:
        return ordered(value)
    except (KeyError, TypeError, StopIteration, RecursionError):
        return value


def digest(value: object) -> str:
    """Return the SHA-256 of `canonical(value)` as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_id(*parts: object, length: int = 16) -> str:
    """Return a stable id for a tuple of JSON values: the first `length` digits of their digest."""
    return digest(list(parts))[:length]


def is_json(text: str) -> bool:
    """Return whether a text is JSON itself: `30` is a number, and the text of the same looks is `"30"`."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_structured(text: str) -> bool:
    """Return whether an input is a JSON object or list, and not words."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def names_digest(text: str, digest: str) -> bool:
    """Return whether a text is a digest or enough of its beginning to stand for it."""
    return len(text) >= 8 and digest.startswith(text)


_MOST_DIGITS = 4_300
"""Digits of a whole number that Python reads; more take too long."""


def strict_json(text: str) -> Json:
    """Return the JSON value that a text is.

    Raises:
        BadInput: an object names a key twice, so that one of its values would count for nothing.
        ValueError: it isn't JSON, which NaN and Infinity aren't either, or it is nested too deeply to be read.
    """
    try:
        found: Json = json.loads(text, parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_once)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return found


_FAULTS: Mapping[str, Message] = {
    "Expecting ':'": Message("a colon is missing"),
    "Expecting property name": Message("a name in double quotation marks is expected"),
    "Expecting value": Message("a value is expected"),
    "Unterminated string": Message("this quotation mark isn't closed"),
    "Extra data": Message("nothing may follow here"),
    "Invalid control character": Message("in a text, a line break is written \\n and a tab \\t"),
    "Invalid \\": Message("in a text, a backslash is written twice"),
    "Illegal trailing comma": Message("a comma stands before the end"),
}
"""What is wrong, by how Python's reader begins to say it."""


def json_fault(text: str) -> Message:
    """Return where a text isn't JSON, and what is wrong there: `line 2, column 5: a comma is missing before this`.

    Args:
        text: one that `strict_json` can't read.
    """
    try:
        strict_json(text)
    except json.JSONDecodeError as error:
        said = next((said for begins, said in _FAULTS.items() if error.msg.startswith(begins)), None)
        if said is None and error.msg.startswith("Expecting ','"):
            said = Message("a comma is missing before this")
            if not text[error.pos :].strip():
                said = Message("a comma or a closing bracket is missing")
        return Message("line {}, column {}: {}", error.lineno, error.colno, said or one_line(error.msg, 80))
    except ValueError as error:
        return Message("{}", one_line(str(error), 80))
    except BadInput as error:
        return Message("{}", error.message)
    return Message("{}", one_line(text, 80))


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(Message('The JSON names "{}" twice in one object; say it once.', one_line(key, 40)))
        found[key] = value
    return found


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text with something in it that a JSON value holds, its keys aside."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)
