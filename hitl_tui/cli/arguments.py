"""What can be written after `hitl-tui`, and what it means."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hitl_tui.cli.given import CONSOLE, Arguments
from hitl_tui.cli.grammar import HelpAskedError
from hitl_tui.cli.subcommands import PARSERS, TAKE_VALUES
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line

COMMANDS = tuple(name for name in PARSERS if name != CONSOLE)


def parse(argv: Sequence[str]) -> Arguments:
    """Return what a command line means.

    Raises:
        BadInput: it means nothing; the usage is in `help`.
    """
    command, rest = _command(argv)
    parser = PARSERS[command]()
    try:
        known = vars(parser.parse_intermixed_args(rest))
    except HelpAskedError:
        from hitl_tui.repl.signs import signs

        return Arguments(command, help=signs(parser.format_help()))
    words = known.pop("words", [])
    found = Arguments(command, text=" ".join(words), **known)
    if command == CONSOLE and len(words) == 1:
        _check_typing_mistake(words[0], argv)
    return found


def _command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Return the subcommand and everything else; options may stand before it."""
    skip = False
    for place, word in enumerate(argv):
        if skip:
            skip = False
        elif word == "--":
            break
        elif word in TAKE_VALUES:
            skip = True
        elif not word.startswith("-") or word == "-":
            if word in COMMANDS:
                return word, [*argv[:place], *argv[place + 1 :]]
            break
    return CONSOLE, list(argv)


def _check_typing_mistake(word: str, argv: Sequence[str]) -> None:
    near = difflib.get_close_matches(word.lower(), COMMANDS, n=1, cutoff=0.75)
    if near and "--" not in argv:
        raise BadInput(
            f'There is no command "{one_line(word, 40)}"; did you mean hitl-tui {near[0]}?',
            help=f"To ask just this word: hitl-tui -- {one_line(word, 40)}",
        )
