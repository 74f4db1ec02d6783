"""Markdown, reStructuredText, manual pages, HTML and plain text into blocks with their real line numbers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

from hitl_tui.extraction.blocks import Block, BlockBuilder, Extraction

_ATX = re.compile(
    r"(?: {0,3}|(?P<item>[ \t]*(?:>[ \t]?)?(?:[-*+]|\d{1,3}[.)])[ \t]+))(?P<marks>#{1,6})"
    r"(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*$"
)
_ANCHOR = re.compile(r"[ \t]*\{(?:/\*[^}]{0,200}\*/|#[^}\s]{1,200})\}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]{0,3}([!-/:-@\[-`{-~])(?:[ \t]*\1){2,}[ \t]*$|[ \t]{0,3}(?:=+|-+)[ \t]*$")
"""A line of one mark: it underlines a title, or parts what stands above it from what stands below."""
_ITEM = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:[-*+](?=[ \t])|[•·▪◦‣○●■□①-⑳]|\(?\d{1,3}(?:\)|\.(?=[ \t]))"
    r"|[가나다라마바사아자차카타파하][.)])[ \t]*(?=\S)"
)
_FIELD = re.compile(r"[ \t]*(?::[^:`\n]+:(?:[ \t]|$)|\.\. [\w-]+::)")
_TABLE_ROW = re.compile(r"[ \t]*\|")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_TITLE = re.compile(r"title[ \t]*[:=][ \t]*(.+)", re.IGNORECASE)
_SKIPPED = {
    "md": re.compile(r" {0,3}\[[^\]]+\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?$|[ \t]*<!--.*-->[ \t]*$"),
    "rst": re.compile(
        r"\.\. _(?:`[^`]+`|[^:]*)[^ ]*:(?:[ \t]+\S+)?[ \t]*$|[ \t]+:[a-z-]+:[ \t]*$"
        r"|[ \t]*\.\. (?:include|literalinclude|image|contents|toctree|glossary|index|meta|highlight|auto\w+)::.*$"
        r"|[ \t]*\.\. (?:py:)?(?:current)?module::.*$"
    ),
}
"""Targets of links and comments, what stands for something that isn't in the file, and settings without a value."""
_ARTICLE = re.compile(r"[ \t]*(제\s?\d+\s?조(?:의\s?\d+)?(?:\s?\([^)\n]{1,60}\)|\s?\[[^\]\n]{1,60}\]|(?=[ \t]*$)))")
_PART = re.compile(r"[ \t]*(제\s?\d+\s?(?:편|장|절|관)(?:의\s?\d+)?(?:[ \t]+\S.{0,60})?)[ \t]*$")
_SECTION = re.compile(
    r"[ \t]*((?:(?:article|section|chapter|part|appendix|clause)[ \t]+[\dIVXLC]{1,6}|§+[ \t]?\d+)\b[^\n]{0,80})$", re.I
)
_LAW = ((_PART, 20), (_SECTION, 21), (_ARTICLE, 22))
"""Headings of laws and contracts with their levels, below those of a document that has others."""
_SECTION_NAME = re.compile(r"\[{1,2}([^\[\]]{1,80})\]{1,2}[ \t]*(?:[#;].*)?$")
"""Begins a section of an INI or TOML file."""
_KEY = re.compile(r"([ ]{0,4})([A-Za-z가-힣_][\w. -]{0,60}):[ \t]*(?:#.*)?$")
"""A key of a YAML file whose value stands on the lines below it."""
_FEWEST_BELOW = 3
"""Lines below a key that make it a section."""
_UNMARKED = frozenset("bdefghijklmnoqrtuvwxyzBDEFGHIJKLMNOQRTUVWXYZ")
"""Letters that lines begin with that are no item, heading, article or section: no pattern is tried on most lines."""
_MAX_FRONT_MATTER = 80
_MAX_MARKED = 2_000  # a longer line is no heading, and patterns aren't tried on it: some take quadratic time


