"""Finding and reading source: a target, and what it imports from its own package or folder. Nothing is executed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.python_source import parse_source
from hitl_tui.core.safe_text import one_line
from hitl_tui.lint.abstract_values import Module

LARGEST: Final = 2_000_000
"""Bytes of the largest file that is read."""

MOST_MODULES: Final = 40
MOST_BYTES: Final = 600_000
"""How many other modules are followed, and how much source is read before no further one is."""

_KNOWN: Final = ("langgraph", "langchain", "langsmith")
"""Packages whose names mean something to the rules; they are never read."""

_INSTALLED: Final = ("site-packages", "dist-packages")

_DECLARED = re.compile(r"#\s*hitl:\s*idempotent\b")
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be checked.

    Args:
        path: the file.
        module: its dotted name; empty for a file that was named by its path.
        attribute: of the module; empty for all of it.
        root: the folder that its own imports are looked for in.
        siblings: imports of other modules in that folder are followed too, not only those of its own package.
    """

    path: Path
    module: str
    attribute: str
    root: Path
    siblings: bool


def find_target(text: str, folder: Path, search: Sequence[str]) -> Target:
    """Return the file that `module:attribute`, `module`, `path.py:attribute` or `path.py` names.

    Args:
        folder: the current folder.
        search: more folders in which modules are looked for, as in `sys.path`.

    Raises:
        BadInput: there is no such file or module, or the text names none.
    """
    head, colon, attribute = text.rpartition(":")
    if not colon:
        head, attribute = text, ""
    elif not _NAME.match(attribute):
        if attribute.endswith(".py") or "/" in attribute:
            head, attribute = text, ""
        else:
            raise _wrong(Message('"{}" in "{}" is not the name of an attribute.', _shown(attribute), _shown(text)))
    if not head:
        raise _wrong(Message("Name a module or a file (before the colon, if there is one)."))
    if head.endswith(".ipynb"):
        raise _wrong(Message('"{}" is a notebook; export it first: jupyter nbconvert --to script', _shown(head)))
    if head.endswith(".py") or "/" in head or head in (".", ".."):
        path = (folder / Path(head).expanduser()).absolute()
        _check_file(path, head)
        root = _root_of(path)
        return Target(path, "", attribute, root, siblings=root == path.parent)
    if not _NAME.match(head):
        raise _wrong(Message('"{}" is neither a module nor a path that ends in .py.', _shown(head)))
    return _module_target(head, attribute, folder, search)


def _wrong(message: str) -> BadInput:
    return BadInput(
        message, help=Message("As in: hitl-tui lint package.module:graph, or hitl-tui lint folder/file.py:graph")
    )


def _module_target(name: str, attribute: str, folder: Path, search: Sequence[str]) -> Target:
    places = [folder, folder / "src", *(Path(entry) if entry else folder for entry in search)]
    relative = Path(*name.split("."))
    for place in dict.fromkeys(places):
        for path in (place / relative / "__init__.py", place / relative.with_suffix(".py")):
            if _is_file(path):
                return Target(path.absolute(), name, attribute, place.absolute(), siblings=place.name not in _INSTALLED)
    raise BadInput(
        Message('No Python source of a module "{}" here, in src, or where Python looks.', _shown(name)),
        help=Message("Run it in the folder that has the package, or name the file: hitl-tui lint folder/file.py"),
    )


def _check_file(path: Path, said: str) -> None:
    try:
        if path.is_file():
            return
        folder, there = path.is_dir(), path.exists() or path.is_symlink()
    except (OSError, ValueError) as error:
        raise BadInput(Message('"{}" can\'t be looked at: {}.', _shown(said), _shown(str(error)))) from error
    if folder:
        raise _wrong(Message('"{}" is a folder; name a file in it.', _shown(said)))
    if there:
        raise _wrong(Message('"{}" isn\'t a readable file.', _shown(said)))
    raise _wrong(Message('The file "{}" doesn\'t exist.', _shown(said)))


def _root_of(path: Path) -> Path:
    """Return the folder that holds a file's package, or the file's own folder."""
    top = path.parent
    while _is_file(top / "__init__.py") and top != top.parent:
        top = top.parent
    return top


