"""A PostgreSQL store: the same as SQLite, over a connection that can't write, and a password nobody sees (I9)."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from foreign_support import QUESTION, at, branch, pay, payment, payments
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.shallow import ShallowPostgresSaver
from postgres_server import PASSWORD

from hitl_tui.config.extras import install_command
from hitl_tui.config.postgres_address import shown_address
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.threads.postgres_store import PostgresDatabase
from hitl_tui.threads.thread_store import open_store


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    """Yield the address of a database of its own."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres", f"/{name}")
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store_uri(empty: str) -> str:
    """Return the address of a store with the payments."""
    with PostgresSaver.from_conn_string(empty) as saver:
        saver.setup()
        pay(saver, "asks")
        pay(saver, "done", ["yes", "right"], "Pay the rent")
        pay(saver, "forked", ["yes"])
        branch(saver, "forked", 5)
    return empty


async def test_it_shows_what_the_same_runs_show_in_sqlite(store_uri: str, tmp_path: Path) -> None:
    file = payments(tmp_path / "p.db")
    async with open_store(store_uri) as here, open_store(str(file)) as there:
        ours, theirs = await here.threads(), await there.threads()
        assert [(t.thread_id, t.title, t.waiting, t.checkpoints, t.subgraphs) for t in ours] == [
            (t.thread_id, t.title, t.waiting, t.checkpoints, t.subgraphs) for t in theirs
        ]
        for thread in ours:
            spaces = await here.namespaces(thread.thread_id), await there.namespaces(thread.thread_id)
            assert [s.nodes for s in spaces[0]] == [s.nodes for s in spaces[1]]
            for one, other in zip(*spaces, strict=True):
                pages = (
                    await here.older(thread.thread_id, one.ns),
                    await there.older(thread.thread_id, other.ns),
                )
                said = [[(c.step, c.node, c.source, c.waiting, c.message, c.outcome) for c in p] for p in pages]
                assert said[0] == said[1]
                for a, b in zip(*pages, strict=True):
                    left = await here.moment(thread.thread_id, one.ns, a.checkpoint_id)
                    right = await there.moment(thread.thread_id, other.ns, b.checkpoint_id)
                    assert left.values.get("log") == right.values.get("log")
                    assert left.values.get("amount") == right.values.get("amount")
                    assert left.values.get("trail") == right.values.get("trail")
                    assert left.next == right.next
                    assert [(q.node, q.value, q.pending) for q in left.questions] == [
                        (q.node, q.value, q.pending) for q in right.questions
                    ]
                    assert sorted(t.node for t in left.tasks) == sorted(t.node for t in right.tasks)


async def test_search_pages_and_turns(store_uri: str) -> None:
    async with open_store(store_uri) as store:
        assert [t.thread_id for t in (await store.search("rent")).threads] == ["done"]
        assert [t.thread_id for t in await store.threads(1, 1)] == ["done"]
        assert await store.thread_count() == 3
        assert await store.find_thread("fo") == "forked"
        whole = [c.checkpoint_id for c in await store.older("done", "")]
        assert [c.checkpoint_id for c in await store.newer("done", "", 2, whole[-1])] == whole[-3:-1]
        assert len(await store.turns("forked", "")) == 1
        assert await store.find("done", "", whole[0][-9:]) == whole[0]
        assert await store.asked("done", "", whole[0], -1)
        assert await store.place("done", "", whole[0]) == len(whole)


