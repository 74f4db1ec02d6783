"""Plan templates: kept, listed, shown and run again with other values (D16)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from cli_support import Shell

from hitl_tui.core.errors import BadInput
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.plan_templates import PlanTemplate, TemplateShelf, read_template, template_of

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
        ('/template save x topic="nowhere to be found"', "stands in no input of the plan."),
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


FUNCTIONS = '''
def vat(amount: int) -> str:
    """Compute the vat of an amount."""
    return str(amount // 10)


def reserve(room: str, day: str) -> str:
    """Reserve a room on a day."""
    return f"{room} {day}"
'''


def test_of_those_who_save_one_name_at_once_one_does(tmp_path: Path) -> None:
    ready = Barrier(8)

    def save(number: int) -> bool:
        ready.wait()
        try:
            TemplateShelf(tmp_path).save("same", f'[[steps]]\nagent = "a"\ntask = "{number}"\n')
        except BadInput as error:
            assert "exists already" in str(error)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(save, range(8)))
    [mine] = [number for number, done in enumerate(saved) if done]
    assert f'task = "{mine}"' in (tmp_path / "templates" / "same.toml").read_text()


def test_a_kept_number_runs_as_the_title_says(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.env["HITL_LANG"] = "en"
    (shell.workspace / "own.py").write_text(FUNCTIONS, encoding="utf-8")
    own = '[teams.{0}]\nkind = "function"\nfunction = "own.py:{0}"\nrisk = "low"\n'
    shell.declare(own.format("vat") + own.format("reserve"))
    planned = shell.run("run", QUERY, "--json")
    assert planned.code == 3, planned.json
    for line in ("/todo add vat amount=50000", "/todo add reserve room=hall day=2026-12-05"):
        assert do(shell, line)["status"] == "added"
    saved = do(shell, "/template save offsite day=2026-12-05 amount=50000 room=hall")
    text = Path(saved["file"]).read_text(encoding="utf-8")
    assert 'type = "integer"' in text and 'amount = "{amount}"' in text
    ran = shell.run("run", "template:offsite day=2027-01-15 amount=70000 room=small", "--json", "--session", "again")
    *_, vat, reserve = ran.json["todos"]
    assert vat["arguments"]["input"] == {"amount": 70000} and "70000" in vat["name"]
    assert reserve["arguments"]["input"] == {"room": "small", "day": "2027-01-15"}
    refused = do(shell, "/template run offsite amount=much")["error"]
    assert refused == '"amount" must be a whole number, but it is the text "much".'


def step(title: str, *, task: str = "", **arguments: Any) -> SupervisorTodo:
    return SupervisorTodo("todo_001", title, task or title, "own_team", arguments=arguments)


def kept(*todos: SupervisorTodo, **parameters: str) -> PlanTemplate:
    steps = [replace(todo, id=f"todo_{number:03}") for number, todo in enumerate(todos, start=1)]
    return read_template(template_of("kept", "q", steps, parameters), "kept")


def test_a_parameter_stands_where_an_input_has_its_value() -> None:
    template = kept(
        step("compute the vat of 50,000 won", amount=50000, rounds=5),
        step("reserve the hall on December 5, 2026", room="hall", day="2026-12-05", note="not hallway, but hall 2"),
        step("sweep the hall", tool="broom"),
        step("reserve the hall room='hall'", room="hall"),
        amount="50000",
        room="hall",
        day="2026-12-05",
    )
    assert [one.title for one in template.file.steps] == [
        "compute the vat of {amount} won",
        "reserve the {room} on {day}",
        "sweep the hall",
        "reserve the hall room='{room}'",
    ]
    vat, reserve, sweep, _ = template.filled({"amount": "70000", "room": "small"})
    assert vat.input_mapping == {"amount": 70000, "rounds": 5} and vat.name == "compute the vat of 70000 won"
    assert reserve.input_mapping == {"room": "small", "day": "2026-12-05", "note": "not hallway, but small 2"}
    assert sweep.input_mapping == {"tool": "broom"} and sweep.name == "sweep the hall"


def test_the_name_says_which_of_two_like_numbers_is_meant() -> None:
    (one,) = kept(step("x", days=5, limit=5, of={"days": 5, "part": 5}), days="5").filled({"days": "7"})
    assert one.input_mapping == {"days": 7, "limit": 5, "of": {"days": 7, "part": 5}}


@pytest.mark.parametrize(
    ("value", "given", "then"),
    [(0.5, "0.5", 0.25), (True, "true", False), (["a", "b"], '["a","b"]', ["c"]), ("5", "5", "7"), (50000, "5e4", 6)],
)
def test_a_value_keeps_its_type(value: Any, given: str, then: Any) -> None:
    said = then if isinstance(then, str) else json.dumps(then)
    (one,) = kept(step("x", one=value, other="y"), name=given).filled({"name": said})
    assert one.input_mapping == {"one": then, "other": "y"}


def test_values_are_whole_words_and_numbers() -> None:
    (one,) = kept(
        step("강남구의 아파트 5", query="강남구의 아파트 5, 15, 5.5 and a5", n="1,5"), area="강남구", n="5"
    ).filled({"area": "서초구", "n": "7"})
    assert one.input_mapping == {"query": "서초구의 아파트 7, 15, 5.5 and a5", "n": "1,5"}
    assert one.name == "서초구의 아파트 7"


def test_a_word_of_a_title_alone_is_no_value() -> None:
    with pytest.raises(BadInput, match='"hall" stands in no input of the plan'):
        kept(step("sweep the hall", tool="broom"), room="hall")
