"""Functions of a workspace as teams, from declaration to result, as a person's shell sees them (D18)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_support import Ran, Shell
from trusting import trust_workspace

pytestmark = pytest.mark.long

QUESTION = "What is the deposit cap?"
MY = '''
import os, pathlib
pathlib.Path(__file__).with_name("imported").touch()

def vat(amount: float, rate: float = 0.1) -> dict:
    """Computes the value added tax of an amount."""
    print("computing")
    return {"vat": amount * rate}

def double(inputs: dict, label: str = "twice") -> str:
    return f"{label}: {2 * sum(part['data'].get('vat', 0) for part in inputs.values()):g}"

def shaky(path: str = "tries") -> int:
    file = pathlib.Path(path)
    tries = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(tries))
    if tries < 3:
        raise RuntimeError(f"try {tries}")
    return tries
'''
DECLARED = """
[teams.vat]
kind = "function"
function = "my.py:vat"
risk = "low"

[teams.double]
kind = "function"
function = "my.py:double"
description = "Doubles what the others found."
risk = "medium"

[teams.shaky]
kind = "function"
function = "my.py:shaky"
{shaky}
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.workspace / "my.py").write_text(MY, encoding="utf-8")
    made.declare(DECLARED.format(shaky='risk = "low"\nretries = 2'))
    assert made.run("run", QUESTION, "--json").code == 3
    assert made.run("do", "s1", "/todo approve todo_001", "--json").code == 0
    return made


def do(shell: Shell, *lines: str) -> Ran:
    return shell.run("do", "s1", *lines, "--json")


def last(ran: Ran) -> dict[str, Any]:
    todo: dict[str, Any] = ran.json["todos"][-1]
    return todo


def test_nothing_of_it_is_imported_before_the_folder_is_trusted(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (shell.workspace / "my.py").write_text(MY, encoding="utf-8")
    (shell.workspace / "hitl.toml").write_text(DECLARED.format(shaky=""), encoding="utf-8")
    assert shell.run("run", QUESTION, "--json").code == 3
    refused = do(shell, "/todo add vat amount=1")
    assert refused.code == 2 and "works only once this folder is trusted" in refused.json["error"]
    shown = shell.run("trust", "--show", "--json").json
    assert {"kind": "tool", "name": "vat", "text": "my.py:vat", "risk": "high", "file": "hitl.toml"} in shown["wants"]
    assert "import a function" in shell.run("trust", "--show").out
    assert not (shell.workspace / "imported").exists()
    trust_workspace(shell.data, shell.workspace)
    assert shell.run("do", "s1", "/todo add vat amount=1", "--json").code == 3
    assert (shell.workspace / "imported").exists()


def test_a_function_is_added_asked_about_and_called(shell: Shell) -> None:
    added = do(shell, "/todo add vat amount=50000")
    todo = last(added)
    assert todo["arguments"]["input"] == {"amount": 50000, "rate": 0.1}
    assert (todo["arguments"]["calls"], todo["risk"], todo["agent_name"]) == ("my.py:vat", "low", "vat")
    assert todo["name"] == "vat amount=50000"
    assert todo["agent_purpose"] == "Computes the value added tax of an amount."
    shown = shell.run("show", "s1").out
    assert "my.py:vat" in shown and "50000" in shown
    done = do(shell, f"/todo approve {todo['id']}")
    assert last(done)["status"] == "completed", done.out
    result = do(shell, f"/todo show {todo['id']}").json["result"]
    assert result["data"] == {"vat": 5000.0}


def test_the_record_says_what_it_was_called_with_and_what_was_edited(shell: Shell) -> None:
    todo = last(do(shell, "/todo add vat amount=50000"))
    edited = last(do(shell, f"/todo edit {todo['id']} rate=0.2"))
    assert do(shell, f"/todo approve {edited['id']}").code == 0
    lines = shell.run("audit", "s1").out
    assert "vat amount=50000 rate=0.2" in lines and "rate 0.1 → 0.2" in lines, lines
    assert "calls" not in lines and "my.py" not in lines, "what follows from its declaration isn't what was edited"


def test_what_is_edited_keeps_the_rest_and_is_called_by_its_new_words(shell: Shell) -> None:
    todo = last(do(shell, "/todo add vat amount=50000"))
    edited = last(do(shell, f"/todo edit {todo['id']} rate=0.2"))
    assert edited["arguments"]["input"] == {"amount": 50000, "rate": 0.2}
    assert edited["description"] == "amount=50000 rate=0.2"
    assert edited["name"] == "vat amount=50000 rate=0.2"
    assert last(do(shell, f'/todo edit {todo["id"]} {{"amount": 7}}'))["arguments"]["input"] == {
        "amount": 7,
        "rate": 0.2,
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/todo add vat", '"amount"'),
        ("/todo add vat amount=much", 'amount must be a number, but it is the text "much"'),
        ("/todo add vat amont=3", 'did you mean "amount"'),
        ("/todo add vat rate=0.2", 'vat needs the parameter "amount" (a number)'),
    ],
)
def test_wrong_arguments_are_refused_by_name(shell: Shell, line: str, said: str) -> None:
    refused = do(shell, line)
    assert refused.code == 2 and said in refused.json["error"], refused.out
    assert len(shell.run("show", "s1", "--json").json["todos"]) == 1


def test_it_gets_the_results_of_what_it_depends_on(shell: Shell) -> None:
    first = last(do(shell, "/todo add vat amount=50000"))
    second = last(do(shell, f"/todo add double --after {first['id']}"))
    do(shell, f"/todo approve {first['id']}")
    done = do(shell, f"/todo approve {second['id']}")
    assert last(done)["status"] == "completed", done.out
    assert do(shell, f"/todo show {second['id']}").json["result"]["text"] == "twice: 10000\n"


