"""Changes a question states, and the words for them: from one amount to another, or by an amount or a percentage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hitl_tui.teams.analysis.amounts import Amount

RISE = "rise"
FALL = "fall"

# Each concept with the stems that stand for it; Korean stems match inside words, Latin ones at their start.
_CONCEPTS: dict[str, tuple[str, ...]] = {
    RISE: ("증액", "인상", "올려", "올리", "올린", "올랐", "오르", "오른", "상승", "증가", "증감", "늘어", "늘리",
           "increas", "rais", "rise", "rising", "hike", "grow", "went up", "go up", "higher"),
    FALL: ("감액", "인하", "내려", "내리", "내린", "하락", "감소", "줄어", "줄이", "줄여",
           "decreas", "reduc", "lower", "cut", "drop", "fall", "went down", "go down", "declin"),
    "deposit": ("보증금", "전세금", "전세", "deposit", "jeonse"),
    "rent": ("차임", "임대료", "월세", "rent"),
    "price": ("매매가", "가격", "시세", "집값", "price"),
    "salary": ("연봉", "급여", "임금", "월급", "salary", "wage"),
    "budget": ("예산", "budget"),
    "cost": ("비용", "경비", "cost", "expens"),
    "storage": ("용량", "저장", "디스크", "storage", "disk"),
    "staff": ("인원", "직원", "staff", "headcount", "employee"),
    # Topics with rates and sums of their own: a limit on them is no limit on something else.
    "conversion": ("전환", "산정률", "conver", "turning deposit"),
    "interest": ("이자", "금리", "연체", "interest", "arrears"),
    "insurance": ("보증보험", "반환보증", "보증료", "보험", "insur", "guarantee"),
    "tax": ("세율", "과세", "tax"),
    "fee": ("수수료", "중개보수", "fee"),
    "discount": ("할인", "discount"),
    "loan": ("대출", "loan"),
    "claim": ("소액사건", "small-claims", "small claims"),
    "deadline": ("통지", "신청을 받은", "notice", "application"),
}  # fmt: skip

SUBJECTS = ("deposit", "rent", "price", "salary", "budget", "cost", "storage", "staff")
TOPICS = ("conversion", "interest", "insurance", "tax", "fee", "discount", "loan", "claim", "deadline")

_STEMS = {
    concept: re.compile(
        "|".join(rf"(?<![a-z]){re.escape(stem)}" if stem.isascii() else re.escape(stem) for stem in stems)
    )
    for concept, stems in _CONCEPTS.items()
}
_RENT_TERMS = re.compile(r"전세\s?(?:금|보증금)?\s?반환\s?보증|전세\s?보증\s?보험")
_WORD = re.compile(r"[가-힣]{2,}|[a-z]{4,}")
_PARTICLES = re.compile(
    r"(?<=[가-힣]{2})(?:으로부터|에서는|으로는|에서|으로|에게|까지|부터|이나|은|는|이|가|을|를|의|에|로|과|와|도|만)$"
)
_COMMON = frozenset(
    ["경우", "대한", "대하여", "관한", "있다", "없다", "한다", "이다", "그리고", "또는", "다만", "해당", "알려줘",
     "방법", "this", "that", "with", "from", "have", "must", "what", "when", "which", "than", "more", "most", "into",
     "only", "their", "they", "been", "were", "will", "would", "should", "over", "under", "them", "your"]
)  # fmt: skip


def concepts(text: str) -> frozenset[str]:
    """Return the concepts a text names, in Korean or English."""
    lowered = text.lower()
    found = {concept for concept, stems in _STEMS.items() if stems.search(lowered)}
    if "insurance" in found and not _STEMS["deposit"].search(_RENT_TERMS.sub("", lowered)):
        found.discard("deposit")
    return frozenset(found)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something: Hangul without particles, Latin cut to six letters."""
    words = set()
    for word in _WORD.findall(text.lower()):
        stem = _PARTICLES.sub("", word) if "가" <= word[0] <= "힣" else word[:6]
        if stem not in _COMMON and word not in _COMMON:
            words.add(stem)
    return frozenset(words)


