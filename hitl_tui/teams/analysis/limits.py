"""Limits that documents state, and one comparison against them: of a change in percent, or of an amount."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.changes import Change
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import ASKS_HOW_MUCH, FALL, RISE, Subject, matters, say, sentences
from hitl_tui.teams.contract import Citation, language_of
from hitl_tui.teams.number_format import exact, number

MAX_FOUND = 400
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
_EXCEPTION = re.compile(
    r"적용(?:되|하|받)지\s?[않아못]|적용을\s?배제|적용이\s?없|예외|(?:does|do|is|are)\snot\sappl|not\sapplicable|exempt|exception",
    re.IGNORECASE,
)
_CAP = re.compile(r"상한|한도|제한|\bcap\b|limit|ceiling", re.IGNORECASE)
_SCOPE = re.compile(r"적용된다|\bapplies\b", re.IGNORECASE)
_WAIT = re.compile(
    r"이내에는\s?(?:[가-힣]+\s){0,2}(?:하지\s?[못않]|할\s?수\s?없)|\bnot\s[a-z\s]{3,40}within\s", re.IGNORECASE
)
_ABOVE = re.compile(r"초과|넘|웃돌|벗어|너무|\b(?:over|above|beyond|exceed|excess|too\s|more\sthan)", re.IGNORECASE)
_UNDER = re.compile(
    r"밑돌|미달|모자라|부족|이하|이내|미만|\b(?:below|under|short\sof|within|less\sthan)", re.IGNORECASE
)
ASKS_WHAT_MAY_BE = re.compile(
    r"(?:도|수)\s?(?:돼|되|괜찮|있)|가능|괜찮|허용|적법|합법|[가-힣]\s?돼요?\s*\?|"
    r"\b(?:may|(?:can|could)\b(?!\syou)|should|must|allow|fine|ok(?:ay)?\b|permit|legal|acceptable|possible|enough)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"얼마|몇|며칠|어떻|무엇|무슨|뭐|뭘|언제|어디|누구|왜|어느|어떤|방법|\b(?:how|what|which|who|whom|when|where|why)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"(?:^|\s)안\s|지\s?않|못\s?|n[o']t\b", re.IGNORECASE)
_ASKED = re.compile(
    r"^\W*(?:is|are|was|were|am|do|does|did|can|could|may|might|will|would|should|shall|has|have|had|must)(?:n['’]t)?\b|"
    r"(?:[가-힣]\s*\?|(?:까|까요|나요|가요|[돼되해]요?))\s*[?.]?\s*$",
    re.IGNORECASE,
)

_PERIODS = {
    "hour": r"시간당|시급|매시간|\bhourly|\b(?:per|an|each)\shour",
    "day": r"하루|매일|일일|1박|\bdaily|\b(?:per|a|each)\s(?:day|night)",
    "week": r"매주|주당|한\s?주|일주일|\bweekly|\b(?:per|a|each)\sweek",
    "month": r"매[월달]|월\s?(?=\d)|한\s?달|\bmonthly|\b(?:per|a|each)\smonth",
    "year": r"매년|연간|해마다|한\s?해|\b(?:yearly|annual)|\b(?:per|a|each)\syear",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit as a document states it.

    Args:
        bound: `max`, `below` or `min`.
        amount: the limit; positions are those of the passage's text.
        citation: the sentence.
        context: the sentence and the headings above it, for judging what it is about.
    """

    bound: str
    amount: Amount
    citation: Citation
    context: str

    def verdict(self, value: Fraction) -> str:
        """Return `within`, `exceeds` (where it is met, too, if a value has to stay below it) or `below_minimum`."""
        if self.bound == "min":
            return "within" if value >= self.amount.value else "below_minimum"
        held = value < self.amount.value if self.bound == "below" else value <= self.amount.value
        return "within" if held else "exceeds"


