"""Steps that follow each other are named as one."""

from __future__ import annotations

import pytest

from hitl_tui.core.names import in_runs


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], []),
        (["003", "004"], ["003", "004"]),
        (["003", "004", "005", "009"], ["003–005", "009"]),
        ([f"{n}" for n in range(401, 501)], ["401–500"]),
        (["004", "003", "002"], ["004", "003", "002"]),
        (["998", "999", "1000", "1000.2", "plan"], ["998–1000", "1000.2", "plan"]),
    ],
)
def test_three_or_more_in_a_row_are_one(names: list[str], said: list[str]) -> None:
    assert in_runs(names) == said
