"""A person's own editor: a text goes there and comes back, or a file is opened at a line."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import is_structured
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _


async def edited(text: str) -> str:
    """Let a person edit a text in their editor, which wants a line feed at its end.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    ended = text.endswith("\n")
    found = await text_from_editor(text if ended or not text else text + "\n", os.environ)
    return found if ended else found.removesuffix("\n")


async def text_from_editor(text: str, environ: Mapping[str, str]) -> str:
    """Let the person edit a text in $VISUAL or $EDITOR, and return it; the session's work goes on meanwhile.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    command = _words(environ.get("VISUAL") or environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="hitl-") as folder:
        path = Path(folder) / ("input.json" if is_structured(text) else "input.txt")
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        if code := await _run([*command, str(path)]):
            raise BadInput(_("The editor ended with exit code {code}; nothing was taken from it.").format(code=code))
        return path.read_text(encoding="utf-8", errors="surrogateescape")


def chosen_program(environ: Mapping[str, str]) -> str:
    """Return what a person opens files with: $VISUAL, $EDITOR or $PAGER; empty where they chose none."""
    return next((chosen for name in _CHOSEN_BY if (chosen := environ.get(name))), "")


async def open_at(path: Path, line: int, environ: Mapping[str, str]) -> None:
    """Open a file at a line in the program that the person chose, or in `less` or `vi`, and wait until it is left.

    Raises:
        BadInput: there is none of them, or it failed.
    """
    named = chosen_program(environ)
    command = _words(named or next((name for name in _USUAL if shutil.which(name)), _USUAL[-1]))
    if code := await _run([*command, *place_arguments(command, path, line)]):
        said = _('"{command}" ended with exit code {code}.')
        raise BadInput(said.format(command=one_line(Path(command[0]).name, 60), code=code))


def place_arguments(command: Sequence[str], path: Path, line: int) -> list[str]:
    """Return what a command is given to open a file at a line; only the file where its way to name one isn't known."""
    program = Path(command[0]).name.removesuffix(".exe")
    for programs, arguments in _PLACES:
        if line and program in programs.split():
            return [text.format(path=path, line=line) for text in arguments]
    return [str(path)]


_CHOSEN_BY = ("VISUAL", "EDITOR", "PAGER")
_USUAL = ("less", "more", "vi")
_PLACES = (
    (
        "vi vim nvim view gvim ex elvis nano pico emacs emacsclient mg joe jed ne kak micro gedit less more most",
        ("+{line}", "{path}"),
    ),
    ("code code-insiders codium vscodium cursor windsurf", ("--goto", "{path}:{line}")),
    ("hx helix subl zed lapce", ("{path}:{line}",)),
    ("kate idea pycharm webstorm goland clion rubymine", ("--line", "{line}", "{path}")),
)
"""Programs, and how they are told the line that they are to show."""


def _words(command: str) -> list[str]:
    """Return a command of the environment as words. Raises BadInput: it can't be read as any."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _unusable(command, error) from error
    return words or ["vi"]


async def _run(command: Sequence[str]) -> int:
    """Run a program at the terminal and return its exit code. Raises BadInput: it can't be started."""
    try:
        with _terminal() as terminal, _keyboard_signals_ignored():
            # Without a locale, `less` takes text that isn't ASCII for a binary file.
            environ = {"LESSCHARSET": "utf-8", **os.environ}
            process = await asyncio.create_subprocess_exec(*command, stdin=terminal, stdout=terminal, env=environ)
            return await process.wait()
    except (OSError, ValueError) as error:
        raise _unusable(shlex.join(command[:1]), error) from error


@contextmanager
def _keyboard_signals_ignored() -> Iterator[None]:
    """Leave Ctrl+C and Ctrl+\\ to the program at the terminal; they reach every process there."""
    # Not SIG_IGN, which the program would inherit.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _terminal() -> Iterator[int | None]:
    """Open the terminal itself, as what graphs write may be kept from it; None where there is none."""
    try:
        opened = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        yield opened
    finally:
        os.close(opened)


def _unusable(command: str, error: Exception) -> BadInput:
    said = _('The editor "{said}" can\'t be started ({error}); set EDITOR to a working one.')
    return BadInput(said.format(said=one_line(command, 60), error=error))
