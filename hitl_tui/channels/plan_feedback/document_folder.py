"""Documents in a folder: `DIR/NAME.json`, and `DIR/PLACE/NAME.json` beside them."""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from hitl_tui.channels.plan_feedback.documents import ENDING, LARGEST_DOCUMENT, Document, Listed
from hitl_tui.channels.plan_feedback.feedback import proper_id
from hitl_tui.config.atomic_files import publish_new, sync_folder, write_atomically, write_new
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message


class DocumentFolder:
    """A folder of documents; its work is done on threads, as it may be a slow mount.

    Args:
        folder: where; made when something is put there.
    """

    atomic = False  # anybody may write a file in place

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()

    def told(self, name: str, beside: str = "") -> str:
        return str(self._file(name, beside))

    async def list(self, beside: str = "") -> Mapping[str, Listed]:
        return await asyncio.to_thread(self._list, self.folder / beside)

    async def get(
        self, name: str, beside: str = "", *, largest: int = LARGEST_DOCUMENT, unless: str = ""
    ) -> Document | None:
        return await asyncio.to_thread(_read, self._file(name, beside), largest, unless)

    async def put(self, name: str, data: bytes, beside: str = "") -> None:
        await asyncio.to_thread(self._put, self._file(name, beside), data)

    async def put_new(self, name: str, data: bytes) -> bool:
        return await asyncio.to_thread(self._put_new, self._file(name), data)

    async def move(self, name: str, version: str, beside: str, to: str) -> None:
        await asyncio.to_thread(self._move, self._file(name), version, self._file(to, beside))

    async def delete(self, name: str, version: str = "", beside: str = "") -> None:
        await asyncio.to_thread(self._delete, self._file(name, beside), version)

    async def close(self) -> None:
        pass

    def _file(self, name: str, beside: str = "") -> Path:
        return self.folder / beside / f"{name}{ENDING}"

    def _list(self, folder: Path) -> Mapping[str, Listed]:
        listed: dict[str, Listed] = {}
        with _told(folder), suppress(FileNotFoundError), os.scandir(folder) as found:
            for item in found:
                name = item.name.removesuffix(ENDING)
                if item.name.endswith(ENDING) and proper_id(name):
                    with suppress(FileNotFoundError):
                        status = item.stat(follow_symlinks=False)
                        stamp = f"{status.st_mtime_ns:020}"
                        listed[name] = Listed(name, _version(status), status.st_size, stamp)
        return listed

    def _put(self, file: Path, data: bytes) -> None:
        with _told(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, data)

    def _put_new(self, file: Path, data: bytes) -> bool:
        with _told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                write_new(file, data, mode=0o666)
            except FileExistsError:
                return False
        return True

    def _move(self, file: Path, version: str, to: Path) -> None:
        with _told(to.parent):
            to.parent.mkdir(exist_ok=True)
            if _taken(file, version, to):
                sync_folder(to.parent)
                sync_folder(self.folder)

    def _delete(self, file: Path, version: str) -> None:
        with _told(file):
            taken = self.folder / f".taken-{secrets.token_hex(8)}"
            if not version:
                file.unlink(missing_ok=True)
            elif _taken(file, version, taken):
                taken.unlink()
                sync_folder(self.folder)


def _read(file: Path, largest: int, unless: str) -> Document | None:
    try:
        status = file.lstat()
        if unless and _version(status) == unless:
            return None
        if not stat.S_ISREG(status.st_mode):
            return Document(_version(status), status.st_size, None, regular=False)
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            status = os.fstat(handle)
            regular = stat.S_ISREG(status.st_mode)
            data = opened.read(largest + 1) if regular and status.st_size <= largest else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(Message("{} can't be read: {}.", file, error.strerror)) from error
    whole = data is not None and len(data) <= largest
    return Document(_version(status), status.st_size, data if whole else None, regular)


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