@dataclass(frozen=True, slots=True)
class Held:
    """What holding a figure against limits gave."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    summary: str = ""


def find_limits(passages: Iterable[Passage]) -> tuple[Limit, ...]:
    """Return the limits of passages, in their order; the same limit written twice in a sentence counts once."""
    found: dict[tuple[str, str, Fraction, str], Limit] = {}
    for passage in passages:
        rest = list(parse_amounts(passage.text))[::-1]
        for start, end in sentences(passage.text) if rest else ():
            said = passage.text[start:end]
            inside = []
            while rest and rest[-1].start < end:
                inside.append(rest.pop())
            for amount in () if _EXCEPTION.search(said) else inside:
                if bound := _bound(passage.text, start, end, amount):
                    limit = Limit(bound, amount, passage.cite(start, end), f"{passage.heading}\n{said}".lower())
                    found.setdefault((limit.citation.label, bound, amount.value, amount.unit), limit)
        if len(found) >= MAX_FOUND:
            break
    return tuple(found.values())


def _bound(text: str, start: int, end: int, amount: Amount) -> str:
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


def scope_of(text: str) -> tuple[str, str]:
    """Return what a sentence says of a limit (where it holds, or not, how soon) in two languages, or nothing."""
    capped = _CAP.search(text)
    if capped and _EXCEPTION.search(text):
        return "상한이 적용되지 않는 경우", "Where the limit does not apply"
    if capped and _SCOPE.search(text):
        return "상한이 적용되는 범위", "Where the limit applies"
    return ("시기에 대한 제한", "A limit in time") if _WAIT.search(text) else ("", "")


def notes_on(limits: Iterable[LimitUse], question: str, passages: Iterable[Passage], language: str) -> list[Finding]:
    """Return sentences of the files of applied limits that say where these hold, where they don't, and how soon."""
    files = {limit.citation.path for limit in limits}
    named = matters(question)
    found: dict[str, Finding] = {}
    for passage in (p for p in passages if p.path in files):
        for start, end in sentences(passage.text):
            said = passage.text[start:end]
            lead = say(language, *scope_of(said))
            if lead and (_CAP.search(said) or matters(said) & named):
                cited = passage.cite(start, end)
                found.setdefault(cited.label, Finding(f"{lead}: {quoted(cited)}", (cited,)))
    return sorted(found.values(), key=lambda note: language_of(note.text.split(":", 1)[1]) != language)[:4]


def quoted(citation: Citation) -> str:
    """Return a sentence in quotation marks, on one line."""
    return "“" + " ".join(citation.quote.split()).lstrip("-*#> ") + "”"


def hold_change(change: Change, limits: Sequence[Limit], question: str, subject: Subject, language: str) -> Held:
    """Hold a change against the limit in percent that is about a move of this direction and of this subject."""
    ratio = change.percent
    if ratio is None or (change.before is not None and change.before.kind in ("percent", "points")):
        return Held()  # whether a limit on a rate means points or percent of the rate, its sentence rarely says
    direction = RISE if ratio >= 0 else FALL
    fitting = [
        limit
        for limit in limits
        if limit.amount.kind == "percent"
        and direction in matters(limit.citation.quote)
        and subject.shared(limit.context)
    ]
    if not fitting:
        return Held()
    fit = [(subject.shared(limit.context), language_of(limit.citation.quote) == language) for limit in fitting]
    best = fitting[fit.index(max(fit))]
    same = [one for one in fitting if (one.bound, one.amount.value) == (best.bound, best.amount.value)]
    same.sort(key=lambda one: one is not best)
    name = say(language, "인하율" if ratio < 0 else "인상률", "Fall" if ratio < 0 else "Rise")
    figure = Amount("percent", abs(ratio), "%", "", 0, 0)
    return _held(figure, name, best, same, question, language, change)


def hold_amount(
    amounts: Sequence[Amount], limits: Sequence[Limit], question: str, subject: Subject, language: str
) -> Held:
    """Hold the one amount of a question against the limit of its unit that is about the question's subject."""
    figures = [a for a in amounts if not a.year_like]
    beyond = _ABOVE.search(question) or _UNDER.search(question)
    asked = (
        (beyond or ASKS_WHAT_MAY_BE.search(question))
        if _closed(question)
        else beyond and ASKS_HOW_MUCH.search(question)
    )
    if len(figures) != 1 or not asked:
        return Held()
    (figure,) = figures
    alike = [one for one in limits if (one.amount.kind, one.amount.unit) == (figure.kind, figure.unit)]
    alike = [one for one in alike if not _other_period(question, one.context)]
    most = max((subject.shared(one.context) for one in alike), default=0)
    best = [one for one in alike if most and subject.shared(one.context) == most]
    best = [one for one in best if (one.bound == "min") == (best[0].bound == "min")]
    if not best or len({one.amount.value for one in best}) > 1:
        return Held()  # several fit alike: none is chosen
    return _held(figure, shown_amount(figure, language), best[0], best, question, language)


