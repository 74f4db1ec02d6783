"""What quantities give for a question: each typed operation on those that fit, the one that accounts for most of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import combinations

from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Source, Step
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.changes import Change
from hitl_tui.teams.analysis.quantities import Quantity, of_question, spans, thing, when_of
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import (
    ASKS_WHAT_MAY_BE,
    EACH,
    FALL,
    HOW_LONG,
    LEFT,
    MOVES,
    PLANNED,
    RISE,
    SHARE,
    TOTAL,
    USED,
    asks_how_much,
    beyond,
    closed,
    matters,
    negated,
    say,
    under,
)
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import exact, percent, shown

ENOUGH = 0.62
"""Share of what a question says that the quantities of a computation have to be about."""
APART = 0.05
"""By how much a computation has to be ahead of another that gives something else."""
_OWN, _NEAR, _FAR, _BEFORE = 1.0, 0.95, 0.7, 0.5
_COMPARED = 60
_SHOWN = 4
_SINCE = re.compile(r"\b(?:since|from|than|compared\s(?:to|with))\s(?:in\s)?(?:19|20)\d\d|\d\s?년?(?:보다|에\s?비|\s?대비|부터)", re.I)
_PER_ASKED = re.compile(r"\b(?:per|an?|each|every)\s(?P<en>person|head|hour|day|night|week|month|year|kg|kwh|litre|km|piece)\b|(?P<ko>1인|시간|회|월|개|팀)\s?당", re.I)
JOINED = re.compile(r"\b(?:with|including|plus|and|together)\b|포함|더해|합쳐|까지\s", re.I)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question, in its forms, with how much it says."""

    forms: tuple[str, ...]
    weight: float
    role: bool = False
    time: bool = False


class Asked:
    """A question: what it asks for, what it is about, and the quantities that it states."""

    def __init__(self, question: str, language: str) -> None:
        self.text, self.language = question, language
        self.per = next((thing(m["ko"] or m["en"]) for m in _PER_ASKED.finditer(question)), "")
        self.own = [replace(q, per=q.per or self.per) if q.amount.kind == "money" else q for q in of_question(question)]
        self.closed, self.how_much = closed(question), asks_how_much(question)
        self.share, self.total = SHARE.search(question) is not None, TOTAL.search(question) is not None
        self.each, self.left = EACH.search(question) is not None, LEFT.search(question) is not None
        self.long = HOW_LONG.search(question) is not None
        self.beyond = beyond(question) or under(question)
        self.differs = bool(matters(question) & {RISE, FALL} or MOVES.search(question) or self.beyond or self.left)
        self.years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", question)]
        self.since = _SINCE.search(question) is not None
        self.words = self._words()
        self.weight = sum(word.weight for word in self.words) or 1.0

    def _words(self) -> list[Word]:
        taken = spans(self.text)
        expressions = (TOTAL, EACH, LEFT, HOW_LONG)
        operators = [m.span() for e in expressions for m in e.finditer(self.text)]
        operators += [m.span() for m in re.finditer(OPERATORS, self.text, re.I)]
        operators += [m.span() for m in ASKS_WHAT_MAY_BE.finditer(self.text)]
        made: dict[str, Word] = {}
        for token in tokens(self.text):
            span = (token.start, token.end)
            if token.kind == "year" and token.text[:1].isdigit():
                made[token.text] = Word((str(int(token.number or 0)),), 0.5, time=True)
            elif token.kind == "month" and token.number:
                made[token.text] = Word((f"month{int(token.number)}",), 0.4, time=True)
            elif token.kind == "number" and re.match(r"\s?일(?!간)", self.text[token.end :]) and token.number:
                made[token.text] = Word((f"day{int(token.number)}",), 0.4)
            if token.kind != "word" or token.filler or any(_overlap(span, one) for one in (*taken, *operators)):
                continue
            if any(token.start == end and not token.text.isascii() for _, end in taken):
                continue  # an ending that hangs on an amount
            if matters(token.text) & {RISE, FALL} or len(token.text) < 2:
                continue
            language = "ko" if re.search("[가-힣]", token.text) else "en"
            weight = max(0.15, min(telling(form, language) for form in token.forms))
            role = any(one.match(form) for one in (PLANNED, USED) for form in token.forms)
            made.setdefault(token.forms[-1], Word(token.forms, weight, role))
        return list(made.values())

    def covers(self, quantities: Sequence[Quantity]) -> list[list[float]]:
        """Return how well each quantity is about each word of the question."""
        every = frozenset[str]().union(*(q.own | q.near | q.far | q.before | {q.per, q.noun} for q in quantities))
        hits = [frozenset(word for word in every if word and _alike(asked.forms, word)) for asked in self.words]
        return [
            [
                _OWN if hit & q.own or q.per in hit or q.noun in hit else _NEAR if hit & q.near else _FAR if hit & q.far else _BEFORE if hit & q.before else 0.0
                for hit in hits
            ]
            for q in quantities
        ]

    def score(self, covers: Sequence[float]) -> float:
        """Return the share of what the question says that is accounted for, and of what it is about besides the time."""
        pairs = list(zip(self.words, covers, strict=True))
        plain = [(word.weight, one) for word, one in pairs if not word.time]
        whole = sum(word.weight * one for word, one in pairs) / self.weight
        return min(whole, sum(w * one for w, one in plain) / sum(w for w, _ in plain)) if plain else whole


