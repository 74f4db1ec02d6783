"""What a browser is given: the page of the console, short pages that say something, and what goes with all of them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType

from hitl_tui.language import _, language

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
    return _filled(
        "index.html",
        socket=socket,
        size=str(size),
        ended=_("The console has ended; its session goes on when it is opened again."),
        again=_("Open it again"),
        noscript=_("The console needs JavaScript."),
    )


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


def _filled(name: str, **texts: str) -> str:
    return _page(name, **{key: escape(text) for key, text in texts.items()})


def _page(name: str, **parts: str) -> str:
    template = Template((FOLDER / name).read_text(encoding="utf-8"))
    return template.substitute(lang=language(), **parts)
