"""What a folder wants to run, as plain lines (T4)."""

from __future__ import annotations

from hitl_tui.policy.trust import WorkspaceTrust
from hitl_tui.repl.plain import shown, table
from hitl_tui.repl.signs import _
from hitl_tui.wording.trust import want_rows


def trust_lines(found: WorkspaceTrust) -> list[str]:
    """Return what a folder wants as lines, the riskiest first."""
    rows = want_rows(found)
    head = _("{folder} wants:") if rows else _("{folder} wants nothing beyond search, analysis and documents.")
    changed = [_("Its settings changed since you trusted it.")] if found.changed else []
    return [*changed, head.format(folder=shown(found.folder)), *table(rows)]
