"""Modes and times in words. The first screen needs them, so nothing heavier is imported here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

MODES: Mapping[str, str] = {
    "step": "ASK EVERY STEP",
    "plan": "ASK PLAN, THEN RISKY STEPS",
    "risk": "ASK RISKY STEPS ONLY",
}
MODE_ORDER = tuple(MODES)


def next_mode(mode: str) -> str:
    """Return the mode that follows, in a circle."""
    return MODE_ORDER[(MODE_ORDER.index(mode) + 1) % len(MODE_ORDER)] if mode in MODE_ORDER else MODE_ORDER[0]


def duration_words(seconds: float | None) -> str:
    """Return `0.2 s`, `1:05` or `2:03:04`."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
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


def left_words(deadline: str, now: datetime) -> str:
    """Return how long something still waits: `expires in 9:12`."""
    end = moment(deadline)
    if end is None:
        return ""
    left = int((end - now).total_seconds())
    if left <= 0:
        return "expired"
    return f"expires in {left // 60}:{left % 60:02d}" if left < 3600 else f"expires in {duration_words(left)}"
