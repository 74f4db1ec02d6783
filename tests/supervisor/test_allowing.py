"""What the mode or a rule lets run without a question is on record as well, once for each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from session_support import Place, step

from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling
from hitl_tui.ledger.approval_log import logged_decisions


async def allowed(place: Place, kind: str = "allowed") -> list[dict[str, Any]]:
    async with place.ledger() as ledger:
        return [dict(entry.data) for entry in await ledger.entries("s1") if entry.kind == kind]


@pytest.mark.parametrize(
    ("policy", "mode", "by", "channel"),
    [
        (Policy(), Mode.RISK, "mode risk", "mode"),
        (Policy([Rule(Ruling.ASK, team="high"), Rule(Ruling.ALLOW, risk="low")]), Mode.RISK, "policy rule 2", "policy"),
        (Policy([Rule(Ruling.ALLOW, risk="low", name="small")]), Mode.RISK, 'policy rule 1 "small"', "policy"),
    ],
)
async def test_who_or_what_allowed_which_input(
    tmp_path: Path, policy: Policy, mode: Mode, by: str, channel: str
) -> None:
    place = Place(tmp_path, step("low", "a"), step("high", "b", "a"))
    place.policy, place.mode = policy, mode
    async with place.open() as op:
        await op.finish()
        version = place.policy.version
    (entry,) = await allowed(place)
    assert entry["digest"] == digest(entry["subject"])
    assert entry["subject"]["arguments"] == {"what": "a"}
    said = {key: entry[key] for key in ("todo_id", "run_id", "by", "channel", "verdict", "policy")}
    expected = {"todo_id": "todo_001", "run_id": "s1/todo_001/0.1", "by": by, "channel": channel}
    assert said == {**expected, "verdict": "approve", "policy": version}


async def test_a_run_that_goes_on_is_on_record_once_and_another_run_again(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a", retry_count=1))
    place.mode = Mode.RISK
    place.world.hold("todo_001")
    place.world.fail["todo_001"] = [OSError("not now")]
    async with place.open():
        await place.world.began("todo_001")
    assert [entry["run_id"] for entry in await allowed(place)] == ["s1/todo_001/0.1"]
    place.world.release("todo_001")
    async with place.open() as op:
        await op.rest()
        assert op.now.concluded
    assert [entry["run_id"] for entry in await allowed(place)] == ["s1/todo_001/0.1", "s1/todo_001/0.2"]


async def test_it_is_on_record_before_it_begins_and_not_when_a_person_decided(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.finish()
    assert await allowed(place) == []
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other", step("low", "a"))
    other.mode = Mode.RISK
    async with other.open() as op:
        await op.finish()
    async with other.ledger() as ledger:
        kinds = [entry.kind for entry in await ledger.entries("s1")]
    assert kinds.index("allowed") < kinds.index("effect_started")


NEVER = Policy([Rule(Ruling.DENY, team="high", name="never")])


async def test_what_a_rule_refuses_is_on_record_once_with_the_rule_and_what_it_refused(tmp_path: Path) -> None:
    """(M1, T9)"""
    place = Place(tmp_path, step("high", "a"))
    place.policy, place.mode = NEVER, Mode.RISK
    for _time in range(2):
        async with place.open() as op:
            await op.rest()
            assert op.now.raw["todo_001"]["error"] == 'denied by policy rule 1 "never"'
    (entry,) = await allowed(place, "denied")
    said = {key: entry[key] for key in ("todo_id", "by", "channel", "verdict", "rule", "name")}
    assert said == {
        "todo_id": "todo_001",
        "by": 'policy rule 1 "never"',
        "channel": "policy",
        "verdict": "reject",
        "rule": 1,
        "name": "never",
    }
    assert (entry["subject"]["arguments"], entry["digest"]) == ({"what": "a"}, digest(entry["subject"]))
    async with place.ledger() as ledger:
        (decision,) = await logged_decisions(ledger, "s1")
    assert (decision.asked, decision.verdict, decision.by) == ("denied", "reject", 'policy rule 1 "never"')
    assert decision.about


async def test_a_question_that_people_had_and_a_rule_refuses_then_is_on_record(tmp_path: Path) -> None:
    place = Place(tmp_path, step("high", "a"))
    place.mode = Mode.RISK
    async with place.open() as op:
        await op.rest()
        assert [question.kind for question in op.now.questions] == ["todo"]
    place.policy = NEVER
    async with place.open() as op:
        await op.rest()
        assert not op.now.questions
    (entry,) = await allowed(place, "denied")
    assert entry["name"] == "never"
