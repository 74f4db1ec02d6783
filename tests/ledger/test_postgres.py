"""The ledger in PostgreSQL keeps the contract, whatever happens to the server, the way to it, its tables (X1, X2)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from ledger_support import ask, at, deed, say, word
from postgres_server import PASSWORD, PostgresServer
from wire import Wire

from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.ledger import audit, postgres_database, postgres_ledger
from hitl_tui.ledger.postgres_connection import SCHEMA, connect
from hitl_tui.ledger.postgres_ledger import PostgresLedger
from hitl_tui.ledger.records import Problem
from hitl_tui.ledger.view_check import view_problems
from hitl_tui.ledger.view_schema import VERSION
from hitl_tui.policy.approvers import Approver, Approvers
from hitl_tui.supervisor.database_doctor import examine, own_approvers

pytestmark = pytest.mark.long

POST = {"kind": "note"}


@contextmanager
def owner(address: str) -> Iterator[psycopg.Connection]:
    """Connect as the owner of the tables, who can do everything to them."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}")
        yield connection


async def refused(address: str) -> str:
    """Return the sentence by which a database is refused."""
    with pytest.raises(HitlError) as said:
        async with PostgresLedger.open(address):
            pass
    assert "\n" not in said.value.message
    assert PASSWORD not in said.value.message
    return said.value.message


# Tables


async def test_many_make_the_tables_at_once(database: str) -> None:
    async def open_and_post(number: int) -> None:
        async with PostgresLedger.open(database) as ledger:
            await ledger.post("s1", 0, f"e{number}", POST, at())

    await asyncio.gather(*map(open_and_post, range(12)))
    async with PostgresLedger.open(database) as ledger:
        assert await ledger.last_seq("s1") == 12
        assert (await audit.verify(ledger)).problems == ()


