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
from typing import TypedDict

from hitl_tui.core.messages import Message, message_of, parts_of
from hitl_tui.core.safe_text import clip, mask, safe_again, safe_text, text_lines

_LARGEST_FILE = 4 * 1024 * 1024
_LONGEST_LINE = 4_000
_KEPT_LINES = 5_000
_TOLD = 200
"""Lines of an earlier run that are told of at most."""
ENDED = "ended"
"""What is said where a run is cut off while it acts on the world: with the session, by this program."""
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
        kind: `line`, `progress`, `started`, `finished`, `failed`, `asked`, `note`; `ended` of a run that was cut off.
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

    def write(self, todo_id: str, kind: str, text: str, fraction: float = -1.0) -> None:
        """Add one entry; a text of several lines becomes several. Never raises for what a team says."""
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
                entry = Activity(self._n, self._now(), todo_id, kind, clean, fraction)
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
    """What the stream knows of a run before the one that goes on now.

    Keys:
        began: ISO 8601.
        lines: what it put out, the last of it; `count` of all of them.
        ended: how, empty where that isn't known.
        ended_at: when, ISO 8601; empty where that isn't known.
        cut_off: this program ended it.
    """

    began: str
    lines: list[str]
    count: int
    ended: str
    ended_at: str
    cut_off: bool


def earlier_run(lines: Sequence[Activity], todo_id: str) -> EarlierRun | None:
    """Return what the stream knows of a TODO's run before the one that goes on now; None when it knows nothing.

    Args:
        lines: the stream.
        todo_id: the TODO.
    """
    own = [entry for entry in lines if entry.todo_id == todo_id]
    starts = [n for n, entry in enumerate(own) if entry.kind == "started"]
    if not starts:
        return None
    begun, end = (starts[-2], starts[-1]) if len(starts) > 1 else (starts[-1], len(own))
    said = [e.text for e in own[begun:end] if e.kind in ("line", "progress") and not e.text.startswith(_NODE)]
    ended = next((e for e in own[begun:end] if e.kind in ("finished", "failed", ENDED)), None)
    return {
        "began": own[begun].at,
        "lines": said[-_TOLD:],
        "count": len(said),
        "ended": ended.text if ended is not None else "",
        "ended_at": ended.at if ended is not None else "",
        "cut_off": ended is not None and ended.kind == ENDED,
    }


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
