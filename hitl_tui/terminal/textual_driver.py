"""A driver of Textual's that fits real terminals: odd key reports, the last size, a terminal that is gone."""

from __future__ import annotations

import errno
import os
import re
import selectors
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from rich.segment import Segment
from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.constants import ESCAPE_DELAY
from textual.driver import Driver
from textual.filter import LineFilter
from textual.geometry import Size
from textual.keys import Keys
from textual.message import Message

from hitl_tui.core.safe_text import cell_width
from hitl_tui.terminal.ascii_signs import SIGNS, is_utf8
from hitl_tui.terminal.ascii_signs import ascii_wanted as ascii_wanted
from hitl_tui.terminal.stdio_redirect import StdioRedirect

if TYPE_CHECKING:
    from textual.app import App

_ALTERNATES = re.compile(r"\x1b\[(\d+)(?::[\d:]*)?((?:;\d*)?)((?::\d*)?)((?:;[\d:]*)?)([u~ABCDEFHPQRS])")
_RELEASED = ":3"
ESCAPE = "\x1b"
_START, _END = "\x1b[200~", "\x1b[201~"
"""Marks around what is pasted."""
_BEGUN = "\x1b["
_SPLIT = 2.0
"""Seconds after which the rest of a mark doesn't come any more; but for its first two characters no key begins so."""


def plain_report(sequence: str) -> str:
    """Return a key report without alternate keys and event types; empty for the release of a key.

    `ESC[12609::97u` says that ㅁ was pressed where `a` is; what counts is the ㅁ that was typed.
    """
    match = _ALTERNATES.fullmatch(sequence)
    if match is None:
        return sequence
    code, modifiers, event_type, text, end = match.groups()
    if event_type == _RELEASED:
        return ""
    return f"\x1b[{code}{modifiers}{text}{end}"


# Relies on `textual._xterm_parser.XTermParser` with `feed`, `tick` and `_sequence_to_key_events(sequence, alt)`, and on
# `Parser._timeout_time`: not None while it waits for what follows an escape. As of Textual 8.2.8.
# Upstream: nothing within a bracketed paste is given out as keys; reports of alternate keys and of releases are read;
# a report that isn't known is ignored and doesn't raise.
class TolerantParser(XTermParser):
    """The parser of terminal input.

    It doesn't raise for key reports that it doesn't know. And what is pasted is never taken for keys: Textual gives an
    escape sequence that it doesn't know back as keys, those within a paste, too, with the ends of lines that follow;
    a paste could answer a question. Here it gets nothing within a paste that begins a sequence.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._held = ""
        self._held_at = 0.0
        self._escaped = False
        """An escape was the last that the parser got."""

    def feed(self, data: str) -> Iterable[Message]:
        """Take what was read; nothing, as when a character came in part only, isn't the end of it."""
        for part in self._parts(self._held + data) if data else ():
            yield from super().feed(part)

    def end(self) -> Iterable[Message]:
        """Nothing comes any more; what was held is given out."""
        data, self._held = self._held, ""
        if data and not self._pasting:
            yield from super().feed(data)
        yield from super().feed("")

    def tick(self) -> Iterable[Message]:
        yield from super().tick()
        waited = time.monotonic() - self._held_at
        if self._held and not self._pasting and waited > (ESCAPE_DELAY if _BEGUN.endswith(self._held) else _SPLIT):
            data, self._held = self._held, ""  # it was no beginning of a paste
            yield from super().feed(data)

    def _parts(self, data: str) -> Iterator[str]:
        """Yield what the parser gets of it now; the beginning of a mark is held until the rest of it comes."""
        self._held = ""
        waits = self._timeout_time is not None  # for what follows the escape; else that was told as a key
        if self._escaped and data.startswith(_START[1:]):
            yield _START[1:] if waits else _START
            self._pasting, data = True, data[len(_START) - 1 :]
        elif self._escaped and waits and _START[1:].startswith(data):
            self._hold(data)
            return
        self._escaped = False
        while data:
            mark = _END if self._pasting else _START
            before, found, data = data.partition(mark)
            begun = "" if found else _beginning(before, mark)
            if begun == ESCAPE and not self._pasting:  # it may be the key: the parser knows when
                self._escaped, begun = True, ""
            before = before[: len(before) - len(begun)]
            if shown := before.replace(ESCAPE, "") if self._pasting else before:
                yield shown
            if found:
                yield mark
                self._pasting = not self._pasting
            else:
                self._hold(begun)

    def _hold(self, data: str) -> None:
        self._held, self._held_at = data, time.monotonic()

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        plain = plain_report(sequence)
        if not plain:
            return [events.Key(Keys.Ignore, sequence)]
        try:
            return list(super()._sequence_to_key_events(plain, alt))
        except (ValueError, OverflowError):
            return [events.Key(Keys.Ignore, sequence)]


