"""HTML into blocks, by the standard library's parser, with the lines of the source."""

from __future__ import annotations

import time
from collections.abc import Callable
from html.parser import HTMLParser

from hitl_tui.teams.search.blocks import BlockBuilder, Extraction

_DROPPED = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header",
        "hr", "html", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section",
        "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "br",
    }
)  # fmt: skip
_TERM_TAGS = frozenset({"dl", "dt", "dd"})
_CELLS = frozenset({"td", "th"})
_CHUNK = 65_536
_MAX_TERM = 160
_MAX_REST = 100_000
_BUDGET_SECONDS = 10.0


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.build = BlockBuilder()
        self._words: list[str] = []
        self._first = 0
        self._last = 0
        self._dropped: list[str] = []
        self._heading = 0
        self._title = False
        self._term = ""
        self._term_line = 0
        self._in_term = False
        self._item = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._break()
            self._title = True
            return
        if tag == "body":
            # A page whose head was never closed still has its text.
            self._dropped.clear()
        if tag in _DROPPED:
            self._break()
            self._dropped.append(tag)
            return
        if tag in _HEADINGS:
            self._break()
            self._heading = _HEADINGS[tag]
        elif tag in _BLOCKS:
            self._break()
            self._item = tag == "li" or (self._item and tag == "p")
            if tag in _TERM_TAGS:
                self._in_term = tag == "dt"
        elif tag in _CELLS and self._words:
            self._words.append("|")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._break()

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._break()
            self._title = False
        elif tag in self._dropped:
            while self._dropped and self._dropped.pop() != tag:
                pass
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._break()
            if tag in _TERM_TAGS:
                self._in_term = False
            if tag == "dl":
                self._end_terms()

    def handle_data(self, data: str) -> None:
        if (self._dropped and not self._title) or not data.strip():
            return
        line = self.getpos()[0]
        for offset, part in enumerate(data.split("\n")):
            if words := part.split():
                if not self._words:
                    self._first = line + offset
                self._last = line + offset
                self._words.extend(words)

    def _break(self) -> None:
        words, self._words = self._words, []
        if words:
            text = " ".join(words)
            if self._title:
                self.build.heading(0, text, self._first, self._last)
            elif self._heading:
                self._end_terms()
                self.build.heading(self._heading, text, self._first, self._last)
            elif self._in_term:
                self._start_term(text)
            elif self._term and not self._dropped:
                # A term and the first thing said of it belong together.
                self.build.whole(self._term_line, self._last, f"{self._term}: {text}")
                self._term = ""
            else:
                self.build.whole(self._first, self._last, f"- {text}" if self._item else text)
            self._item = False
        self._heading = 0

    def _start_term(self, text: str) -> None:
        """Keep a term of a definition list until what is said of it; several may share one."""
        if self._term and len(self._term) + len(text) < _MAX_TERM:
            text = f"{self._term}, {text}"
        else:
            self._end_terms()
            self._term_line = self._first
        if len(text) > _MAX_TERM:
            self.build.whole(self._first, self._last, text)
            return
        self._term = text
        self.build.context(text)

    def _end_terms(self) -> None:
        if self._term:
            self.build.whole(self._term_line, self._term_line, self._term)
            self._term = ""
        self.build.context("")

    def done(self) -> None:
        self._break()
        self._end_terms()
        self.build.finish()


def html_extraction(text: str, clock: Callable[[], float] = time.monotonic) -> Extraction:
    """Return the paragraphs, list items and table rows of a page; scripts and styles are left out.

    Args:
        text: the page's source.
        clock: seconds, to give up on sources made to be slow.
    """
    page = _Page()
    page.reset()
    note = ""
    until = clock() + _BUDGET_SECONDS
    for start in range(0, len(text), _CHUNK):
        page.feed(text[start : start + _CHUNK])
        if clock() > until or page.build.full:
            note = f"read only up to line {page.getpos()[0]}: the page is too long or too irregular"
            break
    else:
        # What the parser still holds is markup that never ends; finishing a long one takes quadratic time.
        if len(page.rawdata) <= _MAX_REST:
            page.close()
        else:
            note = f"read only up to line {page.getpos()[0]}: markup opened there never ends"
    page.done()
    return Extraction(tuple(page.build.blocks), note)
