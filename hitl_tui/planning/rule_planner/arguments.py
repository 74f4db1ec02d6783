"""Arguments from words: what a clause gives, and the parameters that take it by their types, names and units.

Everything that a clause gives is offered to the parameters that can take it, each offer with how surely it is meant for
it: by the words beside it, by its unit or its kind. The surest offers are taken first. What is left goes to the only
parameter that can take it. Nothing is guessed: an amount that no parameter takes is left over, and so is a parameter
that nothing was said for.
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
from hitl_tui.meaning.amounts import UNITS, Unit, unit_named
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.query_reader import WHOLE_WORD, unread
from hitl_tui.planning.rule_planner.rule_file import alike, lexicon, name_words, rules, stem
from hitl_tui.planning.rule_planner.values import PAIR, PARTICLE, Given, Span, blanked, given_in, overlaps

_WORD = re.compile(r"[A-Za-z가-힣][\w'-]*")
_TEXTS = frozenset({"string", "path", "any"})
_NUMBERS = frozenset({"integer", "number", "any"})
_AMOUNTS = frozenset({"number", "percent"})
_SPECIAL = ("clock", "date", "email", "url", "code", "text")
_MEASURES = {unit.kind for unit in UNITS.values()}
_CERTAIN = 20
"""More than the words beside a value ever speak for it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A command or team with the arguments that a clause gives it.

    Args:
        parameters: those given, in the order they are declared; defaults are left to the team.
        start, end: where in the text the clause stands.
        used: the places of the clause that gave them.
        unplaced: amounts that were given and that no parameter takes.
        unread: the parts of the clause that nothing was made of.
    """

    facts: CommandFacts
    parameters: JsonObject
    words: str = ""
    start: int = 0
    end: int = 0
    used: tuple[Span, ...] = ()
    unplaced: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return self.facts.name

    @property
    def lacks(self) -> list[str]:
        """The parameters that have to be given and weren't."""
        return [n for n, p in self.facts.parameters.items() if p.needed and n not in self.parameters]


@dataclass(frozen=True, slots=True)
class _Offer:
    """A value for a parameter, the places that say it, and how surely it is meant for it."""

    score: int
    name: str
    value: Json
    places: tuple[Span, ...]


@dataclass(slots=True)
class _Filling:
    """A call whose parameters are being filled, and the text without what says that it is called."""

    facts: CommandFacts
    text: str
    given: list[Given] = field(default_factory=list)
    values: dict[str, Json] = field(default_factory=dict)
    used: list[Span] = field(default_factory=list)

    def free(self, kinds: frozenset[str] | None = None) -> dict[str, ParameterFacts]:
        parameters = self.facts.parameters.items()
        return {n: p for n, p in parameters if n not in self.values and (kinds is None or p.type in kinds)}

    def left(self, kinds: frozenset[str] | None = None) -> list[Given]:
        """Return what is given and nothing took."""
        return [g for g in self.given if not overlaps(g.place, self.used) and (kinds is None or g.kind in kinds)]

    def take(self, name: str, value: Json, *places: Span) -> None:
        self.values[name] = value
        self.used += places

    def assign(self, offers: Iterator[_Offer]) -> None:
        """Take the surest offers, each for another parameter and from other places."""
        for one in sorted(offers, key=lambda o: (-o.score, o.places)):
            if one.name not in self.values and not any(overlaps(place, self.used) for place in one.places):
                self.take(one.name, one.value, *one.places)

    def assign_only(self, kinds: frozenset[str], types: frozenset[str]) -> None:
        """Give what is left of some kinds to the only parameters of these types: as many as there are, in order."""
        for needed in (True, False):
            free = {n: p for n, p in self.free(types).items() if p.needed is needed}
            fitting = [g for g in self.left(kinds) if any(_fitted(g, n, p) is not None for n, p in free.items())]
            if free and len(fitting) == len(free) and (needed or len(free) == 1):
                for (name, parameter), one in zip(free.items(), fitting, strict=True):
                    value = _fitted(one, name, parameter)
                    if value is not None and (needed or one.measure in ("", "money")):
                        self.take(name, value, one.place)


