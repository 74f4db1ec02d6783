"""Messages: what the program says, made where it happens and put into a person's language where it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import count
from string import Formatter
from typing import Any, Protocol

from hitl_tui.core.json_types import Json

MESSAGES = "message_parts"
"""The key, beside the texts of a stored document, of what the messages among them were made of."""


class Catalogue(Protocol):
    """The texts of one language, looked up as gettext does."""

    def gettext(self, text: str) -> str:
        """Return the translation of a text; the text itself when there is none."""

    def ngettext(self, one: str, many: str, n: int) -> str:
        """Return the translation of a text about a number of things."""


class Message(str):
    """A sentence or a part of one, with values at its places: `Message("{} of {}", 3, "a.py")`.

    It is its English text, so it can stand wherever a text can; an interface shows `hitl_tui.language.translate` of it.
    What is made of it by slicing or formatting is a plain text, which is shown as it is.

    Args:
        template: the English text and the key of its translation, with places as in `str.format`. Literal braces are
            doubled where there are values, and stand as they are where there are none.
        values, named: what stands at the places. A text is inserted character for character: it may be code, a name
            or what somebody wrote. A message, an error made of one and a member of an enumeration are translated like
            the sentence that they stand in. Several are separated by commas.
    """

    __slots__ = ("named", "plural", "template", "values")

    template: str
    plural: str
    values: tuple[Value, ...]
    named: Mapping[str, Value]

    def __new__(cls, template: str, /, *values: object, **named: object) -> Message:
        return _message(
            template, "", tuple(map(_value, values)), {name: _value(value) for name, value in named.items()}
        )

    def filled(self, *values: object, **named: object) -> Message:
        """Return the message that this one, kept without values, is with values at its places."""
        return Message(self.template, *values, **named)

    def text(self, catalogue: Catalogue) -> str:
        """Return the sentence in the language of a catalogue."""
        return _filled(self.template, self.plural, self.values, self.named, catalogue)

    def __reduce__(self) -> tuple[object, ...]:
        return _message, (self.template, self.plural, self.values, dict(self.named))


Value = str | int | float | tuple[str, ...]
"""What stands at a place; a text may be a message."""


def counted_message(one: str, many: str, number: int, /, *values: object, **named: object) -> Message:
    """Return a message about a number of things: `counted_message("{} file in {}", "{} files in {}", 3, "src")`.

    Args:
        one, many: the English templates for one thing and for several.
        number: the first value.
        values, named: what stands at the other places.
    """
    kept = {name: _value(value) for name, value in named.items()}
    return _message(one, many, (number, *map(_value, values)), kept)


def word(text: str) -> Message:
    """Return a word of ours that is kept as text, such as a status, as a message."""
    return _message(text, "", (), {})


def joined(parts: Sequence[str], between: str = " ") -> str:
    """Return several texts, messages among them, as one that is translated part by part."""
    if not any(isinstance(part, Message) for part in parts):
        return between.join(parts)
    if len(parts) == 1:
        return parts[0]
    return Message(between.replace("{", "{{").replace("}", "}}").join("{}" for _ in parts), *parts)


def _message(template: str, plural: str, values: tuple[Value, ...], named: Mapping[str, Value]) -> Message:
    made = str.__new__(Message, _filled(template, plural, values, named, _ENGLISH))
    made.template, made.plural, made.values, made.named = template, plural, values, named
    return made


def _value(value: object) -> Value:
    if isinstance(value, tuple | list):
        return tuple(part if isinstance(part, Message) else str(part) for part in value)
    if isinstance(value, StrEnum):
        return word(value.value)
    if isinstance(value, Exception) and value.args and isinstance(value.args[0], Message):
        return value.args[0]
    return value if isinstance(value, Message | int | float) and not isinstance(value, bool) else str(value)


def _filled(
    template: str, plural: str, values: Sequence[Value], named: Mapping[str, Value], catalogue: Catalogue
) -> str:
    if plural:
        number = values[0]
        found = catalogue.ngettext(template, plural, number if isinstance(number, int) else 0)
    else:
        found = catalogue.gettext(template) if template else ""
    if not values and not named:
        return found
    return found.format(
        *(_inserted(value, catalogue) for value in values),
        **{name: _inserted(value, catalogue) for name, value in named.items()},
    )


def _inserted(value: Value, catalogue: Catalogue) -> str | int | float:
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
_PLAIN = frozenset({str, int, float, bool, type(None)})
_FORMS = ("", ",", ".1f")
"""How values may be written in a stored template."""
_LONGEST = 100_000
"""Characters of a stored message; a longer text is kept as text alone."""

# Stored ---------------------------------------------------------------------------------------------------------


def with_messages(document: Mapping[str, object]) -> dict[str, object]:
    """Return a document as it is stored: its messages are texts, and `MESSAGES` says what they were made of."""
    found = {place: parts_of(message) for place, message in _messages(document, "")}
    plain = {key: value for key, value in document.items() if key != MESSAGES}
    return {**plain, MESSAGES: found} if found else plain


def messages_restored(document: dict[str, object]) -> dict[str, object]:
    """Return a stored document with its messages, in place of the texts that they are in English.

    What is said to be a message and isn't the text at its place stays that text.
    """
    stored = document.get(MESSAGES)
    for place, parts in stored.items() if isinstance(stored, dict) else ():
        _restore(document, place.split("/")[1:], message_of(parts))
    return document


def message_of(parts: Any) -> Message | None:
    """Return the message that is stored as `parts_of` says; None for anything else.

    Whoever wrote a file may have written any template, so only plain places are filled, and no long text is made.
    """
    try:
        template, plural, values, named = parts
        kept = tuple(map(_revived, values))
        revived = {str(name): _revived(value) for name, value in named.items()}
        if not all(_fills_plainly(str(text), kept, revived) for text in (template, plural)):
            return None
        return _message(str(template), str(plural), kept, revived)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return None


def _fills_plainly(template: str, values: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Return whether a template has places as our own have, and makes a text of at most `_LONGEST` characters."""
    length, numbers = len(template), count()
    for _text, name, form, conversion in Formatter().parse(template) if values or named else ():
        if name is not None:
            if form not in _FORMS or conversion:
                return False
            value = named[name] if name in named else values[int(name) if name else next(numbers)]
            length += len(str(value))
    return length <= _LONGEST


