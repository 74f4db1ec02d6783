"""The question panel: shows one question whole, and takes an answer only when it was there to be read (C3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Self

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key, Paste, Resize
from textual.geometry import Region
from textual.message import Message

from hitl_tui.console import keys
from hitl_tui.console.ahead import Ahead, opens
from hitl_tui.console.arming import ARM_AFTER, Arming
from hitl_tui.console.asking import body, headline, risk_of
from hitl_tui.console.evidence import awaits_preview
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.places import Answer, answers
from hitl_tui.console.rows import Row
from hitl_tui.console.widgets.choices import MOST_ROWS, Actions
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.core.requests import Verdict
from hitl_tui.language import _, mark

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_TOO_SOON = mark("Too soon after the last key: wait half a second, then press it again; nothing was decided.")
_UNMARKABLE = mark("This question can't be approved, so it can't be marked.")
_UNDO = "question.undo"
_TURNS = ("question.next", "question.previous")
_TITLE_EDGE = 4
_FRAME = 2
"""Rows of the frame."""
_PENDING = mark("Its preview is still being made; nothing was decided.")
_NO_TEXT = mark("A question takes no text, so nothing was pasted: {question.leave} goes to the prompt.")
_UNREAD = mark("Read to the end first ({question.page_down}); nothing was decided.")


class Body(VerticalScroll, can_focus=False):
    """What has to be read."""

    class Moved(Message):
        """It was scrolled."""

    def on_resize(self) -> None:
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())


class QuestionPanel(Vertical, can_focus=True):
    """All open questions, one on the screen.

    A new one is appended and counted; it never takes the focus nor the place of the one that is shown.

    Args:
        arming: when keys decide.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.QUESTION)]
    _titling = False

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
        """Something shall happen that isn't an answer: `undo`, or `review` what is marked."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    class Marked(Message):
        """What is marked is another than before."""

    class Left(Message):
        """Back to the prompt."""

    def __init__(self, arming: Arming, now: Callable[[], datetime] | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self.arming = arming
        self._ahead = Ahead(arming)
        self._rested = False
        self._flowing = False
        """Keys come without a pause after one that meant nothing, came too soon or opened a dialog: words, it seems."""
        self._now = now or (lambda: datetime.now(UTC))
        self._questions: list[Question] = []
        self._shown = ""
        self._workspace = ""
        self._drawn: tuple[str, tuple[Row, ...]] | None = None
        self._read: set[str] = set()
        self._read_at = float("-inf")
        self._unseen = False
        """What is shown was changed, and isn't on the screen yet."""
        self._marks: dict[str, str] = {}
        self._drafts: dict[str, tuple[Row, ...]] = {}
        self._awaited: set[str] = set()
        self.noticed: frozenset[str] = frozenset()
        """Ids of the open questions that the screen showed or counted when it was drawn."""
        self._swallow_click = False
        self._title = Content("")
        self._room = 0

    def compose(self) -> ComposeResult:
        with Body(id="question-body"):
            yield Rows(id="question-text")
        yield Actions(id="question-actions")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        self.watch(self.screen, "stack_updates", self._hand_on, init=False)
        self.display = False

    # What is asked ---------------------------------------------------------------------------------------------

    def give_room(self, rows: int) -> None:
        """Let the panel be so many rows high at most; 0 for what the stylesheet says."""
        if rows != self._room:
            self._room = rows
            self._places()

    def _fit(self, actions: int) -> None:
        self.styles.max_height = self._room or None
        self.query_one(Body).styles.max_height = max(1, self._room - _FRAME - actions) if self._room else None

    @property
    def question(self) -> Question | None:
        """The one on the screen."""
        return next((q for q in self._questions if q.id == self._shown), None)

    @property
    def questions(self) -> Sequence[Question]:
        """All open ones, in the order they came."""
        return tuple(self._questions)

    def update_questions(self, asked: Sequence[Question], workspace: str) -> None:
        """Take over what is open now: what stays keeps its place, what is new comes last."""
        fresh = {q.id: q for q in asked}
        was = self._questions
        place = next((i for i, q in enumerate(was) if q.id == self._shown), 0)
        kept = [fresh[q.id] for q in self._questions if q.id in fresh]
        known = {q.id for q in kept}
        before = [q for q in self._questions[:place] if q.id in fresh]
        self._questions = [*kept, *(q for q in asked if q.id not in known)]
        self._workspace = workspace
        self._marks = {i: seen for i, seen in self._marks.items() if i in fresh and fresh[i].digest == seen}
        self._drafts = {i: rows for i, rows in self._drafts.items() if i in fresh}
        self._awaited &= fresh.keys()
        if self._shown not in fresh:
            about = next((q.todo_id for q in was if q.id == self._shown), "")
            anew = next((q for q in self._questions if about and q.todo_id == about), None)
            following = self._questions[len(before) :] or self._questions[-1:]
            self._shown = next((q.id for q in (anew, *following) if q is not None), "")
        self._draw()
        self.noticed &= fresh.keys()
        if fresh.keys() - self.noticed:
            self.call_after_refresh(self._notice, frozenset(fresh))

    def select(self, name: str) -> bool:
        """Show the question with this id or about this TODO; return whether there is one."""
        found = next((q for q in self._questions if name and name in (q.id, q.todo_id)), None)
        if found is None:
            return False
        self._shown = found.id
        self._draw()
        return True

    def _draw(self) -> None:
        question = self.question
        self.display = question is not None
        if question is None:
            if self._drawn is not None:
                self._drawn = None
                self.query_one(Rows).show(())  # a long plan doesn't stay in memory behind what is shown
            return
        key = keymap_of(self.app).shown("question.6")
        rows = tuple(body(question, self._workspace, key, self._drafts.get(question.id, ())))
        self._titles()
        if self._drawn == (question.id, rows):
            return
        self._drawn, self._unseen = (question.id, rows), True
        self.query_one(Rows).show(rows)
        self.query_one(Body).scroll_home(animate=False, force=True, immediate=True)
        self.set_class(risk_of(question) == "high", "-risky")
        self._read.discard(question.id)
        self.arming.drawn()
        self._places()
        self.call_after_refresh(self._on_screen, self._drawn)

    def uncovered(self) -> None:
        """What lay over it is gone; it is seen once the screen was drawn."""
        self.arming.drawn()
        self._places()
        self.call_after_refresh(self._on_screen, self._drawn)

    def _notice(self, ids: frozenset[str]) -> None:
        self.noticed |= ids

    def _on_screen(self, drawn: object) -> None:
        """What was drawn can be seen only now; a busy console may have taken a while for it."""
        if drawn is self._drawn:
            self._unseen = False
            self.arming.drawn()
            self._look()

    def _titles(self) -> None:
        question = self.question
        if question is not None:
            index = self._questions.index(question) + 1
            marks = len(self._marks) if question.id in self._marks else 0
            room = max(0, self.size.width - _TITLE_EDGE)
            self._entitle(headline(question, index, len(self._questions), self._now(), room, marks))

    def _entitle(self, title: Content) -> None:
        """Draw the title, and only that: what it counts down would send the whole question every second."""
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

    def _tick(self) -> None:
        question = self.question
        if question is not None and question.view.request.deadline:
            self._titles()

    # Read to the end -------------------------------------------------------------------------------------------

    @property
    def read(self) -> bool:
        """The end of what is shown was on the screen."""
        return self._shown in self._read

    @property
    def _incomplete(self) -> bool:
        """What the step would touch or write is still being found out."""
        question = self.question
        return self._shown in self._awaited or (question is not None and awaits_preview(question))

    def on_resize(self, event: Resize) -> None:
        self._titles()
        self.call_after_refresh(self._look)

    def on_body_moved(self, event: Body.Moved) -> None:
        event.stop()
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        region, rows = self.query_one(Body), self.query_one(Rows)
        seen = region.scroll_offset.y + region.scrollable_content_region.height
        drawn = self.display and not self._unseen and rows.size.width > 0 and region.size.height > 0
        if drawn and seen >= rows.needed and not self._incomplete and not self.read:
            self._read.add(self._shown)
            self._read_at = self.arming.now
            self.arming.drawn()  # a key that was pressed before the end could be seen decides nothing
        elif drawn and seen < rows.needed and self.arming.now - self._read_at < ARM_AFTER:
            self._read.discard(self._shown)  # it was there for a moment only, as when a frame shrinks
        self._places()

    # Keys and clicks -------------------------------------------------------------------------------------------

    def watch_has_focus(self, focus: bool) -> None:
        super().watch_has_focus(focus)
        if focus:
            self._swallow_click = self.arming.pointer
            self.arming.drawn()
        self._places()

    def _places(self) -> None:
        """Draw the row of actions: dim what isn't possible, and all of it while no key decides."""
        question = self.question
        if question is None:
            return
        rows = self.query_one(Actions).show(answers(question), read=self.read)
        for count in range(2, MOST_ROWS + 1):
            self.set_class(rows == count, f"-rows-{count}")
        self._fit(rows)
        remaining = self.arming.remaining if self.has_focus else 0.0
        self.set_class(self.has_focus and remaining > 0, "-unarmed")
        self.border_subtitle = self._state_words(remaining)
        if remaining > 0:
            self.set_timer(remaining + 0.02, self._places)

    def _state_words(self, remaining: float) -> Content:
        keymap = keymap_of(self.app)
        shown = _("digest {digest} · ").format(digest=self.question.digest[:8]) if self.question is not None else ""
        shown = (
            keymap.named(_("{question.review} reviews {n} marked · ")).format(n=len(self._marks)) if self._marks else ""
        ) + shown
        if not self.read:
            waits = _("waits for its preview") if self._incomplete else _("more below: {question.page_down}")
            return Content.assemble((shown, "$text-muted"), (keymap.named(waits), "bold $text-warning"))
        answer = keymap.named(_("{session.question} to answer"))
        said = answer if not self.has_focus else "…" if remaining > 0 else _("ready")
        return Content.styled(shown + said, "$text-muted")

    def typed(self) -> None:
        """A key was pressed somewhere: the row shows whether the next one decides."""
        if self.has_focus:
            self._places()

    def on_actions_clicked(self, event: Actions.Clicked) -> None:
        """A place was clicked: the click that brings the focus here decides nothing."""
        event.stop()
        if self._swallow_click or not self.has_focus:
            self._swallow_click = False
            self.focus()
            return
        self._rested = False  # that was said of a key
        self._choose(event.number, ready=self.arming.click_decides and not self._unseen, may_look=True)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, Key):
            self._ahead.arrived(message)
        return super().post_message(message)

    async def on_key(self, event: Key) -> None:
        """Let keys act when they arrive, in the order in which they were pressed: bindings are looked up later."""
        self._rested = self._ahead.rested(event) and not self._unseen
        keymap = keymap_of(self.app)
        wanted = keymap.at(keys.QUESTION, event.key)
        if self._rested:
            self._flowing = False
        kept = self._ahead.keep(event)
        late = not kept and self.screen is not self.app.screen  # a dialog came while this was on its way here
        if late:
            self._ahead.begin()
            kept = self._ahead.keep(event)
        self._flowing = self._flowing or not (wanted or kept)
        if kept or wanted:
            event.stop()
            event.prevent_default()
        spelled = wanted in _TURNS and event.is_printable and self._flowing  # words turn no question, either
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
                await self.app.on_event(event)

    def answered(self) -> None:
        """An answer was given, or not: no dialog is on its way any more; what was typed for it goes with it."""
        self._ahead.take(keymap_of(self.app))

    def at_once(self, key: Key) -> bool:
        """Return whether a key is a letter that would decide the question on the screen, or undo, without a dialog."""
        name, question = keymap_of(self.app).at(keys.QUESTION, key.key), self.question
        if not (name and question is not None and key.character and key.character.isalpha()):
            return False
        found = next((a for a in answers(question) if name == f"question.{a.number}"), None)
        looks = found is not None and (found.why_not or found.ask in ("details", "always"))
        return name == _UNDO or (found is not None and not looks and not opens(question, found))

    def action_act(self, number: int) -> None:
        self._swallow_click = False
        ready = self.arming.decides and not self._unseen
        self._choose(number, ready=ready, may_look=ready or not self._flowing)

    def _choose(self, number: int, *, ready: bool, may_look: bool) -> None:
        question = self.question
        if question is None:
            return
        answer = answers(question)[number - 1]
        asks_first, looks = opens(question, answer), answer.ask in ("details", "always")
        if answer.why_not:
            self.post_message(self.Held(answer.why_not))
        elif not ((looks and may_look) or ready or (asks_first and self._rested)):  # to look decides nothing
            self._hold_back()
        elif not looks and answer.binds and not self.read:
            self.post_message(self.Held(keymap_of(self.app).named(_(_PENDING if self._incomplete else _UNREAD))))
        else:
            if asks_first:
                self._flowing = True
                self._ahead.begin()
            self.post_message(self.Chosen(question, answer))

    def _hold_back(self) -> None:
        """Say that a key came too soon; if words are typed, what follows in them opens nothing, either."""
        self._flowing = True
        self.post_message(self.Held(_(_TOO_SOON)))

    # Marks and drafts ------------------------------------------------------------------------------------------

    @property
    def marked(self) -> tuple[Question, ...]:
        """The marked questions, in the order they came."""
        return tuple(q for q in self._questions if q.id in self._marks)

    def unmark(self, todo_id: str) -> None:
        """Take away the marks of a TODO's questions."""
        for question in self.marked:
            if question.todo_id == todo_id:
                del self._marks[question.id]
        self.post_message(self.Marked())
        self._titles()
        self._places()

    def action_mark(self) -> None:
        """Mark the question on the screen, or take its mark away; that decides nothing."""
        question = self.question
        if question is None:
            return
        if self._marks.pop(question.id, None) is None:
            if Verdict.APPROVE not in question.view.request.options:
                self.post_message(self.Held(_(_UNMARKABLE)))
                return
            self._marks[question.id] = question.digest
        self.post_message(self.Marked())
        self._titles()
        self._places()

    def action_review(self) -> None:
        if self._flowing and not self.arming.decides:
            self._hold_back()
        else:
            self._flowing = self._flowing or bool(self._marks)
            self.post_message(self.Wanted("review"))

    def has_draft(self, question_id: str) -> bool:
        """What a file would hold is known, or being found out."""
        return question_id in self._drafts

    def await_draft(self, question_id: str, rows: Sequence[Row]) -> None:
        """Show these rows until the draft is there: before, the question hasn't been read."""
        self._awaited.add(question_id)
        self.show_draft(question_id, rows)

    def draft_ready(self, question_id: str, rows: Sequence[Row]) -> None:
        """Show with a question what a file would hold."""
        self._awaited.discard(question_id)
        self.show_draft(question_id, rows)

    def show_draft(self, question_id: str, rows: Sequence[Row]) -> None:
        """Show rows with a question; on the screen that is a change like any other."""
        self._drafts[question_id] = tuple(rows)
        if question_id == self._shown:
            self._draw()
            self.call_after_refresh(self._look)

    def seen_whole(self, question_id: str) -> None:
        """Its end was read elsewhere, on the screen of details."""
        if question_id == self._shown and not self._incomplete:
            self._read.add(question_id)
            self._read_at = float("-inf")
            self._places()

    def action_step(self, by: int) -> None:
        if len(self._questions) > 1 and self.question is not None:
            index = (self._questions.index(self.question) + by) % len(self._questions)
            self.select(self._questions[index].id)

    def action_scroll(self, by: int) -> None:
        region = self.query_one(Body)
        region.scroll_relative(y=by * max(1, region.size.height - 1), animate=False)

    def action_undo(self) -> None:
        if self.arming.decides:
            self.post_message(self.Wanted("undo"))
        else:
            self._hold_back()

    def action_leave(self) -> None:
        self.post_message(self.Left())
