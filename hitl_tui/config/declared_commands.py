"""Declared commands: an argument vector with named holes, its parameters, and the one way to fill them.

There is no shell. A value fills its hole and nothing else: it never becomes a second argument, is never searched for
holes itself, and can't become an option that the declaration doesn't have. Everything here is pure; whether a path
leaves the workspace through a symbolic link is for whoever runs the command to see.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TypeGuard

from hitl_tui.config.figure_limits import FigureLimit
from hitl_tui.config.problems import LARGE, Problem, described, quoted
from hitl_tui.core.errors import BadInput, MissingInput, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.policy import Risk

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an argument: literal text, or a hole with the name of the parameter that fills it."""

    text: str
    hole: bool


def parse_template(argument: str) -> tuple[Part, ...]:
    """Return the pieces of one declared argument, in order.

    Raises:
        ValueError: a brace that neither opens nor closes a placeholder; the message completes a sentence.
    """
    parts: list[Part] = []
    for match in _TOKEN.finditer(argument):
        token = match[0]
        if token in ("{{", "}}"):
            parts.append(Part(token[0], hole=False))
        elif match[1] is not None and _NAME.fullmatch(match[1]):
            parts.append(Part(match[1], hole=True))
        elif token[0] in "{}":
            raise ValueError(Message('has a brace that is no placeholder; write "{{" and "}}" for literal braces'))
        else:
            parts.append(Part(token, hole=False))
    return tuple(parts)


def literal_text(argument: str) -> str:
    """Return a declared argument as it is passed on; empty where a parameter fills a hole in it."""
    parts = parse_template(argument)
    return "" if any(part.hole for part in parts) else "".join(part.text for part in parts)


def is_parameter_name(text: str) -> bool:
    """Return whether a parameter may be called this: it has to fit between braces."""
    return _NAME.fullmatch(text) is not None


Value = str | int | float | bool
"""A checked value, as JSON has it."""

LONGEST = 32_768
"""Bytes of one value; Linux takes arguments of 128 KiB at most."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,3})?")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_EXPECTED = {
    "string": "text",
    "integer": Message("a whole number"),
    "number": Message("a number"),
    "boolean": Message("true or false"),
    "path": Message("a path within the workspace"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One `parameters.NAME` of a command.

    Args:
        type: string, integer, number, boolean, path or choice.
        default: used when the parameter is left out; None makes it required.
        minimum: least value of an integer or number.
        maximum: greatest value of an integer or number.
        choices: the values of a choice.
        description: for a person, and for a planner.
        descriptions: what a person reads instead, by language.
    """

    type: str = "string"
    default: Value | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[str, ...] = ()
    description: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.type == "choice":
            return Message("one of {}", tuple(quoted(choice) for choice in self.choices))
        return _EXPECTED[self.type]

    def accept(self, given: object) -> Value:
        """Return the value to use for what was given; accepting that again changes nothing.

        Text is read as a number or boolean where one is due.

        Raises:
            ValueError: it can't be used; the message completes a sentence that begins with the
            parameter's name.
        """
        if self.type == "integer":
            return self._in_range(self._integer(given))
        if self.type == "number":
            return self._in_range(self._number(given))
        if self.type == "boolean":
            return self._boolean(given)
        text = self._text(given)
        if self.type == "path" and text.startswith("-"):
            return f"./{text}"
        return text

    def text(self, value: Value) -> str:
        """Return an accepted value as it stands in an argument."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return format(Decimal(repr(value)), "f")
        return str(value)

    def _wrong(self, given: object) -> str:
        return Message("must be {}, but it is {}", self.expected, described(given))

    def _text(self, given: object) -> str:
        if not isinstance(given, str) or (self.type == "choice" and given not in self.choices):
            raise ValueError(self._wrong(given))
        problem = argument_problem(given) or (path_problem(given) if self.type == "path" else "")
        if problem:
            raise ValueError(Message("{}, but it is {}", problem, quoted(given)))
        return given

    def _integer(self, given: object) -> int:
        if isinstance(given, str) and _INTEGER.fullmatch(given):
            return int(given)
        if isinstance(given, int) and not isinstance(given, bool) and abs(given) < LARGE:
            return given
        raise ValueError(self._wrong(given))

    def _number(self, given: object) -> int | float:
        if isinstance(given, str) and _INTEGER.fullmatch(given):
            return int(given)
        value = float(given) if isinstance(given, str) and _NUMBER.fullmatch(given) else given
        if is_number(value):
            return value
        raise ValueError(self._wrong(given))

    def _boolean(self, given: object) -> bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str) and given.lower() in _BOOLEANS:
            return _BOOLEANS[given.lower()]
        raise ValueError(self._wrong(given))

    def _in_range(self, value: int | float) -> int | float:
        if self.minimum is not None and value < self.minimum:
            raise ValueError(Message("must be at least {}, but it is {}", self.minimum, value))
        if self.maximum is not None and value > self.maximum:
            raise ValueError(Message("must be at most {}, but it is {}", self.maximum, value))
        return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number of a size that can be written out; booleans are none."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGE


def argument_problem(text: str) -> str:
    """Return why a text can't be part of an argument, or nothing; it completes a sentence."""
    if any(character in text for character in "\0\r\n"):
        return Message("must not hold a line break or NUL")
    try:
        size = len(text.encode("utf-8", errors="surrogateescape"))
    except UnicodeEncodeError:
        return Message("must be text that can be encoded")
    return Message("must be at most {} bytes long", LONGEST) if size > LONGEST else ""


