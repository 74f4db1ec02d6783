"""A dialog that takes an answer: one of several options, a text or JSON, or fields; it shows exactly what is sent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Key
from textual.widgets import Button, Input, OptionList, Static, TextArea

from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_fields import EditArea, FieldArea, FieldInput, FieldRows
from hitl_tui.console.dialogs.form_model import Draft, Field, Form, needs_area
from hitl_tui.console.dialogs.guarded_dialog import KeyButton, UnhurriedDialog
from hitl_tui.console.dialogs.reading_dialog import ReadingText, ReadToEnd
from hitl_tui.console.keymap import keymap_of, shown_keys
from hitl_tui.console.modal_screen import Answered
from hitl_tui.console.outside_programs import step_aside
from hitl_tui.console.services import console_of
from hitl_tui.console.widgets.dialog_frame import Dialog, DialogText, Flow
from hitl_tui.console.widgets.lists import Choices
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.console.workers import work_on
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.interrupts.shape import Option
from hitl_tui.core.json_text import is_json, strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.safe_text import ELLIPSIS, cell_width, one_line, safe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.terminal.own_editor import edited
from hitl_tui.wording.interrupt_rows import payload_rows, said_whole, said_words
from hitl_tui.wording.rows import text_row

_DIGITS = 9
_ON = "reading.page_down"
UNREAD = mark("Read to the end first ({reading.page_down}); nothing was decided")
_WIDEST_NAME = 22
"""Cells of a field's name."""


class NothingSaid:
    """Stands for a dialog that was left: null may be an answer."""


NOTHING_SAID = NothingSaid()

Given: TypeAlias = "Json | NothingSaid"
"""An answer, or that there is none."""


class AnswerDialog(UnhurriedDialog[Answered], Generic[Answered]):
    """Takes an answer; dismissed with it, or with `LEFT`. Each form of answer has its own input part.

    It is sent once it can be made and the keyboard rested; what was decided elsewhere meanwhile can only be left.
    """

    LEFT: ClassVar[Any] = NOTHING_SAID
    """What comes of it when it is left."""

    @abstractmethod
    def answer(self) -> Answered:
        """Return the answer as it is entered now.

        Raises:
            HitlError: it can't be sent.
        """

    @abstractmethod
    def show_error(self, said: str) -> None:
        """Show why the answer can't be sent; the text isn't safe yet."""

    def send(self, *, decided: bool = False) -> None:
        """Leave with the answer, unless it can't be made or was entered too soon.

        Args:
            decided: the key that sends may decide by itself.
        """
        try:
            answer = self.answer()
        except HitlError as error:
            self.show_error(translate(error.message))
            return
        if decided or not self.hurried():
            self.dismiss(answer)

    def action_send(self) -> None:
        self.send()

    def action_cancel(self) -> None:
        self.dismiss(self.LEFT)

    def buttons(self, *labels: tuple[str, str]) -> Flow:
        """Return buttons that do what keys do: for each the key's id, and what it does."""
        return Flow(*(KeyButton(keymap_of(self.app), binding, label) for binding, label in labels))

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        await self.run_action(event.button.id or "cancel")


