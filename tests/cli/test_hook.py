"""`hitl-tui hook`: what a program is told before its agent calls a tool.

The contract of Claude Code is the one that its documentation of hooks describes; the program itself isn't run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import DEADLINE, Ran, Shell

RULES = """
[[policy]]
name = "no force"
agent = "claude-code"
action = "Bash"
arguments = { properties = { command = { pattern = "push .*--force" } } }
decision = "deny"

[[policy]]
name = "looking"
agent = "claude-*"
action = "Bash"
arguments = { properties = { command = { enum = ["git status", "git diff"] } }, required = ["command"] }
decision = "allow"
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def call(command: str = "rm -rf build", **changes: Any) -> str:
    """Return what Claude Code sends before it runs a command."""
    sent = {
        "session_id": "0b9f1c52-77aa",
        "transcript_path": "/home/ann/.claude/projects/x.jsonl",
        "cwd": "/work/project",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Clean the build"},
        "tool_use_id": "toolu_01",
    }
    return json.dumps({**sent, **changes}, ensure_ascii=False)


def asked(shell: Shell, sent: str | bytes, wait: str = "0", **changes: str) -> dict[str, Any]:
    """Return the answer of Claude Code's hook."""
    ran = shell.run("hook", "claude-code", "--wait", wait, input=sent, **changes)
    assert (ran.code, ran.err) == (0, "")
    return output(ran)


def output(ran: Ran) -> dict[str, Any]:
    found = ran.json["hookSpecificOutput"]
    assert found["hookEventName"] == "PreToolUse"
    assert found["permissionDecision"] in ("allow", "deny", "ask") and found["permissionDecisionReason"]
    assert isinstance(found, dict)
    return found


def waiting(shell: Shell) -> list[dict[str, Any]]:
    found = json.loads(shell.run("inbox", "--json").out)["requests"]
    assert isinstance(found, list)
    return found


def decide(shell: Shell, answer: str, *more: str) -> Ran:
    (request,) = waiting(shell)
    ran = shell.run("decide", request["id"], answer, "--digest", request["digest"], *more)
    assert ran.code in (0, 3), ran.err
    return ran


def test_a_rule_allows_in_a_trusted_folder_and_its_name_is_the_reason(shell: Shell) -> None:
    shell.declare(RULES)
    said = asked(shell, call("git status"))
    assert (said["permissionDecision"], said["permissionDecisionReason"]) == (
        "allow",
        'hitl.toml rule 2 "looking" allows it.',
    )
    assert asked(shell, call("git status; rm -rf /"))["permissionDecision"] == "ask"
    assert len(waiting(shell)) == 1


