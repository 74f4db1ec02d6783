"""What a workspace may say that nobody trusts, and what holds while a trusted one was edited (T4)."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.config.workspace import DocumentSettings, WorkspaceConfig
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling
from hitl_tui.policy.wants import approves_in_time


def restricted(config: WorkspaceConfig) -> WorkspaceConfig:
    """Return what is obeyed of an untrusted workspace.

    That is the documents to search, how many steps run at once, teams that are switched off, rules that deny or ask.
    A rule that allows asks instead, and a deadline that approves is none: nobody's silence counts there. The mode is
    step, unless whoever begins a session chooses another.
    """
    return replace(
        config,
        mode=Mode.STEP,
        policy=Policy(tuple(map(_asking, config.policy.rules))),
        document=DocumentSettings(),
        commands={},
        graphs={},
        secret_names=(),
        pins=(),
    )


def stricter_of(trusted: Policy, edited: Policy, digest: str) -> Policy:
    """Return what holds while a trusted workspace was edited: of the two policies, the stricter for each question.

    Args:
        trusted: the policy as it was when the folder was trusted.
        edited: as it is now.
        digest: of the edited files; what was approved under the version before is asked anew.
    """
    return Policy(edited.rules, beside=Policy(trusted.rules), seal=digest)


def _asking(rule: Rule) -> Rule:
    if approves_in_time(rule):
        rule = replace(rule, terms=replace(rule.terms, deadline=0.0, on_deadline="reject"))
    return replace(rule, decision=Ruling.ASK) if rule.decision is Ruling.ALLOW else rule
