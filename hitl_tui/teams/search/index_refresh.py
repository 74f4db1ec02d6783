"""Bringing the store of an index up to date with a folder, file by file."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hitl_tui.extraction.blocks import Block, Extraction, LeftOut, Unreadable
from hitl_tui.extraction.file_text import extract_bytes, read_source
from hitl_tui.meaning.sounds import english_sound, skeleton
from hitl_tui.teams.search.file_walk import Found, Skipped, walk
from hitl_tui.teams.search.tokens import index_tokens, readable
from hitl_tui.teams.secret_mask import SecretMask

Progress = Callable[[int, int], None]

_LATIN = re.compile(r"[a-z]{2,30}")
_RACY_NS = 2_000_000_000  # coarsest time stamp of a file system in use
_INTEGER = 2**63 - 1
"""The largest of SQLite; some file systems number their files beyond it."""
_BATCH_SECONDS = 2.0
"""After so long what was read is kept, so that a build that is ended goes on from there."""


_SKETCHED = 2_000
"""Windows of which the meaning is sketched while a person waits: it takes less than a second."""


class TooMuch(Exception):
    """There is more to do than was allowed; nothing was written.

    Args:
        files: how many files are searched.
    """

    def __init__(self, files: int) -> None:
        super().__init__(files)
        self.files = files


class Busy(Exception):
    """Another process brings the index up to date.

    Args:
        done, total: files that it has read, and files in all; 0 where that isn't known.
    """

    def __init__(self, done: int, total: int) -> None:
        super().__init__(done, total)
        self.done, self.total = done, total


@dataclass(frozen=True, slots=True)
class Allowed:
    """How much may be done; None for any amount.

    Args:
        files: files that are searched, in all.
        stale: files that have to be read.
        size: bytes of those.
        sketches: windows of which the meaning is sketched.
        wait: this thread may sleep until another process is done.
    """

    files: int | None = None
    stale: int | None = None
    size: int | None = None
    sketches: int | None = _SKETCHED
    wait: bool = True

    def check(self, files: int, stale: Sequence[Found]) -> None:
        """Raise TooMuch when it is more than that."""
        if (
            (self.files is not None and files > self.files)
            or (self.stale is not None and len(stale) > self.stale)
            or (self.size is not None and sum(found.size for found in stale) > self.size)
        ):
            raise TooMuch(files)


ANY = Allowed()


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What bringing an index up to date did.

    Args:
        indexed: files read (new or changed).
        unchanged: files that were as known.
        removed: files that vanished or can't be read any more.
        skipped: what isn't searched, with reasons.
        notes: files read with a remark (another encoding, cut short), path and remark.
        searched: files that can be found now.
        complete: False when it was stopped before all files were read; the next one goes on.
    """

    indexed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    notes: tuple[Skipped, ...]
    searched: int
    complete: bool = True


def scope_key(root: Path, patterns: Sequence[str], secrets: SecretMask) -> str:
    """Return what a store is an index of, as text."""
    folder = str(root.resolve())
    return json.dumps([folder, secrets.fingerprint(folder), *sorted(patterns)])


def stored_scope(db: sqlite3.Connection) -> str:
    """Return what the store is an index of; empty when it is of nothing yet."""
    return _kept(db, "scope")


def paths_of(db: sqlite3.Connection) -> list[str]:
    """Return the paths of all files of the folder that aren't hidden, those that aren't searched, too."""
    others = json.loads(_kept(db, "others") or "[]")
    return sorted({*others, *(path for (path,) in db.execute("SELECT path FROM files"))})


