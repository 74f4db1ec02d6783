"""The world of attached graphs, a model server for those that need one, and the terminal of the terminal tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "terminal"))

from model_server import model_server
from real_cases import Case
from real_support import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A data folder, a workspace and a world of the test's own."""
    return Place(tmp_path)


@pytest.fixture
def ready(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A place where the test's `case` can run: with a model that answers, where it needs one."""
    case: Case = request.getfixturevalue("case")
    for module in case.needs:
        if find_spec(module) is None:
            pytest.skip(f"{case.name} needs {module}: uv run --group graphs pytest -m long tests/attached")
    if not case.needs:
        yield Place(tmp_path)
        return
    with model_server() as model:
        yield Place(tmp_path, model.environ)
