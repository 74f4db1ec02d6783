"""The clock: ISO 8601 in UTC with microseconds, so that texts sort as times do."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the time now."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
