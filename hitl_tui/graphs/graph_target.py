"""Find and import a graph: `module:attribute` or `path.py:attribute`.

Importing runs the user's module. Whatever it raises becomes one sentence that names the file and the line.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import BadInput, error_words
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_source import GraphSource, is_followed


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
    loaded = {name: path for name, module in sys.modules.copy().items() if (path := _path(module)) in ours}
    held = {name: path for name, path in loaded.items() if _is_held(sys.modules.get(name))}
    if stuck := {path for name, path in loaded.items() if name not in held and path in changed}:
        names = one_line(", ".join(sorted(map(os.path.basename, stuck))), 200)
        raise BadInput(
            Message("{} changed since this program loaded it; start it again to run it as it is now.", names)
        )
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


class GraphError(BadInput):
    """A graph can't be loaded or used; the message names file and line where there are any."""


def load_target(declaration: GraphDeclaration, source: GraphSource) -> object:
    """Return what a declaration names, a graph, a builder of one, or a factory: the same until its source changes.

    Args:
        declaration: which graph.
        source: its files as they were read; they are imported so.

    Raises:
        GraphError: the module can't be imported, or the attribute is missing.
        BadInput: its source changed, and something else than this loaded it.
    """
    if source.served is not None:
        return source.served
    hold(source)
    place, _, attribute = declaration.target.rpartition(":")
    if not place or place.endswith((os.sep, "/")) or attribute.endswith(".py"):
        place, attribute = declaration.target, ""
    for name, value in declaration.env.items():
        os.environ.setdefault(name, value)
    with _importable(declaration):
        module = _module(place, Path(declaration.folder))
    shown = one_line(place if not place.endswith(".py") else Path(place).name, 200)
    if not attribute:
        return _only_graph(module, shown)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise GraphError(_missing(module, shown, attribute))
        found = getattr(found, part)
    return found


@contextmanager
def _importable(declaration: GraphDeclaration) -> Iterator[None]:
    """Let a graph's own modules be found: its folder, that folder's `src`, and the current folder."""
    folder = Path(declaration.folder)
    places = [str(p) for p in (folder, folder / "src", Path.cwd()) if p.is_dir()]
    for place in reversed(places):
        if place not in sys.path:
            sys.path.insert(0, place)
    yield


def _module(place: str, folder: Path) -> ModuleType:
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name and (place == error.name or place.startswith(f"{error.name}.")):
                raise GraphError(Message('No module "{}" here or in {}.', one_line(place, 200), folder)) from error
            raise raised(error) from error
        except (Exception, SystemExit) as error:
            raise raised(error) from error
    path = (folder / place).resolve()
    if not path.is_file():
        raise GraphError(Message("File {} not found.", path))
    package = _package_name(path)
    if package is not None:
        root, name = package
        if root not in sys.path:
            sys.path.insert(0, root)
        return _module(name, folder)
    return _module_of_file(path)


def _package_name(path: Path) -> tuple[str, str] | None:
    """Return where a file's package starts and its full name; None for a file outside any package."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return (str(folder), ".".join(parts)) if len(parts) > 1 and path.stem.isidentifier() else None


def _module_of_file(path: Path) -> ModuleType:
    # Types in checkpoints are known by their module's name: the same file has to get the same name each time.
    name = path.stem if path.stem.isidentifier() and not _taken(path) else f"hitl_graph_{abs(hash_of(path)):x}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if str(path.parent) not in sys.path:  # its neighbours are found, as when Python runs it
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path, loader=held_loader(name, path))
    if spec is None or spec.loader is None:
        raise GraphError(Message("{} can't be imported.", path.name))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise raised(error, path) from error
    return module


def hash_of(path: Path) -> int:
    """Return a number that stands for a path, the same in every process."""
    from hitl_tui.core.json_text import digest

    return int(digest(str(path))[:12], 16)


def _taken(path: Path) -> bool:
    """Whether a file's name is that of another module, loaded or not."""
    known = sys.modules.get(path.stem)
    if known is not None:
        return getattr(known, "__file__", None) != str(path)
    if path.stem in sys.stdlib_module_names:
        return True
    try:
        spec = importlib.util.find_spec(path.stem)
    except (ImportError, ValueError, AttributeError):
        return True
    return spec is not None and spec.origin != str(path)


def raised(error: BaseException, path: Path | None = None) -> GraphError:
    """Return the sentence for what a module raised while it was imported."""
    if isinstance(error, SyntaxError):
        file = Path(error.filename or path or "").name
        return GraphError(
            Message(
                "{} line {}: {}.",
                file,
                error.lineno or 0,
                one_line(error.msg, 200) if error.msg else Message("this isn't Python"),
            )
        )
    file, line = where(error)
    at = f"{file} line {line}" if file else "The graph"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0].replace("_", "-")
        return GraphError(
            Message('{} needs the module "{}", which isn\'t installed beside hitl-tui.', at, one_line(error.name, 100)),
            help=Message("With uv: uv run --with {} hitl-tui attach …", one_line(package, 60)),
        )
    if isinstance(error, SystemExit):
        return GraphError(
            Message("{} ended the program (SystemExit {}) while it was imported.", at, one_line(str(error.code), 60))
        )
    said = one_line(error_words(error), 300)
    return GraphError(Message("{} raised {}{}.", at, type(error).__name__, f": {said}" if said else ""))


def where(error: BaseException) -> tuple[str, int]:
    """Return file name and line of the user's own code that an exception came through last; ("", 0) if none."""
    found = ("", 0)
    for frame in traceback.extract_tb(error.__traceback__):
        if _is_theirs(frame.filename):
            found = (Path(frame.filename).name, frame.lineno or 0)
    return found


def _is_theirs(file: str) -> bool:
    ours = str(Path(__file__).parents[1]) + os.sep
    return not file.startswith(("<", ours, str(Path(os.__file__).parent))) and "site-packages" not in file


def looks_like_graph(value: object) -> bool:
    """Tell whether something is a graph or a builder of one, compiled or not, by the functional API too."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    return isinstance(value, Pregel | StateGraph)


def _only_graph(module: ModuleType, shown: str) -> object:
    graphs: Mapping[str, object] = {
        name: value for name, value in vars(module).items() if not name.startswith("_") and looks_like_graph(value)
    }
    # Of a builder and what it was compiled to, the compiled one is meant.
    builders = {id(getattr(value, "builder", None)) for value in graphs.values()}
    graphs = {name: value for name, value in graphs.items() if id(value) not in builders}
    if len(graphs) == 1:
        return next(iter(graphs.values()))
    if not graphs:
        raise GraphError(Message("{} holds no graph; expected a global such as graph = builder.compile().", shown))
    for usual in ("graph", "app", "agent"):
        if usual in graphs:
            return graphs[usual]
    raise GraphError(
        Message("{} holds {} graphs; say which: {}.", shown, len(graphs), ", ".join(f"{shown}:{n}" for n in graphs))
    )


def _missing(module: ModuleType, shown: str, attribute: str) -> str:
    names = [name for name in vars(module) if not name.startswith("__")]
    graphs = [name for name in names if looks_like_graph(vars(module)[name])]
    near = nearest(attribute, names)
    wanted = one_line(attribute, 100)
    if near:
        return Message('{} has no "{}"; did you mean "{}"?', shown, wanted, near)
    if graphs:
        return Message('{} has no "{}"; its graphs are {}.', shown, wanted, ", ".join(graphs))
    return Message('{} has no "{}".', shown, wanted)


def is_factory(value: object) -> bool:
    """Tell whether something has to be called to get a graph."""
    return callable(value) and not looks_like_graph(value) and not inspect.isclass(value)
