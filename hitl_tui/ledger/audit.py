"""Checking a ledger: hash chains, views, anchors kept elsewhere, and export. Works on every store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.ledger.entry_filter import EntryFilter
from hitl_tui.ledger.protocols import Streams, read_stream
from hitl_tui.ledger.records import GENESIS, Entry, Head, Problem, entry_hash
from hitl_tui.ledger.stream_ledger import StreamLedger

PAGE = 500
"""Entries held in memory at a time."""

MOST_PROBLEMS = 200
"""Problems that are listed; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found.

    Args:
        streams: how many were walked.
        entries: how many were checked.
        problems: the first `MOST_PROBLEMS`; empty when all is well.
        unlisted: how many problems more there are.
    """

    streams: int
    entries: int
    problems: tuple[Problem, ...]
    unlisted: int = 0

    @property
    def ok(self) -> bool:
        """Everything is as it was written."""
        return not self.problems

    def joined(self, other: Verification) -> Verification:
        """Return what was found here and in other streams."""
        problems = (*self.problems, *other.problems)
        unlisted = self.unlisted + other.unlisted + len(problems[MOST_PROBLEMS:])
        streams, entries = self.streams + other.streams, self.entries + other.entries
        return Verification(streams, entries, problems[:MOST_PROBLEMS], unlisted)

    def to_dict(self) -> dict[str, object]:
        """Return what was found as JSON values."""
        return {
            "ok": self.ok,
            "streams": self.streams,
            "entries": self.entries,
            "problems": [problem.to_dict() for problem in self.problems],
            "unlisted": self.unlisted,
        }


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of a stream at some moment, to keep where the ledger's writers can't change it.

    Its text is `stream n hash`.
    """

    stream: str
    n: int
    hash: str

    def __str__(self) -> str:
        return f"{self.stream} {self.n} {self.hash}"

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return {"stream": self.stream, "n": self.n, "hash": self.hash}

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """Return the anchor that `str` made this text of.

        Raises:
            BadInput: it isn't one.
        """
        parts = text.strip().rsplit(" ", 2)
        if len(parts) == 3:
            stream, n, hashed = parts
            hexadecimal = len(hashed) == 64 and not set(hashed) - set("0123456789abcdef")
            if hexadecimal and n.isascii() and n.isdigit() and len(n) < 19:
                return cls(stream, int(n), hashed)
        raise BadInput(
            Message(
                "This isn't an anchor: it takes a stream, a number and 64 hexadecimal digits, as audit head prints."
            )
        )


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """What became of an anchored stream.

    Args:
        problem: empty when everything up to the anchor is what it was.
    """

    anchor: Anchor
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Everything up to the anchor is what it was."""
        return not self.problem

    def to_dict(self) -> dict[str, object]:
        """Return what was found as JSON values."""
        return {"ok": self.ok, "anchor": self.anchor.to_dict(), "problem": self.problem}


@dataclass(slots=True)
class _Findings:
    listed: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    def add(self, problem: Problem) -> None:
        if len(self.listed) < MOST_PROBLEMS:
            self.listed.append(problem)
        else:
            self.unlisted += 1


async def verify(ledger: Streams, stream: str | None = None) -> Verification:
    """Walk the hash chains, and compare the views with the entries.

    Each entry's hash is computed anew; numbers must have no gaps, each entry must carry the hash of the one before,
    the last must be the head, and a request's digest must be the digest of its subject. What is appended meanwhile
    doesn't disturb. A tail that was cut off or written anew by somebody who also computed the hashes shows only
    against an anchor: see `head` and `check_anchor`.

    Args:
        stream: which stream; None for all.

    Raises:
        StorageError: the ledger as a whole can't be read.
    """
    findings = _Findings()
    try:
        heads = await ledger.streams() if stream is None else [await ledger.head(stream)]
    except StorageError as error:
        if stream is None:
            raise
        heads = []
        findings.add(Problem(stream, 0, error.message))
    entries = 0
    for end in heads:
        entries += await _verify_stream(ledger, end, findings)
    for problem in await ledger.view_problems(stream):
        findings.add(problem)
    return Verification(len(heads), entries, tuple(findings.listed), findings.unlisted)


async def verify_each(ledger: StreamLedger, place: str, stream: str | None = None) -> Verification:
    """Verify streams that are each read on their own: one that can't be doesn't keep others from being checked.

    Args:
        place: where they are; what problems call a stream begins with it.
        stream: which stream; None for all.

    Raises:
        StorageError: their names can't be read.
    """
    all_found = Verification(0, 0, ())
    for name in await _names(ledger, stream):
        try:
            found = await verify(ledger, name)
        except StorageError as error:
            found = Verification(1, 0, (Problem(name, 0, error.message),))
        problems = tuple(replace(problem, stream=placed(place, name)) for problem in found.problems)
        all_found = all_found.joined(replace(found, problems=problems))
    return all_found


async def heads_of_each(ledger: StreamLedger, place: str, stream: str | None = None) -> tuple[list[Anchor], list[str]]:
    """Return anchors as `head` does, and why there are none of streams that can't be read.

    Raises:
        StorageError: their names can't be read.
    """
    anchors, problems = list[Anchor](), list[str]()
    for name in await _names(ledger, stream):
        try:
            found = await ledger.head(name)
        except StorageError as error:
            problems.append(error.message)
        else:
            anchors.append(Anchor(placed(place, name), found.n, found.hash))
    return anchors, problems


async def _names(ledger: StreamLedger, stream: str | None) -> list[str]:
    return [name for name in await ledger.names() if stream in (None, name)]


def placed(place: str, stream: str) -> str:
    """Return the name of a stream that is elsewhere than in the ledger of sessions."""
    return f"{place}/{stream}"


def stream_at(place: str, name: str) -> str | None:
    """Return the stream that has such a name at a place; None for one that is elsewhere."""
    stream = name.removeprefix(f"{place}/")
    return stream if stream != name and "/" not in stream else None


async def head(ledger: Streams, stream: str | None = None) -> list[Anchor]:
    """Return anchors to keep elsewhere, of one stream or all."""
    heads = await ledger.streams() if stream is None else [await ledger.head(stream)]
    return [Anchor(h.stream, h.n, h.hash) for h in heads]


async def check_anchor(ledger: Streams, anchor: Anchor | str) -> AnchorCheck:
    """Tell whether a stream, up to an anchor, still is what it was when the anchor was taken.

    Raises:
        BadInput: the text isn't an anchor.
        StorageError: the ledger as a whole can't be read.
    """
    if isinstance(anchor, str):
        anchor = Anchor.parse(anchor)
    found = await ledger.head(anchor.stream)
    if found.n < anchor.n:
        return AnchorCheck(anchor, Message('"{}" has {} entries and had {}.', anchor.stream, found.n, anchor.n))
    findings = _Findings()
    await _verify_stream(ledger, Head(anchor.stream, anchor.n, anchor.hash), findings)
    return AnchorCheck(anchor, findings.listed[0].what if findings.listed else "")


async def export(
    ledger: Streams, stream: str, wanted: EntryFilter | None = None, folder: str = ""
) -> AsyncIterator[str]:
    """Yield a stream as JSON lines, one entry each, without line ends.

    Args:
        wanted: which entries; None for all.
        folder: where the stream lies, which each line names; empty for the ledger of sessions.

    Raises:
        StorageError: an entry can't be read.
    """
    async for entry in read_stream(ledger, stream):
        if wanted is None or wanted.wants(entry):
            yield json_line(entry, folder)


def json_line(entry: Entry, folder: str = "") -> str:
    """Return an entry as one line of JSON that can be written as UTF-8."""
    fields = {**entry.to_dict(), **({"folder": folder} if folder else {})}
    line = json.dumps(fields, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate: only an escape can carry it
        return json.dumps(fields)
    return line


async def _verify_stream(ledger: Streams, end: Head, findings: _Findings) -> int:
    """Check a stream up to `end`; return how many entries were read."""
    read, expected, prev = 0, 1, GENESIS
    while expected <= end.n:
        page = await _page(ledger, end.stream, expected - 1, min(PAGE, end.n - expected + 1))
        if page is None:
            findings.add(Problem(end.stream, expected, Message("Entry {} can't be read.", expected)))
            expected, prev = expected + 1, ""
            continue
        if not page:
            break
        for entry in page:
            if entry.n > end.n:
                break
            if entry.n != expected:
                findings.add(
                    Problem(end.stream, expected, Message("Entry {} is missing.", _span(expected, entry.n - 1)))
                )
                prev = ""
            for what in _faults(entry, prev):
                findings.add(Problem(end.stream, entry.n, what))
            expected, prev = entry.n + 1, entry.hash
            read += 1
        else:
            continue
        break
    if expected <= end.n:
        findings.add(Problem(end.stream, expected, Message("Entry {} is missing.", _span(expected, end.n))))
    elif prev not in ("", end.hash):
        findings.add(
            Problem(end.stream, end.n, Message("Entry {} isn't the one that was the last: its hash differs.", end.n))
        )
    return read


async def _page(ledger: Streams, stream: str, after: int, limit: int) -> list[Entry] | None:
    """Return the next entries, fewer when one of them can't be read; None when the very next can't."""
    while True:
        try:
            return await ledger.entries(stream, after, limit)
        except StorageError:
            if limit == 1:
                return None
            limit = max(1, limit // 8)


def _faults(entry: Entry, prev: str) -> list[str]:
    """Return what is wrong with one entry; `prev` is empty when the one before isn't known."""
    faults: list[str] = []
    if prev and entry.prev != prev:
        faults.append(Message("Entry {} doesn't carry the hash of the one before.", entry.n))
    try:
        if entry_hash(entry) != entry.hash:
            faults.append(
                Message("Entry {} ({}) was changed: its hash isn't that of its content.", entry.n, entry.kind)
            )
        if entry.kind == "request_opened":
            request = entry.data["request"]
            if request["digest"] != digest(request["subject"]):
                faults.append(
                    Message("Entry {}: the digest of request {} isn't that of its subject.", entry.n, request["id"])
                )
    except (HitlError, KeyError, TypeError):
        faults.append(Message("Entry {} isn't a proper {}.", entry.n, entry.kind))
    return faults


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"
