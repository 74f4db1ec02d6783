"""Bringing an index up to date from where nobody may be kept waiting: here when it is little, else by a process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.json_text import short_id
from hitl_tui.core.messages import Message
from hitl_tui.teams.search.file_walk import is_left_out
from hitl_tui.teams.search.index_process import Order
from hitl_tui.teams.search.index_refresh import Allowed, Progress

ASKED_FROM = 20_000
"""Files above which a person is asked before a folder is indexed in advance."""
_FEW, _SMALL = 200, 2_000_000
HERE = Allowed(stale=_FEW, size=_SMALL)
"""What is read at once, in this process."""
_NICE = 10
_COMMAND = ("-P", "-m", "hitl_tui.teams.search.index_process")


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
        """The index's file: one for each workspace and choice of documents."""
        return self.cache / f"search-{short_id('search', str(self.workspace), sorted(self.documents))}.db"


@dataclass(frozen=True, slots=True)
class Built:
    """What a process did: files read, or else how many files somebody has to be asked about."""

    indexed: int = 0
    asks: int = 0


def may_prepare(folder: Path) -> bool:
    """Return whether a folder may be indexed before anybody asks: never one with somebody's whole home in it."""
    home = Path(os.path.realpath(Path.home()))
    return not home.is_relative_to(os.path.realpath(folder))


async def prepare(place: IndexPlace, progress: Callable[[float], None], *, large: bool = False) -> int:
    """Index a folder before anybody asks; see `Team.prepare`.

    A small one is read when it is asked about, which takes no time.

    Raises:
        BadInput: a person wants it for a folder with somebody's home in it.
    """
    if not may_prepare(place.workspace):
        if large:
            raise BadInput(Message("{} holds a home folder, which is indexed only by a search.", place.workspace))
        return 0
    if await asyncio.to_thread(is_small, place.workspace):
        return 0
    built = await build(place, lambda done, total: progress(done / max(total, 1)), ahead=True, large=large)
    return built.asks


def is_small(folder: Path) -> bool:
    """Return whether there is little in a folder; it is looked at no longer than it takes to know."""
    entries = size = 0
    folders = [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        if not is_left_out(entry.name):
                            folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        size += entry.stat(follow_symlinks=False).st_size
                    if entries > _FEW or size > _SMALL:
                        return False
        except OSError:  # what can't be read isn't indexed
            continue
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
        "file": str(place.file),
        "root": str(place.workspace),
        "documents": list(place.documents),
        "secrets": dict(place.secrets),
        "most": ASKED_FROM if ahead and not large else None,
        "nice": _NICE if ahead else 0,
    }
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return Built()  # what is asked next finds what it needs by itself
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        said: dict[str, int] = {}
        async for line in process.stdout:
            said = json.loads(line)
            if "total" in said:
                progress(said["done"], said["total"])
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code < 0:
        raise StorageError(
            Message("Indexing {} was ended by signal {}.", place.workspace, -code),
            help=Message("What was read is kept; the next search continues from there."),
        )
    return Built(said.get("indexed", 0), said.get("files", 0))
