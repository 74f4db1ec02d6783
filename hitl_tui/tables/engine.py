"""DuckDB over table files: nothing but these files can be read, nothing can be installed, and time is bounded.

DuckDB and the reader of Excel files are imported when the first table is opened.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, dropwhile, islice
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from hitl_tui.core.errors import HitlError
from hitl_tui.core.messages import Message
from hitl_tui.tables.files import TableFile, is_comment
from hitl_tui.tables.forms import form_rows

if TYPE_CHECKING:
    import duckdb

MEMORY = "512MB"
_MOST_NAMES = 300
"""Names that the records of a JSON list have at most, all together."""
_SECONDS, _BYTES_A_SECOND = 20.0, 20_000_000
_CHUNK = 1 << 20
SMALL = 64_000_000
"""Bytes of a text that is read into memory rather than once for each query."""
MAX_CELLS = 4_000_000
"""Cells of a sheet, or of a text that isn't UTF-8, that are taken."""
BETWEEN_SHEETS = "*"
"""Stands between the names of sheets that are one table; none of them may have it."""
NULLS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-", "–", ".", "..", "?")
DAY_FIRST = ("%d/%m/%y", "%d/%m/%Y", "%d/%m/%Y %H:%M")
MONTH_FIRST = ("%m/%d/%y", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S")
DATE_FORMATS = (
    "%Y년 %m월 %d일", "%Y. %m. %d.", "%Y. %m. %d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%Y-%m", "%d-%b-%y", "%d-%b-%Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d %b %y", "%d %b %Y", "%b %Y", "%B %Y", "%Y/%m/%d %H:%M", "%b-%y", "%b-%Y",
    "%B-%y", "%B-%Y",
)  # fmt: skip
"""How days and months are written; of years with two digits and with four the two are tried first, as %Y takes both."""
MONTH_FORMATS = tuple(written for written in DATE_FORMATS if "%d" not in written)
"""How months are written that name no day."""


class TableError(HitlError):
    """A table can't be read or asked; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a query: names of the columns, the first rows, and whether there are more."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


def quote(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as SQL has it."""
    return "'" + value.replace("'", "''") + "'"


class Stoppable(Protocol):
    """Something that is at work on a query."""

    def stop(self) -> None:
        """End it, from another thread."""
        ...


class Stop:
    """Ends what one call asks of DuckDB: the engines that are open, and those that it would open later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Stoppable] = set()
        self._stopped = False

    def __call__(self) -> None:
        """Stop, from any thread."""
        with self._lock:
            self._stopped = True
            for one in self._open:
                one.stop()

    @contextmanager
    def watched(self, opened: Stoppable) -> Iterator[None]:
        """Stop an engine, or a process, when this is called while it is open.

        Raises:
            TableError: it was called already.
        """
        with self._lock:
            if self._stopped:
                raise TableError(Message("The query was stopped."))
            self._open.add(opened)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(opened)


_stop: ContextVar[Stop] = ContextVar("stop")
_P = ParamSpec("_P")
_T = TypeVar("_T")


def watched(opened: Stoppable) -> AbstractContextManager[None]:
    """Return a context within which something ends when the waiting of `in_thread` is cancelled."""
    return _stop.get(Stop()).watched(opened)


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function that asks tables in a thread; its queries end when the waiting is cancelled."""
    stop = Stop()
    _stop.set(stop)  # the thread gets a copy of this context
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except asyncio.CancelledError:
        stop()
        raise


class Engine:
    """One connection that sees the given files alone, as views or small tables of texts."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._stopped = False
        self._views = set[str]()
        self._lock = threading.Lock()
        self._until: float | None = None
        self._closed = threading.Event()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Interrupt queries that take too long while this lasts: one thread watches over all of them."""
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._closed.set()
            watch.join()

    def _watch(self) -> None:
        left = self._seconds
        while not self._closed.wait(left):
            left = self._seconds  # what is asked from now on ends later than that
            with self._lock:
                if self._until is not None and (rest := self._until - time.monotonic()) > 0:
                    left = rest
                elif self._until is not None:
                    self._connection.interrupt()

    def ask(self, sql: str, limit: int = 200) -> Result:
        """Return the first rows of a query.

        Raises:
            TableError: it can't be run, or took too long.
        """
        import duckdb

        with self._lock:
            self._until = time.monotonic() + self._seconds
        try:
            cursor = self._connection.execute(sql)
            rows = cursor.fetchmany(limit + 1)
            names = tuple(str(column[0]) for column in cursor.description or ())
        except duckdb.InterruptException as error:
            if self._stopped:
                raise TableError(Message("The query was stopped.")) from error
            raise TableError(Message("The query took longer than {} seconds.", int(self._seconds))) from error
        except duckdb.Error as error:
            raise TableError(Message("The table can't be read: {}.", str(error).split("\n")[0][:200])) from error
        finally:
            with self._lock:
                self._until = None
        return Result(names, tuple(tuple(row) for row in rows[:limit]), len(rows) > limit)

    def stop(self) -> None:
        """End what is being asked, from another thread."""
        self._stopped = True
        self._connection.interrupt()

    def load(self, view: str, file: TableFile, sheet: str = "") -> None:
        """Make a file, or a sheet of it, a view of its cells as they are.

        Raises:
            TableError: it can't be read.
        """
        if file.kind in ("excel", "lists"):
            self._fill(view, _sheet_rows(file, sheet))
        elif file.kind == "forms":
            self._fill(view, form_rows(file.forms()))
        elif file.kind == "parquet":
            self._make("VIEW", view, f"read_parquet({text(str(file.absolute))})")
        elif file.kind == "json":
            rows = f"read_json({text(str(file.absolute))}"
            kinds = {str(row[0]): str(row[1]) for row in self.ask(f"DESCRIBE FROM {rows})", 10_000).rows}
            if "TIME" in kinds.values():  # 4:20 may be minutes and seconds
                kept = (f"{text(name)}: {text('VARCHAR' if kind == 'TIME' else kind)}" for name, kind in kinds.items())
                rows += f", columns={{{', '.join(kept)}}}" if all(k != "JSON" for k in kinds.values()) else ""
            self._make("VIEW", view, f"{rows})")
        else:
            try:
                self._make("TABLE" if file.size < SMALL else "VIEW", view, _read_csv(file))
            except TableError:
                self._fill(view, _text_rows(file))

    def _make(self, kind: str, view: str, rows: str) -> None:
        self.ask(f"CREATE {kind} {quote(view)} AS SELECT * FROM {rows}")
        if kind == "VIEW":
            self._views.add(view)

    def unload(self, view: str) -> None:
        """Forget what was loaded."""
        self.ask(f"DROP {'VIEW' if view in self._views else 'TABLE'} {quote(view)}")

    def _fill(self, view: str, rows: Iterator[Sequence[str]]) -> None:
        """Make a table of texts of rows, the first of them the names."""
        names = _names(next(rows, ()))
        if not names:
            raise TableError(Message("The table has no header."))
        columns: list[list[str | None]] = [[] for _ in names]
        for row in islice(rows, MAX_CELLS // len(names)):
            for n, column in enumerate(columns):
                column.append(row[n] if n < len(row) else None)
        cells = ", ".join(f"unnest(?::VARCHAR[]) AS {quote(name)}" for name in names)
        self._connection.execute(f"CREATE TABLE {quote(view)} AS SELECT {cells}", columns)


def seconds_for(files: Iterable[TableFile]) -> float:
    """Return how long a query of some files may take: longer for large ones, which are read once or more."""
    return _SECONDS + sum(file.size for file in files) / _BYTES_A_SECOND


@contextmanager
def engine(files: Sequence[TableFile], seconds: float | None = None) -> Iterator[Engine]:
    """Open an engine that can read these files and nothing else.

    Args:
        files: the files.
        seconds: how long a query may take; None for what is usual for these files.

    Raises:
        TableError: DuckDB can't be started.
    """
    try:
        import duckdb
    except ImportError as error:
        raise TableError(Message("{} can't be imported: {}.", "DuckDB", error)) from error
    off = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "memory_limit": MEMORY}
    connection = duckdb.connect(":memory:", config={**off, "threads": "2", "allow_community_extensions": "false"})
    try:
        paths = ", ".join(text(str(file.absolute)) for file in files)
        connection.execute(f"SET allowed_paths = [{paths}]")
        # Some writers of Parquet store wrong minima and maxima; a filter that is pushed down believes them.
        connection.execute("SET disabled_optimizers = 'filter_pushdown,statistics_propagation,in_clause'")
        connection.execute("SET preserve_insertion_order = true")
        connection.execute("SET temp_directory = ''")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        opened = Engine(connection, seconds_for(files) if seconds is None else seconds)
        with watched(opened), opened.timed():
            yield opened
    finally:
        connection.close()


def sheets(file: TableFile) -> tuple[str, ...]:
    """Return the names of a workbook's sheets, or of the lists of a JSON object; one empty name for any other file.

    Raises:
        TableError: it can't be read.
    """
    if file.kind == "lists":
        return tuple(_lists(_object(file)))
    return tuple(_workbook(file).sheet_names) if file.kind == "excel" else ("",)


def _lists(held: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the lists of records that a JSON object has, by their names; records of hardly the same are no table."""
    lists = ((name, one) for name, one in held.items() if isinstance(one, list) and len(one) > 1)
    records = {name: one for name, one in lists if all(isinstance(record, dict) for record in one)}
    return {name: one for name, one in records.items() if len(set().union(*one)) <= _MOST_NAMES}


def other_names(file: TableFile) -> frozenset[str]:
    """Return the names in a JSON object, and in the objects in it, that are in no list of records.

    Raises:
        TableError: it can't be read.
    """
    if file.kind != "lists":
        return frozenset()
    held = _object(file)
    lists = _lists(held)
    return frozenset(_names_within(held)).difference(lists, *(record for one in lists.values() for record in one))


def _names_within(held: Mapping[str, Any]) -> Iterator[str]:
    left = [held]
    while left:
        one = left.pop()
        yield from one
        left += [inner for inner in one.values() if isinstance(inner, dict)]


def _object(file: TableFile) -> dict[str, Any]:
    """Return what a JSON file holds; nothing where it is no object.

    Raises:
        TableError: it can't be read.
    """
    try:
        held = json.loads(file.absolute.read_bytes())
    except (ValueError, OSError, RecursionError) as error:
        raise TableError(Message("{}", error)) from error
    return held if isinstance(held, dict) else {}


def _workbook(file: TableFile) -> Any:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise TableError(Message("{} can't be imported: {}.", "python-calamine", error)) from error
    try:
        return CalamineWorkbook.from_path(str(file.absolute))
    except (CalamineError, OSError) as error:
        raise TableError(Message("{}", error)) from error


def _sheet_rows(file: TableFile, sheet: str) -> Iterator[list[str]]:
    """Yield the rows of a sheet as texts, from its header on; of several in one, each row with the name of its sheet.

    Raises:
        TableError: a cell can't be read.
    """
    names = sheet.split(BETWEEN_SHEETS)
    if len(names) == 1:
        yield from _rows_of_sheet(file, sheet)
        return
    for n, name in enumerate(names):
        header, *rows = _rows_of_sheet(file, name)
        yield from [] if n else [[*header, "sheet"]]
        yield from ([*row, *[""] * (len(header) - len(row)), name] for row in rows)


def _rows_of_sheet(file: TableFile, sheet: str) -> Iterator[list[str]]:
    """Yield the rows of one sheet: its header is the first row with as many texts as most rows have.

    Raises:
        TableError: a cell can't be read.
    """
    if file.kind == "lists":
        records = _lists(_object(file)).get(sheet, [])
        names = list(dict.fromkeys(name for record in records for name in record))
        yield list(map(_storable, names))
        yield from ([_storable(_cell(record.get(name))) for name in names] for record in records)
        return
    workbook = _workbook(file)
    from python_calamine import CalamineError

    try:
        rows = [[_cell(value) for value in row] for row in workbook.get_sheet_by_name(sheet).to_python()]
    except CalamineError as error:
        raise TableError(Message("{}: {}", sheet, error)) from error
    width = [sum(cell != "" for cell in row) for row in rows[:50]]
    usual = sorted(width)[len(width) // 2] if width else 0
    start = next((n for n, filled in enumerate(width) if filled >= max(2, usual)), len(rows))
    while len(rows) > start + 1 and _is_remark(rows[-1]):
        rows.pop()
    yield from rows[start:]


def _is_remark(row: Sequence[str]) -> bool:
    """Whether a row below a table has few cells, and none of them a figure."""
    filled = [cell for cell in row if cell]
    return 2 * len(filled) < len(row) and not any(character.isdigit() for cell in filled for character in cell)


def _storable(text: str) -> str:
    """Return a text without halves of characters, which JSON can spell and no table holds."""
    return text.encode("utf-8", "replace").decode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(_cell, value))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _read_csv(file: TableFile) -> str:
    """Return what reads a text of separated values: all cells as text, lines of comment before the header left out."""
    with file.absolute.open("rb") as opened:
        head = opened.read(65536)
    skip = 0
    lines = head.splitlines()
    while skip < len(lines) and is_comment(file.absolute, lines[skip]):
        skip += 1
    separator = ", delim='\t', quote=''" if lines[skip : skip + 1] and lines[skip].count(b"\t") > 1 else ""
    options = "header=true, all_varchar=true, null_padding=true, strict_mode=false, max_line_size=4000000"
    parallel = str(file.size >= SMALL and not _has_quotes(file)).lower()
    return f"read_csv({text(str(file.absolute))}, {options}, parallel={parallel}, skip={skip}{separator})"


@lru_cache(64)
def _has_quotes(file: TableFile) -> bool:
    """Return whether a line may end within a cell of a text, so that it can't be read in several places at once."""
    with file.absolute.open("rb") as opened:
        return any(b'"' in chunk or b"'" in chunk for chunk in iter(lambda: opened.read(_CHUNK), b""))


def _text_rows(file: TableFile) -> Iterator[list[str]]:
    """Yield the rows of a text that DuckDB can't read: another encoding, or loose quotes."""
    content = file.absolute.read_bytes()[:200_000_000]
    for encoding in (
        "utf-8-sig",
        "cp949",
        "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp949",
        "latin-1",
    ):
        try:
            decoded = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    lines = dropwhile(lambda line: is_comment(file.absolute, line.encode()), io.StringIO(decoded, newline=""))
    header = next(lines, "")
    separator = max(",\t;|", key=header.count)
    yield from csv.reader(chain([header], lines), delimiter=separator, skipinitialspace=True)


def _names(header: Sequence[str]) -> list[str]:
    """Return names of columns, each once; one that is missing gets its number."""
    names: list[str] = []
    for n, cell in enumerate(header, start=1):
        name = str(cell).strip().lstrip("\ufeff") or f"column{n}"
        names.append(name if name.lower() not in {known.lower() for known in names} else f"{name}_{n}")
    return names
