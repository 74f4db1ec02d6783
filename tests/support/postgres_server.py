"""A PostgreSQL server on loopback in a folder of its own, for the tests that need a real one."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

PASSWORD = "pw-of-the-test"


def server_programs() -> Path | None:
    """Return the folder with `initdb` and `postgres`, None when there is no server on this machine."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "postgres").exists()), None)


class PostgresServer:
    """A server that can be stopped and started again.

    Args:
        programs: the folder of PostgreSQL's programs.
        folder: where its data and its log lie.
    """

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._user = None
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self._user = next(u for u in ("postgres", "nobody") if u in {p.pw_name for p in pwd.getpwall()})
            os.chown(folder, pwd.getpwnam(self._user).pw_uid, -1)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        subprocess.run(
            [
                programs / "initdb",
                "-D",
                folder / "data",
                "-U",
                "owner",
                "-A",
                "scram-sha-256",
                "--pwfile",
                secret,
                "-N",
            ],
            check=True,
            capture_output=True,
            user=self._user,
            cwd="/",
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The address of its first database, with the password."""
        return self.at("postgres")

    def at(self, database: str, user: str = "owner", password: str = PASSWORD) -> str:
        """Return the address of a database; without the password where that is empty."""
        return f"postgresql://{user}{f':{password}' if password else ''}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Run it, and wait until it answers."""
        options = [
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-k",
            str(self._folder),
            "-c",
            "fsync=off",
            "-c",
            "max_connections=300",
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._folder / "data", *options],
                stdout=log,
                stderr=log,
                user=self._user,
                cwd="/",
                process_group=0,
            )
        self._wait(self._process, self.uri)

    def _wait(self, running: subprocess.Popen[bytes], address: str) -> None:
        deadline = time.monotonic() + 60
        while True:
            assert running.poll() is None, "the server stopped"
            try:
                psycopg.connect(address).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the server never answered"
                time.sleep(0.05)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it: at once, as a crash would, unless another signal is given."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    @contextmanager
    def database(self) -> Iterator[str]:
        """Make a database, and drop it at the end; yields its address, with the password."""
        name = f"t{secrets.token_hex(6)}"
        with psycopg.connect(self.uri, autocommit=True) as owner:
            owner.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
        try:
            yield self.at(name)
        finally:
            with psycopg.connect(self.uri, autocommit=True) as owner:
                owner.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def replica(self) -> Iterator[int]:
        """Run a replica of it; yields its port."""
        with tempfile.TemporaryDirectory(prefix="replica-", dir="/tmp", ignore_cleanup_errors=True) as name:
            folder, environ = Path(name), {"PGPASSWORD": PASSWORD, "PATH": os.environ["PATH"]}
            if self._user:
                os.chown(folder, pwd.getpwnam(self._user).pw_uid, -1)
            where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "owner"]
            copying = [self._programs / "pg_basebackup", *where, "-D", folder / "data", "-R", "-c", "fast"]
            subprocess.run(copying, check=True, capture_output=True, user=self._user, cwd="/", env=environ)
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            options = ["-h", "127.0.0.1", "-p", str(port), "-k", name, "-c", "max_connections=300"]
            running = subprocess.Popen(
                [self._programs / "postgres", "-D", folder / "data", *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                user=self._user,
                cwd="/",
            )
            try:
                self._wait(running, self.uri.replace(f":{self.port}/", f":{port}/"))
                yield port
            finally:
                running.send_signal(signal.SIGQUIT)
                running.wait(60)

    @contextmanager
    def small_database(self, megabytes: int) -> Iterator[tuple[str, Path]]:
        """Make a database on a small disk of its own; yields its address, and a folder on that disk. Root alone can."""
        room = Path(tempfile.mkdtemp(prefix="small-", dir="/tmp"))
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", room], capture_output=True
        )
        if mounted.returncode:
            room.rmdir()
            pytest.skip("no small disk can be mounted here")
        name = f"t{secrets.token_hex(6)}"
        try:
            (room / "space").mkdir()
            if self._user:
                os.chown(room / "space", pwd.getpwnam(self._user).pw_uid, -1)
            with psycopg.connect(self.uri, autocommit=True) as owner:
                owner.execute(f"CREATE TABLESPACE {name} LOCATION '{room / 'space'}'")
                owner.execute(f"CREATE DATABASE {name} TABLESPACE {name} STRATEGY file_copy")
            yield self.at(name), room
            with psycopg.connect(self.uri, autocommit=True) as owner:
                owner.execute(f"DROP DATABASE {name} WITH (FORCE)")
                owner.execute(f"DROP TABLESPACE {name}")
        finally:
            subprocess.run(["umount", "-l", room], check=True)
            room.rmdir()


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run a server; the test is skipped where none is installed."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed here; .ci/run installs one")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    server = PostgresServer(programs, folder)
    server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGINT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Return a server that all tests share."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """Return the address of a database of the test's own."""
    with postgres.database() as address:
        yield address
