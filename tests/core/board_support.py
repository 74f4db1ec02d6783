"""A board at a table: plans, events, and a person who decides, without any I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.core.board import PLAN_ACCEPTED, PLAN_DRAFT, Board, Control, Draft, Rules, startable
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.fold import fold
from hitl_tui.core.fold_consequences import settle, withdraw_unbound
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling
from hitl_tui.core.questions import question_of, questions
from hitl_tui.core.requests import Request, Verdict
from hitl_tui.core.todos import Priority, Status, SupervisorTodo

AT = "2026-01-01T00:00:00+00:00"
DENY_HIGH = Policy([Rule(Ruling.DENY, risk="high")])
ALLOW_LOW = Policy([Rule(Ruling.ALLOW, risk="low"), Rule(Ruling.ASK)])


def plan(*steps: str) -> list[SupervisorTodo]:
    """Return TODOs: `name`, `!` for high risk, `?` for optional, `:a,b` for what it depends on."""
    ids: dict[str, str] = {}
    todos = []
    for number, text in enumerate(steps, start=1):
        head, _, after = text.partition(":")
        name = head.rstrip("!?")
        ids[name] = f"todo_{number:03d}"
        todos.append(
            SupervisorTodo(
                ids[name],
                name,
                agent_name="team",
                arguments={"what": name},
                dependencies=tuple(ids[d] for d in after.split(",") if d),
                risk=Risk.HIGH if "!" in head else Risk.LOW,
                optional="?" in head,
                max_retries=0,
                rank=float(number),
            )
        )
    return todos


def on(kind: EventKind, todo_id: str, **data: Any) -> Event:
    """Return an event about a TODO."""
    return Event(kind, {"todo_id": todo_id, **data}, by="ann", at=AT)


def add(name: str, *, todo_id: str = "", manual: bool = False, risk: str = "low", after: Sequence[str] = ()) -> Event:
    """Return the event that adds a TODO."""
    todo = {
        "id": todo_id or "todo_000",
        "name": name,
        "agent_name": "team",
        "arguments": {"what": name},
        "risk": risk,
        "dependencies": list(after),
        "metadata": {"manual": True} if manual else {},
    }
    return Event(EventKind.ADD, {"todo": todo}, by="ann", at=AT)


class Table:
    """A session without its engine: takes events and starts what may start.

    Args:
        todos: the plan.
        rules: what holds.
        mode: when a person is asked.
        accepted: the plan was accepted.
    """

    def __init__(
        self,
        todos: Sequence[SupervisorTodo],
        rules: Rules | None = None,
        *,
        mode: Mode = Mode.STEP,
        accepted: bool = True,
    ) -> None:
        self.rules = rules or Rules()
        control = Control(
            mode=mode,
            plan=PLAN_ACCEPTED if accepted else PLAN_DRAFT,
            highest=len(todos),
            concurrency=self.rules.concurrency,
            policy_version=self.rules.policy.version,
        )
        board = Board("s1", "the query", {t.id: t.to_state() for t in todos}, control)
        self.board = run_all(fold(board, (), self.rules).board, self.rules)
        self._numbers = 0

    def take(self, event: Event) -> None:
        """Apply one event and start what may start."""
        self._numbers = max(self._numbers, self.board.control.cursor) + 1
        numbered = replace(event, seq=self._numbers, id=event.id or f"e{self._numbers}", at=event.at or AT)
        self.board = run_all(fold(self.board, [numbered], self.rules).board, self.rules)

    def approve(self, *todo_ids: str) -> None:
        for todo_id in todo_ids:
            decide(self, todo_id, Verdict.APPROVE)

    def finish(self, todo_id: str, digest: str = "d", **result: Any) -> None:
        run_id = self.todo(todo_id).run_id
        self.take(
            on(EventKind.FINISHED, todo_id, run_id=run_id, result={"digest": digest, "summary": "done", **result})
        )

    def fail(self, todo_id: str, *, final: bool = False, error: str = "broke") -> None:
        self.take(on(EventKind.FAILED, todo_id, run_id=self.todo(todo_id).run_id, error=error, final=final))

    def todo(self, todo_id: str) -> SupervisorTodo:
        return SupervisorTodo.from_dict(self.board.todos[todo_id])

    def status(self, todo_id: str) -> str:
        return str(self.board.todos[todo_id]["status"])

    @property
    def statuses(self) -> dict[str, str]:
        return {t.id: t.status.value for t in self.board.all()}

    def questions(self) -> list[Request]:
        return questions(self.board, self.rules)

    def asked(self) -> set[str]:
        return {q.id for q in self.questions()}

    def refused(self) -> str:
        return str(self.board.control.refused[-1]["message"])

    def ask_ahead(self, todo_id: str) -> Request | None:
        return question_of(Draft(self.board, self.rules), self.todo(todo_id))


def run_all(board: Board, rules: Rules | None = None) -> Board:
    """Start what may start, as the supervisor does."""
    rules = rules or Rules()
    while True:
        draft = Draft(board, rules)
        ready = startable(draft)
        if not ready:
            return board
        for todo in ready:
            if not withdraw_unbound(draft, todo):
                attempt = todo.attempt + 1
                run_id = f"{board.session}/{todo.id}/{board.control.branch}.{attempt}"
                draft.put(todo.with_status(Status.IN_PROGRESS, attempt=attempt, run_id=run_id, started_at=AT))
        settle(draft, AT)
        board = draft.result()


def decision_of(request: Request, verdict: Verdict, value: Any = None, reason: str = "") -> Event:
    """Return the event a settled request leads to."""
    data = {
        "request_id": request.id,
        "asked": request.kind.value,
        "todo_id": request.todo_id,
        "digest": request.digest,
        "verdict": verdict.value,
        "outcome": "approved",
        "by": "ann",
        "channel": "test",
        "at": AT,
        "reason": reason,
        "value": value,
    }
    return Event(EventKind.DECIDED, data, id=f"decided:{request.id}", at=AT)


def decide(table: Table, todo_id: str, verdict: Verdict, value: Any = None, reason: str = "") -> None:
    """Decide what is asked about a TODO (or, in advance, would be); without an id what isn't about one."""
    if todo_id:
        request = question_of(Draft(table.board, table.rules), table.todo(todo_id))
    else:
        request = next(q for q in table.questions() if not q.todo_id)
    assert request is not None, table.statuses
    table.take(decision_of(request, verdict, value, reason))


