"""From a command line to an exit code: dispatch, and what becomes of errors. Nobody ever sees a traceback."""

from __future__ import annotations

import gc
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.fast_args import CONSOLE, Arguments, language_of, passed_on, plain
from hitl_tui.cli.output import Output, standard
from hitl_tui.cli.secrecy import Secrecy
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import render, using
from hitl_tui.supervisor.termination import Terminated, Termination, run_until_terminated

if TYPE_CHECKING:
    from hitl_tui.cli.log_file import LogFile
    from hitl_tui.cli.session_jobs import Job
    from hitl_tui.config.declared_graphs import Attachment

OK, FAILED, INTERRUPTED = 0, 1, 130
_FEW = 3
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

log = logging.getLogger(__name__)


def run(argv: Sequence[str], began: str = "") -> int:
    """Carry a command line out that was begun at an ISO 8601 time, empty for now; return the exit code."""
    secrecy = Secrecy()
    out, err = standard(secrecy)
    _look_here(None, secrecy)
    wants_json = "--json" in argv
    try:
        code = language_of(argv, os.environ)
    except HitlError as error:
        return _tell(error, wants_json, out, err)
    # A signal is noted until there is something to stop: raised within an import it could be lost.
    ending = Termination.current()
    ending.last_words = partial(_interrupted, wants_json=wants_json, out=out, err=err)
    try:
        with using(code), passed_on(code, os.environ), ending.noting():
            return _understood(argv, began, secrecy, out, err)
    except KeyboardInterrupt as stop:
        return _interrupted(stop, wants_json=wants_json, out=out, err=err)


def _understood(argv: Sequence[str], began: str, secrecy: Secrecy, out: Output, err: Output) -> int:
    try:
        arguments = _read(argv)._replace(began=began)
        if arguments.help:
            out.lines([arguments.help.rstrip("\n")])
            return OK
        _check_names_session(arguments, argv)
        return _prepared(arguments, secrecy, out, err)
    except SystemExit as done:  # --version
        return done.code if isinstance(done.code, int) else OK
    except HitlError as error:
        return _tell(error, "--json" in argv, out, err)


def _look_here(arguments: Arguments | None, secrecy: Secrecy) -> None:
    """Let what the current folder and the workspace that is named declare be masked."""
    from hitl_tui.cli.settings import data_folder, workspace_folder

    named = () if arguments is None or not arguments.workspace else (arguments.workspace,)
    once = (arguments.trust.strip().lower(),) if arguments is not None and arguments.trust else ()
    with suppress(BadInput):  # it is said where they are needed
        data = data_folder(arguments.data if arguments is not None else None, os.environ)
        secrecy.look_in([workspace_folder(place) for place in (None, *named)], data, once)


def _read(argv: Sequence[str]) -> Arguments:
    if (arguments := plain(argv)) is not None:
        return arguments
    from hitl_tui.cli.arguments import parse

    return parse(argv)


def _check_names_session(arguments: Arguments, argv: Sequence[str]) -> None:
    """Refuse a word that is no subcommand before the id of a session: nobody asks that (see `nearly`).

    Raises:
        BadInput: it is so; how to ask these words all the same is in `help`.
    """
    words = arguments.text.split()
    if arguments.command != CONSOLE or not 2 <= len(words) <= _FEW or "--" in argv or not set(words) <= set(argv):
        return
    from hitl_tui.cli.settings import data_folder

    folder = data_folder(arguments.data, os.environ) / "sessions"
    if _ID.fullmatch(words[1]) and (folder / words[1]).is_dir():
        from hitl_tui.cli.arguments import no_command

        raise no_command(words)


def _prepared(arguments: Arguments, secrecy: Secrecy, out: Output, err: Output) -> int:
    from hitl_tui.cli.log_file import LogFile
    from hitl_tui.cli.settings import data_folder

    data = data_folder(arguments.data, os.environ)
    _look_here(arguments, secrecy)
    journal = LogFile(data, secrecy)
    root = logging.getLogger()
    root.addHandler(journal)
    try:
        return _guarded(arguments, data, journal, out, err)
    finally:
        root.removeHandler(journal)
        journal.close()


