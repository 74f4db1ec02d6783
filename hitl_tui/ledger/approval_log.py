"""Who allowed or refused what, as the ledger has it; what ran without a question is put there before it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from hitl_tui.core.board import Board, Draft, Rules, subject_of
from hitl_tui.core.plan_review import EndedBy
from hitl_tui.core.requests import Decision, Kind, Verdict
from hitl_tui.core.todos import SupervisorTodo
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


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision, as the record has it.

    Args:
        asked: what it was about: a `core.requests.Kind`; `allowed` where nobody was asked; `restored` for going back.
        todo_id: the TODO; empty for the plan, a proposal and going back.
        verdict: a verdict in a word (`approve`, `edit`, `retry`, …), or `restored`.
        by: who; `mode risk`, `policy rule 2` or `deadline` where nobody said it.
        channel: `console`, `repl`, `cli`, `rule`, `mode`, `policy`, `deadline`; empty where it isn't recorded.
        at: ISO 8601, UTC.
        reason: their words.
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
    found: list[LoggedDecision] = []
    async for entry in read_stream(ledger, session):
        if entry.kind == "request_opened":
            request = entry.data["request"]
            asked[str(request["id"])] = str(request["kind"]), str(request["todo_id"])
        elif (said := _said(entry, asked)) is not None:
            found.append(said)
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
