"""Which sessions may go, and what stays in spite of having been chosen (C8)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from portable_support import QUERY, Person, cleanup, person_at

from hitl_tui.core.errors import BadInput
from hitl_tui.supervisor.admin import Pruned, choose_prunable, parse_age
from hitl_tui.supervisor.session_summary import SessionSummary

NOW = "2026-03-31T12:00:00+00:00"
DAY = timedelta(days=1)


def ended(name: str, day: int, status: str = "finished", **more: object) -> SessionSummary:
    """Return a session whose last step was on a day of March."""
    summary = SessionSummary(name, name, "/w", f"2026-03-{day:02d}T12:00:00+00:00", status, 0, False, "")
    return replace(summary, updated=summary.created, **more)  # type: ignore[arg-type]


def chosen(*found: SessionSummary, days: int | None = None, keep: int = 0) -> list[str]:
    older_than = None if days is None else days * DAY
    return [s.id for s in choose_prunable(found, NOW, older_than=older_than, keep=keep)]


def test_only_what_has_ended_and_nobody_has_open_may_go() -> None:
    others = [ended(s, 1, s) for s in ("waiting", "running", "interrupted", "unreadable")]
    others += [ended("open", 1, owned=True), ended("asks", 1, questions=1)]
    assert chosen(*others, ended("done", 1), ended("broken", 2, "failed")) == ["done", "broken"]


def test_age_counts_from_the_last_step() -> None:
    late = replace(ended("late", 1), updated="2026-03-31T11:00:00+00:00")
    assert chosen(late, ended("a", 20), ended("b", 21), ended("c", 22), days=10) == ["a", "b"]


def test_the_newest_stay_whatever_their_age() -> None:
    found = [ended("b", 2), ended("waits", 9, "waiting"), ended("c", 3), ended("a", 1)]
    assert chosen(*found, keep=1) == ["a", "b"]
    assert chosen(*found, keep=5) == []
    assert chosen(*found, keep=1, days=30) == ["a"]


@given(st.lists(st.tuples(st.integers(1, 28), st.sampled_from(["finished", "failed", "waiting"]))), st.integers(0, 9))
def test_keep_leaves_so_many_of_those_that_ended(found: list[tuple[int, str]], keep: int) -> None:
    sessions = [ended(str(n), day, status) for n, (day, status) in enumerate(found)]
    may_go = [s for s in sessions if s.status != "waiting"]
    gone = choose_prunable(sessions, NOW, keep=keep)
    assert len(gone) == max(0, len(may_go) - keep)
    assert all(a.updated <= b.updated for a in gone for b in may_go if b not in gone)


@pytest.mark.parametrize(("text", "days"), [("30d", 30), ("2w", 14), ("12h", 0.5), (" 90M ", 1 / 16), ("0d", 0)])
def test_an_age_is_a_number_and_a_unit(text: str, days: float) -> None:
    assert parse_age(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "30y", "9999999d", "٣d"])
def test_anything_else_is_no_age(text: str) -> None:
    with pytest.raises(BadInput, match="is not an age"):
        parse_age(text)


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Person]:
    """A person with a finished session s1 and s2, which waits."""
    async with person_at(tmp_path / "data") as person:
        workspace = cleanup(tmp_path / "data")
        await person.bench.create(QUERY, workspace)
        await person.say("s1", "/stop")
        await person.bench.create(QUERY, workspace)
        await person.say("s2")
        yield person


async def all_ended(ann: Person) -> list[SessionSummary]:
    return await ann.bench.admin.prunable()


async def test_what_was_chosen_goes_and_its_record_stays(ann: Person) -> None:
    found = await all_ended(ann)
    assert [s.id for s in found] == ["s1"]
    assert await ann.bench.admin.prune(found, by="ann") == Pruned(("s1",), {})
    assert ann.bench.data.ids() == ["s2"]
    last = (await ann.bench.ledger.entries("s1"))[-1]
    assert (last.kind, last.data) == ("session_deleted", {"by": "ann"})


async def test_what_somebody_opened_meanwhile_stays(ann: Person) -> None:
    found = await all_ended(ann)
    async with ann.at("s1"):
        pruned = await ann.bench.admin.prune(found, by="ann")
    assert pruned.deleted == ()
    assert "has continued in the meantime" in pruned.stayed["s1"]


async def test_what_went_on_meanwhile_stays(ann: Person) -> None:
    found = await all_ended(ann)
    await ann.say("s1", "/todo add search_team which logs may go")
    pruned = await ann.bench.admin.prune(found, by="ann")
    assert (pruned.deleted, list(pruned.stayed)) == ((), ["s1"])


async def test_a_session_with_a_command_that_nobody_carried_out_stays(ann: Person) -> None:
    found = await all_ended(ann)
    await ann.bench.ledger.post("s1", 0, "later", {"kind": "mode", "data": {"mode": "plan"}}, ann.bench.now())
    pruned = await ann.bench.admin.prune(found, by="ann")
    assert pruned.deleted == ()
    assert "wasn't carried out yet" in pruned.stayed["s1"]
    assert ann.bench.data.ids() == ["s1", "s2"]
