"""`/rules`: shown before it is written, bound to a digest, on record, taken back (C3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.policy import Mode
from hitl_tui.ledger.audit import verify
from hitl_tui.policy.standing_rules import load_rules
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question

TOML = """
[teams.command_team.commands.make]
run = ["touch", "{file}"]
parameters.file = { type = "string" }
risk = "high"

[teams.command_team.commands.clean]
run = ["sh", "tools/clean.sh", "{file}"]
parameters.file = { type = "string" }
risk = "high"

[teams.command_team.commands.watched]
run = ["touch", "watched"]
risk = "medium"

[teams.command_team.commands.shown]
run = ["sh", "tools/clean.sh", "{file}"]
preview = ["ls", "../away"]
parameters.file = { type = "string" }
risk = "high"

[teams.command_team.commands.clocked]
run = ["sh", "tools/clean.sh", "{file}"]
preview = ["date", "+%N"]
parameters.file = { type = "string" }
risk = "high"

[teams.command_team.commands.look]
run = ["ls"]
risk = "low"

[[policy]]
team = "command_team"
command = "watched"
decision = "ask"
"""


@dataclass
class CommandedSession:
    """An open session, and who acts on it."""

    registry: SessionRegistry
    session: Session
    handler: CommandHandler
    rules: Path

    async def add(self, words: str) -> str:
        """Add a command's TODO; return its id."""
        result = await self.handler.handle_command(f"/todo add command_team {words}")
        assert not result.failed, result.message
        return str(result.data["todo_id"])

    async def asked(self, todo_id: str) -> Question:
        seen = self.session.snapshot
        while (question := seen.question_of(todo_id)) is None:
            seen = await self.session.changed(seen)
        return question

    async def status(self, todo_id: str, wanted: str) -> None:
        """Wait until a TODO stands so."""
        seen = self.session.snapshot
        while seen.raw[todo_id]["status"] != wanted:
            seen = await self.session.changed(seen)


@asynccontextmanager
async def commanded_session(tmp_path: Path, mode: Mode) -> AsyncIterator[CommandedSession]:
    workspace = tmp_path / "w"
    workspace.mkdir(exist_ok=True)
    (workspace / "hitl.toml").write_text(TOML, encoding="utf-8")
    for number in range(1, 7):
        (workspace / f"cap{number}.md").write_text(f"# Cap {number}\n\nThe cap {number}.\n", encoding="utf-8")
    trust_workspace(tmp_path / "d", workspace)
    async with SessionRegistry.open(tmp_path / "d") as registry:
        setup = await registry.create("The cap", workspace, mode=mode)
        async with open_session(registry.store, setup, "The cap") as opened:
            session = opened.view
            assert isinstance(session, Session)
            handler = CommandHandler(session, setup.planner, by="ops", channel="cli", terminal=True)
            if mode is Mode.STEP:
                await handler.handle_command("/todo skip 1")
            else:
                seen = session.snapshot
                while not seen.concluded:
                    seen = await session.changed(seen)
            yield CommandedSession(registry, session, handler, tmp_path / "d" / "rules.toml")


