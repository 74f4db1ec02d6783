"""Jobs as files in a folder, which several runtimes may share: each file is taken by one of them, once.

A file is claimed by renaming it into `.claimed/<runtime>/`, put on record, and then moved into `taken/`. A runtime that
died in between finds what it had claimed at its next start. What is no job is moved into `refused/`, with the reason
beside it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import stat
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from hitl_tui.channels.runtime.events import Failed
from hitl_tui.channels.runtime.jobs import LARGEST, Job, read_job
from hitl_tui.channels.runtime.session_events import stopped_event
from hitl_tui.config.atomic_files import make_private, sync_folder
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

POLL = 0.5
"""Seconds between looks into the folder."""
_UNFINISHED = 5.0
"""Seconds that whoever writes a file into the folder itself, instead of moving it there, has for that."""
_LONGEST_STEM = 240
"""Bytes of a file's name that the one with the reason begins with."""

log = logging.getLogger(__name__)


class JobFolder:
    """A folder of job files: `*.json`, each one job, whose id is its name unless it has another.

    Args:
        folder: the folder.
        runtime: what this runtime is called; the same after a restart.
        root: the folder that jobs work in, or below it.

    Raises:
        StorageError: the folder can't be used.
    """

    def __init__(self, folder: Path, runtime: str, root: Path) -> None:
        self._folder, self._root = folder, root
        self._claimed, self._taken, self._refused = folder / ".claimed" / runtime, folder / "taken", folder / "refused"
        self._files: dict[str, Path] = {}
        self._stuck: set[str] = set()
        try:
            for needed in (self._claimed, self._taken, self._refused):
                make_private(needed)
        except OSError as error:
            raise StorageError(Message("{} can't be written: {}.", folder, error.strerror)) from error

    async def jobs(self) -> AsyncIterator[Job | Failed]:
        while True:
            try:
                claimed = await asyncio.to_thread(self._claim)
            except OSError as error:  # it may come back
                log.warning("%s can't be read: %s", self._folder, error)
                claimed = []
            for path in (path for path in claimed if path.name not in self._stuck):
                found = await asyncio.to_thread(self._read, path)
                if isinstance(found, Job):
                    self._files[found.id] = path
                if found is not None:
                    yield found
            await asyncio.sleep(POLL)

    async def taken(self, job: Job) -> None:
        """Move its file to those that are on record."""
        if path := self._files.pop(job.id, None):
            try:
                await asyncio.to_thread(_move, path, self._taken)
            except FileNotFoundError:  # another process of this runtime has moved it
                pass
            except OSError as error:  # it is on record, and not given again before the next start
                log.warning("%s can't be moved: %s", one_line(path.name, 200), error.strerror)
                self._stuck.add(path.name)

    def _claim(self) -> list[Path]:
        """Claim what lies in the folder; return that and what was claimed before, by name."""
        for path in sorted(self._folder.glob("*.json")):
            if not path.name.startswith(".") and _is_whole(path):
                with suppress(FileNotFoundError):  # another runtime was faster
                    path.rename(self._claimed / path.name)
        sync_folder(self._claimed)
        return sorted(self._claimed.glob("*.json"))

    def _read(self, path: Path) -> Job | Failed | None:
        try:
            with _opened(path) as file:
                data = file.read(LARGEST + 1)
            return read_job(data, self._root, path.stem)
        except FileNotFoundError:  # another process of this runtime was faster
            return None
        except BadInput as error:
            said = error.message
        except OSError as error:
            said = Message("{} can't be read: {}.", one_line(path.name, 200), error.strerror)
        return self._refuse(path, said)

    def _refuse(self, path: Path, said: str) -> Failed:
        """Move what is no job out of the way, with the reason beside it; what can't be moved is told once."""
        with suppress(OSError):
            reason = self._refused / f"{os.fsdecode(os.fsencode(path.stem)[:_LONGEST_STEM])}.reason.txt"
            reason.write_text(f"{said}\n", encoding="utf-8")
        try:
            _move(path, self._refused)
        except OSError as error:
            log.warning("%s can't be moved: %s", one_line(path.name, 200), error.strerror)
            self._stuck.add(path.name)
        return stopped_event(Job(one_line(path.name, 200), "", ""), said, final=True, begun=False)


def _is_whole(path: Path) -> bool:
    """Return whether a file seems to be written to its end: it ends like a JSON object, or nobody goes on with it."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return True
        with _opened(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - 64))
            ends = file.read().rstrip().endswith(b"}")
        return ends or time.time() - path.stat().st_mtime > _UNFINISHED
    except FileNotFoundError:
        return False
    except OSError:  # it is said when it is read
        return True


def _opened(path: Path) -> BinaryIO:
    """Open a file of jobs, which waits for nobody and leads nowhere else.

    Raises:
        OSError: it can't be opened.
        BadInput: it is a link, a pipe or a folder.
    """
    irregular = BadInput(Message("{} isn't a regular file.", one_line(path.name, 200)))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise irregular from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise irregular
    return os.fdopen(handle, "rb")


def _move(path: Path, folder: Path) -> None:
    path.rename(folder / path.name)
    sync_folder(folder)
