"""Decoding of stored values into JSON: nothing that they name is ever imported, built or called.

LangGraph keeps an object as the name of its type and the data to build it from. Here it is just that: a message is its
role and content, a time is ISO 8601, anything else `{"$type": "module.Name", …its data}`. A pickle stays closed.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ormsgpack

from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.threads.packed_values import LARGEST, unpacked

TYPE = "$type"
"""Key of an object's type among its data."""

DEEPEST = 100
"""Values nested deeper than this are left out, and said to be."""
_LONGEST_BYTES = 64 * 1024
_DEEPEST_OBJECTS = 64
_DELTA_SNAPSHOT, _NUMPY = 7, 6
_OBJECTS = range(6)
"""Codes of msgpack extensions that hold (module, name, data): see langgraph.checkpoint.serde.jsonplus."""

_AS_TEXT = frozenset(
    {"datetime", "date", "time", "UUID", "Decimal", "ZoneInfo", "Path", "PosixPath", "WindowsPath", "PurePosixPath"}
    | {f"IPv{version}{what}" for version in (4, 6) for what in ("Address", "Interface", "Network")}
)
_STANDARD = frozenset({"datetime", "uuid", "decimal", "zoneinfo", "pathlib", "pathlib._local", "ipaddress"})
_LISTS = frozenset({("builtins", "set"), ("builtins", "frozenset"), ("builtins", "tuple"), ("collections", "deque")})
_SETS = frozenset({"set", "frozenset"})
_ROLES = {"AIMessageChunk": "ai", "HumanMessageChunk": "human", "SystemMessageChunk": "system"}


class Unreadable(ValueError):
    """A stored value that can't be shown; the message says why, without its own end stop."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A delta channel's whole value, as it is kept from time to time."""

    value: Any


