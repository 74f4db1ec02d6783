"""What a question's panel decides by: what is open and shown, what was read, how a key came, what counts then (C3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from console_support import Clock, Unheard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.events import Key, Paste

from hitl_tui.console.answer_actions import Answer, answers
from hitl_tui.console.keyguard.dialog_keys import DialogKeys, opens
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.keyguard.question_guard import AnswerPress, HoldReason, ReadProgress, held
from hitl_tui.console.keymap import Keymap
from hitl_tui.console.question_queue import QuestionQueue
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.requests import OPTIONS, Kind, Outcome, Request, Resolution
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.wording.rows import text_row

LETTING = {"Approve", "Accept", "Retry", "Use as done", "Do again", "Respond"}
"""Labels of the places that let something happen."""


def question(
    name: str, *, todo: str = "todo_001", subject: Any = None, kind: Kind = Kind.TODO, evidence: Any = None
) -> Question:
    """Return an open question.

    Args:
        name: its id.
        todo: the TODO it is about.
        subject: what is asked exactly.
        kind: what is asked.
        evidence: what was found out about it.
    """
    asked = subject if subject is not None else {"arguments": {}}
    about = {"title": name, "risk": "high"}
    request = Request(
        name, "s1", 0, kind, todo, "command_team", asked, digest(asked), options=OPTIONS[kind], about=about
    )
    return Question(RequestView(request, (), Resolution(Outcome.PENDING, None, (), 1), evidence or {}))


def shown(state: QuestionQueue) -> str:
    return state.question.id if state.question is not None else ""


# What is open, shown and marked ------------------------------------------------------------------------------------

OPEN = st.lists(
    st.builds(
        lambda name, todo, asked: question(name, todo=f"todo_{todo}", subject={"asked": asked}),
        st.sampled_from("abcdef"),
        st.integers(1, 3),
        st.integers(0, 2),
    ),
    max_size=6,
    unique_by=lambda q: q.id,
)
TURNS = st.one_of(OPEN, st.sampled_from(["mark", 1, -1]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURNS, max_size=12))
def test_whatever_comes_and_goes_the_one_on_the_screen_stays_and_no_mark_outlives_what_was_marked(
    steps: list[list[Question] | str | int],
) -> None:
    state, marked = QuestionQueue(), dict[str, str]()
    for step in steps:
        before = state
        if isinstance(step, int):
            state = state.turned(step)
            assert state.listed == before.listed
        elif isinstance(step, str):
            if (now := state.question) is not None:
                state = state.marking(now)
                marked[now.id] = now.digest
        else:
            state = state.updated(step)
            asked = {q.id: q for q in step}
            assert shown(state) == before.shown or before.shown not in asked
            assert sorted(q.id for q in state.listed) == sorted(asked)
            assert all(q is asked[q.id] for q in state.listed), "what is shown is what is asked now"
            kept = [q.id for q in before.listed if q.id in asked]
            assert [q.id for q in state.listed][: len(kept)] == kept
            marked = {i: seen for i, seen in marked.items() if i in asked and asked[i].digest == seen}
        assert bool(shown(state)) == bool(state.listed)
        assert {q.id: q.digest for q in state.marked} == marked == dict(state.marks)


@pytest.mark.parametrize(
    ("left", "comes"),
    [("ac", "c"), ("ab", "b"), ("", "")],
    ids=["the one that followed it", "the last when none followed", "nothing"],
)
def test_when_the_one_on_the_screen_is_gone_another_takes_its_place(left: str, comes: str) -> None:
    of = {name: question(name, todo=name) for name in "abc"}
    state = QuestionQueue().updated(list(of.values())).selected("b" if "b" not in left else "c")
    assert state is not None
    assert shown(state.updated([of[name] for name in left])) == comes


def test_a_todo_that_is_asked_anew_takes_the_place_of_its_own_question() -> None:
    state = QuestionQueue().updated([question("a", todo="todo_1"), question("b", todo="todo_2")])
    assert shown(state.updated([question("b", todo="todo_2"), question("a2", todo="todo_1")])) == "a2"


def test_a_question_is_found_by_its_id_and_by_its_todo_and_nothing_by_no_name() -> None:
    state = QuestionQueue().updated([question("a", todo="todo_1"), question("plan", todo="")])
    assert [shown(found) for name in ("plan", "todo_1") if (found := state.selected(name))] == ["plan", "a"]
    assert state.selected("") is None and state.selected("c") is None


# What was read -----------------------------------------------------------------------------------------------------

ROWS = (text_row("runs  touch a"),)


class Sight:
    """A question being read, with a clock that only the test moves."""

    def __init__(self, asked: Question) -> None:
        self.clock = Clock()
        self.guard = KeyGuard(Unheard(), self.clock)
        self.reading = ReadProgress(self.guard)
        self.question = asked

    def draw(self, *rows: str) -> None:
        picture = self.question.id, (*ROWS, *map(text_row, rows))
        assert self.reading.draws(picture, int)
        assert self.reading.on_screen(picture)

    def look(self, *, end: bool) -> bool:
        self.reading.look(self.question, end=end)
        return self.reading.read(self.question.id)

    def key_decides(self) -> bool:
        self.guard.acts(self.guard.now)
        return self.guard.decides


def test_a_question_is_read_once_its_end_was_on_the_screen_and_a_key_must_come_after_that() -> None:
    sight = Sight(question("a"))
    sight.draw()
    sight.clock.rest()
    assert not sight.look(end=False)
    assert sight.look(end=True)
    sight.clock.rest(0.4)
    assert not sight.key_decides()
    sight.clock.rest(0.6)
    assert sight.key_decides()
    assert sight.look(end=False), "who scrolls back has read it"


def test_an_end_that_was_there_for_a_moment_only_was_not_read() -> None:
    sight = Sight(question("a"))
    sight.draw()
    assert sight.look(end=True)
    sight.clock.rest(0.4)
    assert not sight.look(end=False)


def test_what_is_drawn_otherwise_has_to_be_read_again_and_not_before_it_is_on_the_screen() -> None:
    sight = Sight(question("a"))
    sight.draw()
    assert sight.look(end=True)
    assert not sight.reading.draws(("a", ROWS), int), "the same picture again"
    sight.clock.rest()
    old, new = sight.reading.picture, ("a", (*ROWS, text_row("and more")))
    assert sight.reading.draws(new, int)
    assert not sight.key_decides()
    assert not sight.look(end=True), "the end of the old picture"
    assert not sight.reading.on_screen(old), "that was drawn before"
    assert not sight.look(end=True)
    assert sight.reading.on_screen(new)
    assert sight.look(end=True)


def test_nothing_is_read_to_its_end_before_all_of_it_is_there() -> None:
    awaiting = question("a", subject={"arguments": {"preview": ["ls"]}})
    sight = Sight(awaiting)
    sight.draw()
    assert not sight.look(end=True)
    sight.reading.read_elsewhere(awaiting)
    assert not sight.reading.read("a")
    sight.question = question("a", subject={"arguments": {"preview": ["ls"]}}, evidence={"text": "one"})
    sight.reading.show_draft("a", ROWS, awaited=True)
    assert not sight.look(end=True)
    sight.reading.show_draft("a", ROWS, awaited=False)
    assert sight.look(end=True)


def test_a_draft_goes_with_its_question() -> None:
    reading = ReadProgress(KeyGuard(Unheard(), Clock()))
    reading.show_draft("a", ROWS, awaited=True)
    reading.keep({"b"})
    assert not reading.has_draft("a") and not reading.draft("a")
    assert reading.complete(question("a"))


# How a key came ----------------------------------------------------------------------------------------------------


class Fingers:
    """Somebody who types at a question."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.guard = KeyGuard(Unheard(), self.clock)
        self.ahead = DialogKeys(self.guard)

    @property
    def in_words(self) -> bool:
        return self.ahead.flowing

    def types(self, text: str, *, every: float = 0.0, means: bool = True, unseen: bool = False) -> list[str]:
        """Type; return what is kept for a dialog. The keys arrive together when none waits for the one before."""
        pressed = []
        for character in text:
            self.clock.rest(every)
            self.guard.acts(self.guard.now)
            pressed.append(Key(character, character))
            self.ahead.arrived(pressed[-1], answers=True)
        return [key.key for key in pressed if self.ahead.came(key, means=means, unseen=unseen)]


