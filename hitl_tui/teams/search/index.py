"""The full text index of a folder: kept up to date file by file, asked in words."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from hitl_tui.core.errors import StorageError
from hitl_tui.teams.search.blocks import Extraction, Unreadable
from hitl_tui.teams.search.lexicon import Lexicon, load_lexicon
from hitl_tui.teams.search.query import Term, parse_question
from hitl_tui.teams.search.rank import (
    Candidate,
    Passage,
    Scored,
    Weighed,
    answers,
    choose,
    focus,
    is_link_only,
    score,
    weigh,
    with_neighbours,
)
from hitl_tui.teams.search.store import WAIT_SECONDS, is_damage, open_store, rebuild_store, storage_error
from hitl_tui.teams.search.text import extract_bytes, read_source
from hitl_tui.teams.search.tokens import index_tokens
from hitl_tui.teams.search.walk import Found, Skipped, clean_patterns, walk

Progress = Callable[[int, int], None]

_HANGUL = re.compile("[가-힣]")
_LETTER = re.compile(r"[^\W\d_]")
_RACY_NS = 2_000_000_000  # coarsest time stamp of a file system in use
_CANDIDATES = 400
_LOOKED_AT = 80
_COUNTED = 5_000
_MATCHED = 40_000


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


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The answer to a question.

    Args:
        passages: best first; empty when nothing in the documents speaks of it.
        terms: the words looked for.
        missing: those of them that stand nowhere in the documents.
        searched: how many files were searched.
    """

    passages: tuple[Passage, ...]
    terms: tuple[str, ...]
    missing: tuple[str, ...]
    searched: int


def _nothing(done: int, total: int) -> None:
    """Progress nobody wants."""


def _never() -> bool:
    return False


