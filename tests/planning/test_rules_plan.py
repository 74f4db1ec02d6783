"""What the rule planner plans: queries in Korean and English, and the steps they become (D6, S1, S2)."""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import replace

import pytest
from planning_support import COMMANDS, agents

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.plan import Concern, Strategy
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import Planned
from hitl_tui.planning.rule_planner.calls import asked_in
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner

S1_KO = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
S1_EN = (
    "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?"
)

SEARCH = ["search"]
SEARCH_ANALYSIS = ["search", "analysis"]
SEARCH_REPORT = ["search", "document"]
ALL_THREE = ["search", "analysis", "document"]

QUERIES = [
    # one search
    ("강남구 아파트 시세 조회", "search", SEARCH),
    ("주택임대차보호법 제7조 알려줘", "search", SEARCH),
    ("집주인이 나가라는데 어떻게 해야 해?", "search", SEARCH),
    ("계약 해지 통보는 언제까지 해야 하나요?", "search", SEARCH),
    ("보고서 양식 찾아줘", "search", SEARCH),
    ("작년 보고서를 검색해줘", "search", SEARCH),
    ("결제 내역 보여줘", "search", SEARCH),
    ("계약서 요약해줘", "search", SEARCH),
    ("검색만 해줘: 서초구 시세 분석", "search", SEARCH),
    ("매물 목록 보여줘", "search", SEARCH),
    ("Kubernetes pod eviction policy 설명해줘", "search", SEARCH),
    ("로그 지우는 방법 알려줘", "search", SEARCH),
    ("clean-logs가 뭐야?", "search", SEARCH),
    ("search the lease law", "search", SEARCH),
    ("What is the cap on rent increases?", "search", SEARCH),
    ("Who signed the contract?", "search", SEARCH),
    ("find the annual report", "search", SEARCH),
    ("what did the report say about rent?", "search", SEARCH),
    ("How do I delete old logs?", "search", SEARCH),
    ("How do I run clean-logs?", "search", SEARCH),
    ("What does clean-logs do?", "search", SEARCH),
    ("don't run clean-logs, just search for disk usage", "search", SEARCH),
    ("run time complexity of quicksort", "search", SEARCH),
    ("jeonse", "search", SEARCH),
    ("SQL", "search", SEARCH),
    # a search and an analysis of what it found
    (S1_KO, "comprehensive", SEARCH_ANALYSIS),
    (S1_EN, "comprehensive", SEARCH_ANALYSIS),
    ("보증금을 2억에서 2억 5천만원으로 올려달라는데 괜찮아?", "comprehensive", SEARCH_ANALYSIS),
    ("집주인이 3억 전세금을 얼마까지 올릴 수 있어?", "comprehensive", SEARCH_ANALYSIS),
    ("월세 전환율 계산해줘", "comprehensive", SEARCH_ANALYSIS),
    ("강남구 아파트 평균 시세는 얼마야?", "comprehensive", SEARCH_ANALYSIS),
    ("부동산 종합 분석", "comprehensive", SEARCH_ANALYSIS),
    ("보고서 없이 시세 분석", "comprehensive", SEARCH_ANALYSIS),
    ("How much can the landlord raise a deposit of 300 million won?", "comprehensive", SEARCH_ANALYSIS),
    ("Analyse the price trend in Gangnam", "comprehensive", SEARCH_ANALYSIS),
    ("calculate the average rent in the contracts", "comprehensive", SEARCH_ANALYSIS),
    ("Which of the backup strategies is best?", "search", SEARCH),
    ("가장 좋은 백업 방법은 무엇이야?", "search", SEARCH),
    # figures at hand: no document is needed
    ("3억의 5%는 얼마야?", "analysis", ["analysis"]),
    ("3억에서 10억이면 몇 퍼센트 인상이야?", "analysis", ["analysis"]),
    ("Calculate 5% of 300 million won", "analysis", ["analysis"]),
    ("How much is a 12% increase on $1.2 million?", "analysis", ["analysis"]),
    # things compared
    ("강남구와 서초구 아파트 시세 비교해줘", "comprehensive", SEARCH_ANALYSIS),
    ("주택임대차보호법과 상가건물임대차보호법의 증액 상한 비교", "comprehensive", SEARCH_ANALYSIS),
    ("서울과 부산의 전세 시세 차이는?", "comprehensive", SEARCH_ANALYSIS),
    ("compare Gangnam with Seocho apartment prices", "comprehensive", SEARCH_ANALYSIS),
    ("compare the prices of FIFO and LIFO inventory", "comprehensive", SEARCH_ANALYSIS),
    ("A안과 B안의 금액 차이", "comprehensive", SEARCH_ANALYSIS),
    ("What is the difference between the price of A and the price of B?", "comprehensive", SEARCH_ANALYSIS),
    ("전세와 월세의 차이를 비교해줘", "comprehensive", SEARCH_ANALYSIS),
    # a difference in kind is explained, not computed
    ("전세와 월세의 차이가 뭐야?", "search", SEARCH),
    ("묵시적 갱신과 계약갱신요구권의 차이점을 보고서로 작성해줘", "document", SEARCH_REPORT),
    # how far one thing is beyond another
    ("By how much does 350 million won exceed the limit?", "comprehensive", SEARCH_ANALYSIS),
    ("How many GB over the limit are we with 120 GB?", "comprehensive", SEARCH_ANALYSIS),
    ("We use 120 GB. How far above the quota is that?", "comprehensive", SEARCH_ANALYSIS),
    ("how far below the minimum wage is 9,000 won", "comprehensive", SEARCH_ANALYSIS),
    ("보증금 8억원은 한도를 얼마나 초과하나요?", "comprehensive", SEARCH_ANALYSIS),
    ("120GB를 쓰고 있는데 한도를 몇 GB나 넘었어?", "comprehensive", SEARCH_ANALYSIS),
    ("시급 9천원은 최저임금보다 얼마나 낮아?", "comprehensive", SEARCH_ANALYSIS),
    ("How far is the station?", "search", SEARCH),
    ("What happens over the limit?", "search", SEARCH),
    ("한도를 초과하면 어떻게 되나요?", "search", SEARCH),
    ("A안, B안과 C안 비교", "comprehensive", SEARCH_ANALYSIS),
    ("React와 Vue 비교 분석해서 보고서로 정리해줘", "comprehensive", ALL_THREE),
    # a report at the end
    ("보고서 작성해줘", "document", SEARCH_REPORT),
    ("계약갱신요구권을 정리해서 문서로 만들어줘", "document", SEARCH_REPORT),
    ("임대차 계약서를 요약해서 파일로 저장해줘", "document", SEARCH_REPORT),
    ("전세 시세를 조사하고 분석해서 보고서 작성해줘", "comprehensive", ALL_THREE),
    ("write a report on jeonse law", "document", SEARCH_REPORT),
    ("Find the retry policy and write it up", "document", SEARCH_REPORT),
    ("Analyse the price trend in Gangnam and report", "comprehensive", ALL_THREE),
    ("Is there a cap? Report please.", "document", SEARCH_REPORT),
    # declared commands
    ("run clean-logs dir=logs days=30", "command", ["command"]),
    ("clean-logs 실행해줘", "command", ["command"]),
    ("clean logs 돌려줘", "command", ["command"]),
    ("오래된 로그 지워줘", "command", ["command"]),
    ("오래된 로그 삭제", "command", ["command"]),
    ("delete old logs", "command", ["command"]),
    ("파일 목록 보여줘", "command", ["command"]),
    ("clean-logs 실행하고 결과 알려줘", "command", ["command"]),
    ("run clean-logs and write a report", "mixed", ["command", "document"]),
    ("30일 지난 로그를 지우고 보고서 작성해줘", "mixed", ["command", "document"]),
    ("run clean-logs then search for disk usage", "mixed", ["command", "search"]),
    ("search for disk usage and then run clean-logs", "mixed", ["search", "command"]),
    # not asked for, or not declared
    ("clean-logs 실행하지 마", "search", SEARCH),
    ("오래된 로그는 삭제하지 말아줘", "search", SEARCH),
    ("delete the files older than a week", "search", SEARCH),
    ("clean the kitchen", "search", SEARCH),
]


