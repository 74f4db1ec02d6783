"""Quantities that texts, tables and questions state: how much, of what, per what, when, and whether it is a bound."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath

from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.words import hangul_forms, is_past, is_question_word, lexicon, words_of
from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUERY, Passage, Source
from hitl_tui.teams.analysis.bounds import bound_of
from hitl_tui.teams.analysis.calendar_dates import date_places
from hitl_tui.teams.analysis.changes import find_changes
from hitl_tui.teams.analysis.units import Amount
from hitl_tui.teams.analysis.words import LATER, SOONER, sentences
from hitl_tui.teams.contract import Citation

MAX_QUANTITIES = 6000
_CELL = re.compile(r"[-−]?(?:[$€£₩¥]\s?)?\d[\d,]*(?:\.\d+)?\s?(?:[%원]|[A-Za-z€$£°²]{1,4}\.?|만\s?원|[가-힣]{1,2})?")
_UNIT = re.compile(r"[(\[](?P<in>[^()\[\]]{1,12})[)\]]\s*$|[_\s](?P<tail>eur|usd|krw|gbp|won|euro|kg|km|m2|pct|percent|%)$", re.I)
_BREAK = re.compile(r"[;:()|]|,(?!\d)|\s[-–—]\s|\s(?:and|but)\s|(?<=[고며])\s|\s(?:및|그리고)\s")
_RANGE = re.compile(r"범위|사이|\b(?:rang(?:e|es|ed|ing)|var(?:y|ies)|between)\b", re.I)
_PER_AFTER = re.compile(
    r"\s?(?:(?:per|an?|each|for\s(?:one|an?|each|every))\s(?P<en>[a-z]+)|/\s?(?P<slash>[a-z가-힣]+)|(?P<each>each|apiece))", re.I
)
_PER_BEFORE = re.compile(
    r"(?:(?P<ko>[가-힣]{1,4}?)\s?당|(?<!\d)1?\s?(?P<one>박|인|명|팀|개|회|kg|시간|일|장|권|대|병|잔|곳|채|건)에|"
    r"(?<![가-힣\d])(?:한|1)\s?(?P<a>팀|명|개|장|권|대|병|잔|곳|채|건|박|회|사람|달|시간)|(?P<month>매?월|달)|(?P<year>매년|연간|연)|(?P<day>하루|매일|일일))"
    r"\s?(?:에\s?)?$|\b(?P<each>monthly|month|yearly|annual|daily|hourly|weekly|nightly)\b[^.;\d]{0,40}$",
    re.I,
)
_COUNTED = re.compile(r"\s?(?P<noun>[a-z]{2,20}|팀|박|채|인|장|병|잔|번|곳|편|벌|상자|캔|통|쪽)(?![a-z])", re.I)
_NO_NOUN = frozenset(
    "of in on at for to and or with from as it is are was were the an each per than a by not until more less out off "
    "up has have had will may can must should which that who if before after since times were their our my your his her "
    "january february march april may june july august september october november december".split()
)
_NATIVE = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
_NATIVE_COUNT = re.compile(
    rf"(?<![가-힣\d])(?P<n>{'|'.join(_NATIVE)})\s?(?P<noun>팀|명|개|장|권|대|병|잔|곳|채|건|박|번|달|시간|사람|마리)(?![가-힣]*당)"
)
_ENGLISH_COUNT = re.compile(r"\b(?P<n>two|three|four|five|six|seven|eight|nine|ten|twelve)\s(?P<noun>[a-z]{3,20}s)\b", re.I)
_ENGLISH = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}
_THINGS = {
    "person": "명 인 사람 people person guest member employee participant attendee head visitor student adult child colleague 1인 인당",
    "night": "박 night nightly", "day": "일 하루 day daily 매일 일일", "week": "주 week weekly",
    "month": "월 달 매월 개월 month monthly", "year": "년 연 매년 연간 year yearly annual",
    "hour": "시간 hour hourly", "time": "회 번 time session lesson visit", "item": "개 item piece unit",
    "kg": "kg kilo kilogram", "km": "km kilometre kilometer", "litre": "litre liter l 리터", "kwh": "kwh",
}  # fmt: skip
_THING = {word: thing for thing, words in _THINGS.items() for word in words.split()}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTH = re.compile(
    r"(?<![\d.])(?P<ko>\d{1,2})\s?월|\b(?P<en>january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?P<may>May)\b|\b(?:19|20)\d\d-(?P<iso>\d\d)\b", re.I
)
_MONTHS = "january february march april may june july august september october november december".split()
_PRONOUN = re.compile(r"^\W*(?:\d+[.)]\s)?(?:it|they|this|these|that|there|after|from|since|of)\b|\b(?:it|they|them)\b|^\W*(?:이는|그|단)\s", re.I)
_RECORD = re.compile(r"(?:^|, )([^:,\n]{1,40}): ")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount as it is stated.

    Args:
        amount: how much.
        per: what it is for one of (`night`, `month`, a noun), or empty.
        noun: what is counted, or empty.
        own: words of its clause.
        near: words of its sentence or row.
        far: words of the headings and the file.
        before: words of the sentence before.
        when: year and month that it is of, 0 for what isn't said.
        turn: -1 for what was so, or was planned; 1 for what became of it; 0 where nothing says so.
        bound: `max`, `below`, `min`, or empty.
        source: where it stands.
        place: its file, and its sentence or row in it.
        said: the sentence.
        column: of a figure of a table its column.
        rows: how many rows it is the sum of; 0 for a figure as it stands.
        moves: the sentence says by how much something rises (1) or falls (-1), and this is it.
        paired: the sentence says that it becomes another, or that another became it.
    """

    amount: Amount
    per: str = ""
    noun: str = ""
    own: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    when: tuple[int, int] = (0, 0)
    turn: int = 0
    bound: str = ""
    source: Source = QUERY
    place: tuple[str, int] = ("", 0)
    said: str = ""
    column: str = ""
    rows: int = 0
    moves: int = 0
    paired: bool = False

    @property
    def value(self) -> Fraction:
        """The exact value."""
        return self.amount.value

    @property
    def of(self) -> tuple[str, str]:
        """What has to be the same where two are compared: the kind and unit, or what is counted."""
        return (self.amount.kind, self.amount.unit.strip())


