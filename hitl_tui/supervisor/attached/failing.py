"""Why a graph of somebody else failed, in one sentence a person can use: what, and where in their code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import GraphRecursionError
from langgraph.types import Interrupt

from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.attached.contained import NodeExited
from hitl_tui.teams.graph.target import where

_DEEPEST = 60
_MOST_PARTS = 10_000


def failure_text(error: BaseException) -> str:
    """Return what a graph raised as one sentence, with file and line of its own code where they are known."""
    if isinstance(error, NodeExited) and error.__cause__ is not None:
        error = error.__cause__
    said = one_line(" ".join(str(error).split()), 400)
    if isinstance(error, SystemExit):
        text = f"A node ended the program (SystemExit {said})" if said else "A node ended the program (SystemExit)"
    elif isinstance(error, GraphRecursionError):
        text = f"It never came to an end: {said.partition('. ')[0]}. A recursion_limit in its config sets another"
    else:
        text = _unstorable(error) or (f"{type(error).__name__}: {said}" if said else type(error).__name__)
    file, line = where(error)
    return f"{text} ({file} line {line})" if file else text


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
    what, value = ("What it asks", interrupts[0].value) if interrupts else ("What a node returned", given[-1])
    for path, why in _parts(value, "", ()):
        at = f" at {one_line(path, 120)}" if path else ""
        return f"{what} can't be stored in a checkpoint: {why}{at}"
    return f"{what} can't be stored in a checkpoint: {one_line(str(error), 200)}"


def _interrupts(value: Any) -> list[Interrupt]:
    if isinstance(value, Interrupt):
        return [value]
    return [item for item in value if isinstance(item, Interrupt)] if isinstance(value, list | tuple) else []


def _parts(value: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Yield where a value holds what can't be stored, and what that is; the first is the one to tell."""
    if id(value) in above:
        yield path, "it holds itself"
    elif len(above) > _DEEPEST:
        yield path.split("[", 1)[0], f"it is nested more than {_DEEPEST} levels deep"
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
            yield path, f"there is a {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")
