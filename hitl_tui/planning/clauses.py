"""Where one request in a text ends and the next begins: at stops, order words, and names of commands in a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hitl_tui.planning.reading import WORD, term_of
from hitl_tui.planning.ruleset import Rules

Span = tuple[int, int]
"""Where something stands in a text: its start, and its end."""

_BEFORE = 80
"""Characters before a name that are looked at for what joins it to the one before."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that asks for one thing.

    Args:
        start: where it stands.
        text: what it says.
        listed: it is joined to the one before as things in a list are, so that a "don't" goes for both.
    """

    start: int
    text: str
    listed: bool = False


def clauses(text: str, rules: Rules) -> list[tuple[int, str]]:
    """Return the clauses of a text, up to a bound, and where each begins."""
    return [(clause.start, clause.text) for clause in split(text, (), rules)]


def split(text: str, named: Iterable[int], rules: Rules) -> list[Clause]:
    """Return the clauses of a text, up to a bound; a name that something joins to what was before begins one.

    Args:
        text: what a person wrote.
        named: where names of commands stand.
        rules: what ends a clause, and what joins names.
    """
    found: list[Clause] = []
    at, listed = 0, False
    for start, end, together in islice(_borders(text, named, rules), rules.limits.clauses):
        found.append(Clause(at, text[at:start], listed))
        at, listed = end, together
    found.append(Clause(at, text[at:], listed))
    return [clause for clause in found if clause.text.strip()]


def _borders(text: str, named: Iterable[int], rules: Rules) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of what parts clauses, and whether it only lists them; where two touch they are one."""
    asked = rules.commands
    borders = [(*m.span(), asked.listing.fullmatch(m.group()) is not None) for m in asked.clause.finditer(text)]
    for at in islice(named, rules.limits.clauses):
        before = text[max(0, at - _BEFORE) : at]
        joint = asked.joint.search(before)
        if joint is not None:
            base = at - len(before)
            borders.append((base + joint.start("joint"), base + joint.end("joint"), joint["listing"] is not None))
    last: tuple[int, int, bool] | None = None
    for start, end, listed in sorted(borders):
        if last is None or start > last[1]:
            if last is not None:
                yield last
            last = (start, end, listed)
        else:
            last = (last[0], max(last[1], end), last[2] and listed)
    if last is not None:
        yield last


def unread(text: str, used: Sequence[Span], rules: Rules) -> tuple[str, ...]:
    """Return the parts of a clause that have content and that nothing was made of, as they were written.

    Args:
        text: the clause.
        used: the places that something was made of.
        rules: which words have no content.
    """
    groups: list[list[Span]] = [[]]
    for match in WORD.finditer(text):
        start, end = match.span()
        if any(s < end and start < e for s, e in used):
            groups.append([])
        elif term_of(match.group(), rules.words) and not rules.commands.told.fullmatch(match.group()):
            groups[-1].append((start, end))
    return tuple(text[group[0][0] : group[-1][1]] for group in groups if group)
