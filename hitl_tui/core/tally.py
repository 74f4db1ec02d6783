"""How the TODOs of a session ended, counted, and why one was not run. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hitl_tui.core.json_types import TodoState
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import step_name
from hitl_tui.core.todos import Status, SupervisorTodo

DONE, REJECTED, EXPIRED, SKIPPED, FAILED, NOT_RUN = "done", "rejected", "expired", "skipped", "failed", "not_run"
REST = "rest"
"""How many others weren't done, of a session whose answer was made before they were counted: at least so many."""

NOTHING_FOUND = "nothing_found"
"""1 where what was done answers nothing of what was asked last."""

_COUNTED: Mapping[str, Message] = MappingProxyType(
    {
        DONE: Message("{} done"),
        REJECTED: Message("{} rejected"),
        EXPIRED: Message("{} expired"),
        SKIPPED: Message("{} skipped"),
        FAILED: Message("{} failed"),
        NOT_RUN: Message("{} not run"),
    }
)


def ending(status: str, error: str = "", *, refused: bool = False) -> str:
    """Return how a TODO ended, or that it wasn't run.

    Args:
        status: its `Status`.
        error: why it failed.
        refused: a person, a rule or a deadline said no.
    """
    if status == Status.FAILED and refused:
        return EXPIRED if error.partition(":")[0] == "expired" else REJECTED
    return {Status.COMPLETED: DONE, Status.FAILED: FAILED, Status.SKIPPED: SKIPPED}.get(Status(status), NOT_RUN)


def ending_of(todo: SupervisorTodo) -> str:
    """Return how a TODO ended; see `ending`."""
    return ending(todo.status, todo.error, refused=bool(todo.metadata.get("rejected")))


def tally(todos: Iterable[TodoState], *, found: bool = True) -> dict[str, int]:
    """Count TODOs, as checkpoints keep them, by how they ended; what is 0 is left out.

    Args:
        todos: all of a session.
        found: its answer answers what was asked last.
    """
    counts = {**dict.fromkeys(_COUNTED, 0), NOTHING_FOUND: int(not found)}
    for todo in todos:
        refused = bool(todo.get("metadata", {}).get("rejected"))
        counts[ending(todo["status"], todo.get("error", ""), refused=refused)] += 1
    return {name: count for name, count in counts.items() if count}


def read_tally(stored: object, done: int, *, partly: bool = False) -> dict[str, int]:
    """Return a tally as a checkpoint keeps it; of one that keeps none what else it tells.

    Args:
        stored: what stands there; it may be anything.
        done: how many TODOs were completed.
        partly: not everything was done.
    """
    if isinstance(stored, Mapping):
        return {
            name: stored[name]
            for name in (*_COUNTED, NOTHING_FOUND)
            if type(stored.get(name)) is int and stored[name] > 0
        }
    return {name: count for name, count in ((DONE, done), (REST, int(partly))) if count}


def all_done(counts: Mapping[str, int]) -> bool:
    """Return whether a tally has nothing but what was done, and something was found."""
    return not any(count for name, count in counts.items() if name != DONE)


def tally_message(counts: Mapping[str, int]) -> str:
    """Return a tally in words: `2 done, 1 rejected, 1 not run`, or `nothing found`; empty for none."""
    if counts.get(NOTHING_FOUND) and counts.keys() <= {DONE, NOTHING_FOUND}:
        return Message("nothing found")
    parts: list[str] = [said.filled(counts[name]) for name, said in _COUNTED.items() if counts.get(name)]
    if counts.get(NOTHING_FOUND):
        parts.append(Message("nothing found"))
    if counts.get(REST):
        parts.append(Message("not everything") if parts else Message("nothing done"))
    return joined(parts, ", ") if parts else ""


def cause_of(todo: SupervisorTodo, todos: Mapping[str, SupervisorTodo]) -> SupervisorTodo | None:
    """Return what a TODO waits for in vain: the first that failed or was rejected among all it depends on.

    Args:
        todo: one that was not run.
        todos: all, by id.
    """
    seen: set[str] = set()
    ahead = list(todo.dependencies)
    while ahead:
        name = ahead.pop(0)
        needed = todos.get(name)
        if needed is None or name in seen:
            continue
        seen.add(name)
        if needed.status is Status.FAILED:
            return needed
        if needed.status is Status.BLOCKED:
            ahead += needed.dependencies
    return None


def why_not_run(todo: SupervisorTodo, todos: Mapping[str, SupervisorTodo]) -> str:
    """Return in a few words why a TODO was not run: `003 was rejected`; empty where nothing it needs says so."""
    cause = cause_of(todo, todos)
    if cause is None:
        return ""
    number = step_name(cause.id)
    match ending_of(cause):
        case "rejected":
            return Message("{} was rejected", number)
        case "expired":
            return Message("{} expired", number)
        case _:
            return Message("{} failed", number)
