"""Calls of agents outside of sessions: asked about exactly, decided, used once (M8 to M10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from people import write_approvers

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.identity import Identity, Proof
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Policy, Rule, Ruling, Terms
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger.entry_files import EntryFiles, at_once
from hitl_tui.ledger.stream_ledger import StreamLedger
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.task_checkpoints.checkpoint import Call, Checkpoint, Ruled, Status, unawaited
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.wording.inbox_rows import call_rows, step_rows
from hitl_tui.wording.text_lines import layout

TASK = "claude-code:s1"
CALL = Call("claude-code", "Bash", {"command": "rm -rf build"}, "/work")
ANN, BOB, CID = (Identity(name, name, Proof.TOKEN, 1) for name in ("ann", "bob", "cid"))
TWO = Policy([Rule(Ruling.ASK, agent="claude-code", terms=Terms(quorum=2, deadline=60))])


class Place:
    """A folder of tasks, and its clock."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seconds = folder, 0

    def now(self) -> str:
        return f"2026-01-01T00:{self.seconds // 60:02}:{self.seconds % 60:02}.000000+00:00"

    def tasks(self, policy: Policy = Policy()) -> TaskCheckpoints:
        """Open it, as another process would."""
        return TaskCheckpoints(StreamLedger(EntryFiles(self.folder)), policy, self.now)

    def kinds(self) -> list[str]:
        """Return what the record holds, by kind."""
        return [entry.kind for entry in at_once(StreamLedger(EntryFiles(self.folder)).entries(TASK))]

    def say(self, step: Checkpoint, verdict: Verdict, who: Identity) -> Checkpoint:
        assert step.view is not None
        return at_once(self.tasks().decide(step, verdict, who, "test", reason="said", seen=step.view.request.digest))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "checkpoints")


def shown(place: Place, policy: Policy = Policy(), call: Call = CALL) -> Checkpoint:
    step = at_once(place.tasks(policy).ask(TASK, call, "clean up"))
    at_once(place.tasks().was_shown(step, "ann", "test"))
    return step


def test_the_request_holds_exactly_the_call_and_its_digest_binds_it(place: Place) -> None:
    step = shown(place)
    assert step.view is not None
    request = step.view.request
    assert request.subject["arguments"] == CALL.arguments and request.subject["folder"] == CALL.folder
    assert request.digest == digest(dict(request.subject))
    assert request.requester == "claude-code"
    assert request.deadline == "2026-01-02T00:00:00.000000+00:00"  # a day, where no rule says


def test_a_call_says_when_nobody_waits_for_its_decision_any_more(place: Place) -> None:
    def said(step: Checkpoint) -> bool:
        assert step.view is not None
        told = unawaited(step.view, place.now())
        lines = "\n".join(layout(call_rows(step, place.now())))
        assert (told is not None) == ("NOTE: Nobody waits any more; approving allows the next identical call." in lines)
        return told is not None

    step = shown(place)
    assert not said(step)  # of one that an earlier version asked about nothing is known
    step = at_once(place.tasks().await_for(step, 60))
    assert not said(step)
    place.seconds = 60
    (step,) = at_once(place.tasks().waiting())
    assert said(step)
    assert not said(at_once(place.tasks().await_for(step, 5)))
    step = at_once(place.tasks().await_for(step, 1))
    assert step.view is not None and step.view.evidence["awaited_until"] > "2026-01-01T00:01:04"  # the longest counts


def test_the_same_call_waits_for_the_same_question_and_another_one_for_its_own(place: Place) -> None:
    step = shown(place)
    assert at_once(place.tasks().ask(TASK, CALL, "clean up")).id == step.id
    others = [
        Call("claude-code", "Bash", {"command": "rm -rf build "}, "/work"),
        Call("claude-code", "Bash", {"command": "rm -rf build"}, "/"),
        Call("claude-code", "Shell", {"command": "rm -rf build"}, "/work"),
        Call("claude-code", "Bash", {"command": "rm -rf build", "timeout": 1}, "/work"),
        Call("claude-code", "Bash", {"command": "rm -rf build", "timeout": True}, "/work"),
    ]
    ids = {at_once(place.tasks().ask(TASK, other, "?")).id for other in others}
    assert len(ids) == len(others) and step.id not in ids


def test_an_approval_is_used_once(place: Place) -> None:
    place.say(shown(place), Verdict.APPROVE, ANN)
    approved = at_once(place.tasks().ask(TASK, CALL, "clean up"))
    assert approved.status is Status.COMPLETED
    assert at_once(place.tasks().take(approved))
    assert not at_once(place.tasks().take(approved))
    again = at_once(place.tasks().ask(TASK, CALL, "clean up"))
    assert again.status is Status.INTERRUPTED and again.step == approved.step + 1


