"""Bad input: one clear sentence, the right exit code, nothing changed, nothing lost, never a traceback."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from cli_support import Ran, Shell

QUESTION = "강남구 아파트 시세 조회"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def complaint(ran: Ran, code: int = 2) -> str:
    """Return the sentence a person reads, after checking that there is nothing else."""
    assert ran.code == code
    assert ran.out == ""
    assert "Traceback" not in ran.err
    first = ran.err.splitlines()[0]
    assert first.startswith(("hitl-tui: ", "Error: "))
    return first.split(": ", 1)[1]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (b"", "The question is empty"),
        (b"  \n\t ", "The question is empty"),
        (b"a" * 1_048_576, "Standard input is too long"),
        (b"x" * 10_001, "The question has 10,001 characters; the limit is 10,000"),
        (b"\xff\xfe\x00binary", "Standard input isn't UTF-8 text."),
        (b"find\0this", "The question holds binary data"),
        (b"\x1b]0;title\x07 find", "The question holds binary data"),
    ],
)
def test_queries_that_are_none_begin_no_session(shell: Shell, query: bytes, sentence: str) -> None:
    assert complaint(shell.run("run", "-", input=query)).startswith(sentence)
    assert shell.run("sessions", "--json").json["sessions"] == []


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("run", QUESTION), ("lint", "agent.py:graph")])
def test_a_current_folder_that_is_gone(shell: Shell, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = ["sh", "-c", f'rmdir "{gone}" && exec "$@"', "sh"]
    done = subprocess.run(
        [*leave, *shell.command(*arguments)], capture_output=True, env=shell.env, cwd=gone, text=True, check=False
    )
    ran = Ran(done.returncode, done.stdout, done.stderr)
    assert complaint(ran) == "The current folder no longer exists; change to another."


@pytest.mark.long
def test_an_argument_that_is_no_text(shell: Shell) -> None:
    done = subprocess.run(
        [*shell.command("run"), b"\xff\xfe"], capture_output=True, env=shell.env, cwd=shell.workspace, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"hitl-tui: The text given isn't valid UTF-8")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "Nothing was written."),
        ("/", "Type a command after the slash."),
        ("/aprove", 'Unknown command "/aprove"'),
        ("/todo aprove", 'Unknown command "/todo aprove"'),
        ("/todo skip", "/todo skip needs <step id>."),
        ("/todo approve 7", 'No step "7"'),
        ("/todo approve todo_00", '"todo_00" could be todo_001, todo_002'),
        ("/todo update 1 gone", 'Unknown status "gone"'),
        ("/todo update 1 in_progress", "001 is"),
        ("/todo priority 1 urgent", 'Unknown priority "urgent"'),
        ("/todo add nobody find it", 'No agent "nobody"'),
        ("/todo add command_team no-such-command", None),
        ("/todo move 1 beside 2", '"beside" must be before or after.'),
        ("/todo remove 1", None),
        ("/todo edit 1 {broken", "The new input isn't valid JSON"),
        ("/checkpoint restore nowhere", 'No checkpoint "nowhere"'),
        ("/checkpoint restore 99999", None),
        ("/mode fast", 'Unknown mode "fast"'),
        ("/new another", "/new works only in the console and in line mode."),
        ("/todos now", '/todos doesn\'t take "now".'),
    ],
)
def test_commands_that_mean_nothing_change_nothing(
    shell: Shell, begun: Path, command: str, sentence: str | None
) -> None:
    shutil.copytree(begun, shell.data)
    before = shell.run("show", "s1", "--json").json
    said = complaint(shell.run("do", "s1", command))
    assert sentence is None or said.startswith(sentence) or sentence in said
    assert len(said) < 400
    after = shell.run("show", "s1", "--json").json
    assert (after["todos"], after["questions"]) == (before["todos"], before["questions"])


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with session s1 of two TODOs."""
    shell = Shell(tmp_path_factory.mktemp("begun"))
    shell.run("run", "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘")
    return shell.data


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[defaults]\nmod = 'step'\n", "hitl.toml line 2:"),
        ("[defaults\n", "hitl.toml line 1:"),
        ("[defaults]\nconcurrency = 0\n", "hitl.toml line 2:"),
    ],
)
def test_a_broken_hitl_toml_names_the_line(shell: Shell, content: str, sentence: str) -> None:
    shell.run("run", QUESTION)
    (shell.workspace / "hitl.toml").write_text(content)
    assert complaint(shell.run("run", QUESTION)).startswith(sentence)
    assert complaint(shell.run("do", "s1", "/todos")).startswith(sentence)
    assert [s["session_id"] for s in shell.run("sessions", "--json").json["sessions"]] == ["s1"]


