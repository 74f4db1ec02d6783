"""What an interface is started with. Nothing here imports the engine, so that the first frame waits for none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl_tui.config.declared_graphs import Attachment
    from hitl_tui.policy.operator_identity import Operator
    from hitl_tui.supervisor.remote_reviews import RemoteReviews


def _tell_nobody(secrets: Mapping[str, str]) -> None:
    """Nothing is logged, so nobody has to know."""


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """How the console or line mode begins.

    Args:
        data: the data folder.
        workspace: where new sessions work; None for the current folder, and for a starter's own.
        session: id of the session to open, or with a graph or query of the one to begin; empty for none.
        mode: `step`, `plan` or `risk` for new sessions; empty for what the workspace says.
        by: who decides; written into the record.
        query: begins a session at once; empty for none.
        attached: the graph that new sessions are for; None for the workspace's own teams.
        hide: is told the declared secrets of each session that is opened, so that no log shows them.
        operator: says how who decides is identified; None for a name that nothing proves.
        once: digests of folders that are trusted while it runs, given with `--trust`.
        reach: returns the runtime elsewhere that is somewhere, for the inbox; None for none.
    """

    data: Path
    workspace: Path | None = None
    session: str = ""
    mode: str = ""
    by: str = "operator"
    query: str = ""
    attached: Attachment | None = None
    hide: Callable[[Mapping[str, str]], None] = _tell_nobody
    operator: Operator | None = None
    once: tuple[str, ...] = ()
    reach: Callable[[Sequence[str]], RemoteReviews] | None = None