class OptionAnswer(AnswerDialog[Given]):
    """Lists options; digits choose once the list was drawn and the keyboard rested. Enter and a click decide nothing.

    Args:
        title: one line, safe.
        content: what is asked; safe.
        options: what there is to choose from.
        made: makes the answer of an option's value.
        at: place of the option at the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.CHOOSING)]
    AUTO_FOCUS = "#choosing-list"
    SEND: ClassVar[str] = mark("Send")
    DIGIT: ClassVar[str] = mark("a digit sends its option")
    ENTER: ClassVar[str] = mark("{list.choose} decides nothing: {choosing.send} sends it")

    def __init__(
        self, title: str, content: Content, options: tuple[Option, ...], made: Callable[[Json], Json], at: int = 0
    ) -> None:
        super().__init__(title)
        self._first = at
        self._content = content
        self._options = options
        self._made = made

    def compose(self) -> ComposeResult:
        with Dialog(self._heading, id="choosing"):
            yield Static(self._content, markup=False, classes="dialog-text")
            rows = [Content(f"{self._digit(n)} {option.text}") for n, option in enumerate(self._options, start=1)]
            yield Choices(*rows, id="choosing-list", compact=True)
            with VerticalScroll(id="choosing-whole"):
                yield Static(id="choosing-sends", markup=False)
            yield self.buttons(("choosing.send", _(self.SEND)), ("choosing.cancel", _("Back")))

    def _digit(self, number: int) -> str:
        return keymap_of(self.app).shown(f"choosing.{number}") or str(number)

    def on_mount(self) -> None:
        self._list.highlighted = self._first

    def key_specs(self) -> Sequence[keys.KeySpec]:
        beyond = {f"choosing.{number}" for number in range(len(self._options) + 1, _DIGITS + 1)}
        return [spec for spec in super().key_specs() if spec.id not in beyond]

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _at(self) -> int:
        """The option at the cursor."""
        return self._list.highlighted or 0

    @property
    def remaining(self) -> float:
        """Seconds until what sends counts, a digit or, where that came too soon, the key for it."""
        return super().remaining if self._hurry else self.guard.remaining

    def state_words(self, remaining: float) -> str:
        if remaining > 0 or self._hurry:
            return super().state_words(remaining)
        several = keymap_of(self.app).named(_("↑↓ choose, {choosing.send} sends"))
        return _(self.DIGIT) if len(self._options) <= _DIGITS else several

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        said = self.said_of(self._options[event.option_index])
        self.query_one("#choosing-whole").display = bool(said)
        self.query_one("#choosing-sends", Static).update(Content.styled(said, "$text-success"))
        self.query_one("#choosing-whole").scroll_home(animate=False, force=True, immediate=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.below(keymap_of(self.app).named(_(self.ENTER)))

    def said_of(self, option: Option) -> str:
        """Return what is said of the option at the cursor; nothing where its line is what it sends, to the letter."""
        if option.value == option.text and not is_json(option.text):
            return ""
        return _("Sends: {value}").format(value=said_whole(option.value))

    def answer(self) -> Json:
        return self._made(self._options[self._at].value)

    def show_error(self, said: str) -> None:
        self.below(safe_text(said, multiline=False, limit=200))

    def action_digit(self, number: int) -> None:
        if number > len(self._options):
            return
        # A line that is cut doesn't say all of what is sent, so that this has to be shown first.
        known = self._list.highlighted == number - 1 or not self._options[number - 1].text.endswith(ELLIPSIS)
        self._list.highlighted = number - 1
        if len(self._options) > _DIGITS:
            return  # 1 may be the beginning of 12: a digit only shows it
        if not known:
            self.guard.drawn()
            self.below(keymap_of(self.app).named(_("shown whole below; {choosing.send} or the same digit sends it")))
        elif self.guard.decides:
            self.send(decided=True)
        else:
            self._hurry = ""
            self.show_state()


class Picking(OptionAnswer):
    """The same for a choice of the console's own, whose options say all there is to say; dismissed with the value.

    Args:
        title: one line, safe.
        content: what is asked; safe.
        options: what there is to choose from.
        at: place of the option at the cursor.
    """

    SEND = mark("Choose")
    DIGIT = mark("a digit chooses")
    ENTER = mark("{list.choose} decides nothing: {choosing.send} chooses")

    def __init__(self, title: str, content: Content, options: tuple[Option, ...], at: int = 0) -> None:
        super().__init__(title, content, options, lambda value: value, at)

    def on_mount(self) -> None:
        self.query_one("#choosing-whole").display = False

    def key_specs(self) -> Sequence[keys.KeySpec]:
        return [spec._replace(label="choose") if spec.id == "choosing.send" else spec for spec in super().key_specs()]

    def said_of(self, option: Option) -> str:
        return ""


class WrittenAnswer(AnswerDialog[Answered], Generic[Answered]):
    """An answer that is written, here or in the person's own editor, with what would be sent below it.

    What changes the focus acts at once; what uses the fields comes after what was typed before.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.FORM)]
    SENDS: ClassVar[tuple[str, str]] = ("form.approve", mark("Send"))
    """Id of the key that sends, and what its button says."""
    does = ""
    """What sending does, as its button and the last row say it; empty for `SENDS` and `DECIDES`. Safe."""
    DECIDES: ClassVar[str] = "send"
    """What the key that decides is called in the last row; empty where another dialog asks first."""
    draft: Draft | None = None
    """What was written when it was left without an answer; None where that was nothing of its own."""
    _outside = False
    """An editor has the terminal: the dialog stays until it is closed, whatever was typed before it opened."""
    must_read = False
    """What is sent has to be read to its end: nobody read it before."""
    _wrong = ""
    """What is wrong with what is written, in a few safe words; empty when it can be sent."""
    _told = ""
    """What was said when something unread was sent."""
    _before: Draft | None = None
    _recalled: Draft | None = None

    def look(self) -> None:
        """Show what would be sent now, or why it can't be."""
        try:
            answer = self.answer()
        except HitlError as error:
            self._wrong = self.wrong_words()
            self.show_error(translate(error.message))
        else:
            self._wrong = ""
            self.show_answer(answer)
        self.show_state()

    def wrong_words(self) -> str:
        """Return in a few safe words that what is written can't be sent."""
        return _("not valid yet")

    @property
    def unread(self) -> bool:
        """It has to be read, and its end wasn't on the screen yet."""
        return False

    def state_words(self, remaining: float) -> str:
        if self.unread and not self._wrong:
            return self._told or self.to_read(_("read to the end first: {reading.page_down}"))
        return self._wrong or super().state_words(remaining)

    def to_read(self, text: str) -> str:
        """Return a text with the keys that it names; of those that read on, one that isn't typed into a field."""
        keymap = keymap_of(self.app)
        found = [k for spec in keymap.specs if spec.id == _ON for k in spec.keys.split(",")]
        free = [k for k in found if len(k) > 1 and k != "space" and not keymap.at(keys.FORM, k)]
        return keymap.named(text.replace(f"{{{_ON}}}", shown_keys(free[0])) if free else text)

    # What is kept when it is left --------------------------------------------------------------------------------

    def recall(self, draft: Draft | None) -> None:
        """Begin with what was written when a dialog about the same was left; None for nothing."""
        self._recalled = draft
        if draft is not None:
            self._heading = _("{title} · your draft").format(title=self._heading)

    @abstractmethod
    def written_now(self) -> Draft:
        """Return what is written, as `fill_in` takes it."""

    @abstractmethod
    def fill_in(self, draft: Draft) -> None:
        """Write a draft into the fields."""

    def dismiss(self, result: Answered | None = None) -> AwaitComplete:
        if result is self.LEFT and not self.over and self._before is not None and self.query(Dialog):
            now = self.written_now()
            self.draft = now if now != self._before else None
        return super().dismiss(result)

    @abstractmethod
    def show_answer(self, answer: Answered) -> None:
        """Show what would be sent."""

    @abstractmethod
    def editor_text(self) -> str:
        """Return what the editor opens with."""

    @abstractmethod
    def take_editor_text(self, text: str) -> str:
        """Take what came back from the editor; return one sentence when that can't be done, and lose nothing."""

    def on_mount(self) -> None:
        self._before = self.written_now()
        if self._recalled is not None:
            self.fill_in(self._recalled)
        self.look()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.look()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.look()

    def key_specs(self) -> Sequence[keys.KeySpec]:
        idle = {"form.send"} if self.SENDS[0] != "form.send" else set() if self.DECIDES else {"form.approve"}
        specs = [spec for spec in super().key_specs() if spec.id not in idle]
        label = self.does.lower() or self.DECIDES
        return [spec._replace(label=label) if spec.id == "form.approve" else spec for spec in specs]

    def action_approve(self) -> None:
        self.action_send()

    def action_save(self) -> None:
        """Only an edited step can be saved and asked about again; what is sent here is the decision."""
        if self.SENDS[0] != "form.send":
            sends = "say.send" if self.query(SendingArea) else self.SENDS[0]
            self.below(_("nothing was sent: {key} sends it").format(key=keymap_of(self.app).shown(sends)))
        else:
            self.action_send()

    def action_cancel(self) -> None:
        if not self._outside:
            super().action_cancel()

    def hurried(self) -> bool:
        if self._outside or super().hurried():
            return True
        if self.unread:
            self._told = self.to_read(_(UNREAD))
            self.show_state()
        return self.unread

    def action_editor(self) -> None:
        if not self._outside:
            self._outside = True
            work_on(self, self._edit_outside, group="editor")

    async def _edit_outside(self) -> None:
        try:
            text = await step_aside(console_of(self.app), lambda: edited(self.editor_text()))
        except HitlError as error:
            said = translate(error.message)
        else:
            said = self.take_editor_text(text)
        finally:
            self._outside = False
        self.told(said)

    def told(self, said: str) -> None:
        """Say what came of the editor; nothing when it went well."""
        self.below(one_line(said, 200))


