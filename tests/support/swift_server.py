"""OpenStack Swift on loopback with its S3 layer, which is stricter than others: one device, one replica, no accounts.

`HITL_SWIFT` names the folder of its programs, in an environment of its own: `uv venv V`, then
`uv pip install --python V swift`, and the folder is `V/bin`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

from s3_server import PATIENCE, REGION, Key, S3Server, free_port

PROGRAMS = "HITL_SWIFT"
_KEY = Key("test:tester", "testing")
_NAMES = count(1)
_COMMON = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
user = {user}
workers = 0
fallocate_reserve = 0
"""
_STORE = """\
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
_PIPELINE = "catch_errors gatekeeper cache listing_formats s3api tempauth copy slo dlo proxy-server"
_FILTERS = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in _PIPELINE.split() if name in (
    "catch_errors", "gatekeeper", "listing_formats", "copy", "slo", "dlo"))  # fmt: skip
_PROXY = f"""\
[pipeline:main]
pipeline = {_PIPELINE}
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = {REGION}
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = {_KEY.secret} .admin
{_FILTERS}"""
_HASHES = """\
[swift-hash]
swift_hash_path_prefix = tests
swift_hash_path_suffix = tests
[storage-policy:0]
name = only
default = yes
"""


class SwiftServer(S3Server):
    """The service; it has one user, who may do everything.

    Args:
        url: its address.
    """

    def bucket(self) -> str:
        name = f"feedback-{next(_NAMES)}"
        self._client("s3", _KEY).create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        return name

    def key(self, *actions: str) -> Key:
        assert not actions, "everybody may do everything"
        return _KEY


@contextmanager
def swift_server(programs: Path, folder: Path) -> Iterator[SwiftServer]:
    """Run the service.

    Args:
        programs: where its programs are.
        folder: an empty folder for what it keeps.
    """
    (folder / "devices" / "d1").mkdir(parents=True)
    (folder / "swift.conf").write_text(_HASHES)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    with ExitStack() as stack:
        for kind in ("account", "container", "object"):
            port = free_port()
            for words in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]):
                ring = [str(programs / "swift-ring-builder"), str(folder / f"{kind}.builder"), *words]
                subprocess.run(ring, check=True, stdout=subprocess.DEVNULL)
            text = _COMMON.format(port=port, folder=folder, user=user) + _STORE.format(kind=kind)
            stack.enter_context(_running(programs, folder, kind, text, port))
        port = free_port()
        text = _COMMON.format(port=port, folder=folder, user=user) + _PROXY
        stack.enter_context(_running(programs, folder, "proxy", text, port))
        yield SwiftServer(f"http://127.0.0.1:{port}")


@contextmanager
def _running(programs: Path, folder: Path, kind: str, text: str, port: int) -> Iterator[None]:
    settings = folder / f"{kind}.conf"
    settings.write_text(text)
    with (folder / f"{kind}.log").open("wb") as log:
        command = [str(programs / f"swift-{kind}-server"), str(settings), "-v"]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
            except OSError:
                assert process.poll() is None, (folder / f"{kind}.log").read_text()
                assert time.monotonic() < deadline, f"the {kind} server doesn't answer"
                time.sleep(0.1)
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
