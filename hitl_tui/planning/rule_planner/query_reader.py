"""What a query says: its language, what it needs, what it is about. Pure, and linear in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Strategy
from hitl_tui.planning.rule_planner.figures import figure_cues
from hitl_tui.planning.rule_planner.rule_file import Cue, Limits, Need, Rules, Words
from hitl_tui.planning.rule_planner.values import Span

_HANGUL = re.compile("[가-힣]")
_JAMO = re.compile("[ᄀ-ᇿ㄰-㆏]")
_LATIN = re.compile("[A-Za-z]")
WORD = re.compile(r"\w+(?:[-'.]\w+)*")
_TAIL = re.compile("[가-힣]{0,6}")
_ALPHABETIC = re.compile(r"[^\W\d_]+")

_REFERS = re.compile(
    r"(?<![a-z])(?:it|that|this|these|those|they|them|there|results?)(?![a-z])|[그이](?:것|거|건|걸)|그중|그러|결과",
    re.IGNORECASE,
)

EXAMPLE = Message('For example: "What is the cap on a rent increase?"')


@dataclass(frozen=True, slots=True)
class Reading:
    """What was understood of a query.

    Args:
        text: the part that was looked at, in normal form.
        language: `ko` or `en`.
        scores: how much speaks for each need.
        cues: the words that decided it, in order.
        entities: what it is about, by kind.
        terms: its content words, particles stripped.
        leftover: content words that no rule understood.
        subjects: the things to be compared; empty for no comparison.
        strategy: what it says about order.
    """

    text: str
    language: str
    scores: Mapping[Need, float]
    cues: tuple[str, ...]
    entities: Mapping[str, tuple[str, ...]]
    terms: tuple[str, ...]
    leftover: tuple[str, ...]
    subjects: tuple[str, ...]
    strategy: Strategy


def shown(query: str, limits: Limits) -> str:
    """Return the part of a text that is looked at: all of it, or its head and its tail; in normal form."""
    if len(query) > limits.head + limits.tail:
        query = query[: limits.head] + "\n" + query[-limits.tail :]
    # A few characters become many in normal form, which is no reason to look at more.
    return unicodedata.normalize("NFKC", query)[: limits.head + limits.tail + 1]


def cut(text: str, length: int) -> str:
    """Return the text on one line, at most `length` characters."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def check_query(query: str, rules: Rules) -> str:
    """Return the part of a query that is looked at.

    Raises:
        BadInput: it is empty, holds no word, or only words that ask for nothing.
    """
    text = shown(query, rules.limits)
    if not text.strip():
        raise BadInput(Message("The query is empty; write a question or a task."), help=EXAMPLE)
    words = _ALPHABETIC.findall(text)
    mixed = any(any(map(str.isalpha, w)) and any(map(str.isdigit, w)) for w in WORD.findall(text))
    if not mixed and not any(_plausible(word) for word in words):
        raise BadInput(
            Message('"{}" has no word to search for; write a question or a task.', cut(query, 40)),
            help=EXAMPLE,
        )
    if all(word.lower() in rules.words.chatter for word in words):
        raise BadInput(Message('"{}" asks for nothing; write a question or a task.', cut(query, 40)), help=EXAMPLE)
    return text


def _plausible(word: str) -> bool:
    """Whether a word may say something: a lone letter and the jamo of a laugh don't."""
    return _HANGUL.search(word) is not None or (len(word) > 1 and not _JAMO.search(word))


def language_of(text: str, words: Words) -> str:
    """Return `ko` or `en`: what the person writes in, whatever names and terms stand between."""
    korean = latin = function = 0
    for match in WORD.finditer(text):
        word = match.group()
        if _HANGUL.search(word):
            korean += 1
        elif _LATIN.search(word):
            latin += 1
            function += word.lower() in words.english
    if not korean:
        return "en"
    return "en" if function and korean <= latin else "ko"


