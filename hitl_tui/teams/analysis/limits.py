"""The sentences of documents that set a limit: each amount that is one, and which limit a question is about."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis.amounts import Amount, parse_amounts
from hitl_tui.teams.analysis.analysis_model import Passage
from hitl_tui.teams.contract import Citation, language_of

MAX_LIMITS, _RATED = 2_000, 50
_ALIKE, _TURNED, _WORDED, _APART = 0.45, 0.35, 0.25, 0.05
"""How alike a question and a limit are at least, of a rise or a fall, and where they share a word; by how much the best
is ahead."""
_SAME = 0.75
_MAX, _BELOW, _MIN = "max", "below", "min"
_GAP = r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:의\s)?(?:금액|비율|범위|한도)?[을를의에]?(?:서)?\s?"
_NOT = r"(?:하)?(?:지\s?(?:못|않|아니|말)|[을길]?\s?수\s?(?:는\s)?없|여?서는|으?면\s?(?:안|아니))"
_AFTER = tuple((bound, re.compile(pattern)) for bound, pattern in (
    (_MAX, rf"{_GAP}(?:초과{_NOT}|초과할\s?수\s?(?:는\s)?없|초과\s?(?:는\s)?(?:금지|불가)|"
           rf"넘{_NOT}|넘어서는|이내|이하|한도|상한|내에서|안에서|까지(?!도))"),
    (_MAX, r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:of\s[a-z\s]{0,40})?(?:(?:per|an?|each|every)\s[a-z]{1,12},?\s)?"
           r"(?:or\s(?:less|below|fewer|under)|at\s(?:the\s)?most|maximum|cap\b|limit\b|ceiling|"
           r"(?:must|may|can)\s?not\sbe\sexceeded)"),
    (_BELOW, rf"{_GAP}미만"),
    (_MIN, rf"{_GAP}이상|\s?(?:or\s(?:more|above|over)|minimum|at\s(?:the\s)?least)"),
))  # fmt: skip
_BEFORE = tuple((bound, re.compile(f"{pattern}$")) for bound, pattern in (
    (_MAX, r"(?:nobody|no\sone|none)\s(?:[a-z]+\s){1,3}more\sthan\s"),
    (_MAX, r"(?:at\smost|(?:not|never)\sexceed(?:ing)?|(?:no|not|never|by)\s(?:more|"
           r"(?!few|low|small|short)[a-z]+er)\sthan|up\sto|"
           r"max(?:imum)?\.?(?:\s(?:of|is))?|capped\sat|cap(?:\s(?:of|is|at))?|limit(?:ed)?(?:\s(?:of|is|at|to))?|"
           r"ceiling(?:\sof)?|within|(?:not|never)\s(?:[a-z]+\s)?(?:above|over|beyond)|"
           r"(?:limit|cap|maximum|ceiling)\s(?:[a-z]+\s){0,6}(?:is|are)|(?:limit|maximum)\s(?:[a-z]+\s){0,3}[a-z]+:)[\s:]+(?:the\s|an?\s|one\s)?(?:at\smost\s)?"),
    (_MAX, r"(?:상한|한도|최대|최고)\s?[선액율치]?(?:[은는이가]?\s?(?:연\s)?:?\s?|\s[가-힣]{1,6}[은는이가]\s|"
           r"[은는이가:]\s?(?:[가-힣]+\s|\d[인명박회일건][가-힣]{0,2}\s){1,3})"),
    (_BELOW, r"(?:below|under|(?<!no\s)less\sthan)\s"),
    (_MIN, r"(?:at\sleast|(?:no|not)\s(?:less|fewer|lower)\sthan|min(?:imum)?\.?(?:\s(?:of|is))?)[\s:]+"),
    (_MIN, r"(?:최소|하한|적어도)\s?[선액율]?[은는이가]?\s?:?\s?"),
))  # fmt: skip
_NOT_CAPPED = re.compile(r"(?:may|can|does|do|did|will)\s?(?:already\s)?(?:exceed|go\sover)")
_EXCEPTION = re.compile(
    r"(?i)적용(?:되|하|받)지\s?[않아못]|적용을\s?배제|적용이\s?없|예외|(?:does|do|is|are)\snot\sappl|not\sapplicable|exempt|exception|"
    r"이내에는\s?(?:[가-힣]+\s){0,2}(?:하지\s?[못않]|할\s?수\s?없)|\bnot\s[a-z\s]{3,40}within\s"
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
_STATED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
    r"(?:한도|상한|하한|최대|최소|기준)[액선율치]?(?:[은는이가]|:)\s[^.?!\d]{0,25}$|(?:한도|상한|하한)[액선율치]?\s?$|"
    r"\b(?:limit|cap|maximum|minimum|ceiling)\b(?:[^.?!;,\d]{0,40}\s(?:is|are|was)|\sof|:)\s(?:[a-z]+\s){0,2}$",
    r"\s?(?:상한|한도|하한)|[을를이가]\s(?:상한|한도|하한|기준)(?:으?로|이|야|인|라)|"
    r"\s?-?(?:(?:is|as)\s(?:the|our)\s)?(?:cap|limit|maximum|minimum|ceiling)\b",
))  # fmt: skip
"""What stands before and after a figure that a question calls the limit."""
_ABOUT_LIMITS = re.compile(
    r"(?i)한도|상한|하한|규[정칙]|기준|허용|비교|초과|\b(?:limit|cap|allow|permit|cost|rule|maximum|minimum|compare)(?:s|ed)?\b"
)
"""Words of any limit, which tell none from another."""
_SINCE, _AHEAD = re.compile(r"\d\s?(\D{1,3})부터\s?$"), re.compile(r"\s(?:before|ahead|prior|in\sadvance)\b")
_CALLED = re.compile(r"\b[a-z]+\sof\s$|(?<![가-힣])[가-힣]+(?<![을를은는이가에]) $", re.IGNORECASE)
_LEAST = re.compile(r"하한|최소|\bmin", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_SENTENCE_END = re.compile(
    r"[.!?](?=\s)(?<!\d\.)(?<![Mm]ax\.)(?<![Mm]in\.)|(?m:^)#{1,6}\s[^\n]*\n|\n(?=\s*(?:[-*#|\d]|\n|$))|(?<=[.!?:|])\n"
)


def direction_of(text: str) -> int:
    """Return 1 where a text speaks of a rise, -1 of a fall, 0 of neither or both."""
    return (RISE.search(text) is not None) - (FALL.search(text) is not None)


@dataclass(frozen=True, slots=True)
class Limit:
    """An amount that a document sets as a limit.

    Args:
        bound: `max`, `below` or `min`.
        source: the sentence; without a path where the question states the limit.
        said: it, with the heading above.
        section: all that stands under that heading.
    """

    amount: Amount
    bound: str
    source: Citation
    said: str
    section: str = ""

    def beside(self, other: Limit) -> bool:
        """Whether another limit of the same kind stands in the same section."""
        here, there = self.source, other.source
        return (here.path, self.section, self.amount.of) == (there.path, other.section, other.amount.of)

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
        borders = [0, *(match.start() for match in _HEADING.finditer(passage.text)), len(passage.text)]
        sections = [passage.text[start:end] for start, end in pairwise(borders)]
        for start, end in sentences(passage):
            for limit in _of_sentence(passage, start, end, sections[bisect(borders, start, 1, len(sections)) - 1]):
                found.setdefault((limit.source.label, *limit.amount.of, limit.amount.value), limit)
        if len(found) > MAX_LIMITS:
            break
    return list(found.values())


def _of_sentence(passage: Passage, start: int, end: int, section: str) -> Iterator[Limit]:
    said = passage.text[start:end]
    if not is_exception(said):
        for amount in parse_amounts(said):
            if bound := bound_of(said, amount):
                heading = section.split("\n", 1)[0].strip("# ") if section[:1] == "#" else passage.heading
                whole = f"{heading}: {said.strip()}".lstrip(": ")
                yield Limit(amount, bound, passage.cite(start, end), whole, section)


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
    if (since := _SINCE.search(left)) and amount.text.endswith(since[1]):  # a range of dates
        return ""
    # What may be done up to 14 days before something has to be at least so long before it.
    ahead = left.endswith(("up to ", "later than ")) and _AHEAD.match(right)
    return _MIN if ahead else next(after, "") or next(before, "")


def stated_in(question: str, amounts: Sequence[Amount]) -> list[Limit]:
    """Return the amounts of a question that it calls the limit."""
    found = []
    for amount in amounts:
        before = _STATED[0].search(question[max(0, amount.start - 60) : amount.start])
        after = _STATED[1].match(question, amount.end)
        if said := " ".join(match[0] for match in (before, after) if match):
            bound = bound_of(question, amount) or (_MIN if _LEAST.search(said) else _MAX)
            found.append(Limit(amount, bound, Citation("", 0, 0, said), question))
    return found


def fitting(
    question: str, kind: tuple[str, str], limits: Sequence[Limit], direction: int = 0, *, timed: bool = True
) -> list[Limit]:
    """Return the limits that a question is about, each value once: none, one, or several that can't be told apart.

    Args:
        kind: what has to be limited; see `Amount.of`.
        direction: 1 where it has to be the limit of a rise, -1 of a fall.
        timed: it has to be one for the period that the question names.
    """
    held = [
        limit for limit in limits
        if limit.amount.of == kind
        and (not direction or direction_of(limit.said) == direction)
        and (not timed or _rates(question) <= (_rates(limit.said) or _rates(limit.section)))
    ]  # fmt: skip
    rated = [
        (like, _shared(question, one.source.quote, direction), one) for like, one in _likely(question, held, _RATED)
    ]
    # A change is told by its direction; that it is one of the same thing, by a word or by the meaning.
    alike, least = (_TURNED, -1) if direction else (_ALIKE, _WORDED)
    sure = [row for row in rated if row[0] >= alike or (row[0] >= least and _shared(question, row[2].said, direction))]
    if not direction and (called := _called(question, kind)):
        sure = [row for row in sure if _shared(called, row[2].said, 0)]
    best = max(sure, key=lambda row: row[0], default=None)
    if best is None:
        return []
    # What is as likely, has all words in common that the best has, or others in the same section, may be meant, too.
    near = [
        row for row in rated
        if (row in sure and (row[0] > best[0] - _APART or row[1] >= best[1] > set()))
        or (row[1] and best[2].beside(row[2]))
    ]  # fmt: skip
    near = [row for row in near if row is best or not any(row[1] < other[1] for other in near)]
    if any(best[1] < row[1] and row[0] > best[0] - _APART for row in near):
        near.remove(best)
    values = {(one.amount.value, one.bound) for *_, one in near}
    # Of sentences that set the same limit, the one in the question's language that is most like it is quoted.
    same: dict[Fraction, list[tuple[bool, float, Limit]]] = {}
    for like, _, one in rated:
        if (one.amount.value, one.bound) in values:
            same.setdefault(one.amount.value, []).append((language_of(one.said) == language_of(question), like, one))
    return [max(ones, key=lambda rating: rating[:2])[2] for ones in same.values()]


def nearest(question: str, kind: tuple[str, str], limits: Sequence[Limit], most: int) -> list[Limit]:
    """Return the limits of a kind that are most like a question, each value once."""
    held = {one.amount.value: one for one in limits if one.amount.of == kind}
    return [one for _, one in _likely(question, list(held.values()), most)]


def _likely(question: str, limits: Sequence[Limit], most: int) -> list[tuple[float, Limit]]:
    alike = likenesses(question, [one.said for one in limits]) if limits else []
    return sorted(zip(alike, limits, strict=True), key=lambda row: -row[0])[:most]


@lru_cache(maxsize=256)
def _rates(text: str) -> set[int]:
    return {at for at, (words, _) in enumerate(_EACH) if words.search(text)}


def periods_of(text: str) -> list[tuple[str, ...]]:
    """Return the periods that a limit is for, each as what columns of them are called."""
    return [_EACH[at][1] for at in sorted(_rates(text))]


def _called(question: str, kind: tuple[str, str]) -> str:
    """Return what a question calls its figures of a kind, as in "a deposit of 20%"; empty where that says nothing."""
    before = (question[: amount.start] for amount in parse_amounts(question) if amount.of == kind)
    called = " ".join(match[0] for text in before if (match := _CALLED.search(text)))
    return called if _shared(called, called, 0) else ""


def _shared(question: str, said: str, direction: int) -> frozenset[str]:
    """Return the words of a question that say what it is about and that a sentence has, too, or ones like them.

    Where something rises or falls, the words for that say nothing of what it is.
    """
    for amount in reversed(parse_amounts(question)):
        question = f"{question[: amount.start]} {question[amount.end :]}"
    texts = (_ABOUT_LIMITS.sub(" ", text) for text in (question, said))
    asked, told = ([t for t in tokens(text) if t.kind == "word" and not t.filler] for text in texts)
    words = [word for one in told for word in one.forms if len(word) > 1]
    pairs = ((one.text, form, word) for one in asked for form in one.forms for word in words)
    return frozenset(
        t for t, form, word in pairs if likeness(form, word) >= _SAME and not (direction and direction_of(form))
    )