OPERATORS = (
    r"\b(?:cheap\w*|chang\w*|adjust\w*|mov(?:e|ed|es)|postpon\w*|delay\w*|shift\w*|differ\w*|share|proportion|fraction|expensive|cost\w*|within|limit\w*|allow\w*|exceed\w*|over|above|below|under|much|many|pay|paid|spend|"
    r"spent|buy|bought|percent\w*|earlier|later|higher|lower|larger|bigger|smaller|longer|shorter|planned|average|still|already|"
    r"money|amount|need|needed|take[sn]?|took|last\w*|due|more|less|fewer|most|least|between|with|without|according)\b|"
    r"넘[었는을어나]\S*|초과\S*|한도\S*|이내\S*|상한\S*|얼마\S*|몇|며칠\S*|차이\S*|미[뤄룬뤘]\S*|연기\S*|퍼센트\S*|비싸\S*|싸\S*|저렴\S*|"
    r"괜찮\S*|바[꾸꿨뀌뀐]\S*|변[경동하했화]\S*|늦\S*|앞당\S*|옮\S*|조정\S*|보다|비율\S*|비중\S*|프로|되나\S*|필요\S*|들[어었]\S*|걸[려리렸]\S*|내야\S*|지키\S*|평균\S*|금액\S*"
)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return 5 * (min(one[1], other[1]) - max(one[0], other[0])) >= 2 * (one[1] - one[0])


def _alike(forms: Sequence[str], word: str) -> bool:
    """Whether a word of a question and one of a document stand for the same."""
    for form in forms:
        if likeness(form, word) >= 0.75 or matters(form) & matters(word):
            return True
        if form.isascii() and word.isascii():
            if len(form) >= 6 and len(word) >= 6 and form[:6] == word[:6]:
                return True
        elif len(form) >= 3 and len(word) >= 2 and not word.isascii() and not form.isascii():
            if form in word or (len(word) >= 3 and form[:-1] == word[: len(form) - 1]):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Computed:
    """A computation, and how much of the question it accounts for.

    Args:
        score: that.
        key: what it gives, so that two that give the same are one.
        make: writes it.
        formula: it in short.
        operands: what it rests on.
        ahead: what speaks for it beside others that account for as much.
    """

    score: float
    key: object
    make: Callable[[], Outcome]
    formula: str
    operands: tuple[Quantity, ...]
    ahead: float = 0.0

    @property
    def rank(self) -> float:
        """What it is compared with others by."""
        return self.score + self.ahead


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a computation gives: its steps, what they say first, the limits it holds to, and why there is none."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    refused: str = ""
    summary: str = ""
    operands: tuple[Quantity, ...] = field(default=())


