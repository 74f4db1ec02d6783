"""Who allowed or refused what in a session, and what was let run without a question, from its record (C8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass

from hitl_tui.core.requests import Decision
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Entry
from hitl_tui.supervisor.allowing import ALLOWED

RESTORED = "restored"
"""What a `Said` about going back to an earlier checkpoint says."""
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Said:
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


async def verdicts_of(ledger: Ledger, session: str) -> list[Said]:
    """Return everything that was decided in a session, in the order of its record.

    Each person of a quorum has a line of their own. A session that was imported or forked begins with its own record:
    what was decided before is in its state.

    Raises:
        StorageError: the record can't be read.
    """
    asked: dict[str, tuple[str, str]] = {}
    found: list[Said] = []
    async for entry in _entries(ledger, session):
        if entry.kind == "request_opened":
            request = entry.data["request"]
            asked[str(request["id"])] = str(request["kind"]), str(request["todo_id"])
        elif (said := _said(entry, asked)) is not None:
            found.append(said)
    return found


async def _entries(ledger: Ledger, session: str) -> AsyncIterator[Entry]:
    after = 0
    while page := await ledger.entries(session, after, _PAGE):
        for entry in page:
            yield entry
        after = page[-1].n


def _said(entry: Entry, asked: Mapping[str, tuple[str, str]]) -> Said | None:
    data = entry.data
    if entry.kind == "decision":
        decision = Decision.from_dict(data["decision"])
        kind, todo_id = asked.get(decision.request_id, ("", ""))
        return Said(kind, todo_id, decision.said, decision.by, decision.channel, decision.at, decision.reason)
    if entry.kind == ALLOWED:
        by, channel = str(data["by"]), str(data["channel"])
        return Said(ALLOWED, str(data["todo_id"]), str(data["verdict"]), by, channel, entry.at)
    if entry.kind == "restore_intended":
        return Said(RESTORED, "", RESTORED, str(data.get("by", "")), "", entry.at)
    event = data.get("event") if entry.kind == "event" else None
    if isinstance(event, Mapping) and event.get("kind") == "decided" and event.get("channel") == "deadline":
        kind, todo_id = str(event["asked"]), str(event["todo_id"])
        return Said(kind, todo_id, str(event["verdict"]), "deadline", "deadline", str(event["at"]))
    return None
