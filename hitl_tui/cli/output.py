"""Standard output and error: one JSON document, or lines for people. A reader that went away is no error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import escaped_json
from hitl_tui.policy.secrecy import Secrecy

if TYPE_CHECKING:
    from hitl_tui.terminal.stdio_redirect import HeardPipe

Heard = Callable[[Sequence[str]], None]


def json_text(document: JsonObject) -> str:
    """Return one line of JSON that moves or hides nothing on a terminal: what can't be seen is escaped."""
    return escaped_json(json.dumps(document, ensure_ascii=False, allow_nan=False))


class Output:
    """Writes to a stream until its reader is gone.

    Args:
        stream: where to; None when the process was started without it.
        secrecy: what is masked in all that is written.

    Attributes:
        answered: the program's last word was written: its document, or why it stopped.
        gone: nobody reads what is written.
    """

    def __init__(self, stream: TextIO | None, secrecy: Secrecy) -> None:
        self._stream = stream
        self._secrecy = secrecy
        self.answered = False
        self.gone = stream is None
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal without UTF-8 still gets every line
            reconfigure(errors="backslashreplace")

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines at once.

        Raises:
            StorageError: they can't be written, for another reason than a reader that went away.
        """
        if self._stream is None:
            return
        try:
            for line in lines:
                self._stream.write(f"{self._secrecy.mask(line)}\n")
            self._stream.flush()
        except BrokenPipeError:
            self._abandon()
        except OSError as error:
            self._abandon()
            raise StorageError(Message("The output can't be written: {}.", error.strerror or error)) from error

    def document(self, document: Mapping[str, Any]) -> None:
        """Write one JSON document, and note in `answered` that there is one. Raises as `lines` does."""
        self.answered = True
        self.lines([json_text(self.masked(document))])

    def masked(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a document with the names of secrets instead of their values."""
        return self._secrecy.mask_json(document, json_text(document))

    @contextmanager
    def alone(self, others: Path | Heard | None = None) -> Iterator[None]:
        """Keep standard output for what is written here while the context lasts.

        What anything else writes to it (a library, a process that a graph starts) goes to standard error, so that a
        document stays one and a screen stays as it was drawn.

        Args:
            others: a file that it goes to instead, or what hears its lines, unsafe as they are, on another thread.
        """
        stream = sys.__stdout__
        if stream is None or stream is not self._stream:  # it isn't the process's own, but a test's
            yield
            return
        stream.flush()
        pipe: HeardPipe | None = None
        try:
            if callable(others):
                from hitl_tui.terminal.stdio_redirect import HeardPipe

                pipe = HeardPipe(others)
                place = pipe.writing
            else:
                place = os.open(others, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if others else os.dup(2)
            kept = os.dup(stream.fileno())
        except OSError:  # there is no standard error
            yield
            return
        os.dup2(place, stream.fileno())
        os.close(place)
        ours = os.fdopen(kept, "w", encoding=stream.encoding, errors="backslashreplace")
        self._stream = ours
        setattr(sys, "__stdout__", ours)  # noqa: B010 - whoever asks for the terminal's size asks this one
        try:
            yield
        finally:
            with suppress(OSError):
                ours.flush()
            with suppress(OSError):
                stream.flush()  # what others wrote to it
            os.dup2(kept, stream.fileno())
            with suppress(OSError):
                ours.close()
            self._stream = stream
            setattr(sys, "__stdout__", stream)  # noqa: B010
            if pipe is not None:
                pipe.drain()

    def _abandon(self) -> None:
        """Let what is still buffered go nowhere, or Python complains about it at exit."""
        assert self._stream is not None
        self.gone = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self._stream.fileno())
        finally:
            os.close(nowhere)


def standard(secrecy: Secrecy) -> tuple[Output, Output]:
    """Return standard output and standard error.

    Args:
        secrecy: what is masked in all that is written.
    """
    return Output(sys.stdout, secrecy), Output(sys.stderr, secrecy)
