"""Amounts in text: what is one, what isn't, and that nothing breaks the parser."""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_tui.meaning.amounts import parse_amounts
from hitl_tui.teams.number_format import korean_places, money, percent

EOK = 10**8


def read(text: str) -> list[tuple[str, Fraction, str]]:
    return [(a.kind, a.value, a.unit) for a in parse_amounts(text)]


@pytest.mark.parametrize(
    ("text", "won"),
    [
        ("3억원", 3 * EOK),
        ("3억 5천만원", 350_000_000),
        ("1억2,000만 원", 120_000_000),
        ("2천만원", 20_000_000),
        ("12,000원", 12_000),
        ("1천5백만원", 15_000_000),
        ("41만 7천원", 417_000),
        ("3억 오천만원", 350_000_000),
        ("삼억 원", 3 * EOK),
        ("백만원", 1_000_000),
        ("3조 5천억원", 3_500_000_000_000),
        ("9억 9,999만 9,999원", 999_999_999),
        ("3억 5천원", 300_005_000),
        ("전세금 3억", 3 * EOK),
        ("보증금 1.5억", 150_000_000),
        ("전세 3억5천", 350_000_000),
        ("매매가 21억 5000", 2_150_000_000),
        ("KRW 300 million", 300_000_000),
        ("300m won", 300_000_000),
        ("1 billion won", 10 * EOK),
        ("₩300,000,000", 300_000_000),
    ],
)
def test_won_is_read_however_it_is_written(text: str, won: int) -> None:
    assert read(text) == [("money", Fraction(won), "KRW")]


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("raise a deposit from 300 million to 1 billion won", ("money", 3 * EOK, "KRW"), ("money", 10 * EOK, "KRW")),
        ("between 300 million and 1 billion won", ("money", 3 * EOK, "KRW"), ("money", 10 * EOK, "KRW")),
        ("in rooms 3 and 4 kg", ("count", 3, ""), ("mass", 4, "kg")),
        ("1에서 1억 5천만원", ("count", 1, ""), ("money", 150_000_000, "KRW")),
    ],
)
def test_the_unit_of_a_range_holds_for_both_its_ends(
    text: str, first: tuple[str, int, str], second: tuple[str, int, str]
) -> None:
    assert read(text) == [first, second]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1.2 million", ("money", Fraction(1_200_000), "USD")),
        ("10억 달러", ("money", Fraction(10 * EOK), "USD")),
        ("1.5bn", ("count", Fraction(1_500_000_000), "")),
        ("300k", ("count", Fraction(300_000), "")),
        ("3억", ("count", Fraction(3 * EOK), "")),
        ("3만 5천명", ("count", Fraction(35_000), "명")),
        ("10,000 records", ("count", Fraction(10_000), "")),
        ("5%", ("percent", Fraction(5), "%")),
        ("5퍼센트", ("percent", Fraction(5), "%")),
        ("five percent", ("percent", Fraction(5), "%")),
        ("20분의 1", ("percent", Fraction(5), "%")),
        ("one twentieth", ("percent", Fraction(5), "%")),
        ("1/20", ("percent", Fraction(5), "%")),
        ("-2.5%", ("percent", Fraction(-5, 2), "%")),
        ("5%p", ("points", Fraction(5), "%p")),
        ("84.9㎡", ("area", Fraction(849, 10), "m²")),
        ("30평", ("area", Fraction(12000, 121), "m²")),
        ("2년", ("duration", Fraction(2), "year")),
        ("6개월", ("duration", Fraction(6), "month")),
        ("30-day", ("duration", Fraction(30), "day")),
        ("300MB", ("data", Fraction(300_000_000), "byte")),
        ("a reply within 1.5 s", ("duration", Fraction(3, 2), "second")),
        ("three nights", ("duration", Fraction(3), "night")),
        ("한 달 안에", ("duration", Fraction(1), "month")),
        ("두 번까지", ("count", Fraction(2), "회")),
        ("2,500 g", ("mass", Fraction(2_500), "g")),
        ("가로 1200픽셀", ("pixels", Fraction(1_200), "px")),
        ("two hundred dollars", ("money", Fraction(200), "USD")),
        ("1.5 GiB", ("data", Fraction(1_610_612_736), "byte")),
    ],
)
def test_other_units_are_kept_apart(text: str, expected: tuple[str, Fraction, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "제7조", "제6조의3 제1항 제8호", "7조의2에 따르면", "Article 7, paragraph 2", "Act No. 17470", "법률 제17470호",
        "2026-11-21", "2026년 11월 21일", "2026. 11. 21.", "Nov 21 2026", "5월 3일", "2024년 말",
        "02-123-4567", "010-1234-5678", "1. 첫째", "v1.2.3", "Python 3.11.4", "14:30", "act.md:12",
        "선고 93다30532 판결", "https://example.org/1/20?x=5%", "301호", "24/7", "2nd", "Phase 2b", "만일", "천만에",
        "12,34", "1" * 40, "one of them", "내가 한 일", "몇 백만원",
    ],
)  # fmt: skip
def test_numbers_that_are_no_amounts_are_passed_over(text: str) -> None:
    assert read(text) == []


