"""What is in a workspace is somebody else's until the operator said otherwise (T4)."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from cli_support import EXAMPLES, Shell

from hitl_tui.policy.own_folders import own_code

QUESTION = "What is the deposit cap?"
FOREIGN = """
[defaults]
mode = "risk"

[teams.command_team.commands.wipe]
description = "Wipe the caps"
run = ["touch", "ran"]
preview = ["sh", "-c", "touch previewed"]
risk = "high"

[teams.helper]
kind = "graph"
graph = "helper.py:graph"

[[policy]]
team = "command_team"
decision = "allow"

[pins]
exclude = ["helper.py"]
"""
HELPER = "import pathlib\npathlib.Path(__file__).with_name('imported').touch()\ngraph = None\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.workspace / "hitl.toml").write_text(FOREIGN, encoding="utf-8")
    (made.workspace / "helper.py").write_text(HELPER, encoding="utf-8")
    return made


def marks(shell: Shell) -> set[str]:
    return {name for name in ("ran", "previewed", "imported") if (shell.workspace / name).exists()}


def digest(shell: Shell) -> str:
    return str(shell.run("trust", "--show", "--json").json["digest"])


def test_nothing_of_a_foreign_folder_runs_is_imported_or_previewed(shell: Shell) -> None:
    refused = shell.run("run", "wipe the caps", "--json")
    assert (refused.code, refused.json["kind"]) == (2, "needs_trust")
    assert f"hitl-tui trust {shell.workspace}" in refused.json["error"]
    begun = shell.run("run", QUESTION, "--json")
    assert begun.code == 3 and begun.json["questions"], "mode is step, whatever the folder says"
    for line in ("/todo add command_team wipe", "/todo add helper hello", "/graph"):
        assert shell.run("do", "s1", line, "--json").code == 2, line
    added = shell.run("do", "s1", "/todo add helper hello", "--json")
    assert "works only once this folder is trusted" in added.json["error"]
    assert shell.run("attach", "helper", "--input", "{}").code == 2
    assert marks(shell) == set()


def test_search_and_analysis_work_without_trust_and_other_commands_say_what_they_need(shell: Shell) -> None:
    shell.run("run", QUESTION)
    assert shell.run("do", "s1", "/todo approve", "--json").json["todos"][0]["status"] == "completed"
    assert shell.run("export", "s1", str(shell.data / "x.hitl")).code == 0
    assert shell.run("show", "s1", "--json").json["session_id"] == "s1"
    assert marks(shell) == set()


@pytest.mark.parametrize("query", ["show me the deposit cap", "check the deposit cap", "list the caps"])
def test_what_a_foreign_folder_says_of_its_commands_makes_no_step_of_a_search(shell: Shell, query: str) -> None:
    hostile = "".join(
        f'[teams.command_team.commands.{name}]\ndescription = "{query}"\nrun = ["touch", "ran"]\n'
        for name in ("wipe", "also-this")
    )
    (shell.workspace / "hitl.toml").write_text(hostile, encoding="utf-8")
    begun = shell.run("run", query, "--json")
    assert begun.code == 3 and [todo["agent_name"] for todo in begun.json["todos"]] == ["search_team"], begun.out
    called = shell.run("run", "run wipe", "--json")
    assert (called.code, called.json["kind"]) == (2, "needs_trust")
    proposed = shell.run("do", "s1", f"then {query}", "--json")
    assert "trusted" not in proposed.json["message"]
    shell.run("trust", "--digest", digest(shell))
    assert "command_team" in shell.run("run", "run wipe", "--json").out
    assert marks(shell) == set()


def test_what_it_wants_is_shown_by_risk_and_trusted_by_its_digest(shell: Shell) -> None:
    shown = shell.run("trust", "--show", "--json").json
    assert not shown["trusted"]
    assert [w["kind"] for w in shown["wants"]] == ["command", "preview", "graph", "allow", "pins", "mode"]
    risks = [w["risk"] for w in shown["wants"]]
    assert risks == sorted(risks, key=["high", "medium", "low"].index)
    unasked = shell.run("trust")
    assert unasked.code == 2 and "--digest" in unasked.err
    assert shell.run("trust", "--digest", "0" * 64).code == 2
    assert shell.run("trust", "--digest", shown["digest"], "--json").json["trusted"]
    (kept,) = shell.run("trust", "--list", "--json").json["trusted"]
    assert (kept["workspace"], kept["digest"]) == (str(shell.workspace), shown["digest"])
    assert shell.run("run", "wipe the caps", "--mode", "step", "--json").code == 3
    assert "previewed" in marks(shell) and "ran" not in marks(shell)
    assert shell.run("trust", "--revoke").code == 0
    assert shell.run("trust", "--revoke").code == 2
    assert shell.run("run", "wipe the caps").code == 2


def test_the_questions_that_trust_concerns_are_named(shell: Shell, tmp_path: Path) -> None:
    shell.run("run", QUESTION)
    (asked,) = shell.run("show", "s1", "--json").json["questions"]
    (elsewhere := tmp_path / "elsewhere").mkdir()
    shell.run("run", QUESTION, "--workspace", str(elsewhere))
    shown = shell.run("trust", "--show", "--json").json
    assert [(one["session_id"], one["id"]) for one in shown["questions"]] == [("s1", asked["id"])]
    said = shell.run("trust", "--digest", shown["digest"]).out
    assert "Answered, or asked anew, by its rules:\n  s1: Approve 001?" in said
    shell.run("do", "s1", "/todos")
    assert asked["id"] not in shell.run("inbox", "--json").out
    assert shell.run("trust", "--show", "--json").json["questions"] == []


def test_a_pattern_may_match_nothing_yet_and_a_path_has_to_be_there(shell: Shell) -> None:
    """A clean-up that deletes the last file of a pattern doesn't keep the next session from beginning."""
    pins = 'exclude = ["helper.py", "*.log", "data/*"]'
    (shell.workspace / "hitl.toml").write_text(FOREIGN.replace('exclude = ["helper.py"]', pins), encoding="utf-8")
    trusted = shell.run("trust", "--digest", digest(shell))
    assert trusted.code == 0
    assert trusted.out.splitlines()[1:] == [
        f'Note: the pins "*.log", "data/*" match nothing in {shell.workspace} now.',
    ]
    shell.run("trust", "--revoke")
    kept = shell.run("trust", "--digest", digest(shell), "--json").json
    assert kept["idle_pins"] == ["*.log", "data/*"]
    assert shell.run("run", QUESTION).code == 0
    (shell.workspace / "hitl.toml").write_text(FOREIGN.replace('"helper.py"]', '"helpr.py"]'), encoding="utf-8")
    refused = shell.run("trust", "--digest", digest(shell))
    assert refused.code == 2 and 'the pin "helpr.py" names nothing' in refused.err
    assert not shell.run("trust", "--show", "--json").json["trusted"]


