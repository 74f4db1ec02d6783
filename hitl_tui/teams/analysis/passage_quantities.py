"""Quantities that passages state: sentence by sentence, and row by row of tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath

from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.words import is_past, is_question_word, lexicon
from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUOTE_LIMIT, Passage
from hitl_tui.teams.analysis.bounds import bound_of
from hitl_tui.teams.analysis.changes import find_changes
from hitl_tui.teams.analysis.quantities import Quantity, forms_of, in_text, is_unit, per_of, when_of, words_in
from hitl_tui.teams.analysis.units import Amount
from hitl_tui.teams.analysis.words import LATER, SOONER, sentences
from hitl_tui.teams.contract import Citation

MAX_QUANTITIES = 6000
_TITLE = 60
_NAMES = 0.45
"""How much an English word has to say to name something."""
_CELL = re.compile(r"[-−]?(?:[$€£₩¥]\s?)?\d[\d,]*(?:\.\d+)?\s?(?:[%원]|[A-Za-z€$£°²]{1,4}\.?|만\s?원|[가-힣]{1,2})?")
_BARE = re.compile(r"[-−]?[\d,]+(?:\.\d+)?")
_UNIT = re.compile(r"[(\[]([^()\[\]]{1,12})[)\]]\s*$|[_\s](eur|usd|krw|gbp|won|euro|kg|km|m2|pct|percent|%)$", re.I)
_NO_FIGURE = re.compile(r"(?:id|no|nr|번호|year|연도|month|월)\.?", re.I)
_BREAK = re.compile(r"[;:()|]|,(?!\d)|\s[-–—]\s|\s(?:and|but)\s|(?<=[고며])\s|\s(?:및|그리고)\s")
_RANGE = re.compile(r"범위|사이|\b(?:rang(?:e|es|ed|ing)|var(?:y|ies)|between)\b", re.I)
_GOES_ON = re.compile(
    r"^\W*(?:\d+[.)]\s)?(?:it|they|this|these|that|there|after|from|since|of)\b|\b(?:it|they|them)\b|^\W*(?:이는|그|단)\s",
    re.I,
)
_DAY = re.compile(r"\d{1,2}(?=일)|(?<=\s)\d{1,2}(?=\s[A-Z][a-z]{2})")
_RECORD = re.compile(r"(?:^|, )([^:,\n]{1,40}): ")
_SEPARATOR = re.compile(r":?-+:?")


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
    path = PurePosixPath(passage.path)
    file = words_in(f"{re.sub(r'[_.-]', ' ', path.stem)} {passage.heading}")
    if path.suffix.lower() in (".csv", ".tsv"):
        yield from _of_table(passage, file)
        return
    text = passage.text
    for table in re.finditer(r"(?m)^[ \t]*\|.*(?:\n[ \t]*\|.*)+", text):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.group().split("\n")]
        body = [row for row in rows if not all(_SEPARATOR.fullmatch(cell) for cell in row)]
        first = passage.line + text.count("\n", 0, table.start()) + len(rows) - len(body)
        yield from _of_records(passage, file, body, first)
        text = text.replace(table.group(), "\n" * table.group().count("\n"), 1)
    title = text.lstrip().split("\n", 1)[0].strip()
    if passage.line <= 1 and len(title) < _TITLE and not re.search(r"[.!?:](?:\s|$)", title):
        file |= words_in(title)
    before = frozenset[str]()
    for number, (start, end) in enumerate(sentences(text)):
        words = words_in(text[start:end])
        yield from _Sentence(passage, text, start, end, number).quantities(file, before, words)
        before = words | (before if _GOES_ON.search(text[start:end]) else frozenset())


class _Sentence:
    """A sentence with its amounts."""

    def __init__(self, passage: Passage, text: str, start: int, end: int, number: int) -> None:
        self.passage, self.text, self.start, self.end, self.number = passage, text, start, end, number
        self.said = text[start:end]
        self.stated = [one for one in in_text(self.said) if not is_unit(self.said, one[0])]

    def quantities(self, file: frozenset[str], before: frozenset[str], words: frozenset[str]) -> Iterator[Quantity]:
        """Yield them, of words of the headings and file, of the sentence before, and of the sentence."""
        said, stated = self.said, self.stated
        if not stated:
            return
        amounts = [amount for amount, _ in stated]
        changes = () if _RANGE.search(said) else find_changes(said, amounts)
        turns = {
            a.start: t for c in changes if c.by is None for a, t in ((c.before, -1), (c.after, 1)) if a is not None
        }
        moves = {c.by.start: c.direction for c in changes if c.by is not None and c.before is None}
        near = words | {f"day{m.group()}" for m in _DAY.finditer(said)}
        if _GOES_ON.search(said) or not _named(said[: amounts[-1].start]):
            near |= before
        cite, whole = self.passage.cite(self.start, self.end), when_of(said)
        for n, (amount, noun) in enumerate(stated):
            left, right = self._reach(n)
            clause = self._clause(amount, left, right)
            own, when = words_in(clause), when_of(clause)
            led = when if when[0] else when_of(said[: amount.start])
            when = (led[0], when[1] or (whole[1] if led[0] in (0, whole[0]) else 0))
            others = frozenset(word for word in near if word.isdigit() and word != str(led[0]))
            named = frozenset[str]() if amount.start in turns else self._names_of_others(n) - own
            at = replace(amount, start=self.start + amount.start, end=self.start + amount.end)
            yield Quantity(
                amount,
                per=per_of(said, amount, left, right),
                noun=noun,
                own=own,
                near=near - others - named,
                far=file | named,
                before=before,
                when=when,
                turn=turns.get(amount.start, 0) or (-1 if SOONER.search(clause) else 1 if LATER.search(clause) else 0),
                bound=bound_of(self.text, self.start, self.end, at),
                source=cite,
                place=(self.passage.path, self.passage.line * 1000 + self.number),
                said=said,
                moves=moves.get(amount.start, 0),
                paired=amount.start in turns,
            )

    def _reach(self, n: int) -> tuple[int, int]:
        """Return where the amounts beside one end and begin; dates only beside other dates."""
        dated = self.stated[n][0].kind == "date"
        left = max((a.end for a, _ in self.stated[:n] if dated or a.kind != "date"), default=0)
        right = min((a.start for a, _ in self.stated[n + 1 :] if dated or a.kind != "date"), default=len(self.said))
        return left, right

    def _clause(self, amount: Amount, left: int, right: int) -> str:
        """Return what belongs to an amount of what stands between it and the others."""
        after = _BREAK.search(self.said, amount.end, right)
        lead = self.said[left : amount.start]
        breaks = list(_BREAK.finditer(lead)) if left else []
        if breaks:
            lead = lead[breaks[0].start() :] if len(breaks) > 1 else lead[breaks[0].end() :]
        return f"{lead} {self.said[amount.end : after.start() if after else right]}"

    def _names_of_others(self, n: int) -> frozenset[str]:
        """Return the names of the amounts of its kind before one that has a name of its own."""
        leads = [
            _named(self.said[(self.stated[m - 1][0].end if m else 0) : self.stated[m][0].start]) for m in range(n + 1)
        ]
        like = (self.stated[n][0].kind, self.stated[n][0].unit)
        named = [lead for (a, _), lead in zip(self.stated, leads[:n], strict=False) if (a.kind, a.unit) == like]
        return frozenset[str]().union(*named) if n and leads[n] else frozenset()


def _named(lead: str) -> frozenset[str]:
    """Return the words before an amount that name something."""
    found: set[str] = set()
    bare = LATER.sub(" ", SOONER.sub(" ", re.sub(r"\d[\d,.]*[가-힣]*", " ", lead)))
    for word in re.findall(r"[가-힣]{2,}|[A-Za-z]{3,}", bare):
        if word[0] >= "가":
            verb = is_past(word) or word[-1] in "며고면서" or is_question_word(word)
        else:
            verb = telling(word.lower(), "en") < _NAMES
        forms = () if verb else forms_of(word)
        found |= set() if any(form in lexicon().filler for form in forms) else set(forms)
    return frozenset(found)


def _of_table(passage: Passage, file: frozenset[str]) -> Iterator[Quantity]:
    """Yield what a table states: a file's text, or its rows as a search shows them."""
    text = passage.text
    if _RECORD.match(text):
        rows = [dict(zip((p := _RECORD.split(line))[1::2], p[2::2], strict=False)) for line in text.split("\n")]
        names = list(dict.fromkeys(name for row in rows for name in row))
        records = [names, *([row.get(name, "") for name in names] for row in rows)]
        yield from _of_records(passage, file, records, passage.line - 1)
        return
    head = text.split("\n", 1)[0]
    mark = max("\t;,", key=head.count)
    try:
        yield from _of_records(passage, file, list(csv.reader(text.splitlines(), delimiter=mark)), passage.line)
    except csv.Error:  # what no program wrote as a table
        return


