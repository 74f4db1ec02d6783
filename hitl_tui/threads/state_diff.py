"""Differences between two states of any graph: keys by key, lists element by element. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from enum import Enum
from itertools import islice

from hitl_tui.core.json_types import GraphState

LONGEST = 2_000
"""Elements of a list that are compared one by one; of a longer one only its beginning and its end are."""

_KEPT = 20
"""Characters that are shown before the place where two texts differ."""
_LINES = 60
"""Lines of a difference that are shown."""


class Absent(Enum):
    """Stands for a value that isn't there: null is one that is."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value that differs.

    Args:
        path: keys that lead to it.
        before, after: the values; `ABSENT` where there is none.
    """

    path: tuple[str, ...]
    before: object
    after: object

    @property
    def name(self) -> str:
        """The path as people write it: `control.mode`."""
        return ".".join(self.path)


def values_that_differ(
    before: Mapping[str, object], after: Mapping[str, object], path: tuple[str, ...] = ()
) -> Iterator[ValueChange]:
    """Yield what differs between two JSON objects: objects within them key by key, anything else as a whole."""
    for key in (*before, *(k for k in after if k not in before)):
        old, new = before.get(key, ABSENT), after.get(key, ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from values_that_differ(old, new, (*path, str(key)))
        elif old != new:
            yield ValueChange((*path, str(key)), old, new)


def differences(before: GraphState, after: GraphState) -> list[ValueChange]:
    """Return what differs between two states, in the order of the first and then of the second."""
    return list(_differing(before, after, ()))


def from_difference(old: str, new: str, most: int) -> tuple[str, str]:
    """Return two texts from shortly before the place where they differ, unless both can be shown whole.

    Args:
        old, new: the texts.
        most: characters up to which a text is shown.
    """
    pairs = enumerate(zip(old, new, strict=False))
    shared = next((n for n, (one, other) in pairs if one != other), min(len(old), len(new))) - _KEPT
    if max(len(old), len(new)) <= most or shared <= _KEPT:
        return old, new
    return f"…{old[shared:]}", f"…{new[shared:]}"


def lines_apart(old: object, new: object, most: int) -> list[str]:
    """Return the lines in which two long texts differ, with `-` or `+` and those around them; none for other values.

    Args:
        old, new: the values.
        most: characters up to which a text is short.
    """
    if not (isinstance(old, str) and isinstance(new, str)) or max(len(old), len(new)) <= most:
        return []
    a, b = old.splitlines(), new.splitlines()
    if min(len(a), len(b)) < 2 or a == b or max(len(a), len(b)) > LONGEST:
        return []
    found = list(islice(unified_diff(a, b, n=1, lineterm=""), 2, _LINES + 3))
    return [*found[:_LINES], "…"] if len(found) > _LINES else found


def change_words(change: ValueChange) -> str:
    """Return `added`, `removed` or `changed`."""
    return "added" if change.before is ABSENT else "removed" if change.after is ABSENT else "changed"


def change_document(change: ValueChange) -> dict[str, object]:
    """Return a change as JSON."""
    found: dict[str, object] = {"path": list(change.path), "change": change_words(change)}
    return {
        **found,
        **({} if change.before is ABSENT else {"before": change.before}),
        **({} if change.after is ABSENT else {"after": change.after}),
    }


def _differing(old: object, new: object, path: tuple[str, ...]) -> Iterator[ValueChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in (*old, *(k for k in new if k not in old)):
            yield from _differing(old.get(key, ABSENT), new.get(key, ABSENT), (*path, str(key)))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _listed(old, new, path)
    elif not same(old, new):
        yield ValueChange(path, old, new)


def _listed(old: Sequence[object], new: Sequence[object], path: tuple[str, ...]) -> Iterator[ValueChange]:
    for tag, a, b, c, d in _blocks(old, new):
        if tag == "equal":
            continue
        shared = min(b - a, d - c)
        for n in range(shared):
            yield from _differing(old[a + n], new[c + n], (*path, str(c + n)))
        for n in range(a + shared, b):
            yield ValueChange((*path, str(n)), old[n], ABSENT)
        for n in range(c + shared, d):
            yield ValueChange((*path, str(n)), ABSENT, new[n])


def _blocks(old: Sequence[object], new: Sequence[object]) -> list[tuple[str, int, int, int, int]]:
    """Return how one list becomes the other, as `SequenceMatcher.get_opcodes` does."""
    first = 0
    while first < min(len(old), len(new)) and same(old[first], new[first]):
        first += 1
    a, c = old[first:], new[first:]
    if not a or not c or max(len(a), len(c)) > LONGEST:
        return [("replace", first, len(old), first, len(new))]
    matcher = SequenceMatcher(None, [_text(v) for v in a], [_text(v) for v in c], autojunk=False)
    return [(tag, i + first, j + first, k + first, m + first) for tag, i, j, k, m in matcher.get_opcodes()]


def same(old: object, new: object) -> bool:
    """Return whether two JSON values are the same; true is not 1, as Python has it."""
    if type(old) is not type(new):
        return False
    if isinstance(old, (Mapping, list)):
        return bool(old == new) and _text(old) == _text(new)
    return bool(old == new)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