def agent(*disabled: str) -> PlanningAgent:
    return PlanningAgent(agents(*disabled), RulePlanner(COMMANDS), now=lambda: "2026-03-01T09:00:00+00:00")


def kinds(planned: Planned) -> list[str]:
    return [step.agent.removesuffix("_team") for step in planned.plan.steps]


@pytest.mark.parametrize(("query", "intent", "steps"), QUERIES, ids=[q for q, _, _ in QUERIES])
async def test_query_becomes_steps(query: str, intent: str, steps: list[str]) -> None:
    planned = await agent().create_execution_plan(query)
    assert (planned.intent.type, kinds(planned)) == (intent, steps)
    todos = agent().convert_with_strategy(planned.plan)
    assert [t.id for t in todos] == [f"todo_{n:03d}" for n in range(1, len(steps) + 1)]


@pytest.mark.parametrize("query", [S1_KO, S1_EN])
async def test_scenario_1_analysis_waits_for_the_search(query: str) -> None:
    planned = await agent().create_execution_plan(query)
    search, analysis = agent().convert_with_strategy(planned.plan)
    assert (search.agent_name, search.dependencies) == ("search_team", ())
    assert (analysis.agent_name, analysis.dependencies) == ("analysis_team", ("todo_001",))
    assert search.arguments["query"] == query
    assert analysis.arguments == {"query": query, "analysis_type": "comprehensive"}
    assert (search.priority, analysis.priority) == ("medium", "medium")
    assert planned.intent.language == ("ko" if query == S1_KO else "en")
    assert planned.intent.confidence > 0.8


