"""What is known of each table before it is asked: its columns, their kinds, units and values."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.safe_text import one_line
from hitl_tui.tables.engine import (
    BETWEEN_SHEETS,
    DATE_FORMATS,
    DAY_FIRST,
    MONTH_FIRST,
    MONTH_FORMATS,
    NULLS,
    SMALL,
    Engine,
    TableError,
    engine,
    quote,
    sheets,
    text,
)
from hitl_tui.tables.files import TableFile
from hitl_tui.tables.query import Formula
from hitl_tui.tables.words import lexicon, words_of

MAX_VALUES = 50_000
MAX_COLUMNS = 300
_LONGEST_CELL, _LOOKED_AT = 200, 2_000
"""Characters of a value that are shown, and of which that is found out."""
PROFILE_SECONDS = 20.0
"""After so long no other file is looked at."""
_PROBED, _LEAST, _CELLS = 3000, 500, 200_000
"""Rows by which the kind of a column is judged: of a wide table fewer, down to the least, for that many cells."""
_CACHED = 400
_COUNTED = 1_000_000
"""Bytes of a file of which different values are counted one by one: an estimate for few of them is far out."""
_UNIT = re.compile(r"[(\[](?P<unit>[^()\[\]]{1,20})[)\]]\s*$")
SOURCE = "{source}"
"""Stands in a table's SQL for the view of its cells as they are."""
_LINK = re.compile(r"https?://")
UNITS_OF_TIME = ("s", "min", "h")
_NULL = ", ".join(map(text, NULLS))
_SIGNS = ("₩", "$", "€", "£", "원")
_LIST = re.compile(r"(?:VARCHAR|[A-Z]*INT|INTEGER|DOUBLE|FLOAT|BOOLEAN)\[\]")
"""Kinds of lists that are one text: their values with commas."""
_SEPARATOR = re.compile(r"[,;|]")
_SPLIT, _LONGEST_ITEM = 3000, 40
"""Values that are looked at for lists, and letters that an item of one has at most."""
_LASTS = re.compile(r"length|duration|runtime|elapsed|days|길이|시간|분량|러닝타임|일수", re.IGNORECASE)
_TIMES = re.compile(
    r"(?<![a-z])(?:(?P<s>(?-i:s)|secs?|seconds?)|(?P<min>mins?|minutes?)|(?P<h>(?-i:h)|hrs?|hours?))(?![a-z])"
    r"|(?P<ks>초)|(?P<km>분)",
    re.I,
)
"""Units of time in names of columns: a letter alone only in lower case."""
_LAST_WORD = re.compile(r"(?P<per>\bper[\W_]+|(?<=_)per[\W_]+|/\s?|당\s)?(?P<word>[^\W_]+)$", re.I)
"""The last word of a name, and what says that it is one that a rate is by."""
_TOTAL = r"(?:(?:grand|sub|over)?[ -]?totals?\b.*|sum|총?합계|총계|소계|총합|누계|계)[: ]*"
"""Labels of rows that sum up others."""
_LABELS = 3
"""Columns that such a label may stand in."""
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?")
_AFTERNOON = re.compile(r"1[3-9]|2\d")
_NUMBERING = frozenset(("id", "idx", "index", "no", "nr", "number"))
_APART = 100
"""How far numbers that rows are called by are apart at most, on average; figures are farther."""
_NUMBERED = ("번호", "순번", "일련번호")
"""How the names of columns end that number rows."""
_cache: OrderedDict[tuple[str, int, int], tuple[Table, ...] | str] = OrderedDict()
_lock = threading.Lock()
_AT_ONCE = 32
"""Columns that are looked at in one query."""
_FEW_BYTES, _FEW_CELLS = 500_000, 50_000
"""Of a table so small all cells are looked at here."""
_AS = {"text": "VARCHAR", "number": "DOUBLE", "date": "VARCHAR"}
"""What a cell of each kind is looked at as."""
_MAY_BE = ("excel", "json", "lists")
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
        first_month, last_month: of dates, the months of the first and the last one.
        decimals: of numbers, how many decimals all of them are written with; 0 where they differ.
        whole: its numbers are whole ones.
        money: its cells, or its name, have a sign of a currency.
        values: different texts, the most frequent first; empty where there are too many.
        items: what the lists in its cells are made of; empty where a cell is one value.
        written: of dates that are months or quarters, how the file has each, by its first day.
    """

    name: str
    kind: str
    filled: int
    distinct: int
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    values: tuple[str, ...] = ()
    first_month: int = 0
    last_month: int = 0
    decimals: int = 0
    money: bool = False
    whole: bool = False
    items: frozenset[str] = frozenset()
    written: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def bare_name(self) -> str:
        """Its name without the unit."""
        return _UNIT.sub("", self.name).strip()

    @property
    def years(self) -> bool:
        """Whether its numbers are years."""
        named = re.search(r"year|\byr\b|연도|년도", self.name, re.IGNORECASE) is not None
        low = 100 if named else 1000
        whole = low <= self.low <= self.high <= 2200 or (named and self.century > 0)
        counted = not named and (self.money or not lexicon().additive.isdisjoint(words_of(self.name)))
        return self.kind == "number" and whole and self.distinct > 1 and not counted

    @property
    def century(self) -> int:
        """What its years leave out, were they years: 1900 where they are 63 to 92."""
        return 1900 if 50 <= self.low <= self.high < 100 else 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A column less another one.

    Args:
        kind: a key of `pairs` in words.toml: `left`, `short`, `hours`, `days` or `unused`.
        column: what they make.
        more, less: the two.
    """

    kind: str
    column: Column
    more: str
    less: str

    def sql(self) -> str:
        """Return the difference; nothing paid or used is 0, and an end before its beginning is on the next day."""
        more, less = quote(self.more), quote(self.less)
        if self.kind == "hours":
            minutes = f"date_diff('minute', TRY_CAST({less} AS TIME), TRY_CAST({more} AS TIME))"
            return f"(({minutes} + 1440) % 1440) / 60"
        if self.kind == "days":
            return f"date_diff('day', {less}, {more})"
        return f"{more} - {f'coalesce({less}, 0)' if self.kind in ('left', 'unused') else less}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: a file, or a sheet of one.

    Args:
        file: where it is.
        sheet: of a workbook, else empty.
        rows: how many.
        columns: in order.
        sql: what gives its cleaned rows from a view `source`.
        pairs: figures of two of its columns, which these rows have, too.
        keys: the columns that hold keys of other tables, where these are known.
        made: figures of two columns that a query makes.
    """

    file: TableFile
    sheet: str
    rows: int
    columns: tuple[Column, ...]
    sql: str = field(repr=False)
    pairs: tuple[Pair, ...] = ()
    keys: frozenset[str] = frozenset()
    made: tuple[Column, ...] = ()

    @property
    def name(self) -> str:
        """The path, with the sheet where there is one."""
        sheets = self.sheet.replace(BETWEEN_SHEETS, ", ")
        return f"{self.file.path}[{sheets}]" if sheets else self.file.path

    @property
    def stem(self) -> str:
        return self.file.stem

    @property
    def place(self) -> tuple[str, str]:
        """The file and the sheet that its rows are of, whatever is read beside them."""
        return self.file.path, self.sheet

    @property
    def files(self) -> tuple[TableFile, ...]:
        """The files that its rows are read from."""
        return (self.file,)

    @property
    def beside(self) -> frozenset[str]:
        """The columns that are those of other tables."""
        return frozenset()

    @property
    def labels(self) -> Mapping[str, Sequence[str]]:
        """The columns that say what rows of tables beside it are called, with the words for these."""
        return {}

    @property
    def source(self) -> str:
        """What its rows are read from, as SQL, where `t` is a view of them."""
        return '"t"'

    def load_beside(self, opened: Engine) -> None:
        """Make views of the tables beside it, if there are any."""

    def column(self, name: str) -> Column | None:
        paired = (pair.column for pair in self.pairs)
        return next((column for column in (*self.columns, *paired, *self.made) if column.name == name), None)

    def making(self, formula: Formula | None) -> Self:
        """Return the table with a figure that a query makes of two of its columns; as it is for none."""
        left, right = (self.column(name) for name in (formula.left, formula.right)) if formula else (None, None)
        return replace(self, made=(_made(formula, left, right),)) if formula and left and right else self

    def numbers_rows(self, name: str) -> bool:
        """Whether whole numbers only tell rows apart: called so, or first, all different and as the file is."""
        column = self.column(name)
        if name in self.keys:
            return True
        if column is None or column.kind != "number" or column.years or column.money or column.decimals:
            return False
        whole = column.low.is_integer() and column.high.is_integer()
        if whole and column.bare_name.endswith(_NUMBERED):
            return True
        if self.rows < 2 or not whole or column.distinct < 0.9 * max(column.filled, 1):
            return False
        words = words_of(column.bare_name)
        if words and words[-1] in _NUMBERING:
            return True
        first = name == self.columns[0].name and column.filled == self.rows and {*words} <= {*words_of(self.stem)}
        return first and column.high - column.low <= _APART * self.rows


def _made(formula: Formula, left: Column, right: Column) -> Column:
    """Return what is known of a figure of two columns."""
    alike, product = left.unit == right.unit, formula.sign == "×"
    if formula.sign in "+−":
        unit, decimals, money = (
            left.unit if alike else "",
            max(left.decimals, right.decimals),
            left.money and right.money,
        )
    else:
        units = [unit for unit in (left.unit, right.unit) if unit]
        unit = units[0] if len(units) == 1 and units[0] in lexicon().money else ""
        decimals, money = (left.decimals + right.decimals) * product, left.money != right.money
    low = min(0.0, left.low - right.high) if formula.sign == "−" else 0.0
    return Column(
        formula.name, "number", min(left.filled, right.filled), max(left.distinct, right.distinct), unit, low,
        decimals=decimals, money=money, whole=left.whole and right.whole and formula.sign != "÷",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Profiles:
    """The tables of a workspace, and why files couldn't be read, by path."""

    tables: tuple[Table, ...]
    unread: tuple[tuple[str, str], ...] = ()


