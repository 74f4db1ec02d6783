"""Quantities that texts, tables and questions state: how much, of what, per what, and whether it is a bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePosixPath

from hitl_tui.tables.words import hangul_forms, lemma, lexicon, words_of
from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUERY, Passage, Source
from hitl_tui.teams.analysis.bounds import bound_of
from hitl_tui.teams.analysis.units import COUNTERS, Amount
from hitl_tui.teams.analysis.words import LATER, SOONER, direction_of, sentences
from hitl_tui.teams.contract import Citation

MAX_QUANTITIES = 6000
_COUNTERS = "|".join([*COUNTERS, "달", "시간", "사람", "일", "kg"])
_PER_AFTER = re.compile(
    r"\s?(?:(?:per|an?|each|for\s(?:one|an?|each|every))\s(?P<en>[a-z]+)|/\s?(?P<slash>[a-z가-힣]+)|(?P<each>each|apiece))",
    re.I,
)
_PER_BEFORE = re.compile(
    rf"(?:(?P<ko>[가-힣]{{1,4}}?)\s?당|(?<![가-힣\d])(?:한|1)\s?(?P<a>{_COUNTERS})|"
    r"(?<![가-힣\d])(?P<month>매?월|매달)|(?P<year>매년|연간|연)|(?P<day>하루|매일|일일))\s?(?:에\s?)?$|"
    r"\b(?P<each>monthly|month|yearly|annual|daily|hourly|weekly|nightly)\b[^.;\d]{0,40}$",
    re.I,
)
_PER_ASKED = re.compile(
    r"\b(?:per|an?|each|every)\s(?P<en>person|head|hour|day|night|week|month|year|kg|kwh|litre|km|piece)\b|"
    r"(?P<ko>1인|시간|회|월|개|팀)\s?당",
    re.I,
)
_NOUN = re.compile(r"\s?(?:[a-z]+ed\s)?(?P<noun>[a-z]{2,20})(?![a-z])", re.I)
_NO_NOUN = re.compile(
    r"of|in|on|at|for|to|and|or|with|from|as|it|is|are|was|were|the|an|each|per|than|a|by|not|until|more|less|out|off|up|"
    r"ha[sd]|have|will|may|can|must|should|which|that|who|if|before|after|since|times|their|our|my|your|his|her"
)
_NUMERALS = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10, "two": 2,
    "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
}  # fmt: skip
_SPOKEN = re.compile(
    rf"(?<![가-힣\da-z])(?P<n>{'|'.join(_NUMERALS)})\s?(?P<noun>(?:{_COUNTERS})(?![가-힣]*당)|(?<=\s)[a-z]{{3,20}}s\b)",
    re.I,
)
_THINGS = {
    "person": "명 인 사람 people person guest member employee participant attendee head visitor student adult child",
    "night": "박 night nightly", "day": "일 하루 day daily 매일 일일", "week": "주 week weekly",
    "month": "월 달 매월 개월 month monthly", "year": "년 연 매년 연간 year yearly annual",
    "hour": "시간 hour hourly", "time": "회 번 time session lesson visit", "item": "개 item piece unit",
    "kg": "kg kilo kilogram", "km": "km kilometre kilometer", "litre": "litre liter l 리터",
}  # fmt: skip
_THING = {word: thing for thing, words in _THINGS.items() for word in words.split()}
_FROM_RIGHT = re.compile(r"\s?(?:[→⇒➔]|-{1,3}>|={1,3}>|에서|이?던|였|이었|인데)")
_FROM_LEFT = re.compile(r"(?:\bfrom|기존|원래|종전)\s(?:the\s)?$", re.I)
_TO_RIGHT = re.compile(r"\s?(?:으로|로)(?=[\s.,?!]|$|[올내인증감바변뛰늘줄미연옮])|\s?이\s?[됐되]")
_TO_LEFT = re.compile(r"(?:[→⇒➔]|-{1,3}>|={1,3}>|\b(?:to|becomes?|became|will\sbe|is\snow))\s?$", re.I)
_BY_RIGHT = re.compile(r"\s?(?:만큼|정도|씩)?\s?[을를이가]?\s?(?:더\s)?([가-힣a-z]+)", re.I)
_BY_LEFT = re.compile(r"\b(?:by\s(?:about\s|some\s)?|[a-z]+(?:crease|aise|ise|ut|uction|count|op)\sof\s)$", re.I)
_SEPARATOR = re.compile(r":?-+:?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount as it is stated.

    Args:
        amount: how much.
        per: what it is for one of (`night`, `month`, a noun).
        noun: what is counted, or empty.
        near: words of its sentence or row.
        far: words of the headings, the file and the sentence before.
        turn: -1 for what was so, or was planned; 1 for what became of it; 0 where nothing says so.
        by: it says by how much something rises or falls.
        bound: `max`, `below`, `min`, or empty.
        source: where it stands.
        said: the sentence.
    """

    amount: Amount
    per: frozenset[str] = frozenset()
    noun: str = ""
    near: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    turn: int = 0
    by: bool = False
    bound: str = ""
    source: Source = QUERY
    said: str = ""

    @property
    def value(self) -> Fraction:
        """The exact value."""
        return self.amount.value

    @property
    def of(self) -> tuple[str, str]:
        """What has to be the same where two are compared: the kind and unit."""
        return (self.amount.kind, self.amount.unit.strip())


