"""A screen as a small SVG file that looks the same everywhere: letters in the reader's own font, lines drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.strip import Strip

from hitl_tui.core.safe_text import cell_width

_WIDE, _HIGH, _SIZE, _EDGE = 8.4, 18, 14, 10
_BASE = 13.5
_SPREAD = 2 * _WIDE - _SIZE
"""What makes a wide sign as wide as two others."""
_FONTS = "'Cascadia Mono','JetBrains Mono',Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK KR',monospace"

# From the middle of a cell to its left, right, upper and lower edge.
_STROKES = {
    **dict.fromkeys("─━╌", "lr"),
    **dict.fromkeys("│┃", "ud"),
    **dict.fromkeys("╭┌┏", "rd"),
    **dict.fromkeys("╮┐┓", "ld"),
    **dict.fromkeys("╰└┗", "ru"),
    **dict.fromkeys("╯┘┛", "lu"),
    **dict.fromkeys("├", "rud"),
    **dict.fromkeys("┤", "lud"),
    **dict.fromkeys("┬", "lrd"),
    **dict.fromkeys("┴", "lru"),
    **dict.fromkeys("┼", "lrud"),
}
_HEAVY = frozenset("━┃┏┓┗┛")
_ROUND = frozenset("╭╮╰╯")
# Left, top, right and bottom of a filled part of the cell, in eighths.
_BLOCKS = {
    **{chr(0x2580 + n): (0, 8 - n, 8, 8) for n in range(1, 9)},
    **{chr(0x2588 + n): (0, 0, 8 - n, 8) for n in range(1, 8)},
    "▀": (0, 0, 8, 4),
    "▐": (4, 0, 8, 8),
    "▔": (0, 0, 8, 1),
    "▕": (7, 0, 8, 8),
}


@dataclass(frozen=True, slots=True)
class _Cell:
    """One sign on its place."""

    x: int
    sign: str
    width: int
    ink: str
    ground: str
    faces: str

    @property
    def kind(self) -> str:
        if self.sign in _STROKES:
            return "stroke"
        if self.sign in _BLOCKS:
            return "block"
        return "wide" if self.width > 1 else "narrow"


def drawn(strips: Sequence[Strip], ground: str, theme: TerminalTheme) -> str:
    """Return rows of a screen as an SVG document.

    Args:
        strips: the rows, all of one width.
        ground: the theme's background, `#rrggbb`.
        theme: for colours that a theme leaves to the terminal.
    """
    rows = [list(_cells(strip, ground, theme)) for strip in strips]
    width = max(strip.cell_length for strip in strips)
    styles: dict[tuple[str, str], str] = {}
    parts: list[str] = []
    for y, row in enumerate(rows):
        parts += _grounds(row, y, ground)
    for y, row in enumerate(rows):
        parts += _lines(row, y)
        parts += _texts(row, y, styles)
    rules = [f".{name}{{fill:{ink};{faces}}}" for (ink, faces), name in styles.items()]
    wide, high = width * _WIDE + 2 * _EDGE, len(rows) * _HIGH + 2 * _EDGE
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(wide)} {_n(high)}">',
        f"<style>text{{font-family:{_FONTS};font-size:{_SIZE}px}}.w{{letter-spacing:{_n(_SPREAD)}px}}{''.join(rules)}</style>",
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>',
        f'<g transform="translate({_EDGE},{_EDGE})">',
    ]
    return "\n".join([*head, *parts, "</g></svg>"]) + "\n"


def _cells(strip: Strip, ground: str, theme: TerminalTheme) -> Iterator[_Cell]:
    x = 0
    for segment in strip:
        style = segment.style or Style()
        ink, below = _hex(style.color, theme, True) or "#808080", _hex(style.bgcolor, theme, False) or ground
        if style.reverse:
            ink, below = below, ink
        bold, slanted = "font-weight:bold;" if style.bold else "", "font-style:italic;" if style.italic else ""
        lined = [name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on]
        faces = bold + slanted + (f"text-decoration:{' '.join(lined)};" if lined else "")
        for sign in segment.text:
            width = cell_width(sign)
            if width:
                yield _Cell(x, sign, width, ink, below, faces)
            x += width


def _hex(colour: Color | None, theme: TerminalTheme, front: bool) -> str:
    if colour is None or colour.is_default:
        return ""
    return colour.get_truecolor(theme, front).hex


def _grounds(row: Sequence[_Cell], y: int, ground: str) -> Iterator[str]:
    for colour, run in groupby(row, key=lambda cell: cell.ground):
        cells = list(run)
        if colour != ground:
            wide = cells[-1].x + cells[-1].width - cells[0].x
            yield _rect(cells[0].x * _WIDE, y * _HIGH, wide * _WIDE, _HIGH, colour)


def _texts(row: Sequence[_Cell], y: int, styles: dict[tuple[str, str], str]) -> Iterator[str]:
    for (kind, ink, faces), run in groupby(row, key=lambda cell: (cell.kind, cell.ink, cell.faces)):
        if kind not in ("wide", "narrow"):
            continue
        for cells in _words(list(run), keep="underline" in faces):
            text = "".join(cell.sign for cell in cells)
            wide = sum(cell.width for cell in cells) * _WIDE
            name = styles.setdefault((ink, faces), f"s{len(styles)}")
            place = f'x="{_n(cells[0].x * _WIDE)}" y="{_n(y * _HIGH + _BASE)}" textLength="{_n(wide)}"'
            more = " w" if kind == "wide" else ""
            yield f'<text class="{name}{more}" {place}>{escape(text, quote=False)}</text>'


def _words(cells: Sequence[_Cell], *, keep: bool) -> Iterator[Sequence[_Cell]]:
    """Return the parts between two or more spaces, which readers draw as one."""
    text = "".join(cell.sign for cell in cells)
    for found in re.finditer(r".+" if keep else r"\S+(?: \S+)*", text):
        yield cells[found.start() : found.end()]


def _lines(row: Sequence[_Cell], y: int) -> Iterator[str]:
    for (kind, ink, sign), run in groupby(row, key=lambda cell: (cell.kind, cell.ink, cell.sign)):
        cells = list(run)
        left, top = cells[0].x * _WIDE, y * _HIGH
        wide = len(cells) * _WIDE
        if kind == "block":
            x, up, right, down = (part / 8 for part in _BLOCKS[sign])
            across = wide if (x, right) == (0, 1) else (right - x) * _WIDE
            yield _rect(left + x * _WIDE, top + up * _HIGH, across, (down - up) * _HIGH, ink)
        elif kind == "stroke":
            thick = 2.4 if sign in _HEAVY else 1.2
            if _STROKES[sign] == "lr":
                path = f"M{_n(left)} {_n(top + _HIGH / 2)}h{_n(wide)}"
            else:
                path = "".join(_stroke(sign, cell.x * _WIDE, top) for cell in cells)
            yield f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="{thick}"/>'


def _stroke(sign: str, left: float, top: float) -> str:
    x, y, ways = left + _WIDE / 2, top + _HIGH / 2, _STROKES[sign]
    ends = {"l": (left, y), "r": (left + _WIDE, y), "u": (x, top), "d": (x, top + _HIGH)}
    if sign in _ROUND:
        (ax, ay), (bx, by) = (ends[way] for way in ways)
        return f"M{_n(ax)} {_n(ay)}Q{_n(x)} {_n(y)} {_n(bx)} {_n(by)}"
    if ways == "ud":
        return f"M{_n(x)} {_n(top)}v{_HIGH}"
    return "".join(f"M{_n(x)} {_n(y)}L{_n(ends[way][0])} {_n(ends[way][1])}" for way in ways)


def _rect(x: float, y: float, wide: float, high: float, colour: str) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}" fill="{colour}"/>'


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
