"""Running one program: bounded output, a time limit, and nothing left behind.

`command_init` stands between this process and the program, so that its whole process tree is known and ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.teams.bounded_output import NOTES, Bounded, Lines, Masker, Notes
from hitl_tui.teams.command_init import GRACE, INIT, KILL_WAIT

OUTPUT_LIMIT = 256 * 1024
DRAIN = 1.0
ANSWER_FD = "TEAM_ANSWER_FD"
"""Variable with the number of the descriptor that an answer is written to, see `Exchange`."""


class StillRunning(HitlError):
    """A program that had to be stopped could not be; what it does is not known."""

    kind = "still_running"


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """How a program ended and what it wrote.

    Args:
        exit_code: what it returned; None when a signal ended it.
        signal: name of that signal, for example `SIGTERM`; empty otherwise.
        stdout, stderr: what it wrote; the middle left out when it was more than the limit.
        truncated: something was left out.
        duration: seconds.
        timed_out: it was stopped because its time was up.
        stdout_lines: lines it wrote to stdout, those left out included.
        left: processes that it had left running, and that were ended with it.
    """

    exit_code: int | None
    signal: str
    stdout: str
    stderr: str
    truncated: bool
    duration: float
    timed_out: bool
    stdout_lines: int = 0
    left: int = 0

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class Exchange:
    """What a program that belongs to this one is given, and its answer: it ends when this process does.

    Its answer comes through a descriptor whose number is in its environment as `ANSWER_FD`.

    Args:
        given: what stands on its standard input.
        limit: bytes of the answer that are kept.
        answer: what came, at most that much.
        size: bytes that came.
    """

    given: bytes
    limit: int
    answer: bytearray = field(default_factory=bytearray)
    size: int = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the answer."""
        self.size += len(data)
        self.answer += data[: max(0, self.limit - len(self.answer))]

    @property
    def whole(self) -> bool:
        """Nothing of the answer was left out."""
        return self.size <= self.limit


