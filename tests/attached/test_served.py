"""Graphs that a LangGraph server runs (I11): the real one, a program of its own, with the graphs of the other tests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from real_cases import CASES, GRAPHS, Case
from real_support import Place, Talk, named, opened_by
from support.served_graphs import LangGraphProcess, langgraph_server

from hitl_tui.graphs.langgraph_server import facts_from, served_declaration
from hitl_tui.graphs.served_graph import SEGMENT, ServedGraph, ServedRunFailed

pytestmark = [
    pytest.mark.long,
    pytest.mark.graphs,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("uv"), reason="the LangGraph server is started by uv"),
]

PLAIN = {case.name: case for case in CASES if not case.needs}
_SLOWEST = 60


class Served(Place):
    """A place whose graphs a server runs, one world for all of them."""

    def __init__(self, root: Path, server: LangGraphProcess, world: Path) -> None:
        super().__init__(root)
        self.server, self.world = server, world
        for left in world.iterdir():
            left.unlink()

    def attaching(self, name: str, *more: str, given: str = "") -> list[str]:
        case = PLAIN[name]
        more = more or ("--json",)
        return [
            *("attach", self.server.url, "--assistant", name, "--input", given or case.given, "--session", "s"),
            *more,
        ]

    def begin(self, name: str, *more: str) -> dict[str, Any]:
        """Attach a graph and let it run to its first question."""
        ran = self.run(*self.attaching(name, *more))
        assert ran.code == 3, ran
        return ran.json

    def show(self) -> dict[str, Any]:
        return self.run("show", "s", "--json").json

    def ask(self, work: Callable[[LangGraphClient], Coroutine[Any, Any, Any]]) -> Any:
        """Let another client of the server do something."""

        async def run() -> Any:
            client = get_client(url=self.server.url, api_key=None)
            try:
                return await work(client)
            finally:
                await client.aclose()

        return asyncio.run(run())

    def thread(self) -> str:
        """Return the thread that changed last on the server."""
        found = self.ask(lambda client: client.threads.search(limit=1, sort_by="updated_at", sort_order="desc"))
        return str(found[0]["thread_id"])

    def runs(self, thread: str) -> list[Mapping[str, Any]]:
        return list(self.ask(lambda client: client.runs.list(thread, limit=100)))


def graphs_of(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Write a module with the graphs of some cases; the server takes none that brings a saver of its own.

    They are imported from a copy: the server compiles them, and compiled files beside the code that another test
    attaches would be a change of what it approves.
    """
    lines = [
        "def bare(found):",
        "    return found.copy({'checkpointer': None}) if hasattr(found, 'checkpointer') else found",
    ]
    shutil.copytree(GRAPHS, folder / "graphs", ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name in names:
        file, _, attribute = PLAIN[name].target.partition(":")
        module = file.removesuffix(".py")
        lines += ["", f"import {module}", f"served_{name} = bare({module}.{attribute or 'graph'})"]
    (folder / "served_here.py").write_text("\n".join(lines))
    return {name: f"./served_here.py:served_{name}" for name in names}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("world")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, world: Path) -> Iterator[LangGraphProcess]:
    folder = tmp_path_factory.mktemp("server")
    environ = {"GRAPH_WORLD": str(world), "PYTHONPATH": str(folder / "graphs")}
    with langgraph_server(folder, graphs_of(PLAIN, folder), environ) as running:
        yield running


@pytest.fixture
def served(tmp_path: Path, server: LangGraphProcess, world: Path) -> Served:
    return Served(tmp_path, server, world)


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in PLAIN.items()])
def test_a_served_graph_is_answered_to_its_end_as_one_that_runs_here(served: Served, case: Case) -> None:
    Talk(served, case).to_the_end(served.begin(case.name))
    assert served.done() == case.done


def test_what_decided_and_ran_is_on_record(served: Served) -> None:
    Talk(served, PLAIN["approve"]).to_the_end(served.begin("approve"))
    assert served.run("audit", "verify").code == 0
    decided = served.run("audit", "decisions", "--json").json["decisions"]
    assert [(one["asked"], one["verdict"]) for one in decided] == [("todo", "approve"), ("interrupt", "approve")]


