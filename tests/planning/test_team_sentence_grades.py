"""The judge of sentences over teams of one's own: every step, value and dependency counts, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.team_sentences import (
    MEANT,
    NOTHING,
    SENTENCES,
    WRONG_ARGUMENT,
    WRONG_ORDER,
    WRONG_TEAM,
    Expected,
    Sentence,
    Step,
    TeamSet,
    grade,
    step_of,
)
from hitl_tui.core.todos import SupervisorTodo

DEFAULTS = {"vat": {"rate": 0.1}, "fx": {"on": None}, "invoice": {"copies": 1}}
VAT = Expected("vat", {"amount": 50000})
OPEN = Expected("vat", {}, ("amount",))
LATER = Expected("vat", {}, ("amount",), frozenset({0}))


def step(number: int, team: str, *after: str, **arguments: object) -> Step:
    return Step(f"todo_00{number}", team, arguments, after)


SEARCH, FX = step(1, "search_team"), step(1, "fx", amount=900)


@pytest.mark.parametrize(
    ("plan", "steps", "expected"),
    [
        ((VAT,), [step(1, "vat", amount=50000.0, rate=0.1)], MEANT),
        ((VAT,), [step(1, "vat", amount=50000)], MEANT),
        ((VAT,), [step(1, "vat", amount="50000")], WRONG_ARGUMENT),
        ((VAT,), [step(1, "vat", amount=50000, rate=0.2)], WRONG_ARGUMENT),
        ((VAT,), [step(1, "vat", rate=0.1)], WRONG_ARGUMENT),
        ((OPEN,), [step(1, "vat", rate=0.1)], MEANT),
        ((OPEN,), [step(1, "vat", amount=None)], MEANT),
        ((OPEN,), [step(1, "vat", amount=0)], WRONG_ARGUMENT),
        ((VAT,), [], NOTHING),
        ((VAT,), [SEARCH], NOTHING),
        ((VAT,), [SEARCH, step(2, "vat", amount=50000)], WRONG_TEAM),
        ((VAT,), [step(1, "vat", amount=50000), step(2, "fx", amount=50000)], WRONG_TEAM),
        ((VAT,), [FX], WRONG_TEAM),
        ((Expected("search_team"), LATER), [SEARCH, step(2, "vat", "todo_001")], MEANT),
        ((Expected("search_team"), LATER), [SEARCH, step(2, "vat")], WRONG_ORDER),
        ((Expected("search_team"), LATER), [step(2, "vat", "todo_001")], WRONG_TEAM),
        ((Expected("fx", {"amount": 900}), LATER), [FX, step(2, "vat", "todo_001", amount=900)], WRONG_ARGUMENT),
        (
            (Expected("fx", {"amount": 900}), LATER),
            [step(1, "vat"), step(2, "fx", "todo_001", amount=900)],
            WRONG_ORDER,
        ),
        ((VAT, VAT), [step(1, "vat", amount=50000), step(2, "vat", "todo_001", amount=50000)], WRONG_ORDER),
        ((VAT, OPEN), [step(1, "vat"), step(2, "vat", amount=50000)], MEANT),
        ((), [SEARCH], MEANT),
        ((), [], MEANT),
        ((), [SEARCH, step(2, "vat")], WRONG_TEAM),
    ],
)
def test_a_plan_is_worth_what_was_meant(plan: tuple[Expected, ...], steps: list[Step], expected: str) -> None:
    assert grade(Sentence("s", "en", "named", "…", plan), steps, DEFAULTS)[0] == expected


def test_a_declared_command_counts_as_a_team() -> None:
    arguments = {"command": "invoice", "parameters": {"copies": 2}, "argv": ["invoice", "2"]}
    todo = SupervisorTodo("todo_001", "…", agent_name="command_team", arguments=arguments)
    assert step_of(todo) == step(1, "invoice", copies=2)
    todo = SupervisorTodo("todo_001", "…", agent_name="vat", arguments={"input": {"amount": 1}, "calls": "my.py:vat"})
    assert step_of(todo) == step(1, "vat", amount=1)


def test_the_set_has_what_it_promises(tmp_path: Path) -> None:
    asked = TeamSet.read(SENTENCES)
    asked.build(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {"hitl.toml", "money.py", "crm.py"}
    assert (len(asked.defaults), len(asked.sentences)) == (12, 45)
    assert sum(s.language == "ko" for s in asked.sentences) == 22
    assert [s.id for s in asked.sentences if not s.plan] == ["e14", "e15", "k14", "k15", "k22"]
    for sentence in asked.sentences:
        for number, expected in enumerate(sentence.plan):
            assert expected.team in asked.defaults or expected.team == "search_team"
            assert all(earlier < number for earlier in expected.after)
            assert not expected.arguments.keys() & set(expected.missing)