def thing(word: str) -> str:
    """Return what a word counts, one name for its ways to be said."""
    lower = word.strip().lower()
    return _THING.get(lower) or _THING.get(lower.removesuffix("s")) or lower.removesuffix("s")


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text in the forms that they may be looked for in."""
    found: set[str] = set()
    for word in re.findall(r"[가-힣]+|[A-Za-z][A-Za-z'’]*|\d+월|(?<!\d)(?:19|20)\d\d(?!\d)", text):
        found |= set(_forms(word))
    for match in _MONTH.finditer(text):
        found.add(f"month{month_of(match)}")
    return frozenset(found)


@lru_cache(65536)
def _forms(word: str) -> tuple[str, ...]:
    if "가" <= word[0] <= "힣":
        return tuple(form for form in hangul_forms(word) if len(form) > 1 or form in lexicon().alike)
    return words_of(word) or (word.lower(),)


def month_of(match: re.Match[str]) -> int:
    """Return the month that is named."""
    if match["ko"] or match["iso"]:
        return int(match["ko"] or match["iso"])
    return _MONTHS.index((match["en"] or match["may"]).lower()) + 1


def when_of(text: str) -> tuple[int, int]:
    """Return the year and month that a text names; 0 for none, or for several."""
    years = {int(m.group()) for m in _YEAR.finditer(text)}
    months = {month_of(m) for m in _MONTH.finditer(text)}
    return (years.pop() if len(years) == 1 else 0, months.pop() if len(months) == 1 else 0)


def in_text(text: str, *, dates: bool = True) -> list[tuple[Amount, str]]:
    """Return the amounts of a text with what each counts, dates too where they are wanted."""
    made: list[tuple[Amount, str]] = []
    amounts = list(parse_amounts(text, dates=dates))
    taken = [(a.start, a.end) for a in amounts]
    for expression, numbers in ((_NATIVE_COUNT, _NATIVE), (_ENGLISH_COUNT, _ENGLISH)):
        for match in expression.finditer(text):
            if not any(start < match.end("n") and match.start("n") < end for start, end in taken):
                amounts.append(Amount("count", Fraction(numbers[match["n"].lower()]), "", match["n"], match.start(), match.end("n")))
    for match in re.finditer(r"(?<![\d.,])(\d[\d,]*)\s?(?=팀|박|채|인(?![가-힣])|장(?![소가-힣]{2})|병|잔|번|벌|상자|캔|통)", text):
        if not any(start < match.end() and match.start() < end for start, end in taken):
            value = Fraction(match[1].replace(",", ""))
            amounts.append(Amount("count", value, "", match[1], match.start(), match.start() + len(match[1])))
    for amount in sorted(amounts, key=lambda a: a.start):
        noun = ""
        if amount.year_like or amount.kind == "date":
            made.append((amount, ""))
            continue
        if amount.kind == "count":
            follows = _COUNTED.match(text, amount.end)
            spoken = (amount.unit.strip() or (follows["noun"] if follows else "")).lower()
            adjective = re.match(r"\s[a-z]+ed\s([a-z]+)", text[amount.end :], re.I)
            spoken = adjective[1] if adjective else spoken
            noun = "" if spoken in _NO_NOUN else thing(spoken)
            if noun and not amount.unit:
                shown = spoken if "가" <= spoken[0] <= "힣" else f" {follows['noun'] if follows else spoken}"
                amount = replace(amount, unit=shown, end=follows.end() if follows else amount.end)
        elif amount.kind in ("duration", "measure"):
            noun = thing(amount.unit)
        made.append((amount, noun))
    return made


def _is_unit(text: str, amount: Amount) -> bool:
    """Whether one of something says what another amount is for: `한 팀 40,000원`, `1박에`."""
    if amount.kind == "date" or amount.value != 1 or amount.text.strip().lower() == "one":
        return False
    return re.match(r"\s?(?:팀|명|인|개|장|권|대|병|잔|곳|채|건|박|회|사람|달|시간|일)?(?:에|당)?\s?(?:[$€£₩]?\s?\d)|\S{0,3}(?:에|당)\s", text[amount.end :]) is not None


def per_of(text: str, amount: Amount, before: int, after: int) -> str:
    """Return what an amount is for one of, by the words beside it."""
    right = _PER_AFTER.match(text[amount.end : after])
    if right:
        return "each" if right["each"] else thing(right["en"] or right["slash"])
    left = _PER_BEFORE.search(text[max(before, amount.start - 60) : amount.start])
    if not left:
        return ""
    if left["month"] or left["year"] or left["day"]:
        return "month" if left["month"] else "year" if left["year"] else "day"
    return thing(left["ko"] or left["one"] or left["a"] or left["each"])


def of_passages(passages: Sequence[Passage]) -> list[Quantity]:
    """Return what passages state, in their order, each place once."""
    found: dict[tuple[object, ...], Quantity] = {}
    for passage in passages:
        for one in _of_passage(passage):
            label = one.source.label if isinstance(one.source, Citation) else one.source
            found.setdefault((label, one.of, one.value, one.column, one.rows, one.amount.text), one)
        if len(found) > MAX_QUANTITIES:
            break
    return list(found.values())


def _of_passage(passage: Passage) -> Iterator[Quantity]:
    suffix = PurePosixPath(passage.path).suffix.lower()
    file = words_in(f"{re.sub(r'[_.-]', ' ', PurePosixPath(passage.path).stem)} {passage.heading}")
    if suffix in (".csv", ".tsv"):
        yield from _of_records(passage, file, _records(passage.text, "\t" if suffix == ".tsv" else ","), passage.line)
        return
    lines = passage.text.split("\n")
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            end += 1
        if end - at > 2:
            rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[at:end]]
            body = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
            yield from _of_records(passage, file, body, passage.line + at, end - at - len(body))
            lines[at:end] = [""] * (end - at)
        at = max(end, at + 1)
    text = "\n".join(lines)
    before = frozenset[str]()
    first = next((line for line in text.split("\n") if line.strip()), "")
    title = words_in(first) if passage.line <= 1 and len(first) < 60 and not re.search(r"[.!?:]$|[.!?:]\s", first.strip()) else frozenset[str]()
    for number, (start, end) in enumerate(sentences(text)):
        said = text[start:end]
        words = words_in(said)
        yield from _of_sentence(passage, start, end, text, number, file | title, before, words)
        before = words | (before if _PRONOUN.search(said) else frozenset())


def _of_sentence(
    passage: Passage, start: int, end: int, text: str, number: int, file: frozenset[str], before: frozenset[str],
    words: frozenset[str],
) -> Iterator[Quantity]:  # fmt: skip
    said = text[start:end]
    stated = [one for one in in_text(said) if not one[0].year_like and not _is_unit(said, one[0])]
    if not stated:
        return
    amounts = [amount for amount, _ in stated]
    turns: dict[int, int] = {}
    moves: dict[int, int] = {}
    for change in () if _RANGE.search(said) else find_changes(said, amounts):
        if change.before and change.after and change.by is None:
            turns[change.before.start], turns[change.after.start] = -1, 1
        elif change.by is not None and change.before is None:
            moves[change.by.start] = change.direction
    goes_on = _PRONOUN.search(said) or not _named(said[: amounts[-1].start])
    near = words | (before if goes_on else frozenset())
    leads = [(a.kind, a.unit.strip(), _named(said[(stated[n - 1][0].end if n else 0) : a.start])) for n, (a, _) in enumerate(stated)]
    day = {f"day{m.group()}" for m in re.finditer(r"\d{1,2}(?=일)|(?<=\s)\d{1,2}(?=\s[A-Z][a-z]{2})", said)}
    cite = passage.cite(start, end)
    for n, (amount, noun) in enumerate(stated):
        dated = amount.kind == "date"
        left = max((a.end for a, _ in stated[:n] if dated or a.kind != "date"), default=0)
        right = min((a.start for a, _ in stated[n + 1 :] if dated or a.kind != "date"), default=len(said))
        after = _BREAK.search(said, amount.end, right)
        cut = said[amount.end : after.start() if after else right]
        # what stands between two amounts belongs to the one that it leads to, but for what a break ends
        lead = said[left : amount.start]
        if left and (breaks := list(_BREAK.finditer(lead))):
            lead = lead[breaks[0].start() :] if len(breaks) > 1 else lead[breaks[-1].end() :]
        clause = f"{lead} {cut}"
        when = when_of(clause)
        whole = when_of(said)
        when = (when[0] or whole[0], when[1] or (whole[1] if when[0] in (0, whole[0]) else 0))
        turn = turns.get(amount.start, 0)
        turn = turn or (-1 if SOONER.search(clause) else 1 if LATER.search(clause) else 0)
        own = words_in(clause)
        other = {word for word in near if word.isdigit()} if any(word.isdigit() for word in own) else set()
        others = frozenset[str]()
        if n and leads[n][2] and amount.start not in turns:  # it has a name of its own, so those of the others aren't its
            others = frozenset().union(*(lead for kind, unit, lead in leads[:n] if (kind, unit) == leads[n][:2])) - own
        yield Quantity(
            amount, per_of(said, amount, left, right), noun, own, (near - other - others) | day, file, before | others, when, turn,
            bound_of(text, start, end, replace(amount, start=start + amount.start, end=start + amount.end)),
            cite, (passage.path, passage.line * 1000 + number), said, "", 0, moves.get(amount.start, 0), amount.start in turns,
        )  # fmt: skip


def _named(lead: str) -> frozenset[str]:
    """Return the words before an amount that name something."""
    found: set[str] = set()
    for word in re.findall(r"[가-힣]{2,}|[A-Za-z]{3,}", LATER.sub(" ", SOONER.sub(" ", re.sub(r"\d[\d,.]*[가-힣]*", " ", lead)))):
        korean = "가" <= word[0] <= "힣"
        if is_question_word(word) or (is_past(word) or word[-1] in "며고면서" if korean else telling(word.lower(), "en") < 0.45):
            continue
        forms = _forms(word)
        if not any(form in lexicon().filler for form in forms):
            found |= set(forms)
    return frozenset(found)


def _records(text: str, mark: str) -> list[list[str]]:
    """Return the rows of a table, the names first: of a file's text, or of one as a search shows it."""
    if _RECORD.match(text):
        rows = [dict(zip((p := _RECORD.split(line))[1::2], p[2::2], strict=False)) for line in text.split("\n")]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return [names, *([row.get(name, "") for name in names] for row in rows)]
    first = text.split("\n", 1)[0]
    return list(csv.reader(text.splitlines(), delimiter=";" if first.count(";") > first.count(mark) else mark))


