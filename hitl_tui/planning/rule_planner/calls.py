"""Which commands and teams a text calls: by their names, by what they run, and by what they do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.planning.rule_planner.arguments import PAIR, Bound, fill
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.query_reader import WORD, Clause, split, unread
from hitl_tui.planning.rule_planner.rule_file import CommandRules, Expression, Rules
from hitl_tui.planning.rule_planner.values import Span, blanked, given_in, overlaps
from hitl_tui.planning.rule_planner.words import stem

_SIGNS = " \t.,;:!?-*•–`\"'()"
_ITEM = re.compile(r"(?m)(?:^|(?<=[\s:]))(\d{1,2})([.)])(?=\s)")
_STOP = re.compile(r"[.!?;\n]")
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Call:
    """A command or team with the arguments that were given.

    Args:
        facts: what is called.
        parameters: those given; defaults are left to the team.
        start: where in the text it stands.
        end: where that clause ends.
        unread: the parts of that clause that nothing was made of.
        unplaced: amounts that no parameter takes.
        words: the clause.
    """

    facts: CommandFacts
    parameters: JsonObject
    start: int
    end: int
    unread: tuple[str, ...] = ()
    unplaced: tuple[str, ...] = ()
    words: str = ""

    @property
    def command(self) -> str:
        """What is called."""
        return self.facts.name

    @property
    def said(self) -> str:
        """The call on one line: `clean-logs dir=logs days=30`."""
        return " ".join([self.command, *(f"{k}={v}" for k, v in self.parameters.items())])


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text asks of what can be called.

    Args:
        calls: those it asks for, in order.
        beside: the clauses that ask for none, without those that ask that one not be run.
        unclear: clauses that name a command and may not ask for it, each with the command.
    """

    calls: tuple[Call, ...]
    beside: tuple[Clause, ...] = ()
    unclear: tuple[tuple[str, str], ...] = ()


