"""The files of a workspace as one digest: what an approval binds where nobody can know what will be executed.

A file counts with its path, its execute bits and what it holds; a link with where it leads and what it finds there.
What a file holds is read once for each state that the system knows it in (device, inode, size, times of change).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hitl_tui.config.pins import path_pattern
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

MOST_FILES = 200_000
"""Files of one workspace; more would make every question wait."""

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is read; a larger one counts with device, inode, size and the times of its last changes."""

_WHOLE = 1024 * 1024
_SETTLED_NS = 2_000_000_000
"""A file that changed later than so long before it is read is read again next time: its time of change may be as
coarse as that."""

_TRIES = 3
_TASKS = ".masc/state/checkpoints"
"""Where agents of the folder record their steps."""
_DOCUMENTS = frozenset({".md", ".markdown", ".rst", ".pdf", ".csv", ".tsv", ".txt", ".html", ".json"})
"""Endings of reports: no system executes such a file by itself."""

CODE = frozenset(
    {".awk", ".bash", ".bat", ".cjs", ".class", ".cmd", ".dll", ".dylib", ".egg", ".jar", ".js", ".lua", ".mjs", ".mk"}
    | {".php", ".pl", ".pm", ".ps1", ".pth", ".py", ".pyc", ".pyd", ".pyo", ".pyz", ".r", ".rb", ".sed", ".sh", ".so"}
    | {".sql", ".ts", ".whl", ".zip", ".zsh"}
)
"""Endings of files that are programs whatever else is known of them."""

_CODE_NAMES = frozenset(
    {"makefile", "gnumakefile", "justfile", "rakefile", "gemfile", "dockerfile", "package.json", "pyproject.toml"}
    | {"setup.cfg", "pytest.ini", "tox.ini", ".env", ".envrc", ".npmrc", ".sqliterc", "pyvenv.cfg"}
)
"""Names, in lower case, of files that programs are told by what to execute."""

_EXECUTE = 0o7111
_LINK, _CLOSED, _GONE, _SPECIAL, _CHANGING = "L", "X", "G", "S", "C"
"""What begins the entry of something that isn't a file that can be read; those begin with a SHA-256."""

_GIT_DATA = frozenset({"objects", "refs", "logs", "lfs", "fsmonitor--daemon"})
_GIT_HEADS = frozenset(
    {"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}
)
_GIT_STATE = frozenset(
    {*_GIT_HEADS, "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG", "COMMIT_EDITMSG", "TAG_EDITMSG"}
    | {"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK"}
    | {"index", "packed-refs", "shallow", "gc.log", "gc.pid", "fsmonitor--daemon.ipc"}
)
"""What git keeps in a repository's folder and writes anew while somebody works; it runs nothing that stands there."""

_GIT_NAMES = frozenset({"merge", "fetch", "push", "remote", "url", "pushurl"})
"""Settings of git that name references and other repositories, not files of this one."""

_SETTING = re.compile(r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?([A-Za-z][\w-]*)[ \t]*=[ \t]*(.*)$", re.MULTILINE)
_BETWEEN = re.compile(r"[\s'\"`;|&<>()$=:,{}\[\]]+")
_MENTION = re.compile(
    rb"(?<![\w.+@\x80-\xff-])[\w.+@\x80-\xff-]+\.(?:"
    + b"|".join(e[1:].encode() for e in sorted(_DOCUMENTS))
    + rb")(?!\w)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files of a folder are bound.

    Args:
        root: absolute path of the folder, no links in it.
        excluded: patterns of what `pins` leaves out.
        reports: folder that reports are written to; those that no bound file names are left out. Empty for none.
        own: absolute paths of folders that this program keeps its data in.
    """

    root: str
    excluded: tuple[str, ...] = ()
    reports: str = ""
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """The bound files of a folder.

    Args:
        digest: of all of them.
        entries: what is known of each, by its path relative to the folder.
        code: the paths of those that look like code, by ending, name, mode or `#!`, and of what can't be looked at.
    """

    digest: str
    entries: Mapping[str, str]
    code: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Mapping[str, str], code: Iterable[str]) -> Tree:
        """Return the tree that these entries make."""
        ordered = dict(sorted(entries.items()))
        whole = "\0".join(f"{path}\0{known}" for path, known in ordered.items())
        digest = hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()
        return cls(digest, ordered, frozenset(code) & ordered.keys())


@dataclass(frozen=True, slots=True)
class _Known:
    """What a file held in one state: its SHA-256, the documents that it names, and whether it begins with `#!`."""

    state: tuple[int, ...]
    sha: str
    mentions: frozenset[str]
    script: bool = False


@dataclass(slots=True)
class _Walk:
    scope: Scope
    named: frozenset[str]
    excluded: Callable[[str], object]
    files: list[tuple[str, str, os.stat_result, str]] = field(default_factory=list)
    entries: dict[str, str] = field(default_factory=dict)
    data: set[str] = field(default_factory=set)
    documents: list[tuple[str, str, os.stat_result]] = field(default_factory=list)
    folders: list[tuple[str, str]] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)


class FileHashes:
    """What files hold, read once for each state they are in. May be used by several threads.

    It lives as long as the process: a file that said what others hold could be forged between two.

    Args:
        clock: nanoseconds since 1970, as files are stamped.
    """

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._known: dict[tuple[int, int], _Known] = {}
        self._lock = threading.Lock()

    def tree(self, scope: Scope, named: frozenset[str] = frozenset()) -> Tree:
        """Return the bound files of a folder as they are now.

        Args:
            scope: which.
            named: paths that are bound whatever they are: a command names them.

        Raises:
            BadInput: there are more than `MOST_FILES`, or the folder can't be read.
        """
        excluded = path_pattern(scope.excluded).match
        walk = _Walk(scope, named, excluded)
        self._folder(walk, scope.root, "")
        while walk.folders:  # links last: a folder counts where it is, if it is within
            linked, walk.folders = sorted(walk.folders), []
            for path, text in linked:
                self._folder(walk, f"{scope.root}/{path}", path, link=text)
        mentioned = self._read(walk)
        reports = {path: (_mention_of(path), real, state) for path, real, state in walk.documents}
        while found := [path for path, (name, _, _) in reports.items() if name in mentioned]:
            for path in found:  # a report that is named may name another
                _, real, state = reports.pop(path)
                if (known := self._entry(real, state, ""))[0]:
                    walk.entries[path] = known[0]
                mentioned |= known[1]
        return Tree.of(walk.entries, walk.entries.keys() - walk.data)

    def file(self, path: Path) -> str:
        """Return the SHA-256 of what one file holds, links followed.

        Raises:
            OSError: it isn't there, or can't be read.
        """
        return self._known_of(str(path), path.stat()).sha

    def _folder(self, walk: _Walk, place: str, inside: str, *, link: str = "") -> None:
        """Collect the files of a folder and those below it."""
        found = Path(place).stat(follow_symlinks=bool(link))
        identity = (found.st_dev, found.st_ino)
        if link:
            walk.entries[inside] = f"{_LINK}{link}"
        if identity in walk.seen:
            return
        walk.seen.add(identity)
        waiting = [(place, inside)]
        own = {os.path.realpath(path) for path in walk.scope.own}
        while waiting:
            folder, prefix = waiting.pop()
            try:
                with os.scandir(folder) as listed:
                    found_here = list(listed)
            except FileNotFoundError:
                continue
            except OSError as error:
                if not prefix:
                    raise BadInput(Message("{} can't be read: {}.", one_line(folder, 120), error.strerror)) from error
                walk.entries[prefix] = f"{_CLOSED}{error.errno}"
                continue
            if in_git := _in_git(prefix) and _is_repository(prefix, {entry.name for entry in found_here}):
                waiting += _named_by_git(walk, folder, prefix)
            for entry in found_here:
                path = f"{prefix}/{entry.name}" if prefix else entry.name
                forced = path in walk.named
                if walk.scope.excluded and not forced and walk.excluded(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if (in_git and entry.name in _GIT_DATA) or (own and os.path.realpath(entry.path) in own):
                        continue
                    state = entry.stat(follow_symlinks=False)
                    if (state.st_dev, state.st_ino) not in walk.seen:
                        walk.seen.add((state.st_dev, state.st_ino))
                        waiting.append((entry.path, path))
                elif forced or not in_git or not _is_git_state(entry.name):
                    self._collect(walk, entry, path, forced)
            if len(walk.files) + len(walk.entries) > MOST_FILES:
                raise BadInput(
                    Message(
                        "{} has more than {} files, too many to bind to an approval; name folders that no step "
                        "executes in [pins] exclude of hitl.toml.",
                        one_line(walk.scope.root, 120),
                        f"{MOST_FILES:,}",
                    )
                )

    def _collect(self, walk: _Walk, entry: os.DirEntry[str], path: str, forced: bool) -> None:
        text = ""
        try:
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(state.st_mode):
                text = str(Path(entry.path).readlink())
                state = entry.stat()
                if stat.S_ISDIR(state.st_mode):
                    walk.folders.append((path, text))
                    return
        except OSError as error:
            if text or error.errno != errno.ENOENT:
                walk.entries[path] = f"{_GONE}{error.errno} {text}"
            return
        if not stat.S_ISREG(state.st_mode):
            walk.entries[path] = f"{_SPECIAL}{stat.S_IFMT(state.st_mode):o} {state.st_rdev} {text}"
            return
        if not forced and not state.st_mode & 0o111 and not text and _is_left_out(walk.scope, entry.path, path):
            walk.documents.append((path, entry.path, state))
            return
        walk.files.append((path, entry.path, state, text))

    def _read(self, walk: _Walk) -> set[str]:
        """Read the files that were collected; return the documents that they name."""
        mentioned: set[str] = set()
        unread: list[tuple[str, str, os.stat_result, str]] = []
        for path, real, state, text in walk.files:
            known = self._known.get((state.st_dev, state.st_ino))
            if known is not None and known.state == _state(state):
                walk.entries[path] = f"{known.sha} {state.st_mode & _EXECUTE:o} {text}"
                mentioned |= known.mentions
                if _is_data(path, state, script=known.script):
                    walk.data.add(path)
            else:
                unread.append((path, real, state, text))
        if len(unread) > 64:
            with ThreadPoolExecutor(4) as pool:
                read = list(pool.map(lambda item: self._entry(item[1], item[2], item[3]), unread, chunksize=64))
        else:
            read = [self._entry(real, state, text) for _, real, state, text in unread]
        for (path, _, state, _), (entry, mentions, script) in zip(unread, read, strict=True):
            if entry:
                walk.entries[path] = entry
                if _is_data(path, state, script=script):
                    walk.data.add(path)
            mentioned |= mentions
        return mentioned

    def _entry(self, real: str, state: os.stat_result, text: str) -> tuple[str, frozenset[str], bool]:
        """Return what is known of a file, the documents it names, and whether it may be a script.

        The first is an empty text when it is gone.
        """
        try:
            known = self._known_of(real, state)
        except FileNotFoundError:
            return "", frozenset(), False
        except OSError as error:
            return f"{_CLOSED}{error.errno} {_identity(state)} {text}", frozenset(), True
        return f"{known.sha} {state.st_mode & _EXECUTE:o} {text}", known.mentions, known.script

    def _known_of(self, path: str, state: os.stat_result) -> _Known:
        known = self._known.get((state.st_dev, state.st_ino))
        if known is not None and known.state == _state(state):
            return known
        if state.st_size > LARGEST:
            return _Known(_state(state), _identity(state), frozenset())
        for _ in range(_TRIES):
            began = self._clock()
            before, sha, mentions, script, after = _hashed(path)
            if _state(before) == _state(after):
                known = _Known(_state(after), sha, mentions, script)
                if max(after.st_ctime_ns, after.st_mtime_ns) + _SETTLED_NS < began:
                    with self._lock:
                        self._known[after.st_dev, after.st_ino] = known
                return known
        return _Known((), f"{_CHANGING}{_identity(after)}", frozenset(), script=True)


def _hashed(path: str) -> tuple[os.stat_result, str, frozenset[str], bool, os.stat_result]:
    """Read a file; return its state before and after, and in between its SHA-256, the documents it names, and `#!`."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        digest, mentions = hashlib.sha256(), frozenset[str]()
        first, script = True, False
        for part in iter(partial(os.read, file, _WHOLE), b""):
            digest.update(part)
            script = script or (first and part.startswith(b"#!"))
            if first and (found := _MENTION.findall(part)):
                mentions = frozenset(name.decode("utf-8", "surrogateescape").lower() for name in found)
            first = False
        return before, digest.hexdigest(), mentions, script, os.fstat(file)
    finally:
        os.close(file)


def _state(state: os.stat_result) -> tuple[int, ...]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _identity(state: os.stat_result) -> str:
    return hashlib.sha256(repr(_state(state)).encode()).hexdigest()


def _is_data(path: str, state: os.stat_result, *, script: bool) -> bool:
    """Tell whether a file doesn't look like code."""
    name = path.rpartition("/")[2].lower()
    named = f".{name.rpartition('.')[2]}" in CODE or name in _CODE_NAMES
    return not (script or named or state.st_mode & 0o111 or _in_git(path))


def _is_left_out(scope: Scope, real: str, path: str) -> bool:
    """Tell whether a file is a report, or an entry of a task's record, and no program."""
    if not path.startswith(tuple(f"{folder}/" for folder in (scope.reports, _TASKS) if folder)):
        return False
    return "." + path.rpartition(".")[2].lower() in _DOCUMENTS and not begins_as_script(real)


def _mention_of(path: str) -> str:
    """Return what a file would hold that names this one, as `_Known.mentions` has it."""
    name = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
    found = _MENTION.findall(name)
    return found[-1].decode("utf-8", "surrogateescape").lower() if found else ""


def begins_as_script(path: str | Path) -> bool:
    """Return whether a file begins with `#!`; False where it can't be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.read(file, 2) == b"#!"
    except OSError:
        return False
    finally:
        os.close(file)


def _in_git(folder: str) -> bool:
    return folder == ".git" or folder.startswith(".git/") or "/.git/" in f"{folder}/"


def _is_repository(folder: str, names: Set[str]) -> bool:
    """Tell whether a folder within a `.git` is a repository's own: the whole, a submodule's or a worktree's."""
    return folder.rpartition("/")[2] == ".git" or names >= {"HEAD", "objects", "refs"} or names >= {"HEAD", "commondir"}


def _is_git_state(name: str) -> bool:
    return name.removesuffix(".lock") in _GIT_STATE or name == "config.lock" or name.startswith("sharedindex.")


def _named_by_git(walk: _Walk, folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Collect the files among git's own data that its configuration names; yield such folders."""
    for name in dict.fromkeys(_paths_in_git(folder)):
        path, place, first = f"{prefix}/{name}", Path(folder, name), name.partition("/")[0]
        if walk.excluded(path) or not (first in _GIT_DATA or _is_git_state(first)):
            continue
        if place.is_dir():
            yield str(place), path
        elif place.is_file():
            walk.files.append((path, str(place), place.stat(), ""))


def _paths_in_git(folder: str) -> Iterator[str]:
    """Yield the files and folders of a repository that its configuration names, relative to it."""
    for name in ("config", "config.worktree"):
        try:
            text = Path(folder, name).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            continue
        for key, value in _SETTING.findall(text):
            if key.lower() in _GIT_NAMES:
                continue
            for piece in (value.strip().strip('"'), *_BETWEEN.split(value)):
                for base in (folder, f"{folder}/..") if piece and "\0" not in piece else ():
                    path = os.path.relpath(Path(base, piece), folder)
                    if path != "." and not path.startswith("..") and os.path.lexists(Path(folder, path)):
                        yield path.replace(os.sep, "/")


def paths_of(scope: Scope) -> Iterator[str]:
    """Yield the path of every file and folder there is, what is left out included."""
    waiting = [(scope.root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            with os.scandir(folder) as listed:
                for entry in listed:
                    path = f"{prefix}/{entry.name}" if prefix else entry.name
                    yield path
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, path))
        except OSError:
            continue
