"""A node is said to do nothing but ask only where all that it does is known (I5)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attached_support import attached, world
from langgraph.graph import START, StateGraph

from hitl_tui.graphs.asking_nodes import acts_before_asking, call_acts_before_asking, only_asks, surely_asks
from hitl_tui.graphs.first_questions import first_questions

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


def loaded(path: Path, source: str = SOURCE) -> ModuleType:
    path.write_text(source, encoding="utf-8")
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


ALWAYS = """
from langgraph.types import interrupt

FORM = ["a"]

def good_first(state):
    message = "?"
    answer = interrupt(message)
    return {"text": answer} if answer else {}

def good_loop(state):
    while True:
        answer = interrupt("?")
        if answer:
            return answer

def good_either(state):
    if state["text"]:
        return {"text": interrupt("a")}
    else:
        return {"text": interrupt("b")}

def bad_perhaps(state):
    if state["text"]:
        interrupt("?")
    return {}

def bad_leaves(state):
    if state["text"]:
        return {}
    return {"text": interrupt("?")}

def bad_short(state):
    return {"text": state["text"] or interrupt("?")}

def bad_else(state):
    return {"text": interrupt("?") if state["text"] else ""}

def bad_each(state):
    return {"text": [interrupt(t) for t in state["text"]]}

def bad_for(state):
    for text in state["text"]:
        interrupt(text)
    return {}

def bad_while(state):
    while state["text"]:
        interrupt("?")
    return {}

def bad_breaks(state):
    while True:
        if state["text"]:
            break
        interrupt("?")
    return {}

def good_compares(state):
    if interrupt("?") == "yes":
        return {}
    return {"text": ""}

def good_chooses(state):
    return {"text": "a" if interrupt("?") else "b"}

def bad_compares(state):
    return {"text": 1 < len(state["text"]) < interrupt("?")}

def bad_never(state):
    return {}

def bad_later(state):
    return {"text": sorted(FORM, key=lambda f: interrupt(f))}
"""


@pytest.mark.parametrize("name", re.findall(r"^def (\w+)", ALWAYS, re.MULTILINE))
def test_a_node_surely_asks_only_where_no_way_leads_past_its_question(tmp_path: Path, name: str) -> None:
    node = node_of(getattr(loaded(tmp_path / "nodes.py", ALWAYS), name))
    assert surely_asks(node) is name.startswith("good")


BEFORE = """
import os
from langchain_core.tools import tool
from langgraph.types import interrupt

def good_then_acts(state):
    answer = interrupt(f"Delete {state['text']}?")
    os.remove(answer)

def good_in_condition(state):
    if interrupt("?") == "yes":
        os.remove(state["text"])

def good_in_either_way(state):
    if state["text"]:
        answer = interrupt("a")
        os.remove(answer)
    else:
        answer = interrupt("b")

def good_in_the_first_round(state):
    while True:
        answer = interrupt("?")
        if answer:
            os.remove(answer)
            return {}

def bad_before(state):
    os.remove(state["text"])
    interrupt("?")

def bad_in_the_same_line(state):
    os.remove(state["text"]), interrupt("?")

def bad_perhaps(state):
    if state["text"]:
        interrupt("?")
    os.remove(state["text"])

def bad_perhaps_left(state):
    if state["text"]:
        return {}
    interrupt("?")
    os.remove(state["text"])

def bad_way(state):
    if state["text"]:
        interrupt("a")
    else:
        os.remove(state["text"])
        interrupt("b")
    os.remove(state["text"])

def bad_condition(state):
    if os.remove(state["text"]) or interrupt("?"):
        return {}
    os.remove(state["text"])

def bad_last(state):
    if 1 < len(state["text"]) < interrupt("?"):
        return {}
    os.remove(state["text"])

@tool
def asks(to: str) -> str:
    'Ask.'
    answer = interrupt(to)
    os.remove(answer)

@tool
async def waits(to: str) -> str:
    'Ask.'
    answer = interrupt(to)
    os.remove(answer)

@tool
def acts(to: str) -> str:
    'Act.'
    os.remove(to)
    return interrupt(to)
