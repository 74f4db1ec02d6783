"""What the rules of safe interrupts find in an attached graph, for those who are asked about it."""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.messages import Message

if TYPE_CHECKING:
    from hitl_tui.lint.findings import Report

log = logging.getLogger(__name__)


class Finding(TypedDict):
    """One finding of `hitl-tui lint`."""

    rule: str
    file: str
    line: int
    message: str


class GraphFindings(TypedDict):
    """What is found in a graph's module, and the command that tells all of it."""

    findings: list[Finding]
    command: str


async def findings_in(declaration: GraphDeclaration) -> GraphFindings | None:
    """Return what is found in a graph's module; None for nothing."""
    report = await report_of(declaration)
    if report is None or not report.findings:
        return None
    findings: list[Finding] = [
        {"rule": f.rule.id, "file": f.place.file, "line": f.place.line, "message": f.message} for f in report.findings
    ]
    return {"findings": findings, "command": f"hitl-tui lint {shlex.quote(declaration.target)}"}


async def report_of(declaration: GraphDeclaration) -> Report | None:
    """Return what is found in a graph's module; None where it can't be checked.

    Only its source is read, in a thread.
    """
    if declaration.is_served:
        return None
    return await asyncio.to_thread(_lint, declaration)


def _lint(declaration: GraphDeclaration) -> Report | None:
    try:
        from hitl_tui.lint.check import lint

        return lint(declaration.target, Path(declaration.folder), sys.path)
    except Exception as error:  # noqa: BLE001 - whatever somebody's module does to the check: it stands in no one's way
        log.info("%s wasn't checked: %s", declaration.target, error)
        return None


def answer_notes(report: Report | None, node: str) -> list[str]:
    """Return why an answer to what a node asks may count for something else than was shown, a sentence or two each."""
    found = report.asking(node) if report is not None else ()
    return [
        Message("{} {} ({}, {}:{})", f.message, f.rule.meaning, f.rule.id, f.place.file, f.place.line)
        for f in found
        if f.rule.of_answers
    ]
