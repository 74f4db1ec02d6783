"""A question becomes a typed query of one table; what can't be accounted for makes it unsure."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from hitl_tui.tables.links import Links, ValueLink, label_of, links
from hitl_tui.tables.profile import Column, Table
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.words import BLANK, Token, found, key_of, lexicon, likeness, number_word, tokens, words_of

SUPERLATIVE = ("top", "bottom")
_RANGE = re.compile(r"^\s?(?:~|-|–|에서|부터|and|to|through|until|till|and the year)\s?(?:the year\s)?$", re.I)
_SAME = re.compile(r"^(?:of|in|,|에|의)?$", re.I)
_SINCE = re.compile(r"(?:since|from|이후|부터)", re.I)
_UNTIL = re.compile(r"(?:until|till|up to|이전|까지)", re.I)
_TIME_WORDS = {"year", "date", "day", "time", "month", "yr"}
_IDS = {
    "id",
    "uuid",
    "code",
    "fips",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "index",
    "zip",
    "zipcode",
    "no",
    "number",
    "rank",
    "lng",
}
TABLE_NOUN = re.compile(
    r"\s?\S{0,12}\s?(?:표|목록|엑셀|파일|시트|데이터|자료|csv|tsv|list|table|file|data|spreadsheet|sheet|workbook|excel|parquet)",
    re.I,
)
_PLACE = re.compile(r"^(?:where|어디|어딘)", re.I)
_WHEN = re.compile(r"^(?:when|언제)", re.I)
_TOTALS = ("annual", "total", "all", "overall", "mean", "average", "value", "합계", "전체", "계")


@dataclass(frozen=True, slots=True)
class Moment:
    """A year, a month, a month of a year, or a day, as a question names it; 0 for what it doesn't say."""

    year: int = 0
    month: int = 0
    day: int = 0

    @classmethod
    def of(cls, token: Token) -> Moment:
        if token.kind == "day":  # one that the calendar doesn't have is none
            year, month, day = map(int, token.forms[0].split("-"))
            return cls(year, month, day) if 0 < month < 13 and 0 < day <= monthrange(year, month)[1] else cls()
        number = int(token.number or 0)
        return cls(year=number) if token.kind == "year" else cls(month=number)

    def joined(self, other: Moment) -> Moment | None:
        """Return a month and a year as one; None where they are something else."""
        if bool(self.year) == bool(other.year) or bool(self.month) == bool(other.month):
            return None
        return Moment(self.year or other.year, self.month or other.month)

    def until(self, last: Moment, column: str, said: str) -> Filter:
        """Return what lies between this and another; each takes from the other the year, or month, it doesn't say."""
        first_year, last_year = self.year or last.year, last.year or self.year
        months = (float(self.month or 1), float(last.month or 12))
        if not first_year:
            return Filter(column, "months", months, said)
        end = last.day or monthrange(last_year, int(months[1]))[1]
        days = (date(first_year, int(months[0]), self.day or 1), date(last_year, int(months[1]), end))
        return Filter(column, "dates", tuple(day.isoformat() for day in days), said)


@dataclass(frozen=True, slots=True)
class Mapped:
    """A query that a question was read as.

    Args:
        query: the query.
        table: the table.
        score: how much of the question it accounts for; only compared with others.
        unknown: words of the question that stand for nothing in it.
        missing: what the question leaves open, or asks for that the table doesn't have.
        guessed: words that were read as others, `said: read as`.
        counts: it asks for a figure, or for what has most of something.
        weights: what each token adds to the score.
        assumed: names that the table has no column for, so that all its rows are taken to be of them.
        own: it names rows or figures of this table, not only its name.
    """

    query: TableQuery
    table: Table
    score: float
    unknown: tuple[str, ...] = ()
    missing: str = ""
    guessed: tuple[tuple[str, str], ...] = ()
    own: bool = False
    weights: Mapping[int, float] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    counts: bool = False

    @property
    def sure(self) -> bool:
        """Whether every part of the question is in the query."""
        return not self.unknown and not self.missing


