"""The key map as a person has it: the built-in one with what `keys.toml` in the data folder changes."""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from textual.keys import Keys

from hitl_tui.console.keys import (
    ALWAYS,
    ANSWER,
    ANYWHERE,
    CHOOSING,
    CONFIRM,
    FINDING,
    FORM,
    HELP,
    HISTORY,
    HOME,
    INBOX,
    KEYS,
    LIST,
    MOVE,
    PART,
    PLAN,
    PROMPT,
    QUESTION,
    QUITTING,
    READING,
    REPLAY,
    REVIEW,
    RULES,
    SAY,
    SESSION,
    SESSIONS,
    STEPS,
    STORE,
    STREAM,
    TASK,
    TEXT,
    TREE,
    VIEWER,
    WORDS,
    KeySpec,
    with_jamo,
)
from hitl_tui.core.jamo import JAMO
from hitl_tui.core.names import clip
from hitl_tui.language import _, mark
from hitl_tui.terminal.key_names import key_of_character

TITLES = {
    ANYWHERE: mark("Anywhere"),
    SESSION: mark("In a session"),
    QUESTION: mark("Question ({session.question})"),
    PLAN: mark("Plan pane"),
    HISTORY: mark("History pane"),
    STREAM: mark("Stream pane"),
    ANSWER: mark("Answer pane"),
    REPLAY: mark("Replay ({session.replay})"),
    STEPS: mark("A team's own steps ({plan.steps} in a plan)"),
    STORE: mark("A store's threads (hitl-tui open)"),
    PROMPT: mark("Prompt"),
    HOME: mark("First screen"),
    SESSIONS: mark("Sessions on the first screen"),
    INBOX: mark("Inbox ({console.inbox})"),
    VIEWER: mark("Text on the whole screen"),
    TEXT: mark("Details and results on the whole screen"),
    HELP: mark("This help"),
    CONFIRM: mark("Confirmation"),
    QUITTING: mark("Quitting"),
    WORDS: mark("Text to enter"),
    FORM: mark("Fields to fill in, texts to edit"),
    SAY: mark("Answer in words"),
    READING: mark("Text to read to the end first"),
    REVIEW: mark("Review of the marked"),
    TASK: mark("Step of an agent's task"),
    ALWAYS: mark("Always allow"),
    PART: mark("Calls one by one"),
    CHOOSING: mark("Options to choose from"),
    RULES: mark("Rules"),
    MOVE: mark("Panes and lists"),
    LIST: mark("Lists"),
    TREE: mark("State, part by part"),
    FINDING: mark("Search words"),
}

# Where a text field may have the focus: there no key may be a character that is typed.
TYPED = frozenset({PROMPT, WORDS, FORM, SAY, FINDING})
# What a dialog has besides, and what it is one of: both apply at the same time.
WITHIN = {
    REVIEW: {READING},
    TASK: {READING},
    ALWAYS: {READING},
    PART: {READING},
    HELP: {VIEWER},
    TEXT: {VIEWER},
    SAY: {FORM},
    LIST: {HOME, INBOX, REPLAY, STEPS, RULES, CHOOSING},
    MOVE: {PLAN, HISTORY, STREAM, ANSWER, SESSIONS, STORE, LIST, TREE, HOME, INBOX, REPLAY, STEPS, RULES, CHOOSING},
    TREE: {REPLAY, STEPS},
}


FILE = "keys.toml"
_NEAR = 0.7
"""How alike an unknown id and one that there is have to be, from 0 to 1, for that one to be what was meant."""

_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NEVER_BY_HABIT = frozenset(
    {
        *(f"question.{number}" for number in (1, 2, 3, 4, 5, 7)),
        *(f"part.{number}" for number in range(2, 6)),
        *(f"choosing.{number}" for number in range(1, 10)),
        "choosing.send",
        "form.send",
        "confirm.yes",
        "reading.yes",
        "form.approve",
    }
)
"""Keys that take effect at once, so that nobody may map them to a key that is pressed by habit, such as Enter."""
_LETTERS = MappingProxyType({jamo: letter for letter, jamo in JAMO.items()})
_NAMED = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")
# What is pressed by habit to leave, to move, to edit a text or to end input must never decide anything, nor what
# terminals send as one of these. An Alt with a key arrives as Esc and that key.
_HABITS = frozenset(
    {"enter", "return", "escape", "space", "tab", "backspace", "delete", "insert", "ctrl-at"}
    | {"up", "down", "left", "right", "home", "end", "pageup", "pagedown"}
)
_WITH_CTRL = frozenset([*"abcdefhijkmnptuvwxyz238", "at", "left_square_bracket", "question_mark", "slash"])
_WITH_COMMAND = frozenset("acvxyz")
_DEEPEST = 2
_SAID = 60
"""Characters of what somebody wrote that a sentence repeats."""
_SHOWN = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "escape": "Esc",
    "delete": "Del",
    "insert": "Ins",
    "backspace": "Backspace",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
}


