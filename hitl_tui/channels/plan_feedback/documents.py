"""Documents in a folder or a bucket: JSON by name, in a place that is looked through and in places beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

ENDING = ".json"
LARGEST_DOCUMENT = 4 * 1024 * 1024
"""Bytes of a document that are read where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as a listing names it; without a version and a size where it wasn't listed.

    Args:
        name: what it is called, without its ending.
        version: tells it from whatever stood or will stand under its name.
        size: in bytes.
        modified: when it was put, as a text that sorts so.
    """

    name: str
    version: str = ""
    size: int = 0
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read.

    Args:
        version: as in `Listed`.
        size: in bytes.
        data: its bytes; None for more than were asked for, and for what is no file.
        regular: it is a file, and not a link, a pipe or a folder.
    """

    version: str
    size: int
    data: bytes | None
    regular: bool = True


class StoreDenied(StorageError):
    """The store refuses what was asked of it: credentials or permissions, which trying again doesn't mend."""


class NoAccess(StoreDenied):
    """These credentials may not do this; where listing is denied, so is what isn't there."""


class ListingDenied(StoreDenied):
    """These credentials may not list a place.

    Args:
        place: which, as people are told.
    """

    def __init__(self, place: str) -> None:
        super().__init__(Message("Listing {} is denied.", place))
        self.place = place


class Documents(Protocol):
    """Where documents lie. `beside` names a place beside the one that is looked through, which is empty.

    Every coroutine raises `StorageError` (or `StoreDenied`) where that can't be used now.

    Attributes:
        atomic: whoever puts one puts it whole.
    """

    atomic: bool

    def told(self, name: str, beside: str = "") -> str:
        """Return where a document is, as people are told."""

    async def list(self, beside: str = "") -> Mapping[str, Listed]:
        """Return by name what lies in a place and may be for a request. Raises ListingDenied: it may not be listed."""

    async def get(
        self, name: str, beside: str = "", *, largest: int = LARGEST_DOCUMENT, unless: str = ""
    ) -> Document | None:
        """Return a document; None where there is none.

        Args:
            name, beside: which.
            largest: bytes that are read.
            unless: a version that isn't wanted: then it is None, too.
        """

    async def put(self, name: str, data: bytes, beside: str = "") -> None:
        """Put a document; one of that name is replaced."""

    async def put_new(self, name: str, data: bytes) -> bool:
        """Put a document; return whether that was done: where one is there already, that one stays."""

    async def move(self, name: str, version: str, beside: str, to: str) -> None:
        """Move a document that is looked through beside that; one that is gone is no error, and a newer one stays."""

    async def delete(self, name: str, version: str = "", beside: str = "") -> None:
        """Delete a document; one that is gone is no error, and where a version is named another stays."""

    async def close(self) -> None:
        """Close what is held open."""