def language_of(text: str) -> str:
    """Return `ko` for a text with any Hangul syllable, else `en`."""
    return "ko" if re.search(r"[가-힣]", text) else "en"


_REACH = 40
_ARROW = re.compile(r"\s?(?:→|⇒|➔|-{1,3}>|={1,3}>)\s?")
_FROM_RIGHT = re.compile(
    r"\s?(?:에서|을|를|이던|이었던|였던|이었는데|였는데|인데|이고|짜리|인\s|부터|이었|였|(?:is|was)\s(?:the\s)?(?:current|old|previous))"
)
_FROM_LEFT = re.compile(
    r"(?:(?<![a-z])(?:from|was|were|currently|current|now\spay(?:ing)?)[^.,\d]{0,25}|(?:기존|현재|지금|원래|종전)[^.,\d]{0,15})$"
)
_TO_RIGHT = re.compile(r"\s?(?:으로|로(?=[^가-힣]|\s|$|[올내인증감바변])|까지|이\s?됐|이\s?되)")
_TO_LEFT = re.compile(r"(?:(?<![a-z])(?:to|become|becomes|wants|asks\sfor|demands|is\snow)\s[^.,\d]{0,12})$")
_BY_LEFT = re.compile(
    r"(?:(?<![a-z])by\s(?:about\s|some\s|up\sto\s)?|(?:increase|raise|rise|decrease|cut|reduction|discount)\sof\s)$"
)
_MOVE = (
    r"올[려리린랐]|인상|증액|상승|오[르른]|늘[리려어]|추가|더\s?[달내]|내[려리린]|인하|감액|하락|줄[이여어]|할인|"
    r"increase|raise|rise|hike|more|higher|decrease|cut|reduction|discount|lower|less|off"
)
_BY_RIGHT = re.compile(rf"\s?(?:만큼|정도|씩)?\s?(?:을|를|이|가)?\s?(?:더\s)?(?:rent\s|price\s)?(?:{_MOVE})")
_PLAIN_FROM = re.compile(r"에서\s?")
_LIKELY = re.compile(r"\s?to\s")
_LIMIT_NEAR = re.compile(r"\s?(?:이내|이하|이상|초과|미만|상한|한도)")


@dataclass(frozen=True, slots=True)
class Change:
    """A change from one amount to another of the same kind.

    Args:
        before: the amount now; None when only a percentage is stated.
        after: the amount asked for; None when only a percentage is stated.
        by: the difference or percentage as stated; None when both amounts are.
        direction: 1 up, -1 down, 0 none.
        inherited: places or currency of one amount were taken over from the other.
    """

    before: Amount | None
    after: Amount | None
    by: Amount | None
    direction: int
    inherited: bool = False

    @property
    def difference(self) -> Fraction | None:
        """After minus before, in their unit."""
        if self.before is None or self.after is None:
            return None
        return self.after.value - self.before.value

    @property
    def percent(self) -> Fraction | None:
        """The change in percent of the amount before, exact; None when that is zero or not known."""
        if self.before is not None and self.after is not None:
            difference = self.after.value - self.before.value
            return None if self.before.value == 0 else difference * 100 / self.before.value
        if self.by is not None and self.by.kind == "percent":
            return abs(self.by.value) * self.direction
        return None


def find_changes(text: str, amounts: Sequence[Amount]) -> tuple[Change, ...]:
    """Return the changes a text states, in order.

    Args:
        text: the question.
        amounts: `parse_amounts(text)`.
    """
    found: list[Change] = []
    used: set[int] = set()
    for first, second in _pairs(text, amounts):
        if first in used or second in used:
            continue
        change = _between(amounts[first], amounts[second])
        if change is not None:
            found.append(change)
            used |= {first, second}
    used_froms = {id(change.before) for change in found}
    for index, amount in enumerate(amounts):
        if index in used or not _is_by(text, amount):
            continue
        change = _by(text, amount, [a for i, a in enumerate(amounts) if i not in used and id(a) not in used_froms])
        if change is not None:
            found.append(change)
            used.add(index)
    return tuple(found)


