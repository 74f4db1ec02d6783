"""`hitl-tui policy`: which rule applies to something, and what other rules would have made of what was decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import S1_EN, Shell

RULES = """
[[policy]]
name = "no force"
agent = "claude-code"
action = "Bash"
arguments = { properties = { command = { pattern = "--force" } } }
decision = "deny"

[[policy]]
name = "looking"
agent = "claude-code"
action = "Bash"
arguments = { properties = { command = { const = "git status" } }, required = ["command"] }
decision = "allow"

[[policy]]
team = "search_team"
decision = "ask"
quorum = 2
deadline = "10m"
"""
STATUS, FORCE = ('{"command": "git status"}', '{"command": "git push --force"}')


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def check(shell: Shell, *arguments: str) -> dict[str, Any]:
    ran = shell.run("policy", "check", *arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    return ran.json


def called(shell: Shell, command: str) -> str:
    """Return what Claude Code is told about a command."""
    tool = {"tool_name": "Bash", "tool_input": {"command": command}}
    sent = {"session_id": "s", "cwd": "/work", "hook_event_name": "PreToolUse", **tool}
    ran = shell.run("hook", "claude-code", "--wait", "0", input=json.dumps(sent))
    return str(ran.json["hookSpecificOutput"]["permissionDecision"])


def answered(shell: Shell, answer: str) -> str:
    (request,) = json.loads(shell.run("inbox", "--json").out)["requests"]
    reason = ("--reason", "no") if answer == "reject" else ()
    assert shell.run("decide", request["id"], answer, "--digest", request["digest"], *reason).code == 0
    return str(request["id"])


def replayed(shell: Shell, rules: str, *arguments: str) -> dict[str, Any]:
    file = shell.workspace.parent / "other.toml"
    file.write_text(rules)
    before = files(shell)
    ran = shell.run("policy", "replay", *arguments, "--policy", str(file), "--json")
    assert (ran.code, ran.err) == (bool(ran.json["differences"]), "")
    assert files(shell) == before
    return ran.json


def files(shell: Shell) -> dict[str, bytes]:
    """Return everything that is recorded."""
    return {str(path): path.read_bytes() for path in shell.workspace.rglob("0*.json")}


def test_it_says_which_rule_applies_and_why_no_other_one(shell: Shell) -> None:
    shell.declare(RULES)
    call = ("--agent", "claude-code", "--action", "Bash", "--args")
    found = check(shell, *call, STATUS)
    assert (found["ruling"], found["rule"], found["name"]) == ("allow", 2, "looking")
    assert [one["fit"] for one in found["rules"]] == ["no", "yes", "no"]
    assert "must match the pattern --force" in found["rules"][0]["why"]
    assert (found["ruling"], check(shell, *call, FORCE)["ruling"]) == ("allow", "deny")
    assert check(shell, *call[:-1])["ruling"] == "deny"  # without arguments the first rule may apply
    found = check(shell, "--team", "search_team")
    assert (found["ruling"], found["terms"]["quorum"], found["terms"]["deadline"]) == ("ask", 2, 600)
    assert any("approver add" in note for note in found["notes"])  # nobody here could decide it
    out = shell.run("policy", "check", *call, STATUS).out
    assert 'rule 1 "no force" (deny) doesn\'t fit: ' in out and 'Rule 2 "looking" allows it.' in out


OWN = """
[teams.triage]
kind = "graph"
graph = "triage.py:graph"
[teams.command_team.commands.clean]
run = ["true"]
[[policy]]
team = "document_team"
decision = "deny"
"""


@pytest.mark.parametrize("trusted", [True, False])
def test_what_the_folder_does_not_have_has_no_ruling(shell: Shell, trusted: bool) -> None:
    shell.declare(OWN)
    if not trusted:
        (shell.workspace / "hitl.toml").write_text(f"{OWN}# changed\n")
    for arguments, said in (
        (("--team", "documents_team"), 'No team "documents_team"; did you mean "document_team" (of '),
        (
            ("--team", "documents_team", "--tool", "write"),
            'No team "documents_team"; did you mean "document_team" (of ',
        ),
        (("--team", "command_team", "--command", "claen"), 'No declared command "claen"; did you mean "clean" (of '),
        (("--command", "nope"), 'No declared command "nope"; known: clean.'),
    ):
        ran = shell.run("policy", "check", *arguments, "--json")
        assert (ran.code, ran.json["kind"]) == (2, "bad_input")
        assert ran.json["error"].startswith(said)
    assert check(shell, "--team", "document_team")["ruling"] == "deny"
    assert check(shell, "--team", "triage")["ruling"] == "ask"
    assert check(shell, "--command", "clean")["facts"]["team"] == "command_team"


def test_a_step_is_of_the_risk_that_is_declared(shell: Shell) -> None:
    """(C4)"""
    shell.declare("""
