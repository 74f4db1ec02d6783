"""Entries as files that a person can read: `STREAM/000001.json`, one folder for each stream.

An entry comes into being by a link to a file that was written and synced before, so it is there whole or not at all,
and of two writers of one number exactly one makes it. Nothing here waits, so its coroutines end at their first step.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from hitl_tui.config.atomic_files import link_new, sync_folder, write_new
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.records import Entry
from hitl_tui.ledger.stream_ledger import Kept, StreamLedger

T = TypeVar("T")

_ENTRY = re.compile(r"(\d{6,})\.json")
_SETTLED = 200_000_000
"""Nanoseconds after which whatever is written into a folder has another time than what was written before."""
_LONGEST = 240
"""Bytes of a folder's name; file systems allow 255."""


_LARGEST = 64_000_000
"""Bytes of an entry's file: what an agent can have recorded is far below."""


class EntryFiles:
    """A folder of streams.

    Args:
        folder: where; made with the first entry.
    """

    poll = 0.02

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path) -> AsyncIterator[StreamLedger]:
        """Open the ledger that a folder holds."""
        yield StreamLedger(cls(folder))

    async def read(self, stream: str, after: int) -> Sequence[Kept]:
        folder = self._of(stream)
        return _entries(folder, stream, after) if not after or _has(folder, after + 1) else ()

    async def add(self, entry: Entry) -> bool:
        folder = self._of(entry.stream)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                write_new(folder / _file_name(entry.n), _text(entry), link_new)
            except FileExistsError:
                return False
            if entry.n == 1:
                sync_folder(self.folder)
            os.utime(self.folder)  # whoever watches looks at one time alone
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageError(Message("Disk full: nothing was written to {}.", folder)) from error
            raise StorageError(Message("{} can't be written: {}.", folder, error.strerror)) from error
        return True

    async def stamp(self) -> int:
        with suppress(OSError):
            written = self.folder.stat().st_mtime_ns
            return written if time.time_ns() - written > _SETTLED else 0
        return 0

    async def names(self) -> Sequence[str]:
        return [stream for stream, _ in self._folders()]

    async def read_new(self, heads: Mapping[str, int], order: int) -> Sequence[Kept]:
        found: list[Kept] = []
        for stream, folder in self._folders():
            after = heads.get(stream, 0)
            if not after or _has(folder, after + 1):
                found += _entries(Path(folder), stream, after)
        return found

    def _folders(self) -> list[tuple[str, str]]:
        """Return the names of all streams with their folders, as text: thousands are looked at in one listing."""
        try:
            with os.scandir(self.folder) as found:
                return [(unquote(item.name, errors="surrogatepass"), item.path) for item in found if item.is_dir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(Message("{} can't be read: {}.", self.folder, error.strerror)) from error

    def _of(self, stream: str) -> Path:
        """Return a stream's folder: any text is a name there, and none leads out of the folder."""
        name = quote(stream, safe=" ", errors="surrogatepass")
        name = "%2E" + name[1:] if name.startswith(".") else name
        if len(name) > _LONGEST:
            raise StorageError(Message("The name {}… is too long for a folder.", stream[:40]))
        return self.folder / name


def _file_name(n: int) -> str:
    return f"{n:06}.json"


def _has(folder: str | Path, n: int) -> bool:
    return os.path.exists(f"{folder}/{_file_name(n)}")  # noqa: PTH110 - a path object each costs more than the look


def _entries(folder: Path, stream: str, after: int) -> Sequence[Kept]:
    """Return what a stream's folder holds beyond a number, in order."""
    try:
        numbers = sorted(int(found[1]) for path in folder.iterdir() if (found := _ENTRY.fullmatch(path.name)))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StorageError(Message("{} can't be read: {}.", folder, error.strerror)) from error
    return [_entry(folder / _file_name(n), stream, n) for n in numbers if n > after]


def _text(entry: Entry) -> bytes:
    fields = entry.to_dict()
    try:
        return (json.dumps(fields, ensure_ascii=False, indent=1) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can say
        return (json.dumps(fields, indent=1) + "\n").encode()


def _entry(path: Path, stream: str, n: int) -> Kept:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            readable = stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST  # a pipe would be waited for
            order = found.st_mtime_ns
            fields = json.loads(file.read() if readable else b"")
        entry = Entry(**fields)
    except OSError as error:
        raise StorageError(Message("{} can't be read: {}.", path, error.strerror)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise StorageError(Message("{} is damaged: it isn't an entry.", path)) from error
    if (entry.stream, entry.n) != (stream, n):
        raise StorageError(Message("{} is damaged: it is an entry of another place.", path))
    return Kept(entry, order)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine gives that works on entries alone: where no event loop runs, it waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("it waited for something")
