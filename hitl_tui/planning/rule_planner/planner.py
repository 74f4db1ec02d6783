"""`RulePlanner`: plans without a model, by the rules of rules.toml, and takes feedback on a plan.

In this package words that ask for nothing, or for something impossible, are a `BadInput`; a `PlanError` says that an
agent is disabled or a parameter unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import CurrentPlan, Planned, Proposed
from hitl_tui.planning.rule_planner.calls import asked_in, in_order
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, team_facts
from hitl_tui.planning.rule_planner.continuation import follow_up_search
from hitl_tui.planning.rule_planner.plan_changes import changed
from hitl_tui.planning.rule_planner.plan_revision import Scene
from hitl_tui.planning.rule_planner.plan_steps import Wanted, planned
from hitl_tui.planning.rule_planner.query_reader import read, report_file
from hitl_tui.planning.rule_planner.table_questions import Tables
from hitl_tui.tables.engine import in_thread


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans by words and patterns, in Korean and English.

    What it recognises and plans is in rules.toml.

    Args:
        commands: declared commands by name (see `command_facts`).
        withheld: names of the teams of a folder that nobody trusts yet; None for a trusted one. Of such a folder no
            team is planned, and a command only where the person calls it, or asks for what no search does: what it
            says of its commands makes no step out of a query that asks for something else.
        workspace: the folder whose tables are asked what is about one; None for none.
    """

    commands: Mapping[str, CommandFacts] = field(default_factory=dict)
    withheld: tuple[str, ...] | None = None
    workspace: Path | None = None

    # Each in a thread: a plan of ten thousand or hundreds of tools take a while, and whoever waits has keys to answer
    # meanwhile. What it is made from is never changed.

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        return await in_thread(self._plan, query, agents)

    def _plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        file, query = report_file(query)
        reading = read(query)
        reading = replace(reading, text=in_order(reading.text))
        scene = self._scene(query, CurrentPlan(query, (), agents))
        asked = asked_in(reading.text, scene.commands, trusted=scene.trusted)
        return planned(scene, Wanted(query, reading, asked, scene, file), self.withheld or ())

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return await in_thread(lambda: changed(self._scene(text, plan)))

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        """Return what follows from a result: a broader search after one with too few hits, else nothing.

        Nothing follows where a table that is named has no answer.
        """
        return await in_thread(lambda: follow_up_search(self._scene(plan.query, plan), todo, result))

    def _scene(self, text: str, plan: CurrentPlan) -> Scene:
        known, trusted, reviewed = self._known(plan.agents), self.withheld is None, bool(plan.remarks)
        return Scene(text, plan.query, plan.todos, plan.agents, known, trusted, reviewed, Tables(self.workspace))

    def _known(self, agents: Mapping[str, AgentFacts]) -> Mapping[str, CommandFacts]:
        """Return what can be called: the declared commands, and the teams that people brought."""
        return {**(team_facts(agents) if self.withheld is None else {}), **self.commands}
