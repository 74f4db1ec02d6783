"""Changes and other computations a question asks for."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.computation import analyse

RISE_KO = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
RISE_EN = (
    "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?"
)


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
    ],
)
def test_a_rise_from_one_sum_to_another_is_found_however_it_is_told(text: str) -> None:
    assert analyse(text).change_percent == "700/3"


@pytest.mark.parametrize(
    ("text", "percent", "after"),
    [
        ("보증금 3억을 10% 올려달라고 해요", "10", "3억 3,000만 원"),
        ("rent of 1,000,000 won, 5% increase", "5", "KRW 1.05 million"),
        ("보증금 3억에서 5천만원 올려달래", "50/3", "3억 5,000만 원"),
        ("$100 to $80 price cut", "-20", "USD 80"),
        ("budget grew from 200 to 250", "25", "250"),
        ("raise the rent by 5%", "5", ""),
        ("가격을 20% 인하", "-20", ""),
    ],
)
def test_shares_falls_and_differences_are_changes_too(text: str, percent: str, after: str) -> None:
    analysis = analyse(text)
    assert analysis.change_percent == percent
    assert after in analysis.steps[0].formula


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
    assert analyse(text).change_percent == ""


def test_a_change_from_nothing_has_no_percentage() -> None:
    assert analyse("0원에서 5만원으로 올려").change_percent == ""
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
