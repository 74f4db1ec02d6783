"""Whether a sentence states an amount as a bound, or says where a bound doesn't hold."""

from __future__ import annotations

import re

from hitl_tui.teams.analysis.units import Amount

_GAP = r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:의\s)?(?:금액|비율|범위|한도)?[을를의에]?(?:서)?\s?"
_NOT = r"(?:하)?(?:지\s?(?:못|않|아니|말)|[을길]?\s?수\s?(?:는\s)?없|여?서는|으?면\s?(?:안|아니))"
_RIGHT = (
    ("max", rf"{_GAP}(?:초과{_NOT}|초과할\s?수\s?(?:는\s)?없|넘{_NOT}|넘어서는|이내|이하|한도|상한|까지(?!도))"),
    ("max", r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:of\s[a-z\s]{0,40})?"
            r"(?:or\s(?:less|below|fewer|under)|at\s(?:the\s)?most|maximum|cap\b|limit\b|ceiling)"),
    ("below", rf"{_GAP}미만"),
    ("min", rf"{_GAP}이상|\s?(?:or\s(?:more|above|over)|minimum|at\s(?:the\s)?least)"),
)  # fmt: skip
_LEFT = (
    ("max", r"(?:at\smost|(?:not|never)\sexceed(?:ing)?|(?:no|not|by)\s(?:more|higher|greater|larger)\sthan|"
            r"up\sto|max(?:imum)?\.?(?:\s(?:of|is))?|capped\sat|cap(?:\s(?:of|is|at))?|limit(?:ed)?(?:\s(?:of|is|at|to))?|"
            r"ceiling(?:\sof)?|within)[\s:]+(?:the\s|an?\s|one\s)?"),
    ("max", r"(?:상한|한도|최대|최고)\s?[선액율치]?[은는이가]?\s?(?:연\s)?:?\s?"),
    ("below", r"(?:below|under|(?<!no\s)less\sthan)\s"),
    ("min", r"(?:at\sleast|(?:no|not)\s(?:less|fewer|lower)\sthan|min(?:imum)?\.?(?:\s(?:of|is))?)[\s:]+"),
    ("min", r"(?:최소|하한|적어도)\s?[선액율]?[은는이가]?\s?:?\s?"),
)  # fmt: skip
_AFTER = [(bound, re.compile(pattern)) for bound, pattern in _RIGHT]
_BEFORE = [(bound, re.compile(f"{pattern}$")) for bound, pattern in _LEFT]
_NOT_CAPPED = re.compile(r"(?:may|can|does|do|did|will)\s?(?:already\s)?(?:exceed|go\sover)")
EXCEPTION = re.compile(
    r"적용(?:되|하|받)지\s?[않아못]|적용을\s?배제|적용이\s?없|예외|(?:does|do|is|are)\snot\sappl|not\sapplicable|exempt|exception",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"이내에는\s?(?:[가-힣]+\s){0,2}(?:하지\s?[못않]|할\s?수\s?없)|\bnot\s[a-z\s]{3,40}within\s", re.IGNORECASE
)


def bound_of(text: str, start: int, end: int, amount: Amount) -> str:
    """Return how the sentence from `start` to `end` bounds an amount: `max`, `below`, `min`, or not at all."""
    if EXCEPTION.search(text[start:end]):
        return ""
    left = text[max(start, amount.start - 60) : amount.start].lower()
    right = text[amount.end : min(end, amount.end + 70)].lower()
    if amount.kind == "duration" and _WAIT.search(text[start:end]):
        return ""
    for bound, pattern in _AFTER:
        if pattern.match(right):
            return bound
    for bound, pattern in _BEFORE:
        match = pattern.search(left)
        if match and not _NOT_CAPPED.search(left[max(0, match.start() - 12) : match.end()]):
            return bound
    return ""
