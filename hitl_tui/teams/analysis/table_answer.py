"""What a query of a table gave, as sentences; or why nothing was asked, and what could be."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from fractions import Fraction
from struct import pack, unpack
from typing import Any

from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import literal
from hitl_tui.tables.ask import Answer
from hitl_tui.tables.engine import Result
from hitl_tui.tables.moments import are_months
from hitl_tui.tables.profile import Column, Table, plain
from hitl_tui.tables.query import Filter, TableQuery
from hitl_tui.tables.query_score import ARITHMETIC, Mapped
from hitl_tui.teams.analysis.analysis_model import say
from hitl_tui.teams.contract import Block, Brief, Citation
from hitl_tui.teams.number_format import is_exact, korean_places, money, number, percent

_SECONDS = {"s": 1, "min": 60, "h": 3600}
_WRITTEN_OUT = 10**18
"""From where on a figure is written with an exponent."""
_HUNDREDTHS = 2
_FEW_DECIMALS = 4
_MOST_STORED = 10**7
"""Up to where figures of four bytes have decimals."""
_WRITTEN_DIGITS = 0.51e-6
"""How far a figure of four bytes is from what is written of it with six decimals."""
SHOWN_ROWS = 15
_NAMES = 30
_VALUES = 6
_IN_A_LINE = 3
"""Cells of a row that stand for it where there is one line."""
_NAMED = 5
"""Files that couldn't be read that are named."""
_ASKED = 120
"""Characters of a question, where it is asked which query is meant."""
_AGGREGATES = {
    "average": ("평균", "average"),
    "median": ("중앙값", "median"),
    "sum": ("합계", "total"),
    "distinct": ("서로 다른 값의 수", "different values"),
    "deviation": ("표준편차", "standard deviation"),
}
_PARTS = {
    "year": "연도", "quarter": "분기", "quarter of year": "분기", "month": "월", "month of year": "월", "week": "주",
    "weekday": "요일", "day": "날짜",
}  # fmt: skip
_OPS = {
    "is": "=", "not": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "year": "=", "month": "=",
    "column_lt": "<", "column_gt": ">", "date_lt": "<", "date_le": "≤", "date_gt": ">", "date_ge": "≥",
}  # fmt: skip


def cited(table: Table, sql: str) -> Citation:
    """Return the rows of a table that a query took as a citation."""
    return Citation(table.file.path, 0, 0, f"{table.sheet}: {sql}" if table.sheet else sql)


def brief(answer: Answer, language: str, limit: str = "") -> Brief:
    """Return what the final answer needs: the figure with its table, then how it was read and the query.

    Args:
        answer: what came of the question.
        language: `ko` or `en`.
        limit: what is said of the limit that rows were held against.
    """
    told = outcome(answer, language)
    if not told or answer.mapped is None:
        why = refusal(answer, language) if answer.why != "limit" else []
        return Brief(absent=(*filter(None, [limit]), *why))
    mapped = answer.mapped
    first, *rest = told
    first = guesses(mapped, language) + first
    colon = ":" if first.endswith(":") else ""  # several lines follow
    counted = say(language, f"{mapped.table.rows:,}행에 대한 질의", f"query over {mapped.table.rows:,} rows")
    lines = [
        f"{first.removesuffix(':')} [`{mapped.table.name}`, {counted}]{colon}",
        *rest,
        *notes(mapped, language),
        *([f"- {limit}"] if limit else []),
        *_beside(answer, language),
        *_second(answer, language),
        *versions(answer, language),
        *_left_out(answer, language),
    ]
    read = say(language, "이렇게 읽었습니다", "Read as")
    asked = [(mapped.query, answer.sql)]
    if answer.second and answer.second.mapped:
        asked.append((answer.second.mapped.query, answer.second.sql))
    words = f"{read}: {' / '.join(described(query, mapped.table, language) for query, _ in asked)}"
    queries = ";\n".join(sql for _, sql in asked)
    return Brief(
        answer="\n".join([*lines, "", f"*{literal(words)}*"]),
        evidence=(Block(f"**{say(language, '실행한 질의', 'The query that ran')}**\n\n```sql\n{queries}\n```"),),
    )


