"""Graphs as the LangGraph server runs them: a store that is kept, a context with defaults, a configuration (I10)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from cli_support import Ran, Shell
from trusting import trust_workspace

from hitl_tui.wording.subject_rows import runs

GRAPHS = Path(__file__).resolve().with_name("memory_graphs.py")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def attach(shell: Shell, graph: str, text: str, *more: str, **environ: str) -> Ran:
    given = ("attach", f"{GRAPHS}:{graph}", "--input", json.dumps({"text": text}), *more, "--json")
    return shell.run(*given, **environ)


def values(shell: Shell, ran: Ran) -> dict[str, Any]:
    """Return the state that a graph ended with."""
    assert ran.json.get("session_status") == "finished", ran.out + ran.err
    digest = str(ran.json["todos"][-1]["result"]["digest"])
    folder = shell.data / "sessions" / ran.json["session_id"] / "artifacts"
    found = json.loads((folder / digest[:2] / digest).read_text())["data"]["values"]
    assert isinstance(found, dict)
    return found


def test_what_a_graph_stores_is_there_in_the_next_session_of_the_workspace(shell: Shell) -> None:
    assert values(shell, attach(shell, "memory", "tea"))["known"] == ["tea"]
    second = attach(shell, "memory", "milk")
    assert sorted(values(shell, second)["known"]) == ["milk", "tea"]
    assert second.json["todos"][0]["arguments"]["context"] == {"user_id": "somebody", "tone": "plain"}
    (file,) = (shell.data / "stores").glob("*.db")
    assert file.stat().st_mode & 0o077 == 0
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT count(*) FROM store").fetchone() == (2,)


@pytest.mark.long
def test_a_context_is_given_on_the_command_line_and_approved_with_the_input(shell: Shell, tmp_path: Path) -> None:
    (shell.workspace / "ann.json").write_text('{"user_id": "ann"}', encoding="utf-8")
    ran = attach(shell, "memory", "tea", "--context", "@ann.json", "--config", '{"recursion_limit": 9}')
    assert values(shell, ran)["told"] == {"tone": "plain", "graph": "memory"}
    arguments = ran.json["todos"][0]["arguments"]
    assert arguments["context"] == {"user_id": "ann", "tone": "plain"}
    assert arguments["config"] == {"recursion_limit": 9}
    by_config = attach(shell, "memory", "milk", "--config", '{"configurable": {"user_id": "ann"}}')
    assert sorted(values(shell, by_config)["known"]) == ["milk", "tea"]
    assert values(shell, attach(shell, "memory", "rum"))["known"] == ["rum"]
    from_environment = attach(shell, "memory", "gin", MEMORY_TONE="warm")
    assert values(shell, from_environment)["told"]["tone"] == "warm"
    assert from_environment.json["todos"][0]["arguments"]["context"]["tone"] == "warm"


@pytest.mark.long
def test_a_configuration_schema_and_get_store_work_as_in_older_graphs(shell: Shell) -> None:
    def said(text: str) -> str:
        ran = shell.run("attach", f"{GRAPHS}:chat", "--input", text, "--context", '{"user_id": "bo"}', "--json")
        assert ran.code == 0, ran.out + ran.err
        return str(ran.json["response"])

    assert "Before, bo said: nothing" in said("I like tea")
    assert "Before, bo said: I like tea" in said("and milk")


def test_texts_are_stored_and_graphs_without_threads_run_within(shell: Shell) -> None:
    assert values(shell, attach(shell, "texts", "ab"))["told"] == {"before": None, "now": "abab"}
    assert values(shell, attach(shell, "texts", "c"))["told"] == {"before": "abab", "now": "cc"}


@pytest.mark.parametrize(
    ("graph", "arguments", "says"),
    [
        ("needs", [], 'needs needs "account" in its context, and nobody gave it.'),
        ("needs", ["--context", '{"acount": "a"}'], 'did you mean "account"?'),
        ("needs", ["--context", '{"account": "a", "limit": "many"}'], '"limit" in the context of needs: '),
        ("needs", ["--context", "[1]"], "--context must be a JSON object."),
        ("needs", ["--context", "{"], "--context isn't valid JSON"),
        ("needs", ["--context", "@none.json"], "can't be read"),
        ("memory", ["--config", '{"configurable": 1}'], '"configurable" in --config must be an object.'),
    ],
)
def test_a_context_that_cannot_be_is_one_sentence(shell: Shell, graph: str, arguments: list[str], says: str) -> None:
    ran = shell.run("attach", f"{GRAPHS}:{graph}", "--input", '{"text": "x"}', *arguments)
    assert (ran.code, "Traceback" in ran.err) == (2, False)
    assert says in ran.err
    assert shell.run("sessions", "--json").json["sessions"] == []


def test_a_field_that_only_a_node_finds_missing_is_named(shell: Shell) -> None:
    ran = attach(shell, "loose", "x")
    assert ran.json["todos"][0]["error"].startswith('loose ran without "account" in its context, which nobody gave: ')
    given = attach(shell, "loose", "x", "--context", '{"account": "a"}')
    assert values(shell, given)["told"] == {"account": "a"}


@pytest.mark.long
def test_what_was_approved_is_used_when_another_process_goes_on(shell: Shell) -> None:
    for settings, limit in ({"account": "a-7"}, 3), ({"account": "a-7", "limit": 5}, 5):
        asked = attach(shell, "needs", "x", "--context", json.dumps(settings))
        (question,) = asked.json["questions"]
        assert question["subject"]["value"] == {"question": "Pay from a-7?"}
        done = shell.process("do", asked.json["session_id"], f"/answer {question['id']} yes", "--json")
        assert values(shell, done)["told"] == {"answer": True, "limit": limit}


def test_a_secret_in_a_context_is_refused(shell: Shell) -> None:
    shell.declare('[secrets]\nnames = ["PAY_TOKEN"]\n')
    ran = attach(shell, "memory", "x", "--context", '{"tone": "geheim-4711"}', PAY_TOKEN="geheim-4711")
    assert (ran.code, "holds the secret PAY_TOKEN" in ran.json["error"]) == (2, True)
    by_default = attach(shell, "memory", "x", PAY_TOKEN="geheim-4711", MEMORY_TONE="geheim-4711")
    assert by_default.json["todos"][0]["arguments"]["context"] == {"user_id": "somebody"}
    for path in shell.data.rglob("*"):
        if path.is_file() and path.suffix != ".db" and not path.name.startswith("checkpoints.db"):
            assert b"geheim-4711" not in path.read_bytes(), path


def test_a_store_of_its_own_stays_and_is_told_of_where_it_forgets(shell: Shell) -> None:
    ran = attach(shell, "own", "tea")
    assert sorted(values(shell, ran)["known"]) == ["tea", "was there"]
    assert "keeps its own InMemoryStore" in " ".join(ran.json["notes"])
    assert not (shell.data / "stores").exists()


def langgraph_json(shell: Shell, store: Any) -> None:
    (shell.workspace / "memory_graphs.py").write_bytes(GRAPHS.read_bytes())
    declared = {"graphs": {"notes": "./memory_graphs.py:memory"}, "store": store}
    (shell.workspace / "langgraph.json").write_text(json.dumps(declared), encoding="utf-8")
    trust_workspace(shell.data, shell.workspace)


def test_the_store_that_langgraph_json_names_is_used(shell: Shell) -> None:
    langgraph_json(shell, {"path": "./memory_graphs.py:make_store"})
    ran = shell.run("attach", "notes", "--input", '{"text": "tea"}', "--json")
    assert values(shell, ran)["known"] == ["tea"]
    assert not (shell.data / "stores").exists()


def test_an_index_that_cannot_be_had_is_told_and_the_store_works_without(shell: Shell) -> None:
    langgraph_json(shell, {"index": {"embed": "nobody:has-this-model", "dims": 8}, "ttl": {"default_ttl": 60}})
    ran = shell.run("attach", "notes", "--input", '{"text": "tea"}', "--json")
    assert values(shell, ran)["known"] == ["tea"]
    assert "works without finding by meaning" in " ".join(ran.json["notes"])
    with sqlite3.connect(next((shell.data / "stores").glob("*.db"))) as connection:
        assert connection.execute("SELECT ttl_minutes FROM store").fetchone() == (60,)


@pytest.mark.skipif(not hasattr(sqlite3.Connection, "enable_load_extension"), reason="SQLite without extensions")
def test_an_index_with_a_function_of_the_folder_finds_by_meaning(shell: Shell) -> None:
    langgraph_json(shell, {"index": {"embed": "./memory_graphs.py:embed", "dims": 4, "fields": ["text"]}})
    ran = shell.run("attach", "notes", "--input", '{"text": "tea"}', "--json")
    assert values(shell, ran)["known"] == ["tea"]
    with sqlite3.connect(next((shell.data / "stores").glob("*.db"))) as connection:
        assert connection.execute("SELECT count(*) FROM store_vectors").fetchone() == (1,)


@pytest.mark.parametrize(
    ("store", "says"),
    [
        ([], '"store" must be an object'),
        ({"path": 3}, '"path" of "store" must be'),
        ({"index": {"embed": "a:b"}}, '"index" of "store" needs'),
        ({"ttl": {"default_ttl": 0}}, '"ttl" of "store" must hold'),
    ],
)
def test_a_store_section_that_cannot_be_is_one_sentence(shell: Shell, store: Any, says: str) -> None:
    langgraph_json(shell, store)
    ran = shell.run("attach", "notes", "--input", "{}")
    assert ran.code == 2
    assert says in ran.err


@pytest.mark.long
def test_a_team_of_hitl_toml_is_attached_by_its_name(shell: Shell) -> None:
    shell.declare(
        f'[teams.jotter]\nkind = "graph"\ngraph = "{GRAPHS}:memory"\n'
        'context = {user_id = "cy", tone = "dry"}\n\n'
        '[teams.double]\nkind = "function"\nfunction = "double.py:double"\n\n'
        '[teams.far]\nkind = "mcp"\nserver = ["true"]\ntool = "x"\n'
    )
    (shell.workspace / "double.py").write_text("def double(n: int) -> int:\n    return 2 * n\n", encoding="utf-8")
    ran = shell.run("attach", "jotter", "--input", '{"text": "x"}', "--context", '{"tone": "warm"}', "--json")
    assert values(shell, ran)["told"] == {"tone": "warm", "graph": "jotter"}
    assert ran.json["todos"][0]["arguments"]["context"] == {"user_id": "cy", "tone": "warm"}
    doubled = shell.run("attach", "double", "--input", '{"n": 21}', "--json")
    assert values(shell, doubled)["result"] == 42
    assert "tool of an MCP server" in shell.run("attach", "far", "--input", "x").err


def test_settings_given_to_run_reach_the_graphs_of_the_session(shell: Shell) -> None:
    shell.declare(f'[teams.jotter]\nkind = "graph"\ngraph = "{GRAPHS}:memory"\ncontext = {{tone = "dry"}}\n')
    given = ("--context", '{"user_id": "di", "nothing_of_it": 1}', "--config", '{"tags": ["a"]}')
    begun = shell.run("run", "Find the cap.", *given, "--json")
    added = shell.run("do", begun.json["session_id"], '/todo add jotter {"text": "x"}', "--json")
    assert added.json["todo"]["arguments"]["context"] == {"tone": "dry", "user_id": "di"}
    assert added.json["todo"]["arguments"]["config"] == {"tags": ["a"]}
    fork = shell.run("fork", begun.json["session_id"], "--json")
    again = shell.run("do", fork.json["session_id"], '/todo add jotter {"text": "y"}', "--json")
    assert again.json["todo"]["arguments"]["context"]["user_id"] == "di"


def test_a_secret_given_to_run_is_refused(shell: Shell) -> None:
    shell.declare('[secrets]\nnames = ["PAY_TOKEN"]\n')
    ran = shell.run("run", "Find the cap.", "--context", '{"a": "geheim-4711"}', "--json", PAY_TOKEN="geheim-4711")
    assert (ran.code, "holds the secret PAY_TOKEN" in ran.json["error"]) == (2, True)
    assert shell.run("sessions", "--json").json["sessions"] == []


def test_a_question_shows_the_context_beside_the_fields_of_the_input() -> None:
    arguments = {"input": {"text": "x"}, "context": {"user_id": "di"}, "programs": {"a.py": "0" * 64}}
    shown = [(row.label, row.text.plain) for row in runs(arguments, "x", ())]
    assert shown == [("text", "x"), ("context", '{"user_id": "di"}')]
