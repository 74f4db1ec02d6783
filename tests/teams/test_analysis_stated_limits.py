"""A figure of a question beside the limits that a document of rules states, in many fields."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.passages import Passage

LAB = """# Laboratory

## Storage

- Solvents are stored at no more than 25 °C. Room temperature is checked twice a day.
- A cabinet holds up to 50 kg of solvents.
- The cold room must not exceed 8 °C.

## Waste

Waste is collected every 14 days.
"""
GRANTS = """# Grants

## Overheads

Overheads are capped at 20% of the direct costs. Overheads above 15% need a letter of the dean.
Of travel, 5% is kept back until the receipts are in.

## Equipment

- A device costs at most EUR 5,000.
- For the microscopy centre the maximum is EUR 12,000.
"""
CLOUD = """# Cloud rules

| Resource | Rule |
|---|---|
| Mailbox | max. 50 GB |
| Backups | no more than 30 days |

## Rents

Instances of teams may cost up to USD 400 per month.
"""
CREW = """# Crew

## Hours

Duty must not exceed 13 hours. With three pilots, duty of up to 16 hours is possible.
Rest is at least 10 hours.
"""
CARGO = """# 화물 규정

## 무게
- 위탁 수하물은 23kg을 초과할 수 없다. 기내 수하물은 10kg 이내로 한다.
- 수하물 분실 신고는 7일 이내에 한다.

## 보상
분실 보상 한도는 200만 원이다. 파손은 수리비의 80%까지 보상한다.
"""
LOANS = """# 대출 지침

## 담보
담보 인정 비율은 70%를 넘을 수 없다. 생애 최초 구입자는 80%까지 허용한다.

## 이자
연체 이자율의 상한은 12%이다. 중도상환 수수료는 1.5% 이하로 한다.
"""
STAFF = """# 근무 규칙

## 제4조 연장근로
연장근로는 1주에 12시간을 초과하지 못한다.

## 제5조 접대비
접대비는 1인당 5만 원 이내로 쓴다. 접대비 총액은 건당 50만 원을 한도로 한다.

