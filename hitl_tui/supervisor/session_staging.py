"""How a session comes to be, or goes, in one step: a crash leaves the old or the new, whole, and leftovers are cleared.

Both happen in the folder of all sessions, under names that no session can have: `.new-…` while something is made,
`.deleted-<id>` while something goes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hitl_tui.config.atomic_files import sync_folder
from hitl_tui.config.declared_graphs import GraphDeclaration, GraphSettings
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.storage import DataFolder, SessionFolder, SessionInfo, check_session_id

_LOCK, _STAGED, _DELETED = ".staging", ".new-", ".deleted-"


@contextmanager
def room_for(what: str) -> Iterator[None]:
    """Say in one sentence what couldn't be written; nothing is half done, since nothing is in its place yet.

    Raises:
        StorageError: the file system refuses.
    """
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = Message("no space left") if full else error.strerror or str(error)
        raise StorageError(Message("{} can't be written: {}; nothing was changed.", what, why)) from error
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be written: {}; nothing was changed.", what, error)) from error


class SessionStaging:
    """Makes and removes sessions' folders.

    Args:
        sessions: the folder of all sessions.
    """

    def __init__(self, sessions: Path) -> None:
        self._sessions = sessions

    @contextmanager
    def stage(self) -> Iterator[Path]:
        """Give an empty folder on the sessions' file system, to make something whole in; what is left in it goes.

        Raises:
            StorageError: it can't be made.
        """
        with room_for(Message("What is made here")):
            handle = self._lock(fcntl.LOCK_SH)
        try:
            with room_for(Message("What is made here")):
                folder = Path(tempfile.mkdtemp(dir=self._sessions, prefix=_STAGED))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)

    def begin(
        self, info: SessionInfo, graphs: Sequence[GraphDeclaration] = (), settings: GraphSettings | None = None
    ) -> SessionFolder:
        """Make a session's folder, with all that decides what the session is.

        Raises:
            BadInput: there is one already.
            StorageError: it can't be written.
        """
        with self.stage() as stage:
            made = SessionFolder(stage / "session")
            with room_for(f"Session {info.id}"):
                made.path.mkdir(mode=0o700)
                if graphs or settings:
                    made.write_graphs(graphs, settings)
                made.write_info(info)
            return self.settle(made.path, info.id)

    def settle(self, folder: Path, session_id: str) -> SessionFolder:
        """Let a staged folder become a session's: whole, durable, or not at all.

        Raises:
            BadInput: there is one already.
        """
        target = self._sessions / check_session_id(session_id)
        if (target / "session.json").exists():
            raise BadInput(Message("Session {} already exists.", session_id))
        with room_for(f"Session {session_id}"):
            for path in (*(p for p in folder.rglob("*") if p.is_dir()), folder):
                sync_folder(path)
            folder.rename(target)
            sync_folder(self._sessions)
        return SessionFolder(target)

    def put_aside(self, session_id: str) -> None:
        """Let a session be gone at once; `deleted` names it until `clear_deleted` has removed what is left.

        Raises:
            StorageError: it can't be moved.
        """
        try:
            (self._sessions / session_id).rename(self._sessions / f"{_DELETED}{session_id}")
            sync_folder(self._sessions)
        except OSError as error:
            raise StorageError(Message("Session {} can't be deleted: {}.", session_id, error.strerror)) from error

    def deleted(self) -> list[str]:
        """Return the ids of sessions whose deletion was begun and not ended."""
        return sorted(name.removeprefix(_DELETED) for name in self._names() if name.startswith(_DELETED))

    def deleted_folder(self, session_id: str) -> SessionFolder:
        """Return the folder of a session whose deletion was begun."""
        return SessionFolder(self._sessions / f"{_DELETED}{session_id}")

    def clear_deleted(self, session_id: str) -> None:
        """Remove what `put_aside` moved away; what can't be removed stays for the next time."""
        shutil.rmtree(self._sessions / f"{_DELETED}{session_id}", ignore_errors=True)

    def empty_deleted(self, session_id: str) -> None:
        """Free the room that `put_aside` moved away, and keep the mark that its deletion isn't ended."""
        for path in (self._sessions / f"{_DELETED}{session_id}").iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def clear_staged(self) -> None:
        """Remove what processes left that died while they made something; while others make something, do nothing."""
        left = [name for name in self._names() if name.startswith(_STAGED)]
        if not left:
            return
        try:
            handle = self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        try:
            for name in left:
                shutil.rmtree(self._sessions / name, ignore_errors=True)
        finally:
            os.close(handle)

    def _names(self) -> list[str]:
        try:
            return [p.name for p in self._sessions.iterdir()]
        except OSError:
            return []

    def _lock(self, kind: int) -> int:
        handle = os.open(self._sessions / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, kind)
        except OSError:
            os.close(handle)
            raise
        return handle


def begin_in(data: DataFolder) -> Callable[..., SessionFolder]:
    """Return what makes a session in a place; see `SessionStaging.begin`."""
    if isinstance(data.place, Path):
        return SessionStaging(data.sessions).begin
    from hitl_tui.supervisor.postgres_sessions import DatabaseFolder

    assert isinstance(data, DatabaseFolder)
    return data.begin
