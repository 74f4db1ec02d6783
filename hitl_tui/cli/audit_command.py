"""`hitl-tui audit`: check the record, take an anchor, print everything or what is asked for, say how people decide.

All of them are of sessions and of tasks outside of them. Only `verify` looks into checkpoints, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import operator_name
from hitl_tui.cli.subcommands import AUDITS
from hitl_tui.config.workspace import parse_duration
from hitl_tui.core.errors import BadInput, StorageError, UnknownName
from hitl_tui.core.events import utc_now
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import escaped_json, one_line
from hitl_tui.language import translate
from hitl_tui.ledger.anchors import AnchorFile, anchor_file
from hitl_tui.ledger.approval_log import logged_decisions
from hitl_tui.ledger.attention import attention, fatigue, within
from hitl_tui.ledger.audit import (
    Anchor,
    AnchorCheck,
    Verification,
    check_anchor,
    export,
    head,
    heads_of_each,
    placed,
    stream_at,
    verify,
    verify_each,
)
from hitl_tui.ledger.entry_filter import EntryFilter
from hitl_tui.ledger.protocols import Requests, Streams
from hitl_tui.ledger.records import Problem, RequestView
from hitl_tui.ledger.signature_table import KEYS, SignedStream, accepted_entry
from hitl_tui.ledger.signatures import SHOWN_DIGITS, Signer, shown_key
from hitl_tui.ledger.stream_ledger import StreamLedger
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.supervisor.data_place import data_place, open_record
from hitl_tui.supervisor.storage import DataFolder
from hitl_tui.task_checkpoints.folders import registered, server_of, store_of, uses_neo4j
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.task_inbox import TaskInbox
from hitl_tui.wording.attention_rows import attention_lines
from hitl_tui.wording.text_lines import decision_lines, shown, terminal_width, wrapped

INTACT, CHANGED = 0, 1
_BATCH = 500
_ALL = 1_000_000_000
_WHOLE_KEY = re.compile("[0-9a-fA-F]{64}")
_AGE = re.compile(r"[0-9.]+[smhd].*")


def audit(job: Job) -> int:
    """Carry one of `AUDITS` out; a session alone lists its decisions.

    Raises:
        BadInput: what is asked for is none of these, there is no record, an anchor isn't one, or is given where none
            is used; UnknownName: there is no such session.
        StorageError: the ledger can't be read.
    """
    given = job.arguments
    if given.what in AUDITS:
        return asyncio.run(_audit(job))
    known = ", ".join(AUDITS)
    if given.session:
        raise BadInput(Message('"{}" isn\'t allowed here; use one of {}.', one_line(given.what, 60), known))
    try:
        alone = given._replace(what=AUDITS[0], session=given.what)
        return asyncio.run(_audit(replace(job, arguments=alone)))
    except UnknownName as error:
        name = shown(given.what)[:80]
        raise UnknownName(Message('"{}" is neither a session or task on record nor one of {}.', name, known)) from error


async def _audit(job: Job) -> int:
    arguments = job.arguments
    if arguments.anchors and (arguments.what != "verify" or arguments.session):
        raise BadInput("--anchor goes with audit verify alone; the anchor names its session itself.")
    given = (("--by", arguments.by_person), ("--since", arguments.since), ("--until", arguments.until))
    narrowed = [name for name, value in (*given, ("--risk", arguments.risk)) if value]
    if narrowed and arguments.what not in ("decisions", "export", "attention"):
        raise BadInput(Message("{} goes with audit decisions, export and attention.", narrowed[0]))
    bounds = _bounds(arguments.since, arguments.until)
    folder = data_place(job.data, job.environ)
    if _is_empty(folder) and not registered(job.data) and not uses_neo4j(job.environ):
        raise BadInput(Message("No record in {}.", job.data))
    folder.prepare()
    if arguments.what == "accept":
        return await _accept(folder, job)
    if folder.note and not arguments.json:
        job.say(folder.note)
    async with open_record(folder) as ledger:
        if arguments.what == "attention":
            return await _attention(ledger, job, bounds)
        if arguments.what == "decisions":
            return await _decisions(ledger, job, bounds)
        if arguments.what == "export":
            return await _export(ledger, job, bounds)
        if arguments.anchors:
            return await _anchors(ledger, job)
        if arguments.what == "verify":
            return await _verify(ledger, folder, job)
        return await _head(ledger, job)


async def _accept(folder: DataFolder, job: Job) -> int:
    """Let a key of another account count as known here, on record; what it signed is then as good as signed here."""
    from hitl_tui.supervisor.ledger_sealing import sealing_of

    folder.check_writable()
    said, signer = list[str](), Signer(os.environ)
    async with open_record(folder, sealing_of(folder, os.environ, said.append)) as ledger:
        key = _one_key(await ledger.signing_keys(), job.arguments.session)
        kind, data = accepted_entry(signer, key, operator_name(None, os.environ, job.data))
        await ledger.record(KEYS, kind, data, utc_now())
        signer.accept(ledger.place, utc_now(), key)
    message = Message("Accepted the key {}: what it signed in this record counts as signed.", shown_key(key))
    if job.arguments.json:
        job.out.document({"status": "accepted", "message": message, "key": key})
    else:
        job.say(*said)
        job.out.lines([translate(message)])
    return INTACT


def _one_key(keys: Sequence[str], given: str) -> str:
    """Return the one of several keys that digits are the beginning of.

    Raises:
        BadInput: they are too few, or no key's.
    """
    if len(given) < SHOWN_DIGITS:
        raise BadInput(
            Message("audit accept takes a key, with at least {} digits.", SHOWN_DIGITS),
            help=Message("hitl-tui audit verify names the keys that aren't known here."),
        )
    found = [key for key in keys if key.startswith(given.lower())]
    if not found and _WHOLE_KEY.fullmatch(given):  # one that signed votes on tasks, which are kept elsewhere
        return given.lower()
    if len(found) != 1:
        raise BadInput(Message('No entry of this record is signed by the key "{}".', one_line(given, 70)))
    return found[0]


def _is_empty(folder: DataFolder) -> bool:
    try:
        return isinstance(folder.place, Path) and not (folder.ledger.exists() or folder.ids())
    except OSError:  # opening it says why it can't be read
        return False


class _TaskRecord(NamedTuple):
    """A store of tasks: the files of a folder, or a database.

    Args:
        place: what the names of its streams begin with, as anchors and problems name them.
        folder: the workspace.
    """

    ledger: StreamLedger
    place: str
    folder: str


def _task_records(job: Job) -> list[_TaskRecord]:
    """Return all that are known here.

    Raises:
        BadInput: the environment names a store that can't be.
    """
    server = server_of(job.environ) if uses_neo4j(job.environ) else None
    at = "/".join(filter(None, (str(server), server.database))) if server is not None else ""
    folders = sorted(TaskInbox(job.data, job.environ).folders())
    return [_TaskRecord(store_of(masc, job.environ), at or str(masc), str(masc.parent)) for masc in folders]


async def _is_known(ledger: Streams, name: str, folder: DataFolder | None = None) -> bool:
    """Return whether there is a session of a name in the ledger; with a folder also one that should be there."""
    known = name in [found.stream for found in await ledger.streams()]
    return known or (folder is not None and name in folder.ids())


def _unknown(name: str) -> UnknownName:
    return UnknownName(Message('The record has no session or task "{}".', shown(name)[:80]))


async def _verify(ledger: TableLedger, folder: DataFolder, job: Job) -> int:
    from hitl_tui.supervisor.record_check import lost_records

    stream, signer, notes = job.arguments.session or None, Signer(os.environ), list[str]()
    found, about = Verification(0, 0, ()), dict[str, object]()
    tasks = await _verify_tasks(job, stream)
    if stream is None or await _is_known(ledger, stream, folder):
        found = await verify(ledger, stream)
        kept = anchor_file(folder.root, folder.ledger)
        async with _readable(ledger, found) as record:
            lost = await lost_records(folder, record, stream or "")
            signed, unsigned = await record.signed(signer.known(), stream)
            broken, checked = await _kept_anchors(record, kept, stream) if kept is not None else ([], 0)
        found = replace(found, problems=(*lost, *unsigned, *broken, *found.problems))
        elsewhere = {problem.stream for problem in unsigned if problem.key}
        notes = _notes([one for one in signed if one.last or one.stream not in elsewhere], signer, kept, checked)
        about = {"signatures": [one.to_dict() for one in signed]}
        about |= {"anchors": {"path": str(kept.path), "checked": checked}} if kept is not None else {}
    elif not tasks.streams:
        raise _unknown(stream)
    named = [head.stream for head in await ledger.streams() if stream in (None, head.stream)]
    sessions = sum("/" not in name for name in named)  # others are of trust, approvers and keys
    count = counted_message("{1} entries of {0} session", "{1} entries of {0} sessions", sessions, found.entries)
    if tasks.streams:
        of_tasks = counted_message("{1} entries of {0} task", "{1} entries of {0} tasks", tasks.streams, tasks.entries)
        count = Message("{}, {}", count, of_tasks)
    found = found.joined(tasks)
    more = len(found.problems) + found.unlisted
    message = counted_message("{1}: {0} problem.", "{1}: {0} problems.", more, count)
    status = "changed"
    if found.ok:
        message, status = Message("{}: intact.", count), "ok"
    elif not found.unlisted and all(problem.key for problem in found.problems):
        message, status = Message("{}: intact, but signed by a key that isn't known here.", count), "unknown_key"
    if job.arguments.json:
        of = {"tasks": {"streams": tasks.streams, "entries": tasks.entries}, "notes": [*notes]}
        job.out.document({"status": status, "message": message, **found.to_dict(), **about, **of})
    else:
        where = [f"{p.stream} {p.n}" if p.n else p.stream or folder.ledger.name for p in found.problems]
        said = (shown(f"{w}: {translate(p.what)}") for w, p in zip(where, found.problems, strict=True))
        job.out.lines([*said, *(shown(translate(note)) for note in notes), translate(message)])
    return INTACT if found.ok else CHANGED


@asynccontextmanager
async def _readable(ledger: TableLedger, found: Verification) -> AsyncIterator[TableLedger]:
    """Give a record in which what was edited hides nothing else: a copy of one that isn't as it was written."""
    if found.ok:
        yield ledger
        return
    from hitl_tui.ledger.sound_copy import sound_copy

    async with sound_copy(ledger) as copy:
        yield copy


