"""How words ask for a declared command (by its name, or by what it does) and give its parameters."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.planning.reading import terms_of
from hitl_tui.planning.ruleset import CommandRules, Expression, Rules

_PAIR = re.compile(
    r"""(?<![\w=-])(?:--)?(?P<name>[A-Za-z][\w-]{0,40})=(?P<value>"[^"\n]{0,400}"|'[^'\n]{0,400}'|\S{1,400})"""
)
_TRAILING = ".,;!?"


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter of a declared command.

    Args:
        type: `string`, `integer`, `number`, `boolean`, `path` or `choice`.
        default: what it takes when not given; None makes it required.
        choices: of a choice.
    """

    type: str = "string"
    default: Any = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What planning knows of a declared command."""

    name: str
    description: str = ""
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)


class Declared(Protocol):
    """A declaration of a command; its `parameters` have `type`, `default` and `choices`."""

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...


def command_facts(declarations: Mapping[str, Declared]) -> dict[str, CommandFacts]:
    """Return the facts of declared commands, by name."""
    return {
        name: CommandFacts(
            name=name,
            description=declared.description,
            parameters={key: _parameter_facts(parameter) for key, parameter in declared.parameters.items()},
        )
        for name, declared in declarations.items()
    }


def _parameter_facts(parameter: Any) -> ParameterFacts:
    choices = tuple(str(c) for c in getattr(parameter, "choices", None) or ())
    return ParameterFacts(type=str(parameter.type), default=parameter.default, choices=choices)


@dataclass(frozen=True, slots=True)
class Call:
    """A declared command with the parameters that were given.

    Args:
        command: its name.
        parameters: those given; defaults are left to the team.
        start: where in the text it stands.
        end: where that clause ends.
    """

    command: str
    parameters: Mapping[str, Any]
    start: int
    end: int

    @property
    def said(self) -> str:
        """The call on one line: `clean-logs dir=logs days=30`."""
        return " ".join([self.command, *(f"{k}={v}" for k, v in self.parameters.items())])


def calls_in(
    text: str,
    commands: Mapping[str, CommandFacts],
    rules: Rules,
    named_only: Callable[[str], bool] = lambda clause: False,
) -> list[Call]:
    """Return the declared commands a text asks for, in order.

    Args:
        text: what a person wrote.
        commands: the declared ones, by name.
        rules: how commands are asked for.
        named_only: clauses in which a command has to be named; describing what it does isn't enough there.

    Raises:
        PlanError: it asks for a command that isn't declared, or a required parameter is missing or unknown.
        BadInput: what it asks for fits several commands.
    """
    found: list[Call] = []
    named = [name for name in sorted(commands, key=len, reverse=True) if spoken_name(name).search(text)]
    profiles = [_profile(facts, rules) for facts in commands.values()]
    for start, clause in clauses(text, rules):
        name = _by_name(clause, named, rules)
        if not name and not named_only(clause) and not _talked_about(clause, named):
            name = _by_deed(clause, profiles, rules)
        if name:
            parameters = _parameters(clause, commands[name], rules.commands)
            found.append(Call(name, parameters, start, start + len(clause)))
        else:
            _refuse_undeclared(clause, commands, rules.commands)
    return found


def _talked_about(clause: str, names: Sequence[str]) -> bool:
    """Whether a command is named and not called; what its name says ("clean logs") is no request then."""
    return any(spoken_name(name).search(clause) for name in names if "-" in name or "_" in name)


def call_named(name: str, text: str, commands: Mapping[str, CommandFacts], rules: Rules) -> Call:
    """Return the call of one command with the parameters a text gives.

    Raises:
        PlanError: a required parameter is missing, or one is unknown.
    """
    return Call(name, _parameters(text, commands[name], rules.commands), 0, len(text))


def without_call(clause: str, name: str) -> str:
    """Return a clause with a command's name and parameters blanked, at the same length."""
    for expression in (spoken_name(name), _PAIR):
        clause = expression.sub(lambda m: " " * len(m.group()), clause)
    return clause