def _of_records(passage: Passage, file: frozenset[str], rows: Sequence[Sequence[str]], line: int) -> Iterator[Quantity]:
    """Yield the figures of a table's rows, and the sums of its columns; the names stand first, in a line."""
    names = [name.strip().replace("_", " ") for name in rows[0]] if len(rows) > 1 else []
    year = when_of(re.sub(r"[_.]", " ", passage.path))[0]
    sums: dict[int, list[Amount]] = {}
    for number, row in enumerate(rows[1:], start=line + 1):
        cells = dict(zip(range(len(names)), map(str.strip, row), strict=False))
        figures = {n: amount for n, cell in cells.items() if (amount := _cell(cell, rows[0][n])) is not None}
        texts = " ; ".join(cell for n, cell in cells.items() if n not in figures)
        said = ", ".join(f"{names[n]}: {cell}" for n, cell in cells.items() if cell)
        cite, when = Citation(passage.path, number, number, said[:QUOTE_LIMIT]), when_of(texts)
        for n, amount in figures.items():
            if not _NO_FIGURE.fullmatch(names[n]):
                sums.setdefault(n, []).append(amount)
                yield Quantity(
                    amount,
                    own=words_in(f"{texts} {names[n]}"),
                    near=words_in(f"{texts} {' '.join(names)}"),
                    far=file,
                    when=(when[0] or when_of(names[n])[0] or year, when[1]),
                    source=cite,
                    place=(passage.path, number),
                    said=said,
                    column=names[n],
                )
    for n, amounts in sums.items():
        if 1 < len(amounts) >= 0.8 * (len(rows) - 1) and len({a.unit for a in amounts}) == 1:
            own = words_in(names[n]) | file
            yield Quantity(
                replace(amounts[0], value=sum((a.value for a in amounts), Fraction(0)), text=""),
                own=own,
                far=file,
                when=(year, 0),
                source=Citation(passage.path, line + 1, line + len(rows) - 1, ", ".join(names)[:QUOTE_LIMIT]),
                place=(passage.path, 0),
                said=names[n],
                column=names[n],
                rows=len(amounts),
            )


def _cell(cell: str, name: str) -> Amount | None:
    """Return the amount of a cell, its unit taken from the column's name where it has none."""
    if not _CELL.fullmatch(cell):
        return None
    header = _UNIT.search(name)
    unit = re.sub("(?i)pct|percent", "%", header[1] or header[2]) if header and _BARE.fullmatch(cell) else ""
    for text in (f"{cell} {unit}", cell) if unit else (cell,):
        found = parse_amounts(text)
        if len(found) == 1 and not found[0].year_like:
            return found[0]
    return None
