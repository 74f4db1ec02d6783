"""What of a step's exact input a person may set, by name: the rest follows from it, or from the workspace. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_tui.core.json_types import Json, JsonObject

_INPUT = "input"
_FOUND = frozenset({"programs", "calls"})
_OF_GRAPH = frozenset({_INPUT, "thread", "context", "config", "programs"})


def given_values(arguments: JsonObject) -> dict[str, Json]:
    """Return the values that stand for an input: parameters of a command, fields of a call or of a graph's input."""
    if "argv" in arguments:
        found = arguments.get("parameters")
        return dict(found) if isinstance(found, Mapping) else {}
    own = {name: value for name, value in arguments.items() if name not in _FOUND}
    found = own.get(_INPUT)
    if isinstance(found, Mapping):
        del own[_INPUT]
        own.update(found)
    return own


def is_held(arguments: JsonObject) -> bool:
    """Return whether the values that people give are within an exact input: of a command, a call, or a graph."""
    if "argv" in arguments:
        return True
    return isinstance(arguments.get(_INPUT), Mapping) and ("calls" in arguments or arguments.keys() <= _OF_GRAPH)


def value_at(path: Sequence[str]) -> str:
    """Return the name among `given_values` of what stands at a path in the arguments; empty for no path."""
    return next(iter(path[1:] if path[:1] == (_INPUT,) and len(path) > 1 else path), "")
