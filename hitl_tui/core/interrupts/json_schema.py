"""JSON Schema, given by others: what can be used of it, and what is wrong with a value. Nothing is ever fetched.

A schema may be broken, refer to itself without end, explode, or hold a pattern that takes for ever; none of that may
stop an answer or the program. What can't be used is said, and then any JSON is taken.

A rule's schema fits or doesn't fit only values of the types it was written for: `minimum = 1000` says nothing about the
text "5000", and `type = "number"` just doesn't fit it. A tool may read that text as a number all the same, so for a
rule such a value is one that can't be judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.schema_fields import pointed
from hitl_tui.core.interrupts.shape import json_words, said, typed
from hitl_tui.core.json_text import canonical, check_storable
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.protocols import Validator

_MOST_NODES = 5_000
_DEEPEST = 60
_MOST_REFERENCES = 5_000
_MOST_STEPS = 10**8
_SMALL = 10_000
"""Bytes up to which it is remembered whether a value fits."""
_REPEATED = 16
"""A repetition up to this often counts as bounded."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_TURNING = ("not", "oneOf", "if", "maxContains", "unevaluatedProperties", "unevaluatedItems", "additionalProperties")
"""Keywords under which what fits may be an error."""
_PROBES: tuple[Json, ...] = (None, True, 0, "", [], {})


class _Endless(Exception):
    """A schema takes too long."""


def why_unusable(schema: Json) -> str:
    """Return why a schema can't be used, in words that follow `it`; empty when it can."""
    if not isinstance(schema, Mapping):
        return Message("must be an object and is {}", typed(schema))
    if (why := _why_refused(schema)) or not schema:
        return why
    try:
        check_storable(schema)
    except BadInput:
        return Message("holds something that can't be kept")
    from jsonschema.exceptions import SchemaError, UnknownType

    try:
        _class_for(schema).check_schema(dict(schema))
        validator = _validator(schema)
        for probe in _PROBES:
            next(iter(validator.iter_errors(probe)), None)
    except SchemaError as error:
        return Message("isn't valid: {}", one_line(error.message, 120))
    except (_Endless, RecursionError):
        return Message("refers to itself without end")
    except UnknownType as error:
        return Message("names an unknown type: {}", one_line(str(error.type), 40))
    except _broken() as error:
        return Message("can't be followed: {}", one_line(str(error), 120))
    return ""


def _why_refused(schema: JsonObject) -> str:
    pending: list[tuple[Json, int]] = [(schema, 0)]
    nodes = 0
    while pending:
        item, depth = pending.pop()
        nodes += 1
        if nodes > _MOST_NODES or depth > _DEEPEST:
            return Message("is too large: more than {} parts or {} levels", f"{_MOST_NODES:,}", _DEEPEST)
        if isinstance(item, Mapping):
            for name in _REFERENCES:
                target = item.get(name)
                if isinstance(target, str) and not target.startswith("#"):
                    return Message("refers to something elsewhere ({}), which is never fetched", one_line(target, 60))
            pending += [(part, depth + 1) for part in item.values()]
        elif isinstance(item, list | tuple):
            pending += [(part, depth + 1) for part in item]
    return ""


_ANSWER = Message("The answer")


def problem(schema: JsonObject, value: Json, what: Message = _ANSWER) -> str:
    """Return what is wrong with a value in one sentence; empty when nothing is, or when it can't be found out.

    Args:
        schema: one that can be used.
        value: a JSON value.
        what: what the value is called.
    """
    if not schema:
        return ""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(schema).iter_errors(value))
        return "" if error is None else _sentence(error, what)
    except _Endless:
        return ""
    except _broken():
        return ""


def fits(schema: JsonObject, value: Json) -> bool | None:
    """Return whether a value fits a schema that can be used; None when that can't be found out.

    That is so for a pattern that could take too long to look for, and for a schema that can't be followed to its end.
    """
    try:
        given = canonical(schema), canonical(value)
    except BadInput:
        return None
    # A plan asks the same of each of its steps at every event.
    return _fits(*given) if sum(map(len, given)) <= _SMALL else _fits.__wrapped__(*given)


