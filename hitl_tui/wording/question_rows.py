"""A question in words: its title, what has to be read before deciding, and everything about it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hitl_tui.core.names import plain_name
from hitl_tui.core.requests import Kind, expiry_verdict
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import mark, translate
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.evidence_rows import evidence_rows
from hitl_tui.wording.interrupt_rows import answer_rows, inner_rows
from hitl_tui.wording.rows import Row, in_line, joined, labelled, quoted_row, styled, text_row
from hitl_tui.wording.status_words import command_words, number_of, risk_words
from hitl_tui.wording.subject_rows import (
    change_rows,
    effect_marks,
    effect_rows,
    inputs,
    limits,
    runs,
    step_rows,
    value_text,
)
from hitl_tui.wording.times import second_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_PREVIEW_LINES = 12
_SAID = {"purpose": mark("purpose"), "expected_output": mark("expects")}


def risk_of(question: Question) -> str:
    """Return a question's class of risk: its step's, or that of the action that waits inside it when it is higher."""
    inner = question.shape.risk if question.shape is not None else ""
    return inner or str(question.view.request.about.get("risk", ""))


def title_of(question: Question) -> str:
    """Return a question's title, one safe line: a step's is somebody's words, a plan's or a proposal's its kind."""
    title = str(question.view.request.about.get("title", ""))
    return in_line(_(title) if question.kind in (Kind.PLAN, Kind.PROPOSAL) else title)


def what(question: Question) -> str:
    """Return what is asked, in words."""
    return {
        Kind.TODO: _("may it run?"),
        Kind.FAILURE: _("it failed: what now?"),
        Kind.EFFECT: _("did it happen?"),
        Kind.INTERRUPT: _("its team asks"),
        Kind.PLAN: _("may this plan begin?"),
        Kind.PROPOSAL: _("may the plan change?"),
        Kind.EXTERNAL: _("may it go on?"),
    }[question.kind]


def heading(question: Question, place: str) -> str:
    """Return the first line of a question: what commands call it, its risk, who said so, what is asked.

    Args:
        question: the question.
        place: which of how many it is, in words.
    """
    risk = risk_of(question)
    quorum = quorum_words(question) if question.view.request.terms.quorum > 1 else ""
    return joined(place, in_line(question.name), in_line(risk_words(risk)), quorum, what(question))


def quorum_words(question: Question) -> str:
    """Return how many have said yes, of how many it takes: `1 of 2 approved`."""
    takes = question.view.request.terms.quorum
    return _("{value} of {takes} approved").format(value=max(0, takes - question.view.resolution.needed), takes=takes)


def whole(question: Question, workspace: str) -> list[Row]:
    """Return what has to be read before deciding where nothing can be opened: all of it, and the exact subject."""
    exact = [] if question.shape is not None else subject_rows(question)
    return [*_rows(question, workspace, (), None, ""), *term_rows(question), *exact]


def body(question: Question, workspace: str, key: str, draft: Sequence[Row] = ()) -> list[Row]:
    """Return what has to be read before deciding: what would run and touch first, what others say about it last.

    Args:
        question: the question.
        workspace: where it would run.
        key: how the key for the details reads.
        draft: what a file would hold afterwards, see `drafts.draft_of`.
    """
    return list(_rows(question, workspace, draft, _PREVIEW_LINES, key))


def details(question: Question, workspace: str, draft: Sequence[Row] = ()) -> list[Row]:
    """Return everything about a question."""
    request = question.view.request
    rows = list(_rows(question, workspace, draft, None, ""))
    rows.append(text_row(""))
    rows.append(labelled(_("asked by"), in_line(request.source)))
    rows.append(labelled(_("title"), title_of(question)))
    if risk_of(question):
        rows.append(labelled(_("risk"), in_line(risk_words(risk_of(question)))))
    rows += term_rows(question)
    rows.append(labelled(_("digest"), request.digest))
    rows.append(labelled(_("request"), request.id))
    rows.append(labelled(_("commands"), "\n".join(map(command_words, question.commands.values()))))
    if question.shape is not None:
        rows += answer_rows(question.shape)
    rows.append(text_row(""))
    rows += subject_rows(question, indent=2)
    return rows


def term_rows(question: Question) -> list[Row]:
    """Return what a step is for and comes after, who has to approve, and until when."""
    request = question.view.request
    about = request.about
    rows = [labelled(_(_SAID[key]), in_line(translate(value))) for key in _SAID if (value := about.get(key))]
    if priority := question.priority or about.get("priority"):
        rows.append(labelled(_("priority"), in_line(_(str(priority)))))
    if after := request.about.get("dependencies"):
        known = ", ".join(f"{number_of(str(d['id']))} ({_(str(d['status']))})" for d in after)
        rows.append(labelled(_("after"), in_line(known)))
    terms = request.terms
    if terms.quorum > 1 or terms.level:
        rows.append(
            labelled(
                _("takes"),
                _("{quorum} approvers of level {level} or higher").format(quorum=terms.quorum, level=terms.level),
            )
        )
    if request.expires_at:
        said_then = _("{deadline}, then it counts as {verdict}")
        until, verdict = second_words(request.expires_at), _(str(expiry_verdict(request)))
        rows.append(
            labelled(_("until"), said_then.format(deadline=until or in_line(request.expires_at), verdict=verdict))
        )
    return rows


def subject_rows(question: Question, indent: int | None = None) -> list[Row]:
    """Return what is hashed and approved, as JSON.

    Args:
        question: the question.
        indent: of its lines; None for one line.
    """
    subject = json.dumps(question.view.request.subject, ensure_ascii=False, indent=indent, sort_keys=True)
    heading = text_row(_("The exact subject:"), "$text-muted")
    return [heading, Row("", styled(safe_text(subject)), exact=True)]


