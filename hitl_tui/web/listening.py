"""Listening at an address of this machine."""

from __future__ import annotations

import errno
import socket

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message


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
