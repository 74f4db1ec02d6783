"""Messages: what the program says, made where it happens and put into a person's language where it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Catalogue(Protocol):
    """The texts of one language, looked up as gettext does."""

    def gettext(self, text: str) -> str:
        """Return the translation of a text; the text itself when there is none."""

    def ngettext(self, one: str, many: str, n: int) -> str:
        """Return the translation of a text about a number of things."""


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A sentence or a part of one, with values at its places: `Message("{count} of {name}", count=3, name="a.py")`.

    `str(message)` is the English sentence; an interface shows `hitl_tui.language.translate(message)`.

    Args:
        id: the English template and the key of its translation. Places are those of `str.format`; literal braces are
            doubled in a template that has places, and stand as they are in one that has none.
        plural: for a sentence about a number of things, the template for several and the number; see `counted_message`.
        values: what stands at the places. A text is inserted character for character: it may be code, a name or what
            somebody wrote. A message is translated like the one that it stands in. Several are separated by commas.
    """

    id: str
    plural: tuple[str, int] | None
    items: tuple[tuple[str, MessageValue], ...]

    def __init__(self, id: str, plural: tuple[str, int] | None = None, /, **values: MessageValue) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "plural", plural)
        object.__setattr__(self, "items", tuple(sorted(values.items())))

    def text(self, catalogue: Catalogue) -> str:
        """Return the sentence in the language of a catalogue."""
        found = catalogue.ngettext(self.id, *self.plural) if self.plural else catalogue.gettext(self.id)
        return (
            found.format_map({name: _inserted(value, catalogue) for name, value in self.items}) if self.items else found
        )

    def __str__(self) -> str:
        """Return the sentence in English."""
        return self.text(_ENGLISH)


MessageValue = str | int | float | Message | tuple[str | Message, ...]


def counted_message(one: str, many: str, count: int, /, **values: MessageValue) -> Message:
    """Return a message about a number of things: `counted_message("{count} file", "{count} files", 3)`.

    Args:
        one, many: the English templates for one thing and for several; both have a place for `count`.
    """
    return Message(one, (many, count), count=count, **values)


def _inserted(value: MessageValue, catalogue: Catalogue) -> str | int | float:
    if isinstance(value, Message):
        return value.text(catalogue)
    if isinstance(value, tuple):
        return ", ".join(str(_inserted(part, catalogue)) for part in value)
    return value


class _English:
    def gettext(self, text: str) -> str:
        return text

    def ngettext(self, one: str, many: str, n: int) -> str:
        return one if n == 1 else many


_ENGLISH = _English()
