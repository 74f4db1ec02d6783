"""Votes on steps outside of sessions, signed by the account they came through.

Where several people or a level are demanded, writing to the files of a task doesn't make an approval: its votes have
to be signed by a key that is known here, and to be about exactly what is on record.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Decision, Outcome, Resolution, Verdict, needs_verified, resolve
from hitl_tui.ledger.signatures import Signer, verifies
from hitl_tui.task_checkpoints.checkpoint import Checkpoint

_VOTE = -1
"""Stands for the number of an entry, of which none is so: no signature of a record's head is one of a vote."""


class SignedVotes:
    """Signs votes, and tells which are signed.

    Args:
        signer: has the key; None for the account's own.
    """

    def __init__(self, signer: Signer | None = None) -> None:
        self._given = signer

    @cached_property
    def _signer(self) -> Signer:
        return self._given or Signer(os.environ)

    def signed(self, task_id: str, vote: Decision) -> Decision:
        """Return a vote with a signature.

        Raises:
            StorageError: there is no key, and none can be made.
        """
        plain = replace(vote, signature="")
        made = self._signer.sign(task_id, _VOTE, digest(plain.to_dict()))
        return replace(plain, signature=f"{self._signer.public}:{made.hex()}")

    def held(self, checkpoint: Checkpoint, now_demanded: Terms) -> Checkpoint:
        """Return an approved step as it stands when only proven votes count: an approval that rests on others is none.

        Args:
            checkpoint: as it is on record.
            now_demanded: what the rules demand that hold by now; what it was asked with is on record, too.
        """
        view = checkpoint.view
        assert view is not None, "only what was asked is approved"
        request, asked = view.request, view.request.terms
        terms = replace(
            asked, quorum=max(asked.quorum, now_demanded.quorum), level=max(asked.level, now_demanded.level)
        )
        if not needs_verified(terms):
            return checkpoint
        known = [vote for vote in view.decisions if self._is_known(checkpoint.task_id, vote)]
        strange = [vote for vote in view.decisions if vote not in known]
        last = max((vote.at for vote in view.decisions), default=request.opened_at)
        proven = resolve(replace(request, terms=terms), known, last).outcome is Outcome.APPROVED
        if proven and _is_about(checkpoint):
            return checkpoint
        why = _why(strange) if not proven else Message("The votes on record are about something else than this.")
        said = Decision(request.id, Verdict.REJECT, "hitl-tui", request.digest, last, reason=why)
        return replace(checkpoint, view=replace(view, resolution=Resolution(Outcome.SUPERSEDED, None, (said,))))

    def _is_known(self, task_id: str, vote: Decision) -> bool:
        """Return whether a vote is signed by a key that is known here."""
        key, _, made = vote.signature.partition(":")
        if not made:
            return False
        try:
            known = self._signer.known()
        except StorageError:
            return False
        if key not in known.keys.union(*known.accepted.values()):
            return False
        return _verifies(task_id, vote)


def _verifies(task_id: str, vote: Decision) -> bool:
    key, _, made = vote.signature.partition(":")
    try:
        signature = bytes.fromhex(made)
    except ValueError:
        return False
    return verifies(key, signature, task_id, _VOTE, digest(replace(vote, signature="").to_dict()))


def _is_about(checkpoint: Checkpoint) -> bool:
    """Return whether what was asked about is what the step does."""
    assert checkpoint.view is not None, "only what was asked was voted on"
    request, call = checkpoint.view.request, checkpoint.call
    told = (checkpoint.task_id, checkpoint.step, checkpoint.action, checkpoint.agent)
    subject = request.subject
    if digest(dict(subject)) != request.digest or told != tuple(subject.get(k) for k in _TOLD):
        return False
    if call is None:
        return "arguments" not in subject
    same = digest({"is": checkpoint.arguments}) == digest({"is": subject.get("arguments")})
    return same and subject.get("folder") == call.folder


_TOLD = ("task", "step", "action", "agent")


def _why(strange: Sequence[Decision]) -> Message:
    """Return why an approval doesn't count, by the votes of it that aren't known."""
    if not strange:
        return Message("Too few votes for it are on record.")
    names = ", ".join(dict.fromkeys(vote.by for vote in strange))
    if keys := dict.fromkeys(vote.signature.partition(":")[0] for vote in strange if vote.signature):
        commands = ", ".join(f"hitl-tui audit accept {key}" for key in keys)
        return Message("The votes of {} are signed with a key that isn't known here: {}", names, commands)
    return Message("The votes of {} aren't signed, so they don't count.", names)
