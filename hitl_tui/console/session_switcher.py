"""Which session is on the screen, and how another one gets there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from textual.content import Content
from textual.screen import ModalScreen

from hitl_tui.config.starters import Starter, is_copy, new_copy
from hitl_tui.console.screens.prompt_screen import PromptScreen
from hitl_tui.console.services import SessionConsole
from hitl_tui.console.session_handle import PendingSession, SessionHandle
from hitl_tui.console.widgets.prompt_line import Prompt, typed_text
from hitl_tui.core.errors import BadInput, GivenUp, HitlError, Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, safe_message, translate
from hitl_tui.wording.error_lines import error_line
from hitl_tui.wording.status_words import begun_words

if TYPE_CHECKING:
    from textual.await_complete import AwaitComplete
    from textual.worker import Worker

    from hitl_tui.config.declared_graphs import Attachment
    from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
    from hitl_tui.console.screens.home_screen import HomeScreen
    from hitl_tui.console.screens.session_screen import SessionScreen
    from hitl_tui.supervisor.session_summary import SessionSummary
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.task_checkpoints.task_inbox import WaitingStep


_LOOK = 2.0
"""Seconds between two looks at what other processes do."""
_FIRST = 100
"""Sessions that are listed first: no screen has room for more of them."""
_SHARE = 10
"""After a list of sessions it is rested for so many times as long as it took: many of them take long."""


class SwitchedConsole(SessionConsole, Protocol):
    """The app, with the two screens that last."""

    home: HomeScreen
    started_in: str

    @property
    def session(self) -> SessionScreen: ...

    @property
    def session_mounted(self) -> bool: ...

    def pop_screen(self) -> AwaitComplete: ...

    def set_timer(self, delay: float, callback: Callable[[], object], /) -> object: ...

    def set_interval(self, interval: float, callback: Callable[[], None], /) -> object: ...

    def call_later(self, callback: Callable[[], None], /) -> bool: ...


class SessionSwitcher:
    """Begins, opens, lists and leaves sessions.

    Args:
        app: has the two screens that last, the first one and that of a session.
    """

    def __init__(self, app: SwitchedConsole) -> None:
        self._app = app
        self._counting = False
        self._listing = False
        self._stamp: tuple[int, ...] = ()
        self._look_again = 0.0
        self._shown = False
        self._listed: InboxDialog | None = None
        self._summaries: Sequence[SessionSummary] = ()
        self._looked_up: tuple[int, ...] | None = None
        """The state of the record when all sessions were listed last because somebody was about to name one."""
        self._seen: set[str] = set()
        self._untrusted: set[str] = set()
        """Digests of folders that somebody went on in without trusting them."""
        self.opened = ""
        """Id of the session that is open on its screen; empty for none."""
        self._coming = ""
        """What is on its way there: a session's id, or words for a new one; empty for nothing."""
        self._looking: Worker[None] | None = None
        self.starting = ""
        """The question of a session that begins and isn't there yet; empty for none."""

    # Another one -----------------------------------------------------------------------------------------------

    def begin(self, query: str, *, typed: bool = False) -> None:
        """Begin a session in the workspace.

        Args:
            query: its question.
            typed: a line at a session's prompt said so: it begins in that one's folder, but for a starter's copy.
        """
        app, here = self._app, self._app.workspace
        seen = app.session.snapshot if typed and self.opened else None
        there = Path(seen.workspace) if seen is not None else here
        if there != here.resolve() and there.is_dir() and not is_copy(there, app.options.data):
            app.start(partial(self._begin, query, there, typed=typed), "open")
        else:
            app.start(partial(self._begin, query, here, app.options.attached, typed=typed), "open")

    def begin_starter(self, starter: Starter) -> None:
        """Begin a starter's session in its own copy."""
        self._app.start(partial(self._begin_starter, starter), "open")

    async def _begin_starter(self, starter: Starter) -> None:
        folder = await asyncio.to_thread(new_copy, starter, self._app.options.data)
        await self._begin(starter.question, folder, _attached_in(starter, folder))

    async def _asked_first(self, where: Path | str, opening: Coroutine[object, None, SessionHandle]) -> SessionHandle:
        """Open a session once its folder was asked about; its screen is there by then, so that keys are its own.

        Args:
            where: the folder, or the id of a session that works in one.
            opening: opens it.
        """
        try:
            if isinstance(where, Path):
                await self._ask_trust(where)
            elif where not in self._seen:
                await self._ask_trust(await self._app.engine.workspace(where))
                self._seen.add(where)
        except BaseException:
            opening.close()
            raise
        return await opening

    async def _ask_trust(self, folder: Path) -> None:
        """Show once what a folder wants beyond what it may, and trust it when that is said.

        Raises:
            BadInput: it changed while it was shown; nobody trusts it then.
        """
        app = self._app
        trust = await app.engine.trust(folder)
        if not trust.asks or trust.digest in self._untrusted:
            return
        from hitl_tui.console.dialogs.trust_dialog import TrustScreen

        if await app.push_screen_wait(TrustScreen(trust)):
            await app.engine.grant(folder, trust.digest)
        else:
            self._untrusted.add(trust.digest)

    async def _begin(
        self, query: str, workspace: Path, attached: Attachment | None = None, *, typed: bool = False
    ) -> None:
        from hitl_tui.core.policy import Mode

        app = self._app
        app.say(_("Starting…"))
        self.starting = query
        try:
            mode = Mode(app.mode) if app.mode else None
            wanted = app.options.session if attached is not None and attached is app.options.attached else ""
            begun = app.engine.begin(query, workspace, mode, app.session, attached, wanted)
            await self._show(self._asked_first(workspace, begun), _("new session"), typed=typed)
            if attached is not None and attached.given(query):
                app.session.note(begun_words(attached))
        except Exception as error:
            home = app.home
            if app.screen is home:
                home.draft(typed_text(query))
            # A model may have been waited for while nobody looked.
            if home.is_mounted and isinstance(error, HitlError) and not isinstance(error, GivenUp):
                home.keep(error_line(error))
            raise
        finally:
            self.starting = ""

    def open(self, session_id: str, *, typed: bool = False, unasked: bool = False) -> None:
        """Open a session; the one that is open is only shown, unless it stopped.

        Args:
            session_id: its id.
            typed: a line at a session's prompt said so.
            unasked: nobody said so: it was left unfinished here.
        """
        here = session_id == self.opened and self._app.engine.session_open
        if here or session_id == self._coming:
            self.back()
        else:
            self._app.start(partial(self._open, session_id, typed=typed, unasked=unasked), "open")

    async def _open(self, session_id: str, *, typed: bool = False, unasked: bool = False) -> None:
        opening = self._asked_first(session_id, self._app.engine.open(session_id, self._app.session))
        await self._show(opening, session_id, typed=typed)
        if unasked:
            named = _("{name} was left unfinished here and is open again. {console.home} goes to the first screen.")
            said = self._app.keymap.named(named).replace("{name}", safe_text(session_id, multiline=False))
            self._app.session.note(said)
            self._app.session.keep(said, error=False)

    async def _show(self, opening: Coroutine[object, None, SessionHandle], what: str, *, typed: bool) -> None:
        screen, seen = self._app.session, self._app.screen
        before, handle = self.opened, screen.handle
        text = await self._taken_from(self._app.home)
        pending = screen.opening(safe_text(what, multiline=False), text, typed=typed)
        self.opened, self._coming = "", what
        await self._bring(screen)  # first: what is typed from now on is for the session that comes
        self._app.keyboard.take_early()
        try:
            fresh = await opening
        except Exception:
            pending.failed()
            await self._stay(before, handle, home=seen is self._app.home)
            raise
        finally:
            if self._coming == what:
                self._coming = ""
        self.opened = fresh.session.id
        await screen.prepare_rows(fresh)
        screen.attach(fresh, pending.came(fresh))  # what a person went to meanwhile stays before it
        if fresh.setup.read_only:
            screen.note(translate(fresh.setup.broken or (await self._app.engine.registry()).data.note))
        warnings, self._app.engine.warnings = self._app.engine.warnings, []
        for said in warnings:
            screen.note(translate(said))
        home = self._app.home
        if home.is_mounted:
            name = safe_text(fresh.session.id, multiline=False)
            said = _("{name} is open; {console.home} shows it.") if self._app.screen is home else ""
            home.say(self._app.keymap.named(said).replace("{name}", name))
        if not self._shown:  # it took the place of what was said at the start
            self._shown = True
            self._app.say_problems()

    async def _taken_from(self, screen: PromptScreen) -> str:
        """Take what stands in the prompt of a screen that is left; keys that come from now on are kept for the next.

        A line that was sent there left it empty, so that all of it was typed since, while a session opens.
        """
        app = self._app
        if app.screen is not screen or not screen.is_mounted:
            return ""
        prompt = screen.query_one(Prompt)
        if screen.focused is not prompt:
            return ""
        app.keyboard.early.begin()
        for node in (app, prompt):  # what is on its way there arrives
            arrived = asyncio.Event()
            if node.call_later(arrived.set):
                await arrived.wait()
        text, prompt.text = prompt.text, ""
        return text

    async def _stay(self, before: str, handle: SessionHandle | None, *, home: bool) -> None:
        """After a failure to open: what was open is open still, and the screen that was seen is shown."""
        screen = self._app.session
        still = handle is not None and self._app.engine.session_open
        if home or not still:
            text = await self._taken_from(screen)
            await self._bring(self._app.home)
            if text:
                self._app.home.draft(text)
            self._app.keyboard.take_early()
        if handle is not None and still:
            self.opened = before
            screen.attach(handle, PendingSession().came(handle))
        else:
            self._remember("")

    async def _bring(self, screen: PromptScreen) -> None:
        """Make one of the two lasting screens the one that is seen; dialogs over it end without an answer."""
        app = self._app
        bottom = screen if screen in app.screen_stack else app.home
        while app.screen is not bottom:
            if isinstance(app.screen, ModalScreen):
                await app.screen.dismiss(getattr(app.screen, "LEFT", None))
            else:
                await app.pop_screen()
        if screen is not bottom:
            await app.push_screen(screen)

    def back(self) -> None:
        """Show the session that is open, or on its way."""
        if (self.opened or self._coming) and self._app.screen is self._app.home:
            self._app.push_screen(self._app.session)

    def inbox(self) -> None:
        """Show the questions of all sessions, and go to the one that is chosen; close the list where it is shown."""
        if self._listed is not None and self._app.screen is self._listed:
            self._listed.action_close()
        elif isinstance(self._app.screen, PromptScreen):
            self._app.start(self._inbox, "inbox")

    async def _inbox(self) -> None:
        from hitl_tui.console.dialogs.inbox_dialog import InboxDialog

        app = self._app
        listed = self._listed = InboxDialog(self.opened)
        app.start(partial(self._read_inbox, listed), "inbox")
        try:
            chosen = await app.push_screen_wait(listed)
        finally:
            self._listed = None
        if chosen is None:
            return
        session, request = chosen
        steps = {one.request_id: one for one in await app.engine.waiting_steps()}
        if request in steps:
            await self._decide_step(steps[request])
            return
        remote = app.engine.remote
        asked = remote.waiting(request) if remote is not None else None
        if remote is not None and asked is not None and asked.view.request.session == session:
            from hitl_tui.console.remote_review import review

            await review(app, remote, asked)
            self.count_inbox()
            return
        if session != self.opened:
            await self._open(session)
        else:
            await self._bring(app.session)
        app.session.go_to_question(request)

    async def _read_inbox(self, listed: InboxDialog) -> None:
        engine = self._app.engine
        try:
            listed.take(await engine.requests(listed.wanted))
            await self._count_inbox()
        except HitlError:
            listed.action_close()
            raise

    async def _decide_step(self, waiting: WaitingStep) -> None:
        """Show a step of an agent's task, and say of it what the operator says; what was edited is shown anew."""
        from hitl_tui.console.dialogs.task_step_dialog import CallDialog, Said, TaskStepDialog
        from hitl_tui.policy.approvers import ApproverFile

        app, draft = self._app, None
        while True:
            await app.engine.step_was_shown(waiting)
            request, people = waiting.view.request, ApproverFile(app.options.data).current
            nobody = people.shortfall(request.terms, request.requester)
            said = await app.push_screen_wait(TaskStepDialog(waiting, nobody))
            if said is None:
                return
            try:
                if said is not Said.EDIT:
                    await self._say_of_step(waiting, Verdict(said.value))
                    return
                dialog = CallDialog(waiting)
                dialog.recall(draft)
                arguments, draft = await app.push_screen_wait(dialog), dialog.draft
                if arguments is not None:
                    waiting = await app.engine.edit_step(waiting, arguments)
                    app.say(_("Edited; it is asked anew, and votes that were given before don't count."))
                    self.count_inbox()
            except HitlError as error:
                app.say(error_line(error), error=True)
                if not isinstance(error, BadInput):  # it is decided, or not theirs to decide
                    return

    async def _say_of_step(self, waiting: WaitingStep, verdict: Verdict) -> None:
        from hitl_tui.console.approver_token import other_approver
        from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog

        app, name = self._app, safe_text(waiting.step.name, multiline=False)
        reason: str | None = ""
        if verdict is Verdict.REJECT:
            said = Content(_("Reason (the agent is told)"))
            reason = await app.push_screen_wait(WordsDialog(_("Reject · {name}").format(name=name), said, _("Reject")))
        if reason is None:
            return
        try:
            step = await app.engine.decide_step(waiting, verdict, reason)
        except Refused as refused:
            who = await other_approver(app, waiting.view.request, refused)
            step = await app.engine.decide_step(waiting, verdict, reason, who)
        app.say(safe_message(step.decision_words(verdict), multiline=False))
        self.count_inbox()

    # What goes on ----------------------------------------------------------------------------------------------

    def seen(self, snapshot: Snapshot) -> None:
        """The session on the screen looks like this: it is remembered, and what it asks calls for somebody."""
        self._remember(snapshot.session_id, snapshot.workspace, finished=snapshot.status in ("finished", "failed"))
        self._app.notifications.asked(snapshot.session_id, [q.id for q in snapshot.questions])
        self._app.notifications.entitle(snapshot.session_id, len(snapshot.questions))
        self.count_inbox()

    def elsewhere(self, session: str, snapshot: Snapshot) -> None:
        """A session that is open and not on the screen looks like this: it may call for somebody."""
        self._app.notifications.asked(session, [q.id for q in snapshot.questions])
        self.count_inbox()
        if self._app.screen_stack and self._app.screen is self._app.home:
            self.list_all()

    def count_inbox(self) -> None:
        """Count what waits for a person in all sessions, for the header."""
        if not self._counting:
            self._counting = True
            self._app.set_timer(0.2, lambda: self._app.start(self._count_inbox, "count"))

    async def _count_inbox(self) -> None:
        self._counting = False
        waiting = await self._app.engine.count_waiting()
        if self._listed is not None:
            self._listed.take(await self._app.engine.requests(self._listed.wanted), waiting)
        if self._app.session_mounted:
            self._app.session.inbox(waiting)
        if self._app.home.is_mounted:
            self._app.home.inbox(waiting)

    def _remember(self, session_id: str, workspace: str = "", *, finished: bool = False) -> None:
        memory, folder = self._app.memory, self._app.started_in
        seen = memory.known._replace(session=session_id, finished=finished, workspace=workspace, folder=folder)
        memory.keep(seen)

    # All of them -----------------------------------------------------------------------------------------------

    def begin_listing(self) -> None:
        """From now on they can be listed: the engine that knows them is imported once there is something to see."""
        self._listing = True
        self._app.set_interval(_LOOK, self._look)
        self._app.engine.follow_runtime(self._app.workspace, self.count_inbox)
        self._app.engine.follow_threads(self._app.workspace)

    def _look(self) -> None:
        """What other processes did shows here, too: sessions they began, and what those ask."""
        if monotonic() < self._look_again:
            return
        before, self._stamp = self._stamp, self._app.engine.stamp()
        if before != self._stamp:
            self.count_inbox()
            if self._app.screen_stack and self._app.screen is self._app.home:
                self.list_all()

    def list_all(self, at: str = "") -> None:
        """Load the list of sessions for the first screen.

        Args:
            at: the session to put the cursor on; empty to leave it.
        """
        if self._listing:
            self._app.start(partial(self._list, at), "list")

    async def _list(self, at: str) -> None:
        began = monotonic()
        admin = await self._app.engine.admin()
        # Many take a while, and what was listed before stays until they are there.
        home, newest = self._app.home, None if self._app.home.known else _FIRST
        found = await admin.sessions(newest=newest)
        self._look_again = monotonic() + _SHARE * (monotonic() - began)
        if home.is_mounted:
            await home.show_sessions(found, at)
            home.inbox(await self._app.engine.count_waiting())
            await self._show_trust()
        await self._app.engine.prepare()
        if len(found) != newest:
            return
        began, chosen = monotonic(), home.chosen
        found = await admin.sessions()
        self._look_again = monotonic() + _SHARE * (monotonic() - began)
        if home.is_mounted:
            await home.show_sessions(found, at if home.chosen == chosen else "")

    async def _show_trust(self) -> None:
        try:
            trust = await self._app.engine.trust(self._app.workspace)
        except HitlError:  # a session that begins there says why it can't
            return
        self._app.home.show_trust(trust)
        self._app.home.show_model(await self._app.engine.model(trust))

    def look_through(self, words: str) -> None:
        """Look for words in the questions, steps and answers of all sessions; for no others any more."""
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if words.strip():
            self._looking = self._app.start(partial(self._look_through, words), "texts")

    async def _look_through(self, words: str) -> None:
        home, texts = self._app.home, (await self._app.engine.admin()).texts
        home.take_texts(words, await texts.having(words), 0)
        async for unread in texts.refresh(self.known):
            home.take_texts(words, await texts.having(words), unread)

    def seek(self, words: str) -> None:
        """Show the first screen with the sessions that have these words."""
        self._app.start(partial(self._seek, words), "list")

    async def _seek(self, words: str) -> None:
        await self._bring(self._app.home)
        await self._list("")
        self._app.home.seek(words)

    @property
    def known(self) -> Sequence[SessionSummary]:
        """The sessions there are, newest last, as they were listed last."""
        return self._summaries or self._app.home.known[::-1]

    def look_up(self) -> None:
        """List all sessions anew, if anything changed: somebody is about to name one."""
        now = self._app.engine.stamp()
        if now != self._looked_up:
            self._looked_up = now
            self._app.start(self._look_up, "known")

    async def _look_up(self) -> None:
        self._summaries = await (await self._app.engine.admin()).sessions()

    @property
    def chosen(self) -> str:
        """Id of the session that is on the screen, or at the cursor of the first screen; empty for none."""
        return self.opened if self._app.session_shown else self._app.home.chosen

    # In order --------------------------------------------------------------------------------------------------

    def keep(self, what: str, session_id: str = "", given: str = "") -> None:
        """Rename, fork, export, import or delete a session; the chosen one with no id."""
        from hitl_tui.console.session_administration import keep

        self._app.start(partial(keep, self._app, what, session_id or self.chosen, given), "keep")

    def renamed(self, session_id: str, title: str) -> None:
        """Show a session under its new title, where it is on the screen."""
        if session_id == self.opened and self._app.session_mounted:
            self._app.session.renamed(title)

    async def forget(self, session_id: str) -> None:
        """Leave a session for good: it is about to be deleted."""
        self._app.notifications.asked(session_id, ())
        if session_id == self._app.memory.known.session:
            self._remember("")
        if session_id == self.opened:
            self.opened = ""
            await self._bring(self._app.home)
            self._app.session.gone()


def _attached_in(starter: Starter, folder: Path) -> Attachment | None:
    """Return the graph that a starter attaches; None for one with the built-in teams."""
    if not starter.graph:
        return None
    from hitl_tui.config.declared_graphs import Attachment, graph_in

    return Attachment(graph_in(folder, starter.graph), starter.question)