"""


@pytest.mark.parametrize("name", re.findall(r"^def ((?:good|bad)_\w+)", BEFORE, re.MULTILINE))
def test_what_comes_after_a_first_question_isnt_done_before_it(tmp_path: Path, name: str) -> None:
    function = getattr(loaded(tmp_path / "nodes.py", BEFORE), name)
    node = node_of(function)
    assert acts_before_asking(node, answered=False) is name.startswith("bad")
    assert call_acts_before_asking([function], answered=False) is name.startswith("bad")
    assert acts_before_asking(node, answered=True) and call_acts_before_asking([function], answered=True)


def test_a_decorated_function_that_a_tool_keeps_is_read_as_it_is(tmp_path: Path) -> None:
    module = loaded(tmp_path / "nodes.py", BEFORE)
    assert not call_acts_before_asking([module.asks.func], answered=False)
    assert not call_acts_before_asking([module.waits.coroutine], answered=False)
    assert call_acts_before_asking([module.asks.func, module.acts.func], answered=False)
    assert call_acts_before_asking([], answered=False)


FIRST = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

class State(TypedDict, total=False):
    text: str
    seen: Annotated[list, operator.add]

def merged(one, other):
    open("merged", "w").close()
    return other

class Merging(TypedDict, total=False):
    text: Annotated[str, merged]

def write(state):
    return {"text": state["text"].upper()}

def ask(state):
    return {"text": interrupt("?")}

def ask_too(state):
    return {"seen": [interrupt("?")]}

def send(state):
    open("sent", "w").close()
    return {}

def pick(state):
    return "send"

def graph(*ways, state=State, branch=""):
    g = StateGraph(state)
    for name, node in {"write": write, "ask": ask, "ask_too": ask_too, "send": send}.items():
        if any(name in way for way in ways):
            g.add_node(name, node)
    for way in ways:
        for start, end in zip(("__start__", *way), way):
            g.add_edge(start, end)
    if branch:
        g.add_conditional_edges(branch, pick, ["send"])
    return g.compile()
"""


@pytest.mark.parametrize(
    ("ways", "more", "asking", "before"),
    [
        ([("write", "ask", "send")], {}, {"ask"}, {"write"}),
        ([("ask", "send", "ask")], {}, {"ask"}, set()),
        ([("ask", "send"), ("write", "ask_too")], {}, {"ask", "ask_too"}, {"write"}),
        ([("write", "ask"), ("send",)], {}, set(), set()),
        ([("send", "ask")], {}, set(), set()),
        ([("write", "ask"), ("write", "send")], {}, set(), set()),
        ([("write", "ask", "send")], {"branch": "ask"}, {"ask"}, {"write"}),
        ([("write", "ask", "send")], {"branch": "write"}, set(), set()),
        ([("write",)], {}, set(), set()),
        ([("write", "ask")], {"state": "Merging"}, set(), set()),
    ],
)
def test_nothing_happens_before_a_graph_asks_only_where_every_way_leads_to_a_question(
    tmp_path: Path, ways: list[tuple[str, ...]], more: dict[str, Any], asking: set[str], before: set[str]
) -> None:
    module = loaded(tmp_path / "nodes.py", FIRST)
    if "state" in more:
        more = {"state": getattr(module, more["state"])}
    assert first_questions(module.graph(*ways, **more)) == (asking, asking | before)


async def test_a_question_says_that_nothing_was_done_until_something_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    async with attached(tmp_path, "circular", '{"to": "ann"}') as op:
        assert op.questions[0].view.request.about["asks_first"] is True
        await op.ok("/todo approve")
        assert op.questions[0].view.request.about["nothing_yet"] is True
        await op.ok("/answer 1 respond ben")
        assert op.questions[0].view.request.about["nothing_yet"] is False
        assert world(tmp_path) == {"post ben": 1}
    async with attached(tmp_path, "mail", '{"to": "ann"}', name="s2") as op:
        assert op.questions[0].view.request.about["asks_first"] is False, "its first node writes to the world"


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
