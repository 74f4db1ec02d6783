"""Key reports as terminals send them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import _parser, events

from hitl_tui.terminal.textual_driver import TolerantParser, plain_report


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


def told(*chunks: str) -> list[tuple[str, str]]:
    """Return what a parser makes of what comes in these pieces: keys and pastes."""
    parser, found = TolerantParser(), []
    for chunk in chunks:
        for event in parser.feed(chunk):
            if isinstance(event, events.Key):
                found.append(("key", event.key))
            elif isinstance(event, events.Paste):
                found.append(("paste", event.text))
    return found


@given(st.text(alphabet="a1\r\n\x1b[]O;m~ㅁ\x9b", max_size=40), st.data())
def test_what_is_pasted_is_never_a_key_however_it_is_split(text: str, data: st.DataObject) -> None:
    pasted = text.replace("\x1b[201~", "")
    stream = f"x\x1b[200~{pasted}\x1b[201~y"
    cuts = data.draw(st.lists(st.integers(1, len(stream) - 1), max_size=5))  # the same twice: nothing came
    places = [0, *sorted(cuts), len(stream)]
    found = told(*(stream[a:b] for a, b in itertools.pairwise(places)))
    assert [name for kind, name in found if kind == "key" and name != "escape"] == ["x", "y"]
    assert [shown for kind, shown in found if kind == "paste"] == [pasted.replace("\x1b", "")]


def test_a_paste_with_colours_and_the_ends_of_lines_is_text() -> None:
    stream = "\x1b[200~red \x1b[31mred\r/todo approve\rmore\x1b[201~"
    assert told(stream) == [("paste", "red [31mred\r/todo approve\rmore")]
    assert told(*stream) == [("paste", "red [31mred\r/todo approve\rmore")], "nor one character at a time"


def test_an_escape_and_what_begins_like_a_paste_are_keys_still() -> None:
    parser = TolerantParser()
    assert [e.key for e in parser.feed("\x1b[2") if isinstance(e, events.Key)] == []
    assert [e.key for e in parser.feed("4~a") if isinstance(e, events.Key)] == ["f12", "a"]
    assert list(parser.feed("\x1b")) == []
    assert [e.key for e in parser.end() if isinstance(e, events.Key)] == ["escape"]
    assert told("\x1b[", "A") == told("\x1b[", "", "A") == [("key", "up")]


def test_what_is_typed_after_an_escape_key_is_there_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = TolerantParser()
    assert list(parser.feed("\x1b")) == []
    later = _parser.get_time() + 1.0
    monkeypatch.setattr(_parser, "get_time", lambda: later)
    assert [e.key for e in parser.tick() if isinstance(e, events.Key)] == ["escape"]
    assert [e.character for e in parser.feed("[") if isinstance(e, events.Key)] == ["["]