def _guarded(arguments: Arguments, data: Path, journal: LogFile, out: Output, err: Output) -> int:
    current: list[Job] = []
    ending = Termination.current()

    def interrupted(stop: KeyboardInterrupt) -> int:
        session = current[0].session_id if current else ""
        return _interrupted(stop, wants_json=arguments.json, out=out, err=err, session=session)

    ending.last_words = interrupted
    try:
        with ending.raising():
            return _carried_out(arguments, data, journal, out, err, current.append)
    except KeyboardInterrupt as stop:
        return interrupted(stop)
    except HitlError as error:
        log.info("%s", error.message, exc_info=error)
        return _tell(error, arguments.json, out, err)
    except Exception as error:
        log.exception("unexpected")
        return _tell(_unexpected(error, journal), arguments.json, out, err)


def _carried_out(
    arguments: Arguments, data: Path, journal: LogFile, out: Output, err: Output, begun: Callable[[Job], None]
) -> int:
    if arguments.command == CONSOLE:
        return _console(arguments, data, journal, out)
    if arguments.command == "attach":
        return _attach(arguments, data, journal, out, err, begun)
    if arguments.command == "open":
        from hitl_tui.cli import open as opening

        opened = opening.open_store(arguments, data, out, screen=_has_screen())
        return opened if isinstance(opened, int) else _attach(opened, data, journal, out, err, begun)
    if arguments.command == "web":
        from hitl_tui.cli.web_command import web

        return web(arguments, data, out)
    return _one_shot(arguments, data, journal, out, err, begun)


def _one_shot(
    arguments: Arguments, data: Path, journal: LogFile, out: Output, err: Output, begun: Callable[[Job], None]
) -> int:
    import asyncio

    if arguments.command == "lint":
        from hitl_tui.cli.lint import lint

        return lint(arguments, out)
    if arguments.command == "starter":
        from hitl_tui.cli.starter import starter

        return starter(arguments, data, out)
    if arguments.command == "approver":
        from hitl_tui.cli.approvers import approver

        return asyncio.run(approver(arguments, data, out))
    if arguments.command == "policy":
        from hitl_tui.cli.policy import policy

        return policy(arguments, data, out)
    if arguments.command == "trust":
        from hitl_tui.cli.trust import trust

        return asyncio.run(trust(arguments, data, out))
    if arguments.command == "audit":
        from hitl_tui.cli.audit_command import audit

        return asyncio.run(audit(arguments, data, out, err))
    from hitl_tui.console.idle_collector import importing

    with importing():
        from hitl_tui.cli import admin_commands, session_jobs

    stdin = sys.stdin.buffer if sys.stdin is not None else None
    job = session_jobs.Job(arguments, data, dict(os.environ), out, err, journal, stdin)
    begun(job)
    carry: dict[str, Callable[[Job], Coroutine[Any, Any, int]]] = {
        "run": session_jobs.run,
        "do": session_jobs.do,
        "show": session_jobs.show,
        "sessions": session_jobs.sessions,
        "rename": admin_commands.rename,
        "fork": admin_commands.fork,
        "export": admin_commands.export,
        "import": admin_commands.import_,
        "delete": admin_commands.delete,
        "prune": admin_commands.prune,
    }
    with Termination.current().noting(), out.alone():
        return run_until_terminated(carry[arguments.command](job))


def _console(arguments: Arguments, data: Path, journal: LogFile, out: Output) -> int:
    return _faced(arguments, data, journal, out, None)


def _attach(
    arguments: Arguments, data: Path, journal: LogFile, out: Output, err: Output, begun: Callable[[Job], None]
) -> int:
    from hitl_tui.console.idle_collector import importing

    with importing():
        from hitl_tui.cli import session_jobs
        from hitl_tui.cli.attach import attach, attachment

    stdin = sys.stdin.buffer if sys.stdin is not None else None
    found = attachment(arguments, stdin, data)
    if not arguments.json and (_has_screen() or arguments.line):
        return _faced(arguments, data, journal, out, found)
    job = session_jobs.Job(arguments, data, dict(os.environ), out, err, journal, stdin)
    begun(job)
    # What the graph prints isn't part of the document.
    with Termination.current().noting(), out.alone(), redirect_stdout(sys.stderr):
        return run_until_terminated(attach(job, found))