@lru_cache(maxsize=2_048)
def _fits(schema_text: bytes, text: bytes) -> bool | None:
    doubts: list[str] = []
    try:
        error = next(_validator(json.loads(schema_text), doubts).iter_errors(json.loads(text)), None)
    except _Endless:
        return None
    except _broken():
        return None
    if not doubts:
        return error is None
    # What is in doubt counts as fitting, so an error is one all the same, unless the schema turns it round somewhere.
    turned = any(f'"{key}"'.encode() in schema_text for key in _TURNING)
    return None if error is None or turned else False


def check_against(schema: JsonObject | None, value: Json, what: Message = _ANSWER) -> None:
    """Check a value against a schema that can be used; None takes anything. `what` is what the value is called.

    Raises:
        BadInput: one sentence says what was expected.
    """
    wrong = problem(schema, value, what) if schema else ""
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


def _class_for(schema: JsonObject) -> Any:
    from jsonschema.validators import Draft202012Validator, validator_for

    return validator_for(dict(schema), default=Draft202012Validator)


def _validator(schema: JsonSchema, doubts: list[str] | None = None) -> Validator:
    """Return what validates values; patterns that can't be looked for are added to `doubts`."""
    from jsonschema.validators import extend
    from referencing import Registry

    base = _class_for(schema)
    left = _MOST_REFERENCES

    def counted(name: str) -> Any:
        follow = base.VALIDATORS[name]

        def checked(validator: Validator, target: Json, instance: Json, within: Json) -> Iterator[Any]:
            nonlocal left
            left -= 1
            if left < 0:
                raise _Endless
            yield from follow(validator, target, instance, within) or ()

        return checked

    own = {name: counted(name) for name in (*_REFERENCES, "anyOf", "oneOf", "allOf") if name in base.VALIDATORS}
    own |= {"pattern": partial(_pattern, doubts), "patternProperties": partial(_pattern_properties, doubts)}
    made: Any = extend(base, own)  # type: ignore[no-untyped-call]  # the library's own types leave it open
    validator: Validator = made(dict(schema), registry=Registry(), format_checker=_formats())
    return validator


def _pattern(
    doubts: list[str] | None, validator: Validator, pattern: Json, instance: Json, schema: Json
) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, str):
        return
    found = found_in(pattern, instance)
    if found is None and doubts is not None:
        doubts.append(str(pattern))
    if found is False:
        yield ValidationError(Message("must match the pattern {}", pattern))


def _pattern_properties(
    doubts: list[str] | None, validator: Any, patterns: Any, instance: Any, schema: Json
) -> Iterator[Json]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in patterns.items():
        for name, value in instance.items():
            found = found_in(pattern, name)
            if found is None and doubts is not None:
                doubts.append(str(pattern))
            if found:
                yield from validator.descend(value, below, path=name, schema_path=pattern)


def found_in(pattern: Any, text: str) -> bool | None:
    """Return whether a pattern is in a text; None when that could take too long, or can't be known."""
    repeats = _repeats(pattern) if isinstance(pattern, str) else None
    if repeats is None or (len(text) + 1) ** (repeats + 1) > _MOST_STEPS:
        return None
    return re.search(_as_in_json_schema(pattern), text) is not None


@lru_cache(maxsize=256)
def _as_in_json_schema(pattern: str) -> str:
    """Return a pattern in which `$` is the end of the text alone: Python's fits before a last line break, too."""
    if re.compile(pattern).flags & re.MULTILINE:
        return pattern
    return _END.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)


_END = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
"""A `$`, or what isn't one: an escaped character, or a set of them."""


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
            raise ValueError(Message("not counted"))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            is_open = int(most) > _REPEATED
            if within and int(most) != int(least):
                raise ValueError("nested")
            found += int(is_open) + _open_repeats(inner, within=within or int(most) > 1)
        else:
            found += sum(_open_repeats(inner, within=within) for inner in _inner(argument))
    return found


def _inner(argument: Json) -> Iterator[Json]:
    """Yield the patterns inside one operation's arguments."""
    if type(argument).__name__ == "SubPattern":
        yield argument
    elif isinstance(argument, list | tuple):
        for part in argument:
            if isinstance(part, list | tuple) or type(part).__name__ == "SubPattern":
                yield from _inner(part)


