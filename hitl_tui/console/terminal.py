"""Reading the terminal: key reports that Textual's parser can't take must not end the console."""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterable

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.keys import Keys

_ALTERNATES = re.compile(r"\x1b\[(\d+)(?::[\d:]*)?((?:;\d*)?)((?::\d*)?)((?:;[\d:]*)?)([u~ABCDEFHPQRS])")
_RELEASED = ":3"


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
