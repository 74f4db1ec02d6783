"""Sessions in PostgreSQL: one owner whatever happens, copies to and from folders, results of any size (X1, X2)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from people import verified
from postgres_server import PostgresServer
from s3_server import s3_server
from session_support import Driver, Endless, Place, step

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import BadInput, HitlError, ServerAway, SessionBusy, StorageError
from hitl_tui.ledger import audit, postgres_database
from hitl_tui.ledger.postgres_connection import SCHEMA, lock_number
from hitl_tui.supervisor import postgres_sessions
from hitl_tui.supervisor.activity import ENDED, UNRECORDED
from hitl_tui.supervisor.admin import SessionAdmin
from hitl_tui.supervisor.data_place import data_place, open_record
from hitl_tui.supervisor.large_results import FolderResults
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.postgres_checkpoints import saver_of
from hitl_tui.supervisor.postgres_sessions import DatabaseArtifacts, DatabaseFolder
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_tables import SessionTables
from hitl_tui.task_checkpoints.folders import held_policy
from hitl_tui.wording.evidence_rows import evidence_rows

pytestmark = pytest.mark.long

OWNERS = """SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND CAST(CAST(classid AS TEXT) AS BIGINT) = %s AND CAST(CAST(objid AS TEXT) AS BIGINT) = %s"""


@pytest.fixture
def place(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(Place, "database", database)
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


def end_owner(database: str) -> None:
    """End the connection that holds the lock of session s1."""
    number = lock_number("s1") & 0xFFFF_FFFF_FFFF_FFFF
    with psycopg.connect(database, autocommit=True) as db:
        assert len(db.execute(OWNERS, (number >> 32, number & 0xFFFF_FFFF)).fetchall()) == 1


async def test_one_owns_it_and_others_follow_and_decide(place: Place) -> None:
    async with place.open() as op, place.ledger() as other:
        await op.rest()
        setup = place.setup(other)
        with pytest.raises(SessionBusy):
            async with own_session(setup):
                pass
        async with SessionFollower.open(setup) as follower:
            assert not follower.alone
            before = follower.snapshot
            assert [q.todo_id for q in before.questions] == ["todo_001"]
            await op.finish()
            seen = await follower.changed(before)
            while not seen.concluded:
                seen = await follower.changed(seen)
            assert {todo["status"] for todo in seen.raw.values()} == {"completed"}
    async with asyncio.timeout(20):
        while place.data.session("s1").is_owned():  # noqa: ASYNC110 - the server ends a connection a moment later
            await asyncio.sleep(0.01)


async def test_whose_connection_is_gone_writes_no_more_and_another_goes_on(place: Place, database: str) -> None:
    async with place.ledger() as ledger, place.ledger() as other:
        setup = place.setup(ledger)
        async with own_session(setup, "the query") as session:
            await session.settled()
            end_owner(database)
            async with place.open() as op:
                await op.finish()
                head = await op.session.history.head()
            # It heard of what was decided, too, and can't write what comes of it.
            with pytest.raises(HitlError):
                async with asyncio.timeout(20):
                    seen = session.snapshot
                    while True:
                        seen = await session.changed(seen)
            async with SessionFollower.open(place.setup(other)) as follower, follower.reading() as history:
                assert await history.head() == head
                assert follower.snapshot.concluded
        assert (await audit.verify(other)).problems == ()
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_server_that_stops_loses_and_repeats_nothing(
    place: Place, postgres: PostgresServer, database: str
) -> None:
    async with place.ledger() as ledger, own_session(place.setup(ledger), "the query") as session:
        await session.settled()
        postgres.stop()
        await asyncio.to_thread(postgres.start)
    async with place.open() as op:
        await op.finish()
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_step_that_ends_with_its_server_says_so_when_it_is_back(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Place, "database", database)
    monkeypatch.setattr(postgres_database, "PATIENCE", 0.3)
    place = Place(tmp_path, step("high", "a"))
    async with place.ledger() as ledger, own_session(place.setup(ledger), "the query") as session:
        await Endless(place).begin(Driver(place, session))
        postgres.stop()
        with pytest.raises(ServerAway):
            await session.settled()
        assert list(session.begun) == ["todo_001"]
    await asyncio.to_thread(postgres.start)
    async with place.open() as op:
        (question,) = (await op.until(lambda s: any(q.view.evidence for q in s.questions))).questions
        before = question.view.evidence["before"]
        assert before["how"] == ENDED and "can't be reached" in before["ended"] and before["lines"] == ["half of it"]


async def test_a_step_that_ends_by_itself_while_its_server_is_away_says_with_what(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Place, "database", database)
    monkeypatch.setattr(postgres_database, "PATIENCE", 0.3)
    place = Place(tmp_path, step("high", "a"))

    def stop_server(_todo: str, moment: str) -> None:
        if moment == "after":
            postgres.stop()

    place.world.during = stop_server
    async with place.ledger() as ledger, own_session(place.setup(ledger), "the query") as session:
        op = Driver(place, session)
        (question,) = (await op.rest()).questions
        await op.say(f"/todo approve {question.id}")
        with pytest.raises(ServerAway):
            await op.until(lambda s: s.concluded)
    await asyncio.to_thread(postgres.start)
    async with place.open() as op:
        (question,) = (await op.until(lambda s: any(q.view.evidence for q in s.questions))).questions
        before = question.view.evidence["before"]
        assert before["how"] == UNRECORDED and "can't be reached" in before["ended"]
        assert before["ended"].startswith('by itself, with {"wrote":"todo_001"}; ')
        assert question.subject["effect"]["why"] == "it ended by itself, and what came of it couldn't be recorded"


async def test_another_machine_claims_nothing_of_a_run_that_it_has_no_stream_of(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(X2, D12)"""
    monkeypatch.setattr(Place, "database", database)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one, other = Place(tmp_path / "one", step("high", "a")), Place(tmp_path / "other", step("high", "a"))
    async with one.open() as op:
        await Endless(one).begin(op)
    async with one.ledger() as ledger:
        (effect,) = await ledger.effects("s1")
    rows = dict[str, str]()
    for place in (other, one, other):
        async with place.open() as op:
            (question,) = (await op.until(lambda s: any(q.view.evidence for q in s.questions))).questions
            before = question.view.evidence["before"]
            assert before["began"] == effect.began
            if not rows:
                rows = {row.label: row.text.plain for row in evidence_rows(question, None, "")}
                assert rows["put out"].endswith(str(one.root / "data")) and "nothing" not in rows["put out"]
                assert "ended" not in rows
            if place is one:
                await op.until(lambda s: s.questions[0].view.evidence["before"]["known"])
    assert before["lines"] == ["half of it"], "who knows less takes nothing away"


