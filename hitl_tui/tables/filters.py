"""Which rows a question is about: the values, numbers and times that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

from hitl_tui.meaning.word_forms import noun_denied
from hitl_tui.tables.links import CALLED, ValueLink, label_of
from hitl_tui.tables.moments import periods
from hitl_tui.tables.profile import Column
from hitl_tui.tables.query import Filter
from hitl_tui.tables.question_in_table import LIKELY, LOOSE, NAMED, TABLE_NOUN, QuestionInTable
from hitl_tui.tables.words import Token, key_of, lexicon, words_of

CHOICES = 3
"""Columns, and readings of a value, that are tried for each place of a query."""
_MOST_READINGS = 24
_FAR = 200
"""Years from those of a table by which a number isn't one of them."""
_BETWEEN = re.compile(r"^\s?(?:~|-|–|에서|부터|and|to)\s?$", re.I)
PARTS_OF_DAYS = {
    "year": ("year", "yr", "년", "연도", "년도"),
    "month": ("month", "mon", "mm", "mo", "월"),
    "day": ("day", "dd", "일"),
}
"""Names of columns of numbers that are parts of a date."""
_FEW_TEXTS = 60
"""Different texts of a column that one is called by a part of."""
_NEAR = 3
"""Words between the name of a column and a word within its texts at most."""
_MARKS = re.compile(
    r"[\"'“‘]$|(?:called|named|titled|contain(?:s|ing)?|mention(?:s|ed|ing)?|includ(?:e|es|ing)|words?|about|like|with)\s"
    r"(?:(?:the|a|an|word|name)\s)*[\"'“‘]?$",
    re.I,
)
"""What a word follows that is a part of a text."""
_NO_SIGN = ("not", "between")
_NOUN = re.compile(r"\s?[a-z]+(?:\s[a-z]+){0,3}?\s(?=(?:or|and)\s)", re.I)
"""What stands between a number and the words that say of which side of it something is."""
_OF_WHAT = re.compile(r"\s?[a-z]+\sof\s(?:the\s)?", re.I)
"""What stands between a number and what it is a number of: the grams of 12 grams of sugar."""
_METRES = re.compile(r"\d\s?m\s*$")
_AGED = re.compile(r"세(?!기|대)|살|[- ]?years?[- ]olds?", re.I)
"""What follows an age."""


