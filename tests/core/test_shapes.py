"""Which form an interrupt has, what answers it, and what is refused (I2)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shape_support import MAIL, SCHEMAS, batch, call, inbox, json_values, payloads

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import declared_value, option_words, read, read_as
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import PLACES, Form, Shape, ShapeKind, commands_of, shape_document
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import translate, using

APPROVAL = {
    "type": "tool_approval",
    "tool_call_id": "c1",
    "name": "send_mail",
    "args": {"to": "kim@example.org", "body": MAIL},
    "description": "Tool execution requires approval",
}
ACTION = {"action": "send_email", "to": "a@b.c", "subject": "Hi", "urgent": False, "message": "Send this mail?"}

EXAMPLES: dict[ShapeKind, Any] = {
    ShapeKind.TOOL_APPROVAL: APPROVAL,
    ShapeKind.TOOL_BATCH: batch([call(to="a"), call("ask")], [["approve", "edit", "reject"], ["respond"]]),
    ShapeKind.AGENT_INBOX: [inbox(content=MAIL)],
    ShapeKind.ELICITATION: {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Who are you?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        },
    },
    ShapeKind.OPTIONS: {"question": "Colour?", "options": ["red", {"label": "Green one", "value": 3}], "default": 3},
    ShapeKind.ACTION: ACTION,
    ShapeKind.REVIEW: {"instruction": "Review this", "content": MAIL},
    ShapeKind.YES_NO: {"question": "Delete 10,000 records?", "table": "logs"},
    ShapeKind.PROMPT: "How old are you?",
    ShapeKind.OTHER: {"foo": [1, {"bar": None}]},
}


DECLARED: dict[ShapeKind, tuple[Any, dict[str, Any]]] = {
    ShapeKind.SCHEMA: ({"question": "Book?"}, {"type": "object", "properties": {"guests": {"type": "integer"}}}),
    ShapeKind.BREAKPOINT: (
        {"breakpoint": "before", "nodes": ["send"], "next": ["send"]},
        {"type": "object", "properties": {"action": {"enum": ["continue", "step"]}}, "required": ["action"]},
    ),
}
"""Forms that only the schema of the answer tells."""


def example(kind: ShapeKind) -> Shape:
    """Return a shape of each kind that there is; a new one needs an example."""
    return recognise(*DECLARED[kind]) if kind in DECLARED else recognise(EXAMPLES[kind])


@pytest.mark.parametrize("kind", ShapeKind)
def test_each_form_is_recognised(kind: ShapeKind) -> None:
    shape = example(kind)
    assert shape.kind is kind
    assert shape.question.isprintable()
    assert all(a.place == PLACES[a.name] for a in shape.actions)


@pytest.mark.parametrize("kind", ShapeKind)
def test_the_actions_of_each_form_have_korean_labels(kind: ShapeKind) -> None:
    with using("ko"):
        assert not [a.label for a in example(kind).actions if translate(a.label) == a.label]


def test_a_graphs_own_word_for_an_action_stays_and_one_that_we_have_is_translated() -> None:
    schema = {"oneOf": [{"properties": {"type": {"const": name}}} for name in ("approve", "deny")]}
    with using("ko"):
        assert [translate(action.label) for action in recognise("Go on?", schema).actions] == ["승인", "Deny"]


@pytest.mark.long
@given(payloads, st.none() | json_values | st.sampled_from(SCHEMAS))
@settings(max_examples=300)
def test_recognising_is_total(value: Any, schema: Any) -> None:
    shape = recognise(value, schema)
    assert "\n" not in shape.question
    assert len({a.place for a in shape.actions}) == len(shape.actions), "two actions in one place"
    json.dumps(shape_document(shape))
    assert all(command.startswith("/answer todo_001 ") for command in commands_of(shape, "todo_001").values())


def _payload(shape: Shape, name: str, data: st.DataObject) -> Any:
    """Draw what an action's form could give."""
    wants = shape.possible(name).wants
    if wants.form is Form.TEXT:
        return data.draw(st.text(min_size=1).filter(str.strip))
    if wants.form is Form.OPTIONS:
        return data.draw(st.sampled_from([o.value for o in wants.options]))
    if wants.form is Form.FIELDS:
        return {**dict(wants.present or {}), **({} if wants.schema is None else {"n": 1})}
    if wants.form is Form.VALUE:
        return wants.present if wants.present is not None else data.draw(json_values)
    if wants.form is Form.PARTS:
        names = [data.draw(st.sampled_from([a.name for a in p.actions if not a.why_not])) for p in shape.parts]
        return [(n, _payload(p, n, data)) for n, p in zip(names, shape.parts, strict=True)]
    return None


