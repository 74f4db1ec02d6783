"""Which tool calls a question is about, which of them an answer lets run, and what the policy says of them.

An answer in the known form of a tool call is read as that. Any other answer lets everything run that was asked for,
unless it plainly refuses; where it says more than yes, nobody knows with which arguments.

Rules with a `tool` are about such calls. They are looked at when the question is asked, which sets how many people
have to answer it, and again for every answer: arguments that were edited may fall under another rule. What is denied
stays denied, whoever answers.

What can't be judged falls under every rule that could be about it, and the strictest of those count: a call whose
arguments aren't known, and one with an argument of another type than a rule's JSON Schema speaks about. The text "5000"
falls under a rule about numbers from 1000, since the tool may well read it as one. Any JSON may name a call, whatever
its form: what isn't understood as a call may still be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.handmade_shapes import ActionShape
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import APPROVE, EDIT, Form, Shape, same
from hitl_tui.core.interrupts.tool_shapes import BatchShape, CallShape, ToolCall
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import DeniedAnswer, Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Facts, Fit, Of, Policy, Risk, Rule, Ruling, Terms, rule_label
from hitl_tui.core.requests import Request
from hitl_tui.core.safe_text import ELLIPSIS, one_line

Call = tuple[str, JsonObject | None]
"""A tool's name and its arguments; None where they aren't known."""

_NAMES = frozenset({"name", "tool", "toolname", "action", "actionname", "function", "functionname", "call", "toolcall"})
_ARGUMENTS = frozenset({"args", "arguments", "input", "toolinput", "parameters", "params", "kwargs"})
_LONGEST_TEXT = 1_000_000
_MORE = re.compile(r"… \d[\d,]* more")


def named_calls(value: Json, tools: Set[str]) -> Iterator[Call]:
    """Yield the calls of these tools that a value names anywhere.

    A tool is named by its name under `name`, `tool`, `action`, `function`, `call` or the like, one or several, or by
    a key that has an object; a text that is JSON counts as that JSON. Its arguments are the one object beside the name
    under `args`, `arguments`, `input`, `parameters` or the like, which may be a JSON text, too.

    Args:
        value: JSON.
        tools: names of tools.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            for key, part in item.items():
                if key in tools and isinstance(part, Mapping):
                    yield key, part
                if _plain(key) in _NAMES:
                    several = part if isinstance(part, list | tuple) else [part]
                    yield from ((one, _arguments(item)) for one in several if isinstance(one, str) and one in tools)
                pending.append(part)
        elif isinstance(item, list | tuple):
            pending += item
        elif isinstance(item, str) and _is_object(item) and any(tool in item for tool in tools):
            pending.append(_parsed(item))


def hidden_calls(shown: Json, tools: Set[str]) -> Iterator[Call]:
    """Yield calls that a question which was cut may be about besides those that it still shows.

    Of a JSON text that was cut, of an object with more fields, and of a list of calls that goes on, nothing is known:
    each tool may be called there.

    Args:
        shown: how its parts begin.
        tools: names of tools.
    """
    pending = [shown]
    while pending:
        item = pending.pop()
        if _hides(item, whole=item is shown):
            yield from ((tool, None) for tool in sorted(tools))
            return
        if isinstance(item, Mapping):
            pending += item.values()
        elif isinstance(item, list | tuple):
            pending += item


def _hides(item: Json, *, whole: bool) -> bool:
    """Return whether calls may stand in what was cut from one part of a question, or from the whole of it."""
    if isinstance(item, str):
        return item.lstrip()[:1] in ("{", "[") and (whole or item.endswith(" characters)"))
    if isinstance(item, Mapping):
        return whole and ELLIPSIS in item
    if isinstance(item, list | tuple):
        goes_on = bool(item) and isinstance(item[-1], str) and _MORE.fullmatch(item[-1]) is not None
        return goes_on and (whole or any(_is_call(part) for part in item))
    return False


def _is_call(value: Json) -> bool:
    inside = value.get("action_request", value) if isinstance(value, Mapping) else {}
    return isinstance(inside, Mapping) and any(_plain(key) in _NAMES for key in inside)


def _arguments(beside: JsonObject) -> JsonObject | None:
    found = [part for key, part in beside.items() if _plain(key) in _ARGUMENTS]
    given = found[0] if len(found) == 1 else None
    given = _parsed(given) if isinstance(given, str) else given
    return given if isinstance(given, Mapping) else None


