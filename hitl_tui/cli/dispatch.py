"""Dispatch of a command line to its subcommand, and of errors to an exit code."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.fast_args import CONSOLE, Arguments, language_of, plain
from hitl_tui.cli.output import Output, standard
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import VARIABLE, translate, using
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.supervisor.termination import Terminated, Termination
from hitl_tui.tracing.langsmith import flush_traces, let_go_at_exit

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.cli.log_file import LogFile

OK, INTERRUPTED = 0, 130
_FEW = 3
_TRACERS = ("langsmith", "opentelemetry")
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
        with using(code), _passed_on(VARIABLE, code), ending.noting():
            return _understood(argv, began, secrecy, out, err)
    except KeyboardInterrupt as stop:
        return _interrupted(stop, wants_json=wants_json, out=out, err=err)


def _understood(argv: Sequence[str], began: str, secrecy: Secrecy, out: Output, err: Output) -> int:
    try:
        arguments = _read(argv)._replace(began=began, typed=tuple(argv))
        if arguments.help:
            out.lines([arguments.help.rstrip("\n")])
            return OK
        _check_names_session(arguments, argv)
        with _in_database(arguments.database):
            return _prepared(arguments, secrecy, out, err)
    except SystemExit as done:  # --version
        return done.code if isinstance(done.code, int) else OK
    except HitlError as error:
        return _tell(error, "--json" in argv, out, err)


@contextmanager
def _passed_on(name: str, value: str) -> Iterator[None]:
    """Let a variable of the environment have a value within a block: programs that are started there have it, too."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _in_database(given: str | None) -> AbstractContextManager[None]:
    """Let the environment name the database that the option names.

    Raises:
        BadInput: it isn't one, or holds a password.
    """
    if given is None:
        return nullcontext()
    from hitl_tui.config.postgres_address import ENVIRONMENT, database_address
    from hitl_tui.config.postgres_address import OPTION as DATABASE

    if not given.strip():
        raise BadInput("--database needs the address of a PostgreSQL database.")
    return _passed_on(ENVIRONMENT, database_address(given.strip(), DATABASE))


def _look_here(arguments: Arguments | None, secrecy: Secrecy) -> None:
    """Let what the current folder and the workspace that is named declare be masked."""
    from hitl_tui.cli.settings import data_folder, workspace_folder

    named = () if arguments is None or not arguments.workspace else (arguments.workspace,)
    once = (arguments.trust.strip().lower(),) if arguments is not None and arguments.trust else ()
    with suppress(BadInput):  # it is said where they are needed
        data = data_folder(arguments.data if arguments is not None else None, os.environ)
        secrecy.look_in([workspace_folder(place) for place in (None, *named)], data, once)


_NAMES: Mapping[str, str] = {"by": "--as", "name": "NAME", "account": "--account"}
"""Arguments that name a person or thing for good, and how they are called."""

_PLACES = frozenset(
    {"began", "data", "database", "feedback", "file", "help", "host", "http", "jobs", "listen", "masc_dir", "metrics"}
    | {"policy", "saver", "session", "source", "target", "to", "trust", "workspace"}
)
"""Arguments that say where something is, or that aren't kept."""


def _masked(arguments: Arguments, secrecy: Secrecy) -> Arguments:
    """Return a command line in which each word that somebody wrote has the names of secrets.

    Raises:
        BadInput: a name holds one.
    """
    names = {option: getattr(arguments, field) or "" for field, option in _NAMES.items()}
    for option, name in {**names, "HITL_USER": os.environ.get("HITL_USER", "")}.items():
        if held := secrecy.held(name):
            raise BadInput(Message("{} holds the secret {}; choose another name.", option, held))
    words: dict[str, Any] = {
        field: secrecy.mask(text)
        for field, text in arguments._asdict().items()
        if isinstance(text, str) and field not in _PLACES
    }
    return arguments._replace(**words)


def _read(argv: Sequence[str]) -> Arguments:
    if (arguments := plain(argv)) is not None:
        return arguments
    from hitl_tui.cli.arguments import parse

    return parse(argv)


