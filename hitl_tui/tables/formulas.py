"""Figures that a question makes of two columns itself: "price times quantity", `매출에서 비용을 뺀 이익`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hitl_tui.tables.links import columns_of
from hitl_tui.tables.profile import Table
from hitl_tui.tables.query import Formula
from hitl_tui.tables.words import Sign, Token, is_ending, lexicon, words_of

_NAMES = 0.75
"""How likely a word has to stand for a column that a formula is made of."""
_LONGEST = 4
"""Words of a column's name at most."""
_JOINS = re.compile(r"(?:과|와|랑|하고|에|에서|에다|을|를|의)$")
"""How the first of two columns ends in Korean: the words before it are its own."""
_NAMED_SO = re.compile(
    r"\s?(?:\(\s?(?:=\s?)?|=|:)\s?(?:the\s)?$|,?\s(?:as|i\.e\.,?|that is,?|which is|meaning|defined as)\s(?:the\s)?$",
    re.I,
)
"""What stands between what a figure is called and how it is made: "profit = price minus cost"."""
_APPOSED = re.compile(r",\s(?:the\s)?$"), re.compile(r"\s?,")
_DETERMINERS = frozenset(("the", "its", "their", "each"))
_BETWEEN = frozenset(("and", "by", "with", "to", "the", "its"))
"""Words between two columns behind what is made of both: "the product of price and quantity"."""
_BESIDE = re.compile(r"(?:과|와|랑|하고|에|에서|에다|을|를|의|로|으로)?\s?(?:(?:the|its|their|each)\s)?", re.I)
"""What stands between a column and a sign, or another column: the particle of a name in Latin letters, too."""
_OF_A_NAME = frozenset(("per", "of"))
"""Words within what a figure is called: "price per unit"."""
_DETERMINES = re.compile(r"[한눈뺀은]$")
"""How a Korean verb ends before the noun that it says of what it is: `곱한 매출`."""
_OPERATIONS = ("average", "median", "deviation", "sum", "count", "top", "bottom", "how_much")


@dataclass(frozen=True, slots=True)
class Stated:
    """Arithmetic that a question states.

    Args:
        formula: what it makes of two columns; None where it isn't one that rows can be asked for.
        said: the words of it.
        tokens: those that say it, with what it is called.
        spans: where they stand.
    """

    formula: Formula | None
    said: str
    tokens: frozenset[int] = frozenset()
    spans: tuple[tuple[int, int], ...] = ()


def stated_in(text: str, tokens: Sequence[Token], table: Table) -> Stated | None:
    """Return the arithmetic that a question states on columns of a table, if any."""
    signs = list(_signs(text))
    numbers = {column.name for column in table.columns if column.kind == "number"} if signs else set[str]()
    columns = [
        {name: rate for name, rate in columns_of(token, table).items() if rate >= _NAMES and name in numbers}
        for token in (tokens if numbers else ())
    ]
    made: dict[Formula, Stated] = {}
    open_: list[tuple[int, int]] = []
    for sign, start, end in signs if any(columns) else ():
        sides = _sides(sign, start, end, text, tokens, columns)
        formula = _formula(sign, *sides) if sides else None
        if sides is None or formula is None or _goes_on(text, tokens, sides):
            open_ += [(start, end)] if sides or _is_meant(sign, start, end, text, tokens, columns) else []
            continue
        mine = {n for side in sides for n in side.tokens}
        mine |= {n for n, token in enumerate(tokens) if start < token.end and token.start < end}
        whole = min(start, *(tokens[n].start for n in mine)), max(end, *(tokens[n].end for n in mine))
        called = set(_called(text, tokens, columns, whole, mine))
        spans = (whole, *((tokens[n].start, tokens[n].end) for n in called))
        known = made.get(formula, Stated(formula, ""))
        said = text[slice(*whole)].strip()
        made[formula] = Stated(formula, said, known.tokens | mine | called, known.spans + spans)
    done = [span for one in made.values() for span in one.spans]
    left = [text[a:b].strip() for a, b in open_ if not any(a < end and start < b for start, end in done)]
    if left or len(made) > 1:
        return Stated(None, left[0] if left else next(iter(made.values())).said)
    return next(iter(made.values()), None)


def _signs(text: str) -> Iterator[tuple[Sign, int, int]]:
    """Yield where words and signs of arithmetic stand."""
    for sign in lexicon().signs:
        for expression in (sign.between, sign.behind, sign.before):
            yield from ((sign, *match.span()) for match in (expression.finditer(text) if expression else ()))


@dataclass(frozen=True, slots=True)
class _Side:
    """What stands beside a sign: the columns that it may name, how likely, and its tokens, the nearest first."""

    rates: Mapping[str, float]
    tokens: Sequence[int]


def _formula(sign: Sign, left: _Side, right: _Side) -> Formula | None:
    """Return what two sides make; None where it isn't clear which two columns they name."""
    pairs = [(a, b) for a in left.rates for b in right.rates if a != b]

    def likely(pair: tuple[str, str]) -> tuple[float, int]:
        return left.rates[pair[0]] + right.rates[pair[1]], -sum(len(words_of(name)) for name in pair)

    best = sorted(pairs, key=likely, reverse=True)
    alike = {frozenset(pair) if sign.name in "×+" else pair for pair in best if likely(pair) == likely(best[0])}
    return Formula(best[0][0], sign.name, best[0][1]) if len(alike) == 1 else None