async def test_of_many_threads_the_oldest_are_found_by_id_alone(
    store_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitl_tui.threads.thread_store._SEARCHED", 2)
    async with open_store(store_uri) as store:
        assert [t.thread_id for t in (await store.search("ASK")).threads] == ["asks"]
        assert (await store.search("bob")).by_id == 1


async def test_no_statement_is_compiled_for_longer_than_it_runs(store_uri: str) -> None:
    database = await PostgresDatabase.open(store_uri)
    try:
        assert await database.rows("SHOW jit", {}) == [("off",)]
    finally:
        await database.close()


async def test_it_is_read_while_others_write(store_uri: str) -> None:
    async with open_store(store_uri) as store:
        head = await store.head("asks", "")
        with PostgresSaver.from_conn_string(store_uri) as saver:
            graph = payment(saver)
            old = next(h for h in graph.get_state_history(at("asks")) if h.next == ("ask",))
            graph.update_state(old.config, {"amount": 9})
            pay(saver, "new")
        assert await store.head("asks", "") != head
        assert await store.thread_count() == 4


async def test_it_cant_be_written_through(store_uri: str) -> None:
    database = await PostgresDatabase.open(store_uri)
    try:
        for statement in ("DELETE FROM checkpoints RETURNING 1", "CREATE TABLE x (y int)"):
            with pytest.raises(StorageError, match="read-only transaction"):
                await database.rows(statement, {})
        with pytest.raises(StorageError, match="took longer than"):
            await database.rows("SELECT set_config('statement_timeout', '50', true), pg_sleep(0)", {})
            await database.rows("SET LOCAL statement_timeout = 50; SELECT pg_sleep(20)", {})
    finally:
        await database.close()


async def test_a_lost_connection_is_made_anew(store_uri: str) -> None:
    async with open_store(store_uri) as store:
        assert await store.thread_count() == 3
        with psycopg.connect(store_uri, autocommit=True) as owner:
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(StorageError, match="was lost"):
            await store.thread_count()
        assert await store.thread_count() == 3


async def refused(uri: str) -> str:
    """Return why a store can't be opened; the password is nowhere, not even in the traceback."""
    with pytest.raises(BadInput) as caught:
        async with open_store(uri):
            pass
    error = caught.value
    assert "\n" not in error.message
    assert PASSWORD not in "".join(traceback.format_exception(error)) + error.message + error.help
    return error.message


async def test_what_cant_be_opened_says_so_in_a_sentence(server: str, empty: str) -> None:
    host = server.rpartition("@")[2].partition("/")[0]
    assert "without" not in await refused(empty)
    assert "no table checkpoints" in await refused(empty)
    assert "password authentication failed" in await refused(server.replace(PASSWORD, f"{PASSWORD}-wrong"))
    assert 'database "nobody" does not exist' in await refused(server.replace("/postgres", "/nobody"))
    assert "Connection refused" in await refused(f"postgresql://owner:{PASSWORD}@127.0.0.1:1/postgres")
    assert "isn't the address of a PostgreSQL server" in await refused(f"postgresql://owner:{PASSWORD}@{host}:x/y")
    assert "can't be opened" in await refused(f"postgresql://owner:{PASSWORD}@{host}/postgres?sslmode=require")
    with psycopg.connect(empty) as owner:
        owner.execute("CREATE TABLE checkpoints (thread_id text, checkpoint_id text)")
        owner.execute("CREATE TABLE checkpoint_blobs (thread_id text)")
        owner.execute("CREATE TABLE checkpoint_writes (thread_id text)")
    assert "isn't known here" in await refused(empty)


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitl_tui.threads.postgres_store._PATIENCE", 1)
    silent = await asyncio.start_server(lambda reader, writer: asyncio.Event().wait(), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    try:
        message = await refused(f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres")
        assert "did not answer within" in message or "timeout" in message
    finally:
        silent.close()


async def test_without_its_driver_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadInput, match="driver") as caught:
        async with open_store("postgresql://host/db"):
            pass
    assert caught.value.help == f"Install it with: {install_command('postgres')}"


async def test_a_shallow_store_is_named(empty: str) -> None:
    with pytest.warns(DeprecationWarning), ShallowPostgresSaver.from_conn_string(empty) as saver:
        saver.setup()
    assert "shallow saver" in await refused(empty)


async def test_a_user_needs_to_read_three_tables_and_is_told_so(store_uri: str) -> None:
    guest = f"g{uuid.uuid4().hex}"
    with psycopg.connect(store_uri, autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {guest} LOGIN PASSWORD '{PASSWORD}'")
        try:
            async with open_store(store_uri.replace("owner:", f"{guest}:")) as store:
                with pytest.raises(StorageError, match="may not read"):
                    await store.threads()
                owner.execute(f"GRANT SELECT ON checkpoints, checkpoint_blobs, checkpoint_writes TO {guest}")
                assert len(await store.threads()) == 3
                await store.moment("done", "", await store.head("done", ""))
        finally:
            owner.execute(f"DROP OWNED BY {guest}")
            owner.execute(f"DROP ROLE {guest}")


async def test_newer_tables_are_read_with_a_word_of_warning(store_uri: str) -> None:
    with psycopg.connect(store_uri) as owner:
        owner.execute("INSERT INTO checkpoint_migrations VALUES (99)")
    async with open_store(store_uri) as store:
        assert "newer (version 99)" in store.info.notes[0]
        assert await store.threads()


async def test_crafted_blobs_run_nothing_and_unreadable_ones_are_named(store_uri: str, tmp_path: Path) -> None:
    import ormsgpack

    mark = tmp_path / "ran"
    evil = ormsgpack.packb(ormsgpack.Ext(1, ormsgpack.packb(("os", "system", (f"touch {mark}",)))))
    with psycopg.connect(store_uri) as owner:
        owner.execute("UPDATE checkpoint_blobs SET type = 'msgpack', blob = %s WHERE channel = 'log'", [evil])
        owner.execute("UPDATE checkpoint_blobs SET type = 'msgpack+aes' WHERE channel = 'messages'")
        owner.execute("UPDATE checkpoint_writes SET type = 'msgpack', blob = %s WHERE channel = 'log'", [evil])
    async with open_store(store_uri) as store:
        moment = await store.moment("done", "", await store.head("done", ""))
        assert moment.values["log"]["$type"] == "os.system"
        assert "encrypted" in json.dumps(moment.values["messages"])
        assert any("messages" in note for note in moment.notes)
        assert {t.title for t in await store.threads()} <= {"", QUESTION, "Pay the rent"}
    assert not mark.exists()


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://ann:secret@db.example:5432/app?sslmode=require", "postgresql://ann@db.example:5432/app"),
        ("postgres://db/app?password=secret&user=ann", "postgresql://db/app"),
        ("postgresql://ann:se%40cret@[::1]/app", "postgresql://ann@::1/app"),
        ("postgresql:///app?host=/run/pg", "postgresql:///app"),
        ("postgresql://ann:secret@host:port/x", "The address given"),
    ],
)
def test_an_address_is_shown_without_its_password(uri: str, shown: str) -> None:
    assert shown_address(uri) == shown
