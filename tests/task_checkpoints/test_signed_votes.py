"""Where several people are demanded, whoever writes into the files of a task can't give their votes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_calls import ANN, BOB, CALL, TASK, TWO, Place

from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Policy
from hitl_tui.core.requests import Decision, Verdict
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.ledger.records import Entry, entry_hash
from hitl_tui.ledger.signatures import Signer
from hitl_tui.task_checkpoints.checkpoint import Checkpoint, Status
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.signed_votes import SignedVotes

ENTRY = {"stream", "n", "at", "kind", "data", "prev", "hash"}


class Writer:
    """Somebody who can write to the folder, and computes hashes as the program does.

    Args:
        folder: of the tasks.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = next(path for path in folder.iterdir() if any(path.glob("*.json")))

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]

    def write(self, change: Callable[[dict[str, Any]], object], *more: Mapping[str, Any]) -> None:
        """Change what every entry holds, add decisions, and compute the chain anew."""
        found, prev = self.entries(), ""
        for entry in found:
            change(entry["data"])
        for n, data in enumerate(more, start=len(found) + 1):
            found.append({**found[-1], "n": n, "kind": "event" if "settles" in data else "decision", "data": data})
        for entry in found:
            entry["prev"] = prev or entry["prev"]
            prev = entry["hash"] = entry_hash(Entry(**{k: v for k, v in {**entry, "hash": ""}.items() if k in ENTRY}))
            name = sorted(self.folder.glob("*.json"))[0].name
            (self.folder / f"{entry['n']:0{len(name) - 5}}.json").write_text(json.dumps(entry))


def nothing(data: dict[str, Any]) -> None:
    """Change nothing."""


def asked(place: Place) -> Checkpoint:
    step = at_once(place.tasks(TWO).ask(TASK, CALL, "clean up"))
    assert step.view is not None and step.view.request.terms.quorum == 2
    at_once(place.tasks().was_shown(step, "ann", "test"))
    return step


def vote(step: Checkpoint, who: str, signs: SignedVotes | None = None) -> dict[str, Any]:
    assert step.view is not None
    request = step.view.request
    at = request.opened_at
    said = Decision(request.id, Verdict.APPROVE, who, request.digest, at, "cli", person=who, proof="token")
    if signs is not None:
        said = signs.signed(TASK, said)
    settled = {"settled": {"outcome": "approved", "verdict": "approve"}} if who == "bob" else {}
    return {"decision": said.to_dict(), **settled}


def answer(place: Place, policy: Policy = TWO) -> Checkpoint:
    """Return what an agent is told that makes the call now."""
    return at_once(place.tasks(policy).ask(TASK, CALL, "clean up"))


def refused(place: Place, step: Checkpoint) -> str:
    """Return why what is on record of a step is no approval."""
    assert answer(place).status is Status.INTERRUPTED, "it is asked anew"
    assert answer(place).id != step.id
    (found,) = [one for one in at_once(place.tasks(TWO).recorded()) if one.id == step.id]
    assert found.status is Status.REJECTED
    return found.unproven


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "checkpoints")


def test_votes_of_people_count(place: Place) -> None:
    step = asked(place)
    place.say(step, Verdict.APPROVE, ANN)
    place.say(step, Verdict.APPROVE, BOB)
    assert answer(place).id == step.id and answer(place).status is Status.COMPLETED


def test_votes_that_are_written_into_the_files_count_for_nothing(place: Place) -> None:
    step = asked(place)
    Writer(place.folder).write(nothing, vote(step, "ann"), vote(step, "bob"))
    assert refused(place, step) == "The votes of ann, bob aren't signed, so they don't count."


@pytest.mark.parametrize("outcome", ["approved", "expired"])
def test_an_approval_that_nobody_voted_for_counts_for_nothing(place: Place, outcome: str) -> None:
    step = asked(place)
    assert step.view is not None
    request = step.view.request
    event = {"kind": "decided", "request_id": request.id, "outcome": outcome, "verdict": "approve"}
    settled = {"settles": request.id, "event_id": f"decided:{request.id}", "event": event}
    Writer(place.folder).write(nothing, settled)
    assert refused(place, step)


def test_one_vote_of_a_person_and_one_that_is_written_are_one(place: Place) -> None:
    step = asked(place)
    place.say(step, Verdict.APPROVE, ANN)
    Writer(place.folder).write(nothing, vote(step, "bob"))
    assert refused(place, step) == "The votes of bob aren't signed, so they don't count."


def test_a_vote_under_another_name_than_it_was_signed_for_counts_for_nothing(place: Place) -> None:
    step = asked(place)
    place.say(step, Verdict.APPROVE, ANN)
    given = Writer(place.folder).entries()[-1]["data"]["decision"]
    again = {**given, "by": "bob", "person": "bob"}
    Writer(place.folder).write(nothing, {"decision": again, "settled": {"outcome": "approved", "verdict": "approve"}})
    assert "bob" in refused(place, step)


def test_what_was_asked_with_is_no_less_than_what_the_rules_demand(place: Place) -> None:
    step = asked(place)

    def weaken(data: dict[str, Any]) -> None:
        for request in (data.get("request"), (data.get("opened") or {}).get("request")):
            if request:
                request["terms"] = {"quorum": 1, "level": 0}

    settled = {"settled": {"outcome": "approved", "verdict": "approve"}}
    Writer(place.folder).write(weaken, {**vote(step, "ann"), **settled})
    assert answer(place).status is Status.INTERRUPTED


def test_votes_count_for_what_was_asked_and_for_nothing_that_took_its_place(place: Place) -> None:
    step = asked(place)
    place.say(step, Verdict.APPROVE, ANN)
    place.say(step, Verdict.APPROVE, BOB)
    worse = replace(CALL, arguments={"command": "rm -rf /"})

    def exchange(data: dict[str, Any]) -> None:
        if "call" in data:
            data["call"]["arguments"] = dict(worse.arguments)

    Writer(place.folder).write(exchange)
    told = at_once(place.tasks(TWO).ask(TASK, worse, "clean up"))
    assert told.status is Status.INTERRUPTED

    def everywhere(data: dict[str, Any]) -> None:
        for request in (data.get("request"), (data.get("opened") or {}).get("request")):
            if request:
                request["subject"]["arguments"] = dict(worse.arguments)

    Writer(place.folder).write(everywhere)
    assert at_once(place.tasks(TWO).ask(TASK, worse, "clean up")).status is Status.INTERRUPTED
    assert digest({"is": dict(worse.arguments)}) != digest({"is": dict(CALL.arguments)})


def test_votes_of_another_account_count_once_its_key_is_accepted(place: Place, tmp_path: Path) -> None:
    step, theirs = asked(place), Signer({}, tmp_path / "theirs")
    signs = SignedVotes(theirs)
    Writer(place.folder).write(nothing, vote(step, "ann", signs), vote(step, "bob", signs))
    assert refused(place, step).endswith(f"isn't known here: hitl-tui audit accept {theirs.public}")
    ours = Signer({}, tmp_path / "ours")
    ours.accept(tmp_path / "ledger.db", place.now(), theirs.public)
    tasks = TaskCheckpoints(place.tasks()._ledger, TWO, place.now, votes=SignedVotes(ours))
    (found,) = [one for one in at_once(tasks.recorded()) if one.id == step.id]
    assert found.status is Status.COMPLETED
