"""`AgentTeam`: a chat model with declared tools as a team. Every call of a tool passes the policy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.config.declared_agents import PYTHON, AgentDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_markdown import literal
from hitl_tui.core.safe_text import mask, safe_text
from hitl_tui.core.written_language import language_of
from hitl_tui.teams.agent.agent_tool import AgentTool
from hitl_tui.teams.agent.python_tool import PythonTeam
from hitl_tui.teams.contract import (
    DECLARED_RISK,
    Citation,
    Team,
    TeamContext,
    TeamFailure,
    TeamGraph,
    TeamResult,
    TeamSources,
    in_steps,
    one,
    unknown_name,
)

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

_ORDER = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)
_TASK, _EARLIER = 20_000, 6_000
_COMMANDS = "command_team"
_NAMED, _TRIED = 3, 200
_WORDS = {
    "en": {
        "none": "No tool was called: nothing of this was done or looked up by {}.",
        "written": "The call of {} was written as text and wasn't made.",
    },
    "ko": {
        "none": "도구를 하나도 호출하지 않았습니다. 아래 내용은 실행하거나 찾아본 것이 아닙니다 ({}).",
        "written": "글로만 쓰여 실행되지 않은 호출: {}.",
    },
}
_GIVEN = ("arguments", "parameters", "args", "input")
"""Under these keys models write what a call is given."""


class AgentState(TypedDict, total=False):
    """State of the team's graph: the task and the result; the conversation is the agent's own."""

    task: str
    result: dict[str, Any]


class AgentTeam(Team):
    """A chat model that works with tools until it has an answer.

    Its risk is that of its riskiest tool unless a higher one is declared: what it asks about is of that class.

    Args:
        declaration: what it is told, and what it may call.
    """

    def __init__(self, declaration: AgentDeclaration) -> None:
        self.declaration = declaration
        self.name = declaration.name
        self.description = declaration.description or one(declaration.prompt, 160)
        self.timeout = declaration.timeout
        self.optional = declaration.optional
        self.risk = declaration.risk or Risk.HIGH
        self._tools: dict[str, AgentTool] = {}
        self._missing: BadInput | None = None
        self._agent: Any = None

    def meet(self, teams: Mapping[str, Team]) -> None:
        """Take the tools from the teams there are."""
        for name in self.declaration.tools:
            try:
                self._tools[name] = _tool(name, teams)
            except BadInput as error:
                self._missing = error
        risks = [tool.risk for tool in self._tools.values()]
        risks += [self.declaration.risk] if self.declaration.risk is not None else []
        self.risk = max(risks, key=_ORDER.index, default=Risk.LOW)

    def risk_reason(self, arguments: JsonObject) -> str:
        """Return where a medium risk is from."""
        if self.risk is not Risk.MEDIUM:
            return ""
        return DECLARED_RISK if self.declaration.risk is self.risk else Message("that of its riskiest tool")

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`; its tools follow from the declaration."""
        return {
            "type": "object",
            "properties": {
                "task": {"type": "string"},
                "tools": {"type": "array", "items": {"type": "string"}, "readOnly": True},
            },
            "required": ["task"],
            "additionalProperties": False,
        }

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the task and the names of the tools that are at hand.

        Raises:
            BadInput: the task is empty or too long, or a tool doesn't exist.
        """
        if self._missing is not None:
            raise self._missing
        for key in arguments:
            if key not in ("task", "tools"):
                raise BadInput(Message('{} takes "task", not "{}".', self.name, one(str(key))))
        task = arguments.get("task", text)
        if not isinstance(task, str) or not task.strip() or len(task) > _TASK:
            raise BadInput(Message("The task of {} must be a text of at most {} characters.", self.name, f"{_TASK:,}"))
        return {"task": task.strip(), "tools": list(self.declaration.tools)}

    def build(self) -> TeamGraph:
        """Return a graph whose one node lets the agent work, as a graph within it."""
        return in_steps(AgentState, ("work", self._work))

    async def _work(self, state: AgentState, runtime: Runtime[TeamContext]) -> AgentState:
        context = runtime.context
        if context.model is None or not context.model.name:
            raise BadInput(
                Message("{} needs a model.", self.name), help=Message("To use one: /model openai:gpt-5-mini")
            )
        agent = await asyncio.to_thread(self._made)
        found = await agent.ainvoke(
            {"messages": [{"role": "user", "content": _request(context)}]},
            {"recursion_limit": 6 * self.declaration.most_calls + 50},
            context=context,
        )
        return {"result": self._result(found["messages"], context).to_dict()}

    def _result(self, messages: list[Any], context: TeamContext) -> TeamResult:
        """Return what came of a conversation; what was only told of is said first."""
        result = _result(messages)
        words = _WORDS[language_of(str(context.task.arguments["task"]), context.task.query)]
        called = any(message.type == "tool" for message in messages)
        said = [words["none"].format(literal(self.name))] if self._tools and not called else []
        unmade = written_calls(result.text, self._tools)[:_NAMED]
        said += [words["written"].format(literal(name)) for name in unmade]
        return replace(result, text=f"⚠ {' '.join(said)}\n\n{result.text}") if said else result

    def _made(self) -> Any:
        """Return the agent; LangChain is imported for it, and tools are described in processes of their own."""
        if self._agent is None:
            from hitl_tui.teams.agent.agent_graph import make_agent

            self._agent = make_agent(self.declaration, self._tools, self.risk)
        return self._agent


def _tool(name: str, teams: Mapping[str, Team]) -> AgentTool:
    if name == PYTHON:
        return AgentTool(name, PythonTeam())
    if name in teams and name != _COMMANDS:
        return AgentTool(name, teams[name])
    commands = teams[_COMMANDS].commands if _COMMANDS in teams else {}
    if name in commands:
        return AgentTool(name, teams[_COMMANDS], name)
    raise unknown_name("tool", name, [*teams, *commands, PYTHON])


def teams(sources: TeamSources) -> list[Team]:
    """Return a team for each agent that a workspace declares."""
    return [AgentTeam(agent) for agent in sources.config.agents.values()]


def _request(context: TeamContext) -> str:
    """Return what the model is asked: the task, the session's question and what earlier steps found."""
    task, parts = context.task, [str(context.task.arguments["task"])]
    if task.query.strip() != parts[0]:
        parts.append(f"It is part of this request: {task.query}")
    for todo_id, result in task.inputs.items():
        text = result.text if len(result.text) <= _EARLIER else f"{result.text[:_EARLIER]}…"
        parts.append(f"Step {todo_id} found, as data:\n{json.dumps(text, ensure_ascii=False)}")
    return mask("\n\n".join(parts), context.secrets)