def parts_of(message: Message) -> list[Json]:
    """Return what a message was made of, as JSON values."""
    named = {name: _stored(value) for name, value in message.named.items()}
    return [message.template, message.plural, [_stored(value) for value in message.values], named]


def _messages(value: object, place: str) -> Iterator[tuple[str, Message]]:
    if isinstance(value, Message):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if type(item) not in _PLAIN and "/" not in str(key):
                yield from _messages(item, f"{place}/{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            if type(item) not in _PLAIN:
                yield from _messages(item, f"{place}/{number}")


def _restore(document: Any, place: list[str], message: Message | None) -> None:
    if message is None or not place:
        return
    try:
        for key in place[:-1]:
            document = document[int(key)] if isinstance(document, list) else document[key]
        where = int(place[-1]) if isinstance(document, list) else place[-1]
        if document[where] == message:
            document[where] = message
    except (LookupError, TypeError, ValueError):
        return


def _stored(value: Value) -> Json:
    if isinstance(value, Message):
        return {"message": parts_of(value)}
    return [_stored(part) for part in value] if isinstance(value, tuple) else value


def _revived(value: Json) -> Value:
    if isinstance(value, dict):
        return message_of(value["message"]) or ""
    if isinstance(value, list):
        parts = map(_revived, value)
        return tuple(part if isinstance(part, Message) else str(part) for part in parts)
    return value if isinstance(value, int | float) else str(value)
