"""What led to each checkpoint of the history pane, in few words: read once, as the history grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl_tui.console.past import deed
from hitl_tui.console.reel import is_decision
from hitl_tui.console.rows import in_line
from hitl_tui.console.words import number_of
from hitl_tui.core.requests import Kind
from hitl_tui.core.shapes.model import json_line
from hitl_tui.language import _, mark, render

if TYPE_CHECKING:
    from hitl_tui.console.reel import Past
    from hitl_tui.ledger.records import Posted
    from hitl_tui.supervisor.history import CheckpointInfo

_ORDERED: Mapping[str, str] = MappingProxyType(
    {
        "move": mark("moved {todo}"),
        "priority": mark("{todo} is {value}"),
        "add": mark("added {value}"),
        "remove": mark("removed {todo}"),
        "edit": mark("edited {todo}"),
    }
)
_LONGEST = 100
_READ = 1_000
"""Events that are read at once at most: of checkpoints that are older nothing more is told than they say themselves."""


class Deed(NamedTuple):
    """What led to a checkpoint.

    Args:
        words: safe.
        order: it says more than who was asked: somebody changed the plan, or answered what a team asks from inside.
    """

    words: str
    order: bool


class Deeds:
    """What led to the checkpoints of one session, as far as it was asked for."""

    def __init__(self) -> None:
        self._known: dict[str, Deed | None] = {}
        self._newest = 0

    async def of(self, past: Past, infos: Sequence[CheckpointInfo]) -> Mapping[str, Deed]:
        """Return what led to checkpoints, by id.

        Args:
            past: where the session's events are read; only those that aren't known yet are.
            infos: newest first, none left out between them; of the last one nothing is known, unless it was before.
        """
        self._newest = max([self._newest, *(info.cursor for info in infos)])
        fresh = [pair for pair in pairwise(infos) if pair[0].checkpoint_id not in self._known]
        for branch in {info.branch for info, __ in fresh}:
            pairs = [pair for pair in fresh if pair[0].branch == branch]
            came = [(i, b) for i, b in pairs if i.source != "fork" and self._newest - _READ <= b.cursor < i.cursor]
            events = await past.events(branch, min(b.cursor for __, b in came)) if came else []
            for info, before in pairs:
                between = [e for e in events if before.cursor < e.seq <= info.cursor] if (info, before) in came else []
                self._known[info.checkpoint_id] = _deed(between)
        found = {info.checkpoint_id: self._known.get(info.checkpoint_id) for info in infos}
        return {name: told for name, told in found.items() if told is not None}


def _deed(events: Sequence[Posted]) -> Deed | None:
    """Return what some events were: what somebody wanted comes before what runs report."""
    if not events:
        return None
    by_hand = [e for e in events if is_decision(e)]
    first, *more = by_hand or events
    kind = str(first.event.get("kind", ""))
    carried = first.event.get("data")
    data: Mapping[str, Any] = carried if isinstance(carried, Mapping) else first.event
    words = in_line(_words(kind, data))
    inner = kind == "decided" and data.get("asked") == Kind.INTERRUPT
    if inner and data.get("value") is not None:
        words += ": " + json_line(data["value"])
    words = words[:_LONGEST]
    return Deed(f"{words} +{len(more)}" if more else words, bool(by_hand) and (inner or kind != "decided"))


def _words(kind: str, data: Mapping[str, Any]) -> str:
    if kind not in _ORDERED:
        return deed(kind, data)
    added = data.get("todo")
    name = str(added.get("name", "")) if isinstance(added, Mapping) else ""
    value = render(str(data.get("priority", ""))) if kind == "priority" else name
    return _(_ORDERED[kind]).format(todo=number_of(str(data.get("todo_id", ""))), value=value)
