"""Thousands of lines: only those in sight are made, and they are the ones that laying out all at once would give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual.content import Content

from hitl_tui.console.row_layout import layout_lines
from hitl_tui.console.widgets.virtual_rows import NARROWEST, VirtualRows
from hitl_tui.wording.rows import Row, labelled, quoted_row, styled, text_row

LETTERS = st.sampled_from("aab, 가나한 \N{COMBINING ACUTE ACCENT}\N{IDEOGRAPHIC SPACE}│── \n") | st.sampled_from("ab  ")
TEXTS = st.text(LETTERS, max_size=160) | st.lists(st.text("abc가나", max_size=12), max_size=30).map(" ".join)
LABELS = st.sampled_from(["", "001", "  with", "  보증금", "a label that is longer than others", "l" * 60])
ROWS = st.lists(
    st.builds(lambda label, text, exact: Row(label, styled(text), exact), LABELS, TEXTS, st.booleans())
    | TEXTS.map(quoted_row)
    | TEXTS.map(lambda text: text_row("── " + text)),
    max_size=6,
)


@given(ROWS, st.integers(NARROWEST, 130))
@example([labelled("001", "word " * 30), labelled("  with", "x" * 300, exact=True), text_row("")], 60)
@example([labelled("a label", "one\n\ntwo\n" * 3 + "word " * 30, "bold"), text_row("\n"), text_row("a\n── b\n")], 50)
@example([labelled("001", "가 " * 50 + "나" * 90, exact=True), text_row("a  b" * 40 + "   ")], 40)
def test_lines_made_one_by_one_are_those_made_at_once(rows: list[Row], width: int) -> None:
    laid, whole = VirtualRows(rows, width), layout_lines(rows, width)
    assert [(line.plain, line.spans) for line in laid] == [(line.plain, line.spans) for line in whole]
    assert all(line.cell_length <= width for line in laid)
    assert laid[::-2] == whole[::-2] and (not whole or laid[-1] == whole[-1])


def test_only_lines_that_are_asked_for_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[str] = []
    wrap = Content.wrap

    def counted(content: Content, *args: Any, **options: Any) -> list[Content]:
        broken.append(content.plain)
        return wrap(content, *args, **options)

    text = styled("한 step with some words " * 9)
    whole = len(layout_lines([Row("1", text)], 80))
    monkeypatch.setattr(Content, "wrap", counted)
    laid = VirtualRows([Row(f"{n}", text) for n in range(500)], 80)
    assert len(laid) == whole * 500
    assert broken == []
    assert "한 step" in laid[0].plain and broken == [text.plain]