def fill(clause: str, facts: CommandFacts, named: Sequence[Span] = ()) -> list[Call]:
    """Return the call of what is named at some places, with its arguments; one for each value of a list."""
    pairs = list(PAIR.finditer(clause))
    filling = _Filling(facts, blanked(clause, [*named, *(match.span() for match in pairs)]))
    for match in pairs:
        filling.take(match["name"], _typed(match, facts), match.span())
    given = given_in(filling.text)
    matches = rules().commands.paths.finditer(filling.text)
    folders = [Given("path", m[g].rstrip("."), m.span(g)) for m in matches for g in m.groupdict() if m[g]]
    filling.given = [*given, *(f for f in folders if not overlaps(f.place, [g.place for g in given]))]
    filling.assign(_offers(filling))
    _take_lists(filling)
    filling.assign_only(frozenset({"number"}), _NUMBERS)
    texts = frozenset(one.kind for one in filling.given) - _AMOUNTS
    filling.assign_only(texts & {"path", "text"}, frozenset({"path"}))
    filling.assign_only(texts & {"date", "text"}, frozenset({"date"}))
    filling.assign_only(texts, _TEXTS)
    several = _several(filling, filling.left(texts))
    _take_words(filling, clause)
    unplaced = [g.place for g in filling.left(_AMOUNTS) if g.kind == "percent" or g.measure or not facts.parameters]
    left = unread(clause, [*named, *filling.used, *unplaced, *_known_in(clause, facts)])
    said = tuple(dict.fromkeys(clause[slice(*place)].strip() for place in unplaced))
    call = Call(facts, {}, clause.strip(), 0, len(clause), tuple(filling.used), said, left)
    values = ({**filling.values, **one} for one in several or [{}])
    return [replace(call, parameters=in_declared_order(given, facts)) for given in values]


def in_declared_order(values: JsonObject, facts: CommandFacts) -> JsonObject:
    return {n: values[n] for n in facts.parameters if n in values}


def _typed(pair: re.Match[str], facts: CommandFacts) -> Json:
    """Return the value of `name=value` as the type that is due; what doesn't read as such stays as written."""
    name, value = pair["name"], pair["value"]
    if name not in facts.parameters:
        known = ", ".join(facts.parameters) or "none"
        raise PlanError(Message('The command {} has no parameter "{}"; it has {}.', facts.name, name, known))
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    else:
        value = PARTICLE.sub("", value.rstrip(",;!?")) or value
    types: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}
    try:
        read: Json = json.loads(value.lower())
    except (ValueError, RecursionError):
        return value
    return read if type(read) in types.get(facts.parameters[name].type, ()) else value


def _known_in(clause: str, facts: CommandFacts) -> list[Span]:
    """Return where a clause says what is called does anyway."""
    own = lexicon().vocabulary(facts)
    said = [m.span() for m in rules().commands.modifiers.finditer(clause)]
    for match in WHOLE_WORD.finditer(clause):
        word = lexicon().plain(re.sub("[ -]", "", match.group()))
        if lexicon().found(word, own) or (facts.own and lexicon().is_verb(match.group())):
            said.append(match.span())
    return said


# What says what it is for ---------------------------------------------------------------------------------------------


def _offers(filling: _Filling) -> Iterator[_Offer]:
    """Yield what names its parameter by a word beside it, its unit, its kind, its role, or by what it is."""
    quoted = [g.place for g in filling.given if g.kind in ("text", "path", "url", "email", "date")]
    for name, parameter in filling.free().items():
        yield from _roles(name, parameter, filling)
        yield from _choices(name, parameter, blanked(filling.text, quoted))
        for one in filling.given:
            value = _fitted(one, name, parameter)
            beside = blanked(filling.text, [g.place for g in filling.given if g is not one])
            score = _labels(name, parameter, beside, one.place)
            score += _by_kind(name, parameter, one)
            if value is not None and score:
                yield _Offer(score, name, value, (one.place,))
        if parameter.type == "boolean":
            yield from _flags(name, parameter, filling)


def _choices(name: str, parameter: ParameterFacts, text: str) -> Iterator[_Offer]:
    """Yield the choice that a text names, as it is or as a word that means the same; of a list all of them."""
    found: dict[str, Span] = {}
    for choice in sorted(parameter.choices, key=len, reverse=True):
        place = _spoken_choice(choice, parameter, text)
        if place is not None and not overlaps(place, list(found.values())):
            found[choice] = place
    if parameter.type == "array" and found:
        yield _Offer(_CERTAIN, name, [*sorted(found, key=found.__getitem__)], tuple(found.values()))
    elif len(found) == 1:
        [(choice, place)] = found.items()
        yield _Offer(_CERTAIN, name, choice, (place,))


def _spoken_choice(choice: str, parameter: ParameterFacts, text: str) -> Span | None:
    """Return where a text names a choice: as it is, as its description calls it, or as a word that means the same."""
    parts = re.split(r"[,;:()]", parameter.description)
    described = (p for p in parts if [c for c in parameter.choices if c.lower() in p.lower()] == [choice])
    for said in (choice, *(word for part in described for word in part.split() if len(word) > 1)):
        spoken = "[-_ ]".join(map(re.escape, re.split("[-_ ]", said)))
        match = re.search(rf"(?<![\w-]){spoken}(?![A-Za-z0-9_-])", text, re.IGNORECASE)
        if match is not None:
            return match.span()
    meant = frozenset(c for c in lexicon().concepts(choice) if c[0] != "=")
    return next((m.span() for m in _WORD.finditer(text) if meant & lexicon().concepts(m.group())), None)


