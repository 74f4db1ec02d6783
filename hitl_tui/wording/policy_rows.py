"""What it takes to decide something, as `hitl-tui policy` says it."""

from __future__ import annotations

from hitl_tui.core.policy import Terms
from hitl_tui.language import _
from hitl_tui.wording.times import duration_words


def takes_words(terms: Terms) -> str:
    """Return who has to approve, `2 approvers of level 1 or higher`; empty where anybody may."""
    if terms.quorum > 1 and terms.level:
        return _("{n} approvers of level {level} or higher").format(n=terms.quorum, level=terms.level)
    if terms.level:
        return _("an approver of level {level} or higher").format(level=terms.level)
    return _("{n} approvers").format(n=terms.quorum) if terms.quorum > 1 else ""


def terms_words(terms: Terms) -> str:
    """Return what it takes in one line: how many people, of which level, until when."""
    parts = [_("approvers: {n}").format(n=terms.quorum)]
    if terms.level:
        parts.append(_("level: {n}").format(n=terms.level))
    if terms.deadline:
        ends = _("approved then") if terms.on_deadline == "approve" else _("rejected then")
        parts.append(_("deadline: {time}, {what}").format(time=duration_words(terms.deadline), what=ends))
    if not terms.veto:
        parts.append(_("one rejection isn't enough"))
    return ", ".join(parts)
