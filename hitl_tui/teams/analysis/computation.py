"""What the figures of a question give: a formula, a sum, a change; and held against the limits that documents set."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from hitl_tui.core.plan import Concern
from hitl_tui.core.written_language import language_of
from hitl_tui.meaning.amounts import Amount, parse_amounts
from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.tables.words import tokens
from hitl_tui.teams.analysis import limits as rules
from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, QUERY, Analysis, Finding, Step, say, shown_amount
from hitl_tui.teams.analysis.limits import Limit, direction_of, in_one_line, is_exception, limits_in, sentences
from hitl_tui.teams.number_format import exact, number
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.printed_figures import Run, differences

_MEASURED, _NOTES, _NEAREST = 12, 4, 4
_WORDS = Expressions(word_file(__package__, "words.toml")["computation"])
_BEFORE_NOUN = "\u11ab\u11af"
"""Finals of verbs that stand before a noun: `낸`, `낼`."""
_PARTICLES = re.compile(r"\A[가-힣]*")
_HEADING = re.compile(r"(#{1,6})\s")
_WHOSE = (("말씀하신", "you state"), ("문서의", "in the documents"))
_NOTHING = (
    "질문에 분명히 맞는 계산이 없어 계산하지 않았습니다.",
    "Nothing was computed: no computation clearly fits the question.",
)


def concern(question: str) -> Concern:
    """Return how far a question has to be computed: on what is found for it, or on its own figures alone."""
    asked = _Question(question, "en")
    computes = asked.change is not None or asked.arithmetic() is not None
    rest = question
    for figure in reversed(asked.figures):
        rest = rest[: figure.start] + _PARTICLES.sub(" ", rest[figure.end :], count=1)
    words = [token for token in tokens(_WORDS.operators.sub(" ", rest)) if not token.filler and len(token.text) > 1]
    if computes and not words:
        return Concern.ALONE
    stated = any(figure.unit or figure.scale > 1 for figure in asked.held)
    return Concern.BESIDE if computes or (stated and asked.compares) else Concern.NONE


def analyse(query: str, passages: Sequence[Passage | Mapping[str, Any]] = ()) -> Analysis:
    """Return what can be computed for a question and passages, as `Passage` or as the search team's dictionaries."""
    read = [item if isinstance(item, Passage) else Passage.from_dict(item) for item in passages]
    return with_insights(compute(query, read), read)


def compute(
    query: str,
    passages: Sequence[Passage],
    analysis_type: str = "comprehensive",
    language: str = "",
    measured: Sequence[Step] = (),
) -> Analysis:
    """Return what can be computed for a question, without insights.

    Args:
        analysis_type: `comprehensive`, or one part: `change`, `limits`.
        measured: what commands measured before and after, as steps.
    """
    language = language or language_of(query)
    asked = _Question(query[:MAX_QUERY], language)
    limits = limits_in(passages) if analysis_type != "change" else []
    analysis = asked.computed(limits)
    steps = (*analysis.steps, *measured)
    none = "" if steps else analysis.not_computed or say(language, *_NOTHING)
    summary = analysis.summary or (f"{steps[0].what}: {steps[0].value}" if steps else none)
    return replace(analysis, steps=steps, not_computed=none, summary=summary, partial=_asks_more(query))


def _asks_more(query: str) -> bool:
    """Whether a question ends with a sentence without figures, which no arithmetic answers."""
    text = query[:MAX_QUERY]
    last = [text[start:end] for start, end in sentences(Passage("", 1, 1, text))][-1:]
    return any(not any(character.isdigit() for character in sentence) for sentence in last)


def _asks_which(text: str) -> bool:
    """Whether a question asks for those that a figure holds of: who, which; `5일 넘겨서 낸 사람은?` ends with them."""
    topic = _WORDS.topic.search(text)
    verb = topic is not None and unicodedata.normalize("NFD", topic[1])[-1] in _BEFORE_NOUN
    return verb or _WORDS.which.search(text) is not None


