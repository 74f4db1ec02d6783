"""Plain words that answer a question or call for help instead of changing a plan: `yes`, `1`, `승인`, `help`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

_LONGEST = 60
_MARKS = " \t\n.,!~。！…\"'“”‘’`()[]<>"
_NUMBER = re.compile(r"(?:no\.? ?|#)?[0-9]{1,4}번?|todo[_ ]?[0-9]{1,4}")


class Reply(StrEnum):
    """What a person means who types such words at the prompt; the record is who decided what."""

    DECISION = "decision"
    HELP = "help"
    RECORD = "record"


@cache
def load_replies() -> Mapping[str, frozenset[str]]:
    """Return the words of replies.toml by table and list, in lower case (read once, never changed)."""
    from hitl_tui.meaning.expressions import word_file  # it reads TOML, which the first frame doesn't need

    data = word_file(__package__, "replies.toml")
    return {f"{of}.{name}": frozenset(map(_plain, words)) for of in data for name, words in data[of].items()}


def reply_of(text: str, words: Mapping[str, frozenset[str]]) -> Reply | None:
    """Return what a text means that is nothing but an answer, or a call for help or the record; None for others."""
    said = _plain(text)
    if len(text) > _LONGEST:
        return None
    if said in words["help.words"]:
        return Reply.HELP
    if said.rstrip("?") in words["record.words"]:
        return Reply.RECORD
    if said in words["decision.words"] | words["decision.alone"] or _NUMBER.fullmatch(said):
        return Reply.DECISION
    parts = {part for part in said.split() if not _NUMBER.fullmatch(part)}
    known = words["decision.words"] | words["decision.beside"]
    return Reply.DECISION if parts <= known and parts & words["decision.words"] else None


def calls_for_help(text: str) -> bool:
    """Return whether a text is nothing but a call for help."""
    return reply_of(text, load_replies()) is Reply.HELP


def _plain(text: str) -> str:
    """Return a text in one composed form and lower case, without marks at the ends of its words."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    stripped = (part.strip(_MARKS) for part in normal.split())
    return " ".join(part for part in stripped if part) or normal.strip()
