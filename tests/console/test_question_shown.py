"""What a question shows, and in which order: what would run, what it would do, what it works from, who asks (C3)."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from console_support import RISE, console

from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.json_text import canonical, digest, in_order, key_order
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import OPTIONS, Kind, Outcome, Request, Resolution
from hitl_tui.language import using
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.teams.command.listed_files import listed_files
from hitl_tui.wording.evidence_rows import preview_rows, size_words
from hitl_tui.wording.interrupt_rows import detail_rows
from hitl_tui.wording.markdown_text import is_markdown, rendered_markdown
from hitl_tui.wording.question_rows import body, details, heading, whole
from hitl_tui.wording.subject_rows import deletes

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLEAN = {
    "command": "clean-logs",
    "parameters": {"days": 14},
    "argv": ["find", "logs", "-name", "*.gz", "-delete"],
    "timeout": 60.0,
    "exit_codes": [0],
    "programs": {"find": "0" * 64},
}


def question(
    arguments: dict[str, Any], about: dict[str, Any], *, source: str = "command_team", evidence: Any = None, **more: Any
) -> Question:
    subject: Any = {"arguments": arguments, "task": "do it", "inputs": more.pop("inputs", {})}
    given: Any = {"risk": "high", **about}
    asked = Request(
        "q", "s1", 0, Kind.TODO, "todo_003", source, subject, digest(subject), options=OPTIONS[Kind.TODO], about=given,
        **more,
    )  # fmt: skip
    return Question(RequestView(asked, (), Resolution(Outcome.PENDING, None, (), 1), evidence or {}))


def shown(asked: Question) -> list[str]:
    return [f"{row.label}: {row.text.plain}" if row.label else row.text.plain for row in body(asked, "6", read="8")]


# The title ---------------------------------------------------------------------------------------------------------


def test_the_title_says_why_the_risk_is_what_it_is_where_there_is_room() -> None:
    verify = {**CLEAN, "argv": ["python3", "verify.py"]}
    reason = {"title": "Run: verify", "risk": "medium", "risk_reason": Message("as hitl.toml declares")}
    assert heading(question(verify, reason)).plain.endswith("MEDIUM RISK: as hitl.toml declares")
    assert heading(question(verify, reason), width=50).plain.endswith("MEDIUM RISK")
    with using("ko"):
        assert "hitl.toml에 선언된 대로" in heading(question(verify, reason)).plain
    assert "RISKY: deletes files" in heading(question(CLEAN, {**reason, "risk": "high"})).plain
    assert heading(question(verify, {**reason, "risk": "low"})).plain.endswith("low risk")


def test_a_title_leaves_out_the_least_important_first_and_cuts_the_step_s_own_last() -> None:
    about = {
        "title": "Run: clean-logs",
        "priority": "high",
        "dependencies": [{"id": "todo_002", "status": "completed"}],
    }
    terms = {"terms": Terms(quorum=2, deadline=600.0), "deadline": "2026-01-01T00:09:12+00:00"}
    asked = question(CLEAN, about, **terms)
    whole = "Approve 003? · clean-logs · command · RISKY: deletes files · high priority · after 002"
    assert heading(asked, now=NOW).plain == f"{whole} · expires in 9:12 · votes 1/2"
    shortest = "Approve 003? · RISKY · expires in 9:12 · votes 1/2"
    seen = [heading(asked, "", NOW, width).plain for width in range(120, len(shortest), -1)]
    assert all(len(line) <= width for line, width in zip(seen, range(120, len(shortest), -1), strict=True))
    assert all(line.startswith("Approve 003? · ") and line.endswith(" · expires in 9:12 · votes 1/2") for line in seen)
    gone = [
        next(n for n, line in enumerate(seen) if part not in line) for part in ("after", "high", "command", "deletes")
    ]
    assert gone == sorted(gone)
    assert "clean-l…" in " ".join(seen) and seen[-1] == shortest


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["rm", "-r", "old"], True),
        (["/bin/rm", "a"], True),
        (["find", ".", "-name", "-delete-me"], False),
        (["find", ".", "-delete"], True),
        (["find", ".", "-exec", "rm", "{}", "+"], True),
        (["python3", "delete.py"], False),
        ([], False),
    ],
)
def test_that_a_command_deletes_is_said_only_of_what_is_known_to(argv: list[str], says: bool) -> None:
    assert deletes(argv) is says
    if argv:
        assert ("deletes files" in heading(question({**CLEAN, "argv": argv}, {})).plain) is says


# What it would do --------------------------------------------------------------------------------------------------


def test_a_listing_is_counted_only_where_each_line_names_a_file_of_the_workspace(tmp_path: Path) -> None:
    work = tmp_path / "w"
    (work / "logs").mkdir(parents=True)
    for name, size in (("a b.gz", 1500), ("로그.gz", 2000), ("c.gz", 4)):
        (work / "logs" / name).write_bytes(b"x" * size)
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    assert listed_files("logs/a b.gz\nlogs/로그.gz\n", work) == (2, 3500)
    assert listed_files("1.5K logs/a b.gz\n  4\tlogs/c.gz\nlogs/c.gz\n", work) == (2, 1504), "columns, and one twice"
    listed = "total 8\n-rw-r--r-- 1 me us 1500 Jan  1 00:00 logs/a b.gz\n"
    assert listed_files(listed, work) == (1, 1500)
    for text in ("", "logs/c.gz\n3 files\n", "logs\n", "../secret\n", f"{tmp_path}/secret\n", "10,000 records go\n"):
        assert listed_files(text, work) is None, text


@pytest.mark.parametrize(
    "argv",
    [
        ["ls", "-1s", "app.log", "b.log"],
        ["ls", "-1skh", "app.log", "b.log"],
        ["ls", "-lh", "app.log", "b.log"],
        ["sh", "-c", "ls -s app.log; ls -ls 'b.log'"],
        ["du", "app.log", "b.log"],
        ["du", "-h", "app.log", "b.log"],
        ["du", "-b", "app.log", "b.log"],
        ["find", ".", "-type", "f", "-ls"],
        ["find", ".", "-type", "f", "-printf", "%s %p\n"],
        ["stat", "-c", "%s %n", "app.log", "b.log"],
        ["wc", "-l", "app.log", "b.log"],
        ["wc", "-l", "app.log"],
        ["find", ".", "-name", "app.log", "-exec", "wc", "-l", "{}", "+"],
        ["grep", "-c", "x", "app.log"],
    ],
)
def test_a_count_before_a_path_is_no_size(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "app.log").write_text("x" * 49 + "\n" + "line\n" * 3000, encoding="utf-8")
    (tmp_path / "b.log").write_text("b\n", encoding="utf-8")
    text = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    counts = "wc" in argv or "grep" in argv
    assert listed_files(text, tmp_path, argv) == (None if counts else (2, 15_052)), text


def test_what_would_be_deleted_is_counted_and_how_a_preview_ended_is_told_only_where_it_went_wrong() -> None:
    looked = ["find", "d", "-name", "*.gz", "-print"]
    listing = {"text": "a.gz\nb.gz\n", "lines": 2, "exit_code": 0, "files": 2, "bytes": 3_200_000, "argv": looked}
    deleting = [*looked, "-delete"]

    def said(evidence: dict[str, Any], argv: list[str]) -> list[str]:
        return [f"{row.label} {row.text.plain}".strip() for row in preview_rows(evidence, 12, "6", argv)]

    assert said(listing, deleting) == ["would delete 2 files, 3.2 MB", "│ a.gz", "│ b.gz"]
    assert said(listing, ["rm", "-f", "a.gz", "b.gz"])[0] == "would delete 2 files, 3.2 MB"
    more = "preview lists 2 files, 3.2 MB · more may be deleted than it lists"
    beside = [*looked[:-1], "-delete", "-o", "-name", "*.txt", "-delete"]
    for argv in (beside, ["rm", "a.gz"], ["rm", "-rf", "a.gz", "b.gz"], ["find", "d", "-delete"], ["unlink", "c"]):
        assert said(listing, argv)[0] == more, argv
    assert said(listing, ["mv", "a", "b"])[0] == "preview 2 files, 3.2 MB"
    records = {"text": "10 records go\n12 stay\n", "lines": 2, "exit_code": 0}
    assert said(records, ["rm"]) == ["preview", "│ 10 records go", "│ 12 stay"]
    assert said({"text": "10 records go\n", "lines": 1, "exit_code": 0}, ["rm"]) == ["preview 10 records go"]
    nothing = {"text": "", "lines": 0, "exit_code": 0, "argv": looked}
    assert said(nothing, deleting) == ["would delete nothing"]
    assert said(nothing, ["rm", "-r", "d"]) == ["preview nothing is listed"]
    assert said({**listing, "exit_code": 2}, ["rm"])[0] == "preview 2 lines, exit code 2"
    assert said({**listing, "timed_out": True}, ["rm"])[0] == "preview 2 lines, timed out"
    assert [size_words(n) for n in (1, 999, 1000, 9_949, 231_000, 999_600, 3_296_000)] == [
        "1 byte", "999 bytes", "1.0 KB", "9.9 KB", "231 KB", "1.0 MB", "3.3 MB"
    ]  # fmt: skip


# What it works from, and what stands only in the details -----------------------------------------------------------


def test_a_command_is_shown_with_what_it_would_do_and_the_result_before_it_and_nothing_of_its_settings() -> None:
    results = [{"id": "todo_002", "summary": "measure: 8 lines, the last: 4.8M web-1", "found": True}]
    looked = ["find", "logs", "-name", "*.gz"]
    evidence = {"text": "logs/a.gz\n", "lines": 1, "exit_code": 0, "files": 1, "bytes": 231_000, "argv": looked}
    asked = question(CLEAN, {"title": "Run: clean-logs", "results": results}, evidence=evidence)
    assert shown(asked) == [
        "runs: find logs -name '*.gz' -delete",
        "would delete 1 file, 231 KB",
        "  │ logs/a.gz",
        "from 002: measure: 8 lines, the last: 4.8M web-1 · 8 shows it whole",
    ]
    everything = "\n".join(f"{row.label} {row.text.plain}" for row in details(asked, "/srv/w"))
    for part in (
        "in /srv/w",
        "stopped after 60 s",
        "find as it is now · sha256 0000",
        asked.digest,
        "do it",
        "Run: clean-logs",
    ):
        assert part in everything


def test_settings_of_a_team_stand_in_the_details_and_the_rest_in_its_order() -> None:
    arguments = {"documents": ["."], "limit": 8, "query": "the cap"}
    about = {"title": "Search: the cap", "risk": "low", "settings": ["limit", "documents"]}
    asked = question(arguments, {**about, "order": [["query", "limit", "documents"]]}, source="search_team")
    assert shown(asked) == ["query: the cap"]
    everything = [row.label for row in details(asked, "/srv/w")]
    assert everything.index("limit") < everything.index("documents") < everything.index("in")
    before = question(arguments, {"title": "Search: the cap", "risk": "low"}, source="search_team")
    assert shown(before) == ["task: do it", "documents: the whole folder", "limit: 8", "query: the cap"], (
        "of an earlier version"
    )


def test_a_result_is_never_a_bare_digest() -> None:
    found = question({"query": "x"}, {"settings": []}, inputs={"todo_001": "a" * 64, "todo_002": None})
    assert shown(found)[1:] == ["from 001: its result · 8 shows it whole", "from 002: not there yet"]
    assert "aaaaaaaa" not in " ".join(shown(found))


@pytest.mark.long
async def test_one_key_shows_what_a_step_works_from(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("8")
        assert c.message == "This step works from no earlier result."
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.panel.question and c.panel.question.todo_id == "todo_002", "the next step")
        await c.until(lambda: c.panel.read, "it was read")
        assert "from 001" in [row.label for row in c.panel.query_one("#question-text").rows]
        c.clock.rest()
        await c.press("8")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the result")
        assert isinstance(c.app.screen, TextViewer)
        (result,) = [row.text.plain for row in c.app.screen._shown if row.markdown]
        todo, handle = c.snapshot.todo("todo_001"), c.session.handle
        assert handle is not None and todo is not None and todo.result is not None
        kept = await handle.session.artifact(str(todo.result["digest"]))
        assert result == kept["text"], "all of it"
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        assert c.panel.question is not None and not c.panel.question.view.decisions


# Texts and fields --------------------------------------------------------------------------------------------------

MAIL = {"to": "ann@example.com", "subject": "Hi", "body": "Dear Ann,\n\n안녕\n", "n": [{"z": 1, "a": {"y": 2, "b": 3}}]}


def test_fields_come_in_the_order_in_which_a_graph_gave_them() -> None:
    order = key_order([MAIL, None])
    sorted_again = json.loads(canonical([MAIL, None]))
    assert list(sorted_again[0]) != list(MAIL)
    (value, _) = in_order(sorted_again, order)
    assert value == MAIL and key_order(value) == key_order(MAIL)
    other = {"to": 1, "from": 2, "body": 3, "n": 4}
    assert in_order([other, None], order) == [other, None], "what isn't that any more stays as it is"
    subject: Any = {"value": {"type": "tool_approval", "name": "send", "args": sorted_again[0]}, "path": ["act"]}
    given = key_order([{"type": "tool_approval", "name": "send", "args": MAIL}, None])
    asked = Request(
        "q", "s1", 0, Kind.INTERRUPT, "todo_001", "mail_team", subject, digest(subject),
        options=OPTIONS[Kind.INTERRUPT], about={"order": given},
    )  # fmt: skip
    asks = Question(RequestView(asked, (), Resolution(Outcome.PENDING, None, (), 1), {}))
    assert [row.label for row in body(asks, "6")] == ["tool", "to", "subject", "body", "n", "asked by"]
    assert body(asks, "6")[-1].text.plain == "mail › act"
    lines = "\n".join(row.text.plain for row in whole(asks))
    assert "Dear Ann,\n\n안녕" in lines and "\\n" not in lines


def test_markdown_is_rendered_and_no_link_hidden() -> None:
    text = "# Title #\n\n- **bold** and `a*b`\n\n```sh\n# not a title\n```\nsee [here](https://evil.example) 2 * 3 * 4"
    assert is_markdown(text) and not is_markdown("one\n- two\n* three")
    found = rendered_markdown(text)
    assert found.plain.split("\n") == [
        "Title", "", "• bold and a*b", "", "# not a title", "see here (https://evil.example) 2 * 3 * 4"
    ]  # fmt: skip
    styles = {found.plain[span.start : span.end]: span.style for span in found.spans}
    assert styles["Title"] == styles["bold"] == "bold"
    assert rendered_markdown(r"*Read: in/\*.txt; a\_b*, a*b*c, C:\dir").plain == r"Read: in/*.txt; a_b, a*b*c, C:\dir"
    (_, row) = detail_rows(recognise({"action": "post", "message": "Post?", "notes": text}))
    assert row.text == found


def test_the_columns_of_a_table_stand_below_each_other() -> None:
    text = "Rows:\n\n| name | tier |\n| --- | --- |\n| 한빛출판사 | **A** |\n| a\\|b | B | more |\n\nEnd | here"
    assert rendered_markdown(text).plain.split("\n") == [
        "Rows:", "", "name        tier", "─" * 22, "한빛출판사  A", "a|b         B     more", "", "End | here"
    ]  # fmt: skip


def test_a_graphs_start_says_that_it_asks_again_and_a_command_does_not() -> None:
    graph = {"input": {"to": "ann"}, "programs": {"mail.py": "0" * 64}}
    said = [row.text.plain for row in body(question(graph, {"settings": ["programs"]}), "6")]
    assert "the graph runs, and you are asked again wherever it interrupts" in said
    assert not any("asked again" in row.text.plain for row in body(question(CLEAN, {}), "6"))


def test_a_graph_that_only_computes_until_it_asks_says_so() -> None:
    starts = {"input": {"request": "ann"}, "programs": {"mail.py": "0" * 64}}
    computes = "the graph computes, then asks you a second time; nothing is sent or changed before you answer that"
    assert f"then: {computes}" in shown(question(starts, {"asks_first": True}, source="mail"))
    assert not any("a second time" in row for row in shown(question(starts, {"asks_first": False}, source="mail")))