async def test_nothing_is_planned_in_the_event_loop() -> None:
    threads = set[threading.Thread]()

    def concern(question: str) -> Concern:
        threads.add(threading.current_thread())
        return Concern.NONE

    known = agents()
    known["analysis_team"] = replace(known["analysis_team"], concern=concern)
    await PlanningAgent(known, RulePlanner(COMMANDS)).create_execution_plan(S1_EN)
    assert threads and threading.main_thread() not in threads


async def test_scenario_1_reads_both_amounts() -> None:
    korean, english = await agent().analyze_intent(S1_KO), await agent().analyze_intent(S1_EN)
    assert korean.entities == {"amount": ["3억", "10억"]}
    assert english.entities == {"amount": ["300 million won", "1 billion won"]}
    assert {"집주인", "전세금"} <= set(korean.keywords)


@pytest.mark.parametrize(
    ("query", "kind", "said"),
    [
        ("보증금 1억 2,000만 원을 2억 5천만원으로", "amount", ["1억 2,000만 원", "2억 5천만원"]),
        ("rent of $1.2 million and ₩500", "amount", ["$1.2 million", "₩500"]),
        ("5% 또는 3.5퍼센트 인상", "percent", ["5%", "3.5퍼센트"]),
        ("2026년 3월 1일과 2026-04-02", "date", ["2026년 3월 1일", "2026-04-02"]),
    ],
)
async def test_entities_by_kind(query: str, kind: str, said: list[str]) -> None:
    intent = await agent().analyze_intent(query)
    assert intent.entities[kind] == said


async def test_an_article_number_is_no_amount() -> None:
    assert "amount" not in (await agent().analyze_intent("주택임대차보호법 제7조 알려줘")).entities


async def test_names_are_short_titles_in_the_query_s_language() -> None:
    korean = (await agent().create_execution_plan(S1_KO)).plan.steps[0]
    english = (await agent().create_execution_plan(S1_EN)).plan.steps[0]
    assert korean.name == "자료 검색"
    assert english.name == "Search the documents"
    for step in (korean, english):
        assert step.task and step.purpose and step.expected_output
        assert str(step.input_mapping["query"]) not in step.task, "the words stand in the input, once"


