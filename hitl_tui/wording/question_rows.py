"""A question in words: its title, what has to be read before deciding, and everything about it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hitl_tui.core.json_text import texts_in
from hitl_tui.core.names import plain_name
from hitl_tui.core.policy import rule_label
from hitl_tui.core.requests import Kind, expiry_verdict
from hitl_tui.core.safe_text import cell_width, clip, safe_text
from hitl_tui.core.todos import Priority, Status
from hitl_tui.language import mark, safe_message
from hitl_tui.terminal.ascii_signs import _, signs
from hitl_tui.wording.evidence_rows import evidence_rows
from hitl_tui.wording.interrupt_rows import again_rows, answer_rows, inner_rows, who_asks
from hitl_tui.wording.plan_revision_rows import revision_rows, revision_words
from hitl_tui.wording.policy_rows import takes_words
from hitl_tui.wording.rows import Row, StyledText, assembled, in_line, joined, labelled, quoted_row, styled, text_row
from hitl_tui.wording.status_words import command_title, command_words, number_of, risk_words, undo_command
from hitl_tui.wording.subject_rows import (
    argument_rows,
    change_rows,
    effect_marks,
    effect_rows,
    inputs,
    is_graph_input,
    limits,
    plan_change_rows,
    risk_of_run,
    runs,
    state_rows,
    step_rows,
    value_text,
)
from hitl_tui.wording.times import left_words, second_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_PREVIEW_LINES = 12
_MOST_SOURCES = 4
_TITLE = 40
"""Cells of a step's title in the title of a question."""
_SHORTEST_TITLE = 8
_SAID = {"purpose": mark("purpose"), "expected_output": mark("expects")}
_ASKS: Mapping[Kind, str] = {
    Kind.TODO: mark("Approve {name}?"),
    Kind.FAILURE: mark("{name} failed: retry?"),
    Kind.EFFECT: mark("Did {name} happen?"),
    Kind.INTERRUPT: mark("Answer {name}?"),
    Kind.PLAN: mark("Approve the plan?"),
    Kind.PROPOSAL: mark("Change the plan?"),
    Kind.EXTERNAL: mark("Approve {name}?"),
}
_PRIORITIES: Mapping[str, str] = {
    Priority.CRITICAL: mark("critical priority"),
    Priority.HIGH: mark("high priority"),
    Priority.LOW: mark("low priority"),
}


def risk_of(question: Question) -> str:
    """Return a question's class of risk: its step's, or that of the action that waits inside it when it is higher."""
    inner = question.shape.risk if question.shape is not None else ""
    return inner or str(question.view.request.about.get("risk", ""))


def title_of(question: Question) -> str:
    """Return a question's title, one safe line: a step's is somebody's words, a plan's or a proposal's its kind."""
    title = str(question.view.request.about.get("title", ""))
    return in_line(_(title) if question.kind in (Kind.PLAN, Kind.PROPOSAL) else title)


def asks_words(question: Question) -> str:
    """Return what is asked, of which step: `Approve 001?`."""
    form = mark("Fill in {name}") if question.incomplete else _ASKS[question.kind]
    if question.done_before:
        form = mark("Do {name} again?")
    return _(form).format(name=number_of(question.name))


def name_words(question: Question) -> str:
    """Return what a question is called: the number of its step, with its own where the step asks more than once."""
    return number_of(question.name) if question.todo_id else _(question.kind.value)


