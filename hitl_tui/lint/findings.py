"""What the check finds: findings, effects, and one row a node and effect. Plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hitl_tui.core.messages import Message


class Severity(StrEnum):
    """How bad a finding is. Both make the check fail."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands.

    Args:
        file: as a person named it, or relative to the current folder.
        line: counted from 1.
        column: counted from 1.
    """

    file: str
    line: int
    column: int


Problem = tuple[Place, Message]
"""Where a rule is broken, and what is wrong there."""

Check = Callable[..., Iterable[Problem]]
"""Judges one observation: takes it, gives what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of safe interrupts.

    Args:
        id: stable, such as `HT001`.
        name: stable, a few words with hyphens.
        severity: of its findings.
        what: what is found, a few words.
        meaning: what goes wrong, one sentence.
        remedy: how to mend it, one sentence.
        checks: what judges which class of `observations`.
        of_effects: its findings are effects, which have rows of their own.
        of_answers: where it is broken, an answer may count for something else than what was shown.
    """

    id: str
    name: str
    severity: Severity
    what: str
    meaning: Message
    remedy: Message
    checks: Mapping[type, Check] = field(default_factory=dict, compare=False, repr=False)
    of_effects: bool = False
    of_answers: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken at a place.

    Args:
        rule: which.
        place: where it is mended.
        message: what is wrong there, one sentence.
    """

    rule: Rule
    place: Place
    message: Message

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "rule": self.rule.id,
            "name": self.rule.name,
            "severity": str(self.rule.severity),
            "message": self.message,
            "meaning": str(self.rule.meaning),
            "remedy": str(self.rule.remedy),
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
        }


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that a node does to the world outside the graph's state.

    Args:
        what: a few words with the call, such as `httpx.post`.
        place: where the call stands.
        idempotent: why doing it again changes nothing (`declared`, `task`, `by its form`); empty when nothing says so.
        certain: it is known to be an effect; otherwise its name says so.
    """

    what: str
    place: Place
    idempotent: str = ""
    certain: bool = True


class Position(StrEnum):
    """Where an effect stands in its node."""

    BEFORE = "before"
    AFTER = "after"
    AROUND = "before and after"
    BESIDE = "beside"  # something else asks in the same task
    NONE = "no interrupt"


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One effect of one node, or a node without any.

    Args:
        graph: name of the graph, or of the function that stands alone.
        node: name of the node.
        interrupts: the node may stop and ask, itself or in what it calls.
        effect: None for a node that does nothing to the world.
        position: where the effect stands; `NONE` without an interrupt.
        findings: where rules are broken in the node, by rule.
    """

    graph: str
    node: str
    interrupts: bool
    effect: Effect | None
    position: Position
    findings: tuple[Finding, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that are broken in the node, each once."""
        return tuple(dict.fromkeys(finding.rule for finding in self.findings))

    @property
    def repeated(self) -> bool:
        """Whether an answer makes the effect happen again, and nothing says that this is harmless."""
        before = self.position in (Position.BEFORE, Position.AROUND, Position.BESIDE)
        return self.effect is not None and before and not self.effect.idempotent

    @property
    def verdict(self) -> str:
        """`happens again` for an effect, else `fault` in a node that breaks a rule, else `ok`."""
        return "happens again" if self.repeated else "fault" if self.other_rules else "ok"

    @property
    def other_rules(self) -> tuple[Rule, ...]:
        """Return rules that are broken in the node besides those about effects, which have rows of their own."""
        return tuple(rule for rule in self.rules if not rule.of_effects)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        effect = self.effect
        return {
            "graph": self.graph,
            "node": self.node,
            "interrupts": self.interrupts,
            "effect": effect.what if effect else None,
            "file": effect.place.file if effect else None,
            "line": effect.place.line if effect else None,
            "position": str(self.position),
            "idempotent": (effect.idempotent or False) if effect else None,
            "rules": [rule.id for rule in self.rules],
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What was found.

    Args:
        target: what was checked, as it was named.
        file: its file.
        findings: by file and place.
        rows: by graph and node, in the order of the source.
        files: every file that was read.
        notes: what could not be followed, one sentence each.
    """

    target: str
    file: str
    findings: tuple[Finding, ...]
    rows: tuple[NodeRow, ...]
    files: tuple[str, ...]
    notes: tuple[Message, ...] = ()

    def asking(self, node: str) -> tuple[Finding, ...]:
        """Return what is found in a node that may ask, or in the tools that it runs."""
        inside = (f"{node}/", "tool ") if node == "tools" else f"{node}/"
        asking = [r for r in self.rows if r.interrupts and (r.node == node or r.node.startswith(inside))]
        return tuple(dict.fromkeys(finding for row in asking for finding in row.findings))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON with stable keys."""
        return {
            "target": {"name": self.target, "file": self.file, "files": list(self.files)},
            "findings": [finding.to_dict() for finding in self.findings],
            "nodes": [row.to_dict() for row in self.rows],
            "notes": list(map(str, self.notes)),
        }
