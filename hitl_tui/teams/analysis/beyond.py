"""How far an amount of the question is beyond a limit of the same kind that a passage states."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitl_tui.teams.analysis.amounts import Amount
from hitl_tui.teams.analysis.forms import exact, shown, shown_amount
from hitl_tui.teams.analysis.limits import Limit
from hitl_tui.teams.analysis.model import QUERY, Finding, LimitUse, Source, Step
from hitl_tui.teams.analysis.steps import Verdict, say
from hitl_tui.teams.analysis.words import concepts, content_words

BEYOND = re.compile(
    r"(?:얼마나|얼마|몇\s?[^\s]{0,8})\s{0,3}(?:더\s{0,3})?(?:초과|넘|웃돌|상회|밑돌|하회|미달|모자라|모자란|부족|벗어|높|낮|남)"
    r"|(?:초과|부족|미달)(?:한|하는|된|되는)?\s?(?:금액|액|양|분)"
    r"|by\show\s(?:much|many)|how\s(?:far|much|many)[^.?!\n]{0,40}\s(?:over|above|below|under|beyond|past|short|exceed|excess)",
    re.IGNORECASE,
)
_COUNTERPART = {"max": "exceeds", "below": "exceeds", "min": "below_minimum"}


def hold(query: str, amounts: Sequence[Amount], limits: Sequence[Limit], language: str) -> Verdict:
    """Hold the one amount of a question against the limit that fits it best.

    Nothing is computed where the question doesn't ask how far, has no or several amounts, or no limit has the amount's
    unit and a word of the question.

    Args:
        query: the question.
        amounts: its amounts.
        limits: what the passages state, best passage first.
        language: `ko` or `en`.
    """
    figures = [amount for amount in amounts if amount.unit and amount.kind not in ("percent", "points")]
    if len(figures) != 1 or not BEYOND.search(query):
        return Verdict()
    amount = figures[0]
    fitting = [
        limit
        for limit in limits
        if limit.bound in _COUNTERPART and (limit.amount.kind, limit.amount.unit) == (amount.kind, amount.unit)
    ]
    best = max(fitting, key=lambda limit: _alike(query, limit), default=None)
    if best is None or not _alike(query, best):
        return Verdict()
    return _held(amount, best, language)


def _alike(query: str, limit: Limit) -> int:
    words = content_words(query) & content_words(limit.context)
    return len(words) + 2 * len(concepts(query) & concepts(limit.context))


def _held(amount: Amount, limit: Limit, language: str) -> Verdict:
    bound, other = limit.bound, limit.amount
    minimum = bound == "min"
    name = say(language, "하한", "minimum") if minimum else say(language, "상한", "limit")
    here, there = shown_amount(amount, language), shown_amount(other, language)
    apart = abs(amount.value - other.value)
    far = shown(apart, amount.kind, amount.unit, language, places=max(amount.scale, other.scale) >= 10**4)
    over = amount.value > other.value or (bound == "below" and amount.value == other.value)
    broken = amount.value < other.value if minimum else over
    high, low = (here, there) if amount.value >= other.value else (there, here)
    side = say(language, "많습니다", "above") if amount.value > other.value else say(language, "적습니다", "below")
    if amount.value == other.value:
        said = say(language, f"{here}: 문서의 {name}({there})과 같습니다.", f"{here} equals the {name} of {there}.")
    else:
        said = say(
            language,
            f"{here}: 문서의 {name} {there}보다 {far} {side}.",
            f"{here} is {far} {side} the {name} of {there}.",
        )
    sources: tuple[Source, ...] = (QUERY, limit.citation)
    what = say(language, f"문서의 {name}과의 차이", f"Distance from the {name} in the documents")
    verdict = _COUNTERPART[bound] if broken else "within"
    used = LimitUse(other.text.strip(), bound, exact(other.value), other.unit, limit.citation, True, verdict)
    return Verdict(
        steps=(Step(what, f"{high} − {low} = {far}", far, exact(apart), sources),),
        findings=(Finding(said, (limit.citation,)),),
        limits=(used,),
        summary=f"{said} ({limit.citation.label})",
    )
