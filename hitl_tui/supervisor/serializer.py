"""How values of checkpoints are kept: as LangGraph does it, strictly, and packed."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from hitl_tui.threads.packed_values import unpacked


class UnpackingSerializer(JsonPlusSerializer):
    """Loads what the saver packed, too."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return super().loads_typed(unpacked(*data))


def serializer() -> JsonPlusSerializer:
    """Return a serializer that loads plain data only: no type that a checkpoint names is ever imported."""
    return UnpackingSerializer(allowed_msgpack_modules=None)
