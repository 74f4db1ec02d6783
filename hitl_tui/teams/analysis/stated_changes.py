"""What passages state, for a question that names no figures itself: how large a change is, how far a date was moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from hitl_tui.teams.analysis.amount_changes import FALL, RISE, Change, concepts, content_words, find_changes
from hitl_tui.teams.analysis.amounts import Amount, parse_amounts, shown_amount
from hitl_tui.teams.analysis.analysis_model import Finding, Passage, Step
from hitl_tui.teams.analysis.calendar_dates import parse_dates
from hitl_tui.teams.analysis.computation_steps import change_steps, say
from hitl_tui.teams.analysis.limits import sentences
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import shown

_LISTED = 6
SENTENCE = 600  # characters of a sentence that are read
_HOW_LARGE = re.compile(
    r"얼마|몇\s?(?:%|퍼센트|프로|배|[가-힣])|퍼센트|차이|차액|변동|증감|(?:인상|상승|증가|감소|하락|인하|변화|변동)[률율폭액]|"
    r"%|how\s(?:much|many|far)|percent|difference|ratio|(?<![a-z])(?:rate|amount|size)\sof\s",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"변경|변동|변화|변했|바뀌|바뀐|바꾸|조정|차이|뛰었|뛴|늘[었어린려]|줄[었어인여]|→|⇒|"
    r"(?<![a-z])(?:chang|adjust|mov(?:e|ing)|go(?:es|ing)?(?![a-z])|went(?![a-z])|rose(?![a-z])|risen|grew|grown|"
    r"fell(?![a-z])|fallen|shr[aiu]nk|climb|jump|doubl|differ)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"범위|사이|(?<![a-z])(?:rang(?:e|es|ed|ing)(?![a-z])|var(?:y|ies)|between)", re.IGNORECASE)
_MAY = re.compile(
    r"수\s?있|가능|상한|한도|해도\s?(?:되|돼|괜찮)|(?<![a-z])(?:may|can|could|should|must|would|allow\w*|limit\w*|cap)(?![a-z])",
    re.IGNORECASE,
)
"""Asks what a change may be, which no change that was made tells."""
_ASKING = frozenset(["much", "many", "percen", "amount", "size", "rate"])
_PERCENT = re.compile(r"%|퍼센트|프로|percent|[률율](?![가-힣])", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_MONTH_BEFORE = re.compile(rf"(?<![a-z]){_MONTH}\s$", re.IGNORECASE)
_TIME_AFTER = re.compile(
    rf"(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?![a-z])|\s?(?:a\.?m|p\.?m|o.clock)(?![a-z])|\s?(?:시(?!간)|월|:)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Stated:
    """What the passages state of the change that is asked about.

    Args:
        steps: its size, where they state one.
        findings: the outcome, and what was assumed.
        unanswered: where they state several, a sentence that lists them.
        summary: the outcome in one line.
    """

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    unanswered: tuple[str, ...] = ()
    summary: str = ""

    def __bool__(self) -> bool:
        """Whether the passages state anything of it."""
        return bool(self.steps or self.unanswered)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, besides that something changes.

    Args:
        words: the words of it that say something.
        topics: the concepts they stand for.
        years: the years it names, one of which a sentence has to name, too.
    """

    words: frozenset[str]
    topics: frozenset[str]
    years: frozenset[str]

    def fits(self, said: str) -> int:
        """Return how many of the things that the question names a sentence is about."""
        if self.years and self.years.isdisjoint(_YEAR.findall(said)):
            return 0
        return len(self.words & content_words(said)) + len(self.topics & concepts(said))


