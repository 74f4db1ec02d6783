"""`sessions`, `rename`, `fork`, `export`, `import`, `delete`, `prune`, `starter` as a shell runs them (C8)."""

from __future__ import annotations

import json
import shutil
import signal
import zipfile
from pathlib import Path

import pytest
from cli_support import S1_EN, Shell, by_id, read_until, statuses

from hitl_tui.policy.accounts import account_name


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def begun(shell: Shell) -> Shell:
    """A shell with session s1, whose search was done."""
    assert shell.run("run", S1_EN, "--json").code == 3
    assert shell.run("do", "s1", "/todo approve", "--json").code == 3
    return shell


@pytest.mark.parametrize(
    "line",
    [
        *("sessions", "sessions --search deposit", "inbox", "show s1", "do s1 /todos", "export s1 s1.hitl", "expire"),
        *("fork s1", "rename s1 lease", "prune --dry-run", "delete s1 --yes", "decide req-1 approve"),
    ],
)
def test_a_data_folder_is_not_made_by_what_finds_nothing_in_it(shell: Shell, line: str) -> None:
    assert shell.run(*line.split()).code in (0, 2)
    assert not shell.data.exists()


def finished(shell: Shell, session: str) -> None:
    """Take a session to its end."""
    for _ in range(5):
        if shell.run("do", session, "/todo approve", "--json").code == 0:
            return
    raise AssertionError(f"{session} doesn't end")


def listed(shell: Shell, *options: str) -> list[str]:
    return [found["session_id"] for found in shell.run("sessions", "--json", *options).json["sessions"]]


@pytest.mark.slow
@pytest.mark.long
def test_a_fork_in_processes_of_its_own(shell: Shell) -> None:
    assert shell.process("run", S1_EN, "--json").code == 3
    forked = shell.process("fork", "s1", "--title", "another way", "--json")
    assert forked.code == 0, forked.err
    assert {k: forked.json[k] for k in ("status", "session_id", "from", "title", "session_status", "questions")} == {
        "status": "forked",
        "session_id": "s2",
        "from": "s1",
        "title": "another way",
        "session_status": "waiting",
        "questions": 1,
    }
    (asked,) = shell.process("do", "s2", "/todos", "--json").json["questions"]
    assert asked["commands"]["approve"] == f"/todo approve {asked['id']}"
    for expected in (3, 0):
        answered = shell.process("do", "s2", "/todo approve", "--json")
        assert answered.code == expected
    assert "233.3%" in answered.json["response"]
    assert statuses(shell.run("show", "s1", "--json").json) == ["waiting_approval", "pending"]


def test_a_fork_at_a_checkpoint(begun: Shell) -> None:
    page = begun.run("do", "s1", "/checkpoint list", "--json").json["checkpoints"]
    first = next(c for c in page if c["waiting"] and c["message"] == "1 waiting: todo_001")
    for named in (first["checkpoint_id"], first["checkpoint_id"][:18]):
        forked = begun.run("fork", "s1", "--at", named, "--json")
        assert forked.code == 0
        there = begun.run("show", forked.json["session_id"], "--json").json
        assert statuses(there) == ["waiting_approval", "pending"]
        assert by_id(there)["todo_001"]["metadata"]["ran_before"]["status"] == "completed"
    missing = begun.run("fork", "s1", "--at", "nix", "--json")
    assert (missing.code, missing.json["status"]) == (2, "error")
    assert listed(begun) == ["s1", "s2", "s3"]


@pytest.mark.slow
@pytest.mark.long
def test_export_and_import_in_processes_of_their_own(begun: Shell, tmp_path: Path) -> None:
    file = tmp_path / "보관 s1.hitl"
    exported = begun.process("export", "s1", str(file), "--json")
    assert exported.code == 0, exported.err
    assert {**exported.json, "message": ""} == {
        "status": "exported",
        "message": "",
        "session_id": "s1",
        "file": str(file),
        "size": file.stat().st_size,
    }
    again = begun.process("export", "s1", str(file))
    assert (again.code, again.out) == (2, "")
    assert "existing files are never overwritten" in again.err
    other = str(tmp_path / "other")
    moved = tmp_path / "moved"
    shutil.copytree(begun.workspace, moved)
    imported = begun.process("import", str(file), "--workspace", str(moved), "--data", other, "--json")
    assert imported.code == 0, imported.err
    assert (imported.json["status"], imported.json["session_id"]) == ("imported", "s1")
    assert (imported.json["workspace"], imported.json["from"]) == (str(moved), str(file))
    (asked,) = begun.process("do", "s1", "/todos", "--data", other, "--json").json["questions"]
    assert asked["todo_id"] == "todo_002", "it is to be shown in this place, too"
    answered = begun.process("do", "s1", "/todo approve", "--data", other, "--json")
    assert answered.code == 0
    assert "233.3%" in answered.json["response"]
    assert begun.process("audit", "verify", "--data", other).code == 0