def test_the_state_of_a_served_graph_is_shown_and_changed(served: Served) -> None:
    served.begin("approve")
    shown = served.do("/state show 1")
    assert shown["state"]["action_details"] == "pay"
    assert shown["asking"] == [["approval"]]
    served.do('/state edit 1 {"action_details": "refund"}')
    document = served.do("/todo approve 1")
    # LangGraph's server changes a state as its last node would have: where that leads elsewhere nothing is changed.
    assert "refund" in json.dumps(document["questions"]), document["message"]
    served.do(f"/answer {named(document, 'Do you want to proceed')} yes")
    assert served.done() == {"prepared pay": 1, "did refund": 1}


# Crashes -------------------------------------------------------------------------------------------------------


def _killed_at(served: Served, gate: Path, *arguments: str) -> int:
    """Kill a command line while its graph waits at a gate on the server; return the gate's other end."""
    process = served.start(*arguments)
    try:
        opened = opened_by(process, gate)
        assert opened is not None, process.communicate()
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    return opened


def _digest(document: Mapping[str, Any]) -> str:
    (question,) = document["questions"]
    return str(question["digest"])[:16]


@pytest.mark.parametrize("when", ["while it runs", "after it ended"])
def test_a_run_whose_console_was_killed_is_followed_to_its_end_and_nobody_is_asked(served: Served, when: str) -> None:
    document = served.begin("approve")
    gate = served.hold("before")
    line = f"/answer {named(document, 'proceed')} yes --digest {_digest(document)}"
    opened = _killed_at(served, gate, "do", "s", line, "--json")
    thread = served.thread()
    if when == "after it ended":
        os.close(opened)
        _until(lambda: all(run["status"] == "success" for run in served.runs(thread)))
        document = served.do("/todos")
    else:
        process = served.start("do", "s", "/todos", "--json")
        time.sleep(3)  # it follows the run, whose node stands at the gate
        os.close(opened)
        out, err = process.communicate(timeout=_SLOWEST)
        assert process.returncode == 0, (out, err)
        document = json.loads(out)
    gate.unlink()
    assert document["session_status"] == "finished", document["message"]
    assert served.done() == PLAIN["approve"].done
    assert len(served.runs(thread)) == 2


def _until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + _SLOWEST
    while not reached():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


@pytest.mark.parametrize("seconds", [0.3, 0.6, 0.9, 1.2, 1.6, 2.2])
def test_an_answer_counts_once_whenever_its_console_is_killed(served: Served, seconds: float) -> None:
    document = served.begin("validate")
    line = f"/answer {named(document, 'What is your age?')} thirty --digest {_digest(document)}"
    process = served.start("do", "s", line, "--json")
    time.sleep(seconds)
    process.kill()
    process.communicate()
    document = served.do("/todos")
    (question,) = document["questions"]
    if "What is your age?" in json.dumps(question):  # the answer wasn't taken before the end
        document = served.do(line)
    assert "'thirty' is not a valid age" in json.dumps(document["questions"]), document["message"]
    document = served.do(f"/answer {named(document, 'thirty')} 30")
    assert document["session_status"] == "finished", document["message"]
    assert served.done() == {"registered 30": 1}
    thread = served.thread()
    sent = [run["kwargs"]["command"]["resume"] for run in served.runs(thread) if run["kwargs"].get("command")]
    assert sorted(str(value) for answers in sent for value in answers.values()) == ["30", "thirty"]


# Others on the same server -------------------------------------------------------------------------------------


def _interrupted(served: Served, name: str) -> tuple[str, str]:
    """Let another client begin a thread; return it, and the id of what it asks."""
    given = PLAIN[name].given

    async def work(client: LangGraphClient) -> tuple[str, str]:
        thread = await client.threads.create()
        await client.runs.wait(thread["thread_id"], name, input=json.loads(given))
        state = await client.threads.get_state(thread["thread_id"])
        return thread["thread_id"], state["tasks"][0]["interrupts"][0]["id"]

    found = served.ask(work)
    return found[0], found[1]


def test_a_thread_that_waits_is_taken_over_with_its_question(served: Served) -> None:
    thread, _ = _interrupted(served, "approve")
    ran = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json")
    assert ran.code == 3, ran
    document = ran.json
    assert len(served.runs(thread)) == 1, "nothing runs before somebody answers"
    document = served.do(f"/answer {named(document, 'Do you want to proceed')} yes")
    assert document["session_status"] == "finished", document["message"]
    assert served.done() == PLAIN["approve"].done


