"""Shapes of interrupts whose graph gives a JSON Schema of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hitl_tui.core.interrupts.handmade_shapes import asked_by, listed_options
from hitl_tui.core.interrupts.json_schema import check_against, expects
from hitl_tui.core.interrupts.schema_fields import (
    Branch,
    branches,
    choice_titles,
    choices,
    defaults,
    fields_schema,
    is_object,
    resolved,
)
from hitl_tui.core.interrupts.shape import (
    APPROVE,
    EDIT,
    KNOWN_ACTIONS,
    LABELS,
    REJECT,
    RESPOND,
    STEP,
    Action,
    Detail,
    Form,
    Option,
    Shape,
    ShapeKind,
    Wants,
    fields_of,
    graph_label,
    json_words,
    question_line,
    words_of,
)
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

_CONSENT = ("approved", "approve", "accepted", "accept", "confirmed", "confirm", "ok", "proceed")


@dataclass(frozen=True)
class SchemaShape(Shape):
    """The answer has to fit a schema.

    Args:
        branch: by action name, which form of the schema it is.
        consent: the property that says yes or no; empty for none.
    """

    branch: Mapping[str, Branch] | None = None
    consent: str = ""

    def _made(self, action: Action, payload: Json) -> Json:
        chosen = (self.branch or {}).get(action.name)
        if chosen is not None:
            return {chosen.key: chosen.name, **self._fields(action, payload)}
        if self.consent and action.name in (APPROVE, REJECT):
            return {self.consent: action.name == APPROVE, **self._fields(action, payload)}
        if action.name in (APPROVE, REJECT):
            return action.name == APPROVE
        return payload

    def _fields(self, action: Action, payload: Json) -> dict[str, Any]:
        if action.wants.form is Form.NONE:
            return {}
        if action.wants.form is Form.TEXT:
            (name,) = (action.wants.schema or {})["properties"]
            text = words_of(payload, action)
            return {name: text} if text else {}
        return fields_of(payload)

    def check(self, value: Json, name: str = "") -> None:
        check_against(self.schema, value)


def declared_shape(value: Json, schema: JsonSchema) -> Shape:
    """Return the shape of an interrupt with a schema that can be used."""
    question, details = asked_by(value)
    top = resolved(schema, schema)
    shape = SchemaShape(ShapeKind.SCHEMA, question, details, schema=schema)
    listed = choices(top)
    chosen = branches(top, schema)
    if listed is not None:
        return replace(shape, actions=_options(top, listed), details=(*details, *listed_options(_titled(top, listed))))
    if top.get("type") == "boolean":
        return replace(shape, actions=_YES_NO)
    if len(chosen) > 1 and _places(chosen):
        return replace(shape, actions=_branch_actions(chosen, value), branch=_places(chosen))
    if is_object(top):
        fields = fields_schema(schema)
        consent = _consent(fields)
        return replace(shape, actions=_object_actions(fields, value, consent), consent=consent)
    wants = Wants(Form.VALUE, schema, top.get("default"), hint=Message("The answer must be {}.", expects(top)))
    return replace(shape, actions=(Action(RESPOND, Message("Answer"), wants, Message("Sends what you write.")),))


@dataclass(frozen=True)
class BreakShape(Shape):
    """A static breakpoint: the graph goes on, to its end or by one node."""

    def _made(self, action: Action, payload: Json) -> Json:
        return {"action": "step" if action.name == STEP else "continue"}

    def check(self, value: Json, name: str = "") -> None:
        check_against(self.schema, value)


def break_shape(value: Json, schema: JsonObject) -> BreakShape | None:
    """Return the shape of a static breakpoint, None for anything else."""
    named = schema.get("properties")
    kinds = choices(resolved(named.get("action"), schema)) if isinstance(named, Mapping) else None
    if not isinstance(value, Mapping) or value.get("breakpoint") != "before" or not kinds:
        return None
    if not {"continue", "step"} <= {k for k in kinds if isinstance(k, str)}:
        return None
    nodes = value.get("nodes")
    where = ", ".join(str(n) for n in nodes) if isinstance(nodes, list) else ""
    actions = (
        Action(APPROVE, Message("Continue"), Wants(), Message("Continues to the next breakpoint or question.")),
        Action(STEP, Message("Step"), Wants(), Message("Runs one node, then stops again.")),
    )
    question = question_line(Message("Stopped before {}: continue?", where))
    details = (Detail("next", value["next"]),) if value.get("next") else ()
    return BreakShape(ShapeKind.BREAKPOINT, question, details, actions, schema=schema)


_YES_NO = (
    Action(APPROVE, Message("Yes"), Wants(), Message("Sends true.")),
    Action(REJECT, Message("No"), Wants(), Message("Sends false.")),
)


def _titled(top: JsonObject, listed: list[Json]) -> tuple[Option, ...]:
    titles = choice_titles(top)
    titles = titles if len(titles) == len(listed) else [""] * len(listed)
    return tuple(
        Option(
            one_line(title or (value if isinstance(value, str) else json_words(value)), 200),
            value,
            {"title": title, "value": value} if title else None,
        )
        for title, value in zip(titles, listed, strict=True)
    )


def _options(top: JsonObject, listed: list[Json]) -> tuple[Action, ...]:
    wants = Wants(Form.OPTIONS, options=_titled(top, listed))
    return (Action(RESPOND, Message("Choose"), wants, Message("Sends the value of the option you choose.")),)


def _places(chosen: tuple[Branch, ...]) -> dict[str, Branch]:
    """Return the branches by the action they are; empty when one is of no known kind or two are the same."""
    found: dict[str, Branch] = {}
    for branch in chosen:
        name = KNOWN_ACTIONS.get(branch.name.lower(), "")
        if not name or name in found:
            return {}
        found[name] = branch
    return found


def _branch_actions(chosen: tuple[Branch, ...], value: Json) -> tuple[Action, ...]:
    found = [
        Action(name, graph_label(branch.name), _form(branch.fields, value)) for name, branch in _places(chosen).items()
    ]
    return tuple(sorted(found, key=lambda action: action.place))


def _form(fields: JsonSchema, value: Any) -> Wants:
    """Return what the fields of a schema want: nothing, one text, or a form."""
    named: JsonSchema = fields["properties"]
    if not named:
        return Wants()
    only = next(iter(named.values())) if len(named) == 1 else {}
    if only.get("type") == "string" and choices(only) is None:
        required = bool(fields["required"])
        return Wants(Form.TEXT, fields, required=required, hint=str(only.get("description", "")))
    return Wants(Form.FIELDS, fields, _present(fields, value), hint=Message("The answer is what you fill in."))


def _present(fields: JsonSchema, value: Json) -> dict[str, Json]:
    """Return what stands in a form: the schema's own values, and what the payload has under the same names."""
    known = value if isinstance(value, Mapping) else {}
    return {**defaults(fields), **{k: known[k] for k in fields["properties"] if k in known}}


def _object_actions(fields: JsonSchema, value: Json, consent: str) -> tuple[Action, ...]:
    wants = Wants(Form.FIELDS, fields, _present(fields, value), hint=Message("The answer is what you fill in."))
    fill = Action(EDIT, Message("Fill in"), wants, Message("Sends what you fill in."))
    if not consent:
        return (fill,)
    rest = {**fields, "properties": {k: v for k, v in fields["properties"].items() if k != consent}}
    rest["required"] = [r for r in fields["required"] if r != consent]
    words = _form(rest, None) if rest["properties"] else Wants()
    no = words if words.form is Form.TEXT else Wants()
    return (
        Action(APPROVE, LABELS[APPROVE], Wants(), Message("Sends {}: true.", one_line(consent, 30))),
        fill,
        Action(REJECT, LABELS[REJECT], no, Message("Sends {}: false.", one_line(consent, 30))),
    )


def _consent(fields: JsonSchema) -> str:
    """Return the property that says yes or no, when nothing else has to be given."""
    named = fields["properties"]
    for name in _CONSENT:
        if named.get(name, {}).get("type") == "boolean" and set(fields["required"]) <= {name}:
            return name
    return ""