def profiles(files: Sequence[TableFile], seconds: float = PROFILE_SECONDS) -> Profiles:
    """Return what is known of the tables of files; a file is read again only when it changed.

    Args:
        files: the files.
        seconds: after so long no other file is read.
    """
    until = time.monotonic() + seconds
    known = {file.path: _known(file) for file in files}
    if new := [file for file in files if known[file.path] is None]:
        with engine(new) as opened:
            for n, file in enumerate(new):
                if time.monotonic() > until:
                    known[file.path] = Message("There was no time to read {}.", file.path)
                    continue
                found = _known(file)  # what looks at them ahead may have got there meanwhile
                if found is None:
                    found = _look_at(opened, f"file{n}", file)
                    _keep(file, found)
                known[file.path] = found
    tables = tuple(table for found in known.values() if isinstance(found, tuple) for table in found)
    return Profiles(tables, tuple((path, why) for path, why in known.items() if isinstance(why, str)))


def _known(file: TableFile) -> tuple[Table, ...] | str | None:
    """Return the tables of a file, or why it can't be read; None where nobody looked at it as it is now."""
    with _lock:
        return _cache.get(_key(file))


def _keep(file: TableFile, found: tuple[Table, ...] | str) -> None:
    with _lock:
        _cache[_key(file)] = found
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)


