"""Serves the console to browsers of this machine: each open page has a process of the console of its own, which lives
on for a while when the page is gone, so that a page that is loaded again finds it.

The browser that is opened gets an address that lets it in, without showing the address to others on this machine.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import TypeAlias

from aiohttp import WSCloseCode, WSMsgType, web

from hitl_tui.language import _, language
from hitl_tui.web.auth import COOKIE, Gate, authority
from hitl_tui.web.console_process import GRACE, ServedConsole, clipped
from hitl_tui.web.listening import listening

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "page"
FONT_SIZES = range(8, 41)
USUAL_SIZE = 16


def headers(origin: str) -> Mapping[str, str]:
    """Return the headers of every answer: nothing is loaded from elsewhere, opened, framed, kept or told on."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # the terminal sets its own; it can load nothing by that
        "font-src 'self'",
        "img-src 'self' data:",
        f"connect-src 'self' {origin.replace('http', 'ws', 1)}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "sandbox allow-scripts allow-same-origin",
    )
    return MappingProxyType(
        {
            "Content-Security-Policy": "; ".join(policy),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "clipboard-read=(), camera=(), geolocation=(), microphone=(), usb=()",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Cache-Control": "no-store",
        }
    )


def console_page(socket: str, size: int) -> str:
    """Return the page that shows a console.

    Args:
        socket: address of its connection.
        size: of the letters, in pixels.
    """
    texts = {
        "socket": socket,
        "size": str(size),
        "ended": _("No console is shown here any more; its session continues when opened again."),
        "again": _("Open it again"),
        "noscript": _("The console needs JavaScript."),
    }
    return _page("index.html", **{key: escape(text) for key, text in texts.items()})


def font_size(asked: str) -> int:
    """Return the size of the letters that `?fontsize=` asks for, or the usual one."""
    size = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 4 else USUAL_SIZE
    return size if size in FONT_SIZES else USUAL_SIZE


def entered_page(path: str) -> str:
    """Return the page that goes on to the console: as a step of its own, for a cookie that only goes with steps that
    begin here isn't sent with one that another program or page began."""
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(path)}" />'
    link = f'<a href="{escape(path)}">hitl-tui</a>'
    return _page("said.html", refresh=refresh, said=link)


def said_page(sentence: str) -> str:
    """Return a page of one sentence."""
    return _page("said.html", refresh="", said=escape(sentence))


def _page(name: str, **parts: str) -> str:
    template = Template((FOLDER / name).read_text(encoding="utf-8"))
    return template.substitute(lang=language(), **parts)


MOST = 16
"""Consoles that may be open at once."""

_OWN = ("page.css", "page.js")
_LONGEST_MESSAGE = 8 * 1024 * 1024

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class WebOptions:
    """How the console is served.

    Args:
        address: a loopback address.
        port: 0 for any that is free.
        command: argument vector that starts a console.
        environ: environment of the consoles.
    """

    address: str
    port: int
    command: tuple[str, ...]
    environ: Mapping[str, str]


