"""What every kind of store offers to those who read it: the same tables, one statement at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hitl_tui.supervisor.foreign.model import StoreInfo

Row = Sequence[Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How statements are written for one store; each part is SQL that stands for a fixed set of columns.

    Args:
        checkpoints: relation of thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata.
        writes: relation of thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value.
        head: three columns over a row `c` of checkpoints: format, the checkpoint without its larger values (null
            when it has more than `:most` bytes), its bytes.
        ids: relation of `id`: the texts of parameter `:ids`.
        ordered: rows of `checkpoints` have a `rowid` that tells in what order they were written, as in our own files.
    """

    checkpoints: str
    writes: str
    head: str
    ids: str
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """One channel's value as it lies in the store.

    Args:
        kind: how it was written; `plain` for a value that is JSON already.
        data: what was written.
    """

    kind: str | None
    data: Any


class Database(Protocol):
    """An open store. Everything on it is read-only; each call is a transaction of its own."""

    @property
    def info(self) -> StoreInfo:
        """What it is."""

    @property
    def dialect(self) -> Dialect:
        """How statements are written for it."""

    def ids(self, texts: Sequence[str]) -> Any:
        """Return the value of parameter `:ids`."""

    async def rows(self, sql: str, values: Values) -> list[Row]:
        """Return a statement's rows; parameters are written `:name`.

        Raises:
            StorageError: the store can't be read.
        """

    async def whole(self, thread: str, ns: str, checkpoint_id: str) -> tuple[Stored | None, Mapping[str, Stored]]:
        """Return a checkpoint, None when it isn't there, and those of its channels' values that lie beside it."""

    async def channels(
        self, thread: str, ns: str, checkpoint_ids: Sequence[str], like: Sequence[str]
    ) -> Mapping[str, Mapping[str, Stored]]:
        """Return values that lie beside checkpoints, of channels whose names begin so: by checkpoint, by channel."""

    async def inputs(self, places: Sequence[tuple[str, str]]) -> Mapping[str, Stored]:
        """Return inputs that lie beside the first checkpoints of threads, by thread.

        Args:
            places: thread and checkpoint.
        """

    async def close(self) -> None:
        """Close it; may be called again."""