async def test_tables_of_an_older_version_are_built_anew_by_whoever_comes_first(database: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        await ledger.open_requests([ask()])
        await ledger.decide(say(ask()), at(1))
        before = await ledger.request(ask().id, at(2))
    with owner(database) as db:
        db.execute("ALTER TABLE requests DROP COLUMN todo_id")
        db.execute("UPDATE ledger_version SET version = %s", (VERSION - 1,))

    async def look(_: int) -> None:
        async with PostgresLedger.open(database) as ledger:
            assert await ledger.request(ask().id, at(2)) == before
            assert (await audit.verify(ledger)).problems == ()

    await asyncio.gather(*map(look, range(6)))


async def test_the_entry_of_a_decision_names_the_machine_that_it_was_given_on(database: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        await ledger.open_requests([ask()])
        await ledger.decide(say(ask()), at(1))
        (entry,) = [one for one in await ledger.entries(ask().session) if one.kind == "decision"]
        assert entry.data["machine"] == socket.gethostname()
        assert (await audit.verify(ledger)).problems == ()


def test_the_doctor_says_that_a_list_of_approvers_is_of_one_folder() -> None:
    """(T8)"""
    assert list(own_approvers(Approvers("ops"))) == []
    (found,) = own_approvers(Approvers("ops", (Approver("bob"),)))
    assert not found.good and "isn't on other machines" in found.text


async def test_tables_of_a_newer_version_are_left_alone(database: str) -> None:
    async with PostgresLedger.open(database):
        pass
    with owner(database) as db:
        db.execute("UPDATE ledger_version SET version = %s", (VERSION + 1,))
    assert f"format {VERSION + 1} and this program knows format {VERSION}" in await refused(database)


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["UPDATE entries SET at = '2020' WHERE n = 1"], "was changed"),
        (["DELETE FROM entries WHERE n = 2"], "is missing"),
        (["UPDATE requests SET state = 'settled'"], "The view requests says what no entry says"),
        (["DROP TRIGGER entries_all_stay ON entries"], "entries_all_stay, which protects entries, is gone"),
    ],
)
async def test_what_others_change_in_the_tables_is_found(database: str, statements: list[str], said: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        await ledger.open_requests([ask()])
        await ledger.post("s1", 0, "e1", POST, at())
        with owner(database) as db:
            for statement in statements:
                if "entries" in statement and "TRIGGER" not in statement:
                    with pytest.raises(psycopg.Error, match="never changed"):
                        db.execute(statement)
                db.execute("SET session_replication_role = replica")  # what only an administrator may do
                db.execute(statement)
        for stream in (None, "s1"):
            found = await audit.verify(ledger, stream)
            assert any(said in problem.what for problem in found.problems), found.problems
            assert all(isinstance(problem, Problem) for problem in found.problems)


async def test_a_stream_is_checked_by_what_it_rests_on_alone(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: dict[str | None, set[str]] = {}

    def looked(path: Path, stream: str | None) -> list[Problem]:
        with closing(sqlite3.connect(path)) as db:
            copied[stream] = {name for (name,) in db.execute("SELECT DISTINCT stream FROM entries")}
        return view_problems(path, stream)

    monkeypatch.setattr(postgres_ledger, "view_problems", looked)
    async with PostgresLedger.open(database) as ledger:
        for session in ("s1", "s2", "s3"):
            await ledger.open_requests([ask(f"of {session}", session=session)])
            await ledger.begin_effect(deed(key=f"of {session}", session=session), at())
        fork = deed(key="of s1", session="s2", run_id="run-f")  # what s1 began is s2's now
        assert (await ledger.begin_effect(fork, at(2))).verdict == "doubt"
        answer = await word(ledger, fork)
        assert (await ledger.begin_effect(fork, at(3), resolution="do_again", answer_to=answer)).verdict == "go"
        for stream in (None, "s1", "s2", "s3"):
            assert (await audit.verify(ledger, stream)).problems == ()
        with owner(database) as db:
            db.execute("UPDATE effects SET status = 'done' WHERE key = 'of s3'")
        assert [len((await audit.verify(ledger, stream)).problems) for stream in ("s1", "s2", "s3")] == [0, 0, 2]
    assert copied == {None: {"s1", "s2", "s3"}, "s1": {"s1"}, "s2": {"s1", "s2"}, "s3": {"s3"}}


# The way to it


@pytest.fixture
def wire(postgres: PostgresServer) -> Iterator[Wire]:
    wire = Wire(postgres.port)
    yield wire
    wire.close()


def through(wire: Wire, address: str) -> str:
    """Return an address that goes over a wire."""
    place, _, name = address.rpartition("/")
    return f"{place.rpartition(':')[0]}:{wire.port}/{name}"


@pytest.mark.parametrize("heard", [False, True])
async def test_a_commit_whose_end_was_not_heard_of_counts_once(database: str, wire: Wire, *, heard: bool) -> None:
    async with PostgresLedger.open(through(wire, database)) as ledger:
        await ledger.open_requests([ask()])
        for number in range(5):
            if heard:
                wire.silent_after = b"COMMIT"
            else:
                wire.cut_at = b"COMMIT"
            entry = await ledger.record("notes", "note", {"number": number}, at())
            assert entry.n == number + 1
        wire.silent_after = b"COMMIT"
        view = await ledger.decide(say(ask()), at(1))
        assert view.resolution.decided
        assert [e.data["number"] for e in await ledger.entries("notes")] == list(range(5))
        assert (await audit.verify(ledger)).problems == ()


async def test_what_is_cut_anywhere_is_done_once(database: str, wire: Wire) -> None:
    words = [b"BEGIN", b"INSERT INTO entries", b"INSERT INTO effects", b"pg_current_xact", b"SELECT n, hash"]
    async with PostgresLedger.open(through(wire, database)) as ledger:
        for number, word in enumerate(words):
            wire.cut_at = word
            claim = await ledger.begin_effect(deed(f"eff-{number}"), at())
            assert claim.verdict == "go"
        assert len(await ledger.entries("s1")) == len(words)


def test_the_server_looks_whether_the_other_side_is_there(database: str) -> None:
    """(X2)"""
    with closing(connect(database)) as connection:
        rows = connection.execute("SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp\\_%'").fetchall()
    assert dict(rows) == {
        "tcp_keepalives_idle": "10",
        "tcp_keepalives_interval": "5",
        "tcp_keepalives_count": "3",
        "tcp_user_timeout": "20000",
    }


async def test_backends_that_are_ended_lose_nothing(database: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        for number in range(20):
            with psycopg.connect(database, autocommit=True) as db:
                db.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            await ledger.record("notes", "note", {"number": number}, at())
        assert [e.data["number"] for e in await ledger.entries("notes")] == list(range(20))


async def test_a_server_that_stops_at_once_is_waited_for(postgres: PostgresServer, database: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        waiting = asyncio.create_task(ledger.wait("s1", 0, 30))
        await ledger.record("notes", "note", {}, at())
        postgres.stop(signal.SIGQUIT)
        recording = asyncio.create_task(ledger.record("notes", "note", {}, at()))
        await asyncio.to_thread(postgres.start)
        assert (await recording).n == 2
        await ledger.post("s1", 0, "e1", POST, at())
        assert await waiting
        assert (await audit.verify(ledger)).problems == ()


async def test_a_server_that_stays_away_is_one_sentence_and_back_later(
    postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "PATIENCE", 0.3)
    async with PostgresLedger.open(database) as ledger:
        postgres.stop(signal.SIGQUIT)
        try:
            with pytest.raises(HitlError, match=r"postgresql://owner@127.0.0.1:\d+/\w+ can't be reached: ") as said:
                await ledger.record("notes", "note", {}, at())
            assert "\n" not in said.value.message
        finally:
            postgres.start()
        assert (await ledger.record("notes", "note", {}, at())).n == 1


# Others


async def test_what_another_process_writes_is_heard_at_once(database: str) -> None:
    async with PostgresLedger.open(database) as here, PostgresLedger.open(database) as there:
        assert not await here.wait("s1", 0, 1.0)
        took = []
        for seq in range(5):
            waiting = asyncio.create_task(here.wait("s1", seq, 20))
            await asyncio.sleep(0.1)
            began = time.monotonic()
            await there.post("s1", 0, f"e{seq}", POST, at())
            assert await waiting
            took.append(time.monotonic() - began)
        assert sorted(took)[2] < 0.5


def start_decider(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_two_hundred_decide_from_twenty_processes_and_one_decides(database: str) -> None:
    people = 10
    async with PostgresLedger.open(database) as ledger:
        await ledger.open_requests([ask()])
    command = [sys.executable, str(Path(__file__).with_name("decider.py")), database]
    deciders = [start_decider([*command, f"p{n}", str(people)]) for n in range(20)]
    for decider in deciders:
        assert decider.stdout is not None
        assert json.loads(decider.stdout.readline()) == {"did": "ready"}
    said = list[str]()
    for decider in deciders:
        assert decider.stdin is not None
        decider.stdin.write("go\n")
        decider.stdin.flush()
    for decider in deciders:
        said += decider.communicate(timeout=120)[0].splitlines()
        assert decider.returncode == 0
    told = [json.loads(line) for line in said]
    decided = [answer for answer in told if answer["did"] == "decided"]
    assert len(told) == 20 * people
    assert len(decided) == 1
    assert {answer["reason"] for answer in told if answer["did"] == "refused"} == {"late"}
    async with PostgresLedger.open(database) as ledger:
        view = await ledger.request(ask().id, at(2))
        assert view is not None
        assert [decision.by for decision in view.decisions] == [decided[0]["by"]]
        assert await ledger.last_seq("s1") == 1
        assert (await audit.verify(ledger)).problems == ()


async def test_an_effect_that_two_sessions_share_starts_once(database: str) -> None:
    async def begin(number: int) -> str:
        async with PostgresLedger.open(database) as ledger:
            return (await ledger.begin_effect(deed(session=f"s{number}", run_id=f"r{number}"), at())).verdict

    said = await asyncio.gather(*map(begin, range(16)))
    assert sorted(said) == [*["doubt"] * 15, "go"]


# Bad input


async def test_what_can_t_be_used_is_refused_in_one_sentence(postgres: PostgresServer, database: str) -> None:
    name = database.rpartition("/")[2]
    with owner(database) as db:
        db.execute(f"CREATE ROLE poor_{name} LOGIN PASSWORD '{PASSWORD}'")
        db.execute(f"REVOKE CREATE ON DATABASE {name} FROM PUBLIC")
    try:
        assert "can't be reached: " in await refused(f"postgresql://owner:{PASSWORD}@127.0.0.1:1/{name}")
        assert "password authentication failed" in await refused(postgres.at(name, password="wrong"))
        assert 'database "nobody" does not exist' in await refused(postgres.at("nobody"))
        assert f"may not do what is needed: permission denied for database {name}" in await refused(
            postgres.at(name, user=f"poor_{name}")
        )
        with psycopg.connect(database, autocommit=True) as db:
            db.execute("CREATE SCHEMA hitl_tui")
        assert "may not do what is needed: the schema hitl_tui is somebody else's" in await refused(
            postgres.at(name, user=f"poor_{name}")
        )
        (said,) = [one.text for one in examine(postgres.at(name, user=f"poor_{name}")) if not one.good]
        assert "this user may make none there" in said
        assert all(one.good for one in examine(database))
        assert "is read-only, as a replica is" in await refused(
            f"{database}?options=-c%20default_transaction_read_only%3Don"
        )
    finally:
        with owner(database) as db:
            db.execute(f"DROP ROLE poor_{name}")


async def test_a_replica_is_refused_in_one_sentence(postgres: PostgresServer, database: str) -> None:
    async with PostgresLedger.open(database):
        pass
    with postgres.replica() as port:
        assert "is read-only, as a replica is" in await refused(database.replace(f":{postgres.port}/", f":{port}/"))


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root alone")
async def test_a_full_disk_is_one_sentence_and_what_was_written_before_stays(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with postgres.small_database(24) as (address, room):
        async with PostgresLedger.open(address) as ledger:
            await ledger.record("s1", "note", {"n": 0}, at())
            filler = room / "filler"
            free = os.statvfs(room)
            filler.write_bytes(b"x" * (free.f_bavail * free.f_frsize))
            with pytest.raises(StorageError, match=r"Disk full: the server .* can't write"):
                for number in range(1, 100):
                    await ledger.record("s1", "note", {"n": number, "text": "x" * 10_000}, at())
            written = (await ledger.head("s1")).n
            filler.unlink()
            await ledger.record("s1", "note", {"n": "last"}, at())
            assert (await ledger.head("s1")).n == written + 1
            assert (await audit.verify(ledger)).problems == ()


async def test_what_has_no_form_in_it_is_refused(database: str) -> None:
    async with PostgresLedger.open(database) as ledger:
        for stream in ("a\0b", "\ud800"):
            with pytest.raises(BadInput):
                await ledger.record(stream, "note", {}, at())
        assert (await ledger.record("s1", "note", {"text": "\0 \ud800"}, at())).data["text"] == "\0 \ud800"
        assert (await audit.verify(ledger)).problems == ()


@contextmanager
def pgbouncer(postgres: PostgresServer, folder: Path, mode: str) -> Iterator[int]:
    """Run a pooler on loopback; yields its port."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("no pgbouncer is installed here; .ci/run installs one")
    folder.chmod(0o755)
    users, settings = folder / "users", folder / "settings"
    users.write_text(f'"owner" "{PASSWORD}"\n')
    port = postgres.port + 1
    settings.write_text(
        f"[databases]\n* = host=127.0.0.1 port={postgres.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nauth_type = plain\nauth_file = {users}\npool_mode = {mode}\n"
        f"unix_socket_dir =\nlogfile = {folder / 'log'}\ndefault_pool_size = 5\n"
    )
    for path in (users, settings):
        path.chmod(0o644)
    folder.chmod(0o777)
    for above in folder.parents[:3]:
        above.chmod(0o755)
    process = subprocess.Popen(["setpriv", "--reuid=postgres", "--clear-groups", program, str(settings)], cwd="/")
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
            else:
                break
        yield port
    finally:
        process.terminate()
        process.wait(10)


async def test_a_pooler_that_gives_connections_away_is_refused(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    address = database.replace(f":{postgres.port}/", ":{}/")
    with pgbouncer(postgres, tmp_path, "transaction") as port:
        assert "is a pooler in transaction mode" in await refused(address.format(port))
    with pgbouncer(postgres, tmp_path, "session") as port:
        async with PostgresLedger.open(address.format(port)) as ledger:
            assert (await ledger.record("notes", "note", {}, at())).n == 1
