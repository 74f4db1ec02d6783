"""Whatever happens to a ledger, its chains hold and its views are what its entries say."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_support import ask, at, deed, dump, rebuild, say

from hitl_tui.core.errors import HitlError
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger import audit
from hitl_tui.ledger.sqlite_ledger import SqliteLedger

POST = {"kind": "note"}

_steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["open", "show", "decide", "post", "expire", "supersede", "restore", "finish", "begin", "end", "stop"]
        ),
        st.integers(0, 4),
        st.sampled_from(["ann", "bob", "cid"]),
        st.sampled_from([Verdict.APPROVE, Verdict.REJECT]),
        st.sampled_from(["s1", "s2"]),
    ),
    max_size=40,
)


async def _take(ledger: SqliteLedger, number: int, step: tuple[str, int, str, Verdict, str]) -> None:
    what, which, who, verdict, session = step
    branch = (await ledger.branch(session)).number
    on_deadline, risk = ("approve", "reject")[which % 2], ("low", "high")[which % 3 == 0]
    terms = Terms(quorum=1 + which % 3, veto=which % 2 == 0, deadline=9.0 * (which > 2), on_deadline=on_deadline)
    ends = 30 if which > 2 else None
    request = ask(f"todo_{which}", session=session, branch=branch, terms=terms, deadline=ends, risk=risk)
    effect = deed(f"eff-{which}", session=session, branch=branch, run_id=who)
    match what:
        case "open":
            await ledger.open_requests([request])
        case "show":
            await ledger.mark_shown([request.id], who, "cli", at(number))
        case "decide":
            await ledger.decide(say(request, verdict, who, seconds=number), at(number))
        case "post":
            await ledger.post(session, branch, f"e{which}", POST, at(number))
        case "expire":
            await ledger.expire(at(number), session)
        case "supersede":
            await ledger.supersede(session, [request.id], Cause.ADVANCED, at(number))
        case "restore":
            await ledger.begin_restore(session, "cp", who, at(number))
        case "finish":
            await ledger.finish_restore(session, branch, at(number))
        case "begin":
            await ledger.begin_effect(effect, at(number), resolution=("", "do_again", "use_as_done")[which % 3])
        case "end":
            await ledger.end_effect(effect.key, who, "done" if which % 2 else "failed", {}, at(number))
        case _:
            await ledger.stop_run(session, who, at(number))


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
def test_after_any_history_chains_hold_and_views_are_what_entries_say(
    steps: list[tuple[str, int, str, Verdict, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("history") / "ledger.db"

    async def live() -> None:
        async with SqliteLedger.open(path) as ledger:
            for number, step in enumerate(steps):
                heads = await ledger.streams()
                try:
                    await _take(ledger, number, step)
                except HitlError:
                    assert await ledger.streams() == heads
            assert (await audit.verify(ledger)).problems == ()
            for session in ("s1", "s2"):
                assert (await audit.verify(ledger, session)).problems == ()
                branch = (await ledger.branch(session)).number
                posted = [p for number in range(branch + 1) for p in await ledger.after(session, 0, number)]
                assert len({p.seq for p in posted}) == len({p.event_id for p in posted}) == len(posted)
                settled = [
                    f"decided:{view.request.id}"
                    for view in await ledger.requests(at(), session=session, pending=False, limit=999)
                    if view.resolution.decided
                ]
                superseded = {
                    f"decided:{view.request.id}"
                    for view in await ledger.requests(at(), session=session, pending=False, limit=999)
                    if view.request.superseded
                }
                decided = [p.event_id for p in posted if p.event_id.startswith("decided:")]
                assert sorted(decided) == sorted(settled)
                assert not superseded & set(decided)
            before = dump(path)
            await rebuild(ledger)
            assert dump(path) == before

    asyncio.run(live())
