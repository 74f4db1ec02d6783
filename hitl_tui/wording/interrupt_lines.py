"""What a team asks from inside a step, in plain lines: who asks, what it is about, what each answer means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hitl_tui.core.interrupts.shape import Shape, ShapeKind
from hitl_tui.core.safe_text import safe_text, text_lines
from hitl_tui.language import render
from hitl_tui.terminal.ascii_signs import _, signs

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_OURS = (
    ShapeKind.TOOL_APPROVAL,
    ShapeKind.TOOL_BATCH,
    ShapeKind.AGENT_INBOX,
    ShapeKind.BREAKPOINT,
    ShapeKind.OTHER,
)
"""Forms whose question isn't the graph's own sentence."""


def inner_lines(question: Question, shape: Shape) -> Iterator[str]:
    """Yield what is asked and what it is about; each text quoted, one of several lines with a bar before each."""
    subject = question.view.request.subject
    path = [str(node) for node in subject.get("path", ()) if node]
    if path:
        yield _("From: {path}").format(path=signs(" › ").join(safe_text(node, multiline=False) for node in path))
    if shape.kind in _OURS:
        yield render(shape.question)
    else:
        yield _("It asks: {question}").format(question=shape.question)
    for detail in shape.details:
        label = _("the agent says, unchecked") if detail.claim else detail.label
        yield from (f"  {line}" for line in _detail(label, detail.value))
    for note in shape.notes:
        yield _("Note: {note}").format(note=render(note))
    for line in question.again:
        yield _("Again: {line}").format(line=render(safe_text(line, multiline=False)))


def _detail(label: str, value: Any) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value:
        yield f"{label}:"
        yield from (f"  | {safe_text(line, multiline=False)}" for line in text_lines(value))
        return
    try:
        yield f"{label}: {safe_text(json.dumps(value, ensure_ascii=False), multiline=False)}"
    except (ValueError, TypeError, RecursionError):
        yield f"{label}: " + _("(a value that can't be shown)")


def meaning_lines(shape: Shape) -> list[str]:
    """Return what the answers mean, and which ones aren't possible and why."""
    lines = [f"{a.name}: {render(a.meaning)}" for a in shape.actions if a.meaning and not a.why_not]
    return [*lines, *(_("not possible: {why}").format(why=render(a.why_not)) for a in shape.actions if a.why_not)]
