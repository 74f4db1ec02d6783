"""A passage of a document, as a search finds it and other teams read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.teams.contract import Citation

QUOTE_LIMIT, TEXT_LIMIT = 300, 100_000
"""Characters of a citation's quote, and of a passage that is read."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document of the workspace.

    Args:
        path: file relative to the folder, forward slashes.
        line, end_line: counted from 1, inclusive (in a PDF: within the page).
        text: the words.
        page: page of a PDF, counted from 1; 0 for other files.
        heading: the headings above it.
        score: higher is better; comparable within one question.
        before: what stands before the first line, up to it: what answers is often said before or after what is asked.
        items, of: where all of something is asked for, how many items of this list are meant, and how many it has.
    """

    path: str
    line: int
    end_line: int
    text: str
    page: int = 0
    heading: str = ""
    score: float = 0.0
    before: str = ""
    items: int = 0
    of: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Passage:
        """Read place and text of what any team found, cut; `heading` may be a list of texts, outermost first."""
        heading, line = data.get("heading") or "", int(data.get("line", 1))
        return cls(
            path=str(data["path"]),
            line=line,
            end_line=int(data.get("end_line", line)),
            text=str(data.get("text", ""))[:TEXT_LIMIT],
            page=int(data.get("page") or 0),
            heading=heading if isinstance(heading, str) else " > ".join(map(str, heading)),
        )

    @property
    def full_text(self) -> str:
        """The words with those before."""
        return self.before + self.text

    def cite(self, start: int, end: int) -> Citation:
        """Return the citation of `text[start:end]`, down to the line where the passage keeps its lines."""
        quote = self.text[start:end].strip()
        start = end - len(self.text[start:end].lstrip())
        first, last = self.line, self.end_line
        if self.text.count("\n") == last - first:
            first += self.text.count("\n", 0, start)
            last = first + self.text[start:end].rstrip().count("\n")
        return Citation(self.path, first, last, quote[:QUOTE_LIMIT], self.page)
