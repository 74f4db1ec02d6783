"""Readings that a question's words allow where none of them is the name of a column as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import ask
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief

SHELVES = "code,line,stock_price_gbp,margin_pct,annual_net_revenue_gbp\nA,basic,1.5,40,300\nB,basic,1.2,35,100\n"
SHELVES += "C,fine,2.5,42,500\nD,fine,2.9,41,100\n"
CREW = "crew_name,deckclass,berth_id,survived,remote,shift\n"
CREW += "".join(
    f"P{n},{1 + n % 3},{1000 + n},{int(n % 4 == 0)},{'Yes' if n % 5 else 'No'},{'Night' if n % 2 else 'Day'}\n"
    for n in range(40)
)
BALLOT = "ward,Adler,Brandt,Cole,total\nEast,10,40,20,70\nWest,30,15,25,70\nHarbour,35,10,15,60\n"
SALES = "teashop_name,town,day,total_price\nGreen Leaf,Ulm,2024-03-01,40\nGreen Leaf,Ulm,2024-03-09,30\n"
SALES += "Old Mill,Bonn,2024-04-02,60\n"
DEBTS = "Province,pcdebt1990,pcdebt2010\nNorth Vale,100,250\nSouth Vale,200,210\n"
PAY = (
    "year,men_bachelor_degree,women_bachelor_degree,men_no_degree,women_no_degree\n2021,40,30,20,15\n2022,44,31,21,17\n"
)
ROADS = "구간코드,시작역명,종료역명,거리\n1,솔내,한들,4.5\n2,한들,가람,9.1\n3,가람,솔내,7.0\n"
GOODS = "위험물번호,등급번호,한글명\n1203,3,가솔린\n1204,3,니트로글리세린\n2015,5,과산화수소\n"
PEOPLE = (
    '유권자,candidate,state,votes\n1,"BIDEN, JOSEPH",TEXAS,52\n2,"TRUMP, DONALD",TEXAS,58\n3,"BIDEN, JOSEPH",OHIO,26\n'
)
BLOOM = "location,flowering_date,days\n京都,2023-03-17,75\n京都,2022-03-24,82\n仙台,2023-03-26,84\n"
SCHOOLS = "school,private,ptr,pupils\nHill,Yes,12.5,300\nDale,No,18,900\nMoor,Yes,11,200\nGlen,Yes,14,250\n"
MEAT = "date,beef,veal,pork\n2001-01-01,10,4,20\n2001-02-01,11,4,9\n2002-01-01,30,4,20\n"
RIDERS = "town,beer_servings,wine_servings,gpi\nAlm,0,10,900\nBad,5,20,700\nUlm,0,30,800\n"
MATCHES = (
    "squad,season,wl,gender,goals,kind of room\nOwls,2023-24,W,F,3,Entire home/apt\nOwls,2024-25,W,M,1,Shared room\n"
)
MATCHES += "Owls,2023-24,L,F,0,Entire home/apt\nJays,2024-25,W,F,2,Shared room\nJays,2024-25,L,M,1,Entire home/apt\n"
TUBE = "from,to,line\n1,2,Oak Line\n2,3,Oak Line\n3,4,Elm Line\n4,5,Ash Line\n"


def said(folder: Path, question: str, language: str, **tables: str) -> str:
    for name, content in tables.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return brief(ask(question, table_files(shared(folder))), language).answer.split("\n\n*")[0]


@pytest.mark.parametrize(
    "question",
    [
        "what share of the yearly net revenue in shelves.csv comes from the fine line, in percent?",
        "shelves.csv에서 연간 순매출 가운데 fine 라인 비중은 몇 퍼센트야?",
    ],
)
def test_a_share_is_of_a_sum_though_another_column_holds_percentages(tmp_path: Path, question: str) -> None:
    assert "**60%**" in said(tmp_path, question, "en", shelves=SHELVES)


def test_an_ordinal_says_which_of_a_column_of_few_numbers(tmp_path: Path) -> None:
    told = said(tmp_path, "What percentage of the first class people in crew.csv survived?", "en", crew=CREW)
    assert "deckclass = 1" in told
    assert "survived = 1: **28.6%** (4 / 14" in told


def test_rows_are_counted_that_have_a_flag_denied(tmp_path: Path) -> None:
    assert "**4**" in said(tmp_path, "crew.csv에서 Night이면서 remote가 아닌 사람은 몇 명이야?", "ko", crew=CREW)


def test_how_many_are_the_sum_of_a_column_that_is_named(tmp_path: Path) -> None:
    assert "**35**" in said(tmp_path, "ballot.csv: how many people in Harbour voted Adler?", "en", ballot=BALLOT)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ballot 파일에서 전체 득표를 합치면 세 후보 중 누가 1등이고 몇 표야?", ("Adler", "75")),
        ("ballot.csv: which candidate had the most votes in the East?", ("Brandt", "40")),
        ("pay.csv에서 2022년에 대졸(학사) 남자랑 여자 차이가 얼마야?", ("13",)),
        ("debts.csv: by how much did North Vale's per-capita debt grow between 1990 and 2010?", ("150 more",)),
    ],
)
def test_figures_stand_in_columns_side_by_side(tmp_path: Path, question: str, expected: tuple[str, ...]) -> None:
    told = said(tmp_path, question, "en", ballot=BALLOT, pay=PAY, debts=DEBTS).splitlines()[0]
    assert all(one in told for one in expected), told


def test_the_total_of_columns_is_none_of_them(tmp_path: Path) -> None:
    told = said(tmp_path, "ballot.csv에서 total은 빼고 득표가 가장 많은 후보 두 명은?", "ko", ballot=BALLOT)
    assert "Adler" in told, told
    assert "total:" not in told, told


def test_words_that_a_name_joins_name_it(tmp_path: Path) -> None:
    told = said(tmp_path, "Which tea shop brought in the most money in 2024, and how much?", "en", sales=SALES)
    assert told.startswith("Green Leaf: **70**"), told


def test_both_ends_are_said_of_a_row_that_goes_from_one_to_the_other(tmp_path: Path) -> None:
    told = said(tmp_path, "거리가 제일 긴 구간은 어디서 어디까지고 몇 km야?", "ko", 구간목록=ROADS)
    assert all(one in told for one in ("한들", "가람", "9.1")), told


def test_a_row_is_looked_up_by_its_number(tmp_path: Path) -> None:
    told = said(tmp_path, "goods.csv에서 위험물 번호 1203번은 무슨 물질이야?", "ko", goods=GOODS)
    assert "가솔린" in told
    assert "니트로" not in told


def test_a_value_of_another_script_is_found(tmp_path: Path) -> None:
    told = said(tmp_path, "When was the flowering in Kyoto (京都) in 2023?", "en", bloom=BLOOM)
    assert "2023-03-17" in told
    assert "2023-03-26" not in told


def test_a_name_is_found_by_its_sound_with_what_was_counted(tmp_path: Path) -> None:
    told = said(tmp_path, "people.csv에서 바이든이 텍사스에서 받은 표는 몇 표야?", "ko", people=PEOPLE)
    assert "**52**" in told, told


def test_what_is_counted_is_how_many_different_ones_there_are(tmp_path: Path) -> None:
    assert "**3**" in said(tmp_path, "지하철 연결 자료에 나오는 노선은 모두 몇 개야?", "ko", subway_edges=TUBE)


def test_a_share_of_rows_is_no_share_of_a_sum_of_ratios(tmp_path: Path) -> None:
    told = said(tmp_path, "What percentage of the schools in schools.csv are private?", "en", schools=SCHOOLS)
    assert "**75%** (3 / 4" in told


def test_which_of_the_columns_of_a_table_that_is_called_as_what_is_asked_for(tmp_path: Path) -> None:
    told = said(tmp_path, "meat.csv: which meat was produced most in 2001?", "en", meat=MEAT)
    assert told.startswith("pork: **29**"), told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("riders.csv: how many towns drink no beer?", "**2**"),
        ("riders.csv: which town has the highest gross personal income?", "Alm"),
    ],
)
def test_none_of_something_and_first_letters_are_read(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, "en", riders=RIDERS)


def test_a_name_that_no_row_has_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "riders.csv").write_text(RIDERS, encoding="utf-8")
    assert ask("How much wine does Norway drink in riders.csv?", table_files(tmp_path)).result is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("matches.csv: how many matches did the Owls win?", "**2** (squad = Owls, wl = W)"),
        ("matches.csv: how many goals did women score?", "**5** (gender = F)"),
        ("matches.csv: how many goals were scored in 2024-25?", "**4** (season = 2024-25)"),
        ("matches.csv: how many entire homes are there?", "**3** (kind of room = Entire home/apt)"),
    ],
)
def test_values_are_found_by_letters_that_stand_for_words_and_by_their_beginning(
    tmp_path: Path, question: str, expected: str
) -> None:
    assert expected in said(tmp_path, question, "en", matches=MATCHES)
