"""Dialogs in little room: what decides is always on the screen, and nothing that is edited is hidden (C2, C3)."""

from __future__ import annotations

import time

import pytest
from console_support import Unheard
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Button, Static
from textual.widgets._tooltip import Tooltip

from hitl_tui.console.dialogs.form_fields import EditArea
from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.widgets.action_bar import ReplayAction
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.fitted_layout import shared

pytestmark = pytest.mark.long

LONG = "\n".join(f"What would happen, part {n}." for n in range(40))
KOREAN = (
    "문서에서 다음 물음에 답이 되는 구절을 찾습니다: 집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
)


class Guarded(App[None]):
    """An app with a guard of the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.guard = KeyGuard(Unheard(), time.monotonic)


def drawn(app: App[None]) -> list[str]:
    """Return the rows of the screen."""
    return [strip.text for strip in app.screen._compositor.render_strips(app.size)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("wanted", "room", "found"),
    [((3, 9), 20, [3, 9]), ((3, 9), 8, [3, 5]), ((9, 9), 7, [3, 4]), ((5, 5, 5), 2, [1, 1, 1]), ((), 4, [])],
)
def test_rows_are_shared_out(wanted: tuple[int, ...], room: int, found: list[int]) -> None:
    assert shared(wanted, room) == found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 12), (30, 9)])
async def test_a_long_text_never_hides_the_buttons(size: tuple[int, int]) -> None:
    app = Guarded()
    async with app.run_test(size=size) as pilot:
        app.push_screen(ConfirmDialog("Restore", Content(LONG), "Restore all"))
        await pilot.pause()
        rows = drawn(app)
        dialog = app.screen.query_one("#confirm")
        for button in app.screen.query(Button):
            assert dialog.content_region.contains_region(button.region.shrink((0, 0, 0, 1)))
            assert str(button.label) in rows[button.region.y]


async def test_a_short_text_makes_a_low_dialog() -> None:
    app = Guarded()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(ConfirmDialog("Restore", Content("Nothing is executed."), "Restore"))
        await pilot.pause()
        assert app.screen.query_one("#confirm").size.height == len(["the text", "", "the buttons"])
        assert app.screen.query_one(Static).size.height == 1


async def test_another_width_leaves_no_word_out() -> None:
    class Editing(App[None]):
        CSS = "EditArea { height: 2; }"

        def compose(self) -> ComposeResult:
            yield EditArea(KOREAN, compact=True)

    app = Editing()
    async with app.run_test(size=(104, 12)) as pilot:
        for width in (104, 68, 104, 72):  # always two lines, broken at different places
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            assert "".join("".join(drawn(app)).split()).startswith("".join(KOREAN.split()))


async def test_a_reason_under_the_pointer_is_harmless() -> None:
    class Acting(App[None]):
        TOOLTIP_DELAY = 0.01

        def compose(self) -> ComposeResult:
            yield ReplayAction(4, "Restore")

    app = Acting()
    async with app.run_test(tooltips=True) as pilot:
        app.query_one(ReplayAction).show("\x1b[2J [link=x]y[/link] \u202eevil\u200b", chosen=False)
        await pilot.hover(ReplayAction)
        while not app.screen.query_one(Tooltip).display:
            await pilot.pause(0.01)
        text = "\n".join(drawn(app))
        assert "[link=x]y[/link]" in text
        assert not {"\x1b", "\u202e", "\u200b"} & set(text)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("width", [120, 80, 60, 40])
async def test_the_mode_is_always_in_the_header(width: int) -> None:
    app: App[None] = App()
    async with app.run_test(size=(width, 12)) as pilot:
        bar = HeaderBar()
        await app.mount(bar)
        bar.session, bar.mode, bar.status = "s1", "ASK EVERY STEP", "● 1 needs you"
        bar.title_text = "The landlord wants to raise my deposit to a billion won"
        await pilot.pause()
        assert "ASK EVERY STEP" in drawn(app)[0]
        assert "● 1 needs you" in drawn(app)[0]
