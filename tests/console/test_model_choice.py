"""The model of a session, in the palette and where the console says where a person is."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import EXAMPLE, console
from scripted_model import Hangs, scripted_model

from hitl_tui.console.dialogs.prompt_dialogs import LineDialog
from hitl_tui.console.widgets.prompt_line import Prompt


@pytest.mark.long
async def test_the_palette_takes_another_model_for_this_session(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query="The cap") as c:
        await c.asked()
        await c.press("f7")
        await c.until(lambda: "/model openai:gpt-5-mini" in c.message, "how to use one")
        entry = next(e for e in c.app.get_system_commands(c.app.screen) if e.title == "Model")
        assert "not now" not in entry.help
        await c.app.run_action("model")
        await c.until(lambda: isinstance(c.app.screen, LineDialog), "the dialog")
        await c.press(*"opnai:x")
        c.clock.rest()
        await c.press("enter")
        await c.until(lambda: 'did you mean "openai"?' in c.message, "why not")
        await c.app.run_action("model")
        await c.until(lambda: isinstance(c.app.screen, LineDialog), "the dialog")
        await c.press(*"none")
        c.clock.rest()
        await c.press("enter")
        await c.until(lambda: "No model" in c.message, "it was taken")


async def test_a_plan_that_a_model_takes_long_for_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    with scripted_model([Hangs()]) as model:
        for name, value in model.environ.items():
            monkeypatch.setenv(name, value)
        async with console(tmp_path, EXAMPLE, query="Is the rise lawful?") as c:
            await c.until(lambda: "openai:scripted is making the plan" in c.message, "who plans")
            await c.press("escape")
            await c.until(lambda: "You gave up the plan; no session was begun." in c.message, "its end")
            assert c.app.screen is c.app.home
            assert c.app.home.query_one(Prompt).text == "Is the rise lawful?"
    assert not list((tmp_path / "sessions").glob("*"))
