"""`AskedRequests` says the same whether it was kept up or is made from what is open now."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from session_support import Place, step

from hitl_tui.core.board import PLAN_ACCEPTED, Board, Control, Rules
from hitl_tui.core.events import after_seconds
from hitl_tui.core.json_types import TodoState
from hitl_tui.core.policy import Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.question_follower import QuestionFollower
from hitl_tui.core.questions import questions
from hitl_tui.core.requests import Decision, Kind, Request, Verdict, resolve
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.approvers import Approver, Approvers
from hitl_tui.supervisor.asked_requests import AskedRequests
from hitl_tui.supervisor.bound_files import GIVEN
from hitl_tui.supervisor.ledger_writer import with_opening_times
from hitl_tui.supervisor.snapshot import Question, as_questions, has_preview, with_obstacles

AT = "2026-01-01T00:00:00+00:00"
RULES = Rules(
    Policy(
        [
            Rule(Ruling.ASK, team="two", terms=Terms(quorum=2, level=1)),
            Rule(Ruling.ASK, team="timed", terms=Terms(deadline=60.0)),
            Rule(Ruling.ASK, team="silent", terms=Terms(deadline=90.0, on_deadline="approve")),
        ]
    )
)
TEAMS = ("one", "two", "timed", "silent")
PEOPLE = [Approvers("ann", (Approver("ann", "ann", "", 1), *more)) for more in ((), (Approver("bob", "bob", "", 1),))]


def any_todo(rng: random.Random, todo_id: str) -> TodoState:
    asks: Any = {"kind": "interrupt", "interrupts": []}
    for i in rng.sample("abc", 2):
        answer = {"answer": 1} if rng.random() < 0.3 else {}
        asks["interrupts"].append({"id": i, "path": [i], "asked": rng.getrandbits(30), **answer})
    return SupervisorTodo(
        todo_id,
        "name",
        agent_name=rng.choice(TEAMS),
        arguments=rng.choice(({}, {"command": "c"}, {"preview": ["ls"]})),
        status=rng.choice((Status.COMPLETED, Status.WAITING_APPROVAL, Status.WAITING_APPROVAL)),
        question=rng.choice((None, None, asks, {"kind": "effect", "effect": {"key": "k"}})),
        risk=rng.choice((Risk.LOW, Risk.HIGH)),
        rank=float(rng.randint(1, 5)),
        asked=rng.getrandbits(30),
        priority=rng.choice(list(Priority)),
    ).to_state()


class Room:
    """A session's requests beside what a ledger says of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.board = self.followed = Board("s1", "query", {}, Control(plan=PLAN_ACCEPTED))
        self.follower = QuestionFollower()
        self.asked = AskedRequests(self.follower)
        self.record: dict[str, RequestView] = {}
        self.known: dict[str, RequestView] = {}
        self.approvers = PEOPLE[0]

    def change_plan(self) -> None:
        todos, rng = dict(self.board.todos), self.rng
        for todo_id in rng.sample([*todos, f"todo_{len(todos):03d}"], rng.randint(0, 1)):
            todos[todo_id] = any_todo(rng, todo_id)
        for todo_id in rng.sample([*todos], min(len(todos), 1)):  # none of this makes it another question
            other = {"priority": rng.choice(list(Priority)).value}, {"rank": 9.0}, {"metadata": {"interrupts": 7}}
            changed: Any = {**todos[todo_id], **rng.choice(other)}
            todos[todo_id] = changed
        if len(todos) > 8:
            del todos[rng.choice(list(todos))]
        self.board = replace(self.board, todos=todos)

    def follow(self) -> None:
        self.followed = self.board
        other = self.follower.move(self.board, RULES)
        for _, request in other.opened:
            fresh = with_opening_times(request, AT)
            self.record[request.id] = RequestView(fresh, (), resolve(fresh, (), AT), {})
        assert self.asked.follow(other, other.opened) == list(other.ended)
        for request_id in other.ended:
            self.known.pop(request_id, None)

    def happen(self) -> None:
        """Let the ledger get something new of a request, which is told or isn't."""
        if not self.record:
            return
        view = self.record[self.rng.choice(list(self.record))]
        if self.rng.random() < 0.5:
            self.record[view.request.id] = replace(view, evidence={"lines": self.rng.random()})
            self.asked.outdate(view.request.id)
            self.known.pop(view.request.id, None)
        elif not view.request.first_shown:
            seconds = view.request.terms.deadline
            deadline = (
                after_seconds(AT, seconds) if view.request.ends_in_approval and seconds else view.request.deadline
            )
            shown = replace(view.request, first_shown=AT, deadline=deadline)
            self.record[shown.id] = replace(view, request=shown)

    def read(self, most: int) -> None:
        for request_id in [*self.asked.unread, *self.asked.watched][:most]:
            self.asked.read(self.record[request_id])
            self.known[request_id] = self.record[request_id]

    def check(self) -> None:
        """Compare with what follows from the plan, from what was read, and from who counts."""
        asked = questions(self.followed, RULES)
        views = [self.known[request.id] for request in asked if request.id in self.known]
        found = self.asked.questions(self.board.todos, self.approvers)
        assert found == with_obstacles(as_questions(views, self.board.todos), self.approvers)
        assert set(self.asked) == {request.id for request in asked}
        assert len(self.asked) == len(asked)
        assert set(self.asked.unread) == {request.id for request in asked if request.id not in self.known}
        assert self.asked.watched >= {view.request.id for view in views if is_watched(view.request)}
        assert self.asked.watched <= {request.id for request in asked}
        ends = [view.request.expires_at for view in views if view.request.expires_at]
        assert self.asked.first_end == min(ends, default="")
        assert self.asked.have_deadlines == any(request.terms.deadline for request in asked)
        assert set(self.asked.bound) == {request.id for request in asked if shows_files(request)}
        assert found is self.asked.questions(self.board.todos, self.approvers)


