"""`rename`, `fork`, `export`, `import`, `delete`, `prune`: keeping sessions in order (C8).

None of them executes anything.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hitl_tui.cli.json_documents import copy_document
from hitl_tui.cli.session_jobs import DONE, FAILURE, Job, counted, looking, session_rows
from hitl_tui.cli.settings import operator_name, workspace_folder
from hitl_tui.cli.subcommands import DEFAULT_AGE
from hitl_tui.commands.session_commands import what_goes
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.language import render
from hitl_tui.supervisor.session_document import export_for_reading, is_for_reading
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import SessionSummary
from hitl_tui.wording.text_lines import shown

_LONGEST_ANSWER = 100


async def rename(job: Job) -> int:
    """Give a session another title."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with SessionRegistry.open(job.data, job.environ) as bench:
        info = await bench.rename(given.session, _text(given.text), by=by)
    message = f'{info.id} is called "{info.title}" now.'
    if given.json:
        job.out.document({"status": "renamed", "message": message, "session_id": info.id, "title": info.title})
    else:
        job.out.lines([shown(render(message))])
    return DONE


async def fork(job: Job) -> int:
    """Begin another session where one stands or stood."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with SessionRegistry.open(job.data, job.environ) as bench:
        info = await bench.fork(given.session, given.at, title=_text(given.title), by=by)
        made = await bench.summary(info.id)
    message = f"{info.id} is a fork of {given.session}; nothing was executed."
    _tell_copy(job, "forked", message, made, given.session)
    return DONE


async def export(job: Job) -> int:
    """Write a session into one file."""
    given = job.arguments
    target = _file(given.file)
    async with looking(job) as bench:
        written = await _exported(bench, given.session, target)
    size = written.stat().st_size
    message = f"{given.session} was written to {written} ({size:,} bytes)."
    if given.json:
        about = {"session_id": given.session, "file": str(written), "size": size}
        job.out.document({"status": "exported", "message": message, **about})
    else:
        job.out.lines([shown(render(message))])
    return DONE


async def _exported(bench: SessionRegistry, session_id: str, target: Path) -> Path:
    if not is_for_reading(target):
        return await bench.export(session_id, target)
    async with SessionFollower.open(await bench.setup(session_id)) as follower:
        return await export_for_reading(follower, target)


async def import_(job: Job) -> int:
    """Make a session of an exported file."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    source = _file(given.file)
    workspace = workspace_folder(given.workspace) if given.workspace is not None else None
    async with SessionRegistry.open(job.data, job.environ) as bench:
        info = await bench.import_(source, workspace=workspace, by=by)
        made = await bench.summary(info.id)
    message = f"{info.id} was created from {source.name} and works in {info.workspace}; nothing was executed."
    _tell_copy(job, "imported", message, made, str(source))
    return DONE


async def delete(job: Job) -> int:
    """Remove a session; what it wrote to the record stays."""
    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    async with SessionRegistry.open(job.data, job.environ) as bench:
        bench.data.check_writable()  # what can't be done, or doesn't exist, isn't asked about
        bench.data.session(given.session)
        summary = await bench.summary(given.session)
        going = [*session_rows([summary]), shown(render(what_goes(summary, await bench.copies(given.session))))]
        job.err.lines([] if given.yes else going)
        if not _agreed(job, f"Delete session {given.session}?"):
            return _kept(job)
        await bench.delete(given.session, by=by)
    message = f"{given.session} was deleted; the record of its decisions stays."
    if given.json:
        job.out.document({"status": "deleted", "message": message, "session_id": given.session})
    else:
        job.out.lines([render(message)])
    return DONE


async def prune(job: Job) -> int:
    """Remove finished and failed sessions that are old, after showing which."""
    from hitl_tui.supervisor import admin

    given = job.arguments
    by = operator_name(given.by, job.environ, job.data)
    bounded = given.older_than is not None or given.keep is None
    older_than = admin.age(DEFAULT_AGE if given.older_than is None else given.older_than) if bounded else None
    async with SessionRegistry.open(job.data, job.environ) as bench:
        chosen = admin.choose(await bench.sessions(), bench.now(), older_than=older_than, keep=given.keep or 0)
        if given.dry_run or not chosen:
            return _told_prune(job, chosen)
        bench.data.check_writable()
        (job.err if given.json else job.out).lines(session_rows(chosen))
        if not _agreed(job, f"Delete {counted(chosen)}?"):
            return _kept(job)
        gone, stayed = await admin.prune(bench, chosen, by)
    message = f"{len(gone)} of {counted(chosen)} deleted; the record of their decisions stays."
    if given.json:
        listed = [s.to_dict() for s in chosen]
        job.out.document(
            {"status": "pruned", "message": message, "sessions": listed, "deleted": gone, "stayed": stayed}
        )
    else:
        job.err.lines(shown(render(why)) for why in stayed.values())
        job.out.lines([render(message)])
    return FAILURE if stayed else DONE


def _told_prune(job: Job, chosen: list[SessionSummary]) -> int:
    message = f"{counted(chosen)} would be deleted." if chosen else "There is nothing to prune."
    if job.arguments.json:
        status = "dry_run" if job.arguments.dry_run else "pruned"
        listed = [s.to_dict() for s in chosen]
        job.out.document({"status": status, "message": message, "sessions": listed, "deleted": [], "stayed": {}})
    else:
        job.out.lines([*(session_rows(chosen) if chosen else ()), render(message)])
    return DONE


def _tell_copy(job: Job, status: str, message: str, made: SessionSummary, source: str) -> None:
    if job.arguments.json:
        job.out.document(copy_document(status, message, made, {"from": source}))
    else:
        job.out.lines([*session_rows([made]), shown(render(message))])


def _kept(job: Job) -> int:
    message = "Nothing was deleted."
    if job.arguments.json:
        job.out.document({"status": "kept", "message": message})
    else:
        job.out.lines([render(message)])
    return FAILURE


def _agreed(job: Job, question: str) -> bool:
    """Ask on the terminal; end of input and anything but yes is no.

    Raises:
        BadInput: there is no terminal to ask on, and `--yes` wasn't given.
    """
    if job.arguments.yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise BadInput("There is no terminal to ask on; give --yes to delete without being asked.")
    job.err.lines([render(f"{question} Their record stays. Type yes or no:")])
    return sys.stdin.readline(_LONGEST_ANSWER).strip().lower() in ("y", "yes", "예")


def _file(text: str) -> Path:
    if not text.strip():
        raise BadInput("A file's name is missing.")
    return given_path(text)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("The title isn't valid UTF-8; write it as plain text.") from error
    return text