@pytest.mark.long
@given(payloads, st.data())
@settings(max_examples=300)
def test_every_answer_that_an_action_makes_passes_the_check(value: Any, data: st.DataObject) -> None:
    shape = recognise(value)
    for action in shape.actions:
        if action.why_not:
            with pytest.raises(BadInput):
                shape.answer(action.name)
            continue
        payload = _payload(shape, action.name, data)
        try:
            made = shape.answer(action.name, payload)
        except BadInput:
            # a yes-or-no refuses texts that read as one, and a null option can't be told from none
            assert shape.kind in (ShapeKind.YES_NO, ShapeKind.ACTION) or payload is None
            continue
        shape.check(made, action.name)


@pytest.mark.long
@given(st.sampled_from(SCHEMAS), json_values)
@settings(max_examples=300)
def test_with_a_schema_only_what_fits_it_passes(schema: dict[str, Any], value: Any) -> None:
    from jsonschema import Draft202012Validator

    shape = recognise("What?", schema)
    if Draft202012Validator(schema).is_valid(value):
        shape.check(value)
    else:
        with pytest.raises(BadInput):
            shape.check(value)


SENT = [
    (ShapeKind.TOOL_APPROVAL, "approve", {"type": "approve"}),
    (ShapeKind.TOOL_APPROVAL, "reject too expensive", {"type": "reject", "message": "too expensive"}),
    (ShapeKind.TOOL_APPROVAL, 'reject "too expensive"', {"type": "reject", "message": "too expensive"}),
    (ShapeKind.TOOL_APPROVAL, "reject 'too' dear", {"type": "reject", "message": "'too' dear"}),
    (ShapeKind.TOOL_APPROVAL, "reject", {"type": "reject"}),
    (ShapeKind.TOOL_APPROVAL, "respond it was sent", {"type": "respond", "message": "it was sent"}),
    (
        ShapeKind.TOOL_APPROVAL,
        "edit to=lee@example.org",
        {"type": "edit", "edited_action": {"name": "send_mail", "args": {"to": "lee@example.org", "body": MAIL}}},
    ),
    (
        ShapeKind.TOOL_APPROVAL,
        "edit +urgent=true",
        {
            "type": "edit",
            "edited_action": {
                "name": "send_mail",
                "args": {"to": "kim@example.org", "body": MAIL, "urgent": True},
            },
        },
    ),
    (
        ShapeKind.TOOL_APPROVAL,
        'edit {"to": "x"}',
        {"type": "edit", "edited_action": {"name": "send_mail", "args": {"to": "x"}}},
    ),
    (
        ShapeKind.TOOL_BATCH,
        "1 reject 'why not' 2 respond blue",
        {"decisions": [{"type": "reject", "message": "why not"}, {"type": "respond", "message": "blue"}]},
    ),
    (
        ShapeKind.TOOL_BATCH,
        '1 reject "not 2 approve" 2 respond "it\'s \\"blue\\""',
        {
            "decisions": [
                {"type": "reject", "message": "not 2 approve"},
                {"type": "respond", "message": 'it\'s "blue"'},
            ]
        },
    ),
    (
        ShapeKind.TOOL_BATCH,
        "1 reject why not 2 respond blue",
        {"decisions": [{"type": "reject", "message": "why not"}, {"type": "respond", "message": "blue"}]},
    ),
    (
        ShapeKind.TOOL_BATCH,
        "2 respond 3 reasons, 1 approve",
        {"decisions": [{"type": "approve"}, {"type": "respond", "message": "3 reasons"}]},
    ),
    (
        ShapeKind.TOOL_BATCH,
        '[{"type": "approve"}, {"type": "respond", "message": ""}]',
        {"decisions": [{"type": "approve"}, {"type": "respond", "message": ""}]},
    ),
    (ShapeKind.AGENT_INBOX, "accept", [{"type": "accept", "args": None}]),
    (ShapeKind.AGENT_INBOX, "ignore", [{"type": "ignore", "args": None}]),
    (ShapeKind.AGENT_INBOX, "respond hello there", [{"type": "response", "args": "hello there"}]),
    (
        ShapeKind.AGENT_INBOX,
        "edit content=short",
        [{"type": "edit", "args": {"action": "reply", "args": {"content": "short"}}}],
    ),
    (ShapeKind.ELICITATION, "name=Kim", {"action": "accept", "content": {"name": "Kim"}}),
    (ShapeKind.ELICITATION, "decline", {"action": "decline"}),
    (ShapeKind.ELICITATION, "cancel", {"action": "cancel"}),
    (ShapeKind.OPTIONS, "red", "red"),
    (ShapeKind.OPTIONS, "green ONE", 3),
    (ShapeKind.OPTIONS, "1", "red"),
    (ShapeKind.OPTIONS, "3", 3),
    (ShapeKind.OPTIONS, "approve", 3),
    (ShapeKind.ACTION, "approve", {"action": "approve"}),
    (
        ShapeKind.ACTION,
        "edit subject='New one' urgent=true",
        {"action": "approve", "subject": "New one", "urgent": True},
    ),
    (ShapeKind.ACTION, "reject", {"action": "reject"}),
    (ShapeKind.ACTION, "respond later", {"action": "later"}),
    (ShapeKind.REVIEW, "keep", MAIL),
    (ShapeKind.REVIEW, "edit 30", "30"),
    (ShapeKind.REVIEW, "Dear Lee,\n\nno.", "Dear Lee,\n\nno."),
    (ShapeKind.YES_NO, "yes", True),
    (ShapeKind.YES_NO, "no", False),
    (ShapeKind.YES_NO, "아니요", False),
    (ShapeKind.YES_NO, "false", False),
    (ShapeKind.YES_NO, "respond half of them", "half of them"),
    (ShapeKind.PROMPT, "30", 30),
    (ShapeKind.PROMPT, '"30"', "30"),
    (ShapeKind.PROMPT, "approve", "approve"),
    (ShapeKind.PROMPT, "reject it", "reject it"),
    (ShapeKind.PROMPT, "null", None),
    (ShapeKind.OTHER, '{"x": [1]}', {"x": [1]}),
    (ShapeKind.OTHER, "no idea", "no idea"),
]


