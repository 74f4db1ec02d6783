"""Opens a browser at the address that lets it in, without showing the address to others on this machine."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Mapping
from html import escape
from pathlib import Path


def has_browser(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether there is a screen to open a browser on: one in a terminal would take this one."""
    return platform == "darwin" or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def open_browser(address: str, folder: Path) -> Path | None:
    """Open a browser, through a file that only its owner can read: a command line can be read by everybody.

    Args:
        address: where to.
        folder: where the file is made.

    Returns:
        The file, to be removed in the end; None when it couldn't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="web-", suffix=".html", dir=folder)
    except OSError:
        return None
    page = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<title>hitl-tui</title><a href="{escape(address)}" rel="noreferrer">hitl-tui</a>\n'
        )
    # Some browsers are waited for until they are closed, and this one needs the server meanwhile.
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), name="browser", daemon=True).start()
    return page