def _of_records(
    passage: Passage, file: frozenset[str], rows: Sequence[Sequence[str]], line: int, skipped: int = 0
) -> Iterator[Quantity]:
    if len(rows) < 2:
        return
    names = [name.strip().replace("_", " ") for name in rows[0]]
    sums: dict[int, list[Amount]] = {}
    year = when_of(re.sub(r"[_.]", " ", passage.path))[0]
    for number, row in enumerate(rows[1:], start=1):
        cells = dict(zip(range(len(names)), (cell.strip() for cell in row), strict=False))
        figures = {n: amount for n, cell in cells.items() if (amount := _cell(cell, rows[0][n])) is not None}
        texts = " ; ".join(cell for n, cell in cells.items() if n not in figures)
        at = line + number + skipped
        said = ", ".join(f"{names[n]}: {cell}" for n, cell in cells.items() if cell)
        cite = Citation(passage.path, at, at, said[:300])
        when = when_of(texts)
        for n, amount in figures.items():
            if re.fullmatch(r"(?:id|no|nr|번호|year|연도|month|월)\.?", names[n], re.I):
                continue
            sums.setdefault(n, []).append(amount)
            yield Quantity(
                amount, "", "", words_in(texts) | words_in(names[n]), words_in(f"{texts} {' '.join(names)}"), file,
                frozenset(), (when[0] or when_of(names[n])[0] or year, when[1]), 0, "", cite, (passage.path, at), said, names[n],
            )  # fmt: skip
    for n, amounts in sums.items():
        if len(amounts) > 1 and len(amounts) >= 0.8 * (len(rows) - 1) and len({a.unit for a in amounts}) == 1:
            total = replace(amounts[0], value=sum((a.value for a in amounts), Fraction(0)), text="")
            cite = Citation(passage.path, line + 1 + skipped, line + skipped + len(rows) - 1, ", ".join(names)[:300])
            yield Quantity(
                total, "", "", words_in(names[n]) | file, file, file, frozenset(), (year, 0), 0, "", cite, (passage.path, 0),
                f"{names[n]}: {len(amounts)}", names[n], len(amounts),
            )  # fmt: skip


