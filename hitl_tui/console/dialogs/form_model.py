"""The fields of a form: what each takes, what the texts in them stand for, and all of them as JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.field_text import (
    BOOLEAN,
    INTEGER,
    JSON,
    NUMBER,
    TEXTS,
    field_kind,
    field_value,
    form_schema,
)
from hitl_tui.core.interrupts.shape import Wants
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.language import _, language
from hitl_tui.wording.form_rows import expects_words, hint_words
from hitl_tui.wording.subject_rows import DOCUMENTS, WHOLE_FOLDER, is_call, value_words

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import Parameter

_LONG = 60
"""Cells of a value from which on it gets several lines."""
_INDENT = 2


def editable(arguments: JsonObject, schema: JsonSchema) -> dict[str, Json]:
    """Return the part of a step's arguments that a person may change: what isn't derived from the rest."""
    properties = schema.get("properties", {})
    parameters = arguments.get("parameters")
    if "command" in arguments and isinstance(parameters, Mapping):
        return dict(parameters)
    given = arguments.get("input")
    if is_call(arguments) and isinstance(given, Mapping):
        return dict(given)
    return {k: v for k, v in arguments.items() if not properties.get(k, {}).get("readOnly")}


def editable_schema(arguments: JsonObject, schema: JsonSchema) -> JsonSchema:
    """Return the JSON Schema of what `editable` returns."""
    found: JsonSchema = schema["properties"]["input"] if is_call(arguments) else schema
    return found


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form.

    Args:
        name: the parameter.
        type: string, integer, number, boolean, choice, path, texts (a list of them) or json.
        choices: values of a choice.
        minimum: least number; None for none.
        maximum: greatest number; None for none.
        default: what holds when it stays empty; None for nothing.
        required: it can't stay empty.
        description: for a person.
        form: of a text, as JSON Schema calls it, such as `date`; empty for any.
    """

    name: str
    type: str = "string"
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    default: Json = None
    required: bool = False
    description: str = ""
    form: str = ""

    @property
    def offered(self) -> tuple[str, ...]:
        """What is offered while it is written: all that it can be, where that is few."""
        if self.type == BOOLEAN:
            return ("true", "false")
        return tuple(safe_text(value_words(self.name, one), multiline=False) for one in self.choices)

    @property
    def expects(self) -> str:
        """What it takes, in words."""
        return expects_words(
            self.type, [value_words(self.name, one) for one in self.choices], self.minimum, self.maximum, self.form
        )

    @property
    def hint(self) -> str:
        """What it takes, one safe line."""
        return hint_words(self.expects, required=self.required)

    @property
    def explained(self) -> str:
        """What it is for and what it takes, one safe line: it stands below the fields while this one is filled in."""
        said = safe_text(self.described, multiline=False, limit=200)
        return " · ".join(filter(None, (said, self.hint)))

    @property
    def described(self) -> str:
        """What it is for, in the person's language where a team of ours says it."""
        return _(self.description) if self.description else ""

    @property
    def when_empty(self) -> str:
        """What stands in it while it is empty, one safe line; empty where nothing holds then."""
        default = _("default {default}").format(default=self._default) if self.default not in (None, "") else ""
        return safe_text(default, multiline=False, limit=200)

    @property
    def _default(self) -> str:
        if self.choices and isinstance(self.default, str):
            return value_words(self.name, self.default)
        return json.dumps(self.default, ensure_ascii=False)

    def value(self, text: str) -> Json:
        """Return what a text stands for.

        Raises:
            BadInput: it isn't what the field takes.
        """
        plain = text.strip()
        if self.choices and text not in self.choices:
            meant = next((choice for choice in self.choices if value_words(self.name, choice) == plain), None)
            if meant is None:
                raise self._wrong(text)
            return meant
        if self.type == TEXTS and self.name == DOCUMENTS and plain == _(WHOLE_FOLDER):
            return ["."]
        found = field_value(self.type, text)
        if self.type in (INTEGER, NUMBER, BOOLEAN) and (isinstance(found, str) or not self._within(found)):
            raise self._wrong(text)
        if self.type in (TEXTS, JSON) and isinstance(found, str):
            self._read_json(text)
        return found

    def _within(self, value: Json) -> bool:
        """Return whether a number isn't too small or too great."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        low = self.minimum is not None and value < self.minimum
        return not low and not (self.maximum is not None and value > self.maximum)

    def _read_json(self, text: str) -> None:
        """Check that a text is JSON.

        Raises:
            BadInput: it isn't; the message says what is wrong.
        """
        try:
            strict_json(text)
        except ValueError as error:
            raise BadInput(_("{name} must be valid JSON ({error}).").format(name=self.name, error=error)) from error

    def problem(self, text: str) -> str:
        """Return what is wrong with a text; nothing when it is empty, for then it is left out or its default holds."""
        try:
            if text:
                self.value(text)
        except BadInput as error:
            return error.message
        return ""

    def _wrong(self, text: str) -> BadInput:
        return BadInput(
            _('{name} must be {expects}, but it is "{text}".').format(
                name=self.name, expects=self.expects, text=one_line(text, 40)
            )
        )


def declared_fields(parameters: Mapping[str, Parameter]) -> tuple[Field, ...]:
    """Return the form of a declared command."""
    return tuple(
        Field(
            name,
            p.type,
            p.choices,
            p.minimum,
            p.maximum,
            p.default,
            p.default is None,
            p.descriptions.get(language(), p.description),
        )
        for name, p in parameters.items()
    )


def schema_fields(schema: JsonSchema, present: JsonObject) -> tuple[Field, ...]:
    """Return the form of a team's input schema; what it doesn't describe but is there is JSON."""
    required = schema.get("required", ())
    found = {}
    for name, said in schema.get("properties", {}).items():
        if said.get("readOnly"):
            continue
        options = said.get("enum") or ()
        choices = tuple(options) if all(isinstance(o, str) for o in options) else ()
        low, high = said.get("minimum"), said.get("maximum")
        kind, description = field_kind(schema, name, present), str(said.get("description", ""))
        default, form = said.get("default"), str(said.get("format") or "")
        found[name] = Field(name, kind, choices, low, high, default, name in required, description, form)
    return (*found.values(), *(Field(name, JSON) for name in present if name not in found))


@dataclass(frozen=True, slots=True)
class Draft:
    """What is written in a dialog, as it stands there.

    Args:
        texts: by field; that of a dialog with one field has no name.
        extra: values that no field holds.
        task: the task in words.
    """

    texts: Mapping[str, str]
    extra: JsonObject = field(default_factory=dict)
    task: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """Fields, and what stands in them at first.

    Args:
        fields: in their order.
        present: the values that there are, by name.
        empties: a text that is taken away counts as an empty text; else it is left out as others are.
    """

    fields: tuple[Field, ...]
    present: JsonObject
    empties: bool = True

    def values(self, texts: Mapping[str, str]) -> dict[str, Json]:
        """Return what the texts in the fields stand for, without what is left out.

        Raises:
            BadInput: one isn't what it has to be; the first is named.
        """
        return {f.name: f.value(texts[f.name]) for f in self.fields if texts[f.name] or self._stays_empty(f)}

    def _stays_empty(self, field: Field) -> bool:
        before = self.present.get(field.name)
        return field.type == "string" and (isinstance(before, str) if self.empties else before == "")

    def to_json(self, texts: Mapping[str, str], others: JsonObject) -> str:
        """Return what stands in the fields, and other values, as JSON to edit; a text that is wrong stays as it is."""
        given = [(f, texts[f.name]) for f in self.fields if texts[f.name]]
        found = {f.name: text if f.problem(text) else f.value(text) for f, text in given}
        return json.dumps({**found, **others}, ensure_ascii=False, indent=_INDENT) + "\n"

    def unknown(self, values: JsonObject) -> dict[str, Json]:
        """Return the values that no field holds."""
        known = {field.name for field in self.fields}
        return {name: value for name, value in values.items() if name not in known}


def wanted_form(wants: Wants) -> Form:
    """Return the form of what an action needs: from its schema, or from what is there."""
    present = dict(wants.present) if isinstance(wants.present, Mapping) else {}
    return Form(schema_fields(form_schema(wants), present), present)


def field_text(field: Field, values: JsonObject) -> str:
    """Return how a value stands in its field; one that isn't there leaves it empty."""
    if field.name not in values:
        return ""
    value = values[field.name]
    if isinstance(value, str) and value in field.choices:
        return safe_text(value_words(field.name, value), multiline=False)
    if (texts := _joined(field, value, ", ")) is not None:
        return safe_text(texts, multiline=False)
    plain = isinstance(value, str) and field.type != "json"
    return safe_text(str(value) if plain else json.dumps(value, ensure_ascii=False), multiline=False)


