"""What a command of high risk names in its arguments is part of what is approved, however it names it (T1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.policy import Risk
from hitl_tui.policy.executable_files import Bindings, Surroundings

SYSTEM = "/usr/bin:/bin"


def bound(root: Path, *argv: str) -> dict[str, str]:
    declared = CommandDeclaration("c", argv, risk=Risk.HIGH, description="x", folder=str(root))
    return Bindings().command(declared, [argv], root, SYSTEM, Surroundings())


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "away"
    (folder / "tool").mkdir(parents=True)
    for name in ("Makefile", "deploy.sh", "payload.json", "tool/__main__.py"):
        (folder / name).write_text("as it was")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("argv", "file"),
    [
        (["make", "-f{away}/Makefile", "all"], "Makefile"),
        (["make", "-f", "{away}/Makefile", "all"], "Makefile"),
        (["python3", "{away}/tool"], "tool/__main__.py"),
        (["sh", "-c", "~/deploy.sh"], "deploy.sh"),
        (["sh", "-c", "exec {away}/deploy.sh"], "deploy.sh"),
        (["curl", "-d", "@{away}/payload.json", "x"], "payload.json"),
        (["curl", "-d@{away}/payload.json", "x"], "payload.json"),
        (["curl", "-F", "file=@{away}/payload.json", "x"], "payload.json"),
        (["tool", "--file=~/payload.json"], "payload.json"),
    ],
)
def test_a_file_outside_that_is_exchanged_makes_another_approval(
    tmp_path: Path, away: Path, argv: list[str], file: str
) -> None:
    root = tmp_path / "w"
    root.mkdir()
    words = [word.replace("{away}", str(away)) for word in argv]
    before = bound(root, *words)
    assert str(away / file) in before
    (away / file).write_text("as it is now")
    assert bound(root, *words) != before


@pytest.mark.parametrize(
    "argv",
    [
        ["cp", "conf.new", "conf.live"],
        ["mv", "./conf.new", "x"],
        ["dd", "if=conf.new", "of=/tmp/x"],
        ["cp", "-t", "d", "conf.new"],
    ],
)
def test_so_does_one_that_is_only_copied(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "conf.new").write_text("as it was")
    before = bound(tmp_path, *argv)
    (tmp_path / "conf.new").write_text("as it is now")
    assert bound(tmp_path, *argv) != before


@pytest.mark.parametrize("argv", [["touch", "made"], ["cp", "a", "made"], ["rm", "made"]])
def test_what_a_command_makes_or_deletes_is_no_part_of_its_input(tmp_path: Path, argv: list[str]) -> None:
    before = bound(tmp_path, *argv)
    (tmp_path / "made").write_text("by the step before")
    assert bound(tmp_path, *argv) == before


def test_many_files_are_bound_together(tmp_path: Path) -> None:
    names = [f"f{n:02}" for n in range(20)]
    for name in names:
        (tmp_path / name).write_text("as it was")
    before = bound(tmp_path, "cp", *names, "d")
    assert "8 more files" in before
    (tmp_path / "f19").write_text("as it is now")
    assert bound(tmp_path, "cp", *names, "d") != before