def subject_of(query: str) -> Subject:
    """Return what a question is about."""
    words = (word for word in content_words(query) - _ASKING if not (_MOVES.match(word) or _HOW_LARGE.match(word)))
    return Subject(
        words=frozenset(word for word in words if not concepts(word) & {RISE, FALL}),
        topics=concepts(query) - {RISE, FALL},
        years=frozenset(_YEAR.findall(query)),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    change: Change
    citation: Citation
    fits: int


def stated_change(query: str, amounts: Sequence[Amount], passages: Iterable[Passage], language: str) -> Stated:
    """Return the size of the one change that the passages state of what a question asks about.

    Nothing is chosen where they state several that fit the question alike: those are listed.

    Args:
        query: the question.
        amounts: `parse_amounts(query)`; figures of its own other than a year mean that it asks for something else.
        passages: what was found for it.
        language: `ko` or `en`.
    """
    if any(not amount.year_like for amount in amounts) or not _asks(query):
        return Stated()
    subject = subject_of(query)
    found = [one for passage in passages for one in _in_passage(passage, subject)]
    most = max((one.fits for one in found), default=0)
    pairs: dict[tuple[str, str, Fraction, Fraction], list[_Found]] = {}
    for one in found:
        before, after = one.change.before, one.change.after
        if one.fits == most and before is not None and after is not None:
            pairs.setdefault((before.kind, before.unit, before.value, after.value), []).append(one)
    if not pairs:
        return Stated()
    if len(pairs) > 1:
        return Stated(
            unanswered=(several([(_pair(g[0].change, language), g[0].citation) for g in pairs.values()], language),)
        )
    [group] = pairs.values()
    sources = tuple(dict.fromkeys(one.citation for one in group))
    steps = [replace(step, sources=sources) for step in change_steps(group[0].change, language)]
    if not steps:
        return Stated()
    first = steps[-1] if _PERCENT.search(query) else steps[0]
    shown = f"{first.what}: {first.value} ({_pair(group[0].change, language)})"
    text = f"{shown}. {assumed(language)}"
    return Stated(tuple(steps), (Finding(text, sources),), (), shown)


def _asks(query: str) -> bool:
    moving = bool(concepts(query) & {RISE, FALL}) or _MOVES.search(query) is not None
    return moving and _MAY.search(query) is None and _HOW_LARGE.search(query) is not None


def _in_passage(passage: Passage, subject: Subject) -> list[_Found]:
    found: list[_Found] = []
    for start, end in sentences(passage.text):
        said = passage.text[start : min(end, start + SENTENCE)]
        amounts = parse_amounts(said)
        if len(amounts) < 2 or _RANGE.search(said) or not (_MOVES.search(said) or concepts(said) & {RISE, FALL}):
            continue
        changes = [
            change
            for change in find_changes(said, amounts)
            if change.by is None
            and change.direction
            and not change.inherited
            and not any(_of_time(said, amount) for amount in (change.before, change.after))
        ]
        fit = subject.fits(f"{passage.heading} {said}") if changes else 0
        if fit:
            found += [_Found(change, passage.cite(start, end), fit) for change in changes]
    return found


def _of_time(said: str, amount: Amount | None) -> bool:
    """Whether a bare number is a day of a month or a time of day: from 9 am, from 20 February."""
    if amount is None or amount.unit:
        return False
    near = said[max(0, amount.start - 12) : amount.start], said[amount.end : amount.end + 12]
    return _MONTH_BEFORE.search(near[0]) is not None or _TIME_AFTER.match(near[1]) is not None


def _pair(change: Change, language: str) -> str:
    before, after = change.before, change.after
    return " → ".join(shown_amount(amount, language) for amount in (before, after) if amount is not None)


def assumed(language: str) -> str:
    """Return the sentence that says why a stated change is taken for the one that is asked about."""
    return say(
        language,
        "찾은 구절 가운데 질문에 가장 잘 맞는 변동이 이것 하나여서, 질문이 이것을 뜻한다고 보고 계산했습니다.",
        "This is taken for the change that is meant, since no other in the passages found fits the question as well.",
    )


def several(found: Sequence[tuple[str, Citation]], language: str) -> str:
    """Return the sentence that lists the changes that fit a question alike, each with its place."""
    pairs = "; ".join(f"{pair} ({citation.label})" for pair, citation in found[:_LISTED])
    more = len(found) - _LISTED
    if more > 0:
        pairs += say(language, f"; 그 밖에 {more}개", f"; and {more} more")
    return say(
        language,
        f"계산하지 않음: 찾은 구절에 변동이 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}.",
        f"Not computed: the passages found state several changes; say which one is meant: {pairs}.",
    )


_ASKS = re.compile(
    r"(?:며칠|몇\s?(?:일|주|달|개월)|얼마나)[^.?!\n]{0,30}(?:늦|미뤄|미룬|연기|앞당|당겨|옮|뒤로|지연)|"
    r"how\s(?:much|far|many\s(?:days|weeks|months))\s(?:[\w-]{1,20}\s){0,6}?"
    r"(?:later|earlier|sooner|moved?|postponed?|delayed?|late|shift(?:ed)?|brought\sforward|put\s(?:off|back))(?![a-z])",
    re.IGNORECASE,
)
_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = (
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s{_NAME}(?:,?\s\d{{4}})?|{_NAME}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    r"|\d{4}-\d{2}-\d{2}|(?:\d{4}\s?년\s?)?\d{1,2}\s?월\s?\d{1,2}\s?일"
)
_MOVED = re.compile(
    rf"(?<![a-z])from\s(?:the\s)?(?P<old>{_DAY})\s(?:to|until)\s(?:the\s)?(?P<new>{_DAY})(?![\w])"
    rf"|(?<!\d)(?P<old2>{_DAY})(?:에서|부터)\s?(?P<new2>{_DAY})(?:로|으로)(?=\s|$|[가-힣])",
    re.IGNORECASE,
)
_SHIFTS = re.compile(
    r"옮|미뤄|미룬|연기|변경|바뀌|바뀐|앞당|당겨|조정|늦춰|(?<![a-z])(?:mov|postpon|delay|shift|chang|reschedul|slip|put|brought|push)",
    re.IGNORECASE,
)


def stated_shift(query: str, passages: Iterable[Passage], language: str) -> Stated:
    """Return by how many days a date was moved; where the passages state several moves alike these are listed.

    Args:
        query: the question.
        passages: what was found for it.
        language: `ko` or `en`.
    """
    if not _ASKS.search(query) or parse_dates(query):
        return Stated()
    subject = subject_of(query)
    found = [one for passage in passages for one in _shifts_in(passage, subject)]
    most = max((one[0] for one in found), default=0)
    moves: dict[tuple[str, str, int], list[Citation]] = {}
    for rank, old, new, days, citation in found:
        if rank == most:
            moves.setdefault((old, new, days), []).append(citation)
    if not moves:
        return Stated()
    if len(moves) > 1:
        return Stated(unanswered=(several([(f"{o} → {n}", c[0]) for (o, n, _), c in moves.items()], language),))
    [((old, new, days), citations)] = moves.items()
    sources = tuple(dict.fromkeys(citations))
    length = shown(Fraction(abs(days)), "duration", "day", language)
    side = say(language, "뒤", "later") if days > 0 else say(language, "앞", "earlier")
    what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
    step = Step(what, f"{new} − {old} = {length}", f"{length} {side}", str(days), sources)
    told = f"{what}: {step.value}"
    return Stated((step,), (Finding(f"{told}. {assumed(language)}", sources),), (), told)


def _shifts_in(passage: Passage, subject: Subject) -> list[tuple[int, str, str, int, Citation]]:
    found = []
    for start, end in sentences(passage.text):
        said = passage.text[start : min(end, start + SENTENCE)]
        matches = list(_MOVED.finditer(said)) if _SHIFTS.search(said) else []
        rank = subject.fits(f"{passage.heading} {said}") if matches else 0
        for match in matches if rank else ():
            old, new = ((match[name] or match[f"{name}2"]).rstrip(".") for name in ("old", "new"))
            days = _days(old, new)
            if days:
                found.append((rank, old, new, days, passage.cite(start, end)))
    return found


def _days(old: str, new: str) -> int:
    """Return the days from one date to the other; 0 where a year that isn't written would have to be guessed."""
    years = [match.group() for text in (old, new) if (match := re.search(r"\d{4}", text))]
    # Without years both are of the same one, which must not matter.
    lengths = {_between(old, new, year) for year in (years[:1] or ["2001", "2004"])}
    return lengths.pop() or 0 if len(lengths) == 1 else 0


def _between(old: str, new: str, year: str) -> int | None:
    first, last = (_date(text, year) for text in (old, new))
    return None if first is None or last is None else (last - first).days


def _date(text: str, year: str) -> date | None:
    whole = text if re.search(r"\d{4}", text) else f"{year}년 {text}" if "월" in text else f"{text} {year}"
    found = parse_dates(whole)
    return found[0].value if found else None
