"""Why a model gave no answer, in one sentence, whichever package speaks with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hitl_tui.config.extras import install_help
from hitl_tui.config.model_settings import ModelSettings
from hitl_tui.core.errors import BadInput, HitlError, MissingExtra
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.safe_text import mask, one_line

EXTRAS: Mapping[str, str] = MappingProxyType({"openai": "openai", "anthropic": "anthropic", "google_genai": "google"})
"""Extras of this program that bring a provider's package."""
KEYS: Mapping[str, str] = MappingProxyType(
    {
        "openai": "OPENAI_API_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
        "google_genai": "GOOGLE_API_KEY",
        "mistralai": "MISTRAL_API_KEY",
        "groq": "GROQ_API_KEY",
        "deepseek": "DEEPSEEK_API_KEY",
        "xai": "XAI_API_KEY",
        "together": "TOGETHER_API_KEY",
        "fireworks": "FIREWORKS_API_KEY",
        "openrouter": "OPENROUTER_API_KEY",
        "cohere": "COHERE_API_KEY",
    }
)
"""Variables of the environment that hold the keys of providers."""


class ModelFailure(HitlError):
    """A model gave no answer that can be used; nothing was done with what it said."""

    kind = "model"


class BudgetReached(ModelFailure):
    """A call could pass the budget of its session; nothing was sent."""

    kind = "budget"


def unknown_provider(provider: str, known: list[str]) -> BadInput:
    """Return what is said of a provider that doesn't exist."""
    shown = ", ".join(sorted(EXTRAS))
    if near := nearest(provider, known):
        return BadInput(Message('No model provider "{}"; did you mean "{}"?', one_line(provider, 40), near))
    return BadInput(Message('No model provider "{}"; known ones are {}, and others.', one_line(provider, 40), shown))


def missing_package(settings: ModelSettings, package: str) -> MissingExtra:
    """Return what is said where the package of a provider isn't installed."""
    if extra := EXTRAS.get(settings.provider):
        help = install_help(extra)
    else:
        help = Message("Install it with: pip install {}", package)
    return MissingExtra(Message("The model {} needs the package {}.", settings.name, package), help=help)


def missing_key(settings: ModelSettings) -> BadInput:
    """Return what is said where the environment has no key."""
    return BadInput(
        Message("The model {} needs a key: set {} in the environment.", settings.name, KEYS[settings.provider])
    )


def cut_off(settings: ModelSettings) -> ModelFailure:
    """Return what is said where an answer was longer than it may be."""
    return ModelFailure(
        Message("{} was cut off at {} tokens.", settings.name, f"{settings.longest_answer:,}"),
        help=Message("Raise longest_answer of [model]."),
    )


def failure_of(error: BaseException, settings: ModelSettings, key: str = "") -> ModelFailure:
    """Return an error of a provider's package as one sentence.

    Args:
        error: what it raised.
        settings: which model was asked.
        key: its key, which is never repeated.
    """
    name, where = settings.name, settings.host or settings.provider
    status = status_of(error)
    kind = {type(e).__name__ for e in _chain(error)}
    said = one_line(mask(str(error), {"key": key} if key else {}), 200).rstrip(".")
    if status in (401, 403):
        variable = KEYS.get(settings.provider, Message("the environment"))
        return ModelFailure(Message("{} refused the key in {}.", where, variable))
    if status == 404:
        return ModelFailure(Message('{} has no model "{}".', where, settings.model))
    if status == 429:
        return ModelFailure(
            Message("{} is over its rate limit, after {} retries; try again in a while.", name, settings.retries)
        )
    if "LengthFinishReasonError" in kind:
        return cut_off(settings)
    if any("Timeout" in k for k in kind):
        return ModelFailure(Message("{} gave no answer within {} s.", name, f"{settings.timeout:g}"))
    if status >= 500:
        return ModelFailure(Message("{} failed (HTTP {}), after {} retries.", where, status, settings.retries))
    if any("Protocol" in k or k in ("ReadError", "WriteError", "IncompleteRead") for k in kind):
        return ModelFailure(Message("{} ended the connection in the middle of an answer.", where))
    if any(k in kind for k in ("APIConnectionError", "ConnectError", "ConnectionError", "ConnectionRefusedError")):
        return ModelFailure(Message("{} can't be reached.", where))
    if "JSONDecodeError" in kind:
        return ModelFailure(Message("{} answered something that isn't JSON.", where))
    return ModelFailure(Message("{} gave no answer: {}.", name, said or type(error).__name__))


def status_of(failure: BaseException) -> int:
    """Return the HTTP status that a failure comes from; 0 for none."""
    return next(_statuses(failure), 0)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = 0
    while error is not None and seen < 10:
        yield error
        error, seen = error.__cause__ or error.__context__, seen + 1


def _statuses(error: BaseException) -> Iterator[int]:
    for one in _chain(error):
        for name in ("status_code", "code", "http_status"):
            value = getattr(one, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                yield value
