"""In the program's own source the first screen offers the starters before it searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import Console, console
from textual.widgets import OptionList, Static

from hitl_tui.config.starters import is_own_source, starters
from hitl_tui.console.widgets.prompt_line import Prompt


def project(folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
    (folder / "README.md").write_text("# Caps\n\nThe cap is five percent of the deposit.\n")
    return folder


def title(c: Console) -> str:
    return str(c.app.home.query_one("#starters-title", Static).content)


@pytest.mark.parametrize(
    ("name", "own"), [("hitl-tui", True), ("Hitl.TUI", True), ("hitl-tui-extra", False), ("", False)]
)
def test_the_source_is_known_by_its_name(tmp_path: Path, name: str, own: bool) -> None:
    assert is_own_source(project(tmp_path / "a", name)) is own
    assert not is_own_source(tmp_path)
    (tmp_path / "a" / "pyproject.toml").write_text("project = 3")
    assert not is_own_source(tmp_path / "a")


async def test_the_starter_that_asks_the_same_is_one_key_away(tmp_path: Path) -> None:
    async with console(tmp_path / "data", project(tmp_path / "source", "hitl-tui"), size=(80, 24)) as c:
        await c.until(lambda: c.app.screen.is_mounted, "the first screen")
        cleanup = next(place for place, s in enumerate(starters("en")) if s.key == "cleanup")
        await c.send(" ".join(starters("ko")[cleanup].question.split()))
        assert "own source" in title(c)
        chosen = c.app.home.query_one("#starters", OptionList)
        assert (chosen.has_focus, chosen.highlighted) == (True, cleanup)
        await c.press("enter")
        await c.asked()
        assert Path(c.snapshot.workspace).name == "cleanup"


async def test_asked_again_it_searches_here(tmp_path: Path) -> None:
    source = project(tmp_path / "source", "hitl-tui")
    async with console(tmp_path / "data", source) as c:
        await c.send("What is the cap of the deposit?")
        assert "own source" in title(c)
        await c.press("escape")
        assert c.prompt.text == "What is the cap of the deposit?"
        await c.press("enter")
        await c.asked()
        assert c.snapshot.workspace == str(source.resolve())
        assert "own source" not in title(c)


async def test_the_last_line_of_the_list_searches_here(tmp_path: Path) -> None:
    source = project(tmp_path / "source", "hitl-tui")
    async with console(tmp_path / "data", source) as c:
        await c.send("What is the cap of the deposit?")
        assert "Not asked yet" in c.message
        chosen = c.app.home.query_one("#starters", OptionList)
        assert chosen.highlighted == chosen.option_count - 1, "no starter asks this"
        await c.press("1")
        assert chosen.highlighted == 0
        await c.press(str(chosen.option_count), "enter")
        await c.asked()
        assert c.snapshot.query == "What is the cap of the deposit?"
        assert c.app.home.query_one(Prompt).text == ""


async def test_another_project_is_searched_at_once(tmp_path: Path) -> None:
    other = project(tmp_path / "other", "caps")
    async with console(tmp_path / "data", other) as c:
        await c.send("What is the cap of the deposit?")
        await c.asked()
        assert c.snapshot.workspace == str(other.resolve())
