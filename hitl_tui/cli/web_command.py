"""`hitl-tui web`: the console in a browser of this machine."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.cli.settings import claimed, existing_workspace, operator_of
from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import MissingExtra
from hitl_tui.core.messages import Message
from hitl_tui.language import VARIABLE, _, language

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.cli.output import Output
    from hitl_tui.web.auth import Gate

PORT = 8765
_EXTRA = ("aiohttp", "textual_serve")


def web(job: Job) -> int:
    """Serve the console until Ctrl+C; return the exit code.

    Raises:
        BadInput: the host is no loopback address, the port can't be had, or there is no such workspace.
        MissingExtra: what it needs isn't installed.
    """
    from hitl_tui.web.auth import loopback

    if any(find_spec(name) is None for name in _EXTRA):
        raise MissingExtra(Message('The console in a browser needs the extra "web".'), help=install_help("web"))
    arguments = job.arguments
    address = loopback(arguments.host)
    command = _console_arguments(job)
    environ = {**os.environ, VARIABLE: language()}

    from hitl_tui.web.server import WebOptions, serve

    port = PORT if arguments.port is None else arguments.port
    ready = _announcing(job.out, job.data, environ, browse=not arguments.no_open)
    asyncio.run(serve(WebOptions(address, port, command, environ), ready))
    return 0


def _console_arguments(job: Job) -> tuple[str, ...]:
    """Return the argument vector that starts one console.

    Raises:
        BadInput: there is no such workspace, or the name can't be taken.
    """
    arguments = job.arguments
    workspace = existing_workspace(arguments.workspace)
    operator_of(arguments.by, os.environ, job.data)
    name = claimed(arguments.by, os.environ)
    by = (f"--as={name}",) if name else ()
    mode = ("--mode", arguments.mode) if arguments.mode else ()
    once = (f"--trust={arguments.trust}",) if arguments.trust else ()
    # -P: a file in the current folder is never taken for a module.
    own = (sys.executable, "-P", "-m", "hitl_tui")
    return (*own, f"--data={job.data}", f"--workspace={workspace}", *by, *mode, *once)


def _announcing(
    out: Output, data: Path, environ: Mapping[str, str], *, browse: bool
) -> Callable[[Gate], Callable[[], None]]:
    """Return what is done once it listens: print the address, open a browser; and what is cleared away in the end."""

    def announce(gate: Gate) -> Callable[[], None]:
        from hitl_tui.web.server import has_browser, open_browser

        def tell() -> None:
            out.lines([_("The console is at {address}").format(address=gate.entrance)])

        def renew() -> None:
            gate.renew()
            tell()

        tell()
        out.lines(
            [_("It lets one browser in, once. Enter makes a new address; Ctrl+C stops the console and what it runs.")]
        )
        page = open_browser(gate.entrance, data) if browse and has_browser(environ) else None
        forget = _at_enter(renew)

        def finish() -> None:
            forget()
            if page is not None:
                with suppress(OSError):
                    page.unlink(missing_ok=True)

        return finish

    return announce


def _at_enter(act: Callable[[], None]) -> Callable[[], None]:
    """Act when Enter is pressed at the terminal, if there is one; return what ends that."""
    loop, keyboard = asyncio.get_running_loop(), sys.stdin
    if keyboard is None or not keyboard.isatty():
        return lambda: None
    # Of its own, so that reading never waits: Ctrl+C right after Enter takes the line away again.
    number = os.open(os.ttyname(keyboard.fileno()), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def forget() -> None:
        if loop.remove_reader(number):
            os.close(number)

    def pressed() -> None:
        # In the background the terminal belongs to another program, and reading from it would stop this one.
        try:
            gone = os.tcgetpgrp(number) != os.getpgrp() or not os.read(number, 4_096)
        except BlockingIOError:
            return
        if gone:
            forget()
        else:
            act()

    loop.add_reader(number, pressed)
    return forget
