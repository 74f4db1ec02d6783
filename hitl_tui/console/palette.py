"""The palette in the person's language: Textual has its few words in English."""

from __future__ import annotations

from rich.align import Align
from rich.text import Text
from textual.command import CommandList, CommandPalette
from textual.widgets.option_list import Option

from hitl_tui.language import _


class Palette(CommandPalette):
    """Textual's palette."""

    def _start_no_matches_countdown(self, search_value: str) -> None:
        """As in Textual: a moment after nothing was found for what is looked for, it says so."""
        self._stop_no_matches_countdown()

        def show() -> None:
            if search_value:
                said = Align.center(Text(_("No matches found"), style="not bold"))
                self.query_one(CommandList).add_option(Option(said, disabled=True, id=self._NO_MATCHES))
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show)
