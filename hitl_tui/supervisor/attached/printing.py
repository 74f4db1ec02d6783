"""What a graph's nodes print goes to its TODO's stream, not over the screen or into a document."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

Line = Callable[[str], None]

_SINK: ContextVar[Line | None] = ContextVar("hitl_print_sink", default=None)


class _Routed:
    """A text stream that hands what is printed within a run to the run; all else goes where it went before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rest: dict[int, str] = {}

    def write(self, text: str) -> int:
        sink = _SINK.get()
        if sink is None:
            return self._stream.write(text)
        whole = self._rest.pop(id(sink), "") + text
        *lines, rest = whole.split("\n")
        for line in lines:
            sink(line)
        if rest:
            self._rest[id(sink)] = rest
            if len(rest) > _LONGEST:
                sink(self._rest.pop(id(sink)))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_LONGEST = 4_000


@contextmanager
def printed_to(sink: Line) -> Iterator[None]:
    """Hand every line that is printed within the context (its tasks and threads too) to `sink`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Routed):
            setattr(sys, name, _Routed(stream))
    token = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(token)
