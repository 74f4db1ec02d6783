"""The runtime over HTTP: a POST starts a job and streams its events, a GET answers health (P8).

`/invocations` and `/ping` are what Amazon Bedrock AgentCore Runtime expects of a container; `/jobs/ID/events` tells of
one job, `/requests` of what waits. A POST to `/requests/ID` answers it; where only `/invocations` is passed
on, an answer is posted there, with its `request_id`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hitl_tui.channels.callers import Callers
from hitl_tui.channels.http_serving import local_names
from hitl_tui.channels.runtime.events import Done, Event, Failed
from hitl_tui.channels.runtime.job_journal import Taken
from hitl_tui.channels.runtime.jobs import LARGEST, Job, job_of
from hitl_tui.channels.runtime.remote_answers import RemoteAnswers, read_answer
from hitl_tui.channels.runtime.runtime import Runtime
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import escaped_json, one_line

SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
CHANNEL = "http"
_QUIET = 15.0
"""Seconds after which a stream says that it is still there."""
_ASKED = ("prompt", "input")
"""What programs call a query."""

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Doors:
    """Who may come in.

    Args:
        callers: whose tokens are known; one of them opens.
        open: nobody needs a token.
        port: the port, where it listens at a loopback address, so that no other host's name leads there; 0 elsewhere.
    """

    callers: Callers
    open: bool
    port: int

    def why_not(self, headers: Headers) -> tuple[int, str] | None:
        """Return status and sentence for who may not come in; None for who may."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.port and host not in local_names(self.port):
            return 421, Message("This server is for programs of this machine.")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, Message("Another page asked for this.")
        token = _token(headers)
        if not self.open and self.callers.approver(token) is None and not self.callers.is_agent(token):
            return 401, Message("This takes a token: {}.", "Authorization: Bearer TOKEN")
        return None

    def who(self, headers: Headers) -> Identity | None:
        """Return the approver whose token a request carries; None for everybody else."""
        token = _token(headers)
        return self.callers.approver(token) if token and not self.callers.is_agent(token) else None


def _token(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


class Site:
    """What is served.

    Args:
        runtime: carries jobs out.
        answers: takes answers to the record.
        doors: who may come in.
    """

    def __init__(self, runtime: Runtime, answers: RemoteAnswers, doors: Doors) -> None:
        self._runtime, self._answers, self._doors = runtime, answers, doors
        self._busy, self._changed = False, int(time.time())

    def application(self) -> Starlette:
        """Return what uvicorn serves."""
        routes = [
            Route("/ping", self._ping),
            Route("/invocations", self._guarded(self._invoke), methods=["POST"]),
            Route("/jobs/{job_id:path}/events", self._guarded(self._follow)),
            Route("/requests", self._guarded(self._requests)),
            Route("/requests/{request_id}", self._guarded(self._request)),
            Route("/requests/{request_id}", self._guarded(self._answer), methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _unknown, Exception: _unexpected})

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            if (refused := self._doors.why_not(request.headers)) is not None:
                status, why = refused
                more = {"WWW-Authenticate": "Bearer"} if status == 401 else None
                return JSONResponse({"status": "error", "error": why, "kind": "refused"}, status, more)
            try:
                return await handler(request)
            except HitlError as error:
                return JSONResponse(
                    {"status": "error", "error": error.message, "kind": error.kind, **_help(error)}, _status(error)
                )

        return guarded

    async def _ping(self, _: Request) -> Response:
        """Answer health: busy while a job isn't finished, so that nobody takes the machine away from it."""
        if self._runtime.busy != self._busy:
            self._busy, self._changed = self._runtime.busy, int(time.time())
        status = "HealthyBusy" if self._busy else "Healthy"
        return JSONResponse({"status": status, "time_of_last_update": self._changed})

    async def _invoke(self, request: Request) -> Response:
        body = await _body(request)
        if "request_id" in body:
            return await self._given(request, body)
        named = request.headers.get(SESSION_HEADER, "").strip()
        wanted = _wanted(body)
        job = job_of(wanted, self._runtime.root, named)
        if named and "id" not in wanted:
            known = await self._runtime.find(named)
            if known is not None and known.job.query != job.query:  # the next question in a session of theirs
                job = replace(job, id=f"{named}/{sha256(job.query.encode()).hexdigest()[:16]}")
                if (known.ours or known.ended) and known.job.workspace == job.workspace:
                    job = replace(job, session=named)
        return await self._streaming(job)

    async def _follow(self, request: Request) -> Response:
        job_id = str(request.path_params["job_id"])
        known = await self._runtime.find(job_id)
        if known is None:
            raise UnknownName(Message("No job {}.", one_line(job_id, 80)))
        return await self._streaming(known.job)

    async def _streaming(self, job: Job) -> Response:
        """Put a job on record, and stream its events until it ends; who leaves doesn't stop it."""
        stream = self._events(job)
        taken = await anext(stream)
        assert isinstance(taken, Taken)
        if not taken.ours and not taken.ended:
            await stream.aclose()
            raise Refused(Message("Another process takes care of job {}.", one_line(job.id, 80)), reason="not_allowed")

        async def lines() -> AsyncIterator[bytes]:
            async for event in stream:
                if isinstance(event, Event):
                    told = self._runtime.stream.masked(event.to_dict())
                    yield f"data: {escaped_json(json.dumps(told, ensure_ascii=False))}\n\n".encode()
                else:
                    yield b": still there\n\n"

        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", SESSION_HEADER: _plain(job.id)}
        return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)

    async def _events(self, job: Job) -> AsyncGenerator[Taken | Event | None]:
        """Yield what became of a job as it was given, then its events, and None where there is nothing to tell."""
        with self._runtime.stream.listen(job.id) as events:
            yield await self._runtime.submit(job)
            while True:
                try:
                    event = await asyncio.wait_for(events.get(), _QUIET)
                except TimeoutError:
                    yield None
                    continue
                yield event
                if isinstance(event, Done) or (isinstance(event, Failed) and event.final):
                    return

    async def _requests(self, _: Request) -> Response:
        found: dict[str, Any] = {"status": "ok", "requests": await self._runtime.waiting_requests()}
        return JSONResponse(self._runtime.stream.masked(found))

    async def _request(self, request: Request) -> Response:
        found = await self._runtime.request(str(request.path_params["request_id"]))
        return JSONResponse(self._runtime.stream.masked(found))

    async def _answer(self, request: Request) -> Response:
        body = await _body(request)
        named = str(request.path_params["request_id"])
        if body.setdefault("request_id", named) != named:
            raise BadInput(Message("The answer is for another request: {}.", one_line(str(body["request_id"]), 80)))
        return await self._given(request, body)

    async def _given(self, request: Request, body: dict[str, Any]) -> Response:
        result = await self._answers.give(read_answer(body), CHANNEL, self._doors.who(request.headers))
        return JSONResponse({**result.to_dict(), "request_id": body["request_id"]})


