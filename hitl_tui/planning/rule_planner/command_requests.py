"""Recognising requests for a declared command, by its name or by what it does, and their parameters."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.parameter_words import PAIR, bind, refuse_missing
from hitl_tui.planning.rule_planner.query_reader import Clause, Span, clauses, split, terms_of, unread
from hitl_tui.planning.rule_planner.rule_file import CommandRules, Expression, Rules

_TRAILING = ".,;!?"
_LOOKING = frozenset({"list", "count", "measure", "verify"})


@dataclass(frozen=True, slots=True)
class Profile:
    """What a declared command does, by its name and description."""

    name: str
    actions: frozenset[str]
    objects: frozenset[str]
    modifiers: frozenset[str]
    nouns: tuple[Expression, ...]


def profile_of(facts: CommandFacts, rules: Rules) -> Profile:
    """Return what a command does, as far as the rules know its words."""
    said = " ".join([*re.split("[-_]", facts.name), facts.description[: rules.limits.revise]])
    known = [
        *rules.commands.actions.values(),
        *rules.commands.objects.values(),
        *rules.commands.modifiers.values(),
    ]
    spans = [m.span() for expression in known for m in expression.finditer(said)]
    nouns = [n for n in terms_of(said, rules.words, spans) if len(n) > 2 or not n.isascii()]
    return Profile(
        name=facts.name,
        actions=_concepts(said, rules.commands.actions),
        objects=_concepts(said, rules.commands.objects),
        modifiers=_concepts(said, rules.commands.modifiers),
        nouns=tuple(re.compile(rf"(?<!\w){re.escape(n)}", re.IGNORECASE) for n in nouns),
    )


def by_deed(clause: str, profiles: Sequence[Profile], rules: Rules) -> tuple[str, Span]:
    """Return the command that does what a clause asks for, and where it says so; an empty name for none."""
    actions = {key for key, action in rules.commands.actions.items() if _requested(clause, action, rules)}
    if not actions:
        return "", (0, 0)
    objects = _concepts(clause, rules.commands.objects)
    modifiers = _concepts(clause, rules.commands.modifiers)
    spans = [m.span() for key in actions for m in rules.commands.actions[key].finditer(clause)]
    bare = not terms_of(clause, rules.words, spans)
    scores: dict[str, int] = {}
    for profile in profiles:
        deeds, things = actions & profile.actions, objects & profile.objects
        nouns = sum(noun.search(clause) is not None for noun in profile.nouns)
        if deeds and (things or nouns or bare):
            scores[profile.name] = (
                4 * len(deeds)
                + 4 * len(things)
                + 2 * nouns
                + len(modifiers & profile.modifiers)
                - len(objects - profile.objects)
            )
    best = [name for name, score in scores.items() if score == max(scores.values())]
    if len(best) > 1:
        raise BadInput(
            Message("Several declared commands could be meant: {}; name one.", ", ".join(sorted(best))),
            help=Message('For example: "run {}"', sorted(best)[0]),
        )
    return (best[0], _first(clause, actions, rules)) if best else ("", (0, 0))


def _first(clause: str, actions: set[str], rules: Rules) -> Span:
    """Return the place just after the first of these actions: the word itself may be part of a value, too."""
    end = min(m.end() for key in actions for m in rules.commands.actions[key].finditer(clause))
    return end, end


def known_in(clause: str, profile: Profile, rules: Rules) -> list[Span]:
    """Return where a clause says what a command does anyway."""
    asked = rules.commands
    expressions = [
        *(asked.actions[key] for key in profile.actions),
        *(asked.objects[key] for key in profile.objects),
        *asked.modifiers.values(),
        *profile.nouns,
    ]
    return [m.span() for expression in expressions for m in expression.finditer(clause)]


def _concepts(text: str, concepts: Mapping[str, Expression]) -> frozenset[str]:
    return frozenset(key for key, expression in concepts.items() if expression.search(text))


def _requested(clause: str, action: Expression, rules: Rules) -> bool:
    """Whether a clause asks for this action ("지워줘", "로그 삭제", "delete …"), not how it is done."""
    if rules.words.howto.search(clause):
        return False
    plain = rules.commands.lead.sub("", clause.strip().lower())
    for match in action.finditer(clause):
        rest = clause[match.end() : match.end() + 20].strip(_TRAILING + " ")
        if rules.commands.negated_deed.search(rest):
            continue
        if match.group().isascii():
            if action.match(plain):
                return True
        elif not rest or rules.commands.request.search(rest):
            return True
    return False


def asks_for_deed(text: str, rules: Rules) -> bool:
    """Whether a text asks that something be done to something, declared or not."""
    return bool(deeds_asked(text, rules))


def deeds_asked(text: str, rules: Rules) -> tuple[str, ...]:
    """Return the clauses that ask that something be done to something, declared or not."""
    deeds = [action for key, action in rules.commands.actions.items() if key not in _LOOKING]
    return tuple(
        clause.strip()
        for _, clause in clauses(text, rules)
        if _concepts(clause, rules.commands.objects) and any(_requested(clause, deed, rules) for deed in deeds)
    )


_SIGNS = " \t.,;:!?-*•–`\"'()"
_ITEM = re.compile(r"(?m)(?:^|(?<=[\s:]))(\d{1,2})([.)])(?=\s)")


@dataclass(frozen=True, slots=True)
class Call:
    """A declared command with the parameters that were given.

    Args:
        command: its name.
        parameters: those given; defaults are left to the team.
        start: where in the text it stands.
        end: where that clause ends.
        unread: the parts of that clause that nothing was made of.
        titles: what a step is called that runs it, by language; where none is given by its name.
    """

    command: str
    parameters: JsonObject
    start: int
    end: int
    unread: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The call on one line: `clean-logs dir=logs days=30`."""
        return " ".join([self.command, *(f"{k}={v}" for k, v in self.parameters.items())])


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text asks of the declared commands.

    Args:
        calls: those it asks for, in order.
        beside: the clauses that ask for none, without those that ask that one not be run.
        unclear: clauses that name a command and may not ask for it, each with the command.
    """

    calls: tuple[Call, ...]
    beside: tuple[Clause, ...] = ()
    unclear: tuple[tuple[str, str], ...] = ()


def asked_in(
    text: str,
    commands: Mapping[str, CommandFacts],
    rules: Rules,
    named_only: Callable[[str], bool] = lambda clause: False,
) -> Asked:
    """Return the declared commands a text asks for, and what it says besides.

    Args:
        text: what a person wrote.
        commands: the declared ones, by name.
        rules: how commands are asked for.
        named_only: clauses in which a command has to be named; describing what it does isn't enough there.

    Raises:
        PlanError: it asks for a command that isn't declared, or a required parameter is missing or unknown.
        BadInput: what it asks for fits several commands.
    """
    text = _without_numbers(text)
    mentions = _mentions(text, commands)
    profiles = {facts.name: profile_of(facts, rules) for facts in commands.values()}
    heard = [
        _hear(clause, mentions, commands, profiles, rules)
        for clause in split(text, [m.place[0] for m in mentions], rules)
    ]
    calls: list[Call] = []
    beside: list[Clause] = []
    unclear: list[tuple[str, str]] = []
    for one in _together(heard):
        clause, name, place = one.clause, one.name, one.place
        if one.verdict is _Verdict.UNCLEAR:
            unclear.append((clause.text.strip(), name))
        if not name and not named_only(clause.text):
            name, place = by_deed(clause.text, list(profiles.values()), rules)
            one = replace(one, verdict=_Verdict.CALLED if name else one.verdict)
        if one.verdict is _Verdict.CALLED:
            calls += _calls(clause, commands[name], place, profiles[name], rules)
        else:
            _refuse_undeclared(clause.text, commands, rules.commands)
            if one.verdict not in (_Verdict.UNCLEAR, _Verdict.NEGATED):
                beside.append(clause)
    return Asked(tuple(calls), tuple(beside), tuple(unclear))


def _without_numbers(text: str) -> str:
    """Return a numbered list with a stop for each of its numbers, at the same length."""
    found = list(_ITEM.finditer(text))
    if [int(m[1]) for m in found] != list(range(1, len(found) + 1)):
        return text
    for m in found:
        text = text[: m.start()] + ";".rjust(len(m.group())) + text[m.end() :]
    return text


@dataclass(frozen=True, slots=True)
class _Mention:
    """A command's name in a text."""

    name: str
    place: Span


