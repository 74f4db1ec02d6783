"""The help on the whole screen: what applies here comes first, and words are looked for in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key

from hitl_tui.console import keys
from hitl_tui.console.help import having, placed
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.console.screens.viewer import Viewer as Viewer
from hitl_tui.console.screens.viewer import ViewerText
from hitl_tui.console.widgets.finding import Finding, Seeking
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row


class HelpLines(Rows):
    """Rows with the names of bindings on the right."""

    def lay(self, width: int) -> list[Content]:
        return layout_lines(placed(self.rows, width), width)


class HelpText(ViewerText, Seeking):
    """The lines of the help, or those that have certain words.

    Args:
        rows: all lines.
    """

    PART = keys.HELP
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HELP)]

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(id="viewer-text")
        self._all = tuple(rows)
        self.finding = Finding()

    def compose(self) -> ComposeResult:
        yield HelpLines(self._all)

    def on_mount(self) -> None:
        self._entitle(found=True)

    def seek(self) -> None:
        rows = having(self._all, self.finding.needle)
        self.query_one(HelpLines).show(rows)
        self._entitle(found=bool(rows))
        self.scroll_to(y=0, animate=False)

    def on_key(self, event: Key) -> None:
        """Forget the words that were kept; only then does the same key close."""
        forgets = keymap_of(self.app).at(keys.FINDING, event.key) == "finding.forget"
        if forgets and not self.finding.typing and self.stop_finding():
            event.stop()
            event.prevent_default()

    def _entitle(self, *, found: bool) -> None:
        self.border_title = Content(_("Help"))
        said = _("{viewer.close} closes · {help.find} looks for words · {viewer.page_down} reads on")
        if self.finding.active:
            self.border_subtitle = self.finding.shown("" if found else _("not found"))
        else:
            self.border_subtitle = Content(keymap_of(self.app).named(said))


class HelpScreen(Viewer):
    """Shows all keys, signs and commands.

    Args:
        rows: as `help_rows` gives them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__("", rows)

    def compose(self) -> ComposeResult:
        yield HelpText(self._shown)
