"""Sessions as a list shows them, and which of them have the words that are looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.board import Rules
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.tally import tally as counted_endings
from hitl_tui.core.text_comparison import comparable
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.supervisor.recorded_board import is_over, recorded_board
from hitl_tui.supervisor.storage import DataFolder, SessionFacts
from hitl_tui.supervisor.stored_state import board_of
from hitl_tui.threads.session_history import SessionHistory


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of the list of sessions.

    Args:
        id, title, workspace, created: of the session.
        status: `waiting`, `running`, `finished`, `failed`, `interrupted` (nobody has it open) or `unreadable`; of one
            that workers carry `queued` (one of them takes it), `stranded` (none has its workspace) or `silent` (who
            holds it gives no sign of life) besides.
        questions: how many wait for a person.
        owned: some process has it open.
        updated: time of its last checkpoint.
        message: why it is unreadable, or what of it runs on.
        query: what was asked.
        tally: how its steps ended, counted (`core.tally`), once it ended; empty before.
        worker: the worker that has it open now; empty for none.
        found: the line of its steps or its answer that has the words looked for; empty where its title has them.
        still: the TODOs whose processes run on though nobody has it open.
    """

    id: str
    title: str
    workspace: str
    created: str
    status: str
    questions: int
    owned: bool
    updated: str
    message: str = ""
    query: str = ""
    tally: Mapping[str, int] = field(default_factory=dict)
    worker: str = ""
    found: str = ""
    still: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        return {
            "session_id": self.id,
            "title": self.title,
            "workspace": self.workspace,
            "created": self.created,
            "session_status": self.status,
            "questions": self.questions,
            "owned": self.owned,
            "updated": self.updated,
            "message": self.message,
            "query": self.query,
            "tally": dict(self.tally),
            "worker": self.worker,
            "found": self.found,
            **({"still_running": [*self.still]} if self.still else {}),
        }


async def load_summaries(
    data: DataFolder, ledger: Ledger, questions: Mapping[str, int], newest: int | None = None
) -> list[SessionSummary]:
    """Return what there is to say of all sessions, in the order they were made.

    Args:
        data: where they are.
        ledger: the record.
        questions: by session, how many of its questions wait for a person.
        newest: only so many of those that were made last; None for all.
    """
    facts = await data.all_facts(newest)
    if facts is None:
        names = data.ids() if newest is None else data.ids()[-newest:]
        return [await load_summary(data, ledger, name, questions.get(name, 0)) for name in names]
    return [_summary(name, found, questions.get(name, 0)) for name, found in facts.items()]


async def load_summary(data: DataFolder, ledger: Ledger, session_id: str, questions: int) -> SessionSummary:
    """Return what a session's folder, and the record, say of it; one that can't be read says why.

    Args:
        data: where it is.
        ledger: the record.
        session_id: which.
        questions: how many of its questions wait for a person.
    """
    try:
        return _summary(session_id, await _facts(data, ledger, session_id, asks=bool(questions)), questions)
    except HitlError as error:
        return _summary(session_id, error, questions)


async def _facts(data: DataFolder, ledger: Ledger, session_id: str, *, asks: bool) -> SessionFacts:
    folder = data.session(session_id)
    info, owned = folder.info(), folder.is_owned()
    outcome, updated, tally = "", "", dict[str, int]()
    if folder.has_checkpoints():
        async with folder.reading() as file:
            for newest in await SessionHistory(file, session_id).page(1):
                outcome, updated, tally = newest.outcome, newest.timestamp, dict(newest.tally)
            if not (outcome or owned or asks):
                stored = await board_of(file, session_id)
                board = await recorded_board(ledger, stored, Rules())
                if board is not stored and is_over(board):
                    outcome, tally = "finished", counted_endings(board.todos.values())
    still = () if owned or outcome else folder.still_running()
    return SessionFacts(info, owned, outcome, updated, tally, folder.whereabouts(), still)


def still_words(still: Sequence[str]) -> Message:
    """Return what is said of TODOs whose processes run on though nobody has their session open."""
    return Message("Still running: {}. Open the session to decide.", ", ".join(map(step_name, still)))


def _summary(session_id: str, facts: SessionFacts | HitlError, questions: int) -> SessionSummary:
    if isinstance(facts, HitlError):
        return SessionSummary(session_id, "", "", "", "unreadable", 0, False, "", facts.message)
    info, where, status = facts.info, facts.where, facts.outcome or "interrupted"
    if questions:
        status = "waiting"
    elif status == "interrupted" and facts.owned:
        status = "silent" if where is not None and where.silent_since else "running"
    elif status == "interrupted" and where is not None:
        status = "stranded" if where.missing else "queued"
    message = where.problem if where is not None and status not in ("finished", "failed") else ""
    if facts.still and status in ("interrupted", "waiting"):
        message = still_words(facts.still)
    return SessionSummary(
        session_id,
        info.called,
        info.workspace,
        info.created,
        status,
        questions,
        facts.owned,
        facts.updated or info.created,
        query=info.query,
        message=message,
        tally=facts.tally if status in ("finished", "failed") else {},
        worker=where.worker if where is not None else "",
        still=facts.still,
    )


def with_words(
    summary: SessionSummary, words: str, texts: Mapping[str, Mapping[str, str]], *also: str
) -> SessionSummary | None:
    """Return a session that has all words, in any case, with the line that has those its title lacks; None for another.

    Args:
        summary: the session.
        words: divided by spaces; every session has none.
        texts: what `SessionTexts.having` found of them.
        also: further texts to look in, such as its status in a person's language.
    """
    known = (summary.id, summary.title, summary.query, summary.workspace, summary.status, summary.message, *also)
    text, title = comparable("\n".join(known)), comparable(summary.title)
    found = ""
    for word in comparable(words).split():
        line = texts.get(word, {}).get(summary.id, "")
        if word not in text and not line:
            return None
        if word not in title and not found:
            found = line
    return replace(summary, found=found) if found else summary