def line_blocks(lines: Sequence[str], kind: str = "text", page: int = 0) -> list[Block]:
    """Return the paragraphs, list items, table rows and code of a text.

    Args:
        lines: the text's lines, without their ends; counted from 1.
        kind: `md`, `rst`, or `text`, in which articles and numbered sections alone count as headings.
        page: page of a PDF the lines stand on; 0 for a file.
    """
    build = BlockBuilder(page=page)
    number = _front_matter(lines, build) if kind == "md" else 0
    styles: list[tuple[str, bool]] = [("=", False), ("-", False)] if kind == "md" else []
    laws, skipped = _LAW if kind == "text" else _LAW[-1:], _SKIPPED.get(kind)
    fence, in_table = "", False
    while number < len(lines) and not build.full:
        text = lines[number]
        number += 1
        first = text.lstrip()[:1]
        if in_table and first != "|":
            build.context("")
            in_table = False
        mark = _FENCE.match(text) if kind == "md" and first in ("`", "~", ">") else None
        if fence:
            build.add(number, text)
            if mark and mark.group(1).startswith(fence) and not text[mark.end() :].strip("`~ \t"):
                build.flush()
                fence = ""
        elif mark:
            build.flush()
            build.add(number, text)
            fence = mark.group(1)
        elif first in _UNMARKED or len(text) > _MAX_MARKED:
            build.add(number, text)
        elif not first or (skipped and skipped.match(text)):
            build.flush()
        elif kind == "md" and (head := _ATX.match(text)):
            # `1. ##### Title` stands within the section that it is an item of, even when both have as many marks.
            level = 2 * len(head["marks"]) + bool(head["item"])
            build.heading(level, _ANCHOR.sub("", head["title"] or ""), number)
        elif kind != "text" and _RULE.match(text):
            number = _ruled(lines, number, build, styles)
        elif kind == "md" and _TABLE_ROW.match(text):
            if not _TABLE_RULE.match(text):
                if number < len(lines) and _TABLE_RULE.match(lines[number]) and "-" in lines[number]:
                    build.context(text.replace("|", " "))
                    in_table = True
                build.whole(number, number, text.strip())
        elif law := next(((level, found) for one, level in laws if (found := one.match(text))), None):
            build.heading(law[0], law[1].group(1), number)
            if text[law[1].end() :].strip():
                build.add(number, text)
        else:
            if _ITEM.match(text) or (kind == "rst" and _FIELD.match(text)):
                build.flush()
            build.add(number, text)
    return build.finish()


def settings_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the sections of a YAML, TOML or INI file as blocks below the keys or names that they have."""
    build, above, parted = BlockBuilder(), list[int](), False
    for number, text in enumerate(lines, start=1):
        if build.full:
            break
        plain = text[:_MAX_MARKED].rstrip()
        indent = _indent(plain)
        if plain and not plain.lstrip().startswith(("#", "-")):
            inside = [one for one in above if one < indent]
            if len(inside) < len(above):
                build.end_section(2 + len(inside))
            above = inside
        key = _KEY.match(plain) if not above or (parted and len(above) == 1) else None
        if name := _SECTION_NAME.match(plain):
            build.heading(1, name[1], number)
        elif key and _is_section(lines, number, indent):
            build.heading(2 + len(above), key[2], number)
            parted = _is_parted(lines, number, indent) if not above else parted
            above.append(indent)
        elif plain:
            build.add(number, text)
        else:
            build.flush()
    return build.finish()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_section(lines: Sequence[str], number: int, indent: int) -> bool:
    """Whether as many lines as a section has stand below a key, further in."""
    below = [line for line in lines[number : number + 2 * _FEWEST_BELOW] if line.strip()][:_FEWEST_BELOW]
    return len(below) == _FEWEST_BELOW and all(_indent(one) > indent for one in below)


def _is_parted(lines: Sequence[str], number: int, indent: int) -> bool:
    """Whether each key next below one that has something below it is a section; else they stay together."""
    inner = 0
    for at, text in enumerate(lines[number:], start=number + 1):
        if text.strip() and _indent(text) <= indent:
            break
        inner = inner or _indent(text) * bool(text.strip())
        if inner and _indent(text) == inner and _KEY.match(text.rstrip()) and not _is_section(lines, at, inner):
            return False
    return True


def _ruled(lines: Sequence[str], number: int, build: BlockBuilder, styles: list[tuple[str, bool]]) -> int:
    """Take a line of one mark: a title's, which stands above it or between it and another; return where to go on."""
    rule = lines[number - 1].strip()
    over = [line.strip() for line in lines[number + 1 : number + 2]] == [rule] and bool(lines[number].strip())
    under = len(build.pending) == 1 and len(rule) >= min(3, len(build.pending[0].strip())) and " " not in rule
    if not (under or over) or (under and _ITEM.match(build.pending[0])):
        build.flush()
        return number
    style = (rule[0], not under)
    if style not in styles:
        styles.append(style)
    title, line, end = (build.pending.pop(), number - 1, number) if under else (lines[number], number + 1, number + 2)
    build.heading(2 * styles.index(style) + 2, title.strip(), line, end)
    return end


