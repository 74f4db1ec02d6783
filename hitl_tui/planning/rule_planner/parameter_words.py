"""The parameters of a declared command, from the words near its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.planning.rule_planner.query_reader import Span
from hitl_tui.planning.rule_planner.rule_file import CommandRules

if TYPE_CHECKING:
    from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts

PAIR = re.compile(
    r"""(?<![\w=-])(?:--)?(?P<name>[A-Za-z][\w-]{0,40})=(?P<value>"[^"\n]{0,400}"|'[^'\n]{0,400}'|\S{1,400})"""
)
_NUMBER = r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,12})?"
_VALUE = r"""(?P<value>"[^"\n]{1,400}"|'[^'\n]{1,400}'|[\w.~/@+%-]{1,400})"""
_LINK = r"(?:은|는|을|를|이|가)?\s{0,3}(?:[:=]|(?:is|of|to|as)(?=\s))?\s{0,3}"
_BARE = re.compile(rf"(?<![\w.=/-]){_VALUE}")
_SPOKEN_NUMBER = re.compile(rf"(?<![\w.,/:-])(?P<value>{_NUMBER})(?=$|[\s,;!?]|[.](?:\s|$)|(?:으로|로)(?![가-힣]))")
_PARTICLE = re.compile(r"(?<=[A-Za-z0-9])(?:으로|로|을|를|은|는|이|가|와|과|이랑|랑|하고|에서|에|만|도)$")
_HANGUL = re.compile("[가-힣]")
_TEXTS = ("string", "path")


@dataclass(frozen=True, slots=True)
class Bound:
    """The parameters of one call.

    Args:
        parameters: those given, in the order they are declared; defaults are left to the team.
        used: the places that gave them.
    """

    parameters: JsonObject
    used: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as it was written, and where."""

    value: str
    place: Span


def bind(clause: str, facts: CommandFacts, rules: CommandRules, named: Span | None = None) -> list[Bound]:
    """Return the calls that a clause gives parameters for: one, or one for each value where it lists several.

    Args:
        clause: what asks for the command.
        facts: the command.
        rules: how values are said.
        named: where it is asked for; None where that isn't known, so that only what says its parameter is taken.

    Raises:
        PlanError: a parameter is unknown.
    """
    given = _pairs(clause, facts)
    pairs = tuple(m.span() for m in PAIR.finditer(clause))
    rest = _blanked(clause, [*pairs, *([named] if named is not None else [])])
    for name, parameter in facts.parameters.items():
        if name not in given:
            found = _labelled(name, parameter, rest) or _spoken(name, parameter, rest, facts, rules)
            if found is not None:
                given[name] = found
                rest = _blanked(rest, [found.place])
    several: tuple[str, list[_Given]] | None = None
    if named is not None:
        several = _unlabelled(rest, named[1], given, facts, rules)
    if several is None:
        return [_bound(given, pairs, facts)]
    name, values = several
    return [_bound({**given, name: value}, (*pairs, *(v.place for v in values)), facts) for value in values]


def _bound(given: Mapping[str, _Given], pairs: Sequence[Span], facts: CommandFacts) -> Bound:
    parameters = {n: _typed(given[n].value, facts.parameters[n]) for n in facts.parameters if n in given}
    return Bound(parameters, (*pairs, *(g.place for g in given.values())))


def refuse_missing(bound: Bound, facts: CommandFacts) -> None:
    """Check that nothing is missing that has no default.

    Raises:
        PlanError: something is.
    """
    missing = [n for n, p in facts.parameters.items() if p.default is None and n not in bound.parameters]
    if missing:
        example = " ".join([facts.name, *(f"{n}=…" for n in missing)])
        raise PlanError(
            Message("The command {} needs {}.", facts.name, " and ".join(missing)),
            help=Message('For example: "run {}"', example),
        )


def _pairs(clause: str, facts: CommandFacts) -> dict[str, _Given]:
    given = {m["name"]: _Given(_unquoted(m["value"]), m.span()) for m in PAIR.finditer(clause)}
    unknown = [name for name in given if name not in facts.parameters]
    if unknown:
        known = ", ".join(facts.parameters) or "none"
        raise PlanError(Message('The command {} has no parameter "{}"; it has {}.', facts.name, unknown[0], known))
    return given


def _blanked(text: str, places: Sequence[Span]) -> str:
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return _PARTICLE.sub("", value.rstrip(",;!?")) or value


def _labelled(name: str, parameter: ParameterFacts, clause: str) -> _Given | None:
    """Return the value that stands after a parameter's name: "n 5", "name: l2.log"."""
    spoken = "[-_ ]".join(re.escape(part) for part in re.split("[-_]", name))
    for match in re.finditer(rf"(?<![\w./-]){spoken}(?![A-Za-z0-9_/-]){_LINK}{_VALUE}", clause, re.IGNORECASE):
        value, place = _plain(match["value"], match.start("value"))
        if value and _fits(value, parameter):
            return _Given(value, (match.start(), place[1]))
    return None


