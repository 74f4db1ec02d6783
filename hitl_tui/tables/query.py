"""A typed query of one table, its JSON, its SQL and its words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hitl_tui.tables.engine import quote, text

AGGREGATES = {
    "average": "avg", "median": "median", "sum": "sum", "count": "count", "distinct": "count",
    "deviation": "stddev_samp",
}  # fmt: skip
_SIGNS = {"is": "=", "not": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_PARTS = {
    "year": "year({})", "month": "month({})", "month of year": "strftime({}, '%Y-%m')",
    "day": "strftime({}, '%Y-%m-%d')", "week": "strftime({}, '%G-W%V')", "weekday": "dayname({})",
    "quarter": "quarter({})", "quarter of year": "strftime({}, '%Y-Q') || quarter({})",
}  # fmt: skip
_BETWEEN_ITEMS = r"\s*[,;|]\s*"
MAX_ROWS = 50


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows count.

    Args:
        column: its name.
        op: `is`, `not`, `item` and `no_item` (of a list in the cell), `has` (all these words), `lt`, `le`, `gt`,
            `ge`, `between`, `empty`, `full`,
            `none` (empty or 0), `over` (a limit that isn't known yet); `column_lt`, `column_gt` (than the
            column that is its value); of dates `dates` (from, to), `month` (any of them), `months` (from, to),
            `year`, `years` (from, to), and `date_lt` and so on.
        values: what it is compared with; of `is`, `not` and items any of them.
        said: the words of the question.
    """

    column: str
    op: str
    values: tuple[str | float, ...] = ()
    said: str = ""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Filter:
        """Read a filter from its fields."""
        return cls(str(data["column"]), str(data["op"]), tuple(data.get("values", ())), str(data.get("said", "")))

    def is_beyond(self, low: float, high: float) -> bool:
        """Whether it is of a time before or after all that a column has.

        Args:
            low, high: the first and last number of the column, or year of its dates.
        """
        if self.op not in ("is", "year", "years", "between", "dates") or not self.values:
            return False
        years = [float(value if isinstance(value, float) else value[:4]) for value in self.values if _is_year(value)]
        return len(years) == len(self.values) and (max(years) < low or min(years) > high)

    def sql(self) -> str:
        """Return the condition."""
        cell = quote(self.column)
        values = [text(v) if isinstance(v, str) else f"{v:.15g}" for v in self.values]
        match self.op:
            case "is" if len(values) > 1:
                return f"{cell} IN ({', '.join(values)})"
            case "not":
                return f"({cell} IS NULL OR {cell} NOT IN ({', '.join(values)}))"
            case "item":
                return f"({' OR '.join(_has_item(cell, str(value)) for value in self.values)})"
            case "no_item":
                return " AND ".join(f"NOT coalesce({_has_item(cell, str(value))}, FALSE)" for value in self.values)
            case "has":
                return " AND ".join(f"regexp_matches({cell}, {text(_word(str(value)))}, 'i')" for value in self.values)
            case "between":
                return f"{cell} BETWEEN {values[0]} AND {values[1]}"
            case "year":
                return f"year({cell}) IN ({', '.join(values)})" if len(values) > 1 else f"year({cell}) = {values[0]}"
            case "years":
                return f"year({cell}) BETWEEN {values[0]} AND {values[1]}"
            case "date_ge" | "date_gt" | "date_le" | "date_lt":
                return f"{cell}::DATE {_SIGNS[self.op[5:]]} DATE {values[0]}"
            case "column_lt" | "column_gt":
                return f"{cell} {_SIGNS[self.op[7:]]} {quote(str(self.values[0]))}"
            case "month":
                return f"month({cell}) IN ({', '.join(values)})"
            case "months":
                return f"month({cell}) BETWEEN {values[0]} AND {values[1]}"
            case "dates":
                return f"{cell}::DATE BETWEEN DATE {values[0]} AND DATE {values[1]}"
            case "empty":
                return f"{cell} IS NULL"
            case "none":
                return f"({cell} IS NULL OR {cell} = 0)"
            case "full":
                return f"{cell} IS NOT NULL"
            case op:
                return f"{cell} {_SIGNS[op]} {values[0]}"


