"""Whether a command printed what its declaration expects, in words."""

from __future__ import annotations

import pytest

from hitl_tui.config.figure_limits import FigureLimit, figure_name_problem, parse_limit
from hitl_tui.teams.expected_figures import judged


def said(limit: str, output: str | None, name: str = "total", language: str = "en") -> tuple[bool | None, str]:
    (one,) = judged({name: parse_limit(limit)}, output, language)
    return one.met, one.said


@pytest.mark.parametrize(
    ("limit", "output", "met", "words"),
    [
        ("< 3.5M", "2.1M\ttotal", True, "total 2.1 MB, below 3.5 MB as expected"),
        ("<3.5 MiB", "4.0M\ttotal", False, "total 4.0 MB, NOT below 3.5 MiB"),
        ("< 3.5M", "800K total", True, "total 800 KB, below 3.5 MB as expected"),
        ("< 3.5M", "1G total", False, "total 1 GB, NOT below 3.5 MB"),
        ("<= 1,200", "Total: 1200.", True, "Total 1200, at most 1,200 as expected"),
        ("> 3", "total = 3", False, "total 3, NOT above 3"),
        (">= 3", "total = 3", True, "total 3, at least 3 as expected"),
        ("= 0", "total: 0", True, "total 0, 0 as expected"),
        ("= 0", "total: 7", False, "total 7, NOT 0"),
        ("< 70%", "total: 68%", True, "total 68%, below 70% as expected"),
        ("> 0", "4.0M\ttotal", True, "total 4.0 MB, above 0 as expected"),
    ],
)
def test_a_figure_is_held_against_its_limit(limit: str, output: str, met: bool, words: str) -> None:
    assert said(limit, output) == (met, words)


@pytest.mark.parametrize(
    ("limit", "output", "words"),
    [
        ("< 3.5M", "2100\ttotal", "total 2100 can't be compared with the limit: below 3.5 MB is expected"),
        ("< 70%", "1M total", "total 1 MB can't be compared with the limit: below 70% is expected"),
        ("< 3", "1 other", "no single figure total in the output: below 3 is expected"),
        ("< 3", "1 total\n2 total", "no single figure total in the output: below 3 is expected"),
        ("< 3", "", "no single figure total in the output: below 3 is expected"),
        ("< 3", None, "total isn't known: below 3 is expected"),
    ],
)
def test_what_cant_be_told_is_not_met_and_says_why(limit: str, output: str | None, words: str) -> None:
    assert said(limit, output) == (None, words)


def test_a_figure_may_have_a_name_in_each_language_and_stands_after_any_number_of_lines() -> None:
    lines = "".join(f"{n}K\tdir/{n}\n" for n in range(9_000))
    assert said("< 3.5M", f"{lines}2.1M\t합계\n", "total | 합계", "ko") == (True, "합계 2.1 MB, 기준(3.5 MB 미만) 충족")
    assert said("= 5", "합계: 4", "total|합계", "ko") == (False, "합계 4, 기준(5) 미충족")


@pytest.mark.parametrize("text", ["3.5M", "< M", "<> 3", "< -3", "< 3.5X", "below 3", "", 3, None, True, "< 3M\nx"])
def test_what_is_no_limit_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="must be a limit such as"):
        parse_limit(text)


def test_limits_and_names_are_read_as_they_are_written() -> None:
    assert parse_limit(" <= 3.5MB ") == FigureLimit("<=", "3.5", "MB")
    assert not figure_name_problem("Duplicates left|남은 중복")
    assert all(map(figure_name_problem, ("", " ", "a||b", "x" * 300)))
