"""The final answer: short answer first, then what it rests on, then what isn't there, then what was not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from session_support import ListPlanner, Place, step

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.figure_limits import parse_limit
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.proposals import Planned
from hitl_tui.supervisor.final_answer import DONE, FAILED, compose
from hitl_tui.supervisor.lasting_effects import LastingEffect
from hitl_tui.teams.analysis.analysis_model import brief, citations, render
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.bounded_output import Bounded
from hitl_tui.teams.command.team import report
from hitl_tui.teams.contract import BRIEF, TeamResult
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.printed_figures import run_of
from hitl_tui.teams.process import OUTPUT_LIMIT
from hitl_tui.teams.search.passage_search import SearchHits
from hitl_tui.teams.search.search_report import NOTHING, make_report
from hitl_tui.wording.file_rows import file_rows


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
    found = tuple(Passage(**{**one, "score": 0.005 if number else 1.0}) for number, one in enumerate(passages))
    return make_report(query, SearchHits(found, missing, 4), {**NOTHING, "searched": 4}).to_dict()


def analysed(query: str, *passages: dict[str, Any]) -> dict[str, Any]:
    analysis = analyse(query, passages)
    data = {BRIEF: brief(analysis).to_dict()}
    result = TeamResult(render(brief(analysis)), data, citations(analysis), (), analysis.summary, analysis.found)
    return result.to_dict()


def headings(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("## ")]


def ran(command: str, argv: str, *lines: str, language: str = "en") -> dict[str, Any]:
    printed = "".join(f"{line}\n" for line in lines)
    outcome = {"exit_code": 0, "stdout": printed, "stderr": "", "duration": 0.1, "stdout_lines": len(lines)}
    return report({"command": command, "argv": argv.split()}, outcome, {}, language).to_dict()


def ran_long(command: str, argv: str, count: int, line: str) -> dict[str, Any]:
    """What a command hands back that printed more than is kept."""
    kept = Bounded(OUTPUT_LIMIT)
    kept.feed("".join(f"{line.format(number)}\n" for number in range(count)).encode())
    outcome = {"exit_code": 0, "stdout": kept.text(), "stderr": "", "duration": 0.1, "truncated": kept.truncated}
    return report({"command": command, "argv": argv.split()}, {**outcome, "stdout_lines": count}, {}).to_dict()


def cleaned(language: str = "en") -> dict[str, dict[str, Any]]:
    """A search for the rules, then sizes, a deletion, and the sizes again."""
    gone = [f"srv/log/{day}.gz" for day in range(14)]
    return {
        "todo_001": searched("What may be deleted?", RULE, OTHERS[0]),
        "todo_002": ran("measure", "du -h srv", "4.0M\tsrv/log", "300K\tsrv/app", "4.4M\tsrv", language=language),
        "todo_003": ran("clean", "find srv/log -type f -name *.gz -print -delete", *gone, language=language),
        "todo_004": ran("verify", "du -sch srv/log srv/app", "780K\tsrv/log", "300K\tsrv/app", "1.1M\ttotal"),
    }


ASKS = {todo(1).agent_name: ("query",)}
CLEANED = [todo(1), todo(2, 1), todo(3, 2), todo(4, 3)]
RULE = passage(3, "Storage is limited to at most 100 GB per user.")
OTHERS = [passage(10 * n, f"Storage rule number {n} says something of its own.") for n in range(1, 8)]


def test_the_last_question_is_answered_first_under_its_own_words() -> None:
    texts = {"todo_001": {"text": "Notice is one month."}, "todo_002": {"text": "Tom paid 90."}}
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:01")
    asked = {"arguments": {"query": "What did Tom pay?"}, "metadata": {"manual": True, "added_by": "user"}}
    after = todo(2, created_at="2026-01-01T09:02", completed_at="2026-01-01T09:03", **asked)
    text = compose("When can we leave?", "en", [first, after], texts, asks=ASKS).text
    assert text.index("**What did Tom pay?**") < text.index("Tom paid 90.") < text.index("Notice is one month.")

    meanwhile = replace(after, created_at="2026-01-01T09:00:30")
    text = compose("When can we leave?", "en", [first, meanwhile], texts).text
    assert text.index("Notice is one month.") < text.index("Tom paid 90."), "added while the plan ran: in its order"


def test_what_isnt_done_of_a_further_question_is_said_under_it() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:01")
    asked = {"manual": True, "added_by": "user", "remarks": ["Nothing is deleted."]}
    after = todo(
        2,
        created_at="2026-01-01T09:02",
        completed_at="2026-01-01T09:03",
        arguments={"query": "delete the copy"},
        metadata=asked,
    )
    texts = {"todo_001": {"text": "Notice is one month."}, "todo_002": {"text": "The copy is of March."}}
    text = compose("When can we leave?", "en", [first, after], texts, asks=ASKS).text
    assert "**delete the copy**\n\nNothing is deleted.\n\nThe copy is of March." in text

    alone = compose("When can we leave?", "en", [after], {"todo_002": texts["todo_002"]}, asks=ASKS).text
    assert alone.startswith("## Answer\n\nNothing is deleted.")

    of_plan = "No command of this folder does that."
    text = compose("When can we leave?", "en", [first, after], texts, remarks=[of_plan], asks=ASKS).text
    assert text.index("The copy is of March.") < text.index(of_plan) < text.index("Notice is one month.")
    only = compose("When can we leave?", "en", [first], {"todo_001": texts["todo_001"]}, remarks=[of_plan], asks=ASKS)
    assert only.text.startswith(f"## Answer\n\n{of_plan}")


def test_what_was_left_out_of_a_step_is_said_below_the_answer() -> None:
    rotate = todo(1, metadata={"unread": ["of Monday"]})
    result = {"todo_001": {"text": "kept 30"}}
    english, korean = (compose("q", language, [rotate], result).text for language in ("en", "ko"))
    assert english.startswith("## Answer\n\nkept 30\n\n## Not done\n\n- 001 Step 1: planned without regard to")
    assert '"of Monday" 부분은 반영되지 않음' in korean


def test_what_one_command_changed_comes_first_beside_another_result() -> None:
    rotate = todo(1, risk=Risk.HIGH)
    vat = replace(todo(2, 1), agent_name="vat")
    results = {"todo_001": ran("rotate-log", "python3 rotate.py 30", "kept 30"), "todo_002": {"text": "total: 550.0"}}
    text = compose("q", "en", [rotate, vat], results).text
    assert text.startswith("## Answer\n\n**What was done**\n\n- `rotate-log`: `kept 30`\n\n**Step 2**\n\ntotal: 550.0")
    alone = compose("q", "en", [rotate], {"todo_001": results["todo_001"]}).text
    assert "What was done" not in alone and "kept 30" in alone


def test_what_a_step_found_or_changed_is_told_where_the_later_one_looks_at_no_result() -> None:
    rotate, vat = (replace(todo(n, *range(1, n)), agent_name=name) for n, name in ((1, "rotate"), (2, "vat")))
    results = {"todo_001": {"text": "kept 30"}, "todo_002": {"text": "total: 550.0"}}

    def told(risk: Risk, *alone: str) -> str:
        text = compose("q", "en", [replace(rotate, risk=risk), vat], results, unaware=alone).text
        return text.split("\n## ")[0].strip()

    both = "## Answer\n\n**Step 1**\n\nkept 30\n\n**Step 2**\n\ntotal: 550.0"
    assert told(Risk.HIGH, "vat") == told(Risk.LOW, "vat") == both
    assert told(Risk.HIGH) == "## Answer\n\ntotal: 550.0"
    first = replace(vat, dependencies=())
    text = compose("q", "en", [first, replace(rotate, risk=Risk.HIGH)], results).text
    assert text.index("kept 30") < text.index("total: 550.0")


def test_questions_of_tables_that_were_asked_while_others_waited_keep_their_answers() -> None:
    asks = ("How much did Ruth pay?", "What was the largest expense?")
    told = ("total: 1,420.00", "largest: 905.00")
    results = {
        f"todo_00{n}": {"text": text, "data": {"table": {"found": True}, BRIEF: {"answer": text}}}
        for n, text in enumerate(told, start=1)
    }
    first, second = (todo(n, *range(1, n), arguments={"query": asked}) for n, asked in enumerate(asks, start=1))
    text = compose("q", "en", [first, second], results, asks=ASKS).text.split("## Evidence")[0]
    assert all(one in text for one in told)

    same = replace(second, arguments=first.arguments)  # the table was asked what the documents had been asked
    text = compose("q", "en", [first, same], results, asks=ASKS).text.split("## Evidence")[0]
    assert told[1] in text and told[0] not in text


def test_a_question_asked_while_another_waited_is_one_of_its_own() -> None:
    """They were approved together, so that none was answered before the other was asked."""
    done, asked = "2026-01-01T09:05", {"manual": True, "added_by": "user"}
    table = {"arguments": {"query": "What is the total?"}, "metadata": asked}
    search = {"arguments": {"query": "Which is due first?"}, "metadata": asked}
    first = todo(1, created_at="2026-01-01T09:01", completed_at=done, **table)
    second = todo(2, created_at="2026-01-01T09:02", completed_at=done, **search)
    weak = searched("Which is due first?", RULE)
    weak["data"]["weak"] = True
    results = {"todo_001": {"text": "111.00", "data": {"table": "t.csv"}}, "todo_002": weak}
    text = compose("When?", "en", [first, second], results, asks=ASKS).text
    assert text.startswith("## Answer\n\n**Which is due first?**") and "**What is the total?**\n\n111.00" in text


def test_a_last_question_without_an_answer_says_so_before_the_answers_to_the_others() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:01", arguments={"query": "When?"})
    asked = {"arguments": {"query": "What do we owe?"}, "metadata": {"manual": True, "added_by": "user"}}
    after = todo(2, created_at="2026-01-01T09:02", completed_at="2026-01-01T09:03", **asked)
    nothing = searched("What do we owe?")
    text = compose(
        "When?", "en", [first, after], {"todo_001": {"text": "In May."}, "todo_002": nothing}, asks=ASKS
    ).text
    absent = nothing["data"][BRIEF]["absent"][0]
    assert text.startswith(f"## Answer\n\n**What do we owe?**\n\n{absent}\n\n**When?**\n\nIn May.")


def test_the_only_answer_to_several_questions_stands_under_its_own() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:01", arguments={"query": "When?"})
    asked = {"arguments": {"query": "What did Tom pay?"}, "metadata": {"manual": True, "added_by": "user"}}
    after = todo(2, created_at="2026-01-01T09:02", completed_at="2026-01-01T09:03", **asked)
    results = {"todo_001": searched("When?"), "todo_002": {"text": "111.00"}}
    text = compose("When?", "en", [first, after], results, asks=ASKS).text
    assert text.startswith("## Answer\n\n**What did Tom pay?**\n\n111.00\n")


def test_each_of_several_questions_says_under_itself_that_nothing_answers_it_and_evidence_is_of_the_last() -> None:
    asked = ("When?", "Who pays?", "What did Tom pay?")
    times = {n: {"created_at": f"2026-01-01T09:0{n}", "completed_at": f"2026-01-01T09:0{n}:30"} for n in (1, 2, 3)}
    added = {"manual": True, "added_by": "user"}
    todos = [
        todo(n, arguments={"query": query}, metadata=added if n > 1 else {}, **times[n])
        for n, query in enumerate(asked, start=1)
    ]
    nothing, last = searched("Who pays?", missing=("pays",)), searched("What did Tom pay?", RULE, *OTHERS[:2])
    results = {"todo_001": searched("When?", OTHERS[3], OTHERS[4]), "todo_002": nothing, "todo_003": last}
    text = compose("When?", "en", todos, results, asks=ASKS).text
    absent = nothing["data"][BRIEF]["absent"]
    under = text.split("**Who pays?**\n\n")[1].split("**When?**")[0]
    assert under == "\n\n".join(absent) + "\n\n" and text.index("**What did Tom pay?**") < text.index("**Who pays?**")
    assert "## Not found" not in text
    assert OTHERS[0]["text"] in text and OTHERS[4]["text"] not in text


def test_what_isnt_there_of_an_earlier_question_stands_under_it() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:00:30", arguments={"query": "When?"})
    partly = searched("Who pays the wifi?", RULE, OTHERS[0], missing=("wifi",))
    results = {"todo_001": {"text": "In May."}, "todo_002": partly, "todo_003": {"text": "90."}}
    todos = [first, later(2, "Who pays the wifi?"), later(3, "What did Tom pay?")]
    text = compose("When?", "en", todos, results, asks=ASKS).text
    assert text.index("**Who pays the wifi?**") < text.index(": wifi.") < text.index("**When?**")
    assert "## Not found" not in text


def test_what_one_command_printed_leaves_room_for_what_was_rejected() -> None:
    rejected = todo(2, 1, status=Status.SKIPPED, metadata={"rejected": True}, error="keep until audit")
    lines = [f"{n}K\tsrv/{n}" for n in range(1, 30)]
    text = compose("clean", "en", [todo(1), rejected], {"todo_001": ran("measure", "du -h srv", *lines)}).text
    assert headings(text)[:2] == ["## Answer", "## Not done"]
    assert len(text.split("## Not done")[0].splitlines()) < 12


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
    assert text.startswith("## Answer\n\n- 120 GB is 20 GB above the limit of 100 GB. “Storage is limited")
    assert text.index("**Computation**") < text.index("> Storage rule number 1")
    # What the answer quotes itself isn't quoted again.
    assert text.count("Storage is limited") == 1


def test_that_nothing_could_be_computed_stands_before_what_was_found_instead() -> None:
    query = "What is the storage rule?"
    results = {"todo_001": searched(query, RULE), "todo_002": analysed(query, RULE)}
    text = compose(query, "en", [todo(1), todo(2, 1)], results).text
    assert headings(text) == ["## Answer"]
    assert text.index("Nothing was computed") < text.index("> Storage is limited")


def test_nothing_found_is_the_answer_and_says_what_is_absent() -> None:
    text = compose("q", "en", [todo(1)], {"todo_001": searched("Kerberos?", missing=("Kerberos",))}).text
    assert text.startswith("## Answer\n\nNothing was found for this question.")
    assert "- Not in these documents: Kerberos." in text.split("## Not found")[1]


def test_a_second_search_that_finds_something_takes_back_that_there_is_nothing() -> None:
    results = {"todo_001": searched("frobnication cap", missing=("frobnication",)), "todo_002": searched("cap", RULE)}
    text = compose("q", "en", [todo(1), todo(2, 1)], results).text
    assert "no passage in" not in text and "Nothing found" not in text
    assert "- Not in these documents: frobnication." in text
    alone = compose("q", "en", [todo(1)], {"todo_001": results["todo_001"]}).text
    assert "no passage in" in alone


def test_headings_are_in_the_language_of_the_question() -> None:
    text = compose("q", "ko", [todo(1)], {"todo_001": searched("저장 한도는?", RULE, OTHERS[0])}).text
    assert headings(text) == ["## 답변", "## 근거"]
    assert "찾았습니다. 가장 잘 맞는 구절부터:\n\n`rules.md:3`" in text


def later(number: int, query: str) -> SupervisorTodo:
    """A step for a question that was asked in the session, done."""
    at = f"2026-01-01T09:0{number}"
    added = {"manual": True, "added_by": "user"}
    return todo(number, created_at=at, completed_at=f"{at}:30", arguments={"query": query}, metadata=added)


def test_headings_are_in_the_language_of_what_was_asked_last() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:00:30", arguments={"query": "When?"})
    results = {
        "todo_001": {"text": "In May."},
        "todo_002": searched("저장 한도는?", RULE, OTHERS[0]),
        "todo_003": {"text": "90."},
    }
    todos = [first, later(2, "저장 한도는?")]
    assert headings(compose("When?", "en", todos, results, asks=ASKS).text) == ["## 답변", "## 근거"]
    text = compose("When?", "en", [*todos, later(3, "What did Tom pay?")], results, asks=ASKS).text
    assert headings(text) == ["## Answer"]


def test_an_answer_knows_whether_anything_answers_what_was_asked_last() -> None:
    first = todo(1, created_at="2026-01-01T09:00", completed_at="2026-01-01T09:00:30", arguments={"query": "When?"})
    results = {"todo_001": searched("When?"), "todo_002": {"text": "90."}, "todo_003": searched("Who?")}
    todos = [first, later(2, "What did Tom pay?"), later(3, "Who?")]
    found = [compose("When?", "en", todos[:n], results, asks=ASKS).to_dict()["found"] for n in (1, 2, 3)]
    assert found == [False, True, False]
    assert compose("When?", "en", [todo(1, status=Status.SKIPPED)], {}).found, "that says so itself"


def test_a_report_that_was_written_leaves_the_answer_to_what_it_puts_together() -> None:
    data = {"path": "reports/a.md", BRIEF: {"answer": "", "evidence": [], "absent": []}}
    written = TeamResult("Wrote it.", data, (), ("reports/a.md",), "Wrote it.").to_dict()
    results = {"todo_001": searched("storage?", RULE), "todo_002": written}
    response = compose("q", "en", [todo(1), todo(2, 1)], results)
    assert response.text.startswith("## Answer\n\nFound in one passage:\n\n`rules.md:3`")
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
    assert "- 001 Step 1: failed (no luck)" in response.text


def test_what_commands_did_and_measured_comes_first_with_the_rules_that_were_asked_for() -> None:
    response = compose("q", "en", CLEANED, cleaned())
    answer, evidence = response.text.split("## Evidence")
    assert answer.startswith("## Answer\n\n**What was done**\n\n- `measure`: 3 lines of output\n")
    assert "- `clean`: deleted 14 files in `srv/log`\n" in answer
    assert "- `verify`: compared with `measure`\n  - `srv/log`: 4.0M before, 780K now: about 3.2M less\n" in answer
    assert "  - unchanged: `srv/app` (300K)\n" in answer
    besides = "  - also printed: `total` (1.1M)\n"
    assert besides in answer
    assert "total" not in answer.replace(besides, ""), "a total of other folders is no earlier size of this one"
    assert "`rules.md:3` Rules\n\n> Storage is limited to at most 100 GB" in answer
    assert "Exit code" not in answer
    for command in ("du -h srv", "find srv/log", "du -sch srv/log", "srv/log/13.gz"):
        assert command in evidence
    assert response.summary == ("clean: deleted 14 files in srv/log · srv/log: 4.0M before, 780K now: about 3.2M less")


def test_lines_and_files_that_were_not_kept_are_counted() -> None:
    found = {
        "todo_001": ran_long("colours", "python colours.py", 100_000, "a line with the number {}"),
        "todo_002": ran_long("clean", "find srv -type f -print -delete", 50_000, "srv/log/number/{}.gz"),
        "todo_003": ran("count", "ls", "nothing"),
    }
    answer = compose("q", "en", [todo(1), todo(2, 1), todo(3, 2)], found).text.split("## Evidence")[0]
    first, last = "a line with the number 0", "a line with the number 99999"
    assert f"- `colours`: 100,000 lines of output: `{first}` … `{last}`" in answer
    assert "deleted 50,000 files in `srv/log/number`" in answer
    assert found["todo_001"]["summary"] == f"colours: 100,000 lines, the last: {last}"
    assert found["todo_002"]["summary"] == "clean: deleted 50,000 files in srv/log/number"
    rows = [row.text.plain for row in file_rows(found["todo_002"])]
    assert rows[0].startswith("50,000 files\n") and rows[0].endswith("… and 49,950 more")


def verified(total: str, language: str = "en", limit: str = "< 3.5M") -> dict[str, Any]:
    """What `verify` of `cleaned` hands back where something is expected of its total."""
    printed = f"780K\tsrv/log\n300K\tsrv/app\n{total}\n"
    outcome = {"exit_code": 0, "stdout": printed, "stderr": "", "duration": 0.1, "stdout_lines": 3}
    argv = ["du", "-sch", "srv/log", "srv/app"]
    declared = CommandDeclaration("verify", tuple(argv), expect={"total|합계": parse_limit(limit)})
    return report({"command": "verify", "argv": argv}, outcome, {}, language, {"verify": declared}).to_dict()


def test_an_expectation_that_is_met_stands_with_what_was_done() -> None:
    response = compose("q", "en", CLEANED, {**cleaned(), "todo_004": verified("2.1M\ttotal")})
    said = "total 2.1 MB, below 3.5 MB as expected"
    answer = response.text.split("## Evidence")[0]
    assert f"- `verify`: compared with `measure`\n  - {said}\n" in answer and answer.count("total") == 1
    assert response.text.startswith("## Answer\n\n**What was done**")
    assert f"verify: {said}" in response.summary


def test_an_expectation_that_is_missed_is_the_first_thing_that_the_answer_says() -> None:
    response = compose("q", "en", CLEANED, {**cleaned(), "todo_004": verified("4.0M\ttotal")})
    said = "total 4.0 MB, NOT below 3.5 MB"
    assert response.text.startswith(f"## Answer\n\n**004 Step 4: {said}**\n\n**What was done**")
    assert response.text.split("## Evidence")[0].count("NOT below") == 1
    assert response.summary.startswith(f"verify: {said}") and response.outcome == DONE
    korean = compose("q", "ko", CLEANED, {**cleaned("ko"), "todo_004": verified("4.0M\t합계", "ko")})
    assert korean.text.startswith("## 답변\n\n**004 Step 4: 합계 4.0 MB, 기준(3.5 MB 미만) 미충족**\n\n")


def test_what_is_measured_again_counts_as_it_was_measured_last() -> None:
    argv = {"argv": ["du", "-sch", "srv/log", "srv/app"]}
    todos = [todo(1, arguments=argv, completed_at="1"), todo(2, 1, arguments=argv, completed_at="2")]
    results = {"todo_001": verified("4.0M\ttotal"), "todo_002": verified("2.1M\ttotal")}
    assert "NOT" not in compose("q", "en", todos, results).text.split("## Evidence")[0]
    swapped = {"todo_001": results["todo_002"], "todo_002": results["todo_001"]}
    assert compose("q", "en", todos, swapped).text.startswith("## Answer\n\n**002 Step 2: total 4.0 MB, NOT below")


def test_one_command_that_misses_what_is_expected_says_it_once_and_first() -> None:
    text = compose("q", "en", [todo(1)], {"todo_001": verified("4.0M\ttotal")}).text
    assert text.startswith("## Answer\n\n**001 Step 1: total 4.0 MB, NOT below 3.5 MB**") and text.count("NOT") == 1


def test_what_commands_did_is_told_in_korean() -> None:
    answer = compose("q", "ko", CLEANED, cleaned("ko")).text.split("## 근거")[0]
    assert answer.startswith("## 답변\n\n**실행한 일**\n\n- `measure`: 출력 3줄\n")
    assert "- `clean`: `srv/log`에서 파일 14개 삭제\n" in answer
    assert "- `verify`: `measure` 때와 비교\n  - `srv/log`: 전 4.0M, 후 780K, 약 3.2M 감소\n" in answer
    assert "  - 변화 없음: `srv/app` (300K)\n" in answer


def test_a_deletion_that_was_rejected_is_no_deed() -> None:
    rejected = todo(3, 2, status=Status.FAILED, error="not today", metadata={"rejected": True})
    results = {k: v for k, v in cleaned().items() if k in ("todo_001", "todo_002")}
    text = compose("q", "en", [*CLEANED[:2], rejected, todo(4, 3, status=Status.BLOCKED)], results).text
    did = text.split("## Not done")[0]
    assert "`measure`" in did and "clean" not in did and "deleted" not in did
    assert "- 003 Step 3: not today" in text


def test_commands_that_measure_nothing_alike_are_told_in_their_own_lines() -> None:
    results = {
        "todo_001": ran(
            "count", "tool count", "10 doubled of 22; 12 would stay.", *(f"  for example {n}" for n in "abcd")
        ),
        "todo_002": ran("delete", "tool delete", "10 records deleted, 12 left. `shop`"),
        "todo_003": ran("quiet", "tool quiet"),
        "todo_004": ran("verify", "tool verify", "All is well.", "Left: 12."),
    }
    text = compose("q", "en", [todo(1), todo(2, 1), todo(3, 2), todo(4, 3)], results).text.split("## Evidence")[0]
    assert text == (
        "## Answer\n\n**What was done**\n\n"
        "- `count`: 5 lines of output: `10 doubled of 22; 12 would stay.` … `for example d`\n"
        "- `delete`: `` 10 records deleted, 12 left. `shop` ``\n"
        "- `quiet`: printed nothing\n"
        "- `verify`: 2 lines of output\n  - `All is well.`\n  - `Left: 12.`\n\n"
    )


def test_one_command_that_changed_nothing_answers_with_what_it_printed() -> None:
    text = compose("q", "en", [todo(1)], {"todo_001": ran("list", "ls -l", "a", "b")}).text
    assert text.startswith("## Answer\n\n```text\nls -l\n```\n\nExit code 0")


REMARK = 'Nothing was planned for "and tell ann".'


class Remarking(ListPlanner):
    """A planner that leaves something out and says so."""

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        return replace(await super().plan(query, agents), notes=(REMARK,))


@pytest.mark.parametrize("mode", list(Mode))
async def test_what_the_planner_remarked_is_in_the_answer_in_every_mode(tmp_path: Path, mode: Mode) -> None:
    """Where nobody is asked about the plan, the answer is the first place that says what it left out."""
    place = Place(tmp_path, planner=Remarking([step("low", "a")]))
    place.mode = mode
    async with place.open() as op:
        met = await op.finish()
        response = op.now.response
    assert [bool(met), response is not None] == [mode is not Mode.RISK, True]
    assert response is not None and response["remarks"] == [REMARK]
    assert response["text"].startswith(f"## Answer\n\n{REMARK}\n")


def test_what_nothing_was_planned_for_comes_before_what_was_found() -> None:
    text = compose("q", "ko", [todo(1)], {"todo_001": searched("한도는?", RULE)}, (), ("빠진 것이 있습니다.",)).text
    assert text.startswith("## 답변\n\n빠진 것이 있습니다.\n\n")


def test_what_was_not_run_says_whose_rejection_it_was() -> None:
    rejected = todo(3, 2, status=Status.FAILED, error="rejected by ann", metadata={"rejected": True})
    todos = [*CLEANED[:2], rejected, todo(4, 3, status=Status.BLOCKED)]
    results = {k: v for k, v in cleaned().items() if k in ("todo_001", "todo_002")}
    assert "- 004 Step 4: not run: 003 was rejected" in compose("q", "en", todos, results).text
    assert "- 004 Step 4: 실행하지 않음: 003 거부됨" in compose("q", "ko", todos, results).text


def test_a_graph_that_finished_is_never_told_as_if_nothing_was_carried_out() -> None:
    graph = TeamResult("- **sent**: true\n- **to**: ann", {"values": {}}).to_dict()
    response = compose("q", "en", [todo(1)], {"todo_001": graph})
    assert response.summary == "sent: true"
    silent = compose("q", "en", [todo(1)], {"todo_001": TeamResult("", {}).to_dict()})
    for said in (silent.text, silent.summary):
        assert "Nothing" not in said and "Finished without a text." in said
    rejected = todo(1, status=Status.FAILED, error="rejected by ann", metadata={"rejected": True})
    nothing = compose("q", "en", [rejected], {})
    assert nothing.summary == "Nothing was carried out: 001 was rejected"
    assert nothing.text.startswith("## Answer\n\nNothing was carried out.")


def test_after_going_back_the_answer_names_what_was_not_undone_and_what_was_measured_before() -> None:
    gone = [f"srv/log/{day:02}.gz" for day in range(25)]
    deletion = run_of("todo_003", ran("clean", "find srv/log -type f -name *.gz -print -delete", *gone))
    assert deletion is not None
    lasting = [LastingEffect("todo_003", "Clean", deletion), LastingEffect("todo_009", "")]
    rejected = todo(3, 2, status=Status.FAILED, error="rejected by ann", metadata={"rejected": True})
    measured = [replace(t, run_id=f"s1/{t.id}/0.1") for t in CLEANED[:2]]
    todos = [*measured, rejected, todo(4, 3, status=Status.BLOCKED)]
    results = {k: v for k, v in cleaned().items() if k in ("todo_001", "todo_002")}
    text = compose("q", "en", todos, results, (), (), lasting, 1).text
    assert "- `measure`, before you went back: " in text
    assert "- 003 `clean`: deleted 25 files in `srv/log`\n  - `srv/log/00.gz`" in text
    assert "`srv/log/19.gz`\n  - and 5 more\n" in text and "`srv/log/20.gz`" not in text
    assert "- 009: it ran, and what it did stays" in text
    assert text.index("**What was done**") < text.index("**Not undone by going back**") < text.index("## Not done")
    again = compose("q", "en", [replace(t, run_id=f"s1/{t.id}/1.1") for t in todos[:2]], results, (), (), lasting, 1)
    assert "before you went back" not in again.text, "what was measured since holds"
    korean = compose("q", "ko", todos, results, (), (), lasting, 1).text
    assert "- `measure`(복원 전): " in korean and "**복원해도 그대로 남은 일**" in korean


def test_where_nothing_ran_since_going_back_the_answer_still_names_what_was_not_undone() -> None:
    rejected = todo(1, status=Status.FAILED, error="rejected by ann", metadata={"rejected": True})
    text = compose("q", "en", [rejected], {}, (), (), [LastingEffect("todo_001", "Send")], 1).text
    said = (
        "## Answer\n\nNothing was carried out since you went back.\n\n## Not undone by going back\n\n- 001 Send: it ran"
    )
    assert text.startswith(said)


def test_what_a_person_took_over_from_before_the_restore_is_said_to_be_of_then() -> None:
    taken = {"resolutions": {"eff-1": {"verdict": "use_as_done", "request_id": "r"}}}
    todos = [todo(1), todo(2, 1, run_id="s1/todo_002/1.1", metadata=taken)]
    results = {k: v for k, v in cleaned().items() if k in ("todo_001", "todo_002")}
    assert "- `measure`, before you went back: " in compose("q", "en", todos, results, branch=1).text
    by_hand = report({"command": "measure", "argv": ["du"]}, {"declared_done": True}, {}, "en")
    declared = {**results, "todo_002": by_hand.to_dict()}
    cut_off = compose("q", "en", todos, declared, branch=1).text
    assert "A person said that it was done" in cut_off and "before you went back" not in cut_off


def test_an_edited_command_says_which_values_a_person_changed_and_what_it_did() -> None:
    argv = {"command": "clean", "argv": ["find"], "parameters": {"days": 20, "service": "nginx"}}
    edited = replace(CLEANED[2], arguments=argv, metadata={"edited_by": "ann", "planned": {"days": 14}})
    todos = [*CLEANED[:2], edited, CLEANED[3]]
    text = compose("q", "en", todos, cleaned()).text
    assert text.startswith("## Answer\n\n003 ran with an input that was edited: days 20, not 14\n\n**What was done**")
    korean = compose("q", "ko", todos, cleaned("ko")).text
    assert "003 단계는 고친 입력으로 실행했습니다: days 20 (원래 14)\n" in korean


def test_an_edited_step_says_what_was_edited() -> None:
    asked = {"query": "What is the cap?", "limit": 5}
    edited = todo(1, arguments=asked, metadata={"edited_by": "ann", "planned": {"limit": 8}})
    text = compose("What is the cap?", "en", [edited], {"todo_001": {"text": "It is 5 percent."}}, asks=ASKS).text
    assert "001 ran with an input that was edited: limit 5, not 8\n" in text
    narrowed = todo(
        1,
        arguments={**asked, "documents": ["a.md", "b.md"]},
        metadata={"edited_by": "ann", "planned": {"documents": ["."]}},
    )
    text = compose("What is the cap?", "en", [narrowed], {"todo_001": {"text": "It is 5 percent."}}, asks=ASKS).text
    assert "001 ran with an input that was edited: documents a.md, b.md, not .\n" in text
    moved = {"path": "reports/lease.md"}
    planned = {"path": f"reports/{'the-landlord-wants-' * 6}.md"}
    edited = todo(1, arguments=moved, metadata={"edited_by": "ann", "planned": planned})
    text = compose("Write a report", "en", [edited], {"todo_001": {"text": "It is written."}}).text
    assert "edited: path reports/lease.md, not reports/the-landlord-" in text
    other = todo(1, arguments=asked, metadata={"edited_by": "ann", "planned": {"query": "What is the floor?"}})
    text = compose("What is the floor?", "en", [other], {"todo_001": {"text": "It is 5 percent."}}, asks=ASKS).text
    assert "001 ran with an input that was edited: What is the cap?\n" in text
    both = [other, replace(other, id="todo_002", dependencies=("todo_001",))]
    found = {one.id: {"text": "It is 5 percent."} for one in both}
    text = compose("What is the floor?", "en", both, found, asks=ASKS).text
    assert text.count("001, 002 ran with an input that was edited: What is the cap?\n") == 1


@pytest.mark.parametrize(
    ("path", "now", "was"),
    [
        (("topic",), {"topic": "the cap"}, {"topic": "the floor"}),
        (
            ("input", "question"),
            {"input": {"question": "the cap", "n": 1}},
            {"question": "the floor"},
        ),
    ],
)
def test_an_edited_question_is_told_whatever_its_team_calls_it(
    path: tuple[str, ...], now: dict[str, Any], was: dict[str, Any]
) -> None:
    edited = todo(1, arguments=now, metadata={"edited_by": "ann", "planned": was})
    found = {"todo_001": {"text": "It is 5 percent."}}
    text = compose("the floor", "en", [edited], found, asks={edited.agent_name: path}).text
    assert "001 ran with an input that was edited: the cap\n" in text


WRAPPED = """Audit logs are evidence of who did what, they are
kept for seven years and never deleted.
- The data below srv is what customers pay for, and
  nothing of it is touched.
