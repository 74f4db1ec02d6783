"""Who allowed or refused what, as the ledger has it; what ran without a question is put there before it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from hitl_tui.core.board import Board, Draft, Rules, subject_of
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_text import canonical
from hitl_tui.core.names import clip
from hitl_tui.core.plan_review import EndedBy
from hitl_tui.core.requests import Decision, Kind, Verdict
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.protocols import Streams, read_stream
from hitl_tui.ledger.records import Entry

ALLOWED = "allowed"
"""Kind of the entry that stands for a decision where the mode or a rule of hitl.toml asked nobody."""

ACCEPTED = "plan_accepted"
"""Kind of the entry that says that the limit of revisions, or a rule, accepted a plan, and no person."""


class AllowedRuns:
    """Writes an entry for each run that nobody was asked about, once, also when a process died in between.

    Args:
        ledger: the record.
        session: session id.
        now: the clock.
    """

    def __init__(self, ledger: Streams, session: str, now: Callable[[], str]) -> None:
        self._ledger = ledger
        self._session = session
        self._now = now
        self._written: set[str] | None = None
        self._plans: set[int] = set()

    async def write(self, board: Board, rules: Rules, todo: SupervisorTodo) -> None:
        """Put on record what lets a TODO's run begin; nothing where a person or a standing rule decided.

        Raises:
            StorageError: it can't be written; the run must not begin then.
        """
        approval = todo.approval or {}
        if approval.get("channel") != "policy":
            return
        if self._written is None:
            self._written = await self._earlier()
        if todo.run_id in self._written:
            return
        by = str(approval.get("by", ""))
        data = {
            "todo_id": todo.id,
            "run_id": todo.run_id,
            "branch": board.control.branch,
            "verdict": "approve",
            "by": by,
            "channel": "mode" if by.startswith("mode ") else "policy",
            "policy": rules.policy.version,
            "digest": approval.get("digest", ""),
            "subject": subject_of(Draft(board, rules), todo),
        }
        await self._ledger.record(self._session, ALLOWED, data, self._now())
        self._written.add(todo.run_id)

    async def write_plan(self, board: Board) -> None:
        """Put on record what accepted the plan where nobody was asked: the limit of revisions, or a rule.

        Raises:
            StorageError: it can't be written; nothing may begin then.
        """
        control = board.control
        if control.reviewed.get("ended_by") not in (EndedBy.LIMIT, EndedBy.RULE) or control.branch in self._plans:
            return
        if self._written is None:
            self._written = await self._earlier()
        if control.branch not in self._plans:
            data = {**control.reviewed, "branch": control.branch}
            await self._ledger.record(self._session, ACCEPTED, data, self._now())
            self._plans.add(control.branch)

    async def _earlier(self) -> set[str]:
        found: set[str] = set()
        async for entry in read_stream(self._ledger, self._session):
            if entry.kind == ALLOWED:
                found.add(str(entry.data["run_id"]))
            elif entry.kind == ACCEPTED:
                self._plans.add(int(entry.data["branch"]))
        return found


RESTORED = "restored"
"""What a `LoggedDecision` about going back to an earlier checkpoint says."""
REOPENED = "reopened"
"""A rejection, a skip or an approval was taken back, so the step is asked about again with the same input."""
EDITED = "edited"
"""Another input of a step was asked for; what is decided from then on is about that."""
_LONGEST, _TASK = 200, "task"
_MADE = frozenset({"argv", "programs"})
"""Arguments that follow from the others, or from files."""


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision, as the record has it.

    Args:
        asked: what it was about: a `core.requests.Kind`; `allowed` where nobody was asked; `restored` for going back.
        todo_id: the TODO; empty for the plan, a proposal and going back.
        verdict: a verdict in a word (`approve`, `edit`, `retry`, …), `restored`, `reopened` or `edited`.
        by: who; `mode risk`, `policy rule 2` or `deadline` where nobody said it.
        channel: `console`, `repl`, `cli`, `rule`, `mode`, `policy`, `deadline`; empty where it isn't recorded.
        at: ISO 8601, UTC.
        reason: their words; of an edit what the input became.
    """

    asked: str
    todo_id: str
    verdict: str
    by: str
    channel: str
    at: str
    reason: str = ""

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