def _front_matter(lines: Sequence[str], build: BlockBuilder) -> int:
    """Take a leading `---` or `+++` part as a block and its title as the outermost heading; return where to go on."""
    close = lines[0].strip() if lines else ""
    ends = (n for n in range(1, min(len(lines), _MAX_FRONT_MATTER)) if lines[n].strip() == close)
    end = next(ends, 0) if close in ("---", "+++") else 0
    for number in range(1, end):
        if title := _TITLE.match(lines[number]):
            build.heading(0, title.group(1).strip().strip("\"'"), number + 1)
        else:
            build.add(number + 1, lines[number])
    build.flush()
    return end + 1 if end else 0


_ROFF_LINE = re.compile(r"[.']\s*(\w{1,3})\b[ \t]*(.*)")
_ROFF_MARK = re.compile(r"\\f(?:\[\w*\]|\(\w\w|\w)|\\\(\w\w|\\[&|^/,]|\\s[+-]?\d")
_ROFF_TEXT = frozenset({"B", "I", "BR", "IR", "RB", "RI", "BI", "IB"}) | frozenset(
    {"Nm", "Nd", "It", "Fl", "Ar", "Xr", "Pa", "Ic", "Dq", "Em", "Cm", "Op"}
)
_ROFF_BREAK = frozenset(("PP", "P", "LP", "TP", "IP", "HP", "Pp", "It", "sp"))
_ROFF_HEADING = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}


