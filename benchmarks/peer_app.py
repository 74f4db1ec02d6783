"""The peer of `start.py`: a Textual app of the stock widgets that the console's first screen is composed of, idle."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import DataTable, OptionList, Static, TextArea


class PeerApp(App[None]):
    """Header line, texts, starters, a table, a prompt, a key line."""

    CSS = """
    #header, #message, #keys { height: 1; }
    #home { height: 1fr; padding: 1 2; }
    #starters, #sessions { height: auto; max-height: 10; }
    #prompt-row { height: auto; }
    #mark { width: 3; }
    #prompt { width: 1fr; height: auto; min-height: 1; max-height: 5; }
    """
    AUTO_FOCUS = "#prompt"

    def compose(self) -> ComposeResult:
        yield Static(" peer", id="header", markup=False)
        with VerticalScroll(id="home", can_focus=False):
            yield Static("What this is, in one sentence.", markup=False)
            yield Static("Begin with", markup=False)
            yield OptionList(*(f"{n}  something to begin with" for n in range(1, 6)), id="starters", markup=False)
            yield Static("Sessions", markup=False)
            yield DataTable(id="sessions", cursor_type="row", show_header=False)
            yield Static("workspace\nmodel\nmode\nsafety", markup=False)
        yield Static("", id="message", markup=False)
        with Horizontal(id="prompt-row"):
            yield Static(" > ", id="mark", markup=False)
            yield TextArea(id="prompt", compact=True, highlight_cursor_line=False, placeholder="your words")
        yield Static("F1 help", id="keys", markup=False)

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for width in (10, 14, 16, 40):
            table.add_column("", width=width)
        table.add_row("s1", "waiting", "today", "a session")


if __name__ == "__main__":
    PeerApp().run()
