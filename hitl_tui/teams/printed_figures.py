"""Figures in the output of commands, and how those of two runs differ. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hitl_tui.config.figure_limits import DIGITS, PERCENT, UNIT, figure_value
from hitl_tui.teams.bounded_output import without_note
from hitl_tui.teams.number_format import number

MAX_LINES = 5_000
MAX_LABEL = 200
_FIGURE = rf"(?P<figure>{DIGITS})(?P<unit>{UNIT})?"
_BEFORE = re.compile(rf"\s{{0,20}}{_FIGURE}(?:\t(?P<tabbed>\S[^\t]*)| {{1,20}}(?P<label>\S+))\s*")
_AFTER = re.compile(rf"\s{{0,20}}(?P<label>[^\d:=\s][^:=\n]{{0,80}}?)\s?[:=]\s{{0,9}}{_FIGURE}\.?\s*")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a command's output.

    Args:
        label: what it is a figure of, as printed: a path, or words.
        number: its digits as printed, for example `4.0`.
        unit: its unit as printed: `M`, `%`, or empty for none.
        value: it, in bytes where it has a unit of data.
    """

    label: str
    number: str
    unit: str
    value: Fraction

    @property
    def text(self) -> str:
        """The figure as printed, for example `4.0M`."""
        return self.number + self.unit

    @property
    def sized(self) -> bool:
        """Whether it has a unit of data, which the command rounded."""
        return self.unit not in ("", PERCENT)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a declared command that ended well.

    Args:
        todo_id: whose.
        command: what it is called.
        argv: what ran.
        output: what it printed; empty where that isn't known.
        by_hand: a person said that it was done.
        met, missed: in words, what came out as its declaration expects, and what didn't.
        judged: labels of the figures that these are about.
        all_lines: lines that it printed, where `output` doesn't have them all.
    """

    todo_id: str
    command: str
    argv: tuple[str, ...]
    output: str
    by_hand: bool = False
    met: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    all_lines: int = 0

    @property
    def lines(self) -> list[str]:
        """What is kept of what it printed, without empty lines."""
        kept = without_note(self.output) if self.all_lines else self.output
        return [line for line in kept.splitlines() if line.strip()]

    @property
    def line_count(self) -> int:
        """How many lines it printed."""
        return self.all_lines or len(self.lines)

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return posixpath.basename(self.argv[0]) if self.argv else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure, as an earlier and as a later run printed it.

    Args:
        before, after: the two.
        earlier, later: TODO ids of the runs.
    """

    before: Figure
    after: Figure
    earlier: str
    later: str

    @property
    def changed(self) -> bool:
        return self.before.value != self.after.value

    @property
    def apart(self) -> str:
        """How far they are apart, without a sign: `3.2M`; as many as were printed where there is no unit of data."""
        apart = amount(abs(self.after.value - self.before.value), sized=self.before.sized)
        return f"{apart}{PERCENT}p" if self.before.unit == PERCENT else apart


def run_of(todo_id: str, result: Mapping[str, object]) -> Run | None:
    """Return the run in a `TeamResult` dict; None where it is no command's."""
    data = result.get("data")
    if not isinstance(data, Mapping) or not isinstance(data.get("command"), str):
        return None
    return Run(
        todo_id=todo_id,
        command=str(data.get("title") or data["command"]),
        argv=_texts(data.get("argv")),
        output=str(data.get("stdout") or ""),
        by_hand=bool(data.get("declared_done")),
        met=_texts(data.get("met")),
        missed=_texts(data.get("missed")),
        judged=_texts(data.get("judged")),
        all_lines=lines_of_cut(data),
    )


def lines_of_cut(outcome: Mapping[str, Any]) -> int:
    """Return how many lines a command printed whose output wasn't kept whole; 0 where it was.

    Args:
        outcome: as `CommandOutcome.to_dict` gives it.
    """
    return int(outcome.get("stdout_lines") or 0) if outcome.get("truncated") else 0


def _texts(stored: object) -> tuple[str, ...]:
    return tuple(map(str, stored)) if isinstance(stored, list | tuple) else ()


def figures(output: str, most: int = MAX_LINES) -> dict[str, Figure]:
    """Return the figures in an output by their labels; a label that comes twice says nothing and is left out.

    Args:
        output: what was printed.
        most: lines of it that are looked at; 0 for all.
    """
    found: dict[str, Figure] = {}
    twice: set[str] = set()
    for line in output.splitlines()[: most or None]:
        match = _BEFORE.fullmatch(line) or _AFTER.fullmatch(line)
        if match is None:
            continue
        parts = match.groupdict()
        label = " ".join(str(parts.get("tabbed") or parts["label"]).split())
        unit = match["unit"] or ""
        if label in found:
            twice.add(label)
        if len(label) <= MAX_LABEL:
            found[label] = Figure(label, match["figure"], unit, figure_value(match["figure"], unit))
    return {label: figure for label, figure in found.items() if label not in twice}


def differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    """Return every figure that two runs printed alike, as the first and as the last of them printed it.

    Two runs measure alike when they ran the same command line; or the same program, where each figure names a path
    and its own unit.

    Args:
        runs: in the order they ran.
    """
    seen: dict[str, list[tuple[Run, Figure]]] = {}
    for run in runs:
        for label, figure in figures(run.output).items():
            seen.setdefault(label, []).append((run, figure))
    found = []
    for places in seen.values():
        later, after = places[-1]
        first = next(((r, f) for r, f in places[:-1] if _alike(r, f, later, after)), None)
        if first is not None:
            found.append(Difference(first[1], after, first[0].todo_id, later.todo_id))
    return tuple(found)


def _alike(earlier: Run, before: Figure, later: Run, after: Figure) -> bool:
    if before.sized != after.sized or (before.unit == PERCENT) != (after.unit == PERCENT):
        return False
    if earlier.argv == later.argv:
        return True
    options = [{part for part in run.argv if part.startswith("--")} for run in (earlier, later)]
    return (
        bool(earlier.program) and earlier.program == later.program and options[0] == options[1]
        and before.sized and "/" in before.label
    )  # fmt: skip


def amount(value: Fraction, *, sized: bool) -> str:
    """Return a figure as commands print it: `3.2M`, `780K`, `12`."""
    if not sized:
        return number(value, 6)
    power = max((p for p in range(6) if value >= 1024**p), default=0)
    shown = value / 1024**power
    return number(shown, 1 if shown < 10 else 0) + " KMGTP"[power].strip()
