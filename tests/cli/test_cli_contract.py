"""What scripts can rely on: documents, exit codes, streams, signals, two processes on one session."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from cli_support import Shell, read_until

FULL = Path("/dev/full")
QUESTION = "차임 증액의 상한"

SESSION_KEYS = {
    "session_id",
    "session_status",
    "current_todo_id",
    "summary",
    "tally",
    "todos",
    "questions",
    "response",
    "response_details",
    "plan_review",
}
QUESTION_KEYS = {
    "id",
    "kind",
    "todo_id",
    "source",
    "subject",
    "digest",
    "about",
    "options",
    "name",
    "commands",
    "opened_at",
    "first_shown",
    "risk_class",
    "deadline",
    "terms",
    "decisions",
    "preview",
}

ASKING = """
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    said: str


builder = StateGraph(State)
builder.add_node("ask", lambda state: {"said": str(interrupt("What shall I say?"))})
builder.add_edge(START, "ask")
graph = builder.compile()
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_documents_have_these_keys(shell: Shell) -> None:
    begun = shell.run("run", QUESTION, "--json", "--session", "deal").json
    assert begun.keys() == {"status", "message"} | SESSION_KEYS
    assert begun["session_id"] == "deal"
    assert begun["questions"][0].keys() == QUESTION_KEYS
    assert begun["summary"]["pending"] == begun["summary"]["waiting_approval"] == 1

    looked = shell.run("do", "deal", "/todos", "--json").json
    assert looked.keys() == {"status", "message", "checkpoint_id"} | SESSION_KEYS
    approved = shell.run("do", "deal", "/todo approve", "--json").json
    assert approved.keys() == {"status", "message", "todo_id", "request_id", "verdict"} | SESSION_KEYS
    answer = {"summary", "citations", "files", "outcome", "remarks", "found", "question", "language"}
    assert approved["response_details"].keys() == answer

    shown = shell.run("show", "deal", "--json").json
    more = {"query", "workspace", "mode", "branch", "checkpoint_id", "owned"}
    more |= {"model", "used", "used_by", "budget", "token_budget", "interrupted", "cut_off"}
    assert shown.keys() == {"status", "message"} | more | SESSION_KEYS
    assert shown["response"] == approved["response"]
    (listed,) = shell.run("sessions", "--json").json["sessions"]
    assert (listed["session_id"], listed["session_status"]) == ("deal", "finished")


def test_people_see_the_plan_the_whole_question_and_how_to_answer(shell: Shell) -> None:
    begun = shell.run("run", QUESTION)
    assert begun.code == 3
    assert begun.err == ""
    for part in (
        "? asks",
        f"query: {QUESTION}",
        "digest: ",
        "s1 waits for your decision",
    ):
        assert part in begun.out
    assert '{"' not in begun.out, "the exact subject is for programs: --json has it"
    answer = re.search(r'hitl-tui do s1 "(/todo approve req-[0-9a-f]{16})"', begun.out)
    assert answer is not None
    done = shell.run("do", "s1", answer[1])
    assert done.code == 0
    assert "✓ done" in done.out
    assert "s1 is finished." in done.out


def test_answering_commands_name_the_data_folder_when_it_was_given(shell: Shell, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other place"
    begun = shell.run("run", QUESTION, "--data", str(elsewhere))
    assert f"hitl-tui do s1 --data '{elsewhere}' \"/todo approve req-" in begun.out
    assert not shell.data.exists()


def test_a_printed_command_is_what_a_shell_gives_on(shell: Shell) -> None:
    answer = '"it\'s" $(touch pwned) `touch pwned` \\ !!'
    (shell.workspace / "agent.py").write_text(ASKING, encoding="utf-8")
    asked = shell.run("attach", "agent.py:graph", "--input", "{}", "--json").json["questions"][0]["id"]
    refused = shell.run("do", "s1", f"/answer 1 {answer}")
    (line,) = [line.strip() for line in refused.err.splitlines() if "hitl-tui do" in line]
    words = line.replace("hitl-tui do s1", "printf '%s\n'", 1)
    given = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=shell.workspace, check=True)
    assert given.stdout == f"/answer {asked} {answer}\n"
    assert not (shell.workspace / "pwned").exists()


def test_a_refused_command_changes_nothing_and_says_so_once(shell: Shell) -> None:
    before = shell.run("run", QUESTION, "--json").json
    plain = shell.run("do", "s1", "/todo update 1 completd")
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.startswith('Error: Unknown status "completd"')
    told = shell.run("do", "s1", "/todo cancel 1", "--json")
    assert told.code == 2
    assert told.err == ""
    assert told.json["status"] == "error"
    assert told.json["error"] == told.json["message"]
    assert told.json["todos"] == before["todos"]


def test_a_failed_session_has_exit_code_1(shell: Shell) -> None:
    shell.declare('[teams.command_team.commands.broken]\nrun = ["false"]\nrisk = "low"\ntimeout = "20s"\n')
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo add command_team broken")
    shell.run("do", "s1", "/todo skip 1")
    failing = shell.run("do", "s1", "/todo approve 2", "--json").json
    assert [q["kind"] for q in failing["questions"]] == ["failure"]
    ended = shell.run("do", "s1", "/stop", "--json")
    assert ended.code == 1
    assert ended.json["session_status"] == "failed"


def test_json_errors_are_one_document_too(shell: Shell) -> None:
    unknown = shell.run("do", "s9", "/todos", "--json")
    assert (unknown.code, unknown.err) == (2, "")
    assert unknown.json.keys() == {"status", "error", "message", "kind"}
    wrong = shell.run("run", "--json")
    assert wrong.code == 2
    assert wrong.json["help"].startswith("hitl-tui run QUERY")