@pytest.mark.parametrize(("kind", "text", "sent"), SENT)
def test_what_is_written_is_what_is_sent(kind: ShapeKind, text: str, sent: Any) -> None:
    found = read(recognise(EXAMPLES[kind]), text).value
    assert json.dumps(found, sort_keys=True) == json.dumps(sent, sort_keys=True)


REFUSED = [
    (ShapeKind.TOOL_APPROVAL, "maybe", "doesn't answer this"),
    (ShapeKind.TOOL_APPROVAL, "respond", "needs words"),
    (ShapeKind.TOOL_APPROVAL, "approve it", "takes nothing"),
    (ShapeKind.TOOL_APPROVAL, "edit too=x", 'No field "too"'),
    (ShapeKind.TOOL_APPROVAL, "edit", "needs the change"),
    (ShapeKind.ACTION, "edit subject=New one urgent=true", 'needs quotation marks: subject="New one"'),
    (ShapeKind.TOOL_APPROVAL, "to=x", "doesn't answer this"),
    (ShapeKind.TOOL_APPROVAL, '{"type": "ok"}', "one of the types approve, edit, reject, respond"),
    (ShapeKind.TOOL_APPROVAL, '{"type": "edit"}', "edited_action"),
    (ShapeKind.TOOL_APPROVAL, '{"type": "edit", "edited_action": {"name": "rm", "args": {}}}', "keep the tool's name"),
    (ShapeKind.TOOL_APPROVAL, '{"type": "respond"}', "message"),
    (ShapeKind.TOOL_APPROVAL, '{"type": "reject", "message": 3}', "text as message"),
    (ShapeKind.TOOL_APPROVAL, '{"decisions": []}', "types"),
    (ShapeKind.TOOL_BATCH, "1 approve", "none is given for 2"),
    (ShapeKind.TOOL_BATCH, "1 approve 2 reject", "doesn't allow reject"),
    (ShapeKind.TOOL_BATCH, "approve", "one by one"),
    (ShapeKind.TOOL_BATCH, '{"type": "approve"}', '"decisions"'),
    (ShapeKind.TOOL_BATCH, '{"decisions": [{"type": "approve"}]}', "but it has 1"),
    (ShapeKind.TOOL_BATCH, '{"decisions": [{"type": "respond", "message": "x"}, {"type": "approve"}]}', "Decision 1"),
    (ShapeKind.TOOL_BATCH, "9 approve 1 reject", "No call 9"),
    (ShapeKind.AGENT_INBOX, '{"type": "accept"}', "a list"),
    (ShapeKind.AGENT_INBOX, '[{"type": "accept", "args": {"action": "reply", "args": {}}}]', "must be edit"),
    (ShapeKind.AGENT_INBOX, '[{"type": "response", "args": null}]', "text as args"),
    (ShapeKind.AGENT_INBOX, "reject", "doesn't answer this"),
    (ShapeKind.ELICITATION, '{"action": "accept", "content": {}}', "lacks name"),
    (ShapeKind.OPTIONS, "blue", "No option"),
    (ShapeKind.OPTIONS, "4", "No option"),
    (ShapeKind.ACTION, "edit foo=1", 'No field "foo"'),
    (ShapeKind.ACTION, '{"action": "approve", "subjet": "x"}', 'No field "subjet"'),
    (ShapeKind.ACTION, '{"action": "approve", "urgent": "no"}', "true or false"),
    (ShapeKind.ACTION, "true", '"action"'),
    (ShapeKind.YES_NO, "maybe", "doesn't answer this"),
    (ShapeKind.YES_NO, '"no"', "yes or no"),
    (ShapeKind.YES_NO, "1", "yes or no"),
    (ShapeKind.YES_NO, "respond no", "would count as true"),
    (ShapeKind.PROMPT, '{"a": }', "valid JSON"),
]


