"""A conversation in lines: opens sessions, gives commands, says what happens."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from hitl_tui.commands.completion import Completion, complete, names_session
from hitl_tui.commands.handler import CommandHandler, approve_given
from hitl_tui.commands.parser import Parsed, is_command, on_behalf, parse
from hitl_tui.commands.question_lookup import answer_hint
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import WITHOUT_SESSION
from hitl_tui.commands.spec import help_table
from hitl_tui.config.declared_graphs import Attachment, GraphDeclaration, graph_in
from hitl_tui.config.loader import load_config
from hitl_tui.config.starters import Starter, new_copy, starters
from hitl_tui.core.errors import BadInput, ConfigError, HitlError, OwnerGone
from hitl_tui.core.interrupts.shape import RESPOND
from hitl_tui.core.jamo import JAMO
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import mask, safe_text
from hitl_tui.language import language, translate
from hitl_tui.planning.replies import calls_for_help
from hitl_tui.policy.rule_check import folder_problems
from hitl_tui.policy.workspace_trust import untrusted_message
from hitl_tui.repl.announcer import Announcer, Say
from hitl_tui.repl.line_source import LineSource
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.supervisor.open_questions import files_of
from hitl_tui.supervisor.open_session import OpenSession, open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_summary import SessionSummary
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import FAILED, FINISHED, Question, Snapshot
from hitl_tui.terminal.ascii_signs import _, clipped, ngettext, signs
from hitl_tui.terminal.own_editor import open_at
from hitl_tui.threads.checkpoint_causes import CheckpointCauses
from hitl_tui.threads.session_thread import SessionThread
from hitl_tui.wording.history_rows import CheckpointChoice, checkpoint_choices
from hitl_tui.wording.rows import joined
from hitl_tui.wording.status_words import begun_words, command_words, follower_words, status_of_session
from hitl_tui.wording.text_lines import (
    Whole,
    error_lines,
    layout,
    plan_lines,
    result_lines,
    session_lines,
    shown,
    standing,
)
from hitl_tui.wording.times import mode_words, safety_words
from hitl_tui.wording.trust_rows import trust_rows

DONE, FAILURE, REFUSED, WAITS = 0, 1, 2, 3
_CHECKPOINTS = 30
_QUESTION = 72
"""Characters of a starter's question in the list: a line of a narrow terminal."""

KEYS = {
    **dict.fromkeys(("1", "y", JAMO["y"]), "approve"),
    **dict.fromkeys(("3", "n", JAMO["n"]), "reject"),
    "4": "skip",
}
"""What a key alone says at a question: the console's numbers, too; a Korean keyboard sends jamo for the letters."""
NUMBERS = tuple(map(str, range(1, 10)))
"""Keys that alone choose the option of that number, at a question that gives a choice."""
_REFUSED = re.compile(rf"\s*(?:n|N|{JAMO['n']})[\s:,]+(\S.*)", re.DOTALL)
"""A rejection with its reason, as people type it where a key alone rejects."""
_NUMBERED = re.compile(rf"\s*(y|Y|n|N|{JAMO['y']}|{JAMO['n']}|[134])\s+([1-9][0-9]?)(?:[\s:,]+(\S.*))?\s*", re.DOTALL)
"""A key and the number of one of several questions, with a reason where the key takes one."""
_OPTIONAL = re.compile(r"\[[^\]]*\]|\bREASON\b")
_PLACE = re.compile(r"\b[A-Z]{3,}\b|…")

log = logging.getLogger(__name__)


