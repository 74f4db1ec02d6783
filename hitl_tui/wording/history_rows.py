"""A session's past in words: what a moment was, who decided, what differs, what going back would mean. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.interrupts.shape import json_line
from hitl_tui.core.names import plain_name
from hitl_tui.core.requests import Kind, Outcome, Verdict, accepted_numbers, said_of
from hitl_tui.core.safe_text import one_line, safe_again, safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import mark, safe_message, translate
from hitl_tui.terminal.ascii_signs import _, ngettext
from hitl_tui.threads.checkpoint_causes import CheckpointCause, event_data, inner_question
from hitl_tui.threads.session_diff import Consequences, Difference, Given, RanSince, decided_in, ran_since
from hitl_tui.threads.thread_reader import HistoryPlace, Obstacle, is_decision
from hitl_tui.wording.difference_rows import MOST_ROWS, change_words, glyph_of, more_rows
from hitl_tui.wording.file_rows import file_rows
from hitl_tui.wording.markdown_text import rendered_markdown
from hitl_tui.wording.plan_revision_rows import ended_words
from hitl_tui.wording.rows import Row, in_line, joined, labelled, markdown_row, text_row
from hitl_tui.wording.status_words import (
    PlanLines,
    PlanRow,
    approval_words,
    asked_about,
    asked_forms,
    asked_words,
    history_said,
    number_of,
    of_import,
    outcome_words,
    ran_words,
    status_words,
    who_words,
)
from hitl_tui.wording.subject_rows import argument_label, change_line, effect_line, input_rows
from hitl_tui.wording.times import clock_words, day_words, local_times, mode_words, moment, second_words

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.records import Effect, Posted
    from hitl_tui.models.usage import Usage
    from hitl_tui.threads.session_history import CheckpointInfo

_NAMED = 12
_EFFECTS_LISTED = 8
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
    "put_back": mark("put {todo} back"),
    "update": mark("set {todo} to {value}"),
    "priority": mark("priority of {todo}: {value}"),
    "before": mark("moved {todo} before {anchor}"),
    "after": mark("moved {todo} after {anchor}"),
    "edit": mark("edited {todo}"),
    "edit_several": mark("edited {todo}, and {others} with the same question"),
    "break": mark("set breakpoints in {todo}"),
    "changed": mark("files of {todo} changed"),
    "bound": mark("read the files of {todo} again"),
    "cancel": mark("cancelled {todo}"),
    "rewind": mark("{todo} goes back to an earlier step"),
    "state": mark("changed the state of {todo}"),
    "finished": mark("done {todo}"),
    "failed": mark("failed {todo}"),
    "interrupted": mark("asked {todo}"),
    "doubt": mark("{todo} may have happened"),
    "continued": mark("resumed {todo}"),
    "stop": mark("stopped everything"),
    "configured": mark("settings read"),
    "mode": mark("mode {value}"),
    "restored": mark("restored"),
    "proposed": mark("proposed: {value}"),
}
_UNDONE = {
    Verdict.SKIP: mark("undid the skip of {todo}"),
    Verdict.REJECT: mark("undid the rejection of {todo}"),
    Verdict.APPROVE: mark("undid the approval of {todo}"),
    Verdict.RETRY: mark("retried {todo}"),
}
"""What it is called to have a step asked about again, by what it was before."""
_ORDERS = {
    "approve": mark("approve {what}"),
    "reject": mark("reject {what}"),
    "skip": mark("skip {what}"),
    "respond": mark("answer {what}"),
    "edit": mark("edit {what}"),
    "retry": mark("retry {what}"),
    "stop": mark("stop {what}"),
    "use_as_done": mark("count {what} as done"),
    "do_again": mark("do {what} again"),
    "add": mark("add {what}"),
    "remove": mark("remove {what}"),
    "put_back": mark("put {what} back"),
    "update": mark("set {what} to {value}"),
    "priority": mark("priority of {what}: {value}"),
    "move": mark("move {what}"),
    "break": mark("set breakpoints in {what}"),
    "cancel": mark("cancel {what}"),
    "rewind": mark("restart {what} from an earlier step"),
    "mode": mark("mode {value}"),
    "restored": mark("restore"),
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


def todo_rows(
    todo: SupervisorTodo, workspace: str, result: Mapping[str, object] | None, used: Usage | None = None
) -> list[Row]:
    """Return a TODO whole: its state, exact input, error and result.

    Args:
        todo: the TODO.
        workspace: what its files are relative to.
        result: its result; None for none.
        used: what a model used for it; None for nothing.
    """
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
    if used is not None:
        rows.append(labelled(_("model"), translate(used.said)))
    if todo.error:
        rows.append(text_row(local_times(of_import(todo, safe_message(todo.error))), "$text-error"))
    rows += [text_row(""), *input_rows(todo.arguments, todo.description, workspace)]
    if result is not None:
        rows += file_rows(result)
        rows += [text_row(""), text_row(_("Result"), "bold"), text_row("")]
        rows.append(markdown_row(safe_text(str(result.get("text", "")))))
    return rows


# What happened at a place -----------------------------------------------------------------------------------------


def event_words(posted: Posted, request: Request | None = None, cells: int = 0, *, refused: bool = False) -> str:
    """Return what an event of the inbox was, by whom and when: `approved 001 measure · by ops (console) · 14:03:09`.

    Args:
        posted: the event.
        request: the question that it decided, if it did and that is on record.
        cells: that what it was about may take; 0 for as many as it has.
        refused: it had no effect.
    """
    event, kind, data = posted.event, _kind(posted), event_data(posted)
    about = asked_about(request) if request is not None else ""
    about = one_line(in_line(about), cells) if cells else about
    joint = ": " if request is not None and request.kind is Kind.PROPOSAL else " "
    said = _("refused: {order}").format(order=order_words(kind, data)) if refused else deed(kind, data)
    parts = [f"{said}{joint}{about}" if about else said]
    if kind == "decided" and data.get("asked") == Kind.INTERRUPT and data.get("value") is not None:
        parts.append(json_line(data["value"]))
    who, channel = person_of(posted), str(data.get("channel") or "")
    if who:
        parts.append(_("by {who}").format(who=who_words(who, channel)))
    at = clock_words(str(data.get("at") or event.get("at") or ""))
    if at:
        parts.append(at)
    summary = (data.get("result") or {}).get("summary") if isinstance(data.get("result"), Mapping) else ""
    said = data.get("reason") or summary or data.get("error") or ""
    words = local_times(translate(said)) if said != DEFAULT_SKIP_REASON else ""
    if words and kind != "proposed":
        parts.append(f"“{words}”")
    return safe_again(joined(*parts), multiline=False)


def deed(kind: str, data: Mapping[str, Any]) -> str:
    """Return what an event was, in words that aren't safe yet: `approved 001`.

    Args:
        kind: of the event.
        data: what it carries.
    """
    todo = number_of(str(data.get("todo_id", ""))) if data.get("todo_id") else ""
    if kind == "decided":
        return given_deed(data)
    if kind == "move":
        kind = str(data.get("where", ""))
    if kind == "rewind" and data.get("changes"):
        kind = "state"
    if kind not in _EVENT_WORDS:
        return f"{kind} {todo}".strip()
    text = _EVENT_WORDS["edit_several" if data.get("also") else kind]
    if kind == "update" and data.get("status") == Status.PENDING:
        text = mark("reopened {todo}")
    text = _UNDONE.get(data.get("was", ""), text)
    said = _(text).format(
        todo=todo,
        others=", ".join(number_of(str(other["todo_id"])) for other in data.get("also", ())),
        value=_value(kind, data),
        name=_added(data),
        anchor=number_of(str(data.get("anchor", ""))),
    )
    edits = ", ".join(_edit_words(*edit) for edit in data.get("edits") or () if len(edit) == _EDIT)
    edits = edits or ", ".join(one_line(change_line(c), _LONGEST_CHANGE) for c in data.get("changes") or ())
    return f"{said}: {edits}" if edits else said.strip()


_EDIT, _LONGEST_VALUE, _LONGEST_CHANGE = 3, 30, 80
"""Parts of what was edited: name, value before, value now; cells of a value in a line, and of a changed one of a state.
"""


def _edit_words(name: str, before: str, now: str) -> str:
    """Return what became of one value of an input, in words that aren't safe yet: `days 14 → 30`."""
    label = _("task") if name == "task" else argument_label(name)
    then, since = (one_line(in_line(value), _LONGEST_VALUE) for value in (before, now))
    return f"{label} {then} → {since}" if then else f"{label} {since}"


