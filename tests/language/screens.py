"""What is read on a screen: its rows, and the English words among them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from textual.app import App
from textual.geometry import Region

_TOKEN = re.compile(r"[A-Za-z0-9_.:/+'=-]*[A-Za-z][A-Za-z0-9_.:/+'=-]*")
_CODE = re.compile(r"[0-9_/=+]|\w[.:]\w|^--?[a-z]|^.$")


def rows(app: App[Any]) -> list[str]:
    """Return the rows of the screen as they are drawn; of a dialog only its own."""
    dialogs = [widget.region for widget in app.screen.query(".dialog")]
    region = dialogs[-1] if dialogs else Region(0, 0, *app.size)
    strips = app.screen._compositor.render_strips(app.size)
    assert all(strip.cell_length <= app.size.width for strip in strips)
    return [strip.crop(region.x, region.right).text for strip in strips[region.y : region.bottom]]


def english(lines: Iterable[str], known: frozenset[str]) -> list[str]:
    """Return the English words in lines that aren't known, each with its line; what holds digits or signs is code."""
    found = []
    for line in lines:
        for token in _TOKEN.findall(line):
            word = token.strip(".:'-")
            if word not in known and not any(_CODE.search(part) for part in (token, word)):
                found.append(f"{word} in {line.strip()!r}")
    return found
