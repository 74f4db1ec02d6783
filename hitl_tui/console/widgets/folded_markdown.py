"""Long Markdown as lines: a widget for each of thousands of blocks would take minutes to lay out.

The lines are made of what the parser of the widgets found, not by `wording.markdown_text`, which reads line mode's own
dialect without a parser: the same is markup in long and in short answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual.app import ComposeResult
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.terminal.ascii_signs import signs
from hitl_tui.wording.rows import BAR, Row, StyledText, assembled, styled, text_row

MOST_BLOCKS = 80
"""Blocks of Markdown up to which each is a widget of its own."""
FOLDED = "folded"
"""Type of the token that stands for blocks shown as lines; its `meta` has the rows."""
_CODE = "$text-accent on $panel"
_HEADING = "bold $text-primary"
_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_WITHIN_TABLE = frozenset({"thead_open", "tbody_open", "tr_open", "th_open", "td_open"})


def fold_long(state: StateCore) -> None:
    """Let the blocks of long Markdown be one token for all between two tables; a rule of the parser's core."""
    if sum(_is_block(token) for token in state.tokens) <= MOST_BLOCKS:
        return
    folded: list[Token] = []
    for part in _parted(state.tokens):
        if part[0].type == "table_open":
            folded += part
        else:
            folded.append(Token(FOLDED, "", 0, map=[0, 0], meta={"rows": list(rows_of(part))}))
    state.tokens = folded


def _is_block(token: Token) -> bool:
    """Whether a token is at least a widget: the cells of a table are drawn by one."""
    return token.type in ("fence", "code_block", "hr") or (token.nesting > 0 and token.type not in _WITHIN_TABLE)


def _parted(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each table that stands alone, and those between them."""
    part: list[Token] = []
    for token in tokens:
        if token.level == 0 and token.type == "table_open" and part:
            yield part
            part = []
        part.append(token)
        if token.level == 0 and token.type == "table_close":
            yield part
            part = []
    if part:
        yield part


def rows_of(tokens: Sequence[Token]) -> Iterator[Row]:
    """Yield the rows that show blocks of Markdown; an empty one stands behind each that isn't within another."""
    within: list[str] = []
    numbers: list[int] = []
    lead = ""
    """What the next line begins with instead of an indent: the point or number of its item."""
    heading = False
    for token in tokens:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            within.append("list")
            numbers.append(int(token.attrs.get("start", 1)) if kind == "ordered_list_open" else -1)
        elif kind == "blockquote_open":
            within.append("quote")
        elif kind == "list_item_open":
            lead = signs("• ") if numbers[-1] < 0 else f"{numbers[-1]}. "
            numbers[-1] += numbers[-1] >= 0
        elif kind in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            if within.pop() == "list":
                numbers.pop()
        elif kind in ("heading_open", "heading_close"):
            heading = kind == "heading_open"
        elif kind == "inline":
            yield from _lines(_inline(token.children or (), heading=heading), within, lead)
            lead = ""
        elif kind in ("fence", "code_block"):
            code = styled(token.content.removesuffix("\n"), "$text-primary")
            yield from _lines(code, within, lead, exact=True)
            lead = ""
        elif kind == "hr":
            yield text_row(signs("─") * 3, "$text-muted")
        if not within and token.level == 0 and token.nesting <= 0 and kind != "inline":
            yield text_row("")


def _lines(text: StyledText, within: Sequence[str], lead: str, *, exact: bool = False) -> Iterator[Row]:
    """Yield the lines of a text, indented as deep as it stands; in a quotation they have a bar."""
    depth = within.count("list")
    indent = "  " * max(0, depth - 1)
    bar = (BAR, "$text-muted") if "quote" in within else ("", "")
    begin = 0
    for number, line in enumerate(text.plain.split("\n")):
        first = lead if not number else ""
        head = first or ("  " if depth else "")
        yield Row("", assembled(bar, (indent + head, ""), text[begin : begin + len(line)]), exact)
        begin += len(line) + 1


def _inline(children: Sequence[Token], *, heading: bool) -> StyledText:
    """Return a line of Markdown as text with styles."""
    parts: list[tuple[str, str]] = []
    styles: list[str] = [_HEADING] if heading else []
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(("\n", ""))
        elif child.type == "code_inline":
            parts.append((child.content, _CODE))
        elif child.nesting > 0:
            styles.append(_STYLES.get(child.tag, ""))
        elif child.nesting < 0:
            styles.pop()
        else:
            parts.append((child.content, " ".join(dict.fromkeys(" ".join(styles).split()))))
    return assembled(*parts)


class FoldedBlock(MarkdownBlock):
    """Blocks of Markdown as lines, of which only those in sight are made.

    Args:
        markdown: what it is part of.
        token: its rows.
    """

    DEFAULT_CSS = "FoldedBlock > Rows { height: auto; width: 1fr; }"

    def __init__(self, markdown: Markdown, token: Token) -> None:
        super().__init__(markdown, token)
        self._rows: Sequence[Row] = token.meta["rows"]

    def compose(self) -> ComposeResult:
        yield Rows(self._rows)
