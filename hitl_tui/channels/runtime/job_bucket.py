"""Jobs as objects in S3, which several runtimes may share: each object is taken by one of them, once.

`PREFIX/NAME.json` is one job, whose id is its name unless it has another. A runtime claims it by an object of the same
name under `PREFIX-claimed/`, which can be put once, reads it, puts the job on record, and deletes it. One that died in
between finds its claim at the next start. What is no job goes to `PREFIX-refused/`, with the reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.channels.runtime.events import Failed
from hitl_tui.channels.runtime.jobs import Job, read_job
from hitl_tui.channels.runtime.session_events import stopped_event
from hitl_tui.core.errors import BadInput, StorageError

if TYPE_CHECKING:
    from hitl_tui.channels.plan_feedback.s3_store import S3Store

_CLAIMED, _REFUSED = "claimed", "refused"
_LONGEST = 60.0

log = logging.getLogger(__name__)


class JobBucket:
    """A prefix of a bucket with jobs.

    Args:
        store: where.
        runtime: what this runtime is called; the same after a restart.
        root: the folder that jobs work in, or below it.
        interval: seconds between looks.
    """

    def __init__(self, store: S3Store, runtime: str, root: Path, interval: float) -> None:
        self._store, self._runtime, self._root, self._interval = store, runtime, root, interval
        self._names: dict[str, str] = {}
        self._others: frozenset[str] = frozenset()

    async def jobs(self) -> AsyncIterator[Job | Failed]:
        pause = self._interval
        while True:
            try:
                names = await self._store.names()
                self._others &= frozenset(names)
                for name in names:
                    if name not in self._others and (found := await self._take(name)) is not None:
                        yield found
                pause = self._interval
            except StorageError as error:  # it may come back
                log.warning("jobs can't be read now: %s", error.message)
                pause = min(_LONGEST, pause * 2)
            await asyncio.sleep(pause)

    async def taken(self, job: Job) -> None:
        """Delete its object: it is on record. One that can't be deleted now is read again, and known by its id."""
        if name := self._names.pop(job.id, ""):
            try:
                await self._store.delete_document(name)
            except StorageError as error:
                log.warning("%s can't be deleted now: %s", name, error.message)

    async def _take(self, name: str) -> Job | Failed | None:
        """Return the job of a name, or why it is none; None for what another runtime takes, or is gone."""
        claim = json.dumps({"runtime": self._runtime}).encode()
        ours = await self._store.put_document(name, claim, _CLAIMED, new=True)
        if not ours and await self._store.document(name, _CLAIMED) != claim:
            self._others |= {name}
            return None
        if (data := await self._store.document(name)) is None:
            return None
        try:
            job = read_job(data, self._root, name)
        except BadInput as error:
            reason = {"reason": error.message, "object": data.decode(errors="replace")}
            await self._store.put_document(name, json.dumps(reason, ensure_ascii=False).encode(), _REFUSED)
            await self._store.delete_document(name)
            return stopped_event(Job(f"{name}.json", "", ""), error.message, final=True, begun=False)
        self._names[job.id] = name
        return job
