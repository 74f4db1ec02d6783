"""Arguments from words: what a clause gives, and the parameters that take it by their types, names and units.

Everything that a clause gives is offered to the parameters that can take it, each offer with how surely it is meant for
it: by the words beside it, by its unit or its kind. The surest offers are taken first. What is left goes to the only
parameter that can take it. Nothing is guessed: an amount that no parameter takes is left over, and so is a parameter
that nothing was said for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from hitl_tui.core.errors import PlanError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.meaning.amounts import UNITS, Unit, unit_named
from hitl_tui.meaning.glossary import translations
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.query_reader import WHOLE_WORD, listed, unread
from hitl_tui.planning.rule_planner.rule_file import alike, goes_on, lexicon, name_words, rules, stem
from hitl_tui.planning.rule_planner.values import PAIR, PARTICLE, Given, Span, blanked, counted_in, given_in, overlaps

_WORD = re.compile(r"[A-Za-z가-힣][\w'-]*")
_NUMBERS, _TEXTS, _AMOUNTS = ("integer", "number", "any"), ("string", "path", "any"), ("number", "percent")
_CURRENCY = ("from", "unit")
"""Kinds of which a name has to be whole for what an amount is counted in."""
_WRITTEN = ("text", "path", "date", "period", "clock", "email", "url", "code")
_SPECIAL = ("clock", "date", "email", "url", "code", "text")
_OWN_KIND = ("email", "url")
_READ_AS: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}
_SYLLABLE = re.compile("[가-힣]")
_OF_UNIT = re.compile("(?<=[가-힣])(?:으로|로|을|를)$")
_OBJECT = re.compile("[가-힣][을를]")
_ENDING = re.compile("[가-힣]+")
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
        conditions: what is said to have to hold for it.
        apart: what tells it from the others of a list, as it is said; empty for one alone.
    """

    facts: CommandFacts
    parameters: JsonObject
    words: str = ""
    start: int = 0
    end: int = 0
    used: tuple[Span, ...] = ()
    unplaced: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    apart: str = ""

    @property
    def command(self) -> str:
        return self.facts.name

    @property
    def lacks(self) -> list[str]:
        """The parameters that have to be given and weren't."""
        return [n for n, p in self.facts.parameters.items() if p.needed and n not in self.parameters]


def fill(clause: str, facts: CommandFacts, named: Sequence[Span] = ()) -> list[Call]:
    """Return the call of what is named at some places, with its arguments; one for each value of a list."""
    filling = _Filling(clause, facts, named)
    filling.take_surest()
    filling.take_only(("number",), ("number",), many=True)
    filling.take_only(("string",), ("text", "email", "url", "code", "path"), many=True)
    filling.take_only(_NUMBERS, ("number",))
    for types in (("path",), ("date",), _TEXTS):
        filling.take_only(types, _WRITTEN)
    filling.take_words()
    return filling.calls()


def but_counted(parts: Iterable[str], words: str) -> tuple[str, ...]:
    """Return parts of a text without those that only say what a number counts: "줄을" beside "50줄만"."""
    counted = {one.unit for one in given_in(words) if one.measure == "count"}
    return tuple(part for part in parts if not any(lexicon().is_word(part, unit) for unit in counted))


def in_declared_order(values: JsonObject, facts: CommandFacts) -> JsonObject:
    return {n: values[n] for n in facts.parameters if n in values}


