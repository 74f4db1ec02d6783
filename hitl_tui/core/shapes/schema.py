"""JSON Schema, given by others: what can be used of it, and what is wrong with a value. Nothing is ever fetched.

A schema may be broken, refer to itself without end, explode, or hold a pattern that takes for ever; none of that may
stop an answer or the program. What can't be used is said, and then any JSON is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shapes.model import json_words, said, typed
from hitl_tui.core.storable import check_storable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MOST_NODES = 5_000
_DEEPEST = 60
_MOST_REFERENCES = 5_000
_MOST_STEPS = 10**8
_REPEATED = 16
"""A repetition up to this often counts as bounded."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MOVED = ("$id", "id", "$anchor", "$dynamicAnchor")
_PROBES: tuple[Any, ...] = (None, True, 0, "", [], {})


class _Endless(Exception):
    """A schema takes too long."""


def why_unusable(schema: Any) -> str:
    """Return why a schema can't be used, in words that follow `it`; empty when it can."""
    if not isinstance(schema, Mapping):
        return f"has to be an object and is {typed(schema)}"
    if (why := _why_refused(schema)) or not schema:
        return why
    try:
        check_storable(schema)
    except BadInput:
        return "holds something that can't be kept"
    from jsonschema.exceptions import SchemaError, UnknownType

    try:
        _class_for(schema).check_schema(dict(schema))
        validator = _validator(schema)
        for probe in _PROBES:
            next(iter(validator.iter_errors(probe)), None)
    except SchemaError as error:
        return f"isn't valid: {one_line(error.message, 120)}"
    except (_Endless, RecursionError):
        return "refers to itself without end"
    except UnknownType as error:
        return f"names a type that there isn't: {one_line(str(error.type), 40)}"
    except _broken() as error:
        return f"can't be followed: {one_line(str(error), 120)}"
    return ""


def _why_refused(schema: Mapping[str, Any]) -> str:
    pending: list[tuple[Any, int]] = [(schema, 0)]
    nodes = 0
    while pending:
        item, depth = pending.pop()
        nodes += 1
        if nodes > _MOST_NODES or depth > _DEEPEST:
            return f"is too large: more than {_MOST_NODES:,} parts or {_DEEPEST} levels"
        if isinstance(item, Mapping):
            for name in _REFERENCES:
                target = item.get(name)
                if isinstance(target, str) and not target.startswith("#"):
                    return f"refers to something elsewhere ({one_line(target, 60)}), which is never fetched"
            pending += [(part, depth + 1) for part in item.values()]
        elif isinstance(item, list | tuple):
            pending += [(part, depth + 1) for part in item]
    return ""


def problem(schema: Mapping[str, Any], value: Any) -> str:
    """Return what is wrong with a value in one sentence; empty when nothing is, or when it can't be found out.

    Args:
        schema: one that can be used.
        value: a JSON value.
    """
    if not schema:
        return ""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(schema).iter_errors(value))
        return "" if error is None else _sentence(error)
    except _Endless:
        return ""
    except _broken():
        return ""


def check_against(schema: Mapping[str, Any] | None, value: Any) -> None:
    """Check a value against a schema that can be used; None takes anything.

    Raises:
        BadInput: one sentence says what was expected.
    """
    wrong = problem(schema, value) if schema else ""
    if wrong:
        raise BadInput(wrong)


# The library -----------------------------------------------------------------------------------------------------


def _broken() -> tuple[type[Exception], ...]:
    from jsonschema.exceptions import UndefinedTypeCheck, UnknownType
    from referencing.exceptions import Unresolvable

    return (
        UnknownType,
        UndefinedTypeCheck,
        RecursionError,
        Unresolvable,
        ArithmeticError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        re.error,
    )


def _class_for(schema: Mapping[str, Any]) -> Any:
    from jsonschema.validators import Draft202012Validator, validator_for

    return validator_for(dict(schema), default=Draft202012Validator)


