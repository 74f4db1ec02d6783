"""What pydantic finds wrong in a settings file, as problems in the words of one who writes TOML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import isclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from hitl_tui.config.problems import Problem
from hitl_tui.config.words import described, quoted


def problems_in(error: ValidationError, form: type[BaseModel], others: type[BaseModel]) -> Iterator[Problem]:
    """Yield what is wrong, in no order.

    Args:
        error: what the form raised.
        form: the form of the whole file.
        others: the form of the tables whose names aren't fixed.
    """
    for found in error.errors(include_url=False):
        path = found["loc"]
        kind, context, value = found["type"], found.get("ctx", {}), found["input"]
        if path and path[-1] == "[key]":
            path = path[:-1]
        if kind == "hitl":
            for problem in context["problems"]:
                yield Problem((*path, *problem.path), problem.says, problem.unknown_among)
        elif kind == "extra_forbidden":
            yield Problem(path, "", unknown_among=_known_keys(path[:-1], form, others))
        elif kind == "missing":
            yield Problem(path[:-1], f"needs {quoted(str(path[-1]))}")
        elif path == ("policy",) and isinstance(value, dict):
            yield Problem(path, "must be written as [[policy]], in double brackets")
        else:
            yield Problem(path, _expectation(kind, context, found["msg"], value))


def _expectation(kind: str, context: dict[str, Any], message: str, value: object) -> str:
    if kind == "too_short":
        return "must not be empty"
    expected = {
        "int_type": "a whole number",
        "bool_type": "true or false",
        "string_type": "text",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
        "literal_error": str(context.get("expected", "")).replace("'", '"'),
        "greater_than_equal": f"at least {context.get('ge')}",
        "less_than_equal": f"at most {context.get('le')}",
    }.get(kind, "")
    if not expected:
        return f"can't be used ({message})"
    return f"must be {expected}, but it is {described(value)}"


def _known_keys(path: Sequence[str | int], form: type[BaseModel], others: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys that the table at a path may have."""
    kind: Any = form
    for step in path:
        if isclass(kind) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation if step in kind.model_fields else others
        else:
            kind = get_args(kind)[-1]
    return tuple(kind.model_fields)
