"""`hitl-tui open` in a script: documents, exit codes, one sentence for what can't be read (I9)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
from cli_support import DEADLINE, Shell

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor" / "foreign"))

from foreign_support import digests, pay, payments, sqlite_saver


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(payments(tmp_path_factory.mktemp("store") / "payments.db"))


def document(shell: Shell, *arguments: str) -> dict[str, Any]:
    """Return what `open --json` prints."""
    ran = shell.run("open", *arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    return ran.json


def test_threads_are_listed(shell: Shell, store_file: str) -> None:
    found = document(shell, store_file)
    listed = [(t["thread_id"], t["waiting"]) for t in found["threads"]]
    assert listed == [("forked", True), ("done", False), ("asks", True)]
    assert (found["total"], found["next"], found["store"]["kind"]) == (3, None, "SQLite")
    assert found["message"] == f"3 threads in {store_file}."
    page = document(shell, store_file, "--limit", "2")
    assert ([t["thread_id"] for t in page["threads"]], page["next"]) == (["forked", "done"], 2)
    rest = document(shell, store_file, "--limit", "2", "--skip", "2")
    assert ([t["thread_id"] for t in rest["threads"]], rest["next"]) == (["asks"], None)
    sought = document(shell, store_file, "--search", "RENT")
    assert ([t["thread_id"] for t in sought["threads"]], sought["searched_by_id_alone"]) == (["done"], 0)


def test_a_thread_is_listed_with_its_subgraphs(shell: Shell, store_file: str) -> None:
    found = document(shell, store_file, "--thread", "do")
    assert found["thread_id"] == "done"
    assert [c["next"] for c in found["checkpoints"]] == ["end", "done", "check", "work", "ask", "plan", "input"]
    assert [c["asked"] for c in found["checkpoints"] if c["asked"]] == ["Is the account right?", "Transfer?"]
    assert [n["nodes"] for n in found["namespaces"]] == [[], ["check"]]
    page = document(shell, store_file, "--thread", "done", "--limit", "3")
    assert len(page["checkpoints"]) == 3
    rest = document(shell, store_file, "--thread", "done", "--before", page["next"])
    assert [*page["checkpoints"], *rest["checkpoints"]] == found["checkpoints"]
    inner = document(shell, store_file, "--thread", "done", "--ns", "check")
    assert [c["next"] for c in inner["checkpoints"]] == ["end", "confirm", "look", "input"]


def test_a_state_and_what_differs_are_printed(shell: Shell, store_file: str) -> None:
    edited = document(shell, store_file, "--thread", "forked")["checkpoints"][0]
    found = document(shell, store_file, "--thread", "forked", "--checkpoint", edited["checkpoint_id"][-9:])
    assert found["checkpoint"]["values"]["amount"] == 5
    assert found["checkpoint"]["questions"][0]["value"] == {"question": "Transfer?", "amount": 5}
    here = ["--thread", "forked", "--checkpoint", edited["checkpoint_id"], "--against", edited["parent_id"]]
    changes = document(shell, store_file, *here)["differences"]
    assert {"path": ["amount"], "change": "changed", "before": 100, "after": 5} in changes
    ran = shell.run("open", store_file, *here)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "~ amount: 100 → 5")


def test_without_a_terminal_lines_are_printed(shell: Shell, store_file: str) -> None:
    before = digests(Path(store_file).parent)
    ran = shell.run("open", store_file)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["Thread", "forked", "done", "asks", "3"]
    assert "? asks" in ran.out.splitlines()[1]
    ran = shell.run("open", store_file, "--thread", "forked")
    assert "asked Transfer?" in ran.out
    assert "Subgraph --ns check:" in ran.out
    newest = ran.out.splitlines()[1].split()[0]
    state = shell.run("open", store_file, "--thread", "forked", "--checkpoint", newest)
    assert (state.code, '"amount": 5' in state.out) == (0, True)
    after = digests(Path(store_file).parent)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["missing.db"], "missing.db doesn't exist."),
        (["."], "is a folder"),
        (["{store}", "--thread", "nobody"], 'No thread "nobody" in'),
        (["{store}", "--thread", "done", "--checkpoint", "zz"], 'No checkpoint "zz"'),
        (["{store}", "--thread", "done", "--ns", "zz"], 'No subgraph of this thread begins with "zz".'),
        (["{store}", "--checkpoint", "zz"], "--checkpoint needs --thread"),
        (["{store}", "--thread", "done", "--against", "zz"], "--against needs --checkpoint"),
        (["{store}", "--ns", "zz"], "--ns needs --thread"),
        (["{store}", "--limit", "many"], "isn't a whole number"),
        (["postgresql://ann:secret-word@127.0.0.1:1/x"], "postgresql://ann@127.0.0.1:1/x can't be opened"),
        ([], "DATABASE"),
    ],
)
def test_bad_input_is_one_sentence(shell: Shell, store_file: str, arguments: list[str], why: str) -> None:
    given = [a.format(store=store_file) for a in arguments]
    ran = shell.run("open", *given)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) <= 4  # the sentence, and how it is used
    again = shell.run("open", *given, "--json")
    assert again.code == 2
    assert why in again.json["error"]
    log = shell.data / "hitl-tui.log"
    told = ran.err + again.out + (log.read_text(encoding="utf-8") if log.exists() else "")
    assert "secret-word" not in told


def test_what_is_encrypted_or_damaged_is_one_sentence(shell: Shell, tmp_path: Path) -> None:
    store = payments(tmp_path / "p.db")
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE checkpoints SET type = 'msgpack+aes'")
    assert shell.run("open", str(store)).code == 0
    head = document(shell, str(store))["threads"][0]["head"]
    ran = shell.run("open", str(store), "--thread", "forked", "--checkpoint", head)
    assert (ran.code, ran.out) == (2, "")
    assert "can't be read: it is encrypted (aes)." in ran.err
    whole = store.read_bytes()
    (tmp_path / "damaged.db").write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    ran = shell.run("open", str(tmp_path / "damaged.db"))
    assert (ran.code, ran.out) == (2, "")
    assert "is damaged or cut off" in ran.err


def test_hostile_text_moves_nothing(shell: Shell, tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\u202e[/red]"
    with sqlite_saver(tmp_path / "h.db") as saver:
        pay(saver, hostile, ["yes"], hostile)
    store = str(tmp_path / "h.db")
    with sqlite3.connect(store) as connection:
        for table in ("checkpoints", "writes"):
            connection.execute(
                f"UPDATE {table} SET checkpoint_id = checkpoint_id || ?, checkpoint_ns = ?", [hostile, ""]
            )
    head = document(shell, store)["threads"][0]["head"]
    for arguments in ([], ["--thread", hostile], ["--thread", hostile, "--checkpoint", head], ["--json"]):
        ran = shell.run("open", store, *arguments)
        assert (ran.code, ran.err) == (0, "")
        assert not set(ran.out) & set("\x1b\x07\u202e")
    assert document(shell, store)["threads"][0]["thread_id"] == hostile


GRAPH = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1] / "supervisor" / "foreign")!r})
from foreign_support import payment
graph = payment(None)
"""


