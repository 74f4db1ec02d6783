"""How well a query accounts for a question: what it explains, leaves out, ignores or assumes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from hitl_tui.tables.groups import Groups
from hitl_tui.tables.links import CALLED, label_of
from hitl_tui.tables.measures import Measures
from hitl_tui.tables.profile import Table
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.question_in_table import (
    AGGREGATES,
    LASTING,
    LIKELY,
    NAMED,
    NUMBER_OF,
    TABLE_NOUN,
    TOTALS,
    QuestionInTable,
    Reading,
)
from hitl_tui.tables.words import (
    key_of,
    lexicon,
    words_of,
)  # fmt: skip

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
_STRANGE = 0.7
"""How much a word says at most that is nothing of a table that isn't named."""
_BOUNDS = ("lt", "le", "gt", "ge")
_BOUND = re.compile(r"[가-힣]|exceed|\bthan\b|\bat (?:least|most)\b", re.I)
"""What compares, whatever stands beside it: "over" and "after" may not."""
_MONEY = frozenset(("money", "돈"))
_GUESSED = 0.47
"""How likely a word means what is spelt, or sounds, nearly so."""
_DOUBT = 0.5
"""What it costs how unlikely words mean what they were taken for, by the logarithm of that."""
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
        numbers = any(re.search(r"\d", word) for word in self.unknown)
        worked = self.query.aggregate in ("sum", "average", "distinct") or (self.query.aggregate and not self.named)
        limits = self.strange >= _LIMITS and (numbers or worked)
        limits = limits or (self.strange >= _STRANGE and not self.named)
        ignored = self.undone.intersection(("top", "bottom", "most_common"))
        return not (self.missing or limits or ignored) and (self.share >= EXPLAINED or clear)


