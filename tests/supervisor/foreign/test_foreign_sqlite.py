"""A SQLite store that somebody's graph wrote: what is in it is shown, and not a byte of it changes (I9)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from foreign_support import QUESTION, at, branch, digests, pay, payment, payments, sqlite_saver
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite, interrupt

from hitl_tui.core.errors import BadInput, StorageError, UnknownName
from hitl_tui.supervisor.state import merge_todos
from hitl_tui.threads.thread_store import ThreadStore, open_store


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return payments(tmp_path_factory.mktemp("store") / "payments.db")


async def all_of(store: ThreadStore) -> None:
    """Look at everything there is."""
    for thread in await store.threads():
        for space in await store.namespaces(thread.thread_id):
            for info in await store.older(thread.thread_id, space.ns):
                await store.moment(thread.thread_id, space.ns, info.checkpoint_id)


async def test_threads_say_what_they_are_about_and_whether_they_ask(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        threads = await store.threads()
        assert [(t.thread_id, t.waiting) for t in threads] == [("forked", True), ("done", False), ("asks", True)]
        assert [t.title for t in threads] == [QUESTION, "Pay the rent", QUESTION]
        assert [t.subgraphs for t in threads] == [1, 1, 0]
        assert all(t.at for t in threads)
        assert await store.thread_count() == 3
        assert [t.thread_id for t in await store.threads(1, 1)] == ["done"]


async def test_threads_are_found_by_words_of_id_and_title(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        assert [t.thread_id for t in (await store.search("RENT pay")).threads] == ["done"]
        assert [t.thread_id for t in (await store.search("fork bob")).threads] == ["forked"]
        assert (await store.search("nothing like it")).threads == ()


async def test_of_many_threads_the_oldest_are_found_by_id_alone_and_that_is_said(
    store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitl_tui.threads.thread_store._SEARCHED", 2)
    async with open_store(str(store_file)) as store:
        by_id = await store.search("ASK")
        assert [t.thread_id for t in by_id.threads] == ["asks"]
        assert (by_id.total, by_id.by_id) == (3, 1)
        assert by_id.note == "Titles were searched in the 2 newest threads, ids in all 3."
        assert [t.thread_id for t in (await store.search("bob")).threads] == ["forked"]
        assert [t.thread_id for t in (await store.search("s k")).threads] == ["forked", "asks"]
        assert [t.thread_id for t in (await store.search("s k", 1, 1)).threads] == ["asks"]


async def test_a_search_of_every_thread_says_nothing_more(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        assert (await store.search("pay")).note == ""


async def test_history_is_what_langgraph_itself_says(store_file: Path) -> None:
    with sqlite_saver(store_file) as saver:
        theirs = list(payment(saver).get_state_history(at("done")))
    async with open_store(str(store_file)) as store:
        ours = await store.older("done", "")
        assert [c.checkpoint_id for c in ours] == [h.config["configurable"]["checkpoint_id"] for h in theirs]
        assert [c.timestamp for c in ours] == [h.created_at for h in theirs]
        assert [c.step for c in ours] == [(h.metadata or {})["step"] for h in theirs]
        for info, snapshot in zip(ours, theirs, strict=True):
            moment = await store.moment("done", "", info.checkpoint_id)
            assert set(moment.next) == ({"input"} if moment.next == ("input",) else set(snapshot.next))
            assert moment.values.get("log", []) == snapshot.values.get("log", [])
            assert moment.values.get("amount") == snapshot.values.get("amount")
            messages = [(m["role"], m["content"]) for m in moment.values.get("messages", [])]
            assert messages == [(m.type, m.content) for m in snapshot.values.get("messages", [])]


async def test_pages_go_back_and_forward(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        whole = [c.checkpoint_id for c in await store.older("done", "")]
        back = [c.checkpoint_id for c in await store.older("done", "", 3)]
        back += [c.checkpoint_id for c in await store.older("done", "", 100, back[-1])]
        assert back == whole
        assert [c.checkpoint_id for c in await store.newer("done", "", 2)] == whole[-2:]
        assert [c.checkpoint_id for c in await store.newer("done", "", 2, whole[-2])] == whole[-4:-2]
        assert await store.count("done", "") == len(whole)
        assert await store.head("done", "") == whole[0]
        assert [await store.place("done", "", c) for c in (whole[0], whole[-1])] == [len(whole), 1]


async def test_a_branch_is_told_from_the_line_it_left(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        infos = await store.older("forked", "")
        ((turn, parent),) = await store.turns("forked", "")
        assert turn == infos[0].checkpoint_id
        assert (infos[0].source, infos[0].outcome) == ("update", "")
        assert next(c for c in infos if c.checkpoint_id == parent).node == "ask"
        moment = await store.moment("forked", "", turn)
        assert moment.values["amount"] == 5


async def test_questions_carry_value_node_and_answer(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        head = (await store.older("asks", "", 1))[0]
        assert (head.waiting, head.message) == (True, "waiting: Transfer?")
        (question,) = (await store.moment("asks", "", head.checkpoint_id)).questions
        assert (question.node, question.pending, question.answers) == ("ask", True, ())
        assert question.value == {"question": "Transfer?", "amount": 100}
        assert question.id
        asked = next(c for c in await store.older("done", "") if c.message == "waiting: Transfer?")
        (answered,) = (await store.moment("done", "", asked.checkpoint_id)).questions
        assert (answered.pending, answered.answers) == (False, ("yes",))
        assert await store.asked("done", "", await store.head("done", ""), -1)
        assert await store.asked("done", "", asked.checkpoint_id, -1) == ""


async def test_tasks_say_which_node_wrote_what(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        working = next(c for c in await store.older("done", "") if c.node == "work")
        tasks = (await store.moment("done", "", working.checkpoint_id)).tasks
        assert [t.node for t in tasks] == ["work"] * 3
        assert [dict(t.writes)["log"] for t in tasks] == [["worked 0"], ["worked 1"], ["worked 2"]]


async def test_subgraphs_have_a_history_of_their_own(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        root, inner = await store.namespaces("done")
        assert (root.ns, root.parent, inner.nodes) == ("", "", ("check",))
        around = await store.one("done", "", inner.parent)
        assert around is not None
        assert around.node == "check"
        infos = await store.older("done", inner.ns)
        assert [c.node for c in infos] == ["end", "confirm", "look", "input"]
        moment = await store.moment("done", inner.ns, infos[1].checkpoint_id)
        assert [q.value for q in moment.questions] == ["Is the account right?"]


async def test_several_questions_at_once_are_told_apart(tmp_path: Path) -> None:
    class Two(TypedDict, total=False):
        said: Annotated[list[str], lambda a, b: [*a, *b]]

    builder = StateGraph(Two)
    builder.add_node("a", lambda state: {"said": [interrupt("a?")]})
    builder.add_node("b", lambda state: {"said": [interrupt("b?")]})
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    with sqlite_saver(tmp_path / "two.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"said": []}, at("t"))
        first = next(i for i in graph.get_state(at("t")).interrupts if i.value == "a?")
        graph.invoke(Command(resume={first.id: "yes"}), at("t"))
    async with open_store(str(tmp_path / "two.db")) as store:
        (thread,) = await store.threads()
        assert thread.waiting
        moment = await store.moment("t", "", thread.head)
        assert [(q.node, q.pending) for q in moment.questions] == [("a", False), ("b", True)]
        assert moment.questions[0].answers == ("yes",)
        assert moment.questions[1].answers == ()


async def test_a_node_that_asks_twice_keeps_its_first_answer_apart(tmp_path: Path) -> None:
    class One(TypedDict, total=False):
        said: str

    builder = StateGraph(One)
    builder.add_node("ask", lambda state: {"said": f"{interrupt('first?')} {interrupt('second?')}"})
    builder.add_edge(START, "ask")
    with sqlite_saver(tmp_path / "twice.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"said": ""}, at("t"))
        graph.invoke(Command(resume="one"), at("t"))
        async with open_store(str(tmp_path / "twice.db")) as store:
            head = await store.head("t", "")
            (asked,) = (await store.moment("t", "", head)).questions
            assert (asked.value, asked.pending, asked.answers) == ("second?", True, ("one",))
            graph.invoke(Command(resume="two"), at("t"))
            (asked,) = (await store.moment("t", "", head)).questions
            assert (asked.value, asked.pending, asked.answers) == ("second?", False, ("one", "two"))


async def test_a_failure_is_told(tmp_path: Path) -> None:
    class One(TypedDict, total=False):
        n: int

    def fails(state: One) -> One:
        raise ValueError("no such account")

    builder = StateGraph(One)
    builder.add_node("pay", fails)
    builder.add_edge(START, "pay")
    with sqlite_saver(tmp_path / "fails.db") as saver, pytest.raises(ValueError, match="account"):
        builder.compile(checkpointer=saver).invoke({"n": 1}, at("t"))
    async with open_store(str(tmp_path / "fails.db")) as store:
        (head, *_) = await store.older("t", "")
        assert head.outcome == "failed: ValueError('no such account')"
        (failed,) = (await store.moment("t", "", head.checkpoint_id)).tasks
        assert (failed.node, failed.error) == ("pay", "ValueError('no such account')")


async def test_the_functional_api_is_read_too(tmp_path: Path) -> None:
    @task
    def double(n: int) -> int:
        return 2 * n

    with sqlite_saver(tmp_path / "functional.db") as saver:

        @entrypoint(checkpointer=saver)
        def workflow(topic: str) -> str:
            return f"{interrupt({'question': 'go on?', 'n': double(21).result()})} {topic}"

        workflow.invoke("cats", at("t"))
    async with open_store(str(tmp_path / "functional.db")) as store:
        (thread,) = await store.threads()
        assert (thread.title, thread.waiting) == ("cats", True)
        (question,) = (await store.moment("t", "", thread.head)).questions
        assert question.value == {"question": "go on?", "n": 42}


# Delta channels -----------------------------------------------------------------------------------------------------


class Talk(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(lambda s, w: add_messages(s, [m for p in w for m in p]), list)]
    odd: Annotated[list[int], DeltaChannel(lambda s, w: s[::-1] + [x for p in w for x in p], list)]
    n: int


def talk(saver: Any) -> Any:
    """Return a graph that talks to itself, then forgets one thing and says another one anew."""
    builder = StateGraph(Talk)

    def speak(state: Talk) -> Any:
        n = state.get("n", 0)
        said = [AIMessage(f"n{n}", id=f"a{n}")]
        if n == 5:
            said = [RemoveMessage(id="a2"), AIMessage("again", id="a3")]
        if n == 7:
            return Command(update={"messages": Overwrite([HumanMessage("fresh", id="f")]), "n": n + 1}, goto="speak")
        return Command(update={"messages": said, "odd": [n], "n": n + 1}, goto="speak" if n < 9 else "__end__")

    builder.add_node("speak", speak)
    builder.add_edge(START, "speak")
    return builder.compile(checkpointer=saver)


async def test_messages_of_a_delta_channel_are_put_together_as_the_graph_does(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "talk.db") as saver:
        graph = talk(saver)
        graph.invoke({"messages": [HumanMessage("hello", id="h")], "n": 0}, at("t"))
        theirs = {h.config["configurable"]["checkpoint_id"]: h.values for h in graph.get_state_history(at("t"))}
    async with open_store(str(tmp_path / "talk.db")) as store:
        for checkpoint_id, values in theirs.items():
            moment = await store.moment("t", "", checkpoint_id)
            ours = [(m["role"], m["content"], m["id"]) for m in moment.values.get("messages") or []]
            assert ours == [(m.type, m.content, m.id) for m in values.get("messages", [])]


async def test_what_only_the_graph_can_put_together_is_shown_as_changes(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "talk.db") as saver:
        talk(saver).invoke({"messages": [HumanMessage("hello", id="h")], "n": 0}, at("t"))
    async with open_store(str(tmp_path / "talk.db")) as store:
        moment = await store.moment("t", "", await store.head("t", ""))
        assert moment.values["odd"]["changes since"] == [[n] for n in (0, 1, 2, 3, 4, 5, 6, 8, 9)]
        assert any("only the graph" in note or "just the graph" in note for note in moment.notes)


async def test_the_todos_of_a_session_of_ours_are_put_together_as_the_supervisor_does(tmp_path: Path) -> None:
    class Session(TypedDict, total=False):
        todos: Annotated[dict[str, Any], DeltaChannel(merge_todos, dict, snapshot_frequency=4)]
        n: int

    def change(state: Session) -> Any:
        n = state.get("n", 0)
        todos = {f"todo_{n}": {"id": n, "status": "pending"}, "todo_0": {"id": 0, "status": f"at {n}"}}
        gone = {f"todo_{n - 3}": None} if n % 2 else {}
        return Command(update={"todos": {**todos, **gone}, "n": n + 1}, goto="change" if n < 11 else "__end__")

    builder = StateGraph(Session)
    builder.add_node("change", change)
    builder.add_edge(START, "change")
    with sqlite_saver(tmp_path / "checkpoints.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"n": 0}, at("session_s1"))
        history = list(graph.get_state_history(at("session_s1")))
    async with open_store(str(tmp_path / "checkpoints.db")) as store:
        for snapshot in history:
            moment = await store.moment("session_s1", "", snapshot.config["configurable"]["checkpoint_id"])
            assert (moment.values.get("todos") or {}) == snapshot.values.get("todos", {})
            assert moment.notes == ()


# Nothing changes ----------------------------------------------------------------------------------------------------


async def test_reading_changes_no_byte(tmp_path: Path) -> None:
    payments(tmp_path / "p.db")
    before = digests(tmp_path)
    async with open_store(str(tmp_path / "p.db")) as store:
        await all_of(store)
    after = digests(tmp_path)
    assert {name: after[name] for name in before} == before
    # SQLite itself makes the log that a database in WAL mode has; nothing is in it.
    assert all((tmp_path / name).stat().st_size == 0 for name in after.keys() - before.keys())


async def test_others_go_on_writing_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with sqlite_saver(path) as saver:
        pay(saver, "one")
        async with open_store(str(path)) as store:
            head = await store.head("one", "")
            written = digests(tmp_path)
            await all_of(store)
            assert digests(tmp_path) == written
            payment(saver).invoke(Command(resume="yes"), at("one"))
            pay(saver, "two")
            assert await store.head("one", "") != head
            assert {t.thread_id for t in await store.threads()} == {"one", "two"}
            branch(saver, "one", 7)
            assert await store.turns("one", "")


async def test_a_thread_of_which_only_a_subgraph_is_left_is_listed(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM checkpoints WHERE thread_id = 'done' AND checkpoint_ns = ''")
    async with open_store(str(path)) as store:
        (left,) = [t for t in await store.threads() if t.thread_id == "done"]
        assert (left.head, left.title, left.at) == ("", "", "")
        (space,) = await store.namespaces("done")
        assert await store.older("done", space.ns)


async def test_a_history_that_is_a_loop_ends(tmp_path: Path) -> None:
    path = tmp_path / "talk.db"
    with sqlite_saver(path) as saver:
        talk(saver).invoke({"messages": [HumanMessage("hello", id="h")], "n": 0}, at("t"))
    with sqlite3.connect(path) as connection:
        (last,) = connection.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchone()
        connection.execute("UPDATE checkpoints SET parent_checkpoint_id = ? WHERE parent_checkpoint_id IS NULL", [last])
    async with open_store(str(path)) as store:
        moment = await store.moment("t", "", last)
        assert moment.notes


# Names --------------------------------------------------------------------------------------------------------------


async def test_threads_and_checkpoints_are_named_by_unique_parts(store_file: Path) -> None:
    async with open_store(str(store_file)) as store:
        head = await store.head("done", "")
        assert await store.find_thread("do") == "done"
        assert await store.find("done", "", head[-9:]) == head
        for text in ("", "zz", "d%ne", "'; --"):
            with pytest.raises(UnknownName, match=f"^No thread {re.escape(json.dumps(text))} in "):
                await store.find_thread(text)
        with pytest.raises(UnknownName, match="could be"):
            await store.find("done", "", head[:8])
        with pytest.raises(UnknownName, match=r'^No checkpoint "zz" in thread "done"'):
            await store.find("done", "", "zz")
        with pytest.raises(UnknownName, match=r'^No checkpoint "zz" in thread "done"'):
            await store.moment("done", "", "zz")


# Older forms --------------------------------------------------------------------------------------------------------


async def test_a_store_without_types_and_namespaces_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]}
    checkpoint = {"v": 1, "ts": "2024-05-01T00:00:00+00:00", "channel_values": {"messages": [message]}}
    message["kwargs"] = {"content": "hello from 2024"}
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, thread_ts TEXT, parent_ts TEXT, checkpoint BLOB, metadata BLOB,"
            " PRIMARY KEY (thread_id, thread_ts))"
        )
        connection.execute(
            "CREATE TABLE writes (thread_id TEXT, thread_ts TEXT, task_id TEXT, idx INTEGER, channel TEXT, value BLOB,"
            " PRIMARY KEY (thread_id, thread_ts, task_id, idx))"
        )
        metadata = b'{"source": "input", "step": -1}'
        row = (
            "t",
            "2024-05-01T00:00:00+00:00",
            None,
            json.dumps(checkpoint).encode(),
            metadata,
        )
        connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO writes VALUES ('t', ?, 'task', 0, 'messages', ?)", (row[1], b'["written"]'))
    async with open_store(str(path)) as store:
        assert store.info.notes == ("It was written by LangGraph before 0.2.",)
        (thread,) = await store.threads()
        assert (thread.thread_id, thread.title) == ("t", "hello from 2024")
        (info,) = await store.older("t", "")
        assert (info.source, info.step, info.timestamp) == ("input", -1, "2024-05-01T00:00:00+00:00")
        moment = await store.moment("t", "", info.checkpoint_id)
        assert moment.values["messages"] == [{"role": "human", "content": "hello from 2024"}]
        assert moment.tasks[0].writes == (("messages", ["written"]),)


async def test_old_edges_say_what_ran_and_the_next_checkpoint_where_it_went(tmp_path: Path) -> None:
    path = tmp_path / "edges.db"
    told = [
        ({"start:plan": "__start__"}, {"source": "loop", "step": 0, "writes": None}),
        ({"plan": "plan", "n": 1}, {"source": "loop", "step": 1, "writes": {"plan": {"n": 1}}}),
        ({"left": "left", "right": "right"}, {"source": "loop", "step": 2, "writes": {"left": None, "right": None}}),
    ]
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT,"
            " parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,"
            " PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))"
        )
        for number, (values, metadata) in enumerate(told):
            row = (
                "t",
                "",
                str(number),
                str(number - 1) if number else None,
                "json",
                json.dumps({"v": 1, "channel_values": values}),
            )
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(metadata)))
    async with open_store(str(path)) as store:
        assert [c.node for c in await store.older("t", "")] == ["after left", "left +1", "plan"]
        moment = await store.moment("t", "", "1")
        assert (moment.next, moment.values) == (("left", "right"), {"n": 1})


async def test_an_old_store_without_a_column_for_paths_is_read(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE writes DROP COLUMN task_path")
    async with open_store(str(path)) as store:
        moment = await store.moment("asks", "", await store.head("asks", ""))
        assert [(q.node, q.pending) for q in moment.questions] == [("", True)]


async def test_a_store_without_writes_shows_its_states(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE writes")
    async with open_store(str(path)) as store:
        assert "no table of writes" in store.info.notes[0]
        assert not any(t.waiting for t in await store.threads())
        await all_of(store)


# Bad input ----------------------------------------------------------------------------------------------------------


async def refused(address: str | Path) -> str:
    """Return why a store can't be opened."""
    with pytest.raises(BadInput) as caught:
        async with open_store(str(address)):
            pass
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.message
    return caught.value.message


