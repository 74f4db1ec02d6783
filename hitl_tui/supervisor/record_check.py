"""Whether a session's checkpoints and its ledger stream agree: nothing lost, nothing decided otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hitl_tui.core.board import Board
from hitl_tui.core.errors import HitlError, StorageError
from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_types import InterruptAnswer, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.protocols import Ledger, Streams
from hitl_tui.ledger.records import Posted, Problem, RequestView
from hitl_tui.ledger.signatures import KnownSignatures
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.supervisor.storage import DataFolder, SessionFolder, SessionInfo
from hitl_tui.supervisor.stored_state import board_of
from hitl_tui.threads.session_history import SessionHistory

if TYPE_CHECKING:
    from hitl_tui.supervisor.ports import Mailbox

_ALLOWING = frozenset({Verdict.APPROVE.value, Verdict.RETRY.value})
_ABOUT_A_TODO = frozenset({Kind.TODO.value, Kind.FAILURE.value, Kind.EFFECT.value})
_OF_RUNS = frozenset({"finished", "failed", "interrupted", "doubt", "continued"})
_LATE = "9999"


async def disagreements(ledger: Ledger, session: str, board: Board) -> list[Problem]:
    """Return where the record and the state contradict each other, both ways.

    Args:
        ledger: the record.
        session: which.
        board: its state; it was read before the record is.
    """
    control = board.control
    views = {v.request.id: v for v in await ledger.requests(_LATE, session=session, pending=False, limit=1_000_000)}
    events = [p for p in await ledger.after(session, 0, control.branch) if p.seq <= control.cursor]
    refused = {str(one.get("event", "")) for one in control.refused}
    problems = [_other_verdict(session, posted, views) for posted in events]
    last: dict[str, Posted] = {}
    for posted in events:
        event = posted.event
        todo_id = str(event.get("todo_id") or (event.get("data") or {}).get("todo_id") or "")
        kind = str(event.get("kind", ""))
        if kind == "decided" and event.get("asked") in _ABOUT_A_TODO and posted.event_id not in refused:
            last[todo_id] = posted
        elif kind not in _OF_RUNS and kind != "configured":
            # Whatever else was ordered may have changed what a decision left: one TODO, or any.
            last = {name: one for name, one in last.items() if todo_id and name != todo_id}
    for todo_id, todo in board.todos.items():
        problems.append(_approved(session, todo_id, todo, views))
        if todo_id in last:
            problems.append(_contradicted(session, todo_id, todo, last[todo_id]))
        problems += _answered(session, todo_id, todo, views)
    return [problem for problem in problems if problem is not None]


def _other_verdict(session: str, posted: Posted, views: Mapping[str, RequestView]) -> Problem | None:
    """Say when an event carries another verdict than the decisions amount to."""
    event = posted.event
    if event.get("kind") != "decided" or event.get("channel") == "deadline":
        return None
    view = views.get(str(event.get("request_id", "")))
    verdict = view.resolution.verdict if view is not None else None
    if view is None or verdict is None or verdict.value == event.get("verdict"):
        return None
    about = step_name(view.request.todo_id) or view.request.kind.value
    return Problem(
        session,
        0,
        Message(
            "The decisions about {} say {}; what was carried out is {}.", about, verdict.value, event.get("verdict")
        ),
    )


def _approved(session: str, todo_id: str, todo: TodoState, views: Mapping[str, RequestView]) -> Problem | None:
    """Say when the state has an approval that the record hasn't."""
    approval = todo.get("approval") or {}
    view = views.get(str(approval.get("request_id") or ""))
    if view is None:  # allowed by a rule, or decided before this session was copied from another
        return None
    verdict = view.resolution.verdict
    same = view.request.kind is not Kind.TODO or view.request.digest == approval.get("digest")
    if verdict is not None and verdict.value in _ALLOWING and same:
        return None
    said = verdict.value if verdict is not None else "nothing"
    return Problem(
        session,
        0,
        Message("The checkpoints say that {} was approved, and the record says {}.", step_name(todo_id), said),
    )


