"""C10: hostile text is shown exactly and harmlessly."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_markdown import literal, plain_words
from hitl_tui.core.safe_text import (
    MOST_MARKS,
    cell_width,
    clip,
    mask,
    mask_json,
    one_line,
    safe_again,
    safe_text,
    text_lines,
    unsafe_text,
)

ANYTHING = st.text(alphabet=st.characters())
"""Every code point, lone surrogates included."""

AWKWARD = st.text(
    alphabet=st.sampled_from(
        "a é한漢\u0301\u0300\u1161\u0903⟨⟩U+20E␀␛␊␡…\n\r\t\x00\x1b\x7f\x9b\u202e\u200b\ufe0f\ud800\U000e0041\U0010ffff"
    )
)
"""Short alphabet in which letters, marks, escapes and what looks like escapes meet often."""

# Bidi_Control, White_Space and Default_Ignorable_Code_Point of the Unicode Character Database, written out.
INVISIBLE = frozenset(
    [
        *(0x00A0, 0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x1680, 0x17B4, 0x17B5),
        *range(0x180B, 0x1810),
        *range(0x2000, 0x2010),
        *range(0x2028, 0x2030),
        *range(0x205F, 0x2070),
        *(0x2800, 0x3000, 0x3164, 0xFEFF, 0xFFA0, 0xFFFC),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFFC),
        *range(0x1BCA0, 0x1BCA4),
        *(0x1D159, *range(0x1D173, 0x1D17B)),
        *range(0xE0000, 0xE1000),
    ]
)
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
JAMO = frozenset(map(chr, range(0x1160, 0x1200)))


def nothing_hidden(text: Iterable[str], *, lines: bool) -> bool:
    """Whether every character is one that a terminal draws, judged without the code under test."""
    return all(
        character == " "
        or (lines and character == "\n")
        or (unicodedata.category(character) not in UNSEEN and ord(character) not in INVISIBLE)
        for character in text
    )


def is_mark(character: str) -> bool:
    return character in JAMO or (len(character) == 1 and unicodedata.category(character) in {"Mn", "Mc", "Me"})


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        pytest.param("\x1b[2J\x1b[31mred", "␛[2J␛[31mred", id="CSI"),
        pytest.param("\x1b]0;title\x07", "␛]0;title␇", id="OSC 0 window title"),
        pytest.param("\x1b]8;;http://x\x1b\\y", "␛]8;;http://x␛\\y", id="OSC 8 link"),
        pytest.param("\x1b]52;c;cm0=\x07", "␛]52;c;cm0=␇", id="OSC 52 clipboard"),
        pytest.param("\x1bP$q\x1b\\", "␛P$q␛\\", id="DCS"),
        pytest.param("\x1b_payload\x1b\\", "␛_payload␛\\", id="APC"),
        pytest.param("\x9b31m\x9d\x90", "⟨U+009B⟩31m⟨U+009D⟩⟨U+0090⟩", id="C1 CSI OSC DCS"),
        pytest.param("ok\rrm -rf", "ok␍rm -rf", id="carriage return"),
        pytest.param("a\r\nb", "a␍\nb", id="CRLF"),
        pytest.param("a\b\x7f\t\v\f\x00", "a␈␡␉␋␌␀", id="other C0"),
        pytest.param(
            "/*\u202e } \u2066if (admin)\u2069 \u2066 begin*/",
            "/*⟨U+202E⟩ } ⟨U+2066⟩if (admin)⟨U+2069⟩ ⟨U+2066⟩ begin*/",
            id="bidi override",
        ),
        pytest.param("x\U000e0041\U000e007f", "x⟨U+E0041⟩⟨U+E007F⟩", id="tags"),
        pytest.param("x\U000e0100", "x⟨U+E0100⟩", id="variation selector supplement"),
        pytest.param("pass\u200bword\ufeff\u2060", "pass⟨U+200B⟩word⟨U+FEFF⟩⟨U+2060⟩", id="zero width"),
        pytest.param("👩\u200d💻 ❤\ufe0f", "👩⟨U+200D⟩💻 ❤⟨U+FE0F⟩", id="emoji joiner and selector"),
        pytest.param("👍🏽", "👍⟨U+1F3FD⟩", id="emoji modifier"),
        pytest.param("rm\u00a0-rf\u3000/", "rm⟨U+00A0⟩-rf⟨U+3000⟩/", id="other spaces"),
        pytest.param("\u3164\uffa0\u115f\u1160\u2800", "⟨U+3164⟩⟨U+FFA0⟩⟨U+115F⟩⟨U+1160⟩⟨U+2800⟩", id="fillers"),
        pytest.param("\u2028\u2029\x85", "⟨U+2028⟩⟨U+2029⟩⟨U+0085⟩", id="line separators"),
        pytest.param("\ud83d\ude00\udc80", "⟨U+D83D⟩⟨U+DE00⟩⟨U+DC80⟩", id="lone surrogates"),
        pytest.param("\ue000\uffff\U0010ffff", "⟨U+E000⟩⟨U+FFFF⟩⟨U+10FFFF⟩", id="private and noncharacters"),
        pytest.param("⟨U+202E⟩ ␛[ ␡", "⟨U+27E8⟩U+202E⟩ ⟨U+241B⟩[ ⟨U+2421⟩", id="our own glyphs"),
        pytest.param("\u0301x", "⟨U+0301⟩x", id="mark without a letter"),
        pytest.param("a \u0301\n\u0301", "a ⟨U+0301⟩\n⟨U+0301⟩", id="mark after a space or line feed"),
        pytest.param("\x1b\u0301", "␛⟨U+0301⟩", id="mark on a glyph"),
        pytest.param("a\u20dd\u0489", "a⟨U+20DD⟩⟨U+0489⟩", id="enclosing marks"),
        pytest.param("e" + "\u0301" * 6 + "f", "e" + "\u0301" * 4 + "⟨U+0301⟩" * 2 + "f", id="piled marks"),
        pytest.param("[@click=app.bell]x[/] [/", "[@click=app.bell]x[/] [/", id="markup is left"),
        pytest.param("\u1161\u11a8", "⟨U+1161⟩⟨U+11A8⟩", id="jamo that join nothing"),
    ],
)
def test_hostile_text_becomes_visible_and_comes_back(hostile: str, shown: str) -> None:
    assert safe_text(hostile) == shown
    assert unsafe_text(shown) == hostile


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text, two\nlines",
        "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
        unicodedata.normalize("NFD", "부동산 종합 분석 café"),
        "日本語、中文。ｶﾅ",
        "हिन्दी ไทย Ελληνικά Русский Tiếng Việt",
        "שלום مرحبا",
        "✓ done │ ├─○ 🎉 233.3 % “quoted” – 5 € × 3 ‹A›",
    ],
)
def test_ordinary_text_passes_unchanged(text: str) -> None:
    assert safe_text(text) == text


@pytest.mark.long
def test_every_code_point_alone_is_visible_and_reversible() -> None:
    drawn: set[str] = set()
    wrong = []
    for character in map(chr, range(sys.maxunicode + 1)):
        shown = safe_text(character)
        drawn.update(shown)
        if unsafe_text(shown) != character or is_mark(shown):
            wrong.append(hex(ord(character)))
    assert wrong == []
    assert nothing_hidden(drawn, lines=True)


@pytest.mark.long
def test_every_code_point_after_a_letter_is_visible_and_reversible() -> None:
    text = "".join("a" + chr(number) for number in range(sys.maxunicode + 1))
    shown = safe_text(text, multiline=False)
    assert nothing_hidden(set(shown), lines=False)
    assert (unsafe_text(shown) == text) is True  # without a difference of a million lines


def test_invisible_characters_are_shown_as_code_points() -> None:
    kept = [hex(number) for number in INVISIBLE if safe_text(f"a{chr(number)}b") != f"a⟨U+{number:04X}⟩b"]
    assert kept == []


@given(ANYTHING | AWKWARD, st.booleans())
@example("⟨U+27E8⟩⟨", True)
@example("⟨U+⟩⟨U+110000⟩", False)
def test_round_trip_is_exact(text: str, lines: bool) -> None:
    shown = safe_text(text, multiline=lines)
    assert unsafe_text(shown) == text
    assert nothing_hidden(shown, lines=lines)


@given(AWKWARD, AWKWARD)
def test_joined_pieces_come_back_joined(first: str, second: str) -> None:
    assert unsafe_text(safe_text(first) + safe_text(second)) == first + second


@given(AWKWARD)
def test_no_letter_carries_more_marks_than_allowed(text: str) -> None:
    marks = MOST_MARKS
    for character in safe_text(text):
        marks = marks + 1 if is_mark(character) else 0 if character not in " \n" else MOST_MARKS
        assert marks <= MOST_MARKS or not is_mark(character)


@given(ANYTHING | AWKWARD)
def test_unsafe_text_takes_anything(text: str) -> None:
    assert len(unsafe_text(text)) <= len(text)


@given(AWKWARD, st.integers(0, 60))
@example("\u202e" * 30, 40)
@example("e\u0301" * 40, 31)
def test_limit_says_how_much_is_left_out(text: str, limit: int) -> None:
    whole, cut = safe_text(text), safe_text(text, limit=limit)
    assert len(cut) <= limit
    if len(whole) <= limit:
        assert cut == whole
        return
    kept, _, rest = cut.rpartition("…")
    assert whole.startswith(kept)
    assert not whole[len(kept) :] or not is_mark(whole[len(kept)])
    if rest:
        assert rest == f"⟨+{len(text) - len(unsafe_text(kept))}⟩"
        assert text.startswith(unsafe_text(kept))
    else:
        assert (kept, limit < len(f"…⟨+{len(text)}⟩")) == ("", True)


def test_limit_counts_what_is_not_shown() -> None:
    assert safe_text("x" * 100, limit=20) == "x" * 13 + "…⟨+87⟩"


def test_input_cannot_imitate_the_count() -> None:
    assert "⟨+" not in safe_text("nothing more…⟨+0⟩")


def test_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        safe_text("x", limit=-1)


def test_safe_megabyte_is_returned_itself_and_fast() -> None:
    for text in ("x" * 1_000_000, "가나다라 " * 200_000, "a line of a log\n" * 62_500):
        begin = time.perf_counter()
        shown = safe_text(text)
        took = time.perf_counter() - begin
        assert shown is text
        assert took < 0.5  # some 15 ms on an idle machine


def test_hostile_megabyte_with_a_limit_costs_what_the_limit_costs() -> None:
    begin = time.perf_counter()
    shown = safe_text("\u202e" * 1_000_000, limit=200)
    assert time.perf_counter() - begin < 0.1
    assert shown.endswith("…⟨+999977⟩")


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("exact", 5, "exact"),
        ("longer", 5, "long…"),
        ("two\nlines", 20, "two␊lines"),
        ("a\r\nb", 20, "a␍␊b"),
        ("한국어", 6, "한국어"),
        ("한국어", 5, "한국…"),
        ("한국어", 4, "한…"),
        ("한", 1, "…"),
        ("anything", 0, ""),
        ("anything", -3, ""),
        ("", 4, ""),
        ("cafe\u0301 x", 5, "cafe\u0301…"),
        ("ab⟨U+202E⟩cd", 6, "ab…"),
        ("\x1b[31m", 10, "␛[31m"),
    ],
)
def test_one_line(text: str, width: int, shown: str) -> None:
    assert one_line(text, width) == shown


@given(AWKWARD, st.integers(0, 30))
def test_one_line_fits_and_hides_nothing(text: str, width: int) -> None:
    for given_text in (text, safe_text(text)):
        line = one_line(given_text, width)
        assert "\n" not in line
        assert nothing_hidden(line, lines=False)
        assert cell_width(line) <= width
        assert one_line(line, width) == line


@given(AWKWARD)
def test_one_line_of_safe_text_is_still_reversible(text: str) -> None:
    shown = safe_text(text)
    assert unsafe_text(one_line(shown, 10_000)) == text


@given(AWKWARD | ANYTHING, st.booleans())
def test_what_is_safe_stays_as_it_is_and_other_text_becomes_safe(text: str, lines: bool) -> None:
    shown = safe_text(text, multiline=lines)
    assert safe_again(shown, multiline=lines) == shown
    again = safe_again(text, multiline=lines)
    assert safe_again(again, multiline=lines) == again
    assert nothing_hidden(again, lines=lines)


def test_one_line_of_a_megabyte_looks_at_the_start_only() -> None:
    begin = time.perf_counter()
    assert one_line("e\u0301" * 500_000, 5) == "e\u0301" * 4 + "…"
    assert time.perf_counter() - begin < 0.1


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("한글", 4),
        (unicodedata.normalize("NFD", "한글"), 4),
        ("ｱ", 1),
        ("e\u0301", 1),
        ("🎉", 2),
        ("… ·", 3),
        ("☰䷀", 4),
    ],
)
def test_cell_width(text: str, cells: int) -> None:
    assert cell_width(text) == cells


@pytest.mark.long
def test_cell_width_agrees_with_the_console() -> None:
    cells = pytest.importorskip("rich.cells")
    visible = (chr(number) for number in range(0x20, sys.maxunicode + 1))
    shown = (character for character in visible if safe_text("a" + character) == "a" + character)
    assert [hex(ord(c)) for c in shown if cells.get_character_cell_size(c) != cell_width(c)] == []


@given(AWKWARD, st.integers(0, 30))
def test_clip_keeps_whole_letters(text: str, cells: int) -> None:
    shown = safe_text(text, multiline=False)
    clipped = clip(shown, cells)
    assert cell_width(clipped) <= cells
    if clipped != shown and cells:
        kept = clipped[:-1]
        assert clipped[-1] == "…"
        assert shown.startswith(kept)
        assert text.startswith(unsafe_text(kept))
        assert not is_mark(shown[len(kept)])


SECRETS = {"DB_PASSWORD": "hunter22", "TOKEN": "hunter22-long", "PIN": "123"}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("psql -p hunter22", "psql -p ‹DB_PASSWORD›"),
        ("hunter22-long hunter22", "‹TOKEN› ‹DB_PASSWORD›"),
        ("pin 123", "pin 123"),
        ("hunter2", "hunter2"),
        ("hunter22hunter22", "‹DB_PASSWORD›‹DB_PASSWORD›"),
        ("", ""),
    ],
)
def test_mask(text: str, masked: str) -> None:
    assert mask(text, SECRETS) == masked


def test_mask_covers_values_that_overlap_in_the_text() -> None:
    assert mask("<abcd1234wxyz>", {"A": "abcd1234", "B": "1234wxyz9", "C": "34wxyz"}) == "<‹A›>"
    assert mask("<ababab>", {"A": "abab"}) == "<‹A›>"


def test_mask_finds_values_within_json_and_safe_text() -> None:
    secret = 'p"ss\n⟨wörd⟩'
    assert mask(json.dumps({"a": secret}), {"S": secret}) == '{"a": "‹S›"}'
    assert mask(json.dumps({"a": secret}, ensure_ascii=False), {"S": secret}) == '{"a": "‹S›"}'
    assert mask(safe_text(f"a {secret} b"), {"S": secret}) == "a ‹S› b"
    assert mask(safe_text(f"a {secret} b", multiline=False), {"S": secret}) == "a ‹S› b"


@pytest.mark.parametrize("secret", ["hunter2hunter2", 'pa"ss\\wörd 😀/x'])
def test_mask_finds_values_whose_characters_json_escapes(secret: str) -> None:
    units = secret.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    for text in (escaped, escaped.upper().replace("\\U", "\\u")):
        assert mask(f'{{"a":"x{text}y"}}', {"S": secret}) == '{"a":"x‹S›y"}'
        assert mask(json.dumps(f"<{text}>"), {"S": secret}) == '"<‹S›>"'
    assert mask(f"{escaped[:6]}{secret[1:]}", {"S": secret}) == "‹S›"


def test_mask_takes_no_time_over_backslashes() -> None:
    text = "\\" * 5_000 + "\\u0068"
    assert mask(text, {"S": "\\" * 30 + "x", "T": "hunter2\\\\\\\\x"}) == text


def test_mask_ignores_white_space_around_a_value_and_blank_values() -> None:
    assert mask("key=hunter22;\n     ", {"S": "hunter22\n", "BLANK": "     "}) == "key=‹S›;\n     "


@given(
    st.dictionaries(st.sampled_from("ABC"), st.text("abc\\", min_size=4, max_size=6)),
    st.text("abc\\ ", max_size=40),
)
def test_no_value_survives_mask(secrets: dict[str, str], text: str) -> None:
    masked = mask(text, secrets)
    assert not [value for value in secrets.values() if value in masked]


def test_mask_json_reaches_keys_numbers_and_nested_values() -> None:
    value = {
        "k hunter22": ["hunter22", {"n": 40044004, "ok": True, "none": None, "x": 1.5}],
        "t": ("a", "hunter22"),
    }
    assert mask_json(value, {**SECRETS, "NUMBER": "40044004"}) == {
        "k ‹DB_PASSWORD›": ["‹DB_PASSWORD›", {"n": "‹NUMBER›", "ok": True, "none": None, "x": 1.5}],
        "t": ["a", "‹DB_PASSWORD›"],
    }


def test_mask_json_loses_no_key() -> None:
    masked = mask_json({'pa"ss': 1, 'pa\\"ss': 2}, {"S": 'pa"ss'})
    assert sorted(masked.values()) == [1, 2]
    assert not [key for key in masked if "pa" in key]


def test_mask_json_leaves_its_argument_alone() -> None:
    value = {"a": ["hunter22"]}
    mask_json(value, SECRETS)
    assert value == {"a": ["hunter22"]}


def test_mask_json_refuses_what_is_not_json() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({"a": b"hunter22"}, deep, 10**5000):
        with pytest.raises(BadInput):
            mask_json(value, SECRETS)


def test_only_a_line_feed_ends_a_line() -> None:
    assert text_lines("a\r\nb\u2028c\x0bd\n") == ["a", "b\u2028c\x0bd"]
    assert text_lines("") == [""]


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n\r")), min_size=1))
def test_lines_that_are_joined_come_apart_again(lines: list[str]) -> None:
    assert text_lines("\n".join(lines) + "\n") == lines


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        (f"**3** ({literal('shop[1] = a*b')}) [`a_b*.csv`]", "3 (shop[1] = a*b) [a_b*.csv]"),
        ("## 1. *so*\n---\n> ``x y`` and z", "*so*\nx y and z"),
        ("`C:\\*`, \\`open", "C:\\*, `open"),
    ],
)
def test_markdown_reads_in_a_line_without_its_marks(markdown: str, words: str) -> None:
    assert plain_words(markdown) == words