def _not_sent(document: Mapping[str, Any]) -> None:
    """Check that an answer is said not to have been sent, and asks what now."""
    assert document["session_status"] == "waiting", document["message"]
    (todo,) = document["todos"]
    assert "your answer wasn't sent" in todo["error"], todo


def test_an_answer_that_came_after_somebody_elses_is_not_sent(served: Served) -> None:
    thread, asked = _interrupted(served, "approve")
    ran = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json")
    served.ask(lambda client: client.runs.wait(thread, "approve", command={"resume": {asked: False}}))
    _not_sent(served.do(f"/answer {named(ran.json, 'Do you want to proceed')} yes"))
    assert served.done() == {"prepared pay": 1}
    assert len(served.runs(thread)) == 2
    document = served.do("/todo retry 1")
    assert document["session_status"] == "finished", document["message"]
    assert "rejected" in json.dumps(document["response"])


def test_decide_says_that_its_answer_wasnt_sent(served: Served) -> None:
    thread, asked = _interrupted(served, "approve")
    ran = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json")
    served.ask(lambda client: client.runs.wait(thread, "approve", command={"resume": {asked: False}}))
    (question,) = ran.json["questions"]
    decided = served.run("decide", question["id"], "approve", "--digest", question["digest"][:16])
    assert "your answer wasn't sent" in decided.err, decided


def test_an_answer_to_what_asks_anew_meanwhile_is_not_sent(served: Served) -> None:
    thread, asked = _interrupted(served, "validate")
    ran = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json")
    served.ask(lambda client: client.runs.wait(thread, "validate", command={"resume": {asked: "forty"}}))
    _not_sent(served.do(f"/answer {named(ran.json, 'What is your age?')} 30"))
    document = served.do("/todo retry 1")
    assert "'forty' is not a valid age" in json.dumps(document["questions"]), document["message"]
    assert served.done() == {}


def test_an_answer_to_a_thread_that_was_deleted_is_not_sent(served: Served) -> None:
    thread, _ = _interrupted(served, "approve")
    ran = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json")
    served.ask(lambda client: client.threads.delete(thread))
    document = served.do(f"/answer {named(ran.json, 'Do you want to proceed')} yes")
    assert "its thread isn't on" in document["todos"][0]["error"], document["todos"]
    document = served.do("/todo retry 1")
    assert "its thread isn't on" in document["todos"][0]["error"], document["todos"]
    assert served.done() == {"prepared pay": 1}


def test_a_server_refuses_an_answer_that_came_while_somebody_elses_was_on_its_way(served: Served) -> None:
    thread, _ = _interrupted(served, "approve")
    declaration, waits = served_declaration(served.server.url, "approve", thread, {})
    assert waits

    async def answer() -> None:
        graph = ServedGraph(declaration, await asyncio.to_thread(facts_from, declaration))
        config: Any = {"configurable": {"thread_id": thread}, "metadata": {SEGMENT: "s"}}
        async with contextlib.aclosing(graph):
            async for _ in graph.astream(Command(resume={"0" * 32: True}), config):
                pass

    with pytest.raises(ServedRunFailed, match="somebody else answered"):
        asyncio.run(answer())
    assert served.done() == {"prepared pay": 1}


def test_where_another_run_is_at_work_nothing_is_sent_and_its_end_is_waited_for(served: Served) -> None:
    thread, asked = _interrupted(served, "approve")
    document = served.run("attach", served.server.url, "--thread", thread, "--session", "s", "--json").json
    gate = served.hold("before")
    served.ask(lambda client: client.runs.create(thread, "approve", command={"resume": {asked: True}}))
    opened = _opened(gate)
    document = served.do(f"/answer {named(document, 'Do you want to proceed')} no")
    _not_sent(document)
    process = served.start("do", "s", f"/todo retry 1 --digest {_digest(document)}", "--json")
    time.sleep(3)
    assert process.poll() is None
    os.close(opened)
    gate.unlink()
    document = json.loads(process.communicate(timeout=_SLOWEST)[0])
    assert document["session_status"] == "finished", document["message"]
    assert len(served.runs(thread)) == 2
    assert served.done() == PLAIN["approve"].done


