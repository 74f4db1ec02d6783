"""Rules of a session that no file changes, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.board import Rules
from hitl_tui.core.todos import SupervisorTodo


class FixedPolicy:
    """Rules that no file changes.

    Args:
        rules: what holds.
    """

    digest = ""
    problem = ""
    notice = ""
    obeyed_config = WorkspaceConfig()
    current = True
    waiting = False

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    async def look(self) -> bool:
        return False

    def why_not(self, todo: SupervisorTodo) -> str:
        return ""

    def why_withheld(self, team: str) -> str:
        return ""

    async def why_no_preview(self, command: str, argv: Sequence[str]) -> str:
        return ""
