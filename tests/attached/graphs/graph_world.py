"""What the graphs here do to the world, where a test can count it and stop them in the middle."""

from __future__ import annotations

import os
from pathlib import Path


def act(what: str) -> None:
    """Do something that must not happen twice: one line in the world's file. The gate `act` is before it."""
    gate("act")
    with (_folder() / "done.txt").open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")


def gate(name: str) -> None:
    """Wait where a test has put a pipe of this name, until it closes its end; go on at once where there is none."""
    pipe = _folder() / f"{name}.gate"
    if pipe.is_fifo():
        pipe.read_text(encoding="utf-8")


def _folder() -> Path:
    return Path(os.environ["GRAPH_WORLD"])
