"""`[model]`: the chat model that plans and works; in hitl.toml, in settings.toml, and in the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

VARIABLE, ADDRESS = "HITL_MODEL", "HITL_MODEL_BASE_URL"
"""Variables of the environment that stand above the files: the model, and where its server is."""
NONE = "none"
"""In the place of a model: plan by the rules, whatever else is set."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}:\S{1,200}")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*")


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs, in dollars for a million tokens; what isn't declared is looked up by the model's name."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`[model]`.

    Args:
        name: `provider:model`; empty for no model.
        base_url: address of a server that speaks the provider's protocol; empty for the provider's own.
        timeout: seconds that one answer may take.
        retries: how often a call is tried again where the server is busy or can't be reached.
        requests_per_minute: most calls in a minute; 0 for no limit of ours.
        longest_answer: tokens of one answer at most.
        budget: dollars that a session may spend before it asks; 0 for no limit. Without a known price no call is made.
        token_budget: the same in tokens.
        prices: what it costs, for a model that isn't known; None to look it up.
        proposals: it is asked after each step whether the plan should change.
        answers: it writes up the answer, with citations that are checked.
    """

    name: str = ""
    base_url: str = ""
    timeout: float = 120.0
    retries: int = 2
    requests_per_minute: int = 0
    longest_answer: int = 8192
    budget: float = 0.0
    token_budget: int = 0
    prices: Prices | None = None
    proposals: bool = True
    answers: bool = True

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0].replace("-", "_")

    @property
    def model(self) -> str:
        """The name that the provider knows."""
        return self.name.partition(":")[2]

    @property
    def host(self) -> str:
        """Where its server is, without what may be secret in the address; empty for the provider's own."""
        if not self.base_url:
            return ""
        from urllib.parse import urlsplit

        parts = urlsplit(self.base_url)
        return parts.netloc.rpartition("@")[2]

    def called(self, name: str) -> ModelSettings:
        """Return these settings for another model; one of another provider has the provider's own server and prices.

        Raises:
            BadInput: the name can't be one.
        """
        if problem := name_problem(name):
            raise BadInput(Message("The model {}.", problem))
        if name == NONE:
            return replace(self, name="", base_url="", prices=None)
        other = replace(self, name=name)
        if self.name and other.provider != self.provider:
            other = replace(other, base_url="", prices=None)
        return other if name == self.name else replace(other, prices=None)


def name_problem(name: str) -> str:
    """Return why a text can't name a model, as the rest of a sentence about it; empty where it can."""
    if name == NONE or _NAME.fullmatch(name):
        return ""
    return Message(
        'must be written as provider:name, such as "openai:gpt-5-mini", but it is {}', repr(one_line(name, 80))
    )


def address_problem(address: str) -> str:
    """Return why a text can't be the address of a model's server, as the rest of a sentence; empty where it can."""
    if not _ADDRESS.fullmatch(address):
        return Message("must be an address (https://…)")
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return Message("must be an address (https://…)")
    return Message("must hold no name and no password: keys come from the environment") if "@" in parts.netloc else ""


def chosen_model(declared: ModelSettings, own: ModelSettings, environ: Mapping[str, str]) -> ModelSettings:
    """Return the model that counts: of the environment, else of the person's settings, else of the workspace.

    Args:
        declared: what a trusted workspace says.
        own: what settings.toml in the data folder says.
        environ: the environment.

    Raises:
        BadInput: the environment names something that can't be one.
    """
    found = own
    if declared.name and not own.name:  # a person's limits hold for what a folder names, too
        limits = (own.budget or declared.budget, own.token_budget or declared.token_budget)
        found = replace(declared, budget=limits[0], token_budget=limits[1])
    name, address = environ.get(VARIABLE, ""), environ.get(ADDRESS, "")
    if name:
        if problem := name_problem(name):
            raise BadInput(Message("{} {}.", VARIABLE, problem))
        found = found.called(name)
    if address:
        problem = address_problem(address)
        if problem and found.name:
            raise BadInput(Message("{} {}.", ADDRESS, problem))
        if not problem:  # without a model, too: a session may choose one
            found = replace(found, base_url=address)
    return replace(found, name="") if found.name == NONE else found
