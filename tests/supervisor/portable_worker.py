"""Does one thing with sessions again and again, and is killed at each durable step of it in turn.

Run as `portable_worker.py WHAT ROOT`: ROOT/whole is a data folder with session s1 and ROOT/s1.hitl its export. For
each step there is a child of its own on a copy of that folder; afterwards another one looks at what is left. One that
doesn't come to its end says where it stands. Prints how many steps there were.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import importlib
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from portable_support import COUNT, QUERY, left_over, person_at

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.config.starters import examples_folder, new_copy, starters
from hitl_tui.core.errors import UnknownName
from hitl_tui.ledger import sqlite_database
from hitl_tui.ledger.audit import verify
from hitl_tui.supervisor.session_registry import SessionRegistry

DONE = 17
STUCK = 90.0
"""Seconds after which a child surely makes no progress any more."""

MAIL = examples_folder() / "attach"
LEASE = starters("en")[0]


class Reaper:
    """Kills this process with SIGKILL at its nth durable step, before or after it."""

    def __init__(self, at: int) -> None:
        self.left = at

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            self.step()
            result = act(*given, **named)
            self.step()
            return result

        return wrapped

    def install(self) -> None:
        os.fsync = self.around(os.fsync)
        os.link = self.around(os.link)
        os.unlink = self.around(os.unlink)
        os.rmdir = self.around(os.rmdir)
        os.rename = self.around(os.rename)
        os.replace = self.around(os.replace)
        os.mkdir = self.around(os.mkdir)
        transact = sqlite_database.transact

        def counted(db: sqlite3.Connection, path: Path, begin: str, work: Any) -> Any:
            if begin != "BEGIN IMMEDIATE":
                return transact(db, path, begin, work)
            return self.around(transact)(db, path, begin, work)

        sqlite_database.transact = counted


async def act(what: str, root: Path, bench: SessionRegistry) -> None:
    if what == "fork":
        await bench.admin.fork("s1")
    elif what == "import":
        await bench.admin.import_(root / "s1.hitl")
    elif what == "export":
        await bench.admin.export("s1", root / "out.hitl")
    elif what == "delete":
        await bench.admin.delete("s1")
    elif what == "attach":
        await bench.create(
            "ann@example.com: hello", MAIL, graph=GraphDeclaration("mail", f"{MAIL}/mail.py:graph", str(MAIL))
        )
    elif what == "run":
        await bench.create(QUERY, Path(bench.data.session("s1").info().workspace))
    elif what == "starter":
        new_copy(LEASE, root / "data")
    else:
        await bench.admin.rename("s1", "another")


async def look(what: str, root: Path) -> None:
    """Check that there is the old or the whole new, and nothing else."""
    data = root / "data"
    async with person_at(data) as person:
        bench = person.bench
        assert left_over(data) == [], left_over(data)
        found = bench.data.ids()
        assert found in {"fork": (["s1"], ["s1", "s2"]), "delete": (["s1"], [])}.get(what, (["s1"], ["s1", "s2"]))
        asking = {view.request.session for view in await bench.ledger.requests(bench.now())}
        assert asking <= set(found), asking
        for name in found:
            seen = await person.say(name)
            assert [q.todo_id for q in seen.questions] == [COUNT], (name, seen.questions)
        if what == "export":
            target = root / "out.hitl"
            if target.exists():
                await bench.admin.import_(target)
                target.unlink()
            await bench.admin.export("s1", target)
            assert sorted(os.listdir(root)) == ["data", "out.hitl", "s1.hitl", "whole"]  # noqa: PTH208
            target.unlink()
        elif what == "rename":
            info = bench.data.session("s1").info()
            assert info.title == "another" or info.query.startswith(info.title.rstrip("…")), info.title
        elif not found:
            try:
                await bench.admin.delete("s1")
            except UnknownName:
                assert (await bench.ledger.entries("s1"))[-1].kind == "session_deleted"
        elif what == "attach":
            graphs = [[graph.name for graph in bench.data.session(name).graphs()] for name in found]
            assert graphs == [[], ["mail"]][: len(found)], graphs
        elif what == "starter":
            new_copy(LEASE, data)
            for copy in (data / "starters").glob(f"{LEASE.folder.name}*"):
                assert sorted(p.name for p in copy.rglob("*")) == sorted(p.name for p in LEASE.folder.rglob("*"))
        problems = (await verify(bench.ledger)).problems
        assert problems == (), problems


def child(work: Callable[[], Awaitable[None]], at: int = 0) -> int:
    """Run work in a child that is killed at a step, if any; return how it ended.

    One that is stuck writes where each of its threads stands, and ends with 1.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        faulthandler.dump_traceback_later(STUCK, exit=True)
        try:
            if at:
                Reaper(at).install()
            asyncio.run(work())  # type: ignore[arg-type]
            code = DONE
        finally:
            sys.stderr.flush()
            if code != DONE:
                import traceback

                traceback.print_exc()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def begin(root: Path) -> None:
    """Make the folder as it was before anything was done."""
    shutil.rmtree(root / "data", ignore_errors=True)
    (root / "out.hitl").unlink(missing_ok=True)
    shutil.copytree(root / "whole", root / "data")


def rehearse(root: Path, *works: Callable[[], Awaitable[None]]) -> None:
    """Let a child do all of it unharmed, and load here what it loaded, so that none of the others has to."""
    names = root / "loaded.json"

    async def noted() -> None:
        for work in works:
            await work()
        names.write_text(json.dumps([*sys.modules]))

    begin(root)
    assert child(noted) == DONE, "not even unharmed"
    for name in json.loads(names.read_text()):
        with contextlib.suppress(ImportError):  # what a graph's folder has, and parts of compiled modules
            importlib.import_module(name)
    names.unlink()


def main(what: str, root: Path, every: int) -> None:
    async def do() -> None:
        async with SessionRegistry.open(root / "data", {}) as bench:
            await act(what, root, bench)

    async def check() -> None:
        await look(what, root)

    rehearse(root, do, check)
    at = 1
    while True:
        begin(root)
        ended = child(do, at)
        assert ended in (DONE, -signal.SIGKILL), (at, ended)
        assert child(check) == DONE, f"{what} was killed at step {at}"
        if ended == DONE:
            break
        at += every
    print(at)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
