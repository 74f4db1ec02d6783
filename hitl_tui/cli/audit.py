"""`hitl-tui audit`: check the record, take an anchor, print everything. Needs no engine."""

from __future__ import annotations

import json
from pathlib import Path

from hitl_tui.cli.given import Arguments
from hitl_tui.cli.output import Output, escaped
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.language import render
from hitl_tui.ledger.audit import check_anchor, export, head, verify
from hitl_tui.ledger.contract import Ledger
from hitl_tui.ledger.sqlite import SqliteLedger
from hitl_tui.repl.plain import shown
from hitl_tui.supervisor.storage import DataFolder

INTACT, CHANGED = 0, 1
_BATCH = 500


async def audit(arguments: Arguments, data: Path, out: Output) -> int:
    """Carry one of `verify`, `head`, `export` out.

    Raises:
        BadInput: an anchor isn't one, or is given where none is used; UnknownName: there is no such session.
        StorageError: the ledger can't be read.
    """
    if arguments.anchors and (arguments.what != "verify" or arguments.session):
        raise BadInput("--anchor goes with audit verify alone; the anchor names its session itself.")
    folder = DataFolder(data)
    folder.prepare()
    async with SqliteLedger.open(folder.ledger) as ledger:
        stream = await _stream(ledger, arguments.session)
        if arguments.anchors:
            return await _anchors(ledger, arguments, out)
        if arguments.what == "verify":
            return await _verify(ledger, stream, arguments, out)
        if arguments.what == "head":
            return await _head(ledger, stream, arguments, out)
        return await _export(ledger, stream, arguments, out)


async def _stream(ledger: Ledger, session: str) -> str | None:
    if not session:
        return None
    known = [found.stream for found in await ledger.streams()]
    if session not in known:
        hint = f"there are {', '.join(known[-6:])}" if known else "it is empty"
        raise UnknownName(f'The record has no session "{shown(session)[:80]}"; {hint}.')
    return session


async def _verify(ledger: Ledger, stream: str | None, arguments: Arguments, out: Output) -> int:
    found = await verify(ledger, stream)
    count = f"{found.entries} entries of {found.streams} session{'' if found.streams == 1 else 's'}"
    more = len(found.problems) + found.unlisted
    message = f"{count}: all as it was written." if found.ok else f"{count}: {more} problem{'' if more == 1 else 's'}."
    if arguments.json:
        out.document({"status": "ok" if found.ok else "changed", "message": message, **found.to_dict()})
    else:
        out.lines([*(shown(f"{p.stream} {p.n}: {render(p.what)}") for p in found.problems), render(message)])
    return INTACT if found.ok else CHANGED


async def _anchors(ledger: Ledger, arguments: Arguments, out: Output) -> int:
    checks = [await check_anchor(ledger, anchor) for anchor in arguments.anchors]
    bad = sum(not check.ok for check in checks)
    message = f"{len(checks)} anchor{'' if len(checks) == 1 else 's'} checked, {bad or 'none'} broken."
    if arguments.json:
        status = "changed" if bad else "ok"
        out.document({"status": status, "message": message, "ok": not bad, "anchors": [c.to_dict() for c in checks]})
    else:
        broken = [shown(f"{c.anchor.stream} {c.anchor.n}: {render(c.problem)}") for c in checks if not c.ok]
        out.lines([*broken, render(message)])
    return CHANGED if bad else INTACT


async def _head(ledger: Ledger, stream: str | None, arguments: Arguments, out: Output) -> int:
    anchors = await head(ledger, stream)
    if arguments.json:
        message = f"{len(anchors)} anchor{'' if len(anchors) == 1 else 's'}; keep them elsewhere."
        out.document({"status": "ok", "message": message, "anchors": [a.to_dict() for a in anchors]})
    else:
        out.lines(shown(str(anchor)) for anchor in anchors)
    return INTACT


async def _export(ledger: Ledger, stream: str | None, arguments: Arguments, out: Output) -> int:
    names = [stream] if stream is not None else [found.stream for found in await ledger.streams()]
    entries: list[str] = []
    for name in names:
        async for line in export(ledger, name):
            entries.append(line)
            if not arguments.json and len(entries) == _BATCH:
                out.lines(map(escaped, entries))
                entries.clear()
    if arguments.json:
        document = {"status": "ok", "message": f"{len(entries)} entries.", "entries": [json.loads(e) for e in entries]}
        out.document(document)
    else:
        out.lines(map(escaped, entries))
    return INTACT
