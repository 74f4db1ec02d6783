"""What is read without pydantic is what the schema says, and nothing that it would refuse."""

from __future__ import annotations

import copy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_tui.config.quick_reader import read_quickly
from hitl_tui.config.schema import read
from hitl_tui.config.workspace import WorkspaceConfig

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STARTERS = sorted(path for path in EXAMPLES.glob("*/hitl.toml") if path.parent.name != "agents")

WHOLE: dict[str, Any] = tomllib.loads(
    """
[defaults]
mode = "risk"
concurrency = 3
[teams.search_team]
documents = ["docs", "a.md"]
enabled = true
[teams.analysis_team]
enabled = false
[teams.document_team]
folder = "out"
[teams.command_team.commands.clean]
run = ["find", "{dir}", "-mtime", "+{days}", "{{}}"]
preview = ["ls", "{dir}"]
description = "Clean up."
titles = { en = "Clean", ko = " " }
parameters.dir = { type = "choice", choices = ["a", "b"], default = "a", description = "where", descriptions.ko = "" }
parameters.days = { type = "integer", default = 14, minimum = 1, maximum = 99 }
risk = "medium"
timeout = "1h30m"
exit_codes = [0, 1]
expect = { total = "< 3.5M", "left|남은 것" = ">= 1,000.5%" }
pins.exclude = ["*.log"]
[teams.command_team.commands.list]
run = ["ls", "{path}", "{much}", "{on}", "{text}"]
parameters.path = { type = "path", default = "." }
parameters.much = { type = "number", default = 1.5, maximum = 2 }
parameters.on = { type = "boolean", default = true }
parameters.text = { type = "string" }
timeout = 10
[[policy]]
team = "command_team"
command = "clean"
decision = "ask"
quorum = 2
level = 1
deadline = "10m"
on_deadline = "approve"
veto = false
[[policy]]
risk = "low"
decision = "allow"
[[policy]]
decision = "deny"
team = "search_team"
deadline = 5
[secrets]
names = ["TOKEN", "TOKEN", "OTHER"]
[pins]
exclude = ["cache/*", "cache/*"]
"""
)

JUNK: list[Any] = [
    "", "low", "deny", "clean", "x{dir}", "{nobody}", "/etc", "../up", "~", "10m", "sh", "a\nb", "-c",
    "search_team", "a b", "< 1", "= 3GB", "|",
    0, 1, 2, -1, 10**19, 1.5, float("nan"), float("inf"), True, False, [], [1], ["a"], [[]], {}, {"a": 1}, [{}],
    {"exclude": ["x"]}, {"type": "path"}, {"type": "choice", "choices": ["q"]}, {"run": ["ls"]}, ["sh", "-c", "{dir}"],
    {"kind": "graph", "graph": "m:g"},
]  # fmt: skip
KEYS = [
    *("mode", "enabled", "run", "preview", "risk", "team", "tool", "arguments", "command", "decision", "deadline"),
    *("on_deadline", "default", "minimum", "choices", "type", "pins", "policy", "graphs", "Clean", "new", "TOKEN", "9"),
]


@pytest.mark.parametrize("path", STARTERS, ids=lambda path: path.parent.name)
def test_the_starters_files_are_read_quickly(path: Path) -> None:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    found = read_quickly(data)
    assert isinstance(found, WorkspaceConfig) and found == read(data)


def test_a_file_with_everything_but_graphs_and_tools_is_read_quickly() -> None:
    found = read_quickly(WHOLE)
    assert isinstance(found, WorkspaceConfig)
    assert found == read(WHOLE) and repr(found) == repr(read(WHOLE))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where something stands."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


PLACES = [path for path in places(WHOLE) if path]


@pytest.mark.long
@given(st.data())
@settings(max_examples=1500)
def test_whatever_is_read_quickly_is_what_the_schema_says(data: st.DataObject) -> None:
    changed = copy.deepcopy(WHOLE)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(PLACES))
        spot: Any = changed
        for step in path[:-1]:
            fits = (isinstance(spot, dict) and step in spot) or (isinstance(spot, list) and step in range(len(spot)))
            if not fits:
                break
            spot = spot[step]
        what = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if isinstance(spot, dict):
            key = path[-1] if what != "add" else data.draw(st.sampled_from(KEYS))
            if what == "remove":
                spot.pop(key, None)
            else:
                spot[key] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
        elif isinstance(spot, list):
            if what == "remove":
                spot.clear()
            else:
                spot.append(copy.deepcopy(data.draw(st.sampled_from(JUNK))))
    found = read_quickly(changed)
    assert found is None or repr(found) == repr(read(changed))


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_no_single_change_is_taken_that_the_schema_refuses(path: tuple[Any, ...]) -> None:
    for junk in JUNK:
        changed = copy.deepcopy(WHOLE)
        spot: Any = changed
        for step in path[:-1]:
            spot = spot[step]
        spot[path[-1]] = copy.deepcopy(junk)
        found = read_quickly(changed)
        assert found is None or repr(found) == repr(read(changed)), junk


def test_a_file_in_which_nothing_is_wrong_takes_no_pydantic() -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from hitl_tui.config.loader import load_config\n"
        f"for path in {[*map(str, STARTERS)]!r}: load_config(Path(path).parent)\n"
        "print('pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