async def test_what_is_no_store_says_so_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but long enough to have a header of its own, and more\n" * 50)
    (tmp_path / "empty.db").touch()
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    with sqlite3.connect(tmp_path / "strange.db") as connection:
        connection.execute("CREATE TABLE checkpoints (id INTEGER, thread_id TEXT)")
    with sqlite3.connect(tmp_path / "view.db") as connection:
        connection.execute("CREATE VIEW checkpoints AS SELECT 1 AS thread_id")
    with sqlite3.connect(tmp_path / "virtual.db") as connection:
        connection.execute("CREATE VIRTUAL TABLE checkpoints USING fts5(thread_id, checkpoint_id)")
    os.mkfifo(tmp_path / "pipe.db")
    for address, why in (
        (tmp_path / "missing.db", "doesn't exist"),
        (tmp_path, "is a folder"),
        (tmp_path / "text.db", "isn't a SQLite database, or it is encrypted"),
        (tmp_path / "empty.db", "is empty"),
        (tmp_path / "other.db", "without LangGraph's table of checkpoints"),
        (tmp_path / "strange.db", "isn't known here: without checkpoint, checkpoint_id"),
        (tmp_path / "view.db", "without LangGraph's table of checkpoints"),
        (tmp_path / "virtual.db", "which could run code"),
        (tmp_path / "pipe.db", "isn't a regular file"),
        ("", "Which database?"),
        ("mysql://host/db", 'Can\'t read "mysql://"'),
        ("a\0b", "can't be a path"),
        ("~nobody-of-this-name/x.db", "can't be found"),
    ):
        assert why in await refused(address)


