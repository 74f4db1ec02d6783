"""Interrupts that graphs make by hand: options, actions with fields, reviews, yes or no, prompts, any other JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shapes.forms import defaults, fields_schema
from hitl_tui.core.shapes.model import (
    APPROVE,
    EDIT,
    IGNORE,
    REJECT,
    RESPOND,
    Action,
    Detail,
    Form,
    Option,
    Shape,
    ShapeKind,
    Wants,
    details_of,
    fields_of,
    json_words,
    label_line,
    question_line,
    refuse,
    same,
    typed,
    whole,
    words_of,
)
from hitl_tui.core.shapes.schema import check_against, why_unusable

_ASKING = ("question", "message", "prompt", "instruction", "title", "text")
# A question for something that yes or no can't be the answer to.
_OPEN = re.compile(
    r"\s*(please\s+)?(what|which|who|whom|whose|how|when|where|why|enter|type|give|name|write|choose)\b[^?]*\??\s*$"
    r"|.*(무엇|무슨|누구|언제|어디|얼마|몇|이름|입력|적어)",
    re.IGNORECASE | re.DOTALL,
)

_OPTION_CELLS = 60
_DEFAULT_CELLS = 16

_YES_OR_NO = frozenset(
    {"yes", "no", "y", "n", "true", "false", "ok", "approve", "reject", "예", "네", "아니오", "아니요"}
)


def is_text(value: Any) -> bool:
    """Return whether a value is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())


@dataclass(frozen=True)
class OptionShape(Shape):
    """One of several: the answer is the chosen option's value."""

    options: tuple[Option, ...] = ()

    def _made(self, action: Action, payload: Any) -> Any:
        return action.wants.present if action.name == APPROVE else payload

    def check(self, value: Any, name: str = "") -> None:
        if not any(same(value, option.value) for option in self.options):
            listed = ", ".join(one_line(json_words(option.value), 40) for option in self.options[:8])
            more = ", …" if len(self.options) > 8 else ""
            raise refuse(f"one of {listed}{more}", value)


