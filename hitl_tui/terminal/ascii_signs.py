"""Our own signs in ASCII, for terminals and pipes that have no form for them; what others wrote stays as it is."""

from __future__ import annotations

import os
import sys
from codecs import lookup as lookup_codec
from collections.abc import Mapping

from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _ as translated
from hitl_tui.language import ngettext as counted

ASCII_VARIABLE = "HITL_ASCII"

# As many cells as before, so that nothing moves.
SIGNS: Mapping[int, str] = str.maketrans(
    {
        **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺╼╾▔▁⎯—–−‐‑↷", "-"),
        **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻╽╿▏▎▍▌▐▕", "|"),
        **dict.fromkeys("█▉▊▋▓■▪▮", "#"),
        **dict.fromkeys("░▒·․‧▯▫", "."),
        **dict.fromkeys("▂▃▄▅▆▇▀", " "),
        **dict.fromkeys("●◉•∙⏺⬤◆", "*"),
        **dict.fromkeys("○◌◯⭘", "o"),
        **dict.fromkeys("✓✔", "+"),
        **dict.fromkeys("✗✘×✕", "x"),
        "⊘": "/",
        "◷": "@",
        **dict.fromkeys("▸▶►›→»⟩❯▹", ">"),
        **dict.fromkeys("◂◀◄‹←«⟨❮", "<"),
        **dict.fromkeys("↑▲△▴", "^"),
        **dict.fromkeys("↓▼▽▾", "v"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys((chr(n) for n in (*range(0x2400, 0x2420), 0x2421)), "^"),
        "…": "~",
        "\U0001f50e": "? ",
    }
)

_OURS = frozenset(map(chr, SIGNS))


def ascii_wanted(environ: Mapping[str, str], encoding: str) -> bool:
    """Return whether signs and frames are drawn in ASCII: `HITL_ASCII=1`, or a terminal that isn't UTF-8.

    Args:
        environ: the environment.
        encoding: of what is written to the terminal.
    """
    chosen = environ.get(ASCII_VARIABLE, "").strip().lower()
    if chosen:
        return chosen not in ("0", "no", "off", "false")
    return not is_utf8(encoding)


def is_utf8(encoding: str) -> bool:
    """Return whether everything can be written in an encoding; not for one that isn't known."""
    try:
        return lookup_codec(encoding).name == "utf-8"
    except LookupError:
        return False


def _written_in() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def signs(text: str) -> str:
    """Return text of ours with its signs as they can be written: `done` after `✓` or `+`.

    Nothing of anybody else's may be in it: what can't be written of that is escaped, not replaced.
    """
    if text.isascii() or _OURS.isdisjoint(text) or not ascii_wanted(os.environ, _written_in()):
        return text
    return text.translate(SIGNS)


def _(text: str) -> str:
    """Return a text in the person's language, its signs as they can be written."""
    return signs(translated(text))


def ngettext(one: str, many: str, n: int) -> str:
    """Return a text for a number of things in the person's language, its signs as they can be written."""
    return signs(counted(one, many, n))


def clipped(text: str, width: int) -> str:
    """Return text of anybody's in one harmless line of so many cells; the sign that it was cut is ours."""
    shown = one_line(text, width)
    cut = shown.endswith("…") and not text.startswith(shown)
    return shown.removesuffix("…") + signs("…") if cut else shown


def stepped(text: str) -> str:
    """Return a line of a team: the point before the name of a step that it came to is ours."""
    return signs(text[:2]) + text[2:] if text.startswith("· ") else text


def writable(text: str) -> str:
    """Return text with what can't be written escaped: a terminal's own library would show `?` instead."""
    encoding = _written_in()
    return text.encode(encoding, "backslashreplace").decode(encoding)
