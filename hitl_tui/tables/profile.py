"""What is known of each table before it is asked: its columns, their kinds, units and values."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.messages import Message
from hitl_tui.tables.engine import DATE_FORMATS, NULLS, SMALL, Engine, TableError, engine, quote, sheets, text
from hitl_tui.tables.files import TableFile

MAX_VALUES = 50_000
MAX_COLUMNS = 300
PROFILE_SECONDS = 10.0
PROBED = 3000
"""Rows by which the kind of a column is judged."""
_CACHED = 400
_COUNTED = 1_000_000
"""Bytes of a file of which different values are counted one by one: an estimate for few of them is far out."""
_UNIT = re.compile(r"[(\[](?P<unit>[^()\[\]]{1,20})[)\]]\s*$")
_LINK = re.compile(r"https?://")
_cache: OrderedDict[tuple[str, int, int], tuple[Table, ...]] = OrderedDict()
_lock = threading.Lock()
_MAY_BE = ("excel", "json")
"""Kinds of files, or sheets of them, that needn't be tables."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Args:
        name: as in the header.
        kind: `number`, `date`, `text`, or `other` for what nothing can be asked of.
        filled: rows with a value.
        distinct: different values, about.
        unit: as the header names it (`만원`, `%`), or empty.
        low, high: of numbers; of dates the years.
        last_month: of dates, the month of the last one.
        decimals: of numbers, how many decimals all of them are written with; 0 where they differ.
        values: different texts, the most frequent first; empty where there are too many.
    """

    name: str
    kind: str
    filled: int
    distinct: int
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    values: tuple[str, ...] = ()
    last_month: int = 0
    decimals: int = 0

    @property
    def bare_name(self) -> str:
        """Its name without the unit."""
        return _UNIT.sub("", self.name).strip()

    @property
    def years(self) -> bool:
        """Whether its numbers are years."""
        named = re.search(r"year|\byr\b|연도|년도", self.name, re.IGNORECASE) is not None
        low = 100 if named else 1000
        return self.kind == "number" and low <= self.low <= self.high <= 2200 and self.distinct > 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table: a file, or a sheet of one.

    Args:
        file: where it is.
        sheet: of a workbook, else empty.
        rows: how many.
        columns: in order.
        sql: what gives its cleaned rows from a view `source`.
    """

    file: TableFile
    sheet: str
    rows: int
    columns: tuple[Column, ...]
    sql: str = field(repr=False)

    @property
    def name(self) -> str:
        """The path, with the sheet where there is one."""
        return f"{self.file.path}[{self.sheet}]" if self.sheet else self.file.path

    @property
    def stem(self) -> str:
        return self.file.stem

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class Profiles:
    """The tables of a workspace, and why files couldn't be read, by path."""

    tables: tuple[Table, ...]
    unread: tuple[tuple[str, str], ...] = ()


def profiles(files: Sequence[TableFile]) -> Profiles:
    """Return what is known of the tables of files; a file is read again only when it changed."""
    unread: list[tuple[str, str]] = []
    until = time.monotonic() + PROFILE_SECONDS
    with _lock:
        known = {file.path: _cache[_key(file)] for file in files if _key(file) in _cache}
    new = [file for file in files if file.path not in known]
    if new:
        with engine(new, PROFILE_SECONDS) as opened:
            for n, file in enumerate(new):
                if time.monotonic() > until:
                    unread.append((file.path, Message("There was no time to read {}.", file.path)))
                    continue
                try:
                    known[file.path] = _tables(opened, f"file{n}", file)
                except TableError as error:
                    unread.append((file.path, str(error)))
        with _lock:
            _cache.update({_key(file): known[file.path] for file in new if file.path in known})
            while len(_cache) > _CACHED:
                _cache.popitem(last=False)
    return Profiles(tuple(table for file in files for table in known.get(file.path, ())), tuple(unread))


def _key(file: TableFile) -> tuple[str, int, int]:
    return str(file.absolute), file.mtime_ns, file.size


def _tables(opened: Engine, view: str, file: TableFile) -> tuple[Table, ...]:
    found = []
    for n, sheet in enumerate(sheets(file)):
        try:
            found.append(_table(opened, f"{view}_{n}", file, sheet))
        except TableError:
            if file.kind not in _MAY_BE:
                raise
    return tuple(table for table in found if (table.rows and len(table.columns) > 1) or file.kind not in _MAY_BE)


