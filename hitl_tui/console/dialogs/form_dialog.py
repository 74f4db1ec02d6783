"""What dialogs with fields have in common: their keys, the way into an editor, and nothing lost on the way back."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from textual.actions import SkipAction
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Key, Paste
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_model import Field
from hitl_tui.console.dialogs.prompt_dialogs import KeyButton, Unhurried
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.prompt_line import typed_line, typed_text
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.safe_text import cell_width, one_line, safe_text, unsafe_text
from hitl_tui.language import _, translate
from hitl_tui.terminal.textual_widgets import bound_action

Answered = TypeVar("Answered")

PAGES = {"reading.page_down": 1, "reading.page_up": -1}
"""Keys that read on or back, and by how many pages."""
_WIDEST_NAME = 22
"""Cells of a field's name."""


class NothingSaid:
    """Stands for a dialog that was left: null may be an answer."""


NOTHING_SAID = NothingSaid()


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
    elif page and isinstance(field.screen, FormDialog) and field.screen.read_on(page):
        pass  # it was read on
    elif bound := bound_action(field, event.key):
        await field.run_action(bound)
    else:
        return
    event.stop()
    event.prevent_default()


class EditArea(TextArea):
    """A text field of a dialog."""

    def on_resize(self) -> None:
        """Draw it anew: as many lines as before may be broken elsewhere, and Textual would keep the old ones."""
        self.refresh()

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)

    async def on_paste(self, event: Any) -> None:
        """What is pasted passes as typed text."""
        event.stop()
        event.prevent_default()
        self.insert(typed_text(event.text))


class FieldInput(Input):
    """One parameter."""

    def __init__(self, field: Field, value: str, number: int) -> None:
        said = field.when_empty or field.hint
        super().__init__(value, placeholder=said, id=f"field-{number}", compact=True, select_on_focus=False)
        self.field = field

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)

    def on_paste(self, event: Paste) -> None:
        """What is pasted is kept whole, in one line."""
        event.stop()
        event.prevent_default()
        self.replace(typed_line(event.text), *sorted(self.selection))


class FieldArea(EditArea):
    """A parameter of several lines."""

    def __init__(self, field: Field, text: str) -> None:
        super().__init__(text, compact=True, tab_behavior="focus", soft_wrap=True)
        self.field = field


def written(box: FieldInput | FieldArea) -> str:
    """Return what was written into a field, exactly."""
    return unsafe_text(box.value if isinstance(box, FieldInput) else box.text)


def problem(box: FieldInput | FieldArea) -> str:
    """Return what is wrong in a field; nothing when it is empty, for then it is left out or its default holds."""
    try:
        if written(box):
            box.field.value(written(box))
    except BadInput as error:
        return error.message
    return ""


