"""Markdown, reStructuredText, HTML and plain text into blocks with their real line numbers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

from hitl_tui.teams.search.blocks import Block, BlockBuilder, Extraction

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ANCHOR = re.compile(r"[ \t]*\{(?:/\*[^}]{0,200}\*/|#[^}\s]{1,200})\}[ \t]*$")
_LISTED = re.compile(r"[ \t]*(?:>[ \t]?)?(?:[-*+]|\d{1,3}[.)])[ \t]+(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·▪◦‣○●■□]|\(?\d{1,3}[.)]|[①-⑳]|[가나다라마바사아자차카타파하][.)])[ \t]*(?=\S)")
_MD_ITEM = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])[ \t]+\S|[ \t]*[①-⑳]")
_TABLE_ROW = re.compile(r"[ \t]*\|")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_TITLE = re.compile(r"title[ \t]*[:=][ \t]*(.+)", re.IGNORECASE)
_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_RST_SKIP = re.compile(r"\.\. _(?:`[^`]+`|[^:]*)[^ ]*:(?:[ \t]+\S+)?[ \t]*$")
_MD_SKIP = re.compile(r" {0,3}\[[^\]]+\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?$|[ \t]*<!--.*-->[ \t]*$")
_RST_INSERTED = re.compile(
    r"[ \t]*\.\. (?:include|literalinclude|image|contents|toctree|glossary|index|meta|highlight|auto\w+)::.*$"
    r"|[ \t]*\.\. (?:py:)?(?:current)?module::.*$"
    r"|[ \t]+:[a-z-]+:[ \t]*$"
)
"""What stands for something that isn't in the file, and settings of it without a value."""
_RST_FIELD = re.compile(r"[ \t]*(?::[^:`\n]+:(?:[ \t]|$)|\.\. [\w-]+::)")
_ARTICLE = re.compile(r"[ \t]*(제\s?\d+\s?조(?:의\s?\d+)?(?:\s?\([^)\n]{1,60}\)|\s?\[[^\]\n]{1,60}\]|(?=[ \t]*$)))")
_PART = re.compile(r"[ \t]*(제\s?\d+\s?(?:편|장|절|관)(?:의\s?\d+)?(?:[ \t]+\S.{0,60})?)[ \t]*$")
_SECTION = re.compile(
    r"[ \t]*((?:(?:article|section|chapter|part|appendix|clause)[ \t]+[\dIVXLC]{1,6}|§+[ \t]?\d+)\b[^\n]{0,80})$",
    re.IGNORECASE,
)
_UNMARKED = frozenset("bdefghijklmnoqrtuvwxyzBDEFGHIJKLMNOQRTUVWXYZ_\"'`#@=<>[]{})/\\|.,:;!?&%$^~")
"""What lines begin with that are no item, heading, article or section: no pattern is tried on most lines."""
_MAX_FRONT_MATTER = 80
_MAX_MARKED = 2_000  # a longer line is no heading, and patterns aren't tried on it: some take quadratic time


def markdown_blocks(lines: Sequence[str]) -> list[Block]:
    """Return paragraphs, list items, table rows and code of a Markdown text; line numbers from 1."""
    build = BlockBuilder()
    number = _front_matter(lines, build)
    fence = ""
    in_table = False
    while number < len(lines) and not build.full:
        text = lines[number]
        number += 1
        if len(text) > _MAX_MARKED:
            build.add(number, text)
            continue
        mark = _FENCE.match(text)
        if fence:
            build.add(number, text)
            if mark and mark.group(1).startswith(fence) and not text[mark.end() :].strip("`~ \t"):
                build.flush()
                fence = ""
            continue
        if mark:
            build.flush()
            build.add(number, text)
            fence = mark.group(1)
            continue
        if in_table and not _TABLE_ROW.match(text):
            build.context("")
            in_table = False
        if not text.strip() or _MD_SKIP.match(text):
            build.flush()
        elif _markdown_heading(text, number, build):
            continue
        elif _RULE.match(text):
            build.flush()
        elif _TABLE_ROW.match(text):
            if _TABLE_RULE.match(text):
                continue
            if number < len(lines) and _TABLE_RULE.match(lines[number]) and "-" in lines[number]:
                build.context(text.replace("|", " "))
                in_table = True
            build.whole(number, number, text.strip())
        else:
            if _MD_ITEM.match(text):
                build.flush()
            elif article := _ARTICLE.match(text):
                build.heading(14, article.group(1), number)
                if not text[article.end() :].strip():
                    continue
            build.add(number, text)
    return build.finish()


def _markdown_heading(text: str, number: int, build: BlockBuilder) -> bool:
    """Take a line that is a heading, or that makes one of the line before it; return whether it is such a line."""
    if head := _ATX.match(text):
        build.heading(2 * len(head.group(1)), _ANCHOR.sub("", head.group(2) or ""), number)
    elif head := _LISTED.match(text):
        # `1. ##### Title`: within the section it stands in, even when both have as many marks.
        build.heading(2 * len(head.group(1)) + 1, _ANCHOR.sub("", head.group(2)), number)
    elif len(build.pending) == 1 and _SETEXT.match(text) and not _MD_ITEM.match(build.pending[0]):
        title = build.pending[0].strip()
        build.pending.clear()
        build.heading(2 if "=" in text else 4, title, number - 1, number)
    else:
        return False
    return True


