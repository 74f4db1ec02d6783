"""Arguments from words: what a clause gives, and the parameters that take it by their types, names and units.

Each value goes to the parameter that its label, its unit or its kind names, else to the only one that can take it.
Nothing is guessed: an amount that no parameter takes is left over, and so is a parameter that nothing was said for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.rule_file import Rules
from hitl_tui.planning.rule_planner.values import PAIR, PARTICLE, Given, Span, blanked, given_in, overlaps
from hitl_tui.planning.rule_planner.words import Lexicon, alike, name_words, stem

_BEFORE = re.compile(
    r"(?P<words>(?:[\w-]+\s+){0,2}?[\w-]+?)(?:은|는|을|를|이|가)?\s{0,3}(?:[:=]|\s(?:is|of|to|as|at|by)(?=\s))?\s{0,3}[\"'“‘`]?$"
)
_AFTER = re.compile(r"[\"'”’`]?\s{0,2}(?:짜리\s?)?(?P<word>[A-Za-z가-힣_-]+)")
_WORD = re.compile(r"[A-Za-z가-힣][\w'-]*")
_TEXTS = frozenset({"string", "path", "any"})
_NUMBERS = frozenset({"integer", "number", "any"})
_SPECIAL = ("clock", "date", "email", "url", "code", "text")


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call.

    Args:
        parameters: those given, in the order they are declared; defaults are left to the team.
        used: the places that gave them.
        unplaced: amounts that were given and that no parameter takes.
    """

    parameters: JsonObject
    used: tuple[Span, ...] = ()
    unplaced: tuple[str, ...] = ()

    def lacks(self, facts: CommandFacts) -> list[str]:
        """Return the parameters that have to be given and weren't."""
        return [n for n, p in facts.parameters.items() if p.needed and n not in self.parameters]


@dataclass(slots=True)
class _Filling:
    """A call whose parameters are being filled."""

    facts: CommandFacts
    clause: str
    rules: Rules
    values: dict[str, Json] = field(default_factory=dict)
    used: list[Span] = field(default_factory=list)

    def free(self, kinds: frozenset[str] | None = None) -> dict[str, ParameterFacts]:
        parameters = self.facts.parameters.items()
        return {n: p for n, p in parameters if n not in self.values and (kinds is None or p.type in kinds)}

    def take(self, name: str, value: Json, *places: Span) -> None:
        self.values[name] = value
        self.used += places

    def untaken(self, given: Sequence[Given]) -> list[Given]:
        return [g for g in given if not overlaps(g.place, self.used)]


def fill(clause: str, facts: CommandFacts, rules: Rules, named: Sequence[Span] = ()) -> list[Bound]:
    """Return the calls that a clause gives arguments for: one, or one for each value where it lists several.

    Args:
        clause: what asks for it.
        facts: the command or team.
        rules: the words of units, and what means the same.
        named: places that say what is to be called, and give nothing.

    Raises:
        PlanError: a parameter is given by name that it doesn't have.
    """
    filling = _Filling(facts, clause, rules)
    _take_pairs(filling)
    text = blanked(clause, [*named, *filling.used])
    given = given_in(text, rules.units)
    _take_roles(filling, text, given)
    _take_choices(filling, text, given)
    _take_labelled(filling, given, text)
    _take_lists(filling, given)
    _take_only(filling, [g for g in given if g.kind == "number"], _NUMBERS)
    several = _take_texts(filling, [g for g in given if g.kind not in ("number", "percent")], text)
    _take_flags(filling, text)
    _take_leftover(filling, text)
    unplaced = tuple(
        dict.fromkeys(
            clause[slice(*g.place)].strip()
            for g in filling.untaken(given)
            if g.kind == "percent" or (g.kind == "number" and (g.measure or not facts.parameters))
        )
    )
    taken = [{**filling.values, several[0]: g.value} for g in several[1]] if several else [filling.values]
    return [Bound(in_declared_order(values, facts), tuple(filling.used), unplaced) for values in taken]


def in_declared_order(values: JsonObject, facts: CommandFacts) -> JsonObject:
    """Return values by name in the order in which a call declares them."""
    return {n: values[n] for n in facts.parameters if n in values}


