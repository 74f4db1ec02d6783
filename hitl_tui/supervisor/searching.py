"""Which sessions have the words that are looked for (C8). Pure, and without the engine."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl_tui.supervisor.summaries import SessionSummary


def has_words(summary: SessionSummary, words: str, *also: str) -> bool:
    """Return whether a session has all words, in any case: in id, title, question, folder or status.

    Args:
        summary: the session.
        words: divided by spaces; every session has none.
        also: further texts to look in, such as its status in a person's language.
    """
    wanted = folded(words).split()
    if not wanted:
        return True
    texts = (summary.id, summary.title, summary.query, summary.workspace, summary.status, summary.message, *also)
    text = folded("\n".join(texts))
    return all(word in text for word in wanted)


def folded(text: str) -> str:
    """Return text for comparing: case and the forms of characters don't count."""
    return unicodedata.normalize("NFKC", text).casefold()
