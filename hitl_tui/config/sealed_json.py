"""JSON files of our own with a checksum in them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from hitl_tui.config.atomic_files import write_atomically
from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message

_KEY = "checksum"


def write_sealed(path: Path, data: JsonObject) -> None:
    """Write a JSON object with its checksum; a crash leaves the old file or the new one.

    Raises:
        OSError: it can't be written.
    """
    sealed = {**data, _KEY: _checksum(data)}
    text = json.dumps(sealed, ensure_ascii=False, indent=2) + "\n"
    write_atomically(path, text.encode("utf-8", errors="replace"))


def check_sealed(path: Path, data: Json) -> None:
    """Check what was read of a file against the checksum in it; one from before there were any has none.

    Raises:
        StorageError: it isn't what was written.
    """
    if not isinstance(data, dict) or _KEY not in data:
        return
    if data[_KEY] != _checksum({k: v for k, v in data.items() if k != _KEY}):
        raise StorageError(
            Message("{} is damaged or was changed by hand: its checksum doesn't match.", path),
            help=Message('Put the file back; or, to take it as it is, remove the line "{}" in it.', _KEY),
        )


def _checksum(data: JsonObject) -> str:
    written = json.dumps(data, ensure_ascii=False, sort_keys=True).encode("utf-8", errors="replace")
    return sha256(written).hexdigest()[:32]