def combine(question: str, stated: Sequence[Quantity], language: str) -> Outcome:
    """Return what quantities give for a question; where it isn't clear what is meant, those that come nearest.

    Args:
        question: the question.
        stated: the quantities that documents state.
        language: `ko` or `en`.
    """
    asked = Asked(question, language)
    if not (asked.closed or asked.how_much or asked.share or asked.long or asked.total or asked.own):
        return Outcome()
    worker = _Combiner(asked, stated)
    made = sorted((one for one in worker.every() if one.score >= ENOUGH), key=lambda one: -one.rank)
    if not made:
        return Outcome(refused=worker.nearest())
    best = made[0]
    rivals: dict[object, Computed] = {}
    also: list[Source] = []
    for one in made:
        if one.rank > best.rank - APART:
            rivals.setdefault(one.key, one)
            also += [q.source for q in one.operands if one.key == best.key]
    if len(rivals) > 1:
        pairs = "; ".join(f"{one.formula} ({_labels(one.operands)})" for one in list(rivals.values())[:6])
        korean = f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}."
        return Outcome(refused=say(language, korean, f"Not computed: several figures fit; say which one is meant: {pairs}."))
    outcome = best.make()
    steps = tuple(replace(step, sources=tuple(dict.fromkeys((*step.sources, *also)))) for step in outcome.steps)
    return replace(outcome, steps=steps, operands=best.operands)