@cache
def _formats() -> FormatChecker:
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
    "string": Message("a text"),
    "integer": Message("a whole number"),
    "number": Message("a number"),
    "boolean": Message("true or false"),
    "array": Message("a list"),
    "object": Message("an object"),
    "null": "null",
}


def _sentence(error: Any, what_it_is: Message) -> str:
    where = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")
    subject = one_line(where, 60) if where else what_it_is
    what, wanted = error.validator, error.validator_value
    if what == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        words = " or ".join(_TYPE_WORDS.get(str(k), str(k)) for k in kinds)
        return Message("{} must be {}, but it is {}.", subject, words, said(error.instance, 60))
    if what == "enum":
        return Message("{} must be one of {}, but it is {}.", subject, _listed(wanted), said(error.instance, 60))
    if what == "const":
        return Message("{} must be {}, but it is {}.", subject, said(wanted, 60), said(error.instance, 60))
    if what == "required":
        missing = [str(name) for name in wanted if name not in error.instance]
        return Message("{} lacks {}.", subject, one_line(", ".join(missing), 120))
    if what == "format":
        return Message(
            "{} must be of the form {}, but it is {}.", subject, form_words(str(wanted)), said(error.instance, 60)
        )
    if what in ("anyOf", "oneOf"):
        return Message("{} must be {}, but it is {}.", subject, expects(error.schema), said(error.instance, 60))
    return Message("{} can't be used: {}.", subject, one_line(error.message, 160))


def _listed(values: Sequence[Json]) -> str:
    shown = ", ".join(one_line(json_words(v), 40) for v in list(values)[:8])
    return shown + (", …" if len(values) > 8 else "")


def expects(schema: JsonSchema | None) -> str:
    """Return in a few safe words what a schema wants: `a whole number`, `an object with to, body`."""
    schema = schema or {}
    kind = schema.get("type")
    if "const" in schema:
        return said(schema["const"], 60)
    if isinstance(schema.get("enum"), list):
        return Message("one of {}", _listed(schema["enum"]))
    if isinstance(kind, list):
        return " or ".join(_TYPE_WORDS.get(str(k), Message("any JSON")) for k in kind)
    if kind == "object" and isinstance(schema.get("properties"), Mapping) and schema["properties"]:
        return Message("an object with {}", one_line(", ".join(map(str, schema["properties"])), 100))
    if isinstance(kind, str):
        return _TYPE_WORDS.get(kind, Message("any JSON"))
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            return Message("one of the forms that the schema names")
    return Message("any JSON")


_BESIDE = ("allOf", "anyOf", "oneOf")
_WITHIN = ("not", "if", "then", "else")
_ITEMS = ("items", "contains", "additionalItems", "unevaluatedItems")
_VALUES = ("additionalProperties", "unevaluatedProperties")
_SPEAKS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), frozenset({"integer", "number"})
    ),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), frozenset({"string"})),
    **dict.fromkeys((*_ITEMS, "prefixItems", "minItems", "maxItems", "uniqueItems"), frozenset({"array"})),
    **dict.fromkeys(("properties", "patternProperties", "required", *_VALUES), frozenset({"object"})),
}
_MOST_TYPE_STEPS = 10_000
_DEEPEST_TYPE = 6


def is_strange(schema: JsonObject, value: Json) -> bool:
    """Return whether anything in a value is of a type that a schema doesn't speak about at its place, or is lacking.

    A schema that names what has to be there says that the rest may be lacking; one that doesn't wants all it restricts.
    A whole number is a number, too; what isn't whole is strange where only whole numbers are spoken of. A schema that
    says nothing of types at a place takes any. What is too large to be looked through counts as strange.

    Args:
        schema: JSON Schema of the value.
        value: JSON.
    """
    pending: list[tuple[Sequence[Json], Json]] = [((schema,), value)]
    steps = 0
    while pending:
        given, item = pending.pop()
        there = []
        for one in _alongside(given, schema):
            steps += 1
            if steps > _MOST_TYPE_STEPS:
                return True
            there.append(one)
        spoken = frozenset[str]().union(*(_spoken(one, schema) for one in given))
        if (spoken and not spoken & _kinds(item)) or any(_lacks(item, one) for one in there):
            return True
        pending += ((below, part) for part, below in _parts(there, item) if below)
    return False


