"""Which commands and teams a text calls: by their names, by what they run, and by what they do."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain, takewhile

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.meaning.word_forms import is_past, is_question_word
from hitl_tui.planning.rule_planner.arguments import Call, but_counted, fill, in_declared_order, of_kind, unit_in
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.query_reader import WORD, Clause, listed, refers, split
from hitl_tui.planning.rule_planner.rule_file import Expression, lexicon, name_words, rules
from hitl_tui.planning.rule_planner.values import PAIR, Span, blanked, given_in, overlaps

_SIGNS = " \t.,;:!?-*•–`\"'()"
_LEADS = " \t,:–-"
"""What stands between a name and what it is told."""
_KOREAN = re.compile("[가-힣]")
_CLOSING = re.compile(r"[)\]\"'”’]*")
_ENDING = re.compile("[가-힣]*")
_HALF = 0.5
_MOST_PARTS = 64
"""Parts of one clause that can be calls of their own."""
_DESCRIBED = 100.0
"""More than what a clause has in common with something that can be called ever comes to."""
_SENTENCE_END = re.compile(r"[.;!?]+(?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class CalledCommands:
    """What a text asks of what can be called.

    Args:
        calls: those it asks for, in order.
        beside: the clauses that ask for none, without those that ask that one not be run.
        unclear: clauses that name a command and may not ask for it, each with the words that would.
    """

    calls: tuple[Call, ...]
    beside: tuple[Clause, ...] = ()
    unclear: tuple[tuple[str, str], ...] = ()


class _Verdict(Enum):
    """What a clause says of what it names; nothing where it only asks about it."""

    CALLED = auto()
    NEGATED = auto()
    UNCLEAR = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class _Mention:
    """The name of a command or team, where it stands in a text."""

    name: str
    place: Span


def asked_in(
    text: str, known: Mapping[str, CommandFacts], *, trusted: bool = True, revising: bool = False
) -> CalledCommands:
    """Return what a text calls, with what has to hold for each call, and what it says besides.

    Args:
        trusted: what can be called is believed what it says of itself, and need not be named plainly.
        revising: the text changes a plan; where it names a step, a call has to be named, or given all that it needs.
    """
    conditions = conditions_in(text)
    asked = _without_conditions(text, conditions, known, trusted, revising)
    held = [one for one in conditions if any(map(one.governs, asked.calls))]
    if held != conditions:  # of what is only asked it says what about
        asked = _without_conditions(text, held, known, trusted, revising)
    calls = (replace(call, conditions=tuple(one.text for one in held if one.governs(call))) for call in asked.calls)
    return replace(asked, calls=tuple(calls))


def _without_conditions(
    text: str, conditions: Sequence[Condition], known: Mapping[str, CommandFacts], trusted: bool, revising: bool
) -> CalledCommands:
    """Return what a text calls, and what it says besides, without what it says has to hold; see `asked_in`."""
    text = blanked(text, [one.place for one in conditions])
    text = _without_umbrella(_without_numbers(text))
    mentions = _mentions(text, known, trusted)
    calls: list[Call] = []
    beside: list[Clause] = []
    unclear: list[tuple[str, str]] = []
    for clause in split(text, [m.place for m in mentions]):
        verdict, named = _named_in(clause, mentions, known)
        if verdict is _Verdict.NOTHING and calls and (further := _goes_on_from(calls, clause)):
            calls[-len(further) :] = chain(*further)
        elif verdict is _Verdict.CALLED:
            calls += _calls_of(clause, named, known)
        elif verdict is not _Verdict.NEGATED:
            deed = by_deed(clause.text, known) if trusted or _changes(clause.text) else ""
            numbered = rules().revise.number.search(clause.text)
            if deed and revising and (numbered or any(e.search(clause.text) for e in rules().targets.values())):
                calls_of = _each(clause.text, known[deed], [])
                deed = deed if not numbered and _complete(clause.text, calls_of) else ""
            if deed and verdict is not _Verdict.UNCLEAR:
                calls += _calls_of(clause, [_Mention(deed, (0, 0))], known)
                continue
            _refuse_undeclared(clause.text, known)
            if verdict is _Verdict.UNCLEAR:
                unclear.append((clause.text.strip(), " ".join([named[0].name, *_holes(known[named[0].name])])))
            else:
                beside.append(clause)
    return CalledCommands(tuple(calls), tuple(beside), tuple(unclear))


def _holes(facts: CommandFacts) -> list[str]:
    """Return how the parameter is given that a command needs, or the first one that it has."""
    needed = [name for name, parameter in facts.parameters.items() if parameter.needed]
    return [f"{name}=…" for name in (needed or [*facts.parameters][:1])]


def _calls_of(clause: Clause, named: Sequence[_Mention], known: Mapping[str, CommandFacts]) -> Iterator[Call]:
    """Yield the calls that a clause asks for; each is given what stands from its name to the next one."""
    for number, mention in enumerate(named):
        start = mention.place[0] if number else 0
        end = named[number + 1].place[0] if number + 1 < len(named) else len(clause.text)
        said, facts = clause.text[start:end], known[mention.name]
        name = (mention.place[0] - start, mention.place[1] - start)
        team = rules().commands.team.match(said, name[1]) if name[1] else None
        places = [(name[0], team.end() if team else name[1])] if name[1] else []
        at = clause.start + start
        # What is addressed by its name is told the rest: "hotels: a room in Seoul".
        leads = facts.takes_words and name[1] and not team and not said[: name[0]].strip(_SIGNS)
        told = said[name[1] :].strip().lstrip(_LEADS) if leads and said[name[1] :][:1] in _LEADS else ""
        for call in _each(said, facts, places):
            yield replace(call, words=told or call.words, start=at + call.start, end=at + call.end)


def _each(clause: str, facts: CommandFacts, named: Sequence[Span]) -> list[Call]:
    """Return the calls of a clause: one for each part of a list, where only the parts read whole, each with as much."""
    whole = fill(clause, facts, named)
    if not (whole[0].unread or whole[0].unplaced or whole[0].lacks):
        return whole
    borders = [0, *chain(*_between_items(clause)), len(clause)]
    parts = [*zip(borders[::2], borders[1::2], strict=True)]
    if len(parts) > _MOST_PARTS or any(refers(clause[start:end]) for start, end in parts[1:]):
        return whole
    found = list[Call]()
    for start, end in parts:
        at = [(a - start, b - start) for a, b in named if start <= a < end]
        found += (replace(call, start=start, end=end) for call in fill(clause[start:end], facts, at))
        given = found[0].parameters.keys()
        if not given or any(one.parameters.keys() != given or one.unread or one.unplaced for one in found):
            return whole
    return _as_whole(clause, found) if found[1:] else whole


def _between_items(clause: str) -> list[Span]:
    """Return what stands between the parts of a clause that may give arguments each."""
    read, words = [one.place for one in given_in(clause)], rules().commands
    found = [m.span() for m in words.item.finditer(clause)]
    found += [m.span() for _, end in read if (m := words.item_korean.match(clause, end))]
    return sorted(span for span in found if not overlaps(span, read))


def _as_whole(clause: str, calls: Sequence[Call]) -> list[Call]:
    """Return the calls of the parts of a list with what is said around all parts: the verb before or behind them."""
    first, last = calls[0], calls[-1]
    begins = min((start for start, _ in first.used), default=0)
    ends = last.start + max((end for _, end in last.used), default=last.end - last.start)
    closing = _CLOSING.match(clause, ends)
    ends = closing.end() if closing else ends
    head, tail = clause[:begins].rstrip(), clause[ends:]
    found = list[Call]()
    for call in calls:
        done = call.start + max((end for _, end in call.used), default=0)
        rest = "" if _ENDING.fullmatch(clause, done, call.end) else clause[done : min(call.end, ends)]
        said = f"{clause[max(call.start, begins) : done]}{rest}".strip()
        lead = rules().commands.value_lead.search(f"{head} ") if call is not first else None
        again = lead and said.lower().startswith(lead[0].lower())
        before = head[: lead.start()].rstrip() if lead and again else head
        found.append(replace(call, words=f"{before} {said}{tail}".strip(), apart=said))
    return found


def _goes_on_from(calls: Sequence[Call], clause: Clause) -> list[list[Call]]:
    """Return what `_goes_on` does with the last call, or with each of the last ones, which are of one list."""
    last = calls[-1]
    further = _goes_on(last, clause)
    if len(further) != 1 or not last.apart:
        return [further] if further else []
    of_list = takewhile(lambda one: one.facts is last.facts and one.apart and one.lacks == last.lacks, reversed(calls))
    return [_goes_on(one, clause) for one in reversed([*of_list])]


def _goes_on(last: Call, clause: Clause) -> list[Call]:
    """Return the last call with what a clause adds to it, and calls of the same with what it says instead.

    A clause that asks for something of its own, by a verb or a question, does neither.
    """
    facts, said = last.facts, clause.text
    named = {match["name"] for match in PAIR.finditer(said)}
    if named - facts.parameters.keys():
        return []
    missing = {n: p for n, p in facts.parameters.items() if n not in last.parameters}
    [more, *_], instead = fill(said, replace(facts, parameters=missing)), fill(said, facts)
    all_used = not blanked(said, more.used).strip(_SIGNS)
    if rules().says.howto.search(said) or (requested(said) and not all_used):
        return []
    repeated = all(one.parameters.keys() & last.parameters.keys() for one in instead)
    if repeated and not instead[0].unread:
        whole = [in_declared_order({**last.parameters, **one.parameters}, facts) for one in instead]
        return [last, *(Call(facts, given, said.strip(), clause.start, clause.end) for given in whole)]
    if more.parameters:
        given = in_declared_order({**last.parameters, **more.parameters}, facts)
        words = f"{last.words}. {said.strip()}"
        return [replace(last, parameters=given, end=clause.end, words=words, unread=but_counted(last.unread, words))]
    return []


_ITEM = re.compile(r"(?m)(?:^|(?<=[\s:]))(\d{1,2})([.)])(?=\s)")


def _without_numbers(text: str) -> str:
    """Return a numbered list with a stop for each of its numbers, at the same length."""
    found = list(_ITEM.finditer(text))
    if [int(m[1]) for m in found] != list(range(1, len(found) + 1)):
        return text
    for m in found:
        text = text[: m.start()] + ";".rjust(len(m.group())) + text[m.end() :]
    return text


def in_order(text: str) -> str:
    """Return a text with what is to be done first said first: "before A, B" and "A, but first B" are B and then A."""
    if korean := rules().commands.before_korean.fullmatch(text):
        return f"{korean['first']}. 그다음 {korean['later']}해줘{korean['end']}"
    before = rules().commands.before.match(text)
    for comma in re.finditer(r",\s+", text) if before else ():
        if requested(first := text[comma.end() :].rstrip(" .")):
            return f"{first}, then {text[before.end() if before else 0 : comma.start()]}"
    late = rules().commands.but_first.search(text)
    end = late and rules().commands.part_ends.search(text, late.end())
    first = text[late.end() : end.start() if end else len(text)].rstrip(" .") if late else ""
    if late and requested(text[: late.start()]) and requested(first):
        return f"{first}, then {text[: late.start()]}{text[end.start() :] if end else ''}"
    return text


def _without_umbrella(text: str) -> str:
    """Blank what only announces a list of things to do: "clean up:" before "count, back up, delete"."""
    head, colon, tail = text.partition(": ")
    asking = [requested(part.text) for part in split(tail, ())] if requested(head) else []
    return " " * len(head + colon) + tail if sum(map(bool, asking)) > 1 else text


# On a condition ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """What a text says that has to hold for what it asks.

    Args:
        text: as it is said.
        place: where.
        of: the part of the text that it is said of.
    """

    text: str
    place: Span
    of: Span

    def governs(self, call: Call) -> bool:
        """Whether it is said of a call."""
        return self.of[0] <= call.start < self.of[1] and (call.start < self.place[0] or self.place[1] < call.end)


def conditions_in(text: str) -> list[Condition]:
    """Return what has to hold for what a text asks, in order."""
    words, found = rules().commands, list[Condition]()
    stops = [match.span() for match in _SENTENCE_END.finditer(text)]
    begins, ends = [0, *(end for _, end in stops)], [*(start for start, _ in stops), len(text)]

    def sentence_of(at: int) -> Span:
        number = bisect(begins, at) - 1
        return begins[number], ends[number]

    for match in words.condition.finditer(text):
        start, end = sentence_of(match.start())
        before, until = text[start : match.start()], words.part_ends.search(text, match.end(), end)
        led = before.rpartition(", ")[2].strip(_SIGNS)
        ahead = before.endswith("but ") or not words.lead.sub("", f"{led} ").strip()
        if match["alone"]:
            found += [Condition(match[0], match.span(), (match.start(), end))] if ahead else []
        elif ahead and until:
            place = match.start(), until.start()
            found.append(Condition(text[slice(*place)].strip(), place, (match.start(), end)))
        elif not ahead:  # of what is said right before it, back to what comes earlier
            place = match.start(), until.start() if until else end
            earlier = [one.end() for one in words.part_ends.finditer(before) if one[0] not in (",", ":")]
            found.append(Condition(text[slice(*place)].strip(), place, (start + max(earlier, default=0), place[0])))
    for match in words.condition_korean.finditer(text):
        start, end = sentence_of(match.start())
        at = max((one.end() for one in words.condition_begins.finditer(text, start, match.start())), default=start)
        if topic := words.condition_topic.match(text, at, match.end()):
            at = topic.end()
        found.append(Condition(text[at : match.end()].strip(), (at, match.end()), (start, end)))
    return sorted((one for one in found if one.text), key=lambda one: one.place)


# By name -------------------------------------------------------------------------------------------------------------


def spoken_name(name: str) -> Expression:
    """Return an expression for a name as people write it: `clean-logs`, `clean the logs`, "로그를 정리"."""
    parts = re.split("[-_ ]", name)
    if _KOREAN.search(parts[-1]):
        spoken = r"[을를의]?\s?".join(map(re.escape, parts))
        return re.compile(rf"(?<![\w./-]){spoken}(?=[을를도만은는과와랑하한할해]|[^\w]|$)")
    spoken = r"(?:[-_ ]|\s(?:the|my|our|all|all the|a|one)\s)".join(map(re.escape, parts))
    return re.compile(rf"(?<![A-Za-z0-9_./-]){spoken}(?![A-Za-z0-9_/-]|\.\w)", re.IGNORECASE)


def _mentions(text: str, known: Mapping[str, CommandFacts], trusted: bool) -> list[_Mention]:
    """Return what is named, and where, in order; a longer name goes before one that is part of it.

    A single word may mean anything, so what isn't trusted has to be called by it.
    """
    taken = [m.span("value") for m in PAIR.finditer(text)]
    found: list[_Mention] = []
    programs = Counter(program for facts in known.values() for program in facts.runs)
    ran = {run: name for name, facts in known.items() for run in facts.runs if programs[run] == 1}
    called = {spoken: name for name, facts in known.items() for spoken in facts.spoken if spoken not in known}
    called |= {name: name for name in known}
    for spoken in (*sorted(called, key=len, reverse=True), *sorted(ran.keys() - called, key=len, reverse=True)):
        name = called.get(spoken) or ran[spoken]
        for match in spoken_name(spoken).finditer(text):
            before, after = text[: match.start()], text[match.end() : match.end() + 30]
            asked = rules().commands.run_before.search(before) or rules().commands.run_after.match(after)
            plainly = any(sign in spoken for sign in "-_") or text.strip() == spoken
            named = spoken in called and (trusted or plainly)
            if (asked or named) and not overlaps(match.span(), taken):
                found.append(_Mention(name, match.span()))
                taken.append(match.span())
    return sorted(found, key=lambda m: m.place)


def _named_in(
    clause: Clause, mentions: Sequence[_Mention], known: Mapping[str, CommandFacts]
) -> tuple[_Verdict, list[_Mention]]:
    """Return what a clause says first of names in it, and all those of which it says that, where they first stand."""
    lists: list[list[_Mention]] = []
    for mention in (m for m in mentions if clause.start <= m.place[0] and m.place[1] <= clause.end):
        one = _Mention(mention.name, (mention.place[0] - clause.start, mention.place[1] - clause.start))
        if lists and listed(clause.text[lists[-1][-1].place[1] : one.place[0]]):
            lists[-1].append(one)
        else:
            lists.append([one])
    said = [(_verdict(clause.text, names, known), names) for names in lists]
    first = next((verdict for verdict, _ in said if verdict is not _Verdict.NOTHING), _Verdict.NOTHING)
    found: list[_Mention] = []
    for names in (names for verdict, names in said if verdict is first):
        before = {one.name for one in found}
        found += [one for one in names if one.name not in before]
    return first, found


def _verdict(clause: str, named: Sequence[_Mention], known: Mapping[str, CommandFacts]) -> _Verdict:
    """Return what a clause says of names that stand in one list."""
    asked, howto, facts = rules().commands, rules().says.howto, known[named[-1].name]
    place = (named[0].place[0], named[-1].place[1])
    before, after = clause[max(0, place[0] - 60) : place[0]], clause[place[1] : place[1] + 60]
    team = rules().commands.team.match(after)
    rest = after[team.end() :] if team else after
    if rules().denied(before, rest):
        return _Verdict.NEGATED
    if howto.search(before) or asked.done.search(clause):
        return _Verdict.NOTHING
    if asked.run_before.search(before) or (asked.with_team.search(before) and (team or facts.own)):
        return _Verdict.CALLED
    rest = PAIR.sub("", rest)
    if asked.statement.match(rest.rstrip("? ")):
        return _Verdict.NOTHING
    alone = not asked.lead.sub("", f"{clause[: place[0]].strip(_SIGNS)} ").strip()  # only what leads over to it
    if asked.run_after.search(rest.lstrip()) or team or (alone and facts.takes_words and after.strip(_SIGNS)):
        return _Verdict.CALLED
    start = named[-1].place[0] if named[1:] else 0
    said, names = clause[start:], [(named[-1].place[0] - start, named[-1].place[1] - start)]
    [call, *_] = fill(said, facts, names)
    given, all_read = bool(call.used), not call.unread
    if (given and all_read) or (alone and (given or all_read)):
        return _Verdict.CALLED
    # One word may mean anything.
    return _Verdict.UNCLEAR if any(sign in facts.name for sign in "-_") else _Verdict.NOTHING


def _refuse_undeclared(clause: str, known: Mapping[str, CommandFacts]) -> None:
    for expression in (rules().commands.unknown, rules().commands.unknown_korean):
        match = expression.search(clause)
        if match and ("-" in match["name"] or "_" in match["name"] or match["rest"].strip()):
            near = nearest(match["name"], known)
            names = ", ".join(sorted(known)) or "none"
            hint = Message('; did you mean "{}"?', near) if near else Message("; declared are: {}.", names)
            raise PlanError(Message('No declared command "{}"{}', match["name"], hint))


# By what it does -----------------------------------------------------------------------------------------------------


def by_deed(clause: str, known: Mapping[str, CommandFacts]) -> str:
    """Return the command or team that does what a clause asks for; empty for none.

    Words that few of them say count for more. At least half of what the clause says besides its verb has to be what
    a command says of itself, or be one of its arguments. A question calls a team only where it gives all it needs.
    """
    vocabularies = {name: lexicon().vocabulary(facts) for name, facts in known.items()}
    words = [*_words(clause)]
    scores = {name: _score(clause, words, facts, vocabularies) for name, facts in known.items()}
    most = max(scores.values(), default=0.0)
    best = sorted(name for name, score in scores.items() if score > max(0.0, most - 0.01))
    if len(best) > 1:
        raise BadInput(
            Message("Several declared commands could be meant: {}; name one.", ", ".join(best)),
            help=Message('For example: "run {}"', best[0]),
        )
    return best[0] if best else ""


def _score(
    clause: str, words: Sequence[tuple[Span, str]], facts: CommandFacts, vocabularies: Mapping[str, frozenset[str]]
) -> float:
    wanted, asking = requested(clause), rules().says.howto.search(clause) is not None
    own, part = vocabularies[facts.name], _HALF
    all_found = [lexicon().found(word, own) for _, word in words]
    deeds, begins = wanted & lexicon().deeds(facts), lexicon().concepts(next(iter(name_words(facts.description)), ""))
    if not deeds and (deeds := wanted & begins):
        part = 1.0  # "write" says little: what is to be written has to be the same
    takes = facts.own or any(p.needed for p in facts.parameters.values())
    strange = any(match["name"] not in facts.parameters for match in PAIR.finditer(clause))
    if strange or rules().commands.how.search(clause) or _was_done(clause, facts):
        return 0.0
    if _describes(clause, facts):
        return _DESCRIBED
    if (asking or not deeds) and not takes:
        return 0.0
    if not (deeds or any(all_found)):  # most of hundreds of tools
        return 0.0
    calls = _each(clause, facts, [])
    used = _used(calls)
    given = [g.place for g in given_in(clause)]
    lacks = any(facts.parameters[name].type == "string" for name in calls[0].lacks)
    beside = _counted(clause, given) if deeds and lacks else []
    matched = total = 0.0
    for (place, word), found in zip(words, all_found, strict=True):
        found = found or unit_in(word, facts)
        meant = lexicon().concepts(word)
        if meant & wanted or (part < 1.0 and meant & lexicon().looking and not meant & own):
            continue
        if not found and overlaps(place, [*given, *used]):
            continue
        found = found or (frozenset([word]) if place in beside else found)
        said = sum(bool(found & vocabulary) for vocabulary in vocabularies.values())
        weight = 1.0 + (1.0 / said if said else 0.0)
        total, matched = total + weight, matched + (weight if found else 0.0)
    if total and matched < max(part * total, 0.01):
        return 0.0
    if deeds and not asking:
        fits = sum(overlaps(g, used) for g in given) - len(calls[0].lacks)
        return 4.0 * len(deeds) + matched + len(deeds & lexicon().meant(facts.name)) + 0.5 * fits
    # What says nothing but what it is and what it is given asks for it where it tells to do something.
    first = _begun(clause).partition(" ")[0]
    tells = rules().commands.request.search(clause) or rules().commands.told.fullmatch(first)
    told = not asking and (matched == total or used) and tells
    return matched if told or _complete(clause, calls) else 0.0


def _was_done(clause: str, facts: CommandFacts) -> bool:
    """Whether a clause tells or asks that something was done which something that can be called does."""
    past = (
        word for word in re.findall(r"[가-힣]+", clause) if is_past(word) and not rules().commands.wish.search(word)
    )
    deeds = lexicon().deeds(facts)
    return any(lexicon().concepts(word) & deeds for word in past) or rules().commands.done.search(clause) is not None


def _describes(clause: str, facts: CommandFacts) -> bool:
    """Whether a clause says what something that can be called says of itself, and nothing else but what it is given."""
    described = _SENTENCE_END.split(facts.description.strip())[0]
    said = WORD.findall(_begun(blanked(clause, [one.place for one in given_in(clause)])))
    known = WORD.findall(described.lower())
    left = Counter(said) - Counter(known)
    own, others = ([word for word in words if lexicon().plain(word)] for words in (known, left))
    new = [word for word in others if not any(_same(word, one) for one in own)]
    lost = [word for word in own if not any(_same(word, one) for one in said)]
    told = (rules().commands.determiner.fullmatch(word) for word in left if not lexicon().plain(word))
    return bool(own[1:]) and not new and not lost and all(told)


def _same(one: str, other: str) -> bool:
    return bool(lexicon().concepts(lexicon().plain(one)) & lexicon().concepts(lexicon().plain(other)))


def _used(calls: Sequence[Call]) -> list[Span]:
    """Return the places of a clause that gave its calls something."""
    return [(call.start + start, call.start + end) for call in calls for start, end in call.used]


def _counted(clause: str, given: Sequence[Span]) -> list[Span]:
    """Return the words right beside numbers, which say what is counted."""
    words = [match.span() for match in re.finditer(r"[A-Za-z가-힣]+", clause)]
    spaces = ((place, clause[place[1] : start], clause[end : place[0]]) for place in words for start, end in given)
    return [place for place, behind, before in spaces if behind == " " or before in (" ", " of ")]


def _complete(clause: str, calls: Sequence[Call]) -> bool:
    """Whether a clause gives all that its calls need and nothing that they don't take, by more than words left over."""
    given, paths = given_in(clause), rules().kinds["path"]
    files, texts = ([g.value for g in given if g.kind == kind] for kind in ("path", "text"))
    for name, value in (pair for call in calls for pair in call.parameters.items()):
        parameter = calls[0].facts.parameters[name]
        named = of_kind(name_words(f"{name} {parameter.description}"), paths)
        if (value in files and parameter.type != "path" and not named) or (value in texts and parameter.type == "path"):
            return False
    places = _used(calls)
    used = [overlaps(g.place, places) for g in given]
    said = any(used) or any(clause[start].isupper() for start, _ in places)
    return said and all(used) and not any(call.lacks for call in calls)


