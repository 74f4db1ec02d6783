"""The files that a step may execute: what they hold is part of what a person approves.

Files that a command names are bound one by one. With high risk, everything else that could be executed is bound, too:
unless the command is known to execute nothing else, that is the whole workspace.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from hitl_tui.config.declared_commands import literal_text
from hitl_tui.config.pins import is_pattern, path_pattern, unmatched
from hitl_tui.config.problems import quoted
from hitl_tui.core.errors import BadInput
from hitl_tui.core.file_digests import first_named
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line
from hitl_tui.policy.harmless_commands import executes_nothing_else, find_program
from hitl_tui.policy.workspace_digest import CODE, FileHashes, Scope, Tree, begins_as_script, paths_of

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import CommandDeclaration
    from hitl_tui.config.declared_tools import ToolDeclaration
    from hitl_tui.config.workspace import WorkspaceConfig

KEPT = 60
"""Files of one data folder; older ones are removed."""

_LARGEST = 64 * 1024 * 1024
_REMEMBERED = 4
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Manifests:
    """What trees were made of.

    Args:
        folder: where they are kept between processes; None for nowhere.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._recent: OrderedDict[str, Mapping[str, str]] = OrderedDict()

    def keep(self, tree: Tree) -> None:
        """Keep what a tree is made of; where there is no room for it, only for this process."""
        if tree.digest in self._recent:
            return
        entries = {
            path: hashlib.blake2b(os.fsencode(value), digest_size=6).hexdigest() for path, value in tree.entries.items()
        }
        self._recent[tree.digest] = entries
        while len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        if self._folder is None:
            return
        path = self._folder / tree.digest
        with suppress(OSError):
            if path.exists():
                os.utime(path)
                return
            self._folder.mkdir(mode=0o700, exist_ok=True)
            temporary = self._folder / f".{token_hex(8)}"
            packed = zlib.compress(json.dumps(entries, ensure_ascii=True).encode("ascii"), 1)
            try:
                with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(packed)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            self._prune()

    def changed(self, before: str, now: str) -> list[str]:
        """Return the paths that differ between two trees; empty when one of them isn't known any more."""
        old, new = self._entries(before), self._entries(now)
        if old is None or new is None:
            return []
        return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))

    def _entries(self, digest: str) -> Mapping[str, str] | None:
        if digest in self._recent or self._folder is None or not _DIGEST.fullmatch(digest):
            return self._recent.get(digest)
        try:
            with (self._folder / digest).open("rb") as file:
                unpacker = zlib.decompressobj()
                found = json.loads(unpacker.decompress(file.read(_LARGEST), _LARGEST))
        except (OSError, ValueError, zlib.error, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _prune(self) -> None:
        assert self._folder is not None
        with os.scandir(self._folder) as listed:
            files = sorted(listed, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        for entry in files[KEPT:]:
            with suppress(OSError):
                Path(entry.path).unlink()


WHOLE = "."
"""The name under which all bound files of a workspace stand among a step's programs, as one digest."""

MOST_NAMED = 12
"""Files of one command that are named in its question; the others are in the workspace's digest."""

_LONGEST = 4096
_BETWEEN = re.compile(r"[\s'\"`;|&<>()$=:,{}\[\]]+")
_SYSTEM = ("/bin", "/sbin", "/lib", "/usr", "/proc", "/sys")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of a workspace's settings says which of its files are code.

    Args:
        reports: the folder that reports are written to; empty where that is the workspace itself.
        secrets: variables of the operator's environment are handed to commands.
    """

    reports: str = "reports"
    secrets: bool = False

    @classmethod
    def of(cls, config: WorkspaceConfig) -> Surroundings:
        """Return what a workspace's settings say."""
        reports = "/".join(part for part in config.document.folder.split("/") if part not in ("", "."))
        return cls(reports, bool(config.secret_names))


class Bindings:
    """Finds what steps may execute. One serves all sessions of a process.

    Args:
        manifests: where to keep what trees are made of; None for nowhere.
        own: absolute paths of folders that this program keeps its data in.
    """

    def __init__(self, manifests: Path | None = None, own: Sequence[Path] = ()) -> None:
        self._files = FileHashes()
        self._manifests = Manifests(manifests)
        self._own = tuple(map(str, own))

    def command(
        self,
        declared: CommandDeclaration,
        argvs: Iterable[Sequence[str]],
        workspace: Path,
        path: str,
        around: Surroundings,
    ) -> dict[str, str]:
        """Return the digest of what a command and its preview may execute, by path in the workspace.

        Args:
            declared: the command.
            argvs: its argument vectors as they would run.
            workspace: absolute path of the folder it runs in.
            path: the `PATH` that it runs with.
            around: the workspace's settings.

        Raises:
            BadInput: a program can't be read, or there are too many files.
        """
        root = os.path.realpath(workspace)
        found = self._declared_programs(declared, root)
        for argv in argvs:
            if argv and "/" not in argv[0] and (program := find_program(argv[0], root, path)):
                found |= self._program(root, program)
        if declared.risk is not Risk.HIGH:
            return found
        argvs = list(argvs)
        open_ended = [argv for argv in argvs if around.secrets or not executes_nothing_else(argv, root, path)]
        if not open_ended:
            return {**found, **self._data(declared, argvs, root)}
        named = dict.fromkeys(name for argv in open_ended for word in argv for name in _files_in(word, root))
        excluded = path_pattern(declared.pins)
        inside = [n for n in named if not _is_outside(n) and (n in found or not excluded.match(n))]
        for name in named:
            if len(found) >= MOST_NAMED:
                break
            if name not in found and _is_program(Path(root, name)):
                found[name] = self._digest(root, name)
        for name in named:  # what lies elsewhere is in no digest of the workspace
            if _is_outside(name) and name not in found:
                found[name] = self._digest(root, name)
        # Another program of that name may come to stand earlier in PATH.
        searched = filter(None, (find_program(argv[0], root, path) for argv in open_ended if argv))
        starting = {program: self._started(program) for program in searched}
        return {**found, WHOLE: self.whole(root, declared.pins, around, frozenset(inside), starting)}

    def _data(self, declared: CommandDeclaration, argvs: Iterable[Sequence[str]], root: str) -> dict[str, str]:
        """Return the digests of the files that a command copies or moves which executes none."""
        excluded = path_pattern(declared.pins)
        words = (word for argv in argvs if argv for word in _copied(argv))
        named = dict.fromkeys(name for word in words for name in _files_in(word, root))
        bound = (name for name in named if _is_outside(name) or not excluded.match(name))
        return first_named({name: self._digest(root, name) for name in bound}, MOST_NAMED)

    def whole(
        self,
        root: str,
        pins: tuple[str, ...],
        around: Surroundings,
        named: frozenset[str] = frozenset(),
        beside: Mapping[str, str] | None = None,
    ) -> str:
        """Return the digest of all files of a folder that could be executed.

        Args:
            root: absolute path of the folder, no links in it.
            pins: patterns of what is left out.
            around: the workspace's settings.
            named: paths in it that are bound whatever they are.
            beside: what else counts, by absolute path.

        Raises:
            BadInput: there are too many.
        """
        tree: Tree = self._files.tree(Scope(root, pins, around.reports, self._own), named)
        if beside:
            tree = Tree.of({**tree.entries, **beside}, tree.code)
        self._manifests.keep(tree)
        return tree.digest

    def preview(
        self, declared: CommandDeclaration, argv: Sequence[str], workspace: Path, path: str, around: Surroundings
    ) -> str:
        """Return the digest of all that a command's preview could execute.

        That is what `command` finds at high risk, and also what looks like code and is pinned. Python keeps its
        compiled files elsewhere during a preview, so `__pycache__` doesn't count.

        Args:
            declared: the command.
            argv: the preview's argument vector, as it would run or as far as it is declared.
            workspace: absolute path of the folder it runs in.
            path: the `PATH` that it runs with.
            around: the workspace's settings.

        Raises:
            BadInput: there are too many files, or a program can't be read.
        """
        return self._unasked(declared.pins, argv, workspace, path, around)

    def description(self, declared: ToolDeclaration, workspace: Path, path: str, around: Surroundings) -> str:
        """Return the digest of all that describing a tool could execute, found as `preview` finds it.

        That is importing its module, or starting its server; of a server at an address nothing is executed here, and
        the digest is an empty text.

        Args:
            declared: the tool.
            workspace: absolute path of the folder that declares it.
            path: the `PATH` that it runs with.
            around: the workspace's settings.

        Raises:
            BadInput: there are too many files, or a program can't be read.
        """
        if declared.url:
            return ""
        argv = declared.server or ("", declared.target.rpartition(":")[0])  # nothing is looked for in PATH
        return self._unasked(declared.pins, argv, workspace, path, around)

    def _unasked(
        self, pins: tuple[str, ...], argv: Sequence[str], workspace: Path, path: str, around: Surroundings
    ) -> str:
        """Return the digest of all that an argument vector could execute that nobody is asked about."""
        root = os.path.realpath(workspace)
        named = dict.fromkeys(name for word in argv for name in _files_in(word, root))
        inside = frozenset(name for name in named if not _is_outside(name))
        tree = self._files.tree(Scope(root, (), around.reports, self._own), inside)
        pinned = path_pattern(pins)
        entries = {
            name: known
            for name, known in tree.entries.items()
            if "__pycache__" not in name.split("/") and (name in tree.code or not pinned.match(name))
        }
        for name in named:
            if _is_outside(name):
                entries[name] = self._digest(root, name)
        if argv and (program := find_program(argv[0], root, path)):
            entries[program] = self._started(program)
        found = Tree.of(entries, tree.code)
        self._manifests.keep(found)
        return found.digest

    def changed(self, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
        """Return the names of the files that differ between what was asked and what would run now."""
        paths = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        named = [path for path in paths if not _stands_for_many(path)]
        for folder in filter(_stands_for_many, paths):
            within = self._manifests.changed(before.get(folder, ""), now.get(folder, ""))
            named += within if folder == WHOLE else [f"{folder}/{path}" for path in within] or [folder]
        return list(dict.fromkeys(named)) or ([Message("the workspace")] if paths else [])

    def _declared_programs(self, declared: CommandDeclaration, root: str) -> dict[str, str]:
        """Return the programs that `run` and `preview` name by themselves; what a parameter names is data."""
        found: dict[str, str] = {}
        for template in (declared.run, declared.preview or ()):
            for index, argument in enumerate(template):
                named = literal_text(argument)
                searched = index == 0 and "/" not in named  # the system looks for it in PATH
                if named and not searched:
                    found |= self._program(root, named)
        return found

    def _program(self, root: str, named: str) -> dict[str, str]:
        """Return the digest of a program of the workspace by its path there; nothing for any other text."""
        name = _path_in(root, named)
        if name is None or _is_outside(name) or not _is_program(Path(root, name)):
            return {}
        return {name: self._digest(root, name)}

    def _started(self, program: str) -> str:
        """Return what is known of a program that is started; it may be one that only the system can read."""
        if os.access(program, os.R_OK):
            return self._digest("", program)
        return "" if (state := _stat(program)) is None else str((state.st_dev, state.st_ino, state.st_ctime_ns))

    def _digest(self, root: str, name: str) -> str:
        try:
            return self._files.file(Path(root, name))
        except OSError as error:
            raise BadInput(Message("The program {} can't be read: {}.", one_line(name, 120), error.strerror)) from error


def check_pins(config: WorkspaceConfig, workspace: Path) -> list[str]:
    """Check the pins of a workspace's settings; return the patterns that match nothing now, which they may.

    Raises:
        BadInput: one is a path, and names nothing.
    """
    of_commands = (pin for command in config.commands.values() for pin in command.pins)
    of_teams = (pin for team in config.own_teams.values() for pin in team.pins)
    pins = dict.fromkeys((*config.pins, *of_commands, *of_teams))
    if not pins:
        return []
    left = unmatched(pins, paths_of(Scope(os.path.realpath(workspace))))
    if missing := [pin for pin in left if not is_pattern(pin)]:
        raise BadInput(
            Message(
                "hitl.toml: the pin {} names nothing in {}; correct it or take it out.",
                quoted(missing[0]),
                one_line(str(workspace), 120),
            )
        )
    return left


def _stat(path: str) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except OSError:
        return None


def _files_in(word: str, root: str) -> Iterator[str]:
    """Yield the files that a word names: the word, and each piece of it that could be a path.

    A path may follow an option's letter or a sign in the same word, as in `-fMAKEFILE`, or begin in somebody's home. Of
    a folder that Python can run, what it would run is named.
    """
    pieces = dict.fromkeys((word, *_BETWEEN.split(word)))
    within = [piece[at:] for piece in pieces for at in _path_starts(piece)]
    for piece in dict.fromkeys((*pieces, *within)):
        name = _path_in(root, piece) or _path_in(root, f"{piece}/__main__.py" if piece else "")
        if name is not None:
            yield name


def _copied(argv: Sequence[str]) -> Sequence[str]:
    """Return the words of a command of the system that name what it copies or moves, but not where to."""
    name = argv[0].rpartition("/")[2]
    if name in ("cp", "mv", "ln"):
        first = any(word.startswith(("-t", "--target")) for word in argv)  # the folder stands before what goes there
        return argv[1:] if first else argv[1:-1]
    return [word for word in argv[1:] if word.startswith("if=")] if name == "dd" else ()


def _path_starts(piece: str) -> Iterator[int]:
    """Yield where a path may begin within a piece of a word: behind an option's letter, and behind a sign."""
    if piece.startswith("-") and not piece.startswith("--"):
        yield 2
    if (sign := piece.find("@")) >= 0:
        yield sign + 1


def _path_in(root: str, named: str) -> str | None:
    """Return the path, in the workspace where it lies there, of the regular file that a text names; else None."""
    if not named or len(named) > _LONGEST or "\0" in named:
        return None
    try:
        path = os.path.normpath(Path(root, Path(named).expanduser() if named.startswith("~") else named))
        real = os.path.realpath(path)
        if not Path(real).is_file():
            return None
    except (OSError, ValueError, RuntimeError):  # no file can have such a name, or be reached by it
        return None
    for place in (real, path):
        if place.startswith(f"{root}{os.sep}"):
            return os.path.relpath(place, root).replace(os.sep, "/")
    return None if _is_of_system(real) else real


def _is_of_system(path: str) -> bool:
    """Tell whether a file lies in the folders of the operating system, and nobody but root can write it."""
    state = _stat(path)
    ours = state is None or state.st_uid != 0 or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not ours and any(Path(path).is_relative_to(place) for place in _SYSTEM)


def _stands_for_many(name: str) -> bool:
    """Tell whether an entry may be the digest of a folder: of the workspace, or of one elsewhere."""
    return name == WHOLE or name.startswith(os.sep)


def _is_outside(name: str) -> bool:
    """Tell whether a name that `_path_in` gave is that of a file elsewhere."""
    return name.startswith(os.sep)


def _is_program(path: Path) -> bool:
    """Tell whether a file may be executed, ends as scripts do or begins with `#!`."""
    if path.suffix.lower() in CODE or os.access(path, os.X_OK):
        return True
    return begins_as_script(path)
