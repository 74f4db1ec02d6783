"""The screen of one session: header, panes, the question, the prompt, the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus, Resize
from textual.geometry import Region
from textual.layout import Layout
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.keyguard.guard import KeyKind
from hitl_tui.console.keyguard.key_targets import SearchField
from hitl_tui.console.prompt_hints import digit_meant
from hitl_tui.console.question_queue import QuestionPlace
from hitl_tui.console.screens.prompt_screen import PromptScreen
from hitl_tui.console.services import SessionConsole
from hitl_tui.console.session_actions import SessionActions
from hitl_tui.console.session_handle import PendingSession, SessionHandle
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.fitted_layout import Divided
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.layout import ScreenRows, Shown, divided, fold
from hitl_tui.console.widgets.panes import Panes, Tab
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.console.widgets.question_panel import QuestionPanel
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.console.widgets.text_search import keys_for_search
from hitl_tui.console.workers import Work, work_on
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import one_line, safe_text, unsafe_text
from hitl_tui.language import _, mark, safe_message
from hitl_tui.supervisor.snapshot import PLANNING, RUNNING
from hitl_tui.threads.checkpoint_causes import CheckpointCauses
from hitl_tui.wording.status_words import (
    PlanLines,
    ending_words,
    follower_words,
    fork_first,
    running_rows,
    status_of_session,
)
from hitl_tui.wording.times import mode_words

if TYPE_CHECKING:
    from textual.events import Key

    from hitl_tui.commands.completion import Completion
    from hitl_tui.console.session_actions import SessionActions
    from hitl_tui.supervisor.activity import Activity
    from hitl_tui.supervisor.snapshot import Question, Snapshot

_OF_OPEN = frozenset({"session.replay", "console.mode"})
"""Keys that do nothing while a session opens."""
_STOPPED = mark("✗ stopped")
_PAGE = 50
_LARGE = 1_000
"""TODOs from which a plan is worth a look for garbage of its own."""
_LASTS = 3
"""Seconds that something runs until it is shown in the place of an answer that it goes on from."""


class Planning(NamedTuple):
    """A model makes the plan of the session that begins.

    Args:
        model: its name.
        give_up: ends that.
        since: when it was asked; of the monotonic clock.
    """

    model: str
    give_up: Callable[[], object]
    since: float


class SessionScreen(PromptScreen):
    """Shows one session and gives commands on it; also its `Watcher`.

    Args:
        console: the app.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "../widgets/tabs.tcss",
        "../widgets/panes.tcss",
        "../widgets/question.tcss",
        "../widgets/rows.tcss",
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.SESSION)]
    ALLOW_IN_MAXIMIZED_VIEW = "HeaderBar, MessageLine, KeyLine"
    ESCAPE_TO_MINIMIZE = False

    class Seen(Message):
        """The session looks otherwise."""

        def __init__(self, snapshot: Snapshot) -> None:
            super().__init__()
            self.snapshot = snapshot

    class Said(Message):
        """A session's stream has new lines."""

        def __init__(self, session: str, lines: Sequence[Activity]) -> None:
            super().__init__()
            self.session = session
            self.lines = lines

    class Stopped(Message):
        """A session can't go on."""

        def __init__(self, session: str, why: str) -> None:
            super().__init__()
            self.session = session
            self.why = why

    def __init__(self, console: SessionConsole) -> None:
        super().__init__()
        self.handle: SessionHandle | None = None
        self.pending = PendingSession()
        self.snapshot: Snapshot | None = None
        self.operator = SessionActions(console, self)
        self._asked: frozenset[str] = frozenset()
        self._worked_on: list[str] = []
        self._planning: Planning | None = None
        self._stays = False
        """Something was decided at the question, or it was gone to before it came: it keeps the focus for the next."""
        self._decided = ""
        """The question that was decided last, until its successor was gone to."""
        self._text = ""
        """What was typed for the session that opens, before there was a prompt of its own."""
        self._back: Widget | None = None
        self._went = False
        """The key for the question was pressed to get there, so that it leads back, too."""
        self._going = False
        """The question was gone to before there was one: it gets the focus when it comes, unless a key comes first."""
        self._places: dict[str, tuple[str, str]] = {}
        self._called: dict[str, str] = {}
        self._files: frozenset[str] = frozenset()
        """What the session had written when it was opened, or ended last."""
        self._inbox = 0
        self._head = ""
        self._runs = 0
        """Seconds for which something ran since the answer was there."""
        self._newest = ("", 0)
        """The session that is shown, and the highest number of its steps."""
        self._causes = CheckpointCauses()
        self._lines = PlanLines()
        self._shown = Shown()

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield Panes(id="panes")
        yield QuestionPanel(self.hitl.guard, id="question")
        yield from self.foot(self._invitation(None))

    def on_mount(self) -> None:
        self._arrange()
        prompt = self.query_one(Prompt)
        prompt.shown = lambda: self.query_one(QuestionPanel).noticed
        if self._text:
            prompt.insert(self._text)
            self._text = ""
        if self.handle is None:
            self._show_opening()
        self.set_interval(1.0, self._tick)

    def on_screen_resume(self) -> None:
        """What lay over the question is gone: it is seen anew."""
        self._went = False
        self.query_one(QuestionPanel).uncovered()

    def begin_anew(self) -> None:
        self.query_one(QuestionPanel).begin_anew()

    # Sessions --------------------------------------------------------------------------------------------------

    def opening(self, what: str, text: str = "", *, typed: bool = False) -> PendingSession:
        """Show that a session is on its way; what was typed for another one comes back with that one.

        Args:
            what: its name, safe.
            text: what was typed for it already, on another screen.
            typed: a line at this prompt asked for it, so that what stands there now was typed for it.
        """
        self.pending = self.pending.begin()
        if not self.is_mounted:
            self._text = text
            return self.pending
        prompt = self.query_one(Prompt)
        if self.handle is not None:
            draft, typed = ("", True) if typed and self.is_current else (prompt.text, False)
            self._places[self.handle.session.id] = (draft, self.query_one(Panes).chosen)
            if not typed:
                prompt.text = ""
        prompt.insert(text, prompt.document.end)
        panel = self.query_one(QuestionPanel)
        waits = self.handle is None and self.focused is panel  # it was gone to while this one opened
        self.handle, self.snapshot = None, None
        self.workers.cancel_group(self, "history")  # that session may be closed now
        self.say("")
        self._show_opening(what)
        panes = self.query_one(Panes)
        panes.reset()
        panel.update_questions((), waits=waits)
        if (self.focused is panel and not waits) or panes.pane(self.focused):  # that was the other one's
            self.to_prompt()
        self._head, self._causes = "", CheckpointCauses()
        self.show_pane("plan")
        self._show_keys()
        return self.pending

    def _show_opening(self, what: str = "") -> None:
        header = self.query_one(HeaderBar)
        header.session, header.title_text, header.mode, header.status = what, "", "", _("opening…")
        header.followed = ""
        self._planning = None
        self.query_one(MessageLine).stand(_("Opening the session…"), error=False)

    def planning(self, model: str, give_up: Callable[[], object]) -> None:
        """See `Watcher`."""
        self._planning = Planning(model, give_up, monotonic())
        self._show_planning()

    def _show_planning(self) -> None:
        if self._planning is None:
            return
        seconds = int(monotonic() - self._planning.since)
        said = _("{model} is making the plan ({seconds} s) · {session.give_up} gives it up")
        named = self.hitl.keymap.named(said).replace("{seconds}", str(seconds))
        self.query_one(MessageLine).stand(named.replace("{model}", one_line(self._planning.model, 60)), error=False)

    def action_give_up(self) -> None:
        """End the planning of the session that begins."""
        if self._planning is not None:
            self._planning.give_up()
            self._planning = None

    def gone(self) -> None:
        """The session that was open is deleted: nothing of it stays."""
        self.handle, self.snapshot = None, None
        self.pending = PendingSession()

    def renamed(self, title: str) -> None:
        """Show the session under another title."""
        if self.snapshot is not None:
            self._called[self.snapshot.session_id] = title
            self._render_snapshot(self.snapshot)

    async def prepare_rows(self, handle: SessionHandle) -> None:
        """Make the lines of a large plan beforehand, in a thread: meanwhile keys are answered."""
        if len(handle.session.snapshot.raw) >= _LARGE:
            await asyncio.to_thread(self._lines.rows, handle.session.snapshot, datetime.now(UTC))

    def attach(self, handle: SessionHandle, pending: PendingSession) -> None:
        """Show a session that is open.

        Args:
            handle: the session.
            pending: what opened it.
        """
        self.handle, self.pending, self._planning = handle, pending, None
        self.hitl.memory.hide(handle.setup.secrets)
        self.query_one(Panes).recall(handle.session.activity.lines)
        draft, pane = self._places.pop(handle.session.id, ("", ""))
        prompt = self.query_one(Prompt)
        if draft:
            prompt.text = f"{draft}\n{prompt.text}" if prompt.text else draft
            prompt.move_cursor(prompt.document.end)
        if pane:
            self.show_pane(pane)
        self.snapshot = handle.session.snapshot
        self.query_one(MessageLine).overtaken(asked=False)  # it opens no more
        self._files = frozenset(_files_of(self.snapshot))
        self._render_snapshot(self.snapshot)
        self.call_later(self._show_first_answer, self.snapshot, pane)
        if handle.stopped:
            self.stopped(handle.session.id, handle.stopped)
        if len(self.snapshot.raw) >= _LARGE:
            self.call_after_refresh(self.hitl.engine.settle)

    def inbox(self, waiting: int) -> None:
        """Show how many questions wait in all sessions."""
        self._inbox = waiting
        if self.snapshot is not None:
            self._show_status(self.snapshot)

    def _show_status(self, snapshot: Snapshot) -> None:
        if self.handle is not None and self.handle.stopped:  # how it looked last isn't how it stands
            self.query_one(HeaderBar).status = _(_STOPPED)
            return
        elsewhere = self._inbox > len(snapshot.questions)
        status = status_of_session(snapshot, self.hitl.options.by)
        self.query_one(HeaderBar).status = (
            _("{status} · inbox {inbox}").format(status=status, inbox=self._inbox) if elsewhere else status
        )

    def seen(self, snapshot: Snapshot) -> None:
        """See `Watcher`; while another session is on its way, what this one says is for nobody."""
        if self._shows(snapshot.session_id):
            self.snapshot = snapshot
            self.post_message(self.Seen(snapshot))

    def said(self, session: str, lines: Sequence[Activity]) -> None:
        """See `Watcher`."""
        if self._shows(session):
            self.post_message(self.Said(session, lines))

    def stopped(self, session: str, message: str) -> None:
        """See `Watcher`."""
        if self._shows(session):
            self.post_message(self.Stopped(session, message))

    def _shows(self, session: str) -> bool:
        return self.handle is not None and self.handle.session.id == session

    async def on_session_screen_seen(self, event: Seen) -> None:
        if event.snapshot is self.snapshot and self._shows(event.snapshot.session_id):
            self._render_snapshot(event.snapshot)
            await self._show_answer(event.snapshot)

    def on_session_screen_stopped(self, event: Stopped) -> None:
        if self._shows(event.session):
            self.query_one(HeaderBar).status = _(_STOPPED)
            said = _("This session stopped: {why} Once that is fixed, {command} continues it.")
            named = said.replace("{command}", safe_text(f"/open {event.session}", multiline=False))
            self.query_one(MessageLine).stand(named.replace("{why}", safe_message(event.why, multiline=False)))

    def on_session_screen_said(self, event: Said) -> None:
        if self._shows(event.session):
            self.query_one(Panes).said(event.lines)

    def _render_snapshot(self, snapshot: Snapshot) -> None:
        handle = self.handle
        assert handle is not None
        header = self.query_one(HeaderBar)
        header.session = safe_text(snapshot.session_id, multiline=False)
        header.title_text = self.called(handle)
        header.mode = mode_words(snapshot.mode)
        self._show_status(snapshot)
        header.followed = "" if handle.session.owned else follower_words(snapshot)
        header.read_only = handle.setup.read_only
        self.query_one(PlanTable).update_rows(self._lines.rows(snapshot, datetime.now(UTC)))
        self.query_one(Panes).share_room()
        self._ask(snapshot)
        self._follow_newest(snapshot)
        self.query_one(StreamPane).follow(snapshot.running)
        self.query_one(Panes).entitle()
        self.query_one(Prompt).placeholder = self._invitation(snapshot)
        self.hitl.sessions.seen(snapshot)
        if snapshot.checkpoint_id != self._head:
            self._head = snapshot.checkpoint_id
            work = partial(self.hitl.guarded, partial(self._load_history, handle))
            work_on(self, work, group="history", exclusive=True)

    def called(self, handle: SessionHandle) -> str:
        """See `SessionDisplay`."""
        title = self._called.get(handle.session.id) or handle.setup.info.called
        # A title is kept as it is shown; once more is for one that somebody wrote into the file.
        return safe_text(fork_first(unsafe_text(title)), multiline=False, limit=400)

    def _invitation(self, snapshot: Snapshot | None) -> str:
        """Return what the empty prompt says that it is for."""
        if snapshot is not None and snapshot.concluded:
            return _("Ask on, or /new to begin something else")
        return _("Describe a change, or / for commands")

    def _ask(self, snapshot: Snapshot) -> None:
        panel = self.query_one(QuestionPanel)
        had = self.focused is panel
        self.pass_by(snapshot)
        waits = had and self._stays and self._goes_on(snapshot) and not self.query_one(Prompt).text
        panel.update_questions(snapshot.questions, waits=waits, mode=snapshot.mode)
        self.operator.decisions.prepare(panel)
        self.show_marks()
        if had and not panel.display:
            self.to_prompt()
        elif self._going and panel.display:
            self._going = False
            self.to_question()
        self._show_keys()
        self._make_room()

    @staticmethod
    def _goes_on(snapshot: Snapshot) -> bool:
        """A question may still come without anything that a person does."""
        return snapshot.busy or bool(snapshot.running) or snapshot.status in (PLANNING, RUNNING)

    async def _show_first_answer(self, snapshot: Snapshot, pane: str) -> None:
        """Show the answer of a session that was opened, but stay in the pane that was left there."""
        if snapshot is self.snapshot:
            await self._show_answer(snapshot)
            if pane:
                self.show_pane(pane)

    async def _show_answer(self, snapshot: Snapshot) -> None:
        pane, here = self.query_one(AnswerPane), self.query_one(Panes).chosen
        outdated = bool(snapshot.response) and not snapshot.concluded
        several = snapshot.concluded and any(todo.get("metadata", {}).get("manual") for todo in snapshot.raw.values())
        asked = "" if several else snapshot.query  # of several each answer stands under its own question
        if not outdated:
            self._runs = 0
        if await pane.show(snapshot.response, asked, outdated=outdated) and snapshot.concluded:
            if self.focused is not self.query_one(StreamPane):
                self.show_pane("answer")
            files = [name for name in _files_of(snapshot) if name not in self._files]
            self._files = frozenset(_files_of(snapshot))
            self.say(self.hitl.keymap.named(ending_words(snapshot, files, there=self.focused is pane)))
        elif here == "answer" and not snapshot.concluded and not outdated:  # one that is there stays to be read
            self.show_pane("stream" if self.has_class("-wide") else "plan")

    def _show_running(self) -> None:
        """Leave the answer once for what runs on, where that takes more than a moment."""
        self._runs += 1
        panes = self.query_one(Panes)
        if self._runs == _LASTS and panes.chosen == "answer" and self.query_one(AnswerPane).outdated:
            self.show_pane("stream" if self.has_class("-wide") else "plan")

    async def _load_history(self, handle: SessionHandle) -> None:
        page = await handle.session.checkpoints(_PAGE)
        count = await handle.thread.place(page[0].checkpoint_id) if page else 0
        led = await self._causes.of(handle.thread, page)
        if handle is self.handle:
            self.query_one(HistoryTable).newest(page, count, led)

    async def on_history_table_older(self, event: HistoryTable.Older) -> None:
        table = self.query_one(HistoryTable)
        if self.handle is not None and table.loaded:
            last = table.loaded[-1]
            page = await self.handle.session.checkpoints(_PAGE, last.checkpoint_id)
            if page:
                table.older(page, await self._causes.of(self.handle.thread, [last, *page]))

    async def _tick(self) -> None:
        """Running times go on, and what another process wrote into its stream arrives."""
        handle, snapshot = self.handle, self.snapshot
        if handle is None or snapshot is None:
            self._show_planning()
            return
        if snapshot.running and not handle.stopped:
            self._show_running()
            self.query_one(PlanTable).update_some(running_rows(snapshot, datetime.now(UTC)))
        if (
            not handle.session.owned
            and (fresh := await asyncio.to_thread(handle.session.unheard))
            and handle is self.handle
        ):
            self.said(handle.session.id, fresh)

    # Panes -----------------------------------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        self._arrange()

    def _arrange(self) -> None:
        fold(self, whole=self.maximized is not None, row=True)
        self.query_one(Panes).stand(beside=self.has_class("-vast"))
        self.show_pane(self.query_one(Panes).chosen)
        self._make_room()

    @property
    def layout(self) -> Layout:
        return Divided(self._divide)

    def _divide(self, room: int, wanted: ScreenRows) -> ScreenRows:
        frame = self.query_one("#prompt-row").gutter.height
        return divided(room, wanted, self.app.size, self._shown, frame)

    def _make_room(self) -> None:
        """Give the question what the plan leaves, unless somebody looks at a pane."""
        panes = self.query_one(Panes)
        steps = len(self.snapshot.raw) if self.snapshot is not None else 0
        shown = Shown(steps, panes.chosen == "plan", bool(panes.pane(self.focused)))
        if shown != self._shown:
            self._shown = shown
            self.refresh(layout=True)

    def clear_stream(self, *, undo: bool) -> None:
        """Empty the stream, or show again what was said before."""
        panes = self.query_one(Panes)
        panes.clear()
        if undo and self.handle is not None:
            panes.recall(self.handle.session.activity.lines)

    def show_pane(self, pane: str, *, focus: bool = False) -> None:
        """Bring a pane to the front."""
        panes = self.query_one(Panes)
        panes.show(pane)
        if focus:
            self.set_focus(panes.query_one(f"#{pane}"))
        elif (here := panes.pane(self.focused)) and not panes.seen(here):
            self.to_prompt()  # what is typed mustn't get lost with the pane

    def on_tab_chosen(self, event: Tab.Chosen) -> None:
        event.stop()
        self.show_pane(event.pane)

    def action_next_pane(self, by: int = 1) -> None:
        """Go to the pane after the one that has the focus, or before it; from elsewhere to the one to look at first."""
        panes = self.query_one(Panes)
        here, answered = panes.pane(self.focused), self.snapshot is not None and self.snapshot.concluded
        first = "answer" if answered else "stream" if self._rests_on_results else panes.chosen
        self.show_pane(panes.following(here, by) if here else first, focus=True)

    @property
    def _rests_on_results(self) -> bool:
        """The step that is asked about goes on from what another one did, which isn't on the screen."""
        todo = self.snapshot.todo(self.question.todo_id) if self.snapshot and self.question else None
        return todo is not None and bool(todo.dependencies) and not self.has_class("-wide")

    def action_maximise(self) -> None:
        """Give the pane that has the focus, or that was chosen last, all the room; or give it its place again."""
        panes = self.query_one(Panes)
        self._maximise(self.maximized is None)
        if self.maximized is not None:
            self.show_pane(panes.pane(self.focused) or panes.chosen, focus=True)
        self._show_keys()

    def _maximise(self, whole: bool) -> None:
        if whole is (self.maximized is not None):
            return
        self.maximized = self.query_one(Panes) if whole else None
        self._arrange()
        if not whole:
            self.query_one(QuestionPanel).uncovered()

    def _leave_pane(self) -> None:
        """Give a pane its place again, or else go to the prompt."""
        if self.maximized is not None:
            self._maximise(False)
        else:
            self.to_prompt()

    def action_replay(self) -> None:
        """Step through the past, from the checkpoint at the cursor when the history has the focus."""
        from hitl_tui.console.screens.history_screen import HistoryScreen
        from hitl_tui.console.screens.replay_view import ReplayView

        handle = self.handle
        if handle is None:
            self.say(_("The session is still opening."), passing=True)
            return
        history = self.query_one(HistoryTable)
        chosen = history.selected if self.focused is history else None
        at = chosen.checkpoint_id if chosen is not None else ""
        self.app.push_screen(HistoryScreen(ReplayView(handle, self.hitl, self, at)))

    def action_question(self) -> None:
        """Go to the question, or back from it; to one that is still to come as soon as it is there."""
        panel = self.query_one(QuestionPanel)
        self._going = False
        if self.focused is panel and panel.question is not None and self._decided not in ("", panel.question.id):
            self._decided = ""  # whoever decides one after the other may go to each
            self.say(_("The next question has the keys already."), passing=True)
        elif self.focused is panel and panel.question is not None and not self._went:
            self._went = True
            said = _("The question has the keys already; {question.leave} goes to the prompt.")
            self.say(self.hitl.keymap.named(said), passing=True)
        elif self.focused is panel:
            self.set_focus(self._back if self._back is not None and self._back.display else self.query_one(Prompt))
        elif panel.display:
            self.to_question()
            self._went = True
        else:
            self._going = self.snapshot is None or self._goes_on(self.snapshot)
            if self._going and not self.query_one(Prompt).text:  # a key that answers is no text there, either
                panel.update_questions((), waits=True)
                self.to_question()
                self._stays = True
            coming, none = _("You get to the question as soon as there is one."), _("Nothing waits for you now.")
            said = coming if self._going else none
            if self.handle is not None and self.operator.decisions.decided(self.handle):
                said += " " + self.hitl.keymap.named(_("{session.undo} undoes your last decision."))
            self.say(said, passing=True)

    def to_question(self) -> None:
        """See `SessionDisplay`, as for the next."""
        panel = self.query_one(QuestionPanel)
        if self.focused is not panel:
            self._back = self.focused
            self._went = False
        self.set_focus(panel)

    def to_next_question(self) -> None:
        if self.query_one(QuestionPanel).display:
            self.to_question()
        else:
            self._going = True

    def on_question_panel_drawn(self, event: QuestionPanel.Drawn) -> None:
        event.stop()
        if self.maximized is not None:  # it lies behind a pane, and is drawn again once that has its place again
            return
        self._follow(anew=not self.query_one(PlanTable).has_focus)
        if self.handle is not None:
            self.handle.session.writer.showing.note([event.question_id], self.hitl.options.by, "console")

    def _follow_newest(self, snapshot: Snapshot) -> None:
        """Bring what came to the plan last into sight: the step of a further question, or of an opened session."""
        (session, known), self._newest = self._newest, (snapshot.session_id, snapshot.highest)
        came = 0 < known < snapshot.highest if session == snapshot.session_id else snapshot.concluded
        plan = self.query_one(PlanTable)
        if came and self.question is None:  # of a first plan the beginning is in sight
            plan.follow(f"todo_{snapshot.highest:03d}", anew=not plan.has_focus)

    def _follow(self, *, anew: bool = False) -> None:
        """Let the plan's cursor stand at what is asked about, unless a person moved it."""
        if self.question is not None and self.question.todo_id:
            self.query_one(PlanTable).follow(self.question.todo_id, anew=anew)

    # Messages --------------------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Add a command, or what it answered, to the stream."""
        self._note(_time_of_day(), text)

    def _note(self, when: str, text: str) -> None:
        for panes in self.query(Panes):  # none at the very end
            panes.note(when, text)

    async def fits_stream(self, text: str) -> bool:
        """See `SessionDisplay`."""
        laid_out = asyncio.Event()
        self.show_pane("stream")
        self.call_after_refresh(laid_out.set)
        await laid_out.wait()
        return all(panes.fits_stream(text) for panes in self.query(Panes))

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if event.widget is not self.focused:  # the focus went on before this came here
            return
        panel = self.query_one(QuestionPanel)
        if event.widget is panel:
            self._follow(anew=True)
        else:
            self._stays, self._decided = False, ""
            if not panel.questions:
                panel.display = False
        if pane := self.query_one(Panes).pane(event.widget):
            self.show_pane(pane)
        else:
            self._maximise(False)
        self._show_keys()
        self._make_room()

    def on_search_input_search_changed(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        panel = self.query_one(QuestionPanel)
        panes = (
            keys.QUESTION,
            keys.PLAN,
            keys.HISTORY,
            keys.STREAM,
            keys.ANSWER,
        )  # parts of the map and widget ids
        focus = (self.focused.id if self.focused else "") or ""
        where = focus if focus in panes else keys.PROMPT
        own = list(keys.of(where, line=True))
        if where == keys.QUESTION:
            undoable = self.handle is not None and self.operator.undoable(self.handle)
            idle = panel.idle_keys if undoable else panel.idle_keys | {"question.undo"}
            own = [k for k in own if k.id not in idle and not k.id[-1].isdigit()]
        elif self.maximized is not None:
            own = [k._replace(label=mark("smaller")) if k.id.endswith(".maximise") else k for k in own]
        own = list(keys_for_search(self.focused, own))
        asked = panel.display and where != keys.QUESTION
        session = [k for k in keys.of(keys.SESSION, line=True) if asked or k.id != "session.question"]
        everywhere = [*session, *keys.of(keys.ANYWHERE, line=True)]
        if self.snapshot is None:
            everywhere = [k for k in everywhere if k.id not in _OF_OPEN]
        self.query_one(KeyLine).show([*own, *everywhere])

    # Prompt ----------------------------------------------------------------------------------------------------

    def completions(self, line: str, cursor: int) -> Sequence[Completion]:
        from hitl_tui.commands.completion import complete

        setup = self.handle.setup if self.handle else None
        agents, commands = (setup.planner.agents, setup.commands) if setup else ({}, {})
        checkpoints = self.query_one(HistoryTable).choices
        known, themes = self.hitl.sessions.known, sorted(self.hitl.available_themes)
        return complete(line, cursor, self.snapshot, agents, checkpoints, commands, known, themes)

    def usage(self, text: str) -> str:
        from hitl_tui.commands.completion import names_session, usage_hint

        if names_session(text):
            self.hitl.sessions.look_up()
        meant = digit_meant(text, self.hitl.keymap, self.question) if self.question is not None else ""
        return meant or usage_hint(text, self.snapshot)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        event.stop()
        self.query_one(Prompt).sent(event.text)
        self.hitl.memory.keep_lines()
        self.operator.send(event.text, event.known)

    def go_to_question(self, request_id: str) -> None:
        """Show a question and give it the focus: it was chosen in the inbox."""
        if self.snapshot is not None and self.handle is not None:
            self._ask(self.handle.session.snapshot)  # it may have come this moment
        panel = self.query_one(QuestionPanel)
        panel.select(request_id)
        if panel.question is not None and panel.question.id == request_id:
            self._back = self.focused
            self.set_focus(panel)

    def read_whole(self, question_id: str) -> None:
        """See `SessionDisplay`, as for the next four."""
        self.query_one(QuestionPanel).seen_whole(question_id)

    def answered(self) -> None:
        for panel in self.query(QuestionPanel):
            panel.answered()

    def begin(self, work: Work) -> None:
        work_on(self, partial(self.hitl.guarded, work), group="operator")

    @property
    def question(self) -> Question | None:
        return self.query_one(QuestionPanel).question

    def way_to(self, name: str) -> QuestionPlace | None:
        """See `SessionDisplay`."""
        if self.handle is not None and self.snapshot is not None:
            self._ask(self.handle.session.snapshot)  # it may have come this moment
        return self.query_one(QuestionPanel).way_to(name)

    @property
    def at_prompt(self) -> bool:
        return self.query_one(Prompt).has_focus

    # What is said --------------------------------------------------------------------------------------------------

    def answer_line(self, text: str, *, error: bool = False) -> None:
        """Show what a typed command came to; the stream has it once it is gone from above the prompt."""
        when = _time_of_day()
        noted = _("error: {text}").format(text=text) if error else text
        self.query_one(MessageLine).say(text, error=error, then=partial(self._note, when, noted))

    @contextmanager
    def working_on(self, line: str) -> Iterator[None]:
        """See `SessionDisplay`."""
        self._worked_on.append(line)
        self._stand()
        try:
            yield
        finally:
            self._worked_on.remove(line)
            self._stand()

    def _stand(self) -> None:
        """Say what goes on, or wrong, whenever there is nothing else to say."""
        if not self.is_attached or (self.handle is not None and self.handle.stopped):
            return
        problem = safe_message(self.snapshot.problem, multiline=False) if self.snapshot is not None else ""
        planned = safe_text(self._worked_on[-1], multiline=False) if self._worked_on else ""
        said = problem or (_("▸ planning: {text}").format(text=planned) if planned else "")
        self.query_one(MessageLine).stand(said, error=bool(problem))

    def pass_by(self, snapshot: Snapshot) -> None:
        """Take away what was said before what is asked now; what goes wrong is said as long as it does."""
        before, self._asked = self._asked, frozenset(q.id for q in snapshot.questions)
        line = self.query_one(MessageLine)
        self._stand()
        if before != self._asked:
            line.overtaken(asked=bool(self._asked - before))

    # Keys ------------------------------------------------------------------------------------------------------

    @property
    def question_focused(self) -> bool:
        """What is typed goes to the question."""
        return isinstance(self.focused, QuestionPanel)

    @property
    def asked_region(self) -> Region | None:
        panel = self.query_one(QuestionPanel)
        return panel.region if panel.question is not None else None

    def kind_of(self, key: Key) -> KeyKind | None:
        """Return what a key is at a question, or that words begin in a pane, where it means nothing else."""
        if self.question_focused:
            return self.query_one(QuestionPanel).kind_of(key)
        pane = self.query_one(Panes).pane(self.focused)
        seeks = isinstance(self.focused, SearchField) and self.focused.takes_text
        if not pane or seeks or not key.is_printable or self.hitl.keymap.at(pane, key.key):
            return None
        return KeyKind.WORD if key.key not in self.active_bindings else None

    def focus_text(self) -> bool:
        if not isinstance(self.focused, Prompt):
            self.to_prompt()
        return True

    def typed(self) -> None:
        """A key was pressed: the question shows whether the next one decides."""
        self._going = False
        self.query_one(QuestionPanel).typed()

    # The question ----------------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        """Take back the last decision, wherever the focus is."""
        if self.hitl.guard.decides:
            self.operator.undo("")
        else:
            self.say(_("Too soon after the last key; nothing was undone."), passing=True)

    def action_undo_chosen(self) -> None:
        """Take back the last decision: that was chosen by its name, so that no pause has to come before."""
        self.operator.undo("")

    def on_question_panel_chosen(self, event: QuestionPanel.Chosen) -> None:
        event.stop()
        if not event.answer.looks:
            self._stays, self._decided = True, event.question.id
        panel = self.query_one(QuestionPanel)
        if event.answer.verdict is Verdict.APPROVE and panel.reviews(event.question):
            panel.answered()
            self._review()
        else:
            self.operator.decisions.answer(event.question, event.answer)

    def on_question_panel_held(self, event: QuestionPanel.Held) -> None:
        event.stop()
        self.say(event.why, passing=True)

    def on_question_panel_keys_changed(self, event: QuestionPanel.KeysChanged) -> None:
        event.stop()
        self._show_keys()

    def on_question_panel_marked(self, event: QuestionPanel.Marked) -> None:
        event.stop()
        self.show_marks()

    def _review(self) -> None:
        """Show the marked questions, and which marked steps aren't asked about yet."""
        self.operator.bulk.review(self.query_one(QuestionPanel).marked, self.query_one(PlanTable).marked)

    def show_marks(self) -> None:
        """Show in the plan which questions are marked."""
        marked = self.query_one(QuestionPanel).marked
        self.query_one(PlanTable).show_marks([q.todo_id for q in marked if q.todo_id])

    def on_question_panel_wanted(self, event: QuestionPanel.Wanted) -> None:
        event.stop()
        panel = self.query_one(QuestionPanel)
        if event.what == "review":
            self._review()
        elif event.what == "results":
            if panel.question is not None:
                self.operator.decisions.show_results(panel.question)
        else:
            self.operator.undo("")

    def on_question_panel_left(self, event: QuestionPanel.Left) -> None:
        event.stop()
        self.to_prompt()

    # The plan --------------------------------------------------------------------------------------------------

    def on_plan_table_moved(self, event: PlanTable.Moved) -> None:
        event.stop()
        self.operator.order.move(event.drop.ids, event.drop.where, event.drop.anchor)

    def on_plan_table_stepped(self, event: PlanTable.Stepped) -> None:
        event.stop()
        self.operator.order.step(event.ids, event.by, event.shown)

    def on_plan_table_held(self, event: PlanTable.Held) -> None:
        event.stop()
        self.say(event.why, passing=True)

    def on_plan_table_wanted(self, event: PlanTable.Wanted) -> None:
        event.stop()
        if event.what == "leave":
            self._leave_pane()
        elif event.what == "filter":
            self.query_one(Panes).filter(event.todo_id)
        elif event.what == "undo":
            self.operator.undo(event.todo_id)
        elif event.what == "mark":
            self.query_one(QuestionPanel).mark(event.todo_id)
        elif event.what == "unmark":
            self.query_one(QuestionPanel).unmark(event.todo_id)
        elif event.what == "steps" and event.todo_id:
            self.operator.show_steps(event.todo_id)

    def on_plan_table_acted(self, event: PlanTable.Acted) -> None:
        event.stop()
        self.operator.bulk.act(event.what, event.ids)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        plan, history = self.query_one(PlanTable), self.query_one(HistoryTable)
        if event.data_table is plan and plan.selected:
            self.operator.show_todo(plan.selected)
        elif event.data_table is history and history.selected is not None:
            self.operator.show_checkpoint(history.selected, engine=not history.folded)

    # The other panes -------------------------------------------------------------------------------------------

    def on_history_table_restore(self, event: HistoryTable.Restore) -> None:
        event.stop()
        self.operator.restore(event.info)

    def on_history_table_left(self, event: HistoryTable.Left) -> None:
        event.stop()
        self._leave_pane()

    def on_stream_pane_left(self, event: StreamPane.Left) -> None:
        event.stop()
        self._leave_pane()

    def on_answer_pane_wanted(self, event: AnswerPane.Wanted) -> None:
        event.stop()
        if event.what == "leave":
            self._leave_pane()
        elif event.what == "export":
            self.hitl.sessions.keep("export")
        elif event.what == "source":
            self.operator.open_source()
        elif text := self.query_one(AnswerPane).text:
            self.app.copy_to_clipboard(safe_text(text))
            self.say(_("The answer was copied."))


def _files_of(snapshot: Snapshot) -> list[str]:
    """Return what a session has written, by its answer."""
    return [str(name) for name in (snapshot.response or {}).get("files") or ()]


def _time_of_day() -> str:
    return f"{datetime.now().astimezone():%H:%M:%S}"
