"""Lines that mean the console itself, at either prompt: to another session, to all of them, out of here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.commands.completion import Completion
    from hitl_tui.commands.parser import Parsed
    from hitl_tui.console.services import SessionConsole

OWN = frozenset({"sessions", "open", "import", "delete", "new", "index", "theme", "quit"})
"""Commands that the console carries out itself, with a session or without."""
_SHOWN = 12
_LONGEST_NAME = 60


def parsed_command(line: str) -> Parsed | None:
    """Return the command that a line is; None for words, and for a command that can't be understood."""
    from hitl_tui.commands.parser import is_command, parse

    try:
        return parse(line) if is_command(line) else None
    except HitlError:
        return None


def carry_out(app: SessionConsole, parsed: Parsed) -> None:
    """Do what one of the console's own commands says."""
    values = parsed.values
    match parsed.spec.name:
        case "quit":
            app.start(app.action_quit, "quit")
        case "new":
            query = str(values.get("query", ""))
            number = int(query) if query.isascii() and query.isdigit() else 0
            if 1 <= number <= len(app.starters):  # as on the first screen
                app.sessions.begin_starter(app.starters[number - 1])
            elif query:
                app.sessions.begin(query, typed=True)
            else:
                app.begin_anew()
        case "theme":
            choose_theme(app, str(values.get("name", "")))
        case "index":
            app.index_folder()
        case "open":
            app.sessions.open(str(values["session"]), typed=True)
        case "sessions":
            app.sessions.seek(str(values.get("words", "")))
        case "import":
            app.sessions.keep("import", given=str(values["file"]))
        case "delete":
            app.sessions.keep("delete", str(values["session"]), str(values.get("again", "")))


def choose_theme(app: SessionConsole, name: str) -> None:
    """Use a theme from now on; with no name let one be chosen from the list."""
    known = sorted(app.available_themes)
    if not name:
        app.search_themes()
    elif name in known:
        app.theme = name
        app.say(_("Theme: {name}").format(name=name))
    else:
        said = _("No theme is called {name}; themes: {known}.")
        app.say(said.format(name=one_line(name, _LONGEST_NAME), known=", ".join(known)), error=True)


def choices_shown(found: Sequence[Completion]) -> str:
    """Return the ways to go on as one safe line."""
    shown = "   ".join(f"{c.display}" for c in found[:_SHOWN])
    more = _("   … {n} more").format(n=len(found) - _SHOWN) if len(found) > _SHOWN else ""
    return safe_text(shown, multiline=False) + more