def _check_names_session(arguments: Arguments, argv: Sequence[str]) -> None:
    """Refuse a word that is no subcommand before the id of a session: nobody asks that (see `arguments`).

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
    from hitl_tui.cli.job import Job
    from hitl_tui.cli.log_file import LogFile
    from hitl_tui.cli.settings import data_folder

    data = data_folder(arguments.data, os.environ)
    _look_here(arguments, secrecy)
    arguments = _masked(arguments, secrecy)
    journal = LogFile(data, secrecy)
    stdin = sys.stdin.buffer if sys.stdin is not None else None
    root = logging.getLogger()
    root.addHandler(journal)
    for name in _TRACERS:  # what they say once the journal is closed goes nowhere
        logging.getLogger(name).addHandler(logging.NullHandler())
    let_go_at_exit(os.environ)
    sys.unraisablehook = log_unraisable
    try:
        return _guarded(Job(arguments, data, dict(os.environ), out, err, journal, stdin))
    finally:
        flush_traces()
        root.removeHandler(journal)
        journal.close()


def log_unraisable(found: sys.UnraisableHookArgs) -> None:
    """Keep an error that nobody can catch for the log: a signal may end a loop whose processes are still there."""
    with suppress(Exception):  # Python may be at its end
        log.info("%s %r", found.err_msg or "Exception ignored in", found.object, exc_info=found.exc_value)


def _guarded(job: Job) -> int:
    wants_json = job.arguments.json
    ending = Termination.current()

    def interrupted(stop: KeyboardInterrupt) -> int:
        return _interrupted(stop, wants_json=wants_json, out=job.out, err=job.err, session=job.session_id)

    ending.last_words = interrupted
    try:
        with ending.raising():
            done = _function(job.arguments.command)(job)
            return done if isinstance(done, int) else job.run(done)
    except KeyboardInterrupt as stop:
        return interrupted(stop)
    except HitlError as error:
        log.info("%s", error.message, exc_info=error)
        return _tell(error, wants_json, job.out, job.err)
    except Exception as error:
        log.exception("unexpected")
        return _tell(_unexpected(error, job.log), wants_json, job.out, job.err)


def _function(command: str) -> Callable[[Job], int | Coroutine[Any, Any, int]]:
    """Return what carries a subcommand out; the table of them isn't loaded for the console."""
    if command == CONSOLE:
        from hitl_tui.cli.console_command import console

        return console
    from hitl_tui.cli.subcommands import SUBCOMMANDS
    from hitl_tui.supervisor.module_loading import importing

    with importing():
        return SUBCOMMANDS[command].load()


def _interrupted(stop: KeyboardInterrupt, *, wants_json: bool, out: Output, err: Output, session: str = "") -> int:
    again = Message("; session {} continues when opened again", session) if session else ""
    kind, how, code = "interrupted", "Interrupted", INTERRUPTED
    if isinstance(stop, Terminated):
        kind, how, code = "terminated", Message("Stopped by {}", stop.signal.name), stop.exit_code
    message = f"{how}{again}."
    with suppress(HitlError):  # nobody reads any more
        if err.answered or (wants_json and out.answered):
            return code
        err.answered = True
        if wants_json:
            document = {"status": "error", "error": message, "message": message, "kind": kind}
            out.document({**document, **({"session_id": session} if session else {})})
        else:
            err.lines([translate(message)])
    return code


def _tell(error: HitlError, wants_json: bool, out: Output, err: Output) -> int:
    with suppress(HitlError):  # there is nowhere left to say it
        if wants_json:
            from hitl_tui.cli.json_documents import error_document

            out.document(error_document(error))
        said = [f"hitl-tui: {_safe(translate(error.message))}", *filter(None, [_safe(translate(error.help))])]
        err.lines([] if wants_json else said)
    return error.exit_code


def _safe(text: str) -> str:
    return "\n".join(one_line(line, 2_000) for line in text.split("\n"))


_STARTED = 19
"""Place of the start time among the fields of /proc/self/stat that follow the program's name."""


def process_start() -> str:
    """Return when this process was started, ISO 8601, UTC; where the system doesn't say it, now.

    Nobody gave its command later.
    """
    now = datetime.now(UTC)
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        age = max(0.0, uptime - int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        age = 0.0
    return (now - timedelta(seconds=age)).isoformat(timespec="microseconds")


def _unexpected(error: Exception, journal: LogFile) -> HitlError:
    said = one_line(" ".join(str(error).split()), 200).rstrip(".")
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    where = Message("; details are in {}", journal.path) if journal.path.exists() else ""
    return HitlError(Message("Unexpected error ({}){}.", what, where))