def test_workspaces_that_cannot_be_used(shell: Shell, tmp_path: Path) -> None:
    missing = complaint(shell.run("run", QUESTION, "--workspace", str(tmp_path / "gone")))
    assert missing == f"The workspace {tmp_path / 'gone'} doesn't exist."
    no_folder = complaint(shell.run("run", QUESTION, "--workspace", str(shell.workspace / "README.md")))
    assert no_folder.endswith("README.md isn't a folder.")
    console = complaint(shell.run("--workspace", str(tmp_path / "gone")))
    assert console == f"The workspace {tmp_path / 'gone'} doesn't exist."
    assert complaint(shell.run("run", QUESTION, "--workspace", "")) == "--workspace needs a folder."
    assert shell.run("sessions", "--json").json["sessions"] == []


def test_an_empty_workspace_says_that_nothing_was_found(shell: Shell, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert shell.run("run", QUESTION, "--workspace", str(empty)).code == 3
    answered = shell.run("do", "s1", "/todo approve", "--json")
    assert answered.code in (0, 3)
    if answered.code == 3:  # a wider search is proposed
        assert shell.run("do", "s1", "/proposal reject").code == 0
    ended = shell.run("show", "s1", "--json").json
    assert "찾" in ended["response"]
    assert ended["response_details"]["citations"] == []


def test_a_workspace_that_vanished_is_named(shell: Shell) -> None:
    shell.run("run", QUESTION)
    shell.workspace.rename(shell.workspace.with_name("moved"))
    shell.workspace = shell.workspace.with_name("moved")
    assert complaint(shell.run("do", "s1", "/todo approve")).endswith("doesn't exist.")


def test_session_ids_that_cannot_be_used(shell: Shell) -> None:
    shell.run("run", QUESTION, "--session", "mine")
    assert complaint(shell.run("run", QUESTION, "--session", "mine")).startswith("Session mine already exists")
    for bad in ("../up", "a b", "-x", "é" * 3, "a" * 65):
        assert "can't be a session id" in complaint(shell.run("run", QUESTION, f"--session={bad}"))
    assert complaint(shell.run("do", "s7", "/todos")) == 'No session "s7"; known: mine.'
    assert complaint(shell.run("audit", "verify", "s7")).startswith('The record has no session or task "s7"')
    assert [s["session_id"] for s in shell.run("sessions", "--json").json["sessions"]] == ["mine"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (("run", QUESTION, "--session", ""), "--session"),
        (("run", QUESTION, "--session="), "--session"),
        (("--session", ""), "--session"),
        (("run", QUESTION, "--trust", ""), "--trust"),
        (("decide", "req-1", "approve", "--digest", ""), "--digest"),
        (("policy", "check", "--team", ""), "--team"),
        (("policy", "check", "--action", ""), "--action"),
        (("audit", "verify", ""), "SESSION"),
        (("review", "", "--from", "."), "REQUEST"),
    ],
)
def test_a_variable_that_is_not_set_is_not_taken_for_an_option_left_out(
    shell: Shell, line: tuple[str, ...], named: str
) -> None:
    assert complaint(shell.run(*line)) == f"{named} needs a value, not an empty text."
    assert shell.run("sessions", "--search", "", "--json").json["sessions"] == []