def shown_keys(keys: str) -> str:
    """Return how a binding's keys read on the screen: `Ctrl+G F2` for `ctrl+g,f2`."""
    return " ".join(_shown(key) for key in keys.split(","))


def _shown(key: str) -> str:
    *modifiers, name = key.split("+")
    if name in _SHOWN:
        last = _SHOWN[name]
    elif len(name) == 1:
        last = name.upper() if modifiers else name
    elif name[0] == "f" and name[1:].isdigit():
        last = name.upper()
    else:
        last = _character(name) or name.replace("_", " ").capitalize()
    return "+".join([*(m.capitalize() for m in modifiers), last])


def _character(name: str) -> str:
    """Return the character that a key's name stands for: `?` for `question_mark`; empty when it is none."""
    return next((chr(n) for n in range(0x21, 0x7F) if key_of_character(chr(n)) == name), "")


def normal_keys(keys: str) -> str | None:
    """Return keys as Textual names them, None when one of them is no key."""
    found = []
    for written in keys.split(","):
        key = "+" if written.strip() == "+" else written.strip()
        *modifiers, name = [key] if key == "+" else key.split("+")
        modifiers = [m.strip().lower() for m in modifiers]
        name = name.strip()
        if len(name) == 1 and name.isprintable():
            name = key_of_character(name.lower() if modifiers else name)
        elif name.lower() in _names():
            name = name.lower()
        else:
            return None
        if not all(m in _MODIFIERS for m in modifiers):
            return None
        found.append("+".join([*modifiers, name]))
    return ",".join(dict.fromkeys(found))


@cache
def _names() -> frozenset[str]:
    """Return what Textual calls its keys."""
    return frozenset(
        {*(str(key.value) for key in Keys), *(key_of_character(chr(n)) for n in range(0x21, 0x7F)), "space"}
    )


class Keymap(NamedTuple):
    """All bindings as they work.

    Args:
        specs: all of them, in the order of the help screen.
        changed: keys by binding id, for Textual; only what differs from the built-in map.
        problems: one sentence for each entry that was left out.
    """

    specs: tuple[KeySpec, ...] = KEYS
    changed: Mapping[str, str] = MappingProxyType({})
    problems: tuple[str, ...] = ()

    def of(self, where: str) -> Sequence[KeySpec]:
        """Return a part of the map."""
        return [k for k in self.specs if k.where == where]

    def at(self, where: str, key: str) -> str:
        """Return the id of what a key does in a part of the map; empty when it does nothing there."""
        return next((k.id for k in self.specs if k.where == where and key in _as_bound(k).split(",")), "")

    def now(self, spec: KeySpec) -> KeySpec:
        """Return a binding of the built-in map as it works now."""
        return next((k for k in self.specs if k.id == spec.id), spec)

    def keys_of(self, binding: str) -> list[str]:
        """Return the keys of a binding as they are bound; none for an id that isn't there."""
        return next((_as_bound(k).split(",") for k in self.specs if k.id == binding), [])

    def shown(self, binding: str) -> str:
        """Return how the first key of a binding reads on the screen; empty for an id that isn't there."""
        return next((shown_keys(k.keys.split(",")[0]) for k in self.specs if k.id == binding), "")

    def named(self, text: str) -> str:
        """Return a text with the keys that it names by id, such as `{question.1}`, as they read on the screen."""
        return _NAMED.sub(lambda found: self.shown(found[1]) or found[0], text)


def keymap_of(app: Any) -> Keymap:
    """Return an app's key map; the built-in one for an app without."""
    return getattr(app, "keymap", None) or Keymap()


def load_keymap(path: Path) -> Keymap:
    """Return the built-in map with the changes of a file; what can't be taken is left out and told.

    The file has lines such as `"question.1" = "y"`; several keys are separated by commas or stand in a list. An
    entry replaces all keys of its binding. No file changes nothing.
    """
    if not os.path.lexists(path):
        return Keymap()
    from hitl_tui.console.user_files import read_table

    try:
        table = read_table(path)
    except (OSError, ValueError) as error:
        left_out = _("Keys in {name} ignored: {error}.").format(name=path.name, error=error)
        return Keymap(problems=(left_out,))
    problems: list[str] = []
    wanted: dict[str, str] = {}
    known = {spec.id: spec for spec in KEYS}
    for name, value in _entries(table):
        problem, keys = _checked(name, value, known)
        if problem:
            problems.append(f"{path.name}: {problem}")
        else:
            wanted[name] = keys
    problems += [f"{path.name}: {problem}" for problem in _drop_clashes(wanted)]
    fresh = tuple(s._replace(keys=wanted[s.id], shown=shown_keys(wanted[s.id])) if s.id in wanted else s for s in KEYS)
    changed = {s.id: _as_bound(s) for s in fresh if s.id in wanted}
    return Keymap(fresh, changed, tuple(problems))