def _held(
    figure: Amount,
    name: str,
    limit: Limit,
    same: Sequence[Limit],
    question: str,
    language: str,
    change: Change | None = None,
) -> Held:
    """Return the comparison of a figure with a limit, stated in one or several places."""
    value, bound = figure.value, limit.amount
    verdict = limit.verdict(value)
    kind = say(language, "하한", "minimum") if limit.bound == "min" else say(language, "상한", "limit")
    here, there = shown_amount(figure, language), shown_amount(bound, language)
    cited = tuple(one.citation for one in same)
    sources: tuple[Source, ...] = (QUERY, *cited)
    verb = say(
        language,
        {"within": "범위 안", "exceeds": "초과", "below_minimum": "하한 미달"}[verdict],
        {"within": "within the limit", "exceeds": "exceeds", "below_minimum": "below the minimum"}[verdict],
    )
    sign = ">" if value > bound.value else "=" if value == bound.value else "<"
    what = say(language, f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
    steps = [Step(what, f"{here} {sign} {there}", verb, "", sources)]
    if change is None:
        over = value - bound.value
        apart = shown_amount(replace(figure, value=abs(over), kind=_apart(figure)), language)
        said = say(language, f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        if over:
            korean = f"{here}: 문서의 {kind} {there}보다 {apart} {'많습니다' if over > 0 else '적습니다'}"
            said = say(language, korean, f"{here} is {apart} {'above' if over > 0 else 'below'} the {kind} of {there}")
            high, low = (here, there) if over > 0 else (there, here)
            what = say(language, f"{kind}과의 차이", f"Distance from the {kind}")
            steps.append(Step(what, f"{high} − {low} = {apart}", apart, exact(abs(over)), sources))
        summary = f"{said} ({limit.citation.label})"
    else:
        documents = say(language, f"문서의 {kind}", f"{kind} in the documents")
        said = f"{name} {here}, {documents} {there}: {verb}"
        summary = f"{name} {here}, {kind} {there} ({limit.citation.label}): {verb}"
        if allowed := _allowed(change, limit, verdict, sources, kind, language):
            allows = say(language, f"{kind}액 {allowed[0].value}", f"the {kind} allows {allowed[0].value}")
            said, summary, steps = f"{said}; {allows}", f"{summary}; {allows}", [*steps, *allowed]
    answer = yes_or_no(question, value, limit, language)
    said = f"**{answer}.** {said}" if answer else said
    finding = Finding(f"{said}. {quoted(limit.citation)}", cited)
    used = tuple(
        LimitUse(one.amount.text.strip(), one.bound, exact(bound.value), bound.unit, one.citation, verdict)
        for one in same
    )
    return Held(tuple(steps), (finding,), used, f"{answer}. {summary}" if answer else summary)


def _closed(question: str) -> bool:
    """Whether a question asks for yes or no."""
    return not _OPEN.search(question) and _ASKED.search(question) is not None


def _other_period(question: str, context: str) -> bool:
    """Whether two texts speak of amounts in different times, as a month and a day; which aren't compared."""
    one, other = ({p for p, form in _PERIODS.items() if re.search(form, text.lower())} for text in (question, context))
    return bool(one and other and one.isdisjoint(other))


def _apart(figure: Amount) -> str:
    return "points" if figure.kind == "percent" else figure.kind


def _allowed(
    change: Change, limit: Limit, verdict: str, sources: tuple[Source, ...], kind: str, language: str
) -> list[Step]:
    """Return the sum that a limit in percent allows, and how far the change goes beyond it."""
    before, after = change.before, change.after
    if before is None or after is None:
        return []
    sign, share = ("−", -limit.amount.value) if change.direction < 0 else ("+", limit.amount.value)
    allowed = replace(before, value=before.value * (100 + share) / 100)
    old, result = shown_amount(before, language), shown_amount(allowed, language)
    what = say(language, f"{kind}에 따른 금액", f"The sum at the {kind}")
    formula = f"{old} × (1 {sign} {number(limit.amount.value, 4)} ÷ 100) = {result}"
    steps = [Step(what, formula, result, exact(allowed.value), sources)]
    if verdict == "exceeds":
        over = replace(before, value=abs(after.value - allowed.value))
        text = shown_amount(over, language)
        formula = f"|{shown_amount(after, language)} − {result}| = {text}"
        what = say(language, "상한을 넘는 금액", "Beyond the limit by")
        steps.append(Step(what, formula, text, exact(over.value), sources))
    return steps


def yes_or_no(question: str, value: Fraction, limit: Limit, language: str) -> str:
    """Return yes or no where that is asked: whether a value is above or below a limit, or else whether it may be.

    Empty for an open question, and for a negated one, whose yes means different things to different people.
    """
    if not _closed(question) or _NEGATED.search(question):
        return ""
    verdict = limit.verdict(value)
    if _ABOVE.search(question):
        holds = value > limit.amount.value
    elif _UNDER.search(question) and limit.bound == "min":
        holds = verdict == "below_minimum"
    else:
        holds = verdict == "within"
    return say(language, "예", "Yes") if holds else say(language, "아니요", "No")
