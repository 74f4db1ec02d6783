"""The questions that a TODO's run asks from inside, and the numbers that people call them by."""

from __future__ import annotations

from typing import Final

from hitl_tui.core.json_types import Interrupt, TodoQuestion, TodoState

HIGHEST_NUMBER: Final = "interrupts"
"""Key in a TODO's metadata: the highest number that one of its interrupts ever had, on any branch."""


def interrupts_of(question: TodoQuestion | None) -> list[Interrupt]:
    """Return the interrupts of a TODO's question, each with its `number`.

    Those of sessions that were begun before interrupts had numbers count by their place.
    """
    found = (question.get("interrupts") if question else None) or ()
    return [{"number": place, **interrupt} for place, interrupt in enumerate(found, start=1)]


def asked_anew(interrupt: Interrupt, asked: int) -> Interrupt:
    """Return an interrupt under another request than before.

    Args:
        asked: how often something was asked anew about its TODO.
    """
    return {**interrupt, "asked": max(asked, int(interrupt.get("asked", 0))) + 1}


def highest_number(todo: TodoState) -> int:
    """Return the highest number that an interrupt of a TODO, as a checkpoint keeps it, ever had; 0 for none."""
    kept = todo.get("metadata", {}).get(HIGHEST_NUMBER, 0)
    numbers = [kept, *(interrupt["number"] for interrupt in interrupts_of(todo.get("question")))]
    return max((number for number in numbers if isinstance(number, int)), default=0)
