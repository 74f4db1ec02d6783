"""What is said of how approvers decide."""

from __future__ import annotations

from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, ngettext
from hitl_tui.ledger.attention import Attention
from hitl_tui.wording.times import day_words, duration_words


def attention_lines(one: Attention) -> list[str]:
    """Return how an approver decides, in plain lines; the first is their name."""
    counts = ngettext(
        "{n} decision: {approvals} approved, {refusals} rejected, {skips} skipped, {edits} edited, {others} others",
        "{n} decisions: {approvals} approved, {refusals} rejected, {skips} skipped, {edits} edited, {others} others",
        one.decisions,
    )
    times = _("time to decide: median {median}, 90 % within {p90}")
    row = _("approved in a row: {row} now, {longest} at most · at night: {night} · last: {last}")
    return [
        safe_text(one.name, multiline=False),
        "  "
        + counts.format(
            n=one.decisions,
            approvals=one.approvals,
            refusals=one.refusals,
            skips=one.skips,
            edits=one.edits,
            others=one.others,
        ),
        "  " + times.format(median=duration_words(one.median), p90=duration_words(one.p90)),
        "  " + _("decided faster than it can be read: {share:.0%}").format(share=one.unread),
        "  " + row.format(row=one.row, longest=one.longest_row, night=one.night, last=day_words(one.last)),
    ]
