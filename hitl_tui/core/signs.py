"""Signs of ours in ASCII, for terminals and pipes that have no form for them, or where they aren't wanted."""

from __future__ import annotations

from codecs import lookup as lookup_codec
from collections.abc import Mapping

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