def test_a_file_that_changes_between_looking_and_trusting_is_refused(shell: Shell) -> None:
    seen = digest(shell)
    (shell.workspace / "hitl.toml").write_text(FOREIGN.replace("touch", "rm"), encoding="utf-8")
    refused = shell.run("trust", "--digest", seen)
    assert (refused.code, "doesn't match this digest" in refused.err) == (2, True)
    assert shell.run("trust", "--list", "--json").json["trusted"] == []


def test_trust_holds_for_one_real_path(shell: Shell, tmp_path: Path) -> None:
    shell.run("trust", "--digest", digest(shell))
    link, moved = tmp_path / "link", tmp_path / "moved"
    link.symlink_to(shell.workspace)
    assert shell.run("trust", str(link), "--show", "--json").json["trusted"], "the same real folder"
    shutil.copytree(shell.workspace, moved)
    assert not shell.run("trust", str(moved), "--show", "--json").json["trusted"]
    assert shell.run("trust", str(moved), "--digest", digest(shell)).code == 2, "a digest is of one path"
    link.unlink()
    link.symlink_to(moved)
    assert not shell.run("trust", str(link), "--show", "--json").json["trusted"]


def test_trust_for_one_call_holds_for_that_call(shell: Shell) -> None:
    once = shell.run("run", "wipe the caps", "--mode", "step", "--trust", digest(shell), "--json")
    assert once.code == 3 and "previewed" in marks(shell)
    (asked,) = shell.run("do", "s1", "/todo approve", "--json").json["questions"]
    refused = shell.run("do", "s1", f"/todo approve 1 --digest {asked['digest']}", "--json")
    assert refused.code == 2 and "works only once this folder is trusted" in refused.json["error"]
    assert shell.run("run", QUESTION, "--trust", "1" * 64).code == 2
    assert "ran" not in marks(shell)
    assert shell.run("trust", "--list", "--json").json["trusted"] == []


def test_a_record_that_was_edited_is_not_believed(shell: Shell) -> None:
    shell.run("trust", "--digest", digest(shell))
    with sqlite3.connect(shell.data / "ledger.db") as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        (raw,) = db.execute("SELECT data FROM entries WHERE kind = 'trust_granted'").fetchone()
        text = bytes(raw).decode() if isinstance(raw, bytes) else str(raw)
        data = json.loads(text) | {"by": "somebody else"}
        new = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        db.execute(
            "UPDATE entries SET data = ? WHERE kind = 'trust_granted'",
            (new.encode() if isinstance(raw, bytes) else new,),
        )
    refused = shell.run("run", QUESTION)
    assert refused.code == 1 and "record of trust in workspaces" in refused.err
    assert "Traceback" not in refused.err and marks(shell) == set()


