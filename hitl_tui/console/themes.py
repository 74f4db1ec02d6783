"""Theme files: one TOML file a theme, the packaged ones and the user's own (C7)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

DEFAULT = "dark"
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


@dataclass(frozen=True)
class Themes:
    """What was found.

    Args:
        themes: by name; a later folder's wins.
        problems: one sentence for each file that was left out.
    """

    themes: Mapping[str, Theme]
    problems: tuple[str, ...] = ()


def load_themes(folders: Iterable[Path]) -> Themes:
    """Read all `*.toml` of some folders; a broken file is reported and left out."""
    found: dict[str, Theme] = {}
    problems = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                theme = _theme(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                problems.append(f"The theme {path.name} was left out: {error}.")
                continue
            found[theme.name] = theme
    return Themes(found, tuple(problems))


def _theme(name: str, table: Mapping[str, Any]) -> Theme:
    """Return a theme.

    Raises:
        ValueError: a key is unknown, a colour is missing or none.
    """
    unknown = table.keys() - {*_COLOURS, "dark", "variables"}
    if unknown:
        raise ValueError(f"it has unknown keys: {', '.join(sorted(unknown))}")
    missing = [key for key in _COLOURS if key not in table]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    variables, dark = table.get("variables", {}), table.get("dark", True)
    well_formed = isinstance(variables, dict) and isinstance(dark, bool)
    if not well_formed:
        raise ValueError('"variables" has to be a table and "dark" true or false')
    colours: dict[str, Any] = {key: _colour(key, table[key]) for key in _COLOURS}
    texts = {str(key): str(value) for key, value in variables.items()}
    return Theme(name=name, dark=dark, variables=texts, **colours)


def _colour(key: str, value: object) -> str:
    try:
        Color.parse(str(value))
    except ColorParseError as error:
        raise ValueError(f'"{key}" is "{value}", which is no colour') from error
    return str(value)
