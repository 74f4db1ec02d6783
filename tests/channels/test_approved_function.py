"""`require_approval`: functions of a program that run only with what people or a rule allow."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from hitl_tui import BadInput, Refused, require_approval
from hitl_tui.core.identity import Identity, Proof
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.entry_files import EntryFiles, at_once
from hitl_tui.ledger.stream_ledger import StreamLedger
from hitl_tui.task_checkpoints.checkpoint import Checkpoint, Status
from hitl_tui.task_checkpoints.folders import entries_folder
from hitl_tui.task_checkpoints.service import TaskCheckpoints

ANN = Identity("ann", "ann", Proof.TOKEN, 1)


class Desk:
    """A folder where calls are made, and the person who decides about them."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor) -> None:
        self.folder, self._pool = folder, pool
        self.made: list[Any] = []

    @property
    def tasks(self) -> TaskCheckpoints:
        return TaskCheckpoints(StreamLedger(EntryFiles(entries_folder(self.folder / ".masc"))))

    def begin(self, call: Callable[[], Any]) -> Future[Any]:
        """Make a call, which waits."""
        return self._pool.submit(call)

    def waiting(self) -> Checkpoint:
        """Return the one question that waits, once it does."""
        for _ in range(2000):
            if found := at_once(self.tasks.waiting()):
                (step,) = found
                at_once(self.tasks.was_shown(step, "ann", "test"))
                return step
            asyncio.run(asyncio.sleep(0.01))
        raise AssertionError("it never came")

    def say(self, verdict: Verdict, reason: str = "") -> Checkpoint:
        step = self.waiting()
        assert step.view is not None
        return at_once(self.tasks.decide(step, verdict, ANN, "test", reason=reason, seen=step.view.request.digest))

    def edit(self, arguments: dict[str, Any]) -> None:
        step = self.waiting()
        assert step.view is not None
        at_once(self.tasks.edit(step, arguments, ANN, step.view.request.digest))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("HITL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        yield Desk(tmp_path, pool)


def test_a_call_is_made_once_somebody_approves_exactly_it(desk: Desk) -> None:
    @require_approval
    def pay(eur: int, to: str = "DE12") -> str:
        """Pay an invoice.

        It can't be taken back.
        """
        desk.made.append((eur, to))
        return "paid"

    done = desk.begin(lambda: pay(100))
    step = desk.waiting()
    assert desk.made == [] and not done.done()
    assert (step.action, step.arguments, step.message) == ("pay", {"eur": 100, "to": "DE12"}, "Pay an invoice.")
    assert step.call is not None and step.call.folder == str(desk.folder)
    desk.say(Verdict.APPROVE)
    assert (done.result(30), desk.made) == ("paid", [(100, "DE12")])
    with pytest.raises(Refused):  # an approval is used once
        require_approval(wait=0, name="pay", agent=step.agent)(lambda eur, to: None)(100, "DE12")


def test_a_rejection_and_a_rule_and_nobody_keep_it_from_being_made(desk: Desk) -> None:
    @require_approval(agent="billing")
    def pay(eur: int) -> None:
        desk.made.append(eur)

    done = desk.begin(lambda: pay(100))
    desk.say(Verdict.REJECT, "too much")
    with pytest.raises(Refused, match=r"pay isn't called\. Rejected by ann\. too much") as rejected:
        done.result(30)
    with pytest.raises(Refused, match="Nobody decided in time") as undecided:
        require_approval(agent="billing", wait=0)(pay.__wrapped__)(100)  # type: ignore[attr-defined]
    Path("hitl.toml").write_text('[[policy]]\nname = "no pay"\nagent = "billing"\naction = "pay"\ndecision = "deny"\n')
    with pytest.raises(Refused, match="no pay") as denied:
        pay(100)
    assert [one.value.reason for one in (rejected, undecided, denied)] == ["rejected", "undecided", "denied"]
    assert desk.made == []


class Address(BaseModel):
    town: str
    door: int = Field(default=1, exclude=True)


class Pace(Enum):
    SLOW, FAST = "slow", "fast"


def test_who_edits_a_call_changes_what_runs_as_its_annotations_say(desk: Desk) -> None:
    @require_approval
    def send(what: list[int], on: date, to: Address, pace: Pace = Pace.SLOW, **options: int) -> None:
        desk.made.append((what, on, to, pace, options))

    done = desk.begin(lambda: send([1, 2], date(2026, 1, 2), Address(town="Seoul"), copies=2, pages=3))
    shown = {"what": [1, 2], "on": "2026-01-02", "to": {"town": "Seoul"}, "pace": "slow", "copies": 2, "pages": 3}
    assert desk.waiting().arguments == shown
    edited = {**shown, "on": "2026-02-03", "to": {"town": "Busan"}, "copies": 1, "fold": 1}
    del edited["pages"]
    desk.edit(edited)
    desk.say(Verdict.APPROVE)
    done.result(30)
    assert desk.made == [([1, 2], date(2026, 2, 3), Address(town="Busan"), Pace.SLOW, {"copies": 1, "fold": 1})]


@pytest.mark.parametrize("edited", [{"eur": "30"}, {"eur": True}, {"eur": 1, "to": "x"}, {"fee": 1}, {}])
def test_an_edit_that_does_not_fit_makes_no_call(desk: Desk, edited: dict[str, Any]) -> None:
    @require_approval
    def pay(eur: int, fee: int = 0) -> None:
        desk.made.append(eur)

    done = desk.begin(lambda: pay(100))
    desk.edit({"fee": 0, **edited} if "eur" in edited else edited)
    desk.say(Verdict.APPROVE)
    with pytest.raises(BadInput, match="pay isn't called as it was edited"):
        done.result(30)
    assert desk.made == []


def test_what_is_changed_while_it_is_shown_does_not_run(desk: Desk) -> None:
    @require_approval
    def delete(names: list[str], options: dict[str, Any]) -> None:
        desk.made.append((names, options))

    names, options = ["a.txt"], {"dry_run": True}
    done = desk.begin(lambda: delete(names, options))
    desk.waiting()
    names.append("/")
    options["dry_run"] = False
    desk.say(Verdict.APPROVE)
    done.result(30)
    assert desk.made == [(["a.txt"], {"dry_run": True})]


def test_a_set_is_shown_in_one_order(desk: Desk) -> None:
    names = {f"name-{n}" for n in range(40)}
    done = desk.begin(lambda: require_approval(lambda who: desk.made.append(who))(names))
    assert desk.waiting().arguments == {"who": sorted(names)}
    desk.say(Verdict.APPROVE)
    done.result(30)
    assert desk.made == [names]


def test_a_call_runs_in_the_folder_that_was_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    done = desk.begin(lambda: require_approval(name="clean")(lambda: desk.made.append(1))())
    desk.waiting()
    monkeypatch.chdir("/")
    desk.say(Verdict.APPROVE)
    with pytest.raises(BadInput, match="the current folder was changed"):
        done.result(30)
    assert desk.made == []


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1: "a", "1": "b"},
        {1: "a"},
        float("nan"),
        [Address(town="Seoul")],
        Address(town="Seoul", door=2),
        (n for n in "ab"),
        SecretStr("hidden"),
        b"\xff",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_could_see_whole_is_not_asked_about(desk: Desk, value: object) -> None:
    with pytest.raises(BadInput, match="The argument what of send has no JSON"):
        require_approval(name="send")(lambda what: None)(value)
    assert not (desk.folder / ".masc").exists()


