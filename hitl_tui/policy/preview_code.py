"""The files of a workspace that a declared preview could execute: they must be what was trusted (T4).

A preview of programs of the system that only read (`ls`, `find`, `grep`, …) executes nothing of the workspace. Of any
other one nobody can tell what it loads, so everything that looks like code counts: by its ending or name, by its mode,
by `#!`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from hitl_tui.config.commands import CommandDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line

_READERS = frozenset(
    {"cat", "cmp", "cut", "df", "diff", "du", "file", "find", "grep", "head", "ls", "md5sum", "od", "sha256sum"}
    | {"sort", "stat", "tail", "tree", "wc"}
)
_RUNNERS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "--files0-from", "--compress-program"})
_ENDINGS = frozenset(
    {".awk", ".bash", ".bat", ".cjs", ".class", ".cmd", ".dll", ".dylib", ".egg", ".js", ".jar", ".lua", ".mjs", ".mk"}
    | {".php", ".pl", ".pm", ".ps1", ".pth", ".py", ".pyc", ".pyd", ".pyo", ".pyz", ".r", ".rb", ".sed", ".sh", ".so"}
    | {".sql", ".ts", ".whl", ".zip", ".zsh"}
)
_NAMES = frozenset(
    {"makefile", "gnumakefile", "justfile", "rakefile", "gemfile", "dockerfile", "package.json", "pyproject.toml"}
    | {"setup.cfg", "pytest.ini", "tox.ini", ".env", ".envrc", ".npmrc", ".sqliterc", "pyvenv.cfg"}
)
_LEFT_OUT = frozenset({".git", "reports", "__pycache__"})
"""Folders nothing is loaded from: Python is told to keep its compiled files elsewhere when a preview runs."""
_MOST = 50_000


def code_of_preview(command: CommandDeclaration, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of the workspace that a command's preview could execute, by its path in it.

    Raises:
        BadInput: there are too many, or one can't be read: nobody could tell whether it changed.
    """
    if command.preview is None or not _may_execute(command.preview):
        return {}
    found: dict[str, str] = {}
    for path in _code_files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BadInput(f"{one_line(name, 200)} can't be read: {error.strerror}.") from error
    return found


def code_of_previews(commands: Mapping[str, CommandDeclaration], folder: Path) -> dict[str, str]:
    """Return what `code_of_preview` does for all commands together."""
    found: dict[str, str] = {}
    for command in commands.values():
        if not found:
            found = code_of_preview(command, folder)
    return found


def changed_code(trusted: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return a file that is another than it was when it was trusted, or new, or gone; empty when all are the same."""
    return next((name for name in sorted({*trusted, *now}) if trusted.get(name) != now.get(name)), "")


def _may_execute(argv: tuple[str, ...]) -> bool:
    return not argv or argv[0] not in _READERS or any(_runs_others(argv, n) for n in range(len(argv)))


def _runs_others(argv: tuple[str, ...], at: int) -> bool:
    if argv[at].partition("=")[0] not in _RUNNERS:
        return False
    return at + 1 >= len(argv) or argv[at + 1] not in _READERS


def _code_files(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        for name in sorted((*files, *links)):
            count += 1
            if count > _MOST:
                raise BadInput(f"This folder has more than {_MOST:,} files, so its previews don't run.")
            path = Path(root) / name
            if name in links and not path.resolve().is_relative_to(folder):
                raise BadInput(f"{one_line(name, 200)} leads out of this folder, so previews don't run here.")
            if _is_code(path):
                yield path


def _is_code(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            return False
        if path.suffix.lower() in _ENDINGS or path.name.lower() in _NAMES or mode & 0o111:
            return True
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except FileNotFoundError:
        return False
    except OSError:
        return True
