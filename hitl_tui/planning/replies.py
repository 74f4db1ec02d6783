"""Plain words that answer a question or call for help instead of changing a plan: `yes`, `1`, `승인`, `help`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

_LONGEST = 60
_MARKS = " \t\n.,!~。！…\"'“”‘’`()[]<>"
_NUMBER = re.compile(r"(?:no\.? ?|#)?[0-9]{1,4}번?|todo[_ ]?[0-9]{1,4}")


class Reply(StrEnum):
    """What a person means who types such words at the prompt."""

    DECISION = "decision"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class ReplyWords:
    """The words, in lower case.

    Args:
        meaning: what each word or run of words means by itself.
        decides: those that decide, whatever stands beside them of `beside`.
        beside: words that may stand there.
    """

    meaning: Mapping[str, Reply]
    decides: frozenset[str]
    beside: frozenset[str]


@cache
def load_replies() -> ReplyWords:
    """Return the words that ship with the package (read once, never changed)."""
    import tomllib
    from importlib import resources

    text = resources.files("hitl_tui.planning").joinpath("replies.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    decides, alone, beside = (frozenset(map(_plain, data["decision"][name])) for name in ("words", "alone", "beside"))
    meaning = {
        **dict.fromkeys(map(_plain, data["help"]["words"]), Reply.HELP),
        **dict.fromkeys(decides | alone, Reply.DECISION),
    }
    return ReplyWords(meaning, decides, beside)


def reply_of(text: str, words: ReplyWords) -> Reply | None:
    """Return what a text means that is nothing but an answer or a call for help; None for any other text.

    Args:
        text: what a person typed.
        words: what is known, see `load_replies`.
    """
    if len(text) > _LONGEST:
        return None
    said = _plain(text)
    if said in words.meaning:
        return words.meaning[said]
    if _NUMBER.fullmatch(said):
        return Reply.DECISION
    parts = said.split()
    rest = [part for part in parts if part not in words.decides | words.beside and not _NUMBER.fullmatch(part)]
    return Reply.DECISION if not rest and not words.decides.isdisjoint(parts) else None


def calls_for_help(text: str) -> bool:
    """Return whether a text is nothing but a call for help."""
    return reply_of(text, load_replies()) is Reply.HELP


def _plain(text: str) -> str:
    """Return a text in one composed form and lower case, without marks at the ends of its words."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    stripped = (part.strip(_MARKS) for part in normal.split())
    return " ".join(part for part in stripped if part) or normal.strip()
