"""What is wrong in a settings file, and the sentence that says so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.config.lines import Path, Place, place_of
from hitl_tui.config.words import nearest, quoted
from hitl_tui.core.safe_text import safe_text

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Args:
        path: the key it concerns, from the top; positions in arrays count from 0.
        says: what is wrong, completing a sentence that begins with the key.
        unknown_among: for a key that doesn't exist the ones that do; `says` is empty then.
    """

    path: Path
    says: str
    unknown_among: tuple[str, ...] = ()


def first_problem(problems: Sequence[Problem], places: Mapping[Path, Place]) -> tuple[int, str]:
    """Return the line and the sentence of the problem that stands first in the file."""
    problem = min(problems, key=lambda one: place_of(places, one.path))
    sentence = f"{_subject(problem.path)} {problem.says}"
    if problem.unknown_among:
        sentence = _unknown_key(problem)
    return place_of(places, problem.path)[0], sentence if sentence.endswith("?") else f"{sentence}."


def _unknown_key(problem: Problem) -> str:
    key = str(problem.path[-1])
    where = _table(problem.path[:-1])
    hint = nearest(key, problem.unknown_among)
    rest = f"did you mean {quoted(hint)}?" if hint else f"known are {', '.join(problem.unknown_among)}"
    return f"unknown key {quoted(key)} {where}; {rest}"


def _subject(path: Path) -> str:
    if not path:
        return "the file"
    last = path[-1]
    if isinstance(last, str):
        return f"{quoted(last)} {_table(path[:-1])}"
    if len(path) == 2:
        return _table(path).removeprefix("in ")
    return f"item {last + 1} of {_subject(path[:-1])}"


def _table(path: Path) -> str:
    keys = [step if _BARE_KEY.fullmatch(step) else quoted(step) for step in path if isinstance(step, str)]
    if not keys:
        return "at the top"
    name = safe_text(".".join(keys), multiline=False, limit=160)
    return f"in [[{name}]]" if isinstance(path[-1], int) else f"in [{name}]"