def _cell(cell: str, name: str) -> Amount | None:
    if not _CELL.fullmatch(cell):
        return None
    header = _UNIT.search(name)
    unit = (header["in"] or header["tail"] or "") if header else ""
    if unit.lower() in ("pct", "percent"):
        unit = "%"
    bare = re.fullmatch(r"[-−]?[\d,]+(?:\.\d+)?", cell) is not None
    found = parse_amounts(f"{cell} {unit}" if unit and bare else cell)
    if len(found) != 1 and bare:
        found = parse_amounts(cell)
    if len(found) == 1 and not found[0].year_like:
        return found[0]
    return None


def of_question(question: str) -> list[Quantity]:
    """Return what a question states."""
    stated = [(a, noun) for a, noun in in_text(question, dates=False) if not a.year_like and not _is_unit(question, a)]
    made = []
    for n, (amount, noun) in enumerate(stated):
        left = stated[n - 1][0].end if n else 0
        right = stated[n + 1][0].start if n + 1 < len(stated) else len(question)
        made.append(Quantity(amount, per_of(question, amount, left, right), noun, said=question))
    return made


def spans(text: str) -> list[tuple[int, int]]:
    """Return the places of a text's amounts and dates."""
    return [(a.start, a.end) for a, _ in in_text(text)] + [m.span() for m in date_places(text)]


__all__ = ["Quantity", "in_text", "of_passages", "of_question", "pairwise", "spans", "thing", "when_of", "words_in"]
