"""Each rule with its neighbours: what breaks it, and what is like it and doesn't (I6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import checked, found, marked, node, rules

BREAKS = {
    "except Exception": ("HT001", "try:\n    x = interrupt('?')\nexcept Exception:\n    x = None\nreturn {'name': x}"),
    "except in a tuple": ("HT001", "try:\n    interrupt('?')\nexcept (OSError, BaseException):\n    pass"),
    "handler raises something else": (
        "HT001",
        "try:\n    interrupt('?')\nexcept Exception as e:\n    raise ValueError from e",
    ),
    "handler raises sometimes": (
        "HT001",
        "try:\n    interrupt('?')\nexcept Exception:\n    if state['name']:\n        raise",
    ),
    "finally returns": ("HT001", "try:\n    interrupt('?')\nfinally:\n    return {}"),
    "suppress": ("HT001", "from contextlib import suppress\nwith suppress(Exception):\n    interrupt('?')"),
    "retrying loop": (
        "HT001",
        "from tenacity import Retrying\nfor attempt in Retrying():\n    with attempt:\n        interrupt('?')",
    ),
    "runnable with a retry": (
        "HT001",
        "from langchain_core.runnables import RunnableLambda as R\nR(lambda x: interrupt(x)).with_retry().invoke('?')",
    ),
    "in an else of a caught try": (
        "HT001",
        "try:\n    try:\n        pass\n    except ValueError:\n        pass\n    else:\n        interrupt('?')\n"
        "except Exception:\n    pass",
    ),
    "random condition": ("HT002", "import random\nif random.random() < 0.5:\n    interrupt('?')"),
    "random early return": ("HT002", "import random\nif random.random() < 0.5:\n    return {}\ninterrupt('?')"),
    "random in a ternary": ("HT002", "import random\nx = interrupt('?') if random.random() < 0.5 else ''"),
    "random in an and": ("HT002", "import random\nx = random.random() < 0.5 and interrupt('?')"),
    "file that may come and go": (
        "HT002",
        "from pathlib import Path\nif Path('a').exists():\n    interrupt('overwrite?')",
    ),
    "state decides, another follows": (
        "HT002",
        "if state['name']:\n    interrupt('a?')\nreturn {'name': interrupt('b?')}",
    ),
    "state decides in a loop": ("HT002", "for f in ('a', 'b'):\n    if state['name']:\n        interrupt(f)"),
    "match on state, another follows": (
        "HT002",
        "match state['name']:\n    case 'a':\n        interrupt('a?')\n    case _:\n        pass\ninterrupt('b?')",
    ),
    "over a set": ("HT003", "for n in {'a', 'b'}:\n    interrupt(n)"),
    "over a set by another name": ("HT003", "names = set(state['items'])\nfor n in list(names):\n    interrupt(n)"),
    "over what the file system lists": ("HT003", "import os\nfor n in os.scandir('.'):\n    interrupt(n.name)"),
    "map over a set": ("HT003", "answers = list(map(interrupt, {'a', 'b'}))"),
    "a set": ("HT004", "interrupt({'a', 'b'})"),
    "bytes": ("HT004", "interrupt({'data': b'a'})"),
    "a generator": ("HT004", "interrupt(x for x in 'ab')"),
    "a lambda": ("HT004", "interrupt({'check': lambda x: x})"),
    "a date": ("HT004", "import datetime\ninterrupt({'due': datetime.date.today()})"),
    "an open file": ("HT004", "interrupt({'file': open('a')})"),
    "a Path": ("HT004", "from pathlib import Path\ninterrupt({'file': Path('a') / 'b'})"),
    "deep inside": ("HT004", "interrupt({'a': [{'b': ('c', {1, 2})}]})"),
    "put in later": ("HT004", "payload = {'a': 1}\npayload['tags'] = {'x'}\ninterrupt(payload)"),
    "until a time": ("HT005", "import time\nwhile time.time() < 9:\n    interrupt('?')"),
    "a time breaks the loop": (
        "HT005",
        "import time\nwhile True:\n    if time.time() > 9:\n        break\n    interrupt('?')",
    ),
    "file written": ("HT006", "open('a', 'w').write('x')\ninterrupt('?')"),
    "in an argument of the interrupt": ("HT006", "import httpx\ninterrupt(httpx.post('http://x').json())"),
    "in one branch": ("HT006", "import os\nif state['name']:\n    os.remove('a')\ninterrupt('?')"),
    "between two interrupts": ("HT006", "import os\ninterrupt('a?')\nos.remove('a')\ninterrupt('b?')"),
    "in a loop, for the next round": (
        "HT006",
        "import os\nfor f in ('a', 'b'):\n    if interrupt(f):\n        os.remove(f)",
    ),
    "in finally": ("HT006", "import os\ntry:\n    interrupt('?')\nfinally:\n    os.remove('lock')"),
    "in a handler of what came before": (
        "HT006",
        "import os\ntry:\n    x = 1\nexcept ValueError:\n    os.remove('a')\ninterrupt('?')",
    ),
    "inserting with a value": (
        "HT006",
        "import sqlite3\nsqlite3.connect('a').execute(f'insert into t values ({state})')\ninterrupt('?')",
    ),
    "inserting through an ORM": (
        "HT006",
        "from sqlalchemy import insert\nfrom sqlalchemy.orm import Session\n"
        "with Session() as session:\n    session.execute(insert(State))\ninterrupt('?')",
    ),
    "a command that looks, and another": (
        "HT006",
        "import subprocess\nsubprocess.run('git diff; git push', shell=True)\ninterrupt('?')",
    ),
    "a command that isn't known whole": (
        "HT006",
        "import subprocess\nsubprocess.run(f'cat {state}', shell=True)\ninterrupt('?')",
    ),
    "shown and returned": ("HT012", "import uuid\ni = str(uuid.uuid4())\ninterrupt(i)\nreturn {'name': i}"),
    "shown and sent": (
        "HT012",
        "import uuid, httpx\ni = str(uuid.uuid4())\ninterrupt(i)\nhttpx.post('http://x', json={'id': i})",
    ),
    "shown and sent by a helper": (
        "HT012",
        "import uuid, httpx\ndef pay(n):\n    httpx.post('http://x', json={'n': n})\n"
        "def settle(n):\n    pay(str(n))\n"
        "i = str(uuid.uuid4())\nif interrupt(i):\n    settle(n=i)",
    ),
    "shown and sent by a method": (
        "HT012",
        "import uuid, httpx\nclass Payment:\n    def __init__(self, n):\n        self.n = n\n"
        "    def send(self):\n        httpx.post('http://x', json={'n': self.n})\n"
        "p = Payment(str(uuid.uuid4()))\ninterrupt(p.n)\np.send()",
    ),
    "shown and sent by a task": (
        "HT012",
        "import uuid, httpx\nfrom langgraph.func import task\n@task\ndef pay(n):\n"
        "    httpx.post('http://x', json={'n': n})\n"
        "i = str(uuid.uuid4())\nif interrupt(i):\n    pay(i).result()",
    ),
    "shown by a helper and sent by another": (
        "HT012",
        "import uuid, httpx\ndef ask(n):\n    return interrupt(n)\n"
        "def pay(n):\n    httpx.post('http://x', json={'n': n})\n"
        "i = str(uuid.uuid4())\nif ask(i):\n    pay(i)",
    ),
    "shown and written to a file": (
        "HT012",
        "import uuid\ni = str(uuid.uuid4())\ninterrupt(i)\nwith open('a', 'a') as f:\n    f.write(i)",
    ),
    "shown and written by a helper": (
        "HT012",
        "import uuid\ndef note(f, text):\n    f.writelines([text])\n"
        "i = str(uuid.uuid4())\ninterrupt(i)\nnote(open('a', 'w'), i)",
    ),
    "shown and dumped into a file": (
        "HT012",
        "import json, uuid\nfrom pathlib import Path\ni = str(uuid.uuid4())\ninterrupt(i)\n"
        "with Path('a').open('w') as f:\n    json.dump({'id': i}, f)",
    ),
    "shown and printed into a file": (
        "HT012",
        "import uuid\ni = str(uuid.uuid4())\ninterrupt(i)\nprint(i, file=open('a', 'a'))",
    ),
    "shown and written as a row": (
        "HT012",
        "import csv, uuid\ni = str(uuid.uuid4())\ninterrupt(i)\n"
        "with open('a', 'a') as f:\n    csv.writer(f).writerow([i])",
    ),
    "shown and told to a program": (
        "HT012",
        "import subprocess, uuid\ni = str(uuid.uuid4())\ninterrupt(i)\n"
        "subprocess.Popen(['bank'], stdin=subprocess.PIPE).communicate(i)",
    ),
    "InterruptedError": ("HT013", "try:\n    interrupt('?')\nexcept InterruptedError:\n    pass"),
    "eval": ("HT014", "return {'name': eval(interrupt('?'))}"),
    "SQL": (
        "HT014",
        "import sqlite3\ndb = sqlite3.connect('a')\nn = interrupt('?')\ndb.execute(f'delete from t where n = {n}')",
    ),
    "in a pool": (
        "HT015",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    return {'name': pool.submit(lambda: interrupt('?')).result()}",
    ),
    "a tool that is run between two questions": (
        "HT006",
        "for call in ({'name': 'a'}, {'name': 'b'}):\n    if interrupt(call['name']):\n"
        "        tool = state['tools'][call['name']]\n        tool.invoke(call)",
    ),
    "a tool by its name": ("HT006", "tools_by_name['a'].invoke({})\ninterrupt('?')"),
}

KEEPS = {
    "narrow except": "try:\n    interrupt('?')\nexcept ValueError:\n    pass",
    "raised again": "try:\n    interrupt('?')\nexcept Exception:\n    print('!')\n    raise",
    "raised again by name": "try:\n    interrupt('?')\nexcept Exception as e:\n    raise e",
    "let through first": (
        "from langgraph.errors import GraphInterrupt\ntry:\n    interrupt('?')\nexcept GraphInterrupt:\n    raise\n"
        "except Exception:\n    pass"
    ),
    "asked what it is": (
        "from langgraph.errors import GraphBubbleUp\ntry:\n    interrupt('?')\nexcept Exception as e:\n"
        "    if isinstance(e, GraphBubbleUp):\n        raise\n    return {}"
    ),
    "try behind it": "interrupt('?')\ntry:\n    print(1)\nexcept Exception:\n    pass",
    "retry told when": (
        "from tenacity import retry, retry_if_exception_type\n"
        "@retry(retry=retry_if_exception_type(OSError))\ndef fetch():\n    return interrupt('?')\nfetch()"
    ),
    "backoff told when": (
        "import backoff\n@backoff.on_exception(backoff.expo, OSError)\ndef fetch():\n    return interrupt('?')\nfetch()"
    ),
    "a cache": "CACHE = {}\n---\nimport httpx\nCACHE['a'] = httpx.get('http://x').json()\ninterrupt('?')",
    "an object that is made once": (
        "client = None\ndef get():\n    global client\n    if client is None:\n        client = object()\n"
        "---\nget()\ninterrupt('?')"
    ),
    "in a handler": "try:\n    print(1)\nexcept Exception:\n    interrupt('it failed; go on?')",
    "in the else": "try:\n    print(1)\nexcept Exception:\n    pass\nelse:\n    interrupt('?')",
    "narrow suppress": "from contextlib import suppress\nwith suppress(KeyError):\n    interrupt('?')",
    "state decides, alone": "if state['name']:\n    return {'name': interrupt('?')}\nreturn {}",
    "one question on either way": "if state['name']:\n    interrupt('a?')\nelse:\n    interrupt('b?')\ninterrupt('c?')",
    "the answer decides": "if interrupt('a?') == 'more':\n    interrupt('b?')\ninterrupt('c?')",
    "random, but for no question": "import random\nif random.random() < 0.5:\n    print('!')\ninterrupt('?')",
    "validation loop": "while True:\n    x = interrupt('?')\n    if x.isdigit():\n        return {'name': x}",
    "a fixed number of tries": "for _ in range(3):\n    if interrupt('?') == 'yes':\n        break",
    "a sorted set of what state has": "for n in sorted(set(state['items'])):\n    interrupt(n)",
    "each of what state has": "return {'items': [interrupt(f'{n}?') for n in state['items']]}",
    "a sorted set of constants": "for n in sorted({'a', 'b'}):\n    interrupt(n)",
    "text of a date": "import datetime\nd = datetime.date.today()\ninterrupt({'now': d.isoformat(), 'x': str(d)})",
    "list of a set": "interrupt({'options': sorted({'a', 'b'})})",
    "length of a set": "names = set(state['items'])\ninterrupt({'count': len(names)})",
    "json.dumps of anything": "import json, datetime\ninterrupt(json.dumps({'d': datetime.date.today()}, default=str))",
    "effect behind": "import os\nif interrupt('?'):\n    os.remove('a')",
    "effect on the way that doesn't ask": (
        "import os\nif state['name']:\n    os.remove('a')\n    return {}\ninterrupt('?')"
    ),
    "reading": "from pathlib import Path\ninterrupt(Path('a').read_text())",
    "logging": "import logging\nlogging.getLogger('x').info('asking')\nprint('asking')\ninterrupt('?')",
    "a folder that may exist": "from pathlib import Path\nPath('a').mkdir(exist_ok=True)\ninterrupt('?')",
    "local list": "lines = []\nfor x in 'ab':\n    lines.append(x)\ninterrupt({'lines': lines})",
    "selecting": (
        "import sqlite3\nrows = sqlite3.connect('a').execute('select 1').fetchall()\ninterrupt({'n': len(rows)})"
    ),
    "selecting with a value": (
        "import sqlite3, textwrap\ndb = sqlite3.connect('a')\nn = state['name']\ndb.execute(f'select * from {n}')\n"
        "db.execute('select * from ' + n)\nq = textwrap.dedent('  select 1')\ndb.execute(q)\ninterrupt('?')"
    ),
    "selecting through an ORM": (
        "from sqlalchemy import create_engine, select, text\nfrom sqlalchemy.orm import Session\n"
        "with Session(create_engine('sqlite://')) as session:\n    session.execute(select(State).where(1 == 1))\n"
        "    session.execute(text('select 1'))\n    interrupt('?')"
    ),
    "a command that only looks": (
        "import subprocess\nsubprocess.run(['git', 'diff', state['name']], check=True)\n"
        "subprocess.check_output('df -h', shell=True)\ninterrupt('?')"
    ),
    "get": "import httpx\nr = httpx.get('http://x')\ninterrupt({'rate': r.json()})",
    "shown only": "import uuid\ninterrupt({'reference': str(uuid.uuid4())})\nreturn {'name': 'x'}",
    "shown and put into words by a helper": (
        "import uuid\ndef told(n):\n    return f'no. {n}'\n"
        "i = str(uuid.uuid4())\ninterrupt(i)\nprint(told(i))\nreturn {'name': 'x'}"
    ),
    "shown, and a helper does something else": (
        "import uuid, httpx\ndef pay(n):\n    httpx.post('http://x', json={'n': n})\n    return uuid.uuid4().hex\n"
        "i = str(uuid.uuid4())\ninterrupt(i)\npay(state['name'])\nreturn {'name': 'x'}"
    ),
    "shown and written into memory": (
        "import io, uuid\ni = str(uuid.uuid4())\ninterrupt(i)\nio.StringIO().write(i)\nreturn {'name': 'x'}"
    ),
    "made after the answer": "import uuid\ninterrupt('?')\nreturn {'name': str(uuid.uuid4())}",
    "answer as an argument": "import subprocess\nx = interrupt('?')\nsubprocess.run(['ls', x], check=True)",
    "answer as a bound parameter": (
        "import sqlite3\nx = interrupt('?')\nsqlite3.connect('a').execute('delete from t where n = ?', (x,))"
    ),
    "answer that was compared": (
        "import os\nx = interrupt('?')\nif x not in ('ls', 'pwd'):\n    return {}\nos.system(x)"
    ),
    "to_thread": "import asyncio\nprint(asyncio.to_thread(interrupt, '?'))",
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_breaks_a_rule_is_found(tmp_path: Path, name: str) -> None:
    rule, body = BREAKS[name]
    assert rule in rules(node(tmp_path, body))


@pytest.mark.parametrize("name", KEEPS)
def test_what_keeps_the_rules_is_not_found(tmp_path: Path, name: str) -> None:
    report = node(tmp_path, KEEPS[name])
    assert [finding.message for finding in report.findings] == []
    assert any(row.interrupts for row in report.rows)


def test_a_call_is_followed_through_functions_methods_and_closures(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import os
        from functools import partial

        class Helper:
            def __init__(self, path):
                self.path = path

            def clean(self):
                os.remove(self.path)  # fault: HT006

        def make(helper):
            def inner(state, *, twice=False):
                helper.clean()
                return {"name": confirm(state["name"])}
            return inner

        def confirm(name):
            return (lambda text: interrupt(text))(name)

        builder = StateGraph(State)
        builder.add_node("ask", partial(make(Helper("a")), twice=True))
        builder.add_edge(START, "ask")
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")


def test_an_effect_in_a_task_is_kept_and_one_before_the_tasks_own_question_is_not(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import httpx
        from langgraph.func import entrypoint, task

        @task
        def order(name):
            return httpx.post("http://x", json={"name": name}).json()

        @task
        def confirm(name):
            httpx.post("http://y")  # fault: HT006
            return interrupt(name)

        @entrypoint()
        def main(name: str):
            order(name).result()
            return confirm(name).result()
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")


def test_a_declared_effect_is_allowed_wherever_it_is_declared(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import httpx

        def idempotent(function):
            return function

        @idempotent
        def one(): httpx.post("http://x")

        # hitl: idempotent
        def two(): httpx.post("http://x")

        def three(): httpx.post("http://x")

        def ask(state):
            one(); two()
            three()  # hitl: idempotent
            httpx.post("http://x")  # hitl: idempotent, the server looks at the key
            # hitl: idempotent
            httpx.post(
                "http://x",
            )
            interrupt("?")

        StateGraph(State).add_node("ask", ask)
        """,
    )
    assert rules(report) == []
    assert [row.effect.idempotent for row in report.rows if row.effect] == ["declared"] * 5