[teams.command_team.commands.usage]
run = ["true"]
risk = "low"

[teams.command_team.commands.restart]
run = ["true", "{name}"]
parameters.name = { type = "choice", choices = ["web", "db"] }

[[policy]]
name = "restarts"
command = "restart"
decision = "allow"
""")
    assert check(shell, "--command", "usage", "--mode", "risk")["message"] == (
        "No rule applies; mode risk lets it run unasked."
    )
    assert check(shell, "--team", "search_team", "--mode", "risk")["ruling"] == "allow"
    assert check(shell, "--team", "search_team", "--mode", "risk", "--risk", "high")["ruling"] == "ask"
    found = check(shell, "--command", "restart", "--args", '{"name": "web"}', "--mode", "step")
    assert found["message"] == 'Rule 1 "restarts" would allow it, but mode step asks about every step.'
    (note, *_rest) = check(shell, "--command", "restart", "--args", '{"name": "wbe"}')["notes"]
    assert "wbe" in note


def test_what_rules_decided_is_listed_with_their_names(shell: Shell) -> None:
    """(M1, T9)"""
    shell.declare("""
[teams.command_team.commands.restart]
run = ["true", "{name}"]
parameters.name = { type = "choice", choices = ["web", "db"] }

[[policy]]
name = "never the database"
command = "restart"
arguments = { properties.name = { const = "db" }, required = ["name"] }
decision = "deny"

[[policy]]
name = "restarts"
command = "restart"
decision = "allow"

