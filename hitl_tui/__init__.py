"""An operator console for supervising teams of agents built on LangGraph.

The names below are the public library: sessions, commands and plans for programs of one's own.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hitl_tui.version import __version__

if TYPE_CHECKING:
    from hitl_tui.channels.approved_function import require_approval as require_approval
    from hitl_tui.commands.handler import CommandHandler as CommandHandler
    from hitl_tui.core.errors import BadInput as BadInput
    from hitl_tui.core.errors import Refused as Refused
    from hitl_tui.core.manager import TodoManager as TodoManager
    from hitl_tui.core.plan import ExecutionPlanConverter as ExecutionPlanConverter
    from hitl_tui.core.todos import SupervisorTodo as SupervisorTodo
    from hitl_tui.planning.agent import PlanningAgent as PlanningAgent
    from hitl_tui.supervisor.checkpoint_saver import create_checkpointer as create_checkpointer
    from hitl_tui.supervisor.graph import TeamSupervisor as TeamSupervisor
    from hitl_tui.supervisor.open_session import open_session as open_session
    from hitl_tui.supervisor.session_registry import SessionRegistry as SessionRegistry

# LangGraph reads this once, at import: without it a crafted checkpoint can run code when it is loaded.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

_PLACES = {
    "BadInput": "hitl_tui.core.errors",
    "CommandHandler": "hitl_tui.commands.handler",
    "ExecutionPlanConverter": "hitl_tui.core.plan",
    "PlanningAgent": "hitl_tui.planning.agent",
    "Refused": "hitl_tui.core.errors",
    "SessionRegistry": "hitl_tui.supervisor.session_registry",
    "SupervisorTodo": "hitl_tui.core.todos",
    "TeamSupervisor": "hitl_tui.supervisor.graph",
    "TodoManager": "hitl_tui.core.manager",
    "create_checkpointer": "hitl_tui.supervisor.checkpoint_saver",
    "open_session": "hitl_tui.supervisor.open_session",
    "require_approval": "hitl_tui.channels.approved_function",
}
__all__ = [*_PLACES, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a name of the library when it is asked for: the command line often needs none."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
