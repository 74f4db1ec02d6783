"""How well a query accounts for a question: what it explains, leaves out, ignores or assumes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

from hitl_tui.tables.groups import Groups
from hitl_tui.tables.links import CALLED, CLEARLY, label_of
from hitl_tui.tables.measures import Measures
from hitl_tui.tables.profile import Table
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.question_in_table import (
    AGGREGATES,
    DAY_WORDS,
    DAYS,
    LASTING,
    LIKELY,
    LOOSE,
    NAMED,
    NUMBER_OF,
    TABLE_NOUN,
    TOTALS,
    QuestionInTable,
    Reading,
)
from hitl_tui.tables.word_weights import is_verb, rarity, weight
from hitl_tui.tables.words import key_of, lexicon, words_of  # fmt: skip

ARITHMETIC = "arithmetic"
"""What a question asks for that states how a figure is made of two columns."""
_COMPARING = frozenset({"share", "change"})
"""What no other query stands for: neither one figure nor a list of them says a share, or by how much something grew."""
WORKED = ("average", "median", "sum", "deviation")
"""Figures of several rows, other than how many there are."""
EXPLAINED = 0.64
"""Share of what a question says that a query has to explain."""
_LIMITS = 0.6
"""From how much on a word that is left may be what would limit a sum or a mean."""
CLEAR = 1.7
"""Score from which a question is about a table that it doesn't name, though words of it are left."""
ASKING = r"(?:which|who|whom|what|when|where|how)\b"
SECOND = re.compile(rf",?\s+and\s+(?={ASKING})|,?\s+그리고\s+|(?<=[가-힣])[고며],?\s+", re.I)
"""What stands between two questions in one sentence, or may."""
_STRANGE = 0.72
"""How much a word says at most that is nothing of a table that isn't named."""
_BOUNDS = ("lt", "le", "gt", "ge")
_BOUND = re.compile(r"[가-힣]|exceed|\bthan\b|\bat (?:least|most)\b", re.I)
"""What compares, whatever stands beside it: "over" and "after" may not."""
_MONEY = frozenset(("money", "돈"))
_LIMITS_ROWS, _WITHIN = (
    re.compile("[가-힣]에서(?:는|만)?$"),
    re.compile(r"\b(?:in|from|within|among)\s(?:the\s)?$", re.I),
)
"""What ends a Korean word, or stands before another one, that says of which rows something is asked."""
_GUESSED = 0.47
"""How likely a word means what is spelt, or sounds, nearly so."""
_DOUBT = 0.5
"""What it costs how unlikely words mean what they were taken for, by the logarithm of that."""
_MISSES = 1.5
"""What it costs that something is left open."""
_TO_OBJECT = 2
"""Words that may stand between a verb and its object."""
_MOST_NEAR = 0.8
"""How much of a word is said where it surely means something of the table."""


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
        loose: words that only may mean a column that it uses, and which.
        own: it names rows or figures of this table, not only its name.
        assumed: names that the table has no column for, so that all its rows are taken to be of them.
        counts: it asks for a figure, or for what has most of something.
        named: the question names the table.
        assumes: how much of it nobody said.
        strange: how much the word of `unknown` says that says most.
        undone: the operations that are asked for and that it doesn't carry out.
        looks_up: it asks what a row has that the question names, or of whom rows are.
        beside: what has most or least where rows of one name are added up, or where they aren't.
        guesswork: all that it says of a table that isn't named was guessed.
        exact, near: the tokens that are the names of its columns, and that only stand for them.
    """

    query: TableQuery
    table: Table
    score: float
    share: float = 1.0
    unknown: tuple[str, ...] = ()
    missing: str = ""
    guessed: tuple[tuple[str, str], ...] = ()
    loose: tuple[tuple[str, str], ...] = ()
    own: bool = False
    assumed: tuple[str, ...] = ()
    counts: bool = False
    named: bool = False
    assumes: float = 0.0
    strange: float = 0.0
    undone: frozenset[str] = frozenset()
    looks_up: bool = False
    beside: TableQuery | None = None
    guesswork: bool = False
    exact: frozenset[int] = frozenset()
    near: frozenset[int] = frozenset()

    @property
    def sure(self) -> bool:
        """Whether the query has what the question says."""
        clear = not self.named and self.score >= CLEAR and self.share >= EXPLAINED - 0.04
        numbers = any(re.search(r"\d", word) for word in self.unknown)
        limits = self.strange >= _LIMITS and (numbers or bool(self.query.aggregate))
        limits = limits or (self.strange >= _STRANGE and not self.named)
        ignored = self.undone.intersection(("top", "bottom", "most_common", ARITHMETIC))
        return not (self.missing or limits or ignored or self.guesswork) and (self.share >= EXPLAINED or clear)


def _tells_none(query: TableQuery) -> bool:
    """Whether a query tells rows that aren't there, or have nothing."""
    return any(one.op in ("not", "empty", "none") for one in (*query.filters, *query.within))