def _rows(question: Question, workspace: str, draft: Sequence[Row], most: int | None, key: str) -> Iterable[Row]:
    evidence = list(evidence_rows(question, most, key))
    if question.kind in (Kind.TODO, Kind.FAILURE):
        yield from _of_step(question, workspace, draft, evidence)
    else:
        yield from _of_other(question, workspace)
        yield from _warnings(question)
        yield from evidence
        if question.kind is Kind.EFFECT:
            yield _title_row(question)
            yield from effect_marks(question.view.request.subject.get("effect"))
    yield from _said(question)


def _title_row(question: Question) -> Row:
    source = in_line(question.view.request.source.removesuffix("_team"))
    return labelled(source, _without_input(title_of(question), question), "$text-primary")


def _without_input(title: str, question: Question) -> str:
    """Return a title without the text that stands whole among a step's arguments; a command's name doesn't."""
    arguments = question.view.request.subject.get("arguments")
    if not isinstance(arguments, Mapping) or "argv" in arguments:
        return title
    head, found, rest = title.partition(": ")
    begins = rest.removesuffix("…")
    said = any(isinstance(v, str) and begins and in_line(v).startswith(begins) for v in arguments.values())
    return head if found and said else title


def _of_step(question: Question, workspace: str, draft: Sequence[Row], evidence: Sequence[Row]) -> Iterable[Row]:
    """What a step would do, or what to do now that it failed."""
    subject, about = question.view.request.subject, question.view.request.about
    arguments, failed = subject.get("arguments") or {}, question.kind is Kind.FAILURE
    if failed:
        yield labelled(_("failed"), safe_text(translate(about.get("error", ""))), "bold $text-error")
    yield from draft
    yield from runs(arguments, str(subject.get("task", "")))
    yield from _warnings(question)
    if question.again:  # it goes on from one of its team's steps
        yield labelled(_("again"), "\n".join(in_line(translate(line)) for line in question.again), "$text-muted")
    yield from evidence
    yield _title_row(question)
    if failed:
        yield labelled(_("attempts"), str(about.get("attempts", "")))
    yield from limits(arguments, workspace)
    yield from inputs(subject)


def _of_other(question: Question, workspace: str) -> Iterable[Row]:
    """A plan, a change of it, an effect in doubt, or what is asked from inside a step."""
    subject = question.view.request.subject
    if question.kind is Kind.PLAN:
        if workspace:
            yield labelled(_("in"), in_line(workspace))
        yield from step_rows(subject.get("steps") or ())
    elif question.kind is Kind.PROPOSAL:
        yield from change_rows(subject.get("proposal") or {}, workspace)
    elif question.kind is Kind.EFFECT:
        why = safe_text(translate(question.view.request.about.get("why") or ""))
        yield labelled(_("doubt"), why or _("It may have happened already."), "bold $text-error")
        yield from effect_rows(subject.get("effect"))
    elif question.shape is not None:
        yield from inner_rows(question, question.shape)
        yield _title_row(question)
    else:
        yield labelled(_("asks"), value_text(subject.get("value", subject)), "bold", exact=True)
        yield _title_row(question)


def _warnings(question: Question) -> Iterable[Row]:
    about = question.view.request.about
    if question.obstacle:
        yield labelled(_("BLOCKED"), in_line(translate(question.obstacle)), "bold $text-error")
    if about.get("changed"):
        names = ", ".join(in_line(str(name)) for name in about["changed"])
        yield labelled(_("CHANGED"), _("{names}, since it was asked before").format(names=names), "bold $text-warning")
    for note in about.get("notes") or ():
        yield labelled(_("NOTE"), in_line(translate(note)), "bold $text-warning")
    if about.get("missing"):
        names = ", ".join(number_of(str(m)) for m in about["missing"])
        yield labelled(_("MISSING"), _("input of {names}, which was skipped").format(names=names), "bold $text-warning")
    if about.get("ran_before"):
        ran = about["ran_before"]
        said = _("it ran on branch {branch} ({status}); its effects stay").format(
            branch=ran.get("branch", "?"), status=in_line(_(str(ran.get("status", ""))))
        )
        yield labelled(_("RAN BEFORE"), said, "bold $text-warning")
    if about.get("ahead"):
        yield labelled(_("ahead"), _("asked before its inputs exist"), "$text-warning")
    for decision in question.view.decisions:
        said = _("{verdict} by {by}").format(verdict=_(decision.said), by=plain_name(decision.by)) + (
            f": {decision.reason}" if decision.reason else ""
        )
        yield labelled(_("so far"), in_line(said), "bold")
    terms = question.view.request.terms
    if terms.quorum > 1 and question.view.resolution.needed > 0:
        level = _(" of level {level} or higher").format(level=terms.level) if terms.level else ""
        yield labelled(
            _("needs"),
            _("{needed} more of {quorum} people{level}").format(
                needed=question.view.resolution.needed, quorum=terms.quorum, level=level
            ),
            "bold",
        )


def _said(question: Question) -> Iterable[Row]:
    """What an agent says about its own question stands apart: it is a claim, not what would run."""
    about = question.view.request.about
    said = about.get("says") or (about.get("reason") if question.kind is Kind.PROPOSAL else "")
    if said:
        origin = str(about.get("origin") or question.view.request.source)
        if origin == "operator":  # a person's own words, which stand above, are no claim of an agent's
            own = question.view.request.subject["proposal"].get("text", "")
            if said != own:
                yield labelled(_("in short"), safe_text(translate(said)), "$text-muted")
            return
        yield text_row(_("── {origin} says; nobody has checked it ──").format(origin=in_line(origin)), "$text-muted")
        yield quoted_row(safe_text(str(said)), "italic $text-muted")
