"""The clock: ISO 8601 in UTC with microseconds, so that texts sort as times do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def utc_now() -> str:
    """Return the time now."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def after_seconds(at: str, seconds: float) -> str:
    """Return the time so many seconds after another."""
    return (datetime.fromisoformat(at) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")