@pytest.mark.slow
@pytest.mark.long
def test_with_its_graph_a_thread_goes_on_in_a_copy(shell: Shell, store_file: str) -> None:
    before = digests(Path(store_file).parent)
    (shell.workspace / "pay.py").write_text(GRAPH, encoding="utf-8")
    begun = shell.process("open", store_file, "--thread", "asks", "--graph", "pay.py:graph", "--json")
    assert (begun.code, begun.json["session_status"]) == (3, "waiting")
    session = begun.json["session_id"]
    (step,) = begun.json["questions"]
    asked = shell.process("do", session, step["commands"]["approve"], "--json").json["questions"]
    assert [q["subject"]["value"] for q in asked] == [{"question": "Transfer?", "amount": 100}]
    asked = shell.process("do", session, f"/answer {asked[0]['id']} yes", "--json").json["questions"]
    assert [q["subject"]["value"] for q in asked] == ["Is the account right?"]
    ended = shell.process("do", session, f"/answer {asked[0]['id']} right", "--json").json
    assert ended["session_status"] == "finished"
    (copy,) = (shell.data / "copies").glob("*.db")
    log = document(shell, str(copy), "--thread", "asks")["checkpoints"]
    assert log[0]["next"] == "end"
    after = digests(Path(store_file).parent)
    assert {name: after[name] for name in before} == before


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--thread", "asks", "--graph", "none.py:graph"], "File none.py not found."),
        (["--thread", "zz", "--graph", "pay.py:graph"], 'No thread "zz"'),
        (["--thread", "asks", "--checkpoint", "zz", "--graph", "pay.py:graph"], 'No checkpoint "zz"'),
        (["--graph", "pay.py:graph"], "--graph needs --thread"),
        (["--thread", "asks", "--ns", "check", "--graph", "pay.py:graph"], "neither --ns nor --against"),
    ],
)
def test_what_cant_go_on_leaves_nothing_behind(shell: Shell, store_file: str, arguments: list[str], why: str) -> None:
    (shell.workspace / "pay.py").write_text(GRAPH, encoding="utf-8")
    ran = shell.process("open", store_file, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err
    assert not list(shell.data.glob("copies/*"))
    assert not list(shell.data.glob("sessions/*"))


@pytest.mark.long
def test_a_console_opens_at_a_terminal(shell: Shell, store_file: str) -> None:
    with shell.terminal("open", store_file) as terminal:
        terminal.expect("READ-ONLY", timeout=DEADLINE)
        terminal.expect("Pay the rent", timeout=DEADLINE)
        terminal.send("\x11")  # Ctrl+Q
        terminal.expect(pexpect.EOF, timeout=DEADLINE)
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.long
def test_at_a_terminal_bad_input_is_a_sentence_without_a_screen(shell: Shell) -> None:
    with shell.terminal("open", "missing.db") as terminal:
        terminal.expect(pexpect.EOF, timeout=DEADLINE)
        assert terminal.before is not None
        assert terminal.before.strip() == "hitl-tui: missing.db doesn't exist."
    terminal.close()
    assert terminal.exitstatus == 2


def test_neither_langgraph_nor_textual_is_loaded_to_print(shell: Shell, store_file: str) -> None:
    program = (
        "import sys; from hitl_tui.cli import main; code = main(sys.argv[1:]);"
        "print([m for m in ('langgraph', 'langchain_core', 'textual') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "open", store_file],
        env=shell.env,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    assert done.stderr.strip() == "[]"


def test_help_names_every_key_of_the_documents(shell: Shell, store_file: str) -> None:
    told = shell.run("open", "--help").out
    ids = [c["checkpoint_id"] for c in document(shell, store_file, "--thread", "done")["checkpoints"]]
    at = ("--thread", "done", "--checkpoint", ids[0])
    threads = document(shell, store_file, "--search", "rent")
    history = document(shell, store_file, "--thread", "done")
    state = document(shell, store_file, *at)
    compared = document(shell, store_file, *at, "--against", ids[2])
    parts = [threads, *threads["threads"], history, *history["namespaces"], *history["checkpoints"]]
    parts += [state, state["checkpoint"], state["store"], compared, *compared["differences"]]
    assert {key for part in parts for key in part if f'"{key}"' not in told} == set()
