"""A question becomes typed queries of one table: every reading that fits, scored by how much it explains.

Words hit values, columns and operations. Each choice of what they stand for gives a query; what a query leaves
unexplained counts against it by how much the word says, and so does what it assumes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hitl_tui.meaning.word_forms import is_question_word
from hitl_tui.tables.filters import CHOICES, PARTS_OF_DAYS, Filters
from hitl_tui.tables.groups import PLACE, WHEN, Groups
from hitl_tui.tables.links import CALLED, label_of
from hitl_tui.tables.measures import Measures
from hitl_tui.tables.moments import are_months
from hitl_tui.tables.profile import Column, Table
from hitl_tui.tables.query import Filter, Formula, TableQuery
from hitl_tui.tables.query_score import ASKING, SECOND, WORKED, Mapped, Rating
from hitl_tui.tables.question_in_table import IDS, LIKELY, LOOSE, NAMED, QuestionInTable, Reading
from hitl_tui.tables.words import lexicon, likeness, months_of, tokens, words_of

_COUNTS_ONE = 1.2
"""What a count of rows costs where the question names a single row."""
_FEW_VALUES = 6
_SEASON = re.compile(r"\d{4}\b")
"""How values begin that say when something was: 2000-01."""
_VERB = re.compile(r"\b(?:are|were|is|was|have|had|made|come|came|from|belong)\b")
_DENIED = re.compile("[미안못불]|(?:no|not|un)[ -]?", re.I)
"""How values begin that deny what their column is called."""
_SHOWN_COLUMNS = 6
"""Columns of a row that has no name which say which one it is."""
_LISTED = re.compile(
    r"(?<![가-힣])(?:목록|내역|리스트)(?=[은는을를이가도만]?(?:\s|\W*$))|^\W*(?:please )?list\b|\ba list of\b", re.I
)
"""Asks for rows."""
_ONES = re.compile(
    r"\b(?:which|what) (?:ones?|are (?:they|these|those))\b|\bwho are (?:they|these|those)\b|\b(?:list|show)(?: me)? "
    r"(?:them|these|those)\b|(?:어떤|어느|무슨)\s?(?:것|거|건)|뭐뭐|누구누구|(?:목록|리스트)(?:[을를으은는도]|\s|\W*$)",
    re.I,
)
"""Asks for the rows that were counted or summed up before."""
_OVERALL = re.compile(r"전체|\boverall\b|\b(?:of|for|across|over) (?:all|every)\b", re.I)
"""Drops what narrowed the question before."""


_HAVING = re.compile(r"\b(?:have|has|had|having|with)\b|있는|가진|있어", re.I)
"""Asks how many have something."""

_OF_ROWS = re.compile(r"몇\s?(?:건|번|차례|회)")
"""What counts rows, whoever they are of."""


class Reader:
    """Reads one question for one table."""

    def __init__(self, question: str, table: Table, named: bool, *, by_meaning: bool = False) -> None:
        self.q = QuestionInTable(question, table, named, by_meaning=by_meaning)
        self.measures = Measures(self.q)
        self.filters = Filters(self.q)
        self.groups = Groups(self.q, self.measures)
        self.rating = Rating(self.q, self.measures, self.groups)

    def read(self) -> list[Mapped]:
        """Return what the question may ask of the table, the best first; never empty."""
        best: dict[TableQuery, Mapped] = {}
        for reading in self.readings():
            mapped = self.rating.rated(reading)
            if reading.query not in best or mapped.score > best[reading.query].score:
                best[reading.query] = mapped
        return sorted(best.values(), key=lambda one: one.score, reverse=True)

    def readings(self) -> Iterator[Reading]:
        """Yield every reading."""
        for values, tokens_of_values, fit in self.filters.with_flags():
            taken = {one.column for one in values}
            measures = self.q.columns(("number",), tokens_of_values, taken, LOOSE)
            measures = [n for n in measures if n not in self.q.paired and not self.q.is_code(n)]
            measures = [n for n in measures if not self.measures.only_sold(n) and not self.measures.are_rows(n)]
            measures = [n for n in measures if not self.measures.named_better(n)]
            if self.q.aggregate == "sum":  # over all years, no years are added up
                measures = [name for name in measures if not self.q.column(name).years]
            if self.measures.quantity() and self.q.has(
                "count"
            ):  # "how many in total" asks for no column that is called Total
                measures = [n for n in measures if not self.q.said[n].tokens <= self.q.operators]
            measures = sorted(measures, key=lambda name: self.q.column(name).years)[:CHOICES]
            for measure in (*measures, ""):
                mine = self._like(measure) if measure else frozenset()
                named = frozenset(n for n in mine if self.q.tokens[n].number is not None)
                numbers, tokens_of_numbers = self.filters.number_filters(tokens_of_values | named, measure)
                filters = tuple(values + numbers)
                used = tokens_of_values | tokens_of_numbers | self.q.named_by(filters)
                if mine and mine <= used and measure not in {one.column for one in filters} and numbers:
                    continue  # its words name the column of a number
                if self.q.over and (figure := measure or self.measures.default_measure()):
                    yield self._beyond(filters, used, figure)
                    continue
                twice = 0.3 * bool(mine and self.q.said[measure].tokens <= tokens_of_values)
                for reading in self._shapes(filters, used, measure):
                    yield replace(reading, assumes=reading.assumes - fit + twice)

    def _like(self, measure: str) -> frozenset[int]:
        """Return the tokens that name a column, or another one that differs from it in a number alone."""
        stem = [word for word in words_of(measure) if not word.isdigit()]
        bare = {name: [word for word in words_of(name) if not word.isdigit()] for name in self.q.said}
        return frozenset().union(*(self.q.said[name].tokens for name, words in bare.items() if words == stem))

    def _beyond(self, filters: tuple[Filter, ...], used: frozenset[int], figure: str) -> Reading:
        """Return the rows that are beyond a limit that documents set."""
        said = self.q.text[self.q.tokens[min(self.q.over)].start : self.q.tokens[max(self.q.over)].end]
        filters = (*filters, Filter(figure, "over", (), said))
        people = [name for n in self.q.persons for name in self.q.links.columns[n]]
        shown = dict.fromkeys((*people, *self._shown(filters), *(one.column for one in filters)))
        query = replace(self.q.base, shape="rows", filters=filters, columns=tuple(shown), measure=figure)
        every = (*self.q.operations, "top", "bottom", "most_common")
        return self.q.reading(query, used | self.q.over, *every, assumes=0.3 * (figure not in self.q.said))

    def _shapes(self, filters: tuple[Filter, ...], used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield the queries that some filters and a measure allow."""
        base = replace(self.q.base, filters=filters)
        if self.q.has("empty", "negation"):
            yield from self._empties(base, used, measure)
        if self.q.has("correlation") and measure:
            for other in self.q.columns(("number",), used | self.q.said[measure].tokens, {measure}, LOOSE)[:CHOICES]:
                query = replace(base, shape="correlation", measure=measure, other=other)
                yield self.q.reading(query, used, "correlation")
        if self.q.has("change", "compare") and not (measure and self.q.is_time(measure)):
            yield from self._changes(base, used, measure)
        if self.q.has("share", "rate"):
            yield from self._shares(base, used, measure)
        if self.q.superlative:
            yield from self.groups.bests(base, used, measure)
        yield from self.groups.lasts(base, used, measure)
        yield from self.groups.spans(base, used)
        yield from self.groups.grouped(base, used, measure)
        if self.q.aggregate:
            yield from self._figures(base, used, measure)
        elif (
            self.q.has("how_much")
            and (figure := measure or self.measures.default_measure())
            and self.measures.additive(figure)
        ):
            default = 0.3 * (figure != measure) + 0.4 * self.q.keyed(filters)
            yield self.q.reading(
                replace(base, aggregate="sum", measure=figure), used, "how_much", assumes=0.1 + default
            )
        elif measure and filters and not self.q.superlative and self._sums(filters, measure):
            query = replace(base, aggregate="sum", measure=measure)
            yield self.q.reading(query, used, assumes=0.1)
        elif filters and self.q.whether:
            yield self.q.reading(replace(base, aggregate="count"), used, assumes=-0.5)
            keys = tuple(one for one in filters if self.q.keyed([one]))
            if keys and len(keys) < len(filters):  # what the row has, rather than how many rows have it
                shown = tuple(dict.fromkeys(one.column for one in (*keys, *filters)))
                rows = replace(base, shape="rows", filters=keys, columns=shown, measure=shown[-1])
                yield self.q.reading(rows, used, assumes=-0.6)
        elif filters and not self.q.superlative:
            rows = replace(base, shape="rows", columns=self._shown(filters))
            yield Reading(rows, used, assumes=0.6, whole=True)
        yield from self._rows(base, used, measure)

    def _sums(self, filters: Sequence[Filter], measure: str) -> bool:
        """Whether a figure that is named stands for the sum of the rows that are meant: `3월 근무시간`."""
        said = self.q.said[measure]
        listed = _LISTED.search(self.q.text) is not None or self.q.lacking() is not None or self.q.whether
        listed = listed or measure in {one.column for one in filters}
        return said.likely >= LIKELY and self.measures.additive(measure) and not (listed or self.q.keyed(filters))

    def _shown(self, filters: tuple[Filter, ...]) -> tuple[str, ...]:
        """Return the columns that say which rows are meant: what they are called, else the first ones."""
        label = label_of(self.q.table)
        if label and self.q.unique(label.name) and label.name not in {one.column for one in filters}:
            return tuple(dict.fromkeys((label.name, *(one.column for one in filters))))
        return tuple(column.name for column in self.q.table.columns if column.kind != "other")[:_SHOWN_COLUMNS]

    def _empties(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield how many rows have nothing in a column that is named, and who they are: "who hasn't paid"."""
        if any(one.op == "not" and self.q.flag(one.column) for one in base.filters) and not self.q.has("negation"):
            return  # a column of O and X has no gaps
        denied = [end for _, end in self.q.operations.get("negation", ())]
        kept = tuple(one for one in base.filters if not (denied and self._has_whole(one)))
        apart = used - (self.q.named_by(base.filters) - self.q.named_by(kept))
        taken = {one.column for one in kept}
        label = label_of(self.q.table)
        people = next((name for n in self.q.persons for name in self.q.links.columns[n]), label.name if label else "")
        for name in self.q.columns(("text", "number", "date"), apart, taken, LOOSE)[: 2 * CHOICES]:
            column = self.q.column(name)
            if column.kind == "text" and column.filled == self.q.table.rows and self.q.flag(name):
                continue
            words = [self.q.tokens[n] for n in self.q.said[name].tokens]
            beside = any(
                t.start - 12 <= end <= t.end or (self.q.korean and 0 < end - t.end < 4) for t in words for end in denied
            )
            zero = column.kind == "number" and column.low == 0
            if not (self.q.has("empty") and self.q.said[name].likely >= LIKELY) and not (
                beside and (zero or column.filled < self.q.table.rows)
            ):
                continue
            unsaid = 0.4 * (self.q.said[name].likely < LIKELY)
            denied_values = tuple(v for v in column.values if len(column.values) <= _FEW_VALUES and _DENIED.match(v))
            missing = Filter(name, "none" if zero and beside else "empty", (), "empty")
            missing = Filter(name, "is", denied_values, "not") if denied_values else missing
            filters = (*kept, missing)
            done = ("empty", "negation", "count")
            figure = measure or self.measures.default_measure()
            if self.q.has("how_much") and figure and self.measures.additive(figure):
                query = replace(base, aggregate="sum", measure=figure, filters=filters)
                yield self.q.reading(query, used, *done, "how_much", "sum", assumes=unsaid - 0.4)
            elif self.q.has("empty", "count"):
                query = replace(base, aggregate="count", filters=filters)
                yield self.q.reading(query, used, *done, assumes=unsaid)
            elif people and people != name:
                shown = (people, *sorted(taken - {people}))
                query = replace(base, shape="rows", columns=shown, measure=people, filters=filters)
                yield self.q.reading(query, used, *done, assumes=unsaid - 0.3)

    def _has_whole(self, one: Filter) -> bool:
        """Whether a table is of a month that is asked for: what didn't happen has no day in it."""
        column = self.q.column(one.column)
        if one.op not in ("month", "dates") or column.kind != "date":
            return False
        months = {int(value) if one.op == "month" else int(str(value)[5:7]) for value in one.values}
        within = column.low == column.high and {column.first_month, column.last_month} <= months
        return len(months) == 1 and (within or months <= months_of(self.q.table.stem))

    def _changes(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield the change between two years or days, two values of a column, or two columns that name years."""
        named = [str(int(t.number)) for t in self.q.tokens if t.kind == "year" and t.number]
        if measure and len(named) == 2:
            stem = tuple(word for word in words_of(measure) if not word.isdigit())
            names = {words_of(c.name): c.name for c in self.q.table.columns}
            pair = [names.get((*stem, year), "") for year in named]
            if all(pair) and all(self.q.column(name).kind == "number" for name in pair):
                years = frozenset(n for n, t in enumerate(self.q.tokens) if t.kind == "year")
                kept = tuple(one for one in base.filters if not self.q.is_time(one.column))
                query = replace(base, shape="change", measure=pair[0], other=pair[1], aggregate="sum", filters=kept)
                yield self.q.reading(query, used | years, "change", "share")
        likely = [c.name for c in self.q.figures() if c.name in self.q.said and self.q.said[c.name].likely >= NAMED]
        times = [one for one in base.filters if self.q.is_time(one.column)]
        several = len(times) > 1 or any(one.op in ("month", "is") and len(one.values) > 1 for one in times)
        figures = "" if several else measure  # from one time to another, not from one figure to another
        if figures and len(likely) == 2 and measure == likely[0]:
            query = replace(base, shape="change", measure=measure, other=likely[1], aggregate="sum")
            yield self.q.reading(query, used, "change", "how_much", "sum")
        else:
            for other in self._beside(figures):
                figure = "sum" if self.measures.additive(measure) else "average"
                query = replace(base, shape="change", measure=measure, other=other, aggregate=figure)
                yield self.q.reading(query, used, "change", "how_much", "sum", "average")
        rows = self.q.has("count") and not self.q.called.isdisjoint(self.q.counted_nouns)
        default = "" if rows else self.measures.default_measure() or self.measures.carried
        default = "" if measure else self.measures.quantity() or default
        figure = measure or default
        counts = figure or self.q.has("count")
        apart = [*self._ends(base.filters), *self._flagged(base.filters)] if counts else []
        for column, part, ends, rest in apart:
            query = replace(
                base, shape="change", aggregate=self.measures.figure_of(figure), measure=figure, group=column,
                part=part, filters=rest, ends=ends,
            )  # fmt: skip
            done = ("change", "compare", "share", self.q.aggregate, "how_much", "negation", "count", "sum")
            yield self.q.reading(query, used, *done, assumes=0.3 * bool(default and not self.measures.quantity()))

    def _ends(
        self, filters: Sequence[Filter]
    ) -> Iterator[tuple[str, str, tuple[str | float, ...], tuple[Filter, ...]]]:
        """Yield what a change may go from and to: a column, the part of its dates, both ends, and the other filters."""
        for one in filters:
            same = [other for other in filters if (other.column, other.op) == (one.column, one.op)]
            rest = tuple(other for other in filters if other not in same)
            time, values = self.q.is_time(one.column), tuple(value for other in same for value in other.values)
            if one is not same[0] or len(same) > 2:
                continue
            if time and one.op == "dates":
                whole = all(_is_month(other.values) for other in same) or (len(same) == 1 and are_months(values))
                size, part = (7, "month of year") if whole else (10, "day")
                ends = sorted({str(value)[:size] for value in values})
                yield from [(one.column, part, tuple(ends), rest)] if len(ends) == 2 else []
            elif time and (one.op in ("between", "years") or (one.op in ("is", "year") and len(values) == 2)):
                yield one.column, "year" if one.op.startswith("year") else "", tuple(sorted(values, key=float)), rest
            elif (
                time
                and one.op in ("is", "year")
                and len(values) == 1
                and not any(other.op == "is" and len(other.values) == 2 for other in filters)
                and float(values[0]) > self.q.column(one.column).low
            ):
                year = float(values[0])
                yield one.column, "year" if one.op == "year" else "", (year - 1, year), rest
            elif one.op == "month" and len(set(values)) == 2:
                yield one.column, "month", tuple(sorted(set(values), key=float)), rest
            elif one.op == "is" and len(values) == 2 and not time:
                seasons = all(isinstance(value, str) and _SEASON.match(value) for value in values)
                yield one.column, "", tuple(sorted(values, key=str)) if seasons else values, rest

    def _beside(self, measure: str) -> Iterator[str]:
        """Yield the columns whose names differ from one in a single word, where both words are said: men and women."""
        mine = set(words_of(measure))
        for name in self.q.said if measure else ():
            apart = mine ^ set(words_of(name))
            of_date = any(apart.intersection(names) for names in PARTS_OF_DAYS.values())
            if self.q.column(name).kind != "number" or len(apart) != 2 or len(apart - mine) != 1 or of_date:
                continue
            said = [
                {
                    n
                    for n, token in enumerate(self.q.tokens)
                    if any(likeness(form, word) >= NAMED for form in token.forms)
                }
                for word in apart
            ]
            if all(said) and said[0] != said[1]:
                yield name

    def _flagged(
        self, filters: tuple[Filter, ...]
    ) -> Iterator[tuple[str, str, tuple[str | float, ...], tuple[Filter, ...]]]:
        """Yield the columns of yes and no that are named, from no to yes: those promoted and those who weren't."""
        for name, one in self.q.said.items():
            yes = self.q.flag(name) if one.likely >= LIKELY else None
            if yes and name not in {other.column for other in filters}:
                no = (0.0,) if self.q.column(name).kind == "number" else self.q.column(name).values
                yield name, "", (next(value for value in no if value not in yes.values), yes.values[0]), filters

    def _shares(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield which part of the rows, or of a sum, some of them are: those named last, or those that are so."""
        named = self.q.columns(("number", "text"), used, {one.column for one in base.filters}, LIKELY)
        flags = tuple(filter(None, map(self.q.flag, named)))
        told = [replace(one, said=self.q.tokens[min(self.q.said[one.column].tokens)].text) for one in flags]
        if len(told) > 1 and self.q.has("share"):  # of those who have one of them, the part that has the other
            within = self._part_of_all([*base.filters, *told])
            rest = tuple(one for one in (*base.filters, *told) if one.column != within.column)
            query = replace(base, shape="share", within=(within,), measure=self.measures.carried, filters=rest)
            yield self.q.reading(query, used, "share", "rate", "average", "count")
        for flag in flags:
            spoken = self.q.tokens[min(self.q.said[flag.column].tokens)].text
            within = self._part_of_all([*base.filters, replace(flag, said=spoken)])
            rest = tuple(one for one in (*base.filters, flag) if one.column != within.column)
            query = replace(base, shape="share", within=(within,), measure=self.measures.carried, filters=rest)
            yield self.q.reading(query, used, "share", "rate", "average", "count")
        if not self.q.has("share") or not base.filters:
            return
        within = self._part_of_all(base.filters)
        said = self.q.said.get(measure)
        called = said is not None and said.likely >= NAMED and said.coverage >= 1
        summed = measure and (self.measures.additive(measure) or called)
        fixed = (
            said is None or said.tokens <= used | self.q.operators or measure in {one.column for one in base.filters}
        )
        fixed = fixed or self.q.flag(measure) is not None
        of_sum = "" if fixed or not summed else measure
        each = lexicon().each_of.intersection(words_of(of_sum))
        unlikely = 0.4 * bool(of_sum and (each or not self.measures.additive(of_sum)))
        of_sum = of_sum or ("" if measure else self.measures.carried)
        rest = tuple(one for one in base.filters if one is not within)
        query = replace(base, shape="share", measure=of_sum, filters=rest, within=(within,))
        done = ("share", "count", *(("sum",) if of_sum or said is None else ()))
        yield self.q.reading(query, used, *done, assumes=unlikely)

    def _part_of_all(self, filters: Sequence[Filter]) -> Filter:
        """Return which of some filters the part is: what stands last, in English before "of" or after the verb."""
        chosen = [one for one in filters if not self.q.is_time(one.column)] or list(filters)

        def at(one: Filter) -> int:
            return self.q.text.find(one.said.split()[-1].split("–")[0])

        if len(chosen) > 1 and not self.q.korean:
            verb, of = _VERB.search(self.q.text), re.search(r"\bof\b", self.q.text)
            after = [one for one in chosen if verb and at(one) > verb.start()]
            first = [one for one in chosen if of and at(one) < of.start()]
            chosen = after or first or chosen
            return chosen[0] if after or first else max(chosen, key=at)
        return max(chosen, key=at)

    def _figures(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield one figure of all rows: how many, or what becomes of the values of a column."""
        aggregate, filters = self.q.aggregate, base.filters
        taken = {one.column for one in filters}
        default = "" if measure else self.measures.default_measure()
        figure = measure or default
        for time, part, ends, rest in self._ends(filters):  # no row is of two years: each has a figure
            several = any(one.column == time and one.op in ("is", "year") and len(one.values) > 1 for one in filters)
            if several and part in ("", "year") and (figure or aggregate == "count"):
                of = "" if aggregate == "count" else figure
                query = replace(base, shape="groups", aggregate=aggregate, measure=of, group=time, part=part)
                query = replace(query, ends=ends, filters=rest)
                rather = 0.4 * (self.q.has("change", "compare") and not self.q.has("each")) - 0.3
                yield self.q.reading(query, used, aggregate, "sum", "each", assumes=rather)
        if aggregate not in ("count", "distinct"):
            figure = figure or (self.measures.carried if aggregate == "sum" else "")
            worked = replace(base, aggregate=aggregate, measure=figure)
            listed = replace(base, shape="rows", columns=self._shown(filters))  # of nothing, there is no mean
            unlikely = 0.3 * (figure != measure) + 0.5 * self.measures.limits_another(figure) + 1.0 * (not figure)
            missing = "" if figure else "measure"
            yield self.q.reading(
                worked if figure else listed, used, aggregate, "sum", missing=missing, assumes=unlikely
            )
        for other in self._beside(measure) if self.q.has("sum") else ():
            both = Formula(measure, "+", other)
            query = replace(base, aggregate="sum", measure=both.name, formula=both)
            yield self.q.reading(query, used, "sum", "count", "how_much")
        if not self.q.has("count", "distinct"):
            return
        rows = [
            one.tokens
            for name, one in self.q.said.items()
            if self.q.unique(name)
            and self.q.column(name).kind == "text"
            and self.q.column(name).filled == self.q.table.rows
        ]
        if not self.q.has("distinct"):
            alone = (0.25 if measure and measure not in taken else 0.0) + _COUNTS_ONE * self.q.keyed(filters)
            alone += 1.0 * self.q.superlative  # "the busiest day, and how many" asks how many there were on that one
            if others := "" if measure else self.measures.of_others:
                query = replace(base, aggregate="sum", measure=others)
                yield self.q.reading(query, used | self.q.counted_nouns, "count", "sum", "how_much", assumes=0.3)
                alone += 0.6
            yield self.q.reading(replace(base, aggregate="count"), used.union(*rows), "count", "sum", assumes=alone)
            summed = measure or ("" if self.measures.named_rows(used) else self.measures.quantity())
            if summed and summed not in taken and self.measures.may_be_summed(summed):
                keyed = self.q.keyed(filters)  # of one row, it stands there
                counted = self.measures.counted(summed) and not keyed
                rather = 0.1 * keyed - 0.3 * (summed == self.measures.quantity() or counted)
                of_rows = any(self.q.links.named.get(n, 0.0) >= CALLED for n in self.q.counted_nouns)
                of_rows = of_rows or self.measures.named_rows(used)
                rather += of_rows and not counted and not self.measures.additive(summed)
                query = replace(base, aggregate="sum", measure=summed)
                yield self.q.reading(query, used, "count", "sum", "how_much", assumes=rather)
        if key := self._keys_of_several():
            query = replace(base, aggregate="distinct", measure=key)
            yield self.q.reading(query, used, "count", "distinct", assumes=0.3)
        for name in self.q.columns(("text", "number", "date"), used, taken, LIKELY)[:CHOICES]:
            column = self.q.column(name)
            if (flag := self.q.flag(name)) and self.q.said[name].tokens - self.q.links.guessed.keys():
                flag = self.filters.negated(replace(flag, said=self.q.tokens[min(self.q.said[name].tokens)].text))
                yield self.q.reading(replace(base, aggregate="count", filters=(*filters, flag)), used, "count")
            elif not filters and self._named_in_words(name) and (full := self._having(column)):
                yield self.q.reading(replace(base, aggregate="count", filters=(full,)), used, "count")
            if (
                not flag
                and 1 < column.distinct < 0.9 * column.filled
                and (column.kind == "text" or self.q.has("distinct"))
            ):
                unclear = 0.0 if self.q.has("distinct") else 0.2 + 0.3 * bool(self.q.links.named or filters)
                unclear -= 0.3 * bool({*words_of(name)} & IDS)  # different orders have different numbers
                counted = bool(self.q.said[name].tokens & self.q.counted_nouns)
                unclear += -0.4 if counted else 0.5 * bool(_OF_ROWS.search(self.q.text))
                query = replace(base, aggregate="distinct", measure=name)
                yield self.q.reading(query, used, "count", "distinct", assumes=unclear)

    def _keys_of_several(self) -> str:
        """Return the column of keys that several rows share, where how many different ones there are is asked."""
        keys = [c for c in self.q.table.columns if {*words_of(c.name)} & {"id", "uuid"} and c.kind != "other"]
        named = bool(self.q.called) or self.q.named
        shared = [c.name for c in keys if 1 < c.distinct < 0.9 * c.filled]
        return shared[0] if len(shared) == 1 and named and self.q.has("distinct") else ""

    def _having(self, column: Column) -> Filter | None:
        """Return which rows have something in a column, where some haven't: an area of 0 is that of no pool."""
        if column.kind == "number" and column.low == 0 < column.high and _HAVING.search(self.q.text):
            return Filter(column.name, "gt", (0.0,), column.name)
        return Filter(column.name, "full", (), column.name) if column.filled < self.q.table.rows else None

    def _named_in_words(self, name: str) -> bool:
        """Whether a question has the name of a column, not only a number that is in it: `1호점` names no MarkDown1."""
        said = self.q.said[name]
        return said.likely >= NAMED and any(self.q.tokens[n].number is None for n in said.tokens)

    def _rows(self, base: TableQuery, used: frozenset[int], measure: str) -> Iterator[Reading]:
        """Yield what rows have in the columns that are named."""
        taken = {one.column for one in base.filters}
        when = any(WHEN.match(token.text) for token in self.q.tokens) or re.search(r"몇\s?년", self.q.text) is not None
        keyed = self.q.keyed(base.filters)
        listed = bool(base.filters) and not keyed and not self.q.lacking() and _LISTED.search(self.q.text) is not None
        least = LIKELY if listed else LOOSE  # a list is of rows, where no word names a column
        named = self.q.columns(("text", "date", "number"), used, taken, least)
        limited = measure in taken and self.q.is_time(measure)  # of a year, it isn't the year that is asked for
        measure = measure if not limited and (not listed or measure in named) else ""
        asked = [name for name in named if self.q.said[name].tokens & self.q.persons][:1]
        unsaid = 0.0
        if when:
            asked = [name for name in named if self.q.is_time(name)]
            asked = [name for name in asked if self.q.said[name].likely == self.q.said[asked[0]].likely]
            if keyed and not asked:
                asked, unsaid = [one.name for one in self.q.table.columns if one.kind == "date"], 0.3
        elif keyed and any(PLACE.match(token.text) for token in self.q.tokens):
            asked = asked or [column.name for column in self.q.place_columns()]
        targets = list(dict.fromkeys([*([measure] if measure and not asked else []), *(asked or named[:1])]))
        targets += [name for name in named if self.q.said[name].likely >= NAMED and name not in targets]
        if self.q.lacking():
            targets = [name for name in targets if name not in self.q.paired] + list(self.q.paired)
        listed = listed and not targets
        a_row = keyed and not all(self.q.is_time(one.column) for one in base.filters)
        default = "" if targets or a_row or when else self.measures.default_measure()
        targets = targets or ([default] if default and base.filters else [])
        missing = "" if listed else "" if base.filters and (targets or keyed) else "measure"
        if targets and self.q.has("how_much") and self.q.column(targets[0]).kind != "number":
            missing = "measure"  # no text says how much
        shown = [*(one.column for one in base.filters[:2]), *targets] if targets else []
        label = label_of(self.q.table)
        if targets and label and label.name not in shown:
            shown.insert(0, label.name)
        if listed:
            shown = [column.name for column in self.q.table.columns if column.kind != "other"][:_SHOWN_COLUMNS]
            shown += [name for name in (*(one.column for one in base.filters), *targets) if name not in shown]
        every = listed or any(self.q.column(name).kind == "number" and self.measures.additive(name) for name in targets)
        query = replace(base, shape="rows", columns=tuple(dict.fromkeys(shown)), measure="", every=every)
        query = replace(query, measure=targets[0]) if targets else query
        of_one = ("count", "how_much") if keyed and targets and self.q.column(targets[0]).kind == "number" else ()
        assumes = unsaid + 0.3 * bool(default) + 0.2 * (not keyed)
        yield replace(self.q.reading(query, used, *of_one, missing=missing, assumes=assumes), whole=not targets)

    def continued(self, before: TableQuery) -> Iterator[Reading]:
        """Yield an earlier query with each part of it replaced that the question says anew."""
        every = frozenset(self.q.operations)
        overall = _OVERALL.search(self.q.text)
        if overall and before.shape in ("figure", "groups"):
            if not self.q.korean:
                self.q.drop_operations([overall.span()])  # the same figure is asked for, not a total
            before = replace(before, shape="figure", group="", part="", order="", limit=0, filters=())
        if before.shape == "figure" and _ONES.search(self.q.text):
            kept = {one.column for one in (*before.filters, *before.within)}
            shown = tuple(dict.fromkeys((*self._shown(before.filters), *filter(None, (before.measure,)), *kept)))
            rows = replace(before, shape="rows", aggregate="", measure="", columns=shown, every=True)
            yield replace(self.q.reading(rows, frozenset(range(len(self.q.tokens))), *every), assumes=-1.0)
        for values, tokens_of_values, fit in self.filters.value_readings():
            measures = self.q.columns(("number",), tokens_of_values, {one.column for one in values}, LOOSE)
            measures = [n for n in measures if self.q.said[n].tokens - tokens_of_values]  # "and Asda?" is no `asda_gap`
            measures = [name for name in measures if not self.q.table.numbers_rows(name)]
            measures = [name for name in measures if not self.measures.only_sold(name)][:CHOICES]
            for measure in (*measures, ""):
                numbers, tokens_of_numbers = self.filters.number_filters(tokens_of_values, measure or before.measure)
                added = tuple(values + numbers)
                if measure in {one.column for one in added}:
                    continue
                used = tokens_of_values | tokens_of_numbers | self.q.named_by(added)
                same = sum(one.column in {old.column for old in (*before.filters, *before.within)} for one in added)
                query = self._merged(before, added, measure)
                if query is not None:
                    yield replace(self.q.reading(query, used, *every), assumes=-fit - 0.3 * same)

    def _merged(self, before: TableQuery, added: tuple[Filter, ...], measure: str) -> TableQuery | None:
        """Return an earlier query with other filters, another measure or another operation."""
        new = {one.column for one in added}
        times = any(self.q.is_time(name) for name in new)
        kept = tuple(
            one for one in before.filters if one.column not in new and not (times and self.q.is_time(one.column))
        )
        within = tuple(one for one in added if one.column in {old.column for old in before.within})
        query = replace(
            before, filters=(*kept, *(one for one in added if one not in within)), within=within or before.within
        )
        old = next((one for one in before.filters if self.q.is_time(one.column) and len(one.values) == 1), None)
        now = next((one for one in added if self.q.is_time(one.column) and len(one.values) == 1), None)
        if old and now and self.q.has("change", "share") and isinstance(old.values[0], float):
            ends = tuple(sorted((float(old.values[0]), float(now.values[0]))))
            figure = measure or before.measure
            return replace(
                query, shape="change", group=old.column, part="year" if old.op == "year" else "", ends=ends,
                aggregate=self.measures.figure_of(figure), measure=figure, columns=(), order="", limit=0,
                filters=tuple(one for one in query.filters if not self.q.is_time(one.column)),
            )  # fmt: skip
        said = self.q.aggregate
        if said in WORKED and not added and not measure and not query.limit and query.shape in ("rows", "groups"):
            figure = self.measures.figure_among(before)
            listed = replace(query, group="", part="", columns=(), order="")
            return replace(listed, shape="figure", aggregate=said, measure=figure) if figure else None
        if measure and query.shape != "share":
            columns = tuple(measure if name == before.measure else name for name in query.columns)
            aggregate = query.aggregate
            if aggregate in ("", "count") and query.shape != "rows":
                aggregate = self.measures.figure_of(measure)
            query = replace(query, measure=measure, aggregate=aggregate, columns=columns)
        if said and said != query.aggregate and (query.measure or said == "count"):
            if query.shape == "groups" and any(one.column == query.group for one in added):
                query = replace(query, aggregate=said)
            elif query.shape in ("figure", "rows"):
                query = replace(
                    query, shape="figure", aggregate=said, measure="" if said == "count" else query.measure, columns=(),
                    order="", limit=0,
                )  # fmt: skip
        if self.q.superlative and query.order:
            query = replace(query, order=self.groups.order(query.measure))
        for group, _ in self.groups.each():
            aggregate = query.aggregate or self.measures.figure_of(query.measure)
            query = replace(query, shape="groups", group=group, part="", aggregate=aggregate, order="desc", limit=0)
        alone = [one for one in added if one.column == query.group and len(one.values) == 1]
        if query.shape in ("groups", "change") and alone:
            query = replace(query, shape="figure", group="", part="", order="", limit=0, ends=())
        return query


def _is_month(days: Sequence[str | float]) -> bool:
    """Whether a time is one month."""
    return are_months(days) and str(days[0])[:7] == str(days[1])[:7]


def halves(question: str) -> tuple[str, str] | None:
    """Return the two questions of a sentence of which the second asks for one figure of what the first asks for."""
    joint = SECOND.search(question)
    parts = (question[: joint.start()], question[joint.end() :]) if joint else ()
    if not all(re.search(ASKING, part, re.I) or any(is_question_word(t.text) for t in tokens(part)) for part in parts):
        return None
    worked = any(lexicon().operations[name].search(part) for name in WORKED for part in parts)
    return (parts[0], parts[1]) if worked and len(parts) == 2 else None
