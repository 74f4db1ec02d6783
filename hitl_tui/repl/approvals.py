"""Who let a TODO run, in words that aren't safe yet (C4, D7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.names import plain_name
from hitl_tui.repl.signs import _


def approval_words(approval: Mapping[str, Any]) -> str:
    """Return who approved a TODO, when and through which channel; or what let it run without a question.

    Args:
        approval: a TODO's approval as its state keeps it.
    """
    by, channel = str(approval.get("by", "")), str(approval.get("channel", ""))
    if channel == "policy":
        mode, rule = by.removeprefix("mode "), by.removeprefix("policy rule ")
        if mode != by:
            return _("allowed by mode {mode}, nobody was asked").format(mode=mode)
        return _("allowed by policy rule {number}, nobody was asked").format(number=rule)
    at = str(approval.get("at", ""))[:19].replace("T", " ")
    return _("approved by {by} ({channel}) {at}").format(by=plain_name(by), channel=channel, at=at).rstrip()