def in_a_line(answer: Answer, language: str) -> str:
    """Return what several groups or rows are in one line: the first, and how many there are; else nothing."""
    if answer.mapped is None or answer.result is None or len(outcome(answer, language)) < 2:
        return ""
    query, table, rows = answer.mapped.query, answer.mapped.table, answer.result.rows
    if query.shape == "groups":
        cells = [_part(rows[0][0], query, table, language), shown(rows[0][1], table.column(query.measure), language)]
    else:
        columns = map(table.column, answer.result.names)
        cells = [shown(value, column, language) for value, column in zip(rows[0], columns, strict=True)][:_IN_A_LINE]
    count = f"{max(answer.total, len(rows)):,}"
    counted = say(language, f"{count}행", f"{count} rows")
    return f"{guesses(answer.mapped, language)}{' '.join(cells)}, {counted}"


def guesses(mapped: Mapped, language: str) -> str:
    """Return what was taken for something else, with a colon, to stand before what came of it; empty for nothing."""
    read = ", ".join(say(language, f"‘{a}’ → {b}", f'"{a}" as {b}') for a, b in (*mapped.guessed, *mapped.loose))
    return say(language, f"질문의 말을 이렇게 읽으면({read}): ", f"Reading {read}: ") if read else ""


def notes(mapped: Mapped, language: str) -> list[str]:
    """Return what was taken for granted."""
    korean, english = (
        "- ‘{}’: 이런 열이 표에 없어 모든 행을 봄",
        '- the table has no column for "{}"; all its rows are taken',
    )
    return [say(language, korean, english).format(said) for said in mapped.assumed]


def _second(answer: Answer, language: str) -> list[str]:
    """Return what came of a second question of the sentence, or that nothing did."""
    if answer.unasked:
        said = literal(answer.unasked)
        return ["", say(language, f"답하지 않음: “{said}”", f"Not answered: “{said}”")]
    return ["", *outcome(answer.second, language)] if answer.second else []


def _beside(answer: Answer, language: str) -> list[str]:
    """Return what has most or least where rows of one name are added up, or where they aren't."""
    if answer.mapped is None or answer.beside is None or not answer.beside.rows:
        return []
    assert answer.mapped.beside is not None
    query, table = answer.mapped.beside, answer.mapped.table
    columns = [table.column(name) for name in answer.beside.names]
    if query.shape == "groups":
        name, (said, value, *_) = query.group, answer.beside.rows[0]
        total = shown(value, table.column(query.measure), language)
        english = f"- added up by {name}: **{plain(said)}**, {total}"
        return [say(language, f"- {name}별로 더하면 **{plain(said)}**: {total}", english)]
    cells = [shown(v, c, language) for v, c in zip(answer.beside.rows[0], columns, strict=True)]
    lead = say(language, f"- 한 행만 보면 **{cells[0]}**: ", f"- in a single row: **{cells[0]}**, ")
    return [lead + ", ".join(cells[1:])]


def versions(answer: Answer, language: str) -> list[str]:
    """Return which other versions of the table there are."""
    names = ", ".join(f"`{one.table.name}`" for one in answer.versions)
    said = say(language, f"- 같은 꼴의 다른 표도 있음: {names}", f"- other tables of the same form: {names}")
    return [said] if names else []


def _left_out(answer: Answer, language: str) -> list[str]:
    """Return which files couldn't be read, or not in time, where several tables are asked together."""
    if not (answer.whole and answer.unread):
        return []
    names = ", ".join(f"`{path}`" for path, _ in answer.unread[:_NAMED])
    more = len(answer.unread) - _NAMED
    names += say(language, f" 외 {more:,}개", f" and {more:,} more") if more > 0 else ""
    return [say(language, f"- 읽지 못해 빠졌을 수 있는 표: {names}", f"- not read, and perhaps left out: {names}")]


