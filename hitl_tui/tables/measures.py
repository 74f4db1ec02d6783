"""Which figures a question is about: the columns that it names or leaves open, and what becomes of several rows."""

from __future__ import annotations

import re
from functools import cached_property
from math import prod

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.tables.links import CALLED
from hitl_tui.tables.profile import UNITS_OF_TIME
from hitl_tui.tables.query import Formula, TableQuery
from hitl_tui.tables.question_in_table import DAYS, LIKELY, NAMED, NUMBER_OF, RATES, TOTALS, QuestionInTable
from hitl_tui.tables.words import key_of, lexicon, likeness, words_of  # fmt: skip

_MEANT, _MEANT_APART = 0.3, 0.1
"""How near in meaning a question has to be to a column of figures, and by how much nearer than to the next."""
_ALIKE = 0.3
"""From where on what is counted is near to what a table is of."""
_ANY_FIGURE = frozenset(("value", "values", "obsvalue", "figure", "값", "수치"))
"""What the only figure of a table is called that holds figures of several kinds."""
_HOW_MANY_DAYS = re.compile(r"며칠|몇\s?일|\bhow many days\b", re.I)
MANY = re.compile(r"\b(?:most|fewest|least|busiest|commonest)\b(?! \w+(?:ive|ed)\b)|많|적은|적었|적게|흔|자주", re.I)
_SUMS = re.compile(
    r"(?:금액|[^가-힣]액|(?:매출|판매|지출|결제|청구|납부|입금|지급|세|지원|사용)액|시간|수량|비용|건수|횟수|인원|일수)$"
)
"""How Korean names of figures end that may be summed up."""
_PARTS = frozenset(("mo", "month", "yr", "year"))
"""Words of columns that hold a part of a day: no month is summed."""
_COUNTED_IN = frozenset(
    ("명", "개", "건", "대", "곳", "채", "마리", "권", "회", "가구", "세대", "persons", "people", "count")
)
"""Units of what is counted."""