def test_a_declaration_covers_nothing_else(tmp_path: Path) -> None:
    body = "import os\n# hitl: idempotent\nos.remove('a')\nos.remove('b')  # fault: HT006\ninterrupt('?')"
    assert found(node(tmp_path, body)) == marked(tmp_path / "agent.py")


def test_what_chooses_the_way_on_runs_in_the_task_of_its_node(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import httpx

        def book(state):
            httpx.post("http://x")  # fault: HT006
            return {}

        def route(state):
            return "book" if interrupt("again?") else "__end__"

        builder = StateGraph(State)
        builder.add_node("book", book)
        builder.add_conditional_edges("book", route)
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")


def test_an_agents_tools_are_kept_apart_and_those_of_a_tool_node_are_not(tmp_path: Path) -> None:
    tools = """
        from langchain.agents import create_agent
        from langchain.tools import tool
        from langgraph.prebuilt import ToolNode, create_react_agent

        @tool
        def ask(text: str) -> str:
            return interrupt(text)

        @tool
        def confirm(text: str) -> str:
            return interrupt(text)

        @tool
        def write(text: str) -> str:
            open("a", "w").write(text)

        @tool
        def read() -> str:
            return open("a").read()
        """
    assert rules(checked(tmp_path, tools + "\n        graph = create_agent('m', [ask, confirm, write])")) == []
    assert rules(checked(tmp_path, tools + "\n        node = ToolNode([ask, read])")) == []
    together = "\n        StateGraph(State).add_node('t', ToolNode(%s))"
    assert rules(checked(tmp_path, tools + together % "[ask, read]")) == []
    assert rules(checked(tmp_path, tools + together % "[ask, confirm]")) == ["HT008"]
    assert rules(checked(tmp_path, tools + together % "[ask, write]")) == ["HT008"]
    old = "\n        graph = create_react_agent('m', [ask, confirm], version='v1')"
    assert rules(checked(tmp_path, tools + old)) == ["HT008"]


TOGETHER = """
        from langchain.tools import tool
        from langgraph.prebuilt import ToolNode

        @tool
        def ask(text: str) -> str:
            return interrupt(text)

        @tool
        def mail(text: str) -> str:
            interrupt(text)
            open("mail", "a").write(text)

        @tool
        def pay(text: str) -> str:
            open("paid", "a").write(text)

        @tool
        def save(text: str) -> str:
            open("a", "w").write(text)  # hitl: idempotent

        @tool
        def log(text: str) -> str:
            open("log", "a").write(text)

        builder = StateGraph(State).add_node("t", ToolNode([{}]))
        """


@pytest.mark.parametrize(
    ("tools", "said", "again"),
    [
        ("mail, pay", "mail asks, and pay acts in the same ToolNode.", {"t/pay"}),
        ("mail, pay, log", "mail asks, and pay and log act in the same ToolNode.", {"t/pay", "t/log"}),
        ("ask, mail", "ask and mail ask, and stand in one ToolNode.", {"t/mail"}),
        ("ask, mail, pay", "ask and mail ask, and pay acts in the same ToolNode.", {"t/mail", "t/pay"}),
        (
            "ask, mail, pay, log",
            "ask and mail ask, and pay and log act in the same ToolNode.",
            {"t/mail", "t/pay", "t/log"},
        ),
        ("mail, save", "", set()),
        ("mail", "", set()),
        ("pay, log", "", set()),
    ],
)
def test_tools_that_an_answer_to_another_runs_again_are_named_and_no_good_ones(
    tmp_path: Path, tools: str, said: str, again: set[str]
) -> None:
    report = checked(tmp_path, TOGETHER.replace("{}", tools))
    assert [f.message for f in report.findings if f.rule.id == "HT008"] == ([said] if said else [])
    assert {row.node for row in report.rows if row.verdict == "happens again"} == again


def test_static_breakpoints_of_a_subgraph_are_questions_too(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import httpx

        child = StateGraph(State).add_node("work", lambda state: {}).add_edge(START, "work")
        child = child.compile(interrupt_before=["work"])

        def parent(state):
            httpx.post("http://x")  # fault: HT007
            return child.invoke(state)

        StateGraph(State).add_node("parent", parent)
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")


def test_clearing_is_a_fault_in_a_subgraph_that_asks_only(tmp_path: Path) -> None:
    source = """
        def clear(state):
            return {"messages": []}

        def ask(state):
            return {"messages": [%s]}

        inner = StateGraph(MessagesState).add_node("clear", clear).add_node("ask", ask)
        inner.add_edge(START, "%s")
        graph = %s
        """
    nested = 'StateGraph(MessagesState).add_node("inner", inner.compile())'
    assert rules(checked(tmp_path, source % ("interrupt('?')", "clear", nested))) == ["HT010"]
    assert rules(checked(tmp_path, source % ("'x'", "clear", nested))) == []
    assert rules(checked(tmp_path, source % ("interrupt('?')", "ask", nested))) == []
    assert rules(checked(tmp_path, source % ("interrupt('?')", "clear", "inner.compile()"))) == []


def test_a_retry_policy_of_the_node_is_no_handler(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        from langgraph.types import RetryPolicy

        def ask(state):
            return {"name": interrupt("?")}

        builder = StateGraph(State)
        builder.add_node("ask", ask, retry_policy=RetryPolicy(retry_on=Exception))
        """,
    )
    assert rules(report) == []
    assert [row.interrupts for row in report.rows] == [True]


def test_the_old_way_to_ask_is_a_question_too(tmp_path: Path) -> None:
    body = "from langgraph.errors import NodeInterrupt\nopen('a', 'w')  # fault: HT006\nraise NodeInterrupt('?')"
    assert found(node(tmp_path, body)) == marked(tmp_path / "agent.py")


def test_aliases_of_interrupt_are_known(tmp_path: Path) -> None:
    for start, call in (
        ("import langgraph.types", "langgraph.types.interrupt('?')"),
        ("import langgraph.types as t", "t.interrupt('?')"),
        ("from langgraph import types", "types.interrupt('?')"),
        ("from langgraph.types import *", "interrupt('?')"),
        ("from langgraph.types import interrupt as stop", "stop('?')"),
        ("from langgraph.types import interrupt\nask_for = interrupt", "ask_for('?')"),
    ):
        body = f"try:\n    {call}\nexcept Exception:\n    pass"
        assert rules(node(tmp_path, f"{start}\n---\n{body}")) == ["HT001"], start


def test_a_graph_that_is_called_as_a_thread_of_its_own_asks_nobody(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        def ask(state):
            return {"name": interrupt("?")}

        def work(state):
            return {}

        asking = StateGraph(State).add_node(ask).add_edge(START, "ask").compile()
        working = StateGraph(State).add_node(work).add_edge(START, "work").compile()

        def own(state):
            return asking.invoke(state, {"configurable": {"thread_id": "7"}})  # fault: HT016

        def own_with_more(state, config):
            return asking.invoke(state, {**config, "configurable": {"thread_id": "7"}})  # fault: HT016

        async def own_in_words(state):
            config = dict(configurable=dict(thread_id=state["name"]))
            return await asking.ainvoke(state, config=config)  # fault: HT016

        def with_all_it_was_given(state, config):
            return asking.invoke(state, {"configurable": {**config["configurable"], "thread_id": "7"}})

        def with_other_settings(state):
            return asking.invoke(state, {"recursion_limit": 5, "configurable": {"user": "a"}})

        def asks_nothing(state):
            return working.invoke(state, {"configurable": {"thread_id": "7"}})

        nodes = [own, own_with_more, own_in_words, with_all_it_was_given, with_other_settings, asks_nothing]
        graph = StateGraph(State).add_sequence(nodes).compile()

        def main():
            graph.invoke({"name": "a"}, {"configurable": {"thread_id": "1"}})
        """,
    )
    assert found(report) == marked(tmp_path / "agent.py")


def test_a_function_of_that_name_is_not_langgraphs(tmp_path: Path) -> None:
    report = checked(
        tmp_path,
        """
        import subprocess

        def interrupt(pid):
            subprocess.run(["kill", str(pid)], check=True)

        class Robot:
            def interrupt(self, why):
                return why

        def stop(state):
            try:
                Robot().interrupt("?")
                interrupt(7)
            except Exception:
                pass

        StateGraph(State).add_node(stop)
        """,
    )
    assert rules(report) == []
    assert not any(row.interrupts for row in report.rows)
