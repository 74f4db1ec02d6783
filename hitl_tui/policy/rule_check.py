"""Rules of a policy that nobody can satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hitl_tui.core.errors import ConfigError
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Policy, Ruling
from hitl_tui.policy.approvers import Approvers


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """A rule that nobody can satisfy.

    Args:
        rule: its number, counted from 1.
        line: where it stands in hitl.toml; 0 where that isn't known.
        quorum, level: what it demands.
        message: one sentence: what is missing, and what helps.
    """

    rule: int
    line: int
    quorum: int
    level: int
    message: str

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return asdict(self)


def unsatisfiable(policy: Policy, approvers: Approvers, text: str = "") -> tuple[Unsatisfiable, ...]:
    """Return the rules that nobody can satisfy.

    Args:
        policy: the rules.
        approvers: who counts.
        text: hitl.toml, for the lines.
    """
    found = [
        (number, rule.terms, said)
        for number, rule in enumerate(policy.rules, start=1)
        # What is allowed asks all the same in mode step, on the rule's terms.
        if rule.decision is not Ruling.DENY and (said := approvers.shortfall(rule.terms))
    ]
    lines = _lines(text, len(policy.rules)) if found and text else ()
    return tuple(
        Unsatisfiable(number, lines[number - 1] if lines else 0, terms.quorum, terms.level, said)
        for number, terms, said in found
    )


def folder_problems(folder: Path, approvers: Approvers) -> tuple[str, ...]:
    """Return a sentence for each rule of a folder's hitl.toml that nobody can satisfy, for a first screen.

    A file that can't be used has none here: whoever opens it is told why.
    """
    from hitl_tui.config.loader import FILE_NAME, content_of, parse_content

    try:
        content = content_of(folder / FILE_NAME)
        # Reading the whole of it takes longer than a first screen may wait.
        if content is None or not (b"quorum" in content or b"level" in content):
            return ()
        found = unsatisfiable(parse_content(content).policy, approvers)
    except ConfigError:
        return ()
    return tuple(Message("{} rule {}: {}", FILE_NAME, one.rule, one.message) for one in found)


def _lines(text: str, count: int) -> Sequence[int]:
    from hitl_tui.config.problems import key_places, place_of

    places = key_places(text)
    return [place_of(places, ("policy", number))[0] for number in range(count)]
