"""Who acts, and what proves that they are who they say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hitl_tui.core.messages import Message


class Proof(StrEnum):
    """What proves who somebody is."""

    ACCOUNT = "account"
    TOKEN = "token"  # noqa: S105 - the kind of proof


@dataclass(frozen=True, slots=True)
class Identity:
    """Who acts.

    Args:
        name: what the record and people are shown: `ops`, or `ann (claimed) through ops`.
        person: the verified person: an approver's name, or the account that owns the data folder; empty for none.
        proof: what proves it; empty where nothing does.
        level: the person's approver level.
        account: the operating system account they act through; empty where none is known.
        claimed: the name that they only claim; empty for none.
    """

    name: str
    person: str = ""
    proof: str = ""
    level: int = 0
    account: str = ""
    claimed: str = ""


def claimed_name(name: str, account: str) -> str:
    """Return how a name is shown that nothing proves: `ann (claimed) through ops`."""
    return Message("{} (claimed) through {}", name, account) if account else f"{name} (claimed)"
