"""Modes and times in words. The first screen needs them, so nothing heavier is imported here. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from hitl_tui.core.safe_text import cell_width
from hitl_tui.language import mark
from hitl_tui.terminal.ascii_signs import _

MODES: Mapping[str, str] = {
    "step": mark("ASK EVERY STEP"),
    "plan": mark("ASK PLAN, THEN RISKY STEPS"),
    "risk": mark("ASK RISKY STEPS ONLY"),
}
_SAFETY: Mapping[str, str] = {
    "step": mark("nothing runs until you approve it"),
    "plan": mark("nothing runs until you approve the plan; then only risky steps ask"),
    "risk": mark("low-risk steps run at once; others ask, unless a rule allows them"),
}
MODE_ORDER = tuple(MODES)
_DEADLINE = re.compile(
    r"(?:(?<=nobody decided before )|(?<=had decided before )|(?<=This question expired at ))"
    r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00"
    r"|\d{4}-\d\d-\d\dT[\d:.]+\+00:00(?=까지 (?:아무도|\d+명 중))"
)
"""A time where sentences of ours name a deadline; elsewhere it may be somebody's text, which stays as it is."""


def mode_words(mode: str) -> str:
    """Return a mode in words, in capitals where the script has them."""
    return _(MODES[mode]) if mode in MODES else mode


def safety_words(mode: str) -> str:
    """Return what may run in a mode before somebody approves it; that a person decides where the mode isn't known."""
    return _(_SAFETY[mode]) if mode in _SAFETY else _("you decide what runs")


def padded(text: str, width: int) -> str:
    """Return text with spaces after it, up to a width in cells."""
    return text + " " * max(0, width - cell_width(text))


def duration_words(seconds: float | None) -> str:
    """Return `0.2 s` in the person's language, `1:05` or `2:03:04`."""
    if seconds is None:
        return ""
    if seconds < 60:
        return _("{seconds:.1f} s").format(seconds=seconds)
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def moment(text: str) -> datetime | None:
    """Return an ISO 8601 time, None when it is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def clock_words(text: str) -> str:
    """Return the local time of day of an ISO 8601 time: `14:03:09`."""
    found = moment(text)
    return found.astimezone().strftime("%H:%M:%S") if found else ""


def day_words(text: str) -> str:
    """Return the local day and minute of an ISO 8601 time: `2026-03-01 14:03`."""
    found = moment(text)
    return found.astimezone().strftime("%Y-%m-%d %H:%M") if found else ""


def zoned_words(text: str) -> str:
    """Return the local day and minute of an ISO 8601 time with its zone, for people elsewhere: `… 14:03 UTC+09:00`."""
    found = moment(text)
    if found is None:
        return ""
    zone = found.astimezone().strftime("%z")
    ahead = f"{zone[:3]}:{zone[3:5]}" if zone.strip("+-0") else ""
    return f"{day_words(text)} UTC{ahead}"


def second_words(text: str) -> str:
    """Return the local day and second of an ISO 8601 time: `2026-03-01 14:03:09`."""
    found = moment(text)
    return found.astimezone().strftime("%Y-%m-%d %H:%M:%S") if found else ""


def local_times(text: str) -> str:
    """Return a sentence of ours with its deadline as people read a time: in the local zone, to the second."""
    return _DEADLINE.sub(lambda found: second_words(found[0]), text)


def left_words(deadline: str, now: datetime) -> str:
    """Return how long something still waits: `expires in 9:12`."""
    end = moment(deadline)
    if end is None:
        return ""
    left = int((end - now).total_seconds())
    if left <= 0:
        return _("expired")
    return (
        _("expires in {minutes}:{seconds:02d}").format(minutes=left // 60, seconds=left % 60)
        if left < 3600
        else _("expires in {left}").format(left=duration_words(left))
    )
