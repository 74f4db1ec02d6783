"""What calls of a model use and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from hitl_tui.config.model_settings import ModelSettings, Prices
from hitl_tui.core.json_types import Json, Stored
from hitl_tui.core.messages import Message

_MILLION = 1_000_000
_BYTES_A_TOKEN = 3.0
"""Fewer than there are in most texts, so that an estimate is rather too high."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one call, or of several.

    Args:
        input_tokens, output_tokens: as the server counted them.
        cost: dollars; of calls whose price isn't known, 0.
        calls: how many.
        unpriced: how many of them have no known price.
        estimated: how many were estimated from their texts, since the server didn't count.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    calls: int = 0
    unpriced: int = 0
    estimated: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def said(self) -> Message:
        """How much it is, in words."""
        if self.cost:
            return Message("{} tokens, ${}", f"{self.tokens:,}", f"{self.cost:.4f}")
        return Message("{} tokens", f"{self.tokens:,}")

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.calls + other.calls,
            self.unpriced + other.unpriced,
            self.estimated + other.estimated,
        )

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values; `from_dict` gives back an equal usage."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": round(self.cost, 6),
            "calls": self.calls,
            "unpriced": self.unpriced,
            "estimated": self.estimated,
        }

    @classmethod
    def from_dict(cls, data: Stored) -> Usage:
        """Return the usage these fields describe; what is missing is 0."""
        return cls(
            input_tokens=int(data.get("input_tokens", 0)),
            output_tokens=int(data.get("output_tokens", 0)),
            cost=float(data.get("cost", 0.0)),
            calls=int(data.get("calls", 0)),
            unpriced=int(data.get("unpriced", 0)),
            estimated=int(data.get("estimated", 0)),
        )


def tokens_in(text: str) -> int:
    """Return about how many tokens a text has, rather too many."""
    return int(len(text.encode("utf-8", "replace")) / _BYTES_A_TOKEN) + 1


def counted(reported: Mapping[str, object] | None, sent: str, answered: str) -> Usage:
    """Return the tokens of one call, not priced yet.

    Args:
        reported: what the server counted; None where it didn't. What it lacks is estimated.
        sent, answered: the texts, for an estimate.
    """
    given, made = (_count((reported or {}).get(name)) for name in ("input_tokens", "output_tokens"))
    if given and made:
        return Usage(given, made, calls=1)
    return Usage(given or tokens_in(sent), made or tokens_in(answered), calls=1, estimated=1)


def _count(value: object) -> int:
    return max(0, value) if isinstance(value, int) else 0


def priced(usage: Usage, settings: ModelSettings) -> Usage:
    """Return a usage with what it costs, as far as that is known."""
    found = prices_of(settings)
    if found is None:
        return replace(usage, unpriced=usage.calls)
    return replace(usage, cost=(usage.input_tokens * found.input + usage.output_tokens * found.output) / _MILLION)


def prices_of(settings: ModelSettings) -> Prices | None:
    """Return what a model costs: as declared, else as the package genai-prices knows it, else None.

    Nothing is looked up for a server of one's own: nobody knows what that costs.
    """
    if settings.prices is not None or settings.base_url:
        return settings.prices
    return _published(settings.provider, settings.model)


def unpriced_budget(settings: ModelSettings) -> Message | None:
    """Return why no call is made where a budget in money can't be kept; None where one may be.

    What a call costs isn't known without prices, and a budget in tokens limits it all the same.
    """
    if not settings.name or not settings.budget or settings.token_budget or prices_of(settings) is not None:
        return None
    return Message(
        "No price is known for {}, so its calls are not made until prices or a token budget are given, or the budget "
        "is taken away.",
        settings.name,
    )


@cache
def _published(provider: str, model: str) -> Prices | None:
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:
        return None
    names = {"google_genai": "google", "google_vertexai": "google", "mistralai": "mistral", "xai": "x-ai"}
    try:
        sides = [
            float(calc_price(Tokens(**{side: _MILLION}), model, provider_id=names.get(provider, provider)).total_price)
            for side in ("input_tokens", "output_tokens")
        ]
    except (LookupError, ValueError):
        return None
    return Prices(*sides)
