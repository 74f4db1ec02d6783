"""Feedback in S3, against a service that checks signatures and permissions, and one that fails in every way."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from botocore.auth import AUTH_TYPE_MAPS, S3SigV4Auth
from feedback_support import APPROVED, REVISE, Decisions, run_until
from s3_server import Fault, Key, Pass, Proxy, S3Server, cut, hang_up, only, proxy_to, refusing, s3_server
from swift_server import PROGRAMS, SwiftServer, swift_server

from hitl_tui.channels.plan_feedback.document_bucket import DocumentBucket
from hitl_tui.channels.plan_feedback.documents import StoreDenied
from hitl_tui.channels.plan_feedback.feedback import Feedback, Problem
from hitl_tui.channels.plan_feedback.reviewed_runtime import ReviewedRuntime
from hitl_tui.channels.plan_feedback.s3_signing import ServiceTimeAuth
from hitl_tui.channels.plan_feedback.store import AlreadyAnswered, FeedbackStore, PublishedRequest
from hitl_tui.channels.plan_feedback.store_address import store_at
from hitl_tui.core.errors import BadInput, StorageError

pytestmark = pytest.mark.long

PREFIX = "deep-insight/feedback/"
ASIDE = "deep-insight/feedback-set-aside/"


@pytest.fixture(scope="module", params=["moto", pytest.param("swift", marks=pytest.mark.slow)])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    if request.param == "moto":
        with s3_server() as running:
            yield running
        return
    if PROGRAMS not in os.environ:
        pytest.skip(f"{PROGRAMS} names no Swift")
    with swift_server(Path(os.environ[PROGRAMS]), tmp_path_factory.mktemp("swift")) as running:
        yield running


def may_only(place: Place, *actions: str) -> Key:
    """Make credentials that may do little."""
    if isinstance(place.service, SwiftServer):
        pytest.skip("Swift's users may do everything here")
    return place.service.key(*actions)


@pytest.fixture(scope="module")
def everything(service: S3Server) -> Key:
    return service.key()


@pytest.fixture(scope="module")
def shared_proxy(service: S3Server) -> Iterator[Proxy]:
    with proxy_to(service.url) as running:
        yield running


class Place:
    """A bucket, and how a store is opened for it.

    Args:
        service: the service.
        key: credentials for everything.
        proxy: what stands before the service.
        monkeypatch: sets the environment.
    """

    def __init__(self, service: S3Server, key: Key, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
        self.service, self.key, self.proxy, self._monkeypatch = service, key, proxy, monkeypatch
        self.bucket = service.bucket()
        self.other_client = service.client(key)

    @asynccontextmanager
    async def store(self, key: Key | None = None, address: str = "") -> AsyncIterator[FeedbackStore]:
        self.use(key or self.key)
        store = store_at(address or f"s3://{self.bucket}")
        assert isinstance(store.documents, DocumentBucket)
        try:
            yield store
        finally:
            await store.close()

    def use(self, key: Key) -> None:
        for name, value in key.environ(self.proxy.url).items():
            self._monkeypatch.setenv(name, value)

    def put(self, name: str, data: bytes) -> None:
        """Put an object plainly, as any client does."""
        self.other_client.put_object(Bucket=self.bucket, Key=name, Body=data)

    def get(self, name: str) -> bytes:
        data: bytes = self.other_client.get_object(Bucket=self.bucket, Key=name)["Body"].read()
        return data

    def names(self, prefix: str = "") -> list[str]:
        found = self.other_client.list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", [])
        return [each["Key"] for each in found]

    def reasons(self) -> list[dict[str, Any]]:
        return [json.loads(self.get(name)) for name in self.names(ASIDE) if name.endswith(".reason.json")]


@pytest.fixture
def place(service: S3Server, everything: Key, shared_proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    shared_proxy.fault, shared_proxy.calls = None, []
    monkeypatch.setitem(AUTH_TYPE_MAPS, "s3v4", S3SigV4Auth)
    yield Place(service, everything, shared_proxy, monkeypatch)
    shared_proxy.fault = None


async def test_a_plain_put_of_another_client_is_taken_once_and_deleted(place: Place) -> None:
    data = b'{"approved": false, "feedback": "Only the search.", "timestamp": "2026-11-27T09:30:00"}'
    async with place.store() as store:
        assert store.path("r1") == f"s3://{place.bucket}/{PREFIX}r1.json"
        runtime = Decisions(store, "r1", "r2")
        place.put(f"{PREFIX}r1.json", data)
        await run_until(runtime.poller(), lambda: not place.names())
    assert runtime.taken == [("r1", Feedback(False, "Only the search.", APPROVED.timestamp))]
    assert runtime.reports == []


@pytest.mark.parametrize(
    ("address", "prefix"),
    [("", PREFIX), ("/", PREFIX), ("/team/답", "team/답/"), ("/deep/er/", "deep/er/")],
)
async def test_a_given_prefix_replaces_the_default(place: Place, address: str, prefix: str) -> None:
    async with place.store(address=f"s3://{place.bucket}{address}") as store:
        await store.put_new("r1", REVISE)
        assert place.names() == [f"{prefix}r1.json"]
        [found] = (await store.poll({"r1"})).found
        assert found.content == REVISE
        await store.remove(found)
        assert place.names() == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://", "'s3://' names no bucket: write s3://BUCKET[/PREFIX]."),
        ("s3:///x", "names no bucket"),
        ("s3://b", "'s3://b' names no bucket: S3 takes 3 to 63 letters, digits,"),
        (f"s3://{'b' * 64}/x", "names no bucket: S3 takes 3 to 63"),
        ("s3://bu cket/x", "names no bucket: S3 takes 3 to 63"),
        ("s3://bac\n/x", "names no bucket: S3 takes 3 to 63"),
        ("s3://bucket/a//b", "has a prefix that can't be used"),
        (f"s3://bucket/{'a' * 501}", "has a prefix that can't be used: it has at most 500 bytes"),
    ],
)
def test_an_address_without_a_bucket_is_refused(address: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        store_at(address)
    assert said in refused.value.message


async def test_of_many_reviewers_one_is_first_and_the_others_are_told(place: Place) -> None:
    async with place.store() as store:
        results = await asyncio.gather(
            *(store.put_new("r1", Feedback(True, str(n), APPROVED.timestamp)) for n in range(10)),
            return_exceptions=True,
        )
        first = [str(n) for n, one in enumerate(results) if isinstance(one, str)]
        assert sum(isinstance(one, AlreadyAnswered) for one in results) == 10 - len(first)
        found = (await store.poll({"r1"})).found[0].content
        assert isinstance(found, Feedback)
        assert found.feedback in first
        if not isinstance(place.service, SwiftServer):  # its conditions aren't atomic
            assert len(first) == 1


async def test_a_put_whose_answer_was_lost_is_known_again(place: Place) -> None:
    async with place.store() as store:

        async def lost(request: web.Request, forward: Pass) -> web.StreamResponse:
            await forward()
            return await hang_up(request, forward)

        place.proxy.fault = only(["PUT"], lost, times=1)
        with suppress(StorageError):  # a kept connection that breaks is tried again by itself
            await store.put_new("r1", APPROVED)
        await store.put_new("r1", APPROVED)
        assert place.proxy.asked("PUT") > 1
        with pytest.raises(AlreadyAnswered):
            await store.put_new("r1", REVISE)


async def test_a_service_without_conditional_writes_is_looked_at_before(place: Place) -> None:
    def without(header: str) -> Fault:
        async def fault(request: web.Request, forward: Pass) -> web.StreamResponse:
            unknown = refusing(501, "NotImplemented")
            return await (unknown(request, forward) if header in request.headers else forward())

        return fault

    async with place.store() as store:
        place.proxy.fault = without("If-None-Match")
        await store.put_new("r1", APPROVED)
        with pytest.raises(AlreadyAnswered):
            await store.put_new("r1", REVISE)
        [found] = (await store.poll({"r1"})).found
        place.proxy.fault = without("If-Match")
        place.put(f"{PREFIX}r1.json", REVISE.to_bytes())
        await store.remove(found)
        assert place.get(f"{PREFIX}r1.json") == REVISE.to_bytes()
        [found] = (await store.poll({"r1"})).found
        await store.remove(found)
        assert place.names() == []


@pytest.mark.parametrize(
    ("data", "kind"), [(b"{}", "malformed"), (b"x" * 70_000, "oversized"), (APPROVED.to_bytes("r2"), "foreign")]
)
async def test_what_cannot_be_used_is_set_aside_with_the_reason(place: Place, data: bytes, kind: str) -> None:
    async with place.store() as store:
        runtime = Decisions(store, "r1")
        place.put(f"{PREFIX}r1.json", data)
        await run_until(runtime.poller(), lambda: bool(runtime.reports))
        [report] = runtime.reports
        assert (report.what, report.request_id) == ("set_aside", "r1")
        assert place.get(report.path.removeprefix(f"s3://{place.bucket}/")) == data
        assert [reason["kind"] for reason in place.reasons()] == [kind]
        assert place.names(PREFIX) == []
        assert (runtime.calls, runtime.waiting) == (0, {"r1"})
        await store.put_new("r1", APPROVED)
        await run_until(runtime.poller(), lambda: bool(runtime.taken))


async def test_late_feedback_is_set_aside_and_that_of_other_runtimes_stays(place: Place) -> None:
    async with place.store() as store:
        runtime = Decisions(store, "r1")
        place.put(f"{PREFIX}theirs.json", APPROVED.to_bytes())
        place.put(f"{PREFIX}notes/r1.json", b"not looked at")
        await store.put_new("r1", APPROVED)
        await run_until(runtime.poller(), lambda: bool(runtime.taken))
        await store.put_new("r1", REVISE)
        await run_until(runtime.poller(), lambda: bool(runtime.reports))
    assert [reason["kind"] for reason in place.reasons()] == ["late"]
    assert sorted(place.names(PREFIX)) == [f"{PREFIX}notes/r1.json", f"{PREFIX}theirs.json"]


@pytest.mark.slow
async def test_ten_runtimes_share_a_bucket_and_mix_nothing_up(place: Place) -> None:
    async with AsyncExitStack() as stack:
        runtimes = []
        for number in range(10):
            store = await stack.enter_async_context(place.store())
            runtimes.append(Decisions(store, *(f"r{number}-{job}" for job in range(20))))
        pollers = [runtime.poller() for runtime in runtimes]
        asked = [request_id for runtime in runtimes for request_id in sorted(runtime.waiting)]
        random.Random(20).shuffle(asked)
        for some in (asked[start : start + 40] for start in range(0, len(asked), 40)):
            for request_id in some:
                place.put(f"{PREFIX}{request_id}.json", Feedback(False, request_id, APPROVED.timestamp).to_bytes())
            await asyncio.gather(*(poller.look() for poller in pollers))
    assert place.names() == []
    for runtime in runtimes:
        assert len(runtime.taken) == runtime.calls == 20
        assert {one.feedback for _, one in runtime.taken} == runtime.known
        assert runtime.reports == []


async def test_an_object_that_was_replaced_after_it_was_read_stays(place: Place) -> None:
    async with place.store() as store:
        place.put(f"{PREFIX}r1.json", b"{}")
        [found] = (await store.poll({"r1"})).found
        place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
        assert isinstance(found.content, Problem)
        await store.set_aside(found, found.content)
        [found] = (await store.poll({"r1"})).found
        assert found.content == APPROVED


async def test_one_list_call_serves_all_that_wait(place: Place) -> None:
    async with place.store() as store:
        waiting = [f"r{number}" for number in range(500)]
        await store.poll(waiting)
        place.proxy.calls.clear()
        place.put(f"{PREFIX}r7.json", APPROVED.to_bytes())
        [found] = (await store.poll(waiting)).found
        assert found.request_id == "r7"
    assert [call.split("?")[0].split("/")[-1] for call in place.proxy.calls] == [place.bucket, "r7.json"]


@pytest.mark.slow
async def test_more_objects_than_a_page_holds_are_all_looked_at(place: Place) -> None:
    for number in range(1_050):
        place.put(f"{PREFIX}a{number}.json", b"{}")
    place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
    async with place.store() as store:
        polled = await store.poll({"r1"})
    assert [found.request_id for found in polled.found] == ["r1"]
    assert len(polled.others) == 1_050


async def test_where_listing_is_denied_each_request_is_asked_for(place: Place) -> None:
    few = may_only(place, "s3:GetObject", "s3:DeleteObject")
    place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
    async with place.store(few) as store:
        runtime = Decisions(store, "r1", "r2")
        poller = runtime.poller()
        await run_until(poller, lambda: bool(runtime.taken))
        assert runtime.waiting == {"r2"}
        assert [report.what for report in runtime.reports] == ["notice"]
        place.put(f"{PREFIX}r2.json", REVISE.to_bytes())
        await run_until(poller, lambda: bool(len(runtime.taken) == 2))
        with pytest.raises(StoreDenied):
            await store.requests()
    assert place.proxy.asked(f"GET /{place.bucket}?") == 2


async def test_what_may_not_be_deleted_is_acted_on_once_also_after_a_restart(place: Place) -> None:
    few = may_only(place, "s3:GetObject", "s3:ListBucket")
    place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
    place.put(f"{PREFIX}r2.json", b"{}")
    async with place.store(few) as store:
        runtime = Decisions(store, "r1", "r2")
        poller = runtime.poller()
        for _ in range(3):
            await poller.look()
        assert (runtime.calls, len(runtime.taken)) == (1, 1)
        assert sorted((one.what, one.request_id) for one in runtime.reports) == [("stuck", "r1"), ("stuck", "r2")]
        await runtime.poller().look()
        assert (runtime.calls, len(runtime.taken)) == (2, 1)
    async with place.store() as store:
        runtime.store = store
        await run_until(runtime.poller(), lambda: not place.names(PREFIX))
    assert len(runtime.taken) == 1


FAULTS = {
    "500": (refusing(500, "InternalError"), "can't do this now"),
    "503": (refusing(503, "SlowDown"), "slow down"),
    "429": (refusing(429, "TooManyRequests"), "slow down"),
    "hang up": (hang_up, "can't be reached"),
    "cut": (cut, ""),
    "clock": (refusing(403, "RequestTimeTooSkewed"), "clock"),
    "expired": (refusing(400, "ExpiredToken"), "expired"),
    "no bucket": (refusing(404, "NoSuchBucket"), "no bucket"),
    "a page": (refusing(404, "<html>"), "no bucket"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FAULTS)
async def test_after_a_fault_feedback_is_taken_once(place: Place, name: str) -> None:
    fault, said = FAULTS[name]
    async with place.store() as store:
        runtime = Decisions(store, "r1")
        place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
        place.proxy.fault = fault
        poller = runtime.poller()
        for _ in range(2):
            await poller.look()
        assert runtime.calls == 0
        [report] = runtime.reports
        assert report.what == "unreachable"
        assert said in report.message
        place.proxy.fault = None
        await poller.look()
        assert [one.what for one in runtime.reports] == ["unreachable", "reachable"]
        assert len(runtime.taken) == 1
    assert place.names() == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["500", "503", "hang up", "cut", "expired"])
@pytest.mark.parametrize("method", ["GET /{bucket}/", "DELETE", "PUT"])
async def test_a_fault_of_one_kind_of_call_alone_does_no_harm(place: Place, name: str, method: str) -> None:
    async with place.store() as store:
        runtime = Decisions(store, "r1", "r2")
        place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
        place.put(f"{PREFIX}r2.json", b"{")
        place.proxy.fault = only([method.format(bucket=place.bucket)], FAULTS[name][0], times=3)
        await run_until(runtime.poller(0.02), lambda: not place.names(PREFIX))
    assert (runtime.calls, len(runtime.taken)) == (1, 1)
    assert {reason["kind"] for reason in place.reasons()} == {"malformed"}


@pytest.mark.parametrize("hours", [-2, 3, 24 * 400])
async def test_a_wrong_clock_does_no_harm(place: Place, hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def by_its_clock(request: web.Request, forward: Pass) -> web.StreamResponse:
        now = datetime.now(UTC) + timedelta(hours=hours)
        signed = datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if abs(now - signed) > timedelta(minutes=15):
            date = email.utils.format_datetime(now.astimezone(UTC), usegmt=True)
            return await refusing(403, "RequestTimeTooSkewed", {"Date": date})(request, forward)
        return await forward()

    if isinstance(place.service, SwiftServer):
        ahead = timedelta(hours=hours)
        monkeypatch.setitem(AUTH_TYPE_MAPS, "s3v4", type("Wrong", (ServiceTimeAuth,), {"ahead": ahead}))
    else:
        place.proxy.fault = by_its_clock
    async with place.store() as store:
        runtime = Decisions(store, "r1")
        await store.put_new("r1", APPROVED)
        await runtime.poller().look()
        assert runtime.taken == [("r1", APPROVED)]
        assert runtime.reports == []
        asked = len(place.proxy.calls)
        await store.poll({"r1"})
        assert len(place.proxy.calls) == asked + 1


async def test_a_service_that_never_answers_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitl_tui.channels.plan_feedback.document_bucket._PATIENCE", 0.5)

    async def never(request: web.Request, forward: Pass) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    async with place.store() as store:
        place.proxy.fault = never
        begun = time.monotonic()
        with pytest.raises(StorageError, match="in time"):
            await store.poll({"r1"})
        assert time.monotonic() - begun < 30


async def test_renewed_credentials_are_found(place: Place) -> None:
    place.put(f"{PREFIX}r1.json", APPROVED.to_bytes())
    async with place.store(Key(place.key.id, "wrong")) as store:
        with pytest.raises(StoreDenied, match="doesn't know"):
            await store.poll({"r1"})
        place.use(place.key)
        assert len((await store.poll({"r1"})).found) == 1


async def test_unknown_credentials_and_none_are_told_apart(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async with place.store(Key("AKIANOBODY", "x")) as store:
        with pytest.raises(StoreDenied, match="doesn't know"):
            await store.poll({"r1"})
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        with pytest.raises(StoreDenied, match="No credentials"):
            await store.poll({"r1"})


async def test_a_bucket_that_is_gone_is_told(place: Place) -> None:
    async with place.store(address="s3://no-such-bucket-here") as store:
        with pytest.raises(StorageError, match="no bucket no-such-bucket-here"):
            await store.poll({"r1"})
        with pytest.raises(StorageError, match="no bucket"):
            await store.put_new("r1", APPROVED)
        with pytest.raises(StorageError, match="no bucket"):
            await store.requests()


async def test_requests_are_published_for_reviewers_and_withdrawn(place: Place) -> None:
    async with place.store() as store:
        assert await store.requests() == ()
        for number in (2, 1):
            await store.publish(PublishedRequest(f"r{number}", {"request_id": f"r{number}", "plan": "계획"}))
        place.put("deep-insight/feedback-requests/r3.json", b"{")
        assert {one.request_id for one in await store.requests()} == {"r2", "r1"}
        assert (await store.request("r1")) == PublishedRequest("r1", {"request_id": "r1", "plan": "계획"})
        await store.withdraw("r1")
        await store.withdraw("r1")
        assert await store.request("r1") is None
        ended = {"type": "decided", "request_id": "r2", "outcome": "approved", "by": ["ann"]}
        await store.withdraw("r2", ended)
        assert await store.requests() == ()
        assert await store.request("r2") == PublishedRequest("r2", ended)
        assert not (await store.poll({"r2"})).others


async def test_the_inbox_of_a_reviewer_reads_each_request_once_and_says_what_is_out_of_reach(place: Place) -> None:
    async with place.store() as store:
        for name in ("r1", "r2"):
            asked = {"type": "plan_review_request", "request_id": name, "job_id": name, "query": "the cap"}
            await store.publish(PublishedRequest(name, asked))
        inbox = ReviewedRuntime(f"s3://{place.bucket}", {}, "ann")
        try:
            place.proxy.calls.clear()
            for _ in range(3):
                await inbox.look()
            assert [one.request.request_id for one in inbox.waiting] == ["r1", "r2"] and inbox.problem is None
            lists = place.proxy.asked(f"GET /{place.bucket}?")
            assert (lists, place.proxy.asked("GET")) == (3, 5), "three listings, and each request once"
            place.proxy.fault = hang_up
            await inbox.look()
            assert "can't be reached" in str(inbox.problem) and len(inbox.waiting) == 2
            place.proxy.fault = None
            runtime = Decisions(store, "r1")
            taking = asyncio.create_task(run_until(runtime.poller(), lambda: bool(runtime.taken)))
            request = next(one.request for one in inbox.waiting if one.request.request_id == "r1")
            assert await inbox.answer(request, approved=True, text="") == "Approved."
            await taking
            assert runtime.taken[0][1].reviewer == "ann"
            await store.put_new("r2", REVISE)
            other = next(one.request for one in inbox.waiting if one.request.request_id == "r2")
            with pytest.raises(AlreadyAnswered):
                await inbox.answer(other, approved=True, text="")
            await inbox.look()
            assert inbox.problem is None and not inbox.waiting, "what was answered doesn't wait here any more"
        finally:
            await inbox.close()