@pytest.mark.parametrize(("kind", "text", "why"), REFUSED)
def test_what_does_not_answer_is_refused_in_one_sentence(kind: ShapeKind, text: str, why: str) -> None:
    with pytest.raises(BadInput) as error:
        read(recognise(EXAMPLES[kind]), text)
    assert why in error.value.message
    assert "\n" not in error.value.message


_written = st.text(max_size=40) | st.builds(
    lambda word, rest: f"{word} {rest}",
    st.sampled_from(["approve", "edit", "reject", "respond", "1 approve 2", "yes", "ignore", "accept"]),
    st.text(max_size=20) | json_values.map(json.dumps) | st.just('n=1 tags=["a"] to=x'),
)


@pytest.mark.long
@given(payloads, _written, st.none() | st.sampled_from(SCHEMAS))
@settings(max_examples=400)
def test_whatever_is_written_is_sent_or_refused(value: Any, text: str, schema: Any) -> None:
    shape = recognise(value, schema)
    try:
        found = read(shape, text)
    except BadInput as error:
        assert error.message
        return
    shape.check(found.value, found.action)


def test_an_inbox_request_may_be_a_json_text() -> None:
    shape = recognise(json.dumps(inbox(content="x")))
    assert shape.kind is ShapeKind.AGENT_INBOX
    assert shape.answer("approve") == [{"type": "accept", "args": None}], "the answer is a list always"


def test_only_what_is_allowed_is_offered_and_the_rest_says_why() -> None:
    (single,) = [recognise(batch([call(to="a")], [["approve"]]))]
    offered = {a.name: a.why_not for a in single.actions}
    assert offered.pop("approve") == ""
    assert set(offered) == {"edit", "reject", "respond"}
    assert all("doesn't allow" in why for why in offered.values())
    assert single.answer("approve") == {"decisions": [{"type": "approve"}]}


def test_refusing_and_answering_for_a_tool_are_kept_apart_in_words() -> None:
    shape = recognise(APPROVAL)
    reject, respond = shape.action("reject"), shape.action("respond")
    assert reject is not None and "doesn't run" in reject.meaning
    assert respond is not None and "successful result" in respond.meaning
    assert respond.wants.required and not reject.wants.required


def test_a_tool_that_nobody_knows_is_high_risk_and_a_question_is_not() -> None:
    assert recognise(APPROVAL).risk == "high"
    assert recognise(ACTION).risk == "high"
    assert recognise("How old are you?").risk == ""


