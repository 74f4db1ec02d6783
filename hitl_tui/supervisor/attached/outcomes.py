"""How one go of an attached graph comes out: it asks, it ends, it fails, or nobody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitl_tui.ledger.records import Effect
from hitl_tui.teams.contract import EffectInDoubt, TeamFailure, TeamResult


class GraphFailure(TeamFailure):
    """A graph of others failed; its thread can go on from where it stood.

    Args:
        message: what it raised, with file and line.
        thread: the thread it failed on.
        wedged: an answer was taken and is what made it fail: every further one would fail too (I2).
        entered: how often each node was entered, by path.
    """

    def __init__(self, message: str, thread: str, *, wedged: bool, entered: Mapping[str, int]) -> None:
        super().__init__(message)
        self.thread = thread
        self.wedged = wedged
        self.entered = dict(entered)


class CodeChanged(Exception):
    """What a graph would execute next isn't what was approved; it wasn't run.

    Args:
        thread: the thread that its run has begun; empty where it hasn't.
        programs: what it would execute.
        changed: names of the files of it that aren't what they were.
    """

    def __init__(self, thread: str, programs: Mapping[str, str], changed: Sequence[str]) -> None:
        super().__init__(", ".join(changed))
        self.thread = thread
        self.programs = programs
        self.changed = changed


@dataclass(frozen=True, slots=True)
class Asks:
    """A graph stopped at questions.

    Args:
        interrupts: everything it waits for now.
        delivered: ids of interrupts whose answers it was given.
        entered: how often each node was entered in the last stretch, by path (I7).
    """

    interrupts: tuple[Mapping[str, Any], ...]
    delivered: tuple[str, ...] = ()
    entered: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """A graph ran to its end."""

    result: TeamResult
    entered: Mapping[str, int] = field(default_factory=dict)


def in_doubt(effect: Effect, *, earlier: bool = False) -> EffectInDoubt:
    """Return the question about a stretch whose end nobody saw: only doing it again or stopping are answers.

    Args:
        effect: the stretch.
        earlier: it is of an earlier run of the TODO.
    """
    why = "it was running when its process ended, and nothing says how far it got"
    if earlier:
        why = "it was stopped or cut off on the way in an earlier attempt, and nothing says how far it got"
    if effect.status == "done":
        why = f"it was done on branch {effect.branch}, which was left by a restore, or what came of it was lost"
    elif effect.status == "failed":
        why = f"it failed on branch {effect.branch}, which was left, after part of it was done"
    options = ["do_again", "stop"]
    return EffectInDoubt(
        {"key": effect.key, "name": "graph", "subject": effect.subject, "why": why, "options": options}
    )