class Filters:
    """The filters that a question may mean."""

    def __init__(self, q: QuestionInTable) -> None:
        self.q = q

    def value_readings(self) -> Iterator[tuple[list[Filter], frozenset[int], float]]:
        """Yield what the words of values may stand for: filters, their tokens, and how well they fit."""
        spans: list[tuple[frozenset[int], list[ValueLink]]] = []
        for link in self.q.links.values:
            places = frozenset(range(link.first, link.last + 1))
            of_table = not link.whole and TABLE_NOUN.match(self.q.text[self.q.tokens[link.last].end :])
            compared = link.first == link.last and self._is_compared(self.q.tokens[link.first])
            if of_table or compared or places <= self.q.describing & self.q.links.guessed.keys():
                continue  # it says what the table is of
            known = next((one for one in spans if one[0] == places and one[1][0].whole == link.whole), None)
            if known is not None:
                known[1].append(link)
            elif not any(places & taken for taken, _ in spans) and self._is_value(link, places):
                spans.append((places, [link]))
        options = []
        for places, rivals in spans:
            rated = sorted(((self._fitness(link), link) for link in rivals), key=lambda one: -one[0])
            best = rated[0][0]
            coded = rated[0][1].coded and len(self.q.tokens[min(places)].text) > 1
            named = (not coded and self._is_name(rated[0][1], places)) or self._only_contains(rated[0][1])
            written = " ".join(self.q.tokens[n].text for n in sorted(places)) in rated[0][1].values
            both = (
                written and rated[0][1].whole and not self.q.has("sum", "average", "median")
            )  # who won a seat may also have a column of votes
            kept: list[tuple[float, ValueLink | None]] = [(fit - best - 0.3 * named, one) for fit, one in rated]
            kept = kept if both or not named else []
            options.append(kept[:CHOICES] + ([(0.0, None)] if named else []))
        for chosen in list(product(*options))[:_MOST_READINGS]:
            made: dict[tuple[str, bool, bool], Filter] = {}
            used: set[int] = set()
            for (_, read), (places, _) in sorted(
                zip(chosen, spans, strict=True), key=lambda one: min(one[1][0]) if self._excludes else 0
            ):
                if read is None:
                    continue
                used |= places
                words = " ".join(self.q.tokens[n].text for n in sorted(places))
                key = (read.column, read.whole, self._excludes is not None and min(places) >= self._excludes)
                known_filter = made.get(key)
                values = (*(known_filter.values if known_filter else ()), *read.values)
                said = f"{known_filter.said} {words}" if known_filter else words
                items = self.q.column(read.column).items
                op = "has" if not read.whole else "item" if items.issuperset(values) else "is"
                made[key] = Filter(read.column, op, tuple(dict.fromkeys(values)), said)
            filters = self._of_either([*made.values()])
            yield [self.negated(one) for one in filters], frozenset(used), sum(one[0] for one in chosen)

    def _of_either(self, filters: Sequence[Filter]) -> list[Filter]:
        """Return filters with words that no text of a column has together as the texts that have one of them."""
        kept: dict[tuple[str, str], Filter] = {}
        for one in sorted(filters, key=lambda one: one.op != "is"):
            known, words = kept.get((one.column, "is")), [str(value) for value in one.values]
            if one.op == "has" and (known or len(words) > 1):
                held = {word: self._texts_with(one.column, word) for word in words}
                few = all(0 < len(texts) <= CHOICES for texts in held.values())
                if few and not frozenset.intersection(*held.values(), *([frozenset(known.values)] if known else [])):
                    texts = dict.fromkeys(
                        [*(known.values if known else ()), *(t for v in held.values() for t in sorted(v))]
                    )
                    said = f"{known.said} {one.said}" if known else one.said
                    one = Filter(one.column, "is", tuple(texts), said)
            kept[one.column, one.op if one.op != "not" else f"not {len(kept)}"] = one
        return list(kept.values())

    def _texts_with(self, name: str, word: str) -> frozenset[str | float]:
        """Return the texts of a column that have a word, or one that begins so."""
        start = word.removesuffix("*")
        texts = self.q.column(name).values
        return frozenset(
            t for t in texts if any(w == word or (start != word and w.startswith(start)) for w in words_of(t))
        )

    @cached_property
    def _excludes(self) -> int | None:
        """The first word of an English question that what is to be left out stands behind: "foreign, not US"."""
        if self.q.korean:
            return None
        ends = [end for _, end in self.q.comparisons.get("not", ())]
        return next((n for n, token in enumerate(self.q.tokens) if any(0 <= token.start - e <= 5 for e in ends)), None)

    def _is_compared(self, token: Token) -> bool:
        """Whether a word is a number that something is more or less than, and no text."""
        return token.kind == "number" and bool(self._sign(token))

    def _is_value(self, link: ValueLink, places: frozenset[int]) -> bool:
        """Whether numbers that are also texts of a column stand beside other words of it (`5.56 mm rifles`)."""
        if link.whole or any(self.q.tokens[n].number is None for n in places):
            return True
        others = (one for one in self.q.links.values if one.column == link.column and one is not link)
        return any(0 < abs(one.first - link.first) <= 2 for one in others)

    def _fitness(self, link: ValueLink) -> float:
        """Return how well a column fits a value: named beside it, with other values of it, not one row of many."""
        near = range(max(0, link.first - 2), min(len(self.q.tokens), link.last + 3))
        beside = max((self.q.links.columns[n].get(link.column, 0.0) for n in near), default=0.0)
        words = {term for word in words_of(link.column) for term in (word, *lexicon().alike.get(word, ()))}
        korean = [
            term for term in words if "가" <= term[0] <= "힣"
        ]  # `번역팀` of a column `팀`, `오하이오주` of `state`
        team = any(len(form) > len(t) and form.endswith(t) for form in self.q.tokens[link.last].forms for t in korean)
        beside = 1.5 if team else 1.0 if self._leads_to(link) else beside
        if any(link.column in self.q.links.columns[n] for n in self.q.counted_nouns):
            beside = -1.0  # "how many counties in Ohio" are no counties called so
        shared = sum(one.column == link.column for one in self.q.links.values) > 1
        exact = any(value in self.q.text for value in link.values)
        column = self.q.column(link.column)
        label = label_of(self.q.table)
        is_label = label is not None and label.name == link.column and not self.q.has("count")
        rare = 0.3 * (link.whole and self.q.unique(link.column) and self.q.has("count", "share", "average"))
        rivals = sum(one.count for one in self.q.links.values if (one.first, one.last) == (link.first, link.last))
        size = 0.3 * link.count / max(1, rivals) - 0.1 * min(1.0, column.distinct / max(1, self.q.table.rows))
        return (
            0.5 * (beside >= LIKELY)
            + 1.5 * (beside > 1)
            - 0.3 * (beside < 0)
            + 0.2 * shared
            + 0.15 * is_label
            + 0.1 * exact
            + size
            - rare
        )

    def _leads_to(self, link: ValueLink) -> bool:
        """Whether words say that something goes from a value, or to it, and a column holds where from or where to."""
        before, after = self.q.text[: self.q.tokens[link.first].start], self.q.text[self.q.tokens[link.last].end :]
        said = [korean.match(after) or english.search(before) for korean, english, _ in lexicon().ways]
        held = [bool(words & {*words_of(link.column)}) for _, _, words in lexicon().ways]
        return any(one and other for one, other in zip(said, held, strict=True))

    def _is_name(self, link: ValueLink, places: frozenset[int]) -> bool:
        """Whether the words of a value rather name a column, or the table."""
        column = max((max(self.q.links.columns[n].values(), default=0.0) for n in places), default=0.0)
        if not link.whole:
            return column >= LIKELY or any(self.q.links.named.get(n, 0) >= 0.8 for n in places)
        said = " ".join(self.q.tokens[n].text for n in sorted(places))
        if len(places) > 1 or (re.search("[_0-9]", said[1:]) and said in link.values):
            return False
        (n,) = places
        names = {name for name, likely in self.q.links.columns[n].items() if likely >= NAMED}
        if any(name != link.column and self.q.said[name].coverage >= 1.8 for name in names):
            return True
        if self.q.superlative and any(self.q.column(name).kind == "number" for name in names - {link.column}):
            return True  # "the cheapest grill" by what grills cost
        spoken = {key_of(form) for form in self.q.tokens[n].forms}
        other = names - {link.column} or self.q.links.named.get(n, 0) >= CALLED
        if other and not spoken & {key_of(value) for value in link.values}:
            return True
        return any(key_of(name) in spoken or words_of(name) == (self.q.tokens[n].forms[-1],) for name in names)

    def _only_contains(self, link: ValueLink) -> bool:
        """Whether a word only stands within a text, and limits nothing: a common one where most or least is asked for,
        or where the same column has a whole value.
        """
        if link.whole:
            return False
        if self.q.is_asked_for(link.last) or not self._is_marked(link):  # "which substance" is none that is called so
            return True
        whole = [one for one in self.q.links.values if one.whole and one.column == link.column]
        few = self.q.column(link.column).distinct <= _FEW_TEXTS and link.count == 1
        apart = all(max(link.first - one.last, one.first - link.last) > 1 for one in whole)
        if whole and few and apart and not self.q.tokens[link.first].text[0].islower():
            return False  # another one is named by a part of it: "Starbucks or Dunkin'"
        return bool(whole) or (self.q.superlative and not self.q.tokens[link.first].text[0].isupper())

    def _is_marked(self, link: ValueLink) -> bool:
        """Whether a word within what each row is called is said as a name or a text: no verb is that, or any noun."""
        token, column = self.q.tokens[link.first], self.q.column(link.column)
        tells_rows = 2 * column.distinct > column.filled
        if not (token.text.isascii() and token.text.islower() and tells_rows):
            return True
        near = range(max(0, link.first - _NEAR), min(len(self.q.tokens), link.last + _NEAR + 1))
        named = any(self.q.links.columns[n].get(column.name, 0.0) >= LIKELY for n in near)
        before = self.q.text[: token.start]
        return named or link.first in self.q.counted_nouns or _MARKS.search(before) is not None

    def negated(self, one: Filter) -> Filter:
        at = self.q.text.find(one.said.split()[0])
        denied = {"is": "not", "item": "no_item"}.get(one.op, one.op)
        lacking = self.q.operations.get("empty", ()) if one.op == "is" and self.q.flag(one.column) else ()
        for start, end in (*self.q.comparisons.get("not", ()), *lacking):
            if 0 <= at - end <= 5 or 0 <= start - (at + len(one.said)) <= 3:
                return replace(one, op=denied)
        if one.op == "is" and any(start < at < end for start, end in self.q.operations.get("negation", ())):
            return replace(one, op="not")  # "still to pay"
        return one

    def number_filters(self, skipped: frozenset[int], measure: str) -> tuple[list[Filter], frozenset[int]]:
        """Return the filters that times and numbers make, and the tokens of these."""
        made: list[Filter] = []
        used: set[int] = set()
        time = self.q.time_column()
        named = self.q.links.named.keys()  # of a year in its name, a table has no other ones
        numbers = frozenset(  # 1000 is no year
            n for n, token in enumerate(self.q.tokens) if time and _far(token, time, 0 if n in named else _FAR)
        )
        calendar = self._calendar
        for one in periods(self.q.tokens, self.q.text, skipped | numbers, list(self.q.comparisons)):
            filters = one.parts(calendar) or ((one.filter(time),) if time else ())
            if filter_ := [each for each in filters if each]:
                made += filter_
                used |= one.tokens
        if len(made) > 1:
            made = _months_together(made)
        for n, token in enumerate(self.q.tokens):
            if (
                n in used
                or n in skipped
                or self._is_limit(token)
                or (value := self.q.ordinals.get(n, _number(token))) is None
            ):
                continue
            hit = self._number_filter(n, value, measure)
            if hit is not None:
                made += [] if hit[0] in made else [hit[0]]
                used |= hit[1]
        unique = {(one.column, one.op, one.values): one for one in made}
        return _either([*unique.values()]), frozenset(used)

    def _is_limit(self, token: Token) -> bool:
        """Whether a number says how many of the first or last are asked for: `상위 3개`, "top 3"."""
        spans = self.q.spans("top", "bottom")
        before = self.q.text[: token.start].rstrip()
        return any(end == len(before) for _, end in spans)

    @cached_property
    def _calendar(self) -> dict[str, str]:
        """The columns of numbers that are the year, month and day of a row, where the month has one of its own."""
        numbers = [c for c in self.q.table.columns if c.kind == "number"]
        named = {part: [c for c in numbers if key_of(c.name) in names] for part, names in PARTS_OF_DAYS.items()}
        found = {part: columns[0].name for part, columns in named.items() if columns}
        month = self.q.column(found["month"]) if "month" in found else None
        return found if month and 1 <= month.low <= month.high <= 12 else {}

    def _number_filter(self, n: int, value: float, measure: str) -> tuple[Filter, set[int]] | None:
        """Return how a number limits a column: compared with it, between two, or equal where it stands beside it."""
        token = self.q.tokens[n]
        later = next(
            (m for m in range(n + 1, min(n + 4, len(self.q.tokens))) if self.q.tokens[m].number is not None), n
        )
        said = later != n and _BETWEEN.match(self.q.text[token.end : self.q.tokens[later].start].strip())
        between = said and ("between" in self.q.comparisons or not self.q.korean)
        sign = self._sign(token)
        far = [m for m in range(n + 2, n + 4) if self._is_of_what(n, m)]
        units = frozenset(range(n + 1, far[0] - 1)) if far else frozenset[int]()
        if sign or between:
            age = self._age(token)
            name = age.name if age else self._compared(n, token.unit, value) or measure
            if not name or (token.kind == "year" and not self.q.column(name).low <= value <= self.q.column(name).high):
                return None
            if between:
                high = float(self.q.tokens[later].number or 0)
                return Filter(name, "between", (value, high), f"{token.text}–{self.q.tokens[later].text}"), {n, later}
            return Filter(name, sign, (value / self._scale(name, value, token),), token.text), {n, *units}
        if (age := self._age(token)) and age.low <= value <= age.high:
            return Filter(age.name, "is", (value,), token.text), {n, *self._words_of(_AGED, token.end)}
        for near in (*far, n + 1, n - 1, n + 2, n - 2):
            if not 0 <= near < len(self.q.tokens):
                continue
            for name, likely in sorted(self.q.links.columns[near].items(), key=self._naming):
                column = self.q.column(name)
                counts = near > n and token.kind == "number" and self.q.is_key(name)  # 48 states are no state 48
                if counts or (token.unit == "년" and not column.years):
                    continue
                key = near == n - 1 and column.whole and self.q.is_key(name)
                small = (key or column.distinct <= 200) and column.low <= value <= column.high
                if likely >= (LOOSE if near == n - 1 else LIKELY) and column.kind == "number" and small:
                    return Filter(name, "is", (value,), token.text), {n, near, *units}
        return None

    def _is_of_what(self, n: int, m: int) -> bool:
        """Whether a word is what a number before it is a number of, in units: the sugar of 12 grams of sugar."""
        if m >= len(self.q.tokens) or self.q.korean:
            return False
        return _OF_WHAT.fullmatch(self.q.text[self.q.tokens[n].end : self.q.tokens[m].start]) is not None

    def _age(self, token: Token) -> Column | None:
        """Return the column of ages, where a number is one: `65세`, "40 years old"."""
        start = token.end - len(token.unit)
        if not _AGED.match(self.q.text, start) or token.kind != "number":
            return None
        ages = (c for c in self.q.figures() if not lexicon().alike["age"].isdisjoint(words_of(c.name)))
        return next(ages, None)

    def _words_of(self, expression: re.Pattern[str], start: int) -> frozenset[int]:
        """Return the words that an expression takes up which stands at a place."""
        end = match.end() if (match := expression.match(self.q.text, start)) else start
        return frozenset(n for n, token in enumerate(self.q.tokens) if start <= token.start < end)

    def _scale(self, name: str, value: float, token: Token) -> float:
        """Return in how many a column counts that a number is compared with: 1e6 where the header says `million`.

        The m of a number that is too high for it are metres, no millions.
        """
        column, known = self.q.column(name), lexicon().scales
        if column.unit == "만원" and token.unit == "원":
            return 1e4
        metres = known["m"] if _METRES.search(token.text) else 1.0
        scale = max((known.get(word, 1.0) for word in words_of(name) if len(word) > 2), default=metres)
        scale = scale if scale > 1 else metres
        return scale if column.high < value and value / scale <= column.high else 1.0

    def _naming(self, link: tuple[str, float]) -> tuple[float, float]:
        """Return by what the columns that a word may name are ordered: the likeliest, then the one said most of."""
        return -link[1], -(self.q.said[link[0]].coverage if link[0] in self.q.said else 0.0)

    def _compared(self, at: int, unit: str, value: float) -> str:
        """Return the column a number is compared with: the nearest one that words name."""
        best: tuple[float, str] = (0.0, "")
        for name, one in self.q.said.items():
            column = self.q.column(name)
            if column.kind == "number" and not (column.years and not unit):
                near = min(abs(n - at) for n in one.tokens)
                best = max(best, (one.likely * max(0.1, one.coverage) - 0.04 * near, name))
        numbers = self.q.figures()
        if not best[1] and len(numbers) > 1:  # of several, the one that has such figures
            numbers = [column for column in numbers if column.low <= value <= column.high]
        return best[1] or (numbers[0].name if len(numbers) == 1 else "")

    def _sign(self, token: Token) -> str:
        """Return how a number is compared: by what stands after it, or right before it."""
        after, before = self.q.text[token.end : token.end + 14], self.q.text[max(0, token.start - 22) : token.start]
        best: tuple[int, str] = (99, "")
        for name, expression in lexicon().comparisons.items():
            for match in expression.finditer(after) if name not in _NO_SIGN else ():
                if not re.search(r"[,;]|\d|(?<=\s)(?:in|of|with|and)\s", after[: match.start()]):
                    best = min(best, (match.start(), name))
            for match in expression.finditer(before) if name not in _NO_SIGN else ():
                gap = before[match.end() :]
                if not re.search(r"[가-힣]|\d", match.group()) and len(gap.split()) <= 1 and not re.search(r"\d", gap):
                    best = min(best, (len(gap), name))
        if not best[1] and (noun := _NOUN.match(self.q.text, token.end)):  # "12 grams of sugar or more"
            following = ((expression.match(self.q.text, noun.end()), name) for name, expression in _bounds())
            return next((name for match, name in following if match), "")
        return best[1]

    def with_flags(self) -> Iterator[tuple[list[Filter], frozenset[int], float]]:
        """Yield what the words of values may stand for, also with the columns of yes and no that are named."""
        lacking = self.q.lacking()
        for values, used, fit in self.value_readings():
            if lacking:
                yield [*values, lacking], used | self.q.pair_tokens, fit
                continue
            yield values, used, fit
            flags: dict[str, Filter] = {}
            named = set()
            for n, token in enumerate(self.q.tokens):
                if n not in used and (flag := self._named_flag(n, token, {one.column for one in values})):
                    flags.setdefault(flag.column, flag)
                    named.add(n)
            if flags:
                yield [*values, *flags.values()], used | named, fit

    def _named_flag(self, n: int, token: Token, taken: set[str]) -> Filter | None:
        """Return the filter of a column of yes and no that a word names, or with `un` before it denies."""
        beside = [near.number for near in (*self.q.tokens[max(0, n - 2) : n], *self.q.tokens[n + 1 : n + 3])]
        for column in self.q.table.columns:
            if column.kind == "number" and any(number is not None for number in beside):
                continue  # `employed = 1` says its value itself
            name = key_of(column.name)
            denied = token.text.casefold() in (f"un{name}", f"non{name}", f"non-{name}")
            likely = self.q.links.columns[n].get(column.name, 0.0)
            denied = denied or (likely > 0 and bool(noun_denied(token.text)))
            alone = n not in self.q.operators or len(words_of(column.name)) == 1
            meant = n in self.q.links.likely and not {*lexicon().persons, *lexicon().rows}.intersection(token.forms)
            named = (likely >= NAMED and alone) or (likely >= LIKELY and meant)
            mine = self.q.said[column.name].coverage if column.name in self.q.said else 0.0
            if any(self.q.said[other].coverage > mine for other in self.q.links.columns[n].keys() & self.q.said.keys()):
                continue  # "concern flag" is no other flag
            if column.name in taken or (flag := self.q.flag(column.name)) is None:
                continue
            made = replace(flag, op="not", said=token.text) if denied else self.negated(replace(flag, said=token.text))
            if named or denied or (likely >= LOOSE and made.op == "not"):
                return made
        return None


def _either(filters: Sequence[Filter]) -> list[Filter]:
    """Return filters with several numbers or years of one column as one: no row has two of them."""
    made: dict[tuple[object, ...], Filter] = {}
    for one in filters:
        key = (one.column, one.op, *(() if one.op in ("is", "year") else one.values))
        known = made.get(key)
        made[key] = replace(one, values=(*known.values, *one.values), said=f"{known.said} {one.said}") if known else one
    return list(made.values())


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


def _bounds() -> Iterator[tuple[str, re.Pattern[str]]]:
    return ((name, one) for name, one in lexicon().comparisons.items() if name not in _NO_SIGN)


def _far(token: Token, time: Column, years: int) -> bool:
    number = float(token.number or 0) - time.century
    return token.kind == "year" and not time.low - years <= number <= time.high + years


def _number(token: Token) -> float | None:
    """Return the number a token is, an ordinal's too; None for words, years and months."""
    if token.kind == "number":
        return token.number
    ordinal = re.fullmatch(r"(\d+)(?:st|nd|rd|th|등[석실]?)", token.text)
    return float(ordinal[1]) if ordinal else token.number if token.kind == "year" else None
