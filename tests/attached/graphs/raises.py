"""Raises while it is imported, in line 8."""

from __future__ import annotations


def broken() -> int:
    numbers: list[int] = []
    return numbers[3]


graph = broken()
