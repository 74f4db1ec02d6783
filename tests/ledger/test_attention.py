"""How approvers decide, computed from requests and decisions alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

from ledger_support import ask, at

from hitl_tui.core.requests import Decision, Request, Verdict, resolve
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.attention import READING, Attention, attention, characters, fatigue, within
from hitl_tui.ledger.records import RequestView


def shown(number: int, when: float, text: str = "x" * 94) -> Request:
    """Return a request whose subject has exactly 100 + 6 characters of text, shown `when` seconds after the start."""
    return replace(ask(f"todo_{number:03}", subject={"a": text, "b": "yyyyy"}, opened=when), first_shown=at(when))


def decided(number: int, when: float, seconds: float, verdict: Verdict = Verdict.APPROVE, **more: str) -> RequestView:
    request = shown(number, when)
    said = Decision(request.id, verdict, "ann", request.digest, at(when + seconds), **{"channel": "cli", **more})
    return RequestView(request, (said,), resolve(request, (said,), at(when + seconds)), {})


def only(*views: RequestView) -> Attention:
    (found,) = attention(views, UTC)
    return found


def test_time_to_decide_runs_from_the_first_showing() -> None:
    found = only(*(decided(n, n * 100.0, seconds) for n, seconds in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 60))))
    assert (found.median, found.p90) == (5.5, 9.0)


def test_what_comes_before_the_text_can_be_read_is_unread() -> None:
    limit = characters(shown(1, 0)) / READING
    assert characters(shown(1, 0)) == 101
    found = only(decided(1, 0, limit - 0.1), decided(2, 10, limit + 0.1), decided(3, 20, 50), decided(4, 90, 60))
    assert found.unread == 0.25


def test_digests_need_not_be_read() -> None:
    assert characters(shown(1, 0, "f" * 64)) == 7


def test_a_rejection_a_skip_or_an_edit_ends_a_row_of_approvals() -> None:
    said = [Verdict.APPROVE] * 3 + [Verdict.REJECT] + [Verdict.APPROVE] * 2
    found = only(*(decided(n, n * 100.0, 30, verdict) for n, verdict in enumerate(said)))
    assert (found.approvals, found.refusals, found.row, found.longest_row) == (5, 1, 2, 3)
    skipped = only(decided(1, 0, 30, Verdict.SKIP), decided(2, 90, 30, Verdict.REJECT))
    assert (skipped.skips, skipped.refusals, skipped.others) == (1, 1, 0)
    ended = replace(shown(7, 700), superseded=Supersession(Cause.EDITED, "ann", at(750)))
    edited = RequestView(ended, (), resolve(ended, (), at(800)), {})
    found = only(*(decided(n, n * 100.0, 30) for n in range(3)), edited, decided(9, 900, 30))
    assert (found.edits, found.row, found.longest_row) == (1, 1, 3)


def test_nights_are_those_of_the_zone() -> None:
    hour = 3600.0
    found = only(*(decided(n, hours * hour, 30) for n, hours in enumerate((0, 12.9, 13, 20.9, 21))))
    assert found.night == 2  # the clock starts at nine in the morning: 22:00 and 5:54, and neither 21:54 nor 6:00


def test_rules_and_deadlines_are_no_approvers() -> None:
    assert attention([decided(1, 0, 1, channel="rule"), decided(2, 0, 1, channel="deadline")], UTC) == []


def test_two_names_of_one_person_are_one_approver() -> None:
    one, other = decided(1, 0, 5, person="ann", proof="token"), decided(2, 50, 5, person="ann", proof="token")
    assert only(one, other).decisions == 2


def test_many_quick_approvals_in_a_row_are_a_pattern_of_fatigue() -> None:
    quick = [decided(n, n * 10.0, 1) for n in range(20)]
    found = only(*quick)
    assert found.tired
    (said,) = fatigue([found], at(3600))
    assert (
        said == "ann approved 20 in a row, and at least 10 of the last 20 faster than they can be read; a pause, "
        "somebody else, or a rule for what does no harm would help."
    )
    assert fatigue([found], at(10 * 3600)) == []  # long past
    assert not only(*quick[:19]).tired
    assert not only(*quick[:19], decided(19, 190, 1, Verdict.REJECT)).tired
    assert not only(*(decided(n, n * 10.0, 5) for n in range(20))).tired  # slow enough to be read
    assert not only(*(decided(n, n * 3600.0, 1) for n in range(20))).tired  # over most of a day


def test_only_what_was_decided_within_a_time_counts() -> None:
    views = [decided(n, n * 100.0, 30) for n in range(5)]
    assert only(*(within(view, at(100), at(300)) for view in views)).decisions == 2
