"""The model of a session, in the palette and where the console says where a person is."""

from __future__ import annotations

from pathlib import Path

from console_support import EXAMPLE, console

from hitl_tui.console.dialogs.prompt_dialogs import LineDialog


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