def _opened(gate: Path) -> int:
    """Return a gate's other end, once a graph waits at it."""
    found: list[int] = []

    def is_there() -> bool:
        with suppress(OSError):
            found.append(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        return bool(found)

    _until(is_there)
    return found[0]


def test_a_step_that_is_cancelled_ends_its_run_on_the_server(served: Served) -> None:
    document = served.begin("approve")
    gate = served.hold("before")
    line = f"/answer {named(document, 'proceed')} yes --digest {_digest(document)}"
    process = served.start("do", "s", line, "--json")
    opened = opened_by(process, gate)
    assert opened is not None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=_SLOWEST)
    thread = served.thread()
    _until(lambda: served.runs(thread)[0]["status"] == "interrupted")
    os.close(opened)
    gate.unlink()
    _until(lambda: "did pay" in served.done())  # nothing ends the thread of a node that isn't asynchronous
    document = served.do("/todos")
    assert [question["kind"] for question in document["questions"]] == ["effect"], "how far it got isn't known"
    document = served.do("/todo again 1")
    assert document["session_status"] == "finished", document["message"]


def test_an_assistant_that_changed_since_its_question_is_asked_about_again(served: Served) -> None:
    async def make(client: LangGraphClient) -> str:
        made = await client.assistants.create("approve", name="careful")
        return str(made["assistant_id"])

    assistant = served.ask(make)
    given = PLAIN["approve"].given
    ran = served.run(
        *("attach", served.server.url, "--assistant", assistant, "--input", given, "--session", "s", "--json")
    )
    assert ran.code == 3, ran
    served.ask(lambda client: client.assistants.update(assistant, config={"tags": ["reckless"]}))
    document = served.do(f"/answer {named(ran.json, 'Do you want to proceed')} yes")
    assert served.done() == {"prepared pay": 1}
    assert "assistant careful" in json.dumps(document["questions"])
    document = served.do(f"/answer {named(document, 'Do you want to proceed')} yes")
    assert document["session_status"] == "finished"
    assert served.done() == PLAIN["approve"].done


# The inbox and teams -------------------------------------------------------------------------------------------


def _declared(served: Served, text: str) -> None:
    """Let the workspace declare a team that runs on the server, and trust it."""
    lines = ["[teams.payments]", 'kind = "remote"', f'url = "{served.server.url}"', 'assistant = "approve"', text, ""]
    (served.workspace / "hitl.toml").write_text("\n".join(lines))
    digest = served.run("trust", "--show", "--json").json["digest"]
    assert served.run("trust", "--digest", digest).code == 0


def _waiting(served: Served) -> list[dict[str, Any]]:
    return list(served.run("inbox", "--json").json["requests"])


def _nobody_waits(served: Served) -> None:
    """Delete the threads that other tests left."""

    async def work(client: LangGraphClient) -> None:
        for thread in await client.threads.search(status="interrupted", limit=1000):
            await client.threads.delete(thread["thread_id"])

    served.ask(work)


def test_threads_that_wait_stand_in_the_inbox_as_long_as_they_wait(served: Served) -> None:
    _nobody_waits(served)
    _declared(served, "inbox = true")
    assert _waiting(served) == []
    first, _ = _interrupted(served, "approve")
    second, asked = _interrupted(served, "approve")
    _interrupted(served, "validate")  # another assistant's
    found = _waiting(served)
    assert [one["subject"]["value"]["details"] for one in found] == ["pay", "pay"]
    assert [one["id"] for one in _waiting(served)] == [one["id"] for one in found], "each is taken over once"
    assert [len(served.runs(thread)) for thread in (first, second)] == [1, 1]
    served.ask(lambda client: client.runs.wait(second, "approve", command={"resume": {asked: False}}))
    (left,) = _waiting(served)
    answered = served.run("decide", left["id"], "approve", "--digest", left["digest"][:16], "--json")
    assert answered.code == 0, answered
    assert _waiting(served) == []
    assert served.done() == {"prepared pay": 2, "did pay": 1}
    assert served.ask(lambda client: client.threads.get(first))["status"] == "idle"


