"""hitl.toml while somebody works: noticed when it changes, and read only then."""

from __future__ import annotations

import hashlib
import time
from asyncio import to_thread
from collections.abc import Callable
from pathlib import Path

from hitl_tui.config.load import FILE_NAME, content_of, parse_content
from hitl_tui.core.errors import ConfigError

SETTLED = 0.2
"""Seconds; a file that was written less than that ago may be written still, and isn't taken yet."""

Stamp = tuple[int, ...]
"""What tells one state of a file from another without reading it; empty where there is no such file."""


def stamp_of(path: Path) -> Stamp:
    """Return a file's stamp; it costs one system call."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


class WatchedConfig:
    """What hitl.toml of a workspace says now, as far as it can be read.

    A file that can't be used, or that was there and is gone, changes nothing: `config` stays what it was, and `problem`
    says why in one sentence.

    Args:
        workspace: the folder it is in.
        clock: seconds since 1970, as files are stamped.

    Raises:
        ConfigError: the file can't be read or used at the beginning.
    """

    def __init__(self, workspace: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = workspace / FILE_NAME
        self._clock = clock
        self._stamp = stamp_of(self.path)
        content = content_of(self.path)
        self.config = parse_content(content)
        self.problem = ""
        self.waiting = False
        self._gone_at: float | None = None
        self._digest = _digest(content)

    @property
    def digest(self) -> str:
        """SHA-256 of the file that `config` was read from; empty where there was none."""
        return self._digest

    @property
    def current(self) -> bool:
        """The file is exactly what was read last, and that could be used."""
        return not self.problem and stamp_of(self.path) == self._stamp

    async def look(self) -> bool:
        """Read the file if it changed; return whether it changed what `config` or `problem` say.

        Then `waiting` says whether it is to be looked at again soon.
        """
        seen = stamp_of(self.path)
        self.waiting = seen != self._stamp and self._unsettled(seen)
        if seen == self._stamp or self.waiting:
            return False
        return await to_thread(self._read, seen)

    def _unsettled(self, stamp: Stamp) -> bool:
        """Return whether a file may be written still; many an editor takes it away and puts another in its place."""
        now = self._clock()
        if stamp:
            self._gone_at = None
            return 0 <= now - max(stamp[:2]) / 1e9 < SETTLED
        if self._gone_at is None:
            self._gone_at = now
        return 0 <= now - self._gone_at < SETTLED

    def _read(self, seen: Stamp) -> bool:
        before = self.config, self.problem
        try:
            content = content_of(self.path)
            config, digest, problem = parse_content(content), _digest(content), ""
        except ConfigError as error:
            config, digest, problem = self.config, self._digest, error.message
        if not digest and self._digest:
            config, digest, problem = self.config, self._digest, f"The file {FILE_NAME} is not there any more."
        if stamp_of(self.path) != seen:  # it was written meanwhile: the next look sees it whole
            return False
        self.config, self._digest, self.problem, self._stamp = config, digest, problem, seen
        return (self.config, self.problem) != before


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
