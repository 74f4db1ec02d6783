"""What the windows of an index mean: sketches that find what is said in other words, or in another language."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from hitl_tui.meaning.encoder import sketches
from hitl_tui.tables.files import SUFFIXES

_AT_ONCE = 500
_WITHOUT = """
SELECT windows.id, heading, parts FROM windows JOIN files ON files.id = windows.file
WHERE meaning IS NULL AND NOT EXISTS (SELECT 1 FROM json_each(?) WHERE path LIKE '%' || value) LIMIT ?
"""
"""Finds windows without a sketch; the rows of tables mean little, and are found by their words."""


def sketch_windows(db: sqlite3.Connection, most: int | None, stop: Callable[[], bool]) -> None:
    """Sketch windows that have none yet, in transactions of their own.

    Where the encoder can't run, windows stay without, and are found by their words alone.

    Args:
        db: the store.
        most: how many at most; None for all.
        stop: asked between some hundred of them; True leaves the rest to the next time.
    """
    left, tables = most, json.dumps(sorted(SUFFIXES))
    while (left is None or left > 0) and not stop():
        db.execute("BEGIN IMMEDIATE")  # so that no other process gives a window's number to another one meanwhile
        try:
            rows = db.execute(_WITHOUT, (tables, _AT_ONCE if left is None else min(_AT_ONCE, left))).fetchall()
            texts = [window_text(heading, parts) for _, heading, parts in rows]
            made = sketches(texts) if rows else []
            pairs = [(sketch, row[0]) for row, sketch in zip(rows, made, strict=False)]
            db.executemany("UPDATE windows SET meaning = ? WHERE id = ?", pairs)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        if not made:
            return
        left = None if left is None else left - len(rows)


def window_text(heading: str, parts: str) -> str:
    """Return what is sketched of a window: the last of its headings and its text."""
    return f"{heading.rpartition(' > ')[2]}: " + "\n".join(text for _, _, text in json.loads(parts))
