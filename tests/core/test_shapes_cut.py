"""Questions that were too large to be kept: which of them still take a yes or a no."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.shapes.model import APPROVE, REJECT, ShapeKind
from hitl_tui.core.shapes.reading import read
from hitl_tui.core.shapes.recognise import recognise
from hitl_tui.supervisor.attached.pending import bounded

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
