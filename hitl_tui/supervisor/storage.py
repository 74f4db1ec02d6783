"""Where a session lives: folder, lock, artifacts, activity.

`<data>/sessions/<id>/` holds `checkpoints.db`, `session.json`, `lock`, `artifacts/` by SHA-256, `runs/` (locks that
subprocesses inherit) and `activity.log`. Paths, locks and files stay behind this module.
"""

from __future__ import annotations

import asyncio
import bisect
import fcntl
import json
import os
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any, cast

from hitl_tui.config.atomic_files import make_private, sync_folder, write_atomically
from hitl_tui.config.declared_graphs import GraphDeclaration, GraphSettings
from hitl_tui.config.sealed_json import check_sealed, write_sealed
from hitl_tui.core.errors import BadInput, HitlError, SessionBusy, StorageError, UnknownName
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message, messages_restored, with_messages
from hitl_tui.core.names import clip, some_of
from hitl_tui.core.plan_review import UNSAID, ReviewOptions
from hitl_tui.core.safe_text import ELLIPSIS, mask_json, safe_text
from hitl_tui.core.short_titles import WIDTH, short_title
from hitl_tui.ledger.records import LEDGER_FILE
from hitl_tui.ledger.sql_transaction import Row
from hitl_tui.ledger.sqlite_readonly import file_stamps
from hitl_tui.supervisor.checkpoint_file import StoredCheckpoints, open_read_only, write_through, written_to
from hitl_tui.threads.session_history import thread_of


def is_digest(text: str) -> bool:
    """Tell whether a text has the form of a SHA-256, as `digest` writes it."""
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


class ArtifactStore:
    """Contents by SHA-256: JSON documents, written once, durable before their digest is used.

    Args:
        folder: where; made when missing.
        secrets: values that never reach a file, by name.
    """

    def __init__(self, folder: Path, secrets: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._secrets = dict(secrets or {})

    async def put(self, value: Mapping[str, object]) -> str:
        """Keep a JSON object; return the SHA-256 of its canonical form.

        Raises:
            StorageError: it can't be written.
        """
        return await asyncio.to_thread(self._put, value)

    def _put(self, value: Mapping[str, object]) -> str:
        data = canonical(mask_json(with_messages(value), self._secrets))
        digest = sha256(data).hexdigest()
        self._write(digest, data)
        return digest

    def _write(self, digest: str, data: bytes) -> None:
        path = self._path(digest)
        if path.exists():
            return
        try:
            if not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                # A new folder is durable once those above it say so, and the file in it no sooner.
                sync_folder(self._folder)
                sync_folder(self._folder.parent)
            write_atomically(path, data)
        except OSError as error:
            raise StorageError(Message("A result can't be written to {}: {}.", path.parent, error.strerror)) from error

    async def get(self, digest: str) -> dict[str, Json]:
        """Return the object with this digest.

        Raises:
            StorageError: it is missing or damaged.
        """
        return await asyncio.to_thread(self._get, digest)

    def _get(self, digest: str) -> dict[str, Json]:
        data = self._read(digest)
        if sha256(data).hexdigest() != digest:
            raise StorageError(
                Message("The result {} was changed on disk; its content isn't what was recorded.", digest[:12])
            )
        found = json.loads(data.decode("utf-8", errors="surrogatepass"))
        return cast("dict[str, Json]", messages_restored(dict(found)))

    def _read(self, digest: str) -> bytes:
        try:
            return self._path(digest).read_bytes()
        except OSError as error:
            # What a session and its copies did is told to all of them, and where it lies may be another's folder.
            for path in self._folder.parent.parent.glob(f"*/{self._folder.name}/{digest[:2]}/{digest}"):
                return path.read_bytes()
            raise StorageError(Message("The result {} is missing: {}.", digest[:12], error.strerror)) from error

    async def keep(self, digest: str) -> None:
        """See that a content lies in this folder, wherever it is found now.

        Raises:
            StorageError: it is missing, or can't be written.
        """
        await asyncio.to_thread(lambda: self._write(digest, self._read(digest)))

    def files(self, into: Path | None = None) -> dict[str, Path]:
        """Return where each content lies, by digest, in order.

        Args:
            into: a folder for copies of what isn't in files; needed where contents are elsewhere.
        """
        found = sorted(self._folder.glob("??/*")) if self._folder.is_dir() else []
        return {path.name: path for path in found if is_digest(path.name) and path.parent.name == path.name[:2]}

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


_LEAST_ROOM = 512 * 1024
"""Bytes that have to be free before anything is changed: a decision, the steps that follow it, and SQLite's logs."""

_TRIES = 1000
"""How often a lock is tried while others only ask whether it is held."""

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "afpfs", "webdav"}
)


