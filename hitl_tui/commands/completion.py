"""Completion of command lines, from the command table and the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hitl_tui.commands.question_lookup import answer_hint, open_question
from hitl_tui.commands.spec import SPECS, Argument, CommandSpec, Takes, registry
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.interrupts.shape import Form
from hitl_tui.core.messages import Message
from hitl_tui.core.names import resolve_id
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.todos import OPERATOR, TRANSITIONS, Priority, Status, SupervisorTodo
from hitl_tui.supervisor.snapshot import Question, Snapshot

if TYPE_CHECKING:  # the console must not load LangGraph for a type
    from hitl_tui.config.declared_commands import CommandDeclaration
    from hitl_tui.core.plan import AgentFacts
    from hitl_tui.supervisor.session_summary import SessionSummary

_WORD = re.compile(r"\S+")
_HELP_CELLS = 60
_DIGEST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Completion:
    """One way to go on.

    Args:
        text: what to put in the place of the line from `start` to the cursor.
        start: index into the line.
        display: what a list of completions shows, safe on a terminal.
        help: a few words beside it, safe on a terminal.
    """

    text: str
    start: int
    display: str
    help: str = ""


class CheckpointOffer(Protocol):
    """A checkpoint that can be gone back to."""

    @property
    def number(self) -> int:
        """Its number, which commands take."""
        ...

    @property
    def id(self) -> str: ...

    @property
    def said(self) -> str:
        """What happened there, in safe words."""
        ...


@dataclass(frozen=True, slots=True)
class _Scene:
    """What completers look at."""

    snapshot: Snapshot | None
    agents: Mapping[str, AgentFacts]
    checkpoints: Sequence[CheckpointOffer]
    commands: Mapping[str, CommandDeclaration]
    sessions: Sequence[SessionSummary]
    themes: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Typed:
    """Where the cursor stands within a command.

    Args:
        spec: the command.
        words: whole words after its name, before the word at the cursor.
        word: the word at the cursor, empty after a space.
    """

    spec: CommandSpec
    words: tuple[str, ...]
    word: str


_Found = tuple[str, str, str]
"""Text, display, help."""


def complete(
    line: str,
    cursor: int,
    snapshot: Snapshot | None = None,
    agents: Mapping[str, AgentFacts] | None = None,
    checkpoints: Sequence[CheckpointOffer] = (),
    commands: Mapping[str, CommandDeclaration] | None = None,
    sessions: Sequence[SessionSummary] = (),
    themes: Sequence[str] = (),
) -> list[Completion]:
    """Return what could stand at the cursor, likeliest first. Plain text has no completions.

    Args:
        line: what is typed.
        cursor: index into the line; what is behind it is left alone.
        snapshot: the session, None before there is one.
        agents: who can be given a TODO, by name.
        checkpoints: those that can be gone back to, the newest first.
        commands: the commands that the workspace's hitl.toml declares, by name.
        sessions: those there are.
        themes: names of the themes there are.
    """
    before = line[:cursor]
    text = before.lstrip()
    if not text.startswith("/"):
        return []
    begin = len(before) - len(text)
    scene = _Scene(snapshot, agents or {}, checkpoints, commands or {}, sessions, themes)
    typed = _typed(text)
    names = [Completion(f"/{n}", begin, f"/{n}", h) for n, h in _command_names(text.removeprefix("/"))]
    if typed is None or names:
        return names
    start = len(before) - len(typed.word)
    return [Completion(found, start, shown, hint) for found, shown, hint in _values(typed, scene)]


def usage_hint(line: str, snapshot: Snapshot | None = None) -> str:
    """Return the usage of the command that a line begins with, empty when it is none (yet).

    With a session an answer that is being written shows what it would send instead, and as what type.
    """
    sends = answer_hint(line, snapshot) if snapshot is not None else ""
    if sends:
        return sends
    typed = _typed(line.lstrip() + " ") if line.lstrip().startswith("/") else None
    return typed.spec.usage if typed is not None else ""


def names_session(line: str) -> bool:
    """Return whether the word at the end of a line is to name a session."""
    typed = _typed(line.lstrip()) if line.lstrip().startswith("/") else None
    argument = _argument(typed) if typed is not None else None
    return argument is not None and argument.takes is Takes.SESSION


def _command_names(typed: str) -> list[tuple[str, str]]:
    """Return the commands whose name goes on from what is typed; none once a whole name and a space are there."""
    given = " ".join(typed.lower().split()) + (" " if typed[-1:].isspace() and typed.strip() else "")
    found = [(spec.name, spec.summary) for spec in SPECS if spec.name.startswith(given)]
    found += [(alias, spec.summary) for spec in SPECS for alias in spec.aliases if given and alias.startswith(given)]
    return found


def _typed(text: str) -> _Typed | None:
    known = registry()
    matches = list(_WORD.finditer(text.removeprefix("/")))
    rest = text.removeprefix("/")
    for count in (2, 1):
        name = " ".join(m.group().lower() for m in matches[:count])
        if len(matches) < count or name not in known:
            continue
        tail = rest[matches[count - 1].end() :]
        if not tail[:1].isspace():
            return None
        words = [m.group() for m in _WORD.finditer(tail)]
        at_word = not tail[-1:].isspace()
        return _Typed(known[name], tuple(words[:-1] if at_word else words), words[-1] if at_word else "")
    return None


def _values(typed: _Typed, scene: _Scene) -> list[_Found]:
    if typed.word.startswith("--"):
        return _option_names(typed)
    argument = _argument(typed)
    if argument is None:
        return _option_names(typed) if not typed.word else []
    found = _completers()[argument.takes](typed, scene)
    return [c for c in found if _goes_on(c[0], typed.word) and c[0] not in typed.words]


def _goes_on(candidate: str, word: str) -> bool:
    folded = word.casefold()
    return candidate.casefold().startswith(folded) or (
        word.isascii() and word.isdigit() and candidate.startswith("todo_") and _number(candidate).startswith(word)
    )


def _number(todo_id: str) -> str:
    return todo_id.removeprefix("todo_").lstrip("0")


def _argument(typed: _Typed) -> Argument | None:
    """Return what the word at the cursor is a value of; None for free text and beyond the last argument."""
    options = {f"--{o.name}": o for o in typed.spec.options}
    places = [i for i, word in enumerate(typed.words) if word.partition("=")[0] in options]
    if places:
        option = options[typed.words[places[-1]].partition("=")[0]]
        given = len(typed.words) - places[-1] - 1
        return option if option.many or given == 0 else None
    for index, argument in enumerate(typed.spec.arguments):
        if argument.many or index == len(typed.words):
            return argument
    return None


def _option_names(typed: _Typed) -> list[_Found]:
    names = [(f"--{o.name}", f"--{o.name}", str(o.takes)) for o in typed.spec.options]
    return [c for c in names if c[0].startswith(typed.word) and c[0] not in typed.words]


def _completers() -> Mapping[Takes, Callable[[_Typed, _Scene], Iterable[_Found]]]:
    return {
        Takes.TODO: _todos,
        Takes.REMOVED: _removed_todos,
        Takes.QUESTION: _inner_questions,
        Takes.STATUS: _statuses,
        Takes.PRIORITY: lambda typed, scene: [(p, p, "") for p in map(str, Priority)],
        Takes.AGENT: _agents,
        Takes.WHERE: lambda typed, scene: [("before", "before", ""), ("after", "after", "")],
        Takes.CHECKPOINT: _checkpoints,
        Takes.PROPOSAL: _proposals,
        Takes.MODE: lambda typed, scene: [(m, m, _MODE_HELP[m]) for m in Mode],
        Takes.COMMAND: _help_words,
        Takes.NUMBER: lambda typed, scene: (),
        Takes.TASK: lambda typed, scene: (),
        Takes.SESSION: _sessions,
        Takes.THEME: lambda typed, scene: [(name, name, "") for name in scene.themes],
        Takes.VIEW: lambda typed, scene: [("undo", "undo", "")],
        Takes.DIGEST: _digests,
        Takes.TEXT: _text,
        Takes.FILE: lambda typed, scene: (),
    }


_MODE_HELP = {
    Mode.STEP: Message("ask for every step"),
    Mode.PLAN: Message("ask for the plan, then for risky steps"),
    Mode.RISK: Message("ask for risky steps only"),
}

_KINDS = {
    "todo done": Kind.EFFECT,
    "todo again": Kind.EFFECT,
}
_STATUSES = {
    "todo retry": {Status.FAILED},
    "todo cancel": {Status.IN_PROGRESS},
    "todo approve": {Status.WAITING_APPROVAL, Status.PENDING},
    "todo remove": {Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED, Status.SKIPPED},
    "todo edit": {Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED, Status.FAILED},
}


def _todos(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    if scene.snapshot is None:
        return
    asked = _asked(scene.snapshot)
    places = {todo_id: place for place, todo_id in enumerate(asked)}
    for todo in sorted(scene.snapshot.todos, key=lambda t: places.get(t.id, len(places))):
        question = asked.get(todo.id)
        # With thousands of them most of the time goes into words for those that nobody means.
        if _goes_on(todo.id, typed.word) and _fits(typed.spec.name, todo, question):
            asks = "asks" if question is not None else str(todo.status)
            yield todo.id, todo.id, _shown(f"{asks} · {todo.agent_name} · {todo.name}")


def _removed_todos(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for todo_id, state in scene.snapshot.removed.items() if scene.snapshot else ():
        if _goes_on(todo_id, typed.word):
            todo = SupervisorTodo.from_state(state)
            yield todo.id, todo.id, _shown(f"{todo.agent_name} · {todo.name}")


def _inner_questions(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for question in scene.snapshot.questions if scene.snapshot else ():
        if question.shape is not None:
            yield question.name, question.name, _shown(f"{question.view.request.source} · {question.shape.question}")


def _answers(name: str, scene: _Scene) -> Iterator[_Found]:
    """Offer what a question takes: its actions, or its options."""
    if scene.snapshot is None:
        return
    try:
        question = open_question(scene.snapshot, name)
    except BadInput:  # half a name
        return
    if question.shape is None:
        return
    for action in question.shape.actions:
        if action.why_not or action.wants.form in (Form.VALUE, Form.PARTS):
            continue
        if action.wants.form is Form.OPTIONS:
            yield from ((str(n), str(n), _shown(o.text)) for n, o in enumerate(action.wants.options, start=1))
        else:
            yield action.name, action.name, _shown(action.meaning or action.label)


def _asked(snapshot: Snapshot) -> dict[str, Question]:
    """Return the first question about each TODO that asks, in the order they are asked."""
    found: dict[str, Question] = {}
    for question in snapshot.questions:
        found.setdefault(question.todo_id, question)
    return found


def _fits(command: str, todo: SupervisorTodo, question: Question | None) -> bool:
    if command in _KINDS:
        return question is not None and question.kind is _KINDS[command]
    if command == "todo skip":
        skippable = OPERATOR in TRANSITIONS.get((todo.status, Status.SKIPPED), frozenset())
        return skippable or (question is not None and Verdict.SKIP in question.view.request.options)
    return todo.status in _STATUSES.get(command, Status)


def _statuses(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    """Offer the statuses that the operator may give this TODO; all of them when it isn't known which it is."""
    todo = _named_todo(typed.words[0], scene) if typed.words else None
    now = todo.status if todo is not None else None
    for status in Status:
        if now is None or OPERATOR in TRANSITIONS.get((now, status), frozenset()):
            yield status.value, status.value, ""


