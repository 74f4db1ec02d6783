"""Who may come in, and what they are given: the server's side, over real connections."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest
from aiohttp import ClientSession, CookieJar, WSMsgType, WSServerHandshakeError, web
from hypothesis import given
from hypothesis import strategies as st
from trusting import trust_workspace
from web_support import served, until

from hitl_tui.cli import main, web_command
from hitl_tui.config.extras import install_command
from hitl_tui.core.errors import BadInput
from hitl_tui.web import console_process
from hitl_tui.web.auth import COOKIE, Gate, authority, loopback
from hitl_tui.web.console_process import clipped, environment
from hitl_tui.web.listening import listening
from hitl_tui.web.server import Site, font_size, has_browser

# Speaks as a console does: says it begins, draws, tries to act on the browser, and repeats what it is told.
SPEAKER = r"""
import json, sys

def packet(kind, data):
    sys.stdout.buffer.write(kind + len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()

sys.stdout.buffer.write(b"__GANGLION__\n")
packet(b"D", b"hello")
packet(b"M", json.dumps({"type": "open_url", "url": "http://example.org/", "new_tab": True}).encode())
packet(b"M", json.dumps({"type": "deliver_file_start", "key": "k", "path": "/etc/passwd"}).encode())
packet(b"P", b"anything")
while True:
    kind, size = sys.stdin.buffer.read(1), int.from_bytes(sys.stdin.buffer.read(4), "big")
    data = sys.stdin.buffer.read(size)
    if b'"left"' not in data:  # there is nobody to repeat it to
        packet(b"D", kind + data)
    if not kind or json.loads(data if kind == b"M" else b"{}").get("type") == "quit":
        break
"""
# Notes that it was started, and by a process that outlives it keeps its output open.
STARTED = """
import pathlib, subprocess, sys
other = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path(sys.argv[1], str(other.pid)).touch()
"""
# Draws without a pause, still a lot after it was told to leave, and only then leaves in good order.
FLOODER = r"""
import pathlib, sys, threading

told = threading.Event()

def listen():
    take = sys.stdin.buffer.read
    while take(1) and b'"quit"' not in take(int.from_bytes(take(4), "big")):
        pass
    told.set()

def draw():
    sys.stdout.buffer.write(b"D" + (4096).to_bytes(4, "big") + bytes(4096))
    sys.stdout.buffer.flush()

threading.Thread(target=listen, daemon=True).start()
sys.stdout.buffer.write(b"__GANGLION__\n")
while not told.is_set():
    draw()
for _ in range(1_000):
    draw()
pathlib.Path(sys.argv[1]).touch()
"""
COMPLAINER = "import sys; sys.exit('no \\x1b[31mscreen\\x07 here')"


@dataclass
class Open:
    """A server that listens, and somebody who asks it."""

    gate: Gate
    client: ClientSession

    async def get(self, path: str, *, method: str = "GET", cookie: bool = True, **headers: str) -> tuple[int, str, Any]:
        sent = {"Cookie": f"{COOKIE}={self.gate.cookie}"} if cookie else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.request(method, self.gate.origin + path, headers=sent, allow_redirects=False) as answer:
            return answer.status, (await answer.read()).decode("utf-8", "replace"), answer.headers

    def socket(self, seat: str = "a", **headers: str) -> Any:
        sent = {"Cookie": f"{COOKIE}={self.gate.cookie}", "Origin": self.gate.origin}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        where = f"ws://{self.gate.authority}{self.gate.path}ws/{seat}?width=90&height=30"
        return self.client.ws_connect(where, headers={k: v for k, v in sent.items() if v})


@asynccontextmanager
async def opened(program: str = SPEAKER, *arguments: str) -> AsyncIterator[Open]:
    listener = listening("127.0.0.1", 0)
    gate = Gate(authority("127.0.0.1", listener.getsockname()[1]))
    runner = web.AppRunner(
        Site(gate, [sys.executable, "-c", program, *arguments], os.environ).application(), access_log=None
    )
    await runner.setup()
    await web.SockSite(runner, listener).start()
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:
        try:
            yield Open(gate, client)
        finally:
            await runner.cleanup()


# The gate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "LOCALHOST", " 127.0.0.1 "])
def test_addresses_of_this_machine(host: str) -> None:
    assert loopback(host) in ("127.0.0.1", "127.8.9.1", "::1")


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.2", "example.org", "localhost.example.org", "", "127.1", "::ffff:10.0.0.1"]
)
def test_no_other_address_is_taken(host: str) -> None:
    with pytest.raises(BadInput, match="loopback"):
        loopback(host)


@given(st.text(max_size=300))
def test_nothing_but_the_token_opens(text: str) -> None:
    gate = Gate("127.0.0.1:1")
    assert not gate.enter(text) and not gate.knows(text) and not gate.spent(text)
    token = gate.entrance.partition("token=")[2]
    assert gate.enter(token)
    assert not gate.enter(token) and gate.spent(token)
    gate.renew()
    assert not gate.enter(token) and not gate.spent(token)
    assert gate.enter(gate.entrance.partition("token=")[2]) and gate.knows(gate.cookie)


def test_no_secret_is_in_what_gets_logged() -> None:
    gate = Gate("127.0.0.1:1")
    assert gate.cookie not in repr(gate) and gate.entrance.partition("token=")[2] not in repr(gate)


# What is asked for -----------------------------------------------------------------------------------------------


async def test_the_token_is_exchanged_for_a_cookie_once() -> None:
    async with opened() as o:
        way = o.gate.entrance.removeprefix(o.gate.origin)
        assert (await o.get(way, method="HEAD", cookie=False))[0] == 403
        assert (await o.get(way, cookie=False, Sec_Purpose="prefetch;prerender"))[0] == 403
        assert (await o.get("/?token=" + "x" * 43, cookie=False))[0] == 403
        status, text, headers = await o.get(way, cookie=False)
        assert status == 200 and o.gate.path in text
        cookie = headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", f"Path={o.gate.path}", o.gate.cookie))
        status, text, headers = await o.get(way, cookie=False)
        assert status == 403 and "already" in text and "Set-Cookie" not in headers


@pytest.mark.parametrize(
    "path", ["", "page.js", "page.css", "static/js/textual.js", "static/", "ws/a", "no-such-thing"]
)
async def test_nothing_is_given_without_the_cookie(path: str) -> None:
    async with opened() as o:
        for wrong in ({}, {"Cookie": f"{COOKIE}=wrong"}, {"Cookie": f"{COOKIE}="}, {"Cookie": "é=1"}):
            assert (await o.get(o.gate.path + path, cookie=False, **wrong))[0] == 403
        assert (await o.get("/" + path, cookie=False))[0] == 403
        assert (await o.get("/elsewhere/" + path, cookie=False))[0] == 403


async def test_everything_there_is_with_the_cookie() -> None:
    async with opened() as o:
        for path, kind in (
            ("", "text/html"),
            ("page.js", "/javascript"),
            ("page.css", "text/css"),
            ("static/js/textual.js", "/javascript"),
            ("static/css/xterm.css", "text/css"),
            ("static/fonts/RobotoMono-VariableFont_wght.ttf", ""),
        ):
            status, _, headers = await o.get(o.gate.path + path)
            assert status == 200 and headers["Content-Type"].partition(";")[0].endswith(kind), path
        for path in ("static/", "static/js/", "static/js/../../server.py", "static/js/%2e%2e/%2e%2e/server.py", "x"):
            assert (await o.get(o.gate.path + path))[0] in (403, 404), path
        assert (await o.get(o.gate.path, method="POST"))[0] == 405
        assert (await o.get(f"/download/k{o.gate.path}"))[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.org"},
        {"Host": "localhost:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:{port}."},
        {"Origin": "http://example.org"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "null"},
    ],
)
async def test_other_names_and_pages_are_refused_with_the_cookie(headers: Mapping[str, str]) -> None:
    async with opened() as o:
        port = o.gate.authority.rpartition(":")[2]
        sent: dict[str, Any] = {name: value.format(port=port) for name, value in headers.items()}
        assert (await o.get(o.gate.path, **sent))[0] == 403
        assert (await o.get(o.gate.entrance.removeprefix(o.gate.origin), cookie=False, **sent))[0] == 403
        assert not o.gate.used
        with pytest.raises(WSServerHandshakeError) as refused:
            await o.socket(**sent)
        assert refused.value.status == 403


@pytest.mark.parametrize("missing", ["Origin", "Cookie"])
async def test_a_connection_needs_both_origin_and_cookie(missing: str) -> None:
    async with opened() as o:
        with pytest.raises(WSServerHandshakeError) as refused:
            await o.socket(**{missing: ""})
        assert refused.value.status == 403


async def test_every_answer_keeps_the_browser_here() -> None:
    async with opened() as o:
        for path, cookie in ((o.gate.path, True), (o.gate.path + "page.js", True), ("/", False), ("/x", False)):
            _, text, headers = await o.get(path, cookie=cookie)
            policy = headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';") and "sandbox" in policy
            assert "allow-popups" not in policy and "frame-ancestors 'none'" in policy
            assert (headers["Referrer-Policy"], headers["Cache-Control"]) == ("no-referrer", "no-store")
            assert "https://" not in text


# What a console says and hears -----------------------------------------------------------------------------------


async def heard(page: Any) -> bytes:
    message = await asyncio.wait_for(page.receive(), 30)
    assert message.type is WSMsgType.BINARY, message
    return bytes(message.data)


async def test_what_a_console_draws_arrives_and_nothing_else() -> None:
    async with opened() as o, o.socket() as page:
        assert await heard(page) == b"hello"
        for said in (
            *("no JSON", "[" * 5_000, "7", "{}", "[]", '["stdin"]', '["stdin", 7]', '["resize", {"width": "x"}]'),
            *('["quit"]', '["focus", 1]', '["deliver_chunk_request", "k"]'),
        ):
            await page.send_str(said)
        await page.send_bytes(b"bytes")
        await page.send_str(json.dumps(["stdin", "가\ud800"]))
        assert await heard(page) == b"D" + "가?".encode(), "the rest was left out"
        await page.send_str(json.dumps(["resize", {"width": 10**9, "height": -1}]))
        assert json.loads((await heard(page))[1:]) == {"type": "resize", "width": 1_000, "height": 1}
        await page.send_str(json.dumps(["ping", "12"]))
        assert (await page.receive_json(timeout=30)) == ["pong", "12"]


async def test_a_page_that_comes_again_is_shown_its_console() -> None:
    async with opened() as o:
        async with o.socket("a") as first, o.socket("b") as second:
            assert (await heard(first), await heard(second)) == (b"hello", b"hello")
            await first.send_str(json.dumps(["stdin", "one"]))
            assert await heard(first) == b"Done"
        async with o.socket("b") as back, o.socket("c") as other, o.socket("a") as another:
            for page in (back, other):
                assert json.loads((await heard(page))[1:]) == {"type": "resize", "width": 90, "height": 30}
                assert json.loads((await heard(page))[1:]) == {"type": "shown"}
            assert await heard(another) == b"hello", "whoever came first took what was left"


async def test_a_console_that_no_page_shows_is_told(tmp_path: Path) -> None:
    left = tmp_path / "left"
    async with opened(FLOODER.replace("quit", "left"), str(left)) as o:
        async with o.socket() as page:
            assert await heard(page) == bytes(4096)
        await asyncio.to_thread(until, left.exists, lambda: "it was never told")


def left_by(folder: Path) -> list[int]:
    return [int(file.name) for file in folder.iterdir()]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Path]:
    """A folder that has the ids of the processes that `STARTED` leaves; they end with the test."""
    yield tmp_path
    for number in left_by(tmp_path):
        os.kill(number, signal.SIGKILL)


async def test_a_seat_has_one_console_however_many_pages_ask_at_once(
    started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_process, "GRACE", 0.1)
    async with opened(STARTED + SPEAKER, str(started)) as o:
        pages = await asyncio.gather(*(o.socket() for __ in range(6)))
        said = await asyncio.gather(*(page.receive() for page in pages))
        assert [message.type for message in said].count(WSMsgType.BINARY) <= 2, "the last one has taken it"
        assert len(left_by(started)) == 1


async def test_a_process_that_outlives_a_console_does_not_keep_the_server(
    started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(T11)"""
    monkeypatch.setattr(console_process, "GRACE", 0.1)
    async with asyncio.timeout(30), opened(STARTED + SPEAKER, str(started)) as o, o.socket() as page:
        assert await heard(page) == b"hello"


@pytest.mark.long
async def test_a_console_that_takes_nothing_any_more_does_not_keep_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """(T11)"""
    monkeypatch.setattr(console_process, "GRACE", 0.1)
    begun = SPEAKER.partition("while True")[0] + "import time; time.sleep(600)"
    async with asyncio.timeout(30), opened(begun) as o, o.socket() as page:
        assert await heard(page) == b"hello"
        for __ in range(4):
            await page.send_str(json.dumps(["stdin", "x" * 200_000]))


async def test_a_console_that_can_not_begin_says_why() -> None:
    async with opened(COMPLAINER) as o, o.socket() as page:
        said = (await heard(page)).decode()
        assert "no " in said and " here" in said
        assert "\x1b[31m" not in said and "\x07" not in said
        assert (await page.receive()).type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED)