class Measures:
    """The figures of one question."""

    def __init__(self, q: QuestionInTable) -> None:
        self.q = q

    def are_rows(self, name: str) -> bool:
        """Whether rows are counted, and a column is called as one of them: the flight in flights.csv is its number."""
        counted = self.q.has("count", "share") or MANY.search(self.q.text) is not None
        rows = all(self.q.links.named.get(n, 0.0) >= CALLED for n in self.q.said[name].tokens)
        return counted and rows and not (name.endswith("s") or self.additive(name) or self.q.has("sum"))

    def named_better(self, name: str) -> bool:
        """Whether all words of a column are the very name of one of texts: a president is no petition to one."""
        said = self.q.said[name]
        whole = {
            n
            for n in said.tokens
            for other, likely in self.q.links.columns[n].items()
            if likely >= 1 and self.q.column(other).kind == "text"
        }
        return said.likely < 1 and said.tokens <= whole

    def default_measure(self) -> str:
        """Return the column of a table that has one figure alone, or one for all."""
        numbers = [column for column in self.q.figures() if column.name not in self.q.left_out]
        if self.q.lasting:
            long = [c.name for c in self.q.table.columns if c.kind == "number" and c.unit in UNITS_OF_TIME]
            return long[0] if len(long) == 1 else ""
        if len(numbers) == 1:
            return numbers[0].name
        if self.q.has("how_much") and not self.q.has("count"):
            paid = [c.name for c in numbers if self.q.in_money(c.name) and self.additive(c.name)]
            if len(paid) == 1:
                return paid[0]
        whole = (c.name for word in TOTALS for c in numbers if "".join(words_of(c.bare_name)) == word)
        return next(whole, "") or (self.meant_measure if self.q.by_meaning else "")

    @cached_property
    def meant_measure(self) -> str:
        """The column of figures that the whole question is nearest to in meaning, if one is clearly so."""
        names = {" ".join(words_of(c.name)): c.name for c in self.q.figures() if c.name not in self.q.left_out}
        called = " ".join(words_of(self.q.table.stem))
        if len(names) < 2:
            return ""
        likes = likenesses(self.q.text, [*names, *(f"{called} {name}" for name in names)])
        both = sorted(zip(map(sum, zip(likes, likes[len(names) :], strict=False)), names, strict=True), reverse=True)
        (best, name), (next_, _) = both[:2]
        return names[name] if best >= _MEANT and best - next_ >= _MEANT_APART else ""

    def quantity(self) -> str:
        """Return the one column that says how many of something a row is about, where that many are asked for."""
        spans = self.q.operations.get("count", ())
        days = [c.name for c in self.q.figures() if DAYS.search(c.name)] if self.asks_for_days else ()
        if len(days) == 1:
            return days[0]
        if self._count and (spans or self.q.superlative):
            return self._count
        asked = [self.q.text[a:b] + self.q.text[b : b + 20] for a, b in spans]
        happened = any(
            re.search(
                rf"(?:몇|how many|number of)\s?(?:[a-z]+\s)?(?:{'|'.join(lexicon().happenings)})|^건수", one, re.I
            )
            for one in asked
        )
        rows = any(lexicon().rows.intersection(self.q.tokens[n].forms) for n in self.q.counted_nouns)
        units = any(not lexicon().parts.keys().isdisjoint(self.q.tokens[n].forms) for n in self.q.counted_nouns)
        alone = self._rows_are_times and not units
        columns = [c.name for c in self.q.figures() if alone or (self._is_quantity(c.name) and not rows)]
        return columns[0] if len(columns) == 1 and spans and not happened else ""

    @cached_property
    def asks_for_days(self) -> bool:
        """Whether it asks how many days something was."""
        return _HOW_MANY_DAYS.search(self.q.text) is not None

    @property
    def _rows_are_times(self) -> bool:
        """Whether each row is a month, or another time, of one figure: nobody counts these rows."""
        time = self.q.time_column()
        others = [c for c in self.q.table.columns if time and c.name != time.name]
        return time is not None and self.q.unique(time.name) and len(others) == 1 and others[0].whole

    def _is_quantity(self, name: str) -> bool:
        """Whether a column says how many of something a row is about, not what each of them costs."""
        words = set(words_of(name))
        if words & _PARTS:
            return False
        rest = words_of(name)[1:] if NUMBER_OF.match(name) else ()
        spoken = [form for token in self.q.tokens if token.kind == "word" for form in token.forms]
        if any(likeness(form, word) >= LIKELY for word in rest for form in (*words_of(self.q.table.stem), *spoken)):
            return not words & lexicon().each_of
        costs = lexicon().each_of | lexicon().money | lexicon().alike["price"]
        return bool(words & lexicon().quantities) and not words & costs - {"unit"}

    def _is_price(self, name: str) -> bool:
        return self.q.in_money(name) or not lexicon().alike["price"].isdisjoint(words_of(name))

    def only_sold(self, name: str) -> bool:
        """Whether only words that something was sold ask for a price: the most sold isn't the dearest."""
        sold = lexicon().alike["sold"]
        told = all(sold.intersection(self.q.tokens[n].forms) for n in self.q.said[name].tokens)
        each = not self.additive(name) or self._is_price(name)
        return self.q.superlative and told and each and not self._is_quantity(name)

    def additive(self, name: str) -> bool:
        """Whether values of a column may be summed up."""
        if pair := next((one for one in self.q.table.pairs if one.column.name == name), None):
            return pair.kind != "short"
        if self.q.formula and name == self.q.formula.name:
            return self._is_additive(self.q.formula)
        known, known_counts = lexicon().additive, lexicon().counts
        words = set(words_of(name))
        if words & _PARTS:
            return False
        each = words & lexicon().each_of
        if not each and (self.q.column(name).money or (len(words) > 1 and words & lexicon().money)):
            return True
        if self._is_quantity(name) or key_of(name) in known_counts or (self.q.lasting and self.q.lasts(name)):
            return True
        summed = {"sales", "revenue", "turnover", "매출", "매출액", "판매액", "수입", "수익"}
        summed |= {"money", "돈"} if MANY.search(self.q.text) else set()
        spoken = {form for token in self.q.tokens for form in token.forms}
        if any(word in known or word + "s" in known or _SUMS.search(word) for word in words) or bool(spoken & summed):
            return True
        return not each and self._counts_things(name)

    def _is_additive(self, formula: Formula) -> bool:
        """Whether what rows make of two columns may be summed up: a product with an amount, not a quotient."""
        forms = {form for n in self.q.said[formula.name].tokens for form in self.q.tokens[n].forms}
        called = forms.union(*(lexicon().alike.get(form, ()) for form in forms))
        if formula.sign == "÷" or not called.isdisjoint(lexicon().additive):
            return formula.sign != "÷"
        parts = [self.additive(name) for name in (formula.left, formula.right)]
        return any(parts) if formula.sign == "×" else all(parts)

    def may_be_summed(self, name: str) -> bool:
        """Whether how many there are may be the sum of a column: one called by its name that has such numbers."""
        column, words = self.q.column(name), set(words_of(name))
        whole = column.whole and column.low >= 0 and column.high > 1 and not self.q.is_time(name)
        called = whole and name in self.q.said and self.q.said[name].likely >= NAMED
        counts = called and not (self.q.is_key(name) or words & (RATES | lexicon().each_of))
        summed = self.q.has("sum") or counts or self.additive(name) or self.counted(name)
        summed = summed or (self.asks_for_days and DAYS.search(name) is not None)
        said = self.q.has("sum", "how_much") or name == self.quantity()
        if self._counts_sales(name):
            return True
        if self._is_price(name) and not said and (self.q.korean or not self.counted(name)):
            return False  # "how many houses" asks for no amount
        return summed and not self.q.is_time(name)

    def _counts_sales(self, name: str) -> bool:
        """Whether it asks how many were sold, and a column has whole numbers of sales."""
        column, spoken = self.q.column(name), {form for token in self.q.tokens for form in token.forms}
        sales = column.whole and not column.money and "sale" in words_of(name)
        return sales and self.q.has("count") and not spoken.isdisjoint(lexicon().alike["sold"])

    def _counts_things(self, name: str) -> bool:
        """Whether whole numbers are of things: the question asks for the most of them, or the name or unit says so."""
        column = self.q.column(name)
        if not (column.whole and column.low >= 0) or column.years or self.q.flag(name) or column.unit in UNITS_OF_TIME:
            return False
        words = words_of(name)
        things = len(words) == 1 and name.isascii() and name.casefold().endswith("s") and words[0] != name.casefold()
        only = things and (len(self.q.figures()) == 1 or MANY.search(self.q.text) is not None)
        if column.unit in _COUNTED_IN or NUMBER_OF.match(name) or only:
            return True
        if name not in self.q.said or set(words_of(name)) & RATES:
            return False
        spans = self.q.spans("top", "bottom")
        mine = self.q.said[name].tokens
        if self.q.korean:
            beside = (n for n in mine for start, _ in spans if 0 <= start - self.q.tokens[n].end <= 2)
        else:
            after = (n for n, token in enumerate(self.q.tokens) if any(0 <= token.start - end <= 1 for _, end in spans))
            beside = (n for n in after if mine & {n, n + 1})
        return MANY.search(self.q.text) is not None and any(True for _ in beside)

    def figure_of(self, measure: str) -> str:
        """Return how values of a column become one: as is said, else summed where that makes sense."""
        said = self.q.aggregate
        if not measure:
            return "count"
        return said if said not in ("", "count", "distinct") else "sum" if self.additive(measure) else "average"

    @cached_property
    def _count(self) -> str:
        """The one column that says how many rows were counted together."""
        counts = [c.name for c in self.q.figures() if key_of(c.bare_name) in lexicon().counts]
        return counts[0] if len(counts) == 1 else ""

    @cached_property
    def _one_each(self) -> bool:
        """Whether there is one row for each of what its texts and times may be together: years by sources."""
        apart = [c for c in self.q.table.columns if c.distinct > 1 and (c.kind in ("text", "date") or c.years)]
        every = prod(c.distinct for c in apart)
        return len(apart) > 1 and 0.95 * every <= self.q.table.rows <= every

    @cached_property
    def carried(self) -> str:
        """The figure of rows that stand for several, or for amounts: how many they are, or what each is for."""
        only = [c.name for c in self.q.figures()]
        one = self._one_each or (len(only) == 1 and self._counts_things(only[0]))
        figure = self._count or (self.default_measure() if one or self.q.of_amounts else "")
        return figure if figure and self.additive(figure) else ""

    @cached_property
    def of_others(self) -> str:
        """The figure of a table whose rows the question names, or limits by what it counts, where it counts others.

        It is the only one, or called a total: "how many people" of lifeboats.
        """
        nouns = self.q.counted_nouns
        values = any(v.whole and v.first <= n <= v.last for n in nouns for v in self.q.links.values)
        only = self.q.figures()
        if values and len(only) == 1 and key_of(only[0].name) in _ANY_FIGURE:
            return only[0].name  # the table is long: what a figure is of is a value
        figures = [c for c in only if c.whole and c.low >= 0]
        total = [c for c in figures if key_of(c.bare_name) in TOTALS] if len(figures) > 1 else figures
        if len(total) != 1:
            return ""
        rows = {n for n, likely in self.q.links.named.items() if likely >= CALLED}
        known = values or any(n in rows or (self.q.links.columns[n] and n not in self.q.links.guessed) for n in nouns)
        persons = any(lexicon().persons.intersection(words_of(c.name)) for c in self.q.table.columns)
        people = (
            not persons and len(figures) > 1 and any(lexicon().rows.intersection(self.q.tokens[n].forms) for n in nouns)
        )
        near = bool(rows) and any(self.q.links.related.get(n, 0.0) >= _ALIKE for n in nouns)
        return total[0].name if (near or (people and (rows or self.q.named))) and not known else ""

    def limits_another(self, figure: str) -> bool:
        """Whether a column of yes and no is named beside another figure: "the average wage of union members"."""
        others = (c.name for c in self.q.figures() if c.name != figure and c.name in self.q.said)
        return bool(figure and self.q.flag(figure)) and any(self.q.said[name].likely >= NAMED for name in others)

    def counted(self, measure: str) -> bool:
        """Whether what is counted is what a column holds the number of: "how many seats", "how many child seats"."""
        values = {n for one in self.q.links.values if one.whole for n in range(one.first, one.last + 1)}
        ends = () if self.q.korean else self.q.operations.get("count", ())
        after = ((n for n, t in enumerate(self.q.tokens) if t.start >= end and n not in values) for _, end in ends)
        nouns = {self._head(next(each, -1)) for each in after} or self.q.counted_nouns
        mine = measure in self.q.said and not self.q.said[measure].tokens.isdisjoint(nouns)
        return mine or (bool(measure) and self._counts_sales(measure))

    def _head(self, n: int) -> int:
        """Return the last of the counted nouns that follow one: what home sales are is sales."""
        while n in self.q.counted_nouns and n + 1 in self.q.counted_nouns:
            n += 1
        return n

    def named_rows(self, used: frozenset[int]) -> bool:
        """Whether what is counted is called as a column of texts is: each row is one."""
        texts = [one for name, one in self.q.said.items() if self.q.column(name).kind == "text" and one.likely >= NAMED]
        ends = [end for _, end in self.q.operations.get("count", ())]
        return any(0 <= self.q.tokens[n].start - end <= 1 for one in texts for n in one.tokens - used for end in ends)

    def figure_among(self, listed: TableQuery) -> str:
        """Return the column of figures of rows that were listed: what they are chosen by, or what was shown of them."""
        fixed = {one.column for one in listed.filters if one.op in ("is", "none", "empty")}
        made = [one.column for one in listed.filters if one.column in {pair.column.name for pair in self.q.table.pairs}]
        figures = {column.name for column in self.q.figures()} - fixed
        summed = {name for name in figures.union(made) if self.additive(name) or len(figures) == 1}
        shown = [name for name in (listed.measure, *made, *listed.columns) if name in summed]
        return next(iter(shown or (summed if len(summed) == 1 else ())), "")
