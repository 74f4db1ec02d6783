"""Text on the whole screen: details of a question, a TODO or a checkpoint, and the help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widget import Widget

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import CSS
from hitl_tui.console.dialogs.reading_dialog import ReadToEnd
from hitl_tui.console.dialogs.viewer_text import SearchedText, ViewerText
from hitl_tui.console.help_rows import having, placed
from hitl_tui.console.keyguard.guard import KeyKind
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row, styled, text_row


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
        with SearchedText(id="viewer-text") as region:
            region.border_title = Content(self._heading)
            yield from self._parts()

    def _parts(self) -> Iterable[Widget]:
        """Yield the text: what is Markdown rendered, as the answer is."""
        for markdown, rows in groupby(self._shown, key=lambda row: row.markdown):
            if not markdown:
                yield Rows(tuple(rows))
                continue
            from hitl_tui.console.widgets.answer_pane import outputs_apart, rendered  # the help needs none of it

            for part, output in (found for row in rows for found in outputs_apart(row.text.plain)):
                if output:
                    yield Vertical(Rows((Row("", styled(part), exact=True),)), classes="output")
                    yield Rows((text_row(""),))
                else:
                    yield rendered(part)

    def on_mount(self) -> None:
        self.text.focus()
        self.text.show_foot()
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
        means = keymap.at(keys.VIEWER, key.key) or keymap.at(keys.TEXT, key.key)
        return key.key in keymap.keys_of(self._opened_by) and not means

    @property
    def text(self) -> ViewerText:
        return self.query_one(ViewerText)

    def show_refusal(self, words: str) -> bool:
        self.below(f"{words} · {self.text.key_words()}")
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


class HelpText(ViewerText):
    """The lines of the help, or those that have certain words.

    Args:
        rows: all lines.
    """

    PART = keys.HELP
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HELP)]

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(id="viewer-text")
        self._all = tuple(rows)

    def compose(self) -> ComposeResult:
        yield HelpLines(self._all)

    def on_mount(self) -> None:
        self.border_title = Content(_("Help"))

    def seek(self) -> None:
        lines = self.query_one(HelpLines)
        lines.named = bool(self.finding.needle)
        lines.show(having(self._all, self.finding.needle))
        super().seek()
        self.scroll_to(y=0, animate=False)

    def found_words(self) -> str:
        return "" if self.query_one(HelpLines).rows else _("not found")

    def key_words(self) -> str:
        said = _("{viewer.close} Close · {help.find} Find · {viewer.page_down} Read on")
        return keymap_of(self.app).named(said)


class HelpScreen(TextViewer):
    """Shows all keys, signs and commands.

    Args:
        rows: as `help_rows` gives them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__("", rows)

    def compose(self) -> ComposeResult:
        yield HelpText(self._shown)
