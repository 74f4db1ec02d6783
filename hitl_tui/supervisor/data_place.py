"""Where sessions are kept: a data folder of this machine, or a database that many machines share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from hitl_tui.ledger.existing_record import named_database
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.supervisor.storage import DataFolder


def data_place(root: Path, environ: Mapping[str, str], make: bool = True) -> DataFolder:
    """Return where sessions are kept.

    Args:
        root: the data folder.
        environ: may name a database, and a folder or bucket for large results.
        make: see `DataFolder`.

    Raises:
        BadInput: what names the database can't be used.
    """
    address = named_database(environ)
    if not address:
        return DataFolder(root, make)
    from hitl_tui.config.workspace_copy import workspace_copy
    from hitl_tui.supervisor.large_results import large_results
    from hitl_tui.supervisor.postgres_sessions import DatabaseFolder

    large = large_results(environ.get("HITL_ARTIFACTS", ""))
    return DatabaseFolder(root, address, large, [workspace_copy(folder) for folder in _current_folder()])


def _current_folder() -> list[Path]:
    """Return the folder that the program was started in; none where it is gone."""
    with suppress(FileNotFoundError):
        return [Path.cwd()]
    return []


@asynccontextmanager
async def open_record(
    data: DataFolder, sealing: Sealing | None = None, changed: Callable[[str], None] | None = None
) -> AsyncIterator[TableLedger]:
    """Open the record of all sessions of a place.

    Args:
        data: the place; it was prepared.
        sealing, changed: see `TableLedger`.

    Raises:
        StorageError: it can't be used.
    """
    if isinstance(data.place, Path):
        async with SqliteLedger.open(data.ledger, read_only=data.read_only, sealing=sealing, changed=changed) as ledger:
            yield ledger
        return
    from hitl_tui.ledger.postgres_ledger import PostgresLedger
    from hitl_tui.supervisor.postgres_sessions import DatabaseFolder

    assert isinstance(data, DatabaseFolder)
    async with PostgresLedger.open(data.address, sealing=sealing, changed=changed, posted=data.wake) as record:
        data.tables.make()
        try:
            yield record
        finally:
            await data.close()
