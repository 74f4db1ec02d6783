"""CSV tables as they are read, and what is known of one once a question was put to it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hitl_tui.teams.analysis.asked import Best

MAX_ROWS = 200_000
_SAMPLE = re.compile(r"(?<![a-z])sample|표본\s?자료|가상|예시|샘플", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file.

    Args:
        path: relative to the workspace.
        header: column names.
        rows: cells of the data rows, each as long as the header.
        lines: line number of each row, counted from 1.
        sample: the file says of itself that it is sample data.
    """

    path: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    sample: bool


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one numeric column, all in `unit`.

    Args:
        column: its name without the unit.
        group: the group's value, or empty for all rows chosen.
        kind: an `Amount` kind.
        unit: an `Amount` unit.
        count: number of cells that hold a number.
        total: their sum, exact.
        low: smallest.
        high: largest.
        middle: median.
    """

    column: str
    group: str
    kind: str
    unit: str
    count: int
    total: Fraction
    low: Fraction
    high: Fraction
    middle: Fraction

    @property
    def mean(self) -> Fraction:
        """Sum through count."""
        return self.total / self.count

    def to_dict(self) -> dict[str, Any]:
        exact = {"total": self.total, "low": self.low, "high": self.high, "middle": self.middle}
        return {
            "column": self.column,
            "group": self.group,
            "kind": self.kind,
            "unit": self.unit,
            "count": self.count,
            **{name: str(value) for name, value in exact.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnStats:
        return cls(
            column=str(data["column"]),
            group=str(data["group"]),
            kind=str(data["kind"]),
            unit=str(data["unit"]),
            count=int(data["count"]),
            total=Fraction(data["total"]),
            low=Fraction(data["low"]),
            high=Fraction(data["high"]),
            middle=Fraction(data["middle"]),
        )


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What a table says to a question.

    Args:
        path: the file.
        row_count: rows in the file.
        chosen: rows the question names.
        filters: the values it names, as `column = value`.
        first_line: line of the first chosen row.
        last_line: line of the last chosen row.
        grouped_by: the column the statistics are grouped by, or empty.
        stats: the statistics.
        sample: the file says that it is sample data.
        totals: the question asks for sums.
        averages: it asks for averages or gives no hint what else.
        best: what it asks to be compared.
        period: the words of a period that it asks about and no rows could be chosen by; empty where there are none.
        dated: name of the column that says when a row is; empty where none does.
    """

    path: str
    row_count: int
    chosen: int
    filters: tuple[str, ...]
    first_line: int
    last_line: int
    grouped_by: str
    stats: tuple[ColumnStats, ...]
    sample: bool
    totals: bool = False
    averages: bool = True
    best: tuple[Best, ...] = ()
    period: str = ""
    dated: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "row_count": self.row_count,
            "chosen": self.chosen,
            "filters": list(self.filters),
            "first_line": self.first_line,
            "last_line": self.last_line,
            "grouped_by": self.grouped_by,
            "stats": [stat.to_dict() for stat in self.stats],
            "sample": self.sample,
            "totals": self.totals,
            "averages": self.averages,
            "best": [best.to_dict() for best in self.best],
            "period": self.period,
            "dated": self.dated,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableSummary:
        return cls(
            path=str(data["path"]),
            row_count=int(data["row_count"]),
            chosen=int(data["chosen"]),
            filters=tuple(str(item) for item in data["filters"]),
            first_line=int(data["first_line"]),
            last_line=int(data["last_line"]),
            grouped_by=str(data["grouped_by"]),
            stats=tuple(ColumnStats.from_dict(item) for item in data["stats"]),
            sample=bool(data["sample"]),
            totals=bool(data.get("totals", False)),
            averages=bool(data.get("averages", True)),
            best=tuple(Best.from_dict(item) for item in data.get("best", ())),
            period=str(data.get("period", "")),
            dated=str(data.get("dated", "")),
        )


def parse_table(text: str, path: str) -> Table:
    """Read a CSV text (comma, semicolon or tab); short rows are filled, long ones cut, at most 200,000 rows.

    Raises:
        ValueError: it has no header with two columns, or isn't CSV; the message names the file.
    """
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
    header: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    line = 1
    try:
        for cells in reader:
            begin, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = tuple(cell.strip() for cell in cells)
                continue
            rows.append(tuple(cell.strip() for cell in [*cells, *[""] * len(header)][: len(header)]))
            lines.append(begin)
            if len(rows) >= MAX_ROWS:
                break
    except csv.Error as error:
        raise ValueError(f"{path} can't be read as a table: {error}.") from error
    if len(header) < 2:
        raise ValueError(f"{path} is no table with a header of two or more columns.")
    head = " ".join([path, *header, *(cell for row in rows[:3] for cell in row)])
    return Table(path, header, tuple(rows), tuple(lines), bool(_SAMPLE.search(head)))
