"""Which commands are known to execute nothing but themselves; of every other one nobody can know."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

_SYSTEM = ("/bin", "/sbin", "/usr")
_LOCAL = "/usr/local"
_EXECUTING = ("-exec", "-ok")
"""Beginnings of the expressions with which `find` starts other programs."""


def _never(arguments: Sequence[str]) -> bool:
    return False


def _find_executes(arguments: Sequence[str]) -> bool:
    return any(argument.startswith(_EXECUTING) for argument in arguments)


_PLAIN: tuple[str, ...] = (
    *("basename", "cat", "chgrp", "chmod", "chown", "cksum", "cmp", "comm", "cp", "cut", "date", "dd", "df", "dirname"),
    *("du", "echo", "expand", "false", "fold", "grep", "gzip", "head", "id", "join", "kill", "ln", "ls", "md5sum"),
    *("mkdir", "mkfifo", "mv", "nl", "paste", "printf", "ps", "pwd", "readlink", "realpath", "rm", "rmdir", "seq"),
    *("sha1sum", "sha256sum", "sha512sum", "shred", "sleep", "stat", "sync", "tac", "tail", "tee", "test", "touch"),
    *("tr", "true", "truncate", "uname", "uniq", "unlink", "wc", "whoami"),
)
_KNOWN: Mapping[str, Callable[[Sequence[str]], bool]] = MappingProxyType(
    {**dict.fromkeys(_PLAIN, _never), "find": _find_executes}
)
"""Programs of POSIX systems that read and write files and start no program, and when one of them does all the same.

A program belongs here only if none of its options, no variable of its environment and no file that it reads makes it
execute anything (`sort`, `sed`, `tar` and `install` have such options).
"""


def find_program(name: str, folder: str, path: str) -> str:
    """Return the file that the system executes for an argument vector's first word; empty when there is none.

    Args:
        name: the first word.
        folder: absolute path of the folder that it runs in.
        path: the `PATH` that it runs with; what is relative in it starts from that folder.
    """
    if not name or "\0" in name:
        return ""
    places = ("",) if "/" in name else os.get_exec_path({"PATH": path})
    for place in places:
        file = Path(folder, place, name)
        if file.is_file() and os.access(file, os.X_OK):
            return str(file)
    return ""


def executes_nothing_else(argv: Sequence[str], folder: str, path: str) -> bool:
    """Return whether a command is known to execute no other file, whatever files it is given.

    Args:
        argv: the program and its arguments.
        folder: absolute path of the folder that it runs in.
        path: the `PATH` that it runs with.
    """
    if not argv:
        return False
    name = argv[0].rpartition("/")[2]
    starts = _KNOWN.get(name)
    if starts is None or starts(argv[1:]):
        return False
    file = find_program(argv[0], folder, path)
    return bool(file) and _is_of_the_system(file, folder)


def _is_of_the_system(file: str, folder: str) -> bool:
    """Tell whether a file is one that only the system's administrator can change."""
    real, workspace = Path(os.path.realpath(file)), Path(os.path.realpath(folder))
    if real.is_relative_to(workspace) or Path(os.path.normpath(file)).is_relative_to(workspace):
        return False
    if real.is_relative_to(_LOCAL) or not any(real.is_relative_to(place) for place in _SYSTEM):
        return False
    try:
        found = [place.stat() for place in (real, real.parent, Path(file).parent)]
    except OSError:
        return False
    return all(state.st_uid == 0 and not state.st_mode & 0o022 for state in found)
