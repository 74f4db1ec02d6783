"""The workspace is indexed while its first screen is seen: how far it is stands in the header, a search waits (C6)."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from console_support import Console, console
from textual.widgets import Static

from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.teams.search import index_build
from hitl_tui.teams.search.index_build import IndexPlace

pytestmark = pytest.mark.long

FILES = 250


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"note{number:03}.md").write_text(f"# Note {number}\n\nThe otter {number} eats {number} fish.\n")
    return folder


@contextmanager
def built_elsewhere(data: Path, workspace: Path, progress: bytes) -> Iterator[None]:
    """Hold the index as another console does that builds it."""
    file = IndexPlace(workspace, ["."], data / "cache", {}).file
    data.mkdir(mode=0o700)
    file.parent.mkdir(mode=0o700)
    with file.with_name(file.name + ".build").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(progress)
        other.flush()
        yield


def header(seen: Console) -> str:
    return seen.app.screen.query_one(HeaderBar).doing


def facts(seen: Console) -> str:
    return str(seen.app.home.query_one("#home-facts", Static).content)


async def test_how_far_the_index_is_stands_in_the_header_and_a_search_waits_for_it(
    tmp_path: Path, workspace: Path
) -> None:
    data = tmp_path / "data"
    with ExitStack() as held:
        held.enter_context(built_elsewhere(data, workspace, b"100 250\n"))
        async with console(data, workspace) as seen:
            await seen.until(lambda: header(seen) == "indexing ████░░░░░░ 40%", "the header of the first screen")
            await seen.send("What does the otter 17 eat?")
            await seen.asked()
            await seen.until(lambda: header(seen) == "indexing ████░░░░░░ 40%", "the header of the session")
            await seen.to_question()
            await seen.press("1")
            await seen.until(lambda: "100 of 250" in said(seen), "the search's own progress")
            assert seen.status("todo_001") == "in_progress"
            held.close()
            await seen.until(lambda: seen.status("todo_001") == "completed", "the search")
            await seen.until(lambda: header(seen) == "", "the end in the header")
            assert "note017.md" in str(seen.snapshot.response)


async def test_a_session_of_another_folder_does_not_show_how_far_the_index_is(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    with built_elsewhere(data, workspace, b"100 250\n"):
        async with console(data, workspace) as seen:
            await seen.until(lambda: header(seen) == "indexing ████░░░░░░ 40%", "the header of the first screen")
            await seen.send("1")
            await seen.asked()
            assert Path(seen.snapshot.workspace) != workspace
            shown = seen.app.home.query_one(HeaderBar)
            shown.doing = ""
            await seen.until(lambda: shown.doing == "indexing ████░░░░░░ 40%", "the header of the first screen again")
            assert header(seen) == ""


def said(seen: Console) -> str:
    assert seen.session.handle is not None
    return " ".join(entry.text for entry in seen.session.handle.session.activity.lines)


async def test_a_very_large_folder_is_indexed_when_a_person_says_so(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_build, "ASKED_FROM", FILES - 1)
    async with console(tmp_path / "data", workspace) as seen:
        await seen.until(lambda: "250 files, not indexed yet: /index" in facts(seen), "the question")
        await seen.send("/index")
        await seen.until(lambda: seen.message == "Indexed workspace", "the index")
        assert "/index" not in facts(seen)


async def test_what_is_indexed_is_the_folder_of_the_session_on_the_screen(tmp_path: Path, workspace: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "cap.md").write_text("# Cap\n\nThe cap is five percent.\n", encoding="utf-8")
    async with console(tmp_path / "d", other, query="The cap") as c:
        await c.asked()
    async with console(tmp_path / "d", workspace, session="s1") as c:
        await c.asked()
        await c.until(lambda: not c.app.preparation._running, "that the console's own folder is ready")
        await c.send("/index")
        await c.until(lambda: c.message == "Indexed other", "the session's folder")
