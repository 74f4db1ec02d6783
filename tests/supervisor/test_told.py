"""What a session tells beside its questions: the stream, from many threads, and previews that go wrong (C10, D7)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from session_support import SCHEMA, Place, step

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import safe_text
from hitl_tui.supervisor.activity import ActivityStream, read_activity
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.teams.contract import PreviewContext, TeamFailure, one
from hitl_tui.teams.function_team import FunctionTeam
from hitl_tui.wording.question_rows import whole

HOSTILE = Path(__file__).parents[1] / "terminal" / "hostile_graph.py"
THREADS, LINES = 8, 1_500


class Unlucky(FunctionTeam):
    """Its preview stops with an error that nobody declared."""

    def bind(self, task: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().bind(task, arguments), "preview": ["look"]}

    async def preview(self, arguments: Mapping[str, Any], context: PreviewContext) -> Any:
        raise ZeroDivisionError("hidden\x1b")


async def test_a_preview_that_stops_says_so_and_the_step_can_be_decided(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.teams["low"] = Unlucky("low", "low", Risk.LOW, place.world.act, SCHEMA, text_argument="what", timeout=0.0)
    async with place.open() as op:
        seen = await op.rest()
        (question,) = seen.questions
        assert question.view.evidence == {"error": "The preview stopped with ZeroDivisionError; the log says more."}
        assert not seen.busy
        await op.finish()
        assert op.statuses == {"todo_001": "completed"}


async def test_what_a_failed_command_printed_is_escaped_once_wherever_it_is_told(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    why = Message('The command "{}" ended with exit code {}: {}.', "a", 3, one("\x1b[31mno space"))
    place.world.fail["todo_001"] = [TeamFailure(why)]
    async with place.open() as op:
        await op.say("/todo approve")
        seen = await op.rest()
        rows = [row.text.plain for question in seen.questions for row in whole(question)]
        (failed,) = [line.text for line in op.session.activity.lines if line.kind == "failed"]
        assert not any(safe_text("␛") in said for said in (failed, *rows))
        assert "␛[31mno space" in failed and any("␛[31mno space" in row for row in rows)
        assert isinstance(failed, Message), "it is still put into a person's language"


@pytest.mark.long
async def test_what_is_asked_from_inside_is_escaped_once_in_the_stream(tmp_path: Path) -> None:
    graph = GraphDeclaration("graph", f"{HOSTILE}:graph", str(HOSTILE.parent))
    async with SessionRegistry.open(tmp_path / "data", {}) as bench:
        setup = await bench.create("{}", tmp_path, session_id="s1", graph=graph)
        async with open_session(bench.store, setup) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()
            await CommandHandler(session, setup.planner, by="ann", channel="test", terminal=True).handle_command(
                "/todo approve"
            )
            seen = await session.settled()
            asked = [line.text for line in session.activity.lines if line.kind == "asked"]
            shape = next(q.shape for q in seen.questions if q.shape is not None)
            assert "␛[2J" in asked[-1] and safe_text("␛") not in asked[-1]
            assert asked[-1] == shape.question


def test_threads_that_write_at_once_lose_nothing_though_the_file_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitl_tui.supervisor.activity._LARGEST_FILE", 20_000)
    path, broken = tmp_path / "activity.log", list[BaseException]()
    with closing(ActivityStream(path, lambda: "2026-01-01T00:00:00Z")) as stream:

        def write(number: int) -> None:
            try:
                for line in range(LINES):
                    stream.write(f"todo_{number}", "line", str(line))
            except Exception as error:  # noqa: BLE001 - a thread's error would be lost
                broken.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert broken == []
        last = THREADS * LINES
        assert [entry.n for entry in stream.lines] == list(range(last - len(stream.lines) + 1, last + 1))
        for number in range(THREADS):
            own = [int(entry.text) for entry in stream.lines if entry.todo_id == f"todo_{number}"]
            assert own == list(range(LINES - len(own), LINES))
    kept = [entry.text for entry in read_activity(path)]
    assert kept == [entry.text for entry in stream.lines][-len(kept) :]
