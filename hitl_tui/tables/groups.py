"""What a question asks for each of something, and what has most or least."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hitl_tui.tables.filters import CHOICES
from hitl_tui.tables.links import CALLED, NAMES, label_of
from hitl_tui.tables.measures import MANY, Measures
from hitl_tui.tables.profile import Column
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.question_in_table import DAY_WORDS, LIKELY, LOOSE, NAMED, QuestionInTable, Reading
from hitl_tui.tables.words import BLANK, key_of, lexicon, likeness, number_word, parts_of, words_of  # fmt: skip

_TABLE_NAME = re.compile(r"(?:표|목록|명부|현황|기록|내역|일지|대장|월|년|list|table|data|log|records?|register)$")
_PREPOSITION = re.compile(r"(?<![a-z])(?:by|per|of|in|for)(?![a-z])", re.I)
PLACE = re.compile(r"^(?:where|어디|어딘)", re.I)
WHEN = re.compile(r"^(?:when|언제|연도|해는|몇년)", re.I)
_ASKED = re.compile(r"(?:which|what|어느|어떤|무슨|top|busiest|most)\s*$", re.I)
_DAY_OF = re.compile(r"\bday of (?:the )?$", re.I)
_UNIT_ASKED = re.compile(r"(?:\b(?:which|what|the|day of(?: the)?)|어느|어떤|무슨|몇)\s*$", re.I)
_EXTREME_TIME = re.compile(r"earliest|latest|oldest|newest|most recent|first|last|최근|오래된|먼저|처음|마지막", re.I)
_NONE = re.compile(r"(?:no|none|without|nothing)\b(?! \d)|n/a$|없음$|해당 없음", re.I)
"""Values of rows that have none of what is asked for: the most frequent failure isn't `No Failure`."""
_TOTAL = re.compile(r"(?<![a-z])totals?(?![a-z])|합계|총계|총합|^계$", re.I)
_BOTH_ENDS = re.compile(r"어디(?:에)?서.{0,16}어디(?:까지|로)|\bfrom where to where\b|\bbetween which\b", re.I)
_FEW = re.compile(
    r"(두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s[가-힣]+(?![가-힣]|\s(?:중|가운데))|(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?"
    r"(?:개|곳|명|편|건|가지|대|마리|권|채|군데|나라|팀|사람)[가-힣]?(?![가-힣]|\s(?:중|가운데))"
)
"""How many are asked for: a numeral before a noun, or what it counts."""
_FIRST_OF = re.compile(r"\b(?:which|what|the|top|bottom|first|last|name|list|show|give|tell|me)\s$", re.I)
"""What stands before a number word that says how many are asked for: "name three"."""
_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FAST = re.compile(r"\b(?:fast|slow|quick)|빠른|빨랐|느린|느렸", re.I)
_ALIKE = 50
"""How many times as much the most of a column may be as that of another one, where both are figures of the like."""
_ANY_SIZE = frozenset(("big", "biggest", "large", "largest", "busy", "busiest", "populous", "crowded", "long", "old"))
_EACH_OF_THEM = re.compile("각각")
"""Asks for a figure for each of what is named, not of what stands before it."""
_AND_OTHERS = re.compile(r"\b(?:and|or|than|versus|vs|with) (?:\w+ ){0,3}ones\b", re.I)
"""Asks for the others as well: "new copies and used ones"."""
_SINGLE = re.compile(r"\b(?:single|one|any)\s$", re.I)
_PHRASE = 3
"""Words behind a superlative that may be those that it is of."""
_LAST = re.compile(
    r"마지막|처음(?:으로)?(?![가-힣])|(?:가장|제일)\s?최근|최신|최근(?=\s)|맨\s?(?:처음|끝|나중)|(?<![가-힣])첫\s?(?=[가-힣])"
    r"|\b(?:latest|most recent|newest|earliest)\b|\b(?:the|its|their|very) (?:last|final|first)\b"
    r"(?! (?:\d|two|three|four|five|ten|name|class|half|round))|\bfirst (?:year|day|date|month|time|season|quarter)\b",
    re.I,
)
_FIRST = re.compile("처음|첫|earliest|first", re.I)
_FROM_WHEN = re.compile(
    r"언제(?:부터|에서)\s?(?:\S+\s)?언제까지|몇\s?[년월일]부터\s?몇\s?[년월일]까지|\bfrom when (?:to|till|until) when\b"
    r"|\bfrom (?:which|what) (?:date|day|year|month)s? (?:to|till|until)\b|\b(?:what|which) (?:dates?|period|years|"
    r"time (?:period|span|range)|date range)\b(?= (?:do|does|did|is|are|was|were)\b.*\b(?:cover|span|run|go|range))",
    re.I,
)
_MORE = re.compile(r"더\s(?:많|적|자주|흔)|\b(?:which|who|where)\b.{0,60}\b(?:more|fewer|less)\b(?! than)", re.I)
"""Asks which of several has more."""
_LONG_AGO = re.compile("오래")
_SPEEDS = frozenset(("speed", "velocity", "mph", "kmh", "knot", "acceleration", "accel", "속도", "속력"))
_TIMED = frozenset(("time", "second", "minute", "duration", "lap", "기록", "시간"))
_COURSE = re.compile(r"\d+\s?k?m(?:\W.*)?", re.I)
"""The name of a race: its distance."""


