"""Messages: English by themselves, another language by translate, and what stands in them exactly as it came."""

from __future__ import annotations

import ast
import copy
import functools
import gettext
import json
import pickle
import re
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hitl_tui
from hitl_tui.core.json_text import canonical
from hitl_tui.core.messages import MESSAGES, Message, counted_message, messages_restored, with_messages
from hitl_tui.language import translate, using
from hitl_tui.language.catalogue import catalogue_path

ROOT = Path(hitl_tui.__file__).parent
EFFECT = "{effect} comes before {question} in line {line}."


@functools.cache
def _calls(name: str) -> list[tuple[str, ast.Call]]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if name in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name and path.name != "messages.py":
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def _places(template: str) -> list[str]:
    """Return the places of a template; those without a name are numbered in their order."""
    names = [name for _text, name, _form, _kind in Formatter().parse(template) if name is not None]
    return [name or str(number) for number, name in enumerate(names)]


@functools.cache
def _own_templates() -> list[str]:
    """Return the templates of all messages of the program that take texts, not numbers written in some form."""
    literals = [node.args[0] for _place, node in _calls("Message") if node.args]
    texts = {arg.value for arg in literals if isinstance(arg, ast.Constant)}
    templates = (text for text in texts if "{" not in text or re.search(r"\{\w*(:[^{}\s]*)?\}", text))
    return sorted(text for text in templates if not any(form for _text, _name, form, _kind in Formatter().parse(text)))


with catalogue_path("ko").open("rb") as file:
    KOREAN = gettext.GNUTranslations(file)
_HOSTILE = [
    "{",
    "}",
    "{{",
    "{0}",
    "{effect}",
    "{__class__}",
    "{line!r:>9}",
    "%s",
    "%(effect)s",
    "%",
    "\\",
    "\n",
    "\r\n",
]
_WORDS = [
    "a set",
    "No findings",
    "note: ",
    "ok",
    "{name} in line {line}",
    "todo_003 is approved.",
    "문제 없음",
    "는",
    " ",
    "",
]
_PIECES = st.deferred(lambda: st.sampled_from([*_HOSTILE, *_WORDS, *_own_templates()]))
hostile = st.text(max_size=20) | _PIECES | st.tuples(_PIECES, st.text(max_size=5), _PIECES).map("".join)


def filled(template: str, values: dict[str, str]) -> str:
    """Return a template with values, put together from its pieces: nothing looks at the values."""
    names = iter(_places(template))
    return "".join(
        text + (values[next(names)] if name is not None else "") for text, name, _, _ in Formatter().parse(template)
    )


def test_a_message_is_its_english_sentence() -> None:
    message = Message(EFFECT, effect="os.remove", question="interrupt()", line=7)
    assert str(message) == "os.remove comes before interrupt() in line 7."
    assert message.template == EFFECT
    assert str(Message("Nothing in {} and 100 %")) == "Nothing in {} and 100 %"
    assert str(Message("{{{}}} takes {size:.1f} MB", "a", size=2)) == "{a} takes 2.0 MB"
    assert Message("{} has {}.").filled("a", 2) == "a has 2."


def test_messages_with_the_same_values_are_equal() -> None:
    one = Message("{a} {b}", a="1", b=Message("a set"))
    other = Message("{a} {b}", b=Message("a set"), a="1")
    assert one == other
    assert len({one, other, Message("{a} {b}", a="2", b="")}) == 2
    for twin in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert twin == one
        assert str(twin) == str(one)


def test_values_may_have_any_name() -> None:
    assert str(Message("{id} {self} {plural} {values}", id="a", self="b", plural="c", values="d")) == "a b c d"


def test_a_value_is_missing() -> None:
    with pytest.raises(KeyError):
        str(Message("{a} {b}", a="x"))


def test_a_number_of_things() -> None:
    def files(count: int) -> Message:
        return counted_message("{} file in {folder}", "{} files in {folder}", count, folder="src")

    assert [str(files(n)) for n in (0, 1, 2)] == ["0 files in src", "1 file in src", "2 files in src"]
    assert files(1) != files(2)
    with using("ko"):
        assert translate(counted_message("{} finding", "{} findings", 1)) == "문제 1건"


