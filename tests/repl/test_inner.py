"""What a team asks from inside a step, in plain lines."""

from __future__ import annotations

from typing import Any

from hitl_tui.core.json_text import digest
from hitl_tui.core.requests import OPTIONS, Kind, Outcome, Request, Resolution
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.snapshot import Question, as_questions
from hitl_tui.wording.text_lines import question_lines

MAIL = "Dear Kim,\n\x1b[2Jthe offer.\n"


def asked(value: Any, schema: Any = None, *, name: str = "r", at: str = "2026-01-01T00:00:00") -> RequestView:
    subject = {"todo": "todo_001", "path": ["outer", "send"], "index": 0, "value": value}
    if schema is not None:
        subject["schema"] = schema
    request = Request(
        f"req-{name}",
        "s1",
        0,
        Kind.INTERRUPT,
        "todo_001",
        "mail_team",
        subject,
        digest(subject),
        options=OPTIONS[Kind.INTERRUPT],
        about={"risk": "low", "again": ["send: runs again"]},
        opened_at=at,
    )
    return RequestView(request, (), Resolution(Outcome.PENDING, None, (), 1), {})


def lines(value: Any, schema: Any = None) -> str:
    return "\n".join(question_lines(Question(asked(value, schema)), "1 of 1", lambda command: f"do {command}"))


APPROVAL = {
    "type": "tool_approval",
    "tool_call_id": "c",
    "name": "send_mail",
    "args": {"to": "kim@example.org", "body": MAIL},
    "description": "needed\x07",
}


def test_who_asks_what_with_which_arguments_and_how_it_is_answered() -> None:
    shown = lines(APPROVAL)
    assert "  asked by: mail › outer › send\n" in shown
    assert "  tool: send_mail\n" in shown and "May send_mail run?" not in shown
    assert "  to: kim@example.org\n" in shown
    body = "  body:\n    | Dear Kim,\n    | ␛[2Jthe offer.\n"
    assert body in shown, "line breaks stay, nothing acts on the terminal"
    assert "  ── the agent says; nobody has checked it ──\n  | needed␇\n" in shown
    assert "RISKY" in shown, "a tool that nobody knows"
    assert "  again: send: runs again\n" in shown
    assert "do /answer 001 reject [TEXT]" in shown
    assert "do /todo reject 001 REASON" in shown
    assert "Respond: The tool doesn't run; your text becomes its successful result" in shown


def test_what_is_not_possible_says_why() -> None:
    value = {
        "action_requests": [{"name": "pay", "args": {"amount": 5}}],
        "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]}],
    }
    assert "Edit: pay doesn't allow edit; it takes approve, reject." in lines(value)


def test_a_schema_that_is_not_used_is_said() -> None:
    shown = lines({"question": "Name?"}, {"$ref": "https://example.org/x"})
    assert "  note: The graph's schema of the answer refers to something elsewhere" in shown
    assert "  asks: Name?" in shown


def test_several_of_one_step_have_the_numbers_that_its_state_gave_them() -> None:
    views = [asked("late", name="c", at="2026-01-01T00:00:09"), asked("one", name="b"), asked("two", name="a")]
    interrupts = [{"id": i, "path": ["outer", "send"], "index": 0, "value": i} for i in ("one", "two", "late")]
    todos = {"todo_001": {"question": {"kind": "interrupt", "interrupts": interrupts}}}
    found = as_questions(views, todos)
    assert [(q.id, q.name) for q in found] == [
        ("req-c", "todo_001.3"),
        ("req-b", "todo_001.1"),
        ("req-a", "todo_001.2"),
    ]
    assert [q.name for q in as_questions(views[:1], todos)] == ["todo_001.3"], "the last one keeps its name"
    alone = {"todo_001": {"question": {"kind": "interrupt", "interrupts": interrupts[:1]}}}
    assert [q.name for q in as_questions(views[1:2], alone)] == ["todo_001"]
    assert found[0].commands["respond"] == "/answer todo_001.3 VALUE"
