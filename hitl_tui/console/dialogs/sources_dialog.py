"""The sources of an answer, to choose the one that is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key
from textual.widgets import OptionList, Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import CSS, named_keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.lists import Choices
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.supervisor.answer_sources import AnswerSource

_WIDEST, _EDGES = 120, 10
"""Cells of the dialog at most, as its stylesheet says, and those that its edges and its scroll bar take."""


class SourcesDialog(Modal[int]):
    """Lists sources; its result is the number of the chosen one, counted from 1; 0 for none.

    Args:
        sources: what the answer cites, and the files that were written.
    """

    CSS_PATH = CSS
    BINDINGS: ClassVar[list[BindingType]] = [b for b in keys.bindings(keys.INBOX) if b.id == "inbox.close"]

    def __init__(self, sources: Sequence[AnswerSource]) -> None:
        super().__init__()
        self._sources = sources

    def compose(self) -> ComposeResult:
        with Dialog(large=True) as dialog:
            dialog.border_title = Content(_("Sources of the answer"))
            room = min(self.app.size.width * 9 // 10, _WIDEST) - _EDGES
            numbered = (f"{n}  {source.label}  {source.quote}" for n, source in enumerate(self._sources, start=1))
            yield Choices(*(Text(one_line(line.rstrip(), room)) for line in numbered), compact=True)
            said = _("{list.choose} Open · {inbox.close} Close")
            yield Static(named_keys(keymap_of(self.app), said), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(Choices).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index + 1)

    def on_key(self, event: Key) -> None:
        """A digit opens the line that begins with it."""
        if event.character in set("123456789") and int(event.character) <= len(self._sources):
            event.stop()
            self.dismiss(int(event.character))

    def action_close(self) -> None:
        self.dismiss(0)