def manual_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the paragraphs of a manual page (man or mdoc); line numbers from 1."""
    build = BlockBuilder()
    for number, text in enumerate(lines, start=1):
        plain = _ROFF_MARK.sub("", text[:_MAX_MARKED]).replace("\\-", "-")
        request = _ROFF_LINE.match(plain)
        name, rest = request.groups() if request else ("", "" if plain.startswith((".", "'")) else plain)
        if name in _ROFF_HEADING:
            build.heading(_ROFF_HEADING[name], rest.strip('"'), number)
            continue
        if name in _ROFF_BREAK or not (name or rest.strip()):
            build.flush()
        if rest and (not name or name in _ROFF_TEXT):
            build.add(number, rest.replace('"', "") if name else rest)
    return build.finish()


_DROPPED = frozenset({"script", "style", "template", "noscript", "svg"})
_IS_TEXT = re.compile(r"text/(?:html|markdown|plain|template|x-(?:[\w-]*template|handlebars|mustache|markdown))\b")
"""Of which type a script is no program, but text that a page shows later."""
_HEADINGS = {"title": 0} | {f"h{level}": level for level in range(1, 7)}
_AS_TYPED = frozenset({"pre", "listing", "screen", "programlisting", "literallayout"})
"""Whose text stands in lines, as a manual page or code."""
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header",
        "hr", "html", "legend", "li", "main", "nav", "ol", "option", "p", "section",
        "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "br", "item", "listitem", "para", "simpara",
        "term", "row", *_AS_TYPED,
    }
)  # fmt: skip
_CELLS = frozenset({"td", "th", "entry"})
_ITEMS = frozenset({"li", "item", "listitem"})
_IN_ITEMS = frozenset({"p", "para", "simpara", "title"})
"""What stands in a cell; what begins an item of a list, and what may follow that before its text."""
_BEGINS_WORD = re.compile(r"[\sA-Za-z0-9]")
_OPENS = "([{“‘「"
"""What begins a word of its own after a tag within a line, no point and no Korean ending, unless after what opens."""
_CHUNK = 65_536
_MAX_REST = 100_000
_BUDGET_SECONDS = 10.0


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.build = BlockBuilder()
        self._words: list[str] = []
        self._joins = False
        self._first = self._last = 0
        self._dropped = ""
        self._heading: int | None = None
        self._item = False
        self._typed: list[list[str]] = []
        self._typed_from: int | None = None

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Take `<![…>` for a comment, as browsers do; the parser of some Pythons raises where it has no name."""
        return self.parse_bogus_comment(i, bool(report))

    def set_cdata_mode(self, elem: str, **kinds: bool) -> None:
        """Read on as a program's text, which ends with its tag; what a script holds of text for people is markup."""
        if self._dropped or elem != "script":
            super().set_cdata_mode(elem, **kinds)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and _IS_TEXT.match(dict(attrs).get("type") or ""):
            tag = "section"
        if self._dropped or (tag == "br" and self._typed_from is not None):
            return
        if tag in _CELLS:
            self._words += ["|"] if self._words else []
            self._joins = False
        elif tag in _DROPPED or tag in _HEADINGS or tag in _BLOCKS:
            self.flush()
            self._dropped = tag if tag in _DROPPED else ""
            self._item = tag in _ITEMS or (self._item and tag in _IN_ITEMS)
            self._heading = None if self._item else _HEADINGS.get(tag)
            self._typed_from = self.getpos()[0] if tag in _AS_TYPED and not self._item else None

    def handle_endtag(self, tag: str) -> None:
        if tag == self._dropped:
            self._dropped = ""
        elif not self._dropped and (tag in _HEADINGS or tag in _BLOCKS or tag == "script"):
            self.flush()

    def handle_data(self, data: str) -> None:
        line = self.getpos()[0]
        if self._typed_from is not None and not self._dropped:
            first, *more = data.split("\n")
            behind = line - self._typed_from + 1 - len(self._typed)
            self._typed += [[] for _ in range(behind)]
            self._typed[-1].append(first)
            self._typed += [[one] for one in more]
            return
        for offset, part in enumerate(() if self._dropped else data.split("\n")):
            if words := part.split():
                if self._joins and not (offset or (_BEGINS_WORD.match(part) and self._words[-1][-1] not in _OPENS)):
                    self._words[-1] += words.pop(0)
                self._first = self._first if self._words else line + offset
                self._last = line + offset
                self._words.extend(words)
        self._joins = bool(self._words) and not data[-1:].isspace()

    def flush(self) -> None:
        """Close what is being collected."""
        for line, pieces in enumerate(self._typed, self._typed_from or 1):
            if typed := "".join(pieces).rstrip():
                self.build.add(line, typed)
            else:
                self.build.flush()
        if self._typed:
            self.build.flush()
        self._typed, self._typed_from = [], None
        text, self._words, self._joins = " ".join(self._words), [], False
        if text and self._heading is not None:
            self.build.heading(self._heading, text, self._first, self._last)
        elif text:
            self.build.whole(self._first, self._last, f"- {text}" if self._item else text)
        self._heading = None
        self._item = self._item and not text


def html_extraction(text: str, clock: Callable[[], float] = time.monotonic) -> Extraction:
    """Return the paragraphs, list items and table rows of a page, also of DocBook; scripts and styles are left out.

    Args:
        text: the page's source.
        clock: seconds, to give up on sources made to be slow.
    """
    page = _Page()
    page.reset()
    until, whole = clock() + _BUDGET_SECONDS, True
    for start in range(0, len(text), _CHUNK):
        page.feed(text[start : start + _CHUNK])
        if clock() > until or page.build.full:
            whole = False
            break
    # What the parser still holds is markup that never ends; finishing a long one takes quadratic time.
    why = "the page is too long or too irregular" if not whole else "markup opened there never ends"
    whole = whole and len(page.rawdata) <= _MAX_REST
    if whole:
        page.close()
    page.flush()
    note = "" if whole else f"read only up to line {page.getpos()[0]}: {why}"
    return Extraction(tuple(page.build.finish()), note)