async def run_command(
    argv: Sequence[str],
    cwd: Path,
    timeout: float,  # noqa: ASYNC109 - the program is stopped in stages, which a surrounding timeout can't do
    env: Mapping[str, str],
    *,
    limit: int = OUTPUT_LIMIT,
    on_line: Callable[[str, str], None] | None = None,
    lock_fd: int = -1,
    secrets: Mapping[str, str] | None = None,
    grace: float = GRACE,
    notes: Notes = NOTES["en"],
    exchange: Exchange | None = None,
) -> CommandOutcome:
    """Run a program in a session of its own and return how it ended.

    It has no terminal, and nothing on its standard input unless something is exchanged with it. When its time is up,
    or the caller is cancelled, it and all its descendants get SIGTERM, after `grace` seconds SIGKILL, and this returns
    (or raises) only when that is over. What it leaves running when it ends by itself is ended the same way, also in
    other sessions.

    Args:
        argv: the program and its arguments; no shell looks at them.
        cwd: absolute path of the folder it runs in.
        timeout: seconds; 0 for no limit.
        env: its whole environment.
        limit: bytes kept of each of stdout and stderr.
        on_line: gets `stdout` or `stderr` and each line as it comes, at most some hundreds a second.
        lock_fd: descriptor the program inherits, held until its last descendant is gone; -1 for none.
        secrets: values by name that are masked in everything it writes.
        grace: seconds between SIGTERM and SIGKILL.
        notes: what stands in place of output that was left out.
        exchange: what it is given, and takes its answer; None for a program that knows nothing of this one.

    Raises:
        BadInput: the program doesn't exist, may not be run, or can't be started; nothing was done.
        StillRunning: it could not be stopped (another user's process, or one that hangs in the kernel).
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    run = _Run(loop, limit, on_line, secrets or {}, notes)
    spawning = asyncio.ensure_future(_spawn(run, argv, cwd, env, lock_fd, grace, exchange))
    try:
        transport = await asyncio.shield(spawning)
    except asyncio.CancelledError:
        # The program may have started: it has to be ended before the cancellation goes on.
        await _to_its_end(_end_spawned(run, spawning, grace))
        raise
    timed_out = False
    try:
        finished, _ = await asyncio.wait({run.ended}, timeout=timeout or None)
        timed_out = not finished
        if finished and run.open_pipes:
            await asyncio.wait({run.drained}, timeout=DRAIN)
    finally:
        # Without a break for the cancelled caller: nothing may survive it.
        await _to_its_end(_end(run, transport, grace))
    return run.outcome(loop.time() - began, timed_out)


@dataclass(slots=True)
class _Stream:
    masker: Masker
    kept: Bounded
    lines: Lines | None

    def feed(self, data: bytes, *, final: bool = False) -> None:
        shown = self.masker.feed(data, final=final)
        self.kept.feed(shown)
        if self.lines is not None:
            self.lines.feed(shown)
            if final:
                self.lines.close()


class _Run(asyncio.SubprocessProtocol):
    """What asyncio and the init process tell about one program: its output, its closed pipes, its end."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limit: int,
        on_line: Callable[[str, str], None] | None,
        secrets: Mapping[str, str],
        notes: Notes,
    ) -> None:
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.left: asyncio.Future[None] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self.answered: asyncio.Future[None] | None = None
        self.answering: asyncio.BaseTransport | None = None
        self.open_pipes = {1, 2}
        self.start_error = 0
        self.code: int | None = None
        self.remaining = ""
        self.outlived = 0
        self._clock = loop.time
        self._told = b""
        self._over = 2  # the status pipe and the init process
        self._streams = {
            fd: _Stream(Masker(secrets), Bounded(limit, notes=notes), self._lines(name, on_line, notes))
            for fd, name in ((1, "stdout"), (2, "stderr"))
        }

    def _lines(self, name: str, on_line: Callable[[str, str], None] | None, notes: Notes) -> Lines | None:
        return None if on_line is None else Lines(lambda line: on_line(name, line), self._clock, notes=notes)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._streams[fd].feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.open_pipes.discard(fd)
        if not self.open_pipes and not self.drained.done():
            self.drained.set_result(None)

    def status_received(self, data: bytes) -> None:
        """Take what the init process says."""
        *lines, self._told = (self._told + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            if word == "failed":
                self.start_error = int(rest)
            elif word in ("exited", "ended"):
                self.code = int(rest) if word == "exited" else -int(rest)
                _settle(self.ended)
            elif word == "left":
                self.outlived = int(rest)
                _settle(self.left)
            elif word == "remain":
                self.remaining = rest
            _settle(self.begun)

    def status_closed(self) -> None:
        """Take it that the init process has nothing more to say."""
        for future in (self.begun, self.ended):
            _settle(future)
        self._one_less()

    def process_exited(self) -> None:
        self._one_less()

    def _one_less(self) -> None:
        self._over -= 1
        if not self._over:
            _settle(self.gone)

    def outcome(self, duration: float, timed_out: bool) -> CommandOutcome:
        for stream in self._streams.values():
            stream.feed(b"", final=True)
        out, err = self._streams[1].kept, self._streams[2].kept
        code = 0 if self.code is None else self.code
        return CommandOutcome(
            exit_code=code if code >= 0 else None,
            signal=_signal_name(-code) if code < 0 else "",
            stdout=out.text(),
            stderr=err.text(),
            truncated=out.truncated or err.truncated,
            duration=round(duration, 3),
            timed_out=timed_out,
            stdout_lines=out.line_count,
            left=self.outlived,
        )


class _Status(asyncio.Protocol):
    """The pipe that the init process tells its news through."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def data_received(self, data: bytes) -> None:
        self._run.status_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.status_closed()


class _Answer(asyncio.Protocol):
    """The pipe that a program's answer comes through."""

    def __init__(self, exchange: Exchange, ended: asyncio.Future[None]) -> None:
        self._exchange = exchange
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._exchange.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        _settle(self._ended)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def _spawn(
    run: _Run,
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    lock_fd: int,
    grace: float,
    exchange: Exchange | None,
) -> asyncio.SubprocessTransport:
    if not argv:
        raise BadInput(Message("A command needs a program to run."))
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    passed = [writing, lock_fd] if lock_fd >= 0 else [writing]
    opened, env = [writing], dict(env)
    init = (sys.executable, "-I", "-S", "-X", "utf8", INIT)
    has_lc_ctype, outlives = "1" if "LC_CTYPE" in env else "0", "1" if exchange is None else "0"
    try:
        await loop.connect_read_pipe(lambda: _Status(run), os.fdopen(reading, "rb"))
        if exchange is not None:
            opened.append(answer := await _answer_pipe(run, exchange))
            passed.append(answer)
            env[ANSWER_FD] = str(answer)
        transport, _ = await loop.subprocess_exec(
            lambda: run,
            *(*init, str(writing), str(grace), str(KILL_WAIT), has_lc_ctype, outlives, *argv),
            stdin=subprocess.DEVNULL if exchange is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=passed,
        )
    except (OSError, ValueError) as error:
        if not await asyncio.to_thread(cwd.is_dir):
            raise BadInput(Message("The folder {} doesn't exist, so {} can't run in it.", cwd, argv[0])) from error
        raise BadInput(Message("The program {} can't be started: {}.", argv[0], error)) from error
    finally:
        for descriptor in opened:
            os.close(descriptor)
    await run.begun
    if run.start_error:
        await run.gone
        transport.close()
        raise BadInput(_why_not_started(argv[0], run.start_error))
    if exchange is not None and isinstance(given := transport.get_pipe_transport(0), asyncio.WriteTransport):
        given.write(exchange.given)
        given.close()  # once all of it is written
    return transport


async def _answer_pipe(run: _Run, exchange: Exchange) -> int:
    """Return the descriptor that a program is to write its answer to."""
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    ended = run.answered = loop.create_future()
    run.answering, _ = await loop.connect_read_pipe(lambda: _Answer(exchange, ended), os.fdopen(reading, "rb"))
    return writing


def _why_not_started(program: str, number: int) -> str:
    if number == errno.ENOENT:
        return f"The program {program} was not found (or the interpreter its first line names)."
    if number == errno.EACCES:
        return f"The program {program} may not be run: it is not executable or not permitted."
    return f"The program {program} can't be started: {os.strerror(number)}."


async def _end_spawned(run: _Run, spawning: asyncio.Future[asyncio.SubprocessTransport], grace: float) -> None:
    try:
        transport = await spawning
    except BadInput:
        return
    await _end(run, transport, grace)


async def _end(run: _Run, transport: asyncio.SubprocessTransport, grace: float) -> None:
    """End what is left of the program and its descendants, take what its pipes still hold, close them.

    Raises:
        StillRunning: something is left.
    """
    try:
        if run.ended.done():  # the init process goes by itself unless something is left; to signal it is to reap it
            await asyncio.wait({run.gone, run.left}, timeout=DRAIN, return_when=asyncio.FIRST_COMPLETED)
        if not run.gone.done():
            with contextlib.suppress(ProcessLookupError):
                transport.terminate()
            await asyncio.wait({run.gone}, timeout=grace + KILL_WAIT + DRAIN)
        if run.remaining or not run.gone.done():
            pids = run.remaining or str(transport.get_pid())
            raise StillRunning(
                Message("Could not end process {} (another user's, or hanging); it is still running.", pids)
            )
        if run.code is None:
            raise StillRunning(
                Message("What watched over the command was killed, so the command may still be running.")
            )
        if run.open_pipes:
            await asyncio.wait({run.drained}, timeout=DRAIN)
        if run.answered is not None and not run.answered.done():
            await asyncio.wait({run.answered}, timeout=DRAIN)
    finally:
        transport.close()
        if run.answering is not None:
            run.answering.close()


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await `work` without a break; a cancellation that comes meanwhile is raised when it is done."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