_MOST = ("top", "bottom", "most_common")

# What it costs to read a question for most or least so; what is taken off makes a reading likelier.
_OF_A_FIGURE = 0.5
"""Rows are counted, where the table has a figure that is summed up."""
_OF_AMOUNTS = 0.5
"""Rows are counted, where the table is called by a word for amounts."""
_NOT_HOW_MANY = 0.6
"""Rows are counted, and nothing asks how many."""
_ONLY_LED = 0.4
"""Only the word for most names the figure, where others are named."""
_OF_THE_LAST = 0.8
"""The figure of the last row is asked for."""
_NO_COUNT = 0.8
"""What is most common is asked for, and the figure is none of how many."""
_USUAL = 0.4
"""No figure is named: the usual one is meant."""
_NO_MONEY = 0.5
"""The most rows are asked for, and the usual figure is money."""
_ANOTHER_LED = 0.8
"""The word for most means another figure."""
_SAME_WORDS, _BESIDE = 0.3, 0.3
"""The words of the figure also name what is asked for; taken off: they stand beside the word for most."""
_OTHER_END, _FROM_AND_TO = 0.4, 0.3
"""The figure is called a lowest one, and the highest is asked for; taken off: where from and where to is asked."""
_OF_ITS_ROWS = 0.9
"""Groups, where rows are asked for one by one."""
_NO_SUM = 0.25
"""Groups, by a figure that isn't summed up."""
_SUMMED = 0.6
"""Rows, by a figure that is summed up for what is asked."""