[[policy]]
name = "no force"
agent = "claude-code"
decision = "deny"
""")
    for name, code in (("db", 4), ("web", 0)):  # (C9)
        assert shell.run("run", f"restart name={name}", "--mode", "risk", "--json").code == code
    assert called(shell, "git push --force") == "deny"
    decisions = shell.run("audit", "decisions", "--json").json["decisions"]
    said = [(one["verdict"], one["by"]) for one in decisions]
    assert said == [
        ("reject", 'policy rule 1 "never the database"'),
        ("approve", 'policy rule 2 "restarts"'),
        ("reject", 'policy rule 3 "no force"'),
    ]
    assert all(words in one["about"] for one, words in zip(decisions, ("true db", "true web", "git push"), strict=True))
    out = shell.run("audit", "decisions").out
    assert 'denied 001 · restart: true db · policy rule 1 "never the database"' in out
    shown = shell.run("show", "s1").out
    assert 'denied by policy rule 1 "never the database"' in shown


def test_in_a_folder_that_nobody_trusts_it_says_what_trust_would_change(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text(RULES)
    found = check(shell, "--agent", "claude-code", "--action", "Bash", "--args", STATUS)
    assert found["ruling"] == "ask"
    assert "hitl-tui trust" in found["notes"][0]


def test_a_request_of_a_task_or_a_session_is_found_by_its_id(shell: Shell) -> None:
    shell.declare(RULES)
    assert called(shell, "make") == "ask"
    request = answered(shell, "approve")
    found = check(shell, "--request", request)
    assert (found["facts"]["action"], found["facts"]["arguments"]) == ("Bash", {"command": "make"})
    assert (found["ruling"], found["rule"]) == ("ask", 0)
    shell.run("run", "What is the legal cap on a rent increase?", "--json")
    (question,) = json.loads(shell.run("inbox", "--json").out)["requests"]
    found = check(shell, "--request", question["id"])
    assert (found["facts"]["team"], found["rule"], found["mode"]) == ("search_team", 3, "step")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--request", "req-none"], "No request req-none"),
        (["--request", "r", "--team", "search_team"], "leave out --team"),
        (["--agent", "a", "--team", "search_team"], "outside of sessions"),
        (["--args", "{}"], "Say what is asked about"),
        (["--agent", "a", "--args", "[]"], "must be a JSON object"),
        (["--agent", "a", "--args", "{"], "isn't valid JSON"),
        (["--agent", "a", "--args", "@nowhere"], "can't be read"),
        (["--policy", "x"], "goes with policy replay"),
    ],
)
def test_bad_input_is_one_sentence(shell: Shell, arguments: list[str], says: str) -> None:
    ran = shell.run("policy", "check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err.splitlines()[0]


def test_replay_says_what_other_rules_would_have_made_of_calls_and_steps(shell: Shell) -> None:
    shell.declare(RULES)
    assert [called(shell, command) for command in ("git status", "git push --force")] == ["allow", "deny"]
    assert called(shell, "make") == "ask"
    answered(shell, "approve")
    assert called(shell, "make clean") == "ask"
    answered(shell, "reject")
    found = replayed(shell, RULES)
    assert (found["recorded"], found["differences"]) == (4, [])
    found = replayed(
        shell,
        '[[policy]]\naction = "Bash"\ndecision = "allow"\n'
        'arguments = { properties = { command = { const = "make" } } }\n'
        '[[policy]]\nagent = "claude-*"\ndecision = "ask"\nquorum = 2\n',
    )
    assert found["counts"] == {"allowed": 1, "asked": 2, "denied": 0, "terms": 1}
    said = [(one["before"]["ruling"], one["after"]["ruling"], one["after"]["outcome"]) for one in found["differences"]]
    assert said == [
        ("allow", "ask", ""),
        ("deny", "ask", ""),
        ("ask", "allow", "allowed"),
        ("ask", "ask", "rejected"),  # one is enough to refuse
    ]
    found = replayed(shell, '[[policy]]\nagent = "*"\ndecision = "ask"\nlevel = 3\ndeadline = "1m"\n')
    approved = next(one for one in found["differences"] if one["before"]["outcome"] == "approved")
    assert (approved["after"]["level"], approved["after"]["deadline"], approved["after"]["outcome"]) == (
        3,
        60,
        "pending",
    )


def test_replay_tells_a_skip_from_a_rejection(shell: Shell) -> None:
    assert shell.run("run", S1_EN, "--json").code == 3
    shell.run("do", "s1", "/todo skip 1")
    deny = '[[policy]]\nteam = "search_team"\ndecision = "deny"\n'
    assert [one["before"]["outcome"] for one in replayed(shell, deny)["differences"]] == ["skipped"]
    file = shell.workspace.parent / "other.toml"
    assert "skipped" in shell.run("policy", "replay", "--policy", str(file)).out


def test_replay_knows_what_ran_unasked_in_a_session_and_in_which_mode(shell: Shell) -> None:
    ran = shell.run("run", S1_EN, "--mode", "risk", "--json")
    assert ran.code == 0  # search and analysis are of low risk
    found = replayed(shell, '[[policy]]\nteam = "analysis_team"\ndecision = "deny"\n')
    assert [(one["name"], one["before"]["ruling"], one["after"]["ruling"]) for one in found["differences"]] == [
        ("todo_002", "allow", "deny")
    ]
    assert shell.run("run", S1_EN, "--json").code == 3  # in mode step a rule that allows asks all the same
    assert replayed(shell, '[[policy]]\nteam = "search_team"\ndecision = "allow"\n')["differences"] == []
    found = replayed(shell, '[[policy]]\nteam = "search_team"\ndecision = "ask"\nquorum = 2\n')
    assert [(one["stream"], one["before"]["ruling"]) for one in found["differences"]] == [
        ("s1", "allow"),
        ("s2", "ask"),
    ]


def test_replay_of_one_folder_leaves_the_others_out(shell: Shell, tmp_path: Path) -> None:
    shell.run("run", S1_EN, "--mode", "risk", "--json")
    (tmp_path / "other").mkdir()
    deny = '[[policy]]\nteam = "analysis_team"\ndecision = "deny"\n'
    assert replayed(shell, deny, str(tmp_path / "other"))["recorded"] == 0
    assert replayed(shell, deny, str(shell.workspace))["recorded"] == 2


def test_replay_needs_rules_that_can_be_used(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[[policy]]\n")
    for arguments in ((), ("--policy", "nowhere.toml"), ("--policy", str(tmp_path / "bad.toml"))):
        ran = shell.run("policy", "replay", *arguments)
        assert (ran.code, ran.out, "Traceback" in ran.err) == (2, "", False)
    assert f"{tmp_path / 'bad.toml'} line 1: " in ran.err


SHAPES = Path(__file__).resolve().parents[1] / "commands" / "shape_graphs.py"
OF_CALLS = """
[[policy]]
name = "no sql"
tool = "run_sql"
decision = "deny"
[[policy]]
name = "no bob"
tool = "pay"
arguments = { properties.to = { const = "bob" }, required = ["to"] }
decision = "deny"
[[policy]]
name = "two for ann"
tool = "pay"
quorum = 2
decision = "ask"
"""


def asked_from_inside(shell: Shell, graph: str) -> dict[str, Any]:
    ran = shell.run("attach", f"{SHAPES}:{graph}", "--input", "{}", "--json")
    assert ran.code == 3, ran
    (question,) = ran.json["questions"]
    return dict(question)


def test_what_a_graph_asks_about_calls_is_explained_call_by_call(shell: Shell) -> None:
    """(M10)"""
    shell.declare(OF_CALLS)
    asked = asked_from_inside(shell, "batch")
    found = check(shell, "--request", asked["id"])
    assert (found["ruling"], found["rule"], found["name"]) == ("deny", 1, "no sql")
    assert found["message"] == 'Call 1: Rule 1 "no sql" denies it.'
    assert (found["facts"]["of"], found["facts"]["tool"]) == ("tool", "run_sql")
    assert [(one["facts"]["tool"], one["ruling"], one["rule"]) for one in found["calls"]] == [
        ("run_sql", "deny", 1),
        ("ask_user", "ask", 0),
    ]
    assert [one["fit"] for one in found["calls"][1]["rules"]] == ["no"] * 3
    out = shell.run("policy", "check", "--request", asked["id"]).out
    assert "call 1: run_sql\n" in out and "call 2: ask_user\n" in out
    assert 'rule 1 "no sql" (deny) fits' in out and "it is for tool run_sql, and this has ask_user" in out

    found = check(shell, "--request", asked_from_inside(shell, "in_turn")["id"])
    assert (found["ruling"], found["rule"], found["terms"]["quorum"]) == ("ask", 3, 2)
    assert found["message"] == 'Rule 3 "two for ann" applies: it is asked about.'
    assert found["facts"]["arguments"] == {"amount": 5, "to": "ann"}


def test_what_a_graph_asks_about_no_call_is_asked_whatever_rules_say_of_its_step(shell: Shell) -> None:
    shell.declare('[defaults]\nmode = "risk"\n[[policy]]\ndecision = "allow"\n')
    found = check(shell, "--request", asked_from_inside(shell, "yes_no")["id"])
    assert (found["ruling"], found["calls"]) == ("ask", [])
    assert found["message"] == "What a graph asks is asked about, whatever rules say of its step."