def heading(
    question: Question, place: str = "", now: datetime | None = None, width: int = 0, marks: int = 0
) -> StyledText:
    """Return the first line of a question: what is asked, of which step, its risk, and what presses.

    Where there is little room the least important parts are left out; the step's own title is cut last.

    Args:
        question: the question.
        place: which of how many it is, in words; empty for the only one.
        now: for the time that is left; None for nothing about a deadline.
        width: cells there are; 0 for as many as it takes.
        marks: 0 when it isn't marked, else how many are.
    """
    request, about = question.view.request, question.view.request.about
    risk = risk_of(question)
    marked = _("◆ marked ({marks})").format(marks=marks) if marks else ""
    team = in_line(request.source.removesuffix("_team")) if question.todo_id else ""
    priority = _PRIORITIES.get(str(question.priority or about.get("priority", "")), "")
    after = " ".join(number_of(str(d["id"])) for d in about.get("dependencies", ())) if question.todo_id else ""
    left = left_words(request.expires_at, now) if now is not None else ""
    dangerous = "bold $text-error" if risk == "high" else ""
    title = clip(short_title(question), _TITLE)
    parts: list[tuple[str, str]] = [
        (asks_words(question), "bold"),
        (place, ""),
        (marked, "bold $text-primary"),
        (title, ""),
        ("" if team.casefold() in title.casefold().split() else team, ""),
        (_risk_words(question, risk), dangerous),
        (_(priority) if priority else "", ""),
        (_("after {steps}").format(steps=after) if after else "", ""),
        (left, "bold $text-warning"),
        (revision_words(about), ""),
        (quorum_words(question) if request.terms.quorum > 1 else "", "bold $text-warning"),
        (_("level {n}").format(n=request.terms.level) if request.terms.level else "", "bold $text-warning"),
    ]
    found, short = _joined(parts), (risk_words(risk).partition(":")[0], dangerous)
    less = ((_AFTER, ("", "")), (_PRIORITY, ("", "")), (_TEAM, ("", "")), (_RISK, short))
    if parts[_RISK][0] == risk_words(risk):  # it says no more of this step than of any other
        less = (less[-1], *less[:-1])
    for part, instead in less:
        if width and found.cell_length > width:
            parts[part] = instead
            found = _joined(parts)
    if (over := found.cell_length - width) > 0 and width and parts[_NAME][0]:
        room = cell_width(parts[_NAME][0]) - over
        parts[_NAME] = (clip(parts[_NAME][0], room) if room >= _SHORTEST_TITLE else "", "")
        found = _joined(parts)
    return found


_NAME, _TEAM, _RISK, _PRIORITY, _AFTER = 3, 4, 5, 6, 7
"""Places of the parts of a title that can be left out or cut."""


def _joined(parts: Iterable[tuple[str, str]]) -> StyledText:
    found: list[tuple[str, str]] = []
    for text, style in parts:
        if text:
            found += [(signs(" · "), ""), (text, style)] if found else [(text, style)]
    return assembled(*found)


def _risk_words(question: Question, risk: str) -> str:
    about, argv = question.view.request.about, (question.view.request.subject.get("arguments") or {}).get("argv")
    if question.kind not in (Kind.TODO, Kind.FAILURE):
        return risk_of_run(risk, None)
    return risk_of_run(risk, argv, about.get("risk_reason", "") if about.get("risk") == risk else "")


def short_title(question: Question) -> str:
    """Return a step's own short title, one safe line; empty where that is what stands in the question anyway."""
    arguments = question.view.request.subject.get("arguments")
    if question.kind in (Kind.PLAN, Kind.PROPOSAL, Kind.INTERRUPT):
        return ""
    if isinstance(arguments, Mapping) and "argv" in arguments and (command := arguments.get("command")):
        called = command_title(title_of(question), str(command))
        return in_line(str(command) if called.startswith(f"{command} ") else called)
    title = title_of(question)
    said = [in_line(text) for text in texts_in(arguments)]
    head, found, rest = title.partition(": ")
    begins = rest.removesuffix("…")
    if found and begins and any(text.startswith(begins) for text in said):
        return head
    whole = title.removesuffix("…")
    return "" if any(text.startswith(whole) for text in said) else title


def quorum_words(question: Question) -> str:
    """Return how many have said yes, of how many it takes: `votes 1/2`."""
    takes = question.view.request.terms.quorum
    return _("votes {value}/{takes}").format(value=max(0, takes - question.view.resolution.needed), takes=takes)


def whole(question: Question, draft: Sequence[Row] = ()) -> list[Row]:
    """Return what has to be read before deciding where nothing can be opened: all of it.

    Args:
        question: the question.
        draft: what a file would hold afterwards.
    """
    return [*_rows(question, draft, None), *_until(question)]


