"""Titles of steps: words of the question that read as a phrase, and nothing of what merely asks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.planning.ruleset import load_rules
from hitl_tui.planning.titles import title_of

RULES = load_rules()

TITLES = [
    ("How do I run dependencies in parallel?", "run dependencies in parallel"),
    ("What is the default minimum size of a response for GZip?", "default minimum size of a response for GZip"),
    ("Where are temporary directories created and how can that be changed?", "temporary directories created"),
    ('Is the cap (5%) on rent "really" binding, and who decides?', "cap on rent really binding"),
    ("What's the company's policy on remote work and what about contractors?", "company's policy on remote work"),
    ("Please find the section about retries (see config.yaml) and summarise it.", "retries"),
    ("By how much does 350 million won exceed the limit?", "350 million won exceed the limit"),
    ("How far below the minimum wage is 9,000 won?", "below the minimum wage is 9,000 won"),
    ("How many GB over the limit are we with 120 GB?", "GB over the limit"),
    ("Can I use v-if with v-for?", "v-if with v-for"),
    ("I need to know whether the tenant, or the landlord, pays; write a report.", "tenant or the landlord"),
    ("Which of the three backup strategies does the runbook recommend and why?", "three backup strategies"),
    ('search for "disk usage" and then write a report', "disk usage"),
    ("Explain e.g. the retry/backoff settings, etc.", "retry/backoff settings"),
    ("Who is responsible for on-call and how do they get paid?", "responsible for on-call"),
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


@pytest.mark.parametrize(("text", "title"), TITLES, ids=[t for t, _ in TITLES])
def test_a_title_reads_as_a_phrase(text: str, title: str) -> None:
    assert title_of(text, RULES) == title


@given(st.text(alphabet=st.characters(), max_size=300) | st.lists(st.sampled_from(TITLES), max_size=4).map(str))
def test_a_title_is_one_short_line_and_never_half_a_parenthesis(text: str) -> None:
    title = title_of(text, RULES)
    assert len(title) <= RULES.limits.title
    assert len(title.splitlines()) <= 1
    assert bool(title) or not text.strip()
    if re.search(r"\w", title):
        assert title.count("(") == title.count(")") == 0