def pick(table: Table, number: int) -> Event:
    """Return one of the valid and nearly valid events for a table as it is now."""
    names = sorted(table.board.todos)
    if not names:
        return add("added")
    first, second = names[number % len(names)], names[number // 7 % len(names)]
    running = [i for i in names if table.status(i) == "in_progress"]
    draft = Draft(table.board, table.rules)
    asked = table.questions()
    pending = (question_of(draft, table.todo(i)) for i in names if table.status(i) == "pending")
    asked += [q for q in pending if q is not None]
    kinds = [0] * 3 * bool(running) + [1] * 5 * bool(asked) + [2] * 4
    kind, rest = kinds[number % len(kinds)], number // len(kinds)
    if kind == 0:
        return _ending(table, running[rest % len(running)], rest // len(running))
    if kind == 1:
        request = asked[rest % len(asked)]
        choices = [*request.options, *([Verdict.APPROVE] * 2 if Verdict.APPROVE in request.options else [])]
        return decision_of(request, choices[rest // len(asked) % len(choices)], value=1)
    return _command(table, first, second, rest)


def _ending(table: Table, todo_id: str, number: int) -> Event:
    run_id = table.todo(todo_id).run_id
    endings = (
        on(EventKind.FINISHED, todo_id, run_id=run_id, result={"digest": "d"}),
        on(EventKind.FINISHED, todo_id, run_id=run_id, result={"digest": "e"}),
        on(EventKind.FAILED, todo_id, run_id=run_id, error="broke"),
        on(EventKind.INTERRUPTED, todo_id, run_id=run_id, interrupts=[{"id": "i", "path": ["n"], "value": 1}]),
        on(EventKind.DOUBT, todo_id, run_id=run_id, effect={"key": "k", "name": "n"}),
    )
    return endings[number % len(endings)]


def _command(table: Table, first: str, second: str, number: int) -> Event:
    variant = number // 13
    statuses, risks, modes = list(Status), list(Risk), list(Mode)
    commands = (
        on(EventKind.SKIP, first, reason="no"),
        on(EventKind.UPDATE, first, status=statuses[variant % 7].value),
        on(EventKind.UPDATE, first, status="pending"),
        on(EventKind.PRIORITY, first, priority=list(Priority)[variant % 4].value),
        on(EventKind.MOVE, first, where=("before", "after")[variant % 2], anchor=second),
        on(EventKind.EDIT, first, arguments={"what": "xy"[variant % 2]}, risk=risks[variant % 3].value),
        on(EventKind.REMOVE, first),
        on(EventKind.PUT_BACK, f"todo_{variant % 6 + 1:03d}"),
        on(EventKind.CANCEL, first),
        Event(EventKind.MODE, {"mode": modes[variant % 3].value}),
        add("added", manual=bool(variant % 2), after=[second][: variant // 2 % 2]),
        Event(EventKind.STOP) if variant % 5 == 0 else on(EventKind.SKIP, second),
        Event(EventKind.RESTORED, {"branch": table.board.control.branch + 1}),
    )
    choice = number % (len(commands) + 1)
    return _configured(table, variant) if choice == len(commands) else commands[choice]


def _configured(table: Table, number: int) -> Event:
    """Return the event that settings changed, and let the table's rules change with it."""
    denied = Rule(Ruling.DENY, team=("nobody", "somebody")[number % 2])
    kept = [r for r in table.rules.policy.rules if not r.team]
    rules = Rules(Policy([denied, *kept]), table.rules.concurrency)
    table.rules = rules
    return Event(EventKind.CONFIGURED, {"policy_version": rules.policy.version, "concurrency": rules.concurrency})


__all__ = ["ALLOW_LOW", "DENY_HIGH", "Table", "add", "decide", "decision_of", "on", "pick", "plan", "run_all"]
