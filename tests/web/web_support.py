"""The real `hitl-tui web` in a process of its own, and a real browser that looks at it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "lease"
TWO = "What is the deposit cap? Who pays for repairs?"
RISE = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
PATIENCE = 60.0
_AFTER_PASTE = 300
"""Milliseconds after which Enter isn't taken for a part of what was pasted."""

_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

# The page keeps its terminal to itself; it is caught as it is made, to read what it shows.
_CATCH = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(value) {
    Object.defineProperty(this, "_core", {value, writable: true, configurable: true});
    if (typeof this.loadAddon === "function") window.caught = this;
  },
});
"""
_READ = """() => {
  const terminal = window.caught, lines = [];
  for (let y = 0; terminal && y < terminal.rows; y++)
    lines.push(terminal.buffer.active.getLine(terminal.buffer.active.baseY + y)?.translateToString(false) ?? "");
  return lines;
}"""
_CELLS = """() => {
  const box = document.querySelector(".xterm-screen").getBoundingClientRect();
  return [box.left, box.top, box.width / window.caught.cols, box.height / window.caught.rows];
}"""


def chromium() -> str:
    """Return where Chromium is; empty when it isn't installed."""
    found = next((path for name in _CHROMIUMS if (path := shutil.which(name))), "")
    return found or (str(_MAC) if _MAC.exists() else "")


def until(condition: Callable[[], Any], what: Callable[[], str]) -> Any:
    """Wait until a condition holds; return what it gave."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)  # another process's work is waited for
    return found


class Served:
    """A server, started for one test.

    Args:
        data: the data folder.
        workspace: what its consoles work in.
        options: more of the command line.
        environ: more of the environment.
    """

    def __init__(self, data: Path, workspace: Path, *options: str, environ: dict[str, str] | None = None) -> None:
        self.data = data
        inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LANG", "LC_ALL", "DISPLAY")}
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "hitl_tui", "web", "--port", "0"),
                *([] if environ and "BROWSER" in environ else ["--no-open"]),
                *("--data", str(data), "--workspace", str(workspace), *options),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**inherited, "HITL_USER": "ops", "LC_ALL": "C.UTF-8", **(environ or {})},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=\S+", line)
        assert match, line + self.process.stdout.read()
        self.address, self.origin = match[0], match[1]

    @property
    def consoles(self) -> list[int]:
        """Process ids of the consoles that are running."""
        listed = subprocess.run(["ps", "-axww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
        mark = f" -m hitl_tui --data={self.data} "
        return [int(line.split()[0]) for line in listed.splitlines() if mark in line]

    def do(self, session: str, command: str) -> dict[str, Any]:
        """Carry a command out beside the browser; return what it answers."""
        found = subprocess.run(
            [sys.executable, "-m", "hitl_tui", "do", session, command, "--json", "--data", str(self.data)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=PATIENCE,
        )
        answer: dict[str, Any] = json.loads(found.stdout)
        return answer

    def end(self, number: int = signal.SIGINT) -> int:
        """End it as Ctrl+C does; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def served(data: Path, workspace: Path = EXAMPLE, *options: str, **settings: Any) -> Iterator[Served]:
    """A server that ends with the test, and its consoles with it."""
    server = Served(data, workspace, *options, **settings)
    try:
        yield server
    finally:
        server.end()
        until(lambda: not server.consoles, lambda: f"consoles are left: {server.consoles}")


class Seen:
    """A page with a console on it.

    Args:
        context: the browser's profile; what it asks for is kept in `asked`.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.asked: list[str] = []
        self.opened: list[Page] = []
        self.errors: list[str] = []
        context.on("request", self._ask)
        context.add_init_script(_CATCH)
        self.page = context.new_page()
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        context.on("page", lambda page: self.opened.append(page))

    def _ask(self, request: Request) -> None:
        self.asked.append(request.url)

    def enter(self, server: Served) -> None:
        """Go to the printed address."""
        self.page.goto(server.address)
        self.page.wait_for_url(lambda url: "token" not in url)

    @property
    def lines(self) -> Sequence[str]:
        """What the terminal on the page shows."""
        found: list[str] = self.page.evaluate(_READ)
        return found

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def see(self, *words: str, without: str = "") -> None:
        """Wait until all words are on the screen, and one isn't."""

        def there() -> bool:
            text = self.text
            return all(w in text for w in words) and not (without and without in text)

        until(there, lambda: f"never seen: {words} without {without!r}\n{self.text}")

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type a line and send it."""
        self.page.keyboard.insert_text(text)
        self.see(text[:12])
        self.page.wait_for_timeout(_AFTER_PASTE)
        self.keys("Enter")

    def place(self, word: str) -> tuple[float, float]:
        """Return where a word stands on the page, in pixels."""
        row, column = next((y, line.index(word)) for y, line in enumerate(self.lines) if word in line)
        left, top, width, height = self.page.evaluate(_CELLS)
        return left + (column + 1.5) * width, top + (row + 0.5) * height

    def drag(self, what: str, onto: str) -> None:
        """Drag a row by the mouse; it is let go once the mark is seen."""
        (x, y), (to_x, to_y) = self.place(what), self.place(onto)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x, (y + to_y) / 2)
        mouse.move(to_x, to_y)
        self.see("Esc: back")
        mouse.up()


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()
