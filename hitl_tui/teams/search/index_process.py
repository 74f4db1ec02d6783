"""`python -P -m hitl_tui.teams.search.index_process`: brings an index up to date, apart from whoever waits for it.

A line of JSON on standard input says which; lines of JSON on standard output say how far it is, and how it ended. The
process ends when standard input does, as that of whoever started it has ended then; what was read is kept.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TypedDict

from hitl_tui.core.errors import HitlError
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.index_refresh import Allowed, TooMuch

MOST_MEMORY = 2 * 1024**3
"""Bytes of address space."""
MOST_SECONDS = 3_600
_EVERY = 0.1


class Order(TypedDict):
    """What a process is to do.

    `most` is how many files there may be without a person's word, None for any number; `nice` how far it steps back.
    """

    file: str
    root: str
    documents: list[str]
    secrets: dict[str, str]
    most: int | None
    nice: int


def _limit(nice: int) -> None:
    os.nice(nice)
    for kind, most in ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS)):
        hard = resource.getrlimit(kind)[1]
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (wanted, hard))
        except (OSError, ValueError):  # this system has no such limit
            continue
    signal.alarm(MOST_SECONDS)


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _say(**said: object) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def main() -> int:
    """Do what standard input says; return the exit code: 0 done, 1 it can't be done."""
    order: Order = json.loads(sys.stdin.buffer.readline())
    _limit(order["nice"])
    threading.Thread(target=_end_with_input, daemon=True).start()
    told = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _EVERY:
            told = time.monotonic()
            _say(done=done, total=total)

    try:
        with SearchIndex(Path(order["file"]), secrets=order["secrets"]) as index:
            done = index.refresh(
                Path(order["root"]), order["documents"], progress, allowed=Allowed(files=order["most"])
            )
    except TooMuch as much:
        _say(files=much.files)
        return 0
    except (HitlError, MemoryError):  # whoever waits for it finds the same, and says it
        return 1
    _say(indexed=done.indexed, searched=done.searched)
    return 0


if __name__ == "__main__":
    sys.exit(main())