class SearchIndex:
    """A full text index in one SQLite file that can be deleted at any time.

    Use it as a context manager, in one thread. Several processes may use the same file.

    Args:
        path: the cache file.
        wait: seconds to wait for another process that is indexing.
        lexicon: the word lists; the packaged ones when left out.

    Raises:
        StorageError: the file can't be opened or made.
    """

    def __init__(self, path: Path, *, wait: float = WAIT_SECONDS, lexicon: Lexicon | None = None) -> None:
        self._path = path
        self._wait = wait
        self._lexicon = lexicon or load_lexicon()
        self._db = open_store(path, wait)
        self._scope: tuple[Path, tuple[str, ...]] | None = None

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def covers(self, root: Path, documents: Sequence[str]) -> bool:
        """True when the file holds an index of exactly these documents of this folder."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'scope'").fetchone()
        return row is not None and row[0] == _scope_key(root, clean_patterns(documents))

    def refresh(
        self,
        root: Path,
        documents: Sequence[str] = (".",),
        progress: Progress = _nothing,
        stop: Callable[[], bool] = _never,
    ) -> Refreshed:
        """Bring the index up to date with a folder, in one transaction.

        Args:
            root: the folder.
            documents: files, folders or patterns relative to it.
            progress: called with files done and files in all.
            stop: asked before each file; True keeps what was done and leaves the rest to the next time.

        Raises:
            BadInput: the folder can't be searched, or a pattern can't be used.
            StorageError: the cache file can't be written.
        """
        patterns = clean_patterns(documents)
        self._scope = (root, patterns)
        try:
            return self._refresh(root, patterns, progress, stop)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise storage_error(self._path, error) from error
        self._rebuild()
        try:
            return self._refresh(root, patterns, progress, stop)
        except sqlite3.Error as error:
            raise storage_error(self._path, error) from error

    def query(self, text: str, limit: int = 8) -> SearchHits:
        """Return the passages that answer a question, best first.

        Args:
            text: the question, in words.
            limit: how many passages at most.

        Raises:
            StorageError: the cache file can't be read.
        """
        try:
            return self._query(text, limit)
        except sqlite3.Error as error:
            if not is_damage(error) or self._scope is None:
                raise storage_error(self._path, error) from error
        root, documents = self._scope
        self._rebuild()
        self.refresh(root, documents)
        try:
            return self._query(text, limit)
        except sqlite3.Error as error:
            raise storage_error(self._path, error) from error

    def _rebuild(self) -> None:
        self._db.close()
        self._db = rebuild_store(self._path, self._wait)

    # refresh

    def _refresh(
        self, root: Path, patterns: tuple[str, ...], progress: Progress, stop: Callable[[], bool]
    ) -> Refreshed:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            done = self._refresh_within(root, patterns, progress, stop)
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return done

    def _refresh_within(
        self, root: Path, patterns: tuple[str, ...], progress: Progress, stop: Callable[[], bool]
    ) -> Refreshed:
        # Looked at after the lock is held, so that two processes don't undo one another's work.
        looked = walk(root, patterns)
        scope = _scope_key(root, patterns)
        row = self._db.execute("SELECT value FROM meta WHERE name = 'scope'").fetchone()
        if row is None or row[0] != scope:
            self._clear()
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('scope', ?)", (scope,))
        known = {
            row[1]: row
            for row in self._db.execute("SELECT id, path, size, mtime_ns, inode, read_ns FROM files")
        }
        present = {found.path for found in looked.files}
        gone = [row[0] for path, row in known.items() if path not in present]
        self._drop(gone)
        stale = [found for found in looked.files if _stale(found, known.get(found.path))]
        skipped = list(looked.skipped)
        indexed = vanished = same = 0
        complete = True
        for count, found in enumerate(stale):
            if stop():
                complete = False
                break
            progress(count, len(stale))
            old = known.get(found.path)
            outcome = self._take(found, None if old is None else old[0])
            if isinstance(outcome, Skipped):
                skipped.append(outcome)
                vanished += old is not None
            elif outcome:
                indexed += 1
            else:
                same += 1
        progress(len(stale), len(stale))
        bad = self._db.execute("SELECT path, reason FROM files WHERE reason != '' ORDER BY path").fetchall()
        skipped += [Skipped(path, reason) for path, reason in bad]
        notes = self._db.execute("SELECT path, note FROM files WHERE note != '' ORDER BY path").fetchall()
        return Refreshed(
            indexed=indexed,
            unchanged=len(looked.files) - len(stale) + same,
            removed=len(gone) + vanished,
            skipped=tuple(sorted(skipped, key=lambda item: (item.path, item.reason))),
            notes=tuple(Skipped(path, note) for path, note in notes),
            searched=self._searched(),
            complete=complete,
        )

    def _take(self, found: Found, old: int | None) -> bool | Skipped:
        """Read one file; True when it was indexed anew, False when its content is as known."""
        read_ns = time.time_ns()
        try:
            source = read_source(found.absolute)
        except Unreadable as error:
            if old is not None:
                self._drop([old])
            return Skipped(found.path, str(error))
        digest = source.digest
        if old is not None:
            row = self._db.execute("SELECT digest FROM files WHERE id = ?", (old,)).fetchone()
            if row[0] == digest:
                self._db.execute(
                    "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, read_ns = ? WHERE id = ?",
                    (source.size, source.mtime_ns, source.inode, read_ns, old),
                )
                return False
            self._drop([old])
        reason = ""
        try:
            extraction = extract_bytes(source.data, found.absolute.suffix)
        except Unreadable as error:
            extraction, reason = Extraction(()), str(error)
        hangul = _is_korean(extraction)
        cursor = self._db.execute(
            "INSERT INTO files (path, size, mtime_ns, inode, read_ns, digest, blocks, hangul, reason, note)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (found.path, source.size, source.mtime_ns, _signed(source.inode), read_ns, digest)
            + (len(extraction.blocks), int(hangul), reason, extraction.note),
        )
        self._insert(cursor.lastrowid or 0, found.path, extraction)
        return not reason or Skipped(found.path, reason)

    def _insert(self, file: int, path: str, extraction: Extraction) -> None:
        first = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM blocks").fetchone()[0]
        name = index_tokens(path.rpartition(".")[0])
        titles = {
            heading: index_tokens(heading) for heading in {block.heading for block in extraction.blocks}
        }
        numbered = list(enumerate(extraction.blocks, start=first))
        self._db.executemany(
            "INSERT INTO blocks (id, file, line, end_line, page, heading, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (row, file, b.line, b.end_line, b.page, _storable(b.heading), _storable(b.text))
                for row, b in numbered
            ),
        )
        self._db.executemany(
            "INSERT INTO words (rowid, body, title, name) VALUES (?, ?, ?, ?)",
            ((row, index_tokens(b.text), titles[b.heading], name) for row, b in numbered),
        )

    def _drop(self, files: Iterable[int]) -> None:
        for file in files:
            self._db.execute(
                "DELETE FROM words WHERE rowid IN (SELECT id FROM blocks WHERE file = ?)", (file,)
            )
            self._db.execute("DELETE FROM blocks WHERE file = ?", (file,))
            self._db.execute("DELETE FROM files WHERE id = ?", (file,))

    def _clear(self) -> None:
        for table in ("words", "blocks", "files", "meta"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608

    def _searched(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM files WHERE reason = ''").fetchone()[0])

    # query

    def _query(self, text: str, limit: int) -> SearchHits:
        terms = parse_question(text, self._lexicon)
        self._db.execute("BEGIN")
        try:
            return self._ask(terms, max(1, limit))
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _ask(self, terms: tuple[Term, ...], limit: int) -> SearchHits:
        blocks = self._db.execute("SELECT coalesce(max(id), 0) FROM blocks").fetchone()[0]
        korean = self._db.execute(
            "SELECT coalesce(1.0 * sum(hangul * blocks) / max(1, sum(blocks)), 0) FROM files"
        ).fetchone()[0]
        counts = self._counts(terms)
        weighed = weigh(terms, counts, blocks, korean)
        missing = tuple(item.term.surface for item in weighed if not item.known)
        hits = SearchHits((), tuple(term.surface for term in terms), missing, self._searched())
        scored = score(self._candidates(terms, counts), weighed)[:_LOOKED_AT]
        if not answers(scored, weighed):
            return hits
        scored = with_neighbours(scored, weighed, self._around(scored))
        return SearchHits(self._passages(scored, weighed, limit), hits.terms, hits.missing, hits.searched)

    def _counts(self, terms: Sequence[Term]) -> dict[str, int]:
        phrases = {phrase for term in terms for form in term.forms for phrase in form.phrases}
        return {
            phrase: int(
                self._db.execute(
                    "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
                    (_quoted(phrase), _COUNTED),
                ).fetchone()[0]
            )
            for phrase in phrases
        }

    def _candidates(self, terms: Sequence[Term], counts: dict[str, int]) -> list[Candidate]:
        wanted = sorted((count, phrase) for phrase, count in counts.items() if count)
        chosen: list[str] = []
        reach = 0
        for count, phrase in wanted:
            # Words that stand nearly everywhere cost most and tell least; the rare ones come first.
            if chosen and (reach + count > _MATCHED or count >= _COUNTED):
                break
            chosen.append(phrase)
            reach += count
        if not chosen:
            return []
        rows = self._db.execute(
            "SELECT rowid, body, title, name, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(_quoted(phrase) for phrase in chosen), _CANDIDATES),
        )
        return [Candidate(*row) for row in rows]

    def _around(self, scored: Sequence[Scored]) -> dict[int, str]:
        around: dict[int, str] = {}
        for item in scored:
            rows = self._db.execute(
                "SELECT words.body FROM blocks JOIN words ON words.rowid = blocks.id WHERE blocks.id IN (?, ?)"
                " AND blocks.file = (SELECT file FROM blocks WHERE id = ?)",
                (item.candidate.id - 1, item.candidate.id + 1, item.candidate.id),
            )
            around[item.candidate.id] = " ".join(row[0] for row in rows)
        return around

    def _passages(
        self, scored: Sequence[Scored], weighed: Sequence[Weighed], limit: int
    ) -> tuple[Passage, ...]:
        marks = ", ".join("?" * len(scored))
        rows = self._db.execute(
            "SELECT blocks.id, files.id, path, line, end_line, page, heading, text FROM blocks"  # noqa: S608
            f" JOIN files ON files.id = blocks.file WHERE blocks.id IN ({marks})",
            [item.candidate.id for item in scored],
        )
        details = {row[0]: row[1:] for row in rows}
        ordered = sorted(
            (
                Scored(
                    item.candidate,
                    item.coverage,
                    item.score * (0.7 if is_link_only(details[item.candidate.id][6]) else 1),
                )
                for item in scored
            ),
            key=lambda item: -item.score,
        )
        passages = []
        for item in choose(ordered, {row: detail[0] for row, detail in details.items()}, limit):
            _, path, line, end_line, page, heading, text = details[item.candidate.id]
            first, last, words = focus(text, line, end_line, weighed)
            passages.append(Passage(path, first, last, page, heading, words, round(item.score, 4)))
        return tuple(passages)


def _scope_key(root: Path, patterns: Sequence[str]) -> str:
    return json.dumps([str(root.resolve()), *sorted(patterns)])


def _stale(found: Found, known: Sequence[int] | None) -> bool:
    if known is None:
        return True
    _, _, size, mtime_ns, inode, read_ns = known
    # A file written again within one tick of the clock looks the same; its content is compared instead.
    racy = mtime_ns > read_ns - _RACY_NS
    return racy or (size, mtime_ns, inode) != (found.size, found.mtime_ns, _signed(found.inode))


def _signed(inode: int) -> int:
    """Fit an unsigned 64-bit inode number into SQLite's integers."""
    return inode - (1 << 64) if inode >= 1 << 63 else inode


def _is_korean(extraction: Extraction) -> bool:
    sample = "".join(block.text for block in extraction.blocks[:200])
    return len(_HANGUL.findall(sample)) * 5 > len(_LETTER.findall(sample))


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


__all__ = ["Passage", "Progress", "Refreshed", "SearchHits", "SearchIndex", "Skipped", "StorageError"]
