"""Stored values as plain JSON: whatever a store holds, nothing it names is imported, built or called (I9)."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import deque, namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import UUID

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Interrupt, Overwrite, Send
from pydantic import BaseModel, SecretStr

from hitl_tui.threads.value_decoder import DEEPEST, TYPE, Snapshot, Unreadable, load

SERIALIZER = JsonPlusSerializer()
Point = namedtuple("Point", "x y")


class Colour(Enum):
    RED = "red"


class Account(BaseModel):
    owner: str
    opened: datetime
    pin: SecretStr


@dataclass
class Amount:
    value: int
    parts: tuple[int, ...]


def through(value: Any) -> Any:
    """Return a value as LangGraph stores it and we read it."""
    return load(*SERIALIZER.dumps_typed(value))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}),
        ({2: "two", None: "none", True: "yes"}, {"2": "two", "null": "none", "true": "yes"}),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (UUID("12345678123456781234567812345678"), "12345678-1234-5678-1234-567812345678"),
        (Decimal("1.50"), "1.50"),
        (Path("/var/log"), "/var/log"),
        (ip_address("10.0.0.1"), "10.0.0.1"),
        ({3, 1, 2, 10}, [1, 2, 3, 10]),
        (deque([1, 2]), [1, 2]),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (b"abc", {TYPE: "bytes", "length": 3, "base64": "YWJj"}),
        (Colour.RED, {TYPE: f"{__name__}.Colour", "value": "red"}),
        (Point(1, 2), {TYPE: f"{__name__}.Point", "x": 1, "y": 2}),
        (Amount(1, (2, 3)), {TYPE: f"{__name__}.Amount", "value": 1, "parts": [2, 3]}),
        (Send("work", {"n": 1}), {TYPE: "langgraph.types.Send", "value": ["work", {"n": 1}]}),
        (None, None),
    ],
)
def test_values_are_shown_as_their_data(value: Any, shown: Any) -> None:
    assert through(value) == shown


def test_messages_are_role_and_content() -> None:
    said = [
        HumanMessage("hi", id="1"),
        AIMessage("calling", tool_calls=[{"name": "pay", "args": {"n": 1}, "id": "c"}]),
        ToolMessage("paid", tool_call_id="c"),
    ]
    human, ai, tool = through(said)
    assert human == {"role": "human", "content": "hi", "id": "1"}
    assert (ai["role"], ai["content"], ai["tool_calls"][0]["args"]) == ("ai", "calling", {"n": 1})
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "c")


def test_a_model_keeps_its_name_and_hides_its_secrets() -> None:
    account = through(Account(owner="ann", opened=datetime(2026, 1, 1), pin=SecretStr("4711")))
    assert account[TYPE] == f"{__name__}.Account"
    assert (account["owner"], account["opened"]) == ("ann", "2026-01-01T00:00:00")
    assert "4711" not in json.dumps(account)


def test_a_snapshot_of_a_delta_channel_is_told_from_a_value() -> None:
    whole = through({"channel_values": {"log": _DeltaSnapshot([1]), "plain": [1]}})["channel_values"]
    assert whole == {"log": Snapshot([1]), "plain": [1]}
    assert through(_DeltaSnapshot([1])) == Snapshot([1])
    assert through({"inside": [_DeltaSnapshot([1])]}) == {"inside": [[1]]}


def test_interrupts_keep_id_and_value() -> None:
    (asked,) = through([Interrupt({"q": 1}, id="i1")])
    assert (asked["id"], asked["value"]) == ("i1", {"q": 1})
    assert through(Overwrite([1]))["value"] == [1]


def test_objects_of_older_stores_and_of_langgraph_js_are_read_from_their_json() -> None:
    kwargs = {"content": "hi", "id": "1"}
    old = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": kwargs}
    new = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": kwargs}
    uuid = {"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "args": ["12345678123456781234567812345678"]}
    values = load("json", json.dumps([old, new, uuid]))
    assert values[0] == {"role": "human", "content": "hi", "id": "1"}
    assert values[1]["role"] == "ai"
    assert values[2] == "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize("code", range(6))
def test_a_crafted_object_is_shown_and_runs_nothing(tmp_path: Path, code: int) -> None:
    mark = tmp_path / "ran"
    inside = ("os", "system", f"touch {mark}", "system")
    value = load("msgpack", ormsgpack.packb({"v": ormsgpack.Ext(code, ormsgpack.packb(inside))}))
    assert value == {"v": {TYPE: "os.system", "value": f"touch {mark}"}}
    assert not mark.exists()


def test_a_crafted_json_constructor_is_shown_and_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    crafted = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [f"touch {mark}"]}
    assert load("json", json.dumps(crafted)) == {TYPE: "os.system", "value": f"touch {mark}"}
    assert not mark.exists()


class _Touches:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("kind", ["pickle", None, ""])
def test_a_pickle_stays_closed(tmp_path: Path, kind: str | None) -> None:
    mark = tmp_path / "ran"
    with pytest.raises(Unreadable, match="pickle"):
        load(kind, pickle.dumps(_Touches(mark), protocol=2))
    assert not mark.exists()


def test_nothing_that_a_store_names_is_imported() -> None:
    program = (
        "import sys, ormsgpack; from hitl_tui.threads.value_decoder import load\n"
        "ext = ormsgpack.Ext(5, ormsgpack.packb(('turtle', 'Turtle', {'a': 1}, 'x')))\n"
        "print(load('msgpack', ormsgpack.packb([ext])), 'turtle' in sys.modules, 'langgraph' in sys.modules,\n"
        "      'langchain_core' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("}]")[1].split() == ["False", "False", "False"]


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("msgpack+aes", b"xxxx", "encrypted (aes)"),
        ("avro", b"xxxx", 'unknown format "avro"'),
        ("msgpack", b"\xdd\xff\xff\xff\xff", "broken"),
        ("msgpack", b"\x91" * 5_000 + b"\xc0", "broken"),
        ("json", b"[" * 100_000, "broken"),
        ("json", b"\xff\xfe", "broken"),
        ("json", b"1" * 5_000, "broken"),
    ],
)
def test_what_cant_be_read_says_why(kind: str, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        load(kind, data)
    assert why in str(caught.value)


def test_nesting_ends_somewhere() -> None:
    shown = json.dumps(load("msgpack", b"\x91" * DEEPEST * 3 + ormsgpack.packb("bottom")))
    assert "bottom" not in shown
    assert "nested deeper" in shown
    data = ormsgpack.packb("bottom")
    for _ in range(500):
        data = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["m", "N", ormsgpack.Ext(9, data)])))
    assert "bottom" not in json.dumps(load("msgpack", data))
    for _ in range(500):
        data = ormsgpack.packb(ormsgpack.Ext(7, data))
    assert isinstance(load("msgpack", data), Snapshot)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    # Surrogates can't be stored.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_json_is_read_as_it_was_stored(value: Any) -> None:
    if not (isinstance(value, dict) and "channel_values" in value):
        assert through(value) == value


@given(st.binary(max_size=200), st.sampled_from(["msgpack", "json", None, "bytes", "null"]))
def test_any_bytes_give_json_or_a_reason(data: bytes, kind: str | None) -> None:
    try:
        value = load(kind, data)
    except Unreadable as error:
        assert str(error)
    else:
        json.dumps(value.value if isinstance(value, Snapshot) else value, allow_nan=False, default=_snapshot)


def _snapshot(value: Any) -> Any:
    assert isinstance(value, Snapshot)
    return value.value
