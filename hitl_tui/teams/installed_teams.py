"""The teams of installed packages, the built-in ones too, found through the entry points `hitl_tui.teams`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from hitl_tui.config.team_entry_points import is_own, team_entry_points
from hitl_tui.config.workspace import TEAMS
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.teams.contract import Team, TeamSources, one
from hitl_tui.teams.withheld import WithheldTeam

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger(__name__)


def installed_teams(sources: TeamSources, taken: Collection[str] = ()) -> list[Team]:
    """Return the teams of this program, then those of other packages.

    A package whose teams can't be made has a team of the entry point's name, which says so when it is wanted.

    Args:
        sources: what teams are made from.
        taken: further names that no other package's team may have.

    Raises:
        BadInput: the workspace's settings aren't for a built-in team.
        StorageError: this program is installed without its entry points.
    """
    points = team_entry_points()
    own = [team for point in sorted(filter(is_own, points), key=_place) for team in point.load()(sources)]
    if not own:
        raise StorageError(Message("This installation of hitl-tui lacks its teams."), help=Message("Install it again."))
    others: dict[str, Team] = {}
    names = {*taken, *(team.name for team in own)}
    for point in points:
        if not is_own(point):
            for team in _teams_of(point, sources):
                if team.name in names or team.name in others:
                    log.error("The team %s of %s has the name of another one.", team.name, point.value)
                else:
                    others[team.name] = team
    return [*own, *others.values()]


def _place(point: EntryPoint) -> int:
    return TEAMS.index(point.name) if point.name in TEAMS else len(TEAMS)


def _teams_of(point: EntryPoint, sources: TeamSources) -> Iterable[Team]:
    """Return what an entry point of another package makes, or what stands for it where it fails."""
    try:
        teams = list(point.load()(sources))
    except (Exception, SystemExit) as error:
        log.exception("the teams of %s can't be made", point.value)
        why = one(f"{type(error).__name__}: {error}", 200)
    else:
        if all(isinstance(team, Team) for team in teams):
            return teams
        why = "not all that its function returns are teams"
    name, place = one(point.name), one(point.value)
    description = Message("The team {} can't be made: {}.", name, why)
    return [
        WithheldTeam(
            name, description, lambda: BadInput(Message("The team {} ({}) can't be made: {}.", name, place, why))
        )
    ]
