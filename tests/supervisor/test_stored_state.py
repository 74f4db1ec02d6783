"""A session's state is read without LangGraph, and is what its graph would tell."""

from __future__ import annotations

import shutil
import sqlite3
import tarfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from reader_support import assert_read_alike
from session_support import Place, step, truthful

from hitl_tui.core.board import Rules
from hitl_tui.core.errors import StorageError
from hitl_tui.core.events import utc_now
from hitl_tui.supervisor.checkpoint_file import open_read_only
from hitl_tui.supervisor.checkpoint_saver import CheckedSaver, SessionSaver
from hitl_tui.supervisor.graph import TeamSupervisor
from hitl_tui.supervisor.plain_values import NotPlain, load_plain
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.supervisor.state_by_graph import state_by_graph
from hitl_tui.supervisor.stored_state import CHANNELS, plain_state_of, state_of
from hitl_tui.threads.packed_values import DICTIONARY
from hitl_tui.threads.row_checksums import checksum
from hitl_tui.threads.value_decoder import Snapshot

pytestmark = [pytest.mark.long, pytest.mark.slow]

OLDER = Path(__file__).parents[1] / "compatibility" / "older_version.tar.gz"


async def test_the_channels_are_those_of_the_graph(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.rest()
    async with open_read_only(place.data.session("s1").checkpoints) as file:
        artifacts = place.data.session("s1").artifacts()
        graph = TeamSupervisor(place.agent(), Rules, artifacts, CheckedSaver.on(file), utc_now).graph
        assert list(CHANNELS) == list(graph.stream_channels_asis)


async def test_branches_restores_and_what_ended_are_read_alike(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("medium", "b", "a"), step("low", "c", "a"))
    place.world.fail["todo_002"] = [OSError("once")]
    path = place.data.sessions / "s1" / "checkpoints.db"
    async with place.open() as op:
        first = await op.rest()
        assert await assert_read_alike(path, "s1") == (len(await op.session.checkpoints(1000)), True)
        await op.say("/todo add low fourth", "/todo approve 1", "/todo priority 3 high")
        await op.rest()
        await op.say("/todo approve 2")
        await op.rest()
        assert (await assert_read_alike(path, "s1"))[1]
        await op.say(f"/checkpoint restore {first.checkpoint_id}", "/todo remove 3", "/mode risk")
        await op.rest()
        await op.finish(truthful(place.world))
        await op.say(f"/checkpoint restore {first.checkpoint_id}")
        await op.rest()
        await op.say("/stop")
        await op.rest()
        count = len(await op.session.checkpoints(1000))
        assert await assert_read_alike(path, "s1") == (count, True)


async def test_a_long_history_is_put_together_alike(tmp_path: Path) -> None:
    """The TODOs are whole in a checkpoint only now and then; in between there are changes."""
    place = Place(tmp_path, *(step("low", f"step {n}") for n in range(3)))
    async with place.open() as op:
        for n in range(230):
            await op.say(f"/todo priority {n % 3 + 1} {('low', 'high')[n // 3 % 2]}")
        await op.rest()
        path = place.data.session("s1").checkpoints
        with closing(sqlite3.connect(path)) as db:
            whole = [
                load_plain(kind, blob)["channel_values"].get("todos")
                for kind, blob in db.execute("SELECT type, checkpoint FROM checkpoints WHERE thread_id = 'session_s1'")
            ]
        assert any(isinstance(value, Snapshot) for value in whole) and whole.count(None) > 200
        assert await assert_read_alike(path, "s1") == (len(whole), True)


async def test_whatever_was_written_when_it_was_killed_is_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the file is taken after every write; between two steps the graph is asked."""
    place = Place(tmp_path / "run", step("low", "a"), step("low", "b", "a"))
    path = place.data.sessions / "s1" / "checkpoints.db"
    copies: list[Path] = []
    for name in ("aput", "aput_writes"):
        monkeypatch.setattr(SessionSaver, name, _copying(getattr(SessionSaver, name), path, tmp_path, copies))
    async with place.open() as op:
        first = await op.rest()
        await op.finish()
        await op.say(f"/checkpoint restore {first.checkpoint_id}")
        await op.rest()
    heads = [(await assert_read_alike(copy, "s1"))[1] for copy in copies]
    assert len(copies) > 30 and True in heads and False in heads, heads


def _copying(original: Any, path: Path, into: Path, copies: list[Path]) -> Any:
    async def write(*args: Any, **kwargs: Any) -> Any:
        found = await original(*args, **kwargs)
        copy = into / f"{len(copies)}.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        copies.append(copy)
        return found

    return write


async def test_what_an_older_version_wrote_is_read_alike(tmp_path: Path) -> None:
    with tarfile.open(OLDER) as archive:
        archive.extractall(tmp_path, filter="data")
    found = sorted((tmp_path / "data" / "sessions").glob("*/checkpoints.db"))
    assert len(found) >= 2
    for path in found:
        read, head = await assert_read_alike(path, path.parent.name)
        assert read and head, path


@pytest.mark.parametrize("table", ["checkpoints", "writes"])
async def test_damage_is_told_alike(tmp_path: Path, table: str) -> None:
    place = Place(tmp_path / "run", step("low", "a"), step("low", "b", "a"))
    async with place.open() as op:
        await op.rest()
        await op.say("/todo priority 1 high")
        await op.rest()
    path = place.data.session("s1").checkpoints
    column = "checkpoint" if table == "checkpoints" else "value"
    with closing(sqlite3.connect(path)) as db:
        rows = [row for (row,) in db.execute(f"SELECT rowid FROM {table} WHERE thread_id = 'session_s1'")]
    refused = 0
    for row in rows:
        damaged = tmp_path / "damaged.db"
        shutil.copy(path, damaged)
        with closing(sqlite3.connect(damaged)) as db:
            db.execute(f"UPDATE {table} SET {column} = {column} || x'00' WHERE rowid = ?", [row])
            db.commit()
        async with open_read_only(damaged) as file:
            with_graph = await _said(state_by_graph(file, "s1"))
            without = await _said(state_of(file, "s1"))
        assert with_graph == without
        refused += isinstance(without, str)
    assert refused, "of a head that is whole, or put together of what was written, some row counts"


async def _said(reading: Any) -> object:
    try:
        return await reading
    except StorageError as error:
        return f"{error.message} {error.help}"


@pytest.mark.parametrize(
    "values",
    [
        {"v": 3},
        {"channel_values": {"todos": {}, "query": "q", "control": Snapshot({})}},
        {"channel_values": {"todos": ["not", "by", "id"]}},
        {"channel_versions": None},
    ],
)
async def test_what_isnt_as_usual_is_left_to_the_graph(tmp_path: Path, values: dict[str, Any]) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.rest()
    path = place.data.session("s1").checkpoints
    with closing(sqlite3.connect(path)) as db:
        *keys, kind, blob, metadata = db.execute(
            "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
            " FROM checkpoints WHERE thread_id = 'session_s1' ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        data = ormsgpack.packb(
            {**load_plain(kind, blob), **values}, default=_whole, option=ormsgpack.OPT_PASSTHROUGH_DATACLASS
        )
        sealed = checksum((*keys, "msgpack", data, metadata))
        db.execute(
            "UPDATE checkpoints SET type = 'msgpack', checkpoint = ?, checksum = ? WHERE checkpoint_id = ?",
            [data, sealed, keys[2]],
        )
        db.commit()
    async with open_read_only(path) as file:
        with pytest.raises(NotPlain):
            await plain_state_of(file, "s1")


def _whole(value: object) -> object:
    assert isinstance(value, Snapshot)
    return ormsgpack.Ext(7, ormsgpack.packb(value.value))


def test_plain_values_are_loaded_as_langgraph_does() -> None:
    value = {"a": [1, 2.5, float("inf"), None, True, "ᄀ", b"\x00"], 3: {"type": "constructor", "lc": 1, "id": ["x"]}}
    kind, data = serializer().dumps_typed(value)
    assert load_plain(kind, data) == serializer().loads_typed((kind, data)) == value
    for kind, data in (
        serializer().dumps_typed({"at": datetime.now(UTC)}),
        serializer().dumps_typed({"set": {1, 2}}),
        ("json", b"{}"),
        ("msgpack", b"\xc1"),
        ("msgpack-deflate", DICTIONARY),
    ):
        with pytest.raises(NotPlain):
            load_plain(kind, data)