class Sources:
    """Reads modules once each.

    Args:
        target: where it begins.
        folder: paths below it are told relative to it.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self._root = target.root
        self._siblings = target.siblings
        self._folder = folder
        self._by_path: dict[Path, Module | None] = {}
        self._read_bytes = 0
        self.notes: list[Message] = []
        self.first = self._read(target.path, target.module or _module_name(target.path, target.root))
        self._by_path[target.path.resolve()] = self.first

    @property
    def modules(self) -> list[Module]:
        """Return all modules that were read, in the order of reading."""
        return [module for module in self._by_path.values() if module is not None]

    def imported(self, name: str, level: int, by: Module) -> Module | None:
        """Return a module that another imports, when it is of the same package or folder and can be read.

        Args:
            name: dotted, without the leading dots.
            level: how many leading dots there were.
        """
        if level:
            base = by.path.parent
            for _ in range(level - 1):
                base = base.parent
            return self._first(base, name)
        if not name or name.startswith(_KNOWN):
            return None
        own = self.first.name.partition(".")[0] if self._by_path else ""
        return self._first(self._root, name) if self._siblings or name.partition(".")[0] == own else None

    def _first(self, base: Path, name: str) -> Module | None:
        relative = base.joinpath(*name.split(".")) if name else base
        for path in (relative / "__init__.py", relative.parent / f"{relative.name}.py"):
            if _is_file(path):
                return self._kept(path)
        return None

    def _kept(self, path: Path) -> Module | None:
        key = path.resolve()
        if key not in self._by_path:
            if len(self._by_path) > MOST_MODULES or self._read_bytes > MOST_BYTES:
                followed = len(self._by_path) - 1
                said = Message("Only the first {count} of the modules that it imports were followed.", count=followed)
                if not any(note.template == said.template for note in self.notes):
                    self.notes.append(said)
                return None
            self._by_path[key] = None
            try:
                self._by_path[key] = self._read(path, _module_name(path, self._root))
            except BadInput as error:
                self.notes.append(Message("Not followed: {problem}", problem=error.message))
        return self._by_path[key]

    def _read(self, path: Path, name: str) -> Module:
        shown = _shown(_relative(path, self._folder), 1_000)
        data = _bytes_of(path, shown)
        self._read_bytes += len(data)
        tree = _parsed(data, shown)
        return Module(name, path, shown, tree, _declared(data), mutated=_mutated(tree))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no right to look, or a name that no file can have
        return False


def _bytes_of(path: Path, shown: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(Message("The file {} can't be read: {}.", shown, error.strerror or error)) from error
    if len(data) > LARGEST:
        raise BadInput(
            Message(
                "The file {} is larger than {} MB, too large for source, so it isn't checked.",
                shown,
                LARGEST // 1000000,
            )
        )
    return data


def _parsed(data: bytes, shown: str) -> ast.Module:
    try:
        return parse_source(data)
    except SyntaxError as error:
        if error.lineno is None:
            raise BadInput(Message("{}: this isn't Python: {}.", shown, _shown(error.msg))) from error
        raise BadInput(
            Message("{}, line {}: this isn't Python: {}.", shown, error.lineno, _shown(error.msg))
        ) from error
    except ValueError as error:
        raise BadInput(Message("{}: this isn't Python: {}.", shown, _shown(str(error)))) from error
    except (RecursionError, MemoryError) as error:
        raise BadInput(Message("{}: this is nested too deeply to be checked.", shown)) from error


def _declared(data: bytes) -> frozenset[int]:
    """Return lines that an idempotence comment speaks of: its own, and for one that stands alone the next with code."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    lines = data.decode(encoding, errors="replace").splitlines()
    found: set[int] = set()
    for number, line in enumerate(lines, start=1):
        if "hitl:" not in line or not _DECLARED.search(line):
            continue
        found.add(number)
        if line.lstrip().startswith("#"):
            after = number
            while after < len(lines) and (not lines[after].strip() or lines[after].lstrip().startswith("#")):
                after += 1
            found.add(after + 1)
    return frozenset(found)


def _mutated(tree: ast.Module) -> frozenset[str]:
    """Return names of the module that functions in it change, so that their values depend on what ran before."""
    found: set[str] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= _mutated_in(function)
    return frozenset(found)


def _mutated_in(function: ast.AST) -> set[str]:
    own: set[str] = set()
    changed: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Global(names=names):
                changed.update(names)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                own.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGERS:
                changed.add(name)
    globals_ = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    return changed - (own - globals_)


CHANGERS: Final = frozenset(
    ["append", "extend", "add", "insert", "update", "pop", "popitem", "remove", "discard", "clear", "setdefault"]
) | {"appendleft", "extendleft", "popleft"}
"""Methods that change the container they are called on."""


def _module_name(path: Path, root: Path) -> str:
    if not path.is_relative_to(root):
        return path.stem
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _shown(text: str, width: int = 200) -> str:
    return one_line(text, width)
