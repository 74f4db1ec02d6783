"""A plan that is to change: its steps by kind and by name, and which of them had better wait for a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.edits import Named
from hitl_tui.planning.rule_planner.query_reader import language_of, shown
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules

IDLE = (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)
_USERS = {Need.FIND: (Need.COMPUTE, Need.WRITE), Need.COMPUTE: (Need.WRITE,), Need.RUN: (Need.WRITE,)}


@dataclass(frozen=True, slots=True)
class Scene:
    """What a change is made on.

    Args:
        trusted: what can be called may say by itself what it does.
        reviewed: the plan is under review, nothing of it has begun.
    """

    text: str
    query: str
    todos: Sequence[SupervisorTodo]
    agents: Mapping[str, AgentFacts]
    commands: Mapping[str, CommandFacts]
    trusted: bool = True
    reviewed: bool = False

    @property
    def language(self) -> str:
        """`ko` or `en`: what the text is written in."""
        return language_of(shown(self.text))

    def agent_for(self, need: Need) -> AgentFacts | None:
        """Return the agent that meets a need; None where it is disabled."""
        facts = self.agents.get(rules().steps[need].agent)
        return facts if facts and facts.enabled else None

    def is_of(self, todo: SupervisorTodo, need: Need) -> bool:
        """Whether a TODO is of a kind."""
        agent = rules().steps[need].agent
        team = self.agents[agent].team if agent in self.agents else agent
        return todo.agent_name == team and todo.metadata.get("agent", agent) == agent

    def kind_of(self, todo: SupervisorTodo) -> Need:
        """Return the kind of a TODO; that of a brought team is `RUN`."""
        return next((need for need in Need if self.is_of(todo, need)), Need.RUN)

    def of(self, need: Need) -> list[SupervisorTodo]:
        """Return the TODOs of one kind."""
        return [todo for todo in self.todos if self.is_of(todo, need)]

    def called(self, name: str) -> list[SupervisorTodo]:
        """Return the TODOs that call a command or a team."""
        return [t for t in self.todos if name in (t.arguments.get("command"), t.agent_name)]

    def named(self, steps: Iterable[Named]) -> list[SupervisorTodo]:
        """Return the TODOs that are named."""
        found: dict[str, SupervisorTodo] = {}
        for step in steps:
            if step.number:
                todos = [t for t in self.todos if t.id == f"todo_{step.number:03d}"]
                if not todos:
                    known = ", ".join(step_name(t.id) for t in self.todos[:6]) or "none"
                    raise BadInput(Message("No step {}; known: {}.", f"{step.number:03d}", known))
            elif step.command:
                todos = self.called(step.command)
            else:
                todos = self.of(step.need) if step.need else list(self.todos)
            found |= {todo.id: todo for todo in todos}
        return list(found.values())

    def reads(self, todo: SupervisorTodo) -> bool:
        """Whether a TODO works from what those before it find; another one only waits for those."""
        facts = self.facts_of(todo)
        return self.kind_of(todo) in (Need.COMPUTE, Need.WRITE) or (facts is not None and facts.reads_results)

    @property
    def last_checks(self) -> list[str]:
        """Ids of the steps not begun that check what others did: what is done besides comes before them."""
        facts = {todo.id: found for todo in self.todos if (found := self.facts_of(todo)) and todo.status in IDLE}
        deeds = {todo_id: lexicon().deeds(one) for todo_id, one in facts.items()}
        waits = {todo.id: todo.dependencies for todo in self.todos}
        needed = ancestors((d for i, done in deeds.items() if "verify" not in done for d in waits[i]), waits)
        return [
            todo_id for todo_id, done in deeds.items() if "verify" in done and waits[todo_id] and todo_id not in needed
        ]

    def users(self, need: Need, dependencies: Iterable[str], gone: Collection[str] = ()) -> tuple[str, ...]:
        """Return the TODOs not begun that would use what a new one finds: the analyses, or else the reports.

        What its dependencies rest on can't wait for it.
        """
        before = ancestors(dependencies, {todo.id: todo.dependencies for todo in self.todos})
        for user in _USERS.get(need, ()):
            waiting = [t.id for t in self.of(user) if t.status in IDLE and t.id not in gone and t.id not in before]
            if waiting:
                return tuple(waiting)
        return ()

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
