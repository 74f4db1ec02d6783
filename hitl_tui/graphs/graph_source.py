"""The source files of a graph, found without running it: an approval binds them."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import Any

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.file_digests import first_named
from hitl_tui.core.python_source import parse_source

LARGEST = 5_000_000
"""Bytes of a file that is read for what it imports; a larger one is no source that somebody wrote."""

MOST_FILES = 1_000
"""Files of one graph; what is imported beyond them isn't followed."""

MOST_NAMED = 12
"""Files that are named in a question one by one; the others are one entry."""

_OURS = Path(__file__).resolve().parents[1]
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_LOADERS: tuple[tuple[Any, list[str]], ...] = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


@dataclass(frozen=True, slots=True)
class GraphSource:
    """The files that importing a graph may run, as they were read.

    Args:
        of: what they are the source of.
        files: what each holds, by its path with no links in it.
        programs: SHA-256 of each by its path as a person knows it, relative to the workspace; of many files all but
            the first are one entry.
        served: the graph itself, where a LangGraph server runs it.
    """

    of: tuple[str, ...]
    files: Mapping[str, bytes]
    programs: Mapping[str, str]
    served: object = None


@dataclass(frozen=True, slots=True)
class Imports:
    """What a file imports, from anywhere in it.

    Args:
        named: level of dots, module, and the names taken from it.
        exported: the names in its `__all__`.
    """

    named: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    exported: tuple[str, ...] = ()


def source_of(
    declaration: GraphDeclaration, workspace: str = "", known: dict[str, Imports] | None = None
) -> GraphSource:
    """Return a graph's own file, and the files of the workspace that it imports, also through one another.

    Found by their syntax; nothing is executed. Installed packages and this program aren't part of it, nor is what is
    imported under a name that is only made when it runs. Of a target outside the workspace it is its file only.

    Args:
        declaration: which graph.
        workspace: absolute path of the folder it works in; empty where that is the declaration's own.
        known: imports by the SHA-256 of the file that has them, to be used again and added to.
    """
    folder = Path(os.path.realpath(declaration.folder or Path.cwd()))
    roots = tuple(dict.fromkeys((Path(os.path.realpath(workspace)) if workspace else folder, folder)))
    walk = _Walk(roots, {} if known is None else known)
    for target in declaration.targets:
        walk.target(target, folder)
    hashes = {_shown(path, roots): sha for path, sha in walk.hashes.items()}
    named = first_named(hashes, MOST_NAMED)
    files = {os.path.realpath(path): content for path, content in walk.contents.items()}
    return GraphSource((" ".join(declaration.targets), *map(str, (folder, *roots))), files, named)


def is_followed(path: Path) -> bool:
    """Return whether a file is neither an installed one nor this program's."""
    return not path.is_relative_to(_OURS) and _INSTALLED.isdisjoint(path.parts)


class _Walk:
    """Goes from a target's file through what it imports.

    Args:
        roots: folders whose files are followed.
        known: imports by SHA-256.
    """

    def __init__(self, roots: Sequence[Path], known: dict[str, Imports]) -> None:
        self.contents: dict[Path, bytes] = {}
        self.hashes: dict[Path, str] = {}
        self._roots = roots
        self._known = known
        self._places: tuple[Path, ...] = ()
        self._finders: dict[Path, FileFinder] = {}
        self._waiting: list[Path] = []

    def target(self, target: str, folder: Path) -> None:
        """Read what a target names: `path.py:attribute` or `module:attribute`."""
        place, _, attribute = target.rpartition(":")
        if not place or place.endswith((os.sep, "/")) or attribute.endswith(".py"):
            place = target
        self._places = tuple(dict.fromkeys((folder, folder / "src", *self._roots)))
        if place.endswith(".py"):
            path = Path(os.path.realpath(folder / place))
            top = path.parent
            while (top / "__init__.py").is_file() and top != top.parent:
                top = top.parent
            if self._within(path):
                self._places = tuple(dict.fromkeys((path.parent, top, *self._places)))
            self._add(path, beyond=True)
        elif not self._module(place, self._places) and not self.hashes:
            import sys

            self._module(place, [Path(entry) for entry in sys.path if entry], beyond=True)
        while self._waiting and len(self.hashes) < MOST_FILES:
            self._follow(self._waiting.pop(0))

    def _within(self, path: Path) -> bool:
        """Tell whether a file is the workspace's own."""
        return is_followed(path) and any(path.is_relative_to(root) for root in self._roots)

    def _add(self, path: Path, *, beyond: bool = False) -> None:
        within = self._within(path)
        if path in self.hashes or not (within or (beyond and _INSTALLED.isdisjoint(path.parts))):
            return
        try:
            if not path.is_file():
                return
            content = path.read_bytes()
        except OSError:  # whoever imports it gets to hear that
            return
        self.contents[path] = content
        self.hashes[path] = hashlib.sha256(content).hexdigest()
        if within:
            self._waiting.append(path)

    def _follow(self, path: Path) -> None:
        packages = path.parent.parent if path.name == "__init__.py" else path.parent
        if (packages / "__init__.py").is_file():  # importing a module runs the packages it is in
            self._add(packages / "__init__.py")
        for level, module, names in self._imports(path).named:
            base = path.parent
            for _ in range(level - 1):
                base = base.parent
            self._import(module, names, (base,) if level else self._places)

    def _import(self, module: str, names: tuple[str, ...], places: Sequence[Path]) -> None:
        inside = self._module(module, places) if module else list(places)
        if "*" in names:
            names = tuple(name for place in inside for name in self._imports(place / "__init__.py").exported)
        for name in names:
            self._module(name, inside)

    def _module(self, name: str, places: Sequence[Path], *, beyond: bool = False) -> list[Path]:
        """Add every file that importing a dotted name may run; return the folders that its own modules are in."""
        for part in name.split("."):
            inside: list[Path] = []
            for place in places:
                spec = self._finder(place).find_spec(part)
                if spec is None:
                    continue
                if spec.has_location and spec.origin:
                    self._add(Path(spec.origin), beyond=beyond)
                inside += map(Path, spec.submodule_search_locations or ())
            places = inside
        return list(places)

    def _finder(self, place: Path) -> FileFinder:
        if place not in self._finders:
            self._finders[place] = FileFinder(str(place), *_LOADERS)
        return self._finders[place]

    def _imports(self, path: Path) -> Imports:
        sha = self.hashes.get(path, "")
        if not sha or path.suffix not in SOURCE_SUFFIXES:
            return Imports()
        if sha not in self._known:
            self._known[sha] = imports_in(self.contents[path])
        return self._known[sha]


def imports_in(content: bytes) -> Imports:
    """Return what a file of Python imports; nothing for what can't be parsed, which can't be imported either."""
    if len(content) > LARGEST:
        return Imports()
    try:
        tree = parse_source(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Imports()
    return Imports(tuple(dict.fromkeys(_named(tree))), tuple(_exported(tree)))


def _named(tree: ast.Module) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((0, alias.name, ()) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                yield level, module or "", tuple(alias.name for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield len(name) - len(name.lstrip(".")), name.lstrip("."), ()


def _exported(tree: ast.Module) -> Iterable[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                yield from (
                    part.value
                    for part in ast.walk(node.value)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def _shown(path: Path, roots: Sequence[Path]) -> str:
    root = next((root for root in roots if path.is_relative_to(root)), None)
    shown = path.as_posix() if root is None else path.relative_to(root).as_posix()
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")
