"""The MCP server: tools, resources, and announcements to every client that is connected.

An instance serves any number of clients at once, each over a pair of streams that a transport makes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from anyio import BrokenResourceError, ClosedResourceError, create_task_group
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage
from pydantic import AnyUrl

from hitl_tui.channels.mcp_server.changes import Change, Event
from hitl_tui.channels.mcp_server.tools import BY_NAME, TOOLS, TaskTools, Tool, document_of, document_text
from hitl_tui.core.errors import HitlError, StorageError
from hitl_tui.core.identity import Identity
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, translate
from hitl_tui.version import __version__

Caller: TypeAlias = Callable[[Any], Identity | None]
"""Says which approver sent a request, by the HTTP request that carried it or None; None for an agent."""

NAME = "hitl-tui"
PENDING = "masc://pending"
CHECKPOINTS = "masc://checkpoints/"
_JSON = "application/json"
_LEVELS: tuple[types.LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
_ANNOUNCED: types.LoggingLevel = "notice"
_BACKLOG = 1_000
"""Announcements that wait for a client that doesn't read; the oldest is dropped then."""
_NOT_FOUND = -32002
_INSTRUCTIONS = (
    "Before a dangerous step call masc_interrupt, then masc_pending with its checkpoint_id and wait_seconds until the "
    "outcome is approved; do the step only then. People decide, never the agent that asks."
)

log = logging.getLogger(__name__)


class _Client:
    """A connected client, and what it wants to hear.

    Args:
        stream: what is sent to it.
    """

    def __init__(self, stream: MemoryObjectSendStream[SessionMessage]) -> None:
        self._stream = stream
        self._waiting = asyncio.Queue[types.ServerNotification](_BACKLOG)
        self.ready = False
        self.level: types.LoggingLevel = "debug"
        self.subscriptions: set[str] = set()

    def tell(self, notification: types.ServerNotification) -> None:
        """Send something as soon as the client takes it."""
        if not self.ready:
            return
        if self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(notification)

    async def send_on(self) -> None:
        """Send what there is to tell, until cancelled."""
        while True:
            content = (await self._waiting.get()).model_dump(by_alias=True, mode="json", exclude_none=True)
            message = types.JSONRPCMessage(types.JSONRPCNotification(jsonrpc="2.0", **content))
            await self._stream.send(SessionMessage(message))


_client: ContextVar[_Client] = ContextVar("_client")


