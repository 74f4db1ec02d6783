"""The word that was given with a graph's input, before there was a face to give it to (I1)."""

from __future__ import annotations

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.results import CommandResult
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.policy.operator import Acting
from hitl_tui.supervisor.face import SessionFace


async def approve_given(face: SessionFace, planner: PlanningAgent, by: str, acting: Acting | None) -> CommandResult:
    """Approve the run of an attached graph whose exact input its person wrote on the command line.

    On record it is what it was: a decision on the command line, whatever face the session is opened in.

    Args:
        face: the session, which asks about that run now.
        planner: the session's.
        by: who started it.
        acting: says how they are identified.
    """
    question = face.snapshot.questions[0]
    # They wrote what it asks about themselves: the command line is where they saw it.
    face.desk.showing.note([question.id], by, "command line")
    handler = CommandHandler(face, planner, by=by, channel="cli", acting=acting)
    return await handler.handle(f"/todo approve {question.todo_id} --digest {question.digest}")
