"""The prompt of line mode at a terminal: history, completion, a toolbar; lines that come meanwhile don't disturb it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer
from prompt_toolkit.completion import Completion as Shown
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from hitl_tui.commands.completion import Completion
from hitl_tui.core.bursts import BURST, Bursts
from hitl_tui.language import mark, translate
from hitl_tui.terminal.ascii_signs import _, signs, writable

HISTORY = "line-history"
_LONGEST_KEPT = 10_000
_BYTES_KEPT = 1_000_000

_AT_ONCE = mark("That arrived all at once, like a paste, so it wasn't sent; Enter sends it.")
_AGAIN = mark("Press Ctrl-D again to leave; leaving decides nothing.")


class CommandCompleter(Completer):
    """Hands the commands' completions to prompt_toolkit.

    Args:
        find: returns completions of a line at a cursor.
    """

    def __init__(self, find: Callable[[str, int], Awaitable[list[Completion]]]) -> None:
        self._find = find

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Shown]:
        """Return nothing: what there is has to be awaited."""
        yield from ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Shown, None]:
        cursor = document.cursor_position
        for found in await self._find(document.text, cursor):
            yield Shown(
                found.text, found.start - cursor, display=writable(found.display), display_meta=_meta(found.help)
            )


def _meta(help: str) -> str:
    """Return what stands beside a completion; its first word says how something stands, the rest names it."""
    first, dot, rest = help.partition(" · ")
    return writable(translate(help) if not dot else f"{translate(first)}{signs(dot)}{rest}")


class _KeptHistory(FileHistory):
    """A history whose lines reach the file once they were carried out: only then is it known what is secret in them.

    Args:
        path: the file.
        mask: replaces the values of secrets by their names.
    """

    def __init__(self, path: Path, mask: Callable[[str], str]) -> None:
        super().__init__(str(path))
        self._mask = mask
        self._last = ""

    def store_string(self, string: str) -> None:
        self.write()
        self._last = string

    def write(self) -> None:
        """Write the last line to the file."""
        line, self._last = self._mask(self._last), ""
        if line and len(line) <= _LONGEST_KEPT:  # a longer one is there until the program ends
            with suppress(OSError):  # a full disk costs the history of this line, not the session
                super().store_string(line)


@contextmanager
def open_history(path: Path, mask: Callable[[str], str]) -> Iterator[History]:
    """Yield the history kept in a file that only its owner can read, or one in memory where that can't be."""
    try:
        path.touch(mode=0o600)
        _shorten(path)
    except OSError:
        yield InMemoryHistory()
        return
    history = _KeptHistory(path, mask)
    try:
        yield history
    finally:
        history.write()


def _shorten(path: Path) -> None:
    """Keep the last lines of a history that has grown too long; prompt_toolkit reads all of it, and only adds."""
    size = path.stat().st_size
    if size <= _BYTES_KEPT:
        return
    with path.open("rb") as file:
        file.seek(size - _BYTES_KEPT // 2)
        kept = file.read()
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    # An entry begins with an empty line and the comment that says when.
    fresh.write_bytes(kept[kept.find(b"\n# ") + 1 :])
    fresh.chmod(0o600)
    fresh.replace(path)


class PromptLines:
    """Lines typed at a terminal; see `Source`.

    Args:
        history: earlier lines.
        find: see `CommandCompleter`.
        prompt: returns what stands before the line.
        toolbar: returns what stands at the bottom.
        began: called when the first key of a line is typed.
        say: prints lines.
        hint: returns what stands at the bottom instead while a line is typed; empty for the toolbar.
        keys: characters that are told apart from pasted ones where they are pressed alone.
        clock: monotonic seconds, for what comes all at once.
    """

    waits = False

    def __init__(
        self,
        history: History,
        find: Callable[[str, int], Awaitable[list[Completion]]],
        prompt: Callable[[], str],
        toolbar: Callable[[], str],
        began: Callable[[], None],
        say: Callable[[list[str]], None],
        hint: Callable[[str], str] = lambda line: "",
        keys: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = tuple(keys)
        self._prompt = prompt
        self._say = say
        self._began = began
        self._empty = True
        self._clock = clock
        self._bursts = Bursts()
        self._ending: asyncio.TimerHandle | None = None
        self._told = False
        self._pressed = ""
        self.key = ""
        """See `LineSource`."""
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=CommandCompleter(find),
            complete_while_typing=False,
            key_bindings=self._bindings(),
            bottom_toolbar=lambda: writable(hint(self._session.default_buffer.text) or toolbar()),
        )
        self._session.default_buffer.on_text_changed += self._typed
        self._session.app.key_processor.before_key_press += self._came

    def _bindings(self) -> KeyBindings:
        """Return the keys that send: none of a burst does, and Enter waits to see whether it begins one."""
        bindings = KeyBindings()
        for key in self._keys:
            bindings.add(key)(self._press)
        bindings.add("enter")(self._enter)
        bindings.add("c-j")(self._enter)  # what a terminal sends that wasn't asked for single keys yet
        bindings.add("c-u")(self._discard)
        return bindings

    def _press(self, event: KeyPressEvent) -> None:
        """Insert a character as usual; the first of a line is kept, to tell it from one that was pasted."""
        first = not event.current_buffer.text
        event.current_buffer.insert_text(event.data * event.arg)
        self._pressed = event.data if first else ""

    def _discard(self, event: KeyPressEvent) -> None:
        """Cut all that stands before the cursor, earlier lines of what was pasted included."""
        buffer = event.current_buffer
        event.app.clipboard.set_text(buffer.delete_before_cursor(buffer.cursor_position))

    def _came(self, *_: object) -> None:
        """A key came: a line end that was held isn't the last, so that it is text."""
        self._bursts.came(self._clock())
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
            self._break_line()

    def _enter(self, event: KeyPressEvent) -> None:
        if self._bursts.breaks_line(event.current_buffer.document.char_before_cursor):
            self._break_line()
        else:
            self._ending = asyncio.get_running_loop().call_later(BURST, self._send)

    def _send(self) -> None:
        self._ending = None
        if self.app.is_running:
            self._session.default_buffer.validate_and_handle()

    def _break_line(self) -> None:
        buffer = self._session.default_buffer
        if buffer.text:
            buffer.insert_text("\n")
            if not self._told:
                self._told = True
                self._say([_(_AT_ONCE)])

    @property
    def app(self) -> Application[str]:
        return self._session.app

    async def next(self) -> str | None:
        """Return the next line; None when Ctrl-D was pressed twice. Ctrl-C drops what was typed."""
        ends = 0
        while True:
            self._empty, self._told = True, False
            self._pressed = self.key = ""
            try:
                line = await self._session.prompt_async(self._prompt)
            except KeyboardInterrupt:
                ends = 0
            except EOFError:
                ends += 1
                if ends == 2:
                    return None
                self._say([_(_AGAIN)])
            else:
                self.key = line if line == self._pressed else ""
                return line

    def _typed(self, buffer: Buffer) -> None:
        empty = not buffer.text
        if self._empty and not empty:
            self._began()
        if empty:
            self._pressed = ""
        self._empty = empty
