"""Find and import a graph: `module:attribute` or `path.py:attribute`.

Importing runs the user's module. Whatever it raises becomes one sentence that names the file and the line.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line
from hitl_tui.teams.graph.held import held_loader, hold
from hitl_tui.teams.graph.source import GraphSource


class GraphError(BadInput):
    """A graph can't be loaded or used; the message names file and line where there are any."""


def load_target(declaration: GraphDeclaration, source: GraphSource) -> Any:
    """Return what a declaration names, a graph, a builder of one, or a factory: the same until its source changes.

    Args:
        declaration: which graph.
        source: its files as they were read; they are imported so.

    Raises:
        GraphError: the module can't be imported, or the attribute is missing.
        BadInput: its source changed, and something else than this loaded it.
    """
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
                raise GraphError(f'There is no module "{one_line(place, 200)}" here or in {folder}.') from error
            raise raised(error) from error
        except (Exception, SystemExit) as error:
            raise raised(error) from error
    path = (folder / place).resolve()
    if not path.is_file():
        raise GraphError(f"There is no file {path}.")
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
        raise GraphError(f"{path.name} can't be imported.")
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
        return GraphError(f"{file} line {error.lineno or 0}: {one_line(error.msg or 'this is no Python', 200)}.")
    file, line = where(error)
    at = f"{file} line {line}" if file else "The graph"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0].replace("_", "-")
        return GraphError(
            f'{at} needs the module "{one_line(error.name, 100)}", which isn\'t installed beside hitl-tui.',
            help=f"With uv: uv run --with {one_line(package, 60)} hitl-tui attach …",
        )
    if isinstance(error, SystemExit):
        return GraphError(f"{at} ended the program (SystemExit {one_line(str(error.code), 60)}) while it was imported.")
    said = one_line(str(error), 300)
    return GraphError(f"{at} raised {type(error).__name__}{f': {said}' if said else ''}.")


def where(error: BaseException) -> tuple[str, int]:
    """Return file name and line of the user's own code that an exception came through last; ("", 0) if none."""
    found = ("", 0)
    for frame in traceback.extract_tb(error.__traceback__):
        if _is_theirs(frame.filename):
            found = (Path(frame.filename).name, frame.lineno or 0)
    return found


def _is_theirs(file: str) -> bool:
    ours = str(Path(__file__).parents[2]) + os.sep
    return not file.startswith(("<", ours, str(Path(os.__file__).parent))) and "site-packages" not in file


def looks_like_graph(value: Any) -> bool:
    """Tell whether something is a graph or a builder of one, compiled or not, by the functional API too."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    return isinstance(value, Pregel | StateGraph)


def _only_graph(module: ModuleType, shown: str) -> Any:
    graphs: Mapping[str, Any] = {
        name: value for name, value in vars(module).items() if not name.startswith("_") and looks_like_graph(value)
    }
    # Of a builder and what it was compiled to, the compiled one is meant.
    builders = {id(getattr(value, "builder", None)) for value in graphs.values()}
    graphs = {name: value for name, value in graphs.items() if id(value) not in builders}
    if len(graphs) == 1:
        return next(iter(graphs.values()))
    if not graphs:
        raise GraphError(f"{shown} holds no graph; expected a global such as graph = builder.compile().")
    for usual in ("graph", "app", "agent"):
        if usual in graphs:
            return graphs[usual]
    raise GraphError(f"{shown} holds {len(graphs)} graphs; say which: {', '.join(f'{shown}:{n}' for n in graphs)}.")


def _missing(module: ModuleType, shown: str, attribute: str) -> str:
    names = [name for name in vars(module) if not name.startswith("__")]
    graphs = [name for name in names if looks_like_graph(vars(module)[name])]
    near = difflib.get_close_matches(attribute, names, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else f"; its graphs are {', '.join(graphs)}." if graphs else "."
    return f'{shown} has no "{one_line(attribute, 100)}"{hint}'


def is_factory(value: Any) -> bool:
    """Tell whether something has to be called to get a graph."""
    return callable(value) and not looks_like_graph(value) and not inspect.isclass(value)