class FormDialog(Unhurried[Answered], Generic[Answered]):
    """A dialog with fields. What changes the focus acts at once; what uses them comes after what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.FORM)]
    LEFT: ClassVar[Any] = NOTHING_SAID
    """What comes of it when it is left."""
    _outside = False
    """An editor has the terminal: the dialog stays until it is closed, whatever was typed before it opened."""

    @abstractmethod
    def look(self) -> None:
        """Show what would be sent now, or why it can't be."""

    @abstractmethod
    def action_send(self) -> None:
        """Send what is shown."""

    @abstractmethod
    def editor_text(self) -> str:
        """Return what the editor opens with."""

    @abstractmethod
    def take_editor_text(self, text: str) -> str:
        """Take what came back from the editor; return one sentence when that can't be done, and lose nothing."""

    def button(self, binding: str, label: str) -> Button:
        """Return a button that does what a key does, with that key before its label."""
        name = binding.rpartition(".")[2]
        return KeyButton(keymap_of(self.app), binding, label, name)

    def field_rows(self, boxes: Iterable[FieldInput | FieldArea]) -> ComposeResult:
        """Yield fields under each other, their names before them, and a line that says what the one in use takes."""
        listed = list(boxes)
        if not listed:
            return
        names = [safe_text(box.field.name, multiline=False) for box in listed]
        widest = min(_WIDEST_NAME, max(cell_width(name) for name in names))
        with VerticalScroll(classes="dialog-fields", can_focus=False):
            for name, box in zip(names, listed, strict=True):
                with Horizontal(classes="dialog-field"):
                    label = Static(Content(name), classes="dialog-name")
                    label.styles.width = widest + 2
                    yield label
                    yield box
        yield Static(Content(listed[0].field.hint), id="field-hint", markup=False)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say what the field takes that is written into now."""
        if isinstance(event.widget, FieldInput | FieldArea):
            field = event.widget.field
            name = safe_text(field.name, multiline=False)
            said = field.hint if field.hint == name else f"{name}: {field.hint}"
            self.query_one("#field-hint", Static).update(Content(said))

    def boxes(self) -> Iterator[FieldInput | FieldArea]:
        """Yield the fields in their order."""
        for widget in self.query("FieldInput, FieldArea"):
            if isinstance(widget, FieldInput | FieldArea):
                yield widget

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.look()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.look()

    def action_field(self, by: int) -> None:
        """Go to the next or previous field from one of a single line; in others the key is what it is there."""
        if not isinstance(self.focused, FieldInput):
            raise SkipAction
        found = list(self.boxes())
        self.set_focus(found[(found.index(self.focused) + by) % len(found)])

    def read_on(self, by: int) -> bool:
        """Scroll what has to be read by so many pages; return whether there is such a thing."""
        return False

    def action_approve(self) -> None:
        self.action_send()

    def action_cancel(self) -> None:
        if not self._outside:
            self.dismiss(self.LEFT)

    def hurried(self) -> bool:
        return self._outside or super().hurried()

    def send(self, made: Callable[[], Answered]) -> None:
        """Leave with what the fields make, unless it can't be made or was typed too soon.

        Args:
            made: makes it.
        """
        try:
            value = made()
        except HitlError:
            self.look()  # says why
            return
        if not self.hurried():
            self.dismiss(value)

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        await self.run_action(event.button.id or "cancel")

    # The editor ------------------------------------------------------------------------------------------------

    def action_editor(self) -> None:
        if not self._outside:
            self._outside = True
            self.run_worker(self._edit_outside(), group="editor")

    async def _edit_outside(self) -> None:
        try:
            with self.app.suspend(), self.app.batch_update():
                text = await edited(self.editor_text())
        except SuspendNotSupported:
            said = _("This terminal can't lend itself to an editor.")
        except HitlError as error:
            said = translate(error.message)
        else:
            said = self.take_editor_text(text)
        finally:
            self._outside = False
        self.app.refresh(layout=True)
        self.told(said)

    def told(self, said: str) -> None:
        """Say what came of the editor; nothing when it went well."""
        self.below(one_line(said, 200))

    def not_json(self, error: Exception) -> str:
        """Return what is said about a text from the editor that isn't JSON."""
        said = (
            _("{error} {form.editor} opens it again as you left it.")
            if isinstance(error, BadInput)
            else _("What came back isn't valid JSON ({error}); {form.editor} opens it again as you left it.")
        )
        return keymap_of(self.app).named(said).replace("{error}", translate(*error.args[:1]))


async def edited(text: str) -> str:
    """Let a person edit a text in their editor, which wants a line feed at its end.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    ended = text.endswith("\n")
    found = await text_from_editor(text if ended or not text else text + "\n", os.environ)
    return found if ended else found.removesuffix("\n")


def _is_json(text: str) -> bool:
    """Return whether an editor is to take a text for JSON."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


async def text_from_editor(text: str, environ: Mapping[str, str]) -> str:
    """Let the person edit a text in $VISUAL or $EDITOR, and return it; the session's work goes on meanwhile.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    command = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="hitl-") as folder:
        path = Path(folder) / ("input.json" if _is_json(text) else "input.txt")
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            # Standard output may be kept from what graphs write; the screen is the one that is drawn on.
            screen = sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else None
            process = await asyncio.create_subprocess_exec(*shlex.split(command), str(path), stdout=screen)
        except (OSError, ValueError, IndexError) as error:
            said = one_line(command, 60)
            raise BadInput(
                _('The editor "{said}" can\'t be started ({error}); set EDITOR to one that can.').format(
                    said=said, error=error
                )
            ) from error
        code = await process.wait()
        if code:
            raise BadInput(_("The editor ended with exit code {code}, so nothing was taken from it.").format(code=code))
        return path.read_text(encoding="utf-8", errors="surrogateescape")
