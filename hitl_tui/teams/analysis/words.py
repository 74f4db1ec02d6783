"""What a question or a sentence is about: the words that say something, and a few matters in two languages."""

from __future__ import annotations

import re
from dataclasses import dataclass

RISE, FALL = "rise", "fall"
_MATTERS = {
    RISE: r"증액|인상|올[라려렸리린랐]|오[르른]|상승|증가|늘[어었려리]|뛰|\b(?:increas|rais|ris(?:e|ing)|rose|hike|"
    r"gr[eo]w|(?:go|went|goes)\sup|higher|climb|jump|extra|more\s(?:rent|money|pay))",
    FALL: r"감액|인하|내[려렸리린]|하락|감소|줄[어었여였이]|할인|떨어|\b(?:decreas|reduc|lower|cut|drop|f[ae]ll|"
    r"(?:go|went|goes)\sdown|declin|shr[aiu]nk|discount)",
    "deposit": r"보증금|전세|\b(?:deposit|jeonse)",
    "rent": r"차임|임대료|월세|\brent",
    "price": r"매매가|가격|시세|집값|요금|\bprice",
    "pay": r"연봉|급여|임금|월급|기본급|\b(?:salar|wage|pay\b)",
    "budget": r"예산|\bbudget",
    "cost": r"비용|경비|\b(?:cost|expens)",
    "storage": r"용량|저장|디스크|\b(?:stor|disk)",
    "staff": r"인원|직원|\b(?:staff|headcount|employee)",
}
_PATTERNS = {matter: re.compile(pattern) for matter, pattern in _MATTERS.items()}
MOVES = re.compile(
    r"변[경동하했화]|바[꾸꿨뀌뀐]|조정|옮|미[뤄룬뤘]|연기|앞당|늦|→|\b(?:chang|adjust|mov|differ|postpon|delay|shift|reschedul|"
    r"later|earlier|brought|becom|be[ce]ame|(?:more|less|fewer)\b.*\b(?:than|this|now)|how\s(?:much|many)\s(?:more|less|fewer))|보다",
    re.IGNORECASE,
)
ASKS_HOW_MUCH = re.compile(
    r"얼마|몇|며칠|차이|차액|퍼센트|[률율폭액]|%|\b(?:how\s(?:much|many|far|long)|percent|difference|ratio)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[가-힣]{2,}|[a-z]{3,}")
_PARTICLE = re.compile(
    r"(?<=[가-힣]{2})(?:으로부터|에서는|으로는|에서|에게|까지|부터|이나|에는|으로|보다|[은는이가을를의에로과와도만]|이면|[하되](?:면|는|고|려면)|[한할된될]|[해돼][도서]?)$"
)
_COMMON = re.compile(
    "경우|대한|대하여|관한|있다|없다|한다|이다|그리고|또는|다만|해당|알려줘|방법|계산|얼마나|얼마|얼마까지|퍼센트|며칠|금액|지금|현재|올해|금년|내년|작년|지난해|재작년|"
    "(?:the|and|for|our|you|your|this|that|with|from|have|has|had|must|what|when|which|who|whose|than|more|most|less|into|"
    "only|their|they|them|been|were|was|are|will|would|should|could|can|may|might|over|under|how|much|many|far|long|percen|"
    "number|amount|size|rate|days?|weeks?|months?|years?|does|did|get|take|put|going|went|compar|since|between|per|its|"
    "there|any|new|old|now|curren|due|before|after|last|next|fewer)"
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n(?=\s*(?:[-*#|\d]|\n|$))|(?<=[.!?:|])\n")
_NO_END = re.compile(r"(?:(?<![\w.])\d{1,2}|\b(?:max|min|art|no|sec|para|vs|approx|e\.g|i\.e))\.$", re.IGNORECASE)


def say(language: str, korean: str, english: str) -> str:
    """Return the sentence in the question's language."""
    return korean if language == "ko" else english


def matters(text: str) -> frozenset[str]:
    """Return the matters that a text names, in Korean or English."""
    lowered = text.lower()
    return frozenset(matter for matter, pattern in _PATTERNS.items() if pattern.search(lowered))


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something: Hangul without particles, Latin cut to six letters."""
    words = set()
    for word in _WORD.findall(text.lower()):
        stem = _PARTICLE.sub("", word) if word[0] >= "가" else word[:6].removesuffix("s")
        if not (_COMMON.fullmatch(stem) or _COMMON.fullmatch(word)):
            words.add(stem)
    return frozenset(words)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, besides its figures and that something changes.

    Args:
        words: the words of it that say something.
        matters: the matters that they name.
    """

    words: frozenset[str]
    matters: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Subject:
        """Read a question whose figures are left out; the verb that ends a Korean one asks and names nothing."""
        named = re.sub(r"(?<=\s)[가-힣]*[가-힣](?<![은는])\s*[?.!]*\s*$", " ", question.strip())
        named = re.sub(r"\d[\d,.]*[가-힣]*", " ", named)
        words = content_words(named if content_words(named) else question)
        told = (w for w in words if not (matters(w) & {RISE, FALL} or MOVES.match(w) or ASKS_HOW_MUCH.search(w)))
        return cls(frozenset(told), matters(question) - {RISE, FALL})

    def shared(self, text: str) -> int:
        """Return how many of the things that the question names stand in a text; a matter in another word counts."""
        return sum(self.has(word, text) for word in self.words) or len(self.matters & matters(text))

    def whole(self, text: str) -> bool:
        """Whether a text names everything that the question is about."""
        return bool(self.words) and all(self.has(word, text) for word in self.words)

    def has(self, word: str, text: str) -> bool:
        """Whether a text names one of the words, or what it is about."""
        return (word in text if word[0] >= "가" else word in content_words(text)) or bool(matters(word) & matters(text))


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of the sentences of a text: a wrapped line goes on, an item of a list ends one."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group() == "." and _NO_END.search(text, max(start, match.end() - 8), match.end()):
            continue
        if text[start : match.end()].strip():
            spans.append((start, match.end()))
        start = match.end()
    return [*spans, (start, len(text))] if text[start:].strip() else spans