def asks_for_deed(text: str, rules: Rules) -> bool:
    """Whether a text asks that something be done to something, declared or not."""
    for _, clause in clauses(text, rules):
        for key, action in rules.commands.actions.items():
            if key not in _LOOKING and _requested(clause, action, rules) and _concepts(clause, rules.commands.objects):
                return True
    return False


_LOOKING = frozenset({"list", "count", "measure", "verify"})


def clauses(text: str, rules: Rules) -> list[tuple[int, str]]:
    """Return the clauses of a text, up to a bound, and where each begins."""
    found, at = [], 0
    for match in islice(rules.commands.clause.finditer(text), rules.limits.clauses):
        found.append((at, text[at : match.start()]))
        at = match.end()
    found.append((at, text[at:]))
    return [(start, clause) for start, clause in found if clause.strip()]


def _by_name(clause: str, names: Sequence[str], rules: Rules) -> str:
    asked, howto = rules.commands, rules.words.howto
    for name in names:
        for match in spoken_name(name).finditer(clause):
            before = clause[max(0, match.start() - 60) : match.start()]
            after = clause[match.end() : match.end() + 60]
            if howto.search(before) or asked.negated_before.search(before) or asked.negated_after.search(after):
                continue
            if asked.run_before.search(before):
                return name
            if asked.run_after.search(_PAIR.sub("", after).lstrip()) and not howto.search(after):
                return name
            opening = clause[: match.start()].strip()
            alone = not opening or not asked.lead.sub("", f"{opening} ").strip()
            if alone and (_PAIR.match(after.lstrip()) or not after.strip(_TRAILING + " ")):
                return name
    return ""


