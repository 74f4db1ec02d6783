"""Which jobs were taken, and by which process: on disk, so that each is carried out once.

`<data>/runtime/open/` holds a file for each job that isn't finished, `ended/` one for each that is. A process holds a
lock under a name of its own while it lives, and each file names the one that takes care of its job. Whoever starts and
finds jobs whose process is gone takes its lock over, and with it all of its jobs.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from hitl_tui.channels.runtime.jobs import Job
from hitl_tui.config.atomic_files import locked, make_private, sync_folder, write_atomically
from hitl_tui.config.sealed_json import check_sealed, write_sealed
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

_OPEN, _ENDED, _HOLDERS, _NAME = "open", "ended", "holders", "name"


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a job that was given.

    Args:
        job: as it is on record.
        new: it wasn't there before.
        ended: it is finished.
        ours: this process takes care of it.
        end: the event that told how it ended; empty where it didn't, or an earlier version kept none.
    """

    job: Job
    new: bool
    ended: bool
    ours: bool
    end: Mapping[str, Any] = field(default_factory=dict)


class JobJournal:
    """The jobs of one data folder. Use `JobJournal.open`.

    Args:
        folder: where they are written.
        holder: the name that this process holds a lock under.
    """

    def __init__(self, folder: Path, holder: str) -> None:
        self.folder = folder
        self._holder = holder
        self._locks: dict[str, int] = {}

    @classmethod
    @contextmanager
    def open(cls, data: Path) -> Iterator[JobJournal]:
        """Hold a lock while the context lasts; the kernel gives it back when the process dies.

        Raises:
            StorageError: the data folder can't be written.
        """
        journal = cls(data / "runtime", token_hex(8))
        try:
            for name in (_OPEN, _ENDED, _HOLDERS):
                make_private(journal.folder / name)
            with journal._alone():
                journal._hold(journal._holder)
        except OSError as error:
            raise StorageError(Message("{} can't be written: {}.", journal.folder, error.strerror)) from error
        try:
            yield journal
        finally:
            journal._let_go()

    @property
    def name(self) -> str:
        """What this data folder is called where several share a folder of jobs.

        Raises:
            StorageError: it can't be read or written.
        """
        path = self.folder / _NAME
        with self._explained(path), self._alone():
            if not path.exists():
                write_atomically(path, token_hex(8).encode())
            return path.read_text(encoding="ascii").strip()

    def take(self, job: Job) -> Taken:
        """Put a job on record unless it is there.

        Raises:
            StorageError: it can't be written.
        """
        path = self.folder / _OPEN / f"{job.key}.json"
        with self._explained(path), self._alone():
            if (known := self._known(path.name)) is not None:
                return known
            write_sealed(path, {**asdict(job), "holder": self._holder})
        return Taken(job, new=True, ended=False, ours=True)

    def find(self, key: str) -> Taken | None:
        """Return what is on record of the job with a key; None where there is none.

        Raises:
            StorageError: it can't be read.
        """
        with self._explained(self.folder), self._alone():
            return self._known(f"{key}.json")

    def _known(self, name: str) -> Taken | None:
        for folder in (_ENDED, _OPEN):
            path = self.folder / folder / name
            if path.exists():
                found, holder, end = _read(path)
                return Taken(found, new=False, ended=folder == _ENDED, ours=holder in self._locks, end=end)
        return None

    def end(self, job: Job, event: Mapping[str, Any]) -> None:
        """Put it on record that a job is finished, and what told so; repeating it changes nothing.

        Raises:
            StorageError: it can't be written.
        """
        before, after = (self.folder / folder / f"{job.key}.json" for folder in (_OPEN, _ENDED))
        with self._explained(before):
            if not before.exists():
                return
            if not after.exists():
                write_sealed(after, {**asdict(job), "holder": self._holder, "end": dict(event)})
                sync_folder(after.parent)
            before.unlink()
            sync_folder(before.parent)

    def unfinished(self) -> tuple[list[Job], list[str]]:
        """Take over the jobs that no process takes care of; return them, and what can't be read of the journal.

        Raises:
            StorageError: the journal can't be read.
        """
        jobs: list[Job] = []
        problems: list[str] = []
        with self._explained(self.folder), self._alone():
            found: dict[str, list[Job]] = {}
            for path in sorted((self.folder / _OPEN).glob("*.json"), key=_given_at):
                if (self.folder / _ENDED / path.name).exists():  # it ended just before the process did
                    path.unlink()
                    continue
                try:
                    job, holder, _end = _read(path)
                except StorageError as error:
                    problems.append(error.message)
                else:
                    found.setdefault(holder, []).append(job)
            for holder, held in found.items():
                if holder not in self._locks and self._hold(holder):
                    jobs += held
            for path in (self.folder / _HOLDERS).iterdir():
                if path.name not in found and path.name not in self._locks and self._hold(path.name):
                    os.close(self._locks.pop(path.name))
                    path.unlink()
        return jobs, problems

    def _hold(self, holder: str) -> bool:
        handle = os.open(self.folder / _HOLDERS / holder, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._locks[holder] = handle
        return True

    def _let_go(self) -> None:
        for handle in self._locks.values():
            os.close(handle)
        self._locks.clear()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with locked(self.folder / "journal"):
            yield

    @contextmanager
    def _explained(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(Message("{} can't be read or written: {}.", path, error.strerror)) from error


def _given_at(path: Path) -> tuple[float, str]:
    """Return what sorts jobs by when they were given."""
    with suppress(OSError):
        return path.stat().st_mtime, path.name
    return 0.0, path.name


def _read(path: Path) -> tuple[Job, str, Mapping[str, Any]]:
    """Return a job, the name of who takes care of it, and the event that told how it ended.

    Raises:
        StorageError: the file isn't what was written.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        check_sealed(path, data)
        told = {key: str(data[key]) for key in ("id", "query", "workspace", "mode")}
        job = Job(**told, session=str(data.get("session", "")))
        return job, str(data["holder"]), dict(data.get("end", {}))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise StorageError(Message("{} can't be read: it isn't what this program wrote there.", path)) from error