async def test_copies_go_to_a_folder_and_back(place: Place, database: str, tmp_path: Path) -> None:
    """What every step left is the same there, and LangGraph's own saver reads it."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "law.md").write_text("The cap is 5 percent.\n")
    there, here = {"HITL_DATABASE": database}, {"HITL_AUDIT_KEY": ""}
    data, file = tmp_path / "other", tmp_path / "s1.hitl"

    async def states(registry: SessionRegistry, session_id: str) -> list[tuple[str, str, int]]:
        async with SessionFollower.open(await registry.setup(session_id)) as follower, follower.reading() as history:
            return [(c.node, c.outcome, c.todos_completed) for c in await history.page(1000)]

    async with place.open() as op:
        await op.finish()
        before = [(c.node, c.outcome, c.todos_completed) for c in await op.session.history.page(1000)]
        query = op.now.query
    async with SessionRegistry.open(data, there) as registry:
        await registry.admin.export("s1", file)
        forked = (await registry.admin.fork("s1")).session.id
        assert (await states(registry, forked))[-len(before) :] == before
    async with SessionRegistry.open(data, here) as registry:
        await registry.admin.import_(file, workspace=place.workspace)
        assert (await states(registry, "s1"))[-len(before) :] == before
        await registry.admin.export("s1", tmp_path / "again.hitl")
    async with SessionRegistry.open(data, there) as registry:
        again = (await registry.admin.import_(tmp_path / "again.hitl", workspace=place.workspace)).session.id
        assert (await states(registry, again))[-len(before) :] == before
        async with SessionFollower.open(await registry.setup(again)) as follower:
            assert follower.snapshot.query == query
            assert follower.snapshot.concluded
        assert (await audit.verify(registry.ledger)).problems == ()
        await registry.admin.delete(forked)
        assert [s.id for s in await registry.admin.sessions()] == ["s1", again]
    with PostgresSaver.from_conn_string(f"{database}?options=-c%20search_path%3D{SCHEMA}") as saver:
        found = saver.get_tuple({"configurable": {"thread_id": f"session_{again}"}})
        assert found is not None
        assert found.checkpoint["channel_values"]["query"] == query


async def test_large_results_lie_in_a_folder_that_is_named(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_sessions, "LARGEST", 100)
    tables = SessionTables(database)
    async with open_record(DatabaseFolder(tmp_path, database)):
        pass
    small, large = {"text": "a"}, {"text": "b" * 1000}
    with_folder = DatabaseArtifacts(tables, "s1", FolderResults(tmp_path / "large"))
    without = DatabaseArtifacts(tables, "s1", None)
    digests = [await with_folder.put(value) for value in (small, large)]
    assert [await with_folder.get(digest) for digest in digests] == [small, large]
    assert [path.name for path in (tmp_path / "large").glob("*/*")] == digests[1:]
    assert await without.get(digests[0]) == small
    with pytest.raises(StorageError, match="HITL_ARTIFACTS"):
        await without.put({"text": "c" * 1000})
    with pytest.raises(StorageError, match="is missing"):
        await with_folder.get("0" * 64)
    tables.close()


async def test_large_results_lie_in_a_bucket_that_is_named(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_sessions, "LARGEST", 100)
    large = {"text": "b" * 1000}
    with s3_server() as s3:
        bucket, key = s3.bucket(), s3.key()
        for name, value in key.environ(s3.url).items():
            monkeypatch.setenv(name, value)

        async def opened(address: str) -> tuple[DatabaseFolder, DatabaseArtifacts]:
            data = data_place(tmp_path, {"HITL_DATABASE": database, "HITL_ARTIFACTS": address})
            assert isinstance(data, DatabaseFolder)
            async with open_record(data):
                return data, DatabaseArtifacts(data.tables, "s1", data.large)

        data, results = await opened(f"s3://{bucket}/of/hitl/")
        digest = await results.put(large)
        assert await results.put(large) == digest
        there = s3.client(key)
        (found,) = there.list_objects_v2(Bucket=bucket)["Contents"]
        assert found["Key"] == f"of/hitl/{digest[:2]}/{digest}"
        assert await results.get(digest) == large
        there.put_object(Bucket=bucket, Key=found["Key"], Body=b'{"text": "another"}')
        with pytest.raises(StorageError, match="isn't what was recorded"):
            await results.get(digest)
        there.delete_object(Bucket=bucket, Key=found["Key"])
        with pytest.raises(StorageError, match="is missing: s3://"):
            await results.get(digest)
        data.tables.close()
        _, nowhere = await opened("s3://no-such-bucket")
        with pytest.raises(StorageError, match="no bucket no-such-bucket"):
            await nowhere.put({"text": "c" * 1000})
        only_reads = s3.key("s3:GetObject")
        for name, value in only_reads.environ(s3.url).items():
            monkeypatch.setenv(name, value)
        _, denied = await opened(f"s3://{bucket}")
        with pytest.raises(StorageError, match="may not do this in the bucket"):
            await denied.put({"text": "d" * 1000})
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        _, away = await opened(f"s3://{bucket}")
        with pytest.raises(StorageError, match="can't be reached"):
            await away.put({"text": "e" * 1000})
    with pytest.raises(BadInput, match="names no bucket"):
        data_place(tmp_path, {"HITL_DATABASE": database, "HITL_ARTIFACTS": "s3:///prefix"})


async def test_what_ended_goes_by_age_with_what_only_it_had(place: Place, database: str, tmp_path: Path) -> None:
    """Its copy keeps what it may be asked to use; what another session has of it stays, and the record."""

    def count(table: str, where: str = "true") -> int:
        with psycopg.connect(database, options="-c search_path=hitl_tui") as db:
            row = db.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()
            return int((row or (0,))[0])

    async with place.open() as op:
        await op.finish()
    environ = {"HITL_DATABASE": database}
    async with SessionRegistry.open(tmp_path / "other", environ) as registry:
        admin, data = registry.admin, registry.data
        assert isinstance(data, DatabaseFolder)
        results = count("results")
        assert results > 0 < count("checkpoints", "thread_id LIKE 's1/%'")
        assert await admin.prunable(older_than=timedelta(hours=1)) == []
        chosen = await admin.prunable(older_than=timedelta(0))
        assert [one.id for one in chosen] == ["s1"]
        data.begin(replace(data.session("s1").info(), id="s10"))
        kept = DatabaseArtifacts(data.tables, "s10", None)
        mine = DatabaseArtifacts(data.tables, "s2", None)
        lone, shared = await mine.put({"text": "only s2"}), await mine.put({"text": "both"})
        assert await kept.put({"text": "both"}) == shared
        pruned = await admin.prune(chosen, by="ann")
        assert (pruned.deleted, pruned.stayed) == (("s1",), {})
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            assert count(table) == 0
        assert count("session_results", "session = 's10'") == results + 1, "the copy's lineage did it, too"
        assert count("entries", "stream = 's1' AND kind = 'session_deleted'") == 1
        data.tables.rows("DELETE FROM session_results WHERE session = 's2'")
        assert data.remove_unused() == 0, "it was written a moment ago"
        assert data.remove_unused(unused_for=0.0) == 1
        assert (await kept.get(shared), count("results", f"digest = '{lone}'")) == ({"text": "both"}, 0)
        assert await mine.put({"text": "only s2"}) == lone
        assert await mine.get(lone) == {"text": "only s2"}
        assert (await audit.verify(registry.ledger)).problems == ()


async def test_sessions_are_administered_as_in_a_folder(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
    async with SessionRegistry.open(place.root / "data", {"HITL_DATABASE": Place.database}) as registry:
        admin = SessionAdmin(registry.store)
        assert [(s.id, s.status, s.questions, s.owned) for s in await admin.sessions()] == [("s1", "waiting", 1, False)]
        await admin.rename("s1", "Another title")
        assert (await admin.summary("s1")).title == "Another title"
        with pytest.raises(HitlError, match="No session"):
            await admin.summary("s9")


async def test_who_stays_goes_on_when_the_server_is_back(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "PATIENCE", 0.3)
    workspace = tmp_path / "documents"
    workspace.mkdir()
    (workspace / "law.md").write_text("The deposit cap is 5 percent.\n")
    async with SessionRegistry.open(tmp_path / "data", {"HITL_DATABASE": database}) as registry:
        setup = await registry.create("What is the deposit cap?", workspace)
        async with open_session(registry.store, setup, setup.info.query, lasting=True) as session:
            heard = list[str]()
            session.listen(lambda line: heard.append(line.text))
            seen = await session.settled()
            watching = asyncio.create_task(session.changed(seen))
            postgres.stop()
            while not any("can't be reached" in line for line in heard):
                await asyncio.wait({watching}, timeout=0.2)
                assert not watching.done()
            await asyncio.to_thread(postgres.start)
            handler = CommandHandler(
                session, setup.planner, by="ann", channel="test", acting=verified("ann"), terminal=True
            )
            async with asyncio.timeout(60):
                while (await handler.handle_command("/todo approve")).to_dict().get("error"):
                    await asyncio.wait({watching}, timeout=0.5)
                    if watching.done():  # who looks what changed opens it again, so somebody has to go on looking
                        watching = asyncio.create_task(session.changed(seen := watching.result()))
                while not seen.concluded:
                    seen = await watching
                    watching = asyncio.create_task(session.changed(seen))
            watching.cancel()
            assert session.owned
            assert [todo.status.value for todo in seen.todos] == ["completed"]


async def test_texts_that_json_cant_hold_are_kept_as_they_are(place: Place, database: str) -> None:
    """A team's graph may have them in its state: PostgreSQL's JSON takes neither NUL nor half of a surrogate pair."""
    async with place.ledger(), saver_of(database) as saver:
        await saver.prepare()
        thread = {"configurable": {"thread_id": "s1/todo_001/0.1", "checkpoint_ns": ""}}
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"said": "a\0b", "plain": "c", "more": {"x": "d\0"}}
        checkpoint["channel_versions"] = {"said": "1", "plain": "1", "more": "1"}
        first = await saver.aput(thread, checkpoint, {"source": "input", "step": 0}, checkpoint["channel_versions"])
        following = {
            **checkpoint,
            "id": checkpoint["id"][:-1] + "f",
            "channel_versions": {**checkpoint["channel_versions"]},
        }
        following["channel_values"] = {**checkpoint["channel_values"], "plain": "e"}
        await saver.aput(first, following, {"source": "loop", "step": 1}, {"plain": "2"})
        found = await saver.aget_tuple(thread)
        assert found is not None
        assert found.checkpoint["channel_values"] == {"said": "a\0b", "plain": "e", "more": {"x": "d\0"}}


async def test_what_is_being_written_when_it_is_closed_is_written(place: Place, database: str) -> None:
    """LangGraph doesn't wait for the writes of a run that is cancelled."""
    thread = {"configurable": {"thread_id": "s1", "checkpoint_ns": "", "checkpoint_id": "1"}}
    async with place.ledger(), saver_of(database) as saver:
        await saver.prepare()
        writing = asyncio.create_task(saver.aput_writes(thread, [("said", bytes(3_000_000))], "task"))
        await asyncio.sleep(0)
    assert writing.done()
    assert writing.exception() is None


async def test_rules_of_tasks_are_as_strict_as_what_was_trusted_in_the_database(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who edits a trusted folder loosens no rule, wherever the trust is on record."""
    monkeypatch.setenv("HITL_DATABASE", database)
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    strict = '[[policy]]\nname = "no force"\naction = "git push"\ndecision = "deny"\n'
    (work / "hitl.toml").write_text(strict)
    async with SessionRegistry.open(data, {"HITL_DATABASE": database}) as registry:
        shown = await registry.trust.of(work)
        await registry.trust.grant(work, shown.digest, by="tester", how="digest")
    (work / "hitl.toml").write_text("")
    held = await asyncio.to_thread(held_policy, work / ".masc", data)
    assert held.judge_step("agent", "git push", {}).ruling.value == "deny"
