"""What can be wrong with the argument vector of a declared command."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from hitl_tui.config.parameters import argument_problem
from hitl_tui.config.problems import Problem
from hitl_tui.config.templates import parse_template
from hitl_tui.config.words import nearest, quoted

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
        yield Problem((key,), "must name a program, but it is empty")
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
            yield Problem(path, str(error))
            continue
        if number == 0 and (holes or not argument):
            yield Problem(path, "is the program, which must be written out")
        if holes and number in scripts:
            yield Problem(path, 'is a script for a shell; give values after it, and read them as "$1"')
        for name in holes:
            if name not in parameters:
                hint = nearest(name, parameters)
                rest = f"; did you mean {quoted(hint)}?" if hint else ""
                yield Problem(path, f"uses {quoted('{' + name + '}')}, which is no declared parameter{rest}")


def holes_in(template: Sequence[str]) -> set[str]:
    """Return the names of all placeholders; arguments that can't be read have none."""
    names: set[str] = set()
    for argument in template:
        try:
            names.update(part.text for part in parse_template(argument) if part.hole)
        except ValueError:
            continue
    return names


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