def test_in_a_folder_that_nobody_trusts_no_rule_allows(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text(RULES)
    said = asked(shell, call("git status"))
    assert said["permissionDecision"] == "ask"
    assert "hitl-tui trust" in said["permissionDecisionReason"]
    shell.declare(RULES)
    (shell.workspace / "hitl.toml").write_text(RULES.replace('"git diff"', '"git diff", "id"'))
    assert asked(shell, call("id"))["permissionDecision"] == "ask"  # whoever widens a rule doesn't profit from it


def test_a_rule_denies_trusted_or_not_and_it_is_on_record(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text(RULES)
    said = asked(shell, call("git push --force origin main"))
    assert said["permissionDecision"] == "deny"
    assert '"no force"' in said["permissionDecisionReason"]
    (entry,) = (shell.workspace / ".masc").rglob("000001.json")
    assert json.loads(entry.read_text())["data"]["ruled"] == {"ruling": "deny", "rule": 1, "name": "no force"}
    assert waiting(shell) == []


def test_who_edits_a_trusted_folder_loosens_no_rule(shell: Shell) -> None:
    two = RULES + '[[policy]]\nname = "two"\nagent = "claude-code"\ndecision = "ask"\nquorum = 2\n'
    shell.declare(two)
    for text in (two.replace('"deny"', '"ask"').replace("quorum = 2", "quorum = 1"), ""):
        (shell.workspace / "hitl.toml").write_text(text)
        said = asked(shell, call("git push --force"))
        assert said["permissionDecision"] == "deny" and '"no force"' in said["permissionDecisionReason"]
        asked(shell, call(f"make # {len(text)}"))
        assert {one["quorum"] for one in waiting(shell)} == {2}
    (shell.workspace / "hitl.toml").unlink()
    assert asked(shell, call("git push --force"))["permissionDecision"] == "deny"


def test_what_a_person_approves_may_be_done_once_and_exactly_so(shell: Shell) -> None:
    said = asked(shell, call())
    assert said["permissionDecision"] == "ask"
    (request,) = waiting(shell)
    assert request["subject"]["arguments"] == {"command": "rm -rf build", "description": "Clean the build"}
    assert request["id"] in said["permissionDecisionReason"]
    assert request["options"] == ["approve", "reject", "edit"]
    decide(shell, "approve", "--reason", "it is only the build")
    for other in (call("rm -rf build "), call(cwd="/"), call(session_id="another"), call(tool_name="Shell")):
        assert asked(shell, other)["permissionDecision"] == "ask"
    said = asked(shell, call())
    assert said["permissionDecision"] == "allow"
    assert "tester" in said["permissionDecisionReason"] and "it is only the build" in said["permissionDecisionReason"]
    assert "updatedInput" not in said
    assert asked(shell, call())["permissionDecision"] == "ask"


def test_it_waits_for_a_person_and_says_who_refused(shell: Shell) -> None:
    program = shell.start("hook", "claude-code", "--wait", "60")
    assert program.stdin is not None
    program.stdin.write(call())
    program.stdin.close()
    end = time.monotonic() + DEADLINE
    while not waiting(shell) and time.monotonic() < end:
        time.sleep(0.05)
    assert program.poll() is None
    decide(shell, "reject", "--reason", "commit first")
    assert program.wait(DEADLINE) == 0
    assert program.stdout is not None
    said = json.loads(program.stdout.read())["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "tester" in said["permissionDecisionReason"] and "commit first" in said["permissionDecisionReason"]
    assert asked(shell, call("ls"))["permissionDecision"] == "ask"  # a refused call ends nothing else


def test_an_edited_call_is_made_as_it_was_approved(shell: Shell) -> None:
    asked(shell, call())
    ran = decide(shell, "edit", "--args", '{"command": "rm -rf build/tmp"}')
    assert ran.code == 3
    assert decide(shell, "approve").code == 0
    said = asked(shell, call())
    assert (said["permissionDecision"], said["updatedInput"]) == ("allow", {"command": "rm -rf build/tmp"})
    assert "as edited" in said["permissionDecisionReason"]


def test_who_decides_is_told_that_the_program_has_given_up(shell: Shell) -> None:
    program = shell.start("hook", "claude-code", "--wait", "60")
    assert program.stdin is not None
    program.stdin.write(call())
    program.stdin.close()
    end = time.monotonic() + DEADLINE
    while [one.get("awaited") for one in waiting(shell)] != [True] and time.monotonic() < end:
        time.sleep(0.05)
    assert "Nobody waits any more" not in shell.run("inbox").out
    decide(shell, "edit", "--args", '{"command": "rm -rf build/tmp"}')
    while [one.get("awaited") for one in waiting(shell)] != [True] and time.monotonic() < end:
        time.sleep(0.05)
    decide(shell, "approve")
    assert program.wait(DEADLINE) == 0
    asked(shell, call())
    assert [one["awaited"] for one in waiting(shell)] == [False]
    late = "Nobody waits any more; approving allows the next identical call."
    assert late in shell.run("inbox").out
    assert late in decide(shell, "approve").out
    assert asked(shell, call())["permissionDecision"] == "allow"


def test_the_whole_call_is_shown_harmlessly_before_it_is_decided(shell: Shell) -> None:
    asked(shell, call("echo one\necho \x1b[2Jtwo\u202e"))
    out = shell.run("inbox").out
    assert "echo one" in out and "two" in out and "/work/project" in out and "Clean the build" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_commands_that_need_no_digest_print_the_call_that_they_approve(shell: Shell) -> None:
    asked(shell, call())
    program = "import sys; from hitl_tui.cli.masc_checkpoint import main; sys.exit(main(sys.argv[1:]))"
    task = ("--task-id", "claude-code:0b9f1c52-77aa", "--approve")
    done = subprocess.run(
        [sys.executable, "-c", program, *task],
        capture_output=True,
        cwd=shell.workspace,
        env=shell.env,
        timeout=DEADLINE,
        check=True,
    )
    assert '"command": "rm -rf build"' in done.stdout.decode() and "/work/project" in done.stdout.decode()
    assert asked(shell, call())["permissionDecision"] == "allow"


def test_rules_hold_wherever_the_agent_went(shell: Shell, tmp_path: Path) -> None:
    (shell.workspace / "hitl.toml").write_text(RULES)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(
        shell.command("hook", "claude-code", "--wait", "0"),
        input=call("git push --force", cwd=str(elsewhere)).encode(),
        capture_output=True,
        cwd=elsewhere,
        env={**shell.env, "CLAUDE_PROJECT_DIR": str(shell.workspace)},
        timeout=DEADLINE,
        check=True,
    )
    assert json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_declared_secret_is_kept_by_its_name_and_put_back_for_the_program(shell: Shell) -> None:
    shell.declare('[secrets]\nnames = ["DEPLOY_KEY"]\n')
    key = "hunter2-and-more"
    sent = call(f"deploy --key {key}")
    asked(shell, sent, DEPLOY_KEY=key)
    (request,) = waiting(shell)
    assert request["subject"]["arguments"]["command"] == "deploy --key ‹DEPLOY_KEY›"
    decide(shell, "edit", "--args", '{"command": "deploy --dry-run --key ‹DEPLOY_KEY›"}')
    decide(shell, "approve")
    assert asked(shell, sent, DEPLOY_KEY=key)["updatedInput"] == {"command": f"deploy --dry-run --key {key}"}
    for file in (path for path in shell.workspace.rglob("*.json")):
        assert key not in file.read_text()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "isn't JSON"),
        (b"not json", "isn't JSON"),
        (b"\xff\xfe", "isn't JSON"),
        (b'{"a": NaN}', "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
        (b"[]", "isn't a JSON object"),
        (b"{}", "hook_event_name"),
        (call(hook_event_name="PostToolUse").encode(), "hook_event_name"),
        (call(tool_name="").encode(), "tool_name"),
        (call(tool_name=None).encode(), "tool_name"),
        (call(tool_input="rm").encode(), "tool_input"),
        (call(session_id="../../x").encode(), "session_id"),
        (call(session_id=7).encode(), "session_id"),
        (call(cwd=None).encode(), "cwd"),
        (call(tool_name="x" * 30_000).encode(), "the limit"),
        (call("x" * 1_100_000).encode(), "the limit"),
        (b'{"x": "' + b"y" * 4_100_000 + b'"}', "larger than"),
    ],
    ids=range(17),
)
def test_what_cannot_be_used_is_one_sentence_and_is_never_allowed(shell: Shell, sent: bytes, words: str) -> None:
    ran = shell.run("hook", "claude-code", "--wait", "0", input=sent)
    assert ran.code == 2  # the one exit code that keeps Claude Code from going on
    assert output(ran)["permissionDecision"] == "deny"
    assert words in output(ran)["permissionDecisionReason"]
    assert len(ran.err.splitlines()) == 1 and words in ran.err and "Traceback" not in ran.err
    assert not list(shell.workspace.rglob("0*.json"))


@pytest.mark.parametrize("trouble", ["store", "rules", "record"])
def test_what_cannot_be_read_or_written_refuses(shell: Shell, trouble: str) -> None:
    changes = {}
    if trouble == "store":
        changes = {"MASC_CHECKPOINT_BACKEND": "tape"}
    elif trouble == "rules":
        (shell.workspace / "hitl.toml").write_text("[[policy]]\ndecision = 7\n")
    else:
        asked(shell, call())
        (entry,) = shell.workspace.rglob("000001.json")
        entry.write_text(entry.read_text().replace("build", "other"))
    ran = shell.run("hook", "claude-code", "--wait", "0", input=call(), **changes)
    assert (ran.code, output(ran)["permissionDecision"], len(ran.err.splitlines())) == (2, "deny", 1)


@pytest.mark.parametrize(
    "arguments", [(), ("other",), ("claude-code", "--wait", "soon"), ("claude-code", "--nonsense")]
)
def test_a_wrong_command_line_refuses_too(shell: Shell, arguments: tuple[str, ...]) -> None:
    ran = shell.run("hook", *arguments, input=call())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("hitl-tui: ")


def test_any_program_can_ask_with_an_exit_code_for_an_answer(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text('[[policy]]\nagent = "bot"\naction = "drop*"\ndecision = "deny"\n')
    sent = json.dumps({"tool": "pay", "input": {"eur": 100}, "reason": "the invoice"})

    def ask(text: str, *more: str) -> tuple[int, dict[str, Any]]:
        ran = shell.run("hook", "command", "--wait", "0", *more, input=text)
        return ran.code, ran.json

    code, said = ask(sent, "--agent", "bot")
    assert (code, said["decision"], said["by"]) == (3, "ask", [])
    (request,) = waiting(shell)
    assert (request["id"], request["requester"], request["subject"]["message"]) == (
        said["request"],
        "bot",
        "the invoice",
    )
    decide(shell, "approve")
    code, said = ask(sent, "--agent", "bot")
    assert (code, said["decision"]) == (0, "allow")
    assert len(said["by"]) == 1
    code, said = ask(json.dumps({"tool": "drop_table", "input": {}, "agent": "bot"}))
    assert (code, said["decision"]) == (2, "deny")
    code, said = ask(sent)
    assert (code, said["decision"]) == (2, "deny")
    assert "agent" in said["reason"]


def ask_to_pay(shell: Shell, *more: str) -> Ran:
    sent = json.dumps({"tool": "pay", "input": {"eur": 100, "to": "DE12"}})
    return shell.run("hook", "command", "--agent", "billing", "--wait", "0", *more, input=sent)


def approve_half(shell: Shell) -> None:
    ask_to_pay(shell)
    decide(shell, "edit", "--args", '{"eur": 50, "to": "DE12"}')
    assert decide(shell, "approve").code == 0


def test_a_program_that_makes_its_own_call_is_not_let_go_on_with_another_one(shell: Shell) -> None:
    approve_half(shell)
    ran = ask_to_pay(shell)
    assert (ran.code, ran.json["decision"], ran.json["input"]) == (4, "edit", {"eur": 50, "to": "DE12"})
    assert "--takes-input" in ran.json["reason"] and "as edited" in ran.json["reason"]
    assert ask_to_pay(shell).code == 3, "the approval was of another call, and is used up"


def test_a_program_that_takes_its_input_from_the_answer_may_make_the_edited_call(shell: Shell) -> None:
    approve_half(shell)
    ran = ask_to_pay(shell, "--takes-input")
    assert (ran.code, ran.json["decision"], ran.json["input"]) == (0, "allow", {"eur": 50, "to": "DE12"})
    ask_to_pay(shell)
    decide(shell, "approve")
    ran = ask_to_pay(shell, "--takes-input")
    assert (ran.code, ran.json["decision"], ran.json["input"]) == (0, "allow", {"eur": 100, "to": "DE12"})


def test_a_call_that_was_edited_back_is_the_one_that_was_asked_about(shell: Shell) -> None:
    ask_to_pay(shell)
    for euros in ("100.0", "100"):
        decide(shell, "edit", "--args", f'{{"eur": {euros}, "to": "DE12"}}')
    decide(shell, "approve")
    ran = ask_to_pay(shell)
    assert (ran.code, ran.json["decision"], "input" in ran.json) == (0, "allow", False)


def test_the_agent_is_no_approver_of_its_own_call(shell: Shell) -> None:
    asked(shell, call())
    (request,) = waiting(shell)
    ran = shell.run("decide", request["id"], "approve", "--digest", request["digest"], "--as", "claude-code")
    assert ran.code != 0 and "can't decide it" in ran.err
    assert asked(shell, call())["permissionDecision"] == "ask"


def test_a_rule_that_nobody_can_satisfy_is_named(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text('[[policy]]\nagent = "claude-code"\ndecision = "ask"\nlevel = 3\n')
    assert "hitl-tui approver add" in asked(shell, call())["permissionDecisionReason"]


def test_it_loads_nothing_that_it_does_not_need(shell: Shell) -> None:
    heavy = ("textual", "langgraph", "pydantic", "sqlite3", "asyncio", "jsonschema", "prompt_toolkit")
    program = (
        "import sys; from hitl_tui.cli import main; code = main(['hook', 'claude-code', '--wait', '0']); "
        f"sys.stderr.write(' '.join(m for m in {heavy!r} if m in sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=call().encode(),
        capture_output=True,
        cwd=shell.workspace,
        env=shell.env,
        timeout=DEADLINE,
        check=True,
    )
    assert done.stderr.decode() == ""


def test_it_speaks_korean(shell: Shell) -> None:
    said = asked(shell, call(), HITL_LANG="ko")
    assert "승인" in said["permissionDecisionReason"]


@pytest.mark.long
def test_of_several_at_once_one_takes_an_approval(shell: Shell) -> None:
    asked(shell, call())
    decide(shell, "approve")
    programs = [shell.start("hook", "claude-code", "--wait", "0") for _ in range(5)]
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(call())
        program.stdin.close()
    said = []
    for program in programs:
        assert program.stdout is not None and program.wait(DEADLINE) == 0
        said.append(json.loads(program.stdout.read())["hookSpecificOutput"]["permissionDecision"])
    assert sorted(said) == ["allow", "ask", "ask", "ask", "ask"]
    assert len(waiting(shell)) == 1  # the others wait for one question


def test_a_refusal_that_came_late_counts_although_a_rule_allows_the_call_since(shell: Shell) -> None:
    assert asked(shell, call("git status"))["permissionDecision"] == "ask"
    decide(shell, "reject", "--reason", "not today")
    shell.declare(RULES)
    said = asked(shell, call("git status"))
    assert (said["permissionDecision"], "not today" in said["permissionDecisionReason"]) == ("deny", True)
    assert asked(shell, call("git status"))["permissionDecision"] == "allow"  # it counted for one call


def test_nobody_waits_for_a_call_that_was_edited_after_its_program_went_on(shell: Shell) -> None:
    assert asked(shell, call())["permissionDecision"] == "ask"
    decide(shell, "edit", "--args", '{"command": "make clean"}')
    (request,) = waiting(shell)
    assert (request["subject"]["arguments"], request["awaited"]) == ({"command": "make clean"}, False)


def test_a_call_of_a_session_with_a_long_name_is_asked_about_by_its_whole_name(shell: Shell) -> None:
    asked(shell, call(session_id="0b9f1c52-77aa-4b6d-9a0e"))
    assert "Approve claude-code:0b9f1c52-77aa-4b6d-9a0e.1?" in shell.run("inbox").out
