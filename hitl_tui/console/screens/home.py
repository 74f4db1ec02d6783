"""The first screen: what this is, what to begin with, which sessions there are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.screen import Screen
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option

from hitl_tui.console import keys
from hitl_tui.console.terms import MODES, day_words, mode_words, padded
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.prompt import Prompt
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark, ngettext, render

if TYPE_CHECKING:
    from hitl_tui.console.app import HitlApp
    from hitl_tui.supervisor.workbench import SessionSummary

_WHAT = mark(
    "Agents propose the steps; you decide which of them run, see everything they do, and can go back to any moment."
)
_FIXED = (10, 14, 16)
_STATUS = {
    "waiting": mark("? waiting"),
    "running": mark("▸ running"),
    "finished": mark("✓ finished"),
    "failed": mark("✗ failed"),
    "interrupted": mark("○ interrupted"),
    "unreadable": mark("✗ unreadable"),
}


class HomeScreen(Screen[None]):
    """Starters, sessions and what new sessions begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f6", "next_part", "Next part", show=False, id="home.part", priority=True),
        Binding("escape", "back", "Back", show=False, id="home.back"),
    ]
    AUTO_FOCUS = "#prompt"

    def __init__(self) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = []  # width and height count together here, see `_wide`
        self._sessions: list[SessionSummary] = []
        self._loaded = False
        self._width = 0
        self._seen = False

    @property
    def hitl(self) -> HitlApp:
        """The app."""
        return cast("HitlApp", self.app)

    def compose(self) -> ComposeResult:
        # Known before the first layout, so that the first frame is the one that stays.
        self.set_class(self._wide, "-wide", update=False)
        self._width = self.app.size.width
        yield HeaderBar(id="header")
        with VerticalScroll(id="home", can_focus=False):
            yield Static(Content(_(_WHAT)), id="home-what", markup=False)
            yield Static(Content(_("Begin with")), classes="home-title")
            yield OptionList(*self._options(), id="starters", markup=False, compact=True)
            yield Static(Content(_("Sessions")), classes="home-title", id="sessions-title")
            yield DataTable(id="sessions", cursor_type="row", show_header=False)
            yield Static("", id="home-facts", markup=False)
        yield MessageLine(id="message")
        with Horizontal(id="prompt-row"):
            yield Static(Content(" › "), id="prompt-mark")
            wanted = _("your question or job, or the number of a starter")
            yield Prompt(_("the graph's input: JSON or words") if self.hitl.options.attached else wanted, id="prompt")
        yield KeyLine(id="keys")

    def _options(self) -> list[Option]:
        """Return the starters, each with what it does beneath where there is room."""
        rows = []
        for number, starter in enumerate(self.hitl.starters, start=1):
            said = f"\n   {safe_text(starter.description, multiline=False)}" if self._wide else ""
            title = f"{number}  {safe_text(starter.title, multiline=False)}"
            rows.append(Content.assemble(title, (said, "$text-muted")))
        own = _("{n}  Ask about your own folder: {folder}").format(n=len(rows) + 1, folder=self._folder())
        if self.hitl.options.attached is not None:
            name = safe_text(self.hitl.options.attached.graph.name, multiline=False)
            own = _("{n}  Give {graph} its input, in the line below").format(n=len(rows) + 1, graph=name)
        rows.append(Content(own))
        return [Option(row) for row in rows]

    @property
    def _wide(self) -> bool:
        width, height = self.app.size
        return width >= 100 and height >= 30

    def _folder(self) -> str:
        return safe_text(str(self.hitl.workspace), multiline=False)

    def on_mount(self) -> None:
        self.query_one(Prompt).past = self.hitl.lines
        table = self.query_one("#sessions", DataTable)
        for key, width in zip(("id", "status", "updated"), _FIXED, strict=True):
            table.add_column(Text(), key=key, width=width)  # a string would be read as markup
        table.add_column(Text(), key="title", width=20)
        self._facts()
        specs = [*keys.of(keys.PROMPT, line=True), *keys.of(keys.ANYWHERE, line=True)]
        self.query_one(KeyLine).show([s for s in specs if s.id != "prompt.complete"])
        self._show_sessions()
        self.hitl.say_now(self)
        self.set_focus(self.query_one(Prompt))
        self.hitl.take_keys()

    def on_resize(self, event: Resize) -> None:
        if self.has_class("-wide") is not self._wide:
            self.set_class(self._wide, "-wide")
            starters = self.query_one("#starters", OptionList)
            chosen = starters.highlighted
            starters.clear_options().add_options(self._options())
            starters.highlighted = chosen
        if self._width != self.app.size.width:
            self._width = self.app.size.width
            self._show_sessions()

    async def on_screen_resume(self, event: ScreenResume) -> None:
        if not self._seen:
            self._seen = True
            event.refresh_styles = False  # all was styled a moment ago, when it was mounted
            # What was typed already is to stand in the first frame: the app hands it on, then the prompt takes it.
            for __ in range(2):
                await asyncio.sleep(0)
        self.hitl.list_sessions()

    def _facts(self) -> None:
        rows = [
            (_("workspace"), self._folder()),
            (_("model"), _("none: finds and computes")),
            (
                _("mode"),
                _("{mode}  (F4 changes it)").format(mode=mode_words(self.hitl.mode))
                if self.hitl.mode in MODES
                else _("as the workspace says"),
            ),
            (_("safety"), _("nothing runs until you say so")),
        ]
        attached = self.hitl.options.attached
        if attached is not None:
            takes = _("takes {shape}").format(shape=attached.takes)
            about = [(_("graph"), f"{attached.graph.name}  ({attached.graph.target})"), (_("input"), takes)]
            rows = [*about, *((_("note"), note) for note in attached.notes), *rows]
            rows = [(label, safe_text(text, multiline=False)) for label, text in rows]
        parts = [part for label, text in rows for part in ((padded(label, 11), "$text-muted"), (f"{text}\n", ""))]
        self.query_one("#home-facts", Static).update(Content.assemble(*parts))
        self.query_one(HeaderBar).mode = mode_words(self.hitl.mode)

    def mode_changed(self) -> None:
        """Show the mode that new sessions get."""
        self._facts()

    def show_sessions(self, sessions: Sequence[SessionSummary]) -> None:
        """Show these sessions, newest first."""
        self._sessions = list(reversed(sessions))
        self._loaded = True
        self._show_sessions()

    def _show_sessions(self) -> None:
        table = self.query_one("#sessions", DataTable)
        title = self.query_one("#sessions-title", Static)
        title.display = table.display = bool(self._sessions)
        waiting = sum(s.questions for s in self._sessions)
        needs = ngettext("● {n} needs you", "● {n} need you", waiting).format(n=waiting)
        self.query_one(HeaderBar).status = needs if waiting else ""
        if "title" not in table.columns:
            return
        room = max(10, self.app.size.width - sum(_FIXED) - 4 * 2 - 6)
        table.columns["title"].width = room  # type: ignore[index]
        here = table.cursor_row
        table.clear()
        for summary in self._sessions:
            asks = f" ●{summary.questions}" if summary.questions else ""
            said = summary.title or render(summary.message)
            table.add_row(
                Text(one_line(safe_text(summary.id, multiline=False), _FIXED[0])),
                Text((_(_STATUS[summary.status]) if summary.status in _STATUS else summary.status) + asks),
                Text(day_words(summary.updated), style="dim"),
                Text(one_line(said if summary.title else safe_text(said, multiline=False), room)),
            )
        if self._sessions:
            table.move_cursor(row=min(here, len(self._sessions) - 1), animate=False)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line above the prompt."""
        self.query_one(MessageLine).say(text, error=error)

    def draft(self, text: str) -> None:
        """Put a text back that couldn't be used, unless something else was typed meanwhile."""
        prompt = self.query_one(Prompt)
        if not prompt.text:
            prompt.text = text
            prompt.move_cursor(prompt.document.end)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        event.stop()
        text = event.text
        prompt = self.query_one(Prompt)
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(self.hitl.starters) + 1:
            prompt.text = ""
            self._begin_with(int(text) - 1)
            return
        prompt.sent(text)
        self.hitl.keep_lines()
        words = text.lstrip("/ ").split(maxsplit=1)
        if text.startswith("/") and words and words[0].lower() in ("quit", "exit"):
            self.run_worker(self.hitl.action_quit())
        elif text.startswith("/") and len(words) == 2 and words[0].lower() == "new":
            self.hitl.begin(words[1])
        elif text.startswith("/") and words and words[0].lower() == "help":
            self.hitl.action_help()
        elif text.startswith("/"):
            self.say(_("Open or begin a session first; commands work there. F1 lists them."), error=True)
        else:
            self.hitl.begin(text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._begin_with(event.option_index)

    def _begin_with(self, index: int) -> None:
        if index < len(self.hitl.starters):
            self.hitl.begin_starter(self.hitl.starters[index])
        else:
            self.query_one(Prompt).focus()
            if self.hitl.options.attached is None:
                self.say(_("Type what you want to know or have done in {folder}.").format(folder=self._folder()))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if event.cursor_row < len(self._sessions):
            self.hitl.open(self._sessions[event.cursor_row].id)

    def action_next_part(self) -> None:
        parts = [w for w in ("#prompt", "#starters", "#sessions") if self.query_one(w).display]
        here = f"#{self.focused.id}" if self.focused is not None else ""
        following = parts[(parts.index(here) + 1) % len(parts)] if here in parts else parts[0]
        self.query_one(following).focus()

    def action_back(self) -> None:
        if self.focused is not None and self.focused.id == "prompt":
            self.hitl.back_to_session()
        else:
            self.query_one(Prompt).focus()
