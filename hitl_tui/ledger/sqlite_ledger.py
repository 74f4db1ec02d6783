"""The ledger in one SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hitl_tui.ledger.records import Problem
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.sqlite_database import Database
from hitl_tui.ledger.table_ledger import Changed, TableLedger
from hitl_tui.ledger.view_check import view_problems


class SqliteLedger(TableLedger):
    """`Ledger` on an SQLite file; open it with `SqliteLedger.open`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path | str,
        *,
        read_only: bool = False,
        sealing: Sealing | None = None,
        changed: Changed | None = None,
    ) -> AsyncIterator[SqliteLedger]:
        """Open a ledger and close it at the end of the block.

        Args:
            path: the file; it and its folders are made when missing, for this account alone.
            read_only: for followers and audit: nothing is made, a missing file counts as empty, and every write is
                refused.
            sealing: signs what is written and anchors it; None for neither.
            changed: see `TableLedger`.

        Raises:
            StorageError: the file is no ledger, is damaged or of a newer format; it is left as it was.
        """
        database = Database(Path(path), read_only, sealing)
        await database.open()
        ledger = cls(database, changed)
        try:
            yield ledger
        finally:
            await ledger.close()

    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        path = self._database.place
        assert isinstance(path, Path)
        return await asyncio.to_thread(view_problems, path, stream)
