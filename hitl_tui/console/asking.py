"""A question as it is shown: what exactly would run, by whom, and which answers fit. Pure."""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from hitl_tui.console.terms import left_words
from hitl_tui.console.words import number_of
from hitl_tui.core.requests import Kind
from hitl_tui.core.safe_text import cell_width, safe_text, text_lines
from hitl_tui.language import _, mark, ngettext, render

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_DERIVED = ("argv", "preview", "exit_codes", "timeout", "command", "parameters")
_PREVIEW_LINES = 12
_FIRST_LINES = 4
"""Rows of a preview that stand before anything else: its count and its first lines."""
_LABEL = 9
_WIDEST_LABEL = 14
_ROOMY = 60
_NEAR = 0.7
"""Share of a line that is filled at least before a space breaks it."""
_LONGEST_LINE = 10_000
"""Characters of a line up to which it is broken behind spaces; looking for them takes a while."""
_LONG = 40
"""Characters from which on a value that stands in the task already isn't written there again."""

_SAID = {"purpose": mark("purpose"), "expected_output": mark("expects"), "priority": mark("priority")}

RISK_WORDS: Mapping[str, str] = {
    "high": mark("RISKY: changes things outside this session"),
    "medium": mark("MEDIUM RISK"),
    "low": mark("low risk"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what is shown: a label (empty for text that stands alone) and safe text.

    `exact` text keeps every space where it is broken; other text loses those at the end of a line.
    """

    label: str
    text: Content
    exact: bool = False


def risk_words(risk: str) -> str:
    """Return a class of risk in words; what comes before a colon is enough where room is scarce."""
    return _(RISK_WORDS[risk]) if risk in RISK_WORDS else risk


def risk_of(question: Question) -> str:
    """Return a question's class of risk: its step's, or that of the action that waits inside it when it is higher."""
    inner = question.shape.risk if question.shape is not None else ""
    return inner or str(question.view.request.about.get("risk", ""))


def title_of(question: Question) -> str:
    """Return a question's title, one safe line: a step's is somebody's words, a plan's or a proposal's its kind."""
    title = str(question.view.request.about.get("title", ""))
    return _line(render(title) if question.kind in (Kind.PLAN, Kind.PROPOSAL) else title)


def what(question: Question) -> str:
    """Return what is asked, in words."""
    return {
        Kind.TODO: _("may it run?"),
        Kind.FAILURE: _("it failed: what now?"),
        Kind.EFFECT: _("did it happen?"),
        Kind.INTERRUPT: _("its team asks"),
        Kind.PLAN: _("may this plan begin?"),
        Kind.PROPOSAL: _("shall the plan change?"),
        Kind.EXTERNAL: _("may it go on?"),
    }[question.kind]


def headline(question: Question, index: int, total: int, now: datetime, width: int = 0, marks: int = 0) -> Content:
    """Return the title of the panel: what must not be cut off first: place, step, mark, risk, deadline, who said so.

    Args:
        question: the one that is shown.
        index: its place, from 1.
        total: how many are open.
        now: for the time that is left.
        width: cells there are; 0 for as many as it takes.
        marks: 0 when this one isn't marked, else how many are.
    """
    risk = risk_of(question)
    place = _("QUESTION {index} of {total}").format(index=index, total=total) if total > 1 else _("QUESTION")
    name = number_of(question.name) if question.todo_id else render(question.kind.value)
    parts: list[tuple[str, str]] = [(f"{place} · {name}", "")]
    if marks:
        parts.append((_(" · ◆ marked ({marks})").format(marks=marks), "bold $text-primary"))
    style = "bold $text-error" if risk == "high" else ""
    left = left_words(question.view.request.deadline, now)
    tail: list[tuple[str, str]] = [(f" · {left}", "bold $text-warning")] if left else []
    if question.view.request.terms.quorum > 1:
        tail.append((f" · {quorum_words(question)}", "bold $text-warning"))
    asked = (f" · {what(question)}", "")
    short = risk_words(risk).partition(":")[0]
    for said, last in ((risk_words(risk), [asked]), (short, [asked]), (short, [])):
        found = Content.assemble(*parts, *([(f" · {said}", style)] if said else []), *tail, *last)
        if not width or found.cell_length <= width:
            break
    return found


def quorum_words(question: Question) -> str:
    """Return how many have said yes, of how many it takes: `1 of 2 said yes`."""
    takes = question.view.request.terms.quorum
    return _("{value} of {takes} said yes").format(value=max(0, takes - question.view.resolution.needed), takes=takes)


def body(question: Question, workspace: str, draft: Sequence[Row] = (), key: str = "6") -> list[Row]:
    """Return what has to be read before deciding: what would run and touch first, what others say about it last.

    Args:
        question: the question.
        workspace: where it would run.
        draft: what a file would hold afterwards, see `draft_rows`.
        key: how the key for the details reads.
    """
    return list(_rows(question, workspace, _PREVIEW_LINES, draft, key))


def details(question: Question, workspace: str, draft: Sequence[Row] = ()) -> list[Row]:
    """Return everything about a question."""
    request = question.view.request
    rows = list(_rows(question, workspace, None, draft))
    rows.append(text_row(""))
    rows.append(_row(_("asked by"), _line(request.source)))
    rows.append(_row(_("title"), title_of(question)))
    said = {key: str(request.about.get(key) or "") for key in _SAID}
    rows += [_row(_(_SAID[key]), _line(render(text))) for key, text in said.items() if text]
    terms = request.terms
    if terms.quorum > 1 or terms.level:
        rows.append(
            _row(
                _("takes"),
                _("{quorum} approvers of level {level} or higher").format(quorum=terms.quorum, level=terms.level),
            )
        )
    if request.deadline:
        rows.append(
            _row(
                _("until"),
                _("{deadline}, then it counts as {verdict}").format(
                    deadline=request.deadline, verdict=render(str(terms.on_deadline))
                ),
            )
        )
    rows.append(_row(_("digest"), request.digest))
    rows.append(_row(_("request"), request.id))
    rows.append(_row(_("commands"), "  ".join(question.commands.values())))
    if question.shape is not None:
        from hitl_tui.console.inner import answer_rows

        rows += answer_rows(question.shape)
    rows.append(text_row(""))
    rows.append(text_row(_("The subject, exactly as it is approved:"), "$text-muted"))
    rows.append(Row("", Content(_json(request.subject)), exact=True))
    return rows


def command_line(argv: Iterable[object]) -> str:
    """Return an argument vector, quoted so that every space and empty argument is visible; no shell reads it."""
    return safe_text(shlex.join(str(part) for part in argv), multiline=False)


def input_rows(arguments: Mapping[str, Any], task: str, workspace: str) -> list[Row]:
    """Return the exact input of a step: the argument vector of a command, else task and arguments whole."""
    return [*_runs(arguments, task), *_around(arguments, workspace)]


def _runs(arguments: Mapping[str, Any], task: str) -> Iterable[Row]:
    """What would run."""
    if isinstance(arguments.get("argv"), list):
        yield _row(_("runs"), command_line(arguments["argv"]), "bold", exact=True)
        arguments = {k: v for k, v in arguments.items() if k not in _DERIVED}
    elif task and task not in arguments.values():
        yield _row(_("task"), _whole(_without_repeats(task, arguments)), "bold")
    for key, value in arguments.items():
        yield _row(_line(str(key)), _value(value), "bold" if value == task else "", exact=True)


def _without_repeats(task: str, arguments: Mapping[str, Any]) -> str:
    """Return a task in which the name of an argument stands for its value, which is shown whole by itself."""
    for key, value in arguments.items():
        if isinstance(value, str) and len(value) >= _LONG and value in task:
            task = task.replace(value, f"«{_line(str(key))}»")
    return task


def _around(arguments: Mapping[str, Any], workspace: str) -> Iterable[Row]:
    """Where and within which limits a command would run."""
    if not isinstance(arguments.get("argv"), list):
        return
    yield _row(_("in"), _line(workspace))
    parameters = arguments.get("parameters") or {}
    if parameters:
        yield _row(
            _("with"), _line(" ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in parameters.items()))
        )
    limit = arguments.get("timeout")
    yield _row(
        _("limits"),
        _("{limit:g} s; exit codes {value}").format(limit=limit, value=arguments.get("exit_codes"))
        if limit
        else _("no time limit"),
    )


def _rows(
    question: Question, workspace: str, preview_lines: int | None, draft: Sequence[Row] = (), key: str = ""
) -> Iterable[Row]:
    request = question.view.request
    about = request.about
    title = _row(_line(request.source.removesuffix("_team")), title_of(question), "$text-primary")
    if question.kind in (Kind.TODO, Kind.FAILURE):
        arguments = request.subject.get("arguments") or {}
        if question.kind is Kind.FAILURE:
            yield _row(_("failed"), _whole(render(str(about.get("error", "")))), "bold $text-error")
        yield from draft
        yield from _runs(arguments, str(request.subject.get("task", "")))
        yield from _warnings(question)
        if question.again:  # it goes on from one of its team's steps
            yield _row(_("again"), "\n".join(_line(render(line)) for line in question.again), "$text-muted")
        evidence = list(_preview(question, preview_lines, key))
        yield from evidence[:_FIRST_LINES]
        yield title
        if question.kind is Kind.FAILURE:
            yield _row(_("attempts"), str(about.get("attempts", "")))
        yield from _around(arguments, workspace)
        yield from _inputs(request.subject)
        if len(evidence) > _FIRST_LINES:
            yield text_row(_("the preview goes on:"), "$text-muted")
            yield from evidence[_FIRST_LINES:]
        yield from _said(question)
        return
    if question.kind is Kind.PLAN:
        yield from _steps(request.subject.get("steps") or ())
    elif question.kind is Kind.PROPOSAL:
        yield from _changes(request.subject.get("proposal") or {})
    elif question.kind is Kind.EFFECT:
        yield _row(
            _("doubt"),
            _whole(render(str(about.get("why") or "")) or _("It may have happened already.")),
            "bold $text-error",
        )
        yield from _effect(request.subject.get("effect"))
    elif question.shape is not None:
        from hitl_tui.console.inner import inner_rows

        yield from inner_rows(question, question.shape)
        yield title
    else:
        yield _row(_("asks"), _value(request.subject.get("value", request.subject)), "bold", exact=True)
        yield title
    yield from _warnings(question)
    yield from _preview(question, preview_lines, key)
    yield from _said(question)


def draft_rows(path: str, content: str, *, exists: bool, most: int | None = None, key: str = "6") -> list[Row]:
    """Return what writing a new document would change, as a unified diff against nothing.

    Args:
        path: the file, relative to the workspace.
        content: all of it.
        exists: there is such a file; it stays, and the new one gets a number.
        most: lines to show; None for all.
        key: how the key for the details reads.
    """
    lines = list(difflib.unified_diff([], content.splitlines(), "/dev/null", path, lineterm="", n=0))
    added = len(content.splitlines())
    note = (
        _("{path} is there and stays as it is; the new file gets a number").format(path=path)
        if exists
        else _("{path} is new").format(path=path)
    )
    rows = [
        _row(
            _("writes"),
            _("{lines:,} lines, {bytes:,} bytes; {note}").format(
                lines=added, bytes=len(content.encode()), note=_line(note)
            ),
            "bold",
        )
    ]
    rows += [
        text_row(f"  {_line(line)}", "$text-success" if line[:1] == "+" else "$text-muted") for line in lines[:most]
    ]
    if most is not None and len(lines) > most:
        rows.append(
            text_row(_("  … {n:,} more lines: {key} Details").format(n=len(lines) - most, key=key), "$text-muted")
        )
    return rows


def _inputs(subject: Mapping[str, Any]) -> Iterable[Row]:
    inputs = subject.get("inputs") or {}
    if inputs:
        known = ", ".join(f"{number_of(k)} ({v[:8] if v else _('not there yet')})" for k, v in inputs.items())
        yield _row(_("uses"), _("results of {known}").format(known=known))


def _warnings(question: Question) -> Iterable[Row]:
    about = question.view.request.about
    if about.get("missing"):
        names = ", ".join(number_of(str(m)) for m in about["missing"])
        yield _row(_("MISSING"), _("input of {names}, which was skipped").format(names=names), "bold $text-warning")
    if about.get("ran_before"):
        ran = about["ran_before"]
        said = _("it ran on branch {branch} ({status}); its effects stay").format(
            branch=ran.get("branch", "?"), status=_line(render(str(ran.get("status", ""))))
        )
        yield _row(_("RAN BEFORE"), said, "bold $text-warning")
    if about.get("ahead"):
        yield _row(_("ahead"), _("asked before its inputs exist"), "$text-warning")
    for decision in question.view.decisions:
        said = _("{verdict} by {by}").format(verdict=render(decision.verdict.value), by=decision.by) + (
            f": {decision.reason}" if decision.reason else ""
        )
        yield _row(_("so far"), _line(said), "bold")
    terms = question.view.request.terms
    if terms.quorum > 1 and question.view.resolution.needed > 0:
        level = _(" of level {level} or higher").format(level=terms.level) if terms.level else ""
        yield _row(
            _("needs"),
            _("{needed} more of {quorum} people{level}").format(
                needed=question.view.resolution.needed, quorum=terms.quorum, level=level
            ),
            "bold",
        )


def _preview(question: Question, most: int | None, key: str) -> Iterable[Row]:
    evidence = question.view.evidence
    if not evidence:
        if (question.view.request.subject.get("arguments") or {}).get("preview"):
            yield _row(_("preview"), _("not there yet"), "$text-warning")
        return
    if evidence.get("findings"):
        yield from _findings(evidence, most, key)
        return
    if evidence.get("error"):
        yield _row(
            _("preview"), _("failed: {error}").format(error=_line(render(str(evidence["error"])))), "$text-warning"
        )
        return
    text = str(evidence.get("text", ""))
    lines = text_lines(text) if text else []
    code = evidence.get("exit_code")
    counted = int(evidence.get("lines", len(lines)) or 0)
    state = _("timed out") if evidence.get("timed_out") else _("exit code {code}").format(code=code)
    yield _row(
        _("preview"),
        ngettext("{n:,} line, {state}", "{n:,} lines, {state}", counted).format(n=counted, state=state),
        "bold",
    )
    for line in lines[:most]:
        yield text_row(f"  │ {_line(line)}", "$text-muted")
    if most is not None and len(lines) > most:
        yield text_row(_("  │ … {n:,} more lines: {key} Details").format(n=len(lines) - most, key=key), "$text-muted")
    elif evidence.get("truncated"):
        yield text_row(_("  │ … the rest was not kept"), "$text-muted")


def _findings(found: Mapping[str, Any], most: int | None, key: str) -> Iterable[Row]:
    """What the rules of safe interrupts found in a graph that is to run (I6)."""
    findings = found["findings"]
    head = ngettext("{n} finding: {command}", "{n} findings: {command}", len(findings))
    yield _row(_("check"), head.format(n=len(findings), command=_line(str(found["command"]))), "bold $text-warning")
    for one in findings[:most]:
        place = f"{_line(str(one['file']))}:{one['line']} {one['rule']}"
        yield text_row(f"  │ {place} {_line(render(str(one['message'])))}", "$text-muted")
    if most is not None and len(findings) > most:
        yield text_row(
            _("  │ … {n:,} more lines: {key} Details").format(n=len(findings) - most, key=key), "$text-muted"
        )


def _said(question: Question) -> Iterable[Row]:
    """What an agent says about its own question stands apart: it is a claim, not what would run."""
    about = question.view.request.about
    said = about.get("says") or (about.get("reason") if question.kind is Kind.PROPOSAL else "")
    if said:
        origin = str(about.get("origin") or question.view.request.source)
        origin = _("operator") if origin == "operator" else origin
        yield text_row(_("── {origin} says; nobody has checked it ──").format(origin=_line(origin)), "$text-muted")
        yield text_row(f"“{_whole(str(said))}”", "italic $text-muted")


def _effect(effect: Any) -> Iterable[Row]:
    """What may have happened: what ran, and the name that it is on record under; why it is in doubt stands above."""
    if not isinstance(effect, Mapping) or not isinstance(effect.get("subject"), Mapping):
        yield _row(_("effect"), _value(effect), exact=True)
        return
    yield from _runs(effect["subject"], "")
    rest = {k: v for k, v in effect["subject"].items() if k in _DERIVED[1:]} if "argv" in effect["subject"] else {}
    for key, value in (*rest.items(), *((k, v) for k, v in effect.items() if k not in ("subject", "why"))):
        yield _row(_line(str(key)), _value(value), "$text-muted", exact=True)


def _steps(steps: Iterable[Mapping[str, Any]]) -> Iterable[Row]:
    for step in steps:
        needs = " ".join(number_of(str(d)) for d in step.get("dependencies", ()))
        risk = str(step.get("risk", ""))
        arguments = step.get("arguments") or {}
        task = _without_repeats(str(step.get("task", "")), arguments)
        head = f"{_line(str(step.get('team', '')).removesuffix('_team'))}  {_whole(task)}"
        yield _row(number_of(str(step.get("todo", ""))), head + (f"  ← {needs}" if needs else ""), "bold")
        if risk and risk != "low":
            yield _row(" ", risk_words(risk), "bold $text-error")
        if isinstance(arguments.get("argv"), list):
            yield _row(" ", command_line(arguments["argv"]), exact=True)
        elif arguments:
            yield _row(" ", "  ".join(f"{_line(str(k))}: {_plain(v)}" for k, v in arguments.items()), "$text-muted")


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
        yield _row(_("asked for"), _whole(str(proposal["text"])))


def layout(rows: Iterable[Row], width: int) -> Content:
    """Return rows as text of a width in cells: what is too long goes on under its own beginning."""
    return Content("\n").join(layout_lines(rows, width))


def layout_lines(rows: Iterable[Row], width: int) -> list[Content]:
    """Return rows as `layout` does, line by line."""
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
    return lines


def _broken(line: Content, width: int, exact: bool) -> list[Content]:
    if line.cell_length <= width:
        return [line]
    return _folded(line, width) if exact else line.wrap(width, overflow="fold")


def _folded(line: Content, width: int) -> list[Content]:
    """Return a line in parts that hold all of it: broken behind a space where there is one near the edge."""
    if len(line) > _LONGEST_LINE:
        return line.fold(width)
    parts, begin, end = [], 0, len(line)
    while end - begin > width or line[begin:].cell_length > width:
        fits = line[begin : begin + width].fold(width)[0].plain
        behind = fits.rfind(" ") + 1
        cut = behind if behind > len(fits) * _NEAR else len(fits)
        parts.append(line[begin : begin + cut])
        begin += cut
    return [*parts, line[begin:]]


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


def _plain(value: Any) -> str:
    """Return a JSON value in one line; text without quotes when nothing about it is in doubt."""
    return _line(value if isinstance(value, str) and value.strip() == value else json.dumps(value, ensure_ascii=False))


def _json(value: Any) -> str:
    return safe_text(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))
