"""Sessions and their checkpoints, as a list names them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.tally import all_done, read_tally
from hitl_tui.language import mark, safe_message
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.rows import in_line
from hitl_tui.wording.status_words import ended_words, fork_first
from hitl_tui.wording.times import day_words

FOUND = "  ▸ "
"""Between a session's title and the line that has the words looked for."""

_STATUS = {
    "waiting": mark("? waiting"),
    "running": mark("▸ running"),
    "finished": mark("✓ finished"),
    "failed": mark("✗ failed"),
    "interrupted": mark("○ interrupted"),
    "queued": mark("○ waits for a worker"),
    "stranded": mark("✗ no worker"),
    "silent": mark("✗ no sign of life"),
    "unreadable": mark("✗ unreadable"),
}


def session_status(status: str, counts: Mapping[str, int] = MappingProxyType({})) -> str:
    """Return a session's status in a list, with its glyph; of one that ended with something undone how its steps ended.

    Args:
        status: as `SessionSummary` has it.
        counts: the session's tally (`core.tally`).
    """
    if status in ("finished", "failed") and counts and not all_done(counts):
        return ended_words(counts)
    return _(_STATUS[status]) if status in _STATUS else in_line(status)


def session_title(title: str, message: str) -> str:
    """Return what a session is called in a list: its title, which is safe; why it can't be read where it has none."""
    return fork_first(title or safe_message(message, multiline=False))


def session_cells(session: JsonObject) -> tuple[str, ...]:
    """Return id, status, how many questions wait, local time of the last change, and title.

    Args:
        session: as `SessionSummary.to_dict` gives it.
    """
    status = session_status(str(session["session_status"]), read_tally(session.get("tally"), 0))
    opened = _("{status}, open").format(status=status) if session["owned"] else status
    if session.get("still_running"):
        opened = _("{status}, a command still runs").format(status=status)
    worker = str(session.get("worker", ""))
    return (
        in_line(str(session["session_id"])),
        f"{status}, {in_line(worker)}" if worker else opened,
        _("{n} for you").format(n=session["questions"]) if session["questions"] else "",
        day_words(str(session["updated"])),
        found_in(session_title(str(session["title"]), str(session["message"])), str(session.get("found", ""))),
    )


def found_in(title: str, line: str) -> str:
    """Return a session's title with the line of its steps or its answer that has the words looked for, if any."""
    return f"{title}{FOUND}{in_line(line)}" if line else title
