"""Real graphs on real savers, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import hashlib
import operator
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

import psycopg
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

PASSWORD = "pw-of-the-test"
QUESTION = "Please transfer 100 to Bob"


class Payment(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    amount: int
    trail: Annotated[list[str], DeltaChannel(lambda s, w: [*s, *(x for part in w for x in part)], list)]


class Check(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    amount: int


def _plan(state: Payment) -> Payment:
    return {"messages": [AIMessage("I would transfer 100")], "amount": 100, "log": ["planned"], "trail": ["plan"]}


def _ask(state: Payment) -> Payment:
    answer = interrupt({"question": "Transfer?", "amount": state["amount"]})
    return {"log": [f"answered {answer}"], "trail": ["ask"]}


def _parts(state: Payment) -> list[Send]:
    return [Send("work", {"amount": n}) for n in range(3)]


def _inner(state: Check) -> Check:
    return {"log": [f"checked {interrupt('Is the account right?')}"]}


def payment(saver: BaseCheckpointSaver[Any]) -> Any:
    """Return a graph that plans, asks, works three times in parallel, asks in a subgraph and ends."""
    inner = StateGraph(Check)
    inner.add_node("look", lambda state: {"log": ["looked"]})
    inner.add_node("confirm", _inner)
    inner.add_edge(START, "look")
    inner.add_edge("look", "confirm")
    builder = StateGraph(Payment)
    builder.add_node("plan", _plan)
    builder.add_node("ask", _ask)
    builder.add_node("work", lambda state: {"log": [f"worked {state['amount']}"]})
    builder.add_node("check", inner.compile())
    builder.add_node("done", lambda state: {"log": ["done"]})
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "ask")
    builder.add_conditional_edges("ask", _parts, ["work"])
    builder.add_edge("work", "check")
    builder.add_edge("check", "done")
    return builder.compile(checkpointer=saver)


def at(thread: str) -> RunnableConfig:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": thread}}


def pay(saver: BaseCheckpointSaver[Any], thread: str, answers: Sequence[str] = (), text: str = QUESTION) -> None:
    """Run the payment graph on a thread, with these answers to its questions."""
    graph = payment(saver)
    graph.invoke({"messages": [HumanMessage(text, id=f"m-{thread}")]}, at(thread))
    for answer in answers:
        graph.invoke(Command(resume=answer), at(thread))


def branch(saver: BaseCheckpointSaver[Any], thread: str, amount: int) -> None:
    """Go back to the first question of a thread, edit the amount there, and go on to the question again."""
    graph = payment(saver)
    old = next(h for h in graph.get_state_history(at(thread)) if h.next == ("ask",))
    graph.invoke(None, graph.update_state(old.config, {"amount": amount}))


@contextmanager
def sqlite_saver(path: Path) -> Iterator[SqliteSaver]:
    """Open a saver on a file."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def payments(path: Path) -> Path:
    """Make a store: `asks` waits, `done` is finished, `forked` has a branch and asks on both."""
    with sqlite_saver(path) as saver:
        pay(saver, "asks")
        pay(saver, "done", ["yes", "right"], "Pay the rent")
        pay(saver, "forked", ["yes"])
        branch(saver, "forked", 5)
    return path


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file of a folder that holds data; a `-shm` is memory that readers share."""
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.iterdir())
        if p.is_file() and not p.name.endswith("-shm")
    }


# PostgreSQL ---------------------------------------------------------------------------------------------------------


def server_programs() -> Path | None:
    """Return the folder with `initdb` and `postgres`, None when there is no server on this machine."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "postgres").exists()), None)


@contextmanager
def postgres_server(programs: Path) -> Iterator[str]:
    """Run a server on loopback in a folder of its own; yields its address, with the password."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user = None
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = next(u for u in ("postgres", "nobody") if u in {p.pw_name for p in pwd.getpwall()})
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "owner", "-A", "scram-sha-256", "--pwfile", secret, "-N"],
        check=True,
        capture_output=True,
        user=user,
        cwd="/",
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-c", "fsync=off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *options], stdout=log, stderr=log, user=user, cwd="/", process_group=0
        )
        try:
            uri = f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres"
            _wait_for(server, uri)
            yield uri
        finally:
            server.terminate()
            server.wait(30)
            shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: subprocess.Popen[bytes], uri: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        assert server.poll() is None, "the server stopped"
        try:
            psycopg.connect(uri).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "the server never answered"
        else:
            return
