"""What verification finds when somebody edits the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from ledger_support import ask, at, deed, rebuild, say

from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_text import canonical, digest
from hitl_tui.core.policy import Terms
from hitl_tui.ledger import audit
from hitl_tui.ledger.sqlite_ledger import SqliteLedger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
async def anchors(path: Path) -> list[audit.Anchor]:
    """A ledger with some history, closed; what `head` said at its end."""
    async with SqliteLedger.open(path) as ledger:
        settled, half = ask("todo_001"), ask("todo_002", terms=Terms(quorum=2))
        await ledger.open_requests([settled, half])
        await ledger.decide(say(settled), at(1))
        await ledger.decide(say(half), at(2))
        await ledger.post("s1", 0, "e1", {"kind": "note"}, at(3))
        await ledger.begin_effect(deed(), at(4))
        await ledger.end_effect("eff-1", "run-1", "done", {"rows": 3}, at(5))
        await ledger.stop_run("s1", "run-1", at(6))
        for number in range(audit.PAGE + 20):
            await ledger.record("s2", "note", {"number": number}, at(number))
        assert (await audit.verify(ledger)).ok
        return await audit.head(ledger)


@contextmanager
def without_triggers(db: sqlite3.Connection) -> Iterator[None]:
    """Drop what keeps entries as they are, and put it back as it was."""
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        db.execute(sql)
    db.commit()


def edit(path: Path, *statements: str) -> None:
    """Do what somebody with a copy of sqlite3 can do."""
    with closing(sqlite3.connect(path)) as db, without_triggers(db):
        for statement in statements:
            assert db.execute(statement).rowcount > 0, statement


async def problems(path: Path, stream: str | None = None) -> list[tuple[str, int, str]]:
    async with SqliteLedger.open(path, read_only=True) as ledger:
        found = await audit.verify(ledger, stream)
    assert found.ok == (not found.problems)
    return [(problem.stream, problem.n, problem.what) for problem in found.problems]


REWRITE = "UPDATE entries SET data = CAST(replace(CAST(data AS TEXT), '{0}', '{1}') AS BLOB) WHERE {2}"


@pytest.mark.sampled(8)
@pytest.mark.long
@pytest.mark.usefixtures("anchors")
@pytest.mark.parametrize(
    ("statement", "stream", "n", "words"),
    [
        (REWRITE.format("approve", "reject", "kind = 'decision' AND n = 3"), "s1", 3, "changed"),
        (REWRITE.format('"ann"', '"eve"', "kind = 'decision' AND n = 5"), "s1", 5, "changed"),
        ("UPDATE entries SET at = '2024' WHERE stream = 's2' AND n = 511", "s2", 511, "changed"),
        ("UPDATE entries SET kind = 'remark' WHERE stream = 's2' AND n = 7", "s2", 7, "changed"),
        ("UPDATE entries SET hash = prev WHERE stream = 's2' AND n = 7", "s2", 8, "hash of the one before"),
        ("DELETE FROM entries WHERE stream = 's2' AND n IN (8, 9)", "s2", 8, "8 to 9 is missing"),
        ("DELETE FROM entries WHERE stream = 's2' AND n > 515", "s2", 516, "516 to 520 is missing"),
        ("UPDATE entries SET data = x'7b' WHERE stream = 's2' AND n = 300", "s2", 300, "can't be read"),
        ("UPDATE entries SET data = x'5b5d' WHERE stream = 's2' AND n = 1", "s2", 1, "can't be read"),
        (
            REWRITE.format('{"decision":', '{"decision":"none","decision":', "kind = 'decision' AND n = 3"),
            "s1",
            3,
            "written",
        ),
        (REWRITE.format('{"number":', '{ "number":', "stream = 's2' AND n = 511"), "s2", 511, "written"),
        ("UPDATE streams SET hash = 'x' WHERE stream = 's1'", "s1", 0, "view streams"),
        ("INSERT INTO decisions VALUES (999, 'req-x')", "", 0, "about req-x"),
        ("DELETE FROM decisions", "s1", 0, "view decisions doesn't say"),
        ("UPDATE requests SET state = 'settled' WHERE state = 'open'", "s1", 0, "view requests"),
        ("UPDATE requests SET session = 's2'", "s2", 0, "view requests says"),
        ("UPDATE inbox SET branch = 7 WHERE event_id = 'e1'", "s1", 0, "about e1"),
        ("DELETE FROM effects", "s1", 0, "about eff-1"),
        ("UPDATE effects SET status = 'failed'", "s1", 0, "view effects"),
        ("DELETE FROM stopped_runs", "s1", 0, "about run-1"),
        ("UPDATE sessions SET branch = 5", "s1", 0, "view sessions"),
    ],
)
async def test_an_edit_is_found_and_named(path: Path, statement: str, stream: str, n: int, words: str) -> None:
    edit(path, statement)
    found = await problems(path)
    assert any((where, at_n) == (stream, n) and words in what for where, at_n, what in found), found
    if stream:
        alone = await problems(path, stream)
        assert any(at_n == n and words in what for _, at_n, what in alone), alone


@pytest.mark.usefixtures("anchors")
async def test_problems_of_one_stream_are_not_another_ones(path: Path) -> None:
    edit(path, "UPDATE entries SET at = '2024' WHERE stream = 's2' AND n = 7", "UPDATE effects SET status = 'failed'")
    assert {where for where, _, _ in await problems(path, "s2")} == {"s2"}
    assert {where for where, _, _ in await problems(path, "s1")} == {"s1"}


@pytest.mark.usefixtures("anchors")
async def test_problems_beyond_the_list_are_counted(path: Path) -> None:
    edit(path, "UPDATE entries SET at = '2024' WHERE stream = 's2'")
    async with SqliteLedger.open(path) as ledger:
        found = await audit.verify(ledger, "s2")
    assert (len(found.problems), found.unlisted) == (audit.MOST_PROBLEMS, audit.PAGE + 20 - audit.MOST_PROBLEMS)


def reseal(path: Path, stream: str, n: int, data: dict[str, object]) -> None:
    """Change an entry and compute all hashes from there on anew, as somebody who knows how can."""
    with closing(sqlite3.connect(path)) as db, without_triggers(db):
        rows = db.execute(
            "SELECT id, n, at, kind, data, prev FROM entries WHERE stream = ? AND n >= ? ORDER BY n", (stream, n)
        ).fetchall()
        prev = rows[0][5]
        for row_id, number, when, kind, raw, _ in rows:
            value = data if number == n else json.loads(raw)
            entry = {"stream": stream, "n": number, "at": when, "kind": kind, "data": value, "prev": prev}
            hashed = digest(entry)
            db.execute(
                "UPDATE entries SET data = ?, prev = ?, hash = ? WHERE id = ?", (canonical(value), prev, hashed, row_id)
            )
            prev = hashed
        db.execute("UPDATE streams SET hash = ? WHERE stream = ?", (prev, stream))
        db.commit()


async def test_only_an_anchor_finds_a_tail_that_was_written_anew(path: Path, anchors: list[audit.Anchor]) -> None:
    reseal(path, "s2", 100, {"number": "another"})
    assert await problems(path) == []
    async with SqliteLedger.open(path) as ledger:
        checks = [await audit.check_anchor(ledger, str(anchor)) for anchor in anchors]
    assert [(check.anchor.stream, check.ok) for check in checks] == [("s1", True), ("s2", False)]
    assert checks[1].to_dict()["ok"] is False


async def test_an_anchor_finds_what_was_changed_before_it(path: Path, anchors: list[audit.Anchor]) -> None:
    edit(path, "UPDATE entries SET at = '2024' WHERE stream = 's2' AND n = 3")
    async with SqliteLedger.open(path) as ledger:
        assert "Entry 3" in (await audit.check_anchor(ledger, anchors[1])).problem


@pytest.mark.usefixtures("anchors")
async def test_a_request_whose_digest_is_not_its_subjects_is_found(path: Path) -> None:
    request = ask("todo_001").to_dict()
    request["subject"] = {"team": "command_team", "task": "delete everything"}
    reseal(path, "s1", 1, {"request": request})
    assert [(n, "digest" in what) for _, n, what in await problems(path)] == [(1, True)]


async def test_export_gives_every_entry_as_a_line_of_utf_8(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        for number in range(audit.PAGE + 1):
            await ledger.record("s1", "note", {"number": number, "글": "half \udc00" if number == 3 else "온전"}, at())
        lines = [line async for line in audit.export(ledger, "s1")]
        entries = await ledger.entries("s1", limit=9999)
    assert [json.loads(line.encode()) for line in lines] == [entry.to_dict() for entry in entries]
    assert "온전" in lines[0]
    assert not any("\n" in line for line in lines)


@pytest.mark.usefixtures("anchors")
async def test_a_broken_entry_stops_export_and_rebuild_with_one_sentence(path: Path) -> None:
    edit(path, "UPDATE entries SET data = x'7b' WHERE stream = 's1' AND n = 3")
    async with SqliteLedger.open(path) as ledger:
        with pytest.raises(StorageError, match='Entry 3 of "s1"'):
            [line async for line in audit.export(ledger, "s1")]
        before = await ledger.streams()
        with pytest.raises(StorageError, match='Entry 3 of "s1"'):
            await rebuild(ledger)
        assert await ledger.streams() == before
