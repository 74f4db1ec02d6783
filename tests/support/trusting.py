"""Trust in workspaces for tests, granted the honest way: what is there is looked at, and its digest is trusted."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hitl_tui.supervisor.session_registry import SessionRegistry


def trust_workspace(data: Path, workspace: Path, by: str = "tester") -> str:
    """Trust a workspace as it is now in a data folder; return the digest that was trusted.

    Works within a running event loop, too. Call it again after hitl.toml or langgraph.json was changed.
    """
    with ThreadPoolExecutor(1) as pool:  # a thread has no event loop yet
        return pool.submit(lambda: asyncio.run(_trust(data, workspace, by))).result()


async def _trust(data: Path, workspace: Path, by: str) -> str:
    async with SessionRegistry.open(data, {}) as bench:
        shown = await bench.trust.of(workspace)
        return (await bench.trust.grant(workspace, shown.digest, by=by, how="digest")).digest
