"""`run`, `do` and `show`: what they do with a session, and what they print."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path

from hitl_tui.cli.admin_commands import DONE, FAILURE, looking, opened
from hitl_tui.cli.graph_settings import given_settings
from hitl_tui.cli.job import Job, Stdin
from hitl_tui.cli.json_documents import do_document, run_document, show_document
from hitl_tui.cli.settings import operator_name, operator_of, workspace_folder
from hitl_tui.commands.command_context import stopped_result
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.parser import is_command, parse
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.json_text import is_structured
from hitl_tui.core.json_types import JsonObject, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.core.tally import DONE as TALLY_DONE
from hitl_tui.core.tally import EXPIRED, REJECTED, tally
from hitl_tui.language import _, translate
from hitl_tui.policy.approver_names import checked_name
from hitl_tui.policy.operator_identity import Acting
from hitl_tui.policy.rule_check import folder_problems
from hitl_tui.supervisor.activity import Activity
from hitl_tui.supervisor.module_loading import importing
from hitl_tui.supervisor.open_questions import files_of
from hitl_tui.supervisor.open_session import OpenSession, open_session
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_input import LONGEST_QUERY
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_summary import still_words
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import FAILED, FINISHED, PLANNING, RUNNING, Snapshot
from hitl_tui.teams.contract import FilePreview
from hitl_tui.terminal.own_command import own_command
from hitl_tui.terminal.token_prompt import ask_token
from hitl_tui.wording.text_lines import (
    answer_lines,
    answer_of,
    is_terminal,
    plan_lines,
    questions_lines,
    result_lines,
    shown,
    standing,
)

WAITS, REFUSED = 3, 4

log = logging.getLogger(__name__)

_MANY = 100_000

_TOLD = frozenset({"started", "finished", "failed", "note"})


async def run(job: Job) -> int:
    """Begin a session; go until something must be decided or it is finished."""
    given = job.arguments
    query = given_text(given.text, job.stdin)
    by = operator_of(given.by, job.environ, job.data).name
    workspace = workspace_folder(given.workspace)
    async with opened(job, make=True) as registry:
        await registry.trust.use_once(workspace, by=by)
        mode = Mode(given.mode) if given.mode else None
        settings = given_settings(given)
        setup = await registry.create(query, workspace, session_id=given.session, mode=mode, settings=settings)
        job.session_id = setup.info.id
        job.log.hide(setup.secrets)
        if not given.json:
            job.say(*folder_problems(workspace, registry.approvers.current))
        _load_engine()
        async with open_session(registry.store, setup, query) as session:
            with told(job, session):
                snapshot = await session.carried_on()
        if given.json:
            job.out.document(run_document(snapshot))
        else:
            files = await files_of(setup, snapshot.questions, query)
            job.out.lines([*plan_lines(snapshot), *outcome(job, snapshot, files)])
        await printed(job, setup, snapshot)
    return exit_code(snapshot)


def _load_engine() -> None:
    """Import what it takes to own a session, before it is opened and without a search for garbage."""
    with importing():
        import_module("hitl_tui.supervisor.own_session")


def acting_of(job: Job) -> Acting:
    """Return who gives the command: the account, or the approver whose token is typed at the terminal.

    Raises:
        BadInput: the name can't be a person's, or there is no terminal to type a token at.
        Refused: the token isn't the approver's.
    """
    given = job.arguments
    operator = operator_of(given.by, job.environ, job.data)
    if not given.approver:
        return operator
    name = checked_name(given.approver, "--approver")
    identity = operator.by_token(name, ask_token(_("Token of {name}: ").format(name=shown(name))))
    return lambda: identity


def handler_of(
    registry: SessionRegistry,
    session: SessionView,
    setup: SessionSetup,
    acting: Acting,
    names: tuple[str, ...] = (),
    *,
    opens_next: bool = False,
) -> CommandHandler:
    """Return what carries out a command that a shell gives; see `CommandHandler`."""
    return CommandHandler(
        session,
        setup.planner,
        by=acting().name,
        channel="cli",
        admin=registry.admin,
        acting=acting,
        tasks=registry.tasks,
        names=names,
        opens_next=opens_next,
    )


async def do(job: Job) -> int:
    """Carry one chat command out, let what it set free run, stop at the next question."""
    given = job.arguments
    line = given_text(given.text, job.stdin)
    acting = acting_of(job)
    looks = is_command(line) and not _changes(line)
    async with looking(job) as registry:
        if job.once:
            await registry.trust.use_once(
                Path(registry.data.session(given.session).info().workspace),
                by=operator_of(given.by, job.environ, job.data).name,
            )
        setup = await registry.setup(given.session, teams=False)
        job.session_id = setup.info.id
        job.log.hide(setup.secrets)
        known = await setup.shown_questions(_MANY)
        if not (setup.read_only or setup.folder.is_owned()):
            _load_engine()
        async with open_session(registry.store, setup) as session:
            if session.alone:  # its owner has ended since it was looked for
                await session.take_over()
            handler = handler_of(registry, session, setup, acting)
            if session.setup.broken and looks and not given.json:
                job.say(session.setup.broken)
            before = session.snapshot.raw
            with told(job, session):
                if looks:  # what an earlier process left half done comes first, so that the picture is true
                    await session.settled()
                result = await handler.handle_command(line, known, given.began)
                try:
                    snapshot = await session.settled() if session.owned else session.snapshot
                except StorageError as error:
                    if looks or result.failed:
                        raise
                    result, snapshot = stopped_result(error, session.begun, result), session.snapshot
            files = await files_of(session.setup, snapshot.questions, snapshot.query)
        code, asked = _report(job, result, snapshot, before, files, looks=looks)
        await printed(job, setup, asked)
    return code


async def printed(job: Job, setup: SessionSetup, snapshot: Snapshot | None) -> None:
    """Put on record that the questions of a snapshot were shown: they are on standard output by now."""
    if snapshot is not None and snapshot.questions and not (setup.read_only or setup.broken):
        by = operator_name(job.arguments.by, job.environ, job.data)
        try:
            await setup.mark_shown([q.id for q in snapshot.questions], by, "cli")
        except StorageError as error:  # they count as not shown, and are shown again
            log.warning("not recorded as shown: %s", error.message)


def _report(
    job: Job,
    result: CommandResult,
    snapshot: Snapshot,
    before: Mapping[str, TodoState],
    files: Mapping[str, FilePreview | None],
    *,
    looks: bool,
) -> tuple[int, Snapshot | None]:
    """Print what a command answered, and what became of the plan since `before`.

    Return the exit code, and the snapshot whose questions were printed, if any.
    """
    asked: Snapshot | None = None
    lines = result_lines(result, snapshot)
    if job.arguments.json:
        job.out.document(do_document(result, snapshot))
        asked = snapshot
    elif result.failed:
        shell = [f"  {job.give(command)}" for command in result.data.get("give", ())]
        job.err.lines([lines[0], *shell] if shell else lines)
    elif looks or result.status == "recorded":
        job.out.lines(lines)
    else:
        job.out.lines([*lines, *plan_lines(snapshot, before=before), *outcome(job, snapshot, files)])
        asked = snapshot
    if result.failed:
        return result.exit_code, asked
    if "stopped" in result.data:  # what had begun is cut off; what hadn't waits for the session to be opened again
        return FAILURE if result.data["begun"] else WAITS, asked
    if looks or result.status == "recorded":
        return DONE, asked
    code = exit_code(snapshot)
    return DONE if code == REFUSED else code, asked  # the order itself was carried out, also where it rejected


async def show(job: Job) -> int:
    """Show where a session stands; nothing is opened or run."""
    async with looking(job) as registry:
        setup = await registry.setup(job.arguments.session, teams=False)
        job.session_id = setup.info.id
        with suppress(StorageError):  # what can't be settled now can still be shown
            await registry.settle_overdue(setup.info.id)
        owned = setup.folder.is_owned()
        async with SessionFollower.open(setup) as follower:
            snapshot = follower.snapshot
        model = setup.model
        said, use = (await model.said(), await model.document()) if model is not None else ("", {})
        files = await files_of(setup, snapshot.questions, snapshot.query)
        still = () if owned else setup.folder.still_running()
        _print_session(job, snapshot, files, said, use, owned=owned, still=still)
        await printed(job, setup, snapshot)
    return DONE


def _print_session(
    job: Job,
    snapshot: Snapshot,
    files: Mapping[str, FilePreview | None],
    model: str,
    use: JsonObject,
    *,
    owned: bool,
    still: Sequence[str],
) -> None:
    left = not (owned or snapshot.carrier)
    interrupted = left and snapshot.status in (PLANNING, RUNNING)
    cut_off = [todo_id for todo_id in snapshot.running if todo_id not in still] if left else []
    if job.arguments.json:
        again = job.give("/todo list") if interrupted else ""
        job.out.document(show_document(snapshot, use, owned=owned, next_command=again, still=still, cut_off=cut_off))
        return
    open_now = [_("Another process has it open.")] if owned and not snapshot.carrier else []
    if snapshot.carrier:
        open_now = [shown(translate(snapshot.carrier))]
    asked = _("Input: {query}") if is_structured(snapshot.query) else _("Question: {query}")
    question = asked.format(query=shown(snapshot.query))
    workspace = _("Workspace: {workspace}").format(workspace=shown(snapshot.workspace))
    about = [question, workspace, *([shown(translate(model))] if model else []), *open_now, ""]
    if not interrupted:
        runs_on = [translate(still_words(still))] if still else []
        job.out.lines([*about, *plan_lines(snapshot, cut_off), *outcome(job, snapshot, files), *runs_on])
        return
    command = f"{own_command()} --session {job.session_id}{job.place}"
    plan = [*plan_lines(snapshot, cut_off), ""] if snapshot.raw else []
    standing_still = [
        translate(standing(snapshot, left=True, still=still)),
        _("Go on with: {command}").format(command=command),
    ]
    job.out.lines([*about, *plan, *standing_still])


def exit_code(snapshot: Snapshot) -> int:
    """Return the exit code for where a session stands."""
    if snapshot.status == FAILED:
        return FAILURE
    if snapshot.status != FINISHED:
        return WAITS
    ended = tally(snapshot.raw.values())
    return REFUSED if not ended.get(TALLY_DONE) and (ended.get(REJECTED) or ended.get(EXPIRED)) else DONE


def given_text(text: str, stdin: Stdin | None) -> str:
    """Return a query or command, read from standard input when it is `-`.

    Raises:
        BadInput: it is no text, or too long to be one.
    """
    if text == "-":
        most = LONGEST_QUERY * 4
        data = stdin.read(most + 1) if stdin is not None else b""
        if len(data) > most:
            raise BadInput(
                Message(
                    "Standard input is too long: at most {} characters.",
                    f"{LONGEST_QUERY:,}",
                )
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(Message("Standard input isn't UTF-8 text.")) from error
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(Message("The text given isn't valid UTF-8; write it as plain text.")) from error
    return text


def _changes(line: str) -> bool:
    try:
        return parse(line).changes
    except BadInput:
        return True


def outcome(job: Job, snapshot: Snapshot, files: Mapping[str, FilePreview | None]) -> list[str]:
    """Return what a person reads below the plan: the questions with what answers them, the answer, where it stands.

    Args:
        job: what is done.
        snapshot: the session.
        files: by question the file that its step would make.
    """
    person = is_terminal(sys.stdout)
    asked = questions_lines(snapshot, job.give, bound=not person, files=files)
    return [*asked, *answer_lines(answer_of(snapshot), rendered=person), "", translate(standing(snapshot))]


def told(job: Job, session: OpenSession) -> ExitStack:
    """Tell a person who watches what begins and ends meanwhile."""
    stack = ExitStack()
    if sys.stderr is not None and sys.stderr.isatty() and not job.arguments.json:

        def tell(entry: Activity) -> None:
            if entry.kind in _TOLD:
                job.err.lines([f"{entry.todo_id or session.id} {_(entry.kind)}: {translate(entry.text)}"])

        stack.callback(session.listen(tell))
    return stack
