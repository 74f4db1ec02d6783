"""The programs of the workspace that a command names: what they hold is part of what a person approves."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.templates import parse_template
from hitl_tui.core.errors import BadInput
from hitl_tui.teams.failure import one

if TYPE_CHECKING:
    from hitl_tui.config.commands import CommandDeclaration

_ENDINGS = frozenset(
    {".awk", ".bash", ".bat", ".cjs", ".jar", ".js", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".pyz", ".r"}
    | {".rb", ".sed", ".sh", ".sql", ".ts", ".zsh"}
)


def programs_of(declared: CommandDeclaration, workspace: Path) -> dict[str, str]:
    """Return the SHA-256 of every program that a command's `run` and `preview` name, by its path in the workspace.

    A program is a file that may be executed, begins with `#!` or ends as scripts do. Whatever a parameter names is
    data, and so is any other file: those may change between a question and its answer.

    Args:
        declared: the command.
        workspace: absolute path of the folder it runs in.

    Raises:
        BadInput: one of them can't be read, so nobody could tell whether it changed.
    """
    root = Path(os.path.realpath(workspace))
    found: dict[str, str] = {}
    for template in (declared.run, declared.preview or ()):
        for index, argument in enumerate(template):
            parts = parse_template(argument)
            named = "".join(part.text for part in parts)
            searched = index == 0 and "/" not in named  # the system looks for it in PATH
            if not named or searched or any(part.hole for part in parts):
                continue
            path = _file(root, named)
            if path is None:
                continue
            name = path.relative_to(root).as_posix()
            try:
                digest = _digest(path)
            except OSError as error:
                raise BadInput(f"The program {one(name)} can't be read: {error.strerror}.") from error
            if digest:
                found[name] = digest
    return found


def refuse_changed(approved: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Check that programs are what they were when they were asked about.

    Raises:
        BadInput: one isn't, or isn't there any more.
    """
    for path, known in approved.items():
        if now.get(path) != known:
            raise BadInput(
                f"{one(path)} changed since this step was planned or approved, so nothing was run; "
                "edit the step, and it asks with the program as it is now."
            )


def _file(root: Path, named: str) -> Path | None:
    """Return the file of the workspace that an argument names; None for any other text, a whole script even."""
    try:
        path = Path(os.path.realpath(root / named))
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError):  # no file can have such a name, or be reached by it
        return None


def _digest(path: Path) -> str:
    """Return the SHA-256 of a program; empty for a file that is none."""
    named = path.suffix.lower() in _ENDINGS or os.access(path, os.X_OK)
    try:
        with path.open("rb") as file:
            if not named and file.read(2) != b"#!":
                return ""
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        if named:
            raise
        return ""
