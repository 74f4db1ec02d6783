"""What is checked: how it is named, what is read of it, and input nobody should give (I6, C10)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lint_support import HEAD, HERE, checked, found, marked, rules

from hitl_tui.core.errors import BadInput
from hitl_tui.lint.check import lint
from hitl_tui.lint.source_modules import LARGEST
from hitl_tui.wording.lint_report import report_lines

FAULT = """
def ask(state):
    try:
        interrupt("?")
    except Exception:
        pass

graph = StateGraph(State).add_node("ask", ask).compile()
"""


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "target",
    ["app.agent:graph", "app.agent", "app/agent.py", "app/agent.py:graph", "./app/agent.py:graph"],
)
def test_a_module_and_a_file_name_the_same(tmp_path: Path, target: str) -> None:
    put(tmp_path, {"app/__init__.py": "raise SystemExit", "app/agent.py": HEAD + FAULT})
    report = lint(target, tmp_path)
    assert found(report) == {("HT001", 14)}
    assert report.file == "app/agent.py"


def test_a_module_is_looked_for_here_in_src_and_where_python_looks(tmp_path: Path) -> None:
    put(tmp_path, {"src/one.py": HEAD + FAULT, "lib/two/__init__.py": HEAD + FAULT})
    assert lint("one:graph", tmp_path).file == "src/one.py"
    assert lint("two:graph", tmp_path, [str(tmp_path / "lib")]).file == "lib/two/__init__.py"


def test_an_attribute_chooses_a_graph_its_subgraphs_and_a_factorys_graph(tmp_path: Path) -> None:
    source = """
        def bad(state):
            try:
                interrupt("?")  # fault
            except Exception:
                pass

        def make():
            return StateGraph(State).add_node("bad", bad).compile()

        def make_other():
            return StateGraph(State).add_node("fine", lambda state: {}).compile()

        parent = StateGraph(State).add_node("inner", make())
        other = make_other()
        """
    assert rules(checked(tmp_path, source, attribute="parent")) == ["HT001"]
    assert rules(checked(tmp_path, source, attribute="make")) == ["HT001"]
    assert rules(checked(tmp_path, source, attribute="other")) == []
    assert rules(checked(tmp_path, source)) == ["HT001"]


def test_nothing_that_is_checked_is_run(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "pkg/__init__.py": "open('ran-package', 'w')",
            "pkg/agent.py": f"open('ran-module', 'w')\nfrom . import other\n{HEAD}{FAULT}",
            "pkg/other.py": "open('ran-import', 'w')\nraise RuntimeError",
        },
    )
    before = set(sys.modules)
    assert rules(lint("pkg.agent:graph", tmp_path)) == ["HT001"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pkg"]
    assert not any(name.startswith("pkg") for name in set(sys.modules) - before)


def test_imports_from_the_same_package_are_followed(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "app/__init__.py": "",
            "app/agent.py": HEAD
            + "from .steps import ask, deeper\nfrom app import tools as t\nimport app.tools\n"
            + "def third(state):\n    app.tools.write()\n    interrupt('?')\n"
            + "StateGraph(State).add_node(ask).add_node(deeper).add_node('two', t.Two().run).add_node(third)",
            "app/steps/__init__.py": "from .asking import *\nfrom ..tools import deeper",
            "app/steps/asking.py": HEAD
            + "__all__ = ['ask']\ndef ask(state):\n    open('a', 'w')\n    interrupt('?')\n",
            "app/tools.py": HEAD
            + "import app.agent\n"
            + "def write():\n    open('b', 'w')\n"
            + "def deeper(state):\n    write()\n    interrupt('?')\n"
            + "class Two:\n    def run(self, state):\n        write()\n        interrupt('?')\n",
        },
    )
    report = lint("app.agent", tmp_path)
    assert [(f.rule.id, f.place.file) for f in report.findings] == [
        ("HT006", "app/steps/asking.py"),
        ("HT006", "app/tools.py"),
    ]
    assert set(report.files) == {
        f"app/{n}.py" for n in ("agent", "__init__", "steps/__init__", "steps/asking", "tools")
    }


def test_a_broken_import_is_noted_and_the_rest_checked(tmp_path: Path) -> None:
    put(tmp_path, {"agent.py": f"import broken\nfrom broken import *\n{HEAD}{FAULT}", "broken.py": "def f(:\n"})
    report = lint("agent.py", tmp_path)
    assert rules(report) == ["HT001"]
    assert len(report.notes) == 1
    assert "broken.py, line 1" in str(report.notes[0])


BAD_TARGETS = {
    "": "Name a module or a file",
    ":graph": "Name a module or a file",
    "nowhere": "No Python source",
    "nowhere.mod:graph": "No Python source",
    "nowhere.py:graph": "doesn't exist",
    "folder.py": "is a folder",
    "agent.py:nothing": 'no "nothing"; its graphs are graph',
    "agent:nothing": 'no "nothing"',
    "agent.py:1": "not the name of an attribute",
    "a b:graph": "neither a module nor a path",
    "agent.py\0:graph": "neither a module nor a path",
    "./agent\0.py:graph": "doesn't exist",
    f"{'x' * 5000}.py": "can't be looked at",
}


@pytest.mark.parametrize("target", BAD_TARGETS)
def test_a_target_that_names_nothing_is_refused_in_one_sentence(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "agent.py").write_text(HEAD + FAULT)
    with pytest.raises(BadInput, match=BAD_TARGETS[target]) as refused:
        lint(target, tmp_path)
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 600


BAD_FILES = {
    "syntax": (b"x = 1\ndef f(:\n    pass\n", "line 2: this isn't Python"),
    "indentation": (b"def f():\nreturn 1\n", "line 2: this isn't Python"),
    "no UTF-8": (b"x = '\xff\xfe'\n", "this isn't Python"),
    "unknown encoding": (b"# coding: nonsense\nx = 1\n", "this isn't Python"),
    "null bytes": (b"x = 1\0\n", "this isn't Python"),
    "too large": (b"# " + b"x" * LARGEST + b"\n", "larger than 2 MB"),
    "too deep": (b"x = " + b"(" * 5000 + b")" * 5000, "isn't Python|nested too deeply"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    data, message = BAD_FILES[name]
    (tmp_path / "agent.py").write_bytes(data)
    with pytest.raises(BadInput, match=message) as refused:
        lint("agent.py", tmp_path)
    assert "\n" not in refused.value.message
    assert refused.value.message.startswith(("agent.py", "The file agent.py"))


@pytest.mark.parametrize("text", ["[" * 150 + "]" * 150, "-" * 4000 + "1", "x" + ".x" * 4000, "x" + "()" * 4000])
def test_deep_nesting_is_walked_or_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(f"{HEAD}\nx = {text}\n{FAULT}")
    try:
        assert rules(lint("agent.py", tmp_path)) == ["HT001"]
    except BadInput as refused:
        assert refused.message == "agent.py: this is nested too deeply to be checked."


def test_an_encoding_that_is_declared_is_obeyed(tmp_path: Path) -> None:
    source = f"# coding: euc-kr\n{HEAD}NAME = '한국어'\n{FAULT}"
    (tmp_path / "agent.py").write_bytes(source.encode("euc-kr"))
    assert rules(lint("agent.py", tmp_path)) == ["HT001"]


def test_functions_that_call_each_other_and_themselves_end(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        def one(state, depth=0):
            two(state, depth + 1)
            return one(state, depth)

        def two(state, depth):
            one(state, depth)
            open("a", "w")
            interrupt("?")

        class Loop:
            def run(self, state):
                return self.run(state)

            __call__ = run

        again = lambda state: again(state)
        x = [x for x in (lambda: x)()]
        StateGraph(State).add_node(one).add_node("loop", Loop()).add_node("again", again)
        """,
    )
    assert rules(report) == ["HT006"]