def _words(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the words of a clause that say what is meant, and where they stand, without their particles."""
    text = blanked(text, [m.span() for m in rules().commands.modifiers.finditer(text)])
    for match in re.finditer(r"[A-Za-z가-힣]+", text):
        word = lexicon().plain(match.group())
        spoken = lexicon().concepts(word) & (lexicon().verbs | lexicon().nouns)
        if len(word) > 1 and (spoken or not rules().commands.request.search(word)):
            yield match.span(), word


_FINDS = frozenset({"lookup", "list", "fetch"})
"""Verbs of rules.toml that ask for what there is."""
_VERB = re.compile(r"([a-z]+)([- ]up)?")


def _begun(clause: str) -> str:
    """Return a clause from the word that tells what to do, in lower case."""
    return rules().commands.lead.sub("", clause.strip(_SIGNS).lower())


def requested(clause: str) -> frozenset[str]:
    """Return what a clause asks to be done ("지워줘", "delete …"); a way to do it is none, nor is what was done."""
    verbs = lexicon().verbs
    plain = _begun(clause)
    first, korean = _VERB.match(plain), _KOREAN.search(clause)
    if first and not korean:
        if first[1].endswith("ed"):
            return frozenset()
        said = [first[1], f"{first[1]}up" if first[2] else ""]
        return frozenset(c for word in said for c in lexicon().concepts(word) & verbs)
    if rules().says.howto.search(clause):
        return frozenset()
    asked: set[str] = set()
    for match in re.finditer(r"[가-힣]+", clause):
        tail = _until_question_word(clause[match.end() : match.end() + 20])
        last = not clause[match.end() :].strip(_SIGNS) and _until_question_word(clause) == clause
        topic = match.group()[-1] in "은는" and lexicon().bare(match.group()) != match.group()
        requests = (last and not topic) or rules().commands.request.search(match.group()[1:] + tail)
        carrier = next((w for w in re.findall(r"[가-힣]+", tail) if rules().commands.request.search(w[1:])), "")
        if lexicon().concepts(carrier) & _FINDS:
            continue  # it is what is to be found or shown
        past = is_past(match.group()) and not rules().commands.wish.search(match.group())
        if past or any(says.search(match.group()) for says in (rules().commands.adnominal, rules().commands.happens)):
            continue  # it says which, what was done, or what happens
        if requests and not rules().commands.negated_deed.search(match.group()[2:] + tail):
            asked |= lexicon().concepts(match.group()) & verbs
    return frozenset(asked)


def _until_question_word(text: str) -> str:
    """Return a text up to where it asks something: "비우면 몇 점 줘?" asks for points, "얼마 있다 보내?" for a time."""
    asks = next((word for word in re.finditer(r"[가-힣]+", text) if is_question_word(word[0])), None)
    return text[: asks.start()] if asks else text


def carries_out(clause: str) -> bool:
    """Whether a clause tells to carry something out or to give it another place, whatever it is."""
    asked = rules().commands
    told = asked.carries_out.match(_begun(clause)) or asked.carries_out_korean.search(clause)
    return bool(told) and not _is_question(clause)


def acts(clause: str, *, beside: bool = False) -> bool:
    """Whether a clause tells to do something, rather than asks or tells to find it out.

    Args:
        beside: it names steps that something goes beside, so that what only checks or makes something is done there.
    """
    if _is_question(clause):
        return False
    if not (beside and _KOREAN.search(clause)):
        return bool(requested(clause) - (lexicon().knowing if beside else lexicon().looking))
    meant = (lexicon().concepts(lexicon().plain(word)) for word in WORD.findall(clause))
    return rules().commands.request.search(clause) is not None and lexicon().knowing.isdisjoint(chain(*meant))


def _is_question(clause: str) -> bool:
    asks = "?" in clause and not rules().revise.polite.search(clause)
    return asks or rules().says.howto.search(clause) is not None


def deeds_asked(text: str) -> tuple[str, ...]:
    """Return the clauses that ask that something be done to something, declared or not."""
    return tuple(part.text.strip() for part in split(text, ()) if _is_deed(part.text))


def _is_deed(clause: str) -> bool:
    """Whether a clause asks that something be done, and says to what: a thing, a file, or what is put as one.

    In English that stands right behind the verb: "cancel policy for guests" asks for nothing to be cancelled. Nor does
    "and cancels 10 hours before", which tells of somebody.
    """
    begun = _begun(clause)
    put = rules().commands.to_something.search(begun)
    plain = blanked(begun, [m.span() for m in rules().commands.modifiers.finditer(begun)])
    verb = None if _KOREAN.search(begun) else _VERB.match(begun)
    if verb and rules().commands.tells.search(verb[0]):
        return False
    words = WORD.finditer(plain, verb.end() if verb else 0)
    files = [given.place for given in given_in(begun) if given.kind == "path"]
    said = takewhile(lambda word: not (verb and word[0] in lexicon().empty), words)
    nouns = lexicon().nouns
    thing = any(overlaps(w.span(), files) or lexicon().concepts(lexicon().plain(w[0])) & nouns for w in said)
    # After a Korean object a word that asks tells a request from a statement; an English one begins with its verb.
    named = thing or (put and (not put.start() or rules().commands.request.search(begun, put.end())))
    wanted = _changes(clause)
    # A summary or a comparison that is to be written is looked for, as one that is asked for is.
    looks = any(lexicon().concepts(lexicon().plain(w)) & lexicon().looking for w in WORD.findall(begun))
    return bool(named and wanted) and not (wanted == {"write"} and looks)


def _changes(clause: str) -> frozenset[str]:
    """Return what a clause asks for that is more than to look at something."""
    return requested(clause) - lexicon().looking
