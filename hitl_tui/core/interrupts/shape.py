"""What an interrupt asks, in one form for all interfaces: its question, details, and actions that answer it.

Scripts read the same form as JSON, with the exact commands that answer it.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message, word
from hitl_tui.core.safe_text import ELLIPSIS, one_line, safe_text

APPROVE, EDIT, REJECT, IGNORE, RESPOND = "approve", "edit", "reject", "ignore", "respond"
EACH, STEP = "each", "step"
STOP = "stop"
"""Refuses the step as a whole, instead of answering what it asks from inside."""
PLACES: Mapping[str, int] = {APPROVE: 1, EDIT: 2, EACH: 2, STEP: 2, REJECT: 3, IGNORE: 4, RESPOND: 5}
"""Where an action stands in a row of actions; what a place means never changes."""

LABELS: Mapping[str, Message] = {
    APPROVE: Message("Approve"),
    EDIT: Message("Edit"),
    REJECT: Message("Reject"),
    IGNORE: Message("Ignore"),
    RESPOND: Message("Respond"),
}
"""What actions are called where the form has no other words for them."""

KNOWN_ACTIONS: Mapping[str, str] = {
    "approve": APPROVE,
    "approved": APPROVE,
    "accept": APPROVE,
    "yes": APPROVE,
    "confirm": APPROVE,
    "edit": EDIT,
    "modify": EDIT,
    "reject": REJECT,
    "decline": REJECT,
    "deny": REJECT,
    "no": REJECT,
    "ignore": IGNORE,
    "skip": IGNORE,
    "cancel": IGNORE,
    "respond": RESPOND,
    "response": RESPOND,
    "feedback": RESPOND,
}
"""The words that graphs have for an action, by what it means."""

_QUESTION_CELLS = 300
_SAID_CELLS, _OPTION_CELLS = 160, 40
_LABEL_CELLS = 16
_DOUBTFUL = re.compile(r'^["*]|\s\s|[:=](\s|$)|^(\d+ )?tool$|^option \d+$')
"""In a name that could pass for a name and a value, or for a part that is numbered here."""


class ShapeKind(StrEnum):
    """The forms of interrupts that are understood; `recognition.py` has the order in which they are tried."""

    BREAKPOINT = "breakpoint"  # the graph stopped at a static breakpoint: nothing is asked of a person but to go on
    SCHEMA = "schema"  # the graph gave a JSON Schema of the answer
    TOOL_APPROVAL = "tool_approval"  # one tool call
    TOOL_BATCH = "tool_batch"  # several tool calls, one decision each
    AGENT_INBOX = "agent_inbox"  # agent-inbox's requests
    ELICITATION = "elicitation"  # a form that a Model Context Protocol server asks for
    OPTIONS = "options"  # one of several
    ACTION = "action"  # a tool that asks for itself, with fields
    REVIEW = "review"  # a text or a piece of state to edit
    YES_NO = "yes_no"
    PROMPT = "prompt"  # a typed value
    OTHER = "other"  # any JSON


class Form(StrEnum):
    """What an action needs besides itself."""

    NONE = "none"
    TEXT = "text"  # words
    FIELDS = "fields"  # an object, by a JSON Schema
    OPTIONS = "options"  # one of several values
    VALUE = "value"  # a typed value: JSON, or text
    PARTS = "parts"  # a decision for each part


@dataclass(frozen=True, slots=True)
class Option:
    """One of several values.

    Args:
        text: for a person to choose by, one safe line; a long one is cut.
        value: what is sent for it.
        given: the option as the graph gave it, where that is more than its value.
    """

    text: str
    value: Json
    given: Json = None


@dataclass(frozen=True, slots=True)
class Wants:
    """The form of what an action needs.

    Args:
        form: its kind.
        schema: JSON Schema of the fields or of the value; None for any.
        present: what stands in the form at first: a mapping for fields, the text or value to edit.
        options: what can be chosen.
        required: words can't stay empty.
        hint: one sentence on what it is for.
    """

    form: Form = Form.NONE
    schema: JsonSchema | None = None
    present: Json = None
    options: tuple[Option, ...] = ()
    required: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One way to answer.

    Args:
        name: what commands call it.
        label: one or two words, as `graph_label` gives them where they are the graph's.
        wants: what it needs.
        meaning: one sentence on what happens.
        why_not: why it isn't possible here; empty when it is.
    """

    name: str
    label: Message
    wants: Wants = Wants()
    meaning: str = ""
    why_not: str = ""

    @property
    def place(self) -> int:
        """Its place in a row of actions, from 1."""
        return PLACES[self.name]

    @property
    def keeps_reason(self) -> bool:
        """It refuses, and its answer can't carry why: that goes on record."""
        return self.name in (REJECT, IGNORE) and self.wants.form is Form.NONE and not self.why_not


@dataclass(frozen=True, slots=True)
class Detail:
    """Something to show whole: a label, one safe line of any length, and a JSON value that isn't safe yet.

    `claim` is what an agent says about what it wants, which nobody has checked: it stands apart.
    """

    label: str
    value: Json
    claim: bool = False


