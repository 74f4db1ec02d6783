"""`hitl-tui serve`: jobs without a terminal (P2)."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.metrics_option import metrics_of
from hitl_tui.cli.settings import existing_workspace, operator_of
from hitl_tui.config.extras import install_help
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput, HitlError, MissingExtra
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.language import translate
from hitl_tui.policy.rule_check import folder_problems
from hitl_tui.supervisor.module_loading import importing
from hitl_tui.web.auth import authority
from hitl_tui.web.listening import given_address, listening

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from hitl_tui.channels.runtime.job_journal import JobJournal
    from hitl_tui.channels.runtime.remote_answers import RemoteAnswers
    from hitl_tui.channels.runtime.runtime import Runtime, Source
    from hitl_tui.cli.job import Job

DONE, FAILURE = 0, 1
TOKEN = "HITL_SERVE_TOKEN"  # noqa: S105 - the name of a variable
_PORT = 8080
_EXTRA = ("starlette", "uvicorn")
_MOST = 1_000

log = logging.getLogger(__name__)


async def serve(job: Job) -> int:
    """Carry jobs out until none is left, or a signal comes; return the exit code.

    Raises:
        BadInput: a folder or number can't be used.
        StorageError: what was taken can't be put on record.
    """
    given = job.arguments
    if given.schema:
        from hitl_tui.channels.runtime.events import schema

        job.out.document(schema())
        return DONE
    if not 1 <= given.concurrency <= _MOST:
        raise BadInput(Message("--concurrency takes a number from 1 to {}.", _MOST))
    listener = _listener(job) if given.listen is not None else None
    if given.no_token and listener is None:
        raise BadInput(Message("--no-token says who may come in with --listen."))
    root = existing_workspace(given.workspace).resolve()
    by = operator_of(given.by, job.environ, job.data).name
    with importing():
        from hitl_tui.channels.runtime.event_stream import EventStream
        from hitl_tui.channels.runtime.feedback_board import FeedbackBoard
        from hitl_tui.channels.runtime.job_journal import JobJournal
        from hitl_tui.channels.runtime.remote_answers import RemoteAnswers
        from hitl_tui.channels.runtime.runtime import Runtime
        from hitl_tui.supervisor.session_registry import SessionRegistry
    async with SessionRegistry.open(job.data, job.environ, once=job.once) as registry:
        registry.data.check_writable()
        await registry.trust.use_once(root, by=by)
        answers, board = RemoteAnswers(registry), None
        settings = registry.plan_settings(await registry.trust.of(root))
        if given.feedback:
            from hitl_tui.channels.plan_feedback.store_address import store_at

            board = FeedbackBoard(store_at(given.feedback), answers, job.say, settings.poll_interval)
        registry.tell_warnings(job.say)
        for said in folder_problems(root, registry.approvers.current):
            job.say(said)
        with JobJournal.open(job.data) as journal:
            runtime = Runtime(
                registry,
                journal,
                EventStream(_writer(job), job.out.masked),
                root=root,
                mode=Mode(given.mode) if given.mode else Mode.PLAN,
                by=by,
                concurrency=given.concurrency,
                environ=job.environ,
                hide=job.log.hide,
                board=board,
            )
            answers.outdated = runtime.look_at
            sources = _sources(job, journal, root, settings.poll_interval)
            try:
                async with metrics_of(job, registry, lambda: runtime.unfinished), asyncio.TaskGroup() as group:
                    beside = [group.create_task(board.run(lambda: runtime.asked))] if board is not None else []
                    if listener is not None:
                        beside.append(group.create_task(_listen(job, runtime, answers, listener)))
                    endless = given.jobs is not None or listener is not None
                    await runtime.run(sources, endless=endless)
                    for task in beside:
                        task.cancel()
            except* HitlError as errors:
                raise _first(errors) from errors
    return FAILURE if runtime.failed else DONE


def _listener(job: Job) -> socket.socket:
    """Return a socket that listens, where who may come in is said.

    Raises:
        BadInput: the address can't be used, or it isn't said.
        MissingExtra: what serves isn't installed.
    """
    if any(find_spec(name) is None for name in _EXTRA):
        raise MissingExtra(Message('Serving over HTTP needs the extra "serve".'), help=install_help("serve"))
    host, port = given_address(job.arguments.listen or "", "--listen", _PORT)
    token = job.environ.get(TOKEN, "").strip()
    if token and job.arguments.no_token:
        raise BadInput(Message("{} holds a token, and --no-token says that none is needed.", TOKEN))
    if not ipaddress.ip_address(host).is_loopback and not token and not job.arguments.no_token:
        raise BadInput(
            Message("{} isn't a loopback address, so {} must hold the token of programs.", host, TOKEN),
            help=Message("To let in whoever reaches the address: --no-token"),
        )
    return listening(host, port)


async def _listen(job: Job, runtime: Runtime, answers: RemoteAnswers, listener: socket.socket) -> None:
    from hitl_tui.channels.callers import Callers
    from hitl_tui.channels.http_serving import serve_http
    from hitl_tui.channels.runtime.http import site
    from hitl_tui.policy.approvers import ApproverFile

    host, port = listener.getsockname()[:2]
    token = job.environ.get(TOKEN, "").strip()
    if token:
        job.log.hide({TOKEN: token})
    callers = Callers(ApproverFile(job.data), token, TOKEN)
    local = ipaddress.ip_address(host).is_loopback
    application = site(runtime, answers, callers, open=not token, local_port=port if local else 0)
    address = f"http://{authority(host, port)}"
    await serve_http(application, listener, lambda: job.say(Message("The runtime is at {}", address)))


def _first(group: BaseExceptionGroup[HitlError]) -> HitlError:
    while isinstance(group.exceptions[0], BaseExceptionGroup):
        group = group.exceptions[0]
    return group.exceptions[0]


def _writer(job: Job) -> Any:
    def write(event: Mapping[str, Any]) -> bool:
        try:
            job.out.document(event)
        except HitlError as error:
            log.warning("%s", error.message)
            return False
        return not job.out.gone

    return write


def _sources(job: Job, journal: JobJournal, root: Path, interval: float) -> list[Source]:
    given = job.arguments
    if given.job_id and given.query is None:
        raise BadInput(Message("--id names the job of --once."))
    if given.query is not None:
        from hitl_tui.channels.runtime.job_lines import OneJob
        from hitl_tui.channels.runtime.jobs import job_of

        return [OneJob(job_of({"query": given.query, **({"id": given.job_id} if given.job_id else {})}, root))]
    if given.jobs is not None and given.jobs.startswith("s3://"):
        from hitl_tui.channels.plan_feedback.store_address import bucket_at
        from hitl_tui.channels.runtime.job_bucket import JobBucket

        if not given.jobs.removeprefix("s3://").rstrip("/").partition("/")[2]:
            raise BadInput(Message("--jobs takes a folder, or a prefix of a bucket: s3://BUCKET/PREFIX."))
        return [JobBucket(bucket_at(given.jobs), journal.name, root, interval)]
    if given.jobs is not None:
        from hitl_tui.channels.runtime.job_folder import JobFolder

        folder = given_path(given.jobs).absolute()
        if not folder.is_dir():
            raise BadInput(Message("The folder of jobs {} doesn't exist.", folder))
        return [JobFolder(folder, journal.name, root)]
    if given.listen is not None:
        return []
    if sys.stdin is None or sys.stdin.isatty():
        job.err.lines([translate(Message("No jobs are given; what isn't finished goes on."))])
        return []
    from hitl_tui.channels.runtime.job_lines import JobLines

    return [JobLines(sys.stdin.fileno(), root)]
