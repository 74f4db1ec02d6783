"""The fields of an input form: what each takes, and what a text in it stands for. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import Parameter


def editable(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a step's arguments that a person may change: what isn't derived from the rest."""
    properties = schema.get("properties", {})
    if "command" in arguments and "argv" in arguments:
        return dict(arguments.get("parameters") or {})
    return {k: v for k, v in arguments.items() if not properties.get(k, {}).get("readOnly")}


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form.

    Args:
        name: the parameter.
        type: string, integer, number, boolean, choice, path or json.
        choices: values of a choice.
        minimum: least number; None for none.
        maximum: greatest number; None for none.
        default: what holds when it stays empty; None for nothing.
        required: it can't stay empty.
        description: for a person.
    """

    name: str
    type: str = "string"
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    default: Any = None
    required: bool = False
    description: str = ""

    @property
    def expects(self) -> str:
        """What it takes, in words."""
        words = _(_EXPECTS.get(self.type, mark("text")))
        if self.choices:
            return _("one of ") + ", ".join(self.choices)
        if self.minimum is not None and self.maximum is not None:
            return _("{words} from {minimum:g} to {maximum:g}").format(
                words=words, minimum=self.minimum, maximum=self.maximum
            )
        if self.minimum is not None:
            return _("{words} of {minimum:g} or more").format(words=words, minimum=self.minimum)
        return (
            _("{words} of {maximum:g} or less").format(words=words, maximum=self.maximum)
            if self.maximum is not None
            else words
        )

    @property
    def hint(self) -> str:
        """What stands beside it, one safe line."""
        return safe_text(self.expects + (_(", needed") if self.required else ""), multiline=False, limit=200)

    @property
    def when_empty(self) -> str:
        """What stands in it while it is empty, one safe line."""
        default = (
            _("default {default}").format(default=json.dumps(self.default, ensure_ascii=False))
            if self.default is not None
            else ""
        )
        return safe_text(" · ".join(p for p in (default, self.description) if p), multiline=False, limit=200)

    def value(self, text: str) -> Any:
        """Return what a text stands for.

        Raises:
            BadInput: it isn't what the field takes.
        """
        plain = text.strip()
        if self.type in ("integer", "number"):
            try:
                found = int(plain) if self.type == "integer" else float(plain)
            except (ValueError, OverflowError):
                raise self._wrong(text) from None
            low = self.minimum is not None and found < self.minimum
            high = self.maximum is not None and found > self.maximum
            if low or high or found != found:
                raise self._wrong(text)
            return int(plain) if plain.lstrip("+-").isdigit() else found
        if self.type == "boolean":
            if plain.lower() not in ("true", "false"):
                raise self._wrong(text)
            return plain.lower() == "true"
        if self.choices and text not in self.choices:
            raise self._wrong(text)
        if self.type == "json":
            try:
                return strict_json(text)
            except (ValueError, RecursionError) as error:
                raise BadInput(_("{name} must be valid JSON ({error}).").format(name=self.name, error=error)) from error
        return text

    def _wrong(self, text: str) -> BadInput:
        return BadInput(
            _('{name} must be {expects}, but it is "{text}".').format(
                name=self.name, expects=self.expects, text=one_line(text, 40)
            )
        )


_EXPECTS = {
    "integer": mark("a whole number"),
    "number": mark("a number"),
    "boolean": mark("true or false"),
    "path": mark("a path in the workspace"),
    "json": "JSON",
}


def declared_fields(parameters: Mapping[str, Parameter]) -> tuple[Field, ...]:
    """Return the form of a declared command."""
    return tuple(
        Field(name, p.type, p.choices, p.minimum, p.maximum, p.default, p.default is None, p.description)
        for name, p in parameters.items()
    )


def schema_fields(schema: Mapping[str, Any], present: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the form of a team's input schema; what it doesn't describe but is there is JSON."""
    required = schema.get("required", ())
    found = {}
    for name, said in schema.get("properties", {}).items():
        if said.get("readOnly"):
            continue
        options = said.get("enum") or ()
        plain = all(isinstance(o, str) for o in options)
        kind = said.get("type")
        kind = kind if kind in ("string", "integer", "number", "boolean") and plain else "json"
        if name in present and kind == "string" and not isinstance(present[name], str):
            kind = "json"
        choices = tuple(options) if plain else ()
        low, high = said.get("minimum"), said.get("maximum")
        description = str(said.get("description", ""))
        found[name] = Field(name, kind, choices, low, high, said.get("default"), name in required, description)
    return (*found.values(), *(Field(name, "json") for name in present if name not in found))


def field_text(field: Field, values: Mapping[str, Any]) -> str:
    """Return how a value stands in its field; one that isn't there leaves it empty."""
    if field.name not in values:
        return ""
    value = values[field.name]
    plain = isinstance(value, str) and field.type != "json"
    return safe_text(str(value) if plain else json.dumps(value, ensure_ascii=False), multiline=False)