def test_a_sentence_of_the_law_holds_its_fraction_twice_and_no_article() -> None:
    text = "증액 청구는 약정한 차임이나 보증금의 20분의 1(5%)의 금액을 초과하지 못한다(제7조 제2항)."
    found = parse_amounts(text)
    assert [(a.text, a.value) for a in found] == [("20분의 1", Fraction(5)), ("5%", Fraction(5))]
    assert [text[a.start : a.end] for a in found] == ["20분의 1", "5%"]


@given(st.integers(min_value=1, max_value=10**16 - 1))
def test_written_won_reads_back_exactly(value: int) -> None:
    assert read(money(Fraction(value), "KRW", "ko")) == [("money", Fraction(value), "KRW")]
    assert read(money(Fraction(value), "KRW", "en")) == [("money", Fraction(value), "KRW")]


@given(st.integers(min_value=-(10**7), max_value=10**7))
def test_written_percentages_read_back(tenths: int) -> None:
    value = Fraction(tenths, 10)
    assert [a.value for a in parse_amounts(percent(value))] == [value]


LETTERS = st.one_of(st.characters(), st.sampled_from("0123456789,.억만천원%제조년월일/- :$"))


@given(st.text(alphabet=LETTERS, max_size=200))
@settings(max_examples=400)
def test_any_text_is_read_without_error_and_places_are_true(text: str) -> None:
    end = 0
    for amount in parse_amounts(text):
        assert amount.start >= end
        assert text[amount.start : amount.end] == amount.text
        end = amount.end


PIECES = (
    "a",
    "1",
    "1,",
    "제",
    "3억 ",
    "\n1",
    "1/",
    "-1",
    "1천",
    "이천만",
    "2026.",
    "one ",
    "1 년 ",
    "1.",
    "3억 2",
)


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_in_line_with_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        begin = perf_counter()
        parse_amounts(text)
        return perf_counter() - begin

    short, long = seconds(4_000), seconds(40_000)
    assert long < 40 * short + 0.5


def test_a_megabyte_in_one_line_is_read_whole() -> None:
    text = "x" * 1_000_000 + " 5%"
    assert [a.start for a in parse_amounts(text)] == [1_000_001]


def test_dates_of_all_forms_are_no_amounts() -> None:
    text = "2026-11-21, 2026년 11월 21일, 2026. 11. 21., Nov 21 2026, 21 November 2026; 2026-02-30, 2026년 11월"
    assert parse_amounts(text) == ()


def test_places_are_written_as_people_write_them() -> None:
    assert korean_places(Fraction(315_000_000)) == "3억 1,500만"
    assert money(Fraction(315_000_000), "KRW", "ko") == "3억 1,500만 원"
    assert money(Fraction(12_000), "KRW", "ko") == "1만 2,000원"
    assert money(Fraction(315_000_000), "KRW", "en") == "KRW 315 million"
    assert percent(Fraction(700, 3)) == "233.3%"
