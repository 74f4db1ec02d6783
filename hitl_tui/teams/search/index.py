"""The full text index of a folder: kept up to date file by file, asked in words.

Its cache file is opened safely by several processes, and rebuilt when it is damaged or of another version. Documents
that a question names are searched first, and their names are no words to look for.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TypeVar

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.teams.search.file_walk import clean_patterns, composed
from hitl_tui.teams.search.index_refresh import (
    ANY,
    Allowed,
    Busy,
    Progress,
    Refreshed,
    refresh_within,
    scope_key,
    stored_scope,
)
from hitl_tui.teams.search.passage_search import SearchHits, ask, is_foreign, opening, says_nothing
from hitl_tui.teams.search.query_terms import MAX_QUESTION
from hitl_tui.teams.search.ranking import Near
from hitl_tui.teams.search.window_meanings import sketch_windows
from hitl_tui.teams.secret_mask import SecretMask

VERSION = 23
APART = "+"
"""Stands in the name of an index's file before what tells secrets apart."""
WAIT_SECONDS = 60.0
_T = TypeVar("_T")
_CORRUPT = (11, 26)  # SQLITE_CORRUPT, SQLITE_NOTADB: primary result codes
POLL = 0.05
"""Seconds between two looks whether another process is done."""
_SHOWN = re.compile(rb"(\d{1,9}) (\d{1,9})\n")
_SCHEMA = """
DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS windows; DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS spellings;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, read_ns INTEGER NOT NULL, digest TEXT NOT NULL, reason TEXT NOT NULL,
    kind TEXT NOT NULL, note TEXT NOT NULL
);
CREATE TABLE windows (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, page INTEGER NOT NULL, heading TEXT NOT NULL, parts TEXT NOT NULL,
    meaning BLOB
);
CREATE INDEX windows_by_file ON windows (file);
CREATE TABLE spellings (word TEXT PRIMARY KEY, sound TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX spellings_by_sound ON spellings (sound);
CREATE VIRTUAL TABLE words USING fts5 (body, title, name, tokenize = "unicode61 remove_diacritics 0");
"""


def is_damage(error: sqlite3.Error) -> bool:
    """True when an error says that the file itself is damaged or no database."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in _CORRUPT


def storage_error(path: Path, error: Exception) -> StorageError:
    """Return the error a person sees for a failure of the cache file."""
    return StorageError(
        Message("The search index {} can't be used: {}.", path, error), help=Message("It can be deleted at any time.")
    )


def open_store(path: Path, wait: float = WAIT_SECONDS, *, anew: bool = False) -> sqlite3.Connection:
    """Open the cache file, making or rebuilding it where needed.

    Args:
        path: the file; its folder is made.
        wait: seconds to wait for another process that writes.
        anew: throw away what is there.

    Raises:
        StorageError: the file or its folder can't be used.
    """
    try:
        make_private(path.parent)
        with _locked(path.with_name(path.name + ".lock")):
            if not path.exists():
                _empty_others(path)
            if not anew:
                try:
                    return _connect(path, wait)
                except sqlite3.DatabaseError as error:
                    if not is_damage(error):
                        raise
            _remove(path)
            return _connect(path, wait)
    except (OSError, sqlite3.Error) as error:
        raise storage_error(path, error) from error


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _empty_others(path: Path) -> None:
    """Empty the files of the same index with other secrets, or none: they may hold a value that is a secret by now.

    That is done once, when a file is made that leaves secrets out. What is still searched with the others fills them
    again, and beside it this one stays.
    """
    kind, _, secrets = path.stem.rpartition(APART)
    for other in path.parent.glob(f"{kind}*{path.suffix}") if kind and secrets else ():
        if other != path and other.stem.partition(APART)[0] == kind:
            _remove(other)
            other.touch(0o600)


@contextlib.contextmanager
def _locked(path: Path, progress: Progress = lambda done, total: None, *, wait: bool = True) -> Iterator[Progress]:
    """Let one process at a time go on; the others are told how far it is while they wait.

    What is given is to be told the progress. The kernel lets go of the lock when a process dies.

    Raises:
        Busy: another one is there, and it isn't to be waited for here.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                shown = _SHOWN.match(os.pread(descriptor, 32, 0))
                done, total = (int(shown[1]), int(shown[2])) if shown else (0, 0)
                if not wait:
                    raise Busy(done, total) from None
                if total:
                    progress(done, total)
                time.sleep(POLL)

        def tell(done: int, total: int) -> None:
            os.pwrite(descriptor, b"%d %d\n" % (done, total), 0)
            progress(done, total)

        yield tell
    finally:
        os.close(descriptor)


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # what may hold a secret that is declared by now
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


_NAME = re.compile(r"(?<![\w./\\-])(?:\./)?(?P<name>[\w./-]{0,200}\w\.[A-Za-z0-9]{1,8})(?![A-Za-z0-9_/-])[가-힣]{0,4}")
_BARE = re.compile(r"(?<![\w./-])[A-Z][\w-]{2,}(?![\w/-]|\.\w)", re.ASCII)
"""What may be the name of a file without an ending: NEWS, Makefile."""
_MOST = 8


