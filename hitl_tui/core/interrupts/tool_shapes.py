"""Shapes of tool calls that wait for a decision, of LangChain's middleware and agent-inbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import check_against
from hitl_tui.core.interrupts.schema_fields import fields_schema
from hitl_tui.core.interrupts.shape import (
    APPROVE,
    EACH,
    EDIT,
    IGNORE,
    LABELS,
    REJECT,
    RESPOND,
    Action,
    Detail,
    Form,
    Shape,
    ShapeKind,
    Wants,
    check_types,
    fields_of,
    label_line,
    question_line,
    refuse,
    said,
    same,
    typed,
    words_of,
)
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

LANGCHAIN: Mapping[str, str] = {APPROVE: "approve", EDIT: "edit", REJECT: "reject", RESPOND: "respond"}
INBOX: Mapping[str, str] = {APPROVE: "accept", EDIT: "edit", IGNORE: "ignore", RESPOND: "response"}

_ALL: Mapping[str, Message] = {
    APPROVE: Message("Approve all {}"),
    REJECT: Message("Reject all {}"),
    IGNORE: Message("Ignore all {}"),
}
_MEANING: Mapping[str, str] = {
    APPROVE: Message("The tool runs exactly as shown."),
    EDIT: Message("The tool runs with the arguments you give."),
    REJECT: Message("The tool doesn't run; the agent is told so, with your message."),
    RESPOND: Message("The tool doesn't run; your text becomes its successful result, so don't reject with it."),
}
_INBOX_MEANING: Mapping[str, str] = {
    **_MEANING,
    IGNORE: Message("Nothing is done; the agent continues without it."),
    RESPOND: Message("The agent gets your text as an answer; whether the action happens is up to it."),
}
_TOGETHER: Mapping[str, Message] = {
    APPROVE: Message("All {} run exactly as shown."),
    REJECT: Message("None of the {} runs; the agent is told so, with your message."),
    IGNORE: Message("None of the {} is done; the agent continues without them."),
}
_TEXT: Mapping[str, Wants] = {
    REJECT: Wants(Form.TEXT, hint=Message("Reason (optional, the agent reads it)")),
    RESPOND: Wants(Form.TEXT, required=True),
}
_INBOX_TEXT = Wants(Form.TEXT, required=True)


@dataclass(frozen=True)
class ToolCall:
    """One tool call that waits.

    Args:
        name: the tool.
        args: its arguments.
        description: what is said about it.
        allowed: names of the actions that are allowed.
        words: what each action is called where it goes to.
        args_schema: JSON Schema of the arguments, None when nothing is known.
        others: tools that an edit may name instead, where the graph's own schema says so.
        cut: of its arguments only the beginning is here.
        denied: why an action isn't possible though it is allowed, by its name: a rule denies it.
    """

    name: str
    args: JsonObject
    description: str
    allowed: frozenset[str]
    words: Mapping[str, str] = field(default_factory=lambda: LANGCHAIN)
    args_schema: JsonSchema | None = None
    others: tuple[str, ...] = ()
    cut: bool = False
    denied: Mapping[str, str] = field(default_factory=dict)

    @property
    def inbox(self) -> bool:
        """Whether it came in agent-inbox's form."""
        return self.words is INBOX

    def actions(self) -> tuple[Action, ...]:
        """Return the actions in their places; what the tool's configuration doesn't allow says so."""
        found = []
        for name in self.words:
            why = self.denied.get(name, "") if name in self.allowed else self._refusal(name)
            meaning = (_INBOX_MEANING if self.inbox else _MEANING)[name]
            found.append(Action(name, LABELS[name], self._wants(name), meaning, why))
        return tuple(found)

    def _refusal(self, name: str) -> str:
        if self.cut and name == EDIT:
            return Message("Its arguments are too large to edit here.")
        ways = ", ".join(n for n in self.words if n in self.allowed) or "nothing"
        return Message("{} doesn't allow {}; it takes {}.", one_line(self.name, 40), name, ways)

    def _wants(self, name: str) -> Wants:
        if name == EDIT:
            fields = fields_schema(self.args_schema) if self.args_schema else None
            return Wants(Form.FIELDS, fields, dict(self.args), hint=Message("The arguments it runs with."))
        if name == RESPOND and self.inbox:
            return _INBOX_TEXT
        return _TEXT.get(name, Wants())

    def decision(self, action: Action, payload: Json) -> dict[str, Any]:
        """Return the decision that an action makes."""
        kind = self.words[action.name]
        if action.name == EDIT:
            key = "action" if self.inbox else "name"
            edited = {key: self.name, "args": fields_of(payload)}
            return {"type": kind, "args": edited} if self.inbox else {"type": kind, "edited_action": edited}
        if action.wants.form is Form.TEXT:
            text = words_of(payload, action)
            if self.inbox:
                return {"type": kind, "args": text}
            return {"type": kind, "message": text} if text else {"type": kind}
        return {"type": kind, "args": None} if self.inbox else {"type": kind}

    def check(self, decision: Json, subject: str = Message("The decision")) -> None:
        """Check one decision.

        Raises:
            BadInput: it is malformed, or isn't allowed for this tool.
        """
        if not isinstance(decision, Mapping):
            raise BadInput(Message("{} must be an object with a type, but it is {}.", subject, said(decision, 60)))
        kinds = {word: name for name, word in self.words.items() if name in self.allowed}
        kind = decision.get("type")
        if not isinstance(kind, str) or kind not in kinds:
            raise BadInput(Message("{} needs one of the types {}, not {}.", subject, ", ".join(kinds), said(kind, 40)))
        name = kinds[kind]
        if self.inbox:
            self._check_inbox(name, decision, subject)
        else:
            self._check_langchain(name, decision, subject)

    def _check_langchain(self, name: str, decision: JsonObject, subject: str) -> None:
        if name == EDIT:
            edited = decision.get("edited_action")
            if not isinstance(edited, Mapping):
                raise BadInput(Message("{} needs an edited_action with name and args.", subject))
            self._check_call(edited, "name", Message("{}'s edited_action", subject))
        elif name == RESPOND and not isinstance(decision.get("message"), str):
            raise BadInput(Message("{} needs a text as message: it becomes the tool's successful result.", subject))
        elif name == REJECT and not isinstance(decision.get("message", ""), str):
            raise BadInput(Message("{} needs a text as message, or none.", subject))

    def _check_inbox(self, name: str, decision: JsonObject, subject: str) -> None:
        args = decision.get("args")
        if name == EDIT:
            if not isinstance(args, Mapping):
                raise BadInput(Message("{} needs args with action and args.", subject))
            self._check_call(args, "action", Message("{}'s args", subject))
        elif name == RESPOND:
            if not isinstance(args, str):
                raise BadInput(Message("{} needs a text as args, but it is {}.", subject, said(args, 60)))
        elif args is not None and not (name == APPROVE and same(args, {"action": self.name, "args": self.args})):
            raise BadInput(
                Message("{} changes nothing, so its args must be null; to change them it must be edit.", subject)
            )

    def _check_call(self, call: JsonObject, key: str, subject: str) -> None:
        name, args = call.get(key), call.get("args")
        if name != self.name and name not in self.others:
            wanted = said(self.name, 60)
            raise BadInput(Message("{} must keep the tool's name, {}, but it has {}.", subject, wanted, said(name, 60)))
        if not isinstance(args, Mapping):
            raise BadInput(Message("{} needs an object as args, but it is {}.", subject, typed(args)))
        check_against(self.args_schema, args)
        if self.args_schema is None and name == self.name:
            check_types(self.args, args)

    def details(self) -> tuple[Detail, ...]:
        """Return what is shown: the tool, its arguments whole, what is said about it."""
        found = [Detail("tool", self.name), *(Detail(label_line(str(k)), v) for k, v in self.args.items())]
        if not self.args:
            found.append(Detail("arguments", {}))
        return (*found, *([Detail("says", self.description, claim=True)] if self.description else []))

    def question(self) -> str:
        """Return the question in one line."""
        return question_line(Message("May {} run?", self.name))


