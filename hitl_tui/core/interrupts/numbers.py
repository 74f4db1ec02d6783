"""The questions that a TODO's run asks from inside, and the numbers that people call them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HIGHEST_NUMBER = "interrupts"
"""Key in a TODO's metadata: the highest number that one of its interrupts ever had, on any branch."""


def interrupts_of(question: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the interrupts of a TODO's question, each with its `number`.

    Those of sessions that were begun before interrupts had numbers count by their place.
    """
    found = (question or {}).get("interrupts") or ()
    return [{"number": place, **interrupt} for place, interrupt in enumerate(found, start=1)]


def highest_number(todo: Mapping[str, Any]) -> int:
    """Return the highest number that an interrupt of a TODO, as a checkpoint keeps it, ever had; 0 for none."""
    kept = todo.get("metadata", {}).get(HIGHEST_NUMBER, 0)
    numbers = [kept, *(interrupt["number"] for interrupt in interrupts_of(todo.get("question")))]
    return max((number for number in numbers if isinstance(number, int)), default=0)
