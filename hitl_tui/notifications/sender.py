"""The process that sends: reads the record, and tells each target until it was told.

It decides nothing and writes nothing into the record. It ends when nothing is left to tell and no half time or deadline
comes within a day; `wake` begins another one then.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from hitl_tui.config.notify_settings import (
    LacksVariable,
    NotifySettings,
    filled_address,
    scheme_of,
)
from hitl_tui.config.own_settings import own_settings
from hitl_tui.core.errors import HitlError
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask, one_line
from hitl_tui.notifications.moments import Origin, Text, Told
from hitl_tui.notifications.outbox import Outbox, Queued
from hitl_tui.notifications.record_reader import SESSIONS, RecordReader
from hitl_tui.notifications.wake import FOLDER, LACKING, NEXT, stamp, take_lock
from hitl_tui.policy.trust_book import trust_in

log = logging.getLogger(__name__)

_LOOK = 0.25
"""Seconds between looks whether somebody called."""
_READ = 5.0
"""Seconds between looks at the record where nobody called."""
_AHEAD = timedelta(days=1)
"""Who is to be told something within that time is waited for."""
_ALONE = 5
"""Messages to one target at once that are sent one by one; more are sent as one."""
_LONGEST_WAIT = 600.0
_HANDING_OVER = 30.0

Send = Callable[[str, Text], str]
"""Sends a text to an address; returns why it couldn't, empty where it could. It may block."""
Words = Callable[[Sequence[Told], bool], Text]
"""Returns the text of what is told at once, with or without what calls would run with."""


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody to tell.

    Args:
        address: as it is written, with names instead of secrets.
        name: what people are shown of it.
        workspace: the folder whose settings name it; empty for the person's own.
        settings: the settings that it is of.
        trusted: they may be obeyed.
    """

    address: str
    name: str
    workspace: str
    settings: NotifySettings
    trusted: bool

    @property
    def id(self) -> str:
        """What it is kept by."""
        return sha256(self.address.encode(errors="surrogateescape")).hexdigest()[:16]


class Sender:
    """Reads and sends while there is something to tell.

    Args:
        data: the data folder.
        environ: has the secrets of addresses.
        workspace_of: returns the folder whose settings count for a session, None for no folder's.
        origin_of: returns where requests of a session come from, by its id; of a task, by its folder.
        words: makes texts.
        send: sends them.
        now: the time, ISO 8601, UTC.
        first_wait: seconds until a message that couldn't be sent is tried again; each time it doubles.
    """

    def __init__(
        self,
        data: Path,
        environ: Mapping[str, str],
        workspace_of: Callable[[str], Path | None],
        origin_of: Callable[[str | Path], Origin],
        words: Words,
        send: Send,
        now: Callable[[], str] = utc_now,
        first_wait: float = 5.0,
    ) -> None:
        self._data, self._environ, self._workspace_of, self._origin_of = data, environ, workspace_of, origin_of
        self._words, self._send, self._now, self._first_wait = words, send, now, first_wait
        self._folder = data / FOLDER
        self._lacks: set[str] = set()
        self._answered = 0
        self._writing = asyncio.Lock()  # there is one connection

    async def run(self, lock: int | None) -> None:
        """Send until nothing is left to tell.

        Args:
            lock: holds the sender's lock; it is let go. None waits for another sender, which hands over.
        """
        if lock is None:
            lock = await self._take_over()
        while lock is not None:
            try:
                with Outbox.open(self._data, self._now()) as outbox:
                    await self._work(outbox)
            finally:
                (self._folder / LACKING).unlink(missing_ok=True)
                os.close(lock)
            # Who called since then found the lock taken.
            called = stamp(self._folder) != self._answered and not self._is_succeeded
            lock = take_lock(self._folder) if called else None

    @property
    def _is_succeeded(self) -> bool:
        """Another sender waits, which has a variable that this one lacks."""
        return bool(self._lacks) and (self._folder / NEXT).exists()

    async def _take_over(self) -> int | None:
        """Return the lock once the living sender has let it go; None where it doesn't."""
        (self._folder / NEXT).touch(mode=0o600)
        try:
            for _ in range(int(_HANDING_OVER / _LOOK)):
                if (lock := take_lock(self._folder)) is not None:
                    return lock
                await asyncio.sleep(_LOOK)
        finally:
            (self._folder / NEXT).unlink(missing_ok=True)
        return None

    async def _work(self, outbox: Outbox) -> None:
        reader = RecordReader(self._data, self._environ, outbox)
        outbox.forget(self._now())
        sending: dict[tuple[str, str], asyncio.Task[None]] = {}
        while True:
            self._answered = stamp(self._folder)
            targets = await self._read(outbox, reader)
            self._begin(outbox, targets, sending)
            if self._is_succeeded:
                await asyncio.gather(*sending.values())
                return
            if not sending and not self._expects(outbox):
                return
            await self._pause(outbox, sending)

    async def _read(self, outbox: Outbox, reader: RecordReader) -> dict[tuple[str, str], Target]:
        """Read what is new, and queue it for those who want to know; return the targets of all that is queued.

        What is queued for a target that no settings name any more is dropped.
        """
        now = self._now()
        known: dict[str, list[Target] | None] = {}

        async def of(workspace: str) -> list[Target]:
            if workspace not in known:
                known[workspace] = await self._targets(workspace)
            return known[workspace] or []

        async with self._writing:
            with outbox.at_once():
                for place, told in await reader.read(now):
                    session, task = told.request.session, Path(place).parent if place != SESSIONS else None
                    folder = task or self._workspace_of(session)
                    told = replace(told, origin=self._origin_of(task or session))
                    for target in [*await of(""), *(await of(str(folder)) if folder is not None else ())]:
                        if target.trusted and told.moment in target.settings.on:
                            outbox.queue(told, target.id, target.name, target.workspace, now)
                workspaces = outbox.workspaces()
                for workspace in workspaces:
                    named = [target.id for target in await of(workspace)]
                    if known[workspace] is not None:
                        outbox.drop_others(workspace, named)
        return {(workspace, target.id): target for workspace in workspaces for target in await of(workspace)}

    async def _targets(self, workspace: str) -> list[Target] | None:
        """Return the targets that a folder's settings name, or the person's own; None where they can't be used."""
        trusted = True
        try:
            if workspace:
                found = await trust_in(Path(workspace), self._data)
                settings, file, trusted = found.declared.notify, "hitl.toml", found.trusted
            else:
                own = await asyncio.to_thread(own_settings, self._data)
                settings, file = own.notify, "settings.toml"
        except (HitlError, OSError) as error:
            log.warning("%s", error)
            return None
        return [
            Target(address, f"{scheme_of(address)} ({file}, target {n})", workspace, settings, trusted)
            for n, address in enumerate(settings.targets, 1)
        ]

    def _begin(
        self,
        outbox: Outbox,
        targets: Mapping[tuple[str, str], Target],
        sending: dict[tuple[str, str], asyncio.Task[None]],
    ) -> None:
        """Begin to send what is due, to each target at its own speed."""
        for key in [key for key, task in sending.items() if task.done()]:
            sending.pop(key).result()
        due: dict[tuple[str, str], list[Queued]] = {}
        for one in outbox.due(self._now()):
            due.setdefault((one.workspace, one.target), []).append(one)
        for key, messages in due.items():
            if key in sending:
                continue
            target = targets.get(key)
            if target is None or not target.trusted:
                unused = Message("the settings that name it can't be used")
                said = unused if target is None else Message("the folder whose settings name it isn't trusted")
                outbox.failed(messages, said, self._now(), _LONGEST_WAIT)
            else:
                sending[key] = asyncio.create_task(self._deliver(outbox, target, messages))

    async def _deliver(self, outbox: Outbox, target: Target, messages: Sequence[Queued]) -> None:
        """Send messages in order, until one can't be sent."""
        parts = [messages] if len(messages) > _ALONE else [[one] for one in messages]
        for part in parts:
            problem = await self._try(target, part)
            if problem:
                wait = min(_LONGEST_WAIT, self._first_wait * 2 ** min(part[0].tries, 20))
                async with self._writing:
                    outbox.failed(messages[messages.index(part[0]) :], problem, self._now(), wait)
                return
            async with self._writing:
                outbox.sent(part)

    async def _try(self, target: Target, part: Sequence[Queued]) -> str:
        try:
            address, secrets = filled_address(target.address, self._environ)
        except LacksVariable as error:
            self._lacks.update(error.names)
            (self._folder / LACKING).write_text("\n".join(sorted(self._lacks)), encoding="utf-8")
            return error.message
        try:
            text = self._words([one.told for one in part], target.settings.arguments)
        except (HitlError, ValueError, LookupError, TypeError) as error:  # of a request that another version wrote
            return Message("it can't be put into words: {}", type(error).__name__)
        problem = await asyncio.to_thread(self._send, address, text)
        return problem if isinstance(problem, Message) else one_line(mask(problem, secrets), 300)

    def _expects(self, outbox: Outbox) -> bool:
        """Return whether something is to be told within a day, as far as is known."""
        until = (datetime.fromisoformat(self._now()) + _AHEAD).isoformat()
        return bool(outbox.next_try()) or "" < outbox.next_time() <= until

    async def _pause(self, outbox: Outbox, sending: Mapping[tuple[str, str], asyncio.Task[None]]) -> None:
        """Wait until something was sent, somebody called, or a time has come."""
        for _ in range(int(_READ / _LOOK)):
            if sending:
                done, _pending = await asyncio.wait(
                    sending.values(), timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED
                )
            else:
                done = set()
                await asyncio.sleep(_LOOK)
            times = [at for at in (outbox.next_time(), outbox.next_try()) if at]
            come = bool(times) and min(times) <= self._now() and not sending
            if done or come or stamp(self._folder) != self._answered:
                return