def _wanted(body: dict[str, Any]) -> dict[str, Any]:
    """Return a job as it is written elsewhere, of what a program sends that calls a query something else."""
    for name in _ASKED:
        if name in body and "query" not in body:
            rest = {key: value for key, value in body.items() if key != name}
            return {"query": body[name], **rest}
    return body


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object that was sent.

    Raises:
        BadInput: it is none, or too large.
    """
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > LARGEST:
            raise BadInput(Message("What was sent is too large: at most {} bytes.", f"{LARGEST:,}"))
    try:
        found = strict_json(data.decode("utf-8-sig"))
    except ValueError as error:
        raise BadInput(Message("What was sent isn't valid JSON: {}.", one_line(str(error), 200))) from error
    if not isinstance(found, dict):
        raise BadInput(Message('What is sent is a JSON object such as {"prompt": "…"}.'))
    return found


def _plain(text: str) -> str:
    return text.encode("ascii", "replace").decode()


def _help(error: HitlError) -> dict[str, str]:
    return {
        **({"help": error.help} if error.help else {}),
        **({"reason": error.reason} if isinstance(error, Refused) else {}),
    }


def _status(error: HitlError) -> int:
    if isinstance(error, UnknownName):
        return 404
    if isinstance(error, BadInput):
        return 400
    return 409 if isinstance(error, Refused) else 503


async def _unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse(
        {"status": "error", "error": str(error.detail), "kind": "refused"}, error.status_code, error.headers
    )


async def _unexpected(_: Request, error: Exception) -> Response:
    said = Message("Unexpected error ({}).", one_line(repr(error), 200))
    return JSONResponse({"status": "error", "error": said, "kind": "unexpected"}, 500)


def site(runtime: Runtime, answers: RemoteAnswers, callers: Callers, *, open: bool, local_port: int) -> Starlette:
    """Return the application.

    Args:
        runtime: carries jobs out.
        answers: takes answers to the record.
        callers: whose tokens are known.
        open: nobody needs a token.
        local_port: see `Doors.port`.
    """
    return Site(runtime, answers, Doors(callers, open, local_port)).application()
