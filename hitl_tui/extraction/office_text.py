"""Text out of Word documents and PowerPoint slides, where the extra `office` is installed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from hitl_tui.core.messages import Message
from hitl_tui.extraction.blocks import Block, BlockBuilder, Extraction, LeftOut, Unreadable

_MOST_UNPACKED = 200 * 1024 * 1024


def office_extraction(data: bytes, kind: str, clean: Callable[[str], str] = str) -> Extraction:
    """Return the text of a Word document by paragraph, or of a PowerPoint presentation by slide.

    Args:
        data: the file's bytes.
        kind: `docx` or `pptx`.
        clean: takes out of its text what isn't kept.

    Raises:
        Unreadable: the extra isn't installed, or the file is broken, too large or without text.
    """
    try:
        blocks = list((_paragraphs if kind == "docx" else _slides)(_opened(data, kind), clean))
    except ImportError as error:
        raise Unreadable(Message("reading .{} takes the extra office", kind), LeftOut.IGNORED) from error
    except (zipfile.BadZipFile, KeyError, ValueError, AttributeError, SyntaxError, RuntimeError, OSError) as error:
        raise Unreadable(Message("broken .{} file ({})", kind, type(error).__name__)) from error
    if not blocks:
        raise Unreadable(Message(".{} file holds no text", kind))
    return Extraction(tuple(blocks))


def _opened(data: bytes, kind: str) -> Any:
    package, name = ("docx", "Document") if kind == "docx" else ("pptx", "Presentation")
    opened = getattr(import_module(package), name)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        if sum(part.file_size for part in packed.infolist()) > _MOST_UNPACKED:
            raise Unreadable(Message(".{} file unpacks to too much", kind), LeftOut.LARGE)
    return opened(io.BytesIO(data))


def _paragraphs(document: Any, clean: Callable[[str], str]) -> Iterable[Block]:
    build = BlockBuilder()
    for number, part in enumerate(document.iter_inner_content(), start=1):
        if hasattr(part, "rows"):
            for row in _rows(part, clean):
                build.whole(number, number, row)
            continue
        text, style = clean(part.text), str(getattr(part.style, "name", ""))
        level = style.rpartition(" ")[2]
        if style == "Title" or (style.startswith("Heading ") and level.isdecimal()):
            build.heading(int(level) if level.isdecimal() else 0, text, number)
        elif text.strip():
            build.whole(number, number, text)
    return build.finish()


def _slides(presentation: Any, clean: Callable[[str], str]) -> Iterator[Block]:
    for page, slide in enumerate(presentation.slides, start=1):
        build = BlockBuilder(page=page)
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            build.heading(1, clean(title.text_frame.text), 1)
        line = 1
        for text in _texts(slide, clean):
            for paragraph in text.split("\n"):
                line += 1
                if paragraph.strip():
                    build.add(line, paragraph)
            build.flush()
        yield from build.finish()


def _texts(slide: Any, clean: Callable[[str], str]) -> Iterator[str]:
    for shape in slide.shapes:
        if shape.has_text_frame and shape != slide.shapes.title:
            yield clean(shape.text_frame.text)
        elif shape.has_table:
            yield "\n".join(_rows(shape.table, clean))
    if slide.has_notes_slide:
        yield clean(slide.notes_slide.notes_text_frame.text)


def _rows(table: Any, clean: Callable[[str], str]) -> Iterator[str]:
    """Yield the rows of a table, each cell with its column's name."""
    names: list[str] = []
    for row in table.rows:
        cells = [" ".join(clean(cell.text).split()) for cell in row.cells]
        if not any(cells):
            continue
        yield ", ".join(f"{n}: {c}" if n and c else c for n, c in zip(names, cells, strict=False)) or ", ".join(cells)
        names = names or cells
