"""`SessionSaver` gives what LangGraph's own saver gives, over loads, forks and reopening."""

from __future__ import annotations

import asyncio
import hashlib
import random
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from hitl_tui.supervisor.checkpoint_saver import SessionSaver, create_checkpointer
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.supervisor.state import merge_todos
from hitl_tui.threads import packed_values, value_decoder
from hitl_tui.threads.row_checksums import CHECKPOINT_COLUMNS, FORMAT, WRITE_COLUMNS, checksum


class State(TypedDict, total=False):
    todos: Annotated[dict[str, Any], DeltaChannel(merge_todos, dict, snapshot_frequency=7)]
    count: int


def gate(state: State) -> Command[str]:
    changes = interrupt({"gate": True})
    return Command(goto="gate", update={"todos": changes, "count": state.get("count", 0) + 1})


def graph_on(saver: BaseCheckpointSaver[str]) -> Any:
    builder = StateGraph(State)
    builder.add_node("gate", gate)
    builder.add_edge(START, "gate")
    return builder.compile(checkpointer=saver)


CONFIG: Any = {"configurable": {"thread_id": "session_s1"}}


@pytest.mark.parametrize("seed", range(4))
async def test_states_are_the_same_as_the_stock_savers(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "checkpoints.db"
    expected: dict[str, Any] = {}
    heads: list[tuple[str, dict[str, Any]]] = []
    for _ in range(4):
        async with create_checkpointer(path) as saver:
            graph = graph_on(saver)
            await graph.ainvoke(None if heads else {"count": 0}, CONFIG, durability="sync")
            for _ in range(rng.randint(3, 12)):
                if heads and rng.random() < 0.2:
                    checkpoint_id, expected = rng.choice(heads)
                    at: Any = {"configurable": {**CONFIG["configurable"], "checkpoint_id": checkpoint_id}}
                    await graph.aupdate_state(at, None, as_node="__copy__")
                    await graph.ainvoke(None, CONFIG, durability="sync")
                changes = {f"todo_{rng.randint(1, 6)}": rng.choice([None, {"n": rng.random()}]) for _ in range(2)}
                state = await graph.aget_state(CONFIG)
                answer: Command[Any] = Command(resume={state.interrupts[0].id: changes})
                found = await graph.ainvoke(answer, CONFIG, durability="sync")
                expected = merge_todos(expected, [changes])
                assert found["todos"] == expected
                head = await graph.aget_state(CONFIG)
                heads.append((head.config["configurable"]["checkpoint_id"], expected))
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        stock.serde = serializer()
        plain = graph_on(stock)
        for checkpoint_id, todos in heads:
            at = {"configurable": {**CONFIG["configurable"], "checkpoint_id": checkpoint_id}}
            assert (await plain.aget_state(at)).values["todos"] == todos


def append_all(old: list[str], writes: list[list[str]]) -> list[str]:
    return [*old, *(item for write in writes for item in write)]


class Named(TypedDict, total=False):
    todos: Annotated[list[str], DeltaChannel(append_all, list, snapshot_frequency=2)]


def ask(state: Named) -> Command[str]:
    return Command(goto="ask", update={"todos": [interrupt("?")]})


async def test_a_team_may_have_a_delta_channel_of_the_same_name(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "s1/todo_001/0.1"}}
    async with create_checkpointer(tmp_path / "checkpoints.db") as saver:
        builder = StateGraph(Named)
        builder.add_node("ask", ask)
        builder.add_edge(START, "ask")
        graph = builder.compile(checkpointer=saver)
        found = await graph.ainvoke({"todos": ["a"]}, config)
        for word in "bcdefg":
            found = await graph.ainvoke(Command(resume=word), config)
    assert found["todos"] == list("abcdefg")


async def test_more_writes_than_one_statement_takes_are_all_there(tmp_path: Path) -> None:
    async with create_checkpointer(tmp_path / "checkpoints.db") as saver:
        assert isinstance(saver, SessionSaver)
        await saver.conn._execute(lambda: saver.conn._conn.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766))
        place: Any = {"configurable": {"thread_id": "session_s1", "checkpoint_ns": "", "checkpoint_id": "1"}}
        await saver.aput_writes(place, [("channel", n) for n in range(4_000)], "task")
        rows = await saver.conn.execute_fetchall("SELECT count(*) FROM writes")
    assert list(rows) == [(4_000,)]


async def test_what_is_being_written_when_it_is_closed_is_written(tmp_path: Path) -> None:
    """LangGraph doesn't wait for the writes of a run that is cancelled."""
    path = tmp_path / "checkpoints.db"
    said = random.Random(1).randbytes(3_000_000)
    place = {"configurable": {"thread_id": "session_s1", "checkpoint_ns": "", "checkpoint_id": "1"}}
    async with create_checkpointer(path) as saver:
        writing = asyncio.create_task(saver.aput_writes(place, [("said", said)], "task"))
        await asyncio.sleep(0)
    assert writing.done()
    assert writing.exception() is None
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT channel FROM writes").fetchall() == [("said",)]


async def _answer(graph: Any, changes: dict[str, Any]) -> dict[str, Any]:
    state = await graph.aget_state(CONFIG)
    found: dict[str, Any] = await graph.ainvoke(
        Command(resume={state.interrupts[0].id: changes}), CONFIG, durability="sync"
    )
    return found


