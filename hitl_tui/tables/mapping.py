"""A question becomes typed queries of one table: every reading that fits, scored by how much it explains.

Words hit values, columns and operations. Each choice of what they stand for gives a query; what a query leaves
unexplained counts against it by how much the word says, and so does what it assumes.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import product
from math import prod

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.links import NAMES, Links, ValueLink, bare_form, forms_of, label_of, links, names_of
from hitl_tui.tables.moments import QUARTER, periods
from hitl_tui.tables.profile import UNITS_OF_TIME, Column, Pair, Table
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.words import (
    BLANK,
    Token,
    compound_of,
    ends_as_predicate,
    found,
    is_ending,
    is_past,
    is_question_word,
    key_of,
    lexicon,
    likeness,
    months_of,
    number_word,
    parted,
    tokens,
    words_of,
)  # fmt: skip

_AGGREGATES = ("average", "median", "deviation", "distinct", "count", "sum")
_WORKED = ("average", "median", "sum", "deviation")
"""Figures of several rows, other than how many there are."""
_CHOICES = 3
"""Columns, and readings of a value, that are tried for each place of a query."""
_MOST_READINGS = 24
_NAMED, _LIKELY, _LOOSE = 0.95, 0.75, 0.5
"""How likely a word stands for a column: it is its name; it is part of it; it may."""
EXPLAINED = 0.64
"""Share of what a question says that a query has to explain."""
CLEAR = 1.7
"""Score from which a question is about a table that it doesn't name, though words of it are left."""
_PREDICATE = 0.25
"""How much a predicate says at most: what rows are about is said by nouns."""
_BEFORE_NOUN = 0.4
"""How much a Korean word says at most that ends as verbs before a noun do, and as some nouns."""
_SUBJECT = re.compile(
    r"(?:\b(?:we|you|they|i|he|she|people|everyone|anyone|who)|\b(?:did|do|does|got|get|gets|to)"
    r"(?:\s(?!(?:our|the|a|an|my|your|their|his|her|its|this|that|any|all|each)\s)\w+)?)"
    r"\s+(?:still\s|already\s|ever\s|all\s)?$",
    re.I,
)
"""What an English verb follows."""
_COUNTS_ONE = 1.2
"""What a count of rows costs where the question names a single row."""
_ASKING = r"(?:which|who|whom|what|when|where|how)\b"
_SECOND = re.compile(rf",?\s+and\s+(?={_ASKING})|,?\s+그리고\s+|(?<=[가-힣])[고며],?\s+", re.I)
"""What stands between two questions in one sentence, or may."""
_BOUNDS = ("lt", "le", "gt", "ge")
_BOUND = re.compile(r"[가-힣]|exceed|\bthan\b|\bat (?:least|most)\b", re.I)
"""What compares, whatever stands beside it: "over" and "after" may not."""
_FEW_VALUES = 6
_DENIED = re.compile("[미안못불]|(?:no|not|un)[ -]?", re.I)
"""How values begin that deny what their column is called."""
_FEW_CALLED = 3
"""Rows that a word of a name may mean."""
_SHOWN_COLUMNS = 6
"""Columns of a row that has no name which say which one it is."""
_MEANT, _MEANT_APART = 0.3, 0.1
"""How near in meaning a question has to be to a column of figures, and by how much nearer than to the next."""
_FAR_APART, _NEAR_BY, _MOST_NEAR = 0.35, 0.3, 0.8
"""From where on a word is near to what a table is of, how much nearer means it, and how much of it is said so."""
_ALIKE = 0.45
"""From where on what is counted is near to what a table is of."""
_FAR = 200
"""Years from those of a table by which a number isn't one of them."""
_YES = {"yes", "true", "y", "t", "1", "o", "예", "네"}
_IDS = {"id", "uuid", "code", "fips", "lat", "lon", "latitude", "longitude", "index", "zip", "zipcode", "no", "number",
        "rank", "lng", "unnamed"}  # fmt: skip
_PLACES = frozenset(
    {"place", "location", "city", "country", "region", "state", "county", "address", "street", "room"}
    | {"지역", "장소", "위치", "주소", "시도"}
)
_TOTALS = ("annual", "total", "all", "overall", "mean", "average", "value", "합계", "전체", "계", "amount", "revenue",
           "금액", "매출", "매출액")  # fmt: skip
