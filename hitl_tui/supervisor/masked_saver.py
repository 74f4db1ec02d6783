"""A saver that keeps no declared secret of what teams read by themselves (T10)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.types import Interrupt
from pydantic import BaseModel

from hitl_tui.core.safe_text import masker


def masked_saver(saver: BaseCheckpointSaver[str], secrets: Mapping[str, str]) -> BaseCheckpointSaver[str]:
    """Return a saver that keeps what another does, with the names of declared secrets instead of their values."""
    return _MaskedSaver(saver, masker(secrets.items())) if secrets else saver


class _MaskedSaver(BaseCheckpointSaver[str]):
    def __init__(self, saver: BaseCheckpointSaver[str], mask: Callable[[str], str]) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._mask = mask

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._saver.aget_tuple(config)

    def alist(self, config: RunnableConfig | None, **bounds: Any) -> AsyncIterator[CheckpointTuple]:
        return self._saver.alist(config, **bounds)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        masked: Checkpoint = {**checkpoint, "channel_values": self._masked(checkpoint["channel_values"])}
        return await self._saver.aput(config, masked, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        masked = [(channel, self._masked(value)) for channel, value in writes]
        await self._saver.aput_writes(config, masked, task_id, task_path)

    def get_next_version(self, current: str | None, channel: None) -> str:
        return self._saver.get_next_version(current, channel)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._mask(value)
        if isinstance(value, dict):
            return {self._masked(key): self._masked(item) for key, item in value.items()}
        if isinstance(value, list | tuple):  # a saver keeps both as a list
            return [self._masked(item) for item in value]
        if isinstance(value, Interrupt):
            return Interrupt(self._masked(value.value), id=value.id)
        if isinstance(value, BaseModel):  # a message of a chat model
            return value.model_copy(update={name: self._masked(item) for name, item in value})
        return value
