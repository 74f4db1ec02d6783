"""What a folder wants to run, as plain lines (T4)."""

from __future__ import annotations

from hitl_tui.policy.workspace_trust import WorkspaceTrust
from hitl_tui.wording.text_lines import wanted_lines


def trust_lines(found: WorkspaceTrust) -> list[str]:
    """Return what a folder wants as lines, the riskiest first."""
    return wanted_lines(found.to_dict())
