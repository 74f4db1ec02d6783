"""One PostgreSQL server for the tests of a process; without one on the machine its tests are left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Yield the address of a server, with the password."""
    with postgres_server() as running:
        yield running.uri
