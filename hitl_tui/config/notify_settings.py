"""`[notify]`: whom to tell of requests. It is in hitl.toml of a workspace and in settings.toml of the data folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message

MOMENTS = ("opened", "half_time", "decided")
_WITH_HOST = frozenset({"json", "jsons", "form", "forms", "xml", "xmls", "mailto", "mailtos"})
"""Kinds of addresses whose host is one; that of others is often a token."""
_HOLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://\S+")
_PASSWORD = re.compile(r"[^/?#]*:([^/?#@]*)@")


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """`[notify]`.

    Args:
        targets: addresses as Apprise takes them, with `${NAME}` where the environment has a secret.
        on: of what to tell: some of `MOMENTS`.
        arguments: tell what a call would run with, too, and not only what is asked.
    """

    targets: tuple[str, ...] = ()
    on: tuple[str, ...] = MOMENTS
    arguments: bool = False


def address_problem(address: str) -> str:
    """Return why an address can't be one, as the rest of a sentence about it; empty where it can."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return Message("must be an address as Apprise takes it, such as {}", '"slack://${SLACK_TOKENS}"')
    if any(not _NAME.fullmatch(name) for name in _HOLE.findall(address)):
        return Message("names no variable of the environment in {}", "${}")
    password = _PASSWORD.match(address[len(found[1]) + 3 :])
    if password is not None and password[1] and not _HOLE.fullmatch(password[1]):
        return Message("must not hold a password; write {} and set it in the environment", "${NAME}")
    return ""


def scheme_of(address: str) -> str:
    """Return what kind of address it is: all of it that is ever shown."""
    return address.partition("://")[0]


def shown_address(address: str) -> str:
    """Return what is shown of an address before it is trusted: where it leads, where its kind has that in its host."""
    from urllib.parse import urlsplit

    scheme = scheme_of(address)
    if scheme not in _WITH_HOST:
        return scheme
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    return f"{scheme}://{host or '?'}"


def filled_address(address: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return an address with its secrets, as it stands in an URL, and the secrets by name.

    Raises:
        BadInput: the environment lacks one; its `names` are those that it lacks.
    """
    from urllib.parse import quote

    names = _HOLE.findall(address)
    lacks = sorted({name for name in names if not environ.get(name)})
    if lacks:
        raise LacksVariable(lacks)
    secrets = {name: environ[name] for name in names}
    begin = address.find("://") + 3
    login = begin + address[begin:].partition("/")[0].rfind("@")

    def fill(hole: re.Match[str]) -> str:
        # One that is a whole part of a path, as `T/B/X` of Slack, keeps its slashes; a password doesn't.
        return quote(environ[hole[1]], safe="" if hole.end() <= login else "/")

    return _HOLE.sub(fill, address), secrets


class LacksVariable(BadInput):
    """An address needs variables that the environment doesn't have.

    Args:
        names: their names.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(Message("{} isn't set in the environment", ", ".join(names)))
        self.names = tuple(names)
