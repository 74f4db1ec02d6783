"""What a declared command does, by its name and description, and words that ask for just that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl_tui.core.errors import BadInput
from hitl_tui.planning.clauses import Span, clauses
from hitl_tui.planning.reading import terms_of
from hitl_tui.planning.ruleset import Expression, Rules

if TYPE_CHECKING:
    from hitl_tui.planning.commands import CommandFacts

_TRAILING = ".,;!?"
_LOOKING = frozenset({"list", "count", "measure", "verify"})


@dataclass(frozen=True, slots=True)
class Profile:
    """What a declared command does, by its name and description."""

    name: str
    actions: frozenset[str]
    objects: frozenset[str]
    modifiers: frozenset[str]
    nouns: tuple[Expression, ...]


def profile_of(facts: CommandFacts, rules: Rules) -> Profile:
    """Return what a command does, as far as the rules know its words."""
    said = " ".join([*re.split("[-_]", facts.name), facts.description[: rules.limits.revise]])
    known = [
        *rules.commands.actions.values(),
        *rules.commands.objects.values(),
        *rules.commands.modifiers.values(),
    ]
    spans = [m.span() for expression in known for m in expression.finditer(said)]
    nouns = [n for n in terms_of(said, rules.words, spans) if len(n) > 2 or not n.isascii()]
    return Profile(
        name=facts.name,
        actions=_concepts(said, rules.commands.actions),
        objects=_concepts(said, rules.commands.objects),
        modifiers=_concepts(said, rules.commands.modifiers),
        nouns=tuple(re.compile(rf"(?<!\w){re.escape(n)}", re.IGNORECASE) for n in nouns),
    )


def by_deed(clause: str, profiles: Sequence[Profile], rules: Rules) -> tuple[str, Span]:
    """Return the command that does what a clause asks for, and where it says so; an empty name for none."""
    actions = {key for key, action in rules.commands.actions.items() if _requested(clause, action, rules)}
    if not actions:
        return "", (0, 0)
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
    return (best[0], _first(clause, actions, rules)) if best else ("", (0, 0))


def _first(clause: str, actions: set[str], rules: Rules) -> Span:
    """Return the place just after the first of these actions: the word itself may be part of a value, too."""
    end = min(m.end() for key in actions for m in rules.commands.actions[key].finditer(clause))
    return end, end


def known_in(clause: str, profile: Profile, rules: Rules) -> list[Span]:
    """Return where a clause says what a command does anyway."""
    asked = rules.commands
    expressions = [
        *(asked.actions[key] for key in profile.actions),
        *(asked.objects[key] for key in profile.objects),
        *asked.modifiers.values(),
        *profile.nouns,
    ]
    return [m.span() for expression in expressions for m in expression.finditer(clause)]


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


def asks_for_deed(text: str, rules: Rules) -> bool:
    """Whether a text asks that something be done to something, declared or not."""
    return bool(deeds_asked(text, rules))


def deeds_asked(text: str, rules: Rules) -> tuple[str, ...]:
    """Return the clauses that ask that something be done to something, declared or not."""
    deeds = [action for key, action in rules.commands.actions.items() if key not in _LOOKING]
    return tuple(
        clause.strip()
        for _, clause in clauses(text, rules)
        if _concepts(clause, rules.commands.objects) and any(_requested(clause, deed, rules) for deed in deeds)
    )
