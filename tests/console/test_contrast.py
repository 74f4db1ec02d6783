"""What is drawn can be read, in every theme: each word on each screen against what lies under it (C7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from console_support import Console, console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from test_review import begun, place
from test_themes import MARK, THEMES, contrast, least
from textual.color import Color
from textual.command import CommandList
from textual.geometry import Region

from hitl_tui.config.starters import themes_folder
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.themes import register_themes

SCREENS = (
    ("question", ""),
    ("home", "ctrl+o"),
    ("details", "6"),
    ("reason", "3"),
    ("edit", "2"),
    ("always", "7"),
    ("help", "f1"),
    ("inbox", "f3"),
    ("plan", "f6"),
)


def palette(ground: str, ink: str, colours: str) -> TerminalTheme:
    """Return a terminal's palette: its normal colours, then the bright ones."""
    rgb = [Color.parse(f"#{colour}").rgb for colour in colours.split()]
    return TerminalTheme(Color.parse(ground).rgb, Color.parse(ink).rgb, rgb[:8], rgb[8:])


_XTERM = (
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
)
_TANGO = (
    "2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf 555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec"
)
_CODE_DARK = (
    "000000 cd3131 0dbc79 e5e510 2472c8 bc3fbc 11a8cd e5e5e5 666666 f14c4c 23d18b f5f543 3b8eea d670d6 29b8db ffffff"
)
_CODE_LIGHT = (
    "000000 cd3131 00bc00 949800 0451a5 bc05bc 0598bc 555555 666666 cd3131 14ce14 b5ba00 0451a5 bc05bc 0598bc a5a5a5"
)
PALETTES = {
    "terminal": (
        palette("#000000", "#e5e5e5", _XTERM),
        palette("#2e3436", "#d3d7cf", _TANGO),
        palette("#1e1e1e", "#cccccc", _CODE_DARK),
    ),
    "terminal-light": (
        palette("#ffffff", "#000000", _XTERM),
        palette("#ffffff", "#2e3436", _TANGO),
        palette("#ffffff", "#333333", _CODE_LIGHT),
    ),
}


def faint(c: Console) -> Iterator[str]:
    """Yield words that fall short of what the theme promises; a terminal's colours only have to be told apart."""
    theme = c.app.current_theme
    width, height = c.app.size
    boxes = [widget.region for widget in c.app.screen.query(".dialog, CommandList, ViewerText")]
    box = boxes[-1] if boxes else Region(0, 0, width, height)
    assert box.area
    off = Color.parse(c.app.theme_variables["text-disabled"])
    palettes = PALETTES.get(theme.name, (c.app.ansi_theme,))
    for y, strip in enumerate(c.app.screen._compositor.render_strips()[:height]):
        if not box.y <= y < box.bottom:
            continue
        for segment in strip.crop(box.x, box.right):
            if not any(character.isalnum() for character in segment.text):
                continue
            style = segment.style or Style()
            for known in palettes:
                ink, ground = _drawn(style, known)
                wanted = MARK if theme.ansi or ink.rgb == off.rgb else least(theme.name)
                if contrast(ink, ground) < wanted:
                    yield f"{segment.text.strip()[:30]!r}: {ink.hex} on {ground.hex}, {contrast(ink, ground):.1f}"


def _drawn(style: Style, known: TerminalTheme) -> tuple[Color, Color]:
    ink, ground = known.foreground_color, known.background_color
    if style.color is not None and not style.color.is_default:
        ink = style.color.get_truecolor(known, foreground=True)
    if style.bgcolor is not None and not style.bgcolor.is_default:
        ground = style.bgcolor.get_truecolor(known, foreground=False)
    found = Color(*ink), Color(*ground)
    return found[::-1] if style.reverse else found


@pytest.mark.long
async def test_every_word_that_is_drawn_can_be_read(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}

    async def look(c: Console, screen: str) -> None:
        await c.pilot.wait_for_scheduled_animations()
        if faults := set(faint(c)):
            found[f"{screen} in {c.app.theme}"] = faults

    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(120, 40)) as c:
        await begun(c, "note file=one")
        register_themes(c.app, [themes_folder()])
        for screen, key in SCREENS:
            await c.to_question()
            await c.read_on()
            if key:
                await c.press(key)
            for name in sorted(THEMES):
                c.app.theme = name
                await c.pilot.pause(0.05)
                c.clock.rest()
                await look(c, screen)
            if not isinstance(c.app.screen, SessionScreen):
                await c.press("escape")
                await c.until(lambda: isinstance(c.app.screen, SessionScreen), "the session")
        for name in sorted(THEMES):  # it is styled as it opens, and closes when another theme is chosen
            c.app.theme = name
            await c.press("ctrl+p")
            await c.until(lambda: c.app.screen.query_one(CommandList).option_count, "commands")
            await look(c, "palette")
            await c.press("escape")
    assert not found


@pytest.mark.long
async def test_the_starter_at_the_cursor_can_be_read_whatever_else_its_words_are_coloured(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    async with console(tmp_path, size=(120, 40)) as c:
        register_themes(c.app, [themes_folder()])
        await c.press("f6", "down")
        for name in sorted(THEMES):
            c.app.theme = name
            await c.pilot.pause(0.05)
            if faults := set(faint(c)):
                found[name] = faults
    assert not found
