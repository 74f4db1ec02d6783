"""The console in a real browser, from the command line to the mouse (D17)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from people import write_approvers
from playwright.sync_api import Browser
from web_support import RISE, TWO, Seen, browser, chromium, served, until

pytestmark = [pytest.mark.long, pytest.mark.skipif(not chromium(), reason="Chromium isn't installed")]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def seen(chrome: Browser) -> Iterator[Seen]:
    context = chrome.new_context(viewport={"width": 1200, "height": 800})
    yield Seen(context)
    context.close()


def test_a_session_by_keyboard_and_mouse(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("10,000 duplicate records", "your question or job")
        seen.type(TWO)
        seen.see("6 Details", "? asks", " 002 ")
        assert len(server.consoles) == 1

        seen.drag("002  search", "001  search")
        seen.see("002 is before 001 now.")
        told = server.do("s1", "/todos")
        assert [t["id"] for t in told["todos"]] == ["todo_002", "todo_001"]
        assert {t["status"] for t in told["todos"]} == {"waiting_approval"}, "a drag approves nothing"

        seen.keys("Shift+ArrowDown")
        seen.see("002 is after 001 now.")
        assert [t["id"] for t in server.do("s1", "/todos")["todos"]] == ["todo_001", "todo_002"]

        seen.keys("Control+g")
        seen.see(" ready ━")
        seen.keys("1")
        seen.see("✓ done")
        told = server.do("s1", "/todos")
        assert told["summary"]["completed"] == 1
        assert seen.errors == [] and seen.opened == []
        host = server.origin.removeprefix("http://")
        assert {url.split("/")[2] for url in seen.asked if not url.startswith("data:")} == {host}
        assert any(url.startswith("ws://") for url in seen.asked)


def test_the_address_lets_one_browser_in(tmp_path: Path, chrome: Browser, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        cookie = seen.context.cookies(seen.page.url)[0]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert seen.context.cookies(server.origin) == [], "it is sent to the console's own path only"
        other = chrome.new_context()
        try:
            page = other.new_page()
            answer = page.goto(server.address)
            assert answer is not None and answer.status == 403
            assert "already" in page.inner_text("body")
            answer = page.goto(seen.page.url)
            assert answer is not None and answer.status == 403
        finally:
            other.close()
        assert len(server.consoles) == 1


def test_a_page_that_is_loaded_again_finds_its_console(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        seen.type(RISE)
        seen.see("6 Details", "? asks")
        before = server.consoles
        seen.page.keyboard.insert_text("a draft that isn't sent")
        seen.see("a draft that")
        seen.page.reload()
        seen.see("6 Details", "? asks", "a draft that isn't sent")
        assert server.consoles == before
        seen.page.mouse.click(*seen.place("draft"))
        seen.keys("End", *["Backspace"] * 40)
        seen.see("? asks", without="draft")
        seen.keys("Control+g")
        seen.see(" ready ━")
        seen.keys("1")
        seen.see("✓ done")
        seen.keys("Escape", "Control+q")
        until(lambda: not server.consoles, lambda: "the console is left")
        seen.page.click("#again")  # waits until it can be seen
        seen.see("? asks", "✓ done")


def test_a_page_that_is_closed_leaves_its_console_for_another(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        second = seen.context.new_page()
        second.goto(seen.page.url)
        until(lambda: len(server.consoles) == 2, lambda: f"{server.consoles}")
        consoles = server.consoles
        second.close()
        seen.see("your question or job")
        third = seen.context.new_page()
        third.goto(seen.page.url)
        third.wait_for_selector("body.-loaded")
        assert server.consoles == consoles


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_consoles_end_with_the_server(tmp_path: Path, seen: Seen, number: int) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        assert server.consoles
        code = server.end(number)
        assert code == (-number if number == signal.SIGKILL else 0)
        until(lambda: not server.consoles, lambda: f"{server.consoles}")
        seen.page.wait_for_selector("#again", state="visible")


def test_a_console_that_dies_is_told(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        os.kill(server.consoles[0], signal.SIGKILL)
        seen.page.wait_for_selector("#again", state="visible")


def test_addresses_in_texts_open_nothing(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        seen.page.keyboard.insert_text("see http://example.org/stolen now")
        seen.see("example.org")
        x, y = seen.place("example.org")
        seen.page.mouse.move(x, y)
        seen.page.mouse.click(x, y)
        seen.page.mouse.dblclick(x, y)
        seen.keys("F1")
        seen.see("All keys and commands")
        assert seen.opened == []
        assert not [url for url in seen.asked if "example.org" in url]
        assert seen.page.evaluate("window.open('http://example.org/') === null")
        refused = "fetch('http://example.org/').then(() => 'came', () => 'refused')"
        assert seen.page.evaluate(refused) == "refused"


class _Elsewhere(BaseHTTPRequestHandler):
    """Another program's page on this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title>")
        self.server.cookies.append(self.headers.get("Cookie", ""))  # type: ignore[attr-defined]

    def log_message(self, format: str, *args: object) -> None:
        return


