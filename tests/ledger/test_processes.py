"""Many processes on one ledger, some of them killed: nothing is lost, doubled or torn."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hammer import open_ledger
from ledger_support import rebuild

from hitl_tui.ledger import audit
from hitl_tui.ledger.sqlite_ledger import SqliteLedger

HAMMER = Path(__file__).with_name("hammer.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "ledger.db"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def place(request: pytest.FixtureRequest, path: Path) -> str:
    """Return a file, or the address of a database."""
    return str(path) if request.param == "sqlite" else str(request.getfixturevalue("database"))


def start(path: Path | str, task: str, name: str, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HAMMER), str(path), task, name, str(rounds)], stdout=subprocess.PIPE, text=True
    )


def told(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Let a process end well and return what it was told by the ledger."""
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


async def test_processes_at_once_lose_nothing_and_double_nothing(place: str) -> None:
    rounds, names = 12, ["ann", "bob", "cid", "dan"]
    processes = [start(place, "everything", name, rounds) for name in names]
    acknowledged = [ack for process in processes for ack in told(process)]

    def ids(did: str) -> Counter[str]:
        return Counter(str(ack.get("id", ack.get("n"))) for ack in acknowledged if ack["did"] == did)

    async with open_ledger(place) as ledger:
        assert (await audit.verify(ledger)).problems == ()
        shared = await ledger.entries("shared")
        assert sorted((e.data["by"], e.data["number"]) for e in shared) == [
            (n, r) for n in names for r in range(rounds)
        ]
        assert ids("append") == Counter(str(n) for n in range(1, len(shared) + 1))

        posted = await ledger.after("s1", 0, 0)
        assert [p.seq for p in posted] == list(range(1, len(posted) + 1))
        number_of = {p.event_id: p.seq for p in posted}
        assert all(number_of[ack["id"]] == ack["seq"] for ack in acknowledged if ack["did"] == "post")
        assert Counter(p.event_id.split("-")[0] for p in posted if "-" in p.event_id and ":" not in p.event_id) == {
            **dict.fromkeys(names, rounds),
            "same": rounds,
        }

        views = await ledger.requests("2025-03-01", pending=False)
        assert set(ids("open").values()) == {1}
        assert ids("decide") == {view.request.id: view.request.terms.quorum for view in views}
        assert Counter(a["id"] for a in acknowledged if a.get("settled")) == {v.request.id: 1 for v in views}
        assert {a["reason"] for a in acknowledged if a["did"] == "refused"} == {"late"}
        decided = [p.event_id for p in posted if p.event_id.startswith("decided:")]
        assert sorted(decided) == sorted(f"decided:{view.request.id}" for view in views)

        assert ids("go") == {f"eff-{number}": 1 for number in range(rounds)}
        assert sum(ids("doubt").values()) == rounds * (len(names) - 1)


@pytest.mark.long
async def test_what_was_acknowledged_survives_kill_9(place: str) -> None:
    acknowledged: list[dict[str, Any]] = []
    for attempt in range(4):
        bystander = start(place, "everything", f"bystander{attempt}", 3)
        victim = start(place, "everything", f"victim{attempt}", 10_000)
        assert victim.stdout is not None
        for line, _ in zip(victim.stdout, range(17 + 13 * attempt), strict=False):
            acknowledged.append(json.loads(line))
        victim.kill()
        rest, _ = victim.communicate(timeout=60)
        acknowledged += [json.loads(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        acknowledged += told(bystander)

    async with open_ledger(place) as ledger:
        assert (await audit.verify(ledger)).problems == ()
        length = (await ledger.head("shared")).n
        number_of = {p.event_id: p.seq for p in await ledger.after("s1", 0, 0)}
        views = {v.request.id: v for v in await ledger.requests("2025-03-01", pending=False, limit=99_999)}
        for ack in acknowledged:
            match ack["did"]:
                case "append":
                    assert ack["n"] <= length
                case "post":
                    assert number_of[ack["id"]] == ack["seq"]
                case "decide":
                    assert views[ack["id"]].decisions
                    assert not ack["settled"] or f"decided:{ack['id']}" in number_of
        appended = [ack["n"] for ack in acknowledged if ack["did"] == "append"]
        assert len(set(appended)) == len(appended)
        before = await ledger.requests("2025-03-01", pending=False, limit=99_999)
        await rebuild(ledger)
        assert await ledger.requests("2025-03-01", pending=False, limit=99_999) == before


async def test_a_disk_that_takes_no_more_is_one_sentence_and_loses_nothing(path: Path) -> None:
    *posted, last = told(start(path, "until_full", "ann", 10_000))
    assert last["did"] == "full"
    assert str(path) in last["message"]
    assert "\n" not in last["message"]
    async with SqliteLedger.open(path) as ledger:
        assert [p.event_id for p in await ledger.after("s1", 0, 0)] == [ack["id"] for ack in posted]
        assert (await audit.verify(ledger)).problems == ()
        assert await ledger.post("s1", 0, "more", {"kind": "note"}, "2025-03-01") == len(posted) + 1