def generated() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (lambda *paths: None, {}, "needs a name"),
        (lambda: None, {"agent": "the agent"}, "agent can't be"),
        (lambda: None, {"wait": float("nan")}, "wait is a number"),
        (lambda: None, {"wait": float("inf")}, "wait is a number"),
        (generated, {}, "is no function"),
        (partial(print, "x"), {}, "is no function"),
        (Address, {}, "is no function"),
    ],
)
def test_what_can_not_be_asked_about_is_refused_when_it_is_made(
    function: Callable[..., Any], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        require_approval(**options)(function)


def test_a_program_that_is_started_again_finds_what_was_decided(desk: Desk) -> None:
    def pay(eur: int) -> int:
        return eur

    with pytest.raises(Refused):
        require_approval(agent="billing", session="invoice-17", wait=0)(pay)(5)
    desk.say(Verdict.APPROVE)
    assert require_approval(agent="billing", session="invoice-17", wait=0)(pay)(5) == 5
    with pytest.raises(Refused):
        require_approval(agent="billing", session="invoice-17", wait=0)(pay)(5)


async def test_coroutines_wait_without_holding_up_others(desk: Desk) -> None:
    class Bank:
        @require_approval
        async def pay(self, eur: int) -> int:
            desk.made.append(eur)
            return eur

    calls = [asyncio.create_task(Bank().pay(eur)) for eur in (1, 2)]
    tasks = desk.tasks
    for _ in range(2000):
        if len(found := await tasks.waiting()) == 2:
            break
        await asyncio.sleep(0.01)
    first, second = found
    assert {step.action for step in found} == {"Bank.pay"} and first.arguments in ({"eur": 1}, {"eur": 2})
    assert second.view is not None and first.view is not None
    await tasks.decide(second, Verdict.APPROVE, ANN, "test")
    done, left = await asyncio.wait(calls, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(left), desk.made) == (1, 1, [second.arguments and second.arguments["eur"]])
    assert (await tasks.the_step(first.task_id, first.step)).status is Status.INTERRUPTED
    left.pop().cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert len(desk.made) == 1


async def test_a_function_that_is_called_in_an_event_loop_holds_it_up_until_it_is_decided(desk: Desk) -> None:
    @require_approval
    def pay(eur: int) -> int:
        return eur

    decided = desk.begin(lambda: desk.say(Verdict.APPROVE))
    assert pay(5) == 5
    assert decided.done()


SCRIPT = """
from hitl_tui import require_approval

@require_approval
def pay(eur: int) -> None:
    print("paid")

pay(5)
"""


def test_a_program_that_waits_can_be_interrupted(desk: Desk) -> None:
    program = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE)
    desk.waiting()
    program.send_signal(signal.SIGINT)
    assert (program.communicate(timeout=30)[0], program.returncode) == (b"", -signal.SIGINT)
