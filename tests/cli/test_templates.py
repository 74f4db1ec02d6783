"""Plan templates: kept, listed, shown and run again with other values (D16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

from hitl_tui.core.errors import BadInput
from hitl_tui.planning.plan_templates import TemplateShelf, read_template

QUERY = "What is the deposit cap?"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.env["HITL_LANG"] = "en"
    assert made.run("run", QUERY, "--json").code == 3
    return made


def do(shell: Shell, line: str) -> dict[str, Any]:
    return shell.run("do", "s1", line, "--json").json


def test_those_that_ship_can_be_used(tmp_path: Path) -> None:
    shelf = TemplateShelf(tmp_path)
    assert [t.key for t in shelf.all()] == ["documents", "real-estate"]
    steps = shelf.get("부동산 종합 분석").filled({"area": "서초구"})
    assert [s.agent for s in steps] == ["search_team", "search_team", "analysis_team", "document_team"]
    assert steps[0].input_mapping == {"query": "서초구 아파트 시세"}
    assert steps[2].dependencies == ("prices", "rules")
    template, rest = shelf.split('부동산 종합 분석 area="서초구"')
    assert (template.key, rest) == ("real-estate", 'area="서초구"')


def test_a_template_becomes_a_proposal_and_then_steps(shell: Shell) -> None:
    said = do(shell, "/template run 부동산 종합 분석 area=서초구")
    assert said["status"] == "proposed"
    accepted = do(shell, f"/proposal accept {said['proposal_id']}")
    if accepted.get("error"):
        (question,) = [q for q in do(shell, "/todos")["questions"] if q["kind"] == "proposal"]
        accepted = do(shell, f"/proposal accept {said['proposal_id']} --digest {question['digest']}")
    added = accepted["todos"][1:]
    assert [t["agent_name"] for t in added] == ["search_team", "search_team", "analysis_team", "document_team"]
    assert added[0]["arguments"]["query"] == "서초구 아파트 시세"
    assert added[2]["dependencies"] == [added[0]["id"], added[1]["id"]]


def test_a_first_question_may_name_a_template(shell: Shell) -> None:
    ran = shell.run("run", 'template:documents topic="deposit cap"', "--json", "--session", "other")
    assert ran.code == 3
    assert [t["arguments"].get("query") for t in ran.json["todos"][:2]] == ["deposit cap", "deposit cap"]
    refused = shell.run("run", "template:nothing", "--json", "--session", "third")
    assert (refused.code, refused.json["error"]) == (2, 'No template "nothing"; known: documents, real-estate.')


def test_a_plan_is_kept_with_parameters_and_run_again(shell: Shell) -> None:
    before = do(shell, "/todos")["todos"]
    saved = do(shell, '/template save cap topic="deposit cap"')
    assert saved["status"] == "saved", saved
    text = Path(saved["file"]).read_text(encoding="utf-8")
    assert "{topic}" in text and 'default = "deposit cap"' in text
    assert "cap" in [t["key"] for t in do(shell, "/template list")["templates"]]
    assert do(shell, "/template show cap")["text"] == text
    again = do(shell, '/template run cap topic="renewal of a lease"')
    steps = [change["todo"] for change in again["proposal"]["changes"]]
    assert [t["agent_name"] for t in steps] == [t["agent_name"] for t in before]
    assert "renewal of a lease" in steps[0]["arguments"]["query"]


TWO_STEPS = """
[[steps]]
id = "todo_001"
agent = "search_team"
task = "deposit cap"