def outcome(answer: Answer, language: str) -> list[str]:
    """Return the lines that answer; empty where the query found no row: then it may have been misread."""
    if answer.mapped is None or answer.result is None or not answer.result.rows:
        return []
    query, table, rows = answer.mapped.query, answer.mapped.table, answer.result.rows
    match query.shape:
        case "figure":
            value, counted = rows[0]
            if value is None or (not counted and (query.aggregate != "count" or _guessed(query) or answer.beyond)):
                return []
            name = _figure(query, language)
            of = where(query.filters, language)
            if query.aggregate == "count":
                return [f"**{shown(value, None, language)}** ({of})"]
            over = say(language, f"({counted:,}행)", f" over {counted:,} row{'' if counted == 1 else 's'}")
            return [f"{name}{over}: **{shown(value, table.column(query.measure), language)}** ({of})"]
        case "share":
            part, whole = rows[0]
            if not whole:
                return []
            ratio = percent(Fraction(part or 0) / Fraction(whole) * 100)
            of = where(query.filters, language)
            return [f"{where(query.within, language)}: **{ratio}** ({plain(part or 0)} / {plain(whole)}; {of})"]
        case "correlation":
            r, n = rows[0]
            if r is None:
                return []
            name = say(language, "상관계수", "correlation")
            return [f"{name} {query.measure} – {query.other}: **{r:.3f}** (n = {plain(n)})"]
        case "range":
            low, high = (shown(value, table.column(query.measure), language) for value in rows[0])
            return [f"{query.measure}: **{low} – {high}** ({where(query.filters, language)})"] if low != "–" else []
        case "change":
            return _change(query, table, answer.result, language)
        case "groups":
            column = table.column(query.measure)
            lines = [
                f"{_part(name, query, table, language)}: **{shown(value, column, language)}**"
                for name, value in rows[:SHOWN_ROWS]
            ]
            title = _figure(query, language)
            if len(lines) == 1:
                return [f"{lines[0]} ({title}, {where(query.filters, language)})"]
            more = max(answer.total, len(rows)) - len(lines)
            return [
                f"{title} ({where(query.filters, language)}):",
                "",
                *(f"- {line}" for line in lines),
                *_more(more, language),
            ]
        case _:
            return _rows(query, table, answer.result, answer.total, language)


def _guessed(query: TableQuery) -> bool:
    """Whether words of the question were only looked for in a text: where no row has them, they may mean another."""
    return any(one.op == "has" for one in query.filters)


def _figure(query: TableQuery, language: str) -> str:
    korean, english = _AGGREGATES.get(query.aggregate, ("", ""))
    if query.aggregate == "count":
        return say(language, "행 수", "number of rows")
    measure = query.measure
    if not measure:
        return say(language, f"열마다 {korean}", f"{english} of each column")
    return say(language, f"{measure} {korean}", f"{english} of {measure}").strip()


def _part(value: Any, query: TableQuery, table: Table, language: str) -> str:
    """Return what a group is called: a value, or a part of dates."""
    part = query.part
    if part == "weekday":
        days = list(calendar.day_name)
        return f"{'월화수목금토일'[days.index(value)]}요일" if language == "ko" else str(value)
    if part == "month":
        return say(language, f"{value}월", calendar.month_name[int(value)])
    return say(language, f"{value}분기", f"Q{value}") if part == "quarter" else plain(value, table.column(query.group))


def _more(more: int, language: str) -> list[str]:
    return [say(language, f"- 그 밖에 {more:,}개", f"- and {more:,} more")] if more > 0 else []


def _change(query: TableQuery, table: Table, result: Result, language: str) -> list[str]:
    column = table.column(query.measure)
    if query.other:
        names, values = [query.measure, query.other], list(result.rows[0])
    else:
        found = {_key(row[0]): row[1] for row in result.rows}
        names = [plain(end) for end in query.ends]
        values = [found.get(_key(end)) for end in query.ends]
    if len(values) != 2 or any(value is None for value in values):
        return []
    old, new = (Fraction(str(value)) for value in values)
    apart = new - old
    side = say(language, "증가", "more") if apart > 0 else say(language, "감소", "less")
    far = shown(float(abs(apart)), column, language)
    ratio = f", {'+' if apart > 0 else '−'}{percent(abs(apart) / abs(old) * 100)}" if old else ""
    ratio += f", ×{figure(float(new / old))}" if old and new / old >= 2 else ""
    pair = f"{names[0]}: {shown(values[0], column, language)} → {names[1]}: {shown(values[1], column, language)}"
    name = query.measure or say(language, "행 수", "rows")
    return [f"{name}: **{far} {side}**{ratio} ({pair}; {where(query.filters, language)})"]


