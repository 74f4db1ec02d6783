"""What is approved is shown as it is: no language touches a subject, a preview, or what somebody wrote."""

from __future__ import annotations

from typing import Any

import pytest
from test_plain import question

from hitl_tui.core.messages import Message
from hitl_tui.core.requests import Kind
from hitl_tui.language import translate, using
from hitl_tui.wording.question_rows import body, details
from hitl_tui.wording.status_words import command_words
from hitl_tui.wording.text_lines import question_lines

OURS = ("Nothing was written.", "superseded", "Nothing was deleted.", "Nothing to prune.", "in_progress")
"""Sentences and words of ours, which an agent could put into its arguments."""


def asked(sentence: str, kind: Kind) -> Any:
    arguments = {
        "command": sentence,
        "parameters": {"text": sentence},
        "argv": ["echo", sentence, "todo_001"],
        "timeout": 5.0,
        "exit_codes": [0],
        "note": sentence,
    }
    subject = {"team": "command_team", "task": sentence, "arguments": arguments, "value": sentence, "effect": sentence}
    about = {"title": sentence, "risk": "high", "says": sentence, "text": sentence}
    return question(kind, subject, about, evidence={"text": f"{sentence}\n{sentence}", "exit_code": 0})


@pytest.mark.parametrize("kind", [Kind.TODO, Kind.FAILURE, Kind.EFFECT, Kind.INTERRUPT])
@pytest.mark.parametrize("sentence", OURS)
def test_nothing_of_a_subject_is_translated(sentence: str, kind: Kind) -> None:
    shown = {}
    for code in ("en", "ko"):
        with using(code):
            rows = [*body(asked(sentence, kind), "6"), *details(asked(sentence, kind), "/w")]
            exact = [row.text.plain for row in rows if row.exact]
            lines = question_lines(asked(sentence, kind), "1/1", str)
            shown[code] = exact, sum(text.count(sentence) for text in [*(row.text.plain for row in rows), *lines])
    assert shown["en"] == shown["ko"]
    assert any(sentence in text for text in shown["ko"][0])
    with using("ko"):
        assert translate(sentence) == sentence
        assert translate(Message(sentence)) != sentence


def test_what_a_person_puts_into_a_command_is_named_in_korean_and_the_command_stays() -> None:
    given = ("/todo reject todo_001 REASON", "/todo skip todo_001 [REASON]", "/answer todo_001 edit NAME=VALUE…")
    with using("ko"):
        said = [
            command_words(command)
            for command in (*given, "/answer todo_001 respond TEXT", "/answer todo_001 1 DECISION")
        ]
    assert said == [
        "/todo reject 001 이유",
        "/todo skip 001 [이유]",
        "/answer 001 edit 이름=값…",
        "/answer 001 respond 글",
        "/answer 001 1 결정",
    ]
    assert [command_words(command) for command in given] == [command.replace("todo_", "") for command in given]
