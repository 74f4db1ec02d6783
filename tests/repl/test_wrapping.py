"""Lines longer than the terminal is wide: no word is broken, nothing is lost, what is copied stays whole (C9)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.safe_text import cell_width, safe_text
from hitl_tui.wording.text_lines import Whole, terminal_width, wrapped


def test_words_are_kept_together_and_the_rest_is_indented_deeper() -> None:
    assert wrapped(["  Purpose: Finds the passages an answer rests on"], 24) == [
        "  Purpose: Finds the",
        "    passages an answer",
        "    rests on",
    ]


def test_what_fits_stays_as_it_is() -> None:
    assert wrapped(["a  b ", "", "x" * 20, "전" * 10], 20) == ["a  b ", "", "x" * 20, "전" * 10]


def test_a_command_is_never_broken() -> None:
    command = Whole("    approve  /todo approve todo_001 --digest 17039d4cd579")
    assert wrapped([command], 30) == [command]


def test_a_word_longer_than_a_line_is_left_to_the_terminal() -> None:
    assert wrapped(["see https://example.com/a/very/long/path and go"], 20) == [
        "see",
        "  https://example.com/a/very/long/path",
        "  and go",
    ]


def test_korean_is_broken_at_its_spaces_where_that_leaves_no_gap() -> None:
    assert wrapped(["집주인이 전세금을 올려달래. 법적으로"], 30) == ["집주인이 전세금을 올려달래.", "  법적으로"]


def test_text_without_spaces_is_broken_between_wide_letters() -> None:
    assert wrapped(["質問:" + "漢" * 20 + "。"], 21) == ["質問:" + "漢" * 8, "  " + "漢" * 9, "  " + "漢漢漢。"]
    assert wrapped(["漢" * 10 + "。" + "字" * 3], 20) == ["漢" * 9, "  漢。字字字"]


def test_spaces_within_quotes_are_not_lost() -> None:
    assert wrapped(['query: "two  spaces here  count all"'], 20) == ['query: "two  spaces', '  here  count all"']
    assert wrapped([r'query: "a \" quote  and two"'], 20) == [r'query: "a \"', '  quote  and two"']


def test_a_deep_line_in_a_narrow_terminal_keeps_room() -> None:
    assert all(cell_width(part) <= 24 for part in wrapped([" " * 60 + "so many words in here"], 24))


def test_a_pipe_and_an_unknown_width_break_nothing() -> None:
    assert wrapped(["word " * 100], 0) == ["word " * 100]
    assert terminal_width(None) == 0
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        assert terminal_width(nothing) == 0


@pytest.mark.parametrize("text", ["a " * 500_000, " " * 1_000_000, "x" * 1_000_000, "漢" * 500_000])
def test_the_longest_line_takes_no_time_to_speak_of(text: str) -> None:
    begun = time.perf_counter()
    wrapped([text], 80)
    assert time.perf_counter() - begun < 10


@given(st.text(st.sampled_from('ab "\\전漢。é👩🏽‍🚒'), max_size=200), st.integers(20, 50))
def test_nothing_but_spaces_is_taken_out_and_every_line_that_can_fits(text: str, width: int) -> None:
    line = safe_text(text, multiline=False)
    parts = wrapped([line], width)
    assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    for part in parts:
        words = part.split()
        assert cell_width(part) <= width or len(words) == 1 or '"' in line