def _key(value: Any) -> Any:
    return float(value) if isinstance(value, int | float) else str(value)


def _rows(query: TableQuery, table: Table, result: Result, total: int, language: str) -> list[str]:
    columns = [table.column(name) for name in result.names]
    rows = [[shown(v, c, language) for v, c in zip(row, columns, strict=True)] for row in result.rows]
    if not any(
        cell != "–"
        for row in rows
        for cell, name in zip(row, result.names, strict=True)
        if name == (query.measure or name)
    ):
        return []
    of = where(query.filters, language)
    if len(rows) == 1:
        wanted = query.measure if query.measure in result.names else ""
        names = (
            [wanted, *(n for n in result.names if n != wanted)] if wanted and not query.order else list(result.names)
        )
        cells = dict(zip(result.names, rows[0], strict=True))
        return [f"{', '.join(f'{n}: **{cells[n]}**' for n in names if n and cells[n] != '–')} ({of})"]
    head = ["| " + " | ".join(result.names) + " |", "|" + " --- |" * len(result.names)]
    body = ["| " + " | ".join(row) + " |" for row in rows[:SHOWN_ROWS]]
    total = max(total, len(rows))
    more = total - len(body)
    counted = (
        say(language, f"**{total:,}**행", f"**{total:,}** rows")
        if more
        else say(language, f"{total}행", f"{total} rows")
    )
    first = say(language, f", 처음 {len(body)}행", f", the first {len(body)}") if more else ""
    counted = _span(query, table, result, language) + counted
    return [f"{counted} ({of}){first}:", "", *head, *body, *(["", *_more(more, language)] if more > 0 else [])]


def _span(query: TableQuery, table: Table, result: Result, language: str) -> str:
    """Return mean, lowest and highest of the figures in some rows; empty where they are cut off or no figures."""
    column = table.column(query.measure)
    listed = not query.order and not result.more and query.measure in result.names
    if not listed or column is None or column.kind != "number" or column.years or table.numbers_rows(column.name):
        return ""
    place = result.names.index(query.measure)
    values = [Fraction(str(row[place])) for row in result.rows if row[place] is not None]
    mean, low, high = (shown(float(v), column, language) for v in (sum(values) / len(values), min(values), max(values)))
    name = query.measure
    english = f"{name}: mean {mean}, lowest {low}, highest {high}; "
    return say(language, f"{name} 평균 {mean}, 최소 {low}, 최대 {high}; ", english)