async def logged_decisions(ledger: Streams, session: str) -> list[LoggedDecision]:
    """Return everything that was decided in a session, in the order of its record.

    Each person of a quorum has a line of their own. A session that was imported or forked begins with its own record:
    what was decided before is in its state.

    Raises:
        StorageError: the record can't be read.
    """
    asked: dict[str, tuple[str, str]] = {}
    inputs: dict[str, dict[str, str]] = {}
    found: list[LoggedDecision] = []
    async for entry in read_stream(ledger, session):
        if entry.kind == "request_opened":
            request = entry.data["request"]
            asked[str(request["id"])] = str(request["kind"]), str(request["todo_id"])
            if "arguments" in request["subject"]:
                inputs[str(request["todo_id"])] = _values(request["subject"]["arguments"], request["subject"]["task"])
        elif (change := _changed_by_hand(entry, inputs)) is not None:
            found.append(change)
        elif (said := _said(entry, asked)) is not None:
            found.append(said)
    return found


def _changed_by_hand(entry: Entry, inputs: dict[str, dict[str, str]]) -> LoggedDecision | None:
    """Return what a person did to a step beside answering; the inputs of steps, as far as they are known, are kept."""
    if entry.kind == "restore_intended":
        inputs.clear()  # steps are again what they were; each is asked about anew
    event = entry.data.get("event") if entry.kind == "event" else None
    if not isinstance(event, Mapping) or event.get("kind") not in (EventKind.EDIT, EventKind.UPDATE):
        return None
    data, by, at = event["data"], str(event["by"]), str(event["at"])
    todo_id = str(data["todo_id"])
    if event["kind"] == EventKind.UPDATE:
        reopens = data.get("status") == Status.PENDING
        return LoggedDecision(REOPENED, todo_id, REOPENED, by, "", at) if reopens else None
    now = _values(data.get("arguments"), data.get("description", ""))
    before = inputs.get(todo_id, {})
    inputs[todo_id] = now
    if now == before:
        return LoggedDecision(REOPENED, todo_id, REOPENED, by, "", at)
    names = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    changed = ", ".join(
        f"{name}: {before[name]} → {now.get(name, '')}" if before.get(name) else f"{name}: {now.get(name, '')}"
        for name in [name for name in names if name != _TASK] or names
    )
    return LoggedDecision(EDITED, todo_id, EDITED, by, "", at, changed)


def _values(arguments: object, task: object) -> dict[str, str]:
    """Return what a person may set of a step, by name, in a few words each: its task and its arguments."""
    found = {_TASK: clip(str(task), _LONGEST)}
    for name, value in arguments.items() if isinstance(arguments, Mapping) else ():
        if isinstance(value, Mapping):
            found |= _values(value, task)
        elif name not in _MADE:
            found[str(name)] = clip(value if isinstance(value, str) else canonical(value).decode(), _LONGEST)
    return found


def _said(entry: Entry, asked: Mapping[str, tuple[str, str]]) -> LoggedDecision | None:
    data = entry.data
    if entry.kind == "decision":
        decision = Decision.from_dict(data["decision"])
        kind, todo_id = asked.get(decision.request_id, ("", ""))
        return LoggedDecision(kind, todo_id, decision.said, decision.by, decision.channel, decision.at, decision.reason)
    if entry.kind == ALLOWED:
        by, channel = str(data["by"]), str(data["channel"])
        return LoggedDecision(ALLOWED, str(data["todo_id"]), str(data["verdict"]), by, channel, entry.at)
    if entry.kind == ACCEPTED:
        by, channel = str(data["by"]), str(data.get("channel", data["by"]))
        return LoggedDecision(Kind.PLAN.value, "", Verdict.APPROVE.value, by, channel, entry.at)
    if entry.kind == "restore_intended":
        return LoggedDecision(RESTORED, "", RESTORED, str(data.get("by", "")), "", entry.at)
    event = data.get("event") if entry.kind == "event" else None
    if isinstance(event, Mapping) and event.get("kind") == "decided" and event.get("channel") == "deadline":
        kind, todo_id = str(event["asked"]), str(event["todo_id"])
        return LoggedDecision(kind, todo_id, str(event["verdict"]), "deadline", "deadline", str(event["at"]))
    return None
