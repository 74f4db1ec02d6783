"""Tables that hold the key of another one: their rows are read with the columns of that one beside them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.tables.engine import SMALL, Engine, engine, quote
from hitl_tui.tables.files import TableFile
from hitl_tui.tables.links import label_of
from hitl_tui.tables.profile import SOURCE, Column, Table
from hitl_tui.tables.question_in_table import IDS
from hitl_tui.tables.words import key_of, lexicon, words_of

_MOST_TABLES, _MOST_JOINS, _MOST_VALUES = 60, 6, 5000
"""Tables that are looked at for keys, tables beside one, and values of a key that has another name."""
_FOUND = 0.9
"""Share of a column's different values that have to be keys of the other table."""
_FEW = 3
"""Different values from which a column may hold a key that is called otherwise."""
_cache: OrderedDict[tuple[tuple[str, str, int], ...], tuple[Joined, ...]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Join:
    """A table beside another one.

    Args:
        table: the table.
        key: the column beside it that holds its key.
        own: what that is called here.
        names: its other columns, and what they are called beside those of the other one.
        via: what the table is called that `key` is of; empty for the one that all are beside.
    """

    table: Table
    key: str
    own: str
    names: Mapping[str, str]
    via: str = ""

    @property
    def called(self) -> str:
        """What it is called in a query: the other one is `t` there."""
        name = self.table.sheet or self.table.stem
        return self.table.name if name.casefold() == "t" else name

    @property
    def is_called_alike(self) -> bool:
        """Whether both tables call the key the same, as DuckDB tells names: in any case."""
        return self.key.casefold() == self.own.casefold()

    def label(self) -> Column | None:
        """Return the column that says what a key stands for, if each has a name of its own."""
        others = tuple(c for c in self.table.columns if c.name != self.own)
        label = label_of(replace(self.table, columns=others))
        return label if label and label.distinct == self.table.rows else None

    def sql(self) -> str:
        """Return how it is joined."""
        on = f"USING ({quote(self.key)})" if self.is_called_alike else f"ON {quote(self.key)} = {quote(self.own)}"
        return f"LEFT JOIN {quote(self.called)} {on}"

    def view(self) -> str:
        """Return its rows as SQL, with the columns called as they are beside the other ones."""
        called = ", ".join(f"{quote(old)} AS {quote(new)}" for old, new in {self.own: self.own, **self.names}.items())
        return f"SELECT {called} FROM ({self.table.sql})"


@dataclass(frozen=True, slots=True)
class Joined(Table):
    """A table with others beside it, whose columns are among its own."""

    joins: tuple[Join, ...] = field(default=())

    @property
    def name(self) -> str:
        return " + ".join([Table(self.file, self.sheet, 0, (), "").name, *(one.table.name for one in self.joins)])

    @property
    def files(self) -> tuple[TableFile, ...]:
        return (self.file, *(one.table.file for one in self.joins))

    @property
    def beside(self) -> frozenset[str]:
        return frozenset(name for one in self.joins for name in one.names.values())

    @property
    def labels(self) -> Mapping[str, Sequence[str]]:
        found = ((one, one.label()) for one in self.joins)
        return {one.names[label.name]: words_of(one.table.sheet or one.table.stem) for one, label in found if label}

    @property
    def source(self) -> str:
        return " ".join(['"t"', *(one.sql() for one in self.joins)])

    def load_beside(self, opened: Engine) -> None:
        """Make views of the tables beside it, of what has a slash in its name, as no file or sheet has."""
        for n, one in enumerate(self.joins):
            opened.load(f"beside/{n}", one.table.file, one.table.sheet)
            rows = one.view().replace(SOURCE, quote(f"beside/{n}"))
            opened.ask(f"CREATE VIEW {quote(one.called)} AS {rows}")

    def only(self, names: frozenset[str]) -> Joined:
        """Return the table with those beside it alone that have some of these columns, or lead to one that has."""
        used = {one.called: one for one in self.joins if names & {*one.names.values()}}
        for one in reversed(self.joins):
            used |= {way.called: way for way in self.joins if one.called in used and way.called == one.via}
        kept = tuple(one for one in self.joins if one.called in used)
        gone = {name for one in self.joins if one not in kept for name in one.names.values()}
        return replace(self, joins=kept, columns=tuple(c for c in self.columns if c.name not in gone))


def joined(tables: Sequence[Table]) -> tuple[Joined, ...]:
    """Return the tables that hold keys of others, each with these beside it."""
    few = tables[:_MOST_TABLES]
    state = tuple((str(one.file.absolute), one.sheet, one.file.mtime_ns) for one in few)
    known = _cache.get(state)
    if known is None:
        direct = {one.place: found for one, found in _joins(few)}
        known = _cache[state] = tuple(_with(one, direct) for one in few if direct[one.place])
        while len(_cache) > 4:
            _cache.popitem(last=False)
    return known


def _with(table: Table, direct: Mapping[tuple[str, str], Sequence[Join]]) -> Joined:
    """Return a table with others beside it, and with those that they hold the keys of: each by its shortest way.

    What is called as something else is called after its table, too.

    Args:
        table: the table.
        direct: the tables whose key each table holds itself.
    """
    taken, joins, columns = {column.name.casefold() for column in table.columns}, list[Join](), list(table.columns)
    ways = [(one, table.rows) for one in direct[table.place]]
    met = {table.place}
    for one, rows in ways:  # it grows by what the tables hold that are met
        others = [c for c in one.table.columns if c.name != one.own and c.kind != "other"]
        names = {c.name: c.name if c.name.casefold() not in taken else f"{one.called} {c.name}" for c in others}
        added = {name.casefold() for name in names.values()}
        alike = taken & (added if one.is_called_alike else {*added, one.own.casefold()})
        if alike or one.table.place in met or len(joins) == _MOST_JOINS:
            continue
        taken |= {*added, one.own.casefold()}
        met.add(one.table.place)
        joins.append(replace(one, names=names))
        columns += [replace(c, name=names[c.name], filled=_filled(c, one.table, rows)) for c in others]
        further = [each for each in direct[one.table.place] if each.key in names]
        ways += [(replace(each, key=names[each.key], via=one.called), rows) for each in further]
    keys = frozenset(one.key for one in joins)
    return Joined(table.file, table.sheet, table.rows, tuple(columns), table.sql, table.pairs, keys, joins=tuple(joins))


def _filled(column: Column, of: Table, rows: int) -> int:
    return round(column.filled / max(1, of.rows) * rows)


def _joins(tables: Sequence[Table]) -> Iterator[tuple[Table, list[Join]]]:
    """Yield each table with those whose key it holds."""
    keys = [(table, column) for table in tables for column in table.columns if _is_key(column, table)]
    named: dict[str, list[tuple[Table, Column]]] = {}
    valued: dict[str, list[tuple[Table, Column]]] = {}
    for table, column in keys:
        for name in {key_of(column.name), _bare(column.name)}:
            named.setdefault(name, []).append((table, column))
        for value in column.values[:_MOST_VALUES]:
            valued.setdefault(value, []).append((table, column))
    for table in tables:
        found: dict[str, Join] = {}
        for column in table.columns:
            rivals = [*named.get(key_of(column.name), ()), *named.get(_bare(column.name), ())]
            if not rivals and _FEW <= column.distinct < column.filled:
                rivals = valued.get(next(iter(column.values), ""), [])
            for other, key in sorted(rivals, key=lambda one: _apart(table, one[0])):
                one = Join(other, column.name, key.name, {})
                apart = other is not table and {c.name for c in other.columns} != {c.name for c in table.columns}
                apart = apart and one.called.casefold() not in found and key.kind == column.kind
                if apart and _held(table, column, other, key):
                    found[one.called.casefold()] = one
                    break
        yield table, list(found.values())


def _bare(name: str) -> str:
    """Return the name of a key without what only says that it is one: the `genre` of tracks is a `genre_id`."""
    return "".join(word for word in words_of(name) if word not in IDS) or key_of(name)


def _apart(table: Table, other: Table) -> tuple[bool, bool]:
    """Return whether another table is an old one, and whether it is of other years, to choose among its versions."""
    mine, its = ({word for word in words_of(one.stem) if word.isdigit()} for one in (table, other))
    return not lexicon().old.isdisjoint(words_of(other.stem)), bool(its) and mine != its


def _is_key(column: Column, table: Table) -> bool:
    """Whether each row has another value of a column: a text, or a number that says of what it is, and no year."""
    says = any(not word.isdigit() and word not in (*IDS, "column") for word in words_of(column.name))
    kind = column.kind == "text" or (column.kind == "number" and column.whole and says and not column.years)
    return kind and table.rows > 1 and column.filled == table.rows and column.distinct == table.rows


def _held(table: Table, column: Column, other: Table, key: Column) -> bool:
    """Whether nearly all values of a column are keys of another table."""
    if column.kind == "text":
        values = {*column.values}
        return bool(values) and len(values & {*key.values}) >= _FOUND * len(values)
    if column.low < key.low or column.high > key.high or max(table.file.size, other.file.size) > SMALL:
        return False
    with engine([table.file, other.file]) as opened:
        for n, one in enumerate((table, other)):
            opened.load(f"source{n}", one.file, one.sheet)
        mine, its = (
            f"SELECT DISTINCT {quote(c.name)} k FROM ({one.sql.replace(SOURCE, quote(f'source{n}'))})"
            for n, (one, c) in enumerate(((table, column), (other, key)))
        )
        ((found, every),) = opened.ask(f"SELECT count(*) FILTER (k IN ({its})), count(k) FROM ({mine})").rows
    return bool(every) and bool(found >= _FOUND * every)
