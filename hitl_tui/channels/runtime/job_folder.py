"""Jobs as files in a folder, which several runtimes may share: each file is taken by one of them, once.

A file is claimed by renaming it into `.claimed/<runtime>/`, put on record, and then moved into `taken/`. A runtime that
died in between finds what it had claimed at its next start. What is no job is moved into `refused/`, with the reason
beside it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from hitl_tui.channels.runtime.events import Failed
from hitl_tui.channels.runtime.jobs import LARGEST, Job, read_job
from hitl_tui.channels.runtime.session_events import stopped_event
from hitl_tui.config.atomic_files import make_private, sync_folder
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message

POLL = 0.5
"""Seconds between looks into the folder."""
_UNFINISHED = 5.0
"""Seconds that whoever writes a file into the folder itself, instead of moving it there, has for that."""

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
            for path in claimed:
                found = await asyncio.to_thread(self._read, path)
                if isinstance(found, Job):
                    self._files[found.id] = path
                if found is not None:
                    yield found
            await asyncio.sleep(POLL)

    async def taken(self, job: Job) -> None:
        """Move its file to those that are on record."""
        if path := self._files.pop(job.id, None):
            with suppress(FileNotFoundError):  # another process of this runtime has moved it
                await asyncio.to_thread(_move, path, self._taken)

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
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
            return read_job(data, self._root, path.stem)
        except FileNotFoundError:  # another process of this runtime was faster
            return None
        except (BadInput, OSError) as error:
            said = error.message if isinstance(error, BadInput) else Message("{} can't be read: {}.", path.name, error)
        with suppress(OSError):
            path.with_suffix(".reason.txt").write_text(f"{said}\n", encoding="utf-8")
            _move(path.with_suffix(".reason.txt"), self._refused)
            _move(path, self._refused)
        return stopped_event(Job(path.name, "", ""), said, final=True, begun=False)


def _is_whole(path: Path) -> bool:
    """Return whether a file seems to be written to its end: it ends like a JSON object, or nobody goes on with it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - 64))
            ends = file.read().rstrip().endswith(b"}")
        return ends or time.time() - path.stat().st_mtime > _UNFINISHED
    except OSError:
        return False


def _move(path: Path, folder: Path) -> None:
    path.rename(folder / path.name)
    sync_folder(folder)
