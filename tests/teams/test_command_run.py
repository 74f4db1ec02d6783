"""Running real programs."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from team_support import first

from hitl_tui.config.declared_commands import command_environment
from hitl_tui.core.errors import BadInput
from hitl_tui.teams.process import CommandOutcome, run_command

ENV = command_environment({}, os.environ)


async def run(*argv: str, cwd: Path, limit_s: float = 30, env: Any = ENV, **more: Any) -> CommandOutcome:
    return await run_command(argv, cwd, limit_s, env, **more)


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return True
    if not Path("/proc/self/stat").exists():
        return False
    stats = (path.read_bytes().rpartition(b")")[2].split() for path in Path("/proc").glob("[0-9]*/stat"))
    return not any(s[2] == str(group).encode() and s[0] != b"Z" for s in stats)


async def test_exit_code_and_both_streams(tmp_path: Path) -> None:
    outcome = await run("sh", "-c", "echo out; echo err >&2; exit 3", cwd=tmp_path)
    assert (outcome.exit_code, outcome.signal, outcome.stdout, outcome.stderr) == (3, "", "out\n", "err\n")
    assert not outcome.truncated
    assert not outcome.timed_out
    assert outcome.stdout_lines == 1


async def test_asyncio_learns_how_each_program_ended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await asyncio.gather(*(run("true", cwd=tmp_path) for _ in range(20)))
    assert [record.getMessage() for record in caplog.records] == []


async def test_one_argument_stays_one_argument(tmp_path: Path) -> None:
    hostile = ["a b", "$(id)", "`id`", "; rm -rf /", "-rf", "*", "", "줄\t바꿈", '"', "'"]
    script = "import sys, json; print(json.dumps(sys.argv[1:]))"
    outcome = await run(sys.executable, "-c", script, *hostile, cwd=tmp_path)
    assert json.loads(outcome.stdout) == hostile


async def test_a_hundred_megabytes_are_bounded(tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    outcome = await run(
        "sh", "-c", "yes 0123456789 | head -c 100000000",
        cwd=tmp_path, limit_s=120, limit=10_000, on_line=lambda *line: lines.append(line),
    )  # fmt: skip
    assert outcome.exit_code == 0
    assert outcome.truncated
    assert len(outcome.stdout) < 10_100
    assert re.search("\n… 99,99[0-9],[0-9]{3} bytes left out …\n", outcome.stdout), "lines are whole"
    assert outcome.stdout_lines == 9_090_910
    assert len(lines) < 300 * (outcome.duration + 2)
    assert lines[0] == ("stdout", "0123456789")


async def test_binary_output_becomes_text(tmp_path: Path) -> None:
    script = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 3)"
    outcome = await run(sys.executable, "-c", script, cwd=tmp_path)
    assert outcome.stdout == (bytes(range(256)) * 3).decode("utf-8", "replace")
    outcome.stdout.encode("utf-8")


async def test_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    pids: list[str] = []
    outcome = await run(
        "sh", "-c", "echo $$; sleep 300 & sleep 300",
        cwd=tmp_path, limit_s=0.4, on_line=lambda _, line: pids.append(line),
    )  # fmt: skip
    assert outcome.timed_out
    assert (outcome.exit_code, outcome.signal) == (None, "SIGTERM")
    assert group_is_empty(int(pids[0]))


async def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    pids: list[str] = []
    outcome = await run(
        "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done",
        cwd=tmp_path, limit_s=0.5, grace=0.3, on_line=lambda _, line: pids.append(line),
    )  # fmt: skip
    assert outcome.timed_out
    assert outcome.signal == "SIGKILL"
    assert group_is_empty(int(pids[0]))


async def test_output_written_while_being_stopped_is_kept(tmp_path: Path) -> None:
    script = "trap 'echo cleaned up; exit 7' TERM; echo ready; while :; do sleep 0.02; done"
    outcome = await run("sh", "-c", script, cwd=tmp_path, limit_s=0.5)
    assert outcome.stdout == "ready\ncleaned up\n"
    assert (outcome.exit_code, outcome.timed_out) == (7, True)


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
async def test_cancelling_leaves_nothing_behind(tmp_path: Path, trap: str) -> None:
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        run(
            "sh", "-c", f"{trap}sleep 300 & echo $$; sleep 300",
            cwd=tmp_path, grace=0.3, on_line=lambda _, line: ready.set_result(int(line)),
        )
    )  # fmt: skip
    group = await first(ready, task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert group_is_empty(group)


async def test_cancelling_twice_leaves_nothing_behind(tmp_path: Path) -> None:
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        run(
            "sh", "-c", "trap '' TERM; sleep 300 & echo $$; sleep 300",
            cwd=tmp_path, grace=0.3, on_line=lambda _, line: ready.set_result(int(line)),
        )
    )  # fmt: skip
    group = await first(ready, task)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=0.05)
    assert not done
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert group_is_empty(group)


@pytest.mark.parametrize("turns", range(12))
async def test_cancelling_while_it_starts_leaves_nothing_behind(tmp_path: Path, turns: int) -> None:
    read, write = os.pipe()
    try:
        task = asyncio.create_task(run("sh", "-c", "sleep 300 & sleep 300", cwd=tmp_path, lock_fd=write))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        os.close(write)
        # Only when every process that inherited the write end is gone does reading meet the end.
        assert await asyncio.wait_for(asyncio.to_thread(os.read, read, 1), 10) == b""
    finally:
        os.close(read)


async def test_background_processes_of_the_group_are_ended(tmp_path: Path) -> None:
    outcome = await run("sh", "-c", "sleep 300 & echo $$", cwd=tmp_path)
    assert (outcome.exit_code, outcome.left) == (0, 1)
    assert group_is_empty(int(outcome.stdout))


DAEMON = """
import os, sys, time
if os.fork():
    os.wait()
    {parent}
