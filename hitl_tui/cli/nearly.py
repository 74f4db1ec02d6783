"""What is nearly a subcommand, and what is a question although its first word is one.

A question may stand on the command line without quotes, so its first word may look like a subcommand. What it is
depends on how near the word is *and* on what follows it:

- One word by itself is taken for a mistyped subcommand when it is near one, and for one that doesn't exist when it has
  the looks of a subcommand (`mcp`): nobody has to pay for a session that was meant to be something else.
- The first of several is, when it is one slip of the fingers away from a subcommand (`exprot`), is no English word of
  its own (`list`, `form`), and what follows are as many words as that subcommand takes, the first of them with the
  looks of a name: a session's id, a file, a graph. `exprot s1 x` is; `shows me the plan` is a question.
- Any first word is, when all that follows is the id of a session that exists, with one more word at most: `bogus s1`.
- A subcommand spelt rightly begins a question when more follows than it takes, beginning with a word that no session
  or file is called by: `show me the plan`, `open the report of May`.

Whoever means it otherwise writes `--` before the words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

TAKES: Mapping[str, int] = MappingProxyType(
    {
        "show": 1,
        "fork": 1,
        "export": 2,
        "import": 1,
        "delete": 1,
        "attach": 1,
        "open": 1,
        "audit": 2,
        "lint": 1,
        "starter": 1,
        "trust": 1,
        "sessions": 0,
        "prune": 0,
        "web": 0,
    }
)
"""Words that follow a subcommand at most; those that aren't here take a text."""
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
_KINDS = frozenset({"verify", "head", "export"})


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
        most = TAKES.get(command, len(following))
        fits = len(following) <= most and (_NAME.fullmatch(following[0]) or following[0] in _KINDS)
        if fits and is_slip(first, command):
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
    return len(words) > TAKES.get(command, len(words)) and _SENTENCE.fullmatch(words[0].lower()) is not None
