"""Keeping what a subprocess writes within bounds, without secrets, as text."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hitl_tui.core.safe_text import mask

LINE_LIMIT = 2_000
LINES_PER_SECOND = 200


@dataclass(frozen=True, slots=True)
class Notes:
    """What stands in place of output that isn't there, in a person's language.

    Args:
        left_out: for bytes in the middle that weren't kept.
        not_shown: for lines that came too fast to be handed on.
    """

    left_out: str = "… {count:,} bytes left out …"
    not_shown: str = "… {count:,} more lines not shown here"


NOTES: Mapping[str, Notes] = MappingProxyType(
    {"en": Notes(), "ko": Notes("… {count:,}바이트 생략됨 …", "… 여기에 표시하지 않은 줄 {count:,}개")}
)


def without_note(text: str) -> str:
    """Return the text that `Bounded` kept without the line that says what was left out."""
    return _NOTE.sub("", text)


_NOTE = re.compile(
    "|".join(rf"^{re.escape(note.left_out.format(count=0)).replace('0', '[0-9,]+')}\n" for note in NOTES.values()), re.M
)


@dataclass(slots=True)
class Masker:
    """Replaces values of declared secrets in a stream of bytes, also where a value is split over two reads.

    A value that a command prints inside JSON text is found in that form too.

    Args:
        secrets: values by name; what `core.safe_text.mask` leaves alone (too short) stays.
    """

    secrets: Mapping[str, str]
    _pattern: re.Pattern[bytes] | None = field(init=False, default=None)
    _names: dict[bytes, bytes] = field(init=False, default_factory=dict)
    _held: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        for name, secret in self.secrets.items():
            value = secret.strip()
            shown = mask(value, {name: value})
            if shown != value:
                for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
                    raw = form.encode("utf-8", "surrogateescape")
                    self._names.setdefault(raw, shown.encode("utf-8", "surrogateescape"))
        if self._names:
            longest_first = sorted(self._names, key=len, reverse=True)
            self._pattern = re.compile(b"|".join(re.escape(raw) for raw in longest_first))

    def feed(self, data: bytes, *, final: bool = False) -> bytes:
        """Return what can be shown by now; what may be the beginning of a secret is held back."""
        if self._pattern is None:
            return data
        data = self._held + data
        shown, rest = bytearray(), 0
        keep = len(data) if final else self._first_open(data)
        for found in self._pattern.finditer(data):
            if found.start() >= keep:
                break
            shown += data[rest : found.start()] + self._names[found.group()]
            rest = found.end()
        keep = max(keep, rest)
        shown += data[rest:keep]
        self._held = data[keep:]
        return bytes(shown)

    def _first_open(self, data: bytes) -> int:
        """Return where the longest end of `data` begins that more data could turn into a secret."""
        longest = max(map(len, self._names)) - 1
        for start in range(max(0, len(data) - longest), len(data)):
            end = data[start:]
            if any(len(raw) > len(end) and raw.startswith(end) for raw in self._names):
                return start
        return len(data)


@dataclass(slots=True)
class Bounded:
    """The head and the tail of a stream of bytes, and how much was left out between them.

    Args:
        limit: bytes kept, half of them from each end.
        notes: what says how much was left out.
    """

    limit: int
    notes: Notes = NOTES["en"]
    total: int = 0
    lines: int = 0
    _head: bytearray = field(init=False, default_factory=bytearray)
    _tail: bytearray = field(init=False, default_factory=bytearray)
    _last: int = field(init=False, default=0x0A)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if not data:
            return
        self.total += len(data)
        self.lines += data.count(b"\n")
        self._last = data[-1]
        room = self.limit - self.limit // 2 - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self.limit:
            self._trim()

    def _trim(self) -> None:
        del self._tail[: max(0, len(self._tail) - self.limit // 2)]

    @property
    def truncated(self) -> bool:
        """Something was left out."""
        return self.total > self.limit

    @property
    def line_count(self) -> int:
        """All lines that were written, kept or not; an unfinished last one counts."""
        return self.lines + (self._last != 0x0A)

    def text(self) -> str:
        """Return the kept bytes as text, what isn't UTF-8 as U+FFFD; a line says what was left out.

        No line is kept in part, which would be another line, except where it is very long.
        """
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        self._trim()
        head, tail = _whole_end(bytes(self._head)), _whole_start(bytes(self._tail))
        dropped = self.total - len(head) - len(tail)
        return "\n".join(
            (
                head.decode("utf-8", "replace"),
                self.notes.left_out.format(count=dropped),
                tail.decode("utf-8", "replace"),
            )
        )


def _whole_end(data: bytes) -> bytes:
    """Return `data` without an unfinished line at its end; of a very long one without an unfinished character."""
    end = data.rfind(b"\n", -LINE_LIMIT)
    if end >= 0:
        return data[:end]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    unfinished = decoder.getstate()[0]
    return data[: len(data) - len(unfinished)]


def _whole_start(data: bytes) -> bytes:
    """Return `data` without the end of a line that began before it; of a very long one of a character."""
    end = data.find(b"\n", 0, LINE_LIMIT)
    if end >= 0:
        return data[end + 1 :]
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


@dataclass(slots=True)
class Lines:
    """Hands on finished lines as they come, at most so many a second and each of bounded length.

    Of a line that is written over and over, as progress bars are, it hands on how it stands at most once a second.

    Args:
        say: gets each line without its line end.
        clock: seconds, monotonic.
        per_second: lines handed on in one second; the rest is counted and told.
        limit: bytes of one line that are handed on.
        notes: what says how many weren't.
    """

    say: Callable[[str], None]
    clock: Callable[[], float]
    per_second: int = LINES_PER_SECOND
    limit: int = LINE_LIMIT
    notes: Notes = NOTES["en"]
    _line: bytearray = field(init=False, default_factory=bytearray)
    _cut: bool = field(init=False, default=False)
    _window: float = field(init=False, default=float("-inf"))
    _returned: bool = field(init=False, default=False)  # what comes next is written over the line
    _shown: float = field(init=False, default=float("-inf"))  # when one that was written over was handed on
    _said: int = field(init=False, default=0)
    _unsaid: int = field(init=False, default=0)

    def feed(self, data: bytes) -> None:
        """Take the next bytes; hand on the lines they finish."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if not self._may_speak():
                self._line.clear()
                last = data.rfind(b"\n")
                self._unsaid += data.count(b"\n", start)
                start, self._cut = last + 1, False
                break
            self._add(data[start:end])
            self._finish()
            start = end + 1
        self._add(data[start:])

    def close(self) -> None:
        """Hand on an unfinished last line and how many lines were not shown."""
        if self._line:
            if self._may_speak():
                self._finish()
            else:
                self._unsaid += 1
        self._tell()

    def _may_speak(self) -> bool:
        now = self.clock()
        if now - self._window >= 1.0:
            self._tell()
            self._window, self._said = now, 0
        return self._said < self.per_second

    def _tell(self) -> None:
        if self._unsaid:
            self.say(self.notes.not_shown.format(count=self._unsaid))
            self._unsaid = 0

    def _add(self, part: bytes) -> None:
        if part and self._returned:
            self._begin_anew()
        over = part.rstrip(b"\r").rfind(b"\r")
        if over >= 0:
            earlier = part[:over].rstrip(b"\r")
            begun = earlier.rfind(b"\r") + 1
            if begun:
                self._line.clear()
            self._take(earlier[begun:])
            self._begin_anew()
        self._take(part[over + 1 :])
        self._returned = part.endswith(b"\r") or (self._returned and not part)

    def _begin_anew(self) -> None:
        """Go back to the beginning of the line; hand on what stood in it, at most once a second."""
        now = self.clock()
        if self._line.strip() and now - self._shown >= 1.0 and self._may_speak():
            self._shown = now
            self._finish()
        self._line.clear()
        self._cut = False

    def _take(self, part: bytes) -> None:
        room = self.limit - len(self._line)
        if len(part) > room:
            part, self._cut = part[: max(0, room)], True
        self._line += part

    def _finish(self) -> None:
        raw = bytes(self._line)
        text = _whole_end(raw).decode("utf-8", "replace") + " …" if self._cut else raw.decode("utf-8", "replace")
        self.say(text.removesuffix("\r"))
        self._line.clear()
        self._cut = self._returned = False
        self._said += 1
