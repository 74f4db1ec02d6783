"""What a person reads, in the language they chose: English, or Korean from a gettext catalogue.

Only interfaces translate, at the moment something is shown. Records, JSON, ids, commands and what people and agents
wrote stay as they are. An interface marks its own literals with `_` and `ngettext`; what comes from the packages below
is a `Message`, which `translate` puts into the language.

The language is a context variable: set once for a process, or around an app in a test; tasks inherit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import SafeText, safe_again, safe_text
from hitl_tui.language.catalogue import ENGLISH, LANGUAGES, Language

VARIABLE = "HITL_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")

_PARTS = re.compile(r"( {2,}|\n)")

_CURRENT: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def _(text: str) -> str:
    """Return one of an interface's own texts in the person's language; values are filled in afterwards, by `format`."""
    return _CURRENT.get().gettext(text)


def ngettext(one: str, many: str, n: int) -> str:
    """Return the text for a number of things; values are filled in afterwards, by `format`."""
    return _CURRENT.get().ngettext(one, many, n)


def translate(text: object) -> str:
    """Return a message in the person's language, and anything else as its text.

    The values of a message are inserted as they are, messages among them translated.
    """
    return text.text(_CURRENT.get()) if isinstance(text, Message) else str(text)


def safe_message(text: object, *, multiline: bool = True) -> SafeText:
    """Return what `translate` does of a text by us or by others, safe.

    Who makes a message may have made its values safe, so they are not escaped again.

    Args:
        text: a message, or anything else.
        multiline: keep line feeds; otherwise they become `␊`.
    """
    safe = safe_again if isinstance(text, Message) else safe_text
    return safe(translate(text), multiline=multiline)


def in_parts(text: str) -> str:
    """Return a text in columns, such as a list of commands, with each part between two or more spaces translated."""
    return "".join(_(part) for part in _PARTS.split(text))


def mark(text: str) -> str:
    """Return the text itself, for tables made before there is a language: it is translated where it is shown."""
    return text


def language() -> str:
    """Return the code of the language in use: `en` or `ko`."""
    return _CURRENT.get().code


@contextmanager
def using(code: str) -> Iterator[None]:
    """Use a language within a block and in the tasks begun there.

    Args:
        code: one of `LANGUAGES`.

    Raises:
        KeyError: there is no such language.
    """
    token = _CURRENT.set(LANGUAGES[code])
    try:
        yield
    finally:
        _CURRENT.reset(token)


def chosen(given: str, environ: Mapping[str, str]) -> str:
    """Return the code of the language to use: what is given, `HITL_LANG`, or else the locale.

    Args:
        given: the option; empty for none.
        environ: the environment.

    Raises:
        ValueError: `HITL_LANG` names a language there is none of; its text is that name.
    """
    if given:
        return given
    named = environ.get(VARIABLE, "").strip()
    if named:
        found = _code(named)
        if not found:
            raise ValueError(named)
        return found
    locale = next((environ[name] for name in _LOCALE if environ.get(name)), "")
    return _code(locale) or ENGLISH.code


def _code(name: str) -> str:
    """Return the language of a name such as `ko`, `ko_KR.UTF-8` or `en-GB`; empty when there is none."""
    base = name.lower().replace("-", "_").partition(".")[0].partition("@")[0].partition("_")[0]
    return base if base in LANGUAGES else ""


__all__ = [
    "VARIABLE",
    "Language",
    "_",
    "chosen",
    "in_parts",
    "language",
    "mark",
    "ngettext",
    "translate",
    "using",
]