class _Verdict(StrEnum):
    CALLED = "called"
    NEGATED = "negated"
    ASKED_ABOUT = Message("asked about")
    UNCLEAR = "unclear"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a clause says of what it names.

    Args:
        clause: the clause.
        name: of a command or team; empty where none is named.
        place: where its name stands in the clause.
        verdict: what is said of it.
        bare: nothing but the name is said.
    """

    clause: Clause
    name: str = ""
    place: Span = (0, 0)
    verdict: _Verdict = _Verdict.NOTHING
    bare: bool = False


def asked_in(
    text: str,
    known: Mapping[str, CommandFacts],
    rules: Rules,
    named_only: Callable[[str], bool] = lambda clause: False,
) -> Asked:
    """Return what a text calls, and what it says besides.

    Args:
        text: what a person wrote.
        known: what can be called, by name.
        rules: how it is asked for.
        named_only: clauses in which it has to be named, or given all that it needs.

    Raises:
        PlanError: it asks for a command that isn't declared, or a parameter is unknown.
        BadInput: what it asks for fits several.
    """
    text = _without_numbers(text)
    mentions = _mentions(text, known, rules)
    parts = _without_umbrella(split(text, [place[0] for _, place in mentions], rules), text, rules)
    parts = _with_flags(parts, known, rules)
    calls: list[Call] = []
    beside: list[Clause] = []
    unclear: list[tuple[str, str]] = []
    end = 0
    for one in _together([_hear(clause, mentions, known, rules) for clause in parts]):
        clause, name, verdict = one.clause, one.name, one.verdict
        before = calls[-1] if calls and calls[-1].end == end else None
        joined = before if before and not _STOP.search(text[end : clause.start]) else None
        end = clause.start + len(clause.text)
        if verdict is _Verdict.NOTHING and joined and (again := _called_again(joined, clause, rules)):
            calls += again
            continue
        if calls and verdict is _Verdict.NOTHING and (more := _given_later(calls[-1], clause, text, rules)):
            calls[-1] = more
            continue
        if verdict is not _Verdict.CALLED and verdict is not _Verdict.NEGATED:
            deed = by_deed(clause.text, known, rules)
            if deed and named_only(clause.text):
                numbered = rules.revise.number.search(clause.text)
                deed = deed if not numbered and _complete(clause.text, known[deed], rules) else ""
            if deed and (verdict is _Verdict.NOTHING or (verdict is _Verdict.ASKED_ABOUT and known[deed].own)):
                one = replace(one, name=deed, place=(0, 0), verdict=_Verdict.CALLED)
        if one.verdict is _Verdict.CALLED:
            found = calls_of(clause, known[one.name], one.place, rules)
            calls += [_with_said_before(call, joined, rules) for call in found]
        else:
            _refuse_undeclared(clause.text, known, rules.commands)
            if one.verdict is _Verdict.UNCLEAR:
                unclear.append((clause.text.strip(), name))
            elif one.verdict is not _Verdict.NEGATED:
                beside.append(clause)
    return Asked(tuple(calls), tuple(beside), tuple(unclear))


def _called_again(last: Call, clause: Clause, rules: Rules) -> list[Call]:
    """Return the calls of a clause that only says what is different, after the same in one sentence ("then to B")."""
    if _requested(clause.text, rules) or rules.words.howto.search(clause.text):
        return []
    found = list(calls_of(clause, last.facts, (0, 0), rules))
    if not all(call.parameters.keys() & last.parameters.keys() for call in found):
        return []
    again = [_with_said_before(call, last, rules) for call in found]
    return again if all(call is not one for call, one in zip(again, found, strict=True)) else []


def _with_said_before(call: Call, last: Call | None, rules: Rules) -> Call:
    """Return a call with what the sentence leaves out of it, because it has just said so of the same.

    Only a clause that says what is different and nothing else leaves anything out; all the rest is missing.

    Args:
        call: what a clause calls.
        last: the call of the clause before it in the same sentence.
        rules: the words.
    """
    if last is None or last.facts is not call.facts or call.unread or call.unplaced or not call.parameters:
        return call
    bound, *_ = fill(call.words, call.facts, rules)
    verbs = _verb_places(call.words, call.facts, rules)
    said = [m for m in WORD.finditer(blanked(call.words, [*bound.used, *verbs])) if rules.lexicon.is_verb(m.group())]
    choices = all(call.facts.parameters[name].choices for name in call.parameters)
    if said or (verbs and not choices):
        return call
    given = {**last.parameters, **call.parameters}
    return replace(call, parameters={name: given[name] for name in call.facts.parameters if name in given})


def calls_of(clause: Clause, facts: CommandFacts, place: Span, rules: Rules) -> Iterator[Call]:
    """Yield the calls of one command or team that a clause asks for."""
    named = [place] if place[1] else []
    for bound in fill(clause.text, facts, rules, [*named, *_verb_places(clause.text, facts, rules)]):
        used = [*named, *bound.used, *known_in(clause.text, facts, rules), *_amounts(clause.text, bound)]
        left = unread(clause.text, used, rules)
        end = clause.start + len(clause.text)
        yield Call(facts, bound.parameters, clause.start, end, left, bound.unplaced, clause.text.strip())


def _given_later(call: Call, clause: Clause, text: str, rules: Rules) -> Call | None:
    """Return a call with what a clause after it says of it ("고객은 새봄상사"); None where that asks for something."""
    if rules.words.howto.search(clause.text) or "?" in text[clause.start : clause.start + len(clause.text) + 1]:
        return None
    free = {n: p for n, p in call.facts.parameters.items() if n not in call.parameters}
    if not free or _requested(clause.text, rules):
        return None
    bound, *_ = fill(clause.text, replace(call.facts, parameters=free), rules)
    left = unread(clause.text, [*bound.used, *known_in(clause.text, call.facts, rules)], rules)
    if not bound.parameters or len(left) > len(bound.parameters):
        return None
    given = {**call.parameters, **bound.parameters}
    parameters = {name: given[name] for name in call.facts.parameters if name in given}
    end = clause.start + len(clause.text)
    return replace(call, parameters=parameters, end=end, words=f"{call.words}. {clause.text.strip()}")


def _verb_places(clause: str, facts: CommandFacts, rules: Rules) -> list[Span]:
    """Return where the verb stands that asks for it: it is part of no value."""
    verbs = rules.lexicon.meant(f"{facts.name} {facts.description}") & rules.lexicon.verbs.keys()
    words = [m for m in WORD.finditer(clause) if rules.lexicon.concepts(m.group()) & verbs]
    if not words:
        return []
    return [words[0 if words[-1].group().isascii() else -1].span()]


def _amounts(clause: str, bound: Bound) -> list[Span]:
    places = ((at, at + len(said)) for said in bound.unplaced if (at := clause.find(said)) >= 0)
    return list(places)


def _without_numbers(text: str) -> str:
    """Return a numbered list with a stop for each of its numbers, at the same length."""
    found = list(_ITEM.finditer(text))
    if [int(m[1]) for m in found] != list(range(1, len(found) + 1)):
        return text
    for m in found:
        text = text[: m.start()] + ";".rjust(len(m.group())) + text[m.end() :]
    return text


_BEFORE = re.compile(r"\s*before\s+(?:(?:you|we|i)\s+)?(?=[a-z])", re.IGNORECASE)
_ONCE = re.compile(r"\s*(?:once|after|when)\s+(?=[a-z])", re.IGNORECASE)
_DONE = re.compile(r"\s+(?:(?:is|are|has|have)\s+)?(?:been\s+)?(?:done|finished|completed?|ready|over)$", re.IGNORECASE)
_BEFORE_KO = re.compile(r"\s*(?P<later>[^.?!\n]{2,400}?)하기\s?전에,?\s+(?P<first>[^.?!\n]{2,400})(?P<end>[.!]?\s*)")


def in_order(text: str, rules: Rules) -> str:
    """Return a text with what is to be done first said first: "before A, B" is B and then A."""
    korean = _BEFORE_KO.fullmatch(text)
    if korean is not None:
        return f"{korean['first']}. 그다음 {korean['later']}해줘{korean['end']}"
    before, once = _BEFORE.match(text), _ONCE.match(text)
    for comma in re.finditer(r",\s+", text) if before or once else ():
        then = text[comma.end() :].rstrip(" .")
        if before and _requested(then, rules):
            return f"{then}, then {text[before.end() : comma.start()]}"
        if once and (done := _DONE.search(text[once.end() : comma.start()])):
            return f"do {text[once.end() : once.end() + done.start()]}, then {then}"
    return text


def _without_umbrella(parts: Sequence[Clause], text: str, rules: Rules) -> list[Clause]:
    """Return the clauses without what only announces a list of steps: "clean up:" before "count, back up, delete"."""
    kept: list[Clause] = []
    for index, clause in enumerate(parts):
        head, colon, tail = clause.text.partition(": ")
        following = [tail, *(later.text for later in parts[index + 1 :])]
        verbs = [part for part in following if _asks(part, rules)]
        if colon and len(verbs) > 1 and _asks(tail, rules) and _asks(head, rules):
            kept.append(Clause(clause.start + len(head) + len(colon), tail, clause.listed))
        else:
            kept.append(clause)
    return kept


def _with_flags(parts: Sequence[Clause], known: Mapping[str, CommandFacts], rules: Rules) -> list[Clause]:
    """Return the clauses with what only sets something true or false beside what it is set for: "… and notify"."""
    flags = {name.lower() for facts in known.values() for name, p in facts.parameters.items() if p.type == "boolean"}
    kept: list[Clause] = []
    for clause in parts:
        before = kept[-1] if kept else None
        if before is not None and "_".join(clause.text.lower().strip(_SIGNS).split()) in flags:
            gap = " " * (clause.start - before.start - len(before.text))
            kept[-1] = replace(before, text=f"{before.text}{gap}{clause.text}")
        else:
            kept.append(clause)
    return kept


def _asks(text: str, rules: Rules) -> bool:
    return bool(_requested(text, rules))


# By name -------------------------------------------------------------------------------------------------------------


def spoken_name(name: str) -> Expression:
    """Return an expression for a name as people write it: `clean-logs`, `clean logs`, `clean the logs`."""
    between = r"(?:[-_ ]|\s(?:the|my|our|all|all the|a|one)\s)"
    spoken = between.join(re.escape(part) for part in re.split("[-_]", name))
    return re.compile(rf"(?<![A-Za-z0-9_./-]){spoken}(?![A-Za-z0-9_/-]|\.\w)", re.IGNORECASE)


def _mentions(text: str, known: Mapping[str, CommandFacts], rules: Rules) -> list[tuple[str, Span]]:
    """Return what is named, and where, in order; a longer name goes before one that is part of it."""
    taken = [m.span("value") for m in PAIR.finditer(text)]
    found: list[tuple[str, Span]] = []

    def take(name: str, place: Span) -> None:
        if not any(s < place[1] and place[0] < e for s, e in taken):
            found.append((name, place))
            taken.append(place)

    for name in sorted(known, key=len, reverse=True):
        for match in spoken_name(name).finditer(text):
            take(name, match.span())
    runs = [(run, name) for name, facts in known.items() for run in facts.runs]
    for run, name in sorted(runs, key=lambda r: -len(r[0])):
        if sum(run == other for other, _ in runs) > 1:
            continue
        for match in spoken_name(run).finditer(text):
            after = text[match.end() : match.end() + 30]
            if rules.commands.run_before.search(text[: match.start()]) or rules.commands.run_after.match(after):
                take(name, match.span())
    return sorted(found, key=lambda m: m[1])


def _hear(
    clause: Clause, mentions: Sequence[tuple[str, Span]], known: Mapping[str, CommandFacts], rules: Rules
) -> _Heard:
    found = []
    for name, place in mentions:
        start, end = (at - clause.start for at in place)
        if start >= 0 and end <= len(clause.text):
            verdict = _verdict(clause, (start, end), known[name], rules)
            bare = not _opening(clause.text[:start], rules) and not clause.text[end:].strip(_SIGNS)
            found.append(_Heard(clause, name, (start, end), verdict, bare))
    said = [one for one in found if one.verdict is not _Verdict.NOTHING]
    return min(said, key=lambda one: list(_Verdict).index(one.verdict), default=_Heard(clause))


_TEAM = re.compile(
    r"[\"`]?\s?(?:team(?:s|'s)?(?![a-z])|tool(?![a-z])|function(?![a-z])|agent(?![a-z])|팀|도구|함수|에이전트)",
    re.IGNORECASE,
)
_HOW = re.compile(r"(?<![a-z])how (?:do|does|can|could|should|would|to)(?![a-z])|어떻게", re.IGNORECASE)
_BY_TEAM = re.compile(r"[\"`]?\s?(?:으로|로|에게|한테|가|이)(?=\s)")


def _verdict(clause: Clause, place: Span, facts: CommandFacts, rules: Rules) -> _Verdict:
    asked, howto = rules.commands, rules.words.howto
    before = clause.text[max(0, place[0] - 60) : place[0]]
    after = clause.text[place[1] : place[1] + 60]
    team = _TEAM.match(after)
    rest = after[team.end() :] if team else after
    if asked.negated_before.search(before) or asked.negated_after.search(rest):
        return _Verdict.NEGATED
    if howto.search(before) and (_HOW.search(before) or not (team and asked.with_team.search(before))):
        return _Verdict.ASKED_ABOUT
    if asked.run_before.search(before) or (asked.with_team.search(before) and (team or facts.own)):
        return _Verdict.CALLED
    if howto.search(PAIR.sub("", rest)) or asked.statement.match(rest.rstrip("? ")):
        return _Verdict.ASKED_ABOUT
    if asked.run_after.search(PAIR.sub("", rest).lstrip()):
        return _Verdict.CALLED
    if team or (facts.own and _BY_TEAM.match(after)):
        return _Verdict.CALLED
    alone = not _opening(clause.text[: place[0]], rules)
    if alone and (PAIR.match(after.lstrip()) or not after.strip(_SIGNS)):
        return _Verdict.CALLED
    bound = fill(clause.text, facts, rules, [place])
    used = [place, *(span for one in bound for span in one.used), *known_in(clause.text, facts, rules)]
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
            if heard[other].verdict is _Verdict.CALLED and heard[one].verdict in (
                _Verdict.NEGATED,
                _Verdict.ASKED_ABOUT,
            ):
                heard[other] = replace(heard[other], verdict=heard[one].verdict)
    yield from heard


def call_named(facts: CommandFacts, text: str, rules: Rules) -> Call:
    """Return the call of one command or team with the arguments that a text gives."""
    bound, *_ = fill(text, facts, rules)
    return Call(facts, bound.parameters, 0, len(text), unplaced=bound.unplaced, words=text)


def without_call(clause: str, name: str) -> str:
    """Return a clause with a command's name and parameters blanked, at the same length."""
    for expression in (spoken_name(name), PAIR):
        clause = expression.sub(lambda m: " " * len(m.group()), clause)
    return clause


