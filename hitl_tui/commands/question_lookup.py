"""Looking up open questions by name, and the errors of commands that can't decide one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hitl_tui.commands.parser import parse
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.numbers import highest_number
from hitl_tui.core.interrupts.shape import said
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, resolve_id, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.snapshot import Question, Snapshot

REQUEST = "req-"
"""How the ids of requests begin."""
_REQUEST_ID = re.compile(r"req-[0-9a-f]{16}")
NUMBERED = re.compile(r"(.+)\.([0-9]{1,4})")
"""The name of one of a TODO's interrupts: `todo_001.2`."""
_ANSWER = re.compile(r"\s*/answer\s+\S+\s+\S", re.IGNORECASE)
_LONGEST = 20_000


def open_question(snapshot: Snapshot, name: str) -> Question:
    """Return the open question of a TODO that a name stands for: `todo_001`, `1`, `todo_001.2`, a request's id.

    A TODO's id alone is enough while it has asked one thing all along: said again, it can't mean the next.

    Raises:
        UnknownName: there is no such TODO or number, or it has asked several things.
        BadInput: the TODO asks nothing.
    """
    if name.startswith(REQUEST):
        found = by_request(snapshot, name)
        if found is None:
            raise UnknownName(Message('No open question has the id "{}".', clip(name)))
        return found
    match = NUMBERED.fullmatch(name)
    todo_id = resolve_id(match.group(1) if match else name, snapshot.raw)
    asked = [q for q in snapshot.questions if q.todo_id == todo_id]
    if not asked:
        raise BadInput(
            Message("{} is {} and has no open question.", step_name(todo_id), snapshot.raw[todo_id]["status"])
        )
    inside = sorted((q for q in asked if q.number), key=lambda q: q.number)
    names = ", ".join(q.name for q in inside or asked)
    if match is not None:
        number = int(match.group(2))
        for question in inside:
            if question.number == number:
                return question
        raise UnknownName(Message("No question {}.{}; open now: {}.", step_name(todo_id), number, names))
    if len(inside) > 1:
        raise UnknownName(
            Message("{} asks {} questions at once; name one of {}.", step_name(todo_id), len(inside), names)
        )
    if inside and max(inside[0].number, highest_number(snapshot.raw[todo_id])) > 1:
        raise UnknownName(Message("{} has asked several questions; open now: {}.", step_name(todo_id), names))
    return (inside or asked)[0]


def is_request_id(word: str) -> bool:
    """Return whether a word is the whole id of a request."""
    return _REQUEST_ID.fullmatch(word) is not None


def by_request(snapshot: Snapshot, name: str) -> Question | None:
    """Return the open question whose request has this id, or the only one whose id begins so; None for none.

    Raises:
        UnknownName: it could be several.
    """
    asked = {q.id: q for q in snapshot.questions}
    if name in asked:
        return asked[name]
    found = [q for i, q in asked.items() if i.startswith(name) and len(name) > len(REQUEST)]
    if len(found) > 1:
        raise UnknownName(
            Message('"{}" could be {}; write more of the id.', clip(name), ", ".join(q.id for q in found[:4]))
        )
    return found[0] if found else None


def answer_hint(line: str, snapshot: Snapshot) -> str:
    """Return what an `/answer` that is being written would send, or why it wouldn't; empty for any other line."""
    if len(line) > _LONGEST or not _ANSWER.match(line):
        return ""
    try:
        values = parse(line).values
        question = open_question(snapshot, values.text("id"))
        if question.shape is None:
            return ""
        text = values.text("value")
        if (why := question.stop_reason(text)) is not None:
            return Message("Stops the step; on record: {}", one_line(why, 160)) if why else Message("Stops the step.")
        reading = read(question.shape, text)
        if reading.reason:
            return Message("Sends: {}; on record: {}", said(reading.value), one_line(reading.reason, 160))
        return f"Sends: {said(reading.value)}"
    except HitlError as error:
        return error.message


class Unshown(HitlError):
    """A command met questions that nobody was shown before it began: its answer is to show them.

    Args:
        questions: those.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        self.questions = tuple(questions)
        names = ", ".join(question.name for question in self.questions)
        super().__init__(
            Message("Nothing was decided: {} wasn't shown before. Read it now, then give the command again.", names)
        )


class Unbound(BadInput):
    """What is of high risk was to be decided by name, from where nobody sees the question.

    Args:
        message: one sentence.
        commands: what decides it, one for each question.
    """

    def __init__(self, message: str, commands: Iterable[str]) -> None:
        self.commands = tuple(commands)
        super().__init__(message, help="\n".join(self.commands))


def risk_classes(questions: Iterable[Question]) -> list[Risk]:
    """Return the risk classes of questions, lowest first."""
    found = {question.risk for question in questions}
    return [risk for risk in Risk if risk in found]


def different_risks(questions: Sequence[Question]) -> BadInput:
    """Return what is said when questions of different risk would be decided together."""
    alike = {risk: [q.name for q in questions if q.risk is risk] for risk in risk_classes(questions)}
    told = "; ".join(Message("{} risk: {}", risk, ", ".join(names)) for risk, names in alike.items())
    ways = [f"/todo approve {' '.join(names)}" for names in alike.values()]
    return BadInput(
        Message("Steps of different risk are never approved together ({}); nothing was approved.", told),
        help="\n".join(ways),
    )


def not_as_shown() -> Refused:
    """Return the refusal of a digest that isn't that of what is asked now."""
    return Refused(Message("The question changed since it was shown; read it again, then decide."), reason="stale")


def asked_too_late(questions: Iterable[Question]) -> BadInput:
    """Return what is said when a command would answer such questions."""
    names = ", ".join(step_name(question.name) for question in questions)
    return BadInput(
        Message("{} was asked after you began that line; read the question and give the command again.", names)
    )