def read(query: str, rules: Rules) -> Reading:
    """Return what a query says.

    Raises:
        BadInput: it is empty or says nothing.
    """
    text = check_query(query, rules)
    entities, spans = entities_of(text, rules)
    language = language_of(text, rules.words)
    cue_spans: list[tuple[int, int]] = []
    scores: dict[Need, float] = {}
    for need, words in rules.needs.items():
        scores[need] = _score(text, words, cue_spans)
    scores[Need.COMPUTE] = scores.get(Need.COMPUTE, 0.0) + _amount_score(text, spans, entities, rules)
    stated = any(entities.get(kind) for kind in ("amount", "percent"))
    if cues := figure_cues(text, spans_of("date", text, rules), stated, rules):
        scores[Need.COMPUTE] += rules.threshold[Need.COMPUTE]
        cue_spans += cues
    subjects = subjects_of(text, language, rules)
    if subjects and _in_kind(text, entities, rules):
        subjects = ()
        scores[Need.COMPUTE] = 0.0
    terms = terms_of(text, rules.words, spans)
    known = terms_of(text, rules.words, [*spans, *cue_spans])
    cues_said = tuple(dict.fromkeys(text[a:b].strip() for a, b in sorted(cue_spans) if text[a:b].strip(" ?")))
    return Reading(
        text=text,
        language=language,
        scores=scores,
        cues=cues_said[: rules.limits.keywords],
        entities=entities,
        terms=terms,
        leftover=known,
        subjects=subjects,
        strategy=strategy_of(text, rules),
    )


def _in_kind(text: str, entities: Mapping[str, tuple[str, ...]], rules: Rules) -> bool:
    """Whether a difference is asked for, and none of amounts: what a contract is, not what it costs."""
    rest, found = rules.compare.difference.subn(" ", text)
    if not found or any(entities.get(kind) for kind in ("amount", "percent", "date")):
        return False
    return (
        not rules.compare.measures.search(rest) and score_of(rest, Need.COMPUTE, rules) < rules.threshold[Need.COMPUTE]
    )


def score_of(text: str, need: Need, rules: Rules) -> float:
    """Return how much the words of a text speak for a need."""
    return _score(text, rules.needs[need], [])


def strategy_of(text: str, rules: Rules) -> Strategy:
    """Return the order a text asks for; `pipeline` when it says nothing."""
    for name in (Strategy.SEQUENTIAL, Strategy.PARALLEL):
        if rules.strategy[name.value].search(text):
            return name
    return Strategy.PIPELINE


def _score(text: str, cues: Iterable[Cue], spans: list[tuple[int, int]]) -> float:
    total = 0.0
    for cue in cues:
        found = [m.span() for m in cue.expression.finditer(text)]
        if found:
            total += cue.weight
            if cue.weight > 0:
                spans.extend(found)
    return total


def entities_of(text: str, rules: Rules) -> tuple[dict[str, tuple[str, ...]], list[tuple[int, int]]]:
    """Return what a text names, by kind, and where its amounts, percentages and dates stand."""
    found: dict[str, tuple[str, ...]] = {}
    spans: list[tuple[int, int]] = []
    for kind in rules.entities:
        kept = spans_of(kind, text, rules)
        said = tuple(dict.fromkeys(text[a:b].strip() for a, b in kept))[: rules.limits.entities]
        if said:
            found[kind] = said
        if kind in ("amount", "percent", "date"):
            spans.extend(kept)
    return found, sorted(spans)


def spans_of(kind: str, text: str, rules: Rules) -> list[tuple[int, int]]:
    """Return where a text names things of one kind."""
    return _outermost([m.span() for expression in rules.entities[kind] for m in expression.finditer(text)])


