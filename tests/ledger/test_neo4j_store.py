"""Task checkpoints in a Neo4j database: what people are told, what is lost (nothing), what others can query (M3, M4).

The server is ArcadeDB, which speaks the protocol with real transactions and unique keys.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bolt_server import BoltServer, bolt_server, free_port
from wire import Wire

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.identity import Identity
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.neo4j_entries import Neo4jEntries, Neo4jServer
from hitl_tui.task_checkpoints.checkpoint import Call, Ruled, Status
from hitl_tui.task_checkpoints.folders import policy_of, register, store_of
from hitl_tui.task_checkpoints.neo4j_views import CheckpointViews
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.task_inbox import TaskInbox

pytestmark = [pytest.mark.long, pytest.mark.slow]

COMMAND = Path(sys.executable).with_name("masc-checkpoint")
ANN = Identity("ann", "ann", "account", account="ann")
CYPHER = "x'}) DETACH DELETE n // \" ` $id } MATCH (n) DELETE n"

WRITER = """
import os
from pathlib import Path
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.task_checkpoints.folders import store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints
tasks = TaskCheckpoints(store_of(Path(".masc"), os.environ))
for step in range(1 + len(at_once(tasks.steps("t"))), 10_000):
    at_once(tasks.record("t", step, "x", "bot"))
    print(step, flush=True)
