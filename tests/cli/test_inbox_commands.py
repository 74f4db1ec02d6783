"""`inbox`, `decide` and `expire`: sessions' questions and steps of agents together (M6, M8)."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
from cli_support import Shell

from hitl_tui.ledger.entry_files import at_once
from hitl_tui.supervisor.data_place import data_place, open_record
from hitl_tui.task_checkpoints.folders import register, store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

ASKS = """
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

builder = StateGraph(dict)
builder.add_node("ask", lambda state: {"said": str(interrupt("How many boxes?"))})
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
graph = builder.compile()
"""
CHOICES = ASKS.replace(
    '"How many boxes?"', '{"question": "Which box?", "options": ["the red one", "2", {"label": "none", "value": None}]}'
)
BREAKS = """
from langgraph.graph import END, START, StateGraph

builder = StateGraph(dict)
builder.add_node("deploy", lambda state: {"said": "deployed"})
builder.add_edge(START, "deploy")
builder.add_edge("deploy", END)
graph = builder.compile(interrupt_before=["deploy"])
"""
Ask = Callable[..., None]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def ask(shell: Shell, tmp_path: Path) -> Ask:
    def asks(task: str = "cleanup", message: str = "10,000 records will be deleted") -> None:
        masc = tmp_path / "agent" / ".masc"
        at_once(TaskCheckpoints(store_of(masc, {})).record(task, 1, "DELETE FROM customers", "cleaner", message))
        register(shell.data, masc)

    return asks


def at_end(process: pexpect.spawn[str]) -> int | None:
    """Return the exit code of what ran at a terminal."""
    process.expect(pexpect.EOF)
    process.close()
    return process.exitstatus


def waiting(shell: Shell, *arguments: str) -> list[dict[str, Any]]:
    ran = shell.run("inbox", "--json", *arguments)
    found: list[dict[str, Any]] = json.loads(ran.out)["requests"]
    assert ran.code == (3 if found else 0)
    return found


def test_both_stand_in_it_and_are_answered_the_same_way(shell: Shell, ask: Ask) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    ask()
    step, session = sorted(waiting(shell), key=lambda one: str(one["source"]), reverse=True)
    assert (step["source"], session["source"]) == ("task", "session")
    assert step["asks"].startswith("Approve cleanup.1? 10,000 records will be deleted")
    assert session["asks"].startswith("Approve 001?")
    ran = shell.run("decide", session["id"], "approve", "--json")
    assert (ran.code, json.loads(ran.out)["status"]) == (0, "decided")
    ran = shell.run("decide", step["id"], "approve", "--digest", step["digest"], "--args", '{"limit": 5}', "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["checkpoint"]["resume_value"] == {"limit": 5}
    assert [one["id"] for one in waiting(shell)] == []
    ran = shell.run("decide", step["id"], "reject", "--reason", "no", "--json")
    assert ran.code == 2
    assert "cleanup.1 was approved by" in json.loads(ran.out)["message"]


def test_each_option_stands_with_the_command_that_gives_it(shell: Shell) -> None:
    agent = shell.workspace / "agent.py"
    agent.write_text(CHOICES, encoding="utf-8")
    begun = shell.run("attach", str(agent), "--input", "{}")
    assert 'option 2: "2"' in begun.out and "/answer req-" in begun.out and "approve " not in begun.out
    [asked] = waiting(shell)
    assert [(c["number"], c["text"], c["value"]) for c in asked["choices"]] == [
        (1, "the red one", "the red one"),
        (2, "2", "2"),
        (3, "none", None),
    ]
    told = shell.run("inbox").out
    for choice in asked["choices"]:
        assert f"  {choice['number']}  {choice['text']}\n     {choice['command']}\n" in told
    assert "decide" in told and " approve" not in told
    refused = shell.run("decide", asked["id"], "approve", "--digest", asked["digest"])
    assert refused.code == 2 and "1 the red one, 2 2, 3 none" in refused.err
    ran = shell.run(*shlex.split(asked["choices"][1]["command"])[1:])
    assert ran.code == 0 and 'Sent: the text "2"' in ran.out


SAY = """
[teams.command_team.commands.say]
description = "Says hello"
run = ["echo", "hello"]
risk = "high"
"""


@pytest.mark.parametrize("answer", ["reject", "skip", "approve"])
def test_a_refusal_of_what_was_shown_counts_whatever_rules_hold_by_now(shell: Shell, answer: str) -> None:
    shell.declare(SAY)
    shell.run("run", "say hello", "--mode", "step")
    (asked,) = waiting(shell)
    shell.declare(SAY + '[[policy]]\nname = "careful"\nteam = "command_team"\ndecision = "ask"\n')
    ran = shell.run("decide", asked["id"], answer, "--digest", asked["digest"], "--reason", "no")
    if answer == "approve":
        assert (ran.code, "the rules changed" in ran.err) == (2, True)
        assert waiting(shell)[0]["id"] != asked["id"]
        return
    assert (ran.code, ran.err) == (0, "")
    assert not waiting(shell)
    (todo,) = shell.run("show", "s1", "--json").json["todos"]
    assert todo["status"] == {"reject": "failed", "skip": "skipped"}[answer]


def test_high_risk_takes_the_digest_where_nobody_sees_the_question(shell: Shell, ask: Ask) -> None:
    ask()
    (step,) = waiting(shell)
    ran = shell.run("decide", step["id"], "approve")
    assert ran.code == 2
    assert "is high-risk; from here, add the digest of the question you were shown." in ran.err
    assert f"hitl-tui decide {step['id']} approve --digest {step['digest'][:16]}" in ran.err
    typed = ("decide", step["id"], "approve", "--reason", "it's old", "--args", '{"limit": 5}')
    printed = shlex.split(shell.run(*typed).err.splitlines()[-1])
    assert printed == ["hitl-tui", *typed, "--digest", step["digest"][:16]]
    assert "DELETE FROM customers" in ran.out, "what the digest stands for"
    assert shell.run("decide", step["id"], "approve", "--digest", "0" * 64).code == 2
    assert shell.run("decide", step["id"], "reject").code == 2  # the agent is told why
    assert len(waiting(shell)) == 1
    assert shell.run("decide", step["id"], "reject", "--reason", "no backup").code == 0
    assert waiting(shell) == []


@pytest.mark.long
def test_at_a_terminal_what_nobody_was_shown_is_shown_first(shell: Shell, ask: Ask, tmp_path: Path) -> None:
    ask()
    step = at_once(TaskCheckpoints(store_of(tmp_path / "agent" / ".masc", {})).the_step("cleanup", None))
    assert step.view is not None
    ran = shell.terminal("decide", step.view.request.id, "approve")
    ran.expect("Nobody was shown this question yet")
    assert at_end(ran) == 2
    ran = shell.terminal("inbox")
    ran.expect("10,000 records will be deleted")
    assert at_end(ran) == 3
    ran = shell.terminal("decide", step.view.request.id, "approve")
    ran.expect("10,000 records will be deleted.*Approved cleanup.1")
    assert at_end(ran) == 0


@pytest.mark.parametrize(
    ("answer", "arguments", "becomes"),
    [
        ("skip", [], "skipped"),
        ("reject", ["--reason", "not needed"], "failed"),
        ("edit", ["--args", "rent"], "waiting_approval"),
    ],
)
def test_a_sessions_step_is_decided_as_in_its_session(
    shell: Shell, answer: str, arguments: list[str], becomes: str
) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    (question,) = waiting(shell)
    ran = shell.run("decide", question["id"], answer, *arguments, "--digest", question["digest"], "--json")
    assert ran.code == 0, ran.err
    (todo,) = shell.run("show", "s1", "--json").json["todos"]
    assert todo["status"] == becomes
    assert answer != "edit" or todo["description"] == "rent"


def test_a_vote_that_others_have_to_join_leaves_it_waiting(shell: Shell, tmp_path: Path) -> None:
    work = tmp_path / "quorum"
    work.mkdir()
    (work / "hitl.toml").write_text('[[policy]]\nteam = "search_team"\ndecision = "ask"\nquorum = 2\n')
    (work / "rules.md").write_text("Staff have 24 days off.\n", encoding="utf-8")
    shell.run("run", "How many days off do staff have?", "--workspace", str(work), "--json")
    (question,) = waiting(shell)
    assert "Nobody can approve this: it takes 2 approvers" in shell.run("inbox").out
    shell.run("approver", "add", "ann")
    assert "0 of 2 approvals" in (listed := shell.run("inbox").out) and "Nobody" not in listed
    ran = shell.run("decide", question["id"], "approve", "--digest", question["digest"])
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "Recorded; 1 more needed to approve.")
    assert "1 of 2 approvals" in shell.run("inbox").out


@pytest.mark.slow
@pytest.mark.long
def test_of_many_at_once_all_but_one_are_told_who_answered(shell: Shell) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    (question,) = waiting(shell)
    answers = [("reject", "--reason", "no"), ("approve",)] * 2
    with ThreadPoolExecutor() as pool:
        ran = list(pool.map(lambda answer: shell.process("decide", question["id"], *answer), answers))
    late = [one for one in ran if one.code != 0]
    assert len(late) == len(ran) - 1, ran
    assert all("Answered already: 001 was" in one.err for one in late), late


def test_what_a_team_asks_takes_a_response(shell: Shell) -> None:
    (shell.workspace / "asks.py").write_text(ASKS)
    shell.run("attach", "asks.py:graph", "--input", "{}", "--json")
    (question,) = waiting(shell)
    assert f"hitl-tui decide {question['id']} respond --args ANSWER" in shell.run("inbox").out
    answer = ("respond", "--args", "three boxes", "--digest", question["digest"], "--json")
    assert shell.run("decide", question["id"], *answer).code == 0
    assert waiting(shell) == []
    (todo,) = shell.run("show", "s1", "--json").json["todos"]
    assert todo["result"]["summary"] == "said: three boxes"


PAY = {"eur": 100, "to": "DE12 3456"}
CALLS: dict[str, tuple[object, tuple[str, ...]]] = {
    "batch of one": (
        {
            "action_requests": [{"name": "pay", "args": PAY, "description": "the invoice"}],
            "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject"]}],
        },
        ("tool: pay", "eur: 100", "to: DE12 3456", "the invoice"),
    ),
    "batch": (
        {
            "action_requests": [{"name": "pay", "args": PAY}, {"name": "tell", "args": {"whom": "ann"}}],
            "review_configs": [],
        },
        ("1 tool: pay", "eur: 100", "2 tool: tell", "whom: ann"),
    ),
    "agent-inbox": (
        {"action_request": {"action": "pay", "args": PAY}, "config": {"allow_accept": True}, "description": "do it"},
        ("eur: 100", "to: DE12 3456", "do it"),
    ),
    "own action": (
        {"action": "send", "message": "Send it?", "to": "ann@example.org", "body": "Dear Ann,\nyes."},
        ("ann@example.org", "Dear Ann,", "yes."),
    ),
    "review": ({"instruction": "Fine?", "content": "all of\nthe text"}, ("Fine?", "all of", "the text")),
}


@pytest.mark.parametrize("kind", CALLS)
def test_what_a_team_asks_stands_whole_wherever_it_is_decided(shell: Shell, kind: str) -> None:
    value, words = CALLS[kind]
    (shell.workspace / "asks.py").write_text(ASKS.replace('"How many boxes?"', repr(value)))
    shell.run("attach", "asks.py:graph", "--input", "{}", "--json")
    (question,) = waiting(shell)
    listed = shell.run("inbox").out
    assert [word for word in words if word not in listed] == []
    assert listed.count("Fine?") <= 1 and listed.count("Send it?") <= 1
    ran = shell.run("decide", question["id"], "approve", "--digest", question["digest"])
    assert [word for word in words if word not in ran.out] == [] and ran.code == 0, ran.err


def test_what_a_step_would_write_or_run_stands_in_the_list_as_in_its_session(shell: Shell) -> None:
    for mode in ("risk", "plan"):
        shell.run("run", "Write a report on the legal cap on a rent increase", "--mode", mode, "--json")
    told = shell.run("inbox").out
    for session in ("s1", "s2"):
        rows = shell.run("show", session).out.partition("\n\n")[2].partition("Answer with")[0].splitlines()
        missing = [row for row in rows if row.startswith("  ") and row.strip() not in told]
        assert [row for row in missing if "digest:" not in row] == []
        assert any(row.startswith("  ") for row in rows)


def test_a_breakpoint_is_called_what_it_is_and_taken_on_as_it_can_be(shell: Shell) -> None:
    (shell.workspace / "breaks.py").write_text(BREAKS)
    shell.run("attach", "breaks.py:graph", "--input", "{}", "--json")
    (question,) = waiting(shell)
    assert question["asks"] == "Answer 001.1? Stopped before deploy: continue?"
    told = shell.run("inbox").out
    assert "Stopped before deploy: continue?" in told and "wants an answer" not in told
    assert "계속할까요" in shell.run("inbox", HITL_LANG="ko").out
    assert question["options"] == ["approve", "step", "stop"]
    for word in question["options"]:
        assert f"hitl-tui decide {question['id']} {word}" in told
    ran = shell.run("decide", question["id"], "step", "--digest", question["digest"])
    assert (ran.code, "Stopped before deploy" in ran.out) == (0, True), ran.err


MIXED = {
    "decisions": [
        {"type": "edit", "edited_action": {"name": "pay", "args": {**PAY, "eur": 50}}},
        {"type": "reject", "message": "not her"},
    ]
}


@pytest.mark.parametrize(
    ("word", "text"),
    [("each", "1 edit eur=50 2 reject not her"), ("respond", json.dumps(MIXED))],
    ids=["words", "JSON"],
)
def test_several_calls_get_a_decision_each(shell: Shell, word: str, text: str) -> None:
    value = {
        "action_requests": [{"name": "pay", "args": PAY}, {"name": "tell", "args": {"whom": "ann"}}],
        "review_configs": [
            {"action_name": name, "allowed_decisions": ["approve", "edit", "reject"]} for name in ("pay", "tell")
        ],
    }
    (shell.workspace / "asks.py").write_text(ASKS.replace('"How many boxes?"', repr(value)))
    shell.run("attach", "asks.py:graph", "--input", "{}", "--json")
    (question,) = waiting(shell)
    assert question["options"] == ["approve", "each", "reject", "stop"]
    assert f"hitl-tui decide {question['id']} each --args '1 DECISION 2 DECISION'" in shell.run("inbox").out
    digest = ("--digest", question["digest"])
    refused = shell.run("decide", question["id"], "edit", "--args", '{"eur": 50}', *digest)
    assert refused.code == 2
    ran = shell.run("decide", question["id"], word, "--args", text, *digest, "--json")
    assert (ran.code, ran.json["sent"]) == (0, MIXED)


FORM = ASKS.replace(
    "from langgraph.types import interrupt",
    """from langgraph.types import interrupt

