"""What a step would write or touch, before it does: its document as a diff, its command's preview; edited, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask_json
from hitl_tui.language import _
from hitl_tui.teams.contract import FilePreview, QueryPreview
from hitl_tui.wording.draft_rows import draft_rows
from hitl_tui.wording.evidence_rows import evidence_rows, preview_rows, query_rows
from hitl_tui.wording.rows import Row, in_line, labelled

if TYPE_CHECKING:
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.supervisor.snapshot import Question
    from hitl_tui.teams.contract import Team


def team_of(handle: SessionHandle, question: Question) -> Team | None:
    """Return the team that a question is about; None where it is about none."""
    facts = handle.setup.planner.agents.get(question.view.request.source)
    return handle.setup.team(facts.team) if facts is not None else None


def writes_file(handle: SessionHandle, question: Question, arguments: JsonObject | None = None) -> bool:
    """Return whether a question's step would make a file, with other arguments where they are given."""
    team = team_of(handle, question)
    own = question.view.request.subject.get("arguments") or {}
    return team is not None and bool(team.writes(own if arguments is None else arguments))


def graph_rows(handle: SessionHandle, question: Question) -> list[Row]:
    """Return which attached graph a question's step would run, and from where; no rows for any other step."""
    team = team_of(handle, question)
    if team is None or team.graph is None:
        return []
    declaration, workspace = team.graph.declaration, Path(handle.session.snapshot.workspace).resolve()
    path, colon, name = declaration.target.rpartition(":")
    file, said = (Path(declaration.folder) / path).resolve(), in_line(declaration.shown)
    if path.endswith(".py") and file.is_relative_to(workspace):
        said = in_line(f"{file.relative_to(workspace)}{colon}{name}")
    elif Path(declaration.folder).resolve() != workspace:  # that it is elsewhere matters
        said = _("{target} in {folder}").format(target=said, folder=in_line(declaration.folder))
    return [labelled(_("starts"), said, "bold", exact=True)]


async def draft_of(handle: SessionHandle, question: Question, *, headed: bool = True) -> list[Row]:
    """Return the document that a question is about as a diff against nothing; no rows for any other question.

    All of it: the document is what is approved, so that it has to be read like anything else.

    Args:
        handle: the session.
        question: the question.
        headed: begin with the lines of a diff that say which file it is.

    Raises:
        HitlError: a result that the document is made of can't be read.
    """
    return await _draft(handle, question, question.view.request.subject.get("arguments") or {}, headed=headed)


async def _draft(handle: SessionHandle, question: Question, arguments: JsonObject, *, headed: bool = True) -> list[Row]:
    if not writes_file(handle, question, arguments):
        return []
    found = await handle.preview(question, arguments)
    return draft_rows(found, headed=headed) if isinstance(found, FilePreview) else []


class QuestionPreviews:
    """Finds out what a step would do with another input, in the way in which its question does.

    Args:
        handle: the session.
        question: the question about the step.
    """

    def __init__(self, handle: SessionHandle, question: Question) -> None:
        self._handle = handle
        self._question = question

    def needed(self, arguments: JsonObject) -> bool:
        """Return whether an input has a preview."""
        return bool(
            arguments.get("preview")
            or writes_file(self._handle, self._question, arguments)
            or self._question.view.evidence.get("findings")
            or "queries" in self._question.view.evidence
        )

    async def rows(self, arguments: JsonObject) -> list[Row]:
        """Return what exact arguments would touch or write; no rows when that can't be known before.

        Raises:
            HitlError: it can't be found out.
        """
        handle, question = self._handle, self._question
        if arguments.get("preview"):
            found = await handle.preview(question, arguments)
            if not isinstance(found, dict):
                return []
            if found["timed_out"]:
                raise BadInput(Message("The preview took too long and was stopped."))
            return list(preview_rows(mask_json(found, handle.setup.secrets), None, "", arguments.get("argv")))
        if "queries" in question.view.evidence:
            found = await handle.preview(question, arguments)
            return list(query_rows(found.queries)) if isinstance(found, QueryPreview) else []
        if question.view.evidence.get("findings"):
            return list(evidence_rows(question, None, ""))
        return await _draft(handle, question, arguments)


async def seen_of(handle: SessionHandle, question: Question) -> list[Row]:
    """Return what is known of what a question's step would touch or write, as `QuestionPreviews.rows` does.

    Raises:
        HitlError: a result that the document is made of can't be read.
    """
    return list(evidence_rows(question, None, "")) or await draft_of(handle, question)