def check_session_id(text: str) -> str:
    """Return a session id that can be a folder's name.

    Raises:
        BadInput: it can't.
    """
    if not _SESSION_ID.fullmatch(text):
        raise BadInput(
            Message(
                '"{}" can\'t be a session id; use up to 64 letters, digits, dots, dashes and underscores, '
                "beginning with a letter or digit.",
                clip(text),
            )
        )
    return text


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a session's folder says without opening its checkpoints.

    Args:
        id: session id.
        workspace: absolute path, as it was when the session began.
        title: a few words of the query, or what somebody called it; older sessions have the query's first line there.
        created: ISO 8601, UTC.
        query: what was asked, whole: it must survive a crash before the first checkpoint.
        mode: the mode it began in.
        lineage: id that effects are remembered under; the id itself, or an ancestor's for an import or fork.
        review: how its plan is reviewed.
    """

    id: str
    workspace: str
    title: str
    created: str
    lineage: str
    query: str = ""
    mode: str = ""
    review: ReviewOptions = UNSAID

    @property
    def called(self) -> str:
        """What the session is called where sessions are listed: its title, in short where that is the query itself."""
        fork = _FORK.search(self.title)
        own = self.title[: fork.start()] if fork else self.title
        asked = safe_text(self.query.split("\n")[0], multiline=False)
        if len(own) <= WIDTH or not asked.startswith(own.removesuffix(ELLIPSIS)):
            return self.title
        return short_title(own) + self.title[len(own) :]

    def to_dict(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SessionInfo:
        """Return what `to_dict` wrote; a session of before has no options of the review.

        Raises:
            KeyError, TypeError, ValueError, BadInput: it is none.
        """
        texts = {key: str(data[key]) for key in _INFO_KEYS}
        return cls(**texts, review=ReviewOptions.from_dict(data.get("review") or {}))


_FORK = re.compile(r" \(fork of [A-Za-z0-9._-]+\)$")
_INFO_KEYS = tuple(field.name for field in fields(SessionInfo) if field.name != "review")


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Who carries a session of a database.

    Args:
        worker: the worker that has it open now; empty for none.
        queued: a job waits for a worker.
        missing: the workspace that no worker has; empty where one has it.
        silent_since: when the one that holds it gave its last sign of life, too long ago; empty where it lives.
        server_pid: of who holds it, the process of the database's server.
    """

    worker: str = ""
    queued: bool = False
    missing: str = ""
    silent_since: str = ""
    server_pid: int = 0

    @property
    def problem(self) -> str:
        """Why nothing goes on, one sentence; empty where it does once there is something to do."""
        if self.silent_since:
            return Message(
                "{} holds it (server pid {}) and has given no sign of life since {}. {}",
                self.worker,
                self.server_pid,
                self.silent_since,
                freeing(self.server_pid),
            )
        return Message("No worker has the workspace {}.", self.missing) if self.missing else ""

    @property
    def carrier(self) -> str:
        """Who carries it, in a few words."""
        if self.silent_since:
            return Message("{} holds it, no sign of life since {}", self.worker, self.silent_since)
        if self.worker:
            return Message("{} runs it", self.worker)
        if self.missing:
            return Message("no worker has the workspace {}", self.missing)
        return Message("waits for a worker") if self.queued else Message("carried by workers")


