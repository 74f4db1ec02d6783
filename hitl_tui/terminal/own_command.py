"""How this program is called again from where it was called."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path


def own_command() -> str:
    """Return the words that start this program: `hitl-tui`; where `uv run` found it for us, what finds it again."""
    if "UV_RUN_RECURSION_DEPTH" not in os.environ:
        return "hitl-tui"
    # `uv run` looks for the project in the folder where it is called.
    with suppress(OSError):  # that folder may be gone by now
        if Path(sys.prefix).parent == Path.cwd():
            return "uv run hitl-tui"
    program = Path(sys.prefix) / "bin" / "hitl-tui"
    return shlex.quote(str(program)) if program.is_file() else "hitl-tui"
