"""The operator's identity, looked up anew for each decision, since the list of approvers may change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.identity import Identity
from hitl_tui.policy.approvers import ApproverFile, identify, identify_by_token

Acting = Callable[[], Identity]
"""Says who acts now."""


class Operator:
    """Who gives commands.

    Args:
        folder: the data folder.
        claimed: the name given by option or environment; empty for none.

    Raises:
        BadInput: the name is, or looks like, an approver's.
    """

    def __init__(self, folder: Path, claimed: str = "") -> None:
        self._file = ApproverFile(folder)
        self._claimed = claimed
        self.name = identify(self._file.current, claimed).name
        """What people are shown."""

    def __call__(self) -> Identity:
        """Return who acts now."""
        try:
            return identify(self._file.current, self._claimed)
        except BadInput:  # somebody of that name became an approver meanwhile: it is a claim all the same
            return identify(self._file.current)

    def by_token(self, name: str, token: str) -> Identity:
        """Return the approver that a token proves.

        Raises:
            Refused: it isn't theirs, or there is no such approver.
        """
        return identify_by_token(self._file.current, name, token, self().account)
