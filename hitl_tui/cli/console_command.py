"""`hitl-tui` without a subcommand: the console, or line mode where that was asked for or there is no screen."""

from __future__ import annotations

import gc
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from hitl_tui.cli.runtime_reach import reach
from hitl_tui.cli.settings import existing_workspace, operator_of
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.terminal.own_command import own_command

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.config.declared_graphs import Attachment


def console(job: Job) -> int:
    """Open the console; return the exit code.

    Raises:
        BadInput: there is no such workspace, or the name can't be taken.
    """
    return open_console(job, None)


def open_console(job: Job, attached: Attachment | None) -> int:
    """Open the console, with a graph that is attached or none; otherwise as `console`."""
    given = job.arguments
    workspace = existing_workspace(given.workspace)
    operator = operator_of(given.by, os.environ, job.data)
    session, mode, query = given.session, given.mode, attached.query if attached else given.text
    named, by, hide = workspace if given.workspace is not None else None, operator.name, job.log.hide
    reached = partial(reach, job)
    options = OpenOptions(job.data, named, session, mode, by, query, attached, hide, operator, job.once, reached)
    if given.line or not has_screen():
        from hitl_tui.repl.app import run_line_mode
        from hitl_tui.terminal.stdio_redirect import StdioRedirect

        return run_line_mode(options, job.out.lines, partial(_again, job), StdioRedirect, job.out.alone)
    # Imports make hundreds of thousands of objects and no garbage; the console collects again once they are done.
    gc.disable()
    # Textual reads it when it is imported: at its own 60 a key waits for the next frame longer than for all else.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from hitl_tui.console.app import run_console

    with job.out.alone(job.log.path):
        code, parting = run_console(options, partial(_again, job))
    if parting and sys.stdout.isatty():
        job.out.lines([parting])
    return code


def has_screen() -> bool:
    """Return whether there is a terminal to draw on."""
    if os.environ.get("TEXTUAL_DRIVER", "").strip():  # it is drawn elsewhere: on a page, for one
        return True
    streams = (sys.stdin, sys.stdout)
    terminal = all(stream is not None and stream.isatty() for stream in streams)
    return terminal and os.environ.get("TERM", "dumb") != "dumb"


def _again(job: Job, session: str) -> str:
    line = " --line" if job.arguments.line else ""
    return f"{own_command()}{line}{job.place} --session {session}"
