"""`ConsoleKeyboard`: brings what is typed into a console to the key guard, and does what the guard says with it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from textual.events import Event, Key, MouseDown, Paste
from textual.geometry import Region
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from hitl_tui.console import keys
from hitl_tui.console.keyguard.guard import BlockReason, KeyGuard, KeyKind, Typed, again
from hitl_tui.console.keyguard.key_kinds import kind_bound, told
from hitl_tui.console.keyguard.key_targets import KeyScreen, PromptField, SearchField
from hitl_tui.console.keymap import Keymap


class KeyboardApp(Protocol):
    """The app, as far as its keyboard is concerned."""

    keymap: Keymap

    @property
    def screen(self) -> Screen[object]: ...

    @property
    def screen_stack(self) -> Sequence[Screen[object]]: ...

    def notice_typing(self) -> None:
        """Somebody types."""

    async def deliver(self, event: Typed) -> None:
        """Let Textual hand a key or paste to what has the focus."""

    def say(self, text: str) -> None:
        """Show one safe line."""

    def when_shown(self, callback: Callable[[], None], region: Callable[[], Region | None]) -> None:
        """Call something once the terminal shows what is drawn in a region; see `PaintedApp.when_shown`."""

    def call_later(self, callback: Callable[[], object], /) -> bool: ...

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]], /) -> Timer: ...


class EarlyKeys:
    """Keeps what was typed too early, in the order it was typed in. From the start it keeps everything.

    Args:
        take: is given each of it, once something can take it.
    """

    def __init__(self, take: Callable[[Event], Awaitable[None]]) -> None:
        self._take = take
        self._kept: list[Event] | None = []

    def __contains__(self, event: object) -> bool:
        return event in (self._kept or ())

    def begin(self) -> bool:
        """Keep what comes from now on; return False when that was so already."""
        if self._kept is not None:
            return False
        self._kept = []
        return True

    def keep(self, event: Event) -> bool:
        """Keep what was typed; return False, and do nothing, when there is something that can take it."""
        if self._kept is None:
            return False
        self._kept.append(event)
        self._kept.sort(key=lambda kept: kept.time)
        return True

    async def hand_on(self) -> None:
        """Hand on what was kept, and keep nothing more."""
        kept, self._kept = self._kept, None
        for event in kept or ():
            await self._take(event)


class ConsoleKeyboard:
    """The `Keyboard` of a console. The app forwards every event to `takes`; the rules are those of `KeyGuard`.

    Args:
        app: the console.
        clock: monotonic seconds.
    """

    def __init__(self, app: KeyboardApp, clock: Callable[[], float]) -> None:
        self._app = app
        self.guard = KeyGuard(self, clock)
        self.early = EarlyKeys(self._see)
        self._typed_at: WeakKeyDictionary[Key, object] = WeakKeyDictionary()
        """The screen that a key was typed at, while it is on its way."""

    # From the app ----------------------------------------------------------------------------------------------

    async def takes(self, event: Event) -> bool:
        """Take an event of the app's if it is typed; return False where Textual shall handle it as always."""
        if isinstance(event, (Key, Paste)) and not event.is_forwarded:
            self._app.notice_typing()
            await self._see(event)
            return True
        if isinstance(event, Key) and not self._app.screen.is_mounted:  # what had the focus had no use for it
            self._kept(again(event))
            return True
        if self._left_behind(event):
            return True
        if isinstance(event, MouseDown):
            self.guard.click(time.monotonic() - event.time)
        return False

    async def _see(self, event: Event) -> None:
        if isinstance(event, (Key, Paste)) and not self._kept(event):
            await self.guard.see(event)

    def _left_behind(self, event: Event) -> bool:
        """Return whether a character meant nothing where it was typed, and that is left: here it may mean something."""
        if not isinstance(event, Key) or not event.is_printable:
            return False
        typed_at = self._typed_at.get(event)
        return typed_at is not None and typed_at is not self._app.screen

    def _kept(self, event: Event) -> bool:
        """Keep what is typed while nothing can take it: at the start, and while a dialog is being built."""
        if not self._app.screen.is_mounted and self.early.begin() and not self._app.screen.call_later(self.take_early):
            self.take_early()
        return self.early.keep(event)

    def take_early(self) -> None:
        """Hand on what was typed before a screen could take it; called by the first one, once it has a prompt."""
        self._app.call_later(self.early.hand_on)  # there what arrives until then is already among it, in its order

    # See `Keyboard` --------------------------------------------------------------------------------------------

    def kind_of(self, event: Typed) -> KeyKind:
        screen = self._app.screen
        if isinstance(event, Key) and isinstance(screen, KeyScreen) and (known := screen.kind_of(event)) is not None:
            return known
        kind = self._kind_by_focus(event)
        stray = kind is KeyKind.OTHER and isinstance(event, Key) and event.is_printable
        return KeyKind.STRAY if stray and self.prompt_below is not None else kind

    def _kind_by_focus(self, event: Typed) -> KeyKind:
        if isinstance(event, Paste):
            return KeyKind.TEXT
        self._find_focus()
        focused = self._app.screen.focused
        field = isinstance(focused, (Input, TextArea))
        if field and event.key == "enter":
            return KeyKind.SENDS
        seeks = isinstance(focused, SearchField) and focused.takes_text
        if (field or seeks) and event.is_printable:
            return KeyKind.TEXT
        active = self._app.screen.active_bindings.get(event.key)
        name = (active.binding.id or "") if active is not None else ""
        if isinstance(focused, PromptField) and self._app.keymap.at(keys.PROMPT, event.key) == "prompt.complete":
            return KeyKind.COMPLETES
        if name.endswith(".find") and isinstance(focused, SearchField):
            return KeyKind.TEXT  # what comes after it is text, too
        return kind_bound(event, name)

    def place(self) -> object:
        return self._app.screen, self._app.screen.focused

    async def as_text(self, key: Key) -> bool:
        if self.prompt_below is not None:
            await self.type_below(key)
            return True
        screen = self._app.screen
        if not isinstance(screen, KeyScreen) or not screen.focus_text():
            return False
        await self.hand_on(key)
        return True

    async def hand_on(self, event: Typed) -> None:
        """Hand what was typed to what has the focus, or keep it until something can take it.

        What is pasted into a dialog without a field goes to the prompt below it.
        """
        if isinstance(event, Paste) and self.prompt_below is not None:
            await self.type_below(event)
            self.tell(BlockReason.WORDS)
            return
        if self._kept(event):
            return
        self._find_focus()
        screen = self._app.screen
        if isinstance(screen, KeyScreen):
            screen.typed()
        if isinstance(event, Key):
            self._typed_at[event] = screen
        await self._app.deliver(event)

    def tell(self, why: BlockReason) -> None:
        screen = self._app.screen
        field = isinstance(screen.focused, (Input, TextArea)) or self.prompt_below is not None
        words = told(why, self._app.keymap, field=field)
        if not (isinstance(screen, KeyScreen) and screen.show_refusal(words)):
            self._app.say(words)

    def when_shown(self, callback: Callable[[], None]) -> None:
        self._app.when_shown(callback, self._asked_region)

    def _asked_region(self) -> Region | None:
        screen = self._app.screen
        return screen.asked_region if isinstance(screen, KeyScreen) else screen.region

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]]) -> Timer:
        return self._app.set_timer(delay, callback)

    # Where text goes -------------------------------------------------------------------------------------------

    @property
    def prompt_below(self) -> PromptField | None:
        """The prompt below a dialog without a text field; None where the screen takes text itself, or none is below."""
        screen = self._app.screen
        if not isinstance(screen, KeyScreen) or not screen.covers_prompt or not screen.is_mounted:
            return None
        if screen.query("Input, TextArea"):
            return None
        below = (screen for screen in reversed(self._app.screen_stack[:-1]) if screen.is_mounted)
        return next((prompt for screen in below for prompt in screen.query(PromptField)), None)

    async def type_below(self, event: Typed) -> None:
        """Type something into the prompt below a dialog, which keeps it there."""
        if (prompt := self.prompt_below) is not None:
            await prompt.take(event)

    def _find_focus(self) -> None:
        focused = self._app.screen.focused
        if focused is None or not focused.display:  # a click may give it to what is gone by then
            self._focus_field()

    def window_focused(self) -> None:
        """Give what is typed a place when the window has the focus again, and what had it before is gone."""
        if self._app.screen_stack and self._app.screen.focused not in self._app.screen.focus_chain:
            self._focus_field()

    def _focus_field(self) -> None:
        """Give the focus to the screen's first text field, if it has one."""
        screen = self._app.screen
        found = screen.query("Prompt, Input, TextArea")
        if (field := next((w for w in screen.focus_chain if w in found), None)) is not None:
            screen.set_focus(field, scroll_visible=False)
