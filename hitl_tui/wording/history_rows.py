"""A session's past in words: what a moment was, who decided, what differs, what going back would mean. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl_tui.core.interrupts.shape import json_line
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.requests import Kind, Outcome, Verdict, said_of
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.language import mark, translate
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.threads.session_diff import Consequences, Difference, Given, decided_in
from hitl_tui.threads.thread_reader import HistoryPlace, Obstacle, is_decision
from hitl_tui.wording.difference_rows import MOST_ROWS, change_words, glyph_of, more_rows
from hitl_tui.wording.rows import Row, in_line, joined, labelled, markdown_row, short, text_row
from hitl_tui.wording.status_words import (
    PlanLines,
    PlanRow,
    approval_words,
    asked_about,
    history_said,
    number_of,
    ran_words,
    status_words,
    who_words,
)
from hitl_tui.wording.subject_rows import input_rows
from hitl_tui.wording.times import clock_words, day_words, local_times, moment

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.records import Effect, Posted
    from hitl_tui.threads.session_history import CheckpointInfo
    from hitl_tui.threads.thread_reader import ThreadReader

_NAMED = 12
_NAME = 28
"""Cells of what a decision was about where it has one line: who decided and when go before."""

_EFFECTS = {"started": mark("begun"), "done": mark("done")}
_ASKED = {"plan": mark("the plan"), "proposal": mark("a proposal")}
_DECIDED = {
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
_EVENT_WORDS = {
    "skip": mark("skipped {todo}"),
    "add": mark("added {name}"),
    "remove": mark("removed {todo}"),
    "update": mark("set {todo} to {value}"),
    "priority": mark("{todo} is {value}"),
    "before": mark("moved {todo} before {anchor}"),
    "after": mark("moved {todo} after {anchor}"),
    "edit": mark("edited {todo}"),
    "break": mark("set breakpoints in {todo}"),
    "changed": mark("noticed changed files of {todo}"),
    "bound": mark("read the files of {todo} anew"),
    "cancel": mark("cancelled {todo}"),
    "rewind": mark("let {todo} go on from an earlier step"),
    "finished": mark("{todo} finished"),
    "failed": mark("{todo} failed"),
    "interrupted": mark("{todo} asked from inside"),
    "doubt": mark("in doubt whether {todo} happened"),
    "stop": mark("stopped everything"),
    "configured": mark("settings read"),
    "mode": mark("set the mode to {value}"),
    "restored": mark("went back to {value}"),
    "proposed": mark("proposed: {value}"),
}


def plan_at(state: Mapping[str, Any], timestamp: str, lines: PlanLines) -> list[PlanRow]:
    """Return the plan as it was, as lines of the plan pane; times run up to `timestamp`, ISO 8601.

    Args:
        state: as a checkpoint holds it.
        timestamp: when that was.
        lines: made the lines of the moment before; it makes only those that differ.
    """
    from hitl_tui.supervisor.snapshot import Snapshot

    raw = state.get("todos") or {}
    then = Snapshot("", "", "", "", "", 0, 0, "", raw)
    return lines.rows(then, moment(timestamp) or datetime.now(UTC))


def todos_at(state: Mapping[str, Any]) -> dict[str, SupervisorTodo]:
    """Return the TODOs as they were, by id."""
    return {str(i): SupervisorTodo.from_state(raw) for i, raw in (state.get("todos") or {}).items()}


def todo_rows(todo: SupervisorTodo, workspace: str, result: Mapping[str, object] | None) -> list[Row]:
    """Return a TODO whole: its state, exact input, error and result."""
    glyph, word, colour = status_words(todo)
    team = in_line(todo.agent_name)
    rows = [
        text_row(in_line(todo.name), "bold"),
        text_row(
            _("{glyph} {word} · {team} · {priority} priority").format(
                glyph=glyph, word=word, team=team, priority=_(todo.priority.value)
            ),
            colour,
        ),
    ]
    if todo.approval is not None:
        rows.append(labelled(_("approved"), approval_words(todo.approval)))
    if todo.duration is not None:
        rows.append(labelled(_("ran for"), ran_words(todo)))
    if todo.error:
        rows.append(text_row(safe_text(local_times(translate(todo.error))), "$text-error"))
    rows += [text_row(""), *input_rows(todo.arguments, todo.description, workspace)]
    if result is not None:
        rows += [text_row(""), text_row(_("Result"), "bold"), text_row("")]
        rows.append(markdown_row(safe_text(str(result.get("text", "")))))
    return rows


# What happened at a place -----------------------------------------------------------------------------------------


def event_words(posted: Posted, request: Request | None = None, cells: int = 0) -> str:
    """Return what an event of the inbox was, by whom and when: `approved 001 measure · by ops (console) · 14:03:09`.

    Args:
        posted: the event.
        request: the question that it decided, if it did and that is on record.
        cells: that what it was about may take; 0 for as many as it has.
    """
    event = posted.event
    kind = str(event.get("kind", ""))
    inner = event.get("data")
    data: Mapping[str, Any] = inner if isinstance(inner, Mapping) else event
    about = asked_about(request) if request is not None else ""
    about = one_line(in_line(about), cells) if cells else about
    joint = ": " if request is not None and request.kind is Kind.PROPOSAL else " "
    parts = [f"{deed(kind, data)}{joint}{about}" if about else deed(kind, data)]
    if kind == "decided" and data.get("asked") == Kind.INTERRUPT and data.get("value") is not None:
        parts.append(json_line(data["value"]))
    who, channel = str(data.get("by") or event.get("by") or ""), str(data.get("channel") or "")
    if who and who not in ("run", "supervisor"):
        parts.append(_("by {who}").format(who=who_words(who, channel)))
    at = clock_words(str(data.get("at") or event.get("at") or ""))
    if at:
        parts.append(at)
    summary = (data.get("result") or {}).get("summary") if isinstance(data.get("result"), Mapping) else ""
    words = local_times(translate(data.get("reason") or summary or data.get("error") or ""))
    if words and kind != "proposed":
        parts.append(f"“{words}”")
    return in_line(joined(*parts))


def deed(kind: str, data: Mapping[str, Any]) -> str:
    """Return what an event was, in words that aren't safe yet: `approved 001`.

    Args:
        kind: of the event.
        data: what it carries.
    """
    todo = number_of(str(data.get("todo_id", ""))) if data.get("todo_id") else ""
    if kind == "decided":
        asked, verdict = str(data.get("asked", "")), said_of(str(data.get("verdict", "")), str(data.get("action", "")))
        what = todo or (_(_ASKED[asked]) if asked in _ASKED else asked)
        return _decision(verdict, what, expired=data.get("outcome") == Outcome.EXPIRED)
    if kind == "move":
        kind = str(data.get("where", ""))
    if kind not in _EVENT_WORDS:
        return f"{kind} {todo}".strip()
    added = data.get("todo") or {}
    values = {
        "update": _(str(data.get("status", ""))),
        "priority": _(str(data.get("priority", ""))),
        "mode": str(data.get("mode", "")),
        "restored": _("an earlier checkpoint"),
        "proposed": translate((data.get("proposal") or {}).get("reason", "")),
    }
    said = _(_EVENT_WORDS[kind]).format(
        todo=todo,
        value=values.get(kind, ""),
        name=added.get("name", ""),
        anchor=number_of(str(data.get("anchor", ""))),
    )
    return said.strip()


def expired_words(what: str, verdict: str) -> str:
    """Return that nobody answered a question in time, and what that counts as: `001 expired: reject`."""
    return _("{what} expired: {verdict}").format(what=what, verdict=_(verdict))


def _decision(verdict: str, what: str, *, expired: bool = False) -> str:
    """Return what was decided about something: `approved 001`."""
    if expired:
        return expired_words(what, verdict)
    return _(_DECIDED[verdict]).format(what=what) if verdict in _DECIDED else f"{verdict} {what}"


def given_words(place: HistoryPlace, here: Difference) -> list[str]:
    """Return the decisions that no event of a place carries: by a rule or the mode, or recorded elsewhere."""
    told = {str(e.event.get("todo_id") or (e.event.get("data") or {}).get("todo_id", "")) for e in place.events}
    return [_given(g) for g in decided_in(here) if g.todo_id not in told and place.info.source != "fork"]


def _given(decision: Given) -> str:
    who = _("by {who}").format(who=who_words(decision.by, decision.channel)) if decision.by else ""
    why = f"“{translate(decision.reason)}”" if decision.reason else ""
    said = _decision(str(decision.verdict), number_of(decision.todo_id))
    return in_line(joined(said, who, clock_words(decision.at), why))


def decision_words(place: HistoryPlace, here: Difference) -> str:
    """Return what was decided at a place in one line, with how many more there were; else what happened there."""
    decided = [*_decided(place, _NAME), *given_words(place, here)]
    happened = [event_words(e) for e in place.events if not is_decision(e)]
    shown = decided or happened
    more = _("  (and {n} more)").format(n=len(shown) - 1) if len(shown) > 1 else ""
    if decided:
        return decided[0] + more
    if happened:
        return _("nothing was decided here; {happened}{more}").format(happened=happened[0], more=more)
    return _("nothing was decided here")


def _decided(place: HistoryPlace, cells: int = 0) -> list[str]:
    """Return what was decided at a place by events, with what it was about; see `event_words`."""
    decided = [(e, place.answered.get(str(e.event.get("request_id", "")))) for e in place.events if is_decision(e)]
    return [event_words(event, request, cells) for event, request in decided]


def event_rows(place: HistoryPlace) -> list[Row]:
    """Return what was decided at a place, whole, and what runs reported."""
    rows = [labelled(_("decided"), words, "bold") for words in _decided(place)]
    return rows + [labelled(_("happened"), event_words(e)) for e in place.events if not is_decision(e)]


def place_words(place: HistoryPlace, *, ours: bool) -> str:
    """Return where a place is in one line."""
    info = place.info
    said = in_line(" ".join(history_said(info).split()))
    parts = [
        _("{number} of {total}").format(number=place.number, total=place.total),
        in_line(info.node),
        said,
        clock_words(info.timestamp),
    ]
    parts.append(_("on the current line") if ours else _("LEFT BEHIND by a restore"))
    return joined(*parts)


def moment_rows(place: HistoryPlace, state: Mapping[str, Any], here: Difference, *, ours: bool) -> list[Row]:
    """Return what is known of a moment: decisions first, then what happened, then where it is.

    Args:
        place: where.
        state: as it was.
        here: what differs from the moment before.
        ours: the session's head came from it.
    """
    info = place.info
    rows = [labelled(_("decided"), words, "bold") for words in _decided(place)]
    rows += [labelled(_("decided"), words, "bold") for words in given_words(place, here)]
    if not rows:
        rows.append(labelled(_("decided"), _("nothing at this checkpoint; [ and ] go to decisions"), "$text-muted"))
    rows += [labelled(_("happened"), event_words(e)) for e in place.events if not is_decision(e)]
    rows += [
        labelled(_("changed"), f"{glyph_of(c)} {number_of(c.todo.id)}  {change_words(c)}")
        for c in here.todos[:MOST_ROWS]
    ]
    rows += more_rows(len(here.todos))
    if info.waiting:
        rows.append(labelled(_("waited"), in_line(history_said(info)), "$text-warning"))
    answer = state.get("response") or {}
    if answer.get("summary"):
        rows.append(labelled(_("answer"), safe_text(str(answer["summary"]))))
    rows.append(text_row(""))
    control = state.get("control") or {}
    where = _("{day} · branch {branch}").format(day=day_words(info.timestamp), branch=info.branch)
    rows.append(
        labelled(_("where"), where + (_(" · on the current line") if ours else _(" · left behind by a restore")))
    )
    if info.source == "fork":
        copied = _(" of {time}").format(time=clock_words(place.before.timestamp)) if place.before is not None else ""
        rows.append(
            labelled(
                _("origin"),
                _("a restore: the copy{copied} of checkpoint {parent_id}").format(
                    copied=copied, parent_id=info.parent_id
                ),
            )
        )
    rows.append(
        labelled(
            _("stood at"),
            _("{node} · mode {value}").format(node=in_line(info.node), value=in_line(str(control.get("mode", "")))),
        )
    )
    rows.append(labelled("id", info.checkpoint_id))
    return rows


_OBSTACLES: Mapping[Obstacle, str] = MappingProxyType(
    {
        Obstacle.NEWEST: mark("The session is already here."),
        Obstacle.READ_ONLY: mark(
            "A store is only read here; open it with --graph module:attribute and a copy of it can go on."
        ),
        Obstacle.FORK_ONLY: mark("A store is only read here: {replay.3} begins a session with a copy instead."),
        Obstacle.SUBGRAPH: mark("A subgraph goes on with the graph around it: choose a checkpoint of that."),
        Obstacle.OTHER_KIND: mark("This can't be done here."),
    }
)


def obstacle_words(obstacle: Obstacle) -> str:
    """Return why a thread can't do something; keys stand in it by their ids (`Keymap.named`)."""
    return _(_OBSTACLES[obstacle])


