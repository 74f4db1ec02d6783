"""The map by which the search sketches what a window means: `hitl_tui/meaning/window_map.npy`, fitted to texts.

    uv run --with numpy python benchmarks/window_map.py FOLDER [FOLDER ...] [--write]

The quick encoder reads some 300 windows a second, too slow for a whole folder while a person waits. A sketch takes a
tenth of that: the sum of the encoder's pieces of words, by a linear map onto what it makes of the whole text. The map
is a ridge regression over the windows of the folders, question sets' or others. What is printed is how like sketches
are to what the encoder says of a fifth of the folders, which were left out of the fit; then it is fitted to all.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hitl_tui.meaning import encoder
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.index_refresh import Allowed
from hitl_tui.teams.search.window_meanings import window_text

_AT_ONCE, _HELD, _EVERY = 256, 30.0, 5
_MAP = Path(encoder.__file__).with_name("window_map.npy")


def texts(folder: Path) -> list[str]:
    """Return the texts of a folder's windows, cut as they are sketched."""
    with tempfile.TemporaryDirectory() as made:
        store = Path(made, "index.db")
        with SearchIndex(store) as index:
            index.refresh(folder, allowed=Allowed(sketches=0))
        db = sqlite3.connect(store)
        rows = db.execute("SELECT heading, parts FROM windows ORDER BY id").fetchall()
        db.close()
    return [window_text(heading, parts)[: encoder.COMPARED] for heading, parts in rows]


def fitted(pooled: Any, said: Any) -> Any:
    """Return the map from pooled pieces to what the encoder says."""
    return np.linalg.solve(pooled.T @ pooled + _HELD * np.eye(pooled.shape[1]), pooled.T @ said)


def likeness(mapped: Any, said: Any) -> float:
    """Return how like sketches are to what the encoder says, on average."""
    return float((mapped / (np.linalg.norm(mapped, axis=1, keepdims=True) + 1e-6) * said).sum(axis=1).mean())


def main() -> None:
    """Fit, print, and write where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write the map that the search uses")
    given = parser.parse_args()
    models = encoder.Models()
    known = []
    for folder in given.folders:
        some = texts(folder)
        said = [models.quick.encode(some[at : at + _AT_ONCE]) for at in range(0, len(some), _AT_ONCE)]
        if said:
            known.append((models.pooled(some), np.concatenate(said)))
        print(f"{folder}: {len(some)} windows", flush=True)
    for part in range(_EVERY):
        kept = [one for at, one in enumerate(known) if at % _EVERY != part]
        others = [one for at, one in enumerate(known) if at % _EVERY == part]
        if kept and others:
            map_ = fitted(np.concatenate([x for x, _ in kept]), np.concatenate([y for _, y in kept]))
            x, y = np.concatenate([x for x, _ in others]), np.concatenate([y for _, y in others])
            print(f"left out {part + 1} of {_EVERY}: {len(x)} windows, likeness {likeness(x @ map_, y):.3f}")
    map_ = fitted(np.concatenate([x for x, _ in known]), np.concatenate([y for _, y in known]))
    if given.write:
        np.save(_MAP, map_.astype("f2"))
        print(f"written: {_MAP.name}, {map_.shape[0]} by {map_.shape[1]}")


if __name__ == "__main__":
    main()
