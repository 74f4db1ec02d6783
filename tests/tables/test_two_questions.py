"""Two questions of one sentence, and a figure of what was just listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import About, Answer, about, ask, continues
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief

DUES = "parent,class,fee due,fee paid\nAda,Red,40,40\nBen,Blue,40,10\nCleo,Red,25,0\nDan,Blue,25,25\n"
TRIPS = "날짜,기사,구간,요금\n2026-05-02,한별,공항,42000\n2026-05-09,도담,시내,9000\n2026-05-20,한별,시내,11000\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fees.csv").write_text(DUES, encoding="utf-8")
    (tmp_path / "운행.csv").write_text(TRIPS, encoding="utf-8")
    return tmp_path


def cells(answer: Answer | None) -> set[object]:
    assert answer is not None and answer.result is not None, answer
    return {cell for row in answer.result.rows for cell in row}


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who still owes fees, and how much altogether?", {"Ben", "Cleo"}, 55),
        ("which parents are in Red and how much is the fee due in total?", {"Ada", "Cleo"}, 65),
        ("한별이 운행한 구간은 어디고 요금은 모두 얼마야?", {"공항", "시내"}, 53000),
        ("시내 요금은 모두 얼마고 평균은 얼마야?", {20000}, 10000),
        ("what is the average fee paid and who has the highest fee paid?", {18.75}, "Ada"),
    ],
)
def test_each_of_two_questions_is_answered_of_the_same_rows(
    folder: Path, question: str, first: set[object], second: object
) -> None:
    answer = ask(question, table_files(shared(folder)))
    assert first <= cells(answer)
    assert second in cells(answer.second)


def test_a_second_question_that_the_table_does_not_answer_is_named(folder: Path) -> None:
    answer = ask("Who still owes fees, and what is the total weight?", table_files(shared(folder)))
    assert {"Ben", "Cleo"} <= cells(answer)
    assert "Not answered: “what is the total weight?”" in brief(answer, "en").answer


@pytest.mark.parametrize(
    ("listed", "question", "expected"),
    [
        ("who still owes fees?", "how much is that altogether?", 55),
        ("한별이 5월에 운행한 구간 목록", "모두 얼마야?", 53000),
        ("구간별 요금 합계", "그럼 다 합해서 얼마야?", 62000),
    ],
)
def test_a_total_asked_for_after_a_list_is_that_of_its_rows(
    folder: Path, listed: str, question: str, expected: float
) -> None:
    before = ask(listed, table_files(shared(folder))).mapped
    assert before is not None
    assert expected in cells(ask(question, table_files(shared(folder)), before.query))
    assert continues(question, [listed], folder) or about(question, folder) is About.TABLE


def test_a_total_of_what_has_no_figure_is_not_made_up(folder: Path) -> None:
    before = ask("which parents are in Red?", table_files(shared(folder))).mapped
    assert before is not None
    assert ask("how much is that altogether?", table_files(shared(folder)), before.query).result is None


@pytest.mark.parametrize(
    ("question", "figures"),
    [
        ("what is the average of fee paid, and which class has the fewest in fees.csv?", (18.75, "Blue")),
        ("which class has the most fee paid and what is the average of fee due in fees.csv?", ("Red", 32.5)),
        ("운행.csv에서 요금 평균은 얼마고 가장 적은 구간은 뭐야?", (pytest.approx(20666.67), "시내")),
    ],
)
def test_a_figure_of_all_and_what_has_least_are_two_questions(
    folder: Path, question: str, figures: tuple[object, object]
) -> None:
    answer = ask(question, table_files(shared(folder)))
    assert answer.result is not None and answer.second is not None and answer.second.result is not None
    assert (answer.result.rows[0][0], answer.second.result.rows[0][0]) == figures


HIVES = """hive,keeper,breed,honey_kg,sugar due,sugar paid
1,Ines,Buckfast,20,10,10
2,Olaf,Carnica,30,12,4
3,Ines,Carnica,50,8,8
4,Remi,Buckfast,40,9,0
"""
PATIENTS = """접수일,종류,진료과,진료비
2026-03-02,강아지,외과,90000
2026-03-05,고양이,내과,30000
2026-03-09,강아지,내과,60000
"""


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("average honey of Buckfast hives", "which keepers have paid less sugar than they owe?", {"Olaf", "Remi"}),
        ("average honey of Buckfast hives", "what is the total sugar paid?", {22}),
        ("honey by breed", "average honey?", {35}),
        ("강아지 진료비 합계는?", "진료비 전체 평균 알려줘", {60000}),
        ("종류별 진료비 합계", "진료비 평균은?", {60000}),
        ("강아지 진료비 합계는?", "전체 평균은?", {60000}),
        ("average honey of Buckfast hives", "and overall?", {35}),
    ],
)
def test_a_question_that_names_its_own_figure_takes_no_filter_or_group_from_the_last(
    tmp_path: Path, before: str, question: str, expected: set[object]
) -> None:
    (tmp_path / "hives.csv").write_text(HIVES, encoding="utf-8")
    (tmp_path / "동물병원.csv").write_text(PATIENTS, encoding="utf-8")
    files = table_files(tmp_path)
    asked = ask(before, files).mapped
    assert asked is not None
    assert expected <= cells(ask(question, files, asked.query))


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("average honey of Buckfast hives", "and the total honey?", 60),
        ("average honey of Buckfast hives", "for Carnica?", 40),
        ("강아지 진료비 합계는?", "고양이는요?", 30000),
        ("강아지 진료비 합계는?", "진료비 평균은요?", 75000),
        ("강아지 진료비 합계는?", "평균은?", 75000),
    ],
)
def test_a_fragment_goes_on_from_the_last_question(tmp_path: Path, before: str, question: str, expected: float) -> None:
    (tmp_path / "hives.csv").write_text(HIVES, encoding="utf-8")
    (tmp_path / "동물병원.csv").write_text(PATIENTS, encoding="utf-8")
    files = table_files(tmp_path)
    asked = ask(before, files).mapped
    assert asked is not None
    assert expected in cells(ask(question, files, asked.query))


@pytest.mark.parametrize("question", ["부서구분별 사용 건수 알려줘", "부서구분별로 금액 합계는?"])
def test_groups_are_of_the_column_of_the_very_name_before_one_that_begins_so(tmp_path: Path, question: str) -> None:
    rows = "사용일,부서번호,부서구분,금액\n2026-04-01,101,현장,10\n2026-04-02,102,본사,30\n2026-04-03,103,현장,20\n"
    (tmp_path / "법인카드.csv").write_text(rows, encoding="utf-8")
    answer = ask(question, table_files(tmp_path))
    assert {"현장", "본사"} <= cells(answer)


FIELDS = """field,crop,owner,area_m2,yield
1,barley,Sol,4000,12
2,oats,Tam,2500,9
3,barley,Una,5000,18
4,oats,Sol,3500,11
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how big is the average barley field?", 4500),
        ("what is the average area of a barley field?", 4500),
        ("total area of the oats fields", 6000),
        ("how many barley fields are there?", 2),
        ("which field does Una own?", 3),
    ],
)
def test_numbers_that_only_tell_rows_apart_are_no_figure(tmp_path: Path, question: str, expected: float) -> None:
    (tmp_path / "fields.csv").write_text(FIELDS, encoding="utf-8")
    assert expected in cells(ask(question, table_files(tmp_path)))


@pytest.mark.parametrize("question", ["average field of barley", "which field is for oats in fields.csv?"])
def test_no_mean_is_told_of_numbers_that_only_tell_rows_apart(tmp_path: Path, question: str) -> None:
    (tmp_path / "fields.csv").write_text(FIELDS, encoding="utf-8")
    told = brief(ask(question, table_files(tmp_path)), "en").answer
    assert "mean" not in told
    assert "average of field" not in told


FARES = """날짜,기사,내용,금액,결제
2026-05-02,한별,주유,42000,카드
2026-05-02,한별,세차,9000,카드
2026-05-02,한별,세차,9000,카드
2026-05-09,도담,주유,30000,현금
"""


def test_a_list_has_each_row_with_its_figure(tmp_path: Path) -> None:
    (tmp_path / "차량비.csv").write_text(FARES, encoding="utf-8")
    answer = ask("한별이 5월에 쓴 차량비 목록", table_files(tmp_path))
    assert answer.result is not None
    assert len(answer.result.rows) == 3
    assert [row[answer.result.names.index("금액")] for row in answer.result.rows].count(9000) == 2
