"""What a step would write, before it does: the document as a diff, made the way its team makes it."""

from __future__ import annotations

import asyncio
import difflib
import os
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.console.rows import Row, in_line, labelled, text_row
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.console.engine import Link
    from hitl_tui.supervisor.snapshot import Question

_DOCUMENTS = "document_team"


def document_path(question: Question) -> str:
    """Return the path that a question's step would write a document to; empty when it writes none."""
    arguments = question.view.request.subject.get("arguments") or {}
    return str(arguments["path"]) if "if_exists" in arguments and arguments.get("path") else ""


async def draft_of(link: Link, question: Question, most: int | None, key: str = "") -> list[Row]:
    """Return the document that a question is about as a diff against nothing; no rows for any other question.

    Args:
        link: the session.
        question: the question.
        most: lines of the diff; None for all.
        key: how the key for the details reads; not needed for all lines.

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
    return _draft_rows(path, content, exists=exists, most=most, key=key)


def _draft_rows(path: str, content: str, *, exists: bool, most: int | None, key: str) -> list[Row]:
    """Return what writing a new document would change, as a unified diff against nothing.

    Args:
        path: the file, relative to the workspace.
        content: all of it.
        exists: there is such a file; it stays, and the new one gets a number.
        most: lines to show; None for all.
        key: how the key for the details reads.
    """
    lines = list(difflib.unified_diff([], content.splitlines(), "/dev/null", path, lineterm="", n=0))
    added = len(content.splitlines())
    note = (
        _("{path} is there and stays as it is; the new file gets a number").format(path=path)
        if exists
        else _("{path} is new").format(path=path)
    )
    rows = [
        labelled(
            _("writes"),
            _("{lines:,} lines, {bytes:,} bytes; {note}").format(
                lines=added, bytes=len(content.encode()), note=in_line(note)
            ),
            "bold",
        )
    ]
    rows += [
        text_row(f"  {in_line(line)}", "$text-success" if line[:1] == "+" else "$text-muted") for line in lines[:most]
    ]
    if most is not None and len(lines) > most:
        rows.append(
            text_row(_("  … {n:,} more lines: {key} Details").format(n=len(lines) - most, key=key), "$text-muted")
        )
    return rows