def test_another_page_of_this_machine_gets_nothing(tmp_path: Path, seen: Seen) -> None:
    elsewhere = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    elsewhere.cookies = []  # type: ignore[attr-defined]
    threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
    try:
        with served(tmp_path / "data") as server:
            seen.enter(server)
            seen.see("your question or job")
            own = seen.page.url
            other = seen.context.new_page()
            other.goto(f"http://127.0.0.1:{elsewhere.server_address[1]}/")
            assert elsewhere.cookies and not any(elsewhere.cookies)  # type: ignore[attr-defined]
            socket = own.replace("http", "ws", 1) + "ws/a"
            attempt = """url => new Promise(done => {
                const socket = new WebSocket(url);
                socket.onopen = () => done("open");
                socket.onerror = () => done("refused");
            })"""
            assert other.evaluate(attempt, socket) == "refused"
            read = "url => fetch(url, {credentials: 'include'}).then(r => r.text(), () => 'refused')"
            assert other.evaluate(read, own) == "refused"
            frame = """url => new Promise(done => {
                const frame = document.createElement("iframe");
                frame.onload = () => done(frame.contentDocument === null ? "nothing" : "seen");
                frame.src = url; document.body.append(frame);
            })"""
            assert other.evaluate(frame, own) == "nothing"
            answer = other.goto(own.replace("127.0.0.1", "localhost"))
            assert answer is not None and answer.status == 403
            assert len(server.consoles) == 1
    finally:
        elsewhere.shutdown()
        elsewhere.server_close()


def test_wide_characters_fill_their_cells(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        wide, letter = seen.page.evaluate(
            """() => {
                const pen = document.createElement("canvas").getContext("2d");
                pen.font = "100px 'Roboto Mono'";
                return [pen.measureText("가나다라").width / 4, pen.measureText("a").width];
            }"""
        )
        if not seen.page.evaluate(
            "() => [...document.fonts].some(f => f.unicodeRange != 'U+0-10FFFF' && f.status == 'loaded')"
        ):
            pytest.skip("no font with Hangul is installed here")
        assert 1.05 * letter * 2 > wide > 0.9 * letter * 2


def test_a_page_in_korean(tmp_path: Path, seen: Seen) -> None:
    with served(tmp_path / "data", environ={"HITL_LANG": "ko"}) as server:
        seen.enter(server)
        seen.see("F1")
        assert seen.page.evaluate("document.documentElement.lang") == "ko"
        seen.page.keyboard.insert_text("전세금 상한")
        seen.see("전세금 상한")


def test_no_token_is_taken_on_a_page(tmp_path: Path, seen: Seen) -> None:
    write_approvers(tmp_path / "data", "ann")
    with served(tmp_path / "data") as server:
        seen.enter(server)
        seen.see("your question or job")
        seen.type(RISE)
        seen.see("? asks")
        seen.type("/as ann /todo approve")
        seen.see("A token is only taken at a terminal", without="Token of ann")
