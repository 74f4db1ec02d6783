"""Bringing an index up to date from where nobody may be kept waiting: here when it is little, else by a process.

`python -P -m hitl_tui.teams.search.index_build` is that process. JSON on standard input says which index; lines of JSON
on standard output say how far it is, and how it ended. It ends with whoever started it; what was read is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from hitl_tui.config.process_limits import limit_process
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.json_text import short_id
from hitl_tui.core.messages import Message
from hitl_tui.teams.contract import Preparation
from hitl_tui.teams.process import Exchange, run_command
from hitl_tui.teams.search.file_walk import is_left_out
from hitl_tui.teams.search.index import APART, SearchIndex
from hitl_tui.teams.search.index_refresh import ANY, Allowed, Progress, TooMuch
from hitl_tui.teams.secret_mask import SecretMask

ASKED_FROM = 20_000
"""Files above which a person is asked before a folder is indexed in advance."""
_FEW, _SMALL = 200, 2_000_000
HERE = Allowed(stale=_FEW, size=_SMALL, wait=False)
"""What is read at once, in this process."""
_TOLD = 12
"""Digits of a fingerprint in the name of a file."""
_NICE = 10
_COMMAND = (sys.executable, "-P", "-m", "hitl_tui.teams.search.index_build")
_MOST_MEMORY = 2 * 1024**3
"""Bytes of address space of the process."""
_MOST_SECONDS = 3_600
_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Which index, of what.

    Args:
        workspace: the folder.
        documents: what of it is searched.
        cache: the folder of the index's file.
        secrets: declared secrets, by name.
    """

    workspace: Path
    documents: Sequence[str]
    cache: Path
    secrets: Mapping[str, str]

    @property
    def file(self) -> Path:
        """The index's file: one for each workspace, choice of documents, and secrets that are left out."""
        name = f"search-{short_id('search', str(self.workspace), sorted(self.documents))}"
        secrets = SecretMask(self.secrets).fingerprint(str(self.workspace.resolve()))[:_TOLD]
        return self.cache / f"{name}{APART if secrets else ''}{secrets}.db"


@dataclass(frozen=True, slots=True)
class Built:
    """What a process did: files read, or else how many files somebody has to be asked about."""

    indexed: int = 0
    asks: int = 0


async def prepare(place: IndexPlace, preparation: Preparation) -> int:
    """Index a folder before anybody asks; see `Team.prepare`.

    A small one is read when it is asked about, which takes no time.

    Raises:
        BadInput: a person wants it for a folder with somebody's home in it.
    """
    if preparation.holds_home:
        if preparation.large:
            raise BadInput(Message("{} holds a home folder, which is indexed only by a search.", place.workspace))
        return 0
    if await asyncio.to_thread(is_small, place.workspace):
        return 0

    def progress(done: int, total: int) -> None:
        preparation.progress(done / max(total, 1))

    built = await build(place, progress, ahead=True, large=preparation.large)
    return built.asks


def is_small(folder: Path) -> bool:
    """Return whether there is little in a folder; it is looked at no longer than it takes to know."""
    entries = size = 0
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not is_left_out(name)]
        entries += len(folders) + len(files)
        with contextlib.suppress(OSError):  # one that is gone by now
            size += sum(Path(path, name).lstat().st_size for name in files[: _FEW + 1])
        if entries > _FEW or size > _SMALL:
            return False
    return True


async def build(place: IndexPlace, progress: Progress, *, ahead: bool = False, large: bool = False) -> Built:
    """Bring an index up to date in a process of its own, which ends with this one.

    Args:
        place: which index.
        progress: called with files done and files in all.
        ahead: nobody waits for it, so that it steps back behind everything else.
        large: a person wants it, however many files there are.

    Raises:
        StorageError: the process was ended from outside, or by its limits.
    """
    order: Order = {
        "cache": str(place.cache),
        "root": str(place.workspace),
        "documents": list(place.documents),
        "secrets": dict(place.secrets),
        "most": ASKED_FROM if ahead and not large else None,
        "nice": _NICE if ahead else 0,
        "sketches": None if ahead else ANY.sketches,
    }
    said: dict[str, int] = {}

    def heard(stream: str, line: str) -> None:
        if stream == "stdout":
            said.update(told := json.loads(line))
            if "total" in told:
                progress(told["done"], told["total"])

    try:
        outcome = await run_command(
            _COMMAND,
            place.workspace,
            _MOST_SECONDS,
            os.environ,
            on_line=heard,
            exchange=Exchange(json.dumps(order).encode(), 0),
        )
    except BadInput:
        return Built()  # what is asked next finds what it needs by itself
    if outcome.signal:
        raise StorageError(
            Message("Indexing {} was ended by signal {}.", place.workspace, outcome.signal),
            help=Message("What was read is kept; the next search continues from there."),
        )
    return Built(said.get("indexed", 0), said.get("files", 0))


class Order(TypedDict):
    """What a process is to do.

    `most` is how many files there may be without a person's word, None for any number; `nice` how far it steps back,
    `sketches` of how many windows the meaning is sketched, None for all.
    """

    cache: str
    root: str
    documents: list[str]
    secrets: dict[str, str]
    most: int | None
    nice: int
    sketches: int | None


def _say(**said: object) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def main() -> int:
    """Do what standard input says; return the exit code: 0 done, 1 it can't be done."""
    order: Order = json.load(sys.stdin)
    os.nice(order["nice"])
    limit_process(_MOST_MEMORY, _MOST_SECONDS)
    told = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _EVERY:
            told = time.monotonic()
            _say(done=done, total=total)

    try:
        place = IndexPlace(Path(order["root"]), order["documents"], Path(order["cache"]), order["secrets"])
        with SearchIndex(place.file, secrets=place.secrets) as index:
            done = index.refresh(
                place.workspace,
                place.documents,
                progress,
                allowed=Allowed(files=order["most"], sketches=order["sketches"]),
            )
    except TooMuch as much:
        _say(files=much.files)
        return 0
    except (HitlError, MemoryError):  # whoever waits for it finds the same, and says it
        return 1
    _say(indexed=done.indexed, searched=done.searched)
    return 0


if __name__ == "__main__":
    sys.exit(main())
