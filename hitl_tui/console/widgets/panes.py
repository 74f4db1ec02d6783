"""The panes of a session: plan, history, stream and answer; as many of them as there is room for are seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.layout import plan_rows, upper_rows
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import Line, StreamPane, stream_line
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.wording.status_words import number_of

if TYPE_CHECKING:
    from hitl_tui.supervisor.activity import Activity


class Tab(Static):
    """One tab; a click shows its pane."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, pane: str, label: str) -> None:
        super().__init__(Content(f" {label} "), id=f"tab-{pane}")
        self.pane = pane

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Chosen(self.pane))


class TabStrip(Horizontal):
    """The tabs of the panes."""

    def __init__(self, panes: Sequence[tuple[str, str]], id: str | None = None) -> None:
        super().__init__(*(Tab(pane, _(label)) for pane, label in panes), id=id)

    def mark(self, pane: str) -> None:
        """Show which pane is seen."""
        for tab in self.query(Tab):
            tab.set_class(tab.pane == pane, "-seen")


_TITLES = {"plan": mark("Plan"), "history": mark("History"), "stream": mark("Stream"), "answer": mark("Answer")}
_ENDLESS = 1_000
_UPPER, _LOWER = ("plan", "history"), ("stream", "answer")
"""Where all have room the upper ones are seen, and beneath them, or beside them, one of the lower ones."""


class Panes(Container):
    """Shows one pane, or with the class `-wide` on the screen all; which one is kept when there is less room again."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lower = _LOWER[0]
        self._most = 0
        self._divided = ""
        self.chosen = _UPPER[0]
        """The pane that was brought to the front last."""

    def compose(self) -> ComposeResult:
        yield PlanTable(id="plan")
        yield HistoryTable(id="history")
        yield TabStrip(tuple(_TITLES.items()), id="tabs")
        yield StreamPane(id="stream")
        yield AnswerPane(id="answer")

    def on_mount(self) -> None:
        for pane, title in _TITLES.items():
            self.query_one(f"#{pane}").border_title = Content(_(title))
        self.query_one(PlanTable).heading = _(_TITLES["plan"])

    def reset(self) -> None:
        """Show nothing: another session is on its way."""
        self.query_one(PlanTable).reset()
        self.query_one(HistoryTable).reset()
        self.query_one(StreamPane).reset()
        self.query_one(AnswerPane).reset()
        self._lower, self._most = _LOWER[0], 0
        self.share_room()

    def stand(self, *, beside: bool) -> None:
        """Let the lower panes stand beside the upper ones instead of beneath them: a grid takes them in turn."""
        history, tabs = self.query_one(HistoryTable), self.query_one(TabStrip)
        if beside is not (self.children.index(tabs) < self.children.index(history)):
            self.move_child(history, **({"after": len(self.children) - 1} if beside else {"before": tabs}))
        self.share_room()

    def on_resize(self, event: Resize) -> None:
        self.share_room()

    def share_room(self) -> None:
        """Divide the rows by what there is to see: blank rows of the stream are the plan's, an answer gets most."""
        tabs, rows, steps = 1, self.size.height, self.query_one(PlanTable).steps
        if not self._all or rows <= 2 * tabs:
            return
        if self.screen.has_class("-flat"):
            shares = f"{tabs} 1fr"
        elif self.screen.has_class("-vast"):
            upper = max(tabs + 1, plan_rows(rows, steps)) - tabs
            shares = f"{tabs} {upper}fr {max(1, rows - tabs - upper)}fr"
        else:
            upper = upper_rows(rows - tabs, steps, self._lines)
            shares = f"{upper}fr {tabs} {max(1, rows - tabs - upper)}fr"
        if shares != self._divided:
            self._divided = shares
            self.styles.grid_rows = shares

    @property
    def _lines(self) -> int:
        """How many lines a lower pane has to show, or had; as good as endless once there is an answer.

        That is one number for both, so that going from one to the other moves nothing.
        """
        self._most = max(self._most, len(self.query_one(StreamPane).lines))
        return _ENDLESS if self.query_one(AnswerPane).text else self._most

    # Which are seen --------------------------------------------------------------------------------------------

    def pane(self, widget: Widget | None) -> str:
        """Return the name of the pane that a widget is; empty for any other widget."""
        name = (widget.id if widget is not None else "") or ""
        return name if name in _TITLES else ""

    def show(self, pane: str) -> None:
        """Bring a pane to the front; one that isn't seen any more may still have the focus."""
        self.chosen = pane
        if pane in _LOWER:
            self._lower = pane
        for name in _TITLES:
            self.query_one(f"#{name}").set_class(self.seen(name), "-seen")
        self.query_one(TabStrip).mark(self._lower if self._all else pane)
        self.share_room()

    @property
    def _all(self) -> bool:
        return self.screen.has_class("-wide")

    def seen(self, pane: str) -> bool:
        """Return whether a pane can be seen."""
        return pane in (*_UPPER, self._lower) if self._all else pane == self.chosen

    def following(self, pane: str, by: int = 1) -> str:
        """Return the pane after another one, or before it, in a circle; no answer where there is none yet."""
        answered = bool(self.query_one(AnswerPane).text)
        names = [name for name in _TITLES if answered or name != "answer" or pane == "answer"]
        return names[(names.index(pane) + by) % len(names)]

    # The stream ------------------------------------------------------------------------------------------------

    def said(self, entries: Sequence[Activity]) -> None:
        """Add to the stream what teams say, and show how far they are."""
        self.recall(entries)
        self.entitle()

    def recall(self, entries: Iterable[Activity]) -> None:
        """Add to the stream what teams said before."""
        self.query_one(StreamPane).add(line for entry in entries if (line := stream_line(entry)))
        self.share_room()

    def clear(self) -> None:
        """Empty the stream; new lines appear as always."""
        self.query_one(StreamPane).reset()
        self._most = 0
        self.entitle()
        self.share_room()

    def note(self, when: str, text: str) -> None:
        """Add to the stream a command, or what it answered, at a time of day."""
        self.query_one(StreamPane).add(_noted(when, text))
        self.share_room()

    def fits_stream(self, text: str) -> bool:
        """Return whether all of a text can be seen in the stream, as `note` adds it."""
        return self.query_one(StreamPane).fits(_noted("00:00:00", text))

    def filter(self, todo_id: str) -> None:
        """Show only the lines of one TODO in the stream, or all again."""
        stream = self.query_one(StreamPane)
        stream.limit("" if stream.only == todo_id else todo_id)
        self.entitle()

    def entitle(self) -> None:
        """Say above the stream whose lines it shows, and how far teams are."""
        stream = self.query_one(StreamPane)
        title = _("Stream · {only}").format(only=number_of(stream.only)) if stream.only else _("Stream")
        running = [f"{number_of(t)} {share:.0%}" for t, share in stream.bars.items()]
        stream.border_title = Content(" · ".join([title, *running]))


def _noted(when: str, text: str) -> list[Line]:
    """Return the lines of a command, or of what it answered, at a time of day."""
    head = f"{when}     › "
    first, *others = safe_text(text).split("\n")
    return [Line("", head, first), *(Line("", " " * len(head), row) for row in others)]