class _Question:
    """A question with its figures."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language, self._say = text, language, partial(say, language)
        self.figures = [amount for amount in parse_amounts(text) if not _WORDS.article.match(amount.text)]
        self.direction = direction_of(text)
        apart, self.stated = _WORDS.apart.search(text), rules.stated_in(text, self.figures)
        self._limiting = [limit.amount for limit in self.stated]
        held = [one for one in self.figures if one not in self._limiting]
        if apart and not held:  # "how far over the limit is …" states none
            held, self.stated, self._limiting = list(self.figures), [], []
        now = [(one.of, one.value) for one in parse_amounts(text.split("\n")[-1])]
        held = [one for one in held if (one.of, one.value) in now] or held  # what is asked last is asked of its own
        kinds = {one.of for one in self._limiting or held}
        self.held = list({(one.of, one.value): one for one in held if one.of in kinds}.values())
        self.change = self._change()
        asks = _WORDS.may.search(text) or apart or (self.direction and _WORDS.how_much.search(text))
        of_limit = _WORDS.limit.search(text) and not _WORDS.open.search(text)
        self.compares = bool(asks or of_limit) and not _asks_which(text)

    def _change(self) -> tuple[Amount, Amount] | None:
        """Return what something was before and what it became; or 100 % and what that became."""
        by = [figure for figure in self.figures if self.direction and self._is_by(figure)]
        rest = [figure for figure in self.figures if figure not in (*by, *self._limiting)]
        if by:
            share = by[0].kind == "percent"
            before = next((one for one in rest if one.of == by[0].of or (share and one.kind == "money")), None)
            before = before or (Amount("percent", Fraction(100), "%") if share else None)
            size = before and self.direction * (before.value * by[0].value / 100 if share else by[0].value)
            return (before, replace(before, value=before.value + size, text="")) if before and size else None
        for first, second in itertools.pairwise(rest):
            told = _WORDS.from_to.fullmatch(self.text[first.end : second.start])
            swapped = not told and _WORDS.from_before.search(self.text[: second.start])
            if first.of == second.of and first.value != second.value and (told or swapped or self.direction):
                if self.direction:
                    first, second = sorted((first, second), key=lambda one: one.value, reverse=self.direction < 0)
                return (second, first) if swapped and not self.direction else (first, second)
        return None

    def _is_by(self, figure: Amount) -> bool:
        """Whether a figure is that by which something rises or falls."""
        after = _WORDS.by_after.match(self.text, figure.end)
        return bool(after and direction_of(after[1])) or _WORDS.by_before.search(self.text[: figure.start]) is not None

    def computed(self, limits: Sequence[Limit]) -> Analysis:
        """Return what the figures give: a change with the limit it has, a formula, a sum, a figure beside its limit."""
        if self.change is not None:
            return self._changed(*self.change, limits)
        made = None if self.stated and self.held else self.arithmetic()
        return Analysis(self.language, (made,)) if made else self._held(limits)

    def arithmetic(self) -> Step | None:
        figures, pair = self.figures, len(self.figures) == 2
        same = len({figure.of for figure in figures}) == 1 and len(figures) > 1
        of = _WORDS.of_share if pair and figures[1].kind == "percent" else _WORDS.of
        if signs := _joined_by_signs(self.text, figures):
            what = self._say("계산", "Result")
        elif same and _WORDS.total.search(self.text):
            what, signs = self._say("합계", "Sum"), "+" * (len(figures) - 1)
        elif same and pair and figures[0].value != figures[1].value and _WORDS.apart.search(self.text):
            figures = sorted(figures, key=lambda figure: -figure.value)
            what, signs = self._say("차이", "Difference"), "−"
        elif pair and of.fullmatch(self.text, figures[0].end, figures[1].start):
            what, signs = self._say("해당 금액", "Amount"), "×"
        else:
            return None
        return _formula(what, figures, signs, self.language)

    def _changed(self, before: Amount, after: Amount, limits: Sequence[Limit]) -> Analysis:
        """Return a change, and what it is beside the limit that documents set to it."""
        rated = before.value and (before.kind != "percent" or not before.text)
        ratio = (after.value / before.value - 1) * 100 if rated else Fraction(0)
        if before.text:
            steps = _change_steps(before, after, self.language)
        else:  # only its percentage is said
            told, what = _percent(after.value - 100), self._say("말한 변동률", "The change as stated")
            steps = [_step(what, shown_amount(told, self.language), told, self.language)]
        made = Analysis(self.language, tuple(steps), change_percent=str(ratio) if rated else "")
        found = self._limits(("percent", "%"), limits, 1 if ratio > 0 else -1) if ratio else []
        if len(found) != 1:
            return replace(made, findings=(Finding(self._several(found)),)) if found else made
        limit, rate = found[0], _percent(abs(ratio))
        kind, whose = self._kind(limit), _WHOSE[bool(limit.source.path)]
        held = self._compared(rate, limit)
        here, there = shown_amount(rate, self.language), shown_amount(limit.amount, self.language)
        name = self._say("인하율", "Fall") if ratio < 0 else self._say("인상률", "Rise")
        said = f"{name} {here}, {self._say(f'{whose[0]} {kind}', f'{kind} {whose[1]}')} {there}: {held.value}"
        more = [held]
        if before.text:
            sign, share = ("+", limit.amount.value) if ratio > 0 else ("−", -limit.amount.value)
            allowed = replace(before, value=before.value * (1 + share / 100), text="")
            formula = f"{shown_amount(before, self.language)} × (1 {sign} {number(abs(share), 4)} ÷ 100)"
            step = _step(self._say(f"{kind}에 따른 금액", f"The sum at the {kind}"), formula, allowed, self.language)
            said += self._say(f"; {kind}액 {step.value}", f"; the {kind} allows {step.value}")
            what = self._say("허용액과의 차이", "Difference to what is allowed")
            more += [step, *_difference(what, after, allowed, self.language)]
        return self._with_limit(made, limit, more, said)

    def _limits(self, kind: tuple[str, str], limits: Sequence[Limit], way: int = 0) -> list[Limit]:
        """Return the limits that fit: the one that the question states, from a document where one sets it, too."""
        stated = next((one for one in self.stated if one.amount.of == kind), None)
        if stated is None:
            return rules.fitting(self.text, kind, limits, way)
        same = [one for one in limits if one.amount.of == kind and one.amount.value == stated.amount.value]
        return [*same, stated][:1]

    def _held(self, limits: Sequence[Limit]) -> Analysis:
        """Return a figure of the question beside the limit that it states, or that documents set to it."""
        why = ""
        for figure in self.held if self.compares or self.stated else ():
            alone = self.stated or [one.of for one in self.held].count(figure.of) == 1
            found = self._limits(figure.of, limits) if figure.unit and alone else []
            if len(found) == 1:
                return self._beside(figure, found[0])
            if found:
                return Analysis(self.language, not_computed=self._several(found))
            if figure.unit and not why and (near := rules.nearest(self.text, figure.of, limits, _NEAREST)):
                korean = "계산하지 않음: 찾은 한도 가운데 분명히 맞는 것이 없습니다"
                why = self._listed(near, korean, "Not computed: none of the limits found clearly fits")
        return Analysis(self.language, not_computed=why)

    def _several(self, found: Sequence[Limit]) -> str:
        korean = "계산하지 않음: 문서에 맞는 한도가 여러 개 있습니다. 어느 것인지 질문에 쓰세요"
        return self._listed(found, korean, "Not computed: several limits fit; say which")

    def _listed(self, limits: Sequence[Limit], korean: str, english: str) -> str:
        return f"{self._say(korean, english)}: {'; '.join(one.quoted(self.language) for one in limits)}."

    def _beside(self, figure: Amount, limit: Limit) -> Analysis:
        kind, over = self._kind(limit), figure.value - limit.amount.value
        here, there = shown_amount(figure, self.language), shown_amount(limit.amount, self.language)
        steps = [self._compared(figure, limit)]
        whose, _ = _WHOSE[bool(limit.source.path)]
        said = self._say(f"{here}: {whose} {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        what = self._say(f"{kind}과의 차이", f"Distance from the {kind}")
        for apart in _difference(what, figure, limit.amount, self.language):
            steps.append(apart)
            korean, side = ("많습니다", "above") if over > 0 else ("적습니다", "below")
            korean = f"{here}: {whose} {kind} {there}보다 {apart.value} {korean}"
            said = self._say(korean, f"{here} is {apart.value} {side} the {kind} of {there}")
        return self._with_limit(Analysis(self.language), limit, steps, said)

    def _with_limit(self, made: Analysis, limit: Limit, steps: Sequence[Step], said: str) -> Analysis:
        if not limit.source.path:  # as the question states it
            return replace(made, steps=(*made.steps, *steps), findings=(Finding(f"{said}.", (QUERY,)),), summary=said)
        cited = tuple(replace(step, sources=(QUERY, limit.source)) for step in steps)
        finding = Finding(f"{said}. “{limit.line()}”", (limit.source,))
        summary = f"{said} ({limit.source.label})"
        return replace(made, steps=(*made.steps, *cited), limit=limit.source, findings=(finding,), summary=summary)

    def _compared(self, figure: Amount, limit: Limit) -> Step:
        kind, value, whose = self._kind(limit), limit.amount.value, _WHOSE[bool(limit.source.path)]
        what = self._say(f"{whose[0]} {kind}과 비교", f"Compared with the {kind} {whose[1]}")
        sign = ">" if figure.value > value else "=" if figure.value == value else "<"
        broken = self._say("하한 미달", "below the minimum") if limit.bound == "min" else self._say("초과", "exceeds")
        verdict = self._say("범위 안", "within the limit") if limit.keeps(figure) else broken
        formula = f"{shown_amount(figure, self.language)} {sign} {shown_amount(limit.amount, self.language)}"
        return Step(what, formula, verdict)

    def _kind(self, limit: Limit) -> str:
        return self._say("하한", "minimum") if limit.bound == "min" else self._say("상한", "limit")


def _joined_by_signs(text: str, figures: Sequence[Amount]) -> str:
    """Return the signs between the figures of a text; empty where something else stands there."""
    between = [_WORDS.sign.fullmatch(text, a.end, b.start) for a, b in itertools.pairwise(figures)]
    said = [next(name for name, sign in _WORDS.rows["signs"] if sign.fullmatch(one[1])) for one in between if one]
    return "".join(said) if all(between) else ""


def _step(what: str, said: str, amount: Amount, language: str) -> Step:
    result = shown_amount(amount, language)
    return Step(what, said if said == result else f"{said} = {result}", result, exact(amount.value))


def _percent(value: Fraction) -> Amount:
    return Amount("percent", value, "%")


def _change_steps(before: Amount, after: Amount, language: str) -> list[Step]:
    """Return by how much an amount became another, and by how many percent."""
    old, new = shown_amount(before, language), shown_amount(after, language)
    made = _formula(say(language, "차액", "Difference"), (after, before), "−", language)
    if made is None or not before.value:
        return [made] if made else []
    what, ratio = say(language, "변동률", "Change in percent"), _percent((after.value / before.value - 1) * 100)
    return [made, _step(what, f"({new} − {old}) ÷ {old} × 100", ratio, language)]


def _difference(what: str, one: Amount, other: Amount, language: str) -> list[Step]:
    """Return how far two amounts are apart; nothing where they are the same, or of different units."""
    low, high = sorted((one, other), key=lambda amount: amount.value)
    made = _formula(what, (high, low), "−", language) if high.value > low.value else None
    return [made] if made else []


def _formula(what: str, amounts: Sequence[Amount], signs: str, language: str) -> Step | None:
    """Return what amounts give with signs (`+−×÷`) between them; None where their units don't go together."""
    terms, names = list(amounts), list(signs)
    said = shown_amount(terms[0], language)
    said += "".join(f" {n} {shown_amount(a, language)}" for n, a in zip(names, terms[1:], strict=True))
    for level in ("×÷", "+−"):
        while (index := next((n for n, name in enumerate(names) if name in level), None)) is not None:
            joined = _joined(terms[index], names.pop(index), terms.pop(index + 1))
            if joined is None:
                return None
            terms[index] = joined
    return _step(what, said, terms[0], language)