def _outermost(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _amount_score(
    text: str, spans: Sequence[tuple[int, int]], entities: Mapping[str, tuple[str, ...]], rules: Rules
) -> float:
    count = len(entities.get("amount", ())) + len(entities.get("percent", ()))
    score = rules.change.amounts * min(count, 2)
    for (_, left), (right, _) in pairwise(spans):
        gap = text[left:right]
        if len(gap) <= 30 and rules.change.between.search(gap) and rules.change.marks.search(gap):
            return score + rules.change.weight
    return score


def terms_of(text: str, words: Words, without: Sequence[tuple[int, int]] = ()) -> tuple[str, ...]:
    """Return the content words of a text, each once, Korean particles stripped.

    Args:
        text: the text.
        words: what carries no content.
        without: places whose words don't count.
    """
    blanked = text
    if without:
        parts, at = [], 0
        for start, end in sorted(without):
            if start >= at:
                parts.append(text[at:start])
            # What hangs on to it ("10억으로") is no word of its own.
            tail = _TAIL.match(text, end)
            at = max(at, tail.end() if tail else end)
        blanked = "\n".join([*parts, text[at:]])
    found: dict[str, None] = {}
    for match in WORD.finditer(blanked):
        term = term_of(match.group(), words)
        if term:
            found.setdefault(term)
    return tuple(found)


def term_of(word: str, words: Words) -> str:
    """Return a word without its particle, as a noun where a topic says so; empty when it carries no content."""
    for topic in words.topics:
        if topic.expression.search(word):
            return topic.noun
    if _empty(word, words) or not any(c.isalnum() for c in word):
        return ""
    if _HANGUL.search(word[-1]):
        if words.verbs.search(word) and word not in words.whole:
            return ""
        word = bare(word, words)
        if _empty(word, words):
            return ""
    elif len(word) < 2:
        return ""
    return word


def _empty(word: str, words: Words) -> bool:
    lower = word.lower()
    return lower in words.stop or lower in words.requests


def bare(word: str, words: Words) -> str:
    """Return a Korean word without its particle; a word of two syllables or fewer stays as it is."""
    if word in words.whole:
        return word
    for particle in words.particles:
        rest = word[: -len(particle)]
        if word.endswith(particle) and len(rest) >= 2:
            return rest
    return word


def subjects_of(text: str, language: str, rules: Rules) -> tuple[str, ...]:
    """Return the things a text compares, two to four of them, each complete; empty when there is no such list."""
    for sentence in re.split(r"[.!?;](?=\s|$)|\n|:\s", text):
        named = _named_ko(sentence, rules) if language == "ko" else _named_en(sentence, rules)
        parts = [" ".join(part.split()) for part in named]
        if not 2 <= len(parts) <= rules.limits.subjects or any(len(p) > 100 for p in parts):
            continue
        if not all(terms_of(p, rules.words, entities_of(p, rules)[1]) for p in parts):
            continue
        whole = share(parts, rules)
        if len(set(whole)) == len(whole):
            return tuple(whole)
    return ()


def _named_ko(sentence: str, rules: Rules) -> list[str]:
    match = rules.compare.ko.search(sentence)
    if match is None:
        return []
    return [part for part in rules.compare.ko_joint.split(sentence[: match.start()]) if part.strip()]


def _named_en(sentence: str, rules: Rules) -> list[str]:
    match = rules.compare.en.search(sentence) or rules.compare.en_versus.search(sentence)
    if match is None:
        return []
    named = match["list"]
    end = rules.compare.en_end.search(named)
    if end:
        named = named[: end.start()]
    joint = rules.compare.en_joint
    parts = joint.split(named) if joint.search(named) else rules.compare.en_list.split(named)
    return [re.sub(r"^(?:the|a|an)\s+", "", p.strip(), flags=re.IGNORECASE) for p in parts if p.strip()]


def share(parts: Sequence[str], rules: Rules) -> list[str]:
    """Give each thing compared the words that only the first or the last one says.

    `강남구`, `서초구 아파트 시세` → `강남구 아파트 시세`, `서초구 아파트 시세`.
    """
    split = [part.split() for part in parts]
    first, last = split[0], split[-1]
    if all(len(p) == 1 for p in split[:-1]) and len(last) > 1 and _alike(first[0], last[0], rules):
        return [" ".join([*p, *last[1:]]) for p in split[:-1]] + [" ".join(last)]
    if all(len(p) == 1 for p in split[1:]) and len(first) > 1 and _alike(first[-1], last[0], rules):
        return [" ".join(first)] + [" ".join([*first[:-1], *p]) for p in split[1:]]
    return _of_each(parts, rules) or list(parts)


def _of_each(parts: Sequence[str], rules: Rules) -> list[str]:
    """Return each thing with the measure that one names for all (`price of A`, `B`; `A`, `B의 가격`), else nothing."""
    compare = rules.compare
    head = compare.measure_of.match(parts[0])
    if head and not any(compare.measures.search(p) or compare.measure_of.match(p) for p in parts[1:]):
        return [parts[0], *(f"{head.group()}{p}" for p in parts[1:])]
    tail = compare.of_measure.search(parts[-1])
    if tail and tail.start() and not any(compare.measures.search(p) for p in parts[:-1]):
        return [*(f"{p}{tail.group()}" for p in parts[:-1]), parts[-1]]
    return []


def _alike(one: str, other: str, rules: Rules) -> bool:
    one, other = bare(one, rules.words), bare(other, rules.words)
    if all(any(e.fullmatch(word) for e in rules.entities["place"]) for word in (one, other)):
        return True
    if _HANGUL.search(one[-1]) or _HANGUL.search(other[-1]):
        return one[-1] == other[-1]
    return (one[:1].isupper() and other[:1].isupper()) or (one[-1:].isdigit() and other[-1:].isdigit())


_BEFORE = 80
"""Characters before a name that are looked at for what joins it to the one before."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that asks for one thing.

    Args:
        start: where it stands.
        text: what it says.
        listed: it is joined to the one before as things in a list are, so that a "don't" goes for both.
    """

    start: int
    text: str
    listed: bool = False


def clauses(text: str, rules: Rules) -> list[tuple[int, str]]:
    """Return the clauses of a text, up to a bound, and where each begins."""
    return [(clause.start, clause.text) for clause in split(text, (), rules)]


def split(text: str, named: Iterable[int], rules: Rules) -> list[Clause]:
    """Return the clauses of a text, up to a bound; a name that something joins to what was before begins one.

    Args:
        text: what a person wrote.
        named: where names of commands stand.
        rules: what ends a clause, and what joins names.
    """
    found: list[Clause] = []
    at, listed = 0, False
    for start, end, together in islice(_borders(text, named, rules), rules.limits.clauses):
        found.append(Clause(at, text[at:start], listed))
        at, listed = end, together
    found.append(Clause(at, text[at:], listed))
    return [clause for clause in found if clause.text.strip()]


def _borders(text: str, named: Iterable[int], rules: Rules) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of what parts clauses, and whether it only lists them; where two touch they are one."""
    asked = rules.commands
    borders = [(*m.span(), asked.listing.fullmatch(m.group()) is not None) for m in asked.clause.finditer(text)]
    for at in islice(named, rules.limits.clauses):
        before = text[max(0, at - _BEFORE) : at]
        joint = asked.joint.search(before)
        if joint is not None:
            base = at - len(before)
            borders.append((base + joint.start("joint"), base + joint.end("joint"), joint["listing"] is not None))
    last: tuple[int, int, bool] | None = None
    for start, end, listed in sorted(borders):
        if last is None or start > last[1]:
            if last is not None:
                yield last
            last = (start, end, listed)
        else:
            last = (last[0], max(last[1], end), last[2] and listed)
    if last is not None:
        yield last


def unread(text: str, used: Sequence[Span], rules: Rules) -> tuple[str, ...]:
    """Return the parts of a clause that have content and that nothing was made of, as they were written.

    Args:
        text: the clause.
        used: the places that something was made of.
        rules: which words have no content.
    """
    groups: list[list[Span]] = [[]]
    for match in WORD.finditer(text):
        start, end = match.span()
        if any(s < end and start < e for s, e in used):
            groups.append([])
        elif (
            term_of(match.group(), rules.words)
            and not rules.commands.told.fullmatch(match.group())
            and not rules.commands.request.search(match.group())
        ):
            groups[-1].append((start, end))
    return tuple(text[group[0][0] : group[-1][1]] for group in groups if group)


def refers(text: str) -> bool:
    """Whether a text means something that was found before."""
    return _REFERS.search(text) is not None