def _as_bound(spec: KeySpec) -> str:
    """Return a binding's keys as `keys.bindings` binds them."""
    return spec.keys if spec.where == PROMPT else with_jamo(spec.keys)


def _entries(table: Mapping[str, object], *before: str) -> Iterator[tuple[str, object]]:
    """Yield `question.1` and its value, whether the name was quoted or not; no binding lies deeper."""
    for key, value in table.items():
        name = ".".join((*before, key))
        if isinstance(value, dict) and len(before) < _DEEPEST:
            yield from _entries(value, *before, key)
        else:
            yield name, value


def _checked(name: str, value: object, known: Mapping[str, KeySpec]) -> tuple[str, str]:
    """Return what is wrong with an entry (empty for nothing), and its keys."""
    if name not in known:
        name = clip(name, _SAID)
        near = difflib.get_close_matches(name, list(known), n=1, cutoff=_NEAR)
        said = _('unknown binding "{name}"; the help lists all.')
        if near:
            said = _('unknown binding "{name}"; the nearest is "{nearest}", and the help lists all.')
        return said.format(name=name, nearest="".join(near)), ""
    written = ",".join(str(v) for v in value) if isinstance(value, list) else str(value)
    keys = normal_keys(written)
    if keys is None or not written.strip():
        return _('"{name}" unchanged: "{written}" isn\'t a key such as f5, ctrl+x, pagedown or y.').format(
            name=name, written=clip(written, _SAID)
        ), ""
    spec, first = known[name], keys.split(",")
    if ((spec.priority and spec.where not in WITHIN) or spec.where in TYPED) and (
        typed := next((k for k in first if _typed(k)), None)
    ):
        return _('"{name}" unchanged: {typed} is a character that you type.').format(name=name, typed=_shown(typed)), ""
    if name in _NEVER_BY_HABIT and (habit := next((k for k in first if _is_habit(k)), None)):
        return _('"{name}" unchanged: {habit} never decides anything.').format(name=name, habit=_shown(habit)), ""
    return "", keys


def _is_habit(key: str) -> bool:
    """A key that is, or arrives as, one to leave, move, edit or end input with."""
    *modifiers, name = key.split("+")
    name = _LETTERS.get(unicodedata.normalize("NFC", name), name)
    if name in _HABITS or name[0] == "<" or not {"alt", "meta"}.isdisjoint(modifiers):
        return True
    return ("ctrl" in modifiers and name in _WITH_CTRL) or ("super" in modifiers and name in _WITH_COMMAND)


def _typed(key: str) -> bool:
    """A key that writes a character into a text field."""
    return "+" not in key and (len(key) == 1 or key == "space" or bool(_character(key)))


def _drop_clashes(wanted: dict[str, str]) -> Iterator[str]:
    """Take out of `wanted` what would put two bindings on one key where both apply; yield a sentence for each."""
    while True:
        working = {s.id: (s, wanted.get(s.id, s.keys)) for s in KEYS}
        clash = next(_clashes(working, wanted), None)
        if clash is None:
            return
        name, key, other = clash
        del wanted[name]
        yield _('"{name}" unchanged: {key} already belongs to "{other}".').format(
            name=name, key=_shown(key), other=other
        )


def _clashes(working: Mapping[str, tuple[KeySpec, str]], wanted: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, keys in wanted.items():
        spec = working[name][0]
        before = _reached(spec.keys, spec)
        for key in (k for k in _reached(keys, spec) if k not in before):  # what it had before is no clash
            for other, (theirs, bound) in working.items():
                if other != name and _meet(spec, theirs) and key in _reached(bound, theirs):
                    yield name, key, other


def _reached(keys: str, spec: KeySpec) -> list[str]:
    bound = keys if spec.where == PROMPT else with_jamo(keys)
    return [unicodedata.normalize("NFC", key) for key in bound.split(",")]


def _meet(one: KeySpec, other: KeySpec) -> bool:
    """Both can apply at the same moment."""
    together = other.where in WITHIN.get(one.where, ()) or one.where in WITHIN.get(other.where, ())
    return one.where == other.where or together or bool({one.where, other.where} & {ANYWHERE, SESSION})
