"""What led to each checkpoint of the history pane, in few words: read once, as the history grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl_tui.console.past import deed, expired_words
from hitl_tui.console.words import asked_about, number_of
from hitl_tui.core.interrupts.shape import json_line
from hitl_tui.core.requests import Kind, Outcome, Verdict, said_of
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, mark, render
from hitl_tui.threads.thread_reader import is_decision
from hitl_tui.wording.rows import in_line

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.records import Posted
    from hitl_tui.threads.session_history import CheckpointInfo
    from hitl_tui.threads.thread_reader import Past

_ORDERED: Mapping[str, str] = MappingProxyType(
    {
        "move": mark("moved {todo}"),
        "priority": mark("{todo} is {value}"),
        "add": mark("added {value}"),
        "remove": mark("removed {todo}"),
        "edit": mark("edited {todo}"),
        "skip": mark("skipped {todo}"),
        "cancel": mark("cancelled {todo}"),
    }
)
_SAID: Mapping[str, str] = MappingProxyType(
    {
        "approve": mark("approved {what}"),
        "reject": mark("rejected {what}"),
        "skip": mark("skipped {what}"),
        "respond": mark("answered {what}"),
        "edit": mark("edited and approved {what}"),
        "ignore": mark("ignored {what}"),
        "retry": mark("retried {what}"),
        "stop": mark("stopped {what}"),
        "use_as_done": mark("took {what} as done"),
        "do_again": mark("did {what} again"),
    }
)
_OWN = frozenset({Verdict.RESPOND, "edit"})
"""Answers that say more than yes or no."""
_LONGEST_NAME = 40
"""Cells of what a question was about; replay shows it whole."""
_LONGEST = 100
_READ = 1_000
"""Events that are read at once at most: of checkpoints that are older nothing more is told than they say themselves."""


class Deed(NamedTuple):
    """What led to a checkpoint.

    Args:
        words: safe.
        order: it says more than who was asked: somebody changed the plan or proposed to, or answered what a team asks
            from inside.
        by_hand: somebody decided or ordered it; what runs report gives way to who was asked.
        fuller: the same with what it was about, safe, the longest first.
    """

    words: str
    order: bool
    by_hand: bool
    fuller: tuple[str, ...] = ()


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
                self._known[info.checkpoint_id] = await _told(past, between)
        found = {info.checkpoint_id: self._known.get(info.checkpoint_id) for info in infos}
        return {name: told for name, told in found.items() if told is not None}


async def _told(past: Past, events: Sequence[Posted]) -> Deed | None:
    """Return what some events were, with the question that the first of them answered."""
    if not events:
        return None
    decided = next((e for e in events if is_decision(e)), events[0])
    asked = str(decided.event.get("request_id", "")) if decided.event.get("kind") == "decided" else ""
    return _deed(events, await past.request(asked) if asked else None)


def _deed(events: Sequence[Posted], request: Request | None) -> Deed:
    """Return what some events were: what somebody wanted comes before what runs report."""
    by_hand = [e for e in events if is_decision(e)]
    first, *more = by_hand or events
    kind = str(first.event.get("kind", ""))
    carried = first.event.get("data")
    data: Mapping[str, Any] = carried if isinstance(carried, Mapping) else first.event
    inner = kind == "decided" and data.get("asked") == Kind.INTERRUPT
    forms = _answers(data, request) if kind == "decided" else [_words(kind, data)]
    ending = f" +{len(more)}" if more else ""
    said = [f"{in_line(form)[:_LONGEST]}{ending}" for form in forms]
    said_first = inner or kind != "decided" or data.get("asked") == Kind.PROPOSAL
    return Deed(said[-1], (bool(by_hand) and said_first) or kind == "proposed", bool(by_hand), tuple(said[:-1]))


def _answers(data: Mapping[str, Any], request: Request | None) -> list[str]:
    """Return how a question was answered, the longest way to say it first: `approved 003 clean-logs`, `approved 003`.

    Args:
        data: of the event.
        request: the question, as far as it is on record.
    """
    verdict = said_of(str(data.get("verdict", "")), str(data.get("action", "")))
    said = _(_SAID[verdict]) if verdict in _SAID else f"{verdict} {{what}}"
    if data.get("outcome") == Outcome.EXPIRED:
        said = expired_words("{what}", verdict)
    about = one_line(in_line(asked_about(request)), _LONGEST_NAME) if request is not None else ""
    kind = str(data.get("asked", ""))
    if not data.get("todo_id"):
        named = [_("the plan")] if kind == Kind.PLAN else [_("a proposal")]
        named = [_("a proposal: {what}").format(what=about), *named] if about and kind == Kind.PROPOSAL else named
        return [said.format(what=name) for name in named]
    todo = number_of(str(data["todo_id"]))
    forms = [said.format(what=name) for name in ([f"{todo} {about}", todo] if about else [todo])]
    if data.get("value") is None or verdict not in _OWN:
        return forms
    value = json_line(data["value"])
    return [f"{forms[0]}: {value}", f"{forms[-1]}: {value}", *forms]


def _words(kind: str, data: Mapping[str, Any]) -> str:
    if kind not in _ORDERED:
        return deed(kind, data)
    added = data.get("todo")
    name = str(added.get("name", "")) if isinstance(added, Mapping) else ""
    value = render(str(data.get("priority", ""))) if kind == "priority" else name
    return _(_ORDERED[kind]).format(todo=number_of(str(data.get("todo_id", ""))), value=value)