def thing(word: str) -> str:
    """Return what a word counts, one name for its ways to be said."""
    lower = word.strip().lower()
    return _THING.get(lower) or _THING.get(lemma(lower)) or lemma(lower)


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text in the forms that they may be looked for in."""
    found: set[str] = set()
    for word in re.findall(r"[가-힣]+|[A-Za-z][A-Za-z'’]*", text):
        found |= set(_forms(word))
    return frozenset(found)


@lru_cache(65536)
def _forms(word: str) -> tuple[str, ...]:
    if "가" <= word[0] <= "힣":
        return tuple(form for form in hangul_forms(word) if len(form) > 1 or form in lexicon().alike)
    return words_of(word) or (word.lower(),)


def spans(text: str) -> list[tuple[int, int]]:
    """Return the places of what a question states, and of what it asks an amount for one of."""
    return [*((a.start, a.end) for a, _ in _stated(text)), *(m.span() for m in _PER_ASKED.finditer(text))]


def per_in(question: str) -> str:
    """Return what a question asks an amount for one of, or an empty text."""
    return next((thing(m["ko"] or m["en"]) for m in _PER_ASKED.finditer(question)), "")


def quantities_of(question: str) -> list[Quantity]:
    """Return what a question states."""
    per = per_in(question)
    made = list(_of_sentence(Passage("", 1, 1, question), question, 0, len(question), frozenset()))
    of_each = frozenset([per] if per else ())
    return [
        replace(q, source=QUERY, bound="", per=q.per or of_each if q.amount.kind == "money" else q.per) for q in made
    ]


def of_passages(passages: Sequence[Passage]) -> list[Quantity]:
    """Return what passages state, in their order, each place once."""
    found: dict[tuple[object, ...], Quantity] = {}
    for passage in passages:
        for one in _of_passage(passage):
            label = one.source.label if isinstance(one.source, Citation) else one.source
            found.setdefault((label, one.of, one.value, one.amount.text), one)
        if len(found) > MAX_QUANTITIES:
            break
    return list(found.values())


def _of_passage(passage: Passage) -> Iterator[Quantity]:
    file = words_in(f"{re.sub(r'[_.-]', ' ', PurePosixPath(passage.path).stem)} {passage.heading}")
    text = passage.text
    for table in re.finditer(r"(?m)^[ \t]*\|.*(?:\n[ \t]*\|.*)+", text):
        text = text.replace(table.group(), _rows(table.group()), 1)
    passage = replace(passage, text=text)
    before, above = frozenset[str](), frozenset[str]()
    for start, end in sentences(text):
        said = text[start:end]
        if said.lstrip().startswith("#") or (
            start == 0 and passage.line <= 1 and not re.search(r"[.!?:]\s*$|\d", said)
        ):
            above = words_in(said)
            continue
        yield from _of_sentence(passage, text, start, end, file | above | before)
        before = words_in(said)


def _rows(table: str) -> str:
    """Return a table with each row as search shows those of CSV files: `name: cell, name: cell`."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.split("\n")]
    lines = [
        "" if all(map(_SEPARATOR.fullmatch, row)) else ", ".join(map(": ".join, zip(rows[0], row, strict=False)))
        for row in rows
    ]
    return "\n".join(["", *lines[1:]])


