"""`hitl-tui trust`: show what a folder wants to run, trust it, take that back, list what is trusted (T4)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hitl_tui.cli.fast_args import Arguments
from hitl_tui.cli.output import Output
from hitl_tui.cli.settings import operator_name, workspace_folder
from hitl_tui.config.workspace_files import real_path
from hitl_tui.core.errors import BadInput
from hitl_tui.language import _, render
from hitl_tui.policy.trust_book import trust_in
from hitl_tui.policy.workspace_trust import WorkspaceTrust
from hitl_tui.repl.trust_prompt import trust_lines
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.storage import DataFolder
from hitl_tui.wording.text_lines import shown, table

DONE = 0


async def trust(arguments: Arguments, data: Path, out: Output) -> int:
    """Carry `trust` out; return the exit code.

    Raises:
        BadInput: there is no such folder, no terminal to ask at and no digest, or the digest isn't the folder's.
        StorageError: the record can't be read or written.
    """
    if arguments.listed:
        return await _list(arguments, data, out)
    folder = workspace_folder(arguments.workspace)
    by = operator_name(arguments.by, os.environ, data)
    if arguments.revoke:
        return await _revoke(folder, by, arguments, data, out)
    if not folder.is_dir():
        raise BadInput(f"The workspace {folder} {'is not a folder' if folder.exists() else 'does not exist'}.")
    found = await trust_in(folder, data)
    if arguments.show:
        return _show(found, arguments, out)
    digest, how = arguments.digest, "digest"
    if not digest:
        if arguments.json or not _at_terminal():
            raise BadInput(
                "Without a terminal, trust needs the digest of what you have seen.",
                help=f"{found.command} --show --json prints it; then: {found.command} --digest DIGEST",
            )
        if found.trusted:
            return _show(found, arguments, out)
        out.lines(trust_lines(found))
        if not _agreed():
            out.lines([_("Not trusted; nothing was changed.")])
            return DONE
        digest, how = found.digest, "terminal"
    async with SessionRegistry.open(data) as bench:
        bench.data.check_writable()
        granted = await bench.trust.grant(folder, digest, by=by, how=how)
    message = f"Trusted {granted.folder} as it is now."
    if arguments.json:
        out.document({"status": "trusted", "message": message, **granted.to_dict()})
    else:
        out.lines([shown(render(message))])
    return DONE


def _show(found: WorkspaceTrust, arguments: Arguments, out: Output) -> int:
    message = f"{found.folder} is trusted ({found.by})." if found.trusted else f"{found.folder} is not trusted."
    if arguments.json:
        out.document({"status": "ok", "message": message, **found.to_dict()})
        return DONE
    digest = _("Digest: {digest}").format(digest=found.digest)
    out.lines([*trust_lines(found), shown(render(message)), digest])
    return DONE


async def _revoke(folder: Path, by: str, arguments: Arguments, data: Path, out: Output) -> int:
    path = str(real_path(folder))
    if not DataFolder(data).ledger.exists():
        raise BadInput(f"{path} is not trusted, so nothing was changed.")
    async with SessionRegistry.open(data) as bench:
        bench.data.check_writable()
        record = await bench.trust.revoke(folder, by=by)
    if record is None:
        raise BadInput(f"{path} is not trusted, so nothing was changed.")
    message = f"{path} is no longer trusted."
    if arguments.json:
        out.document({"status": "revoked", "message": message, "workspace": path, "digest": record.digest})
    else:
        out.lines([shown(render(message))])
    return DONE


async def _list(arguments: Arguments, data: Path, out: Output) -> int:
    from hitl_tui.policy.trust_book import trusted_folders

    kept = [record for record in await trusted_folders(data) if not record.revoked]
    count = f"{len(kept)} folder{'' if len(kept) == 1 else 's'} trusted."
    if arguments.json:
        rows = [{"workspace": r.path, "digest": r.digest, "by": r.by, "at": r.at, "how": r.how} for r in kept]
        out.document({"status": "ok", "message": count, "trusted": rows})
    else:
        out.lines([*table([(shown(r.path), shown(r.by), r.at, r.digest[:12]) for r in kept]), render(count)])
    return DONE


def _at_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _agreed() -> bool:
    """Ask; only a plain yes counts."""
    sys.stdout.write(_("Trust it? It may then run what is listed. y/N ") + " ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "예", "네")
