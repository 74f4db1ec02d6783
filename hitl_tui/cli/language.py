"""Which language a command line is answered in, known before anything else of it is read (C11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import VARIABLE, chosen

CODES = ("en", "ko")
OPTION = "--lang"


def language_of(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the code of the language: `--lang`, `HITL_LANG`, or else the locale.

    Args:
        argv: the whole command line, not parsed yet; its usage and errors are in that language, too.
        environ: the environment.

    Raises:
        BadInput: `HITL_LANG` names another language. What `--lang` gives is checked where the line is parsed.
    """
    given = _given(argv)
    try:
        return chosen(given if given in CODES else "", environ)
    except ValueError as error:
        raise BadInput(f'{VARIABLE} must be en or ko, but it is "{one_line(str(error), 40)}".') from error


@contextmanager
def passed_on(code: str, environ: MutableMapping[str, str]) -> Iterator[None]:
    """Name the language in the environment within a block: programs started there speak it, whoever chose it.

    Args:
        code: the language in use.
        environ: the environment that they are given.
    """
    before = environ.get(VARIABLE)
    environ[VARIABLE] = code
    try:
        yield
    finally:
        if before is None:
            environ.pop(VARIABLE, None)
        else:
            environ[VARIABLE] = before


def _given(argv: Sequence[str]) -> str:
    """Return what the last `--lang` gives; empty for none."""
    found = ""
    for place, word in enumerate(argv):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name == OPTION:
            found = value if equals else next(iter(argv[place + 1 : place + 2]), "")
    return found