FIELDS = {
    "type": "object",
    "properties": {
        "eur": {"type": "integer", "maximum": 500, "description": "how much at most"},
        "speed": {"enum": ["fast", "slow"], "default": "slow"},
        "why": {"type": "string"},
    },
    "required": ["eur", "why"],
}
""",
).replace('interrupt("How many boxes?")', 'interrupt("Pay?", response_schema=FIELDS)')


def test_a_form_names_its_fields_with_their_types_and_limits(shell: Shell) -> None:
    (shell.workspace / "asks.py").write_text(FORM)
    for ran in (shell.run("attach", "asks.py:graph", "--input", "{}"), shell.run("show", "s1"), shell.run("inbox")):
        lines = [line.strip() for line in ran.out.splitlines()]
        assert "eur: a whole number of 500 or less, needed · how much at most" in lines, ran
        assert 'speed: one of fast, slow · "slow" unless it is changed' in lines
        assert "why: text, needed" in lines


def test_the_options_of_a_question_are_the_answers_that_it_takes(shell: Shell) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    (step,) = waiting(shell)
    assert step["options"] == ["approve", "reject", "skip", "edit"]
    assert shell.run("show", "s1", "--json").json["questions"][0]["options"] == step["options"]
    (shell.workspace / "asks.py").write_text(ASKS)
    document = shell.run("attach", "asks.py:graph", "--input", "{}", "--json").json
    asked = next(one for one in waiting(shell) if one["kind"] == "interrupt")
    assert document["questions"][0]["options"] == asked["options"] == ["respond", "stop"]
    refused = shell.run("decide", asked["id"], "reject", "--digest", asked["digest"])
    assert refused.code == 2 and "it takes respond, stop." in refused.err


def test_what_failed_is_retried_or_stopped(shell: Shell) -> None:
    (shell.workspace / "fails.py").write_text(ASKS.replace("lambda state: {", "lambda state: 1 / 0 and {"))
    shell.run("attach", "fails.py:graph", "--input", "{}", "--json")
    (question,) = waiting(shell)
    offered = shell.run("inbox").out
    for answer in question["options"]:
        assert f"hitl-tui decide {question['id']} {answer}" in offered
    assert "approve" not in offered.splitlines()[-2]
    ran = shell.run("decide", question["id"], "approve", "--digest", question["digest"])
    assert (ran.code, "it takes retry, skip, stop" in ran.err) == (2, True)
    assert shell.run("decide", question["id"], "stop").code == 0
    assert waiting(shell) == []


def test_what_expires_first_comes_first_and_words_filter(shell: Shell, ask: Ask, tmp_path: Path) -> None:
    ask("late")
    (tmp_path / "agent" / "hitl.toml").write_text('[[policy]]\nagent = "*"\ndecision = "ask"\ndeadline = "1h"\n')
    from hitl_tui.task_checkpoints.folders import policy_of

    masc = tmp_path / "agent" / ".masc"
    tasks = TaskCheckpoints(store_of(masc, {}), policy_of(masc))
    at_once(tasks.record("soon", 1, "send the mail", "mailer", "Send it?"))
    assert [one["task_id"] for one in waiting(shell)] == ["soon", "late"]
    assert [one["task_id"] for one in waiting(shell, "--search", "records CUSTOMERS")] == ["late"]
    assert waiting(shell, "--search", "nothing like it") == []


def test_expire_settles_what_is_overdue_once(shell: Shell, tmp_path: Path) -> None:
    masc = tmp_path / "agent" / ".masc"
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "hitl.toml").write_text('[[policy]]\ndecision = "ask"\ndeadline = "1s"\n')
    from hitl_tui.task_checkpoints.folders import policy_of

    long_ago = TaskCheckpoints(store_of(masc, {}), policy_of(masc), lambda: "2026-01-01T00:00:00.000000+00:00")
    at_once(long_ago.record("old", 1, "x", "a", "?"))
    register(shell.data, masc)
    assert len(json.loads(shell.run("expire", "--json").out)["expired"]) == 1
    assert json.loads(shell.run("expire", "--json").out)["expired"] == []
    assert waiting(shell) == []


def test_what_expired_shows_so_before_anybody_opens_its_session(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text('[[policy]]\nteam = "search_team"\ndecision = "ask"\ndeadline = "1h"\n')
    ran = shell.run("run", "What is the legal cap on a rent increase?", "--session", "z1", "--mode", "risk", "--json")
    assert ran.code == 3

    async def expire() -> None:
        async with open_record(data_place(shell.data, {})) as ledger:
            assert len(await ledger.expire("2999-01-01T00:00:00.000000+00:00")) == 1

    asyncio.run(expire())
    document = json.loads(shell.run("show", "z1", "--json").out)
    assert (document["session_status"], document["todos"][0]["status"]) == ("finished", "failed")
    (listed,) = json.loads(shell.run("sessions", "--json").out)["sessions"]
    assert (listed["session_status"], listed["tally"]) == ("finished", {"expired": 1})
    shown = shell.run("show", "z1").out
    assert "expired" in shown and "asks" not in shown and "interrupted" not in shown
    assert "(the deadline passed)  001 expired: reject" in shell.run("audit", "decisions", "z1").out


def test_chat_commands_decide_tasks_too(shell: Shell, ask: Ask) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    ask("one")
    ask("two")
    ran = shell.run("do", "s1", '/approve one {"ok": true}', "--json")
    assert ran.code == 3  # the session waits on
    assert json.loads(ran.out)["checkpoint"]["resume_value"] == {"ok": True}
    assert "cleaner: DELETE FROM customers" in json.loads(ran.out)["message"]
    ran = shell.run("do", "s1", "/reject two too risky", "--json")
    assert json.loads(ran.out)["checkpoint"]["reason"] == "too risky"
    ran = shell.run("do", "s1", "/approve two", "--json")
    assert (ran.code, json.loads(ran.out)["reason"]) == (2, "late")
    assert shell.run("do", "s1", "/approve unknown").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["decide", "req-unknown", "approve"], "No request req-unknown.\nhitl-tui inbox lists"),
        (["decide", "req-unknown", "perhaps"], "perhaps"),
        (["decide", "req-unknown", "edit"], "needs --args"),
        (["decide", "req-unknown", "edit", "--args", "@/nowhere"], "can't be read"),
        (["decide", "req-unknown", "respond"], "needs --args"),
    ],
)
def test_bad_input_is_one_sentence(shell: Shell, arguments: list[str], words: str) -> None:
    ran = shell.run(*arguments)
    assert ran.code == 2
    assert words in ran.err


def test_arguments_nested_too_deeply_are_refused(shell: Shell, ask: Ask) -> None:
    ask()
    (step,) = waiting(shell)
    digest = ("--digest", step["digest"])
    ran = shell.run("decide", step["id"], "approve", *digest, "--args", "[" * 50_000 + "]" * 50_000)
    assert ran.code == 2
    assert "nested too deeply" in ran.err
    assert len(waiting(shell)) == 1


def test_a_damaged_folder_is_named_and_hides_no_other(shell: Shell, ask: Ask, tmp_path: Path) -> None:
    ask("fine")
    masc = tmp_path / "broken" / ".masc"
    at_once(TaskCheckpoints(store_of(masc, {})).record("bad", 1, "x", "a", "?"))
    register(shell.data, masc)
    (masc / "state" / "checkpoints" / "bad" / "000001.json").write_text("{")
    ran = shell.run("inbox", "--json")
    found = json.loads(ran.out)
    assert [one["task_id"] for one in found["requests"]] == ["fine"]
    assert "damaged" in found["problems"][0]
    (step,) = found["requests"]
    shell.run("decide", step["id"], "reject", "--reason", "no")
    for command in ("inbox", "expire"):
        ran = shell.run(command)
        assert ran.code == 1, "who looks from a script is told that something couldn't be read"
        assert "damaged" in ran.err


SHAPES = Path(__file__).resolve().parents[1] / "commands" / "shape_graphs.py"


def asked_from_inside(shell: Shell, graph: str) -> dict[str, Any]:
    """Return what a graph of `shape_graphs.py` asks, as JSON."""
    ran = shell.run("attach", f"{SHAPES}:{graph}", "--input", "{}", "--json")
    assert ran.code == 3, ran
    (question,) = ran.json["questions"]
    return dict(question)


def test_what_a_rule_denies_is_said_wherever_it_is_asked_and_not_offered(shell: Shell) -> None:
    """(M10)"""
    shell.declare('[[policy]]\nname = "no sql"\ntool = "run_sql"\narguments = {}\ndecision = "deny"\n')
    asked = asked_from_inside(shell, "batch")
    why = 'Call 1: Rule 1 "no sql" of the policy denies run_sql with these arguments; it can only be rejected.'
    assert asked["notes"] == [why]
    assert "approve" not in asked["commands"] and "approve" not in asked["options"]
    (waits,) = json.loads(shell.run("inbox", "--json").out)["requests"]
    assert "approve" not in waits["options"] and waits["notes"] == [why]
    listed = shell.run("inbox").out
    assert why in listed and " approve" not in listed
    for shown in (shell.run("show", asked["subject"]["session"]).out, shell.run("--line", input="").out):
        assert shown == "" or why in shown
    ran = shell.run("decide", asked["id"], "approve", "--digest", asked["digest"])
    assert ran.code == 2 and "of the policy denies run_sql" in ran.err


@pytest.mark.parametrize("answer", ["stop", "reject"])
def test_what_has_no_rejection_of_its_own_is_refused_by_stopping_its_step(shell: Shell, answer: str) -> None:
    asked = asked_from_inside(shell, "review")
    (waits,) = json.loads(shell.run("inbox", "--json").out)["requests"]
    assert waits["options"] == asked["options"] == ["approve", "edit", "stop"]
    assert f"hitl-tui decide {asked['id']} stop" in shell.run("inbox").out
    ran = shell.run("decide", asked["id"], answer, "--digest", asked["digest"], "--reason", "not now", "--json")
    assert (ran.code, ran.json["verdict"], ran.err) == (0, "reject", "")
    assert "failed" not in ran.json
    shown = shell.run("show", asked["subject"]["session"]).out
    assert "not now" in shown


def test_a_no_takes_a_reason_that_goes_on_record(shell: Shell) -> None:
    asked = asked_from_inside(shell, "yes_no")
    ran = shell.run("decide", asked["id"], "reject", "--digest", asked["digest"], "--reason", "we need them", "--json")
    assert (ran.code, ran.json["sent"], ran.json["action"]) == (0, False, "reject")
    assert "“we need them”" in shell.run("do", asked["subject"]["session"], "/decisions").out


def test_beside_the_approval_of_what_waits_stands_its_refusal(shell: Shell, ask: Ask) -> None:
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    shell.run("run", "What is the legal cap on a rent increase?", "--mode", "plan", "--session", "p", "--json")
    shell.run("do", "s1", "add a report")
    ask()
    told = shell.run("inbox").out.splitlines()
    found = waiting(shell)
    assert {one["kind"] for one in found} == {"todo", "plan", "proposal", "external"}
    for one in found:
        approves = f"  hitl-tui decide {one['id']} approve"
        place = next(n for n, line in enumerate(told) if line.startswith(approves))
        why = " --reason WHY" if one["source"] == "task" else ""
        assert told[place + 1] == f"  hitl-tui decide {one['id']} reject{why}"
    for one in found:
        why = ("--reason", "no") if one["source"] == "task" else ()
        assert shell.run("decide", one["id"], "reject", *why).code == 0
