"""Limits in documents: which are found, and which are held against a change."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from hitl_tui.teams.analysis.analysis_graph import whole
from hitl_tui.teams.analysis.analysis_model import Analysis
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.analysis.limits import Limit, limits_in
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.secret_mask import SecretMask

RISE = "집주인이 전세금 3억을 10억으로 올려달래"


def find_limits(passages: list[Passage]) -> tuple[Limit, ...]:
    return tuple(limits_in(passages))


def passage(text: str, path: str = "law.md", line: int = 1, heading: str = "") -> Passage:
    return Passage(path, line, line + text.count("\n"), text, heading=heading)


@pytest.mark.parametrize(
    ("text", "bound", "value"),
    [
        ("20분의 1(5%)의 금액을 초과하지 못한다", "max", 5),
        ("5% 이내", "max", 5),
        ("상한 5%", "max", 5),
        ("5%를 초과할 수 없다", "max", 5),
        ("5%를 넘지 못한다", "max", 5),
        ("온도는 5도를 넘으면 안 된다", "max", 5),
        ("최대 5%까지", "max", 5),
        ("at most 5 %", "max", 5),
        ("must not exceed 5 percent", "max", 5),
        ("may not exceed 1/20", "max", 5),
        ("no more than 10%", "max", 10),
        ("up to 5%", "max", 5),
        ("The budget may not increase by more than 5 %.", "max", 5),
        ("a 5% cap", "max", 5),
        ("annual increases are capped at 5%", "max", 5),
        ("max. 10 requests", "max", 10),
        ("5% 이하", "max", 5),
        ("5% 미만", "below", 5),
        ("below 5%", "below", 5),
        ("at least 3 GB", "min", 3_000_000_000),
        ("3개 이상", "min", 3),
        ("60일 이내에 마쳐야 한다", "max", 60),
        ("Seats can be changed up to 6 days before the concert", "min", 6),
        ("up to 6 days of leave", "max", 6),
        ("EUR 40 per person at most", "max", 40),
        ("The maximum height of a lorry is 4 m", "max", 4),
        ("The fee is capped: 3% must not be exceeded", "max", 3),
        ("한도는 1인당 7만 원이다", "max", 70_000),
        ("5kg 초과 금지", "max", 5),
        ("a renewal is no longer than 14 days", "max", 14),
        ("no later than 4 days before the wedding", "min", 4),
        ("no fewer than 3 days", "min", 3),
        ("The daily rate never goes above 18 euros", "max", 18),
        ("하루 최대 요금은 18,000원이다", "max", 18_000),
        ("3월부터 5% 이내", "max", 5),
    ],
)
def test_limits_are_read_from_the_words_around_them(text: str, bound: str, value: int) -> None:
    (limit,) = find_limits([passage(text)])
    assert (limit.bound, limit.amount.value) == (bound, Fraction(value))


@pytest.mark.parametrize(
    "text",
    [
        "5%를 초과하여 지급한 경우",
        "rent can exceed 5%",
        "2년 동안",
        "5%",
        "5% 상한은 새 계약에는 적용되지 않는다",
        "1년 이내에는 하지 못한다",
        "may not request an increase within 1 year",
        "제7조 이하",
        "점검은 8일부터 11일까지",
    ],
)
def test_figures_that_limit_nothing_are_no_limits(text: str) -> None:
    assert find_limits([passage(text)]) == ()


def test_a_limit_is_cited_with_the_line_it_stands_in() -> None:
    text = "첫 줄이다.\n둘째 줄이다.\n증액은 5%를 초과하지 못한다.\n끝."
    (limit,) = find_limits([passage(text, line=20)])
    assert label(limit) == "law.md:22"
    assert getattr(limit.source, "quote", "") == "증액은 5%를 초과하지 못한다."


def test_a_passage_that_lost_its_line_ends_is_cited_whole() -> None:
    (limit,) = find_limits([Passage("law.md", 4, 9, "증액은 5%를 초과하지 못한다.")])
    assert (getattr(limit.source, "line", 0), getattr(limit.source, "end_line", 0)) == (4, 9)


def label(limit: Limit) -> str:
    return getattr(limit.source, "label", "")


def applied(analysis: Analysis) -> list[str]:
    return [analysis.limit.label] if analysis.limit else []


def test_the_rise_limit_applies_and_other_rates_do_not() -> None:
    analysis = analyse(
        RISE,
        [
            passage("월세 전환 산정률은 연 10%를 초과하지 못한다.", "conversion.md"),
            passage("보증금 증액은 5%를 초과하지 못한다.", "rise.md"),
            passage("연체 이자는 12% 이내로 한다.", "interest.md"),
            passage("보증금이 7억원 이하인 계약만 보증보험에 가입할 수 있다.", "insurance.md"),
            passage("관리비 할인율은 최대 30%이다.", "discount.md"),
        ],
    )
    assert applied(analysis) == ["rise.md:1"]


@pytest.mark.parametrize(
    ("query", "path"),
    [(RISE, "법.md"), ("The landlord raises the deposit from 3 million won to 10 million won", "a.md")],
)
def test_of_two_sentences_with_one_limit_the_one_in_the_language_of_the_question_is_quoted(
    query: str, path: str
) -> None:
    korean = passage("증액 청구는 약정한 전세금의 5%를 초과하지 못한다.", "법.md")
    english = passage("An increase of the deposit by the landlord must not exceed 5% of it.", "a.md")
    for passages in ([korean, english], [english, korean]):
        limit = analyse(query, passages).limit
        assert limit is not None and limit.path == path


def test_the_computation_goes_from_the_change_to_the_permitted_sum() -> None:
    analysis = analyse(RISE, [passage("보증금 증액 청구는 20분의 1(5%)의 금액을 초과하지 못한다.", line=12)])
    assert analysis.change_percent == "700/3"
    formulas = [step.formula for step in analysis.steps]
    assert "(10억 원 − 3억 원) ÷ 3억 원 × 100 = 233.3%" in formulas
    assert "233.3% > 5%" in formulas
    assert "3억 원 × (1 + 5 ÷ 100) = 3억 1,500만 원" in formulas
    assert "10억 원 − 3억 1,500만 원 = 6억 8,500만 원" in formulas
    assert analysis.summary == "인상률 233.3%, 문서의 상한 5%: 초과; 상한액 3억 1,500만 원 (law.md:12)"
    compared = next(step for step in analysis.steps if step.formula == "233.3% > 5%")
    assert [getattr(source, "label", source) for source in compared.sources] == ["query", "law.md:12"]


@pytest.mark.parametrize(
    ("query", "rule", "verdict"),
    [
        ("보증금 3억을 3억 1,500만원으로 올려달래", "보증금 증액은 5%를 초과하지 못한다.", "범위 안"),
        ("보증금 3억을 3억 1,500만원으로 올려달래", "보증금 증액은 5% 미만이어야 한다.", "초과"),
        ("raise the rent by 6%", "Rent increases must not exceed 5%.", "exceeds"),
        (
            "Can we raise the budget from 200 to 250?",
            "The budget may increase by no more than 30%.",
            "within the limit",
        ),
        ("연봉을 5,000만원에서 5,100만원으로 인상", "연봉 인상은 최소 3% 이상이어야 한다.", "하한 미달"),
    ],
)
def test_verdicts(query: str, rule: str, verdict: str) -> None:
    analysis = analyse(query, [passage(rule)])
    assert verdict in [step.value for step in analysis.steps]


def test_a_limit_about_another_subject_or_direction_is_not_applied() -> None:
    rule = passage("보증금 인상은 5%를 초과하지 못한다.")
    assert not analyse("연봉을 5천만원에서 6천만원으로 올리면?", [rule]).limit
    assert not analyse("보증금을 3억에서 2억으로 내리면?", [rule]).limit
    assert not analyse("5,000만원 → 1억원", [rule]).limit
    assert not analyse("보증금 비율을 10%에서 15%로 올리면?", [rule]).limit
    assert analyse("보증금을 3억에서 4억으로 올리면?", [rule]).limit


def test_without_a_fitting_limit_it_says_so_and_does_not_call_it_allowed() -> None:
    analysis = analyse(RISE, [passage("위원회는 60일 이내에 절차를 마쳐야 한다.")])
    assert analysis.limit is None
    assert any("상한이 없다는 뜻은 아닙니다" in insight.text for insight in analysis.insights)


def test_exceptions_beside_the_limit_are_quoted() -> None:
    text = "보증금 증액은 5%를 초과하지 못한다.\n합의한 새 계약에는 이 상한이 적용되지 않는다."
    (note,) = analyse(RISE, [passage(text)]).insights
    assert "새 계약" in note.text
    assert [getattr(source, "line", 0) for source in note.sources] == [2]


@pytest.mark.long
def test_long_passages_are_cut_and_the_limits_in_them_counted_out() -> None:
    text = "보증금 증액은 5%를 초과하지 못한다. " * 40_000
    analysis = analyse(RISE, [{"path": "law.md", "line": 1, "text": text}] * 3)
    assert applied(analysis) == ["law.md:1"]


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=80))
def test_any_passages_and_question_give_an_analysis_that_survives_json(texts: list[str], query: str) -> None:
    analysis = analyse(query, [passage(text) for text in texts])
    form = TypeAdapter(Analysis)
    assert form.validate_python(form.dump_python(analysis, mode="json")) == analysis


def test_limits_near_a_passage_are_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "law.md").write_text(
        "# 증액\n\n- 제7조에 관한 글이다.\n- 증액은 5%를 초과하지 못한다.\n", encoding="utf-8"
    )
    (document,) = whole(tmp_path, [Passage("law.md", 3, 3, "- 제7조에 관한 글이다.")], SecretMask({}))
    (limit,) = find_limits([document])
    assert label(limit) == "law.md:4"
    gone = Passage("../gone.md", 1, 1, "…")
    assert whole(tmp_path, [gone], SecretMask({})) == [gone]


@pytest.mark.parametrize(
    "question",
    ["책을 3일 넘겨서 반납한 학생은?", "who returned a book more than 3 days late?", "3일 넘게 늦은 사람은 누구야?"],
)
def test_a_question_for_those_of_whom_a_figure_holds_is_not_held_against_a_limit(question: str) -> None:
    rule = passage("책은 빌린 날부터 3일까지 반납한다. Books are returned within at most 3 days.")
    assert not analyse(question, [rule]).steps


def test_two_counters_of_the_same_are_compared() -> None:
    assert analyse("예약을 주에 3번 해도 돼?", [passage("예약은 주에 2회까지 할 수 있다.")]).summary.startswith("3회: ")