def body(question: Question, key: str, draft: Sequence[Row] = (), read: str = "") -> list[Row]:
    """Return what has to be read before deciding: what would run and touch first, what others say about it last.

    Args:
        question: the question.
        key: how the key for the details reads.
        draft: what a file would hold afterwards, see `question_preview.draft_of`.
        read: how the key reads that shows the results it works from; empty for none.
    """
    return list(_rows(question, draft, _PREVIEW_LINES, key, read))


def details(question: Question, workspace: str, draft: Sequence[Row] = ()) -> list[Row]:
    """Return everything about a question."""
    request, subject = question.view.request, question.subject
    rows = list(_rows(question, draft, None))
    rows.append(text_row(""))
    if question.shape is None:
        rows.append(labelled(_("asked by"), in_line(request.source)))
    rows.append(labelled(_("title"), title_of(question)))
    if risk_of(question):
        rows.append(labelled(_("risk"), _risk_words(question, risk_of(question))))
    rows += term_rows(question)
    if question.kind in (Kind.TODO, Kind.FAILURE):
        arguments, settings = subject.get("arguments") or {}, request.about.get("settings") or ()
        if task := str(subject.get("task", "")):
            rows.append(labelled(_("task"), safe_text(task)))
        told = {name: arguments[name] for name in settings if name in arguments and name != "programs"}  # those follow
        rows += argument_rows(told)
        rows += limits(arguments, workspace)
        rows += inputs(subject)
    elif workspace:
        rows.append(labelled(_("in"), in_line(workspace)))
    if question.kind is Kind.EFFECT:
        rows += effect_marks(subject.get("effect"))
    rows.append(labelled(_("digest"), request.digest))
    rows.append(labelled(_("request"), request.id))
    rows.append(labelled(_("commands"), "\n".join(map(command_words, question.commands.values()))))
    if question.shape is not None:
        rows += answer_rows(question.shape)
    subject_text = json.dumps(request.subject, ensure_ascii=False, indent=2, sort_keys=True)
    rows += [text_row(""), text_row(_("The exact subject:"), "$text-muted")]
    rows.append(Row("", styled(safe_text(subject_text)), exact=True))
    return rows


def term_rows(question: Question) -> list[Row]:
    """Return what a step is for and comes after, who has to approve, and until when."""
    request = question.view.request
    about = request.about
    rows = [labelled(_(_SAID[key]), safe_message(value, multiline=False)) for key in _SAID if (value := about.get(key))]
    if priority := question.priority or about.get("priority"):
        rows.append(labelled(_("priority"), in_line(_(str(priority)))))
    if after := request.about.get("dependencies"):
        known = ", ".join(f"{number_of(str(d['id']))} ({_(str(d['status']))})" for d in after)
        rows.append(labelled(_("after"), in_line(known)))
    if rule := request.about.get("rule"):
        rows.append(labelled(_("rule"), in_line(rule_label(rule, request.about.get("rule_name", "")))))
    if not question.able and (takes := takes_words(request.terms)):
        rows.append(labelled(_("takes"), takes))
    return [*rows, *_until(question)]


def _approvers(question: Question) -> str:
    """Return who has to approve, by name, and which rule wants that: `2 approvers: ann, bob · rule 2 "clean logs"`."""
    request = question.view.request
    names = ", ".join(map(in_line, question.able[:_MOST_NAMES])) + (", …" if len(question.able) > _MOST_NAMES else "")
    rule = request.about.get("rule", 0)
    label = in_line(rule_label(rule, request.about.get("rule_name", "")))
    by = _("rule {rule}").format(rule=label) if rule else ""
    return joined(f"{takes_words(request.terms)}: {names}", by)


_MOST_NAMES = 6


def _until(question: Question) -> Iterable[Row]:
    request = question.view.request
    if request.expires_at:
        said_then = _("{deadline}, then it counts as {verdict}")
        until, verdict = second_words(request.expires_at), _(str(expiry_verdict(request)))
        yield labelled(_("until"), said_then.format(deadline=until or in_line(request.expires_at), verdict=verdict))


