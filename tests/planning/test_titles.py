"""Titles: the words of the question as they were asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.safe_text import cell_width
from hitl_tui.planning.rule_planner.plan_steps import subject_of, title_of

SUBJECTS = [
    ("What is the default minimum size of a response?", "What is the default minimum size of a response?"),
    ("Find the parking rules and write a report", "The parking rules"),
    ("What does the handbook say about leave? Write it up as a report.", "What does the handbook say about leave?"),
    (
        "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
        "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법",
    ),
    ("강남구 아파트 시세 조회", "강남구 아파트 시세 조회"),
    ("write a report", "Write a report"),
    ("Find out when we sing and what we wear, and write it up as a report", "When we sing and what we wear"),
    ("write a report about the lease renewal", "The lease renewal"),
    ("Write up a report of October revenue by product and save it", "October revenue by product"),
    ("북알프스 원정 계획을 찾아서 보고서로 써 줘", "북알프스 원정 계획"),
    ("6월 회의에서 정한 일 알려줘", "6월 회의에서 정한 일"),
    ("누가 열쇠를 안 냈는지 보고서로 써 줘", "누가 열쇠를 안 냈는지"),
    ("rules.md에 있는 규정을 보고서로 써 줘", "Rules.md에 있는 규정"),
    ("Summarise the statutes as a report", "The statutes"),
    ("Make a report that says who has a key, please", "Who has a key"),
    ("write me a report: what did the roof cost?", "What did the roof cost"),
]


@pytest.mark.parametrize(("text", "subject"), SUBJECTS, ids=[t for t, _ in SUBJECTS])
def test_a_report_is_called_what_was_asked_without_the_words_that_ask_for_it(text: str, subject: str) -> None:
    assert subject_of(text) == subject


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How high is the penalty per day?", "How high is the penalty per day?"),
        ("how much space was freed", "how much space was freed"),
        (
            "What did the oven repair cost and until when is the warranty?",
            "What did the oven repair cost",
        ),
        (
            "Please find the section about retries (see the long config.yaml) and sum it up.",
            "Please find the section about retries…",
        ),
        ("연체료는 하루에 얼마야?", "연체료는 하루에 얼마야?"),
        ("120GB를 쓰고 있는데 한도를 몇 GB나 넘었어?", "120GB를 쓰고 있는데 한도를 몇 GB나 넘었어?"),
        (
            "임차인이 수리비를 청구할 수 있는지, 있다면 얼마까지인지 알려주세요",
            "임차인이 수리비를 청구할 수 있는지",
        ),
        ("two\nlines of  it.", "two lines of it"),
        ("x" * 99, "x" * 55 + "…"),
    ],
)
def test_the_title_of_a_step_has_the_words_as_they_were_asked_and_is_cut_only_at_its_end(text: str, title: str) -> None:
    assert title_of(text) == title


@given(st.text(alphabet=st.characters(), max_size=300) | st.lists(st.sampled_from(SUBJECTS), max_size=4).map(str))
def test_titles_are_one_short_line(text: str) -> None:
    for said, most in ((title_of(text), 56), (subject_of(text), 100)):
        assert cell_width(said) <= most
        assert len(said.splitlines()) <= 1
        assert bool(said) or not text.strip()


def test_a_text_of_marks_and_line_ends_has_a_title_too() -> None:
    assert title_of(":\r") == subject_of(":\r") == ":"