def shown(value: Any, column: Column | None, language: str) -> str:
    """Return a value as people read it, with its column's unit; the exact figure beside one that was rounded."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        unit = column.unit if column else ""
        if unit in ("만원", "천원", "원", "억원"):
            factor = {"만원": 10**4, "천원": 10**3, "원": 1, "억원": 10**8}[unit]
            return money(Fraction(str(value)) * factor, "KRW", language)
        value = _meant(value)
        places = column.decimals if column else 0
        written = bool(places) and is_exact(Fraction(f"{value:.12g}"), places)
        text = f"{value:,.{places}f}" if written else plain(value) if column and column.years else figure(value, places)
        if written and places != _HUNDREDTHS:  # 84.50 is an amount
            text = text.rstrip("0").rstrip(".")
        if language == "ko" and float(value).is_integer() and abs(value) >= 10**8:
            text += f" ({korean_places(Fraction(int(value)))})"
        if unit in _SECONDS:
            told, lasting = f"{text} {unit}", _lasting(value * _SECONDS[unit], language)
            return told if told == lasting else f"{told} ({lasting})"
        return f"{text}{unit}" if unit == "%" else text
    return plain(value, column)


def _meant(value: float) -> float:
    """Return the short figure that was stored as one of four bytes and written with more digits: 233.880005."""
    for places in range(1, _FEW_DECIMALS + 1):
        short = round(value, places)
        if short == value:
            break
        if abs(value) < _MOST_STORED and abs(unpack("f", pack("f", short))[0] - value) < _WRITTEN_DIGITS:
            return short
    return value


def _lasting(seconds: float, language: str) -> str:
    """Return how long something takes in hours, minutes and seconds, and in minutes with a decimal."""
    hours, rest = divmod(round(seconds), 3600)
    parts = [hours, *divmod(rest, 60)]
    names = say(language, "시간 분 초", "h min s").split()
    gap = "" if language == "ko" else " "
    told = (
        " ".join(f"{part}{gap}{name}" for part, name in zip(parts, names, strict=True) if part) or f"0{gap}{names[2]}"
    )
    minutes = f"{seconds / 60:.1f}".removesuffix(".0")
    return f"{told}, {minutes}{gap}{names[1]}" if seconds >= 60 and round(seconds) % 60 else told


def figure(value: float, least: int = 0) -> str:
    """Return a figure as it is; one of many digits rounded, with more of them in brackets: 2.77 (≈ 2.771).

    Args:
        value: the figure.
        least: decimals that are kept in any case.
    """
    exact = Fraction(value) if isinstance(value, int) else Fraction(f"{value:.12g}")  # a sum of 84.50 has more digits
    if (abs(exact) < 1 and exact.denominator != 1) or abs(exact) >= _WRITTEN_OUT:
        short, longer = f"{float(exact):.3g}", f"{float(exact):.4g}"
        return short if float(short) == float(longer) else f"{short} (≈ {longer})"
    if (exact * 100).denominator == 1:
        return number(exact)
    places = 0 if abs(exact) >= 1000 else 1 if abs(exact) >= 10 else 2
    return f"{number(exact, max(places, least))} (≈ {number(exact, max(3, least))})"


def where(filters: Sequence[Filter], language: str) -> str:
    """Return which rows count."""
    return ", ".join(_condition(one, language) for one in filters) or say(language, "모든 행", "all rows")


def _condition(one: Filter, language: str) -> str:
    values = [plain(value).rstrip("*") for value in one.values]
    monthly = one.op in ("month", "months")
    name = say(language, f"{one.column}의 달", f"month of {one.column}") if monthly else one.column
    if one.op == "dates" and are_months(one.values):
        values = [value[:7] for value in values]
    if one.op == "dates" and values[0] == values[1]:
        return f"{name} = {values[0]}"
    if one.op in ("between", "years", "months", "dates"):
        return f"{name} {values[0]}–{values[1]}"
    if one.op == "empty":
        return say(language, f"{name} 비어 있음", f"{name} is empty")
    if one.op == "none":
        return say(language, f"{name} 없음 또는 0", f"{name} is empty or 0")
    if one.op == "full":
        return say(language, f"{name} 있음", f"{name} is given")
    listed = " / ".join(values)
    if one.op in ("item", "no_item"):
        korean, english = ("포함", "has") if one.op == "item" else ("포함하지 않음", "doesn't have")
        return say(language, f"{name}: {listed} {korean}", f"{name} {english} {listed}")
    if one.op == "has":
        return say(language, f"{name}: ‘{listed}’ 포함", f"{name} with “{listed}” in it")
    return f"{name} {_OPS[one.op]} {listed}"


def described(query: TableQuery, table: Table, language: str) -> str:
    """Return a query in words: `clients.csv: how many rows by city, most first (country = KR)`."""
    korean, english = _asked(query)
    if query.group:
        part, of = (f"{query.group}의 {_PARTS[query.part]}", f"{query.part} of ") if query.part else (query.group, "")
        korean, english = f"{part}별 {korean}", f"{english} by {of}{query.group}"
    if query.order:
        least = query.order == "asc"
        korean += f", {'작은' if least else '큰'} 순"
        english += f", {'least' if least else 'most'} first"
    only = f" ({where(query.filters, language)})" if query.filters else ""
    return say(language, f"{table.name}의 {korean}", f"{table.name}: {english}") + only


def _asked(query: TableQuery) -> tuple[str, str]:
    """Return what a query works out, in Korean and in English."""
    if query.shape == "share":
        return f"{where(query.within, 'ko')} 비율", f"share of {where(query.within, 'en')}"
    if query.shape == "range":
        return f"{query.measure}의 처음과 끝", f"first and last {query.measure}"
    if query.shape == "correlation":
        return f"상관계수: {query.measure}, {query.other}", f"correlation of {query.measure} and {query.other}"
    if query.shape != "rows" and query.aggregate == "count":
        return "행 수", "how many rows"
    if query.shape != "rows" and query.aggregate:
        return _figure(query, "ko"), _figure(query, "en")
    columns = ", ".join(query.columns)
    return columns or "행", columns or "rows"


def refusal(answer: Answer, language: str) -> list[str]:
    """Return why nothing was answered, what the table has, and the nearest questions."""
    if answer.why == "absent":
        there = ", ".join(f"`{path}`" for path in answer.files[:_NAMES])
        return [
            say(language, f"작업 폴더에 없는 파일: {answer.named}", f"There is no {answer.named} in the workspace."),
            say(language, f"있는 표: {there}", f"Tables there are: {there}"),
        ]
    if answer.why == "unread":
        path, why = answer.unread[0]
        return [say(language, f"읽지 못한 파일: {path} ({why})", f"{path} can't be read: {why}")]
    if answer.mapped is None:
        return [say(language, "이 질문에 맞는 표를 찾지 못했습니다.", "No table fits this question.")]
    mapped, table = answer.mapped, answer.mapped.table
    name = literal(table.name)
    if answer.result is not None:
        ranges = [c for f in mapped.query.filters if (c := table.column(f.column)) and c.kind in ("number", "date")]
        spans = "; ".join(f"{c.name} {plain(c.low)}–{plain(c.high)}" for c in ranges)
        of = where(mapped.query.filters, language)
        said = say(language, f"해당하는 행이 없습니다: {of} ({table.name}).", f"{table.name} has no such row: {of}.")
        return [literal(f"{said} {spans}")]
    lines = []
    if mapped.unknown:
        words = ", ".join(f"‘{word}’" for word in mapped.unknown)
        english = f"Not answered: {name} has no column or value for {words}."
        lines.append(say(language, f"답하지 않음: {words}. 이런 열이나 값이 없는 표: {name}", english))
    elif ARITHMETIC in mapped.undone:
        korean = "답하지 않음: 숫자 열 두 개를 두고 하는 계산만 합니다(예: 단가 × 수량)."
        lines.append(
            say(language, korean, "Not answered: arithmetic takes two columns of numbers, as in price × quantity.")
        )
    elif mapped.missing:
        english = f"Not answered: it isn't clear which column of {name} is meant."
        lines.append(say(language, f"답하지 않음: 어느 열을 묻는지 알 수 없습니다. 표: {name}", english))
    else:
        names = ", ".join(dict.fromkeys(f"`{one.table.name}`" for one in answer.choices))
        english = f"It isn't clear which table is meant: {names}"
        lines.append(say(language, f"어느 표를 묻는지 분명하지 않습니다: {names}", english))
    columns = literal("; ".join(_column(column) for column in table.columns[:_NAMES]))
    lines.append(say(language, f"열({name}): {columns}", f"Columns of {name}: {columns}"))
    near = nearest(answer, language)
    if near:
        told = literal("; ".join(near))
        lines.append(say(language, f"가까운 질의: {told}", f"Nearest queries: {told}"))
    return lines


def nearest(answer: Answer, language: str) -> dict[str, TableQuery]:
    """Return the queries that come nearest to a question that wasn't answered, by their words."""
    near = (one for one in answer.choices if not one.missing)
    return {described(one.query, one.table, language): one.query for one in near} if answer.why == "unsure" else {}


def which(near: Sequence[str], question: str, language: str) -> dict[str, object]:
    """Return the question which of some queries is meant by one; the answer is the words of a query, or for none."""
    none = say(language, "없음: 답하지 않음", "None: leave it unanswered")
    said = clip(" ".join(question.split()), _ASKED)
    asked = say(language, f"“{said}”: 어느 질의를 실행할까요?", f"“{said}”: which of these queries shall run?")
    return {"type": "option_selector", "question": asked, "options": [*near, none]}


def _column(column: Column) -> str:
    if column.kind == "text" and column.values:
        values = ", ".join(value[:30] for value in column.values[:_VALUES])
        return f"{column.name} ({values}{', …' if len(column.values) > _VALUES else ''})"
    if column.kind in ("number", "date") and column.filled:
        return f"{column.name} ({plain(column.low)}–{plain(column.high)})"
    return column.name