def path_problem(text: str) -> str:
    """Return why a text isn't a path within the workspace, or nothing; it completes a sentence."""
    if not text:
        return Message("must not be empty")
    if text.startswith("/"):
        return Message("must be a path relative to the workspace")
    if text.startswith("~"):
        return Message('must not begin with "~"')
    return Message('must stay within the workspace, without ".."') if ".." in text.split("/") else ""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A command ready to run: what is shown, approved and executed.

    Args:
        argv: program and arguments.
        preview: the read-only command that shows what would be touched; None when none is declared.
        parameters: every parameter with its checked value, defaults included; expanding again with these
            gives the same result.
    """

    argv: tuple[str, ...]
    preview: tuple[str, ...] | None
    parameters: dict[str, Value]


@dataclass(frozen=True, slots=True)
class CommandDeclaration:
    """One `[teams.command_team.commands.NAME]`.

    Args:
        name: lower-case letters, digits, `-` and `_`.
        run: argument vector; `{parameter}` is filled in, `{{` and `}}` stand for braces.
        preview: the same for a read-only command, or None.
        parameters: declared parameters by name.
        risk: its risk class.
        timeout: seconds.
        exit_codes: what counts as success.
        retries: how often a failure is tried again by itself; only what changes nothing, or may be done twice, has any.
        optional: a failure skips the step instead of blocking what depends on it.
        description: for a person, and for a planner.
        titles: what its steps are called, by language; where none is given its name.
        expect: limits of figures that it prints, by what these are called there.
        folder: absolute path of the workspace it is declared in; empty where that isn't known.
        pins: patterns of files that an approval of it doesn't bind, the workspace's own among them.
    """

    name: str
    run: tuple[str, ...]
    preview: tuple[str, ...] | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    risk: Risk = Risk.HIGH
    timeout: float = 600.0
    exit_codes: tuple[int, ...] = (0,)
    retries: int = 0
    optional: bool = False
    description: str = ""
    folder: str = ""
    pins: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    expect: Mapping[str, FigureLimit] = field(default_factory=dict)

    def expand(self, parameters: Mapping[str, object]) -> Expanded:
        """Return the argument vectors for these parameters.

        Both have exactly as many arguments as their declaration. Text is taken for numbers and booleans
        ("30"). A path is relative and stays within the workspace; one that begins with `-` is written
        `./-…`.

        Args:
            parameters: values by name; those with a default may be left out.

        Raises:
            UnknownName: a parameter that isn't declared; the message names the nearest.
            BadInput: a parameter is missing, of another type, out of range, or would not stay what it is
            in an argument.
        """
        for name in parameters:
            if name not in self.parameters:
                raise UnknownName(self._unknown(name))
        lacking = [n for n, p in self.parameters.items() if n not in parameters and p.default is None]
        if lacking:
            first = self.parameters[lacking[0]].expected
            raise MissingInput(
                Message("{} needs the parameter {} ({}).", self.name, quoted(lacking[0]), first),
                missing=lacking,
                given={"command": self.name, "parameters": dict(parameters)},
            )
        values = {name: self._value(name, parameters) for name in self.parameters}
        texts = {name: self.parameters[name].text(value) for name, value in values.items()}
        return Expanded(
            argv=self._fill(self.run, texts),
            preview=None if self.preview is None else self._fill(self.preview, texts),
            parameters=values,
        )

    def _unknown(self, name: str) -> str:
        known = tuple(self.parameters)
        hint = nearest(name, known)
        if hint:
            return Message("{} has no parameter {}; did you mean {}?", self.name, quoted(name), quoted(hint))
        if known:
            return Message("{} has no parameter {}; it takes {}.", self.name, quoted(name), ", ".join(known))
        return Message("{} has no parameter {}; it takes none.", self.name, quoted(name))

    def _value(self, name: str, given: Mapping[str, object]) -> Value:
        parameter = self.parameters[name]
        try:
            return parameter.accept(given.get(name, parameter.default))
        except ValueError as error:
            raise BadInput(Message("{} of {} {}.", quoted(name), self.name, error)) from error

    def _fill(self, template: Sequence[str], texts: Mapping[str, str]) -> tuple[str, ...]:
        argv: list[str] = []
        options_ended = False
        for argument in template:
            try:
                parts = parse_template(argument)
            except ValueError as error:
                raise BadInput(Message("{} of {} {}.", quoted(argument), self.name, error)) from error
            for part in parts:
                if part.hole and part.text not in texts:
                    raise BadInput(Message("{} of {} names no declared parameter.", quoted(argument), self.name))
            if not options_ended:
                self._refuse_option(parts, texts)
            self._refuse_climbing(parts, texts)
            argv.append("".join(texts[part.text] if part.hole else part.text for part in parts))
            options_ended = options_ended or argument == "--"
        return tuple(argv)

    def _refuse_option(self, parts: Sequence[Part], texts: Mapping[str, str]) -> None:
        """Free text at the start of an argument may not turn it into an option."""
        for part in parts:
            text = texts[part.text] if part.hole else part.text
            if not text:
                continue
            free = part.hole and self.parameters[part.text].type == "string"
            if free and text.startswith("-"):
                raise BadInput(
                    Message(
                        '{} of {} must not begin with "-", which could be read as an option (a "--" before it in '
                        "the declaration allows it).",
                        quoted(part.text),
                        self.name,
                    )
                )
            return

    def _refuse_climbing(self, parts: Sequence[Part], texts: Mapping[str, str]) -> None:
        """Paths that are harmless alone may not make a `..` with what stands beside them in the argument."""
        holes = [part.text for part in parts if part.hole and self.parameters[part.text].type == "path"]
        if not holes:
            return
        filled = "".join(texts[part.text] if part.hole else part.text for part in parts)
        declared = "".join("x" if part.hole else part.text for part in parts)
        if _climbs(filled) > _climbs(declared):
            raise BadInput(Message("{} of {} must stay within the workspace.", quoted(holes[0]), self.name))


def _climbs(argument: str) -> int:
    for separator in "=:,":
        argument = argument.replace(separator, "/")
    return argument.split("/").count("..")


_SHELLS = frozenset({"sh", "ash", "bash", "dash", "fish", "ksh", "zsh"})
_SCRIPT_OPTION = re.compile(r"-[a-z]*c[a-z]*|--command")


def template_problems(key: str, template: Sequence[str], parameters: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with `run` or `preview`.

    Args:
        key: which of the two.
        template: the declared arguments.
        parameters: names of the declared parameters.
    """
    if not template:
        yield Problem((key,), Message("must name a program, but it is empty"))
    scripts = set(_shell_scripts(template))
    for number, argument in enumerate(template):
        path = (key, number)
        problem = argument_problem(argument)
        if problem:
            yield Problem(path, problem)
            continue
        try:
            holes = [part.text for part in parse_template(argument) if part.hole]
        except ValueError as error:
            yield Problem(path, error.args[0])
            continue
        if number == 0 and (holes or not argument):
            yield Problem(path, Message("is the program, which must be written out"))
        if holes and number in scripts:
            yield Problem(path, Message('is a script for a shell; give values after it, and read them as "$1"'))
        for name in holes:
            if name not in parameters:
                hint = nearest(name, parameters)
                rest = Message("; did you mean {}?", quoted(hint)) if hint else ""
                yield Problem(
                    path, Message("uses {}, which is no declared parameter{}", quoted("{" + name + "}"), rest)
                )


