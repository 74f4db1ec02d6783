"""Which questions are about the tables of a workspace, and which go on from one that was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

TABLES = "tables"
"""The type of an analysis that asks a table."""
TEXT, TABLE, LIMIT = "text", "table", "limit"
"""What a question is about: documents, a table, or rows beyond a limit that documents set; see `tables.ask.About`."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a folder; each question is looked at once.

    Args:
        workspace: the folder; None for none.
    """

    workspace: Path | None = None
    _known: dict[tuple[str, ...], str] = field(default_factory=dict, repr=False, compare=False)

    def about(self, question: str) -> str:
        """Return what a question is about: a `tables.ask.About`."""
        if self.workspace is None:
            return TEXT
        if (question,) not in self._known:
            from hitl_tui.tables.ask import about  # it imports DuckDB

            self._known[question,] = about(question, self.workspace)
        return self._known[question,]

    def go_on(self, question: str, earlier: Sequence[str]) -> bool:
        """Whether a question goes on from others that tables were asked, the last of which was asked last."""
        if self.workspace is None:
            return False
        if (question, *earlier) not in self._known:
            from hitl_tui.tables.ask import OF_THEM, continues

            goes_on = OF_THEM.search(question) or continues(question, earlier, self.workspace)
            self._known[question, *earlier] = TABLE if goes_on else TEXT
        return self._known[question, *earlier] == TABLE
