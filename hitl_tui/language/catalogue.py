"""Languages: English as it is written in the code, others from a compiled catalogue that is read when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import GNUTranslations


DOMAIN = "hitl_tui"


class Language:
    """English: what is written in the code is what is shown, and no file is read."""

    code = "en"

    def gettext(self, text: str) -> str:
        """Return a text in this language; the text itself when it has none."""
        return text

    def ngettext(self, one: str, many: str, n: int) -> str:
        """Return the text for a number of things."""
        return one if n == 1 else many


class Translated(Language):
    """A language with a catalogue.

    Args:
        code: as the folder of its catalogue is called.
    """

    def __init__(self, code: str) -> None:
        self.code = code

    def gettext(self, text: str) -> str:
        return self._catalogue.gettext(text) if text else ""

    def ngettext(self, one: str, many: str, n: int) -> str:
        return self._catalogue.ngettext(one, many, n)

    @cached_property
    def _catalogue(self) -> GNUTranslations:
        from gettext import GNUTranslations

        with catalogue_path(self.code).open("rb") as file:
            return GNUTranslations(file)


def catalogue_path(code: str, suffix: str = "mo") -> Path:
    """Return where a language's catalogue lies: compiled as `mo`, written as `po`."""
    return Path(__file__).parent / "locales" / code / "LC_MESSAGES" / f"{DOMAIN}.{suffix}"


ENGLISH = Language()
LANGUAGES: Mapping[str, Language] = MappingProxyType({"en": ENGLISH, "ko": Translated("ko")})