def _look_at(opened: Engine, view: str, file: TableFile) -> tuple[Table, ...] | str:
    try:
        return _tables(opened, view, file)
    except TableError as error:
        return str(error)


def _key(file: TableFile) -> tuple[str, int, int]:
    return str(file.absolute), file.mtime_ns, file.size


def _tables(opened: Engine, view: str, file: TableFile) -> tuple[Table, ...]:
    found, unread = [], []
    for n, sheet in enumerate(sheets(file)):
        try:
            found.append(_table(opened, f"{view}_{n}", file, sheet))
        except TableError as error:
            unread.append(error)
    if unread and not found and file.kind not in _MAY_BE:  # one sheet that can't be read leaves the others
        raise unread[0]
    found = [table for table in found if (table.rows and len(table.columns) > 1) or file.kind not in _MAY_BE]
    alike: dict[tuple[str, ...], list[Table]] = {}
    for table in found:
        alike.setdefault(tuple(column.name.casefold() for column in table.columns), []).append(table)
    return tuple(_together(opened, f"{view}_{n}_all", file, tables) for n, tables in enumerate(alike.values()))


def _together(opened: Engine, view: str, file: TableFile, tables: Sequence[Table]) -> Table:
    """Return sheets with the same columns as one table, of which one more column says which sheet a row is of."""
    if len(tables) == 1:
        return tables[0]
    return _table(opened, view, file, BETWEEN_SHEETS.join(table.sheet for table in tables))