def _labels(name: str, parameter: ParameterFacts, text: str, place: Span) -> int:
    """Return how surely the words beside a place name a parameter: 0 for not at all."""
    before = rules().commands.value_before.search(text[max(0, place[0] - 40) : place[0]])
    said = name_words(before["words"]) if before else []
    after = rules().commands.value_after.match(text, place[1])
    beside = [word for word in (*said[-1:], *([after["word"]] if after else [])) if lexicon().plain(word)]
    described = [w for w in name_words(parameter.description) if len(w) > 1 and lexicon().plain(w)]
    if any(_means(word, wanted := name_words(name)) for word in beside):
        return 4 + len([w for w in said if _means(w, wanted)])
    return 2 if any(_means(word, described) for word in beside) else 0


def _means(word: str, wanted: Sequence[str]) -> bool:
    meant = lexicon().concepts(word)
    return any(alike(stem(word), stem(one)) or (meant and meant & lexicon().concepts(one)) for one in wanted)


def _by_kind(name: str, parameter: ParameterFacts, one: Given) -> int:
    """Return how surely the kind of what is given names a parameter: its unit, or a date, an address, a code."""
    called, described = name_words(name), name_words(parameter.description)
    if one.unit and one.measure not in ("", "money") and _unit_in([*called, *described], one.measure):
        return 4 if _unit_in(called, one.measure) else 3
    kinds = rules().kinds.get(one.measure or one.kind, frozenset())
    if of_kind(called, kinds):
        return 3
    return 2 if one.kind in _SPECIAL and of_kind(described, kinds) else 0


def _unit_in(words: Sequence[str], measure: str) -> Unit | None:
    """Return the unit of a measure that one of these words names."""
    return next((unit for word in words if (unit := unit_named(word)) and unit.kind == measure), None)


