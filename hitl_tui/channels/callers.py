"""Who calls: an agent, which asks, or an approver, which decides. What proves it is a token and nothing else (T8)."""

from __future__ import annotations

from hmac import compare_digest

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.identity import Identity
from hitl_tui.core.messages import Message
from hitl_tui.policy.approvers import ApproverFile, approver_of_token

APPROVER_TOKEN = "HITL_APPROVER_TOKEN"  # noqa: S105 - the name of a variable
AGENTS_TOKEN = "HITL_MCP_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST = 20


class Callers:
    """Tells callers by their tokens, looked up anew with every call, since the list of approvers may change.

    Args:
        approvers: who they are.
        agents: the token of agents, where they need one.
        variable: what holds it in the environment.

    Raises:
        BadInput: that token is too short, or an approver's.
    """

    def __init__(self, approvers: ApproverFile, agents: str = "", variable: str = AGENTS_TOKEN) -> None:
        self._approvers, self._agents = approvers, agents
        if agents and len(agents) < _SHORTEST:
            raise BadInput(Message("{} needs at least {} characters.", variable, _SHORTEST))
        if agents and self.approver(agents) is not None:
            raise BadInput(
                Message("{} is an approver's token: whoever asks with it could approve their own steps.", variable)
            )

    def approver(self, token: str, account: str = "") -> Identity | None:
        """Return the approver whose token it is; None for nobody's."""
        return approver_of_token(self._approvers.current, token, account)

    def is_agent(self, token: str) -> bool:
        """Return whether it is the token of agents."""
        return bool(self._agents) and compare_digest(token.encode("utf-8", "replace"), self._agents.encode())

    def the_approver(self, token: str, account: str = "") -> Identity:
        """Return the approver whose token it is.

        Raises:
            Refused: it is nobody's, or no longer.
        """
        found = self.approver(token, account)
        if found is None:
            problem = self._approvers.current.problem
            raise Refused(
                problem or Message("This isn't the token of an approver; to list them: hitl-tui approver list"),
                reason="not_allowed",
            )
        return found