def _table(opened: Engine, view: str, file: TableFile, sheet: str) -> Table:
    opened.load(view, file, sheet)
    raw = [(str(row[0]), str(row[1])) for row in opened.ask(f"DESCRIBE {quote(view)}", MAX_COLUMNS).rows]
    year = _year_of(file)
    probed = _probed(opened, view, raw, year)
    kinds = [_kind(kind, probe) for (_, kind), probe in zip(raw, probed, strict=True)]
    names = _clean_names([name for name, _ in raw])
    known = [one for one in zip(raw, kinds, names, probed, strict=True) if one[1] != "other"]
    bare = [f"{_bare(old, kind)} AS {quote(old)}" for (old, kind), *_ in known]
    cells = [f"{_cleaned(old, kind, made, year, probe)} AS {quote(new)}" for (old, kind), made, new, probe in known]
    cleared = f"SELECT {', '.join(bare) or '1 AS nothing'} FROM {SOURCE}"
    texts = [(name, made) for (name, kind), made in zip(raw, kinds, strict=True) if kind == "VARCHAR"]
    if totals := _totals(opened, view, texts):
        cleared += f" WHERE NOT ({totals})"
    sql = f"SELECT {', '.join(cells) or '*'} FROM ({cleared})"
    asked = [(name, kind) for name, kind in zip(names, kinds, strict=True) if kind != "other"]
    rows, facts = _facts(opened, view, file, sql, asked)
    columns = [_column(name, kind, one) for (name, kind), one in zip(asked, facts, strict=True)]
    decimals = {
        name: probe.decimals for name, kind, probe in zip(names, kinds, probed, strict=True) if kind == "number"
    }
    columns = [replace(one, decimals=decimals.get(one.name, 0)) for one in columns]
    longer = {
        new: _written(opened, view, old, year) for (old, _), made, new, probe in known if _has_no_days(made, probe)
    }
    columns = [replace(one, written=longer.get(one.name, {})) for one in columns]
    lists = {name for name, (_, kind) in zip(names, raw, strict=True) if _LIST.fullmatch(kind)}
    columns = [replace(one, items=_items(one.values, lists=one.name in lists)) for one in columns]
    long = {name for name, probe in zip(names, probed, strict=True) if probe.lasting}
    paid = {name for name, probe in zip(names, probed, strict=True) if 2 * probe.paid > probe.filled}
    columns = [replace(one, money=one.name in paid or one.unit in _SIGNS) for one in columns]
    columns = [replace(one, unit="s") if one.kind == "number" and one.name in long else one for one in columns]
    columns += [Column(name, kind, 0, 0) for name, kind in zip(names, kinds, strict=True) if kind == "other"]
    opened.unload(view)
    pairs = pairs_of(columns)
    if pairs:
        sql = f"SELECT *, {', '.join(f'{pair.sql()} AS {quote(pair.column.name)}' for pair in pairs)} FROM ({sql})"
    return Table(file, sheet, int(rows), tuple(columns), sql, pairs)


def _has_no_days(kind: str, probe: Probe) -> bool:
    """Whether what a column has of dates are months or quarters."""
    return kind == "date" and probe.filled > 0 and probe.longer == probe.dates