@dataclass(frozen=True)
class Shape(ABC):
    """What an interrupt asks and which answers fit.

    Args:
        kind: which of the known forms.
        question: the question in one safe line.
        details: what else to show, whole.
        actions: what can be done, each in its place; what isn't possible says why.
        risk: `high` when an action on the world waits for the answer, else empty.
        notes: safe sentences on what is odd about it, for example a schema that can't be used.
        schema: JSON Schema of the whole answer, as the graph gave it; None when there is none.
    """

    kind: ShapeKind
    question: str
    details: tuple[Detail, ...] = ()
    actions: tuple[Action, ...] = ()
    risk: str = ""
    notes: tuple[str, ...] = ()
    schema: JsonSchema | None = None

    @property
    def parts(self) -> tuple[Shape, ...]:
        """What has to be decided one by one; empty for a single question."""
        return ()

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen from; empty where there is no choice."""
        return next((a.wants.options for a in self.actions if a.wants.form is Form.OPTIONS and not a.why_not), ())

    def action(self, name: str) -> Action | None:
        """Return an action by name, None when this form has no such thing."""
        return next((a for a in self.actions if a.name == name), None)

    def possible(self, name: str) -> Action:
        """Return an action that is possible.

        Raises:
            BadInput: it isn't; the message says why, or which there are.
        """
        found = self.action(name)
        if found is None:
            named = [f"{n} {one_line(o.text, _OPTION_CELLS)}" for n, o in enumerate(self.options[:8], start=1)]
            known = ", ".join(named or [a.name for a in self.actions if not a.why_not]) or Message("a value")
            raise BadInput(Message('This question has no "{}"; it takes {}.', one_line(name, 40), known))
        if found.why_not:
            raise BadInput(found.why_not)
        return found

    def answer(self, name: str, payload: Json = None) -> Json:
        """Return the JSON value that an action resumes with.

        Args:
            name: the action.
            payload: what its form gave: words, a mapping of fields, an option's value, a value, or for `each` a
                sequence of (action, payload) pairs.

        Raises:
            BadInput: the action isn't possible, or the payload isn't what it needs; one sentence.
        """
        value = self._made(self.possible(name), payload)
        self.check(value, name)
        return value

    @abstractmethod
    def _made(self, action: Action, payload: Json) -> Json:
        """Return the answer of a possible action; `answer` checks it."""

    @abstractmethod
    def check(self, value: Json, name: str = "") -> None:
        """Check a JSON value that shall be sent as it is.

        Args:
            value: the whole answer.
            name: the action it comes from, when a person chose one.

        Raises:
            BadInput: it isn't what is asked for; one sentence says what was expected.
        """


def graph_label(text: str) -> Message:
    """Return a graph's word for an action as a label; one that we have, too, is translated."""
    return word(one_line(text.capitalize(), _LABEL_CELLS))


def question_line(text: Json) -> str:
    """Return a question in one safe line: of several lines the first, with a sign that it goes on."""
    if isinstance(text, Message):
        return one_line(text, _QUESTION_CELLS)
    said = (text if isinstance(text, str) else json_words(text)).strip()
    first, *more = said.splitlines() or [""]
    return one_line(f"{first.rstrip()} {ELLIPSIS}" if more else said, _QUESTION_CELLS)


def label_line(text: str) -> str:
    """Return the name of a value as a label: whole, in one safe line, as JSON where it could pass for more."""
    doubtful = text.strip() != text or not text or _DOUBTFUL.search(text)
    return safe_text(json.dumps(text, ensure_ascii=False) if doubtful else text, multiline=False)


def details_of(value: JsonObject, *without: str) -> tuple[Detail, ...]:
    """Return what a payload holds besides what is shown elsewhere."""
    return tuple(Detail(label_line(str(k)), v) for k, v in value.items() if k not in without)


def whole(text: Json) -> tuple[Detail, ...]:
    """Return a text as a detail when one line couldn't hold it; a line that shows all of it is not repeated."""
    if not isinstance(text, str) or question_line(text) == safe_text(text.strip()):
        return ()
    return (Detail("message", text),)


def json_words(value: Json) -> str:
    """Return a JSON value as text on one line, whatever it is; what JSON can't hold is named instead."""
    try:
        return canonical(value).decode("utf-8", "surrogatepass")
    except BadInput:
        return f"({type(value).__name__})"


def same(one: Json, other: Json) -> bool:
    """Return whether two values are the same JSON: `1` isn't `true`, and `30` isn't `"30"`."""
    return json_words(one) == json_words(other)


