"""What Tab offers in the console is what there is now (C1)."""

from __future__ import annotations

from pathlib import Path

from console_support import Console, command_workspace, console


def offered(c: Console, line: str) -> list[str]:
    return [found.text for found in c.session.completions(line, len(line))]


async def test_parameters_of_declared_commands_are_offered(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="What is the cap?") as c:
        await c.asked()
        assert offered(c, "/todo add ke") == ["keep"]
        assert offered(c, "/todo add keep ") == ["file="]
        await c.send("/todo add keep file=one")
        await c.until(lambda: c.status("todo_002"), "the step")
        assert offered(c, "/todo edit 002 fi") == ["file="]


async def test_sessions_that_were_begun_since_are_offered_by_name(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="What is the cap?") as c:
        await c.asked()
        await c.press(*"/open ")
        await c.until(lambda: offered(c, "/open ") == ["s1"], "the session itself")
        await c.press("ctrl+u")
        await c.send("/new What is the rent?")
        await c.until(lambda: c.app.sessions.opened == "s2" and c.session.snapshot is not None, "another session")
        await c.asked()
        await c.press(*"/delete ")
        await c.until(lambda: offered(c, "/delete ") == ["s2", "s1"], "both, the newest first")