def _refuse_undeclared(clause: str, known: Mapping[str, CommandFacts], rules: CommandRules) -> None:
    for expression in rules.unknown:
        match = expression.search(clause)
        if match and ("-" in match["name"] or "_" in match["name"] or match["rest"].strip()):
            near = difflib.get_close_matches(match["name"], known, n=1)
            names = ", ".join(sorted(known)) or "none"
            hint = Message('; did you mean "{}"?', near[0]) if near else Message("; declared are: {}.", names)
            raise PlanError(Message('No declared command "{}"{}', match["name"], hint))


# By what it does -----------------------------------------------------------------------------------------------------


def by_deed(clause: str, known: Mapping[str, CommandFacts], rules: Rules) -> str:
    """Return the command or team that does what a clause asks for; empty for none.

    Words that few of them say count for more. At least half of what the clause says besides its verb has to be what
    a command says of itself, or be one of its arguments. A question calls a team only where it gives all it needs.

    Raises:
        BadInput: several fit as well.
    """
    requested = _requested(clause, rules)
    asking = rules.words.howto.search(clause) is not None
    vocabularies = {name: rules.lexicon.vocabulary(facts) for name, facts in known.items()}
    scores: dict[str, float] = {}
    for name, facts in known.items():
        score = _score(clause, facts, vocabularies, requested, asking, rules)
        if score > 0:
            scores[name] = score
    if not scores:
        return ""
    most = max(scores.values())
    best = sorted(name for name, score in scores.items() if score > most - 0.01)
    if len(best) > 1:
        raise BadInput(
            Message("Several declared commands could be meant: {}; name one.", ", ".join(best)),
            help=Message('For example: "run {}"', best[0]),
        )
    return best[0]


