"""The stream of what teams say and do, for the interfaces of this process and, through a bounded file, of others."""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import FileIO
from os.path import samestat
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypedDict

from hitl_tui.core.messages import Message, message_of, parts_of
from hitl_tui.core.safe_text import clip, mask, safe_again, safe_text, text_lines

if TYPE_CHECKING:
    from hitl_tui.ledger.records import Effect

_LARGEST_FILE = 4 * 1024 * 1024
_LONGEST_LINE = 4_000
_KEPT_LINES = 5_000
_TOLD = 200
"""Lines of an earlier run that are told of at most."""
ENDED, UNRECORDED = "ended", "unrecorded"
"""Of what acts on the world: it was cut off, with the session, by this program; it ended, and that isn't on record."""
_NODE = "· "
"""Before the name of a node that a team's graph came to."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Activity:
    """One line of the stream; its text is safe to show.

    Args:
        n: counts up within a process; lines of earlier ones come first.
        at: ISO 8601, UTC.
        todo_id: the TODO it belongs to, empty for the session.
        kind: `line`, `progress`, `started`, `finished`, `failed`, `asked`, `note`; of what acted on the world and isn't
            on record `ended` or `unrecorded`.
        text: one line.
        fraction: progress from 0 to 1; -1 when unknown.
    """

    n: int
    at: str
    todo_id: str
    kind: str
    text: str
    fraction: float = -1.0


def started_words(team: str, attempt: int) -> str:
    """Return what is said where a team begins: its name, and which attempt this is where it isn't the first."""
    return Message("{} attempt {}", team, attempt) if attempt > 1 else team


