"""Text out of files: opened safely, decoded, split into citable blocks; what is wrong with one becomes a reason."""

from __future__ import annotations

import csv
import hashlib
import io
import logging
import mimetypes
import os
import re
import stat
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from hitl_tui.core.messages import Message
from hitl_tui.extraction.blocks import EXPORTED, MAX_BLOCKS, Block, BlockBuilder, Extraction, LeftOut, Unreadable
from hitl_tui.extraction.markup import html_extraction, line_blocks, manual_blocks, settings_blocks

_NUMBER = re.compile(r"[\s+\-$€£₩¥%]*\d[\d,.\s]*[%\w]{0,3}\s*$")
_MAX_ROW_LINES = 50


def csv_extraction(lines: list[str]) -> Extraction:
    """Return a block per row, `name: value, name: value`, with the lines the row stands on."""
    try:
        return _rows(lines)
    except csv.Error as error:
        return Extraction(tuple(line_blocks(lines)), f"read as plain text: {error}")


def _rows(lines: list[str]) -> Extraction:
    build = BlockBuilder()
    # The csv module counts lines by what it is fed, so each one is fed with an end of its own.
    reader = csv.reader((line + "\n" for line in lines), delimiter=_delimiter(lines))
    names: list[str] | None = None
    last = 0
    for row in reader:
        first, last = last + 1, reader.line_num
        if last - first > _MAX_ROW_LINES:
            raise csv.Error(Message("a quotation mark opened in line {} isn't closed", first))
        cells = [" ".join(cell.split()) for cell in row]
        if not any(cells):
            continue
        if names is None:
            names = cells if _is_header(cells) else []
            build.whole(first, last, ", ".join(cells))
            continue
        build.whole(first, last, ", ".join(_named(names, cells)))
        if build.full:
            return Extraction(tuple(build.finish()), f"read only up to line {last}: too many rows")
    return Extraction(tuple(build.finish()))


def _named(names: list[str], cells: list[str]) -> list[str]:
    padded = names + [""] * (len(cells) - len(names))
    return [f"{name}: {cell}" if name else cell for name, cell in zip(padded, cells, strict=False) if cell]


def _is_header(cells: list[str]) -> bool:
    return len(cells) > 1 and all(cells[:1]) and not any(_NUMBER.match(cell) for cell in cells if cell)


def _delimiter(lines: list[str]) -> str:
    head = next((line for line in lines if line.strip()), "")[:10_000]
    return max(",;\t|", key=head.count) if head else ","


_MAX_PAGES = 2_000
_BUDGET_SECONDS = 30.0
# A damaged file makes the library fail in any of these ways besides its own errors.
_BROKEN = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, RuntimeError,
    MemoryError, zlib.error, struct.error,
)  # fmt: skip


