"""A cited file is shown at its line in the console, unless the person named a program for that."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import console

from hitl_tui.console.dialogs.text_viewer import SourceViewer
from hitl_tui.console.source_opening import open_file
from hitl_tui.supervisor.answer_sources import lines_around


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR", "PAGER"):
        monkeypatch.delenv(name, raising=False)


async def test_a_long_file_is_shown_at_its_line_and_left_by_escape(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("".join(f"entry {n} {'x' * (n % 200)}\n" for n in range(1, 2001)), encoding="utf-8")
    async with console(tmp_path / "d", size=(80, 24)) as c:
        shown = c.app.run_worker(open_file(c.app, file, 1500))
        await c.until(lambda: isinstance(c.app.screen, SourceViewer), "the file")
        viewer = c.app.screen
        assert isinstance(viewer, SourceViewer)

        def lines() -> list[str]:
            strips = viewer._compositor.render_strips()
            return ["".join(part.text for part in strip) for strip in strips]

        await c.until(lambda: any("1500" in line and "entry 1500" in line for line in lines()), "its line")
        assert any("log.txt:1500" in line for line in lines())
        await c.press("escape")
        await c.until(lambda: shown.is_finished, "back")
        assert c.app.screen is not viewer


def test_of_a_very_long_file_the_lines_around_are_read(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("".join(f"{n}\n" for n in range(1, 30_001)), encoding="utf-8")
    around = lines_around(file, 20_000)
    assert around.more and around.first < 20_000 and around.lines[20_000 - around.first] == "20000"
    file.write_bytes("한국어\n".encode("cp949"))
    assert lines_around(file, 1).lines == ("한국어",) and not lines_around(file, 1).more
