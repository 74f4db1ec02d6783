"""Shapes of interrupts without a schema: options, actions with fields, reviews, yes or no, prompts, any other JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import check_against, why_unusable
from hitl_tui.core.interrupts.schema_fields import defaults, fields_schema
from hitl_tui.core.interrupts.shape import (
    APPROVE,
    EDIT,
    IGNORE,
    KNOWN_ACTIONS,
    LABELS,
    REJECT,
    RESPOND,
    Action,
    Detail,
    Form,
    Option,
    Shape,
    ShapeKind,
    Wants,
    check_types,
    details_of,
    fields_of,
    graph_label,
    json_words,
    label_line,
    question_line,
    refuse,
    same,
    typed,
    whole,
    words_of,
)
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

_ASKING = ("question", "message", "prompt", "instruction", "title", "text")
_ASKED = (*_ASKING, "description", "query", "action")
# A question for something that yes or no can't be the answer to.
_OPEN = re.compile(
    r"\s*(please\s+)?(what|which|who|whom|whose|how|when|where|why|enter|type|give|name|write|choose)\b[^?]*\??\s*$"
    r"|.*(무엇|무슨|누구|언제|어디|얼마|몇|이름|입력|적어)",
    re.IGNORECASE | re.DOTALL,
)

_OPTION_CELLS = 200
_DEFAULT_CELLS = 16

_YES_OR_NO = frozenset(
    {"yes", "no", "y", "n", "true", "false", "ok", "approve", "reject", "예", "네", "아니오", "아니요"}
)


def is_text(value: Json) -> TypeGuard[str]:
    """Return whether a value is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())


@dataclass(frozen=True)
class OptionShape(Shape):
    """One of several: the answer is the chosen option's value."""

    def _made(self, action: Action, payload: Json) -> Json:
        return action.wants.present if action.name == APPROVE else payload

    def check(self, value: Json, name: str = "") -> None:
        if not any(same(value, option.value) for option in self.options):
            listed = ", ".join(one_line(json_words(option.value), 40) for option in self.options[:8])
            more = ", …" if len(self.options) > 8 else ""
            raise refuse(Message("one of {}{}", listed, more), value)


