"""A report in plain lines, at most 80 columns wide where its words allow it; no meaning by colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Final

from hitl_tui.core.safe_text import cell_width, one_line
from hitl_tui.lint.model import Finding, NodeRow, Position, Report

WIDTH: Final = 80

_COLUMNS: Final = (("node", 17), ("does", 23), ("in line", 9), ("interrupt", 9), ("harmless", 8), ("verdict", 7))
"""Headings and widths of the table; one cell between columns."""

_POSITIONS: Final = {
    Position.BEFORE: "before",
    Position.AFTER: "after",
    Position.AROUND: "around",
    Position.NONE: "none",
}


def report_lines(report: Report) -> Iterator[str]:
    """Return what a person reads: findings by place, then the nodes with their effects, then a summary."""
    for finding in report.findings:
        yield from _finding(finding)
        yield ""
    if report.rows:
        yield from _table(report)
        yield ""
    for note in report.notes:
        yield from _filled(note, "note: ")
    yield from _filled(summary(report))


def summary(report: Report) -> str:
    """Return one sentence: how much was found, in what."""
    nodes = len({(row.graph, row.node) for row in report.rows})
    asking = len({(row.graph, row.node) for row in report.rows if row.interrupts})
    checked = f"{_count(nodes, 'node')} checked, {asking} of which may ask"
    if not report.rows and not report.findings:
        return f"No graph was found in {report.file}, and nothing in it that asks."
    return f"{_count(len(report.findings), 'finding')}: {checked}. Nothing of it was imported or run."


def _finding(finding: Finding) -> Iterator[str]:
    place, rule = finding.place, finding.rule
    yield f"{one_line(place.file, 300)}:{place.line}:{place.column}: {rule.id} {rule.name} ({rule.severity})"
    yield from _filled(finding.message, "  ")
    yield from _filled(rule.meaning, "  ")
    yield from _filled(rule.remedy, "  mend: ", "        ")


def _table(report: Report) -> Iterator[str]:
    yield "What each node does to the world, and where that stands to its interrupt:"
    yield _row([heading for heading, _ in _COLUMNS])
    yield _row(["-" * width for _, width in _COLUMNS])
    for graph, rows in groupby(report.rows, key=lambda row: row.graph):
        yield f"{one_line(graph, WIDTH - 1) or 'no graph'}:"
        node = None
        for row in rows:
            yield from _cells(row, report.file, repeated=row.node == node)
            node = row.node


def _cells(row: NodeRow, file: str, *, repeated: bool) -> Iterator[str]:
    effect = row.effect
    name = "" if repeated else row.node
    verdict = "AGAIN" if row.repeated else " ".join(row.other_rules) or "ok"
    if effect is None:
        cells = [name, "nothing", "", "may ask" if row.interrupts else "none", "", verdict]
    else:
        line = str(effect.place.line)
        where = line if effect.place.file == file else f"{effect.place.file.rpartition('/')[2]}:{line}"
        same = "yes" if effect.idempotent == "by its form" else effect.idempotent or "no"
        cells = [name, effect.what, where, _POSITIONS[row.position], same, verdict]
    columns = [_wrapped(one_line(cell, 200), width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True)]
    for line_cells in zip_longest(*columns, fillvalue=""):
        yield _row(line_cells)


def _row(cells: Sequence[str]) -> str:
    padded = [cell + " " * (width - cell_width(cell)) for cell, (_, width) in zip(cells, _COLUMNS, strict=True)]
    return ("  " + " ".join(padded)).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Return a cell in lines of at most `width` terminal cells; nothing is left out."""
    lines = [""]
    for character in text:
        if cell_width(lines[-1] + character) > width:
            lines.append("")
        lines[-1] += character
    return lines


def _filled(text: str, first: str = "", rest: str | None = None) -> Iterator[str]:
    indent = " " * len(first) if rest is None else rest
    safe = one_line(text, 2_000)
    yield from textwrap.wrap(
        safe, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _count(number: int, what: str) -> str:
    return f"{number or 'No'} {what}{'' if number == 1 else 's'}"
