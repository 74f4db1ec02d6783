"""Two proposals wait: once one was accepted, the other says what it would do to the plan as it is then."""

from __future__ import annotations

from pathlib import Path

from session_support import Place, step

from hitl_tui.core.requests import Kind, Verdict


async def test_what_is_left_of_two_proposals_is_asked_with_the_ids_it_would_get(tmp_path: Path) -> None:
    async with Place(tmp_path, step("low", "first")).open() as d:
        await d.rest()
        await d.say("more one", "more two")
        one, two = [q for q in (await d.rest()).questions if q.kind is Kind.PROPOSAL]
        await d.handler.decide(one, Verdict.APPROVE)
        seen = await d.until(lambda s: all(q.id not in (one.id, two.id) for q in s.questions))
        (left,) = [q for q in seen.questions if q.kind is Kind.PROPOSAL]
        request = left.view.request
        assert left.digest != two.digest
        assert [c["todo"]["id"] for c in request.subject["proposal"]["changes"]] == ["todo_003"]
        assert [s["id"] for s in request.about["plan"]] == ["todo_001", "todo_002"]
        await d.handler.decide(left, Verdict.APPROVE)
        seen = await d.until(lambda s: "todo_003" in s.raw)
        assert {t.id: t.description for t in seen.todos}["todo_003"] == "more two"