def _score(
    clause: str,
    facts: CommandFacts,
    vocabularies: Mapping[str, frozenset[str]],
    requested: frozenset[str],
    asking: bool,
    rules: Rules,
) -> float:
    if any(match["name"] not in facts.parameters for match in PAIR.finditer(clause)):
        return 0.0
    own = vocabularies[facts.name]
    deeds = requested & own
    takes = facts.own or any(p.needed for p in facts.parameters.values())
    if (asking or not deeds) and not takes:
        return 0.0
    bound, *_ = fill(clause, facts, rules, _verb_places(clause, facts, rules))
    given = given_in(clause, rules.units)
    used = [*(g.place for g in given), *bound.used]
    matched = most = total = 0.0
    named = rules.lexicon.meant(facts.name)
    for place, word in _words(clause, rules):
        meant = rules.lexicon.concepts(word)
        if meant & requested or (meant & rules.lexicon.looking and not meant & own):
            continue
        found = rules.lexicon.found(word, own)
        if not found and any(start < place[1] and place[0] < end for start, end in used):
            continue
        said = sum(bool(found & vocabulary) for vocabulary in vocabularies.values())
        weight = 1.0 + (1.0 / said if said else 0.0)
        total += weight
        more = weight * (1.5 if meant & named else 1.0)
        most += more
        if found:
            matched += more
    if total and (not matched or matched < _HALF * total):
        return 0.0
    if deeds and not asking:
        fits = 0.5 * (not bound.lacks(facts)) + sum(overlaps(g.place, bound.used) for g in given) / (len(given) or 1)
        return 4.0 * len(deeds) + (matched if total else 0.1) + len(deeds & named) + fits
    complete = _complete(clause, facts, rules)
    does = own & rules.lexicon.verbs.keys()
    # What says nothing but what it is and what it is given asks for it where it tells to do something.
    only = matched == most and requested <= _ADDED
    filled = bool(bound.used) and not (requested and does)
    told = not asking and (only or filled) and _tells(clause, facts, rules)
    return matched if complete or told else 0.0


