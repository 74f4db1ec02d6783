"""The index is built apart: once, however many want it, and from where an earlier build was ended."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from team_support import make_context, run_team

from hitl_tui.core.errors import BadInput
from hitl_tui.teams.contract import Preparation, TeamResult
from hitl_tui.teams.search import index_build, index_refresh
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.index_build import HERE, IndexPlace, build
from hitl_tui.teams.search.index_refresh import Allowed, Busy, TooMuch
from hitl_tui.teams.search.team import SearchTeam

FILES = 60


@pytest.fixture
def place(tmp_path: Path) -> IndexPlace:
    root = tmp_path / "workspace"
    root.mkdir()
    for number in range(FILES):
        file = root / f"note{number:03}.md"
        file.write_text(f"Word of number {number}: otter{number}.")
        os.utime(file, (1_600_000_000, 1_600_000_000))
    return IndexPlace(root, ["."], tmp_path / "cache", {})


def nothing(done: int, total: int) -> None:
    """Progress nobody looks at."""


def found(place: IndexPlace, question: str) -> list[str]:
    with SearchIndex(place.file, secrets=place.secrets) as index:
        return [passage.path for passage in index.query(question).passages]


@pytest.mark.long
async def test_a_process_builds_what_is_asked_afterwards(place: IndexPlace) -> None:
    built = await build(place, nothing)
    assert (built.indexed, built.asks) == (FILES, 0)
    assert found(place, "otter17") == ["note017.md"]


@pytest.mark.long
async def test_several_that_want_it_build_it_once(place: IndexPlace) -> None:
    built = await asyncio.gather(*(build(place, nothing, ahead=ahead) for ahead in (True, False, True)))
    assert sorted(one.indexed for one in built) == [0, 0, FILES]


def test_a_build_that_is_killed_is_gone_on_with(place: IndexPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_refresh, "_BATCH_SECONDS", 0.0)
    child = os.fork()
    if child == 0:
        with SearchIndex(place.file) as index:
            index.refresh(place.workspace, progress=lambda done, _: done < 40 or os.kill(os.getpid(), signal.SIGKILL))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with SearchIndex(place.file) as index:
        done = index.refresh(place.workspace)
    assert 0 < done.indexed <= FILES - 39
    assert (done.searched, done.complete) == (FILES, True)
    assert found(place, "otter3") == ["note003.md"]


@contextmanager
def another_builds(place: IndexPlace) -> Iterator[None]:
    place.cache.mkdir(exist_ok=True)
    with place.file.with_name(place.file.name + ".build").open("w+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"7 60\n")
        other.flush()
        yield


def test_who_may_not_wait_is_told_how_far_the_other_one_is(place: IndexPlace) -> None:
    with SearchIndex(place.file) as index:
        with another_builds(place), pytest.raises(Busy) as busy:
            index.refresh(place.workspace, allowed=HERE)
        assert (busy.value.done, busy.value.total) == (7, 60)
        assert index.refresh(place.workspace, allowed=HERE).indexed == FILES


async def test_searches_that_wait_for_an_index_keep_no_thread_from_others(place: IndexPlace) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    team, waiting = SearchTeam(), asyncio.Queue[str]()

    def progress(text: str, fraction: float = -1.0) -> None:
        waiting.put_nowait(text)

    async def search(number: int) -> TeamResult:
        context = make_context(place.workspace, team.bind(f"otter{number}", {}), progress=progress)
        return await run_team(team, replace(context, cache=place.cache))

    with another_builds(place):
        searches = [asyncio.create_task(search(number)) for number in range(4)]
        for _ in searches:
            assert "7" in await waiting.get()
        assert await asyncio.to_thread(lambda: "a thread") == "a thread"
    results = await asyncio.gather(*searches)
    assert [result.citations[0].path for result in results] == [f"note{number:03}.md" for number in range(4)]


def test_terminals_with_and_without_a_secret_each_keep_their_index(place: IndexPlace) -> None:
    hidden = replace(place, secrets={"TOKEN": "otter17"})

    def read(by: IndexPlace) -> int:
        with SearchIndex(by.file, secrets=by.secrets) as index:
            return index.refresh(by.workspace).indexed

    assert [read(by) for by in (place, hidden)] == [FILES, FILES]
    assert b"otter17" not in b"".join(file.read_bytes() for file in place.cache.iterdir())
    assert [read(by) for by in (place, hidden, place, hidden)] == [FILES, 0, 0, 0]
    assert found(hidden, "otter17") == []
    assert found(place, "otter17") == ["note017.md"]


def test_an_index_that_is_damaged_when_it_is_asked_is_made_anew_within_the_same_bounds(place: IndexPlace) -> None:
    with SearchIndex(place.file) as index:
        index.refresh(place.workspace)
    with SearchIndex(place.file) as index:
        index.refresh(place.workspace, allowed=Allowed(stale=FILES - 1))
        damage(place.file)
        with pytest.raises(TooMuch):
            index.query("otter17")
    with SearchIndex(place.file) as index:
        assert index.refresh(place.workspace).indexed == FILES


def damage(file: Path) -> None:
    """Overwrite all but the first page of an index."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with file.open("r+b") as opened:
        size = file.stat().st_size
        opened.seek(4096)
        opened.write(b"\xa5" * (size - 4096))