def _take_pairs(filling: _Filling) -> None:
    parameters = filling.facts.parameters
    for match in PAIR.finditer(filling.clause):
        name = match["name"]
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise PlanError(
                Message('The command {} has no parameter "{}"; it has {}.', filling.facts.name, name, known)
            )
        filling.take(name, _typed(_unquoted(match["value"]), parameters[name]), match.span())


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return PARTICLE.sub("", value.rstrip(",;!?")) or value


def _typed(value: str, parameter: ParameterFacts) -> Json:
    """Return a text as the type that is due; what doesn't read as such stays as written, for the team's own check."""
    if parameter.type not in ("integer", "number", "boolean"):
        return value
    try:
        read: Json = json.loads(value.lower())
    except (ValueError, RecursionError):
        return value
    fits = {"integer": type(read) is int, "number": type(read) in (int, float), "boolean": type(read) is bool}
    return read if fits[parameter.type] else value


def _take_choices(filling: _Filling, text: str, given: Sequence[Given]) -> None:
    """Take the choice that the text names, as it is or as a word that means the same; of a list all of them."""
    text = blanked(text, [g.place for g in given if g.kind in ("text", "path", "url", "email", "date")])
    for name, parameter in filling.free().items():
        found: dict[str, Span] = {}
        for choice in sorted(parameter.choices, key=len, reverse=True):
            place = _spoken_choice(choice, parameter, text, filling.rules.lexicon)
            if place is not None and not overlaps(place, list(found.values())):
                found[choice] = place
        labelled = [c for c, place in found.items() if _labels(name, parameter, text, place, filling.rules)]
        chosen = labelled if len(labelled) == 1 else list(found)
        if parameter.type == "array" and found:
            in_order: list[Json] = [*sorted(found, key=lambda choice: found[choice])]
            filling.take(name, in_order, *found.values())
        elif len(chosen) == 1:
            filling.take(name, chosen[0], found[chosen[0]])


def _spoken_choice(choice: str, parameter: ParameterFacts, text: str, lexicon: Lexicon) -> Span | None:
    """Return where a text names a choice: as it is, as its description calls it, or as a word that means the same."""
    parts = re.split(r"[,;:()]", parameter.description)
    described = (p for p in parts if [c for c in parameter.choices if c.lower() in p.lower()] == [choice])
    for said in (choice, *(word for part in described for word in part.split() if len(word) > 1)):
        spoken = "[-_ ]".join(map(re.escape, re.split("[-_ ]", said)))
        match = re.search(rf"(?<![\w-]){spoken}(?![A-Za-z0-9_-])", text, re.IGNORECASE)
        if match is not None:
            return match.span()
    meant = frozenset(c for c in lexicon.concepts(choice) if c[0] != "=")
    return next((m.span() for m in _WORD.finditer(text) if meant & lexicon.concepts(m.group())), None)


def _take_labelled(filling: _Filling, given: Sequence[Given], text: str) -> None:
    """Give each parameter what stands beside its name, or what is of its kind or unit: the surest first."""
    scored = []
    for index, (name, parameter) in enumerate(filling.free().items()):
        for one in filling.untaken(given):
            if (value := _fitted(one, name, parameter, filling.rules)) is not None:
                beside = blanked(text, [g.place for g in given if g is not one])
                score = _labels(name, parameter, beside, one.place, filling.rules)
                score += _by_kind(name, parameter, one, filling.rules)
                if score:
                    scored.append((-score, one.place, index, name, one, value))
    for _, _, _, name, one, value in sorted(scored, key=lambda s: s[:3]):
        if name not in filling.values and not overlaps(one.place, filling.used):
            filling.take(name, value, one.place)


def _labels(name: str, parameter: ParameterFacts, text: str, place: Span, rules: Rules) -> int:
    """Return how surely the words beside a place name a parameter: 0 for not at all."""
    before = _BEFORE.search(text[max(0, place[0] - 40) : place[0]])
    said = name_words(before["words"]) if before else []
    after = _AFTER.match(text, place[1])
    beside = [word for word in (*said[-1:], *([after["word"]] if after else [])) if rules.lexicon.plain(word)]
    described = [w for w in name_words(parameter.description) if len(w) > 1 and rules.lexicon.plain(w)]
    if any(_means(word, wanted := name_words(name), rules.lexicon) for word in beside):
        return 4 + len([w for w in said if _means(w, wanted, rules.lexicon)])
    return 2 if any(_means(word, described, rules.lexicon) for word in beside) else 0