def _sides(
    sign: Sign, start: int, end: int, text: str, tokens: Sequence[Token], columns: Sequence[dict[str, float]]
) -> tuple[_Side, _Side] | None:
    """Return what a sign joins; None where it joins no two columns of numbers."""
    glued = (n for n, (a, b) in enumerate(pairwise(tokens), start=1) if a.end == b.start)
    particles = {n for n in glued if is_ending(tokens[n].text)}  # those of names in Latin letters
    words = [n for n, token in enumerate(tokens) if n not in particles and token.text.lower() not in _DETERMINERS]
    before, after = [n for n in words if tokens[n].end <= start][::-1], [n for n in words if tokens[n].start >= end]
    said = text[start:end]
    if sign.behind.fullmatch(said):
        right = _side(before, tokens, columns)
        left = _side(before[len(right.tokens) :], tokens, columns)
        if not (left.rates and right.rates and _JOINS.search(text[: tokens[right.tokens[-1]].start].rstrip())):
            return None
        ends = (tokens[left.tokens[0]].end, tokens[right.tokens[-1]].start), (tokens[right.tokens[0]].end, start)
        return (left, right) if all(_touch(text, *one) for one in ends) else None
    if sign.before and sign.before.fullmatch(said):
        left = _side(after, tokens, columns)
        rest = after[len(left.tokens) :]
        while rest and tokens[rest[0]].text.lower() in _BETWEEN:
            rest = rest[1:]
        right = _side(rest, tokens, columns)
        if not (left.rates and right.rates and _touch(text, end, tokens[left.tokens[0]].start)):
            return None
        between = text[tokens[left.tokens[-1]].end : tokens[right.tokens[0]].start].split()
        return (left, right) if between and {*map(str.lower, between)} <= _BETWEEN else None
    left, right = _side(before, tokens, columns), _side(after, tokens, columns)
    if not (left.rates and right.rates):
        return None
    beside = _touch(text, tokens[left.tokens[0]].end, start) and _touch(text, end, tokens[right.tokens[0]].start)
    return (left, right) if beside else None


def _touch(text: str, end: int, start: int) -> bool:
    return _BESIDE.fullmatch(text[end:start]) is not None


def _goes_on(text: str, tokens: Sequence[Token], sides: tuple[_Side, _Side]) -> bool:
    """Whether what two sides make is only part of a longer formula."""
    mine = [tokens[n] for side in sides for n in side.tokens]
    first, last = min(token.start for token in mine), max(token.end for token in mine)
    signs = [match.span() for sign in lexicon().signs for match in sign.between.finditer(text)]
    return any(0 <= first - end <= 1 or 0 <= start - last <= 1 for start, end in signs)


def _side(order: Sequence[int], tokens: Sequence[Token], columns: Sequence[dict[str, float]]) -> _Side:
    """Return the columns that the nearest tokens name; none where the very nearest names none.

    Args:
        order: the tokens from the sign on.
        tokens: all tokens.
        columns: the columns of numbers that each may stand for.
    """
    if not order:
        return _Side({}, ())
    named, rates = [order[0]], dict(columns[order[0]])
    for near, n in list(pairwise(order))[: _LONGEST - 1] if rates else ():
        first, last = sorted((near, n))
        also = {name: rate for name, rate in columns[n].items() if name in rates}
        if tokens[last].start - tokens[first].end != 1 or not also or (n < near and _JOINS.search(tokens[n].text)):
            break
        rates = {name: rates[name] + rate for name, rate in also.items()}
        named.append(n)
    return _Side(rates, named)


def _is_meant(
    sign: Sign, start: int, end: int, text: str, tokens: Sequence[Token], columns: Sequence[dict[str, float]]
) -> bool:
    """Whether words that join no two columns ask for arithmetic all the same: "price times 2"."""
    if not sign.sure or not sign.sure.fullmatch(text[start:end].strip()):
        return False
    before = next((n for n in reversed(range(len(tokens))) if tokens[n].end <= start), -1)
    after = next((n for n, token in enumerate(tokens) if token.start >= end), -1)
    left = before >= 0 and bool(columns[before]) and _touch(text, tokens[before].end, start)
    right = after >= 0 and bool(columns[after]) and _touch(text, end, tokens[after].start)
    return left or (right and sign.name in "×÷")


def _called(
    text: str, tokens: Sequence[Token], columns: Sequence[dict[str, float]], whole: tuple[int, int], mine: set[int]
) -> Iterator[int]:
    """Yield the tokens that say what a formula makes: before it, or behind a Korean verb."""
    begins, ends = _APPOSED
    named = _NAMED_SO.search(text[: whole[0]])
    named = named or (begins.search(text[: whole[0]]) if ends.match(text, whole[1]) else None)
    if named:
        at = [n for n, token in enumerate(tokens) if token.end <= named.start()][::-1]
        for place, n in enumerate(at[:_LONGEST]):
            follows = tokens[at[place - 1]].start if place else named.start()
            if follows - tokens[n].end > (1 if place else 0) or _is_operation(tokens[n]):
                return
            goes_on = place and place + 1 < len(at) and not tokens[at[place + 1]].filler
            if tokens[n].filler and not (columns[n] or (goes_on and tokens[n].text.lower() in _OF_A_NAME)):
                return
            yield n
    last = max(mine)
    if _DETERMINES.search(tokens[last].text) and tokens[last].end == whole[1] and last + 1 < len(tokens):
        token = tokens[last + 1]
        if not (token.filler or _is_operation(token)) and token.start - whole[1] == 1:
            yield last + 1


def _is_operation(token: Token) -> bool:
    known = lexicon().operations
    return any(known[name].match(token.text) for name in _OPERATIONS) or known["each"].search(token.text) is not None
