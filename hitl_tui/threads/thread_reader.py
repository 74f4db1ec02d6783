"""Reading the history of a thread, whoever wrote it: checkpoints by the page, and what was decided between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from hitl_tui.core.requests import Request
from hitl_tui.ledger.records import Posted
from hitl_tui.threads.thread_model import CheckpointInfo

_REPORTS = frozenset({"finished", "failed", "interrupted", "doubt", "configured", "proposed", "unreadable"})


class HistoryForm(NamedTuple):
    """The form of a history, whatever its length.

    Args:
        head: id of the newest checkpoint.
        total: how many there are.
        turns: id and parent of each that doesn't come from the one before it, oldest first: where restores went back.
    """

    head: str
    total: int
    turns: tuple[tuple[str, str], ...] = ()


class ThreadReader(Protocol):
    """Where a history is read, a page at a time; `engine.Link` is one."""

    async def older(self, limit: int, before: str = "") -> list[CheckpointInfo]: ...

    async def newer(self, limit: int, after: str = "") -> list[CheckpointInfo]: ...

    async def shape(self) -> HistoryForm: ...

    async def place(self, checkpoint_id: str) -> int: ...

    async def events(self, branch: int, after: int = 0) -> list[Posted]: ...

    async def request(self, request_id: str) -> Request | None: ...

    async def state_at(self, checkpoint_id: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class HistoryPlace:
    """One place in a history.

    Args:
        info: its checkpoint.
        before: the checkpoint that it came from; None for the first.
        number: which one it is, from 1.
        total: how many there are.
        events: what the inbox brought between the two, in order.
        answered: the questions that these decided, by id, as far as they are on record.
    """

    info: CheckpointInfo
    before: CheckpointInfo | None
    number: int
    total: int
    events: tuple[Posted, ...] = ()
    answered: Mapping[str, Request] = field(default_factory=dict)


def is_decision(posted: Posted) -> bool:
    """Return whether somebody decided or ordered something; what runs report by themselves is none."""
    return str(posted.event.get("kind", "")) not in _REPORTS
