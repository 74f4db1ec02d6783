"""Finished sentences, known again by their templates: `todo_003 is removed.` by `{0} is removed.`

A sentence is given in another language only when it is certain which template made it and which part of it is which
value; values are taken over character for character. Where that isn't certain the sentence stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

_FIELD = re.compile(r"\{(\w+)(!t)?\}")
_LONGEST = 4_000
"""Characters; longer texts are content, no sentences of ours."""
_MOST_SENTENCES = 12
"""Ends of sentences; texts with more are content, too."""
_DEEPEST = 3
"""How often a value may be a sentence that holds a value that is a sentence."""
_LIGHT = 12
"""Characters; with fewer literal ones a template mostly makes parts of sentences."""
_KEPT = 2_048
_OPAQUE = "\ue000{}\ue001"
_END = re.compile(r"(?<=[.;:?!]) ")


def is_template(text: str) -> bool:
    """Return whether a catalogue's key has places for values."""
    return _FIELD.search(text) is not None


def fields_of(text: str) -> list[str]:
    """Return the names of the places for values, in order; `{0!t}` counts as `{0}`."""
    return [match[1] for match in _FIELD.finditer(text)]


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


@dataclass(frozen=True)
class Template:
    """One template and its translation.

    Args:
        source: in English, with places for values: `{0} is {1} now.`; literal braces doubled.
        target: translated, with the same places; the value at `{0!t}` is itself one of our texts and is translated.
    """

    source: str
    target: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the places, in the order of the source."""
        return tuple(fields_of(self.source))

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """What stands before, between and after the values."""
        return tuple(_plain(part) for part in _FIELD.split(self.source)[::3])

    @cached_property
    def light(self) -> bool:
        """There is little to know it by, as in `{0} sessions`: by itself it takes nothing but names and numbers."""
        return self.weight < _LIGHT and self.source.rstrip()[-1] not in ".?!:"

    def takes_names(self, text: str) -> bool:
        """Return whether all values in a text are single words."""
        values = self.values(text)
        return values is not None and not any(" " in value for value in values.values())

    @cached_property
    def leads(self) -> bool:
        """It says where something is, and a sentence of ours follows: `hitl.toml line 3: …`."""
        last, ends = self.names[-1], not self.literals[0] and self.literals[-2].endswith(": ") and not self.literals[-1]
        return ends and any(name == last and ours for _, name, ours in self._pieces)

    def led(self, text: str) -> dict[str, str] | None:
        """Return the values where all but the last are single words, and so known for certain; else None."""
        match = self._led.fullmatch(text)
        if match is None:
            return None
        found: dict[str, str] = {}
        same = all(found.setdefault(n, part) == part for n, part in zip(self.names, match.groups(), strict=True))
        return found if same else None

    @cached_property
    def _led(self) -> re.Pattern[str]:
        words = r"(\S+)".join(re.escape(part) for part in self.literals[:-1])
        return re.compile(rf"{words}(.+){re.escape(self.literals[-1])}", re.DOTALL)

    @cached_property
    def weight(self) -> int:
        """Characters that have to be there literally."""
        return sum(map(len, self.literals))

    def matches(self, text: str) -> bool:
        """Return whether this template can have made a text."""
        return self._places(text) is not None

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values in a text that this template made; None when it didn't, or when that is uncertain.

        It is certain when the literals can stand nowhere else: looked for from the left and from the right, they are
        found at the same places; or all values but one after a colon are single words.
        """
        left = self._places(text)
        if left is None:
            return None
        if left != self._places_from_right(text):
            return self.led(text) if self.literals[-2].endswith(": ") else None
        parts = [text[a:b] for (_, a), (b, _) in pairwise(left)]
        found: dict[str, str] = {}
        same = all(found.setdefault(name, part) == part for name, part in zip(self.names, parts, strict=True))
        return found if same else None

    def _places(self, text: str) -> list[tuple[int, int]] | None:
        """Return where each literal stands, each as far to the left as it can be; None when one is nowhere."""
        first, *others = self.literals
        last = others[-1]
        end = len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last) or end < len(first):
            return None
        found = [(0, len(first))]
        for literal in others[:-1]:
            at = text.find(literal, found[-1][1], end)
            if at < 0:
                return None
            found.append((at, at + len(literal)))
        return [*found, (end, len(text))]

    def _places_from_right(self, text: str) -> list[tuple[int, int]] | None:
        first, *others = self.literals
        found = [(len(text) - len(others[-1]), len(text))]
        for literal in reversed(others[:-1]):
            at = text.rfind(literal, len(first), found[0][0])
            if at < 0:
                return None
            found.insert(0, (at, at + len(literal)))
        return [(0, len(first)), *found]

    @cached_property
    def _pieces(self) -> tuple[tuple[str, str, bool], ...]:
        pieces = _FIELD.split(self.target)
        texts, names, marks = pieces[::3], [*pieces[1::3], ""], [*pieces[2::3], None]
        return tuple((_plain(t), n, bool(m)) for t, n, m in zip(texts, names, marks, strict=True))

    def filled(self, values: Mapping[str, str], templates: Templates, depth: int) -> str:
        """Return the translation with these values."""
        found = []
        for text, name, ours in self._pieces:
            found.append(text)
            if name:
                found.append(templates.rendered(values[name], depth + 1) if ours else values[name])
        return "".join(found)


