"""A runtime over HTTP, as a reviewer sees it: what waits there, and answers to it."""

from __future__ import annotations

import asyncio
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlsplit

from hitl_tui.channels.plan_feedback.documents import StoreDenied
from hitl_tui.channels.plan_feedback.feedback import Feedback, proper_id
from hitl_tui.channels.plan_feedback.store import AlreadyAnswered, Fate, PublishedRequest, checked_id
from hitl_tui.core.addresses import is_here
from hitl_tui.core.errors import BadInput, HitlError, Refused, StorageError, UnknownName
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

SCHEMES = ("http://", "https://")
_PATIENCE = 30.0
T = TypeVar("T")
_LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""


class RuntimeClient:
    """A runtime that listens at an address; see `FeedbackStore` for the methods.

    Args:
        address: `http://HOST:PORT`, or https.
        token: what lets in, and proves who answers where it is an approver's; empty for none.

    Raises:
        BadInput: the address is none.
    """

    def __init__(self, address: str, token: str = "") -> None:
        self._base, self._token = _checked(address), token
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if is_here(self._base):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def path(self, request_id: str) -> str:
        return f"{self._base}/requests/{quote(checked_id(request_id), safe=':')}"

    async def requests(self) -> Sequence[PublishedRequest]:
        events = (await self._ask("GET", f"{self._base}/requests")).get("requests")
        if not isinstance(events, list):
            raise StorageError(Message("What answers at {} isn't a runtime of hitl-tui.", self._base))
        return tuple(
            PublishedRequest(event["request_id"], event)
            for event in events
            if isinstance(event, dict) and proper_id(str(event.get("request_id", "")))
        )

    async def request(self, request_id: str) -> PublishedRequest | None:
        waiting = next((one for one in await self.requests() if one.request_id == request_id), None)
        if waiting is not None:
            return waiting
        try:
            return PublishedRequest(request_id, await self._ask("GET", self.path(request_id)))
        except (UnknownName, StorageError):  # a runtime of an earlier version only says what waits
            return None

    async def put_new(self, request_id: str, feedback: Feedback) -> str:
        await self._ask("POST", self.path(request_id), feedback.to_bytes(request_id))
        return ""

    async def fate(self, request_id: str, fingerprint: str) -> Fate:
        return "taken"  # the answer to the POST says otherwise where it wasn't

    async def close(self) -> None:
        self._opener.close()

    async def _ask(self, method: str, url: str, data: bytes | None = None) -> dict[str, Any]:
        """Ask the runtime once.

        Raises:
            Refused: the answer can't count; somebody else was first, or a rule forbids it.
            UnknownName: there is no such request.
            StorageError: it can't be reached, or doesn't let this caller in.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        asked = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the scheme is checked
        return await _on_thread(lambda: self._answer(asked))

    def _answer(self, asked: urllib.request.Request) -> dict[str, Any]:
        try:
            with self._opener.open(asked, timeout=_PATIENCE) as answer:
                return _read(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise _refused(error.code, _read(error)) from error
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", "") or str(error) or type(error).__name__
            said = Message("The runtime at {} can't be reached: {}", self._base, one_line(str(why), 200))
            raise StorageError(said) from error


async def _on_thread(call: Callable[[], T]) -> T:
    """Call something on a thread that nobody waits for when the program ends: a runtime may never answer."""
    loop, answered = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if answered.done():  # whoever asked has gone
            return
        if error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(result)

    def work() -> None:
        result, failed = None, None
        try:
            result = call()
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            failed = error
        with suppress(RuntimeError):  # the loop ended meanwhile
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=work, name="runtime elsewhere", daemon=True).start()
    found: T = await answered
    return found


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nowhere: the token is for this runtime alone."""

    def redirect_request(self, *_: object) -> None:
        return None


def _read(answer: IO[bytes]) -> dict[str, Any]:
    try:
        found = strict_json(answer.read(_LARGEST).decode())
    except (ValueError, BadInput):
        return {}
    return found if isinstance(found, dict) else {}


def _refused(status: int, told: dict[str, Any]) -> HitlError:
    error, reason = told.get("error"), told.get("reason")
    said = one_line(error, 1_000) if isinstance(error, str) and error else f"HTTP {status}"
    if status in (401, 403):
        return StoreDenied(Message("The runtime doesn't let you in: {}", said))
    if status == 404:
        return UnknownName(said)
    if status == 409 and reason in ("late", "repeated"):
        return AlreadyAnswered(said)
    if status in (400, 409):
        return Refused(said, reason=reason if isinstance(reason, str) else "not_allowed")
    return StorageError(Message("The runtime can't do this now: {}", said))


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = good and not (parts.query or parts.fragment or parts.username)
    except ValueError:
        good = False
    if not good or not address.isascii() or not address.isprintable() or " " in address:
        raise BadInput(Message("{} isn't the address of a runtime: http://HOST:PORT.", repr(one_line(address, 100))))
    return address.rstrip("/")