def of_kind(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether one of the words, in the singular or plural, names such a kind."""
    return any(word.lower() in kinds or word.lower().removesuffix("s") in kinds for word in words)


def unit_in(word: str, facts: CommandFacts) -> frozenset[str]:
    """Return a unit that a word names and that something that can be called says of itself: "원" and "won"."""
    unit = unit_named(_OF_UNIT.sub("", word))
    named = {one.name for said in re.findall(r"\w+", facts.description) if unit and (one := unit_named(said))}
    return frozenset({unit.name} & named) if unit else frozenset()


# What a parameter takes -----------------------------------------------------------------------------------------------


class _Slot:
    """A parameter that has no value yet, and the words that name and describe it."""

    def __init__(self, name: str, facts: ParameterFacts) -> None:
        self.name, self.facts, self.many = name, facts, facts.type == "array"
        self.type = facts.type if not self.many else "number" if facts.items in _NUMBERS else "string"
        self.called, self.described = name_words(name), name_words(facts.description)

    def takes(self, one: Given) -> Json:
        """Return what is given as the parameter has it; None where it doesn't take that."""
        words = frozenset(word.lower() for word in (*self.called, *self.described))
        if one.kind in _AMOUNTS and self.type in _NUMBERS:
            return self._converted(one)
        if one.kind in _AMOUNTS:
            sign = "%" if one.kind == "percent" else ""
            return f"{one.value}{sign}" if self.type == "string" and not self.many else None
        if self.type in ("integer", "number"):
            counted = {"clock": "clock", "period": "year"}.get(one.kind)
            number = re.match(r"(?:19|20)\d\d|\d{1,2}(?=:)", str(one.value))
            return int(number[0]) if number and counted and words & rules().kinds[counted] else None
        if self.type in ("date", "path"):
            return one.value if one.kind == self.type or (one.kind, self.type) == ("text", "path") else None
        dated = one.kind != "period" or words & rules().kinds["date"]
        return one.value if self.type in _TEXTS and dated else None

    def _converted(self, one: Given) -> Json:
        """Return a number in the unit that the parameter is counted in; None where that measures something else."""
        value, default, own = one.value, self.facts.default, self._unit(one.measure)
        if isinstance(value, str):
            return None
        if one.measure == "percent" and isinstance(default, int | float) and not own:
            own = UNITS["share" if 0 < default < 1 else "%"]
        units = {unit.kind for word in self.called if len(word) > 1 and (unit := unit_named(word))}
        if one.measure == "count" and units - {"count"}:
            return None
        if one.measure not in ("", "count"):
            measures = units | {unit.kind for unit in UNITS.values() if self.is_a(unit.kind)}
            if own:
                value = round(value * float(UNITS[one.unit].size / own.size), 9)
            elif (measures and one.measure not in measures) or one.measure in ("data", "duration", "percent"):
                return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return None if self.type == "integer" and not isinstance(value, int) else value

    def _unit(self, measure: str) -> Unit | None:
        """Return the unit of a measure that the parameter is counted in, as its name says, or its description."""
        words = [*self.called, *re.findall(r"[\w%]+", self.facts.description)]
        return next((unit for word in words if (unit := unit_named(word)) and unit.kind == measure), None)

    def is_a(self, kind: str) -> bool:
        """Whether the name is one for such a kind."""
        return of_kind(self.called, rules().kinds.get(kind, frozenset()))

    def by_kind(self, one: Given) -> int:
        """Return how surely the kind of what is given names the parameter: its unit, or a date, an address, a code."""
        if one.unit and one.measure not in ("", "money") and (unit := self._unit(one.measure)):
            return 4 if unit in map(unit_named, self.called) else 3
        kind = one.measure or one.kind
        described = one.kind in _SPECIAL and of_kind(self.described, rules().kinds.get(kind, frozenset()))
        return 3 if self.is_a(kind) else 2 if described else 0

    def by_words(self, text: str, place: Span) -> int:
        """Return how surely the words beside a place name the parameter."""
        before = rules().commands.value_before.search(text[max(0, place[0] - 40) : place[0]])
        said = name_words(before["words"]) if before else []
        after = rules().commands.value_after.match(text, place[1])
        beside = [word for word in (*said[-1:], *([after["word"]] if after else [])) if lexicon().plain(word)]
        if any(_means(word, self.called) for word in beside):
            return 4 + len([word for word in said if _means(word, self.called)])
        described = [word for word in self.described if len(word) > 1 and lexicon().plain(word)]
        return 2 if any(_means(word, described) for word in beside) else 0

    def choices_in(self, text: str) -> dict[str, Span]:
        """Return the choices that a text names, and where."""
        found: dict[str, Span] = {}
        for choice in sorted(self.facts.choices, key=len, reverse=True):
            place = self._spoken(choice, text)
            if place is not None and not overlaps(place, list(found.values())):
                found[choice] = place
        return dict(sorted(found.items(), key=lambda one: one[1]))

    def _spoken(self, choice: str, text: str) -> Span | None:
        """Return where a text names a choice: as it is, as its description calls it, or by a word that means it."""
        parts = re.split(r"[,;:()]", self.facts.description)
        described = (p for p in parts if [c for c in self.facts.choices if c.lower() in p.lower()] == [choice])
        for said in (choice, *(word for part in described for word in part.split() if len(word) > 1)):
            spoken = "[-_ ]".join(map(re.escape, re.split("[-_ ]", said)))
            if match := re.search(rf"(?<![\w-]){spoken}(?![A-Za-z0-9_-])", text, re.IGNORECASE):
                return match.span()
        meant = frozenset(c for c in lexicon().concepts(choice) if c[0] != "=")
        return next((m.span() for m in _WORD.finditer(text) if meant & lexicon().concepts(m[0])), None)


def _means(word: str, wanted: Sequence[str]) -> bool:
    """Whether a word means one of those wanted, in its own language or the other."""
    meant, said = lexicon().concepts(word), (word, *translations(word.lower()))
    return any(meant & lexicon().concepts(one) or any(alike(stem(w), stem(one)) for w in said) for one in wanted)


# Who gets what --------------------------------------------------------------------------------------------------------


_Offer = tuple[int, tuple[Span, ...], _Slot, list[Json]]
"""How surely something is meant for a parameter, the places that say it, the parameter, and its value or several."""


class _Filling:
    """A call whose parameters are being filled.

    Attributes:
        text: the clause without what says that it is called.
        named_by: the places of what its parameter was named for, by words beside it or by what it is.
        rows: what that gives; what stands in a list for one parameter is one row.
        slots: the parameters without a value, as they are declared.
        taken: where the values of the others stand.
        several: values of one parameter, each of a call of its own, and where they stand.
    """

    def __init__(self, clause: str, facts: CommandFacts, named: Sequence[Span]) -> None:
        self.clause, self.facts, self.named = clause, facts, named
        pairs = {} if facts.takes_words else {match.span(): match for match in PAIR.finditer(clause)}
        self.values = {match["name"]: _written(match, facts) for match in pairs.values()}
        self.used, self.named_by, self.several = [*pairs], list[Span](), list[tuple[Span, dict[str, Json]]]()
        self.taken = dict[str, Sequence[Span]]()
        self.text = blanked(clause, [*named, *pairs])
        self.slots = [_Slot(n, p) for n, p in facts.parameters.items() if n not in self.values]
        self.rows: list[list[Given]] = []
        given, words = given_in(self.text), counted_in(self.text) if any(s.type in _NUMBERS for s in self.slots) else []
        given += [one for one in words if not overlaps(one.place, [other.place for other in given])]
        for one in sorted(given, key=lambda one: one.place):
            if self._goes_on(one):
                self.rows[-1].append(one)
            else:
                self.rows.append([one])

    def _goes_on(self, one: Given) -> bool:
        """Whether what is given continues the last row, which only one parameter is for."""
        last = self.rows[-1][-1] if self.rows else None
        if last is None or one.kind != last.kind or not self._joined(self.rows[-1][0], last, one):
            return False
        fitting = [slot for slot in self.slots if slot.takes(one) is not None and slot.takes(last) is not None]
        return len([slot for slot in fitting if slot.by_kind(one)] or fitting) == 1 and one.kind not in _AMOUNTS

    def _joined(self, first: Given, last: Given, one: Given) -> bool:
        """Whether what is given goes on a list, perhaps with the word or the particle again that its first has."""
        between, behind = self.text[last.place[1] : one.place[0]], self.text[one.place[1] :]
        if lead := rules().commands.value_lead.search(self.text[: first.place[0]]):
            again = rules().commands.value_lead.search(between)
            between = between[: again.start()] if again and lead[0].lower().endswith(again[0].lower()) else between
        if kind := rules().commands.kind_behind.match(between):
            between = between[kind.end() :]
        if (ending := _ENDING.match(between)) and behind.startswith(ending[0]):
            between = between[ending.end() :]
        return listed(between) or rules().commands.listing_also.fullmatch(between) is not None

    def _left(self, kinds: Collection[str]) -> list[list[Given]]:
        return [row for row in self.rows if row[0].kind in kinds and not overlaps(row[0].place, self.used)]

    def _take(self, slot: _Slot, values: list[Json], places: Sequence[Span]) -> None:
        self.slots.remove(slot)
        self.taken[slot.name] = places
        self.used += [*places, *self._kinds_beside(places)]
        if not slot.many and len(values) > 1:
            self.several = [(place, {slot.name: value}) for place, value in zip(places, values, strict=False)]
        else:
            self.values[slot.name] = values if slot.many else values[0]

    def _kinds_beside(self, places: Sequence[Span]) -> Iterator[Span]:
        """Yield where a word beside a name says that it is one of a file or a folder."""
        names = {one.place for row in self.rows for one in row if one.kind in ("path", "text")}
        for start, end in names.intersection(places):
            before = rules().commands.kind_before.search(self.text[:start])
            behind = rules().commands.kind_behind.match(self.text, end)
            yield from ((match.start("kind"), match.end()) for match in (before, behind) if match)

    def take_surest(self) -> None:
        """Take what is surely meant for a parameter, the surest first; of several counts none is surer."""
        offers = sorted(self._offers(), key=lambda offer: (-offer[0], offer[1]))
        counts = {one.place for row in self.rows for one in row if one.kind == "number" and one.measure == "count"}
        alike = Counter((score, slot.name) for score, places, slot, _ in offers if counts.issuperset(places))
        for score, places, slot, values in offers:
            if counts.issuperset(places) and alike[score, slot.name] > 1:
                continue
            if slot in self.slots and not any(overlaps(place, self.used) for place in places):
                self._take(slot, values, places)
                self.named_by += places

    def take_only(self, types: Sequence[str], kinds: Collection[str], *, many: bool = False) -> None:
        """Give what is left of some kinds to the only parameters of these types: as many as there are, in order.

        Args:
            many: to the only list, which takes all of it, or all of its own kind.
        """
        typed = [slot for slot in self.slots if slot.many is many and slot.type in types]
        for needed in (True, False):
            slots = [slot for slot in typed if slot.facts.needed is needed]
            rows = [row for row in self._left(kinds) if any(self._may_take(slot, row[0]) for slot in slots)]
            if many and len(slots) == 1:
                own = [row for row in rows if slots[0].by_kind(row[0])] or [r for r in rows if r[0].kind != "path"]
                rows = [list(chain.from_iterable(own))] if own else []
            if len(rows) == len(slots) and (needed or len(slots) == 1):
                for slot, row in zip(slots, rows, strict=True):
                    values = [slot.takes(one) for one in row]
                    if None not in values and (needed or row[0].measure in ("", "money")):
                        self._take(slot, values, [one.place for one in row])

    def _may_take(self, slot: _Slot, one: Given) -> bool:
        """Whether a parameter takes what is given, and it isn't of a kind that another one is for."""
        others = (_Slot(n, p) for n, p in self.facts.parameters.items())
        meant = one.kind in _OWN_KIND and not slot.by_kind(one) and any(other.by_kind(one) for other in others)
        return slot.takes(one) is not None and not meant

    def _offers(self) -> Iterator[_Offer]:
        """Yield what names its parameter by a word beside it, its unit, its kind, its role, or by what it is."""
        given = list(chain.from_iterable(self.rows))
        alone = [row[0] for row in self.rows if not row[1:]]
        quoted = blanked(self.text, [g.place for g in given if g.kind in ("text", "path", "url", "email", "date")])
        for slot in self.slots:
            yield from self._roles(slot, given, alone)
            found = slot.choices_in(quoted)
            if len(found) > 1:  # "mail instead of sms"
                negated = rules().commands.negated_before
                found = {one: place for one, place in found.items() if not negated.search(quoted[: place[0]])}
            if len(found) == 1 or (found and slot.many):
                yield _CERTAIN, tuple(found.values()), slot, [*found]
            if slot.type == "boolean":
                yield from self._flags(slot)
            for row in self.rows if not slot.many else ():
                beside = blanked(self.text, [g.place for g in given if g is not row[0]])
                score = slot.by_words(beside, row[0].place) + slot.by_kind(row[0])
                values = [slot.takes(one) for one in row]
                if score and None not in values:
                    yield score, tuple(one.place for one in row), slot, values

    def _roles(self, slot: _Slot, given: Sequence[Given], alone: Sequence[Given]) -> Iterator[_Offer]:
        """Yield what something is changed from and into, and what it is counted in: "100 USD to EUR"."""
        role = next((role for role in ("unit", "to", "from") if slot.is_a(role)), "")
        if not role or slot.type not in ("string", "choice"):
            return
        said: list[tuple[str, tuple[Span, ...]]] = []
        ways = {"from": rules().commands.value_from, "to": rules().commands.value_to}
        certain = any(one.kind in _SPECIAL and slot.by_kind(one) for one in given)
        for place in self._with_role(ways[role], given) if role in ways else ():
            word = self.text[slice(*place)]
            if (one := self._given_at(place, slot, given)) is not None:
                value = slot.takes(one) if one in alone and one.kind not in _AMOUNTS else None
                others = (other for other in self.slots if other is not slot and one.kind == "text")
                certain_other = one.kind == "text" and certain
                if (
                    isinstance(value, str)
                    and not certain_other
                    and not any(other.by_words(self.text, one.place) for other in others)
                ):
                    said.append((value, (place, one.place)))
            elif not (certain or self._names_part(word) or rules().commands.anybody.fullmatch(word)):
                said.append((word, (place,)))
        if role != "to" and all(
            any(of_kind([word], rules().kinds[kind]) for kind in _CURRENCY) for word in slot.called
        ):
            said += [(one.unit, ()) for one in given if one.unit]
        for found, used in said[:1]:
            unit = unit_named(found)
            value = unit.name if unit and unit.kind == "money" else found
            named = [*slot.choices_in(f"{found} {value}")] if slot.facts.choices else [value]
            if len(named) == 1:
                yield _CERTAIN + 1, used, slot, [*named]

    def _with_role(self, way: re.Pattern[str], given: Sequence[Given]) -> Iterator[Span]:
        """Yield where something is said to come from or go to, by words that are no part of what is given."""
        places = [one.place for one in given]
        for match in way.finditer(self.text):
            particle = match["particle"]
            start, end = match.span("ko" if particle else "value")
            says = (end, match.end()) if particle else (match.start(), start)
            if start == end:  # a quotation
                start, end = (start - 1, end) if particle else (start, end + 1)
            elif particle == "로" and _SYLLABLE.fullmatch(self.text[start:end]):
                continue  # an adverb: "바로", "서로"
            if not overlaps((start, end), self.used) and not overlaps(says, places):
                yield start, end

    def _names_part(self, word: str) -> bool:
        """Whether a word names what is called, or one of its parameters."""
        parts = [part for name in (self.facts.name, *self.facts.parameters) for part in name_words(name)]
        return _means(word, parts)

    def _given_at(self, place: Span, slot: _Slot, given: Sequence[Given]) -> Given | None:
        """Return what is given at a place, or beside a word there that says what it is, as in "to account B-2"."""
        start, end = place
        if _means(self.text[start:end], slot.called):
            beside = ((one, self.text[one.place[1] : start] or self.text[end : one.place[0]]) for one in given)
            return next((one for one, between in beside if between and not between.strip()), None)
        return next((one for one in given if overlaps(place, [one.place])), None)

    def _flags(self, slot: _Slot) -> Iterator[_Offer]:
        """Yield true or false where a text says the name of a flag, or what describes it: as it is said, or denied."""
        for said in (slot.name, *re.split(r"[,;()]", slot.facts.description)):
            words = [word for word in name_words(said) if lexicon().plain(word)]
            found = [[m.span() for m in _WORD.finditer(self.text) if _means(lexicon().bare(m[0]), [w])] for w in words]
            if words and all(found):
                places = tuple(first for first, *_ in found)
                before, after = self.text[: min(places)[0]], self.text[max(places)[1] :]
                yield 1, places, slot, [not rules().denied(before, after)]
                return

    def take_words(self) -> None:
        """Give the only text that is still needed the only words that say nothing else; a name goes before others.

        Of words in a list the only list that is needed takes all, and a text one after the other.
        """
        needed = [slot for slot in self.slots if slot.type == "string" and slot.facts.needed]
        needed = [slot for slot in needed if not any(map(slot.is_a, (*_SPECIAL, "path")))]
        lists = [slot for slot in needed if slot.many]
        rows = self._listed(self._runs())
        if len(lists) == 1 and len(several := [row for row in rows if row[1:]] or rows) == 1:
            self._take(lists[0], [self.text[slice(*run)] for run in several[0]], several[0])
            rows = [row for row in rows if row not in several]
        slots = [slot for slot in needed if not slot.many]
        said = {tuple(self.text[slice(*run)] for run in row): row for row in rows}
        if len(slots) == 1 and len(said) == 1:
            [words] = said
            self._take(slots[0], [*words], [run for row in rows for run in row])

    def _number_beside(self, place: Span) -> Given | None:
        """Return the number that is said of a thing: before it in English, behind it in Korean or in brackets."""
        korean = _ENDING.match(self.text, place[0])
        for one in (row[0] for row in self.rows if row[0].kind == "number" and row[0].measure in ("", "count")):
            start, end = one.place
            behind, before = self.text[place[1] : start], self.text[end : place[0]]
            follows = place[1] <= start and (behind in (" (", "(") or (behind == " " and (korean or one.measure)))
            if follows or (end <= place[0] and before == " " and not korean):
                return one
        return None

    def _listed(self, runs: Sequence[Span]) -> list[list[Span]]:
        """Return words with those that stand in a list with them; names alone, if there are some."""
        named = [run for run in runs if self.clause[run[0]].isupper() and self.clause[: run[0]].strip()]
        rows: list[list[Span]] = []
        for run in named or runs:
            if rows and listed(self.text[rows[-1][-1][1] : run[0]]):
                rows[-1].append(run)
            else:
                rows.append([run])
        return rows

    def _runs(self) -> list[Span]:
        """Return the words, one beside the other, that say nothing of what is called and that nothing took."""
        runs: list[Span] = []
        asks, told = rules().commands.request, rules().commands.told
        for match in _WORD.finditer(self.text):
            start, word = match.start(), match[0].removesuffix("'s")
            plain = lexicon().plain(word)
            if plain == word and _OBJECT.fullmatch(word) and goes_on(word[0], word[1]):
                plain = word[0]
            tells = (
                plain and not self._number_beside(match.span()) and (lexicon().is_verb(plain) or told.fullmatch(plain))
            )
            silent = not plain or tells or asks.search(word)
            if silent or overlaps(match.span(), [*self.used, *self._known]) or self.clause[:start][-1:].isalnum():
                continue
            end, gap = start + len(plain), self.text[runs[-1][1] : start] if runs else "."
            if gap.strip() in ("", "&") and self.text[runs[-1][0]].isupper() == word[0].isupper():
                runs[-1] = (runs[-1][0], end)
            elif not rules().commands.known_thing.search(self.text[:start]):
                runs.append((start, end))
        return runs

    @cached_property
    def _known(self) -> list[Span]:
        """The words of the clause that say what the call does anyway."""
        own, known = lexicon().vocabulary(self.facts), list[Span]()
        for match in WHOLE_WORD.finditer(self.clause):
            word = lexicon().plain(re.sub("[ -]", "", match[0]))
            tells = self.facts.own and lexicon().is_verb(match[0]) and not self._number_beside(match.span())
            if lexicon().found(word, own) or tells or unit_in(match[0], self.facts):
                known.append(match.span())
        return known

    def calls(self) -> list[Call]:
        left = [one for row in self._left(_AMOUNTS) for one in row]
        left = [] if self.facts.takes_words else left
        open_to = [slot for slot in self.slots if slot.type in _NUMBERS]
        may = [g for g in left if g.kind == "percent" or g.measure or any(s.takes(g) is not None for s in open_to)]
        unplaced = [g.place for g in (may if self.facts.parameters else left)]
        said = tuple(dict.fromkeys(self.clause[slice(*place)].strip() for place in unplaced))
        modifiers = [match.span() for match in rules().commands.modifiers.finditer(self.clause)]
        governing = [rules().commands.governs.search(self.clause[:start]) for start, _ in self.named_by]
        endings = [match.span() for _, end in self.used if (match := _ENDING.match(self.clause, end))]
        read = [*self.named, *self.used, *endings, *unplaced, *self._known, *modifiers]
        read += [match.span("word") for match in governing if match]
        not_read = () if self.facts.takes_words else but_counted(unread(self.clause, read), self.clause)
        call = Call(self.facts, {}, self.clause.strip(), 0, len(self.clause), tuple(self.used), said, not_read)
        if not self.several:
            return [replace(call, parameters=in_declared_order(self.values, self.facts))]
        own_numbers = self._own_numbers()
        several = [(self._with_number(place, own_numbers), one) for place, one in self.several]
        start, end = several[0][0][0], several[-1][0][1]
        if both := rules().commands.both.search(self.clause[:start]):
            start = both.start()
        calls = list[Call]()
        for place, one in several:
            own = self.clause[slice(*place)]
            words = f"{self.clause[:start]}{own}{self.clause[end:]}".strip()
            values = {n: v for n, v in self.values.items() if n not in own_numbers or overlaps(own_numbers[n], [place])}
            given = in_declared_order({**values, **one}, self.facts)
            calls.append(replace(call, parameters=given, words=words, apart=own))
        return calls

    def _own_numbers(self) -> dict[str, Span]:
        """Return what is a number of one of several things only, and where that is said: "5 pens and apples"."""
        found: dict[str, Span] = {}
        beside = [one for place, _ in self.several if (one := self._number_beside(place))]
        for name, places in self.taken.items():
            number = next((one for one in beside if [one.place] == [*places]), None)
            if number and not rules().commands.each.search(self.text, number.place[1]):
                found[name] = number.place
        return found

    def _with_number(self, place: Span, numbers: Mapping[str, Span]) -> Span:
        """Return where a thing stands, with the number that is said of it alone."""
        one = self._number_beside(place)
        own = one.place if one and one.place in numbers.values() else place
        return min(own[0], place[0]), max(own[1], place[1])


def _written(pair: re.Match[str], facts: CommandFacts) -> Json:
    """Return the value of `name=value` as the type that is due; what doesn't read as such stays as written."""
    name, value = pair["name"], pair["value"]
    if name not in facts.parameters:
        known = ", ".join(facts.parameters) or "none"
        raise PlanError(Message('The command {} has no parameter "{}"; it has {}.', facts.name, name, known))
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    value = PARTICLE.sub("", value.rstrip(",;!?")) or value
    try:
        read: Json = json.loads(value.lower())
    except (ValueError, RecursionError):
        return value
    return read if type(read) in _READ_AS.get(facts.parameters[name].type, ()) else value