async def test_a_python_without_sqlite_says_so(store_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hitl_tui.threads.sqlite_store", None)
    with pytest.raises(BadInput, match="built without SQLite"):
        async with open_store(str(store_file)):
            pass


async def test_a_store_that_is_cut_off_or_damaged_says_so(tmp_path: Path) -> None:
    whole = payments(tmp_path / "p.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    assert "cut off" in await refused(tmp_path / "cut.db")
    (tmp_path / "damaged.db").write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises((BadInput, StorageError), match="damaged"):
        async with open_store(str(tmp_path / "damaged.db")) as store:
            await store.threads()


async def test_a_state_that_cant_be_read_leaves_the_rest_readable(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE checkpoints SET type = 'msgpack+aes' WHERE thread_id = 'done'")
        connection.execute("UPDATE writes SET type = 'pickle' WHERE thread_id = 'asks'")
    async with open_store(str(path)) as store:
        assert len(await store.threads()) == 3
        (head, *_) = await store.older("done", "")
        assert head.timestamp
        with pytest.raises(BadInput, match=r"encrypted \(aes\)"):
            await store.moment("done", "", head.checkpoint_id)
        (question,) = (await store.moment("asks", "", await store.head("asks", ""))).questions
        assert "pickle" in json.dumps(question.value)


async def test_a_crafted_store_runs_nothing(tmp_path: Path) -> None:
    import ormsgpack

    path, mark = payments(tmp_path / "p.db"), tmp_path / "ran"
    evil = ormsgpack.Ext(1, ormsgpack.packb(("os", "system", (f"touch {mark}",))))
    crafted = ormsgpack.packb({"v": 4, "channel_values": {"x": evil, "__start__": evil}})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE checkpoints SET type = 'msgpack', checkpoint = ?", [crafted])
        connection.execute("UPDATE writes SET type = 'msgpack', value = ?", [ormsgpack.packb(evil)])
    async with open_store(str(path)) as store:
        await all_of(store)
    assert not mark.exists()


async def test_times_and_steps_that_cant_be_are_left_out(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    odd = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "soon", "", 7, None, "2026-01-01T00:00:00"]
    with sqlite3.connect(path) as connection:
        for number, (ident,) in enumerate(connection.execute("SELECT checkpoint_id FROM checkpoints").fetchall()):
            checkpoint = json.dumps({"v": 4, "ts": odd[number % len(odd)], "channel_values": {}})
            connection.execute(
                "UPDATE checkpoints SET type = 'json', checkpoint = ?, metadata = ? WHERE checkpoint_id = ?",
                [checkpoint, json.dumps({"step": 10**3_000 if number % 2 else True, "source": ["x"]}), ident],
            )
    async with open_store(str(path)) as store:
        for thread in await store.threads():
            for info in await store.older(thread.thread_id, ""):
                assert 1900 < datetime.fromisoformat(info.timestamp).astimezone().year < 3000
                assert info.step in (0, 1)
                await store.moment(thread.thread_id, "", info.checkpoint_id)


async def test_large_states_still_say_what_is_next(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with sqlite_saver(path) as saver:
        pay(saver, "t", ["yes"], "x" * 300_000)
    async with open_store(str(path)) as store:
        nodes = [c.node for c in await store.older("t", "")]
        assert nodes == ["check", "work", "ask", "plan", "?"]
        assert (await store.threads())[0].title == "x" * 400


async def test_in_a_file_of_ours_the_order_of_writing_counts_and_not_the_ids(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE checkpoints SET rowid = rowid + 1000000 WHERE thread_id = 'asks'")
        connection.execute("PRAGMA user_version = 1")
    async with open_store(str(path)) as store:
        assert [t.thread_id for t in await store.threads()] == ["asks", "forked", "done"]
        assert [n.ns == "" for n in await store.namespaces("done")] == [True, False]


READ = """
import asyncio, sys
from hitl_tui.core.errors import HitlError
from hitl_tui.threads.thread_store import open_store
async def main():
    async with open_store(sys.argv[1]) as store:
        print(len(await store.threads()))
try:
    asyncio.run(main())
except HitlError as error:
    print(error.message)
"""


async def read(path: Path) -> None:
    async with open_store(str(path)) as store:
        assert await store.threads()


def test_reading_leaves_nothing_beside_a_file_that_nobody_uses(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as last:
        last.execute("PRAGMA journal_mode = WAL")
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert list(tmp_path.iterdir()) == [path]
    asyncio.run(read(path))
    assert list(tmp_path.iterdir()) == [path]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


async def test_what_others_wrote_beside_a_file_stays(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as setting:
        setting.execute("PRAGMA journal_mode = WAL")
    async with open_store(str(path)) as store:
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("CREATE TABLE mine (a)")
            writer.execute("INSERT INTO mine VALUES (1)")
            writer.commit()
            await store.close()
            assert (tmp_path / "p.db-wal").stat().st_size
            await read(path)
            assert (tmp_path / "p.db-wal").stat().st_size
            assert writer.execute("SELECT a FROM mine").fetchall() == [(1,)]
    with closing(sqlite3.connect(path)) as again:
        assert again.execute("SELECT a FROM mine").fetchall() == [(1,)]


@pytest.mark.skipif(sys.platform != "linux", reason="network-free way to take permissions away")
def test_a_folder_that_cant_be_written_gives_a_sentence_or_the_data(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    (tmp_path / "p.db-shm").unlink(missing_ok=True)
    tmp_path.chmod(0o555)
    # A process that holds all permissions drops them, as a read-only mount would.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
    try:
        done = subprocess.run(
            [*drop, sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        tmp_path.chmod(0o755)
    assert "can't be opened for reading. In WAL mode" in done.stdout, done.stderr


def test_types_of_the_serializer_are_all_read(store_file: Path) -> None:
    """What langgraph writes today has a format that is known here."""
    kinds = {SER.dumps_typed(value)[0] for value in (None, 1, b"x", bytearray(b"x"), {"a": 1})}
    assert kinds <= {"null", "msgpack", "bytes", "bytearray"}


SER = JsonPlusSerializer()
