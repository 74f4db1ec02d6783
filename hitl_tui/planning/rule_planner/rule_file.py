"""The rule planner's rules.toml: its tables as types, and the reader that compiles them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hitl_tui.meaning.expressions import Expressions, compiled, word_file
from hitl_tui.planning.rule_planner.words import Lexicon


class Need(StrEnum):
    """What a query or a change can ask for; each has one agent."""

    FIND = "find"
    COMPUTE = "compute"
    WRITE = "write"
    RUN = "run"


Expression = Annotated[re.Pattern[str], BeforeValidator(compiled)]
Cue = Annotated[tuple[float, Expression], BeforeValidator(lambda row: (row[0], {"ko": row[1], "en": row[2]}))]
"""An expression that speaks for a need with a weight, or against it with a negative one."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Action(_Table):
    """A word that changes a plan, and on which side of its target it stands.

    Args:
        before: stands before its target (English).
        after: stands after its target (English; Korean always).
    """

    before: Expression | None = None
    after: Expression | None = None

    def found_in(self, text: str) -> list[tuple[tuple[int, int], bool]]:
        """Return where a text has the word, and whether it stands after its target there."""
        sides = ((self.before, False), (self.after, True))
        return [(match.span(), after) for said, after in sides if said for match in said.finditer(text)]


class StepRule(_Table):
    """How a need becomes a step.

    Args:
        timeout: seconds; 0 takes the team's own.
        seconds: estimated time.
        name, task, purpose, expected_output: by language; `{query}` in a task stands for the query where its input
            doesn't hold it.
    """

    agent: str
    timeout: float
    seconds: float
    name: Mapping[str, str]
    task: Mapping[str, str]
    purpose: Mapping[str, str]
    expected_output: Mapping[str, str]


class Rules(_Table):
    """Everything the rule planner knows: the tables of rules.toml, which says what each is for."""

    needs: Mapping[Need, tuple[Cue, ...]]
    threshold: Mapping[Need, float]
    says: Expressions
    follow: Expressions
    strategy: Mapping[str, Expression]
    written: Expressions
    kinds: Mapping[str, frozenset[str]]
    commands: Expressions
    targets: Mapping[Need, Expression]
    actions: Mapping[str, Action]
    revise: Expressions
    steps: Mapping[Need, StepRule]
    sentences: Mapping[str, Mapping[str, str]]

    def denied(self, before: str, after: str) -> bool:
        """Whether what stands before and after a name says that it isn't wanted."""
        return bool(self.commands.negated_before.search(before) or self.commands.negated_after.search(after))


@cache
def rules() -> Rules:
    """Return the rules that ship with the package.

    They are read when they are first asked for: their expressions take longer to compile than most commands to run.
    """
    data = {name: table for name, table in word_file(__package__, "rules.toml").items() if name != "words"}
    groups = data.pop("lexicon")["verbs"].values()
    kinds = {kind: frozenset(words.split()) for kind, words in data["kinds"].items()}
    verbs = [word for group in groups for word in group.split() if word.isascii()]
    tables = {name: Expressions(data[name]) for name in ("says", "follow", "written", "revise")}
    tables["commands"] = Expressions({**data["commands"], "verbs": "|".join(verbs)})
    return Rules.model_validate({**data, **tables, "kinds": kinds})


@cache
def lexicon() -> Lexicon:
    """Return the words that the rules know."""
    data = word_file(__package__, "rules.toml")
    return Lexicon(data["lexicon"], data["words"])