def given_deed(data: Mapping[str, Any]) -> str:
    """Return what was decided, in words that aren't safe yet; `data` has `verdict`, `asked` and `todo_id`."""
    return _decision(data, _subject(data))


def order_words(kind: str, data: Mapping[str, Any]) -> str:
    """Return what somebody wanted, in words that aren't safe yet: `remove 001`.

    Args:
        kind: of the event.
        data: what it carries.
    """
    name = _verdict(data) if kind == "decided" else kind
    what = _added(data) if kind == "add" else _subject(data)
    if name not in _ORDERS:
        return f"{name} {what}".strip()
    return _(_ORDERS[name]).format(what=what, value=_value(kind, data)).strip()


def _subject(data: Mapping[str, Any]) -> str:
    asked = str(data.get("asked", ""))
    todo = number_of(str(data["todo_id"])) if data.get("todo_id") else ""
    return todo or (_(_ASKED[asked]) if asked in _ASKED else asked)


def _added(data: Mapping[str, Any]) -> str:
    added = data.get("todo")
    return str(added.get("name", "")) if isinstance(added, Mapping) else ""


def _value(kind: str, data: Mapping[str, Any]) -> str:
    if kind == "proposed":
        proposal = data.get("proposal")
        return translate(proposal.get("reason", "")) if isinstance(proposal, Mapping) else ""
    if kind == "mode":
        return mode_words(str(data.get("mode", "")))
    name = {"update": "status", "priority": "priority"}.get(kind, "")
    return _(str(data.get(name, ""))) if name and data.get(name) else ""


