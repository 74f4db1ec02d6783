"""How far an amount of the question is beyond a limit of the documents, or another amount."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.analysis_model import brief, render
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.passages import Passage

LIMITS = [
    Passage("rules.md", 3, 3, "- Storage is limited to at most 100 GB per user."),
    Passage("rules.md", 5, 5, "전세보증금 한도는 7억원 이하이다."),
    Passage("travel.md", 2, 2, "The daily limit for meals is 60 dollars maximum."),
    Passage("club.md", 7, 7, "인솔 교사 한 명이 맡는 학생은 최대 12명이다."),
    Passage("pay.md", 9, 9, "The minimum wage is at least 10,000 won an hour."),
]


@pytest.mark.parametrize(
    ("query", "step", "label"),
    [
        ("How many GB over the storage limit are we with 120 GB?", "120 GB − 100 GB = 20 GB", "rules.md:3"),
        ("보증금 8억원은 한도를 얼마나 초과하나요?", "8억 원 − 7억 원 = 1억 원", "rules.md:5"),
        ("Meals cost 240 dollars. By how much is that over the limit?", "USD 240 − USD 60 = USD 180", "travel.md:2"),
        ("How far below the minimum wage is 9,000 won?", "KRW 10,000 − KRW 9,000 = KRW 1,000", "pay.md:9"),
    ],
)
def test_the_amount_is_held_against_the_limit_of_its_kind(query: str, step: str, label: str) -> None:
    analysis = analyse(query, LIMITS)
    assert step in [one.formula for one in analysis.steps]
    assert analysis.limit is not None and analysis.limit.label == label
    assert label in analysis.summary and f"`{label}`" in brief(analysis).answer


def test_within_a_limit_is_said_to_be_below_it() -> None:
    analysis = analyse("How far below the storage limit are we with 80 GB?", LIMITS)
    assert analysis.steps[0].value == "within the limit"
    assert analysis.findings[0].text.startswith("80 GB is 20 GB below the limit of 100 GB.")


@pytest.mark.parametrize(
    "query",
    [
        "How far over the limit is 3 kg?",  # no limit of that unit
        "Our storage of 120 GB is in the cellar.",  # nothing is asked
        "By how many dollars is it over?",  # no amount
        "What can I do with 100 GB of storage?",  # an open question
        "May I spend 900 dollars on meals per month?",  # the limit is for a day
    ],
)
def test_nothing_is_held_against_a_limit_that_does_not_fit(query: str) -> None:
    assert analyse(query, LIMITS).limit is None


def test_two_amounts_of_the_question_are_told_apart_without_documents() -> None:
    (step,) = analyse("By how much does $350 exceed $300?").steps
    assert step.value == "USD 50"


def test_nothing_computed_is_said_last_and_no_answer() -> None:
    analysis = analyse("What a day", [Passage("a.md", 1, 1, "A day is nice.")])
    assert "Nothing was computed" in render(brief(analysis))
    assert brief(analysis).answer == "" and brief(analysis).absent == (analysis.not_computed,)


@pytest.mark.parametrize(
    ("query", "side"),
    [
        ("Is 120 GB of storage fine?", "20 GB above the limit of 100 GB"),
        ("Can I use 80 GB of storage?", "20 GB below the limit of 100 GB"),
        ("Does a wage of 9,000 won fall below the minimum wage?", "below the minimum of KRW 10,000"),
        ("May I spend 70 dollars on meals?", "USD 10 above the limit of USD 60"),
        ("보증금 8억원도 괜찮아?", "문서의 상한 7억 원보다 1억 원 많습니다"),
        ("보증금 6억원이면 가능할까요?", "문서의 상한 7억 원보다 1억 원 적습니다"),
        ("교사 한 명이 학생 14명을 맡아도 돼?", "문서의 상한 12명보다 2명 많습니다"),
    ],
)
def test_whether_something_may_be_is_told_by_which_side_of_the_limit_it_is(query: str, side: str) -> None:
    analysis = analyse(query, LIMITS)
    assert side in analysis.findings[0].text and side in analysis.summary


def test_several_limits_that_fit_alike_are_listed_and_none_is_chosen() -> None:
    rooms = [
        Passage("old.md", 1, 1, "A hotel room may cost at most 110 euros."),
        Passage("new.md", 1, 1, "A hotel room may cost at most 130 euros."),
    ]
    analysis = analyse("Can a hotel room cost 120 euros?", rooms)
    assert not analysis.found and analysis.limit is None
    for told in ("EUR 110 (“A hotel room may cost at most 110 euros.” [`old.md:1`])", "130 euros.” [`new.md:1`])"):
        assert told in analysis.not_computed.partition("say which: ")[2]
