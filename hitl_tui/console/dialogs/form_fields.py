"""Text fields of dialogs: of one line and of several; their dialog's keys act in the order of what is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.containers import VerticalScroll
from textual.events import Focus, Key, Paste
from textual.geometry import Region
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.widgets.input import Selection

from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_model import Field, area_text, field_text
from hitl_tui.console.dialogs.reading_dialog import ReadToEnd
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.prompt_line import typed_text
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.safe_text import safe_text, unsafe_text
from hitl_tui.terminal.textual_widgets import bound_action

PAGES = {"reading.page_down": 1, "reading.page_up": -1}
"""Keys that read on or back, and by how many pages."""
_NUMBERS = ("integer", "number")


async def act_in_order(field: Widget, event: Key) -> None:
    """Let a text field's own keys, and the dialog's, act when they arrive.

    Textual lets a key that is bound rise to the app before it acts, while a letter acts at once: of keys that come in
    one burst, letters would overtake the arrows before them.
    """
    keymap = keymap_of(field.app)
    wanted = keymap.at(keys.FORM, event.key)
    page = 0 if wanted or event.is_printable else PAGES.get(keymap.at(keys.READING, event.key), 0)
    action = next((s.action for s in keymap.of(keys.FORM) if s.id == wanted and not s.priority), "")
    if action:
        await field.screen.run_action(action)
    elif page and isinstance(field.screen, ReadToEnd):
        field.screen.action_page(page)
    elif bound := bound_action(field, event.key):
        await field.run_action(bound)
    else:
        return
    event.stop()
    event.prevent_default()


class FieldRows(VerticalScroll):
    """The fields of a form; where they don't fit, the line that is written stays on the screen."""

    def __init__(self) -> None:
        super().__init__(classes="dialog-fields", can_focus=False)

    def on_resize(self) -> None:
        self.show_line()

    def show_line(self) -> None:
        """Scroll to the cursor's line once everything stands where it will."""
        self.call_after_refresh(self._show_line)

    def _show_line(self) -> None:
        area = self.screen.focused if self.is_attached else None
        if isinstance(area, EditArea) and self in area.ancestors:
            place = area.cursor_screen_offset - self.content_region.offset + self.scroll_offset
            self.scroll_to_region(Region(0, place.y, 1, 1), animate=False, force=True, x_axis=False)


class EditArea(TextArea):
    """A text field of a dialog."""

    BINDINGS: ClassVar = [
        ("ctrl+home", "cursor_text_start", ""),
        ("ctrl+end", "cursor_text_end", ""),
    ]

    def action_cursor_text_start(self) -> None:
        self.move_cursor((0, 0))

    def action_cursor_text_end(self) -> None:
        self.move_cursor(self.document.end)

    def on_resize(self) -> None:
        """Draw it anew: as many lines as before may be broken elsewhere, and Textual would keep the old ones."""
        self.refresh()
        self.scroll_cursor_visible(animate=False)

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Keep the line that is written on the screen, also where the fields have less room than they take."""
        for around in self.ancestors:
            if isinstance(around, FieldRows):
                around.show_line()

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)

    @property
    def written(self) -> str:
        """What was written, exactly."""
        return unsafe_text(self.text)

    async def on_paste(self, event: Paste) -> None:
        """What is pasted passes as typed text."""
        event.stop()
        event.prevent_default()
        self.insert(typed_text(event.text))


class FieldInput(Input):
    """A field of one line.

    Args:
        field: what it takes.
        values: what stands in the fields at first.
        number: its place.
    """

    def __init__(self, field: Field, values: JsonObject, number: int) -> None:
        said, text = field.when_empty or field.hint, field_text(field, values)
        offered = SuggestFromList(field.offered, case_sensitive=False) if field.offered else None
        place = f"field-{number}"
        super().__init__(text, placeholder=said, id=place, compact=True, select_on_focus=False, suggester=offered)
        self.field = field

    @property
    def written(self) -> str:
        """What was written, exactly."""
        return unsafe_text(self.value)

    def on_focus(self, event: Focus) -> None:
        """Stand at the end of a text, which what is typed adds to; select a number, whose place it takes."""
        if not event.from_app_focus:
            end = len(self.value)
            self.selection = Selection(end, 0) if self.field.type in _NUMBERS else Selection.cursor(end)

    @property
    def text_now(self) -> str:
        """What stands in it, safe."""
        return self.value

    @text_now.setter
    def text_now(self, text: str) -> None:
        self.value = text

    def fill(self, values: JsonObject) -> None:
        """Write the field's value of these into it."""
        self.value = field_text(self.field, values)

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)

    def on_paste(self, event: Paste) -> None:
        """What is pasted is kept whole, in one line, in which line feeds are shown; those at its ends are left out."""
        event.stop()
        event.prevent_default()
        text = safe_text(typed_text(event.text).strip("\n"), multiline=False)
        self.replace(text, *sorted(self.selection))


class FieldArea(EditArea):
    """A field of several lines.

    Args:
        field: what it takes.
        values: what stands in the fields at first.
    """

    def __init__(self, field: Field, values: JsonObject) -> None:
        super().__init__(area_text(field, values), compact=True, tab_behavior="focus", soft_wrap=True)
        self.field = field

    @property
    def text_now(self) -> str:
        """What stands in it, safe."""
        return self.text

    @text_now.setter
    def text_now(self, text: str) -> None:
        self.text = text

    def fill(self, values: JsonObject) -> None:
        """Write the field's value of these into it."""
        self.text = area_text(self.field, values)