def holes_in(template: Sequence[str]) -> set[str]:
    """Return the names of all placeholders; arguments that can't be read have none."""
    names: set[str] = set()
    for argument in template:
        try:
            names.update(part.text for part in parse_template(argument) if part.hole)
        except ValueError:
            continue
    return names


def command_problems(run: Sequence[str], preview: Sequence[str] | None, parameters: Collection[str]) -> list[Problem]:
    """Return what doesn't fit together in a declared command.

    Args:
        run, preview: the declared arguments.
        parameters: names of the declared parameters.
    """
    problems = list(template_problems("run", run, parameters))
    if preview is not None:
        problems += template_problems("preview", preview, parameters)
    used = holes_in([*run, *(preview or ())])
    unused = Message("is used neither in run nor in preview")
    return [*problems, *(Problem(("parameters", name), unused) for name in parameters if name not in used)]


_TOML_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "path": (str,),
}


def parameter_problems(parameter: Parameter, choices: Sequence[str] | None) -> list[Problem]:
    """Return what doesn't fit together in a declared parameter.

    Args:
        parameter: the parameter.
        choices: the values that were declared for it; None where none were.
    """
    problems = [*_bound_problems(parameter), *_choice_problems(parameter, choices)]
    default = parameter.default
    if problems or default is None:
        return problems
    try:
        parameter.accept(default)
    except ValueError as error:
        return [Problem(("default",), error.args[0])]
    if parameter.type == "choice" or type(default) in _TOML_TYPES[parameter.type]:
        return []
    return [Problem(("default",), Message("must be {}, but it is {}", parameter.expected, described(default)))]


