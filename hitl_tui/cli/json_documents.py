"""The JSON documents that scripts read. Keys are stable: a new one may come, none changes its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.wording.text_lines import standing

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_summary import SessionSummary


def session_part(snapshot: Snapshot) -> dict[str, Any]:
    """Return what every document about a session has: where it stands, what is asked, and the answer.

    `response` is the answer's text and `response_details` the rest of it; both are null before it is there.
    """
    response = snapshot.response if snapshot.concluded else None
    return {
        "session_id": snapshot.session_id,
        "session_status": snapshot.status,
        "current_todo_id": snapshot.current_todo_id or None,
        "summary": snapshot.summary,
        "tally": dict(snapshot.tally) if snapshot.concluded else {},
        "todos": snapshot.todo_documents,
        "questions": [question.to_dict() for question in snapshot.questions],
        "plan_review": snapshot.plan_review,
        "response": str(response["text"]) if response is not None else None,
        "response_details": {k: v for k, v in response.items() if k != "text"} if response is not None else None,
    }


def run_document(snapshot: Snapshot) -> dict[str, Json]:
    """Return what `run` prints: `status` is `waiting`, `finished` or `failed`."""
    return {"status": snapshot.status, "message": standing(snapshot), **session_part(snapshot)}


def do_document(result: CommandResult, snapshot: Snapshot) -> dict[str, object]:
    """Return what `do` prints: the command's own keys beside the session's."""
    own = result.to_dict()
    return {**own, **{k: v for k, v in session_part(snapshot).items() if k not in own}}


def show_document(
    snapshot: Snapshot,
    model: JsonObject,
    *,
    owned: bool,
    next_command: str = "",
    still: Sequence[str] = (),
    cut_off: Sequence[str] = (),
) -> dict[str, Json]:
    """Return what `show` prints.

    Args:
        snapshot: the session.
        model: its model and what that used, see `SessionModel.document`; empty where it can't have one.
        owned: some process has the session open now.
        next_command: lets it go on where it was interrupted; empty where it wasn't.
        still: the TODOs whose processes run on though nobody has it open.
        cut_off: those that were running when its process ended, and aren't any more.
    """
    return {
        "status": "ok",
        "message": standing(snapshot, left=not (owned or snapshot.carrier), still=still),
        **({"next": next_command} if next_command else {}),
        "query": snapshot.query,
        "workspace": snapshot.workspace,
        "mode": snapshot.mode,
        "branch": snapshot.branch,
        "checkpoint_id": snapshot.checkpoint_id,
        "owned": owned,
        "interrupted": bool(next_command),
        "cut_off": list(cut_off),
        **model,
        **session_part(snapshot),
    }


def copy_document(result: CommandResult, made: SessionSummary, source: str) -> dict[str, Json]:
    """Return what `fork` and `import` print: the new session as `sessions` lists it, and what it comes from.

    Args:
        result: what the command answers.
        made: the new session.
        source: the other session's id, or the file.
    """
    return {**made.to_dict(), "status": result.status, "message": result.message, "from": source}


def error_document(error: HitlError) -> dict[str, Json]:
    """Return what is printed when something can't be done: one sentence, its kind, and what would help."""
    said = error.message
    document: dict[str, Json] = {"status": "error", "error": said, "message": said, "kind": error.kind}
    if error.help:
        document["help"] = error.help
    return document