@pytest.mark.slow
@pytest.mark.long
def test_an_export_of_a_session_that_another_process_has_open(begun: Shell, tmp_path: Path) -> None:
    owner = begun.start("--line", "--session", "s1")
    try:
        read_until(owner, "002")
        exported = begun.process("export", "s1", str(tmp_path / "s1.hitl"))
        assert exported.code == 0, exported.err
        assert begun.process("fork", "s1").code == 0
        assert begun.process("rename", "s1", "renamed meanwhile").code == 0
        refused = begun.process("delete", "s1", "--yes", "--json")
        assert (refused.code, refused.json["kind"]) == (1, "busy")
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    assert zipfile.is_zipfile(tmp_path / "s1.hitl")
    assert begun.process("import", str(tmp_path / "s1.hitl")).code == 0
    assert listed(begun) == ["s1", "s2", "s3"]
    assert listed(begun, "--search", "MEANWHILE renamed") == ["s1"]


@pytest.mark.long
def test_what_is_no_export_is_bad_input(begun: Shell, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no zip")
    for file in ("text.zip", "nix.zip"):
        refused = begun.process("import", str(tmp_path / file), "--json")
        assert (refused.code, refused.json["kind"], refused.err) == (2, "bad_input", "")
    assert listed(begun) == ["s1"]


def test_sessions_can_be_searched(begun: Shell) -> None:
    assert begun.run("run", "강남구 아파트 시세 조회", "--json").code == 3
    assert listed(begun) == ["s1", "s2"]
    assert listed(begun, "--search", "아파트") == ["s2"]
    assert listed(begun, "--search", "JEONSE landlord") == ["s1"]
    assert listed(begun, "--search", "nothing of it") == []
    said = begun.run("sessions", "--search", "no\x1b[2Jway")
    assert said.code == 0
    assert "\x1b" not in said.out


def test_a_long_list_ends_with_how_many_there_are(begun: Shell) -> None:
    for _ in range(3):
        assert begun.run("fork", "s1").code == 0
    assert listed(begun) == ["s1", "s2", "s3", "s4"] and listed(begun, "--limit", "2") == ["s3", "s4"]
    *lines, rest = begun.run("sessions", "--limit", "2").out.splitlines()
    assert [line.split()[0] for line in lines] == ["s3", "s4"]
    assert rest == f"4 sessions in {begun.data}. The newest 2 are shown (--limit)."
    found = begun.run("sessions", "--search", "landlord", "--limit", "1").out.splitlines()
    assert found[0].startswith("s4 ") and found[-1].startswith('4 sessions with "landlord"')
    assert "newest" not in begun.run("sessions").out


@pytest.mark.long
def test_a_title_stays_the_same_on_its_way_through_exports_forks_and_names(begun: Shell, tmp_path: Path) -> None:
    kept = "a␛[31mb␊"
    for said in ("a\x1b[31mb␊", kept):
        assert begun.run("rename", "s1", said, "--json").json["title"] == kept
    assert begun.run("fork", "s1", "--json").json["title"] == f"{kept} (fork of s1)"
    for name in ("once", "twice"):
        path = str(tmp_path / f"{name}.hitl")
        begun.run("export", "s1", path)
        made = begun.run("import", path, "--json").json
        assert made["title"] == kept
        assert begun.run("delete", made["session_id"], "--yes").code == 0


def test_a_title(begun: Shell) -> None:
    renamed = begun.run("rename", "s1", "Deposit", "and law", "--json")
    assert renamed.code == 0
    assert {**renamed.json, "message": ""} == {
        "status": "renamed",
        "message": "",
        "session_id": "s1",
        "title": "Deposit and law",
    }
    assert begun.run("sessions").out.rstrip().endswith("Deposit and law")
    for session, title in (("s1", " "), ("s1", "x" * 500), ("s9", "x"), ("../s1", "x")):
        assert begun.run("rename", session, title, "--json").code == 2


@pytest.mark.long
def test_deleting_needs_a_yes(begun: Shell) -> None:
    refused = begun.process("delete", "s1", "--json")
    assert (refused.code, refused.json["kind"]) == (2, "bad_input")
    assert "--yes" in refused.json["error"]
    assert listed(begun) == ["s1"]
    for answer, left in (("no", ["s1"]), ("", ["s1"]), ("maybe", ["s1"]), ("yes", [])):
        terminal = begun.terminal("delete", "s1")
        terminal.expect("Delete session s1")
        terminal.sendline(answer)
        terminal.expect("Nothing was deleted" if left else "Deleted s1; the record of its decisions stays.")
        terminal.wait()
        assert terminal.exitstatus == (1 if left else 0)
        assert listed(begun) == left
    record = begun.run("audit", "export", "s1").out.splitlines()
    assert json.loads(record[-1])["data"]["by"] == f"tester (claimed) through {account_name()}"
    assert any(json.loads(line)["kind"] == "decision" for line in record)
    assert begun.run("audit", "verify").code == 0


@pytest.mark.long
def test_pruning_shows_what_would_go_first(begun: Shell) -> None:
    finished(begun, "s1")
    assert begun.run("run", S1_EN, "--json").code == 3
    nothing = begun.run("prune", "--json")
    assert (nothing.code, nothing.json["status"], nothing.json["deleted"]) == (0, "pruned", []), "s1 isn't 30 days old"
    dry = begun.run("prune", "--older-than", "0m", "--dry-run", "--json")
    assert (dry.code, dry.json["status"]) == (0, "dry_run")
    assert [s["session_id"] for s in dry.json["sessions"]] == ["s1"]
    assert begun.run("prune", "--keep", "1", "--dry-run").out == "Nothing to prune.\n"
    refused = begun.process("prune", "--keep", "0")
    assert refused.code == 2
    assert refused.out.startswith("s1  ✓ finished"), "it is shown before anything is asked"
    assert listed(begun) == ["s1", "s2"]
    pruned = begun.process("prune", "--keep", "0", "--yes", "--json")
    assert (pruned.code, pruned.json["deleted"], pruned.json["stayed"]) == (0, ["s1"], {})
    assert listed(begun) == ["s2"]
    assert begun.run("prune", "--older-than", "soon").code == 2
    assert begun.run("prune", "--keep", "-1").code == 2


@pytest.mark.slow
@pytest.mark.long
def test_starters_for_scripts(shell: Shell) -> None:
    offered = shell.run("starter", "--json").json["starters"]
    assert [s["name"] for s in offered] == ["lease", "ops", "cleanup", "attach"]
    assert all(s["title"] and s["description"] and s["question"] for s in offered)
    made = shell.process("starter", "lease", "--json").json
    assert made["status"] == "made"
    assert Path(made["workspace"]) == shell.data / "starters" / "lease"
    another = shell.process("starter", "lease").out
    assert another == f"{made['workspace']}-2\n", "each start has a copy of its own"
    assert shell.process("run", made["question"], "--workspace", made["workspace"], "--json").code == 3
    unknown = shell.run("starter", "nix", "--json")
    assert (unknown.code, unknown.json["kind"]) == (2, "bad_input")


@pytest.mark.parametrize("name", ["rename", "fork", "export", "import", "delete", "prune", "starter", "sessions"])
def test_help_names_the_exit_codes_and_options(shell: Shell, name: str) -> None:
    said = shell.run(name, "--help")
    assert said.code == 0
    assert said.out.startswith(f"usage: hitl-tui {name}")
    assert "--json" in said.out


@pytest.mark.parametrize(
    ("language", "said"), [("en", "can't be exported to: use"), ("ko", "이름으로 내보낼 수 없습니다")]
)
def test_an_export_into_a_file_of_another_kind_is_refused(begun: Shell, language: str, said: str) -> None:
    refused = begun.run("export", "s1", "x.pdf", "--lang", language)
    assert (refused.code, refused.out) == (2, "")
    assert all(part in refused.err for part in ('"x.pdf"', said, ".hitl", ".md", ".json"))
    assert len(refused.err.splitlines()) == 1
    told = begun.run("do", "s1", "/export x.pdf", "--lang", language)
    assert told.code == 2 and said in told.err
    assert not (begun.workspace / "x.pdf").exists()
