"""What the rules of safe interrupts find in a graph, before it runs for the first time (I6)."""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from pathlib import Path
from typing import Any

from hitl_tui.config.declared_graphs import GraphDeclaration

log = logging.getLogger(__name__)


async def findings_in(declaration: GraphDeclaration) -> dict[str, Any]:
    """Return what is found in a graph's module: `findings`, and the `command` that tells all of it; {} for nothing.

    Only its source is read, in a thread. What can't be checked has no findings.
    """
    return await asyncio.to_thread(_found, declaration)


def _found(declaration: GraphDeclaration) -> dict[str, Any]:
    try:
        from hitl_tui.lint.check import lint

        report = lint(declaration.target, Path(declaration.folder), sys.path)
        findings = [
            {"rule": f.rule.id, "file": f.place.file, "line": f.place.line, "message": f.message}
            for f in report.findings
        ]
    except Exception as error:  # noqa: BLE001 - whatever somebody's module does to the check: it stands in no one's way
        log.info("%s wasn't checked: %s", declaration.target, error)
        return {}
    return {"findings": findings, "command": f"hitl-tui lint {shlex.quote(declaration.target)}"} if findings else {}
