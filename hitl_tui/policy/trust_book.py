"""`TrustBook`: trust in workspaces as the ledger keeps it, granted and revoked on record."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from hitl_tui.config.declared_commands import CommandDeclaration, command_environment, literal_text
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.config.workspace_files import WorkspaceFiles, read_files, real_path
from hitl_tui.core.errors import BadInput, ConfigError, StorageError
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.existing_record import existing_record
from hitl_tui.ledger.protocols import Streams
from hitl_tui.ledger.records import GENESIS, LEDGER_FILE, Entry, Head, entry_hash
from hitl_tui.ledger.signatures import remembered_head
from hitl_tui.policy.executable_files import WHOLE, Bindings, Surroundings, check_pins
from hitl_tui.policy.harmless_commands import executes_nothing_else
from hitl_tui.policy.own_folders import own_code
from hitl_tui.policy.workspace_trust import (
    GRANTED,
    MADE,
    ONCE,
    RESET,
    REVOKED,
    STREAM,
    TrustRecord,
    WorkspaceTrust,
    fold_trust,
    judge_trust,
)

_EVERY = 0.25
"""Seconds between looks at what other processes granted or revoked."""

_NAMED = 3
"""Files that are named where some changed."""

_PAGE = 500
_FULL = 64


class TrustBook:
    """What the operator of one data folder trusts.

    Args:
        ledger: where it is kept.
        data: the data folder, whose starters the program made itself.
        once: digests that are trusted for this one call.
        now: the clock.
        bindings: finds what previews could execute; made unless given.
    """

    def __init__(
        self,
        ledger: Streams,
        data: Path,
        once: Collection[str] = (),
        now: Callable[[], str] = utc_now,
        bindings: Bindings | None = None,
        place: Path | str | None = None,
    ) -> None:
        self._bindings = bindings or Bindings(own=(data,))
        self._ledger = ledger
        self._data = data
        self._place = data / LEDGER_FILE if place is None else place
        self._once = frozenset(once)
        self._now = now
        self._head: Head | None = None
        self._cut = False
        """The end of the record was cut off, a revocation perhaps: nothing is trusted until it is said anew."""
        self._looked = float("-inf")
        self._records: Mapping[str, TrustRecord] = {}

    @property
    def records(self) -> Mapping[str, TrustRecord]:
        """The newest grant of each folder, by real path, as of the last look."""
        return self._records

    async def look(self, *, at_once: bool = False) -> bool:
        """Read the record again where somebody wrote to it; return whether it did change.

        Args:
            at_once: also when the last look was a moment ago.

        Raises:
            StorageError: the record was changed by something else than this program; nothing is trusted then.
        """
        if not at_once and time.monotonic() - self._looked < _EVERY:
            return False
        head = await self._ledger.head(STREAM)
        if head != self._head:
            entries = await self._entries(head)
            last = await asyncio.to_thread(remembered_head, self._place, STREAM)
            self._cut = last is not None and not any((e.n, e.hash) == (last.n, last.hash) for e in entries)
            self._records = {} if self._cut else fold_trust((e.kind, e.data, e.at) for e in entries)
            self._head, changed = head, True
        else:
            changed = False
        self._looked = time.monotonic()
        return changed

    async def _entries(self, head: Head) -> list[Entry]:
        """Return all entries up to a head, each checked against the one before."""
        found: list[Entry] = []
        prev = GENESIS
        while len(found) < head.n and (page := await self._ledger.entries(STREAM, len(found), _PAGE)):
            for entry in page:
                if (entry.n, entry.prev) != (len(found) + 1, prev) or entry_hash(entry) != entry.hash:
                    raise _changed(entry.n)
                found.append(entry)
                prev = entry.hash
        if len(found) < head.n or (head.n and found[head.n - 1].hash != head.hash):
            raise _changed(head.n)
        return found

    def judge(self, files: WorkspaceFiles) -> WorkspaceTrust:
        """Return the trust in a folder whose files were read just now, by the record as of the last look.

        Raises:
            ConfigError: hitl.toml can't be used.
        """
        return _judged(files, self._records, self._data, self._once)

    async def of(self, folder: Path) -> WorkspaceTrust:
        """Return the trust in a folder as it is now.

        Raises:
            ConfigError: one of its files can't be used; StorageError: the record can't.
        """
        await self.look(at_once=True)
        return await asyncio.to_thread(lambda: self.judge(read_files(folder)))

    async def grant(self, folder: Path, digest: str, *, by: str, how: str) -> WorkspaceTrust:
        """Trust a folder as it was shown; return its trust.

        Args:
            folder: the folder.
            digest: of what was shown; the files must still be that.
            by: who trusts it.
            how: `terminal`, `digest` or `console`.

        Raises:
            BadInput: the folder is something else by now, or a pin of it names nothing; nothing was written.
            StorageError: the record can't be used.
        """
        found = await self.of(folder)
        check_digest(found, digest)
        await asyncio.to_thread(check_pins, found.declared, folder)
        record = TrustRecord(
            path=found.folder,
            digest=found.digest,
            files=found.files.digests,
            rules=tuple(found.declared.policy.rules),
            disabled=found.declared.disabled,
            code=await asyncio.to_thread(self._code_of, found),
            tools=await asyncio.to_thread(self._tools_of, found),
            by=by,
            at=self._now(),
            how=how,
        )
        await self._record(GRANTED, record.to_dict(), record.at)
        await self.look(at_once=True)
        return await asyncio.to_thread(lambda: self.judge(read_files(folder)))

    def why_no_preview(self, trust: WorkspaceTrust, command: CommandDeclaration, argv: Sequence[str]) -> str:
        """Return why a command's preview may not run, one sentence; empty when it may. It reads files: use a thread.

        A preview runs unasked. So its folder has to be trusted, and whatever of it the preview could execute has to be
        what it was when that was said.

        Args:
            trust: the folder as it is now.
            command: its declaration.
            argv: the preview's argument vector as it would run.
        """
        if not trust.trusted:
            return Message("Not previewed: this folder isn't trusted as it is now. {}", trust.command)
        folder = Path(trust.folder)
        if trust.by == MADE:
            return "" if own_code(folder, self._data) is not None else _edited(Message("its code"), trust)
        if trust.record is None or trust.record.digest != trust.digest:  # for this call: it was looked at just now
            return ""
        path = command_environment({}, os.environ)["PATH"]
        if not trust.declared.secret_names and executes_nothing_else(argv, trust.folder, path):
            return ""
        before = trust.record.code.get(command.name, "")
        try:
            now = self._code(trust, command, argv)
        except BadInput as error:
            return Message("Not previewed: {}", error.message)
        if before == now:
            return ""
        changed = self._bindings.changed({WHOLE: before}, {WHOLE: now})
        return _edited(one_line(changed[0], 200), trust)

    def _code(self, trust: WorkspaceTrust, command: CommandDeclaration, argv: Sequence[str]) -> str:
        path = command_environment({}, os.environ)["PATH"]
        return self._bindings.preview(command, argv, Path(trust.folder), path, Surroundings.of(trust.declared))

    def _code_of(self, trust: WorkspaceTrust) -> dict[str, str]:
        """Return what each preview of a folder could execute, by command; none where that can't be told: it won't run.

        Values of parameters aren't known yet; what they name is part of the workspace, too.
        """
        try:
            return {
                name: self._code(trust, command, [literal_text(argument) for argument in command.preview])
                for name, command in trust.declared.commands.items()
                if command.preview is not None
            }
        except BadInput:
            return {}

    def why_no_secrets(self, folder: Path, tool: ToolDeclaration) -> str:
        """Return why a tool of a folder is described without secrets, one sentence; empty when it gets them.

        Describing it runs its code unasked. So its folder has to be trusted as it is now, and whatever that could
        execute has to be what it was when that was said. A grant by an earlier version doesn't tell what it was: there
        secrets are handed over as that version did, until the folder is trusted again, because modules and servers
        that can't be described without them would fail all at once. It reads files: use a thread.

        Args:
            folder: the workspace.
            tool: its declaration.
        """
        try:
            trust = self.judge(read_files(folder))
        except ConfigError as error:
            return error.message
        if not trust.trusted:
            return Message("this folder isn't trusted as it is now; to trust it: {}", trust.command)
        record = trust.record
        if record is None or record.digest != trust.digest:  # made by the program, or looked at for this call
            return ""
        if record.tools is None:
            return ""
        before = record.tools.get(tool.name, "")
        try:
            now = self._tool(trust, tool)
        except BadInput as error:
            return error.message
        if before == now:
            return ""
        changed = self._bindings.changed({WHOLE: before}, {WHOLE: now})
        return Message(
            "{} changed since this folder was trusted; to trust it as it is now: {}",
            one_line(", ".join(changed[:_NAMED]), 200),
            trust.command,
        )

    def _tool(self, trust: WorkspaceTrust, tool: ToolDeclaration) -> str:
        path = command_environment({}, os.environ)["PATH"]
        return self._bindings.description(tool, Path(trust.folder), path, Surroundings.of(trust.declared))

    def _tools_of(self, trust: WorkspaceTrust) -> dict[str, str]:
        """Return what describing each tool of a folder could execute, by team; none where that can't be told."""
        try:
            return {name: self._tool(trust, tool) for name, tool in trust.declared.tools.items()}
        except BadInput:
            return {}

    async def _record(self, kind: str, data: Mapping[str, object], at: str) -> None:
        if self._cut:  # what is trusted from now on begins anew
            await self._ledger.record(STREAM, RESET, {}, at)
        await self._ledger.record(STREAM, kind, data, at)

    async def revoke(self, folder: Path, *, by: str) -> TrustRecord | None:
        """Take the trust in a folder back; return what was granted, None when there was nothing to take back.

        The folder needn't be there any more.
        """
        await self.look(at_once=True)
        path = str(real_path(folder))
        record = self._records.get(path)
        if record is None or record.revoked:
            return None
        await self._record(REVOKED, {"path": path, "digest": record.digest, "by": by}, self._now())
        await self.look(at_once=True)
        return record

    async def use_once(self, folder: Path, *, by: str) -> None:
        """Check that one of the digests given for this call is the folder's, and keep on record that it was used.

        Raises:
            BadInput: none is.
        """
        if not self._once:
            return
        found = await self.of(folder)
        if found.digest not in self._once:
            check_digest(found, next(iter(self._once)))
        data = {"path": found.folder, "digest": found.digest, "files": dict(found.files.digests), "by": by}
        await self._record(ONCE, data, self._now())