def _written(opened: Engine, view: str, name: str, year: int) -> dict[str, str]:
    """Return how a file writes the months or quarters of a column, by their first days."""
    cell = _trimmed(quote(name))
    day = f"strftime({_date(cell, year)}, '%Y-%m-%d')"
    asked = f"SELECT {day}, min({cell}) FROM {quote(view)} GROUP BY 1 HAVING {day} IS NOT NULL"
    return {str(day): str(said) for day, said in opened.ask(asked, MAX_VALUES).rows}


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the cells of a column are, all together; its texts as `Column.values` has them."""

    filled: int
    distinct: int
    low: float
    high: float
    whole: bool
    values: tuple[str, ...] = ()


def _facts(
    opened: Engine, view: str, file: TableFile, sql: str, asked: Sequence[tuple[str, str]]
) -> tuple[int, list[_Facts]]:
    """Return how many rows a table has, and the facts of its columns, each with its kind.

    Those of few cells are taken from the cells: DuckDB takes longer to plan such a query than to answer it.
    """
    if file.size < _FEW_BYTES:
        cells = ", ".join(f"{quote(name)}::{_AS[kind]}" for name, kind in asked) or "NULL"
        found = opened.ask(
            f"SELECT {cells} FROM ({sql.replace(SOURCE, quote(view))})", _FEW_CELLS // max(len(asked), 1)
        )
        if not found.more:
            columns = zip(*found.rows, strict=True) if found.rows else ((),) * len(asked)
            return len(found.rows), [_facts_of(cells, kind) for cells, (_, kind) in zip(columns, asked, strict=False)]
    made = "TEMP TABLE" if file.size < SMALL else "TEMP VIEW"
    cleaned = quote(f"{view}_cleaned")
    opened.ask(f"CREATE {made} {cleaned} AS {sql.replace(SOURCE, quote(view))}")
    distinct = "count(DISTINCT {})" if file.size < _COUNTED else "approx_count_distinct({})"
    rows, figures = 0, list[Any]()
    for at in range(0, max(len(asked), 1), _AT_ONCE):  # some columns at a time, as memory is bounded
        wanted = ", ".join(["count(*)", *(_counted(*one, distinct) for one in asked[at : at + _AT_ONCE])])
        ((rows, *some),) = opened.ask(f"SELECT {wanted} FROM {cleaned}").rows
        figures += some
    facts = []
    for n, (name, kind) in enumerate(asked):
        filled, different, low, high, whole = (figure or 0 for figure in figures[5 * n : 5 * n + 5])
        values: tuple[str, ...] = ()
        if kind == "text" and different <= MAX_VALUES:
            cell = quote(name)
            each = f"SELECT {cell} FROM {cleaned} WHERE {cell} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1"
            values = tuple(str(row[0]) for row in opened.ask(each, MAX_VALUES).rows)
            different = len(values)
        facts.append(_Facts(filled, different, low, high, bool(whole), values))
    opened.ask(f"DROP {made.removeprefix('TEMP ')} {cleaned}")
    return rows, facts


def _facts_of(cells: Sequence[Any], kind: str) -> _Facts:
    counted = Counter(cell for cell in cells if cell is not None and cell == cell)  # no figure is as no cell
    filled, different = counted.total(), len(counted)
    if kind == "text":
        values = sorted(counted, key=lambda value: (-counted[value], value)) if different <= MAX_VALUES else ()
        return _Facts(filled, different, 0, 0, whole=False, values=tuple(values))
    if not counted:
        return _Facts(0, 0, 0, 0, whole=False)
    if kind == "date":
        parts = (day.split("-") for day in counted if day[0].isdigit())
        months = [int(year) * 12 + int(month) - 1 for year, month, *_ in parts] or [0]
        return _Facts(filled, different, min(months), max(months), whole=False)
    return _Facts(filled, different, min(counted), max(counted), all(cell == cell // 1 for cell in counted))


def plain(value: Any, column: Column | None = None) -> str:
    """Return a value of any kind, whole numbers without a point, dates without midnight, months as a file has them."""
    if value is None:
        return "–"
    if isinstance(value, datetime.datetime):
        if column and (written := column.written.get(value.date().isoformat())):
            return plain(written)
        if value.time() == datetime.time():
            return value.date().isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.10g}"
    return clip(one_line(" ".join(str(value)[:_LOOKED_AT].split()).replace("|", "/"), 2 * _LONGEST_CELL), _LONGEST_CELL)


def pairs_of(columns: Sequence[Column]) -> tuple[Pair, ...]:
    """Return what columns make in twos: where one alone is called as each of the two is, and none as the figure."""
    made = []
    for kind, (asked, more, less) in lexicon().pairs.items():
        if any(asked.search(one.name) or (kind == "days" and lasts(one.name)) for one in columns):
            continue
        of_kind = "date" if kind == "days" else "number"
        fit = [one for one in columns if (_is_clock(one) if kind == "hours" else one.kind == of_kind)]
        first = [one for one in fit if _called(one, more)]
        second = [one for one in fit if _called(one, less) and one not in first]
        if kind == "hours" and not any(_AFTERNOON.match(value) for one in first for value in one.values):
            continue  # 5:00 may be in the afternoon
        if len(first) == len(second) == 1 and first[0].money == second[0].money and first[0].unit == second[0].unit:
            unit = "h" if kind == "hours" else first[0].unit
            name = f"{first[0].name} − {second[0].name}"
            column = replace(first[0], name=name, kind="number", unit=unit, values=(), low=0.0, high=0.0)
            made.append(Pair(kind, column, first[0].name, second[0].name))
    return tuple(made)


def _is_clock(column: Column) -> bool:
    return column.kind == "text" and bool(column.values) and all(_CLOCK.fullmatch(one) for one in column.values)


def _called(column: Column, words: Sequence[str]) -> bool:
    said = words_of(column.bare_name)
    return any(word in said if word.isascii() else any(word in one for one in said) for word in words)


def lasts(name: str) -> bool:
    """Whether a column says how long something takes."""
    return _LASTS.search(name) is not None


def _totals(opened: Engine, view: str, texts: Sequence[tuple[str, str]]) -> str:
    """Return which rows are totals of others, as a condition; empty where there are none.

    A label such as "Total" is one where no other words stand in its row, and where no two rows are called so.
    """
    words = [name for name, made in texts if made in ("text", "date")]
    labels = {
        name: f"CASE WHEN {_may_be_total(quote(name))}"
        f" THEN coalesce(regexp_full_match(lower({_bare(name, 'VARCHAR')}), {text(_TOTAL)}), FALSE) ELSE FALSE END"
        for name, _ in texts[:_LABELS]
    }
    if not labels:
        return ""
    counted = ", ".join(f"count(*) FILTER ({label})" for label in labels.values())
    (found,) = opened.ask(f"SELECT {counted} FROM {quote(view)}").rows
    for name in (name for name, n in zip(labels, found, strict=True) if n):
        others = [f"{_bare(other, 'VARCHAR')} IS NULL" for other in words if other != name]
        condition = " AND ".join([labels[name], *others])
        counted = f"count(*), count(DISTINCT {quote(name)}), (SELECT count(*) FROM {quote(view)})"
        ((n, different, rows),) = opened.ask(f"SELECT {counted} FROM {quote(view)} WHERE {condition}").rows
        if n and n == different and 3 * n <= rows:
            return condition
    return ""


def _may_be_total(cell: str) -> str:
    """Return whether a cell may be such a label, which is quicker to say than that it is one."""
    return f"regexp_matches({cell}, '(?i)total|sum|계|합')"


_LONGEST = 80
"""Characters of a column's name; more is a remark on it."""