class Rating:
    """Rates the readings of one question."""

    def __init__(self, q: QuestionInTable, measures: Measures, groups: Groups) -> None:
        self.q = q
        self.measures = measures
        self.groups = groups

    def rated(self, reading: Reading) -> Mapped:
        """Return a reading with its score: what it explains, less what it leaves out, ignores or assumes."""
        if (both := reading.query.made) and both != self.q.formula:  # two figures that are added up
            apart = replace(reading, query=replace(reading.query, measure=both.left, other=both.right))
            return replace(self.rated(apart), query=reading.query, table=self.q.table.making(both))
        query, used, tokens = reading.query, reading.used, self.q.tokens
        explained = {n: self._explained(n, reading) for n in range(len(tokens)) if self._counts(n, query)}
        lost = {n: self._lost(n, reading) for n, gain in explained.items() if gain is None}
        unknown = {n: self._unknown(n, query) for n, loss in lost.items() if loss is None}
        left_out = {n: loss for n, loss in lost.items() if loss} | {n: says for n, (says, _) in unknown.items()}
        assumed = [n for n in left_out if n not in unknown and self._is_place_elsewhere(n)]
        weights = {n: gain for n, gain in explained.items() if gain is not None}
        weights |= {n: -loss for n, loss in left_out.items()}
        undone = self._asked_of(query) - reading.done - ({"negation", "empty"} if _tells_none(query) else set())
        gained = sum(gain for gain in weights.values() if gain > 0)
        left = 0.8 * len(undone) + 0.6 * len(undone.intersection(WORKED)) + sum(left_out.values())
        missing = reading.missing or self._missing(reading, undone, bool(unknown))
        own = any(not tokens[n].filler or n in self.q.persons for n in used & explained.keys())
        own = own or self.counts_its_rows(reading)
        names = (query.names | query.figures) & self.q.said.keys()
        keys = {key_of(self.q.column(name).bare_name) for name in query.names}
        called = frozenset(n for n in used if not names.isdisjoint(self.q.links.columns[n]))
        exact = frozenset(n for n in called if not keys.isdisjoint(map(key_of, tokens[n].forms)))
        asks = self.q.keyed(query.filters) or bool(used & self.q.persons)
        score = gained - 1.2 * left - reading.assumes - _MISSES * bool(missing)
        score -= 1.0 * (not (own or query.filters or self.q.links.named))
        return Mapped(
            query, self.q.table, score + sum(worth * term(self, reading) for worth, term in _TERMS),
            gained / (gained + left) if left else 1.0,
            tuple(tokens[n].text.strip() for n in unknown), missing,
            tuple((tokens[n].text, word) for n, word in self._read_as(reading)), tuple(self._loosely(reading)), own,
            tuple(tokens[n].text for n in assumed), bool(self.q.operations), self.q.named, reading.assumes,
            max((*(rare for _, rare in unknown.values()), *self._hardly_meant(used)), default=0.0), undone,
            query.shape == "rows" and asks, reading.beside,
            self._is_guesswork(reading), exact, called - exact,
        )  # fmt: skip

    @cached_property
    def _whole(self) -> frozenset[int]:
        """The words of whole values."""
        return frozenset(n for one in self.q.links.values if one.whole for n in range(one.first, one.last + 1))

    def _counts(self, n: int, query: TableQuery) -> bool:
        """Whether a word says something: "money" of a figure says nothing."""
        return not query.measure or _MONEY.isdisjoint(self.q.tokens[n].forms)

    def _explained(self, n: int, reading: Reading) -> float | None:
        """Return what a word adds that a query uses, or the table is called by; None for any other."""
        token, says, known = self.q.tokens[n], weight(self.q.tokens[n], self.q.text), self.q.links.named.get(n, 0.0)
        if n not in reading.used:
            return max(0.4, says) * known * (2.0 if self._described(n) else 1.0) if n in self.q.links.named else None
        likely = max(self.q.links.columns[n].values(), default=0.0)
        sure = 1.0 if n in self._whole or token.kind != "word" else max(0.5, likely)
        filler = token.filler and self.q.links.columns[n].get(reading.query.group) != 1.0  # "by type"
        gain = max(0.3, says) * sure * (0.6 if filler else 1.2)
        by_name = n not in self._whole and (known >= CALLED or not token.filler)
        return max(gain, max(0.4, says) * 1.2 * known) if by_name else gain

    def _lost(self, n: int, reading: Reading) -> float | None:
        """Return how much is lost where a query leaves out a word that is known; None for one that stands for nothing.

        What only repeats something, or says no more than an operation does, is no loss.
        """
        token, says, query = self.q.tokens[n], weight(self.q.tokens[n], self.q.text), reading.query
        forms, likely = {*token.forms}, max(self.q.links.columns[n].values(), default=0.0)
        if n in self.q.operators or token.filler or self._glossed(n, reading.used) or self._described(n):
            return 0.0
        if self.q.is_asked_for(n) and query.shape == "rows" and self.q.keyed(query.filters):
            return 0.3 * says  # "which substance" says what a row is
        if self.q.superlative and (forms & lexicon().adjectives or lexicon().which_way.fullmatch(token.text)):
            return 0.0  # "expensive" says only of what kind a superlative is
        if self.q.lasting and LASTING.search(token.text) and self.q.lasts(query.measure):
            return 0.0
        if forms & (lexicon().money | lexicon().scales.keys()) and query.measure and self.q.in_money(query.measure):
            return 0.0  # "in thousand won"
        if forms & lexicon().titles and n - 1 in reading.used & self._whole:
            return 0.0
        if forms & lexicon().rows:
            return 0.05
        if self._is_place_elsewhere(n):
            return 0.3
        if n in self.q.describing:
            return 0.3 * says
        if query.aggregate and {*self.q.links.columns[n]} & self._told_apart and likely >= LIKELY:
            return 0.2 * says  # rows are counties: "the population of the counties in Ohio"
        if likely >= LIKELY and not (n in self.q.links.guessed and token.text[0].isupper()):
            return says if likely >= NAMED and not self._partly(n) else 0.4 * says
        if self._goes_with(n, reading.used):
            return 0.15 * says
        again = (form for m in reading.used for form in self.q.tokens[m].forms if len(form) > 1)
        return None if forms.isdisjoint(again) else 0.0  # it was said before: `승진`, `승진했어`

    def _unknown(self, n: int, query: TableQuery) -> tuple[float, float]:
        """Return how much is lost with a word that stands for nothing, and how rare it is."""
        token = self.q.tokens[n]
        says, rare = weight(token, self.q.text), rarity(token, self.q.text)
        counted = n in self.q.counted_nouns and not self.q.korean  # "how many patients" says what rows are
        counted = counted and not token.text[0].isupper()  # but Zika cases are not all cases
        narrowed = query.filters or query.order  # of all rows, it may be what would limit them
        if narrowed and not counted and not token.text[0].isupper():
            limits = _LIMITS_ROWS.search(token.text) or _WITHIN.search(self.q.text[: token.start])
            apart = 1 if limits else 1 - _MOST_NEAR * self.q.links.related.get(n, 0.0)
            says, rare = says * apart, rare * (1 if is_verb(token, self.q.text) else apart)
        asked = self.q.is_asked_for(n) and bool(query.order) and self._tells(query)
        said_of_rows = counted and (self._is_said(query.measure) or self._same_as_called(n))
        said_of_rows = said_of_rows or self._has_as_object(n, query.measure)
        return says * (0.5 if counted or asked else 1), 0.0 if said_of_rows else rare

    def _has_as_object(self, n: int, measure: str) -> bool:
        """Whether an English verb has the figure as its object: who booked the most nights."""
        said = self.q.said.get(measure)
        if said is None or self.q.korean or not is_verb(self.q.tokens[n], self.q.text):
            return False
        return not said.tokens.isdisjoint(range(n + 1, n + 2 + _TO_OBJECT))

    def _same_as_called(self, n: int) -> bool:
        """Whether a noun only goes on from the one that the table is called by: the symbols of tickers."""
        return n - 1 in self.q.called & self.q.counted_nouns

    def _hardly_meant(self, used: frozenset[int]) -> Iterator[float]:
        """Yield how rare the words are that only may mean the table: what they would limit all its rows to is lost."""
        for n, likely in self.q.links.likely.items():
            only_table = n in self.q.links.named and not self.q.links.columns[n] and n not in self.q.links.guessed
            if only_table and likely < CLEARLY and n not in used:
                yield rarity(self.q.tokens[n])

    def _is_place_elsewhere(self, n: int) -> bool:
        """Whether a word is a place, of a table that says of no row where it is."""
        return not lexicon().places.isdisjoint(self.q.tokens[n].forms) and not self._has_places

    def _missing(self, reading: Reading, undone: frozenset[str], unknown: bool) -> str:
        """Return what a question leaves open, or what it asks for that a query doesn't give; else nothing."""
        query = reading.query
        if self.groups.no_group and not (reading.whole and unknown):
            return "group"
        listed = query.shape == "rows" and not query.order and undone.intersection(AGGREGATES)
        several = query.aggregate == "average" and not self.q.has("average") and self._contain_several(reading)
        open_ = (
            (unknown and reading.whole) or self._days_as_rows(query, unknown) or self._asks_twice or listed or several
            or self._uncompared(query) or undone & _COMPARING or self._undecided(query)
            or self._only_meant(query) or self._counts_others(query) or self._days_of_another(query)
        )  # fmt: skip
        return "measure" if open_ else ""

    def _days_as_rows(self, query: TableQuery, unknown: bool) -> bool:
        """Whether days are asked for, and rows are counted that aren't each of a day of its own."""
        if not self.measures.asks_for_days or (query.aggregate, query.measure) != ("count", ""):
            return False
        time = self.q.time_column()
        return unknown or time is None or not self.q.unique(time.name)

    def _days_of_another(self, query: TableQuery) -> bool:
        """Whether days are asked for, and a figure is given that the question doesn't name and that holds none."""
        measure = query.measure
        if not (self.measures.asks_for_days and measure) or measure in self.q.said:
            return False
        return DAYS.search(measure) is None and not self.q.lasts(measure)

    def _counts_others(self, query: TableQuery) -> bool:
        """Whether a column holds how many of one thing there are, and how many of another are asked for."""
        if self.q.korean or query.measure not in self.q.said or not NUMBER_OF.match(query.measure):
            return False
        mine = self.q.said[query.measure].tokens - self.q.links.guessed.keys()
        return bool(self.q.counted_nouns) and mine.isdisjoint(self.q.counted_nouns)

    def _read_as(self, reading: Reading) -> list[tuple[int, str]]:
        """Return the words that stand for what is spelt, or means, nearly so."""
        used = reading.used | self.q.links.named.keys()
        return sorted((n, word) for n, word in self.q.links.guessed.items() if n in used)

    def _is_guesswork(self, reading: Reading) -> bool:
        """Whether all that a reading has of a table that isn't named was guessed: a time alone is of any table."""
        guessed = {n for n, _ in self._read_as(reading)}
        if self.q.named or not guessed:
            return False
        columns = {name for name in reading.query.names | reading.query.figures if not self.q.is_time(name)}
        values = {n for one in self.q.links.values for n in range(one.first, one.last + 1)}
        for n in reading.used - guessed:
            token, likely = self.q.tokens[n], self.q.links.columns[n]
            of_time = any(form in DAY_WORDS or form in lexicon().parts for form in token.forms)
            if not (token.filler or of_time) and (n in values or any(likely.get(c, 0.0) >= LIKELY for c in columns)):
                return False
        return self.q.called <= guessed

    def _loosely(self, reading: Reading) -> Iterator[tuple[str, str]]:
        """Yield the words that only may mean a column of the query: a price may be the revenue that is asked for."""
        for n in sorted(reading.used - self.q.links.guessed.keys() - self.q.operators - self.q.called):
            token, likely = self.q.tokens[n], self.q.links.columns[n]
            rates = {name: likely[name] for name in reading.query.names & likely.keys()}
            called = token.filler or n in self._whole or not lexicon().adjectives.isdisjoint(token.forms)
            if rates and max(rates.values()) <= LOOSE and self._counts(n, reading.query) and not called:
                yield token.text, max(rates, key=lambda name: rates[name])

    def doubt(self, reading: Reading) -> float:
        """Return how unlikely words mean what they were taken for."""
        return sum(-log(self.q.links.likely.get(n, _GUESSED)) for n, _ in self._read_as(reading))

    def counts_its_rows(self, reading: Reading) -> bool:
        """Whether it counts the rows of a table that is called as what is counted."""
        rows = (reading.query.aggregate, reading.query.measure) == ("count", "") and not self.measures.quantity()
        return rows and not self.q.called.isdisjoint(self.q.counted_nouns)

    def whole_name(self, reading: Reading) -> bool:
        """Whether all of several words of the name of its figure are said: an hourly rate is no hours."""
        said, words = self.q.said.get(reading.query.measure), words_of(reading.query.measure)
        return said is not None and len(words) > 1 and said.coverage >= len(words) - 0.1

    def coverage(self, reading: Reading) -> float:
        """Return how much of the name of its figure is said, and whether money is asked for and is one."""
        query = reading.query
        if query.measure not in self.q.said:
            return 0.0
        paid = self.q.in_money(query.measure) and self._asks_for_money(query.filters)
        return 0.1 * min(3.0, self.q.said[query.measure].coverage) + 0.3 * (self._is_of_filters(query) + paid)

    def _is_said(self, measure: str) -> bool:
        """Whether a word, and no year alone, is the name of a column of figures."""
        said = self.q.said.get(measure)
        return said is not None and any(self.q.tokens[n].kind == "word" for n in said.tokens)

    def _contain_several(self, reading: Reading) -> bool:
        """Whether several values of one column contain a word that should name one: "Korea" in two countries."""
        within = {one.column for one in reading.query.filters if one.op == "has"}
        return any(not one.whole and one.count > 1 and one.column in within for one in self.q.links.values)

    @cached_property
    def _asks_twice(self) -> bool:
        """Whether it asks a figure of all rows and, in another clause, which has most or least: no query is both."""
        joint = SECOND.search(self.q.text)
        if joint is None:
            return False
        best = {start < joint.start() for start, _ in self.q.spans("top", "bottom")}
        figures = {start < joint.start() for start, _ in self.q.spans(*WORKED)}
        return len(best) == len(figures) == 1 and best != figures

    def _uncompared(self, query: TableQuery) -> bool:
        """Whether rows above or below a bound are asked for, and the query has none: "over the limit"."""
        bounds = ("over", *_BOUNDS, *(f"date_{op}" for op in _BOUNDS), "between", "years", "months", "dates", "year")
        every = (*query.filters, *query.within)
        if (
            query.order
            or query.shape == "change"
            or self.q.pair
            or any(one.op in bounds or one.op.startswith("column_") for one in every)
        ):
            return False
        spans = [span for op in _BOUNDS for span in self.q.comparisons.get(op, ())]
        return any(_BOUND.search(self.q.text[start:end]) for start, end in spans)

    def _only_meant(self, query: TableQuery) -> bool:
        """Whether what is asked for is only near to a column in meaning: a deposit isn't the amounts of all rows."""
        mine = self.q.said.get(query.measure)
        if mine is None or not mine.tokens <= self.q.links.meant:
            return False
        # A word of the same language would have been the column's own, and any figure is near to an amount.
        if self.q.korean == bool(re.search("[가-힣]", query.measure)):
            return True
        summed = query.aggregate == "sum"
        if self.q.named:
            return summed and all(self.q.is_time(one.column) for one in query.filters)
        return summed or key_of(self.q.column(query.measure).bare_name) in TOTALS

    def _undecided(self, query: TableQuery) -> bool:
        """Whether the same words call another column of figures just as well: "subs" of sub due and sub received."""
        mine = self.q.said.get(query.measure)
        if mine is None or query.aggregate in ("", "count"):
            return False
        names = {c.name for c in self.q.figures()}
        others = [
            one.tokens
            for name, one in self.q.said.items()
            if name in names - query.names - self.q.left_out and not self.q.is_paired(name)
        ]
        both = mine.tokens.union(*(self.q.said[n].tokens for n in query.names & {query.other} & self.q.said.keys()))
        if any(one & both and one - both and both - one for one in others):
            return True  # "home and away goals"
        if (mine.likely >= 1 and mine.coverage >= 1) or self._is_of_filters(query):
            return False
        return any(
            (one.tokens, one.likely) == (mine.tokens, mine.likely) and abs(one.coverage - mine.coverage) < 0.05
            for name, one in self.q.said.items()
            if name not in (query.measure, query.other, *self.q.paired, *self.q.left_out)
            and not (self.q.has("count") and self.q.is_rate(name))
            and name in names
            and self.q.in_money(name) == self.q.in_money(query.measure)
            and not (NUMBER_OF.match(query.measure) and not NUMBER_OF.match(name))
        )

    def rather_named(self, measure: str) -> bool:
        """Whether a figure is only guessed, and another one is called by its name."""
        mine = self.q.said.get(measure)
        if mine is None or not mine.tokens <= self.q.links.guessed.keys():
            return False
        return any(
            one.name != measure and self.q.said[one.name].likely >= NAMED
            for one in self.q.figures()
            if one.name in self.q.said
        )

    def _is_of_filters(self, query: TableQuery) -> bool:
        """Whether a figure is called after what rows are chosen by: `candidatevotes`, where a candidate is named."""
        named = {word for one in query.filters for word in words_of(one.column)}
        return not named.isdisjoint(words_of(query.measure)) and query.measure not in {f.column for f in query.filters}

    def _asks_for_money(self, filters: Sequence[Filter]) -> bool:
        """Whether "how much" stands alone: "how much bread" doesn't ask for an amount of money."""
        spans = self.q.operations.get("how_much", ()) if not self.q.has("count") else ()
        said = {one.said for one in filters}
        return any(not any(self.q.text[end:].lstrip().startswith(word) for word in said if word) for _, end in spans)

    def _asked_of(self, query: TableQuery) -> frozenset[str]:
        """Return the operations that a query may not ignore, with the arithmetic that it doesn't do."""
        done = self.q.stated is None or (query.made is not None and query.made == self.q.formula)
        return self.asked if done else self.asked | {ARITHMETIC}

    @cached_property
    def asked(self) -> frozenset[str]:
        """The operations that a query may not ignore."""
        asked = set(self.q.operations) & {*AGGREGATES, "share", "change", "correlation", "empty"} - {"distinct"}
        if self.q.asks_for_rate:
            asked.discard("share")  # "what percent was the rate"
        if self.q.has("negation"):
            asked.add("negation")
        if self.q.superlative:
            asked.add("top" if self.q.has("top") else "bottom" if self.q.has("bottom") else "most_common")
        if any(True for _ in self.groups.each()):
            asked.add("each")
        if self.q.has("rate") and any(self.q.flag(name) for name in self.q.said):
            asked.add("rate")
        return frozenset(asked)

    @cached_property
    def _has_places(self) -> bool:
        """Whether the table says which places its rows are of."""
        known = lexicon().places
        values = (value for column in self.q.table.columns for value in column.values[:300])
        return any(value.casefold() in known or known.intersection(words_of(value)) for value in values)

    @cached_property
    def _told_apart(self) -> frozenset[str]:
        """The columns of texts that most rows are told apart by: they say what rows are."""
        texts = (c for c in self.q.table.columns if c.kind == "text" and c.name not in self.q.table.beside)
        return frozenset(c.name for c in texts if 2 * c.distinct > self.q.table.rows and not self.q.is_code(c.name))

    def _glossed(self, n: int, used: frozenset[int]) -> bool:
        """Whether words are said again in brackets, and one of both is explained: `북웜(bookworm)`."""
        before = self.q.text[: self.q.tokens[n].start]
        if before.endswith("(") and n - 1 in used and self.q.text.startswith(")", self.q.tokens[n].end):
            return True
        for later in range(n + 1, min(n + 4, len(self.q.tokens))):
            between = self.q.text[self.q.tokens[later - 1].end : self.q.tokens[later].start].strip()
            if between.endswith("("):
                return later in used
            if between:
                return False
        return False

    def _tells(self, query: TableQuery) -> bool:
        """Whether what rows are called is told: "which animal" of rows that each have a name."""
        label = label_of(self.q.table)
        return label is not None and self.q.unique(label.name) and label.name in query.columns

    def _partly(self, n: int) -> bool:
        """Whether a word is only one of several in each column's name that it stands for."""
        return all(len(words_of(self.q.column(name).bare_name)) > 1 for name in self.q.links.columns[n])

    def _goes_with(self, n: int, used: frozenset[int]) -> bool:
        """Whether a noun follows a column's name, and only says of what that is: `출발 공항`, "beef production"."""
        before, token = self.q.tokens[n - 1] if n else None, self.q.tokens[n]
        if before is None or n - 1 not in used or before.kind != "word" or n in self.q.links.guessed:
            return False
        likely = max(self.q.links.columns[n - 1].values(), default=0.0)
        apart = self.q.text[before.end : token.start]
        if self.q.korean and not token.text.isascii():
            return apart == " " and bool(likely) and before.text in (*lexicon().alike, *before.forms[-1:])
        return apart == " " and likely >= NAMED and token.text.isalpha() and token.text.islower()

    def _described(self, n: int) -> bool:
        """Whether a word describes the file that is named beside it: "the 1033 procurement workbook"."""
        if not (self.q.named or n in self.q.links.named):
            return False
        return TABLE_NOUN.match(self.q.text[self.q.tokens[n].end :]) is not None


_TERMS: Sequence[tuple[float, Callable[[Rating, Reading], float]]] = (
    (5.0, lambda rating, _: rating.q.named),
    (0.6, lambda rating, reading: len(reading.done & rating.q.operations.keys())),
    (1.0, Rating.coverage),
    (0.5, Rating.counts_its_rows),
    (0.5, Rating.whole_name),
    (0.3, lambda rating, reading: bool(rating.q.kinds_of(reading.query.measure))),
    (-0.6, lambda rating, reading: rating.rather_named(reading.query.measure)),
    (-_DOUBT, Rating.doubt),
)
"""What a reading is worth beside what words add and take: how much of it, and what says so."""
