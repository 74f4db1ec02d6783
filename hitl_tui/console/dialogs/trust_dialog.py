"""What a folder wants to run, shown before it may: one key trusts it, one goes on without."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.language import _
from hitl_tui.wording.trust_rows import trust_rows

if TYPE_CHECKING:
    from hitl_tui.policy.workspace_trust import WorkspaceTrust


class TrustScreen(ReadingDialog[bool]):
    """Shows what a folder wants, the riskiest first. `1` trusts it; `2` and Esc go on without.

    Args:
        trust: the folder as it is now.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ALWAYS)]
    LEFT = False

    def __init__(self, trust: WorkspaceTrust) -> None:
        title = _("This folder isn't trusted yet") if not trust.changed else _("The folder's settings changed")
        said = _("{reading.yes} Trust it · {always.no} or {reading.close} Continue without")
        super().__init__(title, trust_rows(trust.to_dict()), said)

    def confirmed(self) -> None:
        self.dismiss(True)
