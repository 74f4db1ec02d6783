"""Limits that documents state, and whether one is about the change a question asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hitl_tui.teams.analysis.amount_changes import FALL, RISE, SUBJECTS, TOPICS, Change, concepts, content_words
from hitl_tui.teams.analysis.amounts import Amount, parse_amounts
from hitl_tui.teams.analysis.analysis_model import Passage
from hitl_tui.teams.contract import Citation

APPLIES_FROM = 4
MAX_FOUND = 400


_NO_END = re.compile(r"(?:\d|(?<![a-z])(?:max|min|art|no|sec|para|vs|approx|e\.g|i\.e))\.$", re.IGNORECASE)
_GAP_KO = r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:의\s)?(?:금액|비율|범위|한도)?(?:을|를|의|에서|에)?\s?"
_RIGHT = (
    ("max", re.compile(_GAP_KO + r"(?:초과하(?:지\s?(?:못|않|아니|말)|여서는|면\s?안)|초과할\s?수\s?(?:는\s)?없|"
                       r"초과해서는|넘지\s?(?:못|않|아니|말)|넘(?:을|길)\s?수\s?(?:는\s)?없|넘어서는)")),
    ("max", re.compile(_GAP_KO + r"(?:이내|이하|한도|상한|까지(?!도))")),
    ("max", re.compile(r"\s?(?:\([^()\n]{0,20}\)\s?)?(?:of\s[a-z\s]{0,40})?"
                       r"(?:or\s(?:less|below|fewer|under)|at\s(?:the\s)?most|maximum|cap(?![a-z])|limit(?![a-z])|ceiling)")),
    ("below", re.compile(_GAP_KO + r"미만")),
    ("min", re.compile(_GAP_KO + r"이상")),
    ("min", re.compile(r"\s?(?:or\s(?:more|above|over)|minimum|at\s(?:the\s)?least)")),
)  # fmt: skip
_LEFT = (
    ("max", re.compile(r"(?:at\smost|(?:not|never)\sexceed(?:ing)?|n(?:o|ot)\smore\sthan|"
                       r"n(?:o|ot)\s(?:higher|greater|larger)\sthan|"
                       r"up\sto|maximum(?:\sof)?|max\.?|capped\sat|cap(?:\s(?:of|is|at))?|limited\sto|limit(?:\s(?:of|is|at|to))?|"
                       r"ceiling(?:\sof)?|within|by\smore\sthan)[\s:]+(?:the\s|a\s|one\s)?$")),
    ("max", re.compile(r"(?:상한|한도|최대|최고)\s?(?:선|액|율|치)?(?:은|는|이|가)?\s?(?:연\s)?:?\s?$")),
    ("below", re.compile(r"(?:below|under|(?<!no\s)less\sthan)\s$")),
    ("min", re.compile(r"(?:at\sleast|n(?:o|ot)\s(?:less|fewer|lower)\sthan|minimum(?:\sof)?|min\.?)[\s:]+$")),
    ("min", re.compile(r"(?:최소|하한|적어도)\s?(?:선|액|율)?(?:은|는|이|가)?\s?:?\s?$")),
)  # fmt: skip
_NOT_CAPPED = re.compile(r"(?:may|can|does|do|did|will)\s?(?:already\s)?exceed")
_FORBIDS = re.compile(
    r"(?:만큼만|안에는|에는|에)\s?(?:[가-힣]{1,6}\s){0,2}(?:하지\s?(?:못|않|아니)|할\s?수\s?없|안\s?된)"
)
_FORBIDS_EN = re.compile(r"(?:may|must|can|shall)\s?not\s(?!exceed|be\smore)[a-z\s]{3,40}$")
_EXCEPTION = re.compile(
    r"적용(?:되|하|받)지\s?(?:않|아니|못)|적용을\s?배제|적용이\s?없|예외|(?:does|do|is|are)\snot\sappl|not\sapplicable|exempt|exception",
    re.IGNORECASE,
)
_CAP_WORDS = re.compile(r"상한|한도|제한|cap(?![a-z])|limit|ceiling", re.IGNORECASE)
_SCOPE = re.compile(
    r"(?:상한|한도|제한)[^.\n]{0,60}(?:에\s?)?적용된다|(?:cap|limit)[^.\n]{0,10}\sapplies", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit as a document states it.

    Args:
        bound: `max`, `below`, `min` or `wait` (nothing may be done within that time).
        amount: the limit; positions are those of the passage's text.
        citation: the sentence.
        context: the sentence and the headings above it, for judging what it is about.
    """

    bound: str
    amount: Amount
    citation: Citation
    context: str


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of the sentences of a text; a line end always ends one, `제1. ` or `12. 7.` don't."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in re.finditer(r"[.!?](?=\s)|\n", text):
        end = match.end()
        if match.group() == "." and _NO_END.search(text, max(start, end - 8), end):
            continue
        if text[start:end].strip():
            spans.append((start, end))
        start = end
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def find_limits(passages: Iterable[Passage]) -> tuple[Limit, ...]:
    """Return the limits of passages, in their order; the same limit written twice in a sentence counts once."""
    found: list[Limit] = []
    for passage in passages:
        amounts = parse_amounts(passage.text)
        if not amounts:
            continue
        for start, end in sentences(passage.text):
            inside = [amount for amount in amounts if start <= amount.start < end]
            found.extend(_of_sentence(passage, start, end, inside))
    return tuple(_unique(found)[:MAX_FOUND])