def _mentions(text: str, commands: Mapping[str, CommandFacts]) -> list[_Mention]:
    """Return where commands are named, in order; a longer name goes before one that is part of it."""
    taken = [m.span("value") for m in PAIR.finditer(text)]
    found: list[_Mention] = []
    for name in sorted(commands, key=len, reverse=True):
        for match in spoken_name(name).finditer(text):
            start, end = match.span()
            if not any(s < end and start < e for s, e in taken):
                found.append(_Mention(name, (start, end)))
                taken.append((start, end))
    return sorted(found, key=lambda m: m.place)


class _Verdict(StrEnum):
    CALLED = "called"
    NEGATED = "negated"
    ASKED_ABOUT = Message("asked about")
    UNCLEAR = "unclear"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a clause says of the command it names.

    Args:
        clause: the clause.
        name: the command; empty where none is named.
        place: where its name stands in the clause.
        verdict: what is said of it.
        bare: nothing but the name is said.
    """

    clause: Clause
    name: str = ""
    place: Span = (0, 0)
    verdict: _Verdict = _Verdict.NOTHING
    bare: bool = False


def _hear(
    clause: Clause,
    mentions: Sequence[_Mention],
    commands: Mapping[str, CommandFacts],
    profiles: Mapping[str, Profile],
    rules: Rules,
) -> _Heard:
    found = []
    for mention in mentions:
        start, end = (at - clause.start for at in mention.place)
        if start >= 0 and end <= len(clause.text):
            verdict = _verdict(clause, (start, end), commands[mention.name], profiles[mention.name], rules)
            bare = not _opening(clause.text[:start], rules) and not clause.text[end:].strip(_SIGNS)
            found.append(_Heard(clause, mention.name, (start, end), verdict, bare))
    said = [one for one in found if one.verdict is not _Verdict.NOTHING]
    return min(said, key=lambda one: list(_Verdict).index(one.verdict), default=_Heard(clause))


def _verdict(clause: Clause, place: Span, facts: CommandFacts, profile: Profile, rules: Rules) -> _Verdict:
    asked, howto = rules.commands, rules.words.howto
    before = clause.text[max(0, place[0] - 60) : place[0]]
    after = clause.text[place[1] : place[1] + 60]
    if asked.negated_before.search(before) or asked.negated_after.search(after):
        return _Verdict.NEGATED
    if howto.search(before):
        return _Verdict.ASKED_ABOUT
    if asked.run_before.search(before):
        return _Verdict.CALLED
    if howto.search(PAIR.sub("", after)) or asked.statement.match(after.rstrip("? ")):
        return _Verdict.ASKED_ABOUT
    if asked.run_after.search(PAIR.sub("", after).lstrip()):
        return _Verdict.CALLED
    alone = not _opening(clause.text[: place[0]], rules)
    if alone and (PAIR.match(after.lstrip()) or not after.strip(_SIGNS)):
        return _Verdict.CALLED
    bound = bind(clause.text, facts, asked, place)
    used = [place, *(span for one in bound for span in one.used), *known_in(clause.text, profile, rules)]
    given, all_read = any(one.used for one in bound), not unread(clause.text, used, rules)
    if (given and all_read) or (alone and (given or all_read)):
        return _Verdict.CALLED
    # One word may mean anything.
    return _Verdict.UNCLEAR if any(sign in facts.name for sign in "-_") else _Verdict.NOTHING


def _opening(text: str, rules: Rules) -> str:
    """Return what stands before a name, without the words that only lead over to it."""
    text = f"{text.strip(_SIGNS)} "
    while text.strip() and (rest := rules.commands.lead.sub("", text)) != text:
        text = rest
    return text.strip()


def _together(heard: Sequence[_Heard]) -> Iterator[_Heard]:
    """Yield what was heard; a "don't" or a question goes for all that a list only names."""
    heard = list(heard)
    for pairs in (list(pairwise(range(len(heard)))), list(pairwise(reversed(range(len(heard)))))):
        for one, other in pairs:
            if not heard[max(one, other)].clause.listed or not heard[other].bare:
                continue
            if heard[one].verdict is _Verdict.NEGATED and heard[other].verdict is _Verdict.CALLED:
                heard[other] = replace(heard[other], verdict=_Verdict.NEGATED)
            elif heard[one].verdict is _Verdict.ASKED_ABOUT and heard[other].verdict is _Verdict.CALLED:
                heard[other] = replace(heard[other], verdict=_Verdict.ASKED_ABOUT)
    yield from heard


def _calls(clause: Clause, facts: CommandFacts, place: Span, profile: Profile, rules: Rules) -> Iterator[Call]:
    bound = bind(clause.text, facts, rules.commands, place)
    used = [place, *(span for one in bound for span in one.used), *known_in(clause.text, profile, rules)]
    left = unread(clause.text, used, rules)
    for one in bound:
        refuse_missing(one, facts)
        yield Call(facts.name, one.parameters, clause.start, clause.start + len(clause.text), left, facts.titles)


def call_named(name: str, text: str, commands: Mapping[str, CommandFacts], rules: Rules) -> Call:
    """Return the call of one command with the parameters a text gives.

    Raises:
        PlanError: a required parameter is missing, or one is unknown.
    """
    bound, *_ = bind(text, commands[name], rules.commands)
    refuse_missing(bound, commands[name])
    return Call(name, bound.parameters, 0, len(text), titles=commands[name].titles)


def without_call(clause: str, name: str) -> str:
    """Return a clause with a command's name and parameters blanked, at the same length."""
    for expression in (spoken_name(name), PAIR):
        clause = expression.sub(lambda m: " " * len(m.group()), clause)
    return clause


def spoken_name(name: str) -> Expression:
    """Return an expression for a command's name as people write it: `clean-logs`, `clean logs`, `clean the logs`."""
    between = r"(?:[-_ ]|\s(?:the|my|our|all|all the|a|one)\s)"
    spoken = between.join(re.escape(part) for part in re.split("[-_]", name))
    return re.compile(rf"(?<![A-Za-z0-9_./-]){spoken}(?![A-Za-z0-9_/-]|\.\w)", re.IGNORECASE)


def _refuse_undeclared(clause: str, commands: Mapping[str, CommandFacts], rules: CommandRules) -> None:
    for expression in rules.unknown:
        match = expression.search(clause)
        if match and ("-" in match["name"] or "_" in match["name"] or match["rest"].strip()):
            near = difflib.get_close_matches(match["name"], commands, n=1)
            known = ", ".join(sorted(commands)) or "none"
            hint = Message('; did you mean "{}"?', near[0]) if near else Message("; declared are: {}.", known)
            raise PlanError(Message('No declared command "{}"{}', match["name"], hint))