# Going back -------------------------------------------------------------------------------------------------------


def restore_words(info: CheckpointInfo, number: int, total: int, found: Consequences, effects: Iterable[Effect]) -> str:
    """Return what restoring a checkpoint would mean, for the dialog that asks.

    Args:
        info: where the session would stand.
        number: which of the checkpoints that is, from 1.
        total: how many there are.
        found: what it would change.
        effects: what the session did to the world so far.
    """
    ran = {t.id for t in found.ran}
    done = [e for e in effects if e.todo_id in ran and e.status != "failed"]
    lines = [
        _("The session would go back to {node}, checkpoint {number} of {total}.").format(
            node=in_line(info.node), number=number, total=total
        )
    ]
    if found.stopped:
        lines.append(_("▸ Stopped first, for it runs: {stopped}").format(stopped=_names(found.stopped)))
    if found.asked:
        lines.append(_("? Asked again: {asked}").format(asked=_names(found.asked)))
    if found.proposals:
        lines.append(_("? Proposals open again: {proposals}").format(proposals=found.proposals))
    again = {t.id for t in found.asked}
    for todo, was in found.statuses[:_NAMED]:
        old = status_words(todo)
        new = ("?", _("asks"), "") if todo.id in again else status_words(was)
        lines.append(f"~ {number_of(todo.id)}: {old[0]} {old[1]} → {new[0]} {new[1]}")
    if len(found.statuses) > _NAMED:
        lines.append(_("  … and {n:,} more").format(n=len(found.statuses) - _NAMED))
    if found.gone:
        lines.append(_("- Added since, leaves the plan: {gone}").format(gone=_names(found.gone)))
    if found.back:
        lines.append(_("+ Removed since, comes back: {back}").format(back=_names(found.back)))
    if found.edits:
        lines.append(_("~ Its input is what it was then: {value}").format(value=_names([t for t, __ in found.edits])))
    if found.answer:
        lines.append(_("- The final answer is no longer the session's; the history keeps it."))
    if found.ran:
        lines.append(_("! Ran since: {ran}. What it did to the world is NOT undone:").format(ran=_names(found.ran)))
        lines += [
            f"    {number_of(e.todo_id)} {in_line(e.name)} ({_effect_words(e.status)}): {short(e.subject)}"
            for e in done[:8]
        ]
        lines += [_("    … and {n:,} more").format(n=len(done) - 8)] if len(done) > 8 else []
        lines += [] if done else [_("    no effect outside this session is on record")]
    lines.append(_("Nothing is executed by going back, and the history stays."))
    return "\n".join(lines)