def _pairs(text: str, amounts: Sequence[Amount]) -> list[tuple[int, int]]:
    """Return index pairs (from, to), surest first."""
    sure, likely = [], []
    moving = bool(concepts(text) & {RISE, FALL})
    for index in range(len(amounts) - 1):
        left, right = amounts[index], amounts[index + 1]
        between = text[left.end : right.start]
        if len(between) > _REACH or (re.search(r"[.!?]\s", between[1:]) and not moving):
            continue
        here, swapped = (index, index + 1), (index + 1, index)
        plain = _PLAIN_FROM.fullmatch(between) and not _is_by(text, right)
        if plain or _ARROW.fullmatch(between) or (_to(text, right) and _from(text, left)):
            sure.append(here)
        elif _to(text, left) and _from(text, right):
            sure.append(swapped)
        elif moving and _hints(text, left, right):
            likely.append(here)
    return sure + likely


def _hints(text: str, left: Amount, right: Amount) -> bool:
    if _to(text, right) or _LIKELY.fullmatch(text[left.end : right.start]):
        return True
    return _from(text, left) and not _is_by(text, right)


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
    if _LIMIT_NEAR.match(right) or _TO_RIGHT.match(right):
        return False
    return bool(_BY_LEFT.search(_left(text, amount)) or _BY_RIGHT.match(right))


def _between(before: Amount, after: Amount) -> Change | None:
    matched = _alike(before, after)
    if matched is None or (before.year_like and after.year_like):
        return None
    inherited = any((a.value, a.unit) != (b.value, b.unit) for a, b in zip(matched, (before, after), strict=True))
    before, after = matched
    direction = (after.value > before.value) - (after.value < before.value)
    return Change(before, after, None, direction, inherited)


def _alike(first: Amount, second: Amount) -> tuple[Amount, Amount] | None:
    """Return both with one kind and unit, what one leaves out taken from the other; None if they differ."""
    if first.kind == second.kind and first.unit == second.unit:
        return _places(first, second)
    for bare, full in ((first, second), (second, first)):
        if bare.kind == "count" and not bare.unit:
            taken = replace(bare, kind=full.kind, unit=full.unit)
            if full.kind in ("money", "count") or (full.kind == "percent" and bare.scale == 1):
                return _places(taken, second) if bare is first else _places(first, taken)
    return None


def _places(first: Amount, second: Amount) -> tuple[Amount, Amount]:
    """3에서 5억 means 3억에서 5억: a small bare number takes the place written after it."""
    if first.scale == 1 and second.scale >= 10**4 and 0 < first.value < 1000 and first.text.replace(".", "").isdigit():
        return replace(first, value=first.value * second.scale, scale=second.scale), second
    return first, second


def _by(text: str, amount: Amount, others: Sequence[Amount]) -> Change | None:
    direction = _direction(text, amount)
    if direction == 0:
        return None
    share = amount.kind == "percent"
    bases = [
        other
        for other in others
        if other is not amount and other.kind in ("money", "count") and not other.year_like
        and (share or (other.kind == amount.kind and other.unit == amount.unit))
        and abs(other.start - amount.start) <= 4 * _REACH
    ]  # fmt: skip
    if not bases:
        return Change(None, None, amount, direction) if share else None
    base = min(bases, key=lambda other: (not _from(text, other), abs(other.start - amount.start)))
    size = base.value * abs(amount.value) / 100 if share else abs(amount.value)
    after = replace(base, value=base.value + direction * size, text="", scale=max(base.scale, amount.scale))
    return Change(base, after, amount, direction)


def _direction(text: str, amount: Amount) -> int:
    """Return 1 for a rise and -1 for a fall; the words right after the amount count before the whole text."""
    for part in (
        text[amount.end : amount.end + 20],
        text[max(0, amount.start - _REACH) : amount.start],
        text,
    ):
        named = concepts(part) & {RISE, FALL}
        if len(named) == 1:
            return 1 if RISE in named else -1
        if re.search(r"할인|\boff\b|\bless\b", part):
            return -1
        if re.search(r"추가|더\s?[달내]|\bmore\b", part):
            return 1
    return 0