def _contradicted(session: str, todo_id: str, todo: TodoState, posted: Posted) -> Problem | None:
    """Say when the last decision about a TODO is another one in the record than in the state."""
    verdict = str(posted.event.get("verdict", ""))
    metadata, status = todo.get("metadata") or {}, str(todo.get("status", ""))
    error = str(todo.get("error") or "")
    refused = bool(metadata.get("rejected")) and error.startswith(("rejected by", "expired"))
    if verdict in _ALLOWING and refused:
        return Problem(
            session,
            0,
            Message("The checkpoints say that {} was rejected, and the record says {}.", step_name(todo_id), verdict),
        )
    if verdict in _ALLOWING and status == "skipped" and metadata.get("skipped_by") not in (None, "system"):
        return Problem(
            session,
            0,
            Message("The checkpoints say that {} was skipped, and the record says {}.", step_name(todo_id), verdict),
        )
    if verdict == Verdict.REJECT.value and status in ("in_progress", "completed"):
        return Problem(
            session,
            0,
            Message("The checkpoints say that {} was run, and the record says {}.", step_name(todo_id), verdict),
        )
    return None


def _answered(session: str, todo_id: str, todo: TodoState, views: Mapping[str, RequestView]) -> list[Problem]:
    """Say when an answer in the state isn't the one in the record."""
    found = []
    for one in interrupts_of(todo.get("question")):
        answer: InterruptAnswer = one.get("answer") or {}
        view = views.get(str(answer.get("request_id") or ""))
        given = view.resolution.decisions[-1].value if view is not None and view.resolution.decisions else None
        if view is not None and given != answer.get("value"):
            what = Message("The answer to {} differs between the checkpoints and the record.", step_name(todo_id))
            found.append(Problem(session, 0, what))
    return found


def creation_entry(info: SessionInfo) -> tuple[str, dict[str, str]]:
    """Return kind and data of the entry that a session's record begins with."""
    return "session_created", {"workspace": info.workspace, "title": info.title, "lineage": info.lineage}


async def has_worked(ledger: Ledger, session_id: str, now: str) -> bool:
    """Return whether a session has asked or run anything by its record: then it had checkpoints.

    Commands of people alone don't count; they are recorded before the first checkpoint, too.
    """
    if await ledger.requests(now, session=session_id, pending=False, limit=1):
        return True
    branch = (await ledger.branch(session_id)).number
    return any(posted.event.get("kind") in _OF_RUNS for posted in await ledger.after(session_id, 0, branch))


def lost_checkpoints(place: str) -> StorageError:
    """Return the error for a session that had checkpoints and whose file of them is gone."""
    return StorageError(Message("{} is missing; put back a copy of it, or import an export.", place))


async def missing_record(ledger: Mailbox, session_id: str, history: SessionHistory) -> str:
    """Return what the ledger should know of a session by its checkpoints and doesn't, one sentence; empty when all.

    The checkpoints never run ahead of the ledger, also after a power cut: an event is durable there before it is
    gone through. A session without checkpoints lacks nothing.
    """
    # The checkpoint first: what is written meanwhile only makes the ledger longer.
    page = await history.page(1)
    if not page:
        return ""
    head = await ledger.head(session_id)
    if not head.n:
        return Message("The ledger has no record of session {}, which has checkpoints.", session_id)
    taken, branch = await ledger.highest_seq(session_id), (await ledger.branch(session_id)).number
    if page[0].cursor > taken or page[0].branch > branch:
        return Message(
            "The ledger is older than session {}: its checkpoints have gone through event {} of "
            "branch {}, and the ledger ends at event {} of branch {}.",
            session_id,
            page[0].cursor,
            page[0].branch,
            taken,
            branch,
        )
    return ""


async def check_record(ledger: Mailbox, session_id: str, history: SessionHistory, location: str) -> None:
    """Refuse a session whose record is lost: what is said to it would be numbered anew and never be heard.

    Args:
        ledger: the record.
        session_id: which.
        history: its checkpoints.
        location: where they are, as people are told.

    Raises:
        StorageError: the record isn't as it was written, or doesn't know what the checkpoints have gone through.
    """
    changed = (await verify(ledger, session_id)).problems
    if changed:
        raise StorageError(
            Message("The record of session {} is damaged or was changed: {}", session_id, changed[0].what),
            help=Message(
                "See all of it with: hitl-tui audit verify. Put back a copy of the ledger, or import an export."
            ),
        )
    found = await missing_record(ledger, session_id, history)
    if found:
        raise StorageError(
            found,
            help=Message(
                "Commands to it couldn't be recorded. Put back its ledger; to look at it as it is: hitl-tui open {}",
                location,
            ),
        )


