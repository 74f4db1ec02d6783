"""What a text asks of a plan, as edits: which steps it names, and what is to become of each.

A sentence is read as marks in a row: names of steps (by kind, id or command) and words that say what is to be done. A
word stands before its steps (English "skip", "add") or after them (Korean, and English "first", "too"); so it ends
where the next step of another word begins, and what a list joins shares one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from hitl_tui.planning.rule_planner.calls import spoken_name
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.query_reader import terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, Rules
from hitl_tui.planning.rule_planner.values import blanked

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")


class Verb(StrEnum):
    """What is to be done with steps; where a text says several, the first of them counts."""

    KEEP = "keep"
    REMOVE = "remove"
    SKIP = "skip"
    AFTER = "after"
    ADD = "add"
    CHANGE = "change"
    ASK = "ask"
    ORDER = "priority"


@dataclass(frozen=True, slots=True)
class Edit:
    """One step that a text names, and what it wants of it.

    Args:
        verb: what is wanted; None for nothing. `ASK` is a weak `ADD`.
        level: the priority that is wanted, or `first`.
        need: the kind of step, if it is named so.
        number: number of the TODO, if it is named so; 0 otherwise.
        command: the command or team, if it is named so.
        everything: all that is left.
        subject: what it is to be about; empty when nothing is said.
        again: one more of what there is.
        said: the sentence without names of steps, and without what is to be done.
    """

    verb: Verb | None = None
    level: str = ""
    need: Need | None = None
    number: int = 0
    command: str = ""
    everything: bool = False
    subject: str = ""
    again: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    target: Edit | None = None
    kind: str = ""
    level: str = ""
    after: bool = False


@dataclass(slots=True)
class _Group:
    """Steps that stand together, with the words before and after them."""

    before: list[_Mark] = field(default_factory=list)
    targets: list[_Mark] = field(default_factory=list)
    after: list[_Mark] = field(default_factory=list)


def edits_in(text: str, commands: Mapping[str, CommandFacts], rules: Rules) -> list[list[Edit]]:
    """Return what each sentence of a text wants; sentences that name no step are left out."""
    sentences = [s for s in _SENTENCE.split(text) if s.strip()]
    marked = [(s, _targets(s, commands, rules)) for s in sentences]
    found = [_edits(sentence, targets, rules) for sentence, targets in marked if targets]
    named = all(m.target and m.target.need for _, targets in marked for m in targets)
    rest = [terms_of(s, rules, [(m.start, m.end) for m in targets]) for s, targets in marked]
    if "?" not in text and named and not any(rest) and not any(e.verb for edits in found for e in edits):
        return [[replace(edit, verb=Verb.ASK) for edit in edits] for edits in found]
    return found


def names_step(text: str, rules: Rules) -> bool:
    """Whether a text names a step by its kind or id."""
    return bool(rules.revise.number.search(text)) or any(t.search(text) for t in rules.revise.targets.values())


def _edits(sentence: str, targets: Sequence[_Mark], rules: Rules) -> list[Edit]:
    actions = _actions(sentence, rules)
    asking = "?" in sentence and not rules.revise.polite.search(sentence)
    again = bool(rules.revise.again.search(sentence))
    borders = [(m.start, m.end) for m in (*actions, *targets)]
    tails = ((m.end, rules.revise.particle.match(sentence[m.end : m.end + 20])) for m in targets)
    told = blanked(sentence, [*borders, *((end, end + len(tail.group())) for end, tail in tails if tail)])
    edits = []
    for group in _groups(targets, actions):
        for place, mark in enumerate(group.targets):
            gaps = (sentence[one.end : other.start] for one, other in pairwise(group.targets[place:]))
            listed = all(rules.revise.listing.search(gap) for gap in gaps)
            said = [*(group.after if listed else ()), *group.before]
            kinds = {m.kind for m in said} - ({"ask"} if asking else set())
            if not kinds and not asking and _imperative(sentence, mark, rules):
                kinds = {"ask"}
            level = next((m.level for m in said if m.level), "")
            verb = next((v for v in Verb if v in kinds and not (v is Verb.CHANGE and level)), None)
            subject = _subject(sentence, mark, borders, rules) if verb in (Verb.ADD, Verb.ASK) else ""
            if mark.target:
                edits.append(replace(mark.target, verb=verb, level=level, subject=subject, again=again, said=told))
    return edits


def _groups(targets: Sequence[_Mark], actions: Sequence[_Mark]) -> list[_Group]:
    groups = [_Group()]
    for mark in sorted((*targets, *actions), key=lambda m: m.start):
        last = groups[-1]
        if last.targets and ((mark.target and last.after) or not (mark.target or mark.after)):
            last = _Group()
            groups.append(last)
        if mark.target:
            last.targets.append(mark)
        elif not mark.after:
            last.before.append(mark)
        elif last.targets:
            last.after.append(mark)
    return groups


def _actions(sentence: str, rules: Rules) -> list[_Mark]:
    """Return the words that say what is to be done; where two overlap the longer one counts."""
    found = [
        _Mark(*match.span(), kind=action.kind, level=action.level, after=after)
        for action in rules.revise.actions
        for expression, after in ((action.before, False), (action.after, True))
        if expression
        for match in expression.finditer(sentence)
    ]
    kept: list[_Mark] = []
    for one in sorted(found, key=lambda m: (m.start - m.end, m.start)):
        if all(one.end <= k.start or one.start >= k.end for k in kept):
            kept.append(one)
    return kept


def _targets(sentence: str, commands: Mapping[str, CommandFacts], rules: Rules) -> list[_Mark]:
    """Return the steps that a sentence names, without words of what a step is about."""
    named = [(m, Edit(need=Need.RUN, command=name)) for name in commands for m in spoken_name(name).finditer(sentence)]
    numbers = ((m, next(int(v) for v in m.groupdict().values() if v)) for m in rules.revise.number.finditer(sentence))
    named += [(m, Edit(number=number)) for m, number in numbers]
    named += [(m, Edit(everything=True)) for m in rules.revise.everything.finditer(sentence)]
    named += [(m, Edit(need=need)) for need, e in rules.revise.targets.items() for m in e.finditer(sentence)]
    found = sorted((_Mark(*m.span(), edit) for m, edit in named), key=lambda m: (m.start, -m.end))
    kept: list[_Mark] = []
    blocked = 0
    for index, mark in enumerate(found):
        if mark.start < blocked or not _stands_alone(sentence, mark, found[index + 1 :], rules):
            continue
        blocked = _object(sentence, mark, rules)[1]
        last = kept[-1] if kept else None
        if last and last.target == mark.target and not sentence[last.end : mark.start].strip():
            kept.pop()  # "비교 분석" is one step
            mark = replace(mark, start=last.start)
        kept.append(mark)
    return kept


def _stands_alone(sentence: str, mark: _Mark, later: Sequence[_Mark], rules: Rules) -> bool:
    """Whether a Korean word names a step, not a part of what another step is about ("보고서 양식 검색")."""
    kind_only = mark.target is not None and mark.target.need is not None and not mark.target.command
    if not kind_only or sentence[mark.start : mark.end].isascii():
        return True
    if rules.revise.particle.match(sentence[mark.end : mark.end + 20]):
        return True
    filler = rules.revise.filler.match(sentence, mark.end)
    after = filler.end() if filler else mark.end
    follows = any(m.start == after for m in later) or any(
        a.after is not None and a.after.match(sentence, after) for a in rules.revise.actions
    )
    return follows or not sentence[after : after + 1].isalnum()


def _imperative(sentence: str, mark: _Mark, rules: Rules) -> bool:
    """Whether an English verb opens the sentence: "compare …", "please search …"."""
    opening = sentence[: mark.start].strip()
    verb = rules.revise.subject_verb.match(sentence[mark.start : mark.end])
    return verb is not None and not rules.commands.lead.sub("", f"{opening} " if opening else "").strip()


def _subject(sentence: str, mark: _Mark, borders: Sequence[tuple[int, int]], rules: Rules) -> str:
    """Return what a step is to be about: in English what stands after it, in Korean before."""
    said, _ = _object(sentence, mark, rules)
    if said or mark.target is None or mark.target.need not in (Need.FIND, Need.COMPUTE) or mark.target.command:
        return said
    start = max((e for _, e in borders if e <= mark.start), default=0)
    particle = rules.revise.particle.match(sentence[start : mark.start])
    start += particle.end() if particle and start else 0
    words = [w.strip(",.;:!?\"'") for w in sentence[start : mark.start].split()]
    kept = [w for w in words if rules.lexicon.bare(w) in rules.words.requests or _says(w, rules)]
    if not any(not w.isascii() and terms_of(w, rules) for w in kept):
        return ""
    return " ".join([*kept[:-1], rules.lexicon.bare(kept[-1])])[: rules.limits.task]


def _says(word: str, rules: Rules) -> bool:
    """Whether a word belongs to what something is about: it has content, or asks for a figure ("얼마나")."""
    return bool(terms_of(word, rules)) or rules.revise.figure.match(word) is not None


def _object(sentence: str, mark: _Mark, rules: Rules) -> tuple[str, int]:
    """Return what stands after "search for" or "search" (not after "the search"), and where it ends."""
    nothing, revise = ("", mark.end), rules.revise
    if mark.target is None or mark.target.need not in (Need.FIND, Need.COMPUTE) or mark.target.command:
        return nothing
    match = revise.subject.match(sentence[mark.end : mark.end + rules.limits.task])
    verb = revise.subject_verb.match(sentence[mark.start : mark.end])
    article = revise.subject_article.search(sentence[max(0, mark.start - 20) : mark.start])
    if match is None or (not match["by"] and (not verb or article)):
        return nothing
    subject = match["subject"]
    starts = [a.before for a in revise.actions if a.before is not None]
    if not match["by"] and any(a.after is not None and a.after.match(subject) for a in revise.actions):
        return nothing
    ends = [m.start() for m in revise.subject_end.finditer(subject)]
    ends += [m.start() for a in revise.actions if a.before and a.kind != "ask" for m in a.before.finditer(subject)]
    for joint in revise.subject_and.finditer(subject):
        if any(e.match(subject, joint.end()) for e in (*starts, *revise.targets.values())):
            ends.append(joint.start())
    subject = subject[: min(ends, default=len(subject))].strip()
    return (subject, mark.end + match.start("subject") + len(subject)) if terms_of(subject, rules) else nothing
