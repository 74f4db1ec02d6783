"""The finished answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownBlock

from hitl_tui.console import keys
from hitl_tui.console.widgets.answer_table import TableBlock
from hitl_tui.console.widgets.folded_markdown import FOLDED, FoldedBlock, fold_long
from hitl_tui.console.widgets.lists import Reader
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark
from hitl_tui.wording.times import local_times

# Everything that would hide, decode or lead away: it is shown as it was written.
_AS_WRITTEN = ("link", "autolink", "image", "reference", "html_inline", "html_block", "entity")
_ASKED = 400
"""Cells of a question above its answer."""
_NOT_YET = mark("*The answer appears here once nothing is left to do.*")


def parser(*, fold: bool = False) -> MarkdownIt:
    """Return a Markdown parser without links, images, HTML and entities: such text stays text.

    An entity would bring back what `safe_text` had made visible (`&#x202e;`), HTML would vanish, and a link would
    show other words than where it leads. A line stays a line: rows of a table or of a log don't run together.

    Args:
        fold: long Markdown becomes lines, see `fold_long`.
    """
    made = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(list(_AS_WRITTEN))
    made.core.ruler.push("lines", _keep_lines)
    if fold:
        made.core.ruler.push("fold", fold_long)
    return made


def _keep_lines(state: StateCore) -> None:
    """Let every line break be one."""
    for child in (child for token in state.tokens for child in token.children or ()):
        if child.type == "softbreak":
            child.type = "hardbreak"


def rendered(text: str, id: str | None = None) -> Markdown:
    """Return safe Markdown as it is shown; its links are text."""
    return _SafeMarkdown(text, id=id, open_links=False, parser_factory=partial(parser, fold=True))


def outputs_apart(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of safe Markdown, and whether each is the lines of a code block in no language: an output.

    Markdown takes seconds for an output of thousands of lines.
    """
    lines, begin = text.split("\n"), 0
    for token in parser().parse(text):
        if token.type == "fence" and token.map and not token.level and not token.info.strip():
            first, end = token.map
            if prose := "\n".join(lines[begin:first]).strip("\n"):
                yield prose, False
            yield token.content.removesuffix("\n"), True
            begin = end
    if prose := "\n".join(lines[begin:]).strip("\n"):
        yield prose, False


class _SafeMarkdown(Markdown):
    """Markdown whose tables are drawn as such, and that is drawn as lines where it is long."""

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        return TableBlock if block_name == "table_open" else super().get_block_class(block_name)

    def unhandled_token(self, token: Token) -> MarkdownBlock | None:
        return FoldedBlock(self, token) if token.type == FOLDED else super().unhandled_token(token)


class AnswerPane(Reader):
    """The answer as rendered Markdown; its links are text."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ANSWER)]

    class Wanted(Message):
        """A key asks for something: to `copy` or `export` the answer, to open a `source` of it, or to `leave`."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = ""
        self.outdated = False
        """The work went on after what is shown."""

    def compose(self) -> ComposeResult:
        question = Static(id="answer-question")
        question.display = False
        yield question
        yield rendered(_(_NOT_YET), id="answer-text")

    @property
    def text(self) -> str:
        """The answer that is shown; empty before there is one."""
        return self._text

    def action_want(self, what: str) -> None:
        self.post_message(self.Wanted(what))

    def reset(self) -> None:
        """Show no answer: another session is on its way."""
        self._text, self.outdated = "", False
        self._show_question("")
        self.query_one(Markdown).update(_(_NOT_YET))

    def _show_question(self, asked: str) -> None:
        above = self.query_one("#answer-question", Static)
        above.update(Content(one_line(safe_text(asked), _ASKED)))
        above.display = bool(asked)

    async def show(self, response: Mapping[str, object] | None, asked: str = "", *, outdated: bool = False) -> bool:
        """Show a response (`Response.to_dict()`); return whether it is another one than before, or holds again.

        Args:
            response: None for none.
            asked: what it answers, which stands above it; empty where it names its questions itself.
            outdated: the work went on after it; that is said above it.
        """
        again, self.outdated = self.outdated and not outdated, outdated
        self.border_title = Content(_("Answer · OUTDATED, work continues") if outdated else _("Answer"))
        self.set_class(outdated, "-outdated")
        text = str((response or {}).get("text", ""))
        if text == self._text:
            return again and bool(text)
        self._text = text
        self._show_question(asked if text else "")
        await self.query_one(Markdown).update(safe_text(local_times(text)) if text else _(_NOT_YET))
        self.scroll_home(animate=False)
        return bool(text)
