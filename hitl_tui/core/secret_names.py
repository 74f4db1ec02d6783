"""Secrets in texts, by name: `‹DB_PASSWORD›` stands for the value wherever something is kept or shown.

`safe_text.mask` replaces a value by its name at the entrance; the value is put back only where a step runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask_json


def named_in(value: Json, names: Iterable[str]) -> set[str]:
    """Return which of these secrets a JSON value names."""
    texts = list(_texts(value))
    return {name for name in names if any(f"‹{name}›" in text for text in texts)}


def with_values(text: str, secrets: Mapping[str, str]) -> str:
    """Return a text with the values of the secrets that it names."""
    for name, value in secrets.items():
        text = text.replace(f"‹{name}›", value.strip())
    return text


def secret_refused(what: str, name: str) -> str:
    """Return why something that a graph would store may not hold a secret.

    Args:
        what: `The input`, `The answer`, `The change`.
        name: the secret.
    """
    return Message(
        "{} holds the secret {}, which the graph would store; let the graph read it from its environment.",
        what,
        name,
    )


def check_stored(what: str, value: Json, secrets: Mapping[str, str]) -> None:
    """Check that something that a graph would store holds no secret, by its value or its name.

    Args:
        what: as for `secret_refused`.
        value: what it means, JSON: a text that stands for it may hide a secret in what it escapes.
        secrets: declared secrets, by name.

    Raises:
        BadInput: it holds one.
    """
    told = named_in(mask_json(value, secrets), secrets) if secrets else ()
    if told:
        raise BadInput(secret_refused(what, min(told)))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
