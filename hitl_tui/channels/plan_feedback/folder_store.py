"""Feedback in a folder: `DIR/REQUEST.json`, with `DIR/set-aside/`, `DIR/requests/` and `DIR/decided/` below it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hitl_tui.channels.plan_feedback.feedback import LARGEST, Feedback, Problem, oversized, proper_id, read
from hitl_tui.channels.plan_feedback.store import (
    LARGEST_REQUEST,
    NOTHING_DONE,
    Fate,
    Found,
    Polled,
    PublishedRequest,
    already_answered,
    aside_name,
    checked_id,
    event_in,
    problem_in,
    reason_name,
    reason_of,
)
from hitl_tui.config.atomic_files import publish_new, sync_folder, write_atomically, write_new
from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message

_ENDING = ".json"
ASIDE, REQUESTS, DECIDED = "set-aside", "requests", "decided"


class FolderStore:
    """A folder of feedback; its work is done on threads, as it may be a slow mount.

    Args:
        folder: where; made when something is put there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()
        self._unfinished: dict[str, str] = {}

    def path(self, request_id: str) -> str:
        return str(self._file(request_id))

    async def poll(self, waiting: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        return await asyncio.to_thread(self._poll, frozenset(waiting), done)

    async def read_each(self, request_ids: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        return await asyncio.to_thread(self._read_each, request_ids, done)

    async def remove(self, found: Found) -> None:
        await asyncio.to_thread(self._remove, found)

    async def set_aside(self, found: Found, problem: Problem) -> str:
        return await asyncio.to_thread(self._set_aside, found, problem)

    async def put_new(self, request_id: str, feedback: Feedback) -> str:
        data = feedback.to_bytes(request_id)
        await asyncio.to_thread(self._put_new, request_id, data)
        return hashlib.sha256(data).hexdigest()

    async def fate(self, request_id: str, fingerprint: str) -> Fate:
        return await asyncio.to_thread(self._fate, request_id, fingerprint)

    async def publish(self, request: PublishedRequest) -> None:
        await asyncio.to_thread(self._publish, request)

    async def withdraw(self, request_id: str, ended: Mapping[str, Json] | None = None) -> None:
        await asyncio.to_thread(self._withdraw, request_id, ended)

    async def requests(self) -> Sequence[PublishedRequest]:
        return await asyncio.to_thread(self._requests)

    async def request(self, request_id: str) -> PublishedRequest | None:
        return await asyncio.to_thread(self._request, request_id)

    async def close(self) -> None:
        pass

    def _file(self, request_id: str) -> Path:
        return self.folder / f"{checked_id(request_id)}{_ENDING}"

    def _event_file(self, request_id: str, where: str) -> Path:
        return self.folder / where / f"{checked_id(request_id)}{_ENDING}"

    def _poll(self, waiting: frozenset[str], done: Mapping[str, str]) -> Polled:
        there = frozenset(filter(proper_id, (file.name.removesuffix(_ENDING) for file in _files(self.folder))))
        self._unfinished = {one: version for one, version in self._unfinished.items() if one in there}
        polled = self._read_each(waiting & there, done)
        return Polled(polled.found, sorted(there - waiting), polled.problem)

    def _read_each(self, request_ids: Collection[str], done: Mapping[str, str]) -> Polled:
        found: list[Found] = []
        problem: Message | None = None
        for request_id in sorted(request_ids):
            file = self._file(request_id)
            try:
                one = _found(file, request_id, done.get(request_id, ""))
            except FileNotFoundError:
                continue
            except OSError as error:
                problem = Message("{} can't be read: {}.", file, error.strerror)
                continue
            if one is not None and self._is_finished(one):
                found.append(one)
        return Polled(found, (), problem)

    def _is_finished(self, found: Found) -> bool:
        """Return whether an object is whole: who writes it plainly may be in the middle.

        One that can't be used is judged when it stands unchanged at a second look.
        """
        if isinstance(found.content, Problem) and self._unfinished.get(found.request_id) != found.version:
            self._unfinished[found.request_id] = found.version
            return False
        self._unfinished.pop(found.request_id, None)
        return True

    def _remove(self, found: Found) -> None:
        file = self._file(found.request_id)
        with _told(file):
            taken = self.folder / f".taken-{secrets.token_hex(8)}"
            if _taken(file, found.version, taken):
                taken.unlink()
                sync_folder(self.folder)

    def _set_aside(self, found: Found, problem: Problem) -> str:
        file, aside, name = self._file(found.request_id), self.folder / ASIDE, aside_name(found)
        kept = aside / f"{name}{_ENDING}"
        with _told(aside):
            aside.mkdir(exist_ok=True)
            write_atomically(aside / f"{name}.reason{_ENDING}", reason_of(found, problem))
            _taken(file, found.version, kept)
            sync_folder(aside)
            sync_folder(self.folder)
        return str(kept)

    def _put_new(self, request_id: str, data: bytes) -> None:
        with _told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                write_new(self._file(request_id), data, mode=0o666)
            except FileExistsError as error:
                raise already_answered(request_id) from error

    def _fate(self, request_id: str, fingerprint: str) -> Fate:
        file = self._file(request_id)
        with _told(self.folder):
            with suppress(FileNotFoundError):
                data = _contents(file, LARGEST)[1]
                if data is not None and hashlib.sha256(data).hexdigest() == fingerprint:
                    return "waiting"
            try:
                reason = _contents(self.folder / ASIDE / reason_name(request_id, fingerprint), LARGEST)[1]
            except FileNotFoundError:
                return "taken"
        return problem_in(reason or b"")

    def _publish(self, request: PublishedRequest) -> None:
        _write_event(self._event_file(request.request_id, REQUESTS), request.event)

    def _withdraw(self, request_id: str, ended: Mapping[str, Json] | None) -> None:
        if ended is not None:
            _write_event(self._event_file(request_id, DECIDED), ended)
        file = self._event_file(request_id, REQUESTS)
        with _told(file):
            file.unlink(missing_ok=True)

    def _request(self, request_id: str) -> PublishedRequest | None:
        files = (self._event_file(request_id, where) for where in (REQUESTS, DECIDED))
        return next((one for file in files if (one := _published(file)) is not None), None)

    def _requests(self) -> Sequence[PublishedRequest]:
        stamped = []
        for file in _files(self.folder / REQUESTS):
            with suppress(OSError):
                stamped.append((file.lstat().st_mtime_ns, file))
        return tuple(one for _at, file in sorted(stamped) if (one := _published(file)) is not None)


def _files(folder: Path) -> Sequence[Path]:
    """Return what a folder holds that is named as JSON."""
    with _told(folder):
        try:
            return [file for file in folder.iterdir() if file.name.endswith(_ENDING)]
        except FileNotFoundError:
            return ()


def _write_event(file: Path, event: Mapping[str, Json]) -> None:
    with _told(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(dict(event), ensure_ascii=False).encode())


def _published(file: Path) -> PublishedRequest | None:
    try:
        data = _contents(file, LARGEST_REQUEST)[1]
    except OSError:
        return None
    return event_in(data, file.name.removesuffix(_ENDING)) if data is not None else None


def _found(file: Path, request_id: str, done: str) -> Found | None:
    """Return the object in a file; None for one whose version was dealt with.

    Raises:
        OSError: it can't be read.
    """
    if done and _version(file.lstat()) == done:
        return None
    status, data = _contents(file, LARGEST)
    version, path = _version(status), str(file)
    if not stat.S_ISREG(status.st_mode):
        return Found(request_id, path, version, Problem("malformed", Message("It isn't a regular file.")))
    if data is None:
        return Found(request_id, path, version, oversized(status.st_size))
    return Found(request_id, path, version, read(data, request_id), hashlib.sha256(data).hexdigest())


def _contents(file: Path, largest: int) -> tuple[os.stat_result, bytes | None]:
    """Return what is known of a file, and its bytes; None for more than a number of them, and for what is no file."""
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        return status, None
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return status, None
        data = opened.read(largest + 1)
    return status, data if len(data) <= largest else None


def _taken(file: Path, version: str, place: Path) -> bool:
    """Move a file of a version to a place; return whether it was of that one.

    Another one stays: one that came between look and move is put back, or dropped if a still newer one has its name.
    """
    with suppress(FileNotFoundError):
        if _version(file.lstat()) != version:
            return False
        file.rename(place)
        if _version(place.lstat()) == version:
            return True
        with suppress(FileExistsError):
            publish_new(place, file)
        place.unlink(missing_ok=True)
    return False


def _version(status: os.stat_result) -> str:
    return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}"


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """Say which folder or file it was that couldn't be used."""
    try:
        yield
    except OSError as error:
        raise StorageError(Message("{} can't be used: {}.", place, error.strerror)) from error
