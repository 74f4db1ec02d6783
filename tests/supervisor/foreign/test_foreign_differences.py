"""What differs between two states, and only that (I9)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.threads.state_diff import (
    ABSENT,
    ValueChange,
    change_document,
    differences,
    from_difference,
    lines_apart,
)
from hitl_tui.wording.difference_rows import value_row


def said(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the differences in short."""
    found = [change_document(c) for c in differences(before, after)]
    return [f"{c['change']} {'.'.join(c['path'])}" for c in found]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, ["changed a"]),
        ({"a": 0}, {"a": None}, ["changed a"]),
        ({"a": [1]}, {"a": [True]}, ["changed a.0"]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 2}}, ["changed a.b", "removed a.c"]),
        ({"a": [1, 2]}, {"a": [1, 2, 3, 4]}, ["added a.2", "added a.3"]),
        ({"a": [1, 2, 3]}, {"a": [2, 3]}, ["removed a.0"]),
        ({"m": [{"id": 1, "t": "x"}]}, {"m": [{"id": 1, "t": "y"}]}, ["changed m.0.t"]),
        ({"a": [1]}, {"a": {"0": 1}}, ["changed a"]),
        ({"a": 1}, {"b": 1}, ["removed a", "added b"]),
    ],
)
def test_differences_are_as_small_as_they_can_be(
    before: dict[str, Any], after: dict[str, Any], expected: list[str]
) -> None:
    assert said(before, after) == expected


def test_long_lists_cost_little() -> None:
    before, after = {"a": list(range(50_000))}, {"a": [-1, *range(50_000)]}
    assert len(differences(before, after)) == 50_001


STATES = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 3),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
        max_leaves=8,
    ),
)


@given(STATES, STATES)
def test_states_differ_exactly_when_differences_are_found(before: dict[str, Any], after: dict[str, Any]) -> None:
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (not differences(before, after)) == same
    for change in differences(before, after):
        assert change.before is not ABSENT or change.after is not ABSENT


@given(STATES)
def test_a_state_does_not_differ_from_its_copy(state: dict[str, Any]) -> None:
    assert differences(state, copy.deepcopy(state)) == []


def test_what_is_shown_of_two_long_values_begins_where_they_differ() -> None:
    old, new = "x" * 200 + "old", "x" * 200 + "new"
    assert from_difference(old, new, 120) == (f"…{'x' * 20}old", f"…{'x' * 20}new")
    assert from_difference("short old", "short new", 120) == ("short old", "short new")
    row = value_row(ValueChange(("out",), ["x" * 400, 1], ["x" * 400, 2])).text.plain
    assert row == f'~ out: …{"x" * 17}", 1] → …{"x" * 17}", 2]'


def test_long_texts_of_several_lines_differ_line_by_line() -> None:
    lines = [f"line {n} of a longer text" for n in range(40)]
    old, new = "\n".join(lines), "\n".join([*lines[:20], "another", *lines[21:]])
    apart = ["@@ -20,3 +20,3 @@", f" {lines[19]}", f"-{lines[20]}", "+another", f" {lines[21]}"]
    assert lines_apart(old, new, 120) == apart
    assert value_row(ValueChange(("out",), old, new)).text.plain.split("\n") == [
        "~ out:",
        *(f"  {one}" for one in apart),
    ]
    assert lines_apart("one\ntwo", "one\nthree", 120) == [], "that is short"
    assert lines_apart(old, None, 120) == []
