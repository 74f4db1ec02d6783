"""The final answer: short answer first, then what it rests on, then what isn't there, then what was not done."""

from __future__ import annotations

from typing import Any

from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.response import DONE, FAILED, compose
from hitl_tui.teams.analysis.analyse import analyse
from hitl_tui.teams.analysis.report import brief, citations, render
from hitl_tui.teams.brief import BRIEF
from hitl_tui.teams.contract import TeamResult
from hitl_tui.teams.search.report import Found, make_report


def todo(number: int, *after: int, status: Status = Status.COMPLETED, **more: Any) -> SupervisorTodo:
    return SupervisorTodo(
        id=f"todo_{number:03d}",
        name=f"Step {number}",
        agent_name="search_team",
        status=status,
        dependencies=tuple(f"todo_{n:03d}" for n in after),
        **more,
    )


def passage(line: int, text: str, path: str = "rules.md") -> dict[str, Any]:
    return {"path": path, "line": line, "end_line": line, "page": 0, "heading": "Rules", "text": text, "score": 1.0}


def searched(query: str, *passages: dict[str, Any], missing: tuple[str, ...] = ()) -> dict[str, Any]:
    return make_report(Found(query, list(passages), list(missing), 4, [], 0, [])).to_dict()


def analysed(query: str, *passages: dict[str, Any]) -> dict[str, Any]:
    analysis = analyse(query, passages)
    data = {**analysis.to_dict(), BRIEF: brief(analysis).to_dict()}
    result = TeamResult(render(analysis), data, citations(analysis), (), analysis.summary, analysis.found)
    return result.to_dict()


def headings(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("## ")]


RULE = passage(3, "Storage is limited to at most 100 GB per user.")
OTHERS = [passage(10 * n, f"Storage rule number {n} says something of its own.") for n in range(1, 8)]


def test_a_search_answers_with_its_best_passage_and_repeats_none() -> None:
    result = searched("What is the storage limit?", RULE, *OTHERS)
    response = compose("q", "en", [todo(1)], {"todo_001": result})
    assert headings(response.text) == ["## Answer", "## Evidence"]
    answer, evidence = response.text.split("## Evidence")
    assert "`rules.md:3`" in answer and "> Storage is limited to at most 100 GB" in answer
    assert "rules.md:3`" not in evidence
    for other in OTHERS:
        assert response.text.count(f"`rules.md:{other['line']}`") == 1
    assert "Also found: `rules.md:60`, `rules.md:70`" in evidence
    assert len(response.citations) == 8 and response.outcome == DONE


def test_what_an_analysis_found_stands_before_its_computation_and_the_passages() -> None:
    query = "How many GB over the storage limit are we with 120 GB?"
    results = {"todo_001": searched(query, OTHERS[0], RULE), "todo_002": analysed(query, OTHERS[0], RULE)}
    text = compose(query, "en", [todo(1), todo(2, 1)], results).text
    assert text.startswith("## Answer\n\n- 120 GB is 20 GB above the limit of 100 GB. [`rules.md:3`]")
    assert text.index("**Computation**") < text.index("> Storage is limited")
    # What the answer cites is quoted before what else was found.
    assert text.index("> Storage is limited") < text.index("> Storage rule number 1")


def test_an_analysis_with_nothing_to_compute_leaves_the_answer_to_the_search() -> None:
    query = "What is the storage rule?"
    results = {"todo_001": searched(query, RULE), "todo_002": analysed(query, RULE)}
    text = compose(query, "en", [todo(1), todo(2, 1)], results).text
    assert headings(text) == ["## Answer", "## Not found"]
    assert "> Storage is limited" in text.split("## Not found")[0]
    assert "Nothing was computed" in text.split("## Not found")[1]


def test_nothing_found_is_the_answer_and_says_what_is_absent() -> None:
    text = compose("q", "en", [todo(1)], {"todo_001": searched("Kerberos?", missing=("Kerberos",))}).text
    assert text.startswith("## Answer\n\nNothing was found for this question.")
    assert "- Not in these documents: Kerberos." in text.split("## Not found")[1]


def test_headings_are_in_the_language_of_the_question() -> None:
    text = compose("q", "ko", [todo(1)], {"todo_001": searched("저장 한도는?", RULE, OTHERS[0])}).text
    assert headings(text) == ["## 답변", "## 근거"]
    assert "가장 잘 맞는 구절: `rules.md:3`" in text


def test_a_report_that_was_written_leaves_the_answer_to_what_it_puts_together() -> None:
    data = {"path": "reports/a.md", BRIEF: {"answer": "", "evidence": [], "absent": []}}
    written = TeamResult("Wrote it.", data, (), ("reports/a.md",), "Wrote it.").to_dict()
    results = {"todo_001": searched("storage?", RULE), "todo_002": written}
    response = compose("q", "en", [todo(1), todo(2, 1)], results)
    assert response.text.startswith("## Answer\n\nThe one passage that fits: `rules.md:3`")
    assert response.text.endswith("## Files written\n\n- reports/a.md\n")


def test_teams_without_a_brief_are_told_by_their_text_or_summary() -> None:
    long = TeamResult("# Title\n\n" + "\n".join(f"line {n}" for n in range(40)), summary="forty lines").to_dict()
    short = TeamResult("two rows\n").to_dict()
    text = compose("q", "en", [todo(1), todo(2)], {"todo_001": long, "todo_002": short}).text
    answer, evidence = text.split("## Evidence")
    assert "**Step 1**\n\nforty lines" in answer and "**Step 2**\n\ntwo rows" in answer
    assert "line 39" in evidence and "# Title" not in text


def test_a_malformed_brief_is_no_reason_to_fail() -> None:
    for broken in ({"evidence": 5, "absent": "x", "quoted": None}, {"answer": None, "evidence": [3, {}]}):
        result = {**TeamResult("t").to_dict(), "data": {BRIEF: broken}}
        assert compose("q", "en", [todo(1)], {"todo_001": result}).text.startswith("## Answer")


def test_citations_that_stand_nowhere_in_the_text_are_listed_as_sources() -> None:
    cited = [{"path": "a.md", "line": 1, "end_line": 1, "quote": "one", "page": 0}]
    cited.append({**cited[0], "line": 12})
    result = {**TeamResult("See a.md:12.").to_dict(), "citations": cited}
    text = compose("q", "en", [todo(1)], {"todo_001": result}).text
    assert text.endswith("## Sources\n\n1. a.md:1 — one\n")


def test_what_was_not_done_is_said_with_its_reason() -> None:
    failed = todo(1, status=Status.FAILED, error="no luck")
    response = compose("q", "en", [failed, todo(2, 1, status=Status.BLOCKED)], {})
    assert response.outcome == FAILED
    assert response.text.startswith("## Answer\n\nNothing was carried out")
    assert "- todo_001 Step 1: failed (no luck)" in response.text
