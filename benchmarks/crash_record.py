"""Verdicts of blocks of runs, kept in a file: what several runs of the benchmark found on a commit adds up."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COUNTED = ("runs", "kills", "cut", "lost", "repeated", "asked", "asked_outside", "damaged")
"""What adds up; besides, seconds do."""

_PROJECT = Path(__file__).parents[1]


def commit() -> str:
    """Return the commit that is measured, with a plus sign when the program or the benchmarks differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(_PROJECT), *words], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + "+" * bool(git("status", "--porcelain", "hitl_tui", "benchmarks"))


@dataclass(frozen=True, slots=True)
class Record:
    """A file with one JSON object a block.

    Args:
        path: the file; it is made when there is something to write.
        commit: what the blocks are measured on.
    """

    path: Path
    commit: str

    def add(self, round_name: str, figures: Mapping[str, Any]) -> None:
        """Write one block down."""
        line = {"commit": self.commit, "round": round_name, **figures}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def totals(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the sums of all blocks, by commit and round."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return totals(json.loads(line) for line in lines)


def totals(blocks: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return sums by commit and round."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for block in blocks:
        sums = found.setdefault(block["commit"], {}).setdefault(block["round"], dict.fromkeys((*COUNTED, "seconds"), 0))
        for name in COUNTED:
            sums[name] += block[name]
        sums["seconds"] = round(sums["seconds"] + block["seconds"], 1)
    return found
