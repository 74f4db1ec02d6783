"""Which columns of the plan find room, and how wide they are. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hitl_tui.console.words import PlanRow
from hitl_tui.core.safe_text import cell_width, one_line

_WIDTHS = {"status": 10, "number": 3, "priority": 2, "team": 8, "needs": 9, "attempts": 3, "time": 8}
"""The widest that a column gets; of the number the least, and of status and team what they always have."""
_COLUMNS = ("status", "number", "priority", "team", "title", "needs", "attempts", "time")
_PADDING = 2
_NARROWEST_TITLE = 24
_ROOMY_TITLE = 32
"""What is left to the title at least where a priority stands there in a word besides its sign."""
_NARROWEST_TIME = 6
"""Room for less than a minute; a longer time makes the column wider once."""
# What goes first where there is no room: the time column says what a step waits for, when it has no time yet.
_DISPENSABLE = ("needs", "team", "attempts")
_WIDEST_NUMBER = 8
HEADS: Mapping[str, Sequence[str]] = {
    "search": ("Search the documents", "자료 검색"),
    "analysis": ("Analyse", "분석"),
    "document": ("Write the report", "보고서 작성"),
    "command": ("Run", "명령 실행"),
}
"""What titles of planned steps begin with, by team: the same for all of its steps."""


def fitting(width: int, rows: Sequence[PlanRow]) -> dict[str, int]:
    """Return the columns that find room in a width in cells, with their widths; the title takes what is left."""
    empty = {
        "priority": not any(r.priority for r in rows),
        "needs": not any(r.needs for r in rows),
        "attempts": not any(r.attempts for r in rows),
        "time": not any(r.time or r.needs for r in rows),
    }
    shown = [name for name in _COLUMNS if not empty.get(name)]
    number = max((len(r.number) for r in rows), default=0)
    needs = _widest({r.needs for r in rows})
    widths = {
        **_WIDTHS,
        "number": max(_WIDTHS["number"], min(number, _WIDEST_NUMBER)),
        "needs": min(needs, _WIDTHS["needs"]),
    }
    for name in _DISPENSABLE:
        if _title_room(width, shown, widths) < _NARROWEST_TITLE and name in shown:
            shown.remove(name)
    time = _widest({r.time or ("" if "needs" in shown else r.needs) for r in rows})
    widths["time"] = _NARROWEST_TIME if time <= _NARROWEST_TIME else _WIDTHS["time"]
    if "priority" in shown:
        word = _widest({priority_words(r) for r in {(r.priority, r.level): r for r in rows}.values()})
        if _title_room(width, shown, {**widths, "priority": word}) >= _ROOMY_TITLE:
            widths["priority"] = word
        else:
            widths["priority"] = _widest({r.priority for r in rows})
    return {name: widths.get(name, max(4, _title_room(width, shown, widths))) for name in shown}


def priority_words(row: PlanRow) -> str:
    """Return a TODO's priority as a sign and a word; empty for medium."""
    return f"{row.priority:<2} {row.level}".rstrip()


def title_words(row: PlanRow, width: int, *, beside_team: bool) -> str:
    """Return a TODO's title; where it is too long, without what the team's column says already.

    Args:
        row: the TODO's line.
        width: cells there are.
        beside_team: its team's column is shown.
    """
    if not beside_team or cell_width(row.title) <= width:
        return row.title
    head, found, rest = row.title.partition(": ")
    return rest if found and head in HEADS.get(row.team, ()) else row.title


def needs_words(needs: str, width: int) -> str:
    """Return what a TODO depends on in a width: `← 001 002`, `← 1 2`, or as many as fit: `← 1 2 +4`."""
    if cell_width(needs) <= width:
        return needs
    sign, *numbers = needs.split(" ")
    short = [n.lstrip("0") or n for n in numbers]
    for kept in range(len(short), 0, -1):
        more = [f"+{len(short) - kept}"] if kept < len(short) else []
        said = " ".join([sign, *short[:kept], *more])
        if cell_width(said) <= width:
            return said
    return needs


def _widest(texts: Collection[str]) -> int:
    return max((cell_width(text) for text in texts), default=0)


def _title_room(width: int, shown: Sequence[str], widths: Mapping[str, int]) -> int:
    return width - sum(widths.get(name, 0) for name in shown) - len(shown) * _PADDING - 1


def shown_number(row: PlanRow, width: int) -> str:
    """Return a TODO's number as it stands in a column of so many cells."""
    plain = row.number.isascii() and row.number.isprintable() and len(row.number) <= width
    return row.number if plain else one_line(row.number, width)