class Site:
    """The pages, the gate before them, and the consoles behind them.

    Args:
        gate: who may come in.
        command: argument vector that starts a console.
        environ: environment of the consoles.
    """

    def __init__(self, gate: Gate, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._gate = gate
        self._environ = environ
        self._command = tuple(command)
        self._headers = headers(gate.origin)
        self._consoles: list[ServedConsole] = []
        self._ended = False

    def application(self) -> web.Application:
        """Return what aiohttp serves."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guarded(request, handler)

        application = web.Application(middlewares=[guard], client_max_size=1)
        application.on_response_prepare.append(self._complete)
        application.on_shutdown.append(self._shut)
        path = self._gate.path
        own = [web.get(path + name, self._file) for name in _OWN]
        static = Path(str(files("textual_serve"))) / "static"
        application.add_routes(
            [
                web.get("/", self._enter),
                web.get(path, self._index),
                web.get(path + "ws/{seat}", self._socket),
                *own,
                *(web.static(f"{path}static/{name}", static / name) for name in ("css", "fonts", "js")),
            ]
        )
        return application

    # The gate --------------------------------------------------------------------------------------------------

    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what another page, another name of this machine or somebody without the cookie asks for."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if host != self._gate.authority:
            return self._refused(_("This isn't the address that was printed."))
        if origin is not None and origin != self._gate.origin:
            return self._refused(_("Another page asked for this."))
        if request.path != "/" and not self._gate.knows(request.cookies.get(COOKIE, "")):
            return self._refused(_("Only the address that hitl-tui web prints lets a browser in."))
        try:
            return await handler(request)
        except web.HTTPException as error:
            return self._said(error.status, error.reason)

    def _refused(self, sentence: str) -> web.Response:
        return self._said(403, sentence)

    def _said(self, status: int, sentence: str) -> web.Response:
        return web.Response(status=status, text=said_page(sentence), content_type="text/html", charset="utf-8")

    async def _complete(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self._headers)

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        """Exchange the token for the cookie, once."""
        token = request.query.get("token", "")
        if self._gate.spent(token):
            return self._refused(_("This address was already used. For another, press Enter where hitl-tui web runs."))
        ahead = "prefetch" in request.headers.get("Sec-Purpose", "")  # nobody went there yet
        if request.method != "GET" or ahead or not self._gate.enter(token):
            return self._refused(_("Only the address that hitl-tui web prints lets a browser in."))
        response = web.Response(text=entered_page(self._gate.path), content_type="text/html", charset="utf-8")
        response.set_cookie(COOKIE, self._gate.cookie, path=self._gate.path, httponly=True, samesite="Strict")
        return response

    # What is behind it -----------------------------------------------------------------------------------------

    async def _index(self, request: web.Request) -> web.StreamResponse:
        where = f"ws://{self._gate.authority}{self._gate.path}ws"
        page = console_page(where, font_size(request.query.get("fontsize", "")))
        return web.Response(text=page, content_type="text/html", charset="utf-8")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(FOLDER / request.path.rpartition("/")[2])

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """Show a console on a page, for as long as both are there: the page's own, one that was left, or another."""
        if "Origin" not in request.headers:
            return self._refused(_("Another page asked for this."))
        page = web.WebSocketResponse(timeout=GRACE, heartbeat=15, compress=False, max_msg_size=_LONGEST_MESSAGE)
        await page.prepare(request)
        await self._clear()  # a page that is loaded again wants the session that its console is still putting away
        seat, shown = request.match_info["seat"], [c for c in self._consoles if not c.over]
        own = [c for c in shown if c.seat == seat] or [c for c in shown if c.page is None]
        if self._ended:
            await page.close(code=WSCloseCode.GOING_AWAY)
            return page
        if not own and len(self._consoles) >= MOST:
            await page.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"too many consoles are open")
            return page
        console = own[-1] if own else ServedConsole(self._command, self._environ)
        if not own:
            self._consoles.append(console)
        try:
            await console.show(page, seat, _cells(request, "width", 80), _cells(request, "height", 24))
            await self._listen(page, console)
        finally:
            await console.left(page)
            await self._clear()
        return page

    async def _listen(self, page: web.WebSocketResponse, console: ServedConsole) -> None:
        async for message in page:
            if message.type is WSMsgType.TEXT:
                with suppress(ValueError, RecursionError):  # not JSON: no page of ours said it
                    if console.page is page:  # else another page took it, and what this one shows is old
                        await console.heard(json.loads(message.data))

    async def _clear(self) -> None:
        """Put away the consoles that have ended."""
        over = [console for console in self._consoles if console.over]
        await asyncio.gather(*(console.stop() for console in over))
        self._consoles = [console for console in self._consoles if console not in over]

    async def _shut(self, application: web.Application) -> None:
        """Let all consoles go at once; none begins any more."""
        self._ended = True
        await asyncio.gather(*(console.stop() for console in self._consoles))


def _cells(request: web.Request, name: str, usual: int) -> int:
    asked = request.query.get(name, "")
    return clipped(int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 6 else usual


async def serve(options: WebOptions, ready: Callable[[Gate], Callable[[], None]]) -> None:
    """Serve until a signal ends it, and all consoles with it.

    Args:
        options: where, and what.
        ready: called once it listens; returns what is called at the end.

    Raises:
        BadInput: the port can't be had.
    """
    listener = listening(options.address, options.port)
    gate = Gate(authority(options.address, listener.getsockname()[1]))
    site = Site(gate, options.command, options.environ)
    runner = web.AppRunner(site.application(), access_log=None, handle_signals=False, shutdown_timeout=GRACE + 5)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    try:
        await runner.setup()
        await web.SockSite(runner, listener).start()
        finish = ready(gate)
        try:
            await ended.wait()
        finally:
            finish()
    finally:
        await runner.cleanup()
        listener.close()


def has_browser(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether there is a screen to open a browser on: one in a terminal would take this one."""
    return platform == "darwin" or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def open_browser(address: str, folder: Path) -> Path | None:
    """Open a browser, through a file that only its owner can read: a command line can be read by everybody.

    Args:
        address: where to.
        folder: where the file is made.

    Returns:
        The file, to be removed in the end; None when it couldn't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="web-", suffix=".html", dir=folder)
    except OSError:
        return None
    page = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<title>hitl-tui</title><a href="{escape(address)}" rel="noreferrer">hitl-tui</a>\n'
        )
    # Some browsers are waited for until they are closed, and this one needs the server meanwhile.
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), name="browser", daemon=True).start()
    return page
