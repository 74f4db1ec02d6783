"""One parameter of a declared command: which values it takes and how they are written in an argument."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeGuard

from hitl_tui.config.words import LARGE, described, quoted

Value = str | int | float | bool
"""A checked value, as JSON has it."""

LONGEST = 32_768
"""Bytes of one value; Linux takes arguments of 128 KiB at most."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_EXPECTED = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "path": "a path within the workspace",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One `parameters.NAME` of a command.

    Args:
        type: string, integer, number, boolean, path or choice.
        default: used when the parameter is left out; None makes it required.
        minimum: least value of an integer or number.
        maximum: greatest value of an integer or number.
        choices: the values of a choice.
        description: for a person.
    """

    type: str = "string"
    default: Value | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[str, ...] = ()
    description: str = ""

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.type == "choice":
            return "one of " + ", ".join(quoted(choice) for choice in self.choices)
        return _EXPECTED[self.type]

    def accept(self, given: object) -> Value:
        """Return the value to use for what was given; accepting that again changes nothing.

        Text is read as a number or boolean where one is due.

        Raises:
            ValueError: it can't be used; the message completes a sentence that begins with the
            parameter's name.
        """
        if self.type == "integer":
            return self._in_range(self._integer(given))
        if self.type == "number":
            return self._in_range(self._number(given))
        if self.type == "boolean":
            return self._boolean(given)
        text = self._text(given)
        if self.type == "path" and text.startswith("-"):
            return f"./{text}"
        return text

    def text(self, value: Value) -> str:
        """Return an accepted value as it stands in an argument."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return format(Decimal(repr(value)), "f")
        return str(value)

    def _wrong(self, given: object) -> str:
        return f"must be {self.expected}, but it is {described(given)}"

    def _text(self, given: object) -> str:
        if not isinstance(given, str) or (self.type == "choice" and given not in self.choices):
            raise ValueError(self._wrong(given))
        problem = argument_problem(given) or (path_problem(given) if self.type == "path" else "")
        if problem:
            raise ValueError(f"{problem}, but it is {quoted(given)}")
        return given

    def _integer(self, given: object) -> int:
        if isinstance(given, str) and _INTEGER.fullmatch(given):
            return int(given)
        if isinstance(given, int) and not isinstance(given, bool) and abs(given) < LARGE:
            return given
        raise ValueError(self._wrong(given))

    def _number(self, given: object) -> int | float:
        if isinstance(given, str) and _INTEGER.fullmatch(given):
            return int(given)
        value = float(given) if isinstance(given, str) and _NUMBER.fullmatch(given) else given
        if is_number(value):
            return value
        raise ValueError(self._wrong(given))

    def _boolean(self, given: object) -> bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str) and given.lower() in _BOOLEANS:
            return _BOOLEANS[given.lower()]
        raise ValueError(self._wrong(given))

    def _in_range(self, value: int | float) -> int | float:
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f"must be at least {self.minimum}, but it is {value}")
        if self.maximum is not None and value > self.maximum:
            raise ValueError(f"must be at most {self.maximum}, but it is {value}")
        return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number of a size that can be written out; booleans are none."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGE


def argument_problem(text: str) -> str:
    """Return why a text can't be part of an argument, or nothing; it completes a sentence."""
    if any(character in text for character in "\0\r\n"):
        return "must not hold a line break or NUL"
    try:
        size = len(text.encode("utf-8", errors="surrogateescape"))
    except UnicodeEncodeError:
        return "must be text that can be encoded"
    return f"must be at most {LONGEST} bytes long" if size > LONGEST else ""


def path_problem(text: str) -> str:
    """Return why a text isn't a path within the workspace, or nothing; it completes a sentence."""
    if not text:
        return "must not be empty"
    if text.startswith("/"):
        return "must be a path relative to the workspace"
    if text.startswith("~"):
        return 'must not begin with "~"'
    return 'must stay within the workspace, without ".."' if ".." in text.split("/") else ""
