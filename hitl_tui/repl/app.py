"""Line mode: the same sessions and commands in plain lines, for any terminal, a screen reader or a pipe."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager, redirect_stdout, suppress
from shutil import get_terminal_size
from typing import Protocol, TextIO, cast

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.repl.announcer import Say
from hitl_tui.repl.line_session import KEYS, NUMBERS, LineSession
from hitl_tui.repl.line_source import LineSource, PlainLines
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.termination import run_until_terminated
from hitl_tui.terminal.ascii_signs import _, writable
from hitl_tui.terminal.token_prompt import ask_token
from hitl_tui.wording.text_lines import Whole, is_terminal, terminal_width, wrapped

Again = Callable[[str], str]
Heard = Callable[[Sequence[str]], None]


class Apart(Protocol):
    """Points the process's own descriptors away from the terminal between `begin` and `end`."""

    def begin(self) -> None:
        """Begin; what is written there from now on is heard, and nothing is read there."""

    def end(self) -> None:
        """Put them back to what they were."""


_BESIDE = 3
"""Lines that the prompt and what stands below it take of a terminal, and the empty one above a question."""


def run_line_mode(
    options: OpenOptions,
    say: Say,
    again: Again,
    apart: Callable[[Heard], Apart] | None = None,
    alone: Callable[[Heard], AbstractContextManager[None]] | None = None,
) -> int:
    """Talk in lines until the input ends.

    Args:
        options: how it begins.
        say: prints lines on standard output; not used where a prompt has the terminal.
        again: returns the shell command that opens a session by id.
        apart: makes what keeps writing and reading by others from a prompt's terminal; None lets them.
        alone: keeps standard output for `say` where there is no prompt; None lets others write there.

    Returns:
        The exit code. At a terminal 0; from a pipe 0 finished, 3 waiting for a decision, 1 failed, 2 when a line was
        refused.

    Raises:
        HitlError: it can't begin, or the session can't go on.
    """
    return run_until_terminated(_talk(options, say, again, apart, alone))


async def _talk(
    options: OpenOptions,
    say: Say,
    again: Again,
    apart: Callable[[Heard], Apart] | None,
    alone: Callable[[Heard], AbstractContextManager[None]] | None,
) -> int:
    async with AsyncExitStack() as stack:
        registry = await stack.enter_async_context(SessionRegistry.open(options.data, once=options.once))
        at_terminal = is_terminal(sys.stdin, sys.stdout)  # later, `sys.stdout` may be what keeps the prompt below
        if not at_terminal or os.environ.get("TERM", "dumb") == "dumb":
            own = sys.stdout is sys.__stdout__

            def say_fitted(lines: Sequence[str]) -> None:  # `alone` keeps the terminal as the latter
                say(_fitted(lines, sys.__stdout__ if own else sys.stdout))

            talk = LineSession(options, registry, say_fitted, again, _nothing, _ask_token, bound=not at_terminal)
            if alone is not None:
                stack.enter_context(alone(_in_loop(talk.strayed)))
            return await talk.converse(_Ending(_lines(), say_fitted))
        from prompt_toolkit.patch_stdout import patch_stdout

        from hitl_tui.repl.prompt import HISTORY, PromptLines, open_history

        shown: list[PromptLines] = []

        def changed() -> None:
            for prompt in shown:
                prompt.app.invalidate()

        if apart is not None and is_terminal(sys.stderr):
            stack.enter_context(_kept_apart(apart, lambda lines: talk.strayed(lines)))
        stack.enter_context(patch_stdout())
        # It keeps the prompt below what is printed. What `sys.stdout` is while a graph runs hands it to the graph's
        # TODO, and so back to us.
        terminal = sys.stdout

        def show(lines: Sequence[str]) -> None:
            terminal.write("".join(f"{line}\n" for line in _fitted(lines, terminal)))
            terminal.flush()

        def fits(lines: Sequence[str]) -> bool:
            return len(_fitted(lines, terminal)) + _BESIDE <= get_terminal_size().lines

        talk = LineSession(options, registry, show, again, changed, _ask_token, fits=fits)
        history = stack.enter_context(open_history(options.data / HISTORY, talk.masked))
        lines = PromptLines(
            history,
            talk.completions,
            talk.prompt,
            talk.toolbar,
            talk.typing_began,
            show,
            talk.hint,
            keys={*KEYS, *NUMBERS},
        )
        shown.append(lines)
        return await talk.converse(lines)


@contextmanager
def _kept_apart(apart: Callable[[Heard], Apart], strayed: Heard) -> Iterator[None]:
    """Have the terminal for the prompt alone; `strayed` gets what is written past it, in the event loop."""
    from prompt_toolkit.application import get_app_session

    with ExitStack() as stack:
        reading, writing = stack.enter_context(_own(sys.stdin, "r")), stack.enter_context(_own(sys.stdout, "w"))
        # The session that threads know, too, takes what is there when it is first asked; one of our own they wouldn't.
        before, sys.stdin = sys.stdin, reading
        try:
            with redirect_stdout(writing):
                for end in ("input", "output"):
                    getattr(get_app_session(), end)
        finally:
            sys.stdin = before
        kept = apart(_in_loop(strayed))
        stack.callback(kept.end)
        kept.begin()
        yield


def _in_loop(strayed: Heard) -> Heard:
    """Return what hears lines on any thread and hands them on in the event loop."""
    loop = asyncio.get_running_loop()

    def heard(lines: Sequence[str]) -> None:
        with suppress(RuntimeError):  # line mode was left meanwhile
            loop.call_soon_threadsafe(strayed, lines)

    return heard


def _own(file: TextIO, mode: str) -> TextIO:
    """Return the same file by a descriptor of its own."""
    return cast("TextIO", os.fdopen(os.dup(file.fileno()), mode, encoding=file.encoding, errors=file.errors))


def _lines() -> PlainLines:
    if sys.stdin is None:
        return PlainLines(None, waits=True)
    try:
        return PlainLines(sys.stdin.fileno(), waits=not sys.stdin.isatty())
    except (OSError, ValueError) as error:
        raise StorageError(Message("Standard input can't be read.")) from error


class _Ending:
    """Lets Ctrl-D at a terminal count only when it is pressed twice; the end of a pipe is the end."""

    def __init__(self, source: LineSource, say: Say) -> None:
        self._source = source
        self._say = say

    @property
    def waits(self) -> bool:
        return self._source.waits

    @property
    def key(self) -> str:
        return self._source.key

    async def next(self) -> str | None:
        line = await self._source.next()
        if line is None and not self._source.waits:
            self._say([_("Press Ctrl-D again to leave; leaving decides nothing.")])
            return await self._source.next()
        return line


def _fitted(lines: Sequence[str], stream: TextIO | None) -> list[str]:
    """Return lines as they can be written, broken between words where a stream is a terminal's; else whole."""
    written = (Whole(writable(line)) if isinstance(line, Whole) else writable(line) for line in lines)
    return wrapped(written, terminal_width(stream))


async def _ask_token(question: str) -> str:
    """Ask at the controlling terminal, whatever lines come from; the prompt isn't there meanwhile."""
    return await asyncio.to_thread(ask_token, question)


def _nothing() -> None:
    return None
