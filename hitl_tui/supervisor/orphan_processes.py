"""Orphans: commands that outlived the process that ran them.

A command inherits the descriptor of its TODO's run lock, so whoever holds that file open belongs to the run: this, the
process id and the time it was started are checked again right before a process is signalled. Only Linux tells who
holds a file; elsewhere nothing is found here.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hitl_tui.teams.command_init import GRACE, INIT, KILL_WAIT, processes

_PAUSE = 0.05
_MARGIN = 2.0
"""Seconds beyond what the init process takes to end a command."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process that holds a run's lock and isn't a descendant of this one.

    Args:
        pid: process id.
        began: when it was started, as the system counts it; no other process has both.
        since: the same, ISO 8601, UTC.
        parent: process id of its parent.
        watches: it is the init process of a command, which ends all of it when it is told to.
    """

    pid: int
    began: str
    since: str
    parent: int
    watches: bool

    @property
    def clock(self) -> str:
        """When it was started, as people read it, in their own zone."""
        return datetime.fromisoformat(self.since).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def find_orphans(lock: Path) -> list[Orphan]:
    """Return the processes that hold a run's lock, oldest first; none where the system doesn't tell.

    Args:
        lock: the lock file.
    """
    try:
        there = lock.stat()
        booted = _boot_time()
    except OSError:
        return []
    known = processes()
    ours = os.getpid()
    found = []
    for pid, (parent, began) in known.items():
        if _descends(pid, ours, known) or not _holds(pid, (there.st_dev, there.st_ino)):
            continue
        at = datetime.fromtimestamp(booted + int(began) / os.sysconf("SC_CLK_TCK"), UTC)
        found.append(Orphan(pid, began, at.isoformat(timespec="seconds"), parent, _watches(pid)))
    return sorted(found, key=lambda orphan: (int(orphan.began), orphan.pid))


def command_of(orphans: Iterable[Orphan]) -> Orphan:
    """Return the process that people know as the command: what its init process started, else the oldest."""
    orphans = list(orphans)
    watching = {orphan.pid for orphan in orphans if orphan.watches}
    return next((orphan for orphan in orphans if orphan.parent in watching), orphans[0])


def end_orphans(lock: Path) -> tuple[list[Orphan], list[Orphan]]:
    """End the processes that hold a run's lock with all that they started; return when that is over.

    Returns:
        those that were there, and those of them that couldn't be ended.
    """
    found = find_orphans(lock)
    if not found:
        return [], []
    watching = [orphan for orphan in found if orphan.watches]
    left = _signalled(lock, watching or found, signal.SIGTERM, GRACE + KILL_WAIT + _MARGIN)
    left = _signalled(lock, left, signal.SIGTERM, GRACE)
    return found, _signalled(lock, left, signal.SIGKILL, KILL_WAIT)


def _signalled(lock: Path, orphans: Sequence[Orphan], number: signal.Signals, seconds: float) -> list[Orphan]:
    """Signal processes; return what still holds the lock when they had time to end."""
    if not orphans:
        return []
    for orphan in orphans:
        _send(lock, orphan, number)
    ends = time.monotonic() + seconds
    while (left := find_orphans(lock)) and time.monotonic() < ends:
        time.sleep(_PAUSE)
    return left


def _send(lock: Path, orphan: Orphan, number: signal.Signals) -> None:
    """Signal a process if it is still the one that was found."""
    with suppress(OSError):
        handle = os.pidfd_open(orphan.pid)
        try:
            # From here on the handle can't come to mean another process.
            there = lock.stat()
            same = processes().get(orphan.pid, (0, ""))[1] == orphan.began
            if same and _holds(orphan.pid, (there.st_dev, there.st_ino)):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _holds(pid: int, file: tuple[int, int]) -> bool:
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as handles:
        for handle in handles:
            with suppress(OSError):
                found = handle.stat()
                if (found.st_dev, found.st_ino) == file:
                    return True
    return False


def _watches(pid: int) -> bool:
    with suppress(OSError):
        return INIT.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return False


def _descends(pid: int, root: int, known: Mapping[int, tuple[int, str]]) -> bool:
    while pid > 1:
        if pid == root:
            return True
        pid = known.get(pid, (0, ""))[0]
    return False


def _boot_time() -> float:
    """Return when the system was started, seconds since 1970."""
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(" ")
        if name == "btime":
            return float(value)
    raise OSError
