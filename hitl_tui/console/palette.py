"""The palette in the person's language: Textual has its few words in English."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.command import DiscoveryHit, Hit, Hits, Provider, SearchIcon
from textual.content import Content
from textual.message import Message
from textual.system_commands import SystemCommandsProvider
from textual.theme import ThemeProvider
from textual.widgets import Button, Input, OptionList

from hitl_tui.console.modal_screen import on_top
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.language import _
from hitl_tui.terminal.textual_widgets import OpenPalette

_FIXED = {"list.choose": "Enter", "words.cancel": "Esc"}
"""Textual's own keys of the palette, which nobody maps otherwise, and the keys of ours that do the like."""


class Offered(SystemCommandsProvider):
    """What the console offers, in its own order: first what is possible now, then the rest, which says why it isn't."""

    async def discover(self) -> Hits:
        not_now = _("not now: {why_not}").partition("{")[0]

        def impossible(command: SystemCommand) -> bool:
            return command.help.startswith(not_now)

        for command in sorted(self.app.get_system_commands(self.screen), key=impossible):
            if command.discover:
                yield DiscoveryHit(_in_a_row(Content(command.title), command.help), command.callback, command.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self.app.get_system_commands(self.screen):
            if (match := matcher.match(command.title)) > 0:
                shown = _in_a_row(matcher.highlight(command.title), command.help)
                yield Hit(match, shown, command.callback, command.title)


def _in_a_row(title: Content, what: str) -> Content:
    """Return a command with what it does, in one row; the end of a long sentence is cut off."""
    return Content.assemble(title.stylize("bold"), f"  {what}")


class Themes(ThemeProvider):
    """The themes; the one that is in use says so."""

    @property
    def commands(self) -> list[tuple[str, Callable[[], None]]]:
        now = self.app.theme
        return [(f"{name} · {_('now')}" if name == now else name, use) for name, use in super().commands]


class Palette(OpenPalette):
    """Textual's palette, as the console's other dialogs look."""

    DEFAULT_CSS: ClassVar[str] = """
    Palette > Vertical, Palette > Vertical:dark { background: $background 0%; }
    Palette > Vertical { margin-top: 1; width: 90%; max-width: 90; }
    Palette #--input, Palette #--input.--list-visible { height: 3; border: round $primary; background: $surface; }
    Palette #--input SearchIcon { margin: 0 0 0 1; color: $text-primary; text-style: bold; }
    Palette #--input CommandInput { border: none; height: 1; }
    Palette > .command-palette--help-text { text-style: not bold; }
    Palette #--input CommandInput > .input--placeholder { color: $text-muted; }
    Palette > KeyLine { dock: bottom; height: 1; background: $surface; }
    Palette CommandList { border: none; background: $surface; padding: 0; scrollbar-size-vertical: 1; }
    Palette CommandList { text-wrap: nowrap; text-overflow: ellipsis; }
    Palette CommandList > .option-list--option { padding: 0 2; }
    Palette CommandList > .option-list--option-highlighted {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: $block-cursor-text-style;
    }
    """

    def __init__(
        self, placeholder: str, providers: Sequence[type[Provider]] = (Offered,), id: str | None = None
    ) -> None:
        super().__init__(list(providers), placeholder=placeholder, id=id)
        self.no_matches = _("No matches found")

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave it once; see `SingleResultScreen`."""
        if not on_top(self):
            return AwaitComplete()
        return super().dismiss(result)

    def accepts(self, message: Message) -> bool:
        """Return False for a choice once the palette is left: what is chosen twice would be done twice."""
        return on_top(self) or not isinstance(message, OptionList.OptionSelected | Input.Submitted | Button.Pressed)

    def on_mount(self) -> None:
        self.query_one(SearchIcon).icon = "›"
        line = KeyLine()
        self.mount(line)
        named = (("list.choose", _("choose")), ("words.cancel", _("close")))
        line.keys = tuple((name, _FIXED[name], label) for name, label in named)