def _is_year(value: str | float) -> bool:
    return isinstance(value, float) or re.match(r"\d{4}-", value) is not None


def _has_item(cell: str, item: str) -> str:
    """Return the condition that a cell holds a list with an item."""
    items = f"string_split_regex(trim({cell}), {text(_BETWEEN_ITEMS)})"
    return f"list_contains({items}, {text(item)})"


def _word(word: str) -> str:
    """Return an expression for a word within a text; one that ends with a star is the beginning of a word."""
    whole = re.sub(r"[^\w.가-힣]", ".", word.rstrip("*")).replace(".", "[.]")
    ends = "" if word.endswith("*") else "(s|es)?($|[^0-9a-zA-Z가-힣])"
    return f"(^|[^0-9a-zA-Z가-힣]){whole}{ends}"


@dataclass(frozen=True, slots=True)
class Formula:
    """A figure that each row makes of two of its columns.

    Args:
        left, right: the columns.
        sign: `×`, `÷`, `−` or `+`.
    """

    left: str
    sign: str
    right: str

    @property
    def name(self) -> str:
        """What the figure is called."""
        return f"{self.left} {self.sign} {self.right}"

    def sql(self) -> str:
        """Return the figure of a row: what is divided by 0 is none, and a sum of one alone is that one."""
        left, right = quote(self.left), quote(self.right)
        match self.sign:
            case "÷":
                return f"{left} / nullif({right}, 0)"
            case "+":
                return f"coalesce({left} + {right}, {left}, {right})"
            case _:
                return f"{left} {'*' if self.sign == '×' else '-'} {right}"


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What is asked of one table.

    Args:
        source, sheet: the file, relative to the workspace, and the sheet of a workbook.
        shape: `figure`, `rows`, `groups`, `share`, `change`, `range` (its lowest and highest value) or `correlation`.
        aggregate: a key of `AGGREGATES`; empty for rows as they are.
        measure: the column that is counted, summed up or ordered by; empty counts rows.
        other: the second column of a correlation, or of a change between two columns.
        group: a column whose values each get a figure.
        part: of a group that is a date, a key of `_PARTS`, such as `month` or `month of year` (2006-01).
        columns: what is shown of rows; of groups without a `group`, the columns that each get a figure.
        filters: which rows count.
        within: of a share, which of these rows it is.
        order: `desc`, `asc` or empty.
        limit: rows shown; 0 for all.
        ends: the two values of `group` that a change goes from and to.
        every: of rows, those that are alike in what is shown are shown each.
        formula: a figure of two columns that it may use by its name as a column.
    """

    source: str
    sheet: str = ""
    shape: str = "figure"
    aggregate: str = ""
    measure: str = ""
    other: str = ""
    group: str = ""
    part: str = ""
    columns: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    within: tuple[Filter, ...] = ()
    order: str = ""
    limit: int = 0
    ends: tuple[str | float, ...] = field(default=())
    every: bool = False
    formula: Formula | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all that is set as JSON values."""
        kept: dict[str, Any] = json.loads(json.dumps({name: value for name, value in asdict(self).items() if value}))
        return kept

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableQuery:
        """Read what `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        plain = ("sheet", "aggregate", "measure", "other", "group", "part", "order")
        formula = Formula(**{name: str(said) for name, said in data["formula"].items()}) if "formula" in data else None
        if data.get("shape", "figure") == "figure" and data.get("other"):  # as sums of two columns were written
            formula = Formula(str(data["measure"]), "+", str(data["other"]))
            data = {**data, "measure": formula.name, "other": ""}
        return cls(
            source=str(data["source"]),
            shape=str(data.get("shape", "figure")),
            columns=tuple(map(str, data.get("columns", ()))),
            filters=tuple(Filter.from_dict(one) for one in data.get("filters", ())),
            within=tuple(Filter.from_dict(one) for one in data.get("within", ())),
            limit=int(data.get("limit", 0)),
            ends=tuple(data.get("ends", ())),
            every=bool(data.get("every", False)),
            formula=formula,
            **{name: str(data.get(name, "")) for name in plain},
        )

    @property
    def limited(self) -> Filter | None:
        """The filter of which nobody said yet what the limit is."""
        return next((one for one in self.filters if one.op == "over"), None)

    @property
    def names(self) -> frozenset[str]:
        """The columns of the table that it uses."""
        made = self.made
        return self.figures - {made.name} | {made.left, made.right} if made else self.figures

    @property
    def made(self) -> Formula | None:
        """The figure of two columns that it uses."""
        return self.formula if self.formula and self.formula.name in self.figures else None

    @property
    def figures(self) -> frozenset[str]:
        """What it names: columns of the table, and the figure of two columns that it uses."""
        filtered = (one.column for one in (*self.filters, *self.within))
        return frozenset(filter(None, (self.measure, self.other, self.group, *self.columns, *filtered)))

    def rows_of(self, source: str) -> str:
        """Return what its rows are read from, as SQL: with the figure of two columns, where it uses one."""
        made = self.made
        return f"(SELECT *, {made.sql()} AS {quote(made.name)} FROM {source})" if made else source

    def figure(self, measure: str = "") -> str:
        """Return the expression of the figure, or of that of another column."""
        if measure:
            return replace(self, measure=measure).figure()
        if self.aggregate == "distinct":
            return f"count(DISTINCT {quote(self.measure)})"
        return f"{AGGREGATES[self.aggregate]}({quote(self.measure) if self.measure else '*'})"

    def sql(self, source: str = '"t"') -> str:
        """Return the query as SQL over a view of the cleaned rows, or over several that are joined."""
        conditions = [one.sql() for one in self.filters]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = f"FROM {self.rows_of(source)}{where}"
        match self.shape:
            case "correlation":
                return f"SELECT corr({quote(self.measure)}, {quote(self.other)}) AS r, count(*) AS n {rows}"
            case "range":
                return f"SELECT min({quote(self.measure)}), max({quote(self.measure)}) {rows}"
            case "share":
                part = " AND ".join(one.sql() for one in self.within)
                if self.measure:
                    cell = quote(self.measure)
                    return f"SELECT sum({cell}) FILTER (WHERE {part}) AS part, sum({cell}) AS whole {rows}"
                return f"SELECT count(*) FILTER (WHERE {part}) AS part, count(*) AS whole {rows}"
            case "change" if self.other:
                cells = [f"{AGGREGATES[self.aggregate or 'sum']}({quote(c)})" for c in (self.measure, self.other)]
                return f"SELECT {', '.join(cells)} {rows}"
            case "rows":
                cells_ = ", ".join(quote(c) for c in self.columns) or "*"
                distinct = "DISTINCT " if self.measure and not self.order and not self.every else ""
                also = f"{' AND' if where else ' WHERE'} {quote(self.measure)} IS NOT NULL" if self.order else ""
                ordered = f" ORDER BY {quote(self.measure)} {self.order.upper()}" if self.order else ""
                return f"SELECT {distinct}{cells_} {rows}{also}{ordered} LIMIT {self.limit or MAX_ROWS}"
            case "groups" if self.columns:
                each = (f"SELECT {text(name)}, {self.figure(name)} {rows}" for name in self.columns)
                by = f" ORDER BY 2 {self.order.upper()} NULLS LAST" if self.order else ""
                return f"SELECT * FROM ({' UNION ALL '.join(each)}){by} LIMIT {self.limit or MAX_ROWS}"
            case "groups" | "change":
                name = _PARTS.get(self.part, "{}").replace("{}", quote(self.group))
                also = f"{' AND' if where else ' WHERE'} {quote(self.group)} IS NOT NULL"
                if self.ends:
                    ends = ", ".join(text(v) if isinstance(v, str) else f"{v:.15g}" for v in self.ends)
                    also += f" AND {name} IN ({ends})"
                plain = f"min(isodow({quote(self.group)}))" if self.part == "weekday" else "1"
                by = f"2 {self.order.upper()} NULLS LAST, 1" if self.order else plain
                counted = f"SELECT {name}, {self.figure()} {rows}{also} GROUP BY 1 ORDER BY {by}"
                return f"{counted} LIMIT {self.limit or MAX_ROWS}"
            case _:
                return f"SELECT {self.figure()}, count(*) {rows}"
