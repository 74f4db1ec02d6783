"""Theme files: one TOML file a theme, the packaged ones and the user's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.color import Color, ColorParseError
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from hitl_tui.language import _

if TYPE_CHECKING:
    from textual.app import App

DEFAULT = "dark"
_LIGHT = frozenset({7, *range(9, 16)})
"""Numbers of the sixteen colours that are light."""
_MUTED, _DISABLED = 0.68, 0.56
LEAST_CONTRAST = 3.0
"""What a text and the ground under it have to differ by at least, as WCAG counts: from 1 to 21."""
_GROUNDS = ("background", "surface", "panel")
_COLOURS = (
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
)
_ANSI = "ansi_"
# Textual's own stylesheets take these for granted.
_ANSI_VARIABLES = {"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"}


class Themes(NamedTuple):
    """What was found.

    Args:
        themes: by name; a later folder's wins.
        problems: one sentence for each file that was left out.
    """

    themes: Mapping[str, Theme]
    problems: tuple[str, ...] = ()


def load_themes(folders: Iterable[Path], only: Collection[str] = ()) -> Themes:
    """Read the `*.toml` of some folders; a broken file is reported and left out.

    Args:
        folders: a later one's themes win.
        only: names of the themes to read; empty for all.
    """
    from hitl_tui.console.user_files import read_table

    found: dict[str, Theme] = {}
    problems = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            if only and path.stem not in only:
                continue
            try:
                theme = _theme(path.stem, read_table(path))
            except (OSError, ValueError) as error:
                problems.append(
                    _("Theme {name} ignored: {error}.").format(name=path.name, error=str(error).rstrip("."))
                )
                continue
            found[theme.name] = theme
    return Themes(found, tuple(problems))


def fitting_theme(environment: Mapping[str, str]) -> str:
    """Return the theme for the background that a terminal names in `COLORFGBG`; empty where it names none."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "" if not background.isdigit() else "light" if int(background) in _LIGHT else DEFAULT


def apply_theme(app: App[Any], folders: Iterable[Path], choices: Sequence[str]) -> bool:
    """Give an app the first theme that is there; return False when none is. No other one is read.

    Args:
        app: the app.
        folders: a later one's themes win.
        choices: names of themes.
    """
    found = load_themes(folders, only=choices).themes
    choice = next((name for name in choices if name in found), None)
    if choice is None:
        return False
    app.register_theme(found[choice])
    app.theme = choice
    return True


def register_themes(app: App[Any], folders: Iterable[Path]) -> tuple[str, ...]:
    """Let an app's person choose among the themes of some folders, and no others; return one sentence a problem."""
    found = load_themes(folders)
    known = app.available_themes
    for theme in found.themes.values():
        if known.get(theme.name) != theme:
            app.register_theme(theme)
    for name in known.keys() - found.themes.keys() if found.themes else ():
        app.unregister_theme(name)
    return found.problems


def colourless(filters: Iterable[LineFilter], *, ansi: bool) -> list[LineFilter]:
    """Return an app's filters; with `NO_COLOR` the one that fits its theme, which Textual chooses before there is one.

    Greys made of the terminal's own colours would be black on black.
    """
    fits: type[LineFilter] = NoColor if ansi else Monochrome
    return [fits() if isinstance(one, (NoColor, Monochrome)) else one for one in filters]


def rich_colour(value: str) -> str:
    """Return a theme variable's colour for Rich; empty for the terminal's own and for what is no plain colour."""
    name = value.split(" ")[0]
    if name.startswith("#"):
        return name
    ansi = name.removeprefix(_ANSI)
    return ansi if name.startswith(_ANSI) and ansi != "default" else ""


def _theme(name: str, table: Mapping[str, Any]) -> Theme:
    """Return a theme.

    Raises:
        ValueError: a key is unknown, a colour is missing or none, or text can't be read.
    """
    unknown = table.keys() - {*_COLOURS, "dark", "ansi", "variables"}
    if unknown:
        raise ValueError(_("it has unknown keys: {unknown}").format(unknown=", ".join(sorted(unknown))))
    missing = [key for key in _COLOURS if key not in table]
    if missing:
        raise ValueError(_("it lacks {missing}").format(missing=", ".join(missing)))
    variables, dark, ansi = table.get("variables", {}), table.get("dark", True), table.get("ansi", False)
    well_formed = isinstance(variables, dict) and isinstance(dark, bool) and isinstance(ansi, bool)
    if not well_formed:
        raise ValueError(_('"variables" must be a table, "dark" and "ansi" true or false'))
    colours: dict[str, Any] = {key: _colour(key, table[key]) for key in _COLOURS}
    texts = {str(key): _variable(str(key), value) for key, value in variables.items()}
    usual = _ANSI_VARIABLES if ansi else _quiet(colours)
    theme = Theme(name=name, dark=dark, ansi=ansi, variables={**usual, **texts}, **colours)
    made = theme.to_color_system().generate()  # an unusable mixture shows here, not while the console draws
    for ground in _GROUNDS if not ansi else ():  # what a terminal's own colours are isn't known
        found = contrast(*(Color.parse(made[key]) for key in ("foreground", ground)))
        if found < LEAST_CONTRAST:
            said = _('"foreground" can\'t be read on "{ground}": their contrast is {found:.1f}, and must be {least:g}')
            raise ValueError(said.format(ground=ground, found=found, least=LEAST_CONTRAST))
    return theme


def contrast(one: Color, other: Color) -> float:
    """Return how far two colours are apart in brightness, as WCAG counts: from 1, the same, to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def _quiet(colours: Mapping[str, str]) -> dict[str, str]:
    """Return the colours of text that stands back; only stylesheets can mix the shares of black that Textual has."""
    background, foreground = Color.parse(colours["background"]), Color.parse(colours["foreground"])
    shares = {"text-muted": _MUTED, "text-disabled": _DISABLED}
    return {name: background.blend(foreground, share).hex6 for name, share in shares.items()}


def _colour(key: str, value: object) -> str:
    try:
        Color.parse(str(value))
    except ColorParseError as error:
        raise ValueError(_('"{key}" is "{value}", which isn\'t a colour').format(key=key, value=value)) from error
    return str(value)


def _variable(key: str, value: object) -> str:
    """Return a variable's value; one that is read as a colour has to be one, or the stylesheets can't be read.

    Raises:
        ValueError: it is no colour, nor a text style.
    """
    text = str(value)
    if key.endswith("-style"):
        if not set(text.split()) <= {"none", "bold", "dim", "italic", "underline", "reverse", "strike", "not"}:
            raise ValueError(_('"{key}" is "{text}", which isn\'t a text style').format(key=key, text=text))
        return text
    first, __, share = text.partition(" ")
    if share and not (share.endswith("%") and share[:-1].isdigit()):
        raise ValueError(_('"{key}" is "{text}", which isn\'t a colour').format(key=key, text=text))
    _colour(key, first)
    return text
