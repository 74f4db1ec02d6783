"""What a workspace wants to run, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from hitl_tui.language import mark
from hitl_tui.policy.workspace_wants import WantKind
from hitl_tui.terminal.ascii_signs import _
from hitl_tui.wording.rows import Row, in_line, labelled, text_row
from hitl_tui.wording.status_words import RISK_WORDS

_KINDS: Mapping[WantKind, str] = {
    WantKind.COMMAND: mark("run a command"),
    WantKind.PREVIEW: mark("run a preview without asking"),
    WantKind.GRAPH: mark("import a graph"),
    WantKind.TOOL: mark("import a function"),
    WantKind.SERVER: mark("use an MCP server"),
    WantKind.REMOTE: mark("run graphs on a LangGraph server"),
    WantKind.AGENT: mark("let a model work with tools"),
    WantKind.STORE: mark("use a checkpoint store"),
    WantKind.VARIABLES: mark("set environment variables"),
    WantKind.NOTIFY: mark("send notifications"),
    WantKind.MODEL: mark("use a model"),
    WantKind.REVIEW: mark("review what a runtime elsewhere asks"),
    WantKind.SECRET: mark("read secrets"),
    WantKind.ALLOW: mark("let steps run without asking"),
    WantKind.DEADLINE: mark("approve when nobody answers"),
    WantKind.PINS: mark("leave files out of approvals"),
    WantKind.MODE: mark("ask less often"),
    WantKind.FOLDER: mark("write reports elsewhere"),
}


def trust_rows(trust: Mapping[str, Any]) -> list[Row]:
    """Return what a folder wants to run, the riskiest first, under its path and above what works without.

    Args:
        trust: as `WorkspaceTrust.to_dict` gives it.
    """
    rows = [text_row(in_line(str(trust["workspace"])), "bold")]
    if trust["changed"]:
        rows.append(text_row(_("Changed since you trusted it. Until you trust it again, the stricter rules count.")))
    for risk, wants in groupby(trust["wants"], key=itemgetter("risk")):
        rows += [text_row(""), text_row(_(RISK_WORDS[risk]), "$text-warning")]
        rows += [labelled(w["name"], f"{_(_KINDS[WantKind(w['kind'])])}: {w['text']}", exact=True) for w in wants]
    if not trust["wants"]:
        rows.append(text_row(_("It wants nothing beyond search, analysis and documents.")))
    rows += [
        text_row(""),
        text_row(_("Without trust: search, analysis and documents work, and every step asks."), "$text-muted"),
        text_row(_("Trust ends with any change of these files; to revoke it: hitl-tui trust --revoke"), "$text-muted"),
    ]
    return rows
