"""PDF into blocks, by pypdf; whatever is wrong with a file becomes a reason."""

from __future__ import annotations

import io
import logging
import struct
import time
import zlib
from collections.abc import Callable

from hitl_tui.teams.search.blocks import MAX_BLOCKS, Block, Extraction, Unreadable
from hitl_tui.teams.search.markup import text_blocks

_MAX_PAGES = 2_000
_BUDGET_SECONDS = 30.0
# A damaged file makes the library fail in any of these ways besides its own errors.
_BROKEN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    MemoryError,
    zlib.error,
    struct.error,
)


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
            raise Unreadable("PDF is locked by a password")
        pages = len(reader.pages)
    except (PyPdfError, *_BROKEN) as error:
        raise Unreadable(f"broken PDF ({_short(error)})") from error
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
        blocks.extend(text_blocks(kept.split("\n"), page=index + 1))
    if not blocks:
        raise Unreadable("broken PDF (no readable page)" if bad_pages else "PDF holds no text (scanned pages?)")
    if bad_pages and not note:
        note = f"{bad_pages} of {pages} pages can't be read"
    return Extraction(tuple(blocks), note)


def _short(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:80]
