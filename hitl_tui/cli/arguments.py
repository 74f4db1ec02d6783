"""Parsing of the command line, and what is said of a mistyped one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from hitl_tui.cli.fast_args import CONSOLE, Arguments
from hitl_tui.cli.subcommands import ALL_TAKE, SUBCOMMANDS, HelpAskedError, Parser
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

COMMANDS = tuple(name for name in SUBCOMMANDS if name != CONSOLE)
_TAKE_VALUES = frozenset(
    name
    for subcommand in SUBCOMMANDS.values()
    for one in (*ALL_TAKE, *subcommand.exclusive, *subcommand.options)
    if one.takes_value
    for name in one.names
)
"""Options that are followed by a value: one of any subcommand may stand before the subcommand's name."""
_NEAR, _DISTANT = 0.75, 0.5
_LOOKS = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*", re.ASCII)
_SENTENCE = re.compile(
    "a|about|all|an|and|any|are|at|by|can|do|does|every|for|from|how|i|in|is|it|its|me|my|of|on|or|our|that|the|their|"
    "there|these|this|those|to|us|was|we|what|when|where|which|who|why|with|you|your"
)
_ENGLISH = re.compile(
    "list|lines?|link|hint|form|for|fort|ford|forks|shows|shoe|shop|slow|expert|expect|exports|imports|audits|opens|"
    "opened|oven|deletes|deleted|attack|attacks|session|start|starters|renames|renamed|prone|pruned|we|wed|ran|rub|ruin|"
    "rung|due|dog"
)
_NAME = re.compile(r"(?=.*[A-Za-z])\S*[0-9./\\:_~]\S*[A-Za-z0-9]|[A-Za-z]+[0-9]+", re.ASCII)


def near_alone(word: str, commands: Sequence[str]) -> str:
    """Return the subcommand that a word by itself is near to; empty for none."""
    return next(iter(difflib.get_close_matches(word.lower(), commands, n=1, cutoff=_NEAR)), "")


def looks_like_one(word: str) -> bool:
    """Return whether a word by itself has the looks of a subcommand; a question of one word seldom has."""
    return _LOOKS.fullmatch(word) is not None


def nearest(word: str, commands: Sequence[str]) -> list[str]:
    """Return up to three subcommands that a word has something of, the nearest first."""
    return difflib.get_close_matches(word, commands, n=3, cutoff=_DISTANT)


def near_first(words: Sequence[str], commands: Sequence[str]) -> str:
    """Return the subcommand that the first of several words was meant to be; empty where they are a question."""
    first, following = words[0].lower(), words[1:]
    if not following or _ENGLISH.fullmatch(first) or first in commands:
        return ""
    for command in commands:
        subcommand = SUBCOMMANDS[command]
        fits = _NAME.fullmatch(following[0]) or following[0] in subcommand.actions
        if fits and is_slip(first, command) and not _too_many(command, following):
            return command
    return ""


def is_slip(word: str, meant: str) -> bool:
    """Return whether a word is another one with a letter too many, too few, another, or two the wrong way round.

    The first letter is seldom the wrong one: `how` is no `show`.
    """
    if word == meant or word[:1] != meant[:1] or abs(len(word) - len(meant)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant)))
    left, right = word[start:], meant[start:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]


def is_sentence(command: str, words: Sequence[str]) -> bool:
    """Return whether a subcommand's name begins a question.

    Args:
        command: its name.
        words: what follows it, without options.
    """
    return _too_many(command, words) and _SENTENCE.fullmatch(words[0].lower()) is not None


def _too_many(command: str, words: Sequence[str]) -> bool:
    most = SUBCOMMANDS[command].most_words
    return most is not None and len(words) > most


def parse(argv: Sequence[str]) -> Arguments:
    """Return what a command line means.

    Raises:
        BadInput: it means nothing; the usage is in `help`.
    """
    command, rest = _command(argv)
    parser = Parser(command)
    try:
        known = vars(parser.parse_intermixed_args(rest))
    except HelpAskedError:
        if command == CONSOLE and len(words := _words(argv)) == 1:
            _check_typing_mistake(words, argv)
        from hitl_tui.terminal.ascii_signs import signs

        return Arguments(command, help=signs(parser.format_help()))
    words = known.pop("words", [])
    del known["lang"]  # `language_of` read it before
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
        elif word in _TAKE_VALUES:
            skip = True
        elif not word.startswith("-") or word == "-":
            if word in COMMANDS and not is_sentence(word, _words(argv[place + 1 :])):
                return word, [*argv[:place], *argv[place + 1 :]]
            break
    return CONSOLE, list(argv)


def _words(argv: Sequence[str]) -> list[str]:
    """Return the words of a command line that are neither options nor values of options."""
    values = {place + 1 for place, word in enumerate(argv) if word in _TAKE_VALUES}
    return [word for place, word in enumerate(argv) if place not in values and not word.startswith("-")]


def _check_typing_mistake(words: Sequence[str], argv: Sequence[str]) -> None:
    """Refuse what was meant for a subcommand.

    Raises:
        BadInput: the nearest is named, and how to ask these words all the same.
    """
    if "--" in argv:
        return
    near = near_first(words, COMMANDS) if len(words) > 1 else near_alone(words[0], COMMANDS)
    if near:
        raise BadInput(
            Message('Unknown command "{}". Did you mean hitl-tui {}?', one_line(words[0], 40), near),
            help=_asking(words),
        )
    if len(words) == 1 and looks_like_one(words[0]):
        raise _nearest(words)


def _nearest(words: Sequence[str]) -> BadInput:
    if not (found := nearest(words[0], COMMANDS)):
        return no_command(words)
    named = ", ".join(f"hitl-tui {name}" for name in found)
    sentence = Message('Unknown command "{}". Nearest: {}. hitl-tui --help lists all.', one_line(words[0], 40), named)
    return BadInput(sentence, help=_asking(words))


def no_command(words: Sequence[str]) -> BadInput:
    """Return what is said about words that were meant for a subcommand, which isn't near any."""
    return BadInput(
        Message('Unknown command "{}". hitl-tui --help lists all.', one_line(words[0], 40)), help=_asking(words)
    )


def _asking(words: Sequence[str]) -> str:
    said = one_line(" ".join(words), 40)
    if len(words) == 1:
        return Message("To ask just this word: hitl-tui -- {}", said)
    return Message("To ask just these words: hitl-tui -- {}", said)
