"""The rules.toml of the rule planner: its tables as types, its words, and the reader that compiles them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hitl_tui.meaning.amounts import NUMERALS
from hitl_tui.meaning.expressions import Expressions, compiled, word_file
from hitl_tui.meaning.stems import english_stem

if TYPE_CHECKING:
    from hitl_tui.planning.rule_planner.command_facts import CommandFacts

_REMEMBERED = 65_536
"""Words of which it is kept what they mean."""
_HANGUL = re.compile("[가-힣]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[가-힣]+|\d+|%")


def stem(word: str) -> str:
    """Return a word in lower case without an English ending: "verification" and "verify" have one stem."""
    lower = word.lower()
    if not lower.isascii():
        return lower
    root = english_stem(lower)
    return f"{root}i" if root.endswith("if") and lower.endswith(("ification", "ifications")) else root


def alike(one: str, other: str) -> bool:
    """Whether two stems are of one word: the same, or a long one begins with the other."""
    short, long = sorted((one, other), key=len)
    if short == long:
        return True
    least = 2 if _HANGUL.search(short) else 5
    return len(short) >= least and long.startswith(short) and len(long) - len(short) <= 3


def name_words(name: str) -> list[str]:
    """Return the words of a name: `minAmount` and `min_amount` have two."""
    return _PARTS.findall(name)


def goes_on(word: str, particle: str) -> bool:
    """Whether a particle can stand after a word: `은` only after a consonant, `는` only after a vowel."""
    last = ord(word[-1]) - ord("가")
    if not 0 <= last < 11172:
        return True
    consonant = last % 28
    if particle in ("으로", "로"):
        return word[-1] != "으" and (particle == "으로") == (consonant not in (0, 8))
    return particle not in ("는가를와" if consonant else "은이을과")


class Lexicon:
    """Groups of words that mean the same.

    Args:
        groups: of `verbs` and `nouns`: group → its words; English ones are compared by stem, Korean ones by how a word
            begins. `looking`: verbs that change nothing, or not much; `knowing`: those that ask to know something.
        words: those of rules.toml that say nothing by themselves, particles that Korean words end with, and words that
            end like that by themselves.
    """

    def __init__(self, groups: Mapping[str, Any], words: Mapping[str, Iterable[str]]) -> None:
        self.verbs, self.nouns = frozenset(groups["verbs"]), frozenset(groups["nouns"])
        self.looking, self.knowing = frozenset(groups["looking"].split()), frozenset(groups["knowing"].split())
        self.empty = frozenset(words["stop"])
        self.whole, self.chatter = frozenset(words["whole"]), frozenset(words["chatter"])
        self.requests = frozenset(words["requests"])
        self._particles = sorted(words["particles"], key=len, reverse=True)
        named = [(w, n) for kind in ("verbs", "nouns") for n, words in groups[kind].items() for w in words.split()]
        self._korean = [(word, name) for word, name in named if not word.isascii()]
        self._english: dict[str, set[str]] = {}
        for word, name in named:
            self._english.setdefault(stem(word), set()).add(name)
        self._concepts = lru_cache(_REMEMBERED)(self._concepts_of)

    def concepts(self, word: str) -> frozenset[str]:
        """Return what a word means: its groups, or itself."""
        return self._concepts(word.lower()) if word else frozenset()

    def _concepts_of(self, word: str) -> frozenset[str]:
        if word.isascii():
            named = frozenset(self._english.get(stem(word), ()))
        else:
            named = frozenset(n for said, n in self._korean if word == said or (said[1:] and word.startswith(said)))
        return named or frozenset([f"={stem(word)}"])

    def is_verb(self, word: str) -> bool:
        return any(concept in self.verbs for concept in self.concepts(word))

    def plain(self, word: str) -> str:
        """Return a word without a Korean particle; empty where it says nothing."""
        rest = self.bare(word)
        return "" if {word.lower(), rest.lower()} & self.empty else rest

    def bare(self, word: str) -> str:
        """Return a word without a Korean particle."""
        if not _HANGUL.search(word[-1:]) or word in self.whole:
            return word
        for particle in filter(word.endswith, self._particles):
            rest = word[: -len(particle)]
            if (len(rest) >= 2 or rest.isascii() or rest in self.empty) and rest and goes_on(rest, particle):
                return rest
        return word

    def is_word(self, said: str, word: str) -> bool:
        """Whether something said is a word, alone or with a Korean particle."""
        return said == word or (said.startswith(word) and said.removeprefix(word) in self._particles)

    def vocabulary(self, facts: CommandFacts) -> frozenset[str]:
        """Return what the words mean by which something that can be called describes itself."""
        parts = [facts.name, facts.description, *facts.parameters]
        parts += [p.description for p in facts.parameters.values()]
        return self.meant(" ".join(parts)) | (self.meant(" ".join(facts.runs)) - self.verbs)

    def deeds(self, facts: CommandFacts) -> frozenset[str]:
        """Return what something that can be called does, by what it says of itself."""
        return self.meant(f"{facts.name} {facts.description}") & self.verbs

    def names(self, facts: CommandFacts) -> frozenset[str]:
        """Return what the words mean that name a step that calls something: those of its name, and what it does."""
        first = next(iter(name_words(facts.description)), "")
        return self.meant(facts.name) | (self.concepts(self.plain(first)) & self.verbs)

    def found(self, word: str, vocabulary: frozenset[str]) -> frozenset[str]:
        """Return what of a vocabulary a word means, or is written like."""
        root = stem(word)
        return self.concepts(word) & vocabulary or frozenset(
            c for c in vocabulary if c[0] == "=" and len(word) > 1 and alike(c[1:], root)
        )

    def meant(self, text: str) -> frozenset[str]:
        plain = (self.plain(word) for word in name_words(text))
        return frozenset(concept for word in plain for concept in self.concepts(word))


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
    """A word that changes a plan, before its target (English) or after it (English; Korean always)."""

    before: Expression | None = None
    after: Expression | None = None

    def found_in(self, text: str) -> list[tuple[tuple[int, int], bool]]:
        """Return where a text has the word, and whether it stands after its target there."""
        sides = ((self.before, False), (self.after, True))
        return [(match.span(), after) for said, after in sides if said for match in said.finditer(text)]


class StepRule(_Table):
    """How a need becomes a step.

    Args:
        seconds: estimated time.
        task, purpose, expected_output: by language; `{query}` in a task stands for the query where its input
            doesn't hold it.
    """

    agent: str
    seconds: float
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
    table: StepRule
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
    tables = {name: Expressions(data[name]) for name in ("says", "follow", "revise")}
    tables["written"] = Expressions({**data["written"], "numerals": "|".join(n for n in NUMERALS if n.isascii())})
    tables["commands"] = Expressions({**data["commands"], "verbs": "|".join(verbs)})
    return Rules.model_validate({**data, **tables, "kinds": kinds})


@cache
def lexicon() -> Lexicon:
    """Return the words that the rules know."""
    data = word_file(__package__, "rules.toml")
    return Lexicon(data["lexicon"], data["words"])