def _of_sentence(passage: Passage, start: int, end: int, amounts: Sequence[Amount]) -> list[Limit]:
    sentence = passage.text[start:end]
    if _EXCEPTION.search(sentence):
        return []
    found: list[Limit] = []
    for amount in amounts:
        bound = _bound(passage.text, start, end, amount)
        if not bound:
            continue
        same = any(other.amount.value == amount.value and other.amount.unit == amount.unit for other in found)
        if not same:
            context = f"{passage.heading}\n{sentence}"
            found.append(Limit(bound, amount, passage.cite(start, end), context))
    return found


def _bound(text: str, start: int, end: int, amount: Amount) -> str:
    left = text[max(start, amount.start - 60) : amount.start].lower()
    right = text[amount.end : min(end, amount.end + 70)].lower()
    if amount.kind == "duration":
        inside = re.match(r"\s?(?:이내|안|동안)", right)
        if inside and _FORBIDS.match(right, inside.end()):
            return "wait"
        if re.search(r"within\s(?:the\s)?(?:first\s)?$", left) and _FORBIDS_EN.search(left[: left.rfind("within")]):
            return "wait"
    for bound, pattern in _RIGHT:
        if pattern.match(right):
            return bound
    for bound, pattern in _LEFT:
        match = pattern.search(left)
        if match and not _NOT_CAPPED.search(left[max(0, match.start() - 12) : match.end()]):
            return bound
    return ""


def _unique(limits: Iterable[Limit]) -> list[Limit]:
    seen: set[tuple[str, str, int, str]] = set()
    kept = []
    for limit in limits:
        key = (limit.citation.label, limit.bound, limit.amount.value.numerator, limit.amount.unit)
        if key not in seen:
            seen.add(key)
            kept.append(limit)
    return kept


def find_scope_notes(passages: Iterable[Passage]) -> tuple[tuple[str, Citation], ...]:
    """Return sentences that say where a limit applies or doesn't, as (`exception` or `scope`, citation)."""
    notes: list[tuple[str, Citation]] = []
    for passage in passages:
        for start, end in sentences(passage.text):
            sentence = passage.text[start:end]
            if _EXCEPTION.search(sentence) and _CAP_WORDS.search(sentence):
                notes.append(("exception", passage.cite(start, end)))
            elif _SCOPE.search(sentence):
                notes.append(("scope", passage.cite(start, end)))
    return tuple({citation.label: (kind, citation) for kind, citation in reversed(notes)}.values())[::-1]


def relevance(limit: Limit, change: Change, query: str) -> int:
    """Return how well a limit fits a change; it is held against it from `APPLIES_FROM` on.

    Only a percentage can limit a change directly. What counts: the sentence speaks of a move in the change's
    direction, of the same subject (deposit, rent, …), and of no topic with rates of its own (conversion,
    interest, insurance) that the question doesn't name.
    """
    if limit.amount.kind != "percent" or limit.bound not in ("max", "below", "min"):
        return 0
    if change.before is not None and change.before.kind in ("percent", "points"):
        # whether a limit on a rate means points or percent of the rate, its sentence rarely says
        return 0
    asked, stated = concepts(query), concepts(limit.context)
    sentence = concepts(limit.citation.quote)
    direction = RISE if change.direction >= 0 else FALL
    opposite = FALL if direction == RISE else RISE
    score = 0
    if direction in sentence:
        score += 3
    elif direction in stated:
        score += 2
    elif opposite in stated:
        return 0
    subjects = asked & stated & set(SUBJECTS)
    score += 2 * len(subjects)
    if (asked & set(SUBJECTS)) and (stated & set(SUBJECTS)) and not subjects:
        score -= 2
    score += min(2, len(content_words(query) & content_words(limit.context)))
    if not asked & set(SUBJECTS) and direction in sentence & asked:
        score += 1
    score -= 4 * len((sentence & set(TOPICS)) - asked)
    score -= 2 * len((stated & set(TOPICS)) - sentence - asked)
    return score