class SendingArea(EditArea):
    """A text of which Enter sends the answer and Ctrl+J begins a new line; what is pasted is never sent by itself."""

    async def on_key(self, event: Key) -> None:
        wanted = keymap_of(self.app).at(keys.SAY, event.key)
        if not wanted:
            return
        event.stop()
        event.prevent_default()
        if wanted == "say.send":
            await self.screen.run_action("send")
        else:
            self.insert("\n")


class TextAnswer(WrittenAnswer[Given]):
    """Asks for words or a value.

    Args:
        title: one line, safe.
        content: what is asked, and what the words are for; safe.
        made: makes the answer.
        text: what stands there at first.
        lines: Enter begins a new line and only the key that decides sends, for texts to edit.
    """

    _end = False

    def __init__(
        self, title: str, content: Content, made: Callable[[str], Json], *, text: str = "", lines: bool = False
    ) -> None:
        super().__init__(title)
        self._content = content
        self._made = made
        self._text = text
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Dialog(self._heading, large=self._lines, id="saying"):
            yield DialogText(self._content)
            area = EditArea if self._lines else SendingArea
            yield area(safe_text(self._text), id="say", compact=True, tab_behavior="focus", soft_wrap=True)
            yield Static(id="say-sends", markup=False)
            send = self.SENDS[0] if self._lines else "say.send"
            does = self.does or _(self.SENDS[1])
            yield self.buttons((send, does), ("form.editor", _("Editor")), ("form.cancel", _("Back")))

    def on_mount(self) -> None:
        self._area.focus()
        if self.must_read:
            self.watch(self._area, "scroll_y", self._look_for_end, init=False)
        else:
            self._area.move_cursor(self._area.document.end)

    def begin_anew(self) -> None:
        self._end = False
        if self.must_read:
            self.call_after_refresh(self._look_for_end)

    def _look_for_end(self) -> None:
        if not self._end and self._area.size.height and self._area.scroll_offset.y >= self._area.max_scroll_y:
            self._end, self._told = True, ""
            self.guard.drawn()  # a key that was pressed before the end could be seen decides nothing
        self.show_state()

    @property
    def unread(self) -> bool:
        return self.must_read and not self._end

    def key_specs(self) -> Sequence[keys.KeySpec]:
        specs = super().key_specs()
        if self._lines:
            return specs
        enter = next(spec for spec in keys.of(keys.SAY) if spec.id == "say.send")  # what its button names, too
        enter = enter._replace(label=self.does.lower() or enter.label)
        return [enter if spec.id == "form.approve" else spec for spec in specs]

    @property
    def _area(self) -> EditArea:
        return self.query_one("#say", EditArea)

    @property
    def written(self) -> str:
        """What was written, exactly."""
        return self._area.written

    def answer(self) -> Json:
        return self._made(self.written)

    def show_answer(self, answer: Given) -> None:
        if self.unread:
            self.call_after_refresh(self._look_for_end)
        if isinstance(answer, NothingSaid):
            return
        said, style = _("Sends: {value}").format(value=said_words(answer)), "$text-success"
        if broken := self._broken():
            said, style = f"{said}\n{broken}", "bold $text-warning"
        self._say(said, style)

    def show_error(self, said: str) -> None:
        style = "bold $text-error" if self.written.strip() else "$text-muted"
        self._say(safe_text(said, multiline=False), style)

    def _say(self, said: str, style: str) -> None:
        self.query_one("#say-sends", Static).update(Content.styled(said, style))

    def _broken(self) -> str:
        """Return what is said of a text that begins as JSON and isn't; empty for any other."""
        text = self.written.strip()
        if text[:1] not in ("{", "[") or (self._lines and not is_json(self._text)) or is_json(text):
            return ""
        return _("This starts like JSON but isn't valid JSON, so it would be sent as text.")

    def wrong_words(self) -> str:
        return super().wrong_words() if self.written.strip() else _("nothing to send yet")

    def written_now(self) -> Draft:
        return Draft({"": self._area.text})

    def fill_in(self, draft: Draft) -> None:
        self._area.text = draft.texts[""]
        self._area.move_cursor(self._area.document.end)

    def editor_text(self) -> str:
        return self.written

    def take_editor_text(self, text: str) -> str:
        self._area.text = safe_text(text)
        return ""


