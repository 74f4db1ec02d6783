"""What a run of an attached graph gets beside its input: its context and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from langchain_core.runnables import RunnableConfig

from hitl_tui.core.json_types import JsonObject
from hitl_tui.graphs.langgraph_server import ASSISTANTS, RUN
from hitl_tui.graphs.served_graph import STRICT_RESUME
from hitl_tui.supervisor.run_spec import RunSpec
from hitl_tui.teams.contract import GraphSpec

if TYPE_CHECKING:
    from langgraph.pregel import Pregel


def configuration(spec: RunSpec, team: GraphSpec, thread: str) -> RunnableConfig:
    """Return the configuration of a run: its thread, what was approved, and what the LangGraph server adds."""
    declared = dict(_approved(spec, "config", team.declaration.config))
    given = {**(context_of(spec, team) or {}), **declared.pop("configurable", {})}
    configurable = {
        "user_id": None,
        **given,
        "graph_id": team.name,
        "assistant_id": str(uuid5(ASSISTANTS, team.name)),
        "thread_id": thread,
        STRICT_RESUME: True,
    }
    metadata = {**declared.pop("metadata", {}), RUN: spec.run_id}
    return {**declared, "configurable": configurable, "metadata": metadata}  # type: ignore[typeddict-item]


def context_of(spec: RunSpec, team: GraphSpec) -> JsonObject | None:
    """Return what was approved as a run's context; None for nothing."""
    found: JsonObject | None = _approved(spec, "context", team.declaration.context)
    return found


def runtime_context(spec: RunSpec, team: GraphSpec, graph: Pregel[Any, Any, Any, Any]) -> dict[str, Any] | None:
    """Return the context that a run's nodes get: one with a schema is made also where nothing is in it."""
    found = context_of(spec, team)
    return dict(found) if found is not None else {} if graph.context_schema is not None else None


def _approved(spec: RunSpec, name: str, declared: Any) -> Any:
    """Return what was approved as a graph's context or configuration; of old sessions what is declared."""
    approved = spec.todo.arguments.get(name)
    return approved if isinstance(approved, Mapping) and "input" in spec.todo.arguments else declared