def _validator(schema: Mapping[str, Any]) -> Validator:
    from jsonschema.validators import extend
    from referencing import Registry

    base = _class_for(schema)
    left = _MOST_REFERENCES

    def counted(name: str) -> Any:
        follow = base.VALIDATORS[name]

        def checked(validator: Any, target: Any, instance: Any, within: Any) -> Iterator[Any]:
            nonlocal left
            left -= 1
            if left < 0:
                raise _Endless
            yield from follow(validator, target, instance, within) or ()

        return checked

    own = {name: counted(name) for name in (*_REFERENCES, "anyOf", "oneOf", "allOf") if name in base.VALIDATORS}
    own |= {"pattern": _pattern, "patternProperties": _pattern_properties}
    made: Any = extend(base, own)  # type: ignore[no-untyped-call]  # the library's own types leave it open
    validator: Validator = made(dict(schema), registry=Registry(), format_checker=_formats())
    return validator


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and found_in(pattern, instance) is False:
        yield ValidationError(f"has to match the pattern {pattern}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in patterns.items():
        for name, value in instance.items():
            if found_in(pattern, name):
                yield from validator.descend(value, below, path=name, schema_path=pattern)


def found_in(pattern: Any, text: str) -> bool | None:
    """Return whether a pattern is in a text; None when that could take too long, or can't be known."""
    repeats = _repeats(pattern) if isinstance(pattern, str) else None
    if repeats is None or (len(text) + 1) ** (repeats + 1) > _MOST_STEPS:
        return None
    return re.search(pattern, text) is not None


@lru_cache(maxsize=256)
def _repeats(pattern: str) -> int | None:
    """Return how many open repetitions stand one after another; None where they are nested or nothing is known."""
    try:
        from re import _parser  # type: ignore[attr-defined]

        return _open_repeats(_parser.parse(pattern), within=False)
    except (re.error, RecursionError, OverflowError, ImportError, AttributeError, ValueError, TypeError):
        return None


def _open_repeats(tree: Any, *, within: bool) -> int:
    found = 0
    for operation, argument in tree:
        name = str(operation)
        if name in ("GROUPREF", "GROUPREF_EXISTS") or (within and name == "BRANCH"):
            raise ValueError("not counted")
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            is_open = int(most) > _REPEATED
            if within and int(most) != int(least):
                raise ValueError("nested")
            found += int(is_open) + _open_repeats(inner, within=within or int(most) > 1)
        else:
            found += sum(_open_repeats(inner, within=within) for inner in _inner(argument))
    return found


def _inner(argument: Any) -> Iterator[Any]:
    """Yield the patterns inside one operation's arguments."""
    if type(argument).__name__ == "SubPattern":
        yield argument
    elif isinstance(argument, list | tuple):
        for part in argument:
            if isinstance(part, list | tuple) or type(part).__name__ == "SubPattern":
                yield from _inner(part)


@cache
def _formats() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(("email", "idn-email", "date", "ipv4", "ipv6", "uuid"))

    @checker.checks("date-time", raises=ValueError)
    def _is_date_time(value: object) -> bool:
        return not isinstance(value, str) or bool(datetime.fromisoformat(value))

    @checker.checks("uri")
    def _is_uri(value: object) -> bool:
        return not isinstance(value, str) or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", value) is not None

    return checker


# Words -----------------------------------------------------------------------------------------------------------

_TYPE_WORDS: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _sentence(error: Any) -> str:
    where = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")
    subject = one_line(where, 60) if where else "The answer"
    what, wanted = error.validator, error.validator_value
    if what == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        words = " or ".join(_TYPE_WORDS.get(str(k), str(k)) for k in kinds)
        return f"{subject} has to be {words}, but it is {said(error.instance, 60)}."
    if what == "enum":
        return f"{subject} has to be one of {_listed(wanted)}, but it is {said(error.instance, 60)}."
    if what == "const":
        return f"{subject} has to be {said(wanted, 60)}, but it is {said(error.instance, 60)}."
    if what == "required":
        missing = [str(name) for name in wanted if name not in error.instance]
        return f"{subject} lacks {one_line(', '.join(missing), 120)}."
    if what == "format":
        return f"{subject} has to be of the form {one_line(str(wanted), 30)}, but it is {said(error.instance, 60)}."
    if what in ("anyOf", "oneOf"):
        return f"{subject} has to be {expects(error.schema)}, but it is {said(error.instance, 60)}."
    return f"{subject} can't be used: {one_line(error.message, 160)}."


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(one_line(json_words(v), 40) for v in list(values)[:8])
    return shown + (", …" if len(values) > 8 else "")


def expects(schema: Mapping[str, Any] | None) -> str:
    """Return in a few safe words what a schema wants: `a whole number`, `an object with to, body`."""
    schema = schema or {}
    kind = schema.get("type")
    if "const" in schema:
        return said(schema["const"], 60)
    if isinstance(schema.get("enum"), list):
        return f"one of {_listed(schema['enum'])}"
    if isinstance(kind, list):
        return " or ".join(_TYPE_WORDS.get(str(k), "any JSON") for k in kind)
    if kind == "object" and isinstance(schema.get("properties"), Mapping) and schema["properties"]:
        return f"an object with {one_line(', '.join(map(str, schema['properties'])), 100)}"
    if isinstance(kind, str):
        return _TYPE_WORDS.get(kind, "any JSON")
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            return "one of the forms that the schema names"
    return "any JSON"