def typed(value: Json) -> str:
    """Return what kind of JSON value this is: `a text`, `a number`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return Message("true or false")
    for kinds, words in _TYPES:
        if isinstance(value, kinds):
            return words
    return Message("something else")


_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), Message("a text")),
    ((int, float), Message("a number")),
    ((Mapping,), Message("an object")),
    ((list, tuple), Message("a list")),
)


def said(value: Json, cells: int = _SAID_CELLS) -> str:
    """Return in safe words what is sent: `the number 30`, `the text "30"`, `true`, `the object {…}`."""
    return said_as(value, json_line(value, cells))


def said_as(value: Json, shown: str) -> str:
    """Return what a value is, with how it is shown: `the number 30`."""
    if value is None or isinstance(value, bool):
        return shown
    if isinstance(value, str):
        return Message("the text {}", shown)
    if isinstance(value, int | float):
        return Message("the number {}", shown)
    return Message("the list {}", shown) if isinstance(value, list | tuple) else Message("the object {}", shown)


def json_line(value: Json, cells: int = _SAID_CELLS) -> str:
    """Return a JSON value on one safe line, its keys in the order they came."""
    return one_line(_in_order(value), cells)


def _in_order(value: Json) -> str:
    """Return a JSON value on one line with its keys in the order they came."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json_words(value)


def refuse(expected: str, found: Json) -> BadInput:
    """Return the error for a value that isn't what was expected."""
    return BadInput(Message("The answer must be {}, but it is {}.", expected, said(found, 80)))


def check_types(present: JsonObject, given: JsonObject) -> None:
    """Check that fields keep the types that they have now, where no schema says which they may have.

    Raises:
        BadInput: one doesn't; what is null now may become anything.
    """
    for key, value in given.items():
        now = present.get(key)
        if now is not None and typed(value) != typed(now):
            raise BadInput(Message("{} must be {}, but it is {}.", one_line(key, 40), typed(now), typed(value)))


def words_of(payload: Json, action: Action) -> str:
    """Return the words that a payload gives.

    Raises:
        BadInput: it isn't text, or it is empty where words are needed.
    """
    text = "" if payload is None else payload
    if not isinstance(text, str):
        raise refuse("words", payload)
    if action.wants.required and not text.strip():
        raise BadInput(Message('"{}" needs words to send.', action.name))
    return text


def fields_of(payload: Json) -> dict[str, Any]:
    """Return the fields that a payload gives.

    Raises:
        BadInput: it isn't an object.
    """
    if payload is None:
        return {}
    if not isinstance(payload, Mapping) or not all(isinstance(k, str) for k in payload):
        raise refuse(Message("an object with the fields"), payload)
    return dict(payload)


def commands_of(shape: Shape, name: str) -> dict[str, str]:
    """Return the chat command for each possible action, by the action's name.

    Args:
        shape: the form.
        name: what commands call the request.
    """
    lone = len(shape.actions) == 1 and shape.actions[0].wants.form in (Form.VALUE, Form.OPTIONS)
    return {a.name: f"/answer {name} {_tail(shape, a, lone=lone)}" for a in shape.actions if not a.why_not}


def _tail(shape: Shape, action: Action, *, lone: bool) -> str:
    needs = needs_of(shape, action)
    if lone or action.name == EACH:
        return needs
    if shape.kind is ShapeKind.YES_NO and not needs:
        return {"approve": "yes", "reject": "no"}[action.name]
    return f"{action.name} {needs}".strip()


def needs_of(shape: Shape, action: Action) -> str:
    """Return what is written after an action's name: capitals stand for something, and `[TEXT]` may be left out."""
    wants = action.wants
    if wants.form is Form.PARTS:
        decisions = " ".join(f"{number} DECISION" for number in range(1, min(len(shape.parts), 3) + 1))
        return f"{decisions} …" if len(shape.parts) > 3 else decisions
    if wants.form is Form.TEXT:
        return "TEXT" if wants.required else "[TEXT]"
    if wants.form is Form.VALUE and isinstance(wants.present, Mapping):
        return "NAME=VALUE…"
    return {Form.FIELDS: "NAME=VALUE…", Form.OPTIONS: "OPTION", Form.VALUE: "VALUE"}.get(wants.form, "")


def shape_document(shape: Shape) -> dict[str, Json]:
    """Return a form as JSON: `shape`, `asks`, `actions`, `schema`, `risk`, `notes`, and the `parts` of a batch."""
    return {
        "shape": shape.kind.value,
        "asks": shape.question,
        "actions": [_action(a) for a in shape.actions],
        "schema": shape.schema,
        "risk": shape.risk,
        "notes": list(shape.notes),
        **({"parts": [shape_document(part) for part in shape.parts]} if shape.parts else {}),
    }


def _action(action: Action) -> dict[str, Json]:
    wants = action.wants
    found: dict[str, Json] = {
        "name": action.name,
        "label": action.label,
        "allowed": not action.why_not,
        "wants": wants.form.value,
    }
    if action.why_not:
        found["why_not"] = action.why_not
    if action.meaning:
        found["meaning"] = action.meaning
    if wants.schema is not None:
        found["schema"] = _plain(wants.schema)
    if wants.present is not None:
        found["present"] = wants.present
    if wants.options:
        found["options"] = [{"text": o.text, "value": o.value} for o in wants.options]
    return found


def _plain(schema: JsonObject) -> dict[str, Json]:
    return {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