def _rows(question: Question, draft: Sequence[Row], most: int | None, key: str = "", read: str = "") -> Iterable[Row]:
    """What would run, what it would do, what it works from, who asks and why; see `body`."""
    evidence = list(evidence_rows(question, most, key))
    if question.kind in (Kind.TODO, Kind.FAILURE):
        yield from _of_step(question, draft)
        yield from _warnings(question)
        yield from evidence
        yield from source_rows(question, most, read)
        yield from again_rows(question)
    else:
        yield from _of_other(question)
        yield from _warnings(question)
        yield from evidence
        if question.shape is not None:
            yield from source_rows(question, most, read)
        if question.kind is Kind.INTERRUPT:
            yield labelled(_("asked by"), who_asks(question), "$text-muted")
            if question.view.request.about.get("nothing_yet"):
                yield labelled(_("so far"), _("only computed; nothing was sent or changed"), "$text-muted")
            yield from again_rows(question)
    yield from _said(question)


def _of_step(question: Question, draft: Sequence[Row]) -> Iterable[Row]:
    """What a step would do, or what to do now that it failed."""
    subject, about = question.subject, question.view.request.about
    if question.kind is Kind.FAILURE:
        yield labelled(_("failed"), safe_message(about.get("error", "")), "bold $text-error")
        if int(about.get("attempts", 0) or 0) > 1:
            yield labelled(_("attempts"), str(about["attempts"]))
    if changed := list(state_rows(subject)):  # its input is where it began, and not what runs now
        yield from changed
        arguments = subject.get("arguments") or {}
        yield labelled(_("begun with"), value_text(arguments.get("input")), exact=True)
        yield from argument_rows({k: v for k, v in arguments.items() if k not in ("input", "programs")})
        return
    yield from draft
    drawn = "\n".join(row.text.plain for row in draft)  # a file's path and heading stand in its draft
    for row in runs(subject.get("arguments") or {}, str(subject.get("task", "")), about.get("settings")):
        if row.text.plain not in drawn:
            yield row
    if question.kind is Kind.TODO and is_graph_input(subject.get("arguments") or {}):
        then = _("the graph runs, and you are asked again wherever it interrupts")
        if about.get("asks_first"):
            then = _(
                "the graph computes, then asks you a second time; nothing is sent or changed before you answer that"
            )
        yield labelled(_("then"), then, "$text-muted")


def _of_other(question: Question) -> Iterable[Row]:
    """A plan, a change of it, an effect in doubt, or what is asked from inside a step."""
    subject, shown = question.subject, question.view.request.about.get("steps") or {}
    if question.kind is Kind.PLAN:
        yield from revision_rows(question.view.request.about.get("difference") or {})
        yield from step_rows(subject.get("steps") or (), shown)
    elif question.kind is Kind.PROPOSAL:
        proposal = subject["proposal"]
        yield from change_rows(proposal, shown)
        about = question.view.request.about
        plan = about.get("plan") or ()
        yield from plan_change_rows(plan, about.get("then", plan))
    elif question.kind is Kind.EFFECT:
        why = safe_message(question.view.request.about.get("why") or "")
        label = _("RAN BEFORE") if question.done_before else _("doubt")
        yield labelled(label, why or _("It may have happened already."), "bold $text-error")
        yield from effect_rows(subject.get("effect"))
    elif question.shape is not None:
        yield from inner_rows(question.shape)
    else:
        yield labelled(_("asks"), value_text(subject.get("value", subject)), "bold", exact=True)


def has_results(question: Question) -> bool:
    """Return whether a question's step works from results that are there, or comes after steps that have one."""
    request = question.view.request
    return bool(request.about.get("results")) or any((request.subject.get("inputs") or {}).values())


