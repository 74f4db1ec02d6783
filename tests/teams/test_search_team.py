"""The search team as the supervisor meets it."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from team_support import Progress, make_context, run_team

from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Team, TeamResult, brief_of
from hitl_tui.teams.search.team import SearchTeam

LEASE = """# Lease

## Cap

The landlord may raise the deposit by at most 5 % at renewal.

## Pets

Pets are welcome.
"""


async def search(workspace: Path, text: str, progress: Progress | None = None, **arguments: Any) -> TeamResult:
    team = SearchTeam()
    return await run_team(team, make_context(workspace, team.bind(text, arguments), progress=progress))


def test_it_is_a_team_of_low_risk() -> None:
    team = SearchTeam()
    assert isinstance(team, Team)
    assert (team.name, team.max_retries, team.timeout) == ("search_team", 2, 120)
    assert team.risk_of(team.bind("x", {})) is Risk.LOW


def test_bind_gives_the_exact_arguments() -> None:
    team = SearchTeam(["docs/", "notes/**/*.md"])
    assert team.bind("  deposit cap ", {}) == {
        "query": "deposit cap",
        "limit": 8,
        "documents": ["docs", "notes/**/*.md"],
    }
    assert team.bind("ignored", {"query": "rent", "limit": "3", "documents": "docs"}) == {
        "query": "rent",
        "limit": 3,
        "documents": ["docs"],
    }


async def test_an_unsure_answer_says_so_first_and_what_stands_nowhere(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE, encoding="utf-8")
    sure, unsure = (
        await search(tmp_path, "How much may the deposit rise?"),
        await search(tmp_path, "By how much may the landlord of the zorbium raise the deposit?"),
    )
    assert sure.data["weak"] is False
    assert unsure.data["weak"] is True
    assert unsure.text.startswith("No sure answer was found in the 1 file searched. Not in these documents: zorbium.")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", {}, "query can't be used"),
        ("  ", {"limit": 3}, "needs a query"),
        ("x" * 20_001, {}, "query can't be used"),
        ("x", {"limit": 0}, "minimum of 1"),
        ("x", {"limit": True}, "must be a whole number"),
        ("x", {"limit": "many"}, "must be a whole number"),
        ("x", {"documents": 3}, "must be a list"),
        ("x", {"documents": []}, "should be non-empty"),
        ("x", {"documents": ["../secret"]}, "inside the workspace"),
        ("x", {"depth": 1}, 'no parameter "depth"; it takes query, limit, documents'),
    ],
)
def test_bind_refuses_what_cannot_be_used(text: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        SearchTeam().bind(text, arguments)


def test_a_constructor_pattern_that_leads_out_is_refused() -> None:
    with pytest.raises(BadInput):
        SearchTeam(["/etc"])


async def test_what_was_found_is_cited_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    (tmp_path / "broken.pdf").write_bytes(b"nothing")
    progress = Progress()
    result = await search(tmp_path, "By how much may the deposit rise?", progress)
    assert result.found
    best = result.citations[0]
    assert (best.path, best.line, best.end_line) == ("lease.md", 5, 5)
    assert best.quote == "The landlord may raise the deposit by at most 5 % at renewal."
    assert "`lease.md:5`" in result.text and f"> {best.quote}" in result.text
    assert "Not searched (1): broken.pdf (broken PDF" in result.text
    assert result.summary == "1 passage in 1 file, best: lease.md:5"
    assert result.data["hits"] == 1 and result.data["searched"] == 1
    assert result.data["passages"][0]["heading"] == "Lease > Cap"
    assert result.data["skipped"][0]["path"] == "broken.pdf"
    assert "indexed 1 file" in progress.lines
    assert not any("passage" in line for line in progress.lines), "its result says so, and once is enough"


async def test_what_is_said_follows_the_language_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text("# 임대차\n\n보증금은 갱신할 때 5% 이내에서 올릴 수 있다.\n")
    progress = Progress()
    korean = await search(tmp_path, "보증금은 얼마나 올릴 수 있나요?", progress)
    assert korean.summary == "파일 1개에서 구절 1개, 첫째: lease.md:3"
    assert "파일 1개 색인" in progress.lines
    english = await search(tmp_path, "What does the lease say about 보증금?")
    assert english.summary == "1 passage in 1 file, best: lease.md:3"


async def test_the_best_passage_is_what_a_search_answers(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    brief = brief_of((await search(tmp_path, "By how much may the deposit rise?")).to_dict())
    assert brief is not None
    assert "`lease.md:5`" in brief.answer and "> The landlord may raise" in brief.answer
    assert brief.quoted == ("lease.md:5",) == (brief.evidence[0].label,)
    nothing = brief_of((await search(tmp_path, "Kubernetes ingress annotations")).to_dict())
    assert nothing is not None and not nothing.answer
    assert nothing.absent[-1] == "Not in these documents: Kubernetes, ingress, annotations."


async def test_nothing_found_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    result = await search(tmp_path, "Kubernetes ingress annotations")
    assert not result.found and result.citations == ()
    assert result.text.startswith("Nothing found: no passage in the 1 file searched")
    assert "Not in these documents: Kubernetes, ingress, annotations." in result.text
    assert result.summary == "nothing found in 1 file"
    korean = await search(tmp_path, "강남구 아파트 시세")
    assert korean.text.startswith("찾지 못했습니다: 검색한 파일 1개")


async def test_an_empty_workspace_is_said_plainly(tmp_path: Path) -> None:
    result = await search(tmp_path, "overtime")
    assert not result.found
    assert result.text.startswith("Nothing found: there is no document to search.\n\nNot in these documents: overtime.")


async def test_what_was_left_out_is_counted_and_a_named_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    (tmp_path / "plan.bin").write_bytes(bytes(range(256)))
    (tmp_path / "photo.txt").write_bytes(bytes(range(256)) * 40)
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(21 * 1024 * 1024)
    (tmp_path / "broken.pdf").write_bytes(b"nothing")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "old.md").write_text("The deposit may rise by 50 %, says a report.")
    (tmp_path / "kept" / "sessions" / "s1").mkdir(parents=True)
    (tmp_path / "kept" / "ledger.db").touch()
    (tmp_path / "kept" / "sessions" / "s1" / "query.md").write_text("By how much may the deposit rise?")
    result = await search(tmp_path, "By how much may the deposit rise in broken.pdf and plan.bin?")
    assert {citation.path for citation in result.citations} == {"lease.md"}, "neither reports nor sessions are sources"
    left_out = dict(result.data["left_out"])
    assert left_out.pop("ignored") >= 2 and left_out == {"binary": 2, "large": 1, "unreadable": 1}
    assert "2 binary, 1 too large" in result.text and "1 unreadable" in result.text
    assert "`broken.pdf` wasn't searched: broken PDF" in result.text
    assert "`plan.bin` wasn't searched" in result.data["brief"]["answer"]


async def test_limit_and_documents_are_kept(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(5):
            (tmp_path / folder / f"{number}.md").write_text(f"Refund case {folder}{number} took {number} days.")
    result = await search(tmp_path, "refund case", limit=3, documents=["b"])
    assert len(result.citations) == 3
    assert all(citation.path.startswith("b/") for citation in result.citations)


async def test_a_missing_workspace_is_one_sentence(tmp_path: Path) -> None:
    team = SearchTeam()
    context = replace(make_context(tmp_path / "work", team.bind("x", {})), cache=tmp_path / "cache")
    with pytest.raises(BadInput, match="can't be searched"):
        await run_team(team, context)


async def test_the_stages_are_visible_and_a_cache_lost_between_them_is_not_missed(tmp_path: Path) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    (tmp_path / "lease.md").write_text(LEASE)
    team = SearchTeam()
    context = make_context(tmp_path, team.bind("pets", {}))
    graph = team.build().compile(checkpointer=InMemorySaver(), interrupt_before=["report"])
    config: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"task": "pets"}, config, context=context)
    assert (await graph.aget_state(config)).next == ("report",)
    await asyncio.to_thread(shutil.rmtree, context.cache)
    state = await graph.ainvoke(None, config, context=context)
    assert TeamResult.from_dict(state["result"]).citations[0].label == "lease.md:9"


async def test_state_stays_small_whatever_the_files_hold(tmp_path: Path) -> None:
    (tmp_path / "wide.md").write_text("otter " * 200_000)
    (tmp_path / "odd.txt").write_text("otter \x00 \x1b[2J " + "words " * 50)
    for number in range(80):
        (tmp_path / f"{number}.pdf").write_bytes(b"broken")
    result = await search(tmp_path, "otter")
    assert result.data["skipped_count"] == 80 and len(result.data["skipped"]) == 50
    assert all(len(citation.quote) <= 1_050 for citation in result.citations)
    assert len(result.text) < 20_000


async def test_cancelling_stops_the_reading(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.md").write_text("badger " * 4_000)
    team = SearchTeam()
    started = asyncio.Event()

    def progress(line: str, *, fraction: float | None = None) -> None:
        started.set()

    context = make_context(tmp_path, team.bind("badger", {}), progress=progress)
    run = asyncio.create_task(run_team(team, context))
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    # A second run has the cache for itself: the first one's thread gave up.
    result = await search(tmp_path, "badger")
    assert result.found


async def test_a_line_feed_in_a_file_s_name_is_seen_as_such(tmp_path: Path) -> None:
    (tmp_path / "cap\nfor 2026.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    (tmp_path / "un\nread.pdf").write_bytes(b"%PDF-1.4 broken")
    result = await search(tmp_path, "cap")
    assert [c.path for c in result.citations] == ["cap\nfor 2026.md"], "the path itself is the file's"
    assert result.citations[0].label == "cap␊for 2026.md:1"
    assert "cap␊for 2026.md:1" in result.summary
    assert "`cap␊for 2026.md:1`" in result.text and "un␊read.pdf (" in result.text
    assert "cap\nfor" not in result.text
