"""What runs before anybody was asked: describing a folder's functions, tools and servers, and with which secrets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_support import Ran, Shell

from hitl_tui.policy.workspace_trust import TrustRecord

pytestmark = pytest.mark.long

SECRET = "hunter2secret"
RAN = """
import os, pathlib
with pathlib.Path(__file__).resolve().parents[1].joinpath("ran").open("a") as file:
    file.write(os.environ.get("DB_PASSWORD", "none") + "\\n")
"""
FUNCTION = '''
def vat(amount: float) -> dict:
    """Computes a tax."""
    return {"vat": amount / 10}
'''
TOOL = '''
from langchain_core.tools import tool

@tool
def vat(amount: float) -> dict:
    """Computes a tax."""
    return {"vat": amount / 10}
'''
SERVER = '''
from mcp.server.fastmcp import FastMCP
app = FastMCP("tax", log_level="ERROR")

@app.tool()
def vat(amount: float) -> float:
    """Computes a tax."""
    return amount / 10

app.run()
'''
NAMES = '[secrets]\nnames = ["DB_PASSWORD"]\n'
DECLARED = {
    "function": (FUNCTION, '[teams.vat]\nkind = "function"\nfunction = "my.py:vat"\n'),
    "tool": (TOOL, '[teams.vat]\nkind = "tool"\ntool = "my.py:vat"\n'),
    "mcp": (SERVER, f'[teams.vat]\nkind = "mcp"\nserver = {json.dumps([sys.executable, "my.py"])}\ntool = "vat"\n'),
}


def declared(root: Path, kind: str, first: str = "") -> Shell:
    """Return a trusted folder that declares the team."""
    shell = Shell(root)
    shell.env["DB_PASSWORD"] = SECRET
    source, team = DECLARED[kind]
    (shell.workspace / "my.py").write_text(first + source, encoding="utf-8")
    shell.declare(NAMES + team)
    return shell


def asked(shell: Shell) -> Ran:
    found = shell.run("run", "vat amount=5", "--session", "s1", "--mode", "step", "--json")
    assert found.code == 3 and found.json["questions"][0]["subject"]["arguments"]["input"] == {"amount": 5}, found
    return found


def change(shell: Shell, first: str = RAN) -> None:
    my = shell.workspace / "my.py"
    my.write_text(first + my.read_text(encoding="utf-8"), encoding="utf-8")


def ran(shell: Shell) -> list[str]:
    """Return what the changed module found of the secret, each time that it was executed."""
    file = shell.workspace.parent / "ran"
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize("kind", DECLARED)
def test_whoever_only_looks_executes_nothing(tmp_path: Path, kind: str) -> None:
    shell = declared(tmp_path, kind)
    question = asked(shell).json["questions"][0]
    change(shell)
    for line in (("show", "s1"), ("show", "s1", "--json"), ("sessions",), ("inbox",), ("do", "s1", "/todos")):
        assert shell.run(*line).code in (0, 3), line
    assert ran(shell) == []
    refused = shell.run("do", "s1", f"/todo approve 1 --digest {question['digest']}", "--json")
    assert refused.code in (2, 3) and "my.py" in refused.out
    assert ran(shell) == [], "whoever approves what it was is asked about what it is now"
    again = shell.run("show", "s1", "--json").json["questions"][0]
    assert again["subject"]["arguments"]["input"] == {"amount": 5.0} and "my.py" in again["about"]["changed"]
    assert again["digest"] != question["digest"] and ran(shell) == []
    done = shell.run("do", "s1", f"/todo approve 1 --digest {again['digest']}", "--json")
    assert done.json["todos"][0]["status"] == "completed", done
    assert ran(shell) == [SECRET], "what was approved runs with all that is declared"


@pytest.mark.parametrize("kind", DECLARED)
def test_what_changed_since_the_folder_was_trusted_is_described_without_secrets(tmp_path: Path, kind: str) -> None:
    shell = declared(tmp_path, kind, RAN)
    asked(shell)
    assert ran(shell) == [SECRET], "what was trusted has them"
    change(shell, "x = 1\n")
    added = shell.run("do", "s1", "/todo add vat amount=7", "--json")
    assert added.json["todos"][-1]["arguments"]["input"] == {"amount": 7.0}, added
    assert ran(shell) == [SECRET, "none"]


@pytest.mark.parametrize("kind", DECLARED)
def test_what_fails_without_secrets_names_the_file_and_what_trusts_it(tmp_path: Path, kind: str) -> None:
    shell = declared(tmp_path, kind, 'import os\nos.environ["DB_PASSWORD"]\n')
    asked(shell)
    change(shell, "x = 1\n")
    refused = shell.run("do", "s1", "/todo add vat amount=7")
    assert refused.code == 2 and "my.py changed since this folder was trusted" in refused.err, refused
    assert f"hitl-tui trust {shell.workspace}" in refused.err
    planned = shell.run("run", "What is the deposit cap?", "--session", "s2", "--json")
    assert any("my.py changed since" in note for note in planned.json["todos"][0]["metadata"]["notes"]), planned
    shell.declare((shell.workspace / "hitl.toml").read_text())
    assert shell.run("do", "s1", "/todo add vat amount=7").code in (0, 3)


def test_another_file_that_it_could_execute_counts_as_its_own(tmp_path: Path) -> None:
    shell = declared(tmp_path, "function", RAN + 'exec(open("more").read())\n')
    (shell.workspace / "more").write_text("y = 1\n")
    shell.declare((shell.workspace / "hitl.toml").read_text())
    (shell.workspace / "more").write_text("y = 2\n")
    asked(shell)
    assert ran(shell) == ["none"]


def test_a_folder_trusted_by_an_earlier_version_works_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TrustRecord.to_dict
    with monkeypatch.context() as earlier:
        earlier.setattr(TrustRecord, "to_dict", lambda self: {k: v for k, v in whole(self).items() if k != "tools"})
        shell = declared(tmp_path, "function", RAN)
    change(shell, "x = 1\n")
    asked(shell)
    assert ran(shell) == [SECRET]