def source_rows(question: Question, most: int | None = None, read: str = "") -> Iterable[Row]:
    """Return what a step works from or comes after: of each result a line, and the key that shows them whole.

    Args:
        question: the question.
        most: None for all of them, else the first few.
        read: how that key reads; empty for none.
    """
    about = question.view.request.about
    known = {str(found["id"]): found for found in about.get("results") or ()}
    used: Mapping[str, str | None] = {**dict.fromkeys(known, ""), **(question.view.request.subject.get("inputs") or {})}
    if question.kind is not Kind.INTERRUPT and isinstance((question.subject.get("arguments") or {}).get("argv"), list):
        used = dict.fromkeys(known, "")  # a command gets its arguments and nothing else
    names = [name for name in used if name not in (about.get("missing") or ())]
    shown = names if most is None else names[:_MOST_SOURCES]
    shown += [name for name in names[len(shown) :] if name in known and known[name].get("missed")]
    for name in shown:
        label = _("from {name}").format(name=number_of(name))
        result = known.get(name)
        if result is not None:
            said = safe_message(result["summary"], multiline=False) or _("a result without words")
            said += _(" · {key} shows it whole").format(key=read) if read and name == shown[-1] else ""
            missed = "bold $text-warning" if result.get("missed") else ""
            yield labelled(label, said, missed or ("" if result["found"] else "$text-warning"))
        elif used[name] is None:
            yield labelled(label, _("not there yet"), "$text-warning")
        else:  # of an earlier version: its line isn't on record
            yield labelled(label, _("its result") + (_(" · {key} shows it whole").format(key=read) if read else ""))
    if len(shown) < len(names):
        yield text_row(_("and {n} more results").format(n=len(names) - len(shown)), "$text-muted")


def _warnings(question: Question) -> Iterable[Row]:
    about = question.view.request.about
    if question.obstacle:
        yield labelled(_("BLOCKED"), safe_message(question.obstacle, multiline=False), "bold $text-error")
    elif question.able:
        yield labelled(_("needs"), _approvers(question), "bold")
    if about.get("changed"):
        names = ", ".join(in_line(str(name)) for name in about["changed"])
        yield labelled(_("CHANGED"), _("{names}, since it was asked before").format(names=names), "bold $text-warning")
    for note in about.get("notes") or ():
        yield labelled(_("NOTE"), safe_message(note, multiline=False), "bold $text-warning")
    if about.get("missing"):
        names = ", ".join(number_of(str(m)) for m in about["missing"])
        yield labelled(
            _("MISSING"),
            _("{names} was skipped; this goes on without its result. {command} takes that back.").format(
                names=names, command=undo_command(str(about["missing"][-1]))
            ),
            "bold $text-warning",
        )
    if about.get("ran_before") and question.kind is Kind.TODO and risk_of(question) != "low":
        status = str(about["ran_before"].get("status", ""))
        said = (
            _("exactly this ran already ({status}); what it did stays. Doing it again is asked about next.")
            if status == Status.COMPLETED
            else _("exactly this ran already ({status}); what it had done by then stays.")
        )
        said = said.format(status=in_line(_(status)))
        yield labelled(_("RAN BEFORE"), said, "bold $text-warning")
    if about.get("ahead") and not question.view.request.subject.get("inputs"):  # else each one says so
        yield labelled(_("ahead"), _("asked before its inputs exist"), "$text-warning")
    for decision in question.view.decisions:
        said = _("{verdict} by {by}").format(verdict=_(decision.said), by=plain_name(decision.by)) + (
            f": {decision.reason}" if decision.reason else ""
        )
        yield labelled(_("so far"), in_line(said), "bold")


def _said(question: Question) -> Iterable[Row]:
    """What an agent says about its own question stands apart: it is a claim, not what would run."""
    about = question.view.request.about
    said = about.get("says") or (about.get("reason") if question.kind is Kind.PROPOSAL else "")
    if said:
        origin = str(about.get("origin") or question.view.request.source)
        if origin == "operator":  # a person's own words, which stand above, are no claim of an agent's
            own = question.view.request.subject["proposal"].get("text", "")
            if not str(said).endswith(own):
                yield labelled(_("in short"), safe_message(said), "$text-muted")
            return
        yield text_row(_("── {origin} says; nobody has checked it ──").format(origin=number_of(origin)), "$text-muted")
        yield quoted_row(safe_message(said), "italic $text-muted")