Owner: Ann
| what a row says is longer than forty cells | 3 |
| and so is what the next row says in this one | 4 |"""


def _weak(query: str, *missing: str) -> dict[str, Any]:
    found = searched(query, RULE, missing=missing)
    found["data"]["weak"] = True
    return found


SURE = searched("Which is due first?", RULE)
REPORT = {"text": "It is due.", "data": {}}


@pytest.mark.parametrize(
    ("results", "after", "unsure"),
    [
        ((_weak("q"),), (), True),
        ((SURE,), (), False),
        ((searched("q"),), (), True),
        ((REPORT,), (), False),
        ((_weak("q"), SURE), (), False),
        ((_weak("q"), {"text": "111.00", "data": {"table": "t.csv"}}), (), False),
        ((_weak("q"), REPORT), (1,), True),
        ((SURE, REPORT), (1,), False),
        ((SURE, _weak("q")), (1,), False),
        ((_weak("q"), {"text": "111.00", "data": {"table": "t.csv"}}), (1,), False),
    ],
)
def test_an_answer_is_unsure_where_all_searches_that_it_rests_on_are(
    results: tuple[dict[str, Any], ...], after: tuple[int, ...], unsure: bool
) -> None:
    todos = [todo(number, *(after if number > 1 else ())) for number in range(1, len(results) + 1)]
    found = compose("q", "en", todos, {t.id: result for t, result in zip(todos, results, strict=True)})
    assert found.unsure is unsure
    assert "unsure" not in found.to_dict()


def test_words_that_stand_nowhere_are_those_of_the_question() -> None:
    results = {"todo_001": searched("parental leave policy", RULE, missing=("parental", "policy"))}
    found = compose("Is there Parental leave?", "en", [todo(1)], results)
    assert (found.unsure, found.missing) == (False, ("parental",))
