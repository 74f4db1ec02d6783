"""How one plan under review differs from the one before."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.review_request import ReviewStep, review_request, step_changes


def steps(*titles: str, **needs: tuple[str, ...]) -> list[ReviewStep]:
    return [ReviewStep(f"s{n}", one, "team", one, {}, needs.get(one, ()), "low") for n, one in enumerate(titles)]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("ab", "ab", ""),
        ("ab", "abc", "+c"),
        ("abc", "ac", "-b"),
        ("abc", "axc", "-b+x"),
        ("", "a", "+a"),
        ("ab", "", "-a-b"),
        ("abc", "cab", "~c"),
    ],
)
def test_changes_in_the_order_of_the_later_plan(before: str, after: str, changes: str) -> None:
    signs = {"added": "+", "removed": "-", "moved": "~", "changed": "!"}
    found = "".join(signs[one.how] + one.step.title for one in step_changes(steps(*before), steps(*after)))
    assert found == changes


def test_a_step_that_waits_for_another_is_changed_and_one_with_another_id_is_not() -> None:
    assert step_changes(steps("a", "b", b=("s0",)), steps("x", "a", "b", b=("s1",)))[0].how == "added"
    [added, changed] = step_changes(steps("a", "b", b=("s0",)), steps("x", "a", "b", b=("s0",)))
    assert (added.step.title, changed.how, changed.step.title) == ("x", "changed", "b")


@pytest.mark.parametrize(
    "event",
    [{}, {"type": "done"}, {"type": "plan_review_request"}, {"type": "plan_review_request", "request_id": 7}],
)
def test_what_asks_nothing_is_no_request(event: dict[str, Any]) -> None:
    assert review_request(event) is None
