"""`sessions`, `rename`, `fork`, `export`, `import`, `delete`, `prune`: what they ask and print."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from hitl_tui.cli.job import Job
from hitl_tui.cli.json_documents import copy_document
from hitl_tui.cli.settings import operator_name, workspace_folder
from hitl_tui.cli.subcommands import DEFAULT_AGE
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import removal_words, result_of
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import translate
from hitl_tui.supervisor.admin import parse_age
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import SessionSummary
from hitl_tui.wording.text_lines import session_lines, shown

DONE, FAILURE = 0, 1

_LINES = 100
_LONGEST_ANSWER = 100


@asynccontextmanager
async def opened(job: Job, *, make: bool = False) -> AsyncIterator[SessionRegistry]:
    """Open the data folder, and say what a person should know of its record.

    Args:
        job: the run of the program.
        make: something is begun in it: it is made when it isn't there.
    """
    async with SessionRegistry.open(job.data, job.environ, once=job.once, make=make) as registry:
        if not job.arguments.json:
            registry.tell_warnings(job.say)
        yield registry


@asynccontextmanager
async def looking(job: Job) -> AsyncIterator[SessionRegistry]:
    """Open the data folder for what also works where this account can't write, and say so there."""
    async with opened(job) as registry:
        if registry.data.note and not job.arguments.json:
            job.say(registry.data.note)
        yield registry


async def sessions(job: Job) -> int:
    """List sessions."""
    search, limit = job.arguments.search, job.arguments.limit
    most = limit or (None if job.arguments.json else _LINES)
    async with looking(job) as registry:
        with suppress(StorageError):  # what can't be settled now can still be listed
            await registry.settle_overdue()
        place, sought = registry.data.place, one_line(search, 100) if search.strip() else ""
        found = await registry.admin.sessions(search, None if sought else most)
        total = len(found) if sought or most is None else len(await asyncio.to_thread(registry.data.ids))
        where = str(job.data if isinstance(place, Path) else place)
    count = counted_message("{} session in {}.", "{} sessions in {}.", total, where)
    if sought:
        count = counted_message('{} session with "{}" in {}.', '{} sessions with "{}" in {}.', total, sought, where)
    found = found[-most:] if most is not None else found
    if total > len(found):
        count = Message("{} The newest {} are shown (--limit).", count, len(found))
    if job.arguments.json:
        job.out.document({"status": "ok", "message": count, "sessions": [s.to_dict() for s in found]})
    elif not found:
        folder = shown(where)
        none = Message("No sessions in {} yet.", folder)
        job.out.lines([translate(Message('No session matches "{}" in {}.', sought, folder) if sought else none)])
    else:
        rest = [shown(translate(count))] if total > len(found) else []
        job.out.lines([*session_lines(found), *rest])
    return DONE


async def rename(job: Job) -> int:
    """Give a session another title."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with opened(job) as registry:
        done = await registry.admin.rename(given.session, _text(given.text), by=by)
    return _tell(job, result_of(done))


async def fork(job: Job) -> int:
    """Begin another session where one stands or stood."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with opened(job) as registry:
        done = await registry.admin.fork(given.session, given.at, title=_text(given.title), by=by, channel="cli")
        made = await registry.admin.summary(done.session.id)
    return _tell_copy(job, result_of(done), made, given.session)


async def export(job: Job) -> int:
    """Write a session into one file."""
    given = job.arguments
    target = _file(given.file)
    async with looking(job) as registry:
        done = await registry.admin.export(given.session, target)
    return _tell(job, result_of(done))


