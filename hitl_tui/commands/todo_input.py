"""TODOs that people add, and new inputs, statuses and priorities that they write."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from hitl_tui.core.errors import BadInput
from hitl_tui.core.given_values import is_held
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json, JsonObject, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, command_step_name, step_name
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionPlanConverter, ExecutionStep
from hitl_tui.core.todos import Priority, Status, SupervisorTodo, parse_priority, parse_status
from hitl_tui.teams.arguments import pairs_in

_STATUS_WORDS: Mapping[str, Status] = MappingProxyType(
    {
        **dict.fromkeys(("waits", "waiting", "대기"), Status.PENDING),
        **dict.fromkeys(("runs", "running", "실행"), Status.IN_PROGRESS),
        **dict.fromkeys(("done", "완료"), Status.COMPLETED),
        **dict.fromkeys(("asks", "질문"), Status.WAITING_APPROVAL),
        "실패": Status.FAILED,
        "건너뜀": Status.SKIPPED,
        "막힘": Status.BLOCKED,
    }
)
"""What the plan on the screen calls statuses, in our languages."""

_PRIORITY_WORDS: Mapping[str, Priority] = MappingProxyType(
    {"긴급": Priority.CRITICAL, "높음": Priority.HIGH, "중간": Priority.MEDIUM, "낮음": Priority.LOW}
)


def typed_status(text: str) -> Status:
    """Return the status that a person names, as it is called or as the plan shows it.

    Raises:
        UnknownName: there is none; the message lists all.
    """
    return _STATUS_WORDS.get(text.strip().lower()) or parse_status(text)


def typed_priority(text: str) -> Priority:
    """Return the priority that a person names, as it is called or as the plan shows it.

    Raises:
        UnknownName: there is none; the message lists all.
    """
    return _PRIORITY_WORDS.get(text.strip()) or parse_priority(text)


def manual_todo(
    facts: AgentFacts,
    text: str,
    *,
    query: str,
    taken: Sequence[str],
    after: Sequence[str],
    priority: Priority,
    now: str,
) -> SupervisorTodo:
    """Return the TODO that a person adds for an agent.

    Args:
        facts: the agent.
        text: what to do; the session's question when empty, where the team takes that.
        query: the session's question.
        taken: ids it must not get.
        after: ids it depends on; without any it depends on nothing.
        priority: its priority.
        now: the time.

    Raises:
        BadInput: the team can't use the text.
    """
    task = text or (query if facts.takes_question else "")
    said = text if facts.takes_question else f"{facts.name} {text}"  # its arguments alone don't say what it is
    step = ExecutionStep(agent=facts.name, task=task, name=clip(said.split("\n")[0]) if text else facts.description)
    plan = ExecutionPlan((step,))
    (todo,) = ExecutionPlanConverter({facts.name: facts}, now).convert_with_strategy(plan, taken=taken)
    metadata: TodoMetadata = {**todo.metadata, "added_by": "user", "manual": True}
    if not facts.reads_results:
        metadata["alone"] = True
    return replace(
        todo,
        name=command_step_name(todo.command, todo.name) if "argv" in todo.arguments and todo.command else todo.name,
        dependencies=tuple(dict.fromkeys(after)),
        priority=priority,
        metadata=metadata,
    )


def edited_input(todo: SupervisorTodo, text: str) -> tuple[str, dict[str, Json]]:
    """Return task text and parameters of an edit.

    A JSON object or `name=value …` changes the parameters that it names and keeps the others and the task; anything
    else is the new task, which takes the place of the question in the parameters. For a declared command both change
    its parameters and leave the command as it is.

    Raises:
        BadInput: the JSON can't be read.
    """
    given = _given(text)
    if "command" in todo.arguments:
        if given is None:
            raise BadInput(
                Message("{} runs a command; change its parameters with name=value or JSON.", step_name(todo.id))
            )
        nested = given.get("parameters")
        changed = nested if isinstance(nested, Mapping) else {k: v for k, v in given.items() if k != "command"}
        before = todo.arguments.get("parameters")
        parameters = {**(before if isinstance(before, Mapping) else {}), **changed}
        command = given.get("command", todo.arguments["command"])
        beside = {k: v for k, v in given.items() if k != "parameters"} if isinstance(nested, Mapping) else {}
        return command_description(todo.description, todo.arguments, str(command), parameters), {
            **beside,  # the team refuses what can't be set
            "command": command,
            "parameters": parameters,
        }
    if given is None:
        return text, {**todo.arguments, "query": text} if "query" in todo.arguments else {}
    called, before = "calls" in todo.arguments, todo.arguments.get("input")
    if not is_held(todo.arguments) or not isinstance(before, Mapping) or ("input" in given and not called):
        merged = {**todo.arguments, **given}
        return call_description(todo.description, merged), merged
    nested = given.get("input")
    merged = {**before, **(nested if "calls" in given and isinstance(nested, Mapping) else given)}
    return call_description(todo.description, merged), {**todo.arguments, "input": merged}


def call_description(description: str, given: JsonObject) -> str:
    """Return the words for a function or tool that is called with other arguments: exactly those, where they were so.

    Args:
        description: its words so far.
        given: its arguments now.
    """
    if description.strip() and _given(description) is None:
        return description
    said = {name: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for name, v in given.items()}
    return shlex.join(f"{name}={value}" for name, value in said.items())


def command_description(description: str, before: JsonObject, command: str, parameters: JsonObject) -> str:
    """Return the words for a declared command that runs with other parameters than before: exactly those.

    Args:
        description: its words so far, which stay where nothing changed.
        before: its arguments so far.
        command: which one it is now.
        parameters: its parameters now.
    """
    if (command, dict(parameters)) == (before.get("command"), before.get("parameters")):
        return description
    said = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
    return shlex.join([command, *(f"{name}={value}" for name, value in said.items())])


def _given(text: str) -> dict[str, Json] | None:
    if text.lstrip().startswith("{"):
        try:
            found = strict_json(text)
        except ValueError as error:
            raise BadInput(Message("The new input isn't valid JSON: {}.", error)) from error
        if not isinstance(found, dict):  # a text that begins with a brace is an object or no JSON
            raise BadInput(Message("The new input isn't valid JSON: {}.", text))
        return found
    pairs = pairs_in(text)
    return None if pairs is None else dict(pairs)
