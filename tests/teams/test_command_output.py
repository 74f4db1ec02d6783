"""Bounding, masking and splitting what a subprocess writes."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.safe_text import mask
from hitl_tui.teams.bounded_output import NOTES, Bounded, Lines, Masker, without_note

SECRETS = {"DB_PASSWORD": "hunter2!", "TOKEN": "hunter2!extra", "SHORT": "abc"}


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


def masked(secrets: dict[str, str], parts: list[bytes]) -> bytes:
    masker = Masker(secrets)
    return b"".join(masker.feed(part) for part in parts) + masker.feed(b"", final=True)


@given(
    st.lists(st.sampled_from(["hunter2!", "hunter2!extra", "hunter", "hunter2", "h", "abc", "\n", "값"])),
    st.lists(st.integers(0, 200)),
)
def test_masking_does_not_depend_on_how_the_output_is_cut(words: list[str], cuts: list[int]) -> None:
    text = "".join(words)
    assert masked(SECRETS, chunks(text.encode(), cuts)).decode() == mask(text, SECRETS)


def test_a_secret_is_found_inside_json() -> None:
    secrets = {"KEY": 'pass"word\n키'}
    printed = json.dumps({"k": secrets["KEY"]}) + json.dumps({"k": secrets["KEY"]}, ensure_ascii=False)
    assert masked(secrets, [printed.encode()]).decode() == '{"k": "‹KEY›"}{"k": "‹KEY›"}'


@given(st.binary(max_size=400), st.lists(st.integers(0, 400)), st.integers(2, 100))
def test_kept_output_is_bounded_and_counts_what_it_left_out(data: bytes, cuts: list[int], limit: int) -> None:
    kept = Bounded(limit)
    for part in chunks(data, cuts):
        kept.feed(part)
    text = kept.text()
    assert kept.truncated == (len(data) > limit)
    if not kept.truncated:
        assert text == data.decode("utf-8", "replace")
    else:
        head, note, tail = text.rpartition(" bytes left out …\n")[0].rpartition("\n… ")
        dropped = int(tail.replace(",", ""))
        assert len(data) - limit <= dropped <= len(data)
        assert note == "\n… "
        assert data.decode("utf-8", "replace").startswith(head)
    assert kept.line_count == len(data.split(b"\n")) - (data.endswith(b"\n") or not data)


def test_lines_are_kept_whole_or_not_at_all() -> None:
    kept = Bounded(1000)
    printed = [f"{number} files" for number in range(1000)]
    kept.feed("".join(f"{line}\n" for line in printed).encode())
    lines = without_note(kept.text()).splitlines()
    assert len(kept.text().splitlines()) == len(lines) + 1
    assert set(lines) <= set(printed) and lines[0] == "0 files" and lines[-1] == "999 files"


@given(st.text(alphabet="가나다a\n", max_size=300), st.integers(8, 60))
def test_a_cut_never_splits_a_character(text: str, limit: int) -> None:
    kept = Bounded(limit)
    kept.feed(text.encode())
    assert "\ufffd" not in kept.text()


def test_memory_stays_bounded_whatever_is_fed() -> None:
    kept = Bounded(1000)
    for _ in range(1000):
        kept.feed(b"x" * 10_000)
        assert len(kept._head) + len(kept._tail) <= 3_000 + 10_000
    assert kept.total == 10_000_000


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.text(alphabet="ab가\n", max_size=200), st.lists(st.integers(0, 600)))
def test_lines_come_whole_however_they_are_cut(text: str, cuts: list[int]) -> None:
    said: list[str] = []
    lines = Lines(said.append, Clock(), per_second=10_000)
    for part in chunks(text.encode(), cuts):
        lines.feed(part)
    lines.close()
    expected = text.split("\n")
    assert said == (expected[:-1] if expected[-1] == "" else expected)


def test_lines_beyond_the_rate_are_counted_and_told() -> None:
    said: list[str] = []
    clock = Clock()
    lines = Lines(said.append, clock, per_second=2)
    lines.feed(b"1\n2\n3\n4\nfi")
    clock.now = 1.5
    lines.feed(b"ve\nsix\n")
    lines.feed(b"seven\nei")
    lines.feed(b"ght")
    lines.close()
    assert said == ["1", "2", "… 2 more lines not shown here", "five", "six", "… 2 more lines not shown here"]


@given(st.lists(st.integers(0, 600)))
def test_a_line_that_is_written_over_is_handed_on_once_a_second_and_as_it_ends(cuts: list[int]) -> None:
    said: list[str] = []
    clock = Clock()
    lines = Lines(said.append, clock)
    bar = b"".join(b"\r%3d %%" % n for n in range(100))
    for part in chunks(bar, cuts):
        lines.feed(part)
    assert len(said) <= 1
    clock.now = 2.0
    lines.feed(b"\r100 %\r\ndone\rDONE")
    lines.close()
    assert said[-3:] == [" 99 %", "100 %", "DONE"] and len(said) <= 4


def test_what_was_left_out_is_said_in_the_language_asked_for() -> None:
    said: list[str] = []
    lines = Lines(said.append, Clock(), per_second=1, notes=NOTES["ko"])
    lines.feed(b"1\n2\n3\n")
    lines.close()
    assert said == ["1", "… 여기에 표시하지 않은 줄 2개"]
    kept = Bounded(4, notes=NOTES["ko"])
    kept.feed(b"0123456789")
    assert kept.text() == "01\n… 6바이트 생략됨 …\n89"


def test_a_line_without_end_is_cut_and_the_next_begins_anew() -> None:
    said: list[str] = []
    lines = Lines(said.append, Clock(), limit=6)
    for _ in range(1000):
        lines.feed("가나다라".encode())
        assert len(lines._line) <= 6
    lines.feed(b"\r\nnext\r\n")
    lines.close()
    assert said == ["가나 …", "next"]
