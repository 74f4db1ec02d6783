"""A few words that a longer text is called by: its first sentence, its first clauses, else its first words. Pure."""

from __future__ import annotations

import re

from hitl_tui.core.safe_text import ELLIPSIS, cell_width, clip

WIDTH = 48
"""Cells of a title in a list."""
_LEAST = 16
"""Cells of a beginning that says enough to stand for the whole; a greeting alone doesn't."""
_SENTENCE = re.compile(r"[.!?…]+(?=\s+[^a-z\s])|[。！？]")
_CLAUSE = re.compile(
    r"[,;:—–](?=\s)|\s(?=(?:and|then|but|or|so|because|while|when|where|which|that|who|if|after|before)\b)"
    r"|(?<=[하되있없않]고)\s|(?<=[하되으]며)\s|(?<=지만)\s|(?<=는데)\s|(?<=[아어여해와]서)\s",
    re.IGNORECASE,
)
_ENDS = " \t.,;:—–-/…·"
_DANGLING = re.compile(
    "a|an|the|my|your|our|their|his|her|its|this|that|these|those|me|us|of|to|from|in|on|at|by|for|with|"
    "without|about|into|over|under|between|until|since|during|through|and|or|but|nor|so|than|as|is|are|"
    "was|were|be|been|am|do|does|did|can|could|should|would|will|may|might|must|has|have|had|not|no|if|"
    "when|where|which|who|whose|how|what|why|per|via|please",
    re.IGNORECASE,
)
"""Words that lead on: nothing ends with one of them."""
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"), ("‘", "’"))


def short_title(text: str, width: int = WIDTH) -> str:
    """Return what a text is called in a list: all of it where it is short, else a beginning that can stand alone.

    That is its first sentence, or as many of its clauses as find room. Words are cut off, and that is shown, only where
    the first clause is too long itself; nothing then ends with a word that leads on, such as `and` or `from`.

    Args:
        text: words of any length.
        width: cells there are.
    """
    line = " ".join(text.split())
    if cell_width(line) <= width:
        return line.strip(_ENDS) or line
    first = " ".join(text.strip().split("\n")[0].split())
    if len(first) < len(line) and cell_width(first) >= _LEAST:
        return short_title(first, width)
    for ends in (_SENTENCE, _CLAUSE):
        if kept := _beginning(line, ends, width):
            return kept
    return _cut(line, width)


def _beginning(line: str, ends: re.Pattern[str], width: int) -> str:
    """Return the longest beginning that ends there and finds room; empty where none says enough."""
    room = line[: width * 2]
    places = [found.end() if ends is _SENTENCE else found.start() for found in ends.finditer(room)]
    for place in reversed(places):
        kept = line[:place].strip(_ENDS)
        said = _LEAST <= cell_width(kept) <= width and _closed(kept) == kept
        if said and not _DANGLING.fullmatch(kept.split()[-1]):
            return kept
    return ""


def _cut(line: str, width: int) -> str:
    head = clip(line, width).removesuffix(ELLIPSIS)
    if not line[len(head)].isspace():
        whole = head.rpartition(" ")[0]
        # A word as long as half the title is cut rather than left out.
        head = whole if cell_width(whole) * 2 >= width else head
    words = head.split(" ")
    while len(words) > 3 and _DANGLING.fullmatch(words[-1].strip(_ENDS)):
        words.pop()
    head = " ".join(words)
    return f"{_closed(head).strip(_ENDS) or head}{ELLIPSIS}"


def _closed(head: str) -> str:
    """Return a text that was cut without what it opens and doesn't close any more."""
    for left, right in _PAIRS:
        opened = head.rfind(left)
        if opened > 0 and right not in head[opened:]:
            head = head[:opened]
    return head