@dataclass(frozen=True, slots=True)
class _Best:
    """Of what most or least is asked for.

    Args:
        base: which rows are looked at.
        used: the words that this explains.
        entity: the column whose values are asked for; empty for rows.
        part: the part of its dates.
        groups: a value is of several rows.
        one_each: each row is one of what the column calls them, though some are called the same.
        measure: the figure that words name; empty for none.
        many: the figure that says how many of something there are; empty for none.
        limit: how many are asked for.
        unsaid: how little the question says that this column is asked for.
    """

    base: TableQuery
    used: frozenset[int]
    entity: str
    part: str
    groups: bool
    one_each: bool
    measure: str
    many: str
    limit: int
    unsaid: float


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Rows and groups of them, by a figure.

    Args:
        best: of what most or least is asked for.
        figure: the column of the figure.
        rows, groups: the queries.
        both: rows and groups may be meant alike; the other one is shown beside.
        assumes: what speaks against either.
        missing: what the question names and the table doesn't have.
    """

    best: _Best
    figure: str
    rows: TableQuery
    groups: TableQuery
    both: bool
    assumes: float
    missing: str


class Groups:
    """The groups and superlatives of one question."""

    def __init__(self, q: QuestionInTable, measures: Measures) -> None:
        self.q = q
        self.measures = measures

    @cached_property
    def _most_rows(self) -> bool:
        """Whether most is asked for of what the table is called: "the most bird strikes" in birdstrikes.csv."""
        spans = self.q.spans("top", "bottom")
        figures = {c.name for c in self.q.figures()}

        def is_called(n: int) -> bool:
            named = self.q.links.named.get(n, 0.0)
            if self._stands_for_nothing(n):
                return True  # it may be what its rows are
            return named >= 0.8 and all(
                likely < named for name, likely in self.q.links.columns[n].items() if name in figures
            )

        blanked = any(self.q.text[end : end + 2].strip(" ") == BLANK for _, end in spans)  # the table's own name
        return blanked or any(map(is_called, self._beside_most))

    @cached_property
    def _of_its_rows(self) -> bool:
        """Whether most is asked for among what the table is called, one by one: "the strongest earthquake"."""
        spans = self.q.spans("top", "bottom")
        if MANY.search(self.q.text) or self.q.has("count", "each", "sum", "average"):
            return False
        before = (n for n, t in enumerate(self.q.tokens) if t.end <= min((start for start, _ in spans), default=0))
        if self.q.of_amounts or any(self.q.is_asked_for(n) for n in before):
            return False  # "which month had the highest expenses"
        after = [[n for n, t in enumerate(self.q.tokens) if end < t.start][:_PHRASE] for _, end in spans]
        return any(n in self.q.called and not self._names_column(n) for behind in after for n in behind)

    def _names_column(self, n: int) -> bool:
        return any(likely >= NAMED for likely in self.q.links.columns[n].values())

    @cached_property
    def _beside_most(self) -> frozenset[int]:
        """The words right behind the one for most or least, or before it in Korean."""
        spans = self.q.spans("top", "bottom")
        return frozenset(
            n
            for n, token in enumerate(self.q.tokens)
            for start, end in spans
            if (0 < start - token.end <= 2 if self.q.korean else 0 < token.start - end <= 1)
        )

    def _counted_texts(self, entity: str) -> frozenset[int]:
        """Return the words beside the one for most or least that call what the rows are: the most counties."""
        texts = {c.name for c in self.q.table.columns if c.kind == "text" and 2 * c.distinct > self.q.table.rows}
        said = [one.tokens for name, one in self.q.said.items() if name in texts - {entity}]
        return frozenset().union(*said) & self._beside_most

    @cached_property
    def _means_another(self) -> bool:
        """Whether most is asked for of something that no column is called: of ages, where there are only wages."""
        figures = {c.name for c in self.q.table.columns if c.kind != "text"}
        lead = {n for n, t in enumerate(self.q.tokens) if not lexicon().adjectives.isdisjoint(t.forms)} - self._any_size
        known = any(figures & self.q.links.columns[n].keys() for n in lead)
        nouns = (n for n in self._beside_most if not lexicon().alike.keys().isdisjoint(self.q.tokens[n].forms))
        return (bool(lead) and not known) or any(map(self._stands_for_nothing, nouns))

    @cached_property
    def _any_size(self) -> frozenset[int]:
        """The words that say most of any figure: the biggest, the busiest."""
        return frozenset(n for n, token in enumerate(self.q.tokens) if not _ANY_SIZE.isdisjoint(token.forms))

    def _stands_for_nothing(self, n: int) -> bool:
        """Whether a noun is nothing of the table."""
        token, links = self.q.tokens[n], self.q.links
        values = any(one.first <= n <= one.last for one in links.values)
        known = token.filler or n in self.q.operators or values or links.columns[n] or n in links.named
        return not known and token.kind == "word" and not self._unit(n)

    @cached_property
    def _led(self) -> frozenset[str]:
        """The columns of figures that the word for most or least means itself: the oldest have an age."""
        spans = self.q.spans("top", "bottom")
        led = (n for n, token in enumerate(self.q.tokens) for a, b in spans if token.start < b and a < token.end)
        names = (name for n in led for name in self.q.links.columns[n])
        return frozenset(name for name in names if self.q.column(name).kind == "number")

    def _unit(self, n: int) -> str:
        """Return the part of dates that a word stands for; empty for none."""
        token = self.q.tokens[n]
        unit = next((lexicon().parts[form] for form in token.forms if form in lexicon().parts), "")
        return "weekday" if unit == "week" and _DAY_OF.search(self.q.text[: token.start]) else unit

    def part_of(self, n: int, column: Column) -> str:
        """Return the part of the dates of a column that a word is the unit of; empty where it is none."""
        token, unit = self.q.tokens[n], self._unit(n)
        if column.kind != "date" or token.kind != "word":
            return ""
        if unit in ("month", "quarter") and not self.q.text[: token.start].endswith(("몇 ", "몇")):
            one_year = column.low == column.high or sum(t.kind == "year" for t in self.q.tokens) == 1
            return unit if one_year else f"{unit} of year"
        return unit

    @cached_property
    def time_asked(self) -> dict[str, str]:
        """The part of a column of dates that most or least is asked of: "which month", `무슨 요일`."""
        time = self.q.time_column()
        ends = [end for _, end in self.q.spans("top", "bottom")]
        for n, token in enumerate(self.q.tokens if time else ()):
            before = self.q.text[: token.start]
            asked = _UNIT_ASKED.search(before) or self.q.is_asked_for(n) or any(token.start - 1 == end for end in ends)
            called = any(likely >= NAMED for likely in self.q.links.columns[n].values())
            if asked and time and not called and (part := self.part_of(n, time)):
                return {time.name: part}
        return {}

    @cached_property
    def _units(self) -> frozenset[int]:
        """The words that are units of time."""
        return frozenset(n for n in range(len(self.q.tokens)) if self._unit(n))

    def _entities(self, measure: str, taken: set[str]) -> list[tuple[str, float]]:
        """Return the columns whose values may be asked for, with how little that is said."""
        if self.time_asked:
            return [(name, -0.4) for name in self.time_asked] + [("", 0.15)] * self._of_its_rows
        made: dict[str, float] = {}
        for name, one in self.q.said.items():
            column = self.q.column(name)
            many = column.kind == "number" and not column.years and column.distinct > 40
            called = any(self.q.is_asked_for(n) for n in one.tokens)
            whole = len(words_of(name)) == 1  # "the most chargers" are no places of chargers
            asked = called or any(whole and _ASKED.search(self.q.text[: self.q.tokens[n].start]) for n in one.tokens)
            unlikely = one.likely < (LOOSE if asked else LIKELY)
            if name == measure or name in taken or unlikely or many or self.q.is_paired(name):
                continue
            if measure and column.kind == "number" and one.tokens <= self.q.said[measure].tokens:
                continue  # the words name the figure
            worded = any(self.q.tokens[n].number is None for n in one.tokens)  # "three films" are not those of `r3`
            kinds = 2 * column.distinct <= self.q.table.rows
            told = called and worded and kinds and one.likely >= NAMED and not self.measures.additive(name)
            if column.kind == "number" and not column.years and not told:
                continue
            before = (
                self.q.korean and not asked and all(self.q.tokens[n].start < self.q.superlative_at for n in one.tokens)
            )
            made[name] = (
                0.5 * before
                - 0.4 * asked
                - 0.2 * (called and not before)
                - 0.1 * (column.kind == "text")
                - 0.05 * one.coverage
            )
            made[name] += 0.05 * self.q.is_key(name) + 0.6 * (self.q.flag(name) is not None)
        label = label_of(self.q.table)
        for n, token in enumerate(self.q.tokens):
            called = label is not None and bool(set(words_of(label.name)) & NAMES)
            if label and called and n in self.q.links.named and not self.q.links.columns[n] and self.q.is_asked_for(n):
                made.setdefault(label.name, -0.4 * (self.q.links.named[n] >= CALLED))  # "which pizza" of pizzas.csv
            time = self.q.time_column()
            if time and time.name != measure and (WHEN.match(token.text) or set(token.forms) & {"연도", "해", "year"}):
                made.setdefault(time.name, 0.0)
            noun = self.q.korean and n and not self.q.tokens[n - 1].filler  # `회사는 어디야` asks which company
            if time and time.kind == "date" and time.name != measure and not DAY_WORDS.isdisjoint(token.forms):
                asked = self.q.is_asked_for(n) or _SINGLE.search(self.q.text[: token.start]) is not None
                made[time.name] = min(made.get(time.name, 0.0), -0.4 * (asked or not self.q.korean))
            if PLACE.match(token.text) and not noun:
                for column in self.q.place_columns():
                    made.setdefault(column.name, 0.0)
        return [*sorted(made.items(), key=lambda one: one[1])[:CHOICES], ("", 0.15)]

    def bests(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield which rows, or groups of them, have most or least."""
        limit, counted = self._limit()
        yield from self._columns(base, used | counted, limit)
        last = _EXTREME_TIME.search(self.q.text)
        if measure and (self.q.column(measure).distinct <= 1 or (self.q.is_time(measure) and not last)):
            return
        used |= counted | (self._units if self.time_asked else frozenset())
        taken = {one.column for one in base.filters}
        for entity, unsaid in self._entities(measure, taken):
            best = self._best(base, used, entity, measure, limit, unsaid)
            yield from self._groups_by_count(best)
            if ranked := self._ranked(best):
                yield from self._groups_by_figure(ranked)
                yield from self._rows_by_figure(ranked)

    def _best(
        self, base: TableQuery, used: frozenset[int], entity: str, measure: str, limit: int, unsaid: float
    ) -> _Best:
        """Return of what most or least is asked for; rows that have none of it are left out."""
        part = self.time_asked.get(entity, "")
        none = tuple(v for v in self.q.column(entity).values if _NONE.match(v)) if entity else ()
        if none and entity not in {one.column for one in base.filters}:
            base = replace(base, filters=(*base.filters, Filter(entity, "not", none)))
        groups = bool(entity) and (bool(part) or not self.q.unique(entity))
        one_each = groups and self._is_one_each(entity)
        return _Best(base, used, entity, part, groups, one_each, measure, self.measures.quantity(), limit, unsaid)

    @cached_property
    def _of_how_many(self) -> bool:
        """Whether most or least is asked for of a number of things."""
        return MANY.search(self.q.text) is not None or self.q.has("count", "most_common")

    def _groups_by_count(self, best: _Best) -> Iterator[Reading]:
        """Yield the groups of the most or the fewest rows."""
        if not best.groups or best.measure or best.many:
            return
        if not (best.part or self._of_how_many or self.q.named):  # "the largest" may be of a size
            return
        query = replace(
            best.base, shape="groups", aggregate="count", group=best.entity, part=best.part, order=self.order(""),
            limit=best.limit,
        )  # fmt: skip
        figure = "" if self.q.has("count", "most_common") else self.measures.default_measure()
        # The most of that is meant, not of rows, unless these are what the table is called.
        amounts = bool(figure and self.measures.additive(figure))
        rather = _OF_A_FIGURE * (amounts and (self.q.of_amounts or not self._most_rows))
        rather += _OF_AMOUNTS * self.q.of_amounts
        rather += _NOT_HOW_MANY * (not self._of_how_many)
        explained = best.used | self._counted_texts(best.entity)
        yield self.q.reading(query, explained, *_MOST, "count", "each", assumes=best.unsaid + rather)

    def _ranked(self, best: _Best) -> _Ranked | None:
        """Return rows and groups ordered by the figure that is named, or by the usual one; None for none."""
        figure = best.measure or self._extreme_time() or best.many or self.measures.default_measure()
        if not figure or figure == best.entity:
            return None
        order = self.order(figure)
        rows = replace(
            best.base, shape="rows", measure=figure, columns=self._shown(best, figure), order=order, limit=best.limit
        )
        groups = replace(
            best.base, shape="groups", aggregate=self.measures.figure_of(figure), measure=figure, group=best.entity,
            part=best.part, order=order, limit=best.limit,
        )  # fmt: skip
        missing = "measure" if not best.measure and self._means_another else ""
        both = best.groups and groups.aggregate == "sum" and not (best.part or self.q.has("sum"))
        return _Ranked(best, figure, rows, groups, both, self._unlikely(best, figure), missing)

    def _unlikely(self, best: _Best, figure: str) -> float:
        """Return what speaks against most or least of a figure, of rows as of groups."""
        usual = not best.measure
        led = self._led if usual or self.q.said[best.measure].tokens <= self.q.operators else frozenset()
        rows_meant = self._of_how_many and self._most_rows and not self.q.of_amounts
        last_row = bool(best.measure and not self.q.is_time(best.measure) and self._last_row)
        assumes = (
            _ONLY_LED * self._only_led(best.measure) + _OF_THE_LAST * last_row
            + _NO_COUNT * (self.q.has("most_common") and figure != best.many)
            + best.unsaid
            + _USUAL * usual
            + _NO_MONEY * (usual and rows_meant and self.q.in_money(figure))
            + _ANOTHER_LED * bool(led and figure not in led)
        )  # fmt: skip
        mine = self.q.said[figure].tokens if figure in self.q.said else frozenset()
        whose = self.q.said[best.entity].tokens if best.entity in self.q.said else frozenset()
        beside = bool(best.measure and (mine - whose) & self._beside_most)
        assumes += _SAME_WORDS * bool(mine & whose) - _BESIDE * beside
        from_and_to = bool(self._ends) and not best.entity
        assumes += _OTHER_END * self._is_other_end(figure) - _FROM_AND_TO * from_and_to
        return assumes

    def _shown(self, best: _Best, figure: str) -> tuple[str, ...]:
        """Return the columns that are shown of the rows with most or least of a figure."""
        entity, label = best.entity, label_of(self.q.table)
        ends = () if entity else self._ends
        shown = [*(ends or (entity or (label.name if label else ""),)), figure]
        if not entity and label and not self.q.unique(label.name):  # a city rather than its country
            texts = [c for c in self.q.table.columns if c.kind == "text" and c.distinct > label.distinct]
            shown[1:1] = [max(texts, key=lambda c: c.distinct).name] if texts else []
        shown += [name for name, one in self.q.said.items() if one.likely >= NAMED and name not in shown]
        shown += [name for name in self.time_asked if name not in shown]
        when = self.q.time_column()
        if not (entity and self.q.unique(entity)) and when and when.name not in shown:
            several = not entity and not (label and self.q.unique(label.name))
            shown += [when.name] if best.one_each or several else []
        return tuple(dict.fromkeys(filter(None, shown)))

    def _groups_by_figure(self, ranked: _Ranked) -> Iterator[Reading]:
        """Yield the groups with most or least of a figure."""
        best, figure = ranked.best, ranked.figure
        if not best.groups or (best.one_each and ranked.both) or self.q.is_date(figure):
            return
        clear = self.q.aggregate or self.measures.additive(figure)
        unclear = ranked.assumes + _OF_ITS_ROWS * self._of_its_rows + (0.0 if clear else _NO_SUM)
        counts = figure == best.many or (best.measure and ranked.groups.aggregate == "sum")
        done = (*_MOST, "average", "median", "sum", "each", *(("count",) if counts else ()))
        reading = self.q.reading(ranked.groups, best.used, *done, assumes=unclear, missing=ranked.missing)
        yield replace(reading, beside=ranked.rows if ranked.both else None)

    def _rows_by_figure(self, ranked: _Ranked) -> Iterator[Reading]:
        """Yield the rows with most or least of a figure."""
        best, figure = ranked.best, ranked.figure
        if best.part or self.q.flag(figure):
            return  # of yes and no, none is most
        summed = _SUMMED if best.groups and not best.one_each and self.measures.additive(figure) else 0.0
        last_asked = any(start > self.q.superlative_at for start, _ in self.q.operations.get("count", ()))
        counts = best.measure or figure == best.many or last_asked  # "number of" may be its name
        label = label_of(self.q.table)
        each = best.entity or (label.name if label else "")
        whole = each and self.q.unique(each)  # a row is of all that it is called
        done = (*_MOST, *(("count",) if counts else ()), *(("average",) if whole else ()))
        reading = self.q.reading(ranked.rows, best.used, *done, assumes=ranked.assumes + summed, missing=ranked.missing)
        yield replace(reading, beside=ranked.groups if best.one_each and ranked.both else None)

    def _only_led(self, measure: str) -> bool:
        """Whether only the word for most names a figure, where others are named: "the highest volume" is no High."""
        numbers = [one for name, one in self.q.said.items() if self.q.column(name).kind == "number"]
        free = any(one.likely >= NAMED and one.tokens - self.q.operators for one in numbers)
        return bool(measure) and free and self.q.said[measure].tokens <= self.q.operators

    @cached_property
    def _last_row(self) -> str:
        """Return how rows are ordered by their time where the last or first of them is asked for; empty if none is."""
        spans = self.q.spans("top", "bottom")
        said = [match for match in _LAST.finditer(self.q.text) if self.q.time_column()]
        apart = any(not any(a < one.end() and one.start() < b for one in said) for a, b in spans)
        return "" if apart or not said else "asc" if _FIRST.search(said[0].group()) else "desc"

    def lasts(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield what the last or first row has: "at the last survey", `마지막 거래일에`."""
        time = self.q.time_column()
        bound = any(one.op in ("gt", "ge", "lt", "le") for one in base.filters)  # "the first year in which it exceeded"
        if not time or not self._last_row or not (measure or bound) or (measure and self.q.is_time(measure)):
            return
        said = [match.span() for match in _LAST.finditer(self.q.text)]
        spoken = frozenset(n for n, t in enumerate(self.q.tokens) if any(a < t.end and t.start < b for a, b in said))
        columns = dict.fromkeys((measure, time.name, *(one.column for one in base.filters)))
        query = replace(
            base,
            shape="rows",
            measure=time.name,
            columns=tuple(filter(None, columns)),
            order=self._last_row,
            limit=self._limit()[0],
        )
        yield self.q.reading(query, used | spoken, "top", "bottom", "how_much", "average", assumes=-0.2)

    def spans(self, base: TableQuery, used: frozenset[int]) -> Iterator[Reading]:
        """Yield from when until when rows are."""
        time, asked = self.q.time_column(), _FROM_WHEN.search(self.q.text)
        if time and asked:
            said = {n for n, t in enumerate(self.q.tokens) if asked.start() < t.end and t.start < asked.end()}
            query = replace(base, shape="range", measure=time.name)
            yield self.q.reading(query, used | said, *self.q.operations, assumes=-0.3)

    def _is_other_end(self, figure: str) -> bool:
        """Whether a column is called as lowest figures where the highest is asked for, or the other way round."""
        said = {side: lexicon().operations[side].search(" ".join(words_of(figure))) for side in ("top", "bottom")}
        return bool(said["bottom" if self.descending else "top"]) and not said["top" if self.descending else "bottom"]

    @cached_property
    def _ends(self) -> tuple[str, ...]:
        """The columns that say where rows go from and to, where both are asked for."""
        texts = [c.name for c in self.q.table.columns if c.kind == "text"] if _BOTH_ENDS.search(self.q.text) else []
        found = [
            next((name for name in texts if words.intersection(parts_of(name))), "") for _, _, words in lexicon().ways
        ]
        return tuple(found) if all(found) else ()

    def _columns(self, base: TableQuery, used: frozenset[int], limit: int) -> Iterator[Reading]:
        """Yield which of several columns of the like has most: candidates, years or kinds that stand side by side."""
        numbers = [c for c in self.q.figures() if not self.q.flag(c.name)]
        texts = self.q.columns(("text", "date"), used, {one.column for one in base.filters}, LIKELY)
        if any(self.q.said[name].tokens - self.q.links.guessed.keys() for name in texts):
            return  # a region abstained, or there is a day of each
        asked = frozenset(
            n
            for n, t in enumerate(self.q.tokens)
            if not t.filler and self.q.is_asked_for(n) and n not in self.q.operators
        )
        for names, named in self._alike(numbers):
            if names & {one.column for one in base.filters}:
                continue
            figure = "sum" if all(self.q.column(n).whole or self.measures.additive(n) for n in names) else "average"
            columns = tuple(c.name for c in numbers if c.name in names)
            query = replace(base, shape="groups", aggregate=figure, columns=columns, order=self.order(""), limit=limit)
            done = ("top", "bottom", "most_common", "sum", "average", "count")
            reading = self.q.reading(query, used, *done, assumes=0.2)
            yield replace(reading, used=used | named | asked)

    def _alike(self, numbers: Sequence[Column]) -> Iterator[tuple[set[str], frozenset[int]]]:
        """Yield columns of figures of the like, with the tokens that name what they have in common.

        A word of all their names says so, or a column that is their total.
        """
        for n in range(len(self.q.tokens)):
            likely = self.q.links.columns[n]
            names = {c.name for c in numbers if likely.get(c.name, 0.0) >= LIKELY and len(words_of(c.name)) > 1}
            apart = [self.q.said[name].tokens for name in names if name in self.q.said]
            if any(map(_TOTAL.search, names)):
                continue
            highs = [self.q.column(name).high for name in names]  # a diameter and an area are no figures of the like
            if len(names) < 2 or max(highs) > _ALIKE * min(highs) > 0:
                continue
            if len(apart) == len(names) and len({*apart}) == 1:
                yield names, apart[0]
        for whole in numbers:
            parts = [c for c in numbers if c.whole == whole.whole and c.unit == whole.unit and c.high <= whole.high]
            names = {c.name for c in parts if c is not whole and not _TOTAL.search(c.name)}
            said = frozenset().union(*(self.q.said[name].tokens for name in names & self.q.said.keys()))
            if _TOTAL.search(whole.name) and len(names) > 1 and said <= self.q.links.guessed.keys():
                yield names, self.q.said[whole.name].tokens if whole.name in self.q.said else frozenset()
        if any(self.q.links.named.get(n, 0.0) >= CALLED and self.q.is_asked_for(n) for n in range(len(self.q.tokens))):
            like = [c for c in numbers if not _TOTAL.search(c.name)]  # which meat of meat.csv: each column is one
            if len(like) > 2 and len({c.whole for c in like}) == 1 and not {c.name for c in like} & self.q.said.keys():
                yield {c.name for c in like}, frozenset()

    def _is_one_each(self, name: str) -> bool:
        """Whether each row is one of what a column calls it, though some are called the same: the file says so."""
        words = [_TABLE_NAME.sub("", word) for word in words_of(_PREPOSITION.split(self.q.table.stem)[0])]
        head = next((word for word in reversed(words) if word and not word.isdigit()), "")
        return bool(head) and any(likeness(head, word) >= NAMED for word in words_of(name))

    def order(self, measure: str) -> str:
        """Return how rows are ordered by a figure for what is asked: the fastest took the least time."""
        least = not self.descending
        if _LONG_AGO.search(self.q.text) and (not measure or not self.q.is_date(measure)):
            least = False  # the longest time ago is the first day, but the longest time
        elif _LONG_AGO.search(self.q.text):
            least = True
        if _FAST.search(self.q.text) and not {*words_of(measure)} & _SPEEDS:
            timed = self.q.lasts(measure) or {*words_of(measure)} & _TIMED or _COURSE.fullmatch(measure)
            least = bool(timed) != least
        lost = lexicon().lost
        if measure and self.q.column(measure).low < 0 and lost.search(self.q.text) and not lost.search(measure):
            least = not least
        return "asc" if least else "desc"

    @property
    def descending(self) -> bool:
        """Whether most is asked for, not least."""
        spans = self.q.operations.get("top", self.q.operations.get("most_common", []))
        if not spans:
            return False
        rest = self.q.text[spans[0][1] : spans[0][1] + 14]
        if re.search("[가-힣]", rest):
            return not lexicon().down.search(rest)
        return not rest.lower().startswith((" low", " small"))

    def _extreme_time(self) -> str:
        """Return the column of time where the oldest or latest is asked for."""
        time = self.q.time_column() if _EXTREME_TIME.search(self.q.text) else None
        return time.name if time else ""

    def _limit(self) -> tuple[int, frozenset[int]]:
        """Return how many are asked for, and the token that says so."""
        words = {word: number for number, word in enumerate(_SMALL, start=2)}
        spans = self.q.spans("top", "bottom")
        for n, token in enumerate(self.q.tokens):
            near = any(0 <= token.start - end <= 10 or 0 <= start - token.end <= 2 for start, end in spans)
            after = self.q.text[token.end : token.end + 3].strip()
            counted = token.unit in ("개", "곳", "명", "건", "편", "개국", "대") or after.startswith(("위", "개", "곳"))
            if token.kind == "number" and token.number and token.number <= 100 and (near or counted):
                return int(token.number), frozenset([n])
            asked = near or _FIRST_OF.search(self.q.text[: token.start]) is not None
            if token.text.lower() in words and asked:
                return words[token.text.lower()], frozenset([n])
            if few := _FEW.match(self.q.text, token.start):
                spoken = frozenset(m for m, t in enumerate(self.q.tokens) if token.start <= t.start < few.end())
                return int(number_word(few[1] or few[2]) or 1), spoken
        return 1, frozenset()

    def grouped(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield a figure for each value of a column, or for each of several values that are named."""
        for group, n in self.each():
            how_much = self.q.has("how_much") and not self.q.has("count")
            figure = "" if measure == group else measure or (self.measures.default_measure() if how_much else "")
            aggregate = self.q.aggregate or ("sum" if how_much and not figure else self.measures.figure_of(figure))
            counted = self._counted(figure) if aggregate == "count" else ""
            figure = counted if aggregate == "count" else figure or self.measures.default_measure()
            aggregate = "sum" if counted else aggregate
            part = self.part_of(n, self.q.column(group))
            if self.q.column(group).kind == "date":
                part = part or next(filter(None, (self.part_of(m, self.q.column(group)) for m in self._units)), "year")
            if self.q.superlative:
                order, limit = self.order(figure), self._limit()[0]
            else:
                order, limit = "" if self.q.is_time(group) else "desc", 0
            query = replace(
                base, shape="groups", aggregate=aggregate, measure=figure, group=group, part=part, order=order,
                limit=limit,
            )  # fmt: skip
            if self.q.pair and figure == self.q.pair.column.name and self.q.pair.kind == "left" and n in self.q.persons:
                query = replace(query, filters=(*query.filters, Filter(figure, "gt", (0.0,))))  # who owes 0 owes not
            missing = "" if figure or aggregate == "count" else "measure"
            query = replace(query, aggregate="count") if missing else query
            done = ("each", aggregate, *(("top", "bottom", "most_common") if limit else ()))
            yield self.q.reading(query, used | {n}, *done, missing=missing)
        for one in base.filters:
            texts = {str(value).casefold() for value in one.values}
            several, apart = len(texts) > 1, self._opposite(one)
            more = several and _MORE.search(self.q.text) is not None
            if one.op not in ("is", "year") or not (several or apart) or not (self.q.aggregate or measure or more):
                continue
            aggregate, figure = self.q.aggregate or self.measures.figure_of(measure), measure
            if aggregate == "count":
                figure = self._counted(measure)
                aggregate = "sum" if figure else aggregate
            elif not figure:
                figure = self.measures.default_measure()
            if not figure and aggregate != "count":
                continue
            order = "" if self.q.is_time(one.column) else "desc"
            filters = base.filters if several else tuple(other for other in base.filters if other is not one)
            query = replace(
                base, shape="groups", aggregate=aggregate, measure=figure, group=one.column, order=order,
                part="year" if one.op == "year" else "", filters=filters,
            )  # fmt: skip
            rather = -0.1 - 0.5 * (self.q.has("each") or more) + 0.2 * (figure != measure)
            rather += 0.4 * (self.q.has("change", "compare") and several and not self.q.has("each"))
            done = ("count", "each", "compare", "sum", "how_much")
            yield self.q.reading(query, used, aggregate, *done, assumes=rather)

    def _counted(self, measure: str) -> str:
        """Return the figure whose sum says how many there are in each group; empty where rows are counted."""
        summed = measure if measure and self.measures.may_be_summed(measure) else ""
        return summed or self.measures.quantity()

    def _opposite(self, one: Filter) -> bool:
        """Whether the other one of a column's two values is asked for as well: "new copies and used ones"."""
        column = self.q.column(one.column)
        two = column.kind == "text" and column.distinct == len(column.values) == 2 and len(one.values) == 1
        return two and one.op == "is" and (self.q.has("compare", "each") or _AND_OTHERS.search(self.q.text) is not None)

    def each(self) -> Iterator[tuple[str, int]]:
        """Yield the columns that a figure is asked for each value of, with their tokens."""
        if self.q.persons and self.q.has("how_much") and not self.q.superlative:  # who paid how much
            yield from ((name, n) for n in self.q.persons for name in self.q.links.columns[n])
        for start, end in self.q.operations.get("each", ()):
            korean = re.search("[가-힣]", self.q.text[start:end]) is not None
            for n, token in enumerate(self.q.tokens):
                if not (token.start <= start <= token.end + 1 if korean else 0 <= token.start - end <= 6):
                    continue
                if not korean and self._in_a_name(self.q.text[start : token.end]):  # "per hour" of a `price_per_hour`
                    continue
                while not korean and self._goes_on(n):  # "by project type" is by type
                    n += 1
                likely_of, spoken = self.q.links.columns[n], {key_of(form) for form in self.q.tokens[n].forms}
                very = {name: likely for name, likely in likely_of.items() if key_of(name) in spoken}
                best = min(LIKELY, max(likely_of.values(), default=LIKELY))
                for name, likely in (very or likely_of).items():
                    column = self.q.column(name)
                    if likely >= best and (column.kind != "number" or column.distinct <= 60 or column.years):
                        yield name, n
                time = self.q.time_column()
                if time and (
                    self.part_of(n, time)
                    or (time.years and not {"연도", "년도", "해", "연", "year"}.isdisjoint(token.forms))
                ):
                    yield time.name, n

    def _goes_on(self, n: int) -> bool:
        """Whether the next word is the very name of a column that this one only says more of."""
        if n + 1 == len(self.q.tokens) or self.q.tokens[n + 1].start - self.q.tokens[n].end != 1:
            return False
        return 1.0 in self.q.links.columns[n + 1].values() and self.q.tokens[n].kind == "word"

    def _in_a_name(self, said: str) -> bool:
        """Whether words stand, as they are, behind others in the name of a column."""
        return any(re.search(rf"[a-z]{key_of(said)}", key_of(column.name)) for column in self.q.table.columns)

    @cached_property
    def no_group(self) -> bool:
        """Whether a figure is asked for each of something that the table has no column of."""
        for start, end in self.q.operations.get("each", ()):
            korean = re.search("[가-힣]", self.q.text[start:end]) is not None
            for n, token in enumerate(self.q.tokens):
                beside = token.start <= start <= token.end + 1 if korean else 0 <= token.start - end <= 1
                beside = beside and not _EACH_OF_THEM.match(self.q.text, start)
                stands = self.q.links.columns[n] or any(v.first <= n <= v.last for v in self.q.links.values)
                alone = token.kind == "word" and not token.filler and self.q.links.named.get(n, 0.0) < 0.9
                if beside and alone and not stands and not (n in self._units and self.q.time_column()):
                    return True
        return False
