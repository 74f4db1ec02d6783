"""`hitl-tui open`: any LangGraph checkpoint database, read and never written.

At a terminal it is a console; elsewhere, or with --json, it prints what is there.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING

from hitl_tui.cli.console_command import has_screen
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.safe_text import escaped_json, one_line, safe_text
from hitl_tui.language import _, translate
from hitl_tui.terminal.ascii_signs import clipped
from hitl_tui.wording.difference_rows import value_row
from hitl_tui.wording.text_lines import layout, table
from hitl_tui.wording.thread_rows import CHECKPOINT_TITLES, THREAD_TITLES, checkpoint_cells, thread_cells

if TYPE_CHECKING:
    from pathlib import Path

    from hitl_tui.cli.fast_args import Arguments
    from hitl_tui.cli.job import Job
    from hitl_tui.cli.output import Output
    from hitl_tui.threads.thread_model import CheckpointInfo
    from hitl_tui.threads.thread_store import ThreadStore

Printed = dict[str, object] | list[str]
"""A JSON document, or lines for people."""

DONE = 0
LISTED = 100
"""Threads or checkpoints that are listed when nothing else is said."""
_WIDEST = 10_000
_WIDEST_CELL = 80


def check(arguments: Arguments) -> None:
    """Check what was given before anything is opened.

    Raises:
        BadInput: options that don't go together.
    """
    if arguments.checkpoint and not arguments.thread:
        raise BadInput("--checkpoint needs --thread, the thread that it belongs to.")
    if arguments.against and not arguments.checkpoint:
        raise BadInput("--against needs --checkpoint, the other one of the two to compare.")
    if arguments.ns and not arguments.thread:
        raise BadInput("--ns needs --thread, the thread that the subgraph ran in.")
    if arguments.graph and (arguments.ns or arguments.against):
        raise BadInput("--graph goes on with a copy of a thread; it takes neither --ns nor --against.")


async def print_store(arguments: Arguments, out: Output) -> int:
    """Print threads, a thread's checkpoints, a state, or what differs between two; return the exit code.

    Raises:
        BadInput: there is no such store, thread or checkpoint, or it can't be read; nothing was changed.
    """
    try:
        found = await _found(arguments)
    except StorageError as error:
        raise BadInput(error.message, help=error.help) from error
    if isinstance(found, list):
        out.lines(found)
    else:
        out.document(found)
    return DONE


async def _found(arguments: Arguments) -> Printed:
    from hitl_tui.threads.thread_store import open_store as opened

    async with opened(arguments.file) as store:
        if not arguments.thread:
            return await _threads(arguments, store)
        thread = await store.find_thread(arguments.thread)
        ns = await _namespace(store, thread, arguments.ns)
        if arguments.checkpoint:
            return await _state(arguments, store, thread, ns)
        return await _checkpoints(arguments, store, thread, ns)


async def _namespace(store: ThreadStore, thread: str, given: str) -> str:
    if not given:
        return ""
    found = [n.ns for n in await store.namespaces(thread) if n.ns == given or (n.ns and n.ns.startswith(given))]
    if given in found:
        return given
    if len(found) != 1:
        given = _line(given, 60)
        raise BadInput(
            Message('Several subgraphs of this thread begin with "{}".', given)
            if found
            else Message('No subgraph of this thread begins with "{}".', given)
        )
    return found[0]


async def _threads(arguments: Arguments, store: ThreadStore) -> Printed:
    limit, skip = arguments.limit or LISTED, arguments.skip or 0
    search = await store.search(arguments.search, limit, skip) if arguments.search.split() else None
    threads = search.threads if search else await store.threads(limit, skip)
    total = search.total if search else await store.thread_count()
    more = len(threads) == limit
    message = counted_message("{:,} thread in {}.", "{:,} threads in {}.", total, store.info.name)
    if arguments.json:
        listed = [t.to_dict() for t in threads]
        document = {"status": "ok", "message": message, "store": _store(store), "total": total, "threads": listed}
        sought = {"searched_by_id_alone": search.by_id} if search else {}
        return {**document, **sought, "next": skip + limit if more else None}
    lines = _table(THREAD_TITLES, map(thread_cells, threads), (1, 0, 3, 4, 2))
    rest: list[str] = [Message("More with --skip {}.", skip + limit)] if more else []
    rest += [search.note] if search and search.note else []
    return [*lines, *map(translate, (*rest, message, *store.info.notes))]


async def _checkpoints(arguments: Arguments, store: ThreadStore, thread: str, ns: str) -> Printed:
    limit = arguments.limit or LISTED
    before = await store.find(thread, ns, arguments.before) if arguments.before else ""
    found = await store.older(thread, ns, limit, before)
    total, spaces = await store.count(thread, ns), await store.namespaces(thread)
    following = found[-1].checkpoint_id if len(found) == limit else None
    message = counted_message(
        "{:,} checkpoint of thread {} in {}.",
        "{:,} checkpoints of thread {} in {}.",
        total,
        _line(thread, 60),
        store.info.name,
    )
    if arguments.json:
        listed = [_checkpoint(c) for c in found]
        document = {"status": "ok", "message": message, "store": _store(store), "thread_id": thread, "ns": ns}
        names = [n.to_dict() for n in spaces]
        return {**document, "total": total, "namespaces": names, "checkpoints": listed, "next": following}
    lines = _table(CHECKPOINT_TITLES, map(checkpoint_cells, found), range(len(CHECKPOINT_TITLES)))
    subgraphs = [
        counted_message(
            "Subgraph --ns {1}: {0:,} checkpoint",
            "Subgraph --ns {1}: {0:,} checkpoints",
            n.checkpoints,
            shlex.quote(_line(n.ns)),
        )
        for n in spaces
    ]
    rest = [Message("Older ones with --before {}.", _line(following))] if following else []
    shown = subgraphs[1 if spaces and not spaces[0].ns else 0 :]
    return [*lines, *map(translate, (*rest, *shown, message, *store.info.notes))]


def _checkpoint(info: CheckpointInfo) -> dict[str, object]:
    return {
        "checkpoint_id": info.checkpoint_id,
        "parent_id": info.parent_id or None,
        "timestamp": info.timestamp,
        "step": info.step,
        "source": info.source,
        "next": info.node,
        "asked": info.message.removeprefix("waiting: ") if info.waiting else None,
        "said": info.outcome,
    }


async def _state(arguments: Arguments, store: ThreadStore, thread: str, ns: str) -> Printed:
    from hitl_tui.threads.state_diff import change_document, differences

    moment = await store.moment(thread, ns, await store.find(thread, ns, arguments.checkpoint))
    about = {"store": _store(store), "thread_id": thread, "ns": ns}
    message = Message("Thread {} at checkpoint {}.", _line(thread, 60), _line(moment.checkpoint_id, 60))
    if not arguments.against:
        if arguments.json:
            return {"status": "ok", "message": message, **about, "checkpoint": moment.to_dict()}
        return [*_pretty(moment.to_dict()), translate(message)]
    other = await store.moment(thread, ns, await store.find(thread, ns, arguments.against))
    found = differences(other.values, moment.values)
    changes = [change_document(c) for c in found]
    message = counted_message(
        "{:,} difference from checkpoint {}.",
        "{:,} differences from checkpoint {}.",
        len(changes),
        _line(other.checkpoint_id, 60),
    )
    if arguments.json:
        ids = {"checkpoint_id": moment.checkpoint_id, "against": other.checkpoint_id}
        notes = [*dict.fromkeys((*other.notes, *moment.notes))]
        return {"status": "ok", "message": message, **about, **ids, "differences": changes, "notes": notes}
    return [*layout(map(value_row, found)), translate(message)]


def _store(store: ThreadStore) -> dict[str, object]:
    return {"kind": store.info.kind, "name": store.info.name, "notes": list(store.info.notes)}


def _pretty(document: Mapping[str, object]) -> list[str]:
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return [escaped_json(line) for line in text.split("\n")]


def _line(text: str, width: int = _WIDEST) -> str:
    return one_line(safe_text(text, multiline=False), width)


def _table(titles: Sequence[str], rows: Iterable[tuple[str, ...]], order: Iterable[int]) -> list[str]:
    """Return rows below their titles as aligned lines; none without rows."""
    columns, kept = list(order), list(rows)
    words = [_(title) if title else "" for title in titles]
    return table([[clipped(row[n], _WIDEST_CELL) for n in columns] for row in (words, *kept)]) if kept else []


def open_store(job: Job) -> int:
    """Show a store in a console, or print what is in it; go on with a copy of a thread where a graph is given.

    Raises as `print_store` and `attach` do. Returns the exit code.
    """
    arguments = job.arguments
    check(arguments)
    shown = has_screen() and not arguments.json and not arguments.checkpoint
    if arguments.graph:
        _check_graph(arguments, job.data)
        if not shown:
            return _attach_copy(job, arguments.thread, arguments.checkpoint)
    if not shown:
        return asyncio.run(print_store(arguments, job.out))
    from hitl_tui.supervisor.module_loading import importing

    with importing():
        from hitl_tui.console.store_app import run_store
        from hitl_tui.supervisor.open_options import OpenOptions

    left = run_store(OpenOptions(job.data), arguments.file, arguments.thread, arguments.graph)
    return left if isinstance(left, int) else _attach_copy(job, *left)


def _attach_copy(job: Job, thread: str, checkpoint: str) -> int:
    from hitl_tui.cli.attach_command import attach

    job.arguments = asyncio.run(_forked(job.arguments, job.data, thread, checkpoint))
    return attach(job)


def _check_graph(arguments: Arguments, data: Path) -> None:
    """Load the graph once before anything is copied for it. Raises as `attach` does."""
    from hitl_tui.cli.attach_command import attachment

    attachment(arguments._replace(name=arguments.graph, thread="", input=None), None, data)


async def _forked(arguments: Arguments, data: Path, thread: str, checkpoint: str) -> Arguments:
    """Copy a thread up to a checkpoint, the newest when none is named; return what attaches the graph to the copy."""
    from hitl_tui.supervisor.session_removal import FOLDER
    from hitl_tui.threads.thread_copy import copy_thread
    from hitl_tui.threads.thread_store import ThreadStore, open_database

    if not thread:
        raise BadInput("--graph needs --thread where there is no terminal to choose one on.")
    database = await open_database(arguments.file)
    try:
        store = ThreadStore(database)
        named = await store.find_thread(thread)
        last = await store.find(named, "", checkpoint) if checkpoint else await store.head(named, "")
        target = data / FOLDER / f"{token_hex(8)}.db"
        await copy_thread(database, named, last, target)
    finally:
        await database.close()
    return arguments._replace(
        command="attach", name=arguments.graph, saver=str(target), thread=named, checkpoint="", input=None
    )
