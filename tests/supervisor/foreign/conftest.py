"""One PostgreSQL server for the tests of a process; without one on the machine its tests are left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from foreign_support import postgres_server, server_programs


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Yield the address of a server, with the password."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed here; .ci/run installs one")
    with postgres_server(programs) as uri:
        yield uri
