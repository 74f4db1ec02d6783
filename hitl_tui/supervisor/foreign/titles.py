"""What threads seem to be about, from the first checkpoint of each (I9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_tui.supervisor.foreign.channels import START, title_of
from hitl_tui.supervisor.foreign.database import Database
from hitl_tui.supervisor.foreign.rows import channels_of, loaded
from hitl_tui.supervisor.foreign.statements import Statements

_FIRST = 1024 * 1024
"""Bytes of a thread's first checkpoint that are read for its title."""
_LONGEST = 400


class Titles:
    """Reads titles and keeps them: a thread's first checkpoint stays what it is.

    Args:
        database: where the threads lie.
        sql: how it is read.
    """

    def __init__(self, database: Database, sql: Statements) -> None:
        self._database = database
        self._sql = sql
        self._known: dict[str, str] = {}

    async def of(self, threads: Sequence[str]) -> Mapping[str, str]:
        """Return titles by thread, at least those of these threads; empty where nothing tells.

        Raises:
            StorageError: the store can't be read.
        """
        missing = [t for t in threads if t not in self._known]
        if missing:
            values = {"ids": self._database.ids(missing), "most": _FIRST}
            rows = await self._database.rows(self._sql.firsts, values)
            found = {str(row[0]): channels_of(loaded(row[2], row[3])) for row in rows}
            elsewhere = [(str(r[0]), str(r[1])) for r in rows if START in found[str(r[0])]]
            for thread, stored in (await self._database.inputs(elsewhere)).items():
                found[thread] = {START: loaded(stored.kind, stored.data)}
            for thread in missing:
                self._known[thread] = " ".join(title_of(found.get(thread, {})).split())[:_LONGEST]
        return self._known
