"""Words that carry meaning for the arithmetic: directions, subjects, and which topics are not each other's."""

from __future__ import annotations

import re

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