def _joined(field: Field, value: Json, between: str) -> str | None:
    """Return a list of texts as one text that stands for exactly it; None where none does."""
    if field.type != "texts" or not value or not isinstance(value, list | tuple):
        return None
    whole = field.name == DOCUMENTS and value == ["."]
    text = _(WHOLE_FOLDER) if whole else between.join(map(str, value))
    try:
        return text if field.value(text) == list(value) else None
    except BadInput:
        return None


def area_text(field: Field, values: JsonObject) -> str:
    """Return how a value stands in a field of several lines."""
    value = values.get(field.name)
    if field.name not in values:
        return ""
    if field.type == "string" and isinstance(value, str):
        return safe_text(value)
    if (texts := _joined(field, value, "\n")) is not None:
        return safe_text(texts)
    several = field.type in ("json", "texts") and isinstance(value, dict | list)
    return safe_text(json.dumps(value, ensure_ascii=False, indent=_INDENT if several else None))


def needs_area(field: Field, values: JsonObject) -> bool:
    """Return whether a value needs a field of several lines."""
    value = values.get(field.name)
    if field.type == "string" and isinstance(value, str):
        return "\n" in value or cell_width(one_line(value, 10_000)) > _LONG
    return (
        field.type in ("json", "texts")
        and isinstance(value, dict | list)
        and len(json.dumps(value, ensure_ascii=False)) > _LONG
    )