class FieldsAnswer(WrittenAnswer[Answered], ReadToEnd[Answered], Generic[Answered]):
    """Asks for fields.

    Args:
        title: one line, safe.
        form: the fields, and what stands in them at first.
        made: makes the answer of the fields' values.
    """

    LABEL = mark("Will be sent")

    def __init__(self, title: str, form: Form, made: Callable[[dict[str, Json]], Answered]) -> None:
        super().__init__(title)
        self.form = form
        self._made = made
        self.boxes = [self.box(field, number) for number, field in enumerate(form.fields)]
        self._extra: dict[str, Json] = {}
        """Values that only the editor gave: the form has no line for them."""
        self._unread = ""
        """What came back from the editor and couldn't be used."""

    def box(self, field: Field, number: int) -> FieldInput | FieldArea:
        """Return the field on the screen."""
        present = self.form.present
        return FieldArea(field, present) if needs_area(field, present) else FieldInput(field, present, number)

    def label(self, field: Field) -> str:
        """Return what a field is called, one safe line."""
        return safe_text(field.name, multiline=False)

    def compose(self) -> ComposeResult:
        with Dialog(self._heading, large=True, id="filling"):
            yield from self.field_rows()
            yield Static(Content(_(self.LABEL)), classes="dialog-label")
            with ReadingText(id="filling-shown", classes="dialog-shown", can_focus=False):
                yield Rows(id="filling-result")
            send = self.SENDS[0], self.does or _(self.SENDS[1])
            yield self.buttons(send, ("form.editor", _("Editor")), ("form.cancel", _("Back")))

    def field_rows(self) -> ComposeResult:
        """Yield the fields, each after its name, and a line that says what the one in use takes."""
        if not self.boxes:
            return
        names = [self.label(box.field) for box in self.boxes]
        widest = min(_WIDEST_NAME, max(cell_width(name) for name in names))
        with FieldRows():
            for name, box in zip(names, self.boxes, strict=True):
                with Horizontal(classes="dialog-field"):
                    label = Static(Content(name), classes="dialog-name")
                    label.styles.width = widest + 2
                    yield label
                    yield box
        yield Static(Content(self.boxes[0].field.explained), id="field-hint", markup=False)

    def on_mount(self) -> None:
        if self.boxes:
            self.boxes[0].focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Say what the field takes that is written into now."""
        if isinstance(event.widget, FieldInput | FieldArea):
            field = event.widget.field
            name = self.label(field)
            self._hint(field.explained if field.explained == name else f"{name}: {field.explained}")
        elif isinstance(event.widget, Button) and self.boxes:
            self._hint(keymap_of(self.app).named(_("on a button; {form.up} goes back to the fields")))

    def _hint(self, said: str) -> None:
        self.query_one("#field-hint", Static).update(Content(said))

    def on_key(self, event: Key) -> None:
        """Go on from a button with the key that goes on from a field; Enter presses it."""
        down = keymap_of(self.app).at(keys.FORM, event.key) == "form.down"
        if down and event.key != "enter" and isinstance(self.focused, Button):
            event.stop()
            self.focus_next()

    def action_field(self, by: int) -> None:
        """Go to the next or previous field from one of a single line; in others the key is what it is there."""
        if isinstance(self.focused, Button) and by < 0:
            self.focus_previous()
            return
        if not isinstance(self.focused, FieldInput):
            raise SkipAction
        self.set_focus(self.boxes[(self.boxes.index(self.focused) + by) % len(self.boxes)])

    @property
    def texts(self) -> dict[str, str]:
        """What is written, by field."""
        return {box.field.name: box.written for box in self.boxes}

    def values(self) -> dict[str, Json]:
        """Return the fields as they are written.

        Raises:
            BadInput: one isn't what it has to be; the first is named.
        """
        return {**self.form.values(self.texts), **self._extra}

    def answer(self) -> Answered:
        return self._made(self.values())

    def look(self) -> None:
        for box in self.boxes:
            box.set_class(bool(box.field.problem(box.written)), "-wrong")
        super().look()

    def wrong_words(self) -> str:
        names = [self.label(box.field) for box in self.boxes if box.has_class("-wrong")]
        return _("not valid yet: {names}").format(names=", ".join(names)) if names else super().wrong_words()

    def written_now(self) -> Draft:
        return Draft({box.field.name: box.text_now for box in self.boxes}, self._extra)

    def fill_in(self, draft: Draft) -> None:
        self._extra = dict(draft.extra)
        for box in self.boxes:
            box.text_now = draft.texts.get(box.field.name, box.text_now)

    def show_answer(self, answer: Answered) -> None:
        self.query_one(Rows).show(payload_rows(self.values(), self.form.present))
        if self.must_read:
            self.text.restart()
            self._end = False
            self.call_after_refresh(self.look_for_end)

    @property
    def unread(self) -> bool:
        return self.must_read and not self._end

    def end_seen(self) -> None:
        self._told = ""
        self.guard.drawn()  # a key that was pressed before the end could be seen decides nothing

    def show_error(self, said: str) -> None:
        shown = _("error: {message}").format(message=safe_text(said, multiline=False))
        self.query_one(Rows).show([text_row(shown, "bold $text-error")])

    @property
    def _long_text(self) -> FieldArea | None:
        """The field with the focus, when that holds a long text: the editor takes it by itself."""
        area = self.focused
        return area if isinstance(area, FieldArea) and area.field.type == "string" else None

    def editor_text(self) -> str:
        """Return what the editor opens with: a long text, what came back unusable, or the fields as JSON."""
        if self._long_text is not None:
            return self._long_text.written
        return self._unread or self.form.to_json(self.texts, self._extra)

    def take_editor_text(self, text: str) -> str:
        if self._long_text is not None:
            self._long_text.text = safe_text(text)
            return ""
        self._unread = text
        try:
            found = strict_json(text)
        except BadInput as error:
            return self._not_read(_("{error} {form.editor} opens it again as you left it."), error)
        except ValueError as error:
            said = _("The edited text isn't valid JSON ({error}); {form.editor} opens it again as you left it.")
            return self._not_read(said, error)
        why = self.unusable(found)
        if why or not isinstance(found, dict):
            return why
        self._unread, self._extra = "", self.form.unknown(found)
        for box in self.boxes:
            box.fill(found)
        self.look()
        return ""

    def _not_read(self, text: str, error: Exception) -> str:
        return keymap_of(self.app).named(text).replace("{error}", translate(*error.args[:1]))

    def unusable(self, found: Json) -> str:
        """Return why JSON from the editor can't be used; empty when it can."""
        if isinstance(found, dict):
            return ""
        said = _("The edited text can't be used: it must be one JSON object; {form.editor} opens it again.")
        return keymap_of(self.app).named(said)
