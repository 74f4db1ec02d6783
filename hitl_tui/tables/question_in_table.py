"""What the words of a question may say of one table: operations, columns and values, before any is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from hitl_tui.meaning.word_forms import is_question_word, lemma
from hitl_tui.tables.formulas import stated_in
from hitl_tui.tables.links import CALLED, Links, forms_of, label_of, links
from hitl_tui.tables.moments import QUARTER
from hitl_tui.tables.profile import UNITS_OF_TIME, Column, Pair, Table
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.words import (
    BLANK,
    Token,
    compound_of,
    found,
    is_ending,
    key_of,
    lexicon,
    likeness,
    number_word,
    parted,
    superlatives,
    tokens,
    words_of,
)

AGGREGATES = ("average", "median", "deviation", "distinct", "count", "sum")
NAMED, LIKELY, LOOSE = 0.95, 0.75, 0.5
"""How likely a word stands for a column: it is its name; it is part of it; it may."""
_FEW_CALLED = 3
"""Rows that a word of a name may mean."""
_YES = {"yes", "true", "y", "t", "1", "o", "예", "네"}
IDS = {"id", "uuid", "code", "fips", "fip", "lat", "lon", "latitude", "longitude", "index", "zip", "zipcode", "no",
        "number", "rank", "lng", "unnamed"}  # fmt: skip
_PLACES = frozenset(
    {"place", "location", "city", "country", "region", "state", "county", "address", "street", "room"}
    | {"지역", "장소", "위치", "주소", "시도"}
)
TOTALS = ("annual", "total", "all", "overall", "mean", "average", "value", "합계", "전체", "계", "amount", "revenue",
           "금액", "매출", "매출액")  # fmt: skip
RATES = {"share", "percent", "perc", "pct", "ratio", "rate", "percentage", "비율", "proportion"}
TABLE_NOUN = re.compile(
    r"\s?\S{0,12}\s?(?:표|목록|엑셀|파일|시트|데이터|자료|csv|tsv|list|table|file|data|spreadsheet|sheet|workbook|excel|parquet)",
    re.I,
)
DAYS = re.compile(r"일수|기간|days?(?![a-z])", re.I)
_DAY_AFTER = re.compile(r"일(?!\s?(?:간|동안|이상|이하|이내|째|치|분))")
_WHO = re.compile(r"^(?:who(?:m|se)?$|us$|누가|누구|누굴|각자|사람마다|사람별)", re.I)
_TO_US = re.compile(r"\b(?:pay|paid|give|gave|owe[sd]?|sen[dt]|charged?|billed?|cost) us$", re.I)
"""Asks for no person: what somebody paid us."""
_AMONG = re.compile(r"(?:\([^)]*\))?\s?(?:중(?:에서?)?|가운데)(?=\s)")
_WHICH = re.compile(r"(?:which|what|어느|어떤|무슨)\s*$", re.I)
_WHETHER = re.compile(r"^\W*(?:did|does|do|is|are|was|were|has|have|had|can)\b", re.I)
_WHETHER_KO = re.compile(r"(?:나요|가요|까요|어|아|니|지|죠)\?+\s*$")
_AMOUNT = re.compile(r"amount|sales|revenue|expens|금액|매출|비용|지출", re.I)
LASTING = re.compile(
    r"\b(?:minutes?|seconds?|hours?|how long)\b|몇\s?(?:분(?!이|의|인)|초|시간)|얼마나\s(?:걸|오래)", re.I
)
_AFTERWORD = re.compile(r"(?<=\?)\s+(?:\S+\s+){0,5}\S+[.!]?\s*$")
"""A few words after the question, that say again what it asks."""
_EXAMPLES = re.compile(r"\((?:e\.g\.|such as|like|예:)[^()]*\)|\([^()]*(?:\.\.|…|\betc\.?|\s등)\s*\)", re.I)
"""Examples of what is asked for, which limit no rows."""
_ORDINAL_OF = re.compile(r"\b(first|second|third|\d+(?:st|nd|rd|th))-([a-z]+)", re.I)
_ABBREVIATED = re.compile(r"(?<![a-z.])(?:i\.e|e\.g|viz|etc|incl|resp|approx)(?:\.|(?=[\s,]))", re.I)
"""What only joins words: `i.e.`, `etc.`"""
NUMBER_OF = re.compile(r"(?:the\s)?(?:n|no|nb|num|nr|number|count)(?:_|of|\s|(?=[A-Z]))", re.I)
"""How names of columns begin that hold how many of something there are."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DATA = re.compile(
    r"\s?(?:\S{0,14}\s)?(?:엑셀|파일|시트|데이터|자료|표에서|설문|조사에서|기록에서|실험에서"
    r"|(?:data|dataset|spreadsheet|workbook|survey|simulation|experiment|study|census)(?![a-z]))",
    re.I,
)
_BESIDE = 3
"""Letters from a word to the name of a file that it describes."""
_FEW_KINDS = 31
"""Different numbers of a column at most that an ordinal is one of."""
_COUNTERS = frozenset(("개", "명", "건", "곳", "편", "대", "마리", "번", "회", "줄", "행", "people"))
DAY_WORDS = frozenset(("day", "date", "날", "날짜", "일자", "하루"))
_EACH_OF_DATA = re.compile(
    r"(별로?)\s(?:[가-힣]+\s){0,2}(?:\S*(?:표|자료|데이터|파일|통계|지표|목록|기록|조사)(?:에서는?|에|를|을|에는)?)(?=\s)"
)
"""Says of which each row of some data is: `분기별 거시 지표에서`."""
_OF_THE = re.compile(r"(?: of (?:the|our|my|these|those|all(?: the)?)(?= ))?", re.I)
_CODE = re.compile("번호|코드")
_CODES = frozenset(("id", "uuid", "code", "fips", "fip", "zip", "zipcode"))
_SUMMED = ("how_much", "sum", "average", "median", "share", "change")