def _joined(left: Amount, sign: str, right: Amount) -> Amount | None:
    scale, same = max(left.scale, right.scale), left.of == right.of
    if sign in "+−":
        value = left.value + right.value if sign == "+" else left.value - right.value
        kind = "points" if left.kind == "percent" and sign == "−" else left.kind
        return Amount(kind, value, left.unit, scale=scale) if same else None
    a, b = (Amount("count", x.value / 100, "") if x.kind == "percent" else x for x in (left, right))
    if sign == "×":
        whole = b if b.kind == "money" or not a.unit else a
        return Amount(whole.kind, a.value * b.value, whole.unit, scale=scale)
    kind, unit = ("count", "") if same else a.of
    return Amount(kind, a.value / b.value, unit, scale=scale) if b.value and (same or not b.unit) else None


def with_insights(analysis: Analysis, passages: Sequence[Passage]) -> Analysis:
    """Return the analysis with what is worth noticing besides: what restricts a limit, what is missing."""
    language, limit, insights = analysis.language, analysis.limit, list[Finding]()
    for passage in passages:
        if limit and passage.path == limit.path:
            first, last = _section(passage, limit.line)
            excepted = [passage.cite(*span) for span in sentences(passage) if is_exception(passage.text[slice(*span)])]
            lead = say(language, "상한에 딸린 조건", "Said beside the limit")
            insights += [
                Finding(f"{lead}: “{in_one_line(one.quote)}”", (one,)) for one in excepted if first <= one.line < last
            ]
    set_ = limits_in(passages) if limit else []
    lead = say(language, "같은 곳의 다른 한도", "Another limit set there")
    for held in [one for one in set_ if one.source == limit][:1]:
        for one in set_:
            if one.beside(held) and one.amount.value != held.amount.value:
                told = f"{lead}: {shown_amount(one.amount, language)} (“{in_one_line(one.source.quote)}”)"
                insights.append(Finding(told, (one.source,)))
    if analysis.found and not passages:
        korean = "주어진 문서가 없어 질문만으로 계산했습니다."
        english = "No documents were given; this is computed from the question alone."
        insights = [Finding(say(language, korean, english), (QUERY,))]
    elif analysis.change_percent and not limit:
        korean = "이 변동에 대한 상한이나 하한을 찾은 구절에서 확인하지 못했습니다. 상한이 없다는 뜻은 아닙니다."
        english = "The passages found state no limit for this change; that doesn't mean there is none."
        insights = [Finding(say(language, korean, english))]
    return replace(analysis, insights=tuple(dict.fromkeys(insights))[:_NOTES])