def _effect_words(status: str) -> str:
    return _(_EFFECTS[status]) if status in _EFFECTS else in_line(status)


def fork_words(place: HistoryPlace, session: str) -> str:
    """Return what forking at a place means, for the dialog that asks."""
    return "\n".join(
        [
            _("Another session starts from {session} at {node}, checkpoint {number} of {total}.").format(
                session=session, node=in_line(place.info.node), number=place.number, total=place.total
            ),
            _("+ The same is asked there; {session} itself goes on as it is.").format(session=session),
            _("! What was done to the world up to now is known there, and asked about before it is done again."),
            _("Nothing is executed by forking."),
        ]
    )


def _names(todos: Sequence[SupervisorTodo]) -> str:
    shown = ", ".join(number_of(t.id) for t in todos[:_NAMED])
    return shown + (_(" and {n:,} more").format(n=len(todos) - _NAMED) if len(todos) > _NAMED else "")


_OWN = frozenset({Verdict.RESPOND, "edit"})
"""Answers that say more than yes or no."""
_LONGEST_NAME = 40
"""Cells of what a question was about; replay shows it whole."""
_LONGEST = 100
_READ = 1_000
"""Events that are read at once at most: of checkpoints that are older nothing more is told than they say themselves."""


class CheckpointCause(NamedTuple):
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


