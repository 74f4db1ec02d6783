"""What a step would write or touch, before it does: its document as a diff, its command's preview; edited, too."""

from __future__ import annotations

import asyncio
import difflib
import os
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import mask_json
from hitl_tui.language import _
from hitl_tui.wording.evidence_rows import evidence_rows, preview_rows
from hitl_tui.wording.rows import Row, in_line, labelled, text_row

if TYPE_CHECKING:
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.supervisor.snapshot import Question

_DOCUMENTS = "document_team"


def document_path(question: Question) -> str:
    """Return the path that a question's step would write a document to; empty when it writes none."""
    return _path(question.view.request.subject.get("arguments") or {})


def _path(arguments: Mapping[str, Any]) -> str:
    return str(arguments["path"]) if "if_exists" in arguments and arguments.get("path") else ""


def graph_rows(link: SessionHandle, question: Question) -> list[Row]:
    """Return which attached graph a question's step would run, and from where; no rows for any other step."""
    from hitl_tui.config.declared_graphs import GraphDeclaration

    facts = link.setup.planner.agents.get(question.view.request.source)
    declaration = getattr(link.setup.team(facts.team), "declaration", None) if facts is not None else None
    if not isinstance(declaration, GraphDeclaration):
        return []
    said = _("{target} in {folder}").format(target=in_line(declaration.target), folder=in_line(declaration.folder))
    return [labelled(_("graph"), said, "bold", exact=True)]


async def draft_of(link: SessionHandle, question: Question, most: int | None, key: str = "") -> list[Row]:
    """Return the document that a question is about as a diff against nothing; no rows for any other question.

    Args:
        link: the session.
        question: the question.
        most: lines of the diff; None for all.
        key: how the key for the details reads; not needed for all lines.

    Raises:
        HitlError: a result that the document is made of can't be read.
    """
    request = question.view.request
    return await _draft(link, request.source, request.subject, most, key)


async def _draft(link: SessionHandle, source: str, subject: Mapping[str, Any], most: int | None, key: str) -> list[Row]:
    path = _path(subject.get("arguments") or {})
    facts = link.setup.planner.agents.get(source)
    if not path or facts is None or facts.team != _DOCUMENTS:
        return []
    from hitl_tui.teams.contract import TeamResult
    from hitl_tui.teams.report_text import compose, gather

    found = {}
    for todo_id, seen in (subject.get("inputs") or {}).items():
        if seen:
            found[todo_id] = TeamResult.from_dict(await link.face.artifact(str(seen)))
    title, snapshot = str(subject["arguments"].get("title", "")), link.face.snapshot
    folder = posixpath.dirname(path)
    content = await asyncio.to_thread(lambda: compose(title, snapshot.query, gather(found), folder))
    exists = await asyncio.to_thread(os.path.lexists, Path(snapshot.workspace) / path)
    return _draft_rows(path, content, exists=exists, most=most, key=key)


class QuestionPreviews:
    """Finds out what a step would do with another input, in the way in which its question does.

    Args:
        link: the session.
        question: the question about the step.
    """

    def __init__(self, link: SessionHandle, question: Question) -> None:
        self._link = link
        self._question = question

    def needed(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether an input has a preview."""
        return bool(arguments.get("preview") or _path(arguments) or self._question.view.evidence.get("findings"))

    async def rows(self, arguments: Mapping[str, Any]) -> list[Row]:
        """Return what exact arguments would touch or write; no rows when that can't be known before.

        Raises:
            HitlError: it can't be found out.
        """
        link, request = self._link, self._question.view.request
        if arguments.get("preview"):
            setup = link.setup
            team = setup.team(setup.planner.agents[request.source].team)
            if (preview := getattr(team, "preview", None)) is None:
                return []
            if why := await setup.law.why_no_preview(str(arguments.get("command", "")), arguments["preview"]):
                raise BadInput(why)
            found = mask_json(await preview(arguments, Path(setup.info.workspace), setup.secrets), setup.secrets)
            if found.get("timed_out"):
                raise BadInput("The preview took too long and was stopped.")
            return list(preview_rows(found, None, ""))
        if self._question.view.evidence.get("findings"):
            return list(evidence_rows(self._question, None, ""))
        return await _draft(link, request.source, {**request.subject, "arguments": arguments}, None, "")


async def seen_of(link: SessionHandle, question: Question) -> list[Row]:
    """Return what is known of what a question's step would touch or write, as `QuestionPreviews.rows` does.

    Raises:
        HitlError: a result that the document is made of can't be read.
    """
    return list(evidence_rows(question, None, "")) or await draft_of(link, question, None)


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
