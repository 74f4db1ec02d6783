"""A rule's `arguments` are those that people give, whatever carries a step out (C4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Shell

CODE = '''
from typing import TypedDict
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph

def told(to: str, amount: float) -> str:
    with open("paid", "a") as file:
        file.write(f"{to} {amount:g}\\\\n")
    return "paid"

def pay(to: str, amount: float) -> str:
    """Pays an amount."""
    return told(to, amount)

@tool
def send(to: str, amount: float) -> str:
    """Sends an amount."""
    return told(to, amount)

class Payment(TypedDict):
    to: str
    amount: float

def node(state: Payment) -> dict:
    told(state["to"], state["amount"])
    return {}

builder = StateGraph(Payment)
builder.add_node("node", node)
builder.add_edge(START, "node")
builder.add_edge("node", END)
graph = builder.compile()
'''
SERVER = '''
from mcp.server.fastmcp import FastMCP

server = FastMCP("bank")

@server.tool()
def transfer(to: str, amount: float) -> str:
    """Transfers an amount."""
    with open("paid", "a") as file:
        file.write(f"{to} {amount:g}\\\\n")
    return "paid"

server.run()
'''
TEAMS = """
[teams.pay]
kind = "function"
function = "bank.py:pay"

[teams.send]
kind = "tool"
tool = "bank.py:send"

[teams.transfer]
kind = "mcp"
server = ["python3", "server.py"]
tool = "transfer"

[teams.order]
kind = "graph"
graph = "bank.py:graph"

[teams.command_team.commands.wire]
run = ["python3", "-c", "import sys; open('paid', 'a').write(' '.join(sys.argv[1:]) + '\\\\n')", "{to}", "{amount}"]

[teams.command_team.commands.wire.parameters.to]
type = "string"

[teams.command_team.commands.wire.parameters.amount]
type = "number"
"""
RULES = """
[[policy]]
name = "no payments to Mallory"
{what}
arguments = {{ properties.to = {{ enum = ["mallory"] }}, required = ["to"] }}
decision = "deny"

[[policy]]
name = "large payments"
{what}
arguments = {{ properties.amount = {{ minimum = 1000 }} }}
decision = "ask"
quorum = 2

[[policy]]
{what}
decision = "allow"
"""
KINDS = {
    "function": ("pay", 'team = "pay"'),
    "tool": ("send", 'team = "send"'),
    "mcp": ("transfer", 'team = "transfer"'),
    "graph": ("order", 'team = "order"'),
    "command": ("command_team wire", 'team = "command_team"\ncommand = "wire"'),
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.workspace / "bank.py").write_text(CODE.replace("\\\\", "\\"), encoding="utf-8")
    (made.workspace / "server.py").write_text(SERVER.replace("\\\\", "\\"), encoding="utf-8")
    return made


def paid(shell: Shell) -> list[str]:
    file = shell.workspace / "paid"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_holds_for_the_arguments_of_a_step_as_they_are_given(shell: Shell, kind: str) -> None:
    called, what = KINDS[kind]
    shell.declare(TEAMS + RULES.format(what=what))
    assert shell.run("run", "What is the deposit cap?", "--mode", "risk", "--json").code == 0
    rulings = []
    for to, amount in (("mallory", 20), ("fay", 5000), ("fay", 20)):
        given = json.dumps({"to": to, "amount": amount})
        said = f"to={to} amount={amount}" if kind != "graph" else given
        todo = shell.run("do", "s1", f"/todo add {called} {said}", "--json").json["todos"][-1]
        name = ("--command", "wire") if kind == "command" else ("--team", called)
        checked = shell.run("policy", "check", *name, "--args", given, "--mode", "risk", "--json").json
        rulings.append((checked["ruling"], checked["rule"], todo["status"]))
    assert rulings == [("deny", 1, "failed"), ("ask", 2, "waiting_approval"), ("allow", 3, "completed")]
    assert paid(shell) == ["fay 20"]


@pytest.mark.long
def test_a_rule_about_the_exact_input_of_a_step_holds_as_well(shell: Shell) -> None:
    exact = """
[[policy]]
team = "pay"
arguments = { properties.input.properties.to = { enum = ["mallory"] }, required = ["input"] }
decision = "deny"

[[policy]]
team = "pay"
arguments = { not = { properties.input.properties.amount.minimum = 1000, required = ["input"] } }
decision = "allow"
"""
    shell.declare(TEAMS + exact)
    for to, amount, ruling in (("mallory", 20, "deny"), ("fay", 5000, "ask"), ("fay", 20, "allow")):
        given = json.dumps({"to": to, "amount": amount})
        found = shell.run("policy", "check", "--team", "pay", "--args", given, "--mode", "risk", "--json").json
        assert (found["ruling"], found["facts"]["arguments"]) == (ruling, {"to": to, "amount": amount})
