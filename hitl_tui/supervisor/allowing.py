"""What ran without a question, on record: who or what allowed exactly which input, before it begins (C4, M8)."""

from __future__ import annotations

from collections.abc import Callable

from hitl_tui.core.board import MAX_PLAN_REVISIONS, Board, Draft, Rules, subject_of
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.protocols import Ledger

ALLOWED = "allowed"
"""Kind of the entry that stands for a decision where the mode or a rule of hitl.toml asked nobody."""

LIMITED = "plan_accepted"
"""Kind of the entry that says that the limit of revisions accepted a plan, and no person (P1)."""

_PAGE = 1_000


class Allowances:
    """Writes an entry for each run that nobody was asked about, once, also when a process died in between.

    Args:
        ledger: the record.
        session: session id.
        now: the clock.
    """

    def __init__(self, ledger: Ledger, session: str, now: Callable[[], str]) -> None:
        self._ledger = ledger
        self._session = session
        self._now = now
        self._written: set[str] | None = None
        self._limits: set[int] = set()

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

    async def write_limit(self, board: Board) -> None:
        """Put on record that the limit of revisions accepted the plan, and no person; nothing where that isn't so.

        Raises:
            StorageError: it can't be written; nothing may begin then.
        """
        control = board.control
        if not control.limited or control.branch in self._limits:
            return
        if self._written is None:
            self._written = await self._earlier()
        if control.branch not in self._limits:
            data = {"by": "limit", "branch": control.branch, "revisions": control.revision, "limit": MAX_PLAN_REVISIONS}
            await self._ledger.record(self._session, LIMITED, data, self._now())
            self._limits.add(control.branch)

    async def _earlier(self) -> set[str]:
        found: set[str] = set()
        after = 0
        while page := await self._ledger.entries(self._session, after, _PAGE):
            found |= {str(entry.data["run_id"]) for entry in page if entry.kind == ALLOWED}
            self._limits |= {int(entry.data["branch"]) for entry in page if entry.kind == LIMITED}
            after = page[-1].n
        return found