def _complete(clause: str, facts: CommandFacts, rules: Rules) -> bool:
    """Whether a clause gives all that a call needs, and more than nothing."""
    bound, *_ = fill(clause, facts, rules)
    return bool(bound.used) and not bound.lacks(facts) and not bound.unplaced


def _tells(clause: str, facts: CommandFacts, rules: Rules) -> bool:
    """Whether a clause tells to do something, whatever that is, or begins as a description does ("ship": "Ships …")."""
    first = rules.commands.lead.sub("", clause.strip(_SIGNS)).partition(" ")[0]
    does = facts.description.partition(" ")[0]
    if rules.commands.request.search(clause):
        return True
    return bool(rules.commands.told.fullmatch(first) or (first and stem(first) == stem(does)))


def _words(text: str, rules: Rules) -> Iterator[tuple[Span, str]]:
    """Yield the words of a clause that say what is meant, and where they stand, without their particles."""
    text = blanked(text, [m.span() for m in rules.commands.modifiers.finditer(text)])
    for match in re.finditer(r"[A-Za-z가-힣]+", text):
        word = rules.lexicon.plain(match.group())
        spoken = rules.lexicon.concepts(word) & (rules.lexicon.verbs.keys() | rules.lexicon.nouns.keys())
        asks = rules.words.verbs.search(word) or rules.commands.request.search(word)
        empty = not spoken and (asks or rules.commands.told.fullmatch(word))
        if len(word) > 1 and not empty:
            yield match.span(), word