def option_shape(value: object) -> OptionShape | None:
    """Return the shape of an option selector, None for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("options"), list) or not value["options"]:
        return None
    key = next((k for k in _ASKING if is_text(value.get(k))), "")
    if not key and value.get("type") != "option_selector":
        return None
    question = value.get(key, Message("Choose one"))
    options = tuple(_option(item) for item in value["options"])
    return options_of(
        question,
        options,
        (*whole(question), *details_of(value, "options", "type", key, "default")),
        default=value.get("default"),
    )


def options_of(
    question: Json, options: Sequence[Option], details: Sequence[Detail] = (), *, default: Json = None
) -> OptionShape:
    """Return the shape of a choice.

    Args:
        question: what is asked.
        options: what there is to choose from.
        details: what else to show; the options are shown after it.
        default: the value that one key may choose; None for none.
    """
    usual = next((o for o in options if default is not None and same(o.value, default)), None)
    choose = Wants(Form.OPTIONS, options=tuple(options))
    actions: tuple[Action, ...] = (
        Action(RESPOND, Message("Choose"), choose, Message("Sends the value of the option you choose.")),
    )
    listed = listed_options(options)
    if usual is not None:
        take = Message("Takes {}.", one_line(usual.text, 60))
        shown = one_line(usual.text, _DEFAULT_CELLS)
        actions = (Action(APPROVE, Message("Take {}", shown), Wants(present=usual.value), take), *actions)
        if shown != usual.text:
            listed.append(Detail("default", usual.value))
    return OptionShape(ShapeKind.OPTIONS, question_line(question), (*details, *listed), actions)


def listed_options(options: Sequence[Option]) -> list[Detail]:
    """Return options to show, each whole, as the graph gave it."""
    return [
        Detail(Message("option {}", number), option.value if option.given is None else option.given)
        for number, option in enumerate(options, start=1)
    ]


def choice_shape(value: object) -> OptionShape | None:
    """Return the shape of a choice among texts under `choices` or `allowed_…`, None for anything else.

    The answer is the chosen text, bare.
    """
    if not isinstance(value, Mapping):
        return None
    own_action = is_text(value.get("action"))
    named = [k for k in value if k == "choices" or (isinstance(k, str) and k.startswith("allowed_") and not own_action)]
    listed = [k for k in named if _texts(value[k])]
    if len(listed) != 1:
        return None
    key = next((k for k in _ASKING if is_text(value.get(k))), "")
    question = value.get(key, Message("Choose one"))
    options = tuple(_option(text) for text in value[listed[0]])
    return options_of(question, options, (*whole(question), *details_of(value, listed[0], key)))


def _texts(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(is_text(item) for item in value)


def _option(item: Any) -> Option:
    if not isinstance(item, Mapping):
        return Option(one_line(item if isinstance(item, str) else json_words(item), _OPTION_CELLS), item)
    value = next((item[k] for k in ("value", "id", "key") if k in item), item)
    label = next((item[k] for k in ("label", "title", "name", "text") if is_text(item.get(k))), "")
    said = next((item[k] for k in ("description", "detail") if is_text(item.get(k))), "")
    shown = " - ".join(part for part in (label, said) if part) or json_words(value)
    return Option(one_line(shown, _OPTION_CELLS), value, item)


@dataclass(frozen=True)
class ActionShape(Shape):
    """A tool that asks for itself: the answer names an action, with the fields that shall be different."""

    fields: JsonSchema | None = None
    tool: str = ""

    def _made(self, action: Action, payload: Json) -> Json:
        if action.name == EDIT:
            given, present = fields_of(payload), self.fields or {}
            changed = {k: v for k, v in given.items() if k not in present or not same(v, present[k])}
            return {**changed, "action": "approve"}
        text = words_of(payload, action) if action.wants.form is Form.TEXT else ""
        if action.name == RESPOND:
            return {"action": text.strip()}
        return {"action": action.name, **({"reason": text} if text else {})}

    def check(self, value: Json, name: str = "") -> None:
        if not isinstance(value, Mapping) or not is_text(value.get("action")):
            raise refuse(Message('an object with "action" (approve, reject, …) and the fields that change'), value)
        if value["action"] != "approve":
            return
        present = self.fields or {}
        changed = {key: given for key, given in value.items() if key != "action"}
        for key in changed.keys() - present.keys():
            known = ", ".join(one_line(str(k), 40) for k in present) or "none"
            raise BadInput(Message('No field "{}" to change; known: {}.', one_line(str(key), 40), known))
        check_types(present, changed)


def action_shape(value: object) -> ActionShape | None:
    """Return the shape of an action with fields, None for anything else."""
    if not isinstance(value, Mapping) or not is_text(value.get("action")) or not is_text(value.get("message")):
        return None
    fields = {k: v for k, v in value.items() if k not in ("action", "message", "type") and isinstance(k, str)}
    edit = Wants(Form.FIELDS, None, dict(fields), hint=Message("Only what you change is sent, with the approval."))
    actions = (
        Action(APPROVE, LABELS[APPROVE], Wants(), Message('Sends {"action": "approve"}.')),
        Action(
            EDIT,
            LABELS[EDIT],
            edit,
            Message("Approves with other fields."),
            "" if fields else Message("No fields to change."),
        ),
        Action(
            REJECT,
            LABELS[REJECT],
            Wants(Form.TEXT, hint=Message("Reason (optional, sent along)")),
            Message('Sends {"action": "reject"}.'),
        ),
        Action(
            RESPOND,
            Message("Other action"),
            Wants(
                Form.TEXT, required=True, hint=Message("The name of an action; which ones the graph knows isn't said.")
            ),
            Message("Custom action."),
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
class ListedActionShape(Shape):
    """A question that lists the actions it takes: the answer names one, with the fields that go with it.

    Args:
        words: what each action is called in the answer.
        listed: every action that the question takes.
        fields: what there is to change.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    fields: JsonSchema = field(default_factory=dict)

    def _made(self, action: Action, payload: Json) -> Json:
        if action.wants.form is Form.OPTIONS:
            return {"action": payload}
        named = {"action": self.words[action.name]}
        if action.wants.form is Form.FIELDS:
            given = fields_of(payload)
            changed = {k: v for k, v in given.items() if k not in self.fields or not same(v, self.fields[k])}
            return {**named, **changed}
        text = words_of(payload, action) if action.wants.form is Form.TEXT else ""
        return {**named, **({"reason" if action.name == REJECT else "message": text} if text else {})}

    def check(self, value: Any, name: str = "") -> None:
        chosen = value.get("action") if isinstance(value, Mapping) else None
        if not isinstance(chosen, str) or chosen not in self.listed:
            listed = ", ".join(one_line(word, 40) for word in self.listed)
            raise refuse(Message('an object with "action", one of {}', listed), value)
        check_types(self.fields, {k: v for k, v in value.items() if k != "action"})


