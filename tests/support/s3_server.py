"""An S3 service on loopback that checks signatures and permissions, and a proxy before it that makes it fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import boto3
import botocore.config
from aiohttp import ClientSession, ClientTimeout, web
from yarl import URL

PATIENCE = 60.0
REGION = "eu-west-1"
_NAMES = count(1)


@dataclass(frozen=True)
class Key:
    """Credentials of the service."""

    id: str
    secret: str

    def environ(self, endpoint: str) -> dict[str, str]:
        """What a program needs in its environment to use the service, and nothing of this machine's."""
        return {
            "AWS_ACCESS_KEY_ID": self.id,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_ENDPOINT_URL_S3": endpoint,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


class S3Server:
    """moto's server in a process of its own.

    Args:
        url: its address.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def bucket(self) -> str:
        """Make a bucket."""
        name = f"feedback-{os.getpid()}-{next(_NAMES)}"
        with self._unchecked(1):
            self._client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        return name

    def key(self, *actions: str) -> Key:
        """Make credentials that may do some actions on everything; all of S3's where none is named."""
        name = f"user-{next(_NAMES)}"
        statement = {"Effect": "Allow", "Action": list(actions) or ["s3:*"], "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        with self._unchecked(3):
            iam = self._client("iam")
            iam.create_user(UserName=name)
            iam.put_user_policy(UserName=name, PolicyName="may", PolicyDocument=policy)
            made = iam.create_access_key(UserName=name)["AccessKey"]
        return Key(made["AccessKeyId"], made["SecretAccessKey"])

    def client(self, key: Key) -> Any:
        """Another program's S3 client."""
        return self._client("s3", key)

    def _client(self, service: str, key: Key | None = None) -> Any:
        key = key or Key("none", "none")
        return boto3.session.Session().client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
            config=botocore.config.Config(retries={"total_max_attempts": 1}),
        )

    @contextmanager
    def _unchecked(self, calls: int) -> Iterator[None]:
        """Let a number of calls pass without credentials, for what an administrator does."""
        self._reset(calls)
        yield
        self._reset(0)

    def _reset(self, calls: int) -> None:
        url, headers = f"{self.url}/moto-api/reset-auth", {"Content-Type": "text/plain"}
        urllib.request.urlopen(urllib.request.Request(url, str(calls).encode(), headers)).close()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run the service."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    environ = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "0"}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
            except OSError:
                assert process.poll() is None, "the S3 server didn't start"
                assert time.monotonic() < deadline, "the S3 server doesn't answer"
                time.sleep(0.05)
        yield S3Server(url)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


# Faults -----------------------------------------------------------------------------------------------------------

Pass = Callable[[], Awaitable[web.StreamResponse]]
Fault = Callable[[web.Request, Pass], Awaitable[web.StreamResponse]]


@dataclass
class Proxy:
    """Stands before the service.

    Args:
        url: its address.
        calls: what was asked, in order: method and path with query.
        fault: what happens to a request; None lets it pass.
    """

    url: str
    calls: list[str] = field(default_factory=list)
    fault: Fault | None = None

    def asked(self, what: str) -> int:
        """How many calls began like this."""
        return sum(call.startswith(what) for call in self.calls)


@contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    """Run a proxy on a thread of its own, so that a test's own loop may be busy."""
    port = free_port()
    proxy = Proxy(f"http://127.0.0.1:{port}")
    loop = asyncio.new_event_loop()
    ready, end = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with ClientSession(auto_decompress=False, timeout=ClientTimeout(total=PATIENCE)) as session:

            async def answer(request: web.Request) -> web.StreamResponse:
                proxy.calls.append(f"{request.method} {request.raw_path}")
                body = await request.read()

                async def forward() -> web.StreamResponse:
                    url = URL(target + request.raw_path, encoded=True)
                    headers = {name: value for name, value in request.headers.items() if name not in _OF_A_CONNECTION}
                    async with session.request(request.method, url, headers=headers, data=body) as answered:
                        kept = {n: v for n, v in answered.headers.items() if n not in _OF_A_CONNECTION}
                        size = answered.headers.get("Content-Length") if request.method == "HEAD" else None
                        if size is not None:
                            kept["Content-Length"] = size
                        return web.Response(status=answered.status, headers=kept, body=await answered.read())

                return await (proxy.fault(request, forward) if proxy.fault is not None else forward())

            application = web.Application(client_max_size=2**24)
            application.router.add_route("*", "/{rest:.*}", answer)
            runner = web.AppRunner(application, shutdown_timeout=1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            ready.set()
            await end.wait()
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(PATIENCE)


_OF_A_CONNECTION = frozenset({"Transfer-Encoding", "Content-Length", "Connection", "Expect", "Keep-Alive"})


def refusing(status: int, code: str, headers: Mapping[str, str] | None = None) -> Fault:
    """Answer every request with an error of S3."""

    async def fault(request: web.Request, forward: Pass) -> web.StreamResponse:
        text = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>No.</Message></Error>'
        return web.Response(status=status, text=text, content_type="application/xml", headers=headers)

    return fault


async def hang_up(request: web.Request, forward: Pass) -> web.StreamResponse:
    """Close the connection without an answer."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def cut(request: web.Request, forward: Pass) -> web.StreamResponse:
    """Let the request through and give half of the body that is announced."""
    answer = await forward()
    assert isinstance(answer, web.Response)
    body = answer.body if isinstance(answer.body, bytes) else b""
    if len(body) < 2:
        return answer
    half = web.StreamResponse(status=answer.status, headers={**answer.headers, "Content-Length": str(len(body))})
    await half.prepare(request)
    await half.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.close()
    return half


def only(methods: Sequence[str], fault: Fault, times: int = 10**9) -> Fault:
    """Make some requests fail, and let all others through.

    Args:
        methods: how they begin: `GET`, or `GET /bucket/key`.
        fault: what happens to them.
        times: how many, from the first on.
    """
    left = [times]

    async def chosen(request: web.Request, forward: Pass) -> web.StreamResponse:
        if left[0] and any(f"{request.method} {request.raw_path}".startswith(method) for method in methods):
            left[0] -= 1
            return await fault(request, forward)
        return await forward()

    return chosen