def test_a_thread_that_a_session_here_began_is_that_sessions_alone(served: Served) -> None:
    _nobody_waits(served)
    _declared(served, "inbox = true")
    served.begin("approve")
    (one,) = _waiting(served)
    assert one["session_id"] == "s"


def test_all_threads_that_wait_are_taken_over_by_one_command(served: Served) -> None:
    _nobody_waits(served)
    _interrupted(served, "approve")
    ran = served.run("attach", served.server.url, "--assistant", "approve", "--waiting", "--json")
    assert ran.code == 3, ran
    assert len(ran.json["requests"]) == 1
    assert "1 thread waits" in ran.err


def test_a_server_that_cant_be_asked_is_named_by_the_inbox(served: Served) -> None:
    _declared(served, "inbox = true")
    settings = served.workspace / "hitl.toml"
    settings.write_text(settings.read_text().replace(served.server.url, "http://127.0.0.1:9"))
    digest = served.run("trust", "--show", "--json").json["digest"]
    served.run("trust", "--digest", digest)
    (warning,) = served.run("inbox", "--json").json["warnings"]
    assert "http://127.0.0.1:9 can't be reached" in warning


@pytest.mark.parametrize(
    "query", ["payments with {query}", "Let payments work with {query}, please", "payments 팀으로 {query}"]
)
def test_a_team_on_a_server_is_planned_and_run(served: Served, query: str) -> None:
    _declared(served, 'description = "Pays"')
    text = query.replace("{query}", '{"action_details": "rent"}')
    document = served.run("run", text, "--session", "s", "--json").json
    (question,) = document["questions"]
    assert '{"input": {"action_details": "rent"}' in json.dumps(question["subject"]), question["subject"]
    document = served.do("/todo approve 1")
    served.do(f"/answer {named(document, 'Do you want to proceed')} yes")
    assert served.done() == {"prepared rent": 1, "did rent": 1}


# Failures ------------------------------------------------------------------------------------------------------


def test_a_server_that_goes_away_and_comes_back_goes_on(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    world, folder = tmp_path_factory.mktemp("world"), tmp_path_factory.mktemp("server")
    graphs = graphs_of(["approve"], folder)
    environ = {"GRAPH_WORLD": str(world), "PYTHONPATH": str(folder / "graphs")}
    with langgraph_server(folder, graphs, environ) as running:
        served = Served(tmp_path, running, world)
        document = served.begin("approve")
    answered = served.do(f"/answer {named(document, 'proceed')} yes")
    assert "can't be reached" in json.dumps(answered, ensure_ascii=False), answered
    assert answered["session_status"] == "waiting"
    with langgraph_server(folder, graphs, environ, port=running.port):
        document = served.do("/todo retry 1")
        if document["session_status"] != "finished":  # the answer wasn't sent: it is asked for again
            document = served.do(f"/answer {named(document, 'proceed')} yes")
    assert document["session_status"] == "finished", document["message"]
    assert served.done() == PLAIN["approve"].done


_AUTH = """
from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> str:
    if authorization != "Bearer sesame":
        raise Auth.exceptions.HTTPException(status_code=401, detail="who are you?")
    return "ann"
"""


def test_a_server_that_asks_who_comes_is_told_by_a_header(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    world, folder = tmp_path_factory.mktemp("world"), tmp_path_factory.mktemp("server")
    (folder / "auth.py").write_text(_AUTH)
    environ = {"GRAPH_WORLD": str(world), "PYTHONPATH": str(folder / "graphs")}
    graphs = graphs_of(["approve"], folder)
    with langgraph_server(folder, graphs, environ, auth="./auth.py:auth") as running:
        served = Served(tmp_path, running, world)
        refused = served.run(*served.attaching("approve"))
        assert refused.code == 2, refused
        assert "refuses (401)" in refused.json["error"], refused
        served.environ["AGENTS_AUTHORIZATION"] = "Bearer sesame"
        with_header = ("--header", "Authorization=AGENTS_AUTHORIZATION", "--json")
        Talk(served, PLAIN["approve"]).to_the_end(served.begin("approve", *with_header))
        assert served.done() == PLAIN["approve"].done
        for path in [p for p in served.root.rglob("*") if p.is_file()]:
            assert b"sesame" not in path.read_bytes(), path