def of_kind(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether one of the words, in the singular or plural, names such a kind."""
    return any(word.lower() in kinds or word.lower().removesuffix("s") in kinds for word in words)


def _fitted(one: Given, name: str, parameter: ParameterFacts) -> Json:
    """Return what is given as a parameter takes it; None where it doesn't."""
    kinds, words = rules().kinds, frozenset(word.lower() for word in name_words(f"{name} {parameter.description}"))
    if one.kind in _AMOUNTS:
        if parameter.type == "string":
            return f"{one.value}{'%' if one.kind == 'percent' else ''}"
        return _converted(one, name, parameter) if parameter.type in _NUMBERS else None
    if parameter.type in ("integer", "number"):
        counted = {"clock": kinds["clock"], "period": kinds["year"]}.get(one.kind, frozenset[str]())
        number = re.match(r"(?:19|20)\d\d|\d{1,2}(?=:)", str(one.value))
        return int(number.group()) if number and words & counted else None
    if parameter.type == "date":
        return one.value if one.kind == "date" else None
    if parameter.type == "path":
        return one.value if one.kind in ("path", "text") else None
    takes = parameter.type in _TEXTS and (one.kind != "period" or words & kinds["date"])
    return one.value if takes else None


def _converted(one: Given, name: str, parameter: ParameterFacts) -> Json:
    """Return a number in the unit that a parameter is counted in; None where that measures something else."""
    value, default, called = one.value, parameter.default, name_words(name)
    if isinstance(value, str):
        return None
    if one.measure and one.measure != "count":
        own = _unit_in([*called, *re.findall(r"[\w%]+", parameter.description)], one.measure)
        if one.measure == "percent" and isinstance(default, int | float) and not own:
            own = UNITS["share" if 0 < default < 1 else "%"]
        measures = {unit.kind for word in called if len(word) > 1 and (unit := unit_named(word))}
        measures |= {
            kind for kind in _MEASURES if not rules().kinds.get(kind, frozenset()).isdisjoint(map(str.lower, called))
        }
        if own:
            value = round(value * float(UNITS[one.unit].size / own.size), 9)
        elif (measures and one.measure not in measures) or one.measure in ("data", "duration", "percent"):
            return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if parameter.type == "integer" and not isinstance(value, int) else value


def _roles(name: str, parameter: ParameterFacts, filling: _Filling) -> Iterator[_Offer]:
    """Yield what something is changed from and into, and what it is counted in: "100 USD to EUR", "달러를 원으로"."""
    kinds, given = rules().kinds, filling.given
    words = name_words(name) if parameter.type in ("string", "choice") else []
    role = next((role for role in ("unit", "to", "from") if of_kind(words, kinds[role])), "")
    said: list[tuple[str, tuple[Span, ...]]] = []
    called = rules().commands
    ways = {"from": called.value_from, "to": called.value_to}
    for match in ways[role].finditer(filling.text) if role in ways else ():
        place = match.span("value" if match["value"] else "ko")
        if not overlaps(place, [*filling.used, *(g.place for g in given)]):
            said.append((filling.text[slice(*place)], (place,)))
    said += [(g.unit, ()) for g in given if g.unit and role in ("from", "unit")]
    for found, places in said[:1]:
        known = unit_named(found)
        value = known.name if known and known.kind == "money" else found
        if parameter.choices:
            spoken = f"{found} {value}"
            named = [c for c in parameter.choices if _spoken_choice(c, parameter, spoken)]
            value = named[0] if len(named) == 1 else ""
        if value:
            yield _Offer(_CERTAIN + 1, name, value, places)


def _flags(name: str, parameter: ParameterFacts, filling: _Filling) -> Iterator[_Offer]:
    """Yield true or false where a text says the name of a flag, or what describes it: as it is said, or denied."""
    text = filling.text
    for said in (name, *re.split(r"[,;()]", parameter.description)):
        words = [word for word in name_words(said) if lexicon().plain(word)]
        named = [[m.span() for m in _WORD.finditer(text) if _means(lexicon().bare(m.group()), [w])] for w in words]
        if words and all(named):
            places = tuple(first for first, *_ in named)
            before, after = text[: min(places)[0]], text[max(places)[1] :]
            yield _Offer(1, name, not rules().denied(before, after), places)
            return


# What is left ---------------------------------------------------------------------------------------------------------


def _take_lists(filling: _Filling) -> None:
    """Give the only list that is free all that it can hold and nothing else took: of its own kind, if it names one."""
    lists = filling.free(frozenset({"array"}))
    for name, parameter in lists.items() if len(lists) == 1 else ():
        item = replace(parameter, type="number" if parameter.items in _NUMBERS else "string")
        kinds = frozenset({"number"} if item.type == "number" else {"text", "email", "url", "code", "path"})
        own = {g.kind for g in filling.left(kinds) if _by_kind(name, item, g)} or kinds - {"path"}
        if found := filling.left(frozenset(own)):
            filling.take(name, [g.value for g in found], *(g.place for g in found))


def _several(filling: _Filling, rest: Sequence[Given]) -> list[dict[str, Json]]:
    """Return what each of several calls is given by a list of texts or files that one parameter takes."""
    free = list(filling.free(frozenset({"string", "path"})).items())
    gaps = [filling.text[one.place[1] : other.place[0]] for one, other in pairwise(rest)]
    listing = rules().commands.listing
    listed = all(listing.fullmatch(PARTICLE.sub("", f"0{gap}")[1:] or gap) for gap in gaps)
    if not (len(free) == 1 and gaps and listed and all(_fitted(g, *free[0]) is not None for g in rest)):
        return []
    filling.used += [g.place for g in rest]
    return [{free[0][0]: g.value} for g in rest]


def _take_words(filling: _Filling, clause: str) -> None:
    """Give the only text that is still needed the only words that say nothing else; a name goes before others."""
    kinds, runs = rules().kinds, _runs(filling, clause)
    special = frozenset().union(*(kinds[kind] for kind in (*_SPECIAL, "path")))
    free = [n for n, p in filling.free(frozenset({"string"})).items() if p.needed]
    free = [n for n in free if not of_kind(name_words(n), special)]
    runs = [run for run in runs if clause[run[0]].isupper() and clause[: run[0]].strip()] or runs
    said = {filling.text[slice(*run)] for run in runs}
    if len(free) == 1 and len(said) == 1:
        filling.take(free[0], said.pop(), *runs)


def _runs(filling: _Filling, clause: str) -> list[Span]:
    """Return the words, one beside the other, that say nothing of what is called and nothing that was taken."""
    known, commands, text = lexicon(), rules().commands, filling.text
    said = known.vocabulary(filling.facts)
    runs: list[Span] = []
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s$", "", match.group())
        plain, before = known.plain(word), clause[: match.start()]
        asks = commands.request.search(word) or any(map(commands.told.fullmatch, (word, plain)))
        means = not plain or known.found(plain, said) or known.is_verb(plain)
        if overlaps(match.span(), filling.used) or means or asks or before[-1:].isalnum():
            continue
        end = match.start() + len(plain)
        gap = text[runs[-1][1] : match.start()] if runs else "."
        if gap.strip() in ("", "&") and text[runs[-1][0]].isupper() == word[0].isupper():
            runs.append((runs.pop()[0], end))
        elif not rules().commands.known_thing.search(text[: match.start()]):
            runs.append((match.start(), end))
    return runs