def named_in(db: sqlite3.Connection, question: str) -> tuple[tuple[int, ...], str]:
    """Return the indexed files that a question names by path or by name, in its order, and as much text without these.

    Args:
        db: the store; the caller holds a read transaction.
        question: the question, as written.
    """
    rest = question
    names = [*_NAME.finditer(question), *_BARE.finditer(question)]
    rows = db.execute("SELECT id, path FROM files WHERE reason = '' ORDER BY id") if names else ()
    as_written = [(file, f"/{composed(path)}") for file, path in rows]
    in_any_case = [(file, path.casefold()) for file, path in as_written]
    found: dict[int, None] = {}
    for match in names if as_written else ():
        bare = match.re is _BARE
        name, among = (f"/{match[0]}", as_written) if bare else (f"/{match['name']}".casefold(), in_any_case)
        same = [file for file, path in among if path.endswith(name)][:_MOST] if len(found) < _MOST else []
        found.update(dict.fromkeys(same))
        if same:
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return tuple(found), rest


def without_named(question: str, path: str) -> str:
    """Return a question without the name of a file."""
    path = f"/{composed(path)}".casefold()
    return _NAME.sub(lambda m: " " if path.endswith(f"/{m['name']}".casefold()) else m[0], composed(question))


class SearchIndex:
    """A full text index in one SQLite file that can be deleted at any time.

    Use it as a context manager, in one thread. Several processes may use the same file.

    Args:
        path: the cache file.
        wait: seconds to wait for another process that is indexing.
        secrets: declared secrets, by name: the names stand for the values in what is kept and found.

    Raises:
        StorageError: the file can't be opened or made.
    """

    def __init__(
        self,
        path: Path,
        *,
        wait: float = WAIT_SECONDS,
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._secrets = SecretMask(secrets)
        self._path = path
        self._wait = wait
        self._db = open_store(path, wait)
        self._again: Callable[[], Refreshed] | None = None

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def refresh(
        self,
        root: Path,
        documents: Sequence[str] = (".",),
        progress: Progress = lambda done, total: None,
        stop: Callable[[], bool] = lambda: False,
        allowed: Allowed = ANY,
    ) -> Refreshed:
        """Bring the index up to date with a folder; where another process does that, wait for it first.

        What was read is kept every few seconds: where a process ends on the way, the next one goes on.

        Args:
            root: the folder.
            documents: files, folders or patterns relative to it.
            progress: called with files done and files in all.
            stop: asked before each file; True keeps what was done and leaves the rest to the next time.
            allowed: how much may be done.

        Raises:
            BadInput: the folder can't be searched, or a pattern can't be used.
            TooMuch: it is more than is allowed; nothing was done.
            Busy: another process does that, and it isn't to be waited for here.
            StorageError: the cache file can't be written.
        """
        patterns = clean_patterns(documents)
        self._again = partial(self._refresh, root, patterns, progress, stop, allowed)
        return self._mended(self._again)

    def query(self, text: str, limit: int = 8, *, part: bool = False, near: Near = ()) -> SearchHits:
        """Return the passages that answer a question, best first.

        Args:
            text: the question, in words.
            limit: how many passages at most.
            part: it is only some words of a question.
            near: paths and lines that answered the question from which this one goes on, best first.

        Raises:
            StorageError: the cache file can't be read.
            TooMuch, Busy: it is damaged, and making it anew is more than was allowed when it was brought up to date.
        """
        return self._mended(lambda: self._query(composed(text), limit, part, near))

    def _mended(self, work: Callable[[], _T]) -> _T:
        """Work with the cache file; where it is damaged, again with a new one that is brought up to date as before."""
        try:
            return work()
        except sqlite3.Error as error:
            if not is_damage(error) or self._again is None:
                raise storage_error(self._path, error) from error
        self._db.close()
        self._db = open_store(self._path, self._wait, anew=True)
        try:
            if work is not self._again:
                self._again()
            return work()
        except sqlite3.Error as error:
            raise storage_error(self._path, error) from error

    def _refresh(
        self, root: Path, patterns: tuple[str, ...], progress: Progress, stop: Callable[[], bool], allowed: Allowed
    ) -> Refreshed:
        scope = scope_key(root, patterns, self._secrets)
        with _locked(self._path.with_name(self._path.name + ".build"), progress, wait=allowed.wait) as tell:
            if stored_scope(self._db) not in ("", scope):
                self._db.close()  # what is deleted in a full text index stays in its file
                self._db = open_store(self._path, self._wait, anew=True)
            self._db.execute("BEGIN IMMEDIATE")
            try:
                done = refresh_within(self._db, root, patterns, scope, tell, stop, self._secrets, allowed)
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        sketch_windows(self._db, allowed.sketches, stop)
        return done

    def _query(self, text: str, limit: int, part: bool, near: Near) -> SearchHits:
        self._db.execute("BEGIN")
        try:
            named, rest = named_in(self._db, text[:MAX_QUESTION])
            if named and says_nothing(rest):
                return opening(self._db, named[0])
            hits = ask(self._db, rest, max(1, limit), named, part=part, near=near)
            unsure = hits.weak or not hits.passages
            return replace(hits, foreign=True) if unsure and is_foreign(self._db, text) else hits
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
