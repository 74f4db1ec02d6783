"""Figures that commands print, and how two runs of a measurement differ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from hitl_tui.teams.analysis.computation import measured_steps
from hitl_tui.teams.printed_deletions import deleted
from hitl_tui.teams.printed_figures import Run, amount, differences, figures, run_of


def run(number: int, argv: str, output: str) -> Run:
    return Run(f"todo_{number:03d}", argv.split()[0], tuple(argv.split()), output)


@pytest.mark.parametrize(
    ("line", "label", "value", "sized"),
    [
        ("4.0M\tweb/var log", "web/var log", 4 * 1024**2, True),
        ("  780K  web/a", "web/a", 780 * 1024, True),
        ("1.5GiB x/y", "x/y", Fraction(3, 2) * 1024**3, True),
        ("120 sales.csv", "sales.csv", 120, False),
        ("Duplicates left: 1,200.", "Duplicates left", 1200, False),
        ("남은 레코드: 12", "남은 레코드", 12, False),
    ],
)
def test_a_line_that_names_one_figure_is_read(line: str, label: str, value: Fraction, sized: bool) -> None:
    (found,) = figures(line).values()
    assert (found.label, found.value, found.sized) == (label, value, sized)


@pytest.mark.parametrize(
    "line", ["", "10,000 records deleted, 12 left", "logs/a-20260301.gz", "1.2.3 x", "done", "=5", "5"]
)
def test_a_line_that_names_none_or_several_is_not(line: str) -> None:
    assert figures(line) == {}


def test_a_label_that_comes_twice_says_nothing() -> None:
    assert figures("1 a\n2 a\n3 b") == figures("3 b")


def test_the_same_measurement_before_and_after_differs() -> None:
    runs = [
        run(1, "count db", "rows: 22\nbad: 10\n"),
        run(2, "fix db", "fixed: 10\n"),
        run(3, "count db", "rows: 12\nbad: 10"),
    ]
    (rows, bad) = differences(runs)
    assert (rows.before.text, rows.after.text, rows.apart, rows.earlier, rows.later) == (
        "22",
        "12",
        "10",
        "todo_001",
        "todo_003",
    )
    assert not bad.changed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("du -h srv", "4M\tsrv/a"), ("wc -c srv/a", "3M srv/a")),
        (("du -k srv", "40\tsrv/a"), ("du -m srv", "1\tsrv/a")),
        (("du -h srv", "4M\tsrv/a"), ("du -h --apparent-size srv", "3M\tsrv/a")),
        (("du -ch a", "4M\ttotal"), ("du -ch b", "3M\ttotal")),
        (("count a", "rows: 4"), ("count b", "rows: 5")),
    ],
)
def test_figures_of_different_things_are_not_compared(before: tuple[str, str], after: tuple[str, str]) -> None:
    assert differences([run(1, *before), run(2, *after)]) == ()


def test_amounts_are_written_as_commands_write_them() -> None:
    assert [amount(Fraction(n), sized=True) for n in (0, 500, 1024, 3316 * 1024, 50 * 1024**2)] == [
        "0", "500", "1K", "3.2M", "50M",
    ]  # fmt: skip
    assert amount(Fraction(12345), sized=False) == "12,345"


@pytest.mark.parametrize(
    ("argv", "output", "gone"),
    [
        ("/usr/bin/find x -type f -print -delete", "x/a\nx/b c\n", ["x/a", "x/b c"]),
        ("find x -print", "x/a\n", None),
        ("find x -delete -print", "x/a\n", None),
        ("rm -v a b", "removed 'a'\nremoved directory 'b'\nother\n", ["a", "b"]),
        ("rm a", "", None),
    ],
)
def test_only_a_command_line_that_names_what_it_deletes_says_what_was_deleted(
    argv: str, output: str, gone: list[str] | None
) -> None:
    assert deleted(run(1, argv, output)) == gone


@pytest.mark.parametrize("data", [None, {}, {"command": 5}, {"passages": []}])
def test_what_is_no_command_s_result_is_no_run(data: Any) -> None:
    assert run_of("todo_001", {"data": data}) is None


def test_a_difference_is_a_step_that_names_where_it_comes_from() -> None:
    runs = [run(2, "du -h srv", "4.0M\tsrv/a\n1K\tsrv/b"), run(4, "du -sh srv/a", "780K\tsrv/a\n1K\tsrv/b")]
    (step,) = measured_steps(runs, "en")
    assert (step.what, step.value) == ("srv/a, before and after", "about 3.2M less (4.0M → 780K)")
    assert step.sources == ("todo_002", "todo_004")
    (korean,) = measured_steps(runs, "ko")
    assert korean.value == "약 3.2M 감소 (4.0M → 780K)"
