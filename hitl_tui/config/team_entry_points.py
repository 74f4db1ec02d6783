"""The entry points `hitl_tui.teams`, by which installed packages bring teams: this program's own, and others'."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_GROUP = "hitl_tui.teams"
_OWN = "hitl_tui."


def _places() -> Iterator[str]:
    try:
        here = os.path.realpath(".")
    except FileNotFoundError:  # the folder is gone
        here = ""
    for place in sys.path:
        if Path(place).is_absolute() and os.path.realpath(place) != here:
            yield place


_PLACES = tuple(_places())
"""Where packages are looked for: as it is before graphs of a workspace are imported, and never the current folder."""


@cache
def team_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points, by name; each names a function that takes `TeamSources` and returns teams."""
    from importlib.metadata import distributions

    found = {
        (point.value, point.name): point
        for distribution in distributions(path=list(_PLACES))
        for point in distribution.entry_points
        if point.group == _GROUP
    }
    return tuple(sorted(found.values(), key=lambda point: point.name))


def is_own(point: EntryPoint) -> bool:
    """Return whether an entry point is this program's."""
    return point.value.startswith(_OWN)


def packaged_teams() -> tuple[str, ...]:
    """Return what settings may call the teams of other packages: the names of their entry points."""
    return tuple(dict.fromkeys(point.name for point in team_entry_points() if not is_own(point)))
