"""`attach` from a shell: one document, what the graph writes kept out of it, and the answer by `do` (I1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Shell
from trusting import trust_workspace

GRAPHS = Path(__file__).resolve().parents[1] / "supervisor" / "attached_graphs.py"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.long
def test_whatever_a_graph_writes_stays_out_of_the_document(shell: Shell, tmp_path: Path) -> None:
    asked = shell.process("attach", f"{GRAPHS}:loud", "--input", '{"to": "ann"}', "--json", WORLD=str(tmp_path / "w"))
    assert asked.code == 3
    (question,) = asked.json["questions"]
    assert question["subject"]["value"] == {"question": "Go?"}
    assert "past Python" in asked.err and "from a process" in asked.err
    done = shell.process("do", "s1", f"/answer {question['id']} yes", "--json", WORLD=str(tmp_path / "w"))
    assert done.code == 0
    assert done.json["session_status"] == "finished"


def test_an_input_given_is_the_word_to_run_and_no_input_asks_for_one(shell: Shell) -> None:
    chat = f"{GRAPHS}:chat"
    ran = shell.run("attach", chat, "--input", '{"text": "hello"}', "--json")
    assert (ran.code, ran.json["status"]) == (0, "finished")
    assert ran.json["todos"][0]["approval"]["channel"] == "cli"
    none = shell.run("attach", chat, "--json")
    assert (none.code, none.json["error"]) == (2, 'chat takes {"said": array, "text": string}; pass it with --input.')


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.py:graph"], "File nowhere.py not found."),
        ([f"{GRAPHS}:mial"], 'did you mean "mail"?'),
        (["nowhere:graph"], 'No module "nowhere"'),
        (["words"], "names no graph"),
        (["http://127.0.0.1:9"], "The LangGraph server at http://127.0.0.1:9 can't be reached: "),
        (["http://ann:pw@127.0.0.1:9"], "The address must hold no name and no password"),
        (["http://127.0.0.1:9", "--saver", "a.db"], "A LangGraph server keeps its threads itself"),
        (["http://127.0.0.1:9", "--header", "Authorization=Bearer x"], "--header takes NAME=VARIABLE"),
        (["http://127.0.0.1:9", "--header", "Authorization=NOT_THERE"], "NOT_THERE isn't set, or empty"),
        (["http://127.0.0.1:9", "--waiting", "--input", "x"], "--waiting takes the address of a LangGraph server"),
        ([f"{GRAPHS}:chat", "--assistant", "a"], "--assistant and --header are for a LangGraph server"),
        ([f"{GRAPHS}:chat", "--thread", "t"], "say which store with --saver"),
        ([f"{GRAPHS}:chat", "--saver", "none.db"], "No checkpoint database at none.db."),
        ([f"{GRAPHS}:chat", "--input", "@none.json"], "can't be read"),
        ([f"{GRAPHS}:chat", "--input", '{"text": "a", "text": "b"}'], 'names "text" twice'),
        ([f"{GRAPHS}:chat", "--input", "@/dev/zero"], "The input /dev/zero is too long: at most 10,000 characters"),
    ],
)
def test_what_cannot_be_attached_is_one_sentence(shell: Shell, arguments: list[str], says: str) -> None:
    more = [] if "--input" in arguments else ["--input", "{}"]
    ran = shell.run("attach", *arguments, *more)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert shell.run("sessions", "--json").json["sessions"] == []


PASSWORD = "geheim-4711"


@pytest.mark.parametrize("address", ["u:{}@127.0.0.1:1/db", "u@127.0.0.1:1/db?password={}", "u@127.0.0.1:1/db"])
def test_the_password_of_a_store_is_nowhere_to_be_seen(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    shell.env["PGPASSWORD"] = PASSWORD
    uri = f"postgresql://{address.format(PASSWORD)}"
    ran = shell.run("attach", f"{GRAPHS}:chat", "--saver", uri, "--thread", "t", "--input", "hello")
    if PASSWORD in uri:
        assert (ran.code, "A password in --saver would be kept") == (2, ran.err.removeprefix("hitl-tui: ")[:35])
        assert "PGPASSWORD" in ran.err
        assert shell.run("sessions", "--json").json["sessions"] == []
    else:
        assert "PostgreSQL store" in ran.out  # it can't be reached, or needs an extra
    looked = shell.run("open", uri, "--json")
    (shell.workspace / "hitl.toml").write_text(
        f'[teams.talk]\nkind = "graph"\ngraph = "{GRAPHS}:chat"\nsaver = "{uri}"\n', encoding="utf-8"
    )
    declared = shell.run("run", "Find the cap.", "--json")
    assert ("PGPASSWORD" in declared.json.get("error", "")) == (PASSWORD in uri)
    for said in (ran, looked, declared):
        assert PASSWORD not in said.out + said.err
    for path in shell.data.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path


@pytest.mark.long
def test_what_the_rules_find_is_told_before_a_graph_runs(shell: Shell, tmp_path: Path) -> None:
    shell.env["WORLD"] = str(tmp_path / "w")
    ran = shell.run("attach", f"{GRAPHS}:nested", "--input", '{"amount": 3}')
    head, *rest = ran.out.splitlines()
    count = int(head.split(" ")[1])
    assert head == f"check: {count} findings: hitl-tui lint {GRAPHS}:nested"
    assert all(line.startswith("| attached_graphs.py:") and " HT" in line for line in rest[:count])
    ran = shell.run("attach", f"{GRAPHS}:nested", "--input", '{"amount": 3}', "--json")
    assert [f["rule"][:2] for f in ran.json["findings"]] == ["HT"] * count
    assert shell.run("attach", f"{GRAPHS}:chat", "--input", "hello", "--json").json["findings"] == []


def test_a_module_that_raises_is_named_with_its_line(shell: Shell) -> None:
    (shell.workspace / "broken.py").write_text("\n\nraise RuntimeError('no key')\n", encoding="utf-8")
    ran = shell.run("attach", "broken.py:graph", "--input", "{}")
    assert (ran.code, ran.err.strip()) == (2, "hitl-tui: broken.py line 3 raised RuntimeError: no key.")
    (shell.workspace / "syntax.py").write_text("x = (\n", encoding="utf-8")
    assert "syntax.py line 1: " in shell.run("attach", "syntax.py:graph", "--input", "{}").err
    (shell.workspace / "needs.py").write_text("import not_there\n", encoding="utf-8")
    assert 'needs.py line 1 needs the module "not_there"' in shell.run("attach", "needs.py:graph", "--input", "{}").err


def test_graphs_of_a_langgraph_json_are_attached_by_name(shell: Shell) -> None:
    (shell.workspace / "langgraph.json").write_text(f'{{"graphs": {{"talk": "{GRAPHS}:chat"}}}}', encoding="utf-8")
    trust_workspace(shell.data, shell.workspace)
    ran = shell.run("attach", "talk", "--input", "hello", "--json")
    assert (ran.code, ran.json["todos"][0]["agent_name"]) == (0, "talk")
    assert "has no graph" in shell.run("attach", "tlak", "--input", "x").err
    plain = shell.run("run", "Find the cap.", "--json")
    assert plain.code == 3
    added = shell.run("do", plain.json["session_id"], "/todo add talk hello", "--json")
    assert added.json["todo"]["arguments"]["input"] == {"text": "hello"}


def test_graphs_declared_in_hitl_toml_are_teams(shell: Shell) -> None:
    declared = f'[teams.talk]\nkind = "graph"\ngraph = "{GRAPHS}:chat"\nrisk = "low"\n\n[[policy]]\nteam = "talk"\n'
    shell.declare(f'{declared}decision = "allow"\n')
    begun = shell.run("run", "Find the cap.", "--json")
    added = shell.run("do", begun.json["session_id"], "/todo add talk hello", "--json")
    assert added.json["todo"]["risk"] == "low"
    (shell.workspace / "hitl.toml").write_text(declared.replace("risk =", "rsik ="), encoding="utf-8")
    wrong = shell.run("run", "Find the cap.")
    assert wrong.code == 2 and "hitl.toml line" in wrong.err and 'did you mean "risk"?' in wrong.err
    (shell.workspace / "hitl.toml").write_text("[teams.serch_team]\ndocuments = ['.']\n", encoding="utf-8")
    assert 'did you mean "search_team"?' in shell.run("run", "Find the cap.").err
