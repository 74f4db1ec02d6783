"""A question that asks how large a change is and has no figures: the passages state it, or several, or none."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.analysis_model import Analysis, Passage
from hitl_tui.teams.analysis.analysis_report import brief
from hitl_tui.teams.analysis.computation import analyse

BUDGET = "The budget rises from EUR 40,000 to EUR 52,000 in 2026."
TRAVEL = "The travel budget rises from EUR 5,000 to EUR 6,000 in 2026."


def analysed(query: str, *texts: str) -> Analysis:
    return analyse(query, [Passage(f"{n}.md", 1, 1, text) for n, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("query", "text", "told"),
    [
        (
            "By how much percent did the budget rise?",
            BUDGET,
            "Change in percent: **30%** ((EUR 52,000 − EUR 40,000) ÷ EUR 40,000 × 100).",
        ),
        ("By how much did the budget rise in 2026?", BUDGET, "Difference: **EUR 12,000** (EUR 52,000 − EUR 40,000)."),
        (
            "How much did the error rate drop?",
            "The error rate fell from 4% to 1.5%.",
            "Difference: **-2.5%p** (1.5% − 4%).",
        ),
        ("예산이 몇 퍼센트 올랐어?", BUDGET, "변동률: **30%** ((5만 2,000 유로 − 4만 유로) ÷ 4만 유로 × 100)."),
        (
            "임대료가 얼마나 줄었어?",
            "임대료는 120만원에서 90만원으로 줄었다. 보증금은 1억에서 2억으로 올랐다.",
            "차액: **-30만 원** (90만 원 − 120만 원).",
        ),
    ],
)
def test_the_one_change_that_fits_is_computed_and_quoted(query: str, text: str, told: str) -> None:
    found = analysed(query, text)
    [line] = [line for line in brief(found).answer.split("\n") if line.startswith("- ")]
    assert line.startswith(f"- {told} ") and line.endswith("[`0.md:1`]")
    assert f"“{text.split('. ')[0].rstrip('.')}." in line
    assert all(getattr(source, "path", "") == "0.md" for step in found.steps for source in step.sources)


@pytest.mark.parametrize(
    ("query", "text", "told"),
    [
        ("How many days later is the release?", "The release moves from 3 April to 17 April.", "14 days later"),
        ("How far was the release moved?", "The release moves from 20 March 2026 to March 4, 2026.", "16 days earlier"),
        ("출시가 며칠 미뤄졌어?", "출시는 4월 3일에서 4월 17일로 연기되었다.", "14일 뒤"),
    ],
)
def test_how_far_a_date_was_moved_is_counted_in_days(query: str, text: str, told: str) -> None:
    found = analysed(query, text)
    assert [step.value for step in found.steps] == [told]
    assert f": **{told}** " in found.findings[0].text


PRICE = "Our electricity price is 0.3187 EUR per kWh in 2026. From 1 January 2027 it rises to 0.3452 EUR per kWh."


@pytest.mark.parametrize(
    ("query", "text", "told"),
    [
        (
            "By how many percent does our electricity price rise in 2027?",
            PRICE,
            "**8.3%** ((EUR 0.3452 − EUR 0.3187) ÷ EUR 0.3187 × 100)",
        ),
        ("기본급이 얼마나 올랐어?", "기본급은 2025년에 320만원이었다. 2026년에는 335만원이다.", "**15만 원** "),
        (
            "올해 회비는 작년보다 얼마나 올랐어?",
            "회비는 올해 13만원, 작년은 12만원이다.",
            "**1만 원** (13만 원 − 12만 원)",
        ),
        (
            "How many more seats are there in the hall now than before the renovation?",
            "The hall had 42 seats before the renovation and has 60 seats now.",
            "**18 seats** (60 seats − 42 seats)",
        ),
        (
            "How much percent more does the service contract cost this year?",
            "Last year the service contract cost 1,840 EUR. This year it costs 1,932 EUR.",
            "**5%** ",
        ),
        ("수확량은 2024년보다 몇 퍼센트 늘었어?", "수확량은 2024년 18톤, 2025년 21톤이었다.", "**16.7%** "),
        ("How much more will the fee be?", "The fee is 79 EUR; from March it will be 85 EUR.", "**EUR 6** "),
        ("By how much did sales grow from 2023 to 2025?", "Sales: 10 in 2023, 12 in 2024, 15 in 2025.", "**5** "),
        (
            "By how many days was the launch postponed?",
            "The launch was planned for 12 May. It has been postponed to 3 June 2026.",
            "**22 days later** ",
        ),
    ],
)
def test_a_change_is_read_over_two_sentences_and_from_amounts_at_different_times(
    query: str, text: str, told: str
) -> None:
    assert told in brief(analysed(query, text)).answer


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("By how many percent does our water price rise in 2027?", PRICE),
        ("By how many percent does our electricity price rise in 2028?", PRICE),
        ("월세가 얼마나 올랐어?", "월세는 2025년에 120만원이었다. 보증금은 2026년에 1억원으로 올랐다."),
        ("By how many percent does the rent rise?", "The rent may rise by at most 5%."),
        ("By how much did rent rise?", "Rent was EUR 900 in 2025. The deposit was EUR 1,800 in 2026."),
    ],
)
def test_another_subject_or_year_is_not_taken_for_the_one_that_is_meant(query: str, text: str) -> None:
    assert not analysed(query, text).found


@pytest.mark.parametrize(
    ("query", "text", "told"),
    [
        ("How much is the commission on 50,000 won?", "The commission is 3% of the price.", "KRW 1,500"),
        ("보육료 40만원을 미납하면 연체료는 얼마인가요?", "연체료는 미납 보육료의 3%이다.", "1만 2,000원"),
        ("거래액 500만원이면 중개보수는 얼마야?", "중개보수는 거래액의 0.4%이다.", "2만 원"),
    ],
)
def test_a_rate_that_a_passage_states_is_applied_to_the_amount_of_the_question(
    query: str, text: str, told: str
) -> None:
    (step,) = analysed(query, text).steps
    assert step.value == told
    assert [getattr(source, "label", source) for source in step.sources] == ["query", "0.md:1"]


def test_several_that_fit_alike_are_listed_and_none_is_chosen() -> None:
    found = analysed("By how much did the budget rise?", BUDGET, TRAVEL)
    assert not found.found and not found.change_percent
    assert found.not_computed.endswith(
        "say which one is meant: EUR 52,000 − EUR 40,000 (0.md:1); EUR 6,000 − EUR 5,000 (1.md:1)."
    )
    named = analysed("By how much did the travel budget rise?", BUDGET, TRAVEL)
    assert named.steps[0].value == "EUR 1,000"


def test_one_change_stated_in_two_places_is_one_and_names_both() -> None:
    found = analysed("By how much did the budget rise?", BUDGET, "Budget: goes from EUR 40,000 to EUR 52,000.")
    assert [getattr(source, "path", "") for source in found.steps[0].sources] == ["0.md", "1.md"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("By how much did headcount grow?", BUDGET),
        ("By how much did the budget rise in 2024?", BUDGET),
        ("By how much did the budget rise?", "A rising budget ranges from EUR 40,000 to EUR 52,000."),
        ("By how much did the budget rise?", "The budget rises from EUR 40,000 to 12 people."),
        ("By how much was the release moved?", "The release moves from 20 February to 4 March."),
        ("By how much did the opening change?", "The opening goes from 9 am to 10 am."),
        ("Who decided on the budget?", BUDGET),
        ("By how much may the budget rise?", BUDGET),
        ("예산을 얼마까지 올릴 수 있어?", BUDGET),
    ],
)
def test_another_matter_a_range_and_other_units_give_nothing(query: str, text: str) -> None:
    assert not analysed(query, text).found