@dataclass(frozen=True)
class CallShape(Shape):
    """One tool call.

    Args:
        call: the call.
        listed: the answer is a list with the one decision in it.
    """

    call: ToolCall = field(default_factory=lambda: ToolCall("", {}, "", frozenset()))
    listed: bool = False

    @classmethod
    def of(
        cls, call: ToolCall, kind: ShapeKind, *, listed: bool = False, schema: JsonSchema | None = None
    ) -> CallShape:
        """Return the shape of one call; with a schema the whole answer has to fit that, too."""
        question, details, actions = call.question(), call.details(), call.actions()
        return cls(kind, question, details, actions, "high", schema=schema, call=call, listed=listed)

    def _made(self, action: Action, payload: Json) -> Json:
        decision = self.call.decision(action, payload)
        return [decision] if self.listed else decision

    def check(self, value: Json, name: str = "") -> None:
        if self.listed:
            (value,) = _decisions(value, 1, Message("a list with one response"))
        self.call.check(value)
        check_against(self.schema, value)


@dataclass(frozen=True)
class BatchShape(Shape):
    """Several tool calls: one decision each, sent together in their order.

    Args:
        calls: the calls.
        key: the property that holds the list of decisions; empty when the list itself is the answer.
    """

    calls: tuple[ToolCall, ...] = ()
    key: str = "decisions"

    @classmethod
    def of(cls, calls: Sequence[ToolCall], kind: ShapeKind, key: str) -> BatchShape:
        """Return the shape of several calls."""
        names = ", ".join(dict.fromkeys(one_line(c.name, 40) for c in calls))
        question = question_line(Message("May these {} tool calls run? {}", len(calls), names))
        if len(calls) == 1:
            question, details = calls[0].question(), calls[0].details()
        else:
            details = tuple(
                replace(d, label=f"{number} {d.label}") if place == 0 else d
                for number, c in enumerate(calls, start=1)
                for place, d in enumerate(c.details())
            )
        return cls(kind, question, details, actions_of(calls), "high", calls=tuple(calls), key=key)

    @property
    def parts(self) -> tuple[Shape, ...]:
        if len(self.calls) == 1:
            return ()
        denied = [tuple(dict.fromkeys(call.denied.values())) for call in self.calls]
        return tuple(replace(CallShape.of(c, self.kind), notes=d) for c, d in zip(self.calls, denied, strict=True))

    def _made(self, action: Action, payload: Json) -> Json:
        if action.name == EACH:
            decisions = self._each(payload)
        else:
            decisions = [call.decision(action, payload) for call in self.calls]
        return {self.key: decisions} if self.key else decisions

    def gathered(self, answers: Sequence[Json]) -> Json:
        """Return the whole answer made of the answers to the parts, in their order.

        Raises:
            BadInput: one is missing or doesn't fit.
        """
        value = {self.key: list(answers)} if self.key else list(answers)
        self.check(value)
        return value

    def _each(self, payload: Json) -> list[Json]:
        pairs = payload if isinstance(payload, list | tuple) else ()
        if len(pairs) != len(self.calls) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise BadInput(Message("Each of the {} calls needs a decision of its own.", len(self.calls)))
        made = []
        for number, (part, (name, given)) in enumerate(zip(self.parts, pairs, strict=True), start=1):
            try:
                made.append(part.answer(str(name), given))
            except BadInput as error:
                raise BadInput(
                    Message("Call {} ({}): {}", number, one_line(self.calls[number - 1].name, 40), error.message)
                ) from error
        return made

    def check(self, value: Json, name: str = "") -> None:
        count = len(self.calls)
        listed = (
            Message("a list of {} decisions, one for each call in order", count)
            if count > 1
            else Message("a list of {} decision, one for each call in order", count)
        )
        if self.key:
            if not isinstance(value, Mapping) or self.key not in value:
                raise refuse(Message('an object with "{}", {}', self.key, listed), value)
            value = value[self.key]
        decisions = _decisions(value, count, listed)
        for number, (call, decision) in enumerate(zip(self.calls, decisions, strict=True), start=1):
            call.check(
                decision,
                Message("Decision {} ({})", number, one_line(call.name, 40)) if count > 1 else Message("The decision"),
            )


