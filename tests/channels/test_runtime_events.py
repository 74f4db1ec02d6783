"""The events of a runtime and their schema (P2)."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from hitl_tui.channels.runtime.events import EVENTS, PlanReviewKeepalive, PlanReviewRequest, schema

REQUEST = PlanReviewRequest(
    job_id="j", session_id="s", plan="1. Search", revision_count=0, max_revisions=10, request_id="req-1",
    feedback_s3_path="s3://b/deep-insight/feedback/req-1.json", timeout_seconds=300.0, message="Please review.",
    digest="d", steps=[], on_timeout="approve", notes=[], difference={}, query="Search", expires_at=None,
)  # fmt: skip


def test_the_schema_is_one_and_takes_the_events_alone() -> None:
    found = schema()
    Draft202012Validator.check_schema(found)
    judge = Draft202012Validator(found)
    written = REQUEST.to_dict()
    assert judge.is_valid(written)
    assert not judge.is_valid({**written, "plan": 1})
    assert not judge.is_valid({**written, "event_type": "todo"})
    assert not judge.is_valid({k: v for k, v in written.items() if k != "request_id"})


def test_the_events_of_a_plan_review_have_the_keys_that_clients_know() -> None:
    asked = {"type", "event_type", "plan", "revision_count", "max_revisions", "request_id", "feedback_s3_path",
             "timeout_seconds", "message"}  # fmt: skip
    assert asked <= set(REQUEST.to_dict())
    waits = PlanReviewKeepalive(
        job_id="j", session_id="s", message="Waiting for plan feedback... (30s elapsed)", elapsed_seconds=30,
        timeout_seconds=300.0, request_id="req-1",
    ).to_dict()  # fmt: skip
    assert {"type", "event_type", "message", "elapsed_seconds", "timeout_seconds"} <= set(waits)
    assert {REQUEST.to_dict()["type"], waits["event_type"]} == {"plan_review_request", "plan_review_keepalive"}


def test_every_event_names_its_job_and_session() -> None:
    for event in schema()["$defs"].values():
        assert {"job_id", "session_id"} <= set(event["required"])
    assert len({event.kind for event in EVENTS}) == len(EVENTS)
