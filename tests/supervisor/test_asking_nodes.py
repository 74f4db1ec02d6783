"""A node is said to do nothing but ask only where all that it does is known (I5)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.graph import START, StateGraph

from hitl_tui.graphs.asking_nodes import only_asks

SOURCE = """
import functools, os, re
from typing import TypedDict
from langgraph.types import interrupt

class State(TypedDict, total=False):
    text: str

class Client:
    def get(self, name):
        os.remove(name)

CLIENT, WORDS, FORM, SEEN = Client(), {"en": {"ask": "Send {to}?"}}, re.compile("a+"), []

def words(state):
    return WORDS["en"] if state.get("text", "").strip() else WORDS["en"]

def deletes(name):
    os.remove(name)
    return name

def passes_on(name):
    return deletes(name)

def again(n):
    return again(n - 1) if n else 0

def good_asks(state):
    message = words(state)["ask"].format(to=state["text"])
    while True:
        answer: dict[str, object] = interrupt({"text": f"{message:>5}", "n": [len(w) for w in message.split()]})
        if FORM.fullmatch(str(answer.get("to"))) or (not answer and max(1, 2) > 1):
            return {"text": answer["to"]}
        message = "Whom?"

def good_computes(state: State) -> State:
    total = sum(int(w) for w in state["text"].split() if w.isdigit())
    return State(text=str(total + again(2)))

def good_sorts(state):
    for at, word in enumerate(sorted(state["text"].split(), key=lambda w: w.lower())):
        if at > 3:
            break
    return {"text": word}

def bad_module(state):
    os.remove(state["text"])
    return interrupt("?")

def bad_client(state):
    CLIENT.get(state["text"])
    return interrupt("?")

def bad_alias(state):
    client = CLIENT
    client.get(state["text"])
    return interrupt("?")

def bad_walrus(state):
    (client := CLIENT).get(state["text"])
    return interrupt("?")

def bad_helper(state):
    passes_on(state["text"])
    return interrupt("?")

def bad_key(state):
    sorted([state["text"]], key=deletes)
    return interrupt("?")

def bad_class(state):
    return {"text": str(Client())}

def bad_print(state):
    print(state["text"])
    return interrupt("?")

def bad_open(state):
    with open(state["text"], "w"):
        return interrupt("?")

def bad_import(state):
    import shutil
    return interrupt("?")

def bad_attribute(state):
    Client.get = None
    return interrupt("?")

def bad_write(state):
    WORDS["en"] = {}
    return interrupt("?")

def bad_unknown(state):
    state["text"].send()
    return interrupt("?")

def bad_inner(state):
    def inner():
        os.remove(state["text"])
    return interrupt("?")

def bad_lambda(state):
    f = lambda: 1
    return {"text": f()}

def bad_config(state, config):
    config.get("store")
    return interrupt("?")

def bad_default(state, act=deletes):
    act(state["text"])
    return interrupt("?")

@functools.lru_cache
def bad_decorated(state):
    return interrupt("?")

def closing(name):
    def bad_closure(state):
        return interrupt(name)
    return bad_closure

bad_closure = closing("x")

async def bad_async(state):
    return interrupt("?")

class Callable:
    def __call__(self, state):
        os.remove(state["text"])

bad_object = Callable()
bad_wrapped = functools.wraps(good_asks)(lambda state: os.remove(state["text"]))
"""
NAMES = re.findall(r"^(?:async )?def ((?:good|bad)_\w+)|^(bad_\w+) =", SOURCE, re.MULTILINE)


def loaded(path: Path) -> ModuleType:
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("nodes", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def node_of(function: Any) -> Any:
    graph = StateGraph(dict).add_node("it", function).add_edge(START, "it").compile()
    return graph.nodes["it"]


@pytest.mark.parametrize("name", [one or other for one, other in NAMES])
def test_only_what_is_known_to_the_last_call_does_nothing_but_ask(tmp_path: Path, name: str) -> None:
    node = node_of(getattr(loaded(tmp_path / "nodes.py"), name))
    assert only_asks(node) is name.startswith("good")


def test_of_a_file_that_changed_since_it_was_loaded_nobody_knows(tmp_path: Path) -> None:
    path = tmp_path / "nodes.py"
    node = node_of(loaded(path).bad_module)
    path.write_text(SOURCE.replace('    os.remove(state["text"])\n', "    0\n"), encoding="utf-8")
    assert not only_asks(node)
    path.unlink()
    assert not only_asks(node)


def test_what_isnt_a_function_is_not_known() -> None:
    assert not only_asks(None)
    assert not only_asks(node_of(len))