def pdf_extraction(
    data: bytes, clock: Callable[[], float] = time.monotonic, clean: Callable[[str], str] = str
) -> Extraction:
    """Return the text of a PDF by page, lines counted within each page.

    Args:
        data: its bytes.
        clock: seconds that go by.
        clean: takes out of a page's text what isn't kept.

    Raises:
        Unreadable: it is broken, locked by a password, or holds no text.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logger = logging.getLogger("pypdf")
    if not logger.handlers:
        # Without a handler its warnings would be written over the console.
        logger.addHandler(logging.NullHandler())
    blocks: list[Block] = []
    bad_pages = 0
    note = ""
    until = clock() + _BUDGET_SECONDS
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(Message("PDF is locked by a password"))
        pages = len(reader.pages)
    except (PyPdfError, *_BROKEN) as error:
        raise Unreadable(Message("broken PDF ({})", _short(error))) from error
    for index in range(pages):
        if index >= _MAX_PAGES or clock() > until or len(blocks) >= MAX_BLOCKS:
            note = f"read only up to page {index}: the PDF is too long"
            break
        try:
            text = reader.pages[index].extract_text()
        except (PyPdfError, *_BROKEN):
            bad_pages += 1
            continue
        kept = clean(text.encode("utf-8", "replace").decode("utf-8"))
        blocks.extend(line_blocks(kept.split("\n"), page=index + 1))
    if not blocks:
        raise Unreadable(
            Message("broken PDF (no readable page)") if bad_pages else Message("PDF holds no text (scanned pages?)")
        )
    if bad_pages and not note:
        note = f"{bad_pages} of {pages} pages can't be read"
    return Extraction(tuple(blocks), note)


def _short(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:80]


_UNREAD = frozenset(
    {"css", "scss", "less", "map", "lock", "key", "pem", "po", "mo"}
    | {"xls", "xlsx", "xlsm", "xlsb", "ods", "parquet", "parq", "pq", "feather", "sqlite", "db"}
)
"""Endings of what has no prose, holds secrets, or is a table, which is asked another way."""
_MEDIA = ("image/", "audio/", "video/", "font/")
_MARKUP = re.compile(r"\s*<(?:\?xml|!doctype|!--|[a-z][\w:-]*[\s>])", re.IGNORECASE)
_MARKED = {"md": "md", "markdown": "md", "html": "html", "htm": "html", "xhtml": "html", "rst": "rst", "csv": "csv"}
_MARKED |= dict.fromkeys(("yaml", "yml", "toml", "ini", "cfg", "conf"), "settings")
_PACKED = frozenset({"pdf", "docx", "pptx"})
_MANUAL = re.compile(r"[1-9][a-z]{0,3}\Z")


def kind_of(name: str) -> str:
    """Return how a file is read, by its name: its kind (`md`, `docx`, `settings`, `text`, …), or empty for not.

    What is packed (`.gz`) is read as what is within. Where an ending isn't known, the content tells whether it is text.
    """
    first, dot, last = name.casefold().removesuffix(".gz").rpartition(".")
    if not dot:
        return "text"
    if last == "txt" and first.endswith((".rst", ".md")):
        last = first.rpartition(".")[2]
    if last in _MARKED or last in _PACKED:
        return _MARKED.get(last, last)
    if _MANUAL.match(last):
        return "man"
    return "" if last in _UNREAD or _is_media(last) else "text"


@lru_cache(1_000)
def _is_media(ending: str) -> bool:
    """Whether an ending is one of pictures, sound, video or fonts, wherever this runs."""
    return (mimetypes.MimeTypes().guess_type(f"x.{ending}")[0] or "").startswith(_MEDIA)


MAX_BYTES = 20 * 1024 * 1024
_SAMPLE = 65_536
_CONTROL = bytes(code for code in (*range(9), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
_HIGH = re.compile(rb"[\x80-\xff]")
_KOREAN_PAIR = re.compile(rb"[\xa1-\xfe][\xa1-\xfe]")
LINE_END = re.compile(r"\r\n|\r|\n")


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
                raise Unreadable(Message("not a regular file"))
            if reason := too_large(info.st_size):
                raise Unreadable(reason, LeftOut.LARGE)
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(_why(error)) from error
    if reason := too_large(len(data)):
        raise Unreadable(reason, LeftOut.LARGE)
    return Source(data, info.st_size, info.st_mtime_ns, info.st_ino)


def extract_bytes(data: bytes, name: str, clean: Callable[[str], str] = str) -> Extraction:
    """Return the blocks of a file's bytes, read as its name says.

    Args:
        data: the bytes.
        name: the file's.
        clean: takes out of its text what isn't kept, before that is cut into blocks.

    Raises:
        Unreadable: an unknown ending, a binary file, or a PDF that gives no text.
    """
    kind = kind_of(name)
    if not kind:
        raise Unreadable(Message("files ending in {} aren't searched", name[name.rfind(".") :]), LeftOut.IGNORED)
    if name.casefold().endswith(".gz"):
        data = _unpacked(data)
    if kind == "pdf":
        return pdf_extraction(data, clean=clean)
    if kind in _PACKED:
        from hitl_tui.extraction.office_text import office_extraction

        return office_extraction(data, kind, clean)
    if is_binary(data):
        raise Unreadable(Message("binary file"), LeftOut.BINARY)
    text, note = decode(data)
    text = clean(text)
    if text.rstrip().endswith(EXPORTED):
        raise Unreadable(Message("an answer exported from here, which is no evidence for another one"), LeftOut.IGNORED)
    if kind == "html" or (kind == "text" and _MARKUP.match(text)):
        # Any line end counts as one in the parser only when it is a newline.
        found = html_extraction(LINE_END.sub("\n", text))
    elif kind == "csv":
        found = csv_extraction(LINE_END.split(text))
    else:
        lines = LINE_END.split(text)
        blocks = {"man": manual_blocks, "settings": settings_blocks}.get(kind, partial(line_blocks, kind=kind))(lines)
        found = Extraction(tuple(blocks))
    notes = [part for part in (note, found.note) if part]
    return Extraction(found.blocks, "; ".join(notes))


def _unpacked(data: bytes) -> bytes:
    try:
        found = zlib.decompressobj(wbits=31).decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise Unreadable(Message("broken archive ({})", _short(error))) from error
    if reason := too_large(len(found)):
        raise Unreadable(reason, LeftOut.LARGE)
    return found


def is_binary(data: bytes) -> bool:
    """True when the bytes aren't text: control characters, with or without a byte order mark, are common."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    sample = data[:_SAMPLE]
    return (len(sample) - len(sample.translate(None, _CONTROL))) * 50 > len(sample)


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
