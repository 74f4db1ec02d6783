"""A ledger that is gone or older than a session: nothing may be acknowledged and lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_support import S1_EN, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell with session s1, whose search was done."""
    shell = Shell(tmp_path)
    assert shell.run("run", S1_EN, "--json").code == 3
    return shell


def put_back(shell: Shell, kept: Path | None) -> None:
    """Replace the ledger by an older one, or by nothing."""
    for path in shell.data.glob("ledger.db*"):
        path.unlink()
    if kept is not None:
        shutil.copyfile(kept, shell.data / "ledger.db")


def problems(shell: Shell, *session: str) -> list[str]:
    found = shell.run("audit", "verify", *session, "--json")
    assert (found.code, found.json["status"]) in ((0, "ok"), (1, "changed"))
    assert found.json["ok"] is (found.code == 0)
    listed = [f"{problem['stream']}: {problem['what']}" for problem in found.json["problems"]]
    return [line for line in listed if "its signatures are gone" not in line]  # of a record that isn't the one signed


@pytest.mark.long
def test_a_session_whose_record_is_gone_is_named_and_not_opened(shell: Shell) -> None:
    assert problems(shell) == []
    put_back(shell, None)
    gone = ["s1: The ledger has no record of session s1, which has checkpoints."]
    assert problems(shell) == gone == problems(shell, "s1")
    assert shell.run("audit", "verify").out.startswith(gone[0])
    for said in ("/todo add search_team more", "/todo approve"):
        ran = shell.run("do", "s1", said, "--json")
        assert (ran.code, ran.json["status"]) == (1, "error")
        assert ran.json["message"] == "The ledger has no record of session s1, which has checkpoints."
    assert problems(shell) == gone, "being refused leaves no record that could be taken for the old one"
    # The others are as they were.
    assert shell.run("run", S1_EN, "--json").code == 3
    assert shell.run("do", "s2", "/todo approve", "--json").code == 3
    assert problems(shell) == gone and problems(shell, "s2") == []


def test_a_ledger_from_before_is_noticed_and_the_right_one_goes_on(shell: Shell, tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    shutil.copyfile(shell.data / "ledger.db", old)
    assert shell.run("do", "s1", "/todo approve", "--json").code == 3
    shutil.copyfile(shell.data / "ledger.db", new)
    put_back(shell, old)
    (found,) = problems(shell)
    assert found.startswith("s1: The ledger is older than session s1")
    ran = shell.run("do", "s1", "/todo add search_team more")
    assert ran.code == 1 and "The ledger is older than session s1" in ran.err
    put_back(shell, new)
    assert problems(shell) == []
    assert shell.run("do", "s1", "/todo approve", "--json").code == 0


def test_forks_imports_and_deleted_sessions_are_no_false_alarm(shell: Shell, tmp_path: Path) -> None:
    exported = tmp_path / "s1.hitl"
    assert shell.run("do", "s1", "/todo approve", "--json").code == 3
    assert shell.run("fork", "s1", "--json").code == 0
    assert shell.run("export", "s1", str(exported), "--json").code == 0
    assert shell.run("import", str(exported), "--json").code == 0
    assert shell.run("do", "s3", "/checkpoint list", "--json").code == 0
    assert shell.run("delete", "s1", "--yes", "--json").code == 0
    (shell.data / "sessions" / "s9").mkdir()
    begun = json.loads((shell.data / "sessions" / "s2" / "session.json").read_text(encoding="utf-8"))
    kept = {key: value for key, value in begun.items() if key != "checksum"}
    (shell.data / "sessions" / "s9" / "session.json").write_text(json.dumps({**kept, "id": "s9"}), encoding="utf-8")
    assert problems(shell) == [], "a folder that its maker didn't live to begin lacks nothing"
