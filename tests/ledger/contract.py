"""What every store of the ledger has to keep; a store's tests derive from `LedgerContract` and give `store`."""

from __future__ import annotations

from contract_base import Store
from contract_copies import CopiesContract
from contract_effects import EffectsContract
from contract_requests import RequestsContract
from contract_sessions import SessionsContract
from contract_streams import StreamsContract

__all__ = ["LedgerContract", "Store"]


class LedgerContract(StreamsContract, RequestsContract, SessionsContract, EffectsContract, CopiesContract):
    """Tests that any store must pass."""