def _plain(key: str) -> str:
    """Return a key without its separators, in small letters and in the singular, except for `args` and the like."""
    name = "".join(letter for letter in key.casefold() if letter.isalnum())
    return name if name in _ARGUMENTS else name.removesuffix("s")


def _is_object(text: str) -> bool:
    return len(text) <= _LONGEST_TEXT and text.lstrip()[:1] in ("{", "[")


def _parsed(text: str) -> Json:
    """Return what a JSON text stands for; None when that can't be told."""
    try:
        return strict_json(text) if _is_object(text) else None
    except (BadInput, ValueError):
        return None


_YES = frozenset(
    {"yes", "y", "ok", "approve", "approved", "accept", "accepted", "confirm", "confirmed", "continue", "proceed"}
)
_NO = frozenset(
    {"no", "n", "reject", "rejected", "decline", "declined", "deny", "denied", "refuse", "refused", "cancel"}
)
_DECIDES = frozenset({"type", "action", "decision", "kind", "verdict", "answer", "decisions", "responses"})
_CONSENTS = frozenset({"approved", "approve", "accepted", "accept", "confirmed", "confirm", "ok", "proceed"})
_COMMENTS = frozenset({"message", "reason", "comment", "note", "feedback", "why", "explanation"})


def is_cut(value: Json) -> bool:
    """Return whether a question was too large to be kept: how its parts begin stands in `shown`."""
    return isinstance(value, Mapping) and set(value) == {"cut", "shown", "sha256"}


def asked_calls(value: Json, schema: Json, tools: Set[str]) -> Iterator[Call]:
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


def calls_let_run(value: Json, schema: Json, answer: Json, tools: Set[str]) -> Iterator[Call]:
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


def _exact(value: Json, schema: Json, answer: Json) -> Shape | None:
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


def _run_of(shape: Shape, answer: Json) -> Iterator[Call]:
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


def _loosely(calls: Sequence[Call], answer: Json, tools: Set[str]) -> Iterator[Call]:
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


def _says(answer: Json) -> tuple[bool, JsonObject | None]:
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


def _object_says(answer: JsonObject) -> tuple[bool, JsonObject | None]:
    decided: list[tuple[bool, JsonObject | None]] = []
    rest: dict[str, Json] = {}
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


def terms_for(policy: Policy, team: str, risk: Risk, terms: Terms, value: Json, schema: Json) -> Terms:
    """Return what it takes to answer a question: its TODO's terms, and those of the rules its calls fall under.

    Args:
        policy: the rules.
        team, risk: of the TODO that asks.
        terms: of the TODO.
        value, schema: what is asked, and the JSON Schema of the answer if there is one.
    """
    if not has_tools(policy):
        return terms
    for call in asked_calls(value, schema, tools_in(policy)):
        for _, rule in _rules(policy, team, risk, call):
            terms = _stricter(terms, rule.terms)
    return terms


def denying_rule(policy: Policy, team: str, risk: Risk, value: Json, schema: Json) -> int:
    """Return the number of a rule that denies a call which a question is about, or may; 0 for none.

    Args:
        policy: the rules.
        team, risk: of the TODO that asks.
        value, schema: what is asked, and the JSON Schema of the answer if there is one.
    """
    if not has_tools(policy):
        return 0
    calls = asked_calls(value, schema, tools_in(policy))
    rules = (found for call in calls for found in _rules(policy, team, risk, call))
    return next((number for number, rule in rules if rule.decision is Ruling.DENY), 0)


def denied_answers(policy: Policy, team: str, risk: Risk, value: Json, schema: Json) -> list[DeniedAnswer]:
    """Return what rules deny of a question as it stands: calls that can't be approved, or that it can't be agreed to.

    Args:
        policy: the rules.
        team, risk: of the TODO that asks.
        value, schema: what is asked, and the JSON Schema of the answer if there is one.
    """
    if not has_tools(policy):
        return []
    shape = recognise(value, schema)
    if isinstance(shape, CallShape | BatchShape) and not is_cut(value):
        calls = (shape.call,) if isinstance(shape, CallShape) else shape.calls
        asked: list[tuple[int, Call]] = [(number, (call.name, call.args)) for number, call in enumerate(calls, start=1)]
    else:
        consent = shape.action(APPROVE)
        if consent is None or consent.why_not or consent.wants.form is not Form.NONE:
            return []
        asked = [(0, call) for call in calls_let_run(value, schema, shape.answer(APPROVE), tools_in(policy))]
    found: dict[int, DeniedAnswer] = {}
    for number, call in asked:
        rule = next((one for one in _rules(policy, team, risk, call) if one[1].decision is Ruling.DENY), None)
        if rule is not None and number not in found:
            always = _denied_always(policy, team, risk, call[0])
            found[number] = {"call": number, "tool": call[0], "rule": rule[0], "name": rule[1].name, "always": always}
    return list(found.values())


