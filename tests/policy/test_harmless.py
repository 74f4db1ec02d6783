"""Which commands are known to execute nothing else; every other one counts as able to execute anything."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hitl_tui.policy.harmless_commands import executes_nothing_else, find_program

SYSTEM = "/usr/bin:/bin"


@pytest.mark.parametrize(
    "argv",
    [
        ["rm", "-rf", "tools"],
        ["/bin/rm", "x.sh"],
        ["find", "logs", "-name", "*.gz", "-mtime", "+14", "-print", "-delete"],
        ["du", "-h", "web-1"],
        ["cp", "a.sh", "b.sh"],
    ],
)
def test_these_execute_nothing(tmp_path: Path, argv: list[str]) -> None:
    assert executes_nothing_else(argv, str(tmp_path), SYSTEM)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        [""],
        ["sh", "x"],
        ["python3", "-m", "tools"],
        ["env", "rm", "x"],
        ["find", ".", "-exec", "sh", "{}", ";"],
        ["find", ".", "-execdir", "x", ";"],
        ["find", ".", "-okdir", "x", ";"],
        ["sort", "--compress-program=./x", "a"],
        ["sed", "-f", "x", "a"],
        ["tar", "--to-command=./x", "-xf", "a"],
        ["a-program-nobody-knows"],
        ["./rm", "x"],
        ["tools/rm", "x"],
        ["rm\0", "x"],
    ],
)
def test_of_these_nobody_knows(tmp_path: Path, argv: list[str]) -> None:
    for place in (".", "tools"):
        (tmp_path / place).mkdir(exist_ok=True)
        shutil.copy("/bin/ls", tmp_path / place / "rm")
    assert not executes_nothing_else(argv, str(tmp_path), SYSTEM)


@pytest.mark.parametrize("path", [":/usr/bin", ".:/usr/bin", "bin:/usr/bin", "{root}/bin:/usr/bin", "{away}:/usr/bin"])
def test_a_program_of_another_place_that_is_found_first_is_not_the_systems(tmp_path: Path, path: str) -> None:
    root, away = tmp_path / "w", tmp_path / "away"
    for folder in (root, root / "bin", away):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy("/bin/ls", folder / "rm")
    given = path.format(root=root, away=away)
    assert find_program("rm", str(root), given) != find_program("rm", str(root), SYSTEM)
    assert not executes_nothing_else(["rm", "x"], str(root), given)


def test_a_link_of_the_workspace_to_a_system_program_is_not_the_systems(tmp_path: Path) -> None:
    (tmp_path / "rm").symlink_to("/bin/rm")
    assert not executes_nothing_else(["./rm", "x"], str(tmp_path), SYSTEM)
    assert not executes_nothing_else(["rm", "x"], str(tmp_path), f"{tmp_path}{os.pathsep}{SYSTEM}")