class Templates:
    """All that the rooms below can say, with its translation.

    Args:
        entries: translation by English text or template.
    """

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._texts = {source: target for source, target in entries.items() if not is_template(source)}
        self._first: dict[str, list[Template]] = {}
        self._last: dict[str, list[Template]] = {}
        self._loose: list[Template] = []
        self._leads: list[Template] = []
        self._known: dict[str, str] = {}
        for source, target in sorted(entries.items()):
            if is_template(source):
                self._take(Template(source, target))

    def _take(self, template: Template) -> None:
        if template.leads:
            self._leads.append(template)
        if len(template.literals[0]) >= 3:
            self._first.setdefault(template.literals[0][:3], []).append(template)
        elif len(template.literals[-1]) >= 3:
            self._last.setdefault(template.literals[-1][-3:], []).append(template)
        else:
            self._loose.append(template)

    def render(self, text: str) -> str:
        """Return a finished text in the other language, or as it is.

        Several lines are taken one by one when they aren't one text; so are several sentences.
        """
        found = self._known.get(text)
        if found is None:
            found = self.rendered(text, 0)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[text] = found
        return found

    def rendered(self, text: str, depth: int) -> str:
        """Return a text, or the value within one, in the other language."""
        if not text.strip() or len(text) > _LONGEST or depth > _DEEPEST:
            return text
        if text in self._texts:
            return self._texts[text]
        matching = self._matching(text, depth)
        if matching and (lines := self._lines(text, depth)):
            return lines
        if matching and (found := self._translated(text, matching, depth)) != text:
            return found
        led = self._led(text, depth)
        return self._in_parts(text, depth) if led == text and not matching else led

    def _lines(self, text: str, depth: int) -> str:
        """Return several lines that are each one of ours; empty where they may be one text."""
        lines = text.split("\n")
        found = [self.rendered(line, depth) for line in lines] if len(lines) > 1 else []
        return "\n".join(found) if all(map(str.__ne__, found, lines)) else ""

    def _led(self, text: str, depth: int) -> str:
        """Return a text that says first where something is, once the sentence after that is one of ours."""
        for template in self._leads:
            values = template.led(text)
            if values is None:
                continue
            last = template.names[-1]
            for said in dict.fromkeys((values[last].removesuffix("."), values[last])):
                if self.rendered(said, depth + 1) != said:
                    stop = values[last].removeprefix(said)
                    return template.filled({**values, last: said}, self, depth) + stop
        return text

    def _matching(self, text: str, depth: int) -> list[Template]:
        """Return the templates that can have made a text, the one with the most literal characters first."""
        found = [t for t in self._candidates(text) if t.matches(text)]
        if not depth:
            found = [t for t in found if not t.light or t.takes_names(text)]
        return sorted(found, key=lambda t: (-t.weight, t.source))

    def _translated(self, text: str, matching: Sequence[Template], depth: int) -> str:
        """Return a text that one of these made in the other language; as it is when it isn't certain which."""
        chosen, *others = matching
        values = chosen.values(text)
        if values is None or not all(_within(chosen, other) for other in others):
            return text
        return chosen.filled(values, self, depth)

    def _in_parts(self, text: str, depth: int) -> str:
        """Return a text that isn't one of ours as a whole: lines, or sentences after one another, or with a stop."""
        if "\n" in text:
            return "\n".join(self.rendered(line, depth) for line in text.split("\n"))
        bare = text.strip()
        if bare != text:
            return text.replace(bare, self.rendered(bare, depth), 1)
        if text.endswith(".") and (found := self.rendered(text[:-1], depth)) != text[:-1]:
            return f"{found}."
        ends = list(_END.finditer(text))
        for end in ends if len(ends) <= _MOST_SENTENCES else ():
            first, rest = text[: end.start()], text[end.end() :]
            if (one := self._one(first, depth)) != first:
                other = self.rendered(rest, depth)
                return f"{one} {other}" if other != rest else text
        return text

    def _one(self, text: str, depth: int) -> str:
        if text in self._texts:
            return self._texts[text]
        matching = self._matching(text, depth)
        return self._translated(text, matching, depth) if matching else text

    def _candidates(self, text: str) -> Sequence[Template]:
        return [*self._first.get(text[:3], ()), *self._last.get(text[-3:], ()), *self._loose]


def _within(narrow: Template, wide: Template) -> bool:
    """Return whether everything that the narrow template makes could be made by the wide one as well.

    Then the narrow one is meant: the wide one's values are words that somebody gave a sentence of their own.
    """
    parts = [_OPAQUE.format(name) for name in narrow.names]
    made = "".join(a + b for a, b in zip(narrow.literals, [*parts, ""], strict=True))
    return wide.matches(made)