def test_data_folders_that_cannot_be_used(shell: Shell, tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("isn't a folder")
    said = complaint(shell.run("run", QUESTION, "--data", str(taken / "below")), code=1)
    assert said == f"The data folder {taken / 'below'} can't be created: Not a directory."
    assert complaint(shell.run("sessions", "--data", "")) == "--data needs a folder."


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_an_unreadable_data_folder(shell: Shell) -> None:
    shell.run("run", QUESTION)
    (shell.data / "sessions").chmod(0)
    try:
        assert "can't be" in complaint(shell.run("run", QUESTION), code=1)
    finally:
        (shell.data / "sessions").chmod(0o700)


@pytest.mark.parametrize("damage", ["cut", "newer", "garbage"])
def test_a_damaged_session_says_so_and_others_work(shell: Shell, begun: Path, damage: str) -> None:
    shutil.copytree(begun, shell.data)
    shell.run("run", QUESTION, "--session", "other")
    path = shell.data / "sessions" / "s1" / "checkpoints.db"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif damage == "garbage":
        path.write_bytes(b"this is no database at all" * 400)
    else:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version=99")
        connection.close()
    left = path.read_bytes()
    said = complaint(shell.run("do", "s1", "/todo approve"), code=1)
    assert str(path) in said
    assert path.read_bytes() == left, "the file isn't touched"
    listed = {s["session_id"]: s for s in shell.run("sessions", "--json").json["sessions"]}
    assert listed["s1"]["session_status"] == "unreadable"
    assert listed["s1"]["message"]
    assert shell.run("do", "other", "/todos").code == 0


@pytest.mark.long
def test_a_full_disk_is_one_sentence_and_loses_nothing(shell: Shell) -> None:
    shell.run("run", QUESTION)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(
        shell.command("do", "s1", "/todo approve"),
        capture_output=True,
        env=shell.env,
        cwd=shell.workspace,
        text=True,
        check=False,
        preexec_fn=little_room,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("hitl-tui: ")
    assert len(done.stderr.splitlines()) == 1
    again = shell.run("do", "s1", "/todo approve", "--json")
    assert again.code in (0, 2), "approved now, or it had been"
    assert shell.run("show", "s1", "--json").json["session_status"] == "finished"


def test_hostile_text_is_shown_exactly_and_harmlessly(shell: Shell) -> None:
    query = "시세 [bold]조회[/bold] \u202e\u2066evil\u200b \u0085 강남구"
    plain = shell.run("run", query, "--session", "s1")
    assert plain.code == 3
    assert not [c for c in plain.out if not c.isprintable() and c != "\n"]
    assert "[bold]조회[/bold] ⟨U+202E⟩⟨U+2066⟩evil⟨U+200B⟩" in plain.out
    told = shell.run("show", "s1", "--json")
    assert not [c for c in told.out if not c.isprintable() and c != "\n"]
    assert told.json["query"] == query


@pytest.mark.parametrize("what", ["verify", "head", "export"])
def test_a_folder_without_a_record_is_no_intact_record(shell: Shell, tmp_path: Path, what: str) -> None:
    elsewhere = tmp_path / "mistyped"
    assert complaint(shell.run("audit", what, "--data", str(elsewhere))) == f"No record in {elsewhere}."
    assert not elsewhere.exists()


def test_names_that_are_none(shell: Shell) -> None:
    shell.run("run", QUESTION)
    assert complaint(shell.run("do", "s1", "/todo approve", "--as", " ")).startswith("--as needs a name")
    assert complaint(shell.run("do", "s1", "/todo approve", "--as", "a\u202eb")).startswith("--as must be a name")
    assert "no U+002C" in complaint(shell.run("do", "s1", "/todo approve", "--as", "ann, bob"))
    for nobody in ("rule", "Deadline", "rule 1a2b of ann", "policy rule 1"):
        said = complaint(shell.run("do", "s1", "/todo approve", "--as", nobody))
        assert said == f'--as must be one person\'s name; the record calls something else "{nobody}".'
    assert complaint(shell.run("do", "s1", "/todo approve", HITL_USER="x" * 65)).startswith("HITL_USER must be")


def test_what_is_unexpected_is_one_sentence_and_a_log(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(job: object) -> int:
        raise KeyError("surprise")

    monkeypatch.setattr("hitl_tui.cli.admin_commands.sessions", broken)
    said = complaint(shell.run("sessions"), code=1)
    log = shell.data / "hitl-tui.log"
    assert said == f"Unexpected error (KeyError: 'surprise'); details are in {log}."
    assert "Traceback" in log.read_text()
