"""What a step would write, before it does: the document as a diff, made the way its team makes it."""

from __future__ import annotations

import asyncio
import os
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.console.asking import Row, draft_rows

if TYPE_CHECKING:
    from hitl_tui.console.engine import Link
    from hitl_tui.supervisor.snapshot import Question

_DOCUMENTS = "document_team"


def document_path(question: Question) -> str:
    """Return the path that a question's step would write a document to; empty when it writes none."""
    arguments = question.view.request.subject.get("arguments") or {}
    return str(arguments["path"]) if "if_exists" in arguments and arguments.get("path") else ""


async def draft_of(link: Link, question: Question, most: int | None, key: str = "6") -> list[Row]:
    """Return the document that a question is about as a diff against nothing; no rows for any other question.

    Args:
        link: the session.
        question: the question.
        most: lines of the diff; None for all.
        key: how the key for the details reads.

    Raises:
        HitlError: a result that the document is made of can't be read.
    """
    path, subject = document_path(question), question.view.request.subject
    facts = link.setup.planner.agents.get(question.view.request.source)
    if not path or facts is None or facts.team != _DOCUMENTS:
        return []
    from hitl_tui.teams.contract import TeamResult
    from hitl_tui.teams.document_text import compose, gather

    found = {}
    for todo_id, seen in (subject.get("inputs") or {}).items():
        if seen:
            found[todo_id] = TeamResult.from_dict(await link.face.artifact(str(seen)))
    title, snapshot = str(subject["arguments"].get("title", "")), link.face.snapshot
    folder = posixpath.dirname(path)
    content = await asyncio.to_thread(lambda: compose(title, snapshot.query, gather(found), folder))
    exists = await asyncio.to_thread(os.path.lexists, Path(snapshot.workspace) / path)
    return draft_rows(path, content, exists=exists, most=most, key=key)