def test_a_key_to_what_stood_there_long_enough_was_rested_for_and_one_to_something_new_was_not() -> None:
    fingers = Fingers()
    for every, unseen, rested in ((1.0, False, True), (0.1, False, True), (1.0, True, False)):
        fingers.types("3", every=every, unseen=unseen)
        assert fingers.ahead.rested is rested
    fingers.clock.rest()
    fingers.guard.acts(fingers.guard.now)
    late = Key("3", "3")
    fingers.ahead.arrived(late, answers=True)
    fingers.guard.drawn()
    fingers.ahead.came(late, means=True, unseen=False)
    assert not fingers.ahead.rested, "the question was drawn anew while the key was on its way"


def test_what_is_typed_for_a_dialog_is_kept_in_order_without_what_would_send_it() -> None:
    fingers = Fingers()
    assert fingers.types("ab", means=False) == []
    fingers.ahead.begin()
    assert fingers.types("1x", means=False) == ["1", "x"]
    assert fingers.ahead.keep(Paste("2")) and fingers.ahead.keep(Key("enter", "\r"))
    kept = fingers.ahead.take(Keymap())
    assert [e.text if isinstance(e, Paste) else e.key for e in kept] == ["1", "x", "2"]
    assert not fingers.ahead.keeping and not fingers.ahead.take(Keymap())


