"""What is done around each write of a ledger: its heads are signed with it, and anchored after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TypeVar

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.anchors import AnchorFile
from hitl_tui.ledger.records import Head
from hitl_tui.ledger.signature_table import newest, prepare, sign, signing_keys, written_since
from hitl_tui.ledger.signatures import KnownSignatures, Place, Signer, accept_command, shown_key
from hitl_tui.ledger.sql_transaction import TableForm, Transaction, Work

T = TypeVar("T")

_SELDOM = ("policy/", "trust/")
"""Beginnings of the names of streams that are seldom written to: their newest heads are kept in mind."""

log = logging.getLogger(__name__)


class Sealing:
    """Signs and anchors the heads of what is written. All but making it runs on the ledger's thread.

    What is written counts whether or not it can be signed or anchored: that it can't is said, and `audit verify` shows
    it.

    Args:
        ledger: what the ledger is known by: its file, the address of its database.
        signer: signs; None where nothing is signed.
        anchors: where heads are kept besides, with each decision and at the end; None for nowhere.
        tell: is told in a sentence, once, that signing or anchoring fails, or that a key signed before which isn't
            known here.
    """

    def __init__(
        self,
        ledger: Place,
        signer: Signer | None,
        anchors: AnchorFile | None,
        tell: Callable[[str], None] = log.warning,
    ) -> None:
        self._ledger = ledger
        self._signer = signer
        self._anchors = anchors
        self._tell = tell
        self._prepared = False
        self._known: KnownSignatures | None = None
        """As it was before this first signed."""
        self._before = ""
        self._accepted: Collection[str] = ()
        self._written: list[tuple[Head, int, bool]] = []
        self._open: dict[str, Head] = {}

    def around(self, db: Transaction, form: TableForm, work: Work[T]) -> T:
        """Do what is to be done in a transaction, and sign the heads that it leaves."""
        before = newest(db)
        result = work(db)
        self._written = written_since(db, before)
        if self._written and self._signer is not None:
            self._sign(db, form, self._signer, before)
        return result

    def _sign(self, db: Transaction, form: TableForm, signer: Signer, before: int) -> None:
        try:
            if self._known is None:
                self._known = signer.known()
            signer.public  # noqa: B018 - makes or reads the key, which may fail
        except StorageError as error:
            self._signer = None
            self._tell(Message("What is recorded isn't signed: {}", error.message))
            return
        if not self._prepared:
            # Where no key is known yet, there is nothing to tell those of others by: they are known from now on.
            self._accepted = () if self._known.keys_of(self._ledger) else signing_keys(db, form)
            self._before = prepare(db, form, signer, _now(), self._accepted)
            self._written = written_since(db, before)
        sign(db, signer, self._written)

    def committed(self) -> None:
        """Keep the heads of what was committed elsewhere, when something was decided."""
        seldom = [head for head, _, _ in self._written if head.stream.startswith(_SELDOM)]
        if self._written and self._signer is not None and (seldom or not self._prepared):
            self._remember(self._signer, seldom)
            if not self._prepared:
                self._prepared = True
                self._tell_of_another(self._signer)
        self._open |= {head.stream: head for head, _, _ in self._written}
        decides = any(decided for _, _, decided in self._written)
        self._written = []
        if decides:
            self._anchor()

    def _remember(self, signer: Signer, heads: list[Head]) -> None:
        try:
            signer.remember(self._ledger, _now(), heads, self._accepted)
        except OSError as error:
            self._tell(Message("The note that this record is signed can't be saved: {}.", error.strerror))

    def _tell_of_another(self, signer: Signer) -> None:
        """Say that another key signed before, unless it is known."""
        before, own = self._before, signer.public
        if not before or before == own or self._known is None or before in self._known.keys_of(self._ledger):
            return
        if before in self._accepted:
            said = Message(
                "New signing key {}: this record was signed by {}, under another account or HOME. To go on there, "
                "accept the new one there: {}",
                shown_key(own),
                shown_key(before),
                accept_command(own),
            )
        else:
            said = Message(
                "This record was last signed by the key {}, which isn't known here: another account or HOME made it. "
                "If it is yours: {}",
                shown_key(before),
                accept_command(before),
            )
        self._tell(said)

    def close(self) -> None:
        """Keep the heads that weren't kept elsewhere yet."""
        self._anchor()

    def _anchor(self) -> None:
        heads, self._open = list(self._open.values()), {}
        if self._anchors is None or not heads:
            return
        try:
            self._anchors.add(heads, _now())
        except OSError as error:
            path, self._anchors = self._anchors.path, None
            self._tell(Message("Anchors of the record can't be written to {}: {}.", path, error.strerror))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
