"""`SessionTexts`: what was asked, planned and answered in each session, as plain text that words are looked for in.

Reading ten thousand sessions takes a while, looking through their texts doesn't; so the texts are kept in one file of
the cache, and only those of sessions that went on since are read anew.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_text import texts_in
from hitl_tui.core.safe_markdown import plain_words
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.text_comparison import comparable, lowered, normal
from hitl_tui.ledger.sql_transaction import Row
from hitl_tui.threads import value_decoder

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_summary import SessionSummary
    from hitl_tui.supervisor.storage import DataFolder

log = logging.getLogger(__name__)

CHANNELS = ("todos", "response")
"""The channels that a session's text is in."""

_TABLE = "CREATE TABLE IF NOT EXISTS texts (session TEXT PRIMARY KEY, stamp TEXT, text TEXT, low TEXT)"
_AT_ONCE = 50
"""Sessions that are read between two looks at what was found."""
_LONGEST = 50_000
"""Characters of a session that are looked through."""
_AROUND = 80
"""Characters before and after what was found that are read to show it."""


class SessionTexts:
    """The texts of all sessions of a data folder.

    Args:
        data: where the sessions are.
    """

    def __init__(self, data: DataFolder) -> None:
        self._data = data
        self._lock = asyncio.Lock()
        name = sha256(str(data.place).encode()).hexdigest()[:12]
        self._file = data.cache / f"session-texts-{name}.db"
        self._kept: sqlite3.Connection | None = None

    async def refresh(self, sessions: Sequence[SessionSummary]) -> AsyncIterator[int]:
        """Read the texts of sessions that went on since, newest first; after some of them yield how many are left.

        Args:
            sessions: all there are, newest last.
        """
        async with self._lock:
            stamps = {s.id: f"{s.created} {s.updated}" for s in reversed(sessions) if s.status != "unreadable"}
            fresh = await asyncio.to_thread(self._fresh, stamps)
            for at in range(0, len(fresh), _AT_ONCE):
                names = fresh[at : at + _AT_ONCE]
                written = await asyncio.to_thread(self._data.written_texts, names, CHANNELS)
                texts = {name: await self._text(name, written.get(name, ())) for name in names}
                await asyncio.to_thread(self._keep, [(name, stamps[name], texts[name]) for name in names])
                yield len(fresh) - at - len(names)

    async def having(self, words: str) -> dict[str, dict[str, str]]:
        """Return by each of some words the sessions whose text has it, with the line around it.

        Args:
            words: divided by spaces, in any case.
        """
        return await asyncio.to_thread(lambda: {word: self._having(word) for word in comparable(words).split()})

    def _having(self, word: str) -> dict[str, str]:
        with self._open() as db:
            rows = db.execute(
                "SELECT session, substr(text, max(1, place - ?1), ?1 + ?2), min(place - 1, ?1) FROM"
                " (SELECT session, text, instr(low, ?3) AS place FROM texts) WHERE place > 0",
                (_AROUND, _AROUND + len(word), word),
            )
            return {session: _line(text, before, len(word)) for session, text, before in rows}

    async def _text(self, name: str, written: Sequence[Row]) -> str:
        """Return a session's text: a line for each question and title of a step, and the answer's lines."""
        lines: dict[str, None] = {}
        answer = ""
        for channel, kind, blob in written:
            try:
                value = value_decoder.load(kind, blob)
            except value_decoder.Unreadable as error:
                log.info("%s: %r", name, error)
                continue
            if channel == "response":
                answer = str(value.get("digest", "")) if isinstance(value, Mapping) else ""
                continue
            whole = value.value if isinstance(value, value_decoder.Snapshot) else value
            for todo in whole.values() if isinstance(whole, Mapping) else ():
                if isinstance(todo, Mapping):
                    lines.update(dict.fromkeys([str(todo.get("name", "")), *texts_in(todo.get("arguments"))]))
        said = ""
        if answer:
            with suppress(HitlError, TypeError):
                response = await self._data.session(name).artifacts().get(answer)
                said = plain_words(str(response.get("text", "")))
        return normal(safe_text("\n".join(filter(None, [*lines, said])), limit=_LONGEST))

    # The file ------------------------------------------------------------------------------------------------------

    def _open(self) -> closing[sqlite3.Connection] | _Kept:
        """Open the file; where it can't be written the texts last as long as this process."""
        if self._kept is None and not self._data.read_only:
            try:
                make_private(self._file.parent)
                db = sqlite3.connect(self._file, timeout=10, isolation_level=None)
                db.execute(_TABLE)
            except (sqlite3.Error, OSError) as error:
                log.info("texts of sessions aren't kept: %r", error)
            else:
                return closing(db)
        if self._kept is None:
            self._kept = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._kept.execute(_TABLE)
        return _Kept(self._kept)

    def _fresh(self, stamps: Mapping[str, str]) -> list[str]:
        """Return the sessions whose text isn't known as it is now, and forget those that are gone."""
        with self._open() as db:
            known = dict(db.execute("SELECT session, stamp FROM texts"))
            gone = [(name,) for name in known if name not in stamps]
            if gone:
                db.executemany("DELETE FROM texts WHERE session = ?", gone)
        return [name for name, stamp in stamps.items() if known.get(name) != stamp]

    def _keep(self, texts: Sequence[tuple[str, str, str]]) -> None:
        with self._open() as db:
            db.execute("BEGIN")
            db.executemany(
                "INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)",
                [(name, stamp, text, lowered(text)) for name, stamp, text in texts],
            )
            db.execute("COMMIT")


class _Kept:
    """A connection that stays open after its use."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        pass


def _line(text: str, before: int, length: int) -> str:
    """Return the line of what was found, from a text of which so many characters stand before it."""
    start = text.rfind("\n", 0, before) + 1
    end = text.find("\n", before + length)
    return text[start : end if end >= 0 else len(text)].strip()