def expired_words(what: str, verdict: str) -> str:
    """Return that nobody answered a question in time, and what that counts as: `001 expired: reject`."""
    return _("{what} expired: {verdict}").format(what=what, verdict=_(verdict))


def _decision(data: Mapping[str, Any], what: str) -> str:
    """Return what was decided about something: `approved 001`.

    Args:
        data: of the event.
        what: what it is about.
    """
    verdict = _verdict(data)
    if data.get("outcome") == Outcome.EXPIRED:
        return expired_words(what, verdict)
    if data.get("asked") == Kind.PROPOSAL and (numbers := accepted_numbers(data.get("value"))):
        return _("accepted {numbers} of {what}").format(numbers=", ".join(map(str, numbers)), what=what)
    return _(_DECIDED[verdict]).format(what=what) if verdict in _DECIDED else f"{verdict} {what}"


def _verdict(data: Mapping[str, Any]) -> str:
    return said_of(str(data.get("verdict", "")), str(data.get("action", "")))


def given_words(place: HistoryPlace, here: Difference) -> list[str]:
    """Return the decisions that no event of a place carries: by a rule or the mode, or recorded elsewhere."""
    told = {str(event_data(e).get("todo_id", "")) for e in place.events}
    return [_given(g) for g in decided_in(here) if g.todo_id not in told and place.info.source != "fork"]


