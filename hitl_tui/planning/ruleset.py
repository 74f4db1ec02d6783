"""The rule planner's data, as types: what rules.toml says, which `rulefile` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Need(StrEnum):
    """What a query or a change can ask for; each has one agent."""

    FIND = "find"
    COMPUTE = "compute"
    WRITE = "write"
    RUN = "run"


LANGUAGES = ("ko", "en")

Expression = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Cue:
    """An expression that speaks for a need, or against it with a negative weight."""

    expression: Expression
    weight: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds, in characters unless said otherwise."""

    head: int
    tail: int
    query: int
    revise: int
    clauses: int
    task: int
    title_words: int
    title: int
    subjects: int
    entities: int
    keywords: int
    few_hits: int
    broader_words: int


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """When two amounts are a change: what stands between them."""

    between: Expression
    marks: Expression
    weight: float
    amounts: float


@dataclass(frozen=True, slots=True)
class Topic:
    """A verb that a title says as a noun."""

    expression: Expression
    noun: str


@dataclass(frozen=True, slots=True)
class Words:
    """Words that carry no content, and how Korean words end."""

    english: frozenset[str]
    stop: frozenset[str]
    requests: frozenset[str]
    particles: tuple[str, ...]
    whole: frozenset[str]
    verbs: Expression
    chatter: frozenset[str]
    howto: Expression
    sums: Expression
    counts: Expression
    order_cue: Expression
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Titles:
    """How a title is made of a question.

    Args:
        sentence: where an English sentence ends.
        question: how an English question begins that isn't about a thing it names.
        opening: English words at a start that only ask.
        dangling: English words that nothing may end with.
        clause: where an English sentence goes on to something else.
        empty: Korean words that say nothing.
        made: Korean verbs made of a noun, which is the group `noun`.
    """

    sentence: Expression
    question: Expression
    opening: Expression
    dangling: Expression
    clause: Expression
    empty: Expression
    made: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """How things compared are named, and which differences are amounts."""

    ko: Expression
    ko_joint: Expression
    en: Expression
    en_versus: Expression
    en_joint: Expression
    en_list: Expression
    difference: Expression
    measures: Expression
    measure_of: Expression
    of_measure: Expression
    en_end: Expression


@dataclass(frozen=True, slots=True)
class CommandRules:
    """How a query asks for a declared command.

    Args:
        joint: ends with a name of a list of commands: the group `joint` parts it from the one before, `listing` is
            set where that is no more than a comma or an "and".
        listing: the whole of what parts things in a list.
        statement: begins what says something of a thing that was named just before.
        told: a word that goes with commands and asks for nothing more.
        apart: ends before a word that isn't a command's value, but says where or when.
        measured: begins after a number that is an amount of something.
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
    apart: Expression
    measured: Expression
    request: Expression
    lead: Expression
    actions: Mapping[str, Expression]
    objects: Mapping[str, Expression]
    modifiers: Mapping[str, Expression]
    units: Mapping[str, Expression]
    paths: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A word that changes a plan, and on which side of its target it stands.

    Args:
        kind: `add`, `ask` (a weak `add`), `remove`, `skip`, `keep`, `priority` or `after`.
        level: of a priority: one of its names, or `first`.
        before: stands before its target (English).
        after: stands after its target (English; Korean always).
    """

    kind: str
    level: str
    before: Expression | None
    after: Expression | None


@dataclass(frozen=True, slots=True)
class ReviseRules:
    """How plain text changes a plan."""

    targets: Mapping[Need, Expression]
    number: Expression
    everything: Expression
    stop_after: Expression
    again: Expression
    sentence: Expression
    listing: Expression
    particle: Expression
    filler: Expression
    subject_en: Expression
    subject_verb: Expression
    subject_article: Expression
    subject_bare: Expression
    subject_end: Expression
    subject_and: Expression
    polite: Expression
    measured: Expression
    figure: Expression
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Broader:
    """How a search is said in fewer and more common words.

    Args:
        asking: words that only ask for a measure, or join others.
        frequent: words that most documents have.
        synonyms: groups of words that mean the same.
    """

    asking: Expression
    frequent: frozenset[str]
    synonyms: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """A step's texts in one language; `{query}` in `task` stands for the query where its input doesn't hold it."""

    name: str
    task: str
    purpose: str
    expected_output: str


@dataclass(frozen=True, slots=True)
class StepRule:
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


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything the rule planner knows."""

    limits: Limits
    needs: Mapping[Need, tuple[Cue, ...]]
    threshold: Mapping[Need, float]
    change: ChangeRule
    entities: Mapping[str, tuple[Expression, ...]]
    words: Words
    strategy: Mapping[str, Expression]
    compare: Compare
    titles: Titles
    commands: CommandRules
    revise: ReviseRules
    broader: Broader
    steps: Mapping[Need, StepRule]
    sentences: Mapping[str, Mapping[str, str]]