os.setsid()
if os.fork():
    os._exit(0)
os.setsid()
os.environ.clear()
os.closerange(0, 64)
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
time.sleep(300)
"""
"""A daemon as they are made: twice forked, in a session of its own, without descriptors."""


def started(path: Path) -> int:
    while not (path.exists() and path.read_text()):
        os.sched_yield()
    return int(path.read_text())


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs a child subreaper")


@pytest.mark.long
@on_linux
async def test_a_daemon_ends_with_the_time_of_its_command(tmp_path: Path) -> None:
    script, pid = DAEMON.format(parent="time.sleep(300)"), tmp_path / "pid"
    task = asyncio.create_task(run(sys.executable, "-c", script, str(pid), cwd=tmp_path, limit_s=2, grace=0.3))
    daemon = await asyncio.to_thread(started, pid)
    outcome = await task
    assert outcome.timed_out
    assert not is_running(daemon)


@on_linux
async def test_a_daemon_ends_with_a_command_that_ends_by_itself(tmp_path: Path) -> None:
    script, pid = DAEMON.format(parent="os._exit(5)"), tmp_path / "pid"
    wait = f"{sys.executable} -c '{script}' {pid}; while ! test -s {pid}; do sleep 0.01; done; exit 5"
    outcome = await run("sh", "-c", wait, cwd=tmp_path, grace=0.3)
    assert (outcome.exit_code, outcome.timed_out) == (5, False)
    assert not is_running(started(pid))


@on_linux
async def test_a_daemon_ends_when_its_command_is_cancelled(tmp_path: Path) -> None:
    script, pid = DAEMON.format(parent="os._exit(0)"), tmp_path / "pid"
    wait = f"{sys.executable} -c '{script}' {pid}; sleep 300"
    task = asyncio.create_task(run("sh", "-c", wait, cwd=tmp_path, grace=0.3))
    daemon = await asyncio.to_thread(started, pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(daemon)


@on_linux
async def test_processes_that_ignore_sigterm_and_start_others_are_all_killed(tmp_path: Path) -> None:
    script = "trap '' TERM; echo $$; while :; do setsid sh -c \"trap '' TERM; sleep 0.2\" & sleep 0.02; done"
    held, write = os.pipe()
    try:
        await run("sh", "-c", script, cwd=tmp_path, limit_s=0.6, grace=0.2, lock_fd=write)
        os.close(write)
        assert await asyncio.wait_for(asyncio.to_thread(os.read, held, 1), 10) == b""
    finally:
        os.close(held)


async def test_the_environment_is_exactly_the_one_given(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "LANG": "C", "ODD": "\udcff value"}
    outcome = await run("env", "-0", cwd=tmp_path, env=env)
    shown = {key: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for key, value in env.items()}
    assert dict(line.split("=", 1) for line in outcome.stdout.rstrip("\0").split("\0")) == shown


@on_linux
def test_without_a_subreaper_what_was_seen_is_ended(tmp_path: Path) -> None:
    driver = (
        "import os, sys; from hitl_tui.teams.command_init import CommandInit;"
        "CommandInit(int(sys.argv[1]), 0.3, 2.0, False).run(sys.argv[2:], dict(os.environ))"
    )
    pid = tmp_path / "pid"
    daemon = f"setsid sh -c 'echo $$ > {pid}; sleep 300' & sleep 300"
    reading, writing = os.pipe()
    init = subprocess.Popen([sys.executable, "-c", driver, str(writing), "sh", "-c", daemon], pass_fds=(writing,))
    os.close(writing)
    child = started(pid)
    init.terminate()
    assert init.wait(10) == 0
    with os.fdopen(reading) as status:
        assert status.read().split("\n")[:2] == ["started", "ended 15"]
    assert not is_running(child)


async def test_the_lock_descriptor_is_inherited(tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        run(
            "sh", "-c", "echo up; sleep 300",
            cwd=tmp_path, lock_fd=lock, on_line=lambda _, line: ready.set_result(line),
        )
    )  # fmt: skip
    await first(ready, task)
    os.close(lock)
    other = os.open(tmp_path / "lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


async def test_no_terminal_no_input_and_a_small_environment(tmp_path: Path) -> None:
    inherited = {"PATH": os.environ["PATH"], "AWS_SECRET": "x", "LANG": "C.UTF-8", "HITL_LANG": "ko"}
    env = command_environment({"DB_PASSWORD": "swordfish"}, inherited)
    script = "cat; env; test -t 0 || echo no terminal"
    outcome = await run("sh", "-c", script, cwd=tmp_path, env=env)
    lines = set(outcome.stdout.splitlines())
    assert {"DB_PASSWORD=swordfish", "NO_COLOR=1", "TERM=dumb", "LANG=C.UTF-8", "HITL_LANG=ko", "no terminal"} <= lines
    assert not any("AWS_SECRET" in line for line in lines)


async def test_secrets_are_masked_in_output_and_lines(tmp_path: Path) -> None:
    lines: list[str] = []
    secrets = {"DB_PASSWORD": "swordfish"}
    script = "printf sword; sleep 0.1; printf 'fish\\n'; printf 'swordfish\\n' >&2"
    outcome = await run("sh", "-c", script, cwd=tmp_path, secrets=secrets, on_line=lambda _, line: lines.append(line))
    assert (outcome.stdout, outcome.stderr) == ("‹DB_PASSWORD›\n", "‹DB_PASSWORD›\n")
    assert lines == ["‹DB_PASSWORD›"] * 2


async def test_a_signal_that_ended_it_is_named(tmp_path: Path) -> None:
    outcome = await run("sh", "-c", "kill -SEGV $$", cwd=tmp_path)
    assert (outcome.exit_code, outcome.signal) == (None, signal.SIGSEGV.name)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["no-such-program-here"], "was not found"),
        (["./plain.txt"], "not executable"),
        (["./garbage"], "can't be started"),
        (["echo", "a\0b"], "can't be started"),
        (["echo", "\ud800"], "can't be started"),
        (["echo", "x" * 10_000_000], "can't be started"),
        ([], "needs a program"),
    ],
)
async def test_what_can_not_be_started_is_one_sentence(tmp_path: Path, argv: list[str], words: str) -> None:
    (tmp_path / "plain.txt").write_text("not a program")
    (tmp_path / "garbage").write_bytes(b"\0\1\2 garbage")
    (tmp_path / "garbage").chmod(0o755)
    with pytest.raises(BadInput, match=words) as raised:
        await run(*argv, cwd=tmp_path)
    assert "\n" not in raised.value.message
    assert len(raised.value.message) < 300


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="doesn't exist"):
        await run("echo", cwd=tmp_path / "gone")
