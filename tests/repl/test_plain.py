"""Plain lines: everything a question asks about is in them, and nothing in them can harm a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_tui.commands.parser import parse
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Risk, Terms
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Request, Resolution, Verdict, resolve
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.standing_rules import StandingRule
from hitl_tui.repl.announcer import Announcer
from hitl_tui.repl.line_session import key_command
from hitl_tui.supervisor.snapshot import Question, Snapshot
from hitl_tui.wording.status_words import command_words, plan_rows
from hitl_tui.wording.text_lines import news_of, plan_lines, question_lines, result_lines, standing, table
from hitl_tui.wording.times import day_words

NOW = "2026-01-01T00:00:00.000000+00:00"


def question(kind: Kind, subject: dict[str, Any], about: dict[str, Any], **more: Any) -> Question:
    evidence = more.pop("evidence", {})
    decisions = more.pop("decisions", ())
    todo_id = "" if kind in (Kind.PLAN, Kind.PROPOSAL) else "todo_001"
    request = Request(
        f"req-{digest(subject)[:8]}",
        "s1",
        0,
        kind,
        todo_id,
        "command_team",
        subject,
        digest(subject),
        options=OPTIONS[kind],
        about=about,
        **more,
    )
    resolution: Resolution = resolve(request, list(decisions), NOW)
    return Question(RequestView(request=request, resolution=resolution, decisions=tuple(decisions), evidence=evidence))


def snapshot(*questions: Question, **more: Any) -> Snapshot:
    return Snapshot("s1", "why?", "/w", "step", "approval", 0, 0, "c", more.pop("raw", {}), questions, **more)


def lines(asked: Question) -> str:
    return "\n".join(question_lines(asked, "1 of 1", lambda c: f"do {c}", digests=True))


def test_a_command_is_shown_argument_by_argument_with_its_preview() -> None:
    subject = {
        "team": "command_team",
        "task": "clean",
        "arguments": {"argv": ["rm", "-r", "a b", ""], "empty": ""},
        "session": "s1",
    }
    about = {"title": "clean", "risk": "high", "ahead": False, "missing": ["todo_009"]}
    asked = question(Kind.TODO, subject, about, evidence={"argv": ["ls", "a b"], "text": "one\ntwo\x1b[2J\n"})
    shown = lines(asked)
    assert "  runs: rm -r 'a b' ''\n" in shown
    assert '"argv"' not in shown, "what is hashed is for programs: --json has it"
    assert '  empty: ""\n' in shown, "an empty argument is an argument"
    assert shown.startswith("Approve 001? · 1 of 1 · clean · command · RISKY: deletes files\n")
    assert "  MISSING: 009 was skipped; this goes on without its result. /todo update 009 pending takes that" in shown
    assert "\n  | two␛[2J\n" in shown
    assert "do /todo approve 001" in shown
    assert asked.digest[:12] in shown


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.EXTERNAL])
def test_every_kind_names_the_commands_that_answer_it(kind: Kind) -> None:
    asked = question(kind, {"proposal": {"changes": [{"kind": "add"}]}}, {"proposal_id": "proposal_1", "title": "t"})
    shown = lines(asked)
    assert set(asked.commands) >= set(asked.answers) == {*asked.to_dict()["options"]}
    for command in asked.commands.values():
        assert f"do {command_words(command)}" in shown
        words = command_words(command).replace("[", "").replace("]", "")
        assert parse(words).spec.changes


def test_who_has_said_what_and_until_when() -> None:
    terms = Terms(quorum=2, deadline=60.0)
    subject = {"x": 1}
    decision = Decision(f"req-{digest(subject)[:8]}", Verdict.APPROVE, "kim", digest(subject), NOW)
    deadline = "2026-01-01T00:01:00+00:00"
    asked = question(Kind.TODO, subject, {}, terms=terms, deadline=deadline, decisions=[decision])
    shown = lines(asked)
    assert " · votes 0/2\n" in shown
    assert "  so far: approve by kim\n" in shown
    assert f"  until: {day_words(deadline)}:00, then it counts as reject\n" in shown


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(), _json, max_size=4), st.text(), st.dictionaries(st.text(), _json, max_size=3))
def test_no_text_reaches_the_terminal_unseen(subject: dict[str, Any], text: str, evidence: dict[str, Any]) -> None:
    about = {"title": text, "reason": text, "error": text, "why": text, "purpose": text, "priority": text}
    try:
        asked = question(Kind.FAILURE, subject, about, evidence=evidence)
    except UnicodeEncodeError:  # digests are of text that can be written
        return
    for line in question_lines(asked, "1 of 1", str):
        assert line.isprintable()


def todo(number: int, status: Status, **more: Any) -> dict[str, Any]:
    base = {"id": f"todo_{number:03d}", "name": f"step {number}", "description": "d", "agent_name": "search_team"}
    return SupervisorTodo.from_dict({**base, "status": status.value, "rank": float(number), **more}).to_dict()


def test_the_plan_says_every_status_in_a_word() -> None:
    raw = {t["id"]: t for t in (todo(n, s) for n, s in enumerate(Status, start=1))}
    seen = snapshot(raw=raw)
    shown = plan_lines(seen)
    for line, row in zip(shown, plan_rows(seen, datetime.now(UTC)), strict=True):
        assert line.startswith(f"{row.glyph} {row.word}")
        assert row.word.isascii()


def test_of_a_long_plan_only_what_changed_is_shown_with_what_is_beside_it() -> None:
    raw = {t["id"]: t for t in (todo(n, Status.PENDING) for n in range(1, 1_002))}
    moved = {**raw, "todo_900": todo(900, Status.PENDING, rank=1.5), "todo_1001": todo(1_001, Status.COMPLETED)}
    shown = plan_lines(snapshot(raw=moved), before=raw)
    places = [line.split()[2] if line[0] != "…" else line for line in shown]
    assert places == ["001", "900", "002", "… 996 more steps", "1000", "1001"]
    titles = {line.index("step ") for line in shown if line[0] != "…"}
    assert len(titles) == 1, "columns stay where numbers get longer"
    assert plan_lines(snapshot(raw=raw), before=raw) == ["… 1,001 more steps"]
    assert len(plan_lines(snapshot(raw=moved), before={})) == 41
    few = {k: raw[k] for k in list(raw)[:10]}
    assert len(plan_lines(snapshot(raw=few), before=few)) == 10


def test_where_a_session_stands_is_one_sentence() -> None:
    asked = question(Kind.TODO, {"x": 1}, {})
    assert standing(snapshot(asked)) == "s1 waits for your decision: 001."
    assert standing(snapshot(concluded=True, response={"outcome": "done"})) == "s1 is finished."
    ended = [todo(1, Status.COMPLETED), todo(2, Status.FAILED, metadata={"rejected": True}), todo(3, Status.BLOCKED)]
    partly = snapshot(concluded=True, response={"outcome": "partial"}, raw={t["id"]: t for t in ended})
    assert standing(partly) == "s1 is finished: 1 done, 1 rejected, 1 not run."
    failed = {"todo_001": todo(1, Status.FAILED, error="no\nluck")}
    assert standing(snapshot(raw=failed, concluded=True, response={"outcome": "failed"})) == "s1 failed: 001: no␊luck"


def test_results_and_errors_are_told_apart_in_words() -> None:
    told = result_lines(failure("No such thing.", "/help"), snapshot())
    assert told == ["Error: No such thing.", "  /help"]
    assert result_lines(CommandResult("ok", "Fine."), snapshot()) == ["Fine."]


def test_columns_are_aligned() -> None:
    assert table([("a", "bb", "c"), ("aaa", "b", "")]) == ["a    bb  c", "aaa  b"]
    assert table([]) == []


def test_a_question_is_announced_once_and_waits_for_its_preview() -> None:
    said: list[str] = []
    announcer = Announcer(said.extend)
    subject = {"arguments": {"preview": ["ls"]}}
    announcer.look(snapshot(question(Kind.TODO, subject, {}), busy=True))
    assert said == []
    complete = snapshot(question(Kind.TODO, subject, {}, evidence={"text": "found it"}), busy=True)
    announcer.look(complete)
    announcer.look(complete)
    assert "\n".join(said).count("Approve 001?") == 1
    assert "found it" in json.dumps(said)


async def test_what_a_key_answers_stands_there_again_once_it_is_the_only_question_left() -> None:
    said: list[str] = []
    announcer = Announcer(said.extend, fits=lambda lines: True)
    plan, step = question(Kind.PLAN, {"steps": []}, {}), question(Kind.TODO, {"arguments": {}}, {})
    announcer.look(snapshot(plan, step))
    said.clear()
    announcer.look(snapshot(step))
    announcer.look(snapshot(step))
    assert "\n".join(said).count("Approve 001?") == 1 and any("y, 1 or /todo approve 001" in line for line in said)


def test_what_others_decide_and_what_becomes_of_it_is_said_in_a_sentence_each() -> None:
    said: list[str] = []
    announcer = Announcer(said.extend, "ops")
    before = {f"todo_00{n}": todo(n, Status.PENDING) for n in range(1, 6)}
    announcer.look(snapshot(raw=before))
    assert said == []
    mine = {"by": "ops", "channel": "repl", "at": ""}
    theirs = {"by": "ann\x1b[2J", "channel": "console", "at": ""}
    skipped = {"skipped_by": "ann", "skip_reason": "no need\u202e"}
    after = {
        "todo_001": todo(1, Status.PENDING, approval=mine),
        "todo_002": todo(2, Status.PENDING, approval=theirs),
        "todo_003": todo(3, Status.SKIPPED, metadata=skipped),
        "todo_004": todo(4, Status.BLOCKED),
        "todo_006": todo(6, Status.PENDING),
    }
    announcer.look(snapshot(raw=after))
    announcer.look(snapshot(raw=after))
    assert said == [
        "002 was approved by ann␛[2J (console).",
        "003 was skipped by ann: no need⟨U+202E⟩",
        "004 is blocked.",
        "006 is new in the plan: step 6",
        "005 was removed from the plan.",
    ]


def test_what_is_not_run_after_a_rejection_says_whose() -> None:
    said: list[str] = []
    announcer = Announcer(said.extend, "ops")
    announcer.look(snapshot(raw={f"todo_00{n}": todo(n, Status.PENDING) for n in (1, 2)}))
    rejected = todo(1, Status.FAILED, error="rejected by ops", metadata={"rejected": True}, attempt=1)
    blocked = todo(2, Status.BLOCKED, dependencies=("todo_001",))
    announcer.look(snapshot(raw={"todo_001": rejected, "todo_002": blocked}))
    assert said == ["002 not run: 001 was rejected"]


@pytest.mark.parametrize(("bound", "first"), [(False, "Answer"), (True, "## Answer")])
def test_an_answer_has_the_marks_of_markdown_only_where_a_program_reads_it(bound: bool, first: str) -> None:
    said: list[str] = []
    text = "## Answer\n\n- It is **20** days [`leave.md:3`].\n"
    Announcer(said.extend, bound=bound).look(snapshot(concluded=True, response={"text": text}))
    assert said[1] == first
    assert ("• It is 20 days [leave.md:3]." in said) is not bound


def test_what_a_command_of_ones_own_did_is_not_said_twice() -> None:
    said: list[str] = []
    announcer = Announcer(said.extend, "ops")
    announcer.look(snapshot(raw={"todo_001": todo(1, Status.PENDING)}))
    added = snapshot(raw={"todo_001": todo(1, Status.PENDING), "todo_002": todo(2, Status.PENDING)})
    announcer.answered("todo_002", added)
    announcer.look(added)
    assert said == []


def test_rules_are_listed_by_number_with_what_they_hold_for() -> None:
    rule = StandingRule("/w", "search_team", Risk.LOW, input="a" * 64, by="ops", at=NOW, shown="search: cap")
    data = {
        "rules": [{"n": 1, "id": rule.id, **rule.to_dict()}],
        "policy": [{"n": 1, "said": 'team = "x"', "decision": "ask"}],
    }
    shown = result_lines(CommandResult("ok", "1 thing is always allowed, except in mode step.\n…", data), snapshot())
    assert shown == [
        "1 thing is always allowed, except in mode step.",
        "1: search: cap",
        f"  this workspace · input {'a' * 16}… · no end · by ops {day_words(NOW)} · id {rule.id}",
        "hitl.toml comes first; it is changed as a file.",
        '1: team = "x"',
    ]


def test_an_answer_that_grew_is_told_by_what_is_new_with_its_headings() -> None:
    first = "## Answer\n\nIn May.\n\n## Evidence\n\n`a.md:1`\n\n> May"
    then = (
        "## Answer\n\n**What did Tom pay?**\n\n111.00\n\n**When?**\n\nIn May.\n\n## Evidence\n\n`b.csv:2`\n\n> Tom, 111"
    )
    assert news_of(first, "") == first
    assert news_of(then, first) == (
        "## Answer\n\n**What did Tom pay?**\n\n111.00\n\n## Evidence\n\n`b.csv:2`\n\n> Tom, 111"
    )
    assert news_of(first, then) == "## Evidence\n\n`a.md:1`\n\n> May"
    assert news_of(first, first) == ""


def test_keys_that_stand_in_the_bar_are_those_that_answer() -> None:
    low = question(Kind.TODO, {"arguments": {}}, {})
    assert key_command(low, Verdict.APPROVE) == "/todo approve todo_001"
    assert key_command(low, Verdict.REJECT).startswith("/todo reject todo_001")
    for kind in (Kind.EFFECT, Kind.FAILURE):
        asked = question(kind, {"effect": {}}, {"error": "it failed"})
        assert not key_command(asked, Verdict.APPROVE) and asked.commands