class Rare(TypedDict, total=False):
    todos: Annotated[dict[str, Any], DeltaChannel(merge_todos, dict, snapshot_frequency=1000)]


def rare_gate(state: Rare) -> Command[str]:
    return Command(goto="gate", update={"todos": interrupt({"gate": True})})


async def test_what_was_read_before_the_first_snapshot_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with create_checkpointer(tmp_path / "checkpoints.db") as saver:
        assert isinstance(saver, SessionSaver)
        builder = StateGraph(Rare)
        builder.add_node("gate", rare_gate)
        builder.add_edge(START, "gate")
        graph = builder.compile(checkpointer=saver)
        await graph.ainvoke({"todos": {}}, CONFIG, durability="sync")
        read: list[int] = []
        rows = saver.rows

        async def counted(*args: Any) -> list[Any]:
            found = await rows(*args)
            read[-1] += len(found)
            return found

        monkeypatch.setattr(saver, "rows", counted)
        for n in range(60):
            read.append(0)
            found = await _answer(graph, {f"todo_{n}": {"n": n}})
        assert len(found["todos"]) == 60
        assert max(read[-10:]) <= max(read[5:15])


def _kinds(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {kind for (kind,) in db.execute("SELECT type FROM checkpoints UNION SELECT type FROM writes")}


async def test_what_is_much_the_same_is_packed_and_read_by_all_readers(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    many = {f"todo_{n:03}": {"id": f"todo_{n:03}", "status": "pending", "text": "the same " * 20} for n in range(400)}
    async with create_checkpointer(path) as saver:
        graph = graph_on(saver)
        await graph.ainvoke({"count": 0}, CONFIG, durability="sync")
        await _answer(graph, many)
        for n in range(8):  # over a snapshot
            found = await _answer(graph, {"todo_000": {"n": n}})
        assert found["todos"] == {**many, "todo_000": {"n": 7}}
    assert packed_values.PACKED in _kinds(path)
    assert path.stat().st_size < 250_000  # 900 kB as LangGraph writes it
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        stock.serde = serializer()
        assert (await graph_on(stock).aget_state(CONFIG)).values["todos"] == {**many, "todo_000": {"n": 7}}
    with closing(sqlite3.connect(path)) as db:
        for kind, value in db.execute("SELECT type, value FROM writes WHERE channel = 'todos'"):
            assert value_decoder.load(kind, value) == serializer().loads_typed((kind, value))


def test_a_file_that_others_read_is_written_as_they_write_it() -> None:
    value = {"text": "the same " * 100}
    assert serializer().dumps_typed(value) == JsonPlusSerializer().dumps_typed(value)


def test_nothing_that_is_packed_makes_more_than_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_values, "LARGEST", 10_000)
    kind, small = packed_values.packed("msgpack", b"\x00" * 10_000)
    assert packed_values.unpacked(kind, small) == ("msgpack", b"\x00" * 10_000)
    kind, bomb = packed_values.packed("msgpack", b"\x00" * 10_001)
    for broken in (bomb, small[:-3], b"", b"\xff" * 40, zlib.compress(b"\x00" * 100)[:-1]):
        with pytest.raises(ValueError, match=r"larger than|can't be unpacked"):
            packed_values.unpacked(kind, broken)
        with pytest.raises(value_decoder.Unreadable):
            value_decoder.load(kind, broken)


def test_the_dictionary_never_changes() -> None:
    """What is on disks refers to it: for another one `PACKED` needs another name."""
    seen = hashlib.sha256(packed_values.DICTIONARY).hexdigest()
    assert seen == "9736ef9d76f09f02dae3eb844c44f4ad6e79d91b7c8e0a7969a3105fbd5f5e9f"


async def test_a_file_of_format_2_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    todos: dict[str, Any] = {f"todo_{n}": {"text": "the same " * 20} for n in range(20)}
    async with create_checkpointer(path) as saver:
        graph = graph_on(saver)
        await graph.ainvoke({"count": 0}, CONFIG, durability="sync")
        for _ in range(10):
            await _answer(graph, todos)
    with closing(sqlite3.connect(path)) as db:  # as a version wrote it that packed nothing
        for table, columns, value in (("checkpoints", CHECKPOINT_COLUMNS, 5), ("writes", WRITE_COLUMNS, 8)):
            for number, *row in db.execute(f"SELECT rowid, {columns} FROM {table}").fetchall():
                row[value - 1 : value + 1] = packed_values.unpacked(row[value - 1], row[value])
                name = columns.split(", ")[value]
                db.execute(
                    f"UPDATE {table} SET type = ?, {name} = ?, checksum = ? WHERE rowid = ?",
                    (row[value - 1], row[value], checksum(row), number),
                )
        db.execute("PRAGMA user_version = 2")
        db.commit()
    assert packed_values.PACKED not in _kinds(path)
    async with create_checkpointer(path) as saver:
        graph = graph_on(saver)
        assert (await graph.aget_state(CONFIG)).values["todos"] == todos
        found = await _answer(graph, {"todo_0": None})
        assert len(found["todos"]) == 19
    assert packed_values.PACKED in _kinds(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