def test_a_refused_call_ends_nothing_else(place: Place) -> None:
    refused = place.say(shown(place), Verdict.REJECT, ANN)
    assert refused.status is Status.REJECTED
    assert at_once(place.tasks().take(refused))
    assert at_once(place.tasks().ask(TASK, CALL, "clean up")).status is Status.INTERRUPTED


def test_what_nobody_answered_in_time_is_settled_by_who_reads_it_and_asked_anew(place: Place) -> None:
    step = shown(place, TWO)
    place.seconds = 61
    assert at_once(place.tasks().the_step(TASK, step.step)).expired
    assert place.kinds()[-1] == "event"
    assert at_once(place.tasks(TWO).ask(TASK, CALL, "clean up")).step == step.step + 1


def test_an_edit_voids_the_votes_that_were_given(place: Place) -> None:
    step = shown(place, TWO)
    assert place.say(step, Verdict.APPROVE, ANN).needed == 1
    assert step.view is not None
    before = step.view.request
    edited = at_once(place.tasks(TWO).edit(step, {"command": "rm -rf build/tmp"}, CID, before.digest))
    assert edited.view is not None and edited.view.request.id != before.id
    assert (edited.needed, edited.view.decisions) == (2, ())
    assert edited.arguments == {"command": "rm -rf build/tmp"}
    assert place.kinds() == [
        "task_step",
        "request_opened",
        "request_shown",
        "decision",
        "request_superseded",
        "task_step_edited",
        "request_opened",
    ]
    with pytest.raises(Refused) as caught:
        place.say(step, Verdict.APPROVE, BOB)
    assert caught.value.reason == "superseded"
    at_once(place.tasks().was_shown(edited, "ann", "test"))
    assert place.say(edited, Verdict.APPROVE, BOB).status is Status.INTERRUPTED
    assert place.say(edited, Verdict.APPROVE, ANN).status is Status.COMPLETED
    # The agent that asked for the call as it was gets it as it was approved.
    assert at_once(place.tasks(TWO).ask(TASK, CALL, "clean up")).arguments == edited.arguments


def test_the_record_alone_says_what_an_edit_made_of_the_votes(place: Place) -> None:
    step = shown(place, TWO)
    place.say(step, Verdict.APPROVE, ANN)
    assert step.view is not None
    at_once(place.tasks(TWO).edit(step, {"command": "true"}, CID, step.view.request.digest))
    ledger = StreamLedger(EntryFiles(place.folder))
    views = at_once(ledger.requests(place.now(), session=TASK, pending=False))
    assert [v.resolution.outcome for v in views] == [Outcome.SUPERSEDED, Outcome.PENDING]
    assert [len(v.decisions) for v in views] == [1, 0]


@pytest.mark.parametrize("who", [Identity("claude-code"), Identity("somebody")])
def test_an_edit_takes_somebody_who_may_decide(place: Place, who: Identity) -> None:
    step = shown(place, TWO)
    assert step.view is not None
    with pytest.raises(Refused) as caught:
        at_once(place.tasks(TWO).edit(step, {"command": "true"}, who, step.view.request.digest))
    assert caught.value.reason == "not_allowed"
    assert "request_superseded" not in place.kinds()


def test_an_edit_of_nothing_or_of_what_was_decided_changes_nothing(place: Place) -> None:
    step = shown(place)
    assert step.view is not None
    seen = step.view.request.digest
    with pytest.raises(BadInput):
        at_once(place.tasks().edit(step, dict(CALL.arguments), ANN, seen))
    with pytest.raises(Refused) as caught:
        at_once(place.tasks().edit(step, {"command": "true"}, ANN, "0" * 64))
    assert caught.value.reason == "stale"
    place.say(step, Verdict.APPROVE, ANN)
    with pytest.raises(Refused) as caught:
        at_once(place.tasks().edit(step, {"command": "true"}, ANN, seen))
    assert caught.value.reason == "late"


def test_what_was_approved_under_other_rules_is_asked_anew(place: Place) -> None:
    place.say(shown(place), Verdict.APPROVE, ANN)
    step = at_once(place.tasks(TWO).ask(TASK, CALL, "clean up"))
    assert step.status is Status.INTERRUPTED and step.needed == 2


def test_a_rule_denies_by_arguments(place: Place) -> None:
    deny = Rule(Ruling.DENY, action="Bash", arguments={"properties": {"command": {"pattern": "^rm "}}})
    with pytest.raises(Refused) as caught:
        at_once(place.tasks(Policy([deny])).ask(TASK, CALL, "clean up"))
    assert caught.value.reason == "denied"
    assert at_once(place.tasks(Policy([deny])).ask(TASK, Call("a", "Bash", {"command": "ls"}), "?")).view is not None


