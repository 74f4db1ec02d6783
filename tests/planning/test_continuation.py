"""Questions in a session that has an answer go on from it (D20)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from own_teams import TEAMS
from planning_support import agents

from hitl_tui.core.todos import Status
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import NoChange
from hitl_tui.planning.rule_planner.continuation import merged
from hitl_tui.planning.rule_planner.planner import RulePlanner

AGENT = PlanningAgent({**agents(), **TEAMS}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")


def further(query: str, text: str) -> list[dict[str, Any]]:
    plan = asyncio.run(AGENT.create_execution_plan(query)).plan
    todos = [replace(t, status=Status.COMPLETED, attempt=1) for t in AGENT.convert_with_strategy(plan)]
    return [dict(change["todo"]) for change in asyncio.run(AGENT.revise(text, query, todos)).changes]


@pytest.mark.parametrize(
    ("query", "text", "asked"),
    [
        ("민법에서 소멸시효는 몇 년이야?", "그럼 지상권은?", "민법에서 지상권은 몇 년이야?"),
        ("원격 데몬은 몇 번 포트를 쓰나요?", "그럼 모니터링 데몬은?", "모니터링 데몬은 몇 번 포트를 쓰나요?"),
        ("서울시 쓰레기 배출 요일은?", "부산시는?", "부산시 쓰레기 배출 요일은?"),
        ("Who won the cup in 1982?", "and for 1986?", "Who won the cup in 1986?"),
        ("What does 2026-news.md say of HTTP/2?", "what about 2012-news.md?", "What does 2012-news.md say of HTTP/2?"),
        ("What is the cap on rent increases?", "and deposits?", "What is the cap on deposits?"),
        ("How long is parental leave?", "and sick leave?", "How long is sick leave?"),
        (
            "Which port does the scheduler of Nova use?",
            "And for Cinder?",
            "Which port does the scheduler of Cinder use?",
        ),
        ("Which forms of leave do interns get?", "and managers?", "Which forms of leave do managers get?"),
        ("What is the deposit cap?", "and for a holding deposit?", "What is the holding deposit cap?"),
        (
            "Which release stopped supporting Python 3.8?",
            "and python 2?",
            "Which release stopped supporting python 2?",
        ),
        ("연차는 언제 생겨?", "그럼 병가는?", "병가는 언제 생겨?"),
        ("Which port does Nova use?", "Cinder는?", "Which port does Cinder use?"),
        ("회의실 예약을 취소하는 방법은?", "그럼 주차장은?", "주차장은 취소하는 방법은?"),
        ("Where do penguins of Gentoo live?", "and chinstrap?", "Where do penguins of chinstrap live?"),
        ("what port does the broker use by default", "and the mirror?", "what port does the mirror use by default"),
        (
            "how old must one be for the us senate",
            "and to become president?",
            "how old must one be to become president",
        ),
        ("When does the bar open?", "on Sundays?", "When does the bar open on Sundays"),
        (
            "How many days off do I get if I marry?",
            "and if I move house?",
            "How many days off do I get if I move house?",
        ),
        ("본인이 결혼하면 휴가 며칠이야?", "조부모님이 돌아가시면?", "조부모님이 돌아가시면 휴가 며칠이야?"),
        ("경조 휴가는 며칠이야?", "그럼 배우자가 아이를 낳으면요?", "배우자가 아이를 낳으면 경조 휴가는 며칠이야?"),
        (
            "What must I tell a tenant 6 weeks before a visit?",
            "and if it was only 2 days?",
            "What must I tell a tenant 2 days before a visit?",
        ),
        (
            "Who signs for an order of 2,000 euros?",
            "What if it is 500?",
            "Who signs for an order of 500 euros?",
        ),
        ("when was 4.2.5 released?", "and 4.3.0?", "when was 4.3.0 released?"),
        (
            "How many vacation days does a part-time employee get?",
            "and a full-time one?",
            "How many vacation days does a full-time employee get?",
        ),
        ("아이폰에서 알림은 어디서 꺼?", "안드로이드는?", "안드로이드에서 알림은 어디서 꺼?"),
        (
            "What is the maximum file size for uploads through the web interface?",
            "and via the API?",
            "What is the maximum file size for uploads via the API?",
        ),
        ("1급 자격증 시험은 몇 과목이야?", "2급은요?", "2급 자격증 시험은 몇 과목이야?"),
        ("부산에서 제주까지 소포 요금이 얼마야?", "대구에서는?", "대구에서 제주까지 소포 요금이 얼마야?"),
        ("Who approves orders above 10,000 dollars?", "what about 500?", "Who approves orders above 500 dollars?"),
        ("How many inmates do Swedish prisons hold?", "and the Swiss ones?", "How many inmates do Swiss prisons hold?"),
        ("우리 군에서 제일 높은 산은 어디야?", "그럼 제일 낮은 데는?", "우리 군에서 제일 낮은 산은 어디야?"),
        ("Which plugins need Python 3.10?", "and which themes?", "Which themes need Python 3.10?"),
        ("Which plugins need Python 3.10?", "which of them are free?", "plugins Python 3.10: which of them are free?"),
        (
            "How long do we keep backups of the server?",
            "how do I restore one?",
            "backups server: how do I restore one?",
        ),
        ("회의실 예약은 며칠 전까지 해야 해?", "그럼 강당은?", "강당 예약은 며칠 전까지 해야 해?"),
        ("회의실 예약은 며칠 전까지 해야 해?", "최대 몇 명까지?", "회의실 예약: 최대 몇 명까지?"),
        ("How much is a monthly ticket for zone A?", "and zone B?", "How much is a monthly ticket for zone B?"),
        ("배송비는 제주도까지 얼마예요?", "강원도까지는?", "배송비는 강원도까지 얼마예요?"),
        ("2023년 매출은 누가 정리해?", "영업이익은?", "2023년 영업이익은 누가 정리해?"),
        ("2023년 매출은 누가 정리해?", "부산 지점은?", "2023년 매출은 누가 정리해 부산 지점"),
        ("작년 송년회는 어디서 했어?", "재작년은?", "재작년 송년회는 어디서 했어?"),
        ("서울 본사 건물은 몇 층이야?", "대전 지사는?", "대전 지사 건물은 몇 층이야?"),
        ("소켓 포트를 그냥 써도 돼?", "그럼 좀 더 안전하게 쓰려면?", "소켓 포트: 좀 더 안전하게 쓰려면?"),
        ("고급 필터는 조건을 몇 개까지 걸어?", "그럼 표준 필터는 몇 개까지야?", "표준 필터는 조건을 몇 개까지 걸어?"),
        ("화면 밝기를 자동으로 바꾸는 기능이 있어?", "그건 어디서 꺼?", "화면 밝기 자동 기능: 그건 어디서 꺼?"),
        ("회원권을 3개월 쉬려면 어디에 신청해?", "그럼 6개월이면?", "회원권을 6개월 쉬려면 어디에 신청해?"),
        (
            "며칠 지나면 카드 결제는 취소가 안 돼?",
            "그럼 포인트는 언제까지 돼?",
            "결제 취소: 포인트는 언제까지 돼?",
        ),
    ],
)
def test_what_is_left_out_comes_from_the_last_question(query: str, text: str, asked: str) -> None:
    [todo] = further(query, text)
    assert (todo["agent_name"], todo["arguments"]["query"], todo["dependencies"]) == (
        "search_team",
        asked,
        ["todo_001"],
    )


def test_a_short_question_for_yes_or_no_is_looked_for_near_the_answer_before() -> None:
    [todo] = further("When does the pool open?", "Are dogs allowed?")
    assert (todo["arguments"]["query"], todo["dependencies"]) == ("Are dogs allowed?", ["todo_001"])


def test_an_analysis_goes_on_from_the_last_analysis() -> None:
    search, analysis = further("What is the average rent in Seoul in 1958?", "and for 1959?")
    assert search["dependencies"] == ["todo_002"]
    assert analysis["dependencies"] == ["todo_002", search["id"]]
    assert analysis["arguments"]["query"] == "What is the average rent in Seoul in 1959?"


def test_a_call_is_made_again_with_what_is_said_now() -> None:
    [todo] = further("compute the VAT of 50000 won at 20%", "and for 80000?")
    assert (todo["agent_name"], todo["arguments"]["input"]) == ("vat", {"amount": 80000, "rate": 0.2})


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Who has to sign the contract of the lease?", "Who has to sign the contract of the lease?"),
        ("And what did they decide about the bar?", "what did they decide about the bar?"),
        ("and who is the chair?", "who is the chair?"),
        ("And on which day is the fair this year?", "on which day is the fair this year?"),
        ("tell me about the storage unit", "tell me about the storage unit"),
        ("그런데 점심시간은 언제야?", "점심시간은 언제야?"),
        ("복숭아아이스티 왜 뺐더라", "복숭아아이스티 왜 뺐더라"),
        ("그럼 스탬프 유효기간은 얼마나 돼요?", "스탬프 유효기간은 얼마나 돼요?"),
        ("탈퇴하려면 어떻게 해야 하나?", "탈퇴하려면 어떻게 해야 하나?"),
        ("탈퇴 절차는?", "탈퇴 절차는?"),
    ],
)
def test_a_whole_question_stands_for_itself(text: str, asked: str) -> None:
    [todo] = further("What is the cap on rent increases?", text)
    assert todo["arguments"]["query"] == asked


def test_how_something_is_done_stands_for_itself() -> None:
    [todo] = further("스튜디오는 언제 열어?", "탈퇴하려면 어떻게 해야 하나?")
    assert todo["arguments"]["query"] == "탈퇴하려면 어떻게 해야 하나?"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("and 60% of 2,900 euros?", "60% of 2,900 euros?"),
        ("그럼 120,000원의 60%는 얼마야?", "120,000원의 60%는 얼마야?"),
        ("what is 12 x 30 + 5", "what is 12 x 30 + 5"),
        ("120,000원 × 2박 + 35,000원", "120,000원 × 2박 + 35,000원"),
    ],
)
def test_a_sum_needs_nothing_that_was_said_before(text: str, asked: str) -> None:
    [todo] = further("How much do we pay for a hotel?", text)
    assert (todo["agent_name"], todo["arguments"]["query"]) == ("analysis_team", asked)


def test_what_means_something_said_before_goes_on_from_it() -> None:
    [todo] = further("Why did we buy the desk?", "who proposed it?")
    assert todo["arguments"]["query"] == "desk: who proposed it?"


@pytest.mark.parametrize("text", ["minimum memory of a host", "가상계좌 환불하면 수수료 건당 얼마야"])
def test_a_question_needs_no_question_mark(text: str) -> None:
    [todo] = further("What is the cap on rent increases?", text)
    assert (todo["agent_name"], todo["arguments"]["query"]) == ("search_team", text)


@pytest.mark.parametrize("text", ["looks good", "looks good, thanks", "asdf", "hello"])
def test_what_asks_for_nothing_changes_nothing(text: str) -> None:
    with pytest.raises(NoChange):
        further("What is the cap on rent increases?", text)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("총회는 언제 열리고 정족수는 몇 명이야?", ["총회는 언제 열리나요?", "정족수는 몇 명이야?"]),
        ("대표 번호가 뭐고, 점심시간은 언제야?", ["대표 번호가 뭐인가요?", "점심시간은 언제야?"]),
        ("총회는 언제 열리고 어디서 해?", ["총회는 언제 열리고 어디서 해?"]),
        ("월세가 얼마고 그건 언제 내?", ["월세가 얼마고 그건 언제 내?"]),
        ("언제 신청하고 며칠 전까지는 어디에 내?", ["언제 신청하고 며칠 전까지는 어디에 내?"]),
        ("연차를 내고 며칠 쉬어?", ["연차를 내고 며칠 쉬어?"]),
    ],
)
def test_two_korean_questions_in_one_sentence_are_asked_apart_where_each_stands_for_itself(
    text: str, asked: list[str]
) -> None:
    plan = asyncio.run(AGENT.create_execution_plan(text)).plan
    assert [step.input_mapping["query"] for step in plan.steps] == asked


def test_several_questions_become_several_searches() -> None:
    plan = asyncio.run(AGENT.create_execution_plan("What is the cap on rent? And who pays the fee?")).plan
    assert [s.input_mapping["query"] for s in plan.steps] == ["What is the cap on rent?", "And who pays the fee?"]


@pytest.mark.parametrize(
    ("query", "text", "asked"),
    [
        ("10월 회의에 누가 참석했어요?", "6월은요?", "6월 회의에 누가 참석했어요?"),
        (
            "My landlord wants to raise the rent by 20%. How can I resolve this legally?",
            "also list the papers to bring before signing anything",
            "list the papers to bring before signing anything",
        ),
    ],
)
def test_a_month_is_replaced_whole_and_a_task_stands_alone(query: str, text: str, asked: str) -> None:
    assert further(query, text)[0]["arguments"]["query"] == asked


@pytest.mark.parametrize(
    ("text", "remarked"),
    [
        ("회의록 사본 파일을 지워 주세요", True),
        ("please also draft a polite letter to the landlord", True),
        ("편지를 써 주세요", True),
        ("Who keeps the keys?", False),
        ("고객이 어제 산 걸 오늘 취소했어. 환불까지 며칠 걸려?", False),
        ("로그 파일을 지웠는데 어떻게 되돌려?", False),
        ("Deleted the wrong file. How do I get it back?", False),
        ("게임 판을 싹 다 비우면 보너스 몇 점 줘?", False),
        ("파일 전송이 암호화되나?", False),
        ("회의록 파일이 자동으로 백업되나요?", False),
        ("회의록 사본 파일 몇 개만 지워줘", True),
        ("회의록 파일이 백업되게 해줘", True),
    ],
)
def test_a_step_keeps_for_the_answer_that_a_deed_is_not_done(text: str, remarked: bool) -> None:
    assert bool(further("Who cleans the stairs?", text)[0]["metadata"].get("remarks")) is remarked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("제6조의3이 뭐야? 보고서도 써줘", "제6조의3이 뭐야?"),
        ("제4조가 뭐예요? 그리고 보고서도 써줘", "제4조가 뭐예요?"),
        ("희망 도서 목록을 보고서로 써 주세요", "희망 도서 목록"),
        ("What is article 4? And write a report", "What is article 4?"),
        ("write up the wish list as a report", "the wish list"),
        ("참가비 보고서 작성해줘", "참가비"),
        ("put together a report with the opening hours", "the opening hours"),
    ],
)
def test_what_a_report_is_to_be_on_is_looked_for_first(text: str, asked: str) -> None:
    search, report = further("연체료가 있나요?", text)
    assert (search["agent_name"], search["arguments"]["query"], search["dependencies"]) == ("search_team", asked, [])
    assert (report["agent_name"], report["dependencies"]) == ("document_team", [search["id"]])


@pytest.mark.parametrize(
    "text",
    ["look up the deposit rules and write a report", "add a search for the deposit rules. Write a report on them"],
)
def test_a_search_that_is_asked_for_beside_a_report_is_made_once(text: str) -> None:
    search, report = further("연체료가 있나요?", text)
    assert (search["arguments"]["query"], report["dependencies"]) == ("deposit rules", ["todo_001", search["id"]])


def test_a_report_on_more_of_what_was_asked_before_draws_on_that_too() -> None:
    search, report = further("연체료가 있나요?", "연체료 면제 조건을 보고서로도 써 주세요")
    assert search["arguments"]["query"] == "연체료 면제 조건"
    assert (report["agent_name"], report["dependencies"]) == ("document_team", ["todo_001", search["id"]])


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("write that up as a report in fines.md please", "fines.md"),
        ("write a report on the fines to notes/fines.md", "notes/fines.md"),
        ("write it up as a report called 'fines.md'", "fines.md"),
        ("연체료.md로 보고서 써 줘", "연체료.md"),
        ("찾은 내용을 fines.md라는 이름으로 보고서로 남겨 줘", "fines.md"),
        ("write a report on what stands in rules.md", ""),
        ("rules.md에 있는 연체료를 보고서로 써 줘", ""),
    ],
)
def test_a_file_that_is_named_is_the_reports(text: str, file: str) -> None:
    [*_, report] = further("연체료가 있나요?", text)
    assert report["metadata"]["input_mapping"].get("path", "") == file
    plan = asyncio.run(AGENT.create_execution_plan(f"연체료가 있나요? {text}")).plan
    assert plan.steps[-1].input_mapping.get("path", "") == file


@pytest.mark.parametrize(
    "text",
    [
        "연체료를 보고서로 써 주세요",
        "찾은 내용을 보고서로 써 주세요",
        "write it up as a report",
        "put that in a report",
        "save the answers as a report",
    ],
)
def test_a_report_on_what_was_asked_before_needs_no_other_search(text: str) -> None:
    [report] = further("연체료가 있나요?", text)
    assert (report["agent_name"], report["dependencies"]) == ("document_team", ["todo_001"])


def test_a_report_is_called_by_the_only_question_it_draws_on() -> None:
    [first], [second] = (
        AGENT.convert_with_strategy(asyncio.run(AGENT.create_execution_plan(query)).plan)
        for query in ("Who pays for repairs?", "When does the library open?")
    )
    first = replace(first, status=Status.SKIPPED)
    second = replace(second, id="todo_002", status=Status.COMPLETED, attempt=1)
    revised = asyncio.run(AGENT.revise("write it up as a report", "Who pays for repairs?", [first, second]))
    [report] = (dict(change["todo"]) for change in revised.changes)
    assert report["dependencies"] == ["todo_002"]
    assert report["arguments"]["title"] == "When does the library open?"


@pytest.mark.parametrize(
    ("query", "case"),
    [
        ("How many days off do I get in 2025", "if I have worked for 5 years"),
        ("Who pays after 5 years", "if I have 3 cars"),
    ],
)
def test_a_case_that_says_more_than_a_figure_stands_beside_the_question(query: str, case: str) -> None:
    assert merged(query, case) == (f"{query} {case}", False)


def test_a_korean_verb_that_says_which_is_meant_stays() -> None:
    whole, _ = merged("캔자스에서 잉여물자를 제일 많이 받은 카운티가 어디야?", "네브래스카는")
    assert whole == "네브래스카에서 잉여물자를 제일 많이 받은 카운티가 어디야?"
    whole, _ = merged("치즈로 찍은 사진은 무슨 파일 형식으로 저장돼?", "동영상")
    assert whole == "치즈로 찍은 동영상은 무슨 파일 형식으로 저장돼?"


def test_what_a_step_is_to_be_about_asks_nothing() -> None:
    whole, _ = merged("What is the policy on late payments?", "delete requests", anew=False)
    assert whole == "What is the policy on delete requests?"
