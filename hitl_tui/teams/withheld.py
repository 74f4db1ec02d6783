"""Teams of an untrusted workspace: they have a name and a description, and do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Team, TeamGraph


class WithheldTeam(Team):
    """Stands for a declared team until its workspace is trusted: nothing is imported, bound, previewed or run.

    Args:
        name: the team's name.
        description: for a person and a planner.
        refusal: makes what is raised when anything is wanted of it.
    """

    def __init__(self, name: str, description: str, refusal: Callable[[], BadInput]) -> None:
        self.name = name
        self.description = description
        self.risk = Risk.HIGH  # what an untrusted declaration says of it doesn't count
        self._refusal = refusal

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`: nothing is known of them."""
        return {"type": "object"}

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Refuse to take anything.

        Raises:
            BadInput: always; it names what would help.
        """
        self._refuse()

    def build(self) -> TeamGraph:
        """Refuse to run.

        Raises:
            BadInput: always; it names what would help.
        """
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise self._refusal()