def option_shape(value: Any) -> OptionShape | None:
    """Return the shape of an option selector, None for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("options"), list) or not value["options"]:
        return None
    key = next((k for k in _ASKING if is_text(value.get(k))), "")
    if not key and value.get("type") != "option_selector":
        return None
    question = value.get(key, "Choose one")
    options = tuple(_option(item) for item in value["options"])
    return options_of(
        question,
        options,
        (*whole(question), *details_of(value, "options", "type", key, "default")),
        default=value.get("default"),
    )


def options_of(
    question: Any,
    options: Sequence[Option],
    details: Sequence[Detail] = (),
    *,
    default: Any = None,
    notes: tuple[str, ...] = (),
) -> OptionShape:
    """Return the shape of a choice.

    Args:
        question: what is asked.
        options: what there is to choose from.
        details: what else to show; the options are shown after it.
        default: the value that one key may choose; None for none.
        notes: safe sentences on what is odd about it.
    """
    usual = next((o for o in options if default is not None and same(o.value, default)), None)
    choose = Wants(Form.OPTIONS, options=tuple(options))
    no_default = "Nothing is proposed: choose one of the options."
    actions = (
        Action(
            APPROVE,
            f"Take {one_line(usual.text, _DEFAULT_CELLS)}" if usual else "Approve",
            Wants(present=usual.value if usual else None),
            f"Takes {one_line(usual.text, 60)}." if usual else "",
            "" if usual else no_default,
        ),
        Action(RESPOND, "Choose", choose, "Sends the value of the option you choose."),
    )
    listed = listed_options(options)
    if usual is not None and one_line(usual.text, _DEFAULT_CELLS) != usual.text:
        listed.append(Detail("default", usual.value))
    return OptionShape(
        ShapeKind.OPTIONS, question_line(question), (*details, *listed), actions, "", notes, tuple(options)
    )


def listed_options(options: Sequence[Option]) -> list[Detail]:
    """Return options to show, each whole, as the graph gave it."""
    return [
        Detail(f"option {number}", option.value if option.given is None else option.given)
        for number, option in enumerate(options, start=1)
    ]


def _option(item: Any) -> Option:
    if not isinstance(item, Mapping):
        return Option(one_line(item if isinstance(item, str) else json_words(item), _OPTION_CELLS), item)
    value = next((item[k] for k in ("value", "id", "key") if k in item), item)
    label = next((item[k] for k in ("label", "title", "name", "text") if is_text(item.get(k))), "")
    said = next((item[k] for k in ("description", "detail") if is_text(item.get(k))), "")
    shown = " - ".join(part for part in (label, said) if part) or json_words(value)
    return Option(one_line(shown, 200), value, item)


@dataclass(frozen=True)
class ActionShape(Shape):
    """A tool that asks for itself: the answer names an action, with the fields that shall be different."""

    fields: Mapping[str, Any] | None = None
    tool: str = ""

    def _made(self, action: Action, payload: Any) -> Any:
        if action.name == EDIT:
            given, present = fields_of(payload), self.fields or {}
            changed = {k: v for k, v in given.items() if k not in present or not same(v, present[k])}
            return {**changed, "action": "approve"}
        text = words_of(payload, action) if action.wants.form is Form.TEXT else ""
        if action.name == RESPOND:
            return {"action": text.strip()}
        return {"action": action.name, **({"reason": text} if text else {})}

    def check(self, value: Any, name: str = "") -> None:
        if not isinstance(value, Mapping) or not is_text(value.get("action")):
            raise refuse('an object with "action" (approve, reject, …) and the fields that change', value)
        if value["action"] != "approve":
            return
        present = self.fields or {}
        for key, given in value.items():
            if key == "action":
                continue
            if key not in present:
                known = ", ".join(one_line(str(k), 40) for k in present) or "none"
                raise BadInput(f'There is no field "{one_line(str(key), 40)}" to change; there are {known}.')
            if present[key] is not None and typed(given) != typed(present[key]):
                raise BadInput(f"{one_line(key, 40)} has to be {typed(present[key])}, but it is {typed(given)}.")


def action_shape(value: Any) -> ActionShape | None:
    """Return the shape of an action with fields, None for anything else."""
    if not isinstance(value, Mapping) or not is_text(value.get("action")) or not is_text(value.get("message")):
        return None
    fields = {k: v for k, v in value.items() if k not in ("action", "message", "type") and isinstance(k, str)}
    edit = Wants(Form.FIELDS, None, dict(fields), hint="Only what you change is sent, with the approval.")
    actions = (
        Action(APPROVE, "Approve", Wants(), 'Sends {"action": "approve"}.'),
        Action(EDIT, "Edit", edit, "Approves with other fields.", "" if fields else "There are no fields to change."),
        Action(
            REJECT,
            "Reject",
            Wants(Form.TEXT, hint="Why not? The reason is sent along; it may stay empty."),
            'Sends {"action": "reject"}.',
        ),
        Action(
            RESPOND,
            "Other action",
            Wants(Form.TEXT, required=True, hint='The name of another action; it is sent as {"action": …}.'),
            "Sends another action than approve or reject.",
        ),
    )
    details = (Detail("action", value["action"]), *(Detail(label_line(str(k)), v) for k, v in fields.items()))
    question = question_line(value["message"])
    return ActionShape(
        ShapeKind.ACTION,
        question,
        (*whole(value["message"]), *details),
        actions,
        "high",
        fields=dict(fields),
        tool=value["action"],
    )


@dataclass(frozen=True)
class ReviewShape(Shape):
    """Something to edit: the answer is the edited content itself."""

    content: Any = None

    def _made(self, action: Action, payload: Any) -> Any:
        return self.content if action.name == APPROVE else payload

    def check(self, value: Any, name: str = "") -> None:
        if self.content is not None and typed(value) != typed(self.content):
            raise refuse(f"{typed(self.content)}, as the content is", value)


def review_shape(value: Any) -> ReviewShape | None:
    """Return the shape of a review, None for anything else."""
    if not isinstance(value, Mapping) or not is_text(value.get("instruction")) or "content" not in value:
        return None
    content = value["content"]
    actions = (
        Action(APPROVE, "Keep it", Wants(), "Sends the content back as it is."),
        Action(EDIT, "Edit", Wants(Form.VALUE, None, content, hint="The edited content is sent, nothing around it.")),
    )
    details = (
        *whole(value["instruction"]),
        Detail("content", content),
        *details_of(value, "instruction", "content", "type"),
    )
    return ReviewShape(ShapeKind.REVIEW, question_line(value["instruction"]), details, actions, "", (), content)


@dataclass(frozen=True)
class YesNoShape(Shape):
    """Yes or no: the answer is true or false. Another value only goes with `respond`, meant as such."""

    def _made(self, action: Action, payload: Any) -> Any:
        if action.name != RESPOND:
            return action.name == APPROVE
        if isinstance(payload, str) and payload.strip().casefold() in _YES_OR_NO:
            word = one_line(payload, 20)
            raise BadInput(f'The text "{word}" would count as true for a program: answer yes or no instead.')
        return payload

    def check(self, value: Any, name: str = "") -> None:
        if name != RESPOND and not isinstance(value, bool):
            raise BadInput(
                f"{refuse('yes or no (true or false)', value).message} To send something else write respond before it."
            )


def yes_no_shape(value: Any) -> Shape | None:
    """Return the shape of a question or message with details, None for anything else.

    What can't be answered by yes or no (`What is your name?`) asks for a typed value.
    """
    key = next((k for k in ("question", "message") if isinstance(value, Mapping) and is_text(value.get(k))), "")
    if not key:
        return None
    question, details = value[key], (*whole(value[key]), *details_of(value, key))
    if _OPEN.match(question[:2000]):
        return prompt_shape(question, details)
    return yes_no_of(question, details)


def yes_no_of(question: Any, details: Sequence[Detail] = (), notes: tuple[str, ...] = ()) -> YesNoShape:
    """Return the shape of a question that takes yes or no."""
    other = Wants(Form.VALUE, hint="Instead of yes or no: JSON is sent as JSON, anything else as text.")
    actions = (
        Action(APPROVE, "Yes", Wants(), "Sends true."),
        Action(REJECT, "No", Wants(), "Sends false."),
        Action(RESPOND, "Other", other, "Sends another value than yes or no."),
    )
    return YesNoShape(ShapeKind.YES_NO, question_line(question), tuple(details), actions, "", notes)


@dataclass(frozen=True)
class ValueShape(Shape):
    """A value is asked for; with a schema it has to fit that."""

    wanted: Mapping[str, Any] | None = None

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return self.wanted

    def _made(self, action: Action, payload: Any) -> Any:
        return payload

    def check(self, value: Any, name: str = "") -> None:
        check_against(self.wanted, value)


def prompt_shape(question: str, details: Sequence[Detail] = ()) -> ValueShape:
    """Return the shape of a plain prompt."""
    return _value(ShapeKind.PROMPT, question_line(question), tuple(details) or whole(question))


def other_shape(value: Any, notes: tuple[str, ...] = ()) -> ValueShape:
    """Return the shape of any other JSON: shown whole, answered with text or JSON."""
    details = details_of(value) if isinstance(value, Mapping) else ()
    return _value(ShapeKind.OTHER, "The team wants an answer", details or (Detail("value", value),), notes)


def _value(kind: ShapeKind, question: str, details: tuple[Detail, ...], notes: tuple[str, ...] = ()) -> ValueShape:
    wants = Wants(Form.VALUE, hint="JSON is sent as JSON (30 is a number), anything else as text.")
    return ValueShape(kind, question, details, (Action(RESPOND, "Answer", wants, "Sends what you write."),), "", notes)


@dataclass(frozen=True)
class ElicitationShape(Shape):
    """A form that a Model Context Protocol server asks for."""

    fields: Mapping[str, Any] | None = None

    def _made(self, action: Action, payload: Any) -> Any:
        if action.name == EDIT:
            return {"action": "accept", "content": fields_of(payload)}
        return {"action": "decline" if action.name == REJECT else "cancel"}

    def check(self, value: Any, name: str = "") -> None:
        kind = value.get("action") if isinstance(value, Mapping) else None
        if kind not in ("accept", "decline", "cancel") or not isinstance(kind, str):
            raise refuse('an object with "action" (accept, decline or cancel)', value)
        if kind == "accept":
            content = value.get("content")
            if not isinstance(content, Mapping):
                raise BadInput("The answer has to have an object as content.")
            check_against(self.fields, content)


def elicitation_shape(value: Any) -> ElicitationShape | None:
    """Return the shape of an elicitation, None for anything else."""
    if not isinstance(value, Mapping) or value.get("method") != "elicitation/create":
        return None
    asked = value.get("params")
    if not isinstance(asked, Mapping) or not is_text(asked.get("message")):
        return None
    schema = asked.get("requestedSchema", {"type": "object"})
    why = why_unusable(schema)
    notes = (f"Its schema {why}, so any JSON is taken.",) if why else ()
    fields = None if why else fields_schema(schema)
    wants = Wants(Form.FIELDS, fields, defaults(fields or {}), hint="What is asked for.")
    actions = (
        Action(EDIT, "Fill in", wants, "Sends what you fill in."),
        Action(REJECT, "Decline", Wants(), "Says no to it."),
        Action(IGNORE, "Cancel", Wants(), "Leaves it without an answer."),
    )
    details = (*whole(asked["message"]), *details_of(asked, "message", "requestedSchema", "mode"))
    question = question_line(asked["message"])
    return ElicitationShape(ShapeKind.ELICITATION, question, details, actions, "", notes, None if why else schema)
