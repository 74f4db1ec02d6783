"""The command line: subcommands call the packages below, and nothing heavy loads before it is used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

from hitl_tui.version import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run `hitl-tui`.

    Args:
        argv: arguments without the program's name; None for the process's own.

    Returns:
        The exit code: 0 done or finished, 1 failed, 2 bad input, 3 waiting for a decision, 4 rejected, 130 interrupted,
        129 the terminal was closed, 143 stopped by SIGTERM.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        if given == ["--version"]:  # nothing has to load for it
            return _version()
        if given[:1] == ["hook"]:  # a program waits for it before every call of its agent
            from hitl_tui.cli.hook_command import main as hook

            return hook(given)
        from hitl_tui.supervisor.termination import Termination

        with Termination().noting():
            from hitl_tui.cli.dispatch import process_start, run

            return run(given, process_start() if argv is None else "")
    except KeyboardInterrupt as stop:  # before anything was begun
        return int(getattr(stop, "exit_code", 130))


def _version() -> int:
    from hitl_tui.cli.output import standard
    from hitl_tui.core.errors import StorageError
    from hitl_tui.policy.secrecy import Secrecy

    out, err = standard(Secrecy())
    try:
        out.lines([f"hitl-tui {__version__}"])
    except StorageError as error:
        with suppress(StorageError):  # there is nowhere left to say it
            err.lines([f"hitl-tui: {error.message}"])
        return error.exit_code
    return 0
