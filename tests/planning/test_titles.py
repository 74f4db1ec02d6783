"""Titles: of steps the words of the question as they were asked, of reports a phrase without what merely asks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.safe_text import cell_width
from hitl_tui.planning.rule_planner.plan_steps import subject_of, title_of
from hitl_tui.planning.rule_planner.rule_file import load_rules

RULES = load_rules()

SUBJECTS = [
    ("How do I run dependencies in parallel?", "How do I run dependencies in parallel?"),
    ("What is the default minimum size of a response for GZip?", "default minimum size of a response for GZip"),
    (
        "Where are temporary directories created and how can that be changed?",
        "Where are temporary directories created",
    ),
    (
        'Is the cap (5%) on rent "really" binding, and who decides?',
        "Is the cap on rent really binding, and who decides?",
    ),
    ("What's the company's policy on remote work and what about contractors?", "company's policy on remote work"),
    ("Please find the section about retries (see config.yaml) and summarise it.", "retries"),
    ("By how much does 350 million won exceed the limit?", "By how much does 350 million won exceed the limit?"),
    ("How far below the minimum wage is 9,000 won?", "How far below the minimum wage is 9,000 won?"),
    ("How many GB over the limit are we with 120 GB?", "How many GB over the limit are we with 120 GB?"),
    ("Can I use v-if with v-for?", "Can I use v-if with v-for?"),
    ("I need to know whether the tenant, or the landlord, pays; write a report.", "tenant or the landlord"),
    ("Which of the three backup strategies does the runbook recommend and why?", "three backup strategies"),
    ('search for "disk usage" and then write a report', "disk usage"),
    ("Explain e.g. the retry/backoff settings, etc.", "retry/backoff settings"),
    (
        "Who is responsible for on-call and how do they get paid?",
        "Who is responsible for on-call and how do they get paid?",
    ),
    ("the price of plan A", "price of plan A"),
    ("집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘", "집주인 전세금 증액"),
    ("강남구 아파트 시세 조회", "강남구 아파트 시세"),
    ('"묵시적 갱신"이란 무엇이고, 언제 적용되나요?', "묵시적 갱신 적용"),
    ("120GB를 쓰고 있는데 한도를 몇 GB나 넘었어?", "한도 GB"),
    ("계약서(2024년판)에서 해지 조항을 찾아서 요약해줘", "계약서 해지 조항"),
    ("서버를 재시작하려면 어떻게 해야 하나요? 그리고 로그는 어디에 있나요?", "서버 재시작 로그"),
    ("임차인이 수리비를 청구할 수 있는지, 있다면 얼마까지인지 알려주세요", "임차인 수리비 청구"),
    ("재시도 횟수와 대기 시간의 기본값은?", "재시도 횟수 대기 시간 기본값"),
    ("differences between the price of A and the price of B?", "differences between the price of A and the price of B"),
    ("환불 규정이 궁금합니다", "환불 규정"),
    ('"3억"을 10억으로 올리면 몇 % 인상이야?', "증액"),
]


@pytest.mark.parametrize(("text", "subject"), SUBJECTS, ids=[t for t, _ in SUBJECTS])
def test_the_subject_of_a_report_reads_as_a_phrase(text: str, subject: str) -> None:
    assert subject_of(text, RULES) == subject


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
    assert title_of(text, RULES) == title


@given(st.text(alphabet=st.characters(), max_size=300) | st.lists(st.sampled_from(SUBJECTS), max_size=4).map(str))
def test_titles_are_one_short_line_and_a_report_s_never_has_half_a_parenthesis(text: str) -> None:
    title, subject = title_of(text, RULES), subject_of(text, RULES)
    assert cell_width(title) <= RULES.limits.title
    assert len(subject) <= RULES.limits.title
    for said in (title, subject):
        assert len(said.splitlines()) <= 1
        assert bool(said) or not text.strip()
    if re.search(r"\w", subject) and not subject.endswith(("?", "…")):
        assert subject.count("(") == subject.count(")") == 0


def test_a_text_of_marks_and_line_ends_has_a_title_too() -> None:
    assert title_of(":\r", RULES) == subject_of(":\r", RULES) == ":"
