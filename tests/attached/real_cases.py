"""The graphs that are attached, and what a person answers them.

`graphs` has their files; the docstring of each says which pattern or package it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

GRAPHS = Path(__file__).parent / "graphs"


@dataclass(frozen=True)
class Case:
    """One graph, taken to its end.

    Args:
        name: what the test is called.
        target: file and attribute.
        given: its input, as a person writes it.
        talk: what is seen of each question (its number after a dot, where several wait) and what is answered to it.
        done: what it does to the world, all in all.
        ends: part of its answer.
        needs: modules that the plain environment may lack.
        again: what the nodes that a question is in do once more whenever it is answered: it is shown before.
        within: what is finished within the same step of the graph as its first question, in subgraphs, tasks and
            nodes beside it: going back to that step does it again.
    """

    name: str
    target: str
    given: str
    talk: tuple[tuple[str, str], ...]
    done: Mapping[str, int]
    ends: str = ""
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


OPENAI = ("langchain_openai",)
CASES = (
    Case(
        "approve",
        "approve.py",
        '{"action_details": "pay"}',
        (("Do you want to proceed with this action?", "yes"),),
        {"prepared pay": 1, "did pay": 1},
        "**status**: approved",
    ),
    Case(
        "refuse",
        "approve.py",
        '{"action_details": "pay"}',
        (("Do you want to proceed with this action?", "no"),),
        {"prepared pay": 1},
        "**status**: rejected",
    ),
    Case(
        "review",
        "review.py:graph",
        "cats",
        (("Review and edit this content", "edit Cats, at last."),),
        {"drafted": 1, "published Cats, at last.": 1},
        "Cats, at last.",
    ),
    Case(
        "validate",
        "validate.py:builder",
        '{"age": null}',
        (
            ("What is your age?", "thirty"),
            ("'thirty' is not a valid age", "-3"),
            ("'-3' is not a valid age", "30"),
        ),
        {"registered 30": 1},
        "30",
    ),
    Case(
        "parallel",
        "parallel.py",
        '{"vals": []}',
        ((".2 question_b", "bee"), ("question_a", "ay")),
        {"quiet": 1, "a ay": 1, "b bee": 1},
        "a:ay",
        within=("quiet",),
    ),
    Case(
        "subgraph_node",
        "subgraph_node.py:graph",
        '{"order": "desk"}',
        (("Reserve it?", "reserve"),),
        {"looked up": 1, "reserved desk": 1},
        "reserve",
        within=("looked up",),
    ),
    Case(
        "subgraph_called",
        "subgraph_called.py:graph",
        '{"person": "ann"}',
        (("How do you greet ann?", "Hello"),),
        {"host entered": 2, "fetched": 1, "told Hello, ann": 1},
        "Hello, ann",
        again=("host entered",),
        within=("host entered", "fetched"),
    ),
    Case(
        "functional",
        "functional.py:workflow",
        "cats",
        (("Please approve or reject the essay", "true"),),
        {"wrote": 1, "published": 1},
        "published 26 characters",
        within=("wrote",),
    ),
    Case(
        "inbox",
        "inbox.py",
        '{"email": "a question"}',
        (("May write_email run?", "edit to=bob@example.org"),),
        {"drafted": 1, "sent bob@example.org": 1},
        "sent to bob@example.org",
    ),
    Case(
        "typed",
        "typed.py",
        "lunch",
        (("Pay for lunch?", "edit approved=true amount=12"),),
        {"paid 12": 1},
        "12",
    ),
    Case(
        "discussion",
        "discussion.py:graph",
        '{"chapters": ["one", "two"]}',
        (
            ("Round 1: what does the writer answer?", "edit not yet"),
            ("Round 2: what does the writer answer?", "edit agreed"),
            ("Round 1: what does the writer answer?", "edit agreed"),
        ),
        {
            "reviewed one": 2,
            "wrote one": 2,
            "kept one after 4 messages": 1,
            "reviewed two": 1,
            "wrote two": 1,
            "kept two after 2 messages": 1,
        },
        "**chapter**: two",
        within=("reviewed one",),
    ),
    Case(
        "email_tool",
        "email_tool.py:graph",
        "Send an email to alice about the meeting",
        (("Approve sending this email?", "edit subject=Tomorrow"),),
        {"sent alice@example.com: Tomorrow": 1},
        "Email sent to alice@example.com",
        OPENAI,
    ),
    Case(
        "batched",
        "hitl_agent.py:batched",
        "Clean up",
        (("May these 2 tool calls run?", "1 reject too dangerous 2 edit content=mine"),),
        {"wrote notes.txt: mine": 1},
        "too dangerous",
        (*OPENAI, "langchain"),
    ),
    Case(
        "per_call",
        "hitl_agent.py:per_call",
        "Clean up",
        ((".2 May write_note run?", "approve"), ("May execute_sql run?", "approve")),
        {"wrote notes.txt: cleaned": 1, "ran DELETE FROM people WHERE age > 90": 1},
        "Came of it",
        (*OPENAI, "langchain"),
    ),
    Case(
        "deep",
        "deep.py",
        "Write a report and send it",
        (("May write_file run?", "approve"), ("May send_report run?", "edit to=me@example.com")),
        {"sent me@example.com: All is well.": 1},
        "Finished",
        (*OPENAI, "deepagents"),
    ),
    Case(
        "chief",
        "chief.py:graph",
        "Buy a desk",
        (("May pay run?", "edit amount=99"),),
        {"looked up desk": 1, "paid 99 to desk shop": 1},
        "Researched and paid.",
        (*OPENAI, "langchain", "langgraph_supervisor"),
    ),
)


FIRST = ("approve", "parallel")


def each(*names: str, slow: Collection[str] = ()) -> pytest.MarkDecorator:
    """Run a test for each case, or for those of these names; some of them in the slow suite."""
    return _parametrized([case for case in CASES if not names or case.name in names], slow)


def each_first() -> pytest.MarkDecorator:
    """Run a test for each case; but for the first few, those that need no packages are in the slow suite."""
    return _parametrized(CASES, slow=[case.name for case in CASES if case.name not in FIRST and not case.needs])


def _parametrized(cases: Sequence[Case], slow: Collection[str]) -> pytest.MarkDecorator:
    found = []
    for case in cases:
        marks = [pytest.mark.graphs] if case.needs else [pytest.mark.slow] if case.name in slow else []
        found.append(pytest.param(case, id=case.name, marks=marks))
    return pytest.mark.parametrize("case", found)
