"""Declared tools: functions, LangChain tools and tools of MCP servers that become teams."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from hitl_tui.config.declared_commands import argument_problem
from hitl_tui.config.problems import Problem, quoted
from hitl_tui.core.addresses import is_url
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk

DEFAULT_TIMEOUT = 600.0
"""Seconds that one call may take where nothing else is declared."""


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """One `[teams.NAME]` of kind `function`, `tool` or `mcp`.

    Args:
        name: the team's name.
        kind: which of the three.
        target: `path.py:attribute` or `module:attribute`; empty for a tool of an MCP server.
        server: how an MCP server is reached: the argument vector that starts it, or its address alone.
        tool: the tool's name on that server.
        description: one line; empty for what the tool says of itself.
        risk: risk class of calling it.
        retries: how often a failure is tried again.
        idempotent: calling it twice does no more than calling it once.
        timeout: seconds one call may take.
        optional: a failure skips the step instead of blocking what depends on it.
        folder: absolute path of the workspace it is declared in; empty where that isn't known.
        pins: patterns of files that an approval of it doesn't bind, the workspace's own among them.
    """

    name: str
    kind: str
    target: str = ""
    server: tuple[str, ...] = ()
    tool: str = ""
    description: str = ""
    risk: Risk = Risk.HIGH
    retries: int = 0
    idempotent: bool = False
    timeout: float = DEFAULT_TIMEOUT
    optional: bool = False
    folder: str = ""
    pins: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The address of its MCP server; empty for one that is started here, and for other kinds."""
        return self.server[0] if len(self.server) == 1 and is_url(self.server[0]) else ""

    @property
    def max_retries(self) -> int:
        """How often a failure is tried again by itself: never what could do something twice."""
        return self.retries if self.risk is Risk.LOW or self.idempotent else 0

    @property
    def calls(self) -> str:
        """What is called, in one line."""
        if self.kind != "mcp":
            return self.target
        return f"{self.tool} @ {self.url or shlex.join(self.server)}"


def target_problems(key: str, target: str) -> Iterator[Problem]:
    """Yield what is wrong with `path.py:attribute` or `module:attribute`."""
    place, colon, attribute = target.rpartition(":")
    if problem := argument_problem(target):
        yield Problem((key,), problem)
    elif not colon or not place or not all(part.isidentifier() for part in attribute.split(".")):
        yield Problem((key,), Message('must be "file.py:name" or "package.module:name", but it is {}', quoted(target)))


def server_problems(server: str | list[str]) -> Iterator[Problem]:
    """Yield what is wrong with the address of an MCP server, or with the argument vector that starts one."""
    if isinstance(server, str):
        if not is_url(server):
            said = Message(
                "must be an address (https://…) or a list of program and arguments, but it is {}", quoted(server)
            )
            yield Problem((), said)
    elif not server or not server[0]:
        yield Problem((), Message("must name a program, but it is empty"))
    else:
        for number, argument in enumerate(server):
            if problem := argument_problem(argument):
                yield Problem((number,), problem)
