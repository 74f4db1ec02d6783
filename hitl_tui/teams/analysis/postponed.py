"""How far a date was moved, as the passages state it, for a question that asks so and names no dates itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from fractions import Fraction

from hitl_tui.teams.analysis.dates import parse_dates
from hitl_tui.teams.analysis.forms import shown
from hitl_tui.teams.analysis.limits import sentences
from hitl_tui.teams.analysis.model import Finding, Passage, Step
from hitl_tui.teams.analysis.stated import SENTENCE, Stated, Subject, assumed, several, subject_of
from hitl_tui.teams.analysis.steps import say
from hitl_tui.teams.contract import Citation

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
    found = [one for passage in passages for one in _in_passage(passage, subject)]
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


def _in_passage(passage: Passage, subject: Subject) -> list[tuple[int, str, str, int, Citation]]:
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