def freeing(server_pid: int) -> Message:
    """Return how others get what a process holds that gives no sign of life.

    Args:
        server_pid: the process of the database's server that its connection has.
    """
    command = f'psql "$HITL_DATABASE" -c "SELECT pg_terminate_backend({server_pid})"'
    return Message("End it there, or let others go on: {}", command)


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """How much is queued.

    Args:
        todo, doing: jobs that wait, and those that a worker is at.
        again: of those that wait, how many couldn't be done before.
        oldest: seconds for which the first of those that could be done now waits.
        workers: workers that live.
    """

    todo: int
    doing: int
    again: int
    oldest: float
    workers: int


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a list of sessions says of one, beside the questions that wait.

    Args:
        info: what it is.
        owned: some process has it open.
        outcome: how it ended; empty where it hasn't.
        updated: time of its newest checkpoint; empty for none.
        tally: how its steps ended, counted (`core.tally`).
        where: who carries it; None where no worker would.
        still: the TODOs whose processes run on though nobody has it open.
    """

    info: SessionInfo
    owned: bool
    outcome: str
    updated: str
    tally: Mapping[str, int]
    where: Whereabouts | None = None
    still: tuple[str, ...] = ()


CHECKPOINTS = "checkpoints.db"


class SessionFolder:
    """One session's folder.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def checkpoints(self) -> Path:
        return self.path / CHECKPOINTS

    @property
    def activity(self) -> Path:
        return self.path / "activity.log"

    @property
    def cache(self) -> Path:
        """Where what can be rebuilt lies (an index); all sessions share it, so that a workspace is read once."""
        return self.path.parent.parent / "cache"

    @property
    def stores(self) -> Path:
        """Where the stores of graphs lie, one for each workspace; all sessions share them."""
        return self.path.parent.parent / "stores"

    def artifacts(self, secrets: Mapping[str, str] | None = None) -> ArtifactStore:
        return ArtifactStore(self.path / "artifacts", secrets)

    @property
    def address(self) -> str:
        """The database that it is kept in; empty for this folder."""
        return ""

    @property
    def holder(self) -> str:
        """What people on other machines call this process where it owns the session."""
        return ""

    @property
    def stream_place(self) -> str:
        """Where `activity` lies, as people on other machines are told; empty where no other machine has the session."""
        return ""

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Note that this process owns it while the context lasts."""
        yield

    @property
    def carried(self) -> bool:
        """Workers carry it: who opens it here only follows it."""
        return False

    @property
    def place(self) -> str:
        """Where its checkpoints are, as people are told."""
        return str(self.checkpoints)

    def follow(self) -> None:
        """Let it go on, where workers carry it and none has its workspace as it was when it began."""

    def whereabouts(self) -> Whereabouts | None:
        """Return who carries it; None where that is whoever opens it."""
        return None

    def has_checkpoints(self) -> bool:
        """Return whether there are any."""
        return self.checkpoints.exists()

    def reading(self, *, checked: bool = False) -> AbstractAsyncContextManager[StoredCheckpoints]:
        """Open its checkpoints for reading, also while another process owns them; see `open_read_only`."""
        return open_read_only(self.checkpoints, checked=checked)

    def make_durable(self) -> None:
        """Bring everything that was written so far to where a power cut can't take it.

        Raises:
            StorageError: it can't be written.
        """
        write_through(self.checkpoints)

    def written(self) -> tuple[tuple[int, int], ...]:
        """Return what is another value once something was written of it: times in nanoseconds, and sizes."""
        base = self.path.parent.parent / LEDGER_FILE
        return file_stamps(p.with_name(p.name + end) for p in (self.checkpoints, base) for end in ("", "-wal"))

    def begun(self) -> bool:
        """Return whether it has checkpoints; a session whose process was killed before the first one has none."""
        return self.checkpoints.exists() or not (self.path / "session.json").exists()

    def info(self) -> SessionInfo:
        """Return what the folder says.

        Raises:
            StorageError: session.json is missing or damaged, or another session's.
        """
        path = self.path / "session.json"
        if path.exists() and not path.is_file():
            raise StorageError(Message("{} can't be read: it isn't a file.", path))
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            check_sealed(path, data)
            info = SessionInfo.from_dict(data)
        except OSError as error:
            raise StorageError(Message("{} can't be read: {}.", path, error.strerror)) from error
        except (BadInput, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StorageError(Message("{} can't be read: it isn't what this program wrote there.", path)) from error
        if info.id != self.path.name and not self.path.name.startswith("."):  # of one that is being made
            raise StorageError(Message("{} belongs to session {}; nothing was changed.", path, info.id))
        return info

    def write_info(self, info: SessionInfo) -> None:
        write_sealed(self.path / "session.json", info.to_dict())

    def graphs(self) -> tuple[GraphDeclaration, ...]:
        """Return the graphs that were attached to the session; an import brings none: they name code of a machine.

        Raises:
            StorageError: what says so can't be read.
        """
        try:
            return tuple(GraphDeclaration.from_dict(item) for item in self._graphs_file()["graphs"])
        except (TypeError, LookupError, AttributeError) as error:
            raise StorageError(Message("{} can't be read: {}.", self.path / "graphs.json", error)) from error

    def _graphs_file(self) -> dict[str, Any]:
        path = self.path / "graphs.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            check_sealed(path, data)
        except FileNotFoundError:
            return {"graphs": []}
        except (OSError, ValueError) as error:
            raise StorageError(Message("{} can't be read: {}.", path, error)) from error
        return data if isinstance(data, dict) else {"graphs": data}  # before there was a checksum

    def graph_settings(self) -> GraphSettings:
        """Return what a person gave to all graphs of the session when it began.

        Raises:
            StorageError: what says so can't be read.
        """
        given = self._graphs_file().get("settings") or {}
        return GraphSettings(given.get("context") or {}, given.get("config") or {})

    def write_graphs(self, graphs: Sequence[GraphDeclaration], settings: GraphSettings | None = None) -> None:
        """Write which graphs are attached to the session, and what a person gave to all of its graphs."""
        more = {"settings": settings.to_dict()} if settings else {}
        write_sealed(self.path / "graphs.json", {"graphs": [graph.to_dict() for graph in graphs], **more})

    @contextmanager
    def own(self) -> Iterator[None]:
        """Own the session while the context lasts; the kernel gives it back when the process dies.

        Raises:
            SessionBusy: another process owns it.
            StorageError: the folder can't be locked.
        """
        for __ in range(_TRIES):
            handle = self._lock("lock")
            if handle is not None or self.is_owned():
                break
            sleep(0.001)  # somebody asks whether it is owned, which takes a moment
        if handle is None:
            raise SessionBusy(Message("Another process has session {} open.", self.path.name))
        try:
            yield
        finally:
            os.close(handle)

    def is_owned(self) -> bool:
        """Return whether some process owns the session now."""
        if not (self.path / "lock").exists():
            return False
        # Who may only read asks, too; a shared lock stands against an owner's only, not against others that ask.
        handle = self._lock("lock", os.O_RDONLY, fcntl.LOCK_SH)
        if handle is None:
            return True
        os.close(handle)
        return False

    def lock_run(self, todo_id: str) -> int | None:
        """Return a locked descriptor for a TODO's runs, None while an orphan of an earlier run still holds it."""
        self.run_lock(todo_id).parent.mkdir(exist_ok=True)
        return self._lock(f"runs/{todo_id}")

    def run_lock(self, todo_id: str) -> Path:
        """Return the file whose lock a TODO's runs hold, and what they start."""
        return self.path / "runs" / todo_id

    def still_running(self) -> tuple[str, ...]:
        """Return the TODOs whose processes outlived who started them, of a session that nobody owns."""
        found = []
        runs = self.path / "runs"
        for todo_id in sorted(path.name for path in runs.iterdir()) if runs.is_dir() else ():
            handle = self._lock(f"runs/{todo_id}", os.O_RDONLY, fcntl.LOCK_SH)
            if handle is None:
                found.append(todo_id)
            else:
                os.close(handle)
        return tuple(found)

    def _lock(self, name: str, access: int = os.O_RDWR | os.O_CREAT, kind: int = fcntl.LOCK_EX) -> int | None:
        try:
            handle = os.open(self.path / name, access | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(Message("{} can't be opened: {}.", self.path / name, error.strerror)) from error
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError as error:
            os.close(handle)
            raise StorageError(Message("{} can't be locked: {}.", self.path / name, error.strerror)) from error
        return handle


class DataFolder:
    """All sessions of a user.

    Args:
        root: the folder given by `--data`, `HITL_DATA_DIR` or the platform.
        make: make it when it isn't there; else it counts as empty, and nothing can be written.
    """

    def __init__(self, root: Path, make: bool = True) -> None:
        self.root = root
        self._make = make

    @property
    def ledger(self) -> Path:
        return self.root / LEDGER_FILE

    @property
    def place(self) -> Path | str:
        """What its record is known by: a file, or the address of a database."""
        return self.ledger

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def cache(self) -> Path:
        """Where what can be rebuilt lies (an index); all sessions share it, so that a workspace is read once."""
        return self.root / "cache"

    @property
    def absent(self) -> bool:
        """There is nothing to look at, and it isn't made for that."""
        return not (self._make or self.root.is_dir())

    @property
    def read_only(self) -> bool:
        """There is something in it to look at that this account can't change, no room for a change, or nothing."""
        return self.absent or (os.access(self.ledger, os.R_OK) and (self.full or not self._can_be_written()))

    @property
    def full(self) -> bool:
        """There is less room than one change may take."""
        free = free_bytes(self.root)
        return free is not None and free < _LEAST_ROOM

    def _can_be_written(self) -> bool:
        there = [folder for folder in (self.root, self.sessions) if folder.exists()]
        folders = all(os.access(folder, os.W_OK | os.X_OK) for folder in there)
        return folders and (not self.ledger.exists() or os.access(self.ledger, os.W_OK))

    @property
    def note(self) -> str:
        """What a person is told who looks into it; empty where there is nothing to tell."""
        if self.absent or not self.read_only:
            return ""
        if self.full:
            kept = Message(
                "{} kB are free and {} kB are needed",
                f"{(free_bytes(self.root) or 0) // 1024:,}",
                f"{_LEAST_ROOM // 1024:,}",
            )
            return Message(
                "The disk of the data folder {} is full ({}): nothing in it can be changed; make room.", self.root, kept
            )
        return Message("The data folder {} can't be written by this account: nothing in it can be changed.", self.root)

    def check_writable(self) -> None:
        """Refuse what would change something where this account can't.

        Raises:
            StorageError: it can't.
        """
        if self.note:
            raise StorageError(self.note)

    def prepare(self) -> None:
        """Make the folder, unless it is there and can only be read.

        Raises:
            StorageError: it can't be made or written, or is on a network file system, whose locks don't hold.
        """
        if not self.read_only:
            try:
                make_private(self.sessions)
            except OSError as error:
                raise StorageError(
                    Message("The data folder {} can't be created: {}.", self.root, error.strerror)
                ) from error
            if not self._can_be_written():
                raise StorageError(Message("The data folder {} can't be written to.", self.root))
        kind = file_system(self.root)
        if kind in _NETWORK_FILE_SYSTEMS:
            raise StorageError(
                Message(
                    "The data folder {} is on a network file system ({}), where locks don't hold; choose a "
                    "local one with --data.",
                    self.root,
                    kind,
                )
            )

    def ids(self) -> list[str]:
        """Return the ids of all sessions, in the order they were made."""
        try:
            found = [p for p in self.sessions.iterdir() if p.name[0] != "." and (p / "session.json").exists()]
        except OSError:
            return []
        names = sorted((p.name for p in found), key=lambda name: (_number(name), name))
        numbered = [name for name in names if _number(name)]
        # The numbers rise; only what was given a name must say when it was made, and those that it is compared with.
        made = cache(self._made)
        for name in sorted(names[: len(names) - len(numbered)], key=made):
            bisect.insort_right(numbered, name, key=made)
        return numbered

    def _made(self, name: str) -> str:
        """Return when a session was made; empty where that can't be read."""
        try:
            return SessionFolder(self.sessions / name).info().created
        except HitlError:
            return ""

    async def all_facts(self, newest: int | None = None) -> Mapping[str, SessionFacts | HitlError] | None:
        """Return what there is to say of each session, or why it can't be read; None where each is asked by itself.

        Args:
            newest: only so many of those that were made last; None for all.
        """
        return None

    def written_texts(self, sessions: Sequence[str], channels: Sequence[str]) -> Mapping[str, Sequence[Row]]:
        """Return what was written to some channels of some sessions, oldest first: channel, format and bytes.

        Nothing is checked: what it is read for must do without what is damaged, and those that can't be read at all
        have nothing.
        """
        return {name: written_to(self.sessions / name / CHECKPOINTS, thread_of(name), channels) for name in sessions}

    def tells_for_workspaces(self) -> bool:
        """Return whether this machine is one that sends the notifications that workspaces ask for."""
        return True

    def titles(self, sessions: Collection[str]) -> dict[str, str]:
        """Return what some sessions are called; those that can't be read are left out."""
        found: dict[str, str] = {}
        for name in sessions:
            with suppress(HitlError):
                found[name] = self.session(name).info().called
        return found

    def remove_unused(self) -> int:
        """Remove what sessions that are gone left; return how much. In a folder it went with each of them."""
        return 0

    def queue_figures(self) -> QueueFigures | None:
        """Return how much waits for workers; None where there are none."""
        return None

    def has(self, session_id: str) -> bool:
        """Return whether there is a session of this id, whole or not."""
        return (self.sessions / session_id).exists()

    def wake(self, session_id: str) -> None:
        """Let whoever carries sessions know that this one has something to do; who has it open knows anyway."""

    def session(self, session_id: str) -> SessionFolder:
        """Return the folder of a session that exists.

        Raises:
            UnknownName: there is none; BadInput: the id can't be one.
        """
        check_session_id(session_id)
        folder = self.sessions / session_id
        if not (folder / "session.json").exists():
            known = self.ids()
            hint = some_of(known) if known else Message("none exist yet")
            raise UnknownName(Message('No session "{}"; {}.', session_id, hint))
        return SessionFolder(folder)

    def fresh_id(self, used: Iterable[str]) -> str:
        """Return a new session id, `s1`, `s2`, …; `used` names ids that must not come back."""
        # A folder that says nothing of its session is not given to another one.
        taken = {*used, *(path.name for path in self.sessions.glob("*"))}
        return f"s{1 + max((_number(name) for name in taken), default=0)}"


def _number(session_id: str) -> int:
    digits = session_id[1:]
    return int(digits) if session_id.startswith("s") and digits.isascii() and digits.isdigit() else 0


def free_bytes(path: Path) -> int | None:
    """Return how many bytes this account can write where a path lies; None when the file system doesn't say."""
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    if not found.f_blocks:
        return None
    return found.f_frsize * (found.f_bfree if os.geteuid() == 0 else found.f_bavail)


def file_system(path: Path) -> str:
    """Return the type of the file system a path lies on, as the mount table names it; empty when it isn't known."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real = str(path.resolve())
    best = ("", "")
    for line in lines:
        parts = line.split()
        point = parts[1].replace("\\040", " ") if len(parts) > 2 else ""
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if point and inside and len(point) >= len(best[0]):
            best = (point, parts[2])
    return best[1]
