"""The palette in the person's language: Textual has its few words in English."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.align import Align
from rich.text import Text
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hits, SearchIcon
from textual.message import Message
from textual.system_commands import SystemCommandsProvider
from textual.widgets import Button, Input, OptionList
from textual.widgets.option_list import Option

from hitl_tui.console.modal_screen import on_top
from hitl_tui.language import _


class Offered(SystemCommandsProvider):
    """What the console offers, in its own order: first what is possible now, then the rest, which says why it isn't."""

    async def discover(self) -> Hits:
        not_now = _("not now: {why_not}").partition("{")[0]

        def impossible(command: SystemCommand) -> bool:
            return command.help.startswith(not_now)

        for command in sorted(self.app.get_system_commands(self.screen), key=impossible):
            if command.discover:
                yield DiscoveryHit(command.title, command.callback, help=command.help)


class Palette(CommandPalette):
    """Textual's palette, as the console's other dialogs look."""

    DEFAULT_CSS: ClassVar[str] = """
    Palette > Vertical, Palette > Vertical:dark { background: $background 0%; }
    Palette > Vertical { margin-top: 1; width: 90%; max-width: 90; }
    Palette #--input, Palette #--input.--list-visible { height: 3; border: round $primary; background: $surface; }
    Palette #--input SearchIcon { margin: 0 0 0 1; color: $text-primary; text-style: bold; }
    Palette #--input CommandInput { border: none; height: 1; }
    Palette > .command-palette--help-text { text-style: not bold; }
    Palette #--input CommandInput > .input--placeholder { color: $text-muted; }
    Palette CommandList { border: none; background: $surface; padding: 0; scrollbar-size-vertical: 1; }
    Palette CommandList > .option-list--option { padding: 0 2; }
    Palette CommandList > .option-list--option-highlighted {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: $block-cursor-text-style;
    }
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"providers": [Offered], **given})

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave it once; see `screens.once.Once`."""
        if not on_top(self):
            return AwaitComplete()
        return super().dismiss(result)

    async def _on_message(self, message: Message) -> None:
        """Take nothing once it is left: what is chosen twice would be done twice."""
        if on_top(self) or not isinstance(message, OptionList.OptionSelected | Input.Submitted | Button.Pressed):
            await super()._on_message(message)

    def on_mount(self) -> None:
        self.query_one(SearchIcon).icon = "›"

    def _start_no_matches_countdown(self, search_value: str) -> None:
        """As in Textual: a moment after nothing was found for what is looked for, it says so."""
        self._stop_no_matches_countdown()

        def show() -> None:
            if search_value:
                said = Align.center(Text(_("No matches found"), style="not bold"))
                self.query_one(CommandList).add_option(Option(said, disabled=True, id=self._NO_MATCHES))
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show)
