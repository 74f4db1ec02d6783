"""Changes that a text states: from one amount to another, by an amount or a share, or from one time to the next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.analysis_model import QUERY, Source, Step
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import FALL, MOVES, RISE, matters, say
from hitl_tui.teams.number_format import exact, number, percent, shown

_REACH = 40
_ARROW = re.compile(r"\s?(?:→|⇒|➔|-{1,3}>|={1,3}>)\s?")
_FROM_RIGHT = re.compile(
    r"\s?(?:에서|부터|이?던|이?었|였|인데|이고|짜리|[을를]|(?:is|was)\s(?:the\s)?(?:current|old|previous))"
)
_FROM_LEFT = re.compile(
    r"(?:\b(?:from|was|were|currently|current|now\spay(?:ing)?)|기존|현재|지금|원래|종전)[^.,\d]{0,25}$"
)
_TO_RIGHT = re.compile(r"\s?(?:으로|로(?![가-힣])|로(?=\s|[올내인증감바변뛰늘줄미연옮])|까지|이\s?[됐되])")
_TO_LEFT = re.compile(r"\b(?:to|becomes?|became|wants|asks\sfor|demands|is\snow)\s[^.,\d]{0,12}$")
_BY_LEFT = re.compile(r"\b(?:by\s(?:about\s|some\s|up\sto\s)?|[a-z]+(?:crease|aise|ise|ut|uction|count|op)\sof\s)$")
_BY_RIGHT = re.compile(r"\s?(?:만큼|정도|씩)?\s?[을를이가]?\s?(?:더\s)?(?:rent\s|price\s)?([가-힣a-z]+)")
_BOUNDED = re.compile(r"\s?(?:이내|이하|이상|초과|미만|상한|한도)")
_LENDS = ("money", "count", "percent")
"""Kinds whose unit is often written once for two amounts."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change from one amount to another of the same kind.

    Args:
        before: the amount now; None when only a share is stated.
        after: the amount then; None when only a share is stated.
        by: the difference or share as stated; None when both amounts are.
        direction: 1 up, -1 down, 0 none.
    """

    before: Amount | None
    after: Amount | None
    by: Amount | None
    direction: int

    @property
    def percent(self) -> Fraction | None:
        """The change in percent of the amount before, exact; None when that is zero, a date, or not known."""
        if self.before is not None and self.after is not None:
            if not self.before.value or self.before.kind == "date":
                return None
            return (self.after.value - self.before.value) * 100 / self.before.value
        return abs(self.by.value) * self.direction if self.by and self.by.kind == "percent" else None

    def steps(self, language: str, sources: tuple[Source, ...] = (QUERY,)) -> list[Step]:
        """Return the amount after it where a share is stated, then difference, ratio and percentage."""
        before, after, ratio = self.before, self.after, self.percent
        if before is None or after is None:
            what = say(language, "말한 변동률", "The change as stated")
            told = self.by.text.strip() if self.by else ""
            return [Step(what, told, percent(abs(ratio)), exact(ratio), sources)] if ratio is not None else []
        old, new = shown_amount(before, language), shown_amount(after, language)
        if before.kind == "date":
            days = days_between(before, after)
            if not days:
                return []
            length = shown(Fraction(abs(days)), "duration", "day", language)
            side = say(language, "뒤", "later") if days > 0 else say(language, "앞", "earlier")
            what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
            return [Step(what, f"{new} − {old} = {length}", f"{length} {side}", str(days), sources)]
        steps = []
        if self.by is not None:
            sign = "+" if self.direction > 0 else "−"
            share = f"{old} × (1 {sign} {number(self.by.value, 4)} ÷ 100) = {new}"
            formula = share if self.by.kind == "percent" else f"{old} {sign} {shown_amount(self.by, language)} = {new}"
            what = say(language, "바뀐 뒤의 금액", "The amount after the change")
            steps.append(Step(what, formula, new, exact(after.value), sources))
        kind = "points" if before.kind == "percent" else before.kind
        difference = replace(before, kind=kind, value=after.value - before.value)
        apart = shown_amount(difference, language)
        formula = f"{new} − {old} = {apart}"
        steps.append(Step(say(language, "차액", "Difference"), formula, apart, exact(difference.value), sources))
        if ratio is not None:
            times = after.value / before.value
            told = number(times) + say(language, "배", " times")
            formula = f"{new} ÷ {old} = {told}"
            steps.append(Step(say(language, "배율", "Ratio"), formula, told, exact(times), sources))
            formula = f"({new} − {old}) ÷ {old} × 100 = {percent(ratio)}"
            what = say(language, "변동률", "Change in percent")
            steps.append(Step(what, formula, percent(ratio), exact(ratio), sources))
        return steps


def find_changes(text: str, amounts: Sequence[Amount]) -> tuple[Change, ...]:
    """Return the changes that a text states, surest first.

    Args:
        text: the text.
        amounts: `parse_amounts(text)`.
    """
    found: list[Change] = []
    used: set[int] = set()
    moving = bool(matters(text) & {RISE, FALL}) or MOVES.search(text) is not None
    for sure in (True, False) if moving else (True,):
        for index, (left, right) in enumerate(pairwise(amounts)):
            pair = _pair(text, left, right, sure=sure)
            change = None if pair is None or used & {index, index + 1} else _between(*pair)
            if change is not None:
                found.append(change)
                used |= {index, index + 1}
    for index, amount in enumerate(amounts):
        if index not in used and _is_by(text, amount):
            free = [other for i, other in enumerate(amounts) if i not in used and other is not amount]
            change = _by(text, amount, free)
            found += [] if change is None else [change]
            used.add(index)
    return tuple(found)


def _pair(text: str, left: Amount, right: Amount, *, sure: bool) -> tuple[Amount, Amount] | None:
    """Return the two as from and to, where the words between and beside them say so."""
    between = text[left.end : right.start]
    if len(between) > _REACH:
        return None
    if sure:
        plain = between.strip() == "에서" and not _is_by(text, right)
        future = between.endswith("will be ") and text[: left.start].endswith("is ")
        if plain or future or _ARROW.fullmatch(between) or (_to(text, right) and _from(text, left)):
            return left, right
        return (right, left) if _to(text, left) and _from(text, right) else None
    likely = _to(text, right) or between.strip() == "to" or (_from(text, left) and not _is_by(text, right))
    return (left, right) if likely else None


def _left(text: str, amount: Amount) -> str:
    return text[max(0, amount.start - _REACH) : amount.start].lower()


def _right(text: str, amount: Amount) -> str:
    return text[amount.end : amount.end + _REACH].lower()


def _from(text: str, amount: Amount) -> bool:
    return bool(_FROM_RIGHT.match(_right(text, amount)) or _FROM_LEFT.search(_left(text, amount)))


def _to(text: str, amount: Amount) -> bool:
    return bool(_TO_RIGHT.match(_right(text, amount)) or _TO_LEFT.search(_left(text, amount)))


def _is_by(text: str, amount: Amount) -> bool:
    right = _right(text, amount)
    if _BOUNDED.match(right) or _TO_RIGHT.match(right):
        return False
    after = _BY_RIGHT.match(right)
    moved = after is not None and (matters(after[1]) & {RISE, FALL} or re.match(r"추가|(?:off|less|more)\b", after[1]))
    return bool(moved or _BY_LEFT.search(_left(text, amount)))


def _between(before: Amount, after: Amount) -> Change | None:
    pair = _alike(before, after)
    if pair is None or (before.year_like and after.year_like):
        return None
    direction = (pair[1].value > pair[0].value) - (pair[1].value < pair[0].value)
    return Change(*pair, None, direction)


def _alike(first: Amount, second: Amount) -> tuple[Amount, Amount] | None:
    """Return both with one kind and unit, what one leaves out taken from the other; None if they differ."""
    if not first.unit and second.kind in _LENDS and (first.scale == 1 or second.kind != "percent"):
        first = replace(first, kind=second.kind, unit=second.unit)
    elif not second.unit and first.kind in _LENDS and (second.scale == 1 or first.kind != "percent"):
        second = replace(second, kind=first.kind, unit=first.unit)
    if (first.kind, first.unit) != (second.kind, second.unit):
        return None
    if first.scale == 1 and second.scale >= 10**4 and 0 < first.value < 1000 and first.text.replace(".", "").isdigit():
        first = replace(first, value=first.value * second.scale, scale=second.scale)  # 3에서 5억 is 3억에서 5억
    return first, second


def _by(text: str, amount: Amount, others: Sequence[Amount]) -> Change | None:
    direction, share = _direction(text, amount), amount.kind == "percent"
    bases = [
        other
        for other in others
        if other.kind in ("money", "count") and not other.year_like
        and (share or (other.kind, other.unit) == (amount.kind, amount.unit))
        and abs(other.start - amount.start) <= 4 * _REACH
    ]  # fmt: skip
    if not direction or not (bases or share):
        return None
    if not bases:
        return Change(None, None, amount, direction)
    base = min(bases, key=lambda other: (not _from(text, other), abs(other.start - amount.start)))
    size = base.value * abs(amount.value) / 100 if share else abs(amount.value)
    after = replace(base, value=base.value + direction * size, text="", scale=max(base.scale, amount.scale))
    return Change(base, after, amount, direction)


def _direction(text: str, amount: Amount) -> int:
    """Return 1 for a rise and -1 for a fall; the words right after the amount count before those before it."""
    for part in (_right(text, amount)[:20], _left(text, amount), text.lower()):
        named = matters(part) & {RISE, FALL}
        if len(named) == 1:
            return 1 if RISE in named else -1
        if word := re.search(r"추가|더\s?[달내]|\b(?:more|off|less)\b", part):
            return -1 if word.group() in ("off", "less") else 1
    return 0
