"""Reports: where they go, what they say, and that nothing is ever written over."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_support import DeclaredDone, MemoryEffects, make_context, run_team

from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import BRIEF, Brief, Citation, PreviewContext, Team, TeamFailure, TeamResult
from hitl_tui.teams.document import team as document_team
from hitl_tui.teams.document.report_text import compose, gather
from hitl_tui.teams.document.team import DocumentTeam, slug, write_report
from hitl_tui.wording.draft_rows import draft_rows

QUERY = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"


LAW = "20분의 1을 초과하지 못한다."


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def search_result() -> TeamResult:
    law = {"path": "docs/임대차.md", "line": 12, "end_line": 13, "page": 0, "heading": "제7조", "text": LAW}
    guide = {
        "path": "docs/guide.pdf",
        "line": 3,
        "page": 4,
        "heading": "",
        "text": "```\n# not a heading <b>",
    }
    passages = [law, guide]
    return TeamResult(
        text="…",
        data={
            "passages": passages,
            "skipped": [{"path": "big.md", "reason": "larger than 20 MB"}],
            "searched": 3,
        },
        citations=(Citation("docs/임대차.md", 12, 13, LAW),),
        summary="2 passages in 2 files",
    )


def analysis_result() -> TeamResult:
    steps = [
        {"what": "rise", "formula": "(10억 − 3억) ÷ 3억 × 100", "value": "233.3 %", "sources": ["query"]},
        {"what": "largest deposit", "formula": "3억 × 1.05", "value": "3억 1,500만 원", "sources": []},
    ]
    return TeamResult(
        text=(
            "## Analysis\n\n### Deeper\n\nThe rise is (10억 − 3억) ÷ 3억 × 100 = 233.3 %.\n\n"
            "```\n# kept <i>\n```\n\n<script>x</script> ![t](http://e/x.png)\n"
        ),
        data={"steps": steps, "not_computed": "no table was given"},
        citations=(Citation("docs/임대차.md", 12, 13, "20분의 1"), Citation("README.md", 1, 1, "hello")),
        summary="Rise 233.3 %, limit 5 %",
    )


INPUTS = {
    "todo_001": search_result(),
    "todo_002": analysis_result(),
    "todo_003": TeamResult(text="Nothing found in 7 files.", summary="nothing found", found=False),
}


def bound(text: str = "보고서: 전세금 인상!", **arguments: Any) -> dict[str, Any]:
    return DocumentTeam().bind(text, arguments)


async def test_a_report_is_written_through_an_effect(tmp_path: Path) -> None:
    team = DocumentTeam()
    assert isinstance(team, Team)
    context = make_context(tmp_path, bound(), query=QUERY, inputs=INPUTS)
    result = await run_team(team, context)
    path = tmp_path / "reports/보고서-전세금-인상.md"
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    assert result.files == ("reports/보고서-전세금-인상.md",)
    assert {k: result.data[k] for k in ("path", "bytes", "sha256")} == {
        "path": result.files[0],
        "bytes": len(content),
        "sha256": sha256,
    }
    assert context.effects.asked == [("write", {"path": result.files[0], "sha256": sha256})]  # type: ignore[attr-defined]
    assert {c.path for c in result.citations} == {"docs/임대차.md", "README.md"}
    assert names(tmp_path / "reports") == [path.name]


async def test_a_finished_effect_is_not_repeated(tmp_path: Path) -> None:
    effects = MemoryEffects()
    context = make_context(tmp_path, bound(), effects=effects, inputs=INPUTS)
    first = await run_team(DocumentTeam(), context)
    assert await run_team(DocumentTeam(), context) == first
    assert effects.acted == 1
    assert len(names(tmp_path / "reports")) == 1


async def test_an_existing_file_gets_a_numbered_neighbour(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    mine = tmp_path / "reports/보고서-전세금-인상.md"
    mine.write_text("mine")
    results = [await run_team(DocumentTeam(), make_context(tmp_path, bound(), inputs=INPUTS)) for _ in range(2)]
    assert [r.files[0] for r in results] == [f"reports/보고서-전세금-인상-{n}.md" for n in (2, 3)]
    assert mine.read_text() == "mine"
    assert "a number was added" in results[0].text


async def test_the_preview_names_the_file_that_is_written(tmp_path: Path) -> None:
    async def inputs() -> Mapping[str, TeamResult]:
        return INPUTS

    asked, team = bound(), DocumentTeam()
    for number, taken in (("", ""), ("-2", asked["path"]), ("-3", asked["path"])):
        file = await team.preview(asked, PreviewContext(tmp_path, {}, QUERY, inputs))
        assert file is not None and file.taken == taken
        said = draft_rows(file, headed=False)[0].text.plain
        assert said.startswith(f"reports/보고서-전세금-인상{number}.md (new")
        assert (await run_team(team, make_context(tmp_path, asked, query=QUERY, inputs=INPUTS))).files == (file.path,)
        assert (tmp_path / file.path).read_text(encoding="utf-8") == file.content


async def test_what_a_person_declared_done_is_said_to_be_that(tmp_path: Path) -> None:
    result = await run_team(DocumentTeam(), make_context(tmp_path, bound(), effects=DeclaredDone()))
    assert "A person said" in result.text
    assert result.files == ()
    assert not (tmp_path / "reports").exists()


# --- what it says ---


def report(query: str = QUERY, title: str = "Report", inputs: Any = INPUTS) -> str:
    return compose(title, query, gather(inputs), "reports")


def test_a_report_has_its_parts_in_the_language_of_the_question() -> None:
    for query, headings in (
        (QUERY, ["질문", "확인한 내용", "출처", "찾지 못한 것", "작성 방법"]),
        ("What now?", ["Question", "Findings", "Sources", "What was not found", "How this was made"]),
    ):
        assert re.findall(r"^## (.*)$", report(query), re.M) == headings
    assert "composed without a model" in report("What now?")
    assert "언어 모델 없이 작성" in report(QUERY)


def test_findings_are_cited_by_file_and_line() -> None:
    text = report()
    target = "../docs/임대차.md#L12"
    assert f"[docs/임대차.md:12]({target}) 제7조 [^1]" in text
    assert "[docs/guide.pdf p.4:3](../docs/guide.pdf#page=4) [^2]" in text
    assert f"[^1]: [docs/임대차.md:12]({target}) “20분의 1을 초과하지 못한다.”" in text
    assert f"- [docs/임대차.md:12]({target})\n" in text
    assert "[README.md:1](../README.md#L1)" in text


def test_a_table_as_a_whole_is_cited_without_a_line() -> None:
    asked = TeamResult(text="Total: 5", citations=(Citation("stock.csv", 0, 0, "SELECT 5"),), summary="Total: 5")
    assert "[stock.csv](../stock.csv)" in compose("Stock", "total stock", gather({"todo_001": asked}), "reports")


def test_each_finding_is_headed_by_its_question_and_begins_with_its_answer() -> None:
    found = search_result()
    quoted = Citation.from_dict(found.data["passages"][0]).label
    brief = Brief("Found in one passage:\n\n> 20분의 1을 초과하지 못한다.", quoted=(quoted,))
    data = found.data | {"query": "상한은?", BRIEF: brief.to_dict()}
    text = report(QUERY, QUERY, {"todo_001": replace(found, data=data)})
    heading, answer = "\n### 1. 상한은?\n", "\n> 20분의 1을 초과하지 못한다.\n"
    assert text.index(heading) < text.index(answer) < text.index("## 출처")
    assert f"```text\n{LAW}" not in text, "what the answer quotes stands there once"
    assert "## 질문" not in text, "the title is the question"


def near_result(*, weak: bool) -> TeamResult:
    """What a search hands over: a passage that its answer quotes, and rows that only came near."""
    quoted = {"path": "notes/shipping.md", "line": 5, "end_line": 5, "page": 0, "heading": "", "text": "On Tuesday."}
    near = {"path": "fees.csv", "line": 88, "end_line": 90, "page": 0, "heading": "", "text": "name: Lee, fee: 30000"}
    brief = Brief(answer="Found:\n\n`notes/shipping.md:5`\n\n> On Tuesday.", quoted=("notes/shipping.md:5",))
    return TeamResult(
        text="…",
        data={"query": "When do parcels leave?", "passages": [quoted, near], "weak": weak, BRIEF: brief.to_dict()},
        citations=(Citation("notes/shipping.md", 5, 5, "On Tuesday."), Citation("fees.csv", 88, 90, "name: Lee")),
        summary="2 passages",
    )


def test_a_report_holds_what_answers_and_not_what_only_came_near() -> None:
    report = compose("Parcels", "", gather({"todo_001": near_result(weak=False)}), "reports")
    assert "> On Tuesday." in report and "fees.csv" not in report and "30000" not in report


def test_what_has_no_sure_answer_is_named_beside_what_has_one() -> None:
    both = gather({"todo_001": near_result(weak=True), "todo_002": analysis_result()})
    report = compose("Parcels", "", both, "reports")
    assert "On Tuesday" not in report and "fees.csv" not in report
    assert "- When do parcels leave? (no sure answer; nearest: notes/shipping.md:5)" in report
    alone = compose("Parcels", "", gather({"todo_001": near_result(weak=True)}), "reports")
    assert "> On Tuesday." in alone, "where nothing answers, what came nearest is all there is"


def test_a_report_on_something_else_does_not_name_the_first_question_of_the_session() -> None:
    found = search_result()
    asked = {"todo_001": replace(found, data=found.data | {"query": "상한은?"})}
    assert "## 질문" not in report("연체료가 있나요?", "상한", asked)
    assert "## 질문" in report("연체료가 있나요? 상한은?", "상한", asked)


def test_arithmetic_is_there_once() -> None:
    text = report()
    assert text.count("(10억 − 3억) ÷ 3억 × 100") == 1
    assert "- largest deposit: 3억 × 1.05 = 3억 1,500만 원" in text


def test_what_was_not_found_is_said() -> None:
    missing = report("What now?").partition("## What was not found")[2]
    assert "- nothing found" in missing
    assert "- no table was given" in missing
    assert "- big.md: larger than 20 MB (not read)" in missing
    assert "No earlier step gave a result." in report("What now?", inputs={})


def test_text_of_others_stays_in_its_place() -> None:
    text = report()
    assert "````text\n```\n# not a heading <b>\n````" in text
    assert "\n#### Analysis\n" in text
    assert "\n##### Deeper\n" in text
    assert "```\n# kept <i>\n```" in text
    assert "\\<script>x\\</script> !\\[t](http://e/x.png)" in text


def test_invisible_and_moving_characters_are_shown() -> None:
    hostile = "a\x1b[2Jb\u202ec\u200bd\ud800"
    inputs = {
        hostile: TeamResult(
            text=hostile,
            data={
                "passages": [{"path": hostile, "line": 1, "text": hostile, "heading": hostile}],
                "steps": [hostile],
            },
            summary=hostile,
        ),
        "b": TeamResult(text=hostile, summary=hostile, found=False, files=(hostile,)),
    }
    text = report(hostile, hostile, inputs)
    text.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u200b]", text)


def test_the_same_input_gives_the_same_bytes() -> None:
    assert report() == report()


texts = st.text("a가1 \n`[]()<>#|!:/.\\\x1b\0\ud800\u202e\u3164", max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["passages", "steps", "skipped", "not_computed"]), json_values),
    texts,
)
def test_any_data_of_other_teams_can_be_reported(data: dict[str, Any], text: str) -> None:
    passage = {"path": text or "x", "line": data.get("steps"), "text": data.get("skipped"), "page": -1}
    inputs = {
        "a": TeamResult(text, data),
        "b": TeamResult(text, {**data, "passages": [passage, data]}, found=False),
    }
    report(text, text, inputs).encode("utf-8")


def test_a_huge_result_is_cut() -> None:
    assert len(report(inputs={"a": TeamResult("x" * 5_000_000, summary="y" * 9_000)})) < 250_000


# --- what is bound ---


def test_a_title_that_is_too_long_ends_with_a_word() -> None:
    words = "What is to be paid for tents when somebody who had booked them cancels the booking too late"
    title = bound(words)["title"]
    assert words.startswith(title.removesuffix("…")) and words[len(title.removesuffix("…"))] == " "


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("보고서: 전세금 인상!", "보고서-전세금-인상"),
        ("A  B/C\\..", "a-b-c"),
        ("../../etc/passwd", "etc-passwd"),
        ("\u3164\u200b…", "report"),
        ("한글", "한글"),
        ("Über Straße 2.0", "über-strasse-2-0"),
        ("가" * 60, "가" * 50),
        (
            "What is to be paid for tents when somebody cancels them too late",
            "what-is-to-be-paid-for-tents-when-somebody-cancels-them-too",
        ),
    ],
)
def test_slugs_keep_letters_of_any_script(title: str, stem: str) -> None:
    assert slug(title) == stem
    assert bound(title)["path"] == f"reports/{stem}.md"


@given(texts | st.text())
def test_a_slug_is_always_a_plain_file_name(title: str) -> None:
    stem = slug(title)
    assert 0 < len(stem) <= 60
    assert len(stem.encode("utf-8")) <= 150
    assert not re.search(r"[\s/\\.\x00]", stem)
    assert not stem.startswith("-")
    assert DocumentTeam().bind(title, {})["path"].endswith(".md")


def test_binding_is_stable_and_says_what_happens_to_existing_files() -> None:
    arguments = bound("Title\nmore words")
    assert arguments == {"title": "Title", "path": "reports/title.md", "if_exists": "a number is added"}
    assert DocumentTeam().bind("other", arguments) == arguments
    assert bound("x", title="y", date="2026-11-21")["path"] == "reports/2026-11-21-y.md"
    assert bound("")["title"] == "Report"
    assert DocumentTeam().risk_of(arguments) is Risk.HIGH
    assert DocumentTeam("out/here/").bind("x", {})["path"] == "out/here/x.md"
    assert DocumentTeam(".").bind("x", {})["path"] == "./x.md"
    assert bound("x", path="y.md")["path"] == "reports/y.md"


@pytest.mark.parametrize(
    "path",
    ["/etc/x.md", "reports/../x.md", "reports/a/b.md", "reports/.x.md", "reports/x.txt", "",
     "reports/.md", "reports/a\u202eb.md", "reports/a\nb.md", "reports/a\\b.md", f"reports/{'x' * 300}.md"],
)  # fmt: skip
def test_a_path_outside_the_folder_is_refused(path: str) -> None:
    with pytest.raises(BadInput):
        bound("x", path=path)


@pytest.mark.parametrize("arguments", [{"titel": "x"}, {"title": 3}, {"if_exists": "overwrite"}])
def test_unknown_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        DocumentTeam().bind("x", arguments)


@pytest.mark.parametrize("folder", ["/tmp", "..", "../x", "a/../../x", "~", "~me/x", "a\nb"])
def test_a_folder_outside_the_workspace_is_refused(folder: str) -> None:
    with pytest.raises(BadInput, match="must be in the workspace"):
        DocumentTeam(folder)


# --- how it is written ---


@pytest.mark.parametrize("target", ["outside", "missing-outside", "/tmp"])
async def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "reports").symlink_to(tmp_path / target)
    with pytest.raises(BadInput, match="leads out of the workspace"):
        await run_team(DocumentTeam(), make_context(workspace, bound()))
    assert names(tmp_path / "outside") == []
    assert not (tmp_path / "missing-outside").exists()


def test_a_link_within_the_workspace_is_followed(tmp_path: Path) -> None:
    (tmp_path / "reports").symlink_to(tmp_path / "deep/er")
    assert write_report(tmp_path, "reports/x.md", b"x") == "reports/x.md"
    assert (tmp_path / "deep/er/x.md").read_bytes() == b"x"


def test_a_link_with_the_name_of_the_report_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/x.md").symlink_to(tmp_path / "nowhere")
    assert write_report(tmp_path, "reports/x.md", b"x") == "reports/x-2.md"
    assert not (tmp_path / "nowhere").exists()


def test_a_workspace_that_is_itself_reached_by_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert write_report(tmp_path / "link", "reports/x.md", b"x") == "reports/x.md"


def test_what_the_file_system_refuses_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(TeamFailure, match=r"reports/x.md can't be written: Not a directory"):
        write_report(tmp_path, "reports/x.md", b"x")
    with pytest.raises(TeamFailure, match="can't be written"):
        write_report(tmp_path / "gone", "reports/x.md", b"x")


def test_many_writers_at_once_all_keep_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        contents = [str(n).encode() * 1000 for n in range(24)]
        paths = list(pool.map(lambda content: write_report(tmp_path, "reports/x.md", content), contents))
    assert len(set(paths)) == 24
    assert [(tmp_path / path).read_bytes() for path in paths] == contents
    assert len(names(tmp_path / "reports")) == 24


def _no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_without_hard_links_it_is_still_exclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_team.os, "link", _no_links)
    assert [write_report(tmp_path, "reports/x.md", n) for n in (b"1", b"2")] == [
        "reports/x.md",
        "reports/x-2.md",
    ]
    assert (tmp_path / "reports/x.md").read_bytes() == b"1"
    assert names(tmp_path / "reports") == ["x-2.md", "x.md"]


@pytest.mark.parametrize("step", ["fsync", "link", "rename"])
def test_a_failure_at_any_step_leaves_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "rename":
        monkeypatch.setattr(document_team.os, "link", _no_links)
    monkeypatch.setattr(document_team.os, step, fail)
    with pytest.raises(TeamFailure, match="No space left on device"):
        write_report(tmp_path, "reports/x.md", b"x" * 100)
    monkeypatch.undo()
    assert names(tmp_path / "reports") == []


@pytest.mark.parametrize("links", [True, False])
def test_killed_at_any_call_there_is_a_whole_report_or_none(tmp_path: Path, links: bool) -> None:
    """A child process ends itself, as kill -9 would, just before its n-th call to the system, for every n."""
    content = b"whole" * 1000
    number = ended = 0
    while not ended:
        number += 1
        workspace = tmp_path / str(number)
        workspace.mkdir()
        child = os.fork()
        if child == 0:
            _write_and_die(workspace, content, number, links)
        _, status = os.waitpid(child, 0)
        ended = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
        reports = list(workspace.glob("reports/*.md"))
        for path in reports:
            assert path.read_bytes() in ((content,) if links else (content, b""))
        if ended:
            assert [p.read_bytes() for p in reports] == [content]
    assert number > 8


def _write_and_die(workspace: Path, content: bytes, deadly: int, links: bool) -> None:
    calls = 0

    def counted(name: str) -> None:
        original = getattr(os, name)

        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == deadly:
                os.kill(os.getpid(), 9)
            return original(*arguments, **named)

        setattr(document_team.os, name, call)

    if not links:
        document_team.os.link = _no_links  # type: ignore[assignment]
    for name in ("mkdir", "open", "fdopen", "fsync", "link", "rename", "unlink", "close"):
        counted(name)
    code = 1
    try:
        write_report(workspace, "reports/x.md", content)
        code = 0
    finally:
        os._exit(code)
