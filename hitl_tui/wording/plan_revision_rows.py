"""What a revised plan has that the one before hadn't, and what ended its review, as rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hitl_tui.core.json_types import PlanDifference, PlanReviewed, StepNamed
from hitl_tui.core.plan_review import ended_message
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import safe_message
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.rows import Row, in_line, labelled, text_row
from hitl_tui.wording.status_words import number_of


def revision_words(about: Mapping[str, object]) -> str:
    """Return which revision a plan is, in a few words; empty for the first plan."""
    revision = about.get("revision")
    if not revision:
        return ""
    return _("revision {n} of at most {most}").format(n=revision, most=about.get("max_revisions") or "?")


def ended_words(reviewed: PlanReviewed) -> str:
    """Return who or what ended the review of a plan, one safe line; empty while it goes on."""
    return safe_message(ended_message(reviewed), multiline=False)


def revision_rows(difference: PlanDifference) -> Iterator[Row]:
    """Yield what was said of the plan before, and what differs from it; nothing for the first plan."""
    if not difference:
        return
    yield labelled(_("feedback"), safe_text(difference.get("remark", "")))
    for note in difference.get("notes", ()):
        yield labelled(" ", safe_message(note), "bold $text-warning")
    rows = [
        *(_row("+", step, _("added"), "$text-success") for step in difference.get("added", ())),
        *(_row("-", step, _("removed"), "$text-error") for step in difference.get("removed", ())),
        *(_row("~", step, _place(step.get("after", ()))) for step in difference.get("moved", ())),
        *(_row("~", step, _("changed")) for step in difference.get("changed", ())),
    ]
    if more := difference.get("more"):
        rows.append(text_row(_("… and {n:,} more").format(n=more), "$text-muted"))
    yield from rows or [text_row(_("No step differs from the plan before."), "$text-muted")]
    yield text_row("")


def _place(after: object) -> str:
    names = " ".join(number_of(str(name)) for name in after) if isinstance(after, list | tuple) else ""
    return _("now after {steps}").format(steps=names) if names else _("now waits for no other")


def _row(sign: str, step: StepNamed, how: str, style: str = "") -> Row:
    return labelled(f"{sign} {number_of(step['id'])}", f"{in_line(step['title'])}  ({how})", style)