def _decisions(value: Json, count: int, expected: str) -> Sequence[Json]:
    if not isinstance(value, list | tuple):
        raise refuse(expected, value)
    if len(value) != count:
        raise BadInput(Message("The answer must be {}, but it has {}.", expected, len(value)))
    return value


def actions_of(calls: Sequence[ToolCall]) -> tuple[Action, ...]:
    """Return what can be done to calls that are asked about at once."""
    return calls[0].actions() if len(calls) == 1 else _together(calls)


def _together(calls: Sequence[ToolCall]) -> tuple[Action, ...]:
    """Return what can be done to several calls at once, and the way to decide each by itself."""
    words, count = calls[0].words, len(calls)
    each = Action(
        EACH,
        Message("One by one"),
        Wants(Form.PARTS, hint=Message("Each call gets a decision; they are sent together.")),
        Message("Each call gets a decision of its own; nothing is sent before you have reviewed them all."),
    )
    found = [each]
    for name in (APPROVE, REJECT, IGNORE, RESPOND):
        if name not in words:
            continue
        without = [number for number, call in enumerate(calls, start=1) if name not in call.allowed]
        denied = [(number, call.denied[name]) for number, call in enumerate(calls, start=1) if name in call.denied]
        why = Message("Call {} doesn't allow {}: decide one by one.", without[0], name) if without else ""
        if denied:
            why = Message("{} Decide one by one.", Message("Call {}: {}", *denied[0]))
        if name == RESPOND:
            why = Message("Each call is answered by itself: decide one by one.")
        wants = _TEXT[REJECT] if name == REJECT else Wants()
        meaning = _TOGETHER[name].filled(count) if name in _TOGETHER else ""
        label = _ALL[name].filled(count) if name in _ALL else LABELS[name]
        found.append(Action(name, label, wants, meaning, why))
    return tuple(sorted(found, key=lambda action: action.place))