"""
"""Records steps, and says of each that it was."""


@pytest.fixture
def empty(bolt: BoltServer) -> BoltServer:
    bolt.clear()
    return bolt


@pytest.fixture
def wire(empty: BoltServer) -> Iterator[Wire]:
    """Return a way to the server that can be cut."""
    wire = Wire(empty.port)
    yield wire
    wire.close()


class Shell:
    """The command in a folder of its own."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("HITL_", "MASC_", "NEO4J"))}
        self.folder = root / "work"
        self.folder.mkdir()
        self.environ = kept | {"HITL_DATA_DIR": str(root / "data"), "HITL_LANG": "en"} | environ

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        out = subprocess.PIPE
        return subprocess.Popen(
            [str(COMMAND), *arguments], cwd=self.folder, env=self.environ, stdout=out, stderr=out, text=True
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        return process.returncode, out, err


@pytest.fixture
def shell(tmp_path: Path, empty: BoltServer) -> Shell:
    return Shell(tmp_path, empty.environ)


def asks(task: str = "t", step: int = 1) -> list[str]:
    return ["--task-id", task, "--step", str(step), "--action", "DELETE", "--agent", "bot", "--interrupt", "Go on?"]


async def kinds(server: Neo4jServer) -> list[str]:
    """Return what the entries of the task are."""
    async with Neo4jEntries.open(server, CheckpointViews()) as ledger:
        return [entry.kind for entry in await ledger.entries("t")]


def test_a_step_asks_waits_and_is_approved_and_others_can_query_it(shell: Shell, empty: BoltServer) -> None:
    waiting = shell.start(*asks(), "--wait")
    assert waiting.stdout is not None
    assert "Go on?" in waiting.stdout.readline()
    (step,) = empty.run("MATCH (c:Checkpoint) RETURN c.id AS id, c.status AS status, c.interrupt_message AS message")
    assert step["id"].startswith("cp-t-1-")
    assert (step["status"], step["message"]) == ("interrupted", "Go on?")
    assert shell.run("--task-id", "t", "--approve", "--value", '{"limit": 5}')[0] == 0
    assert waiting.wait(30) == 0
    fields = "c.status AS status, c.resume_value AS value, c.resumed_at AS at"
    (step,) = empty.run(f"MATCH (c:Checkpoint) RETURN {fields}")
    assert (step["status"], step["value"]) == ("completed", '{"limit": 5}')
    assert step["at"]
    fields = "e.checkpoint_id AS id, e.message AS message, e.resolution AS how, e.resolved_by AS by"
    (event,) = empty.run(f"MATCH (e:InterruptEvent) RETURN {fields}")
    assert (event["message"], event["how"]) == ("Go on?", "approved")
    assert event["id"].startswith("cp-t-1-") and event["by"]


def test_a_rejection_is_kept_with_its_reason(shell: Shell, empty: BoltServer) -> None:
    assert shell.run(*asks())[0] == 3
    assert shell.run("--task-id", "t", "--reject", "--reason", "no backup")[0] == 4
    fields = "c.status AS status, c.reason AS reason, c.rejected_at AS at"
    (step,) = empty.run(f"MATCH (c:Checkpoint) RETURN {fields}")
    assert (step["status"], step["reason"]) == ("rejected", "no backup") and step["at"]
    assert shell.run(*asks(step=2))[0] == 4


def test_the_inbox_shows_each_step_once_whatever_folder_recorded_it(shell: Shell, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert shell.run(*asks(name), "--masc-dir", str(tmp_path / name / ".masc"))[0] == 3
    command = [str(Path(sys.executable).with_name("hitl-tui")), "inbox", "--json"]
    listed = subprocess.run(
        command, cwd=shell.folder, env=shell.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert [one["task_id"] for one in json.loads(listed.stdout)["requests"]] == ["one", "two"]


@pytest.mark.parametrize(
    ("environ", "code", "words"),
    [
        ({"NEO4J_PASSWORD": "wrong-one"}, 1, "refuses the name or the password"),
        ({"NEO4J_DATABASE": "wrong-one"}, 1, "refused"),
        ({"NEO4J_URI": "bolt://127.0.0.1:{port}"}, 1, "can't be reached"),
        ({"NEO4J_URI": "neo4j://no-such-host.invalid"}, 1, "can't be reached"),
        ({"NEO4J_URI": "nonsense"}, 2, "NEO4J_URI can't be used"),
        ({"NEO4J_URI": "", "MASC_CHECKPOINT_BACKEND": "neo4j"}, 2, "needs NEO4J_URI"),
        ({"MASC_CHECKPOINT_BACKEND": "sqlite"}, 2, "must be auto, filesystem or neo4j"),
    ],
)
def test_what_cannot_be_reached_or_is_refused_is_one_sentence_and_nothing_else_stands_in(
    shell: Shell, environ: dict[str, str], code: int, words: str
) -> None:
    shell.environ |= {name: text.format(port=free_port()) for name, text in environ.items()}
    ended, out, err = shell.run(*asks())
    assert (ended, out) == (code, "")
    assert words in err and err.count("\n") == 1 and "wrong-one" not in err
    assert not (shell.folder / ".masc").exists()


@pytest.mark.parametrize(
    "uri",
    [
        "bolt://",
        "bolt:h",
        "bolt://h:x",
        "bolt://h:0",
        "bolt://h:99999",
        "bolt://[::1",
        "bolt://" + "a" * 99,
        "bolt://xn--\udc80",
        "bolt://ann:secret@h",
        "bolt://h?x=y",
        "neo4j+s+ssc://h",
        "http://h",
    ],
)
async def test_an_address_that_is_none_is_named_by_its_variable(uri: str) -> None:
    async with Neo4jEntries.open(Neo4jServer(uri, "ann", "secret"), CheckpointViews()) as ledger:
        with pytest.raises(BadInput, match="NEO4J_URI can't be used") as found:
            await ledger.entries("t")
    assert "secret" not in found.value.message


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0\0\0\0", b"\0\0\1\5abcdefgh"])
async def test_a_server_of_something_else_is_none(answer: bytes) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as other:
        uri = f"bolt://127.0.0.1:{other.sockets[0].getsockname()[1]}"
        async with Neo4jEntries.open(Neo4jServer(uri, "ann", "secret"), CheckpointViews()) as ledger:
            with pytest.raises(StorageError, match="can't be reached"):
                await ledger.entries("t")


def test_cypher_in_every_field_is_text(shell: Shell, empty: BoltServer) -> None:
    assert shell.run(*asks("bystander"))[0] == 3
    fields = ["--action", CYPHER, "--agent", CYPHER, "--interrupt", CYPHER]
    assert shell.run("--task-id", "t", "--step", "1", *fields)[0] == 3
    assert shell.run("--task-id", CYPHER, "--step", "1", *fields)[0] == 2
    assert shell.run("--task-id", "t", "--reject", "--reason", CYPHER)[0] == 4
    found = empty.run("MATCH (c:Checkpoint) WHERE c.task_id = 't' RETURN c.action AS action, c.reason AS reason")
    assert found == [{"action": CYPHER, "reason": CYPHER}]
    assert shell.run("--task-id", "bystander", "--status")[0] == 3


async def test_a_write_whose_answer_is_lost_is_written_once(empty: BoltServer, wire: Wire) -> None:
    async with Neo4jEntries.open(empty.at(wire.port), CheckpointViews()) as ledger:
        tasks = TaskCheckpoints(ledger)
        await tasks.record("t", 1, "x", "bot")
        wire.silent_after = b"CREATE (e:CheckpointEntry"
        step = await tasks.record("t", 2, "x", "bot", "Go on?")
        assert wire.silent_after is None, "the answer was lost"
        wire.cut_at = b"CREATE (e:CheckpointEntry"
        await tasks.decide(step, Verdict.APPROVE, ANN, "cli")
    assert await kinds(empty.server) == ["task_step", "task_step", "request_opened", "request_shown", "decision"]
    (view,) = empty.run("MATCH (c:Checkpoint {step: 2}) RETURN c.status AS status")
    assert view["status"] == "completed"


@pytest.mark.slow
async def test_a_server_killed_in_the_middle_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    with bolt_server(tmp_path / "bolt") as server:
        async with Neo4jEntries.open(server.server, CheckpointViews()) as ledger:
            tasks = TaskCheckpoints(ledger)
            written, enough = 0, asyncio.Event()

            async def write() -> None:
                nonlocal written
                for step in range(1, 500):
                    await tasks.record("t", step, "x", "bot")
                    written = step
                    if step == 20:
                        enough.set()

            writing = asyncio.create_task(write())
            await enough.wait()
            server.kill()
            with pytest.raises(StorageError, match="can't be reached"):
                await writing
            server.start()
            steps = [one.step for one in await TaskCheckpoints(ledger).steps("t")]
            assert steps[:written] == list(range(1, written + 1))
            assert len(steps) in (written, written + 1), "at most one more, whose answer was lost"
            await tasks.record("t", steps[-1] + 1, "x", "bot")
        views = server.run("MATCH (c:Checkpoint) RETURN count(c) AS n")
        assert views == [{"n": len(steps) + 1}], "a view for each entry, none besides"


def test_many_processes_decide_and_one_wins(shell: Shell) -> None:
    assert shell.run(*asks())[0] == 3
    processes = [
        shell.start("--task-id", "t", *(["--approve"] if n % 2 else ["--reject", "--reason", "no"]), "--as", f"p{n}")
        for n in range(8)
    ]
    codes = [(process.communicate(timeout=120), process.returncode) for process in processes]
    won = [code for _, code in codes if code in (0, 4)]
    assert len(won) == 1, codes
    assert all("p" in err and code == 2 for (_, err), code in codes if code not in (0, 4)), codes


async def test_older_data_is_brought_up_to_date_however_often_and_by_however_many(empty: BoltServer) -> None:
    async with Neo4jEntries.open(empty.server, CheckpointViews()) as ledger:
        tasks = TaskCheckpoints(ledger)
        step = await tasks.record("t", 1, "x", "bot", "Go on?")
        await tasks.decide(step, Verdict.APPROVE, ANN, "cli")
    empty.run("MATCH (c:Checkpoint) DETACH DELETE c")
    empty.run("MATCH (s:CheckpointStore) SET s.schema = 0")

    async def look() -> int:
        async with Neo4jEntries.open(empty.server, CheckpointViews()) as ledger:
            return len(await TaskCheckpoints(ledger).steps("t"))

    assert await asyncio.gather(*(look() for _ in range(4))) == [1] * 4
    assert empty.run("MATCH (c:Checkpoint) RETURN c.status AS status") == [{"status": "completed"}]
    empty.run("MATCH (s:CheckpointStore) SET s.schema = 99")
    with pytest.raises(StorageError, match="newer version"):
        await look()


async def test_who_writes_during_an_upgrade_leaves_no_view_behind_and_is_stopped_after_it(empty: BoltServer) -> None:
    class Newer(CheckpointViews):
        version = CheckpointViews.version + 1

    enough = asyncio.Event()

    async def write(tasks: TaskCheckpoints) -> None:
        for step in range(1, 500):
            asked = await tasks.record("t", step, "x", "bot", "Go on?")
            await tasks.decide(asked, Verdict.APPROVE, ANN, "cli")
            if step == 5:
                enough.set()

    async with Neo4jEntries.open(empty.server, CheckpointViews()) as ledger:
        writing = asyncio.create_task(write(TaskCheckpoints(ledger)))
        await enough.wait()
        async with Neo4jEntries.open(empty.server, Newer()) as upgraded:
            await upgraded.streams()
        with pytest.raises(StorageError, match="newer version"):
            await writing
    async with Neo4jEntries.open(empty.server, Newer()) as upgraded:
        steps = await TaskCheckpoints(upgraded).steps("t")
    found = empty.run("MATCH (c:Checkpoint) RETURN c.step AS step, c.status AS status ORDER BY step")
    assert found == [{"step": one.step, "status": one.status.value} for one in steps]


@pytest.mark.slow
def test_what_a_writer_killed_at_any_moment_leaves_is_whole(shell: Shell, empty: BoltServer) -> None:
    for kill in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER], env=shell.environ, stdout=subprocess.PIPE, text=True, cwd=shell.folder
        )
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(2 + 3 * kill)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        process.wait(30)
        steps = json.loads(shell.run("--task-id", "t", "--status", "--json")[1])["checkpoints"]
        assert [one["step"] for one in steps] == list(range(1, len(steps) + 1))
        assert len(steps) in (acknowledged[-1], acknowledged[-1] + 1), "at most one more, of which nobody was told"
        assert empty.run("MATCH (c:Checkpoint) RETURN count(c) AS n") == [{"n": len(steps)}]


async def test_a_call_that_a_rule_denied_is_shown_as_rejected(empty: BoltServer) -> None:
    async with Neo4jEntries.open(empty.server, CheckpointViews()) as ledger:
        await TaskCheckpoints(ledger).note_ruled("t", Call("bot", "Bash", {"command": "rm"}), Ruled("deny", 1, "no rm"))
    found = empty.run("MATCH (c:Checkpoint) RETURN c.status AS status, c.reason AS reason")
    assert found == [{"status": "rejected", "reason": "no rm"}]


async def test_a_call_is_edited_under_the_rules_it_was_asked_under(empty: BoltServer, tmp_path: Path) -> None:
    data, strict = tmp_path / "data", tmp_path / "strict" / ".masc"
    for masc in (tmp_path / "a" / ".masc", tmp_path / "b" / ".masc", strict):
        masc.mkdir(parents=True)
    inbox = TaskInbox(data, empty.environ)
    (strict.parent / "hitl.toml").write_text('[[policy]]\nagent = "bot"\ndecision = "ask"\nquorum = 2\n')
    tasks = TaskCheckpoints(store_of(strict, empty.environ), policy_of(strict))
    asked = await tasks.ask("t", Call("bot", "Bash", {"command": "rm"}), "Go on?")
    assert asked.view is not None and asked.needed == 2
    register(data, tmp_path / "a" / ".masc")
    (waiting,) = await inbox.waiting()
    with pytest.raises(BadInput, match="No folder here has the rules"):
        await inbox.edit(waiting, {"command": "ls"}, ANN, waiting.view.request.digest)
    for masc in (strict, tmp_path / "b" / ".masc"):
        register(data, masc)
    edited = await inbox.edit(waiting, {"command": "ls"}, ANN, waiting.view.request.digest)
    assert (edited.status, edited.needed) == (Status.INTERRUPTED, 2)


async def test_a_damaged_entry_is_named_and_never_believed(empty: BoltServer) -> None:
    async with Neo4jEntries.open(empty.server, CheckpointViews()) as ledger:
        await TaskCheckpoints(ledger).record("t", 1, "x", "bot", "Go on?")
    empty.run("MATCH (e:CheckpointEntry {n: 1}) SET e.text = replace(e.text, 'bot', 'ann')")
    with pytest.raises(StorageError, match="was changed"):
        await kinds(empty.server)
