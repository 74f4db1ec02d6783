"""Signed heads: what they vouch for, and what somebody without the key can't do (T9)."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from hitl_tui.core.errors import BadInput, ConfigError, StorageError
from hitl_tui.ledger import view_tables
from hitl_tui.ledger.anchors import AnchorFile, anchor_file
from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.records import Head, Problem, seal
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.signature_table import KEYS, SignedStream
from hitl_tui.ledger.signatures import KEY_FILE, KnownSignatures, Signer
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.ledger.sqlite_schema import FORM
from hitl_tui.ledger.view_tables import data_of

AT = "2026-01-01T00:00:00+00:00"


class Room:
    """A ledger, and a key beside."""

    def __init__(self, root: Path) -> None:
        self.path = root / "data" / "ledger.db"
        self.keys = root / "keys"
        self.anchors = AnchorFile(root / "anchors", self.path)
        self.said: list[str] = []

    def signer(self, **environ: str) -> Signer:
        return Signer(environ, self.keys)

    async def write(self, *texts: str, signer: Signer | None = None, signs: bool = True) -> None:
        sealing = Sealing(self.path, (signer or self.signer()) if signs else None, self.anchors, self.said.append)
        async with SqliteLedger.open(self.path, sealing=sealing) as ledger:
            for text in texts:
                await ledger.record("s1", "remark", {"text": text}, AT)

    async def check(self, known: KnownSignatures | None = None) -> tuple[dict[str, SignedStream], list[Problem]]:
        async with SqliteLedger.open(self.path, read_only=True) as ledger:
            streams, problems = await ledger.signed(known or self.signer().known())
            assert (await verify(ledger)).ok
        return {one.stream: one for one in streams}, problems

    def forge(self, statements: Sequence[str] = (), n: int = 0, text: str = "") -> None:
        """Change the file as somebody does who knows everything but the key; the triggers are there again after."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                db.execute(statement)
            if n:
                rows = db.execute("SELECT n, at, kind, data FROM entries WHERE stream = 's1' ORDER BY n").fetchall()
                end = Head("s1", 0, "0" * 64)
                for number, at, kind, raw in rows:
                    data = {"text": text} if number == n else data_of(raw, "s1", number)
                    entry, written = seal(end, kind, data, at)
                    end = Head("s1", number, entry.hash)
                    db.execute(
                        "UPDATE entries SET data = ?, prev = ?, hash = ? WHERE stream = 's1' AND n = ?",
                        (written, entry.prev, entry.hash, number),
                    )
            for _, sql in triggers:
                db.execute(sql)
            view_tables.rebuild(db, FORM)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


async def test_every_commit_is_signed_and_what_was_there_before_shows_as_unsigned(room: Room) -> None:
    await room.write("a", "b", signs=False)
    await room.write("c", "d")
    streams, problems = await room.check()
    assert problems == []
    found = streams["s1"]
    assert (found.entries, found.first, found.last, found.key) == (4, 3, 4, room.signer().public)
    assert streams[KEYS].last == 1
    assert (room.keys / KEY_FILE).stat().st_mode & 0o077 == 0


async def test_what_is_rewritten_with_all_hashes_is_found_by_its_signature(room: Room) -> None:
    await room.write("a", "reject", "c")
    room.forge(n=2, text="approve")
    _, problems = await room.check()
    assert [(p.stream, p.n) for p in problems] == [("s1", 3), ("s1", 2)]
    assert all("isn't what was signed" in p.what for p in problems)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM signatures WHERE stream = 's1' AND n > 1", "Entry 2 to 3 isn't signed though those before are."),
        ("DELETE FROM signatures WHERE stream = 's1'", "Entry 1 to 3 isn't signed though the record is."),
        ("UPDATE signatures SET signature = x'00' WHERE n = 3", "its signature doesn't fit"),
        (f"UPDATE signatures SET key = '{'a' * 64}' WHERE stream = 's1' AND n = 3", "its signature doesn't fit"),
        ("UPDATE signatures SET n = 9 WHERE stream = 's1' AND n = 3", "Entry 9 was signed and is gone."),
        ("DROP TABLE signatures", "its signatures are gone"),
        (f"DELETE FROM entries WHERE stream = '{KEYS}'", "its signatures are gone"),
    ],
)
async def test_signatures_that_go_or_change_are_missed(room: Room, statement: str, says: str) -> None:
    await room.write("a", "b", "c")
    room.forge([statement])
    _, problems = await room.check()
    assert any(says in p.what for p in problems), problems