def is_watched(request: Request) -> bool:
    begins_when_shown = request.terms.deadline and request.ends_in_approval and not request.first_shown
    return request.terms.quorum > 1 or bool(begins_when_shown)


def shows_files(request: Request) -> bool:
    given = request.subject.get("arguments") or {}
    return request.kind in (Kind.TODO, Kind.FAILURE) and (has_preview(request) or bool(given.keys() & set(GIVEN)))


@pytest.mark.parametrize("seed", range(60))
def test_it_is_kept_up_whatever_happens(seed: int) -> None:
    rng = random.Random(seed)
    room = Room(rng)
    for _ in range(80):
        if rng.random() < 0.6:
            room.change_plan()
        if rng.random() < 0.6:  # it may be looked at before that
            room.follow()
        if rng.random() < 0.5:
            room.happen()
        if rng.random() < 0.1:
            room.approvers = rng.choice(PEOPLE)
        if rng.random() < 0.7:
            room.read(rng.choice((1, 50)))
        room.check()


def test_what_nothing_happened_to_stays_the_same_question() -> None:
    room = Room(random.Random(1))
    todos = {f"todo_{n:03d}": any_todo(random.Random(n), f"todo_{n:03d}") for n in range(20)}
    room.board = replace(room.board, todos=todos)
    room.follow()
    room.read(100)
    before = by_todo(room.asked.questions(room.board.todos, room.approvers))
    ended = next(iter(before))
    changed: Any = {**todos[ended], "status": "completed"}
    room.board = replace(room.board, todos={**todos, ended: changed})
    room.follow()
    now = by_todo(room.asked.questions(room.board.todos, room.approvers))
    del before[ended]
    assert now.keys() == before.keys()
    assert all(now[todo_id] is question for todo_id, question in before.items())


def by_todo(found: tuple[Question, ...]) -> dict[str, Question]:
    return {question.todo_id: question for question in found}


@pytest.mark.parametrize(
    "terms", [Terms(quorum=2), Terms(deadline=300.0, on_deadline="approve")], ids=["two", "silent"]
)
async def test_of_many_that_others_may_change_only_what_the_record_names_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: Terms
) -> None:
    place = Place(tmp_path, *(step("low", f"s{number}") for number in range(12)))
    place.policy = Policy([Rule(Ruling.ASK, terms=terms)])
    async with place.open() as op:
        await op.rest()
        ledger, read = op.session.setup.ledger, list[str]()
        known = ledger.request

        async def noted(request_id: str, now: str) -> RequestView | None:
            read.append(request_id)
            return await known(request_id, now)

        question, other = op.now.questions[5], op.now.questions[7]
        monkeypatch.setattr(ledger, "request", noted)
        await op.session.setup.mark_shown([question.id], "ann", "cli")
        if terms.quorum == 1:
            await op.until(lambda seen: bool(seen.questions[5].view.request.expires_at))
            assert set(read) == {question.id}
            return
        said = Decision(other.id, Verdict.APPROVE, "ann", other.digest, op.session.setup.now(), "cli")
        await ledger.decide(replace(said, person="ann", proof="account", account="ann"), said.at)
        await op.until(lambda seen: bool(seen.questions[7].view.decisions))
        assert set(read) <= {question.id, other.id}
