"""Why an effect was not carried out; a team lets these pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.errors import HitlError


class EffectInDoubt(HitlError):
    """An effect may have happened already, and a person has to say.

    Args:
        effect: `key`, `name`, `subject`, `why`.
    """

    def __init__(self, effect: Mapping[str, Any]) -> None:
        super().__init__(f"It isn't known whether this has happened already: {effect.get('why', '')}")
        self.effect = dict(effect)


class RunNotCurrent(HitlError):
    """The run was stopped or its branch left: it may do nothing more."""