def listed_action_shape(value: object) -> ListedActionShape | None:
    """Return the shape of a question that lists its actions, None for anything else."""
    if not isinstance(value, Mapping) or not _texts(value.get("actions")):
        return None
    key = next((k for k in _ASKING if is_text(value.get(k))), "")
    if not key:
        return None
    listed = tuple(dict.fromkeys(value["actions"]))
    fields = {k: v for k, v in value.items() if k not in ("actions", "type", key) and isinstance(k, str)}
    words: dict[str, str] = {}
    for word in listed:
        words.setdefault(KNOWN_ACTIONS.get(word.strip().casefold(), word), word)
    known = {name: word for name, word in words.items() if name in _LISTED_WANTS}
    others = tuple(_option(word) for word in listed if word not in known.values())
    if others:
        known.pop(RESPOND, None)  # one place takes every action without a place of its own
        others = tuple(_option(word) for word in listed if word not in known.values())
    actions = [
        Action(name, graph_label(word), _listed_wants(name, fields), Message("Sends the action {}.", word))
        for name, word in known.items()
    ]
    if others:
        choose = Wants(Form.OPTIONS, options=others)
        actions.append(Action(RESPOND, Message("Choose"), choose, Message("Sends the action that you choose.")))
    return ListedActionShape(
        ShapeKind.ACTION,
        question_line(value[key]),
        (*whole(value[key]), *(Detail(label_line(k), v) for k, v in fields.items())),
        tuple(sorted(actions, key=lambda action: action.place)),
        "high",
        words=known,
        listed=listed,
        fields=fields,
    )


_LISTED_WANTS: Mapping[str, Wants] = {
    APPROVE: Wants(),
    EDIT: Wants(),
    REJECT: Wants(Form.TEXT, hint=Message("Reason (optional, sent along)")),
    IGNORE: Wants(),
    RESPOND: Wants(Form.TEXT, required=True, hint=Message("Your words are sent as the message.")),
}


def _listed_wants(name: str, fields: JsonObject) -> Wants:
    if name == EDIT and fields:
        return Wants(Form.FIELDS, None, dict(fields), hint=Message("Only what you change is sent, with the action."))
    return _LISTED_WANTS[name]


@dataclass(frozen=True)
class ReviewShape(Shape):
    """Something to edit: the answer is the edited content itself."""

    content: Json = None

    def _made(self, action: Action, payload: Json) -> Json:
        return self.content if action.name == APPROVE else payload

    def check(self, value: Json, name: str = "") -> None:
        if self.content is not None and typed(value) != typed(self.content):
            raise refuse(Message("{}, as the content is", typed(self.content)), value)


def review_shape(value: Json) -> ReviewShape | None:
    """Return the shape of a review, None for anything else."""
    if not isinstance(value, Mapping) or not is_text(value.get("instruction")) or "content" not in value:
        return None
    content = value["content"]
    actions = (
        Action(APPROVE, Message("Keep it"), Wants(), Message("Sends the content back as it is.")),
        Action(
            EDIT,
            LABELS[EDIT],
            Wants(Form.VALUE, None, content, hint=Message("The edited content is sent, nothing around it.")),
        ),
    )
    details = (
        *whole(value["instruction"]),
        Detail("content", content),
        *details_of(value, "instruction", "content", "type"),
    )
    return ReviewShape(ShapeKind.REVIEW, question_line(value["instruction"]), details, actions, content=content)