class Reader:
    """Reads one question for one table."""

    def __init__(self, question: str, table: Table, named: bool, before: TableQuery | None = None) -> None:
        self.question = question
        self.table = table
        self.named = named
        self.before = before
        text = _without_files(question, table) if named else question
        self.tokens = tokens(text)
        self.operations = found(lexicon().operations, text)
        self.comparisons = found(lexicon().comparisons, text)
        places = [span for spans in self.operations.values() for span in spans]
        places += [span for spans in self.comparisons.values() for span in spans]
        self.operators = frozenset(
            n for n, token in enumerate(self.tokens) if any(a < token.end and token.start < b for a, b in places)
        )
        self.links: Links = links(self.tokens, table, self.operators)
        self.used: set[int] = set()
        self.missing = ""

    # ------------------------------------------------------------------------------------------------------- parts

    def _column(self, name: str) -> Column:
        column = self.table.column(name)
        assert column is not None
        return column

    def has(self, *operations: str) -> bool:
        return any(operation in self.operations for operation in operations)

    def place(self, operation: str) -> int:
        return min(start for start, _ in self.operations[operation])

    def filters(self) -> list[Filter]:
        """Return the filters that values name, each token in one of them; words of one column side by side together."""
        made: dict[tuple[str, bool], Filter] = {}
        covered: set[int] = set()
        for link in self.links.values:
            places = set(range(link.first, link.last + 1))
            if (
                all(self.tokens[n].number is not None for n in places)
                and not link.whole
                and not self._beside_words(link)
            ):
                continue
            rivals = [
                v for v in self.links.values if v.whole == link.whole and set(range(v.first, v.last + 1)) == places
            ]
            link = max(rivals, key=self._fitness)
            if places & covered or self._better_column(link):
                continue
            covered |= places
            said = " ".join(self.tokens[n].text for n in sorted(places))
            key = (link.column, link.whole)
            known = made.get(key)
            op = "is" if link.whole else "has"
            values = (*(known.values if known else ()), *link.values)
            made[key] = Filter(link.column, op, tuple(dict.fromkeys(values)), f"{known.said} {said}" if known else said)
        self.used |= covered
        return list(made.values())

    def _beside_words(self, link: ValueLink) -> bool:
        """Whether a number stands beside other words of the same column's values (`5.56 mm rifles`)."""
        return any(
            other.column == link.column and other is not link and 0 < abs(other.first - link.first) <= 2
            for other in self.links.values
        )  # fmt: skip

    def _fitness(self, link: ValueLink) -> tuple[float, ...]:
        """Return how well a value fits: beside its column's name, in the column of other words, among few."""
        beside = max(
            (
                self.links.columns[n].get(link.column, 0.0)
                for n in range(max(0, link.first - 1), min(len(self.tokens), link.last + 2))
            ),
            default=0.0,
        )
        shared = sum(v.column == link.column for v in self.links.values)
        exact = any(value in self.question for value in link.values)
        label = label_of(self.table)
        is_label = label is not None and label.name == link.column and link.whole
        return (
            beside if beside >= 0.75 else 0,
            shared,
            is_label,
            exact,
            link.count,
            -self._column(link.column).distinct,
        )

    def _better_column(self, link: ValueLink) -> bool:
        """Whether the words of a value rather name a column, or the table."""
        places = range(link.first, link.last + 1)
        column = max((max(self.links.columns[n].values(), default=0.0) for n in places), default=0.0)
        if link.whole:
            fits = {name for n in places for name, likely in self.links.columns[n].items() if likely >= 0.95}
            if any(name != link.column and self._coverage(name) >= 1.8 for name in fits) and len(places) == 1:
                return True
            said = {key_of(form) for n in places for form in self.tokens[n].forms}
            names = fits - {link.column} or self.links.named.get(link.first, 0) >= 0.9
            if len(places) == 1 and names and not said & {key_of(value) for value in link.values}:
                return True
            return column >= 0.95 and any(
                key_of(name) == key_of(self.tokens[n].text)
                or (len(places) == 1 and words_of(name) == (self.tokens[n].forms[-1],))
                for n in places
                for name in self.links.columns[n]
            )
        return column >= 0.75 or any(self.links.named.get(n, 0) >= 0.9 for n in places)

    def number_column(self, at: int, unit: str = "") -> str:
        """Return the column a number at a token is compared with: the nearest one that words name."""
        best: tuple[float, str] = (0.0, "")
        for n, likely in enumerate(self.links.columns):
            for name, value in likely.items():
                column = self._column(name)
                if column.kind == "number" and not (column.years and not unit):
                    near = value * self._coverage(name) - 0.04 * abs(n - at)
                    best = max(best, (near, name))
        if best[1]:
            return best[1]
        numbers = self.figures()
        return numbers[0].name if len(numbers) == 1 else ""

    def figures(self) -> list[Column]:
        """Return the columns that hold figures, not years or ids."""
        numbers = [c for c in self.table.columns if c.kind == "number" and not c.years and key_of(c.name)]
        return [c for c in numbers if not set(words_of(c.name)) & {*_IDS, "unnamed"}]

    def _coverage(self, name: str) -> float:
        """Return how many words of the question a column's name takes up, less for words of it nobody said."""
        words = words_of(name)
        said = 3.0 if len(name) > 4 and name.casefold() in self.question.casefold() else 0.0
        free = 0
        for word in words:
            best = 0.0
            for token in self.tokens:
                forms = (
                    *token.forms,
                    *((str(int(token.number)),) if token.number is not None and token.number.is_integer() else ()),
                )
                numeral = number_word(token.text[:1]) if token.kind == "word" and len(token.text) <= 2 else None
                if numeral:
                    forms = (*forms, str(numeral))
                best = max(best, *(likeness(form, word) for form in forms), 0.0)
            said += best
            begins = (
                term for t in self.tokens for f in t.forms for term in (f, *lexicon().alike.get(f, ())) if len(term) > 4
            )
            said += 0.5 * (len(word) >= 7 and best == 0.75 and any(word.startswith(term) for term in begins))
            free += not best and len(word) > 2
        return said - 0.2 * free

    def measure(self, taken: set[str], kinds: Sequence[str] = ("number",), *, again: bool = False) -> str:
        """Return the column that the words name best; empty for none."""
        scores: dict[str, float] = {}
        for n, likely in enumerate(self.links.columns):
            for name, value in likely.items():
                if (
                    name not in taken
                    and self._column(name).kind in kinds
                    and (again or n not in self.used or value >= 0.95)
                ):
                    scores[name] = max(scores.get(name, 0.0), value)
        ranked = sorted(
            scores, key=lambda c: (not self._column(c).years, self._coverage(c), scores[c], -len(c)), reverse=True
        )
        return ranked[0] if ranked and scores[ranked[0]] >= 0.5 else ""

    def use_column(self, name: str) -> None:
        """Mark the tokens that name a column, a number in its name too."""
        words = words_of(name)
        for n, token in enumerate(self.tokens):
            said = number_word(token.text) if token.number is None else int(token.number)
            if name in self.links.columns[n] or str(said) in words:
                self.used.add(n)

    def default_measure(self) -> str:
        """Return the column of a table that has one figure alone, or one for all."""
        numbers = self.figures()
        if len(numbers) == 1:
            return numbers[0].name
        return next((c.name for word in _TOTALS for c in numbers if key_of(c.name) == word), "")

    def time_column(self) -> Column | None:
        """Return the column of dates or years."""
        dated = [c for c in self.table.columns if c.kind == "date" and c.distinct > 1] + [
            c for c in self.table.columns if c.years
        ]
        said = [c for c in dated if any(c.name in likely for likely in self.links.columns)]
        return next(iter(said or dated), None)

    # ----------------------------------------------------------------------------------------------------- numbers

    def number_filters(self, measure: str) -> list[Filter]:
        """Return the filters that numbers, years, months and dates make."""
        made = self._periods()
        for n, token in enumerate(self.tokens):
            if n in self.used or token.kind == "word":
                continue
            one = self._number_filter(n, token, measure)
            if one is not None:
                self.used.add(n)
                made.append(one)
        return made

    def _periods(self) -> list[Filter]:
        """Return the filters that months and days make, alone, side by side, or from one to another."""
        time = self.time_column()
        if time is None or time.kind != "date":
            return []
        moments: list[tuple[list[int], Moment]] = []
        for n, token in enumerate(self.tokens):
            if token.kind not in ("year", "month", "day") or n in self.used:
                continue
            said = Moment.of(token)
            if moments and (joined := moments[-1][1].joined(said)):
                last = moments[-1][0][-1]
                if last == n - 1 and _SAME.match(self.question_between(self.tokens[last], token)):
                    moments[-1] = ([*moments[-1][0], n], joined)
                    continue
            moments.append(([n], said))
        made: list[Filter] = []
        alone: list[tuple[Moment, str]] = []
        while moments:
            places, one = moments.pop(0)
            words = self.tokens[places[0]].text
            if moments and (one.month or moments[0][1].month):
                after, other = moments[0]
                between = self.question_between(self.tokens[places[-1]], self.tokens[after[0]])
                both = between == "and" and "between" not in self.comparisons
                if _RANGE.match(between) and not both:
                    moments.pop(0)
                    self.used |= {*places, *after}
                    made.append(one.until(other, time.name, f"{words}–{self.tokens[after[-1]].text}"))
                    continue
            if one.month:
                self.used |= set(places)
                alone.append((one, " ".join(self.tokens[n].text for n in places)))
        years = {one.year for one, _ in alone} - {0}
        if (len(alone) == 1 and years) or any(one.day for one, _ in alone):
            return made + [one.until(one, time.name, said) for one, said in alone]
        if alone:
            words = " ".join(said for _, said in alone)
            made.append(Filter(time.name, "month", tuple(float(one.month) for one, _ in alone), words))
            made += [Filter(time.name, "year", (float(year),), words) for year in years]
        return made

    def _number_filter(self, n: int, token: Token, measure: str) -> Filter | None:
        time = self.time_column()
        value = float(token.number or 0)
        if token.kind == "decade" and time:
            op = "years" if time.kind == "date" else "between"
            return Filter(time.name, op, (value, value + 9), token.text)
        later = next((m for m in range(n + 1, min(n + 4, len(self.tokens))) if self.tokens[m].number is not None), n)
        following = self.tokens[later] if later != n else None
        between = following and _RANGE.match(self.question_between(token, following))
        sign = self._sign(token)
        if token.kind == "year" and time:
            if following is not None and between and following.kind == "year":
                self.used.add(later)
                return Filter(
                    time.name,
                    "years" if time.kind == "date" else "between",
                    (value, float(following.number or 0)),
                    f"{token.text}–{following.text}",
                )
            if sign in ("gt", "ge", "lt", "le"):
                return Filter(time.name, sign if time.kind == "number" else f"year_{sign}", (value,), token.text)
            return Filter(time.name, "is" if time.kind == "number" else "year", (value,), token.text)
        if token.kind not in ("number", "year"):
            return None
        if sign or between:
            name = self.number_column(n, token.unit) or measure
            if not name:
                return None
            self.use_column(name)
            scaled = value / (1e4 if self._column(name).unit == "만원" and token.unit == "원" else 1)
            if following is not None and between:
                self.used.add(later)
                return Filter(name, "between", (value, float(following.number or 0)), f"{token.text}–{following.text}")
            return Filter(name, sign, (scaled,), token.text)
        for near in (n + 1, n - 1, n + 2, n - 2):
            if 0 <= near < len(self.tokens):
                for name, likely in sorted(self.links.columns[near].items(), key=lambda item: -item[1]):
                    column = self._column(name)
                    if (
                        likely >= 0.75
                        and column.kind == "number"
                        and column.low <= value <= column.high
                        and column.distinct <= 200
                    ):
                        self.used |= {near}
                        return Filter(name, "is", (value,), token.text)
        return None

    def question_between(self, one: Token, other: Token) -> str:
        text = self.text
        return text[one.end : other.start].strip()

    @property
    def text(self) -> str:
        return _without_files(self.question, self.table) if self.named else self.question

    def _sign(self, token: Token) -> str:
        """Return how a number is compared: by what stands after it, or right before it."""
        text = self.text
        after, before = text[token.end : token.end + 14], text[max(0, token.start - 22) : token.start]
        best: tuple[int, str] = (99, "")
        for name, expression in lexicon().comparisons.items():
            if name in ("not", "between"):
                continue
            for match in expression.finditer(after):
                if not re.search(r"[,;]|\d|(?<=\s)(?:in|of|with|and)\s", after[: match.start()]):
                    best = min(best, (match.start(), name))
            for match in expression.finditer(before):
                gap = before[match.end() :]
                if not re.search(r"[가-힣]|\d", match.group()) and len(gap.split()) <= 1 and not re.search(r"\d", gap):
                    best = min(best, (len(gap), name))
        if not best[1] and token.kind == "year":
            if _SINCE.match(after.strip()) or _SINCE.search(before[-6:]):
                return "ge"
            if _UNTIL.match(after.strip()) or _UNTIL.search(before[-6:]):
                return "le" if "이전" not in after else "lt"
        if best[1] == "gt" and "since" in before:
            return "ge"
        return best[1]

    # ------------------------------------------------------------------------------------------------------- whole

    def read(self) -> Mapped:
        """Return what the question asks of the table."""
        filters = self.filters()
        taken = {one.column for one in filters}
        query = self._query(filters, taken)
        return self._mapped(query)

    def _query(self, filters: list[Filter], taken: set[str]) -> TableQuery:
        table = self.table
        base = TableQuery(table.file.path, table.sheet)
        self._family(taken)
        grouped = self._grouped(taken)
        measure = self.measure(taken | {grouped} - {""})
        filters += self._year_columns(measure)
        filters += self.number_filters(measure)
        filters += self._empty(measure, taken)
        taken |= {one.column for one in filters if one.op in ("is", "has", "empty", "full")}
        filters = [self._negated(one) for one in filters]
        base = replace(base, filters=tuple(filters))
        years = [one for one in filters if one.op in ("between", "years") and self._is_time(one.column)]
        aggregate = self._aggregate()
        if self.has("correlation"):
            return self._correlation(base)
        if self.has("change") and not grouped and not self._superlative():
            change = self._change(base, measure, filters, years)
            if change is not None:
                return change
        if self.has("share") and not self._percent_column(measure):
            share = self._share(base, measure, filters, taken)
            if share is not None:
                return share
        if self._superlative():
            return self._best(base, measure, grouped, taken, aggregate)
        if grouped:
            measure = measure if measure != grouped else ""
            aggregate = aggregate or (
                "sum" if measure and self._additive(measure) else "average" if measure else "count"
            )
            measure = "" if aggregate == "count" else measure or self.default_measure()
            self._open(measure or aggregate == "count")
            part = "year" if self._column(grouped).kind == "date" else ""
            if part and any("month" in t.forms or any(f.startswith("월") for f in t.forms) for t in self.tokens):
                part = "month"
            order = "" if self._is_time(grouped) else "desc"
            return replace(
                base, shape="groups", aggregate=aggregate, measure=measure, group=grouped, part=part, order=order
            )
        several = next(
            (f for f in filters if f.op == "is" and len(f.values) > 1 and isinstance(f.values[0], str)), None
        )
        if several and len({str(v).casefold() for v in several.values}) > 1 and (aggregate or measure):
            aggregate = aggregate or (
                "sum" if measure and self._additive(measure) else "average" if measure else "count"
            )
            return replace(
                base,
                shape="groups",
                aggregate=aggregate,
                measure="" if aggregate == "count" else measure,
                group=several.column,
                order="desc",
            )
        if aggregate == "distinct" or (aggregate == "count" and self.has("distinct")):
            column = self.measure(set(), ("text", "number", "date"))
            self._open(column)
            return replace(base, aggregate="distinct", measure=column)
        if aggregate == "count":
            return self._count(base, measure, taken)
        if aggregate:
            measure = measure or (self.default_measure() if self.links.named or self.named else "")
            self._open(measure)
            self.use_column(measure)
            return replace(base, aggregate=aggregate, measure=measure)
        return self._lookup(base, measure, taken)

    def _open(self, given: object) -> None:
        """Note that the question doesn't say of what, or says something that the table doesn't have."""
        if not given and not self.missing:
            self.missing = "measure"

    def _negated(self, one: Filter) -> Filter:
        if one.op != "is" or "not" not in self.comparisons:
            return one
        at = self.text.find(one.said.split()[0])
        for start, end in self.comparisons["not"]:
            if 0 <= at - end <= 5 or 0 <= start - (at + len(one.said)) <= 3:
                return replace(one, op="not")
        return one

    def _is_time(self, name: str) -> bool:
        column = self._column(name)
        return column.kind == "date" or column.years

    def _superlative(self) -> bool:
        return self.has(*SUPERLATIVE, "most_common")

    def _descending(self) -> bool:
        if self.has("top", "most_common"):
            ends = [end for _, end in self.operations.get("top", self.operations.get("most_common", []))]
            rest = self.text[ends[0] : ends[0] + 14] if ends else ""
            return (
                not lexicon().down.search(rest)
                if re.search("[가-힣]", rest)
                else not rest.lower().startswith((" low", " small"))
            )
        return False

    def _aggregate(self) -> str:
        for name in ("average", "median", "deviation", "distinct", "count", "sum"):
            if self.has(name):
                return name
        return ""

    def _additive(self, name: str) -> bool:
        words = set(words_of(name))
        known = lexicon().additive
        return bool(
            words & known or self._loosely_said(name) or any(word in known or word + "s" in known for word in words)
        )

    def _loosely_said(self, name: str) -> bool:
        """Whether a column stands for a sum that the table has no column of: sales, where it has prices."""
        sums = {"sales", "revenue", "turnover", "매출", "매출액", "판매액", "수입", "수익"}
        return any(
            form in sums
            for n, likely in enumerate(self.links.columns)
            if name in likely
            for form in self.tokens[n].forms
        )

    def _percent_column(self, measure: str) -> bool:
        """Whether a column that is named holds the share itself."""
        if not measure:
            return False
        words = set(words_of(measure)) | set(words_of(self.table.stem))
        return bool(words & {"share", "percent", "perc", "pct", "ratio", "rate", "percentage", "비율", "proportion"})

    def _grouped(self, taken: set[str]) -> str:
        """Return the column that each figure is asked for."""
        for start, end in self.operations.get("each", ()):
            for n, token in enumerate(self.tokens):
                korean = re.search("[가-힣]", self.text[start:end]) is not None
                near = token.start <= start <= token.end + 1 if korean else 0 <= token.start - end <= 6
                options = self.links.columns[n] if near else {}
                fit = [
                    c
                    for c, likely in options.items()
                    if likely >= 0.75 and (self._column(c).kind != "number" or self._column(c).distinct <= 60)
                ]
                if fit:
                    best = max(fit, key=lambda c: (options[c], self._coverage(c), self._column(c).kind != "number"))
                    self.used.add(n)
                    return best
                if near and korean and set(token.forms) & {"연도", "년도", "해", "연", "월"} and self.time_column():
                    self.used.add(n)
                    column = self.time_column()
                    return column.name if column else ""
        return ""

    def _family(self, taken: set[str]) -> None:
        """Nothing is done for tables whose columns are years: `_coverage` prefers the year that is named."""

    def _year_columns(self, measure: str) -> list[Filter]:
        """Take up the year or month that the measure's own name has."""
        words = words_of(measure) if measure else ()
        for n, token in enumerate(self.tokens):
            if token.number is not None and str(int(token.number)) in words:
                self.used.add(n)
        return []

    def _empty(self, measure: str, taken: set[str]) -> list[Filter]:
        if not self.has("empty"):
            return []
        column = self.measure(taken, ("text", "number", "date"))
        self._open(column)
        if not column:
            return []
        self.use_column(column)
        return [Filter(column, "empty", (), "empty")]

    def _correlation(self, base: TableQuery) -> TableQuery:
        first = self.measure(set())
        second = self.measure({first}) if first else ""
        self._open(second)
        for name in filter(None, (first, second)):
            self.use_column(name)
        return replace(base, shape="correlation", measure=first, other=second)

    def _change(
        self, base: TableQuery, measure: str, filters: Sequence[Filter], years: Sequence[Filter]
    ) -> TableQuery | None:
        """Return the change between two years, of a column or of two columns that name them, or between two values."""
        named = [str(int(t.number)) for t in self.tokens if t.kind == "year" and t.number]
        if measure and len(named) == 2:
            stem = tuple(word for word in words_of(measure) if not word.isdigit())
            pair = [
                next((c.name for c in self.table.columns if words_of(c.name) == (*stem, year)), "") for year in named
            ]
            if all(pair):
                self.used |= {n for n, t in enumerate(self.tokens) if t.kind == "year"}
                self.use_column(measure)
                kept = tuple(f for f in filters if not self._is_time(f.column))
                return replace(base, shape="change", measure=pair[0], other=pair[1], aggregate="sum", filters=kept)
        if years and years[0].op in ("between", "years"):
            measure = measure or self.default_measure()
            self._open(measure)
            self.use_column(measure)
            one = years[0]
            date = self._column(one.column).kind == "date"
            aggregate = self._figure_aggregate(measure)
            kept = tuple(f for f in filters if f is not one)
            return replace(
                base,
                shape="change",
                aggregate=aggregate,
                measure=measure,
                group=one.column,
                part="year" if date else "",
                filters=kept,
                ends=one.values,
            )
        several = next((f for f in filters if f.op == "is" and len(f.values) == 2), None)
        if several and (measure or self.has("count")):
            self.use_column(measure)
            aggregate = self._aggregate() or ("sum" if measure and self._additive(measure) else "average")
            kept = tuple(f for f in filters if f is not several)
            return replace(
                base,
                shape="change",
                aggregate=aggregate,
                measure="" if aggregate == "count" else measure,
                group=several.column,
                filters=kept,
                ends=several.values,
            )
        return None

    def _figure_aggregate(self, measure: str) -> str:
        said = self._aggregate()
        if not measure:
            return "count"
        return said if said not in ("", "count", "distinct") else "sum" if self._additive(measure) else "average"

    def _share(self, base: TableQuery, measure: str, filters: Sequence[Filter], taken: set[str]) -> TableQuery | None:
        """Return which part of the rows, or of a sum, some of them are: those that were named last, or that are so."""
        flag = self._flag(taken)
        if flag is not None:
            return replace(base, shape="share", within=(flag,))
        chosen = [f for f in filters if f.op not in ("year", "years") and not self._is_time(f.column)] or list(filters)
        if not chosen:
            return None
        text = self.text
        korean = re.search("[가-힣]", text) is not None

        def at(one: Filter) -> int:
            return text.find(one.said.split()[-1].split("–")[0])

        within = max(chosen, key=at)
        if len(chosen) > 1 and not korean:
            verb = re.search(r"\b(?:are|were|is|was|have|had|made|come|came|from|belong)\b", text)
            after = [f for f in chosen if verb and at(f) > verb.start()]
            of = re.search(r"\bof\b", text)
            first = [f for f in chosen if of and at(f) < of.start()]
            within = (after or first or [within])[0]
        said = max((likely.get(measure, 0.0) for likely in self.links.columns), default=0.0)
        sums = self._additive(measure) or said >= 0.95
        summed = measure if measure and sums and measure not in {one.column for one in filters} else ""
        rest = tuple(f for f in filters if f is not within)
        return replace(base, shape="share", measure=summed, filters=rest, within=(within,))

    def _flag(self, taken: set[str]) -> Filter | None:
        """Return a column of yes and no that the words name, as what is so."""
        yes = {"yes", "true", "y", "t", "1", "o", "예", "네"}
        for likely in self.links.columns:
            for name, value in likely.items():
                column = self._column(name)
                if value < 0.75 or name in taken or column.distinct > 3:
                    continue
                if column.kind == "number" and (column.low, column.high) == (0.0, 1.0):
                    self.use_column(name)
                    return Filter(name, "is", (1.0,), name)
                true = [v for v in column.values if v.casefold() in yes]
                if true and len(column.values) == 2:
                    self.use_column(name)
                    return Filter(name, "is", tuple(true), name)
        return None

    def _best(self, base: TableQuery, measure: str, grouped: str, taken: set[str], aggregate: str) -> TableQuery:
        """Return which rows, or groups of them, have most or least."""
        down = not self._descending()
        order = "asc" if down else "desc"
        entity = grouped or self._entity(measure, taken)
        if measure and self._column(measure).distinct <= 1:
            measure = ""
        limit = self._limit()
        unique = not entity or self._column(entity).distinct >= 0.9 * max(1, self._column(entity).filled)
        bare = not measure or measure == entity
        if (
            bare
            and self._is_when(measure) is None
            and self.has("most_common", "count", "top")
            and entity
            and not unique
        ):
            return replace(base, shape="groups", aggregate="count", group=entity, order=order, limit=limit)
        if bare:
            time = self._is_when("")
            measure = self.default_measure() if time is None else time
            self._open(measure)
        self.use_column(measure)
        value_only = self._value_only(entity)
        if (aggregate in ("average", "sum", "median") and entity and not unique) or (
            entity and not unique and measure and self._additive(measure)
        ):
            aggregate = aggregate if aggregate in ("average", "sum", "median") else "sum"
            return replace(
                base, shape="groups", aggregate=aggregate, measure=measure, group=entity, order=order, limit=limit
            )
        label = label_of(self.table)
        shown = [entity or (label.name if label else ""), measure]
        shown += [c for c in self._said_columns() if c not in shown]
        if value_only and not entity and not label:
            shown = [measure]
        when = self.time_column()
        if not entity and when and when.name not in shown and (not label or label.distinct < 0.9 * self.table.rows):
            shown.append(when.name)
        return replace(
            base,
            shape="rows",
            measure=measure,
            columns=tuple(dict.fromkeys(filter(None, shown))),
            order=order,
            limit=limit,
        )

    def _is_when(self, measure: str) -> str | None:
        """Return the column of time where the oldest or latest is asked for."""
        said = self.text.lower()
        if re.search(r"earliest|latest|oldest|newest|most recent|first|last|최근|오래된|먼저|처음|마지막", said):
            time = self.time_column()
            return time.name if time else None
        return None

    def _value_only(self, entity: str) -> bool:
        return not entity

    def _said_columns(self) -> list[str]:
        return [name for likely in self.links.columns for name, value in likely.items() if value >= 0.95]

    def _entity(self, measure: str, taken: set[str]) -> str:
        """Return the column whose values are asked for: named in words, or a place, a person or a time."""
        options: dict[str, float] = {}
        asked = re.compile(r"(?:which|what|어느|어떤|무슨|top|busiest|most)\s*$", re.I)
        for n, likely in enumerate(self.links.columns):
            token = self.tokens[n]
            for name, value in likely.items():
                column = self._column(name)
                if (
                    name == measure
                    or name in taken
                    or value < 0.75
                    or (column.kind == "number" and not column.years and column.distinct > 40)
                ):
                    continue
                bonus = 0.3 if asked.search(self.text[: token.start]) else 0.0
                bonus += 0.1 if column.kind == "text" else 0.0
                options[name] = max(options.get(name, 0.0), value + bonus + 0.1 * self._coverage(name))
        for token in self.tokens:
            if _WHEN.match(token.text) or set(token.forms) & {"연도", "해", "몇년"}:
                time = self.time_column()
                if time and time.name != measure:
                    options.setdefault(time.name, 0.9)
            if _PLACE.match(token.text):
                for column in self.table.columns:
                    if column.kind == "text" and set(words_of(column.name)) & {
                        "place",
                        "location",
                        "city",
                        "country",
                        "region",
                        "state",
                        "county",
                        "지역",
                        "장소",
                        "시도",
                    }:
                        options.setdefault(column.name, 0.8)
                        break
        if not options:
            return ""
        best = max(options, key=lambda name: options[name])
        self.use_column(best)
        return best

    def _limit(self) -> int:
        for start, end in [*self.operations.get("top", ()), *self.operations.get("bottom", ())]:
            for n, token in enumerate(self.tokens):
                if (
                    token.kind == "number"
                    and token.number
                    and token.number <= 100
                    and (0 <= token.start - end <= 10 or 0 <= start - token.end <= 2)
                ):
                    self.used.add(n)
                    return int(token.number)
        for n, token in enumerate(self.tokens):
            after = self.text[token.end : token.end + 3].strip()
            if (
                token.kind == "number"
                and n not in self.used
                and token.number
                and token.number <= 100
                and (token.unit in ("개", "곳", "명", "건", "편", "개국", "대") or after.startswith(("위", "개", "곳")))
            ):
                self.used.add(n)
                return int(token.number)
            if (
                token.kind == "word"
                and re.fullmatch("(?:한|두|세|네|다섯|열)(?:개|곳|명|편|건)?", token.text)
                and number_word(token.text[0])
            ):
                return int(number_word(token.text[0]) or 1)
            if token.text.lower() in ("three", "five", "ten", "two"):
                self.used.add(n)
                return {"two": 2, "three": 3, "five": 5, "ten": 10}[token.text.lower()]
        return 1

    def _count(self, base: TableQuery, measure: str, taken: set[str]) -> TableQuery:
        """Return how many rows, or the sum of a column that counts already."""
        counted = list(base.filters)
        if measure and self._additive(measure) and not any(f.column == measure for f in counted):
            self.use_column(measure)
            return replace(base, aggregate="sum", measure=measure)
        flag = self._flag(taken)
        if flag is not None:
            return replace(base, aggregate="count", filters=(*base.filters, flag))
        named = [c for c in self._said_columns() if c not in taken]
        for name in named:
            column = self._column(name)
            if (
                column.filled < self.table.rows
                and name not in {f.column for f in counted}
                and not self.has("empty")
                and not counted
            ):
                self.use_column(name)
                return replace(base, aggregate="count", filters=(*base.filters, Filter(name, "full", (), name)))
        for name in named:
            column = self._column(name)
            if (
                column.kind == "text"
                and not counted
                and 1 < column.distinct < 0.9 * column.filled
                and not self._nouns_of_table()
            ):
                self.use_column(name)
                return replace(base, aggregate="distinct", measure=name)
        for name in named:
            self.use_column(name)
        return replace(base, aggregate="count")

    def _nouns_of_table(self) -> bool:
        return bool(self.links.named)

    def _lookup(self, base: TableQuery, measure: str, taken: set[str]) -> TableQuery:
        """Return what rows have in the columns that are named."""
        targets = [
            c
            for c in (measure, self.measure(taken, ("date",) if self._asks_when() else ("text", "date", "number")))
            if c
        ]
        if self._asks_when():
            targets = [c for c in targets if self._is_time(c)] or targets
        others = [c for c in self._said_columns() if c not in taken]
        targets = list(dict.fromkeys([*targets[:1], *others]))
        if not targets:
            default = self.default_measure()
            targets = [default] if default and (base.filters) else []
        self._open(
            base.filters
            and (
                targets
                or any(f.op == "is" and self._column(f.column).distinct >= 0.9 * self.table.rows for f in base.filters)
            )
        )
        for name in targets:
            self.use_column(name)
        label = label_of(self.table)
        shown = [*(f.column for f in base.filters[:2]), *targets] if targets else []
        if targets and label and label.name not in shown:
            shown.insert(0, label.name)
        return replace(base, shape="rows", columns=tuple(dict.fromkeys(shown)), measure=targets[0] if targets else "")

    def _asks_when(self) -> bool:
        return any(_WHEN.match(token.text) for token in self.tokens) or bool(re.search(r"몇\s?년", self.text))

    def _mapped(self, query: TableQuery) -> Mapped:
        unknown: list[str] = []
        assumed: list[str] = []
        weights: dict[int, float] = {}
        own = False
        noun = self._row_noun()
        whole = {n for v in self.links.values if v.whole for n in range(v.first, v.last + 1)}
        for n, token in enumerate(self.tokens):
            columns = self.links.columns[n]
            best = max(columns.values(), default=0.0)
            if n in self.used:
                strong = 1.2 if best >= 0.75 or n in whole else 0.6
                named = self.links.named.get(n, 0.0) * (3.0 if self._descriptive(n) else 1.0)
                weights[n] = max(strong if token.kind == "word" else 0.6, named)
                own = own or not token.filler
            elif n in self.links.named:
                weights[n] = self.links.named[n] * (3.0 if self._descriptive(n) else 1.3)
            elif n in self.operators or token.filler:
                continue
            elif best >= 0.75:
                weights[n] = 0.3
            elif n == noun or self._descriptive(n) or self._glossed(n) or self._of_superlative(token):
                continue
            elif set(token.forms) & lexicon().places and not self._has_places():
                assumed.append(token.text)
                weights[n] = -0.3
            else:
                unknown.append(token.text)
                weights[n] = -1.0
        guessed = tuple((self.tokens[n].text, word) for n, word in sorted(self.links.guessed.items()))
        score = 5.0 if self.named else 0.0
        score += sum(weights.values()) - 0.3 * len(guessed) - (0.5 if self.missing else 0.0)
        if not (own or query.filters or self.links.named):
            score -= 1.0
        return Mapped(
            query,
            self.table,
            score,
            tuple(unknown),
            self.missing,
            guessed,
            own,
            weights,
            tuple(assumed),
            bool(self.operations),
        )

    def _of_superlative(self, token: Token) -> bool:
        """Whether a word only says of what kind a superlative is, as "expensive" does."""
        return self._superlative() and any(lexicon().loosely.get(form) for form in token.forms)

    def _has_places(self) -> bool:
        """Whether the table says which places its rows are of."""
        known = lexicon().places
        return any(value.casefold() in known for column in self.table.columns for value in column.values[:300])

    def _glossed(self, n: int) -> bool:
        """Whether a word is said again in brackets, in words that the table has: `북웜(bookworm)`."""
        return n + 1 in self.used and self.text[self.tokens[n].end : self.tokens[n + 1].start].strip() == "("

    def _row_noun(self) -> int:
        """Return the token that only says what rows are: "how many passengers"."""
        for n, token in enumerate(self.tokens):
            if n not in self.used and set(token.forms) & lexicon().rows:
                return n
        return -1

    def _descriptive(self, n: int) -> bool:
        """Whether a word describes the file that is named beside it: "the 1033 procurement workbook"."""
        if not (self.named or self.links.named):
            return False
        return TABLE_NOUN.match(self.text[self.tokens[n].end :]) is not None


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
