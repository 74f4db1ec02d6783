"""CSV into blocks: a row a block, each value beside its column's name."""

from __future__ import annotations

import csv
import re

from hitl_tui.teams.search.blocks import BlockBuilder, Extraction
from hitl_tui.teams.search.markup import text_blocks

_NUMBER = re.compile(r"[\s+\-$€£₩¥%]*\d[\d,.\s]*[%\w]{0,3}\s*$")
_MAX_ROW_LINES = 50


def csv_extraction(lines: list[str]) -> Extraction:
    """Return a block per row, `name: value, name: value`, with the lines the row stands on."""
    try:
        return _rows(lines)
    except csv.Error as error:
        return Extraction(tuple(text_blocks(lines)), f"read as plain text: {error}")


def _rows(lines: list[str]) -> Extraction:
    build = BlockBuilder()
    # The csv module counts lines by what it is fed, so each one is fed with an end of its own.
    reader = csv.reader((line + "\n" for line in lines), delimiter=_delimiter(lines))
    names: list[str] | None = None
    last = 0
    for row in reader:
        first, last = last + 1, reader.line_num
        if last - first > _MAX_ROW_LINES:
            raise csv.Error(f"a quotation mark opened in line {first} isn't closed")
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