def _front_matter(lines: Sequence[str], build: BlockBuilder) -> int:
    """Take a leading `---` or `+++` part as a block and its title as the outermost heading; return where to go on."""
    if not lines or lines[0].strip() not in ("---", "+++"):
        return 0
    close = lines[0].strip()
    for end in range(1, min(len(lines), _MAX_FRONT_MATTER)):
        if lines[end].strip() == close:
            break
    else:
        return 0
    for number in range(1, end):
        if title := _TITLE.match(lines[number]):
            build.heading(0, title.group(1).strip().strip("\"'"), number + 1)
            continue
        build.add(number + 1, lines[number])
    build.flush()
    return end + 1


def rst_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the paragraphs and list items of a reStructuredText; line numbers from 1."""
    build = BlockBuilder()
    styles: list[tuple[str, bool]] = []
    number = 0
    while number < len(lines) and not build.full:
        text = lines[number]
        number += 1
        rule = _RST_LINE.match(text) if len(text) <= _MAX_MARKED else None
        over = rule is not None and [line.strip() for line in lines[number + 1 : number + 2]] == [text.strip()]
        under = (
            rule is not None and len(build.pending) == 1 and len(text.strip()) >= min(3, len(build.pending[0].strip()))
        )
        if rule and (under or (over and lines[number].strip())):
            style = (rule[1], not under)
            if style not in styles:
                styles.append(style)
            title, line, number = (
                (build.pending.pop(), number - 1, number) if under else (lines[number], number + 1, number + 2)
            )
            build.heading(styles.index(style) + 1, title.strip(), line, number)
            continue
        if len(text) > _MAX_MARKED:
            build.add(number, text)
        elif rule or not text.strip() or _RST_SKIP.match(text) or _RST_INSERTED.match(text):
            build.flush()
        else:
            if _ITEM.match(text) or _RST_FIELD.match(text):
                build.flush()
            build.add(number, text)
    return build.finish()


def text_blocks(lines: Sequence[str], page: int = 0) -> list[Block]:
    """Return the paragraphs and items of a plain text; articles and numbered sections count as headings.

    Args:
        lines: the text's lines, without their ends.
        page: page of a PDF the lines stand on; 0 for a file.
    """
    build = BlockBuilder(page=page)
    for number, text in enumerate(lines, start=1):
        if build.full:
            break
        if len(text) > _MAX_MARKED:
            build.add(number, text)
        elif not (first := text.lstrip()[:1]):
            build.flush()
        elif first in _UNMARKED:
            build.add(number, text)
        elif part := _PART.match(text):
            build.heading(1, part.group(1), number)
        elif article := _ARTICLE.match(text):
            build.heading(3, article.group(1), number)
            if text[article.end() :].strip():
                build.add(number, text)
        elif section := _SECTION.match(text):
            build.heading(2, section.group(1), number)
        else:
            if _ITEM.match(text):
                build.flush()
            build.add(number, text)
    return build.finish()


_ROFF_LINE = re.compile(r"[.']\s*(\w{1,3})\b[ \t]*(.*)")
_ROFF_MARK = re.compile(r"\\f(?:\[\w*\]|\(\w\w|\w)|\\\(\w\w|\\[&|^/,]|\\s[+-]?\d")
_ROFF_TEXT = frozenset({"B", "I", "BR", "IR", "RB", "RI", "BI", "IB"}) | frozenset(
    {"Nm", "Nd", "It", "Fl", "Ar", "Xr", "Pa", "Ic", "Dq", "Em", "Cm", "Op"}
)
_ROFF_BREAK = frozenset(("PP", "P", "LP", "TP", "IP", "HP", "Pp", "It", "sp"))


def manual_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the paragraphs of a manual page (man or mdoc); line numbers from 1."""
    build = BlockBuilder()
    for number, text in enumerate(lines, start=1):
        if build.full:
            break
        plain = _ROFF_MARK.sub("", text[:_MAX_MARKED]).replace("\\-", "-")
        request = _ROFF_LINE.match(plain)
        if request is None:
            if plain.startswith((".", "'")) or not plain.strip():
                build.flush()
            else:
                build.add(number, plain)
            continue
        name, rest = request.groups()
        if name in ("SH", "SS", "Sh", "Ss"):
            build.heading(1 if name in ("SH", "Sh") else 2, rest.strip('"'), number)
            continue
        if name in _ROFF_BREAK:
            build.flush()
        if name in _ROFF_TEXT and rest:
            build.add(number, rest.replace('"', ""))
    return build.finish()


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
_CELLS = frozenset({"td", "th"})
_CHUNK = 65_536
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
        self._item = False

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Take `<![…>` for a comment, as browsers do; the parser of some Pythons raises where it has no name."""
        return self.parse_bogus_comment(i, bool(report))

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
                self.build.heading(self._heading, text, self._first, self._last)
            else:
                self.build.whole(self._first, self._last, f"- {text}" if self._item else text)
            self._item = False
        self._heading = 0

    def done(self) -> None:
        self._break()
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
