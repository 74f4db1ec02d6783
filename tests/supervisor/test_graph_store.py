"""The store of a workspace's graphs: several processes, a batch as a whole or not at all, an end (I10)."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest
from langgraph.store.base import GetOp, PutOp
from langgraph.store.memory import InMemoryStore

from hitl_tui.graphs.graph_store import StoreFailure, StoreIndex, WorkspaceStore, keeps_store

WRITER = """
import asyncio, sys
from pathlib import Path
from langgraph.store.base import GetOp, PutOp
from hitl_tui.graphs.graph_store import StoreIndex, WorkspaceStore

async def main():
    store = WorkspaceStore(Path(sys.argv[1]), StoreIndex(), {})
    for n in range(int(sys.argv[3])):
        mine = (sys.argv[2], str(n))
        said = PutOp(("shared",), "last", {"by": mine})
        await store.abatch([GetOp(("shared",), "last"), PutOp(mine, "k", {"n": n}), said])
    await store.close()

asyncio.run(main())
"""


@pytest.mark.long
async def test_several_processes_make_and_write_one_store(tmp_path: Path) -> None:
    path, each = tmp_path / "new" / "store.db", 40
    writers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(path), name, str(each), stderr=asyncio.subprocess.PIPE
        )
        for name in "abc"
    ]
    for writer in writers:
        _, said = await writer.communicate()
        assert (writer.returncode, said) == (0, b"")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM store").fetchone() == (3 * each + 1,)


async def test_a_batch_is_carried_out_whole_or_not_at_all(tmp_path: Path) -> None:
    store = WorkspaceStore(tmp_path / "store.db", StoreIndex(), {})
    with pytest.raises(TypeError):
        await store.abatch([PutOp(("a",), "k", {"n": 1}), PutOp(("b",), "k", {"n": object()})])
    assert await store.abatch([GetOp(("a",), "k")]) == [None]
    await store.aput(("a",), "k", {"n": 2})
    await store.close()
    again = WorkspaceStore(tmp_path / "store.db", StoreIndex(), {})
    found = await again.aget(("a",), "k")
    assert found is not None and found.value == {"n": 2}
    await again.close()


async def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"nothing of SQLite's, and long enough to be looked at" * 20)
    store = WorkspaceStore(path, StoreIndex(), {})
    with pytest.raises(StoreFailure, match=r"store\.db can't be used"):
        await store.aget(("a",), "k")
    await store.close()


def test_an_empty_store_in_memory_is_none_of_a_graph_s_own() -> None:
    filled = InMemoryStore()
    filled.put(("a",), "k", {})
    indexed = InMemoryStore(index={"dims": 1, "embed": lambda texts: [[0.0] for _ in texts]})
    assert [keeps_store(store) for store in (None, InMemoryStore(), filled, indexed)] == [False, False, True, True]