@dataclass(frozen=True)
class YesNoShape(Shape):
    """Yes or no: the answer is true or false. Another value only goes with `respond`, meant as such."""

    def _made(self, action: Action, payload: Json) -> Json:
        if action.name != RESPOND:
            return action.name == APPROVE
        if isinstance(payload, str) and payload.strip().casefold() in _YES_OR_NO:
            word = one_line(payload, 20)
            raise BadInput(Message('The text "{}" would count as true for a program: answer yes or no instead.', word))
        return payload

    def check(self, value: Json, name: str = "") -> None:
        if name != RESPOND and not isinstance(value, bool):
            raise BadInput(
                Message(
                    "{} To send something else write respond before it.",
                    refuse("yes or no (true or false)", value).message,
                )
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
    other = Wants(Form.VALUE, hint=Message("Instead of yes or no: JSON is sent as JSON, anything else as text."))
    actions = (
        Action(APPROVE, Message("Yes"), Wants(), Message("Sends true.")),
        Action(REJECT, Message("No"), Wants(), Message("Sends false; a reason after it goes on record.")),
        Action(RESPOND, Message("Other"), other, Message("Custom value.")),
    )
    return YesNoShape(ShapeKind.YES_NO, question_line(question), tuple(details), actions)


@dataclass(frozen=True)
class ValueShape(Shape):
    """A value is asked for, of any kind."""

    def _made(self, action: Action, payload: Json) -> Json:
        return payload

    def check(self, value: Json, name: str = "") -> None:
        """Take anything."""


def prompt_shape(question: str, details: Sequence[Detail] = ()) -> ValueShape:
    """Return the shape of a plain prompt."""
    return _value(ShapeKind.PROMPT, question_line(question), tuple(details) or whole(question))


def other_shape(value: Json, notes: tuple[str, ...] = ()) -> ValueShape:
    """Return the shape of any other JSON: shown whole, answered with text or JSON."""
    question, details = asked_by(value)
    kind = ShapeKind.OTHER if isinstance(question, Message) else ShapeKind.PROMPT
    return _value(kind, question, details, notes)


def asked_by(value: Json) -> tuple[str, tuple[Detail, ...]]:
    """Return what a value of no known form asks, in one safe line, and what else is to be shown of it.

    That is what stands under a name that questions have, else its first text.
    """
    if is_text(value):
        return question_line(value), whole(value)
    if isinstance(value, Mapping) and (key := next((k for k in _ASKED if is_text(value.get(k))), "")):
        return question_line(value[key]), (*whole(value[key]), *details_of(value, key))
    details = details_of(value) if isinstance(value, Mapping) else ()
    details = details or ((Detail("value", value),) if value is not None else ())
    first = next(_texts_in(value), None)
    return Message("The team wants an answer") if first is None else question_line(first), details


def _texts_in(value: Json, depth: int = 8) -> Iterator[str]:
    """Yield the texts in a value, in its order; none of one that was cut, nor what only says which kind it is of."""
    if is_text(value):
        yield value
    elif depth and isinstance(value, Mapping):
        cut = value.keys() >= {"cut", "sha256"}
        for part in () if cut else (part for key, part in value.items() if key != "type"):
            yield from _texts_in(part, depth - 1)
    elif depth and isinstance(value, list):
        for part in value:
            yield from _texts_in(part, depth - 1)


def _value(kind: ShapeKind, question: str, details: tuple[Detail, ...], notes: tuple[str, ...] = ()) -> ValueShape:
    wants = Wants(Form.VALUE, hint=Message("JSON is sent as JSON (30 is a number), anything else as text."))
    answer = Action(RESPOND, Message("Answer"), wants, Message("Sends what you write."))
    return ValueShape(kind, question, details, (answer,), notes=notes)


@dataclass(frozen=True)
class ElicitationShape(Shape):
    """A form that a Model Context Protocol server asks for."""

    fields: JsonSchema | None = None

    def _made(self, action: Action, payload: Json) -> Json:
        if action.name == EDIT:
            return {"action": "accept", "content": fields_of(payload)}
        return {"action": "decline" if action.name == REJECT else "cancel"}

    def check(self, value: Any, name: str = "") -> None:
        kind = value.get("action") if isinstance(value, Mapping) else None
        if kind not in ("accept", "decline", "cancel") or not isinstance(kind, str):
            raise refuse(Message('an object with "action" (accept, decline or cancel)'), value)
        if kind == "accept":
            content = value.get("content")
            if not isinstance(content, Mapping):
                raise BadInput(Message("The answer's content must be an object."))
            check_against(self.fields, content)


def elicitation_shape(value: object) -> ElicitationShape | None:
    """Return the shape of an elicitation, None for anything else."""
    if not isinstance(value, Mapping) or value.get("method") != "elicitation/create":
        return None
    asked = value.get("params")
    if not isinstance(asked, Mapping) or not is_text(asked.get("message")):
        return None
    schema = asked.get("requestedSchema", {"type": "object"})
    why = why_unusable(schema)
    notes = (Message("Its schema {}, so any JSON is taken.", why),) if why else ()
    fields = None if why else fields_schema(schema)
    wants = Wants(Form.FIELDS, fields, defaults(fields or {}), hint=Message("What is asked for."))
    actions = (
        Action(EDIT, Message("Fill in"), wants, Message("Sends what you fill in.")),
        Action(REJECT, Message("Decline"), Wants(), Message("Says no.")),
        Action(IGNORE, Message("Cancel"), Wants(), Message("Leaves it without an answer.")),
    )
    details = (*whole(asked["message"]), *details_of(asked, "message", "requestedSchema", "mode"))
    question = question_line(asked["message"])
    return ElicitationShape(
        ShapeKind.ELICITATION, question, details, actions, notes=notes, fields=None if why else schema
    )
