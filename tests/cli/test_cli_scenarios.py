"""The scenarios word for word, through `run` and `do` in real processes (S1 to S3)."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_support import S1_EN, S1_KO, Shell, by_id, read_until, statuses

pytestmark = pytest.mark.long


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def run_threads(shell: Shell, session: str) -> set[str]:
    """Return the threads that attempts of TODOs left in a session's checkpoints."""
    path = shell.data / "sessions" / session / "checkpoints.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    return {str(row[0]) for row in rows if "/" in str(row[0])}


@pytest.mark.parametrize(
    ("question", "file"), [(S1_KO, "what-to-do.md"), pytest.param(S1_EN, "summary-en.md", marks=pytest.mark.slow)]
)
def test_s1_search_then_analysis_each_approved(shell: Shell, question: str, file: str) -> None:
    begun = shell.process("run", question, "--json")
    assert begun.code == 3
    assert begun.json["status"] == "waiting"
    assert [t["agent_name"] for t in begun.json["todos"]] == ["search_team", "analysis_team"]
    assert by_id(begun.json)["todo_002"]["dependencies"] == ["todo_001"]
    (asked,) = begun.json["questions"]
    assert asked["subject"]["arguments"]["query"] == question
    assert asked["commands"]["approve"] == f"/todo approve {asked['id']}"

    searched = shell.process("do", "s1", "/todo approve", "--json")
    assert searched.code == 3
    assert (searched.json["status"], searched.json["todo_id"]) == ("resumed", "todo_001")
    assert statuses(searched.json) == ["completed", "waiting_approval"]
    assert searched.json["response"] is None

    answered = shell.process("do", "s1", "/todo approve", "--json")
    assert answered.code == 0
    assert answered.json["session_status"] == "finished"
    assert "233.3%" in answered.json["response"]
    cited = {c["path"] for c in answered.json["response_details"]["citations"]}
    assert file in cited
    assert answered.json["response_details"]["outcome"] == "done"


def test_s2_plain_text_becomes_a_proposal_that_adds_analysis(shell: Shell) -> None:
    begun = shell.run("run", "강남구 아파트 시세 조회", "--json")
    assert [t["agent_name"] for t in begun.json["todos"]] == ["search_team"]
    proposed = shell.run("do", "s1", "검색만으로 부족할 것 같아. 분석도 추가해줘.", "--json")
    assert (proposed.code, proposed.json["status"]) == (3, "proposed")
    assert len(proposed.json["todos"]) == 1, "a proposal changes nothing before it is accepted"
    accepted = shell.run("do", "s1", f"/proposal accept {proposed.json['proposal_id']}", "--json")
    assert [t["agent_name"] for t in accepted.json["todos"]] == ["search_team", "analysis_team"]
    assert shell.run("do", "s1", "/todo approve", "--json").json["todo_id"] == "todo_001"
    last = shell.run("do", "s1", "/todo approve", "--json")
    assert (last.code, last.json["todo_id"]) == (0, "todo_002")
    assert "sample-apartment-prices.csv" in last.json["response"]


def finish_after_restore(shell: Shell, session: str) -> None:
    """List checkpoints, restore the last waiting one, approve; only analysis may run."""
    listed = shell.run("do", session, "/checkpoint list", "--json")
    assert listed.code == 0
    last = next(c for c in listed.json["checkpoints"] if c["waiting"])
    assert last["todos_completed"] == 1
    before = by_id(listed.json)["todo_001"]
    assert (before["status"], before["attempt"]) == ("completed", 1)

    restored = shell.run("do", session, f"/checkpoint restore {last['checkpoint_id']}", "--json")
    assert (restored.code, restored.json["status"]) == (3, "restored")
    assert restored.json["checkpoint_id"] == last["checkpoint_id"]
    assert statuses(restored.json) == ["completed", "waiting_approval"]

    approved = shell.run("do", session, "/todo approve", "--json")
    assert approved.code == 0
    assert approved.json["todo_id"] == "todo_002"
    assert by_id(approved.json)["todo_001"] == before
    assert by_id(approved.json)["todo_002"]["attempt"] == 1
    assert {t.rsplit("/", 1)[0] for t in run_threads(shell, session)} == {f"{session}/todo_001", f"{session}/todo_002"}
    assert len([t for t in run_threads(shell, session) if "todo_001" in t]) == 1, "search ran once"
    assert "233.3%" in approved.json["response"]
    assert shell.run("audit", "verify").code == 0


def test_s3_killed_the_moment_search_completed(shell: Shell) -> None:
    shell.run("run", S1_KO)
    approving = shell.terminal("do", "s1", "/todo approve")
    approving.expect("todo_001 finished")
    approving.kill(signal.SIGKILL)
    approving.wait()
    finish_after_restore(shell, "s1")


@pytest.mark.slow
def test_s3_killed_while_the_next_question_waits(shell: Shell) -> None:
    owner = shell.start("--line", "--session", "lease", S1_KO)
    assert owner.stdin is not None
    read_until(owner, "Answer with")
    owner.stdin.write("/todo approve\n")
    owner.stdin.flush()
    read_until(owner, "Approve 002? · ")
    owner.kill()
    owner.communicate()
    finish_after_restore(shell, "lease")


def test_everything_approved_is_what_was_shown(shell: Shell) -> None:
    shown: dict[str, str] = {}
    document = shell.run("run", S1_KO, "--json").json
    while document["questions"]:
        for question in document["questions"]:
            shown[question["todo_id"]] = question["digest"]
        document = shell.run("do", "s1", "/todo approve", "--json").json
    approved = {todo["id"]: todo["approval"]["digest"] for todo in document["todos"]}
    assert approved == shown


def events(shell: Shell) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shell.run("audit", "export", "s1").out.splitlines()]


def test_decisions_carry_who_and_through_what(shell: Shell) -> None:
    shell.run("run", "강남구 아파트 시세 조회")
    assert shell.run("do", "s1", "/todo reject 1 not now", "--as", "김 감독").code == 0
    decided = [e for e in events(shell) if "decision" in e["kind"] or "decided" in e["kind"]]
    assert decided, "a decision is in the record"
    text = json.dumps(decided, ensure_ascii=False)
    assert "김 감독" in text
    assert "not now" in text
    assert '"cli"' in text
