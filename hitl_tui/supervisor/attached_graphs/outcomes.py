"""How one go of an attached graph comes out: it asks, ends, or fails with one sentence that names the line of code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import GraphRecursionError
from langgraph.types import Interrupt

from hitl_tui.core.errors import error_words
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_target import where
from hitl_tui.graphs.served_graph import ServedRunFailed
from hitl_tui.ledger.records import Effect
from hitl_tui.supervisor.attached_graphs.node_containment import NodeExited
from hitl_tui.teams.contract import EffectInDoubt, TeamFailure, TeamResult


class GraphFailure(TeamFailure):
    """A graph of others failed; its thread can go on from where it stood.

    Args:
        message: what it raised, with file and line.
        thread: the thread it failed on.
        wedged: an answer was taken and is what made it fail: every further one would fail too.
        entered: how often each node was entered, by path.
    """

    def __init__(self, message: str, thread: str, *, wedged: bool, entered: Mapping[str, int]) -> None:
        super().__init__(message)
        self.thread = thread
        self.wedged = wedged
        self.entered = dict(entered)


class CodeChanged(Exception):
    """What a step would execute or take isn't what was approved; it wasn't run.

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
        entered: how often each node was entered in the last segment, by path.
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
    """Return the question about a segment whose end nobody saw: only doing it again or stopping are answers.

    Args:
        effect: the segment.
        earlier: it is of an earlier run of the TODO.
    """
    why = Message("it was running when its process ended, and nothing says how far it got")
    if earlier:
        why = Message("it was stopped or cut off on the way in an earlier attempt, and nothing says how far it got")
    if effect.status == "done":
        why = Message("it ran to its end before, and what it did stays")
    elif effect.status == "failed":
        why = Message("it failed before the restore, after part of it was done")
    return EffectInDoubt(
        {
            "key": effect.key,
            "name": "graph",
            "subject": effect.subject,
            "why": why,
            "done": effect.status == "done",
            "options": ["do_again", "stop"],
        }
    )


_DEEPEST = 60
_MOST_PARTS = 10_000


def failure_text(error: BaseException) -> str:
    """Return what a graph raised as one sentence, with file and line of its own code where they are known."""
    if isinstance(error, NodeExited) and error.__cause__ is not None:
        error = error.__cause__
    said = one_line(error_words(error), 400)
    if isinstance(error, SystemExit):
        text: str = (
            Message("A node ended the program (SystemExit {})", said)
            if said
            else Message("A node ended the program (SystemExit)")
        )
    elif isinstance(error, ServedRunFailed):  # its server says what was raised there, and no frame of it is here
        told: str = error.args[0]  # a message, or a text that was made safe where it came in
        return told
    elif isinstance(error, GraphRecursionError):
        text = Message("It never ended: {}. A recursion_limit in its config changes the limit", said.partition(". ")[0])
    else:
        kind = type(error).__name__
        text = _unstorable(error) or (f"{kind}: {said}" if said else kind)
    file, line = where(error)
    return Message("{} ({} line {})", text, file, line) if file else text


def _unstorable(error: BaseException) -> str:
    """Return which part of what a graph asks or holds can't be stored in a checkpoint; empty for another error."""
    if not isinstance(error, TypeError | ValueError | RecursionError):
        return ""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    given = [
        frame.f_locals["obj"] for frame in frames if frame.f_code.co_name == "dumps_typed" and "obj" in frame.f_locals
    ]
    if not given:
        return ""
    interrupts = _interrupts(given[-1])
    what, value = (
        (Message("What it asks"), interrupts[0].value) if interrupts else (Message("What a node returned"), given[-1])
    )
    for path, why in _parts(value, "", ()):
        at = f" at {one_line(path, 120)}" if path else ""
        return Message("{} can't be stored in a checkpoint: {}{}", what, why, at)
    return Message("{} can't be stored in a checkpoint: {}", what, one_line(str(error), 200))


def _interrupts(value: Any) -> list[Interrupt]:
    if isinstance(value, Interrupt):
        return [value]
    return [item for item in value if isinstance(item, Interrupt)] if isinstance(value, list | tuple) else []


def _parts(value: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Yield where a value holds what can't be stored, and what that is; the first is the one to tell."""
    if id(value) in above:
        yield path, Message("it holds itself")
    elif len(above) > _DEEPEST:
        yield path.split("[", 1)[0], Message("it is nested more than {} levels deep", _DEEPEST)
    elif isinstance(value, Mapping):
        for key, part in list(value.items())[:_MOST_PARTS]:
            yield from _parts(part, f"{path}.{key}" if path else str(key), (*above, id(value)))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        for number, part in enumerate(value[:_MOST_PARTS]):
            yield from _parts(part, f"{path}[{number}]", (*above, id(value)))
    else:
        try:
            JsonPlusSerializer().dumps_typed(value)
        except Exception:  # noqa: BLE001 - whatever it raises: this is the part that can't be stored
            kind = type(value)
            yield path, Message("there is a {}.{}", kind.__module__, kind.__qualname__).replace("builtins.", "")