def spoken_name(name: str) -> Expression:
    """Return an expression for a command's name as people write it: `clean-logs`, `clean logs`."""
    spoken = "[-_ ]".join(re.escape(part) for part in re.split("[-_]", name))
    return re.compile(rf"(?<![A-Za-z0-9_-]){spoken}(?![A-Za-z0-9_-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Profile:
    """What a declared command does, by its name and description."""

    name: str
    actions: frozenset[str]
    objects: frozenset[str]
    modifiers: frozenset[str]
    nouns: tuple[Expression, ...]


def _profile(facts: CommandFacts, rules: Rules) -> _Profile:
    said = " ".join([*re.split("[-_]", facts.name), facts.description[: rules.limits.revise]])
    known = [
        *rules.commands.actions.values(),
        *rules.commands.objects.values(),
        *rules.commands.modifiers.values(),
    ]
    spans = [m.span() for expression in known for m in expression.finditer(said)]
    nouns = [n for n in terms_of(said, rules.words, spans) if len(n) > 2 or not n.isascii()]
    return _Profile(
        name=facts.name,
        actions=_concepts(said, rules.commands.actions),
        objects=_concepts(said, rules.commands.objects),
        modifiers=_concepts(said, rules.commands.modifiers),
        nouns=tuple(re.compile(rf"(?<!\w){re.escape(n)}", re.IGNORECASE) for n in nouns),
    )


def _by_deed(clause: str, profiles: Sequence[_Profile], rules: Rules) -> str:
    actions = {key for key, action in rules.commands.actions.items() if _requested(clause, action, rules)}
    if not actions:
        return ""
    objects = _concepts(clause, rules.commands.objects)
    modifiers = _concepts(clause, rules.commands.modifiers)
    spans = [m.span() for key in actions for m in rules.commands.actions[key].finditer(clause)]
    bare = not terms_of(clause, rules.words, spans)
    scores: dict[str, int] = {}
    for profile in profiles:
        deeds, things = actions & profile.actions, objects & profile.objects
        nouns = sum(noun.search(clause) is not None for noun in profile.nouns)
        if deeds and (things or nouns or bare):
            scores[profile.name] = (
                4 * len(deeds)
                + 4 * len(things)
                + 2 * nouns
                + len(modifiers & profile.modifiers)
                - len(objects - profile.objects)
            )
    best = [name for name, score in scores.items() if score == max(scores.values())]
    if len(best) > 1:
        raise BadInput(
            f"Several declared commands could be meant: {', '.join(sorted(best))}; name one.",
            help=f'For example: "run {sorted(best)[0]}"',
        )
    return best[0] if best else ""


def _concepts(text: str, concepts: Mapping[str, Expression]) -> frozenset[str]:
    return frozenset(key for key, expression in concepts.items() if expression.search(text))


def _requested(clause: str, action: Expression, rules: Rules) -> bool:
    """Whether a clause asks for this action ("지워줘", "로그 삭제", "delete …"), not how it is done."""
    if rules.words.howto.search(clause):
        return False
    plain = rules.commands.lead.sub("", clause.strip().lower())
    for match in action.finditer(clause):
        rest = clause[match.end() : match.end() + 20].strip(_TRAILING + " ")
        if rules.commands.negated_deed.search(rest):
            continue
        if match.group().isascii():
            if action.match(plain):
                return True
        elif not rest or rules.commands.request.search(rest):
            return True
    return False


def _refuse_undeclared(clause: str, commands: Mapping[str, CommandFacts], rules: CommandRules) -> None:
    for expression in rules.unknown:
        match = expression.search(clause)
        if match and ("-" in match["name"] or "_" in match["name"] or match["rest"].strip()):
            near = difflib.get_close_matches(match["name"], commands, n=1)
            known = ", ".join(sorted(commands)) or "none"
            hint = f'; did you mean "{near[0]}"?' if near else f"; declared are: {known}."
            raise PlanError(f'There is no declared command "{match["name"]}"{hint}')


def _parameters(clause: str, facts: CommandFacts, rules: CommandRules) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for match in _PAIR.finditer(clause):
        given[match["name"]] = _unquoted(match["value"])
    unknown = [name for name in given if name not in facts.parameters]
    if unknown:
        known = ", ".join(facts.parameters) or "none"
        raise PlanError(f'The command {facts.name} has no parameter "{unknown[0]}"; it has {known}.')
    spoken = _PAIR.sub(" ", clause)
    for name, parameter in facts.parameters.items():
        if name not in given:
            value = _spoken(name, parameter, spoken, facts, rules)
            if value:
                given[name] = value
    missing = [n for n, p in facts.parameters.items() if p.default is None and n not in given]
    if missing:
        example = " ".join([facts.name, *(f"{n}=…" for n in missing)])
        raise PlanError(
            f"The command {facts.name} needs {' and '.join(missing)}.", help=f'For example: "run {example}"'
        )
    return {n: _typed(given[n], facts.parameters[n]) for n in facts.parameters if n in given}


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.rstrip(",;!?") or value


def _spoken(name: str, parameter: ParameterFacts, clause: str, facts: CommandFacts, rules: CommandRules) -> str:
    """Return the value a clause gives in words: a number with its unit, a folder, one of the choices."""
    if parameter.type in ("integer", "number") and name in rules.units:
        return _only([m["value"] for m in rules.units[name].finditer(clause)])
    if parameter.type == "path" and sum(p.type == "path" for p in facts.parameters.values()) == 1:
        groups = [m.groupdict() for e in rules.paths for m in e.finditer(clause)]
        return _only([v.rstrip(".") for g in groups for v in g.values() if v])
    if parameter.choices:
        return _only([c for c in parameter.choices if re.search(rf"(?<![\w-]){re.escape(c)}(?![\w-])", clause)])
    return ""


def _only(values: Sequence[str]) -> str:
    """The one value there is; several would be a guess."""
    return values[0] if len(set(values)) == 1 else ""


def _typed(value: str, parameter: ParameterFacts) -> Any:
    # What doesn't read as its type stays as written: the team's own check says what it expected.
    if parameter.type == "integer" and re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    if parameter.type == "number" and re.fullmatch(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,12})?", value):
        return float(value)
    if parameter.type == "boolean" and value.lower() in ("true", "false", "yes", "no"):
        return value.lower() in ("true", "yes")
    return value
