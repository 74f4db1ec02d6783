"""`hitl-tui lint`: check a graph by its syntax before it runs. Needs no engine, and none of what it checks."""

from __future__ import annotations

import sys

from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import workspace_folder
from hitl_tui.lint.check import lint as check
from hitl_tui.wording.lint_report import report_lines, summary

CLEAN, FOUND = 0, 1


def lint(job: Job) -> int:
    """Check a target and print what was found.

    Returns:
        The exit code: 0 nothing found, 1 something found.

    Raises:
        BadInput: the target names nothing that can be checked, or the current folder is gone.
    """
    report = check(job.arguments.target, workspace_folder(None), sys.path)
    if job.arguments.json:
        status = "findings" if report.findings else "ok"
        job.out.document({"status": status, "message": str(summary(report)), **report.to_dict()})
    else:
        job.out.lines(report_lines(report))
    return FOUND if report.findings else CLEAN