async def _verify_tasks(job: Job, stream: str | None) -> Verification:
    """Verify the tasks of all stores that are known here; one that can't be reached is a problem."""
    found = Verification(0, 0, ())
    for tasks in _task_records(job):
        try:
            chains = await verify_each(tasks.ledger, tasks.place, stream)
            found = found.joined(chains)
            if not chains.ok:  # what they hold was changed, and says nothing
                continue
            steps = await TaskCheckpoints(tasks.ledger).recorded(stream)
            votes = [
                Problem(placed(tasks.place, one.task_id), 0, Message("Step {}: {}", one.step, one.unproven))
                for one in steps
                if one.unproven
            ]
            found = found.joined(Verification(0, 0, tuple(votes)))
        except StorageError as error:
            found = found.joined(Verification(0, 0, (Problem(tasks.place, 0, error.message),)))
    return found


def _notes(signed: Sequence[SignedStream], signer: Signer, kept: AnchorFile | None, checked: int) -> list[str]:
    """Return what is said of signatures and anchors besides problems."""
    notes: list[str] = []
    count = sum(one.last - one.first + 1 for one in signed if one.last)
    older = sum(one.first - 1 if one.last else one.entries for one in signed)
    if count:
        notes.append(Message("Signed: {} entries.", count))
    if own := signer.own:
        notes.append(Message("This account signs with the key {}.", shown_key(own)))
    if older:
        notes.append(Message("Not signed: {} entries, written before signing began.", older))
    known = signer.known()
    if not known.keys and count:
        notes.append(
            Message("The key that signed isn't known here, so it is only compared with itself: {}.", signed[-1].key)
        )
    if kept is not None:
        notes.append(Message("Anchors compared: {}, in {}.", checked, kept.path))
    return notes


