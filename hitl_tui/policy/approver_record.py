"""The ledger's stream about approvers: every change of who counts, also one that an editor made."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hitl_tui.core.errors import ConfigError
from hitl_tui.ledger.protocols import Streams
from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import FILE_NAME, STREAM, Approver, ApproverFile, read_approvers, to_toml


async def record_change(ledger: Streams, kind: str, about: Approver, listed: Sequence[Approver], now: str) -> None:
    """Write that an approver was added or removed; it is written before the file.

    Args:
        ledger: the record.
        kind: `approver_added` or `approver_removed`.
        about: whom.
        listed: everybody there is then.
        now: the time.
    """
    entry = {**about.to_dict(), "by": account_name(), "digest": _digest(to_toml(listed).encode())}
    await ledger.record(STREAM, kind, entry, now)


async def note_edits(ledger: Streams, file: ApproverFile, now: str) -> bool:
    """Write it down when the file isn't what the last entry says: it was edited, put back or removed by hand.

    Returns:
        Whether it was.
    """
    head = await ledger.head(STREAM)
    content = file.content()
    if not head.n and not content:
        return False
    last = (await ledger.entries(STREAM, head.n - 1, 1))[-1].data if head.n else {}
    if last.get("digest", _digest(b"")) == _digest(content):
        return False
    try:
        listed = [approver.to_dict() for approver in read_approvers(content)]
        problem = ""
    except ConfigError as error:
        listed, problem = [], error.message
    entry = {"by": account_name(), "digest": _digest(content), "approvers": listed, "problem": problem}
    await ledger.record(STREAM, "approvers_edited", {**entry, "file": FILE_NAME}, now)
    return True


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
