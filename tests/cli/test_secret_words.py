"""No word that an operator or an agent gives brings a declared secret to the disk, whatever it is given with (T10)."""

from __future__ import annotations

import io
import json
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
from cli_support import Shell

from hitl_tui.cli import masc_checkpoint
from hitl_tui.cli.subcommands import SUBCOMMANDS

SECRET = "hunter2-s3cr3t-word"
NAMES = {"DB_PASSWORD": SECRET}
RUNNING = frozenset({"console", "mcp", "serve", "web", "worker", "hook", "review"})
"""Subcommands that wait for somebody, or ask at a terminal."""


class Room(Shell):
    """A trusted folder that declares a secret."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.declare('[secrets]\nnames = ["DB_PASSWORD"]\n')

    def task(self, *arguments: str) -> tuple[int, str]:
        """Run `masc-checkpoint` in the folder; return its exit code and all that it printed."""
        out = io.StringIO()
        with (
            chdir(self.workspace),
            patch.dict(os.environ, {**self.env, **NAMES}, clear=True),
            redirect_stdout(out),
            redirect_stderr(out),
        ):
            code = masc_checkpoint.main(arguments)
        return code, out.getvalue()

    def ask(self, task: str) -> str:
        """Ask about a step; return the request's id and digest."""
        self.task("--task-id", task, "--step", "1", "--action", "drop", "--agent", "bot", "--interrupt", "Go?")
        (found,) = [one for one in self.run("inbox", "--json", **NAMES).json["requests"] if one.get("task_id") == task]
        return str(found["id"])

    def holding(self) -> list[str]:
        """Return the files that hold the secret."""
        files = [path for root in (self.data, self.workspace) for path in root.rglob("*") if path.is_file()]
        return [str(path) for path in files if SECRET.encode() in path.read_bytes()]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_what_decides_a_step_of_a_task_is_masked(room: Room) -> None:
    said = f"pw is {SECRET}"
    for number, given in enumerate(
        (("--reject", "--reason", said), ("--approve", "--value", json.dumps({"p": said, said: 1})))
    ):
        room.ask(f"t{number}")
        code, out = room.task("--task-id", f"t{number}", *given)
        assert code in (0, 4) and "‹DB_PASSWORD›" in out
    for number, answer in enumerate((("reject", "--reason", said), ("approve", "--args", json.dumps({"p": said})))):
        request = room.ask(f"d{number}")
        (asked,) = [one for one in room.run("inbox", "--json", **NAMES).json["requests"] if one["id"] == request]
        ran = room.run("decide", request, *answer, "--digest", asked["digest"], "--json", **NAMES)
        assert ran.code == 0 and "‹DB_PASSWORD›" in ran.out
    assert room.holding() == []


def test_the_name_of_who_decides_is_masked(room: Room, tmp_path: Path) -> None:
    room.run("run", "deposit rules", "--session", "sa", **NAMES)
    named = room.run("do", "sa", "/todo reject 1 no", "--as", f"bob {SECRET}", **NAMES)
    assert named.code == 2 and "--as holds the secret DB_PASSWORD" in named.err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with chdir(elsewhere), patch.object(room, "workspace", elsewhere):
        ran = room.run("do", "sa", "/todo reject 1 no", "--as", f"bob {SECRET}", **NAMES)
        assert ran.code in (0, 3), ran
        ran = room.run("do", "sa", "/todo add search_team more", HITL_USER=f"eve {SECRET}", **NAMES)
    assert ran.code in (0, 3), ran
    refused = room.run("do", "sa", "/stop", HITL_USER=f"eve {SECRET}", **NAMES)
    assert refused.code == 2 and "HITL_USER holds the secret DB_PASSWORD" in refused.err
    assert room.run("export", "sa", str(room.data / "sa.hitl"), **NAMES).code == 0
    assert room.holding() == []


def test_a_task_id_that_holds_a_secret_is_refused(room: Room) -> None:
    code, out = room.task(
        "--task-id", f"job-{SECRET}", "--step", "1", "--agent", "a", "--action", "q", "--interrupt", "z"
    )
    assert code == 2 and "The id of the task holds the secret DB_PASSWORD; choose another id." in out
    assert room.holding() == []


def test_a_secret_of_an_older_record_is_masked_where_it_is_shortened(room: Room) -> None:
    declared = (room.workspace / "hitl.toml").read_text(encoding="utf-8")
    room.declare("")
    room.ask(f"job-{'x' * 12}-{SECRET}-{SECRET}-{SECRET}")
    room.declare(declared)
    for command in (("inbox",), ("inbox", "--json")):
        ran = room.run(*command, **NAMES)
        assert SECRET[:8] not in ran.out + ran.err and "‹DB_PASSWORD›" in ran.out


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(SUBCOMMANDS) - RUNNING))
def test_no_word_of_a_command_line_brings_a_secret_to_the_disk(room: Room, name: str) -> None:
    room.run("run", "deposit rules", **NAMES)
    subcommand = SUBCOMMANDS[name]
    options = (*subcommand.exclusive, *subcommand.options)
    alone = [option for option in options if option.positional]
    for option in (one for one in options if one.positional or one.takes_value):
        words = [f"x {SECRET}" if one is option else "s1" for one in alone]
        given = [] if option.positional else [option.names[-1], f"x {SECRET}"]
        ran = room.run(name, *words, *given, **NAMES)
        assert "Unexpected" not in ran.err, ran
        assert SECRET not in ran.out + ran.err and room.holding() == [], (option.names, ran)


@pytest.mark.long
def test_no_word_of_masc_checkpoint_brings_a_secret_to_the_disk(room: Room) -> None:
    ways = (("--step", "1", "--action", "a", "--agent", "b"), ("--approve",), ("--reject", "--reason", "r"))
    named = [one.option_strings[-1] for one in masc_checkpoint._parser()._actions if one.nargs != 0]
    options = [name for name in named if name not in ("--masc-dir", "--data")]  # a folder is called what it is called
    for number, (option, rest) in enumerate(product(options, ways)):
        for task, value in (f"t{number}", f"x {SECRET}"), (f"j{number}", json.dumps(f"x {SECRET}")):
            room.ask(task)
            _, out = room.task("--task-id", task, *rest, option, value)
            assert SECRET not in out and room.holding() == [], (option, out)
