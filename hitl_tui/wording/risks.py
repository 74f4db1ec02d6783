"""Risk classes in words."""

from __future__ import annotations

from collections.abc import Mapping

from hitl_tui.language import mark

RISK_WORDS: Mapping[str, str] = {
    "high": mark("high risk"),
    "medium": mark("medium risk"),
    "low": mark("low risk"),
}
"""The riskiest first."""
