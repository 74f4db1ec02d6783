"""The terminal: key reports that Textual's parser can't take must not end the console, and what is drawn fits it."""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from codecs import lookup as lookup_codec
from collections.abc import Iterable, Mapping
from functools import lru_cache

from rich.segment import Segment
from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter
from textual.keys import Keys

from hitl_tui.core.safe_text import cell_width

_ALTERNATES = re.compile(r"\x1b\[(\d+)(?::[\d:]*)?((?:;\d*)?)((?::\d*)?)((?:;[\d:]*)?)([u~ABCDEFHPQRS])")
_RELEASED = ":3"

ASCII_VARIABLE = "HITL_ASCII"

# As many cells as before, so that nothing moves.
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺╼╾▔▁⎯—–−‐‑", "-"),
        **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻╽╿▏▎▍▌▐▕", "|"),
        **dict.fromkeys("█▉▊▋▓■▪▮", "#"),
        **dict.fromkeys("░▒·․‧▯▫", "."),
        **dict.fromkeys("▂▃▄▅▆▇▀", " "),
        **dict.fromkeys("●◉•∙⏺⬤◆", "*"),
        **dict.fromkeys("○◌◯⭘", "o"),
        **dict.fromkeys("✓✔", "+"),
        **dict.fromkeys("✗✘×✕", "x"),
        **dict.fromkeys("▸▶►›→»⟩❯▹", ">"),
        **dict.fromkeys("◂◀◄‹←«⟨❮", "<"),
        **dict.fromkeys("↑▲△▴", "^"),
        **dict.fromkeys("↓▼▽▾", "v"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys((chr(n) for n in (*range(0x2400, 0x2420), 0x2421)), "^"),
        "…": "~",
        "\U0001f50e": "? ",
    }
)
_BOX = re.compile("[\u2500-\u257f\u2580-\u259f]")
_BRAILLE = re.compile("[\u2800-\u28ff]")
_MOVING = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


def ascii_wanted(environ: Mapping[str, str], encoding: str) -> bool:
    """Return whether signs and frames are drawn in ASCII: `HITL_ASCII=1`, or a terminal that isn't UTF-8.

    Args:
        environ: the environment.
        encoding: of what is written to the terminal.
    """
    chosen = environ.get(ASCII_VARIABLE, "").strip().lower()
    if chosen:
        return chosen not in ("0", "no", "off", "false")
    return not _is_utf8(encoding)


def _is_utf8(encoding: str) -> bool:
    try:
        return lookup_codec(encoding).name == "utf-8"
    except LookupError:
        return False


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
        self.encoding = "" if _is_utf8(encoding) else encoding

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
    signs = _BRAILLE.sub("*", _BOX.sub("+", text.translate(_SIGNS)))
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


class TolerantParser(XTermParser):
    """The parser of terminal input, without raising for key reports that it doesn't know."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        plain = plain_report(sequence)
        if not plain:
            return [events.Key(Keys.Ignore, sequence)]
        try:
            return list(super()._sequence_to_key_events(plain, alt))
        except (ValueError, OverflowError):
            return [events.Key(Keys.Ignore, sequence)]


def tolerant(base: type[Driver]) -> type[Driver]:
    """Return a driver class that reads its input through `TolerantParser`; others than Linux's stay as they are."""
    from textual.drivers.linux_driver import LinuxDriver

    if not issubclass(base, LinuxDriver):
        return base

    class TolerantDriver(base):  # type: ignore[misc, valid-type]
        def run_input_thread(self) -> None:
            parser = TolerantParser(self._debug)
            decode = getincrementaldecoder("utf-8")(errors="replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(0.1):
                        data = os.read(self.fileno, 4096)
                        if not data:
                            break
                        for event in parser.feed(decode(data)):
                            self.process_message(event)
                    for event in parser.tick():
                        self.process_message(event)
            try:
                for event in parser.feed(""):
                    self.process_message(event)
            except (EOFError, ParseError):
                return

    return TolerantDriver
