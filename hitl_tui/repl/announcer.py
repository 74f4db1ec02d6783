"""What line mode says by itself: questions whole, what teams do, the answer; each once, in the order it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from hitl_tui.core.bursts import ARM_AFTER
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Verdict
from hitl_tui.core.tally import why_not_run
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import translate
from hitl_tui.supervisor.activity import Activity
from hitl_tui.supervisor.snapshot import Question, Snapshot, has_preview
from hitl_tui.teams.contract import FilePreview
from hitl_tui.terminal.ascii_signs import _, stepped
from hitl_tui.wording.status_words import approval_words, number_of, of_import, who_words
from hitl_tui.wording.text_lines import answer_lines, answer_of, inline, news_of, place_of, question_lines, standing

PRINTED = 0.25
"""Seconds within which the terminal shows what was said; prompt_toolkit collects it for a fifth of a second."""
_ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.SKIPPED})

Say = Callable[[Sequence[str]], None]

_KEYS: Mapping[str, str] = {Verdict.APPROVE: "y, 1", Verdict.REJECT: "n, n REASON, 3", Verdict.SKIP: "4"}
"""Keys that, sent alone, answer the only question there is."""
_NUMBERED: Mapping[str, str] = {Verdict.APPROVE: "y {}", Verdict.REJECT: "n {}, n {} REASON", Verdict.SKIP: "4 {}"}
"""The same where several are open, with the number that the question was printed under."""
_TOLD = frozenset({"started", "finished", "failed", "line", "note"})


class Announcer:
    """Tells of one session.

    Args:
        say: prints lines.
        by: whose commands are answered here: what they decided isn't told to them again.
        bound: print commands that name the request by its id: nobody sits at a terminal.
        channel: where their commands come from.
        showing: is told the id of each question that was printed.
        fits: returns whether lines stand on the terminal whole; None where nobody looks at one.
    """

    def __init__(
        self,
        say: Say,
        by: str = "",
        *,
        bound: bool = False,
        channel: str = "repl",
        showing: Callable[[str], None] | None = None,
        fits: Callable[[Sequence[str]], bool] | None = None,
    ) -> None:
        self._say = say
        self._by = by
        self._bound = bound
        self._channel = channel
        self._showing = showing
        self._fits = fits
        self._shown: set[str] = set()
        self._open = 0
        self._numbers: dict[str, int] = {}
        self._long: set[str] = set()
        self._armed: set[str] = set()
        self._armed_before: frozenset[str] = frozenset()
        self._earlier: frozenset[str] = frozenset()
        self._before: frozenset[str] | None = None
        self._answer = ""
        self._seen: Mapping[str, SupervisorTodo] | None = None

    def unseen(self, snapshot: Snapshot) -> list[Question]:
        """Return the questions that weren't printed yet."""
        return [question for question in snapshot.questions if question.id not in self._shown]

    def look(self, snapshot: Snapshot, files: Mapping[str, FilePreview | None] = MappingProxyType({})) -> None:
        """Say what is new in a session.

        Args:
            snapshot: the session.
            files: by question the file that its step would make.
        """
        self._decided(snapshot)
        total = len(snapshot.questions)
        # A key answers the only one that is left of several: what it answers stands right above the prompt again.
        left = self._fits is not None and total == 1 < self._open
        self._open = total
        for number, question in enumerate(snapshot.questions, start=1):
            if (left or question.id not in self._shown) and _whole(question, snapshot):
                self._shown.add(question.id)
                self._numbers[question.id] = number
                lines = self._lines(question, place_of(number, total), number if total > 1 else 0, files)
                self._say(["", *lines])
                self._arm(question.id)
                if self._showing is not None:
                    self._showing(question.id)
        answer = answer_of(snapshot)
        if answer and answer != self._answer:
            # What stands above already isn't printed again where a person reads on.
            new = "" if self._bound else news_of(answer, self._answer)
            self._say([*answer_lines(new or answer, rendered=not self._bound), "", translate(standing(snapshot))])
            self._answer = answer

    def _lines(self, question: Question, place: str, number: int, files: Mapping[str, FilePreview | None]) -> list[str]:
        """Return a question with the keys that answer it, where any does."""

        options = question.option_commands()

        def with_keys(*without: str) -> list[str]:
            offered = {str(v): k.format(number, number) for v, k in (_NUMBERED if number else _KEYS).items()}
            chosen = {} if number else {f"{_('option')} {n}": str(n) for n in range(1, len(options) + 1)}
            if options:
                offered = chosen
            elif question.refusal != Verdict.REJECT:
                offered[question.refusal] = offered.pop(Verdict.REJECT)
            keys = {v: k for v, k in offered.items() if self._fits is not None and v not in without}
            return question_lines(question, place, str, bound=self._bound, keys=keys, files=files)

        lines = with_keys()
        if self._fits is None or question.risk is not Risk.HIGH or self._fits(lines):
            return lines
        self._long.add(question.id)
        return with_keys(Verdict.APPROVE)

    def numbered(self, number: int, snapshot: Snapshot) -> list[Question]:
        """Return the open questions that were printed under a number: mostly one."""
        return [question for question in snapshot.questions if self._numbers.get(question.id) == number]

    def number_of(self, question: Question) -> int:
        """Return the number that a question was printed under; 0 before that."""
        return self._numbers.get(question.id, 0)

    def _decided(self, snapshot: Snapshot) -> None:
        """Say in a sentence each who decided what, and what became of a TODO without its team saying so."""
        before, self._seen = self._seen, {todo.id: todo for todo in snapshot.todos}
        if before is None:
            return
        said = [
            words
            for todo in snapshot.todos
            for words in became(before.get(todo.id), todo, self._by, self._channel, todos=self._seen)
        ]
        said += [_("{id} was removed from the plan.").format(id=number_of(i)) for i in before if i not in self._seen]
        self._say(said)

    def answered(self, todo_id: str, snapshot: Snapshot) -> None:
        """Take note of what a command of theirs did to a TODO: its answer said so."""
        todo = snapshot.todo(todo_id)
        if self._seen is not None and todo is not None:
            self._seen = {**self._seen, todo_id: todo}
        elif self._seen is not None:
            self._seen = {i: seen for i, seen in self._seen.items() if i != todo_id}

    def hear(self, entry: Activity) -> None:
        """Say what a team does; progress in numbers is left out, questions are shown whole instead."""
        if entry.kind in _TOLD:
            said = stepped(entry.text) if entry.kind == "line" else f"{_(entry.kind)}: {translate(entry.text)}"
            self._say([f"[{number_of(entry.todo_id) or _('session')}] {said}"])

    def take_over_from(self, earlier: Announcer) -> None:
        """Go on from another one of the same session: what it showed was shown, also to the line being typed."""
        self._earlier, self._before = earlier._earlier | earlier._shown, earlier._before

    def typing_began(self) -> None:
        """Remember what had been shown when the line that is being typed was begun."""
        self._before = self._earlier | self._shown
        self._armed_before = frozenset(self._armed)

    def _arm(self, question_id: str) -> None:
        """Let a single key answer a question once it has stood on the terminal for a while.

        The loop's own timer says when: a key that came while the loop was busy is taken before the timer is.
        """
        if self._fits is None:
            return
        asyncio.get_running_loop().call_later(ARM_AFTER + PRINTED, self._armed.add, question_id)

    def why_not_by_key(self, question: Question, verdict: str) -> str:
        """Return why the key that was sent just now doesn't answer a question; empty where it does."""
        if question.id not in self._armed_before:
            return Message("That was typed before {} was shown; type it again.", step_name(question.name))
        if verdict == Verdict.APPROVE and not self.approved_by_key(question):
            return Message("{} doesn't fit on the screen: scroll up and read it first.", step_name(question.name))
        return ""

    def approved_by_key(self, question: Question) -> bool:
        """Return whether a key alone may approve a question that was printed: it stood on the screen whole."""
        return question.id not in self._long

    def known(self) -> frozenset[str]:
        """Return the ids of the questions that had been shown when the line that was just sent was begun."""
        known = self._earlier | self._shown if self._before is None else self._before
        self._before = None
        return known


