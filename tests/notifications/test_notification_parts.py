"""Addresses, times and texts of notifications."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hitl_tui.config.notify_settings import LacksVariable, address_problem, filled_address, shown_address
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Outcome, Request, Verdict
from hitl_tui.notifications.moments import Moment, Origin, Told, half_time
from hitl_tui.notifications.outbox import LONGEST, Outbox, delivery_problems
from hitl_tui.notifications.wake import FOLDER, take_lock, wake
from hitl_tui.wording.notification_text import notification_text, tame

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


def request(number: int = 1, **more: object) -> Request:
    subject = {"task": "deploy", "step": number, "action": "rm", "agent": "bot", "message": "Delete?"}
    subject |= {"arguments": {"path": "/srv/secret-plan", "to": "@here"}}
    found = Request(
        f"req-{number}",
        "deploy",
        0,
        Kind.EXTERNAL,
        "",
        "bot",
        subject,
        digest(subject),
        requester="bot",
        opened_at=at(0),
    )
    return replace(found, options=OPTIONS[Kind.EXTERNAL], about={"title": "Delete?"}, risk="high", **more)  # type: ignore[arg-type]


def test_secrets_are_put_in_as_they_stand_in_an_address() -> None:
    filled, secrets = filled_address("mailto://me:${PW}@host/${T}", {"PW": "a/b@c:d", "T": "x/y z"})
    assert filled == "mailto://me:a%2Fb%40c%3Ad@host/x/y%20z"
    assert secrets == {"PW": "a/b@c:d", "T": "x/y z"}
    with pytest.raises(LacksVariable) as error:
        filled_address("slack://${A}/${B}", {"A": ""})
    assert error.value.names == ("A", "B")


@pytest.mark.parametrize("address", ["slack://${TOKENS}", "json://127.0.0.1:8000/x", "mailtos://a:${P}@b?to=c@d"])
def test_addresses_that_can_be_used(address: str) -> None:
    assert not address_problem(address)


@pytest.mark.parametrize(
    "address", ["", "slack", "slack://a b", "mailto://a:secret@b", "json://h/${}", "json://h/${a-b}"]
)
def test_addresses_that_cannot(address: str) -> None:
    assert address_problem(address)
    assert "secret" not in address_problem(address)


def test_only_the_kind_of_an_address_is_shown_where_its_host_may_be_a_token() -> None:
    assert shown_address("slack://xoxb-1234/x") == "slack"
    assert shown_address("json://me:${P}@example.org/hidden") == "json://example.org"


def test_half_time_is_half_way_to_the_deadline() -> None:
    assert half_time(request()) == ""
    assert half_time(request(deadline=at(100))) == at(50)
    approving = replace(request(deadline=at(90)), terms=Terms(deadline=60, on_deadline="approve"), risk="low")
    assert half_time(approving) == ""  # it runs only once it was shown
    assert half_time(replace(approving, first_shown=at(30))) == at(60)


def test_a_text_tells_what_is_asked_and_arguments_only_where_that_is_wanted() -> None:
    told = Told(Moment.OPENED, request(deadline=at(3600)))
    text = notification_text([told])
    assert text.title == "Approval wanted: deploy.1 · high risk"
    assert "Delete?" in text.body
    assert "secret-plan" not in text.body
    assert "path: /srv/secret-plan" in notification_text([told], arguments=True).body
    assert "@here" not in notification_text([told], arguments=True).body


CALLED = {"name": "pay", "args": {"eur": 100, "to": "@here"}, "description": "an invoice"}
CALLS: dict[str, tuple[object, list[str]]] = {
    "one": ({"type": "tool_approval", **CALLED}, ["tool: pay", "eur: 100", "to: @\u200bhere"]),
    "several": (
        {"action_requests": [CALLED, {"name": "tell", "args": {"whom": "ann"}}], "review_configs": []},
        ["1 tool: pay", "eur: 100", "to: @\u200bhere", "2 tool: tell", "whom: ann"],
    ),
    "of its own": (
        {"action": "send", "message": "Send it?", "to": "bob", "body": "Dear"},
        ["action: send", "to: bob", "body: Dear"],
    ),
    "a question": ({"question": "Which table?", "near": "logs"}, []),
}


@pytest.mark.parametrize("kind", CALLS)
def test_what_a_graph_asks_is_told_by_one_name_and_with_arguments_where_that_is_wanted(kind: str) -> None:
    value, lines = CALLS[kind]
    about = {"number": 2, "title": "Pay"}
    inside = replace(request(), kind=Kind.INTERRUPT, todo_id="todo_001", subject={"value": value}, about=about)
    told = [Told(Moment.OPENED, inside)]
    assert notification_text(told).title == "Approval wanted: step 001.2 · high risk"
    few, more = (notification_text(told, arguments=wanted).body.splitlines() for wanted in (False, True))
    assert few[0].startswith("Answer 001.2? ")
    assert [line for line in more if line not in few] == lines
    assert "invoice" not in "".join(more)


def test_the_lines_of_a_message_stay_and_are_told_from_ours() -> None:
    asked = request()
    asked = replace(asked, subject={**asked.subject, "message": "Drops 2 tables:\n- orders\nTo decide: x\x1b[1m"})
    lines = notification_text([Told(Moment.OPENED, asked)]).body.splitlines()
    assert lines[:4] == ["Approve deploy.1? Drops 2 tables:", "│ - orders", "│ To decide: x␛(1m", "action: rm"]


def test_a_text_names_the_job_and_where_it_is() -> None:
    step = Request("req-1", "s1", 0, Kind.TODO, "todo_003", "search_team", {}, digest({}), opened_at=at(0))
    step = replace(step, options=OPTIONS[Kind.TODO], about={"title": "Search"}, risk="low")
    origin = Origin("What is␛ @alpha?", "/srv/work", "web-1")
    told = Told(Moment.OPENED, step, origin=origin)
    assert Told.from_dict(told.to_dict()) == told
    text = notification_text([told])
    assert text.title == "Approval wanted: step 003 · low risk · What is␛ @\u200balpha?"
    assert text.body.splitlines() == [
        "Approve 003? Search",
        "session: s1 · What is␛ @\u200balpha?",
        "folder: /srv/work on web-1",
        "asked by: search_team",
        "request: req-1",
        "To decide: hitl-tui inbox",
    ]
    older = {name: value for name, value in told.to_dict().items() if name != "origin"}
    assert notification_text([Told.from_dict(older)]).title == "Approval wanted: step 003 · low risk"
    inside = replace(step, kind=Kind.INTERRUPT, subject={"value": "Send?\x1b"}, about={"number": 2})
    text = notification_text([Told(Moment.OPENED, inside)])
    assert text.title == "Approval wanted: step 003.2 · low risk"
    assert "Send?␛" in text.body


def test_a_text_tells_who_has_to_approve_until_when_and_what_is_given() -> None:
    """(M7)"""
    subject = {"arguments": {"calls": "bank.py:pay", "input": {"amount": 70, "to": "fay"}, "programs": {".": "ab18"}}}
    step = Request("req-7", "s1", 0, Kind.TODO, "todo_001", "pay", subject, digest(subject), opened_at=at(0))
    step = replace(step, options=OPTIONS[Kind.TODO], about={"title": "pay"}, terms=Terms(quorum=2, level=1))
    said = Decision("req-7", Verdict.APPROVE, "ann", step.digest, at(5))
    told = Told(Moment.HALF_TIME, replace(step, deadline=at(40)), Outcome.PENDING, (said,))
    lines = notification_text([told], arguments=True).body.splitlines()
    assert "takes: 2 approvers of level 1 or higher · 1 of 2 approvals" in lines
    assert lines[lines.index("amount: 70") + 1] == "to: fay"
    assert {"asked by: pay", "request: req-7"} <= set(lines)
    assert not any("programs" in line or "{" in line for line in lines)
    assert next(line for line in lines if line.startswith("expires: ")).partition(" UTC")[1]
    command = {"arguments": {"command": "rm", "argv": ["rm", "a b"], "parameters": {"path": "a b"}, "timeout": 9}}
    lines = notification_text([replace(told, request=replace(step, subject=command))], arguments=True).body.splitlines()
    assert lines[lines.index("runs: rm 'a b'") + 1] == "path: a b"
    assert not any(line.startswith("timeout") for line in lines)


def test_a_decision_is_told_with_who_and_why() -> None:
    said = Decision("req-1", Verdict.REJECT, "ann\n@all", "", at(5), reason="see <http://evil.example>")
    text = notification_text([Told(Moment.DECIDED, request(), Outcome.REJECTED, (said,))])
    assert text.title.startswith("Rejected: deploy.1 · by ann")
    assert "\n" not in text.title
    assert "@all" not in text.title
    assert "http://" not in text.body
    assert "inbox" not in text.body
    assert notification_text([Told(Moment.DECIDED, request(), Outcome.EXPIRED)]).title == "Expired: deploy.1"


def test_many_are_told_as_a_list() -> None:
    text = notification_text([Told(Moment.OPENED, request(n)) for n in range(1, 14)])
    assert text.title == "13 notifications"
    assert text.body.splitlines()[10:] == ["… and 3 more", "To decide: hitl-tui inbox"]


def test_no_text_is_longer_than_a_line_of_a_message() -> None:
    assert len(tame("x" * 10_000)) <= 400


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path


def test_a_message_is_queued_once_and_tried_later_each_time_it_fails(data: Path) -> None:
    with Outbox.open(data, at(0)) as outbox:
        for _ in range(2):
            outbox.queue(Told(Moment.OPENED, request()), "t1", "json (settings.toml, target 1)", "", at(0))
        (message,) = outbox.due(at(0))
        outbox.failed([message], "it is down", at(1), 5)
        assert outbox.due(at(5)) == []
        (again,) = outbox.due(at(6))
        assert again.tries == 1
        said = "json (settings.toml, target 1): 1 notification couldn't be sent yet: it is down"
        assert delivery_problems(data) == [said]
        outbox.sent([again])
        assert delivery_problems(data) == []
        assert outbox.next_try() == ""


def test_what_is_for_a_target_that_is_no_longer_named_is_dropped(data: Path) -> None:
    told = Told(Moment.OPENED, request())
    with Outbox.open(data, at(0)) as outbox:
        for workspace, target in (("", "t1"), ("", "t2"), ("/w", "t3")):
            outbox.queue(told, target, target, workspace, at(0))
        outbox.failed(outbox.due(at(0)), "it is down", at(LONGEST.total_seconds()), 5)
        assert sorted(outbox.workspaces()) == ["", "/w"]
        outbox.drop_others("", ["t2"])
        assert [line.partition(":")[0] for line in delivery_problems(data)] == ["t2", "t3"]
        outbox.drop_others("/w", [])
        assert outbox.workspaces() == [""]


def test_what_cannot_be_sent_for_a_day_stays_named(data: Path) -> None:
    with Outbox.open(data, at(0)) as outbox:
        outbox.queue(Told(Moment.DECIDED, request()), "t1", "json", "", at(0))
        (message,) = outbox.due(at(0))
        outbox.failed([message], "it is down", at(LONGEST.total_seconds()), 5)
        assert outbox.next_try() == ""
    assert delivery_problems(data) == ["json: 1 notification couldn't be sent for a day: it is down"]


def test_what_is_decided_before_it_was_told_is_not_told_as_waiting(data: Path) -> None:
    with Outbox.open(data, at(0)) as outbox:
        told = Told(Moment.OPENED, request())
        outbox.put_waiting("", told, "", fresh=True)
        outbox.queue(told, "t1", "json", "", at(0))
        outbox.end("req-1")
        assert outbox.due(at(1)) == []
        assert outbox.fresh() == []


def test_nobody_is_called_where_nothing_speaks_of_notifications(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[audit]\nanchors = "/x"\n', encoding="utf-8")
    wake(tmp_path, [tmp_path / "nowhere"], {})
    assert not (tmp_path / FOLDER).exists()


def test_the_lock_is_held_by_one(data: Path) -> None:
    assert take_lock(data / FOLDER) is not None
    assert take_lock(data / FOLDER) is None


def test_an_outbox_that_cannot_be_read_is_said(data: Path) -> None:
    (data / FOLDER / "outbox.db").write_bytes(b"garbage" * 100)
    assert delivery_problems(data)[0].startswith("Notifications can't be looked at: ")
