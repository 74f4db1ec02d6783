"""Reading the history of a thread, whoever wrote it: checkpoints by the page, and what was decided between them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Generic, NamedTuple, Protocol, TypeVar

from hitl_tui.core.json_types import Json
from hitl_tui.core.requests import Request
from hitl_tui.ledger.records import Posted
from hitl_tui.threads.thread_model import CheckpointInfo

_REPORTS = frozenset(
    {"finished", "failed", "interrupted", "doubt", "continued", "configured", "proposed", "unreadable"}
)


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


class Capability(StrEnum):
    """What some threads can do at a checkpoint."""

    RESTORE = "restore"  # the thread goes back to it
    FORK = "fork"  # another session begins there
    RESUME = "resume"  # what ran goes on from it, once that is approved


class Obstacle(StrEnum):
    """Why a thread can't do something."""

    NEWEST = "newest"  # it stands there
    READ_ONLY = "read_only"  # a store of somebody else, without the graph that wrote it
    FORK_ONLY = "fork_only"  # a store of somebody else: a copy of it can go on
    SUBGRAPH = "subgraph"  # a subgraph goes on only with the graph around it
    OTHER_KIND = "other_kind"  # threads of this kind never can


class ThreadReader(Protocol):
    """Reads the history of a thread, a page at a time."""

    async def older(self, limit: int, before: str = "") -> list[CheckpointInfo]:
        """Return the checkpoints before one, newest first; with none named the newest there are."""

    async def newer(self, limit: int, after: str = "") -> list[CheckpointInfo]:
        """Return the checkpoints that follow one, newest first; with none named the first there are."""

    async def info(self, checkpoint_id: str) -> CheckpointInfo | None:
        """Return one checkpoint; None when it isn't there."""

    async def shape(self) -> HistoryForm:
        """Return the history's form as it is now."""

    async def place(self, checkpoint_id: str) -> int:
        """Return which of all checkpoints this is, counted from 1 in the order of writing."""

    async def state_at(self, checkpoint_id: str) -> dict[str, Json]:
        """Return the state at a checkpoint. Raises HitlError: there is none, or it can't be read."""

    async def events(self, branch: int, after: int = 0) -> list[Posted]:
        """Return what was decided, ordered and reported on a branch; only numbers above `after`."""

    async def request(self, request_id: str) -> Request | None:
        """Return a question that is on record; None where none of that id is."""

    def obstacle(self, capability: Capability, *, newest: bool) -> Obstacle | None:
        """Return why the thread can't do something at a checkpoint; None when it can.

        Args:
            capability: what.
            newest: the checkpoint is the newest one.
        """


Read = TypeVar("Read")


class LastRead(Generic[Read]):
    """Reads checkpoints and keeps the last few: what one holds never changes.

    Args:
        read: reads one, given its id.
        most: how many are kept.
    """

    def __init__(self, read: Callable[[str], Awaitable[Read]], most: int) -> None:
        self._read = read
        self._most = most
        self._kept: dict[str, Read] = {}

    async def get(self, checkpoint_id: str, *, fresh: bool = False) -> Read:
        """Return a checkpoint.

        Args:
            checkpoint_id: which one.
            fresh: read it again: what runs from the newest one may still be added.
        """
        found = self._kept.pop(checkpoint_id, None)
        if found is None or fresh:
            found = await self._read(checkpoint_id)
        self._kept[checkpoint_id] = found
        while len(self._kept) > self._most:
            self._kept.pop(next(iter(self._kept)))
        return found


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
        refused: ids of those events that had no effect.
    """

    info: CheckpointInfo
    before: CheckpointInfo | None
    number: int
    total: int
    events: tuple[Posted, ...] = ()
    answered: Mapping[str, Request] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()

    @property
    def decisions(self) -> tuple[Posted, ...]:
        """What somebody decided or ordered, as far as it took effect."""
        return tuple(e for e in self.events if is_decision(e) and e.event_id not in self.refused)


def is_decision(posted: Posted) -> bool:
    """Return whether somebody decided or ordered something; what runs report is none."""
    return str(posted.event.get("kind", "")) not in _REPORTS


class Stretch(NamedTuple):
    """Checkpoints that came one from the other, all of a thread between two of it.

    Args:
        first: id of the oldest; empty for the thread's first.
        last: id of the newest.
    """

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class HeadAncestry:
    """What the head of a history came from; what lies outside was left behind by a restore.

    Args:
        stretches: oldest first.
    """

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, head: str, turns: Sequence[tuple[str, str]]) -> HeadAncestry:
        """Return what a checkpoint came from.

        Args:
            head: id of the newest checkpoint; empty for none.
            turns: id and parent of each checkpoint that doesn't come from the one before it, oldest first.
        """
        ids = [turn for turn, __ in turns]
        found: list[Stretch] = []
        last = head
        while last:
            place = bisect_right(ids, last) - 1
            first, parent = turns[place] if place >= 0 else ("", "")
            found.append(Stretch(first, last))
            last = parent if parent < first else ""
        return cls(tuple(reversed(found)))

    def has(self, checkpoint: CheckpointInfo) -> bool:
        """Return whether the head came from a checkpoint. The ids of a thread's checkpoints only grow."""
        wanted = checkpoint.checkpoint_id
        place = bisect_left(self.stretches, wanted, key=attrgetter("last"))
        return place < len(self.stretches) and self.stretches[place].first <= wanted
