"""What a folder wants to run, shown before it may: one key trusts it, one goes on without (T4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.prompt_dialogs import ReadingDialog
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.wording.rows import Row, labelled, text_row
from hitl_tui.wording.trust_rows import want_rows

if TYPE_CHECKING:
    from hitl_tui.policy.workspace_trust import WorkspaceTrust


class TrustScreen(ReadingDialog[bool]):
    """Shows what a folder wants, the riskiest first. `1` trusts it; `2` and Esc go on without.

    Args:
        trust: the folder as it is now.
        guard: when keys decide.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ALWAYS)]
    LEFT = False

    def __init__(self, trust: WorkspaceTrust, guard: KeyGuard) -> None:
        title = _("This folder isn't trusted yet") if not trust.changed else _("The folder's settings changed")
        said = _("{reading.yes} Trust it · {always.no} or {reading.close} Go on without")
        super().__init__(title, trust_rows(trust), said, guard)

    def confirmed(self) -> None:
        self.dismiss(True)

    def action_close(self) -> None:
        self.dismiss(False)


def trust_rows(trust: WorkspaceTrust) -> list[Row]:
    """Return what a folder wants as rows, under its path and above what works without."""
    rows = [text_row(safe_text(trust.folder, multiline=False), "bold")]
    if trust.changed:
        rows.append(text_row(_("Changed since you trusted it. Until you do, the stricter rules count.")))
    risk = ""
    for of_risk, kind, name, text in want_rows(want.to_dict() for want in trust.wants):
        if of_risk != risk:
            rows += [text_row(""), text_row(of_risk, "$text-warning")]
            risk = of_risk
        rows.append(labelled(f"{name}", f"{kind}: {text}", exact=True))
    if not trust.wants:
        rows.append(text_row(_("It wants nothing beyond search, analysis and documents.")))
    rows += [
        text_row(""),
        text_row(_("Without trust: search, analysis and documents work, and every step asks."), "$text-muted"),
        text_row(_("Trust ends with any change of these files; hitl-tui trust --revoke takes it back."), "$text-muted"),
    ]
    return rows
