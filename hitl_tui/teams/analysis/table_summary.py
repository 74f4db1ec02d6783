"""CSV tables: rows that a question names, and plain statistics of their numeric columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.calendar_dates import Calendar, Period, calendar_of, periods, relative
from hitl_tui.teams.analysis.csv_tables import (
    Best,
    ColumnStats,
    Ranking,
    Table,
    TableSummary,
    column_called,
    named_in,
    rankings,
    statistics_asked,
)
from hitl_tui.teams.analysis.units import digits

MAX_COLUMNS = 8
MAX_GROUPS = 12

_UNITS = (
    (re.compile(r"억\s?원?"), "money", "KRW", 10**8),
    (re.compile(r"백만\s?원?|million won|krw m", re.IGNORECASE), "money", "KRW", 10**6),
    (re.compile(r"만\s?원?"), "money", "KRW", 10**4),
    (re.compile(r"천\s?원"), "money", "KRW", 10**3),
    (re.compile(r"원|won|krw", re.IGNORECASE), "money", "KRW", 1),
    (re.compile(r"usd|\$", re.IGNORECASE), "money", "USD", 1),
    (re.compile(r"%|percent", re.IGNORECASE), "percent", "%", 1),
    (re.compile(r"㎡|m²|m2|sqm", re.IGNORECASE), "area", "m²", 1),
)
_HEADER_UNIT = re.compile(r"[(\[]([^()\[\]]{1,16})[)\]]\s*$|_(m2|sqm|krw|usd|won)$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?:^|_)(?:id|no|code|zip|year)$|번호|코드|연도|^#$", re.IGNORECASE)
_PRICE_QUERY = re.compile(r"시세|가격|집값|price", re.IGNORECASE)
_PRICE_COLUMN = re.compile(r"가격|매매|전세|월세|시세|보증금|가\s?[(\[]|price|deposit|rent", re.IGNORECASE)


def summarise(table: Table, query: str) -> TableSummary:
    """Return the statistics of the rows and columns a question names; of all where it names none.

    Values of text columns that occur in the question choose rows (any of a column's values, all columns). The
    rows are grouped by a column when the question names several of its values, or says 구별 or `by district`. Where it
    asks which value of a column is best, the values are compared by the sum of the column it names. A period that it
    names chooses rows by their dates; where that can't be done for certain nothing is computed.
    """
    asked, when = periods(query), calendar_of(table.header, table.rows)
    unknown = relative(query) if when is not None and not asked else ""
    within = set[int]() if unknown else _rows_of(table, asked, when)
    if not within:
        return _outside(table, unknown or ", ".join(period.said for period in asked), when)
    numeric = _numeric_columns(table)
    text_columns = [i for i in range(len(table.header)) if i not in numeric]
    chosen, named = _chosen(table, text_columns, within, query)
    group = _group_column(table, text_columns, named, query)
    groups = _groups(table, chosen, group, asked, when)
    columns = _relevant(table, numeric, query)
    stats = [
        stat
        for rows, said in [(chosen, ""), *groups]
        for i in columns
        if (stat := _stats(table, i, numeric[i], rows, said))
    ]
    totals, averages = statistics_asked(query)
    best = [found for ranking in rankings(query) if (found := _best(ranking, table, numeric, named, query, within))]
    filters = [f"{table.header[i]} = {value}" for i, values in named.items() for value in values]
    if when is not None:
        filters += [f"{when.column} = {period.said}" for period in asked]
    return TableSummary(
        path=table.path,
        row_count=len(table.rows),
        chosen=len(chosen),
        filters=tuple(filters),
        first_line=table.lines[chosen[0]] if chosen else 1,
        last_line=table.lines[chosen[-1]] if chosen else 1,
        grouped_by="" if group is None else table.header[group],
        stats=tuple(stats),
        sample=table.sample,
        totals=totals,
        averages=averages or not (totals or any(found.column for found in best)),
        best=tuple(best),
        period=", ".join(period.said for period in asked) if when is None else "",
        dated=when.column if when is not None else "",
    )


def _rows_of(table: Table, asked: Sequence[Period], when: Calendar | None) -> set[int]:
    """Return the rows of the periods that are asked about; all of a table without dates, or where none is."""
    if not asked or when is None:
        return set(range(len(table.rows)))
    return {r for period in asked for r in _rows_in(period, when)}


def _chosen(
    table: Table, text_columns: Sequence[int], within: set[int], query: str
) -> tuple[list[int], dict[int, tuple[str, ...]]]:
    """Return the rows that hold the values a question names, and those values by column; all rows where none does."""
    found = {i: _named_values(table, i, query) for i in text_columns}
    named = {i: values for i, values in found.items() if values}
    chosen = [r for r in sorted(within) if all(table.rows[r][i] in values for i, values in named.items())]
    return (chosen, named) if chosen else (sorted(within), {})


def _groups(
    table: Table, chosen: Sequence[int], group: int | None, asked: Sequence[Period], when: Calendar | None
) -> list[tuple[list[int], str]]:
    """Return the rows of each value of the column to group by, or of each period, with what it is called."""
    if group is not None:
        values = list(dict.fromkeys(table.rows[r][group] for r in chosen))[:MAX_GROUPS]
        return [([r for r in chosen if table.rows[r][group] == value], value) for value in values]
    if len(asked) > 1 and when is not None:
        return [(sorted(set(chosen) & _rows_in(period, when)), period.said) for period in asked[:MAX_GROUPS]]
    return []


def _rows_in(period: Period, when: Calendar) -> set[int]:
    return {r for r, moment in enumerate(when.moments) if moment is not None and period.holds(moment)}


def _outside(table: Table, period: str, when: Calendar | None) -> TableSummary:
    """Return the summary of a table no row of which is surely of the period that is asked about: no figures."""
    return TableSummary(
        path=table.path,
        row_count=len(table.rows),
        chosen=0,
        filters=(),
        first_line=1,
        last_line=1,
        grouped_by="",
        stats=(),
        sample=table.sample,
        averages=False,
        period=period,
        dated=when.column if when is not None else "",
    )


def _best(
    ranking: Ranking,
    table: Table,
    numeric: Mapping[int, _Numeric],
    named: Mapping[int, tuple[str, ...]],
    query: str,
    within: Set[int],
) -> Best | None:
    """Return which value of a column is best; None where it isn't certain that one of the table's is meant."""
    names = {i: bare_name(name) for i, name in enumerate(table.header)}
    asked = Best(ranking.what, ranking.highest, ranking.said.strip().removesuffix(" and"))
    column = column_called(ranking.what, names)
    if column is None:
        return replace(asked, missing="column", columns=tuple(names.values())) if ranking.certain else None
    measures = {i: names[i] for i in numeric if i != column}
    by = named_in(ranking.said, measures) or named_in(query, measures)
    if not by and column in numeric:
        return None
    by = by or (list(measures) if len(measures) == 1 else [])
    if not by:
        return replace(asked, missing="measure", columns=tuple(measures.values()))
    sums: dict[str, Fraction] = {}
    # A single value that the question names beside is no field to find the best in.
    filters = {i: values for i, values in named.items() if i != column or len(values) > 1}
    for r, value in numeric[by[0]].values.items():
        row = table.rows[r]
        if r in within and row[column] and all(row[i] in values for i, values in filters.items()):
            sums[row[column]] = sums.get(row[column], Fraction(0)) + value
    if not sums:
        return None
    ordered = sorted(sums.items(), key=lambda pair: pair[1], reverse=ranking.highest)
    total = ordered[0][1]
    return replace(
        asked,
        column=names[column],
        values=tuple(value for value, found in sums.items() if found == total)[:MAX_GROUPS],
        by=names[by[0]],
        total=str(total),
        kind=numeric[by[0]].kind,
        unit=numeric[by[0]].unit,
        groups=len(sums),
        sums=tuple((value, str(found)) for value, found in ordered[:MAX_GROUPS]),
    )


@dataclass(frozen=True, slots=True)
class _Numeric:
    kind: str
    unit: str
    values: Mapping[int, Fraction]


def _numeric_columns(table: Table) -> dict[int, _Numeric]:
    found = {}
    for index, name in enumerate(table.header):
        if _IDENTIFIER.search(name):
            continue
        kind, unit, factor = _header_unit(name)
        values: dict[int, Fraction] = {}
        filled = 0
        for row_number, row in enumerate(table.rows):
            if not row[index]:
                continue
            filled += 1
            cell = _cell(row[index])
            if cell is None:
                if filled > 20 and len(values) * 2 < filled:
                    break
                continue
            value, own_kind, own_unit = cell
            if own_unit and not unit:
                kind, unit = own_kind, own_unit
            values[row_number] = value if own_unit else value * factor
        if values and len(values) * 5 >= filled * 4:
            found[index] = _Numeric(kind, unit, values)
    return found


def _header_unit(name: str) -> tuple[str, str, int]:
    match = _HEADER_UNIT.search(name)
    written = (match[1] or match[2]) if match else ""
    for pattern, kind, unit, factor in _UNITS:
        if written and pattern.fullmatch(written.strip()):
            return kind, unit, factor
    return "count", "", 1


def _cell(text: str) -> tuple[Fraction, str, str] | None:
    sign, plain = (-1, text[1:]) if text[:1] in "-\N{MINUS SIGN}" else (1, text)
    value = digits(plain) if plain[:1].isdigit() else None
    if value is not None:
        return sign * value, "count", ""
    if len(text) > 40:
        return None
    amounts = parse_amounts(text)
    if len(amounts) == 1 and amounts[0].text.strip() == text.strip():
        amount = amounts[0]
        money = amount.kind == "count" and not amount.unit and amount.scale >= 10**4
        return amount.value, "money" if money else amount.kind, "KRW" if money else amount.unit
    return None


def _named_values(table: Table, index: int, query: str) -> tuple[str, ...]:
    asked = query.casefold()
    values = dict.fromkeys(row[index] for row in table.rows)
    named = (value for value in values if len(value) >= 2 and _contains(asked, value.casefold()))
    return tuple(named)


def _contains(text: str, value: str) -> bool:
    if not value.isascii():
        return value in text
    return re.search(rf"(?<![a-z0-9]){re.escape(value)}(?![a-z0-9])", text) is not None


def _group_column(table: Table, columns: Sequence[int], named: Mapping[int, tuple[str, ...]], query: str) -> int | None:
    several = [i for i, values in named.items() if len(values) > 1]
    if several:
        return several[0]
    asked = query.casefold()
    for index in columns:
        name = re.escape(table.header[index].casefold())
        if re.search(rf"{name}\s?별|(?:by|per|each)\s{name}(?![a-z])", asked):
            return index
        ends = {row[index][-1] for row in table.rows[:200] if row[index]}
        if len(ends) == 1 and re.search(rf"(?<![가-힣]){re.escape(ends.pop())}별", asked):
            return index
    return None


def bare_name(header: str) -> str:
    """Return a column's name without the unit in brackets."""
    return re.sub(r"\s*[(\[][^()\[\]]{1,16}[)\]]\s*$", "", header)


def _relevant(table: Table, numeric: Mapping[int, _Numeric], query: str) -> list[int]:
    asked = query.casefold()
    names = {i: bare_name(table.header[i]) for i in numeric}
    named = [i for i, name in names.items() if len(name) >= 2 and name.casefold() in asked] or named_in(query, names)
    if not named and _PRICE_QUERY.search(query):
        named = [i for i in numeric if _PRICE_COLUMN.search(table.header[i])]
    return (named or list(numeric))[:MAX_COLUMNS]


def _stats(table: Table, index: int, column: _Numeric, rows: Sequence[int], group: str) -> ColumnStats | None:
    values = [column.values[r] for r in rows if r in column.values]
    if not values:
        return None
    return ColumnStats(
        column=bare_name(table.header[index]),
        group=group,
        kind=column.kind,
        unit=column.unit,
        count=len(values),
        total=sum(values, Fraction(0)),
        low=min(values),
        high=max(values),
        middle=median(values),
    )