def load(kind: str | None, data: bytes | str | None) -> Any:
    """Return a stored value as plain JSON; a delta channel's snapshot within a mapping's values stays a `Snapshot`.

    Args:
        kind: how it was written: `msgpack`, `json`, `null`, `bytes`, packed; None or empty where old stores don't say.
        data: what was stored.

    Raises:
        Unreadable: it is encrypted, a pickle, broken, too large or of a kind that isn't known.
    """
    if kind == "null" or data is None:
        return None
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    if len(raw) > LARGEST:
        raise Unreadable(Message("it is larger than {} MB", LARGEST // 1024 // 1024))
    if not kind:
        kind = _guessed(raw)
    if "+" in kind:
        raise Unreadable(Message("it is encrypted ({})", kind.partition("+")[2]))
    if kind in ("bytes", "bytearray"):
        return _bytes(raw)
    if kind == "pickle":
        raise Unreadable(Message("it is a pickle, which could run code and is never opened"))
    try:
        kind, raw = unpacked(kind, raw)
        reader = {"msgpack": _msgpack, "json": _json}.get(kind)
        if reader is not None:
            return reader(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable(Message("it is broken: {}", error)) from error
    raise Unreadable(Message('unknown format "{}"', kind))


def object_name(value: object) -> str:
    """Return the name of the type that a plain value stands for, empty when it is plain itself."""
    return str(value.get(TYPE, "")) if isinstance(value, Mapping) else ""


def _guessed(raw: bytes) -> str:
    """Return the format of a value from before formats were stored."""
    if raw[:1] == b"\x80":
        return "pickle"
    return "json" if raw.lstrip()[:1] in (b"{", b"[", b'"') or raw in (b"null", b"true", b"false") else "msgpack"


def _msgpack(raw: bytes) -> object:
    return _top(ormsgpack.unpackb(raw, ext_hook=_hook(0), option=ormsgpack.OPT_NON_STR_KEYS))


def _json(raw: bytes) -> object:
    return _top(json.loads(raw))


def _top(value: object) -> object:
    """Return a value as plain JSON, but for snapshots that are the value itself or lie in `channel_values`."""
    if isinstance(value, Snapshot):
        return Snapshot(_plain(value.value, 1))
    if isinstance(value, dict) and isinstance(channels := value.get("channel_values"), dict):
        rest = {_key(k): _plain(v, 1) for k, v in value.items() if k != "channel_values"}
        return {**rest, "channel_values": {_key(k): _top_value(v) for k, v in channels.items()}}
    return _plain(value, 0)


def _top_value(value: object) -> object:
    return Snapshot(_plain(value.value, 2)) if isinstance(value, Snapshot) else _plain(value, 2)


def _plain(value: object, depth: int) -> Json:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > DEEPEST:
        return {TYPE: Message("left out"), "why": Message("nested deeper than {} levels", DEEPEST)}
    if isinstance(value, dict):
        if value.get("type") == "constructor" and value.get("lc") in (1, 2) and isinstance(value.get("id"), list):
            return _plain(_constructor(value), depth + 1)
        return {_key(k): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, depth + 1) for v in value]
    if isinstance(value, Snapshot):
        return _plain(value.value, depth + 1)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes(bytes(value))
    return {TYPE: type(value).__name__, "why": Message("no JSON form")}


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    return json.dumps(key) if isinstance(key, (bool, int, float)) or key is None else str(key)


def _bytes(raw: bytes) -> dict[str, Json]:
    found: dict[str, Json] = {TYPE: "bytes", "length": len(raw)}
    if len(raw) <= _LONGEST_BYTES:
        found["base64"] = base64.b64encode(raw).decode()
    return found


def _hook(level: int) -> Callable[[int, bytes], object]:
    """Return what reads msgpack extensions: their data, never an object."""

    def read(code: int, data: bytes) -> object:
        if level > _DEEPEST_OBJECTS:
            return {TYPE: Message("left out"), "why": Message("objects nested deeper than {}", _DEEPEST_OBJECTS)}
        if code not in _OBJECTS and code not in (_DELTA_SNAPSHOT, _NUMPY):
            return {TYPE: Message("msgpack extension {}", code), "bytes": len(data)}
        try:
            found = ormsgpack.unpackb(data, ext_hook=_hook(level + 1), option=ormsgpack.OPT_NON_STR_KEYS)
        except ValueError as error:
            return {TYPE: "broken", "why": str(error), "bytes": len(data)}
        if code == _DELTA_SNAPSHOT:
            return Snapshot(found)
        if not isinstance(found, (list, tuple)) or len(found) < 3:
            return {TYPE: Message("msgpack extension {}", code), "value": found}
        if code == _NUMPY:
            dtype, shape, *_ = found
            return {TYPE: "numpy.ndarray", "dtype": dtype, "shape": shape}
        return _object(str(found[0]), str(found[1]), found[2])

    return read


def _object(module: str, name: str, data: object) -> object:
    """Return an object of which the name of the type and the data are known."""
    if (module, name) in _LISTS and isinstance(data, (list, tuple)):
        return sorted(data, key=_order) if name in _SETS else list(data)
    if module in _STANDARD:
        if name in _AS_TEXT:
            return _text(module, name, data)
        if name == "timedelta" and isinstance(data, (list, tuple)) and len(data) == 3:
            return {TYPE: "datetime.timedelta", **dict(zip(("days", "seconds", "microseconds"), data, strict=True))}
        if name == "timezone" and isinstance(data, (list, tuple)) and data:
            return {TYPE: "datetime.timezone", "offset": data[0]}
    if name in ("SecretStr", "SecretBytes"):
        return {TYPE: f"{module}.{name}", "value": Message("‹not shown›")}
    if module.startswith(("langchain_core.messages", "langchain.schema")) and isinstance(data, dict):
        return _message(name, data)
    if isinstance(data, dict) and TYPE not in data and all(isinstance(k, str) for k in data):
        return {TYPE: f"{module}.{name}", **data}
    return {TYPE: f"{module}.{name}", "value": data}


def _order(value: object) -> tuple[bool, float, str]:
    if isinstance(value, (int, float)):
        return False, float(value), ""
    return True, 0.0, value if isinstance(value, str) else repr(value)


def _text(module: str, name: str, data: object) -> object:
    if isinstance(data, (list, tuple)) and module.startswith("pathlib"):
        return "/".join(str(part) for part in data).replace("//", "/", 1)
    if name == "UUID" and isinstance(data, str) and len(data) == 32:
        return f"{data[:8]}-{data[8:12]}-{data[12:16]}-{data[16:20]}-{data[20:]}"
    if name == "date" and isinstance(data, (list, tuple)) and all(isinstance(part, int) for part in data):
        return "-".join(f"{part:02d}" for part in data)
    if name == "time" and isinstance(data, dict) and not data.get("tzinfo") and not data.get("microsecond"):
        return ":".join(f"{data.get(part, 0):02}" for part in ("hour", "minute", "second"))
    return data if isinstance(data, str) else {TYPE: f"{module}.{name}", "value": data}


def _message(name: str, data: Mapping[object, object]) -> dict[str, object]:
    """Return a message: who said what first, then whatever else is set."""
    kind = str(data.get("type") or name.removesuffix("Chunk").removesuffix("Message").lower())
    role = str(data.get("role") or "") if kind == "chat" else _ROLES.get(kind, kind)
    rest = {str(k): v for k, v in data.items() if k not in ("type", "role", "content") and v not in (None, "", [], {})}
    if rest.get("example") is False:
        del rest["example"]
    return {"role": role, "content": data.get("content"), **rest}


def _constructor(value: Mapping[str, Any]) -> object:
    """Return an object as older stores and LangGraph.js keep it: `{"lc": …, "id": [module…, name], "kwargs": …}`."""
    *module, name = [str(part) for part in value["id"]] or [""]
    kwargs, arguments = value.get("kwargs"), value.get("args")
    if value.get("lc") == 1 and value["id"][:1] == ["langchain"] and "messages" in module:
        module = ["langchain_core", "messages"]
    data: Any = kwargs if isinstance(kwargs, dict) and kwargs else arguments
    if isinstance(data, list) and len(data) == 1 and module != ["pathlib"]:
        data = data[0]
    return _object(".".join(module), name, data)
