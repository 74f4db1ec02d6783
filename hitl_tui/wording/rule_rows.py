"""The rules of what may run without a question, as a list shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.policy.standing_rules import StandingRule
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.rows import Row, in_line, joined, labelled, text_row
from hitl_tui.wording.times import day_words


def rule_words(rule: StandingRule, workspace: str) -> str:
    """Return where a standing rule holds, for which input and until when, and who made it.

    Args:
        rule: the rule.
        workspace: the session's.
    """
    return joined(
        _("this workspace") if rule.workspace == workspace else in_line(rule.workspace),
        _("input {digest}…").format(digest=rule.input[:16]) if rule.input else _("any input"),
        _("until {time}").format(time=day_words(rule.until)) if rule.until else _("no end"),
        f"{_('by {who}').format(who=in_line(rule.by))} {day_words(rule.at)}",
        f"id {rule.id}",
    )


def policy_words() -> str:
    """Return what the rules of hitl.toml are to the standing ones."""
    return _("hitl.toml comes first; it is changed as a file.")


def rule_rows(listed: Mapping[str, Any], workspace: str) -> list[Row]:
    """Return all rules by number.

    Args:
        listed: what `/rules` answers with.
        workspace: the session's.
    """
    rows = []
    for rule in listed["rules"]:
        rows.append(labelled(str(rule["n"]), rule["shown"], exact=True))
        rows.append(labelled(" ", rule_words(StandingRule.from_dict(rule), workspace), "$text-muted"))
    if listed["policy"]:
        rows.append(text_row(policy_words()))
    return rows + [labelled(str(rule["n"]), in_line(rule["said"]), exact=True) for rule in listed["policy"]]
