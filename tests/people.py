"""People of tests: verified, as those who gave their token are; and lists of approvers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hitl_tui.core.identity import Identity, Proof
from hitl_tui.policy.approvers import FILE_NAME, Approver, Approvers, to_toml, token_hash


def verified(name: str, level: int = 0) -> Callable[[], Identity]:
    """Return what says that this person acts, proven by their token."""
    return lambda: Identity(name, name, Proof.TOKEN.value, level, "ops")


def approvers(*names: str, **levels: int) -> Approvers:
    """Return a list of approvers of level 0, and of others with theirs; the folder is the first one's."""
    others = [Approver(name, token=token_hash(f"token of {name}")) for name in names[1:]]
    others += [Approver(name, token=token_hash(f"token of {name}"), level=level) for name, level in levels.items()]
    return Approvers(names[0], tuple(others))


def write_approvers(data: Path, *names: str, level: int = 0) -> None:
    """Write a list of approvers into a data folder; the token of `ann` is `token of ann`."""
    data.mkdir(parents=True, exist_ok=True)
    listed = [Approver(name, token=token_hash(f"token of {name}"), level=level) for name in names]
    (data / FILE_NAME).write_text(to_toml(listed), encoding="utf-8")
