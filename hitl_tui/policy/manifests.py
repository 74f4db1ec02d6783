"""Which file of a workspace changed: the entries behind a tree's digest, kept beside the sessions.

They only name files in messages; whether something changed is told by the digests alone. What is lost costs a name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from hitl_tui.policy.tree import Tree

KEPT = 60
"""Files of one data folder; older ones are removed."""

_LARGEST = 64 * 1024 * 1024
_REMEMBERED = 4
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Manifests:
    """What trees were made of.

    Args:
        folder: where they are kept between processes; None for nowhere.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._recent: OrderedDict[str, Mapping[str, str]] = OrderedDict()

    def keep(self, tree: Tree) -> None:
        """Keep what a tree is made of; where there is no room for it, only for this process."""
        if tree.digest in self._recent:
            return
        entries = {
            path: hashlib.blake2b(os.fsencode(value), digest_size=6).hexdigest() for path, value in tree.entries.items()
        }
        self._recent[tree.digest] = entries
        while len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        if self._folder is None:
            return
        path = self._folder / tree.digest
        with suppress(OSError):
            if path.exists():
                os.utime(path)
                return
            self._folder.mkdir(mode=0o700, exist_ok=True)
            temporary = self._folder / f".{token_hex(8)}"
            packed = zlib.compress(json.dumps(entries, ensure_ascii=True).encode("ascii"), 1)
            try:
                with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(packed)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            self._prune()

    def changed(self, before: str, now: str) -> list[str]:
        """Return the paths that differ between two trees; empty when one of them isn't known any more."""
        old, new = self._entries(before), self._entries(now)
        if old is None or new is None:
            return []
        return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))

    def _entries(self, digest: str) -> Mapping[str, str] | None:
        if digest in self._recent or self._folder is None or not _DIGEST.fullmatch(digest):
            return self._recent.get(digest)
        try:
            with (self._folder / digest).open("rb") as file:
                unpacker = zlib.decompressobj()
                found = json.loads(unpacker.decompress(file.read(_LARGEST), _LARGEST))
        except (OSError, ValueError, zlib.error, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _prune(self) -> None:
        assert self._folder is not None
        with os.scandir(self._folder) as listed:
            files = sorted(listed, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        for entry in files[KEPT:]:
            with suppress(OSError):
                Path(entry.path).unlink()
