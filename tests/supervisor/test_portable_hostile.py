"""Files that aren't what they say: an import refuses each in one sentence and writes nothing (C8)."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import struct
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from portable_support import QUERY, Person, cleanup, contents, left_over, pack, person_at, resealed

from hitl_tui.core.errors import BadInput, HitlError

pytestmark = pytest.mark.long

Members = dict[str, bytes]
Change = Callable[[Members], Members]


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Person]:
    """A person with session s1, which has counted."""
    data = tmp_path / "data"
    async with person_at(data) as person:
        await person.bench.create(QUERY, cleanup(data))
        await person.say("s1", "/todo approve")
        yield person


@pytest.fixture
async def members(ann: Person, tmp_path: Path) -> Members:
    """What an export of s1 holds."""
    return contents((await ann.bench.admin.export("s1", tmp_path / "s1.hitl")).file)


async def refused(ann: Person, path: Path) -> str:
    """Return why an import is refused, having made sure that it left nothing."""
    before = {p: p.stat().st_mtime_ns for p in path.parent.rglob("*") if "ledger.db" not in p.name}
    with pytest.raises(BadInput) as error:
        await ann.bench.admin.import_(path)
    assert ann.bench.data.ids() == ["s1"]
    assert [head.stream for head in await ann.bench.ledger.streams() if "/" not in head.stream] == ["s1"]
    assert left_over(ann.bench.data.root) == []
    changed = {p for p in path.parent.rglob("*") if before.get(p) != p.stat().st_mtime_ns}
    assert {p.name for p in changed if "ledger.db" not in p.name} <= {"sessions", ".staging"}
    assert "\n" not in error.value.message
    return error.value.message


def artifact(members: Members) -> str:
    return next(name for name in members if name.startswith("artifacts/"))


def manifest(members: Members, **changes: Any) -> Members:
    found = json.loads(members["manifest.json"])
    return {**members, "manifest.json": json.dumps({**found, **changes}).encode()}


def session(members: Members, **changes: str) -> Members:
    found = json.loads(members["manifest.json"])["session"]
    return manifest(members, session={**found, **changes})


def database(members: Members, folder: Path, *statements: str) -> Members:
    path = folder / "changed.db"
    path.write_bytes(members["checkpoints.db"])
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
    return resealed({**members, "checkpoints.db": path.read_bytes()})


def lines(members: Members, change: Callable[[list[dict[str, Any]]], object]) -> Members:
    entries = [json.loads(line) for line in members["ledger.jsonl"].decode().splitlines()]
    change(entries)
    text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
    return resealed({**members, "ledger.jsonl": text.encode()})


CHANGES: dict[str, tuple[Change, str]] = {
    "climbs out": (lambda m: resealed({**m, "../evil": b"x"}), "no export of a session does"),
    "absolute": (lambda m: resealed({**m, "/tmp/evil": b"x"}), "no export of a session does"),
    "beside artifacts": (lambda m: resealed({**m, "artifacts/../../evil": b"x"}), "no export of a session does"),
    "odd ancestor": (lambda m: resealed({**m, "ancestors/../x.jsonl": b"x"}), "no export of a session does"),
    "settings": (lambda m: resealed({**m, "session.json": b"{}"}), "no export of a session does"),
    "more than it says": (lambda m: {**m, "activity.log": m["activity.log"] + b"x"}, "another size"),
    "another result": (lambda m: {**m, artifact(m): b"x" * len(m[artifact(m)])}, "isn't what its manifest says"),
    "a result sealed anew": (lambda m: resealed({**m, artifact(m): b"{}"}), "isn't what its name says"),
    "unlisted": (lambda m: {**m, f"artifacts/{'a' * 2}/{'a' * 64}": b"x"}, "doesn't match its manifest"),
    "missing": (lambda m: {k: v for k, v in m.items() if k != artifact(m)}, "doesn't match its manifest"),
    "no record": (lambda m: resealed({k: v for k, v in m.items() if k != "ledger.jsonl"}), "its manifest"),
    "no checkpoints": (lambda m: resealed({k: v for k, v in m.items() if k != "checkpoints.db"}), "are missing"),
    "newer": (lambda m: manifest(m, version=2, files=None), "written by a newer version of hitl-tui (format 2"),
    "another format": (lambda m: manifest(m, format="else"), "isn't an export of a session"),
    "no manifest": (lambda m: {k: v for k, v in m.items() if k != "manifest.json"}, "isn't an export of a session"),
    "deep manifest": (lambda m: {**m, "manifest.json": b"[" * 200_000}, "isn't an export of a session"),
    "damaged manifest": (lambda m: manifest(m, files=[]), "its manifest is damaged"),
    "endless": (lambda m: manifest(m, ledger={"n": float("inf"), "hash": "0"}), "its manifest is damaged"),
    "a version that is none": (lambda m: manifest(m, version=-5), "its manifest is damaged"),
    "odd id": (lambda m: session(m, id="../s9"), "its session data is damaged"),
    "another id": (lambda m: session(m, id="s9"), "the chain of its record is broken"),
    "no lineage": (lambda m: session(m, lineage=""), "its session data is damaged"),
    "no query": (lambda m: session(m, query="", title=""), "its session data is damaged"),
    "workspace elsewhere": (lambda m: session(m, workspace="/nowhere/\x1b[2J"), "name one with --workspace"),
    "workspace near": (lambda m: session(m, workspace="."), "name one with --workspace"),
    "another head": (lambda m: manifest(m, checkpoint_id="1f"), "its checkpoints aren't those of s1"),
    "not a database": (lambda m: resealed({**m, "checkpoints.db": b"x" * 5000}), "aren't a checkpoint database"),
    "a decision changed": (
        lambda m: lines(m, lambda e: e[-1]["data"].update(by="eve")),
        "the chain of its record is broken",
    ),
    "a decision left out": (lambda m: lines(m, lambda e: e.pop(1)), "the chain of its record is broken"),
    "the end cut off": (lambda m: lines(m, lambda e: e.pop()), "the chain of its record is broken"),
    "odd effects": (lambda m: resealed({**m, "effects.json": b'[{"key": 1}]'}), "its effects are damaged"),
    "deep effects": (lambda m: resealed({**m, "effects.json": b"[" * 100_000}), "its effects are damaged"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("what", CHANGES)
async def test_a_changed_export_is_refused(what: str, ann: Person, members: Members, tmp_path: Path) -> None:
    change, why = CHANGES[what]
    message = await refused(ann, pack(tmp_path / "changed.hitl", change(members)))
    assert why in message
    assert "\x1b" not in message


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN DELETE FROM writes; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more (x)",
        "DROP TABLE writes",
    ],
)
async def test_a_database_that_could_act_is_refused(
    statement: str, ann: Person, members: Members, tmp_path: Path
) -> None:
    changed = database(members, tmp_path, statement)
    assert "aren't what a session keeps" in await refused(ann, pack(tmp_path / "changed.hitl", changed))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "values",
    [
        "checkpoint = x'ff'",
        "checkpoint = x'c1c1c1'",
        "checkpoint = NULL",
        "checkpoint = zeroblob(9)",
        "type = 'pickle'",
    ],
)
async def test_checkpoints_that_cannot_be_read_are_refused(
    values: str, ann: Person, members: Members, tmp_path: Path
) -> None:
    damage = f"UPDATE checkpoints SET {values} WHERE thread_id = 'session_s1'"
    changed = database(members, tmp_path, damage)
    assert "are damaged" in await refused(ann, pack(tmp_path / "damaged.hitl", changed))
    bare = ("UPDATE checkpoints SET checksum = NULL", "PRAGMA user_version = 1")  # as one from before they had any
    changed = database(members, tmp_path, damage, *bare)
    with pytest.raises(HitlError, match="can't be"):
        await ann.bench.admin.import_(pack(tmp_path / "changed.hitl", changed))
    assert ann.bench.data.ids() == ["s1"]
    assert left_over(ann.bench.data.root) == []


async def test_an_export_without_a_result_is_refused(ann: Person, members: Members, tmp_path: Path) -> None:
    results = [name for name in members if name.startswith("artifacts/")]
    assert len(results) > 1
    for name in results:
        changed = resealed({other: data for other, data in members.items() if other != name})
        assert "is missing" in await refused(ann, pack(tmp_path / f"{name[-8:]}.zip", changed))


async def test_an_ancestors_record_with_a_gap_is_refused(ann: Person, members: Members, tmp_path: Path) -> None:
    lines = members["ledger.jsonl"].split(b"\n")
    for part in (lines[:1] + lines[2:], [lines[0].replace(b"s1", b"s2"), *lines[1:]]):
        changed = resealed({**members, "ancestors/s0-abc.jsonl": b"\n".join(part)})
        assert "chain of its record is broken" in await refused(ann, pack(tmp_path / f"{len(part)}.zip", changed))


async def test_a_link_in_an_export_is_refused(ann: Person, members: Members, tmp_path: Path) -> None:
    path = tmp_path / "changed.hitl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            if name == "activity.log":
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(entry, content)
    assert "as a link" in await refused(ann, path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
async def test_the_same_name_twice_is_refused(ann: Person, members: Members, tmp_path: Path) -> None:
    path = pack(tmp_path / "changed.hitl", members)
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("activity.log", members["activity.log"])
    assert "the same file twice" in await refused(ann, path)


async def test_what_grows_beyond_all_measure_is_refused(ann: Person, members: Members, tmp_path: Path) -> None:
    path = tmp_path / "bomb.hitl"
    size, hashed = 300 * 1024 * 1024, sha256()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open("activity.log", "w") as target:
            for _ in range(300):
                target.write(bytes(1024 * 1024))
                hashed.update(bytes(1024 * 1024))
        found = json.loads(members["manifest.json"])
        found["files"]["activity.log"] = {"size": size, "sha256": hashed.hexdigest()}
        for name, content in {**members, "manifest.json": json.dumps(found).encode()}.items():
            if name != "activity.log":
                packed.writestr(name, content)
    assert "an enormous size" in await refused(ann, path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.9, -1])
async def test_a_file_that_was_cut_off_is_refused(kept: float, ann: Person, members: Members, tmp_path: Path) -> None:
    whole = pack(tmp_path / "cut.hitl", members)
    content = whole.read_bytes()
    whole.write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else int(kept)])
    assert "isn't an export of a session" in await refused(ann, whole)


async def test_what_isnt_a_file_is_refused(ann: Person, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not found"):
        await ann.bench.admin.import_(tmp_path / "nix.hitl")
    with pytest.raises(HitlError, match="is a folder"):
        await ann.bench.admin.import_(tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("place", range(0, 100, 9))
async def test_a_flipped_byte_is_never_taken_for_the_session(
    place: int, ann: Person, members: Members, tmp_path: Path
) -> None:
    path = pack(tmp_path / "flipped.hitl", members)
    content = bytearray(path.read_bytes())
    content[len(content) * place // 100] ^= 0x55
    path.write_bytes(content)
    try:
        made = (await ann.bench.admin.import_(path)).session
    except BadInput as error:
        assert "\n" not in error.message
        assert ann.bench.data.ids() == ["s1"]
    else:  # the byte was one that says nothing, such as a time stamp
        assert (await ann.say(made.id)).questions[0].todo_id == "todo_002"


async def test_only_regular_files_are_opened(ann: Person, tmp_path: Path) -> None:
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "zero"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to("/dev/zero")
    async with asyncio.timeout(10):  # a pipe that nobody writes into would be waited for
        said = [await refused(ann, path) for path in (pipe, folder, link)]
    assert said == [
        f"{pipe} isn't a regular file; name the file that an export wrote.",
        f"{folder} is a folder; name the file that an export wrote.",
        f"{link} isn't a regular file; name the file that an export wrote.",
    ]


@pytest.mark.parametrize("large", [False, True])
async def test_a_list_of_members_that_is_too_long_is_not_read(ann: Person, tmp_path: Path, large: bool) -> None:
    path, length = tmp_path / "sparse.hitl", 8 * 1024**3 if large else 0xFFFFFFFE
    with path.open("wb") as file:
        file.truncate(length)
        file.seek(length)
        if large:
            file.write(struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, length, 0))
            file.write(struct.pack("<4sLQL", b"PK\6\7", 0, length, 1))
        file.write(struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 1, 1, 0xFFFFFFFF if large else length, 0, 0))
    assert "would unpack to an enormous size" in await refused(ann, path)