def test_a_question_that_yes_or_no_cannot_answer_takes_a_value() -> None:
    assert recognise({"question": "What is your name?"}).kind is ShapeKind.PROMPT
    assert recognise({"question": "이름을 입력하세요"}).kind is ShapeKind.PROMPT
    assert recognise({"question": "Which files go? All of them. Delete?"}).kind is ShapeKind.YES_NO


def test_a_breakpoint_goes_on_or_takes_one_step() -> None:
    schema = {"type": "object", "properties": {"action": {"enum": ["continue", "step"]}}, "required": ["action"]}
    shape = recognise({"breakpoint": "before", "nodes": ["send"], "next": ["send"]}, schema)
    assert shape.kind is ShapeKind.BREAKPOINT
    assert shape.answer("approve") == {"action": "continue"}
    assert read(shape, "step").value == {"action": "step"}


def test_arguments_are_shown_whole() -> None:
    shape = recognise(batch([call(to="a", body=MAIL), call("sql", query="SELECT 1\nFROM t")], [["approve"]] * 2))
    shown = [d.value for d in shape.details]
    assert MAIL in shown and "SELECT 1\nFROM t" in shown
    assert [d.label for d in shape.details if d.value in ("send_mail", "sql")] == ["1 tool", "2 tool"]


@pytest.mark.parametrize(
    "question",
    [
        "Refund order 17?",
        "Pay 1250 EUR to Moulin Girard? [bold red]\x1b[31mEVIL\x1b[0m \u202eabc",
        "Send  it  (two  spaces)?",
        "환불할까요?\u200b",
    ],
)
@pytest.mark.parametrize("key", ["question", "message"])
def test_a_question_that_one_line_shows_whole_is_not_repeated_below(question: str, key: str) -> None:
    shape = recognise({key: question, "amount": 1250})
    assert shape.kind is ShapeKind.YES_NO
    assert [(d.label, d.value) for d in shape.details] == [("amount", 1250)]
    assert shape.question == safe_text(question)


def test_a_question_of_several_lines_is_called_by_its_first_and_shown_whole_once() -> None:
    text = "Delete these?\n- a.txt\n- b.txt"
    shape = recognise({"question": text})
    assert shape.question == "Delete these? …"
    assert [d.value for d in shape.details] == [text]


def test_the_number_of_an_option_never_gives_the_one_that_is_called_so() -> None:
    shape = recognise({"question": "Which row?", "options": ["2", "1", "respond"]})
    assert [read(shape, word).value for word in option_words(shape)] == ["2", "1", "respond"]
    assert read(shape, "1").value == "1" and read(shape, "#1").value == "2"
    assert read(shape, "respond").value == "respond" and read(shape, "respond 3").value == "respond"


BATCH = {
    "action_requests": [{"name": "pay", "args": {"eur": 1}}, {"name": "mail", "args": {"to": "bob"}}],
    "review_configs": [
        {"action_name": name, "allowed_decisions": ["approve", "edit", "reject"]} for name in ("pay", "mail")
    ],
}
MIXED = {
    "decisions": [
        {"type": "edit", "edited_action": {"name": "pay", "args": {"eur": 2}}},
        {"type": "reject", "message": "not him"},
    ]
}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("each", "1 edit eur=2 2 reject not him"),
        ("each", json.dumps(MIXED)),
        ("each", json.dumps(MIXED["decisions"])),
        ("edit", json.dumps(MIXED)),
        ("respond", "1 edit eur=2 2 reject not him"),
    ],
)
def test_a_batch_is_decided_call_by_call_whichever_word_says_so(word: str, text: str) -> None:
    shape = recognise(BATCH)
    assert read_as(shape, word, text).value == read(shape, f"{word} {text}").value == MIXED


def test_who_gives_several_calls_one_answer_is_told_how_each_gets_its_own() -> None:
    for word in ("edit", "respond", "each"):
        with pytest.raises(BadInput, match="1 approve 2 reject too expensive"):
            read_as(recognise(BATCH), word, "eur=2")


def test_a_whole_answer_is_taken_as_a_response_to_one_call_too() -> None:
    shape = recognise({**BATCH, "action_requests": BATCH["action_requests"][:1]})
    answer = {"decisions": [{"type": "approve"}]}
    assert read_as(shape, "respond", json.dumps(answer)).value == answer
    with pytest.raises(BadInput, match="doesn't allow respond"):
        read_as(shape, "respond", "yes")