class CheckpointServer(Server[dict[str, Any], Any]):
    """Serves the tools of one `.masc` folder.

    Args:
        tools: carry calls out.
        caller: says who calls.
        progress_every: seconds between two messages to a client that wants to hear that its call goes on.
    """

    def __init__(self, tools: TaskTools, caller: Caller, progress_every: float = 5.0) -> None:
        super().__init__(NAME, __version__, _INSTRUCTIONS)
        self._tools, self._caller, self._progress_every = tools, caller, progress_every
        self._clients: set[_Client] = set()
        self.request_handlers |= {
            types.ListToolsRequest: self._list_tools,
            types.CallToolRequest: self._call_tool,
            types.ListResourcesRequest: self._list_resources,
            types.ListResourceTemplatesRequest: self._list_templates,
            types.ReadResourceRequest: self._read_resource,
            types.SubscribeRequest: self._subscribe,
            types.UnsubscribeRequest: self._unsubscribe,
            types.SetLevelRequest: self._set_level,
        }
        self.notification_handlers[types.InitializedNotification] = self._initialized

    def get_capabilities(
        self, notification_options: NotificationOptions, experimental_capabilities: dict[str, dict[str, Any]]
    ) -> types.ServerCapabilities:
        """Return what clients are told that it can do."""
        found = super().get_capabilities(notification_options, experimental_capabilities)
        if found.resources is not None:
            found.resources.subscribe = True
        return found

    async def run(
        self,
        read_stream: MemoryObjectReceiveStream[SessionMessage | Exception],
        write_stream: MemoryObjectSendStream[SessionMessage],
        initialization_options: InitializationOptions,
        raise_exceptions: bool = False,
        stateless: bool = False,
    ) -> None:
        """Serve one client until its stream ends."""
        client = _Client(write_stream)
        _client.set(client)  # what handles its requests is begun from here, and inherits it
        self._clients.add(client)
        try:
            async with create_task_group() as group:
                group.start_soon(client.send_on)
                await super().run(read_stream, write_stream, initialization_options, raise_exceptions, stateless)
                group.cancel_scope.cancel()
        finally:
            self._clients.discard(client)

    def announce(self, change: Change) -> None:
        """Tell every client what happened."""
        said = types.LoggingMessageNotificationParams(
            level=_ANNOUNCED,
            logger=NAME,
            data=self._tools.masked(
                {
                    "event": change.event.value,
                    "message": _sentence(change),
                    "checkpoint": document_of(change.step),
                }
            ),
        )
        message = types.ServerNotification(types.LoggingMessageNotification(params=said))
        changed = {PENDING, uri_of(change.step.id)}
        for client in tuple(self._clients):
            if _LEVELS.index(_ANNOUNCED) >= _LEVELS.index(client.level):
                client.tell(message)
            for uri in sorted(changed & client.subscriptions):
                updated = types.ResourceUpdatedNotificationParams(uri=AnyUrl(uri))
                client.tell(types.ServerNotification(types.ResourceUpdatedNotification(params=updated)))

    # --------------------------------------------------------------------------------------------------- of clients

    async def _initialized(self, _notification: types.InitializedNotification) -> None:
        _client.get().ready = True

    async def _list_tools(self, _request: types.ListToolsRequest) -> types.ServerResult:
        return types.ServerResult(types.ListToolsResult(tools=[_described(one) for one in TOOLS]))

    async def _call_tool(self, request: types.CallToolRequest) -> types.ServerResult:
        name = request.params.name
        if name not in BY_NAME:
            raise _protocol_error(types.INVALID_PARAMS, Message("No tool {}.", one_line(clip(name), 80)))
        try:
            who = self._caller(self.request_context.request)
            async with self._telling_progress(request.params.arguments or {}):
                found = await self._tools.call(name, request.params.arguments or {}, who)
        except HitlError as error:
            return _failed(error)
        except Exception as error:
            log.exception("unexpected")
            return _failed(HitlError(Message("Unexpected error ({}).", type(error).__name__)))
        return types.ServerResult(
            types.CallToolResult(content=[_text(document_text(found))], structuredContent={**found})
        )

    @asynccontextmanager
    async def _telling_progress(self, arguments: dict[str, Any]) -> AsyncIterator[None]:
        """Tell the client of a call that waits that it goes on, where it gave a token for that."""
        seconds, meta = arguments.get("wait_seconds"), self.request_context.meta
        token = meta.progressToken if meta is not None else None
        if token is None or not isinstance(seconds, int | float):
            yield
            return
        telling = asyncio.create_task(self._tell_progress(token, seconds), name="progress")
        try:
            yield
        finally:
            telling.cancel()

    async def _tell_progress(self, token: str | int, total: float) -> None:
        context, began = self.request_context, time.monotonic()
        with suppress(BrokenResourceError, ClosedResourceError):  # the client left
            while True:
                await asyncio.sleep(self._progress_every)
                await context.session.send_progress_notification(
                    token,
                    min(time.monotonic() - began, total),
                    total,
                    _("Waiting for a decision"),
                    related_request_id=str(context.request_id),
                )

    async def _list_resources(self, _request: types.ListResourcesRequest) -> types.ServerResult:
        pending = types.Resource(
            uri=AnyUrl(PENDING),
            name="pending",
            title="Steps that wait",
            description="The steps that wait for approval; subscribe to hear when it changes.",
            mimeType=_JSON,
        )
        return types.ServerResult(types.ListResourcesResult(resources=[pending]))

    async def _list_templates(self, _request: types.ListResourceTemplatesRequest) -> types.ServerResult:
        template = types.ResourceTemplate(
            uriTemplate=f"{CHECKPOINTS}{{checkpoint_id}}",
            name="checkpoint",
            title="A step",
            description="A step and what was decided about it; subscribe to hear when it is decided.",
            mimeType=_JSON,
        )
        return types.ServerResult(types.ListResourceTemplatesResult(resourceTemplates=[template]))

    async def _read_resource(self, request: types.ReadResourceRequest) -> types.ServerResult:
        uri = request.params.uri
        text = document_text(await self._resource(str(uri)))
        return types.ServerResult(
            types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mimeType=_JSON, text=text)])
        )

    async def _subscribe(self, request: types.SubscribeRequest) -> types.ServerResult:
        uri = str(request.params.uri)
        await self._resource(uri)
        _client.get().subscriptions.add(uri)
        return types.ServerResult(types.EmptyResult())

    async def _unsubscribe(self, request: types.UnsubscribeRequest) -> types.ServerResult:
        _client.get().subscriptions.discard(str(request.params.uri))
        return types.ServerResult(types.EmptyResult())

    async def _set_level(self, request: types.SetLevelRequest) -> types.ServerResult:
        _client.get().level = request.params.level
        return types.ServerResult(types.EmptyResult())

    async def _resource(self, uri: str) -> dict[str, Any]:
        """Return what a resource holds.

        Raises:
            McpError: there is none, or it can't be read.
        """
        try:
            who = self._caller(self.request_context.request)
            if uri == PENDING:
                return {**await self._tools.call("masc_pending", {}, who)}
            if uri.startswith(CHECKPOINTS):
                return {**await self._tools.show(unquote(uri.removeprefix(CHECKPOINTS)), who)}
        except HitlError as error:
            code = types.INTERNAL_ERROR if isinstance(error, StorageError) else _NOT_FOUND
            raise _protocol_error(code, error.message) from error
        raise _protocol_error(_NOT_FOUND, Message("No resource {}.", one_line(clip(uri), 80)))


def uri_of(checkpoint_id: str) -> str:
    """Return the address of a step."""
    return str(AnyUrl(CHECKPOINTS + quote(checkpoint_id, safe="")))


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        inputSchema={**tool.takes},
        outputSchema={**tool.gives},
        annotations=types.ToolAnnotations(
            readOnlyHint=tool.reads, destructiveHint=tool.name == "masc_reject", openWorldHint=False
        ),
    )


def _failed(error: HitlError) -> types.ServerResult:
    said = one_line(translate(error.message), 2_000)
    return types.ServerResult(types.CallToolResult(content=[_text(said)], isError=True))


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _protocol_error(code: int, message: str) -> McpError:
    return McpError(types.ErrorData(code=code, message=one_line(translate(message), 2_000)))


def _sentence(change: Change) -> str:
    texts = {
        Event.OPENED: _("{agent} asks for approval of {name}: {message}"),
        Event.VOTED: _("{name} has an approval and needs {n} more"),
        Event.APPROVED: _("Approved {name} by {by}"),
        Event.REJECTED: _("Rejected {name} by {by}: {reason}"),
        Event.EXPIRED: _("Expired: nobody decided about {name} in time"),
    }
    step = change.step
    said = step.view.resolution.decisions if step.view else ()
    words = {
        "agent": step.agent,
        "name": step.name,
        "message": step.message,
        "n": step.needed,
        "by": ", ".join(one.by for one in said),
        "reason": said[-1].reason if said else "",
    }
    return safe_text(texts[change.event].format(**words), multiline=False)
