"""`hitl-tui worker`: sessions of a database, carried by whoever has their workspace (X1, X2)."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from postgres_server import PostgresServer
from prometheus_client.parser import text_string_to_metric_families

from hitl_tui.channels import worker as worker_module
from hitl_tui.channels.metrics import METRICS
from hitl_tui.channels.worker import SessionWorker
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.workspace_copy import workspace_copy
from hitl_tui.core.errors import ServerAway, StorageError
from hitl_tui.supervisor import wake_queue
from hitl_tui.supervisor.database_doctor import examine
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.postgres_sessions import DatabaseFolder
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.supervisor.wake_queue import LiveWorker, leaves

pytestmark = pytest.mark.long

QUERY = "append the record"
SETTINGS = f"""
[teams.command_team.commands.append]
description = "Append the record"
run = ["{sys.executable}", "append.py"]
risk = "medium"
"""
APPEND = """
import os, time
handle = os.open(os.environ.get("RECORDS", "records"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(handle, b"one\\n")
os.fsync(handle)
while os.path.exists("slowly"):
    time.sleep(0.05)
"""
PATIENCE = 60.0


class Site:
    """A machine: a data folder and its copy of the workspace.

    Args:
        root: its folder.
        address: of the database.
    """

    def __init__(self, root: Path, address: str, settings: str = SETTINGS) -> None:
        self.data, self.work, self.address = root / "data", root / "project", address
        self.work.mkdir(parents=True)
        (self.work / "append.py").write_text(APPEND)
        (self.work / "hitl.toml").write_text(settings)

    @asynccontextmanager
    async def open(self, *, trusted: bool = True) -> AsyncIterator[SessionRegistry]:
        """Open the database from here."""
        async with SessionRegistry.open(self.data, {"HITL_DATABASE": self.address}) as registry:
            assert isinstance(registry.data, DatabaseFolder)
            registry.data.copies = [workspace_copy(self.work)]
            shown = await registry.trust.of(self.work)
            if trusted and not shown.trusted:
                await registry.trust.grant(self.work, shown.digest, by="tester", how="digest")
            yield registry

    @property
    def records(self) -> int:
        """How often the step was carried out here."""
        file = self.work / "records"
        return len(file.read_text().splitlines()) if file.exists() else 0

    @asynccontextmanager
    async def worker(
        self, prune_after: timedelta | None = None, *, name: str = "w", trusted: bool = True
    ) -> AsyncIterator[SessionWorker]:
        """Run a worker, and wait until it is on the list."""
        async with self.open(trusted=trusted) as registry:
            made = SessionWorker(
                registry,
                [workspace_copy(self.work)],
                name=name,
                concurrency=4,
                tell=lambda _: None,
                hide=lambda _: None,
            )
            made.prune_after = prune_after
            running = asyncio.create_task(made.run())
            try:
                await until(lambda: any(worker.name == name for worker in queue_of(registry).workers()))
                yield made
            finally:
                running.cancel()
                await asyncio.wait([running])

    @contextmanager
    def process(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker as a process of its own."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HITL_")}
        log = (self.data.parent / "worker.log").open("ab")
        running = subprocess.Popen(
            [sys.executable, "-m", "hitl_tui", "worker", "--data", str(self.data), *options],
            cwd=self.work,
            env={**environ, "HITL_DATABASE": self.address, "RECORDS": str(self.work / "records")},
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
        try:
            yield running
        finally:
            running.kill()
            running.wait()
            log.close()


def connected(address: str, *, autocommit: bool = True) -> psycopg.Connection:
    """Return a connection whose statements mean the tables of sessions, as the queue's own triggers need it."""
    return psycopg.connect(address, autocommit=autocommit, options="-c search_path=hitl_tui")


def queue_of(registry: SessionRegistry) -> wake_queue.WakeQueue:
    assert isinstance(registry.data, DatabaseFolder)
    return registry.data.queue


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    give_up = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < give_up, "it never came"
        await asyncio.sleep(0.05)


async def stand(registry: SessionRegistry, session_id: str, wanted: Callable[[Snapshot], bool]) -> Snapshot:
    """Follow a session until it stands as wanted."""
    async with asyncio.timeout(PATIENCE), SessionFollower.open(await registry.setup(session_id)) as follower:
        seen = follower.snapshot
        while not wanted(seen):
            seen = await follower.changed(seen)
        return seen


async def approve(registry: SessionRegistry, session_id: str) -> None:
    """Approve what is asked, as a console elsewhere does: without owning the session."""
    setup = await registry.setup(session_id)
    async with open_session(registry.store, setup) as session:
        assert not session.owned
        await setup.mark_shown([q.id for q in session.snapshot.questions], "ada", "console")
        handler = CommandHandler(session, setup.planner, by="ada", channel="console", admin=registry.admin)
        result = await handler.handle_command("/todo approve", began="")
        assert not result.failed, result


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_UPKEEP", "* * * * * *")
    monkeypatch.setattr(worker_module, "HEARTBEAT", 0.5)
    monkeypatch.setattr(worker_module, "STALLED", 2.0)
    monkeypatch.setattr(wake_queue, "STALLED", 2.0)
    monkeypatch.setattr(wake_queue, "_KNOWN", 0.1)


@pytest.fixture
def here(database: str, tmp_path: Path) -> Site:
    return Site(tmp_path / "here", database)


@pytest.fixture
def there(database: str, tmp_path: Path) -> Site:
    return Site(tmp_path / "there", database)


async def test_who_begins_and_decides_elsewhere_owns_nothing(here: Site, there: Site) -> None:
    async with there.worker(), here.open() as registry:
        setup = await registry.create(QUERY, here.work)
        seen = await stand(registry, setup.info.id, lambda s: bool(s.questions))
        assert seen.workspace == str(here.work)
        await approve(registry, setup.info.id)
        seen = await stand(registry, setup.info.id, lambda s: s.concluded)
        assert [todo["status"] for todo in seen.raw.values()] == ["completed"]
    assert (here.records, there.records) == (0, 1)


async def test_a_job_that_is_lost_late_or_repeated_changes_nothing(here: Site, there: Site, database: str) -> None:
    async with here.open() as registry:
        queue = queue_of(registry)
        async with there.worker():
            setup = await registry.create(QUERY, here.work)
            await stand(registry, setup.info.id, lambda s: bool(s.questions))
            await until(lambda: not queue.left(10))
        name = setup.info.id
        await approve(registry, name)
        with connected(database) as db:
            assert db.execute("DELETE FROM hitl_tui.procrastinate_jobs WHERE task_name = 'wake'").rowcount == 1
        assert queue.left(10) == [name]
        async with there.worker():
            await stand(registry, name, lambda s: s.concluded)
            await until(lambda: not queue.left(10))

            def waiting() -> int:
                with connected(database) as db:
                    row = db.execute("SELECT count(*) FROM hitl_tui.procrastinate_jobs WHERE task_name = 'wake'")
                    return int((row.fetchone() or (0,))[0])

            head = (await registry.ledger.head(name)).n
            for _ in range(3):
                queue.wake(name)
                queue.wake(name)
            await until(lambda: waiting() == 0)
            assert (await registry.ledger.head(name)).n == head
    assert there.records == 1


async def test_a_session_goes_on_whose_job_failed_while_another_one_waited(
    here: Site, there: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "_LOOK", 0.1)
    async with here.open() as registry, there.worker() as worker:
        carry, failed = worker.carry, list[str]()

        async def carried(session: str) -> None:
            if not failed:
                failed.append(session)
                await asyncio.to_thread(queue_of(registry).wake, session)
                raise StorageError("The disk is full.")
            await carry(session)

        monkeypatch.setattr(worker, "carry", carried)
        setup = await registry.create(QUERY, here.work)
        await stand(registry, setup.info.id, lambda s: bool(s.questions))
        assert failed == [setup.info.id]


async def test_a_session_whose_workspace_nobody_has_waits_and_says_so(
    here: Site, database: str, tmp_path: Path
) -> None:
    other = Site(tmp_path / "there", database, SETTINGS.replace("medium", "low"))
    async with other.worker(), here.open() as registry:
        setup = await registry.create(QUERY, here.work)
        name = setup.info.id
        assert queue_of(registry).whereabouts([name])[name].missing == workspace_copy(here.work).shown
        listed = await registry.admin.summary(name)
        assert (listed.status, listed.worker) == ("stranded", "")
        assert listed.message == f"No worker has the workspace {workspace_copy(here.work).shown}."
        said = [one.text for one in await asyncio.to_thread(examine, database) if not one.good]
        assert said == [
            f"No worker has the workspace {workspace_copy(here.work).shown}; sessions that wait for one: 1."
        ]
        async with SessionFollower.open(setup) as follower:
            assert follower.snapshot.at_rest
            assert "no worker has" in follower.snapshot.carrier

        def last_look() -> object:
            with connected(database) as db:
                return db.execute("SELECT max(seen) FROM hitl_tui.workers").fetchone()

        before = last_look()
        await until(lambda: last_look() != before)  # the worker is at work, and leaves it
        assert not await asyncio.to_thread(registry.data.session(name).has_checkpoints)
        (other.work / "hitl.toml").write_text(SETTINGS)
        shown = await registry.trust.of(other.work)
        await registry.trust.grant(other.work, shown.digest, by="tester", how="digest")
        await stand(registry, name, lambda s: bool(s.questions))
        assert not queue_of(registry).whereabouts([name])[name].missing


async def test_sessions_are_left_to_the_worker_that_carries_all_their_teams(
    here: Site, there: Site, database: str, tmp_path: Path
) -> None:
    strange = Site(tmp_path / "strange", database)
    async with strange.worker(name="strange", trusted=False), here.open() as registry:
        queue = queue_of(registry)

        def taken() -> dict[str, bool]:
            return {worker.name: bool(worker.queues) for worker in queue.workers()}

        await until(lambda: taken() == {"strange": True})  # better than nobody
        async with there.worker(name="there"):
            await until(lambda: taken() == {"strange": False, "there": True})
            said = [one.text for one in await asyncio.to_thread(examine, database) if not one.good]
            assert [text.partition("@")[0] for text in said] == ["strange"]
            assert "can't carry command_team of project, as others can" in said[0]
            for _ in range(3):
                name = (await registry.create(QUERY, here.work)).info.id
                await stand(registry, name, lambda s: bool(s.questions))
                await approve(registry, name)
                await stand(registry, name, lambda s: s.concluded)
            assert (here.records, there.records, strange.records) == (0, 3, 0)
        await until(lambda: taken() == {"strange": True})
        async with there.worker(name="there"):
            await until(lambda: taken() == {"strange": False, "there": True})
            async with strange.open():  # trusts it
                await until(lambda: taken() == {"strange": True, "there": True})


def test_of_workers_with_as_many_teams_all_leave_to_the_same(here: Site) -> None:
    copy = workspace_copy(here.work)

    def carrying(number: int, *teams: str) -> LiveWorker:
        return LiveWorker(
            number, "w", "h", 1, (copy.queue,), {copy.name: copy.digest}, {copy.name: teams}, 4, "2026-01-01"
        )

    one, two, same = carrying(1, "a", "b"), carrying(2, "c", "b"), carrying(3, "b", "c")
    workers = [one, two, same]
    assert [leaves(copy, worker, workers) for worker in workers] == [None, one, one]
    assert [leaves(copy, worker, [two, same]) for worker in (two, same)] == [None, None]


async def test_of_workers_that_each_lack_a_team_of_the_other_one_takes_the_sessions(
    here: Site, there: Site, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = SessionRegistry.team_names
    lacking = {here.data: {"analysis_team", "search_team"}, there.data: {"command_team"}}

    async def installed(registry: SessionRegistry, workspace: Path) -> tuple[str, ...]:
        """Return what a machine carries on which some packages aren't installed."""
        found = await read(registry, workspace)
        return tuple(team for team in found if team not in lacking[registry.data.root])

    monkeypatch.setattr(SessionRegistry, "team_names", installed)
    async with here.worker(name="here"), here.open() as registry:
        queue = queue_of(registry)

        def taken() -> dict[str, bool]:
            return {worker.name: bool(worker.queues) for worker in queue.workers()}

        async with there.worker(name="there"):
            await until(lambda: taken() == {"here": False, "there": True})
            said = [one.text for one in await asyncio.to_thread(examine, database) if not one.good]
            assert any(
                re.match(r"No worker carries all teams of project: .* there@.* command_team\.", one) for one in said
            )
        await until(lambda: taken() == {"here": True})


async def test_sessions_go_on_with_what_their_workspace_declares_now(here: Site, there: Site, database: str) -> None:
    """Where no worker has it as it was: by the worker whose files changed, or by who looks at the session."""
    changed = SETTINGS.replace("Append the record", "Append one record")
    async with here.open() as registry:
        async with there.worker():
            setup = await registry.create(QUERY, here.work)
            name = setup.info.id
            await stand(registry, name, lambda s: bool(s.questions))
            (there.work / "hitl.toml").write_text(changed)
            copy = workspace_copy(there.work)

            def taken() -> bool:
                with connected(database) as db:
                    row = db.execute("SELECT queue FROM session_records WHERE id = %s", (name,)).fetchone()
                    return row == (copy.queue,)

            await until(taken)
            await until(lambda: not queue_of(registry).whereabouts([name])[name].missing)
        for site in (there, here):
            (site.work / "hitl.toml").write_text(SETTINGS)
        assert isinstance(registry.data, DatabaseFolder)
        registry.data.copies = [workspace_copy(here.work)]
        async with there.worker():
            assert queue_of(registry).whereabouts([name])[name].missing
            await approve(registry, name)
            await stand(registry, name, lambda s: s.concluded)
    assert there.records == 1


async def test_another_worker_takes_over_what_a_killed_one_had(
    here: Site, there: Site, tmp_path: Path, database: str
) -> None:
    """The step had begun, so a person is asked; nothing is repeated."""
    third = Site(tmp_path / "third", database)
    (there.work / "slowly").touch()
    async with here.open() as registry:
        async with there.open(), third.open():
            pass
        with there.process() as doomed:
            await until(lambda: bool(queue_of(registry).workers()))
            setup = await registry.create(QUERY, here.work)
            name = setup.info.id
            await stand(registry, name, lambda s: bool(s.questions))
            await approve(registry, name)
            await until(lambda: there.records == 1)
            where = queue_of(registry).whereabouts([name])[name]
            assert where.worker.startswith(f"worker-{doomed.pid}@")
            listed = await registry.admin.summary(name)
            assert (listed.status, listed.worker) == ("running", where.worker)
            doomed.send_signal(signal.SIGKILL)
            doomed.wait()
        (there.work / "slowly").unlink()
        async with third.worker():
            seen = await stand(registry, name, lambda s: bool(s.questions))
            assert [q.todo_id for q in seen.questions] == ["todo_001"]
            assert seen.questions[0].kind.value != "todo"
    assert (there.records, third.records) == (1, 0)


async def test_a_worker_that_is_frozen_is_named_with_what_frees_its_sessions(
    here: Site, there: Site, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(X2)"""
    monkeypatch.setattr(wake_queue, "_SILENT", 2.0)
    third = Site(tmp_path / "third", database)
    (there.work / "slowly").touch()
    async with here.open() as registry:
        async with there.open(), third.open():
            pass
        with there.process("--name", "cold") as frozen:
            await until(lambda: bool(queue_of(registry).workers()))
            name = (await registry.create(QUERY, here.work)).info.id
            await stand(registry, name, lambda s: bool(s.questions))
            await approve(registry, name)
            await until(lambda: there.records == 1)
            frozen.send_signal(signal.SIGSTOP)
            async with third.worker(name="third"):
                await until(lambda: bool(queue_of(registry).whereabouts([name])[name].silent_since))
                where = queue_of(registry).whereabouts([name])[name]
                assert where.worker.startswith("cold@") and "no sign of life since" in where.carrier
                listed = await registry.admin.summary(name)
                assert (listed.status, listed.worker) == ("silent", where.worker)
                free = f"SELECT pg_terminate_backend({where.server_pid})"
                (said,) = [one.text for one in await asyncio.to_thread(examine, database) if free in one.text]
                assert said.startswith(f"{name}: {where.worker} holds it") and free in listed.message
                with connected(database) as db:
                    db.execute(free)
                seen = await stand(registry, name, lambda s: bool(s.questions))
                assert [q.kind.value for q in seen.questions] == ["effect"]
    assert (there.records, third.records) == (1, 0)


async def test_a_worker_that_is_stopped_hands_over(here: Site, there: Site) -> None:
    async with here.open() as registry:
        async with there.open():
            pass
        with there.process() as leaving:
            await until(lambda: bool(queue_of(registry).workers()))
            setup = await registry.create(QUERY, here.work)
            await stand(registry, setup.info.id, lambda s: bool(s.questions))
            (there.work / "slowly").touch()
            await approve(registry, setup.info.id)
            await until(lambda: there.records == 1)
            async with open_session(registry.store, setup) as session:
                handler = CommandHandler(session, setup.planner, by="ada", channel="console", admin=registry.admin)
                assert not (await handler.handle_command("/todo add command_team append --after 1")).failed
            leaving.send_signal(signal.SIGTERM)
            await until(lambda: queue_of(registry).workers() == [])
            (there.work / "slowly").unlink()
            assert await asyncio.to_thread(leaving.wait, 40) == 128 + signal.SIGTERM
        async with there.worker():
            seen = await stand(registry, setup.info.id, lambda s: bool(s.questions))
            assert [(q.todo_id, q.kind.value) for q in seen.questions] == [("todo_002", "todo")], "the first has ended"
    assert there.records == 1


async def test_a_worker_deletes_what_ended_long_ago(here: Site, there: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async with there.worker(), here.open() as registry:
        ended, asks = [(await registry.create(QUERY, here.work)).info.id for _ in range(2)]
        for session in (ended, asks):
            await stand(registry, session, lambda s: bool(s.questions))
        await approve(registry, ended)
        await stand(registry, ended, lambda s: s.concluded)
    monkeypatch.setattr(worker_module, "_PRUNING", "* * * * * *")
    async with there.worker(timedelta(hours=1)), here.open() as registry:

        def pruned() -> bool:
            with connected(here.address) as db:
                asked = "SELECT 1 FROM procrastinate_periodic_defers WHERE task_name = 'prune'"
                left = "SELECT 1 FROM procrastinate_jobs WHERE task_name = 'prune'"
                return bool(db.execute(asked).fetchall()) and not db.execute(left).fetchall()

        await until(pruned)
        assert set(registry.data.ids()) == {ended, asks}
    async with there.worker(timedelta(0)), here.open() as registry:
        await until(lambda: set(registry.data.ids()) == {asks})
        assert [e.kind for e in await registry.ledger.entries(ended)][-1] == "session_deleted"


async def test_prometheus_reads_what_a_worker_does(here: Site, there: Site) -> None:
    def address() -> str:
        said = (there.data.parent / "worker.log").read_text()
        found = re.search(r"http://127\.0\.0\.1:\d+/metrics", said)
        return found[0] if found else ""

    def scraped() -> dict[tuple[str, ...], float]:
        with urllib.request.urlopen(address()) as answer:
            families = text_string_to_metric_families(answer.read().decode())
            return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}

    def is_told(*figures: tuple[tuple[str, ...], float]) -> Callable[[], bool]:
        return lambda: all(scraped().get(name) == value for name, value in figures)

    digest = ""
    async with there.open() as registry:
        digest = (await registry.trust.of(there.work)).digest
    with there.process("--metrics", "0", "--trust", digest):
        async with here.open() as registry:
            await until(lambda: bool(address()) and bool(queue_of(registry).workers()))
            assert is_told((("hitl_up",), 1), (("hitl_requests_waiting",), 0), (("hitl_workers",), 1))()
            setup = await registry.create(QUERY, here.work)
            await stand(registry, setup.info.id, lambda s: bool(s.questions))
            await until(is_told((("hitl_requests_waiting",), 1), (("hitl_sessions_open",), 0)))
            assert 0 <= scraped()["hitl_request_oldest_seconds",] < PATIENCE
            await approve(registry, setup.info.id)
            await stand(registry, setup.info.id, lambda s: s.concluded)
            done = (("hitl_decisions_total",), 1), (("hitl_effects", "done"), 1)
            idle = (("hitl_queue_jobs", "todo"), 0), (("hitl_queue_jobs", "doing"), 0), (("hitl_requests_waiting",), 0)
            await until(is_told(*done, *idle, (("hitl_requests_ended_total", "approved"), 1)))
            found = scraped()
            assert found["hitl_carry_seconds_count",] >= 2
            assert found["hitl_carry_failures_total",] == 0
    families = {name for name, *_ in found}
    assert {name for name in METRICS if "seconds" not in name} <= families


async def test_a_worker_goes_on_when_the_server_is_back(here: Site, there: Site, postgres: PostgresServer) -> None:
    async with there.worker(), here.open() as registry:
        setup = await registry.create(QUERY, here.work)
        await stand(registry, setup.info.id, lambda s: bool(s.questions))
        await asyncio.to_thread(postgres.stop)
        await asyncio.to_thread(postgres.start)
        await approve(registry, setup.info.id)
        await stand(registry, setup.info.id, lambda s: s.concluded)
    assert there.records == 1


async def test_what_cannot_be_read_is_not_taken_for_no_teams(here: Site, postgres: PostgresServer) -> None:
    async with here.open() as registry:
        copy, said = workspace_copy(here.work), list[str]()
        made = SessionWorker(registry, [copy], name="w", concurrency=1, tell=said.append, hide=lambda _: None)
        assert "command_team" in await made._teams(copy)
        await asyncio.to_thread(postgres.stop)
        try:
            with pytest.raises(ServerAway):
                await made._teams(copy)
        finally:
            await asyncio.to_thread(postgres.start)
        assert not said


async def test_the_queue_is_made_by_several_at_once_from_before_and_not_by_older_ones(
    here: Site, database: str
) -> None:
    async with here.open() as registry:
        queue = queue_of(registry)
        await asyncio.gather(*(asyncio.to_thread(queue.make) for _ in range(4)))
        with connected(database) as db:
            db.execute("DROP SCHEMA hitl_tui CASCADE")
    async with here.open() as registry, here.open() as other:
        await asyncio.gather(*(asyncio.to_thread(queue_of(one).make) for one in (registry, other)))
        with connected(database) as db:
            db.execute("UPDATE hitl_tui.queue_version SET step = '99.00.00_01_later.sql'")
            db.execute("UPDATE hitl_tui.ledger_version SET version = 99")
        said = [one.text for one in await asyncio.to_thread(examine, database) if not one.good]
        assert len(said) == 2
        with pytest.raises(Exception, match="newer procrastinate"):
            await asyncio.to_thread(queue_of(registry).make)


def test_a_worker_without_a_database_or_folder_says_so(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HITL_")}

    def run(*options: str, address: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "hitl_tui", *(options or ["worker"])],
            env={**environ, "HITL_DATABASE": address, "HITL_DATA_DIR": str(tmp_path / "data")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    assert run() == (2, "hitl-tui: A worker needs a database: --database ADDRESS, or HITL_DATABASE.\n")
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    assert run("worker", "--concurrency", "0", address=nowhere)[0] == 2
    assert "doesn't exist" in run("worker", "missing", address=nowhere)[1]
    assert "there is" in run("worker", "--queues", "other", address=nowhere)[1]
    code, said = run(address=nowhere)
    assert code == 1
    assert "can't be reached" in said
    assert run("doctor")[0] == 2
    assert run("doctor", address=nowhere)[0] == 1