def _given(decision: Given) -> str:
    who = (
        _("by {who}").format(who=who_words(decision.by, decision.channel, imported=decision.imported))
        if decision.by
        else ""
    )
    why = f"“{translate(decision.reason)}”" if decision.reason not in ("", DEFAULT_SKIP_REASON) else ""
    said = _decision({"verdict": str(decision.verdict)}, number_of(decision.todo_id))
    return in_line(joined(said, who, clock_words(decision.at), why))


def decision_words(place: HistoryPlace, here: Difference) -> str:
    """Return what was decided at a place in one line, with how many more there were; else what happened there."""
    decided = [*_decided(place, _NAME), *given_words(place, here)]
    shown = decided or _refused(place) or _happened(place)
    more = _("  (and {n} more)").format(n=len(shown) - 1) if len(shown) > 1 else ""
    return shown[0] + more if shown else _("nothing was decided here")


def _decided(place: HistoryPlace, cells: int = 0) -> list[str]:
    """Return what was decided at a place by events, with what it was about; see `event_words`."""
    decided = [(e, place.answered.get(str(e.event.get("request_id", "")))) for e in place.decisions]
    return [event_words(event, request, cells) for event, request in decided]


def _refused(place: HistoryPlace) -> list[str]:
    """Return what was ordered at a place and had no effect."""
    return [event_words(e, refused=True) for e in place.events if e.event_id in place.refused and is_decision(e)]


def _happened(place: HistoryPlace) -> list[str]:
    """Return what runs reported at a place."""
    return [event_words(e) for e in place.events if not is_decision(e) and e.event_id not in place.refused]


def event_rows(place: HistoryPlace) -> list[Row]:
    """Return what was decided at a place, whole, what was refused there, and what runs reported."""
    rows = [labelled(_("decided"), words, "bold") for words in _decided(place)]
    rows += [labelled(_("refused"), words.partition(": ")[2], "bold") for words in _refused(place)]
    return rows + [labelled(_("happened"), words) for words in _happened(place)]


def place_words(place: HistoryPlace, *, ours: bool) -> str:
    """Return where a place is in one line."""
    info = place.info
    parts = [
        _("{number} of {total}").format(number=place.number, total=place.total),
        in_line(" ".join(history_said(info).split())),
        clock_words(info.timestamp),
    ]
    parts.append(_("on the current line") if ours else _("LEFT BEHIND by a restore"))
    return joined(*parts)


def moment_rows(
    place: HistoryPlace,
    state: Mapping[str, Any],
    here: Difference,
    results: Mapping[str, Mapping[str, object]],
    *,
    ours: bool,
    engine: bool = False,
) -> list[Row]:
    """Return what is known of a moment: decisions first, then what happened, then where it is.

    Args:
        place: where.
        state: as it was.
        here: what differs from the moment before.
        results: those that came to be there, by TODO id.
        ours: the session's head came from it.
        engine: say which of its nodes the engine stood at, too.
    """
    info = place.info
    rows = event_rows(place)
    rows[len(place.decisions) : len(place.decisions)] = [
        labelled(_("decided"), words, "bold") for words in given_words(place, here)
    ]
    if not rows:
        rows.append(labelled(_("decided"), _("nothing at this checkpoint; [ and ] go to decisions"), "$text-muted"))
    rows += [
        labelled(_("changed"), f"{glyph_of(c)} {number_of(c.todo.id)}  {change_words(c)}")
        for c in here.todos[:MOST_ROWS]
    ]
    rows += more_rows(len(here.todos))
    for todo_id, result in results.items():
        rows += file_rows(result, number_of(todo_id))
    if info.waiting:
        rows.append(labelled(_("waited"), in_line(history_said(info)), "$text-warning"))
    answer = state.get("response") or {}
    if answer.get("summary"):
        rows.append(labelled(_("answer"), rendered_markdown(safe_text(str(answer["summary"]))).plain))
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
                _("the copy{copied} of checkpoint {parent_id}").format(
                    copied=copied, parent_id=place.before.checkpoint_id if place.before else info.parent_id
                ),
            )
        )
    rows.append(labelled(_("mode"), in_line(mode_words(str(control.get("mode", ""))))))
    if engine:
        rows.append(labelled(_("engine"), in_line(info.node)))
    rows.append(labelled("id", info.checkpoint_id))
    return rows


