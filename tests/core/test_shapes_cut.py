"""Questions that were too large to be kept: which of them still take a yes or a no."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import APPROVE, EDIT, REJECT, ShapeKind
from hitl_tui.core.interrupts.tool_permissions import calls_let_run
from hitl_tui.core.json_text import canonical
from hitl_tui.supervisor.attached_graphs.waiting_points import bounded

ROWS = [{"row": n} for n in range(60_000)]


def test_a_no_to_a_large_question_is_sent_as_a_no() -> None:
    shape = recognise(bounded({"question": "Delete them?", "rows": ROWS}))
    assert shape.kind is ShapeKind.YES_NO and shape.question == "Delete them?"
    assert read(shape, "no").value is False and read(shape, "yes").value is True
    assert {"cut", "rows", "sha256"} <= {detail.label for detail in shape.details}
    assert shape.action(APPROVE) is not None and shape.action(REJECT) is not None


@pytest.mark.parametrize(
    "value",
    [
        {"question": "Which?", "options": [f"option {n}" for n in range(60_000)]},
        {"action": "pay", "message": "Pay?", "rows": ROWS},
        {"instruction": "Review", "content": "x" * 500_000},
        {"question": "Delete them?", **{f"field {n}": "x" * 500 for n in range(2_000)}},
        "Delete them? " + "x" * 500_000,
        ROWS,
    ],
    ids=["options", "action", "review", "fields", "text", "list"],
)
def test_what_was_cut_of_any_other_form_is_no_part_of_an_answer(value: Any) -> None:
    assert recognise(bounded(value)).kind is ShapeKind.OTHER


LARGE = {"body": "x" * 400_000, "rows": ROWS, "to": "ann"}
CALL = {"name": "send", "args": LARGE, "description": "y" * 300_000}
CONFIG = {"allow_accept": True, "allow_edit": True, "allow_ignore": True, "allow_respond": True}


@pytest.mark.long
@pytest.mark.parametrize(
    ("value", "approved", "rejected"),
    [
        ({"type": "tool_approval", **CALL}, {"type": "approve"}, {"type": "reject"}),
        (
            {"action_requests": [CALL] * 60, "review_configs": []},
            {"decisions": [{"type": "approve"}] * 60},
            {"decisions": [{"type": "reject"}] * 60},
        ),
        (
            [{"action_request": {"action": "send", "args": LARGE}, "config": CONFIG}],
            [{"type": "accept", "args": None}],
            None,
        ),
    ],
    ids=["one call", "batch", "agent-inbox"],
)
def test_large_tool_calls_can_be_approved_and_refused_but_not_edited(value: Any, approved: Any, rejected: Any) -> None:
    cut = bounded(value)
    shape = recognise(cut)
    assert read(shape, "approve").value == approved
    if rejected is not None:
        assert read(shape, "reject").value == rejected
    assert {"cut", "sha256"} <= {detail.label for detail in shape.details}
    for form in (shape, *shape.parts):
        edit = form.action(EDIT)
        assert edit is None or "too large to edit" in edit.why_not
    assert len(canonical(cut)) < 256_000


def test_a_large_call_counts_as_one_whose_arguments_nobody_knows() -> None:
    asked = bounded({"type": "tool_approval", **CALL})
    tools = frozenset({"send"})
    assert ("send", None) in list(calls_let_run(asked, None, {"type": "approve"}, tools))
    assert not list(calls_let_run(asked, None, {"type": "reject"}, tools))
