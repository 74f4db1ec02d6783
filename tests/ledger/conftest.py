"""Every store of the ledger: one more line in `STORES` puts another one through the tests of the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
from ledger_support import Store

from hitl_tui.ledger import audit
from hitl_tui.ledger.entry_files import EntryFiles
from hitl_tui.ledger.protocols import Ledger, Requests, Streams
from hitl_tui.ledger.sqlite_ledger import SqliteLedger

Open = Callable[[Path], AbstractAsyncContextManager[Ledger]]

STORES: dict[str, tuple[Open, tuple[type, ...]]] = {
    "sqlite": (lambda folder: SqliteLedger.open(folder / "data" / "ledger.db"), Ledger.__mro__),
    "files": (lambda folder: EntryFiles.open(folder / "checkpoints"), (Streams, Requests)),
}
"""How each is opened in a folder, and the protocols that it keeps: those that a test class names in `needs`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    needs = getattr(metafunc.cls, "needs", None)
    if needs is not None and "store" in metafunc.fixturenames:
        able = [name for name, (__, kept) in STORES.items() if set(needs) <= set(kept)]
        metafunc.parametrize("store", able, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return what opens a store."""
    return partial(STORES[request.param][0], tmp_path)


@pytest.fixture
async def ledger(store: Store) -> AsyncIterator[Ledger]:
    """Return a ledger that is verified at the end of the test."""
    async with store() as ledger:
        yield ledger
        assert (await audit.verify(ledger)).problems == ()
