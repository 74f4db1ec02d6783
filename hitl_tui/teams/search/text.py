"""Text out of files: opened safely, decoded, split into citable blocks."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hitl_tui.teams.brief import EXPORTED
from hitl_tui.teams.search.blocks import Block, Extraction, Unreadable
from hitl_tui.teams.search.markup import markdown_blocks, rst_blocks, text_blocks
from hitl_tui.teams.search.pdf import pdf_extraction
from hitl_tui.teams.search.sheets import csv_extraction
from hitl_tui.teams.search.webpage import html_extraction

_LINES = frozenset({".txt", ".log", ".json", ".jsonl", ".yaml", ".yml", ".py", ".js", ".ts", ".sh", ".sql"})
"""Read line by line as they are: notes, logs, data and source."""
SUFFIXES = frozenset({".md", ".html", ".htm", ".pdf", ".csv", ".rst"}) | _LINES
MAX_BYTES = 20 * 1024 * 1024
_SAMPLE = 65_536
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_KOREAN_PAIR = re.compile(rb"[\xa1-\xfe][\xa1-\xfe]")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was read.

    Args:
        data: its bytes.
        size, mtime_ns, inode: its state at that moment, bytes and nanoseconds since 1970.
    """

    data: bytes
    size: int
    mtime_ns: int
    inode: int

    @property
    def digest(self) -> str:
        """BLAKE2 of the bytes, 32 hexadecimal digits."""
        return hashlib.blake2b(self.data, digest_size=16).hexdigest()


def too_large(size: int) -> str:
    """Return why a file of `size` bytes isn't read; empty when it is."""
    if size <= MAX_BYTES:
        return ""
    return f"{size / 1_048_576:.0f} MB is larger than the limit of {MAX_BYTES // 1_048_576} MB"


def read_source(path: Path) -> Source:
    """Read a regular file without following a link in its last part and without blocking on a pipe.

    Raises:
        Unreadable: it can't be opened, isn't a regular file, or is too large.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise Unreadable(_why(error)) from error
    try:
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise Unreadable("not a regular file")
            if reason := too_large(info.st_size):
                raise Unreadable(reason)
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(_why(error)) from error
    if reason := too_large(len(data)):
        raise Unreadable(reason)
    return Source(data, info.st_size, info.st_mtime_ns, info.st_ino)


def extract(path: Path) -> Extraction:
    """Return the blocks of a file; its suffix says how it is read.

    Raises:
        Unreadable: the file gives no text; the message is the reason.
    """
    return extract_bytes(read_source(path).data, path.suffix)


def extract_bytes(data: bytes, suffix: str, clean: Callable[[str], str] = str) -> Extraction:
    """Return the blocks of a file's bytes, read as its suffix (`.md`, `.pdf`, …) says.

    Args:
        data: the bytes.
        suffix: how its name ends.
        clean: takes out of its text what isn't kept, before that is cut into blocks.

    Raises:
        Unreadable: an unknown suffix, a binary file, or a PDF that gives no text.
    """
    kind = suffix.lower()
    if kind not in SUFFIXES:
        raise Unreadable(f"files ending in {suffix or 'nothing'} aren't searched")
    if kind == ".pdf":
        return pdf_extraction(data, clean=clean)
    if is_binary(data):
        raise Unreadable("binary file")
    text, note = decode(data)
    text = clean(text)
    if text.rstrip().endswith(EXPORTED):
        raise Unreadable("an answer that was exported here, which is no evidence for another one")
    if kind in (".html", ".htm"):
        # Any line end counts as one in the parser only when it is a newline.
        found = html_extraction(_LINE_END.sub("\n", text))
    elif kind == ".csv":
        found = csv_extraction(_LINE_END.split(text))
    else:
        found = Extraction(tuple(_split(kind, _LINE_END.split(text))))
    notes = [part for part in (note, found.note) if part]
    return Extraction(found.blocks, "; ".join(notes))


def _split(kind: str, lines: list[str]) -> list[Block]:
    if kind == ".md":
        return markdown_blocks(lines)
    return rst_blocks(lines) if kind == ".rst" else text_blocks(lines)


def is_binary(data: bytes) -> bool:
    """True when the bytes aren't text: control characters, with or without a byte order mark, are common."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    sample = data[:_SAMPLE]
    return len(_CONTROL.findall(sample)) * 50 > len(sample)


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of some bytes and a note when they weren't UTF-8.

    UTF-8 (with or without mark) and UTF-16 with mark come first, then Korean (CP949), then Western (Latin-1),
    which reads anything.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), "read as UTF-16"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        pass
    # Western text seldom has two letters beyond ASCII side by side, Korean text always.
    if len(_KOREAN_PAIR.findall(data)) * 4 >= len(_HIGH.findall(data)):
        try:
            return data.decode("cp949"), "read as CP949"
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1"), "not UTF-8 or CP949, read as Latin-1"


def _why(error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"can't be read: {reason.lower()}"
