"""A change of a plan in the making: what it begins with, and its draft."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, ExecutionStep
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.order_grammar import Order
from hitl_tui.planning.rule_planner.query_reader import language_of, shown
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

HELP = Message(
    "You can add a search, an analysis, a report or a declared command, and skip, "
    'remove or prioritise steps: for example "add an analysis" or "skip the report".'
)
NAMES = {Need.FIND: "search", Need.COMPUTE: "analysis", Need.WRITE: "report", Need.RUN: "command"}

IDLE = (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a change is made on.

    Args:
        text: the words that ask for it.
        query: the session's query.
        todos: the plan, in order.
        agents: all agents.
        commands: the declared commands.
        rules: the rules.
    """

    text: str
    query: str
    todos: Sequence[SupervisorTodo]
    agents: Mapping[str, AgentFacts]
    commands: Mapping[str, CommandFacts]
    rules: Rules

    @property
    def language(self) -> str:
        """`ko` or `en`: what the text is written in."""
        return language_of(shown(self.text, self.rules.limits), self.rules.words)

    def of(self, need: Need) -> list[SupervisorTodo]:
        """Return the TODOs of one kind."""
        agent = self.rules.steps[need].agent
        team = self.agents[agent].team if agent in self.agents else agent
        return [t for t in self.todos if t.metadata.get("agent", agent) == agent and t.agent_name == team]


@dataclass(frozen=True, slots=True)
class Added:
    """A step to be added; `dependencies` hold TODO ids and indices of steps added before it."""

    need: Need
    step: ExecutionStep
    dependencies: tuple[str | int, ...]
    feeds: tuple[str, ...]


@dataclass(slots=True)
class Draft:
    """Changes as they come together.

    Args:
        gone: TODOs that leave the plan, by being `removed` or `skipped`.
        kept: TODOs that were to be removed and are skipped instead.
        priorities: new priorities.
        added: new steps.
        refusals: why parts of the text could not be done.
    """

    gone: set[str] = field(default_factory=set)
    removed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    priorities: dict[str, Priority] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
    refusals: list[BadInput] = field(default_factory=list)


def named_todos(order: Order, scene: Scene) -> list[SupervisorTodo]:
    """Return the TODOs an order names.

    Raises:
        BadInput: it names one by an id that doesn't exist.
    """
    if order.number:
        found = [t for t in scene.todos if t.id == f"todo_{order.number:03d}"]
        if not found:
            known = ", ".join(t.id for t in scene.todos[:6]) or "none"
            raise BadInput(Message("No step {}; known: {}.", f"{order.number:03d}", known))
        return found
    if order.command:
        return [t for t in scene.todos if t.arguments.get("command") == order.command]
    if order.need:
        return scene.of(order.need)
    return list(scene.todos)


def spoken(order: Order) -> str:
    """Return what an order names, for a message."""
    if order.command:
        return f'"{order.command}"'
    return NAMES[order.need] if order.need else f"todo_{order.number:03d}"


def fed_by(need: Need, dependencies: Iterable[str], scene: Scene, gone: Collection[str] = ()) -> tuple[str, ...]:
    """Return the TODOs not begun that would use what a new one finds: the analyses, or else the reports.

    Args:
        need: the kind of the new TODO.
        dependencies: TODOs it depends on; what they rest on can't wait for it.
        scene: the plan.
        gone: TODOs that leave the plan.
    """
    later = {Need.FIND: (Need.COMPUTE, Need.WRITE), Need.COMPUTE: (Need.WRITE,), Need.RUN: (Need.WRITE,)}
    before = _ancestors(dependencies, scene.todos)
    for user in later.get(need, ()):
        waiting = [t.id for t in scene.of(user) if t.status in IDLE and t.id not in gone and t.id not in before]
        if waiting:
            return tuple(waiting)
    return ()


def _ancestors(ids: Iterable[str], todos: Iterable[SupervisorTodo]) -> set[str]:
    dependencies = {t.id: t.dependencies for t in todos}
    found: set[str] = set()
    stack = list(ids)
    while stack:
        todo_id = stack.pop()
        if todo_id not in found:
            found.add(todo_id)
            stack.extend(dependencies.get(todo_id, ()))
    return found
