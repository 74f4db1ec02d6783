"""Short nodes with one fault each, and some with none, written without a look at the rules (I6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import found, marked, node

FAULTY = {
    "exit true": (
        "class Quiet:\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *exc): return True\n"
        "---\n"
        "with Quiet():\n"
        "    x = interrupt('?')  # fault: HT001"
    ),
    "except star": ("try:\n    x = interrupt('?')  # fault: HT001\nexcept* Exception:\n    x = 1"),
    "alias remove": ("from os import remove as rm\n---\nrm('a')  # fault: HT006\ninterrupt('?')"),
    "getattr post": ("import httpx\n---\ngetattr(httpx, 'post')('http://x')  # fault: HT006\ninterrupt('?')"),
    "comp post": ("import requests\n---\n[requests.post(u) for u in state['items']]  # fault: HT006\ninterrupt('?')"),
    "thread target": (
        "import threading, smtplib\n"
        "def send():\n"
        "    smtplib.SMTP('x').sendmail('a', 'b', 'c')  # fault: HT006\n"
        "---\n"
        "threading.Thread(target=send).start()\n"
        "interrupt('?')"
    ),
    "randint range": ("import random\n---\nfor i in range(random.randint(1, 3)):\n    interrupt(i)  # fault: HT005"),
    "aiofiles": (
        "import aiofiles\n"
        "---\n"
        "async def go():\n"
        "    async with aiofiles.open('a', 'w') as f:  # fault: HT006\n"
        "        await f.write('x')\n"
        "go()\n"
        "interrupt('?')"
    ),
    "with client": (
        "import httpx\n---\nwith httpx.Client() as c:\n    c.post('http://x')  # fault: HT006\ninterrupt('?')"
    ),
    "pydantic": (
        "from pydantic import BaseModel\nclass M(BaseModel):\n    a: int\n---\ninterrupt({'m': M(a=1)})  # fault: HT004"
    ),
    "dataclass list": (
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class D:\n"
        "    a: int\n"
        "---\n"
        "ds = [D(1), D(2)]\n"
        "interrupt({'ds': ds})  # fault: HT004"
    ),
    "dispatch dict": (
        "import shutil\n"
        "def wipe(p): shutil.rmtree(p)  # fault: HT006\n"
        "def keep(p): return p\n"
        "ACTIONS = {'wipe': wipe, 'keep': keep}\n"
        "---\n"
        "ACTIONS[state['name']]('x')\n"
        "interrupt('?')"
    ),
    "print file": ("print('x', file=open('log', 'a'))  # fault: HT006\ninterrupt('?')"),
    "csv writer": (
        "import csv\n"
        "---\n"
        "with open('a.csv', 'a') as f:  # fault: HT006\n"
        "    csv.writer(f).writerow(['x'])\n"
        "interrupt('?')"
    ),
    "s3": (
        "import boto3\n"
        "s3 = boto3.client('s3')\n"
        "---\n"
        "s3.put_object(Bucket='b', Key='k', Body=b'')  # fault: HT006\n"
        "interrupt('?')"
    ),
    "openai shown": (
        "from openai import OpenAI\n"
        "client = OpenAI()\n"
        "---\n"
        "t = client.chat.completions.create(model='m', messages=[]).choices[0].message.content  # fault: HT012\n"
        "ok = interrupt({'send': t})\n"
        "if ok:\n"
        "    return {'name': t}"
    ),
    "uuid key": (
        "import uuid\n---\nk = str(uuid.uuid4())  # fault: HT012\nif interrupt({'key': k}):\n    return {'name': k}"
    ),
    "retry loop": (
        "import time\n"
        "---\n"
        "for n in range(3):\n"
        "    try:\n"
        "        x = interrupt('?')  # fault: HT001\n"
        "        break\n"
        "    except Exception:\n"
        "        time.sleep(1)"
    ),
    "exitstack": (
        "import contextlib\n"
        "---\n"
        "with contextlib.ExitStack() as stack:\n"
        "    stack.enter_context(contextlib.suppress(Exception))\n"
        "    interrupt('?')  # fault: HT001"
    ),
    "nested node fn": (
        "import httpx\n"
        "---\n"
        "def charge():\n"
        "    return httpx.post('http://pay')  # fault: HT006\n"
        "def confirm():\n"
        "    return interrupt('?')\n"
        "charge()\n"
        "return {'name': confirm()}"
    ),
    "global list": ("LOG = []\n---\nLOG.append(state['name'])  # fault: HT006\ninterrupt('?')"),
    "vars set field": ("names = dict.fromkeys(set(state['items']))\nfor n in names:\n    interrupt(n)  # fault: HT003"),
    "intersection": ("A = {'x', 'y'}\n---\nfor n in A & set(state['items']):\n    interrupt(n)  # fault: HT003"),
    "set method": ("s = set(state['items'])\nfor n in s.difference({'x'}):\n    interrupt(n)  # fault: HT003"),
    "as completed": (
        "import asyncio\n"
        "async def f(x): return x\n"
        "---\n"
        "for t in asyncio.as_completed([f(1), f(2)]):\n"
        "    interrupt(str(t))  # fault: HT003"
    ),
    "shelve": (
        "import shelve\n"
        "---\n"
        "with shelve.open('a') as s:  # fault: HT006\n"
        "    s['n'] = s.get('n', 0) + 1\n"
        "interrupt('?')"
    ),
}

GOOD = {
    "exit logs": (
        "class Loud:\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *exc): print(exc)\n"
        "---\n"
        "with Loud():\n"
        "    x = interrupt('?')"
    ),
    "enum value ok": (
        "from enum import Enum\n"
        "class E(Enum):\n"
        "    A = 'a'\n"
        "---\n"
        "interrupt({'e': E.A.value, 'all': [e.value for e in E]})"
    ),
    "raise from ok": (
        "try:\n    x = int(interrupt('?'))\nexcept ValueError as e:\n    raise RuntimeError('no number') from e"
    ),
    "else ok": (
        "import json\n"
        "---\n"
        "try:\n"
        "    d = json.loads(state['name'])\n"
        "except Exception:\n"
        "    d = {}\n"
        "else:\n"
        "    d = interrupt(d)"
    ),
    "time sleep ok": ("import time\n---\ntime.sleep(0.1)\ninterrupt('?')"),
    "tempfile ok": (
        "import tempfile, json\n---\np = json.dumps({'a': 1})\ninterrupt({'p': p, 'n': len(state['items'])})"
    ),
    "sorted keys ok": ("d = {'b': 1, 'a': 2}\nfor k in sorted(d):\n    interrupt({'k': k, 'v': d[k]})"),
    "enumerate const ok": (
        "Q = ['a?', 'b?']\n---\nout = [interrupt({'n': n, 'q': q}) for n, q in enumerate(Q)]\nreturn {'items': out}"
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_found_in_its_line(tmp_path: Path, name: str) -> None:
    report = node(tmp_path, FAULTY[name])
    wanted = marked(tmp_path / "agent.py")
    assert wanted
    assert wanted <= found(report)


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path, name: str) -> None:
    assert found(node(tmp_path, GOOD[name])) == set()
