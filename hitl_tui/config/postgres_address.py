"""Addresses of PostgreSQL databases: which may be given where, and how they are shown to people."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask, safe_text

SCHEMES = ("postgresql://", "postgres://")

ENVIRONMENT = "HITL_DATABASE"
OPTION = "--database"

_PREAMBLES = (
    r"^connection failed: ",
    r"^connection is bad: ",
    r"^connection to server at [^,]+, port \d+ failed: ",
    r"^connection to server on socket \S+ failed: ",
    r"^FATAL: +",
)
_PASSWORD = re.compile(r"[?&]password=([^&]*)")


def database_address(given: str, source: str) -> str:
    """Return the address of a database that somebody gave; empty where nothing was given.

    Args:
        given: what stands there.
        source: `OPTION` or `ENVIRONMENT`, which is named where it can't be used.

    Raises:
        BadInput: it isn't the address of a PostgreSQL database, or tells a password where others can read it.
    """
    if not given:
        return ""
    if not given.startswith(SCHEMES):
        raise BadInput(
            Message("{} takes the address of a PostgreSQL database, not {}.", source, safe_text(given, limit=100)),
            help=Message("It looks like postgresql://user@host:5432/database. For a folder: --data DIR."),
        )
    try:
        port_of(given)
    except ValueError:
        raise BadInput(
            Message("{} isn't the address of a PostgreSQL server.", shown_address(given)),
            help=Message("It looks like postgresql://user@host:5432/database."),
        ) from None
    if source == OPTION and _password_in(given):
        raise BadInput(
            Message("{} must not hold a password: everybody on this machine can read command lines.", source),
            help=Message("Put it into PGPASSWORD, ~/.pgpass or a service file (?service=NAME)."),
        )
    return given


def port_of(address: str) -> int | None:
    """Return the port in an address. Raises ValueError: it isn't one."""
    return urlsplit(address).port


def shown_address(address: str) -> str:
    """Return an address fit to be shown: user, host, port and database, nothing else."""
    try:
        parts = urlsplit(address)
        user = unquote(parts.username or "")
        place = f"{f'{user}@' if user else ''}{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
        return safe_text(f"postgresql://{place}{unquote(parts.path)}", multiline=False, limit=300)
    except ValueError:
        return Message("The address given")


def _password_in(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    told = _PASSWORD.search(parts.query and f"?{parts.query}")
    return unquote(parts.password or (told[1] if told else ""))


def server_words(error: Exception, address: str) -> str:
    """Return what a server or the driver says, in one line and without the password."""
    said = " ".join(str(error).split())
    for pattern in _PREAMBLES:
        said = re.sub(pattern, "", said)
    said = said.partition(" Is the server running ")[0].removesuffix(".")
    hidden = said.replace(address, shown_address(address))
    password = _password_in(address) or os.environ.get("PGPASSWORD", "")
    return safe_text(mask(hidden, {"password": password}), multiline=False, limit=300)