async def _kept_anchors(ledger: Streams, kept: AnchorFile, stream: str | None) -> tuple[list[Problem], int]:
    """Compare the record with the anchors that wrote themselves; return what differs, and how many there are."""
    problems, anchors = [], {(a.stream, a.n): a for a in kept.anchors() if stream in (None, a.stream)}
    for anchor in anchors.values():
        try:
            page = await ledger.entries(anchor.stream, anchor.n - 1, 1)
        except StorageError:  # what can't be read is named elsewhere
            continue
        if not page or page[0].n != anchor.n:
            problems.append(Problem(anchor.stream, anchor.n, Message("Entry {} is anchored but missing.", anchor.n)))
        elif page[0].hash != anchor.hash:
            problems.append(Problem(anchor.stream, anchor.n, Message("Entry {} differs from its anchor.", anchor.n)))
    return problems, len(anchors)


async def _anchors(ledger: Streams, job: Job) -> int:
    records = _task_records(job)
    checks = [await _check(ledger, records, Anchor.parse(anchor)) for anchor in job.arguments.anchors]
    bad = sum(not check.ok for check in checks)
    message = counted_message(
        "{} anchor checked, {} broken.", "{} anchors checked, {} broken.", len(checks), bad or "none"
    )
    if job.arguments.json:
        status = "changed" if bad else "ok"
        job.out.document(
            {"status": status, "message": message, "ok": not bad, "anchors": [c.to_dict() for c in checks]}
        )
    else:
        broken = [shown(f"{c.anchor.stream} {c.anchor.n}: {translate(c.problem)}") for c in checks if not c.ok]
        job.out.lines([*broken, translate(message)])
    return CHANGED if bad else INTACT


