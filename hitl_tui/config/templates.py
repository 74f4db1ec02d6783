"""Arguments with holes: `-mtime`, `+{days}`, `{{literal}}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an argument: literal text, or a hole with the name of the parameter that fills it."""

    text: str
    hole: bool


def parse_template(argument: str) -> tuple[Part, ...]:
    """Return the pieces of one declared argument, in order.

    Raises:
        ValueError: a brace that neither opens nor closes a placeholder; the message completes a sentence.
    """
    parts: list[Part] = []
    for match in _TOKEN.finditer(argument):
        token = match[0]
        if token in ("{{", "}}"):
            parts.append(Part(token[0], hole=False))
        elif match[1] is not None and _NAME.fullmatch(match[1]):
            parts.append(Part(match[1], hole=True))
        elif token[0] in "{}":
            raise ValueError('has a brace that is no placeholder; write "{{" and "}}" for literal braces')
        else:
            parts.append(Part(token, hole=False))
    return tuple(parts)


def literal_text(argument: str) -> str:
    """Return a declared argument as it is passed on; empty where a parameter fills a hole in it."""
    parts = parse_template(argument)
    return "" if any(part.hole for part in parts) else "".join(part.text for part in parts)


def is_parameter_name(text: str) -> bool:
    """Return whether a parameter may be called this: it has to fit between braces."""
    return _NAME.fullmatch(text) is not None
