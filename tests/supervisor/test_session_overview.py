"""Lists of sessions of a database: as each session says of itself, by a few questions however many there are (X1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from session_support import Place, step

from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import load_summary
from hitl_tui.supervisor.session_tables import SessionTables

pytestmark = pytest.mark.long


@pytest.fixture
def place(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(Place, "database", database)
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


async def test_a_list_says_of_each_session_what_it_says_of_itself_by_six_questions(
    place: Place, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows = SessionTables.rows

    def counted(self: SessionTables, statement: str, values: Sequence[Any] = ()) -> Any:
        asked.append(statement)
        return rows(self, statement, values)

    async with place.open() as op:
        await op.finish()
        async with SessionRegistry.open(tmp_path / "data", {"HITL_DATABASE": database}) as registry:
            tables = registry.store.data
            (folder,) = [tables.session("s1")]
            for number in range(2, 40):
                tables.begin(replace(folder.info(), id=f"s{number}", query=f"question no{number}no"))  # type: ignore[attr-defined]
            monkeypatch.setattr(SessionTables, "rows", counted)
            found = await registry.admin.sessions()
            assert len(asked) <= 6
            asked.clear()
            assert await registry.admin.sessions() == found
            assert len(asked) <= 5, "what ended stays as it was"
            asked.clear()
            assert await registry.admin.sessions(newest=5) == found[-5:]
            assert len(asked) <= 5
            asked.clear()
            titles = {one.id: one.title for one in found[:3]}
            assert await registry.admin.titles([*titles, "none"]) == titles
            assert len(asked) == 1
            monkeypatch.undo()
            each = [await load_summary(registry.store.data, tables, f"s{number}", 0) for number in range(1, 40)]
            assert found == each
            assert (found[0].status, found[0].owned, found[1].status) == ("finished", True, "interrupted")
            with_words = await registry.admin.sessions("question no17no")
            assert [one.id for one in with_words] == ["s17"]
            registry.data.tables.rows("UPDATE session_records SET info = 'no JSON' WHERE id = 's5'")  # type: ignore[attr-defined]
            assert [one.id for one in await registry.admin.sessions() if one.status == "unreadable"] == ["s5"]
