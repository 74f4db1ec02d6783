"""Opening the record of sessions for reading, wherever it is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.postgres_address import ENVIRONMENT, database_address
from hitl_tui.ledger.records import LEDGER_FILE

if TYPE_CHECKING:
    from hitl_tui.ledger.table_ledger import TableLedger


def named_database(environ: Mapping[str, str]) -> str:
    """Return the address of the database that the environment names; empty for none.

    Raises:
        BadInput: it isn't one.
    """
    return database_address(environ.get(ENVIRONMENT, "").strip(), ENVIRONMENT)


def has_record(data: Path, environ: Mapping[str, str]) -> bool:
    """Return whether there may be a record: nothing is opened.

    Raises:
        BadInput: what names the database can't be used.
    """
    return bool(named_database(environ)) or (data / LEDGER_FILE).exists()


@asynccontextmanager
async def existing_record(data: Path, environ: Mapping[str, str]) -> AsyncIterator[TableLedger | None]:
    """Open the record of a data folder, or of the database that stands in its place; None where there is none.

    Raises:
        BadInput: what names the database can't be used.
        StorageError: the record can't be read.
    """
    if address := named_database(environ):
        from hitl_tui.ledger.postgres_ledger import PostgresLedger

        async with PostgresLedger.open(address) as record:
            yield record
    elif (data / LEDGER_FILE).exists():
        from hitl_tui.ledger.sqlite_ledger import SqliteLedger

        async with SqliteLedger.open(data / LEDGER_FILE, read_only=True) as ledger:
            yield ledger
    else:
        yield None