def became(
    before: SupervisorTodo | None,
    now: SupervisorTodo,
    own: str = "",
    channel: str = "repl",
    *,
    todos: Mapping[str, SupervisorTodo] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield what happened to a TODO, in plain sentences.

    Args:
        before: as it was; None when it is new.
        now: as it is.
        own: whose decisions by line mode are left out; what its team tells by itself always is.
        channel: where those come from.
        todos: all as they are, by id.
    """
    if before is None:
        yield _("{id} is new in the plan: {name}").format(id=number_of(now.id), name=inline(now.name))
        return
    approval = now.approval
    fresh = approval is not None and (before.approval is None or before.run_id != now.run_id)
    if approval is not None and fresh and (approval.get("by"), approval.get("channel")) != (own, channel):
        if approval.get("channel") == "policy":
            yield f"{number_of(now.id)}: {approval_words(approval)}"
        else:
            by, where = str(approval.get("by", "")), str(approval.get("channel", ""))
            yield _("{id} was approved by {by}.").format(
                id=number_of(now.id), by=who_words(by, where, imported=bool(approval.get("imported")))
            )
    if before.status is now.status:
        return
    if now.status is Status.SKIPPED:
        by, why = str(now.metadata.get("skipped_by", "")), now.metadata.get("skip_reason", "")
        if by != own or not own:
            yield _("{id} was skipped by {by}: {why}").format(
                id=number_of(now.id), by=inline(of_import(now, by)), why=inline(translate(why))
            )
    elif now.status is Status.FAILED and now.error and not now.attempt:
        yield f"{number_of(now.id)}: {inline(of_import(now, translate(now.error)))}"
    elif now.status is Status.BLOCKED:
        why = why_not_run(now, todos)
        if why:
            yield _("{id} not run: {why}").format(id=number_of(now.id), why=translate(why))
        else:
            yield _("{id} is blocked.").format(id=number_of(now.id))
    elif now.status is Status.PENDING and before.status in _ENDED:
        yield _("{id} waits again.").format(id=number_of(now.id))


def _whole(question: Question, snapshot: Snapshot) -> bool:
    """Tell whether everything about a question is there: a declared preview may still be running."""
    return not (snapshot.busy and has_preview(question.view.request)) or bool(question.view.evidence)