def _bound_problems(parameter: Parameter) -> Iterator[Problem]:
    least, most = parameter.minimum, parameter.maximum
    for name, bound in (("minimum", least), ("maximum", most)):
        if bound is not None and parameter.type not in ("integer", "number"):
            yield Problem((name,), Message("has no meaning for a parameter of type {}", parameter.type))
    if least is not None and most is not None and least > most:
        yield Problem(("maximum",), Message("must be at least the minimum, {}, but it is {}", least, most))


def _choice_problems(parameter: Parameter, choices: Sequence[str] | None) -> Iterator[Problem]:
    if parameter.type != "choice":
        if choices is not None:
            yield Problem(("choices",), Message("has no meaning for a parameter of type {}", parameter.type))
        return
    if not choices:
        yield Problem(("choices",), Message("must list at least one value for a parameter of type choice"))
    for number, choice in enumerate(choices or ()):
        problem = argument_problem(choice)
        if problem:
            yield Problem(("choices", number), problem)


def _shell_scripts(template: Sequence[str]) -> Iterator[int]:
    """Yield the positions of arguments that a shell would read as a script, as in `sh -c SCRIPT`."""
    among_options = False
    for number, argument in enumerate(template[:-1]):
        if among_options and _SCRIPT_OPTION.fullmatch(argument):
            yield number + 1
        if argument.rsplit("/", 1)[-1] in _SHELLS:
            among_options = True
        elif argument[:1] not in ("-", "+") and template[number - 1] not in ("-o", "+o", "-O", "+O"):
            among_options = False


_QUIET = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "PYTHONDONTWRITEBYTECODE": "1"}
"""No colours, no pages, and no compiled files that would make the workspace another one than was approved."""

_PLACES = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ")
_LANGUAGES = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "HITL_LANG")


def command_environment(secrets: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """Return a declared command's environment: a few inherited variables, no colours, the declared secrets.

    Args:
        secrets: values of the declared secrets by name.
        inherited: the environment of this process.
    """
    kept = {name: inherited[name] for name in (*_PLACES, *_LANGUAGES) if name in inherited}
    # Last, so that a script for `python3` finds one where the system has none.
    kept["PATH"] = os.pathsep.join(filter(None, (kept.get("PATH", os.defpath), str(Path(sys.executable).parent))))
    return {**kept, **_QUIET, **secrets}