# What counts -------------------------------------------------------------------------------------------------------

TEAM_ASKS = {"type": "tool_approval", "tool_call_id": "c", "name": "send_mail", "args": {"to": "a"}}
KINDS = [question(kind.value, kind=kind) for kind in Kind if kind is not Kind.INTERRUPT]
ASKED = [*KINDS, question("inner", kind=Kind.INTERRUPT, subject={"value": TEAM_ASKS})]
EVERY_PRESS = [AnswerPress(*found) for found in product([False, True], repeat=3)]


def possible(asked: Question) -> Sequence[Answer]:
    return [a for a in answers(asked) if not a.why_not]


@pytest.mark.parametrize("asked", ASKED, ids=lambda q: q.id)
def test_nothing_counts_that_was_not_rested_for_and_nothing_that_binds_unread(asked: Question) -> None:
    assert any(a.binds for a in possible(asked))
    for answer, press in product(possible(asked), EVERY_PRESS):
        for read, complete in ((False, False), (False, True), (True, True)):
            why = held(asked, answer, press, read=read, complete=complete)
            if not (press.ready or answer.looks or opens(asked, answer)):
                assert why is HoldReason.TOO_SOON
            if answer.label in LETTING:
                assert answer.binds and (why is not None or read)
            if press.ready and read:
                assert why is None, "who rested and read can give every answer that there is"


@pytest.mark.parametrize(("parameters", "offered"), [({}, False), ({"days": 14}, True)])
def test_a_command_that_takes_no_values_offers_no_edit(parameters: JsonObject, offered: bool) -> None:
    asked = question("a", subject={"arguments": {"command": "clean", "parameters": parameters}})
    assert ("Edit" in [a.label for a in possible(asked)]) is offered


def test_a_look_needs_no_pause_unless_words_are_typed_and_a_dialog_only_one_before_its_key() -> None:
    asked = question("a")
    by_label = {a.label: a for a in answers(asked)}
    looking, rested = AnswerPress(False, True, False), AnswerPress(False, False, True)

    def why(label: str, press: AnswerPress) -> HoldReason | None:
        return held(asked, by_label[label], press, read=False, complete=True)

    assert why("Details", looking) is why("Always", looking) is None
    assert why("Reject", looking) is why("Edit", looking) is why("Skip", looking) is HoldReason.TOO_SOON
    assert why("Reject", rested) is why("Edit", rested) is None
    assert why("Skip", rested) is why("Approve", rested) is HoldReason.TOO_SOON
    assert why("Approve", AnswerPress(True, True, True)) is HoldReason.UNREAD
    assert (
        held(asked, by_label["Approve"], AnswerPress(True, True, True), read=False, complete=False)
        is HoldReason.INCOMPLETE
    )
    assert why("Respond", AnswerPress(True, True, True)) is HoldReason.IMPOSSIBLE


def test_a_graph_that_keeps_failing_with_its_answer_offers_to_go_back_before_it() -> None:
    plain = question("q", kind=Kind.FAILURE)
    request = replace(plain.view.request, about={**plain.view.request.about, "wedged": True})
    wedged = Question(replace(plain.view, request=request))
    assert [(a.label, a.ask) for a in answers(wedged) if a.number == 5] == [("Rescue", "rescue")]
    assert wedged.commands["rescue"] == "/rescue todo_001"
    assert next(a for a in answers(plain) if a.number == 5).why_not