async def test_a_planned_step_may_take_as_long_as_its_team_says() -> None:
    own = {"search_team": 7.0, "analysis_team": 0.0, "document_team": 4000.0}
    known = {name: replace(facts, timeout=own.get(name, 90.0)) for name, facts in agents().items()}
    planner = PlanningAgent(known)
    plan = (await planner.create_execution_plan(f"{S1_EN} Write a report.")).plan
    assert {todo.agent_name: todo.timeout for todo in planner.convert_with_strategy(plan)} == own


async def test_questions_are_searched_for_at_the_same_time() -> None:
    plan = (await agent().create_execution_plan("강남구 시세는 어때? 서초구 시세는 어때?")).plan
    assert [s.id for s in plan.steps] == ["search_1", "search_2"]
    assert [s.input_mapping["query"] for s in plan.steps] == ["강남구 시세는 어때?", "서초구 시세는 어때?"]
    assert plan.parallel_groups == (("search_1", "search_2"),)
    alone = (await agent().create_execution_plan("강남구 시세는 어때?")).plan
    assert plan.estimated_time == alone.estimated_time, "parallel searches take the time of one"


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("강남구 시세는 어때? 서초구 시세는 어때? 보고서 써줘", ["강남구 시세는 어때?", "서초구 시세는 어때?"]),
        ("What is the cap on rent? Write a report.", ["What is the cap on rent?"]),
    ],
)
async def test_what_asks_for_the_report_is_not_searched_for(query: str, searched: list[str]) -> None:
    *searches, report = (await agent().create_execution_plan(query)).plan.steps
    assert [step.input_mapping["query"] for step in searches] == searched
    assert (report.agent, report.dependencies) == ("document_team", tuple(step.id for step in searches))


async def test_report_depends_on_everything_before_it() -> None:
    todos = agent().convert_with_strategy(
        (await agent().create_execution_plan("전세 시세를 조사하고 분석해서 보고서 작성해줘")).plan
    )
    assert todos[-1].agent_name == "document_team"
    assert todos[-1].dependencies == ("todo_001", "todo_002")
    assert {todo.priority for todo in todos} == {"medium"}  # the order says it: none is more urgent than the others


@pytest.mark.parametrize(
    ("query", "strategy"),
    [
        ("순서대로 검색하고 분석해줘: 전세 보증금", Strategy.SEQUENTIAL),
        ("one at a time: search and analyse the renewal right", Strategy.SEQUENTIAL),
        ("compare A1 with B2 in order to decide", Strategy.PIPELINE),
        ("강남구와 서초구 시세를 동시에 비교해줘", Strategy.PARALLEL),
        ("강남구 시세 분석", Strategy.PIPELINE),
    ],
)
async def test_strategy(query: str, strategy: Strategy) -> None:
    assert (await agent().create_execution_plan(query)).plan.strategy is strategy


async def test_sequential_has_no_parallel_groups() -> None:
    plan = (await agent().create_execution_plan("강남구와 서초구 아파트 시세를 순서대로 비교해줘")).plan
    assert (plan.strategy, plan.parallel_groups) == (Strategy.SEQUENTIAL, ())
    todos = agent().convert_with_strategy(plan)
    assert todos[1].dependencies == ("todo_001",)


