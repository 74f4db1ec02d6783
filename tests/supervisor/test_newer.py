"""A session that a newer version made: said in one sentence, and left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_support import Place, step

from hitl_tui.core import todos
from hitl_tui.core.errors import StorageError


async def test_what_a_newer_version_made_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    async with place.open() as op:
        await op.say("/todo priority 2 high")
    with monkeypatch.context() as older:  # a version that doesn't have the field yet
        older.setattr(todos, "_FIELD_SET", todos._FIELD_SET - {"priority"})
        with pytest.raises(StorageError) as refused:
            async with place.open():
                pass
        assert refused.value.message == (
            "This session was made by a newer version of hitl-tui: its steps have priority, which this version "
            "doesn't know; nothing was changed."
        )
    async with place.open() as op:
        await op.finish()
        assert op.statuses == {"todo_001": "completed", "todo_002": "completed"}
        assert op.now.todos[1].priority == "high"


def test_a_field_nobody_knows_is_no_traceback() -> None:
    with pytest.raises(StorageError, match="newer version"):
        todos.SupervisorTodo.from_state({"id": "todo_001", "name": "a", "status": "pending", "mood": "good"})
