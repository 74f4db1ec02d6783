"""Real servers on loopback that notifications are sent to, and the command line of those who ask and decide."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

LONGEST = 40.0
"""Seconds after which what was expected surely doesn't come."""


def until(come: Callable[[], bool], seconds: float = LONGEST) -> None:
    """Wait for something that happens in another process."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end, "it didn't happen"
        time.sleep(0.05)


class Webhook:
    """A service that takes notifications as JSON by HTTP.

    Attributes:
        status: what it answers.
        answers: it answers at all; cleared, it keeps whoever asked waiting.
        came: what it was sent, in order.
    """

    def __init__(self) -> None:
        self.status, self.answers = 200, threading.Event()
        self.answers.set()
        self.came: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.tries = 0
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.tries += 1
                hook.answers.wait(LONGEST)
                if hook.status == 200:
                    hook.came.append(document)
                    hook.paths.append(self.path)
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def address(self) -> str:
        return f"json://127.0.0.1:{self.port}"

    @property
    def titles(self) -> list[str]:
        return [one["title"] for one in self.came]


@contextmanager
def webhook() -> Iterator[Webhook]:
    hook = Webhook()
    hook.start()
    try:
        yield hook
    finally:
        hook.stop()


class Mailbox:
    """What an SMTP server took."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.logins: list[tuple[str, str]] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802 - its name
        self.mails.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"


@contextmanager
def smtp_server(folder: Path, user: str, password: str) -> Iterator[tuple[Mailbox, int]]:
    """Run an SMTP server that takes mail only by STARTTLS and with this login; yield its mailbox and port."""
    box = Mailbox()

    def check(_server: object, _session: object, _envelope: object, _mechanism: str, given: Any) -> AuthResult:
        assert isinstance(given, LoginPassword)
        box.logins.append((given.login.decode(), given.password.decode()))
        return AuthResult(success=box.logins[-1] == (user, password))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=_free_port(),
        tls_context=context,
        require_starttls=True,
        authenticator=check,
        auth_required=True,
    )
    controller.start()
    try:
        yield box, controller.port
    finally:
        controller.stop()


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _certificate(folder: Path) -> Path:
    """Write a certificate for 127.0.0.1, and its key, into one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


class Place:
    """A data folder and a workspace.

    Args:
        root: an empty folder.
    """

    def __init__(self, root: Path) -> None:
        self.data, self.workspace = root / "data", root / "work"
        self.data.mkdir()
        self.workspace.mkdir()
        dropped = ("HITL_", "NEO4J", "MASC")
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(dropped)},
            "HITL_DATA_DIR": str(self.data),
            "HITL_USER": "tester",
            "HITL_LANG": "en",
            "PYTHONUTF8": "1",
        }

    def settings(self, *targets: str, more: str = "") -> None:
        """Write the person's own settings."""
        text = f"[notify]\ntargets = {json.dumps(targets)}\n{more}"
        (self.data / "settings.toml").write_text(text, encoding="utf-8")

    def policy(self, text: str) -> None:
        (self.workspace / "hitl.toml").write_text(text, encoding="utf-8")

    def masc(self, *arguments: str, task: str = "deploy", **env: str) -> subprocess.CompletedProcess[str]:
        script = "import sys; from hitl_tui.cli.masc_checkpoint import main; sys.exit(main())"
        return self._run([sys.executable, "-c", script, "--task-id", task, *arguments], env)

    def open(self, step: int = 1, message: str = "Delete it?", **more: str) -> subprocess.CompletedProcess[str]:
        done = self.masc(
            *("--step", str(step), "--action", "rm -r build", "--agent", "bot", "--interrupt", message), **more
        )
        assert done.returncode == 3, done.stderr
        return done

    def hitl(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, "-m", "hitl_tui", *arguments], env)

    def _run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self.env | env, cwd=self.workspace, capture_output=True, text=True, timeout=60, check=False
        )

    @property
    def is_told(self) -> bool:
        """Nobody sends any more."""
        from hitl_tui.notifications.wake import FOLDER, take_lock

        lock = take_lock(self.data / FOLDER)
        if lock is not None:
            os.close(lock)
        return lock is not None