class LineSession:
    """One run of line mode.

    Args:
        options: how it begins.
        registry: all sessions.
        say: prints lines.
        again: returns the shell command that opens a session by id.
        changed: is called when the prompt or the toolbar may have changed.
        token: asks for a token at the terminal.
        bound: print commands that name requests by their ids: nobody sits at a terminal.
        fits: returns whether lines stand on the terminal whole; None where single keys answer nothing.
    """

    def __init__(
        self,
        options: OpenOptions,
        registry: SessionRegistry,
        say: Say,
        again: Callable[[str], str],
        changed: Callable[[], None],
        token: Callable[[str], Awaitable[str]],
        *,
        bound: bool = False,
        fits: Callable[[Sequence[str]], bool] | None = None,
    ) -> None:
        self._bound = bound
        self._fits = fits
        self._options = options
        self._token = token
        self._registry = registry
        self._print = say
        self._held: list[str] | None = None
        """What is to be said once the editor is left; None when nothing else has the terminal."""
        self._again = again
        self._changed = changed
        self._workspace = options.workspace or Path.cwd()
        self._session: OpenSession | None = None
        self._handler: CommandHandler | None = None
        self._announcer = Announcer(self._say)
        self._open = AsyncExitStack()
        self._watching: asyncio.Task[None] | None = None
        self._refused = False
        self._secrets: dict[str, str] = {}
        self._source: LineSource | None = None
        self._kept: list[str] = []
        self._asked: set[str] = set()
        """Digests of folders that were asked about already."""
        self._piped = False
        self._heard = False
        self._began = ""
        self._stored, self._last = 0, ""
        """How many sessions there are where none is open, and the id of the one that changed last."""

    def _say(self, lines: Sequence[str]) -> None:
        if self._held is None:
            self._print(lines)
        else:
            self._held += lines

    # What the prompt shows -------------------------------------------------------------------------------------

    def prompt(self) -> str:
        """Return what stands before the line."""
        return f"{self._session.id if self._session else 'hitl-tui'}> "

    def toolbar(self) -> str:
        """Return session, mode and how many questions wait."""
        if self._session is None:
            if not self._stored:
                return _("no session · /new QUESTION starts one · /quit quits")
            kept = ngettext("{n} session stored", "{n} sessions stored", self._stored).format(n=self._stored)
            return joined(kept, _("/open {id} opens the last one").format(id=self._last), _("/sessions lists them"))
        seen = self._session.snapshot
        followed = "" if self._session.owned else f" · {follower_words(seen)}"
        if self._session.setup.read_only:
            followed = _(" · read-only")
        keys = self._keys(seen.questions) if self._fits is not None else ""
        return joined(seen.session_id, mode_words(seen.mode), f"{status_of_session(seen)}{followed}", keys, "/help")

    def _keys(self, questions: Sequence[Question]) -> str:
        """Return the keys that answer the questions that are open."""
        several = len(questions) > 1
        if not several and questions and (options := questions[0].option_commands()):
            return _("1–{n} choose").format(n=len(options))
        shown = [question for question in questions if self._announcer.approved_by_key(question)]
        approves = any(key_command(question, Verdict.APPROVE) for question in shown)
        rejects = any(key_command(question, Verdict.REJECT) for question in questions)
        return joined(
            (_("y N approve") if several else _("y approve")) if approves else "",
            (_("n N reject") if several else _("n reject")) if rejects else "",
        )

    def hint(self, line: str) -> str:
        """Return what an answer that is being typed would send, and as what type; empty for any other line."""
        return shown(translate(answer_hint(line, self._session.snapshot))) if self._session is not None else ""

    def masked(self, line: str) -> str:
        """Return a line without the values of secrets that any session so far declared."""
        return mask(line, self._secrets)

    def typing_began(self) -> None:
        """A line is being typed from now on."""
        self._announcer.typing_began()

    def strayed(self, lines: Sequence[str]) -> None:
        """Take what was written past the prompt for the TODO's that runs, where no other does; it isn't safe."""
        if self._session is not None and self._session.add_lines(lines):
            return
        for line in lines:
            log.warning("written past the prompt: %s", safe_text(line, multiline=False, limit=1_000))

    async def completions(self, line: str, cursor: int) -> list[Completion]:
        """Return what could stand at the cursor."""
        if self._session is None:
            return complete(line, cursor, sessions=await self._sessions(line))
        wanted = line.lstrip().lower().startswith("/checkpoint")
        pages = await self._choices(self._session) if wanted else []
        commands = self._session.setup.commands
        agents, sessions = self._session.setup.planner.agents, await self._sessions(line)
        return complete(line, cursor, self._session.snapshot, agents, pages, commands, sessions)

    async def _choices(self, session: SessionView) -> list[CheckpointChoice]:
        """Return the checkpoints that can be gone back to, with what happened there."""
        past, infos = SessionThread(session), await session.checkpoints(_CHECKPOINTS)
        number = await past.place(infos[0].checkpoint_id) if infos else 0
        return checkpoint_choices(infos, number, await CheckpointCauses().of(past, infos))

    async def _sessions(self, line: str) -> list[SessionSummary]:
        return await self._registry.admin.sessions() if names_session(line) else []

    # The conversation ------------------------------------------------------------------------------------------

    async def converse(self, source: LineSource) -> int:
        """Begin as the options say; carry lines out until they end. Return the exit code.

        Raises:
            HitlError: it can't begin, or the session can't go on.
        """
        self._source = source
        self._piped = source.waits
        self._began = self._registry.now()
        self._registry.tell_warnings(lambda said: self._say([shown(translate(said))]))
        try:
            await self._begin(source)
            await self._catch_up(source)
            while await self._turn(source):
                await self._catch_up(source)
            return self._leave(source)
        finally:
            await self._close()

    async def _turn(self, source: LineSource) -> bool:
        """Take one line and carry it out; return whether to go on. What is wrong with a line is said, no more."""
        try:
            line = await self._next(source)
        except BadInput as error:
            self._complain(error)
            return True
        try:
            return line is not None and await self._line(line, source)
        except HitlError as error:
            self._complain(error)
            return True

    async def _next(self, source: LineSource) -> str | None:
        if self._kept:
            return self._kept.pop(0)
        asking = asyncio.create_task(source.next(), name="next line")
        try:
            if source.waits:
                return await self._next_once_settled(asking)
            while not asking.done():
                watched = {self._watching} if self._watching else set()
                await asyncio.wait({asking, *watched}, return_when=asyncio.FIRST_COMPLETED)
                if self._watching is not None and self._watching.done():
                    await self._watched(self._watching)
            return await asking
        finally:
            asking.cancel()

    async def _next_once_settled(self, asking: asyncio.Task[str | None]) -> str | None:
        """Return a script's next line once what the one before set free has settled; one that cancels it at once."""
        settling = asyncio.create_task(self._settle(), name="settle")
        try:
            await asyncio.wait({asking, settling}, return_when=asyncio.FIRST_COMPLETED)
            if not (asking.done() and asking.exception() is None and _cancels(asking.result())):
                await settling
            return await asking
        finally:
            settling.cancel()

    async def _line(self, line: str, source: LineSource) -> bool:
        """Carry one line out; return whether to go on."""
        if not line.strip():
            return True
        self._heard = True
        if self._session is not None and (self._session.snapshot.questions or self._fits is not None):
            line = self._decided(line, source.key, self._session.snapshot)
        if not is_command(line):
            await (self._give(line) if self._session else self._at_home(line))
            return True
        parsed = parse(line)
        if parsed.spec.name == "quit":
            return False
        if (other := on_behalf(line)) is not None:
            await self._give_as(*other)
        elif parsed.spec.name == "new":
            if query := str(parsed.values.get("query", "")):
                await self._new(query)
            else:
                await self._go_home(source)
        elif parsed.spec.name == "open":
            await self._reopen(str(parsed.values["session"]))
        elif parsed.spec.name == "index":
            await self._registry.prepare(self._workspace, lambda share: None, large=True)
            self._say([_("Indexed {folder}").format(folder=safe_text(self._workspace.name, multiline=False))])
        elif self._session is None:
            await self._without_session(parsed)
        else:
            if not parsed.changes and source.waits:
                await self._settle()
            await self._give(line)
        return True

    def _decided(self, line: str, key: str, snapshot: Snapshot) -> str:
        """Return the command that a line stands for at the questions that are open; any other line as it is.

        Args:
            line: the line.
            key: the key that it is, pressed alone; empty for a line that was typed.
            snapshot: the session.

        Raises:
            BadInput: it doesn't say which question, wasn't typed at it, or the question takes more.
        """
        asked = snapshot.questions
        options = asked[0].option_commands() if len(asked) == 1 and self._fits is not None else []
        if key in map(str, range(1, len(options) + 1)):
            if why := self._announcer.why_not_by_key(asked[0], RESPOND):
                raise BadInput(why)
            return options[int(key) - 1]
        if asked and (verdict := KEYS.get(key)):
            if len(asked) == 1:
                return self._by_key(verdict, asked[0], snapshot)
            number = self._announcer.number_of(asked[0]) or 1
            said = Message("{} questions are open, so say which one.", len(asked))
            raise BadInput(said, help=Message("{} {} answers the first of them.", key, number))
        if self._fits is not None and (line.strip() in KEYS or (options and line.strip() in NUMBERS)):
            said = Message('"{}" was typed before the question was shown, or all at once with more.', line.strip())
            raise BadInput(said, help=Message("Type it again.") if asked else Message("Type it again at a question."))
        if not asked or self._fits is None:
            return line
        if len(asked) > 1 and (named := _NUMBERED.fullmatch(line)):
            verdict, found = KEYS[named[1].lower()], self._announcer.numbered(int(named[2]), snapshot)
            if len(found) == 1 and (not named[3] or verdict != "approve"):
                return f"{self._by_key(verdict, found[0], snapshot)} {named[3] or ''}".strip()
        elif refused := _REFUSED.fullmatch(line):
            return f"{self._by_key('reject', asked[0], snapshot)} {refused[1]}"
        return line

    def _by_key(self, verdict: str, question: Question, snapshot: Snapshot) -> str:
        """Return the command that a key stands for at a question.

        Raises:
            BadInput: it wasn't there yet when the key was pressed, or it takes more.
        """
        lone = sum(one.kind is Kind.PROPOSAL for one in snapshot.questions) == 1
        help = _way(question, verdict, lone=lone)
        if why := self._announcer.why_not_by_key(question, verdict):
            raise BadInput(why, help=help)
        command = key_command(question, verdict)
        if not command:
            raise BadInput(Message("{} takes more than a key.", step_name(question.name)), help=help)
        return command

    async def _give(self, line: str) -> None:
        assert self._session is not None and self._handler is not None
        result = await self._handler.handle_command(line, self._announcer.known())
        if result.failed or result.status == "asked":  # it may have met what wasn't shown yet
            await self._announce(self._session, self._session.snapshot)
        self._refused = self._refused or result.failed
        if "todo_id" in result.data:
            self._announcer.answered(str(result.data["todo_id"]), self._session.snapshot)
        self._say(result_lines(result, self._session.snapshot))
        if "source" in result.data and self._source is not None and not self._source.waits:
            await self._show_source(Path(result.data["file"]), int(result.data["source"]["line"]))
        await self._offer_trust(self._handler, result)

    async def _show_source(self, file: Path, line: int) -> None:
        """Open a file in the person's editor; what is to be said meanwhile is said when they leave it."""
        self._held = []
        try:
            await open_at(file, line, os.environ)
        finally:
            held, self._held = self._held, None
            self._print(held)

    async def _offer_trust(self, handler: CommandHandler, result: CommandResult) -> None:
        """Take the word that trusts the folder that was shown just now, where somebody reads along."""
        if result.data.get("trusted") is not False or self._source is None or self._source.waits:
            return
        self._say([_("Type trust to trust it; Enter continues without.")])
        line = await self._source.next()
        if line is not None and line.strip().lower() == "trust":
            given = await handler.handle_command(f"/trust --digest {result.data['digest']}")
            self._refused = self._refused or given.failed
            self._say(result_lines(given, self._session.snapshot if self._session is not None else None))
        elif line is not None and line.strip():  # it was meant for the session
            self._kept.append(line)

    async def _give_as(self, name: str, command: str) -> None:
        """Give one command as an approver, whose token is asked for at the terminal."""
        if self._session is None or self._handler is None or self._options.operator is None:
            raise BadInput(
                Message("No session is open; write a question to start one."), help=Message("/help lists all commands.")
            )
        known = self._announcer.known()
        token = await self._token(_("Token of {name}: ").format(name=shown(name)))
        handler = self._handler.acting_as(self._options.operator.by_token(name, token))
        result = await handler.handle_command(command, known)
        self._refused = self._refused or result.failed
        self._say(result_lines(result, self._session.snapshot))
        await self._offer_trust(handler, result)

    def _complain(self, error: HitlError) -> None:
        self._refused = True
        self._say(error_lines(error.message, error.help))

    # Beginning -------------------------------------------------------------------------------------------------

    async def _begin(self, source: LineSource) -> None:
        given = self._options
        if given.query:
            await self._new(given.query, given.session)
        elif given.session:
            await self._reopen(given.session)
        else:
            await self._home(source)

    async def _home(self, source: LineSource) -> None:
        if source.waits:  # a script knows what it wants to say
            return
        mode = self._options.mode or _declared_mode(self._workspace)
        lines = [_("hitl-tui: agents propose steps; {safety}.").format(safety=safety_words(mode))]
        workspace, attached = shown(str(self._workspace)), self._options.attached
        if attached is not None:
            lines += [_("Workspace: {workspace}").format(workspace=workspace), *_graph_lines(attached)]
        else:
            lines.append(_("Write a question to start. Workspace: {workspace}").format(workspace=workspace))
        lines += [shown(translate(said)) for said in folder_problems(self._workspace, self._registry.approvers.current)]
        for number, starter in enumerate(_offered() if attached is None else (), start=1):
            lines += [f"  {number}  {starter.title}", f"     {clipped(starter.question, _QUESTION)}"]
        known = await self._registry.admin.sessions()
        self._stored, self._last = len(known), max(known, key=lambda s: s.updated).id if known else ""
        open_ones = [s for s in known if s.status not in (FINISHED, FAILED)]
        if open_ones:
            lines.append(_("Or write the id of a session that isn't finished:"))
            lines += [f"  {line}" for line in session_lines(open_ones[-9:])]
        if known:
            said = ngettext("{n} session is stored.", "{n} sessions are stored.", len(known)).format(n=len(known))
            ways = _("/open {id} opens the last one, /sessions lists all.").format(id=self._last)
            lines.append(f"{said} {ways}")
        self._say([*lines, _("/help lists all commands, /quit quits.")])

    async def _go_home(self, source: LineSource) -> None:
        """Go back to where a session begins."""
        if self._session is not None:
            self._say([_("{id} is left as it stands.").format(id=self._session.id)])
            await self._close()
        await self._home(source)

    async def _at_home(self, line: str) -> None:
        text = line.strip()
        offered = _offered() if self._options.attached is None else []
        if text.isascii() and text.isdigit() and 1 <= int(text[:3]) <= len(offered):
            await self._start(offered[int(text) - 1])
        elif text in self._registry.data.ids():
            await self._reopen(text)
        elif self._options.attached is None and calls_for_help(text):
            await self._without_session(parse("/help"))
        else:
            await self._new(text)

    async def _start(self, starter: Starter) -> None:
        folder = new_copy(starter, self._options.data)
        graph = graph_in(folder, starter.graph) if starter.graph else None
        await self._new(starter.question, workspace=folder, graph=graph)

    async def _without_session(self, parsed: Parsed) -> None:
        if parsed.spec.name in WITHOUT_SESSION:
            result = await WITHOUT_SESSION[parsed.spec.name](self._registry.admin, parsed.values, self._options.by)
            self._say(result_lines(result, None))
            return
        if parsed.spec.name != "help":
            raise BadInput(
                Message("No session is open; write a question to start one."), help=Message("/help lists all commands.")
            )
        for usage, summary in help_table():
            self._say([signs(usage), f"    {_(summary)}"])

    async def _ask_trust(self, folder: Path) -> None:
        """Show once what a folder wants beyond what it may; where somebody reads along, trust it when that is said."""
        trust = await self._registry.trust.of(folder)
        if not trust.asks or trust.digest in self._asked or self._source is None:
            return
        self._asked.add(trust.digest)
        if self._source.waits:
            self._say([shown(translate(untrusted_message(trust)))])
            return
        said = [_("Type trust to trust it; Enter continues without.")]
        self._say([*layout(trust_rows(trust.to_dict())), *said])
        line = await self._source.next()
        if line is not None and line.strip().lower() == "trust":
            await self._registry.trust.grant(folder, trust.digest, by=self._options.by, how="terminal")
            self._say([_("Trusted.")])
        elif line is not None and line.strip():  # it was meant for the session
            self._kept.append(line)

    async def _new(
        self,
        query: str,
        session_id: str = "",
        workspace: Path | None = None,
        graph: GraphDeclaration | None = None,
    ) -> None:
        workspace = workspace or self._workspace
        mode = Mode(self._options.mode) if self._options.mode else None
        attached = self._options.attached
        graph = attached.graph if attached and graph is None else graph
        await self._ask_trust(workspace)
        self._opening(_("Starting a session…"))
        setup = await self._registry.create(query, workspace, session_id=session_id, mode=mode, graph=graph)
        await self._enter(setup, query)
        if attached and attached.given(query) and self._session is not None:
            await self._settle()
            self._say([begun_words(attached)])
            await approve_given(self._session, setup.planner, self._options.by, self._options.operator)

    async def _reopen(self, session_id: str) -> None:
        await self._ask_trust(Path(self._registry.data.session(session_id).info().workspace))
        self._opening(_("Opening {id}…").format(id=session_id))
        await self._enter(await self._registry.setup(session_id), "")

    def _opening(self, said: str) -> None:
        """Say what is done while nothing else can be shown; a script waits anyway."""
        if not self._piped:
            self._say([said])

    async def _enter(self, setup: SessionSetup, query: str) -> None:
        if self._session is not None:
            self._say([_("{id} is left as it stands.").format(id=self._session.id)])
        await self._close()
        self._options.hide(setup.secrets)
        self._secrets |= setup.secrets
        session = await self._open.enter_async_context(open_session(self._registry.store, setup, query))
        self._session = session
        terminal, acting = not self._piped, self._options.operator
        self._handler = CommandHandler(
            session,
            setup.planner,
            by=self._options.by,
            channel=self._channel,
            admin=self._registry.admin,
            tasks=self._registry.tasks,
            acting=acting,
            terminal=terminal,
            since="" if terminal else self._began,
            folder=self._workspace if terminal else None,
        )
        self._open.callback(session.listen(lambda entry: self._announcer.hear(entry)))
        self._introduce(session)

    @property
    def _channel(self) -> str:
        return "pipe" if self._piped else "repl"

    def _introduce(self, session: OpenSession) -> None:
        """Say which session is open now, and how it stands."""
        by, channel, info = self._options.by, self._channel, session.setup.info
        self._announcer = Announcer(
            self._say,
            by,
            bound=self._bound,
            channel=channel,
            showing=lambda question_id: session.writer.showing.note([question_id], by, channel),
            fits=self._fits,
        )
        followed = "" if session.owned else _(" Another process has it open; what you decide is recorded for it.")
        if session.setup.read_only:
            followed = " " + shown(translate(session.setup.broken or self._registry.data.note))
        self._say(
            [
                _("Session {id}: {title}{followed}").format(
                    id=info.id, title=clipped(info.called, 200), followed=followed
                )
            ]
        )
        session.unheard()  # what was said before isn't said again
        self._say(plan_lines(session.snapshot))
        self._changed()

    # Watching --------------------------------------------------------------------------------------------------

    async def _catch_up(self, source: LineSource) -> None:
        """Watch the session beside the prompt, unless lines wait until it has settled."""
        if not source.waits and self._session is not None and self._watching is None:
            self._watching = asyncio.create_task(self._watch(self._session), name="watch")
        self._changed()

    async def _watched(self, watching: asyncio.Task[None]) -> None:
        """Watching came to an end: it can't go on, or the session's owner is gone and this process owns it now."""
        try:
            watching.result()
        except OwnerGone:
            await self._take_over()
            if self._session is not None:
                self._watching = asyncio.create_task(self._watch(self._session), name="watch")

    async def _take_over(self) -> None:
        session = self._session
        assert session is not None
        await self._end_watching()
        self._say([_("The process that had {id} open is gone.").format(id=session.id)])
        try:
            await session.take_over()
        except HitlError:
            await self._close()
            raise
        earlier = self._announcer
        self._introduce(session)
        self._announcer.take_over_from(earlier)

    async def _settle(self) -> None:
        if self._session is not None and self._session.alone:
            await self._take_over()
        if self._session is not None:
            await self._look(self._session, await self._session.settled())

    async def _watch(self, session: OpenSession) -> None:
        seen: Snapshot = session.snapshot
        while True:
            await self._look(session, seen)
            seen = await session.changed(seen)

    async def _look(self, session: OpenSession, snapshot: Snapshot) -> None:
        for entry in session.unheard():
            self._announcer.hear(entry)
        await self._announce(session, snapshot)
        self._changed()

    async def _announce(self, session: OpenSession, snapshot: Snapshot) -> None:
        """Say what is new, the files that steps would make with the questions about them."""
        files = await files_of(session.setup, self._announcer.unseen(snapshot), snapshot.query)
        self._announcer.look(snapshot, files)

    # Leaving ---------------------------------------------------------------------------------------------------

    def _leave(self, source: LineSource) -> int:
        if self._session is None:
            if source.waits and not (self._heard or self._refused):
                ways = Message(
                    'To start a session: hitl-tui run "QUESTION". A pipe takes a question or command a line.'
                )
                raise BadInput(Message("No question, and no terminal to ask on."), help=ways)
            return REFUSED if self._refused and source.waits else DONE
        seen = self._session.snapshot
        rest = [] if seen.concluded and not seen.questions else [translate(standing(seen))]
        self._say([*rest, Whole(_("{again} comes back to it.").format(again=self._again(seen.session_id)))])
        if not source.waits:
            return DONE
        if self._refused:
            return REFUSED
        if seen.status == FAILED:
            return FAILURE
        return DONE if seen.status == FINISHED else WAITS

    async def _end_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        self._watching = None

    async def _close(self) -> None:
        await self._end_watching()
        self._session = self._handler = None
        await self._open.aclose()