async def test_a_rule_is_shown_first_and_written_with_the_digest_that_was_shown(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        todo = await d.add("make file=a")
        question = await d.asked(todo)
        shown = await d.handler.handle_command(f"/rules allow {todo}")
        assert 'decision = "allow"' in shown.message
        assert shown.data["digest"] == question.digest
        assert not d.rules.exists()
        stale = await d.handler.handle_command(f"/rules allow {todo} --digest {'0' * 64}")
        assert (stale.failed, stale.data["reason"]) == (True, "stale")
        assert not d.rules.exists()
        written = await d.handler.handle_command(f"/rules allow {todo} --digest {question.digest[:12]}")
        assert written.status == "allowed", written.message
        await d.status(todo, "completed")
        assert (tmp_path / "w" / "a").exists()


async def test_the_same_input_passes_from_then_on_and_every_use_is_on_record(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.add("make file=a")
        question = await d.asked(first)
        await d.handler.handle_command(f"/rules allow {first} --digest {question.digest}")
        await d.status(first, "completed")
        second, other = await d.add("make file=a"), await d.add("make file=b")
        await d.status(second, "completed")
        await d.asked(other)
        assert not (tmp_path / "w" / "b").exists()
        (rule,) = load_rules(d.rules)
        entries = await d.registry.ledger.entries(d.session.id)
        (added,) = [e for e in entries if e.kind == "rule_added"]
        assert (added.data["id"], added.data["by"]) == (rule.id, "ops")
        used = [e.data for e in entries if e.kind == "decision"]
        assert [f"rule {rule.id} of ops"] * 2 == [(u.get("decision") or u)["by"] for u in used]
        assert (await verify(d.registry.ledger)).ok


async def test_in_mode_step_everything_asks_still_and_it_says_so(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.STEP) as d:
        todo = await d.add("make file=a")
        question = await d.asked(todo)
        said = await d.handler.handle_command(f"/rules allow {todo} --digest {question.digest}")
        assert "in mode step everything still asks" in said.message
        assert d.session.snapshot.raw[todo]["status"] == "waiting_approval"
        assert not (tmp_path / "w" / "a").exists()
        await d.handler.handle_command("/mode risk")
        await d.status(todo, "completed")


async def test_a_rule_that_is_taken_back_asks_again(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        first = await d.add("make file=a")
        question = await d.asked(first)
        await d.handler.handle_command(f"/rules allow {first} --digest {question.digest}")
        listed = await d.handler.handle_command("/rules")
        assert [r["n"] for r in listed.data["rules"]] == [1]
        assert "touch a" in listed.message
        wrong = await d.handler.handle_command("/rules revoke 2")
        assert wrong.failed
        assert load_rules(d.rules)
        assert (await d.handler.handle_command("/rules revoke 1")).status == "revoked"
        assert (await d.handler.handle_command("/rules")).message.startswith("Nothing is always allowed.")
        second = await d.add("make file=a")
        await d.asked(second)


async def test_hitl_toml_comes_first(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        todo = await d.add("watched")
        await d.asked(todo)
        refused = await d.handler.handle_command(f"/rules allow {todo}")
        assert refused.failed
        assert "Rule 1 of hitl.toml" in refused.message
        line = '[[policy]]\nteam = "command_team"\nrisk = "medium"\ncommand = "watched"\ndecision = "allow"\n'
        d.rules.write_text(f'{line}workspace = "{tmp_path / "w"}"\n', encoding="utf-8")
        again = await d.add("watched")
        await d.asked(again)
        assert d.session.snapshot.raw[again]["status"] == "waiting_approval"


async def test_a_file_that_cannot_be_used_allows_nothing(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        d.rules.write_text("nonsense", encoding="utf-8")
        todo = await d.add("make file=a")
        question = await d.asked(todo)
        said = await d.handler.handle_command(f"/rules allow {todo} --digest {question.digest}")
        assert said.failed
        assert "isn't valid TOML" in said.message
        assert d.rules.read_text(encoding="utf-8") == "nonsense"
        assert (await d.handler.handle_command("/rules")).failed


async def test_a_rule_is_changed_and_that_is_on_record(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        todo = await d.add("make file=a")
        question = await d.asked(todo)
        await d.handler.handle_command(f"/rules allow {todo} --digest {question.digest}")
        (before,) = load_rules(d.rules)
        for wrong in ("", "--until soon", "--input any", "--until never"):  # its risk is high, and it has no end
            refused = await d.handler.handle_command(f"/rules edit 1 {wrong}")
            assert refused.failed, wrong
            assert load_rules(d.rules) == (before,)
        edited = await d.handler.handle_command(f"/rules edit {before.id} --until 8h")
        (after,) = load_rules(d.rules)
        assert (edited.status, edited.data["id"], edited.data["before"]["until"]) == ("changed", after.id, "")
        assert after.until and after.input == before.input
        entries = await d.registry.ledger.entries(d.session.id)
        (entry,) = [e for e in entries if e.kind == "rule_changed"]
        assert (entry.data["was"], entry.data["id"], entry.data["until"]) == (before.id, after.id, after.until)
        assert (await verify(d.registry.ledger)).ok


async def test_the_list_says_what_hitl_toml_says(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, Mode.RISK) as d:
        said = await d.handler.handle_command("/rules")
        (row,) = said.data["policy"]
        assert (row["n"], row["decision"], row["command"]) == (1, "ask", "watched")
        assert said.message.endswith('1. decision = "ask"  team = "command_team"  command = "watched"')