def test_a_change_of_its_file_asks_anew(shell: Shell) -> None:
    todo = last(do(shell, "/todo add vat amount=50000"))
    before = todo["arguments"]["programs"]
    (shell.workspace / "my.py").write_text(MY.replace("amount * rate", "'stolen'"), encoding="utf-8")
    asked = do(shell, f"/todo approve {todo['id']}")
    assert last(asked)["status"] == "waiting_approval"
    (question,) = [q for q in asked.json["questions"] if q["todo_id"] == todo["id"]]
    assert question["about"]["changed"] == ["my.py"]
    assert last(asked)["arguments"]["programs"] != before


def test_low_risk_is_tried_again_by_itself(shell: Shell) -> None:
    todo = last(do(shell, "/todo add shaky"))
    done = do(shell, f"/todo approve {todo['id']}")
    assert (last(done)["status"], last(done)["retry_count"]) == ("completed", 2), done.out
    assert (shell.workspace / "tries").read_text() == "3"


@pytest.mark.parametrize(
    ("declared", "status", "tries"),
    [
        ('risk = "high"', "failed", "1"),
        ('risk = "medium"\nretries = 2\nidempotent = true\npins.exclude = ["my.py"]', "completed", "3"),
        ('risk = "high"\noptional = true', "skipped", "1"),
    ],
)
def test_what_may_not_be_done_twice_is_asked_about(shell: Shell, declared: str, status: str, tries: str) -> None:
    shell.declare(DECLARED.format(shaky=declared))
    asked = do(shell, "/todo add shaky")
    question = next(q for q in asked.json["questions"] if q["todo_id"] == last(asked)["id"])
    done = do(shell, f"/todo approve {question['todo_id']} --digest {question['digest']}")
    assert last(done)["status"] == status, done.out
    assert (shell.workspace / "tries").read_text() == tries
    if status == "failed":
        assert "raised RuntimeError: try 1" in last(done)["error"]


def test_a_setting_that_means_nothing_is_named(shell: Shell) -> None:
    for declared, said in (
        ("retries = 2", '"retries" in [teams.shaky] needs risk = "low" or idempotent = true'),
        ('saver = "x.db"', '"saver" in [teams.shaky] has no meaning for a team of kind "function"'),
        ("optoinal = true", "optional"),
    ):
        (shell.workspace / "hitl.toml").write_text(DECLARED.format(shaky=declared), encoding="utf-8")
        refused = shell.run("run", QUESTION, "--json")
        assert refused.code == 2 and said in refused.json["error"], refused.out


SHOP = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("shop")

@server.tool()
def price(name: str) -> int:
    return len(name)

server.run()
"""
KINDS = """
[teams.price]
kind = "mcp"
server = ["python3", "shop.py"]
tool = "price"
risk = "low"

[teams.shout]
kind = "tool"
tool = "tools.py:shout"
risk = "low"
"""
TOOLS = """
from langchain_core.tools import tool

@tool
def shout(text: str) -> str:
    "Says it loudly."
    return text.upper()
"""


def test_tools_of_langchain_and_of_mcp_servers_are_teams_too(shell: Shell) -> None:
    (shell.workspace / "shop.py").write_text(SHOP, encoding="utf-8")
    (shell.workspace / "tools.py").write_text(TOOLS, encoding="utf-8")
    shell.declare(KINDS)
    wants = [(w["kind"], w["name"], w["text"]) for w in shell.run("trust", "--show", "--json").json["wants"]]
    assert wants == [("tool", "shout", "tools.py:shout"), ("server", "price", "price @ python3 shop.py")]
    for line, data in (("price name=lamp", {"result": 4}), ("shout hello", {"value": "HELLO"})):
        todo = last(do(shell, f"/todo add {line}"))
        assert last(do(shell, f"/todo approve {todo['id']}"))["status"] == "completed"
        assert do(shell, f"/todo show {todo['id']}").json["result"]["data"] == data
    (shell.workspace / "hitl.toml").write_text(
        '[teams.x]\nkind = "mcp"\nserver = "shop.py"\ntool = "x"', encoding="utf-8"
    )
    refused = shell.run("run", QUESTION, "--json")
    assert refused.code == 2 and "must be an address (https://…)" in refused.json["error"]


def test_an_edited_question_goes_on_to_the_steps_that_ask_it_whatever_they_call_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (shell.workspace / "my.py").write_text(
        "def ask(question: str, most: int = 1) -> str: return question\n"
        "def judge(instruction: str) -> str: return instruction\n",
        encoding="utf-8",
    )
    shell.declare("".join(f'[teams.{n}]\nkind = "function"\nfunction = "my.py:{n}"\n' for n in ("ask", "judge")))
    shell.run("run", QUESTION, "--mode", "risk", "--json")
    for added in ('ask question="How much is it?"', 'judge instruction="How much is it?" --after 2'):
        assert do(shell, f"/todo add {added}").code in (0, 3)
    assert do(shell, '/todo add judge instruction="Another one?" --after 2').code in (0, 3)
    edited = do(shell, '/todo edit 2 question="How much was it?"').json
    inputs = [todo["arguments"]["input"] for todo in edited["todos"][1:]]
    assert inputs == [
        {"question": "How much was it?", "most": 1},
        {"instruction": "How much was it?"},
        {"instruction": "Another one?"},
    ]