def test_messages_within_a_message_are_translated_and_texts_are_not() -> None:
    said = "The payload contains {kinds}."
    with using("ko"):
        assert translate(Message("a set")) == "집합" != "a set"
        assert translate(Message(said, kinds=(Message("a set"), Message("bytes")))).count("집합, ") == 1
        assert "a set, bytes" in translate(Message(said, kinds=("a set", "bytes")))
        inner = Message("{name} in line {line}", name="a set", line=3)
        outer = translate(Message("what {source} gives this time", source=inner))
    assert translate(Message("what {source} gives this time", source=inner)) == "what a set in line 3 gives this time"
    assert "a set" in outer
    assert "in line" not in outer


def test_a_message_without_a_translation_stays_english() -> None:
    with using("ko"):
        assert translate(Message("nobody says {this}", this="ok")) == "nobody says ok"
        assert translate(Message("")) == ""


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(template=st.deferred(lambda: st.sampled_from(_own_templates())), texts=st.lists(hostile, min_size=5, max_size=5))
def test_values_appear_unchanged_in_every_language(template: str, texts: list[str]) -> None:
    names = sorted(set(_places(template)))
    question, *others = texts
    values = dict(zip(names, others * 2, strict=False))
    numbered = [values[name] for name in names if name.isdecimal()]
    message = Message(template, *numbered, **{name: text for name, text in values.items() if not name.isdecimal()})
    outer = Message(EFFECT, effect=message, question=question, line=1)
    assert str(message) == (filled(template, values) if names else template)
    with using("ko"):
        korean, around = KOREAN.gettext(template), KOREAN.gettext(EFFECT)
        assert translate(message) == (filled(korean, values) if names else korean)
        inserted = {"effect": translate(message), "question": question, "line": "1"}
        assert translate(outer) == filled(around, inserted)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    template=st.deferred(lambda: st.sampled_from(_own_templates())), texts=st.lists(hostile, min_size=10, max_size=10)
)
def test_messages_are_the_same_after_they_were_stored(template: str, texts: list[str]) -> None:
    names = sorted(set(_places(template)))
    numbered = [texts[int(name)] for name in names if name.isdecimal()]
    named = {name: text for name, text in zip(names, texts, strict=False) if not name.isdecimal()}
    message = Message(template, *numbered, **named)
    outer = Message("{} and {}: {}", message, ("a", message), 3)
    document = {"reason": message, "list": [{"why": outer}], "a/b": message, "text": texts[0]}
    stored = json.loads(canonical(with_messages(document)))
    assert {k: v for k, v in stored.items() if k != MESSAGES} == document
    found = messages_restored(stored)
    with using("ko"):
        assert translate(found["reason"]) == translate(message)
        assert translate(found["list"][0]["why"]) == translate(outer)
        assert translate(found["text"]) == texts[0]
    assert canonical(with_messages(found)) == canonical(with_messages(document))


@pytest.mark.parametrize(
    "parts",
    [
        {"/said": ["Another sentence.", "", [], {}]},
        {"/said": ["{} is approved.", "", [], {}]},
        {"/said": ["{0.__class__}", "", ["a"], {}]},
        {"/said": ["{:>9999999999}", "", ["a"], {}]},
        {"/said": ["{:{}}", "", ["a", 9999999999], {}]},
        {"/said": ["{0}" * 100_000, "", ["a" * 100_000], {}]},
        {"/said": ["{!r}", "", ["a"], {}]},
        {"/said": ["", "{:>9999999999}", [2], {}]},
        {"/other/0": ["Nothing waits.", "", [], {}], "": [], "/said/x": None, "/said": "text"},
        {"/said": ["Nothing waits.", "", {}, []]},
        ["text"],
        "text",
    ],
)
def test_a_stored_message_that_is_not_the_text_at_its_place_is_no_message(parts: object) -> None:
    found = messages_restored({"said": "Nothing was written.", "other": ["a"], MESSAGES: parts})
    assert found["said"] == "Nothing was written."
    assert found["other"] == ["a"]
    assert type(found["said"]) is str


def test_every_message_is_written_out_and_gets_the_values_it_has_places_for() -> None:
    wrong = []
    for place, node in [*_calls("Message"), *_calls("counted_message")]:
        counted = getattr(node.func, "id", "") == "counted_message"
        texts, values = (node.args[:2], node.args[2:]) if counted else (node.args[:1], node.args[1:])
        named = {word.arg for word in node.keywords}
        if None in named or any(isinstance(value, ast.Starred) for value in values):
            continue
        given = {*map(str, range(len(values))), *named}
        for text in texts:
            if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
                wrong.append(f"{place}: the text is not a literal")
            elif given and set(_places(text.value)) != given:
                wrong.append(f"{place}: {_places(text.value)} gets {sorted(given)}")
    assert wrong == []