_ADDED = frozenset({"create"})
_DO = re.compile(r"(?:do|make|give|have|get|take)\s+(?:me\s+|us\s+)?(?:the|an?)\s+(?P<noun>[a-z]+)")


def _requested(clause: str, rules: Rules) -> frozenset[str]:
    """Return what a clause asks to be done ("지워줘", "로그 삭제", "delete …"); a way to do it is none."""
    plain = rules.commands.lead.sub("", clause.strip(_SIGNS).lower())
    first = re.match(r"[a-z]+(?:[- ]up)?", plain)
    if first and not (re.search("[가-힣]", clause) and rules.commands.request.search(clause)):
        said = first.group()
        found = rules.lexicon.concepts(re.sub(r"[- ]up$", "up", said)) or frozenset()
        found |= rules.lexicon.concepts(said.split()[0].removesuffix("-up"))
        if noun := _DO.match(plain):
            found |= rules.lexicon.concepts(noun["noun"])
        found &= rules.lexicon.verbs.keys()
        if found or not re.search("[가-힣]", clause):
            return found
    if rules.words.howto.search(clause):
        return frozenset()
    asked: set[str] = set()
    for match in re.finditer(r"[가-힣]+", clause):
        verbs = {c for c in rules.lexicon.concepts(match.group()) if c in rules.lexicon.verbs}
        rest = (match.group()[1:] + clause[match.end() : match.end() + 20]).strip(_SIGNS)
        if verbs and not rules.commands.negated_deed.search(match.group()[2:] + clause[match.end() : match.end() + 20]):
            last = not clause[match.end() :].strip(_SIGNS)
            if last or rules.commands.request.search(rest):
                asked |= verbs
    return frozenset(asked)


def known_in(clause: str, facts: CommandFacts, rules: Rules) -> list[Span]:
    """Return where a clause says what is called does anyway."""
    own = rules.lexicon.vocabulary(facts)
    said = [m.span() for m in rules.commands.modifiers.finditer(clause)]
    if facts.own:
        said += [
            m.span()
            for m in re.finditer(r"(?<![a-z])(?:team|tool|function)(?![a-z])|팀(?:으로|에게)?|도구|함수", clause)
        ]
        said += [m.span() for m in WORD.finditer(clause) if rules.lexicon.is_verb(m.group())]
    for match in WORD.finditer(clause):
        word = rules.lexicon.plain(match.group())
        if word and rules.lexicon.found(word, own):
            said.append(match.span())
    return said


def asks_for_deed(text: str, rules: Rules) -> bool:
    """Whether a text asks that something be done to something, declared or not."""
    return bool(deeds_asked(text, rules))


def deeds_asked(text: str, rules: Rules) -> tuple[str, ...]:
    """Return the clauses that ask that something be done to something, declared or not."""
    found = []
    for clause in (part.text for part in split(text, (), rules)):
        nouns = {c for word in WORD.findall(clause) for c in rules.lexicon.concepts(rules.lexicon.plain(word))}
        if nouns & rules.lexicon.nouns.keys() and _requested(clause, rules) - rules.lexicon.looking:
            found.append(clause.strip())
    return tuple(found)
