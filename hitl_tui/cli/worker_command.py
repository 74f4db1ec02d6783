"""`hitl-tui worker`: carries the sessions of a database, with any number of others (X1)."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.cli.metrics_option import metrics_of
from hitl_tui.cli.settings import existing_workspace
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.ledger.existing_record import named_database
from hitl_tui.supervisor.module_loading import importing

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job
    from hitl_tui.config.workspace_copy import WorkspaceCopy

DONE = 0
_MOST = 1_000


async def worker(job: Job) -> int:
    """Carry sessions until a signal comes.

    Raises:
        BadInput: a folder, name or number can't be used, or no database is named.
        StorageError: the database can't be used.
    """
    given = job.arguments
    if not named_database(job.environ):
        raise BadInput(Message("A worker needs a database: --database ADDRESS, or HITL_DATABASE."))
    if not 1 <= given.concurrency <= _MOST:
        raise BadInput(Message("--concurrency takes a number from 1 to {}.", _MOST))
    copies = _copies(job)
    with importing():
        from hitl_tui.supervisor.session_registry import SessionRegistry
    async with SessionRegistry.open(job.data, job.environ, once=job.once) as registry:
        with importing():
            from hitl_tui.channels.worker import SessionWorker
            from hitl_tui.supervisor.admin import parse_age
        registry.tell_warnings(job.say)
        name = given.name or f"worker-{os.getpid()}"
        for copy in copies:
            job.say(Message("{} carries {} in {}.", f"{name}@{socket.gethostname()}", copy.shown, copy.folder))
        service = SessionWorker(
            registry,
            copies,
            name=name,
            concurrency=given.concurrency,
            tell=job.say,
            hide=job.log.hide,
        )
        service.prune_after = parse_age(given.older_than) if given.older_than is not None else None
        async with metrics_of(job, registry, lambda: service.open_now) as figures:
            service.count = figures.carried if figures is not None else None
            await service.run()
    return DONE


def _copies(job: Job) -> list[WorkspaceCopy]:
    """Return the workspaces that were named, of those whose queues were asked for.

    Raises:
        BadInput: a folder isn't there, or two have the same name; a name is none of theirs.
    """
    from hitl_tui.config.workspace_copy import workspace_copy

    found: dict[str, WorkspaceCopy] = {}
    for text in job.arguments.folders or (".",):
        name, equals, folder = text.partition("=")
        name, folder = (name.strip(), folder) if equals and "/" not in name else ("", text)
        copy = workspace_copy(Path(existing_workspace(folder)), name)
        if copy.name in found:
            raise BadInput(Message("Two workspaces are called {}; name one of them: NAME=DIR.", copy.name))
        found[copy.name] = copy
    wanted = [name.strip() for name in job.arguments.queues.split(",") if name.strip()]
    for name in wanted:
        if name not in found:
            raise BadInput(Message("No workspace here is called {}; there is {}.", name, ", ".join(found)))
    return [copy for copy in found.values() if not wanted or copy.name in wanted]