def _plain(said: str, at: int) -> tuple[str, Span]:
    """Return a value without quotes, a stop or a Korean particle after it, and where it stands."""
    value = _unquoted(said)
    return (value if said[0] in "\"'" else value.rstrip(".")), (at, at + len(said))


def _fits(value: str, parameter: ParameterFacts) -> bool:
    """Whether a word can only be a value: a number, one of the choices, or what no sentence has, such as `l2.log`."""
    if parameter.type in ("integer", "number"):
        return re.fullmatch(_NUMBER, value) is not None
    if parameter.type == "boolean":
        return value.lower() in ("true", "false", "yes", "no")
    if parameter.choices:
        return value in parameter.choices
    return _no_word(value)


def _no_word(value: str) -> bool:
    inside = value.strip("'")
    return any(c.isdigit() or c in "./_~@" for c in inside) and any(c.isalnum() for c in inside)


def _spoken(
    name: str, parameter: ParameterFacts, clause: str, facts: CommandFacts, rules: CommandRules
) -> _Given | None:
    """Return the value a clause gives in words: a number with its unit, a folder, one of the choices."""
    if parameter.type in ("integer", "number") and name in rules.units:
        return _only([_Given(m["value"], m.span()) for m in rules.units[name].finditer(clause)])
    if parameter.type == "path" and sum(p.type == "path" for p in facts.parameters.values()) == 1:
        found = [(m, group) for e in rules.paths for m in e.finditer(clause) for group, v in m.groupdict().items() if v]
        return _only([_Given(m[group].rstrip("."), m.span()) for m, group in found])
    if parameter.choices:
        chosen = [
            m for c in parameter.choices for m in re.finditer(rf"(?<![\w-]){re.escape(c)}(?![A-Za-z0-9_-])", clause)
        ]
        return _only([_Given(m.group(), m.span()) for m in chosen])
    return None


def _only(values: Sequence[_Given]) -> _Given | None:
    """The one value there is; several would be a guess."""
    return values[0] if len({v.value for v in values}) == 1 else None


def _unlabelled(
    clause: str, after: int, given: Mapping[str, _Given], facts: CommandFacts, rules: CommandRules
) -> tuple[str, list[_Given]] | None:
    """Return the one parameter that is still without a value and can take those that stand alone, and these."""
    free = {n: p for n, p in facts.parameters.items() if n not in given and not p.choices}
    numbers = [n for n, p in free.items() if p.type in ("integer", "number")]
    texts = [n for n, p in free.items() if p.type in _TEXTS]
    if len(numbers) == 1:
        found = [_Given(m["value"], m.span()) for m in _SPOKEN_NUMBER.finditer(clause, after)]
        found = [g for g in found if not _measured(clause, g.place[1], rules)]
        if len(found) == 1:
            return numbers[0], found
    if len(texts) == 1:
        path = free[texts[0]].type == "path"
        found = [g for g in _values(clause, after, rules) if not path or {".", "/"} & set(g.value)]
        if len(found) == 1 or (found and _listed(clause, found, rules)):
            return texts[0], found
    return None


def _values(clause: str, after: int, rules: CommandRules) -> Iterator[_Given]:
    """Yield what can only be a value and stands after what asks for the command, or in Korean before it."""
    for match in _BARE.finditer(clause):
        value, place = _plain(match["value"], match.start("value"))
        if match.start() < after and not _HANGUL.match(clause[match.start() + len(value) :].lstrip()):
            continue
        quoted = match["value"][0] in "\"'" and value
        if re.fullmatch(_NUMBER, value) or not (quoted or (_no_word(value) and not _HANGUL.search(value))):
            continue
        if not rules.apart.search(clause[: match.start()]):
            yield _Given(value, place)


def _listed(clause: str, values: Sequence[_Given], rules: CommandRules) -> bool:
    gaps = (clause[one.place[1] : other.place[0]] for one, other in pairwise(values))
    return all(rules.listing.fullmatch(gap) for gap in gaps)


def _measured(clause: str, at: int, rules: CommandRules) -> bool:
    """Whether a number is an amount of something, rather than a value."""
    return rules.measured.match(clause, at) is not None


def _typed(value: str, parameter: ParameterFacts) -> Json:
    # What doesn't read as its type stays as written: the team's own check says what it expected.
    if parameter.type == "integer" and re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    if parameter.type == "number" and re.fullmatch(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,12})?", value):
        return float(value)
    if parameter.type == "boolean" and value.lower() in ("true", "false", "yes", "no"):
        return value.lower() in ("true", "yes")
    return value