@pytest.mark.parametrize(
    ("query", "command", "parameters"),
    [
        ("run clean-logs dir=logs days=30", "clean-logs", {"dir": "logs", "days": 30}),
        ("clean-logs dir='my logs' 실행해줘", "clean-logs", {"dir": "my logs"}),
        ("run clean-logs --days=7.", "clean-logs", {"days": 7}),
        ("30일 지난 로그 지워줘", "clean-logs", {"days": 30}),
        (
            "Please delete the logs older than 60 days in the var/log folder",
            "clean-logs",
            {"dir": "var/log", "days": 60},
        ),
        ("backup 폴더 데이터베이스 백업해줘", "backup-database", {"target": "backup"}),
        ("run backup-database target=x in delta mode", "backup-database", {"target": "x", "mode": "delta"}),
        ("can you deploy stage=live", "deploy", {"stage": "live"}),
        ("clean-logs days=soon", "clean-logs", {"days": "soon"}),
        ("clean-logs 실행해줘", "clean-logs", {}),
    ],
)
async def test_command_gets_the_parameters_that_are_given(
    query: str, command: str, parameters: dict[str, object]
) -> None:
    (step,) = (await agent().create_execution_plan(query)).plan.steps
    assert step.input_mapping == {"command": command, "parameters": parameters}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("run clean-logs dirr=logs", "dirr"),
        ("run clean-lgs dir=logs", 'did you mean "clean-logs"'),
        ("clean-lgs 실행해줘", 'did you mean "clean-logs"'),
        ("run rotate-keys", "declared are: backup-database"),
    ],
)
async def test_command_that_can_t_be_called_is_refused_by_name(query: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        await agent().create_execution_plan(query)


async def test_request_that_fits_several_commands_asks_which() -> None:
    logs = COMMANDS["clean-logs"]
    twice = {**COMMANDS, "purge-logs": CommandFacts("purge-logs", logs.description, logs.parameters)}
    planner = PlanningAgent(agents(), RulePlanner(twice))
    with pytest.raises(BadInput, match="clean-logs, purge-logs; name one"):
        await planner.create_execution_plan("delete the compressed logs")


async def test_undeclared_deed_is_said_to_be_only_looked_for() -> None:
    planned = await agent().create_execution_plan("delete user records")
    assert kinds(planned) == ["search"]
    assert "No command of this folder does" in planned.notes[0]


async def test_order_words_order_commands_and_searches() -> None:
    after = agent().convert_with_strategy(
        (await agent().create_execution_plan("run clean-logs then search for disk usage")).plan
    )
    before = agent().convert_with_strategy(
        (await agent().create_execution_plan("search for disk usage and then run clean-logs")).plan
    )
    assert [(t.agent_name, t.dependencies) for t in after] == [
        ("command_team", ()),
        ("search_team", ("todo_001",)),
    ]
    assert [(t.agent_name, t.dependencies) for t in before] == [
        ("search_team", ()),
        ("command_team", ("todo_001",)),
    ]
    assert before[0].arguments["query"] == "search for disk usage"


async def test_two_commands_in_order() -> None:
    plan = (await agent().create_execution_plan("run clean-logs and then run backup-database target=x")).plan
    assert [(s.id, s.dependencies) for s in plan.steps] == [("command_1", ()), ("command_2", ("command_1",))]


async def test_disabled_agent_is_planned_without() -> None:
    planned = await agent("analysis_team").create_execution_plan(S1_KO)
    assert kinds(planned) == ["search"]
    assert planned.intent.type == "comprehensive"
    assert planned.notes == ("analysis_team 팀이 꺼져 있어 빼고 계획했습니다.",)
    assert (await agent("analysis_team").create_execution_plan(S1_EN)).notes == (
        "analysis_team is disabled, so the plan goes without it.",
    )


async def test_disabled_search_leaves_an_analysis_that_depends_on_nothing() -> None:
    todos = agent("search_team").convert_with_strategy((await agent("search_team").create_execution_plan(S1_EN)).plan)
    assert [(t.agent_name, t.dependencies) for t in todos] == [("analysis_team", ())]


@pytest.mark.parametrize(
    ("query", "disabled"),
    [
        ("강남구 아파트 시세 조회", ("search_team",)),
        (S1_KO, ("search_team", "analysis_team")),
        ("run clean-logs", ("command_team",)),
    ],
)
async def test_nothing_left_names_what_is_disabled(query: str, disabled: tuple[str, ...]) -> None:
    with pytest.raises(PlanError) as caught:
        await agent(*disabled).create_execution_plan(query)
    assert all(name in caught.value.message for name in disabled)


async def test_agent_that_does_not_exist_counts_as_disabled() -> None:
    only = PlanningAgent({"search_team": agents()["search_team"]})
    assert kinds(await only.create_execution_plan(S1_KO)) == ["search"]


@pytest.mark.parametrize(
    ("query", "looked_for"),
    [
        (
            "web-1's disk is full. Find in the runbook which logs may go, then run clean-logs dir=logs.",
            "web-1's disk is full. Find in the runbook which logs may go",
        ),
        (
            "디스크가 가득 찼어. 런북에서 보관 기간을 찾아줘. 그다음 clean-logs를 실행해줘.",
            "디스크가 가득 찼어. 런북에서 보관 기간을 찾아줘.",
        ),
        (
            "Search the runbook for retention. Run clean-logs. Then search the policy for backups",
            "Search the runbook for retention.",
        ),
    ],
)
async def test_what_is_said_beside_a_command_keeps_its_sentences(query: str, looked_for: str) -> None:
    planned = await agent().create_execution_plan(query)
    search = next(step for step in planned.plan.steps if step.agent == "search_team")
    assert search.input_mapping["query"] == looked_for


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   \n\t ",
        "!!!",
        "12345",
        "ㅋㅋㅋㅋ",
        "ㅁㄴㅇㄹ",
        "x",
        "hello",
        "안녕하세요",
    ],
)
async def test_what_says_nothing_is_refused_with_an_example(query: str) -> None:
    with pytest.raises(BadInput) as caught:
        await agent().create_execution_plan(query)
    assert "For example" in caught.value.help


