"""What is imported of a graph is what was read: never another content of the same files, nor compiled remains."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.teams.graph.source import GraphSource, is_followed


class HeldLoader(SourceFileLoader):
    """Runs a file as it was read, whatever it or its compiled copy hold meanwhile.

    Args:
        name: the module's.
        path: the file.
        content: what it held.
    """

    def __init__(self, name: str, path: str, content: bytes) -> None:
        super().__init__(name, path)
        self._content = content

    def get_data(self, path: str) -> bytes:
        return self._content if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._content, self.path)


class HeldFinder(MetaPathFinder):
    """Gives the files that graphs are made of to whoever imports them, as they were read.

    It stands first in `sys.meta_path`, once a process, beside the modules that were loaded by it.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.others: dict[str, bytes] = {}
        """Files of the workspaces that graphs imported under names which only they knew, as they were read."""
        self.roots: set[str] = set()
        self.sources: dict[tuple[str, ...], dict[str, str]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if self.files else None
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        path = os.path.realpath(spec.origin)
        content = self.files.get(path)
        if content is None and (content := self._other(path)) is None:
            return None
        spec.loader, spec.cached = HeldLoader(fullname, spec.origin, content), None
        return spec

    def _other(self, path: str) -> bytes | None:
        """Return what a file of a workspace holds that no graph names; None for one of no workspace."""
        if not any(path.startswith(f"{root}{os.sep}") for root in self.roots) or not is_followed(Path(path)):
            return None
        try:
            self.others[path] = Path(path).read_bytes()
        except OSError:  # whoever imports it gets to hear that
            return None
        return self.others[path]


def hold(source: GraphSource) -> None:
    """Let imports give a graph's files as they were read; what was loaded of them otherwise is loaded anew.

    Raises:
        BadInput: one changed that was loaded by something else than this, which nobody can load anew.
    """
    finder = _finder()
    before, now = finder.sources.get(source.of), {path: _sha(content) for path, content in source.files.items()}
    changed = {path for path, content in source.files.items() if finder.files.get(path, content) != content}
    if before is not None:
        changed |= {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    if stale := {path for path, content in finder.others.items() if _content(path) != content}:
        changed |= stale.union(finder.others, *finder.sources.values())  # nobody knows who uses it
    finder.roots.update(source.of[1:])
    if changed:
        _unload(finder, changed)
    finder.files.update(source.files)
    finder.sources[source.of] = now
    if changed or before is None:
        importlib.invalidate_caches()


def _unload(finder: HeldFinder, changed: set[str]) -> None:
    """Forget what was loaded of all graphs that some files belong to: each module may hold something of another.

    Raises:
        BadInput: a file was loaded by something else.
    """
    ours = finder.files.keys() | finder.others.keys()
    loaded = {name: path for name, module in list(sys.modules.items()) if (path := _path(module)) in ours}
    held = {name: path for name, path in loaded.items() if _is_held(sys.modules.get(name))}
    if stuck := {path for name, path in loaded.items() if name not in held and path in changed}:
        names = one_line(", ".join(sorted(map(os.path.basename, stuck))), 200)
        raise BadInput(f"{names} changed since this program loaded it; start it again to run it as it is now.")
    affected = [of for of, known in finder.sources.items() if known.keys() & changed]
    paths = changed.union(*(finder.sources.pop(of) for of in affected))
    for name, path in held.items():
        if path in paths:
            sys.modules.pop(name, None)
            finder.others.pop(path, None)


def held_loader(name: str, path: Path) -> SourceFileLoader:
    """Return what loads a file: as it was read where it was."""
    content = _finder().files.get(os.path.realpath(path))
    return SourceFileLoader(name, str(path)) if content is None else HeldLoader(name, str(path), content)


def _finder() -> HeldFinder:
    found = next((finder for finder in sys.meta_path if isinstance(finder, HeldFinder)), None)
    if found is None:
        sys.meta_path.insert(0, found := HeldFinder())
    return found


def _path(module: object) -> str:
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


def _content(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None


def _is_held(module: object) -> bool:
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), HeldLoader)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
