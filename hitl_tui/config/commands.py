"""Declared commands: an argument vector with named holes, and the one way to fill them.

There is no shell. A value fills its hole and nothing else: it never becomes a second argument, is never
searched for holes itself, and can't become an option that the declaration doesn't have. Everything here
is pure; whether a path leaves the workspace through a symbolic link is for whoever runs the command to
see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hitl_tui.config.parameters import Parameter, Value
from hitl_tui.config.templates import Part, parse_template
from hitl_tui.config.words import nearest, quoted
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.policy import Risk


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
        description: for a person, and for a planner.
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
    description: str = ""
    folder: str = ""
    pins: tuple[str, ...] = ()

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
            return f"{self.name} has no parameter {quoted(name)}; did you mean {quoted(hint)}?"
        if known:
            return f"{self.name} has no parameter {quoted(name)}; it takes {', '.join(known)}."
        return f"{self.name} has no parameter {quoted(name)}; it takes none."

    def _value(self, name: str, given: Mapping[str, object]) -> Value:
        parameter = self.parameters[name]
        if name in given:
            value = given[name]
        elif parameter.default is not None:
            value = parameter.default
        else:
            raise BadInput(f"{self.name} needs the parameter {quoted(name)} ({parameter.expected}).")
        try:
            return parameter.accept(value)
        except ValueError as error:
            raise BadInput(f"{quoted(name)} of {self.name} {error}.") from error

    def _fill(self, template: Sequence[str], texts: Mapping[str, str]) -> tuple[str, ...]:
        argv: list[str] = []
        options_ended = False
        for argument in template:
            try:
                parts = parse_template(argument)
            except ValueError as error:
                raise BadInput(f"{quoted(argument)} of {self.name} {error}.") from error
            for part in parts:
                if part.hole and part.text not in texts:
                    raise BadInput(f"{quoted(argument)} of {self.name} names no declared parameter.")
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
                    f'{quoted(part.text)} of {self.name} must not begin with "-", which could be read as an option '
                    f'(a "--" before it in the declaration allows it).'
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
            raise BadInput(f"{quoted(holes[0])} of {self.name} must stay within the workspace.")


def _climbs(argument: str) -> int:
    for separator in "=:,":
        argument = argument.replace(separator, "/")
    return argument.split("/").count("..")