async def test_the_process_ends_with_whoever_started_it(place: IndexPlace) -> None:
    script = f"""
import asyncio
from pathlib import Path
from hitl_tui.teams.search.index_build import IndexPlace, build
place = IndexPlace(Path({str(place.workspace)!r}), ["."], Path({str(place.cache)!r}), {{}})
asyncio.run(build(place, lambda *at: print(*at, flush=True)))
"""
    with another_builds(place):
        ours = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
        assert ours.stdout is not None
        assert await ours.stdout.readline() == b"7 60\n"
        building = [os.pidfd_open(pid) for pid in those_that_run("hitl_tui.teams.search.index_build", place.workspace)]
        assert len(building) == 2, "the process, and the one that watches over it"
        ours.send_signal(signal.SIGKILL)
        await ours.wait()
        for descriptor in building:  # readable once its process has ended
            await asyncio.to_thread(select.select, [descriptor], [], [])
            os.close(descriptor)


def those_that_run(module: str, folder: Path) -> list[int]:
    """Return the processes that run a module in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if module.encode() in (process / "cmdline").read_bytes() and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


@pytest.mark.long
async def test_what_is_declared_secret_is_no_word_of_the_index(place: IndexPlace) -> None:
    hidden = IndexPlace(place.workspace, place.documents, place.cache, {"TOKEN": "otter17"})
    await build(hidden, nothing)
    assert found(hidden, "otter18") == ["note018.md"]
    assert found(hidden, "otter17") == []
    assert b"otter17" not in hidden.file.read_bytes()


def test_more_than_is_allowed_changes_nothing(place: IndexPlace) -> None:
    with SearchIndex(place.file) as index:
        for allowed in (Allowed(files=FILES - 1), Allowed(stale=FILES - 1), Allowed(size=10)):
            with pytest.raises(TooMuch):
                index.refresh(place.workspace, allowed=allowed)
        assert index.refresh(place.workspace, allowed=Allowed(FILES, FILES, 10_000)).indexed == FILES
        assert index.refresh(place.workspace, allowed=Allowed(stale=0, size=0)).unchanged == FILES


@pytest.mark.long
async def test_a_folder_is_indexed_ahead_unless_it_is_small_or_so_large_that_somebody_is_asked(
    place: IndexPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []

    async def prepare(*, large: bool = False) -> int:
        return await SearchTeam().prepare(Preparation(place.workspace, place.cache, {}, shares.append, large))

    assert await prepare() == 0
    assert not place.file.exists(), "a small one is read when it is asked about"
    monkeypatch.setattr(index_build, "_FEW", 20)
    monkeypatch.setattr(index_build, "ASKED_FROM", FILES - 1)
    assert await prepare() == FILES
    assert await prepare(large=True) == 0
    assert found(place, "otter5") == ["note005.md"]
    assert shares[-1:] and all(0 <= share <= 1 for share in shares)


async def test_somebodys_home_is_never_indexed_ahead(place: IndexPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_build, "_FEW", 20)
    monkeypatch.setenv("HOME", str(place.workspace))
    assert await SearchTeam().prepare(Preparation(place.workspace, place.cache, {}, lambda _: None)) == 0
    with pytest.raises(BadInput, match="holds a home folder"):
        await SearchTeam().prepare(Preparation(place.workspace, place.cache, {}, lambda _: None, True))
    assert not place.cache.exists()
    for folder, holds in (Path("/"), True), (place.workspace.parent, True), (place.workspace / "project", False):
        assert Preparation(folder, place.cache, {}, lambda _: None).holds_home is holds
