"""When this process was started: nobody gave its command later."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

_STARTED = 19
"""Place of the start time among the fields of /proc/self/stat that follow the program's name."""


def process_start() -> str:
    """Return when this process was started, ISO 8601, UTC; where the system doesn't say it, now."""
    now = datetime.now(UTC)
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        age = max(0.0, uptime - int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        age = 0.0
    return (now - timedelta(seconds=age)).isoformat(timespec="microseconds")
