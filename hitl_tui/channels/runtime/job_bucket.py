"""Jobs as objects in S3, which several runtimes may share: each object is taken by one of them, once.

`PREFIX/NAME.json` is one job, whose id is its name unless it has another. A runtime claims it by an object of the same
name under `PREFIX-claimed/`, which can be put once, reads it, puts the job on record, and deletes it. One that died in
between finds its claim at the next start. What is no job goes to `PREFIX-refused/`, with the reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.channels.plan_feedback.documents import Listed
from hitl_tui.channels.runtime.events import Failed
from hitl_tui.channels.runtime.jobs import Job, read_job
from hitl_tui.channels.runtime.session_events import stopped_event
from hitl_tui.core.errors import BadInput, StorageError

if TYPE_CHECKING:
    from hitl_tui.channels.plan_feedback.document_bucket import DocumentBucket

_CLAIMED, _REFUSED = "claimed", "refused"
_LONGEST = 60.0

log = logging.getLogger(__name__)


class JobBucket:
    """A prefix of a bucket with jobs.

    Args:
        documents: where.
        runtime: what this runtime is called; the same after a restart.
        root: the folder that jobs work in, or below it.
        interval: seconds between looks.
    """

    def __init__(self, documents: DocumentBucket, runtime: str, root: Path, interval: float) -> None:
        self._documents, self._runtime, self._root, self._interval = documents, runtime, root, interval
        self._taking: dict[str, Listed] = {}
        self._others: frozenset[str] = frozenset()
        self._stuck: dict[str, _Stuck] = {}
        self._failures: Counter[str] = Counter()

    async def jobs(self) -> AsyncIterator[Job | Failed]:
        pause = self._interval
        while True:
            try:
                listed = await self._documents.list()
                self._others &= listed.keys()
                versions = {name: one.version for name, one in listed.items()}
                self._stuck = {name: one for name, one in self._stuck.items() if versions.get(name) == one.version}
                self._failures = Counter({name: self._failures[name] for name in self._failures if name in listed})
                for one in sorted(listed.values(), key=lambda one: (self._failures[one.name], one.name)):
                    if (found := await self._look_at(one)) is not None:
                        yield found
                pause = self._interval
            except StorageError as error:  # it may come back
                log.warning("jobs can't be read now: %s", error.message)
                pause = min(_LONGEST, pause * 2)
            await asyncio.sleep(pause)

    async def taken(self, job: Job) -> None:
        """Delete its object: it is on record."""
        if listed := self._taking.pop(job.id, None):
            await self._delete(listed)

    async def _look_at(self, listed: Listed) -> Job | Failed | None:
        """Return the job of an object that wasn't dealt with, or why it is none; one that fails is the last next time.

        Raises:
            StorageError: it can't be read now.
        """
        if listed.name in self._others:
            return None
        if stuck := self._stuck.get(listed.name):
            if stuck.next_try <= time.monotonic():
                await self._delete(listed)
            return None
        try:
            return await self._take(listed)
        except StorageError:
            self._failures[listed.name] += 1
            raise

    async def _take(self, listed: Listed) -> Job | Failed | None:
        """Return the job of a name, or why it is none; None for what another runtime takes, or is gone."""
        name, claim = listed.name, json.dumps({"runtime": self._runtime}).encode()
        if not await self._documents.claim(name, claim, _CLAIMED):
            held = await self._documents.get(name, _CLAIMED)
            if held is None or held.data != claim:
                self._others |= {name}
                return None
        found = await self._documents.get(name)
        if found is None or (data := found.data) is None:
            return None
        try:
            job = read_job(data, self._root, name)
        except BadInput as error:
            reason = {"reason": error.message, "object": data.decode(errors="replace")}
            await self._documents.put(name, json.dumps(reason, ensure_ascii=False).encode(), _REFUSED)
            await self._delete(listed)
            return stopped_event(Job(f"{name}.json", "", ""), error.message, final=True, begun=False)
        self._taking[job.id] = listed
        return job

    async def _delete(self, listed: Listed) -> None:
        """Delete an object that was dealt with; one that can't be deleted now isn't read again."""
        try:
            await self._documents.delete(listed.name, listed.version)
        except StorageError as error:
            stuck = self._stuck.setdefault(listed.name, _Stuck(listed.version))
            stuck.tries += 1
            stuck.next_try = time.monotonic() + min(_LONGEST, self._interval * 2 ** min(stuck.tries, 10))
            if stuck.tries == 1:
                log.warning("%s was dealt with, and can't be deleted now: %s", listed.name, error.message)
        else:
            self._stuck.pop(listed.name, None)


@dataclass(slots=True)
class _Stuck:
    """An object that was dealt with and couldn't be deleted.

    Args:
        version: which one.
        tries: how often that failed.
        next_try: when it is tried again, by the monotonic clock.
    """

    version: str
    tries: int = 0
    next_try: float = 0.0
