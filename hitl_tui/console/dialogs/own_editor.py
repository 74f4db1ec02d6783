"""A person's own editor: a text goes there and comes back."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _


async def edited(text: str) -> str:
    """Let a person edit a text in their editor, which wants a line feed at its end.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    ended = text.endswith("\n")
    found = await text_from_editor(text if ended or not text else text + "\n", os.environ)
    return found if ended else found.removesuffix("\n")


def _is_json(text: str) -> bool:
    """Return whether an editor is to take a text for JSON."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


async def text_from_editor(text: str, environ: Mapping[str, str]) -> str:
    """Let the person edit a text in $VISUAL or $EDITOR, and return it; the session's work goes on meanwhile.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    command = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="hitl-") as folder:
        path = Path(folder) / ("input.json" if _is_json(text) else "input.txt")
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            # Standard output may be kept from what graphs write; the screen is the one that is drawn on.
            screen = sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else None
            process = await asyncio.create_subprocess_exec(*shlex.split(command), str(path), stdout=screen)
        except (OSError, ValueError, IndexError) as error:
            said = one_line(command, 60)
            raise BadInput(
                _('The editor "{said}" can\'t be started ({error}); set EDITOR to a working one.').format(
                    said=said, error=error
                )
            ) from error
        code = await process.wait()
        if code:
            raise BadInput(_("The editor ended with exit code {code}; nothing was taken from it.").format(code=code))
        return path.read_text(encoding="utf-8", errors="surrogateescape")
