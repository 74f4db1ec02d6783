"""What the check says: a sentence with places for values, so that a face can say it in another language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a part of one.

    Args:
        template: in English, with places for values by name: `{effect} comes before {question}.`
        values: what stands at the places: code and names as they are, or parts that are said as well.
    """

    template: str
    values: tuple[tuple[str, Part], ...] = ()

    def told(self, translate: Callable[[str], str]) -> str:
        """Return it with its template, and those of its parts, in another language.

        Args:
            translate: gives a template in that language, with the same places.
        """
        if not self.values:
            return translate(self.template)
        return translate(self.template).format(**{name: _part(value, translate) for name, value in self.values})

    def __str__(self) -> str:
        """Return it in English."""
        return self.told(str)


Part = str | Sentence | tuple[Sentence, ...]
"""A value in a sentence; several parts are separated by commas."""


def say(template: str, **values: Part | int) -> Sentence:
    """Return a sentence with these values."""
    return Sentence(template, tuple((name, str(v) if isinstance(v, int) else v) for name, v in values.items()))


def mark(text: str) -> str:
    """Return the text itself: it is for people, and a face translates it where it is shown."""
    return text


def _part(value: Part, translate: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sentence):
        return value.told(translate)
    return ", ".join(part.told(translate) for part in value)
