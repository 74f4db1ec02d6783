"""`QuestionFollower` says the same whether it followed a plan or was made from where the plan is now."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from board_support import Table, on, pick, plan

from hitl_tui.core.board import PLAN_ACCEPTED, PLAN_DRAFT, Board, Control, Rules
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_types import TodoState
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling
from hitl_tui.core.question_follower import QuestionFollower
from hitl_tui.core.questions import Key, asking, count_asked, question_keys, questions
from hitl_tui.core.todos import Priority, Status, SupervisorTodo

PROPOSAL = {"reason": "r", "origin": "operator", "changes": [{"kind": "skip", "todo_id": "todo_001"}]}


class Followed:
    """A follower, and what it said was opened and has not ended."""

    def __init__(self) -> None:
        self.follower = QuestionFollower()
        self.open: dict[str, str] = {}

    def move(self, board: Board, rules: Rules) -> list[str]:
        """Follow to a board, compare with what it asks from its beginning, and return what was opened."""
        other = self.follower.move(board, rules)
        for request_id in other.ended:
            del self.open[request_id]
        for asker, request in other.opened:
            assert request.id not in self.open
            self.open[request.id] = asker
        follower, expected = self.follower, questions(board, rules)
        found = [request for asker in follower.askers for request in follower.requests.get(asker, ())]
        assert [request.id for request in found] == [request.id for request in expected]
        assert {r.id: asker for asker, requests in follower.requests.items() for r in requests} == self.open
        keys = {asker: question_keys(board, asker) for asker in follower.askers}
        assert follower._keys == {asker: found for asker, found in keys.items() if found}
        assert count_asked(board) == len(list(asking(board)))
        opened = [request.id for _, request in other.opened]
        assert opened == [request.id for request in expected if request.id in opened]
        return opened


@pytest.mark.parametrize("seed", range(40))
def test_it_follows_a_session(seed: int) -> None:
    rng = random.Random(seed)
    table = Table(plan("a", "b:a", "c!", "d?:a,c", "e"), mode=rng.choice(list(Mode)), accepted=seed % 4 > 0)
    followed = Followed()
    for _ in range(80):
        followed.move(table.board, table.rules)
        table.take(pick(table, rng.getrandbits(40)))


def any_todo(rng: random.Random, todo_id: str, ids: list[str]) -> TodoState:
    status = rng.choice(
        (Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED, Status.FAILED, *[Status.WAITING_APPROVAL] * 4)
    )
    question: Any = None
    if status in (Status.WAITING_APPROVAL, Status.IN_PROGRESS) and rng.random() < 0.4:
        answer = [{}, {"answer": 1}]
        inside = [{"id": i, "path": [i], "asked": rng.getrandbits(30), **rng.choice(answer)} for i in "ab"]
        effect = {"kind": "effect", "effect": {"key": "k", "name": "n"}, "interrupts": inside}
        question = rng.choice(({"kind": "interrupt", "interrupts": inside}, effect))
    if status is Status.FAILED and rng.random() < 0.5:
        question = {"kind": "failure"}
    few = rng.sample(ids, min(len(ids), 2))
    return SupervisorTodo(
        todo_id,
        "name",
        agent_name="team",
        status=status,
        question=question,
        dependencies=tuple(few) if rng.random() < 0.4 else (),
        metadata={"manual": True, "inputs": few} if rng.random() < 0.4 else {},
        result={"digest": rng.choice("xyz")} if status is Status.COMPLETED else None,
        rank=float(rng.randint(1, 5)),
        asked=rng.getrandbits(30),  # as whatever changes what is asked counts it up
        priority=rng.choice(list(Priority)),
    ).to_state()


@pytest.mark.parametrize("seed", range(40))
def test_it_follows_whatever_happens_to_a_plan(seed: int) -> None:
    rng = random.Random(seed)
    todos: dict[str, TodoState] = {}
    for number in range(12):
        todos[f"todo_{number:03d}"] = any_todo(rng, f"todo_{number:03d}", list(todos))
    board, rules = Board("s1", "query", todos, Control(plan=PLAN_ACCEPTED)), Rules()
    followed = Followed()
    for step in range(100):
        followed.move(board, rules)
        todos, control = dict(board.todos), board.control
        for todo_id in rng.sample(list(todos), min(len(todos), rng.choice((0, 1, 1, 2, 9)))):
            todos[todo_id] = any_todo(rng, todo_id, list(todos))
        if rng.random() < 0.1:
            todos = {i: {**todo} for i, todo in todos.items()}  # read anew
        if todos and rng.random() < 0.2:
            del todos[rng.choice(list(todos))]
        if rng.random() < 0.3:
            todos[f"todo_1{step:02d}"] = any_todo(rng, f"todo_1{step:02d}", list(todos))
        if rng.random() < 0.1:
            control = replace(control, plan=rng.choice((PLAN_DRAFT, PLAN_ACCEPTED)), plan_asked=step)
        if rng.random() < 0.1:
            control = replace(control, branch=step)
        if rng.random() < 0.2:
            proposals = {i: {**PROPOSAL, "id": i} for i in rng.sample("pqr", rng.randint(0, 3))}
            control = replace(control, proposals=proposals, highest=step)
        board = replace(board, todos=todos, control=control)
        asked = next((name for name in asking(board) if name in board.todos), "")
        if asked and rng.random() < 0.1:  # the event that tells of other rules asks something anew
            rules = Rules(Policy([Rule(Ruling.ASK, team=f"team{step}")]))
            anew: Any = {**board.todos[asked], "asked": rng.getrandbits(30)}
            board = replace(board, todos={**board.todos, asked: anew})


def test_what_nothing_happened_to_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(plan(*(f"s{n}" for n in range(40))))
    follower, derived = QuestionFollower(), list[str]()
    follower.move(table.board, table.rules)
    before = dict(follower.requests)

    def noted(board: Board, asker: str) -> dict[str, Key]:
        derived.append(asker)
        return question_keys(board, asker)

    monkeypatch.setattr("hitl_tui.core.question_follower.question_keys", noted)
    table.approve("todo_003")
    other = follower.move(table.board, table.rules)
    assert set(derived) == {"plan", "todo_003"}
    assert (other.askers, other.opened, len(other.ended)) == (("todo_003",), [], 1)
    assert all(follower.requests[i] is requests for i, requests in before.items() if i != "todo_003")
    table.take(on(EventKind.PRIORITY, "todo_040", priority="high"))
    other = follower.move(table.board, table.rules)
    assert (other.askers, other.opened, other.ended) == (("todo_040",), [], [])
    assert follower.askers[0] == "todo_040"