def _judged(
    files: WorkspaceFiles, records: Mapping[str, TrustRecord], data: Path, once: Collection[str]
) -> WorkspaceTrust:
    by = ""
    if files.digest in once:
        by = Message("this call")
    elif own_code(Path(files.folder), data) is not None:
        by = MADE
    return judge_trust(files, records.get(files.folder), by)


def _edited(what: str, trust: WorkspaceTrust) -> str:
    return Message(
        "Not previewed: {} changed since the folder was trusted. {} · what no step executes: pins.exclude in hitl.toml",
        what,
        trust.command,
    )


def check_digest(found: WorkspaceTrust, digest: str) -> None:
    """Refuse a digest that isn't the folder's as it is now.

    Raises:
        BadInput: it isn't.
    """
    given = digest.strip().lower()
    if len(given) != _FULL or set(given) - set("0123456789abcdef"):
        raise BadInput(
            Message('"{}" isn\'t a workspace digest: one has {} hexadecimal digits.', one_line(digest, 80), _FULL)
        )
    if given != found.digest:
        raise BadInput(
            Message(
                "{} doesn't match this digest: it is another folder, or its files changed. Look again: {} --show",
                one_line(found.folder, 300),
                found.command,
            )
        )


def _changed(n: int) -> StorageError:
    return StorageError(
        Message(
            "The record of trust in workspaces was changed (entry {}), so no workspace is trusted; "
            "hitl-tui audit verify says more.",
            n,
        )
    )


async def trust_in(folder: Path, data: Path, once: Collection[str] = ()) -> WorkspaceTrust:
    """Return the trust in a folder without opening anything that can be written; nothing is made.

    Args:
        folder: the folder.
        data: the data folder, which needn't be there.
        once: digests that are trusted for this one call.

    Raises:
        ConfigError: one of its files can't be used; StorageError: the record can't.
    """
    async with existing_record(data, os.environ) as ledger:
        if ledger is None:
            return await asyncio.to_thread(lambda: _judged(read_files(folder), {}, data, frozenset(once)))
        return await TrustBook(ledger, data, once, place=ledger.place).of(folder)


async def trusted_folders(data: Path) -> list[TrustRecord]:
    """Return the newest grant of each folder, revoked ones included, oldest first; nothing is made.

    Raises:
        StorageError: the record can't be read.
    """
    async with existing_record(data, os.environ) as ledger:
        if ledger is None:
            return []
        book = TrustBook(ledger, data, place=ledger.place)
        await book.look(at_once=True)
        return sorted(book.records.values(), key=lambda record: record.at)