def _means(word: str, wanted: Sequence[str], lexicon: Lexicon) -> bool:
    meant = lexicon.concepts(word)
    return any(alike(stem(word), stem(one)) or (meant and meant & lexicon.concepts(one)) for one in wanted)


def _by_kind(name: str, parameter: ParameterFacts, one: Given, rules: Rules) -> int:
    """Return how surely the kind of what is given names a parameter: its unit, or a date, an address, a code."""
    called, described = name_words(name), name_words(parameter.description)
    if one.unit and one.measure not in ("", "currency") and rules.units.of([*called, *described], one.measure):
        return 4 if rules.units.of(called, one.measure) else 3
    kinds = rules.units.kinds.get(one.measure or one.kind, frozenset())
    if of_kind(called, kinds):
        return 3
    return 2 if one.kind in _SPECIAL and of_kind(described, kinds) else 0


def of_kind(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether one of the words, in the singular or plural, names such a kind."""
    return any(word.lower() in kinds or word.lower().removesuffix("s") in kinds for word in words)


def _fitted(one: Given, name: str, parameter: ParameterFacts, rules: Rules) -> Json:
    """Return what is given as a parameter takes it; None where it doesn't."""
    words = [*name_words(name), *name_words(parameter.description)]
    if one.kind == "percent":
        return _share(one, parameter, words)
    if one.kind == "number":
        if parameter.type == "string":
            return str(one.value)
        return _converted(one, name, parameter, rules) if parameter.type in _NUMBERS else None
    if one.kind == "clock" and parameter.type in ("integer", "number"):
        hours = rules.units.kinds["clock"] & {word.lower() for word in words}
        return int(str(one.value).partition(":")[0]) if hours else None
    if parameter.type == "date":
        return one.value if one.kind == "date" else None
    if one.kind == "period":
        called = {word.lower() for word in words}
        if parameter.type in ("integer", "number"):
            year = re.match(r"(?:19|20)\d\d", str(one.value))
            return int(year.group()) if year and called & {"year", "연도", "년도"} else None
        return one.value if called & rules.units.kinds["date"] and parameter.type in _TEXTS else None
    if parameter.type == "path":
        return one.value if one.kind in ("path", "text") else None
    return one.value if parameter.type in _TEXTS else None


def _share(one: Given, parameter: ParameterFacts, words: Sequence[str]) -> Json:
    """Return a percentage as a parameter takes it: as it is, or as a share of one; None where that isn't known."""
    value, default = one.value, parameter.default
    if parameter.type == "string":
        return f"{value}%"
    if parameter.type not in _NUMBERS or isinstance(value, str):
        return None
    share = isinstance(default, float) and 0 < default < 1
    if share or {"fraction", "ratio", "share"} & {w.lower() for w in words}:
        return value / 100
    whole = {"percent", "percentage", "pct", "퍼센트"} & {w.lower() for w in words} or "%" in parameter.description
    if whole or (isinstance(default, int | float) and default >= 1):
        return value if parameter.type != "integer" or isinstance(value, int) else None
    return None


def _converted(one: Given, name: str, parameter: ParameterFacts, rules: Rules) -> Json:
    """Return a number in the unit that a parameter is counted in; None where it measures something else."""
    value = one.value
    if isinstance(value, str):
        return None
    words = [*name_words(name), *re.findall(r"[\w%]+", parameter.description)]
    measures = rules.units.measures_of(name_words(name))
    if one.measure and one.measure != "count":
        own = rules.units.of(words, one.measure)
        if own:
            value = round(value * rules.units.factor(one.unit) / rules.units.factor(own), 9)
        elif (measures and one.measure not in measures) or one.measure in ("size", "time"):
            return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if parameter.type == "integer" and not isinstance(value, int) else value


def _take_lists(filling: _Filling, given: Sequence[Given]) -> None:
    """Give the only list that is free all that it can hold and nothing else took: of its own kind, if it names one."""
    lists = filling.free(frozenset({"array"}))
    if len(lists) != 1:
        return
    [(name, parameter)] = lists.items()
    item = replace(parameter, type="number" if parameter.items in _NUMBERS else "string")
    kinds = {"number"} if item.type == "number" else {"text", "email", "url", "code", "path"}
    rest = [g for g in filling.untaken(given) if g.kind in kinds]
    own = {g.kind for g in rest if _by_kind(name, item, g, filling.rules)} or kinds - {"path"}
    if found := [g for g in rest if g.kind in own]:
        filling.take(name, [g.value for g in found], *(g.place for g in found))


_FROM = re.compile(
    r"(?<![a-z])from\s+(?:the\s+)?(?P<value>[A-Za-z가-힣][\w-]*)|(?P<ko>[\w-]+?)에서(?![가-힣])", re.IGNORECASE
)
_TO = re.compile(
    r"(?<![a-z])(?:to|into|in)\s+(?P<value>[A-Za-z가-힣][\w-]*)|(?P<ko>[\w-]+?)(?:으로|로|까지)(?![가-힣])",
    re.IGNORECASE,
)


def _role_of(name: str, parameter: ParameterFacts, rules: Rules) -> str:
    """Return whether a parameter says what something is changed `from`, `to`, or the `unit` it is counted in."""
    words = name_words(name) if parameter.type in ("string", "choice") else []
    return next((role for role in ("unit", "to", "from") if of_kind(words, rules.units.kinds[role])), "")


def _take_roles(filling: _Filling, text: str, given: Sequence[Given]) -> None:
    """Fill what something is changed from and into: "100 USD to EUR", "달러를 원으로"."""
    units, lexicon = filling.rules.units, filling.rules.lexicon
    for name, parameter in filling.free().items():
        role = _role_of(name, parameter, filling.rules)
        said: list[tuple[str, Span | None]] = []
        if role in ("from", "to"):
            matches = (_FROM if role == "from" else _TO).finditer(text)
            groups = ((m, "value" if m["value"] else "ko") for m in matches)
            said = [(m[g], m.span(g)) for m, g in groups if not overlaps(m.span(g), filling.used)]
            said = [one for one in said if one[1] and not overlaps(one[1], [g.place for g in given])]
        if role in ("from", "unit"):
            said += [(g.unit, None) for g in given if g.unit]
        if not said:
            continue
        found, place = said[0]
        known = units.named(found)
        value = known.name if known and known.measure == "currency" else found
        if parameter.choices:
            named = [c for c in parameter.choices if _spoken_choice(c, parameter, f"{found} {value}", lexicon)]
            value = named[0] if len(named) == 1 else ""
        if value:
            filling.take(name, value, *([place] if place else []))


def _take_only(filling: _Filling, given: Sequence[Given], kinds: frozenset[str]) -> None:
    """Give what stands for itself to the only parameters that can take it: as many as there are, in their order."""
    for needed in (True, False):
        free = {n: p for n, p in filling.free(kinds).items() if p.needed is needed}
        rest = filling.untaken(given)
        fitting = [g for g in rest if any(_fitted(g, n, p, filling.rules) is not None for n, p in free.items())]
        if free and len(fitting) == len(free) and (needed or len(free) == 1):
            for (name, parameter), one in zip(free.items(), fitting, strict=True):
                bare = needed or not one.measure or one.measure == "currency"
                value = _fitted(one, name, parameter, filling.rules)
                if value is not None and bare:
                    filling.take(name, value, one.place)


def _take_texts(filling: _Filling, texts: Sequence[Given], text: str) -> tuple[str, list[Given]] | None:
    """Give texts and files to the parameters that are free; several of a list that one takes are several calls."""
    for kind, said in (("path", [g for g in texts if g.kind == "path"]), ("date", texts)):
        _take_only(filling, [g for g in said if g.kind in (kind, "text")], frozenset({kind}))
    folders = {
        m[g]: m.span() for e in filling.rules.commands.paths for m in e.finditer(text) for g in m.groupdict() if m[g]
    }
    paths = list(filling.free(frozenset({"path"})))
    if len(paths) == 1 and len(folders) == 1:
        [(folder, place)] = folders.items()
        filling.take(paths[0], folder.rstrip("."), place)
    _take_only(filling, filling.untaken(texts), _TEXTS)
    rest = filling.untaken(texts)
    free = list(filling.free(frozenset({"string", "path"})).items())
    gaps = [text[one.place[1] : other.place[0]] for one, other in pairwise(rest)]
    listed = all(filling.rules.commands.listing.fullmatch(PARTICLE.sub("", f"0{gap}")[1:] or gap) for gap in gaps)
    if len(free) == 1 and gaps and listed and all(_fitted(g, *free[0], filling.rules) is not None for g in rest):
        filling.used += [g.place for g in rest]
        return free[0][0], rest
    return None


_NOT = re.compile(r"(?<![a-z])(?:no|not|without|don.t|skip)\s+(?:\w+\s)?$", re.IGNORECASE)
_NOT_AFTER = re.compile(r"(?:은|는|을|를)?\s?(?:없이|말고|빼고|하지\s?(?:마|말|않)|끄)")


def _take_flags(filling: _Filling, text: str) -> None:
    """Set what is true or false where the text says its name, or what describes it: as it is said, or denied."""
    for name, parameter in filling.free(frozenset({"boolean"})).items():
        for said in (name, *re.split(r"[,;()]", parameter.description)):
            words = [word for word in name_words(said) if filling.rules.lexicon.plain(word)]
            places = [place for word in words if (place := _place_of(word, text, filling.rules.lexicon))]
            if words and len(places) == len(words):
                denied = _NOT.search(text[: min(places)[0]]) or _NOT_AFTER.match(text, max(places)[1])
                filling.take(name, denied is None, *places)
                break


def _place_of(word: str, text: str, lexicon: Lexicon) -> Span | None:
    """Return where a text has a word, or one that means the same."""
    return next((m.span() for m in _WORD.finditer(text) if _means(lexicon.bare(m.group()), [word], lexicon)), None)


_REFERS = re.compile(r"(?<![a-z])(?:the|this|that|these|those|it|its|their|my|our|his|her)\s+$", re.IGNORECASE)
_NAME_OF = re.compile(r"\s+(?=[A-Z])")


def _take_leftover(filling: _Filling, text: str) -> None:
    """Give the only text that is still needed the only words that say nothing else."""
    kinds, runs = filling.rules.units.kinds, list(_runs(filling, text))
    special = frozenset().union(*(kinds[kind] for kind in (*_SPECIAL, "path")))
    free = [n for n, p in filling.free(frozenset({"string"})).items() if p.needed]
    free = [n for n in free if not of_kind(name_words(n), special)]
    proper = [run for run in runs if run[1][0].isupper() and filling.clause[: run[0][0]].strip()]
    runs = proper or runs
    if len(free) == 1 and len({said for _, said in runs}) == 1:
        filling.take(free[0], runs[0][1], *(place for place, _ in runs))


def _runs(filling: _Filling, text: str) -> Iterator[tuple[Span, str]]:
    """Yield the words, one beside the other, that say nothing of what is called and nothing that was taken."""
    known, commands = filling.rules.lexicon, filling.rules.commands
    said = known.vocabulary(filling.facts)
    runs: list[Span] = []
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s$", "", match.group())
        plain = known.plain(word)
        before = text[: match.start()]
        opens = not filling.clause[: match.start()].strip() and word.isascii() and _NAME_OF.match(text, match.end())
        tail = filling.clause[: match.start()][-1:].isalnum()
        asks = commands.request.search(word) or any(map(commands.told.fullmatch, (word, plain)))
        means = not plain or known.found(plain, said) or known.is_verb(plain)
        if overlaps(match.span(), filling.used) or means or opens or tail or asks:
            continue
        end = match.start() + len(plain)
        gap = text[runs[-1][1] : match.start()] if runs else "."
        if gap.strip() in ("", "&") and text[runs[-1][0]].isupper() == word[0].isupper():
            runs.append((runs.pop()[0], end))
        elif not _REFERS.search(before):
            runs.append((match.start(), end))
    return ((run, text[slice(*run)]) for run in runs)
