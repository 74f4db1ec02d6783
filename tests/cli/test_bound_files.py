"""What a high-risk step may execute is what it was when somebody approved it, however it is reached (T5)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_support import Ran, Shell
from trusting import trust_workspace

SHOWN, SWAPPED = "shown", "swapped"

AGENT = """
import importlib
from typing import TypedDict
from langgraph.graph import StateGraph, START, END
{imports}

class Job(TypedDict, total=False):
    name: str

def act(state):
{act}
    return {{}}

builder = StateGraph(Job)
builder.add_node("act", act)
builder.add_edge(START, "act")
builder.add_edge("act", END)
graph = builder.compile()
"""


def sh(what: str) -> str:
    return f': > "$OUT/{what}"\n'


def py(what: str) -> str:
    return f'import os, pathlib\npathlib.Path(os.environ["OUT"], "{what}").touch()\n'


def plug(what: str) -> str:
    return f'def act():\n    import os, pathlib\n    pathlib.Path(os.environ["OUT"], "{what}").touch()\n'


Change = Callable[[Path], None]


def write(path: str, text: str, mode: int = 0o644) -> Change:
    """Return what writes a file of the workspace."""

    def change(root: Path) -> None:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    return change


def link(path: str, target: str) -> Change:
    def change(root: Path) -> None:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.symlink_to(target)

    return change


def executable(path: str) -> Change:
    return lambda root: (root / path).chmod(0o755)


def in_place(path: str, text: str) -> Change:
    """Return what changes a file and gives it its times back."""

    def change(root: Path) -> None:
        before = (root / path).stat()
        (root / path).write_text(text, encoding="utf-8")
        os.utime(root / path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change


def removed(path: str) -> Change:
    return lambda root: (root / path).unlink()


@dataclass(frozen=True)
class Way:
    """How a changed file comes to be executed.

    Args:
        run: the declared command's argument vector; empty for a graph.
        files: what makes the workspace.
        swap: what changes it while the question is open.
        named: the file that the new question has to name.
        task: what is added behind the name of the command or graph.
        table: what the declaration says besides.
    """

    run: Sequence[str]
    files: Sequence[Change]
    swap: Sequence[Change]
    named: str
    task: str = ""
    table: str = ""


def graph(imports: str, act: str) -> Change:
    return write("agent.py", AGENT.format(imports=imports, act=act))


def repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)


JOB = '\nparameters.job = { type = "choice", choices = ["clean", "other"] }'
FILE = '\nparameters.file = { type = "path" }'
WAYS: dict[str, Way] = {
    "module with -m": Way(
        ["python3", "-m", "tools.main"],
        [write("tools/main.py", py(SHOWN))],
        [write("tools/main.py", py(SWAPPED))],
        "tools/main.py",
    ),
    "make": Way(
        ["make", "-s", "job"],
        [write("Makefile", f"job:\n\t@{sh(SHOWN)}".replace("$OUT", "$$OUT"))],
        [write("Makefile", f"job:\n\t@{sh(SWAPPED)}".replace("$OUT", "$$OUT"))],
        "Makefile",
    ),
    "link to outside": Way(
        ["sh", "tools/job.sh"],
        [write("../away/job.sh", sh(SHOWN)), link("tools/job.sh", "../../away/job.sh")],
        [write("../away/job.sh", sh(SWAPPED))],
        "tools/job.sh",
    ),
    "placeholder in a name": Way(
        ["sh", "tools/{job}.sh"],
        [write("tools/clean.sh", sh(SHOWN))],
        [write("tools/clean.sh", sh(SWAPPED))],
        "tools/clean.sh",
        task="job=clean",
        table=JOB,
    ),
    "sh -c": Way(
        ["sh", "-c", "sh tools/x.sh"],
        [write("tools/x.sh", sh(SHOWN))],
        [write("tools/x.sh", sh(SWAPPED))],
        "tools/x.sh",
    ),
    "script without ending or execute bit": Way(
        ["sh", "tools/job"], [write("tools/job", sh(SHOWN))], [write("tools/job", sh(SWAPPED))], "tools/job"
    ),
    "script named by a path parameter": Way(
        ["sh", "{file}"],
        [write("jobs/a", sh(SHOWN))],
        [write("jobs/a", sh(SWAPPED))],
        "jobs/a",
        task="file=jobs/a",
        table=FILE,
    ),
    "imported helper": Way(
        ["python3", "tools/main.py"],
        [write("tools/main.py", "import helper\n"), write("tools/helper.py", py(SHOWN))],
        [write("tools/helper.py", py(SWAPPED))],
        "tools/helper.py",
    ),
    "module that shadows the standard library": Way(
        ["python3", "tools/main.py"],
        [write("tools/main.py", f"import json\n{py(SHOWN)}")],
        [write("tools/json.py", py(SWAPPED))],
        "tools/json.py",
    ),
    "sourced file": Way(
        ["sh", "tools/main.sh"],
        [write("tools/main.sh", ". conf/env\n"), write("conf/env", sh(SHOWN))],
        [write("conf/env", sh(SWAPPED))],
        "conf/env",
    ),
    "script named as it is": Way(
        ["sh", "tools/x.sh"], [write("tools/x.sh", sh(SHOWN))], [write("tools/x.sh", sh(SWAPPED))], "tools/x.sh"
    ),
    "program of the workspace": Way(
        ["./job"],
        [write("job", f"#!/bin/sh\n{sh(SHOWN)}", 0o755)],
        [write("job", f"#!/bin/sh\n{sh(SWAPPED)}", 0o755)],
        "job",
    ),
    "file with a shebang": Way(
        ["sh", "job"],
        [write("job", f"#!/bin/sh\n{sh(SHOWN)}")],
        [write("job", f"#!/bin/sh\n{sh(SWAPPED)}")],
        "job",
    ),
    "same size and time": Way(
        ["sh", "-c", ". ./env"],
        [write("env", sh("abcdefg"))],
        [in_place("env", sh(SWAPPED))],
        "env",
    ),
    "link that is turned": Way(
        ["sh", "-c", "sh current/job"],
        [write("v1/job", sh(SHOWN)), write("v2/job", sh(SWAPPED)), link("current", "v1")],
        [link("current", "v2")],
        "current",
    ),
    "folder behind a link to outside": Way(
        ["python3", "-m", "lib.job"],
        [write("../away/lib/job.py", py(SHOWN)), link("lib", "../away/lib")],
        [write("../away/lib/job.py", py(SWAPPED))],
        "lib/job.py",
    ),
    "execute bit set later": Way(
        ["sh", "-c", "if [ -x tools/x ]; then tools/x; else tools/y; fi"],
        [write("tools/x", f"#!/bin/sh\n{sh(SWAPPED)}"), write("tools/y", f"#!/bin/sh\n{sh(SHOWN)}", 0o755)],
        [executable("tools/x")],
        "tools/x",
    ),
    "file that is removed": Way(
        ["sh", "-c", f"if [ -e guard ]; then {sh(SHOWN).strip()}; else {sh(SWAPPED).strip()}; fi"],
        [write("guard", "")],
        [removed("guard")],
        "guard",
    ),
    "name with a line break": Way(
        ["sh", "-c", 'for f in hooks/*; do sh "$f"; done'],
        [write("hooks/a", sh(SHOWN))],
        [write("hooks/b\nc", sh(SWAPPED))],
        "hooks/b\nc",
    ),
    "hook of git": Way(
        ["sh", "-c", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && " + sh(SHOWN).strip()],
        [repository],
        [write(".git/hooks/pre-commit", f"#!/bin/sh\n{sh(SWAPPED)}", 0o755)],
        ".git/hooks/pre-commit",
    ),
    "document that a script runs": Way(
        ["sh", "tools/main.sh"],
        [write("tools/main.sh", ". docs/steps.md\n"), write("docs/steps.md", sh(SHOWN))],
        [write("docs/steps.md", sh(SWAPPED))],
        "docs/steps.md",
    ),
    "script among the reports": Way(
        ["sh", "-c", "sh reports/x.sh"],
        [write("reports/x.sh", sh(SHOWN))],
        [write("reports/x.sh", sh(SWAPPED))],
        "reports/x.sh",
    ),
    "hidden start file": Way(
        ["sh", "-c", ". ./.profile"],
        [write(".profile", sh(SHOWN))],
        [write(".profile", sh(SWAPPED))],
        ".profile",
    ),
    "find that executes": Way(
        ["find", "jobs", "-type", "f", "-exec", "sh", "{{}}", ";"],
        [write("jobs/a", sh(SHOWN))],
        [write("jobs/a", sh(SWAPPED))],
        "jobs/a",
    ),
    "graph that imports by a name it makes": Way(
        [],
        [graph("", '    importlib.import_module("plug" + "in").act()'), write("plugin.py", plug(SHOWN))],
        [write("plugin.py", plug(SWAPPED))],
        "plugin.py",
    ),
    "graph that imports so at its start": Way(
        [],
        [graph('plugin = importlib.import_module("plug" + "in")', "    plugin.act()"), write("plugin.py", plug(SHOWN))],
        [write("plugin.py", plug(SWAPPED))],
        "plugin.py",
    ),
    "graph that runs what it reads": Way(
        [],
        [graph("", '    exec(open("steps.txt").read())'), write("steps.txt", py(SHOWN))],
        [write("steps.txt", py(SWAPPED))],
        "steps.txt",
    ),
}


class Desk:
    """A session with one command or graph as its only way to do anything.

    Args:
        root: an empty folder.
        way: what the workspace is made of.
        run: runs `hitl-tui`.
    """

    def __init__(self, root: Path, way: Way) -> None:
        self.shell = Shell(root)
        self.root, self.out = self.shell.workspace, root / "out"
        shutil.rmtree(self.root)
        for folder in (self.root, self.out):
            folder.mkdir()
        self.shell.env["OUT"] = str(self.out)
        (self.root / "cap.md").write_text("# Cap\n\nThe cap.\n", encoding="utf-8")
        (self.root / "hitl.toml").write_text(declaration(way), encoding="utf-8")
        for change in way.files:
            change(self.root)
        trust_workspace(self.shell.data, self.root)

    def do(self, line: str) -> Ran:
        return self.shell.process("do", "s1", line, "--json")

    @property
    def ran(self) -> set[str]:
        return {path.name for path in self.out.iterdir()}

    def begin(self, task: str) -> dict[str, Any]:
        """Let a session ask whether the command or graph may run; return the question."""
        begun = self.shell.process("run", "the cap", "--mode", "risk", "--json")
        assert begun.code == 0, begun
        added = self.do(f"/todo add {task}")
        assert added.code == 3, added
        return self.asked(added)

    @staticmethod
    def asked(ran: Ran) -> dict[str, Any]:
        (question,) = ran.json["questions"]
        assert isinstance(question, dict)
        return question


def declaration(way: Way) -> str:
    if not way.run:
        return '[teams.helper]\nkind = "graph"\ngraph = "agent.py:graph"\n'
    env = 'secrets.names = ["OUT"]\n'
    return f"{env}[teams.command_team.commands.job]\nrun = {json.dumps(list(way.run))}{way.table}\n"


_ONE = "module with -m"


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == _ONE else pytest.mark.slow) for name in WAYS])
def test_what_was_swapped_while_the_question_was_open_is_asked_about_anew(tmp_path: Path, name: str) -> None:
    way = WAYS[name]
    desk = Desk(tmp_path, way)
    task = f"command_team job {way.task}" if way.run else 'helper {"name": "x"}'
    question = desk.begin(task)
    for change in way.swap:
        change(desk.root)
    refused = desk.do(f"/todo approve {question['todo_id']} --digest {question['digest']}")
    assert SWAPPED not in desk.ran and SHOWN not in desk.ran, refused
    assert refused.code == 2 and "changed since you were asked" in refused.json["message"], refused
    again = desk.asked(desk.do("/todos"))
    assert again["digest"] != question["digest"]
    whole = str(desk.root / way.named)  # what is run is named as it is found, too
    assert [name for name in again["about"]["changed"] if name != whole] == [way.named]
    approved = desk.do(f"/todo approve {again['todo_id']} --digest {again['digest']}")
    assert SWAPPED in desk.ran, approved