[[steps]]
id = "todo_002"
agent = "analysis_team"
task = "deposit cap"
after = ["todo_001"]
"""


def test_steps_wait_for_those_of_their_template_whatever_the_session_has(shell: Shell) -> None:
    assert do(shell, "/todo add document_team deposit cap --after 1")["status"] == "added"
    assert do(shell, "/template save own")["status"] == "saved"
    (shell.data / "templates" / "earlier.toml").write_text(TWO_STEPS)  # as earlier versions named them
    before = do(shell, "/todos")["todos"]
    places = {todo["id"]: place for place, todo in enumerate(before)}
    for name, waits in (
        ("own", [[places[one] for one in todo["dependencies"]] for todo in before]),
        ("earlier", [[], [0]]),
    ):
        added = [change["todo"] for change in do(shell, f"/template run {name}")["proposal"]["changes"]]
        fresh = {todo["id"]: place for place, todo in enumerate(added)}
        assert [[fresh.get(one) for one in todo["dependencies"]] for todo in added] == waits, name


def test_what_a_template_waits_for_is_its_own(shell: Shell) -> None:
    with pytest.raises(BadInput, match='Step 2 of the template astray waits for "001"'):
        read_template(TWO_STEPS.replace('after = ["todo_001"]', 'after = ["001"]'), "astray")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/template run nothing", 'No template "nothing"; known: documents, real-estate.'),
        ("/template run documents", 'The template documents needs "topic".'),
        ("/template run documents colour=red", 'has no parameter "colour"; it has topic.'),
        ("/template run documents topic", "Values are written as name=value"),
        ("/template save ../x", 'A template is named with letters, digits, "-" and "_"'),
        ('/template save x topic="nowhere to be found"', "stands nowhere in the plan."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(shell: Shell, line: str, sentence: str) -> None:
    assert sentence in do(shell, line)["error"]


def test_a_template_with_an_unknown_team_is_refused(shell: Shell) -> None:
    folder = shell.data / "templates"
    folder.mkdir(exist_ok=True)
    (folder / "wizard.toml").write_text('[[steps]]\nagent = "wizard_team"\ntask = "conjure"\n')
    assert "wizard_team" in do(shell, "/template run wizard")["error"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[[steps]\n", "The template mine isn't valid TOML: Expected ']]' at the end of an array declaration"),
        (b'[[step]]\nagent = "a"\n', 'The template mine, line 1: unknown key "step" at the top; did you mean "steps"?'),
        (b'[[steps]]\ntask = "a"\n', 'The template mine, line 1: [[steps]] needs "agent".'),
        (
            b'[[steps]]\ntask = "a"\nagnet = "a"\n',
            'The template mine, line 3: unknown key "agnet" in [[steps]]; did you mean "agent"?',
        ),
        (
            b'[parameters.x]\ndefalt = "a"\n\n[[steps]]\ntask = "a"\nagent = "a"\n',
            'The template mine, line 2: unknown key "defalt" in [parameters.x]; did you mean "default"?',
        ),
        (b'name = "\xff"\n', "The template mine isn't UTF-8 text."),
        (b"#" * 200_001, "The template mine is larger than 200,000 bytes."),
    ],
)
def test_a_template_with_an_error_is_listed_with_it(shell: Shell, content: bytes, why: str) -> None:
    file = shell.data / "templates" / "mine.toml"
    file.parent.mkdir()
    file.write_bytes(content)
    listed = do(shell, "/template list")
    assert [t["key"] for t in listed["templates"]] == ["documents", "real-estate"]
    [faulty] = listed["faulty"]
    assert faulty == {"key": "mine", "file": str(file), "error": faulty["error"]}
    assert faulty["error"].startswith(why)
    said = f"{faulty['error']} Correct its file: {file}"
    assert listed["message"].splitlines()[1:] == [said]
    assert said in shell.run("do", "s1", "/template list").out
    assert do(shell, "/template run mine")["error"] == do(shell, "/template show mine")["error"] == said


def test_no_other_template_stands_in_for_one_with_an_error(shell: Shell) -> None:
    file = shell.data / "templates" / "documents.toml"
    file.parent.mkdir()
    file.write_text("[[steps]\n")
    assert [t["key"] for t in do(shell, "/template list")["templates"]] == ["real-estate"]
    assert str(file) in do(shell, '/template run documents topic="deposit cap"')["error"]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "steps = []",
        '[[steps]]\nagent = "a"\n',
        '[[steps]]\nagent = "a"\ntask = 3\n',
        '[[steps]]\nagent = "a"\ntask = "{hole}"\n',
        '[[steps]]\nagent = "a"\ntask = "x"\nrun = "rm"\n',
        '[parameters]\nX = {}\n[[steps]]\nagent = "a"\ntask = "x"\n',
        '[[steps]]\nagent = "a"\ntask = "x"\nafter = [1]\n',
    ],
)
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_template(text, "t")
