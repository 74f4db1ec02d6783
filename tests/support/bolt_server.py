"""A database that speaks Neo4j's protocol, on loopback, and a way to it that can be cut.

It is ArcadeDB with its own Java, from PyPI: Bolt, Cypher, transactions that roll back and unique keys are real.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

from hitl_tui.ledger.neo4j_entries import Neo4jServer

PASSWORD = "password-of-the-test"
_DATABASE = "neo4j"


class BoltServer:
    """A server process over a folder.

    Args:
        folder: where its database lies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bolt, self._http = free_port(), free_port()
        self.server = self.at(self._bolt)
        self.start()

    def at(self, port: int, password: str = PASSWORD) -> Neo4jServer:
        """Return how the server is reached through a port."""
        return Neo4jServer(f"bolt://127.0.0.1:{port}", "root", password, _DATABASE)

    @property
    def port(self) -> int:
        """The port of Bolt."""
        return self._bolt

    @property
    def environ(self) -> dict[str, str]:
        """What a person sets to use it."""
        return {
            "NEO4J_URI": self.server.uri,
            "NEO4J_USER": self.server.user,
            "NEO4J_PASSWORD": self.server.password,
            "NEO4J_DATABASE": self.server.database,
        }

    def start(self) -> None:
        """Start the process and wait until it answers."""
        package = _package()
        settings = {
            "server.rootPath": str(self._folder),
            "server.rootPassword": PASSWORD,
            "server.mode": "production",
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.defaultDatabases": f"{_DATABASE}[root]",
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": str(self._http),
            "bolt.host": "127.0.0.1",
            "bolt.port": str(self._bolt),
            "txWalFlush": "2",
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "server.out").open("ab") as out:
            self.process = subprocess.Popen(
                [
                    str(package / "jre" / "bin" / "java"),
                    "-Xmx512m",
                    "-cp",
                    str(package / "jars" / "*"),
                    *(f"-Darcadedb.{name}={value}" for name, value in settings.items()),
                    "com.arcadedb.server.ArcadeDBServer",
                ],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        end = time.monotonic() + 120
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self._folder / "server.out").read_text(errors="replace")[-2_000:])
            time.sleep(0.2)

    def kill(self) -> None:
        """End the process as a power cut does."""
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def clear(self) -> None:
        """Remove everything that is stored."""
        self.run("MATCH (n) DETACH DELETE n")

    def run(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        """Run a statement and return its records."""
        server = self.server
        with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
            found = driver.execute_query(statement, values, database_=server.database)
            return [record.data() for record in found.records]

    def _answers(self) -> bool:
        try:
            with closing(socket.create_connection(("127.0.0.1", self._http), 1)):
                return self.run("RETURN 1 AS one") == [{"one": 1}]
        except (OSError, neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError):
            return False


@contextmanager
def bolt_server(folder: Path) -> Iterator[BoltServer]:
    """Run a server over a folder; without its package the test is skipped."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("there is no server of Neo4j's protocol here: uv run --group bolt pytest")
    server = BoltServer(folder)
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _package() -> Path:
    found = importlib.util.find_spec("arcadedb_embedded")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent
