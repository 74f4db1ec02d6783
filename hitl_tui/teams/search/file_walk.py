"""Which files of a folder are searched: deterministic, bounded, never out of the folder."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.extraction.blocks import LeftOut
from hitl_tui.extraction.file_text import kind_of, too_large

MAX_FILES = 50_000
_REPORTS = "reports"
"""Where reports are written: what sessions said is no evidence for another one."""
_KEPT = ("ledger.db", "sessions")
"""What a data folder has, which may lie in the workspace."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_MAX_DEPTH = 100
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that wasn't searched, and why in a short phrase.

    Args:
        path: relative to the folder, forward slashes.
        reason: for a person.
        kind: what sort of reason that is.
        listed: it is a file that isn't hidden, so that it is listed and counted with the others.
    """

    path: str
    reason: str
    kind: LeftOut = LeftOut.UNREADABLE
    listed: bool = False

    def to_dict(self) -> dict[str, str]:
        """Return what is reported of it, as JSON values."""
        return {"path": self.path, "reason": self.reason, "kind": str(self.kind)}


@dataclass(frozen=True, slots=True)
class Found:
    """A file to search.

    Args:
        path: relative to the folder, forward slashes, always valid Unicode.
        absolute: where to open it.
        size, mtime_ns, inode: its state, bytes and nanoseconds since 1970.
    """

    path: str
    absolute: Path
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Walk:
    """The files of a folder in order of their paths, and what was left out."""

    files: tuple[Found, ...]
    skipped: tuple[Skipped, ...]


def clean_patterns(documents: Sequence[str]) -> tuple[str, ...]:
    """Return document patterns in one form: relative, forward slashes, `.` for everything.

    Raises:
        BadInput: a pattern is empty, absolute, or leads out of the folder.
    """
    if not documents:
        raise BadInput(Message("No documents are named; name a folder, a file or a pattern such as docs/**/*.md."))
    return tuple(dict.fromkeys(_clean(pattern) for pattern in documents))


def _clean(pattern: str) -> str:
    text = composed(pattern.strip()).replace(os.sep, "/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not text or text.startswith("/") or ".." in parts or "\0" in text:
        raise BadInput(
            Message("The documents {} must be a path or pattern inside the workspace folder.", repr(pattern))
        )
    return "/".join(parts) or "."


def is_left_out(name: str) -> bool:
    """Return whether folders of a name are searched only where a pattern names them."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def walk(root: Path, documents: Sequence[str], *, max_files: int = MAX_FILES) -> Walk:
    """Return the searchable files under a folder.

    Links are not followed: what one points to inside the folder is found where it is, and what lies outside
    stays out. Hidden folders are left out unless a pattern names them.

    Args:
        root: the folder.
        documents: files, folders or patterns relative to it (`*`, `?`, `[…]`, `**`).
        max_files: how many files at most; the rest is reported as skipped.

    Raises:
        BadInput: the folder is missing or can't be read, or a pattern can't be used.
    """
    patterns = clean_patterns(documents)
    try:
        real = root.resolve(strict=True)
        with os.scandir(real):
            pass
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "links that lead in a circle"
        raise BadInput(Message("The folder {} can't be searched: {}.", root, reason.lower())) from error
    walker = _Walker(real, max_files)
    wanted = [[] if pattern == "." else pattern.split("/") for pattern in walker.resolved(patterns)]
    walker.match = lambda path: any(_fits(path.split("/"), pattern) for pattern in wanted)
    for found in walker.folder("", 0):
        if len(walker.files) >= max_files:
            walker.skipped.append(Skipped(found.path, f"and what follows: more than {max_files:,} files"))
            break
        walker.files[found.path] = found
    return Walk(tuple(walker.files.values()), tuple(walker.skipped))


@dataclass(slots=True)
class _Walker:
    root: Path
    max_files: int
    files: dict[str, Found] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    match: Callable[[str], bool] = bool

    def resolved(self, patterns: Sequence[str]) -> list[str]:
        """Replace a pattern that names a link by what it points to; remember which folders are named."""
        result: list[str] = []
        for pattern in patterns:
            fixed, rest = _literal(pattern)
            try:
                target = Path(os.path.realpath(self.root / fixed, strict=True))
                inside = target.relative_to(self.root).as_posix()
            except OSError as error:
                self.skipped.append(Skipped(pattern, f"can't be read: {(error.strerror or str(error)).lower()}"))
                continue
            except ValueError:
                self.skipped.append(Skipped(pattern, "a link leads out of the folder"))
                continue
            result.append("/".join(part for part in (composed(shown(inside)), rest) if part not in ("", ".")) or ".")
        prefixes: set[str] = set()
        for pattern in result:
            parts = PurePosixPath(_literal(pattern)[0]).parts
            prefixes.update("/".join(parts[: count + 1]) for count in range(len(parts)))
        self.named = frozenset(prefixes)
        return result

    def folder(self, inside: str, depth: int) -> Iterator[Found]:
        """Yield the files of one folder and those below it."""
        try:
            with os.scandir(self.root / inside) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(inside or ".", f"can't be read: {(error.strerror or str(error)).lower()}")
            return
        for entry in ordered:
            path = f"{inside}/{entry.name}" if inside else entry.name
            try:
                if entry.is_symlink():
                    self._link(path)
                elif entry.is_dir(follow_symlinks=False):
                    if self._hidden(entry.name, path):
                        self._skip(path, "not searched unless it is named", LeftOut.IGNORED)
                        continue
                    if depth >= _MAX_DEPTH:
                        self._skip(path, f"more than {_MAX_DEPTH} folders deep")
                        continue
                    yield from self.folder(path, depth + 1)
                elif self.match(composed(shown(path))) and (found := self._file(entry, path)) is not None:
                    yield found
            except OSError as error:
                self._skip(path, f"can't be read: {(error.strerror or str(error)).lower()}")

    def _hidden(self, name: str, path: str) -> bool:
        own = path == _REPORTS or all(Path(self.root, path, kept).exists() for kept in _KEPT)
        return (own or is_left_out(name)) and composed(shown(path)) not in self.named

    def _file(self, entry: os.DirEntry[str], path: str) -> Found | None:
        hidden = entry.name.startswith(".") and composed(shown(path)) not in self.named
        if hidden or not kind_of(entry.name):
            reason = "hidden" if hidden else "files of this kind aren't searched"
            self._skip(path, reason, LeftOut.IGNORED, listed=not hidden)
            return None
        if not entry.is_file(follow_symlinks=False):
            self._skip(path, "not a regular file")
            return None
        info = entry.stat(follow_symlinks=False)
        if reason := too_large(info.st_size):
            self._skip(path, reason, LeftOut.LARGE, listed=True)
            return None
        if not os.access(self.root / path, os.R_OK):
            self._skip(path, "can't be read: permission denied", listed=True)
            return None
        if shown(path) in self.files:
            self._skip(path, "its name can't be told from another's")
            return None
        return Found(shown(path), self.root / path, info.st_size, info.st_mtime_ns, info.st_ino)

    def _link(self, path: str) -> None:
        try:
            target = Path(os.path.realpath(self.root / path, strict=True))
        except OSError:
            self._skip(path, "a link that leads nowhere or in a circle")
            return
        if not target.is_relative_to(self.root):
            self._skip(path, "a link leads out of the folder")

    def _skip(self, path: str, reason: str, kind: LeftOut = LeftOut.UNREADABLE, *, listed: bool = False) -> None:
        self.skipped.append(Skipped(shown(path), reason, kind, listed))


def shown(path: str) -> str:
    """Return a path as valid Unicode; bytes that aren't text appear as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def composed(text: str) -> str:
    """Return text in its composed form, as names are compared."""
    # macOS hands out decomposed names; people type composed ones.
    return unicodedata.normalize("NFC", text)


def _literal(pattern: str) -> tuple[str, str]:
    """Split a pattern into the folders it names outright and the part with wildcards."""
    parts = pattern.split("/")
    for count, part in enumerate(parts):
        if _GLOB.search(part):
            return "/".join(parts[:count]), "/".join(parts[count:])
    return pattern, ""


def _fits(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path fits a pattern, both by parts; a folder stands for all that is in it."""
    ends = {0}  # how many parts of the path the pattern may have taken so far
    for part in pattern:
        if part == "**":
            ends = set(range(min(ends), len(path)))
        else:
            ends = {end + 1 for end in ends if end < len(path) and fnmatchcase(path[end], part)}
        if not ends:
            return False
    return True