def _clean_names(names: Sequence[str]) -> list[str]:
    made = [clip(" ".join(name.strip(' "\ufeff').split()), _LONGEST) or f"column{n}" for n, name in enumerate(names, 1)]
    return [name if made.index(name) == n else f"{name}_{n}" for n, name in enumerate(made)]


def _bare(name: str, kind: str) -> str:
    """Return a cell without what stands for nothing: a header may stand above a second part of a sheet, too."""
    bare = _trimmed(quote(name))
    return (
        f"CASE WHEN {bare} IN ({_NULL}, {text(name)}) THEN NULL ELSE {bare} END" if kind == "VARCHAR" else quote(name)
    )


def _trimmed(cell: str) -> str:
    # Trimming is slow, and few cells need it.
    return f"CASE WHEN contains({cell}, ' ') OR contains({cell}, '\"') THEN trim({cell}, ' \"') ELSE {cell} END"


def _number(cell: str, *, lasts: bool = False, comma: bool = False) -> str:
    if comma:
        cell = f"replace(replace({cell}, '.', ''), ',', '.')"
    if lasts:
        minutes, seconds = (f"TRY_CAST(split_part({cell}, ':', {n}) AS DOUBLE)" for n in (-2, -1))
        hours = f"coalesce(TRY_CAST(split_part({cell}, ':', -3) AS DOUBLE), 0)"
        return f"({hours} * 3600 + {minutes} * 60 + {seconds})"
    written = f"TRY_CAST(regexp_replace({cell}, '[,%₩$€£\\s]|만?원$', '', 'g') AS DOUBLE)"
    return f"coalesce(TRY_CAST({cell} AS DOUBLE), {written})"  # most are plain, which is quicker to read


def _date(cell: str, year: int, *, month_first: bool = False) -> str:
    """Return a cell as a moment: a day, or the beginning of a quarter of a year."""
    return f"coalesce({_day(cell, year, month_first=month_first)}, {_quarter(f'lower({cell})')})"


def _day(cell: str, year: int, *, month_first: bool = False) -> str:
    """Return a cell as a day: in the one order of day and month that a column has; days without a year in one."""
    days = (*DAY_FIRST, *MONTH_FIRST)
    formats = ", ".join(map(text, (*(days[::-1] if month_first else days), *DATE_FORMATS)))
    bare = f"CASE WHEN contains({cell}, '월') THEN try_strptime({text(f'{year}년 ')} || {cell}, '%Y년 %m월 %d일') END"
    cast = f"CASE WHEN regexp_matches({cell}, '^\\d{{4}}-\\d') THEN TRY_CAST({cell} AS TIMESTAMP) END"
    written = f"CASE WHEN {_looks_dated(cell)} THEN try_strptime({cell}, [{formats}]) END"
    return f"coalesce({cast}, {written}, {bare})"


def _looks_dated(cell: str) -> str:
    """Return whether a cell may be a date, which is quicker to say than which one it is."""
    return f"regexp_matches({cell}, '\\d{{4}}|[/a-z][- ]?\\d\\d$')"


def _is_quarter(cell: str) -> str:
    """Return whether a cell is a quarter of a year: `Q1-94` or `1994 1분기`."""
    year, quarter = r"(\d{4}|\d\d)", r"(q[1-4]|[1-4](q|분기))"
    return f"regexp_full_match({cell}, '{quarter}[-/. '']*{year}|{year}(년|[-/. ''])*{quarter}')"


