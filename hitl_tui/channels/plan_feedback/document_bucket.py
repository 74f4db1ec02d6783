"""Documents in an S3 bucket, of any service that speaks S3's protocol.

`PREFIX/NAME.json` is looked through; what lies beside it is outside of it, under `PREFIX-PLACE/`. Endpoint, region and
credentials are found as by every program of AWS: environment, shared files, the machine's role. Nothing is tried twice
in a row: whoever calls decides when to come again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
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

from hitl_tui.channels.plan_feedback.documents import (
    ENDING,
    LARGEST_DOCUMENT,
    Document,
    Listed,
    ListingDenied,
    NoAccess,
    StoreDenied,
)
from hitl_tui.channels.plan_feedback.feedback import proper_id
from hitl_tui.channels.plan_feedback.s3_signing import sign_by_service_time
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client

T = TypeVar("T")

DEFAULT_PREFIX = "deep-insight/feedback/"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,62}")
_LONGEST_PREFIX = 500
_PATIENCE = 30.0
"""Seconds for one call, whatever trickles in."""
_AT_ONCE = 16
"""Objects read at the same time."""
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


class DocumentBucket:
    """Documents in a bucket. Its connection is made when it is first used, and anew when credentials were refused.

    Args:
        address: `s3://BUCKET[/PREFIX]`; without a prefix it is `deep-insight/feedback/`.

    Raises:
        BadInput: the address names no bucket.
    """

    atomic = True

    def __init__(self, address: str) -> None:
        self.bucket, self.prefix = _bucket_and_prefix(address)
        self._open = AsyncExitStack()
        self._made: S3Client | None = None
        self._making = asyncio.Lock()
        self._loader: Any = None
        self._reading = asyncio.Semaphore(_AT_ONCE)

    def told(self, name: str, beside: str = "") -> str:
        return f"s3://{self.bucket}/{self._key(name, beside)}"

    async def list(self, beside: str = "") -> dict[str, Listed]:
        prefix = self._prefix(beside)
        listed: dict[str, Listed] = {}
        more: dict[str, Any] = {}
        while True:

            async def page(client: S3Client, more: dict[str, Any] = more) -> Mapping[str, Any]:
                return await client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, Delimiter="/", **more)

            try:
                found = await self._call(page)
            except NoAccess as error:
                raise ListingDenied(f"s3://{self.bucket}/{prefix}") from error
            except _ChangedError as error:
                raise StorageError(Message("S3 has no bucket {}.", self.bucket)) from error
            for each in found.get("Contents", ()):
                file = each["Key"].removeprefix(prefix)
                name = file.removesuffix(ENDING)
                if file.endswith(ENDING) and proper_id(name):
                    listed[name] = Listed(name, each["ETag"], each["Size"], str(each["LastModified"]))
            token = found.get("NextContinuationToken", "")
            if not found.get("IsTruncated") or not token:
                return listed
            more = {"ContinuationToken": token}

    async def get(
        self, name: str, beside: str = "", *, largest: int = LARGEST_DOCUMENT, unless: str = ""
    ) -> Document | None:
        key = self._key(name, beside)
        try:
            async with self._reading:
                return await self._call(lambda client: self._get(client, key, largest, unless))
        except _ChangedError:
            return None

    async def put(self, name: str, data: bytes, beside: str = "") -> None:
        await self._put(self._key(name, beside), data)

    async def put_new(self, name: str, data: bytes) -> bool:
        for _ in range(_PUTS):
            try:
                done = await self.claim(name, data)
            except _UnsupportedError:
                if await self.get(name) is None:
                    await self.put(name, data)
                    return True
                done = False
            if done:
                # Some services let two pass that come in the same instant.
                with suppress(NoAccess):
                    there = await self.get(name)
                    return there is None or there.data == data
                return True
            if (there := await self.get(name)) is not None:
                return there.data == data  # it may have arrived already, and only the answer was lost
        raise StorageError(Message("S3 is changing {} just now; try again.", self.told(name)))

    async def claim(self, name: str, data: bytes, beside: str = "") -> bool:
        """Put a document; return whether that was done: the service itself says so, for one of those who want it."""
        try:
            await self._put(self._key(name, beside), data, new=True)
        except _ChangedError:
            return False
        return True

    async def move(self, name: str, version: str, beside: str, to: str) -> None:
        key, target = self._key(name), self._key(to, beside)

        async def copy(client: S3Client) -> None:
            await client.copy_object(
                Bucket=self.bucket,
                Key=target,
                CopySource={"Bucket": self.bucket, "Key": key},
                CopySourceIfMatch=version,
            )

        with suppress(_ChangedError):  # gone, or another stands there, which is looked at next time
            await self._call(copy)
            await self.delete(name, version)

    async def delete(self, name: str, version: str = "", beside: str = "") -> None:
        key = self._key(name, beside)

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

    async def close(self) -> None:
        self._made = None
        await self._open.aclose()

    def _prefix(self, beside: str) -> str:
        return f"{self.prefix.removesuffix('/')}-{beside}/" if beside else self.prefix

    def _key(self, name: str, beside: str = "") -> str:
        return f"{self._prefix(beside)}{name}{ENDING}"

    async def _get(self, client: S3Client, key: str, largest: int, unless: str) -> Document:
        more: dict[str, Any] = {"IfNoneMatch": unless} if unless else {}
        answer = await client.get_object(Bucket=self.bucket, Key=key, **more)
        size, version = answer["ContentLength"], answer["ETag"]
        if size > largest:
            answer["Body"].close()
            return Document(version, size, None)
        async with answer["Body"] as body:
            data = await body.read()
        if len(data) != size:
            raise StorageError(
                Message("{} was cut off: {} of {} bytes came.", f"s3://{self.bucket}/{key}", len(data), size)
            )
        return Document(version, size, data)

    async def _put(self, key: str, data: bytes, *, new: bool = False) -> None:
        """Put an object.

        Raises:
            _ChangedError: it has to be new and isn't.
        """

        async def put(client: S3Client) -> None:
            more: dict[str, Any] = {"IfNoneMatch": "*"} if new else {}
            await client.put_object(Bucket=self.bucket, Key=key, Body=data, ContentType="application/json", **more)

        await self._call(put)

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
            return NoAccess(Message("These credentials may not do this in the bucket {}: {}", self.bucket, said))
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


class _ChangedError(Exception):
    """There is no such object, or not the one that was meant, or one where none was expected."""


class _UnsupportedError(StorageError):
    """The service doesn't know what was asked of it."""


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
