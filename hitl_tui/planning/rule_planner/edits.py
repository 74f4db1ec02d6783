"""What a text asks of a plan: edits, each an operation on the steps that it names.

A sentence is read as marks in a row: names of steps (by kind, id or command) and words for an operation. Such a word
stands before its steps (English "skip", "add") or after them (Korean, and English "first", "too"), so a sentence is cut
where a word before its steps follows some, and where steps follow a word after its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from hitl_tui.planning.rule_planner.calls import spoken_name
from hitl_tui.planning.rule_planner.query_reader import WHOLE_WORD, WORD, report_subject, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules
from hitl_tui.planning.rule_planner.values import Span, blanked, overlaps


class Operation(StrEnum):
    """What is to be done with steps; where a text says several, the first of them counts."""

    KEEP = "keep"
    ONLY = "only"
    REMOVE = "remove"
    SKIP = "skip"
    INSTEAD = "instead"
    BEFORE = "before"
    AFTER = "after"
    ADD = "add"
    CHANGE = "change"
    RANK = "rank"
    ASK = "ask"
    ORDER = "order"


RELATIONS = frozenset({Operation.INSTEAD, Operation.BEFORE, Operation.AFTER})
"""Operations whose steps are where something else goes."""
LEAVES = (Operation.REMOVE, Operation.SKIP)
LEVELS = ("first", "last")
"""Words that put a step at an end of the plan, by their names in rules.toml."""
_ROW = re.compile(r"(?:,|,? and| with| &) (?:the )?")
_UP_TO = re.compile(r" (?:(?:the|order|of) ){0,3}")
_OBJECT = 5
"""Words between an English verb and what it is about, and the verb."""
_NEAR = 3
"""Characters between two words next to each other: an article or a particle."""
_LONGEST = 400
"""Characters of what else a part of a sentence says."""


@dataclass(frozen=True, slots=True)
class Named:
    """Steps as a text names them: by kind, by the number of the TODO, by what they call or by the place in the plan.

    By nothing all are.
    """

    need: Need | None = None
    number: int = 0
    command: str = ""
    nth: int = 0

    @property
    def one(self) -> bool:
        """Whether it is exactly one step, by its number or place."""
        return bool(self.number or self.nth)


EVERYTHING = Named()


@dataclass(frozen=True, slots=True)
class Edit:
    """What a text wants of some steps.

    Args:
        operation: what is wanted; None for nothing. `ASK` is a weak `ADD`.
        level: `first` or `last` of the plan.
        subject: what else is said; empty where that has no content.
    """

    operation: Operation | None
    steps: tuple[Named, ...]
    level: str = ""
    subject: str = ""
    place: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class _Mark:
    """The name of a step, or a word for an operation, which stands before or after its steps."""

    place: Span
    named: Named | None = None
    kind: str = ""
    after: bool = False


def edits_in(
    sentence: str, commands: Mapping[str, frozenset[str]], deeds: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> list[Edit]:
    """Return what a sentence wants of the steps it names, in order.

    Args:
        commands: the names of what can be called, with what the words mean that name a step of the plan, too.
        deeds: what each of those that the plan calls says of itself.
    """
    found: list[Edit] = []
    marks = _marks(sentence, commands, deeds)
    parts = [part for whole in _parts(marks) for part in _apart_from_anchors(sentence, whole)]
    for index, part in enumerate(parts):
        start = parts[index - 1][-1].place[1] if index and _follows(parts[index - 1]) else part[0].place[0]
        end = parts[index + 1][0].place[0] if index + 1 < len(parts) else len(sentence)
        compared = [match.start() for match in rules().revise.compares.finditer(sentence)]
        besides = [mark.place for mark in marks if mark.place[0] not in compared]
        said = _subject(sentence, (start if index else 0, end), besides)
        if any(mark.named for mark in part):
            found.append(_edit(sentence, part, said, commands))
    if len(parts) > 1 and rules().revise.both.search(sentence):
        found = [replace(edit, operation=found[-1].operation) for edit in found]
    return found


def _parts(marks: Sequence[_Mark]) -> Iterator[list[_Mark]]:
    """Yield the marks of each part of a sentence that has one operation."""
    part: list[_Mark] = []
    for mark in marks:
        names = any(one.named for one in part)
        if names and ((mark.named and _follows(part)) or not (mark.named or mark.after)):
            yield part
            part = []
        if names or not mark.after:
            part.append(mark)
    if part:
        yield part


def _apart_from_anchors(sentence: str, part: list[_Mark]) -> Iterator[list[_Mark]]:
    """Yield a part in two where it says of some steps that they go before, after or in the place of others.

    Those others stand next to the word that says so: behind it in English, before it in Korean.
    """
    cue = next((mark for mark in part if mark.kind in RELATIONS), None)
    names = [mark for mark in part if mark.named]
    if cue is None or not names:
        yield part
        return
    row = [mark for mark in reversed(names) if mark.place < cue.place] if cue.after else names
    joined = 1
    while joined < len(row) and row[joined].named == row[0].named:
        joined += 1
    while joined < len(row) and rules().revise.joint.fullmatch(_between(sentence, row[joined - 1], row[joined])):
        joined += 1
    anchors = {*row[:joined], cue}
    rest = [mark for mark in part if mark not in anchors]
    found = [[mark for mark in part if mark in anchors], rest]
    yield from (part for part in sorted(found, key=lambda p: p[0].place if p else ()) if part)


def _between(sentence: str, one: _Mark, other: _Mark) -> str:
    first, second = sorted((one.place, other.place))
    return sentence[first[1] : second[0]].strip()


def _follows(part: Sequence[_Mark]) -> bool:
    return any(mark.after for mark in part)


def _edit(sentence: str, part: Sequence[_Mark], subject: str, commands: Mapping[str, frozenset[str]]) -> Edit:
    """Return the edit of a part of a sentence that names steps."""
    steps = tuple(dict.fromkeys(mark.named for mark in part if mark.named))
    asking = "?" in sentence and not rules().revise.polite.search(sentence)
    kinds = {mark.kind for mark in part if mark.kind} - ({"ask"} if asking else set())
    level = next((mark.kind for mark in part if mark.kind in LEVELS), "")
    kinds |= {"order"} if level else set()
    if not kinds and not asking and (not subject or rules().revise.imperative.match(sentence)):
        kinds = {"ask"}
    operation = next((o for o in Operation if o in kinds and not (o is Operation.CHANGE and level)), None)
    if "only" in kinds and not kinds.isdisjoint(LEAVES) and not rules().revise.left.search(sentence):
        operation = Operation.REMOVE  # that alone, and nothing else, goes
    denied = " ".join(sentence[slice(*mark.place)] for mark in part if mark.kind == Operation.KEEP)
    deed = lexicon().meant(denied)
    if operation is Operation.KEEP and all(commands.get(step.command, frozenset()) & deed for step in steps):
        operation = Operation.REMOVE  # what isn't to be done is what the step does
    place = (part[0].place[0], part[-1].place[1])
    return Edit(operation, steps, level, subject, place)


def _subject(sentence: str, place: Span, marks: Sequence[Span]) -> str:
    """Return what a part of a sentence says besides its marks; empty where that has no content."""
    tails = (
        (end, end + len(tail.group())) for _, end in marks if (tail := rules().revise.particle.match(sentence[end:]))
    )
    rest = " ".join(blanked(sentence, [*marks, *tails])[slice(*place)].split())
    words = rules().revise.around.sub("", rest).split()
    if not terms_of(" ".join(words)):
        return ""
    return " ".join([*words[:-1], lexicon().bare(words[-1])])[:_LONGEST]


def _marks(sentence: str, commands: Mapping[str, frozenset[str]], deeds: Mapping[str, frozenset[str]]) -> list[_Mark]:
    """Return the names of steps in a sentence and the words for operations, in order."""
    revise = rules().revise
    actions = [
        _Mark(place, kind=kind, after=after)
        for kind, action in rules().actions.items()
        for place, after in action.found_in(sentence)
    ]
    actions += [_Mark(m.span(), kind="order", after=not m[0].isascii()) for m in revise.reverse.finditer(sentence)]
    kinds = [_Mark(m.span(), Named(need)) for need, e in rules().targets.items() for m in e.finditer(sentence)]
    named = [_Mark(m.span(), Named(Need.RUN, command=n)) for n in commands for m in spoken_name(n).finditer(sentence)]
    there = any(action.kind not in ("add", "ask") for action in actions)
    orders = (revise.sequence, *rules().strategy.values())
    there = there or any(one.search(sentence) for one in orders)
    subject = report_subject(sentence)  # what is said there is what a report is on
    said = sentence.replace(subject, " " * len(subject), 1)
    for match in WHOLE_WORD.finditer(said) if there else ():
        meant = lexicon().concepts(lexicon().plain(re.sub("[ -]", "", match.group())))
        deed = frozenset() if meant & lexicon().verbs else _deed_on(sentence, match.span(), actions)
        called = [name for name, words in commands.items() if words & meant and (not deed or words & deed)]
        named += [_Mark(match.span(), Named(Need.RUN, command=name)) for name in called if len(called) == 1]
    told = [mark.place[1] for mark in actions if mark.kind not in ("add", "change", "rank")]

    def behind(match: re.Match[str]) -> bool:
        """Whether something stands behind what changes the plan, or in a row behind a number or place of a step."""
        others = [mark.place[1] for mark in named if mark.named and mark.named.one]
        rows = any(_ROW.fullmatch(sentence, end, match.start()) for end in others)
        return rows or any(_UP_TO.fullmatch(sentence, end, match.start()) for end in told)

    for match in revise.number.finditer(sentence):
        if behind(match) if match["bare"] else actions or there or match["todo"] or match["step"]:
            named.append(_Mark(match.span(), Named(number=next(int(v) for v in match.groupdict().values() if v))))
    for match in revise.nth.finditer(sentence):
        if behind(match) if match[0].isascii() else actions:
            named.append(_Mark(match.span(), Named(nth=int(str(match.lastgroup)[1:]))))
            actions = [mark for mark in actions if not overlaps(mark.place, [match.span()])]
    named += [_Mark(m.span(), EVERYTHING) for m in revise.everything.finditer(sentence)]
    # A word that names a step isn't what is to be done next to what says where that goes; nor is a command's verb.
    places = [mark for mark in actions if mark.kind in (*RELATIONS, *LEVELS)]

    def names(mark: _Mark) -> bool:
        named_too = any(overlaps(mark.place, [one.place]) for one in named)
        return named_too and any(len(_between(sentence, mark, one)) <= _NEAR for one in places)

    calls = [mark for mark in actions if mark.kind == Operation.REMOVE and _calls(sentence, mark.place, deeds)]
    actions = [mark for mark in actions if mark in places or not (mark in calls or names(mark))]
    named = [mark for mark in named if not _does_it(sentence, mark, actions, named)]
    starts = {mark.place[0] for mark in (*actions, *kinds, *named)}
    named += [mark for mark in kinds if _stands_alone(sentence, mark.place, starts)]
    return sorted([*_apart(actions), *_apart(named)], key=lambda mark: mark.place)


def _does_it(sentence: str, one: _Mark, actions: Sequence[_Mark], named: Sequence[_Mark]) -> bool:
    """Whether an English verb that could name a step says what is done with the step that is named behind it.

    "remove the counting" names one step, "delete and count aren't needed" two.
    """
    deeds = [mark for mark in actions if not (mark.after or mark.kind in (*RELATIONS, *LEVELS))]
    if not any(overlaps(mark.place, [one.place]) for mark in deeds):
        return False
    behind = (mark for mark in (*actions, *named) if mark.place[0] >= one.place[1])
    other = min(behind, key=lambda mark: mark.place, default=None)
    if other is None or other.named in (None, EVERYTHING):
        return False
    return rules().revise.joint.fullmatch(_between(sentence, one, other)) is None


def _calls(sentence: str, place: Span, deeds: Mapping[str, frozenset[str]]) -> bool:
    """Whether a verb stands with the object of a command that does so: "delete the records"."""
    verb = sentence[slice(*place)]
    rest = sentence[place[1] :] if verb.isascii() else " ".join(reversed(sentence[: place[0]].split()))
    words = (lexicon().concepts(word) for match in WORD.finditer(rest) if (word := lexicon().plain(match.group())))
    meant, deed = next(words, frozenset[str]()), lexicon().meant(verb) & lexicon().verbs
    return any(deed & said and meant & (said - deed) for said in deeds.values())


def _deed_on(sentence: str, place: Span, actions: Sequence[_Mark]) -> frozenset[str]:
    """Return what is to be done with a thing that a sentence names, where a word near it says so."""
    words = list(WORD.finditer(sentence))
    if sentence[slice(*place)].isascii():
        near = [word for word in reversed(words) if word.end() <= place[0]][:_OBJECT]
    else:
        near = [word for word in words if word.start() >= place[1]][:1]
    for word in near:
        if overlaps(word.span(), [mark.place for mark in actions]):
            break
        if deed := lexicon().concepts(lexicon().plain(word.group())) & lexicon().verbs:
            return deed
    return frozenset()


def _apart(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the marks of which none overlaps another one: the longer one counts."""
    kept: list[_Mark] = []
    for one in sorted(marks, key=lambda m: (m.place[0] - m.place[1], m.place)):
        if not overlaps(one.place, [k.place for k in kept]):
            kept.append(one)
    return kept


def _stands_alone(sentence: str, place: Span, starts: Collection[int]) -> bool:
    """Whether a Korean word names a step, not a part of what another step is about ("보고서 양식 검색")."""
    if sentence[slice(*place)].isascii() or rules().revise.particle.match(sentence[place[1] : place[1] + 20]):
        return True
    filler = rules().revise.filler.match(sentence, place[1])
    after = filler.end() if filler else place[1]
    return bool({place[1], after} & set(starts)) or not sentence[after : after + 1].isalnum()
