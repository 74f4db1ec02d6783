"""Every store of the ledger: one more line in `STORES` puts another one through the tests of the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
from bolt_server import BoltServer, bolt_server
from ledger_support import Store
from postgres_server import database, postgres  # noqa: F401 - fixtures

from hitl_tui.ledger import audit
from hitl_tui.ledger.entry_files import EntryFiles
from hitl_tui.ledger.neo4j_entries import Neo4jEntries
from hitl_tui.ledger.postgres_ledger import PostgresLedger
from hitl_tui.ledger.protocols import Ledger, Requests, Streams
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.task_checkpoints.neo4j_views import CheckpointViews

Open = Callable[[Path], AbstractAsyncContextManager[Ledger]]

STORES: dict[str, tuple[Open, tuple[type, ...]]] = {
    "sqlite": (lambda folder: SqliteLedger.open(folder / "data" / "ledger.db"), Ledger.__mro__),
    "files": (lambda folder: EntryFiles.open(folder / "checkpoints"), (Streams, Requests)),
}
"""How each is opened in a folder, and the protocols that it keeps: those that a test class names in `needs`."""

NEO4J, POSTGRES = "neo4j", "postgresql"
"""The stores that need a server: their tests are long."""


@pytest.fixture(scope="session")
def bolt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    """Return a server that all tests share."""
    with bolt_server(tmp_path_factory.mktemp("bolt")) as server:
        yield server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    needs = getattr(metafunc.cls, "needs", None)
    if needs is not None and "store" in metafunc.fixturenames:
        able: list[object] = [name for name, (__, kept) in STORES.items() if set(needs) <= set(kept)]
        if set(needs) <= {Streams, Requests}:
            able.append(pytest.param(NEO4J, marks=pytest.mark.long))
        able.append(pytest.param(POSTGRES, marks=pytest.mark.long))
        metafunc.parametrize("store", able, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return what opens a store."""
    if request.param == NEO4J:
        bolt: BoltServer = request.getfixturevalue("bolt")
        bolt.clear()
        return partial(Neo4jEntries.open, bolt.server, CheckpointViews())
    if request.param == POSTGRES:
        return partial(PostgresLedger.open, request.getfixturevalue("database"))
    return partial(STORES[request.param][0], tmp_path)


@pytest.fixture
async def ledger(store: Store) -> AsyncIterator[Ledger]:
    """Return a ledger that is verified at the end of the test."""
    async with store() as ledger:
        yield ledger
        assert (await audit.verify(ledger)).problems == ()
