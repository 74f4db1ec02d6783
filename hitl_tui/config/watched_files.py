"""What declares a workspace while somebody works: noticed when it changes, and read only then."""

from __future__ import annotations

import time
from asyncio import to_thread
from collections.abc import Callable
from pathlib import Path

from hitl_tui.config.loader import FILE_NAME
from hitl_tui.config.workspace_files import WorkspaceFiles, read_files, watched_paths
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
    """What hitl.toml and langgraph.json of a workspace say now, as far as they can be read.

    A file that can't be used, or a hitl.toml that was there and is gone, changes nothing: `config` and `files` stay
    what they were, and `problem` says why in one sentence.

    Args:
        workspace: the folder they are in.
        clock: seconds since 1970, as files are stamped.

    Raises:
        ConfigError: a file can't be read or used at the beginning.
    """

    def __init__(self, workspace: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = workspace / FILE_NAME
        self._workspace = workspace
        self._clock = clock
        self.files: WorkspaceFiles = read_files(workspace)
        self._stamps = self._look()
        fresh = read_files(workspace)
        if fresh.digest != self.files.digest:  # it was written between the two: the first look reads it again
            self._stamps = {}
        self.config = self.files.declared()
        self.problem = ""
        self.waiting = False
        self._gone_at: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the hitl.toml that `config` was read from; empty where there was none."""
        return self.files.digests.get(FILE_NAME, "")

    @property
    def current(self) -> bool:
        """The files are exactly what was read last, and that could be used."""
        return not self.problem and self._look() == self._stamps

    def _look(self) -> dict[Path, Stamp]:
        return {path: stamp_of(path) for path in watched_paths(self.files)}

    async def look(self) -> bool:
        """Read the files if one changed; return whether it changed what `config`, `files` or `problem` say.

        Then `waiting` says whether they are to be looked at again soon.
        """
        seen = self._look()
        changed = [stamp for path, stamp in seen.items() if stamp != self._stamps.get(path)]
        self.waiting = bool(changed) and any(map(self._unsettled, changed))
        if not changed or self.waiting:
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

    def _read(self, seen: dict[Path, Stamp]) -> bool:
        before = self.config, self.files, self.problem
        try:
            files = read_files(self._workspace)
            config, problem = files.declared(), ""
        except ConfigError as error:
            files, config, problem = self.files, self.config, error.message
        if files.hitl is None and self.files.hitl is not None:
            files, config, problem = self.files, self.config, f"The file {FILE_NAME} is not there any more."
        if {path: stamp_of(path) for path in seen} != seen:  # written meanwhile: the next look sees it whole
            return False
        self.config, self.files, self.problem = config, files, problem
        self._stamps = {path: seen.get(path, ()) for path in watched_paths(files)}
        return (self.config, self.files, self.problem) != before
