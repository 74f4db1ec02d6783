"""What the ledger's tables are worked on with: a transaction of the database they lie in, and that database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.signatures import Place

T = TypeVar("T")

Row = tuple[Any, ...]
"""What a database returns: numbers, texts, bytes and None."""


class Rows(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """One transaction. Statements are written once, in what SQLite and PostgreSQL both understand.

    Values stand in them as `?`, `?1` or `:name`. Whatever a transaction reads is of one moment, and it is committed
    only when no other one has written to the same streams and effects since.
    """

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object: ...


Work = Callable[[Transaction], T]


def carried_out(work: Work[T], db: Transaction) -> T:
    """Carry a transaction's work out.

    The entry that a view names, and what it holds, are taken for granted by whoever reads them: only somebody who
    edited the file makes them something else.

    Raises:
        StorageError: they are something else.
    """
    try:
        return work(db)
    except (UnicodeEncodeError, OverflowError):  # what was given has no form here
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = type(error).__name__
        raise StorageError(
            Message('The tables of the ledger contradict its entries ({}); look at it with "audit verify".', what)
        ) from error


@dataclass(frozen=True, slots=True)
class TableForm:
    """How a kind of database writes a table.

    Args:
        number, text, data: types of columns. Texts are ordered by their characters' numbers.
        plain, keyed: what ends a table with rows of numbers, and one that is kept by its key.
        exists: tells whether there is a table of a name.
    """

    number: str
    text: str
    data: str
    plain: str
    keyed: str
    exists: str

    def columns(self, written: str) -> str:
        """Return columns in this form that are written with `NUMBER`, `TEXT` and `DATA`."""
        return written.replace("NUMBER", self.number).replace("TEXT", self.text).replace("DATA", self.data)


class TableDatabase(Protocol):
    """A database with the ledger's tables. Failures of it raise StorageError, and then nothing was written."""

    @property
    def form(self) -> TableForm: ...

    @property
    def place(self) -> Place:
        """What its record is known by outside of it."""
        ...

    @property
    def machine(self) -> str:
        """This machine, where others write to the record as well; empty for a record of one machine."""
        ...

    async def write(self, work: Work[T], then: Callable[[T], None] | None = None) -> T:
        """Run `work` in a transaction; `then` runs with its result once it is committed, whoever waits."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run `work` on one consistent state."""
        ...

    async def peek(self, work: Work[T]) -> T:
        """Run `work`, a single statement that is read to its end, without the cost of a transaction."""
        ...

    def version(self, db: Transaction) -> object:
        """Return what is another value whenever something else can be read than before."""
        ...

    def written(self) -> object:
        """Return what is another value soon after somebody has written. Cheap: it is asked all the time."""
        ...

    def stamp(self) -> object:
        """Return `written`, and something that changes now and then where nobody could tell of a write."""
        ...

    def patience(self, written: object, poll: float) -> float:
        """Return after how many seconds to look, though nobody seems to have written since `written` was returned.

        Args:
            poll: seconds between looks while something may have been written unseen.
        """
        ...

    def announce(self, session: str) -> None:
        """Let other processes know, from within `then`, that they should look at a session."""
        ...

    async def close(self) -> None: ...
