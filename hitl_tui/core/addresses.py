"""Addresses of servers."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_url(text: str) -> bool:
    """Return whether a text is the address of a server."""
    return text[:8].lower().startswith(("http://", "https://"))


def is_here(address: str) -> bool:
    """Return whether an address is of this machine: nobody on the way can pretend to be it, and no proxy is asked."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