async def test_a_forger_s_own_key_is_not_known(room: Room, tmp_path: Path) -> None:
    await room.write("a", "reject")
    room.forge(["DELETE FROM signatures"], n=2, text="approve")
    await room.write("c", signer=Signer({}, tmp_path / "forger"))
    forger = Signer({}, tmp_path / "forger").public
    _, problems = await room.check()
    assert {(p.stream, p.n, p.key) for p in problems} == {("s1", 3, forger), (KEYS, 2, forger)}
    assert all("isn't known here" in p.what for p in problems)
    streams = (await room.check())[0]
    assert (streams["s1"].last, streams["s1"].key) == (0, ""), "it vouches for nothing"


async def test_what_another_account_signed_is_told_from_damage_and_counts_once_its_key_is_accepted(
    room: Room, tmp_path: Path
) -> None:
    other = Signer({}, tmp_path / "other")
    await room.write("a")
    await room.write("b", "c", signer=other)
    room.said.clear()
    (key, at_end) = (await room.check())[1]
    assert (key.stream, key.n, key.key) == (KEYS, 2, other.public)
    assert (at_end.stream, at_end.n, at_end.key) == ("s1", 3, other.public), "named once"
    assert at_end.what.endswith(f"If it is yours: hitl-tui audit accept {other.public[:16]}")
    room.signer().accept(room.path, AT, other.public)
    streams, problems = await room.check()
    assert (problems, streams["s1"].last) == ([], 3)
    assert other.public not in room.signer().known().keys_of(room.path.with_name("other.db")), "in this record alone"
    room.forge(n=2, text="forged")
    assert [p.key for p in (await room.check())[1]] == ["", ""]


async def test_what_comes_unsigned_after_the_signature_of_another_account_is_damage(room: Room, tmp_path: Path) -> None:
    await room.write("a")
    await room.write("b", signer=Signer({}, tmp_path / "other"))
    await room.write("c", signs=False)
    problems = [p for p in (await room.check())[1] if p.stream == "s1"]
    assert [(p.n, bool(p.key)) for p in problems] == [(2, True), (3, False)]
    assert problems[1].what == "Entry 3 isn't signed though those before are."


async def test_a_new_key_beside_another_one_is_said_by_whoever_makes_it_and_by_whoever_finds_it(
    room: Room, tmp_path: Path
) -> None:
    await room.write("a")
    assert room.said == []
    await room.write("b", signer=Signer({}, tmp_path / "other"))
    other = Signer({}, tmp_path / "other")
    first, second = room.signer().public, other.public
    (said,) = room.said
    assert said.startswith(f"New signing key {second[:16]}: this record was signed by {first[:16]}, under another")
    assert said.endswith(f"hitl-tui audit accept {second[:16]}")
    assert (await room.check(other.known()))[1] == [], "who knew no key knows the one that was there"
    await room.write("c")
    assert room.said[1].startswith(f"This record was last signed by the key {second[:16]}, which isn't known here")
    await room.write("d", signer=other)
    room.signer().accept(room.path, AT, second)
    await room.write("e")
    await room.write("f")
    assert len(room.said) == 2
    async with SqliteLedger.open(room.path, read_only=True) as ledger:
        entries = await ledger.entries(KEYS)
    assert [e.data.get("accepted") for e in entries] == [None, [first], None, None, None]