def test_a_query_comes_from_standard_input(shell: Shell) -> None:
    begun = shell.run("run", "-", "--json", input=f"\ufeff{QUESTION}\n")
    assert begun.code == 3
    assert begun.json["questions"][0]["subject"]["arguments"]["query"] == QUESTION


@pytest.mark.long
def test_the_second_process_records_and_the_owner_acts(shell: Shell) -> None:
    owner = shell.start("--line", QUESTION)
    assert owner.stdin is not None
    read_until(owner, "Answer with")
    recorded = shell.process("do", "s1", "/todo approve", "--json")
    assert recorded.code == 0
    assert recorded.json["status"] == "recorded"
    assert recorded.json["intended"] == "resumed"
    assert shell.run("show", "s1", "--json").json["owned"] is True
    read_until(owner, "[001] finished")
    out, err = owner.communicate("/todos\n")
    assert owner.returncode == 0
    assert err == ""
    assert "✓ done" in out
    ended = shell.run("show", "s1", "--json").json
    assert (ended["session_status"], ended["owned"]) == ("finished", False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code", "kind"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminated"),
    ],
)
def test_a_signal_closes_cleanly_and_leaves_nothing_running(
    shell: Shell, number: signal.Signals, code: int, kind: str
) -> None:
    alive = shell.workspace / "alive"
    os.mkfifo(alive)
    script = f"setsid sh -c 'exec 9> {alive}; sleep 600' & sleep 600"
    run = json.dumps(["sh", "-c", script])
    shell.declare(f'[teams.command_team.commands.long]\nrun = {run}\nrisk = "low"\n')
    shell.run("run", QUESTION)
    shell.run("do", "s1", "/todo add command_team long")
    running = shell.terminal("do", "s1", "/todo approve 2", "--json")
    with alive.open("rb") as held:  # opens when the child of the command has opened it, ends when that is gone
        running.kill(number)
        told = running.read()
        running.wait()
        assert held.read() == b""
    assert running.exitstatus == code
    document = json.loads(told)
    assert (document["kind"], document["session_id"]) == (kind, "s1")
    assert "Traceback" not in told
    assert shell.run("audit", "verify").code == 0
    (listed,) = shell.run("sessions", "--json").json["sessions"]
    assert listed["owned"] is False


@pytest.mark.long
def test_a_reader_that_leaves_is_no_error(shell: Shell) -> None:
    process = subprocess.Popen(
        shell.command("run", QUESTION),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=shell.workspace,
        env=shell.env,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 3


@pytest.mark.long
@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("argument", ["sessions", "--help", "--version"])
def test_output_that_cannot_be_written_is_one_sentence(shell: Shell, argument: str) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            shell.command(argument), stdout=full, stderr=subprocess.PIPE, env=shell.env, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "hitl-tui: The output can't be written: No space left on device.\n"


def test_audit_verifies_against_an_anchor_kept_elsewhere(shell: Shell) -> None:
    shell.run("run", QUESTION)
    anchor = shell.run("audit", "head", "s1").out.strip()
    assert anchor.startswith("s1 ")
    assert shell.run("audit", "verify", "--anchor", anchor).code == 0
    exported = shell.run("audit", "export", "s1", "--json").json["entries"]
    assert [e["n"] for e in exported] == list(range(1, len(exported) + 1))
    later = re.sub(r" (\d+) ", lambda m: f" {int(m[1]) + 5} ", anchor)
    broken = shell.run("audit", "verify", "--anchor", later, "--json")
    assert broken.code == 1
    assert broken.json["status"] == "changed"


def test_the_same_command_in_another_data_folder_asks_under_other_ids(tmp_path: Path) -> None:
    shells = [Shell(tmp_path / name) for name in ("a", "b")]
    asked = [shell.run("run", QUESTION, "--json").json["questions"][0] for shell in shells]
    assert asked[0]["id"] != asked[1]["id"]
    for shell, question in zip(shells, asked, strict=True):
        assert shell.run("show", "s1", "--json").json["questions"][0]["id"] == question["id"]
    refused = shells[0].run("do", "s1", f"/todo approve {asked[1]['id']}", "--json")
    assert refused.code != 0
    assert shells[0].run("do", "s1", f"/todo approve {asked[0]['id']}", "--json").code == 0


def test_what_a_table_would_be_asked_stands_in_the_question(shell: Shell) -> None:
    (shell.workspace / "sales.csv").write_text("product,units\ntea,10\ncoffee,5\ntea,3\n", encoding="utf-8")
    asked = "How many units of tea are in sales.csv?"
    for mode, label in (("step", "runs"), ("plan", "001 runs")):
        begun = shell.run("run", asked, "--mode", mode, "--session", mode)
        assert f"  {label}: sales.csv: total of units (product = tea)\n  SQL: SELECT sum" in begun.out
    [question] = shell.run("show", "step", "--json").json["questions"]
    [planned] = question["preview"]["queries"]
    assert planned["tables"] == ["sales.csv"] and "sum" in planned["sql"]
    done = shell.run("do", "step", "/todo approve")
    assert "**13**" in done.out and planned["sql"] in done.out
    further = shell.run("do", "step", "How many units of coffee are in sales.csv?")
    assert "  002 runs: sales.csv: total of units (product = coffee)\n" in further.out


def test_of_a_long_plan_the_queries_of_the_first_steps_are_worked_out(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitl_tui.supervisor.open_questions._MOST_QUERIES", 1)
    (shell.workspace / "sales.csv").write_text("product,units\ntea,10\ncoffee,5\ntea,3\n", encoding="utf-8")
    asked = "How many units of tea are in sales.csv? And how many units of coffee are in sales.csv?"
    begun = shell.run("run", asked, "--mode", "plan")
    assert begun.out.count(" runs: sales.csv: ") == 1 and "1 more step asks tables" in begun.out
