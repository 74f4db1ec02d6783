"""The help screen and the palette: all keys, from the key map, and all commands, from the command table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from hitl_tui.commands.spec import SPECS, help_table
from hitl_tui.console import keys
from hitl_tui.console.keymap import FILE, TITLES, Keymap
from hitl_tui.console.local_commands import OWN
from hitl_tui.console.widgets.row_drag import MARKED
from hitl_tui.console.widgets.text_search import SearchInput
from hitl_tui.core.safe_text import cell_width, safe_text
from hitl_tui.core.text_comparison import lowered
from hitl_tui.language import _, mark
from hitl_tui.wording.rows import Row, assembled, styled, text_row
from hitl_tui.wording.status_words import PRIORITIES, RISKY, SIGNS, risk_words
from hitl_tui.wording.times import padded

if TYPE_CHECKING:
    from textual.screen import Screen

    from hitl_tui.console.services import SessionConsole

_NEEDS_SESSION = mark("needs an open session: start or open one first")
_NO_SESSION = mark("no session yet")
_CHOSEN: Mapping[str, str] = {"session.undo": "undo_chosen"}
"""By the id of a key that acts only after a pause: what the palette does, where it was chosen by its name."""
_COLUMN = 14
_LINE = 110
"""Cells of a line up to which the name of a binding stands at its end: further away nobody finds what it belongs to."""
_GENERAL = (keys.LIST, keys.TREE, keys.MOVE)
"""Parts that belong to what another part says more about."""


@dataclass(frozen=True, slots=True)
class KeyRow(Row):
    """A key with what it does.

    Args:
        binding: the ids under which `keys.toml` gives it another key.
    """

    binding: str = ""


def parts_here(screen: Screen[object]) -> list[str]:
    """Return the parts of the key map that apply where the focus is, the nearest first."""
    where = {spec.id: spec.where for spec in keys.KEYS}
    found = [where.get(active.binding.id or "", "") for active in screen.active_bindings.values()]
    parts = [part for part in dict.fromkeys(found) if part]
    general = [part for part in parts if part in _GENERAL]
    near = [part for part in parts if part not in (*_GENERAL, keys.ANYWHERE)]
    if isinstance(screen.focused, SearchInput):
        near.insert(1, keys.FINDING)
    return [*near, *general]


def help_rows(
    keymap: Keymap | None = None,
    problems: Iterable[str] = (),
    first: Sequence[str] = (),
    *,
    commands_first: bool = False,
) -> list[Row]:
    """Return what went wrong at the start, all keys as they are mapped now, all signs and all commands.

    An empty line is between any two sections, and each has its title in its first line.

    Args:
        keymap: the keys; the built-in ones without.
        problems: a sentence each, of what was left out at the start.
        first: parts of the map that come first, in this order; after them what works anywhere, then all others.
        commands_first: the commands come before all keys instead of after them.
    """
    keymap = keymap or Keymap()
    sections: list[list[Row]] = []
    if told := [text_row(f"  {safe_text(problem, multiline=False)}") for problem in problems]:
        sections.append([text_row(_("Ignored at the start"), "bold $text-warning"), *told])
    for where in dict.fromkeys([*first, keys.ANYWHERE, *TITLES]):
        title = text_row(keymap.named(_(TITLES[where])), "bold $text-primary")
        sections.append([title, *key_rows(keymap, keymap.of(where))])
        if where == keys.PLAN:
            sections.append(_sign_rows())
    sections.append(
        [
            text_row(_("Other keys"), "bold $text-primary"),
            text_row(
                keymap.named(
                    _(
                        '  To change keys, write lines such as "question.1" = "y" into {file} in the data folder; '
                        "{help.find} and a few words show the names of what they find."
                    ).replace("{file}", FILE)
                )
            ),
        ]
    )
    commands = command_rows(help_table())
    sections.insert(bool(told) if commands_first else len(sections), commands)
    return [row for section in sections for row in [*section, text_row("")]][:-1]


def command_rows(commands: Iterable[tuple[str, str]]) -> list[Row]:
    """Return commands below their title, each with its usage and what it does."""
    usages = [
        Row("", assembled((f"  {usage}", "bold"), (f"\n      {_(summary)}", "$text-muted")))
        for usage, summary in commands
    ]
    return [text_row(_("Commands"), "bold $text-primary"), *usages]


def key_rows(keymap: Keymap, specs: Iterable[keys.KeySpec]) -> list[Row]:
    """Return a line for each key; numbers in a row that do the same share one, as long as none has another key."""
    rows: list[Row] = []
    for (what, __), group in groupby(specs, key=lambda spec: (spec.help, _numbered(spec) or spec.id)):
        alike = list(group)
        shown, binding = alike[0].shown, alike[0].id
        if len(alike) > 1:
            between = " … " if len(alike) > 2 else " "
            shown = f"{shown}{between}{alike[-1].shown}"
            binding = f"{binding}{between}{alike[-1].id.rpartition('.')[2]}"
        rows.append(KeyRow(padded(f"  {shown}", _COLUMN), styled(keymap.named(_(what))), binding=binding))
    return rows


def _numbered(spec: keys.KeySpec) -> bool:
    return spec.shown == spec.id.rpartition(".")[2]


def _sign_rows() -> list[Row]:
    """Return what the signs in the plan mean."""
    signs = [(glyph, _(word)) for glyph, word in SIGNS]
    signs += [(sign, _("{level} priority").format(level=_(p.value))) for p, sign in PRIORITIES.items()]
    signs += [(RISKY, risk_words("high"))]
    signs += [(MARKED, _("marked, in the plan or as a question"))]
    signs += [("←", _("waits for these steps")), ("×2", _("number of attempts"))]
    rows = [Row(padded(f"  {sign}", _COLUMN), styled(said)) for sign, said in signs]
    return [text_row(_("Signs in the plan"), "bold $text-primary"), *rows]


def sections_of(rows: Sequence[Row]) -> list[list[Row]]:
    """Return rows in sections: an empty line ends one."""
    return [list(group) for empty, group in groupby(rows, key=_empty) if not empty]


def having(rows: Sequence[Row], needle: str) -> list[Row]:
    """Return the rows that have words, each with the title of its section, or a whole section whose title has them.

    Args:
        rows: the help.
        needle: as `lowered` gives it; everything is returned for an empty one.
    """
    if not needle:
        return list(rows)
    found: list[Row] = []
    for title, *lines in sections_of(rows):
        kept = lines if needle in _said(title) else [line for line in lines if needle in _said(line)]
        if kept:
            found += [title, *kept, text_row("")]
    return found[:-1]


def _empty(row: Row) -> bool:
    return not row.label and not row.text.plain


def _said(row: Row) -> str:
    binding = row.binding if isinstance(row, KeyRow) else ""
    return lowered(f"{row.label.strip()} {row.text.plain} {binding}")


def placed(rows: Iterable[Row], width: int) -> list[Row]:
    """Return rows for a width in cells: names of bindings stand on the right, or behind where there is no room."""
    return [_placed(row, width) if isinstance(row, KeyRow) else row for row in rows]


def _placed(row: KeyRow, width: int) -> Row:
    begins = max(_COLUMN, cell_width(row.label)) + 1
    gap = min(width, _LINE) - begins - row.text.cell_length - cell_width(row.binding)
    name = (" " * max(2, gap) + row.binding, "$text-muted")
    return Row(row.label, assembled(row.text, name))


_WITH_A_KEY = frozenset(
    {"help", "mode", "model", "theme", "notices", "sessions", "fork", "export", "import", "delete", "quit"}
)
"""Commands that the palette lists by their keys already; they are found by their names all the same."""


def palette(app: SessionConsole) -> Iterable[SystemCommand]:
    """Return what the palette offers; what isn't possible now is there too, and says why."""
    session = app.session_shown
    for spec in app.keymap.of(keys.ANYWHERE):
        if spec.action not in ("command_palette", "quit"):
            yield _entry(app, f"{_capital(_(spec.label))} ({spec.shown})", _(spec.help), spec.action)
    for spec in app.keymap.of(keys.SESSION):
        name, action = f"{_capital(_(spec.label))} ({spec.shown})", _CHOSEN.get(spec.id, spec.action)
        yield _entry(app, name, _(spec.help), f"screen.{action}", "" if session else _(_NEEDS_SESSION))
    whole = next(spec for spec in app.keymap.of(keys.PLAN) if spec.id == "plan.maximise")
    name = f"{_capital(_(whole.label))} ({whole.shown})"
    yield _entry(app, name, _(whole.help), whole.action, "" if session else _(_NEEDS_SESSION))
    chosen = app.sessions.chosen
    for spec in app.keymap.of(keys.SESSIONS):
        if spec.action.startswith("want("):
            name = f"{_(spec.label).capitalize()} · {_('sessions')}"
            why_not = "" if chosen or spec.id == "sessions.import" else _(_NO_SESSION)
            yield _entry(app, name, _(spec.help), spec.action.replace("want(", "keep("), why_not)
    yield _entry(app, _("Model"), _("Use another model in this session"), "model", "" if session else _(_NEEDS_SESSION))
    yield _entry(app, _("Theme"), _("Change the theme; now {theme}").format(theme=app.theme), "change_theme")
    for name in sorted(app.available_themes):
        if name != app.theme:
            wear = partial(setattr, app, "theme", name)
            yield SystemCommand(_("Theme: {name}").format(name=name), _("Use this theme"), wear, discover=False)
    yield _entry(
        app, _("Notices"), _("Change notifications; now {words}").format(words=app.notifications.how.words), "notices"
    )
    yield _entry(
        app,
        _("Quit ({shown})").format(shown=app.keymap.shown("console.quit")),
        _("Quit; sessions can be opened again"),
        "quit",
    )
    for command in SPECS:
        if session or command.name in OWN:
            draft = partial(app.draft, f"/{command.name} ")
            yield SystemCommand(f"/{command.name}", _(command.summary), draft, command.name not in _WITH_A_KEY)
        else:
            yield _entry(app, f"/{command.name}", _(command.summary), "", _(_NEEDS_SESSION))


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


def _entry(app: SessionConsole, name: str, what: str, action: str, why_not: str = "") -> SystemCommand:
    if why_not:
        return SystemCommand(
            name, _("not now: {why_not}").format(why_not=why_not), partial(app.say, f"{name} {why_not}.")
        )
    return SystemCommand(name, what, partial(app.call, action))