def _denied_always(policy: Policy, team: str, risk: Risk, tool: str) -> bool:
    """Return whether a tool's calls are denied whatever their arguments."""
    if policy.beside is not None and _denied_always(policy.beside, team, risk, tool):
        return True
    facts = Facts(Of.TOOL, team, risk, tool=tool)
    for rule in policy.rules:
        match = rule.match(facts)
        if match.fit is Fit.YES or (match.condition == "arguments" and rule.decision is not Ruling.DENY):
            return match.fit is Fit.YES and rule.decision is Ruling.DENY
    return False


def why_refused(policy: Policy, risk: Risk, request: Request, answer: Json) -> str:
    """Return why an answer may not let run what it lets run, in one sentence; empty when it may.

    Args:
        policy: the rules.
        risk: of the TODO that asks.
        request: what was asked, and what it took to answer.
        answer: the answer, JSON.
    """
    team, terms = request.source, request.terms
    value, schema = request.subject.get("value"), request.subject.get("schema")
    if not has_tools(policy):
        return ""
    for call in calls_let_run(value, schema, answer, tools_in(policy)):
        found = list(_rules(policy, team, risk, call))
        name = one_line(call[0], 60)
        denying = next((rule_label(n, rule.name) for n, rule in found if rule.decision is Ruling.DENY), "")
        if denying and call[1] is None:
            return Message(
                "Rule {} of the policy denies {}, which this answer may let run; reject it "
                "plainly (a rejection, or false), or stop the step.",
                denying,
                name,
            )
        if denying:
            return Message(
                "Rule {} of the policy denies {} with these arguments; it can only be rejected.", denying, name
            )
        for number, rule in found:
            needs = _stricter(terms, rule.terms)
            if (needs.quorum, needs.level) != (terms.quorum, terms.level):
                people = Message("1 person") if needs.quorum == 1 else Message("{} people", needs.quorum)
                return Message(
                    "Rule {} of the policy wants {} of level {} for {} with these arguments, and "
                    "this question was asked for less; reject it, or answer it with others.",
                    number,
                    people,
                    needs.level,
                    name,
                )
    return ""


def has_tools(policy: Policy) -> bool:
    """Return whether any rule is about calls."""
    return any(rule.tool for rule in policy.all_rules)


def tools_in(policy: Policy) -> frozenset[str]:
    """Return the tools that rules are about."""
    return frozenset(rule.tool for rule in policy.all_rules if rule.tool)


def _rules(policy: Policy, team: str, risk: Risk, call: Call) -> Iterator[tuple[int, Rule]]:
    """Yield the rules about a call, with their numbers from 1: the first that fits it, and before that all that may.

    Where another policy holds beside, its rules about the call as well: of all of them the strictest counts.
    """
    yield from _own_rules(policy, team, risk, call)
    if policy.beside is not None:
        yield from _rules(policy.beside, team, risk, call)


def _own_rules(policy: Policy, team: str, risk: Risk, call: Call) -> Iterator[tuple[int, Rule]]:
    facts = Facts(Of.TOOL, team, risk, tool=call[0], arguments=call[1])
    for number, rule in enumerate(policy.rules, start=1):
        fit = rule.match(facts).fit
        if fit is not Fit.NO:
            yield number, rule
        if fit is Fit.YES:
            return


def _stricter(one: Terms, other: Terms) -> Terms:
    """Return terms that fulfil both."""
    ends: Sequence[float] = [t.deadline for t in (one, other) if t.deadline]
    first = other if other.deadline and (not one.deadline or other.deadline < one.deadline) else one
    return replace(
        first,
        quorum=max(one.quorum, other.quorum),
        level=max(one.level, other.level),
        deadline=min(ends, default=0.0),
        veto=one.veto or other.veto,
    )
