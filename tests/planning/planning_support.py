"""Agents and commands for planning tests: real bind functions, small enough to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hitl_tui.core.board import Board, Control, Draft, Rules
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import ProposedChange
from hitl_tui.core.plan import AgentFacts, Concern
from hitl_tui.core.policy import Risk
from hitl_tui.core.proposal_changes import work_in
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.teams.analysis.team import AnalysisTeam
from hitl_tui.teams.search.team import SearchTeam


def carried_out(changes: Sequence[ProposedChange], todos: Sequence[SupervisorTodo]) -> list[SupervisorTodo]:
    """Return a plan with changes worked in as under review, in order."""
    control = Control(highest=max((int(todo.id.removeprefix("todo_")) for todo in todos), default=0))
    draft = Draft(Board("s1", "the query", {todo.id: todo.to_state() for todo in todos}, control), Rules())
    work_in(draft, changes, "2026-03-01T09:00:00+00:00")
    return draft.result().all()


def bind_search(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    query = str(parameters.get("query") or text).strip()
    if not query:
        raise BadInput("A search needs a query.")
    return {"query": query, "limit": int(parameters.get("limit", 8)), "documents": ["."]}


def bind_analysis(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    unknown = parameters.keys() - {"query", "analysis_type"}
    if unknown:
        raise BadInput(f"An analysis takes no {', '.join(sorted(unknown))}.")
    return {
        "query": str(parameters.get("query") or text),
        "analysis_type": str(parameters.get("analysis_type", "comprehensive")),
    }


def bind_document(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    title = str(parameters.get("title") or text).strip()
    if not title:
        raise BadInput("A report needs a title.")
    slug = "-".join("".join(c if c.isalnum() else " " for c in title).split())[:60] or "report"
    return {"title": title, "path": f"reports/{slug}.md"}


def bind_command(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    command = parameters.get("command")
    if command not in COMMANDS:
        raise BadInput(f'There is no command "{command}".')
    given = dict(parameters.get("parameters", {}))
    for name, facts in COMMANDS[command].parameters.items():
        given.setdefault(name, facts.default)
    return {"command": command, "parameters": given}


def agent(name: str, *, enabled: bool = True) -> AgentFacts:
    binds = {
        "search_team": bind_search,
        "analysis_team": bind_analysis,
        "document_team": bind_document,
        "command_team": bind_command,
    }
    asking = {"search_team": SearchTeam(), "analysis_team": AnalysisTeam()}
    risk = Risk.HIGH if name in ("document_team", "command_team") else Risk.LOW
    return AgentFacts(
        name=name,
        team=name,
        description=f"The {name.removesuffix('_team')} agent.",
        enabled=enabled,
        max_retries=0 if risk is Risk.HIGH else 2,
        timeout=90.0,
        bind=binds[name],
        risk_of=lambda arguments: risk,
        input_schema=lambda: asking[name].input_schema if name in asking else {},
        concern=AnalysisTeam().concern if name == "analysis_team" else lambda question: Concern.NONE,
    )


def agents(*disabled: str) -> dict[str, AgentFacts]:
    names = ("search_team", "analysis_team", "document_team", "command_team")
    return {name: agent(name, enabled=name not in disabled) for name in names}


COMMANDS = {
    "clean-logs": CommandFacts(
        "clean-logs",
        "Deletes compressed logs older than some days",
        {
            "dir": ParameterFacts("path", default="logs"),
            "days": ParameterFacts("integer", default=14),
        },
    ),
    "backup-database": CommandFacts(
        "backup-database",
        "데이터베이스를 백업한다",
        {
            "target": ParameterFacts("path"),
            "mode": ParameterFacts("choice", default="full", choices=("full", "delta")),
        },
    ),
    "list-files": CommandFacts(
        "list-files", "Lists the files of a folder", {"dir": ParameterFacts("path", default=".")}
    ),
    "deploy": CommandFacts("deploy", "Deploys the site", {"stage": ParameterFacts("choice", choices=("test", "live"))}),
}