async def _check(ledger: Streams, records: Sequence[_TaskRecord], anchor: Anchor) -> AnchorCheck:
    """Compare an anchor with what it is of: a session, or a task of a store that is known here."""
    for tasks in records:
        if (name := stream_at(tasks.place, anchor.stream)) is not None:
            try:
                return replace(await check_anchor(tasks.ledger, replace(anchor, stream=name)), anchor=anchor)
            except StorageError as error:
                return AnchorCheck(anchor, error.message)
    return await check_anchor(ledger, anchor)


async def _head(ledger: Streams, job: Job) -> int:
    stream = job.arguments.session or None
    anchors, problems = list[Anchor](), list[str]()
    if stream is None or await _is_known(ledger, stream):
        anchors += await head(ledger, stream)
    for tasks in _task_records(job):
        try:
            found, wrong = await heads_of_each(tasks.ledger, tasks.place, stream)
        except StorageError as error:
            found, wrong = [], [error.message]
        anchors += found
        problems += wrong
    if not anchors and not problems and stream is not None:
        raise _unknown(stream)
    job.say(*problems)
    if job.arguments.json:
        message = counted_message("{} anchor; keep them elsewhere.", "{} anchors; keep them elsewhere.", len(anchors))
        status = "changed" if problems else "ok"
        job.out.document(
            {"status": status, "message": message, "anchors": [a.to_dict() for a in anchors], "problems": problems}
        )
    else:
        job.out.lines(shown(str(anchor)) for anchor in anchors)
    return CHANGED if problems else INTACT


def _bounds(since: str, until: str) -> tuple[str, str]:
    """Return from when and until when, ISO 8601, UTC; empty for no bound.

    Raises:
        BadInput: one of them is no time, or there is nothing between them.
    """
    found = _moment("--since", since), _moment("--until", until)
    if all(found) and found[0] >= found[1]:
        raise BadInput("--since must be before --until.")
    return found