class CheckpointCauses:
    """What led to the checkpoints of one session, as far as it was asked for."""

    def __init__(self) -> None:
        self._known: dict[str, CheckpointCause | None] = {}
        self._newest = 0

    async def of(self, past: ThreadReader, infos: Sequence[CheckpointInfo]) -> Mapping[str, CheckpointCause]:
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


async def _told(past: ThreadReader, events: Sequence[Posted]) -> CheckpointCause | None:
    """Return what some events were, with the question that the first of them answered."""
    if not events:
        return None
    decided = next((e for e in events if is_decision(e)), events[0])
    asked = str(decided.event.get("request_id", "")) if decided.event.get("kind") == "decided" else ""
    return _deed(events, await past.request(asked) if asked else None)


def _deed(events: Sequence[Posted], request: Request | None) -> CheckpointCause:
    """Return what some events were: what somebody wanted comes before what runs report."""
    by_hand = [e for e in events if is_decision(e)]
    first, *more = by_hand or events
    kind = str(first.event.get("kind", ""))
    carried = first.event.get("data")
    data: Mapping[str, Any] = carried if isinstance(carried, Mapping) else first.event
    inner = kind == "decided" and data.get("asked") == Kind.INTERRUPT
    forms = _answers(data, request) if kind == "decided" else [deed(kind, data)]
    ending = f" +{len(more)}" if more else ""
    said = [f"{in_line(form)[:_LONGEST]}{ending}" for form in forms]
    said_first = inner or kind != "decided" or data.get("asked") == Kind.PROPOSAL
    return CheckpointCause(
        said[-1], (bool(by_hand) and said_first) or kind == "proposed", bool(by_hand), tuple(said[:-1])
    )


def _answers(data: JsonObject, request: Request | None) -> list[str]:
    """Return how a question was answered, the longest way to say it first: `approved 003 clean-logs`, `approved 003`.

    Args:
        data: of the event.
        request: the question, as far as it is on record.
    """
    verdict = said_of(str(data.get("verdict", "")), str(data.get("action", "")))
    say = partial(_decision, verdict, expired=data.get("outcome") == Outcome.EXPIRED)
    about = one_line(in_line(asked_about(request)), _LONGEST_NAME) if request is not None else ""
    kind = str(data.get("asked", ""))
    if not data.get("todo_id"):
        named = [_("the plan")] if kind == Kind.PLAN else [_("a proposal")]
        named = [_("a proposal: {what}").format(what=about), *named] if about and kind == Kind.PROPOSAL else named
        return [say(name) for name in named]
    todo = number_of(str(data["todo_id"]))
    forms = [say(name) for name in ([f"{todo} {about}", todo] if about else [todo])]
    if data.get("value") is None or verdict not in _OWN:
        return forms
    value = json_line(data["value"])
    return [f"{forms[0]}: {value}", f"{forms[-1]}: {value}", *forms]