def _named_todo(name: str, scene: _Scene) -> SupervisorTodo | None:
    """Return the TODO that a word names as commands take it; None where it names none."""
    if scene.snapshot is None:
        return None
    try:
        return scene.snapshot.todo(resolve_id(name, [todo.id for todo in scene.snapshot.todos]))
    except UnknownName:
        return None


def _agents(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for name, facts in scene.agents.items():
        if facts.enabled:
            yield name, name, _shown(facts.description)
    for name, declared in scene.commands.items():
        if name not in scene.agents:
            yield name, name, _shown(declared.description)


def _checkpoints(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for offer in scene.checkpoints:
        number = str(offer.number)
        yield offer.id if len(typed.word) > len(number) else number, number, offer.said


def _proposals(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for question in scene.snapshot.questions if scene.snapshot else ():
        if question.kind is Kind.PROPOSAL:
            yield question.name, question.name, _shown(str(question.view.request.about.get("reason", "")))


def _sessions(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for summary in reversed(scene.sessions):
        yield summary.id, summary.id, _shown(f"{summary.status} · {summary.title}")


def _digests(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    for question in scene.snapshot.questions if scene.snapshot else ():
        if question.kind is Kind.TODO and (question.todo_id in typed.words or typed.words[:1] == ("--digest",)):
            shown = question.digest[:_DIGEST_SHOWN]
            yield shown, shown, question.todo_id


def _help_words(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    given = len(typed.words)
    for spec in SPECS:
        words = spec.name.split()
        if len(words) > given and tuple(words[:given]) == tuple(w.lower() for w in typed.words):
            yield " ".join(words[given:]), spec.name, spec.summary


def _text(typed: _Typed, scene: _Scene) -> Iterator[_Found]:
    """Offer declared commands, and parameters of commands, functions and tools, where a TODO of theirs is written."""
    if typed.spec.name == "todo add" and typed.words:
        facts = scene.agents.get(typed.words[0])
        if (facts.team if facts else typed.words[0]) == "command_team":
            yield from _call(typed.words[1:], scene)
        elif facts is None:
            yield from _call(typed.words, scene)
        else:
            yield from _named(facts.parameters(), typed.words[1:])
    elif typed.spec.name == "answer" and len(typed.words) == 1:
        yield from _answers(typed.words[0], scene)
    elif typed.spec.name == "todo edit" and typed.words:
        todo = _named_todo(typed.words[0], scene)
        declared = scene.commands.get(todo.command) if todo is not None else None
        facts = scene.agents.get(todo.agent_name) if todo is not None else None
        if declared is not None:
            yield from _parameters(declared, typed.words[1:])
        elif facts is not None:
            yield from _named(facts.parameters(), typed.words[1:])


def _call(words: Sequence[str], scene: _Scene) -> Iterator[_Found]:
    if not words:
        for name, declared in scene.commands.items():
            yield name, name, _shown(declared.description)
    elif words[0] in scene.commands:
        yield from _parameters(scene.commands[words[0]], words[1:])


def _parameters(declared: CommandDeclaration, given: Sequence[str]) -> Iterator[_Found]:
    return _named({name: p.description or p.type for name, p in declared.parameters.items()}, given)


def _named(parameters: Mapping[str, str], given: Sequence[str]) -> Iterator[_Found]:
    taken = {word.partition("=")[0] for word in given}
    for name, said in parameters.items():
        if name not in taken:
            yield f"{name}=", f"{name}=", _shown(said)


def _shown(text: str) -> str:
    return one_line(text, _HELP_CELLS)
