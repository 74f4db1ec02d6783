"""The sentences of documents that set a limit: each amount that is one, and which limit a question is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis.amounts import Amount, parse_amounts
from hitl_tui.teams.analysis.analysis_model import Passage
from hitl_tui.teams.contract import Citation, language_of

MAX_LIMITS = 2_000
_ALIKE, _APART = 0.35, 0.05
"""How much alike in meaning a question and a limit are at least, and by how much the best limit is ahead of another."""
_SAME = 0.75
_MAX, _BELOW, _MIN = "max", "below", "min"
_GAP = r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:의\s)?(?:금액|비율|범위|한도)?[을를의에]?(?:서)?\s?"
_NOT = r"(?:하)?(?:지\s?(?:못|않|아니|말)|[을길]?\s?수\s?(?:는\s)?없|여?서는|으?면\s?(?:안|아니))"
_AFTER = tuple((bound, re.compile(pattern)) for bound, pattern in (
    (_MAX, rf"{_GAP}(?:초과{_NOT}|초과할\s?수\s?(?:는\s)?없|넘{_NOT}|넘어서는|이내|이하|한도|상한|까지(?!도))"),
    (_MAX, r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:of\s[a-z\s]{0,40})?"
           r"(?:or\s(?:less|below|fewer|under)|at\s(?:the\s)?most|maximum|cap\b|limit\b|ceiling)"),
    (_BELOW, rf"{_GAP}미만"),
    (_MIN, rf"{_GAP}이상|\s?(?:or\s(?:more|above|over)|minimum|at\s(?:the\s)?least)"),
))  # fmt: skip
_BEFORE = tuple((bound, re.compile(f"{pattern}$")) for bound, pattern in (
    (_MAX, r"(?:nobody|no\sone|none)\s(?:[a-z]+\s){1,3}more\sthan\s"),
    (_MAX, r"(?:at\smost|(?:not|never)\sexceed(?:ing)?|(?:no|not|by)\s(?:more|higher|greater|larger)\sthan|up\sto|"
           r"max(?:imum)?\.?(?:\s(?:of|is))?|capped\sat|cap(?:\s(?:of|is|at))?|limit(?:ed)?(?:\s(?:of|is|at|to))?|"
           r"ceiling(?:\sof)?|within)[\s:]+(?:the\s|an?\s|one\s)?(?:at\smost\s)?"),
    (_MAX, r"(?:상한|한도|최대|최고)\s?[선액율치]?[은는이가]?\s?(?:연\s)?:?\s?"),
    (_BELOW, r"(?:below|under|(?<!no\s)less\sthan)\s"),
    (_MIN, r"(?:at\sleast|(?:no|not)\s(?:less|fewer|lower)\sthan|min(?:imum)?\.?(?:\s(?:of|is))?)[\s:]+"),
    (_MIN, r"(?:최소|하한|적어도)\s?[선액율]?[은는이가]?\s?:?\s?"),
))  # fmt: skip
_NOT_CAPPED = re.compile(r"(?:may|can|does|do|did|will)\s?(?:already\s)?(?:exceed|go\sover)")
_EXCEPTION = re.compile(
    r"적용(?:되|하|받)지\s?[않아못]|적용을\s?배제|적용이\s?없|예외|(?:does|do|is|are)\snot\sappl|not\sapplicable|exempt|exception|"
    r"이내에는\s?(?:[가-힣]+\s){0,2}(?:하지\s?[못않]|할\s?수\s?없)|\bnot\s[a-z\s]{3,40}within\s",
    re.IGNORECASE,
)
"""Where a limit doesn't hold, or for how long something may not be done."""
_EACH = tuple(
    (re.compile(rf"\b(?:per|an?|each)\s{english}\b|\b(?:{adverb})\b|{korean}", re.IGNORECASE), (english, *called))
    for english, adverb, korean, *called in (
        ("hour", "hourly", r"시간\s?당", "시간"), ("day", "daily", r"하루|매일|1일\s?당", "날짜", "date"),
        ("night", "nightly", r"박\s?당"), ("week", "weekly", r"매주|주\s?당", "주"),
        ("month", "monthly", r"매월|매달|한\s?달", "월"), ("year", "yearly|annual", "매년|연간", "연도"),
    )
)  # fmt: skip
"""What says that a limit is for a period, and what columns that tell such periods apart are called."""
RISE = re.compile(
    r"증액|인상|올[라려렸리린릴랐]|오[르른]|상승|증가|늘[어었려리]|뛰|\b(?:increas|rais|ris(?:e|ing)|rose|hike|gr[eo]w|"
    r"(?:go|went|goes)\sup|higher|climb|jump)",
    re.IGNORECASE,
)
FALL = re.compile(
    r"감액|인하|내[려렸리린]|하락|감소|줄[어었여였이]|할인|떨어|\b(?:decreas|reduc|lower|cut|drop|f[ae]ll|"
    r"(?:go|went|goes)\sdown|declin|shr[aiu]nk|discount)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)(?<!\d\.)(?<![Mm]ax\.)(?<![Mm]in\.)|\n(?=\s*(?:[-*#|\d]|\n|$))|(?<=[.!?:|])\n")


