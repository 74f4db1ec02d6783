"""The form of a question some of whose answers a rule denies: those aren't possible, and each says which rule it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_tui.core.interrupts.shape import APPROVE, EDIT, RESPOND, STEP, Action, Form, Shape
from hitl_tui.core.interrupts.tool_shapes import BatchShape, CallShape, ToolCall, actions_of
from hitl_tui.core.json_types import DeniedAnswer
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import rule_label
from hitl_tui.core.safe_text import one_line

_LET_RUN = (APPROVE, STEP, RESPOND)
"""Actions of a question of another form than a call's that let run what it names."""


def without_denied(shape: Shape, denied: Sequence[DeniedAnswer]) -> Shape:
    """Return a form whose denied answers say why they aren't possible, with what is denied among its notes.

    Args:
        shape: the form.
        denied: as `tool_permissions.denied_answers` tells them.
    """
    by_call = {one["call"]: one for one in denied}
    if (whole := by_call.get(0)) is not None:
        edits = any(_edits(action) for action in shape.actions) and not whole["always"]
        why = _why(whole, edits=edits)
        left_out = (*_LET_RUN, *(() if edits else (EDIT,)))
        actions = tuple(_impossible(a, why) if a.name in left_out else a for a in shape.actions)
        return replace(shape, actions=actions, notes=(*shape.notes, why))
    calls = shape.calls if isinstance(shape, BatchShape) else (shape.call,) if isinstance(shape, CallShape) else ()
    found: list[ToolCall] = []
    notes: list[str] = [*shape.notes]
    for number, call in enumerate(calls, start=1):
        if (one := by_call.get(number)) is None:
            found.append(call)
            continue
        edits = EDIT in call.allowed and not one["always"]
        why = _why(one, edits=edits)
        found.append(replace(call, denied=dict.fromkeys((APPROVE,) if edits else (APPROVE, EDIT), why)))
        notes.append(Message("Call {}: {}", number, why) if len(calls) > 1 else why)
    if isinstance(shape, CallShape) and found:
        return replace(shape, call=found[0], actions=found[0].actions(), notes=tuple(notes))
    if isinstance(shape, BatchShape):
        return replace(shape, calls=tuple(found), actions=actions_of(found), notes=tuple(notes))
    return shape


def _edits(action: Action) -> bool:
    return action.name == EDIT and action.wants.form is Form.FIELDS and not action.why_not


def _impossible(action: Action, why: Message) -> Action:
    return action if action.why_not or action.wants.form is Form.OPTIONS else replace(action, why_not=why)


def _why(one: DeniedAnswer, *, edits: bool) -> Message:
    rule, tool = rule_label(one["rule"], one["name"]), one_line(one["tool"], 60)
    if edits:
        return Message("Rule {} of the policy denies {} with these arguments; change them, or reject it.", rule, tool)
    return Message("Rule {} of the policy denies {} with these arguments; it can only be rejected.", rule, tool)
