"""Months and quarters of a table are shown as its file has them, days as days."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.written_query import run_query
from hitl_tui.teams.analysis.table_answer import brief

MONTHS = "월,지점,매출액\n{0},강남,310\n{1},강남,520\n{2},강남,290\n{0},홍대,700\n{1},홍대,100\n{2},홍대,150\n"


def said(folder: Path, question: str, language: str = "en") -> str:
    return brief(ask(question, table_files(shared(folder))), language).answer


@pytest.mark.parametrize(
    "months",
    [
        ("2026-04", "2026-05", "2026-06"),
        ("2026-4", "2026-5", "2026-6"),
        ("Apr 2026", "May 2026", "Jun 2026"),
        ("2026 1분기", "2026 2분기", "2026 3분기"),
        ("2026-04-30", "2026-05-31", "2026-06-30"),
    ],
)
def test_a_time_is_shown_as_the_file_has_it(tmp_path: Path, months: tuple[str, ...]) -> None:
    (tmp_path / "매출.csv").write_text(MONTHS.format(*months), encoding="utf-8")
    assert said(tmp_path, "강남 지점 매출액이 가장 높은 월은?", "ko").startswith(f"{months[1]}: **520**")
    listed = said(tmp_path, "매출.csv에서 지점이 강남인 행 목록", "ko")
    assert all(f"| {month} | 강남 |" in listed for month in months)


def test_a_written_query_shows_them_so_too(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("month,amount\nApr 2026,3\nMay 2026,5\n", encoding="utf-8")
    rows = run_query("SELECT month, sum(amount) FROM sales GROUP BY month ORDER BY 2 DESC", tmp_path).result.rows
    assert rows == (("May 2026", "5"), ("Apr 2026", "3"))


def test_a_condition_of_whole_months_names_months(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("month,amount\n2026-04,3\n2026-05,5\n2026-06,7\n", encoding="utf-8")
    assert "month = 2026-05)" in said(tmp_path, "total amount in May 2026 in sales.csv")
