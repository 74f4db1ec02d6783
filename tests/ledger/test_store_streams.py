"""What every store keeps: streams and their audit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from ledger_support import Store, at

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import digest
from hitl_tui.ledger import audit
from hitl_tui.ledger.protocols import OWN_KINDS, Conflict, Streams
from hitl_tui.ledger.records import GENESIS, Problem, entry_hash


class TestStreams:
    needs = (Streams,)

    async def test_entries_are_numbered_and_chained(self, ledger: Streams) -> None:
        first = await ledger.append("s1", 0, "note", {"text": "하나"}, at())
        second = await ledger.append("s1", 1, "note", {"text": "둘"}, at(1))
        assert (first.n, first.prev, second.n, second.prev) == (1, GENESIS, 2, first.hash)
        assert await ledger.entries("s1") == [first, second]
        for entry in (first, second):
            sealed = {name: value for name, value in entry.to_dict().items() if name != "hash"}
            assert entry.hash == digest(sealed) == entry_hash(entry)

    async def test_append_at_another_length_is_a_conflict_and_writes_nothing(self, ledger: Streams) -> None:
        await ledger.record("s1", "note", {}, at())
        before = await ledger.head("s1")
        for expected in (0, 2):
            with pytest.raises(Conflict):
                await ledger.append("s1", expected, "note", {}, at())
        assert await ledger.head("s1") == before

    async def test_of_many_appends_at_one_length_exactly_one_succeeds(self, store: Store) -> None:
        async with store() as one, store() as two:
            tries = [ledger.append("s1", 0, "note", {}, at()) for ledger in (one, two) * 5]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sum(isinstance(r, Conflict) for r in results) == 9
            assert (await two.head("s1")).n == 1

    async def test_streams_are_apart_and_listed_by_name(self, ledger: Streams) -> None:
        assert await ledger.streams() == []
        for stream in ("나", "b", "a", "b"):
            await ledger.record(stream, "note", {}, at())
        heads = await ledger.streams()
        assert [(h.stream, h.n) for h in heads] == [("a", 1), ("b", 2), ("나", 1)]
        assert heads[1] == await ledger.head("b")
        assert heads[1].hash == (await ledger.entries("b"))[-1].hash

    async def test_a_stream_that_does_not_exist_is_empty(self, ledger: Streams) -> None:
        head = await ledger.head("nowhere")
        assert (head.n, head.hash) == (0, GENESIS)
        assert await ledger.entries("nowhere") == []

    async def test_entries_can_be_paged(self, ledger: Streams) -> None:
        for number in range(7):
            await ledger.record("s1", "note", {"number": number}, at(number))
        assert [e.n for e in await ledger.entries("s1", after=2, limit=3)] == [3, 4, 5]
        assert [e.n for e in await ledger.entries("s1", after=6)] == [7]
        assert await ledger.entries("s1", after=7) == []

    @pytest.mark.parametrize(
        "data",
        [
            {"text": "집주인이 전세금 3억을 10억으로 올려달래"},
            {"half": "\ud83d", "both": "\ud83d\ude00", "nul": "a\x00b", "escape": "\x1b[2J"},
            {"pair": ("tuple", 1), "numbers": [1, 1.0, -0.0, 1e300, 2**70], "none": None},
        ],
    )
    async def test_what_is_returned_is_what_is_read_again(self, store: Store, data: dict[Any, Any]) -> None:
        async with store() as ledger:
            written = await ledger.record("s1", "note", data, at())
        async with store() as ledger:
            assert await ledger.entries("s1") == [written]
            assert (await audit.verify(ledger)).ok

    @pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}, object(), {1: "number as key"}])
    async def test_what_is_not_json_is_refused(self, ledger: Streams, value: Any) -> None:
        with pytest.raises(BadInput):
            await ledger.record("s1", "note", {"value": value}, at())
        assert (await ledger.head("s1")).n == 0

    async def test_nesting_has_a_limit_that_can_be_read_again(self, ledger: Streams) -> None:
        deep: Any = "bottom"
        for _ in range(190):
            deep = [deep]
        await ledger.record("s1", "note", {"deep": deep, "wide": [[]] * 1000}, at())
        for _ in range(20):
            deep = {"deeper": deep}
        with pytest.raises(BadInput, match="levels"):
            await ledger.record("s1", "note", {"deep": deep}, at())
        assert (await ledger.head("s1")).n == 1

    @pytest.mark.sampled(6)
    @pytest.mark.parametrize("kind", sorted(OWN_KINDS))
    async def test_kinds_that_make_views_cannot_be_appended(self, ledger: Streams, kind: str) -> None:
        with pytest.raises(BadInput, match=kind):
            await ledger.record("s1", kind, {}, at())
        with pytest.raises(BadInput, match=kind):
            await ledger.append("s1", 0, kind, {}, at())

    async def test_anchors_hold_while_a_stream_grows_and_name_what_was_lost(self, ledger: Streams) -> None:
        for number in range(3):
            await ledger.record("a stream with spaces", "note", {"number": number}, at())
        (anchor,) = await audit.head(ledger)
        await ledger.record("a stream with spaces", "note", {}, at())
        assert audit.Anchor.parse(f"{anchor}\n") == anchor
        assert (await audit.check_anchor(ledger, str(anchor))).ok
        assert not (await audit.check_anchor(ledger, replace(anchor, n=9))).ok
        assert not (await audit.check_anchor(ledger, replace(anchor, hash="f" * 64))).ok
        with pytest.raises(BadInput):
            await audit.check_anchor(ledger, "not an anchor")

    async def test_verification_counts_what_it_walked(self, ledger: Streams) -> None:
        await ledger.record("s1", "note", {}, at())
        await ledger.record("s2", "note", {}, at())
        whole, one = await audit.verify(ledger), await audit.verify(ledger, "s1")
        assert (whole.streams, whole.entries, whole.ok) == (2, 2, True)
        assert one.to_dict() == {"ok": True, "streams": 1, "entries": 1, "problems": [], "unlisted": 0}
        assert await ledger.view_problems("s1") == list[Problem]()