def _section(passage: Passage, line: int) -> tuple[int, int]:
    """Return the first line of the section of a document that a line is in, and the first of the next one."""
    first, level, last = passage.line, 0, passage.end_line + 1
    for at, text in enumerate(passage.text.split("\n"), passage.line):
        heading = _HEADING.match(text)
        if heading and at <= line:
            first, level = at, len(heading[1])
        elif heading and len(heading[1]) <= level:
            return first, at
    return first, last


def measured_steps(runs: Sequence[Run], language: str) -> list[Step]:
    """Return one step for each figure that commands printed before and after, in this order, and that changed."""
    steps: list[Step] = []
    for found in [one for one in differences(runs) if one.changed][:_MEASURED]:
        low, high = sorted((found.before, found.after), key=lambda figure: figure.value)
        about = say(language, "약 ", "about ") if found.before.sized else ""
        less = found.after.value < found.before.value
        side = say(language, "감소", "less") if less else say(language, "증가", "more")
        what = say(language, f"{found.after.label}, 전후 차이", f"{found.after.label}, before and after")
        formula = f"{high.text} − {low.text} = {about}{found.apart}"
        value = f"{about}{found.apart} {side} ({found.before.text} → {found.after.text})"
        sources = (found.earlier, found.later)
        steps.append(Step(what, formula, value, exact(found.after.value - found.before.value), sources))
    return steps
