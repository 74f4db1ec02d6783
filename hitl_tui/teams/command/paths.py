"""Where the path parameters of a command lead at the moment it runs."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.declared_commands import parse_template
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.teams.contract import one

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import CommandDeclaration, Value

_SEPARATORS = re.compile(r"[=:,]")


def refuse_outside(declared: CommandDeclaration, values: Mapping[str, Value], workspace: Path) -> None:
    """Check that path parameters stay in the workspace, links followed, as they stand in their arguments.

    In `data/{name}` it is `data/` and the name that is followed. Where a declaration itself points out of the
    workspace, as in `/var/log/{name}`, the parameter has to stay in the folder that the declaration names.

    Args:
        declared: the command.
        values: its checked parameters.
        workspace: absolute path of the folder it runs in.

    Raises:
        BadInput: a path leads out.
    """
    texts = {name: declared.parameters[name].text(value) for name, value in values.items()}
    root = _real(workspace)
    for template in (declared.run, declared.preview or ()):
        for name, folder, path in _paths(declared, template, texts):
            named = _real(workspace / folder)
            limit = root if named.is_relative_to(root) else named
            if not _real(workspace / path).is_relative_to(limit):
                where = "the workspace" if limit == root else str(folder)
                raise BadInput(
                    Message(
                        'The parameter "{}" makes "{}", which leads out of {}: nothing was run.', name, one(path), where
                    )
                )


def _paths(
    declared: CommandDeclaration, template: Sequence[str], texts: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield for each path parameter its name, the folder written before it, and the whole path it is part of."""
    for argument in template:
        parts = parse_template(argument)
        filled = [texts[part.text] if part.hole else part.text for part in parts]
        for index, part in enumerate(parts):
            if part.hole and declared.parameters[part.text].type == "path":
                before = _SEPARATORS.split("".join(filled[:index]))[-1]
                after = _SEPARATORS.split("".join(filled[index + 1 :]))[0]
                yield part.text, posixpath.dirname(before), before + filled[index] + after


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