def _beginning(text: str, mark: str) -> str:
    """Return the end of a text that may be the beginning of a mark; empty for none."""
    return next((mark[:n] for n in range(len(mark) - 1, 0, -1) if text.endswith(mark[:n])), "")


HUNG_UP = 129
"""Exit code of a console whose terminal is gone, as a shell gives it to what a hang-up ended."""

_STANDARD_ERROR = 2

_BOX = re.compile("[\u2500-\u257f\u2580-\u259f]")
_HEAVY = str.maketrans(dict.fromkeys("┏┓┗┛┃", "#") | {"━": "="})
"""Frames of what has the focus: they are told from others without colour, too."""
_BRAILLE = re.compile("[\u2800-\u28ff]")
_MOVING = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


class Drawn(LineFilter):
    """The last look at each line before it goes to the terminal.

    Text is made safe where it enters (`safe_text`); what slipped through all the same, or was pasted into a field,
    is taken out here, so that nothing but Textual ever moves the cursor. Where signs aren't wanted or can't be
    written, others of the same width stand for them.

    Args:
        plain: draw signs and frames in ASCII; letters of all scripts stay.
        encoding: of what is written; what it has no form for is shown as `?`.
    """

    def __init__(self, *, plain: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self.plain = plain
        self.encoding = "" if is_utf8(encoding) else encoding

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [self._segment(segment) for segment in segments]

    def _segment(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control is not None or (text.isascii() and text.isprintable()):
            return segment
        shown = _harmless(text)
        if self.plain:
            shown = _in_ascii(shown, self.encoding)
        return Segment(shown, style)


@lru_cache(2048)
def _harmless(text: str) -> str:
    return _MOVING.sub("", text)


@lru_cache(2048)
def _in_ascii(text: str, encoding: str) -> str:
    signs = _BRAILLE.sub("*", _BOX.sub("+", text.translate(_HEAVY).translate(SIGNS)))
    if not encoding or signs.isascii():
        return signs
    return "".join(c if _has_form(c, encoding) else "?" * cell_width(c) for c in signs)


@lru_cache(1024)
def _has_form(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class _Outlet:
    """The terminal as a file. Once it is gone, what is written goes nowhere: the thread that writes has to live on."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._tried(lambda: self._file.write(text))

    def flush(self) -> None:
        self._tried(self._file.flush)

    def fileno(self) -> int:
        return self._file.fileno()

    @staticmethod
    def _tried(work: Callable[[], object]) -> None:
        try:
            work()
        except OSError as error:
            if error.errno != errno.EIO:
                raise


def _is_terminal(file: Any) -> bool:
    """Return whether a file is standard error as the process has it, and a terminal."""
    try:
        return bool(file.fileno() == _STANDARD_ERROR and os.isatty(_STANDARD_ERROR))
    except (OSError, ValueError, AttributeError):
        return False


def _own(file: Any) -> IO[str]:
    """Return the same file by a descriptor of its own."""
    return os.fdopen(os.dup(file.fileno()), "w", encoding=file.encoding, errors=file.errors)


def _nowhere(lines: Sequence[str]) -> None:
    """Drop what an app of somebody else's has no use for."""


def tolerant(base: type[Driver]) -> type[Driver]:
    """Return a driver class for a terminal as it really is; others than Linux's and the browser's stay as they are.

    It reads its input through `TolerantParser`, the last size always wins, and the app ends when the terminal is gone.
    While it draws, descriptors 0 to 2 are redirected (`StdioRedirect`): what is written there goes to `strayed`.
    """
    from textual.drivers.linux_driver import LinuxDriver

    if hasattr(base, "parser"):  # the browser's

        class TolerantPage(base):  # type: ignore[misc, valid-type]
            parser = TolerantParser

        return TolerantPage

    if not issubclass(base, LinuxDriver):
        return base

    # Relies, as of Textual 8.2.8, on what `LinuxDriver` keeps (`_file`, `fileno`, `_app`, `_loop`, `_debug`,
    # `exit_event`, `_auto_restart`, `_must_signal_resume`, `_in_band_window_resize`) and on the methods overridden:
    # `_get_terminal_size`, `_sigtstp_application`, `run_input_thread`, `start_` and `stop_application_mode`.
    # Upstream: the size is read by the event loop and not within a signal handler, SIGTSTP stops the process group, a
    # terminal that is gone ends the app, and standard streams can be redirected while it draws.
    class TolerantDriver(base):  # type: ignore[misc, valid-type]
        _asked = False
        _file: Any
        fileno: int

        def __init__(self, app: App[Any], **options: Any) -> None:
            super().__init__(app, **options)
            self._apart = StdioRedirect(self._strayed) if _is_terminal(self._file) else None
            self._file = _Outlet(_own(self._file) if self._apart else self._file)
            if self._apart:
                self.fileno = os.dup(self.fileno)

        def _get_terminal_size(self) -> tuple[int, int]:
            if self._apart and not (os.environ.get("COLUMNS") or os.environ.get("LINES")):
                with suppress(OSError):
                    columns, rows = os.get_terminal_size(self._file.fileno())  # standard output may be no terminal now
                    return columns or 80, rows or 25
            found: tuple[int, int] = super()._get_terminal_size()
            return found

        def _strayed(self, lines: Sequence[str]) -> None:
            with suppress(RuntimeError):  # the console was left meanwhile
                self._loop.call_soon_threadsafe(getattr(self._app, "strayed", _nowhere), lines)

        def start_application_mode(self) -> None:
            # Textual reads the size within the signal handler. A signal that comes between reading and posting is
            # handled in between: the newer size is posted first, and the older one stays.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
            # The first picture is laid out before the size is told, and asks standard streams, which lead elsewhere.
            self._size = self._get_terminal_size()
            try:
                super().start_application_mode()
                signal.signal(signal.SIGWINCH, self._ask_size)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            if self._apart:
                self._apart.begin()

        def stop_application_mode(self) -> None:
            try:
                super().stop_application_mode()
            finally:
                if self._apart:
                    self._apart.end()

        def _sigtstp_application(self, *__: object) -> None:
            """Stop with whatever started this one: else a shell would wait for that, which goes on.

            The terminal is given back first; what started it would give it to the shell sooner.
            """
            if self._auto_restart:
                self.suspend_application_mode()
                self._must_signal_resume = True
            os.kill(0, signal.SIGSTOP)

        def _ask_size(self, *__: object) -> None:
            """A signal says that the size changed; the loop reads it, so that what was read last is posted last."""
            if not self._asked:
                self._asked = True
                self._loop.call_soon_threadsafe(self._read_size)

        def _read_size(self) -> None:
            self._asked = False  # first: a signal from here on asks again
            if not self._in_band_window_resize:
                size = Size(*self._get_terminal_size())
                self.process_message(events.Resize(size, size))

        def _read(self) -> bytes:
            """Return what was typed; nothing when the terminal is gone."""
            try:
                return os.read(self.fileno, 4096)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return b""

        def run_input_thread(self) -> None:
            parser = TolerantParser(self._debug)
            decode = getincrementaldecoder("utf-8")(errors="replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(0.1):
                        data = self._read()
                        if not data:
                            self._app.call_later(self._app.exit, None, HUNG_UP)
                            break
                        for event in parser.feed(decode(data)):
                            self.process_message(event)
                    for event in parser.tick():
                        self.process_message(event)
            try:
                for event in parser.end():
                    self.process_message(event)
            except (EOFError, ParseError):
                return

    return TolerantDriver
