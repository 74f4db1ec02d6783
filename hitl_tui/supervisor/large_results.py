"""Where results lie that are too large for a database: a folder that all machines share, or a bucket of S3's kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hitl_tui.config.atomic_files import make_private, write_atomically
from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from botocore.client import BaseClient

T = TypeVar("T")

_SCHEME = "s3://"
_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
_DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "403", "Forbidden"})


class LargeResults(Protocol):
    """Contents by their SHA-256. Failures raise StorageError."""

    def write(self, digest: str, data: bytes) -> None:
        """Keep a content, unless it is there."""
        ...

    def read(self, digest: str) -> bytes:
        """Return a content; whoever reads it checks it."""
        ...

    def remove(self, digest: str) -> None:
        """Remove a content; one that isn't there is no error."""
        ...


def large_results(given: str) -> LargeResults | None:
    """Return the place that a setting names; None for none.

    Args:
        given: `s3://BUCKET[/PREFIX]`, or a folder.

    Raises:
        BadInput: it names no bucket, or what reaches buckets isn't installed.
    """
    text = given.strip()
    if not text:
        return None
    if text.startswith(_SCHEME):
        return BucketResults(text)
    return FolderResults(Path(text).expanduser().absolute())


class FolderResults:
    """Contents in files.

    Args:
        folder: made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, digest: str, data: bytes) -> None:
        path = self._path(digest)
        try:
            make_private(path.parent)
            if not path.exists():
                write_atomically(path, data)
        except OSError as error:
            raise StorageError(Message("A result can't be written to {}: {}.", path.parent, error.strerror)) from error

    def read(self, digest: str) -> bytes:
        try:
            return self._path(digest).read_bytes()
        except OSError as error:
            raise StorageError(Message("The result {} is missing: {}.", digest[:12], error.strerror)) from error

    def remove(self, digest: str) -> None:
        try:
            self._path(digest).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(Message("{} can't be removed: {}.", self._path(digest), error.strerror)) from error

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest


class BucketResults:
    """Contents in a bucket. Endpoint, region and credentials are found as by every program of AWS.

    Args:
        address: `s3://BUCKET[/PREFIX]`.

    Raises:
        BadInput: it names no bucket, or the extra `s3` isn't installed.
    """

    def __init__(self, address: str) -> None:
        bucket, _, prefix = address.removeprefix(_SCHEME).partition("/")
        if not bucket:
            raise BadInput(Message("{} names no bucket; write s3://BUCKET or s3://BUCKET/PREFIX.", "HITL_ARTIFACTS"))
        try:
            import botocore.session
        except ImportError as error:
            raise BadInput(Message("S3 needs a client that isn't installed."), help=install_help("s3")) from error
        self._session = botocore.session.get_session()
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._made: BaseClient | None = None

    def write(self, digest: str, data: bytes) -> None:
        place = {"Bucket": self._bucket, "Key": self._key(digest)}
        # Who may not list what is there is denied what isn't.
        if self._call(lambda s3: s3.head_object(**place), _MISSING | _DENIED) is not None:
            return
        # The digest is its name: whoever else puts it puts the same, and the service needs no condition for that.
        self._call(lambda s3: s3.put_object(**place, Body=data))

    def read(self, digest: str) -> bytes:
        found = self._call(
            lambda s3: s3.get_object(Bucket=self._bucket, Key=self._key(digest))["Body"].read(), _MISSING
        )
        if found is None:
            place = f"{_SCHEME}{self._bucket}/{self._key(digest)}"
            raise StorageError(Message("The result {} is missing: {}.", digest[:12], place))
        return bytes(found)

    def remove(self, digest: str) -> None:
        self._call(lambda s3: s3.delete_object(Bucket=self._bucket, Key=self._key(digest)), _MISSING)

    def _key(self, digest: str) -> str:
        return f"{self._prefix}{digest[:2]}/{digest}"

    def _call(self, ask: Callable[[Any], T], none: frozenset[str] = frozenset()) -> T | None:
        """Ask the service; None where it answers with one of some codes.

        Raises:
            StorageError: it can't be done.
        """
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

        try:
            return ask(self._client())
        except ClientError as error:
            code, said = str(error.response.get("Error", {}).get("Code", "")), one_line(str(error), 300)
            if code in none:
                return None
            if code == "NoSuchBucket":
                raise StorageError(Message("S3 has no bucket {}.", self._bucket)) from error
            if code in _DENIED:
                raise StorageError(
                    Message("These credentials may not do this in the bucket {}: {}", self._bucket, said)
                ) from error
            raise StorageError(Message("S3 can't do this now: {}", said)) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise StorageError(Message("No credentials for S3 were found: {}", one_line(str(error), 300))) from error
        except (BotoCoreError, OSError, ValueError) as error:
            raise StorageError(Message("S3 can't be reached: {}", one_line(str(error), 300))) from error

    def _client(self) -> BaseClient:
        if self._made is None:
            from botocore.config import Config

            # Older services refuse the checksums that newer clients add by themselves.
            self._made = self._session.create_client(
                "s3",
                config=Config(
                    connect_timeout=5,
                    read_timeout=30,
                    retries={"total_max_attempts": 3, "mode": "standard"},
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                    user_agent_extra="hitl-tui",
                ),
            )
        return self._made
