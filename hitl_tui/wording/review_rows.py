"""What a runtime elsewhere asks, as rows: a plan with its difference from the one before, or a step. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from hitl_tui.core.review_request import PLAN, PROPOSAL, ReviewRequest, ReviewStep, StepChange
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import mark, translate
from hitl_tui.supervisor.remote_reviews import WaitingReview
from hitl_tui.terminal.ascii_signs import _, ngettext
from hitl_tui.wording.rows import Row, in_line, joined, labelled, quoted_row, text_row
from hitl_tui.wording.status_words import number_of, risk_words
from hitl_tui.wording.subject_rows import argument_rows, input_rows
from hitl_tui.wording.times import duration_words, moment

_WITHIN = frozenset({"asked", "missing", "policy", "session", "todo"})
"""What binds a step to its session and rules: the digest covers it, and it says nothing of what would run."""
MOST_STEPS = 200
"""Steps listed of a plan; the rest is counted."""
_CHANGES: Mapping[str, tuple[str, str, str]] = {
    "added": ("+", mark("added"), "$text-success"),
    "removed": ("-", mark("removed"), "$text-error"),
    "moved": ("~", mark("moved in the order"), ""),
    "changed": ("~", mark("changed"), ""),
}
_ENDS: Mapping[str, str] = {
    "approve": mark("answer within {time}, or it is approved"),
    "reject": mark("answer within {time}, or it is rejected"),
}


def review_heading(request: ReviewRequest) -> str:
    """Return one line that says what is asked, and how long it waits."""
    if request.kind == PLAN:
        asked = _("Approve the plan?")
        revised = _("revision {n} of at most {most}").format(n=request.revision, most=request.most_revisions)
        last = _("last revision: after it the plan goes ahead") if request.last else ""
        parts = [revised if request.revision else "", last]
    else:
        asked = in_line(request.message) or _("Approve the step?")
        parts = [risk_words(request.risk)]
    ends = _ENDS.get(request.on_timeout or ("approve" if request.kind == PLAN else "reject"), "")
    left = _left(request)
    if left and ends:
        parts.append(_(ends).format(time=duration_words(left)))
    return joined(asked, in_line(request.job), *parts)


def _left(request: ReviewRequest) -> float | None:
    """Return the seconds until it expires; where that isn't told, how long it waits in all."""
    end = moment(request.expires)
    return request.timeout if end is None else max(1.0, (end - datetime.now(UTC)).total_seconds())


def waiting_rows(waiting: WaitingReview) -> list[Row]:
    """Return a request of a runtime elsewhere whole: why it can't be approved from here, what is asked, and where."""
    why = [text_row(translate(waiting.why_not), "$text-warning")] if waiting.why_not is not None else []
    return [*why, *review_rows(waiting.request), labelled(_("runtime"), in_line(waiting.place))]


def review_rows(request: ReviewRequest) -> list[Row]:
    """Return what is asked whole, below its heading."""
    if request.kind == PLAN:
        changes = request.changes()
        asked = [labelled(_("query"), safe_text(request.query), exact=True)] if request.query else []
        rows = [*asked, *_plan_rows(request)]
        return rows if changes is None else [*rows, text_row(""), *_change_rows(changes)]
    if request.kind == PROPOSAL:
        return [*_plan_rows(request), labelled(_("digest"), in_line(request.digest))]
    return list(_step_rows(request))


def _change_rows(changes: Sequence[StepChange]) -> Iterator[Row]:
    if changes:
        said = ngettext("{n} change to the plan before", "{n} changes to the plan before", len(changes))
        yield text_row(said.format(n=len(changes)), "bold")
    else:
        yield text_row(_("No step differs from the plan before."), "bold")
    yield from (_change_row(change) for change in changes[:MOST_STEPS])


def _change_row(change: StepChange) -> Row:
    glyph, how, colour = _CHANGES[change.how]
    step = change.step
    return text_row(f"  {glyph} {joined(_title(step), in_line(step.agent), _(how))}", colour)


def _plan_rows(request: ReviewRequest) -> Iterator[Row]:
    if not request.steps:  # another program's runtime tells the plan as text alone
        yield quoted_row(safe_text(request.plan))
        return
    for step in request.steps[:MOST_STEPS]:
        after = in_line(", ".join(map(number_of, step.dependencies)))
        needs = _("after {steps}").format(steps=after) if after else ""
        head = joined(_title(step), in_line(step.agent), risk_words(step.risk), needs)
        yield labelled(number_of(step.id), head, "bold")
        yield from _indented(input_rows(dict(step.arguments), step.task if step.task != step.title else "", ""))
    if (more := len(request.steps) - MOST_STEPS) > 0:
        yield text_row(_("… and {n:,} more").format(n=more), "$text-muted")

    yield from (text_row(in_line(note), "$text-warning") for note in request.notes)


def _step_rows(request: ReviewRequest) -> Iterator[Row]:
    subject = dict(request.subject)
    arguments, task = subject.pop("arguments", None), subject.pop("task", "")
    if isinstance(arguments, dict):
        yield from input_rows(arguments, task if isinstance(task, str) else "", "")
    yield from argument_rows({name: value for name, value in subject.items() if name not in _WITHIN})
    if request.preview:
        yield labelled(_("preview"), safe_text(request.preview), exact=True)
    yield labelled(_("digest"), in_line(request.digest))


def _indented(rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        yield Row(f"  {row.label}", row.text, row.exact, row.markdown)


def _title(step: ReviewStep) -> str:
    return in_line(step.title or step.task)
