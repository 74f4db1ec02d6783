"""Listening at an address of this machine."""

from __future__ import annotations

import errno
import ipaddress
import socket

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line


def given_address(text: str, option: str, usual: int) -> tuple[str, int]:
    """Return the address and port that HOST:PORT names; either may be missing.

    Args:
        text: what was given.
        option: the option that it was given with.
        usual: the port where none is named.

    Raises:
        BadInput: it names none.
    """
    host, colon, number = text.strip().rpartition(":")
    if not colon and number.isdigit():
        host, number = "", number
    elif not colon or number.endswith("]"):
        host, number = text.strip(), ""
    host = host.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address("127.0.0.1" if host.lower() in ("", "localhost") else host)
        port = int(number) if number else usual
    except ValueError:
        address, port = None, -1
    if address is None or not number.isascii() or not 0 <= port <= 65_535:
        raise BadInput(
            Message(
                "{} takes an address and a port, such as 127.0.0.1:{}, not {}.", option, usual, repr(one_line(text, 60))
            )
        )
    return str(address), port


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        BadInput: the port can't be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((address, port))
        found.listen(64)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                Message("Port {} of {} is in use by another program; port 0 picks a free one.", port, address)
            ) from error
        why = error.strerror or error
        raise BadInput(
            Message("Port {} of {} can't be used ({}); port 0 picks a free one.", port, address, why)
        ) from error
    return found
