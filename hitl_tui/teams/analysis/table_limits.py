"""Rows of a table held against a limit that stands in a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_tui.meaning.amounts import Amount, unit_named
from hitl_tui.tables.ask import Answer, run
from hitl_tui.tables.profile import UNITS_OF_TIME, Column
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.question_in_table import is_money
from hitl_tui.tables.words import words_of
from hitl_tui.teams.analysis.analysis_model import say, shown_amount
from hitl_tui.teams.analysis.limits import Limit, fitting, limits_in, periods_of
from hitl_tui.teams.passages import Passage

_TIMES = dict(zip(UNITS_OF_TIME, ("second", "minute", "hour"), strict=True))
_SCALES = {"만원": 10**4, "천원": 10**3, "억원": 10**8}


def held(answer: Answer, question: str, passages: Sequence[Passage], language: str) -> tuple[Answer, str, Limit | None]:
    """Return the rows beyond the limit that documents set, what to say of the limit, and it; as it was without one."""
    mapped = answer.mapped
    assert mapped is not None and mapped.query.limited is not None
    query, open_ = mapped.query, mapped.query.limited
    column = mapped.table.column(open_.column)
    assert column is not None
    set_ = [one for one in limits_in([p for p in passages if p.path != query.source]) if one.bound != "min"]
    fit = _of_these(question, query, [one for one in set_ if _measures(column, one.amount)])
    listed = ", ".join(one.quoted(language, passages) for one in fit)
    if not fit:
        none = f'Not answered: no limit was found in the documents for "{open_.said}"'
        return answer, say(language, f"답하지 않음: 문서에서 한도를 찾지 못했습니다(‘{open_.said}’)", none), None
    if len(fit) > 1:
        several = f"Not answered: several limits fit. {listed}"
        return answer, say(language, f"답하지 않음: 맞는 한도가 여러 개입니다. {listed}", several), None
    [limit] = fit
    named = {word for one in query.filters for word in words_of(one.column)}
    if not all(named.intersection(names) for names in periods_of(limit.said)):
        single = f"Not answered: this limit is for a period, and the rows are single ones. {listed}"
        korean = f"답하지 않음: 기간에 대한 한도라서 한 행씩 견주지 않았습니다. {listed}"
        return answer, say(language, korean, single), None
    value = float(limit.amount.value) / _SCALES.get(column.unit, 1)
    bound = Filter(open_.column, "ge" if limit.bound == "below" else "gt", (value,), open_.said)
    filters = tuple(bound if one is open_ else one for one in query.filters)
    found = run(replace(answer, why="", mapped=replace(mapped, query=replace(query, filters=filters))))
    said = say(language, f"문서의 한도: {listed}", f"limit in the documents: {listed}")
    beside = [
        one for one in set_ if one.source.label == limit.source.label or one.line(passages) == limit.line(passages)
    ]
    others = {shown_amount(one.amount, language) for one in beside if one.amount != limit.amount}
    if others:
        more = ", ".join(sorted(others))
        said += say(language, f"; 같은 곳에 다른 한도도 있음: {more}", f"; another limit is set there, too: {more}")
    return found, said, limit


def _of_these(question: str, query: TableQuery, limits: Sequence[Limit]) -> list[Limit]:
    """Return the limits of what the rows are chosen by, as their sentences say; else those the question is about."""
    chosen = [str(value).casefold() for one in query.filters for value in one.values if isinstance(value, str)]
    named = [one for one in limits if chosen and any(value in one.said.casefold() for value in chosen)]
    kinds = {one.amount.of for one in limits}
    fit = named or [one for kind in sorted(kinds) for one in fitting(question, kind, limits, timed=False)]
    return list({one.amount.value: one for one in fit}.values())


def _measures(column: Column, amount: Amount) -> bool:
    """Whether an amount is of the kind that a column holds."""
    if column.unit in _TIMES:
        return amount.of == ("duration", _TIMES[column.unit])
    if column.unit == "%":
        return amount.kind == "percent"
    named = {unit.name for word in words_of(column.name) if (unit := unit_named(word)) and unit.kind == "duration"}
    named |= {"day"} if column.name.endswith("일수") else set()
    if named:
        return amount.kind == "duration" and amount.unit in named
    return amount.kind == "money" or (amount.kind == "count" and not is_money(column))
