"""What hitl.toml says while a session is open holds from when it is saved, for whatever hasn't begun (M8 to M10)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from people import verified, write_approvers
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import Refused
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.records import Entry
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.policy_sync import POLICY
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question, Snapshot

COMMANDS = """
[teams.command_team.commands.make]
run = ["touch", "{file}"]
parameters.file = { type = "string" }
risk = "high"

[teams.command_team.commands.hold]
run = ["sh", "-c", "touch begun; until [ -e go ]; do sleep 0.05; done; touch ended"]
risk = "high"
"""
DENY = '[[policy]]\nteam = "command_team"\ndecision = "deny"\n'
TWO = '[[policy]]\nteam = "command_team"\ndecision = "ask"\nquorum = 2\n'
PATIENCE = 60.0

pytestmark = pytest.mark.long


@dataclass
class Open:
    """A session whose hitl.toml is edited meanwhile."""

    bench: SessionRegistry
    session: Session
    workspace: Path

    def person(self, name: str) -> CommandHandler:
        acting, planner = verified(name), self.session.setup.planner
        return CommandHandler(self.session, planner, by=name, channel="test", acting=acting, terminal=True)

    async def until(self, condition: Callable[[Snapshot], Any]) -> Snapshot:
        async with asyncio.timeout(PATIENCE):
            seen = self.session.snapshot
            while not condition(seen):
                seen = await self.session.changed(seen)
            return seen

    async def status(self, todo_id: str, wanted: str) -> None:
        await self.until(lambda s: s.raw[todo_id]["status"] == wanted)

    async def add(self, words: str) -> str:
        result = await self.person("ann").handle_command(f"/todo add command_team {words}")
        assert not result.failed, result.message
        return str(result.data["todo_id"])

    async def asked(self, todo_id: str, than: Question | None = None) -> Question:
        """Wait until a TODO is asked about, and not what was asked before."""

        def found(seen: Snapshot) -> Question | None:
            question = seen.question_of(todo_id)
            return None if question is None or (than is not None and question.id == than.id) else question

        question = found(await self.until(found))
        assert question is not None
        return question

    def save(self, text: str) -> None:
        (self.workspace / "hitl.toml").write_text(text, encoding="utf-8")

    def trust(self) -> None:
        """Trust the workspace as it is now, as another process does."""
        trust_workspace(self.workspace.parent / "d", self.workspace)

    async def begun(self) -> None:
        """Wait until "hold" runs: a TODO is in progress some time before its program starts."""

        def wait() -> bool:
            ends = time.monotonic() + PATIENCE
            while not self.made("begun") and time.monotonic() < ends:
                time.sleep(0.02)
            return self.made("begun")

        assert await asyncio.to_thread(wait)

    def made(self, name: str) -> bool:
        return (self.workspace / name).exists()

    async def record(self, kind: str) -> list[Entry]:
        return [e for e in await self.bench.ledger.entries(self.session.id, 0, 1_000) if e.kind == kind]

    @property
    def notes(self) -> list[str]:
        return [line.text for line in self.session.activity.lines if line.kind == "note"]


@asynccontextmanager
async def opened(tmp_path: Path, text: str = COMMANDS, mode: Mode = Mode.STEP) -> AsyncIterator[Open]:
    workspace = tmp_path / "w"
    workspace.mkdir(exist_ok=True)
    (workspace / "hitl.toml").write_text(text, encoding="utf-8")
    for number in range(1, 7):
        (workspace / f"cap{number}.md").write_text(f"# Cap {number}\n\nThe cap {number}.\n", encoding="utf-8")
    write_approvers(tmp_path / "d", "ann", "ben")
    trust_workspace(tmp_path / "d", workspace)
    async with SessionRegistry.open(tmp_path / "d") as bench:
        setup = await bench.create("The cap", workspace, mode=mode)
        async with open_session(bench.store, setup, "The cap") as opened:
            session = opened.view
            assert isinstance(session, Session)
            found = Open(bench, session, workspace)
            if mode is Mode.STEP:
                await found.person("ann").handle_command("/todo skip 1")
            await found.until(lambda s: s.concluded)
            yield found


async def test_what_is_denied_from_now_on_is_refused_though_it_was_asked_about(tmp_path: Path) -> None:
    async with opened(tmp_path) as o:
        todo = await o.add("make file=a")
        await o.asked(todo)
        o.save(COMMANDS + DENY)
        await o.status(todo, "failed")
        assert o.session.snapshot.raw[todo]["error"] == "denied by policy rule 1"
        assert not o.made("a")
        (entry,) = await o.record(POLICY)
        assert entry.data["policy"] == o.session.rules.policy.version != entry.data["before"]
        assert [rule["decision"] for rule in entry.data["rules"]] == ["deny"]
        assert sum("until you trust them" in note for note in o.notes) == 1


async def test_more_people_are_asked_from_now_on_and_the_question_before_counts_no_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as o:
        todo = await o.add("make file=a")
        first = await o.asked(todo)
        o.save(COMMANDS + TWO)
        second = await o.asked(todo, first)
        assert second.view.request.terms.quorum == 2
        with pytest.raises(Refused):
            await o.person("ann").decide(first, Verdict.APPROVE)
        assert (await o.person("ann").decide(second, Verdict.APPROVE)).data["needed"] == 1
        assert not o.made("a")
        await o.person("ben").decide(second, Verdict.APPROVE)
        await o.status(todo, "completed")
        decided = second.view.request.subject["policy"]
        assert decided == (await o.record(POLICY))[-1].data["policy"], "the record says which rules it was asked under"


async def test_what_is_approved_and_waits_its_turn_is_asked_anew(tmp_path: Path) -> None:
    low = COMMANDS.replace('risk = "high"', 'risk = "low"')
    async with opened(tmp_path, low) as o:
        running = await o.add("hold")
        waits = await o.add(f"make file=a --after {running}")
        await o.person("ann").decide(await o.asked(running), Verdict.APPROVE)
        await o.person("ann").handle_command(f"/todo approve {waits}")
        await o.until(lambda s: s.raw[waits].get("approval"))
        o.save(low + TWO)
        await o.until(lambda s: not s.raw[waits].get("approval"))
        assert o.session.snapshot.raw[running]["status"] == "in_progress", "what runs goes on"
        (o.workspace / "go").touch()
        await o.status(running, "completed")
        assert (await o.asked(waits)).view.request.terms.quorum == 2
        assert not o.made("a")


async def test_what_runs_is_never_stopped(tmp_path: Path) -> None:
    async with opened(tmp_path) as o:
        running = await o.add("hold")
        await o.person("ann").decide(await o.asked(running), Verdict.APPROVE)
        await o.begun()
        o.save(COMMANDS + DENY)
        await o.until(lambda _: o.session.rules.policy.rules)
        (o.workspace / "go").touch()
        await o.status(running, "completed")
        assert o.made("ended")


async def test_while_it_cannot_be_read_nothing_begins_and_the_question_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as o:
        todo = await o.add("make file=a")
        question = await o.asked(todo)
        o.save(COMMANDS + '[[policy]]\ndecision = "dney"\n')
        seen = await o.until(lambda s: s.problem)
        assert "hitl.toml line 11" in seen.problem and '"deny"' in seen.problem
        with pytest.raises(Refused, match=r"hitl\.toml line 11") as refused:
            await o.person("ann").decide(question, Verdict.APPROVE)
        assert refused.value.reason == "not_allowed"
        assert (kept := o.session.snapshot.question_of(todo)) is not None and kept.id == question.id
        assert sum("hitl.toml line 11" in note for note in o.notes) == 1
        o.save(COMMANDS)
        await o.until(lambda s: not s.problem)
        await o.person("ann").decide(question, Verdict.APPROVE)  # the same policy: what was asked stands
        await o.status(todo, "completed")


async def test_what_was_approved_before_it_broke_waits_and_goes_on_by_itself(tmp_path: Path) -> None:
    low = COMMANDS.replace('risk = "high"', 'risk = "low"')
    async with opened(tmp_path, low) as o:
        running = await o.add("hold")
        waits = await o.add(f"make file=a --after {running}")
        await o.person("ann").decide(await o.asked(running), Verdict.APPROVE)
        await o.person("ann").handle_command(f"/todo approve {waits}")
        await o.begun()
        o.save("[[policy")
        await o.until(lambda s: s.problem)
        (o.workspace / "go").touch()
        await o.status(running, "completed")
        assert (await o.until(lambda s: s.at_rest)).raw[waits]["status"] == "pending"
        assert not o.made("a")
        o.save(low)
        await o.status(waits, "completed")


async def test_a_file_that_is_removed_takes_no_rule_away(tmp_path: Path) -> None:
    async with opened(tmp_path, COMMANDS + TWO) as o:
        question = await o.asked(await o.add("make file=a"))
        (o.workspace / "hitl.toml").unlink()
        seen = await o.until(lambda s: s.problem)
        assert seen.problem.endswith("hitl.toml no longer exists.")
        with pytest.raises(Refused):
            await o.person("ann").decide(question, Verdict.APPROVE)
        assert (await o.person("ann").decide(question, Verdict.REJECT)).status == "rejected", "refusing is always free"


async def test_what_is_declared_otherwise_does_not_begin_until_it_is_opened_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as o:
        todo, other = await o.add("make file=a"), await o.add("hold")
        question = await o.asked(todo)
        o.save(COMMANDS.replace('["touch", "{file}"]', '["rm", "{file}"]'))
        await o.person("ann").decide(await o.asked(todo, question), Verdict.APPROVE)
        await o.status(todo, "failed")
        assert "changed what it declares for make" in o.session.snapshot.raw[todo]["error"]
        before = await o.asked(other)
        o.save(COMMANDS + "[teams.command_team]\nenabled = false\n")
        await o.person("ann").decide(await o.asked(other, before), Verdict.APPROVE)
        await o.status(other, "failed")
        assert "no longer lets command_team run" in o.session.snapshot.raw[other]["error"]
        assert not o.made("a") and not o.made("begun")


async def test_the_rules_that_hold_are_on_record_and_those_of_an_edit_until_it_is_trusted(tmp_path: Path) -> None:
    async with opened(tmp_path, COMMANDS + TWO) as o:
        first = await o.asked(await o.add("make file=a"))
        o.save(COMMANDS + TWO + "# the same\n")
        second = await o.asked(first.todo_id, first)
        assert second.view.request.terms.quorum == 2
        o.trust()
        third = await o.asked(first.todo_id, second)
        for name in ("ann", "ben"):
            await o.person(name).decide(third, Verdict.APPROVE)
        await o.status(first.todo_id, "completed")
        begun, edited, trusted = await o.record(POLICY)
        assert (begun.data["before"], begun.data["rules"][0]["quorum"]) == ("", 2)
        assert edited.data["before"] == begun.data["policy"] == trusted.data["policy"] != edited.data["policy"]
    async with SessionRegistry.open(tmp_path / "d") as bench:
        (o.workspace / "hitl.toml").write_text(COMMANDS + DENY, encoding="utf-8")
        async with open_session(bench.store, await bench.setup(o.session.id)):
            found = [e.data for e in await bench.ledger.entries(o.session.id, 0, 1_000) if e.kind == POLICY]
            before, after = found[-2:]
            assert after["before"] == before["policy"] != after["policy"]


async def test_what_is_declared_riskier_when_it_is_opened_again_asks_as_that(tmp_path: Path) -> None:
    low = COMMANDS.replace('risk = "high"', 'risk = "low"')
    async with opened(tmp_path, low) as o:
        first = await o.add("hold")
        todo = await o.add(f"make file=a --after {first}")
        await o.person("ann").handle_command(f"/todo approve {todo}")
        await o.until(lambda s: s.raw[todo].get("approval"))
    o.save(COMMANDS)
    async with (
        SessionRegistry.open(tmp_path / "d") as bench,
        open_session(bench.store, await bench.setup("s1"), "") as found,
    ):
        session = found.view
        assert isinstance(session, Session)
        again = Open(bench, session, o.workspace)
        await again.until(lambda s: s.raw[todo]["risk"] == "high")
        assert not session.snapshot.raw[todo].get("approval"), "it was given for something else"
        await again.person("ann").handle_command("/mode risk")
        await again.asked(first)
        assert not again.made("begun") and not again.made("a")
