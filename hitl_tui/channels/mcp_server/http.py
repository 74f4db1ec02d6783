"""MCP over streamable HTTP: every request carries a token, which says whether an agent or an approver sent it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route

from hitl_tui.channels.callers import Callers
from hitl_tui.channels.http_serving import local_names, serve_http
from hitl_tui.channels.mcp_server.server import Caller, CheckpointServer
from hitl_tui.core.identity import Identity

PATH = "/mcp"
_AGENT = "agent"


class _Tokens(TokenVerifier):
    """Says whose a token is.

    Args:
        callers: who is known.
    """

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    async def verify_token(self, token: str) -> AccessToken | None:
        approver = self._callers.approver(token)
        if approver is None and not self._callers.is_agent(token):
            return None
        return AccessToken(
            token=token, client_id=_AGENT if approver is None else f"approver {approver.name}", scopes=[]
        )


def caller_of(callers: Callers) -> Caller:
    """Return what says who sent an HTTP request: looked up anew, for tokens end."""

    def caller(request: Any) -> Identity | None:
        token = str(request.user.access_token.token)
        return None if callers.is_agent(token) else callers.the_approver(token)

    return caller


def application(manager: StreamableHTTPSessionManager, callers: Callers) -> Starlette:
    """Return what uvicorn serves."""
    guarded = RequireAuthMiddleware(manager.handle_request, [])
    known = Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(_Tokens(callers)))
    return Starlette(routes=[Route(PATH, endpoint=guarded)], middleware=[known])


async def serve(
    server: CheckpointServer,
    callers: Callers,
    listener: socket.socket,
    *,
    local: bool,
    ready: Callable[[], object],
) -> None:
    """Serve clients until cancelled.

    Args:
        server: the server.
        callers: whose tokens let them in.
        listener: a socket that listens.
        local: it listens at a loopback address, so no other host's name leads there.
        ready: called once requests are taken.
    """
    port = listener.getsockname()[1]
    names = local_names(port)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=local,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    manager = StreamableHTTPSessionManager(server, security_settings=security)
    async with manager.run():
        await serve_http(application(manager, callers), listener, ready)
