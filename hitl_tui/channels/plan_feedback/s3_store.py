"""Feedback in an S3 bucket, of any service that speaks S3's protocol.

`PREFIX/REQUEST.json` is looked through; what was set aside and the published requests lie under `PREFIX-set-aside/` and
`PREFIX-requests/`, outside of it. Endpoint, region and credentials are found as by every program of AWS: environment,
shared files, the machine's role. Nothing is tried twice in a row: whoever calls decides when to come again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from aiohttp import ClientError as ConnectionProblem
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError

from hitl_tui.channels.plan_feedback.feedback import LARGEST, Feedback, Problem, oversized, proper_id, read
from hitl_tui.channels.plan_feedback.s3_signing import sign_by_service_time
from hitl_tui.channels.plan_feedback.store import (
    LARGEST_REQUEST,
    NOTHING_DONE,
    Fate,
    Found,
    Polled,
    PublishedRequest,
    StoreDenied,
    already_answered,
    aside_name,
    checked_id,
    event_in,
    problem_in,
    reason_name,
    reason_of,
)
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client

T = TypeVar("T")

DEFAULT_PREFIX = "deep-insight/feedback/"
_ENDING = ".json"
_REQUESTS, _DECIDED = "requests", "decided"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,62}")
_LONGEST_PREFIX = 500
_PATIENCE = 30.0
"""Seconds for one call, whatever trickles in."""
_AT_ONCE = 16
"""Objects read at the same time."""
_LISTING_DENIED = 600.0
"""Seconds after which listing is tried again where it was denied."""
_NO_ACCESS = frozenset({"AccessDenied", "AllAccessDisabled", "403", "Forbidden"})
_CREDENTIALS = frozenset(
    {
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "ExpiredToken",
        "InvalidToken",
        "TokenRefreshRequired",
        "AuthFailure",
    }
)
_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
_CHANGED = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
_UNSUPPORTED = frozenset({"NotImplemented", "501"})
_PUTS = 3
"""How often an object is put while the service says that something happens to it at the same time."""


class S3Store:
    """Feedback in a bucket. Its connection is made when it is first used, and anew when credentials were refused.

    Args:
        address: `s3://BUCKET[/PREFIX]`; without a prefix it is `deep-insight/feedback/`.

    Raises:
        BadInput: the address names no bucket.
    """

    def __init__(self, address: str) -> None:
        self.bucket, self.prefix = _bucket_and_prefix(address)
        self._open = AsyncExitStack()
        self._made: S3Client | None = None
        self._making = asyncio.Lock()
        self._loader: Any = None
        self._denied_until = 0.0
        self._reading = asyncio.Semaphore(_AT_ONCE)
        self._read_before: dict[str, tuple[str, PublishedRequest]] = {}

    def path(self, request_id: str) -> str:
        return self._told(self._key(request_id))

    async def poll(self, waiting: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        if time.monotonic() < self._denied_until:
            return await self.read_each(waiting, done)
        try:
            listed = await self._listed(self.prefix)
        except _ListingDeniedError:
            self._denied_until = time.monotonic() + _LISTING_DENIED
            polled = await self.read_each(waiting, done)
            notice = Message(
                "Listing {} is denied, so each request is asked for by itself; late feedback isn't noticed.",
                self._told(self.prefix),
            )
            return Polled(polled.found, (), polled.problem, notice)
        there = {request_id: each for request_id, each in listed.items() if done.get(request_id) != each.version}
        wanted = [there[request_id] for request_id in waiting if request_id in there]
        polled = await self._read(wanted)
        return Polled(polled.found, sorted(listed.keys() - set(waiting)), polled.problem)

    async def read_each(self, request_ids: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        return await self._read([_Listed(each, self._key(each), done=done.get(each, "")) for each in request_ids])

    async def remove(self, found: Found) -> None:
        await self._delete(self._key(found.request_id), found.version)

    async def set_aside(self, found: Found, problem: Problem) -> str:
        key = self._key(found.request_id)
        aside = f"{self._beside('set-aside')}{aside_name(found)}"
        with suppress(_ChangedError):  # gone, or another stands there, which is looked at next time

            async def copy(client: S3Client) -> None:
                await client.copy_object(
                    Bucket=self.bucket,
                    Key=aside + _ENDING,
                    CopySource={"Bucket": self.bucket, "Key": key},
                    CopySourceIfMatch=found.version,
                )

            await self._put(f"{aside}.reason{_ENDING}", reason_of(found, problem))
            await self._call(copy)
            await self._delete(key, found.version)
        return self._told(aside + _ENDING)

    async def put_new(self, request_id: str, feedback: Feedback) -> str:
        data = feedback.to_bytes(request_id)
        await self._put_new(request_id, data)
        return hashlib.sha256(data).hexdigest()

    async def _put_new(self, request_id: str, data: bytes) -> None:
        key = self._key(request_id)
        for _ in range(_PUTS):
            try:
                await self._put(key, data, new=True)
            except _UnsupportedError:
                if await self._contents(key) is None:
                    return await self._put(key, data)
            except _ChangedError:
                pass
            else:
                # Some services let two pass that come in the same instant.
                with suppress(_NoAccessError):
                    if (there := await self._contents(key)) is not None and there != data:
                        raise already_answered(request_id)
                return None
            there = await self._contents(key)
            if there == data:  # it had arrived already, and only the answer was lost
                return None
            if there is not None:
                raise already_answered(request_id)
        raise StorageError(Message("S3 is changing the feedback for {} just now; try again.", request_id))

    async def fate(self, request_id: str, fingerprint: str) -> Fate:
        data = await self._contents(self._key(request_id))
        if data is not None and hashlib.sha256(data).hexdigest() == fingerprint:
            return "waiting"
        reason = await self._contents(f"{self._beside('set-aside')}{reason_name(request_id, fingerprint)}")
        return "taken" if reason is None else problem_in(reason)

    async def publish(self, request: PublishedRequest) -> None:
        await self._put(self._event_key(request.request_id, _REQUESTS), _event_bytes(request.event))

    async def withdraw(self, request_id: str, ended: Mapping[str, Json] | None = None) -> None:
        if ended is not None:
            await self._put(self._event_key(request_id, _DECIDED), _event_bytes(ended))
        await self._delete(self._event_key(request_id, _REQUESTS), "")

    async def requests(self) -> Sequence[PublishedRequest]:
        try:
            listed = await self._listed(self._beside(_REQUESTS))
        except _ListingDeniedError as error:
            raise StoreDenied(
                Message("Listing {} is denied, so name the request.", self._told(self._beside(_REQUESTS)))
            ) from error
        in_order = sorted(listed.values(), key=lambda each: (each.modified, each.request_id))
        self._read_before = {one: kept for one, kept in self._read_before.items() if one in listed}
        found = await asyncio.gather(*map(self._published, in_order))
        return tuple(one for one in found if one is not None)

    async def _published(self, listed: _Listed) -> PublishedRequest | None:
        """Return a request that was listed; one that was read before and is the same isn't read again."""
        version, known = self._read_before.get(listed.request_id, ("", None))
        if known is not None and version and version == listed.version:
            return known
        found = await self._event(listed.request_id, _REQUESTS)
        if found is not None:
            self._read_before[listed.request_id] = listed.version, found
        return found

    async def request(self, request_id: str) -> PublishedRequest | None:
        return await self._event(request_id, _REQUESTS) or await self._event(request_id, _DECIDED)

    async def _event(self, request_id: str, where: str) -> PublishedRequest | None:
        async with self._reading:
            data = await self._contents(self._event_key(request_id, where))
        return None if data is None else event_in(data, request_id)

    async def close(self) -> None:
        self._made = None
        await self._open.aclose()

    # Other documents that lie below the prefix, or beside it ------------------------------------------------------

    async def versions(self) -> dict[str, str]:
        """Return the versions of the documents below the prefix, by name without its ending.

        Raises:
            StoreDenied: it may not be listed.
        """
        try:
            return {name: listed.version for name, listed in (await self._listed(self.prefix)).items()}
        except _ListingDeniedError as error:
            raise StoreDenied(Message("Listing {} is denied.", self._told(self.prefix))) from error

    async def document(self, name: str, beside: str = "") -> bytes | None:
        """Return a document, None where there is none, or one that is too large.

        Args:
            name: its name.
            beside: the place beside the prefix; empty for the prefix itself.
        """
        return await self._contents(self._place(name, beside))

    async def put_document(self, name: str, data: bytes, beside: str = "", *, new: bool = False) -> bool:
        """Put a document; return whether that was done: one that has to be new may be there already."""
        try:
            await self._put(self._place(name, beside), data, new=new)
        except _ChangedError:
            return False
        return True

    async def delete_document(self, name: str, version: str) -> None:
        """Delete a document; one that isn't there is no error, and one of another version stays."""
        await self._delete(self._key(name), version)

    def _place(self, name: str, beside: str) -> str:
        return f"{self._beside(beside)}{checked_id(name)}{_ENDING}" if beside else self._key(name)

    def _key(self, request_id: str) -> str:
        return f"{self.prefix}{checked_id(request_id)}{_ENDING}"

    def _event_key(self, request_id: str, where: str) -> str:
        return f"{self._beside(where)}{checked_id(request_id)}{_ENDING}"

    def _beside(self, what: str) -> str:
        return f"{self.prefix.removesuffix('/')}-{what}/"

    def _told(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    # Reading -----------------------------------------------------------------------------------------------------

    async def _listed(self, prefix: str) -> dict[str, _Listed]:
        """Return what lies under a prefix and may be for a request, by request id.

        Raises:
            _ListingDeniedError: it may not be listed.
        """
        listed: dict[str, _Listed] = {}
        more: dict[str, Any] = {}
        while True:

            async def page(client: S3Client, more: dict[str, Any] = more) -> Mapping[str, Any]:
                return await client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, Delimiter="/", **more)

            try:
                found = await self._call(page)
            except _NoAccessError as error:
                raise _ListingDeniedError from error
            except _ChangedError as error:
                raise StorageError(Message("S3 has no bucket {}.", self.bucket)) from error
            for each in found.get("Contents", ()):
                name = each["Key"].removeprefix(prefix)
                request_id = name.removesuffix(_ENDING)
                if name.endswith(_ENDING) and proper_id(request_id):
                    stamp = str(each["LastModified"])
                    listed[request_id] = _Listed(request_id, each["Key"], each["ETag"], each["Size"], modified=stamp)
            token = found.get("NextContinuationToken", "")
            if not found.get("IsTruncated") or not token:
                return listed
            more = {"ContinuationToken": token}

    async def _read(self, objects: Iterable[_Listed]) -> Polled:
        """Read objects, several at the same time; one that can't be read doesn't hold up the others."""

        async def one(listed: _Listed) -> Found | StorageError | None:
            async with self._reading:
                try:
                    return await self._found(listed)
                except StorageError as error:
                    return error

        results = await asyncio.gather(*(one(each) for each in objects))
        errors = [result for result in results if isinstance(result, StorageError)]
        found = [result for result in results if isinstance(result, Found)]
        if errors and not found and len(errors) == len(results):
            raise errors[0]
        return Polled(found, (), Message("{}", errors[0]) if errors else None)

    async def _found(self, listed: _Listed) -> Found | None:
        path = self._told(listed.key)
        if listed.size > LARGEST:
            return Found(listed.request_id, path, listed.version, oversized(listed.size))
        try:
            version, size, data = await self._call(lambda client: self._get(client, listed.key, LARGEST, listed.done))
        except _ChangedError:
            return None
        except _NoAccessError:
            # Where listing is denied, this is what is answered for an object that isn't there.
            if listed.version:
                raise
            return None
        if data is None:
            return Found(listed.request_id, path, version, oversized(size))
        content = read(data, listed.request_id)
        return Found(listed.request_id, path, version, content, hashlib.sha256(data).hexdigest())

    async def _contents(self, key: str) -> bytes | None:
        try:
            return (await self._call(lambda client: self._get(client, key, LARGEST_REQUEST, "")))[2]
        except _ChangedError:
            return None

    async def _get(self, client: S3Client, key: str, largest: int, unless: str) -> tuple[str, int, bytes | None]:
        """Return version, size and bytes of an object; no bytes where there are more than a number of them."""
        more: dict[str, Any] = {"IfNoneMatch": unless} if unless else {}
        answer = await client.get_object(Bucket=self.bucket, Key=key, **more)
        size, version = answer["ContentLength"], answer["ETag"]
        if size > largest:
            answer["Body"].close()
            return version, size, None
        async with answer["Body"] as body:
            data = await body.read()
        if len(data) != size:
            raise StorageError(Message("{} was cut off: {} of {} bytes came.", self._told(key), len(data), size))
        return version, size, data

    # Writing -----------------------------------------------------------------------------------------------------

    async def _put(self, key: str, data: bytes, *, new: bool = False) -> None:
        """Put an object.

        Raises:
            _ChangedError: it has to be new and isn't.
        """

        async def put(client: S3Client) -> None:
            more: dict[str, Any] = {"IfNoneMatch": "*"} if new else {}
            await client.put_object(Bucket=self.bucket, Key=key, Body=data, ContentType="application/json", **more)

        await self._call(put)

    async def _delete(self, key: str, version: str) -> None:
        """Delete an object, if it is there; where a version is named and another stands there, that one stays."""

        async def delete(client: S3Client) -> None:
            if version:
                await client.delete_object(Bucket=self.bucket, Key=key, IfMatch=version)
            else:
                await client.delete_object(Bucket=self.bucket, Key=key)

        async def delete_unchanged(client: S3Client) -> None:
            if (await client.head_object(Bucket=self.bucket, Key=key))["ETag"] == version:
                await client.delete_object(Bucket=self.bucket, Key=key)

        with suppress(_ChangedError):
            try:
                await self._call(delete)
            except _UnsupportedError:  # the service knows no conditions here
                await self._call(delete_unchanged)

    # Calls -------------------------------------------------------------------------------------------------------

    async def _call(self, ask: Callable[[S3Client], Awaitable[T]]) -> T:
        """Ask the service once; again by its own clock where it refuses this machine's.

        Raises:
            StorageError: it can't be done now.
            _ChangedError: there is no such object, or another than was meant.
        """
        try:
            async with asyncio.timeout(_PATIENCE):
                try:
                    return await ask(await self._client())
                except ClientError as error:
                    if _code(error) != "RequestTimeTooSkewed" or not sign_by_service_time(error):
                        raise
                    return await ask(await self._client())
        except ClientError as error:
            code = _code(error)
            if code in _MISSING or code in _CHANGED or code == "304":
                raise _ChangedError from error
            if code in _UNSUPPORTED:
                raise _UnsupportedError(Message("S3 can't do this: {}", _text(error))) from error
            if code in _CREDENTIALS:
                await self._forget_client()
            raise self._problem(code, error) from error
        except (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError) as error:
            await self._forget_client()
            raise StoreDenied(Message("No credentials for S3 were found: {}", _text(error))) from error
        except ParamValidationError as error:
            raise BadInput(Message("S3 can't be asked for this: {}", _text(error))) from error
        except ResponseParserError as error:
            raise StorageError(Message("S3 answered something that isn't S3's protocol.")) from error
        except TimeoutError as error:
            raise StorageError(Message("S3 didn't answer in time.")) from error
        except (BotoCoreError, ConnectionProblem, OSError) as error:
            raise StorageError(Message("S3 can't be reached: {}", _text(error))) from error

    def _problem(self, code: str, error: ClientError) -> StorageError:
        said = _text(error)
        if code == "NoSuchBucket":
            return StorageError(Message("S3 has no bucket {}.", self.bucket))
        if code == "RequestTimeTooSkewed":
            return StorageError(Message("S3 refuses requests of this machine, whose clock is wrong; set the clock."))
        if code in ("ExpiredToken", "TokenRefreshRequired"):
            return StoreDenied(Message("The credentials for S3 have expired; renew them."))
        if code in _CREDENTIALS:
            return StoreDenied(Message("S3 doesn't know these credentials: {}", said))
        if code in _NO_ACCESS:
            return _NoAccessError(Message("These credentials may not do this in the bucket {}: {}", self.bucket, said))
        if code in ("SlowDown", "503", "ServiceUnavailable", "TooManyRequests", "429", "RequestLimitExceeded"):
            return StorageError(Message("S3 asks to slow down."))
        return StorageError(Message("S3 can't do this now: {}", said))

    async def _client(self) -> S3Client:
        async with self._making:
            if self._made is None:
                # Older services refuse the checksums that newer clients add by themselves.
                config = AioConfig(
                    connect_timeout=5,
                    read_timeout=10,
                    retries={"total_max_attempts": 1, "mode": "standard"},
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                    max_pool_connections=_AT_ONCE,
                    user_agent_extra="hitl-tui",
                )
                try:
                    session = get_session()
                    if self._loader is None:
                        self._loader = session.get_component("data_loader")
                    else:  # it has read what S3 can do, which takes most of making a client
                        session.register_component("data_loader", self._loader)
                    # Times only order the requests; parsing them takes most of a look at a long listing.
                    session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=str)
                    made = session.create_client("s3", config=config)
                    self._made = await self._open.enter_async_context(made)
                except ValueError as error:
                    raise StorageError(Message("S3 can't be used: {}", _text(error))) from error
            return self._made

    async def _forget_client(self) -> None:
        """Find the credentials anew with the next call: somebody may have renewed them."""
        async with self._making:
            self._made, open_ = None, self._open
            self._open = AsyncExitStack()
            with suppress(BotoCoreError, ConnectionProblem, OSError):
                await open_.aclose()


