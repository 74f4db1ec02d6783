"""`hitl-tui trust`: show what a folder wants to run, trust it, take that back, list what is trusted."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hitl_tui.cli.admin_commands import opened
from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import existing_workspace, operator_name, workspace_folder
from hitl_tui.config.problems import quoted
from hitl_tui.config.workspace_files import real_path
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.language import _, ngettext, translate
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.executable_files import check_pins
from hitl_tui.policy.trust_book import trust_in
from hitl_tui.policy.workspace_trust import WorkspaceTrust
from hitl_tui.supervisor.storage import DataFolder
from hitl_tui.wording.inbox_rows import asked_words
from hitl_tui.wording.text_lines import layout, shown, table
from hitl_tui.wording.trust_rows import trust_rows

DONE = 0
_MOST = 10_000
"""Waiting questions, the most urgent first, that are looked at for those that trust concerns."""


def trust(job: Job) -> int:
    """Carry `trust` out; return the exit code.

    Raises:
        BadInput: there is no such folder, no terminal to ask at and no digest, or the digest isn't the folder's.
        StorageError: the record can't be read or written.
    """
    return asyncio.run(_list(job) if job.arguments.listed else _trust(job))


async def _trust(job: Job) -> int:
    arguments, data = job.arguments, job.data
    by = operator_name(arguments.by, os.environ, data)
    if arguments.revoke:
        return await _revoke(workspace_folder(arguments.workspace), by, job)
    folder = existing_workspace(arguments.workspace)
    found = await trust_in(folder, data)
    concerned = await _concerned(found, job)
    if arguments.show:
        return _show(found, concerned, job)
    digest, how = arguments.digest, "digest"
    if not digest:
        if arguments.json or not _at_terminal():
            raise BadInput(
                Message("No terminal to ask on; pass the digest of what you have seen."),
                help=f"{found.command} --show --json prints it; then: {found.command} --digest DIGEST",
            )
        if found.trusted:
            return _show(found, concerned, job)
        job.out.lines([*layout(trust_rows(found.to_dict())), *_question_lines(concerned)])
        if not _agreed():
            job.out.lines([_("Not trusted; nothing was changed.")])
            return DONE
        digest, how = found.digest, "terminal"
    async with opened(job, make=True) as registry:
        registry.data.check_writable()
        granted = await registry.trust.grant(folder, digest, by=by, how=how)
    idle = await asyncio.to_thread(check_pins, granted.declared, folder)
    message = Message("Trusted {} as it is now.", granted.folder)
    if arguments.json:
        told = {**granted.to_dict(), "idle_pins": idle, "questions": _listed(concerned)}
        job.out.document({"status": "trusted", "message": message, **told})
        return DONE
    job.out.lines([shown(translate(message)), *(_question_lines(concerned) if how == "digest" else ())])
    if idle:
        said = ngettext(
            "Note: the pin {pins} matches nothing in {folder} now.",
            "Note: the pins {pins} match nothing in {folder} now.",
            len(idle),
        )
        job.out.lines([shown(said.format(pins=", ".join(map(quoted, idle)), folder=granted.folder))])
    return DONE


async def _concerned(found: WorkspaceTrust, job: Job) -> list[RequestView]:
    """Return what sessions of a folder ask under other rules than those that hold once it is trusted."""
    if found.trusted or not DataFolder(job.data).ledger.exists():
        return []
    version, concerned = found.declared.policy.version, list[RequestView]()
    async with opened(job) as registry:
        for view in await registry.ledger.urgent(utc_now(), _MOST):
            if view.request.subject.get("policy", version) != version:
                with suppress(HitlError):  # of a session that can't be read nothing is known
                    info = registry.data.session(view.request.session).info()
                    concerned += [view] if str(real_path(Path(info.workspace))) == found.folder else []
    return concerned


def _listed(concerned: Sequence[RequestView]) -> list[dict[str, str]]:
    return [{"session_id": v.request.session, "id": v.request.id, "todo_id": v.request.todo_id} for v in concerned]


def _question_lines(concerned: Sequence[RequestView]) -> list[str]:
    head = [_("Answered, or asked anew, by its rules:")] if concerned else []
    return [shown(line) for line in (*head, *(f"  {v.request.session}: {asked_words(v)}" for v in concerned))]


def _show(found: WorkspaceTrust, concerned: Sequence[RequestView], job: Job) -> int:
    message = found.words
    if job.arguments.json:
        questions = _listed(concerned)
        job.out.document({"status": "ok", "message": message, **found.to_dict(), "questions": questions})
        return DONE
    digest = _("Digest: {digest}").format(digest=found.digest)
    lines = [*layout(trust_rows(found.to_dict())), *_question_lines(concerned)]
    job.out.lines([*lines, shown(translate(message)), digest])
    return DONE


async def _revoke(folder: Path, by: str, job: Job) -> int:
    path = str(real_path(folder))
    if not DataFolder(job.data).ledger.exists():
        raise BadInput(Message("{} isn't trusted, so nothing was changed.", path))
    async with opened(job) as registry:
        registry.data.check_writable()
        record = await registry.trust.revoke(folder, by=by)
    if record is None:
        raise BadInput(Message("{} isn't trusted, so nothing was changed.", path))
    message = Message("{} is no longer trusted.", path)
    if job.arguments.json:
        job.out.document({"status": "revoked", "message": message, "workspace": path, "digest": record.digest})
    else:
        job.out.lines([shown(translate(message))])
    return DONE


async def _list(job: Job) -> int:
    from hitl_tui.policy.trust_book import trusted_folders

    kept = [record for record in await trusted_folders(job.data) if not record.revoked]
    count = counted_message("{} folder trusted.", "{} folders trusted.", len(kept))
    if job.arguments.json:
        rows = [{"workspace": r.path, "digest": r.digest, "by": r.by, "at": r.at, "how": r.how} for r in kept]
        job.out.document({"status": "ok", "message": count, "trusted": rows})
    else:
        job.out.lines([*table([(shown(r.path), shown(r.by), r.at, r.digest[:12]) for r in kept]), translate(count)])
    return DONE


def _at_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _agreed() -> bool:
    """Ask; only a plain yes counts."""
    sys.stdout.write(_("Trust it? It may then run what is listed. y/N ") + " ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "예", "네")
