"""Operating system accounts of the process and of files, by number and never by environment."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from hitl_tui.core.safe_text import one_line

_LONGEST = 64


def account_name(uid: int | None = None) -> str:
    """Return the name of an account, of this process's own when none is given; `uid-1000` for one without a name."""
    number = os.getuid() if uid is None else uid
    try:
        found = pwd.getpwuid(number).pw_name.strip()
    except (KeyError, OSError):  # a container's user without an entry
        found = ""
    return one_line(found, _LONGEST) or f"uid-{number}"


def owner_of(folder: Path) -> str:
    """Return the account that owns a folder; this process's own where there is no such folder yet."""
    try:
        return account_name(folder.stat().st_uid)
    except OSError:
        return account_name()
