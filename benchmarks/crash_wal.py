"""What a power cut may take from an SQLite file in WAL mode with synchronous=NORMAL: the unsynced tail of its log.

Commits are on disk for sure only up to the last transfer of the log into the file. What came later may be there whole,
in part, or not at all.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_HEADER, _FRAME_HEADER = 32, 24
_TRANSFERRED = 96  # offset of nBackfill in the wal-index


@dataclass(frozen=True, slots=True)
class Wal:
    """A log as it lies on disk after its process died.

    Args:
        path: the `-wal` file.
        page: page size in bytes.
        frames: frames of the current log.
        commits: numbers of the frames that end a transaction.
        safe: frames that were synced when the log was last transferred.
    """

    path: Path
    page: int
    frames: int
    commits: tuple[int, ...]
    safe: int

    def length(self, frames: int) -> int:
        """Return the bytes that so many frames take."""
        return _HEADER + frames * (_FRAME_HEADER + self.page)


def read_wal(database: Path) -> Wal | None:
    """Return the log of a database that nobody has open, None when there is none."""
    path = Path(f"{database}-wal")
    if not path.exists() or path.stat().st_size < _HEADER:
        return None
    data = path.read_bytes()
    page, salt = struct.unpack(">I", data[8:12])[0], data[16:24]
    size = _FRAME_HEADER + page
    commits, frames = [], 0
    while _HEADER + (frames + 1) * size <= len(data):
        start = _HEADER + frames * size
        if data[start + 8 : start + 16] != salt:
            break
        frames += 1
        if data[start + 4 : start + 8] != b"\0\0\0\0":
            commits.append(frames)
    return Wal(path, page, frames, tuple(commits), min(frames, _transferred(database)))


def _transferred(database: Path) -> int:
    index = Path(f"{database}-shm")
    if not index.exists() or index.stat().st_size < _TRANSFERRED + 4:
        return 0
    return int(struct.unpack("=I", index.read_bytes()[_TRANSFERRED : _TRANSFERRED + 4])[0])


def cut_tail(database: Path, fraction: float, *, torn: bool) -> int:
    """Cut the unsynced tail off; return how many committed transactions were lost.

    Args:
        database: the file; nobody may have it open.
        fraction: of the unsynced frames, how many stay: 0 loses all of them.
        torn: the cut goes through a frame, as when half a sector run was written.
    """
    wal = read_wal(database)
    if wal is None or wal.frames == wal.safe:
        return 0
    keep = wal.safe + int((wal.frames - wal.safe) * fraction)
    if keep == 0:
        wal.path.write_bytes(b"")
    else:
        with wal.path.open("r+b") as file:
            file.truncate(wal.length(keep) + (wal.page // 2 if torn and keep < wal.frames else 0))
    Path(f"{database}-shm").unlink(missing_ok=True)
    return sum(1 for commit in wal.commits if commit > keep)