async def import_(job: Job) -> int:
    """Make a session of an exported file."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    source = _file(given.file)
    workspace = workspace_folder(given.workspace) if given.workspace is not None else None
    async with opened(job, make=True) as registry:
        done = await registry.admin.import_(source, workspace=workspace, by=by)
        made = await registry.admin.summary(done.session.id)
    return _tell_copy(job, result_of(done), made, str(source))


async def delete(job: Job) -> int:
    """Remove a session; what it wrote to the record stays."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with opened(job) as registry:
        registry.data.check_writable()  # what can't be done, or doesn't exist, isn't asked about
        removal = await registry.admin.removal(given.session)
        going = [*session_lines([removal.summary]), shown(translate(removal_words(removal)))]
        job.err.lines([] if given.yes else going)
        if not _agreed(job, Message("Delete session {}?", given.session)):
            return _kept(job)
        done = await registry.admin.delete(given.session, by=by)
    return _tell(job, result_of(done))


async def prune(job: Job) -> int:
    """Remove finished and failed sessions that are old, after showing which."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    bounded = given.older_than is not None or given.keep is None
    older_than = parse_age(DEFAULT_AGE if given.older_than is None else given.older_than) if bounded else None
    async with opened(job) as registry:
        chosen = await registry.admin.prunable(older_than=older_than, keep=given.keep or 0)
        if given.dry_run or not chosen:
            return _told_prune(job, chosen)
        registry.data.check_writable()
        (job.err if given.json else job.out).lines(session_lines(chosen))
        if not _agreed(job, Message("Delete {}?", counted(chosen))):
            return _kept(job)
        pruned = await registry.admin.prune(chosen, by=by)
    message = Message("Deleted {} of {}; the record of their decisions stays.", len(pruned.deleted), counted(chosen))
    if given.json:
        listed, gone = [s.to_dict() for s in chosen], list(pruned.deleted)
        document = {"status": "pruned", "message": message, "sessions": listed, "deleted": gone}
        job.out.document({**document, "stayed": dict(pruned.stayed)})
    else:
        job.say(*pruned.stayed.values())
        job.out.lines([translate(message)])
    return FAILURE if pruned.stayed else DONE


def counted(found: Sequence[SessionSummary]) -> str:
    """Return how many sessions there are, in words."""
    return counted_message("{} session", "{} sessions", len(found))


def _told_prune(job: Job, chosen: list[SessionSummary]) -> int:
    message = Message("{} would be deleted.", counted(chosen)) if chosen else Message("Nothing to prune.")
    if job.arguments.json:
        status = "dry_run" if job.arguments.dry_run else "pruned"
        listed = [s.to_dict() for s in chosen]
        job.out.document({"status": status, "message": message, "sessions": listed, "deleted": [], "stayed": {}})
    else:
        job.out.lines([*(session_lines(chosen) if chosen else ()), translate(message)])
    return DONE


def _tell(job: Job, result: CommandResult) -> int:
    if job.arguments.json:
        job.out.document(result.to_dict())
    else:
        job.out.lines([shown(translate(result.message))])
    return DONE


def _tell_copy(job: Job, result: CommandResult, made: SessionSummary, source: str) -> int:
    if job.arguments.json:
        job.out.document(copy_document(result, made, source))
    else:
        job.out.lines([*session_lines([made]), shown(translate(result.message))])
    return DONE


def _kept(job: Job) -> int:
    message = Message("Nothing was deleted.")
    if job.arguments.json:
        job.out.document({"status": "kept", "message": message})
    else:
        job.out.lines([translate(message)])
    return FAILURE


def _agreed(job: Job, question: str) -> bool:
    """Ask on the terminal; end of input and anything but yes is no.

    Raises:
        BadInput: there is no terminal to ask on, and `--yes` wasn't given.
    """
    if job.arguments.yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise BadInput(Message("No terminal to ask on; add --yes to delete without being asked."))
    job.err.lines([translate(Message("{} The record of their decisions stays. Type yes or no:", question))])
    return sys.stdin.readline(_LONGEST_ANSWER).strip().lower() in ("y", "yes", "예")


def _file(text: str) -> Path:
    if not text.strip():
        raise BadInput(Message("Name a file."))
    return given_path(text)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(Message("The title isn't valid UTF-8; write it as plain text.")) from error
    return text
