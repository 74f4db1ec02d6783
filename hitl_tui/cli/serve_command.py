"""`hitl-tui serve`: jobs without a terminal (P2)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.settings import existing_workspace, operator_of
from hitl_tui.config.paths import given_path
from hitl_tui.console.idle_collector import importing
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.language import translate
from hitl_tui.policy.rule_check import folder_problems
from hitl_tui.wording.text_lines import shown

if TYPE_CHECKING:
    from pathlib import Path

    from hitl_tui.channels.runtime.job_journal import JobJournal
    from hitl_tui.channels.runtime.runtime import Source
    from hitl_tui.cli.job import Job

DONE, FAILURE = 0, 1
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
    root = existing_workspace(given.workspace).resolve()
    by = operator_of(given.by, job.environ, job.data).name
    with importing():
        from hitl_tui.channels.runtime.event_stream import EventStream
        from hitl_tui.channels.runtime.job_journal import JobJournal
        from hitl_tui.channels.runtime.runtime import Runtime
        from hitl_tui.supervisor.session_registry import SessionRegistry
    with ExitStack() as stack:
        async with SessionRegistry.open(job.data, job.environ, once=job.once) as registry:
            registry.data.check_writable()
            await registry.trust.use_once(root, by=by)
            journal = stack.enter_context(JobJournal.open(job.data))
            problems = folder_problems(root, registry.approvers.current)
            job.err.lines([shown(translate(said)) for said in (*registry.warnings, *problems)])
            runtime = Runtime(
                registry,
                journal,
                EventStream(_writer(job)),
                root=root,
                mode=Mode(given.mode) if given.mode else Mode.PLAN,
                by=by,
                concurrency=given.concurrency,
                hide=job.log.hide,
            )
            try:
                await runtime.run(_sources(job, journal, root), endless=given.jobs is not None)
            except* HitlError as group:
                raise _first(group) from group
    return FAILURE if runtime.failed else DONE


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


def _sources(job: Job, journal: JobJournal, root: Path) -> list[Source]:
    given = job.arguments
    if given.job_id and not given.query:
        raise BadInput(Message("--id names the job of --once."))
    if given.query:
        from hitl_tui.channels.runtime.job_lines import OneJob
        from hitl_tui.channels.runtime.jobs import job_of

        return [OneJob(job_of({"query": given.query, **({"id": given.job_id} if given.job_id else {})}, root))]
    if given.jobs is not None:
        from hitl_tui.channels.runtime.job_folder import JobFolder

        folder = given_path(given.jobs).absolute()
        if not folder.is_dir():
            raise BadInput(Message("The folder of jobs {} doesn't exist.", folder))
        return [JobFolder(folder, journal.name, root)]
    if sys.stdin is None or sys.stdin.isatty():
        job.err.lines([translate(Message("No jobs are given; what isn't finished goes on."))])
        return []
    from hitl_tui.channels.runtime.job_lines import JobLines

    return [JobLines(sys.stdin.fileno(), root)]
