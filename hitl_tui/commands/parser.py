"""Parsing of command lines."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from hitl_tui.commands.spec import Argument, CommandSpec, Takes, registry
from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.messages import Message, joined
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


_ALIKE = 0.7
"""How much a word is like a command that was meant: a slip of the hand, not another word."""


def _spec(text: str) -> tuple[CommandSpec, str]:
    known = registry()
    words = [(m.group().lower(), m.end()) for m in _WORD.finditer(text[:200])]
    for count in (2, 1):
        name = " ".join(word for word, _ in words[:count])
        if len(words) >= count and name in known:
            return known[name], text[words[count - 1][1] :]
    if not words:
        raise BadInput(Message("Type a command after the slash."), help=Message("/help lists all commands."))
    first = words[0][0]
    group = [spec.name for spec in known.values() if spec.name.startswith(f"{first} ")]
    if group:
        parts = ", ".join(dict.fromkeys(name.split()[1] for name in group))
        said = f'"/{clip(" ".join(w for w, _ in words[:2]))}"' if len(words) > 1 else f'"/{first}"'
        raise UnknownName(Message("Unknown command {}; after /{} comes one of {}.", said, first, parts))
    typed = (" ".join(w for w, _ in words[:2]), first)
    near = [name for text in typed for name in difflib.get_close_matches(text, known, n=1, cutoff=_ALIKE)]
    hint = Message("Did you mean /{}?", near[0]) if near else Message("/help lists all commands.")
    raise UnknownName(joined([Message('Unknown command "/{}".', clip(first)), hint]))


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
            given = remaining.strip() if argument.takes is Takes.TEXT else remaining.split()
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
    return BadInput(Message("/{} needs a {} ({}).", spec.name, argument.takes, argument.name), help=spec.usage)
