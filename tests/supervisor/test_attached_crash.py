"""kill -9 in the middle of the graph of somebody else: what may have happened is asked, never repeated (D12)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attached_support import GRAPHS, attached, world

from hitl_tui.core.requests import Kind
from hitl_tui.supervisor.session_registry import SessionRegistry

WORKER = Path(__file__).parent / "attached_worker.py"

POINTS = [
    *[("mail", f"{when} {what}#1") for what in ("write", "send ann", "file") for when in ("before", "after")],
    *[("many", f"{when} {what}#1") for what in ("look b", "heard a", "heard b") for when in ("before", "after")],
    ("flow", "before double 21#1"),
    ("flow", "after double 21#1"),
    ("nested", "before inside#2"),
    ("nested", "after inside#2"),
]
QUICK = ("before send ann#1", "after write#1", "before heard a#1", "after double 21#1", "after inside#2")
SOME = [p if p[1] in QUICK else pytest.param(*p, marks=pytest.mark.slow) for p in POINTS]


def go(root: Path, graph: str, die: str = "") -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "WORLD": str(root / "world.txt"), "DIE": die, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, str(WORKER), str(root), graph], env=environ, capture_output=True, text=True, timeout=120
    )


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("graph", "point"), SOME)
def test_nothing_is_done_again_without_being_asked(tmp_path: Path, graph: str, point: str) -> None:
    calm = tmp_path / "calm"
    calm.mkdir()
    assert go(calm, graph).returncode == 0
    root = tmp_path / "killed"
    root.mkdir()
    assert go(root, graph, point).returncode == -signal.SIGKILL
    before = world(root)
    again = go(root, graph)
    assert again.returncode == 0, again.stderr
    met: list[list[Any]] = json.loads(again.stdout)
    assert met[-1] == ["status", "finished"]
    doubts = [asked for kind, asked in met if kind == "effect"]
    assert len(doubts) == 1
    assert doubts[0]["options"] == ["do_again", "stop"]
    assert doubts[0]["nodes"]
    given = {"mail": {"action": "approve"}, "many": "fine", "flow": True, "nested": True}[graph]
    assert doubts[0].get("answers", [given]) == [given], "what it was told before it was cut off"
    assert bool(doubts[0].get("answers")) == bool(doubts[0]["subject"]["answers"])
    if graph == "mail" and "write" not in point:  # what was answered on record isn't asked again
        assert "interrupt" not in [kind for kind, _ in met]
    done, wanted = world(root), world(calm)
    assert done.keys() == wanted.keys()
    # Only the nodes of the segment that was begun again may have acted once more, and a person said that they may.
    assert all(wanted[what] <= n <= wanted[what] + 1 for what, n in done.items()), (before, done)


@pytest.mark.long
@pytest.mark.slow
def test_a_process_that_dies_while_it_asks_asks_nothing_new(tmp_path: Path) -> None:
    environ = {**os.environ, "WORLD": str(tmp_path / "world.txt")}
    code = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from attached_support import attached\n"
        "async def main():\n"
        "    async with attached(Path(sys.argv[1]), 'mail', '{\"to\": \"ann\"}') as op:\n"
        "        await op.ok('/todo approve')\n"
        "        print(op.questions[0].id, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    died = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environ, capture_output=True, text=True, timeout=120
    )
    assert died.returncode == -signal.SIGKILL
    met = json.loads(go(tmp_path, "mail").stdout)
    assert [kind for kind, _ in met] == ["interrupt", "status"]
    assert world(tmp_path) == {"write": 1, "send ann": 1, "file": 1}


async def failed_then_done(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let a graph fail, then succeed in its second attempt; return the checkpoint from before it ran."""
    monkeypatch.setenv("WORLD", str(root / "world.txt"))
    async with attached(root, "flaky", '{"amount": 1}') as op:
        start = op.now.checkpoint_id
        await op.ok("/todo approve")
        assert op.questions[0].kind is Kind.FAILURE
        (root / "world.mended").touch()
        await op.ok("/todo retry 1")
        assert op.now.status == "finished"
    assert world(root) == {"before": 1, "flaky": 2}
    return start


async def test_a_restore_asks_about_what_a_later_attempt_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = await failed_then_done(tmp_path, monkeypatch)
    async with attached(tmp_path, "flaky") as op:
        await op.ok(f"/checkpoint restore {start}")
        await op.ok("/todo approve")
        assert op.questions[0].kind is Kind.EFFECT
        assert "ran to its end before" in op.questions[0].view.request.subject["effect"]["why"]
        assert world(tmp_path) == {"before": 1, "flaky": 2}
        await op.ok("/todo again 1")
        assert op.now.status == "finished"
    assert world(tmp_path) == {"before": 2, "flaky": 3}


async def test_a_fork_asks_about_what_a_later_attempt_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = await failed_then_done(tmp_path, monkeypatch)
    async with SessionRegistry.open(tmp_path / "data", {}) as bench:
        made = (await bench.admin.fork("s1", start)).session
    async with attached(tmp_path, "flaky", name=made.id) as op:
        await op.ok("/todo approve")
        assert [q.kind for q in op.questions] == [Kind.EFFECT]
        assert world(tmp_path) == {"before": 1, "flaky": 2}


async def test_an_attempt_after_a_restore_that_was_asked_about_is_not_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = await failed_then_done(tmp_path, monkeypatch)
    async with attached(tmp_path, "flaky") as op:
        await op.ok(f"/checkpoint restore {start}")
        (tmp_path / "world.mended").unlink()
        await op.ok("/todo approve")
        await op.ok("/todo again 1")
        assert op.questions[0].kind is Kind.FAILURE
        (tmp_path / "world.mended").touch()
        await op.ok("/todo retry 1")
        assert op.now.status == "finished"


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_an_import_asks_about_what_another_copy_of_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    start = await failed_then_done(tmp_path, monkeypatch)
    async with SessionRegistry.open(tmp_path / "data", {}) as bench:
        await bench.admin.export("s1", tmp_path / "s1.hitl")
    declared = f'[teams.graph]\nkind = "graph"\ngraph = "{GRAPHS}:flaky"\n'
    (tmp_path / "workspace" / "hitl.toml").write_text(declared, encoding="utf-8")
    if elsewhere:
        (tmp_path / "data").rename(tmp_path / "there")
        (tmp_path / "data").mkdir()
    made = []
    for _ in range(2):
        async with SessionRegistry.open(tmp_path / "data", {}) as bench:
            made.append((await bench.admin.import_(tmp_path / "s1.hitl")).session.id)
    for name in made:
        before = world(tmp_path)
        async with attached(tmp_path, "flaky", name=name) as op:
            await op.ok(f"/checkpoint restore {start}")
            while op.questions[0].kind is Kind.TODO:  # what changed since it was asked may be asked anew
                await op.say("/todo approve")
            assert [q.kind for q in op.questions] == [Kind.EFFECT]
            assert world(tmp_path) == before


async def test_a_restore_asks_about_what_ran_before_the_node_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    async with attached(tmp_path, "flaky", '{"amount": 1}') as op:
        start = op.now.checkpoint_id
        await op.ok("/todo approve")
        assert op.questions[0].kind is Kind.FAILURE
        await op.ok(f"/checkpoint restore {start}")
        await op.ok("/todo approve")
        assert [q.kind for q in op.questions] == [Kind.EFFECT]
        assert "after part of it was done" in op.questions[0].view.request.subject["effect"]["why"]
        assert world(tmp_path) == {"before": 1, "flaky": 1}
        await op.ok("/todo again 1")
        assert world(tmp_path) == {"before": 2, "flaky": 2}