_RATES = {"share", "percent", "perc", "pct", "ratio", "rate", "percentage", "비율", "proportion"}
TABLE_NOUN = re.compile(
    r"\s?\S{0,12}\s?(?:표|목록|엑셀|파일|시트|데이터|자료|csv|tsv|list|table|file|data|spreadsheet|sheet|workbook|excel|parquet)",
    re.I,
)
_TABLE_NAME = re.compile(r"(?:표|목록|명부|현황|기록|내역|일지|대장|월|년|list|table|data|log|records?|register)$")
_PREPOSITION = re.compile(r"(?<![a-z])(?:by|per|of|in|for)(?![a-z])", re.I)
_DAYS = re.compile(r"일수|기간|days?(?![a-z])", re.I)
_DAY_AFTER = re.compile(r"일(?!\s?(?:간|동안|이상|이하|이내|째|치|분))")
_PLACE = re.compile(r"^(?:where|어디|어딘)", re.I)
_WHO = re.compile(r"^(?:who(?:m|se)?$|us$|누가|누구|누굴|각자|사람마다|사람별)", re.I)
_WHEN = re.compile(r"^(?:when|언제|연도|해는|몇년)", re.I)
_ASKED = re.compile(r"(?:which|what|어느|어떤|무슨|top|busiest|most)\s*$", re.I)
_WHICH = re.compile(r"(?:which|what|어느|어떤|무슨)\s*$", re.I)
_EXTREME_TIME = re.compile(r"earliest|latest|oldest|newest|most recent|first|last|최근|오래된|먼저|처음|마지막", re.I)
_FEW = re.compile(r"(한|두|세|네|다섯|열)\s?(?:개|곳|명|편|건|가지)[가-힣]?(?![가-힣])")
_WHETHER = re.compile(r"^\W*(?:did|does|do|is|are|was|were|has|have|had|can)\b", re.I)
_WHETHER_KO = re.compile(r"(?:나요|가요|까요|어|아|니|지|죠)\?+\s*$")
_LISTED = re.compile(
    r"(?<![가-힣])(?:목록|내역|리스트)(?=[은는을를이가도만]?(?:\s|\W*$))|^\W*(?:please )?list\b|\ba list of\b", re.I
)
"""Asks for rows."""
_OVERALL = re.compile(r"전체|\boverall\b|\b(?:of|for|across|over) (?:all|every)\b", re.I)
"""Drops what narrowed the question before."""
_BETWEEN = re.compile(r"^\s?(?:~|-|–|에서|부터|and|to)\s?$", re.I)
_AMOUNT = re.compile(r"amount|sales|revenue|금액|매출", re.I)
_LASTING = re.compile(
    r"\b(?:minutes?|seconds?|hours?|how long)\b|몇\s?(?:분(?!이|의|인)|초|시간)|얼마나\s(?:걸|오래)", re.I
)
_PARTS_OF_DAYS = {
    "year": ("year", "yr", "년", "연도", "년도"),
    "month": ("month", "mon", "mm", "mo", "월"),
    "day": ("day", "dd", "일"),
}
"""Names of columns of numbers that are parts of a date."""
_FAST = re.compile(r"\b(?:fast|slow|quick)|빠른|빨랐|느린|느렸", re.I)
_SPEEDS = frozenset(("speed", "velocity", "mph", "kmh", "knot", "acceleration", "accel", "속도", "속력"))
_TIMED = frozenset(("time", "second", "minute", "duration", "lap", "기록", "시간"))
_COURSE = re.compile(r"\d+\s?k?m(?:\W.*)?", re.I)
"""The name of a race: its distance."""
_MANY = re.compile(r"\b(?:most|fewest|least|busiest|commonest)\b(?! \w+(?:ive|ed)\b)|많|적은|적었|적게|흔|자주", re.I)
_AFTERWORD = re.compile(r"(?<=\?)\s+(?:\S+\s+){0,5}\S+[.!]?\s*$")
"""A few words after the question, that say again what it asks."""
_NO_SIGN = ("not", "between")
_COUNTED_IN = frozenset(
    ("명", "개", "건", "대", "곳", "채", "마리", "권", "회", "가구", "세대", "persons", "people", "count")
)
"""Units of what is counted."""
_NUMBER_OF = re.compile(r"(?:the\s)?(?:n|no|nb|num|nr|number|count)(?:_|of|\s|(?=[A-Z]))", re.I)
"""How names of columns begin that hold how many of something there are."""
_SUMMED = ("how_much", "sum", "average", "median", "share", "change")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A query that a question was read as.

    Args:
        query: the query.
        table: the table.
        score: how much of the question it accounts for, less what it doesn't; only compared with others.
        share: the part of what the question says that is in the query, 0 to 1.
        unknown: words of the question that stand for nothing in it.
        missing: what the question leaves open, or asks for that the table doesn't have.
        guessed: words that were read as others, `said: read as`.
        own: it names rows or figures of this table, not only its name.
        weights: what each token adds to the score.
        assumed: names that the table has no column for, so that all its rows are taken to be of them.
        counts: it asks for a figure, or for what has most of something.
        named: the question names the table.
        assumes: how much of it nobody said.
        strange: how much the word of `unknown` says that says most.
        undone: the operations that are asked for and that it doesn't carry out.
        looks_up: it asks what a row has that the question names, or of whom rows are.
        beside: what has most or least where rows of one name are added up, or where they aren't.
        exact, near: the tokens that are the names of its columns, and that only stand for them.
    """

    query: TableQuery
    table: Table
    score: float
    share: float = 1.0
    unknown: tuple[str, ...] = ()
    missing: str = ""
    guessed: tuple[tuple[str, str], ...] = ()
    own: bool = False
    weights: Mapping[int, float] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    counts: bool = False
    named: bool = False
    assumes: float = 0.0
    strange: float = 0.0
    undone: frozenset[str] = frozenset()
    looks_up: bool = False
    beside: TableQuery | None = None
    exact: frozenset[int] = frozenset()
    near: frozenset[int] = frozenset()

    @property
    def sure(self) -> bool:
        """Whether the query has what the question says."""
        clear = not self.named and self.score >= CLEAR and self.share >= EXPLAINED - 0.04
        return not self.missing and (self.share >= EXPLAINED or clear)


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


class Reader:
    """Reads one question for one table."""

    def __init__(self, question: str, table: Table, named: bool, *, by_meaning: bool = False) -> None:
        self.named = named
        self.by_meaning = by_meaning
        self.text = parted(_without_files(question, table) if named else question)
        self.text = _AFTERWORD.sub(lambda said: BLANK * len(said.group()), self.text)
        self.korean = re.search("[가-힣]", question) is not None
        self.tokens = tokens(self.text)
        self.pair = self._asked_pair(table)
        table = replace(table, columns=(*table.columns, self.pair.column)) if self.pair else table
        self.table = table
        if (time := next((c for c in table.columns if c.years), None)) and 100 <= time.low < 1000:
            self.tokens = [replace(t, kind="year") if _may_be_year(t, time) else t for t in self.tokens]
        month = [c for c in table.columns if c.kind == "date" and c.low == c.high and c.first_month == c.last_month]
        if month and not any(_DAYS.search(c.name) for c in table.columns if c.kind == "number"):
            self.tokens = [_day_of(t, month[0], self.text) for t in self.tokens]
        self.operations = found(lexicon().operations, QUARTER.sub(lambda m: " " * len(m.group()), self.text))
        if self.pair and self.pair.kind != "hours":  # "below its minimum" asks for no lowest figure
            self._drop_operations([found.span() for found in lexicon().pairs[self.pair.kind][0].finditer(self.text)])
        self._drop_operations([(t.start, t.end) for t in self.tokens if self._is_called(t)])
        self._keep_known_words()
        self.comparisons = found(lexicon().comparisons, self.text)
        spans = [*self.operations.values(), *self.comparisons.values(), *found(lexicon().times, self.text).values()]
        places = [span for each in spans for span in each]
        for start, end in self.comparisons.get("between", ()):  # what stands between the two words is a value
            places.remove((start, end))
            places += [(start, start + 4), (end - 2, end)]
        self.operators = frozenset(
            n for n, token in enumerate(self.tokens) if any(_takes_up(token, start, end) for start, end in places)
        )
        self.links: Links = links(self.tokens, table, self.operators, named=named, by_meaning=by_meaning)
        over = lexicon().over.search(self.text)
        spoken = [n for n, t in enumerate(self.tokens) if over and over.start() < t.end and t.start < over.end()]
        self.over = frozenset(n for n in spoken if 1.0 not in self.links.columns[n].values())
        self.over = frozenset() if len(self.over) < len(spoken) else self.over  # a limit that is a column
        self.compared = self._compared_columns()
        if self.compared:
            self._drop_operations([self._span(self.compared)])
        self._keep_counts()
        self._link_pair()
        self.base = TableQuery(table.file.path, table.sheet)
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
                said = frozenset(range(min(low, high), max(low, high) + 1))
                said |= {n for n, token in enumerate(self.tokens) if match.start() <= token.start < match.end()}
                if not any(self.tokens[n].number is not None for n in said):
                    words = " ".join(self.tokens[n].text for n in sorted(said))
                    return Filter(first, f"column_{op}", (other,), words), said
        return None

    def _korean_sides(self, match: re.Match[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
        """Return the columns before 보다 and beside it; one that isn't named is what the other is a bound of."""
        before = [n for n, token in enumerate(self.tokens) if token.end <= match.start()]
        than = next((n for n in reversed(before) if self.tokens[n].text.endswith("보다")), None)
        if than is None or before[-1] - than > 1 or not (other := self._number_at(than, "")):
            return None
        for n in (than + 1, than - 1, than - 2):
            if n in before and (first := self._number_at(n, other)):
                return (first, n), (other, than)
        bound = [
            c.name for c in self.table.columns if c.kind == "number" and other.endswith(c.name) and c.name != other
        ]
        return ((bound[0], than), (other, than)) if len(bound) == 1 and before[-1] == than else None

    def _english_sides(self, match: re.Match[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
        """Return the columns before and after "is below", or within and after "more … than"."""
        after = [n for n, token in enumerate(self.tokens) if token.start >= match.end()][:3]
        other = next(((name, n) for n in after if (name := self._number_at(n, ""))), None)
        if other is None or any(not self.tokens[n].filler for n in after if n < other[1]):
            return None
        before = [n for n, token in enumerate(self.tokens) if token.start < match.end() and n < after[0]]
        return next((((name, n), other) for n in reversed(before[-5:]) if (name := self._number_at(n, other[0]))), None)

    def _number_at(self, n: int, but: str) -> str:
        """Return the column of numbers, not of years, that a word is the name of."""
        likely = {
            name: rate
            for name, rate in self.links.columns[n].items()
            if name != but and self.column(name).kind == "number" and not self.column(name).years and rate >= _NAMED
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

    def _drop_operations(self, said: Sequence[tuple[int, int]]) -> None:
        """Drop what words would ask for that ask for a figure of two columns, or compare them."""
        kept = {
            name: [(a, b) for a, b in spans if not any(a < end and start < b for start, end in said)]
            for name, spans in self.operations.items()
        }
        self.operations = {name: spans for name, spans in kept.items() if spans}

    def _link_pair(self) -> None:
        """Link the words that ask for a figure of two columns to it."""
        for n in self._pair_tokens if self.pair else ():
            self.links.columns[n] = {self.pair.column.name: 1.0} if self.pair else {}

    @cached_property
    def _paired(self) -> tuple[str, ...]:
        """The two columns that the figure is made of that the question asks for, or that it compares."""
        if self.compared:
            return (self.compared[0].column, str(self.compared[0].values[0]))
        return (self.pair.less, self.pair.more) if self.pair else ()

    def _is_paired(self, name: str) -> bool:
        return name in self._paired or (self.pair is not None and name == self.pair.column.name)

    @cached_property
    def _pair_tokens(self) -> frozenset[int]:
        """The words that ask for a figure of two columns, or compare them."""
        if self.compared:
            return self.compared[1]
        if self.pair is None:
            return frozenset()
        spans = [found.span() for found in lexicon().pairs[self.pair.kind][0].finditer(self.text)]
        return frozenset(n for n, t in enumerate(self.tokens) for a, b in spans if a < t.end and t.start < b)

    def _lacking(self) -> Filter | None:
        """Return which rows are asked for where it compares columns, or asks what is short or who owes."""
        if self.compared:
            return self.compared[0]
        if self.pair is None or self.pair.kind in ("hours", "unused") or self.superlative or self.has("each", *_SUMMED):
            return None
        said = " ".join(self.tokens[n].text for n in sorted(self._pair_tokens))
        return Filter(self.pair.column.name, "gt", (0.0,), said)

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

    def _link_persons(self) -> frozenset[int]:
        """Link words that ask for a person to the column of persons, and return them."""
        texts = [column for column in self.table.columns if column.kind == "text" and column.distinct > 1]
        column = next((one for one in texts if set(words_of(one.name)) & lexicon().persons), None)
        column = column or next((one for one in texts if key_of(one.name) == "name"), None)
        if column is None:
            return frozenset()
        asking = [n for n, token in enumerate(self.tokens) if _WHO.match(token.text)]
        for n in asking:
            self.links.columns[n][column.name] = _LIKELY
        return frozenset(asking)

    def _link_rows(self) -> None:
        """Link the noun that is asked for, where nothing has its name, to the column of names that has none itself."""
        label = label_of(self.table)
        if label is None or not re.fullmatch(r"column\d+", label.name) or not self.superlative:
            return
        for n, token in enumerate(self.tokens):
            known = self.links.columns[n] or any(v.first <= n <= v.last for v in self.links.values)
            asked = self._is_asked_for(n) or (n - 1 in self.links.named and self._is_asked_for(n - 1))
            if token.kind == "word" and not known and not token.filler and asked:
                self.links.columns[n][label.name] = _LIKELY

    # ---------------------------------------------------------------------------------------------------- columns

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
                if number is not None and float(number).is_integer() and str(int(number)) in words:
                    hits[n] = 1.0
            pair = self.pair is not None and name == self.pair.column.name
            said = {n for n in hits if n not in self.operators or self._names_too(n, hits[n])}
            if not said and len(words) > 1 and not pair:  # "total" alone is no total cost, but the heaviest has a mass
                continue
            made[name] = Said(max(hits.values()), frozenset(hits), self._coverage(name))
        return dict(sorted(made.items(), key=lambda one: (one[1].coverage, one[1].likely, -len(one[0])), reverse=True))

    def _names_too(self, n: int, likely: float) -> bool:
        """Whether a word that asks for something names a column as well: the heaviest has a mass, 점유율 is a share."""
        token = self.tokens[n]
        shares = [span for name in ("share", "rate") for span in self.operations.get(name, ())]
        asks = any(token.start < end and start < token.end for start, end in shares)
        return bool(lexicon().loosely.get(token.forms[-1])) or (asks and likely >= _NAMED)

    def _coverage(self, name: str) -> float:
        """Return how many words of the question a column's name takes up, less for words of it nobody said."""
        said = 3.0 if len(name) > 4 and name.casefold() in self.text.casefold() else 0.0
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
            said += best
            free += not best and len(word) > 2 and word not in _TOTALS
        return said - 0.2 * free

    def columns(self, kinds: Sequence[str], apart: frozenset[int], but: set[str], least: float) -> list[str]:
        """Return the columns of some kinds that words name which stand for nothing else, the likeliest first."""
        return [
            name
            for name, one in self.said.items()
            if self.column(name).kind in kinds
            and name not in but
            and one.likely >= least
            and (one.tokens - apart or one.likely >= _NAMED)
        ]

    def figures(self) -> list[Column]:
        """Return the columns that hold figures, not years or ids."""
        columns = [c for c in self.table.columns if c.name not in self._paired]
        numbers = [c for c in columns if c.kind == "number" and not c.years and key_of(c.name)]
        numbers = [c for c in numbers if not self.table.numbers_rows(c.name)]
        return [
            c
            for c in numbers
            if (_NUMBER_OF.match(c.name) or not set(words_of(c.name)) & _IDS) and not re.fullmatch(r"column\d+", c.name)
        ]

    def _are_rows(self, name: str) -> bool:
        """Whether rows are counted, and a column is called as one of them: the flight in flights.csv is its number."""
        counted = self.has("count", "share") or _MANY.search(self.text) is not None
        rows = all(self.links.named.get(n, 0.0) >= 0.9 for n in self.said[name].tokens)
        return counted and rows and not name.endswith("s") and not self.additive(name)

    def default_measure(self) -> str:
        """Return the column of a table that has one figure alone, or one for all."""
        numbers = self.figures()
        if self.lasting:
            long = [c.name for c in self.table.columns if c.kind == "number" and c.unit in UNITS_OF_TIME]
            return long[0] if len(long) == 1 else ""
        if len(numbers) == 1:
            return numbers[0].name
        if self.has("how_much") and not self.has("count"):
            paid = [c.name for c in numbers if self._in_money(c.name) and self.additive(c.name)]
            if len(paid) == 1:
                return paid[0]
        whole = (c.name for word in _TOTALS for c in numbers if key_of(c.bare_name) == word)
        return next(whole, "") or (self._meant_measure if self.by_meaning else "")

    @cached_property
    def _meant_measure(self) -> str:
        """The column of figures that the whole question is nearest to in meaning, if one is clearly so."""
        names = {" ".join(words_of(c.name)): c.name for c in self.figures()}
        called = " ".join(words_of(self.table.stem))
        if len(names) < 2:
            return ""
        likes = likenesses(self.text, [*names, *(f"{called} {name}" for name in names)])
        both = sorted(zip(map(sum, zip(likes, likes[len(names) :], strict=False)), names, strict=True), reverse=True)
        (best, name), (next_, _) = both[:2]
        return names[name] if best >= _MEANT and best - next_ >= _MEANT_APART else ""

    @cached_property
    def _near(self) -> dict[int, float]:
        """How near words are in meaning to what the table, or a column of it, is called."""
        if not self.by_meaning:
            return {}
        names = list(names_of(self.table))
        words = {
            n: bare_form(token) for n, token in enumerate(self.tokens) if token.kind == "word" and not token.filler
        }
        return {n: max(likenesses(word, names), default=0.0) for n, word in words.items() if word}

    @cached_property
    def lasting(self) -> bool:
        """Whether it asks how long something takes."""
        return _LASTING.search(self.text) is not None

    def quantity(self) -> str:
        """Return the one column that says how many of something a row is about, where that many are asked for."""
        spans = self.operations.get("count", ())
        if self._count and (spans or self.superlative):
            return self._count
        asked = [self.text[a:b] + self.text[b : b + 20] for a, b in spans]
        happened = any(
            re.search(rf"(?:몇|how many|number of)\s?(?:[a-z]+\s)?(?:{'|'.join(lexicon().happenings)})", one, re.I)
            for one in asked
        )
        columns = [c.name for c in self.figures() if self._is_quantity(c.name)]
        return columns[0] if len(columns) == 1 and spans and not happened else ""

    def _is_quantity(self, name: str) -> bool:
        """Whether a column says how many of something a row is about, not what each of them costs."""
        words = set(words_of(name))
        rest = words_of(name)[1:] if _NUMBER_OF.match(name) else ()
        spoken = [form for token in self.tokens if token.kind == "word" for form in token.forms]
        if any(likeness(form, word) >= _LIKELY for word in rest for form in (*words_of(self.table.stem), *spoken)):
            return not words & lexicon().each_of
        costs = lexicon().each_of | lexicon().money | lexicon().alike["price"]
        return bool(words & lexicon().quantities) and not words & costs - {"unit"}

    def _only_sold(self, name: str) -> bool:
        """Whether only words that something was sold ask for a price: the most sold isn't the dearest."""
        sold = lexicon().alike["sold"]
        told = all(sold.intersection(self.tokens[n].forms) for n in self.said[name].tokens)
        return self.superlative and told and not self.additive(name) and not self._is_quantity(name)

    def time_column(self) -> Column | None:
        """Return the column of dates or years."""
        dated = [c for c in self.table.columns if c.kind == "date" and c.distinct > 1]
        dated += [c for c in self.table.columns if c.years]
        return next((c for c in dated if c.name in self.said), next(iter(dated), None))

    def is_date(self, name: str) -> bool:
        return self.column(name).kind == "date"

    def is_time(self, name: str) -> bool:
        column = self.table.column(name)
        return column is not None and (column.kind == "date" or column.years)

    def additive(self, name: str) -> bool:
        """Whether values of a column may be summed up."""
        if pair := next((one for one in self.table.pairs if one.column.name == name), None):
            return pair.kind != "short"
        known, known_counts = lexicon().additive, lexicon().counts
        words = set(words_of(name))
        each = words & lexicon().each_of
        if not each and (self.column(name).money or (len(words) > 1 and words & lexicon().money)):
            return True
        if self._is_quantity(name) or key_of(name) in known_counts or (self.lasting and self._lasts(name)):
            return True
        summed = {"sales", "revenue", "turnover", "매출", "매출액", "판매액", "수입", "수익"}
        spoken = {form for token in self.tokens for form in token.forms}
        if any(word in known or word + "s" in known for word in words) or bool(spoken & summed):
            return True
        return not each and self._counts_things(name)

    def _counts_things(self, name: str) -> bool:
        """Whether whole numbers are of things: the question asks for the most of them, or the name or unit says so."""
        column = self.column(name)
        if not (column.whole and column.low >= 0) or column.years or self.flag(name) or column.unit in UNITS_OF_TIME:
            return False
        words = words_of(name)
        things = len(words) == 1 and name.isascii() and name.casefold().endswith("s") and words[0] != name.casefold()
        only = things and len(self.figures()) == 1
        if column.unit in _COUNTED_IN or _NUMBER_OF.match(name) or only:
            return True
        if name not in self.said or set(words_of(name)) & _RATES:
            return False
        ends = [end for span in ("top", "bottom") for _, end in self.operations.get(span, ())]
        after = (n for n, token in enumerate(self.tokens) if any(0 <= token.start - end <= 1 for end in ends))
        return not self.korean and _MANY.search(self.text) is not None and any(self._in_phrase(n, name) for n in after)

    def _in_phrase(self, n: int, name: str) -> bool:
        """Whether a column is named by a word or the next one."""
        return bool(self.said[name].tokens & {n, n + 1})

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

    @property
    def aggregate(self) -> str:
        return next((name for name in _AGGREGATES if self.has(name)), "")

    @property
    def superlative(self) -> bool:
        return self.has("top", "bottom", "most_common")

    # ---------------------------------------------------------------------------------------------------- filters

    def value_readings(self) -> Iterator[tuple[list[Filter], frozenset[int], float]]:
        """Yield what the words of values may stand for: filters, their tokens, and how well they fit."""
        spans: list[tuple[frozenset[int], list[ValueLink]]] = []
        for link in self.links.values:
            places = frozenset(range(link.first, link.last + 1))
            known = next((one for one in spans if one[0] == places and one[1][0].whole == link.whole), None)
            if known is not None:
                known[1].append(link)
            elif not any(places & taken for taken, _ in spans) and self._is_value(link, places):
                spans.append((places, [link]))
        options = []
        for places, rivals in spans:
            rated = sorted(((self._fitness(link), link) for link in rivals), key=lambda one: -one[0])
            best = rated[0][0]
            named = self._is_name(rated[0][1], places) or self._only_contains(rated[0][1])
            kept: list[tuple[float, ValueLink | None]] = [] if named else [(fit - best, one) for fit, one in rated]
            options.append(kept[:_CHOICES] + ([(0.0, None)] if named else []))
        for chosen in list(product(*options))[:_MOST_READINGS]:
            made: dict[tuple[str, bool], Filter] = {}
            used: set[int] = set()
            for (_, read), (places, _) in zip(chosen, spans, strict=True):
                if read is None:
                    continue
                used |= places
                words = " ".join(self.tokens[n].text for n in sorted(places))
                key = (read.column, read.whole)
                known_filter = made.get(key)
                values = (*(known_filter.values if known_filter else ()), *read.values)
                said = f"{known_filter.said} {words}" if known_filter else words
                items = self.column(read.column).items
                op = "has" if not read.whole else "item" if items.issuperset(values) else "is"
                made[key] = Filter(read.column, op, tuple(dict.fromkeys(values)), said)
            yield [self._negated(one) for one in made.values()], frozenset(used), sum(one[0] for one in chosen)

    def _is_value(self, link: ValueLink, places: frozenset[int]) -> bool:
        """Whether numbers that are also texts of a column stand beside other words of it (`5.56 mm rifles`)."""
        if link.whole or any(self.tokens[n].number is None for n in places):
            return True
        others = (one for one in self.links.values if one.column == link.column and one is not link)
        return any(0 < abs(one.first - link.first) <= 2 for one in others)

    def _fitness(self, link: ValueLink) -> float:
        """Return how well a column fits a value: named beside it, with other values of it, not one row of many."""
        near = range(max(0, link.first - 2), min(len(self.tokens), link.last + 3))
        beside = max((self.links.columns[n].get(link.column, 0.0) for n in near), default=0.0)
        beside = 1.0 if self._leads_to(link) else beside
        shared = sum(one.column == link.column for one in self.links.values) > 1
        exact = any(value in self.text for value in link.values)
        column = self.column(link.column)
        label = label_of(self.table)
        is_label = label is not None and label.name == link.column and not self.has("count")
        rare = 0.3 * (link.whole and self.unique(link.column) and self.has("count", "share", "average"))
        rivals = sum(one.count for one in self.links.values if (one.first, one.last) == (link.first, link.last))
        size = 0.3 * link.count / max(1, rivals) - 0.1 * min(1.0, column.distinct / max(1, self.table.rows))
        return 0.5 * (beside >= _LIKELY) + 0.2 * shared + 0.15 * is_label + 0.1 * exact + size - rare

    def _leads_to(self, link: ValueLink) -> bool:
        """Whether words say that something goes from a value, or to it, and a column holds where from or where to."""
        before, after = self.text[: self.tokens[link.first].start], self.text[self.tokens[link.last].end :]
        said = [korean.match(after) or english.search(before) for korean, english, _ in lexicon().ways]
        held = [bool(words & {*words_of(link.column)}) for _, _, words in lexicon().ways]
        return any(one and other for one, other in zip(said, held, strict=True))

    def _is_name(self, link: ValueLink, places: frozenset[int]) -> bool:
        """Whether the words of a value rather name a column, or the table."""
        column = max((max(self.links.columns[n].values(), default=0.0) for n in places), default=0.0)
        if not link.whole:
            return column >= _LIKELY or any(self.links.named.get(n, 0) >= 0.8 for n in places)
        said = " ".join(self.tokens[n].text for n in sorted(places))
        if len(places) > 1 or (re.search("[_0-9]", said[1:]) and said in link.values):
            return False
        (n,) = places
        names = {name for name, likely in self.links.columns[n].items() if likely >= _NAMED}
        if any(name != link.column and self.said[name].coverage >= 1.8 for name in names):
            return True
        spoken = {key_of(form) for form in self.tokens[n].forms}
        other = names - {link.column} or self.links.named.get(n, 0) >= 0.9
        if other and not spoken & {key_of(value) for value in link.values}:
            return True
        return any(key_of(name) in spoken or words_of(name) == (self.tokens[n].forms[-1],) for name in names)

    def _only_contains(self, link: ValueLink) -> bool:
        """Whether a word only stands within a text, and limits nothing: a common one where most or least is asked for,
        or where the same column has a whole value.
        """
        if link.whole:
            return False
        whole = any(one.whole and one.column == link.column for one in self.links.values)
        return whole or (self.superlative and self.tokens[link.first].text.islower())

    def _negated(self, one: Filter) -> Filter:
        at = self.text.find(one.said.split()[0])
        denied = {"is": "not", "item": "no_item"}.get(one.op, one.op)
        for start, end in self.comparisons.get("not", ()):
            if 0 <= at - end <= 5 or 0 <= start - (at + len(one.said)) <= 3:
                return replace(one, op=denied)
        if one.op == "is" and any(start < at < end for start, end in self.operations.get("negation", ())):
            return replace(one, op="not")  # "still to pay"
        return one

    def number_filters(self, skipped: frozenset[int], measure: str) -> tuple[list[Filter], frozenset[int]]:
        """Return the filters that times and numbers make, and the tokens of these."""
        made: list[Filter] = []
        used: set[int] = set()
        time = self.time_column()
        numbers = frozenset(n for n, token in enumerate(self.tokens) if time and _far(token, time))  # 1000 is no year
        calendar = self._calendar
        for one in periods(self.tokens, self.text, skipped | numbers, list(self.comparisons)):
            filters = one.parts(calendar) or ((one.filter(time),) if time else ())
            if filter_ := [each for each in filters if each]:
                made += filter_
                used |= one.tokens
        if len(made) > 1:
            made = _months_together(made)
        for n, token in enumerate(self.tokens):
            if n in used or n in skipped or (value := _number(token)) is None:
                continue
            hit = self._number_filter(n, value, used | skipped, measure)
            if hit is not None:
                made += [] if hit[0] in made else [hit[0]]
                used |= hit[1]
        unique = {(one.column, one.op, one.values): one for one in made}
        return list(unique.values()), frozenset(used)

    @cached_property
    def _calendar(self) -> dict[str, str]:
        """The columns of numbers that are the year, month and day of a row, where the month has one of its own."""
        numbers = [c for c in self.table.columns if c.kind == "number"]
        named = {part: [c for c in numbers if key_of(c.name) in names] for part, names in _PARTS_OF_DAYS.items()}
        found = {part: columns[0].name for part, columns in named.items() if columns}
        month = self.column(found["month"]) if "month" in found else None
        return found if month and 1 <= month.low <= month.high <= 12 else {}

    def _number_filter(
        self, n: int, value: float, taken: frozenset[int] | set[int], measure: str
    ) -> tuple[Filter, set[int]] | None:
        """Return how a number limits a column: compared with it, between two, or equal where it stands beside it."""
        token = self.tokens[n]
        later = next((m for m in range(n + 1, min(n + 4, len(self.tokens))) if self.tokens[m].number is not None), n)
        said = later != n and _BETWEEN.match(self.text[token.end : self.tokens[later].start].strip())
        between = said and ("between" in self.comparisons or not self.korean)
        sign = self._sign(token)
        if sign or between:
            name = self._compared(n, token.unit, value) or measure
            if not name or (token.kind == "year" and not self.column(name).low <= value <= self.column(name).high):
                return None
            if between:
                high = float(self.tokens[later].number or 0)
                return Filter(name, "between", (value, high), f"{token.text}–{self.tokens[later].text}"), {n, later}
            scaled = value / (1e4 if self.column(name).unit == "만원" and token.unit == "원" else 1)
            return Filter(name, sign, (scaled,), token.text), {n}
        for near in (n + 1, n - 1, n + 2, n - 2):
            if not 0 <= near < len(self.tokens):
                continue
            for name, likely in sorted(self.links.columns[near].items(), key=lambda item: -item[1]):
                column = self.column(name)
                small = column.distinct <= 200 and column.low <= value <= column.high
                if likely >= _LIKELY and column.kind == "number" and small:
                    return Filter(name, "is", (value,), token.text), {n, near}
        return None

    def _compared(self, at: int, unit: str, value: float) -> str:
        """Return the column a number is compared with: the nearest one that words name."""
        best: tuple[float, str] = (0.0, "")
        for name, one in self.said.items():
            column = self.column(name)
            if column.kind == "number" and not (column.years and not unit):
                near = min(abs(n - at) for n in one.tokens)
                best = max(best, (one.likely * max(0.1, one.coverage) - 0.04 * near, name))
        numbers = self.figures()
        if not best[1] and len(numbers) > 1:  # of several, the one that has such figures
            numbers = [column for column in numbers if column.low <= value <= column.high]
        return best[1] or (numbers[0].name if len(numbers) == 1 else "")

    def _sign(self, token: Token) -> str:
        """Return how a number is compared: by what stands after it, or right before it."""
        after, before = self.text[token.end : token.end + 14], self.text[max(0, token.start - 22) : token.start]
        best: tuple[int, str] = (99, "")
        for name, expression in lexicon().comparisons.items():
            for match in expression.finditer(after) if name not in _NO_SIGN else ():
                if not re.search(r"[,;]|\d|(?<=\s)(?:in|of|with|and)\s", after[: match.start()]):
                    best = min(best, (match.start(), name))
            for match in expression.finditer(before) if name not in _NO_SIGN else ():
                gap = before[match.end() :]
                if not re.search(r"[가-힣]|\d", match.group()) and len(gap.split()) <= 1 and not re.search(r"\d", gap):
                    best = min(best, (len(gap), name))
        return best[1]

    # ---------------------------------------------------------------------------------------------------- readings

    def read(self) -> list[Mapped]:
        """Return what the question may ask of the table, the best first; never empty."""
        best: dict[TableQuery, Mapped] = {}
        for reading in self.readings():
            mapped = self.rated(reading)
            if reading.query not in best or mapped.score > best[reading.query].score:
                best[reading.query] = mapped
        return sorted(best.values(), key=lambda one: one.score, reverse=True)

    def readings(self) -> Iterator[Reading]:
        """Yield every reading."""
        for values, tokens_of_values, fit in self._with_flags():
            taken = {one.column for one in values}
            measures = self.columns(("number",), tokens_of_values, taken, _LOOSE)
            measures = [n for n in measures if n not in self._paired and not self.table.numbers_rows(n)]
            measures = [n for n in measures if not self._only_sold(n) and not self._are_rows(n)]
            if self.quantity() and self.has("count"):  # "how many in total" asks for no column that is called Total
                measures = [n for n in measures if not self.said[n].tokens <= self.operators]
            measures = sorted(measures, key=lambda name: self.column(name).years)[:_CHOICES]
            for measure in (*measures, ""):
                mine = self.said[measure].tokens if measure else frozenset()
                named = frozenset(n for n in mine if self.tokens[n].number is not None)
                numbers, tokens_of_numbers = self.number_filters(tokens_of_values | named, measure)
                filters = tuple(values + numbers)
                used = tokens_of_values | tokens_of_numbers | self._named_by(filters)
                if self.over and (figure := measure or self.default_measure()):
                    yield self._beyond(filters, used, figure)
                    continue
                for reading in self._shapes(filters, used, measure):
                    yield replace(reading, assumes=reading.assumes - fit)

    def _beyond(self, filters: tuple[Filter, ...], used: frozenset[int], figure: str) -> Reading:
        """Return the rows that are beyond a limit that documents set."""
        said = self.text[self.tokens[min(self.over)].start : self.tokens[max(self.over)].end]
        filters = (*filters, Filter(figure, "over", (), said))
        people = [name for n in self.persons for name in self.links.columns[n]]
        shown = dict.fromkeys((*people, *self._shown(filters), *(one.column for one in filters)))
        query = replace(self.base, shape="rows", filters=filters, columns=tuple(shown), measure=figure)
        every = (*self.operations, "top", "bottom", "most_common")
        return self._reading(query, used | self.over, *every, assumes=0.3 * (figure not in self.said))

    def _with_flags(self) -> Iterator[tuple[list[Filter], frozenset[int], float]]:
        """Yield what the words of values may stand for, also with the columns of yes and no that are named."""
        lacking = self._lacking()
        for values, used, fit in self.value_readings():
            if lacking:
                yield [*values, lacking], used | self._pair_tokens, fit
                continue
            yield values, used, fit
            flags = [
                (n, flag)
                for n, token in enumerate(self.tokens)
                if n not in used and (flag := self._named_flag(n, token, {one.column for one in values}))
            ]
            if flags:
                yield [*values, *(flag for _, flag in flags)], used | {n for n, _ in flags}, fit

    def _named_flag(self, n: int, token: Token, taken: set[str]) -> Filter | None:
        """Return the filter of a column of yes and no that a word names, or with `un` before it denies."""
        beside = [near.number for near in (*self.tokens[max(0, n - 2) : n], *self.tokens[n + 1 : n + 3])]
        for column in self.table.columns:
            if column.kind == "number" and any(number is not None for number in beside):
                continue  # `employed = 1` says its value itself
            name = key_of(column.name)
            denied = token.text.casefold() in (f"un{name}", f"non{name}", f"non-{name}")
            named = self.links.columns[n].get(column.name, 0.0) >= _NAMED
            if not (named or denied) or column.name in taken or (flag := self.flag(column.name)) is None:
                continue
            return replace(flag, op="not", said=token.text) if denied else self._negated(replace(flag, said=token.text))
        return None

    def _named_by(self, filters: Sequence[Filter]) -> frozenset[int]:
        """Return the tokens that name the columns of filters."""
        every = [self.said[one.column].tokens for one in filters if one.column in self.said]
        return frozenset().union(*every)

    def _reading(
        self,
        query: TableQuery,
        used: frozenset[int],
        *done: str,
        assumes: float = 0.0,
        missing: str = "",
    ) -> Reading:
        """Return a reading that also explains the tokens that name its columns."""
        spoken = [self.said[name].tokens for name in query.names if name in self.said]
        spoken.append(self._kinds_of(query.measure))
        return Reading(query, used.union(*spoken), frozenset(done), assumes, missing)

    def _shapes(self, filters: tuple[Filter, ...], used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield the queries that some filters and a measure allow."""
        base = replace(self.base, filters=filters)
        if self.has("empty", "negation"):
            yield from self._empties(base, used, measure)
        if self.has("correlation") and measure:
            for other in self.columns(("number",), used | self.said[measure].tokens, {measure}, _LOOSE)[:_CHOICES]:
                query = replace(base, shape="correlation", measure=measure, other=other)
                yield self._reading(query, used, "correlation")
        if self.has("change"):
            yield from self._changes(base, used, measure)
        if self.has("share", "rate"):
            yield from self._shares(base, used, measure)
        if self.superlative:
            yield from self._bests(base, used, measure)
        yield from self._groups(base, used, measure)
        if self.aggregate:
            yield from self._figures(base, used, measure)
        elif self.has("how_much") and (figure := measure or self.default_measure()) and self.additive(figure):
            default = 0.3 * (figure != measure) + 0.4 * self._keyed(filters)
            yield self._reading(replace(base, aggregate="sum", measure=figure), used, "how_much", assumes=0.1 + default)
        elif filters and self.whether:
            yield self._reading(replace(base, aggregate="count"), used, assumes=-0.5)
            keys = tuple(one for one in filters if self._keyed([one]))
            if keys and len(keys) < len(filters):  # what the row has, rather than how many rows have it
                shown = tuple(dict.fromkeys(one.column for one in (*keys, *filters)))
                rows = replace(base, shape="rows", filters=keys, columns=shown, measure=shown[-1])
                yield self._reading(rows, used, assumes=-0.6)
        elif filters and not self.superlative:
            rows = replace(base, shape="rows", columns=self._shown(filters))
            yield Reading(rows, used, assumes=0.6, whole=True)
        yield from self._rows(base, used, measure)

    def _shown(self, filters: tuple[Filter, ...]) -> tuple[str, ...]:
        """Return the columns that say which rows are meant: what they are called, else the first ones."""
        label = label_of(self.table)
        if label and self.unique(label.name) and label.name not in {one.column for one in filters}:
            return tuple(dict.fromkeys((label.name, *(one.column for one in filters))))
        return tuple(column.name for column in self.table.columns if column.kind != "other")[:_SHOWN_COLUMNS]

    def _empties(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield how many rows have nothing in a column that is named, and who they are: "who hasn't paid"."""
        denied = [end for _, end in self.operations.get("negation", ())]
        kept = tuple(one for one in base.filters if not (denied and self._has_whole(one)))
        apart = used - (self._named_by(base.filters) - self._named_by(kept))
        taken = {one.column for one in kept}
        label = label_of(self.table)
        people = next((name for n in self.persons for name in self.links.columns[n]), label.name if label else "")
        for name in self.columns(("text", "number", "date"), apart, taken, _LOOSE)[: 2 * _CHOICES]:
            column = self.column(name)
            words = [self.tokens[n] for n in self.said[name].tokens]
            beside = any(t.start - 12 <= end <= t.end for t in words for end in denied)
            zero = column.kind == "number" and column.low == 0
            if not (self.has("empty") and self.said[name].likely >= _LIKELY) and not (
                beside and (zero or column.filled < self.table.rows)
            ):
                continue
            unsaid = 0.4 * (self.said[name].likely < _LIKELY)
            denied_values = tuple(v for v in column.values if len(column.values) <= _FEW_VALUES and _DENIED.match(v))
            missing = Filter(name, "none" if zero and beside else "empty", (), "empty")
            missing = Filter(name, "is", denied_values, "not") if denied_values else missing
            filters = (*kept, missing)
            done = ("empty", "negation", "count")
            figure = measure or self.default_measure()
            if self.has("how_much") and figure and self.additive(figure):
                query = replace(base, aggregate="sum", measure=figure, filters=filters)
                yield self._reading(query, used, *done, "how_much", "sum", assumes=unsaid - 0.4)
            elif self.has("empty", "count"):
                query = replace(base, aggregate="count", filters=filters)
                yield self._reading(query, used, *done, assumes=unsaid)
            elif people and people != name:
                shown = (people, *sorted(taken - {people}))
                query = replace(base, shape="rows", columns=shown, measure=people, filters=filters)
                yield self._reading(query, used, *done, assumes=unsaid - 0.3)

    def _has_whole(self, one: Filter) -> bool:
        """Whether a table is of a month that is asked for: what didn't happen has no day in it."""
        column = self.column(one.column)
        if one.op not in ("month", "dates") or column.kind != "date":
            return False
        months = {int(value) if one.op == "month" else int(str(value)[5:7]) for value in one.values}
        within = column.low == column.high and {column.first_month, column.last_month} <= months
        return len(months) == 1 and (within or months <= months_of(self.table.stem))

    def figure_of(self, measure: str) -> str:
        """Return how values of a column become one: as is said, else summed where that makes sense."""
        said = self.aggregate
        if not measure:
            return "count"
        return said if said not in ("", "count", "distinct") else "sum" if self.additive(measure) else "average"

    def _changes(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield the change between two years or days, two values of a column, or two columns that name years."""
        named = [str(int(t.number)) for t in self.tokens if t.kind == "year" and t.number]
        if measure and len(named) == 2:
            stem = tuple(word for word in words_of(measure) if not word.isdigit())
            names = {words_of(c.name): c.name for c in self.table.columns}
            pair = [names.get((*stem, year), "") for year in named]
            if all(pair):
                years = frozenset(n for n, t in enumerate(self.tokens) if t.kind == "year")
                kept = tuple(one for one in base.filters if not self.is_time(one.column))
                query = replace(base, shape="change", measure=pair[0], other=pair[1], aggregate="sum", filters=kept)
                yield self._reading(query, used | years, "change", "share")
        likely = [c.name for c in self.figures() if c.name in self.said and self.said[c.name].likely >= _NAMED]
        if measure and len(likely) == 2 and measure == likely[0]:
            query = replace(base, shape="change", measure=measure, other=likely[1], aggregate="sum")
            yield self._reading(query, used, "change", "how_much", "sum")
        default = "" if measure else self.quantity() or self.default_measure()
        figure = measure or default
        for column, part, ends, rest in self._ends(base.filters) if figure else ():
            query = replace(
                base, shape="change", aggregate=self.figure_of(figure), measure=figure, group=column, part=part,
                filters=rest, ends=ends,
            )  # fmt: skip
            done = ("change", "share", self.aggregate, "how_much")
            yield self._reading(query, used, *done, assumes=0.3 * bool(default and not self.quantity()))

    def _ends(
        self, filters: Sequence[Filter]
    ) -> Iterator[tuple[str, str, tuple[str | float, ...], tuple[Filter, ...]]]:
        """Yield what a change may go from and to: a column, the part of its dates, both ends, and the other filters."""
        for one in filters:
            same = [other for other in filters if (other.column, other.op) == (one.column, one.op)]
            rest = tuple(other for other in filters if other not in same)
            time, values = self.is_time(one.column), tuple(value for other in same for value in other.values)
            if one is not same[0] or len(same) > 2:
                continue
            if time and one.op == "dates":
                whole = all(_is_month(other.values) for other in same) or (len(same) == 1 and _are_months(values))
                size, part = (7, "month of year") if whole else (10, "day")
                ends = sorted({str(value)[:size] for value in values})
                yield from [(one.column, part, tuple(ends), rest)] if len(ends) == 2 else []
            elif time and (one.op in ("between", "years") or (one.op in ("is", "year") and len(values) == 2)):
                yield one.column, "year" if one.op.startswith("year") else "", tuple(sorted(values, key=float)), rest
            elif time and one.op in ("is", "year") and float(values[0]) > self.column(one.column).low:
                year = float(values[0])
                yield one.column, "year" if one.op == "year" else "", (year - 1, year), rest
            elif one.op == "month" and len(set(values)) == 2:
                yield one.column, "month", tuple(sorted(set(values), key=float)), rest
            elif one.op == "is" and len(values) == 2 and not time:
                yield one.column, "", values, rest

    def _shares(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield which part of the rows, or of a sum, some of them are: those named last, or those that are so."""
        for name in self.columns(("number", "text"), used, {one.column for one in base.filters}, _LIKELY):
            if flag := self.flag(name):
                query = replace(base, shape="share", within=(flag,), measure=self._carried)
                yield self._reading(query, used, "share", "rate", "average", "count")
        if not self.has("share"):
            return
        chosen = [one for one in base.filters if not self.is_time(one.column)] or list(base.filters)
        if not chosen or self._asks_for_rate:
            return

        def at(one: Filter) -> int:
            return self.text.find(one.said.split()[-1].split("–")[0])

        within = max(chosen, key=at)
        if len(chosen) > 1 and not self.korean:
            verb = re.search(r"\b(?:are|were|is|was|have|had|made|come|came|from|belong)\b", self.text)
            of = re.search(r"\bof\b", self.text)
            after = [one for one in chosen if verb and at(one) > verb.start()]
            first = [one for one in chosen if of and at(one) < of.start()]
            within = (after or first or [within])[0]
        summed = measure and (self.additive(measure) or self.said[measure].likely >= _NAMED)
        of_sum = measure if summed and measure not in {one.column for one in base.filters} else ""
        of_sum = of_sum or ("" if measure else self._carried)
        rest = tuple(one for one in base.filters if one is not within)
        yield self._reading(
            replace(base, shape="share", measure=of_sum, filters=rest, within=(within,)), used, "share", "count", "sum"
        )

    def _is_rate(self, name: str) -> bool:
        """Whether a column holds shares of something, by its name or by the word that asks for it: `실업률`."""
        rates = self.operations.get("rate", ())
        spoken = (self.tokens[n] for n in self.said[name].tokens)
        asked = any(token.start <= start < token.end for token in spoken for start, _ in rates)
        return bool(set(words_of(name)) & _RATES) or self.column(name).unit == "%" or asked

    @cached_property
    def _asks_for_rate(self) -> bool:
        """Whether a column that the question names holds shares already."""
        named = (name for name, one in self.said.items() if one.likely >= _LIKELY)
        return any(self.column(name).kind == "number" and self._is_rate(name) for name in named)

    @cached_property
    def _count(self) -> str:
        """The one column that says how many rows were counted together."""
        counts = [c.name for c in self.figures() if key_of(c.bare_name) in lexicon().counts]
        return counts[0] if len(counts) == 1 else ""

    @cached_property
    def _one_each(self) -> bool:
        """Whether there is one row for each of what its texts and times may be together: years by sources."""
        apart = [c for c in self.table.columns if c.distinct > 1 and (c.kind in ("text", "date") or c.years)]
        every = prod(c.distinct for c in apart)
        return len(apart) > 1 and 0.95 * every <= self.table.rows <= every

    @cached_property
    def _carried(self) -> str:
        """The figure that rows carry which stand for several: how many they are, or what each of them is for."""
        only = [c.name for c in self.figures()]
        one = self._one_each or (len(only) == 1 and self._counts_things(only[0]))
        figure = self._count or (self.default_measure() if one else "")
        return figure if figure and self.additive(figure) else ""

    def _place_columns(self) -> list[Column]:
        """Return the column that says where rows are, if there is one."""
        return [c for c in self.table.columns if c.kind == "text" and set(words_of(c.name)) & _PLACES][:1]

    @cached_property
    def _most_rows(self) -> bool:
        """Whether most is asked for of what the table is called: "the most bird strikes" in birdstrikes.csv."""
        spans = [span for name in ("top", "bottom") for span in self.operations.get(name, ())]
        beside = (
            n
            for n, token in enumerate(self.tokens)
            for start, end in spans
            if (0 < start - token.end <= 2 if self.korean else 0 < token.start - end <= 1)
        )
        return any(self.links.named.get(n, 0.0) >= 0.8 and not self.links.columns[n] for n in beside)

    @cached_property
    def _led(self) -> frozenset[str]:
        """The columns of figures that the word for most or least means itself: the oldest have an age."""
        spans = [span for name in ("top", "bottom") for span in self.operations.get(name, ())]
        led = (n for n, token in enumerate(self.tokens) for a, b in spans if token.start < b and a < token.end)
        names = (name for n in led for name in self.links.columns[n])
        return frozenset(name for name in names if self.column(name).kind == "number")

    @property
    def _superlative_at(self) -> int:
        """Where the word stands that asks for most or least."""
        spans = [span for name in ("top", "bottom", "most_common") for span in self.operations.get(name, ())]
        return min((start for start, _ in spans), default=0)

    def _entities(self, used: frozenset[int], measure: str, taken: set[str]) -> list[tuple[str, float]]:
        """Return the columns whose values may be asked for, with how little that is said."""
        made: dict[str, float] = {}
        for name, one in self.said.items():
            column = self.column(name)
            many = column.kind == "number" and not column.years and column.distinct > 40
            asked = any(self._is_asked_for(n) or _ASKED.search(self.text[: self.tokens[n].start]) for n in one.tokens)
            unlikely = one.likely < (_LOOSE if asked else _LIKELY)
            if name == measure or name in taken or unlikely or many or self._is_paired(name):
                continue
            if column.kind == "number" and not column.years and not asked:
                continue
            before = self.korean and not asked and all(self.tokens[n].start < self._superlative_at for n in one.tokens)
            made[name] = 0.5 * before - 0.4 * asked - 0.1 * (column.kind == "text") - 0.05 * one.coverage
        label = label_of(self.table)
        for n, token in enumerate(self.tokens):
            called = label is not None and bool(set(words_of(label.name)) & NAMES)
            if label and called and n in self.links.named and not self.links.columns[n] and self._is_asked_for(n):
                made.setdefault(label.name, 0.0)  # "which pizza" in a table of pizzas
            time = self.time_column()
            if time and time.name != measure and (_WHEN.match(token.text) or set(token.forms) & {"연도", "해", "year"}):
                made.setdefault(time.name, 0.0)
            if _PLACE.match(token.text):
                for column in self._place_columns():
                    made.setdefault(column.name, 0.0)
        return [*sorted(made.items(), key=lambda one: one[1])[:_CHOICES], ("", 0.15)]

    def _is_asked_for(self, n: int) -> bool:
        """Whether a word says what is asked for: it follows "which", or is the last noun of a Korean question."""
        if self.korean and self.superlative and self.tokens[n].start > self._superlative_at:
            after = self.tokens[n + 1 :]
            if not after or (len(after) == 1 and not self.links.columns[n + 1] and n + 1 not in self.links.named):
                return True
        return _WHICH.search(self.text[: self.tokens[n].start]) is not None

    def _bests(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield which rows, or groups of them, have most or least."""
        limit, counted = self._limit()
        done = ["top", "bottom", "most_common"]
        taken = {one.column for one in base.filters}
        label = label_of(self.table)
        if measure and self.column(measure).distinct <= 1:
            return
        for entity, unsaid in self._entities(used, measure, taken):
            groups = entity and not self.unique(entity)
            one_each = groups and self._is_one_each(entity)
            many = self.quantity()
            amount = _MANY.search(self.text) is not None or self.has("count", "most_common")
            if groups and not measure and not many and (amount or self.named):  # "the largest" may be of a size
                order = self._order("")
                query = replace(base, shape="groups", aggregate="count", group=entity, order=order, limit=limit)
                figure = "" if self.has("count", "most_common") else self.default_measure()
                # The most of that is meant, not of rows, unless these are what the table is called.
                rather = 0.5 * bool(figure and self.additive(figure) and not self._most_rows)
                rather += 0.6 * (not amount)
                yield self._reading(query, used | counted, *done, "count", "each", assumes=unsaid + rather)
            default = "" if measure else many or self.default_measure()
            if time := self._extreme_time():
                default = "" if measure else time
            figure = measure or default
            if not figure or figure == entity:
                continue
            assumes = unsaid + 0.4 * bool(default) + 0.8 * bool(self._led and figure not in self._led)
            shown = [entity or (label.name if label else ""), figure]
            if not entity and label and not self.unique(label.name):  # a city rather than its country
                texts = [c for c in self.table.columns if c.kind == "text" and c.distinct > label.distinct]
                shown[1:1] = [max(texts, key=lambda c: c.distinct).name] if texts else []
            shown += [name for name, one in self.said.items() if one.likely >= _NAMED and name not in shown]
            when = self.time_column()
            if not (entity and self.unique(entity)) and when and when.name not in shown:
                shown += [when.name] if one_each or (not entity and not (label and self.unique(label.name))) else []
            order = self._order(figure)
            rows = replace(
                base, shape="rows", measure=figure, columns=tuple(dict.fromkeys(filter(None, shown))), order=order,
                limit=limit,
            )  # fmt: skip
            grouped = replace(
                base, shape="groups", aggregate=self.figure_of(figure), measure=figure, group=entity, order=order,
                limit=limit,
            )  # fmt: skip
            both = groups and grouped.aggregate == "sum" and not self.has("sum")
            if groups and not (one_each and both) and not self.is_date(figure):
                unclear = assumes + (0.0 if self.aggregate or self.additive(figure) else 0.25)
                also = ("count",) if figure == many or (measure and grouped.aggregate == "sum") else ()
                reading = self._reading(
                    grouped, used | counted, *done, "average", "median", "sum", "each", *also, assumes=unclear
                )
                yield replace(reading, beside=rows if both else None)
            summed = 0.6 if groups and not one_each and self.additive(figure) else 0.0
            more = ("count",) if measure else ()  # "number of" may be the name of a figure
            each = entity or (label.name if label else "")
            more = (*more, "average") if each and self.unique(each) else more  # a row is of all that it is called
            reading = self._reading(rows, used | counted, *done, *more, assumes=assumes + summed)
            yield replace(reading, beside=grouped if one_each and both else None)

    def _is_one_each(self, name: str) -> bool:
        """Whether each row is one of what a column calls it, though some are called the same: the file says so."""
        words = [_TABLE_NAME.sub("", word) for word in words_of(_PREPOSITION.split(self.table.stem)[0])]
        head = next((word for word in reversed(words) if word and not word.isdigit()), "")
        return bool(head) and any(likeness(head, word) >= _NAMED for word in words_of(name))

    def _order(self, measure: str) -> str:
        """Return how rows are ordered by a figure for what is asked: the fastest took the least time."""
        least = not self.descending
        if _FAST.search(self.text) and not {*words_of(measure)} & _SPEEDS:
            timed = self._lasts(measure) or {*words_of(measure)} & _TIMED or _COURSE.fullmatch(measure)
            least = bool(timed) != least
        lost = lexicon().lost
        if measure and self.column(measure).low < 0 and lost.search(self.text) and not lost.search(measure):
            least = not least
        return "asc" if least else "desc"

    @property
    def descending(self) -> bool:
        """Whether most is asked for, not least."""
        spans = self.operations.get("top", self.operations.get("most_common", []))
        if not spans:
            return False
        rest = self.text[spans[0][1] : spans[0][1] + 14]
        if re.search("[가-힣]", rest):
            return not lexicon().down.search(rest)
        return not rest.lower().startswith((" low", " small"))

    def _extreme_time(self) -> str:
        """Return the column of time where the oldest or latest is asked for."""
        time = self.time_column() if _EXTREME_TIME.search(self.text) else None
        return time.name if time else ""

    def _limit(self) -> tuple[int, frozenset[int]]:
        """Return how many are asked for, and the token that says so."""
        words = {"two": 2, "three": 3, "five": 5, "ten": 10}
        spans = [span for name in ("top", "bottom") for span in self.operations.get(name, ())]
        for n, token in enumerate(self.tokens):
            near = any(0 <= token.start - end <= 10 or 0 <= start - token.end <= 2 for start, end in spans)
            after = self.text[token.end : token.end + 3].strip()
            counted = token.unit in ("개", "곳", "명", "건", "편", "개국", "대") or after.startswith(("위", "개", "곳"))
            if token.kind == "number" and token.number and token.number <= 100 and (near or counted):
                return int(token.number), frozenset([n])
            if token.text.lower() in words:
                return words[token.text.lower()], frozenset([n])
            if few := _FEW.match(self.text, token.start):
                spoken = frozenset(m for m, t in enumerate(self.tokens) if token.start <= t.start < few.end())
                return int(number_word(few[1]) or 1), spoken
        return 1, frozenset()

    def _groups(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield a figure for each value of a column, or for each of several values that are named."""
        for group, n in self._each():
            how_much = self.has("how_much") and not self.has("count")
            figure = "" if measure == group else measure or (self.default_measure() if how_much else "")
            aggregate = self.aggregate or ("sum" if how_much and not figure else self.figure_of(figure))
            figure = "" if aggregate == "count" else figure or self.default_measure()
            if aggregate == "count" and (many := self.quantity()):
                aggregate, figure = "sum", many
            part = ""
            if self.column(group).kind == "date":
                part = "month" if any({"month", "월"} & set(token.forms) for token in self.tokens) else "year"
            if self.superlative:
                order, limit = self._order(figure), self._limit()[0]
            else:
                order, limit = "" if self.is_time(group) else "desc", 0
            query = replace(
                base, shape="groups", aggregate=aggregate, measure=figure, group=group, part=part, order=order,
                limit=limit,
            )  # fmt: skip
            if self.pair and figure == self.pair.column.name and self.pair.kind == "left" and n in self.persons:
                query = replace(query, filters=(*query.filters, Filter(figure, "gt", (0.0,))))  # who owes 0 owes not
            missing = "" if figure or aggregate == "count" else "measure"
            done = ("each", aggregate, *(("top", "bottom", "most_common") if limit else ()))
            yield self._reading(query, used | {n}, *done, missing=missing)
        for one in base.filters:
            texts = {str(value).casefold() for value in one.values}
            if one.op == "is" and len(texts) > 1 and (self.aggregate or measure):
                aggregate = self.aggregate or self.figure_of(measure)
                figure = measure
                if aggregate == "count":
                    figure = self.quantity()
                    aggregate = "sum" if figure else aggregate
                query = replace(
                    base, shape="groups", aggregate=aggregate, measure=figure, group=one.column, order="desc"
                )
                missing = "" if query.measure or aggregate == "count" else "measure"
                rather = -0.1 - 0.5 * self.has("each")
                yield self._reading(query, used, aggregate, "count", "each", missing=missing, assumes=rather)

    def _each(self) -> Iterator[tuple[str, int]]:
        """Yield the columns that a figure is asked for each value of, with their tokens."""
        if self.persons and self.has("how_much") and not self.superlative:  # who paid how much
            yield from ((name, n) for n in self.persons for name in self.links.columns[n])
        for start, end in self.operations.get("each", ()):
            korean = re.search("[가-힣]", self.text[start:end]) is not None
            for n, token in enumerate(self.tokens):
                if not (token.start <= start <= token.end + 1 if korean else 0 <= token.start - end <= 6):
                    continue
                if not korean and self._in_a_name(self.text[start : token.end]):  # "per hour" of a `price_per_hour`
                    continue
                likely_of, spoken = self.links.columns[n], {key_of(form) for form in token.forms}
                very = {name: likely for name, likely in likely_of.items() if key_of(name) in spoken}
                best = min(_LIKELY, max(likely_of.values(), default=_LIKELY))
                for name, likely in (very or likely_of).items():
                    column = self.column(name)
                    if likely >= best and (column.kind != "number" or column.distinct <= 60 or column.years):
                        yield name, n
                time = self.time_column()
                if time and set(token.forms) & {"연도", "년도", "해", "연", "월", "year", "month"}:
                    yield time.name, n

    def _in_a_name(self, said: str) -> bool:
        """Whether words stand, as they are, behind others in the name of a column."""
        return any(re.search(rf"[a-z]{key_of(said)}", key_of(column.name)) for column in self.table.columns)

    @cached_property
    def no_group(self) -> bool:
        """Whether a figure is asked for each of something that the table has no column of."""
        for start, end in self.operations.get("each", ()):
            korean = re.search("[가-힣]", self.text[start:end]) is not None
            for n, token in enumerate(self.tokens):
                beside = token.start <= start <= token.end + 1 if korean else 0 <= token.start - end <= 1
                stands = self.links.columns[n] or any(v.first <= n <= v.last for v in self.links.values)
                alone = token.kind == "word" and not token.filler and self.links.named.get(n, 0.0) < 0.9
                if beside and alone and not stands:
                    return True
        return False

    def _figures(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield one figure of all rows: how many, or what becomes of the values of a column."""
        aggregate, filters = self.aggregate, base.filters
        taken = {one.column for one in filters}
        default = "" if measure else self.default_measure()
        figure = measure or default
        if aggregate not in ("count", "distinct"):
            missing = "" if figure else "measure"
            yield self._reading(
                replace(base, aggregate=aggregate, measure=figure), used, aggregate, "sum",
                missing=missing, assumes=0.3 * bool(default) + 0.5 * self._limits_another(figure),
            )  # fmt: skip
        if not self.has("count", "distinct"):
            return
        rows = [one.tokens for name, one in self.said.items() if self.unique(name) and self.column(name).kind == "text"]
        if not self.has("distinct"):
            alone = (0.25 if measure and measure not in taken else 0.0) + _COUNTS_ONE * self._keyed(filters)
            if others := "" if measure else self._of_others:
                query = replace(base, aggregate="sum", measure=others)
                yield self._reading(query, used | self._counted_nouns, "count", "sum", "how_much", assumes=0.3)
                alone += 0.6
            yield self._reading(replace(base, aggregate="count"), used.union(*rows), "count", "sum", assumes=alone)
            summed = measure or ("" if self._named_rows(used) else self.quantity())
            if summed and summed not in taken and (self.has("sum") or self.additive(summed) or self._counted(summed)):
                rather = -0.3 * (summed == self.quantity() or self._counted(summed))
                query = replace(base, aggregate="sum", measure=summed)
                yield self._reading(query, used, "count", "sum", "how_much", assumes=rather)
        for name in self.columns(("text", "number", "date"), used, taken, _LIKELY)[:_CHOICES]:
            column = self.column(name)
            if flag := self.flag(name):
                yield self._reading(replace(base, aggregate="count", filters=(*filters, flag)), used, "count")
            elif column.filled < self.table.rows and not filters and self.said[name].likely >= _NAMED:
                full = Filter(name, "full", (), name)
                yield self._reading(replace(base, aggregate="count", filters=(full,)), used, "count")
            if 1 < column.distinct < 0.9 * column.filled and (column.kind == "text" or self.has("distinct")):
                unclear = 0.0 if self.has("distinct") else 0.2 + 0.3 * bool(self.links.named or filters)
                unclear -= 0.3 * bool({*words_of(name)} & _IDS)  # different orders have different numbers
                query = replace(base, aggregate="distinct", measure=name)
                yield self._reading(query, used, "count", "distinct", assumes=unclear)

    @cached_property
    def _counted_nouns(self) -> frozenset[int]:
        """The words right behind "how many"."""
        ends = [end for _, end in self.operations.get("count", ())]
        return frozenset(
            n for n, t in enumerate(self.tokens) if not t.filler and any(0 <= t.start - end <= 1 for end in ends)
        )

    @cached_property
    def _of_others(self) -> str:
        """The one figure of a table whose rows the question names, where what is counted is near, but isn't these."""
        rows = {n for n, likely in self.links.named.items() if likely >= 0.9}
        known = any(n in rows or self.links.columns[n] for n in self._counted_nouns)
        known |= any(v.first <= n <= v.last for n in self._counted_nouns for v in self.links.values)
        near = any(self._near.get(n, 0.0) >= _ALIKE for n in self._counted_nouns)
        figures = [c for c in self.figures() if c.whole and c.low >= 0]
        return figures[0].name if near and rows and not known and len(figures) == 1 else ""

    def _limits_another(self, figure: str) -> bool:
        """Whether a column of yes and no is named beside another figure: "the average wage of union members"."""
        others = (c.name for c in self.figures() if c.name != figure and c.name in self.said)
        return bool(figure and self.flag(figure)) and any(self.said[name].likely >= _NAMED for name in others)

    def _counted(self, measure: str) -> bool:
        """Whether what is counted is what a column holds the number of: "how many seats", "how many child seats"."""
        values = {n for one in self.links.values if one.whole for n in range(one.first, one.last + 1)}
        for _, end in self.operations.get("count", ()):
            after = (n for n, token in enumerate(self.tokens) if token.start >= end and n not in values)
            if measure in self.said and next(after, -1) in self.said[measure].tokens:
                return True
        return False

    def _named_rows(self, used: frozenset[int]) -> bool:
        """Whether what is counted is called as a column of texts is: each row is one."""
        texts = [one for name, one in self.said.items() if self.column(name).kind == "text" and one.likely >= _NAMED]
        ends = [end for _, end in self.operations.get("count", ())]
        return any(0 <= self.tokens[n].start - end <= 1 for one in texts for n in one.tokens - used for end in ends)

    def _keyed(self, filters: Sequence[Filter]) -> bool:
        """Whether filters name one row: a value that no other row has, or a word of what few rows are called."""
        label = label_of(self.table)
        called = {
            v
            for one in self.links.values
            if label and one.column == label.name and one.count <= _FEW_CALLED
            for v in one.values
        }
        return any(
            (one.op == "is" and self.unique(one.column)) or (one.op == "has" and called >= {*one.values})
            for one in filters
        )

    def _rows(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield what rows have in the columns that are named."""
        taken = {one.column for one in base.filters}
        when = any(_WHEN.match(token.text) for token in self.tokens) or re.search(r"몇\s?년", self.text) is not None
        keyed = self._keyed(base.filters)
        listed = bool(base.filters) and not keyed and not self._lacking() and _LISTED.search(self.text) is not None
        least = _LIKELY if listed else _LOOSE  # a list is of rows, where no word names a column
        named = self.columns(("text", "date", "number"), used, taken, least)
        measure = measure if not listed or measure in named else ""
        asked = [name for name in named if self.said[name].tokens & self.persons][:1]
        unsaid = 0.0
        if when:
            asked = [name for name in named if self.is_time(name)]
            asked = [name for name in asked if self.said[name].likely == self.said[asked[0]].likely]
            if keyed and not asked:
                asked, unsaid = [one.name for one in self.table.columns if one.kind == "date"], 0.3
        elif keyed and any(_PLACE.match(token.text) for token in self.tokens):
            asked = asked or [column.name for column in self._place_columns()]
        targets = list(dict.fromkeys([*([measure] if measure and not asked else []), *(asked or named[:1])]))
        targets += [name for name in named if self.said[name].likely >= _NAMED and name not in targets]
        if self._lacking():
            targets = [name for name in targets if name not in self._paired] + list(self._paired)
        listed = listed and not targets
        default = "" if targets or keyed else self.default_measure()
        targets = targets or ([default] if default and base.filters else [])
        missing = "" if listed else "" if base.filters and (targets or keyed) else "measure"
        if targets and self.has("how_much") and self.column(targets[0]).kind != "number":
            missing = "measure"  # no text says how much
        shown = [*(one.column for one in base.filters[:2]), *targets] if targets else []
        label = label_of(self.table)
        if targets and label and label.name not in shown:
            shown.insert(0, label.name)
        if listed:
            shown = [column.name for column in self.table.columns if column.kind != "other"][:_SHOWN_COLUMNS]
            shown += [name for name in (*(one.column for one in base.filters), *targets) if name not in shown]
        every = listed or any(self.column(name).kind == "number" and self.additive(name) for name in targets)
        query = replace(base, shape="rows", columns=tuple(dict.fromkeys(shown)), measure="", every=every)
        query = replace(query, measure=targets[0]) if targets else query
        of_one = ("count", "how_much") if keyed and targets and self.column(targets[0]).kind == "number" else ()
        assumes = unsaid + 0.3 * bool(default) + 0.2 * (not keyed)
        yield replace(self._reading(query, used, *of_one, missing=missing, assumes=assumes), whole=not targets)

    def says_what_of(self, query: TableQuery) -> bool:
        """Whether the question names the column that it asks of itself, and what it asks of that."""
        mine = self.said.get(query.measure)
        if mine is None or mine.likely < _LIKELY:
            return False
        how_much = {"how_much"} if not query.filters else set()  # "how much is it" says no more than a name
        return bool(self.operations.keys() - how_much) or self._lacking() is not None

    def continued(self, before: TableQuery) -> Iterator[Reading]:
        """Yield an earlier query with each part of it replaced that the question says anew."""
        every = frozenset(self.operations)
        overall = _OVERALL.search(self.text)
        if overall and before.shape in ("figure", "groups"):
            if not self.korean:
                self._drop_operations([overall.span()])  # the same figure is asked for, not a total
            before = replace(before, shape="figure", group="", part="", order="", limit=0, filters=())
        for values, tokens_of_values, fit in self.value_readings():
            measures = self.columns(("number",), tokens_of_values, {one.column for one in values}, _LOOSE)
            measures = [name for name in measures if not self.table.numbers_rows(name)][:_CHOICES]
            for measure in (*measures, ""):
                numbers, tokens_of_numbers = self.number_filters(tokens_of_values, measure or before.measure)
                added = tuple(values + numbers)
                if measure in {one.column for one in added}:
                    continue
                used = tokens_of_values | tokens_of_numbers | self._named_by(added)
                same = sum(one.column in {old.column for old in (*before.filters, *before.within)} for one in added)
                query = self._merged(before, added, measure)
                if query is not None:
                    yield replace(self._reading(query, used, *every), assumes=-fit - 0.3 * same)

    def _merged(self, before: TableQuery, added: tuple[Filter, ...], measure: str) -> TableQuery | None:
        """Return an earlier query with other filters, another measure or another operation."""
        new = {one.column for one in added}
        times = any(self.is_time(name) for name in new)
        kept = tuple(
            one for one in before.filters if one.column not in new and not (times and self.is_time(one.column))
        )
        within = tuple(one for one in added if one.column in {old.column for old in before.within})
        query = replace(
            before,
            filters=(*kept, *(one for one in added if one not in within)),
            within=within or before.within,
        )
        old = next((one for one in before.filters if self.is_time(one.column) and len(one.values) == 1), None)
        now = next((one for one in added if self.is_time(one.column) and len(one.values) == 1), None)
        if old and now and self.has("change", "share") and isinstance(old.values[0], float):
            ends = tuple(sorted((float(old.values[0]), float(now.values[0]))))
            figure = measure or before.measure
            return replace(
                query, shape="change", group=old.column, part="year" if old.op == "year" else "", ends=ends,
                aggregate=self.figure_of(figure), measure=figure, columns=(), order="", limit=0,
                filters=tuple(one for one in query.filters if not self.is_time(one.column)),
            )  # fmt: skip
        said = self.aggregate
        if said in _WORKED and not added and not measure and not query.limit and query.shape in ("rows", "groups"):
            figure = self._figure_among(before)
            listed = replace(query, group="", part="", columns=(), order="")
            return replace(listed, shape="figure", aggregate=said, measure=figure) if figure else None
        if measure and query.shape != "share":
            columns = tuple(measure if name == before.measure else name for name in query.columns)
            aggregate = query.aggregate
            if aggregate in ("", "count") and query.shape != "rows":
                aggregate = self.figure_of(measure)
            query = replace(query, measure=measure, aggregate=aggregate, columns=columns)
        if said and said != query.aggregate and (query.measure or said == "count"):
            if query.shape == "groups" and any(one.column == query.group for one in added):
                query = replace(query, aggregate=said)
            elif query.shape in ("figure", "rows"):
                query = replace(
                    query, shape="figure", aggregate=said, measure="" if said == "count" else query.measure, columns=(),
                    order="", limit=0,
                )  # fmt: skip
        if self.superlative and query.order:
            query = replace(query, order=self._order(query.measure))
        for group, _ in self._each():
            aggregate = query.aggregate or self.figure_of(query.measure)
            query = replace(query, shape="groups", group=group, part="", aggregate=aggregate, order="desc", limit=0)
        alone = [one for one in added if one.column == query.group and len(one.values) == 1]
        if query.shape in ("groups", "change") and alone:
            query = replace(query, shape="figure", group="", part="", order="", limit=0, ends=())
        return query

    def _figure_among(self, listed: TableQuery) -> str:
        """Return the column of figures of rows that were listed: what they are chosen by, or what was shown of them."""
        fixed = {one.column for one in listed.filters if one.op in ("is", "none", "empty")}
        made = [one.column for one in listed.filters if one.column in {pair.column.name for pair in self.table.pairs}]
        figures = {column.name for column in self.figures()} - fixed
        summed = {name for name in figures.union(made) if self.additive(name) or len(figures) == 1}
        shown = [name for name in (listed.measure, *made, *listed.columns) if name in summed]
        return next(iter(shown or (summed if len(summed) == 1 else ())), "")

    # ------------------------------------------------------------------------------------------------------- rating

    def rated(self, reading: Reading) -> Mapped:
        """Return a reading with its score: what it explains, less what it leaves out, ignores or assumes."""
        weights: dict[int, float] = {}
        unknown: list[str] = []
        strange = 0.0
        assumed: list[str] = []
        own = False
        whole = {n for one in self.links.values if one.whole for n in range(one.first, one.last + 1)}
        for n, token in enumerate(self.tokens):
            likely = max(self.links.columns[n].values(), default=0.0)
            says = self.weight(n)
            if n in reading.used:
                sure = 1.0 if n in whole or token.kind != "word" else max(0.5, likely)
                weights[n] = max(0.3, says) * sure * (0.6 if token.filler else 1.2)
                if n not in whole and not token.filler:
                    weights[n] = max(weights[n], max(0.4, says) * 1.2 * self.links.named.get(n, 0.0))
                own = own or not token.filler or n in self.persons
            elif n in self.links.named:
                weights[n] = max(0.4, says) * self.links.named[n] * (2.0 if self._described(n) else 1.0)
            elif n in self.operators or token.filler or self._glossed(n, reading.used) or self._described(n):
                continue
            elif self.superlative and any(lexicon().loosely.get(form) for form in token.forms):
                continue  # "expensive" says only of what kind a superlative is
            elif self.lasting and _LASTING.search(token.text) and self._lasts(reading.query.measure):
                weights[n] = 0.5
            elif set(token.forms) & lexicon().titles and n - 1 in reading.used & whole:
                continue
            elif set(token.forms) & lexicon().rows:
                weights[n] = -0.05
            elif set(token.forms) & lexicon().places and not self._has_places:
                assumed.append(token.text)
                weights[n] = -0.3
            elif likely >= _LIKELY and not (n in self.links.guessed and token.text[0].isupper()):
                weights[n] = -says if likely >= _NAMED else -0.4 * says
            elif self._goes_with(n, reading.used):
                weights[n] = -0.15 * says
            else:
                counted = any(0 <= token.start - end <= 1 for _, end in self.operations.get("count", ()))
                if not counted and not token.text[0].isupper():
                    says *= 1 - min(_MOST_NEAR, max(0.0, (self._near.get(n, 0.0) - _FAR_APART) / _NEAR_BY))
                unknown.append(token.text.strip())
                strange = max(strange, says)
                weights[n] = -0.5 * says if counted else -says  # "how many patients" says what rows are
        explained = sum(weight for weight in weights.values() if weight > 0)
        negated = any(
            one.op in ("not", "empty", "none") for one in reading.query.filters
        )  # no query tells rows that aren't there
        undone = self.asked - reading.done - ({"negation"} if negated else set())
        left = (
            0.8 * len(undone)
            + 0.6 * len(undone.intersection(_WORKED))
            - sum(weight for weight in weights.values() if weight < 0)
        )
        share = explained / (explained + left) if left else 1.0
        missing = reading.missing or ("measure" if reading.whole and unknown else "group" if self.no_group else "")
        missing = missing or ("measure" if unknown and reading.query.aggregate == "distinct" else "")
        listed = reading.query.shape == "rows" and not reading.query.order and undone.intersection(_AGGREGATES)
        missing = missing or ("measure" if self._asks_twice or listed else "")
        missing = missing or ("measure" if self._uncompared(reading.query) else "")
        missing = missing or ("measure" if self._undecided(reading.query) or self._only_meant(reading.query) else "")
        explained += 0.6 * len(reading.done & set(self.operations))
        read = sorted((n, word) for n, word in self.links.guessed.items() if n in reading.used or n in self.links.named)
        guessed = tuple((self.tokens[n].text, word) for n, word in read)
        if self.by_meaning and reading.query.measure not in ("", *self.said) and "_meant_measure" in self.__dict__:
            guessed += ((" ".join(unknown) or "…", reading.query.measure),) * (
                reading.query.measure == self._meant_measure
            )
        if reading.query.measure in self.said:
            explained += 0.1 * min(3.0, self.said[reading.query.measure].coverage)
            explained += 0.3 * (self._in_money(reading.query.measure) and self._asks_for_money(reading.query.filters))
        score = (5.0 if self.named else 0.0) + explained - 1.2 * left - reading.assumes
        score += 0.3 * bool(self._kinds_of(reading.query.measure))
        score -= 0.3 * len(guessed) + (1.5 if missing else 0.0) + 0.6 * self._rather_named(reading.query.measure)
        if not (own or reading.query.filters or self.links.named):
            score -= 1.0
        names = reading.query.names & self.said.keys()
        keys = {key_of(self.column(name).bare_name) for name in names}
        called = frozenset(n for n in reading.used if not names.isdisjoint(self.links.columns[n]))
        exact = frozenset(n for n in called if not keys.isdisjoint(map(key_of, self.tokens[n].forms)))
        asks = self._keyed(reading.query.filters) or bool(reading.used & self.persons)
        looks_up = reading.query.shape == "rows" and asks
        return Mapped(
            reading.query, self.table, score, share, tuple(unknown), missing, guessed, own, weights, tuple(assumed),
            bool(self.operations), self.named, reading.assumes,
            strange, undone, looks_up, reading.beside, exact, called - exact,
        )  # fmt: skip

    @cached_property
    def _asks_twice(self) -> bool:
        """Whether it asks a figure of all rows and, in another clause, which has most or least: no query is both."""
        joint = _SECOND.search(self.text)
        if joint is None:
            return False
        best = {start < joint.start() for name in ("top", "bottom") for start, _ in self.operations.get(name, ())}
        figures = {start < joint.start() for name in _WORKED for start, _ in self.operations.get(name, ())}
        return len(best) == len(figures) == 1 and best != figures

    def _uncompared(self, query: TableQuery) -> bool:
        """Whether rows above or below a bound are asked for, and the query has none: "over the limit"."""
        bounds = ("over", *_BOUNDS, *(f"date_{op}" for op in _BOUNDS), "between", "years", "months", "dates", "year")
        every = (*query.filters, *query.within)
        if (
            query.order
            or query.shape == "change"
            or self.pair
            or any(one.op in bounds or one.op.startswith("column_") for one in every)
        ):
            return False
        spans = [span for op in _BOUNDS for span in self.comparisons.get(op, ())]
        return any(_BOUND.search(self.text[start:end]) for start, end in spans)

    def _only_meant(self, query: TableQuery) -> bool:
        """Whether what is asked for is only near to a column in meaning: a deposit isn't the amounts of all rows."""
        mine = self.said.get(query.measure)
        if mine is None or not mine.tokens <= self.links.meant:
            return False
        summed = query.aggregate == "sum"
        if self.named:
            return summed and all(self.is_time(one.column) for one in query.filters)
        # A word of the same language would have been the column's own, and any figure is near to an amount.
        same = self.korean == bool(re.search("[가-힣]", query.measure))
        return summed or same or key_of(self.column(query.measure).bare_name) in _TOTALS

    def _undecided(self, query: TableQuery) -> bool:
        """Whether the same words call another column of figures just as well: "subs" of sub due and sub received."""
        mine = self.said.get(query.measure)
        if mine is None or query.aggregate in ("", "count"):
            return False
        names = {c.name for c in self.figures()}
        others = [
            one.tokens for name, one in self.said.items() if name in names - query.names and not self._is_paired(name)
        ]
        if any(one & mine.tokens and one - mine.tokens and mine.tokens - one for one in others):
            return True  # "home and away goals"
        if mine.likely >= 1 and mine.coverage >= 1:
            return False
        return any(
            (one.tokens, one.likely) == (mine.tokens, mine.likely) and abs(one.coverage - mine.coverage) < 0.05
            for name, one in self.said.items()
            if name not in (query.measure, query.other, *self._paired)
            and name in names
            and self._in_money(name) == self._in_money(query.measure)
        )

    def _kinds_of(self, measure: str) -> frozenset[int]:
        """Return the words for another figure right behind that of one: "bike thefts" are those of Bike, not Theft."""
        mine = self.said[measure].tokens if measure in self.said else frozenset()
        others = [
            one.tokens for name, one in self.said.items() if name != measure and self.column(name).kind == "number"
        ]
        beside = (n + 1 for n in mine if n + 1 < len(self.tokens) and self.links.columns[n + 1])
        behind = {n for n in beside if self.tokens[n].start - self.tokens[n - 1].end == 1}
        return frozenset(n for n in behind for tokens in others if n in tokens and not tokens & mine)

    def _rather_named(self, measure: str) -> bool:
        """Whether a figure is only guessed, and another one is called by its name."""
        mine = self.said.get(measure)
        if mine is None or not mine.tokens <= self.links.guessed.keys():
            return False
        return any(
            one.name != measure and self.said[one.name].likely == 1 for one in self.figures() if one.name in self.said
        )

    def _lasts(self, name: str) -> bool:
        column = self.table.column(name)
        return column is not None and column.unit in UNITS_OF_TIME

    def _in_money(self, name: str) -> bool:
        return is_money(self.column(name))

    def _asks_for_money(self, filters: Sequence[Filter]) -> bool:
        """Whether "how much" stands alone: "how much bread" doesn't ask for an amount of money."""
        spans = self.operations.get("how_much", ()) if not self.has("count") else ()
        said = {one.said for one in filters}
        return any(not any(self.text[end:].lstrip().startswith(word) for word in said if word) for _, end in spans)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The operations that a query may not ignore."""
        asked = set(self.operations) & {*_AGGREGATES, "share", "change", "correlation", "empty"} - {"distinct"}
        if self._asks_for_rate:
            asked.discard("share")  # "what percent was the rate"
        if self.has("negation"):
            asked.add("negation")
        if self.superlative:
            asked.add("top" if self.has("top") else "bottom" if self.has("bottom") else "most_common")
        if any(True for _ in self._each()):
            asked.add("each")
        if self.has("rate") and any(self.flag(name) for name in self.said):
            asked.add("rate")
        return frozenset(asked)

    @cached_property
    def whether(self) -> bool:
        """Whether it is a question of yes or no."""
        if any(is_question_word(token.text) for token in self.tokens):
            return False
        return (_WHETHER_KO if self.korean else _WHETHER).search(self.text) is not None

    def weight(self, n: int) -> float:
        """Return how much a token says: a rare word or a name more than one of every day, a verb's form little."""
        token = self.tokens[n]
        if token.kind != "word":
            return 0.9
        if re.search(r"\d", token.text):
            return 1.0
        if token.text.isascii() or not re.search("[가-힣]", token.text):
            name = token.text[0].isupper() and token.start > 0
            if not name and _SUBJECT.search(self.text[: token.start]):
                return min(_PREDICATE, *(telling(form, "en") for form in token.forms))
            return max(0.9 if name else 0.0, min(telling(form, "en") for form in token.forms))
        says = min(telling(form, "ko") for form in token.forms)
        if is_past(token.text):
            return min(says, _PREDICATE)
        return min(says, _BEFORE_NOUN) if ends_as_predicate(token.text) else says

    @cached_property
    def _has_places(self) -> bool:
        """Whether the table says which places its rows are of."""
        known = lexicon().places
        values = (value for column in self.table.columns for value in column.values[:300])
        return any(value.casefold() in known or known.intersection(words_of(value)) for value in values)

    def _glossed(self, n: int, used: frozenset[int]) -> bool:
        """Whether words are said again in brackets, in words that are explained: `북웜(bookworm)`."""
        for later in range(n + 1, min(n + 4, len(self.tokens))):
            between = self.text[self.tokens[later - 1].end : self.tokens[later].start].strip()
            if between.endswith("("):
                return later in used
            if between:
                return False
        return False

    def _goes_with(self, n: int, used: frozenset[int]) -> bool:
        """Whether a noun follows a column's name, and only says of what that is: `출발 공항`, "beef production"."""
        before, token = self.tokens[n - 1] if n else None, self.tokens[n]
        if before is None or n - 1 not in used or before.kind != "word" or n in self.links.guessed:
            return False
        likely = max(self.links.columns[n - 1].values(), default=0.0)
        apart = self.text[before.end : token.start]
        if self.korean and not token.text.isascii():
            return apart == " " and bool(likely) and before.text in (*lexicon().alike, *before.forms[-1:])
        return apart == " " and likely >= _NAMED and token.text.isalpha() and token.text.islower()

    def _described(self, n: int) -> bool:
        """Whether a word describes the file that is named beside it: "the 1033 procurement workbook"."""
        if not (self.named or n in self.links.named):
            return False
        return TABLE_NOUN.match(self.text[self.tokens[n].end :]) is not None


def is_money(column: Column) -> bool:
    """Whether a column holds amounts of money."""
    said = {*words_of(column.name), column.unit.casefold()}
    return column.money or bool(said & lexicon().money) or _AMOUNT.search(column.name) is not None


def _months_together(filters: Sequence[Filter]) -> list[Filter]:
    """Return filters with several months as one: all of them are meant, of the year that one of them names."""
    months = [one for one in filters if one.op == "month"]
    dated = [one for one in filters if one.op == "dates" and str(one.values[0])[:7] == str(one.values[1])[:7]]
    years = tuple(dict.fromkeys(float(str(one.values[0])[:4]) for one in dated))
    if len(months) + len(dated) < 2 or len(years) > 1:
        return list(filters)
    said = " ".join(one.said for one in (*months, *dated))
    named = (*(v for one in months for v in one.values), *(float(str(one.values[0])[5:7]) for one in dated))
    made = [Filter(one.column, "year", years, said) for one in dated[:1]]
    kept = [one for one in filters if one not in months and one not in dated]
    return [*kept, Filter(filters[0].column, "month", named, said), *made]


def _are_months(days: Sequence[str | float]) -> bool:
    """Whether a time goes from the first day of a month to the last one of a month."""
    first, last = (date.fromisoformat(str(day)) for day in days)
    return first.day == 1 and last.day == monthrange(last.year, last.month)[1]


def _is_month(days: Sequence[str | float]) -> bool:
    """Whether a time is one month."""
    return _are_months(days) and str(days[0])[:7] == str(days[1])[:7]


def _takes_up(token: Token, start: int, end: int) -> bool:
    """Whether an expression is most of a word, or all of it but its ending."""
    within = min(end, token.end) - max(start, token.start)
    ends = start <= token.start < end <= token.end and is_ending(token.text[end - token.start :])
    return 5 * within >= 2 * len(token.text) or ends


def _far(token: Token, time: Column) -> bool:
    number = float(token.number or 0) - time.century
    return token.kind == "year" and not time.low - _FAR <= number <= time.high + _FAR


def _may_be_year(token: Token, time: Column) -> bool:
    return token.kind == "number" and not token.unit and time.low <= float(token.number or 0) <= time.high


def _day_of(token: Token, month: Column, text: str) -> Token:
    """Return a number that is a day of the month as that day, where all dates of a column are of one month."""
    day = int(token.number or 0) if token.kind == "number" and not token.unit else 0
    if not 0 < day < 32 or not _DAY_AFTER.match(text, token.end):
        return token
    said = f"{int(month.low):04d}-{month.first_month:02d}-{day:02d}"
    return replace(token, text=f"{token.text}일", end=token.end + 1, forms=(said,), number=None, kind="day")


def _number(token: Token) -> float | None:
    """Return the number a token is, an ordinal's too; None for words, years and months."""
    if token.kind == "number":
        return token.number
    ordinal = re.fullmatch(r"(\d+)(?:st|nd|rd|th|등[석실]?)", token.text)
    return float(ordinal[1]) if ordinal else token.number if token.kind == "year" else None


def halves(question: str) -> tuple[str, str] | None:
    """Return the two questions of a sentence of which the second asks for one figure of what the first asks for."""
    joint = _SECOND.search(question)
    parts = (question[: joint.start()], question[joint.end() :]) if joint else ()
    if not all(re.search(_ASKING, part, re.I) or any(is_question_word(t.text) for t in tokens(part)) for part in parts):
        return None
    worked = any(lexicon().operations[name].search(part) for name in _WORKED for part in parts)
    return (parts[0], parts[1]) if worked and len(parts) == 2 else None


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
        at = question.casefold().find(name.casefold())
        if at >= 0 and len(name) > 2:
            return question[:at] + BLANK * len(name) + question[at + len(name) :]
    return question
