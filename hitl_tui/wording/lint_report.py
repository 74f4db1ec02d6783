"""A report of `hitl-tui lint` in plain lines, at most 80 cells wide where its words allow it; no meaning by colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Final

from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.safe_text import cell_width, one_line
from hitl_tui.language import _, mark, translate
from hitl_tui.lint.findings import Finding, NodeRow, Position, Report

WIDTH: Final = 80

_COLUMNS: Final = (
    (mark("node"), 16),
    (mark("does"), 20),
    (mark("in line"), 13),
    (mark("interrupt"), 9),
    (mark("harmless"), 8),
    (mark("verdict"), 7),
)
"""Headings and widths of the table; one cell between columns."""

_POSITIONS: Final = {
    Position.BEFORE: mark("before"),
    Position.AFTER: mark("after"),
    Position.AROUND: mark("around"),
    Position.BESIDE: mark("beside"),
    Position.NONE: mark("none"),
}

_SEVERITIES: Final = {"error": mark("error"), "warning": mark("warning")}

_HARMLESS: Final = {
    "": mark("no"),
    "by its form": mark("yes"),
    "declared": mark("declared"),
    "task": mark("task"),
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
        yield from _filled(translate(note), _("note: "))
    yield from _filled(translate(summary(report)))


def summary(report: Report) -> Message:
    """Return one sentence: how much was found, in what."""
    if not report.rows and not report.findings:
        return Message("No graph was found in {file}, and nothing in it that asks.", file=report.file)
    nodes = len({(row.graph, row.node) for row in report.rows})
    asking = len({(row.graph, row.node) for row in report.rows if row.interrupts})
    return Message(
        "{findings}: {nodes}, {asking} of which may ask. Nothing was imported or run.",
        findings=_findings(len(report.findings)),
        nodes=_nodes(nodes),
        asking=asking,
    )


def _findings(number: int) -> Message:
    if not number:
        return Message("No findings")
    return counted_message("{} finding", "{} findings", number)


def _nodes(number: int) -> Message:
    if not number:
        return Message("No nodes checked")
    return counted_message("{} node checked", "{} nodes checked", number)


def _finding(finding: Finding) -> Iterator[str]:
    place, rule = finding.place, finding.rule
    severity = _(_SEVERITIES[rule.severity])
    yield f"{one_line(place.file, 300)}:{place.line}:{place.column}: {rule.id} {rule.name} ({severity})"
    yield from _filled(translate(finding.message), "  ")
    yield from _filled(translate(rule.meaning), "  ")
    yield from _filled(translate(rule.remedy), _("  fix: "))


def _table(report: Report) -> Iterator[str]:
    yield from _filled(_("What each node does to the outside world, and whether before or after its interrupt:"))
    yield _row([_(heading) for heading, _width in _COLUMNS])
    yield _row(["-" * width for _heading, width in _COLUMNS])
    for graph, rows in groupby(report.rows, key=lambda row: row.graph):
        yield f"{one_line(graph, WIDTH - 1) or _('no graph')}:"
        node = None
        for row in rows:
            yield from _cells(row, report.file, repeated=row.node == node)
            node = row.node


def _cells(row: NodeRow, file: str, *, repeated: bool) -> Iterator[str]:
    effect = row.effect
    name = "" if repeated else row.node
    verdict = _("AGAIN") if row.repeated else " ".join(rule.id for rule in row.other_rules) or _("ok")
    if effect is None:
        asks = _("may ask") if row.interrupts else _("none")
        cells = [name, _("nothing"), "", asks, "", verdict]
    else:
        line = str(effect.place.line)
        where = line if effect.place.file == file else f"{effect.place.file.rpartition('/')[2]}:{line}"
        cells = [
            name,
            effect.what,
            where,
            _(_POSITIONS[row.position]),
            _(_HARMLESS.get(effect.idempotent, effect.idempotent)),
            verdict,
        ]
    columns = [_wrapped(one_line(cell, 200), width) for cell, (_head, width) in zip(cells, _COLUMNS, strict=True)]
    for line_cells in zip_longest(*columns, fillvalue=""):
        yield _row(line_cells)


def _row(cells: Sequence[str]) -> str:
    padded = [cell + " " * (width - cell_width(cell)) for cell, (_head, width) in zip(cells, _COLUMNS, strict=True)]
    return ("  " + " ".join(padded)).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Return a cell in lines of at most `width` terminal cells, broken behind a dot or colon where one is near."""
    lines: list[str] = []
    rest = text
    while cell_width(rest) > width:
        end = next(n for n in range(len(rest), 0, -1) if cell_width(rest[:n]) <= width or n == 1)
        stop = max(rest.rfind(sign, end // 2, end) for sign in ".:_ ") + 1
        lines.append(rest[: stop or end])
        rest = rest[stop or end :]
    return [*lines, rest]


def _filled(text: str, first: str = "") -> Iterator[str]:
    """Return a text in lines; every one but the first is indented as far as the text of the first."""
    indent = " " * cell_width(first)
    line = first
    for word in one_line(text, 2_000).split(" "):
        joined = f"{line} {word}" if line.strip() and line != first else f"{line}{word}"
        if cell_width(joined) > WIDTH and line not in (first, indent):
            yield line
            line = f"{indent}{word}"
        else:
            line = joined
    yield line
