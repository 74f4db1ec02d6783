"""What the last state of an attached graph says to a person."""

from __future__ import annotations

import pytest

from hitl_tui.core.json_types import Json
from hitl_tui.graphs.state_text import answer_of


def test_the_answer_stands_first_and_what_was_given_is_not_told_again() -> None:
    given: Json = {"request": "ann@example.com: it leaves on Friday"}
    state: Json = {
        "request": "ann@example.com: it leaves on Friday",
        "to": "ann@example.com",
        "text": "Hello,\n\nit leaves on Friday",
        "outcome": "Sent as outbox/001.eml.",
    }
    assert answer_of(state, given) == (
        "Sent as outbox/001.eml.\n\n- **to**: ann@example.com\n\n**text**\n\nHello,\n\nit leaves on Friday"
    )


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "# Done"}], "# Done"),
        ([{"role": "assistant", "content": "Sent."}, {"role": "tool", "content": "{}"}], "Sent."),
        ([{"role": "assistant", "content": [{"type": "text", "text": "Sent."}]}], "Sent."),
        ([{"role": "assistant", "content": "Sent."}, {"role": "assistant", "content": ""}], "Sent."),
    ],
)
def test_a_conversation_is_told_by_its_last_message(messages: Json, said: str) -> None:
    assert answer_of({"messages": messages, "remaining_steps": 3}) == said


def test_other_states_are_told_by_their_fields() -> None:
    state: Json = {
        "sent": True,
        "to": ["a", "b"],
        "hits": [{"title": "A_b", "score": 0.4}],
        "nothing": None,
        "empty": [],
        "log": '{"a": 1}\n{"b": 2}',
    }
    assert answer_of(state) == (
        "- **sent**: true\n- **to**: a, b\n- **hits**:\n  - **title**: A_b · **score**: 0.4\n\n"
        '**log**\n\n```text\n{"a": 1}\n{"b": 2}\n```'
    )


def test_fields_of_one_item_stand_at_one_level_and_a_list_of_one_is_a_list() -> None:
    items: Json = [{"name": "a", "price": 2}, {"name": "b", "parts": [1, 2]}]
    said = answer_of({"items": items, "pages": [1], "mixed": [{"none": []}, [2]]})
    assert said == (
        "- **items**:\n  - **name**: a · **price**: 2\n  - 2:\n    - **name**: b\n    - **parts**: \\[1, 2\\]\n"
        "- **pages**: \\[1\\]\n- **mixed**:\n  - 1:\n    - **none**: \\[\\]\n  - \\[2\\]"
    )


def test_a_state_is_never_poured_out_whole() -> None:
    deep: Json = {"a": {"b": {"c": {"d": {"e": "f" * 1_000}}}}}
    many: Json = {f"field {n}": list(range(1_000)) for n in range(1_000)}
    assert len(answer_of(deep)) < 400
    said = answer_of(many)
    assert len(said) < 4_000 and "… +960" in said and "… +990" in said


def test_what_a_field_says_is_no_markup_of_ours() -> None:
    said = answer_of({"name": "**x**\n", "n": "1. [here](http://example.com) <b>", "text": "# Big\n\n<b>x</b>\n" * 3})
    assert "<b>" not in said.replace("\\<b>", "")
    assert "[here](" not in said.replace("\\[here", "")
    assert "\n# " not in said and "\n## " not in said
