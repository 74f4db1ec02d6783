"""Text on the whole screen: details of a question, a TODO or a checkpoint, and the help, which can be searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key
from textual.widget import Widget

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import CSS
from hitl_tui.console.dialogs.reading_dialog import ReadingText, ReadToEnd
from hitl_tui.console.help_rows import having, placed
from hitl_tui.console.keyguard.guard import KeyKind
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.console.widgets.text_search import SearchInput, TextSearch
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row


class ViewerText(ReadingText):
    """A text that takes the whole screen."""


class TextViewer(ReadToEnd[bool]):
    """Shows one text whole. Its result says whether the end was read.

    Args:
        title: one line, safe.
        rows: what is shown.
        opened_by: id of the binding that opened it, whose keys close it, too; empty for none.
    """

    CSS_PATH = CSS
    NAMES_KEYS = False
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.VIEWER)]

    def __init__(self, title: str, rows: Sequence[Row], opened_by: str = "") -> None:
        super().__init__(title)
        self._shown = tuple(rows)
        self._opened_by = opened_by

    def compose(self) -> ComposeResult:
        with ViewerText(id="viewer-text") as region:
            region.border_title = Content(self._heading)
            region.border_subtitle = Content(self._keys())
            yield from self._parts()

    def _parts(self) -> Iterable[Widget]:
        """Yield the text: what is Markdown rendered, as the answer is."""
        for markdown, rows in groupby(self._shown, key=lambda row: row.markdown):
            if not markdown:
                yield Rows(tuple(rows))
                continue
            from hitl_tui.console.widgets.answer_pane import rendered  # the help needs none of it

            yield from (rendered(row.text.plain) for row in rows)

    def on_mount(self) -> None:
        self.text.focus()
        self.call_after_refresh(self.look_for_end)

    def kind_of(self, key: Key) -> KeyKind | None:
        return KeyKind.LOOKS if key.is_printable and self._opened_with(key) else None

    def on_key(self, event: Key) -> None:
        if self._opened_with(event):
            event.stop()
            self.action_close()

    def _opened_with(self, key: Key) -> bool:
        """Whether a key opens such a text, and means nothing else in it."""
        keymap = keymap_of(self.app)
        return key.key in keymap.keys_of(self._opened_by) and not keymap.at(keys.VIEWER, key.key)

    def _keys(self) -> str:
        return keymap_of(self.app).named(_("{viewer.close} Close · {viewer.page_down} Read on"))

    def show_refusal(self, words: str) -> bool:
        self.below(f"{words} · {self._keys()}")
        return True

    def below(self, words: str) -> None:
        if self.query(ViewerText):
            self.query_one(ViewerText).border_subtitle = Content(words)

    def overtaken(self, words: str) -> None:
        """Say that what is read was decided elsewhere."""
        if not self.left:
            self.query_one(ViewerText).border_title = Content(f"{self._heading} · {words}")

    def action_close(self) -> None:
        self.dismiss(self._end)


class SourceViewer(TextViewer):
    """Shows a file at a line.

    Args:
        title: one line, safe.
        rows: its lines, each with its number.
        place: which of them to begin near.
    """

    def __init__(self, title: str, rows: Sequence[Row], place: int) -> None:
        super().__init__(title, rows)
        self._place = place

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._to_place)

    def _to_place(self) -> None:
        above = len(Rows(self._shown[: self._place]).lay(self.query_one(Rows).size.width))
        self.text.scroll_to(y=max(0, above - self.text.size.height // 3), animate=False)


class HelpLines(Rows):
    """Rows with the names of bindings on the right while words are looked for: who only wants a key needs no names."""

    named = False

    def lay(self, width: int) -> list[Content]:
        return layout_lines(placed(self.rows, width) if self.named else self.rows, width)


class HelpText(ViewerText, SearchInput):
    """The lines of the help, or those that have certain words.

    Args:
        rows: all lines.
    """

    PART = keys.HELP
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HELP)]

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(id="viewer-text")
        self._all = tuple(rows)
        self.finding = TextSearch()

    def compose(self) -> ComposeResult:
        yield HelpLines(self._all)

    def on_mount(self) -> None:
        self._entitle(found=True)

    def seek(self) -> None:
        rows = having(self._all, self.finding.needle)
        lines = self.query_one(HelpLines)
        lines.named = bool(self.finding.needle)
        lines.show(rows)
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
        said = _("{viewer.close} Close · {help.find} Find · {viewer.page_down} Read on")
        if self.finding.active:
            self.border_subtitle = self.finding.shown("" if found else _("not found"))
        else:
            self.border_subtitle = Content(keymap_of(self.app).named(said))


class HelpScreen(TextViewer):
    """Shows all keys, signs and commands.

    Args:
        rows: as `help_rows` gives them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__("", rows)

    def compose(self) -> ComposeResult:
        yield HelpText(self._shown)
