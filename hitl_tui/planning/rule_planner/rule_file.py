"""The rule planner's rules.toml: its tables as types, and the reader that compiles them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hitl_tui.planning.rule_planner.words import Lexicon, Units


class Need(StrEnum):
    """What a query or a change can ask for; each has one agent."""

    FIND = "find"
    COMPUTE = "compute"
    WRITE = "write"
    RUN = "run"


def _compiled(raw: str | Mapping[str, str]) -> re.Pattern[str]:
    """Return a text as an expression; a table of `ko` and `en` is one for both, English words with a boundary."""
    if isinstance(raw, Mapping):
        english = [rf"(?<![a-z0-9_])(?:{raw['en']})(?![a-z0-9_])"] if "en" in raw else []
        raw = "|".join(f"(?:{part})" for part in [*filter(None, [raw.get("ko")]), *english])
    return re.compile(raw, re.IGNORECASE)


Expression = Annotated[re.Pattern[str], BeforeValidator(_compiled)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Cue(_Table):
    """An expression that speaks for a need, or against it with a negative weight."""

    expression: Expression
    weight: float


class Limits(_Table):
    """Bounds, in characters unless said otherwise."""

    head: int
    tail: int
    query: int
    revise: int
    clauses: int
    task: int
    title: int
    entities: int
    keywords: int
    few_hits: int
    broader_words: int


class Words(_Table):
    """Words that carry no content, and words that ask."""

    english: frozenset[str]
    requests: frozenset[str]
    verbs: Expression
    chatter: frozenset[str]
    howto: Expression
    order_cue: Expression


class CommandRules(_Table):
    """How a query asks for a declared command.

    Args:
        joint: ends with a name of a list of commands: the group `joint` parts it from the one before, `listing` is
            set where that is no more than a comma or an "and".
        listing: the whole of what parts things in a list.
        statement: begins what says something of a thing that was named just before.
        told: a word that goes with commands and asks for nothing more.
        with_team: ends before the name of a team that is to do something ("let", "with the").
        modifiers: words that say which of several things; alone they name nothing.
    """

    run_before: Expression
    run_after: Expression
    negated_before: Expression
    negated_after: Expression
    negated_deed: Expression
    unknown: tuple[Expression, ...]
    clause: Expression
    joint: Expression
    listing: Expression
    statement: Expression
    told: Expression
    request: Expression
    to_something: Expression
    lead: Expression
    with_team: Expression
    modifiers: Expression
    paths: tuple[Expression, ...]

    def denied(self, before: str, after: str) -> bool:
        """Whether what stands before and after a name says that it isn't wanted."""
        return bool(self.negated_before.search(before) or self.negated_after.search(after))


class Action(_Table):
    """A word that changes a plan, and on which side of its target it stands.

    Args:
        kind: a `Verb`.
        level: of a priority: one of its names, or `first`.
        before: stands before its target (English).
        after: stands after its target (English; Korean always).
    """

    kind: str
    level: str = ""
    before: Expression | None = None
    after: Expression | None = None

    def found_in(self, text: str) -> bool:
        """Whether a text has the word."""
        return any(e.search(text) for e in (self.before, self.after) if e is not None)


class ReviseRules(_Table):
    """How plain text changes a plan."""

    targets: Mapping[Need, Expression]
    number: Expression
    everything: Expression
    also: Expression
    again: Expression
    particle: Expression
    filler: Expression
    imperative: Expression
    around: Expression
    sentence: Expression
    polite: Expression
    measured: Expression
    about: Expression
    found: Expression
    joint: Expression
    sequence: Expression
    reverse: Expression
    rest: Expression
    both: Expression
    left: Expression
    actions: tuple[Action, ...]

    def names_step(self, text: str) -> bool:
        """Whether a text names a step by its kind or id."""
        return bool(self.number.search(text)) or any(target.search(text) for target in self.targets.values())


class Wording(_Table):
    """A step's texts in one language; `{query}` in `task` stands for the query where its input doesn't hold it."""

    name: str
    task: str
    purpose: str
    expected_output: str


class StepRule(_Table):
    """How a need becomes a step.

    Args:
        agent: who takes it.
        priority: 0 high, 1 medium, 2 low.
        timeout: seconds; 0 takes the team's own.
        seconds: estimated time.
        wording: texts by language.
    """

    agent: str
    priority: int
    timeout: float
    seconds: float
    wording: Mapping[str, Wording]


class Rules(_Table):
    """Everything the rule planner knows."""

    limits: Limits
    needs: Mapping[Need, tuple[Cue, ...]]
    threshold: Mapping[Need, float]
    words: Words
    strategy: Mapping[str, Expression]
    lexicon: Lexicon
    units: Units
    commands: CommandRules
    revise: ReviseRules
    steps: Mapping[Need, StepRule]
    sentences: Mapping[str, Mapping[str, str]]


@cache
def load_rules() -> Rules:
    """Return the rules that ship with the package.

    They are read when they are first asked for: their expressions take longer to compile than most commands to run.
    """
    text = resources.files("hitl_tui.planning.rule_planner").joinpath("rules.toml").read_text(encoding="utf-8")
    return _rules(tomllib.loads(text))


def _rules(data: dict[str, Any]) -> Rules:
    """Return the tables as rules; those of words become a lexicon, those of units what reads them."""
    commands, words = data["commands"], data["words"]
    verbs = [word for group in data["lexicon"]["verbs"].values() for word in group.split() if word.isascii()]
    english = "|".join([*verbs, *commands.pop("asked").split()]).replace("_", " ?")
    commands["clause"] = commands["clause"].replace("{verbs}", english)
    lexicon = Lexicon(data["lexicon"], words.pop("stop"), words.pop("particles"), words.pop("whole"))
    units = Units(data["units"], data.pop("kinds"), data.pop("numerals"))
    return Rules.model_validate({**data, "lexicon": lexicon, "units": units})