@pytest.mark.parametrize(
    "query", ["property", "poverty line", "強制執行とは", "Что такое договор", "k8s", "rhythm", "전세"]
)
async def test_unusual_words_say_something(query: str) -> None:
    assert kinds(await agent().create_execution_plan(query)) == ["search"]


async def test_decomposed_hangul_is_the_same_query() -> None:
    planned = await agent().create_execution_plan(unicodedata.normalize("NFD", S1_KO))
    assert planned.intent == (await agent().create_execution_plan(S1_KO)).intent


@pytest.mark.parametrize(
    ("query", "commands"),
    [
        ("Measure, delete old logs, and verify", ["measure", "clean-logs", "verify"]),
        ("디스크 사용량을 재고, 오래된 로그를 지운 다음 확인해줘", ["measure", "clean-logs", "verify"]),
        ("Delete old logs, but check nothing else", ["clean-logs"]),
    ],
)
def test_a_list_of_deeds_becomes_commands_in_the_order_they_were_said(query: str, commands: list[str]) -> None:
    declared = {
        "measure": CommandFacts("measure", "Show the disk usage (디스크 사용량)"),
        "clean-logs": CommandFacts("clean-logs", "Delete old logs (오래된 로그 삭제)"),
        "verify": CommandFacts("verify", "Show the space that is left"),
    }
    found = list(asked_in(query, declared).calls)
    assert [call.command for call in found] == commands


@pytest.mark.parametrize(
    "query",
    [
        "Run list-files, run clean-logs and compute how much space was freed.",
        "run list-files, then run clean-logs, then calculate how much space was freed",
        "list-files 실행해줘. 그다음 clean-logs 실행해줘. 그다음 용량이 얼마나 줄었는지 계산해줘.",
    ],
)
async def test_what_commands_change_is_computed_after_them_and_not_looked_for_in_documents(query: str) -> None:
    todos = agent().convert_with_strategy((await agent().create_execution_plan(query)).plan)
    assert [(t.agent_name, t.dependencies) for t in todos] == [
        ("command_team", ()),
        ("command_team", ("todo_001",)),
        ("analysis_team", ("todo_001", "todo_002")),
    ]


async def test_commands_wait_for_the_one_said_before() -> None:
    plan = (await agent().create_execution_plan("run clean-logs. Run backup-database target=x")).plan
    assert [(s.id, s.dependencies) for s in plan.steps] == [("command_1", ()), ("command_2", ("command_1",))]
