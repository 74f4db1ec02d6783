"""Copies of foreign threads that sessions go on in: which belong to a session, and their end (C8)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hitl_tui.core.errors import HitlError
from hitl_tui.supervisor.storage import SessionFolder

FOLDER = "copies"
"""Folder in the data folder with the copies that graphs go on in (I9)."""

_BESIDE = ("", "-wal", "-shm", "-journal")


def copies_of(folder: SessionFolder, others: Iterable[SessionFolder], root: Path) -> list[Path]:
    """Return the files in `root`/copies that a session's graphs live in and no other session's do, in order.

    Args:
        folder: the session's.
        others: those of all other sessions; a fork goes on in the same copy.
        root: the data folder.
    """
    mine = _used(folder, root)
    if mine:
        for other in others:
            mine -= _used(other, root)
    return sorted(mine)


def remove_copies(files: Iterable[Path]) -> None:
    """Remove copies with what SQLite keeps beside them; what can't be removed stays."""
    for file in files:
        for end in _BESIDE:
            try:
                file.with_name(file.name + end).unlink(missing_ok=True)
            except OSError:
                continue


def _used(folder: SessionFolder, root: Path) -> set[Path]:
    try:
        graphs = folder.graphs()
    except HitlError:
        return set()
    place = (root / FOLDER).resolve()
    found = {Path(g.saver).resolve() for g in graphs if g.saver and "://" not in g.saver}
    return {path for path in found if path.parent == place and path.is_file()}
