"""The full text index of a folder: kept up to date file by file, asked in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType

from hitl_tui.teams.search.ask import SearchHits, ask, opening
from hitl_tui.teams.search.hidden import Hidden
from hitl_tui.teams.search.lexicon import Lexicon, load_lexicon
from hitl_tui.teams.search.named import named_in
from hitl_tui.teams.search.query import MAX_QUESTION, Term, parse_question
from hitl_tui.teams.search.refresh import Progress, Refreshed, refresh_within, scope_key, stored_scope
from hitl_tui.teams.search.store import WAIT_SECONDS, is_damage, open_store, rebuild_store, storage_error
from hitl_tui.teams.search.tags import without_tags
from hitl_tui.teams.search.walk import clean_patterns


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
        secrets: declared secrets, by name: the names stand for the values in what is kept and found.

    Raises:
        StorageError: the file can't be opened or made.
    """

    def __init__(
        self,
        path: Path,
        *,
        wait: float = WAIT_SECONDS,
        lexicon: Lexicon | None = None,
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._hidden = Hidden(secrets)
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
        return stored_scope(self._db) == scope_key(root, clean_patterns(documents), self._hidden)

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

    def _refresh(
        self, root: Path, patterns: tuple[str, ...], progress: Progress, stop: Callable[[], bool]
    ) -> Refreshed:
        if stored_scope(self._db) not in ("", scope_key(root, patterns, self._hidden)):
            self._rebuild()  # what is deleted in a full text index stays in its file
        self._db.execute("BEGIN IMMEDIATE")
        try:
            done = refresh_within(self._db, root, patterns, progress, stop, self._hidden)
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return done

    def _says(self, term: Term) -> bool:
        return term.surface.casefold() not in self._lexicon.stop

    def _query(self, text: str, limit: int) -> SearchHits:
        text = text[:MAX_QUESTION]
        self._db.execute("BEGIN")
        try:
            named = named_in(self._db, without_tags(text))
            terms = parse_question(named.rest, self._lexicon)
            if not named.files and not any(self._says(term) for term in terms):
                # A question about markup itself has no other words.
                named = named_in(self._db, text)
                terms = parse_question(named.rest, self._lexicon)
            if named.files and not any(self._says(term) for term in terms):
                return opening(self._db, named.files[0])
            return ask(self._db, named.rest, terms, max(1, limit), self._lexicon.stop_tokens, named.files)
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