def _of_sentence(passage: Passage, text: str, start: int, end: int, far: frozenset[str]) -> Iterator[Quantity]:
    """Yield what a sentence states, of with words of what is around it."""
    said = text[start:end]
    stated = _stated(said)
    if not stated:
        return
    near, cite = words_in(said), passage.cite(start, end)
    for n, (amount, noun) in enumerate(stated):
        left = stated[n - 1][0].end if n else 0
        right = stated[n + 1][0].start if n + 1 < len(stated) else len(said)
        by = _is_by(said, amount)
        at = replace(amount, start=start + amount.start, end=start + amount.end)
        yield Quantity(
            amount,
            per=_per(said, amount, left, right),
            noun=noun,
            near=near,
            far=far,
            turn=0 if by else _turn(said, amount, said[left:right]),
            by=by,
            bound=bound_of(text, start, end, at),
            source=cite,
            said=said,
        )


def _stated(text: str) -> list[tuple[Amount, str]]:
    """Return the amounts of a text with what each counts."""
    amounts = list(parse_amounts(text))
    for match in _SPOKEN.finditer(text):
        start, end = match.span("n")
        if not any(a.start < end and start < a.end for a in amounts):
            value = Fraction(_NUMERALS[match["n"].lower()])
            unit = match["noun"] if "가" <= match["noun"][0] <= "힣" else ""
            amounts.append(Amount("count", value, unit, match["n"], start, match.end() if unit else end))
    return [_counted(text, amount) for amount in sorted(amounts, key=lambda a: a.start) if not amount.year_like]


def _counted(text: str, amount: Amount) -> tuple[Amount, str]:
    """Return an amount with what it counts: its unit, or the noun after a bare number, which becomes its unit."""
    if amount.kind not in ("count", "duration", "measure"):
        return amount, ""
    follows = _NOUN.match(text, amount.end) if not amount.unit else None
    if follows is None:
        return amount, thing(amount.unit) if amount.unit else ""
    if _NO_NOUN.fullmatch(follows["noun"].lower()) or follows["noun"].lower() in lexicon().months:
        return amount, ""
    return replace(amount, unit=f" {follows['noun']}", end=follows.end()), thing(follows["noun"])


def _per(text: str, amount: Amount, before: int, after: int) -> frozenset[str]:
    """Return what an amount is for one of, by the words beside it: `회원 1인당 월 15,000원` for two things."""
    found: set[str] = set()
    if right := _PER_AFTER.match(text[amount.end : after]):
        found.add("each" if right["each"] else thing(right["en"] or right["slash"]))
    lead = text[max(before, amount.start - 60) : amount.start]
    while left := _PER_BEFORE.search(lead):
        named = left["ko"] or left["a"] or left["each"]
        found.add(thing(named) if named else "month" if left["month"] else "year" if left["year"] else "day")
        lead = lead[: left.start()]
    return frozenset(found)


def _turn(said: str, amount: Amount, clause: str) -> int:
    """Return -1 where an amount is what was so before, 1 where it is what became of it, 0 where nothing says so."""
    left, right = said[: amount.start], said[amount.end :]
    if _TO_LEFT.search(left) or _TO_RIGHT.match(right):
        return 1
    if _FROM_LEFT.search(left) or _FROM_RIGHT.match(right) or SOONER.search(clause):
        return -1
    return 1 if LATER.search(clause) else 0


def _is_by(said: str, amount: Amount) -> bool:
    """Whether an amount is that by which something rises or falls."""
    left, right = said[: amount.start], said[amount.end :]
    if _TO_RIGHT.match(right) or _TO_LEFT.search(left):
        return False
    after = _BY_RIGHT.match(right)
    moved = after is not None and (direction_of(after[1]) or re.match(r"추가|(?:off|less|more)\b", after[1]))
    return bool(moved or _BY_LEFT.search(left))