async def test_a_key_of_the_environment_accepts_no_other_by_itself(room: Room, tmp_path: Path) -> None:
    await room.write("a", signer=Signer({}, tmp_path / "other"))
    given = room.signer(HITL_AUDIT_KEY="A" * 43 + "=")
    await room.write("b", signer=given)
    assert room.said[0].startswith("This record was last signed by the key")
    assert [p.key for p in (await room.check(given.known()))[1] if p.stream == "s1"] == []
    (tmp_path / "file").touch()
    nowhere = Signer({"HITL_AUDIT_KEY": "A" * 43 + "="}, tmp_path / "file" / "keys")
    with pytest.raises(StorageError, match="isn't accepted"):
        nowhere.accept(room.path, AT, "ab" * 32)


async def test_another_key_is_on_record_and_the_old_one_stays_known(room: Room) -> None:
    await room.write("a")
    old = room.signer().public
    (room.keys / KEY_FILE).unlink()
    await room.write("b")
    new = room.signer().public
    async with SqliteLedger.open(room.path, read_only=True) as ledger:
        entries = await ledger.entries(KEYS)
    assert [(e.data["before"], e.data["key"]) for e in entries] == [("", old), (old, new)]
    assert (await room.check())[1] == []


async def test_the_key_may_come_from_the_environment_and_a_bad_one_is_one_sentence(room: Room) -> None:
    key = "A" * 43 + "="
    await room.write("a", signer=room.signer(HITL_AUDIT_KEY=key))
    assert not (room.keys / KEY_FILE).exists()
    assert (await room.check(room.signer(HITL_AUDIT_KEY=key).known()))[1] == []
    for bad in ("x", "A" * 42, "?" * 44):
        with pytest.raises(BadInput, match="HITL_AUDIT_KEY isn't a signing key"):
            Signer({"HITL_AUDIT_KEY": bad})


async def test_what_cant_be_signed_or_anchored_is_recorded_and_said_once(room: Room, tmp_path: Path) -> None:
    room.keys.mkdir()
    (room.keys / KEY_FILE).write_text("no key\n", encoding="ascii")
    room.anchors = AnchorFile(tmp_path / "missing" / "anchors", room.path)
    await room.write("a", "b")
    assert len(room.said) == 2
    assert "isn't signed" in room.said[0] and "can't be written to" in room.said[1]
    with pytest.raises(StorageError):
        room.signer().known()
    async with SqliteLedger.open(room.path, read_only=True) as ledger:
        assert (await ledger.head("s1")).n == 2


async def test_anchors_write_themselves_at_the_end(room: Room) -> None:
    await room.write("a", "b")
    await room.write("c")
    assert [(a.stream, a.n) for a in room.anchors.anchors() if a.stream == "s1"] == [("s1", 2), ("s1", 3)]
    assert not list(AnchorFile(room.anchors.path, room.path.with_name("other.db")).anchors())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[audit]\nanchors = 3\n", "settings.toml line 2"),
        ('[audit]\nanchors = "here"\n', "must be an absolute path"),
        ('[audit]\nanchors = "{data}/sub"\n', "outside the data folder"),
        ("[audit\n", "settings.toml isn't valid TOML"),
    ],
)
def test_settings_that_name_no_place_are_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "settings.toml").write_text(text.format(data=tmp_path), encoding="utf-8")
    with pytest.raises(ConfigError, match=says):
        anchor_file(tmp_path, tmp_path / "ledger.db")


def test_a_folder_gets_a_file_of_its_own(tmp_path: Path) -> None:
    data, place = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir()
    place.mkdir()
    assert anchor_file(data, data / "ledger.db") is None
    (data / "settings.toml").write_text(f'[audit]\nanchors = "{place}"\n', encoding="utf-8")
    found = anchor_file(data, data / "ledger.db")
    assert found is not None and found.path.parent == place


async def test_without_hard_links_neither_key_nor_ledger_is_made_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    room = Room(tmp_path)
    with pytest.raises(StorageError, match=r"can't be read or made: its file system has no hard links\.$"):
        room.signer().public  # noqa: B018 - making the key is what fails
    with pytest.raises(StorageError, match=r"can't be used: its file system has no hard links\.$"):
        await room.write("a")
    assert list(room.keys.iterdir()) == list(room.path.parent.iterdir()) == []
