"""An answer of thousands of blocks is drawn as lines; one that a person reads at a glance looks as it always did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets._markdown import MarkdownFence, MarkdownHeader

from hitl_tui.console.widgets.answer_pane import AnswerPane, parser
from hitl_tui.console.widgets.answer_table import DrawnTable
from hitl_tui.console.widgets.folded_markdown import MOST_BLOCKS, rows_of
from hitl_tui.console.widgets.virtual_rows import Rows


class _Answered(App[None]):
    CSS_PATH = Path(__file__).resolve().parents[2] / "hitl_tui" / "console" / "widgets" / "panes.tcss"

    def compose(self) -> ComposeResult:
        yield AnswerPane()


def told(steps: int) -> str:
    """Return an answer as that of so many declared commands."""
    done = "\n".join(f"- `say`: `step {n}`" for n in range(1, steps + 1))
    part = "### Say step {n}\n\n```text\necho 'step {n}'\n```\n\nExit code 0.\n\nOutput:\n\n```text\nstep {n}\n```"
    evidence = "\n\n".join(part.format(n=n) for n in range(1, steps + 1))
    return f"## Answer\n\n**What was done**\n\n{done}\n\n## Evidence\n\n{evidence}\n"


async def shown(steps: int) -> tuple[int, int, list[str]]:
    """Return how many widgets an answer takes, how high it is, and its lines."""
    app = _Answered()
    async with app.run_test(size=(80, 20)) as pilot:
        pane = app.query_one(AnswerPane)
        pane.add_class("-seen")
        await pane.show({"text": told(steps)})
        await pilot.pause()
        lines = [line for rows in pane.query(Rows) for line in rows.texts]
        return len(pane.query("*")), pane.virtual_size.height, lines


async def test_the_widgets_of_a_long_answer_dont_grow_with_it() -> None:
    hundred, height, _ = await shown(100)
    five, higher, lines = await shown(500)
    assert hundred == five < 10
    assert height > 1000
    assert abs(higher - 5 * height) < 50, "all of it can be scrolled to"
    assert "• say: step 1" in lines and "step 500" in lines and "echo 'step 500'" in lines


async def test_a_long_answer_is_laid_out_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    laid: list[int] = []
    lay = Rows.lay

    def counted(rows: Rows, width: int) -> Sequence[Content]:
        laid.append(width)
        return lay(rows, width)

    monkeypatch.setattr(Rows, "lay", counted)
    await shown(500)
    assert 0 < len(laid) <= 4


async def test_a_short_answer_is_still_made_of_blocks() -> None:
    app = _Answered()
    async with app.run_test(size=(80, 20)) as pilot:
        pane = app.query_one(AnswerPane)
        pane.add_class("-seen")
        await pane.show({"text": told(3)})
        await pilot.pause()
        assert len(pane.query(MarkdownHeader)) == 5 and len(pane.query(MarkdownFence)) == 6
        await pane.show({"text": told(300)})
        await pilot.pause()
        assert not pane.query(MarkdownHeader)
        await pane.show({"text": told(3)})
        await pilot.pause()
        assert len(pane.query(MarkdownHeader)) == 5, "the next one is short again"


async def test_a_table_amid_a_long_answer_stays_a_table() -> None:
    app = _Answered()
    async with app.run_test(size=(80, 20)) as pilot:
        pane = app.query_one(AnswerPane)
        pane.add_class("-seen")
        many = "\n\n".join(f"Part {n}" for n in range(MOST_BLOCKS))
        await pane.show({"text": f"{many}\n\n| name | tier |\n| --- | --- |\n| one | A |\n\nEnd.\n"})
        await pilot.pause()
        assert len(pane.query(DrawnTable)) == 1
        assert [rows.texts[0] for rows in pane.query(Rows)] == ["Part 0", "End."]


def test_lines_keep_what_the_blocks_say() -> None:
    text = """# Head **bold**

- one `co``de`
  further
  - deeper ``a`b``
- two

3. three
4. four

> quoted
> - item

~~old~~ *so* <b>&lt; [a](b)

```
 code
  more
```
"""
    rows = list(rows_of(parser().parse(text)))
    assert [row.text.plain for row in rows] == [
        "Head bold",
        "",
        "• one co``de",
        "  further",
        "  • deeper a`b",
        "• two",
        "",
        "3. three",
        "4. four",
        "",
        "  │ quoted",
        "  │ • item",
        "",
        "old so <b>&lt; [a](b)",
        "",
        " code",
        "  more",
        "",
    ]
    assert rows[0].text.spans[0].style == "bold $text-primary"
    assert rows[15].exact
