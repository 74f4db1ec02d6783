"""A question as it is shown: what exactly would run, by whom, and which answers fit. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from hitl_tui.console.terms import left_words
from hitl_tui.console.words import number_of
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import cell_width, safe_text

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_DERIVED = ("argv", "preview", "exit_codes", "timeout", "command", "parameters")
_PREVIEW_LINES = 12
_LABEL = 9
_WIDEST_LABEL = 14
_ROOMY = 90

RISK_WORDS: Mapping[str, str] = {
    "high": "RISKY: changes things outside this session",
    "medium": "MEDIUM RISK",
    "low": "low risk",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what is shown: a label (empty for text that stands alone) and safe text.

    `exact` text is broken where it meets the edge, so that no space is lost; other text between words.
    """

    label: str
    text: Content
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One place of the row of actions.

    Args:
        number: 1 to 6; what a place means never changes.
        label: one or two words.
        verdict: what it says; None for edit and details.
        ask: what comes first: nothing, `reason`, `value`, `edit`, `details`, or a question to confirm.
        why_not: why it isn't possible; empty when it is.
    """

    number: int
    label: str
    verdict: Verdict | None = None
    ask: str = ""
    why_not: str = ""


_PLACES = {1: "Approve", 2: "Edit", 3: "Reject", 4: "Skip", 5: "Respond"}
_STOP_ALL = "Stop everything that hasn't ended?"
_DO_AGAIN = "Do it again, although it may have happened already?"

_ANSWERS: Mapping[Kind, Mapping[int, tuple[str, Verdict | None, str]]] = {
    Kind.TODO: {
        1: ("Approve", Verdict.APPROVE, ""),
        2: ("Edit", None, "edit"),
        3: ("Reject", Verdict.REJECT, "reason"),
        4: ("Skip", Verdict.SKIP, ""),
    },
    Kind.FAILURE: {
        1: ("Retry", Verdict.RETRY, ""),
        2: ("Edit", None, "edit"),
        3: ("Stop all", Verdict.STOP, _STOP_ALL),
        4: ("Skip", Verdict.SKIP, ""),
    },
    Kind.EFFECT: {
        1: ("Use as done", Verdict.USE_AS_DONE, ""),
        3: ("Stop", Verdict.STOP, "reason"),
        5: ("Do again", Verdict.DO_AGAIN, _DO_AGAIN),
    },
    Kind.INTERRUPT: {3: ("Reject", Verdict.REJECT, "reason"), 5: ("Respond", Verdict.RESPOND, "value")},
    Kind.PLAN: {1: ("Approve", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
    Kind.PROPOSAL: {1: ("Accept", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
    Kind.EXTERNAL: {1: ("Approve", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
}

_WHY_NOT: Mapping[tuple[Kind, int], str] = {
    (Kind.TODO, 5): "There is nothing to respond to: this asks whether a step may run.",
    (Kind.FAILURE, 5): "There is nothing to respond to: this asks what to do about a failure.",
    (Kind.EFFECT, 2): "What may have happened already can't be edited.",
    (Kind.EFFECT, 4): "An effect in doubt is used as done, done again or stopped.",
    (Kind.INTERRUPT, 1): "The team wants an answer in words: press 5.",
    (Kind.INTERRUPT, 2): "The team wants an answer in words: press 5.",
    (Kind.INTERRUPT, 4): "A team that asks is answered (5) or rejected (3).",
    (Kind.PLAN, 2): "Reject the plan with feedback to have it changed, or edit its steps once it is approved.",
    (Kind.PLAN, 4): "A plan is approved, or rejected with feedback.",
    (Kind.PLAN, 5): "Reject the plan with feedback: what you write goes to the planner.",
}


def answers(question: Question) -> tuple[Answer, ...]:
    """Return the six places of the row of actions for a question."""
    known, options = _ANSWERS[question.kind], question.view.request.options
    found = []
    for number, name in _PLACES.items():
        label, verdict, ask = known.get(number, (name, None, ""))
        if number not in known or (verdict is not None and verdict not in options):
            reason = _WHY_NOT.get((question.kind, number), f"{name} doesn't fit this question.")
            found.append(Answer(number, name, why_not=reason))
        else:
            found.append(Answer(number, label, verdict, ask))
    return (*found, Answer(6, "Details", ask="details"))


def what(question: Question) -> str:
    """Return what is asked, in words."""
    return {
        Kind.TODO: "may it run?",
        Kind.FAILURE: "it failed: what now?",
        Kind.EFFECT: "did it happen?",
        Kind.INTERRUPT: "its team asks",
        Kind.PLAN: "may this plan begin?",
        Kind.PROPOSAL: "shall the plan change?",
        Kind.EXTERNAL: "may it go on?",
    }[question.kind]


def headline(question: Question, index: int, total: int, now: datetime) -> Content:
    """Return the title of the panel: place, step, risk, deadline."""
    risk = str(question.view.request.about.get("risk", ""))
    place = f"QUESTION {index} of {total}" if total > 1 else "QUESTION"
    name = number_of(question.todo_id) if question.todo_id else question.kind.value
    parts: list[tuple[str, str]] = [(f"{place} · {name} · ", "")]
    if risk:
        parts.append((RISK_WORDS.get(risk, risk), "bold $text-error" if risk == "high" else ""))
        parts.append((" · ", ""))
    parts.append((what(question), ""))
    left = left_words(question.view.request.deadline, now)
    if left:
        parts.append((f" · {left}", "bold $text-warning"))
    return Content.assemble(*parts)


def body(question: Question, workspace: str) -> list[Row]:
    """Return what has to be read before deciding: exactly what would run first, what others say about it last."""
    return list(_rows(question, workspace, _PREVIEW_LINES))


def details(question: Question, workspace: str) -> list[Row]:
    """Return everything about a question."""
    request = question.view.request
    rows = list(_rows(question, workspace, None))
    rows.append(text_row(""))
    rows.append(_row("asked by", _line(request.source)))
    rows.append(_row("title", _line(str(request.about.get("title", "")))))
    said = {key: str(request.about.get(key) or "") for key in ("purpose", "expected_output", "priority")}
    rows += [_row(key.replace("_", " "), _line(text)) for key, text in said.items() if text]
    terms = request.terms
    if terms.quorum > 1 or terms.level:
        rows.append(_row("takes", f"{terms.quorum} approvers of level {terms.level} or higher"))
    if request.deadline:
        rows.append(_row("until", f"{request.deadline}, then it counts as {terms.on_deadline}"))
    rows.append(_row("digest", request.digest))
    rows.append(_row("request", request.id))
    rows.append(_row("commands", "  ".join(question.commands.values())))
    rows.append(text_row(""))
    rows.append(text_row("The subject, exactly as it is approved:", "$text-muted"))
    rows.append(Row("", Content(_json(request.subject)), exact=True))
    return rows


def command_line(argv: Iterable[object]) -> str:
    """Return an argument vector, quoted so that every space and empty argument is visible; no shell reads it."""
    return safe_text(shlex.join(str(part) for part in argv), multiline=False)


def input_rows(arguments: Mapping[str, Any], task: str, workspace: str) -> list[Row]:
    """Return the exact input of a step: the argument vector of a command, else task and arguments whole."""
    rows: list[Row] = []
    if isinstance(arguments.get("argv"), list):
        rows.append(_row("runs", command_line(arguments["argv"]), "bold", exact=True))
        rows.append(_row("in", _line(workspace)))
        parameters = arguments.get("parameters") or {}
        if parameters:
            rows.append(
                _row("with", _line(" ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in parameters.items())))
            )
        limit = arguments.get("timeout")
        rows.append(
            _row("limits", f"{limit:g} s; exit codes {arguments.get('exit_codes')}" if limit else "no time limit")
        )
        arguments = {k: v for k, v in arguments.items() if k not in _DERIVED}
    elif task and task not in arguments.values():
        rows.append(_row("task", _whole(task), "bold"))
    for key, value in arguments.items():
        rows.append(_row(_line(str(key)), _value(value), "bold" if value == task else "", exact=True))
    return rows


def _rows(question: Question, workspace: str, preview_lines: int | None) -> Iterable[Row]:
    request = question.view.request
    about = request.about
    if question.kind in (Kind.TODO, Kind.FAILURE):
        yield _row(_line(request.source.removesuffix("_team")), _line(str(about.get("title", ""))), "$text-primary")
        if question.kind is Kind.FAILURE:
            yield _row("failed", _whole(str(about.get("error", ""))), "bold $text-error")
            yield _row("attempts", str(about.get("attempts", "")))
        yield from input_rows(request.subject.get("arguments") or {}, str(request.subject.get("task", "")), workspace)
        yield from _inputs(request.subject)
    elif question.kind is Kind.PLAN:
        yield from _steps(request.subject.get("steps") or ())
    elif question.kind is Kind.PROPOSAL:
        yield from _changes(request.subject.get("proposal") or {})
    elif question.kind is Kind.EFFECT:
        yield _row("doubt", _whole(str(about.get("why") or "It may have happened already.")), "bold $text-error")
        yield _row("effect", _value(request.subject.get("effect")), exact=True)
    else:
        yield _row(_line(request.source.removesuffix("_team")), _line(str(about.get("title", ""))), "$text-primary")
        yield _row("asks", _value(request.subject.get("value", request.subject)), "bold", exact=True)
    yield from _warnings(question)
    yield from _preview(question.view.evidence, preview_lines)
    yield from _said(question)


def _inputs(subject: Mapping[str, Any]) -> Iterable[Row]:
    inputs = subject.get("inputs") or {}
    if inputs:
        known = ", ".join(f"{number_of(k)} ({v[:8] if v else 'not there yet'})" for k, v in inputs.items())
        yield _row("uses", f"results of {known}")


def _warnings(question: Question) -> Iterable[Row]:
    about = question.view.request.about
    if about.get("missing"):
        names = ", ".join(number_of(str(m)) for m in about["missing"])
        yield _row("MISSING", f"input of {names}, which was skipped", "bold $text-warning")
    if about.get("ran_before"):
        ran = about["ran_before"]
        said = f"it ran on branch {ran.get('branch', '?')} ({_line(str(ran.get('status', '')))}); its effects stay"
        yield _row("RAN BEFORE", said, "bold $text-warning")
    if about.get("ahead"):
        yield _row("ahead", "asked before its inputs exist", "$text-warning")
    for decision in question.view.decisions:
        said = f"{decision.verdict} by {decision.by}" + (f": {decision.reason}" if decision.reason else "")
        yield _row("so far", _line(said))
    if question.view.decisions and question.view.resolution.needed > 0:
        yield _row("needs", f"{question.view.resolution.needed} more")


def _preview(evidence: Mapping[str, Any], most: int | None) -> Iterable[Row]:
    if not evidence:
        return
    if evidence.get("error"):
        yield _row("preview", f"failed: {_line(str(evidence['error']))}", "$text-warning")
        return
    lines = str(evidence.get("text", "")).splitlines()
    code = evidence.get("exit_code")
    counted = int(evidence.get("lines", len(lines)) or 0)
    state = "timed out" if evidence.get("timed_out") else f"exit code {code}"
    yield _row("preview", f"{counted:,} line{'' if counted == 1 else 's'}, {state}", "$text-muted")
    for line in lines[:most]:
        yield text_row(f"  │ {_line(line)}", "$text-muted")
    if most is not None and len(lines) > most:
        yield text_row(f"  │ … {len(lines) - most:,} more lines: 6 Details", "$text-muted")
    elif evidence.get("truncated"):
        yield text_row("  │ … the rest was not kept", "$text-muted")


def _said(question: Question) -> Iterable[Row]:
    """What an agent says about its own question stands apart: it is a claim, not what would run."""
    about = question.view.request.about
    said = about.get("says") or (about.get("reason") if question.kind is Kind.PROPOSAL else "")
    if said:
        origin = str(about.get("origin") or question.view.request.source)
        yield _row(f"{_line(origin)} says", f"“{_whole(str(said))}”", "italic $text-muted")


def _steps(steps: Iterable[Mapping[str, Any]]) -> Iterable[Row]:
    for step in steps:
        needs = " ".join(number_of(str(d)) for d in step.get("dependencies", ()))
        risk = str(step.get("risk", ""))
        head = f"{_line(str(step.get('team', '')).removesuffix('_team'))}  {_whole(str(step.get('task', '')))}"
        yield _row(number_of(str(step.get("todo", ""))), head + (f"  ← {needs}" if needs else ""), "bold")
        if risk and risk != "low":
            yield _row("", RISK_WORDS.get(risk, risk), "bold $text-error")
        arguments = step.get("arguments") or {}
        if isinstance(arguments.get("argv"), list):
            yield _row("", command_line(arguments["argv"]), exact=True)
        elif arguments:
            yield _row("", _line(json.dumps(arguments, ensure_ascii=False)), "$text-muted")


def _changes(proposal: Mapping[str, Any]) -> Iterable[Row]:
    for change in proposal.get("changes") or ():
        kind = str(change.get("kind", ""))
        todo = change.get("todo") or {}
        if todo:
            needs = " ".join(number_of(str(d)) for d in todo.get("dependencies", ()))
            team = _line(str(todo.get("agent_name", "")))
            head = f"{number_of(str(todo.get('id', '')))} {team}" + (f" ← {needs}" if needs else "")
            yield _row(_line(kind), head, "bold")
            yield from input_rows(todo.get("arguments") or {}, str(todo.get("description", "")), "")
        else:
            rest = {k: v for k, v in change.items() if k != "kind"}
            yield _row(_line(kind), _line(" ".join(f"{k}={v}" for k, v in rest.items())), "bold")
    if proposal.get("text"):
        yield _row("asked for", _whole(str(proposal["text"])))


def layout(rows: Iterable[Row], width: int) -> Content:
    """Return rows as text of a width in cells: what is too long goes on under its own beginning."""
    lines: list[Content] = []
    rows = list(rows)
    widest = _WIDEST_LABEL if width >= _ROOMY else _LABEL
    column = min(widest, max([_LABEL, *(cell_width(r.label) for r in rows)]))
    for row in rows:
        size = cell_width(row.label)
        indent = max(column, size) + 1 if row.label else 0
        label = Content.styled(row.label + " " * (indent - size), "$text-muted")
        room = max(8, width - indent)
        wrapped = [part for line in row.text.split("\n", allow_blank=True) for part in _broken(line, room, row.exact)]
        for number, part in enumerate(wrapped or [Content("")]):
            lines.append((label if number == 0 else Content(" " * indent)) + part)
    return Content("\n").join(lines)


def _broken(line: Content, width: int, exact: bool) -> list[Content]:
    if line.cell_length <= width:
        return [line]
    return line.fold(width) if exact else line.wrap(width, overflow="fold")


def text_row(text: str, style: str = "") -> Row:
    """Return a line without a label; `text` has to be safe."""
    return Row("", Content.styled(text, style))


def _row(label: str, text: str, style: str = "", *, exact: bool = False) -> Row:
    return Row(label, Content.styled(text, style), exact)


def _line(text: str) -> str:
    return safe_text(text, multiline=False)


def _whole(text: str) -> str:
    return safe_text(text)


def _value(value: Any) -> str:
    """Return a JSON value: text as it is when nothing about it is in doubt, else as JSON."""
    if isinstance(value, str) and value.strip() == value and value:
        return _whole(value)
    short = json.dumps(value, ensure_ascii=False)
    return safe_text(short if len(short) <= 60 else json.dumps(value, ensure_ascii=False, indent=2))


def _json(value: Any) -> str:
    return safe_text(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))
