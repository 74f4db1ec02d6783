"""A declared secret that a person writes: kept and shown by its name, and put back only where a step runs (T10)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_support import Shell
from repl_support import Terminal

from hitl_tui.threads.packed_values import unpacked

SECRET = 'sw"ord\\fish 7!'
NAMES = {"DEPLOY_TOKEN": SECRET}
SETTINGS = """
[secrets]
names = ["DEPLOY_TOKEN"]

[teams.command_team.commands.deploy]
description = "Deploy with a token"
run = ["sh", "-c", "printf %s \\"$1\\" >token.out; printf %s \\"$1\\"", "deploy", "--token={token}"]
preview = ["printf", "would use %s", "{token}"]
parameters.token = { type = "string" }
risk = "low"
"""
GRAPH = """
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    text: str
    said: str


builder = StateGraph(State)
builder.add_node("ask", lambda state: {"said": str(interrupt("What shall I say?"))})
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
graph = builder.compile()
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.declare(SETTINGS)
    return shell


def forms(secret: str = SECRET) -> list[bytes]:
    return [form.encode() for form in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[1:-1])]


def holding(folder: Path, secret: str = SECRET) -> list[str]:
    """Return the files that hold the secret in any form, checkpoints also where they are packed."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = [(path.name, path.read_bytes()) for path in files]
    for path in files:
        if path.name == "checkpoints.db":
            with closing(sqlite3.connect(path)) as db:
                rows = db.execute("SELECT type, checkpoint FROM checkpoints UNION ALL SELECT type, value FROM writes")
                texts += [(path.name, unpacked(*row)[1]) for row in rows]
    return [name for name, text in texts if any(form in text for form in forms(secret))]


@pytest.mark.long
def test_a_secret_in_queries_arguments_edits_and_reasons_is_kept_nowhere(shell: Shell, tmp_path: Path) -> None:
    quoted = "'" + SECRET + "'"
    told = []
    for command in (
        ("run", f"What does the lease say about {SECRET}?", "--json"),
        ("do", "s1", f"/todo reject 1 because of {SECRET}", "--json"),
        ("do", "s1", f"/todo add command_team deploy token={quoted}", "--json"),
        ("do", "s1", f"/todo edit 2 token={quoted}", "--json"),
        ("do", "s1", f"also look for {SECRET}", "--json"),
        ("do", "s1", f"/rename about {SECRET}", "--json"),
        ("show", "s1", "--json"),
        ("do", "s1", "/todo show 2", "--json"),
        ("export", "s1", str(tmp_path / "s1.hitl")),
        ("do", "s1", f"/export {tmp_path / 's1.md'}"),
        ("sessions", "--json"),
    ):
        ran = shell.run(*command, **NAMES)
        assert ran.code in (0, 3), ran
        told.append(ran.out + ran.err)
    shown = "".join(told).encode()
    assert not any(form in shown for form in forms())
    assert "‹DEPLOY_TOKEN›" in "".join(told)
    assert holding(shell.data) == []
    assert holding(tmp_path) == []


def test_the_step_gets_the_value_and_its_record_the_name(shell: Shell) -> None:
    shell.run("run", "What does the lease say?", **NAMES)
    shell.run("do", "s1", "/todo skip 1", **NAMES)
    added = shell.run("do", "s1", f"/todo add command_team deploy token='{SECRET}'", "--json", **NAMES)
    (question,) = [q for q in added.json["questions"] if q["todo_id"] == "todo_002"]
    assert question["subject"]["arguments"]["argv"][-1] == "--token=‹DEPLOY_TOKEN›"
    approved = shell.run("do", "s1", "/todo approve 2", "--json", **NAMES)
    assert approved.code == 0, approved
    assert (shell.workspace / "token.out").read_text(encoding="utf-8") == f"--token={SECRET}"
    assert "--token=‹DEPLOY_TOKEN›" in shell.run("do", "s1", "/todo show 2", **NAMES).out
    assert holding(shell.data) == []


@pytest.mark.parametrize("given", ['{"text": "%s"}', "%s"])
def test_a_graph_is_given_no_secret_as_input(shell: Shell, given: str) -> None:
    (shell.workspace / "agent.py").write_text(GRAPH, encoding="utf-8")
    text = given % json.dumps(SECRET)[1:-1] if given.startswith("{") else given % SECRET
    ran = shell.run("attach", "agent.py:graph", "--input", text, "--json", **NAMES)
    assert ran.code == 2
    assert "DEPLOY_TOKEN" in ran.json["error"] and "from its environment" in ran.json["error"]
    assert not list((shell.data / "sessions").glob("*"))
    assert holding(shell.data) == []


@pytest.mark.parametrize("line", [f"/answer 1 {SECRET}", f"/answer 1 {json.dumps(SECRET)}", "/answer 1 ‹DEPLOY_TOKEN›"])
def test_a_graph_is_given_no_secret_as_answer_or_state(shell: Shell, line: str) -> None:
    (shell.workspace / "agent.py").write_text(GRAPH, encoding="utf-8")
    begun = shell.run("attach", "agent.py:graph", "--input", '{"text": "hello"}', "--json", **NAMES)
    (question,) = begun.json["questions"]
    ran = shell.run("do", "s1", line.replace("1", question["id"], 1), "--json", **NAMES)
    assert ran.code in (1, 2) and "DEPLOY_TOKEN" in ran.json["error"]
    edited = shell.run("do", "s1", f"/state edit 1 {json.dumps({'text': SECRET})}", "--json", **NAMES)
    assert edited.code in (1, 2) and "DEPLOY_TOKEN" in edited.json["error"]
    assert holding(shell.data) == []
    assert shell.run("do", "s1", f"/answer {question['id']} hello", "--json", **NAMES).code == 0


def escaped(text: str) -> str:
    """Return JSON that means a text and shows none of its characters."""
    return '"' + "".join(f"\\u{ord(character):04X}" for character in text) + '"'


def test_a_graph_is_given_no_secret_that_json_escapes(shell: Shell) -> None:
    (shell.workspace / "agent.py").write_text(GRAPH, encoding="utf-8")
    given = f'{{"text": {escaped(SECRET)}}}'
    ran = shell.run("attach", "agent.py:graph", "--input", given, "--json", **NAMES)
    assert ran.code == 2 and "holds the secret DEPLOY_TOKEN" in ran.json["error"]
    assert not list((shell.data / "sessions").glob("*"))
    shell.run("attach", "agent.py:graph", "--input", '{"text": "hello"}', "--json", **NAMES)
    for line in (f"/state edit 1 {given}", f"/todo edit 1 {given}"):
        ran = shell.run("do", "s1", line, "--json", **NAMES)
        assert ran.code in (1, 2) and "DEPLOY_TOKEN" in ran.json["error"], ran
    assert holding(shell.data) == []


def test_an_edit_of_a_command_shows_no_secret_that_json_or_quotes_hid(shell: Shell) -> None:
    shell.run("run", "What does the lease say?", **NAMES)
    shell.run("do", "s1", "/todo add command_team deploy token=one", **NAMES)
    for given in (f'{{"token": {escaped(SECRET)}}}', 'token=sw\\"ord"\\\\fish 7!"'):
        edited = shell.run("do", "s1", f"/todo edit 2 {given}", "--json", **NAMES)
        assert edited.code in (0, 3), edited
        assert edited.json["arguments"]["parameters"] == {"token": "‹DEPLOY_TOKEN›"}
        assert not any(form in edited.out.encode() for form in forms())
    assert holding(shell.data) == []


@pytest.mark.long
def test_a_search_of_documents_keeps_no_secret_that_stands_in_them(shell: Shell) -> None:
    note = shell.workspace / "passwords.md"
    note.write_text(f"# Deployment\n\nThe deployment of the aquarium uses {SECRET} as its token.\n", encoding="utf-8")
    shell.run("run", "Which token does the deployment of the aquarium use?", **NAMES)
    found = shell.run("do", "s1", "/todo approve 1", "--json", **NAMES)
    assert found.code == 0, found
    assert "aquarium" in found.out and "‹DEPLOY_TOKEN›" in found.out
    assert holding(shell.data) == []


@pytest.mark.long
def test_steps_that_read_files_by_themselves_keep_no_secret_of_them(shell: Shell) -> None:
    """An analysis reads documents as a whole, and tables; what the steps of a team hand on is kept, too."""
    text = "# Aquarium\n\nThe aquarium holds 300 litres.\n\n## Access\n\nIts pump asks for swordfish 77 at 7.\n"
    (shell.workspace / "notes.md").write_text(text, encoding="utf-8")
    rows = "pump,code,litres\nnorth,swordfish 77,300\nsouth,other,200\n"
    (shell.workspace / "pumps.csv").write_text(rows, encoding="utf-8")
    secret = {"DEPLOY_TOKEN": "swordfish 77"}
    shell.run("run", "How many litres does the aquarium hold?", **secret)
    told = shell.run("do", "s1", "/todo approve 1", **secret).out
    for number, words in enumerate(
        (
            "analysis_team Which limits hold for the aquarium? --after 1",
            "analysis_team Which code has the pump north? analysis_type=tables",
            "table_team SELECT code FROM pumps",
        ),
        start=2,
    ):
        added = shell.run("do", "s1", f"/todo add {words}", "--json", **secret)
        assert added.code in (0, 3), added
        approved = shell.run("do", "s1", f"/todo approve {number}", "--json", **secret)
        assert approved.code in (0, 3), approved  # the nearest queries are asked about
        told += approved.out + shell.run("do", "s1", f"/todo show {number}", **secret).out
    assert "‹DEPLOY_TOKEN›" in told
    assert "swordfish 77" not in told
    assert holding(shell.data, "swordfish 77") == []


def test_a_secret_is_no_id_of_a_session(shell: Shell) -> None:
    ran = shell.run("run", "What does the lease say?", "--session", "swordfish77", "--json", DEPLOY_TOKEN="swordfish77")
    assert ran.code == 2
    assert "DEPLOY_TOKEN" in ran.json["error"] and "swordfish77" not in ran.out + ran.err
    assert not list((shell.data / "sessions").glob("*"))
    assert not [path for path in shell.data.rglob("*") if path.is_file() and b"swordfish77" in path.read_bytes()]


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "hello", "--workspace", f"/nowhere/{SECRET}"),
        ("sessions", "--search", SECRET),
        ("show", SECRET),
        ("run", "hello", "--mode", SECRET),
        ("attach", "agent.py:graph", "--input", json.dumps({SECRET: 1})),
        ("attach", f"agent.py:{SECRET}", "--input", "x"),
    ],
)
def test_no_message_repeats_a_secret(shell: Shell, command: tuple[str, ...], as_json: tuple[str, ...]) -> None:
    (shell.workspace / "agent.py").write_text(GRAPH, encoding="utf-8")
    ran = shell.run(*command, *as_json, **NAMES)
    assert "DEPLOY_TOKEN" in ran.out + ran.err, ran
    assert not any(form in (ran.out + ran.err).encode() for form in forms())
    assert holding(shell.data) == []


def test_a_folder_that_nobody_trusts_hides_nothing(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").write_text(SETTINGS + "# changed", encoding="utf-8")
    assert "swordfish77" in shell.run("show", "swordfish77", DEPLOY_TOKEN="swordfish77").err


@pytest.mark.long
def test_line_mode_keeps_no_secret_among_the_lines_typed_before(shell: Shell) -> None:
    terminal = Terminal(shell.terminal("--line", **NAMES), 24, 100)
    terminal.wait("hitl-tui>")
    terminal.send(f"What does the lease say about {SECRET}?\r")
    terminal.wait("s1>")
    terminal.send(f"/rename {SECRET}\r")
    terminal.wait("DEPLOY_TOKEN")
    assert terminal.leave() == 0
    assert "/rename ‹DEPLOY_TOKEN›" in (shell.data / "line-history").read_text(encoding="utf-8")
    assert holding(shell.data) == []
