"""What a terminal reports: keys as Textual's parser can take them, and pastes that stay text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.keys import Keys
from textual.message import Message

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


class TolerantParser(XTermParser):
    """The parser of terminal input.

    It doesn't raise for key reports that it doesn't know. And what is pasted is never taken for keys: Textual gives an
    escape sequence that it doesn't know back as keys, those within a paste, too, with the ends of lines that follow;
    a paste could answer a question (C3). Here it gets nothing within a paste that begins a sequence.
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
