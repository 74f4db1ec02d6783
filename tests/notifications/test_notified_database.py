"""What sessions of a database ask is told from the machine of the worker, also where a workspace's settings say so."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from notification_support import until, webhook

from hitl_tui.supervisor.session_registry import SessionRegistry

pytestmark = pytest.mark.long


async def trust(site: Path, database: str) -> None:
    async with SessionRegistry.open(site / "data", {"HITL_DATABASE": database, "HITL_AUDIT_KEY": ""}) as registry:
        shown = await registry.trust.of(site / "project")
        await registry.trust.grant(site / "project", shown.digest, by="tester", how="digest")


def test_a_worker_tells_what_person_and_workspace_want_told(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITL_DATABASE", database)
    here, there = tmp_path / "here", tmp_path / "there"
    environ = {**os.environ, "HITL_AUDIT_KEY": ""}
    with webhook() as hook:
        for site in (here, there):
            (site / "data").mkdir(parents=True)
            (site / "project").mkdir()
            (site / "project" / "deposit.md").write_text("# Deposits\n\nThe deposit cap is 5 percent.\n")
            (site / "project" / "hitl.toml").write_text(f'[notify]\ntargets = ["{hook.address}/workspace"]\n')
            asyncio.run(trust(site, database))
        (there / "data" / "settings.toml").write_text(f'[notify]\ntargets = ["{hook.address}/person"]\n')

        def command(site: Path, *words: str) -> list[str]:
            return [sys.executable, "-m", "hitl_tui", *words, "--data", str(site / "data")]

        worker = subprocess.Popen(command(there, "worker"), cwd=there / "project", env=environ, stderr=subprocess.PIPE)
        try:
            assert worker.stderr is not None
            assert worker.stderr.readline().startswith(b"worker-")
            asked = subprocess.run(
                command(here, "run", "What is the deposit cap?"),
                cwd=here / "project",
                env=environ,
                check=False,
                timeout=60,
            )
            assert asked.returncode == 3
            until(lambda: sorted(hook.paths) == ["/person", "/workspace"])
        finally:
            worker.terminate()
            worker.wait()