def test_nothing_is_approved_where_something_is_chosen() -> None:
    shape = recognise({"question": "Which?", "options": ["a", "b"]})
    assert [action.name for action in shape.actions] == ["respond"]
    with pytest.raises(BadInput, match="1 a, 2 b"):
        read_as(shape, "approve", "")


@pytest.mark.parametrize(
    ("value", "question", "shown"),
    [
        (
            {"essay": "All cats purr.", "action": "Please approve/reject the essay"},
            "Please approve/reject the essay",
            ["essay"],
        ),
        ({"query": "How do I build an agent?"}, "How do I build an agent?", []),
        ({"description": "Deletes 3 files", "action": "delete"}, "Deletes 3 files", ["action"]),
        ({"draft": "Dear Ann", "n": 2}, "Dear Ann", ["draft", "n"]),
        ({"type": "review", "state": {"n": 1, "to": ["ann"]}}, "ann", ["type", "state"]),
        (["first", "second"], "first", ["value"]),
        ({"n": 2}, "The team wants an answer", ["n"]),
        ({"type": "review", "n": 2}, "The team wants an answer", ["type", "n"]),
        (None, "The team wants an answer", []),
    ],
)
@pytest.mark.parametrize("schema", [None, {"type": "no such type"}, {"type": "integer"}])
def test_what_is_of_no_known_form_is_told_by_its_own_words(
    value: Any, question: str, shown: list[str], schema: Any
) -> None:
    shape = recognise(value, schema)
    assert shape.question == question
    assert [detail.label for detail in shape.details] == shown
    assert all(action.name in ("respond", "approve") for action in shape.actions)


MAILED: dict[str, Any] = {"instruction": "Check it", "content": {"to": "ann", "subject": "About", "copies": 1}}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("edit subject=Hi", {"subject": "Hi"}),
        ('edit subject="Dear Ann" copies=2', {"subject": "Dear Ann", "copies": 2}),
        ("edit +cc=bob", {"cc": "bob"}),
    ],
)
def test_fields_of_the_content_that_was_shown_are_changed_by_name(text: str, changes: dict[str, Any]) -> None:
    shape = recognise(MAILED)
    assert read(shape, text).value == {**MAILED["content"], **changes}
    assert read(shape, 'edit {"to": "eve"}').value == {"to": "eve"}
    assert commands_of(shape, "1")["edit"] == "/answer 1 edit NAME=VALUE…"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("edit subjet=Hi", 'No field "subjet"; known: to, subject, copies'),
        ("edit copies=two", "copies must be a number, but it is a text"),
        ("edit Hi", "must be name=value, or all of it one JSON object"),
        ("edit [1]", "must be name=value, or all of it one JSON object"),
        ("edit", "needs the change"),
        ('edit {"to": "eve"', "line 1, column 13: a comma or a closing bracket is missing"),
        ('{"to" "eve"}', "line 1, column 7: a colon is missing"),
    ],
)
def test_what_changes_no_field_of_the_content_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        read(recognise(MAILED), text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "to": "ann"\n  "copies": 1\n}', "line 3, column 3: a comma is missing before this"),
        ('{"to": "ann",}', "line 1, column 1"),
        ('{"to": ann}', "line 1, column 8: a value is expected"),
        ('{"to": "ann}', "line 1, column 8: this quotation mark isn't closed"),
        ('{"to": "a\tb"}', "line 1, column 10: in a text"),
        ('{"to": 1} 2', "line 1, column 11: nothing may follow here"),
    ],
)
def test_json_that_is_not_any_says_where_and_what_is_wrong(text: str, where: str) -> None:
    """Of texts it speaks only where one is taken."""
    edit = recognise(MAILED).action("edit")
    assert edit is not None
    with pytest.raises(BadInput) as refused:
        declared_value(edit, text)
    assert where in refused.value.message and "quotation marks." not in refused.value.message
    prompt = recognise("Which?").action("respond")
    assert prompt is not None
    if text.endswith("}"):
        with pytest.raises(BadInput) as refused:
            declared_value(prompt, text)
        assert where in refused.value.message and "to send it as a text" in refused.value.message
    else:
        assert declared_value(prompt, text) == text
