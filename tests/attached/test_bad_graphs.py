"""Graphs and answers that aren't as they should be: one sentence each, and the thread stays answerable."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import pytest
from real_cases import GRAPHS
from real_support import DEADLINE, Place
from trusting import trust_workspace

from hitl_tui.policy.accounts import account_name

MISBEHAVES = str(GRAPHS / "misbehaves.py")
SAVERS = str(GRAPHS / "savers.py")


def attach(place: Place, target: str, given: str = "{}", *more: str) -> dict[str, Any]:
    ran = place.here("attach", target, "--input", given, "--session", "s", "--json", *more)
    assert "Traceback" not in ran.err, ran.err
    return ran.json


def do(place: Place, line: str) -> dict[str, Any]:
    ran = place.here("do", "s", line, "--json")
    assert "Traceback" not in ran.err, ran.err
    return ran.json


def asks_anew(place: Place, line: str) -> None:
    """Give a command about code that changed since it was asked about: it is asked about anew."""
    document = do(place, line)
    assert "approve.py" in document["message"] and "changed since you were asked" in document["message"], document
    assert "approve.py" in question(document)["about"]["changed"]


def question(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = document["questions"]
    assert isinstance(found, dict)
    return found


def test_a_module_that_raises_while_it_is_imported_is_named_with_its_line(place: Place) -> None:
    ran = place.here("attach", str(GRAPHS / "raises.py"), "--input", "{}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "hitl-tui: raises.py line 8 raised IndexError: list index out of range.\n"


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("cycle", "What it asks can't be stored in a checkpoint: it holds itself at itself"),
        ("deep", "What it asks can't be stored in a checkpoint: it is nested more than 60 levels deep"),
        ("lock", "What it asks can't be stored in a checkpoint: there is a _thread.lock at lock"),
        ("sock", "What it asks can't be stored in a checkpoint: there is a socket.socket at socket"),
        ("function", "What it asks can't be stored in a checkpoint: there is a function at call"),
        ("thing", "What it asks can't be stored in a checkpoint: there is a misbehaves.Unread at thing"),
    ],
)
def test_a_question_that_cannot_be_stored_fails_and_says_what_it_holds(place: Place, attribute: str, says: str) -> None:
    document = attach(place, f"{MISBEHAVES}:{attribute}")
    assert document["todos"][0]["error"] == says
    assert question(document)["kind"] == "failure"
    assert do(place, "/todo skip 1")["session_status"] == "finished"


@pytest.mark.parametrize("attribute", ["large", "many"])
def test_a_question_of_megabytes_is_cut_where_it_is_shown_and_answered(place: Place, attribute: str) -> None:
    document = attach(place, f"{MISBEHAVES}:{attribute}")
    asked = question(document)["subject"]["value"]
    assert set(asked) == {"cut", "shown", "sha256"}
    assert asked["shown"]["question"] == "Is this much?"
    assert len(json.dumps(document)) < 100_000
    document = do(place, "/answer 1 yes")
    assert document["session_status"] == "finished"


@pytest.mark.parametrize("attribute", ["nothing", "number", "hostile"])
def test_strange_questions_are_asked_and_answered(place: Place, attribute: str) -> None:
    ran = place.here("attach", f"{MISBEHAVES}:{attribute}", "--input", "{}", "--session", "s")
    assert ran.code == 3
    assert not set(ran.out) & set("\x1b\x07\u202e")
    assert do(place, "/answer 1 yes")["session_status"] == "finished"


def test_what_a_node_prints_stays_out_of_the_document_and_is_in_the_stream(place: Place) -> None:
    document = attach(place, f"{MISBEHAVES}:talks")
    assert question(document)["asks"] == "Heard?"
    log = (place.data / "sessions" / "s" / "activity.log").read_text(encoding="utf-8")
    for line in ("printed by a node", '{\\"not\\": \\"ours\\"}', "said on the error stream"):
        assert line in log


def test_a_node_that_ends_the_program_fails_and_can_be_taken_back(place: Place) -> None:
    attach(place, f"{MISBEHAVES}:exits")
    document = do(place, "/answer 1 yes")
    assert document["todos"][0]["error"].startswith("A node ended the program (SystemExit 3) (misbehaves.py line ")
    assert question(document)["about"]["wedged"]
    do(place, "/rescue")
    assert question(do(place, "/todo approve 1"))["asks"] == "Shall I leave?"


def test_an_error_is_one_line_that_does_nothing_to_a_screen(place: Place) -> None:
    attach(place, f"{MISBEHAVES}:fails")
    refused = place.here("do", "s", "/answer 1 yes")
    assert refused.code == 2 and refused.err.startswith(
        "Error: 001 is high-risk; from here, give the id or digest of the question you were shown.\n"
    )
    (line,) = re.findall(r'hitl-tui do s "(/answer req-[0-9a-f]{16} yes)"', refused.err)
    ran = place.here("do", "s", line)
    assert "ZeroDivisionError: as ␛[31mred␛[0m as can be (misbehaves.py line " in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.long
@pytest.mark.parametrize(
    ("attribute", "named"), [("spins", False), pytest.param("sleeps", True, marks=pytest.mark.slow)]
)
def test_a_node_that_never_ends_is_cancelled_or_named(place: Place, attribute: str, named: bool) -> None:
    pipe = place.hold(attribute)
    process = place.start("attach", f"{MISBEHAVES}:{attribute}", "--input", "{}", "--session", "s", "--json")
    try:
        with pipe.open("w", encoding="utf-8"):
            """The node is at work, and goes on without end."""
        assert place.do("/todo cancel 1")["status"] == "recorded"
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.communicate()
    document = json.loads(out)
    assert (process.returncode, err) == (3, "")
    assert document["todos"][0]["error"] == f"cancelled by ann (claimed) through {account_name()}"
    log = (place.data / "sessions" / "s" / "activity.log").read_text(encoding="utf-8")
    assert ("can't be stopped and still runs" in log) == named
    assert place.done() == {attribute: 1}


@pytest.mark.long
def test_a_script_cancels_a_node_that_never_ends(place: Place) -> None:
    pipe = place.hold("spins")
    process = place.start("attach", f"{MISBEHAVES}:spins", "--input", "{}", "--session", "s", "--line")
    assert process.stdin is not None
    try:
        with pipe.open("w", encoding="utf-8"):
            """The node is at work, and goes on without end."""
        process.stdin.write("/todo cancel 1\n")
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (3, "")
    assert "cancelled by ann" in out


def test_a_graph_that_never_ends_stops_at_its_limit_of_steps(place: Place) -> None:
    team = f'[teams.turns]\nkind = "graph"\ngraph = "{MISBEHAVES}:endless"\n'
    (place.workspace / "hitl.toml").write_text(f"{team}\n[teams.turns.config]\nrecursion_limit = 12\n", "utf-8")
    trust_workspace(place.data, place.workspace)
    place.here("run", "turn", "--session", "s", "--json")
    added = do(place, "/todo add turns {}")
    do(place, "/todo approve 1")
    document = do(place, f"/todo approve {added['todo']['id']}")
    error = document["todos"][-1]["error"]
    assert error.startswith("It never ended: Recursion limit of 12 reached")


def test_answers_of_the_wrong_kind_change_nothing(place: Place) -> None:
    document = attach(place, str(GRAPHS / "typed.py"), "lunch")
    asked = question(document)["id"]
    for line in (
        "/answer 1 edit approved=perhaps amount=12",
        "/answer 1 edit approved=true amount=1200",
        '/answer 1 {"approved": true}',
        "/answer 1 yes",
    ):
        refused = do(place, line)
        assert refused["error"], line
        assert "\n" not in refused["error"]
    assert question(do(place, "/todos"))["id"] == asked
    assert do(place, "/answer 1 edit approved=true amount=12")["session_status"] == "finished"
    assert place.done() == {"paid 12": 1}


@pytest.mark.long
def test_answers_to_another_question_or_given_twice_are_refused_by_name(place: Place) -> None:
    document = attach(place, f"{MISBEHAVES}:twice")
    first = question(document)["id"]
    assert "No question 001.7" in do(place, "/answer todo_001.7 a")["error"]
    assert do(place, "/answer req-0000000000000000 a")["error"]
    assert do(place, "/answer 2 a")["error"]
    assert do(place, "/answer 1 e")["error"]  # no option
    document = do(place, f"/answer {first} a")
    assert question(document)["asks"] == "Second?"
    repeated = do(place, f"/answer {first} b")
    assert repeated["reason"] == "repeated", repeated
    assert question(do(place, "/todos"))["asks"] == "Second?"
    assert "Answered already: 001.1" in do(place, "/answer 1 d")["error"]
    document = do(place, "/answer todo_001.2 d")
    assert document["session_status"] == "finished"
    assert "**answer**: a, d" in document["response"]


@pytest.mark.slow
@pytest.mark.long
def test_a_node_that_was_renamed_meanwhile_is_missed_and_nothing_is_lost(place: Place) -> None:
    for name in ("approve.py", "graph_world.py"):
        shutil.copy(GRAPHS / name, place.workspace / name)
    file = place.workspace / "approve.py"
    attach(place, str(file), '{"action_details": "pay"}')
    code = file.read_text(encoding="utf-8")
    file.write_text(code.replace('"approval"', '"asking"'), encoding="utf-8")
    asks_anew(place, "/answer 1 yes")
    document = place.run("do", "s", "/answer 1 yes", "--json").json
    assert "its thread stands before approval, which it no longer has" in document["todos"][0]["error"]
    file.write_text(code, encoding="utf-8")
    asks_anew(place, "/todo retry 1")
    document = place.run("do", "s", "/todo retry 1", "--json").json
    assert question(document)["asks"].startswith("Do you want to proceed")
    document = place.run("do", "s", "/answer todo_001.2 yes", "--json").json
    assert document["session_status"] == "finished"
    assert place.done() == {"prepared pay": 1, "did pay": 1}


@pytest.mark.long
def test_a_schema_that_changed_meanwhile_fails_in_the_graph_and_goes_on_once_it_fits(place: Place) -> None:
    for name in ("approve.py", "graph_world.py"):
        shutil.copy(GRAPHS / name, place.workspace / name)
    file = place.workspace / "approve.py"
    code = file.read_text(encoding="utf-8")
    attach(place, str(file), '{"action_details": "pay"}')
    file.write_text(code.replace("action_details", "deed"), encoding="utf-8")
    asks_anew(place, "/answer 1 yes")
    document = place.run("do", "s", "/answer 1 yes", "--json").json
    assert document["todos"][0]["error"].startswith("KeyError: 'deed' (approve.py line ")
    file.write_text(code, encoding="utf-8")
    asks_anew(place, "/todo retry 1")
    document = place.run("do", "s", "/todo retry 1", "--json").json
    if document["questions"]:
        document = place.run("do", "s", "/answer todo_001.2 yes", "--json").json
    assert document["session_status"] == "finished"
    assert place.done() == {"prepared pay": 1, "did pay": 1}


@pytest.mark.long
def test_a_module_that_is_gone_for_a_while_is_missed_and_its_thread_goes_on(place: Place) -> None:
    for name in ("approve.py", "graph_world.py"):
        shutil.copy(GRAPHS / name, place.workspace / name)
    file = place.workspace / "approve.py"
    attach(place, str(file), '{"action_details": "pay"}')
    file.rename(place.workspace / "away.py")
    asks_anew(place, "/answer 1 yes")
    document = do(place, "/answer 1 yes")
    assert document["todos"][0]["error"] == f"File {file} not found."
    (place.workspace / "away.py").rename(file)
    asks_anew(place, "/todo retry 1")
    document = do(place, "/todo retry 1")
    assert question(document)["asks"].startswith("Do you want to proceed")
    document = do(place, "/answer todo_001.2 yes")
    assert document["session_status"] == "finished", document
    assert place.done() == {"prepared pay": 1, "did pay": 1}


@pytest.mark.parametrize(
    "attribute", ["memory", "sqlite", "async_sqlite", "factory", "async_factory", "with_config", "managed"]
)
def test_graphs_with_savers_of_their_own_and_factories_are_asked_and_answered(place: Place, attribute: str) -> None:
    document = attach(place, f"{SAVERS}:{attribute}", "ann")
    assert question(document)["asks"] == "What of ann?"
    document = do(place, "/answer 1 all")
    assert document["session_status"] == "finished"
    assert place.done() == {"did all": 1}
    own = {"sqlite": "SqliteSaver", "async_sqlite": "AsyncSqliteSaver"}
    assert (place.workspace / "own.db").exists() == (attribute in own)
    assert (place.workspace / "closed").exists() == (attribute == "managed")


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("memory", "has an in-memory saver; what it held before isn't shown here."),
        ("sqlite", "keeps its own SqliteSaver: its threads are stored there, not in the session."),
        ("async_sqlite", "keeps its own AsyncSqliteSaver: its threads are stored there, not in the session."),
    ],
)
def test_what_becomes_of_its_own_saver_is_said(place: Place, attribute: str, says: str) -> None:
    (note,) = attach(place, f"{SAVERS}:{attribute}", "ann")["notes"]
    assert note.endswith(says)


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("makes_nothing", "is a int, not a LangGraph graph or something that makes one."),
        ("fails", "raised ConnectionError: the database is away."),
        ("wants_more", "needs the arguments config, other; a factory takes none, or the config."),
        ("factorie", 'savers.py has no "factorie"; did you mean "factory"?'),
    ],
)
def test_factories_that_make_no_graph_are_one_sentence(place: Place, attribute: str, says: str) -> None:
    ran = place.here("attach", f"{SAVERS}:{attribute}", "--input", "ann")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err.splitlines()[0]


@pytest.mark.long
def test_the_names_of_a_langgraph_json_are_graphs_and_teams(place: Place) -> None:
    named = {"review": f"{GRAPHS}/review.py:graph", "typed": {"path": f"{GRAPHS}/typed.py:graph"}}
    (place.workspace / "langgraph.json").write_text(json.dumps({"graphs": named}), encoding="utf-8")
    trust_workspace(place.data, place.workspace)
    document = attach(place, "review", "cats")
    assert question(document)["asks"] == "Review and edit this content"
    do(place, "/answer 1 edit Cats!")
    added = do(place, "/todo add typed lunch")
    assert added["status"] == "added", added
    document = do(place, "/todo approve 2")
    assert question(document)["asks"] == "Pay for lunch?"
    assert do(place, "/answer 2 edit approved=true amount=5")["session_status"] == "finished"
    assert place.done() == {"drafted": 1, "published Cats!": 1, "paid 5": 1}


@pytest.mark.long
def test_a_graph_of_hitl_toml_is_a_team(place: Place) -> None:
    (place.workspace / "hitl.toml").write_text(
        f'[teams.clerk]\nkind = "graph"\ngraph = "{GRAPHS}/subgraph_node.py:graph"\nrisk = "high"\n', encoding="utf-8"
    )
    trust_workspace(place.data, place.workspace)
    place.here("run", "What is here?", "--session", "s", "--json")
    added = do(place, '/todo add clerk {"order": "desk"}')
    assert added["status"] == "added", added
    early = do(place, f"/todo approve {added['todo']['id']}")
    assert early["error"] == "002 is high-risk and hasn't asked yet; decide when it asks."
    do(place, "/todo approve 1")
    document = do(place, f"/todo approve {added['todo']['id']}")
    asked = next(q for q in document["questions"] if q["kind"] == "interrupt")
    assert asked["asks"] == "Reserve it?"
    do(place, f"/answer {asked['name']} reserve")
    assert place.done() == {"looked up": 1, "reserved desk": 1}