class _Combiner:
    """The operations on the quantities that a question is about."""

    def __init__(self, asked: Asked, stated: Sequence[Quantity]) -> None:
        self.asked, self.language = asked, asked.language
        covers = asked.covers(stated)
        rated = sorted(zip(stated, covers, strict=True), key=lambda one: -asked.score(one[1]))
        self.known = [(q, c) for q, c in rated if any(c)]
        self.near = [(q, c) for q, c in self.known if not q.bound][:_COMPARED]
        if asked.left:
            self.near += [(q, c) for q, c in rated if q.rows and not any(c) and _is(USED, q)]
        self.bounds = [(q, c) for q, c in self.known if q.bound][:_COMPARED]

    def every(self) -> Iterator[Computed]:
        """Yield what can be computed."""
        asked = self.asked
        if self.bounds and (asked.closed or (asked.beyond and asked.how_much)):
            yield from self._held()
        if asked.closed:
            return
        if asked.long or (asked.differs and asked.how_much):
            yield from self._lengths()
        if asked.differs and not asked.own:
            yield from self._differences()
            yield from self._moves()
        elif asked.share and not asked.own:
            yield from self._shares()
        if asked.how_much or asked.total:
            yield from self._products()
            yield from self._rates()
        if asked.each and not asked.differs:
            yield from self._each()

    def nearest(self) -> str:
        """Return what the documents state that comes nearest; empty where nothing is near."""
        kept = [(q, c) for q, c in self.known if self.asked.score(c) >= 0.4 and q.amount.kind != "date"][:_SHOWN]
        if not kept:
            return ""
        told = "; ".join(f"{_show(q, self.language)} ({_labels([q])})" for q, _ in kept)
        korean = f"계산하지 않음: 이 질문을 확실히 계산할 수 없습니다. 가장 가까운 수치: {told}."
        return say(self.language, korean, f"Not computed: it isn't clear how. The quantities that come nearest: {told}.")

    # -------------------------------------------------------------------------------------------------------- bounds

    def _held(self) -> Iterator[Computed]:
        asked = self.asked
        figures = [(q, [0.0] * len(asked.words)) for q in asked.own]
        if len(figures) > 1:
            figures = [(q, c) for q, c in figures if any(_same(q, b) for b, _ in self.bounds)]
        if len(figures) != 1:
            figures = [] if asked.own else [*self.near, *self._derived()]
        for bound, about in self.bounds:
            for figure, cover in figures:
                if not _same(figure, bound) or (figure.per and bound.per and figure.per != bound.per):
                    continue
                if figure.source != QUERY and (figure.place == bound.place or not any(cover) or figure.per != bound.per):
                    continue
                named = [max(pair) for pair in zip(cover, about, strict=True)]
                if figure.source != QUERY:  # both have to be about the same
                    shared = [min(pair) for pair in zip(cover, about, strict=True)]
                    named = named if any(shared) else [0.0] * len(named)
                score, ahead = asked.score(named), 0.02 * (figure.per == bound.per)
                key = (figure.value, bound.value, bound.bound)
                formula = f"{_show(figure, self.language)} / {_show(bound, self.language)}"
                yield Computed(score, key, lambda f=figure, b=bound: self._verdict(f, b), formula, (figure, bound), ahead)

    def _derived(self) -> Iterator[tuple[Quantity, list[float]]]:
        """Yield what totals are for one of what a sentence counts beside them."""
        for total, about in self.near:
            for count, cover in self.near:
                if total.place == count.place and count.amount.kind == "count" and count.noun and count.value > 0:
                    if total.amount.kind == "money" and not total.per and total.place[0]:
                        amount = replace(total.amount, value=total.value / count.value, text="", scale=1)
                        made = replace(total, amount=amount, per=count.noun, said=f"{_show(total, self.language)} ÷ {_show(count, self.language)}", rows=-1)
                        yield made, [max(pair) for pair in zip(about, cover, strict=True)]

    def _verdict(self, figure: Quantity, bound: Quantity) -> Outcome:
        language, steps = self.language, []
        sources = tuple(dict.fromkeys((figure.source, bound.source)))
        here, there = _show(figure, language), _show(bound, language)
        if figure.rows < 0:
            what = say(language, "하나당 금액", "For each")
            steps.append(Step(what, f"{figure.said} = {here}", here, exact(figure.value), (figure.source,)))
        over = figure.value - bound.value
        kind = say(language, "하한", "minimum") if bound.bound == "min" else say(language, "상한", "limit")
        verdict = verdict_of(bound.bound, figure.value, bound.value)
        verb = VERDICTS[verdict][0 if language == "ko" else 1]
        sign = ">" if over > 0 else "=" if not over else "<"
        what = say(language, f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
        steps.append(Step(what, f"{here} {sign} {there}", verb, "", sources))
        said = say(language, f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        if over:
            apart = shown_amount(replace(figure.amount, value=abs(over), kind=_points(figure.amount)), language)
            korean = f"{here}: 문서의 {kind} {there}보다 {apart} {'많습니다' if over > 0 else '적습니다'}"
            said = say(language, korean, f"{here} is {apart} {'above' if over > 0 else 'below'} the {kind} of {there}")
            high, low = (here, there) if over > 0 else (there, here)
            what = say(language, f"{kind}과의 차이", f"Distance from the {kind}")
            steps.append(Step(what, f"{high} − {low} = {apart}", apart, exact(abs(over)), sources))
        answer = whether(self.asked.text, figure.value, bound.bound, bound.value, language)
        summary = f"{said} ({_labels([bound])})"
        told = f"**{answer}.** {said}" if answer else said
        cited = tuple(source for source in sources if source != QUERY)
        quotes = " ".join(quoted(one) for one in cited if isinstance(one, Citation))
        finding = Finding(f"{told}. {quotes}", cited)
        limit = ()
        if isinstance(bound.source, Citation):
            limit = (LimitUse(bound.amount.text.strip(), bound.bound, exact(bound.value), bound.amount.unit, bound.source, verdict),)
        return Outcome(tuple(steps), (finding,), limit, summary=f"{answer}. {summary}" if answer else summary)

    # --------------------------------------------------------------------------------------------------- differences

    def _differences(self) -> Iterator[Computed]:
        asked = self.asked
        if ASKS_WHAT_MAY_BE.search(asked.text) and not asked.left:
            return
        figures = [(q, [one if one > _BEFORE else 0.0 for one in c]) for q, c in self.near if q.amount.kind != "date" and not q.moves]
        for (a, of_a), (b, of_b) in combinations(figures, 2):
            if not _same(a, b) or (a.per and b.per and a.per != b.per) or a.value == b.value:
                continue
            if (a.paired or b.paired) and a.place != b.place:
                continue
            plain = [(x, y) for x, y, word in zip(of_a, of_b, asked.words, strict=True) if not (word.role or word.time)]
            first = [one > 0 and not other for one, other in plain]
            second = [other > 0 and not one for one, other in plain]
            named = any(first) and any(second)
            planned = self._roles(a, b)
            timed = self._in_time(a, b)
            if not (named or planned or timed) or (asked.left and not planned):
                continue
            if bool(a.rows) != bool(b.rows) and not (asked.left and not (a.column and b.column)):
                continue
            both = [
                max(x, y) if asked.left or (named and not (x and y)) or (planned and word.role) or (timed and word.time) else (x + y) / 2
                for x, y, word in zip(of_a, of_b, asked.words, strict=True)
            ]
            score, ahead = asked.score(both), 0.02 * (a.per == b.per) + 0.04 * bool(planned)
            if timed:
                ahead += self._lasts(a, b, figures)
            if planned:
                pair = planned
            elif timed:
                pair = timed
            else:
                pair = (a, b) if b.value >= a.value else (b, a)
            key = frozenset((a.value, b.value))
            signed = bool(timed) and not planned
            formula = f"{_show(pair[1], self.language)} − {_show(pair[0], self.language)}"
            yield Computed(score, key, lambda p=pair, s=signed: self._difference(*p, signed=s), formula, pair, ahead)

    def _roles(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return what was planned and what came of it, where one of two is each; None where they aren't."""
        planned = [q for q in (a, b) if _is(PLANNED, q)]
        used = [q for q in (a, b) if _is(USED, q) and not _is(PLANNED, q)]
        if len(planned) == 1 == len(used) and a.place[0] != b.place[0]:
            return planned[0], used[0]
        if self.asked.left and len(used) == 1:
            other = b if used[0] is a else a
            return other, used[0]
        return None

    def _in_time(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return two figures of the same thing at different times, the earlier first; None where they aren't."""
        years = self.asked.years
        one, other = a.when, b.when
        same_row = a.place[0] == b.place[0] and not (a.column and a.column != b.column and a.place != b.place)
        if a.turn * b.turn < 0 or (one[0] and not one[1] and other == one and a.turn != b.turn):
            first = (a, b) if a.turn < b.turn else (b, a)
        elif one != other and one[0] and other[0]:
            first = (a, b) if one < other else (b, a)
        elif one != other and (one[0] or other[0]) and same_row:
            dated, bare = (a, b) if one[0] else (b, a)
            first = (dated, bare) if dated.turn < 0 or (dated.turn == 0 and self.asked.since) else (bare, dated)
        elif a.turn != b.turn and same_row:
            first = (a, b) if a.turn < b.turn else (b, a)
        else:
            return None
        if len(years) == 1:
            last = first[0] if self.asked.since or re.search(r"\bnow\b|지금|현재|올해", self.asked.text) else first[1]
            if years[0] != last.when[0] and last.when[0]:
                return None
        if len(years) == 2 and all(q.when[0] for q in first) and [q.when[0] for q in first] != sorted(years):
            return None
        return first

    def _lasts(self, a: Quantity, b: Quantity, figures: Sequence[tuple[Quantity, list[float]]]) -> float:
        """Return more for two that follow on one another, and the last that are stated."""
        times = sorted({q.when for q, _ in figures if q.place[0] == a.place[0] and _same(q, a)})
        at = [times.index(q.when) for q in (a, b) if q.when in times]
        if len(at) < 2:
            return 0.0
        apart = 0.0 if len(self.asked.years) == 2 or self.asked.since else 0.1 * (abs(at[0] - at[1]) == 1)
        return apart + 0.06 * (max(at) == len(times) - 1)

    def _difference(self, before: Quantity, after: Quantity, *, signed: bool) -> Outcome:
        language = self.language
        sources = tuple(dict.fromkeys((before.source, after.source)))
        lent = _lend(before, after)
        steps = Change(*lent, None, 1).steps(language, sources)
        if self.asked.left:
            steps = [replace(steps[0], what=say(language, "남은 것", "Left"), **_minus(lent[0], lent[1], language))]
        elif not signed and steps:
            high, low = sorted(lent, key=lambda a: -a.value)
            steps[0] = replace(steps[0], **_minus(high, low, language))
        share = next((step for step in steps if self.asked.share and step.value.endswith("%")), None)
        first = share or steps[0]
        told = first.value
        if not signed and not self.asked.left and share is None:
            over = lent[1].value > lent[0].value
            if self._roles(before, after):
                told += say(language, " 초과" if over else " 미달", " over" if over else " under")
        return self._told(first, told, steps, sources)

    def _moves(self) -> Iterator[Computed]:
        """Yield by how much the documents say that something rises or falls."""
        for q, cover in self.near:
            if q.moves:
                change = Change(None, None, q.amount, q.moves)
                steps = change.steps(self.language, (q.source,))
                if steps:
                    yield Computed(
                        self.asked.score(cover), ("by", q.value), lambda s=steps, q=q: self._told(s[0], s[0].value, s, (q.source,)), steps[0].value, (q,)
                    )

    # ------------------------------------------------------------------------------------------------ shares, lengths

    def _shares(self) -> Iterator[Computed]:
        asked = self.asked
        for (a, of_a), (b, of_b) in combinations(self.near, 2):
            if a.amount.kind in ("percent", "date", "points") or not _same(a, b, loose=True) or a.per or b.per:
                continue
            whole, part = (a, b) if a.value > b.value else (b, a)
            within = a.place == b.place and not a.column
            summed = whole.rows > 1 and not part.rows and whole.column == part.column and whole.place[0] == part.place[0]
            if not (within or summed) or not 0 < part.value < whole.value:
                continue
            score = asked.score([max(pair) for pair in zip(of_a, of_b, strict=True)])
            yield Computed(
                score, ("share", part.value, whole.value), lambda p=part, w=whole: self._share(p, w),
                f"{_show(part, self.language)} ÷ {_show(whole, self.language)}", (part, whole),
            )  # fmt: skip

    def _share(self, part: Quantity, whole: Quantity) -> Outcome:
        ratio = part.value * 100 / whole.value
        sources = tuple(dict.fromkeys((part.source, whole.source)))
        formula = f"{_show(part, self.language)} ÷ {_show(whole, self.language)} × 100 = {percent(ratio)}"
        step = Step(say(self.language, "비율", "Share"), formula, percent(ratio), exact(ratio), sources)
        return self._told(step, step.value, [step], sources)

    def _lengths(self) -> Iterator[Computed]:
        asked = self.asked
        dates = [(q, c) for q, c in self.near if q.amount.kind == "date"]
        for (a, of_a), (b, of_b) in combinations(dates, 2):
            a, b = _of_one_year(a, b)
            if a.value == b.value:
                continue
            if a.place == b.place:
                cover = [max(pair) for pair in zip(of_a, of_b, strict=True)]
            else:
                cover = [(x + y) / 2 for x, y in zip(of_a, of_b, strict=True)]
            first, last = (a, b) if (a.turn, a.amount.start) <= (b.turn, b.amount.start) else (b, a)
            if not asked.differs and first.value > last.value:
                first, last = last, first
            if not days_between(first.amount, last.amount):
                continue
            sources = tuple(dict.fromkeys((first.source, last.source)))
            (step,) = Change(first.amount, last.amount, None, 1).steps(self.language, sources)
            value = step.value if asked.differs else step.formula.rsplit(" = ", 1)[1]
            yield Computed(
                asked.score(cover), ("days", step.exact), lambda s=step, v=value, c=sources: self._told(s, v, [s], c),
                step.formula, (first, last),
            )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------ products

    def _products(self) -> Iterator[Computed]:
        asked = self.asked
        own = [q for q in asked.own if q.noun and not q.per]
        rates = [(q, c) for q, c in self.near if q.per and q.amount.kind in ("money", "count", "measure")]
        zero = [0.0] * len(asked.words)
        for rate, cover in rates:
            counts: list[tuple[Quantity, list[float]]] = []
            for count in own:
                counts += [(count, zero)] if _counts(rate, count) else []
            if not counts and asked.own:
                continue
            if not counts and asked.total:
                counts = [(q, c) for q, c in self.near if q is not rate and not q.per and q.place[0] == rate.place[0] and _counts(rate, q)]
                counts = [(q, c) for q, c in counts if q.place == rate.place] or counts
            for count, also in counts:
                more = [
                    q for q, _ in self.known
                    if q.place == rate.place and q is not count and q.amount.kind == "count" and q.noun and not q.per
                    and q.noun != count.noun and count.place == rate.place and count.source != QUERY
                ]  # fmt: skip
                factors = (count, *more[:1])
                score = asked.score([max(pair) for pair in zip(cover, also, strict=True)])
                ahead = -0.1 * (rate.turn < 0 and not asked.years)
                value = rate.value
                for factor in factors:
                    value *= factor.value
                if JOINED.search(asked.text) and count.source == QUERY:
                    yield from self._joined(rate, cover, count, rates)
                yield Computed(
                    score, ("product", value), lambda r=rate, f=factors: self._product(r, f),
                    " × ".join(_show(q, self.language) for q in (rate, *factors)), (rate, *factors), ahead,
                )  # fmt: skip

    def _joined(
        self, rate: Quantity, cover: Sequence[float], count: Quantity, rates: Sequence[tuple[Quantity, list[float]]]
    ) -> Iterator[Computed]:
        """Yield what two rates come to that the question names together: `7 windows with fitting`."""
        for other, also in rates:
            if other.of != rate.of or other.place[0] != rate.place[0] or other.value == rate.value or not _counts(other, count):
                continue
            added = [max(pair) - own for own, pair in zip(cover, zip(cover, also, strict=True), strict=True)]
            if any(gain > 0.5 for gain in added):
                whole = replace(rate.amount, value=rate.value + other.value, text="")
                both = replace(rate, amount=whole, said=f"({_show(rate, self.language)} + {_show(other, self.language)})", rows=-1)
                score = self.asked.score([max(pair) for pair in zip(cover, also, strict=True)])
                yield Computed(
                    score, ("product", whole.value * count.value), lambda r=both, c=count: self._product(r, (c,)),
                    f"{both.said} × {_show(count, self.language)}", (rate, other, count), 2 * APART,
                )  # fmt: skip

    def _product(self, rate: Quantity, factors: Sequence[Quantity]) -> Outcome:
        value = rate.value
        for factor in factors:
            value *= factor.value
        sources = tuple(dict.fromkeys([rate.source, *(q.source for q in factors)]))
        result = shown_amount(replace(rate.amount, value=value, text=""), self.language)
        first = rate.said if rate.rows < 0 else _show(rate, self.language)
        formula = " × ".join([first, *(_show(q, self.language) for q in factors)]) + f" = {result}"
        step = Step(say(self.language, "합계", "Total"), formula, result, exact(value), sources)
        return self._told(step, result, [step], sources)

    def _rates(self) -> Iterator[Computed]:
        """Yield the share of the question's one sum that the documents state for what it asks about."""
        money = [q for q in self.asked.own if q.amount.kind == "money"]
        if len(money) != 1 or len(self.asked.own) != 1:
            return
        for rate, cover in self.near:
            if rate.amount.kind == "percent" and not rate.moves:
                yield Computed(
                    self.asked.score(cover), ("rate", rate.value), lambda r=rate: self._rate(money[0], r),
                    f"{_show(money[0], self.language)} × {_show(rate, self.language)}", (rate,),
                )  # fmt: skip

    def _rate(self, base: Quantity, rate: Quantity) -> Outcome:
        value = base.value * rate.value / 100
        result = shown_amount(replace(base.amount, value=value, text=""), self.language)
        formula = f"{_show(base, self.language)} × {_show(rate, self.language)} = {result}"
        what = say(self.language, "{}의 {}", "{1} of {0}").format(base.amount.text.strip(), rate.amount.text.strip())
        step = Step(what, formula, result, exact(value), (QUERY, rate.source))
        return self._told(step, result, [step], (rate.source,))

    def _each(self) -> Iterator[Computed]:
        for made, cover in self._derived():
            yield Computed(
                self.asked.score(cover), ("each", made.value), lambda q=made: self._each_told(q), made.said, (made,)
            )

    def _each_told(self, made: Quantity) -> Outcome:
        result = _show(made, self.language)
        step = Step(say(self.language, "하나당", "For each"), f"{made.said} = {result}", result, exact(made.value), (made.source,))
        return self._told(step, result, [step], (made.source,))

    def _told(self, first: Step, value: str, steps: Sequence[Step], sources: Sequence[Source]) -> Outcome:
        quotes = " ".join(quoted(one) for one in list(sources)[:2] if isinstance(one, Citation))
        formula = first.formula.rsplit(" = ", 1)[0]
        finding = Finding(f"{first.what}: **{value}** ({formula}). {quotes}".strip(), tuple(sources))
        return Outcome(tuple(steps), (finding,))


VERDICTS = {
    "within": ("범위 안", "within the limit"), "exceeds": ("초과", "exceeds"),
    "below_minimum": ("하한 미달", "below the minimum"),
}  # fmt: skip


def verdict_of(bound: str, value: Fraction, limit: Fraction) -> str:
    """Return `within`, `exceeds` (where it is met, too, if a value has to stay below it) or `below_minimum`."""
    if bound == "min":
        return "within" if value >= limit else "below_minimum"
    return "within" if value < limit or (value == limit and bound != "below") else "exceeds"


def whether(question: str, value: Fraction, bound: str, limit: Fraction, language: str) -> str:
    """Return yes or no where that is asked: whether a value is above or below a limit, or else whether it may be.

    Empty for an open question, and for a negated one, whose yes means different things to different people.
    """
    if not closed(question) or negated(question):
        return ""
    verdict = verdict_of(bound, value, limit)
    if beyond(question):
        holds = value > limit
    elif under(question) and bound == "min":
        holds = verdict == "below_minimum"
    else:
        holds = verdict == "within"
    return say(language, "예", "Yes") if holds else say(language, "아니요", "No")


def quoted(citation: Citation) -> str:
    """Return a sentence in quotation marks, on one line."""
    return "“" + " ".join(citation.quote.split()).lstrip("-*#> ") + "”"


def _labels(operands: Sequence[Quantity]) -> str:
    return ", ".join(dict.fromkeys(q.source.label for q in operands if isinstance(q.source, Citation)))


def _is(role: re.Pattern[str], q: Quantity) -> bool:
    return any(role.match(word) for word in q.own | q.far) or bool(role.search(q.said) if not q.column else None)


def _points(amount: Amount) -> str:
    return "points" if amount.kind == "percent" else amount.kind


def _show(q: Quantity, language: str) -> str:
    return shown_amount(q.amount, language)


def _same(a: Quantity, b: Quantity, *, loose: bool = False) -> bool:
    """Whether two are of the same kind and unit; a figure of a table may lack its unit."""
    if a.of == b.of:
        return a.of != ("count", "") or bool(a.column) == bool(b.column)
    if a.amount.kind == b.amount.kind == "count" and (loose or a.noun == b.noun):
        return a.noun == b.noun or not (a.noun and b.noun) or (loose and a.place == b.place)
    bare = [q for q in (a, b) if q.column and q.of == ("count", "")]
    other = b if bare and bare[0] is a else a
    return len(bare) == 1 and other.amount.kind == "money"


def _of_one_year(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity]:
    """Return two dates, the year of one lent to the other that has none."""
    if (a.amount.unit == "date") == (b.amount.unit == "date"):
        return a, b
    bare, dated = (b, a) if a.amount.unit == "date" else (a, b)
    year = date.fromordinal(int(dated.value)).year
    day = date.fromordinal(int(bare.value))
    if (day.month, day.day) == (2, 29):
        return a, b
    lent = replace(bare, amount=replace(bare.amount, value=Fraction(day.replace(year=year).toordinal()), unit="date"))
    return (a, lent) if bare is b else (lent, b)


def _counts(rate: Quantity, count: Quantity) -> bool:
    """Whether one counts what the other is for one of."""
    if count.amount.kind not in ("count", "duration", "measure") or not count.noun:
        return False
    if rate.per == "each":
        return count.place == rate.place or count.noun in rate.own | rate.near
    return rate.per == count.noun


def _lend(a: Quantity, b: Quantity) -> tuple[Amount, Amount]:
    """Return the amounts of two, the unit of one lent to the other that has none."""
    for one, other in ((a.amount, b.amount), (b.amount, a.amount)):
        if one.kind == "count" and not one.unit and other.unit:
            lent = replace(one, kind=other.kind, unit=other.unit)
            return (lent, b.amount) if one is a.amount else (a.amount, lent)
    return a.amount, b.amount


def _minus(high: Amount, low: Amount, language: str) -> dict[str, str]:
    apart = replace(high, kind=_points(high), value=high.value - low.value)
    told = shown_amount(apart, language)
    formula = f"{shown_amount(high, language)} − {shown_amount(low, language)} = {told}"
    return {"formula": formula, "value": told, "exact": exact(apart.value)}


__all__ = ["Asked", "Outcome", "combine", "shown", "when_of", "whether"]
