"""Which calls a question is about, and which of them an answer lets run (M10).

An answer in the known form of a tool call is read as that. Any other answer lets everything run that was asked for,
unless it plainly refuses; where it says more than yes, nobody knows with which arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.shapes.model import APPROVE, EDIT, Form, Shape, same
from hitl_tui.core.shapes.naming import Call, hidden_calls, named_calls
from hitl_tui.core.shapes.plain import ActionShape
from hitl_tui.core.shapes.recognise import recognise
from hitl_tui.core.shapes.tools import BatchShape, CallShape, ToolCall

_YES = frozenset(
    {"yes", "y", "ok", "approve", "approved", "accept", "accepted", "confirm", "confirmed", "continue", "proceed"}
)
_NO = frozenset(
    {"no", "n", "reject", "rejected", "decline", "declined", "deny", "denied", "refuse", "refused", "cancel"}
)
_DECIDES = frozenset({"type", "action", "decision", "kind", "verdict", "answer", "decisions", "responses"})
_CONSENTS = frozenset({"approved", "approve", "accepted", "accept", "confirmed", "confirm", "ok", "proceed"})
_COMMENTS = frozenset({"message", "reason", "comment", "note", "feedback", "why", "explanation"})


def is_cut(value: Any) -> bool:
    """Return whether a question was too large to be kept: how its parts begin stands in `shown`."""
    return isinstance(value, Mapping) and set(value) == {"cut", "shown", "sha256"}


def asked_calls(value: Any, schema: Any, tools: Set[str]) -> Iterator[Call]:
    """Yield the calls that a question is about, as it takes to decide them.

    Arguments are None where an answer says what they are (a form with fields, any JSON), or where they were cut.

    Args:
        value, schema: what is asked, and the JSON Schema of the answer if there is one.
        tools: the tools that anything is said about.
    """
    calls, known = _calls_of(value, tools)
    shape = recognise(value, schema)
    consent = shape.action(APPROVE)
    plain = known or (consent is not None and not consent.why_not and consent.wants.form is Form.NONE)
    yield from calls if plain else ((name, None) for name, _ in calls)


def calls_let_run(value: Any, schema: Any, answer: Any, tools: Set[str]) -> Iterator[Call]:
    """Yield the calls that an answer lets run, with the arguments that they would run with; None for any.

    Args:
        value, schema: what was asked.
        answer: JSON.
        tools: the tools that anything is said about.
    """
    if not is_cut(value):
        exact = _exact(value, schema, answer)
        if exact is not None:
            yield from _run_of(exact, answer)
            return
    calls, _ = _calls_of(value, tools)
    options = (option.value for action in recognise(value, schema).actions for option in action.wants.options)
    # Whoever only looks whether there is an answer takes any text for yes, but not one that was offered as a no.
    chosen = isinstance(answer, str) and any(same(answer, option) for option in options)
    yield from _loosely(calls, {"answer": answer} if chosen else answer, tools)


def _calls_of(value: Any, tools: Set[str]) -> tuple[list[Call], bool]:
    """Return the calls that a question is about, and whether it has the known form of such a question."""
    if is_cut(value):
        shown = value["shown"]
        calls, _ = _calls_of(shown, tools)
        return [(name, None) for name, _ in (*calls, *hidden_calls(shown, tools))], False
    match recognise(value):
        case CallShape() as one:
            return [(one.call.name, one.call.args)], True
        case BatchShape() as several:
            return [(call.name, call.args) for call in several.calls], True
        case ActionShape() as own:
            return [(own.tool, own.fields or {})], True
    return list(named_calls(value, tools)), False


def _exact(value: Any, schema: Any, answer: Any) -> Shape | None:
    """Return the form that an answer is read in; None when it isn't one of a call, or the answer isn't of that form.

    A schema of the graph's own changes nothing where the answer is a decision all the same.
    """
    shape = recognise(value, schema)
    if isinstance(shape, CallShape | BatchShape | ActionShape):
        return shape
    plain = recognise(value)
    if not isinstance(plain, CallShape | BatchShape):
        return None
    if isinstance(plain, BatchShape) and plain.key and set(answer if isinstance(answer, Mapping) else ()) - {plain.key}:
        return None
    try:
        plain.check(answer)
    except BadInput:
        return None
    return plain


def _run_of(shape: Shape, answer: Any) -> Iterator[Call]:
    match shape:
        case CallShape():
            yield from _run(shape.call, answer[0] if shape.listed and isinstance(answer, list) and answer else answer)
        case BatchShape():
            listed = answer.get(shape.key) if shape.key and isinstance(answer, Mapping) else answer
            decisions = listed if isinstance(listed, list | tuple) else ()
            for place, call in enumerate(shape.calls):
                yield from _run(call, decisions[place] if place < len(decisions) else None)
        case ActionShape():
            # Another action than to refuse is up to the tool: it counts as letting it run.
            if not isinstance(answer, Mapping):
                yield shape.tool, None
            elif answer.get("action") != "reject":
                yield shape.tool, {**(shape.fields or {}), **{k: v for k, v in answer.items() if k != "action"}}


def _run(call: ToolCall, decision: Any) -> Iterator[Call]:
    kind = decision.get("type") if isinstance(decision, Mapping) else None
    name = next((name for name, word in call.words.items() if word == kind), "")
    if not name:
        yield call.name, None
    elif name == APPROVE:
        yield call.name, call.args
        if set(decision) - {"type", "args", *_COMMENTS}:  # whoever asked may read more out of it
            yield call.name, None
    elif name == EDIT:
        edited = decision.get("args" if call.inbox else "edited_action")
        if not isinstance(edited, Mapping):
            yield call.name, None
            return
        args = edited.get("args")
        yield str(edited.get("action" if call.inbox else "name")), args if isinstance(args, Mapping) else None


def _loosely(calls: Sequence[Call], answer: Any, tools: Set[str]) -> Iterator[Call]:
    runs, more = _says(answer)
    if not runs:
        return
    yield from calls
    yield from named_calls(answer, tools)
    if more is None or more:
        for name, args in calls:
            # What bears an argument's own name stands for that argument, and anything else for who knows what.
            known = args is not None and more is not None and more.keys() <= args.keys()
            yield name, {**(args or {}), **(more or {})} if known else None


def _says(answer: Any) -> tuple[bool, Mapping[str, Any] | None]:
    """Return whether an answer may let something run, and what it says besides: None for what nobody can tell.

    Only false refuses, and an object whose every decision is a no, or a list of such objects.
    """
    if answer is None or isinstance(answer, bool):
        return answer is not False, {}
    if isinstance(answer, str):
        return True, {} if answer.strip().casefold() in _YES else None
    if isinstance(answer, list | tuple):
        said = [_says(one) for one in answer]
        if said and not any(runs for runs, _ in said) and all(isinstance(one, Mapping) for one in answer):
            return False, {}
        return True, None if any(more is None or more for _, more in said) else {}
    return _object_says(answer) if isinstance(answer, Mapping) else (True, None)


def _object_says(answer: Mapping[str, Any]) -> tuple[bool, Mapping[str, Any] | None]:
    decided: list[tuple[bool, Mapping[str, Any] | None]] = []
    rest: dict[str, Any] = {}
    for key, part in answer.items():
        if key in _DECIDES and isinstance(part, str):
            word = part.strip().casefold()
            decided.append((False, {}) if word in _NO else (True, {} if word in _YES else None))
        elif (key in _DECIDES and isinstance(part, list | tuple)) or (key in _CONSENTS and isinstance(part, bool)):
            decided.append(_says(part))
        elif not (key in _COMMENTS and isinstance(part, str)):
            rest[key] = part
    if decided and not any(runs for runs, _ in decided):
        return False, {}
    return True, None if any(more is None or more for _, more in decided) else rest