def _quarter(cell: str) -> str:
    """Return a cell that is a quarter of a year as the moment in which it begins."""
    part = "^q[1-4]|q[1-4]$|^[1-4]q|[1-4](q|분기)$"
    number = f"TRY_CAST(regexp_extract(regexp_extract({cell}, '{part}'), '[1-4]') AS INT)"
    written = f"TRY_CAST(regexp_extract(regexp_replace({cell}, '{part}', ' '), '\\d+') AS INT)"
    whole = f"{written} + CASE WHEN {written} < 70 THEN 2000 WHEN {written} < 100 THEN 1900 ELSE 0 END"
    return f"CASE WHEN {_is_quarter(cell)} THEN make_timestamp({whole}, 3 * {number} - 2, 1, 0, 0, 0) END"


def _year_of(file: TableFile) -> int:
    """Return the year of days that are written without one: that of a file's name, or when it was written."""
    named = re.search(r"(?<!\d)20\d\d(?!\d)", file.path)
    return int(named.group()) if named else time.gmtime(file.mtime_ns // 10**9).tm_year


@dataclass(frozen=True, slots=True)
class Probe:
    """How many of the first cells of a column of texts read as what, by which its kind is judged.

    Args:
        filled: all but empty ones and labels of totals.
        numbers, dates, codes, paid, lasting: numbers, dates, numbers that begin with 0, amounts with a sign of a
            currency, times that something takes.
        decimals: with how many decimals all of them are written; 0 where they differ or are whole.
        longer: months and quarters, which name no day.
        day_first, month_first: dates as `31/12/99` and as `12/31/99`.
        decimal_commas, decimal_points: commas that part no thousands, and cells with a comma before a point.
    """

    filled: int = 0
    numbers: int = 0
    dates: int = 0
    codes: int = 0
    decimals: int = 0
    decimal_commas: int = 0
    decimal_points: int = 0
    longer: int = 0
    day_first: int = 0
    month_first: int = 0
    paid: int = 0
    lasting: int = 0


def _probed(opened: Engine, view: str, raw: Sequence[tuple[str, str]], year: int) -> list[Probe]:
    """Return what the first cells of each column read as: each different cell is looked at once."""
    texts = [name for name, kind in raw if kind == "VARCHAR"]
    if not texts:
        return [Probe()] * len(raw)
    most = max(_LEAST, min(_PROBED, _CELLS // len(texts)))
    cells = f"UNPIVOT (SELECT {', '.join(map(quote, texts))} FROM {quote(view)} LIMIT {most}) ON COLUMNS(*)"
    bare = f"SELECT name, {_trimmed('cell')} AS cell FROM ({cells} INTO NAME name VALUE cell)"
    each = f"SELECT name, cell, count(*) AS n FROM ({bare}) WHERE cell NOT IN ({_NULL}) AND cell <> name GROUP BY ALL"
    # No date is a number alone.
    read = f"TRY_CAST(cell AS DOUBLE) IS NULL AS written, {_is_quarter('lower(cell)')} AS quarter"
    each = f"SELECT *, written AND contains(cell, '/') AS slashed FROM (SELECT *, {read} FROM ({each}))"
    days, months, whole = (
        f"CASE WHEN {may_be} THEN try_strptime(cell, [{', '.join(map(text, formats))}]) IS NOT NULL END"
        for may_be, formats in (
            ("slashed", DAY_FIRST),
            ("slashed", MONTH_FIRST),
            (f"written AND {_looks_dated('cell')}", MONTH_FORMATS),
        )
    )
    told = {
        "filled": f"NOT regexp_full_match(lower(cell), {text(_TOTAL)})",
        "numbers": f"{_number('cell')} IS NOT NULL",
        "dates": f"written AND (quarter OR {_day('cell', year)} IS NOT NULL)",
        "codes": "regexp_matches(cell, '^0\\d')",
        "decimal_commas": "regexp_matches(cell, '^-?0,\\d|,(\\d{1,2}|\\d{4,})$')",
        "decimal_points": "cell LIKE '%,%.%'",
        "longer": f"quarter OR {whole}",
        "day_first": days,
        "month_first": months,
        "paid": "regexp_matches(cell, '^-?[₩$€£]|[₩$€£원]$')",
        "lasting": "regexp_full_match(cell, '(\\d+:)?\\d+:[0-5]\\d')",
    }
    places = "length(regexp_extract(cell, '\\.(\\d+)', 1))"
    needed = "bool_or(regexp_matches(cell, '\\.\\d*[1-9]'))"  # whole numbers may be written `12.0`
    decimals = f"CASE WHEN min({places}) = max({places}) AND {needed} THEN min({places}) ELSE 0 END"
    counted = ", ".join(f"coalesce(sum(n) FILTER ({condition}), 0)" for condition in told.values())
    found = {}
    for name, *counts in opened.ask(f"SELECT name, {counted}, {decimals} FROM ({each}) GROUP BY 1", MAX_COLUMNS).rows:
        figures = dict(zip((*told, "decimals"), map(int, counts), strict=True))
        found[name] = Probe(**figures if lasts(name) else {**figures, "lasting": 0})
    return [found.get(name, Probe()) for name, _ in raw]


def _kind(kind: str, probe: Probe) -> str:
    numbers = max(probe.numbers, probe.lasting)
    if kind != "VARCHAR":
        base = kind.split("(")[0]
        if base == "DATE" or base.startswith("TIMESTAMP"):
            return "date"
        if base in ("BOOLEAN", "UUID", "TIME", "ENUM"):
            return "text"
        if _LIST.fullmatch(kind):
            return "text"
        return "number" if base.endswith("INT") or base in ("INTEGER", "DOUBLE", "FLOAT", "DECIMAL") else "other"
    if probe.filled and numbers >= 0.97 * probe.filled and not probe.codes > 0.5 * probe.filled:
        return "number"
    return "date" if probe.filled and probe.dates >= 0.9 * probe.filled else "text"


def _unit_of_time(name: str) -> str:
    """Return `s`, `min` or `h` where a name ends with a unit of time: `duration_s`, `minutes`; not for rates by one."""
    last = _LAST_WORD.search(name)
    found = _TIMES.fullmatch(last["word"]) if last and not last["per"] and len(name) > 1 else None
    return {"ks": "s", "km": "min"}.get(found.lastgroup or "", found.lastgroup or "") if found else ""


def _cleaned(name: str, kind: str, made: str, year: int, probe: Probe) -> str:
    cell = quote(name)
    if kind != "VARCHAR":
        if _LIST.fullmatch(kind):
            return f"array_to_string({cell}::VARCHAR[], ', ')"
        cast = {"number": "DOUBLE", "date": "TIMESTAMP", "text": "VARCHAR"}.get(made)
        return f"{cell}::{cast}" if cast else cell
    comma = bool(probe.decimal_commas and not probe.decimal_points)
    numbers = _number(cell, lasts=bool(probe.lasting), comma=comma)
    return {"number": numbers, "date": _date(cell, year, month_first=probe.month_first > probe.day_first)}.get(
        made, cell
    )


def _counted(name: str, kind: str, distinct: str) -> str:
    cell = quote(name)
    low = {"number": cell, "date": f"year({cell}) * 12 + month({cell}) - 1"}.get(kind, "NULL")
    whole = f"bool_and({cell} = trunc({cell}))" if kind == "number" else "FALSE"
    return f"count({cell}), {distinct.format(cell)}, min({low}), max({low}), coalesce({whole}, FALSE)"


def _column(name: str, kind: str, facts: _Facts) -> Column:
    low, high, months = facts.low, facts.high, (0, 0)
    if kind == "date" and facts.filled:
        (low, first), (high, last) = divmod(int(low), 12), divmod(int(high), 12)
        months = (first + 1, last + 1)
    unit = _UNIT.search(name)
    unit_name = unit["unit"] if unit else _unit_of_time(name) if kind == "number" else ""
    values = () if facts.values and _LINK.match(facts.values[0]) else facts.values
    figures = (facts.filled, facts.distinct, unit_name, float(low), float(high))
    return Column(name, kind, *figures, values, *months, whole=facts.whole)


def _items(values: Sequence[str], *, lists: bool) -> frozenset[str]:
    """Return what lists in cells are made of; nothing where they may be none: items of lists change their places."""
    places: dict[str, set[int]] = {}
    within = set[str]()
    for value in values[:_SPLIT]:
        parts = [part.strip() for part in _SEPARATOR.split(value)]
        for n, part in enumerate(parts):
            if 0 < len(part) <= _LONGEST_ITEM:
                places.setdefault(part, set()).add(n if len(parts) > 1 else -1)
                within |= {part} if len(parts) > 1 else set()
    moved = sum(len(places[item]) > 1 for item in within)
    return frozenset(places) if lists or (moved > 1 and 3 * moved >= len(within)) else frozenset()