def _faced(arguments: Arguments, data: Path, journal: LogFile, out: Output, attached: Attachment | None) -> int:
    """Open the console, or line mode where that was asked for or there is no screen."""
    from hitl_tui.cli.settings import operator_of, workspace_folder

    workspace = workspace_folder(arguments.workspace)
    if not workspace.is_dir():
        raise BadInput(f"The workspace {workspace} {'is not a folder' if workspace.exists() else 'does not exist'}.")
    operator = operator_of(arguments.by, os.environ, data)
    by = operator.name
    once = (arguments.trust.strip().lower(),) if arguments.trust else ()
    session, mode, query = arguments.session, arguments.mode, attached.query if attached else arguments.text
    if arguments.line or not _has_screen():
        from hitl_tui.repl.app import run_line_mode
        from hitl_tui.repl.options import LineOptions
        from hitl_tui.terminal.stdio_redirect import StdioRedirect

        line = LineOptions(data, workspace, by, session, mode, query, attached, operator, once)
        return run_line_mode(line, out.lines, journal.hide, lambda name: _again(arguments, name), StdioRedirect)
    # Imports make hundreds of thousands of objects and no garbage; the console collects again once they are done.
    gc.disable()
    # Textual reads it when it is imported: at its own 60 a key waits for the next frame longer than for all else.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from hitl_tui.console.app import run_console
    from hitl_tui.console.console_options import ConsoleOptions

    with out.alone(journal.path):
        named = workspace if arguments.workspace is not None else None
        return run_console(
            ConsoleOptions(data, named, session, mode, by, query, attached, journal.hide, operator, once)
        )


def _again(arguments: Arguments, session: str) -> str:
    line = " --line" if arguments.line else ""
    place = f" --data {shlex.quote(arguments.data)}" if arguments.data else ""
    return f"hitl-tui{line}{place} --session {session}"


def _has_screen() -> bool:
    if os.environ.get("TEXTUAL_DRIVER", "").strip():  # it is drawn elsewhere: on a page, for one
        return True
    streams = (sys.stdin, sys.stdout)
    terminal = all(stream is not None and stream.isatty() for stream in streams)
    return terminal and os.environ.get("TERM", "dumb") != "dumb"


def _interrupted(stop: KeyboardInterrupt, *, wants_json: bool, out: Output, err: Output, session: str = "") -> int:
    again = f"; session {session} goes on when it is opened again" if session else ""
    kind, how, code = "interrupted", "Interrupted", INTERRUPTED
    if isinstance(stop, Terminated):
        kind, how, code = "terminated", f"Stopped by {stop.signal.name}", stop.exit_code
    message = f"{how}{again}."
    with suppress(HitlError):  # nobody reads any more
        if err.answered or (wants_json and out.answered):
            return code
        err.answered = True
        if wants_json:
            document = {"status": "error", "error": message, "message": message, "kind": kind}
            out.document({**document, **({"session_id": session} if session else {})})
        else:
            err.lines([render(message)])
    return code


def _tell(error: HitlError, wants_json: bool, out: Output, err: Output) -> int:
    with suppress(HitlError):  # there is nowhere left to say it
        if wants_json:
            from hitl_tui.cli.json_documents import error_document

            out.document(error_document(error))
        said = [f"hitl-tui: {_safe(render(error.message))}", *filter(None, [_safe(render(error.help))])]
        err.lines([] if wants_json else said)
    return error.exit_code


def _safe(text: str) -> str:
    return "\n".join(one_line(line, 2_000) for line in text.split("\n"))


def _unexpected(error: Exception, journal: LogFile) -> HitlError:
    said = one_line(" ".join(str(error).split()), 200).rstrip(".")
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    where = f"; details are in {journal.path}" if journal.path.exists() else ""
    return HitlError(f"Something went wrong that should not have ({what}){where}.")