class ActivityStream:
    """Keeps the last lines and hands each to subscribers.

    Args:
        path: the bounded file that followers read.
        now: the clock.
        secrets: values to mask, by name.
    """

    def __init__(self, path: Path, now: Callable[[], str], secrets: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._now = now
        self._secrets = dict(secrets or {})
        self._lines: deque[Activity] = deque(maxlen=_KEPT_LINES)
        self._subscribers: list[Callable[[Activity], None]] = []
        self._n = 0
        self._file: FileIO | None = None
        self._size = 0
        self._lock = Lock()

    @property
    def lines(self) -> list[Activity]:
        return list(self._lines)

    def recall(self) -> None:
        """Take up the last lines of earlier processes."""
        self._lines.extend(read_activity(self._path))
        self._n = self._lines[-1].n if self._lines else 0

    def subscribe(self, subscriber: Callable[[Activity], None]) -> Callable[[], None]:
        """Call `subscriber` with each new line; return what ends that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def write(self, todo_id: str, kind: str, text: str, fraction: float = -1.0, at: str = "") -> None:
        """Add one entry; a text of several lines becomes several. Never raises for what a team says.

        Args:
            at: when it happened, where that isn't now.
        """
        for line in text_lines(str(text)):
            line = mask(line, self._secrets)
            clean: str = (
                clip(safe_again(line, multiline=False), _LONGEST_LINE)  # its values may have been made safe already
                if isinstance(text, Message)
                else safe_text(line, multiline=False, limit=_LONGEST_LINE)
            )
            if clean == text:  # a message stays one
                clean = text
            with self._lock:  # teams write from threads of their own
                self._n += 1
                entry = Activity(self._n, at or self._now(), todo_id, kind, clean, fraction)
                self._lines.append(entry)
                self._append(entry)
            for subscriber in list(self._subscribers):
                subscriber(entry)

    def _append(self, entry: Activity) -> None:
        made_of = [parts_of(entry.text)] if isinstance(entry.text, Message) else []
        record = [entry.at, entry.todo_id, entry.kind, entry.text, entry.fraction, *made_of]
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        try:
            if self._file is not None and self._size > _LARGEST_FILE:
                self._close()
                self._path.replace(self._path.with_suffix(".log.1"))
            if self._file is None:
                self._file = self._path.open("ab", buffering=0)
                self._size = self._file.tell()
            self._size += self._file.write(line) or 0
        except OSError as error:  # the stream is for watching: losing it must not stop work
            log.warning("activity can't be written: %s", error)

    def close(self) -> None:
        """Close the file; what is written later opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class EarlierRun(TypedDict):
    """What is known of a run that began something of which nobody knows what came of it.

    Keys:
        began: ISO 8601.
        known: the stream here tells of it; what follows is empty where it doesn't.
        place: where the stream lies that does; empty where none is known.
        lines: what it put out, the last of it; `count` of all of them.
        how: the kind of the entry that says how it ended, empty where none does; `ended` is its text.
        ended_at: when, ISO 8601.
    """

    began: str
    known: bool
    place: str
    lines: list[str]
    count: int
    how: str
    ended: str
    ended_at: str


def earlier_run(lines: Sequence[Activity], effect: Effect, here: str) -> EarlierRun:
    """Return what is known of the run that started an effect.

    Args:
        lines: the stream.
        effect: as the record has it.
        here: where the stream lies, see `SessionFolder.stream_place`.
    """
    found: EarlierRun = {
        "began": effect.began,
        "known": False,
        "place": effect.place,
        "lines": [],
        "count": 0,
        "how": "",
        "ended": "",
        "ended_at": "",
    }
    own = [entry for entry in lines if entry.todo_id == effect.todo_id] if effect.place == here else []
    starts = [n for n, entry in enumerate(own) if entry.kind == "started"]
    before = [n for n in starts if own[n].at <= effect.began]
    if not before:
        return found
    run = own[before[-1] : next((n for n in starts if n > before[-1]), None)]
    said = [e.text for e in run if e.kind in ("line", "progress") and not e.text.startswith(_NODE)]
    ended = next((e for e in run if e.kind in ("finished", "failed", ENDED, UNRECORDED)), None)
    found |= {"known": True, "lines": said[-_TOLD:], "count": len(said)}
    if ended is not None:
        found |= {"how": ended.kind, "ended": ended.text, "ended_at": ended.at}
    return found


class ActivityTail:
    """What another process writes into the stream's file; each read goes on where the last one ended.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        self._begun = b""
        self._lines: deque[Activity] = deque(maxlen=_KEPT_LINES)
        self._n = 0
        self._taken = 0
        self._lock = Lock()

    @property
    def lines(self) -> list[Activity]:
        """The last lines that the owner wrote; unreadable ones are left out."""
        with self._lock:
            self._read()
            self._taken = self._n
            return list(self._lines)

    def take(self) -> list[Activity]:
        """Return those of them that came since the last time somebody looked."""
        with self._lock:
            self._read()
            taken, self._taken = self._taken, self._n
            return [entry for entry in self._lines if entry.n > taken]

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._begun = None, b""

    def _read(self) -> None:
        try:
            self._read_on()
            if self._file is not None and not samestat(os.fstat(self._file.fileno()), self._path.stat()):
                self._read_on()  # what was written before the file was put aside
                self._close()
                self._read_on()
        except OSError as error:  # it isn't there yet, or another one isn't yet in its place
            log.debug("the stream can't be read: %s", error)

    def _read_on(self) -> None:
        if self._file is None:
            self._file = FileIO(self._path)
        *whole, self._begun = (self._begun + self._file.readall()).split(b"\n")
        for line in whole[-_KEPT_LINES:]:
            self._n += 1
            try:
                at, todo_id, kind, text, fraction, *made_of = json.loads(line)
                message = message_of(made_of[0]) if made_of else None
                said = message if message == text else None
                self._lines.append(
                    Activity(self._n, str(at), str(todo_id), str(kind), said or str(text), float(fraction))
                )
            except (ValueError, TypeError):
                continue


def read_activity(path: Path) -> list[Activity]:
    """Return the last lines that an owner wrote; unreadable ones are left out."""
    with closing(ActivityTail(path)) as tail:
        return tail.lines
