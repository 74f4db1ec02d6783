"""The question panel: shows one question whole, and takes an answer only when it was there to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste, Resize
from textual.geometry import Region
from textual.layout import Layout
from textual.message import Message

from hitl_tui.console import keys
from hitl_tui.console.answer_actions import Answer, answers
from hitl_tui.console.keyguard.guard import KeyGuard, KeyKind
from hitl_tui.console.keyguard.question_guard import AnswerPress, HoldReason, Picture, QuestionGuard
from hitl_tui.console.keymap import Keymap, keymap_of
from hitl_tui.console.question_queue import QuestionPlace, QuestionQueue
from hitl_tui.console.row_layout import content_of
from hitl_tui.console.services import console_of
from hitl_tui.console.widgets.action_bar import ActionClicked, Actions
from hitl_tui.console.widgets.fitted_layout import Fitted
from hitl_tui.console.widgets.virtual_rows import Readable, Rows
from hitl_tui.core.requests import Verdict
from hitl_tui.language import _, mark
from hitl_tui.wording.question_rows import body, has_results, heading, risk_of
from hitl_tui.wording.rows import Row, text_row

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


class QuestionBody(Readable, can_focus=False):
    """What has to be read."""

    class Moved(Message):
        """Other rows of it may be on the screen now: it was scrolled, or has another size."""

    def compose(self) -> ComposeResult:
        yield Rows(id="question-text")

    def on_resize(self) -> None:
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows, from their beginning."""
        self.query_one(Rows).show(rows)
        self.restart()


