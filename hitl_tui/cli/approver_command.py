"""`hitl-tui approver`: who counts where several people or a level are demanded; every change goes on record."""

from __future__ import annotations

import asyncio
import logging
import os
import pwd
from collections.abc import Callable
from pathlib import Path

from hitl_tui.cli.job import Job
from hitl_tui.config.atomic_files import locked
from hitl_tui.core.errors import BadInput, StorageError, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, person, step_name
from hitl_tui.core.requests import Request, name_of
from hitl_tui.language import _, translate
from hitl_tui.policy.approver_names import checked_name
from hitl_tui.policy.approvers import Approver, ApproverFile, Approvers, checked_approver, new_token, token_hash
from hitl_tui.wording.text_lines import shown, table

DONE = 0
_MOST = 100_000
"""Open questions that are looked through."""

log = logging.getLogger(__name__)


def approver(job: Job) -> int:
    """Carry one of `add`, `list`, `remove` out; return the exit code.

    Raises:
        BadInput: what was given can't be carried out; nothing was changed.
        ConfigError: approvers.toml can't be used.
        StorageError: it, or the record, can't be written.
    """
    arguments, file = job.arguments, ApproverFile(job.data)
    if arguments.what != "add" and (arguments.account is not None or arguments.level):
        raise BadInput("--account and --level go with approver add.")
    if arguments.what == "list":
        if arguments.name:
            raise BadInput(Message("approver list takes no name."))
        return _list(file, job)
    name = checked_name(arguments.name, Message("The name of an approver"))
    if arguments.what == "add":
        return asyncio.run(_add(file, name, job))
    return asyncio.run(_remove(file, name, job))


def _list(file: ApproverFile, job: Job) -> int:
    approvers = file.load()
    people = approvers.people
    message = f"{len(people)} approver{'' if len(people) == 1 else 's'}."
    if job.arguments.json:
        listed = [{**a.to_dict(), "owner": a not in approvers.listed} for a in people]
        job.out.document({"status": "ok", "message": message, "approvers": listed})
        return DONE
    rows = [(shown(a.name), _("level {level}").format(level=a.level), _how(a)) for a in people]
    job.out.lines(table(rows))
    return DONE


def _how(approver: Approver) -> str:
    ways = [_("account {account}").format(account=shown(approver.account))] if approver.account else []
    return ", ".join([*ways, *([_("token")] if approver.token else [])])


async def _add(file: ApproverFile, name: str, job: Job) -> int:
    account = job.arguments.account or ""
    if job.arguments.account is not None:
        try:
            pwd.getpwnam(account)
        except (KeyError, ValueError):
            raise BadInput(Message('This machine has no account "{}".', clip(account))) from None
    token = "" if account else new_token()
    given = Approver(name, account, token_hash(token) if token else "", job.arguments.level)

    def add(approvers: Approvers) -> tuple[list[Approver], Approver]:
        checked = checked_approver(given, approvers.listed, approvers.owner)
        return [*approvers.listed, checked], checked

    fresh = await _change(file, job.data, "approver_added", add)
    message = Message("Added {}, level {}.", name, fresh.level)
    if job.arguments.json:
        secret = {"token": token} if token else {}
        job.out.document({"status": "added", "message": message, "approver": fresh.to_dict(), **secret})
        return DONE
    lines = [shown(translate(message))]
    if token:
        lines += [_("Token (shown only once): {token}").format(token=token)]
        lines += [
            _("Give it to {name} only. They type it when asked; never put it on a command line.").format(name=name)
        ]
    job.out.lines(lines)
    return DONE


async def _remove(file: ApproverFile, name: str, job: Job) -> int:
    def remove(approvers: Approvers) -> tuple[list[Approver], Approver]:
        gone = approvers.named(name)
        if gone is None:
            known = ", ".join(a.name for a in approvers.listed[:6])
            raise UnknownName(
                Message(
                    'No approver "{}"; {}.',
                    name,
                    Message("known: {}", known) if known else Message("none added yet"),
                )
            )
        return [a for a in approvers.listed if person(a.name) != person(name)], gone

    from hitl_tui.supervisor.data_place import data_place

    gone = await _change(file, job.data, "approver_removed", remove)
    message, votes = Message("Removed {}.", gone.name), await _open_votes(gone.name, job.data)
    if job.arguments.json:
        told = [{"session": one.session, "todo_id": one.todo_id, "request_id": one.id} for one in votes]
        job.out.document({"status": "removed", "message": message, "approver": gone.to_dict(), "votes": told})
        return DONE
    job.out.lines([shown(translate(message))])
    here = isinstance(data_place(job.data, os.environ).place, Path)
    for one in votes:
        said = _("Their vote on {step} of {session} doesn't count any more.")
        if not here:  # whoever is no approver here may be one at another machine
            said = _("Their vote on {step} of {session} still counts. Edit it to ask anew, or reject it.")
        job.out.lines([said.format(step=step_name(name_of(one)), session=shown(one.session))])
    return DONE


async def _open_votes(name: str, data: Path) -> list[Request]:
    """Return the open questions of sessions that somebody has voted on."""
    from hitl_tui.core.events import utc_now
    from hitl_tui.supervisor.data_place import data_place, open_record

    async with open_record(data_place(data, os.environ)) as ledger:
        views = await ledger.requests(utc_now(), limit=_MOST)
    return [v.request for v in views if any(person(one.person) == person(name) for one in v.decisions)]


async def _change(
    file: ApproverFile, data: Path, kind: str, change: Callable[[Approvers], tuple[list[Approver], Approver]]
) -> Approver:
    """Change the list, one process at a time: first the record, then the file; return whom the change is about."""
    from hitl_tui.core.events import utc_now
    from hitl_tui.policy.approver_record import note_edits, record_change
    from hitl_tui.supervisor.data_place import data_place, open_record
    from hitl_tui.supervisor.ledger_sealing import sealing_of

    folder = data_place(data, os.environ)
    folder.check_writable()
    folder.prepare()
    try:
        with locked(file.path):
            listed, about = change(file.load())
            sealing = sealing_of(folder, os.environ, log.warning)
            async with open_record(folder, sealing) as ledger:
                await note_edits(ledger, file, utc_now())
                await record_change(ledger, kind, about, listed, utc_now())
            file.write(listed)
    except OSError as error:
        raise StorageError(Message("{} can't be written: {}.", file.path, error.strerror or error)) from error
    return about
