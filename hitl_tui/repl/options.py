"""What line mode is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl_tui.config.declared_graphs import Attachment
    from hitl_tui.policy.operator_identity import Operator


@dataclass(frozen=True, slots=True)
class LineOptions:
    """How line mode begins.

    Args:
        data: the data folder.
        workspace: where new sessions work.
        by: who decides; written into the record.
        session: id of the session to open, or with a query of the one to begin; empty for none.
        mode: `step`, `plan` or `risk` for new sessions; empty for what the workspace says.
        query: begins a session at once; empty for none.
        attached: the graph that new sessions are for; None for the workspace's own teams.
        operator: says how who decides is identified; None for a name that nothing proves.
        once: digests of folders that are trusted while it runs, given with `--trust`.
    """

    data: Path
    workspace: Path
    by: str
    session: str = ""
    mode: str = ""
    query: str = ""
    attached: Attachment | None = None
    operator: Operator | None = None
    once: tuple[str, ...] = ()
