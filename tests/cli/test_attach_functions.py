"""Functions, LangChain tools and Runnables, attached as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

MY = """
import functools
import pathlib
from typing import Annotated, Literal, TYPE_CHECKING
from pydantic import BaseModel, Field
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import StateGraph
from langgraph.types import interrupt

def vat(amount: Annotated[float, "in won"], rate: float = 0.1) -> dict:
    open("called", "a").write("x")
    return {"vat": amount * rate}

async def shout(text: str) -> str:
    return text.upper()

def careful(to: str, text: str) -> str:
    answer = interrupt({"question": f"Send to {to}?"})
    return f"{text}: {answer}"

@tool
def price(name: str, times: int = 2) -> int:
    "Looks a price up."
    return len(name) * times

double = RunnableLambda(lambda n: 2 * n).with_types(input_type=int, output_type=int)

def factory(config: RunnableConfig):
    builder = StateGraph(dict)
    builder.add_node("a", lambda state: state)
    builder.set_entry_point("a")
    return builder.compile()

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

def make(settings: dict, debug: bool = False) -> "CompiledStateGraph":
    return factory(settings)

def pay(amount: int = 5, to: str = "ACME") -> str:
    open("called", "a").write("x")
    return f"{amount} {to}"

class Payer:
    def __call__(self, amount: int) -> str:
        return pay(amount)

class LaterPayer:
    async def __call__(self, amount: int) -> str:
        return pay(amount)

payer, later = Payer(), LaterPayer()
part = functools.partial(pay, to="ann")

async def slow(seconds: float = 0.1):
    return pay(1)

def none() -> str:
    return pay(1)

def untyped(amount):
    return pay(amount)

def placed(amount: int, /) -> str:
    return pay(amount)

class Point(BaseModel):
    x: int = Field(ge=0)

def draw(points: list[Point], pen: Literal["red", "blue"] = "red") -> str:
    return pay(1)

def wrong(text: str) -> str:
    return str(Point(x=-1))

def anything(*args, **kwargs):
    return pay(1)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.workspace / "my.py").write_text(MY, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("vat", {"amount": 50000}, {"vat": 5000.0}),
        ("vat", {"amount": 50000, "rate": 0.2}, {"vat": 10000.0}),
        ("shout", {"text": "hello"}, "HELLO"),
        ("price", {"name": "lamp"}, 8),
        ("double", {"input": 21}, 42),
        ("pay", {"amount": 7}, "7 ACME"),
        ("payer", {"amount": 7}, "7 ACME"),
        ("later", {"amount": 7}, "7 ACME"),
        ("part", {"amount": 7}, "7 ann"),
        ("slow", {}, "1 ACME"),
        ("none", {}, "1 ACME"),
        ("untyped", {"amount": 7}, "7 ACME"),
        ("placed", {"amount": 7}, "7 ACME"),
    ],
)
def test_what_can_be_called_is_attached(shell: Shell, name: str, given: dict[str, Any], result: object) -> None:
    ran = shell.run("attach", f"my.py:{name}", "--input", json.dumps(given), "--json")
    assert (ran.code, ran.json["todos"][0]["status"]) == (0, "completed"), ran.out
    shown = shell.run("do", ran.json["session_id"], "/todo show todo_001", "--json").json
    assert shown["result"]["data"]["values"]["result"] == result


def test_it_is_not_called_before_it_is_approved_and_its_input_is_checked(shell: Shell) -> None:
    refused = shell.run("attach", "my.py:vat", "--input", '{"rate": 1}', "--json")
    assert refused.code == 2 and '"amount"' in refused.json["error"], refused.out
    wrong = shell.run("attach", "my.py:vat", "--input", '{"amount": "much"}', "--json")
    assert wrong.code == 2 and '"amount" of vat must be a number' in wrong.json["error"], wrong.out
    assert not (shell.workspace / "called").exists()


@pytest.mark.parametrize("name", ["pay", "payer", "later", "part", "slow", "none", "untyped", "placed", "anything"])
def test_what_could_be_a_step_is_called_by_its_run_alone(shell: Shell, name: str) -> None:
    refused = shell.run("attach", f"my.py:{name}", "--input", '{"other": 7}', "--json")
    assert refused.code == 2, refused.out
    assert not (shell.workspace / "called").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"points": [{"x": 1}, {"x": -1}]}, "draw: points[2].x can't be used: -1 is less than the minimum of 0."),
        ({"points": [], "pen": "green"}, 'draw: pen must be one of "red", "blue", but it is the text "green".'),
    ],
)
def test_an_input_that_the_schema_forbids_begins_nothing(shell: Shell, given: dict[str, Any], said: str) -> None:
    refused = shell.run("attach", "my.py:draw", "--input", json.dumps(given), "--json")
    assert (refused.code, refused.json["error"]) == (2, said)
    assert not shell.run("list", "--json").json.get("sessions")


def test_a_failed_validation_is_told_without_an_address(shell: Shell) -> None:
    ran = shell.run("attach", "my.py:wrong", "--input", '{"text": "a"}', "--json")
    error = ran.json["todos"][0]["error"]
    assert "ValidationError: x: Input should be greater than or equal to 0" in error and "http" not in ran.out, error


def test_arguments_without_names_are_refused(shell: Shell) -> None:
    ran = shell.run("attach", "my.py:anything", "--input", "{}", "--json")
    assert ran.code == 2 and "anything takes arguments that have no names." in ran.json["error"], ran.out


def test_it_may_interrupt(shell: Shell) -> None:
    ran = shell.run("attach", "my.py:careful", "--input", '{"to": "ann", "text": "hi"}', "--json")
    assert ran.code == 3 and "Send to ann?" in ran.out
    request = ran.json["questions"][0]["id"]
    assert shell.run("do", ran.json["session_id"], f"/answer {request} yes", "--json").code == 0


@pytest.mark.parametrize("name", ["factory", "make"])
def test_a_factory_stays_one(shell: Shell, name: str) -> None:
    ran = shell.run("attach", f"my.py:{name}", "--input", "{}", "--json")
    assert ran.code == 0, ran.out
    shown = shell.run("do", ran.json["session_id"], "/graph", "--json").out
    assert '"a"' in shown, shown


def test_a_team_of_that_name_in_an_untrusted_folder_is_something_else(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text('[teams.vat]\nkind = "function"\nfunction = "other.py:vat"\n')
    ran = shell.run("attach", "my.py:vat", "--input", '{"amount": 1}', "--json")
    assert (ran.code, ran.json["todos"][0]["status"]) == (0, "completed"), ran.out
