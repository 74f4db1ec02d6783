"""What a text says about a plan: which steps it names, and what it wants done with them.

A step is named by its kind, its id or its command; an action stands after it (Korean, and English "first", "too")
or before it (English "add", "skip").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hitl_tui.planning.rule_planner.calls import spoken_name
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.query_reader import bare, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need, ReviseRules, Rules

ADDING = frozenset({"add", "ask"})
OUT = frozenset({"remove", "skip", "keep"})


@dataclass(frozen=True, slots=True)
class Order:
    """One step that a text names, and what it wants of it.

    Args:
        kinds: `add`, `ask`, `remove`, `skip`, `keep`, `priority`, `after`; empty for nothing.
        level: of a priority.
        need: the kind of step, if it is named so.
        number: number of the TODO, if it is named so; 0 otherwise.
        command: the declared command, if it is named so.
        everything: all that is left.
        subject: what it is to be about; empty when nothing is said.
        again: one more of what there is.
    """

    kinds: frozenset[str] = frozenset()
    level: str = ""
    need: Need | None = None
    number: int = 0
    command: str = ""
    everything: bool = False
    subject: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    order: Order


@dataclass(frozen=True, slots=True)
class _Said:
    start: int
    end: int
    kind: str
    level: str


def orders_in(text: str, commands: Mapping[str, CommandFacts], rules: Rules) -> list[list[Order]]:
    """Return what each sentence of a text orders; sentences that name no step are left out."""
    found = []
    for sentence in _sentences(text, rules.revise):
        orders = _orders(sentence, commands, rules)
        if orders:
            found.append(orders)
    if found and not any(order.kinds for orders in found for order in orders) and _names_only(text, commands, rules):
        return [[replace(order, kinds=frozenset({"ask"})) for order in orders] for orders in found]
    return found


def names_step(text: str, rules: Rules) -> bool:
    """Whether a text names a step by its kind or id."""
    return bool(rules.revise.number.search(text)) or any(t.search(text) for t in rules.revise.targets.values())


def _sentences(text: str, rules: ReviseRules) -> list[str]:
    found, at = [], 0
    for match in rules.sentence.finditer(text):
        found.append(text[at : match.end()])
        at = match.end()
    return [s for s in [*found, text[at:]] if s.strip()]


def _names_only(text: str, commands: Mapping[str, CommandFacts], rules: Rules) -> bool:
    mentions = _mentions(text, commands, rules)
    rest = terms_of(text, rules.words, [(m.start, m.end) for m in mentions])
    return "?" not in text and not rest and all(m.order.need for m in mentions)


def _orders(sentence: str, commands: Mapping[str, CommandFacts], rules: Rules) -> list[Order]:
    mentions = _mentions(sentence, commands, rules)
    if not mentions:
        return []
    before, after = _said(sentence, rules.revise)
    asking = "?" in sentence and not rules.revise.polite.search(sentence)
    kinds: list[tuple[frozenset[str], str]] = []
    for mention, following in zip(mentions, [*mentions[1:], None], strict=True):
        end = following.start if following else len(sentence)
        said = _kinds(sentence, mention, end, before, after, rules.revise)
        if not said[0] and _imperative(sentence, mention, rules):
            said = (frozenset({"ask"}), "")
        if asking:
            said = (said[0] - {"ask"}, said[1])
        kinds.append(said)
    for index in range(len(mentions) - 2, -1, -1):
        gap = sentence[mentions[index].end : mentions[index + 1].start]
        if not kinds[index][0] and rules.revise.listing.search(gap):
            kinds[index] = kinds[index + 1]
    again = bool(rules.revise.again.search(sentence))
    orders = []
    borders = [*((s.start, s.end) for s in [*before, *after]), *((m.start, m.end) for m in mentions)]
    for mention, (found, level) in zip(mentions, kinds, strict=True):
        subject = _subject(sentence, mention, borders, rules) if found & ADDING else ""
        orders.append(replace(mention.order, kinds=found, level=level, subject=subject, again=again))
    return orders


def _mentions(sentence: str, commands: Mapping[str, CommandFacts], rules: Rules) -> list[_Mention]:
    found: list[_Mention] = []
    for name in commands:
        found += [_Mention(*m.span(), Order(need=Need.RUN, command=name)) for m in spoken_name(name).finditer(sentence)]
    for match in rules.revise.number.finditer(sentence):
        number = next(int(v) for v in match.groupdict().values() if v)
        found.append(_Mention(*match.span(), Order(number=number)))
    found += [_Mention(*m.span(), Order(everything=True)) for m in rules.revise.everything.finditer(sentence)]
    for need, target in rules.revise.targets.items():
        found += [_Mention(*m.span(), Order(need=need)) for m in target.finditer(sentence)]
    found.sort(key=lambda m: (m.start, -m.end))
    kept: list[_Mention] = []
    blocked = 0
    for index, mention in enumerate(found):
        if mention.start < blocked:
            continue
        if (
            mention.order.need
            and not mention.order.command
            and not _stands_alone(sentence, mention, found[index + 1 :], rules)
        ):
            continue
        _, blocked = _subject_en(sentence, mention, rules)
        last = kept[-1] if kept else None
        if last and last.order == mention.order and not sentence[last.end : mention.start].strip():
            # "비교 분석" is one step.
            kept.pop()
            mention = replace(mention, start=last.start)
        kept.append(mention)
    return kept


def _stands_alone(sentence: str, mention: _Mention, later: Sequence[_Mention], rules: Rules) -> bool:
    """Whether a Korean word names a step, not a part of what another step is about ("보고서 양식 검색")."""
    if sentence[mention.start : mention.end].isascii():
        return True
    if rules.revise.particle.match(sentence[mention.end : mention.end + 20]):
        return True
    filler = rules.revise.filler.match(sentence, mention.end)
    after = filler.end() if filler else mention.end
    if any(m.start == after for m in later) or not sentence[after:].strip(".!?; "):
        return True
    if any(a.after is not None and a.after.match(sentence, after) for a in rules.revise.actions):
        return True
    return not sentence[after].isalnum()


def _said(sentence: str, rules: ReviseRules) -> tuple[list[_Said], list[_Said]]:
    """Return the actions that stand before and after their targets; where two overlap the longer one counts."""
    before, after = [], []
    for action in rules.actions:
        if action.before is not None:
            before += [_Said(*m.span(), action.kind, action.level) for m in action.before.finditer(sentence)]
        if action.after is not None:
            after += [_Said(*m.span(), action.kind, action.level) for m in action.after.finditer(sentence)]
    return _longest(before), _longest(after)


def _longest(said: Sequence[_Said]) -> list[_Said]:
    kept: list[_Said] = []
    for one in sorted(said, key=lambda s: (s.start - s.end, s.start)):
        if all(one.end <= k.start or one.start >= k.end for k in kept):
            kept.append(one)
    return sorted(kept, key=lambda s: s.start)


def _kinds(
    sentence: str,
    mention: _Mention,
    end: int,
    before: Sequence[_Said],
    after: Sequence[_Said],
    rules: ReviseRules,
) -> tuple[frozenset[str], str]:
    border = rules.stop_after.search(sentence, mention.end, end)
    if border:
        end = border.start()
    end = min([end, *(s.start for s in before if s.start >= mention.end and not _korean(sentence, s))])
    right = [s for s in after if mention.end <= s.start < end]
    left = [s for s in before if s.end <= mention.start][-1:]
    said = list(right)
    if not right or all(s.kind in ADDING for s in right) or any(s.kind in ADDING for s in left):
        said += left
    level = next((s.level for s in said if s.level), "")
    return frozenset(s.kind for s in said), level


def _imperative(sentence: str, mention: _Mention, rules: Rules) -> bool:
    """Whether an English verb opens the sentence: "compare …", "please search …"."""
    verb = rules.revise.subject_verb.match(sentence[mention.start : mention.end])
    opening = sentence[: mention.start].strip()
    return verb is not None and not rules.commands.lead.sub("", f"{opening} " if opening else "").strip()


def _korean(sentence: str, said: _Said) -> bool:
    return not sentence[said.start : said.end].isascii()


def _subject(sentence: str, mention: _Mention, borders: Sequence[tuple[int, int]], rules: Rules) -> str:
    if mention.order.need not in (Need.FIND, Need.COMPUTE) or mention.order.command:
        return ""
    said, _ = _subject_en(sentence, mention, rules)
    if said:
        return said
    start = max((e for s, e in borders if e <= mention.start), default=0)
    particle = rules.revise.particle.match(sentence[start : mention.start])
    start += particle.end() if particle and start else 0
    words = [w.strip(",.;:!?\"'") for w in sentence[start : mention.start].split()]
    kept = [w for w in words if bare(w, rules.words) in rules.words.requests or _says(w, rules)]
    if not any(not w.isascii() and terms_of(w, rules.words) for w in kept):
        return ""
    return " ".join([*kept[:-1], bare(kept[-1], rules.words)])[: rules.limits.task]


def _says(word: str, rules: Rules) -> bool:
    """Whether a word belongs to what something is about: it has content, or asks for a figure ("얼마나")."""
    return bool(terms_of(word, rules.words)) or rules.revise.figure.match(word) is not None


def _subject_en(sentence: str, mention: _Mention, rules: Rules) -> tuple[str, int]:
    """Return what stands after "search for" or "search" (not after "the search"), and where it ends."""
    nothing = "", mention.end
    if mention.order.need not in (Need.FIND, Need.COMPUTE) or mention.order.command:
        return nothing
    revise = rules.revise
    rest = sentence[mention.end : mention.end + rules.limits.task]
    match = revise.subject_en.match(rest)
    if match is None:
        if not revise.subject_verb.match(sentence[mention.start : mention.end]):
            return nothing
        if revise.subject_article.search(sentence[max(0, mention.start - 20) : mention.start]):
            return nothing
        match = revise.subject_bare.match(rest)
        if match is None or any(a.after is not None and a.after.match(match["subject"]) for a in revise.actions):
            return nothing
    subject = match["subject"]
    ends = [m.start() for m in revise.subject_end.finditer(subject)]
    ends += [m.start() for m in revise.subject_and.finditer(subject) if _goes_on(subject, m.end(), revise)]
    for action in revise.actions:
        if action.before is not None and action.kind != "ask":
            ends += [m.start() for m in action.before.finditer(subject)]
    subject = subject[: min(ends, default=len(subject))].strip()
    if not terms_of(subject, rules.words):
        return nothing
    return subject, mention.end + match.start("subject") + len(subject)


def _goes_on(text: str, at: int, rules: ReviseRules) -> bool:
    """Whether something else is ordered here: another action, or another step."""
    actions = (a.before for a in rules.actions if a.before is not None)
    return any(e.match(text, at) for e in (*actions, *rules.targets.values()))
