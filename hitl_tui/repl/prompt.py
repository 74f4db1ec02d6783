"""The prompt of line mode at a terminal: history, completion, a toolbar; lines that come meanwhile don't disturb it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer
from prompt_toolkit.completion import Completion as Shown
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from hitl_tui.commands.completion import Completion
from hitl_tui.language import mark, render
from hitl_tui.repl.signs import _, signs, writable

HISTORY = "line-history"
_LONGEST_KEPT = 10_000
_BYTES_KEPT = 1_000_000

_AGAIN = mark("Press Ctrl-D again to leave; leaving decides nothing.")


class CommandCompleter(Completer):
    """Hands the commands' completions to prompt_toolkit.

    Args:
        find: returns completions of a line at a cursor.
    """

    def __init__(self, find: Callable[[str, int], Awaitable[list[Completion]]]) -> None:
        self._find = find

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Shown]:
        """Return nothing: what there is has to be awaited."""
        yield from ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Shown, None]:
        cursor = document.cursor_position
        for found in await self._find(document.text, cursor):
            yield Shown(
                found.text, found.start - cursor, display=writable(found.display), display_meta=_meta(found.help)
            )


def _meta(help: str) -> str:
    """Return what stands beside a completion; its first word says how something stands, the rest names it."""
    first, dot, rest = help.partition(" · ")
    return writable(render(help) if not dot else f"{render(first)}{signs(dot)}{rest}")


class _KeptHistory(FileHistory):
    def store_string(self, string: str) -> None:
        if len(string) > _LONGEST_KEPT:
            return  # it is there until the program ends
        try:
            super().store_string(string)
        except OSError:  # a full disk costs the history of this line, not the session
            return


def open_history(path: Path) -> History:
    """Return the history kept in a file that only its owner can read, or one in memory where that can't be."""
    try:
        path.touch(mode=0o600)
        _shorten(path)
    except OSError:
        return InMemoryHistory()
    return _KeptHistory(str(path))


def _shorten(path: Path) -> None:
    """Keep the last lines of a history that has grown too long; prompt_toolkit reads all of it, and only adds."""
    size = path.stat().st_size
    if size <= _BYTES_KEPT:
        return
    with path.open("rb") as file:
        file.seek(size - _BYTES_KEPT // 2)
        kept = file.read()
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    # An entry begins with an empty line and the comment that says when.
    fresh.write_bytes(kept[kept.find(b"\n# ") + 1 :])
    fresh.chmod(0o600)
    fresh.replace(path)


class PromptLines:
    """Lines typed at a terminal; see `Source`.

    Args:
        history: file that earlier lines are kept in.
        find: see `CommandCompleter`.
        prompt: returns what stands before the line.
        toolbar: returns what stands at the bottom.
        began: called when the first key of a line is typed.
        say: prints lines.
        hint: returns what stands at the bottom instead while a line is typed; empty for the toolbar.
    """

    waits = False

    def __init__(
        self,
        history: Path,
        find: Callable[[str, int], Awaitable[list[Completion]]],
        prompt: Callable[[], str],
        toolbar: Callable[[], str],
        began: Callable[[], None],
        say: Callable[[list[str]], None],
        hint: Callable[[str], str] = lambda line: "",
    ) -> None:
        self._prompt = prompt
        self._say = say
        self._began = began
        self._empty = True
        self._session: PromptSession[str] = PromptSession(
            history=open_history(history),
            completer=CommandCompleter(find),
            complete_while_typing=False,
            bottom_toolbar=lambda: writable(hint(self._session.default_buffer.text) or toolbar()),
        )
        self._session.default_buffer.on_text_changed += self._typed

    @property
    def app(self) -> Application[str]:
        return self._session.app

    async def next(self) -> str | None:
        """Return the next line; None when Ctrl-D was pressed twice. Ctrl-C drops what was typed."""
        ends = 0
        while True:
            self._empty = True
            try:
                return await self._session.prompt_async(self._prompt)
            except KeyboardInterrupt:
                ends = 0
            except EOFError:
                ends += 1
                if ends == 2:
                    return None
                self._say([_(_AGAIN)])

    def _typed(self, buffer: Buffer) -> None:
        empty = not buffer.text
        if self._empty and not empty:
            self._began()
        self._empty = empty
