"""A plan that is to change: its steps by kind, and what a new one had better come before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.query_reader import language_of, shown
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

IDLE = (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)
_USERS = {Need.FIND: (Need.COMPUTE, Need.WRITE), Need.COMPUTE: (Need.WRITE,), Need.RUN: (Need.WRITE,)}


@dataclass(frozen=True, slots=True)
class Scene:
    """What a change is made on.

    Args:
        text: the words that ask for it.
        query: the session's query.
        todos: the plan, in order.
        agents: all agents.
        commands: what can be called.
        rules: the rules.
        trusted: what can be called may say by itself what it does.
        reviewed: the plan is under review, nothing of it has begun.
    """

    text: str
    query: str
    todos: Sequence[SupervisorTodo]
    agents: Mapping[str, AgentFacts]
    commands: Mapping[str, CommandFacts]
    rules: Rules
    trusted: bool = True
    reviewed: bool = False

    @property
    def language(self) -> str:
        """`ko` or `en`: what the text is written in."""
        return language_of(shown(self.text), self.rules)

    def of(self, need: Need) -> list[SupervisorTodo]:
        """Return the TODOs of one kind."""
        agent = self.rules.steps[need].agent
        team = self.agents[agent].team if agent in self.agents else agent
        return [t for t in self.todos if t.metadata.get("agent", agent) == agent and t.agent_name == team]

    def called(self, name: str) -> list[SupervisorTodo]:
        """Return the TODOs that call a command or a team."""
        return [t for t in self.todos if name in (t.arguments.get("command"), t.agent_name)]

    @property
    def readers(self) -> set[str]:
        """Ids of the steps that work from what those before them find; others only wait for those."""
        found = {todo.id for need in (Need.COMPUTE, Need.WRITE) for todo in self.of(need)}
        called = ((todo.id, self.facts_of(todo)) for todo in self.todos)
        return found | {todo_id for todo_id, facts in called if facts is not None and facts.reads_results}

    @property
    def last_checks(self) -> list[str]:
        """Ids of the steps not begun that check what others did: what is done besides comes before them."""
        facts = {todo.id: found for todo in self.todos if (found := self.facts_of(todo)) and todo.status in IDLE}
        deeds = {todo_id: self.rules.lexicon.deeds(one) for todo_id, one in facts.items()}
        waits = {todo.id: todo.dependencies for todo in self.todos}
        needed = ancestors((d for i, done in deeds.items() if "verify" not in done for d in waits[i]), waits)
        return [
            todo_id for todo_id, done in deeds.items() if "verify" in done and waits[todo_id] and todo_id not in needed
        ]

    @property
    def step_ids(self) -> list[str]:
        """The ids that its steps have in the plan."""
        return [str(todo.metadata.get("step", "")) for todo in self.todos]

    def facts_of(self, todo: SupervisorTodo) -> CommandFacts | None:
        """Return the facts of what a TODO calls; None for a built-in team's."""
        return self.commands.get(str(todo.arguments.get("command") or todo.agent_name))


def ancestors(ids: Iterable[str], dependencies: Mapping[str, Iterable[str]]) -> set[str]:
    """Return these steps and all that they rest on."""
    found: set[str] = set()
    stack = list(ids)
    while stack:
        todo_id = stack.pop()
        if todo_id not in found:
            found.add(todo_id)
            stack.extend(dependencies.get(todo_id, ()))
    return found


def fed_by(need: Need, dependencies: Iterable[str], scene: Scene, gone: Collection[str] = ()) -> tuple[str, ...]:
    """Return the TODOs not begun that would use what a new one finds: the analyses, or else the reports.

    Args:
        need: the kind of the new TODO.
        dependencies: TODOs it depends on; what they rest on can't wait for it.
        scene: the plan.
        gone: TODOs that leave the plan.
    """
    before = ancestors(dependencies, {todo.id: todo.dependencies for todo in scene.todos})
    for user in _USERS.get(need, ()):
        waiting = [t.id for t in scene.of(user) if t.status in IDLE and t.id not in gone and t.id not in before]
        if waiting:
            return tuple(waiting)
    return ()
