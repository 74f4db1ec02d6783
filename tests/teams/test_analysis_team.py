"""The analysis team as the supervisor runs it, on the lease example."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.core.written_language import language_of
from hitl_tui.tables import profile
from hitl_tui.tables.ask import ask
from hitl_tui.tables.engine import TableError
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import described
from hitl_tui.teams.analysis.team import AnalysisTeam
from hitl_tui.teams.contract import Preparation, PreviewContext, Team, TeamContext, TeamResult, TeamTask

LEASE = Path(__file__).parents[2] / "examples" / "lease"
RISE_KO = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
RISE_EN = (
    "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?"
)
STAGES = ["prepare", "preprocess", "analyse", "generate_insights", "create_report", "finalise"]


def passages(name: str, *needles: str) -> list[dict[str, Any]]:
    """The lines of an example file that hold one of the words, as the search team hands passages over."""
    heading, found = "", []
    for number, line in enumerate((LEASE / name).read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif any(needle in line for needle in needles):
            place = {"path": name, "line": number, "end_line": number, "page": 0}
            found.append({**place, "heading": heading, "text": line, "score": 1.0})
    assert found
    return found


def line_of(name: str, needle: str) -> str:
    (place,) = passages(name, needle)
    return f"{name}:{place['line']}"


class NoEffects:
    async def __call__(self, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        raise AssertionError("the analysis team changes nothing")


async def run(
    query: str,
    found: list[dict[str, Any]] | None,
    *,
    text: str | None = None,
    workspace: Path = LEASE,
    **arguments: Any,
) -> tuple[TeamResult, list[str]]:
    team = AnalysisTeam()
    inputs = {} if found is None else {"todo_001": TeamResult("", data={"passages": found})}
    bound = team.bind(query if text is None else text, arguments)
    task = TeamTask("todo_002", query, "analyse", bound, inputs)
    lines: list[str] = []
    context = TeamContext(task, workspace, workspace, "key", NoEffects(), lambda line, **_: lines.append(line))
    stages: list[str] = []
    graph = team.build().compile()
    state: Any = {}
    modes: list[Any] = ["updates", "values"]
    async for mode, part in graph.astream({"task": task.task}, context=context, stream_mode=modes):
        if mode == "updates":
            stages.extend(part)
        else:
            state = part
    assert stages == STAGES
    assert json.loads(json.dumps(state)) == state
    assert state["result"]["summary"] not in lines, "a run's end tells it"
    return TeamResult.from_dict(state["result"]), lines


def test_it_is_a_team() -> None:
    team = AnalysisTeam()
    assert isinstance(team, Team)
    assert (team.name, team.risk, team.max_retries, team.timeout) == ("analysis_team", Risk.LOW, 2, 60)
    assert set(team.build().nodes) == set(STAGES)


def test_bind_fills_the_default_and_refuses_what_it_does_not_know() -> None:
    team = AnalysisTeam()
    assert team.bind(" why? ", {}) == {"query": "why?", "analysis_type": "comprehensive"}
    assert team.bind("x", {"query": "y", "analysis_type": "tables"}) == {
        "query": "y",
        "analysis_type": "tables",
    }
    for arguments in ({"analysis_type": "magic"}, {"colour": 1}, {"query": 5}, {"query": "x" * 20_001}):
        with pytest.raises(BadInput):
            team.bind("x", arguments)


def test_a_question_of_the_last_month_is_bound_to_the_day_that_it_is_asked_on() -> None:
    team, tables = AnalysisTeam(), {"analysis_type": "tables"}
    given = team.bind("total sales last month", tables)
    assert given == {"query": "total sales last month", **tables, "today": date.today().isoformat()}
    kept = {**given, "today": "2021-12-31"}
    assert team.bind("", kept) == kept
    assert team.bind("", {**kept, "query": "total sales in 2020"}) == {"query": "total sales in 2020", **tables}
    assert "today" not in team.bind("total sales last month", {})
    with pytest.raises(BadInput):
        team.bind("", {**given, "today": "31 December"})


async def test_what_runs_is_what_was_shown_whatever_day_it_is_by_then(tmp_path: Path) -> None:
    rows = "".join(f"20{year}-{month:02d}-15,{year * 100 + month}\n" for year in (20, 21) for month in range(1, 13))
    (tmp_path / "sales.csv").write_text(f"date,units\n{rows}", encoding="utf-8")
    team, query = AnalysisTeam(), "total units in sales.csv last month"
    arguments = team.bind(query, {"analysis_type": "tables", "today": "2021-12-31"})

    async def no_inputs() -> dict[str, TeamResult]:
        return {}

    shown = await team.preview(arguments, PreviewContext(tmp_path, {}, "", no_inputs))
    assert shown is not None and "2021-11" in shown.queries[0]["words"]
    context = TeamContext(
        TeamTask("todo_001", query, "ask", arguments, {}), tmp_path, tmp_path, "key", NoEffects(), lambda *_, **__: None
    )
    state: Any = await team.build().compile().ainvoke({"task": query}, context=context)
    assert "**2,111**" in TeamResult.from_dict(state["result"]).text


async def test_the_korean_scenario_is_computed_and_held_against_the_law() -> None:
    found = [
        *passages("housing-lease-act.md", "20분의 1", "갱신을 요구할 수 있고"),
        *passages("rent-conversion.md", "연 10%", "두 비율"),
        *passages("deposit-protection.md", "신청 기한"),
    ]
    result, _ = await run(RISE_KO, found)
    law = line_of("housing-lease-act.md", "20분의 1")
    assert result.summary == f"인상률 233.3%, 문서의 상한 5%: 초과; 상한액 3억 1,500만 원 ({law})"
    assert result.data["change_percent"] == "700/3"
    assert result.citations[0].label == law
    assert result.found
    assert "6억 8,500만 원" in result.text
    assert "의견이나 자문이 아닙니다" in result.text
    assert result.data["limit"]["line"] == int(law.rpartition(":")[2])
    assert "“증액 청구는 약정한 차임이나 보증금의 20분의 1(5%)의 금액을 초과하지 못한다" in result.text


async def test_the_english_scenario_gives_the_same_figures_from_either_language() -> None:
    for name, needle in (("summary-en.md", "one twentieth"), ("housing-lease-act.md", "20분의 1")):
        result, _ = await run(RISE_EN, passages(name, needle))
        expected = "Rise 233.3%, limit in the documents 5%: exceeds; the limit allows KRW 315 million"
        assert result.summary == f"{expected} ({line_of(name, needle)})"
        assert "not an opinion" in result.text


async def test_the_limit_is_found_near_a_passage_that_does_not_hold_it() -> None:
    result, _ = await run(RISE_KO, passages("housing-lease-act.md", "갱신을 요구할 수 있고"))
    assert result.citations[0].label == line_of("housing-lease-act.md", "20분의 1")


async def test_the_report_quotes_where_the_cap_does_not_apply() -> None:
    result, _ = await run(RISE_KO, passages("housing-lease-act.md", "20분의 1"))
    assert line_of("housing-lease-act.md", "자유롭게 합의한 증액") in {citation.label for citation in result.citations}
    assert "상한에 딸린 조건" in result.text


async def test_every_citation_is_a_line_of_the_example_that_holds_its_quote() -> None:
    result, _ = await run(RISE_EN, [*passages("summary-en.md", "cap", "one twentieth", "mediation")])
    assert result.citations
    for citation in result.citations:
        lines = (LEASE / citation.path).read_text(encoding="utf-8").splitlines()
        assert citation.quote in "\n".join(lines[citation.line - 1 : citation.end_line])


async def test_prices_of_a_district_come_from_the_table() -> None:
    found = passages("sample-apartment-prices.csv", "샘플은행나무")
    result, _ = await run("강남구 아파트 시세 조회", found)
    assert "평균 23억 1,250만 원" in result.text
    assert result.citations[0].path == "sample-apartment-prices.csv"


async def test_what_a_table_tells_in_a_line_has_no_marks(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("shop[1],amount\nSeoul,3\nBusan,4\n", encoding="utf-8")
    result, _ = await run("total amount where shop[1] is Seoul", None, workspace=tmp_path, analysis_type="tables")
    assert result.summary == "total of amount over 1 row: 3 (shop[1] = Seoul) [sales.csv, query over 2 rows]"


@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("total amount by shop", "Busan 1,204, 3 rows"),
        ("지점(shop)별 amount 합계", "Busan 1,204, 3행"),
        ("list the rows of sales.csv with an amount above 2", "2026-04 Seoul 3, 2 rows"),
        ("total amount by month", "April 3, 3 rows"),
    ],
)
async def test_several_rows_are_told_in_a_line_by_the_first_of_them(
    tmp_path: Path, question: str, summary: str
) -> None:
    rows = "month,shop,amount\n2026-04,Seoul,3\n2026-05,Busan,1204\n2026-06,Jeju,2\n"
    (tmp_path / "sales.csv").write_text(rows, encoding="utf-8")
    result, _ = await run(question, None, workspace=tmp_path, analysis_type="tables")
    assert result.summary == summary


async def test_without_documents_it_computes_from_the_question_and_says_so() -> None:
    result, _ = await run(RISE_KO, None)
    assert result.data["change_percent"] == "700/3"
    assert result.found
    assert "주어진 문서가 없어" in result.text
    assert result.citations == ()


async def test_with_nothing_to_compute_it_says_so() -> None:
    result, _ = await run("What a day", [])
    assert not result.found
    assert "Nothing was computed" in result.summary


async def test_the_type_narrows_what_is_done() -> None:
    law = passages("housing-lease-act.md", "20분의 1")
    change, _ = await run(RISE_KO, law, analysis_type="change")
    assert change.data["limit"] is None
    assert change.data["change_percent"] == "700/3"
    tables, _ = await run(RISE_KO, law, analysis_type="tables")
    assert not tables.found


async def test_malformed_results_of_earlier_todos_are_passed_over(tmp_path: Path) -> None:
    broken: list[Any] = [
        None,
        5,
        {"path": "x.md"},
        {"line": 3},
        {"path": "y.csv", "line": "no"},
        {"path": "z.csv", "line": 1},
    ]
    result, _ = await run(RISE_KO, broken, workspace=tmp_path)
    assert result.data["change_percent"] == "700/3"


async def test_an_edited_question_is_the_only_one_that_is_answered() -> None:
    law = passages("housing-lease-act.md", "20분의 1")
    result, _ = await run(RISE_KO, law, text="전세금 2억을 3억으로 올리면 상한을 얼마나 넘어?")
    assert result.data["change_percent"] == "50"
    assert "10억" not in result.text and "233" not in result.text


@pytest.mark.parametrize(("answer", "told"), [(0, "tea"), (None, "Nearest queries")])
async def test_what_cannot_be_mapped_offers_the_nearest_queries_as_choices(
    tmp_path: Path, answer: int | None, told: str
) -> None:
    (tmp_path / "sales.csv").write_text("product,units\ntea,10\ncoffee,5\ntea,3\n", encoding="utf-8")
    team = AnalysisTeam()
    query = "how many wholesale rows of sales.csv are tea?"
    task = TeamTask("todo_001", query, "ask", team.bind(query, {"analysis_type": "tables"}), {})
    context = TeamContext(task, tmp_path, tmp_path, "key", NoEffects(), lambda *_, **__: None)
    graph = team.build().compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    state: Any = await graph.ainvoke({"task": query}, thread, context=context)
    (asked,) = state["__interrupt__"]
    options = asked.value["options"]
    assert asked.value["question"] == f"“{query}”: which of these queries shall run?"
    assert "default" not in asked.value and "product = tea" in options[0]
    chosen = options[-1] if answer is None else options[answer]
    state = await graph.ainvoke(Command(resume=chosen), thread, context=context)
    result = TeamResult.from_dict(state["result"])
    assert result.found == (answer is not None) and told in result.text
    assert answer is None or "**2**" in result.text


async def test_many_tables_are_looked_at_before_anybody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = many, few, home = tmp_path / "work", tmp_path / "few", tmp_path / "home"
    for folder, tables in zip(folders, (21, 2, 21), strict=True):
        folder.mkdir()
        for number in range(tables):
            (folder / f"sales{number}.csv").write_text("shop,amount\nSeoul,3\nBusan,4\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    for workspace in folders:
        assert await AnalysisTeam().prepare(Preparation(workspace, tmp_path / "cache", {}, lambda _: None)) == 0

    def opened(*_: object) -> None:
        raise TableError("opened again")

    monkeypatch.setattr(profile, "engine", opened)
    assert [table.rows for table in profile.profiles(table_files(many)).tables] == [2] * 21
    for folder in (few, home):
        with pytest.raises(TableError):
            profile.profiles(table_files(folder))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how many rows does sales.csv have?", "sales.csv: how many rows"),
        ("sales.csv는 몇 행이야?", "sales.csv의 행 수"),
        ("sales.csv에서 product별 units 합계는?", "sales.csv의 product별 units 합계, 큰 순"),
        ("which product has the most units in sales.csv?", "sales.csv: product, units, most first"),
    ],
)
def test_a_query_is_called_as_people_say_it(tmp_path: Path, question: str, words: str) -> None:
    (tmp_path / "sales.csv").write_text("product,units\ntea,10\ncoffee,5\ncocoa,3\n", encoding="utf-8")
    mapped = ask(question, table_files(tmp_path)).mapped
    assert mapped is not None
    assert described(mapped.query, mapped.table, language_of(question)) == words


@pytest.mark.parametrize(
    ("question", "words", "sql", "choices"),
    [
        ("How many units of tea are in sales.csv?", "sales.csv: total of units (product = tea)", "sum", 0),
        ("how many wholesale rows of sales.csv are tea?", "", "", 1),
        ("When does the office open?", "", "", 0),
    ],
)
async def test_the_query_is_told_before_anything_runs(
    tmp_path: Path, question: str, words: str, sql: str, choices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sales.csv").write_text("product,units\ntea,10\ncoffee,5\ntea,3\n", encoding="utf-8")
    monkeypatch.setattr("hitl_tui.tables.ask.run", None)
    team = AnalysisTeam()
    arguments = team.bind(question, {"analysis_type": "tables"})

    async def no_inputs() -> dict[str, TeamResult]:
        return {}

    shown = await team.preview(arguments, PreviewContext(tmp_path, {}, "", no_inputs))
    assert team.previews(arguments) and shown is not None
    [planned] = shown.queries
    assert (planned["words"], sql in planned["sql"], bool(planned["sql"])) == (words, True, bool(sql))
    assert len(planned["choices"]) >= choices and bool(planned["choices"]) is bool(choices)
