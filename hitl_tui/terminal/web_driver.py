"""Textual's driver for pages, ending the console when nobody is left to show it to."""

from __future__ import annotations

import logging
import os
import time
from codecs import getincrementaldecoder
from functools import partial
from typing import Any

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput

log = logging.getLogger(__name__)

UNSEEN = 600.0
"""Seconds that a console lives on without a page; it lives longer while a step runs in it."""


# Relies, as of Textual 8.2.8, on `textual.drivers._byte_stream.ByteStream.feed`,
# `WebDriver._on_meta(packet_type, payload)`, `_ExitInput`, and on what the driver keeps:
# `_input_reader`, `_write`, `_debug`, `_app`, `exit_event`, `fileno`.
# Upstream: the app ends when the pipe that it is driven by does, and packets are written whole.
class ServedDriver(WebDriver):
    """Takes input from the server and hands it what is drawn, both as packets.

    The server's end of the pipe closes also when it is killed; a console that went on then would hold its session for
    good. A signal may cut a write to a pipe short, and packets would be out of step from then on.
    """

    parser: type[XTermParser] = XTermParser
    """Makes events of what is typed."""
    watched = True
    """A page shows what is drawn."""
    _left_at: float | None = None
    """When the last page was gone, by the monotonic clock; None while there is one."""

    def __init__(self, app: App[Any], **settings: Any) -> None:
        super().__init__(app, **settings)
        self._write = partial(self._write_whole)
        # What the console starts is on no page of its own.
        os.environ.pop("TEXTUAL_DRIVER", None)

    @property
    def unseen(self) -> bool:
        """No page has shown the console for a while."""
        return self._left_at is not None and time.monotonic() - self._left_at >= UNSEEN

    def run_input_thread(self) -> None:
        parser, packets = self.parser(self._debug), ByteStream()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        try:
            for data in self._input_reader:
                for kind, payload in packets.feed(data) if data else ():
                    if kind == "D":
                        for event in parser.feed(decode(payload)):
                            self.process_message(event)
                    else:
                        self._on_meta(kind, payload)
                for event in parser.tick():
                    self.process_message(event)
        except (_ExitInput, OSError, ParseError) as error:
            log.info("what the page sends ended: %r", error)
        finally:
            self._input_reader.close()
        if not self.exit_event.is_set():
            self._app.call_later(self._app.exit)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "left":
            self._left_at, self.watched = time.monotonic(), False
        elif packet_type == "shown":
            self._left_at = None
            self._app.call_later(self._show_again)
        elif packet_type == "quit":
            self._app.call_later(self._app.exit)
        else:
            super().on_meta(packet_type, payload)

    async def _show_again(self) -> None:
        """Tell another page's terminal how it is used, and draw all of the console there."""
        if self._left_at is not None:
            return  # that page is gone, too
        self.watched = True
        self.write("\x1b[?1049h\x1b[?25l")
        self._enable_mouse_support()
        self._enable_bracketed_paste()
        await self._app.run_action("begin_anew")

    def _write_whole(self, data: bytes) -> int:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.fileno, rest) :]
        except BrokenPipeError:
            self.exit_event.set()
            self._app.call_later(self._app.exit)
        return len(data) - len(rest)
