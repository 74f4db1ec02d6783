"""`hitl-tui mcp`: task checkpoints for agents and approvers whose programs speak MCP (M5)."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import sys
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.channels.callers import AGENTS_TOKEN, APPROVER_TOKEN, Callers
from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import BadInput, MissingExtra
from hitl_tui.core.identity import Identity
from hitl_tui.core.messages import Message
from hitl_tui.language import _
from hitl_tui.notifications.wake import wake
from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.folders import masc_folder, register, store_of, uses_neo4j, written_at
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.web.auth import authority
from hitl_tui.web.listening import given_address, listening

if TYPE_CHECKING:
    from hitl_tui.channels.mcp_server.changes import Changes
    from hitl_tui.channels.mcp_server.tools import TaskTools
    from hitl_tui.cli.job import Job

_PORT = 8766


async def mcp(job: Job) -> int:
    """Serve task checkpoints until the client leaves or a signal comes; return the exit code.

    Raises:
        BadInput: a token or an address can't be used.
        MissingExtra: what it needs isn't installed.
    """
    if find_spec("mcp") is None:
        raise MissingExtra(Message('The MCP server needs the extra "mcp".'), help=install_help("mcp"))
    from hitl_tui.channels.mcp_server.changes import Changes
    from hitl_tui.channels.mcp_server.tools import TaskTools

    masc = masc_folder(job.arguments.masc_dir)

    def changed() -> None:
        register(job.data, masc)
        wake(job.data, (masc.parent,), job.environ)

    ledger = store_of(masc, job.environ, changed)
    secrecy = Secrecy()
    secrecy.look_in([masc.parent], job.data)
    job.log.hide({name: value for name in (APPROVER_TOKEN, AGENTS_TOKEN) if (value := job.environ.get(name, ""))})
    stamp = None if uses_neo4j(job.environ) else partial(written_at, masc)
    changes = Changes(TaskCheckpoints(ledger), ledger.poll, stamp)
    tools = TaskTools(ledger, masc, job.data, secrecy, changes)
    await changes.look()  # what is there already isn't news
    if job.arguments.http is None:
        await _on_stdio(job, tools, changes)
    else:
        await _over_http(job, tools, changes, masc)
    return 0


async def _on_stdio(job: Job, tools: TaskTools, changes: Changes) -> None:
    from hitl_tui.channels.mcp_server.server import CheckpointServer
    from hitl_tui.channels.mcp_server.stdio import serve

    callers, token = Callers(ApproverFile(job.data)), job.environ.get(APPROVER_TOKEN, "").strip()

    def caller(_request: object) -> Identity | None:
        return callers.the_approver(token, account_name()) if token else None

    caller(None)
    server = CheckpointServer(tools, caller)
    following = asyncio.create_task(changes.follow(server.announce))
    # Standard output is ours alone meanwhile: what others print goes to standard error.
    assert sys.__stdout__ is not None
    assert sys.__stdin__ is not None
    try:
        await serve(server, sys.__stdin__.fileno(), sys.__stdout__.fileno())
    finally:
        await _ended(following)


async def _over_http(job: Job, tools: TaskTools, changes: Changes, masc: Path) -> None:
    from hitl_tui.channels.mcp_server.http import PATH, caller_of, serve
    from hitl_tui.channels.mcp_server.server import CheckpointServer

    host, port = given_address(job.arguments.http or "", "--http", _PORT)
    local = ipaddress.ip_address(host).is_loopback
    given = job.environ.get(AGENTS_TOKEN, "").strip()
    if not local and not given:
        raise BadInput(Message("{} isn't a loopback address, so {} must hold the token of agents.", host, AGENTS_TOKEN))
    token = given or secrets.token_urlsafe(32)
    callers = Callers(ApproverFile(job.data), token)
    listener = listening(host, port)

    def ready() -> None:
        address = f"http://{authority(host, listener.getsockname()[1])}{PATH}"
        lines = [_("The MCP server is at {address} for {folder}").format(address=address, folder=masc)]
        if not given:
            lines.append(_("Token of agents, until it stops: {token}").format(token=token))
        job.out.lines(lines)

    server = CheckpointServer(tools, caller_of(callers))
    following = asyncio.create_task(changes.follow(server.announce))
    try:
        await serve(server, callers, listener, local=local, ready=ready)
    finally:
        await _ended(following)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
