"""A thread copied out of a store: its graph goes on in the copy, and the store stays as it was (I9)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
from foreign_support import at, branch, digests, pay, payment, payments, sqlite_saver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command

from hitl_tui.core.errors import StorageError, UnknownName
from hitl_tui.threads.thread_copy import copy_thread
from hitl_tui.threads.thread_store import ThreadStore, open_database


async def copied(address: str | Path, thread: str, node: str, target: Path, last: bool = False) -> str:
    """Copy a thread up to where it stood at a node, the first time or the last; return that checkpoint."""
    database = await open_database(str(address))
    try:
        infos = [c for c in await ThreadStore(database).older(thread, "") if c.node == node]
        chosen = infos[0 if last else -1].checkpoint_id
        await copy_thread(database, thread, chosen, target)
    finally:
        await database.close()
    return chosen


def asked(graph: Any, thread: str) -> list[Any]:
    """Return what a thread asks."""
    return [i.value for i in graph.get_state(at(thread)).interrupts]


async def test_a_thread_that_asks_is_answered_in_the_copy(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    store = payments(tmp_path / "store" / "p.db")
    before = digests(store.parent)
    await copied(store, "asks", "ask", tmp_path / "copy.db")
    with sqlite_saver(tmp_path / "copy.db") as saver:
        graph = payment(saver)
        assert asked(graph, "asks") == [{"question": "Transfer?", "amount": 100}]
        assert list(saver.list(at("done"))) == []
        graph.invoke(Command(resume="yes"), at("asks"))
        graph.invoke(Command(resume="right"), at("asks"))
        values = graph.get_state(at("asks")).values
        assert values["log"][-1] == "done"
        assert values["trail"] == ["plan", "ask"]
        assert [type(m).__name__ for m in values["messages"]] == ["HumanMessage", "AIMessage"]
    after = digests(store.parent)
    assert {name: after[name] for name in before} == before


async def test_an_earlier_moment_asks_again_and_takes_another_answer(tmp_path: Path) -> None:
    store = payments(tmp_path / "p.db")
    chosen = await copied(store, "done", "ask", tmp_path / "copy.db")
    with sqlite_saver(tmp_path / "copy.db") as saver:
        graph = payment(saver)
        state = graph.get_state(at("done"))
        assert (state.config["configurable"]["checkpoint_id"], state.next) == (chosen, ("ask",))
        assert state.interrupts == ()
        graph.invoke(None, at("done"))
        assert asked(graph, "done") == [{"question": "Transfer?", "amount": 100}]
        graph.invoke(Command(resume="no"), at("done"))
        assert "answered no" in graph.get_state(at("done")).values["log"]


async def test_a_question_within_a_subgraph_is_answered_in_the_copy(tmp_path: Path) -> None:
    store = tmp_path / "p.db"
    with sqlite_saver(store) as saver:
        pay(saver, "t", ["yes"])
    await copied(store, "t", "check", tmp_path / "copy.db")
    with sqlite_saver(tmp_path / "copy.db") as saver:
        graph = payment(saver)
        assert asked(graph, "t") == ["Is the account right?"]
        graph.invoke(Command(resume="right"), at("t"))
        log = graph.get_state(at("t")).values["log"]
        assert log[-2:] == ["checked right", "done"]
        assert log.count("looked") == 1


async def test_a_branch_that_was_left_stays_behind(tmp_path: Path) -> None:
    store = payments(tmp_path / "p.db")
    await copied(store, "forked", "ask", tmp_path / "copy.db", last=True)
    with sqlite3.connect(tmp_path / "copy.db") as connection:
        nodes = [row[0] for row in connection.execute("SELECT checkpoint_ns FROM checkpoints")]
        assert nodes == [""] * 4
    with sqlite_saver(tmp_path / "copy.db") as saver:
        assert payment(saver).get_state(at("forked")).values["amount"] == 5


@pytest.mark.long
async def test_a_thread_of_postgresql_goes_on_in_a_file(server: str, tmp_path: Path) -> None:
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute("CREATE DATABASE copying")
    uri = server.replace("/postgres", "/copying")
    try:
        with PostgresSaver.from_conn_string(uri) as saver:
            saver.setup()
            pay(saver, "t", ["yes"])
            branch(saver, "t", 7)
        await copied(uri, "t", "check", tmp_path / "deep.db")
        await copied(uri, "t", "ask", tmp_path / "branch.db", last=True)
    finally:
        with psycopg.connect(server, autocommit=True) as owner:
            owner.execute("DROP DATABASE copying WITH (FORCE)")
    with sqlite_saver(tmp_path / "deep.db") as saver:
        graph = payment(saver)
        assert asked(graph, "t") == ["Is the account right?"]
        graph.invoke(Command(resume="right"), at("t"))
        values = graph.get_state(at("t")).values
        assert (values["log"][-1], values["trail"]) == ("done", ["plan", "ask"])
        assert [type(m).__name__ for m in values["messages"]] == ["HumanMessage", "AIMessage"]
    with sqlite_saver(tmp_path / "branch.db") as saver:
        graph = payment(saver)
        assert asked(graph, "t") == [{"question": "Transfer?", "amount": 7}]


async def test_what_cant_be_copied_leaves_no_file(tmp_path: Path) -> None:
    database = await open_database(str(payments(tmp_path / "p.db")))
    (tmp_path / "there.db").write_text("mine")
    try:
        head = await ThreadStore(database).head("asks", "")
        with pytest.raises(UnknownName, match='No checkpoint "zz" in thread "asks"'):
            await copy_thread(database, "asks", "zz", tmp_path / "copy.db")
        with pytest.raises(StorageError, match=r"can't be created: File exists\.$"):
            await copy_thread(database, "asks", head, tmp_path / "there.db")
        with pytest.raises(StorageError, match=r"can't be created: Not a directory\.$"):
            await copy_thread(database, "asks", head, tmp_path / "there.db" / "copy.db")
    finally:
        await database.close()
    assert (tmp_path / "there.db").read_text() == "mine"
    assert not (tmp_path / "copy.db").exists()
