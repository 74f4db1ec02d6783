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
        ("By how much percent did the budget rise?", BUDGET, "Change in percent: 30% (EUR 40,000 → EUR 52,000)."),
        ("By how much did the budget rise in 2026?", BUDGET, "Difference: EUR 12,000 (EUR 40,000 → EUR 52,000)."),
        (
            "How much did the error rate drop?",
            "The error rate fell from 4% to 1.5%.",
            "Difference: -2.5%p (4% → 1.5%).",
        ),
        ("예산이 몇 퍼센트 올랐어?", BUDGET, "변동률: 30% (4만 유로 → 5만 2,000 유로)."),
        (
            "임대료가 얼마나 줄었어?",
            "임대료는 120만원에서 90만원으로 줄었다. 보증금은 1억에서 2억으로 올랐다.",
            "차액: -30만 원 (120만 원 → 90만 원).",
        ),
    ],
)
def test_the_one_change_that_fits_is_computed_with_its_source_and_the_assumption(
    query: str, text: str, told: str
) -> None:
    found = analysed(query, text)
    [line] = [line for line in brief(found).answer.split("\n") if line.startswith("- ")]
    assert line.startswith(f"- {told} ") and line.endswith("[`0.md:1`]")
    assert "taken for the change that is meant" in line or "뜻한다고 보고" in line
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
    assert f": {told}. " in found.findings[0].text


@pytest.mark.parametrize(
    ("query", "text", "told"),
    [
        ("How much is the commission on 50,000 won?", "The commission is 3% of the price.", "KRW 1,500"),
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
    assert not found.found and found.change_percent is None
    assert found.not_computed.endswith(
        "say which one is meant: EUR 40,000 → EUR 52,000 (0.md:1); EUR 5,000 → EUR 6,000 (1.md:1)."
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