def key_command(question: Question, verdict: str) -> str:
    """Return the command that a key alone gives at a question; empty where that answer takes more, or isn't one."""
    named = question.refusal if verdict == Verdict.REJECT else verdict
    command = _OPTIONAL.sub("", question.commands.get(named, "")).strip()
    return "" if _PLACE.search(command) else command


def _way(question: Question, verdict: str, *, lone: bool) -> str:
    """Return the command that gives a verdict, or decides at all; of the only proposal there is without its id."""
    command = question.commands.get(verdict) or next(iter(question.commands.values()), "/help")
    if lone and question.kind is Kind.PROPOSAL:
        return Message("Answer the proposal with {}.", command_words(command.replace(f" {question.name}", "")))
    return Message("Answer {} with {}.", step_name(question.name), command_words(command))


def _cancels(line: str | None) -> bool:
    """Return whether a line stops what runs, and so can't wait for its end."""
    try:
        return line is not None and is_command(line) and parse(line).spec.name == "todo cancel"
    except HitlError:
        return False


def _graph_lines(attached: Attachment) -> list[str]:
    """Return what an attached graph is and takes, and that its input is to be written."""
    graph = attached.graph
    return [
        shown(_("Graph: {name} ({target})").format(name=graph.name, target=graph.target)),
        *(shown(translate(note)) for note in attached.notes),
        shown(_("Takes {shape}").format(shape=attached.takes)),
        _("Write its input to start: JSON or words."),
    ]


def _offered() -> list[Starter]:
    return [starter.in_language(language()) for starter in starters()]


def _declared_mode(workspace: Path) -> str:
    """Return the mode of new sessions in a folder; empty where its settings say one that may not be obeyed."""
    try:
        mode = load_config(workspace).mode
    except ConfigError:
        return ""
    return mode.value if mode is Mode.STEP else ""
