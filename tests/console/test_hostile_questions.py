"""Questions made to be approved without being seen whole, or to look like something else (C3, C10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from console_support import Clock, Console

from hitl_tui.config.declared_graphs import Attachment, GraphDeclaration
from hitl_tui.console.app import HitlApp
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.supervisor.open_options import OpenOptions

GRAPHS = Path(__file__).parents[1] / "terminal" / "hostile_graph.py"
LAST = "AND DELETE THE BACKUPS"
pytestmark = pytest.mark.long


@asynccontextmanager
async def asking(folder: Path, name: str) -> AsyncIterator[Console]:
    """Run the console on a graph until that asks from inside."""
    work, clock = folder / "w", Clock()
    work.mkdir()
    graph = GraphDeclaration(name, f"{GRAPHS}:{name}", str(GRAPHS.parent))
    options = OpenOptions(folder / "d", work, "", "", "ops", "{}", Attachment(graph, "{}", True))
    app = HitlApp(options, clock)
    async with app.run_test(size=(120, 40)) as pilot:
        try:
            c = Console(app, pilot, clock)
            await c.until(lambda: c.shown() and c.panel.question and c.panel.question.shape, "its question")
            yield c
        finally:
            await app.engine.close()


def to_read(c: Console) -> list[str]:
    """What has to be read, line by line."""
    rows = c.panel.query_one(Rows)
    return [line.plain for line in layout_lines(rows.rows, rows.size.width)]


async def test_an_option_is_shown_to_its_end(tmp_path: Path) -> None:
    async with asking(tmp_path, "option") as c:
        assert LAST in " ".join(" ".join(to_read(c)).split())


async def test_the_name_of_a_value_is_shown_to_its_end(tmp_path: Path) -> None:
    async with asking(tmp_path, "key") as c:
        assert LAST in " ".join(" ".join(to_read(c)).split())


async def test_what_an_agent_says_cannot_look_like_what_would_run(tmp_path: Path) -> None:
    async with asking(tmp_path, "claim") as c:
        lines = to_read(c)
        assert any("Read a file" in line for line in lines)
        assert not [
            line for line in lines if line.startswith(("asks          Read", "path          /tmp", "from          a"))
        ]