@dataclass(frozen=True, slots=True)
class Said:
    """What the question says of a column: how likely, in which tokens, and how much of the name it has."""

    likely: float
    tokens: frozenset[int]
    coverage: float


@dataclass(frozen=True, slots=True)
class Reading:
    """A query, with the tokens it explains, the operations it carries out and what it assumes.

    One that is `whole` stands only where it leaves no word unexplained.
    """

    query: TableQuery
    used: frozenset[int]
    done: frozenset[str] = frozenset()
    assumes: float = 0.0
    missing: str = ""
    whole: bool = False
    beside: TableQuery | None = None


class QuestionInTable:
    """What a question says in one table."""

    def __init__(self, question: str, table: Table, named: bool, *, by_meaning: bool = False) -> None:
        self.named = named
        self.by_meaning = by_meaning
        self.text = parted(_without_files(question, table) if named else question)
        self.text = _AFTERWORD.sub(_without_afterword, self.text)
        self.text = _ABBREVIATED.sub(lambda said: " " * len(said.group()), self.text)
        self.text = _EXAMPLES.sub(lambda said: " " * len(said.group()), self.text)
        self.text = _ORDINAL_OF.sub(lambda said: _apart(said, table), self.text)
        self.korean = re.search("[가-힣]", question) is not None
        self.tokens = tokens(self.text)
        self.stated = stated_in(self.text, self.tokens, table)
        for start, end in self.stated.spans if self.stated else ():  # what is multiplied isn't summed up by that word
            self.text = self.text[:start] + " " * (end - start) + self.text[end:]
        self.formula = self.stated.formula if self.stated else None
        table = table.making(self.formula)
        self.pair = None if self.formula else self._asked_pair(table)
        table = replace(table, columns=(*table.columns, self.pair.column)) if self.pair else table
        self.table = table
        if (time := next((c for c in table.columns if c.years), None)) and 100 <= time.low < 1000:
            self.tokens = [replace(t, kind="year") if _may_be_year(t, time) else t for t in self.tokens]
        month = [c for c in table.columns if c.kind == "date" and c.low == c.high and c.first_month == c.last_month]
        if month and not any(DAYS.search(c.name) for c in table.columns if c.kind == "number"):
            self.tokens = [_day_of(t, month[0], self.text) for t in self.tokens]
        self.operations = found(lexicon().operations, QUARTER.sub(lambda m: " " * len(m.group()), self.text))
        if self.pair and self.pair.kind not in ("hours", "days"):  # "below its minimum" asks for no lowest figure
            self.drop_operations([found.span() for found in lexicon().pairs[self.pair.kind][0].finditer(self.text)])
        self.drop_operations([(t.start, t.end) for t in self.tokens if self._is_called(t)])
        numbers = [(t.start, t.end) for t in self.tokens if t.kind == "number"]
        self.drop_operations(numbers, "share")  # "below 50 percent"
        self._keep_known_words()
        self.drop_operations([match.span(1) for match in _EACH_OF_DATA.finditer(self.text)], "each")
        self.comparisons = found(lexicon().comparisons, self.text)
        spans = [*self.operations.values(), *self.comparisons.values(), *found(lexicon().times, self.text).values()]
        places = [span for each in spans for span in each]
        for start, end in self.comparisons.get("between", ()):  # what stands between the two words is a value
            places.remove((start, end))
            places += [(start, start + 4), (end - 2, end)]
        self.operators = frozenset(
            n for n, token in enumerate(self.tokens) if any(_takes_up(token, start, end) for start, end in places)
        )
        superlative = self._add_superlatives()
        glossed = frozenset(
            n for n, (a, b) in enumerate(pairwise(self.tokens)) if self.text[a.end : b.start].strip() == "("
        )
        self.links: Links = links(
            self.tokens, table, self.operators, named=named, by_meaning=by_meaning, glossed=glossed
        )
        self._unlink_counts_and_days()
        self.operators |= {n for n in superlative if not self.links.columns[n]}
        for n in self.describing:  # the treatment of "the treatment survey" asks for none who had it
            if any(map(self.flag, self.links.columns[n])):
                self.links.columns[n] = {c: rate for c, rate in self.links.columns[n].items() if not self.flag(c)}
                self.links.named.setdefault(n, LIKELY)
        over = lexicon().over.search(self.text)
        spoken = [n for n, t in enumerate(self.tokens) if over and over.start() < t.end and t.start < over.end()]
        self.over = frozenset(n for n in spoken if 1.0 not in self.links.columns[n].values())
        self.over = frozenset() if len(self.over) < len(spoken) else self.over  # a limit that is a column
        self.compared = self._compared_columns()
        if self.compared:
            self.drop_operations([self._span(self.compared)])
        self.left_out = self._leave_out()
        self.ordinals = dict(self._ordinals())
        self.drop_operations([(self.tokens[n].start, self.tokens[n].end) for n in self.ordinals])
        self._keep_counts()
        self._link_pair()
        self._link_formula()
        self.base = TableQuery(table.file.path, table.sheet, formula=self.formula)
        self._link_tables_beside()
        self.persons = self._link_persons()
        self._link_rows()

    def _asked_pair(self, table: Table) -> Pair | None:
        """Return the figure of two columns that the question has a word for; what is short is listed, not summed up."""
        pair = next((one for one in table.pairs if lexicon().pairs[one.kind][0].search(self.text)), None)
        summed = any(lexicon().operations[name].search(self.text) for name in _SUMMED)
        return None if pair and pair.kind == "short" and summed else pair

    def _compared_columns(self) -> tuple[Filter, frozenset[int]] | None:
        """Return which rows are asked for where one column is compared with another, and the tokens that say so."""
        if self.pair or self.has("change", "how_much", "correlation"):
            return None
        for op, expression in lexicon().columns.items():
            for match in expression.finditer(self.text):
                places = self._korean_sides(match) if self.korean else self._english_sides(match)
                if places is None:
                    continue
                (first, low), (other, high) = places
                if match.group().lower() in ("before", "after") and not self.is_date(other):
                    continue
                said = frozenset(range(min(low, high), max(low, high) + 1))
                said |= {n for n, token in enumerate(self.tokens) if match.start() <= token.start < match.end()}
                if not any(self.tokens[n].number is not None for n in said):
                    words = " ".join(self.tokens[n].text for n in sorted(said))
                    return Filter(first, f"column_{op}", (other,), words), said
        return None

    def _korean_sides(self, match: re.Match[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
        """Return the columns before 보다 and beside it; one that isn't named is what the other is a bound of.

        Of days, a word that the comparison follows needs no 보다: `기한을 넘겨 낸`.
        """
        before = [n for n, token in enumerate(self.tokens) if token.end <= match.start()]
        than = next((n for n in reversed(before) if self.tokens[n].text.endswith("보다")), None)
        if than is None and before and (other := self._comparable(before[-1], "")) and self.is_date(other):
            than = before[-1]
        if than is None or before[-1] - than > 1 or not (other := self._comparable(than, "")):
            return None
        after = [n for n, token in enumerate(self.tokens) if token.start > match.start()][:2]
        for n in (than + 1, than - 1, than - 2, *(after if self.is_date(other) else ())):
            if n in (*before, *after) and (first := self._comparable(n, other)):
                return (first, n), (other, than)
        bound = [
            c.name for c in self.table.columns if c.kind == "number" and other.endswith(c.name) and c.name != other
        ]
        return ((bound[0], than), (other, than)) if len(bound) == 1 and before[-1] == than else None

    def _english_sides(self, match: re.Match[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
        """Return the columns before and after "is below", or within and after "more … than"."""
        after = [n for n, token in enumerate(self.tokens) if token.start >= match.end()][:3]
        other = next(((name, n) for n in after if (name := self._comparable(n, ""))), None)
        if other is None or any(not self.tokens[n].filler for n in after if n < other[1]):
            return None
        before = [n for n, token in enumerate(self.tokens) if token.start < match.end() and n < after[0]]
        sides = (((name, n), other) for n in reversed(before[-5:]) if (name := self._comparable(n, other[0])))
        whole = {*words_of(self.column(other[0]).bare_name)}
        numbers = [one for one in self.table.columns if one.kind == self.column(other[0]).kind == "number"]
        bound = [one.name for one in numbers if {*words_of(one.name)} < whole]
        return next(sides, ((bound[0], other[1]), other) if len(bound) == 1 else None)

    def _comparable(self, n: int, but: str) -> str:
        """Return the column of numbers, not of years, or of days that a word is the name of, as another one is."""
        kinds = ("number", "date") if not but else (self.column(but).kind,)
        likely = {
            name: rate
            for name, rate in self.links.columns[n].items()
            if name != but and self.column(name).kind in kinds and not self.column(name).years and rate >= NAMED
        }
        return max(likely, key=lambda name: likely[name], default="")

    def _span(self, compared: tuple[Filter, frozenset[int]]) -> tuple[int, int]:
        said = [self.tokens[n] for n in compared[1]]
        return min(token.start for token in said), max(token.end for token in said)

    def _keep_known_words(self) -> None:
        """Drop what a Korean word would ask for by letters in the middle of it: `기대수명` counts nothing."""
        known = [(t.start, t.start + len(form)) for t in self.tokens for form in t.forms if form in lexicon().alike]
        self.operations = {
            name: kept
            for name, spans in self.operations.items()
            if (kept := [(a, b) for a, b in spans if not any(start < a and b < end for start, end in known)])
        }

    def _is_called(self, token: Token) -> bool:
        """Whether both words of a Korean compound are in a column's name: `최고기온` asks for no highest figure."""
        parts = compound_of(token)
        return all(parts) and any(
            all(any(likeness(part, word) for word in words_of(c.name)) for part in parts) for c in self.table.columns
        )

    def _add_superlatives(self) -> frozenset[int]:
        """Ask for most where an English superlative says so that no list has, and return these words.

        They may mean a column as well: the deadliest has the most deaths.
        """
        known = self.spans("top", "bottom")
        new = [(a, b) for a, b in superlatives(self.text) if not any(a < end and start < b for start, end in known)]
        if new:
            self.operations["top"] = sorted([*self.operations.get("top", ()), *new])
        return frozenset(n for n, token in enumerate(self.tokens) if (token.start, token.end) in new)

    def _unlink_counts_and_days(self) -> None:
        """Unlink numbers that say how many from columns with a number, and days from columns of yes and no."""
        dated = [c.name for c in self.table.columns if c.kind == "date" and c.distinct > 1]
        for n, token in enumerate(self.tokens):
            likely = self.links.columns[n]
            if token.unit in _COUNTERS:
                likely.clear()
            if not DAY_WORDS.isdisjoint(token.forms):
                flags = [one for one in likely if self.flag(one) and len(words_of(one)) > 1]
                for name in flags:
                    del likely[name]
                if flags and len(dated) == 1:
                    likely[dated[0]] = NAMED

    def drop_operations(self, said: Sequence[tuple[int, int]], *names: str) -> None:
        """Drop what words would ask for that say something else.

        Args:
            said: where these words are.
            names: the operations; none for all of them.
        """
        kept = {
            name: [(a, b) for a, b in spans if not any(a < end and start < b for start, end in said)]
            if not names or name in names
            else spans
            for name, spans in self.operations.items()
        }
        self.operations = {name: spans for name, spans in kept.items() if spans}

    def _link_pair(self) -> None:
        """Link the words that ask for a figure of two columns to it."""
        for n in self.pair_tokens if self.pair else ():
            self.links.columns[n] = {self.pair.column.name: 1.0} if self.pair else {}

    def _link_formula(self) -> None:
        """Link the words of a formula, and those that may only mean one of its columns, to the figure that it makes."""
        if self.stated is None or self.formula is None:
            return
        name, spoken = self.formula.name, self.stated.tokens
        for n, likely in enumerate(self.links.columns):
            loose = max((likely.pop(one, 0.0) for one in self.in_formula if likely.get(one, 1.0) < LIKELY), default=0.0)
            if n in spoken:
                self.links.columns[n] = {name: 1.0}
                self.links.named.pop(n, None)
                self.links.guessed.pop(n, None)
            elif loose:
                likely[name] = loose
        self.operators -= spoken
        self.links.values = [one for one in self.links.values if spoken.isdisjoint(range(one.first, one.last + 1))]

    @property
    def in_formula(self) -> frozenset[str]:
        """The two columns of the formula that the question states."""
        return frozenset((self.formula.left, self.formula.right)) if self.formula else frozenset()

    @cached_property
    def paired(self) -> tuple[str, ...]:
        """The two columns that the figure is made of that the question asks for, or that it compares."""
        if self.compared:
            return (self.compared[0].column, str(self.compared[0].values[0]))
        return (self.pair.less, self.pair.more) if self.pair else ()

    def is_paired(self, name: str) -> bool:
        return name in self.paired or (self.pair is not None and name == self.pair.column.name)

    @cached_property
    def pair_tokens(self) -> frozenset[int]:
        """The words that ask for a figure of two columns, or compare them."""
        if self.compared:
            return self.compared[1]
        if self.pair is None:
            return frozenset()
        spans = [found.span() for found in lexicon().pairs[self.pair.kind][0].finditer(self.text)]
        return frozenset(n for n, t in enumerate(self.tokens) for a, b in spans if a < t.end and t.start < b)

    def lacking(self) -> Filter | None:
        """Return which rows are asked for where it compares columns, or asks what is short or who owes."""
        if self.compared:
            return self.compared[0]
        if (
            self.pair is None
            or self.pair.kind in ("hours", "days", "unused")
            or self.superlative
            or self.has("each", *_SUMMED)
        ):
            return None
        said = " ".join(self.tokens[n].text for n in sorted(self.pair_tokens))
        return Filter(self.pair.column.name, "gt", (0.0,), said)

    def _leave_out(self) -> frozenset[str]:
        """Return the columns of figures that are to be left out: "without the total"."""
        out: set[str] = set()
        for start, end in self.comparisons.get("not", ()):
            for n, token in enumerate(self.tokens):
                beside = 0 <= start - token.end <= 3 if self.korean else 0 <= token.start - end <= 5
                numbers = {name for name in self.links.columns[n] if self.column(name).kind == "number"}
                if beside and numbers and not any(map(self.flag, numbers)):
                    said = {
                        name: sum(name in likely for likely in self.links.columns[max(0, n - 2) : n + 1])
                        for name in numbers
                    }
                    most = max(said.values())  # not the percent score, but the score
                    out |= {name for name in numbers if said[name] == most}
                    self.drop_operations([(token.start, token.end)])
        return frozenset(out)

    def _ordinals(self) -> Iterator[tuple[int, float]]:
        """Yield the ordinals before the name of a column that has such a number: the first class of `pclass`."""
        for (n, token), likely in zip(enumerate(self.tokens[:-1]), self.links.columns[1:], strict=True):
            terms = (*token.forms, *(term for form in token.forms for term in lexicon().alike.get(form, ())))
            found = next((int(one[1]) for term in terms if (one := _ORDINAL.fullmatch(term))), 0)
            columns = [self.column(name) for name, rate in likely.items() if found and rate >= NAMED]
            few = _FEW_KINDS if token.text.isalpha() else 10 * _FEW_KINDS
            if any(c.kind == "number" and c.distinct <= few and c.low <= found <= c.high for c in columns):
                yield n, float(found)

    def _keep_counts(self) -> None:
        """Count nothing where "number of" goes on from a noun: "the serial number of the drill", "his phone number"."""
        named = [
            token.end
            for n, (token, likely) in enumerate(zip(self.tokens, self.links.columns, strict=True))
            if likely or (token.text.isalpha() and not token.filler and n not in self.operators)
        ]
        spans = [
            (a, b)
            for a, b in self.operations.pop("count", [])
            if not (self.text.startswith("number", a) and a - 1 in named)
        ]
        if spans:
            self.operations["count"] = spans

    def _link_tables_beside(self) -> None:
        """Link the words that tables beside it are called by to the columns that say what their rows are called."""
        for name, words in self.table.labels.items():
            for n, token in enumerate(self.tokens):
                called = max((likeness(form, word) for form in token.forms for word in words), default=0.0)
                if token.kind == "word" and called >= CALLED and not token.filler:
                    likely = self.links.columns[n]
                    likely[name] = max(NAMED, likely.get(name, 0.0))
                    self.links.named.setdefault(n, LIKELY)

    def _link_persons(self) -> frozenset[int]:
        """Link words that ask for a person to the column of persons, and return them."""
        texts = [column for column in self.table.columns if column.kind == "text" and column.distinct > 1]
        column = next((one for one in texts if set(words_of(one.name)) & lexicon().persons), None)
        column = column or next((one for one in texts if key_of(one.name) == "name"), None)
        if column is None:
            return frozenset()
        asking = [
            n
            for n, token in enumerate(self.tokens)
            if _WHO.match(token.text) and not _TO_US.search(self.text[: token.end])
        ]
        for n in asking:
            self.links.columns[n][column.name] = LIKELY
        return frozenset(asking)

    def _link_rows(self) -> None:
        """Link the noun that is asked for, where nothing has its name, to the column of names that has none itself."""
        label = label_of(self.table)
        if label is None or not re.fullmatch(r"column\d+", label.name) or not self.superlative:
            return
        for n, token in enumerate(self.tokens):
            known = self.links.columns[n] or any(v.first <= n <= v.last for v in self.links.values)
            asked = self.is_asked_for(n) or (n - 1 in self.links.named and self.is_asked_for(n - 1))
            if token.kind == "word" and not known and not token.filler and asked:
                self.links.columns[n][label.name] = LIKELY

    @cached_property
    def called(self) -> frozenset[int]:
        """The words that the table is called by."""
        named = self.links.named.items()
        return frozenset(n for n, likely in named if likely >= CALLED and self.tokens[n].kind == "word")

    @cached_property
    def told(self) -> Mapping[int, float]:
        """The words that stand for a column, a value or the table, read as they are, and how likely they do."""
        made = {n: max(likely.values(), default=0.0) for n, likely in enumerate(self.links.columns)}
        made |= dict.fromkeys(self.called, 1.0)
        made = {n: likely for n, likely in made.items() if likely >= LOOSE and n not in self.links.guessed}
        for one in self.links.values:
            for n in range(one.first, one.last + 1):
                sure = one.whole and n not in self.links.guessed
                made[n] = max(made.get(n, 0.0), 1.0 if sure else LOOSE)
        return made

    def column(self, name: str) -> Column:
        column = self.table.column(name)
        assert column is not None
        return column

    @cached_property
    def said(self) -> dict[str, Said]:
        """What the question says of each column, the likeliest first."""
        made: dict[str, Said] = {}
        for name in dict.fromkeys(name for likely in self.links.columns for name in likely):
            words = words_of(name)
            hits = {n: likely[name] for n, likely in enumerate(self.links.columns) if name in likely}
            for n, token in enumerate(self.tokens):
                number = number_word(token.text) if token.number is None else token.number
                counts = token.unit in _COUNTERS
                if number is not None and not counts and float(number).is_integer() and str(int(number)) in words:
                    hits[n] = 1.0
            pair = self.formula is not None and name == self.formula.name
            pair = pair or (self.pair is not None and name == self.pair.column.name)
            said = {n for n in hits if n not in self.operators or self._names_too(n, hits[n])}
            if not said and len(words) > 1 and not pair:  # "total" alone is no total cost, but the heaviest has a mass
                continue
            made[name] = Said(max(hits.values()), frozenset(hits), self._coverage(name))
        return dict(sorted(made.items(), key=lambda one: (one[1].coverage, one[1].likely, -len(one[0])), reverse=True))

    def _names_too(self, n: int, likely: float) -> bool:
        """Whether a word that asks for something names a column as well: the heaviest has a mass, 점유율 is a share."""
        token = self.tokens[n]
        shares = self.spans("share", "rate")
        asks = any(token.start < end and start < token.end for start, end in shares)
        counted = token.forms[-1].startswith("몇") and likely >= NAMED
        return counted or bool(lexicon().loosely.get(token.forms[-1])) or (asks and likely >= NAMED)

    def _coverage(self, name: str) -> float:
        """Return how many words of the question a column's name takes up, less for words of it nobody said."""
        spoken = key_of(self.text)
        said = 3.0 if len(name) > 4 and key_of(name) in spoken else 0.0
        free = 0
        for word in words_of(name):
            best = 0.0
            for token in self.tokens:
                forms = forms_of(token)
                if token.number is not None and token.number.is_integer():
                    forms = (*forms, str(int(token.number)))
                if numeral := number_word(token.text[:1]) if len(token.text) <= 2 else None:
                    forms = (*forms, str(int(numeral)))
                best = max([best, *(likeness(form, word) for form in forms)])
            best = max(best, float(len(word) > 5 and word in spoken))
            said += best
            free += not best and len(word) > 2 and word not in TOTALS
        linked = sum(
            likely.get(name, 0.0) >= NAMED for n, likely in enumerate(self.links.columns) if not self.tokens[n].filler
        )
        return max(said, linked) - 0.2 * free

    def columns(self, kinds: Sequence[str], apart: frozenset[int], but: set[str], least: float) -> list[str]:
        """Return the columns of some kinds that words name which stand for nothing else, the likeliest first."""
        return [
            name
            for name, one in self.said.items()
            if self.column(name).kind in kinds
            and name not in but
            and name not in self.left_out
            and one.likely >= least
            and (one.tokens - apart or one.likely >= NAMED)
        ]

    def figures(self) -> list[Column]:
        """Return the columns that hold figures, not years or ids."""
        columns = [c for c in self.table.columns if c.name not in self.paired]
        columns = [c for c in columns if c.name not in self.table.beside or c.name in self.said]
        numbers = [c for c in columns if c.kind == "number" and not c.years and key_of(c.name)]
        numbers = [c for c in numbers if not self.is_code(c.name)]
        return [c for c in numbers if not self.is_key(c.name) and not re.fullmatch(r"column\d+", c.name)]

    def is_key(self, name: str) -> bool:
        """Whether numbers of a column only say which one is meant."""
        return self.is_code(name) or (bool(set(words_of(name)) & IDS) and not NUMBER_OF.match(name))

    def is_code(self, name: str) -> bool:
        """Whether a column numbers its rows, or what they are of: nobody asks for the highest code."""
        return self.table.numbers_rows(name) or bool(set(words_of(name)) & _CODES) or _CODE.search(name) is not None

    @cached_property
    def describing(self) -> frozenset[int]:
        """The words before one for a table that say what it is of, where it is called as some of them."""
        made: set[int] = set()
        for n, token in enumerate(self.tokens):
            run = [n]
            while run[0] and self.text[self.tokens[run[0] - 1].end : self.tokens[run[0]].start] == " ":
                before = self.tokens[run[0] - 1]
                if before.filler or before.kind != "word" or (self.korean and before.forms[-1] != before.text):
                    break
                run.insert(0, run[0] - 1)
            called = BLANK in self.text[token.end : token.end + _BESIDE]
            called = called or any(k in self.links.named or self.links.columns[k] for k in run)
            if called and not token.filler and _DATA.match(self.text[token.end :]):
                made.update(run)
        return frozenset(made)

    @cached_property
    def lasting(self) -> bool:
        """Whether it asks how long something takes."""
        return LASTING.search(self.text) is not None

    def time_column(self) -> Column | None:
        """Return the column of dates or years."""
        dated = [c for c in self.table.columns if c.kind == "date" and c.distinct > 1]
        dated += [c for c in self.table.columns if c.years]
        beside = self.table.beside

        def fits(column: Column) -> tuple[bool, bool, bool]:
            return self._is_named(column.name), column.name not in beside, self._is_near(column.name)

        return max(dated, key=fits, default=None)

    def _is_near(self, name: str) -> bool:
        """Whether a word that is part of columns' names is like one of this column's: a sale is when it was sold."""
        named = [token.forms for token, likely in zip(self.tokens, self.links.columns, strict=True) if likely]
        return any(likeness(word, form) for word in words_of(name) for forms in named for form in forms)

    def is_date(self, name: str) -> bool:
        return self.column(name).kind == "date"

    def is_time(self, name: str) -> bool:
        column = self.table.column(name)
        return column is not None and (column.kind == "date" or column.years)

    def unique(self, name: str) -> bool:
        """Whether each row has another value."""
        column = self.column(name)
        return column.distinct >= 0.9 * max(1, column.filled)

    def flag(self, name: str) -> Filter | None:
        """Return which value of a column of yes and no says yes."""
        column = self.column(name)
        if column.kind == "number" and (column.low, column.high, column.distinct) == (0.0, 1.0, 2):
            return Filter(name, "is", (1.0,), name)
        true = tuple(value for value in column.values if value.casefold() in _YES)
        return Filter(name, "is", true, name) if true and len(column.values) == 2 else None

    def has(self, *operations: str) -> bool:
        return any(operation in self.operations for operation in operations)

    def spans(self, *operations: str) -> list[tuple[int, int]]:
        """Return where the words of some operations stand, those of the first one first."""
        return [span for name in operations for span in self.operations.get(name, ())]

    @property
    def aggregate(self) -> str:
        return next((name for name in AGGREGATES if self.has(name)), "")

    @property
    def superlative(self) -> bool:
        return self.has("top", "bottom", "most_common")

    def named_by(self, filters: Sequence[Filter]) -> frozenset[int]:
        """Return the tokens that name the columns of filters."""
        every = [self.said[one.column].tokens for one in filters if self._is_named(one.column)]
        return frozenset().union(*every)

    def _is_named(self, name: str) -> bool:
        """Whether words name a column, and no time only by what they may mean: an expense is no day of payment."""
        return name in self.said and (self.said[name].likely >= LIKELY or not self.is_time(name))

    def reading(
        self, query: TableQuery, used: frozenset[int], *done: str, assumes: float = 0.0, missing: str = ""
    ) -> Reading:
        """Return a reading that also explains the tokens that name its columns."""
        spoken = [self.said[name].tokens for name in query.names | query.figures if self._is_named(name)]
        spoken.append(self.kinds_of(query.measure))
        return Reading(query, used.union(*spoken), frozenset(done), assumes, missing)

    def is_rate(self, name: str) -> bool:
        """Whether a column holds shares of something, by its name or by the word that asks for it: `실업률`."""
        rates = self.operations.get("rate", ())
        spoken = (self.tokens[n] for n in self.said[name].tokens)
        asked = any(token.start <= start < token.end for token in spoken for start, _ in rates)
        return bool(set(words_of(name)) & RATES) or self.column(name).unit == "%" or asked

    @cached_property
    def asks_for_rate(self) -> bool:
        """Whether a column that the question names holds shares already."""
        named = (
            name
            for name, one in self.said.items()
            if one.likely >= LIKELY and (one.tokens - self.operators or one.coverage >= len(words_of(name)))
        )
        return any(self.column(name).kind == "number" and self.is_rate(name) for name in named)

    def place_columns(self) -> list[Column]:
        """Return the column that says where rows are, if there is one."""
        return [c for c in self.table.columns if c.kind == "text" and set(words_of(c.name)) & _PLACES][:1]

    @property
    def superlative_at(self) -> int:
        """Where the word stands that asks for most or least."""
        spans = self.spans("top", "bottom", "most_common")
        return min((start for start, _ in spans), default=0)

    def is_asked_for(self, n: int) -> bool:
        """Whether a word says what is asked for: it follows "which", or is the last noun of a Korean question."""
        if self.korean and self.superlative and _AMONG.match(self.text, self.tokens[n].end):
            return True
        if self.korean and self.superlative and self.tokens[n].start > self.superlative_at:
            after = self.tokens[n + 1 :]
            if not after or (len(after) == 1 and not self.links.columns[n + 1] and n + 1 not in self.links.named):
                return True
        return _WHICH.search(self.text[: self.tokens[n].start]) is not None

    @cached_property
    def counted_nouns(self) -> frozenset[int]:
        """The words right behind "how many", or before it in Korean."""
        said = [(n, t) for n, t in enumerate(self.tokens) if not t.filler]
        spans = self.operations.get("count", ())
        if self.korean:
            return frozenset(max((n for n, t in said if t.end <= start), default=-1) for start, _ in spans) - {-1}
        ends = [found.end() for _, end in spans if (found := _OF_THE.match(self.text, end))]
        nouns = {n for n, t in said if any(0 <= t.start - end <= 1 for end in ends)}
        for n, token in said:  # of bike rentals, both are
            before = self.tokens[n - 1].text.lower() if n - 1 in nouns & self.links.named.keys() else ""
            if before and before == lemma(before) and token.start - self.tokens[n - 1].end == 1:
                nouns.add(n)
        return frozenset(nouns)

    def keyed(self, filters: Sequence[Filter]) -> bool:
        """Whether filters name one row: a value that no other row has, or a word of what few rows are called."""
        label = label_of(self.table)
        called = {
            v
            for one in self.links.values
            if label and one.column == label.name and one.count <= _FEW_CALLED
            for v in one.values
        }
        return any(
            (one.op == "is" and self.unique(one.column))
            or (one.op == "has" and called >= {*one.values} and self.unique(one.column))
            for one in filters
        )

    def says_what_of(self, query: TableQuery) -> bool:
        """Whether the question names the column that it asks of itself, and what it asks of that."""
        mine = self.said.get(query.measure)
        if mine is None or mine.likely < LIKELY:
            return False
        how_much = {"how_much"} if not query.filters else set()  # "how much is it" says no more than a name
        return bool(self.operations.keys() - how_much) or self.lacking() is not None

    def kinds_of(self, measure: str) -> frozenset[int]:
        """Return the words for another figure right behind that of one: "bike thefts" are those of Bike, not Theft."""
        mine = {n for n, token in enumerate(self.tokens) if key_of(measure) in {key_of(form) for form in token.forms}}
        others = [
            one.tokens for name, one in self.said.items() if name != measure and self.column(name).kind == "number"
        ]
        beside = (n + 1 for n in mine if n + 1 < len(self.tokens) and self.links.columns[n + 1])
        behind = {n for n in beside if self.tokens[n].start - self.tokens[n - 1].end == 1}
        return frozenset(n for n in behind for tokens in others if n in tokens and not tokens & mine)

    def lasts(self, name: str) -> bool:
        column = self.table.column(name)
        return column is not None and column.unit in UNITS_OF_TIME

    def in_money(self, name: str) -> bool:
        return is_money(self.column(name))

    @cached_property
    def of_amounts(self) -> bool:
        """Whether it names the table by a word for amounts of money: expenses, sales."""
        said = (form for n, likely in self.links.named.items() if likely >= CALLED for form in self.tokens[n].forms)
        return any(_AMOUNT.search(" ".join(lexicon().alike.get(form, (form,)))) for form in said)

    @cached_property
    def whether(self) -> bool:
        """Whether it is a question of yes or no."""
        if any(is_question_word(token.text) for token in self.tokens):
            return False
        return (_WHETHER_KO if self.korean else _WHETHER).search(self.text) is not None


def is_money(column: Column) -> bool:
    """Whether a column holds amounts of money."""
    said = {*words_of(column.name), column.unit.casefold()}
    return column.money or bool(said & lexicon().money) or _AMOUNT.search(" ".join((column.name, *said))) is not None


def _takes_up(token: Token, start: int, end: int) -> bool:
    """Whether an expression is most of a word, or all of it but its ending."""
    within = min(end, token.end) - max(start, token.start)
    ends = start <= token.start < end <= token.end and is_ending(token.text[end - token.start :])
    return 5 * within >= 2 * len(token.text) or ends


def _may_be_year(token: Token, time: Column) -> bool:
    return token.kind == "number" and not token.unit and time.low <= float(token.number or 0) <= time.high


def _day_of(token: Token, month: Column, text: str) -> Token:
    """Return a number that is a day of the month as that day, where all dates of a column are of one month."""
    day = int(token.number or 0) if token.kind == "number" and not token.unit else 0
    if not 0 < day < 32 or not _DAY_AFTER.match(text, token.end):
        return token
    said = f"{int(month.low):04d}-{month.first_month:02d}-{day:02d}"
    return replace(token, text=f"{token.text}일", end=token.end + 1, forms=(said,), number=None, kind="day")


def _apart(said: re.Match[str], table: Table) -> str:
    """Return an ordinal apart from the name of a column that is written together with it: `first-class`."""
    called = any(
        likeness(said[2].lower(), word) >= LIKELY for column in table.columns for word in words_of(column.name)
    )
    return f"{said[1]} {said[2]}" if called else said.group()


def _without_afterword(said: re.Match[str]) -> str:
    """Return the words after a question blanked, unless they say what becomes of several rows."""
    worked = any(lexicon().operations[name].search(said.group()) for name in ("average", "median", "sum", "share"))
    return said.group() if worked else BLANK * len(said.group())


def before_table_noun(question: str) -> list[str]:
    """Return the words that stand before a word for a table: "the towny list"."""
    said = tokens(question)
    return [form for one in said if not one.filler and TABLE_NOUN.match(question[one.end :]) for form in one.forms]


def _without_files(question: str, table: Table) -> str:
    """Return a question with the name of a file blanked, so that its words aren't read twice."""
    stem = table.stem.casefold()
    parts = [
        w
        for w in re.findall(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|[a-z]+\d\w*", question.casefold())
        if len(w) >= 5 and stem.startswith(w)
    ]
    parts += [word for word in before_table_noun(question) if word in words_of(stem)]
    for name in (table.file.path, table.file.path.split("/")[-1], table.stem, *parts):
        said, bare = question.casefold(), re.escape(name.casefold())
        found = re.search(rf"(?<![a-z]){bare}(?![a-z])", said) or re.search(bare, said)
        if found and len(name) > 2:
            return question[: found.start()] + BLANK * len(name) + question[found.end() :]
    return question
