"""Questions that are asked anew: under another request, since what was said of the old one doesn't count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hitl_tui.core.board import Draft
from hitl_tui.core.interrupts.numbers import asked_anew, interrupts_of
from hitl_tui.core.questions import interrupt_questions, question_of


def ask_closed_anew(draft: Draft, closed: Mapping[str, str]) -> None:
    """Ask anew what an event should have ended and didn't: its request is superseded for good.

    Args:
        draft: after the event.
        closed: ids of the TODOs, by the ids of the requests that ended with it.
    """
    for todo_id in sorted({str(todo_id) for todo_id in closed.values()}):
        if todo_id not in draft:
            continue
        todo = draft.get(todo_id)
        inside = {i for i, request in interrupt_questions(draft, todo) if request.id in closed}
        if inside and todo.question is not None:
            interrupts = [asked_anew(i, todo.asked) if i["id"] in inside else i for i in interrupts_of(todo.question)]
            todo = replace(todo, question={**todo.question, "interrupts": interrupts}, asked=todo.asked + 1)
            draft.put(todo)
        asked = question_of(draft, todo)
        if asked is not None and asked.id in closed:
            draft.put(replace(todo, asked=todo.asked + 1))