def test_what_a_rule_decided_is_on_record(place: Place) -> None:
    at_once(place.tasks().note_ruled(TASK, CALL, Ruled("allow", 2, "builds")))
    at_once(place.tasks().note_ruled(TASK, CALL, Ruled("deny", 1)))
    steps = at_once(place.tasks().steps(TASK))
    assert [(s.status, s.ruled) for s in steps] == [
        (Status.COMPLETED, Ruled("allow", 2, "builds")),
        (Status.REJECTED, Ruled("deny", 1)),
    ]
    assert at_once(place.tasks().record(TASK, 9, "next", "agent")).step == 9  # a denied call ends nothing


def test_the_rule_that_counts_is_named_of_two_policies(place: Place) -> None:
    deny = Policy([Rule(Ruling.DENY, action="drop *", name="before")])
    step = at_once(place.tasks(Policy([Rule(Ruling.ASK)], beside=deny)).record(TASK, 1, "drop all", "bot", "Drop?"))
    assert (step.status, step.ruled) == (Status.REJECTED, Ruled("deny", 1, "before"))
    assert step.ends_task


def test_whoever_decides_is_shown_the_whole_call(place: Place) -> None:
    step = shown(place, call=Call("claude-code", "Write", {"file": "a.txt", "content": "one\n\x1b[2Jtwo"}, "/work"))
    lines = "\n".join(layout(step_rows(step, "/work")))
    assert "a.txt" in lines and "one" in lines and "two" in lines and "/work" in lines
    assert "\x1b" not in lines
    assert step.does == 'Write {"content": "one\\n\\u001b[2Jtwo", "file": "a.txt"} (/work)'


def test_an_edit_that_broke_off_midway_leaves_nothing_that_counts(place: Place) -> None:
    step = shown(place, TWO)
    place.say(step, Verdict.APPROVE, ANN)
    ledger = StreamLedger(EntryFiles(place.folder))
    at_once(ledger.supersede(TASK, [], Cause.EDITED, place.now(), "cid"))  # and nothing was written after it
    anew = at_once(place.tasks(TWO).ask(TASK, CALL, "clean up"))
    assert (anew.step, anew.status, anew.needed) == (step.step + 1, Status.INTERRUPTED, 2)
    assert [one.step for one in at_once(place.tasks().waiting())] == [anew.step]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule(Ruling.DENY, agent="claude-code", name="never"), 'Rule 1 "never" denies it by now'),
        (
            Rule(Ruling.ASK, agent="claude-code", terms=Terms(quorum=2)),
            r"Rule 1 asks more people by now \(number: 2, level: 0\)",
        ),
        (
            Rule(Ruling.ASK, agent="claude-code", terms=Terms(level=2)),
            r"Rule 1 asks more people by now \(number: 1, level: 2\)",
        ),
    ],
)
def test_rules_that_deny_or_ask_more_people_hold_for_what_waits(place: Place, rule: Rule, why: str) -> None:
    step = shown(place, Policy([Rule(Ruling.ASK, agent="claude-code")]))
    assert step.view is not None
    stricter, seen = place.tasks(Policy([rule])), step.view.request.digest
    with pytest.raises(Refused, match=why):
        at_once(stricter.decide(step, Verdict.APPROVE, ANN, "test", seen=seen))
    assert at_once(stricter.the_step(TASK, None)).status is Status.INTERRUPTED
    refused = at_once(stricter.decide(step, Verdict.REJECT, ANN, "test", seen=seen))
    assert refused.status is Status.REJECTED


def test_the_vote_of_somebody_who_was_removed_does_not_count(place: Place, tmp_path: Path) -> None:
    write_approvers(tmp_path / "data", "ann", "bob", "cid")
    tasks = TaskCheckpoints(
        StreamLedger(EntryFiles(place.folder)), TWO, place.now, approvers=ApproverFile(tmp_path / "data")
    )
    step = shown(place, TWO)
    assert step.view is not None
    seen = step.view.request.digest
    voted = at_once(tasks.decide(step, Verdict.APPROVE, ANN, "test", seen=seen))
    write_approvers(tmp_path / "data", "bob", "cid")
    again = at_once(tasks.decide(voted, Verdict.APPROVE, BOB, "test", seen=seen))
    assert (
        again.status is Status.INTERRUPTED and again.view is not None and again.view.decisions[-1].without == ("ann",)
    )
    assert at_once(tasks.decide(again, Verdict.APPROVE, CID, "test", seen=seen)).status is Status.COMPLETED
