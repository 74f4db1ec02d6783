"""Being called: bell, desktop notification and window title, when something needs a person who looks elsewhere.

What is written here is our own words and numbers; a session's id is the only thing in it that somebody else may have
chosen, and it passes `osc_text`.
"""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, ngettext

VARIABLE = "HITL_NOTICES"
EVERY = 60.0
"""Seconds between two calls about one session."""
QUIET = 5.0
"""Seconds without a key before a person counts as looking elsewhere."""

_ESC, _BEL, _ST = "\x1b", "\x07", "\x1b\\"
_LONGEST = 120
_KEEP_TITLE, _GIVE_TITLE_BACK = f"{_ESC}[22;2t", f"{_ESC}[23;2t"
# Terminals that take OSC 777 and take OSC 9 for something else, or for nothing.
_OSC_777 = ("rxvt", "foot")


class NotificationMeans(StrEnum):
    """How a person is called."""

    ALL = "all"
    BELL = "bell"
    OFF = "off"

    @property
    def following(self) -> NotificationMeans:
        """The next one, in a circle."""
        found = list(NotificationMeans)
        return found[(found.index(self) + 1) % len(found)]

    @property
    def words(self) -> str:
        """What it is called."""
        return {"all": _("bell and desktop notification"), "bell": _("bell only"), "off": _("off")}[self.value]


def how_chosen(environ: Mapping[str, str], remembered: str) -> NotificationMeans:
    """Return how a person wants to be called: `HITL_NOTICES`, what was chosen last, or everything."""
    for choice in (environ.get(VARIABLE, "").strip().lower(), remembered):
        if choice in set(NotificationMeans):
            return NotificationMeans(choice)
    return NotificationMeans.ALL


def osc_text(text: str) -> str:
    """Return text that can stand within an operating system command: one line, nothing that ends or divides it."""
    return safe_text(text, multiline=False, limit=_LONGEST).replace(";", ",")


def title(text: str) -> str:
    """Return what sets the window's title."""
    return f"{_ESC}]2;{osc_text(text)}{_BEL}"


def notification(text: str, environ: Mapping[str, str]) -> str:
    """Return what makes a desktop notification, in the form that the terminal around us knows."""
    wants_777 = bool(environ.get("VTE_VERSION")) or environ.get("TERM", "").startswith(_OSC_777)
    said = f"777;notify;hitl-tui;{osc_text(text)}" if wants_777 else f"9;{osc_text(text)}"
    sequence = f"{_ESC}]{said}{_BEL}"
    return through(sequence, environ) or sequence


def clipboard(text: str) -> str:
    """Return what puts text into the terminal's clipboard; also over ssh (OSC 52)."""
    return f"{_ESC}]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}{_BEL}"


def hand_to_tmux(text: str) -> None:
    """Give text to the tmux around us, which gives it on to its terminal.

    It takes no text from sequences of programs unless it was told to (`set-clipboard on`). Without a tmux that answers
    nothing happens.
    """
    for command in (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-")):  # older ones know no -w
        try:
            quiet = subprocess.DEVNULL
            done = subprocess.run(
                command, input=text.encode("utf-8", "replace"), stdout=quiet, stderr=quiet, timeout=5, check=False
            )
        except (OSError, subprocess.SubprocessError):
            return
        if done.returncode == 0:
            return


def through(sequence: str, environ: Mapping[str, str]) -> str:
    """Return a sequence wrapped so that a multiplexer hands it to the terminal around it; empty outside of one.

    tmux does so with `allow-passthrough on`.
    """
    if environ.get("TMUX"):
        return f"{_ESC}Ptmux;{sequence.replace(_ESC, _ESC * 2)}{_ST}"
    if environ.get("STY"):
        return f"{_ESC}P{sequence}{_ST}"
    return ""


@dataclass(slots=True)
class _Asked:
    """What is known of one session: open questions, those a person was called for or saw, when they were called."""

    open: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    called: float = field(default=float("-inf"))


class Notifications:
    """Calls a person, sparingly: once a minute for a session, and never while they type or look.

    Args:
        write: sends a sequence to the terminal.
        clock: monotonic seconds.
        environ: tells which terminal it is.
        how: how they want to be called.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        clock: Callable[[], float],
        environ: Mapping[str, str],
        how: NotificationMeans = NotificationMeans.ALL,
    ) -> None:
        self._write = write
        self._clock = clock
        self._environ = environ
        self.how = how
        self._sessions: dict[str, _Asked] = {}
        self._typed = float("-inf")
        self._title = ""

    def begin(self) -> None:
        """Take over the window's title; the terminal keeps the old one."""
        self._write(_KEEP_TITLE)
        self.entitle("", 0)

    def end(self) -> None:
        """Give the window its title back."""
        if self._title:
            self._title = ""
            self._write(_GIVE_TITLE_BACK)

    def entitle(self, session: str, waiting: int) -> None:
        """Say in the window's title how many questions wait."""
        need = f"({waiting}) " if waiting else ""
        words = f"{need}hitl-tui{f' {session}' if session else ''}"
        if words != self._title:
            self._title = words
            self._write(title(words))

    def typed(self) -> None:
        """A key was pressed."""
        self._typed = self._clock()

    def asked(self, session: str, questions: Collection[str]) -> None:
        """Take over which questions of a session are open; an empty collection when none is."""
        known = self._sessions.setdefault(session, _Asked())
        known.open = frozenset(questions)
        known.told &= known.open

    def look(self, *, focused: bool) -> None:
        """See whether somebody has to be called; the console does so every second.

        Args:
            focused: the terminal's window has the focus.
        """
        now = self._clock()
        for session, known in self._sessions.items():
            fresh = known.open - known.told
            if focused:
                known.told = known.open
            elif fresh and now - self._typed >= QUIET and now - known.called >= EVERY:
                known.told, known.called = known.open, now
                self._call(session, len(known.open))

    def _call(self, session: str, count: int) -> None:
        if self.how is NotificationMeans.OFF:
            return
        self._write(_BEL)
        if self.how is NotificationMeans.ALL:
            need = ngettext("{n} question waits for you in {session}", "{n} questions wait for you in {session}", count)
            self._write(notification(need.format(n=count, session=session), self._environ))