def _kept(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return "" if row is None else str(row[0])


def _keep(db: sqlite3.Connection, name: str, value: str) -> None:
    if _kept(db, name) != value:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def searched(db: sqlite3.Connection) -> int:
    """Return how many files can be found."""
    return int(db.execute("SELECT count(*) FROM files WHERE reason = ''").fetchone()[0])


def refresh_within(
    db: sqlite3.Connection,
    root: Path,
    patterns: tuple[str, ...],
    scope: str,
    progress: Progress,
    stop: Callable[[], bool],
    secrets: SecretMask,
    allowed: Allowed = ANY,
) -> Refreshed:
    """Bring the store up to date; the caller holds the lock and the transaction, which is committed on the way.

    See `SearchIndex.refresh`.

    Raises:
        TooMuch: it is more than is allowed.
    """
    # Looked at after the lock is held, so that two processes don't undo one another's work.
    looked = walk(root, patterns)
    _keep(db, "scope", scope)
    known = {row[1]: row for row in db.execute("SELECT id, path, size, mtime_ns, inode, read_ns FROM files")}
    files = [found for found in looked.files if not secrets.within(found.path)]
    present = {found.path for found in files}
    gone = [row[0] for path, row in known.items() if path not in present]
    _drop(db, gone)
    stale = [found for found in files if _stale(found, known.get(found.path))]
    allowed.check(len(files), stale)
    _keep(db, "others", json.dumps([f.path for f in looked.skipped if f.listed and not secrets.within(f.path)]))
    skipped = [Skipped(secrets.mask(item.path), secrets.mask(item.reason), item.kind) for item in looked.skipped]
    skipped += [
        Skipped(secrets.mask(f.path), "its name holds a secret") for f in looked.files if secrets.within(f.path)
    ]
    indexed = vanished = 0
    complete = True
    until = time.monotonic() + _BATCH_SECONDS
    for count, found in enumerate(stale):
        if stop():
            complete = False
            break
        if time.monotonic() > until:
            db.execute("COMMIT")
            db.execute("BEGIN IMMEDIATE")
            until = time.monotonic() + _BATCH_SECONDS
        progress(count, len(stale))
        old = known.get(found.path)
        try:
            indexed += _take(db, found, None if old is None else old[0], secrets)
        except Unreadable as error:
            skipped.append(Skipped(found.path, str(error), error.kind))
            vanished += old is not None
    if complete:
        progress(len(stale), len(stale))
    bad = db.execute("SELECT path, reason, kind FROM files WHERE reason != '' ORDER BY path").fetchall()
    skipped += [Skipped(path, reason, LeftOut(kind)) for path, reason, kind in bad]
    notes = db.execute("SELECT path, note FROM files WHERE note != '' ORDER BY path").fetchall()
    findable = searched(db)
    return Refreshed(
        indexed=indexed,
        unchanged=findable - indexed,
        removed=len(gone) + vanished,
        skipped=tuple(sorted(skipped, key=lambda item: (item.path, item.reason))),
        notes=tuple(Skipped(path, note) for path, note in notes),
        searched=findable,
        complete=complete,
    )


def _take(db: sqlite3.Connection, found: Found, old: int | None, secrets: SecretMask) -> bool:
    """Read one file; True when it can be found anew, False when its content is as known or gives no text.

    Raises:
        Unreadable: it can't be read at the moment; what was known of it is dropped.
    """
    read_ns = time.time_ns()
    try:
        source = read_source(found.absolute)
    except Unreadable:
        if old is not None:
            _drop(db, [old])
        raise
    state = (source.size, source.mtime_ns, source.inode & _INTEGER, read_ns)
    if old is not None:
        row = db.execute("SELECT digest FROM files WHERE id = ?", (old,)).fetchone()
        if row[0] == source.digest:
            db.execute("UPDATE files SET size = ?, mtime_ns = ?, inode = ?, read_ns = ? WHERE id = ?", (*state, old))
            return False
        _drop(db, [old])
    reason, kind = "", ""
    try:
        extraction = secrets.extraction(extract_bytes(source.data, found.absolute.name, secrets.lines))
    except Unreadable as error:
        extraction, reason, kind = Extraction(()), str(error), error.kind
    cursor = db.execute(
        "INSERT INTO files (path, size, mtime_ns, inode, read_ns, digest, reason, kind, note)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (found.path, *state, source.digest, reason, kind, extraction.note),
    )
    _insert(db, cursor.lastrowid or 0, found.path, extraction)
    return not reason


def _insert(db: sqlite3.Connection, file: int, path: str, extraction: Extraction) -> None:
    first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM windows").fetchone()[0]
    name = index_tokens(path.rpartition(".")[0] or path)
    spelt: set[str] = set(_LATIN.findall(path.casefold()))
    for number, window in enumerate(windows(extraction.blocks), start=first):
        text = "\n".join(block.text for block in window.blocks)
        parts = [[block.line, block.end_line, _storable(block.text)] for block in window.blocks]
        db.execute(
            "INSERT INTO windows (id, file, page, heading, parts) VALUES (?, ?, ?, ?, ?)",
            (number, file, window.page, _storable(window.heading), json.dumps(parts, ensure_ascii=False)),
        )
        body, title = index_tokens(readable(text)), index_tokens(window.heading)
        db.execute("INSERT INTO words (rowid, body, title, name) VALUES (?, ?, ?, ?)", (number, body, title, name))
        spelt.update(_LATIN.findall(f"{window.heading} {text}".casefold()))
    db.executemany(
        "INSERT OR IGNORE INTO spellings (word, sound) VALUES (?, ?)",
        ((word, skeleton(english_sound(word))) for word in spelt),
    )


@dataclass(frozen=True, slots=True)
class Window:
    """Blocks that follow one another under one heading: what is found together.

    Args:
        page, heading: of its blocks.
        blocks: in order.
    """

    page: int
    heading: str
    blocks: tuple[Block, ...]


_WINDOW_CHARS = 700
_APART = 5


def windows(blocks: Sequence[Block]) -> Iterator[Window]:
    """Yield the blocks of a file as windows."""
    taken: list[Block] = []
    size = 0
    for block in blocks:
        if taken and (
            (block.page, block.heading) != (taken[0].page, taken[0].heading)
            or size + len(block.text) > _WINDOW_CHARS
            or block.line - taken[-1].end_line > _APART
        ):
            yield Window(taken[0].page, taken[0].heading, tuple(taken))
            taken, size = [], 0
        taken.append(block)
        size += len(block.text)
    if taken:
        yield Window(taken[0].page, taken[0].heading, tuple(taken))


def _drop(db: sqlite3.Connection, files: Iterable[int]) -> None:
    for file in files:
        db.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM windows WHERE file = ?)", (file,))
        db.execute("DELETE FROM windows WHERE file = ?", (file,))
        db.execute("DELETE FROM files WHERE id = ?", (file,))


def _stale(found: Found, known: Sequence[int] | None) -> bool:
    if known is None:
        return True
    _, _, size, mtime_ns, inode, read_ns = known
    # A file written again within one tick of the clock looks the same; its content is compared instead.
    racy = mtime_ns > read_ns - _RACY_NS
    return racy or (size, mtime_ns, inode) != (found.size, found.mtime_ns, found.inode & _INTEGER)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