_OBSTACLES: Mapping[Obstacle, str] = MappingProxyType(
    {
        Obstacle.NEWEST: mark("The session is already here."),
        Obstacle.READ_ONLY: mark(
            "A store is read-only; open it with --graph module:attribute to continue a copy of it."
        ),
        Obstacle.FORK_ONLY: mark("A store is read-only: {replay.3} starts a session with a copy instead."),
        Obstacle.SUBGRAPH: mark("A subgraph continues with the graph around it: choose a checkpoint of that."),
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
    lines = [
        joined(
            _("Back to checkpoint {number} of {total}").format(number=number, total=total),
            clock_words(info.timestamp),
            in_line(history_said(info)),
        )
    ]
    if found.stopped:
        lines.append(_("▸ Stopped first, for it runs: {stopped}").format(stopped=_names(found.stopped)))
    if found.asked:
        lines.append(_("? Asked again: {asked}").format(asked=_names(found.asked)))
    for todo in found.asked[:_NAMED]:
        if question := inner_question(todo.question):
            text = _("  {todo} starts over: first its approval, then, when it gets there, “{question}”")
            asked = one_line(safe_message(question, multiline=False), _LONGEST)
            lines.append(text.format(todo=number_of(todo.id), question=asked))
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
    lines += ran_since_lines(ran_since(found, effects))
    lines.append(_("Nothing runs by going back, and the history stays."))
    return "\n".join(lines)


def ran_since_lines(ran: Sequence[RanSince]) -> list[str]:
    """Return what ran since the moment that a session goes back to, and what of it isn't undone; nothing for none."""
    if not ran:
        return []
    names = _listed([one["todo_id"] for one in ran])
    said = [
        f"    {number_of(one['todo_id'])} ({_effect_words(str(effect['status']))}): {effect_line(effect['subject'])}"
        for one in ran
        for effect in one["effects"]
    ]
    if not said:
        return [_("! Ran since: {ran}. No effects outside this session.").format(ran=names)]
    said = list(dict.fromkeys(said))  # a graph does the same in each of its segments
    more = [_("    … and {n:,} more").format(n=len(said) - _EFFECTS_LISTED)] if len(said) > _EFFECTS_LISTED else []
    return [_("! Ran since: {ran}. Not undone by this:").format(ran=names), *said[:_EFFECTS_LISTED], *more]


def _effect_words(status: str) -> str:
    return _(_EFFECTS[status]) if status in _EFFECTS else in_line(status)


def quit_words(running: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return what leaving the console ends, by session; its id and those of the steps that run."""
    return "\n".join(
        ngettext(
            "Ends {steps} of {session}, which is running.", "Ends {steps} of {session}, which are running.", len(ids)
        ).format(steps=_listed(ids), session=in_line(session))
        for session, ids in running
    )


def cut_short_words(running: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return what leaving the console has ended; see `quit_words`."""
    said = (_("{steps} of {session}").format(steps=_listed(ids), session=in_line(session)) for session, ids in running)
    return _("Ended while it ran: {what}.").format(what=" · ".join(said))


def fork_words(place: HistoryPlace, session: str) -> str:
    """Return what forking at a place means, for the dialog that asks."""
    return "\n".join(
        [
            joined(
                _("Another session starts from {session}, checkpoint {number} of {total}").format(
                    session=session, number=place.number, total=place.total
                ),
                clock_words(place.info.timestamp),
                in_line(history_said(place.info)),
            ),
            _("+ It asks the same questions; {session} itself stays as it is.").format(session=session),
            _("! You'll be asked before any side effect is repeated."),
            _("Nothing runs by forking."),
        ]
    )


def _names(todos: Sequence[SupervisorTodo]) -> str:
    return _listed([todo.id for todo in todos])


def _listed(todo_ids: Sequence[str]) -> str:
    shown = ", ".join(map(number_of, todo_ids[:_NAMED]))
    return shown + (_(" and {n:,} more").format(n=len(todo_ids) - _NAMED) if len(todo_ids) > _NAMED else "")


# What led to a checkpoint -----------------------------------------------------------------------------------------

_OWN = frozenset({Verdict.RESPOND, "edit"})
"""Answers that say more than yes or no."""
_LONGEST_NAME = 40
"""Cells of what a question was about; replay shows it whole."""
_LONGEST = 100


def cause_forms(cause: CheckpointCause) -> list[tuple[str, ...]]:
    """Return what happened at a checkpoint, part by part; each part safe, in several forms, the fullest first.

    What people decided comes first, for a row has room for little.
    """
    parts: list[tuple[str, ...]] = []
    if cause.copied:
        parts.append((copied_words(cause.copied, cause.restored),))
    elif cause.restored:
        parts.append((_("restored to {number}").format(number=cause.restored),))
    parts += [(_safe(_("refused: {order}").format(order=order_words(_kind(e), event_data(e)))),) for e in cause.refused]
    in_order = sorted(cause.events, key=lambda e: not is_decision(e))
    parts += [_event_forms(e, cause.answered.get(str(e.event.get("request_id", "")))) for e in in_order]
    if cause.planned:
        parts.append((_("planned"),))
    if cause.unasked:
        parts.append((_safe(ended_words(cause.unasked)),))
    proposed = any(_kind(e) == "proposed" for e in cause.events)
    inside = {name: said for name, said in cause.inside.items() if said}
    parts += [_inner_forms(name, said) for name, said in inside.items()]
    again = {str(event_data(e).get("todo_id", "")) for e in cause.events if _asks_again(e)}
    shown = [n for n in cause.asked if n not in inside and n not in again]
    names = [n for n in shown if not proposed or n == "plan" or n.startswith("todo_")]
    if forms := asked_forms(names, cause.unnamed):
        parts.append(forms)
    if cause.outcome:
        parts.append((outcome_words(cause.outcome),))
    return parts or ([(_("before the fork"),)] if cause.elsewhere else [])


def copied_words(session: str, number: int) -> str:
    """Return that a session begins as a copy of another; of a fork with the number of the checkpoint."""
    said = _("forked from {session}, checkpoint {number}") if number else _("imported from {session}")
    return said.format(session=in_line(session), number=number)


def _asks_again(posted: Posted) -> bool:
    """Whether an event says of itself that its step is asked about: a decision was taken back, or it was reopened."""
    return _kind(posted) == "update" and event_data(posted).get("status") == Status.PENDING


def _inner_forms(todo_id: str, question: str) -> tuple[str, ...]:
    asked = asked_words([todo_id])
    return _safe(f"{asked}: {translate(question)}"), asked


def cause_words(cause: CheckpointCause) -> str:
    """Return what happened at a checkpoint in one safe line; empty where only the engine went on."""
    return joined(*(forms[0] for forms in cause_forms(cause)))


def _safe(text: str) -> str:
    return one_line(in_line(text[: 4 * _LONGEST]), _LONGEST)


def _kind(posted: Posted) -> str:
    return str(posted.event.get("kind", ""))


def _event_forms(posted: Posted, request: Request | None) -> tuple[str, ...]:
    """Return what an event was: with what it was about and by whom, by whom, alone."""
    kind, data = _kind(posted), event_data(posted)
    said = _answers(data, request) if kind == "decided" else _deeds(kind, data)
    who = person_of(posted)
    by = [_("{deed} by {who}").format(deed=form, who=plain_name(who)) for form in said] if who else []
    why = data.get("reason")
    if isinstance(why, str) and why and why != DEFAULT_SKIP_REASON and by:
        by.insert(0, f"{by[0]} “{translate(why)}”")
    told = [*by[:1], *said[:2], *by, *said] if len(said) > 2 else [*by, *said]  # what was answered goes before by whom
    return tuple(dict.fromkeys(map(_safe, told)))


def _deeds(kind: str, data: Mapping[str, Any]) -> list[str]:
    """Return what an event was, of an edit also with its first new value alone, and without any.

    Of a proposal for which somebody asked their words alone are shorter.
    """
    edits, proposal = data.get("edits") or (), data.get("proposal")
    if kind == "proposed" and isinstance(proposal, Mapping) and (asked := proposal.get("text")):
        return [deed(kind, data), deed(kind, {**data, "proposal": {"reason": str(asked)}})]
    shorter = [[[edits[0][0], "", edits[0][-1]]], ()] if edits else []
    return [deed(kind, data), *(deed(kind, {**data, "edits": few}) for few in shorter)]


def person_of(posted: Posted) -> str:
    """Return who decided or ordered something; empty for what runs and the supervisor report."""
    who = str(event_data(posted).get("by") or posted.event.get("by") or "")
    return "" if who in ("run", "supervisor") else who


def _answers(data: Mapping[str, Any], request: Request | None) -> list[str]:
    """Return how a question was answered, the longest way to say it first: `approved 003 clean-logs`, `approved 003`.

    Args:
        data: of the event.
        request: the question, as far as it is on record.
    """
    say = partial(_decision, data)
    about = one_line(in_line(asked_about(request)), _LONGEST_NAME) if request is not None else ""
    kind = str(data.get("asked", ""))
    if not data.get("todo_id"):
        named = [_("the plan")] if kind == Kind.PLAN else [_("a proposal")]
        named = [_("a proposal: {what}").format(what=about), *named] if about and kind == Kind.PROPOSAL else named
        return [say(name) for name in named]
    todo = number_of(str(data["todo_id"]))
    forms = [say(name) for name in ([f"{todo} {about}", todo] if about else [todo])]
    if data.get("value") is None or _verdict(data) not in _OWN:
        return forms
    value = json_line(data["value"])
    return [f"{forms[0]}: {value}", f"{forms[-1]}: {value}", *forms]


class CheckpointChoice(NamedTuple):
    """A checkpoint that can be gone back to.

    Args:
        number: that commands take.
        id: of the checkpoint.
        said: when and what happened there, safe.
    """

    number: int
    id: str
    said: str


def checkpoint_choices(
    infos: Sequence[CheckpointInfo], number: int, causes: Mapping[str, CheckpointCause]
) -> list[CheckpointChoice]:
    """Return the checkpoints of a page that can be gone back to, without those where only the engine went on.

    Args:
        infos: newest first.
        number: of the newest.
        causes: what led to them, by id.
    """
    found = []
    for n, info in enumerate(infos):
        cause = causes.get(info.checkpoint_id)
        said = cause_words(cause) if cause is not None else in_line(" ".join(history_said(info).split()))
        if said:
            found.append(CheckpointChoice(number - n, info.checkpoint_id, joined(said, clock_words(info.timestamp))))
    return found


_ENDING = 8
"""Digits that tell the steps of a session's teams apart."""


def checkpoint_cells(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return number, local time and what happened at a checkpoint; None where only the engine went on.

    Args:
        row: of the answer of `/checkpoint list`. A step of a team has the end of its id, by which it can be named, and
            the nodes that come next: its graph may be anybody's, and numbers are the session's.
    """
    when = second_words(str(row["timestamp"]))
    if "number" not in row:
        return str(row["checkpoint_id"])[-_ENDING:], when, in_line(str(row["node"]))
    happened = row.get("happened")
    said = cause_words(CheckpointCause.from_dict(happened)) if happened else ""
    left = f"({_('left behind')})" if row.get("left_behind") else ""
    return (str(row["number"]), when, joined(left, said)) if said else None