@dataclass(frozen=True, slots=True)
class _Listed:
    """An object as a listing names it.

    Args:
        request_id, key, version, size: what is known of it; no version and no size where it wasn't listed.
        done: the version that was dealt with.
        modified: when it was put, by the service's clock.
    """

    request_id: str
    key: str
    version: str = ""
    size: int = 0
    done: str = ""
    modified: str = ""


class _ChangedError(Exception):
    """There is no such object, or not the one that was meant, or one where none was expected."""


class _NoAccessError(StoreDenied):
    """These credentials may not do this."""


class _UnsupportedError(StorageError):
    """The service doesn't know what was asked of it."""


class _ListingDeniedError(Exception):
    """These credentials may not list what lies under a prefix."""


def _event_bytes(event: Mapping[str, Json]) -> bytes:
    return json.dumps(dict(event), ensure_ascii=False).encode()


def _bucket_and_prefix(address: str) -> tuple[str, str]:
    bucket, _slash, prefix = address.removeprefix("s3://").partition("/")
    prefix, shown = prefix.strip("/"), repr(one_line(address, 100))
    if not bucket:
        raise BadInput(Message("{} names no bucket: write s3://BUCKET[/PREFIX].", shown))
    if not _BUCKET.fullmatch(bucket):
        rule = Message("S3 takes 3 to 63 letters, digits, dots, dashes and underscores, with a letter or digit first")
        raise BadInput(Message("{} names no bucket: {}.", shown, rule))
    if len(prefix.encode()) > _LONGEST_PREFIX or "//" in prefix:
        rule = Message("it has at most {} bytes, and no two slashes side by side", _LONGEST_PREFIX)
        raise BadInput(Message("{} has a prefix that can't be used: {}.", shown, rule))
    return bucket, f"{prefix}/" if prefix else DEFAULT_PREFIX


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _text(error: Exception) -> str:
    """Return in one line what a package or the service said."""
    said = error.response.get("Error", {}).get("Message", "") if isinstance(error, ClientError) else ""
    return one_line(said or str(error) or type(error).__name__, 300)
