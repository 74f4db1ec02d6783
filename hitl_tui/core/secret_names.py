"""Secrets in texts, by name: `‹DB_PASSWORD›` stands for the value wherever something is kept or shown (T10).

`safe_text.mask` replaces a value by its name at the entrance; the value is put back only where a step runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def named_in(value: Any, names: Iterable[str]) -> set[str]:
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
    return (
        f"{what} holds the secret {name}, which the graph would store; "
        "let the graph read it from its environment or context."
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
