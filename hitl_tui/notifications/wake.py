"""Seeing that somebody sends: a process of its own, so that whoever asks or decides waits for no mail server.

One sender works for a data folder. It holds a lock that the process which begins it has taken for it, so two are never
begun; while it lives it looks for itself, and each `wake` tells it to look now. Nothing here needs a package of others.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

FOLDER = "notifications"
LOCK, STAMP, LACKING, NEXT, OUTBOX = "lock", "stamp", "lacking", "next", "outbox.db"
MODULE = "hitl_tui.cli.notification_sender"
"""What is run as the sender, with the data folder and the lock's descriptor; -1 where it has to wait for the lock."""

_SETTINGS, _WORKSPACE_SETTINGS = "settings.toml", "hitl.toml"
_SECTION = b"notify"
_LARGEST = 1_000_000
_begun: list[int] = []


def wake(data: Path, workspaces: Iterable[Path], environ: Mapping[str, str]) -> None:
    """Let the sender of a data folder look what there is to send; begin one where none lives.

    Nothing happens where neither the person's settings nor a workspace's speak of notifications and none is waiting. It
    takes a few milliseconds and never fails: what can't be sent now is found by whoever comes next.

    Args:
        data: the data folder.
        workspaces: the folders whose requests were opened or decided.
        environ: where the sender gets its secrets from.
    """
    with suppress(OSError, NotImplementedError):
        folder = data / FOLDER
        settings = (data / _SETTINGS, *(place / _WORKSPACE_SETTINGS for place in workspaces))
        if not (folder / OUTBOX).exists() and not any(map(_speaks_of_it, settings)):
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / STAMP).touch(mode=0o600)
        lock = take_lock(folder)
        if lock is not None:
            try:
                _begin(data, lock, environ)
            finally:
                os.close(lock)  # the sender has the same one
        elif any(name in environ for name in lacking(folder)):
            _begin(data, -1, environ)


def take_lock(folder: Path) -> int | None:
    """Return a descriptor that holds the lock of a data folder's sender; None where another process holds it.

    Raises:
        OSError: there can be none.
    """
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:
        os.close(lock)
        raise
    return lock


def stamp(folder: Path) -> int:
    """Return what is another number after each `wake`."""
    try:
        return (folder / STAMP).stat().st_mtime_ns
    except OSError:
        return 0


def lacking(folder: Path) -> list[str]:
    """Return the variables that the living sender would need and its environment doesn't have."""
    try:
        return (folder / LACKING).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return []


def _speaks_of_it(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _SECTION in file.read(_LARGEST)
    except OSError:
        return False


def _begin(data: Path, lock: int, environ: Mapping[str, str]) -> None:
    _reap()
    if lock >= 0:
        os.set_inheritable(lock, True)
    command = [sys.executable, "-m", MODULE, str(data.absolute()), str(lock)]
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)]
        _begun.append(os.posix_spawn(sys.executable, command, dict(environ), file_actions=actions, setsid=True))
    finally:
        os.close(null)


def _reap() -> None:
    """Let those that this process began and that ended go."""
    for process in tuple(_begun):
        try:
            ended, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            ended = process
        if ended:
            _begun.remove(process)
