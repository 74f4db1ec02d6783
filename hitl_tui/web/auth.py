"""Who may come in: the address that is printed lets one browser in, once, and a cookie knows it afterwards. Pure.

Cookies don't tell ports apart: any other server on this machine that a browser visits is sent them. So the cookie is
bound to a path that nobody else can know, and all that there is lies below it.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from hmac import compare_digest

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

COOKIE = "hitl-tui"
_LONGEST = 256


def loopback(host: str) -> str:
    """Return the address of this machine that a host's name stands for.

    Raises:
        BadInput: it is another machine's, or reached from others.
    """
    name = host.strip().removeprefix("[").removesuffix("]")
    if name.lower() == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if address is None or not address.is_loopback or "%" in name:
        raise BadInput(
            Message(
                "The console is for this machine alone: --host takes a loopback address, not {}.",
                repr(one_line(host, 60)),
            ),
            help=Message("From another machine: ssh -L 8765:127.0.0.1:8765 HOST, and open the printed address there."),
        )
    return str(address)


def authority(address: str, port: int) -> str:
    """Return `127.0.0.1:8765` or `[::1]:8765`, as it stands in an address."""
    host = f"[{address}]" if ":" in address else address
    return host if port == 80 else f"{host}:{port}"


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass
class Gate:
    """The token of the printed address, and the cookie that it is exchanged for.

    Args:
        authority: host and port as a browser has to name them.
        place: the first part of every path but the entrance's.
        cookie: value of the cookie.
    """

    authority: str
    place: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    cookie: str = field(default_factory=_secret, repr=False)
    _token: str = field(default_factory=_secret, repr=False)
    used: bool = False

    @property
    def origin(self) -> str:
        """What a browser calls the origin of its pages."""
        return f"http://{self.authority}"

    @property
    def entrance(self) -> str:
        """The address that lets one browser in."""
        return f"{self.origin}/?token={self._token}"

    @property
    def path(self) -> str:
        """Where everything lies."""
        return f"/{self.place}/"

    def enter(self, token: str) -> bool:
        """Return whether a token opens the gate, which it does once."""
        if self.used or not _same(token, self._token):
            return False
        self.used = True
        return True

    def renew(self) -> None:
        """Make another address; the one before lets nobody in any more."""
        self._token, self.used = _secret(), False

    def spent(self, token: str) -> bool:
        """Return whether it is the token, after it was used."""
        return self.used and _same(token, self._token)

    def knows(self, cookie: str) -> bool:
        """Return whether somebody came in before."""
        return _same(cookie, self.cookie)


def _same(given: str, known: str) -> bool:
    return len(given) <= _LONGEST and compare_digest(given.encode("utf-8", "replace"), known.encode())
