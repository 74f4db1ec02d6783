"""The plan that a proposal shows is the one that comes of accepting it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from board_support import Table, add, decide, plan

from hitl_tui.core.board import Board, Control, Draft, Rules
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.json_types import ProposedChange, StepNamed
from hitl_tui.core.proposal_changes import plan_now, plan_then, work_in
from hitl_tui.core.questions import proposal_now
from hitl_tui.core.requests import Verdict, accepted_changes


def _random_plan(chance: Random) -> Table:
    names = "abcdef"[: chance.randint(2, 6)]
    steps = [
        name + (f":{chance.choice(names[:place])}" * (chance.random() < 0.3) if place else "")
        for place, name in enumerate(names)
    ]
    return Table(plan(*steps))


def _random_changes(chance: Random, table: Table) -> list[dict[str, Any]]:
    ids, found = list(table.board.todos), list[dict[str, Any]]()
    for number in range(chance.randint(1, 5)):
        kind = chance.choice(["add", "add", "after", "move", "move", "move", "skip", "remove", "priority", "edit"])
        one, other = chance.choice(ids), chance.choice(ids)
        if kind == "add":
            new_id = f"todo_{len(table.board.todos) + number + 1:03d}"
            todo = {**add(f"new {number}", todo_id=new_id).data["todo"], "dependencies": chance.choice([[], [one]])}
            fed = {"metadata": {"feeds": [other]}} if other != one and chance.random() < 0.3 else {}
            found.append({"kind": "add", "todo": {**todo, **fed}})
            ids.append(new_id)
        elif kind == "after":
            found.append({"kind": "after", "todo_id": one, "after": chance.choice([[], [other]])})
        elif kind == "move":
            where = chance.choice(["before", "after"])
            found.append({"kind": "after", "todo_id": one, "after": [], "where": where, "anchor": other})
        elif kind == "priority":
            found.append({"kind": "priority", "todo_id": one, "priority": "high"})
        elif kind == "edit":
            found.append({"kind": "edit", "todo_id": one, "arguments": {"what": "else"}, "risk": "low"})
        else:
            found.append({"kind": kind, "todo_id": one})
    return found


@pytest.mark.parametrize("part", [False, True])
def test_what_is_shown_is_what_comes_of_it(part: bool) -> None:
    changed = refused = 0
    for seed in range(400):
        chance = Random(seed)
        table = _random_plan(chance)
        if chance.random() < 0.3:  # it runs already
            table.approve("todo_001")
        proposed = {
            "id": "p1",
            "reason": "r",
            "origin": "operator",
            "text": "",
            "changes": _random_changes(chance, table),
        }
        table.take(Event(EventKind.PROPOSED, {"proposal": proposed}))
        if chance.random() < 0.3:  # its steps get other ids
            table.take(add("meanwhile"))
        (request,) = [q for q in table.questions() if q.kind == "proposal"]
        numbers = sorted(
            chance.sample(range(1, len(proposed["changes"]) + 1), chance.randint(1, len(proposed["changes"])))
        )
        value = {"changes": numbers} if part else None
        shown: list[StepNamed] = list(request.about.get("then", ()))
        if part:
            draft = Draft(table.board, table.rules)
            changes = proposal_now(draft, table.board.control.proposals["p1"])["changes"]
            try:
                shown = plan_then(draft, accepted_changes(changes, value))
            except BadInput:
                continue
        before = plan_now(Draft(table.board, table.rules))
        decide(table, "", Verdict.APPROVE, value)
        after = plan_now(Draft(table.board, table.rules))
        assert shown == after, (seed, proposed["changes"])
        changed, refused = changed + (after != before), refused + bool(table.board.control.refused)
    assert changed > 100 and refused > 20, (changed, refused)


def test_what_is_worked_into_a_plan_under_review() -> None:
    first, second, third = plan("a", "b:a", "c:b")
    second = replace(second, metadata={"lacks": ["what"], "unread": ["x"]})
    before = {todo.id: todo.to_state() for todo in (first, second, third)}
    draft = Draft(Board("s1", "q", before, Control(highest=3)), Rules())
    changes: list[ProposedChange] = [
        {"kind": "remove", "todo_id": first.id},
        {"kind": "edit", "todo_id": second.id, "arguments": {"what": "else"}, "risk": "high"},
        {"kind": "add", "todo": {**add("d", todo_id="todo_004").data["todo"], "dependencies": [first.id, third.id]}},
        {"kind": "skip", "todo_id": third.id},
    ]
    work_in(draft, changes, "now")
    second, added = draft.result().all()
    assert (second.arguments, second.risk, second.dependencies) == ({"what": "else"}, "high", ())
    assert "lacks" not in second.metadata and "unread" not in second.metadata
    assert (added.id, added.dependencies, added.created_at) == ("todo_004", (second.id,), "now")
    with pytest.raises(UnknownName, match="No step"):
        work_in(draft, [{"kind": "remove", "todo_id": first.id}], "now")
