"""What can be written after `hitl-tui`, and what it means."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_tui.cli.given import CONSOLE, Arguments
from hitl_tui.cli.grammar import HelpAskedError
from hitl_tui.cli.nearly import is_sentence, looks_like_one, near_alone, near_first, nearest
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
        if command == CONSOLE and len(words := _words(argv)) == 1:
            _check_typing_mistake(words, argv)
        from hitl_tui.repl.signs import signs

        return Arguments(command, help=signs(parser.format_help()))
    words = known.pop("words", [])
    found = Arguments(command, text=" ".join(words), **known)
    if command == CONSOLE and words:
        _check_typing_mistake(words, argv)
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
            if word in COMMANDS and not is_sentence(word, _words(argv[place + 1 :])):
                return word, [*argv[:place], *argv[place + 1 :]]
            break
    return CONSOLE, list(argv)


def _words(argv: Sequence[str]) -> list[str]:
    """Return the words of a command line that are neither options nor values of options."""
    values = {place + 1 for place, word in enumerate(argv) if word in TAKE_VALUES}
    return [word for place, word in enumerate(argv) if place not in values and not word.startswith("-")]


def _check_typing_mistake(words: Sequence[str], argv: Sequence[str]) -> None:
    """Refuse what was meant for a subcommand; `nearly` says what that is.

    Raises:
        BadInput: the nearest is named, and how to ask these words all the same.
    """
    if "--" in argv:
        return
    near = near_first(words, COMMANDS) if len(words) > 1 else near_alone(words[0], COMMANDS)
    if near:
        raise BadInput(
            f'There is no command "{one_line(words[0], 40)}"; did you mean hitl-tui {near}?', help=_asking(words)
        )
    if len(words) == 1 and looks_like_one(words[0]):
        raise _nearest(words)


def _nearest(words: Sequence[str]) -> BadInput:
    if not (found := nearest(words[0], COMMANDS)):
        return no_command(words)
    named = ", ".join(f"hitl-tui {name}" for name in found)
    sentence = (
        f'There is no command "{one_line(words[0], 40)}"; the nearest are {named}, and hitl-tui --help lists all.'
    )
    return BadInput(sentence, help=_asking(words))


def no_command(words: Sequence[str]) -> BadInput:
    """Return what is said about words that were meant for a subcommand, which isn't near any."""
    return BadInput(f'There is no command "{one_line(words[0], 40)}"; hitl-tui --help lists all.', help=_asking(words))


def _asking(words: Sequence[str]) -> str:
    said = one_line(" ".join(words), 40)
    if len(words) == 1:
        return f"To ask just this word: hitl-tui -- {said}"
    return f"To ask just these words: hitl-tui -- {said}"
