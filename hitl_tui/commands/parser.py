"""Parsing of command lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hitl_tui.commands.spec import Argument, CommandSpec, Takes, registry
from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.messages import Message, joined, word
from hitl_tui.core.names import clip

_WORD = re.compile(r"\S+")
_OPTION = re.compile(r"(?:(?<=\s)|^)--([a-z]+)(?:=|\s+)")
LONGEST_LINE = 100_000


class CommandValues(dict[str, str | list[str]]):
    """What a command was given, by argument and option name: a text, or the words of one that takes many."""

    def text(self, name: str, default: str = "") -> str:
        """Return what was given as one text."""
        found = self.get(name, default)
        return found if isinstance(found, str) else " ".join(found)

    def words(self, name: str) -> list[str]:
        """Return the words that were given; none where nothing was."""
        found = self.get(name, [])
        return [found] if isinstance(found, str) else found


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command as it was given.

    Args:
        spec: the command.
        values: what its arguments and options are.
    """

    spec: CommandSpec
    values: CommandValues

    @property
    def changes(self) -> bool:
        """It may change the session, as it was given; otherwise it only looks."""
        without = self.spec.shows_without
        return self.spec.changes and not (without and without not in self.values)


def is_command(line: str) -> bool:
    """Return whether a line is a command rather than plain text."""
    return line.lstrip().startswith("/")


def parse(line: str) -> Parsed:
    """Return the command that a line gives.

    Raises:
        UnknownName: there is no such command; the nearest is named.
        BadInput: something is missing or too much; the usage is in `help`.
    """
    if len(line) > LONGEST_LINE:
        raise BadInput(
            Message("The command has {} characters; the limit is {}.", f"{len(line):,}", f"{LONGEST_LINE:,}")
        )
    text = line.strip().removeprefix("/").strip()
    spec, rest = _spec(text)
    options, rest = _options(spec, rest)
    values = _arguments(spec, rest)
    return Parsed(spec, CommandValues({**values, **options}))


def on_behalf(line: str) -> tuple[str, str] | None:
    """Return the approver and the command of such a line; None for any other line.

    Raises:
        BadInput: what follows isn't a command that a session carries out.
    """
    if not is_command(line):
        return None
    try:
        parsed = parse(line)
    except HitlError:
        if line.split()[0].lower() == "/as":
            raise
        return None
    if parsed.spec.name != "as":
        return None
    command = str(parsed.values.text("command"))
    if not is_command(command):
        raise BadInput(
            Message("/as takes a command after the name, such as: /as bob /todo approve 1"), help=parsed.spec.usage
        )
    if parse(command).spec.local:
        raise BadInput(Message("/as can't run {}; it takes a command of the session.", command.split()[0]))
    return str(parsed.values.text("approver")), command


_ALIKE = 70
"""How much in a hundred a word is like the one that was meant: a slip of the hand, not another word."""
_IN_PART = 0.95
"""What counts of it where the word is only the second one of a command: `/skip 003`."""


def _spec(text: str) -> tuple[CommandSpec, str]:
    known = registry()
    words = [(m.group().lower(), m.end()) for m in _WORD.finditer(text[:200])]
    for count in (2, 1):
        name = " ".join(word for word, _ in words[:count])
        if len(words) >= count and name in known:
            return known[name], text[words[count - 1][1] :]
    if not words:
        raise BadInput(Message("Type a command after the slash."), help=Message("/help lists all commands."))
    raise unknown_command(text)


_FEW = 4
"""So many words may be a command whose slash is missing; more are a sentence that begins like one."""


def names_command(text: str) -> bool:
    """Return whether words would be a command with a slash before them."""
    try:
        return len(text.split()) <= _FEW and bool(parse(f"/{text}"))
    except BadInput:
        return False


def unknown_command(text: str) -> UnknownName:
    """Return that no command has this name, with what was most likely meant; `text` has no slash."""
    words = [word.lower() for word in _WORD.findall(text[:200])[:2]]
    group = _group(words[0])
    said = Message('Unknown command "/{}".', clip(" ".join(words) if group else words[0]))
    if meant := nearest_command(text):
        hint = Message("Did you mean {}?", meant)
    elif group:
        parts = ", ".join(dict.fromkeys(name.split()[1] for name in group))
        hint = Message("After /{} comes one of {}.", words[0], parts)
    else:
        hint = Message("/help lists all commands.")
    return UnknownName(joined([said, hint]))