## 제6조 연차 이월
남은 연차는 5일까지 이월할 수 있다.
"""


def documents(*texts: str) -> list[Passage]:
    return [Passage(f"rules-{n}.md", 1, text.count("\n") + 1, text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("question", "text", "said", "line"),
    [
        ("The cold room is at 11 °C. Is that allowed?", LAB, "3 °C above the limit of 8 °C", 7),
        ("Compare 60 kg of solvents in a cabinet with the limit in the laboratory rules", LAB, "10 kg above", 6),
        ("Our project plans overheads of 18%. Do the rules permit that?", GRANTS, "2%p below the limit of 20%", 5),
        ("also compare overheads of 22% with the cap in the grant rules", GRANTS, "2%p above the limit of 20%", 5),
        ("Our mailbox has 62 GB. Is it within the limit?", CLOUD, "12 GB above the limit of 50 GB", 5),
        ("An instance costs USD 450 per month. Does that keep to our rules?", CLOUD, "USD 50 above", 10),
        ("위탁 수하물이 26kg인데 규정에 맞아?", CARGO, "상한 23 kg보다 3 kg 많습니다", 4),
        ("분실 보상 150만 원은 한도 안이야?", CARGO, "상한 200만 원보다 50만 원 적습니다", 8),
        ("중도상환 수수료 2%를 지침의 한도와 비교해줘", LOANS, "상한 1.5%보다 0.5%p 많습니다", 7),
        ("연체 이자율 10%가 규정 위반인지 확인해줘", LOANS, "상한 12%보다 2%p 적습니다", 7),
        ("1주에 연장근로 15시간을 시켰어. 허용되는 거야?", STAFF, "상한 12시간보다 3시간 많습니다", 4),
        ("연차 8일 이월은 규칙에서 허용하나요?", STAFF, "상한 5일보다 3일 많습니다", 10),
    ],
)  # fmt: skip
def test_a_figure_is_held_against_the_limit_of_its_own_rule(question: str, text: str, said: str, line: int) -> None:
    analysis = analyse(question, documents(text))
    assert said in analysis.summary
    assert analysis.limit is not None and analysis.limit.label == f"rules-0.md:{line}"


@pytest.mark.parametrize(
    ("question", "text", "figures"),
    [
        ("A device for the microscopy centre costs EUR 8,000. Is that allowed?", GRANTS, ("EUR 5,000", "EUR 12,000")),
        ("Are Munich hotel nights of EUR 150 fine?", "A hotel night costs at most EUR 120.\n\nMunich: max. EUR 160",
         ("EUR 120", "EUR 160")),
        ("생애 최초 구입자의 담보 인정 비율 75%는 지침에서 허용돼?", LOANS, ("70%", "80%")),
        ("제주 출장의 숙소 17만 원은 규정에 맞아?", "숙소는 15만 원 이하로 한다.\n\n제주는 18만 원까지 쓴다.",
         ("15만 원", "18만 원")),
    ],
)  # fmt: skip
def test_of_several_limits_that_fit_each_is_named_with_its_sentence(
    question: str, text: str, figures: tuple[str, ...]
) -> None:
    analysis = analyse(question, documents(text))
    assert not analysis.found and analysis.limit is None
    for figure in figures:
        assert figure in analysis.not_computed
    assert analysis.not_computed.count("rules-0.md:") == len(figures)


def test_the_limit_with_more_words_of_the_question_is_meant_and_the_other_is_named() -> None:
    analysis = analyse("Can duty with three pilots last 14 hours?", documents(CREW))
    assert analysis.summary == "14 hours is 2 hours below the limit of 16 hours (rules-0.md:5)"
    assert "Another limit set there: 13 hours (“Duty must not exceed 13 hours.”)" in [n.text for n in analysis.insights]


@pytest.mark.parametrize(
    ("question", "step", "verdict"),
    [
        ("The limit for parcels is 20 kg. Compare 23.5 kg with it.", "23.5 kg > 20 kg", "exceeds"),
        ("Our budget cap is EUR 900; is EUR 850 within it?", "EUR 850 < EUR 900", "within the limit"),
        ("한도는 회식비 30만 원이야. 280,000원과 비교해줘", "28만 원 < 30만 원", "범위 안"),
        ("상한은 5%야. 7%를 비교해줘", "7% > 5%", "초과"),
        ("최소 10명이 기준이야. 8명과 비교해줘", "8명 < 10명", "하한 미달"),
    ],
)
def test_what_a_person_states_as_the_limit_is_the_limit(question: str, step: str, verdict: str) -> None:
    analysis = analyse(question, documents(GRANTS, STAFF))
    assert (analysis.steps[0].formula, analysis.steps[0].value) == (step, verdict)
    assert analysis.limit is None


def test_a_limit_that_is_stated_and_stands_in_a_document_is_quoted_from_there() -> None:
    analysis = analyse("담보 인정 비율의 한도는 생애 최초라서 80%야. 75%와 비교해줘", documents(LOANS))
    assert "75%: 문서의 상한 80%보다 5%p 적습니다" in analysis.summary
    assert analysis.limit is not None and analysis.limit.label == "rules-0.md:4"


@pytest.mark.parametrize(
    "question",
    [
        "The dean wants overheads of 22%. Is that allowed?\ncompare the 22% with the limit in the rules",
        "담보 인정 비율 75%가 가능해?\n75%를 한도와 비교",
        "연체 이자율 15%는 지침의 한도 안이야?\n15%를 대출 지침의 연체 이자율 한도와 비교",
        "연체 이자율 15%를 받아도 돼?\n15%를 한도와 비교해서 차이를 계산",
    ],
)
def test_a_figure_is_never_held_against_itself(question: str) -> None:
    analysis = analyse(question, documents(GRANTS, LOANS))
    assert not any(step.exact == "0" for step in analysis.steps)
    assert analysis.limit is not None or "rules-" in analysis.not_computed


@pytest.mark.parametrize(
    "question", ["Compare 40 °C of the autoclave lid with the limit", "직원 식당의 온도 40도를 한도와 비교해줘"]
)
def test_where_no_limit_is_clearly_meant_those_of_the_kind_are_named_and_nothing_is_computed(question: str) -> None:
    analysis = analyse(question, documents(LAB.replace("Storage", "Depot")))
    assert not analysis.found
    assert "rules-0.md:5" in analysis.not_computed and "rules-0.md:7" in analysis.not_computed


def test_the_figure_that_is_asked_of_last_is_held_against_its_limit() -> None:
    analysis = analyse("Is a stay of 12 days allowed?\ncompare 60 kg with the limit of a cabinet", documents(LAB))
    assert analysis.summary.startswith("60 kg is 10 kg above")


def test_a_limit_of_something_else_isnt_taken_for_one_only_because_nothing_else_is_there() -> None:
    rules = documents("# Library\n\nFines: 0.50 euros a day, capped at 15 euros per book.")
    analysis = analyse("The daily rate of the car park shall be 20 euros. Is that allowed?", rules)
    assert not analysis.found and "rules-0.md:3" in analysis.not_computed


def test_a_share_by_which_a_price_falls_is_held_against_the_limit_of_such_falls() -> None:
    rules = documents("# Price rules\n\n## Discounts\n\nA discount must not exceed 9% of the list price.")
    analysis = analyse("Is a 14% discount for the kindergarten ok?", rules)
    assert analysis.summary == "Fall 14%, limit in the documents 9%: exceeds (rules-0.md:5)"


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("A down payment of 30% of the list price: is that allowed?", "A rebate must not exceed 9% of the list price."),
        ("판매 가격의 계약금 30%는 규정에 맞아?", "사은품은 판매 가격의 9%를 넘을 수 없다."),
    ],
)
def test_a_limit_of_another_share_of_the_same_isnt_taken(question: str, rule: str) -> None:
    analysis = analyse(question, documents(rule))
    assert not analysis.found and "rules-0.md:1" in analysis.not_computed


def test_of_several_figures_of_a_kind_none_is_held_against_the_limit_of_another() -> None:
    rules = documents("A taxi costs at most EUR 30.", "A room costs at most EUR 90.")
    analysis = analyse("A taxi for EUR 45 and a room for EUR 80: is that allowed?", rules)
    assert not analysis.found and "rules-0.md:1" in analysis.not_computed and "rules-1.md:1" in analysis.not_computed


def test_a_rise_is_held_against_the_limit_that_is_stated() -> None:
    analysis = analyse("상한은 4%야. 회비를 10만 원에서 11만 원으로 올리면?", documents("회비 인상은 7% 이내로 한다."))
    assert analysis.summary == "인상률 10%, 말씀하신 상한 4%: 초과; 상한액 10만 4,000원"
    assert analysis.limit is None


def test_a_rise_that_several_limits_fit_isnt_held_against_one_of_them() -> None:
    rules = documents("A rent increase must not exceed 5%.", "A rent increase must not exceed 8%.")
    analysis = analyse("Can the rent rise from 1,000 dollars to 1,060 dollars?", rules)
    assert analysis.limit is None
    told = " ".join(finding.text for finding in analysis.findings)
    assert "5%" in told and "8%" in told