@pytest.mark.long
async def test_a_console_may_leave_in_good_order_when_its_page_is_gone(tmp_path: Path) -> None:
    left = tmp_path / "left"
    async with opened(FLOODER, str(left)) as o, o.socket() as page:
        assert await heard(page) == bytes(4096)
    assert left.exists(), "the server's end waited for it"


# A console without its page --------------------------------------------------------------------------------------

CONSOLE = "import sys; from hitl_tui.cli import main; sys.exit(main(sys.argv[1:]))"
COMMANDS = """
[teams.command_team.commands.wait]
run = ["sh", "-c", "while [ ! -e gate ]; do sleep 0.05; done"]
description = "Wait for a file."
risk = "low"
[teams.command_team.commands.wipe]
run = ["touch", "wiped"]
description = "Wipe the disk."
risk = "high"
[teams.command_team.commands.soon]
run = ["touch", "done"]
description = "Go on without an answer."
risk = "low"
[[policy]]
command = "soon"
decision = "ask"
deadline = "1s"
on_deadline = "approve"
"""


class Shown:
    """What a page shows.

    Args:
        page: its connection.
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        self._screen = pyte.Screen(90, 30)
        self._stream = pyte.ByteStream(self._screen)

    async def see(self, *words: str) -> None:
        """Wait until all words are on it."""
        while not all(word in "\n".join(self._screen.display) for word in words):
            self._stream.feed(re.sub(rb"\x1b\[[<>=?]?[\d;]*[uqp$]+", b"", await heard(self._page)))

    async def ready(self, step: str) -> None:
        """Go to the question about a step, and wait until a key decides."""
        await self.see(step, "6 Details")
        await self.key("\x07")
        await self.see(" ready ")

    async def key(self, key: str) -> None:
        await self._page.send_str(json.dumps(["stdin", key]))


@dataclass
class Left:
    """A session whose console is on no page now and then."""

    data: Path
    workspace: Path

    def opened(self) -> Any:
        return opened(CONSOLE, "--data", str(self.data), "--session", "s1")

    def first_shown(self, todo: str) -> str | None:
        """Return when the open question of a step was first shown, empty for never; None where none is open."""
        with closing(sqlite3.connect(f"file:{self.data / 'ledger.db'}?mode=ro", uri=True)) as ledger:
            asked = "SELECT first_shown FROM requests WHERE todo_id = ? AND state = 'open'"
            return next((str(row[0]) for row in ledger.execute(asked, [todo])), None)

    async def until(self, condition: Callable[[], Any], what: str) -> None:
        await asyncio.to_thread(until, condition, lambda: what)


@pytest.fixture
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Left:
    """A session in which further commands were carried out."""
    made = Left(tmp_path / "data", tmp_path / "workspace")
    made.workspace.mkdir()
    (made.workspace / "cap.md").write_text("# Cap\n\nThe cap is 5 percent.\n", encoding="utf-8")
    (made.workspace / "hitl.toml").write_text(COMMANDS, encoding="utf-8")
    trust_workspace(made.data, made.workspace)
    place = ["--data", str(made.data)]
    main(["run", "The cap", "--workspace", str(made.workspace), *place])
    for command in ("/todo approve 001", *request.param):
        main(["do", "s1", command, *place])
    return made


@pytest.mark.long
@pytest.mark.parametrize("left", [["/todo add command_team wipe"]], indirect=True)
async def test_a_key_for_a_page_that_has_shown_nothing_yet_decides_nothing(left: Left) -> None:
    async with left.opened() as o:
        async with o.socket() as page:
            shown = Shown(page)
            await shown.ready("wipe")
        async with o.socket() as page:
            shown = Shown(page)
            await shown.key("1")
            await shown.see("wipe", "6 Details", " ready ")
            assert left.first_shown("todo_002") and not (left.workspace / "wiped").exists()
            await shown.key("1")
            await left.until((left.workspace / "wiped").exists, "it was approved")


@pytest.mark.long
@pytest.mark.parametrize("left", [["/todo add command_team wait", "/todo add command_team soon"]], indirect=True)
async def test_a_question_is_shown_once_a_page_shows_it(left: Left) -> None:
    """(T3)"""
    async with left.opened() as o:
        async with o.socket() as page:
            shown = Shown(page)
            await shown.ready("wait")
            await shown.key("1")
            await shown.see("▸ runs")
        (left.workspace / "gate").touch()
        await left.until(lambda: left.first_shown("todo_003") is not None, "it is asked")
        assert left.first_shown("todo_003") == "", "nobody has seen it, so its second hasn't begun"
        async with o.socket() as page:
            await Shown(page).see("soon", "6 Details")
            await left.until((left.workspace / "done").exists, "it went on without an answer")


def test_a_console_is_told_that_it_is_on_a_page() -> None:
    found = environment({"TMUX": "x", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "7"}, 90, 30)
    assert "TMUX" not in found and found["NO_COLOR"] == "1"
    assert (found["COLUMNS"], found["ROWS"], found["TERM"]) == ("90", "30", "xterm-256color")


@given(st.integers())
def test_sizes_are_such_as_can_be_drawn(cells: int) -> None:
    assert 1 <= clipped(cells) <= 1_000


@pytest.mark.parametrize(("asked", "size"), [("", 16), ("20", 20), ("7", 16), ("41", 16), ("-9", 16), ("²", 16)])
def test_sizes_of_letters(asked: str, size: int) -> None:
    assert font_size(asked) == size


# The command line ------------------------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["web", "--no-open", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    return err


def test_other_hosts_are_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "--data", str(tmp_path), "--host", "0.0.0.0")
    assert "this machine alone" in said and len(said.splitlines()) == 2


def test_a_taken_port_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused(capsys, "--data", str(tmp_path), "--port", port)
    assert port in said and "in use" in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("port", ["x", "65536", "-1", "1.5", "²"])
def test_what_is_no_port(tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str) -> None:
    assert "port" in refused(capsys, "--data", str(tmp_path), f"--port={port}")


def test_a_workspace_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "--data", str(tmp_path), "--workspace", str(tmp_path / "no"))
    assert "doesn't exist" in said


def test_what_is_missing_is_named_with_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_command, "_EXTRA", ("a_package_that_nobody_has",))
    said = refused(capsys, "--data", str(tmp_path))
    assert said.splitlines()[1] == f"Install it with: {install_command('web')}"


def test_a_browser_is_opened_where_there_is_a_screen() -> None:
    assert has_browser({"DISPLAY": ":0"}, "linux") and has_browser({}, "darwin")
    assert not has_browser({}, "linux") and not has_browser({"DISPLAY": ""}, "linux")


@pytest.mark.long
def test_enter_makes_another_address(tmp_path: Path) -> None:
    command = ["-m", "hitl_tui", "web", "--no-open", "--port", "0", "--data", str(tmp_path), "--lang", "en"]
    child = pexpect.spawn(sys.executable, command, encoding="utf-8", timeout=60, dimensions=(24, 200))
    try:
        seen = set()
        for _ in range(2):
            child.expect(r"The console is at (http\S+)\r")
            seen.add(child.match[1])
            child.send("\r")
        assert len(seen) == 2
        child.sendintr()
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 0
    finally:
        child.close(force=True)


@pytest.mark.long
def test_the_address_is_on_no_command_line(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}.part && mv {told}.part {told}\n', encoding="utf-8")
    program.chmod(0o700)
    with served(tmp_path / "data", environ={"BROWSER": str(program)}) as server:
        until(told.exists, lambda: "no browser was opened")
        given = told.read_text(encoding="utf-8").strip()
        assert given.startswith("file:///") and "token" not in given
        page = Path(given.removeprefix("file://"))
        assert server.address in page.read_text(encoding="utf-8")
        assert page.stat().st_mode & 0o777 == 0o600
    assert not page.exists()
