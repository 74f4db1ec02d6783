"""Changes and other computations a question asks for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.changes import Change, find_changes
from hitl_tui.teams.analysis.computation import analyse

RISE_KO = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
RISE_EN = (
    "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?"
)


def changes(text: str) -> tuple[Change, ...]:
    return find_changes(text, parse_amounts(text))


@pytest.mark.parametrize(
    "text",
    [
        RISE_KO,
        RISE_EN,
        "3억에서 10억",
        "300M → 1B",
        "3억 -> 10억",
        "전세금 3억인데 집주인이 10억으로 올려달래요",
        "전세금을 10억으로 올려달래. 지금은 3억이야",
        "raise it to 1 billion won from 300 million won",
        "from 300 million to 1 billion",
        "My deposit is 300 million won; the landlord asks for 1 billion won, an increase.",
        "3에서 10억으로 올려",
    ],
)
def test_a_rise_from_one_sum_to_another_is_found_however_it_is_told(text: str) -> None:
    (change,) = changes(text)
    assert change.percent == Fraction(700, 3)
    assert change.direction == 1


@pytest.mark.parametrize(
    ("text", "percent", "after"),
    [
        ("보증금 3억을 10% 올려달라고 해요", Fraction(10), Fraction(330_000_000)),
        ("rent of 1,000,000 won, 5% increase", Fraction(5), Fraction(1_050_000)),
        ("보증금 3억에서 5천만원 올려달래", Fraction(50, 3), Fraction(350_000_000)),
        ("$100 to $80 price cut", Fraction(-20), Fraction(80)),
        ("budget grew from 200 to 250", Fraction(25), Fraction(250)),
        ("raise the rent by 5%", Fraction(5), None),
        ("가격을 20% 인하", Fraction(-20), None),
    ],
)
def test_shares_falls_and_differences_are_changes_too(text: str, percent: Fraction, after: Fraction | None) -> None:
    (change,) = changes(text)
    assert change.percent == percent
    assert (change.after.value if change.after else None) == after


@pytest.mark.parametrize(
    "text",
    [
        "강남구 아파트 시세 조회",
        "2024-03-01부터 2026-02-28까지",
        "from 2019 to 2021 there was an increase",
        "5% 이내로 올려",
        "제7조에서 제6조의3으로",
        "3억을 5%로",
        "from 3 GB to 5 years",
    ],
)
def test_what_is_no_change_gives_none(text: str) -> None:
    assert changes(text) == ()


def test_a_change_from_nothing_has_no_percentage() -> None:
    (change,) = changes("0원에서 5만원으로 올려")
    assert change.percent is None
    steps = analyse("0원에서 5만원으로 올려").steps
    assert [step.exact for step in steps] == ["50000"]


@pytest.mark.parametrize(
    ("query", "value", "exact"),
    [
        ("3억, 5천만원, 200만원의 합계는?", "3억 5,200만 원", "352000000"),
        ("What is the total of $1,200 and $800?", "USD 2,000", "2000"),
        ("전세금 3억과 5억의 차이는?", "2억 원", "200000000"),
        ("5%와 3.5%의 차이", "1.5%p", "3/2"),
        ("전세금 3억의 5%는 얼마야?", "1,500만 원", "15000000"),
        ("What is 3 * 45,000 won + 20,000 won?", "KRW 155,000", "155000"),
        ("12,000원 × 3 은?", "3만 6,000원", "36000"),
        ("What is 5% of 300 million won?", "KRW 15 million", "15000000"),
        ("How long is it from 2024-03-01 to 2026-02-28?", "729 days", "729"),
        ("2024-03-01부터 2026-02-28까지 며칠이야?", "729일", "729"),
        ("2024-03-01부터 2년 후는?", "2026-03-01", ""),
        ("What date is 6 months before Nov 21 2026?", "6 months before", ""),
    ],
)
def test_a_question_that_asks_for_arithmetic_gets_it(query: str, value: str, exact: str) -> None:
    (step,) = analyse(query).steps
    assert value in f"{step.what} {step.value}"
    assert step.exact == exact
    assert step.sources == ("query",)


@pytest.mark.parametrize("query", ["안녕하세요", "hello there", "", "제7조가 뭐야?", "3억", "\0\ud800"])
def test_where_nothing_is_to_compute_nothing_is_invented(query: str) -> None:
    analysis = analyse(query)
    assert not analysis.found
    assert analysis.steps == ()
    assert analysis.not_computed
