"""What the pages name exists: files, modules, functions, links and headings."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = ("hitl_tui/", "tests/", "docs/", "benchmarks/", "examples/", "themes/", ".ci/")
OF_THE_PACKAGE = re.compile(r"[a-z_]+(/[a-z_]+)*/[a-z_]+\.py(:[\w.]+)?")
DOTTED = re.compile(r"hitl_tui(\.\w+)+")

named_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())


@named_by_page
def test_every_path_exists(page: Path) -> None:
    missing = [name for name in names(page) if (OF_THE_PACKAGE.fullmatch(name) or starts(name)) and not found(name)]
    assert not missing


@named_by_page
def test_every_dotted_name_exists(page: Path) -> None:
    missing = [name for name in names(page) if DOTTED.fullmatch(name) and not dotted_found(name)]
    assert not missing


@named_by_page
def test_every_link_leads_somewhere(page: Path) -> None:
    missing = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    assert not missing


def test_the_parts_in_the_page_of_the_architecture_are_the_packages() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = page.partition("## The parts")[2].split("```")[1].strip().splitlines()[1:]
    listed: list[tuple[str, ...]] = []
    for indent, name in (found.groups() for line in lines if (found := re.match(r"( +)(\w+)/ ", line))):
        listed.append((name,) if len(indent) == 2 else (listed[-1][0], name))
    package = ROOT / "hitl_tui"
    assert [one for one in listed if not package.joinpath(*one, "__init__.py").exists()] == []
    assert {one[0] for one in listed} == {path.parent.name for path in package.glob("*/__init__.py")}
    channels = {path.parent.name for path in package.glob("channels/*/__init__.py")}
    assert {one[1] for one in listed if one[0] == "channels" and len(one) > 1} == channels


def names(page: Path) -> list[str]:
    """Return what stands in backticks."""
    return CODE.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


def starts(name: str) -> bool:
    """Return whether a name is meant as a path of the repository."""
    return name.startswith(FOLDERS) and not re.search(r"[\s*<{…]", name)


def found(name: str) -> bool:
    """Return whether a file or folder exists, below the repository or the package, with what is named in it."""
    path, _, inside = name.partition(":")
    target = next((p for p in (ROOT / path, ROOT / "hitl_tui" / path) if p.exists()), None)
    return target is not None and (not inside or defined(target, tuple(inside.split("."))))


def dotted_found(name: str) -> bool:
    """Return whether a module exists, with what is named in it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ROOT.joinpath(*parts[:length])
        for path in (module.with_suffix(".py"), module / "__init__.py"):
            if path.exists():
                return length == len(parts) or defined(path, tuple(parts[length:]))
    return False


def defined(path: Path, inside: tuple[str, ...]) -> bool:
    """Return whether a module defines a name, or a class in it that one."""
    body = tree(path).body
    for depth, name in enumerate(inside):
        here = [node for node in body if name in defines(node)]
        if not here:
            return False
        if depth + 1 < len(inside):
            body = here[0].body if isinstance(here[0], ast.ClassDef) else []
    return True


def defines(node: ast.stmt) -> set[str]:
    """Return the names that a statement gives."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


@cache
def tree(path: Path) -> ast.Module:
    """Return a module as it is written."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def test_the_readme_is_short_and_its_commands_are_whole() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 200
    assert "\npip install uv && uv run hitl-tui\n" in readme
    assert "`pip install uv && uv run pytest`" in readme