def _table(opened: Engine, view: str, file: TableFile, sheet: str) -> Table:
    opened.load(view, file, sheet)
    raw = [(str(row[0]), str(row[1])) for row in opened.ask(f"DESCRIBE {quote(view)}", MAX_COLUMNS).rows]
    probes = "".join(f", {probe}" for name, kind in raw for probe in _probes(name, kind))
    ((_, *counted),) = opened.ask(f"SELECT count(*){probes} FROM (SELECT * FROM {quote(view)} LIMIT {PROBED})").rows
    probed = [counted[5 * n : 5 * n + 5] for n in range(len(raw))]
    kinds = [_kind(kind, figures) for (_, kind), figures in zip(raw, probed, strict=True)]
    names = _clean_names([name for name, _ in raw])
    cells = [
        f"{_cleaned(old, kind, made)} AS {quote(new)}"
        for (old, kind), made, new in zip(raw, kinds, names, strict=True)
        if made != "other"
    ]
    sql = f"SELECT {', '.join(cells) or '1 AS nothing'} FROM {{source}}"
    small = file.size < SMALL
    made = "TEMP TABLE" if small else "TEMP VIEW"
    cleaned = quote(f"{view}_cleaned")
    opened.ask(f"CREATE {made} {cleaned} AS {sql.format(source=quote(view))}")
    decimals = {
        name: int(probe[-1] or 0) for name, kind, probe in zip(names, kinds, probed, strict=True) if kind == "number"
    }
    asked = [(name, kind) for name, kind in zip(names, kinds, strict=True) if kind != "other"]
    distinct = "count(DISTINCT {})" if file.size < _COUNTED else "approx_count_distinct({})"
    facts = ", ".join(_facts(name, kind, distinct) for name, kind in asked)
    ((rows, *figures),) = opened.ask(f"SELECT count(*){', ' if facts else ''}{facts} FROM {cleaned}").rows
    columns = [_column(opened, cleaned, name, kind, figures[4 * n : 4 * n + 4]) for n, (name, kind) in enumerate(asked)]
    columns = [replace(one, decimals=decimals.get(one.name, 0)) for one in columns]
    columns += [Column(name, kind, 0, 0) for name, kind in zip(names, kinds, strict=True) if kind == "other"]
    opened.ask(f"DROP {made.removeprefix('TEMP ')} {cleaned}")
    return Table(file, sheet, int(rows), tuple(columns), sql)


def _clean_names(names: Sequence[str]) -> list[str]:
    made = [" ".join(name.strip(' "\ufeff').split()) or f"column{n}" for n, name in enumerate(names, start=1)]
    return [name if made.index(name) == n else f"{name}_{n}" for n, name in enumerate(made)]


def _bare(name: str, kind: str) -> str:
    nulls = ", ".join(map(text, NULLS))
    bare = f"trim({quote(name)}, ' \"')"
    return f"CASE WHEN {bare} IN ({nulls}) THEN NULL ELSE {bare} END" if kind == "VARCHAR" else quote(name)


def _number(cell: str) -> str:
    return f"TRY_CAST(regexp_replace({cell}, '[,%₩$€£\\s]|만?원$', '', 'g') AS DOUBLE)"


def _date(cell: str) -> str:
    formats = ", ".join(map(text, DATE_FORMATS))
    return f"coalesce(TRY_CAST({cell} AS TIMESTAMP), try_strptime({cell}, [{formats}]))"


def _probes(name: str, kind: str) -> tuple[str, ...]:
    """Return figures of a column: filled, numbers, dates, codes that begin with a zero, and decimals of all."""
    cell = _bare(name, kind)
    if kind != "VARCHAR":
        return ("0", "0", "0", "0", "0")
    codes = f"count(*) FILTER (regexp_matches({cell}, '^0\\d'))"
    places = f"length(regexp_extract({cell}, '\\.(\\d+)', 1))"
    needed = f"count(*) FILTER (regexp_matches({cell}, '\\.\\d*[1-9]'))"  # whole numbers may be written `12.0`
    same = f"CASE WHEN min({places}) = max({places}) AND {needed} > 0 THEN min({places}) ELSE 0 END"
    return (f"count({cell})", f"count({_number(cell)})", f"count({_date(cell)})", codes, same)


def _kind(kind: str, counted: Sequence[int]) -> str:
    filled, numbers, dates, codes, _ = counted
    if kind != "VARCHAR":
        base = kind.split("(")[0]
        if base == "DATE" or base.startswith("TIMESTAMP"):
            return "date"
        if base in ("BOOLEAN", "UUID", "TIME", "ENUM"):
            return "text"
        return "number" if base.endswith("INT") or base in ("INTEGER", "DOUBLE", "FLOAT", "DECIMAL") else "other"
    if filled and numbers >= 0.97 * filled and not codes > 0.5 * filled:
        return "number"
    return "date" if filled and dates >= 0.9 * filled else "text"


def _cleaned(name: str, kind: str, made: str) -> str:
    cell = _bare(name, kind)
    if kind != "VARCHAR":
        cast = {"number": "DOUBLE", "date": "TIMESTAMP", "text": "VARCHAR"}.get(made)
        return f"{cell}::{cast}" if cast else cell
    return {"number": _number(cell), "date": _date(cell)}.get(made, cell)


def _facts(name: str, kind: str, distinct: str) -> str:
    cell = quote(name)
    low = {"number": cell, "date": f"year({cell}) * 12 + month({cell}) - 1"}.get(kind, "NULL")
    return f"count({cell}), {distinct.format(cell)}, min({low}), max({low})"


def _column(opened: Engine, rows: str, name: str, kind: str, facts: Sequence[float | None]) -> Column:
    filled, distinct, low, high = (fact or 0 for fact in facts)
    last_month = 0
    if kind == "date" and filled:
        low, (high, last_month) = low // 12, divmod(int(high), 12)
        last_month += 1
    unit = _UNIT.search(name)
    values: list[str] = []
    if kind == "text" and distinct <= MAX_VALUES:
        cell = quote(name)
        counted = f"SELECT {cell} FROM {rows} WHERE {cell} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1"
        values = [str(row[0]) for row in opened.ask(counted, MAX_VALUES).rows]
        distinct = len(values)
        if values and _LINK.match(values[0]):
            values = []
    unit_name = unit["unit"] if unit else ""
    return Column(name, kind, int(filled), int(distinct), unit_name, float(low), float(high), tuple(values), last_month)
