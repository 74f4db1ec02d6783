"""`hitl-tui attach`: any LangGraph graph, unchanged, under supervision."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from hitl_tui.cli.console_command import has_screen, open_console
from hitl_tui.cli.fast_args import Arguments
from hitl_tui.cli.graph_settings import given_settings, header_variables, text_or_file
from hitl_tui.cli.job import Job, Stdin
from hitl_tui.cli.session_jobs import exit_code, given_text, outcome, printed, told
from hitl_tui.cli.settings import operator_of, workspace_folder
from hitl_tui.config.declared_graphs import (
    LANGGRAPH_FILE,
    Attachment,
    GraphDeclaration,
    declared_graph,
    holds_password,
)
from hitl_tui.config.paths import given_path
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.config.workspace_files import team_graph
from hitl_tui.core.addresses import is_url
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import translate
from hitl_tui.teams.contract import GO_ON
from hitl_tui.teams.registry import TeamRegistry

log = logging.getLogger(__name__)


def attach(job: Job) -> int:
    """Begin a session with a graph, in a console where there is a screen; return the exit code.

    Raises:
        NeedsTrust: its folder has to be trusted first; nothing was imported.
        BadInput: there is no such graph, or no input for it; nothing was made.
    """
    if job.arguments.waiting:
        return job.run(_take_over(job))
    with job.out.alone(_printed):  # what the graph prints while it is imported isn't part of the document
        found = attachment(job.arguments, job.stdin, job.data)
    if not job.arguments.json and (has_screen() or job.arguments.line):
        return open_console(job, found)
    with contextlib.redirect_stdout(sys.stderr):  # what the graph prints isn't part of the document
        return job.run(_attach(job, found))


def attachment(given: Arguments, stdin: Stdin | None, data: Path) -> Attachment:
    """Return what a command line attaches, once the graph has been imported.

    A graph that a langgraph.json names is its folder's word, so that folder has to be trusted first.

    Raises:
        NeedsTrust: it isn't; nothing was imported.
        BadInput: there is no such graph, it can't be loaded, or the input isn't for it; with file and line. Or its
            store can't be used.
    """
    workspace = workspace_folder(given.workspace)
    waits = False
    if is_url(given.name):
        found, waits = _served(given)
    else:
        declared = team_graph(given.name, workspace) or declared_graph(given.name, workspace)
        found = _with_store(_trusted(declared, data, given.trust), given)
    declaration = given_settings(given).of_one(found)
    team = TeamRegistry.from_config(WorkspaceConfig(graphs={declaration.name: declaration})).get(declaration.name)
    assert team.graph is not None
    from hitl_tui.supervisor.attached_graphs.node_containment import printed_to

    with printed_to(lambda line: _printed([line])):
        facts = team.graph.facts
        team.graph.check_settings()
        query = _query(given, stdin, declaration)
        if query:
            team.bind(query, {})
    notes: list[str] = []
    if facts.forgets:
        notes.append(Message("{} has an in-memory saver; what it held before isn't shown here.", declaration.name))
    if facts.keeps:
        notes.append(
            Message(
                "{} keeps its own {}: its threads are stored there, not in the session.", declaration.name, facts.keeps
            )
        )
    if facts.remembers:
        notes.append(
            Message(
                "{} keeps its own {}; what it stores there is lost when this program ends.",
                declaration.name,
                facts.remembers,
            )
        )
    elif lacks := team.graph.store_lacks():
        notes.append(lacks)
    # A thread that waits is only read until somebody answers it.
    approved = given.input is not None or waits
    return Attachment(declaration, query, approved, tuple(notes), team.graph.takes, waits=waits)


def _printed(lines: Sequence[str]) -> None:
    """Keep in the log what a graph writes while it is imported."""
    for line in filter(str.strip, lines):
        log.warning("written while a graph was imported: %s", safe_text(line, multiline=False, limit=1_000))


def _served(given: Arguments) -> tuple[GraphDeclaration, bool]:
    """Return the graph of a LangGraph server that a command line names, and whether its thread waits for an answer.

    Raises:
        BadInput: it can't be reached, has no such graph or thread, or an option isn't for it.
    """
    from hitl_tui.graphs.langgraph_server import served_declaration

    if given.saver:
        raise BadInput("A LangGraph server keeps its threads itself; --saver isn't for it.")
    return served_declaration(given.name, given.assistant, given.thread, header_variables(given.header))


def _trusted(declaration: GraphDeclaration, data: Path, once: str) -> GraphDeclaration:
    """Return a graph with the variables that its folder gives it."""
    from dataclasses import replace

    from hitl_tui.policy.trust_book import trust_in
    from hitl_tui.policy.workspace_trust import needs_trust

    if not declaration.origin:
        return declaration
    trust = asyncio.run(trust_in(Path(declaration.origin), data, (once,) if once else ()))
    if not trust.trusted:
        raise needs_trust(declaration.name, trust.folder)
    named = trust.declared.graphs.get(declaration.name)
    if named is None or named.target != declaration.target:
        if declaration.name in trust.declared.tools:
            return declaration
        raise BadInput(Message("{} changed while it was read; try again.", LANGGRAPH_FILE))
    return replace(declaration, env=named.env)


def _with_store(declaration: GraphDeclaration, given: Arguments) -> GraphDeclaration:
    from dataclasses import replace

    if given.assistant or given.header:
        raise BadInput("--assistant and --header are for a LangGraph server: hitl-tui attach http://HOST:PORT")
    if given.thread and not given.saver:
        raise BadInput("--thread names a thread in a store; say which store with --saver.")
    saver = given.saver
    if holds_password(saver):
        raise BadInput(
            Message("A password in --saver would be kept with the session and shown to everyone in the process list."),
            help=Message("Give it in PGPASSWORD or in ~/.pgpass: --saver postgresql://user@host/database"),
        )
    if saver and "://" not in saver:
        path = given_path(saver)
        if not path.is_file():
            raise BadInput(Message("No checkpoint database at {}.", one_line(saver, 200)))
        saver = str(path.resolve())
    return replace(declaration, saver=saver, thread=given.thread)


def _query(given: Arguments, stdin: Stdin | None, declaration: GraphDeclaration) -> str:
    text = given.input
    if text is None:
        return GO_ON if declaration.thread else ""
    if text.startswith("@"):
        return text_or_file(text)
    return given_text(text, stdin)


async def _take_over(job: Job) -> int:
    """Begin a session for each thread that waits on a LangGraph server, and list what waits."""
    from hitl_tui.cli.admin_commands import opened
    from hitl_tui.cli.inbox_commands import inbox
    from hitl_tui.commands.waiting_threads import take_over

    given = job.arguments
    if not is_url(given.name) or given.input is not None or given.thread or given.session:
        raise BadInput("--waiting takes the address of a LangGraph server, without --input, --thread and --session.")
    declaration, _waits = await asyncio.to_thread(_served, given)
    operator, workspace = operator_of(given.by, job.environ, job.data), workspace_folder(given.workspace)
    async with opened(job, make=True) as registry:
        found = await take_over(registry, given_settings(given).of_one(declaration), workspace, operator)
    said = counted_message("{} thread waits at {}.", "{} threads wait at {}.", found.waiting, one_line(given.name, 200))
    job.say(said, *found.problems)
    return await inbox(job)


async def _attach(job: Job, found: Attachment) -> int:
    """Go until something must be decided or it is finished."""
    from hitl_tui.cli.admin_commands import opened
    from hitl_tui.cli.json_documents import run_document
    from hitl_tui.commands.handler import approve_given
    from hitl_tui.supervisor.graph_findings import findings_in
    from hitl_tui.supervisor.open_session import open_session
    from hitl_tui.wording.evidence_rows import findings_rows
    from hitl_tui.wording.text_lines import layout, plan_lines

    given = job.arguments
    if not found.query:
        raise BadInput(
            Message("{} takes {}; pass it with --input.", found.graph.name, found.takes),
            help=Message('For example: --input \'{"…": "…"}\', --input @file.json, or --input "some words"'),
        )
    operator = operator_of(given.by, job.environ, job.data)
    checking = asyncio.create_task(findings_in(found.graph))  # its source is read while it runs
    async with opened(job, make=True) as registry:
        mode = Mode(given.mode) if given.mode else None
        workspace = workspace_folder(given.workspace)
        if job.once:
            await registry.trust.use_once(Path(found.graph.origin or workspace), by=operator.name)
        setup = await registry.create(found.query, workspace, session_id=given.session, mode=mode, graph=found.graph)
        job.session_id = setup.info.id
        job.log.hide(setup.secrets)
        async with open_session(registry.store, setup, found.query) as session:
            with told(job, session):
                await session.carried_on()
                if found.approved and session.snapshot.questions:
                    await approve_given(session, setup.planner, operator.name, operator)
                snapshot = await session.carried_on()
        checked = await checking
        if given.json:
            findings = checked["findings"] if checked is not None else []
            job.out.document({**run_document(snapshot), "notes": list(found.notes), "findings": findings})
        else:
            notes = [*map(translate, found.notes), *layout(findings_rows(checked or {}))]
            job.out.lines([*notes, *plan_lines(snapshot), *outcome(job, snapshot, {})])
        await printed(job, setup, snapshot)
    return exit_code(snapshot)