def _group(first: str) -> list[str]:
    return [name for name in registry() if name.startswith(f"{first} ")]


def nearest_command(text: str) -> str:
    """Return the command that words are nearest to, with the rest of the line: `/todo skip 003` for `skip 003`.

    A command of two words is also known by the second alone. Empty where nothing is near.
    """
    from rapidfuzz import fuzz

    words = [(m.group().lower(), m.end()) for m in _WORD.finditer(text[:200])][:2]
    group = _group(words[0][0])
    best, score, end = "", 0.0, 0
    for name in group or registry():
        parts = name.split()
        ways = []
        if len(words) >= len(parts):
            ways.append((min(fuzz.ratio(a, b) for (a, _), b in zip(words, parts, strict=False)), len(parts)))
        if len(parts) > 1 and not group:
            ways.append((fuzz.ratio(words[0][0], parts[1]) * _IN_PART, 1))
        for likely, count in ways:
            if likely >= _ALIKE and likely > score:
                best, score, end = name, likely, words[count - 1][1]
    return clip(f"/{best}{text[end:].rstrip()}") if best else ""


def _options(spec: CommandSpec, rest: str) -> tuple[dict[str, str | list[str]], str]:
    """Take `--name value…` out of a line; unknown ones are an error unless the rest is free text."""
    if not spec.options:
        return {}, rest
    if spec.verbatim:
        return _ending(spec, rest)
    known = {option.name: option for option in spec.options}
    found = list(_OPTION.finditer(rest + " "))
    strange = next((m.group(1) for m in found if m.group(1) not in known), None)
    if strange is not None:
        listed = ", ".join(f"--{name}" for name in known)
        raise BadInput(Message('/{} has no option "--{}"; it has {}.', spec.name, strange, listed), help=spec.usage)
    values: dict[str, str | list[str]] = {}
    if not found:
        return values, rest
    for match, following in zip(found, [*found[1:], None], strict=True):
        end = following.start() if following else len(rest)
        words = rest[match.end() : end].replace(",", " ").split()
        option = known[match.group(1)]
        if not words:
            raise BadInput(Message("--{} of /{} needs a value.", option.name, spec.name), help=spec.usage)
        if not option.many and len(words) > 1:
            raise BadInput(
                Message("--{} of /{} takes one value; text comes before it.", option.name, spec.name), help=spec.usage
            )
        values[option.name] = words if option.many else words[0]
    return values, rest[: found[0].start()]


def _ending(spec: CommandSpec, rest: str) -> tuple[dict[str, str | list[str]], str]:
    """Take an option with its one value off the end of a line whose text is left as it is."""
    for option in spec.options:
        match = re.search(rf"(?:^|\s)--{option.name}(?:(?:=|\s+)(\S*))?\s*$", rest)
        if match is not None:
            if not match.group(1):
                raise BadInput(Message("--{} of /{} needs a value.", option.name, spec.name), help=spec.usage)
            return {option.name: match.group(1)}, rest[: match.start()]
    return {}, rest


def _arguments(spec: CommandSpec, rest: str) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {}
    position = 0
    for argument in spec.arguments:
        remaining = rest[position:]
        if argument.many:
            given = remaining.strip() if argument.whole else remaining.split()
            position = len(rest)
            if given:
                values[argument.name] = given
            elif argument.required:
                raise _missing(spec, argument)
            continue
        match = _WORD.search(remaining)
        if match is None:
            if argument.required:
                raise _missing(spec, argument)
            continue
        values[argument.name] = match.group()
        position += match.end()
    left = rest[position:].strip()
    if left:
        raise BadInput(Message('/{} doesn\'t take "{}".', spec.name, clip(left)), help=spec.usage)
    return values


def _missing(spec: CommandSpec, argument: Argument) -> BadInput:
    """Return that an argument is missing: what it is, by its name in the usage where that says it or more."""
    needed = Message("/{} needs {} ({}).", spec.name, argument.usage, argument.takes)
    if argument.takes in (Takes.WHERE, Takes.TEXT):
        needed = Message("/{} needs {}.", spec.name, argument.usage)
    elif argument.name in str(argument.takes):
        needed = Message("/{} needs <{}>.", spec.name, argument.takes)
    return BadInput(needed, help=Message("{}: {}", spec.usage, word(spec.summary)))
