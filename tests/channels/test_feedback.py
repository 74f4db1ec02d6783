"""Feedback objects are read strictly: what isn't exactly one decides nothing, and the reason is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from feedback_support import APPROVED, REVISE
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.channels.plan_feedback.feedback import LARGEST, Feedback, Problem, read

GOOD = {"approved": True, "feedback": "", "timestamp": "2026-11-27T09:30:00"}


def test_three_keys_are_enough_and_a_time_without_zone_is_utc() -> None:
    found = read(json.dumps(GOOD).encode())
    assert found == Feedback(True, "", datetime(2026, 11, 27, 9, 30, tzinfo=UTC))


def test_what_our_client_writes_is_read_again() -> None:
    named = Feedback(False, "검색만", APPROVED.timestamp, "ab" * 32, "kim")
    for feedback in (APPROVED, REVISE, named):
        assert read(feedback.to_bytes("r1"), "r1") == feedback


def test_keys_of_other_clients_are_left_alone() -> None:
    assert isinstance(read(json.dumps({**GOOD, "client": "curl"}).encode()), Feedback)


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-27"])
def test_a_time_from_any_clock_is_fine(stamp: str) -> None:
    found = read(json.dumps({**GOOD, "timestamp": stamp}).encode())
    assert isinstance(found, Feedback)
    assert isinstance(found.timestamp.utcoffset(), timedelta)
    assert read(found.to_bytes()) == found


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "isn't JSON"),
        (b"{", "isn't JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b"[]", "object"),
        (b"[" * 60_000, "nested"),
        (b'{"approved": true, "approved": false, "feedback": "", "timestamp": "2026-01-01"}', "twice"),
        ({**GOOD, "approved": "true"}, '"approved" has to be'),
        ({**GOOD, "approved": 1}, '"approved" has to be'),
        ({**GOOD, "approved": None}, '"approved" has to be'),
        ({**GOOD, "approved": False}, "what to change"),
        ({**GOOD, "feedback": None}, '"feedback" has to be'),
        ({**GOOD, "feedback": "\ud800"}, "surrogate"),
        ({**GOOD, "timestamp": 1764}, '"timestamp" has to be'),
        ({**GOOD, "timestamp": "yesterday"}, '"timestamp" has to be'),
        ({**GOOD, "digest": "all"}, '"digest" has to be'),
        ({**GOOD, "reviewer": ["a"]}, '"reviewer" has to be'),
        ({"approved": True, "feedback": ""}, 'lacks "timestamp"'),
        ({"approved": True, "timestamp": "2026-01-01"}, 'lacks "feedback"'),
        ({"feedback": "", "timestamp": "2026-01-01"}, 'lacks "approved"'),
    ],
)
def test_what_is_malformed_is_named(data: bytes | dict[str, object], reason: str) -> None:
    found = read(data if isinstance(data, bytes) else json.dumps(data).encode())
    assert isinstance(found, Problem)
    assert found.kind == "malformed"
    assert reason in found.reason


def test_what_answers_another_request_is_foreign() -> None:
    found = read(APPROVED.to_bytes("r2"), "r1")
    assert isinstance(found, Problem)
    assert found.kind == "foreign"
    assert "r2" in found.reason


def test_64_kb_are_read_and_no_byte_more() -> None:
    data = json.dumps(GOOD).encode()
    assert isinstance(read(data.ljust(LARGEST)), Feedback)
    found = read(data.ljust(LARGEST + 1))
    assert isinstance(found, Problem)
    assert found.kind == "oversized"


@given(
    st.one_of(st.binary(max_size=200), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
)
def test_nothing_makes_reading_fail(data: object) -> None:
    found = read(data if isinstance(data, bytes) else json.dumps({**GOOD, "feedback": data}).encode())
    assert isinstance(found, Problem | Feedback)