def _moment(name: str, text: str) -> str:
    """Return a time that is given as a day, as a day and time, or as an age."""
    if not text:
        return ""
    try:
        if _AGE.fullmatch(text):
            return (datetime.now(UTC) - timedelta(seconds=parse_duration(text))).isoformat()
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except (ValueError, OverflowError) as error:
        raise BadInput(
            Message(
                '{} must be a day ("2026-03-01"), a time ("2026-03-01T14:00") or an age ("24h", "30d"), not "{}".',
                name,
                one_line(text, 60),
            )
        ) from error


class _Record(Streams, Requests, Protocol):
    """What is read of a store."""


class _Source(NamedTuple):
    """A store of streams: of sessions, or of the tasks of a folder."""

    ledger: _Record
    folder: str = ""

    async def named(self, name: str) -> list[str]:
        """Return its streams; with a name that one alone, if it is there."""
        return [head.stream for head in await self.ledger.streams() if name in ("", head.stream)]


async def _sources(ledger: TableLedger, job: Job) -> list[_Source]:
    """Return where decisions are on record; one that can't be read is named and left out.

    Raises:
        UnknownName: a session or task is named that none of them has.
    """
    found = [_Source(ledger)]
    for tasks in _task_records(job):
        source = _Source(tasks.ledger, tasks.folder)
        try:
            await source.named("")
        except StorageError as error:
            job.err.lines([shown(f"{tasks.place}: {translate(error.message)}")])
        else:
            found.append(source)
    session = job.arguments.session
    if session and not any([await source.named(session) for source in found]):
        raise _unknown(session)
    return found


def _wanted(job: Job, bounds: tuple[str, str]) -> EntryFilter:
    risk = job.arguments.risk
    return EntryFilter(*bounds, job.arguments.by_person, Risk(risk) if risk else None)


async def _decisions(ledger: TableLedger, job: Job, bounds: tuple[str, str]) -> int:
    """List who decided what, when and why, of sessions and tasks together, the newest last."""
    found: list[dict[str, Json]] = []
    for source in await _sources(ledger, job):
        for name in await source.named(job.arguments.session):
            said = await logged_decisions(source.ledger, name, _wanted(job, bounds))
            found += [{"session": name, **one.to_dict()} for one in said]
    found.sort(key=lambda one: str(one["at"]))
    message = counted_message("{} decision.", "{} decisions.", len(found))
    if job.arguments.json:
        decisions: list[Json] = [*found]
        job.out.document({"status": "ok", "message": message, "decisions": decisions})
    else:
        lines = wrapped(decision_lines(found), terminal_width(sys.stdout))
        job.out.lines([*lines, translate(message)])
    return INTACT


async def _export(ledger: TableLedger, job: Job, bounds: tuple[str, str]) -> int:
    given = job.arguments
    entries: list[str] = []
    for source in await _sources(ledger, job):
        for name in await source.named(given.session):
            async for line in export(source.ledger, name, _wanted(job, bounds), source.folder):
                entries.append(line)
                if not given.json and len(entries) == _BATCH:
                    job.out.lines(map(escaped_json, entries))
                    entries.clear()
    if given.json:
        document = {"status": "ok", "message": f"{len(entries)} entries.", "entries": [json.loads(e) for e in entries]}
        job.out.document(document)
    else:
        job.out.lines(map(escaped_json, entries))
    return INTACT


async def _attention(ledger: TableLedger, job: Job, bounds: tuple[str, str]) -> int:
    given = job.arguments
    views: list[RequestView] = []
    for source in await _sources(ledger, job):
        known = await source.ledger.requests(utc_now(), session=given.session or None, pending=False, limit=_ALL)
        views += [
            within(view, *bounds, given.by_person)
            for view in known
            if given.risk in ("", view.request.risk_class.value)
        ]
    found = attention(views)
    tired = fatigue(found, utc_now())
    message = counted_message("{} approver.", "{} approvers.", len(found))
    if given.json:
        approvers: list[Json] = [one.to_dict() for one in found]
        warnings: list[Json] = [*tired]
        job.out.document({"status": "ok", "message": message, "approvers": approvers, "fatigue": warnings})
    else:
        job.out.lines([*(shown(line) for one in found for line in attention_lines(one)), translate(message)])
        job.say(*tired)
    return INTACT
