"""Names of TODOs, people and other things: resolved, cut and compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from hitl_tui.core.errors import UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.short_titles import short_title

_STEP = Message("step")
_COMPARED = 100
"""Characters of a name that are compared with those there are."""
_NAMED = 6
"""How many of the names that there are a sentence has."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that was probably meant; empty for none."""
    from difflib import get_close_matches

    by_form = {one.lower().replace("_", "-"): one for one in known}
    found = get_close_matches(name[:_COMPARED].lower().replace("_", "-"), by_form, 1)
    return by_form[found[0]] if found else ""


def some_of(known: Sequence[str]) -> Message:
    """Return the names that there are, the last ones of many."""
    last = ", ".join(known[-_NAMED:])
    more = len(known) - _NAMED
    return Message("the latest are {}, and there are {} more", last, more) if more > 0 else Message("known: {}", last)


def resolve_id(text: str, ids: Iterable[str], what: Message = _STEP) -> str:
    """Return the one id that `text` names: the id itself, a unique prefix, or (for TODOs) its number.

    `2` and `002` name `todo_002`.

    Raises:
        UnknownName: none or several match; the message says which.
    """
    known = list(ids)
    if text in known:
        return text
    if what is _STEP and text.isascii() and text.isdigit():
        wanted = text.lstrip("0")
        numbered = [i for i in known if i.startswith("todo_") and i.removeprefix("todo_").lstrip("0") == wanted]
        if len(numbered) == 1:
            return numbered[0]
    matches = [i for i in known if text and i.startswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(matches[:4]) + (", …" if len(matches) > 4 else "")
        raise UnknownName(Message('"{}" could be {}; write more of the id.', clip(text), shown))
    if not known:
        raise UnknownName(Message('No {} "{}"; none exist yet.', what, clip(text)))
    shown = ", ".join(map(step_name, known[:_NAMED])) + (", …" if len(known) > _NAMED else "")
    raise UnknownName(Message('No {} "{}"; known: {}.', what, clip(text), shown))


def step_name(todo_id: str) -> str:
    """Return what a sentence calls a step or a question of one: `003` for `todo_003`; any other name stays."""
    return todo_id.removeprefix("todo_")


def in_runs(names: Iterable[str]) -> list[str]:
    """Return names of steps with three or more that follow each other as one: `401–500`."""
    found: list[list[str]] = []
    for name in names:
        before = found[-1][-1] if found else ""
        if name.isdecimal() and before.isdecimal() and int(name) == int(before) + 1:
            found[-1].append(name)
        else:
            found.append([name])
    runs = ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else run for run in found)
    return [name for run in runs for name in run]


_STEP_ID = re.compile(r"\btodo_([0-9]{3,}(?:\.[0-9]+)?)(?![\w.])")


def typed_command(command: str) -> str:
    """Return a command as a person types it: `/todo skip 003` for `/todo skip todo_003`."""
    return _STEP_ID.sub(lambda found: found[1], command)


def clip(text: str, length: int = 60) -> str:
    """Return the text, cut for a message."""
    return text if len(text) <= length else text[: length - 1] + "…"


def command_step_name(command: str, words: str) -> str:
    """Return what a step is called that runs a declared command: the words for it that begin with its name, or that."""
    return words if words.split()[:1] == [command] else command


def titled(text: str) -> str:
    """Return what a TODO is called whose task is this text: a few words of its first line."""
    return short_title(text.strip().split("\n")[0], 60)


def person(name: str) -> str:
    """Return what a person's name is compared by: `ops`, `OPS` and `ｏｐｓ` are one person."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def plain_name(name: str) -> str:
    """Return a person's name; one whose letters look alike over several scripts with its foreign ones as code points.

    `оps` with a Cyrillic о is `оps (U+043E)`.
    """
    scripts = [_script(character) for character in name]
    mixed = {script for script in scripts if script}
    if len(mixed) < 2:
        return name
    usual = "LATIN" if "LATIN" in mixed else next(script for script in scripts if script)
    foreign = [f"U+{ord(c):04X}" for c, script in zip(name, scripts, strict=True) if script not in ("", usual)]
    return f"{name} ({', '.join(dict.fromkeys(foreign))})"


_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Scripts with letters that can't be told from each other's; a Korean name beside a Latin one can."""


def _script(character: str) -> str:
    """Return the script of a letter that can be taken for another script's, empty for anything else."""
    if not character.isalpha():
        return ""
    script = unicodedata.name(character, "").partition(" ")[0]
    return script if script in _ALIKE else ""