def written_calls(text: str, tools: Collection[str]) -> list[str]:
    """Return the names of the calls that a text holds as JSON, each once: none of them was made.

    Args:
        text: an answer.
        tools: what could have been called; what has a name and arguments is also a call of something else.
    """
    found: list[str] = []
    at, decoder = text.find("{"), json.JSONDecoder()
    for _ in range(_TRIED):
        if at < 0:
            break
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            item, end = None, at + 1
        name = _name_in(item, tools)
        found += [name] if name and name not in found else []
        at = text.find("{", end if name else at + 1)
    return [safe_text(name, multiline=False, limit=60) for name in found]


def _name_in(item: object, tools: Collection[str]) -> str:
    """Return what an object calls; empty where it is no call."""
    if not isinstance(item, Mapping):
        return ""
    call = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = call.get("name")
    if not isinstance(name, str) or not name or "description" in call:  # a tool that is described isn't called
        return ""
    return name if "arguments" in call or (name in tools and any(key in call for key in _GIVEN)) else ""


def _result(messages: list[Any]) -> TeamResult:
    """Return what came of a conversation: its last words, and those of the passages found that they name."""
    said = str(messages[-1].text).strip()
    if not said:
        raise TeamFailure(Message("The model ended without an answer."))
    calls: list[Json] = []
    found: dict[str, Citation] = {}
    for message in messages:
        if message.type != "tool":
            continue
        kept = message.artifact if isinstance(message.artifact, Mapping) else {}
        calls.append({"tool": str(message.name), "status": str(kept.get("outcome", message.status))})
        for item in kept.get("citations", ()):
            citation = Citation.from_dict(item)
            found[citation.label] = citation
    cited = tuple(citation for label, citation in found.items() if label in said)
    return TeamResult(text=f"{said}\n", data={"calls": calls}, citations=cited)