def test_the_report_is_the_same_in_every_process() -> None:
    program = "import sys, pathlib, json; from hitl_tui.lint.check import lint\n"
    program += "for path in sys.argv[1:]: print(json.dumps(lint(path, pathlib.Path(path).parent).to_dict()))"
    paths = [str(path) for folder in ("seeds", "held_out") for path in sorted((HERE / folder).glob("*.py"))]
    said = {
        subprocess.run(
            [sys.executable, "-c", program, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_values_that_grow_ever_deeper_are_forgotten(tmp_path: Path) -> None:
    growing = "x = [x]\ny = {'y': y, 'x': x}\nz = (z, [z])\n" * 3000
    ask = "def ask(state):\n    interrupt(x)\n\nStateGraph(State).add_node(ask)\nprint(y == z)"
    report = checked(tmp_path, f"x, y, z = 1, 2, 3\n{growing}\n{ask}")
    assert rules(report) == []


def test_imports_that_no_file_can_have_are_left_alone(tmp_path: Path) -> None:
    source = f"import {'x' * 5000}\nfrom .{'y' * 300}.z import *\nfrom ............ import a\n{HEAD}{FAULT}"
    (tmp_path / "agent.py").write_text(source)
    assert rules(lint("agent.py", tmp_path)) == ["HT001"]


def test_functions_that_no_graph_was_found_for_are_checked_alone(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        from tenacity import retry

        @retry
        def one(state):
            return interrupt("?")  # fault: HT001

        def outer():
            def two(state):
                open("a", "w")  # fault: HT006
                interrupt("?")
            return register(two)

        class Nodes:
            def three(self, state):
                interrupt({1, 2})  # fault: HT004

        outer()
        graph = StateGraph(State).compile()

        def main():
            while input() != "":
                graph.invoke({})
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")
    assert {row.node for row in report.rows} == {"one", "two", "three"}


def test_a_graph_within_itself_ends(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        builder = StateGraph(State)
        graph = builder.compile()

        def again(state):
            return graph.invoke(state)

        builder.add_node("again", again).add_node("self", graph).add_node("ask", lambda state: interrupt("?"))
        """,
    )
    assert rules(report) == []
    assert [row.node for row in report.rows if row.interrupts] == ["again", "self", "ask"]


def test_work_does_not_grow_with_the_number_of_ways_to_a_function(tmp_path: Path) -> None:
    calls = "\n".join(f"def f{n}(state):\n    f{n + 1}(state)\n    f{n + 1}(state)\n" for n in range(20))
    report = checked(tmp_path, f"{calls}\ndef f20(state):\n    return interrupt('?')\n\nStateGraph(State).add_node(f0)")
    assert report.notes == ()
    assert [row.interrupts for row in report.rows] == [True]


def test_long_chains_are_walked(tmp_path: Path) -> None:
    chain = "".join(f"    elif state['name'] == '{n}':\n        x = {n}\n" for n in range(400))
    total = " + ".join(["x"] * 2000)
    body = f"def ask(state):\n    x = 0\n    if 0:\n        pass\n{chain}    open('a', 'w')\n    y = {total}\n"
    body += "    interrupt('?')\n"
    assert rules(checked(tmp_path, f"{body}\nStateGraph(State).add_node(ask)")) == ["HT006"]


def test_names_cannot_reach_the_terminal_raw(tmp_path: Path) -> None:
    name = "agent\x1b[31m\u202e.py"
    ask = "def ask(state):\n    open('a', 'w')\n    interrupt('?')\n\n"
    source = f"{HEAD}{ask}StateGraph(State).add_node('\\x1b]0;t\\x07\\u202e', ask)\n"
    (tmp_path / name).write_text(source, encoding="utf-8")
    text = "\n".join(report_lines(lint(name, tmp_path)))
    assert "AGAIN" in text
    assert not any(character in text for character in "\x1b\x07\u202e")
    with pytest.raises(BadInput) as refused:
        lint("\x1b[2J:graph", tmp_path)
    assert "\x1b" not in refused.value.message


SHIPPED = sorted(
    (Path(sys.modules["asyncio"].__file__ or "").parent if "asyncio" in sys.modules else Path()).glob("*.py")
)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("path", [*SHIPPED, Path(__file__)], ids=lambda path: path.name)
def test_any_python_is_walked_without_an_error(path: Path) -> None:
    assert lint(str(path), path.parent).file == path.name
