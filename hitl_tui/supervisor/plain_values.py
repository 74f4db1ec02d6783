"""Values of our own checkpoints, loaded without LangGraph where they are plain, exactly as it would.

What a session keeps of itself is plain data. Anything else, an interrupt for example, is loaded by the serializer of
LangGraph, which is imported for it.
"""

from __future__ import annotations

from typing import Any

import ormsgpack

from hitl_tui.threads.packed_values import PLAIN, unpacked
from hitl_tui.threads.value_decoder import Snapshot

_DELTA_SNAPSHOT = 7
"""Code of the msgpack extension that holds a delta channel's whole value."""


class NotPlain(ValueError):
    """A value holds something that only LangGraph loads."""


def load_plain(kind: str, data: bytes) -> Any:
    """Return a value of plain data; a delta channel's whole value is a `Snapshot`.

    Raises:
        NotPlain: it holds anything else, or can't be loaded.
    """
    try:
        kind, raw = unpacked(kind, data)
        if kind == "null":
            return None
        if kind == PLAIN:
            return _unpacked(raw)
    except ValueError as error:
        raise NotPlain(str(error)) from error
    raise NotPlain("it is no MessagePack")


def _unpacked(raw: bytes) -> Any:
    return ormsgpack.unpackb(raw, ext_hook=_whole, option=ormsgpack.OPT_NON_STR_KEYS)


def _whole(code: int, data: bytes) -> Snapshot:
    if code != _DELTA_SNAPSHOT:
        raise NotPlain("it is an object")
    return Snapshot(_unpacked(data))


class StrictlyPlain:
    """Loads plain values, and refuses any other."""

    def loads_typed(self, data: tuple[str, bytes], /) -> Any:
        """Return a value from its format and bytes. Raises NotPlain: see `load_plain`."""
        return load_plain(*data)


class PlainValues:
    """Loads a session's values; LangGraph is imported for one that isn't plain."""

    def loads_typed(self, data: tuple[str, bytes], /) -> Any:
        """Return a value from its format and bytes."""
        try:
            return load_plain(*data)
        except NotPlain:
            from hitl_tui.supervisor.serializer import serializer

            return serializer().loads_typed(data)
