"""Settings of the review of a plan: in the environment, and in the `.env` of a trusted workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.plan_review import LONGEST_DEADLINE, MAX_PLAN_REVISIONS, MOST_REVISIONS, ReviewOptions
from hitl_tui.core.safe_text import one_line

ENV_FILE = ".env"
LONGEST_POLL = 3600.0
SHORTEST_POLL = 0.1


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """How plans are reviewed.

    Args:
        max_revisions: how often a plan is revised; then it goes ahead, and what is of high risk still asks.
        timeout: seconds that a runtime without a terminal waits for an answer once it published a plan.
        poll_interval: seconds between looks at where feedback is put.
        on_timeout: `approve` or `reject`, what it means for such a runtime that nobody answered.
    """

    max_revisions: int = MAX_PLAN_REVISIONS
    timeout: float = 300.0
    poll_interval: float = 3.0
    on_timeout: str = "approve"

    @property
    def review(self) -> ReviewOptions:
        """The options of a session that such a runtime begins."""
        return ReviewOptions(self.timeout, self.on_timeout, self.max_revisions)

    @property
    def interactive(self) -> ReviewOptions:
        """The options of a session that a person begins: nothing happens because they take their time."""
        return ReviewOptions(max_revisions=self.max_revisions)


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_REVISIONS:
        raise ValueError(Message("must be a whole number from {} to {}", 1, MOST_REVISIONS))
    return int(text)


def _seconds(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not least <= number <= most:
            raise ValueError(Message("must be a number of seconds from {} to {}", f"{least:g}", f"{most:.0f}"))
        return number

    return read


def _outcome(text: str) -> str:
    if text.lower() not in ("approve", "reject"):
        raise ValueError(Message('must be "approve" or "reject"'))
    return text.lower()


VARIABLES: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "MAX_PLAN_REVISIONS": ("max_revisions", _whole),
    "PLAN_FEEDBACK_TIMEOUT": ("timeout", _seconds(1.0, LONGEST_DEADLINE)),
    "PLAN_FEEDBACK_POLL_INTERVAL": ("poll_interval", _seconds(SHORTEST_POLL, LONGEST_POLL)),
    "PLAN_FEEDBACK_ON_TIMEOUT": ("on_timeout", _outcome),
}
"""What each variable sets, and who reads it."""


def plan_variables(content: bytes) -> dict[str, str]:
    """Return those of these variables that the bytes of a `.env` set; what else it sets is nothing to us."""
    if not any(name.encode() in content for name in VARIABLES):
        return {}
    from dotenv import dotenv_values

    found = dotenv_values(stream=StringIO(content.decode("utf-8-sig", errors="replace")), interpolate=False)
    return {name: value for name in VARIABLES if (value := found.get(name)) is not None}


def plan_settings(environ: Mapping[str, str], declared: Mapping[str, str]) -> PlanSettings:
    """Return how plans are reviewed: as the environment says, else as the workspace does; an empty value says nothing.

    Args:
        environ: the environment.
        declared: what the `.env` of a trusted workspace sets.

    Raises:
        BadInput: a value can't be used; one sentence.
    """
    found: dict[str, Any] = {}
    for name, (field, read) in VARIABLES.items():
        own = environ.get(name, "").strip()
        text = own or declared.get(name, "").strip()
        if not text:
            continue
        try:
            found[field] = read(text)
        except ValueError as error:
            where = name if own else Message("{} in {}", name, ENV_FILE)
            raise BadInput(Message("{} {}, but it is {}.", where, error.args[0], repr(one_line(text, 60)))) from error
    return PlanSettings(**found)
