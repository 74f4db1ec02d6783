"""Sequences of kill -9 and of what people say in between, on real sessions in real processes: one word, one start.

What happened is judged from the world's own record and from what people said, see `benchmarks/crash_words.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hitl_tui.ledger.records import Entry


@dataclass(frozen=True)
class Named:
    """One sequence.

    Args:
        target: `command` or `graph`.
        deaths: where each process dies; the one after the last takes the session to its end.
        words: what is said, in turn; what isn't here is said by looking at the world.
        starts: how often each effect starts in the end.
        fates: by effect, how its starts end, in turn.
        doubts: how often a person is asked whether something may have happened.
        cut: the part of the unsynced checkpoints that each death leaves; None cuts nothing.
    """

    target: str
    deaths: tuple[str, ...]
    words: tuple[str, ...]
    starts: Mapping[str, int]
    fates: Mapping[str, list[str]] = field(default_factory=dict)
    doubts: int = 0
    cut: float | None = None


GRAPH_START = ("approve", "respond")
SEQUENCES = {
    "again-fails-retry-kill": Named(
        "command",
        ("effect.run.after#1", "effect.run.after#1"),
        ("approve", "do_again", "retry"),
        {"run": 3},
        {"run": ["ok", "fail", "ok"]},
        doubts=2,
    ),
    "again-fails-kill-retry-kill": Named(
        "command",
        ("effect.run.after#1", "effect.closed#1", "effect.run.after#1"),
        ("approve", "do_again", "retry"),
        {"run": 3},
        {"run": ["ok", "fail", "ok"]},
        doubts=2,
    ),
    "kill-again-kill-again-kill": Named(
        "command",
        ("effect.run.after#1", "effect.run.after#1", "effect.run.after#1"),
        ("approve", "do_again", "do_again"),
        {"run": 3},
        doubts=3,
    ),
    "killed-before-its-failure-is-told": Named(
        "command", ("effect.closed#1",), ("approve", "retry"), {"run": 2}, {"run": ["fail"]}
    ),
    "again-killed-as-it-is-claimed": Named(
        "command", ("effect.run.after#1", "effect.claimed#1"), ("approve", "do_again"), {"run": 1}, doubts=2
    ),
    "no-retry-by-itself-of-what-failed": Named(
        "command", ("at rest",), ("approve", "retry"), {"run": 2}, {"run": ["fail"]}
    ),
    "stopped-then-taken-up": Named(
        "command",
        ("effect.run.after#1",),
        ("approve", "stop", "/todo update todo_001 pending", "approve"),
        {"run": 1},
        doubts=2,
    ),
    "power-cut-again-power-cut": Named(
        "command",
        ("effect.run.after#1", "effect.run.after#1"),
        ("approve", "do_again"),
        {"run": 2},
        doubts=2,
        cut=0.0,
    ),
    "graph-kill-again-kill-again-kill": Named(
        "graph",
        ("node.acted#3", "node.acted#1", "node.acted#1"),
        (*GRAPH_START, "do_again", "do_again", "do_again"),
        {"left": 1, "right": 1, "pay": 4},
        doubts=3,
    ),
    "graph-fails-and-is-killed-before-it-says-so": Named(
        "graph",
        ("effect.closed#2",),
        (*GRAPH_START, "retry"),
        {"left": 1, "right": 1, "pay": 2},
        {"pay": ["fail"]},
    ),
    "graph-again-fails-retry-kill": Named(
        "graph",
        ("node.acted#3", "node.acted#2"),
        (*GRAPH_START, "do_again", "retry", "do_again"),
        {"left": 1, "right": 1, "pay": 4},
        {"pay": ["ok", "fail"]},
        doubts=2,
    ),
    "graph-fails-beside-what-hangs": Named(
        "graph",
        ("at rest",),
        ("approve", "retry", "do_again", "respond"),
        {"left": 2, "right": 2, "pay": 1},
        {"left": ["fail"], "right": ["hang"]},
        doubts=1,
    ),
    "graph-cancelled-then-retried": Named(
        "graph",
        ("at rest",),
        ("approve", "respond", "/todo cancel todo_001", "retry", "do_again"),
        {"left": 1, "right": 1, "pay": 2},
        {"pay": ["hang"]},
        doubts=1,
    ),
    "graph-loses-its-checkpoints": Named(
        "graph",
        ("node.acted#3",),
        (*GRAPH_START, "do_again"),
        {"left": 1, "right": 1, "pay": 2},
        doubts=1,
        cut=0.0,
    ),
    "graph-stopped-then-taken-up": Named(
        "graph",
        ("node.acted#3",),
        (*GRAPH_START, "stop", "/todo update todo_001 pending", "approve", "do_again", "respond"),
        {"left": 2, "right": 2, "pay": 2},
        doubts=2,
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if n % 3 else []) for n, name in enumerate(SEQUENCES)]
)
def test_each_start_after_the_first_takes_a_word_of_its_own(tmp_path: Path, name: str) -> None:
    from crash_sequences import Script, run_script
    from crash_world import World

    named = SEQUENCES[name]
    cut = tuple(named.cut for _ in named.deaths)
    script = Script(named.target, 1, dict(named.fates), named.deaths, cut, words=named.words)
    became = run_script(script, tmp_path, 60)
    assert (became.repeated, became.lost, became.damaged) == ((), (), ()), became
    assert len(became.killed) == len(named.deaths)
    starts = Counter(effect for (todo, effect) in _begun(World(tmp_path).lines()) if todo == "todo_001")
    assert starts == named.starts
    assert became.asked == named.doubts


def _begun(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(line["todo"], line["effect"]) for line in lines if line["op"] == "begin"]


@pytest.mark.long
@pytest.mark.parametrize("target", ["command", "graph"])
def test_drawn_sequences_repeat_and_lose_nothing(tmp_path: Path, target: str) -> None:
    draw(tmp_path, target, range(1, 3))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("target", ["command", "graph"])
def test_many_drawn_sequences_repeat_and_lose_nothing(tmp_path: Path, target: str) -> None:
    """2,000 of them: `benchmarks/crash.py --rounds drawn`."""
    draw(tmp_path, target, range(3, 60))


def draw(base: Path, target: str, seeds: Sequence[int]) -> None:
    from crash_sequences import drawn, run_script

    for seed in seeds:
        root = base / str(seed)
        root.mkdir()
        became = run_script(drawn(target, seed), root, 60)
        assert (became.repeated, became.lost, became.damaged) == ((), (), ()), (seed, became)
        assert len(became.killed) in (2, 3)


# The judge itself ----------------------------------------------------------------------------------------------


def record(*marks: str) -> tuple[list[dict[str, Any]], list[Entry]]:
    """Return what the world and the ledger recorded, from marks in order of time.

    The world's: `begin`, `done`, `failed`. The ledger's: `told` (it was told of an end), `restore`, and verdicts.
    """
    lines: list[dict[str, Any]] = []
    entries: list[Entry] = []

    def write(kind: str, data: dict[str, Any], at: str) -> None:
        entries.append(Entry("s1", len(entries) + 1, at, kind, data, "", ""))

    kinds = {"approve": "todo", "retry": "failure", "skip": "failure"}
    for number, mark in enumerate(marks):
        at = f"2026-01-01T00:00:{number:02d}+00:00"
        if mark in ("begin", "done", "failed"):
            lines.append({"op": mark, "todo": "todo_001", "effect": "run", "at": at})
        elif mark == "told":
            write("effect_ended", {"todo_id": "todo_001", "status": "failed"}, at)
        elif mark == "restore":
            write("restore_intended", {}, at)
        else:
            subject = {"effect": {"name": "run"}}
            request = {"id": f"r{number}", "kind": kinds.get(mark, "effect"), "todo_id": "todo_001", "subject": subject}
            write("request_opened", {"request": request}, at)
            write("decision", {"decision": {"request_id": f"r{number}", "verdict": mark}}, at)
    return lines, entries


ALLOWED = [
    "approve begin done told",
    "approve begin do_again begin",
    "approve begin do_again begin do_again begin",
    "approve begin failed told retry begin",
    "approve begin failed told approve begin",
    "approve begin failed told restore approve begin",
    "approve begin done told approve begin",
    "approve begin do_again begin failed told retry begin do_again begin",
]
NOT_ALLOWED = [
    "approve begin begin",
    "approve do_again begin begin",
    "approve begin do_again begin begin",
    "approve begin do_again do_again begin begin",
    "approve begin do_again begin failed told retry begin begin",
    "approve begin retry begin",
    "approve begin failed retry begin",
    "approve begin failed retry told begin",
    "approve begin done told retry begin",
    "approve begin told retry begin",
    "approve begin failed told begin",
    "approve begin failed told skip begin",
    "approve begin done told restore approve begin",
    "approve begin approve begin",
    "approve begin use_as_done begin",
]


@pytest.mark.parametrize("marks", ALLOWED)
def test_the_judge_lets_pass_what_people_asked_for(marks: str) -> None:
    from crash_words import unasked

    assert unasked(*record(*marks.split())) == ()


@pytest.mark.parametrize("marks", NOT_ALLOWED)
def test_the_judge_finds_a_start_that_nobody_asked_for(marks: str) -> None:
    from crash_words import unasked

    assert len(unasked(*record(*marks.split()))) == 1
