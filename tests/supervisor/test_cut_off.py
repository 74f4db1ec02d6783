"""Steps that are cut off while they act on the world: what is known of them later (D12)."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

from session_support import Endless, Place, step

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind
from hitl_tui.supervisor.activity import ENDED
from hitl_tui.teams.function_team import FunctionTeam
from hitl_tui.wording.evidence_rows import evidence_rows


class Looking(FunctionTeam):
    """A team that is declared to change nothing."""

    def changes_nothing(self, arguments: JsonObject) -> bool:
        return True


async def test_a_session_knows_which_steps_act_now(tmp_path: Path) -> None:
    place = Place(tmp_path, step("high", "a"))
    team = Endless(place)
    async with place.open() as op:
        await op.rest()
        assert list(op.session.begun) == []
        await team.begin(op)
        assert list(op.session.begun) == ["todo_001"]
        await op.say("/todo cancel 1")
        await op.rest()
        assert list(op.session.begun) == [], "who stopped it knows that it was begun"


async def test_a_step_that_is_cut_off_with_its_session_says_when_and_why(tmp_path: Path) -> None:
    place = Place(tmp_path, step("high", "a"))
    async with place.open() as op:
        await Endless(place).begin(op)
    async with place.open() as op:
        (question,) = (await op.until(lambda s: any(q.view.evidence for q in s.questions))).questions
        assert question.kind is Kind.EFFECT
        effect = question.subject["effect"]
        assert effect["why"] == "hitl-tui ended it while it ran, and nothing says how far it got"
        before = question.view.evidence["before"]
        assert before["lines"] == ["half of it"]
        assert (before["ended"], before["how"]) == ("hitl-tui ended it: the session was closed", ENDED)
        assert before["began"] < before["ended_at"]
        rows = {row.label: row.text.plain for row in evidence_rows(question, None, "")}
        assert rows["ended"].endswith(" · hitl-tui ended it: the session was closed")


async def test_a_step_that_is_declared_to_change_nothing_is_done_again_unasked(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    team = Endless(place, "low", Looking)
    async with place.open() as op:
        await team.begin(op)
    team.ends = True
    async with place.open() as op:
        assert await op.finish() == []
        assert op.status("todo_001") == "completed"


async def test_no_other_step_begins_while_a_session_lets_its_steps_end(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    place.mode = Mode.RISK
    place.world.hold("todo_001")
    async with place.open() as op:
        await place.world.began("todo_001")
        draining = asyncio.create_task(op.session.drain())
        await asyncio.wait({draining}, timeout=0)
        place.world.release("todo_001")
        await draining
        await op.until(lambda s: s.raw["todo_002"]["status"] == "in_progress")
    assert place.world.done() == {"todo_001": 1}
    async with place.open() as op:
        assert await op.finish() == []
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_step_whose_process_is_gone_is_shown_as_cut_off(tmp_path: Path) -> None:
    """What a script reads as running, and a person sees with its time going up, may be nobody's any more."""
    place = Place(tmp_path, step("high", "a"))

    def show(*more: str) -> str:
        command = [sys.executable, "-m", "hitl_tui", "--data", str(tmp_path / "data"), "show", "s1", *more]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout

    async with place.open() as op:
        await Endless(place).begin(op)
        document = json.loads(show("--json"))
        assert (document["owned"], document["interrupted"], document["cut_off"]) == (True, False, [])
    document = json.loads(show("--json"))
    assert (document["owned"], document["interrupted"], document["cut_off"]) == (False, True, ["todo_001"])
    assert (document["session_status"], document["todos"][0]["status"]) == ("running", "in_progress")
    lines = show().splitlines()
    (line,) = [line for line in lines if " 001 " in line]
    assert re.match(r"! cut off  001 .* began \d\d:\d\d:\d\d  approved", line), line
    assert lines[-2] == "s1 was interrupted; nothing runs now."
