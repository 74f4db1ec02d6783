"""The guard of the keyboard: which key decides, which one is text, and when."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, cast

from textual.events import Key, Paste
from textual.timer import Timer

from hitl_tui.core.bursts import ARM_AFTER, BURST, Bursts

if TYPE_CHECKING:
    from textual.app import App

ALONE_FOR = 0.35
"""Seconds without another character that make a digit or letter an answer."""

_SOON = 0.001
"""Seconds of the shortest timer there is."""

Typed = Key | Paste


class KeyKind(Enum):
    """What a key would do where the focus is."""

    TEXT = "it is typed into a text field"
    WORD = "a character that means nothing there"
    STRAY = "a character that means nothing in a dialog without a text field"
    LOOKS = "a character that does something, and decides nothing"
    DECIDES = "a character that may decide"
    SENDS = "Enter in a text field"
    COMPLETES = "Tab at a prompt"
    COMMANDS = "a key without a character that sends"
    COMMITS = "a key without a character that decides, so that it waits for the pause after typing"
    OTHER = "anything else"


class BlockReason(Enum):
    """Why a key did nothing."""

    WORDS = "other characters came with it"
    KEYS = "it means nothing in a dialog that takes keys only"
    BURST = "it came in a burst"
    LINES = "it came in a burst and ended a line of text"
    FOLLOWED = "another key came right after it"
    GONE = "what it was for is gone"


class Keyboard(Protocol):
    """The console, as far as what is typed is concerned."""

    def kind_of(self, event: Typed) -> KeyKind:
        """Return what a key would do now."""

    def place(self) -> object:
        """Return what stands for where the focus is now."""

    async def as_text(self, key: Key) -> bool:
        """Type a character that would have decided as text; return False where there is no field for it."""

    async def hand_on(self, event: Typed) -> None:
        """Hand a key on to what has the focus."""

    def tell(self, why: BlockReason) -> None:
        """Say why a key did nothing."""

    def when_shown(self, callback: Callable[[], None]) -> None:
        """Call something once the terminal shows what is asked as it is now; it takes the place of one that waits."""

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]]) -> Timer:
        """Call something in so many seconds."""


_NO_CHARACTER: tuple[float, object, Key | None] = (float("-inf"), None, None)
"""When a character came that typed no text, where, and which one when it did something by itself."""


@dataclass(frozen=True)
class _Held:
    key: Key
    kind: KeyKind
    at: float
    due: float
    place: object
    burst: bool = False


class KeyGuard:
    """Sees every key of a console, each with the time at which it was pressed, and hands it on, holds or drops it.

    `ConsoleKeyboard` brings it what is typed; `QuestionGuard`, `ReadProgress` and `DialogKeys` carry its rules out at
    the question. The rules, all of them:

    When a key decides

    - A question, or a dialog that decides, arms half a second after it was drawn, changed, or read to its end, and
      that was written to the terminal: a busy console may take a while for it. A key that was pressed before then is
      dropped (`decides`). A page that connects has shown nothing: all of this begins anew with it (`begin`).
    - After a key that typed text it takes half a second until another decides. A digit or letter that comes sooner is
      held until then. Keys that go to the question (Ctrl+G, F2, arrows) type nothing.
    - A digit or letter decides only alone: it is held for a third of a second. With another character after it, or
      one just before it, both are text: the prompt's, also of what lies below a dialog without a field. With any
      other key after it, it is dropped. A character that means nothing in such a dialog is no text alone, which is
      said, and with another one the same.
    - Keys less than 30 ms apart are one burst. Nothing in it sends or decides: Enter is the end of a line of text
      there, and what has no text is dropped. Enter is held 30 ms to see whether it begins one. Three or more keys of
      a burst last until a tenth of a second was quiet, as when a slow link delivers a paste in pieces.
    - One exception: Enter together with a single Hangul syllable is a person's, for an input method commits what is
      being composed when Enter is pressed.
    - A key that was held acts only where it was pressed: the same screen, the same focus.
    - A click decides as a key does, half a second after the question had the focus and somebody typed; the click that
      brings the focus there decides nothing, and a click drops what is held.

    At a question

    - What approves counts only once the end of the question was on the screen, or on its screen of details, and after
      all previews that it waits for. Where more is drawn with it, or its end was there for less than half a second, it
      has to be read again.
    - What only looks (details) decides nothing and needs no pause, unless keys come without one after a key that meant
      nothing, came too soon or opened a dialog: those are words, and they turn no question either.
    - What opens a dialog may follow others at once if it came after a pause itself. What is typed until the dialog is
      there belongs to the dialog; what sends or approves in it is left out.

    Where text goes

    - Text is never lost: what is held and turns out to be text is typed, in its order.
    - What is typed before a screen can take it, at the start and while another one is being built, is kept and handed
      on in the order in which it was pressed.
    - A character that means nothing at a question begins words, and `/` in a pane a command: both go to the prompt. So
      does what is typed or pasted in a dialog without a field, where the prompt below keeps it.
    - A character that meant nothing where it was typed means nothing on a screen that came meanwhile.
    - With the focus on nothing, or on what is hidden, it goes to the screen's first field.

    All times are those of the key events, told by `clock`: a console that was busy judges a key by when it came.

    Args:
        keyboard: the console.
        clock: monotonic seconds.
    """

    def __init__(self, keyboard: Keyboard, clock: Callable[[], float]) -> None:
        self._keyboard = keyboard
        self._clock = clock
        self._drawn = clock()
        self._unseen = False
        """What was drawn last isn't on the terminal yet."""
        self._begun = float("-inf")
        """When the page that shows it first showed something; infinite until it does."""
        self._then: Callable[[], object] | None = None
        self._typed = float("-inf")
        self._before = float("-inf")
        self._last = float("-inf")
        self._acting = float("-inf")
        self._clicked = float("-inf")
        self._turned = float("-inf")
        self._rest = (float("-inf"), float("-inf"))
        self._held: _Held | None = None
        self._timer: Timer | None = None
        self._bursts = Bursts()
        self._previous = ""
        self._character = _NO_CHARACTER
        self._words: tuple[float, object] = (float("-inf"), None)
        """When a character of words came that went past what has the focus, and what that was."""
        self.lateness: Callable[[Typed], float] = _lateness
        """Returns how many seconds ago a key was pressed."""
        self.pictures = 0
        """How often something was drawn anew."""
        self.pointer = False
        """The last input came from the mouse."""
        self.dropped = False
        """The key or click that came last made a key that was held do nothing."""

    # What is drawn -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Another page shows the console from now on, and nothing of it yet."""
        self._take()
        self._begun = float("inf")
        self.drawn()

    def drawn(self, then: Callable[[], object] | None = None) -> None:
        """What is asked was drawn just now, anew or changed, or its end came to be seen.

        Args:
            then: called once the terminal shows it; in the place of one that waits.
        """
        self._then = then or self._then
        self._drawn = self._clock()
        self.pictures += 1
        self._unseen = True
        self._keyboard.when_shown(self._shown)

    def _shown(self) -> None:
        self._unseen = False
        self._drawn = self._clock()
        self._begun = min(self._begun, self._drawn)
        then, self._then = self._then, None
        if then is not None:
            then()

    @property
    def now(self) -> float:
        """Seconds by the clock that all this is measured with."""
        return self._clock()

    @property
    def decides(self) -> bool:
        """The key that acts now may decide: it came half a second after what it answers was drawn."""
        return not self._unseen and self._acting - self._drawn >= ARM_AFTER

    @property
    def click_decides(self) -> bool:
        """The click that came last may decide: it came after the pause."""
        at = self._clicked if self.pointer else self._clock()
        return not self._unseen and at - max(self._drawn, self._typed, self._turned) >= ARM_AFTER

    def turned(self) -> None:
        """The focus came to what is asked just now: the click that brought it decides nothing."""
        self._turned = self._clock()

    @property
    def remaining(self) -> float:
        """Seconds until a key decides; 0 when the next one does."""
        if self._unseen:
            return ARM_AFTER
        return max(0.0, ARM_AFTER - (self._clock() - max(self._drawn, self._typed)))

    @property
    def paused(self) -> bool:
        """The key that came last was pressed after a pause."""
        return self._last - self._before >= ARM_AFTER

    def rested_since(self, opened: float) -> bool:
        """Return whether the keyboard rested at some moment since then, which is told as `now` tells it."""
        begun, ended = self._rest
        if self.pointer:
            begun, ended = max((begun, ended), (self._last, self._clicked))
        return ended - max(begun, opened, self._begun) >= ARM_AFTER

    def rest_remaining(self, opened: float) -> float:
        """Return the seconds until the next key comes after a rest since then; 0 when it does already."""
        if self.rested_since(opened):
            return 0.0
        return max(0.0, ARM_AFTER - (self._clock() - max(self._last, opened, self._begun)))

    # What comes ----------------------------------------------------------------------------------------------------

    @property
    def holding(self) -> bool:
        """A key waits for what comes after it."""
        return self._held is not None

    def click(self, late: float = 0.0) -> None:
        """A mouse button was pressed, so many seconds ago; a key that was held is dropped."""
        self._clicked = self._clock() - late
        self.pointer = True
        self.dropped = self._take() is not None
        if self.dropped:
            self._keyboard.tell(BlockReason.FOLLOWED)

    async def see(self, event: Typed) -> None:
        """Take what was typed, and hand on what acts now."""
        at = self._clock() - self.lateness(event)
        self._bursts.came(at)
        near = self._bursts.near
        self._before, self._last, self.pointer = self._last, max(self._last, at), False
        self.dropped = False
        if self.paused:
            self._rest = (self._before, self._last)
        await self._meet(event, at, near)
        before, self._previous = self._previous, (event.character or "") if isinstance(event, Key) else ""
        kind = self._keyboard.kind_of(event)
        place = self._keyboard.place()
        if isinstance(event, Paste) or kind is KeyKind.TEXT:
            self._typed = max(self._typed, at)
            await self._keyboard.hand_on(event)
        elif kind is KeyKind.WORD:
            await self._words_begin(event, at, place)
        elif kind in (KeyKind.STRAY, KeyKind.LOOKS) and self._among_words(kind, at, place):
            await self._words_begin(event, at, place)
            self._keyboard.tell(BlockReason.WORDS)
        elif kind is KeyKind.SENDS:
            if self._bursts.breaks_line(before):
                await self._break_line(event)
            else:
                self._hold(_Held(event, kind, at, at + BURST, place))
        elif kind in (KeyKind.COMMANDS, KeyKind.COMMITS):
            pause = self._typed + ARM_AFTER if kind is KeyKind.COMMITS else at
            self._hold(_Held(event, kind, at, max(at + BURST, pause), place, self._bursts.lasts))
        elif kind is KeyKind.DECIDES:
            await self._character_that_decides(event, at, place, near)
        elif near and kind is KeyKind.COMPLETES:
            await self._keyboard.hand_on(_at_time(Paste("\t"), event))
        else:
            self._character = _NO_CHARACTER
            if event.is_printable:
                self._character = (at, place, event if kind in (KeyKind.LOOKS, KeyKind.STRAY) else None)
                self._acting = float("-inf")  # nothing that wasn't held decides
            if kind is KeyKind.STRAY:
                self._keyboard.tell(BlockReason.KEYS)
            await self._keyboard.hand_on(event)

    async def _break_line(self, enter: Key) -> None:
        self._typed = max(self._typed, self._last)
        self._keyboard.tell(BlockReason.LINES)
        await self._keyboard.hand_on(_at_time(Paste("\n"), enter))

    async def _character_that_decides(self, event: Key, at: float, place: object, near: bool) -> None:
        since, where, __ = self._character
        if at - since < ALONE_FOR and where == place:
            await self._words_begin(event, at, place)
            self._keyboard.tell(BlockReason.WORDS)
        else:
            self._character = (at, place, None)
            self._hold(_Held(event, KeyKind.DECIDES, at, max(at + ALONE_FOR, self._typed + ARM_AFTER), place, near))

    def _among_words(self, kind: KeyKind, at: float, place: object) -> bool:
        """Return whether a character that decides nothing belongs to what was typed just before it."""
        since, where = self._words if kind is KeyKind.LOOKS else self._character[:2]
        return at - since < ALONE_FOR and where == place

    async def _words_begin(self, event: Key, at: float, place: object) -> None:
        """Type a character as text, after the one just before it that did something by itself."""
        since, where, first = self._character
        self._character = (at, place, None)
        self._words = (at, place)
        self._typed = at
        if first is not None and at - since < ALONE_FOR and where == place:
            await self._keyboard.as_text(again(first))
        await self._keyboard.as_text(event)

    async def _meet(self, event: Typed, at: float, near: bool) -> None:
        """Let what is held act, or become text, or go, before another key does anything."""
        held = self._held
        if held is None:
            return
        if at >= held.due and not near:
            await self.release()
            return
        self._take()
        if held.kind is KeyKind.SENDS:
            if held.place == self._keyboard.place():
                await self._break_line(held.key)
        elif held.kind is KeyKind.DECIDES and (isinstance(event, Paste) or event.is_printable):
            self._typed = at
            if held.place == self._keyboard.place():
                self._words = (at, held.place)
                await self._keyboard.as_text(held.key)
            self._keyboard.tell(BlockReason.WORDS)
        else:
            self.dropped = True
            self._keyboard.tell(BlockReason.BURST if near else BlockReason.FOLLOWED)

    # What is held --------------------------------------------------------------------------------------------------

    def _hold(self, held: _Held) -> None:
        self._held = held
        self._timer = self._keyboard.set_timer(max(_SOON, held.due - self._clock()), self.release)

    def _take(self) -> _Held | None:
        held, self._held = self._held, None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        return held

    async def lapse(self) -> None:
        """Release what is held if its time is over by the clock."""
        if self._held is not None and self._clock() >= self._held.due:
            await self.release()

    async def release(self) -> None:
        """Let what is held act: nothing came after it."""
        if (held := self._take()) is None:
            return
        if held.burst:
            self._keyboard.tell(BlockReason.BURST)
        elif held.place != self._keyboard.place():
            if held.kind is not KeyKind.SENDS:  # the line stands where it was typed, or went along
                self._keyboard.tell(BlockReason.GONE)
        else:
            if held.kind is KeyKind.COMMITS:
                self._rest = (self._typed, self._clock())  # it waited for the pause itself
            self.acts(held.at)
            self._character = _NO_CHARACTER
            await self._keyboard.hand_on(held.key)

    def acts(self, at: float) -> None:
        """A key acts that was pressed then, as `now` tells it: what it answers had to be drawn long enough before."""
        self._acting = at


def _lateness(event: Typed) -> float:
    return time.monotonic() - event.time


def again(key: Key) -> Key:
    """Return a key as it was before it was handed on for the first time."""
    fresh = Key(key.key, key.character)
    fresh.time = key.time
    return fresh


def _at_time(fresh: Paste, event: Typed) -> Paste:
    fresh.time = event.time
    return fresh


class Guarded(Protocol):
    """An app with a key guard."""

    @property
    def guard(self) -> KeyGuard: ...


def guard_of(app: App[object]) -> KeyGuard:
    """Return the guard of a console's keyboard."""
    return cast("Guarded", app).guard