async def broken_record(ledger: Ledger, known: KnownSignatures, session_id: str, folder: SessionFolder) -> str:
    """Return why a session is only looked at: its record was changed, or signed by an unknown key; empty for neither.

    What is looked at is quick: the session's chain of hashes, its last signature, its decisions beside the checkpoints.

    Args:
        ledger: the record.
        known: what is known of signatures here.
        session_id: which.
        folder: its folder.
    """
    what, elsewhere = "", list[Problem]()
    if isinstance(ledger, TableLedger):
        what = await ledger.chain_problem(session_id)
        if not what:
            problems = (await ledger.signed(known, session_id))[1]
            elsewhere = [problem for problem in problems if problem.key]
            what = next((problem.what for problem in problems if not problem.key), "")
    if not what and folder.has_checkpoints():
        try:
            async with folder.reading() as file:
                contrary = await disagreements(ledger, session_id, await board_of(file, session_id))
        except HitlError:  # whoever opens it is told why it can't be read
            contrary = []
        what = contrary[0].what if contrary else ""
    if not what:
        return Message("{} is read-only here. {}", session_id, elsewhere[0].what) if elsewhere else ""
    said = Message("The record of {} is damaged or was changed, so the session is read-only.", session_id)
    return Message("{} {} See: hitl-tui audit verify", said, what)


async def lost_records(data: DataFolder, ledger: Ledger, session_id: str = "") -> list[Problem]:
    """Return a problem for each session whose record is lost, or says otherwise than what is stored of it.

    Args:
        data: where the sessions are.
        ledger: the record of all of them.
        session_id: only this one; empty for all.
    """
    found: list[Problem] = []
    for name in data.ids():
        try:
            folder = data.session(name)
            if session_id not in ("", name):
                continue
            folder.info()
            if not folder.has_checkpoints():
                continue
            async with folder.reading() as file:
                what = await missing_record(ledger, name, SessionHistory(file, name))
                board = await board_of(file, name)
            contrary = [] if what else await disagreements(ledger, name, board)
        except HitlError as error:
            found.append(Problem(name, 0, Message("What is stored of it can't be read: {}", error.message)))
            continue
        found += [Problem(name, 0, what)] if what else contrary
    return [*found, *await _without_folder(data, ledger, session_id)]


async def _without_folder(data: DataFolder, ledger: Streams, session_id: str) -> list[Problem]:
    """Return a problem for each session that the ledger knows, and whose folder is gone though nobody deleted it."""
    there, found = set(data.ids()), []
    for head in await ledger.streams():
        name = head.stream
        if name in there or "/" in name or session_id not in ("", name) or head.n < 2:  # it was only about to begin
            continue
        try:
            last = await ledger.entries(name, head.n - 1, 1)
        except StorageError as error:
            found.append(Problem(name, head.n, error.message))
            continue
        if not last:
            found.append(Problem(name, head.n, Message("Entry {} is missing.", head.n)))
        elif last[0].kind != "session_deleted":
            found.append(Problem(name, 0, Message("Its folder has no session.json, though nobody deleted it.")))
    return found


async def ancestry_of(ledger: Streams, session_id: str) -> list[str]:
    """Return a session and those in this ledger that it is a fork of, nearest first."""
    line = [session_id]
    while True:
        first = await ledger.entries(line[-1], 0, 1)
        origin = first[0].data.get("origin", {}) if first and first[0].kind == "session_copied" else {}
        parent = str(origin.get("session", "")) if origin.get("kind") == "fork" else ""
        if not parent or parent in line:
            return line
        line.append(parent)


async def related_sessions(ledger: Streams, session_id: str, lineage: str) -> list[str]:
    """Return the sessions in this ledger that share a session's past, it among them: what it or they were copied from.

    Args:
        lineage: the session's; what was copied says in its record of which it is.
    """
    origins: dict[str, Mapping[str, object]] = {}
    for head in await ledger.streams():
        first = await ledger.entries(head.stream, 0, 1)
        if first and first[0].kind == "session_copied":
            origins[head.stream] = first[0].data.get("origin", {})
    found = dict.fromkeys(await ancestry_of(ledger, session_id))
    found |= dict.fromkeys(name for name, origin in origins.items() if origin.get("lineage") == lineage)
    for name in list(found):
        if name in origins and await _comes_from(ledger, origins[name]):
            found[str(origins[name]["session"])] = None
    return list(found)


async def _comes_from(ledger: Streams, origin: Mapping[str, object]) -> bool:
    """Return whether the record that a copy was made from is in this ledger: another session may have its id."""
    name, n = str(origin.get("session", "")), int(str(origin.get("n", 0)))
    there = await ledger.entries(name, n - 1, 1) if name and n else []
    return bool(there) and there[0].hash == origin.get("hash")
