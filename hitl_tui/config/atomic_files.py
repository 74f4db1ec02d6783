"""Writing files so that a crash leaves the old one or the new one, whole."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


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