def direction_of(text: str) -> int:
    """Return 1 where a text speaks of a rise, -1 of a fall, 0 of neither or both."""
    return (RISE.search(text) is not None) - (FALL.search(text) is not None)


@dataclass(frozen=True, slots=True)
class Limit:
    """An amount that a document sets as a limit.

    Args:
        amount: how much.
        bound: `max`, `below` or `min`.
        source: the sentence.
        said: it, with the heading above.
    """

    amount: Amount
    bound: str
    source: Citation
    said: str

    def keeps(self, amount: Amount) -> bool:
        """Whether an amount is within the limit."""
        if self.bound == _MIN:
            return amount.value >= self.amount.value
        return amount.value < self.amount.value or (amount.value == self.amount.value and self.bound != _BELOW)


def sentences(passage: Passage) -> Iterator[tuple[int, int]]:
    """Yield start and end of the sentences, items and rows of a passage; a wrapped line goes on."""
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(passage.text)), len(passage.text)):
        if passage.text[start:end].strip():
            yield start, end
        start = end


def limits_in(passages: Sequence[Passage]) -> list[Limit]:
    """Return the limits that passages set, in their order, each sentence with each amount once."""
    found: dict[tuple[object, ...], Limit] = {}
    for passage in passages:
        for start, end in sentences(passage):
            for limit in _of_sentence(passage, start, end):
                found.setdefault((limit.source.label, *limit.amount.of, limit.amount.value), limit)
        if len(found) > MAX_LIMITS:
            break
    return list(found.values())


def _of_sentence(passage: Passage, start: int, end: int) -> Iterator[Limit]:
    said = passage.text[start:end]
    if not is_exception(said):
        for amount in parse_amounts(said):
            if bound := bound_of(said, amount):
                yield Limit(amount, bound, passage.cite(start, end), f"{passage.heading}: {said.strip()}".lstrip(": "))


def is_exception(said: str) -> bool:
    """Whether a sentence says where a limit doesn't hold."""
    return _EXCEPTION.search(said) is not None


def bound_of(said: str, amount: Amount) -> str:
    """Return how a sentence bounds an amount: `max`, `below`, `min`, or not at all."""
    left = said[max(0, amount.start - 60) : amount.start].lower()
    right = said[amount.end : amount.end + 70].lower()
    after = (bound for bound, pattern in _AFTER if pattern.match(right))
    before = (
        bound
        for bound, pattern in _BEFORE
        if (match := pattern.search(left)) and not _NOT_CAPPED.search(left[max(0, match.start() - 12) :])
    )
    return next(after, "") or next(before, "")


def fitting(
    question: str, kind: tuple[str, str], limits: Sequence[Limit], direction: int = 0, *, timed: bool = True
) -> list[Limit]:
    """Return the limits that a question is about, each value once: none, one, or several that can't be told apart.

    Args:
        question: the question.
        kind: what has to be limited; see `Amount.of`.
        limits: what documents set.
        direction: 1 where it has to be the limit of a rise, -1 of a fall.
        timed: it has to be one for the period that the question names.
    """
    held = [
        limit
        for limit in limits
        if limit.amount.of == kind
        and (not direction or direction_of(limit.said) == direction)
        and (not timed or _rates(question) <= _rates(limit.said))
    ]
    if not held:
        return []
    rated = list(zip(likenesses(question, [limit.said for limit in held]), held, strict=True))
    # A change is told by its direction; that it is one of the same thing, by a word or by the meaning.
    rated = [(like, one) for like, one in rated if like >= _ALIKE or (direction and _shares(question, one.said))]
    best = max((like for like, _ in rated), default=0.0)
    near = {(one.amount.value, one.bound) for like, one in rated if like > best - _APART}
    # Of sentences that set the same limit, the one in the question's language that is most like it is quoted.
    same: dict[Fraction, list[tuple[bool, float, Limit]]] = {}
    for like, one in rated:
        if (one.amount.value, one.bound) in near:
            same.setdefault(one.amount.value, []).append((language_of(one.said) == language_of(question), like, one))
    return [max(ones, key=lambda rating: rating[:2])[2] for ones in same.values()]


def _rates(text: str) -> set[int]:
    return {at for at, (words, _) in enumerate(_EACH) if words.search(text)}


def periods_of(text: str) -> list[tuple[str, ...]]:
    """Return the periods that a limit is for, each as what columns of them are called."""
    return [_EACH[at][1] for at in sorted(_rates(text))]


def _shares(question: str, said: str) -> bool:
    """Whether a word of a question that says something, or one that stands for the same, is in a sentence."""
    asked, told = ([t for t in tokens(text) if t.kind == "word" and not t.filler] for text in (question, said))
    pairs = ((form, word) for a in asked for form in a.forms for b in told for word in b.forms if len(form) > 1)
    return any(likeness(form, word) >= _SAME and not direction_of(form) for form, word in pairs)