def test_a_copy_of_a_shipped_example_asks_and_the_programs_own_does_not(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    made = Path(shell.run("starter", "cleanup", "--json").json["workspace"])
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    (copy / "tools" / "duplicates.py").write_text("open('previewed', 'w')\n", encoding="utf-8")
    words = ("run", "delete the duplicate records", "--json", "--workspace")
    assert shell.run(*words, str(copy)).code == 2
    assert shell.run(*words, str(made)).code == 3
    assert not (copy / "previewed").exists()
    (made / "tools" / "json.py").write_text("open('previewed', 'w')\n", encoding="utf-8")
    assert shell.run(*words, str(made)).code == 2, "it isn't as the program made it"


def test_the_examples_are_what_the_program_says_they_are() -> None:
    import shipped

    assert shipped.written(shipped.MODULE.read_text(encoding="utf-8")) == shipped.MODULE.read_text(encoding="utf-8")
    assert own_code((EXAMPLES / "lease").resolve(), Path("/nowhere")) is not None


def test_a_preview_runs_no_code_but_what_was_trusted(shell: Shell) -> None:
    shell.run("trust", "--digest", digest(shell))
    (shell.workspace / "helper.py").write_text("# other\n", encoding="utf-8")
    begun = shell.run("run", "wipe the caps", "--mode", "step", "--json")
    (question,) = begun.json["questions"]
    assert "helper.py changed since the folder was trusted" in json.dumps(question)
    assert marks(shell) == set()


@pytest.mark.parametrize("changed", ["notes", "notes.md", "reports/env.txt", "reports/run", ".git/extra"])
def test_a_preview_runs_beside_no_other_file_that_it_could_execute(shell: Shell, changed: str) -> None:
    (shell.workspace / "p.sh").write_text("for f in n* reports/r* .git/e*; do . $f; done; . reports/env.txt\n", "utf-8")
    for folder in (".git", "reports"):
        (shell.workspace / folder).mkdir()
    (shell.workspace / changed).write_text("true\n", encoding="utf-8")
    shell.run("trust", "--digest", digest(shell))
    (shell.workspace / changed).write_text("touch imported\n", encoding="utf-8")
    begun = shell.run("run", "wipe the caps", "--mode", "step", "--json")
    assert f"{changed} changed since the folder was trusted" in begun.out
    assert marks(shell) == set()


def test_a_preview_runs_beside_pinned_data_and_no_other_code_that_links_lead_to(shell: Shell, tmp_path: Path) -> None:
    (shell.workspace / "hitl.toml").write_text(FOREIGN.replace('"helper.py"]', '"orders.txt"]'), encoding="utf-8")
    (shell.workspace / "orders.txt").write_text("8\n", encoding="utf-8")
    library = tmp_path / "library"
    library.mkdir()
    (library / "rules.sh").write_text("true\n", encoding="utf-8")
    (shell.workspace / "lib").symlink_to(library)
    shell.run("trust", "--digest", digest(shell))
    (shell.workspace / "orders.txt").write_text("9\n", encoding="utf-8")
    shell.run("run", "wipe the caps", "--mode", "step", "--json")
    assert marks(shell) == {"previewed"}
    (shell.workspace / "previewed").unlink()
    (library / "rules.sh").write_text("false\n", encoding="utf-8")
    begun = shell.run("run", "wipe the caps", "--mode", "step", "--json")
    assert "lib/rules.sh changed since the folder was trusted" in begun.out
    assert marks(shell) == set()


def test_an_open_session_shows_what_its_folder_wants_and_trusts_it_by_its_digest(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shown = shell.run("do", "s1", "/trust", "--json")
    assert shown.code == 0 and shown.json["trusted"] is False
    assert shown.json["digest"] == digest(shell)
    assert {want["kind"] for want in shown.json["wants"]} >= {"command", "preview", "graph", "allow", "mode", "pins"}
    assert shown.json["give"] == [f"/trust --digest {digest(shell)}"]
    lines = shell.run("do", "s1", "/trust").out
    assert "run a preview without asking" in lines and shown.json["give"][0] in lines
    claimed = shell.run("do", "s1", shown.json["give"][0], "--as", "eve", "--json")
    granted = shell.run("trust", "--show", "--json").json
    assert claimed.json["status"] == "trusted" and granted["by"].startswith("eve (claimed) through "), (
        "the account is verified"
    )
    assert shell.run("trust", "--revoke").code == 0
    assert shell.run("do", "s1", "/trust --digest 1234", "--json").code == 2
    assert shell.run("do", "s1", f"/trust --digest {'0' * 64}", "--json").code == 2
    trusted = shell.run("do", "s1", shown.json["give"][0], "--json")
    assert (trusted.code, trusted.json["status"], trusted.json["trusted"]) == (3, "trusted", True)
    assert "is trusted" in shell.run("do", "s1", "/trust", "--json").json["message"]
    assert marks(shell) == set()