class Rating:
    """Rates the readings of one question."""

    def __init__(self, q: QuestionInTable, measures: Measures, groups: Groups) -> None:
        self.q = q
        self.measures = measures
        self.groups = groups

    def rated(self, reading: Reading) -> Mapped:
        """Return a reading with its score: what it explains, less what it leaves out, ignores or assumes."""
        weights: dict[int, float] = {}
        additive = reading.query.measure and self.measures.additive(reading.query.measure)
        unknown: list[str] = []
        strange = 0.0
        assumed: list[str] = []
        own = False
        whole = {n for one in self.q.links.values if one.whole for n in range(one.first, one.last + 1)}
        again = {form for n in reading.used for form in self.q.tokens[n].forms if len(form) > 1}
        for n, token in enumerate(self.q.tokens):
            likely = max(self.q.links.columns[n].values(), default=0.0)
            says = self.q.weight(n)
            if not _MONEY.isdisjoint(token.forms) and additive:
                continue  # it says only what any sum of money is
            if n in reading.used:
                sure = 1.0 if n in whole or token.kind != "word" else max(0.5, likely)
                weights[n] = max(0.3, says) * sure * (0.6 if token.filler else 1.2)
                known = self.q.links.named.get(n, 0.0)
                if n not in whole and (known >= CALLED or not token.filler):
                    weights[n] = max(weights[n], max(0.4, says) * 1.2 * known)
                own = own or not token.filler or n in self.q.persons
            elif n in self.q.links.named:
                weights[n] = max(0.4, says) * self.q.links.named[n] * (2.0 if self._described(n) else 1.0)
            elif n in self.q.operators or token.filler or self._glossed(n, reading.used) or self._described(n):
                continue
            elif self.q.is_asked_for(n) and reading.query.shape == "rows" and self.q.keyed(reading.query.filters):
                weights[n] = -0.3 * says  # "which substance" says what a row is
            elif self.q.superlative and (
                not lexicon().adjectives.isdisjoint(token.forms) or lexicon().which_way.fullmatch(token.text)
            ):
                continue  # "expensive" says only of what kind a superlative is
            elif self.q.lasting and LASTING.search(token.text) and self.q.lasts(reading.query.measure):
                weights[n] = 0.5
            elif set(token.forms) & lexicon().titles and n - 1 in reading.used & whole:
                continue
            elif set(token.forms) & lexicon().rows:
                weights[n] = -0.05
            elif set(token.forms) & lexicon().places and not self._has_places:
                assumed.append(token.text)
                weights[n] = -0.3
            elif n in self.q.describing:
                weights[n] = -0.3 * says
            elif likely >= LIKELY and not (n in self.q.links.guessed and token.text[0].isupper()):
                weights[n] = -says if likely >= NAMED and not self._partly(n) else -0.4 * says
            elif self._goes_with(n, reading.used):
                weights[n] = -0.15 * says
            elif not again.isdisjoint(token.forms):
                continue  # it was said before: `승진`, `승진했어`
            else:
                counted = n in self.q.counted_nouns and not self.q.korean
                narrowed = reading.query.filters or reading.query.order  # of all rows, it may be what would limit them
                rare = self.q.rarity(n)
                if narrowed and not counted and not token.text[0].isupper():
                    apart = 1 - _MOST_NEAR * self.q.links.related.get(n, 0.0)
                    says, rare = says * apart, rare * (1 if self.q.is_verb(n) else apart)
                unknown.append(token.text.strip())
                strange = max(strange, 0.0 if counted and self._is_said(reading.query.measure) else rare)
                asked = self.q.is_asked_for(n) and bool(reading.query.order) and self._tells(reading.query)
                weights[n] = -0.5 * says if counted or asked else -says  # "how many patients" says what rows are
        explained = sum(weight for weight in weights.values() if weight > 0)
        negated = any(
            one.op in ("not", "empty", "none") for one in reading.query.filters
        )  # no query tells rows that aren't there
        undone = self.asked - reading.done - ({"negation"} if negated else set())
        left = (
            0.8 * len(undone)
            + 0.6 * len(undone.intersection(WORKED))
            - sum(weight for weight in weights.values() if weight < 0)
        )
        share = explained / (explained + left) if left else 1.0
        missing = reading.missing or (
            "measure" if reading.whole and unknown else "group" if self.groups.no_group else ""
        )
        listed = reading.query.shape == "rows" and not reading.query.order and undone.intersection(AGGREGATES)
        several = reading.query.aggregate == "average" and not self.q.has("average") and self._contain_several(reading)
        missing = missing or ("measure" if self._asks_twice or listed or several else "")
        missing = missing or ("measure" if self._uncompared(reading.query) or undone & _COMPARING else "")
        missing = missing or ("measure" if self._undecided(reading.query) or self._only_meant(reading.query) else "")
        explained += 0.6 * len(reading.done & set(self.q.operations))
        read = sorted(
            (n, word) for n, word in self.q.links.guessed.items() if n in reading.used or n in self.q.links.named
        )
        guessed = tuple((self.q.tokens[n].text, word) for n, word in read)
        doubted = sum(-log(self.q.links.likely.get(n, _GUESSED)) for n, _ in read)
        if (
            self.q.by_meaning
            and reading.query.measure not in ("", *self.q.said)
            and "_meant_measure" in self.measures.__dict__
        ):
            guessed += ((" ".join(unknown) or "…", reading.query.measure),) * (
                reading.query.measure == self.measures.meant_measure
            )
        if reading.query.measure in self.q.said:
            explained += 0.1 * min(3.0, self.q.said[reading.query.measure].coverage)
            explained += 0.3 * self._is_of_filters(reading.query)
            explained += 0.3 * (self.q.in_money(reading.query.measure) and self._asks_for_money(reading.query.filters))
        score = (5.0 if self.q.named else 0.0) + explained - 1.2 * left - reading.assumes
        score += 0.3 * bool(self.q.kinds_of(reading.query.measure))
        score -= _DOUBT * doubted + (1.5 if missing else 0.0) + 0.6 * self._rather_named(reading.query.measure)
        if not (own or reading.query.filters or self.q.links.named):
            score -= 1.0
        names = reading.query.names & self.q.said.keys()
        keys = {key_of(self.q.column(name).bare_name) for name in names}
        called = frozenset(n for n in reading.used if not names.isdisjoint(self.q.links.columns[n]))
        exact = frozenset(n for n in called if not keys.isdisjoint(map(key_of, self.q.tokens[n].forms)))
        asks = self.q.keyed(reading.query.filters) or bool(reading.used & self.q.persons)
        looks_up = reading.query.shape == "rows" and asks
        return Mapped(
            reading.query, self.q.table, score, share, tuple(unknown), missing, guessed, own, weights, tuple(assumed),
            bool(self.q.operations), self.q.named, reading.assumes,
            strange, undone, looks_up, reading.beside, exact, called - exact,
        )  # fmt: skip

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
        best = {start < joint.start() for name in ("top", "bottom") for start, _ in self.q.operations.get(name, ())}
        figures = {start < joint.start() for name in WORKED for start, _ in self.q.operations.get(name, ())}
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
            if name in names - query.names and not self.q.is_paired(name)
        ]
        both = mine.tokens.union(*(self.q.said[n].tokens for n in query.names & {query.other} & self.q.said.keys()))
        if any(one & both and one - both and both - one for one in others):
            return True  # "home and away goals"
        if (mine.likely >= 1 and mine.coverage >= 1) or self._is_of_filters(query):
            return False
        return any(
            (one.tokens, one.likely) == (mine.tokens, mine.likely) and abs(one.coverage - mine.coverage) < 0.05
            for name, one in self.q.said.items()
            if name not in (query.measure, query.other, *self.q.paired)
            and not (self.q.has("count") and self.q.is_rate(name))
            and name in names
            and self.q.in_money(name) == self.q.in_money(query.measure)
            and not (NUMBER_OF.match(query.measure) and not NUMBER_OF.match(name))
        )

    def _rather_named(self, measure: str) -> bool:
        """Whether a figure is only guessed, and another one is called by its name."""
        mine = self.q.said.get(measure)
        if mine is None or not mine.tokens <= self.q.links.guessed.keys():
            return False
        return any(
            one.name != measure and self.q.said[one.name].likely == 1
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
