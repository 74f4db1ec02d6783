"""What a workspace wants, in rows: the same in the console, line mode and `hitl-tui trust` (T4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hitl_tui.language import _, mark
from hitl_tui.policy.workspace_wants import WantKind
from hitl_tui.wording.status_words import RISK_WORDS

_KINDS: Mapping[WantKind, str] = {
    WantKind.COMMAND: mark("run a command"),
    WantKind.PREVIEW: mark("run a preview without asking"),
    WantKind.GRAPH: mark("import a graph"),
    WantKind.STORE: mark("use a checkpoint store"),
    WantKind.VARIABLES: mark("set environment variables"),
    WantKind.SECRET: mark("read secrets"),
    WantKind.ALLOW: mark("let steps run without asking"),
    WantKind.DEADLINE: mark("approve when nobody answers"),
    WantKind.PINS: mark("leave files out of approvals"),
    WantKind.MODE: mark("ask less often"),
    WantKind.FOLDER: mark("write reports elsewhere"),
}


def want_rows(wants: Iterable[Mapping[str, str]]) -> list[tuple[str, str, str, str]]:
    """Return a row for each thing a workspace wants: risk, what kind of thing, its name, exactly what it is.

    Args:
        wants: each as `Want.to_dict` gives it.
    """
    return [(_(RISK_WORDS[w["risk"]]), _(_KINDS[WantKind(w["kind"])]), w["name"], w["text"]) for w in wants]
