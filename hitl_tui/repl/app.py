"""Line mode: the same sessions and commands in plain lines, for any terminal, a screen reader or a pipe (C9)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from hitl_tui.core.errors import StorageError
from hitl_tui.repl.announce import Say
from hitl_tui.repl.options import LineOptions
from hitl_tui.repl.signs import _, writable
from hitl_tui.repl.source import PlainLines, Source
from hitl_tui.repl.talk import Talk
from hitl_tui.supervisor.workbench import Workbench

Hide = Callable[[Mapping[str, str]], None]
Again = Callable[[str], str]


def run_line_mode(options: LineOptions, say: Say, hide: Hide, again: Again) -> int:
    """Talk in lines until the input ends.

    Args:
        options: how it begins.
        say: prints lines on standard output; not used where a prompt has the terminal.
        hide: is told the secrets that must not reach the log.
        again: returns the shell command that opens a session by id.

    Returns:
        The exit code. At a terminal 0; from a pipe 0 finished, 3 waiting for a decision, 1 failed, 2 when a line was
        refused.

    Raises:
        HitlError: it can't begin, or the session can't go on.
    """
    return asyncio.run(_talk(options, say, hide, again))


async def _talk(options: LineOptions, say: Say, hide: Hide, again: Again) -> int:
    async with AsyncExitStack() as stack:
        bench = await stack.enter_async_context(Workbench.open(options.data))
        if not _is_terminal(sys.stdin) or not _is_terminal(sys.stdout) or os.environ.get("TERM", "dumb") == "dumb":
            talk = Talk(options, bench, say, hide, again, _nothing)
            return await talk.converse(_Ending(_lines(), say))
        from prompt_toolkit.patch_stdout import patch_stdout

        from hitl_tui.repl.prompt import HISTORY, PromptLines

        stack.enter_context(patch_stdout())
        shown: list[PromptLines] = []

        def changed() -> None:
            for prompt in shown:
                prompt.app.invalidate()

        talk = Talk(options, bench, _print, hide, again, changed)
        history = options.data / HISTORY
        lines = PromptLines(history, talk.completions, talk.prompt, talk.toolbar, talk.typing_began, _print, talk.hint)
        shown.append(lines)
        return await talk.converse(lines)


def _lines() -> PlainLines:
    if sys.stdin is None:
        return PlainLines(None, waits=True)
    try:
        return PlainLines(sys.stdin.fileno(), waits=not sys.stdin.isatty())
    except (OSError, ValueError) as error:
        raise StorageError("Standard input can't be read.") from error


class _Ending:
    """Lets Ctrl-D at a terminal count only when it is pressed twice; the end of a pipe is the end."""

    def __init__(self, source: Source, say: Say) -> None:
        self._source = source
        self._say = say

    @property
    def waits(self) -> bool:
        return self._source.waits

    async def next(self) -> str | None:
        line = await self._source.next()
        if line is None and not self._source.waits:
            self._say([_("Press Ctrl-D again to leave; leaving decides nothing.")])
            return await self._source.next()
        return line


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())


def _print(lines: Sequence[str]) -> None:
    # patch_stdout puts its own stream there, which keeps the prompt below what is printed
    sys.stdout.write(writable("".join(f"{line}\n" for line in lines)))
    sys.stdout.flush()


def _nothing() -> None:
    return None
