"""The help screen and the palette: all keys, from the key map, and all commands, from the command table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.content import Content

from hitl_tui.commands.spec import SPECS, help_table
from hitl_tui.console import keys
from hitl_tui.console.keymap import FILE, Keymap
from hitl_tui.console.rows import Row, text_row
from hitl_tui.console.screens.lines import OWN
from hitl_tui.core.safe_text import cell_width, safe_text
from hitl_tui.language import _, mark

if TYPE_CHECKING:
    from hitl_tui.console.app import HitlApp

_NEEDS_SESSION = mark("needs an open session: begin or open one first")
_NO_SESSION = mark("there is no session yet")
_COLUMN = 14


def help_rows(keymap: Keymap | None = None, problems: Iterable[str] = ()) -> list[Row]:
    """Return what went wrong at the start, all keys as they are mapped now, and all commands."""
    keymap = keymap or Keymap()
    rows: list[Row] = []
    for number, problem in enumerate(problems):
        if not number:
            rows.append(text_row(_("Left out at the start"), "bold $text-warning"))
        rows.append(text_row(f"  {safe_text(problem, multiline=False)}"))
    if rows:
        rows.append(text_row(""))
    for where, title in keys.TITLES.items():
        rows.append(text_row(keymap.named(_(title)), "bold $text-primary"))
        rows += [_key_row(keymap, spec) for spec in keymap.of(where)]
        rows.append(text_row(""))
    rows.append(
        text_row(
            _('Other keys: lines such as "question.1" = "y" in {file} in the data folder; ids:').format(file=FILE),
            "bold",
        )
    )
    rows.append(text_row("  " + "  ".join(spec.id for spec in keymap.specs), "$text-muted"))
    rows.append(text_row(""))
    rows.append(text_row(_("Commands"), "bold $text-primary"))
    for usage, summary in help_table():
        rows += [text_row(f"  {usage}", "bold"), text_row(f"      {_(summary)}", "$text-muted")]
    return rows


def _key_row(keymap: Keymap, spec: keys.KeySpec) -> Row:
    label = f"  {spec.shown}"
    return Row(label + " " * max(0, _COLUMN - cell_width(label)), Content(keymap.named(_(spec.help))))


def palette(app: HitlApp) -> Iterable[SystemCommand]:
    """Return what the palette offers; what isn't possible now is there too, and says why."""
    session = app.session_shown
    for spec in app.keymap.of(keys.ANYWHERE):
        if spec.action not in ("command_palette", "quit"):
            yield _entry(app, f"{_capital(_(spec.label))} ({spec.shown})", _(spec.help), spec.action)
    for spec in app.keymap.of(keys.SESSION):
        name = f"{_capital(_(spec.label))} ({spec.shown})"
        yield _entry(app, name, _(spec.help), f"screen.{spec.action}", "" if session else _(_NEEDS_SESSION))
    chosen = app.sessions.chosen
    for spec in app.keymap.of(keys.SESSIONS):
        if spec.action.startswith("want("):
            name = f"{_(spec.label).capitalize()} · {_('sessions')}"
            why_not = "" if chosen or spec.id == "sessions.import" else _(_NO_SESSION)
            yield _entry(app, name, _(spec.help), spec.action.replace("want(", "keep("), why_not)
    yield _entry(app, _("Theme"), _("Another theme; now {theme}").format(theme=app.theme), "change_theme")
    yield _entry(app, _("Notices"), _("How you are called; now {words}").format(words=app.notices.how.words), "notices")
    yield _entry(
        app,
        _("Quit ({shown})").format(shown=app.keymap.shown("console.quit")),
        _("Leave; the session can be opened again"),
        "quit",
    )
    for command in SPECS:
        if session or command.name in OWN:
            draft = partial(app.draft, f"/{command.name} ")
            yield SystemCommand(f"/{command.name}", _(command.summary), draft)
        else:
            yield _entry(app, f"/{command.name}", _(command.summary), "", _(_NEEDS_SESSION))


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


def _entry(app: HitlApp, name: str, what: str, action: str, why_not: str = "") -> SystemCommand:
    if why_not:
        return SystemCommand(
            name, _("not now: {why_not}").format(why_not=why_not), partial(app.say, f"{name} {why_not}.")
        )
    return SystemCommand(name, what, partial(app.call, action))