def fields_named(schema: JsonObject) -> frozenset[str]:
    """Return the fields of a value itself that a schema names: what it restricts, and what has to be there."""
    found = set[str]()
    for count, one in enumerate(_alongside((schema,), schema)):
        if count > _MOST_TYPE_STEPS:
            break
        needed = one.get("required")
        found.update(_mapping(one, "properties"), needed if isinstance(needed, list) else ())
    return frozenset(found)


def _lacks(value: Json, schema: JsonObject) -> bool:
    """Return whether a value lacks something that a schema restricts, where that doesn't say what has to be there."""
    if not isinstance(value, Mapping) or "required" in schema:
        return False
    return any(part not in ({}, True) and name not in value for name, part in _mapping(schema, "properties").items())


def _alongside(schemas: Sequence[Json], root: JsonObject) -> Iterator[JsonObject]:
    """Yield all that speaks about the same place: the schemas, and what they refer to or are combined of."""
    pending, seen = list(schemas), set[int]()
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping) and id(one) not in seen:
            seen.add(id(one))
            yield one
            pending += _combined(one, root)


def _combined(schema: JsonSchema, root: Mapping[str, object]) -> list[Any]:
    found = [schema[name] for name in _WITHIN if name in schema]
    for name in _BESIDE:
        found += schema[name] if isinstance(schema.get(name), list) else []
    return [*found, pointed(root, schema["$ref"])] if isinstance(schema.get("$ref"), str) else found


def _parts(schemas: Sequence[JsonSchema], value: Json) -> Iterator[tuple[Json, Sequence[Json]]]:
    """Yield the parts of a value, each with the schemas that speak about it."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            below = []
            for one in schemas:
                named, patterns = _mapping(one, "properties"), _mapping(one, "patternProperties")
                about = [named[name]] if name in named else []
                about += [below_it for pattern, below_it in patterns.items() if found_in(pattern, name) is not False]
                below += about or [one[key] for key in _VALUES if key in one]
            yield part, below
    elif isinstance(value, list | tuple):
        below = []
        for one in schemas:
            for key in (*_ITEMS, "prefixItems"):
                below += one[key] if isinstance(one.get(key), list) else [one[key]] if key in one else []
        yield from ((part, below) for part in value)


def _mapping(schema: JsonObject, name: str) -> JsonObject:
    found = schema.get(name)
    return found if isinstance(found, Mapping) else {}


def _spoken(schema: object, root: Mapping[str, object], depth: int = 0) -> frozenset[str]:
    """Return the types that a schema speaks about; empty for all. What it says itself goes before what is within."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST_TYPE:
        return frozenset()
    kinds = schema.get("type")
    if isinstance(kinds, str | list):
        return _with_whole({kinds} if isinstance(kinds, str) else {kind for kind in kinds if isinstance(kind, str)})
    if "const" in schema:
        return _kinds(schema["const"])
    if isinstance(schema.get("enum"), list):
        return frozenset[str]().union(*(_kinds(value) for value in schema["enum"]))
    found = frozenset[str]().union(*(_SPEAKS[name] for name in schema if name in _SPEAKS))
    return found.union(*(_spoken(one, root, depth + 1) for one in _combined(schema, root)))


def _with_whole(kinds: set[str]) -> frozenset[str]:
    return frozenset(kinds | {"integer"} if "number" in kinds else kinds)


def _kinds(value: Json) -> frozenset[str]:
    """Return the names that JSON Schema has for a value's type."""
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return frozenset({"integer", "number"})
    if isinstance(value, float):
        return frozenset({"number"})
    if isinstance(value, str):
        return frozenset({"string"})
    return frozenset({"object"} if isinstance(value, Mapping) else {"array"})


_FORMS: Mapping[str, str] = MappingProxyType(
    {"date": "YYYY-MM-DD", "time": "HH:MM:SS+00:00", "date-time": "YYYY-MM-DDTHH:MM:SS+00:00"}
)


def form_words(name: str) -> str:
    """Return how a text of a form of JSON Schema is written, `YYYY-MM-DD` for `date`; the form's name where it says so.

    Args:
        name: of the form, by others.
    """
    return _FORMS.get(name) or one_line(name, 30)
