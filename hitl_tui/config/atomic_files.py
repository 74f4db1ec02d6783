"""Writing files so that a crash leaves the old one or the new one, whole."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hitl_tui.core.messages import Message

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV})
"""What file systems without hard links answer; EPERM is Linux's word for FAT."""


class NoLinks(OSError):
    """The file system has no hard links."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole."""
    with _draft(path.parent, data, 0o600) as draft:
        draft.replace(path)
    sync_folder(path.parent)


def link_new(draft: Path | str, name: Path | str, folder: int | None = None) -> None:
    """Give a finished file a name that nothing has yet, in one step.

    Args:
        draft: the file, which keeps its old name too.
        name: the name, on the same disk.
        folder: the descriptor of the folder that both names are in; None where they are paths.

    Raises:
        FileExistsError: something has the name.
        OSError: it can't be done; its `strerror` says so where the file system has no hard links.
    """
    try:
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        raise NoLinks(error.errno, Message("its file system has no hard links")) from error


def publish_new(draft: Path | str, name: Path | str, folder: int | None = None) -> None:
    """Give a finished file a name as `link_new` does; without hard links an empty file takes the name first.

    Whoever reads in between finds that one, and so does everybody where this process dies there.
    """
    try:
        link_new(draft, name, folder)
    except NoLinks:
        os.close(os.open(name, _NEW, 0o600, dir_fd=folder))
        try:
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise


def write_new(path: Path, data: bytes, publish: Callable[[Path, Path], None] = publish_new, mode: int = 0o600) -> None:
    """Write a file that is there whole or not at all, and never in the place of another.

    Args:
        path: where.
        data: the bytes.
        publish: `link_new` where nobody may ever see an empty file.
        mode: its permissions, before the umask.

    Raises:
        FileExistsError: something is there.
        OSError: it can't be written.
    """
    with _draft(path.parent, data, mode) as draft:
        publish(draft, path)
    sync_folder(path.parent)


@contextmanager
def _draft(folder: Path, data: bytes, mode: int) -> Iterator[Path]:
    """Write a file durably under a name that nobody looks for; that name is gone in the end."""
    path = folder / f".new-{os.urandom(8).hex()}"
    try:
        with os.fdopen(os.open(path, _NEW, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Change a file one process at a time; what is locked is a file beside it.

    Raises:
        OSError: it can't be locked.
    """
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Make a folder for its owner alone, and likewise those above it that are missing; what there is stays as it is.

    Raises:
        OSError: it can't be made.
    """
    for path in reversed((folder, *folder.parents)):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def sync_folder(path: Path) -> None:
    """Make a folder's entries durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
