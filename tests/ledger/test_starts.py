"""Any history of starts, ends, deaths, restores, forks and words: a start after the first takes a word of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ledger_support import at, deed, word

from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.sqlite_ledger import SqliteLedger

SESSIONS = ("s1", "s2")


@dataclass
class Known:
    """What an onlooker knows of one effect that two sessions share.

    Args:
        starts: how often it was started.
        state: `started`, `done`, `failed`; empty before the first start.
        run: the session, branch and run of the last start.
        words: answers that were asked for and given since the last start or end, with session, branch and verdict.
        given: every answer there ever was.
    """

    starts: int = 0
    state: str = ""
    run: tuple[str, int, str] = ("", 0, "")
    words: dict[str, tuple[str, int, Verdict]] = field(default_factory=dict)
    given: list[tuple[str, Verdict]] = field(default_factory=list)

    def moved(self, state: str, run: tuple[str, int, str]) -> None:
        self.state, self.run, self.words = state, run, {}

    def may_start(self, run: tuple[str, int, str], answer: str, resolution: str) -> bool:
        """Say whether a run may start the effect now: the first time, after another run failed, or for a word."""
        if not self.starts or (self.state == "failed" and self.run != run):
            return True
        return resolution == "do_again" and self.words.get(answer) == (*run[:2], Verdict.DO_AGAIN)


@pytest.mark.sampled(5)
@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
async def test_no_history_starts_an_effect_without_a_word_of_its_own(tmp_path: Path, seed: int) -> None:
    chance, known = random.Random(seed), Known()
    runs: list[tuple[str, int, str]] = []
    path = tmp_path / "ledger.db"
    ledger_of = SqliteLedger.open(path)
    ledger = await ledger_of.__aenter__()
    try:
        for number in range(150):
            session = chance.choice(SESSIONS)
            branch = (await ledger.branch(session)).number
            match chance.choice(("begin", "begin", "begin", "end", "word", "word", "restore", "reopen")):
                case "begin":
                    run = (session, branch, f"{session}/{branch}.{chance.randint(1, 3)}")
                    runs.append(run)
                    answer, _ = chance.choice([*known.given[-3:], ("", Verdict.DO_AGAIN)])
                    resolution = chance.choice(("do_again", "do_again", "use_as_done", ""))
                    wanted = deed(session=session, branch=branch, run_id=run[2])
                    claim = await ledger.begin_effect(wanted, at(number), resolution=resolution, answer_to=answer)
                    if claim.verdict == "go":
                        assert known.may_start(run, answer, resolution), (number, run, answer, known)
                        known.starts += 1
                        known.moved("started", run)
                    elif claim.verdict == "done" and (known.state, *known.run[:2]) != ("done", session, branch):
                        assert resolution == "use_as_done"
                        assert known.words.get(answer) == (session, branch, Verdict.USE_AS_DONE), (number, known)
                        known.moved("done", run)
                    elif claim.verdict == "doubt":
                        assert not known.may_start(run, answer, resolution), (number, run, answer, known)
                case "end" if runs:
                    run = chance.choice(runs)
                    status = chance.choice(("done", *["failed"] * 4))
                    try:
                        outcome = {"error": "exit code 3"} if status == "failed" else {}
                        await ledger.end_effect("eff-1", run[2], status, outcome, at(number))
                    except Refused:
                        continue
                    if known.state == "started":
                        known.moved(status, known.run)
                case "word" if known.starts:
                    said = chance.choice((Verdict.DO_AGAIN, Verdict.DO_AGAIN, Verdict.USE_AS_DONE, Verdict.STOP))
                    asked = deed(session=session, branch=branch)
                    answer = await word(ledger, asked, said, seconds=number)
                    known.words[answer] = (session, branch, said)
                    known.given.append((answer, said))
                case "restore":
                    await ledger.begin_restore(session, "cp", "ann", at(number))
                    await ledger.finish_restore(session, branch + 1, at(number))
                case "reopen":  # nothing that is known is only in memory
                    await ledger_of.__aexit__(None, None, None)
                    ledger_of = SqliteLedger.open(path)
                    ledger = await ledger_of.__aenter__()
    finally:
        await ledger_of.__aexit__(None, None, None)
    assert known.starts > 1