class TitledFrame(Vertical):
    """Draws another title without drawing its content: a countdown would send all of that every second."""

    _titling = False
    _title = Content("")

    def entitle(self, title: Content) -> None:
        """Show a title in the frame; only another one is drawn."""
        if title == self._title:
            return
        self._title, self._titling = title, True
        try:
            self.border_title = title
        finally:
            self._titling = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if self._titling and not regions and not layout:
            corner = self.content_offset
            regions = (Region(-corner.x, -corner.y, self.outer_size.width, 1),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


_TITLE_EDGE = 4
"""Cells of the frame's upper edge that no title stands in."""
_SKIP = 4
"""The place of the action that skips."""
_TURNS = ("question.next", "question.previous")
_UNMARKABLE = mark("This question can't be approved, so it can't be marked.")
_ASKED_WITHIN = mark("A graph's question is answered on its own, so it can't be marked.")
_NO_RESULTS = mark("This step works from no earlier result.")
_NO_TEXT = mark("A question takes no text, so nothing was pasted: {question.leave} goes to the prompt.")
_NEXT = mark("The next question comes here. {question.leave} goes to the prompt.")
_ON_QUESTIONS = frozenset(
    {"question.mark", "question.review", "question.next", "question.page_down", "question.results"}
    | {"question.skip_why"}
)
"""Ids of keys that do nothing where there is no question."""
_BESIDE = ("question.results", "question.skip_why")
"""Ids of keys that answer, or open what it rests on, without a number of their own."""
_WHY = {
    HoldReason.TOO_SOON: mark(
        "Too soon after the last key: wait half a second, then press it again; nothing was decided."
    ),
    HoldReason.INCOMPLETE: mark("Its preview is still being made; nothing was decided."),
    HoldReason.UNREAD: mark("Read to the end first ({question.page_down}); nothing was decided."),
}


class QuestionPanel(TitledFrame, can_focus=True):
    """All open questions, one on the screen.

    A new one is appended and counted; it never takes the focus nor the place of the one that is shown.

    Args:
        guard: when keys decide.
        id: of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.QUESTION)]

    class Chosen(Message):
        """An answer was chosen for a question, as it was shown."""

        def __init__(self, question: Question, answer: Answer) -> None:
            super().__init__()
            self.question = question
            self.answer = answer

    class Held(Message):
        """A key decided nothing; why."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class Wanted(Message):
        """A key asks for something other than an answer: `undo`, `review` of what is marked, `results` it uses."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    class Marked(Message):
        """What is marked is another than before."""

    class Drawn(Message):
        """A question is on the screen now; `question_id` is its id."""

        def __init__(self, question_id: str) -> None:
            super().__init__()
            self.question_id = question_id

    class Left(Message):
        """Back to the prompt."""

    class KeysChanged(Message):
        """Other keys do something now."""

    def __init__(self, guard: KeyGuard, id: str | None = None) -> None:
        super().__init__(id=id)
        self.guard = guard
        self._answering = QuestionGuard(guard)
        self._ahead, self._reading = self._answering.dialog, self._answering.reading
        self._all = QuestionQueue()
        self._mode = ""
        self.noticed: frozenset[str] = frozenset()
        """Ids of the open questions that the screen showed or counted when it was drawn."""
        self._waits = False
        self.idle_keys: frozenset[str] = frozenset()
        """Ids of its keys that would do nothing now."""

    def compose(self) -> ComposeResult:
        yield QuestionBody(id="question-body")
        yield Actions(id="question-actions")

    @property
    def layout(self) -> Layout:
        return Fitted()

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        self.watch(self.screen, "stack_updates", self._hand_on, init=False)
        self.display = False

    # What is asked ---------------------------------------------------------------------------------------------

    @property
    def question(self) -> Question | None:
        """The one on the screen."""
        return self._all.question

    @property
    def questions(self) -> Sequence[Question]:
        """All open ones, in the order they came."""
        return self._all.listed

    def way_to(self, name: str) -> QuestionPlace | None:
        """Return where the question of this id or name stands, see `QuestionQueue.place_of`."""
        return self._all.place_of(name)

    def offered(self, question: Question) -> tuple[Answer, ...]:
        """Return the places of the row of actions for a question, in the session's mode."""
        return answers(question, self._mode)

    def update_questions(self, asked: Sequence[Question], *, waits: bool = False, mode: str = "") -> None:
        """Take over what is open now: what stays keeps its place, what is new comes last.

        Args:
            asked: what is open.
            waits: with nothing open, stay on the screen for what the plan asks next.
            mode: the session's, which says what asks.
        """
        self._waits, self._mode = waits, mode
        ids = frozenset(q.id for q in asked)
        self._all = self._all.updated(asked)
        self._reading.keep(ids)
        self._draw()
        self.noticed &= ids
        if ids - self.noticed:
            self.call_after_refresh(self._notice, ids)

    def select(self, name: str) -> bool:
        """Show the question with this id or name, or about this TODO; return whether there is one."""
        if (found := self._all.selected(name)) is None:
            return False
        self._all = found
        self._draw()
        return True

    def _draw(self) -> None:
        question, before = self.question, self.display
        self.display = question is not None or self._waits
        self.query_one(Actions).display = question is not None
        if question is None:
            # A long plan doesn't stay in memory behind what is shown.
            if self._reading.put_away() or (self._waits and not before):
                self.query_one(QuestionBody).show([text_row(keymap_of(self.app).named(_(_NEXT)), "$text-muted")])
                self.entitle(Content(_("No question yet")))
                self.border_subtitle = ""
            self._set_idle(_ON_QUESTIONS)
            return
        keymap = keymap_of(self.app)
        draft, read = self._reading.draft(question.id), keymap.shown("question.results")
        picture = question.id, tuple(body(question, keymap.shown("question.6"), draft, read))
        self._titles()
        if not self._reading.draws(picture, partial(self.call_after_refresh, self._on_screen, picture)):
            return
        self.query_one(QuestionBody).show(picture[1])
        self.set_class(risk_of(question) == "high", "-risky")
        self._places()

    def uncovered(self) -> None:
        """What lay over it is gone; it is seen once the screen was drawn."""
        self.guard.drawn(partial(self.call_after_refresh, self._on_screen, self._reading.picture))
        self._places()

    def begin_anew(self) -> None:
        """A page shows it that has shown nothing of it yet."""
        self.noticed = frozenset()
        self._reading.begin_anew()
        self.uncovered()

    def _notice(self, ids: frozenset[str]) -> None:
        if console_of(self.app).watched:
            self.noticed |= ids

    def _on_screen(self, picture: Picture | None) -> None:
        self._notice(frozenset(q.id for q in self.questions))
        if self._reading.on_screen(picture):
            if picture is not None and self.display and self.screen is self.app.screen:
                self.post_message(self.Drawn(picture[0]))
            self._look()

    def _titles(self) -> None:
        question = self.question
        if question is not None:
            index, room = self._all.place + 1, max(0, self.size.width - _TITLE_EDGE)
            marks = len(self._all.marks) if question.id in self._all.marks else 0
            self.entitle(headline(question, index, len(self.questions), datetime.now(UTC), room, marks))

    def _tick(self) -> None:
        question = self.question
        if question is not None and question.view.request.expires_at:
            self._titles()

    # Read to the end -------------------------------------------------------------------------------------------

    @property
    def read(self) -> bool:
        """The end of what is shown was on the screen."""
        return self._reading.read(self._all.shown)

    @property
    def complete(self) -> bool:
        """What the step would touch or write has been found out."""
        return self.question is None or self._reading.complete(self.question)

    def on_resize(self, event: Resize) -> None:
        self._titles()
        self.call_after_refresh(self._look)

    def on_question_body_moved(self, event: QuestionBody.Moved) -> None:
        event.stop()
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        region, question = self.query_one(QuestionBody), self.question
        if question is not None and self.display and not self._reading.unseen and region.laid_out:
            self._reading.look(question, end=region.at_end)
        self._places()

    # Keys and clicks -------------------------------------------------------------------------------------------

    def watch_has_focus(self, focus: bool) -> None:
        super().watch_has_focus(focus)
        if focus:
            self._answering.focused()
        self._places()

    def _places(self) -> None:
        """Draw the row of actions: dim what isn't possible, and all of it while no key decides."""
        if (question := self.question) is None:
            return
        first, *others = self.offered(question)
        if self.reviews(question):
            first = replace(first, label=_("Review {n} marked").format(n=len(self.marked)))
        self.query_one(Actions).show([first, *others], read=self.read)
        self._look_at_keys(question)
        quiet = self.guard.remaining if self.has_focus else None
        self.set_class(bool(quiet), "-unarmed")
        keymap, marks = keymap_of(self.app), len(self._all.marks)
        drawn = not self._reading.unseen and self.query_one(QuestionBody).laid_out
        read = None if not self.read and self.complete and not drawn else self.read
        self.border_subtitle = state_words(question, keymap, marks, read=read, complete=self.complete, quiet=quiet)
        if quiet:
            self.set_timer(quiet + 0.02, self._places)

    def _look_at_keys(self, question: Question) -> None:
        """Work out which keys would do nothing now."""
        acts = {
            "question.mark": question.id in self._all.marks or (len(self.questions) > 1 and _markable(question)),
            "question.review": bool(self._all.marks),
            "question.next": len(self.questions) > 1,
            "question.page_down": not self.read or not self.query_one(QuestionBody).at_end,
            "question.results": has_results(question),
            "question.skip_why": Verdict.SKIP in question.view.request.options,
        }
        idle = frozenset(name for name, does in acts.items() if not does)
        self._set_idle(idle)

    def _set_idle(self, idle: frozenset[str]) -> None:
        """Take note of the keys that would do nothing now."""
        if idle != self.idle_keys:
            self.idle_keys = idle
            self.post_message(self.KeysChanged())

    def typed(self) -> None:
        """A key was pressed somewhere: the row shows whether the next one decides."""
        if self.has_focus:
            self._places()

    def on_action_clicked(self, event: ActionClicked) -> None:
        """A place was clicked: the click that brings the focus here decides nothing."""
        event.stop()
        if self._answering.only_focuses(focused=self.has_focus):
            self.focus()
        else:
            self._choose(event.number, self._answering.clicked())

    def post_message(self, message: Message) -> bool:
        if isinstance(message, Key):
            name = keymap_of(self.app).at(keys.QUESTION, message.key)
            self._ahead.arrived(message, answers=name[-1:].isdigit() or name in _BESIDE)
        return super().post_message(message)

    async def on_key(self, event: Key) -> None:
        """Let keys act when they arrive, in the order in which they were pressed: bindings are looked up later."""
        keymap = keymap_of(self.app)
        wanted = keymap.at(keys.QUESTION, event.key)
        late = self.screen is not self.app.screen and not self._ahead.keeping  # a dialog came while this was on its way
        if late:
            self._ahead.begin()
        kept = self._ahead.came(event, means=bool(wanted), unseen=self._reading.unseen)
        if kept or wanted:
            event.stop()
            event.prevent_default()
        spelled = wanted in _TURNS and event.is_printable and self._ahead.flowing  # words turn no question, either
        if wanted and not kept and not spelled:
            await self.run_action(next(s.action for s in keymap.of(keys.QUESTION) if s.id == wanted))
        if late:
            await self._hand_on()

    def on_paste(self, event: Paste) -> None:
        event.stop()
        if not self._ahead.keep(event):
            self.post_message(self.Held(keymap_of(self.app).named(_(_NO_TEXT))))

    async def _hand_on(self) -> None:
        """Hand what was typed meanwhile to the dialog, now that it is on its way to the screen."""
        if self.screen is not self.app.screen:
            for event in self._ahead.take(keymap_of(self.app)):
                await console_of(self.app).keyboard.hand_on(event)

    def answered(self) -> None:
        """An answer was given, or not: no dialog is on its way any more; what was typed for it goes with it."""
        self._ahead.take(keymap_of(self.app))

    def kind_of(self, key: Key) -> KeyKind | None:
        """Return what a key is to the guard: for a dialog on its way, or the beginning of words; None for others."""
        if self._ahead.pending:
            return KeyKind.OTHER
        means = keymap_of(self.app).at(keys.QUESTION, key.key)
        return KeyKind.WORD if key.is_printable and not means else None

    def action_act(self, number: int) -> None:
        self._choose(number, self._answering.pressed())

    def action_skip_why(self) -> None:
        """Skip the step once a reason was asked for, which may stay empty."""
        self._choose(_SKIP, self._answering.pressed(), ask="reason")

    def _choose(self, number: int, press: AnswerPress, ask: str = "") -> None:
        """Give the answer of a place, as far as it counts.

        Args:
            number: the place.
            press: how it was chosen.
            ask: what comes first, for a verdict; empty for what always does.
        """
        if (question := self.question) is None:
            self.post_message(self.Held(_("Nothing is asked yet; nothing was decided.")))
            return
        answer = self.offered(question)[number - 1]
        if ask and not answer.why_not:
            if answer.verdict is None:  # what a team asks is answered in its own words
                self._say_why(HoldReason.IMPOSSIBLE, _("Only a step is skipped with a reason."))
                return
            answer = replace(answer, ask=ask)
        why = self._answering.judge(question, answer, press)
        if why is not None:
            self._say_why(why, answer.why_not)
        else:
            self.post_message(self.Chosen(question, answer))

    def _say_why(self, why: HoldReason, impossible: str = "") -> None:
        """Say why a key decided nothing."""
        self.post_message(self.Held(keymap_of(self.app).named(impossible or _(_WHY[why]))))

    # Marks and drafts ------------------------------------------------------------------------------------------

    @property
    def marked(self) -> tuple[Question, ...]:
        """The marked questions, in the order they came."""
        return self._all.marked

    def mark(self, todo_id: str) -> None:
        """Mark the question about a TODO, if it can be approved."""
        found = next((q for q in self.questions if todo_id and q.todo_id == todo_id), None)
        if found is not None and found.id not in self._all.marks and Verdict.APPROVE in found.view.request.options:
            self._remark(self._all.marking(found))

    def reviews(self, question: Question) -> bool:
        """Return whether approving a question means reviewing it with the others that are marked."""
        return len(self._all.marks) > 1 and question.id in self._all.marks

    def unmark(self, todo_id: str) -> None:
        """Take away the marks of a TODO's questions."""
        self._remark(self._all.unmarking({q.id for q in self.marked if q.todo_id == todo_id}))

    def _remark(self, marked: QuestionQueue) -> None:
        self._all = marked
        self.post_message(self.Marked())
        self._titles()
        self._places()

    def action_mark(self) -> None:
        """Mark the question on the screen, or take its mark away; that decides nothing."""
        if (question := self.question) is None:
            return
        if question.id in self._all.marks:
            self._remark(self._all.unmarking({question.id}))
        elif _markable(question):
            self._remark(self._all.marking(question))
        else:
            self.post_message(self.Held(_(_ASKED_WITHIN) if question.shape is not None else _(_UNMARKABLE)))

    def action_review(self) -> None:
        if (why := self._answering.judge_review(marked=bool(self._all.marks))) is not None:
            self._say_why(why)
        else:
            self.post_message(self.Wanted("review"))

    def action_results(self) -> None:
        """Show what the steps before found; that decides nothing."""
        if (question := self.question) is None:
            return
        if not has_results(question):
            self.post_message(self.Held(_(_NO_RESULTS)))
        elif (why := self._answering.judge_results()) is not None:
            self._say_why(why)
        else:
            self.post_message(self.Wanted("results"))

    def has_draft(self, question_id: str) -> bool:
        """What a file would hold is known, or being found out."""
        return self._reading.has_draft(question_id)

    def show_draft(self, question_id: str, rows: Sequence[Row], *, awaited: bool = False) -> None:
        """Show rows with a question; on the screen that is a change like any other. See `ReadProgress.show_draft`."""
        self._reading.show_draft(question_id, rows, awaited=awaited)
        if question_id == self._all.shown:
            self._draw()
            self.call_after_refresh(self._look)

    def seen_whole(self, question_id: str) -> None:
        """Its end was read elsewhere, on the screen of details."""
        if self.question is not None and question_id == self.question.id:
            self._reading.read_elsewhere(self.question)
            self._places()

    def action_step(self, by: int) -> None:
        if len(self.questions) > 1:
            self._all = self._all.turned(by)
            self._draw()

    def action_scroll(self, by: int) -> None:
        self.query_one(QuestionBody).page(by)

    def action_edge(self, last: bool) -> None:
        self.query_one(QuestionBody).edge(last)

    def action_undo(self) -> None:
        if (why := self._answering.judge_undo()) is not None:
            self._say_why(why)
        else:
            self.post_message(self.Wanted("undo"))

    def action_leave(self) -> None:
        self.post_message(self.Left())


def _markable(question: Question) -> bool:
    """Return whether a question can be approved with others: by its own verdict, not by what a graph calls so."""
    return Verdict.APPROVE in question.view.request.options


def headline(question: Question, index: int, total: int, now: datetime, width: int = 0, marks: int = 0) -> Content:
    """Return the title of the panel.

    Args:
        question: the one that is shown.
        index: its place, from 1.
        total: how many are open.
        now: for the time that is left.
        width: cells there are; 0 for as many as it takes.
        marks: 0 when this one isn't marked, else how many are.
    """
    place = _("{number} of {total}").format(number=index, total=total) if total > 1 else ""
    return content_of(heading(question, place, now, width, marks))


def state_words(
    question: Question, keymap: Keymap, marks: int, *, read: bool | None, complete: bool, quiet: float | None
) -> Content:
    """Return what stands in the lower edge of the panel: what is marked, what is asked exactly, and what it waits for.

    Args:
        question: the one that is shown.
        keymap: names the keys.
        marks: how many questions are marked.
        read: it was read to its end; None while it isn't drawn, so that nobody knows whether its end is in sight.
        complete: all that there is to be read is there.
        quiet: seconds without a key that it takes before a key decides; None when keys go elsewhere.
    """
    shown = keymap.named(_("{question.review} reviews {n} marked · ")).format(n=marks) if marks else ""
    if read is None:
        return Content.styled(f"{shown}…", "$text-muted")
    if not read:
        waits = (
            _("read to the end to decide by key: {question.page_down}, {question.last}")
            if complete
            else _("waits for its preview")
        )
        return Content.assemble((shown, "$text-muted"), (keymap.named(waits), "bold $text-warning"))
    said = keymap.named(_("{session.question} to answer")) if quiet is None else "…" if quiet > 0 else _("ready")
    return Content.styled(shown + said, "$text-muted")
