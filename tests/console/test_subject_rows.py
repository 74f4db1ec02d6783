"""What a question shows of the step it is about: its task in words, its input whole, and the folder it works in."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.json_types import StepNamed
from hitl_tui.core.plan import AgentFacts
from hitl_tui.language import using
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.teams.search.team import SearchTeam
from hitl_tui.wording.subject_rows import change_rows, input_rows, plan_change_rows, step_rows

QUERY = {
    "en": "The landlord wants to raise my deposit from 300 million won to 1 billion won. Is that legal?",
    "ko": "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 괜찮은 건지, 어떻게 해결하면 되는지 알려줘",
}


def rows(arguments: dict[str, Any], task: str, workspace: str = "/srv/lease") -> list[tuple[str, str]]:
    return [(row.label.strip(), row.text.plain) for row in input_rows(arguments, task, workspace)]


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_search_is_asked_about_in_words_with_its_query_whole_and_its_folder(language: str) -> None:
    team = SearchTeam()
    facts = AgentFacts(team.name, team.name, team.description, True, 2, 60.0, team.bind, team.risk_of)
    planned = await PlanningAgent({team.name: facts}).create_execution_plan(QUERY[language])
    step = planned.plan.steps[0]
    arguments = team.bind(step.task, step.input_mapping)
    shown = rows(arguments, step.task)
    assert shown[0] == ("task", step.task)
    assert ("query", QUERY[language]) in shown
    assert shown[-1] == ("in", "/srv/lease")
    text = "\n".join(text for _, text in shown)
    assert "«" not in text and text.count(QUERY[language]) == 1
    listed = list(step_rows([{"todo": "todo_001", "team": team.name, "task": step.task, "arguments": arguments}]))
    assert "«" not in "\n".join(row.text.plain for row in listed)


def test_a_task_from_before_is_shown_with_all_its_words() -> None:
    task = f"Find the passages in the documents that answer: {QUERY['en']}"
    assert rows({"query": QUERY["en"]}, task) == [("task", task), ("query", QUERY["en"])]


def test_a_folder_is_named_only_where_something_is_relative_to_it() -> None:
    assert rows({"input": {"n": 1}}, "go")[-1][0] == "input"
    assert rows({"title": "T", "path": "reports/t.md"}, "go")[-1] == ("in", "/srv/lease")
    assert rows({"documents": ["."]}, "go", "")[-1][0] == "documents"


def test_an_input_given_as_json_is_shown_once_and_whole() -> None:
    """The task of an attached graph spells its input; another text beside an input stays."""
    arguments = {"input": {"to": "ann@example.com", "n": 1}}
    shown = rows(arguments, '{"n": 1, "to": "ann@example.com"}', "")
    assert [label for label, _ in shown] == ["input"] and "ann@example.com" in shown[0][1]
    assert rows(arguments, '{"n": true, "to": "ann@example.com"}', "")[0][0] == "task"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_plan_and_a_proposal_are_asked_about_in_labelled_lines_without_settings(language: str) -> None:
    arguments = {"query": QUERY[language], "documents": ["."], "limit": 8}
    report = {"title": "Deposits", "path": "reports/deposits.md", "if_exists": "a number is added"}
    step = {"todo": "todo_001", "team": "search_team", "task": "Find the passages.", "arguments": arguments}
    todo = {"id": "todo_002", "name": "Report", "agent_name": "document_team", "arguments": report}
    todo |= {"description": "Write it all up", "dependencies": ["todo_001"]}
    shown = {
        "todo_001": {"title": "Search", "settings": ["documents", "limit"]},
        "todo_002": {"settings": ["if_exists"]},
    }
    with using(language):
        listed = list(step_rows([step], shown))
        changed = list(change_rows({"changes": [{"kind": "add", "todo": todo}]}, shown))
        moved = list(change_rows({"changes": [{"kind": "priority", "todo_id": "todo_003", "priority": "high"}]}))
        whole = list(step_rows([step]))
    assert [row.text.plain for row in listed] == ["search  Search", QUERY[language]]
    assert [row.text.plain for row in changed] == ["document ← 001  Report", "Deposits", "reports/deposits.md"]
    assert (moved[0].label, moved[0].text.plain) == {
        "en": ("priority", "003 → high"),
        "ko": ("우선순위", "003 → 높음"),
    }[language]
    said = "\n".join(f"{row.label} {row.text.plain}" for row in (*listed, *changed, *moved, *whole))
    assert not set("{}[]") & set(said)
    assert ("폴더 전체" if language == "ko" else "the whole folder") in said
    if language == "ko":
        assert not {"add", "query", "path", "title", "documents"} & set(said.replace("\n", " ").split(" "))


def test_an_argument_of_somebodys_team_never_reads_like_one_of_ours() -> None:
    pairs = [({"path": "a"}, {"경로": "a"}), ({"documents": ["."]}, {"documents": "폴더 전체"})]
    with using("ko"):
        (ours, theirs), (folder, name) = [[next(iter(input_rows(value, "", ""))) for value in pair] for pair in pairs]
    assert ours.label != theirs.label
    assert folder.text.plain != name.text.plain


def test_of_many_steps_before_a_change_of_the_plan_the_numbers_are_enough() -> None:
    plan: list[StepNamed] = [{"id": f"todo_{n:03d}", "title": f"Search {n}"} for n in range(1, 7)]
    added: StepNamed = {"id": "todo_007", "title": "Analyse"}
    now, then = (row.text.plain for row in plan_change_rows(plan, [*plan[:5], added]))
    assert now == "001–004 · 005 Search 5 · 006 Search 6"
    assert then == "001–004 · 005 Search 5 · 007 Analyse"
    few = [row.text.plain for row in plan_change_rows(plan[:2], [*plan[:2], added])]
    assert few == ["001–002 · 007"], "what is added last changes nothing of the plan before it"
    assert not [*plan_change_rows(plan, plan)] and not [*plan_change_rows([], [added])]
    assert [row.text.plain for row in plan_change_rows(plan[:1], [])][-1] == "no step"


def test_an_added_step_is_shown_before_those_that_come_to_wait_for_it() -> None:
    plan: list[StepNamed] = [{"id": f"todo_{n:03d}", "title": f"Step {n}"} for n in range(1, 3)]
    added = {"kind": "add", "todo": {"id": "todo_003", "name": "Delete", "metadata": {"feeds": ["todo_002"]}}}
    _, then = (
        row.text.plain for row in plan_change_rows(plan, [plan[0], {"id": "todo_003", "title": "Delete"}, plan[1]])
    )
    assert then == "001 Step 1 · 003 Delete · 002 Step 2"
    assert [row.text.plain for row in change_rows({"changes": [added]})][-1] == "002 will wait for it, too"


def test_a_step_that_moves_is_shown_with_what_it_then_waits_for() -> None:
    move = {"kind": "after", "todo_id": "todo_001", "after": ["todo_003"], "where": "after", "anchor": "todo_003"}
    (row,) = change_rows({"changes": [move]})
    assert (row.label, row.text.plain) == ("move 001", "← 003")


COMMAND = {
    "argv": ["find", "logs", "-mtime", "+60", "-delete"],
    "command": "delete-logs",
    "parameters": {"days": 60, "dir": "logs"},
    "exit_codes": [0],
    "timeout": 600.0,
    "programs": {"find": "a" * 64},
}
CALL = {"calls": "own.py:vat", "input": {"amount": 7, "rate": 0.1}, "programs": {"own.py": "b" * 64}}


@pytest.mark.parametrize(
    ("arguments", "before", "lines"),
    [
        (
            COMMAND,
            {"days": 30, "dir": "logs"},
            ["change 002: days: 30 → 60", "RISKY: deletes files", "runs: find logs -mtime +60 -delete"],
        ),
        (CALL, {"amount": 5, "rate": 0.1}, ["change 002: amount: 5 → 7"]),
        ({"query": "cap", "limit": 3}, {"query": "fee"}, ['change 002: query: "fee" → "cap"', "limit: nothing → 3"]),
        (CALL, None, ["change 002: Step", "calls: own.py:vat", "amount: 7", "rate: 0.1"]),
    ],
)
def test_another_input_is_shown_as_what_becomes_of_its_values(
    arguments: dict[str, Any], before: dict[str, Any] | None, lines: list[str]
) -> None:
    change = {
        "kind": "edit",
        "todo_id": "todo_002",
        "arguments": arguments,
        "risk": "high" if "argv" in arguments else "low",
    }
    shown = {"todo_002": {"title": "Step", **({} if before is None else {"before": before})}}
    rows = change_rows({"changes": [change]}, shown)
    said = [f"{row.label.strip()}: {row.text.plain}".removeprefix(": ") for row in rows]
    assert [line for one in said for line in one.split("\n")] == lines
