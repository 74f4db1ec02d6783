"""Which files a graph's code is, found without running it, and that what is imported of it is what was read."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.graphs.graph_source import MOST_NAMED, source_of
from hitl_tui.graphs.graph_target import load_target
from hitl_tui.policy.executable_files import Bindings


@pytest.fixture(autouse=True)
def _imports() -> Iterator[None]:
    """Leave what can be imported as it was."""
    path, modules, finders = list(sys.path), set(sys.modules), list(sys.meta_path)
    yield
    sys.path[:], sys.meta_path[:] = path, finders
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__in__', '/').replace('__init', '/__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def named(root: Path, target: str = "agent_x.py:graph") -> GraphDeclaration:
    return GraphDeclaration("x", target, str(root))


def loaded(root: Path, target: str = "agent_x.py:graph") -> Any:
    declaration = named(root, target)
    return load_target(declaration, source_of(declaration))


def test_the_source_is_the_file_and_what_it_imports_from_the_workspace(tmp_path: Path) -> None:
    root = tmp_path / "w"
    write(
        root,
        agent_x="raise SystemExit\nimport os, json\nfrom pkg_x.inner import *\nimport importlib as i\n"
        "def later():\n    import lazy_x\n    i.import_module('named_x')\n    i.import_module('no' + 'ne')\n",
        pkg_x__init="",
        pkg_x__in__inner__init="__all__ = ['star']\nfrom ..near import thing\n",
        pkg_x__in__inner__in__star="import lxml_x",
        pkg_x__in__near="from . import beside\n",
        pkg_x__in__beside="this isn't Python",
        lazy_x="import agent_x\n",
        named_x="",
        src__in__deep_x="",
        none="",
        unused_x="",
    )
    write(root / "lib" / "site-packages", lxml_x="")
    (root / "named_x.py").write_text("from deep_x import *\n", encoding="utf-8")
    found = source_of(named(root)).programs
    assert sorted(found) == [
        *("agent_x.py", "lazy_x.py", "named_x.py", "pkg_x/__init__.py", "pkg_x/beside.py", "pkg_x/inner/__init__.py"),
        *("pkg_x/inner/star.py", "pkg_x/near.py", "src/deep_x.py"),
    ]
    assert found["named_x.py"] == hashlib.sha256(b"from deep_x import *\n").hexdigest()
    assert source_of(named(root, "pkg_x.near:graph")).programs.keys() == {
        *("pkg_x/__init__.py", "pkg_x/near.py", "pkg_x/beside.py")
    }
    assert not source_of(named(root, "langgraph.graph:StateGraph")).programs, "an installed package is no part of it"
    write(tmp_path / "away", agent_x="import none")
    outside = source_of(named(root, f"{tmp_path / 'away' / 'agent_x.py'}:graph")).programs
    assert list(outside) == [str(tmp_path / "away" / "agent_x.py")]


def test_a_file_that_comes_before_another_changes_the_source_and_many_files_are_one_entry(tmp_path: Path) -> None:
    write(tmp_path, agent_x="import helper_x\n", helper_x="")
    before = source_of(named(tmp_path)).programs
    write(tmp_path, helper_x__init="")
    changed = Bindings().changed(before, source_of(named(tmp_path)).programs)
    assert changed == ["helper_x.py", "helper_x/__init__.py"]
    many = {f"many_{n}": "" for n in range(30)}
    write(tmp_path, agent_x="".join(f"import {name}\n" for name in many), **many)
    first = source_of(named(tmp_path)).programs
    assert len(first) == MOST_NAMED + 1 and f"{31 - MOST_NAMED} more files" in first
    write(tmp_path, many_29="import os\n")
    assert Bindings().changed(first, source_of(named(tmp_path)).programs) == ["19 more files"]


def test_what_is_loaded_is_what_was_read_and_is_loaded_anew_when_it_changed(tmp_path: Path) -> None:
    body = "import helper_x\ngraph = [helper_x.said]\ndef later():\n    import lazy_x\n    return lazy_x.said\n"
    write(tmp_path, agent_x=body, helper_x="said = 1\n", lazy_x="said = 1\n")
    declaration = named(tmp_path)
    source = source_of(declaration)
    write(tmp_path, helper_x="said = 2\n", lazy_x="said = 2\n")
    graph = load_target(declaration, source)
    assert graph == [1], "the file changed between its hash and its import"
    assert sys.modules["agent_x"].later() == 1, "and before what is imported later"
    assert loaded(tmp_path) == [2]
    fresh = loaded(tmp_path)
    assert fresh is loaded(tmp_path), "the same while nothing changes"
    (tmp_path / "helper_x.py").unlink()
    with pytest.raises(BadInput, match="helper_x"):
        loaded(tmp_path)


def test_another_graph_with_the_same_module_is_loaded_anew_too(tmp_path: Path) -> None:
    body = "from common_x import said\ngraph = [said]\n"
    write(tmp_path, agent_x=body, other_x=body, common_x="said = 1\n")
    assert (loaded(tmp_path), loaded(tmp_path, "other_x:graph")) == ([1], [1])
    write(tmp_path, common_x="said = 2\n")
    assert loaded(tmp_path) == [2]
    assert loaded(tmp_path, "other_x:graph") == [2]


def test_compiled_remains_of_a_file_are_never_run(tmp_path: Path) -> None:
    write(tmp_path, agent_x="import helper_x\ngraph = [helper_x.said]\n", helper_x="said = 9\n")
    helper = tmp_path / "helper_x.py"
    py_compile.compile(str(helper), importlib.util.cache_from_source(str(helper)))
    kept = helper.stat()
    helper.write_text("said = 1\n", encoding="utf-8")
    os.utime(helper, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert loaded(tmp_path) == [1]


def test_what_something_else_loaded_is_not_loaded_twice(tmp_path: Path) -> None:
    write(tmp_path, agent_x="import helper_x\ngraph = [helper_x.said]\n", helper_x="said = 1\n")
    sys.path.insert(0, str(tmp_path))
    helper = importlib.import_module("helper_x")
    assert loaded(tmp_path) == [1] and sys.modules["helper_x"] is helper
    write(tmp_path, helper_x="said = 2\n")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"helper_x\.py changed since this program loaded it"):
            loaded(tmp_path)
